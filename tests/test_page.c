/* test_page.c - what pages are made of: deflate against an inflate that is written here from RFC
 * 1951, fixed ends of bonds, gravity, thinning, misuse, memory that fails. Pages in a browser:
 * test_page.sh. */
#define _GNU_SOURCE
#include "io/page.h"
#include "support/run.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- inflate, with its own tables: slow and plain */

typedef struct reader {
    const unsigned char *bytes;
    int64_t count, bit;
} reader;

static int get_bit(reader *r)
{
    int64_t at = r->bit++;
    return at / 8 < r->count ? r->bytes[at / 8] >> (at % 8) & 1 : 0;
}

static int get_bits(reader *r, int count)
{
    int value = 0;
    for (int k = 0; k < count; k++)
        value |= get_bit(r) << k;
    return value;
}

/* The symbol of a canonical code with these lengths; -1: none. */
static int get_symbol(reader *r, const unsigned char *length, int symbols)
{
    int code = 0, first = 0;
    for (int bits = 1; bits <= 15; bits++) {
        int here = 0;
        code |= get_bit(r);
        for (int k = 0; k < symbols; k++) {
            if (length[k] != bits)
                continue;
            if (code - first == here)
                return k;
            here++;
        }
        first = (first + here) << 1;
        code <<= 1;
    }
    return -1;
}

/* Returns the number of bytes, -1: the stream is wrong. Blocks with codes of their own alone. */
static int64_t inflate(reader *r, unsigned char *to, int64_t room)
{
    static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    int64_t count = 0;
    for (bool last = false; !last;) {
        unsigned char of_lengths[19] = {0}, length[320] = {0};
        last = get_bit(r);
        if (get_bits(r, 2) != 2)
            return -1;
        int literals = get_bits(r, 5) + 257, distances = get_bits(r, 5) + 1,
            codes = get_bits(r, 4) + 4;
        for (int k = 0; k < codes; k++)
            of_lengths[order[k]] = (unsigned char)get_bits(r, 3);
        for (int k = 0; k < literals + distances; k++)
            length[k] = (unsigned char)get_symbol(r, of_lengths, 19);
        for (int symbol; (symbol = get_symbol(r, length, literals)) != 256;) {
            if (symbol < 0 || count >= room)
                return -1;
            if (symbol < 256) {
                to[count++] = (unsigned char)symbol;
                continue;
            }
            int k = symbol - 257, more = k < 8 || k == 28 ? 0 : k / 4 - 1,
                size = k < 8     ? k + 3
                       : k == 28 ? 258
                                 : ((4 + k % 4) << more) + 3 + get_bits(r, more),
                d = get_symbol(r, length + literals, distances), extra = d < 4 ? 0 : d / 2 - 1,
                back = d < 4 ? d + 1 : ((2 + d % 2) << extra) + 1 + get_bits(r, extra);
            if (d < 0 || back > count || count + size > room)
                return -1;
            for (int i = 0; i < size; i++, count++)
                to[count] = to[count - back];
        }
    }
    return count;
}

enum { MOST = 300000 };

/* Text k of a list of hard ones. */
static int64_t fill(int which, unsigned char *bytes)
{
    uint32_t seed = 1;
    int64_t count = which == 0 ? 0 : which == 1 ? 1 : MOST;
    for (int64_t k = 0; k < count; k++) {
        seed = seed * 1664525 + 1013904223;
        bytes[k] = (unsigned char)(which == 2   ? 0
                                   : which == 3 ? seed >> 24
                                   : which == 4 ? "a text that repeats itself, "[k % 28]
                                   : which == 5 ? __builtin_ctz(seed >> 4 | 1 << 27) /* deep tree */
                                                : (k / 1000) * (seed >> 31));
    }
    return count;
}

