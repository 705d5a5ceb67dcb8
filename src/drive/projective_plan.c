/* projective_plan.c - how a slow motion is integrated projectively, from the spectrum of the
 * initial state (project/flow_rates.c): inner step, distance of the samples of a burst, telescopic
 * levels, and whether it pays.
 *
 *     rates  0 .. slow | gap | fast .. fastest
 *
 * Inner steps of rates are 1/fastest by rk4 where [stepper] specifies nothing else, samples are
 * 1/fast apart: fast parts fall by 1/e from one to the next, or faster. Where the fast rates have
 * gaps of their own a level of telescopic steps (telescope.c) bridges each. Expected: a burst of 10
 * samples for each stage of a step whose length is 2/slow, or the one that is given. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/options.h"
#include "base/vectors.h"
#include "blackbox/flows.h"
#include "drive/projective.h"
#include "drive/solver.h"
#include "project/difference.h"
#include "project/flow_rates.h"

enum { BURST = 10, NOISY_BURST = 16, MOST_LEVELS = 8 };
static const double LEAST_GAP = 3;     /* anything less is no gap */
static const double INNER_GAP = 20;    /* of fast rates, for a telescopic level */
static const double OSCILLATES = 0.1;  /* real part over size of a rate that does not decay */
static const double VERY_NOISY = 1e-5; /* the spectrum would be noise */
static const double TOO_FINE = 10;     /* errors of bursts over the tolerance */
static const double DAMPED = 0.1;      /* what a leap leaves of the rates below it */

typedef taut_projective_plan plan;

/* Not projectively, for this reason; the run begins again with direct integration. */
static int decline(taut_solver *solver, taut_error *error, const char *format, double a, double b)
{
    char text[300];
    snprintf(text, sizeof text, format, a, b);
    solver->direct = true;
    return taut_fail(error, TAUT_ERROR_REFUSED, "%s", text);
}

/* ---- flow */

static int make_flow(taut_solver *solver, taut_projective *p, double horizon, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    int copies = (int)taut_options_integer(solver->options, "copies");
    if (p->plan.open)
        return taut_flow_open(s->context, s->arena, s->statistics, p->plan.inner, &p->flow,
                              &p->description, error);
    return taut_flow_create(s->context, s->arena, s->statistics, horizon,
                            taut_options_given(solver->options, "copies") ? copies : 0, &p->flow,
                            &p->description, error);
}

/* One more level between steps of h and those of `step`, for rates from `least` on. */
static int add_level(taut_projective *p, taut_arena *arena, double h, double least, double step,
                     taut_error *error)
{
    double far = step / h, damping = ceil(log(far / DAMPED) / (least * h));
    if (damping + 2 > far / 4)
        return TAUT_OK; /* it would not pay */
    p->plan.levels++;
    return taut_flow_telescope(p->flow, arena, h, (int)damping, step, &p->flow, error);
}

/* From the fastest rates down to the slow ones. */
static int make_levels(taut_projective *p, taut_arena *arena, const taut_flow_rates *r, int slow,
                       taut_error *error)
{
    double h = p->plan.inner;
    for (taut_index k = r->n - 1; k > slow && p->plan.levels < MOST_LEVELS; k--) {
        double here = cabs(r->rate[k]), below = cabs(r->rate[k - 1]);
        if (here < INNER_GAP * below)
            continue;
        int before = p->plan.levels;
        TAUT_TRY(add_level(p, arena, h, here, 1 / below, error));
        h = p->plan.levels > before ? 1 / below : h;
    }
    if (p->plan.levels > 0) /* the midpoint rule halves what decays by 1/e */
        p->plan.spacing = 2 * h;
    p->plan.exact = p->plan.exact && p->plan.levels == 0;
    return TAUT_OK;
}

/* ---- rates */

/* The first gap that is wide enough for a level of its own, or the widest one. Rates below `least`
 * change nothing in this run. Returns its ratio; *below: how many rates are below it. */
static double lowest_gap(const taut_flow_rates *r, double least, int *below)
{
    double widest = 0;
    for (taut_index k = 1; k < r->n && widest < INNER_GAP; k++) {
        double ratio = cabs(r->rate[k]) / fmax(cabs(r->rate[k - 1]), fmax(r->resolution, least));
        if (ratio > widest) {
            widest = ratio;
            *below = (int)k;
        }
    }
    return widest;
}

