/* projective.c - projective integration: slow motion of first-order models and black boxes.
 *
 * The field that explicit methods integrate is the rate of the slow motion, from a short burst of
 * the flow that begins at a state z:
 *
 *     z_j = flow_H(z_(j-1)), z_0 = z;   p(s) fitted to the last samples (j H, z_j) of the burst;
 *     rate(t, z) = p'(0),   slow point of z: p(0)          [Gear, Kevrekidis 2003, (2.4)-(2.6)]
 *
 * p is of degree 3 to 6, and fast parts are removed from the samples by what is known of their
 * decay (burst_weights.c); where the flow has noise, a line is fitted. Both values are extrapolated
 * to the time where the burst began: unlike in the published methods, which leap from the end of a
 * burst, rate() is a field, and every explicit method of the table with its estimates, dense output
 * and events becomes a projective one: euler is projective forward Euler, midpoint and rk4 the
 * Runge-Kutta methods of order 2 and 4 [Lafitte, Lejon, Samaey 2016]. Bursts go forward also where
 * the run goes backward [Gear, Kevrekidis 2004]. p(0) lies on the slow manifold where the given
 * state leads to; after each step it replaces the state (healing), so that fast parts do not
 * accumulate, and the rate there is that of the same burst.
 *
 * A burst ends when a sample more changes the rate by no more than a tenth of the tolerance over
 * the time scale of the slow motion, or when such changes no longer fall. */
#include "drive/projective.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/reasons.h"
#include "base/text.h"
#include "base/vectors.h"
#include "drive/solver.h"
#include "project/lift.h"
#include "wrap/invariants.h"

enum { MOST_SAMPLES = 100, LEVELS_EVERY = 10, NOISY_WINDOW = TAUT_BURST_WINDOW };
static const double SMALL = 0.1; /* change of a rate over the time of a leap, in tolerances */

/* ---- a burst */

/* Sample k; the latest ones are kept. */
static double *sample(const taut_projective *p, int k)
{
    return p->sample + (int64_t)(k % (TAUT_BURST_WINDOW + 1)) * p->stepper->n;
}

/* The slow motion at the beginning of the burst, from its samples up to `last`. */
static void fit(taut_projective *p, int last)
{
    const taut_index n = p->stepper->n;
    const int W = taut_burst_window(&p->weights, last);
    double value[TAUT_BURST_WINDOW + 1], slope[TAUT_BURST_WINDOW + 1];
    taut_burst_weights(&p->weights, last, value, slope);
    taut_clear(n, p->state);
    taut_clear(n, p->slope);
    for (int j = 0; j <= W; j++) {
        const double *z = sample(p, last - W + j);
        taut_add_scaled(n, value[j], z, p->state);
        taut_add_scaled(n, slope[j] / p->plan.spacing, z, p->slope);
    }
}

/* rms of the distance of the latest fit from another one, over the time of a leap, in tolerances or
 * in errors that cannot be avoided; state may be NULL. */
static double distance(const taut_projective *p, const double *state, const double *slope)
{
    const taut_stepper *s = p->stepper;
    double time = fmin(1 / fmax(p->plan.slow, DBL_MIN), p->length), sum = 0;
    for (taut_index i = 0; i < s->n; i++) {
        double w = s->atol + s->rtol * fabs(p->state[i]),
               e = time * fabs(p->slope[i] - slope[i]) + (state ? fabs(p->state[i] - state[i]) : 0);
        sum += w > 0 ? e * e / (w * w) : e * e;
    }
    return sqrt(sum / s->n) / p->weights.excess;
}

static bool same(const taut_projective *p, double t, const double *q)
{
    size_t size = (size_t)p->stepper->n * sizeof *q;
    return t == p->t && (memcmp(q, p->from, size) == 0 || memcmp(q, p->state, size) == 0);
}

/* After sample k. Changes fall steadily some samples after the window is full. */
static bool settled(const taut_projective *p, int k, double e, double before)
{
    double falls = (1 + p->weights.most) / 2;
    int steady = p->weights.window + p->weights.skip + 4;
    return e <= SMALL || (k > steady && e >= falls * before);
}

