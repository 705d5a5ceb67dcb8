/* difference_checks.c - is the point found a slow state? Positive variables, points that repel,
 * orders that disagree, and how much of fast rates is left. */
#include <math.h>

#include "base/vectors.h"
#include "project/difference.h"
#include "system/system.h"

typedef taut_difference difference;

/* of max |z|: deviations that are compared */
static const double least_part = 1e-9;
/* Deviations may grow by this in a horizon (published problems: at most 1.23 in two successive
 * ones; hydrogen and oxygen before their ignition: 2.3). */
static const double growth_slow = 1.5;

/* A step that makes a positive variable negative ends before it does, at a tenth of its value; one
 * that begins at 0 keeps it there. */
int taut_difference_stay_positive(difference *w, double *z, bool *shortened, taut_error *error)
{
    const unsigned char *positive = w->p->in->system->positive;
    double share = 1;
    bool clipped = false;
    if (!positive)
        return TAUT_OK;
    for (taut_index i = 0; i < w->held.n; i++)
        if (positive[i] && z[i] < 0 && w->before[i] > 0)
            share = fmin(share, 0.9 * w->before[i] / (w->before[i] - z[i]));
    for (taut_index i = 0; i < w->held.n; i++) {
        z[i] = share < 1 ? w->before[i] + share * (z[i] - w->before[i]) : z[i];
        clipped |= positive[i] && z[i] < 0;
        z[i] = positive[i] && z[i] < 0 ? 0 : z[i];
    }
    if (share == 1 && !clipped)
        return TAUT_OK;
    *shortened |= share < 1;
    return taut_kept_functions_restore(&w->held, w->p->in->t, z, error);
}

/* A variable that is negative by more than noise: the condition has been met elsewhere. */
int taut_difference_check_positive(const difference *w, double *z, taut_error *error)
{
    const unsigned char *positive = w->p->in->system->positive;
    char name[100];
    for (taut_index i = 0; positive && i < w->held.n; i++) {
        if (!positive[i] || z[i] >= 0 || w->held.fixed[i])
            continue;
        if (z[i] < -TAUT_DIFFERENCE_DEVIATIONS * w->noise) {
            taut_system_name(w->p->in->system, TAUT_COORDINATE, i, name, sizeof name);
            return taut_fail(error, TAUT_ERROR_CONVERGE,
                             "the point found has %s = %.3g, and this variable is positive: it is "
                             "a false solution; begin with another initial state, or use other "
                             "observables",
                             name, z[i]);
        }
        z[i] = 0;
    }
    return TAUT_OK;
}

/* Deviations from the result must not grow on the time scale of the horizon: on a slow manifold
 * fast ones decay, slow ones keep their size. The iteration finds other points as well, for
 * instance a mixture of gases without radicals, which nothing changes and any radical ignites. It
 * is examined where the motion leads from the initial state away from the result. The deviation is
 * a part of the way from there, large compared with the rounding of the flow. w->best and
 * w->best_delta are the two states here. */
int taut_difference_check_attracts(difference *w, const taut_projection_stage *stage,
                                   const double *start, const double *z, taut_error *error)
{
    enum { HORIZONS = 4 };
    taut_index n = w->held.n;
    double t = w->p->in->t, H = w->horizon, before = 0, growth = 0;
    double least = fmax(least_part * w->size, 1e3 * stage->difference),
           part = fmax(1e-3, least / stage->moved);
    if (!(part <= 1)) /* the initial state was such a point */
        return TAUT_OK;
    if (taut_largest_difference(n, w->away, z) <= stage->moved)
        return TAUT_OK;
    taut_copy(n, z, w->best);
    for (taut_index i = 0; i < n; i++)
        w->best_delta[i] = z[i] + part * (start[i] - z[i]);
    for (int j = 0; j < HORIZONS; j++) {
        int status = w->flow->advance(w->flow, t + j * H, H, w->best, error);
        if (status == 0)
            status = w->flow->advance(w->flow, t + j * H, H, w->best_delta, error);
        if (status != 0)
            return taut_difference_avoidable(status) ? TAUT_OK
                                                     : status; /* it cannot be found out */
        double now = taut_largest_difference(n, w->best, w->best_delta);
        growth = now / before;
        before = now;
        if (j >= HORIZONS - 2 && !(growth > growth_slow))
            return TAUT_OK;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the point found is no slow state: small deviations from it grow by a factor "
                     "of %.2g in each horizon, for instance before an ignition; begin with a later "
                     "state, which a run gives, or use other observables",
                     growth);
}

/* A higher order corrects less than the one before; where it moves far, it has found one of the
 * false solutions. */
int taut_difference_check_order(const difference *w, const taut_projection_stage *stage,
                                taut_error *error)
{
    if (stage->order < 2 || stage->moved <= 10 * stage[-1].moved || stage->moved <= 1e-3 * w->size)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "order %d moves the state by %.3g, farther than order %d did (%.3g): it has "
                     "found a false solution; use order %d",
                     stage->order, stage->moved, stage->order - 1, stage[-1].moved,
                     stage->order - 1);
}

/* |Jv|/|v| of [D table 5] by two steps of the flow: v' = J v along the motion. The steps are short,
 * so that fast parts show, but not so short that the second difference is noise. */
int taut_difference_judge(difference *w, taut_error *error)
{
    static const double steps[] = {1.0 / 512, 1.0 / 64, 1.0 / 8, 1};
    taut_projection *p = w->p;
    taut_index n = w->held.n;
    double *one = w->work, *two = w->work_delta;
    p->noise = w->noise;
    for (int k = 0; k < 4; k++) {
        double h = steps[k] * w->horizon, top = 0, bottom = 0;
        taut_copy(n, p->q, one);
        int status = w->flow->advance(w->flow, p->in->t, h, one, error);
        taut_copy(n, one, two);
        if (status == 0)
            status = w->flow->advance(w->flow, p->in->t + h, h, two, error);
        if (status != 0)
            return taut_difference_avoidable(status) ? TAUT_OK : status;
        for (taut_index i = 0; i < n; i++) {
            double v = one[i] - p->q[i], change = two[i] - 2 * one[i] + p->q[i];
            top += change * change;
            bottom += v * v;
        }
        double least =
            2 * TAUT_DIFFERENCE_DEVIATIONS * w->noise; /* sqrt(1 + 4 + ...) of the samples */
        p->ratio = fmax(sqrt(top), least) / (h * sqrt(bottom));
        p->ratio_time = h;
        p->ratio_bound = !(sqrt(top) > least);
        if (!p->ratio_bound)
            break;
    }
    return TAUT_OK;
}
