/* view.c - pages that play runs or show a sweep: taut view, and --view of other verbs. */
#include <math.h>

#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_view_check(const cli_call *call, const char *path)
{
    const char *option = strcmp(call->verb->name, "view") == 0 ? "out" : "view";
    if (path && !cli_has_ending(path, ".html") && !cli_has_ending(path, ".htm"))
        return cli_refuse(call, "--%s %s: expected a name that ends in .html", option, path);
    return cli_output_check(call, option, path);
}

/* All warnings of a run, one on a line. */
static int add_warnings(taut_page *page, const cli_outcome *outcome, taut_error *error)
{
    taut_result result = {.size = sizeof result};
    const char *text;
    taut_solver_result_get(outcome->solver, &result, NULL);
    char *all =
        cli_format("%s%s", result.caution ? result.caution : "", result.caution ? "\n" : "");
    for (int k = 0; all && (text = taut_solver_warning(outcome->solver, k)) != NULL; k++) {
        char *more = cli_format("%s--%s\n", all, text);
        free(all);
        all = more;
    }
    for (int k = 0; all && (text = taut_solver_notice(outcome->solver, k)) != NULL; k++) {
        char *more = cli_format("%s%s\n", all, text);
        free(all);
        all = more;
    }
    int code = all && all[0] ? taut_page_text(page, "warnings", all, error) : 0;
    free(all);
    return code;
}

int cli_view_text(taut_page *page, const char *heading, char *text, taut_error *error)
{
    int code = text && text[0] ? taut_page_text(page, heading, text, error) : 0;
    free(text);
    return code;
}

int cli_view_files(taut_page *page, const cli_call *call, const cli_model *model, taut_error *error)
{
    enum { LARGEST = 500000 }; /* a page can be mailed */
    const char *table, *start = model->start_text;
    int code = start && start[0] ? taut_page_text(page, "start", start, error) : 0;
    for (taut_index k = 0; code == 0 && (table = taut_system_table(model->system, k)); k++) {
        size_t length = 0;
        char *text = cli_model_table(call, model, table, &length),
             *heading = cli_format("table %s", table);
        if (text && length > LARGEST) {
            free(text);
            text = cli_format("%lld bytes, which are not part of this page", (long long)length);
        }
        if (heading)
            code = cli_view_text(page, heading, text, error);
        else
            free(text);
        free(heading);
    }
    return code;
}

int cli_view_texts(taut_page *page, const cli_call *call, const cli_outcome *outcome,
                   taut_error *error)
{
    FILE *summary = tmpfile();
    if (summary)
        cli_summary_print(summary, outcome, true);
    char *text = cli_take_text(summary);
    int code = cli_view_text(page, "command", cli_command(call), error);
    if (code == 0)
        code = add_warnings(page, outcome, error);
    if (code == 0)
        code = taut_page_text(page, "explanation", taut_solver_explanation(outcome->solver), error);
    if (code == 0)
        return cli_view_text(page, "summary", text, error);
    free(text);
    return code;
}

/* ---- taut view */

/* The name of a run among several: that of its file. */
static char *name_of(const cli_call *call, const cli_model *model)
{
    const char *slash = strrchr(call->operand, '/'), *file = slash ? slash + 1 : call->operand;
    return call->operand_count < 2 ? cli_format("%s", model->name)
                                   : cli_format("%.*s", (int)(strrchr(file, '.') - file), file);
}

static int add_record(cli_call *call, taut_page *page, taut_error *error)
{
    static const char *const texts[] = {"command", "summary", "settings"};
    cli_model model = {0};
    taut_sink sink;
    call->set_count = call->init_count = 0;
    if (!cli_is_record(call->operand))
        return cli_refuse(call,
                          "%s: expected an HDF5 file of a run, FILE.h5, or the table of a sweep, "
                          "FILE.csv; 'taut run MODEL --view FILE.html' makes a page from a model",
                          call->operand);
    int status = cli_model_load(call, &model);
    char *name = status == 0 ? name_of(call, &model) : NULL;
    int code = name ? taut_page_run(page, name, &sink, error) : 0;
    for (int k = 0; name && code == 0 && k < 3; k++) {
        const char *text = taut_record_text(model.record, texts[k]);
        if (text && text[0])
            code = taut_page_text(page, texts[k], text, error);
    }
    if (name && code == 0)
        code = cli_view_files(page, call, &model, error);
    if (name && code == 0)
        code = cli_record_replay(model.record, model.system, &sink, error);
    if (code != 0)
        status = cli_fail(call, error, code);
    free(name);
    cli_model_release(&model);
    return status;
}

