/* rates_report.c - taut_rates: the rates at a state, the gap between slow and fast ones, and what
 * it means for the observables. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/structs.h"
#include "base/vectors.h"
#include "blackbox/flows.h"
#include "point/hold/kept_functions.h"
#include "project/difference.h"
#include "project/flow_rates.h"
#include "project/project.h"
#include "system/system.h"

typedef struct work {
    taut_arena arena;
    taut_context *context;
    taut_sizes sizes;
    taut_projection_settings settings;
    taut_kept_functions held;
    taut_flow *flow;
    taut_statistics statistics;
    taut_flow_rates rates;
    double *z, *scale, *noise, *points;
} work;

static int prepare(work *w, const taut_system *system, const taut_options *options, double t,
                   const double *z, taut_error *error)
{
    taut_system_sizes(system, &w->sizes);
    taut_index n = w->sizes.coordinates;
    if (w->sizes.kind == TAUT_MECHANICAL || w->sizes.algebraic > 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "rates need a first-order system without algebraic variables, or a black "
                         "box");
    TAUT_TRY(taut_projection_settings_for(system, options, &w->arena, &w->settings, error));
    TAUT_TRY(TAUT_RESERVE(&w->arena, n, error, &w->z, &w->scale, &w->noise));
    TAUT_TRY(TAUT_RESERVE(&w->arena, TAUT_NOISE_POINTS * (int64_t)n, error, &w->points));
    TAUT_TRY(taut_context_create(system, &w->arena.allocator, &w->context, error));
    w->settings.from = z ? t : w->settings.from;
    TAUT_TRY(taut_context_start(w->context, w->settings.from, w->z, NULL, error));
    if (z)
        taut_copy(n, z, w->z);
    TAUT_TRY(taut_kept_functions_create(&w->held, w->context, &w->arena, w->settings.hold,
                                        w->settings.from, w->z, error));
    double size = fmax(taut_largest(n, w->z), DBL_MIN);
    for (taut_index i = 0; i < n; i++) /* nothing is known of the size of what is 0 */
        w->scale[i] = w->z[i] == 0 ? 1e-3 * size : fmax(fabs(w->z[i]), 1e-8 * size);
    if (n > TAUT_RATES_VARIABLES)
        return TAUT_OK; /* as many rates as are asked for: leading() */
    return taut_flow_rates_create(&w->rates, n, w->scale, &w->arena, error);
}

static double given_horizon(const work *w)
{
    return isnan(w->settings.horizon)
               ? taut_stepper_number(taut_context_system(w->context), "horizon")
               : w->settings.horizon;
}

/* The slowest rates of many variables; those of a model with rates through its own flow, in steps
 * that its fastest rate allows. */
static int leading(work *w, int count, taut_rates_report *report, taut_error *error)
{
    const taut_system *system = taut_context_system(w->context);
    const char *description;
    double H = report->horizon = given_horizon(w), fastest;
    bool open = w->sizes.kind == TAUT_FIRST_ORDER,
         own_step = !isnan(taut_stepper_number(system, "step")), converged;
    if (!(H > 0))
        return taut_fail_option(error, TAUT_ERROR_USAGE, "horizon",
                                "of more than %d variables the slowest rates are found, from the "
                                "flow over a given time, in which fast parts decay: it is required",
                                TAUT_RATES_VARIABLES);
    if (open && !own_step) {
        TAUT_TRY(taut_stiff_rate(w->context, report->t, w->z, &fastest, error));
        TAUT_TRY(taut_flow_open(w->context, &w->arena, &w->statistics, fmin(H, 1 / fastest),
                                &w->flow, &description, error));
    } else
        TAUT_TRY(taut_flow_create(w->context, &w->arena, &w->statistics, H, w->settings.copies,
                                  &w->flow, &description, error));
    int status = taut_flow_noise(w->flow, report->t, H, w->z, w->scale, w->points, w->noise, error);
    if (status < 0)
        return status;
    double size = fmax(taut_largest(w->held.n, w->z), DBL_MIN),
           noise = status == 0 ? taut_largest(w->held.n, w->noise) / size : 0;
    w->rates = (taut_flow_rates){.rate = TAUT_NEW(&w->arena, double complex, count),
                                 .scale = TAUT_NEW(&w->arena, double, w->held.n)};
    TAUT_TRY(taut_arena_check(&w->arena, error));
    for (taut_index i = 0; i < w->held.n; i++)
        w->rates.scale[i] = fmax(w->scale[i], 1e-3 * size);
    return taut_leading_rates(&w->rates, w->flow, report->t, H, w->z, noise, count, &converged,
                              &w->arena, error);
}

