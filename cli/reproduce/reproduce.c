/* reproduce.c - taut reproduce: published numbers and those of Taut, with a verdict for each.
 *
 * Printed numbers are text data, one file for each recipe: lines "key | printed | accept | note",
 * # begins a comment; in the comment "# key | WORD | accept | note" WORD is the kind of the
 * numbers, where the paper does not print them. A computed number x is accepted when (nothing) x,
 * rounded to the printed digits, is the printed number truncated      x, truncated after the
 * printed digits, is the printed number misprint X     the printed number is wrong; x, rounded, is
 * X, and the note gives the reason within X       |x - printed| <= X ratio A B      A <= x/printed
 * <= B below          x is the smaller error, and the note gives the reason */
#define _POSIX_C_SOURCE 200809L
#include "reproduce/reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "windows.h"

enum { FIELDS = 4 };
typedef enum verdict { EQUAL, WITHIN, EXPLAINED, UNEXPLAINED, VERDICTS } verdict;
static const char *const verdict_names[VERDICTS] = {"equal", "within", "explained", "UNEXPLAINED"};

typedef struct row {
    char *field[FIELDS]; /* key, printed, accept, note; into the text of the file */
    double ours;         /* NaN when the recipe has no such key */
    verdict verdict;
    bool found;
} row;

typedef struct report {
    cli_call *call;
    const char *out; /* folder, or NULL */
    bool lost;       /* something could not be written there */
    char *folder;    /* of the printed numbers */
    recipe_work work;
    char *text;          /* of the file of printed numbers */
    const char *heading; /* what they are: printed, computed, ... */
    row *rows;
    int count, counts[VERDICTS], total[VERDICTS];
    cli_json json;
} report;

/* ---- verdicts */

/* Significant digits of a printed number: ".12e-3" has 2. */
static int digits_of(const char *text)
{
    int digits = 0;
    bool leading = true;
    for (; *text && *text != 'e' && *text != 'E'; text++)
        if (*text >= '0' && *text <= '9') {
            leading &= *text == '0';
            digits += !leading;
        }
    return digits > 0 ? digits : 1;
}

/* Is `ours`, with as many digits as are printed, the printed number? Formatting rounds
 * correctly; cutting adds digits first. */
static bool same_digits(double ours, const char *printed, bool cut)
{
    enum { MORE = 6 };
    int digits = digits_of(printed);
    double value = strtod(printed, NULL);
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1 + (cut ? MORE : 0), ours);
    char *exponent = strchr(text, 'e');
    if (cut && exponent)
        memmove(exponent - MORE, exponent, strlen(exponent) + 1);
    return isfinite(ours) && fabs(strtod(text, NULL) - value) <= 1e-14 * fabs(value);
}

static verdict judge(const row *r)
{
    const char *printed = r->field[1], *accept = r->field[2];
    double value = strtod(printed, NULL), low, high;
    char other[64];
    if (!r->found || !isfinite(r->ours))
        return UNEXPLAINED;
    if (accept[0] == '\0')
        return same_digits(r->ours, printed, false) ? EQUAL : UNEXPLAINED;
    if (strcmp(accept, "truncated") == 0)
        return same_digits(r->ours, printed, false)  ? EQUAL
               : same_digits(r->ours, printed, true) ? EXPLAINED
                                                     : UNEXPLAINED;
    if (strcmp(accept, "below") == 0)
        return r->ours < value && r->field[3][0] ? EXPLAINED : UNEXPLAINED;
    if (sscanf(accept, "misprint %60s", other) == 1)
        return same_digits(r->ours, other, false) && r->field[3][0] ? EXPLAINED : UNEXPLAINED;
    if (sscanf(accept, "within %lf", &high) == 1)
        return fabs(r->ours - value) <= high ? WITHIN : UNEXPLAINED;
    if (sscanf(accept, "ratio %lf %lf", &low, &high) == 2)
        return r->ours / value >= low && r->ours / value <= high ? WITHIN : UNEXPLAINED;
    return UNEXPLAINED;
}

