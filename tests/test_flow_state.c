/* test_flow_state.c - functions as flows: threads that share their states, with the same bits and
 * the same failure for any number of them; simulators with an internal state, which is saved and
 * restored, so that answers do not depend on earlier calls. CI runs this under ThreadSanitizer
 * too. */
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/pool.h"
#include "support/project.h"
#include "support/run.h"

/* ---- the pool */

typedef struct tally {
    atomic_int calls[100], used[4], overlaps;
    double square[100];
} tally;

static void count_part(void *context, int64_t part, int thread)
{
    tally *t = context;
    atomic_fetch_add(&t->calls[part], 1);
    if (atomic_fetch_add(&t->used[thread], 1) != 0)
        atomic_fetch_add(&t->overlaps, 1);
    t->square[part] = (double)(part * part);
    atomic_fetch_sub(&t->used[thread], 1);
}

static void pools(void)
{
    check_group("pool");
    for (int threads = 0; threads <= 4; threads++) {
        taut_pool *pool = NULL;
        tally t = {0};
        int wrong = 0;
        if (!check_equal("made", taut_pool_create(threads, NULL, &pool, NULL), 0))
            return;
        check_row(taut_pool_size(pool) <= (threads > 1 ? threads : 1), "size %d of %d",
                  taut_pool_size(pool), threads);
        for (int task = 0; task < 200; task++)
            taut_pool_run(pool, task % 101, count_part, &t);
        for (int k = 0; k < 100; k++) /* tasks of 0 .. 100 parts, then of 0 .. 98 */
            wrong += t.calls[k] != 100 - k + (k < 98 ? 98 - k : 0) || t.square[k] != k * k;
        check_equal("every part once in every task", wrong, 0);
        check_equal("a thread makes one call at a time", t.overlaps, 0);
        taut_pool_destroy(pool);
    }
    taut_pool_destroy(NULL);
}

/* ---- threads */

enum { N = 40 };
typedef struct many {
    atomic_int calls, inside, most;
    bool wait; /* until two calls are there at the same time, or for two seconds */
    int first; /* variables from this one on, where displaced, cannot go on; 0: all can */
} many;

/* z_k decays at the rate 10^(3 k/N), with a coupling to its neighbour. */
static int advance_many(void *user, double t, double H, double *z)
{
    many *m = user;
    (void)t;
    atomic_fetch_add(&m->calls, 1);
    int now = atomic_fetch_add(&m->inside, 1) + 1;
    time_t begin = time(NULL);
    while (m->wait && now < 2 && atomic_load(&m->most) < 2 && time(NULL) - begin < 3) {
        now = atomic_load(&m->inside);
        sched_yield();
    }
    if (now >= 2)
        atomic_store(&m->most, 2);
    int status = 0;
    for (int k = 0; k < N; k++) {
        if (m->first && k >= m->first && z[k] != 1)
            status = status ? status : k;
        z[k] = z[k] * exp(-H * pow(10, 3.0 * k / N)) + (k > 0 ? 1e-3 * sin(z[k - 1]) : 0);
    }
    atomic_fetch_sub(&m->inside, 1);
    return status;
}

static taut_black_box many_box(many *m)
{
    static double start[N];
    for (int k = 0; k < N; k++)
        start[k] = 1;
    taut_black_box box;
    taut_black_box_init(&box);
    box.variables = N;
    box.start = start;
    box.horizon = 0.01;
    box.advance = advance_many;
    box.user = m;
    box.threads = true;
    return box;
}

typedef struct rated {
    taut_rate rate[N];
    taut_rates_report report;
    taut_error error;
    int code;
} rated;

static rated rates_in(many *m, bool threads, const char *copies)
{
    rated r = {0};
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_black_box box = many_box(m);
    box.threads = threads;
    taut_rates_report_init(&r.report);
    r.code = taut_system_from_flow(&box, NULL, &system, &r.error);
    if (r.code == 0)
        r.code = taut_options_create(NULL, &options, &r.error);
    if (r.code == 0)
        r.code = taut_options_set(options, "copies", copies, &r.error);
    if (r.code == 0)
        r.code = taut_rates(system, options, N, r.rate, &r.report, &r.error);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return r;
}

