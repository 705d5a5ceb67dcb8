/* difference.c - a slow point of a black box: the (m+1)-st difference of what is not observed
 * vanishes.
 *
 *     z_j = flow_H(z_{j-1}), j = 1 .. m+1, delta = (-1)^m P Delta^{m+1} z_0,
 *     z_0 <- z_0 + delta   [D (3.1)-(3.6)]
 *
 * P keeps observables and invariants (kept_functions.c). Orders 0, 1, ..., m are solved one
 * after the other, each from the result of the one before: higher orders have false solutions
 * far away [D section 2, end]. The iterations are rows of difference_iterations.c; all of them go
 * back to the best point and a plain step when they do not help.
 *
 * An order is done when max |delta| < tolerance * max |z|, which for the problems of [D section
 * 4.1] is the paper's test. delta is proportional to H^(m+1), and so is the tolerance: where a
 * change of delta has meant a change of z that is R times as large, R |delta| counts, unless the
 * iteration is plain. Nothing is smaller than the noise of the flow (flow_noise.c): at rounding
 * the iteration goes on as long as it gains; at noise far above, a smaller delta is chance, and it
 * ends. With such noise and a small H the derivative is fitted to more samples than it needs.
 *
 * The iteration of a long horizon is short, and the result of a short one accurate: from a first
 * horizon that is longer, with all orders, each following one, with the last order alone, is a
 * quarter of the one before. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "point/record.h"
#include "project/difference.h"

typedef taut_difference difference;
typedef taut_difference_progress progress;

/* of max |z|: an error of the state that is not worth another iteration */
static const double state_tolerance = 1e-12;
/* of max |z|: what a further order should move the state by to be worth it */
static const double order_tolerance = 1e-6;
/* an accelerated step may multiply the difference by this */
static const double growth_most = 10;
/* of max |z|: noise that is not rounding */
static const double random_least = 1e-12;
static const int rounding_patience = 3; /* iterations without gain, at the level of rounding */
/* a response of the state to delta from which on a fit is better */
static const double fit_response = 15;

/* ---- the iteration of one order */

/* What a delta of this size means for the state, as far as it has been seen. */
static double response(const progress *s)
{
    return fmax(s->response, 1);
}

static double tolerance(const difference *w, const progress *s)
{
    if (w->tolerance_given || !w->iteration->accelerates)
        return w->tolerance * w->size;
    return fmin(w->tolerance, state_tolerance / response(s)) * w->size;
}

/* What noise leaves of delta. */
static double noise_level(const difference *w, int order)
{
    return TAUT_DIFFERENCE_DEVIATIONS * taut_difference_noise(w, order);
}

/* delta of this size is all that can be had. */
static bool finished(const difference *w, const progress *s, double most)
{
    return most == 0 || most < tolerance(w, s) ||
           (w->random && !w->tolerance_given && most <= noise_level(w, s->stage->order));
}

/* The best difference has stopped to shrink, at the level of rounding or of the flow's noise. */
static bool exhausted(const difference *w, const progress *s)
{
    double level = ldexp(DBL_EPSILON, s->stage->order + 1) * w->size;
    if (!w->tolerance_given)
        level = fmax(level, noise_level(w, s->stage->order));
    return s->best < level && s->since >= rounding_patience;
}

static int fail_stage(const difference *w, const progress *s, taut_error *error)
{
    double now = s->stage->difference / w->size, level = noise_level(w, s->stage->order) / w->size;
    bool stalled = s->since >= w->iteration->patience,
         noise = now < 10 * level || (stalled && now < 1e-4);
    bool growing = !(s->stage->difference <= s->first) || (stalled && !noise);
    char advice[200] = "allow more passes; iteration anderson, or a longer horizon, needs fewer";
    if (growing && !noise)
        strcpy(advice, "the inner integration may be unstable, the initial state too far away, or "
                       "the observables may not determine the state");
    else if (noise)
        snprintf(advice, sizeof advice,
                 "the flow appears to be reproducible to this accuracy only; a tolerance of %.1g "
                 "accepts it",
                 2 * fmax(now, level));
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "order %d: after %lld iterations the difference is still %.3g of the state: %s",
        s->stage->order, (long long)s->stage->iterations, now, advice);
}

/* From the best point, a plain step. */
static int fall_back(difference *w, progress *s, double *z, taut_error *error)
{
    taut_anderson_clear(&w->anderson);
    s->accelerated = s->known = false;
    s->phase = 0;
    for (taut_index i = 0; i < w->held.n; i++)
        z[i] = w->best[i] + w->best_delta[i];
    return taut_kept_functions_restore(&w->held, w->p->in->t, z, error);
}

/* Takes the point z and its delta: the response since the one before, and the best so far. */
static void take_point(difference *w, progress *s, double most, const double *z)
{
    taut_index n = w->held.n;
    if (s->known) {
        double moved = taut_largest_difference(n, z, w->before),
               changed = taut_largest_difference(n, w->delta, w->before_delta);
        if (changed > 3 * noise_level(w, s->stage->order) && isfinite(moved))
            s->response = fmax(s->response, moved / changed);
    }
    taut_copy(n, z, w->before);
    taut_copy(n, w->delta, w->before_delta);
    if (most < s->best) {
        s->best = most;
        s->since = 0;
        taut_copy(n, z, w->best);
        taut_copy(n, w->delta, w->best_delta);
    } else
        s->since++;
}

