/* test_hostile_models.c - models that are right word by word and made to do harm as a whole:
 * definitions inside one another, loops without members, statements without end. Each gets its
 * answer from a stack of 8 MB and within a bounded memory; thousands of ordinary statements cost
 * in proportion to their number. A hang is a failure of tests/run. */
#include <taut/taut.h>

#include "support/table.h"

#include <stdint.h>

/* ---- memory */

typedef struct meter {
    size_t used, most;
} meter;

enum { NOTE = 64 }; /* before each block: its size; alignment stays */

static void *meter_allocate(void *user, size_t bytes)
{
    meter *m = user;
    char *block = malloc(bytes + NOTE);
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    m->used += bytes;
    m->most = m->used > m->most ? m->used : m->most;
    return block + NOTE;
}

static void meter_release(void *user, void *place)
{
    meter *m = user;
    size_t bytes;
    if (!place)
        return;
    memcpy(&bytes, (char *)place - NOTE, sizeof bytes);
    m->used -= bytes;
    free((char *)place - NOTE);
}

/* ---- texts */

typedef struct text {
    char *at;
    size_t length, size;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
    if (t->size - t->length < 4096) {
        t->size = 2 * t->size + 65536;
        t->at = realloc(t->at, t->size);
    }
    va_list list;
    va_start(list, format);
    t->length += (size_t)vsnprintf(t->at + t->length, 4096, format, list);
    va_end(list);
}

/* count times `pattern`, with the number in it */
static void repeat(text *t, int first, int count, const char *before, const char *after)
{
    for (int k = first; k < first + count; k++)
        add(t, "%s%d%s", before, k, after);
}

/* d0 = x; dk = d(k-1) and a row of `terms` */
static void chain_of_definitions(text *t, int count, int terms, const char *term)
{
    add(t, "[coordinates]\nx\n[definitions]\nd0 = x\n");
    for (int k = 1; k < count; k++) {
        add(t, "d%d = d%d", k, k - 1);
        for (int j = 0; j < terms; j++)
            add(t, "%s", term);
        add(t, "\n");
    }
}

static void deep_sum(text *t)
{
    chain_of_definitions(t, 64, 900, "+x");
    add(t, "[bonds]\nb = d63 - 1\n");
}

static void deep_product(text *t)
{
    chain_of_definitions(t, 64, 900, "*x");
    add(t, "[forces]\nx = d63\n");
}

static void deep_parameters(text *t)
{
    add(t, "[coordinates]\nx\n[parameters]\n");
    for (int k = 189; k > 0; k--) {
        add(t, "p%d = p%d", k, k - 1);
        for (int j = 0; j < 900; j++)
            add(t, "+1");
        add(t, "\n");
    }
    add(t, "p0 = 1\n");
}

/* each definition doubles and more what the one before it leads to: asked naively, phi^50
 * questions */
static void many_ways(text *t)
{
    add(t, "[coordinates]\nx\n[definitions]\nd0 = x\n");
    for (int k = 1; k < 30; k++) {
        add(t, "d%d = d%d", k, k - 1);
        for (int j = 0; j < 49; j++)
            add(t, " + d%d", k - 1);
        add(t, "\n");
    }
    add(t, "[forces]\nx = d29\n");
}

static void many_large_statements(text *t)
{
    add(t, "[coordinates]\nx\n[definitions]\nd0 = x\n");
    for (int k = 1; k < 17; k++)
        add(t, "d%d = d%d + d%d\n", k, k - 1, k - 1);
    add(t, "[potential]\n");
    for (int k = 0; k < 2000; k++)
        add(t, "d16\n");
}

static void own_sum(text *t)
{
    add(t, "[coordinates]\nx\n[definitions]\nd = d + sum(x*i for i in 1..2)\n[potential]\nd\n");
}

static void sums_in_turn(text *t)
{
    add(t, "[coordinates]\nx\n[definitions]\nd = e + sum(x*i for i in 1..2)\ne = "
           "2*d\n[potential]\nd\n");
}

static void empty_loops(text *t)
{
    add(t, "[coordinates]\nx[i,j,k] for i in 1..100000000, j in 1..100000000, k in 1..0\n");
}

