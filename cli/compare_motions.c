/* compare_motions.c - taut compare --motions: one model in several motions, each as `taut run`
 * computes it, and how far they are from the first one, as a table, an object and a page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST = 8 };

typedef struct one {
    const char *name;
    taut_solver *solver; /* NULL: it could not be created */
    taut_memory_sink *rows;
    int code;
    taut_error error;          /* code < 0 */
    double position, velocity; /* largest differences from the first motion; NaN: not measured */
    int64_t common;            /* rows at the same times */
    double seconds;
} one;

typedef struct motions {
    cli_call *call;
    cli_model model;
    char *names; /* of --motions, cut into words */
    one motion[MOST];
    int count, status;
    taut_page *page; /* NULL: none is wanted */
    taut_error error;
} motions;

/* ---- arguments */

/* A list of compare that all motions share: one value of it. */
static int share(motions *m, const char *list, const char *option, const char *text)
{
    if (text && strchr(text, ','))
        return cli_misuse(m->call,
                          "--motions compares motions by one method and one step size or "
                          "tolerance: give one value to --%s",
                          list);
    int code = text ? taut_options_set(m->call->options, option, text, &m->error) : 0;
    return code != 0 ? cli_misuse(m->call, "--%s: %s", list, m->error.message) : 0;
}

static int read_options(motions *m)
{
    cli_call *call = m->call;
    const char *word[MOST];
    const char *text = call->motions ? call->motions : "full,slow,rigid";
    if (taut_options_given(call->options, "motion"))
        return cli_misuse(call, "give either --motion or --motions");
    if (cli_option_text(call, "out") || cli_option_text(call, "plot"))
        return cli_misuse(call,
                          "--out and --plot are of --methods; motions have --json and --view");
    if (call->steps && call->tolerances)
        return cli_misuse(call, "give either --steps or --tolerances");
    int status = cli_words(call, "motions", text, &m->names, word, MOST, &m->count);
    for (int k = 0; status == 0 && k < m->count; k++) {
        m->motion[k] = (one){.name = word[k], .position = NAN, .velocity = NAN};
        if (taut_options_set(call->options, "motion", word[k], &m->error) != 0)
            status = cli_misuse(call, "--motions: %s", m->error.message);
    }
    status = status != 0 ? status : share(m, "methods", "method", call->methods);
    status = status != 0 ? status : share(m, "steps", "step", call->steps);
    return status != 0 ? status : share(m, "tolerances", "rtol", call->tolerances);
}

/* ---- runs */

/* Row i of a against row k of b; NaN before the first one. */
static void largest(taut_index count, const double *a, int64_t i, const double *b, int64_t k,
                    double *difference)
{
    for (taut_index j = 0; j < count; j++)
        *difference = fmax(*difference, fabs(a[i * count + j] - b[k * count + j]));
}

/* Over the rows that both have at the same times. */
static void measure(const one *first, one *other)
{
    taut_memory_rows a = {.size = sizeof a}, b = {.size = sizeof b};
    if (taut_memory_sink_get(first->rows, &a, NULL) != 0 ||
        taut_memory_sink_get(other->rows, &b, NULL) != 0 || a.rows == 0 || b.rows == 0)
        return;
    double span = a.t[a.rows - 1] - a.t[0];
    for (int64_t i = 0, k = 0; i < a.rows && k < b.rows;) {
        double ahead = copysign(1, span) * (a.t[i] - b.t[k]);
        if (fabs(ahead) <= 1e-12 * fabs(span)) {
            largest(a.coordinates, a.q, i, b.q, k, &other->position);
            largest(a.velocities, a.v, i, b.v, k, &other->velocity);
            other->common++;
            i++, k++;
        } else if (ahead > 0) {
            k++;
        } else {
            i++;
        }
    }
}

/* The first motion that ran, or NULL. */
static const one *first_of(const motions *m)
{
    for (int k = 0; k < m->count; k++)
        if (m->motion[k].solver && m->motion[k].code >= 0)
            return &m->motion[k];
    return NULL;
}

static int describe(motions *m, const one *o)
{
    cli_outcome outcome = {.model = &m->model,
                           .solver = o->solver,
                           .code = o->code,
                           .error = &o->error,
                           .seconds = o->seconds};
    int code = cli_view_texts(m->page, m->call, &outcome, &m->error);
    return code != 0 ? code : cli_view_files(m->page, m->call, &m->model, &m->error);
}

/* A motion that the model does not have, or that failed, is a row with its reason. */
static int run_one(motions *m, one *o)
{
    cli_call *call = m->call;
    taut_sink sink[2];
    int sinks = 1, code = taut_options_set(call->options, "motion", o->name, &m->error);
    if (code != 0)
        return code;
    o->code = taut_solver_create(m->model.system, call->options, NULL, &o->solver, &o->error);
    if (o->code != 0) {
        m->error = o->error; /* of other options: all motions have it */
        return o->code == TAUT_ERROR_USAGE && strcmp(o->error.option, "motion") != 0 ? o->code : 0;
    }
    code = taut_memory_sink_create(NULL, &o->rows, &sink[0], &m->error);
    if (code == 0 && m->page)
        code = taut_page_run(m->page, o->name, &sink[sinks++], &m->error);
    if (code != 0)
        return code;
    cli_progress progress = {.bar = !call->quiet && cli_terminal(stderr)};
    double begin = cli_clock();
    o->code = taut_solver_run(o->solver, sink, sinks, cli_progress_call, &progress, &o->error);
    o->seconds = cli_clock() - begin;
    cli_progress_clear(&progress);
    const one *first = first_of(m);
    if (first && first != o && o->code >= 0) {
        measure(first, o);
        taut_memory_sink_destroy(o->rows);
        o->rows = NULL;
    }
    return m->page ? describe(m, o) : 0;
}

