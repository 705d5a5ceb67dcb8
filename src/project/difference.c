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
 * Projection derivative is the same with the exact derivative of order m + 1 in place of the
 * difference [D (1.9)]. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "blackbox/flows.h"
#include "point/record.h"
#include "project/difference.h"
#include "project/flow_rates.h"

typedef taut_difference difference;
typedef taut_difference_progress progress;

static const double paper_tolerance = 1e-14;
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
static int record(difference *w, const double *z, taut_error *error)
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

static int solve(difference *w, double *before, double *work, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    taut_copy(n, p->q, w->next);
    TAUT_TRY(w->flow->advance(w->flow, p->in->t, w->horizon, w->next, error));
    taut_copy(n, w->next, w->away);
    TAUT_TRY(record(w, p->q, error));
    TAUT_TRY(measure_noise(w, work, error));
    if (w->jet) { /* without a flow, there is rounding only */
        w->noise = DBL_EPSILON / 2 * w->size;
        w->random = false;
    }
    for (int order = 0; order <= w->order; order++) {
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
        TAUT_TRY(record(w, p->q, error));
        if (w->auto_order && order > 0 && p->stage[order].moved <= order_tolerance * w->size) {
            taut_explain_more(p, "order %d moved the state by %.1g of its size only", order,
                              p->stage[order].moved / w->size);
            w->order = order;
        }
    }
    return TAUT_OK;
}

/* ---- creation */

static int read_settings(difference *w, const taut_projection_settings *settings, taut_error *error)
{
    const taut_system *system = w->p->in->system;
    double order = taut_stepper_number(system, "order");
    w->horizon =
        isnan(settings->horizon) ? taut_stepper_number(system, "horizon") : settings->horizon;
    w->auto_order = !(settings->given & TAUT_SETTING_ORDER) && isnan(order);
    w->auto_iteration = !settings->iteration;
    w->iteration = w->auto_iteration ? taut_iteration_find("anderson") : settings->iteration;
    w->tolerance_given = !isnan(settings->tolerance);
    w->tolerance = w->tolerance_given ? settings->tolerance : paper_tolerance;
    w->limit = settings->given & TAUT_SETTING_PASSES ? settings->passes : 0;
    if (settings->given & TAUT_SETTING_ORDER || isnan(order))
        order = w->auto_order ? TAUT_PROJECTION_STAGES - 1 : settings->order;
    if (!isnan(w->horizon) && !(w->horizon > 0))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "[stepper] horizon: expected a number > 0, found %g", w->horizon);
    if (!(order >= 0 && order < TAUT_PROJECTION_STAGES) || order != floor(order))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "[stepper] order: expected a whole number from 0 to %d, found %g",
                         TAUT_PROJECTION_STAGES - 1, order);
    w->order = (int)order;
    return TAUT_OK;
}

static int check_held(const difference *w, taut_error *error)
{
    const taut_sizes *sizes = &w->p->in->sizes;
    bool any = sizes->observables > 0;
    for (taut_index j = 0; j < w->held.n; j++)
        any = any || w->held.fixed[j];
    if (!any)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection difference needs observables: name the variables that keep "
                         "their values in [observables], or hold them (x = 1 hold, in [start])");
    if (w->held.unknowns < 1)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection difference has nothing to find: observables and invariants "
                         "fix all %d variables",
                         w->held.n);
    return TAUT_OK;
}