/* ---- printed numbers */

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Cuts a line into its fields; missing ones are empty. */
static void cut_line(char *line, row *r)
{
    static char nothing[1] = "";
    char *rest = line;
    for (int k = 0; k < FIELDS; k++) {
        char *bar = rest && k < FIELDS - 1 ? strchr(rest, '|') : NULL;
        if (bar)
            *bar = '\0';
        r->field[k] = rest ? trim(rest) : nothing;
        rest = bar ? bar + 1 : NULL;
    }
}

static int read_printed(report *d, const char *name)
{
    char *path = cli_format("%s/%s.txt", d->folder, name);
    size_t length = 0;
    const char *why = NULL;
    int lines = 1;
    d->text = path ? cli_read_path(path, 1 << 20, &length, &why) : NULL;
    if (!d->text) {
        int status = path
                         ? cli_refuse(d->call, "the printed numbers are missing: %s: %s", path, why)
                         : cli_refuse(d->call, "out of memory");
        free(path);
        return status;
    }
    free(path);
    for (const char *c = d->text; *c; c++)
        lines += *c == '\n';
    d->heading = "printed";
    d->rows = calloc((size_t)lines, sizeof *d->rows);
    if (!d->rows)
        return cli_refuse(d->call, "out of memory");
    for (char *line = d->text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        char *begin = trim(line);
        if (*begin && *begin != '#') {
            cut_line(begin, &d->rows[d->count++]);
        } else if (strncmp(begin, "# key |", 7) == 0) {
            row names;
            cut_line(begin, &names);
            d->heading = names.field[1];
        }
        line = end ? end + 1 : NULL;
    }
    return 0;
}

static void compare_all(report *d)
{
    memset(d->counts, 0, sizeof d->counts);
    for (int i = 0; i < d->count; i++) {
        row *r = &d->rows[i];
        r->ours = NAN;
        for (int k = 0; k < d->work.entries && !r->found; k++)
            if (strcmp(d->work.entry[k].key, r->field[0]) == 0) {
                r->ours = d->work.entry[k].value;
                r->found = true;
            }
        r->verdict = judge(r);
        d->counts[r->verdict]++;
        d->total[r->verdict]++;
    }
}

/* ---- output */

static const char *note_of(const row *r)
{
    return !r->found ? "the recipe does not compute this number" : r->field[3];
}

static void print_counts(FILE *out, const char *lead, const int counts[VERDICTS])
{
    fprintf(out, "%s%d equal, %d within, %d explained, %d unexplained\n", lead, counts[EQUAL],
            counts[WITHIN], counts[EXPLAINED], counts[UNEXPLAINED]);
}

static void print_table(FILE *out, const report *d, const recipe_row *recipe)
{
    int width = 0;
    for (int i = 0; i < d->count; i++)
        width = (int)strlen(d->rows[i].field[0]) > width ? (int)strlen(d->rows[i].field[0]) : width;
    fprintf(out, "%s: %s\n  ", recipe->name, recipe->what);
    cli_wrap(out, recipe->source, 2, 2, CLI_WIDTH);
    fprintf(out, "  %-*s %20s %18s  %s\n", width, "", "Taut", d->heading, "verdict");
    for (int i = 0; i < d->count; i++) {
        const row *r = &d->rows[i];
        int digits = digits_of(r->field[1]) + 3;
        fprintf(out, "  %-*s %20.*g %18s  %s\n", width, r->field[0], digits < 14 ? digits : 14,
                r->ours, r->field[1], verdict_names[r->verdict]);
        if (r->verdict > WITHIN && note_of(r)[0]) {
            fprintf(out, "      ");
            cli_wrap(out, note_of(r), 6, 6, CLI_WIDTH);
        }
    }
    print_counts(out, "  ", d->counts);
}

