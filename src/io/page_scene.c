/* page_scene.c - what a page draws without being asked: points, bonds between two of them, bonds
 * from one to a fixed end, and gravity.
 *
 * A bond g(p) of one point p, |p - a| - l or a function of it, has a centre a: its normals meet
 * there. With n the unit normal at p and n' the one at p + d e, e along an axis,
 *
 *     (r n + d e) x n' = 0,   r = -d (e x n').(n x n') / |n x n'|^2,   a = p - r n,
 *
 * exactly, for any d. r must be the same for every axis that is not along n; otherwise the bond has
 * no centre (a guide, a curve) and is not drawn. */
#include "io/page.h"

#include <math.h>
#include <string.h>

#include "base/inside.h"
#include "system/system.h"

static int list_points(taut_page_run_data *run, const taut_system *system, taut_error *error)
{
    taut_index n = run->sizes.coordinates;
    run->point = TAUT_NEW(run->arena, int32_t, n);
    TAUT_NEED(error, run->point);
    for (taut_index k = 0; k < n; k++) {
        int dimension;
        if (taut_system_point(system, k, &dimension) != k || dimension < 2)
            continue;
        run->point[run->points++] = 4 * k + dimension;
        run->dimension = dimension > run->dimension ? dimension : run->dimension;
    }
    return TAUT_OK;
}

static int list_bonds(taut_page_run_data *run, const taut_system *system, taut_error *error)
{
    taut_index bonds = run->sizes.bonds;
    const double *compliance = taut_context_compliance(run->context),
                 *damping = taut_context_damping(run->context);
    run->end = TAUT_NEW(run->arena, int32_t, 2 * (int64_t)bonds);
    run->kind = TAUT_NEW(run->arena, unsigned char, bonds);
    TAUT_NEED(error, run->end, run->kind);
    for (taut_index k = 0; k < bonds; k++) {
        taut_index first[2];
        int dimension[2] = {0, 0};
        int count = taut_system_bond_ends(system, k, 2, first, dimension);
        bool drawn = dimension[0] > 1 && (count == 1 || (count == 2 && dimension[1] > 1));
        run->end[2 * k] = drawn ? first[0] : TAUT_PAGE_NO_END;
        run->end[2 * k + 1] = !drawn       ? TAUT_PAGE_NO_END
                              : count == 2 ? first[1]
                                           : TAUT_PAGE_FIXED_END;
        run->anchors += drawn && count == 1;
        run->kind[k] = compliance[k] == 0                   ? 0
                       : taut_context_soft(run->context, k) ? 3
                       : damping[k] > 0                     ? 2
                                                            : 1;
    }
    return TAUT_OK;
}

int taut_page_scene(taut_page_run_data *run, const taut_system *system, taut_error *error)
{
    TAUT_TRY(list_points(run, system, error));
    TAUT_TRY(list_bonds(run, system, error));
    run->moving = (run->sizes.can & TAUT_HAS_MOVING_BONDS) != 0;
    run->work = TAUT_NEW(run->arena, double, run->sizes.coordinates + run->sizes.bonds);
    run->jacobian = TAUT_NEW(run->arena, double, 4 * run->sizes.jacobian_entries);
    run->gain = TAUT_NEW(run->arena, double, run->sizes.bonds);
    return taut_arena_check(run->arena, error);
}

/* ---- fixed ends */

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The unit normal of bond k, from its row of G; false: it has none. */
static bool normal_of(const taut_pattern *g, const double *jacobian, taut_index k, taut_index first,
                      double n[3])
{
    n[0] = n[1] = n[2] = 0;
    for (taut_index e = g->start[k]; e < g->start[k + 1]; e++)
        n[g->column[e] - first] = jacobian[e];
    double length = sqrt(dot(n, n));
    for (int i = 0; i < 3; i++)
        n[i] /= length;
    return length > 0 && isfinite(length);
}

/* normal[0] at p, normal[1 + i] at p + d e_i. */
static bool centre_of(double normal[4][3], int dimension, double d, const double *p, double *centre)
{
    static const double ALONG = 0.2, AGREE = 1e-6;
    double radius = NAN;
    for (int i = 0; i < dimension; i++) {
        double e[3] = {0}, turn[3], side[3];
        e[i] = 1;
        if (1 - fabs(normal[0][i]) < ALONG)
            continue;
        cross(normal[0], normal[1 + i], turn);
        cross(e, normal[1 + i], side);
        double r = -d * dot(side, turn) / dot(turn, turn);
        if (!isfinite(r) || fabs(r - radius) > AGREE * fabs(r))
            return false;
        radius = r;
    }
    for (int i = 0; i < dimension; i++)
        centre[i] = p[i] - radius * normal[0][i];
    return isfinite(radius);
}

/* G at p, and with all points moved by d along each axis. */
static bool four_jacobians(taut_page_run_data *run, double t, const double *q, double d)
{
    taut_index n = run->sizes.coordinates;
    for (int i = -1; i < run->dimension; i++) {
        taut_values values = {.size = sizeof values,
                              .jacobian = run->jacobian + (i + 1) * run->sizes.jacobian_entries,
                              .bond_dt = run->work + n};
        memcpy(run->work, q, (size_t)n * sizeof *q);
        for (taut_index k = 0; i >= 0 && k < run->points; k++)
            if (i < run->point[k] % 4)
                run->work[run->point[k] / 4 + i] += d;
        if (taut_evaluate(run->context, t, run->work, NULL, TAUT_WANT_JACOBIAN, &values, NULL) != 0)
            return false;
    }
    return true;
}

