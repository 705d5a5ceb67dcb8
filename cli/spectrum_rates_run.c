/* spectrum_rates_run.c - taut spectrum --until T for first-order models and black boxes: the rates
 * and their gap along the motion, or a run that is in a file, as CSV and as a picture of log10
 * |rate|. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST_CURVES = 40 };

typedef struct along {
    const taut_system *system;
    taut_options *options; /* of taut_rates_at */
    FILE *file;
    bool opened;
    int count, found, rows, room;
    taut_rate *rate;
    double *t, *size;   /* of the picture: [rows], [rows][found] */
    double least, most; /* gap */
    double least_at;
} along;

static void release(along *w)
{
    if (w->opened && w->file)
        fclose(w->file);
    taut_options_destroy(w->options);
    free(w->rate);
    free(w->t);
    free(w->size);
}

static int stop(taut_error *error, int code, const char *text)
{
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", text);
    return code;
}

static int keep(along *w, double t)
{
    if (w->rows == w->room) {
        w->room = 2 * w->room + 100;
        double *times = realloc(w->t, (size_t)w->room * sizeof *times);
        w->t = times ? times : w->t;
        double *sizes = realloc(w->size, (size_t)w->room * (size_t)w->count * sizeof *sizes);
        w->size = sizes ? sizes : w->size;
        if (!times || !sizes)
            return TAUT_ERROR_MEMORY;
    }
    w->t[w->rows] = t;
    for (int k = 0; k < w->found; k++)
        w->size[w->rows * w->count + k] = hypot(w->rate[k].real, w->rate[k].imaginary);
    w->rows++;
    return 0;
}

/* A taut_sink: the rates of every row of the run. */
static int take_row(void *user, const taut_row *row, taut_error *error)
{
    along *w = user;
    taut_rates_report report;
    taut_rates_report_init(&report);
    int code =
        taut_rates_at(w->system, w->options, row->t, row->q, w->count, w->rate, &report, error);
    if (code != 0)
        return code;
    for (int k = 0; k < report.found && w->rows == 0 && w->file; k++)
        fprintf(w->file, "%srate[%d],frequency[%d]", k ? "," : "t,", k + 1, k + 1);
    if (w->rows == 0 && w->file)
        fprintf(w->file, ",dimension,gap\n");
    w->found = w->rows == 0 || report.found < w->found ? report.found : w->found;
    if (w->file)
        fprintf(w->file, "%.17g", row->t);
    for (int k = 0; k < report.found && w->file; k++)
        fprintf(w->file, ",%.17g,%.17g", w->rate[k].real, w->rate[k].imaginary + 0.0);
    if (w->file)
        fprintf(w->file, ",%d,%.17g\n", report.slow, report.gap);
    if (w->file && ferror(w->file))
        return stop(error, TAUT_ERROR_FILE, "the rows cannot be written");
    if (w->rows == 0 || report.gap < w->least) {
        w->least = report.gap;
        w->least_at = row->t;
    }
    w->most = w->rows == 0 ? report.gap : fmax(w->most, report.gap);
    return keep(w, row->t) == 0 ? 0 : stop(error, TAUT_ERROR_MEMORY, "out of memory");
}

static int draw(const along *w, const char *path, taut_error *error)
{
    static const char *const labels[] = {"Rates along the motion", "t", "log10 |rate|"};
    int curves = w->found < MOST_CURVES ? w->found : MOST_CURVES, start[MOST_CURVES + 1] = {0};
    char name[MOST_CURVES][24];
    const char *names[MOST_CURVES];
    size_t points = (size_t)curves * (size_t)w->rows;
    double *x = calloc(points + 1, sizeof *x), *y = calloc(points + 1, sizeof *y);
    int at = 0, code = x && y ? 0 : stop(error, TAUT_ERROR_MEMORY, "out of memory");
    for (int k = 0; k < curves && code == 0; k++) {
        snprintf(name[k], sizeof name[k], "rate %d", k + 1);
        names[k] = name[k];
        for (int i = 0; i < w->rows; i++)
            if (w->size[i * w->count + k] > 0) {
                x[at] = w->t[i];
                y[at++] = log10(w->size[i * w->count + k]);
            }
        start[k + 1] = at;
    }
    if (code == 0)
        code = taut_plot(path, labels, names, curves, start, x, y, false, error);
    free(x);
    free(y);
    return code;
}

/* What taut_rates_at reads, without the options of the run. */
static int own_options(const cli_call *call, along *w, taut_error *error)
{
    static const char *const names[] = {"horizon", "copies"};
    int code = taut_options_create(NULL, &w->options, error);
    for (int k = 0; k < 2 && code == 0; k++)
        if (taut_options_given(call->options, names[k]))
            code = taut_options_set(w->options, names[k],
                                    taut_options_text(call->options, names[k]), error);
    return code;
}

static void report(const cli_call *call, const along *w, const char *model, FILE *to)
{
    cli_json json = {.out = stdout};
    if (!call->json && !call->quiet)
        fprintf(to, "%s: %d rates in %d rows; gap %.3g to %.3g, the smallest at t = %.6g\n", model,
                w->found, w->rows, w->least, w->most, w->least_at);
    if (!call->json)
        return;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", "done");
    cli_json_text(&json, "model", model);
    cli_json_integer(&json, "rows", w->rows);
    cli_json_integer(&json, "rates", w->found);
    cli_json_open_flat(&json, "gap", '{');
    cli_json_real(&json, "least", w->least);
    cli_json_real(&json, "least_at", w->least_at);
    cli_json_real(&json, "most", w->most);
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

/* The rows of the run that is computed, or of one that is in a file. */
static int march(cli_call *call, taut_solver **solver, taut_record *run, along *w,
                 taut_error *error)
{
    taut_sink sink = {.row = take_row, .user = w};
    cli_interrupt_watch();
    if (run)
        return cli_record_replay(run, w->system, &sink, error);
    int code = taut_solver_create(w->system, call->options, NULL, solver, error);
    return code == 0
               ? taut_solver_run(*solver, &sink, 1, cli_progress_call, &(cli_progress){0}, error)
               : code;
}

int cli_spectrum_rates_run(cli_call *call, const cli_model *model, taut_record *run)
{
    along w = {.system = model->system, .count = (int)taut_options_integer(call->options, "modes")};
    taut_error error = {.t = NAN};
    taut_solver *solver = NULL;
    const char *picture =
        taut_options_given(call->options, "plot") ? taut_options_text(call->options, "plot") : NULL;
    int status = cli_picture_check(call, picture);
    if (status == 0)
        status = cli_spectrum_rows(call, &w.file, &w.opened);
    w.rate = calloc((size_t)w.count, sizeof *w.rate);
    int code = w.rate ? own_options(call, &w, &error) : TAUT_ERROR_MEMORY;
    if (status == 0 && code == 0)
        code = march(call, &solver, run, &w, &error);
    if (status == 0 && code >= 0 && picture)
        code = draw(&w, picture, &error);
    if (status == 0 && code < 0)
        status = cli_fail(call, &error, code);
    else if (status == 0) {
        report(call, &w, model->name, w.file == stdout ? stderr : stdout);
        status = cli_exit_status(code);
    }
    taut_solver_destroy(solver);
    release(&w);
    return status;
}
