/* bench_threads.c - one run by two threads against one, on the hanging chain of a million links and
 * on the net of 300 x 300 points, compared with what two threads gain in a triad a = b + s c of
 * memory in the same rounds: all take turns, and the best times of several rounds count. States are
 * compared: they are the same bits.
 *
 * Rows: name | limit | value | verdict. With arguments "METHOD LINKS ROUNDS" one row is measured.
 */
#if defined(__linux__)
#define _POSIX_C_SOURCE 200112L
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "runs.h"
#include "system/parts.h"

static const char NET[] =
    "[parameters]\nN = 20\n[particles]\ndimension = 3\nnode[i,j] for i in 1..N, j in 1..N mass 1\n"
    "[potential]\nsum(node[i,j].z for i in 1..N, j in 1..N)\n[bonds]\n"
    "along[i,j] = length(node[i+1,j] - node[i,j]) - 1 for i in 1..N-1, j in 1..N\n"
    "across[i,j] = length(node[i,j+1] - node[i,j]) - 1 for i in 1..N, j in 1..N-1\n"
    "[start]\nnode[i,j] = (i, j, 0.1*sin(i*j)) for i in 1..N, j in 1..N\n[run]\nuntil = 1000\n";

static const struct {
    const char *method, *model, *settings;
    double step;
    int steps; /* of a round */
} chains[] = {
    {"verlet", HANGING_CHAIN(LENGTH, " stiffness 1e6"), "motion=full method=verlet step=1e-4", 1e-4,
     40},
    {"rattle", HANGING_CHAIN(LENGTH, ""), "method=rattle step=0.01", 0.01, 3},
    {"dop8", HANGING_CHAIN(LENGTH, ""), "method=dop8 step=1e-3", 1e-3, 1},
};

/* ---- the triad */

enum { TRIAD = 1 << 23 }; /* numbers of an array: 64 MB */

static double triad_block(void *context, int64_t begin, int64_t end)
{
    double *a = context, *b = a + TRIAD, *c = b + TRIAD;
    for (int64_t i = begin; i < end; i++)
        a[i] = b[i] + 1.0000001 * c[i];
    return 0;
}

static double triad(taut_pool *pool, double *room)
{
    double best = INFINITY;
    for (int k = 0; k < 4; k++) {
        const double begin = now();
        taut_pool_loop(pool, TRIAD, triad_block, room);
        best = fmin(best, now() - begin);
    }
    return best;
}

typedef struct machine {
    taut_pool *pool;
    double *room;
    double best[2];
} machine;

static bool machine_create(machine *m)
{
    *m = (machine){.best = {INFINITY, INFINITY}};
    m->room = calloc(3 * (size_t)TRIAD, sizeof *m->room);
    return m->room && taut_pool_create(2, NULL, &m->pool, NULL) == 0;
}

static void machine_destroy(machine *m)
{
    taut_pool_destroy(m->pool);
    free(m->room);
}

static void machine_round(machine *m)
{
    m->best[0] = fmin(m->best[0], triad(NULL, m->room));
    m->best[1] = fmin(m->best[1], triad(m->pool, m->room));
}

/* ---- runs */

static int chain(int k, int links, int rounds, machine *m)
{
    bench b[2];
    double best[2] = {INFINITY, INFINITY};
    char settings[200];
    int code = 0;
    m->best[0] = m->best[1] = INFINITY;
    for (int j = 0; j < 2; j++) {
        snprintf(settings, sizeof settings, "%s threads=%d", chains[k].settings, j + 1);
        b[j] = make(chains[k].model, links, settings);
        code = code ? code : b[j].code;
    }
    for (int r = 1; r <= rounds && code == 0; r++) {
        machine_round(m);
        for (int j = 0; j < 2 && code == 0; j++) {
            const double begin = now();
            code = b[j].code =
                taut_solver_advance(b[j].solver, r * chains[k].steps * chains[k].step, &b[j].error);
            best[j] = fmin(best[j], now() - begin);
        }
    }
    if (code == 0) {
        const bool same =
            memcmp(taut_solver_position(b[0].solver), taut_solver_position(b[1].solver),
                   2 * (size_t)links * sizeof(double)) == 0;
        const double gain = best[0] / best[1], most = m->best[0] / m->best[1];
        char name[100];
        printf("%s, chain of %d links: %.4g ms a step, by two threads %.4g; speed-up %.3g, of a "
               "triad %.3g; %s\n",
               chains[k].method, links, 1e3 * best[0] / chains[k].steps,
               1e3 * best[1] / chains[k].steps, gain, most, same ? "the same bits" : "OTHER BITS");
        snprintf(name, sizeof name, "two threads, %s, chain of %d: speed-up of a triad / own",
                 chains[k].method, links);
        row(name, 1 / 0.9, same ? most / gain : NAN);
    }
    return done(&b[0]) + done(&b[1]);
}