/* The next point, restored to what is kept. */
static int go_on(difference *w, progress *s, double *z, taut_error *error)
{
    int status = w->iteration->next(w, s, z, error);
    s->known = true;
    if (status == 0)
        status = taut_kept_functions_restore(&w->held, w->p->in->t, z, error);
    if (status == 0)
        status = taut_difference_stay_positive(w, z, &s->accelerated, error);
    if (status != 0 && w->iteration->accelerates && taut_difference_avoidable(status))
        status = fall_back(w, s, z, error);
    return status;
}

/* One order, from z to z. */
static int iterate(difference *w, taut_projection_stage *stage, double *z, taut_error *error)
{
    progress s = {.stage = stage, .best = INFINITY, .response = stage->response};
    int64_t limit = stage->iterations + (w->limit ? w->limit : w->iteration->limit);
    taut_anderson_clear(&w->anderson);
    w->anderson.least = w->random ? noise_level(w, stage->order) / w->size : 0;
    while (stage->iterations < limit) {
        double most;
        int status = taut_difference_evaluate(w, stage, z, &most, error);
        TAUT_TRY(taut_record_difference(w->p, stage->order, most, error));
        if (status != 0 && !(s.accelerated && taut_difference_avoidable(status)))
            return status;
        if (s.accelerated && !(most <= growth_most * s.best)) {
            TAUT_TRY(fall_back(w, &s, z, error));
            continue;
        }
        stage->difference = most;
        if (!isfinite(s.best)) {
            s.first = most;
            /* secants of plain steps would be lost in noise; Newton's steps are longer */
            if (w->auto_iteration && stage->order > 0 && most < 10 * noise_level(w, stage->order))
                w->iteration = taut_iteration_find("newton");
        }
        take_point(w, &s, most, z);
        stage->response = s.response;
        if (finished(w, &s, most))
            return TAUT_OK;
        TAUT_TRY(go_on(w, &s, z, error));
        if (!isfinite(most) || most > 1e6 * s.first)
            break;
        bool enough = exhausted(w, &s);
        if (enough || s.since >= w->iteration->patience) {
            taut_copy(w->held.n, w->best, z);
            stage->difference = s.best;
            if (enough)
                return TAUT_OK;
            break;
        }
    }
    return fail_stage(w, &s, error);
}

int taut_difference_iterate(difference *w, taut_projection_stage *stage, const double *before,
                            double *z, taut_error *error)
{
    int status = iterate(w, stage, z, error);
    if (status != TAUT_ERROR_CONVERGE || !w->auto_iteration)
        return status;
    taut_error second = {0};
    const taut_iteration *first = w->iteration;
    if (strcmp(first->name, "newton") == 0)
        return status;
    taut_copy(w->held.n, before, z);
    w->iteration = taut_iteration_find("newton");
    status = iterate(w, stage, z, &second);
    if (status == 0)
        return TAUT_OK;
    w->iteration = first; /* its message stands */
    return status < 0 && !taut_difference_avoidable(status)
               ? taut_fail(error, status, "%s", second.message)
               : TAUT_ERROR_CONVERGE;
}

/* ---- orders */

/* Values of the bonds at z, and their rates over one horizon, to w->next. */
int taut_difference_record(difference *w, const double *z, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index m = p->in->sizes.bonds;
    taut_pass *now = taut_projection_new_pass(p, error);
    if (!now)
        return TAUT_ERROR_MEMORY;
    taut_values here = {.bond = now->g}, there = {.bond = now->gdot};
    TAUT_TRY(taut_evaluate_inside(p->in->context, p->in->t, z, NULL, TAUT_WANT_BOND, &here, error));
    TAUT_TRY(taut_evaluate_inside(p->in->context, p->in->t + w->horizon, w->next, NULL,
                                  TAUT_WANT_BOND, &there, error));
    for (taut_index i = 0; i < m; i++)
        now->gdot[i] = (now->gdot[i] - now->g[i]) / w->horizon;
    p->passes = now - p->pass;
    return TAUT_OK;
}

/* The sizes of the variables, as powers of 2, which do not round. */
static void set_scale(difference *w)
{
    double size = fmax(fmax(w->size, taut_largest(w->held.n, w->away)), DBL_MIN);
    taut_kept_functions_scale(&w->held, w->p->q, w->next);
    for (taut_index i = 0; i < w->held.n; i++)
        w->scale[i] = exp2(round(log2(size / sqrt(w->held.stiff[i]))));
}

