/* printed.c - printed numbers, and a verdict for each computed one.
 *
 * Printed numbers are text data, one file for each recipe: lines "key | printed | accept | note",
 * # begins a comment; in the comment "# key | WORD | accept | note" WORD is the kind of the
 * numbers, where the paper does not print them. A computed number x is accepted when
 *
 *     (nothing)      x, rounded to the printed digits, is the printed number
 *     truncated      x, truncated after the printed digits, is the printed number
 *     misprint X     the printed number is wrong; x, rounded, is X, and the note gives the reason
 *     within X       |x - printed| <= X
 *     ratio A B      A <= x/printed <= B
 *     below          x is the smaller error, and the note gives the reason */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

const char *const recipe_verdict_names[RECIPE_VERDICTS] = {"equal", "within", "explained",
                                                           "UNEXPLAINED"};

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

static recipe_verdict judge(const recipe_number *r)
{
    const char *printed = r->field[1], *accept = r->field[2];
    double value = strtod(printed, NULL), low, high;
    char other[64];
    if (!r->found || !isfinite(r->ours))
        return RECIPE_UNEXPLAINED;
    if (accept[0] == '\0')
        return same_digits(r->ours, printed, false) ? RECIPE_EQUAL : RECIPE_UNEXPLAINED;
    if (strcmp(accept, "truncated") == 0)
        return same_digits(r->ours, printed, false)  ? RECIPE_EQUAL
               : same_digits(r->ours, printed, true) ? RECIPE_EXPLAINED
                                                     : RECIPE_UNEXPLAINED;
    if (strcmp(accept, "below") == 0)
        return r->ours < value && r->field[3][0] ? RECIPE_EXPLAINED : RECIPE_UNEXPLAINED;
    if (sscanf(accept, "misprint %60s", other) == 1)
        return same_digits(r->ours, other, false) && r->field[3][0] ? RECIPE_EXPLAINED
                                                                    : RECIPE_UNEXPLAINED;
    if (sscanf(accept, "within %lf", &high) == 1)
        return fabs(r->ours - value) <= high ? RECIPE_WITHIN : RECIPE_UNEXPLAINED;
    if (sscanf(accept, "ratio %lf %lf", &low, &high) == 2)
        return r->ours / value >= low && r->ours / value <= high ? RECIPE_WITHIN
                                                                 : RECIPE_UNEXPLAINED;
    return RECIPE_UNEXPLAINED;
}

/* ---- files */

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

void recipe_cut(char *line, char *field[RECIPE_FIELDS])
{
    static char nothing[1] = "";
    char *rest = line;
    for (int k = 0; k < RECIPE_FIELDS; k++) {
        char *bar = rest && k < RECIPE_FIELDS - 1 ? strchr(rest, '|') : NULL;
        if (bar)
            *bar = '\0';
        field[k] = rest ? trim(rest) : nothing;
        rest = bar ? bar + 1 : NULL;
    }
}

char *recipe_line(char **text)
{
    char *line = *text;
    if (!line)
        return NULL;
    char *end = strchr(line, '\n');
    if (end)
        *end = '\0';
    *text = end ? end + 1 : NULL;
    return trim(line);
}

char *recipe_file(const cli_call *call, const char *folder, const char *name)
{
    char *path = cli_format("%s/%s.txt", folder, name), *text = NULL;
    size_t length = 0;
    const char *why = NULL;
    if (!path) {
        cli_refuse(call, "out of memory");
        return NULL;
    }
    text = cli_read_path(path, 1 << 20, &length, &why);
    if (!text)
        cli_refuse(call, "the printed numbers are missing: %s: %s", path, why);
    free(path);
    return text;
}

/* The other comments explain the numbers as a whole. */
static void add_comment(recipe_result *r, const char *comment)
{
    comment += strspn(comment, "# ");
    if (*comment && r->notes[0])
        strcat(r->notes, " ");
    strcat(r->notes, comment);
}

int recipe_printed(recipe_result *r, const cli_call *call, const char *folder)
{
    static const char kind[] = "# key |";
    r->text = recipe_file(call, folder, r->recipe->name);
    if (!r->text)
        return CLI_MISUSED;
    int lines = 1;
    for (const char *c = r->text; *c; c++)
        lines += *c == '\n';
    r->heading = "printed";
    r->number = calloc((size_t)lines, sizeof *r->number);
    r->notes = calloc(strlen(r->text) + (size_t)lines + 1, 1);
    if (!r->number || !r->notes)
        return cli_refuse(call, "out of memory");
    for (char *rest = r->text, *line; (line = recipe_line(&rest));) {
        char *names[RECIPE_FIELDS];
        if (*line && *line != '#') {
            recipe_cut(line, r->number[r->count++].field);
        } else if (strncmp(line, kind, sizeof kind - 1) == 0) {
            recipe_cut(line, names);
            r->heading = names[1];
        } else {
            add_comment(r, line);
        }
    }
    return 0;
}

void recipe_judge(recipe_result *r, const recipe_work *work)
{
    for (int i = 0; i < r->count; i++) {
        recipe_number *x = &r->number[i];
        x->ours = NAN;
        for (int k = 0; k < work->entries && !x->found; k++)
            if (strcmp(work->entry[k].key, x->field[0]) == 0) {
                x->ours = work->entry[k].value;
                x->found = true;
            }
        x->verdict = judge(x);
        x->digits = digits_of(x->field[1]) + 3;
        x->digits = x->digits < 14 ? x->digits : 14;
        r->counts[x->verdict]++;
    }
}

const char *recipe_number_note(const recipe_number *x)
{
    return !x->found ? "the recipe does not compute this number" : x->field[3];
}

void recipe_result_clear(recipe_result *r)
{
    for (int k = 0; k < r->pictures; k++) {
        free(r->picture[k].path);
        free(r->picture[k].title);
    }
    free(r->failure);
    free(r->text);
    free(r->notes);
    free(r->number);
    recipe_best_clear(&r->best);
    *r = (recipe_result){0};
}
