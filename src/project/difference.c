/* difference.c - a slow point of a black box: the (m+1)-st difference of what is not observed
 * vanishes.
 *
 *     z_j = flow_H(z_{j-1}), j = 1 .. m+1, delta = (-1)^m P Delta^{m+1} z_0,
 *     z_0 <- z_0 + delta   [D (3.1)-(3.6)]
 *
 * P keeps observables and invariants (kept_functions.c). Orders 0, 1, ..., m are solved one
 * after the other, each from the result of the one before: higher orders have false solutions
 * far away [D section 2, end]. `plain` is the iteration above; `anderson` accelerates it
 * (anderson.c), and goes back to the best point and a plain step when that does not help.
 *
 * An order is done when max |delta| < tolerance * max |z|, which for the problems of [D section
 * 4.1] is the paper's test. Rounding can leave 2^(m+1) u max |z|; it leaves less where the
 * largest variables are observed ones (hydrogen-oxygen), so that below this level the iteration
 * goes on as long as it gains. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "blackbox/flows.h"
#include "linalg/anderson.h"
#include "point/hold/kept_functions.h"
#include "point/projection.h"
#include "point/record.h"

static const double paper_tolerance = 1e-14;
/* an accelerated step may multiply the difference by this */
static const double growth_most = 10;
/* of max |z|: a difference that stops shrinking here is as small as the flow allows */
static const double stalled_most = 1e-11;
/* of max |z|: deviations that are compared */
static const double least_part = 1e-9;
/* Deviations may grow by this in a horizon (published problems: at most 1.23 in two successive
 * ones; hydrogen and oxygen before their ignition: 2.3). */
static const double growth_slow = 1.5;
static const int rounding_patience = 3; /* iterations without gain, at the level of rounding */

typedef struct difference {
    taut_projection *p;
    taut_flow *flow;
    taut_kept_functions held;
    taut_anderson anderson;
    bool plain, tolerance_given;
    int order;
    double horizon, tolerance;
    int64_t limit;   /* iterations of one order */
    double *samples; /* [order + 2][n]: z_0 .. z_{m+1}, then their differences */
    double *delta;   /* [n] */
    double *best, *best_delta;
    double *next; /* [n]: z_1 of the latest samples */
    double *away; /* [n]: the initial state, a horizon later */
    double size;  /* max |z_j|, of the latest samples */
} difference;

/* delta at z, for one order. 0, >0 the flow cannot be followed from here, <0 error. */
static int evaluate(difference *w, int order, const double *z, double *most, taut_error *error)
{
    taut_index n = w->held.n;
    double *first = w->samples, H = w->horizon;
    taut_copy(n, z, first);
    for (int j = 0; j <= order; j++) {
        double *from = first + (int64_t)j * n, *to = from + n;
        taut_copy(n, from, to);
        TAUT_TRY(w->flow->advance(w->flow, w->p->in->t + j * H, H, to, error));
    }
    taut_copy(n, first + n, w->next);
    w->size = taut_largest((int64_t)(order + 2) * n, first);
    for (int level = 0; level <= order; level++)
        for (int64_t i = 0; i < (int64_t)(order + 1 - level) * n; i++)
            first[i] = first[i + n] - first[i];
    for (taut_index i = 0; i < n; i++)
        w->delta[i] = order % 2 ? -first[i] : first[i];
    TAUT_TRY(taut_kept_functions_tangent(&w->held, w->p->in->t, z, w->delta, error));
    *most = taut_largest(n, w->delta);
    if (!isfinite(*most))
        *most = INFINITY;
    return TAUT_OK;
}

/* ---- the iteration of one order */

typedef struct progress {
    taut_projection_stage *stage;
    double best, first;
    int64_t since;    /* iterations since the best */
    int64_t patience; /* how long to wait for a better one */
    bool accelerated; /* the latest point came from acceleration */
} progress;

/* The best difference is all that can be had: it has stopped to shrink, at the level of rounding
 * or, where no tolerance was asked for, at that of the flow. */
static bool exhausted(const difference *w, const progress *s)
{
    if (s->best < ldexp(DBL_EPSILON, s->stage->order + 1) * w->size)
        return s->since >= rounding_patience;
    return !w->tolerance_given && s->best <= stalled_most * w->size &&
           s->since >= (w->plain ? s->patience : 8);
}

