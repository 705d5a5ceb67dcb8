/* test_resume.c - a saved run goes on with the same bits: every shipped model with every method in
 * every motion, saved at some step and continued in a new solver, gives the rows, the result and
 * the statistics of the run that was not interrupted. The struct of the solver is compared byte by
 * byte, so that a new member that is not saved is found although no row shows it yet. Wrong bytes
 * are refused. */
#include <stdint.h>
#include <taut/taut.h>

#include "drive/solver.h"
#include "support/matrix_list.h"
#include "support/run.h"

enum { STEPS = 40, MODELS = 80 };

/* All rows as one number each, and the bytes of the run when it was saved. */
typedef struct record {
    uint64_t row[4096];
    int rows;
    int64_t save_at; /* after this many steps; -1: never */
    int rows_then;
    unsigned char *bytes;
    size_t count, room;
    taut_solver *like; /* the struct then */
    int status;
    taut_sizes sizes;
} record;

static uint64_t mix(uint64_t h, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < count; k++)
        h = (h ^ b[k]) * 0x100000001b3u;
    return h;
}

static int record_begin(void *user, const taut_system *system, taut_error *error)
{
    record *r = user;
    r->sizes.size = sizeof r->sizes;
    return taut_system_sizes_get(system, &r->sizes, error);
}

static int record_row(void *user, const taut_row *row, taut_error *error)
{
    (void)error;
    record *r = user;
    const taut_sizes *z = &r->sizes;
    bool mechanical = z->kind == TAUT_MECHANICAL;
    size_t real = sizeof(double), velocities = (size_t)(mechanical ? z->coordinates : z->algebraic);
    const double rest[4] = {row->t, row->energy, row->drift_position, row->drift_velocity};
    uint64_t h = mix(0xcbf29ce484222325u, rest, sizeof rest);
    h = mix(h, row->q, (size_t)z->coordinates * real);
    h = mix(h, row->v, velocities * real);
    h = mix(h, row->lambda, mechanical ? (size_t)z->bonds * real : 0);
    h = mix(h, row->outputs, (size_t)z->outputs * real);
    if (r->rows < 4096)
        r->row[r->rows++] = h;
    return 0;
}

static int take_bytes(void *user, const void *bytes, size_t count)
{
    record *r = user;
    if (r->count + count > r->room) {
        r->room = 2 * (r->count + count);
        r->bytes = realloc(r->bytes, r->room);
    }
    memcpy(r->bytes + r->count, bytes, count);
    r->count += count;
    return 0;
}

static int save(void *user, taut_solver *solver, taut_error *error)
{
    record *r = user;
    if (solver->statistics.steps < r->save_at || r->save_at < 0)
        return 0;
    r->save_at = -1;
    r->rows_then = r->rows;
    r->like = malloc(sizeof *solver);
    memcpy(r->like, solver, sizeof *solver);
    return taut_solver_save(solver, take_bytes, r, error);
}

static void forget(record *r)
{
    free(r->bytes);
    free(r->like);
    *r = (record){0};
}

/* ---- the struct of the solver */

/* Members that differ from process to process, belong to the run in progress, or are the work space
 * of functions that leave nothing there (redundant.shared). */
static bool exempt(size_t at)
{
#define MEMBER(name)                                                                               \
    {                                                                                              \
        offsetof(taut_solver, name), sizeof((taut_solver *)0)->name                                \
    }
    static const struct {
        size_t from, size;
    } members[] = {MEMBER(arena),           MEMBER(rows.sink),
                   MEMBER(rows.sinks),      MEMBER(caller),
                   MEMBER(of_advances),     MEMBER(saving),
                   MEMBER(midway),          MEMBER(kept),
                   MEMBER(given),           MEMBER(refined.uncounted),
                   MEMBER(redundant.shared)};
#undef MEMBER
    for (size_t k = 0; k < sizeof members / sizeof members[0]; k++)
        if (at >= members[k].from && at < members[k].from + members[k].size)
            return true;
    return false;
}

/* Does it look like an address? */
static bool is_pointer(uint64_t word)
{
    return word > 4096 && word >> 47 == 0 && word >> 20 != 0;
}

