/* is_slow.c - a state that is slow already, to rounding. A filter moves every state, a slow one
 * by its own errors, and from forces alone this is found only when it has converged. With
 * derivatives the equations of the slow manifold are tested (multiplier_recursion.c):
 *
 *     g(q) = y(q, v), G v + g_t = ydot(q, v), y = C lambda^(k),
 *     k raised until it changes nothing
 *
 * Rounding is 4 u sum |G q| in g, and the fastest frequency times that in gdot (docs/theory.md,
 * Filters). Most states are decided at level 1. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "point/projection.h"
#include "slow/multiplier_recursion.h"

enum { MOST_LEVELS = 5, MOST_COORDINATES = 100000 }; /* jets of more need gigabytes */

typedef struct slow_test {
    taut_projection *p;
    taut_arena arena;
    taut_multiplier_recursion *recursion;
    double *before, *before_dt;
    double *floor; /* [m]: rounding of g */
    double fastest;
} slow_test;

static int new_arrays(slow_test *w, taut_error *error)
{
    const taut_projection *p = w->p;
    taut_pattern jacobian;
    TAUT_TRY(
        TAUT_RESERVE(&w->arena, p->in->sizes.bonds, error, &w->before, &w->before_dt, &w->floor));
    TAUT_TRY(taut_system_pattern(p->in->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    /* at q = 0 rounding is that of the motion */
    double least =
        DBL_EPSILON * fmax(taut_largest(p->in->sizes.coordinates, p->q), DBL_MIN / DBL_EPSILON);
    for (taut_index i = 0; i < p->in->sizes.bonds; i++)
        w->floor[i] = least + 4 * DBL_EPSILON * taut_row_size(&jacobian, p->entries, i, p->q);
    return TAUT_OK;
}

static int measure_fastest(slow_test *w, taut_error *error)
{
    double frequency[2];
    int found = 0;
    bool complete;
    TAUT_TRY(taut_frequencies(w->p->in->context, w->p->in->t, w->p->q, 1, frequency, &found,
                              &complete, error));
    w->fastest = found > 0 ? frequency[found - 1] : 0;
    return TAUT_OK;
}

/* max |a - b| over the bonds that are not soft, in units of rounding times `unit`. */
static double distance(const slow_test *w, const double *a, const double *b, double unit)
{
    double most = 0;
    for (taut_index i = 0; i < w->p->in->sizes.bonds; i++)
        if (!taut_context_soft(w->p->in->context, i))
            most = fmax(most, fabs(a[i] - b[i]) / (unit * w->floor[i]));
    return most;
}

static int compare_levels(slow_test *w, bool *slow, taut_error *error)
{
    taut_projection *p = w->p;
    const taut_pass *initial = &p->pass[0];
    int most = taut_multiplier_recursion_most(p->in->context, 0);
    most = most < MOST_LEVELS ? most : MOST_LEVELS;
    TAUT_TRY(taut_multiplier_recursion_create(p->in->context, &w->arena, &p->statistics, most, 1,
                                              NULL, &w->recursion, error));
    double before = 0;
    for (int level = 0, quiet = 0; level <= most; level++) {
        TAUT_TRY(taut_multiplier_recursion_evaluate(w->recursion, level, true, p->in->t, p->q, p->v,
                                                    error));
        const double *y = w->recursion->y, *ydot = y + p->in->sizes.bonds;
        double off = distance(w, y, initial->g, 1), change = distance(w, y, w->before, 1);
        if (level == 0)
            TAUT_TRY(measure_fastest(w, error));
        /* one level that changes nothing may be a coefficient that happens to vanish, two are not
         */
        quiet = level > 0 && change <= 1 && distance(w, ydot, w->before_dt, w->fastest) <= 1
                    ? quiet + 1
                    : 0;
        if (quiet == 2)
            *slow = off <= 2 && distance(w, ydot, initial->gdot, w->fastest) <= 2;
        /* farther from g than the levels are from each other */
        bool far = level > 0 && off > 2 + 2 * fmax(change, before);
        if (quiet == 2 || far)
            return TAUT_OK;
        before = level > 0 ? change : 0;
        taut_copy(p->in->sizes.bonds, y, w->before);
        taut_copy(p->in->sizes.bonds, ydot, w->before_dt);
    }
    return TAUT_OK;
}

int taut_projection_is_slow(taut_projection *p, bool *slow, taut_error *error)
{
    const unsigned needs = TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS | TAUT_HAS_SPRINGS;
    slow_test w = {.p = p};
    taut_error reason = {0};
    *slow = false;
    if ((p->in->sizes.can & needs) != needs || (p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL) ||
        p->in->hold || p->in->sizes.coordinates > MOST_COORDINATES)
        return TAUT_OK;
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    taut_arena_init(&w.arena, &p->arena.allocator);
    int status = new_arrays(&w, &reason);
    if (status == 0)
        status = compare_levels(&w, slow, &reason);
    if (status == 0 && *slow) {
        taut_copy(p->in->sizes.bonds, w.recursion->lambda, p->lambda);
        snprintf(p->explanation, sizeof p->explanation,
                 "projection %s: the initial state is slow already, to rounding, by its "
                 "derivatives; the initial state is kept",
                 p->method->name);
    } else { /* undecided: the passes are made */
        p->pass = NULL;
        p->passes = p->pass_capacity = 0;
        *slow = false;
    }
    taut_multiplier_recursion_destroy(w.recursion);
    taut_arena_clear(&w.arena);
    return taut_fail_final(status, &reason, error);
}
