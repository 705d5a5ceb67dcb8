/* test_sweep.c - sweeps: kept values against analysis, which values each run has, the same table
 * for any number of threads and after any interruption, failed runs, wrong requests, memory that
 * fails. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <unistd.h>

#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

/* x = a cos(w t), y'' = 0; energy a^2 w^2 / 2 + 1/2 */
static const char oscillator[] =
    "[parameters]\na = 1, w = 1\n[coordinates]\nx, y\n[potential]\nw^2*x^2/2\n"
    "[outputs]\ntwice = 2*x\n[events]\nzero = x then y' = y'\n[start]\nx = a, y = x + 1, y' = 1\n"
    "[run]\nuntil = 6.2831853071795862\nrtol = 1e-10\nverify = never\n";
static const char chain[] =
    "[parameters]\nn = 2, w = 30\n[particles]\ndimension = 2\np[i] for i in 1..n mass 1\n"
    "[potential]\nsum(p[i].y for i in 1..n)\n[bonds]\nlink[1] = length(p[1]) - 1 rigid\n"
    "link[i] = length(p[i] - p[i-1]) - 1 for i in 2..n rigid\n"
    "[start]\np[i] = (i, 0) for i in 1..n\n[run]\nuntil = 0.5\nverify = never\n";
static const char springs[] =
    "[parameters]\nomega = 300, g = 1\n[coordinates]\nx1, y1, x2, y2\n[potential]\ng*(y1 + y2)\n"
    "[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\n"
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n"
    "[start]\nx1 = 1, x2 = 2\n[run]\nuntil = 150/omega\nverify = auto\n";
/* x = a e^t: log(3 - x) cannot be evaluated from x = 3 on */
static const char failing[] =
    "[parameters]\na = 1\n[state]\nx\n[rates]\nx' = x + 1e-30*log(3 - x)\n"
    "[start]\nx = a\n[run]\nuntil = 1\n";

enum { MOST = 8 };
typedef struct swept {
    taut_system *system;
    taut_options *options;
    taut_sweep *sweep;
    taut_error error;
    int code;
} swept;

typedef struct asked {
    const char *model;
    const char *vary[MOST], *keep[MOST]; /* end with NULL */
    taut_sweep_request more;             /* what else is asked */
    const taut_allocator *allocator;
    taut_progress progress;
    void *user;
    bool bare; /* without `load` */
} asked;

static swept sweep(const asked *a)
{
    swept s = {0};
    taut_load how;
    taut_load_init(&how);
    taut_sweep_request request = a->more;
    request.size = sizeof request;
    request.vary = a->vary;
    request.keep = a->keep;
    request.load = a->bare ? NULL : &how;
    while (a->vary[request.vary_count])
        request.vary_count++;
    while (a->keep[request.keep_count])
        request.keep_count++;
    s.code = taut_system_parse(a->model, strlen(a->model), "model", &how, &s.system, &s.error);
    if (s.code == 0)
        s.code = taut_sweep_run(s.system, NULL, &request, a->allocator, a->progress, a->user,
                                &s.sweep, &s.error);
    return s;
}

static void drop(swept *s)
{
    taut_sweep_destroy(s->sweep);
    taut_system_destroy(s->system);
    *s = (swept){0};
}

static taut_swept row_of(const swept *s, int64_t k)
{
    taut_swept row;
    taut_swept_init(&row);
    check_row(taut_sweep_get(s->sweep, k, &row, NULL) == 0, "row %lld", (long long)k);
    return row;
}

/* ---- kept values */

