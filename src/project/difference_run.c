/* difference_run.c - the projections of rates and flows: settings, the flow, and what is done with
 * it. Rows: difference (difference.c), derivative, which has the exact derivative of order m + 1 in
 * place of the difference [D (1.9)], brute (brute.c), outer (outer.c), and filter, which has
 *
 *     delta = P (sum_j w_j flow_{jh}(z) - z),   j = -N .. N, N h = H
 *
 * with the weights of a smooth kernel in place of the difference: fast parts that oscillate vanish,
 * as in the filters of mechanical systems [A section 3]. Its flow runs backwards too. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "blackbox/flows.h"
#include "filter/filter_kernels.h"
#include "point/record.h"
#include "project/difference.h"
#include "project/flow_rates.h"

typedef taut_difference difference;

static const double paper_tolerance = 1e-14;
/* radians of the slowest oscillation in half of a filter's window, and its steps */
static const double filter_radians = 16;
enum { FILTER_STEPS = 24 };

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
    w->first_horizon = settings->first_horizon;
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
                 p->method->name, p->stages - 1, why[0] ? " (" : "", why, why[0] ? ")" : "",
                 w->horizon, w->horizon_found ? " (from the spectrum)" : "", flow,
                 w->auto_iteration ? "anderson" : w->iteration->name,
                 w->newton_used ? " and newton" : "");
    const bool outer = p->method == &taut_projection_outer;
    for (int k = 0; k < (outer ? 1 : p->stages); k++)
        taut_explain_more(p, "%s%lld", k ? ", " : "", (long long)p->stage[k].iterations);
    if (w->spent > 0)
        taut_explain_more(p, " (and %lld with longer horizons, from %.6g on)", (long long)w->spent,
                          w->first_horizon);
    taut_explain_more(p, "; %s: %.2g", outer ? "last term" : "difference left",
                      outer ? p->stage[p->stages - 1].moved : p->stage[p->stages - 1].difference);
    if (w->random)
        taut_explain_more(p,
                          "; the flow has a noise of %.1g of the state, which leaves about %.1g of "
                          "it in the result%s",
                          w->noise / w->size, p->stage[p->stages - 1].accuracy / w->size,
                          w->fit ? " (derivatives fitted by least squares)" : "");
}

/* What rows of the table do; their data. */
enum { DIFFERENCE, DERIVATIVE, BRUTE, OUTER, FILTER };
static const int kinds[] = {DIFFERENCE, DERIVATIVE, BRUTE, OUTER, FILTER};

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

/* Weights and steps of a filter. */
static int make_filter(difference *w, const taut_projection_settings *settings, taut_arena *arena,
                       taut_error *error)
{
    taut_filter_kernel kernel = {.moments = settings->moments, .smooth = settings->smoothness};
    bool given = settings->given & TAUT_SETTING_MICRO_STEPS;
    if (kernel.smooth < 0)
        kernel.smooth = (kernel.moments + 1) / 2;
    w->steps = given ? (int)settings->micro_steps : FILTER_STEPS;
    if (w->steps <= kernel.moments)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "%d vanishing moments need more than %d steps to each side",
                         kernel.moments, w->steps);
    if (w->horizon_found)
        w->horizon *= filter_radians;
    TAUT_TRY(TAUT_RESERVE(arena, w->steps + 1, error, &w->weight));
    taut_filter_kernel_weights(&kernel, w->steps, 0, w->weight);
    return TAUT_OK;
}

/* Projection brute, with the passes before and after. */
static int follow(difference *w, double *start, taut_error *error)
{
    taut_projection *p = w->p;
    taut_copy(w->held.n, p->q, w->next);
    TAUT_TRY(w->flow->advance(w->flow, p->in->t, w->horizon, w->next, error));
    TAUT_TRY(taut_difference_record(w, p->q, error));
    TAUT_TRY(taut_difference_brute(w, start, error));
    return taut_difference_record(w, p->q, error);
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
    const int order = w.order;
    const bool to_smallest = w.auto_order;
    if (kind == OUTER || kind == FILTER) {
        w.order = 0;
        w.auto_order = false;
    }
    if (kind == OUTER) { /* Newton's last step is far below any tolerance */
        w.tolerance_given = false;
        w.tolerance = paper_tolerance;
    }
    if (status == 0 && (kind == DERIVATIVE || kind == OUTER))
        status = taut_jet_create(p->in->context, w.order, TAUT_WANT_FORCE, &w.jet, error);
    if (status == 0 && kind == FILTER)
        status = make_filter(&w, settings, &arena, error);
    if (status == 0 && kind == BRUTE)
        status = follow(&w, before, error);
    else if (status == 0)
        status = taut_difference_solve(&w, before, points, error);
    if (status == 0 && kind == OUTER)
        status = taut_difference_outer(&w, order, to_smallest, &arena, error);
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
             TAUT_SETTING_HORIZON | TAUT_SETTING_FIRST_HORIZON | TAUT_SETTING_ITERATE |
             TAUT_SETTING_COPIES,
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

const taut_projection_method taut_projection_outer = {
    .name = "outer",
    .summary = "for rates with equations: terms 0 to m of the outer expansion, the asymptotic "
               "series of singular perturbation theory",
    .reference = "Gear, Kaper, Kevrekidis, Zagaris 2005, (1.7) and (4.3)",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS,
    .refuses = TAUT_HAS_ALGEBRAIC,
    .kinds = 1u << TAUT_FIRST_ORDER,
    .data = &kinds[OUTER],
    .reads = TAUT_SETTING_PASSES | TAUT_SETTING_ORDER | TAUT_SETTING_HORIZON | TAUT_SETTING_ITERATE,
    .project = project,
};

const taut_projection_method taut_projection_filter = {
    .name = "filter",
    .summary = "for rates and black boxes whose flow runs backwards: fast oscillations of what is "
               "not observed are averaged by a kernel",
    .reference = "Ariel, Sanz-Serna, Tsai, section 3; here for flows",
    .refuses = TAUT_HAS_ALGEBRAIC,
    .kinds = 1u << TAUT_FIRST_ORDER | 1u << TAUT_BLACK_BOX,
    .data = &kinds[FILTER],
    .reads = TAUT_SETTING_PASSES | TAUT_SETTING_TOLERANCE | TAUT_SETTING_HORIZON |
             TAUT_SETTING_ITERATE | TAUT_SETTING_COPIES | TAUT_SETTING_MICRO_STEPS |
             TAUT_SETTING_MOMENTS | TAUT_SETTING_SMOOTHNESS,
    .project = project,
};