/* The offset of the first word that differs, pointers aside; -1: none. */
static long first_difference(const taut_solver *a, const taut_solver *b)
{
    for (size_t at = 0; at + 8 <= sizeof *a; at += 8) {
        uint64_t x, y;
        memcpy(&x, (const char *)a + at, 8);
        memcpy(&y, (const char *)b + at, 8);
        if (x != y && !exempt(at) && !(is_pointer(x) && is_pointer(y)))
            return (long)at;
    }
    return -1;
}

/* ---- one run, and the same one continued */

static taut_solver *make(const taut_system *system, const taut_options *options)
{
    taut_error error;
    taut_solver *solver = NULL;
    taut_solver_create(system, options, NULL, &solver, &error);
    return solver;
}

static int run(taut_solver *solver, record *r, taut_error *error)
{
    taut_sink sink = {.begin = record_begin, .row = record_row, .user = r};
    return taut_solver_run(solver, &sink, 1, NULL, NULL, error);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_result(const taut_solver *a, const taut_solver *b)
{
    taut_result x = {.size = sizeof x}, y = {.size = sizeof y};
    taut_solver_result_get(a, &x, NULL);
    taut_solver_result_get(b, &y, NULL);
    bool texts = same_text(x.event, y.event) && same_text(x.caution, y.caution);
    x.event = y.event = x.caution = y.caution = NULL;
    return texts && memcmp(&x, &y, sizeof x) == 0;
}

/* Goes on from the bytes of `whole` and compares. */
static void compare(const char *what, const taut_system *system, const taut_options *options,
                    const record *whole, const taut_solver *original, const taut_error *failure)
{
    record *rest = calloc(1, sizeof *rest);
    taut_error error = {0};
    taut_solver *solver = make(system, options);
    int status = taut_solver_restore(solver, whole->bytes, whole->count, &error);
    if (check_row(status == 0, "%s: restored: %s", what, error.message)) {
        long off = first_difference(whole->like, solver);
        check_row(off < 0, "%s: the solver differs at byte %ld: a member is not saved (save.c)",
                  what, off);
        status = run(solver, rest, &error);
        int rows = whole->rows - whole->rows_then, first = 0;
        while (first < rows && first < rest->rows &&
               whole->row[whole->rows_then + first] == rest->row[first])
            first++;
        check_row(status == whole->status && rest->rows == rows && first == rows,
                  "%s: status %d and %d, %d rows and %d, the first %d of them are equal: %s %s",
                  what, whole->status, status, rows, rest->rows, first, failure->message,
                  error.message);
        check_row(same_result(original, solver), "%s: another result", what);
    }
    taut_solver_destroy(solver);
    forget(rest);
    free(rest);
}

static bool examine(const char *what, const taut_system *system, const taut_options *options,
                    int save_at)
{
    taut_error error = {0};
    taut_solver *solver = make(system, options);
    if (!solver)
        return false;
    record *whole = calloc(1, sizeof *whole);
    whole->save_at = save_at;
    taut_solver_checkpoint(solver, 0, save, whole, NULL);
    whole->status = run(solver, whole, &error);
    if (whole->bytes)
        compare(what, system, options, whole, solver, &error);
    taut_solver_destroy(solver);
    forget(whole);
    free(whole);
    return true;
}

/* ---- the matrix */

static double until_of(const taut_system *system)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++)
        if (strcmp(name, "until") == 0)
            return strtod(value, NULL);
    return 1;
}

static unsigned next_number(void)
{
    static unsigned state = 12345;
    return state = state * 1664525 + 1013904223;
}

static int examine_cell(const char *model, const taut_system *system, const char *method,
                        const char *motion, bool fixed, const char *newton)
{
    char what[160], step[32];
    taut_options *options = NULL;
    taut_options_create(NULL, &options, NULL);
    taut_options_set(options, "method", method, NULL);
    if (motion)
        taut_options_set(options, "motion", motion, NULL);
    taut_options_set(options, "verify", "never", NULL);
    taut_options_set(options, "newton", newton, NULL);
    taut_options_set_integer(options, "steps", STEPS, NULL);
    if (next_number() % 2)
        taut_options_set(options, "every", "step", NULL);
    snprintf(step, sizeof step, "%.3g", until_of(system) / 3000);
    if (fixed)
        taut_options_set(options, "step", step, NULL);
    snprintf(what, sizeof what, "%s %s %s %s %s", model, method, motion ? motion : "",
             fixed ? "fixed" : "adaptive", newton);
    int made = examine(what, system, options, (int)(next_number() % (STEPS - 2)));
    taut_options_destroy(options);
    return made;
}