static int fail_fast(const taut_projective *p, double t, double e, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "fast parts have not decayed after a burst of %d samples (time %.3g) from t = "
                     "%.6g: the rate still changes by %.2g tolerances; the gap between slow and "
                     "fast rates has closed, or the inner step of %.3g is unstable there; motion "
                     "full needs no gap",
                     p->most, p->most * p->plan.spacing, t, e, p->plan.inner);
}

/* Weights of samples multiply rounding, in invariants too: the slow point has their values again.
 * p->before is free. */
static int keep_invariants(taut_projective *p, double t, taut_error *error)
{
    enum { PASSES = 2 }; /* one is enough where they are linear */
    for (int k = 0; k < PASSES && p->invariants; k++) {
        TAUT_TRY(taut_invariants_step(p->invariants, t, p->state, NULL, p->before, error));
        taut_add_scaled(p->stepper->n, -1, p->before, p->state);
    }
    return TAUT_OK;
}

/* The burst from q at t, unless it is the latest one. */
static int burst(taut_projective *p, double t, const double *q, taut_error *error)
{
    const taut_index n = p->stepper->n;
    double *z = p->sample, e = INFINITY, first = 0;
    int k = 0;
    if (same(p, t, q))
        return TAUT_OK;
    taut_copy(n, q, z);
    if (p->lift)
        TAUT_TRY(taut_lift_apply(p->lift, t, z, error));
    p->t = NAN;
    taut_copy(n, q, p->from);
    for (bool done = false; !done && k < p->most;) {
        double *next = sample(p, ++k), before = e;
        taut_copy(n, sample(p, k - 1), next);
        TAUT_TRY(
            p->flow->advance(p->flow, t + (k - 1) * p->plan.spacing, p->plan.spacing, next, error));
        if (k < p->least)
            continue;
        taut_copy(n, p->slope, p->before);
        fit(p, k);
        if (k == p->least)
            continue;
        e = distance(p, NULL, p->before);
        if (!isfinite(e))
            return TAUT_RETRY;
        first = fmax(first, e);
        done = settled(p, k, e, before);
    }
    p->bursts++;
    p->samples += k;
    if (p->plan.noise == 0 && k == p->most && e > 10 && e < 0.8 * first)
        return fail_fast(p, t, e, error);
    TAUT_TRY(keep_invariants(p, t, error));
    if (p->lift)
        taut_lift_remember(p->lift, p->state);
    p->t = t;
    return TAUT_OK;
}

/* Telescopic steps have an error of order 2 in their length: they are halved until this changes
 * what the burst from q gives by less than half of the tolerance. */
static int refine_levels(taut_projective *p, double t, const double *q, taut_error *error)
{
    const taut_index n = p->stepper->n;
    TAUT_TRY(burst(p, t, q, error));
    for (double e = INFINITY; e > 0.5;) {
        taut_copy(n, p->state, p->coarse);
        taut_copy(n, p->slope, p->coarse + n);
        p->t = NAN;
        taut_flow_telescope_refine(p->flow, 2 * p->refined);
        TAUT_TRY(burst(p, t, q, error));
        e = distance(p, p->coarse, p->coarse + n);
        if (!isfinite(e))
            return TAUT_RETRY;
        p->refined *= e > 0.5 ? 2 : 1;
    }
    taut_flow_telescope_refine(p->flow, p->refined);
    return TAUT_OK;
}

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    taut_projective *p = field->self;
    (void)v;
    (void)lambda;
    TAUT_TRY(burst(p, t, q, error));
    taut_copy(field->n, p->slope, rate);
    return TAUT_OK;
}

/* ---- healing: only the ends of steps, whose time the stepper has */

static int stay(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    (void)projector;
    (void)t;
    (void)q;
    (void)v;
    (void)error;
    return TAUT_OK;
}