static void print_json(report *d, const recipe_row *recipe)
{
    cli_json *json = &d->json;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", recipe->name);
    cli_json_text(json, "what", recipe->what);
    cli_json_text(json, "source", recipe->source);
    cli_json_text(json, "numbers", d->heading);
    for (int k = 0; k < VERDICTS; k++)
        cli_json_integer(json, k == UNEXPLAINED ? "unexplained" : verdict_names[k], d->counts[k]);
    cli_json_open(json, "rows", '[');
    for (int i = 0; i < d->count; i++) {
        const row *r = &d->rows[i];
        cli_json_open_flat(json, NULL, '{');
        cli_json_text(json, "key", r->field[0]);
        cli_json_real(json, "ours", r->ours);
        cli_json_text(json, "printed", r->field[1]);
        cli_json_text(json, "verdict",
                      r->verdict == UNEXPLAINED ? "unexplained" : verdict_names[r->verdict]);
        cli_json_text(json, "note", note_of(r));
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

/* One picture, of the curves from `first` to before `end`; a build or a system without gnuplot does
 * without. */
static int draw_one(report *d, const recipe_row *recipe, const char *name,
                    const char *const *labels, int first, int end)
{
    const char *names[RECIPE_CURVES];
    recipe_work *k = &d->work;
    char *path = cli_format("%s/%s%s%s.png", d->out, recipe->name, name[0] ? "-" : "", name);
    if (!path)
        return cli_refuse(d->call, "out of memory");
    for (int c = first; c < end; c++)
        names[c - first] = k->name[c];
    int code = taut_plot(path, labels, names, end - first, k->start + first, k->x, k->y,
                         k->logarithmic, &k->error);
    free(path);
    if (code == TAUT_ERROR_UNAVAILABLE) {
        if (!d->call->quiet)
            cli_warning("%s: no picture: %s", recipe->name, k->error.message);
        return 0;
    }
    if (code != 0)
        cli_say_failure(&k->error);
    return cli_exit_status(code);
}

static int draw(report *d, const recipe_row *recipe)
{
    const recipe_work *k = &d->work;
    int status = 0;
    if (k->pictures == 0)
        return draw_one(d, recipe, "", k->labels, 0, k->curves);
    for (int p = 0; p < k->pictures && status == 0; p++)
        status = draw_one(d, recipe, k->picture[p].name, k->picture[p].labels, k->picture[p].first,
                          p + 1 < k->pictures ? k->picture[p + 1].first : k->curves);
    return status;
}

static int write_files(report *d, const recipe_row *recipe)
{
    char *path = cli_format("%s/%s.txt", d->out, recipe->name);
    FILE *file = path ? fopen(path, "w") : NULL;
    bool good = file != NULL;
    if (file) {
        print_table(file, d, recipe);
        good = !ferror(file);
        good &= fclose(file) == 0;
    }
    int status = good ? 0
                      : cli_refuse(d->call, "--out: cannot write '%s': %s", path ? path : d->out,
                                   strerror(errno));
    free(path);
    return status == 0 && d->work.curves > 0 ? draw(d, recipe) : status;
}

/* ---- the verb */

static int reproduce_one(report *d, const recipe_row *recipe)
{
    int status = read_printed(d, recipe->name);
    if (status == 0) {
        int code = recipe->compute(&d->work);
        if (code != 0) {
            cli_error("%s: %s", recipe->name, d->work.error.message);
            status = CLI_FAILED; /* for any reason: the result could not be computed */
        }
        compare_all(d);
        if (d->call->json)
            print_json(d, recipe);
        else if (!d->call->quiet || d->counts[UNEXPLAINED] > 0)
            print_table(stdout, d, recipe);
        fflush(stdout);
        if (status == 0 && d->counts[UNEXPLAINED] + (d->count == 0) > 0)
            status = CLI_FAILED;
        int written = d->out ? write_files(d, recipe) : 0;
        d->lost |= written != 0;
        status = status != 0 ? status : written;
    }
    recipe_clear(&d->work);
    free(d->text);
    free(d->rows);
    d->text = NULL;
    d->rows = NULL;
    d->count = 0;
    return status;
}

static int list(const cli_call *call)
{
    cli_json json = {.out = stdout};
    if (call->json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "recipes", '[');
    }
    for (const recipe_row *r = recipe_table; r->name; r++) {
        if (!call->json) {
            printf("%-20s ", r->name);
            cli_wrap(stdout, r->what, 21, 21, CLI_WIDTH);
            printf("%21s", "");
            cli_wrap(stdout, r->source, 21, 21, CLI_WIDTH);
            continue;
        }
        cli_json_open_flat(&json, NULL, '{');
        cli_json_text(&json, "name", r->name);
        cli_json_text(&json, "what", r->what);
        cli_json_text(&json, "source", r->source);
        cli_json_close(&json, '}');
    }
    if (call->json) {
        cli_json_close(&json, ']');
        cli_json_close(&json, '}');
    }
    return CLI_DONE;
}

/* Does a word of the name, "table" of "a-table-1", begin with `text`? */
static bool has_word(const char *name, const char *text)
{
    size_t length = strlen(text);
    for (const char *word = name; word; word = strchr(word, '-') ? strchr(word, '-') + 1 : NULL)
        if (length > 0 && strncmp(word, text, length) == 0)
            return true;
    return false;
}

static int unknown(const cli_call *call)
{
    enum { MOST = 64 };
    const char *names[MOST] = {0};
    int count = 0;
    for (const recipe_row *r = recipe_table; r->name && count < MOST; r++)
        names[count++] = r->name;
    const char *near = taut_near_miss(call->operand, names, count);
    for (int k = 0; k < count && !near; k++)
        near = has_word(names[k], call->operand) ? names[k] : NULL;
    return cli_refuse(call, "unknown table or figure '%s'%s%s%s", call->operand,
                      near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : "; 'taut reproduce' lists them");
}

static int prepare(report *d)
{
    cli_call *call = d->call;
    d->out =
        taut_options_given(call->options, "out") ? taut_options_text(call->options, "out") : NULL;
    if (d->out && mkdir(d->out, 0777) != 0 && errno != EEXIST)
        return cli_refuse(call, "--out: cannot make the folder '%s': %s", d->out, strerror(errno));
    d->folder = cli_shipped_data(call->program, "TAUT_REPRODUCE", "reproduce");
    if (!d->folder)
        return cli_refuse(call,
                          "the printed numbers are missing; set TAUT_REPRODUCE to their folder");
    return cli_shipped_list(call->program, &d->work.models) ? 0 : cli_refuse(call, "out of memory");
}

int cli_reproduce(cli_call *call)
{
    report d = {.call = call, .json = {.out = stdout}, .work = {.call = call, .error = {.t = NAN}}};
    if (taut_options_flag(call->options, "list"))
        return call->operand ? cli_refuse(call, "--list lists everything; omit '%s'", call->operand)
                             : recipe_list(call);
    if (!call->operand)
        return list(call);
    bool all = strcmp(call->operand, "all") == 0, found = false;
    for (const recipe_row *r = recipe_table; r->name; r++)
        found |= all || strcmp(r->name, call->operand) == 0;
    if (!found)
        return unknown(call);
    int status = prepare(&d);
    if (status == 0 && call->json) {
        cli_json_open(&d.json, NULL, '{');
        cli_json_open(&d.json, "results", '[');
    }
    bool prepared = status == 0;
    for (const recipe_row *r = recipe_table; prepared && r->name; r++)
        if (all || strcmp(r->name, call->operand) == 0) {
            int one = reproduce_one(&d, r);
            status = one > status ? one : status;
            if (all && !call->json && !call->quiet)
                printf("\n");
        }
    if (prepared && call->json) {
        cli_json_close(&d.json, ']');
        cli_json_close(&d.json, '}');
    } else if (prepared && !call->quiet) {
        if (all)
            print_counts(stdout, "total: ", d.total);
        if (d.out && !d.lost)
            printf("tables and pictures are in %s\n", d.out);
    }
    cli_shipped_release(&d.work.models);
    free(d.folder);
    return status;
}