static int fail_stage(const difference *w, const progress *s, taut_error *error)
{
    double now = s->stage->difference / w->size;
    bool stalled = s->since >= s->patience, noise = stalled && now < 1e-4;
    bool growing = !(s->stage->difference <= s->first) || (stalled && !noise);
    char advice[200] = "allow more passes; iteration anderson, or a longer horizon, needs fewer";
    if (growing && !noise)
        strcpy(advice, "the inner integration may be unstable, the initial state too far away, or "
                       "the observables may not determine the state");
    else if (noise)
        snprintf(advice, sizeof advice,
                 "the flow appears to be reproducible to this accuracy only; a tolerance of %.1g "
                 "accepts it",
                 2 * now);
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "order %d: after %lld iterations the difference is still %.3g of the state: %s",
        s->stage->order, (long long)s->stage->iterations, now, advice);
}

/* Failures that another point may avoid; a process that has died is none of them. */
static bool avoidable(int status)
{
    return status > 0 || status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_CONVERGE ||
           status == TAUT_ERROR_SINGULAR;
}

/* From the best point, a plain step. */
static int fall_back(difference *w, progress *s, double *z, taut_error *error)
{
    taut_anderson_clear(&w->anderson);
    s->accelerated = false;
    for (taut_index i = 0; i < w->held.n; i++)
        z[i] = w->best[i] + w->best_delta[i];
    return taut_kept_functions_restore(&w->held, w->p->in->t, z, error);
}

static void advance_point(difference *w, progress *s, double most, double *z)
{
    taut_index n = w->held.n;
    if (most < s->best) {
        s->best = most;
        s->since = 0;
        taut_copy(n, z, w->best);
        taut_copy(n, w->delta, w->best_delta);
    } else
        s->since++;
    if (w->plain) {
        for (taut_index i = 0; i < n; i++)
            z[i] += w->delta[i];
        return;
    }
    taut_anderson_next(&w->anderson, z, w->delta, z);
    s->accelerated = w->anderson.count > 0;
}

/* One order, from z to z. */
static int iterate(difference *w, taut_projection_stage *stage, double *z, taut_error *error)
{
    progress s = {.stage = stage, .best = INFINITY, .patience = w->plain ? 10000 : 40};
    taut_anderson_clear(&w->anderson);
    while (stage->iterations < w->limit) {
        double most = INFINITY;
        int status = evaluate(w, stage->order, z, &most, error);
        stage->iterations++;
        TAUT_TRY(taut_record_difference(w->p, stage->order, most, error));
        if (status != 0 && !(s.accelerated && avoidable(status)))
            return status;
        if (s.accelerated && !(most <= growth_most * s.best)) {
            TAUT_TRY(fall_back(w, &s, z, error));
            continue;
        }
        stage->difference = most;
        s.first = stage->iterations == 1 ? most : s.first;
        if (most < w->tolerance * w->size || most == 0)
            return TAUT_OK;
        advance_point(w, &s, most, z);
        status = taut_kept_functions_restore(&w->held, w->p->in->t, z, error);
        if (status != 0 && s.accelerated && avoidable(status))
            status = fall_back(w, &s, z, error);
        TAUT_TRY(status);
        if (!isfinite(most) || most > 1e6 * s.first)
            break;
        bool enough = exhausted(w, &s);
        if (enough || s.since >= s.patience) {
            taut_copy(w->held.n, w->best, z);
            stage->difference = s.best;
            if (enough)
                return TAUT_OK;
            break;
        }
    }
    return fail_stage(w, &s, error);
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

/* Deviations from the result must not grow on the time scale of the horizon: on a slow manifold
 * fast ones decay, slow ones keep their size. The iteration finds other points as well, for
 * instance a mixture of gases without radicals, which nothing changes and any radical ignites. It
 * is examined where the motion leads from the initial state away from the result. The deviation is
 * a part of the way from there, large compared with the rounding of the flow. w->best and
 * w->best_delta are the two states here. */
static int check_attracts(difference *w, const taut_projection_stage *stage, const double *start,
                          const double *z, taut_error *error)
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
            return avoidable(status) ? TAUT_OK : status; /* it cannot be found out */
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
static int check_order(const difference *w, const taut_projection_stage *stage, taut_error *error)
{
    if (stage->order < 2 || stage->moved <= 10 * stage[-1].moved || stage->moved <= 1e-3 * w->size)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "order %d moves the state by %.3g, farther than order %d did (%.3g): it has "
                     "found a false solution; use order %d",
                     stage->order, stage->moved, stage->order - 1, stage[-1].moved,
                     stage->order - 1);
}