int taut_difference_build(difference *w, taut_arena *arena, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    TAUT_TRY(taut_kept_functions_create(&w->held, p->in->context, arena, p->in->hold, p->in->t,
                                        p->q, error));
    TAUT_TRY(check_held(w, error));
    int depth =
        w->held.unknowns < TAUT_ANDERSON_DEPTH ? (int)w->held.unknowns : TAUT_ANDERSON_DEPTH;
    TAUT_TRY(taut_anderson_create(&w->anderson, n, depth, arena, error));
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)((w->order + 1) * (1 + TAUT_DIFFERENCE_FIT) + 1) * n,
                          error, &w->samples));
    TAUT_TRY(
        TAUT_RESERVE(arena, (int64_t)(TAUT_NEWTON_BASIS + 1) * n, error, &w->basis, &w->image));
    TAUT_TRY(
        TAUT_RESERVE(arena, n, error, &w->delta, &w->best, &w->best_delta, &w->next, &w->away));
    return TAUT_RESERVE(arena, n, error, &w->before, &w->before_delta, &w->scale, &w->work,
                        &w->work_delta);
}

static void explain(const difference *w, const char *flow)
{
    taut_projection *p = w->p;
    char why[200];
    snprintf(why, sizeof why, "%.199s", p->explanation);
    taut_explain(p,
                 "projection %s of order %d%s%s%s over a horizon of %.6g%s, %.300s; "
                 "iteration %s%s, evaluations for the orders from 0 on: ",
                 w->jet ? "derivative" : "difference", w->order, why[0] ? " (" : "", why,
                 why[0] ? ")" : "", w->horizon, w->horizon_found ? " (from the spectrum)" : "",
                 flow, w->auto_iteration ? "anderson" : w->iteration->name,
                 w->newton_used ? " and newton" : "");
    for (int k = 0; k < p->stages; k++)
        taut_explain_more(p, "%s%lld", k ? ", " : "", (long long)p->stage[k].iterations);
    taut_explain_more(p, "; difference left: %.2g", p->stage[p->stages - 1].difference);
    if (w->random)
        taut_explain_more(p,
                          "; the flow has a noise of %.1g of the state, which leaves about %.1g of "
                          "it in the result%s",
                          w->noise / w->size, p->stage[p->stages - 1].accuracy / w->size,
                          w->fit ? " (derivatives fitted by least squares)" : "");
}

/* What rows of the table do; their data. */
enum { DIFFERENCE, DERIVATIVE, BRUTE };
static const int kinds[] = {DIFFERENCE, DERIVATIVE, BRUTE};

/* The flow; where no horizon is given, that in which the slowest of the fast parts decays by 1/e:
 * from the derivatives of the model's rates, or from the spectrum of the flow. */
static int make_flow(difference *w, int copies, taut_arena *arena, const char **description,
                     taut_error *error)
{
    taut_projection *p = w->p;
    taut_flow_rates rates;
    taut_index n = p->in->sizes.coordinates;
    bool given = !isnan(w->horizon), open = p->in->sizes.kind == TAUT_FIRST_ORDER;
    double size = fmax(taut_largest(n, p->q), DBL_MIN);
    for (taut_index i = 0; i < n; i++)
        w->scale[i] = fmax(fabs(p->q[i]), 1e-8 * size);
    if (!given)
        TAUT_TRY(taut_flow_rates_create(&rates, n, w->scale, arena, error));
    if (!given && open) {
        TAUT_TRY(taut_flow_rates_open(&rates, p->in->context, p->in->t, p->q, error));
        w->horizon = taut_flow_rates_time(&rates, w->held.unknowns);
    }
    TAUT_TRY(taut_flow_create(p->in->context, arena, &p->statistics, given || open ? w->horizon : 1,
                              copies, &w->flow, description, error));
    if (!given && !open)
        TAUT_TRY(taut_flow_rates_horizon(&rates, w->flow, p->in->t, p->q, w->held.unknowns, 1, 0,
                                         &w->horizon, error));
    w->horizon_found = !given;
    return TAUT_OK;
}

