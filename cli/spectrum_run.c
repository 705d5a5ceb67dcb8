/* spectrum_run.c - taut spectrum --until T: frequencies and actions along the full motion, as
 * CSV, and how well the actions are kept.
 *
 * The full motion, because only there the state vibrates: effective motions show the projected
 * one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct watch {
    cli_call *call;
    cli_model model;
    taut_solver *solver;
    taut_context *context;
    FILE *file; /* where the rows go; NULL: nowhere */
    bool opened;
    int count, rows;
    taut_mode *mode;
    double *first, *least, *most; /* actions: initial, extremes, [count] */
    taut_resonance closest;
    double closest_time;
    int modes;       /* in every row */
    int64_t missing; /* between its lower and its upper half, where there are more */
    taut_error error;
} watch;

static void release(watch *w)
{
    if (w->opened && w->file)
        fclose(w->file);
    taut_solver_destroy(w->solver);
    taut_context_destroy(w->context);
    cli_model_release(&w->model);
    free(w->mode);
    free(w->first);
    free(w->least);
    free(w->most);
}

static int stop(taut_error *error, int code, const char *text)
{
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", text);
    return code;
}

/* Modes count from 1, among all. */
static long long number(const watch *w, int k)
{
    return k < w->modes - w->modes / 2 ? k + 1 : k + 1 + (long long)w->missing;
}

static void print_head(const watch *w)
{
    fprintf(w->file, "t");
    for (int k = 0; k < w->modes; k++)
        fprintf(w->file, ",frequency[%lld]", number(w, k));
    for (int k = 0; k < w->modes; k++)
        fprintf(w->file, ",action[%lld]", number(w, k));
    fprintf(w->file, ",gap\n");
}

static void print_row(const watch *w, double t, double gap)
{
    fprintf(w->file, "%.17g", t);
    for (int k = 0; k < w->modes; k++)
        fprintf(w->file, ",%.17g", w->mode[k].frequency);
    for (int k = 0; k < w->modes; k++)
        fprintf(w->file, ",%.17g", w->mode[k].action);
    fprintf(w->file, ",%.17g\n", gap);
}

/* A taut_sink: the modes of every row of the run. */
static int take_row(void *user, const taut_row *row, taut_error *error)
{
    watch *w = user;
    taut_modes_report report = {.size = sizeof report};
    int code = taut_modes(w->context, row->t, row->q, row->v, w->count, w->mode, &report, error);
    if (code != 0)
        return code < 0 ? code
                        : stop(error, TAUT_ERROR_EVALUATE, "the modes cannot be computed here");
    if (w->rows == 0) {
        w->modes = report.found;
        w->missing = report.modes > report.found ? report.modes - report.found : 0;
        if (w->file)
            print_head(w);
    }
    if (report.found != w->modes)
        return stop(error, TAUT_ERROR_EVALUATE,
                    "the number of stiff modes has changed along the run");
    double gap = report.resonances > 0 ? report.resonance[0].gap : INFINITY;
    if (w->rows == 0 || gap < w->closest.gap) {
        w->closest = report.resonance[0];
        w->closest.gap = gap;
        w->closest_time = row->t;
    }
    for (int k = 0; k < w->modes; k++) {
        double action = w->mode[k].action;
        w->first[k] = w->rows == 0 ? action : w->first[k];
        w->least[k] = w->rows == 0 ? action : fmin(w->least[k], action);
        w->most[k] = w->rows == 0 ? action : fmax(w->most[k], action);
    }
    w->rows++;
    if (!w->file)
        return 0;
    print_row(w, row->t, gap);
    return ferror(w->file) ? stop(error, TAUT_ERROR_FILE, "the rows cannot be written") : 0;
}

int cli_spectrum_rows(cli_call *call, FILE **file, bool *opened)
{
    const char *out =
        taut_options_given(call->options, "out") ? taut_options_text(call->options, "out") : "";
    bool here = strcmp(out, "-") == 0 || (out[0] == '\0' && !call->json);
    if (here && call->json)
        return cli_refuse(
            call,
            "--out -: standard output contains the object of --json; give a file for the rows");
    if (out[0] && !here && !cli_has_ending(out, ".csv"))
        return cli_refuse(call, "--out %s: expected a name that ends in .csv", out);
    if (here) {
        *file = stdout;
    } else if (out[0]) {
        *file = fopen(out, "w");
        *opened = *file != NULL;
        if (!*file)
            return cli_refuse(call, "--out %s: %s", out, strerror(errno));
    }
    return 0;
}

/* Largest change of an action, over the sum of the initial ones. */
static double change(const watch *w, int k)
{
    return fmax(w->most[k] - w->first[k], w->first[k] - w->least[k]);
}

