/* test_team.c - one run by several threads: states are those of one thread, bit for bit, for any
 * number of them; so are messages, rows and saved runs; nothing is allocated while stepping. CI
 * runs this under ThreadSanitizer too. */
#include <stdint.h>
#include <taut/taut.h>

#include "base/pool.h"
#include "support/run.h"
#include "system/parts.h"

static const int teams[] = {1, 2, 3, 7};
enum { TEAMS = sizeof teams / sizeof teams[0] };

/* Long enough for every loop, and for two groups of segments. */
#define CHAIN(attributes)                                                                          \
    "[parameters]\nN = 17000\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1 + "          \
    "0.1*mod(i, 3)\n"                                                                              \
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\nlink[1] = length(bob[1]) - 1" attributes   \
    "\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N" attributes                           \
    "\n[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1000\n"

/* Angles reach over three beads, forces depend on velocities; in space. */
static const char ROPE[] =
    "[parameters]\nN = 4000\n[particles]\ndimension = 3\nb[i] for i in 1..N mass 2\n"
    "[potential]\nsum(0.1*dot(b[i+1] - 2*b[i] + b[i-1], b[i+1] - 2*b[i] + b[i-1]) for i in "
    "2..N-1)\n"
    "sum(b[i].z + 0.01*b[i].x^4/N^4 for i in 1..N)\n[forces]\nb[i] = -0.1*b[i]' for i in 1..N\n"
    "[bonds]\nlink[i] = length(b[i+1] - b[i]) - 1 for i in 1..N-1 rigid\n"
    "[start]\nb[i] = (i - 1, 0, 0) for i in 1..N\n[run]\nuntil = 1000\n";

/* Every second bond a spring. */
static const char MIXED[] =
    "[parameters]\nN = 9000\n[particles]\ndimension = 2\nb[i] for i in 1..N mass 1\n"
    "[potential]\nsum(b[i].y for i in 1..N)\n[bonds]\n"
    "stiff[k] = length(b[2*k] - b[2*k-1]) - 1 for k in 1..N/2 rigid\n"
    "spring[k] = length(b[2*k+1] - b[2*k]) - 1 for k in 1..N/2-1 stiffness 100\n"
    "[start]\nb[i] = (i, 0.1*sin(i)) for i in 1..N\n[run]\nuntil = 1000\n";

/* Long, so that its matrices are bands: MUMPS itself gives other bits in each run. */
static const char NET[] =
    "[parameters]\nN = 500\nwide = 6\n[particles]\ndimension = 3\n"
    "node[i,j] for i in 1..N, j in 1..wide mass 1\n"
    "[potential]\nsum(node[i,j].z for i in 1..N, j in 1..wide)\n[bonds]\n"
    "along[i,j] = length(node[i+1,j] - node[i,j]) - 1 for i in 1..N-1, j in 1..wide stiffness 1e4\n"
    "across[i,j] = length(node[i,j+1] - node[i,j]) - 1 for i in 1..N, j in 1..wide-1 stiffness "
    "1e4\n"
    "[start]\nnode[i,j] = (i, j, 0.1*sin(i*j)) for i in 1..N, j in 1..wide\n[run]\nuntil = 1000\n";

/* Bars between points that are anywhere: these are pulled by one thread, between others. */
static const char TRUSS[] =
    "[parameters]\nN = 6007\n[particles]\ndimension = 2\np[i] for i in 1..N mass 1\n"
    "[potential]\nsum(p[i].y for i in 1..N)\n"
    "sum(0.01*cos(p[mod(71*i, N) + 1].x - p[mod(1009*i, N) + 1].y) for i in 1..N)\n[bonds]\n"
    "first[i] = length(p[i+1] - p[i]) - 1 for i in 1..N-1 stiffness 50\n"
    "bar[k] = length(p[mod(571*k, N) + 1] - p[mod(2003*k, N) + 1]) - 3 for k in 1..N stiffness 9\n"
    "last[i] = length(p[i+7] - p[i]) - 7 for i in 1..N-7 stiffness 20\n"
    "[start]\np[i] = (i, sin(3*i)) for i in 1..N\n[run]\nuntil = 1000\n";

static const char LIQUID[] =
    "[parameters]\nN = 1000\ncut = 2.5\nbox = (N/0.8442)^(1/3)\nacross = 10\nspacing = box/across\n"
    "[particles]\ndimension = 3\np[i] for i in 1..N mass 1\n[definitions]\n"
    "pair(r) = 4*((1/r)^12 - (1/r)^6)*(1 - (r/cut)^2)^3\n"
    "[potential]\nsum(pair(length(p[i] - p[j])) for pairs i, j in p within cut periodic box)\n"
    "[start]\np[i] = (mod(i - 1, across), mod(floor((i - 1)/across), across), floor((i - "
    "1)/across^2))*spacing for i in 1..N\n"
    "p[i]' = (sin(7*i), sin(11*i), sin(13*i)) for i in 1..N\n[run]\nuntil = 1000\n";

static const struct {
    const char *name, *model, *options;
    double until; /* without a step size by control of errors */
} runs[] = {
    {"chain, verlet", CHAIN(" stiffness 1e4"), "motion=full method=verlet step=1e-3", 0.04},
    {"chain, verlet, compositions", CHAIN(" stiffness 1e4"),
     "motion=full method=verlet step=1e-3 steps=3", 0.01},
    {"chain, dop8, adaptive", CHAIN(""), "motion=rigid method=dop8 rtol=1e-4", 0.1},
    {"chain, springs, dop8", CHAIN(" stiffness 1e4"), "motion=full method=dop8 rtol=1e-4", 0.02},
    {"chain, rk4", CHAIN(""), "motion=rigid method=rk4 step=0.01", 0.03},
    {"chain, adams", CHAIN(""), "motion=rigid method=adams rtol=1e-3", 0.02},
    {"chain, rattle", CHAIN(""), "motion=rigid method=rattle step=0.01", 0.06},
    {"chain, radau5", CHAIN(""), "motion=rigid method=radau5 step=0.05", 0.1},
    {"rope, dop8", ROPE, "motion=rigid method=dop8 step=0.05", 0.1},
    {"mixed, rattle", MIXED, "motion=full method=rattle step=0.01", 0.04},
    {"mixed, dop8", MIXED, "motion=full method=dop8 step=0.05", 0.1},
    {"net, verlet", NET, "motion=full method=verlet step=2e-3", 0.01},
    {"net, rattle", NET, "motion=rigid method=rattle step=1e-3", 0.002},
    {"truss, verlet", TRUSS, "motion=full method=verlet step=1e-3", 0.01},
    {"truss, dopri5", TRUSS, "motion=full method=dopri5 step=1e-3", 0.003},
    {"liquid, verlet", LIQUID, "motion=full method=verlet step=1e-3", 0.02},
};

static uint64_t mix(uint64_t h, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; b && k < count; k++)
        h = (h ^ b[k]) * 0x100000001b3u;
    return h;
}