static void test_deflate(void)
{
    static unsigned char from[MOST], back[MOST];
    check_group("deflate");
    for (int which = 0; which < 7; which++) {
        taut_arena arena;
        taut_arena_init(&arena, NULL);
        taut_bytes packed = {.arena = &arena};
        int64_t count = fill(which, from);
        taut_deflate(&packed, from, count);
        reader r = {packed.data, packed.count, 0};
        int64_t got = inflate(&r, back, MOST);
        check_row(!packed.failed && got == count && memcmp(from, back, (size_t)count) == 0,
                  "text %d: %lld bytes, %lld back", which, (long long)count, (long long)got);
        check_row((r.bit + 7) / 8 == packed.count, "text %d: bytes behind its end", which);
        check_row(packed.count < 400 + count * 101 / 100, "text %d has %lld bytes", which,
                  (long long)packed.count);
        if (which == 2 || which == 4)
            check_row(packed.count < count / 100, "text %d has %lld bytes", which,
                      (long long)packed.count);
        taut_arena_clear(&arena);
    }
}

/* ---- pages of models */

typedef struct shown {
    taut_system *system;
    taut_page *page;
    taut_sink sink;
    taut_page_run_data *run;
    taut_error error;
} shown;

static int show(shown *s, const char *text, const taut_allocator *allocator)
{
    *s = (shown){0};
    int code = taut_system_parse(text, strlen(text), "m", NULL, &s->system, &s->error);
    if (code == 0)
        code = taut_page_create(allocator, &s->page, &s->error);
    if (code == 0)
        code = taut_page_run(s->page, "a run", &s->sink, &s->error);
    s->run = s->sink.user;
    return code == 0 ? s->sink.begin(s->sink.user, s->system, &s->error) : code;
}

static int add_row(shown *s, double t, const double *q, const double *v)
{
    static const double lambda[8];
    taut_row row = {.t = t, .q = q, .v = v, .lambda = lambda, .event = t > 2.5 && t < 3.5};
    return s->sink.row(s->sink.user, &row, &s->error);
}

static void hide(shown *s)
{
    taut_page_destroy(s->page);
    taut_system_destroy(s->system);
}

/* The latest fixed ends, two numbers each. */
static const double *ends_of(const shown *s)
{
    return s->run->latest + 1 + s->run->columns - s->run->width[TAUT_PAGE_SHAPE] -
           s->run->width[TAUT_PAGE_ANCHOR];
}

static void test_scene(void)
{
    static const char model[] =
        "[particles]\ndimension = 2\np[i] for i in 1..2  mass i\n[potential]\n"
        "9*(p[1].y + 2*p[2].y)\n[bonds]\nrod = length(p[1] - (3*t, 1)) - 1\n"
        "square = dot(p[2] - (5, 6), p[2] - (5, 6)) - 1  stiffness 10\nguide = p[2].y - 7\n"
        "pair = length(p[1] - p[2]) - 1  stiffness 10  damping 1\n[start]\np[1] = (0, 2)\n"
        "p[2] = (6, 7)\n";
    /* the second state of p[2] is at 45 degrees from (5, 6), near neither axis */
    static const double q[2][4] = {{0.6, 1.8, 6, 6.5}, {0.6, 1.8, 6, 7}}, v[4] = {1, 2, 3, 4};
    shown s;
    check_group("scene");
    int code = show(&s, model, NULL);
    check_row(code == 0, "%s", s.error.message);
    check_equal("points", s.run->points, 2);
    check_equal("fixed ends", s.run->anchors, 3);
    check_equal("rigid", s.run->kind[0], 0);
    check_equal("spring", s.run->kind[1], 1);
    check_equal("damped", s.run->kind[3], 2);
    for (int k = 0; k < 2; k++) {
        check_equal("row", add_row(&s, k, q[k], v), 0);
        const double *end = ends_of(&s);
        check_near("x of a moving end", end[0], 3 * k, 1e-9);
        check_near("y of a moving end", end[1], 1, 1e-9);
        check_near("x of the centre of a square", end[2], 5, 1e-9);
        check_near("y of the centre of a square", end[3], 6, 1e-9);
        check_row(isnan(end[4]), "a guide has the centre %g", end[4]);
    }
    check_near("gravity", s.run->gravity[1], -9, 1e-12);
    check_near("gravity", s.run->gravity[0], 0, 0);
    hide(&s);
}