static void test_values(void)
{
    const double pi = acos(-1);
    const struct {
        const char *keep;
        double expected, allowed; /* for a = 2, w = 1 */
    } rows[] = {{"start(x)", 2, 0},
                {"end(x)", 2, 1e-7},
                {"end(x')", 0, 1e-7},
                {"max(x)", 2, 1e-7},
                {"min(x)", -2, 1e-5},
                {"argmin(x)", pi, 0.01},
                {"argmax(twice)", 0, 7},
                {"max(twice)", 4, 1e-7},
                {"mean(x)", 0, 1e-6},
                {"rms(x)", sqrt(2), 1e-6},
                {"mean(y)", 3 + pi, 1e-6},
                {"end(t)", 2 * pi, 1e-12},
                {"count(zero)", 2, 0},
                {"max(energy)", 2.5, 1e-6},
                {"max(abs(energy - start(energy)))", 0, 1e-6},
                {"max(abs(x - start(x)))", 4, 1e-5},
                {"(max(x) - min(x))/a^2 + pi", 1 + pi, 1e-5},
                {"max(max(max(x, 0)), 1)", 2, 1e-7},
                {"max(if(x > 0, x, -3*x))", 6, 1e-4},
                {"min(end(x), start(y), 7)", 2, 1e-7},
                {"-2^2 + end(y)*0", -4, 0}};
    check_group("kept values");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        asked a = {.model = oscillator, .vary = {"a=2"}, .keep = {rows[k].keep}};
        swept s = sweep(&a);
        if (check_row(s.code == 0, "%s: %s", rows[k].keep, s.error.message)) {
            taut_swept row = row_of(&s, 0);
            check_near(rows[k].keep, row.kept[0], rows[k].expected, rows[k].allowed);
        }
        drop(&s);
    }
    asked a = {.model = chain,
               .vary = {"n=2,3,4"},
               .keep = {"end(p[n].x)", "max(lambda(link[1]))", "end(p[2].x)"}};
    swept s = sweep(&a);
    check_row(s.code == 0, "a size is varied: %s", s.error.message);
    if (s.code == 0) {
        taut_swept two = row_of(&s, 0), four = row_of(&s, 2);
        check_row(two.kept[0] == two.kept[2], "p[n] is p[2] of two");
        check_row(four.kept[0] > 2.5 && four.kept[0] < 4, "p[4].x = %g", four.kept[0]);
        check_row(four.kept[1] > two.kept[1], "more links, larger force");
    }
    drop(&s);
}

static void test_wrong_keep(void)
{
    const struct {
        const char *keep, *message;
        int column;
    } rows[] = {{"max(z)", "unknown name 'z'", 5},
                {"x", "write end(x)", 1},
                {"1 + energy", "write end(energy)", 5},
                {"max(min(x))", "cannot be inside", 5},
                {"start(x - start(x))", "cannot be inside", 11},
                {"max(x", "expected ')'", 6},
                {"end(x) end(y)", "an operator or the end", 8},
                {"count(one)", "unknown event 'one'", 7},
                {"count(x + 1)", "needs the name of an event", 1},
                {"end(lambda(b))", "unknown bond 'b'", 12},
                {"end(x'')", "no second derivative", 5},
                {"end((x, y))", "vectors are unsupported", 5},
                {"rms(x, y)", "needs 1 argument, found 2", 1},
                {"end(sinn(x))", "unknown function 'sinn'", 5}};
    check_group("wrong expressions");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        asked a = {.model = oscillator, .vary = {"a=1"}, .keep = {rows[k].keep}};
        swept s = sweep(&a);
        check_row(s.code == TAUT_ERROR_MODEL && strstr(s.error.message, rows[k].message) &&
                      s.error.column == rows[k].column && strcmp(s.error.file, "<keep>") == 0,
                  "%s: %s: '%s' at column %d, expected '%s' at %d", rows[k].keep,
                  taut_code_name(s.code), s.error.message, s.error.column, rows[k].message,
                  rows[k].column);
        drop(&s);
    }
}

/* ---- varied values */

static void test_plan(void)
{
    char text[80];
    check_group("varied values");
    asked a = {.model = oscillator,
               .vary = {"a=1,2", "w=1:100:log3, 5", "rtol=1e-8,1e-9"},
               .keep = {"start(x)*w"},
               .more = {.threads = 2}};
    swept s = sweep(&a);
    int64_t runs = 0;
    check_row(s.code == 0, "product: %s", s.error.message);
    check_equal("runs of the product", taut_sweep_rows(s.sweep, &runs), 16);
    static const double w[] = {1, 10, 100, 5};
    for (int k = 0; k < 16 && s.code == 0; k++) {
        taut_swept row = row_of(&s, k);
        double first = k < 8 ? 1 : 2, second = w[k / 2 % 4];
        check_row(row.varied[0] == first && fabs(row.varied[1] - second) < 1e-13 * second &&
                      row.varied[2] == (k % 2 ? 1e-9 : 1e-8) &&
                      row.kept[0] == row.varied[0] * row.varied[1],
                  "run %d has %g, %g, %g", k, row.varied[0], row.varied[1], row.varied[2]);
    }
    check_row(taut_sweep_text(s.sweep, 1, 2, text, sizeof text) && strtod(text, NULL) == 1e-9,
              "text %s", text);
    check_row(!taut_sweep_text(s.sweep, 16, 0, text, sizeof text), "out of range");
    drop(&s);
    asked zipped = {.model = oscillator,
                    .vary = {"a=1:3:3", "w=pi/2,1,2", "method=dop8"},
                    .keep = {"start(x)"},
                    .more = {.zip = true}};
    s = sweep(&zipped);
    check_row(s.code == 0, "zip: %s", s.error.message);
    check_equal("runs of pairs", taut_sweep_rows(s.sweep, NULL), 3);
    if (s.code == 0) {
        taut_swept row = row_of(&s, 2);
        check_row(row.varied[0] == 3 && row.varied[1] == 2 && isnan(row.varied[2]), "third pair");
        check_near("pi/2", row_of(&s, 0).varied[1], acos(0), 0);
    }
    drop(&s);
}