static uint64_t digest(const taut_solver *solver, const taut_system *system)
{
    taut_sizes z = {.size = sizeof z};
    taut_system_sizes_get(system, &z, NULL);
    const size_t real = sizeof(double), n = (size_t)z.coordinates;
    uint64_t h = mix(0xcbf29ce484222325u, taut_solver_position(solver), n * real);
    h = mix(h, taut_solver_velocity(solver), n * real);
    h = mix(h, taut_solver_multipliers(solver), (size_t)z.bonds * real);
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(solver, &result, NULL);
    h = mix(h, &result.energy_last, real);
    h = mix(h, &result.drift_position, real);
    return mix(h, &result.drift_velocity, real);
}

static driven begin(const char *model, const char *options, int threads,
                    const taut_allocator *allocator)
{
    char all[300];
    snprintf(all, sizeof all, "%s threads=%d", options, threads);
    return driven_create(model, all, allocator);
}

static void test_bits(void)
{
    check_group("same bits");
    for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        uint64_t one = 0;
        for (int t = 0; t < TEAMS; t++) {
            if (getenv("TAUT_TEST_SANITIZED") && t % 2 == 1)
                continue; /* where a run takes twenty times as long */
            faulty counter = {0};
            taut_allocator allocator = faulty_allocator(&counter);
            driven d = begin(runs[k].model, runs[k].options, teams[t], &allocator);
            int64_t before = counter.calls;
            if (d.code == 0)
                d.code = taut_solver_advance(d.solver, runs[k].until, &d.error);
            const uint64_t here = d.code >= 0 ? digest(d.solver, d.system) : 0;
            one = t == 0 ? here : one;
            check_row(d.code >= 0 && here != 0 && here == one, "%s, %d threads: %s", runs[k].name,
                      teams[t], d.code < 0 ? d.error.message : "other bits");
            check_row(counter.calls == before || strstr(runs[k].name, "liquid"),
                      "%s, %d threads: %lld allocations while stepping", runs[k].name, teams[t],
                      (long long)(counter.calls - before));
            driven_destroy(&d);
        }
    }
}