/* Every cell in the long form, else one of several, another one for each model. */
static bool is_chosen(void)
{
    static unsigned number;
    enum { ONE_OF = 13 };
    return getenv("TAUT_TEST_LONG") || getenv("TAUT_TEST_ONLY") || number++ % ONE_OF == 0;
}

static void test_matrix(const char *model, int *cells)
{
    static const char *const motions[] = {"rigid", "slow", "effective", "full"};
    char path[400];
    taut_system *system = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
    static const char *const few[] = {"N=4", "n=3"};
    taut_load how = {.size = sizeof how, .set = few, .set_count = 1};
    if (taut_system_load(path, &how, &system, NULL) != 0)
        taut_system_load(path, NULL, &system, NULL);
    taut_system_sizes_get(system, &sizes, NULL);
    bool small = sizes.coordinates <= 300 && sizes.kind != TAUT_BLACK_BOX;
    for (int k = 0; small && k < taut_method_count(); k++) {
        taut_method_info info = {.size = sizeof info};
        taut_method_get(k, &info, NULL);
        bool implicit = strncmp(info.name, "radau", 5) == 0;
        for (int j = 0; j < (sizes.kind == TAUT_MECHANICAL ? 4 : 1); j++)
            for (int form = 0; form < (implicit ? 4 : 2); form++) {
                bool mechanical = sizes.kind == TAUT_MECHANICAL;
                if ((mechanical && !strstr(info.motions, motions[j])) || !is_chosen())
                    continue;
                *cells += examine_cell(model, system, info.name, mechanical ? motions[j] : NULL,
                                       form % 2, form / 2 ? "tensor" : "auto");
            }
    }
    taut_system_destroy(system);
}

static void test_models(void)
{
    char *names[MODELS];
    int cells = 0, count = list_models(names, MODELS);
    check_group("matrix");
    for (int k = 0; k < count; k++) {
        const char *only = getenv("TAUT_TEST_ONLY");
        if (!only || strcmp(only, names[k]) == 0)
            test_matrix(names[k], &cells);
        free(names[k]);
    }
    check_row(cells > 100 || getenv("TAUT_TEST_ONLY"), "%d cells", cells);
}

/* ---- the method changes on the way */

static const char stiff[] = "[parameters]\nmu = 2000\n[state]\nx, y\n[rates]\nx' = y\n"
                            "y' = mu*(1 - x^2)*y - x\n[start]\nx = 2, y = 0\n"
                            "[run]\nuntil = 3000\nverify = never\nevery = 20\n";

static void test_switches(void)
{
    check_group("switches");
    driven d = driven_create(stiff, "", NULL);
    if (!driven_good("van der Pol", &d))
        return;
    taut_result result = {.size = sizeof result};
    taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    taut_solver_result_get(d.solver, &result, NULL);
    check_row(d.solver->stiff.switches > 1, "%d switches", d.solver->stiff.switches);
    for (int k = 1; k <= 12; k++) {
        char what[40];
        snprintf(what, sizeof what, "saved at %d/13 of the steps", k);
        examine(what, d.system, d.options, (int)(result.statistics.steps * k / 13));
    }
    driven_destroy(&d);
}

/* ---- another subset of redundant rigid bonds is selected on the way; stabilisations with a memory
 */