/* Means of 400 draws: of 1:3 2 +- 4 sigma, of 1:100:log 10 in logarithms. */
static void test_random(void)
{
    double first[3] = {0};
    check_group("random values");
    for (int seed = 1; seed <= 2; seed++) {
        asked a = {.model = failing,
                   .vary = {"a=0.1:0.3", "until=0.001:0.1:log"},
                   .keep = {"start(x)"},
                   .more = {.random = 400, .seed = seed, .threads = 2}};
        swept s = sweep(&a);
        double mean = 0, logs = 0, least = 1;
        check_row(s.code == 0, "%s", s.error.message);
        for (int k = 0; k < 400 && s.code == 0; k++) {
            taut_swept row = row_of(&s, k);
            mean += row.varied[0] / 400;
            logs += log10(row.varied[1]) / 400;
            least = fmin(least, row.varied[0]);
            check_row(row.kept[0] == row.varied[0], "initial value of run %d", k);
        }
        check_near("mean", mean, 0.2, 4 * 0.2 / sqrt(12 * 400));
        check_near("mean of the logarithm", logs, -2, 4 * 2 / sqrt(12 * 400));
        first[seed] = s.code == 0 ? row_of(&s, 0).varied[0] : NAN;
        drop(&s);
    }
    check_row(first[1] != first[2], "seeds draw other values");
}

/* Initial values are those of a model that states them; what depends on them follows. */
static void test_initial(void)
{
    const char *init[] = {"x=3", "y'=0.5"};
    taut_load how;
    taut_load_init(&how);
    how.init = init;
    how.init_count = 2;
    check_group("initial values");
    asked a = {.model = oscillator,
               .vary = {"x=2,3", "y'=0.5"},
               .keep = {"start(x)", "start(y)", "end(y)", "end(x)"}};
    swept s = sweep(&a);
    check_row(s.code == 0, "%s", s.error.message);
    taut_system *system = NULL;
    taut_sweep *one = NULL;
    static const char *const nothing[] = {"a=1"};
    taut_sweep_request request;
    taut_sweep_request_init(&request);
    request.vary = nothing;
    request.vary_count = 1;
    request.keep = a.keep;
    request.keep_count = 4;
    int code = taut_system_parse(oscillator, strlen(oscillator), "model", &how, &system, &s.error);
    if (code == 0)
        code = taut_sweep_run(system, NULL, &request, NULL, NULL, NULL, &one, &s.error);
    taut_swept stated;
    taut_swept_init(&stated);
    if (check_row(s.code == 0 && code == 0 && taut_sweep_get(one, 0, &stated, NULL) == 0, "%s",
                  s.error.message))
        for (int k = 0; k < 4; k++)
            check_row(row_of(&s, 1).kept[k] == stated.kept[k], "%s: %.17g, stated %.17g", a.keep[k],
                      row_of(&s, 1).kept[k], stated.kept[k]);
    if (s.code == 0)
        check_near("y = x + 1", row_of(&s, 0).kept[1], 3, 0);
    taut_sweep_destroy(one);
    taut_system_destroy(system);
    drop(&s);
}

