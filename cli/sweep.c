/* sweep.c - taut sweep: many runs, one table, a picture and a page of it.
 *
 * Rows go to the CSV file as they are computed; the file of HDF5 is made from them at the end.
 * Besides the rows there is a checkpoint with the model and the arguments until the sweep is
 * complete, so that it can be continued whatever ended it. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint.h"

typedef struct sweep {
    cli_call *call;
    cli_model model;
    const char *out, *plot, *view; /* NULL: not wanted; "-" is standard output */
    bool hdf5;
    char *rows; /* CSV file of the rows, "-" or NULL */
    cli_checkpoint checkpoint;
    char *checkpoint_path; /* or NULL */
    taut_sweep_request request;
    taut_sweep *sweep;
    double seconds;
    taut_error error;
} sweep;

/* ---- arguments */

static int read_count(const sweep *s, const char *name, const char *text, int64_t *value)
{
    const taut_option *option = cli_option_find(name, "sweep");
    char *end = NULL;
    double number = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(number >= option->least && number <= option->most) ||
                 number != floor(number)))
        return cli_misuse(s->call, "--%s: expected a whole number >= %.0f and <= %.0f, found '%s'",
                          name, option->least, option->most, text);
    if (text)
        *value = (int64_t)number;
    return 0;
}

int cli_cores(void)
{
#ifdef _SC_NPROCESSORS_ONLN
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
#else
    return 1;
#endif
}

static int read_request(sweep *s)
{
    cli_call *call = s->call;
    int64_t jobs = cli_ranks() ? 1 : cli_cores(); /* a process for each core */
    s->request.seed = 1;
    s->request.space = cli_ranks();
    if (call->vary_count == 0)
        return cli_misuse(call, "nothing is varied: give --vary NAME=VALUES");
    if (call->keep_count == 0)
        return cli_misuse(call, "nothing is kept: give --keep EXPRESSION, such as 'max(energy)'");
    int status = read_count(s, "random", call->random, &s->request.random);
    if (status == 0)
        status = read_count(s, "seed", call->seed, &s->request.seed);
    if (status == 0)
        status = read_count(s, "jobs", call->jobs, &jobs);
    if (status == 0 && call->seed && !call->random)
        status = cli_misuse(call, "--seed has no effect without --random N");
    s->request.vary = call->vary;
    s->request.vary_count = call->vary_count;
    s->request.keep = call->keep;
    s->request.keep_count = call->keep_count;
    s->request.zip = call->zip;
    s->request.threads = (int)jobs;
    s->request.resume = call->saved != NULL;
    return status;
}

static int choose_outputs(sweep *s)
{
    cli_call *call = s->call;
    s->out = cli_option_text(call, "out");
    s->plot = cli_option_text(call, "plot");
    s->view = cli_option_text(call, "view");
    bool here = s->out ? strcmp(s->out, "-") == 0 : !call->json && !s->view;
    if (here && call->json)
        return cli_refuse(call, "--out -: standard output belongs to the object of --json, which "
                                "has the rows too");
    s->hdf5 = s->out && (cli_has_ending(s->out, ".h5") || cli_has_ending(s->out, ".hdf5"));
    if (s->out && !here && !s->hdf5 && !cli_has_ending(s->out, ".csv"))
        return cli_refuse(call, "--out %s: expected a name that ends in .csv, or in .h5", s->out);
    int status = cli_output_check(call, "out", s->out);
    if (status == 0)
        status = cli_picture_check(call, s->plot);
    if (status == 0)
        status = cli_view_check(call, s->view);
    if (status != 0)
        return status;
    bool file = s->out && !here;
    s->rows = here   ? cli_format("-")
              : file ? cli_format("%s%s", s->out, s->hdf5 ? ".rows" : "")
                     : NULL;
    s->checkpoint_path = file ? cli_format("%s.checkpoint", s->out) : NULL;
    if ((here || file) && (!s->rows || (file && !s->checkpoint_path)))
        return cli_refuse(call, "out of memory");
    s->request.path = s->rows;
    return 0;
}

/* ---- results */

static const char *status_word(int status)
{
    return status < 0                  ? "failed"
           : status == TAUT_EVENT      ? "event"
           : status == TAUT_LIMIT      ? "limit"
           : status == TAUT_INACCURATE ? "inaccurate"
                                       : "done";
}

static void count(const sweep *s, int64_t *rows, int64_t *failed, int64_t *inaccurate)
{
    taut_swept row = {.size = sizeof row};
    *failed = *inaccurate = 0;
    *rows = taut_sweep_rows(s->sweep, NULL);
    for (int64_t k = 0; k < *rows; k++)
        if (taut_sweep_get(s->sweep, k, &row, NULL) == 0) {
            *failed += row.status < 0;
            *inaccurate += row.status == TAUT_INACCURATE;
        }
}