static int solve(difference *w, double *before, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    taut_copy(n, p->q, w->next);
    TAUT_TRY(w->flow->advance(w->flow, p->in->t, w->horizon, w->next, error));
    taut_copy(n, w->next, w->away);
    p->statistics = (taut_statistics){0}; /* a look at the initial state, not a part of the work */
    TAUT_TRY(record(w, p->q, error));
    for (int order = 0; order <= w->order; order++) {
        taut_projection_stage *stage = &p->stage[order];
        *stage = (taut_projection_stage){.order = order};
        p->stages = order + 1;
        taut_copy(n, p->q, before);
        taut_kept_functions_scale(&w->held, p->q, w->next);
        TAUT_TRY(iterate(w, stage, p->q, error));
        stage->moved = taut_largest_difference(n, before, p->q);
        TAUT_TRY(check_order(w, stage, error));
        if (order == 0)
            TAUT_TRY(check_attracts(w, stage, before, p->q, error));
        TAUT_TRY(record(w, p->q, error));
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
    if (settings->given & TAUT_SETTING_ORDER || isnan(order))
        order = settings->order;
    w->plain = settings->plain;
    w->tolerance_given = !isnan(settings->tolerance);
    w->tolerance = w->tolerance_given ? settings->tolerance : paper_tolerance;
    w->limit = settings->given & TAUT_SETTING_PASSES ? settings->passes : w->plain ? 10000000 : 500;
    if (isnan(w->horizon))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection difference needs the time that one use of the flow covers; "
                         "set the horizon, for instance in [stepper], to a little more than the "
                         "time in which fast parts decay");
    if (!(w->horizon > 0))
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

static int build(difference *w, taut_arena *arena, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    TAUT_TRY(taut_kept_functions_create(&w->held, p->in->context, arena, p->in->hold, p->in->t,
                                        p->q, error));
    TAUT_TRY(check_held(w, error));
    int depth =
        w->held.unknowns < TAUT_ANDERSON_DEPTH ? (int)w->held.unknowns : TAUT_ANDERSON_DEPTH;
    TAUT_TRY(taut_anderson_create(&w->anderson, n, depth, arena, error));
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)(w->order + 2) * n, error, &w->samples));
    return TAUT_RESERVE(arena, n, error, &w->delta, &w->best, &w->best_delta, &w->next, &w->away);
}

static void explain(const difference *w, const char *flow)
{
    taut_projection *p = w->p;
    taut_explain(p,
                 "projection difference of order %d over a horizon of %.6g, %.300s; %s iterations "
                 "for the orders from 0 on: ",
                 w->order, w->horizon, flow, w->plain ? "plain" : "accelerated");
    for (int k = 0; k < p->stages; k++)
        taut_explain_more(p, "%s%lld", k ? ", " : "", (long long)p->stage[k].iterations);
    taut_explain_more(p, "; difference left: %.2g", p->stage[p->stages - 1].difference);
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    difference w = {.p = p};
    const char *description = "";
    taut_arena arena;
    taut_arena_init(&arena, &p->arena.allocator);
    double *before = TAUT_NEW(&arena, double, p->in->sizes.coordinates);
    int status = before ? read_settings(&w, settings, error) : taut_fail_memory(error);
    if (status == 0)
        status = build(&w, &arena, error);
    if (status == 0)
        status = taut_flow_create(p->in->context, &arena, &p->statistics, w.horizon,
                                  settings->copies, &w.flow, &description, error);
    if (status == 0)
        status = solve(&w, before, error);
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
    .reads = TAUT_SETTING_PASSES | TAUT_SETTING_TOLERANCE | TAUT_SETTING_ORDER |
             TAUT_SETTING_HORIZON | TAUT_SETTING_ITERATE | TAUT_SETTING_COPIES,
    .project = project,
};
