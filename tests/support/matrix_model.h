/* matrix_model.h - models as the matrix takes them, and runs of a method on them. */
#ifndef TAUT_TESTS_SUPPORT_MATRIX_MODEL_H
#define TAUT_TESTS_SUPPORT_MATRIX_MODEL_H

#include <taut/taut.h>

#include "support/table.h"

enum { TIMES = 8, MOST_STEPS = 400000 };

typedef struct model {
    const char *name;
    taut_system *system;
    taut_sizes sizes;
    double until, step;    /* of [run], NaN without */
    double fastest, least; /* stiff frequencies at the initial state, 0 without */
    double slow; /* rate of the slow motion as a whole, for the time that it is followed */
    double size; /* largest coordinate of the start */
} model;

typedef struct outcome {
    int status;
    double *q, *v; /* [TIMES][n] in effective motion, else [n] */
    taut_error error;
    taut_result result;
} outcome;

typedef struct request {
    const char *motion, *method;
    double end, step, rtol, scale; /* step or rtol is 0 */
    double inner;                  /* micro-step, 0: none said */
    int times;                     /* states at end k/times */
} request;

static bool long_form(void)
{
    return getenv("TAUT_TEST_LONG") != NULL;
}

/* ---- models */

static double setting(const taut_system *system, const char *wanted)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++)
        if (strcmp(name, wanted) == 0)
            return strtod(value, NULL);
    return NAN;
}

static double largest(taut_index n, const double *x)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Radians per time in which the coordinates change by their size; 1 where not listed. */
static double slow_rate(const char *name)
{
    static const struct {
        const char *name;
        double rate;
    } rates[] = {{"butane", 22},        {"four_bar", 1.2409},  {"fpu", 1.9607},
                 {"triatomic", 1.1682}, {"water_box", 34.483}, {"double_pendulum_gravity", 0.8372},
                 {"decane_melt", 40},   {"squeezer", 200},     {"top", 50}}; /* half its spin */
    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++)
        if (strcmp(rates[k].name, name) == 0)
            return rates[k].rate;
    return 1;
}

static void look_at_start(model *m)
{
    taut_context *context = NULL;
    double frequency[4] = {0}, *y = calloc((size_t)m->sizes.coordinates * 2 + 2, sizeof(double));
    int found = 0;
    bool complete, springs = m->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    if (taut_context_create(m->system, NULL, &context, NULL) == 0 &&
        taut_context_start(context, 0, y, y + m->sizes.coordinates, NULL) == 0 &&
        m->sizes.kind == TAUT_MECHANICAL && springs)
        taut_frequencies(context, 0, y, 2, frequency, &found, &complete, NULL);
    m->fastest = found > 0 ? frequency[found - 1] : 0;
    m->least = frequency[0];
    m->size = largest(m->sizes.coordinates, y);
    taut_context_destroy(context);
    free(y);
    m->slow = slow_rate(m->name);
}

/* The setting with which the short form takes a large model, NULL without; exceptions of the
 * page: water_box has a twelfth of its pairs, lj_fluid a fifth, cloth a fiftieth of its particles,
 * decane_melt a quarter, net 36 nodes of 64. */
static const char *fewer(const char *name)
{
    if (strcmp(name, "cloth") == 0)
        return "N=4";
    if (strcmp(name, "decane_melt") == 0)
        return "across=2";
    if (strcmp(name, "lj_fluid") == 0 && !long_form())
        return "cut=1.5";
    if (strcmp(name, "net") == 0 && !long_form())
        return "N=6";
    return strcmp(name, "water_box") == 0 && !long_form() ? "N=8" : NULL;
}