/* Of a black box; its horizon is given, or found. */
static int closed(work *w, double *horizon, taut_error *error)
{
    const char *description;
    double t = w->settings.from, noise = 0;
    *horizon = given_horizon(w);
    bool given = *horizon > 0;
    TAUT_TRY(taut_flow_create(w->context, &w->arena, &w->statistics, given ? *horizon : 1,
                              w->settings.copies, &w->flow, &description, error));
    int status = taut_flow_noise(w->flow, t, given ? *horizon : 1e-3, w->z, w->scale, w->points,
                                 w->noise, error);
    for (taut_index i = 0; i < w->rates.n && status == 0; i++)
        noise = fmax(noise, w->noise[i] / w->scale[i]);
    if (status < 0)
        return status;
    if (given)
        return taut_flow_rates_closed(&w->rates, w->flow, t, *horizon, w->z, noise, error);
    return taut_flow_rates_horizon(&w->rates, w->flow, t, w->z, w->held.unknowns, 1, noise, horizon,
                                   error);
}

/* The variables with the largest weights in the function of rate k. */
static void fill_rate(const work *w, taut_index k, taut_rate *rate)
{
    const taut_flow_rates *r = &w->rates;
    const double complex *left = r->left ? r->left + (int64_t)k * r->n : NULL;
    *rate = (taut_rate){
        .real = creal(r->rate[k]), .imaginary = cimag(r->rate[k]), .variable = {-1, -1, -1, -1}};
    if (!r->left)
        return;                        /* of many variables eigenvalues alone are found */
    bool second = rate->imaginary < 0; /* of a pair: the other function */
    for (int a = 0; a < 4; a++) {
        double most = 0;
        rate->variable[a] = -1;
        for (taut_index i = 0; i < r->n; i++) {
            double part = second ? cimag(left[i]) : creal(left[i]);
            bool used = false;
            for (int b = 0; b < a; b++)
                used |= rate->variable[b] == i;
            if (!used && fabs(part) > fabs(most)) {
                most = part;
                rate->variable[a] = i;
            }
        }
        rate->weight[a] = most;
        if (a > 0 && !(fabs(most) > 0.01 * fabs(rate->weight[0])))
            rate->variable[a] = -1;
    }
    double first = rate->weight[0];
    for (int a = 0; a < 4 && first != 0; a++)
        rate->weight[a] = rate->variable[a] < 0 ? 0 : rate->weight[a] / first;
}

/* "O2 + 0.5*H - 2*OH": in the variables themselves. */
static void write_function(const work *w, const taut_rate *rate, char *text, size_t size)
{
    text[0] = '\0';
    for (int a = 0; a < 4 && rate->variable[a] >= 0; a++) {
        char name[60];
        taut_index i = rate->variable[a];
        double weight = rate->weight[a] * w->scale[rate->variable[0]] / w->scale[i];
        taut_system_name(taut_context_system(w->context), TAUT_COORDINATE, i, name, sizeof name);
        size_t used = strlen(text);
        if (a == 0)
            snprintf(text + used, size - used, "%s", name);
        else
            snprintf(text + used, size - used, " %c %.3g*%s", weight < 0 ? '-' : '+', fabs(weight),
                     name);
    }
}