static void test_wrong_vary(void)
{
    const struct {
        const char *vary, *message;
    } rows[] = {{"a", "expected NAME=VALUES"},
                {"a=", "expected NAME=VALUES"},
                {"a=1,,2", "expected NAME=VALUES"},
                {"b=1", "is no parameter"},
                {"out=x.csv", "is no parameter"},
                {"x'''=1", "is no parameter"},
                {"a=1:2", "how many values"},
                {"a=1:2:0", "number of values"},
                {"a=-1:2:log4", "ends of one sign"},
                {"a=one", "expected numbers"},
                {"rtol=2", "found '2'"},
                {"method=dop9", "unknown method 'dop9'"},
                {"motion=fast", "expected one of"},
                {"a=1:2:20000000", "number of values"}};
    check_group("wrong values");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        asked a = {.model = oscillator, .vary = {rows[k].vary}, .keep = {"end(x)"}};
        swept s = sweep(&a);
        check_row(s.code == TAUT_ERROR_USAGE && strstr(s.error.message, rows[k].message),
                  "%s: %s: %s", rows[k].vary, taut_code_name(s.code), s.error.message);
        drop(&s);
    }
    asked twice = {.model = oscillator, .vary = {"a=1", "a=2"}, .keep = {"end(x)"}};
    asked pairs = {.model = oscillator,
                   .vary = {"a=1,2", "w=1,2,3"},
                   .keep = {"end(x)"},
                   .more = {.zip = true}};
    swept s = sweep(&twice);
    check_contains("twice", s.error.message, "varied twice");
    drop(&s);
    s = sweep(&pairs);
    check_contains("unequal", s.error.message, "equally many");
    drop(&s);
}

/* ---- the table */

static char *contents(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    *length = file && text ? fread(text, 1, (1 << 16) - 1, file) : 0;
    if (file)
        fclose(file);
    return text;
}

#ifndef TAUT_CORE
static void put(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    check_row(file && fwrite(text, 1, length, file) == length, "writes %s", path);
    if (file)
        fclose(file);
}
#endif

static asked table(const char *path)
{
    return (asked){.model = failing,
                   .vary = {"a=0.5:2:6", "until=0.1,1"},
                   .keep = {"end(x)", "max(x)/a"},
                   .more = {.path = path}};
}

static void test_table(char *path)
{
    size_t whole = 0, length;
    char *text[4];
    check_group("the table");
    for (int threads = 1; threads <= 3; threads++) {
        asked a = table(path);
        a.more.threads = threads;
        swept s = sweep(&a);
        check_row(s.code == 0, "%d threads: %s", threads, s.error.message);
        text[threads] = contents(path, &length);
        whole = threads == 1 ? length : whole;
        check_row(length == whole && memcmp(text[threads], text[1], whole) == 0,
                  "%d threads: another table", threads);
        int64_t failed = 0;
        for (int64_t k = 0; k < 12 && s.code == 0; k++) {
            taut_swept row = row_of(&s, k);
            bool fails = row.varied[0] * exp(row.varied[1]) > 3;
            failed += row.status < 0;
            check_row((row.status < 0) == fails && (row.message[0] != 0) == fails &&
                          isnan(row.kept[0]) == fails,
                      "run %lld: status %d, '%s'", (long long)k, row.status, row.message);
            if (!fails)
                check_near("x", row.kept[0], row.varied[0] * exp(row.varied[1]), 1e-5);
        }
        check_row(failed > 2 && failed < 10, "%lld runs failed", (long long)failed);
        drop(&s);
    }
    check_row(strncmp(text[1], "run,a,until,end(x),max(x)/a,status,error,steps,", 47) == 0,
              "header %.60s", text[1]);
#ifndef TAUT_CORE
    check_group("going on");
    for (size_t cut = 0; cut <= whole; cut += cut < 60 ? 7 : 41) {
        put(path, text[1], cut);
        asked a = table(path);
        a.more.resume = true;
        a.more.threads = 2;
        swept s = sweep(&a);
        char *again = contents(path, &length);
        check_row(s.code == 0 && length == whole && memcmp(again, text[1], whole) == 0,
                  "cut at %zu: %s, %zu bytes of %zu", cut, s.error.message, length, whole);
        if (s.code == 0)
            check_near("a value that was read", row_of(&s, 0).kept[0], 0.5 * exp(0.1), 1e-6);
        free(again);
        drop(&s);
    }
    put(path, text[1], whole);
    asked other = table(path);
    other.more.resume = true;
    other.vary[0] = "a=0.5:2.1:6";
    swept s = sweep(&other);
    check_row(s.code == TAUT_ERROR_FILE, "another sweep: %s", s.error.message);
    check_contains("another sweep", s.error.message, "row 3 is not that of this sweep");
    drop(&s);
    other.keep[0] = "max(x)";
    s = sweep(&other);
    check_contains("other columns", s.error.message, "line 1 is not that of this sweep");
    drop(&s);
#endif
    for (int k = 1; k <= 3; k++)
        free(text[k]);
}

