/* help.c - taut help: usage and options of every verb, from the tables. */
#include <string.h>

#include "cli.h"

enum { OPTION_COLUMN = 24, VERB_COLUMN = 20 };

void cli_help_version(FILE *out)
{
    fprintf(out, "taut %s\n", taut_version());
    const char *features = taut_features();
    if (features[0])
        fprintf(out, "built with: %s\n", features);
}

void cli_help_program(FILE *out)
{
    fprintf(out, "Taut computes the motion of mechanical systems that strong forces hold close to "
                 "a manifold.\n\n");
    fprintf(out, "usage: taut VERB [MODEL] [options]\n\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        char usage[64];
        snprintf(usage, sizeof usage, "%s %s", verb->name, verb->operand);
        fprintf(out, "  %-*s", VERB_COLUMN - 2, usage);
        cli_wrap(out, verb->summary, VERB_COLUMN, VERB_COLUMN, CLI_WIDTH);
    }
    fprintf(out, "\nMODEL is a file, - for standard input, or a name that 'taut models' lists.\n");
    fprintf(out, "'taut help VERB' explains a verb and its options. Examples:\n\n");
    fprintf(out, "  taut check double_pendulum\n");
    fprintf(out, "  taut run double_pendulum --out rows.csv --plot picture.png\n");
}

static void print_option(FILE *out, const taut_option *option, const char *verb)
{
    char usage[128], note[512], help[600], text[1200];
    cli_option_usage(option, usage, sizeof usage);
    cli_option_note(option, verb, note, sizeof note);
    cli_option_help(option, verb, help, sizeof help);
    snprintf(text, sizeof text, note[0] ? "%s (%s)" : "%s", help, note);
    int column = fprintf(out, "  %s", usage);
    if (column + 2 > OPTION_COLUMN) {
        fprintf(out, "\n");
        column = 0;
    }
    fprintf(out, "%*s", OPTION_COLUMN - column, "");
    cli_wrap(out, text, OPTION_COLUMN, OPTION_COLUMN, CLI_WIDTH);
}

void cli_help_verb(FILE *out, const cli_verb *verb)
{
    fprintf(out, "usage: taut %s%s%s [options]\n\n", verb->name, verb->operand[0] ? " " : "",
            verb->operand);
    cli_wrap(out, verb->detail, 0, 0, CLI_WIDTH);
    fprintf(out, "\nOptions:\n");
    const taut_option *option;
    int shared;
    taut_option_table(&shared);
    /* options of the program itself are specific to a verb: they come first, although they are
     * last in the table */
    for (int pass = 0; pass < 2; pass++)
        for (int k = pass ? 0 : shared;
             (option = cli_option_get(k)) != NULL && (!pass || k < shared); k++)
            if (cli_option_belongs(option, verb->name))
                print_option(out, option, verb->name);
}

int cli_help(cli_call *call)
{
    if (call->man)
        cli_man_page(stdout);
    else if (call->options_page)
        cli_options_page(stdout);
    else if (call->completion)
        cli_completion(stdout, call->completion);
    else if (!call->operand)
        cli_help_program(stdout);
    else if (cli_verb_find(call->operand))
        cli_help_verb(stdout, cli_verb_find(call->operand));
    else if (cli_methods_print(call->operand) == 0)
        return cli_verb_unknown(call, call->operand);
    return CLI_DONE;
}
