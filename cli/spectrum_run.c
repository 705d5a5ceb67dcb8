/* spectrum_run.c - taut spectrum --along: frequencies and actions along the full motion, as CSV and
 * as a picture, and where they change (spectrum_along.c).
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
    int count;
    taut_mode *mode;
    cli_along along;
    const char *picture;
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
    cli_along_release(&w->along);
}

static int stop(taut_error *error, int code, const char *text)
{
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", text);
    return code;
}

static void print_head(const watch *w)
{
    fprintf(w->file, "t");
    for (int k = 0; k < w->along.modes; k++)
        fprintf(w->file, ",frequency[%lld]", cli_along_number(&w->along, k));
    for (int k = 0; k < w->along.modes; k++)
        fprintf(w->file, ",action[%lld]", cli_along_number(&w->along, k));
    fprintf(w->file, ",gap\n");
}

static void print_row(const watch *w, double t, double gap)
{
    fprintf(w->file, "%.17g", t);
    for (int k = 0; k < w->along.modes; k++)
        fprintf(w->file, ",%.17g", w->mode[k].frequency);
    for (int k = 0; k < w->along.modes; k++)
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
    if (w->along.rows == 0) {
        w->along.modes = report.found;
        w->along.missing = report.modes > report.found ? report.modes - report.found : 0;
        if (w->file)
            print_head(w);
    }
    if (report.found != w->along.modes)
        return stop(error, TAUT_ERROR_EVALUATE,
                    "the number of stiff modes has changed along the run");
    if (!cli_along_add(&w->along, row->t, w->mode, &report))
        return stop(error, TAUT_ERROR_MEMORY, "out of memory");
    if (!w->file)
        return 0;
    print_row(w, row->t, report.resonances > 0 ? report.resonance[0].gap : INFINITY);
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

/* Least and largest value of an action. */
static void range(const cli_along *w, int k, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (int i = 0; i < w->rows; i++) {
        *least = fmin(*least, cli_along_action(w, i, k));
        *most = fmax(*most, cli_along_action(w, i, k));
    }
}

/* The row with the smallest gap. */
static double closest(const cli_along *w, double *t)
{
    double gap = INFINITY;
    *t = NAN;
    for (int i = 0; i < w->rows; i++) {
        const double *row = w->row + (size_t)i * (size_t)(2 + 2 * w->modes);
        *t = row[1] < gap ? row[0] : *t;
        gap = fmin(gap, row[1]);
    }
    return gap;
}

static void print_summary(const watch *w, FILE *to)
{
    const cli_along *along = &w->along;
    taut_result result = {.size = sizeof result};
    double t, gap = closest(along, &t);
    taut_solver_result_get(w->solver, &result, NULL);
    fprintf(to, "%s: %d modes in %d rows up to t = %g\n", w->model.name, along->modes, along->rows,
            result.t);
    for (int k = 0; k < along->modes; k++) {
        double first = cli_along_action(along, 0, k), least, most;
        range(along, k, &least, &most);
        fprintf(to, "  action %-4lld %12.6g initially, changes by at most %.3g\n",
                cli_along_number(along, k), first, fmax(most - first, first - least));
    }
    if (isfinite(gap))
        fprintf(to, "  smallest gap %.3g%%, at t = %.6g\n", 100 * gap, t);
    cli_along_print(along, to);
    if (w->picture)
        fprintf(to, "  picture in %s\n", w->picture);
}

static void print_json(const watch *w)
{
    taut_result result = {.size = sizeof result};
    cli_json json = {.out = stdout};
    const cli_along *along = &w->along;
    double t, gap = closest(along, &t);
    taut_solver_result_get(w->solver, &result, NULL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status",
                  result.status == TAUT_INTERRUPTED ? "interrupted"
                  : result.status == TAUT_EVENT     ? "event"
                                                    : "done");
    cli_json_text(&json, "model", w->model.name);
    cli_json_real(&json, "t", result.t);
    cli_json_text(&json, "method", result.method);
    cli_json_integer(&json, "rows", along->rows);
    cli_json_open(&json, "modes", '[');
    for (int k = 0; k < along->modes; k++) {
        double least, most;
        range(along, k, &least, &most);
        cli_json_open_flat(&json, NULL, '{');
        cli_json_integer(&json, "mode", cli_along_number(along, k));
        cli_json_real(&json, "action", cli_along_action(along, 0, k));
        cli_json_real(&json, "least", least);
        cli_json_real(&json, "most", most);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_open_flat(&json, "closest", '{');
    cli_json_real(&json, "gap", gap);
    cli_json_real(&json, "t", t);
    cli_json_close(&json, '}');
    cli_along_json(along, &json);
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
                          "potential; without --along the spectrum of the initial state is shown");
    w->count = (int)taut_options_integer(w->call->options, "modes");
    w->mode = calloc((size_t)w->count, sizeof *w->mode);
    if (!w->mode)
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
    cli_along_judge(&w->along);
    if (code >= 0 && w->picture && w->along.rows > 0) {
        int drawn = cli_along_draw(&w->along, w->model.name, w->picture, &w->error);
        code = drawn < 0 ? drawn : code;
    }
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
    if (taut_options_given(call->options, "plot"))
        w.picture = taut_options_text(call->options, "plot");
    if (status == 0)
        status = cli_picture_check(call, w.picture);
    if (status == 0)
        status = prepare(&w);
    if (status == 0)
        status = cli_spectrum_rows(call, &w.file, &w.opened);
    if (status == 0)
        status = compute(&w);
    release(&w);
    return status;
}
