/* options.c - the one table of options: defaults, validation, flags, --help and the reference
 * page all read it. */
#include "base/options.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "base/number.h"

#define EVERY_VERB "run check project spectrum compare sweep view show reproduce methods models"
#define POSITIVE DBL_TRUE_MIN, DBL_MAX
#define ANY_REAL -DBL_MAX, DBL_MAX
#define INTO_PICTURE "into FILE.png or FILE.svg (needs gnuplot)"

static const taut_option table[] = {
    /* name, type, default, least, most, choices, argument, verbs, repeats, in [run], help */
    {"set", TAUT_OPTION_TEXT, "", 0, 0, "", "P=V", "run check project spectrum compare sweep", true,
     false, "give parameter P the value V; may be repeated"},
    {"init", TAUT_OPTION_TEXT, "", 0, 0, "", "X=V", "run check project spectrum compare sweep",
     true, false, "give coordinate X (or velocity X') the initial value V; may be repeated"},
    {"start", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE", "run check project spectrum compare sweep",
     false, false,
     "override the model's initial values by those in FILE, a [start] section, or by the last row "
     "of FILE.h5; FILE.h5@T: by the row nearest to time T, which is the initial time"},
    {"motion", TAUT_OPTION_CHOICE, "", 0, 0, "rigid|slow|effective|full", "NAME", "run compare",
     false, true, "which motion: rigid, slow, effective or full"},
    {"method", TAUT_OPTION_TEXT, "", 0, 0, "", "NAME", "run project spectrum", false, true,
     "which method; `taut methods` lists them; project: which projection; default: auto"},
    {"step", TAUT_OPTION_REAL, "", POSITIVE, "", "H", "run spectrum", false, true,
     "fixed step size; default: adaptive step size, 1/30 of the shortest period of the springs, or "
     "in impulse methods from the slow rate"},
    {"rtol", TAUT_OPTION_REAL, "1e-6", 1e-15, 1, "", "R", "run", false, true,
     "relative tolerance of one step, for adaptive step size"},
    {"atol", TAUT_OPTION_REAL, "", POSITIVE, "", "A", "run", false, true,
     "absolute tolerance of one step, in the unit of the coordinates; default: 1e-3 rtol times the "
     "size of the coordinates; first order: of each variable"},
    {"verify", TAUT_OPTION_CHOICE, "never", 0, 0, "never|auto|always", "WHEN", "run", false, true,
     "a second run with a tenth of the tolerance, whose difference is the measured error: auto: "
     "where it is affordable, about 2 s, else with ten times the tolerance (the program's "
     "default); always; never"},
    {"max-step", TAUT_OPTION_REAL, "", POSITIVE, "", "H", "run compare", false, true,
     "upper bound of the adaptive step size"},
    {"max-order", TAUT_OPTION_INTEGER, "12", 1, 12, "", "K", "run compare", false, true,
     "highest order of the Adams methods"},
    {"newton", TAUT_OPTION_CHOICE, "auto", 0, 0, "auto|stage|tensor|J0|J1|J2|r0|r1|r2", "FORM",
     "run compare", false, true,
     "derivatives of implicit methods: at every stage, or one for all stages and several steps; "
     "auto: stage while stages*(n+m) <= 64; to study: J0, J1, J2, iterations without multipliers; "
     "r0, r1, r2, the outer iteration of stiff potentials ended after so many corrections"},
    {"level", TAUT_OPTION_INTEGER, "", 0, 4, "", "K", "run", false, true,
     "explicit methods in motion slow: level of the slow multipliers; default: the lowest whose "
     "truncation is below the tolerance"},
    {"project", TAUT_OPTION_TEXT, "", 0, 0, "", "WHEN", "run", false, true,
     "onto the slow manifold: none, start, 'every T', 'drift X' (when springs are off their slow "
     "forces by X more, as a length), step, or stage (at every evaluation of an explicit method); "
     "default: start in motion slow"},
    {"projection", TAUT_OPTION_TEXT, "auto", 0, 0, "", "NAME", "run", false, true,
     "which projection `project` uses; `taut methods` lists them"},
    {"inner-step", TAUT_OPTION_REAL, "", POSITIVE, "", "H", "run compare", false, true,
     "longest micro-step of the impulse methods; default: 1/20 of a radian of the fastest "
     "vibration; motion slow of rates, method flow: inner step; default: that of [stepper], or 1 "
     "over the fastest rate"},
    {"inner-order", TAUT_OPTION_CHOICE, "2", 0, 0, "2|4|6|8", "ORDER", "run compare", false, true,
     "order of the micro-steps of the impulse methods: Verlet, or compositions of 5, 9 or 17 of "
     "its "
     "steps; the default of inner-step is that many times as long"},
    {"outer-order", TAUT_OPTION_CHOICE, "2", 0, 0, "2|4", "ORDER", "run compare", false, true,
     "order of the kicks of the impulse methods: 4 has four kicks in a step, at the nodes of "
     "Lobatto's formula, and the derivative of the slow forces along themselves: five evaluations"},
    {"inner-method", TAUT_OPTION_CHOICE, "verlet", 0, 0, "verlet|adiabatic", "NAME", "run compare",
     false, true,
     "what moves the springs between the kicks of the impulse methods: verlet, with micro-steps, "
     "or "
     "adiabatic, in variables in which steps need not resolve the vibration (inner-step: longest "
     "step; default: one for each kick)"},
    {"lifting", TAUT_OPTION_CHOICE, "burst", 0, 0, "burst|last|difference", "NAME", "run", false,
     true,
     "motion slow of rates and black boxes: how a state reaches the slow manifold: by a burst of "
     "the flow alone, with the latest values of what is not observed before it (default where the "
     "flow has noise), or by projection difference (--order, default 2)"},
    {"stabilize", TAUT_OPTION_CHOICE, "", 0, 0,
     "none|post|forward|backward|project|post-velocity|post-position|post-simple|baumgarte|"
     "continuous|index-2",
     "NAME", "run compare", false, true,
     "stabilisation of rigid bonds and invariants; default: post for explicit methods"},
    {"stabilize-passes", TAUT_OPTION_INTEGER, "2", 1, 10, "", "COUNT", "run compare", false, true,
     "Newton steps of a stabilisation after a step"},
    {"stabilize-alpha", TAUT_OPTION_REAL, "1", POSITIVE, "", "A", "run compare", false, true,
     "part of the correction of post and forward, below 2; backward: its parameter"},
    {"stabilize-of", TAUT_OPTION_CHOICE, "auto", 0, 0, "auto|both|position|velocity", "WHAT",
     "run compare", false, true, "what a stabilisation moves; auto: both"},
    {"stabilize-direction", TAUT_OPTION_CHOICE, "auto", 0, 0,
     "auto|mass|unit|simple|transpose|gradient|control", "D", "run compare", false, true,
     "along which a stabilisation moves; rigid bonds: mass (auto), unit, simple, gradient; first "
     "order: transpose (auto), gradient; baumgarte of index 2: also control"},
    {"stabilize-refresh", TAUT_OPTION_INTEGER, "1", 1, 1000000, "", "COUNT", "run compare", false,
     true, "steps that a factorisation of a stabilisation serves (post, forward)"},
    {"stabilize-solver", TAUT_OPTION_CHOICE, "factor", 0, 0, "factor|diagonal|sor", "NAME",
     "run compare", false, true,
     "how a stabilisation inverts its matrix: by a factorisation, or approximately by its diagonal "
     "or a sweep of relaxation"},
    {"stabilize-rate", TAUT_OPTION_REAL, "10", POSITIVE, "", "RATE", "run compare", false, true,
     "rate of the terms of baumgarte, continuous and index-2"},
    {"stabilize-damping", TAUT_OPTION_REAL, "", POSITIVE, "", "D", "run compare", false, true,
     "g'' + D g' + RATE^2 g = 0 of rigid bonds by Baumgarte; default: 2 RATE"},
    {"from", TAUT_OPTION_REAL, "0", ANY_REAL, "", "T", "run check project spectrum compare", false,
     true, "initial time"},
    {"until", TAUT_OPTION_REAL, "", ANY_REAL, "", "T", "run check spectrum compare", false, true,
     "end time; if it is before --from, the run goes backwards"},
    {"every", TAUT_OPTION_REAL, "", POSITIVE, "step", "DT", "run compare spectrum", false, true,
     "time between rows, or step: a row for each step; default: 1000 equidistant rows, fewer where "
     "they have more than 1000 numbers each"},
    {"raw", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "run compare", false, true,
     "rows and end with the velocities and multipliers of an implicit method itself; otherwise "
     "they are computed from its positions, more accurately; impulse methods: the vibrating state, "
     "a row at the end of each step"},
    {"steps", TAUT_OPTION_INTEGER, "", 1, 9007199254740992., "", "COUNT", "run", false, true,
     "end after COUNT steps"},
    {"out", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE",
     "run project spectrum compare sweep reproduce view", false, false,
     "write the trajectory to FILE.csv or FILE.h5 (HDF5); `-` is standard output; run: `none` "
     "writes no rows; project: write the state to FILE as a [start] section; `-` is standard "
     "output; spectrum: write the rows of "
     "--until to FILE.csv; compare: write the table to FILE.csv; sweep: write the table to "
     "FILE.csv or FILE.h5 (HDF5); reproduce: the folder for tables and pictures; view: the page, "
     "FILE.html"},
    {"end", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE", "run", false, false,
     "write the final state to FILE, which --start reads"},
    {"checkpoint", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE", "run", false, false,
     "save the run to FILE from time to time, when it is interrupted or terminated, and at its "
     "end; "
     "--resume FILE continues it"},
    {"checkpoint-every", TAUT_OPTION_REAL, "60", 0, 1e9, "", "SECONDS", "run", false, false,
     "time between checkpoints"},
    {"resume", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE", "run sweep", false, false,
     "continue the run that was saved in FILE, with its model, options and output files"},
    {"plot", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE", "run compare project spectrum sweep", false,
     false,
     "draw the trajectory " INTO_PICTURE "; compare: draw error against evaluations " INTO_PICTURE
     "; project: draw the convergence " INTO_PICTURE
     "; spectrum: draw frequencies, actions and gaps, or rates, along the run " INTO_PICTURE
     "; sweep: draw the kept values against the varied ones " INTO_PICTURE},
    {"view", TAUT_OPTION_TEXT, "", 0, 0, "", "FILE", "run compare sweep", false, false,
     "write a page that plays the motion, with plots, to FILE.html; rows go to standard output "
     "only with --out -; compare: write a page that shows the motions of all methods together, "
     "each "
     "with the last step size or tolerance, to FILE.html; sweep: write a page that shows kept "
     "values over varied ones and the table, to FILE.html"},
    {"hold", TAUT_OPTION_TEXT, "", 0, 0, "", "NAMES", "project", true, false,
     "keep these values: coordinates, velocities (theta'), members, particles, families, separated "
     "by "
     "commas; the others move"},
    {"richardson", TAUT_OPTION_INTEGER, "0", 0, 2, "", "LEVELS", "project", false, true,
     "extrapolate the multipliers to infinite stiffness: 1 from omega and 2 omega, 2 from omega/2 "
     "as well"},
    {"expansion", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "project", false, false,
     "series: also the coefficients of the slow point as a power series in the compliance"},
    {"omega", TAUT_OPTION_REAL, "", POSITIVE, "", "W", "project", false, true,
     "ipa: the frequency that determines window and step size; default: the lowest of a single "
     "spring; kernel, where stiffness is not declared: motion with a frequency above 0.6 W is "
     "fast; "
     "default: the largest gap separates"},
    {"window", TAUT_OPTION_REAL, "18.849555921538759", POSITIVE, "", "L", "run project", false,
     true, "ipa: filter over times up to L/omega to both sides; default: 6 pi"},
    {"micro-steps", TAUT_OPTION_INTEGER, "", 2, 1e9, "", "COUNT", "run project", false, true,
     "ipa: Verlet steps to each side; default: 18, more if required by the fastest spring; "
     "kernel: of smooth passes; filter: uses of the flow to each side, default 24"},
    {"kernel", TAUT_OPTION_CHOICE, "auto", 0, 0, "auto|aware|smooth|bump|cubic", "NAME",
     "run project", false, true,
     "kernel: frequency-tuned passes (aware), passes with a smooth kernel, or with a smooth bump; "
     "auto: aware, then smooth; ipa: smooth, bump, or the cubic kernel of the paper, which is "
     "auto"},
    {"moments", TAUT_OPTION_INTEGER, "5", 1, 9, "", "MU", "run project", false, true,
     "kernel, ipa, filter: vanishing moments of the smooth kernel, an odd number"},
    {"smoothness", TAUT_OPTION_INTEGER, "", 0, 20, "", "NU", "run project", false, true,
     "kernel, ipa, filter: the smooth kernel is (1 - t^2)^(NU+1) times a polynomial in t^2; "
     "default: "
     "(MU+1)/2"},
    {"accelerate", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "run project", false, true,
     "kernel: Anderson's acceleration of smooth passes"},
    {"passes", TAUT_OPTION_INTEGER, "30", 1, 1e6, "", "COUNT", "run project", false, true,
     "maximum number of passes; difference: of evaluations for each order, default 500, plain "
     "10000000"},
    {"tolerance", TAUT_OPTION_REAL, "", POSITIVE, "", "TOL", "run project", false, true,
     "ipa: stop when a pass changes bonds and their rates by less; default: the larger of 1e-9 and "
     "1e-3/omega^2; difference: stop when the difference is below TOL times the state; default: "
     "1e-14"},
    {"order", TAUT_OPTION_INTEGER, "", 0, 6, "", "M", "project run", false, true,
     "difference: make the (M+1)-st difference vanish; default: that of [stepper], or increased "
     "until the state changes by less than 1e-6 of its size or than the noise of the flow"},
    {"horizon", TAUT_OPTION_REAL, "", POSITIVE, "", "H", "project spectrum run", false, true,
     "difference: time of one use of the flow; default: that of [stepper], or the time in which "
     "the slowest of the fast parts decays by 1/e; filter: half of the window"},
    {"first-horizon", TAUT_OPTION_REAL, "", POSITIVE, "", "H", "project", false, true,
     "difference: solve with this longer horizon first, then with a quarter of it, and so on down "
     "to the horizon"},
    {"iterate", TAUT_OPTION_CHOICE, "auto", 0, 0, "auto|anderson|newton|rpm|aitken|plain", "NAME",
     "project", false, true,
     "difference: anderson, newton (by GMRES), rpm (recursive projection) and aitken accelerate "
     "the "
     "plain iteration as published; auto: anderson, then newton where it does not converge"},
    {"copies", TAUT_OPTION_INTEGER, "1", 1, 64, "", "N", "project spectrum run", false, true,
     "run the program of [stepper] in up to N processes at the same time, or a function that "
     "allows "
     "it in N threads, where the states it is asked for do not depend on one another; default: "
     "that "
     "of [stepper], or 1"},
    {"threads", TAUT_OPTION_INTEGER, "1", 1, 256, "", "N", "run", false, false,
     "evaluate large systems and solve their equations by N threads; results do not depend on N; "
     "the program's default: the processors, where the system is large enough to gain"},
    {"backend", TAUT_OPTION_CHOICE, "auto", 0, 0, "auto|tiny|dense|banded|sparse", "NAME", "check",
     false, false, "linear algebra to use"},
    {"no-derivatives", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "check", false, false,
     "skip the comparison of derivatives with differences"},
    {"compile", TAUT_OPTION_FLAG, "no", 0, 0, "auto", "",
     "run check project spectrum compare sweep", false, false,
     "compile the model's expressions with the system's C compiler; =auto: only for a run that is "
     "estimated to be long enough to pay for it"},
    {"allow-command", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "run project spectrum sweep", false,
     false, "allow the model's [stepper] to run its command"},
    {"along", TAUT_OPTION_FLAG, "no", 0, 0, "", "FILE.h5", "spectrum", false, false,
     "frequencies, actions and gaps along the full motion until the end of [run] or --until, or "
     "those of the rows of a run that is in a file: rows (--out), a picture (--plot), and "
     "resonances with the actions that change there"},
    {"modes", TAUT_OPTION_INTEGER, "20", 1, 2000, "", "COUNT", "spectrum", false, false,
     "show at most COUNT modes, half of them from each end of the spectrum"},
    {"json", TAUT_OPTION_FLAG, "no", 0, 0, "", "", EVERY_VERB, false, false,
     "print one JSON object"},
    {"list", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "reproduce", false, false,
     "every table and figure of the papers, and whether it is reproduced"},
    {"quiet", TAUT_OPTION_FLAG, "no", 0, 0, "", "",
     "run check project spectrum compare sweep view reproduce", false, false,
     "print no summary, warnings or progress"},
    {"strict", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "run", false, false,
     "end with exit status 1 where a warning about the motion was given: a resonance, a separation "
     "that is too small, a singular configuration"},
    {"verbose", TAUT_OPTION_FLAG, "no", 0, 0, "", "", "run check project spectrum", false, false,
     "print more about choices and costs"},
    {"help", TAUT_OPTION_FLAG, "no", 0, 0, "", "", EVERY_VERB, false, false, "print this help"},
    {"version", TAUT_OPTION_FLAG, "no", 0, 0, "", "", EVERY_VERB, false, false,
     "print the version and the features of this build"},
};