/* Projection brute, with the passes before and after. */
static int follow(difference *w, double *start, taut_error *error)
{
    taut_projection *p = w->p;
    taut_copy(w->held.n, p->q, w->next);
    TAUT_TRY(w->flow->advance(w->flow, p->in->t, w->horizon, w->next, error));
    TAUT_TRY(record(w, p->q, error));
    TAUT_TRY(taut_difference_brute(w, start, error));
    return record(w, p->q, error);
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    const int kind = *(const int *)p->method->data;
    difference w = {.p = p};
    const char *description = "";
    taut_arena arena;
    taut_arena_init(&arena, &p->arena.allocator);
    double *before = TAUT_NEW(&arena, double, p->in->sizes.coordinates);
    double *points = TAUT_NEW(&arena, double, TAUT_NOISE_POINTS * p->in->sizes.coordinates);
    p->explanation[0] = '\0';
    int status = before && points ? read_settings(&w, settings, error) : taut_fail_memory(error);
    if (status == 0)
        status = taut_difference_build(&w, &arena, error);
    if (status == 0)
        status = make_flow(&w, settings->copies, &arena, &description, error);
    if (status == 0 && kind == DERIVATIVE)
        status = taut_jet_create(p->in->context, w.order, TAUT_WANT_FORCE, &w.jet, error);
    if (status == 0 && kind == BRUTE)
        status = follow(&w, before, error);
    else if (status == 0)
        status = solve(&w, before, points, error);
    if (status == 0)
        status = taut_difference_judge(&w, error);
    if (status == 0)
        taut_error_clear(error); /* what a flow could not do on the way was avoided */
    if (status > 0)              /* the flow has given the reason */
        status = error ? error->code : TAUT_ERROR_EVALUATE;
    if (p->stages > 0)
        explain(&w, description);
    for (taut_index i = 0; i < p->in->sizes.bonds; i++)
        p->lambda[i] = NAN; /* there are no forces */
    if (w.flow)
        w.flow->destroy(w.flow);
    taut_kept_functions_destroy(&w.held);
    taut_jet_destroy(w.jet);
    taut_arena_clear(&arena);
    return status;
}

const taut_projection_method taut_projection_difference = {
    .name = "difference",
    .summary = "for rates and black boxes: what is not observed is found such that its difference "
               "of order m+1 vanishes",
    .reference = "Gear, Kaper, Kevrekidis, Zagaris 2005, section 3",
    .refuses = TAUT_HAS_ALGEBRAIC,
    .kinds = 1u << TAUT_FIRST_ORDER | 1u << TAUT_BLACK_BOX,
    .data = &kinds[DIFFERENCE],
    .reads = TAUT_SETTING_PASSES | TAUT_SETTING_TOLERANCE | TAUT_SETTING_ORDER |
             TAUT_SETTING_HORIZON | TAUT_SETTING_ITERATE | TAUT_SETTING_COPIES,
    .project = project,
};

const taut_projection_method taut_projection_derivative = {
    .name = "derivative",
    .summary =
        "for rates with equations: the exact derivative of order m+1 of what is not observed "
        "vanishes",
    .reference = "Gear, Kaper, Kevrekidis, Zagaris 2005, (1.9)",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_JETS,
    .refuses = TAUT_HAS_ALGEBRAIC,
    .kinds = 1u << TAUT_FIRST_ORDER,
    .data = &kinds[DERIVATIVE],
    .reads = TAUT_SETTING_PASSES | TAUT_SETTING_TOLERANCE | TAUT_SETTING_ORDER |
             TAUT_SETTING_HORIZON | TAUT_SETTING_ITERATE,
    .project = project,
};

const taut_projection_method taut_projection_brute = {
    .name = "brute",
    .summary = "for rates and black boxes: the flow is followed until it is slow; observables move",
    .reference = "Gear, Kaper, Kevrekidis, Zagaris 2005, introduction",
    .refuses = TAUT_HAS_ALGEBRAIC,
    .kinds = 1u << TAUT_FIRST_ORDER | 1u << TAUT_BLACK_BOX,
    .data = &kinds[BRUTE],
    .reads = TAUT_SETTING_PASSES | TAUT_SETTING_HORIZON,
    .project = project,
};