static void test_subsets(void)
{
    static const struct {
        const char *model, *options;
        bool selects;
    } table[] = {
        {"bennett", "method=dop8 until=2", true},
        {"bennett", "method=radau5 until=2", true},
        {"bennett", "method=rattle step=0.002 until=2", true},
        {"parallelogram", "method=dop8", true},
        {"parallelogram", "motion=full", true},
        {"slider_crank", "motion=rigid method=rk4 step=0.01 stabilize-refresh=7", false},
        {"slider_crank", "motion=rigid method=ab2 step=0.01 stabilize-solver=sor", false},
        {"slider_crank", "motion=rigid method=gauss4 step=0.05 stabilize=continuous", false},
        {"double_pendulum_gravity", "method=transformed step=0.1 raw=yes", false},
        {"double_pendulum_gravity", "method=mollified-impulse outer-order=4 rtol=1e-5", false},
        {"double_pendulum_gravity", "method=impulse outer-order=4 step=0.1", false},
        {"double_pendulum", "motion=rigid method=shake step=0.01", false},
        {"double_pendulum", "motion=rigid method=rattle4 step=0.05", false},
        {"cart", "motion=effective method=rattle step=0.02", false},
        {"cart", "motion=effective method=rattle4 step=0.05", false},
        {"kepler", "method=rk4 step=0.01 stabilize-refresh=7", false},
        {"kepler", "method=rk4 step=0.01 stabilize-solver=sor", false}};
    check_group("subsets of redundant bonds, stabilisations");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        char what[400];
        driven d = {0};
        snprintf(what, sizeof what, "%s/models/%s.taut", TAUT_SOURCE_DIR, table[k].model);
        d.code = taut_system_load(what, NULL, &d.system, &d.error);
        taut_options_create(NULL, &d.options, NULL);
        taut_options_set(d.options, "verify", "never", NULL);
        driven_options(&d, table[k].options);
        taut_result result = {.size = sizeof result};
        if (d.code == 0)
            d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
        if (!driven_good(table[k].options, &d))
            continue;
        int status = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(status == 0 && (d.solver->redundant.selections > 0) == table[k].selects,
                  "%s %s: %d selections: %s", table[k].model, table[k].options,
                  d.solver->redundant.selections, d.error.message);
        for (int j = 1; j <= 9; j++) {
            snprintf(what, sizeof what, "%s %s saved at %d/9 of the steps", table[k].model,
                     table[k].options, j);
            examine(what, d.system, d.options, (int)(result.statistics.steps * j / 9));
        }
        driven_destroy(&d);
    }
}

/* ---- projection inside runs */

static void test_projecting(void)
{
    static const char *const options[] = {
        "method=rk4 step=0.05 project=stage projection=kernel until=1",
        "method=dop8 project=stage until=2",
        "method=adams project=stage until=2",
        "method=adams project=every=0.2 until=1",
        "method=dop8 project=drift=1e-10 rtol=1e-4 until=1",
        "method=dop8 project=step until=1",
        "motion=rigid method=dop8 project=stage until=2",
    };
    check_group("projection inside runs");
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char path[400];
        static const char *const set[] = {"omega=300", "lift=0"};
        taut_load how = {.size = sizeof how, .set = set, .set_count = 2};
        driven d = {0};
        snprintf(path, sizeof path, "%s/models/double_pendulum.taut", TAUT_SOURCE_DIR);
        d.code = taut_system_load(path, &how, &d.system, &d.error);
        taut_options_create(NULL, &d.options, NULL);
        taut_options_set(d.options, "verify", "never", NULL);
        driven_options(&d, options[k]);
        taut_result result = {.size = sizeof result};
        if (d.code == 0)
            d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options[k], &d)) {
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(result.statistics.projections > 0, "%s: no projections", options[k]);
            for (int j = 1; j <= 4; j++)
                examine(options[k], d.system, d.options, (int)(result.statistics.steps * j / 5));
        }
        driven_destroy(&d);
    }
}

/* ---- a run that is too long for a second look: saved from then on, rows or not */

static const char orbits[] =
    "[parameters]\nN = 40\n[particles]\ndimension = 2\np[i] for i in 1..N\n[potential]\n"
    "sum(-1/sqrt(dot(p[i], p[i])) for i in 1..N)\n[start]\np[i] = (1 + i/50, 0) for i in 1..N\n"
    "p[i]' = (0, 1) for i in 1..N\n[run]\nuntil = 1e6\nevery = 5e5\nsteps = 145000\nrtol = 1e-9\n"
    "verify = auto\n";

typedef struct saved_steps {
    record *whole;
    int calls, rows; /* calls between the first row and the second */
    int64_t first;   /* steps of the first of them */
} saved_steps;