/* Slow motion: patterns and expansions of one system that all threads share. */
static void test_shared(void)
{
    check_group("threads share a system");
    asked a = {
        .model = springs,
        .vary = {"omega=300,600", "g=0.5,1,2", "motion=slow,rigid"},
        .keep = {"end(x2)", "max(lambda(inner))", "max(abs(energy - start(energy)))", "end(t)"},
        .bare = true}; /* [run] has omega: its numbers follow, the model is not read again */
    swept one = sweep(&a);
    a.more.threads = 3;
    swept three = sweep(&a);
    check_row(one.code == 0 && three.code == 0, "%s", one.error.message);
    for (int k = 0; k < 12 && one.code == 0 && three.code == 0; k++) {
        taut_swept x = row_of(&one, k), y = row_of(&three, k);
        check_row(x.status == 0 && memcmp(x.kept, y.kept, 4 * sizeof *x.kept) == 0 &&
                      x.error == y.error && x.force_evaluations == y.force_evaluations,
                  "run %d: %s %.17g and %.17g", k, x.message, x.kept[0], y.kept[0]);
        check_below("measured error", x.error, 1e-4);
        check_near("end", x.kept[3], 150 / x.varied[0], 1e-15);
    }
    drop(&one);
    drop(&three);
    a = (asked){.model = chain, .vary = {"n=2,3"}, .keep = {"end(p[1].x)"}, .bare = true};
    one = sweep(&a);
    check_equal("sizes", one.code, TAUT_ERROR_REFUSED);
    check_contains("sizes", one.error.message, "n fixes sizes or indices");
    drop(&one);
}

static int stop_after(void *user, double t, double until, int64_t steps)
{
    (void)until, (void)steps;
    return t >= *(const double *)user;
}

static void test_interrupt(const char *path)
{
    double most = 4;
    check_group("interrupted");
    for (int threads = 1; threads <= 2; threads++) {
        asked a = table(path);
        a.progress = stop_after;
        a.user = &most;
        a.more.threads = threads;
        swept s = sweep(&a);
        int64_t runs = 0, rows = taut_sweep_rows(s.sweep, &runs);
        /* of two threads one may be in its last run when the other is asked to stop */
        check_row(runs == 12 && rows >= (threads == 1 ? 4 : 1) && rows <= (threads == 1 ? 4 : 12) &&
                      s.code == (rows < 12 ? TAUT_INTERRUPTED : TAUT_OK),
                  "%d threads: %s, %lld rows of %lld", threads, taut_code_name(s.code),
                  (long long)rows, (long long)runs);
        size_t length, lines = 0;
        char *text = contents(path, &length);
        for (size_t k = 0; k < length; k++)
            lines += text[k] == '\n';
        check_equal("rows in the file", (long long)lines - 1, rows);
        free(text);
        drop(&s);
    }
}

static void test_memory(void)
{
    int64_t calls = 1;
    check_group("memory");
    for (int64_t k = 0; k <= calls; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        asked a = {.model = failing,
                   .vary = {"a=1,2", "until=0.1"},
                   .keep = {"end(x)"},
                   .allocator = &allocator};
        swept s = sweep(&a);
        if (k == 0)
            calls = f.calls;
        if (f.failed > 0)
            check_row(s.code == TAUT_ERROR_MEMORY && !s.sweep, "call %lld fails: %s", (long long)k,
                      taut_code_name(s.code));
        drop(&s);
        check_row(f.live == 0, "call %lld fails: %lld blocks are left", (long long)k,
                  (long long)f.live);
    }
    check_row(calls > 10, "%lld allocations", (long long)calls);
}

int main(void)
{
    char path[] = "/tmp/taut_test_sweep_XXXXXX";
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    test_values();
    test_wrong_keep();
    test_plan();
    test_random();
    test_initial();
    test_wrong_vary();
    test_table(path);
    test_shared();
    test_interrupt(path);
    test_memory();
    remove(path);
    return check_done();
}
