/* verbs.c - the tables of the program: its verbs, and the options that only it has.
 *
 * Options of the library come from taut_option_table; those below are about the program itself
 * (help, pages, names). */
#include <string.h>

#include "cli.h"

#define MODEL_TEXT                                                                                 \
    "MODEL is a file, - for standard input, or the name of a shipped model ('taut models' lists "  \
    "them); FILE.h5 of 'taut run --out FILE.h5' is the model of that run.\n"

const cli_verb cli_verbs[] = {
    {"check", "MODEL",
     "examine a model: whether it is well posed, its frequencies, and which motion suits it",
     "Examines a model at its initial state: sizes, chosen linear algebra, exact derivatives "
     "against "
     "differences, rank of the constraints, consistency of the initial state, frequencies of the "
     "stiff springs, oscillatory energy, and one line of advice.\n" MODEL_TEXT
     "Exit status: 0 usable, 1 numerically unusable, 2 wrong model or usage.",
     cli_check, true},
    {"run", "MODEL",
     "compute the motion of a model; rows of CSV go to standard output or to a file",
     "Computes the motion from the initial state of the model. Rows of CSV (time, positions, "
     "velocities, "
     "multipliers, outputs) go to standard output and the summary to standard error; with --out "
     "FILE.csv the rows go there and the summary to standard output. Ctrl-C ends the run cleanly "
     "and keeps the rows computed so far; a second one kills it. --out none writes no rows. A "
     "build "
     "with MPI (make mpi) divides large systems among processes: mpiexec -n 4 taut run MODEL "
     "--motion rigid.\n" MODEL_TEXT
     "Options in a model's [run] section are defaults; the command line overrides them.\n"
     "Exit status: 0 done, 1 numerical failure, 2 wrong model or usage, 3 finished, but the "
     "measured error is above 100 tolerances (of multipliers 1000), or the second run failed, or "
     "effective motion, chosen by "
     "Taut, met a resonance or too small a separation, 130 interrupted.",
     cli_run, true},
    {"project", "MODEL",
     "find a slow point: an initial state from which the stiff springs do not oscillate, or one on "
     "the rigid bonds",
     "Projects the initial state of a model onto the slow manifold of its springs (series, kernel, "
     "ipa), onto its bonds as if they were rigid (constraint), or, for first-order systems and "
     "black "
     "boxes, onto the slow manifold of their flow (difference); auto, the default, chooses and "
     "reports the reason. Prints the passes, the state, the multipliers and the distance moved. "
     "With "
     "--out FILE the state is written as a [start] section that --start FILE reads; with --plot "
     "FILE.png a picture shows the convergence.\n" MODEL_TEXT
     "Exit status: 0 done, 1 not converged (the initial state is kept), 2 wrong model or usage.",
     cli_project, true},
    {"spectrum", "MODEL",
     "list the stiff modes at the initial state: frequencies, energies, actions, near resonances",
     "Lists the modes of the stiff springs at the initial state of a model: frequency in rad per "
     "time, period, energy, action (energy over frequency, an adiabatic invariant), and the "
     "springs "
     "of the mode; then the separation of the frequencies, and near resonances, at which actions "
     "are "
     "exchanged. Bonds marked `soft` are slow forces.\n"
     "With --along or --until T the full motion is computed, and rows of CSV (time, frequencies, "
     "actions, gap of the closest resonance) go to standard output or to --out FILE.csv; with "
     "--along FILE.h5 they are those of a run that was written by taut run --out FILE.h5, by "
     "default of its own model.\n"
     "Of first-order models and black boxes the rates are listed at which deviations from the "
     "state "
     "decay, and the gap between slow and fast ones; with --until T along the motion, and with "
     "--plot FILE.png as a picture.\n" MODEL_TEXT
     "Exit status: 0 done, 1 numerical failure, 2 wrong model or usage.",
     cli_spectrum, false},
    {"compare", "MODEL",
     "compare methods (error against work, for several step sizes or tolerances), or motions",
     "Runs every method of --methods with every step size of --steps, or every tolerance of "
     "--tolerances, from the same initial state to the same end time, and prints error, observed "
     "order "
     "and work of each. Errors are the largest differences at the end from a reference: the method "
     "of "
     "highest order that supports the motion, with a tolerance a hundred times smaller; a second "
     "one "
     "must agree with it. For a method that does not support the model the reason is "
     "printed.\nWith --motions A,B,.., or without --methods, the motions of the model are "
     "compared, "
     "each computed as by 'taut run': the largest differences from the first one over the rows, "
     "and "
     "the work; --view FILE.html shows them together. --methods, --steps and --tolerances have at "
     "most one value then, for all motions.\n" MODEL_TEXT
     "Exit status: 0 done, 1 no reference, or no method or motion could run, 2 wrong model or "
     "usage, 3 a motion is finished, but inaccurate (taut run --help), 130 interrupted.",
     cli_compare, false},
    {"sweep", "MODEL",
     "many runs with different values: one row of a table for each, on several cores",
     "Runs a model with every combination of the values of --vary (parameters, initial values, "
     "options of a run such as rtol or method) and writes what --keep asks for of each run: one "
     "row of CSV with the varied values, the kept values, status, measured error, steps and force "
     "evaluations. A failed run is a row with its reason. Rows do not depend on the number of "
     "cores. docs/sweeps.md has the grammars.\n"
     "While rows are written to --out FILE there is also FILE.checkpoint: a sweep that was "
     "interrupted or killed is continued by --resume FILE.checkpoint.\n" MODEL_TEXT
     "Exit status: 0 done (runs that failed are rows), 1 all runs failed, 2 wrong model or usage, "
     "130 interrupted.",
     cli_sweep, true},
    {"show", "FILE.h5", "print what a file of 'taut run --out FILE.h5' holds",
     "Prints what an HDF5 file of a run holds: the command, the version, the result, rows, names, "
     "events, texts; also of a run that was interrupted, killed, or has not ended yet. --text NAME "
     "prints one of the texts: the model, its settings, the summary (the object of --json). Such a "
     "file is a MODEL for every verb: 'taut run FILE.h5' repeats the run, with other options where "
     "they are given; --start FILE.h5@T begins another run at the row nearest to time T.\n"
     "Exit status: 0 done, 2 it cannot be read, or wrong usage.",
     cli_show, false},
    {"view", "FILE ..", "make a page that plays runs, with plots, or shows a sweep",
     "Writes a page, one HTML file that a browser opens from the file system, without a network: "
     "it "
     "plays the runs of HDF5 files ('taut run MODEL --out FILE.h5'), shows several of them "
     "together with their differences, and has plots that follow the time. 'taut run MODEL --view "
     "FILE.html' makes such a page of a run at once. Of the table of a sweep ('taut sweep MODEL "
     "--out FILE.csv', or at once '--view FILE.html') it shows curves, maps and the rows.\n"
     "Exit status: 0 done, 1 the page cannot be written, 2 a file cannot be read, or wrong usage.",
     cli_view, false},
    {"reproduce", "[NAME]",
     "compute a table or figure of a paper and compare it with the printed numbers",
     "Computes a published table or figure, and prints each number with the printed number and a "
     "verdict: equal to the printed digits, within a stated range, explained (a known misprint, a "
     "truncation), or unexplained. Without NAME lists what can be computed, with --list every "
     "table and "
     "figure of the papers with its state; 'all' computes all of them. With --out DIR the tables, "
     "pictures where gnuplot is available, and a page with everything (NAME.html, of all "
     "index.html) "
     "are written to that "
     "folder. Printed numbers are read from the folder $TAUT_REPRODUCE, or from "
     "../share/taut/reproduce or ../reproduce relative to the folder of the program.\n"
     "Exit status: 0 everything is equal, within its range or explained, 1 something is "
     "unexplained or cannot be computed, 2 wrong usage.",
     cli_reproduce, false},
    {"methods", "", "list the methods",
     "Lists the methods of 'taut run' (name, motion, order, description, reference) and the "
     "projections of 'taut project'.",
     cli_methods, false},
    {"models", "[MODEL]", "list the shipped models, or describe one",
     "Lists the shipped models: name and title; or prints the description of one. They are read "
     "from "
     "the folders $TAUT_MODELS, ../share/taut/models and ../models relative to the folder of the "
     "program.",
     cli_models, false},
    {"help", "[VERB]",
     "explain a verb; print the man page, completion scripts, the page of options",
     "Explains the program, one of its verbs, or a method: 'taut help radau5'.", cli_help, false},
    {NULL, NULL, NULL, NULL, NULL, false},
};

