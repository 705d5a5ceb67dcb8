/* run.c - taut run: from a model to its motion, as rows, as a picture and as a page. */
#include <math.h>
#include <string.h>

#include "checkpoint.h"

typedef struct run {
    cli_call *call;
    cli_model model;
    taut_solver *solver;
    const char *out, *plot, *view; /* NULL: not wanted; "-" is standard output */
    const char *end;               /* file of the final state, or NULL */
    cli_checkpoint checkpoint;
    bool hdf5; /* the rows go to an HDF5 file */
    taut_file_sink *file[2];
    taut_sink sink[3]; /* those of files, then that of the page */
    int sinks;
    taut_page *page;
    taut_error error;
} run;

/* A failure before anything was computed: printed, as an object too. */
static int fail(const run *r, int code)
{
    cli_say_failure(&r->error);
    if (r->call->json)
        cli_json_failure(&r->error);
    return code == TAUT_ERROR_FILE ? CLI_MISUSED : cli_exit_status(code);
}

/* Where the rows and the picture go; endings that this version cannot write are refused before
 * the computation. */
static int choose_outputs(run *r)
{
    cli_call *call = r->call;
    r->out = cli_option_text(call, "out");
    r->plot = cli_option_text(call, "plot");
    r->view = cli_option_text(call, "view");
    if (!r->out && !call->json && !r->view)
        r->out = "-";
    if (r->out && strcmp(r->out, "none") == 0)
        r->out = NULL;
    if (cli_ranks() && (r->plot || r->view))
        return cli_refuse(call,
                          "--%s cannot be combined with several processes: write the rows "
                          "with --out FILE.h5 and draw them with 'taut view'",
                          r->plot ? "plot" : "view");
    if (r->out && call->json && strcmp(r->out, "-") == 0)
        return cli_refuse(
            call, "--out -: standard output belongs to the object of --json; give the rows a file");
    const char *slash = r->out ? strrchr(r->out, '/') : NULL;
    const char *name = slash ? slash + 1 : r->out;
    r->hdf5 = name && (cli_has_ending(name, ".h5") || cli_has_ending(name, ".hdf5"));
    /* a name without an ending is a device or a pipe */
    if (name && strchr(name, '.') && !r->hdf5 && !cli_has_ending(name, ".csv"))
        return cli_refuse(call, "--out %s: expected a name that ends in .csv, or in .h5", r->out);
    r->end = cli_option_text(call, "end");
    if (r->end && strcmp(r->end, "-") == 0)
        return cli_refuse(call, "--end -: standard output has the rows or the summary; give the "
                                "final state a file");
    if (!r->checkpoint.path)
        r->checkpoint.path = cli_option_text(call, "checkpoint");
    if (r->view && r->checkpoint.path)
        return cli_refuse(call, "--view cannot be combined with --checkpoint: write the rows with "
                                "--out FILE.h5 and make the page from them with 'taut view'");
    int status = cli_output_check(call, "out", r->out);
    status = status != 0 ? status : cli_picture_check(call, r->plot);
    status = status != 0 ? status : cli_view_check(call, r->view);
    status = status != 0 ? status : cli_output_check(call, "end", r->end);
    return status != 0 ? status : cli_checkpoint_check(call, r->checkpoint.path, r->out);
}

/* Of several processes the first one has the rows. */
static int no_row(void *user, const taut_row *row, taut_error *error)
{
    (void)user, (void)row, (void)error;
    return 0;
}

static int open_sinks(run *r)
{
    int code = 0;
    if (!cli_ranks_first()) {
        if (r->out)
            r->sink[r->sinks++] = (taut_sink){.row = no_row};
        return 0;
    }
    if (r->out) {
        code = r->hdf5 ? taut_hdf5_create(r->out, &r->file[r->sinks], &r->sink[r->sinks], &r->error)
                       : taut_csv_create(r->out, &r->file[r->sinks], &r->sink[r->sinks], &r->error);
        r->sinks += code == 0;
        if (code == 0 && r->hdf5)
            code = cli_record_begin(r->call, &r->model, r->solver, r->file[0], &r->error);
    }
    if (code == 0 && r->plot) {
        const char *title = taut_system_title(r->model.system);
        code = taut_picture_create(r->plot, title[0] ? title : r->model.name, &r->file[r->sinks],
                                   &r->sink[r->sinks], &r->error);
        r->sinks += code == 0;
    }
    if (code == 0 && r->view)
        code = taut_page_create(NULL, &r->page, &r->error);
    if (code == 0 && r->view)
        code = taut_page_run(r->page, r->model.name, &r->sink[r->sinks], &r->error);
    return code;
}