static int heal(taut_projector *projector, double t0, const double *q0, const double *v0, double *q,
                double *v, taut_error *error)
{
    taut_projective *p = projector->self;
    (void)t0;
    (void)q0;
    (void)v0;
    (void)v;
    bool look = p->plan.levels > 0 && p->healed++ % LEVELS_EVERY == 0;
    TAUT_TRY((look ? refine_levels : burst)(p, p->stepper->now.t, q, error));
    taut_copy(p->stepper->n, p->state, q);
    return TAUT_OK;
}

/* The latest burst, and what lifting remembers of it. */
static void archive(taut_field *field, taut_archive *a)
{
    taut_projective *p = field->self;
    taut_archive_real(a, &p->t);
    taut_archive_reals(a, p->from, field->n);
    taut_archive_reals(a, p->state, field->n);
    taut_archive_reals(a, p->slope, field->n);
    taut_archive_count(a, &p->bursts);
    taut_archive_count(a, &p->samples);
    taut_archive_real(a, &p->refined);
    taut_archive_count(a, &p->healed);
    taut_flow_telescope_refine(p->flow, p->refined);
    if (p->invariants)
        taut_invariants_archive(p->invariants, a);
    if (p->lift)
        taut_lift_archive(p->lift, a);
}

/* ---- creation */

static int make_lift(taut_solver *solver, taut_projective *p, taut_error *error)
{
    static const char *const names[] = {"burst", "last", "difference"};
    const char *name = taut_options_text(solver->options, "lifting");
    taut_stepper *s = &solver->stepper;
    for (int k = 0; k < 3; k++)
        if (strcmp(name, names[k]) == 0)
            p->lifting = (taut_lifting)k;
    /* leaps would make large numbers of the noise of what is not observed */
    if (p->plan.noise > 0 && solver->sizes.observables > 0 &&
        !taut_options_given(solver->options, "lifting"))
        p->lifting = TAUT_LIFT_LAST;
    if (p->lifting == TAUT_LIFT_BURST)
        return TAUT_OK;
    taut_lift_settings how = {.context = s->context,
                              .flow = p->flow,
                              .horizon = p->plan.spacing,
                              .order = taut_options_given(solver->options, "order")
                                           ? (int)taut_options_integer(solver->options, "order")
                                           : 2,
                              .last = p->lifting == TAUT_LIFT_LAST};
    return taut_lift_create(&how, s->arena, s->now.t, s->now.q, &p->lift, error);
}

static int make_invariants(taut_solver *solver, taut_projective *p, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    if (solver->sizes.invariants == 0)
        return TAUT_OK;
    TAUT_TRY(taut_invariants_create(s->context, TAUT_INVARIANTS_ALL, s->arena, s->statistics,
                                    &p->invariants, error));
    return taut_invariants_begin(p->invariants, s->now.t, s->now.q, error);
}

static int reserve(taut_solver *solver, taut_projective *p, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    bool noisy = p->plan.noise > 0;
    /* noise hides what settles: fast parts decay by e^4 */
    p->most = noisy ? 4 + NOISY_WINDOW : MOST_SAMPLES;
    p->least = noisy ? p->most : p->weights.degree + 1;
    if (noisy)
        p->weights = (taut_burst_fit){.line = true, .window = NOISY_WINDOW, .excess = 1};
    if (p->lifting == TAUT_LIFT_DIFFERENCE) /* a slow point needs no damping */
        p->weights.skip = 0;
    TAUT_TRY(TAUT_RESERVE(s->arena, (TAUT_BURST_WINDOW + 1) * (int64_t)s->n, error, &p->sample));
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &p->from, &p->state, &p->slope, &p->before));
    TAUT_TRY(TAUT_RESERVE(s->arena, 2 * s->n, error, &p->coarse));
    p->field = (taut_field){.name = "projective",
                            .n = s->n,
                            .costly = true,
                            .evaluate = evaluate,
                            .archive = archive,
                            .statistics = s->statistics,
                            .self = p};
    p->heal = (taut_projector){.name = "healing",
                               .apply = stay,
                               .apply_from = heal,
                               .statistics = s->statistics,
                               .self = p};
    s->field = &p->field;
    solver->stabilizer = &p->heal;
    return TAUT_OK;
}