static void empty_sums(text *t)
{
    add(t, "[coordinates]\nx\n[potential]\nsum(x for i in 1..9000000, j in 1..9000000, k in "
           "1..9000000, l in 1..0)\n");
}

static void empty_inner_sums(text *t)
{
    add(t, "[coordinates]\nx\n[bonds]\nb = sin(x*sum(1 for i in 1..4096, j in 1..4096, k in "
           "1..4096, l in 1..0))\n");
}

static void members_without_end(text *t)
{
    add(t, "[coordinates]\nx\n[potential]\n");
    for (int k = 0; k < 1000; k++)
        add(t, "sum(x^2*i for i in 1..16777216)\n");
}

static void ranges_without_end(text *t)
{
    add(t, "[coordinates]\n");
    for (int k = 0; k < 20000; k++)
        add(t, "x[i] for i in %d..%d\n", 2 * k, 2 * k + 1);
}

/* an argument that is known, asked for again and again */
static void known_argument(text *t)
{
    add(t, "[coordinates]\nx\n[definitions]\nmany(c) = 0");
    for (int k = 0; k < 900; k++)
        add(t, "+if(c, 1, 2)");
    add(t, "\nmore(c) = 0");
    for (int k = 0; k < 900; k++)
        add(t, "+many(c)");
    add(t, "\nlarge = 0");
    for (int k = 1; k < 900; k++)
        add(t, "+sin(%d*x)", k);
    add(t, "\n[forces]\nx = more(large)\n");
}

static void contributions(text *t)
{
    add(t, "[coordinates]\nx[i] for i in 1..300\n[potential]\nsum(sin(x[1]");
    repeat(t, 2, 199, "+x[", "]*i");
    add(t, ") for i in 1..1000000)\n");
}

/* ---- bounded harm */

typedef struct hostile {
    const char *name;
    void (*write)(text *t);
    int status;
    const char *message; /* part of it */
} hostile;

static const hostile rows[] = {
    {"sums inside one another", deep_sum, TAUT_ERROR_MODEL, "levels"},
    {"products inside one another", deep_product, TAUT_ERROR_MODEL, "levels"},
    {"parameters inside one another", deep_parameters, TAUT_ERROR_MODEL, "levels"},
    {"a definition with very many ways", many_ways, TAUT_ERROR_MODEL, "too large"},
    {"very many large statements", many_large_statements, TAUT_ERROR_MODEL,
     "this model is too large"},
    {"a definition that adds a sum to itself", own_sum, TAUT_ERROR_MODEL, "depends on itself"},
    {"two definitions that do so in turn", sums_in_turn, TAUT_ERROR_MODEL, "depends on itself"},
    {"loops without members", empty_loops, TAUT_ERROR_MODEL, "more than 16777216 members"},
    {"sums without terms", empty_sums, TAUT_ERROR_MODEL, "more than 16777216 members"},
    {"inner sums without terms", empty_inner_sums, TAUT_ERROR_MODEL, "too large"},
    {"members without end", members_without_end, TAUT_ERROR_SIZE, "too large"},
    {"ranges without end", ranges_without_end, TAUT_ERROR_MODEL, "more than 4096 lines"},
    {"a large condition, asked very often", known_argument, TAUT_ERROR_MODEL, "too large"},
    {"second derivatives without end", contributions, 0, ""},
};

static int parse(const text *t, meter *m, taut_system **system, taut_error *error)
{
    taut_allocator allocator = {meter_allocate, meter_release, m};
    taut_load how = {.size = sizeof how, .allocator = &allocator};
    return taut_system_parse(t->at, t->length, "test", &how, system, error);
}

static void check_hostile(void)
{
    check_group("hostile");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        text t = {0};
        meter m = {0};
        taut_system *system = NULL;
        taut_error error = {0};
        rows[k].write(&t);
        int status = parse(&t, &m, &system, &error);
        check_row(status == rows[k].status && strstr(error.message, rows[k].message),
                  "%s: status %d, \"%s\"", rows[k].name, status, error.message);
        check_row(status == 0 || (error.line > 0 && error.column > 0), "%s: at %d:%d", rows[k].name,
                  error.line, error.column);
        check_row(m.most < (size_t)1 << 30, "%s: %.0f MB", rows[k].name, (double)m.most / 1e6);
        taut_pattern pattern;
        if (status == 0)
            check_equal(rows[k].name,
                        taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &pattern, &error),
                        TAUT_ERROR_SIZE);
        taut_system_destroy(system);
        check_equal("memory given back", (long long)m.used, 0);
        free(t.at);
    }
}