static void print_summary(const watch *w, FILE *to)
{
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(w->solver, &result, NULL);
    fprintf(to, "%s: %d modes in %d rows up to t = %g\n", w->model.name, w->modes, w->rows,
            result.t);
    for (int k = 0; k < w->modes; k++)
        fprintf(to, "  action %-4lld %12.6g initially, changes by at most %.3g\n", number(w, k),
                w->first[k], change(w, k));
    if (w->rows > 0 && isfinite(w->closest.gap)) {
        fprintf(to, "  closest     mode %d ~ mode %d", w->closest.j + 1, w->closest.k + 1);
        if (w->closest.l >= 0)
            fprintf(to, " + mode %d", w->closest.l + 1);
        fprintf(to, ", apart by %.3g%%, at t = %.6g\n", 100 * w->closest.gap, w->closest_time);
    }
}

static void print_json(const watch *w)
{
    taut_result result = {.size = sizeof result};
    cli_json json = {.out = stdout};
    taut_solver_result_get(w->solver, &result, NULL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status",
                  result.status == TAUT_INTERRUPTED ? "interrupted"
                  : result.status == TAUT_EVENT     ? "event"
                                                    : "done");
    cli_json_text(&json, "model", w->model.name);
    cli_json_real(&json, "t", result.t);
    cli_json_text(&json, "method", result.method);
    cli_json_integer(&json, "rows", w->rows);
    cli_json_open(&json, "modes", '[');
    for (int k = 0; k < w->modes; k++) {
        cli_json_open_flat(&json, NULL, '{');
        cli_json_integer(&json, "mode", number(w, k));
        cli_json_real(&json, "action", w->first[k]);
        cli_json_real(&json, "least", w->least[k]);
        cli_json_real(&json, "most", w->most[k]);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_open_flat(&json, "closest", '{');
    cli_json_real(&json, "gap", w->rows > 0 ? w->closest.gap : NAN);
    cli_json_real(&json, "t", w->closest_time);
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

static int prepare(watch *w)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(w->model.system, &sizes, NULL);
    if (!(sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)) ||
        sizes.kind != TAUT_MECHANICAL)
        return cli_refuse(w->call,
                          "actions along a run need bonds with a stiffness or a stiff "
                          "potential; without --until the spectrum of the initial state is shown");
    w->count = (int)taut_options_integer(w->call->options, "modes");
    w->mode = calloc((size_t)w->count, sizeof *w->mode);
    w->first = calloc((size_t)w->count, sizeof(double));
    w->least = calloc((size_t)w->count, sizeof(double));
    w->most = calloc((size_t)w->count, sizeof(double));
    if (!w->mode || !w->first || !w->least || !w->most)
        return cli_refuse(w->call, "out of memory");
    int code = taut_options_set(w->call->options, "motion", "full", &w->error);
    if (code == 0)
        code = taut_context_create(w->model.system, NULL, &w->context, &w->error);
    if (code == 0)
        code = taut_solver_create(w->model.system, w->call->options, NULL, &w->solver, &w->error);
    return code == 0 ? 0 : cli_fail(w->call, &w->error, code);
}

static int compute(watch *w)
{
    const cli_call *call = w->call;
    taut_sink sink = {.row = take_row, .user = w};
    cli_progress progress = {.bar = !call->quiet && cli_terminal(stderr) &&
                                    !(w->file == stdout && cli_terminal(stdout))};
    if (w->file && !call->quiet)
        cli_output_warn(w->solver, w->opened ? cli_option_text(call, "out") : "-",
                        22. * (2 + 2 * w->count));
    cli_interrupt_watch();
    int code = taut_solver_run(w->solver, &sink, 1, cli_progress_call, &progress, &w->error);
    cli_progress_clear(&progress);
    if (code < 0)
        return cli_fail(w->call, &w->error, code);
    if (call->json)
        print_json(w);
    else if (!call->quiet)
        print_summary(w, w->file == stdout ? stderr : stdout);
    return cli_exit_status(code);
}

int cli_spectrum_run(cli_call *call)
{
    watch w = {.call = call, .error = {.t = NAN}};
    taut_sizes sizes = {.size = sizeof sizes};
    int status = cli_model_load(call, &w.model);
    if (status == 0)
        taut_system_sizes_get(w.model.system, &sizes, NULL);
    if (status == 0 && sizes.kind != TAUT_MECHANICAL && sizes.algebraic == 0) {
        status = cli_spectrum_rates_run(call, &w.model);
        release(&w);
        return status;
    }
    if (status == 0 && taut_options_given(call->options, "plot"))
        status = cli_misuse(call, "--plot draws the rates of first-order models and black boxes");
    if (status == 0)
        status = prepare(&w);
    if (status == 0)
        status = cli_spectrum_rows(call, &w.file, &w.opened);
    if (status == 0)
        status = compute(&w);
    release(&w);
    return status;
}
