/* page.c - the reference page of all options, docs/options.md: `taut help --options-page` prints
 * it from the tables. */
#include <float.h>
#include <string.h>

#include "cli.h"

/* What a value may be: "number > 0", "one of a, b", "text", ... */
static void value_words(const taut_option *option, char *buffer, size_t size)
{
    char choice[64];
    size_t used = 0;
    buffer[0] = '\0';
    switch (option->type) {
    case TAUT_OPTION_FLAG: snprintf(buffer, size, "flag"); break;
    case TAUT_OPTION_TEXT: snprintf(buffer, size, "text"); break;
    case TAUT_OPTION_CHOICE:
        for (int k = 0; cli_option_choice(option, NULL, k, choice, sizeof choice) && used < size;
             k++)
            used += (size_t)snprintf(buffer + used, size - used, "%s`%s`", k ? ", " : "one of ",
                                     choice);
        break;
    case TAUT_OPTION_INTEGER:
    case TAUT_OPTION_REAL:
        used = (size_t)snprintf(buffer, size,
                                option->type == TAUT_OPTION_REAL ? "number" : "whole number");
        if (option->least == DBL_TRUE_MIN)
            used += (size_t)snprintf(buffer + used, size - used, " > 0");
        else if (option->least > -DBL_MAX)
            used += (size_t)snprintf(buffer + used, size - used, " >= %.6g", option->least);
        if (option->most < 9007199254740992.) /* 2^53: no bound that a person would meet */
            snprintf(buffer + used, size - used, ", <= %.6g", option->most);
        break;
    }
}

static void print_row(FILE *out, const taut_option *option)
{
    char usage[128], value[400];
    cli_option_usage(option, usage, sizeof usage);
    value_words(option, value, sizeof value);
    bool has_default = option->type != TAUT_OPTION_FLAG && option->value && option->value[0];
    fprintf(out, "| `%s` | %s | %s%s%s | ", usage, value, has_default ? "`" : "",
            has_default ? option->value : "", has_default ? "`" : "");
    const char *separator = "";
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        if (cli_option_belongs(option, verb->name)) {
            fprintf(out, "%s%s", separator, verb->name);
            separator = ", ";
        }
    fprintf(out, " | %s | %s |\n", option->in_model ? "yes" : "", option->help);
}

void cli_options_page(FILE *out)
{
    fprintf(out, "# Options\n\n"
                 "Made by `taut help --options-page` from the table that also gives `--help`, the "
                 "man page and the checks of values.\n"
                 "Write `--name VALUE` or `--name=VALUE`, before or after the model. Options that "
                 "may stand in a model's `[run]` section\n"
                 "are written there as `name = value`; the command line wins.\n\n");
    fprintf(
        out,
        "| option | value | default | verbs | in `[run]` | meaning |\n|---|---|---|---|---|---|\n");
    const taut_option *option;
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++)
        print_row(out, option);
    fprintf(out, "\n## Verbs\n\n| verb | meaning |\n|---|---|\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        fprintf(out, "| `taut %s%s%s` | %s |\n", verb->name, verb->operand[0] ? " " : "",
                verb->operand, verb->summary);
}