static int count_save(void *user, taut_solver *solver, taut_error *error)
{
    saved_steps *s = user;
    if (solver->statistics.steps > 0 && s->whole->rows == 1) {
        s->first = s->calls == 0 ? solver->statistics.steps : s->first;
        s->calls++;
    }
    return save(s->whole, solver, error);
}

static void test_long(void)
{
    check_group("a run without a second look");
    driven d = driven_create(orbits, "", NULL);
    saved_steps s = {.whole = calloc(1, sizeof *s.whole)};
    if (!driven_good("orbits", &d))
        return;
    s.whole->save_at = 1;
    taut_solver_checkpoint(d.solver, 0, count_save, &s, NULL);
    s.whole->status = run(d.solver, s.whole, &d.error);
    check_row(s.whole->status == TAUT_LIMIT && s.whole->rows == 2 && isnan(d.solver->error_q),
              "status %d, %d rows, error %g: %s", s.whole->status, s.whole->rows, d.solver->error_q,
              d.error.message);
    check_row(s.calls > 100 && s.first > 100, "%d checkpoints between rows, the first at step %d",
              s.calls, (int)s.first);
    if (s.whole->bytes)
        compare("orbits", d.system, d.options, s.whole, d.solver, &d.error);
    driven_destroy(&d);
    forget(s.whole);
    free(s.whole);
}

/* ---- advances */

static const char pendulum[] = "[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\n"
                               "rod = sqrt(x^2 + y^2) - 1   rigid\n[start]\nx = 1, y = 0\n"
                               "[run]\nuntil = 10\nmotion = rigid\n";

static void test_advance(void)
{
    check_group("advance");
    record *r = calloc(1, sizeof *r);
    driven a = driven_create(pendulum, "method=dop8", NULL),
           b = driven_create(pendulum, "method=dop8", NULL);
    check_equal("to 1", taut_solver_advance(a.solver, 1, &a.error), 0);
    check_equal("saved", taut_solver_save(a.solver, take_bytes, r, &a.error), 0);
    check_equal("restored", taut_solver_restore(b.solver, r->bytes, r->count, &b.error), 0);
    check_near("the time", taut_solver_time(b.solver), 1, 0);
    taut_solver_advance(a.solver, 2.5, &a.error);
    taut_solver_advance(b.solver, 2.5, &b.error);
    check_row(memcmp(taut_solver_position(a.solver), taut_solver_position(b.solver), 16) == 0 &&
                  same_result(a.solver, b.solver),
              "the same state at 2.5");
    check_equal("again", taut_solver_restore(b.solver, r->bytes, r->count, &b.error),
                TAUT_ERROR_USAGE);
    check_contains("again", b.error.message, "a new one is needed");
    driven_destroy(&a);
    driven_destroy(&b);
    forget(r);
    free(r);
}

/* ---- bytes in pieces */

typedef struct reader {
    const record *from;
    int64_t calls, fails_at; /* -1: at none */
    size_t largest;
} reader;

static int read_piece(void *user, size_t at, void *bytes, size_t count)
{
    reader *r = user;
    if (at > r->from->count || count > r->from->count - at || r->calls++ == r->fails_at)
        return 1;
    memcpy(bytes, r->from->bytes + at, count);
    r->largest = count > r->largest ? count : r->largest;
    return 0;
}

static const char rope[] = "[parameters]\nN = 200\n[particles]\ndimension = 2\n"
                           "b[i] for i in 1..N   mass 1\n[potential]\nsum(b[i].y for i in 1..N)\n"
                           "[bonds]\nlink[i] = length(b[i] - b[i-1]) - 1 for i in 2..N   rigid\n"
                           "[start]\nb[i] = (i, 0) for i in 1..N\nb[i]' = (0, sin(i)) for i in "
                           "1..N\n[run]\nuntil = 0.1\nmotion = rigid\nstep = 1e-3\n";