/* The acceleration of the only point is gravity where it is the same in other places, too. */
static void test_gravity(void)
{
    static const struct {
        const char *potential;
        double g;
    } rows[] = {{"9*y", -9}, {"9*y + x^2", 0}, {"-1/sqrt(x^2 + y^2)", 0}};
    static const double q[2] = {0, 2}, v[2] = {0, 0};
    check_group("gravity");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[200];
        shown s;
        snprintf(model, sizeof model, "[coordinates]\nx, y\n[potential]\n%s\n", rows[k].potential);
        check_equal("begin", show(&s, model, NULL), 0);
        check_equal("row", add_row(&s, 0, q, v), 0);
        check_near(rows[k].potential, s.run->gravity[1], rows[k].g, 1e-12);
        hide(&s);
    }
}

/* ---- tables of sweeps */

#define COLUMNS "status,error,steps,force_evaluations,message\n"

static void test_tables(void)
{
    static const struct {
        const char *csv, *message; /* NULL: accepted */
    } rows[] = {
        {"run,a,max(x)," COLUMNS "1,2,3,done,,1,2,\n", NULL},
        {"run,a,\"max(x, 1)\"," COLUMNS "1,2,,failed,,1,2,\"a \"\"word\"\",\nand more\"\n2,3,",
         NULL},
        {"", "expected the table of a sweep"},
        {"t,x\n0,1\n", "expected the table of a sweep"},
        {"run,a,max(x)," COLUMNS, "no rows"},
        {"run,a,max(x)," COLUMNS "1,2,3,done,,1,2\n", "row 1 of the table has 7 fields"},
    };
    check_group("tables");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_page *page = NULL;
        taut_sink sink;
        taut_error error = {0};
        check_equal("create", taut_page_create(NULL, &page, &error), 0);
        int code = taut_page_table(page, "t", rows[k].csv, &error);
        check_row(rows[k].message
                      ? code == TAUT_ERROR_USAGE && strstr(error.message, rows[k].message) != NULL
                      : code == 0,
                  "table %d: %d %s", (int)k, code, error.message);
        if (code == 0) {
            check_equal("text", taut_page_text(page, "summary", "a text", &error), 0);
            check_equal("write", taut_page_write(page, "/dev/null", &error), 0);
            check_equal("a run", taut_page_run(page, "r", &sink, &error), TAUT_ERROR_USAGE);
            check_equal("two", taut_page_table(page, "u", rows[0].csv, &error), TAUT_ERROR_USAGE);
        }
        taut_page_destroy(page);
    }
}

/* Many rows: every second one, every fourth, ... and all in front of the one that is cut off. */
static void test_table_thinning(void)
{
    enum { ROWS = 100000 };
    static char csv[ROWS * 40];
    size_t used = (size_t)snprintf(csv, sizeof csv, "run,a,max(x)," COLUMNS);
    taut_page *page = NULL;
    taut_error error = {0};
    uint32_t seed = 1;
    check_group("thinning of tables");
    for (int k = 0; k < ROWS; k++) {
        seed = seed * 1664525 + 1013904223;
        used += (size_t)snprintf(csv + used, sizeof csv - used, "%d,%u,%u,done,,1,2,\n", k, seed,
                                 seed * 2654435761u);
    }
    check_equal("create", taut_page_create(NULL, &page, &error), 0);
    check_equal("table", taut_page_table(page, "t", csv, &error), 0);
    char path[] = "/tmp/taut_page_XXXXXX";
    int file = mkstemp(path);
    check_equal("write", taut_page_write(page, path, &error), 0);
    long long bytes = lseek(file, 0, SEEK_END);
    check_row(bytes > 500000 && bytes < 2100000, "%lld bytes", bytes);
    close(file);
    remove(path);
    taut_page_destroy(page);
}