void taut_page_anchors(taut_page_run_data *run, double t, const double *q, double *anchor)
{
    taut_pattern g;
    double d = 0;
    for (int64_t k = 0; k < run->width[TAUT_PAGE_ANCHOR]; k++)
        anchor[k] = NAN;
    for (taut_index k = 0; k < run->sizes.coordinates; k++)
        d = fmax(d, fabs(q[k]));
    d = d > 0 ? 1e-3 * d : 1e-3;
    if (taut_system_pattern(taut_context_system(run->context), TAUT_PATTERN_JACOBIAN, &g, NULL) ||
        !four_jacobians(run, t, q, d))
        return;
    for (taut_index k = 0; k < run->sizes.bonds; k++) {
        if (run->end[2 * k + 1] != TAUT_PAGE_FIXED_END)
            continue;
        taut_index first = run->end[2 * k];
        int dimension;
        taut_system_point(taut_context_system(run->context), first, &dimension);
        double normal[4][3];
        bool good = true;
        for (int i = 0; i <= dimension; i++)
            good = good && normal_of(&g, run->jacobian + i * run->sizes.jacobian_entries, k, first,
                                     normal[i]);
        if (!good || !centre_of(normal, dimension, d, q + first, anchor))
            anchor[0] = NAN;
        anchor += run->dimension;
    }
}

/* The force of a bond that is drawn is lambda dg/dlength, lambda alone for a distance: of others,
 * as |p|^2 - l^2 or l - |p|, the factor at the first row. `anchor`: those of taut_page_anchors. */
void taut_page_gains(taut_page_run_data *run, double t, const double *q, const double *anchor)
{
    taut_pattern g;
    taut_values values = {.size = sizeof values,
                          .jacobian = run->jacobian,
                          .bond_dt = run->work + run->sizes.coordinates};
    for (taut_index k = 0; k < run->sizes.bonds; k++)
        run->gain[k] = 1;
    if (taut_system_pattern(taut_context_system(run->context), TAUT_PATTERN_JACOBIAN, &g, NULL) ||
        taut_evaluate(run->context, t, q, NULL, TAUT_WANT_JACOBIAN, &values, NULL) != 0)
        return;
    for (taut_index k = 0; k < run->sizes.bonds; k++) {
        taut_index first = run->end[2 * k], other = run->end[2 * k + 1];
        const double *far = other >= 0 ? q + other : anchor;
        double along[3] = {0}, gain = 0;
        if (first == TAUT_PAGE_NO_END)
            continue;
        for (int i = 0; i < run->dimension; i++)
            along[i] = q[first + i] - far[i];
        for (taut_index e = g.start[k]; e < g.start[k + 1]; e++)
            if (g.column[e] >= first && g.column[e] < first + run->dimension)
                gain += run->jacobian[e] * along[g.column[e] - first];
        gain /= sqrt(dot(along, along));
        if (isfinite(gain) && fabs(gain - 1) > 1e-6)
            run->gain[k] = gain;
        anchor += other == TAUT_PAGE_FIXED_END ? run->dimension : 0;
    }
}

/* ---- gravity: the same acceleration at all points, at rest, at the first state and where every
 * coordinate is moved differently */

/* False: not the same at all points, or unknown. */
static bool common_acceleration(taut_page_run_data *run, double t, const double *q, const double *v,
                                double *force, double g[3])
{
    static const double AGREE = 1e-6;
    const double *mass = taut_context_mass(run->context);
    double scale = 0, off = 0;
    taut_values values = {.size = sizeof values, .force = force};
    if (!mass || taut_evaluate(run->context, t, q, v, TAUT_WANT_FORCE, &values, NULL) != 0)
        return false;
    for (taut_index k = 0; k < run->points; k++)
        for (int i = 0; i < run->point[k] % 4; i++) {
            taut_index at = run->point[k] / 4 + i;
            double a = force[at] / mass[at];
            g[i] = isnan(g[i]) ? a : g[i];
            scale = fmax(scale, fabs(a));
            off = fmax(off, fabs(a - g[i]));
        }
    return off <= AGREE * scale;
}

void taut_page_gravity(taut_page_run_data *run, double t, const double *q, const double *v)
{
    taut_index n = run->sizes.coordinates;
    double *rest = TAUT_NEW(run->arena, double, 3 * (int64_t)n), g[3] = {NAN, NAN, NAN};
    if (!rest)
        return;
    double *moved = rest + n, *force = moved + n;
    for (taut_index k = 0; k < n; k++)
        moved[k] = q[k] + 1e-3 * (1 + k % 7) * fmax(fabs(q[k]), 1);
    if (common_acceleration(run, t, q, rest, force, g) &&
        common_acceleration(run, t, q, v, force, g) &&
        common_acceleration(run, t, moved, rest, force, g))
        for (int i = 0; i < 3; i++)
            run->gravity[i] = isfinite(g[i]) ? g[i] : 0;
}