static int take_rates(taut_solver *solver, taut_projective *p, const taut_flow_rates *r,
                      taut_error *error)
{
    plan *b = &p->plan;
    double gap = lowest_gap(r, 1 / p->length, &b->dimension);
    if (gap < LEAST_GAP)
        return decline(solver, error,
                       "the rates have no gap (%.2g at most between successive ones), so that "
                       "nothing is slow",
                       gap, 0);
    b->slow = fmax(cabs(r->rate[b->dimension - 1]), 1 / p->length);
    b->fast = cabs(r->rate[b->dimension]);
    b->fastest = cabs(r->rate[r->n - 1]);
    for (taut_index k = b->dimension; k < r->n; k++)
        if (creal(r->rate[k]) > -OSCILLATES * cabs(r->rate[k]))
            return decline(solver, error,
                           "a fast part does not decay (rate %.3g %+.3gi), and projective "
                           "integration needs decay",
                           creal(r->rate[k]), cimag(r->rate[k]));
    return TAUT_OK;
}

static double given_time(const taut_solver *solver, const char *option, const char *setting)
{
    double x = taut_options_real(solver->options, option);
    return isnan(x) ? taut_stepper_number(solver->system, setting) : x;
}

/* The fit of samples, and what a burst is expected to need. */
static void choose_fit(const taut_solver *solver, taut_projective *p, double spacing,
                       taut_burst_fit *fit)
{
    const plan *b = &p->plan;
    /* telescopic leaps multiply the rounding of an inner step by their length */
    double rounding = DBL_EPSILON * (b->levels > 0 ? spacing / b->inner : 1);
    taut_burst_facts facts = {.slowest = b->fast * spacing,
                              .fastest = b->exact ? b->fastest * spacing : INFINITY,
                              .slow = b->slow * spacing,
                              .time = fmin(1 / fmax(b->slow, DBL_MIN), p->length) / spacing,
                              .noise = fmax(p->noise, rounding),
                              .tolerance = solver->stepper.rtol};
    taut_burst_choose(&facts, fit);
}

/* The distance of samples, in inner steps, for which a burst is shortest. */
static void choose_spacing(const taut_solver *solver, taut_projective *p)
{
    plan *b = &p->plan;
    double most = fmax(1, round(1 / (b->fast * b->inner))), least = INFINITY;
    for (double m = 1; m <= most; m = m < most && 2 * m > most ? most : 2 * m) {
        taut_burst_fit fit;
        choose_fit(solver, p, m * b->inner, &fit);
        double cost = m * fit.samples * fit.excess;
        if (cost < least)
            b->spacing = m * b->inner;
        least = fmin(cost, least);
    }
}

static int plan_open(taut_solver *solver, taut_projective *p, taut_flow_rates *r, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    plan *b = &p->plan;
    TAUT_TRY(taut_flow_rates_open(r, s->context, s->now.t, s->now.q, error));
    TAUT_TRY(take_rates(solver, p, r, error));
    b->inner = given_time(solver, "inner-step", "step");
    b->exact = isnan(b->inner);
    if (b->exact)
        b->inner = 1 / b->fastest;
    if (!(b->inner > 0))
        return taut_fail(error, TAUT_ERROR_USAGE, "[stepper] step: expected a number > 0, found %g",
                         b->inner);
    choose_spacing(solver, p);
    TAUT_TRY(make_flow(solver, p, b->spacing, error));
    return make_levels(p, s->arena, r, b->dimension, error);
}

/* The largest noise of a variable, in units of the largest variable. */
static int find_noise(taut_projective *p, taut_arena *arena, double t, double H, const double *z,
                      double *noise, taut_error *error)
{
    taut_index n = p->flow->size;
    double *points, *each;
    TAUT_TRY(TAUT_RESERVE(arena, TAUT_NOISE_POINTS * (int64_t)n, error, &points));
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &each));
    int status = taut_flow_noise(p->flow, t, H, z, p->scale, points, each, error);
    p->noise = *noise = status == 0 ? taut_largest(n, each) / fmax(taut_largest(n, z), DBL_MIN) : 0;
    return status > 0 ? TAUT_OK : status;
}