static void test_thinning(void)
{
    static const char model[] = "[coordinates]\nx\n";
    shown s;
    check_group("thinning");
    check_equal("begin", show(&s, model, NULL), 0);
    int code = 0;
    for (int k = 0; k <= 10001 && code == 0; k++) {
        double x = k;
        code = add_row(&s, k, &x, &x);
    }
    check_equal("rows", code, 0);
    check_equal("end", s.sink.end(s.sink.user, &s.error), 0);
    int64_t frames = taut_page_frames(s.run, 1);
    check_row(frames > 1000 && frames <= 4001 && s.run->seen == 10002, "%d frames", (int)frames);
    const double *last = s.run->row + (s.run->kept - 1) * (1 + s.run->columns);
    check_near("the last row", last[0], 10001, 0);
    check_near("the first row", s.run->row[0], 0, 0);
    check_near("equal distances", s.run->row[1 + s.run->columns], s.run->stride, 0);
    check_equal("events", s.run->events, 1);
    check_equal("begin again", s.sink.begin(s.sink.user, s.system, &s.error), TAUT_ERROR_USAGE);
    hide(&s);
}

/* Two masses on springs, many times, the second one of each held to a fixed point in a few, and one
 * coordinate that is no point: one pair of five is kept, whatever has a fixed end, and phi.
 * Coordinate k is k, multiplier k is -k. */
static void test_particles(void)
{
    enum { PAIRS = 250000, FIXED = 5, COORDINATES = 4 * PAIRS + 1, EVERY = 5 };
    static const char model[] =
        "[particles]\ndimension = 2\na[i] for i in 1..250000\nb[i] for i in 1..250000\n"
        "[coordinates]\nphi\n[bonds]\nlink[i] = length(a[i] - b[i]) - 1 for i in 1..250000 "
        "stiffness 100\nfixed[i] = length(b[i]) - 1 for i in 1..5 stiffness 100\n"
        "[start]\na[i] = (i, 1) for i in 1..250000, b[i] = (i, 2) for i in 1..250000\n";
    shown s;
    check_group("particles");
    double *q = malloc((COORDINATES + 2 * PAIRS) * sizeof *q);
    if (check_row(q != NULL, "no memory") &&
        check_row(show(&s, model, NULL) == 0, "%s", s.error.message)) {
        for (int k = 0; k < COORDINATES; k++)
            q[k] = k;
        double *lambda = q + COORDINATES;
        for (int k = 0; k < 2 * PAIRS; k++)
            lambda[k] = -k;
        taut_row row = {.q = q, .v = q, .lambda = lambda};
        check_equal("row", s.sink.row(s.sink.user, &row, &s.error), 0);
        check_equal("end", s.sink.end(s.sink.user, &s.error), 0);
        const taut_page_run_data *run = s.run;
        const int64_t bonds = PAIRS / EVERY + FIXED, wide = run->width[TAUT_PAGE_POSITION];
        check_equal("one of", run->every, EVERY);
        check_equal("bonds", run->sizes.bonds, bonds);
        check_equal("multipliers", run->width[TAUT_PAGE_MULTIPLIER], bonds);
        /* pairs 1, 6, 11, ...; of 2 to 5 the second mass has a fixed end */
        check_equal("points", run->points, 2 * PAIRS / EVERY + FIXED - 1);
        check_equal("coordinates", wide, 2 * run->points + 1);
        int wrong = 0;
        for (taut_index k = 0; k < bonds; k++) {
            const double *at = run->row + 1, force = at[2 * wide + k];
            const int first = run->end[2 * k], second = run->end[2 * k + 1],
                      pair = k < PAIRS / EVERY ? EVERY * k : (int)(k - PAIRS / EVERY);
            wrong += k < PAIRS / EVERY ? force != -pair : force != -(PAIRS + pair);
            wrong += k < PAIRS / EVERY
                         ? fmin(at[first], at[second]) != 2 * pair ||
                               fabs(at[first] - at[second]) != 2 * PAIRS
                         : at[first] != 2 * (PAIRS + pair) || second != TAUT_PAGE_FIXED_END;
        }
        check_equal("bonds with other ends or forces", wrong, 0);
        check_near("phi", run->row[wide], COORDINATES - 1, 0);
        static const char begin[] = "a[1].x\na[1].y\na[6].x\n";
        check_row(memcmp(run->names.data, begin, sizeof begin - 1) == 0, "other names");
    }
    hide(&s);
    free(q);
}