static const taut_option own_options[] = {
    {"names", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "models", false, false,
     "print the names only, one on a line"},
    {"methods", TAUT_OPTION_TEXT, "", 0, 0, "", "A,B,..", "compare", false, false,
     "the methods to compare, separated by commas"},
    {"motions", TAUT_OPTION_TEXT, "", 0, 0, "", "A,B,..", "compare", false, false,
     "the motions to compare, separated by commas; the first one is what the others are compared "
     "with; default without --methods: full,slow,rigid"},
    {"steps", TAUT_OPTION_TEXT, "", 0, 0, "", "H1,H2,..", "compare", false, false,
     "compare: fixed step sizes, separated by commas; A..B: A, A/2, A/4, .. down to B"},
    {"tolerances", TAUT_OPTION_TEXT, "", 0, 0, "", "R1,R2,..", "compare", false, false,
     "compare: adaptive step size with these relative tolerances (the absolute tolerance is a "
     "thousandth); A..B: A, A/10, A/100, .. down to B"},
    {"tols", TAUT_OPTION_TEXT, "", 0, 0, "", "R1,R2,..", "compare", false, false,
     "the same as --tolerances"},
    {"vary", TAUT_OPTION_TEXT, "", 0, 0, "", "NAME=VALUES", "sweep", true, false,
     "vary a parameter, an initial value or an option of runs: numbers or words separated by "
     "commas, ranges FROM:TO:COUNT and FROM:TO:logCOUNT; may be repeated"},
    {"keep", TAUT_OPTION_TEXT, "", 0, 0, "", "EXPRESSION", "sweep", true, false,
     "keep a value of each run: start, end, min, max, mean, rms, argmin, argmax of an expression, "
     "count(EVENT), and arithmetic with them; may be repeated"},
    {"zip", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "sweep", false, false,
     "first values together, second values together, and so on, instead of all combinations"},
    {"random", TAUT_OPTION_INTEGER, "", 1, 1e7, "", "N", "sweep", false, false,
     "N runs with values drawn at random from the lists and ranges of --vary"},
    {"seed", TAUT_OPTION_INTEGER, "1", 0, 9007199254740992., "", "S", "sweep", false, false,
     "of --random: the same seed draws the same values"},
    {"jobs", TAUT_OPTION_INTEGER, "", 1, 1024, "", "N", "sweep", false, false,
     "runs at the same time; default: one for each core"},
    {"progress", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "sweep", false, false,
     "print the progress on standard error, also where that is no terminal"},
    {"text", TAUT_OPTION_TEXT, "", 0, 0, "", "NAME", "show", false, false,
     "print a text of the file alone: model, command, settings, summary, version, ..."},
    {"man", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "help", false, false,
     "print the man page (roff)"},
    {"completion", TAUT_OPTION_CHOICE, "", 0, 0, "bash|zsh|fish", "SHELL", "help", false, false,
     "print the completion script of a shell"},
    {"options-page", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "help", false, false,
     "print the reference page of all options (markdown)"},
};