/* ---- evaluations of the net */

typedef struct side {
    taut_context *context;
    taut_arena arena;
    double *q, *v;
    taut_values values;
} side;

static int side_create(const taut_system *system, taut_pool *pool, side *s, taut_error *error)
{
    taut_sizes z = {.size = sizeof z};
    taut_system_sizes_get(system, &z, NULL);
    taut_arena_init(&s->arena, NULL);
    s->arena.looped = true;
    TAUT_TRY(TAUT_RESERVE(&s->arena, z.coordinates, error, &s->q, &s->v, &s->values.force));
    TAUT_TRY(TAUT_RESERVE(&s->arena, z.bonds, error, &s->values.bond, &s->values.bond_dt,
                          &s->values.gamma));
    TAUT_TRY(TAUT_RESERVE(&s->arena, z.jacobian_entries, error, &s->values.jacobian));
    TAUT_TRY(taut_context_create(system, NULL, &s->context, error));
    TAUT_TRY(taut_context_share(s->context, pool, error));
    return taut_context_start(s->context, 0, s->q, s->v, error);
}

static int net(int rounds, machine *m)
{
    enum { EACH = 10 };
    const unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA;
    bench b = prepare(NET, 300, "", false);
    side s[2] = {{0}};
    double best[2] = {INFINITY, INFINITY};
    for (int j = 0; j < 2 && b.code == 0; j++)
        b.code = side_create(b.system, j ? m->pool : NULL, &s[j], &b.error);
    for (int r = 0; r < rounds * EACH && b.code == 0; r++)
        for (int j = 0; j < 2 && b.code == 0; j++) {
            const double begin = now();
            b.code = taut_evaluate_inside(s[j].context, 0, s[j].q, s[j].v, wanted, &s[j].values,
                                          &b.error);
            best[j] = fmin(best[j], now() - begin);
        }
    if (b.code == 0) {
        printf("net of 300 x 300 points: forces, G and g'' in %.4g ms, by two threads %.4g\n",
               1e3 * best[0], 1e3 * best[1]);
        row("two threads, net 300 x 300: time of an evaluation / by one", 1 / 1.7,
            best[1] / best[0]);
    }
    for (int j = 0; j < 2; j++) {
        taut_context_destroy(s[j].context);
        taut_arena_clear(&s[j].arena);
    }
    return done(&b);
}

/* ---- what a task costs */

static void nothing(void *context, int64_t part, int thread)
{
    (void)context, (void)part, (void)thread;
}

static void tasks(machine *m)
{
    enum { EACH = 1000 };
    double best = INFINITY;
    for (int r = 0; r < 50; r++) {
        const double begin = now();
        for (int k = 0; k < EACH; k++)
            taut_pool_run(m->pool, 2, nothing, NULL);
        best = fmin(best, (now() - begin) / EACH);
    }
    printf("a task of two parts that do nothing: %.3g ns\n", 1e9 * best);
    row("two threads: a task, microseconds", 2, 1e6 * best);
}

int main(int count, char **arguments)
{
    enum { CHAINS = sizeof chains / sizeof chains[0], LINKS = 1000000, ROUNDS = 9 };
    machine m;
    int code = machine_create(&m) ? 0 : 1;
    const int rounds = count == 4 ? atoi(arguments[3]) : ROUNDS;
    for (int k = 0; k < CHAINS && code == 0; k++)
        if (count == 1 || (count == 4 && strcmp(chains[k].method, arguments[1]) == 0))
            code = chain(k, count == 4 ? atoi(arguments[2]) : LINKS, rounds, &m);
    if (code == 0 && (count == 1 || strcmp(arguments[1], "net") == 0))
        code = net(rounds, &m);
    if (code == 0 && count == 1)
        tasks(&m);
    machine_destroy(&m);
    return code ? 1 : 0;
}