/* ---- many plain statements */

static void many_parameters(text *t, int n)
{
    add(t, "[coordinates]\nx\n[parameters]\n");
    repeat(t, 1, n, "p", " = 1\n");
}

static void many_members(text *t, int n)
{
    add(t, "[coordinates]\nx\n[parameters]\n");
    repeat(t, 1, n, "p[", "] = 1\n");
    add(t, "[forces]\nx = 0");
    repeat(t, 1, 500, "+p[", "]*x");
    add(t, "\n");
}

static void many_bonds(text *t, int n)
{
    add(t, "[coordinates]\nx[i] for i in 1..%d\n[bonds]\n", n);
    for (int k = 1; k <= n; k++)
        add(t, "b%d = x[%d] stiffness %d damping 1\n", k, k, k);
}

static void many_masses(text *t, int n)
{
    add(t, "[coordinates]\nx[i] for i in 1..%d\n[mass]\n", n);
    repeat(t, 1, n, "x[", "] = 2\n");
}

static void many_coordinates(text *t, int n)
{
    add(t, "[coordinates]\n");
    repeat(t, 1, n, "x", "\n");
    add(t, "[forces]\n");
    for (int k = 1; k <= n; k++)
        add(t, "x%d = -x%d\n", k, k);
    add(t, "[start]\n");
    repeat(t, 1, n, "x", " = 1\n");
}

static void many_outputs(text *t, int n)
{
    add(t, "[coordinates]\nx\n[outputs]\n");
    repeat(t, 1, n, "o", " = x\n");
    repeat(t, 1, n, "p[", "] = x\n");
    add(t, "[events]\n");
    repeat(t, 1, n, "e", " = x rising stop\n");
}

static void many_primes(text *t, int n)
{
    add(t, "[coordinates]\nx\n[definitions]\na = x\nlarge = 0");
    for (int k = 1; k < 900; k++)
        add(t, "+sin(%d*x)", k);
    add(t, "\nsome = 0");
    for (int k = 0; k < 20; k++)
        add(t, "+a'");
    add(t, "\n[forces]\nx = large*(0");
    for (int k = 0; k < n / 20; k++)
        add(t, "+some");
    add(t, ")\n");
}

static void many_lookups(text *t, int n)
{
    add(t, "[coordinates]\nx[i] for i in 1..2\n[forces]\nx[i] = 0");
    for (int k = 0; k < n / 50; k++)
        add(t, "+if(i > %d, 1, 2)*sin(%d*x[i])", k + 2, k);
    add(t, " for i in 1..2\n");
}

static void check_growth(void)
{
    static const struct {
        const char *name;
        void (*write)(text *t, int n);
    } kinds[] = {{"parameters", many_parameters},   {"members of a family", many_members},
                 {"springs", many_bonds},           {"masses", many_masses},
                 {"coordinates", many_coordinates}, {"outputs and events", many_outputs},
                 {"time derivatives", many_primes}, {"conditions", many_lookups}};
    check_group("in proportion");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        double most[2];
        for (int large = 0; large < 2; large++) {
            text t = {0};
            meter m = {0};
            taut_system *system = NULL;
            taut_error error = {0};
            kinds[k].write(&t, large ? 8000 : 1000);
            int status = parse(&t, &m, &system, &error);
            check_row(status == 0, "%s: %s", kinds[k].name, error.message);
            taut_system_destroy(system);
            most[large] = (double)m.most;
            free(t.at);
        }
        check_row(most[1] < 12 * most[0],
                  "%s: eight times as many take %.1f times the memory (%.1f MB)", kinds[k].name,
                  most[1] / most[0], most[1] / 1e6);
    }
}

int main(void)
{
    check_hostile();
    check_growth();
    return check_done();
}