static void advise(const work *w, const taut_rate *rate, int count, taut_rates_report *report)
{
    char *text = report->advice, function[200];
    size_t size = sizeof report->advice;
    double growth = 0;
    for (taut_index k = 0; k < w->rates.n; k++)
        growth = fmax(growth, creal(w->rates.rate[k]));
    bool all = w->rates.left != NULL;
    if (report->gap < 3) {
        if (all)
            snprintf(text, size,
                     "no gap between slow and fast rates: there is no slow manifold here");
        else
            snprintf(text, size, "no gap among the %d slowest rates; more may have one",
                     (int)w->rates.n);
        return;
    }
    snprintf(text, size, "the slow manifold appears to have dimension %d", report->slow);
    taut_index first_fast = report->conserved + report->slow;
    if (growth > 0.1 * cabs(w->rates.rate[first_fast]))
        snprintf(text + strlen(text), size - strlen(text),
                 ", but deviations grow at the rate %.3g: it does not attract at this state",
                 growth);
    else if (report->observed == report->slow)
        snprintf(text + strlen(text), size - strlen(text), ", as many as there are observables");
    else
        snprintf(text + strlen(text), size - strlen(text), ", and there %s %d observable%s: use %s",
                 report->observed == 1 ? "is" : "are", report->observed,
                 report->observed == 1 ? "" : "s",
                 report->observed < report->slow ? "more" : "fewer");
    const char *word = "; functions with slow rates: ";
    for (int k = report->conserved;
         all && k < first_fast && k < count && report->observed != report->slow; k++) {
        write_function(w, &rate[k], function, sizeof function);
        if (strlen(text) + strlen(word) + strlen(function) + 2 > size)
            break;
        snprintf(text + strlen(text), size - strlen(text), "%s%s", word, function);
        word = ", ";
    }
}

static int fill(work *w, int count, taut_rate *rate, taut_rates_report *report, taut_error *error)
{
    report->t = w->settings.from;
    bool large = w->sizes.coordinates > TAUT_RATES_VARIABLES;
    TAUT_TRY(large ? leading(w, count < 1 ? 1 : count, report, error)
             : w->sizes.kind == TAUT_BLACK_BOX
                 ? closed(w, &report->horizon, error)
                 : taut_flow_rates_open(&w->rates, w->context, report->t, w->z, error));
    if (!large)
        taut_flow_rates_vectors(&w->rates);
    report->found = w->rates.n < count ? (int)w->rates.n : count;
    report->resolution = w->rates.resolution;
    report->limit = w->rates.limit;
    int invariants = (int)(w->sizes.bonds - w->sizes.observables);
    report->observed = (int)(w->held.n - w->held.unknowns) - invariants;
    while (report->conserved < invariants && report->conserved < w->rates.n &&
           cabs(w->rates.rate[report->conserved]) <= w->rates.resolution)
        report->conserved++;
    report->flow_uses = w->statistics.micro_steps;
    report->slow = (int)taut_flow_rates_gap(&w->rates, report->conserved, &report->gap);
    report->slow -= report->slow > 0 ? report->conserved : 0;
    for (int k = 0; k < report->found; k++)
        fill_rate(w, k, &rate[k]);
    advise(w, rate, report->found, report);
    return TAUT_OK;
}

/* z NULL: the initial state. */
static int rates_at(const taut_system *system, const taut_options *options, double t,
                    const double *z, int count, taut_rate *rate, taut_rates_report *report,
                    taut_error *error)
{
    taut_rates_report own = {.size = sizeof own};
    taut_error_clear(error);
    TAUT_REQUIRE(system && report && count >= 0 && (rate || count == 0));
    work w = {0};
    taut_allocator from = taut_allocator_or_default(NULL);
    taut_arena_init(&w.arena, &from);
    int status = prepare(&w, system, options, t, z, error);
    if (status == 0)
        status = fill(&w, count, rate, &own, error);
    if (status > 0)
        status = error ? error->code : TAUT_ERROR_EVALUATE;
    if (w.flow)
        w.flow->destroy(w.flow);
    taut_kept_functions_destroy(&w.held);
    taut_context_destroy(w.context);
    taut_arena_clear(&w.arena);
    return status != 0 ? status
                       : taut_struct_fill(report, &own, sizeof own, "taut_rates_report", error);
}

int taut_rates(const taut_system *system, const taut_options *options, int count, taut_rate *rate,
               taut_rates_report *report, taut_error *error)
{
    return rates_at(system, options, NAN, NULL, count, rate, report, error);
}

int taut_rates_at(const taut_system *system, const taut_options *options, double t, const double *z,
                  int count, taut_rate *rate, taut_rates_report *report, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(z && isfinite(t));
    return rates_at(system, options, t, z, count, rate, report, error);
}