static void test_misuse(void)
{
    taut_page *page = NULL;
    taut_sink sink;
    taut_error error = {0};
    check_group("misuse");
    check_equal("no page", taut_page_create(NULL, NULL, &error), TAUT_ERROR_USAGE);
    check_equal("create", taut_page_create(NULL, &page, &error), 0);
    check_equal("text of no run", taut_page_text(page, "a", "b", &error), TAUT_ERROR_USAGE);
    check_equal("no run", taut_page_write(page, "x.html", &error), TAUT_ERROR_USAGE);
    check_equal("no name", taut_page_run(page, NULL, &sink, &error), TAUT_ERROR_USAGE);
    for (int k = 0; k < TAUT_PAGE_RUNS; k++)
        check_equal("run", taut_page_run(page, "r", &sink, &error), 0);
    check_equal("too many", taut_page_run(page, "r", &sink, &error), TAUT_ERROR_USAGE);
    check_equal("no folder", taut_page_write(page, "/nowhere/x.html", &error), TAUT_ERROR_FILE);
    taut_page_destroy(page);
    taut_page_destroy(NULL);
}

/* Every allocation fails once: an error, and nothing stays behind. */
static void test_faults(void)
{
    static const char model[] =
        "[particles]\ndimension = 2\np  mass 1\n[bonds]\nrod = length(p) - 1\n"
        "[shapes]\nbob = circle(p, 0.1)\n[start]\np = (1, 0)\n";
    static const double q[2] = {1, 0}, v[2] = {0, 0};
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    int64_t calls = 1, failures = 0;
    check_group("memory");
    for (int64_t k = 0; k <= calls; k = faulty_next(k)) {
        shown s;
        f = (faulty){.fail = k};
        int code = show(&s, model, &allocator);
        for (int i = 0; i < 20 && code == 0; i++)
            code = add_row(&s, i, q, v);
        if (code == 0)
            code = s.sink.end(s.sink.user, &s.error);
        if (code == 0)
            code = taut_page_write(s.page, "/dev/null", &s.error);
        taut_page *other = NULL;
        if (code == 0)
            code = taut_page_create(&allocator, &other, &s.error);
        if (code == 0)
            code = taut_page_table(other, "t", "run,a," COLUMNS "1,2,done,,1,2,\n", &s.error);
        if (code == 0)
            code = taut_page_write(other, "/dev/null", &s.error);
        taut_page_destroy(other);
        failures += code == TAUT_ERROR_MEMORY;
        check_row(f.failed == 0 ? code == 0 : code == TAUT_ERROR_MEMORY || code == 0,
                  "call %d: %d %s", (int)k, code, s.error.message);
        hide(&s);
        check_row(f.live == 0, "call %d leaves %d blocks", (int)k, (int)f.live);
        calls = k == 0 ? f.calls : calls;
    }
    check_row(failures > 3, "%d of %d calls", (int)failures, (int)calls);
}

int main(void)
{
    test_deflate();
    test_scene();
    test_gravity();
    test_tables();
    test_table_thinning();
    test_thinning();
    test_particles();
    test_misuse();
    test_faults();
    return check_done();
}
