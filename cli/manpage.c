/* manpage.c - the man page taut(1), from the tables: `taut help --man`. */
#include <string.h>

#include "cli.h"

/* Text with roff's own characters made harmless; `words` in back quotes become bold. */
static void put(FILE *out, const char *text)
{
    bool line_start = true, bold = false;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        line_start = *text == '\n';
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", out);
        } else if (*text == '-') {
            fputs("\\-", out);
        } else if (*text == '\\') {
            fputs("\\e", out);
        } else if (*text == '\n') {
            fputs("\n.PP\n", out);
        } else if (*text == '\'') {
            fputs("\\(aq", out);
        } else {
            fputc(*text, out);
        }
    }
}

static void put_section(FILE *out, const char *title)
{
    fprintf(out, ".SH %s\n", title);
}

static void put_synopsis(FILE *out)
{
    put_section(out, "SYNOPSIS");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        fprintf(out, "%s.B taut %s\n", verb == cli_verbs ? "" : ".br\n", verb->name);
        if (verb->operand[0])
            fprintf(out, ".I %s\n", verb->operand);
        fprintf(out, "[\\fIoptions\\fR]\n");
    }
    fprintf(out, ".br\n.B taut\n[\\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR]\n");
}

static void put_verbs(FILE *out)
{
    put_section(out, "VERBS");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        fprintf(out, ".SS taut %s %s\n", verb->name, verb->operand);
        put(out, verb->detail);
        fprintf(out, "\n.PP\nOptions:");
        const taut_option *option;
        const char *separator = " ";
        for (int k = 0; (option = cli_option_get(k)) != NULL; k++)
            if (cli_option_belongs(option, verb->name)) {
                fprintf(out, "%s\\fB\\-\\-", separator);
                put(out, option->name);
                fprintf(out, "\\fR");
                separator = ",\n";
            }
        fprintf(out, ".\n");
    }
}

static void put_options(FILE *out)
{
    put_section(out, "OPTIONS");
    fprintf(
        out,
        "Values follow as \\fB\\-\\-name\\fR \\fIVALUE\\fR or \\fB\\-\\-name=\\fR\\fIVALUE\\fR; "
        "options are written before or after the model;\n\\fB\\-\\-\\fR ends them.\n");
    const taut_option *option;
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++) {
        char letter = cli_option_letter(option->name), note[512];
        fprintf(out, ".TP\n");
        if (letter)
            fprintf(out, "\\fB\\-%c\\fR, ", letter);
        fprintf(out, "\\fB\\-\\-");
        put(out, option->name);
        fprintf(out, "\\fR");
        if (option->type != TAUT_OPTION_FLAG)
            fprintf(out, " \\fI%s\\fR", option->argument);
        else if (cli_option_optional(option)[0])
            fprintf(out, "[=\\fI%s\\fR]", cli_option_optional(option));
        fprintf(out, "\n");
        put(out, option->help);
        cli_option_note(option, NULL, note, sizeof note);
        if (note[0]) {
            fprintf(out, " (");
            put(out, note);
            fprintf(out, ")");
        }
        fprintf(out, ".\n");
    }
}

static void put_methods(FILE *out)
{
    taut_method_info info = {.size = sizeof info};
    put_section(out, "METHODS");
    for (int k = 0; taut_method_get(k, &info, NULL) == 0; k++) {
        fprintf(out, ".TP\n.B %s\nMotion %s, order %d. ", info.name, info.motions, info.order);
        put(out, info.summary);
        if (info.reference && info.reference[0]) {
            fprintf(out, "\n");
            put(out, info.reference);
        }
        fprintf(out, "\n");
    }
}

static void put_projections(FILE *out)
{
    taut_projection_info info = {.size = sizeof info};
    put_section(out, "PROJECTIONS");
    for (int k = 0; taut_projection_get(k, &info, NULL) == 0; k++) {
        fprintf(out, ".TP\n.B %s\n", info.name);
        put(out, info.summary);
        fprintf(out, "\n");
        put(out, info.reference);
        fprintf(out, "\n");
    }
}

/* Sections that no table holds. */
static const struct {
    const char *title;
    const char *row[5][2];
} closing[] = {
    {"EXIT STATUS",
     {{"0", "Done (an event that stops a run, or a limit of steps, included); for `taut check`: "
            "usable."},
      {"1", "Numerical failure, or output that cannot be written; for `taut check`: numerically "
            "unusable."},
      {"2", "Wrong usage or a wrong model."},
      {"130", "Interrupted by Ctrl-C; the rows computed so far are written."}}},
    {"ENVIRONMENT",
     {{"TAUT_MODELS", "A folder that is searched for models before the shipped ones."},
      {"TAUT_REPRODUCE", "The folder of the printed numbers that `taut reproduce` compares with."},
      {"TMPDIR", "Folder for temporary files of pictures; default /tmp."},
      {"NO_COLOR",
       "When set and not empty, messages have no colours. Without a terminal they never have."},
      {"XDG_CACHE_HOME", "Where compiled expressions (--compile) are kept, in a folder private to "
                         "the user; default ~/.cache."}}},
    {"FILES",
     {{"share/taut/models/*.taut",
       "The shipped models, relative to the parent of the folder of the program."}}},
    {"EXAMPLES",
     {{"taut check double_pendulum --set lift=0",
       "Check whether the model is well posed, and list its frequencies."},
      {"taut run double_pendulum --set omega=100 --motion full --method verlet --step 1e-3 --out "
       "a.csv --plot a.png",
       "The full motion of the stiff double pendulum, as rows and as a picture."},
      {"taut run - --json < model.taut",
       "A model from standard input; the result as one JSON object."}}},
};

void cli_man_page(FILE *out)
{
    fprintf(out, ".TH TAUT 1 \"\" \"Taut %s\" \"User Commands\"\n", taut_version());
    put_section(out, "NAME");
    fprintf(out,
            "taut \\- motion of mechanical systems held close to a manifold by strong forces\n");
    put_synopsis(out);
    put_section(out, "DESCRIPTION");
    put(out, "Taut reads models of mechanical systems as text files: coordinates or particles, "
             "masses, forces, and bonds, which are stiff springs or rigid. It checks them and "
             "computes their motion.\n"
             "MODEL is a file, - for standard input, or the name of a shipped model.");
    fprintf(out, "\n");
    put_verbs(out);
    put_options(out);
    put_methods(out);
    put_projections(out);
    for (size_t k = 0; k < sizeof closing / sizeof closing[0]; k++) {
        put_section(out, closing[k].title);
        for (int row = 0; row < 5 && closing[k].row[row][0]; row++) {
            fprintf(out, ".TP\n\\fB");
            put(out, closing[k].row[row][0]);
            fprintf(out, "\\fR\n");
            put(out, closing[k].row[row][1]);
            fprintf(out, "\n");
        }
    }
}