/* Planned: they get their own message instead of a suggestion. */
static const char *const later_options[] = {"outer-step"};

/* Words of other programs, and the command of Taut. */
static const struct {
    const char *word, *instead;
} other_words[] = {{"version", "taut --version"},
                   {"completion", "taut help --completion bash"},
                   {"man", "taut help --man"},
                   {"options", "taut help VERB"},
                   {"list", "taut models"},
                   {"simulate", "taut run MODEL"},
                   {"integrate", "taut run MODEL"},
                   {"solve", "taut run MODEL"},
                   {"plot", "taut run MODEL --plot FILE.png"},
                   {"modes", "taut spectrum MODEL"},
                   {"animate", "taut run MODEL --view FILE.html"},
                   {"validate", "taut check MODEL"}};

static const struct {
    char letter;
    const char *name;
} letters[] = {{'h', "help"}, {'j', "jobs"}, {'q', "quiet"}, {'v', "verbose"}};

enum {
    OWN_OPTIONS = sizeof own_options / sizeof own_options[0],
    LATER_OPTIONS = sizeof later_options / sizeof later_options[0],
    OTHER_WORDS = sizeof other_words / sizeof other_words[0],
    LETTERS = sizeof letters / sizeof letters[0]
};

const cli_verb *cli_verb_find(const char *name)
{
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

/* Reports an unknown verb, with the nearest one. */
int cli_verb_unknown(const cli_call *call, const char *name)
{
    const char *names[16];
    /* without a verb: the hint is the list of verbs */
    cli_call about = {.json = call && call->json};
    int count = 0;
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        names[count++] = verb->name;
    for (int k = 0; k < OTHER_WORDS; k++)
        if (strcmp(other_words[k].word, name) == 0)
            return cli_misuse(&about, "unknown verb '%s': write '%s'", name,
                              other_words[k].instead);
    const char *near = taut_near_miss(name, names, count);
    if (near)
        return cli_misuse(&about, "unknown verb '%s'; did you mean 'taut %s'?", name, near);
    if (cli_has_ending(name, ".taut"))
        return cli_misuse(&about, "'%s' is a model, expected a verb before it: 'taut run %s'", name,
                          name);
    return cli_misuse(&about, "unknown verb '%s'", name);
}

static bool listed(const char *name, const char *const *list, int count)
{
    for (int k = 0; k < count; k++)
        if (strcmp(list[k], name) == 0)
            return true;
    return false;
}

bool cli_option_is_later(const char *name)
{
    return listed(name, later_options, LATER_OPTIONS);
}

const taut_option *cli_option_get(int k)
{
    int count;
    const taut_option *table = taut_option_table(&count);
    if (k < count)
        return &table[k];
    return k - count < OWN_OPTIONS ? &own_options[k - count] : NULL;
}

const taut_option *cli_option_find(const char *name, const char *verb)
{
    const taut_option *option, *found = NULL;
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++) {
        if (strcmp(option->name, name) != 0)
            continue;
        if (cli_option_belongs(option, verb))
            return option;
        found = found ? found : option;
    }
    return found;
}

