/* spectrum_run.c - taut spectrum --along: frequencies and actions along the full motion, or along a
 * run that is in a file, as CSV, as a picture, and where they change.
 *
 * The full motion, because only there the state vibrates: the rows of other motions show a state on
 * the slow manifold or on the bonds, with the frequencies of its path and without actions. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct watch {
    cli_call *call;
    cli_model model;
    taut_record *run; /* its rows are taken; NULL: the run is computed */
    char *settings;   /* of the run; call->set points into it */
    taut_solver *solver;
    FILE *file; /* where the rows go; NULL: nowhere */
    bool opened;
    taut_modes_along *along;
    taut_sink along_sink;
    const char *picture;
    taut_error error;
} watch;

static void release(watch *w)
{
    if (w->opened && w->file)
        fclose(w->file);
    taut_solver_destroy(w->solver);
    taut_modes_along_destroy(w->along);
    if (w->run != w->model.record)
        taut_record_destroy(w->run);
    cli_model_release(&w->model);
    free(w->settings);
}

static taut_modes_rows rows_of(const watch *w)
{
    taut_modes_rows rows = {.size = sizeof rows};
    taut_modes_along_get(w->along, &rows, NULL);
    return rows;
}

static void print_head(const watch *w, const taut_modes_rows *rows)
{
    fprintf(w->file, "t");
    for (int k = 0; k < rows->modes; k++)
        fprintf(w->file, ",frequency[%lld]", cli_along_number(rows, k));
    for (int k = 0; k < rows->modes; k++)
        fprintf(w->file, ",action[%lld]", cli_along_number(rows, k));
    fprintf(w->file, ",gap\n");
}

static void print_row(const watch *w, const taut_modes_rows *rows, int64_t i)
{
    fprintf(w->file, "%.17g", rows->t[i]);
    for (int k = 0; k < rows->modes; k++)
        fprintf(w->file, ",%.17g", rows->frequency[i * rows->modes + k]);
    for (int k = 0; k < rows->modes; k++)
        fprintf(w->file, ",%.17g", rows->action[i * rows->modes + k]);
    fprintf(w->file, ",%.17g\n", rows->gap[i]);
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    watch *w = user;
    return w->along_sink.begin(w->along_sink.user, system, error);
}

