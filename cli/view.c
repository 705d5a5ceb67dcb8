/* view.c - pages that play runs: --view of other verbs. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_view_check(const cli_call *call, const char *path)
{
    if (path && !cli_has_ending(path, ".html") && !cli_has_ending(path, ".htm"))
        return cli_refuse(call, "--view %s: expected a name that ends in .html", path);
    return cli_output_check(call, "view", path);
}

/* The command as a shell reads it, allocated. */
char *cli_command(const cli_call *call)
{
    char *text = cli_format("taut %s", call->verb->name);
    for (int k = 0; text && k < call->argument_count; k++) {
        const char *word = call->arguments[k];
        bool plain = word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-+=./,:@%") == strlen(word);
        char *more = cli_format(plain ? "%s %s" : "%s '%s'", text, word);
        free(text);
        text = more;
    }
    return text;
}

/* What a function prints, as a text of the latest run. */
static int add_printed(taut_page *page, const char *heading, const cli_outcome *outcome,
                       taut_error *error)
{
    FILE *file = tmpfile();
    size_t length;
    char *text = NULL;
    if (file) {
        cli_summary_print(file, outcome, true);
        rewind(file);
        text = cli_read_file(file, &length);
        fclose(file);
    }
    int code = text ? taut_page_text(page, heading, text, error) : 0;
    free(text);
    return code;
}

/* All warnings of a run, one on a line. */
static int add_warnings(taut_page *page, const cli_outcome *outcome, taut_error *error)
{
    taut_result result = {.size = sizeof result};
    const char *text;
    taut_solver_result_get(outcome->solver, &result, NULL);
    char *all = cli_format("%s%s", result.caution ? result.caution : "", result.caution ? "\n" : "");
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

int cli_view_texts(taut_page *page, const cli_call *call, const cli_outcome *outcome,
                   taut_error *error)
{
    char *command = cli_command(call);
    int code = command ? taut_page_text(page, "command", command, error) : 0;
    free(command);
    if (code == 0)
        code = add_warnings(page, outcome, error);
    if (code == 0 && outcome->code < 0)
        code = taut_page_text(page, "warnings", outcome->error->message, error);
    if (code == 0)
        code = taut_page_text(page, "explanation", taut_solver_explanation(outcome->solver), error);
    return code == 0 ? add_printed(page, "summary", outcome, error) : code;
}