static void test_pieces(void)
{
    check_group("pieces");
    record *r = calloc(1, sizeof *r);
    driven a = driven_create(rope, "method=rattle", NULL);
    check_equal("to 0.01", taut_solver_advance(a.solver, 0.01, &a.error), 0);
    check_equal("saved", taut_solver_save(a.solver, take_bytes, r, &a.error), 0);
    taut_solver_advance(a.solver, 0.02, &a.error);
    reader whole = {.from = r, .fails_at = -1};
    for (int64_t at = -1; at < whole.calls; at += at < 0 ? 1 : whole.calls / 50) {
        driven b = driven_create(rope, "method=rattle", NULL);
        reader from = {.from = r, .fails_at = at};
        int code = taut_solver_restore_from(b.solver, read_piece, &from, r->count, &b.error);
        if (at < 0) {
            taut_sizes z = {.size = sizeof z};
            taut_system_sizes_get(b.system, &z, NULL);
            taut_solver_advance(b.solver, 0.02, &b.error);
            check_row(code == 0 &&
                          memcmp(taut_solver_position(a.solver), taut_solver_position(b.solver),
                                 (size_t)z.coordinates * sizeof(double)) == 0,
                      "the same state: %s", b.error.message);
            check_row(3 * from.largest < r->count && from.calls > 50,
                      "%d pieces of at most %zu of %zu bytes", (int)from.calls, from.largest,
                      r->count);
            whole = from;
        } else {
            check_row(code == TAUT_ERROR_FILE && b.error.message[0], "piece %d fails: %s", (int)at,
                      b.error.message);
        }
        driven_destroy(&b);
    }
    driven_destroy(&a);
    forget(r);
    free(r);
}

/* ---- bytes that are refused */

static void expect_refusal(const char *what, const char *options, const char *model,
                           const void *bytes, size_t count, const char *words)
{
    driven d = driven_create(model, options, NULL);
    int code = taut_solver_restore(d.solver, bytes, count, &d.error);
    check_row(code == TAUT_ERROR_FILE && strstr(d.error.message, words), "%s: %s: %s", what,
              taut_code_name(code), d.error.message);
    driven_destroy(&d);
}

static int write_nothing(void *user, const void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    return count > 0;
}

static void test_refusals(void)
{
    check_group("refusals");
    record *r = calloc(1, sizeof *r);
    driven d = driven_create(pendulum, "method=dop8", NULL);
    taut_solver_advance(d.solver, 1, &d.error);
    taut_solver_save(d.solver, take_bytes, r, &d.error);
    check_equal("a full disk", taut_solver_save(d.solver, write_nothing, NULL, &d.error),
                TAUT_ERROR_FILE);
    check_contains("a full disk", d.error.message, "cannot be written");
    unsigned char *copy = malloc(r->count + 1);
    for (size_t k = 0; k < r->count; k += 7) {
        memcpy(copy, r->bytes, r->count);
        copy[k] ^= 0x40;
        expect_refusal("damaged", "method=dop8", pendulum, copy, r->count, "");
    }
    for (size_t k = 0; k < r->count; k += 31)
        expect_refusal("cut off", "method=dop8", pendulum, r->bytes, k, "");
    memcpy(copy, r->bytes, r->count);
    copy[r->count / 2] ^= 1;
    expect_refusal("damaged", "method=dop8", pendulum, copy, r->count, "damaged");
    expect_refusal("foreign", "method=dop8", pendulum, "not a run at all", 16, "not a saved run");
    memcpy(copy, r->bytes, r->count);
    copy[16]++; /* the format */
    expect_refusal("newer", "method=dop8", pendulum, copy, r->count, "only the same version");
    expect_refusal("other options", "method=dop8 rtol=1e-7", pendulum, r->bytes, r->count,
                   "other options");
    expect_refusal("another method", "method=dopri5", pendulum, r->bytes, r->count,
                   "other options");
    char *model = malloc(sizeof pendulum);
    memcpy(model, pendulum, sizeof pendulum);
    strstr(model, "9.81")[3] = '2';
    expect_refusal("another model", "method=dop8", model, r->bytes, r->count, "another model");
    free(model);
    free(copy);
    driven_destroy(&d);
    forget(r);
    free(r);
}

int main(void)
{
    test_models();
    test_switches();
    test_subsets();
    test_projecting();
    test_long();
    test_advance();
    test_pieces();
    test_refusals();
    return check_done();
}
