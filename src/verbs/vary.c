/* vary.c - NAME=VALUES of a sweep, and the runs that they make.
 *
 * VALUES are separated by commas; each is a number (an expression such as pi/2), a word, or a range
 * from:to:n of n equidistant numbers, from:to:logn of n numbers in equal ratios. Runs are the
 * product of all values, the last NAME changing fastest; or pairs (zip); or random: run i draws
 * its values from (seed, i) alone, from a range uniformly, logarithmically where it says log. */
#include "verbs/vary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "base/options.h"
#include "base/random.h"
#include "drive/solver.h"
#include "verbs/keep.h"

enum { MOST_NAMES = 32, WORD = TAUT_VARIED_TEXT };
static const double MOST_RUNS = 1e7;

typedef struct reading {
    taut_arena *arena;
    const taut_system *system;
    bool random;
    taut_varied *to;
    const char *text; /* for messages */
    taut_error *error;
} reading;

#define FAIL(r, ...) taut_fail_option((r)->error, TAUT_ERROR_USAGE, "vary", __VA_ARGS__)

/* ---- names */

static const taut_option *run_option(const char *name)
{
    const taut_option *option = taut_option_find(name);
    return option && option->in_model && strstr(option->verbs, "run") ? option : NULL;
}

static int unknown(const reading *r, const char *name)
{
    enum { CANDIDATES = 300, LENGTH = 48 };
    static const taut_item items[] = {TAUT_PARAMETER, TAUT_COORDINATE, TAUT_ALGEBRAIC};
    char room[CANDIDATES][LENGTH];
    const char *known[2 * CANDIDATES];
    int count = 0, found = 0;
    const taut_option *table = taut_option_table(&count);
    for (int i = 0; i < 3; i++)
        for (taut_index k = 0; found < CANDIDATES; k++, found++) {
            if (taut_system_name(r->system, items[i], k, room[found], LENGTH) == 0)
                break;
            known[found] = room[found];
        }
    for (int k = 0; k < count && found < 2 * CANDIDATES; k++)
        if (run_option(table[k].name))
            known[found++] = table[k].name;
    const char *near = taut_near_miss(name, known, found);
    return FAIL(r, "'%.60s' is no parameter, initial value or option of a run%s%s%s", name,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* What a name is: the model's own names come before those of options. */
static int find_name(const reading *r, const char *name)
{
    const taut_system *system = r->system;
    taut_varied *v = r->to;
    bool mechanical = system->sizes.kind == TAUT_MECHANICAL;
    size_t length = strlen(name);
    char bare[TAUT_VARIED_TEXT * 4];
    if (length >= sizeof bare)
        return unknown(r, name);
    bool rate = mechanical && length > 1 && name[length - 1] == '\'';
    snprintf(bare, sizeof bare, "%.*s", (int)length - rate, name);
    v->k = rate ? -1 : taut_system_find(system, TAUT_PARAMETER, bare);
    if (v->k >= 0) {
        v->kind = TAUT_VARY_PARAMETER;
        v->structural = system->parameter_fixed[v->k] == 1;
        return TAUT_OK;
    }
    v->kind = TAUT_VARY_START;
    v->k = taut_system_find(system, TAUT_COORDINATE, bare);
    taut_index other = mechanical ? -1 : taut_system_find(system, TAUT_ALGEBRAIC, bare);
    if (v->k >= 0 || other >= 0) {
        v->k = v->k < 0 ? system->sizes.coordinates + other
               : rate   ? system->sizes.coordinates + v->k
                        : v->k;
        return TAUT_OK;
    }
    v->kind = TAUT_VARY_OPTION;
    return run_option(name) ? TAUT_OK : unknown(r, name);
}

/* ---- values */

static int number_of(const reading *r, const char *word, double *value)
{
    taut_error reason = {.t = NAN};
    int status = taut_keep_number(word, value, &reason);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(r->error);
    return status == 0 && isfinite(*value)
               ? TAUT_OK
               : FAIL(r,
                      "%.60s: expected numbers, or FROM:TO:COUNT, FROM:TO:logCOUNT, found '%.60s'",
                      r->to->name, word);
}

/* Is it a word for an option that accepts words? */
static bool takes_word(const taut_varied *v, const char *word)
{
    const taut_option *option = v->kind == TAUT_VARY_OPTION ? taut_option_find(v->name) : NULL;
    return option && ((option->type != TAUT_OPTION_REAL && option->type != TAUT_OPTION_INTEGER) ||
                      taut_option_word(option, word));
}

/* "5", "log5", "log" and "" (not given). */
static int read_count(const reading *r, const char *text, taut_vary_item *item)
{
    item->logarithmic = strncmp(text, "log", 3) == 0;
    const char *digits = text + (item->logarithmic ? 3 : 0);
    double count = 0;
    if (digits[0] && (strspn(digits, "0123456789") != strlen(digits) ||
                      !taut_number_parse(digits, &count) || count < 1 || count > MOST_RUNS))
        return FAIL(r,
                    "%.60s: expected the number of values after the second ':', such as 10 or "
                    "log10, found '%.60s'",
                    r->to->name, text);
    if (count == 0 && !r->random)
        return FAIL(r, "%.60s: expected how many values the range has: %g:%g:%s10", r->to->name,
                    item->from, item->to, item->logarithmic ? "log" : "");
    item->count = (int64_t)count;
    if (item->logarithmic && !(item->from * item->to > 0))
        return FAIL(r, "%.60s: a logarithmic range needs two ends of one sign, found %g and %g",
                    r->to->name, item->from, item->to);
    return TAUT_OK;
}

/* One value or range; the text is changed. */
static int read_item(const reading *r, char *word, taut_vary_item *item)
{
    char *colon = strchr(word, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    item->count = 1;
    if (takes_word(r->to, word)) {
        item->from = item->to = NAN;
        item->word = taut_arena_text(r->arena, word, strlen(word));
        TAUT_NEED(r->error, item->word);
        if (strlen(word) >= WORD)
            return FAIL(r, "%.60s: '%.80s' is too long", r->to->name, word);
        if (strcmp(r->to->name, "method") == 0 && !taut_method_find(word))
            return taut_method_unknown("vary", word, r->error);
        return TAUT_OK;
    }
    if (colon)
        *colon = '\0';
    if (second)
        *second = '\0';
    TAUT_TRY(number_of(r, word, &item->from));
    item->to = item->from;
    if (!colon)
        return TAUT_OK;
    TAUT_TRY(number_of(r, colon + 1, &item->to));
    return read_count(r, second ? second + 1 : "", item);
}

/* One past the value that begins here: a comma outside brackets, or the end. */
static char *value_end(char *p)
{
    for (int open = 0; *p && (open > 0 || *p != ','); p++)
        open += (*p == '(') - (*p == ')');
    return p;
}

static double item_value(const taut_vary_item *item, int64_t k)
{
    double part = item->count > 1 ? (double)k / (double)(item->count - 1) : 0;
    return part == 0           ? item->from
           : part == 1         ? item->to
           : item->logarithmic ? item->from * pow(item->to / item->from, part)
                               : item->from + part * (item->to - item->from);
}

/* Values of options are checked before anything is computed. */
static int check_option(const reading *r, const taut_vary_item *item)
{
    taut_options *probe = NULL;
    char text[TAUT_NUMBER_SIZE];
    if (r->to->kind != TAUT_VARY_OPTION)
        return TAUT_OK;
    TAUT_TRY(taut_options_create(NULL, &probe, r->error));
    int status = TAUT_OK;
    for (int64_t k = 0; k < item->count && status == 0; k++) {
        if (!item->word)
            taut_number_format(item_value(item, k), 17, text);
        status = taut_options_set(probe, r->to->name, item->word ? item->word : text, r->error);
    }
    taut_options_destroy(probe);
    return status;
}

static int read_values(const reading *r, char *text)
{
    taut_varied *v = r->to;
    int64_t capacity = 0;
    for (char *p = text, *end;; p = end + 1) {
        end = value_end(p);
        bool last = *end == '\0';
        *end = '\0';
        p += strspn(p, " ");
        for (char *tail = end; tail > p && tail[-1] == ' ';)
            *--tail = '\0';
        if (*p == '\0')
            return FAIL(r,
                        "expected NAME=VALUES, such as omega=1,2,5 or omega=1:10:4, found '%.80s'",
                        r->text);
        v->item = taut_arena_grow(r->arena, v->item, v->items, &capacity, sizeof *v->item);
        TAUT_NEED(r->error, v->item);
        taut_vary_item *item = &v->item[v->items++];
        *item = (taut_vary_item){0};
        TAUT_TRY(read_item(r, p, item));
        TAUT_TRY(check_option(r, item));
        v->count += item->count;
        v->words |= item->word != NULL;
        v->logarithmic |= item->logarithmic;
        if (last)
            return TAUT_OK;
    }
}

static int read_varied(const reading *r)
{
    const char *equals = strchr(r->text, '=');
    if (!equals || equals == r->text)
        return FAIL(r, "expected NAME=VALUES, such as omega=1,2,5 or omega=1:10:4, found '%.80s'",
                    r->text);
    size_t length = (size_t)(equals - r->text);
    while (length > 0 && r->text[length - 1] == ' ')
        length--;
    char *name = taut_arena_text(r->arena, r->text, length),
         *values = taut_arena_text(r->arena, equals + 1, strlen(equals + 1));
    TAUT_NEED(r->error, name, values);
    r->to->name = name;
    TAUT_TRY(find_name(r, name));
    return read_values(r, values);
}

/* ---- runs */

static int count_runs(taut_vary_plan *plan, int64_t draws, taut_error *error)
{
    double product = 1;
    int64_t most = 1;
    for (int k = 0; k < plan->count; k++) {
        product *= (double)plan->varied[k].count;
        most = plan->varied[k].count > most ? plan->varied[k].count : most;
    }
    plan->runs = plan->random ? draws : plan->zip ? most : (int64_t)fmin(product, 2 * MOST_RUNS);
    for (int k = 0; k < plan->count && plan->zip; k++)
        if (plan->varied[k].count != most && plan->varied[k].count != 1)
            return taut_fail_option(error, TAUT_ERROR_USAGE, "zip",
                                    "expected equally many values of each name, or one; %.60s has "
                                    "%lld, and another has %lld",
                                    plan->varied[k].name, (long long)plan->varied[k].count,
                                    (long long)most);
    if ((double)plan->runs > MOST_RUNS)
        return taut_fail_option(error, TAUT_ERROR_SIZE, "vary",
                                "%.3g runs are too many for one sweep; at most %.0e",
                                plan->random ? (double)draws : product, MOST_RUNS);
    return TAUT_OK;
}

int taut_vary_create(taut_arena *arena, const taut_system *system,
                     const taut_sweep_request *request, taut_vary_plan *plan, taut_error *error)
{
    int count = request->vary_count;
    *plan = (taut_vary_plan){.zip = request->zip,
                             .random = request->random > 0,
                             .seed = (uint64_t)request->seed,
                             .count = count};
    if (count < 1 || count > MOST_NAMES)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "vary",
                                "expected 1 to %d names to vary, found %d", MOST_NAMES, count);
    if (plan->zip && plan->random)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "zip",
                                "random draws have no pairs: give either zip or random");
    plan->varied = TAUT_NEW(arena, taut_varied, count);
    TAUT_NEED(error, plan->varied);
    for (int k = 0; k < count; k++) {
        reading r = {arena, system, plan->random, &plan->varied[k], request->vary[k], error};
        TAUT_REQUIRE(request->vary[k]);
        TAUT_TRY(read_varied(&r));
        for (int j = 0; j < k; j++)
            if (strcmp(plan->varied[j].name, plan->varied[k].name) == 0)
                return taut_fail_option(error, TAUT_ERROR_USAGE, "vary", "%.60s is varied twice",
                                        plan->varied[k].name);
    }
    return count_runs(plan, request->random, error);
}

/* Of random draws: an item, then a place in its range. */
static double draw(const taut_vary_plan *plan, const taut_varied *v, int64_t run, int j,
                   const taut_vary_item **item)
{
    uint64_t i = (uint64_t)run, k = 2 * (uint64_t)j;
    *item = &v->item[(int)(taut_random_at(plan->seed, i, k) * v->items)];
    double part = taut_random_at(plan->seed, i, k + 1), from = (*item)->from, to = (*item)->to;
    return from == to             ? from
           : (*item)->logarithmic ? from * pow(to / from, part)
                                  : from + part * (to - from);
}

double taut_vary_value(const taut_vary_plan *plan, int64_t run, int j, char text[TAUT_VARIED_TEXT])
{
    const taut_varied *v = &plan->varied[j];
    const taut_vary_item *item = v->item;
    double value;
    if (plan->random) {
        value = draw(plan, v, run, j, &item);
    } else {
        int64_t k = run;
        for (int i = plan->count - 1; i > j && !plan->zip; i--)
            k /= plan->varied[i].count;
        for (k %= v->count; k >= item->count; item++)
            k -= item->count;
        value = item_value(item, k);
    }
    if (item->word)
        snprintf(text, TAUT_VARIED_TEXT, "%s", item->word);
    else
        taut_number_format(value, 17, text);
    return item->word ? NAN : value;
}
