/* rods.h - for tests of filters with rigid bonds: the double pendulum of A 5.1 with its first link
 * a rigid bond, projected; what its rigid bonds are off by; what series moves a result by. */
#ifndef TAUT_TESTS_SUPPORT_RODS_H
#define TAUT_TESTS_SUPPORT_RODS_H

#include <float.h>

#include "support/project.h"

static inline projected run(const char *model, const char *set, const char *start,
                            const char *options)
{
    const char *sets[4];
    char copy[200];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", set);
    for (char *word = strtok(copy, " "); word && count < 4; word = strtok(NULL, " "))
        sets[count++] = word;
    taut_load how = {.size = sizeof how, .set = sets, .set_count = count, .start_text = start};
    return project_model(model, &how, options);
}

static inline double apart(taut_index n, const double *a, const double *b)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
    return most;
}

static inline taut_index size_of(const projected *p, taut_index *bonds)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(p->system, &sizes, NULL);
    if (bonds)
        *bonds = sizes.bonds;
    return sizes.coordinates;
}

static inline double largest(taut_index n, const double *x)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* g and gdot of the rigid bonds at the end, to rounding. */
static inline void check_rods(const char *what, const projected *p, int count, const int *rod)
{
    const double *g, *gdot;
    taut_index n = size_of(p, NULL);
    if (!check_row(taut_projection_pass(p->projection, p->r.passes, &g, &gdot, NULL),
                   "%s: the last pass is recorded", what))
        return;
    for (int k = 0; k < count; k++) {
        check_row(fabs(g[rod[k]]) <= 8 * DBL_EPSILON * fmax(1, largest(n, p->r.q)),
                  "%s: rod %d is off by %.3g", what, rod[k], g[rod[k]]);
        check_row(fabs(gdot[rod[k]]) <= 16 * DBL_EPSILON * fmax(1, largest(n, p->r.v)),
                  "%s: rod %d moves by %.3g", what, rod[k], gdot[rod[k]]);
    }
}

/* The state of a result, as the text of a start, with the names of p. */
static inline void write_start(const projected *p, const taut_projection_result *r, char *text,
                               size_t room)
{
    size_t used = 0;
    char name[96];
    for (taut_index i = 0; i < size_of(p, NULL) && used < room; i++) {
        taut_system_name(p->system, TAUT_COORDINATE, i, name, sizeof name);
        used += (size_t)snprintf(text + used, room - used, "%s = %.17g\n%s' = %.17g\n", name,
                                 r->q[i], name, r->v[i]);
    }
}

/* What series moves a result by: the distance to the slow manifold (docs/theory.md). */
static inline void check_distance(const char *what, const projected *p,
                                  const taut_projection_result *r, const char *model,
                                  const char *set, double q, double v)
{
    char text[4000], row[160];
    write_start(p, r, text, sizeof text);
    projected s = run(model, set, text, "method=series");
    if (projected_good(what, &s)) {
        snprintf(row, sizeof row, "%s, %s: distance in q", what, set);
        check_below(row, s.r.moved_normal, q);
        snprintf(row, sizeof row, "%s, %s: distance in v", what, set);
        check_below(row, s.r.moved_normal_velocity, v);
    }
    projected_drop(&s);
}

#define PENDULUM                                                                                   \
    "[parameters]\nomega = 1000\nlift = 0\n[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = "       \
    "sqrt(x1^2 + y1^2) - 1\n"                                                                      \
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n[start]\nx1 = cos(0.3), y1 = "     \
    "sin(0.3), x1' = 0.4*y1, y1' = "                                                               \
    "-0.4*x1\n"                                                                                    \
    "x2 = 1.9, y2 = -lift, x2' = 0.3, y2' = 0.5\n"

/* With gravity and more: bonds, and sections before them. */
#define TWO(bonds, more)                                                                           \
    "[parameters]\nomega = 1000\n[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n" more       \
    "[bonds]\n" bonds "\n[start]\nx1 = 0.8, y1 = -0.6, x1' = 0.3, y1' = 0.4, x2 = 1.52, y2 = "     \
    "-1.31, x2' = 0.2, y2' = -0.6\n"
#define INNER "inner = sqrt(x1^2 + y1^2) - 1\n"
#define OUTER "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2"

#endif