static int open_outputs(run *r)
{
    int code = open_sinks(r);
    cli_checkpoint *c = &r->checkpoint;
    c->call = r->call;
    c->model = &r->model;
    c->file = r->file;
    c->files = cli_ranks_first() ? r->sinks : 0;
    if (code == 0 && r->call->saved)
        code = cli_resume_solver(r->call->saved, r->solver, r->file, c->files, &r->error);
    if (code == 0 && c->path)
        code = taut_solver_checkpoint(r->solver,
                                      taut_options_real(r->call->options, "checkpoint-every"),
                                      cli_checkpoint_call, c, &r->error);
    return code == 0 ? 0 : fail(r, code);
}

/* The state at the end, also of a run that was interrupted. */
static int write_end(run *r)
{
    char title[400];
    const taut_system *system;
    const double *q, *v;
    int code = taut_solver_gather(r->solver, &system, &q, &v, &r->error);
    if (code != 0)
        return fail(r, code);
    if (!cli_ranks_first())
        return 0;
    double t = taut_solver_time(r->solver);
    snprintf(title, sizeof title, "%.200s at t = %.17g: --start FILE --from %.17g begins here",
             r->model.name, t, t);
    return cli_start_write(r->end, "end", title, system, q, v, &r->error);
}

static void close_outputs(run *r)
{
    for (int k = 0; k < r->sinks; k++)
        taut_file_sink_destroy(r->file[k]);
    r->sinks = 0;
}

/* Of a run that failed the page shows what there is. */
static int write_page(run *r, const cli_outcome *outcome)
{
    taut_error error = {.t = NAN};
    int code = cli_view_texts(r->page, r->call, outcome, &error);
    if (code == 0)
        code = cli_view_files(r->page, r->call, &r->model, &error);
    if (code == 0)
        code = taut_page_write(r->page, r->view, &error);
    if (code != 0)
        cli_say_failure(&error);
    return code == 0 ? 0 : CLI_FAILED;
}

/* CSV and HDF5 have t and all numbers of a state. */
static void warn_of_rows(const run *r)
{
    enum { CSV_BYTES = 22, HDF5_BYTES = 8 };
    taut_sizes z = {.size = sizeof z};
    taut_system_sizes_get(r->model.system, &z, NULL);
    double columns = 1 + 2. * z.coordinates + z.bonds + z.algebraic + z.outputs,
           bytes = columns * (r->hdf5 ? HDF5_BYTES : CSV_BYTES);
    if (!r->call->quiet)
        cli_output_warn(r->solver, r->out, r->out ? bytes : 0);
}

/* Integrates and reports. The summary keeps out of the way of the rows: on standard error when
 * those are on standard output. */
static int compute(run *r)
{
    const cli_call *call = r->call;
    bool rows_here = r->out && strcmp(r->out, "-") == 0;
    FILE *report = rows_here ? stderr : stdout;
    bool silent = call->quiet || call->json;
    for (int k = 0; !call->quiet && taut_solver_warning(r->solver, k); k++)
        cli_warning("--%s", taut_solver_warning(r->solver, k));
    int known = 0;
    for (; !call->quiet && taut_solver_notice(r->solver, known); known++)
        cli_warning("%s", taut_solver_notice(r->solver, known));
    warn_of_rows(r);
    if (!silent) {
        cli_wrap(report, taut_solver_explanation(r->solver), 2, 0, CLI_WIDTH);
        fflush(report);
    }
    cli_progress progress = {.bar = !call->quiet && cli_terminal(stderr) &&
                                    !(rows_here && cli_terminal(stdout))};
    if (!cli_ranks()) /* mpiexec ends all of them */
        cli_interrupt_watch();
    size_t explained = strlen(taut_solver_explanation(r->solver));
    double begin = cli_clock();
    int code = taut_solver_run(r->solver, r->sink, r->sinks + (r->page != NULL),
                               cli_ranks() ? NULL : cli_progress_call, &progress, &r->error);
    taut_error failure = {.t = NAN};
    cli_outcome outcome = {
        .model = &r->model, .solver = r->solver, .code = code, .error = &r->error};
    outcome.seconds = cli_clock() - begin;
    /* the rows cannot be written */
    bool lost = code == TAUT_ERROR_FILE && r->out && strstr(r->error.message, r->out);
    outcome.out = lost                                ? NULL
                  : !rows_here                        ? r->out
                  : cli_terminal(stdout) && code >= 0 ? "standard output; --out FILE.csv keeps them"
                                                      : NULL;
    outcome.plot = code < 0 ? NULL : r->plot;
    cli_progress_clear(&progress);
    int kept = r->hdf5 && !lost && cli_ranks_first()
                   ? cli_record_summary(r->file[0], &outcome, &failure)
                   : 0;
    if (kept != 0)
        cli_error("the summary is not in %s: %s", r->out, failure.message);
    close_outputs(r);
    int page = r->page ? write_page(r, &outcome) : 0;
    outcome.view = r->page && page == 0 ? r->view : NULL;
    for (int k = known; !call->quiet && taut_solver_notice(r->solver, k); k++)
        cli_warning("%s", taut_solver_notice(r->solver, k));
    if (code < 0) {
        if (rows_here)
            cli_quit_if_reader_left();
        cli_say_failure(&r->error);
    }
    /* a switch of the method, and what became of a second run */
    if (!silent && strlen(taut_solver_explanation(r->solver)) > explained + 2)
        cli_wrap(report, taut_solver_explanation(r->solver) + explained + 2, 2, 0, CLI_WIDTH);
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(r->solver, &result, NULL);
    if (result.caution && !call->quiet)
        cli_warning("%s", result.caution);
    if (call->json)
        cli_summary_json(stdout, &outcome);
    else if (!silent)
        cli_summary_print(report, &outcome, call->verbose);
    int written = r->end && code >= 0 ? write_end(r) : 0, status = cli_exit_status(code);
    written = written != 0 ? written : page;
    bool warned = result.caution || taut_solver_notice(r->solver, 0);
    if (written == 0 && kept != 0)
        written = CLI_FAILED;
    return written != 0 ? written : status == 0 && call->strict && warned ? 1 : status;
}