enum { ROWS = sizeof table / sizeof table[0] };

struct taut_options {
    taut_allocator allocator;
    char *text[ROWS]; /* values that were given; NULL otherwise */
    bool *read;       /* [ROWS], or NULL: not tracked */
};

const taut_option *taut_option_table(int *count)
{
    if (count)
        *count = ROWS;
    return table;
}

const taut_option *taut_option_find(const char *name)
{
    for (int k = 0; k < ROWS; k++)
        if (name && strcmp(table[k].name, name) == 0)
            return &table[k];
    return NULL;
}

/* About an option: without a prefix its name is error->option, else the sentence begins with both.
 */
static int wrong(const char *prefix, const char *name, taut_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int wrong(const char *prefix, const char *name, taut_error *error, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return prefix ? taut_fail(error, TAUT_ERROR_USAGE, "%s%.40s: %s", prefix, name, text)
                  : taut_fail_option(error, TAUT_ERROR_USAGE, name, "%s", text);
}

int taut_option_unknown(const char *prefix, const char *name, taut_error *error)
{
    const char *names[ROWS];
    for (int k = 0; k < ROWS; k++)
        names[k] = table[k].name;
    const char *near = taut_near_miss(name, names, ROWS);
    return wrong(prefix, name, error, "unknown option%s%s%s", near ? "; did you mean " : "",
                 near ? near : "; docs/options.md lists the options", near ? "?" : "");
}

int taut_options_create(const taut_allocator *allocator, taut_options **options, taut_error *error)
{
    TAUT_REQUIRE(options);
    taut_allocator from = taut_allocator_or_default(allocator);
    *options = from.allocate(from.user, sizeof **options);
    TAUT_NEED(error, *options);
    **options = (taut_options){.allocator = from};
    return TAUT_OK;
}

void taut_options_destroy(taut_options *options)
{
    if (!options)
        return;
    taut_allocator from = options->allocator;
    for (int k = 0; k < ROWS; k++)
        if (options->text[k])
            from.release(from.user, options->text[k]);
    if (options->read)
        from.release(from.user, options->read);
    from.release(from.user, options);
}

/* "expected a number > 0, found 'abc'"; "a number > 0 or step" where words are allowed. */
static int fail_number(const taut_option *row, const char *prefix, const char *value,
                       taut_error *error)
{
    const char *kind = row->type == TAUT_OPTION_INTEGER ? "a whole number" : "a number";
    char range[80] = "", least[TAUT_NUMBER_SIZE], most[TAUT_NUMBER_SIZE];
    taut_number_format(row->least, 16, least);
    taut_number_format(row->most, 16, most);
    bool below = row->least > -DBL_MAX, above = row->most < 9007199254740992.;
    if (row->least == DBL_TRUE_MIN)
        strcpy(range, " > 0");
    else if (below)
        strcat(strcpy(range, " >= "), least);
    if (above)
        strcat(strcat(range, below ? " and <= " : " <= "), most);
    size_t digits = strspn(value, "0123456789");
    bool comma = digits > 0 && value[digits] == ',';
    return wrong(prefix, row->name, error, "expected %s%s%s%s, found '%.60s'%s", kind, range,
                 row->choices[0] ? " or " : "", row->choices, value,
                 comma ? "; the decimal point is written '.'" : "");
}

bool taut_option_word(const taut_option *row, const char *value)
{
    size_t length = strlen(value);
    for (const char *c = row->choices; *c; c += strcspn(c, "|"), c += *c == '|')
        if (length > 0 && strcspn(c, "|") == length && strncmp(c, value, length) == 0)
            return true;
    return false;
}

static int check_number(const taut_option *row, const char *prefix, const char *value,
                        taut_error *error)
{
    double number;
    if (taut_option_word(row, value))
        return TAUT_OK;
    if (!taut_number_parse(value, &number) || !(number >= row->least && number <= row->most))
        return fail_number(row, prefix, value, error);
    if (row->type == TAUT_OPTION_INTEGER && number != floor(number))
        return fail_number(row, prefix, value, error);
    return TAUT_OK;
}

enum { MOST_CHOICES = 16, CHOICE_SIZE = 24 };

static int check_choice(const taut_option *row, const char *prefix, const char *value,
                        taut_error *error)
{
    char word[MOST_CHOICES][CHOICE_SIZE];
    const char *words[MOST_CHOICES];
    int count = 0;
    for (const char *c = row->choices; *c && count < MOST_CHOICES; count++) {
        size_t length = strcspn(c, "|");
        memcpy(word[count], c, length);
        word[count][length] = '\0';
        words[count] = word[count];
        if (strcmp(words[count], value) == 0)
            return TAUT_OK;
        c += length + (c[length] == '|');
    }
    const char *near = taut_near_miss(value, words, count);
    return wrong(prefix, row->name, error, "expected one of %s, found '%.60s'%s%s%s", row->choices,
                 value, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool is_yes(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "true") == 0 || strcmp(value, "1") == 0 ||
           value[0] == '\0';
}

static bool is_no(const char *value)
{
    return strcmp(value, "no") == 0 || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
}

static int check_value(const taut_option *row, const char *prefix, const char *value,
                       taut_error *error)
{
    switch (row->type) {
    case TAUT_OPTION_FLAG:
        if (!is_yes(value) && !is_no(value) && !taut_option_word(row, value) && !row->argument[0])
            return wrong(prefix, row->name, error, "expected yes%s%s or no, found '%.60s'",
                         row->choices[0] ? ", " : "", row->choices, value);
        return TAUT_OK;
    case TAUT_OPTION_INTEGER:
    case TAUT_OPTION_REAL: return check_number(row, prefix, value, error);
    case TAUT_OPTION_CHOICE: return check_choice(row, prefix, value, error);
    case TAUT_OPTION_TEXT:
        if (value[0] == '\0')
            return wrong(prefix, row->name, error, "expected %s, found nothing", row->argument);
        return TAUT_OK;
    }
    return TAUT_OK;
}

/* Replaces the value of row k, or adds a line to it. */
static int store(taut_options *options, int k, const char *value, taut_error *error)
{
    const char *before = table[k].repeats && options->text[k] ? options->text[k] : "";
    size_t used = strlen(before), length = strlen(value);
    char *text = options->allocator.allocate(options->allocator.user, used + length + 2);
    TAUT_NEED(error, text);
    memcpy(text, before, used);
    if (used)
        text[used++] = '\n';
    memcpy(text + used, value, length + 1);
    if (options->text[k])
        options->allocator.release(options->allocator.user, options->text[k]);
    options->text[k] = text;
    return TAUT_OK;
}

int taut_options_set_as(taut_options *options, const char *prefix, const char *name,
                        const char *value, taut_error *error)
{
    TAUT_REQUIRE(options && name);
    const taut_option *row = taut_option_find(name);
    if (!row)
        return taut_option_unknown(prefix, name, error);
    if (!value)
        value = "";
    TAUT_TRY(check_value(row, prefix, value, error));
    return store(options, (int)(row - table), value, error);
}

int taut_options_set(taut_options *options, const char *name, const char *value, taut_error *error)
{
    return taut_options_set_as(options, NULL, name, value, error);
}

/* A value that has a type; `like` is one more type that is accepted. */
static int set_typed(taut_options *options, const char *name, taut_option_type type,
                     taut_option_type like, const char *value, taut_error *error)
{
    static const char *const types[] = {"a flag", "an integer", "a real number", "a text",
                                        "a text"};
    const taut_option *row = taut_option_find(name);
    bool word = row && type == TAUT_OPTION_TEXT && taut_option_word(row, value ? value : "");
    if (row && row->type != type && row->type != like && !word)
        return wrong(NULL, name, error, "this option is %s, not %s", types[row->type], types[type]);
    return taut_options_set(options, name, value, error);
}

int taut_options_set_real(taut_options *options, const char *name, double value, taut_error *error)
{
    char text[TAUT_NUMBER_SIZE];
    taut_number_format(value, 17, text);
    return set_typed(options, name, TAUT_OPTION_REAL, TAUT_OPTION_REAL, text, error);
}

int taut_options_set_integer(taut_options *options, const char *name, int64_t value,
                             taut_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return set_typed(options, name, TAUT_OPTION_INTEGER, TAUT_OPTION_INTEGER, text, error);
}

int taut_options_set_flag(taut_options *options, const char *name, bool value, taut_error *error)
{
    return set_typed(options, name, TAUT_OPTION_FLAG, TAUT_OPTION_FLAG, value ? "yes" : "no",
                     error);
}

int taut_options_set_text(taut_options *options, const char *name, const char *value,
                          taut_error *error)
{
    return set_typed(options, name, TAUT_OPTION_TEXT, TAUT_OPTION_CHOICE, value, error);
}

int taut_options_merge(taut_options *options, const taut_options *from, taut_error *error)
{
    for (int k = 0; k < ROWS; k++)
        if (from && from->text[k])
            TAUT_TRY(store(options, k, from->text[k], error));
    return TAUT_OK;
}

int taut_options_track(taut_options *options, taut_error *error)
{
    if (!options->read)
        options->read =
            options->allocator.allocate(options->allocator.user, ROWS * sizeof *options->read);
    TAUT_NEED(error, options->read);
    memset(options->read, 0, ROWS * sizeof *options->read);
    return TAUT_OK;
}

const char *taut_options_unread(const taut_options *options, const taut_options *given, int *at)
{
    while (++*at < ROWS)
        if (table[*at].in_model && given && given->text[*at] && options->read &&
            !options->read[*at])
            return table[*at].name;
    return NULL;
}

bool taut_options_given(const taut_options *options, const char *name)
{
    const taut_option *row = taut_option_find(name);
    return options && row && options->text[row - table];
}

const char *taut_options_text(const taut_options *options, const char *name)
{
    const taut_option *row = taut_option_find(name);
    if (!row)
        return NULL;
    if (options && options->read)
        options->read[row - table] = true;
    return options && options->text[row - table] ? options->text[row - table] : row->value;
}

double taut_options_real(const taut_options *options, const char *name)
{
    const char *text = taut_options_text(options, name);
    double value;
    return text && taut_number_parse(text, &value) ? value : NAN;
}

int64_t taut_options_integer(const taut_options *options, const char *name)
{
    double value = taut_options_real(options, name);
    return fabs(value) <= 9007199254740992. ? (int64_t)value : 0; /* NaN compares false */
}

bool taut_options_flag(const taut_options *options, const char *name)
{
    const taut_option *row = taut_option_find(name);
    return row && row->type == TAUT_OPTION_FLAG && is_yes(taut_options_text(options, name));
}