/* ---- evaluations */

typedef struct point {
    taut_arena arena;
    taut_sizes sizes;
    double *q, *v;
    taut_values values;
} point;

static int evaluate(const taut_system *system, taut_pool *pool, unsigned wanted, bool *parts,
                    uint64_t *sum, taut_error *error)
{
    point p = {.sizes.size = sizeof p.sizes};
    taut_context *context = NULL;
    taut_system_sizes_get(system, &p.sizes, NULL);
    taut_arena_init(&p.arena, NULL);
    const taut_index n = p.sizes.coordinates, m = p.sizes.bonds;
    taut_values *values = &p.values;
    int status = TAUT_RESERVE(&p.arena, n, error, &p.q, &p.v, &values->force);
    if (status == 0)
        status = TAUT_RESERVE(&p.arena, m, error, &values->bond, &values->bond_dt, &values->gamma);
    if (status == 0)
        status = TAUT_RESERVE(&p.arena, p.sizes.jacobian_entries, error, &values->jacobian);
    if (status == 0)
        status = taut_context_create(system, NULL, &context, error);
    if (status == 0)
        status = taut_context_share(context, pool, error);
    if (status == 0)
        status = taut_context_start(context, 0, p.q, p.v, error);
    for (taut_index i = 0; status == 0 && i < n; i++)
        p.q[i] += 0.01 * cos(5.0 * i), p.v[i] = sin(3.0 * i);
    if (status == 0)
        status = taut_evaluate_inside(context, 0, p.q, p.v, wanted, values, error);
    *parts = context && context->parts;
    const double *all[] = {values->force, values->bond, values->bond_dt, values->gamma,
                           values->jacobian};
    const int64_t count[] = {n, m, m, m, p.sizes.jacobian_entries};
    *sum = 0xcbf29ce484222325u;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        *sum = mix(*sum, all[k], (size_t)count[k] * sizeof(double));
    const double energy[] = {values->kinetic, values->potential, values->bond_energy};
    *sum = mix(*sum, energy, sizeof energy);
    if (wanted == TAUT_WANT_ENERGY && status == 0) { /* as in one sum */
        taut_values other = {.force = values->force};
        status =
            taut_evaluate_inside(context, 0, p.q, p.v, wanted | TAUT_WANT_FORCE, &other, error);
        const double one[] = {other.kinetic, other.potential, other.bond_energy};
        for (int k = 0; k < 3; k++)
            check_row(fabs(energy[k] - one[k]) <= 1e-12 * fabs(one[k]) && isfinite(energy[k]),
                      "energy %d: %.17g, in one sum %.17g", k, energy[k], one[k]);
    }
    taut_context_destroy(context);
    taut_arena_clear(&p.arena);
    return status;
}

static void test_evaluations(void)
{
    static const char *const models[] = {CHAIN(""), ROPE, MIXED, NET, TRUSS, LIQUID};
    static const unsigned bits[] = {TAUT_WANT_FORCE, TAUT_WANT_BOND, TAUT_WANT_ENERGY,
                                    TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                    TAUT_WANT_FORCE | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA |
                                        TAUT_WANT_COLUMNS};
    taut_pool *pool = NULL;
    check_group("evaluations");
    check_row(taut_pool_create(3, NULL, &pool, NULL) == 0, "a pool");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        driven d = {0};
        d.code = taut_system_parse(models[k], strlen(models[k]), "m", NULL, &d.system, &d.error);
        for (size_t b = 0; b < sizeof bits / sizeof bits[0] && d.code == 0; b++) {
            uint64_t one = 0, three = 1;
            bool alone = true, parts = false;
            if (bits[b] & TAUT_WANT_COLUMNS && !taut_system_columns(d.system))
                continue;
            d.code = evaluate(d.system, NULL, bits[b], &alone, &one, &d.error);
            if (d.code == 0)
                d.code = evaluate(d.system, pool, bits[b], &parts, &three, &d.error);
            check_row(d.code == 0 && one == three && !alone && parts,
                      "model %zu, bits %#x: %s, parts %d", k, bits[b], d.error.message, parts);
        }
        check_row(d.code == 0, "model %zu: %s", k, d.error.message);
        driven_destroy(&d);
    }
    taut_pool_destroy(pool);
}

/* ---- what is not the state: messages, interrupts, saved runs */