int cli_measure_errors(cli_call *call, const cli_model *model, taut_error *error)
{
    const char *name, *value;
    taut_index k = 0;
    while (taut_system_setting(model->system, k, &name, &value) && strcmp(name, "verify") != 0)
        k++;
    bool decided = taut_options_given(call->options, "verify") ||
                   taut_system_setting(model->system, k, &name, &value);
    return decided ? 0 : taut_options_set(call->options, "verify", "auto", error);
}

/* Large systems have all processors: results do not depend on their number. */
static int share_large(run *r)
{
    enum { LARGE = 20000 }; /* coordinates of a chain from which two threads gain a third */
    taut_sizes sizes = {.size = sizeof sizes};
    char threads[24];
    taut_system_sizes_get(r->model.system, &sizes, NULL);
    if (taut_options_given(r->call->options, "threads") || sizes.coordinates < LARGE ||
        cli_ranks()) /* a process for each core */
        return 0;
    snprintf(threads, sizeof threads, "%d", cli_cores());
    return taut_options_set(r->call->options, "threads", threads, &r->error);
}

/* The decision stands among the arguments, and so in checkpoints: a resumed run does the same. */
static int compile_where_it_pays(run *r)
{
    static char yes[] = "--compile=yes", no[] = "--compile=no";
    bool compiled;
    cli_call *call = r->call;
    if (strcmp(taut_options_text(call->options, "compile"), "auto") != 0)
        return 0;
    int code = taut_system_compile(r->model.system, call->options, &compiled, &r->error);
    for (int k = 0; k < call->argument_count; k++)
        if (strcmp(call->arguments[k], "--compile=auto") == 0)
            call->arguments[k] = compiled ? yes : no;
    return code;
}

static int run_call(cli_call *call, const char *checkpoint)
{
    run r = {.call = call, .checkpoint.path = checkpoint, .error = {.t = NAN}};
    int status = choose_outputs(&r);
    if (status == 0)
        status = cli_model_load(call, &r.model);
    if (status == 0) {
        int code = cli_measure_errors(call, &r.model, &r.error);
        if (code == 0)
            code = compile_where_it_pays(&r);
        if (code == 0)
            code = share_large(&r);
        if (code == 0)
            code = taut_solver_create(r.model.system, call->options, NULL, &r.solver, &r.error);
        if (code != 0)
            status = fail(&r, code);
    }
    if (status == 0 && !call->saved)
        status = cli_checkpoint_begin(call, r.checkpoint.path);
    if (status == 0)
        status = open_outputs(&r);
    if (status == 0)
        status = compute(&r);
    close_outputs(&r);
    taut_page_destroy(r.page);
    taut_solver_destroy(r.solver);
    cli_model_release(&r.model);
    cli_checkpoint_release(&r.checkpoint);
    return status;
}

int cli_run(cli_call *call)
{
    if (!taut_options_given(call->options, "resume"))
        return run_call(call, NULL);
    cli_resumed resumed;
    int status = cli_resume(call, &resumed);
    if (status == 0)
        status = run_call(&resumed.call, resumed.path);
    cli_resumed_release(&resumed);
    return status;
}