static void threads(void)
{
    static const char *const copies[] = {"1", "2", "3", "7"};
    many first = {0};
    check_group("threads");
    rated one = rates_in(&first, true, "1");
    if (!check_row(one.code == 0, "spectrum: %s", one.error.message))
        return;
    for (int k = 1; k < 4; k++) {
        many m = {0};
        rated r = rates_in(&m, true, copies[k]);
        check_row(r.code == 0 && memcmp(r.rate, one.rate, sizeof r.rate) == 0,
                  "%s threads: the same bits", copies[k]);
        check_equal("calls", m.calls, first.calls);
        many failing = {.first = 5};
        r = rates_in(&failing, true, copies[k]);
        check_contains("the first failure, by number", r.error.message, "it returned 5)");
    }
    if (!getenv("TAUT_TEST_CORE")) { /* which has no threads */
        many together = {.wait = true}, alone = {.wait = false};
        rates_in(&together, true, "2");
        check_equal("two at the same time", together.most, 2);
        rates_in(&alone, false, "2");
        check_equal("not where it is not allowed", alone.most, 0);
    }
}

/* ---- an internal state */

/* Fast y towards x/2, slow x, by Adams' two-step formula: rates of the step before are kept, and
 * forgotten where there are none. A random part can be added. */
typedef struct adams {
    struct memory {
        bool known;
        double rate[2];
        uint64_t seed;
    } now;
    double noise;
    int calls, saves, restores;
} adams;

static void rates(const double *z, double *r)
{
    r[0] = -z[0] + 0.2 * z[1];
    r[1] = 10 * (0.5 * z[0] - z[1]);
}

static int advance_adams(void *user, double t, double H, double *z)
{
    adams *a = user;
    double r[2];
    (void)t;
    a->calls++;
    rates(z, r);
    for (int i = 0; i < 2; i++) {
        a->now.seed = a->now.seed * 6364136223846793005u + 1442695040888963407u;
        double random = (double)(int64_t)a->now.seed / 9.3e18;
        z[i] += H * (a->now.known ? 1.5 * r[i] - 0.5 * a->now.rate[i] : r[i]) + a->noise * random;
    }
    memcpy(a->now.rate, r, sizeof r);
    a->now.known = true;
    return 0;
}

static int save_adams(void *user, void *memory)
{
    adams *a = user;
    a->saves++;
    memcpy(memory, &a->now, sizeof a->now);
    return 0;
}

static int restore_adams(void *user, const void *memory)
{
    adams *a = user;
    a->restores++;
    memcpy(&a->now, memory, sizeof a->now);
    return 0;
}

static int refuse_memory(void *user, const void *memory)
{
    (void)user;
    (void)memory;
    return 3;
}

static taut_system *adams_system(adams *a, bool restored, taut_error *error)
{
    static const taut_index observable = 0;
    static const double start[] = {1, 0};
    taut_system *system = NULL;
    taut_black_box box;
    taut_black_box_init(&box);
    box.variables = 2;
    box.observables = 1;
    box.observable = &observable;
    box.start = start;
    box.horizon = 0.05;
    box.advance = advance_adams;
    box.user = a;
    if (restored) {
        box.memory = sizeof a->now;
        box.save = save_adams;
        box.restore = restore_adams;
    }
    taut_system_from_flow(&box, NULL, &system, error);
    return system;
}

/* Two projections, the second after the simulator was used for something else. */
static void projections(void)
{
    double y[2][2], noise[2];
    check_group("internal state of projections");
    for (int restored = 0; restored < 2; restored++) {
        adams a = {.noise = 1e-4, .now = {.seed = 7}};
        for (int k = 0; k < 2; k++) {
            projected p = {0};
            p.system = adams_system(&a, restored, &p.error);
            projected_run(&p, "order=1", NULL);
            if (projected_good("projection", &p)) {
                y[restored][k] = p.r.q[1];
                noise[restored] = p.r.noise;
            }
            if (restored) /* elsewhere, but for the system the beginning is kept by its user */
                a.now = (struct memory){.seed = 7};
            projected_drop(&p);
        }
    }
    check_row(y[0][0] != y[0][1], "without: each time another result, %.17g", y[0][0]);
    check_row(y[1][0] == y[1][1], "restored: the same bits, %.17g and %.17g", y[1][0], y[1][1]);
    check_row(noise[0] > 1e-5, "without: noise %.2g", noise[0]);
    check_below("restored: random numbers are the same ones, and no noise", noise[1], 1e-15);
}