/* The first reasons of failures, each with its run. */
static void print_failures(const sweep *s, FILE *out)
{
    enum { MOST = 3 };
    const char *before[MOST];
    int shown = 0;
    taut_swept row = {.size = sizeof row};
    for (int64_t k = 0; shown < MOST && taut_sweep_get(s->sweep, k, &row, NULL) == 0; k++) {
        bool known = row.status >= 0;
        for (int j = 0; j < shown && !known; j++)
            known = strcmp(before[j], row.message) == 0;
        if (known)
            continue;
        before[shown++] = row.message;
        int column = fprintf(out, "  run %lld: ", (long long)k + 1);
        cli_wrap(out, row.message, 4, column, CLI_WIDTH);
    }
}

static void print_human(const sweep *s, FILE *out, int code)
{
    int64_t runs, rows, failed, inaccurate;
    taut_sweep_rows(s->sweep, &runs);
    count(s, &rows, &failed, &inaccurate);
    fprintf(out, "%s: ", s->model.name);
    if (rows < runs)
        fprintf(out, "%lld of ", (long long)rows);
    fprintf(out, "%lld run%s in %.3g s, %lld failed", (long long)runs, runs == 1 ? "" : "s",
            s->seconds, (long long)failed);
    if (inaccurate > 0)
        fprintf(out, ", %lld inaccurate", (long long)inaccurate);
    fprintf(out, "\n");
    print_failures(s, out);
    if (s->out && strcmp(s->out, "-") != 0)
        fprintf(out, "  %-22s  %s\n", "rows in", code == 0 ? s->out : s->rows);
    if (s->plot && code == 0)
        fprintf(out, "  %-22s  %s\n", "picture in", s->plot);
    if (s->view && code == 0)
        fprintf(out, "  %-22s  %s\n", "page in", s->view);
    if (code == TAUT_INTERRUPTED && s->checkpoint_path)
        fprintf(out, "  interrupted; continue with: taut sweep --resume %s\n", s->checkpoint_path);
}