/* The table of a sweep. */
static int add_table(cli_call *call, taut_page *page, taut_error *error)
{
    static const size_t LARGEST = (size_t)1 << 30;
    const char *slash = strrchr(call->operand, '/'), *name = slash ? slash + 1 : call->operand,
               *why;
    size_t length;
    char *csv = cli_read_path(call->operand, LARGEST, &length, &why);
    if (!csv)
        return cli_refuse(call, "%s: %s", call->operand, why);
    int code = taut_page_table(page, name, csv, error);
    free(csv);
    return code == 0 ? 0 : cli_refuse(call, "%s: %s", call->operand, error->message);
}

int cli_view(cli_call *call)
{
    taut_error error = {.t = NAN};
    taut_page *page = NULL;
    const char *path = cli_option_text(call, "out");
    if (!call->operand || !path)
        return cli_misuse(call, !path ? "no page: give --out FILE.html"
                                      : "no runs: give FILE.h5 of 'taut run MODEL --out FILE.h5'"
                                        ", or FILE.csv of 'taut sweep'");
    int status = cli_view_check(call, path);
    int code = status == 0 ? taut_page_create(NULL, &page, &error) : 0;
    for (int k = 0; status == 0 && code == 0 && k < call->operand_count; k++) {
        call->operand = call->operands[k];
        bool table = cli_has_ending(call->operand, ".csv");
        status = (table ? add_table : add_record)(call, page, &error);
    }
    if (status == 0 && code == 0)
        code = taut_page_write(page, path, &error);
    if (code != 0)
        status = cli_fail(call, &error, code);
    if (status == 0 && call->json) {
        cli_json json = {.out = stdout};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "status", "done");
        cli_json_text(&json, "page", path);
        cli_json_close(&json, '}');
    } else if (status == 0 && !call->quiet) {
        printf("page in %s\n", path);
    }
    taut_page_destroy(page);
    return status;
}

/* ---- taut compare --view */

static int add_method(cli_call *call, const cli_model *model, const char *method, taut_page *page,
                      taut_error *error)
{
    taut_solver *solver = NULL;
    taut_sink sink;
    int code = taut_options_set(call->options, "method", method, error);
    if (code == 0)
        code = taut_solver_create(model->system, call->options, NULL, &solver, error);
    if (code == TAUT_ERROR_REFUSED) { /* the table has the reason */
        taut_solver_destroy(solver);
        return 0;
    }
    if (code == 0)
        code = taut_page_run(page, method, &sink, error);
    if (code == 0)
        code = taut_solver_run(solver, &sink, 1, NULL, NULL, error);
    cli_outcome outcome = {.model = model, .solver = solver, .code = code, .error = error};
    if (code >= 0)
        code = cli_view_texts(page, call, &outcome, error);
    if (code == 0)
        code = cli_view_files(page, call, model, error);
    taut_solver_destroy(solver);
    return code;
}

int cli_view_methods(cli_call *call, const cli_model *model, const taut_compare_request *request,
                     const char *path, taut_error *error)
{
    taut_page *page = NULL;
    int code = taut_page_create(NULL, &page, error);
    if (code == 0)
        code = taut_options_set_real(call->options, request->tolerances ? "rtol" : "step",
                                     request->values[request->value_count - 1], error);
    for (int k = 0; code == 0 && k < request->method_count; k++)
        code = add_method(call, model, request->methods[k], page, error);
    if (code == 0)
        code = taut_page_write(page, path, error);
    taut_page_destroy(page);
    return code;
}