/* Noise of the flow at the initial state. */
static int measure_noise(difference *w, double *work, taut_error *error)
{
    taut_index n = w->held.n;
    double *noise = w->work;
    w->size = fmax(taut_largest(n, w->p->q), taut_largest(n, w->next));
    set_scale(w);
    int status =
        taut_flow_noise(w->flow, w->p->in->t, w->horizon, w->p->q, w->scale, work, noise, error);
    if (status > 0) { /* not near the initial state: rounding is assumed */
        w->noise = DBL_EPSILON * w->size;
        return TAUT_OK;
    }
    w->noise = status == 0 ? taut_largest(n, noise) : 0;
    w->random = w->noise > random_least * w->size;
    return status;
}

/* Is the order that has just been solved worth its place? False, with the reason, when the one
 * before is better. */
static bool better(const difference *w, const taut_projection_stage *stage)
{
    taut_projection *p = w->p;
    if (stage->order == 0)
        return true;
    if (w->random && stage->accuracy >= stage->moved) {
        taut_explain_more(p, "order %d corrects less than the noise of the flow", stage->order);
        return false;
    }
    if (stage->order > 1 && stage->moved > stage[-1].moved) {
        taut_explain_more(p, "order %d moves farther than order %d did", stage->order,
                          stage->order - 1);
        return false;
    }
    return true;
}

/* Would a fit to more samples be better than the difference just solved? Where H is short compared
 * with the decay of fast parts, and the noise left is not small compared with what the order has
 * corrected. */
static bool noise_matters(const difference *w, taut_projection_stage *stage, const double *before)
{
    if (stage->order == 0)
        return false;
    if (stage->response == 0) /* nothing seen: R_m ~ (H rate)^-(m+1) */
        stage->response = pow(stage[-1].response, 1 + 1.0 / stage->order);
    return w->random && !w->tolerance_given && stage->response > fit_response &&
           stage->response * taut_difference_noise(w, stage->order) >
               0.01 * taut_largest_difference(w->held.n, before, w->p->q);
}

/* One order from p->q. */
static int solve_order(difference *w, int order, double *before, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    taut_projection_stage *stage = &p->stage[order];
    *stage = (taut_projection_stage){.order = order};
    p->stages = order + 1;
    taut_copy(n, p->q, before);
    set_scale(w);
    if (w->auto_iteration)
        w->iteration = taut_iteration_find("anderson");
    w->fit = 0;
    TAUT_TRY(taut_difference_iterate(w, stage, before, p->q, error));
    if (noise_matters(w, stage, before)) {
        w->fit = TAUT_DIFFERENCE_FIT;
        TAUT_TRY(taut_difference_iterate(w, stage, before, p->q, error));
    }
    w->newton_used |= w->auto_iteration && strcmp(w->iteration->name, "newton") == 0;
    TAUT_TRY(taut_difference_check_positive(w, p->q, error));
    stage->moved = taut_largest_difference(n, before, p->q);
    stage->accuracy =
        fmax(stage->response, 1) * fmax(taut_difference_noise(w, order), stage->difference);
    if (order == 0)
        TAUT_TRY(taut_difference_check_attracts(w, stage, before, p->q, error));
    return w->auto_order ? TAUT_OK : taut_difference_check_order(w, stage, error);
}

/* Orders from `first` on with w->horizon. */
static int solve_orders(difference *w, int first, double *before, double *work, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    taut_copy(n, p->q, w->next);
    TAUT_TRY(w->flow->advance(w->flow, p->in->t, w->horizon, w->next, error));
    taut_copy(n, w->next, w->away);
    TAUT_TRY(taut_difference_record(w, p->q, error));
    TAUT_TRY(measure_noise(w, work, error));
    if (w->jet) { /* without a flow, there is rounding only */
        w->noise = DBL_EPSILON / 2 * w->size;
        w->random = false;
    }
    for (int order = first; order <= w->order; order++) {
        taut_error reason = {0};
        int status = solve_order(w, order, before, w->auto_order ? &reason : error);
        bool failed = status > 0 || status == TAUT_ERROR_CONVERGE;
        if (w->auto_order && order > 0 && failed)
            taut_explain_more(p, "order %d does not converge", order);
        else if (status != 0 && w->auto_order && error)
            *error = reason;
        if (status != 0 && !(w->auto_order && order > 0 && failed))
            return status;
        if (status != 0 || (w->auto_order && !better(w, &p->stage[order]))) {
            p->stages = order;
            w->order = order - 1;
            taut_copy(n, before, p->q);
            return TAUT_OK;
        }
        TAUT_TRY(taut_difference_record(w, p->q, error));
        if (w->auto_order && order > 0 && p->stage[order].moved <= order_tolerance * w->size) {
            taut_explain_more(p, "order %d moved the state by %.1g of its size only", order,
                              p->stage[order].moved / w->size);
            w->order = order;
        }
    }
    return TAUT_OK;
}

int taut_difference_solve(difference *w, double *before, double *work, taut_error *error)
{
    const double H = w->horizon;
    int first = 0;
    for (double now = fmax(H, w->first_horizon);; now = fmax(now / 4, H)) {
        w->horizon = now > 1.01 * H ? now : H;
        TAUT_TRY(solve_orders(w, first, before, work, error));
        if (w->horizon == H)
            return TAUT_OK;
        w->spent += w->p->stage[w->order].iterations;
        first = w->order;
        w->auto_order = false; /* it was chosen */
    }
}