/* ---- results */

static void number(double value, const char *format, int width)
{
    char text[40] = "-";
    if (!isnan(value))
        snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

static taut_result result_of(const one *o)
{
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(o->solver, &result, NULL);
    return result;
}

static int64_t evaluations(const taut_result *r)
{
    return r->statistics.force_evaluations + r->statistics.fast_force_evaluations;
}

static void print_human(const motions *m, const one *first)
{
    printf("%s: motions%s%s\n", m->model.name, first ? ", with the largest differences from " : "",
           first ? first->name : "");
    printf("  %-10s %-18s %10s %10s %10s %12s %9s %10s\n", "motion", "method", "positions",
           "velocities", "error", "evaluations", "steps", "seconds");
    for (const one *o = m->motion; o < m->motion + m->count; o++) {
        printf("  %-10s ", o->name);
        if (!o->solver || o->code < 0) {
            cli_wrap(stdout, o->error.message, 13, 13, CLI_WIDTH);
            continue;
        }
        taut_result r = result_of(o);
        printf("%-18s", r.method);
        number(o->position, "%.3e", 10);
        number(o->velocity, "%.3e", 10);
        number(r.error, "%.1e", 10);
        printf(" %12lld %9lld %10.3g\n", (long long)evaluations(&r), (long long)r.statistics.steps,
               o->seconds);
        if (r.caution)
            cli_warning("%s: %s", o->name, r.caution);
    }
    for (const one *o = m->motion; o < m->motion + m->count; o++)
        if (o->common > 0 && o->common < 10)
            printf("  %s: compared at %lld times, those of rows of both; --every DT makes more\n",
                   o->name, (long long)o->common);
}

static void print_json(const motions *m, const one *first)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", first ? "done" : "failed");
    cli_json_text(&json, "model", m->model.name);
    cli_json_text(&json, "from", first ? first->name : NULL);
    cli_json_open(&json, "rows", '[');
    for (const one *o = m->motion; o < m->motion + m->count; o++) {
        bool ran = o->solver && o->code >= 0;
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "motion", o->name);
        cli_json_text(&json, "message", ran ? NULL : o->error.message);
        if (ran) {
            taut_result r = result_of(o);
            cli_json_text(&json, "method", r.method);
            cli_json_real(&json, "difference", o->position);
            cli_json_real(&json, "difference_velocity", o->velocity);
            cli_json_integer(&json, "common_rows", o->common);
            cli_json_real(&json, "error", r.error);
            cli_json_integer(&json, "evaluations", evaluations(&r));
            cli_json_real(&json, "seconds", o->seconds);
            cli_json_statistics(&json, &r.statistics);
        }
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    if (!first)
        cli_json_error(&json, &m->error);
    cli_json_close(&json, '}');
}

static int report(motions *m)
{
    const one *first = first_of(m);
    int status = first ? 0 : CLI_FAILED;
    if (!first) {
        m->error = (taut_error){.code = TAUT_ERROR_REFUSED, .t = NAN};
        snprintf(m->error.message, sizeof m->error.message,
                 "none of the motions could run; the rows contain the reasons");
    }
    for (const one *o = m->motion; first && o < m->motion + m->count; o++)
        if (o->solver && o->code > 0)
            status = cli_exit_status(o->code);
    if (m->call->json)
        print_json(m, first);
    else if (!m->call->quiet)
        print_human(m, first);
    return status;
}

/* The default list is one of mechanical systems. */
static int check_default(const motions *m)
{
    taut_sizes sizes;
    taut_sizes_init(&sizes);
    taut_system_sizes_get(m->model.system, &sizes, NULL);
    if (m->call->motions || sizes.kind == TAUT_MECHANICAL)
        return 0;
    return cli_misuse(m->call,
                      "only mechanical systems have the motions full, slow and rigid: give "
                      "--methods A,B,.. ('taut methods' lists them), or --motions A,B,..");
}

static int compute(motions *m, const char *path)
{
    int code = cli_measure_errors(m->call, &m->model, &m->error);
    if (code == 0 && path)
        code = taut_page_create(NULL, &m->page, &m->error);
    cli_interrupt_watch();
    for (int k = 0; code == 0 && k < m->count; k++)
        if (cli_interrupted())
            snprintf(m->motion[k].error.message, sizeof m->motion[k].error.message, "interrupted");
        else
            code = run_one(m, &m->motion[k]);
    if (code == 0 && path && first_of(m))
        code = taut_page_write(m->page, path, &m->error);
    return code != 0 ? cli_fail(m->call, &m->error, code) : report(m);
}

int cli_compare_motions(cli_call *call)
{
    motions m = {.call = call, .error = {.t = NAN}};
    const char *path = cli_option_text(call, "view");
    int status = read_options(&m);
    if (status == 0)
        status = cli_view_check(call, path);
    if (status == 0)
        status = cli_model_load(call, &m.model);
    if (status == 0)
        status = check_default(&m);
    if (status == 0)
        status = compute(&m, path);
    for (int k = 0; k < m.count; k++) {
        taut_solver_destroy(m.motion[k].solver);
        taut_memory_sink_destroy(m.motion[k].rows);
    }
    taut_page_destroy(m.page);
    cli_model_release(&m.model);
    free(m.names);
    return status;
}