/* The modes of a row, and its line. */
static int take_row(void *user, const taut_row *row, taut_error *error)
{
    watch *w = user;
    int code = w->along_sink.row(w->along_sink.user, row, error);
    if (code != 0 || !w->file)
        return code;
    taut_modes_rows rows = rows_of(w);
    if (rows.rows == 1)
        print_head(w, &rows);
    print_row(w, &rows, rows.rows - 1);
    if (!ferror(w->file))
        return 0;
    snprintf(error->message, sizeof error->message, "the rows cannot be written");
    return error->code = TAUT_ERROR_FILE;
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
static void range(const taut_modes_rows *rows, int k, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (int64_t i = 0; i < rows->rows; i++) {
        *least = fmin(*least, rows->action[i * rows->modes + k]);
        *most = fmax(*most, rows->action[i * rows->modes + k]);
    }
}

/* The row with the smallest gap. */
static double closest(const taut_modes_rows *rows, double *t)
{
    double gap = INFINITY;
    *t = NAN;
    for (int64_t i = 0; i < rows->rows; i++)
        if (rows->gap[i] < gap) {
            *t = rows->t[i];
            gap = rows->gap[i];
        }
    return gap;
}

static double last_time(const taut_modes_rows *rows)
{
    return rows->rows > 0 ? rows->t[rows->rows - 1] : NAN;
}

static void print_summary(const watch *w, FILE *to)
{
    taut_modes_rows rows = rows_of(w);
    double t, gap = closest(&rows, &t);
    fprintf(to, "%s: %d modes in %lld rows up to t = %g\n", w->model.name, rows.modes,
            (long long)rows.rows, last_time(&rows));
    const bool known = rows.modes == 0 || rows.rows == 0 || isfinite(rows.action[0]);
    for (int k = 0; k < rows.modes && known; k++) {
        double first = rows.action[k], least, most;
        range(&rows, k, &least, &most);
        fprintf(to, "  action %-4lld %12.6g initially, changes by at most %.3g\n",
                cli_along_number(&rows, k), first, fmax(most - first, first - least));
    }
    if (isfinite(gap))
        fprintf(to, "  smallest gap %.3g%%, at t = %.6g\n", 100 * gap, t);
    if (known)
        cli_along_print(w->along, to);
    else
        fprintf(to,
                "  frequencies alone: of more than 400 connected springs actions and resonances "
                "need --modes for all\n  of them, of stiff potentials at most 400 coordinates\n");
    if (w->picture)
        fprintf(to, "  picture in %s\n", w->picture);
}

static void print_json(const watch *w, int code, const char *motion, const char *method)
{
    cli_json json = {.out = stdout};
    taut_modes_rows rows = rows_of(w);
    double t, gap = closest(&rows, &t);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status",
                  code == TAUT_INTERRUPTED ? "interrupted"
                  : code == TAUT_EVENT     ? "event"
                                           : "done");
    cli_json_text(&json, "model", w->model.name);
    cli_json_real(&json, "t", last_time(&rows));
    cli_json_text(&json, "motion", motion[0] ? motion : NULL);
    cli_json_text(&json, "method", method[0] ? method : NULL);
    cli_json_integer(&json, "rows", rows.rows);
    cli_json_open(&json, "modes", '[');
    for (int k = 0; k < rows.modes; k++) {
        double least, most;
        range(&rows, k, &least, &most);
        cli_json_open_flat(&json, NULL, '{');
        cli_json_integer(&json, "mode", cli_along_number(&rows, k));
        cli_json_real(&json, "action", rows.action[k]);
        cli_json_real(&json, "least", least);
        cli_json_real(&json, "most", most);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_open_flat(&json, "closest", '{');
    cli_json_real(&json, "gap", gap);
    cli_json_real(&json, "t", t);
    cli_json_close(&json, '}');
    cli_along_json(w->along, &json);
    cli_json_close(&json, '}');
}

/* ---- where the rows come from */

/* The file of --along; NULL: the run is computed. */
static const char *file_of(const cli_call *call)
{
    const char *text = taut_options_text(call->options, "along");
    return taut_options_given(call->options, "along") && cli_is_record(text) ? text : NULL;
}

/* Opens the file. The model is that of the operand, with the parameters of the run, or that of the
 * file. */
static int open_run(watch *w, const char *path)
{
    static const char *const of_runs[] = {"from", "until", "method", "step", "every", "start"};
    cli_call *call = w->call;
    bool own = !call->operand;
    for (size_t k = 0; k < sizeof of_runs / sizeof of_runs[0]; k++)
        if (taut_options_given(call->options, of_runs[k]))
            return cli_misuse(call, "--%s has no effect on the rows of --along %s: omit it",
                              of_runs[k], path);
    if (call->init_count > 0)
        return cli_misuse(call, "--init has no effect on the rows of --along %s: omit it", path);
    if (own)
        call->operand = path;
    int status =
        own || cli_is_record(call->operand) ? 0 : cli_record_open(call, "along", path, &w->run);
    if (status == 0 && w->run)
        status = cli_record_parameters(call, w->run, &w->settings);
    if (status == 0 && (status = cli_model_load(call, &w->model)) != 0 && call->set_count > 0)
        fprintf(stderr, "the parameters of the run are those of --along %s\n", path);
    if (status == 0 && own)
        w->run = w->model.record;
    if (status == 0 && !w->run)
        status = cli_record_open(call, "along", path, &w->run);
    if (status == 0)
        status = cli_record_fits(call, "along", w->run, w->model.system);
    const char *text = taut_record_text(w->run, "model");
    if (status == 0 && text && strcmp(text, taut_system_text(w->model.system, NULL)) != 0)
        cli_warning("--along %s: its model is not the same text as %s", path, call->operand);
    return status;
}

static int prepare(watch *w)
{
    cli_call *call = w->call;
    int code = 0, count = (int)taut_options_integer(call->options, "modes");
    if (!w->run)
        code = taut_options_set(call->options, "motion", "full", &w->error);
    if (code == 0)
        code = taut_modes_along_create(w->model.system, count, NULL, &w->along, &w->along_sink,
                                       &w->error);
    if (code == TAUT_ERROR_REFUSED)
        return cli_refuse(call, "%s; without --along the spectrum of the initial state is shown",
                          w->error.message);
    if (code == 0 && !w->run)
        code = taut_solver_create(w->model.system, call->options, NULL, &w->solver, &w->error);
    return code == 0 ? 0 : cli_fail(call, &w->error, code);
}

static int march(watch *w)
{
    const cli_call *call = w->call;
    taut_sink sink = {.begin = begin, .row = take_row, .user = w};
    cli_progress progress = {.bar = !call->quiet && cli_terminal(stderr) &&
                                    !(w->file == stdout && cli_terminal(stdout))};
    cli_interrupt_watch();
    if (w->run)
        return cli_record_replay(w->run, w->model.system, &sink, &w->error);
    if (w->file && !call->quiet)
        cli_output_warn(w->solver, w->opened ? cli_option_text(call, "out") : "-",
                        22. * (2 + 2 * (double)taut_options_integer(call->options, "modes")));
    int code = taut_solver_run(w->solver, &sink, 1, cli_progress_call, &progress, &w->error);
    cli_progress_clear(&progress);
    return code;
}

static int compute(watch *w)
{
    const cli_call *call = w->call;
    taut_result result = {.size = sizeof result};
    char motion[32] = "full", method[64] = "";
    int code = march(w);
    taut_modes_rows rows = rows_of(w);
    taut_modes_episode first = {.size = sizeof first};
    if (code >= 0 && rows.rows == 0)
        return cli_refuse(call, "%s has no rows", taut_options_text(call->options, "along"));
    if (code >= 0 && rows.episodes > 0) {
        int judged = taut_modes_episode_get(w->along, 0, &first, &w->error);
        code = judged < 0 ? judged : code;
    }
    if (code >= 0 && w->picture) {
        int drawn = cli_along_draw(w->along, w->model.name, w->picture, &w->error);
        code = drawn < 0 ? drawn : code;
    }
    if (code < 0)
        return cli_fail(call, &w->error, code);
    if (w->run) {
        cli_record_word(w->run, "motion", motion, sizeof motion);
        cli_record_word(w->run, "method", method, sizeof method);
    } else {
        taut_solver_result_get(w->solver, &result, NULL);
        snprintf(method, sizeof method, "%s", result.method);
    }
    if (w->run && motion[0] && strcmp(motion, "full") != 0 && !call->quiet)
        cli_warning("the rows are those of motion %s, which do not vibrate: frequencies and gaps "
                    "are those of their path, actions need motion full",
                    motion);
    if (call->json)
        print_json(w, code, motion, method);
    else if (!call->quiet)
        print_summary(w, w->file == stdout ? stderr : stdout);
    return cli_exit_status(code);
}

int cli_spectrum_run(cli_call *call)
{
    watch w = {.call = call, .error = {.t = NAN}};
    taut_sizes sizes = {.size = sizeof sizes};
    const char *path = file_of(call), *along = taut_options_text(call->options, "along");
    if (taut_options_given(call->options, "along") && !path &&
        !taut_options_flag(call->options, "along"))
        return cli_misuse(call, "--along=%s: expected a file of a run, FILE.h5, or nothing", along);
    int status = path ? open_run(&w, path) : cli_model_load(call, &w.model);
    if (status == 0)
        taut_system_sizes_get(w.model.system, &sizes, NULL);
    if (status == 0 && sizes.kind != TAUT_MECHANICAL && sizes.algebraic == 0) {
        status = cli_spectrum_rates_run(call, &w.model, w.run);
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