static int plan_closed(taut_solver *solver, taut_projective *p, taut_flow_rates *r,
                       taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    const taut_sizes *z = &solver->sizes;
    plan *b = &p->plan;
    double H = given_time(solver, "horizon", "horizon"), noise;
    bool given = H > 0;
    taut_index fast = z->coordinates - z->bonds;
    TAUT_TRY(make_flow(solver, p, given ? H : 1, error));
    TAUT_TRY(find_noise(p, s->arena, s->now.t, given ? H : 1e-3, s->now.q, &noise, error));
    if (!given && (z->observables == 0 || fast < 1 || noise > VERY_NOISY))
        return taut_fail_option(error, TAUT_ERROR_USAGE, "horizon",
                                "the time of one use of the flow is required (here, or as `horizon "
                                "= ...` in [stepper]): about that in which fast parts decay");
    if (noise > VERY_NOISY) { /* what is given must do */
        *b = (plan){.fast = 1 / H, .fastest = 1 / H, .spacing = H, .inner = H, .noise = noise};
        b->slow = fmax(1 / (isnan(solver->step) ? p->length : solver->step), 1 / p->length);
        return TAUT_OK;
    }
    TAUT_TRY(
        given ? taut_flow_rates_closed(r, p->flow, s->now.t, H, s->now.q, noise, error)
              : taut_flow_rates_horizon(r, p->flow, s->now.t, s->now.q, fast, 1, noise, &H, error));
    TAUT_TRY(take_rates(solver, p, r, error));
    b->exact = true;
    b->spacing = b->inner = H * fmax(1, round(1 / (b->fast * H)));
    b->noise = 10 * noise * b->fast > s->rtol * b->slow ? noise : 0;
    return TAUT_OK;
}

/* Many variables: the horizon separates slow from fast. */
static int plan_large(taut_solver *solver, taut_projective *p, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    plan *b = &p->plan;
    double H = given_time(solver, "horizon", "horizon");
    if (!(H > 0))
        return taut_fail_option(error, TAUT_ERROR_USAGE, "horizon",
                                "of more than %d variables the spectrum is not computed, and the "
                                "time in which fast parts decay by 1/e is required",
                                TAUT_RATES_VARIABLES);
    b->fast = 1 / H;
    b->slow = 1 / fmin(isnan(solver->step) ? p->length : solver->step, p->length);
    b->inner = b->spacing = H;
    if (b->open) {
        b->inner = given_time(solver, "inner-step", "step");
        if (isnan(b->inner)) {
            TAUT_TRY(taut_stiff_rate(s->context, s->now.t, s->now.q, &b->fastest, error));
            b->inner = fmin(H, 1 / b->fastest);
        }
        b->spacing = b->inner * ceil(H / b->inner * (1 - 1e-12));
    }
    TAUT_TRY(make_flow(solver, p, H, error));
    double noise = 0;
    if (!b->open)
        TAUT_TRY(find_noise(p, s->arena, s->now.t, H, s->now.q, &noise, error));
    b->noise = 10 * noise * b->fast > s->rtol * b->slow ? noise : 0;
    return TAUT_OK;
}

/* ---- does it pay? */

static int judge(taut_solver *solver, taut_projective *p, taut_error *error)
{
    const int order = solver->stepper.method->order;
    plan *b = &p->plan;
    double stages = order <= 4 ? order : order + order / 2 - 1,
           step = isnan(solver->step) || solver->control.on ? 2 / b->slow : solver->step;
    b->gain = fmin(step, p->length) / (stages * (b->noise > 0 ? NOISY_BURST : BURST) * b->spacing);
    if (b->gain < 1)
        return decline(solver, error,
                       "bursts would take longer than the steps between them (gap %.3g, expected "
                       "gain %.2g)",
                       b->fast / b->slow, b->gain);
    if (b->noise == 0 && solver->control.on && p->weights.excess > TOO_FINE)
        return decline(solver, error,
                       "bursts give the rate of the slow motion to %.2g, and rtol is %.2g",
                       p->weights.excess * solver->stepper.rtol, solver->stepper.rtol);
    return TAUT_OK;
}

int taut_projective_make_plan(taut_solver *solver, taut_projective *p, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_arena arena; /* of the spectrum */
    taut_flow_rates rates;
    p->plan.open = solver->sizes.kind == TAUT_FIRST_ORDER;
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &p->scale));
    double size = fmax(taut_largest(s->n, s->now.q), DBL_MIN);
    for (taut_index i = 0; i < s->n; i++)
        p->scale[i] = fmax(fabs(s->now.q[i]), 1e-3 * size);
    taut_statistics before = *s->statistics; /* the cost of the plan is not that of the run */
    taut_arena_init(&arena, &s->arena->allocator);
    bool large = s->n > TAUT_RATES_VARIABLES;
    int status = large ? plan_large(solver, p, error)
                       : taut_flow_rates_create(&rates, s->n, p->scale, &arena, error);
    if (status == 0 && !large)
        status = p->plan.open ? plan_open(solver, p, &rates, error)
                              : plan_closed(solver, p, &rates, error);
    taut_arena_clear(&arena);
    *s->statistics = before;
    if (status > 0)
        status = taut_fail(error, TAUT_ERROR_EVALUATE,
                           "the flow cannot be followed from the initial state");
    TAUT_TRY(status);
    choose_fit(solver, p, p->plan.spacing, &p->weights);
    return judge(solver, p, error);
}