bool cli_option_belongs(const taut_option *option, const char *verb)
{
    /* the verb `help` is the program's own: the library's table does not contain it */
    if (strcmp(verb, "help") == 0 &&
        (strcmp(option->name, "help") == 0 || strcmp(option->name, "version") == 0))
        return true;
    /* a sweep has the options of its runs: those that may stand in [run] */
    if (strcmp(verb, "sweep") == 0 && option->in_model && cli_option_belongs(option, "run"))
        return true;
    size_t length = strlen(verb);
    for (const char *p = option->verbs; (p = strstr(p, verb)) != NULL; p += length)
        if ((p == option->verbs || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

char cli_option_letter(const char *name)
{
    for (int k = 0; k < LETTERS; k++)
        if (strcmp(letters[k].name, name) == 0)
            return letters[k].letter;
    return 0;
}

const char *cli_option_of_letter(char letter)
{
    for (int k = 0; k < LETTERS; k++)
        if (letters[k].letter == letter)
            return letters[k].name;
    return NULL;
}

/* The k-th name of a method; `verb` NULL: methods of runs, then projections. */
static const char *method_name(const char *verb, int k)
{
    taut_method_info info = {.size = sizeof info};
    taut_projection_info projection = {.size = sizeof projection};
    bool project = verb && strcmp(verb, "project") == 0;
    if (!project && taut_method_get(k, &info, NULL) == 0)
        return info.name;
    k -= project ? 0 : taut_method_count();
    return (project || !verb) && taut_projection_get(k, &projection, NULL) == 0 ? projection.name
                                                                                : "";
}

bool cli_option_choice(const taut_option *option, const char *verb, int k, char *buffer,
                       size_t size)
{
    if (strcmp(option->name, "method") == 0) {
        snprintf(buffer, size, "%s", method_name(verb, k));
        return buffer[0] != '\0';
    }
    const char *choice = option->choices ? option->choices : "";
    for (; k > 0 && *choice; k--) {
        choice += strcspn(choice, "|");
        choice += *choice == '|';
    }
    snprintf(buffer, size, "%.*s", (int)strcspn(choice, "|"), choice);
    return buffer[0] != '\0';
}

/* Is `text` the beginning of a clause "verb: words"? *length is that of "verb: ". */
static bool begins_clause(const char *text, const char *verb, size_t *length)
{
    *length = strlen(verb) + 2;
    return strncmp(text, verb, *length - 2) == 0 && strncmp(text + *length - 2, ": ", 2) == 0;
}

/* The next "; verb: " of any verb at or after `text`, or the end of the text. */
static const char *clause_end(const char *text)
{
    size_t length;
    for (const char *p = strstr(text, "; "); p; p = strstr(p + 2, "; "))
        for (const cli_verb *verb = cli_verbs; verb->name; verb++)
            if (begins_clause(p + 2, verb->name, &length))
                return p;
    return text + strlen(text);
}

void cli_option_help(const taut_option *option, const char *verb, char *buffer, size_t size)
{
    const char *chosen = option->help;
    for (const char *clause = option->help;;) {
        size_t length;
        const char *end = clause_end(clause);
        if (begins_clause(clause, verb, &length))
            chosen = clause + length;
        if (*end == '\0')
            break;
        clause = end + 2;
    }
    snprintf(buffer, size, "%.*s", (int)(clause_end(chosen) - chosen), chosen);
}

const char *cli_option_optional(const taut_option *option)
{
    bool flag = option->type == TAUT_OPTION_FLAG;
    return !flag ? "" : option->choices[0] ? option->choices : option->argument;
}

void cli_option_usage(const taut_option *option, char *buffer, size_t size)
{
    bool takes = option->type != TAUT_OPTION_FLAG;
    const char *argument = option->argument && option->argument[0] ? option->argument : "VALUE";
    char letter = cli_option_letter(option->name);
    char lead[8] = "";
    if (letter)
        snprintf(lead, sizeof lead, "-%c, ", letter);
    const char *optional = takes ? "" : cli_option_optional(option);
    snprintf(buffer, size, "%s--%s%s%s%s", lead, option->name,
             takes         ? " "
             : optional[0] ? "[="
                           : "",
             takes ? argument : optional, optional[0] ? "]" : "");
}

/* True when the help text names all choices already. */
static bool names_choices(const taut_option *option, const char *verb)
{
    char choice[64];
    for (int k = 0; cli_option_choice(option, verb, k, choice, sizeof choice); k++)
        if (!strstr(option->help, choice))
            return false;
    return true;
}

void cli_option_note(const taut_option *option, const char *verb, char *buffer, size_t size)
{
    size_t used = 0;
    char choice[64];
    const char *lead =
        cli_option_choice(option, verb, 1, choice, sizeof choice) ? "one of " : "available: ";
    buffer[0] = '\0';
    for (int k = 0; !names_choices(option, verb) &&
                    cli_option_choice(option, verb, k, choice, sizeof choice) && used < size;
         k++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", k ? ", " : lead, choice);
    bool stated = strstr(option->help, "default: ") != NULL; /* in the text */
    if (option->type != TAUT_OPTION_FLAG && option->value && option->value[0] && !stated &&
        used < size)
        snprintf(buffer + used, size - used, "%sdefault %s", used ? "; " : "", option->value);
}