static void print_json(const sweep *s, int code)
{
    char text[80];
    int64_t runs, rows, failed, inaccurate;
    taut_swept row = {.size = sizeof row};
    cli_json json = {.out = stdout};
    taut_sweep_rows(s->sweep, &runs);
    count(s, &rows, &failed, &inaccurate);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", code == 0 ? "done" : "interrupted");
    cli_json_text(&json, "model", s->model.name);
    cli_json_integer(&json, "runs", runs);
    cli_json_integer(&json, "failed", failed);
    cli_json_integer(&json, "inaccurate", inaccurate);
    cli_json_real(&json, "seconds", s->seconds);
    cli_json_open(&json, "rows", '[');
    for (int64_t k = 0; taut_sweep_get(s->sweep, k, &row, NULL) == 0; k++) {
        cli_json_open(&json, NULL, '{');
        cli_json_integer(&json, "run", k + 1);
        cli_json_open(&json, "varied", '[');
        for (int j = 0; taut_sweep_text(s->sweep, k, j, text, sizeof text); j++)
            if (isnan(row.varied[j]))
                cli_json_text(&json, NULL, text);
            else
                cli_json_real(&json, NULL, row.varied[j]);
        cli_json_close(&json, ']');
        cli_json_reals(&json, "kept", row.kept, s->request.keep_count);
        cli_json_text(&json, "status", status_word(row.status));
        cli_json_real(&json, "error", row.error);
        cli_json_integer(&json, "steps", row.steps);
        cli_json_integer(&json, "force_evaluations", row.force_evaluations);
        cli_json_text(&json, "message", row.message);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

/* ---- the sweep */

static int write_page(sweep *s)
{
    taut_page *page = NULL;
    FILE *summary = tmpfile();
    if (summary)
        print_human(s, summary, 0);
    int code = taut_page_create(NULL, &page, &s->error);
    if (code == 0)
        code = taut_page_sweep(page, s->model.name, s->model.system, s->sweep, &s->error);
    if (code == 0)
        code = cli_view_text(page, "command", cli_command(s->call), &s->error);
    char *text = cli_take_text(summary);
    if (code == 0)
        code = cli_view_text(page, "summary", text, &s->error);
    else
        free(text);
    if (code == 0)
        code = cli_view_files(page, s->call, &s->model, &s->error);
    if (code == 0)
        code = taut_page_write(page, s->view, &s->error);
    taut_page_destroy(page);
    return code;
}

/* What is made of a complete table. */
static int finish(sweep *s)
{
    const char *title = taut_system_title(s->model.system);
    int code = 0;
    if (s->hdf5)
        code = taut_sweep_hdf5(s->sweep, s->out, &s->error);
    if (code == 0 && s->hdf5)
        remove(s->rows);
    if (code == 0 && s->checkpoint_path)
        remove(s->checkpoint_path);
    if (code == 0 && s->plot)
        code = taut_sweep_plot(s->sweep, s->plot, title[0] ? title : s->model.name, &s->error);
    if (code == 0 && s->view)
        code = write_page(s);
    return code;
}

static int compute(sweep *s)
{
    cli_call *call = s->call;
    bool here = s->rows && strcmp(s->rows, "-") == 0, terminal = cli_terminal(stderr);
    cli_progress progress = {.bar = call->progress ||
                                    (!call->quiet && terminal && !(here && cli_terminal(stdout))),
                             .runs = true,
                             .lines = !terminal};
    if (!cli_ranks()) /* mpiexec ends all of them */
        cli_interrupt_watch();
    double begin = cli_clock();
    int code =
        taut_sweep_run(s->model.system, call->options, &s->request, NULL,
                       cli_ranks() ? NULL : cli_progress_call, &progress, &s->sweep, &s->error);
    s->seconds = cli_clock() - begin;
    cli_progress_clear(&progress);
    if (code == 0 && cli_ranks_first())
        code = finish(s);
    if (code < 0) {
        if (here)
            cli_quit_if_reader_left();
        if (strcmp(s->error.file, "<keep>") == 0)
            snprintf(s->error.file, sizeof s->error.file, "--keep");
        return cli_fail(call, &s->error, code);
    }
    int64_t rows, failed, inaccurate;
    count(s, &rows, &failed, &inaccurate);
    if (call->json)
        print_json(s, code);
    else if (!call->quiet)
        print_human(s, here ? stderr : stdout, code);
    return code == TAUT_INTERRUPTED ? CLI_INTERRUPTED : failed == rows ? CLI_FAILED : CLI_DONE;
}

/* Before the first row: model and arguments. */
static int save(sweep *s)
{
    s->checkpoint =
        (cli_checkpoint){.call = s->call, .model = &s->model, .path = s->checkpoint_path};
    if (!s->checkpoint_path || s->call->saved || !cli_ranks_first())
        return 0;
    int status = cli_checkpoint_begin(s->call, s->checkpoint_path);
    return status != 0 ? status : cli_checkpoint_call(&s->checkpoint, NULL, &s->error);
}

static int sweep_call(cli_call *call)
{
    sweep s = {.call = call, .request = {.size = sizeof s.request}, .error = {.t = NAN}};
    int status = read_request(&s);
    if (status == 0)
        status = choose_outputs(&s);
    if (status == 0)
        status = cli_model_load(call, &s.model);
    if (status == 0) {
        s.request.load = &s.model.how;
        int code = cli_measure_errors(call, &s.model, &s.error);
        status = code != 0 ? cli_fail(call, &s.error, code) : save(&s);
    }
    if (status == 0)
        status = compute(&s);
    taut_sweep_destroy(s.sweep);
    cli_model_release(&s.model);
    cli_checkpoint_release(&s.checkpoint);
    free(s.rows);
    free(s.checkpoint_path);
    return status;
}

static bool is_sweep(cli_saved *saved)
{
    char mark[sizeof CLI_SWEEP_MARK] = "";
    return cli_saved_part(saved, "run").length == sizeof mark - 1 &&
           cli_saved_read(saved, 0, mark, sizeof mark - 1) == 0 &&
           strcmp(mark, CLI_SWEEP_MARK) == 0;
}

int cli_sweep(cli_call *call)
{
    if (!taut_options_given(call->options, "resume"))
        return sweep_call(call);
    if (call->vary_count + call->keep_count > 0 || call->zip || call->random || call->seed)
        return cli_misuse(call, "--resume FILE continues with the options of the checkpoint; only "
                                "--jobs, --progress, --quiet and --json may be added");
    cli_resumed resumed;
    int status = cli_resume(call, &resumed);
    if (status == 0 && !is_sweep(&resumed.saved))
        status = cli_refuse(call,
                            "--resume: '%s' is the checkpoint of a run; 'taut run --resume' "
                            "continues it",
                            taut_options_text(call->options, "resume"));
    resumed.call.jobs = call->jobs ? call->jobs : resumed.call.jobs;
    resumed.call.progress |= call->progress;
    if (status == 0)
        status = sweep_call(&resumed.call);
    cli_resumed_release(&resumed);
    return status;
}