static int load(const char *name, const char *const *set, int count, model *m)
{
    char path[600];
    taut_error error;
    const char *all[4] = {0};
    for (int k = 0; k < count && k < 3; k++)
        all[k] = set[k];
    if (fewer(name))
        all[count++] = fewer(name);
    taut_load how = {.size = sizeof how, .set = all, .set_count = count};
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, name);
    *m = (model){.name = name};
    int status = taut_system_load(path, &how, &m->system, &error);
    if (!check_row(status == 0, "%s: %s", name, error.message))
        return status;
    taut_sizes_init(&m->sizes);
    taut_system_sizes_get(m->system, &m->sizes, NULL);
    m->until = setting(m->system, "until");
    m->step = setting(m->system, "step");
    look_at_start(m);
    return 0;
}

/* How far a motion is followed: over one radian of the slow motion, to 1 or the model's own end
 * at most; beyond, nonlinear motions magnify errors. With many coordinates the short form takes
 * a twentieth of the end. Full motion: no more than 100 radians of the fastest vibration, order
 * 1, which takes tiny steps, 10; the short form with many coordinates a fifth. Effective motion:
 * the short form takes half of more than 600 radians of the lowest vibration, 100 with more than 20
 * coordinates. */
static double end_of(const model *m, const char *motion, int order)
{
    double end = isnan(m->until) ? 1 : m->until, radians = order == 1 ? 10 : 100;
    bool many = m->sizes.coordinates > 100 && !long_form();
    end = fmin(end, fmin(many ? end / 20 : 1, m->slow > 0 ? 1 / m->slow : 1));
    if (strcmp(motion, "full") == 0 && m->fastest > 0)
        end = fmin(end, (many ? radians / 5 : radians) / m->fastest);
    double most = m->sizes.coordinates > 20 ? 100 : 600;
    if (strcmp(motion, "effective") == 0 && m->least > 0) /* what is averaged has a period */
        end = fmax(end * m->least > most && !long_form() ? end / 2 : end, 6.3 / m->least);
    return end;
}

/* ---- runs */

static int set_real(taut_options *options, const char *name, double value, taut_error *error)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return taut_options_set(options, name, text, error);
}

static int set_all(taut_options *options, const request *r, taut_error *error)
{
    int status = r->motion[0] ? taut_options_set(options, "motion", r->motion, error) : 0;
    if (status == 0)
        status = taut_options_set(options, "method", r->method, error);
    if (status == 0)
        status = set_real(options, "from", 0, error);
    if (status == 0)
        status = set_real(options, "until", r->end, error);
    if (status == 0)
        status = set_real(options, "steps", MOST_STEPS,
                          error); /* a cell that needs more has gone wrong */
    if (status == 0 && r->step > 0)
        status = set_real(options, "step", r->step, error);
    if (status == 0 && r->inner > 0)
        status = set_real(options, "inner-step", r->inner, error);
    if (status == 0 && r->rtol > 0)
        status = set_real(options, "rtol", r->rtol, error);
    if (status == 0 && r->rtol > 0)
        status = set_real(options, "atol", r->rtol * r->scale, error);
    return status;
}

static outcome run(const taut_system *system, const request *r)
{
    outcome o = {0};
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    size_t n = (size_t)sizes.coordinates;
    o.q = calloc(n * (size_t)r->times + 1, sizeof(double));
    o.v = calloc(n * (size_t)r->times + 1, sizeof(double));
    o.status = taut_options_create(NULL, &options, &o.error);
    if (o.status == 0)
        o.status = set_all(options, r, &o.error);
    if (o.status == 0)
        o.status = taut_solver_create(system, options, NULL, &solver, &o.error);
    for (int k = 1; k <= r->times && o.status == 0; k++) {
        o.status =
            taut_solver_advance(solver, k == r->times ? r->end : r->end * k / r->times, &o.error);
        memcpy(o.q + n * (size_t)(k - 1), taut_solver_position(solver), n * sizeof(double));
        if (sizes.kind == TAUT_MECHANICAL)
            memcpy(o.v + n * (size_t)(k - 1), taut_solver_velocity(solver), n * sizeof(double));
    }
    if (solver) {
        taut_result_init(&o.result);
        taut_solver_result_get(solver, &o.result, NULL);
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return o;
}

static void release(outcome *o)
{
    free(o->q);
    free(o->v);
    *o = (outcome){0};
}

#endif