/* ---- runs: steps go on, rows between them leave no trace, and so does a checkpoint */

typedef struct saved {
    char bytes[100000];
    size_t length;
    int steps;
} saved;

static int take_bytes(void *user, const void *bytes, size_t count)
{
    saved *s = user;
    if (s->length + count > sizeof s->bytes)
        return 1;
    memcpy(s->bytes + s->length, bytes, count);
    s->length += count;
    return 0;
}

static int save_third(void *user, taut_solver *solver, taut_error *error)
{
    saved *s = user;
    return ++s->steps == 3 ? taut_solver_save(solver, take_bytes, s, error) : 0;
}

static void run_adams(adams *a, const char *options, saved *to, const saved *from, double *end)
{
    driven d = {0};
    kept *rows = calloc(1, sizeof *rows);
    taut_sink sink = kept_sink(rows);
    d.system = adams_system(a, true, &d.error);
    driven_equip(&d, options, NULL);
    if (d.code == 0 && to)
        d.code = taut_solver_checkpoint(d.solver, 0, save_third, to, &d.error);
    if (d.code == 0 && from)
        d.code = taut_solver_restore(d.solver, from->bytes, from->length, &d.error);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
    if (driven_good(options, &d))
        memcpy(end, rows->q[rows->rows - 1], 2 * sizeof *end);
    driven_destroy(&d);
    free(rows);
}

static void runs(void)
{
    adams own = {.now = {.seed = 7}}, other = {.now = {.seed = 7}};
    double z[] = {1, 0}, sparse[2] = {0}, dense[2] = {0}, resumed[2] = {0};
    saved *s = calloc(1, sizeof *s);
    check_group("internal state of runs");
    for (int k = 0; k < 8; k++)
        advance_adams(&own, 0.125 * k, 0.125, z);
    own = (adams){.now = {.seed = 7}};
    run_adams(&own, "motion=full method=flow step=0.125 until=1 every=0.5", NULL, NULL, sparse);
    check_row(memcmp(z, sparse, sizeof z) == 0, "a loop by hand: %.17g, %.17g", z[0], sparse[0]);
    check_row(own.restores <= 2 && own.calls <= 9, "%d restores, %d calls", own.restores,
              own.calls);
    run_adams(&other, "motion=full method=flow step=0.125 until=1 every=0.01", s, NULL, dense);
    check_row(memcmp(z, dense, sizeof z) == 0, "rows between: %.17g, %.17g", z[0], dense[0]);
    check_row(s->length > 0, "saved: %d bytes", (int)s->length);
    other = (adams){.now = {.seed = 7}};
    run_adams(&other, "motion=full method=flow step=0.125 until=1 every=0.01", NULL, s, resumed);
    check_row(memcmp(z, resumed, sizeof z) == 0, "resumed: %.17g, %.17g", z[0], resumed[0]);
    free(s);
}

static void refusals(void)
{
    adams a = {0};
    taut_system *system = NULL;
    taut_error error;
    taut_black_box box;
    taut_black_box_init(&box);
    box.variables = 2;
    box.advance = advance_adams;
    box.user = &a;
    box.save = save_adams;
    check_group("refusals");
    check_equal("save alone", taut_system_from_flow(&box, NULL, &system, &error), TAUT_ERROR_USAGE);
    box.restore = restore_adams;
    check_equal("no size", taut_system_from_flow(&box, NULL, &system, &error), TAUT_ERROR_USAGE);
    box.memory = sizeof a.now;
    box.threads = true;
    check_equal("threads", taut_system_from_flow(&box, NULL, &system, &error), TAUT_ERROR_USAGE);
    check_contains("threads", error.message, "cannot serve several threads");
    const taut_index observable = 0;
    box.threads = false;
    box.horizon = 0.05;
    box.observables = 1;
    box.observable = &observable;
    box.restore = refuse_memory;
    projected p = {.code = taut_system_from_flow(&box, NULL, &system, &error)};
    p.system = system;
    projected_run(&p, "order=0", NULL);
    projected_refused("restore fails", &p, TAUT_ERROR_STOPPED, "`restore` of the flow returned 3");
}

int main(void)
{
    pools();
    threads();
    projections();
    runs();
    refusals();
    return check_done();
}