/* Adaptive steps would chase the noise. */
static int check_noise(const taut_solver *solver, const taut_projective *p, taut_error *fail)
{
    double error = p->plan.noise * p->plan.fast / p->plan.slow; /* of a step, after the fit */
    if (!solver->control.on || error <= solver->stepper.rtol)
        return TAUT_OK;
    return taut_fail(fail, TAUT_ERROR_REFUSED,
                     "the flow has a noise of %.1g of the state, which no adaptive step size of "
                     "rtol %g can honour; give a fixed step (the slow motion has a time scale of "
                     "%.3g) with method euler, midpoint or rk4",
                     p->plan.noise, solver->stepper.rtol, 1 / p->plan.slow);
}

int taut_projective_create(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_projective *p = solver->projective = TAUT_NEW(s->arena, taut_projective, 1);
    unsigned bits = solver->sizes.can & (TAUT_HAS_KINKS | TAUT_HAS_ALGEBRAIC);
    char text[300];
    TAUT_NEED(error, p);
    if (bits)
        return taut_fail(error, TAUT_ERROR_REFUSED, "motion slow of rates %s; omit the motion",
                         taut_reasons_text(bits, text, sizeof text));
    *p = (taut_projective){
        .stepper = s, .t = NAN, .refined = 1, .length = fabs(solver->until - solver->from)};
    TAUT_TRY(taut_projective_make_plan(solver, p, error));
    TAUT_TRY(check_noise(solver, p, error));
    TAUT_TRY(make_lift(solver, p, error));
    TAUT_TRY(make_invariants(solver, p, error));
    return reserve(solver, p, error);
}

int taut_projective_start(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_projective *p = solver->projective;
    const taut_projective_plan *plan = &p->plan;
    double moved = 0, *q = s->now.q;
    int status = (plan->levels > 0 ? refine_levels : burst)(p, s->now.t, q, error);
    if (status > 0)
        status = taut_fail(error, TAUT_ERROR_EVALUATE,
                           "the flow cannot be followed from the initial state");
    TAUT_TRY(status);
    p->refined = 1; /* the transient needed more than the slow motion will */
    taut_flow_telescope_refine(p->flow, 1);
    for (taut_index i = 0; i < s->n; i++) {
        moved = taut_larger(moved, fabs(p->state[i] - q[i]));
        q[i] = p->state[i];
    }
    solver->moved = moved > 0;
    TAUT_APPEND(solver->begun, "; by bursts of %.60s, samples every %.3g", p->description,
                plan->spacing);
    if (plan->dimension > 0)
        TAUT_APPEND(solver->begun, "; slow manifold of dimension %d, rates up to %.3g, gap %.3g",
                    plan->dimension, plan->slow, plan->fast / plan->slow);
    if (plan->levels > 0)
        TAUT_APPEND(solver->begun, ", telescopic with %d level%s", plan->levels,
                    plan->levels > 1 ? "s" : "");
    if (plan->noise > 0)
        TAUT_APPEND(solver->begun, "; noise %.1g: rates are fitted", plan->noise);
    TAUT_APPEND(solver->begun, "; the initial state was moved to its slow point, by %.2g", moved);
    return TAUT_OK;
}

void taut_projective_end(taut_solver *solver)
{
    taut_projective *p = solver->projective;
    if (!p)
        return;
    double direct = fabs(solver->stepper.now.t - solver->from) / p->plan.inner,
           used = (double)solver->statistics.micro_steps;
    solver->direct_steps = direct;
    if (used > direct)
        snprintf(solver->notice[1], sizeof solver->notice[1],
                 "projective integration did not pay: %.0f inner steps, direct integration needs "
                 "%.0f; choose motion full, or a longer run",
                 used, direct);
}

void taut_projective_release(taut_solver *solver)
{
    taut_projective *p = solver->projective;
    if (!p)
        return;
    taut_lift_destroy(p->lift);
    if (p->invariants)
        taut_invariants_destroy(p->invariants);
    if (p->flow)
        p->flow->destroy(p->flow);
    *p = (taut_projective){.t = NAN};
    solver->projective = NULL;
}