/* Bonds 4000 and 7000 lose their length at the same time. */
static const char BREAKING[] =
    "[parameters]\nN = 9000\n[particles]\ndimension = 2\nb[i] for i in 1..N mass 1\n[forces]\n"
    "b[i] = (0, sqrt(0.0015 - t + abs(i - 4000)*abs(i - 7000))) for i in 1..N\n"
    "[bonds]\nlink[i] = length(b[i+1] - b[i]) - 1 for i in 1..N-1 stiffness 10\n"
    "[start]\nb[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1\n";

static void test_messages(void)
{
    check_group("messages");
    taut_error one = {0};
    for (int t = 0; t < TEAMS; t++) {
        driven d = begin(BREAKING, "motion=full method=dopri5 step=1e-3", teams[t], NULL);
        if (d.code == 0)
            d.code = taut_solver_advance(d.solver, 0.01, &d.error);
        one = t == 0 ? d.error : one;
        check_row(d.code < 0 && strstr(d.error.message, "b[4000].y") &&
                      strcmp(d.error.message, one.message) == 0,
                  "%d threads: %s", teams[t], d.error.message);
        driven_destroy(&d);
    }
}

typedef struct bytes {
    unsigned char *at;
    size_t count;
} bytes;

static int append(void *user, const void *from, size_t count)
{
    bytes *b = user;
    unsigned char *more = realloc(b->at, b->count + count);
    if (!more)
        return 1;
    memcpy(more + b->count, from, count);
    *b = (bytes){more, b->count + count};
    return 0;
}

static int interrupt(void *user, double t, double until, int64_t steps)
{
    (void)t, (void)until, (void)steps;
    return ++*(int *)user > 2;
}

static void test_saved(void)
{
    static const char options[] = "motion=rigid method=rattle step=0.01";
    check_group("saved and interrupted");
    bytes saved = {0};
    driven d = begin(CHAIN(""), options, 2, NULL);
    if (d.code == 0)
        d.code = taut_solver_advance(d.solver, 0.03, &d.error);
    if (d.code == 0)
        d.code = taut_solver_save(d.solver, append, &saved, &d.error);
    if (d.code == 0)
        d.code = taut_solver_advance(d.solver, 0.05, &d.error);
    const uint64_t whole = d.code == 0 ? digest(d.solver, d.system) : 0;
    check_row(d.code == 0, "two threads, saved: %s", d.error.message);
    driven_destroy(&d);
    for (int t = 0; t < TEAMS; t++) {
        d = begin(CHAIN(""), options, teams[t], NULL);
        if (d.code == 0)
            d.code = taut_solver_restore(d.solver, saved.at, saved.count, &d.error);
        if (d.code == 0)
            d.code = taut_solver_advance(d.solver, 0.05, &d.error);
        check_row(d.code == 0 && digest(d.solver, d.system) == whole, "continued by %d threads: %s",
                  teams[t], d.error.message);
        driven_destroy(&d);
    }
    free(saved.at);
    int calls = 0;
    d = begin(CHAIN(""), options, 3, NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, interrupt, &calls, &d.error);
    check_row(d.code == TAUT_INTERRUPTED, "interrupted: %d, %s", d.code, d.error.message);
    driven_destroy(&d);
}

/* ---- the pool */

enum { MANY = 300000 };

static double sum_block(void *context, int64_t begin, int64_t end)
{
    const double *x = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += x[i];
    return sum;
}

static double double_block(void *context, int64_t begin, int64_t end)
{
    double *x = context;
    for (int64_t i = begin; i < end; i++)
        x[i] *= 2;
    return 0;
}

static void test_pool(void)
{
    check_group("pool");
    double *x = malloc(MANY * sizeof *x), one = 0;
    for (int64_t i = 0; i < MANY; i++)
        x[i] = 1 / (1 + (double)i);
    for (int t = 0; t < TEAMS; t++) {
        taut_pool *pool = NULL;
        int code = taut_pool_create(teams[t], NULL, &pool, NULL);
        const double sum = taut_pool_sum(pool, MANY, sum_block, x);
        one = t == 0 ? sum : one;
        check_row(code == 0 && sum == one && taut_pool_sum(NULL, MANY, sum_block, x) == one,
                  "%d threads: the sum %.17g", teams[t], sum);
        for (int k = 0; k < 2000; k++) /* tasks that are shorter than what wakes threads */
            taut_pool_loop(pool, 16384, double_block, x);
        taut_pool_destroy(pool);
        for (int64_t i = 0; i < MANY; i++)
            x[i] = 1 / (1 + (double)i);
    }
    free(x);
}

int main(void)
{
    test_pool();
    test_evaluations();
    test_bits();
    test_messages();
    test_saved();
    return check_done();
}
