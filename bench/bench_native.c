/* bench_native.c - compiled tapes against hand-written C, in one run. Rows: name | limit | value
 * | verdict.
 *
 * Double pendulum, one member: both bonds; with their gradients; with the spring forces. Chain:
 * 256 bonds in a batch, compiled against interpreted. Values are ratios of the best of many
 * short timings, so that other load disturbs little. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "expr/native.h"

enum { ROUNDS = 300, REPEAT = 1000, BATCH = 256, OUTPUTS = 12 };

/* Seconds of one call: the best of ROUNDS timings of `repeat` calls. */
static double best_time(void (*call)(void *), void *data, int repeat)
{
    double best = INFINITY;
    for (int k = 0; k < ROUNDS; k++) {
        const double start = now();
        for (int j = 0; j < repeat; j++)
            call(data);
        best = fmin(best, (now() - start) / repeat);
    }
    return best;
}

/* ---- double pendulum [Ariel, Sanz-Serna, Tsai, section 5.1]: g1 = |p1| - 1, g2 = |p1 - p2| -
 * 1, forces -omega^2 g grad g */

static const double stiffness = 1e8;

typedef struct pendulum {
    double q[4], out[OUTPUTS]; /* hand-written: g1, g2; gradients (2 and 4 entries); forces (4) */
    taut_tape *tape;
    double *regs;
    int level;
} pendulum;

static inline __attribute__((always_inline)) void by_hand(const double *q, double *out, int level)
{
    const double ux = q[0] - q[2], uy = q[1] - q[3];
    const double r1 = sqrt(q[0] * q[0] + q[1] * q[1]), r2 = sqrt(ux * ux + uy * uy);
    out[0] = r1 - 1;
    out[1] = r2 - 1;
    if (level == 0)
        return;
    const double w1 = 1 / r1, w2 = 1 / r2;
    out[2] = q[0] * w1;
    out[3] = q[1] * w1;
    out[4] = ux * w2;
    out[5] = uy * w2;
    out[6] = -out[4];
    out[7] = -out[5];
    if (level == 1)
        return;
    const double t1 = -stiffness * out[0], t2 = -stiffness * out[1];
    out[8] = t1 * out[2] + t2 * out[4];
    out[9] = t1 * out[3] + t2 * out[5];
    out[10] = t2 * out[6];
    out[11] = t2 * out[7];
}

static __attribute__((noinline)) void hand_0(void *data)
{
    pendulum *p = data;
    by_hand(p->q, p->out, 0);
}

static __attribute__((noinline)) void hand_1(void *data)
{
    pendulum *p = data;
    by_hand(p->q, p->out, 1);
}

static __attribute__((noinline)) void hand_2(void *data)
{
    pendulum *p = data;
    by_hand(p->q, p->out, 2);
}

static __attribute__((noinline)) void compiled(void *data)
{
    pendulum *p = data;
    memcpy(p->regs, p->q, sizeof p->q);
    taut_tape_run(p->tape, p->level, 1, 1, p->regs);
}

static int32_t op2(taut_graph *g, taut_op op, int32_t a, int32_t b)
{
    return taut_graph_binary(g, op, a, b);
}

static int32_t length_less_one(taut_graph *g, int32_t x, int32_t y)
{
    const int32_t square =
        op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, x, x), op2(g, TAUT_OP_MUL, y, y));
    return op2(g, TAUT_OP_SUB, taut_graph_unary(g, TAUT_OP_ROOT, square),
               taut_graph_constant(g, 1));
}

static int pendulum_tape(taut_arena *arena, taut_tape **tape, taut_error *error)
{
    taut_graph *g = taut_graph_create(NULL, 10000);
    if (!g)
        return TAUT_ERROR_MEMORY;
    const int32_t slot[4] = {0, 1, 2, 3};
    static const unsigned char level[OUTPUTS] = {0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2};
    int32_t q[4], node[OUTPUTS], gradient[2][4], tension[2];
    for (int k = 0; k < 4; k++)
        q[k] = taut_graph_input(g, k);
    node[0] = length_less_one(g, q[0], q[1]);
    node[1] = length_less_one(g, op2(g, TAUT_OP_SUB, q[0], q[2]), op2(g, TAUT_OP_SUB, q[1], q[3]));
    for (int i = 0; i < 2; i++) {
        taut_graph_gradient(g, node[i], 4, slot, gradient[i], error);
        tension[i] = op2(g, TAUT_OP_MUL, taut_graph_constant(g, -stiffness), node[i]);
    }
    memcpy(node + 2, gradient[0], 2 * sizeof *node);
    memcpy(node + 4, gradient[1], 4 * sizeof *node);
    for (int k = 0; k < 4; k++)
        node[8 + k] = op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, tension[0], gradient[0][k]),
                          op2(g, TAUT_OP_MUL, tension[1], gradient[1][k]));
    const int status = taut_tape_create(g, arena, 4, OUTPUTS, node, level, tape, error);
    taut_graph_destroy(g);
    return status;
}

static bool pendulum_rows(taut_arena *arena, taut_tape *tape)
{
    static const char *const name[3] = {"double pendulum, value: compiled / hand-written",
                                        "double pendulum, value and gradient",
                                        "double pendulum, value, gradient and forces"};
    void (*const hand[3])(void *) = {hand_0, hand_1, hand_2};
    pendulum p = {
        .q = {1, 0.25, 2, 0.01}, .tape = tape, .regs = TAUT_NEW(arena, double, tape->registers)};
    if (!p.regs)
        return false;
    taut_tape_prepare(tape, 1, p.regs);
    for (p.level = 0; p.level < 3; p.level++) {
        const double by_hand_time = best_time(hand[p.level], &p, REPEAT),
                     ours = best_time(compiled, &p, REPEAT);
        for (int k = 0; k < (const int[]){2, 8, 12}[p.level]; k++)
            if (!(fabs(p.out[k] - p.regs[tape->output[k]]) <= 1e-13 * fmax(1, fabs(p.out[k]))))
                return false;
        row(name[p.level], 2, ours / by_hand_time);
    }
    return true;
}

/* ---- a batch */

typedef struct batch {
    taut_tape *tape;
    double *regs;
} batch;

static void run_batch(void *data)
{
    const batch *b = data;
    taut_tape_run(b->tape, 2, BATCH, BATCH, b->regs);
}

static bool batch_row(taut_arena *arena, taut_tape *tape)
{
    batch b = {tape, TAUT_NEW(arena, double, (int64_t)tape->registers *BATCH)};
    if (!b.regs)
        return false;
    taut_tape_prepare(tape, BATCH, b.regs);
    for (int k = 0; k < BATCH; k++)
        for (int i = 0; i < 4; i++)
            b.regs[i * BATCH + k] = i + 1 + 0.1 * sin(k + i);
    taut_tape interpreted = *tape;
    interpreted.native = NULL;
    batch slow = {&interpreted, b.regs};
    const double theirs = best_time(run_batch, &slow, 10);
    row("256 double pendulums in a batch: compiled / interpreted", 1,
        best_time(run_batch, &b, 10) / theirs);
    return true;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

int main(void)
{
    char folder[] = "taut-bench-XXXXXX"; /* here: the folder is private, and removed at the end */
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    taut_native *native = NULL;
    taut_tape *tape = NULL;
    taut_error error = {0};
    int status = mkdtemp(folder) ? pendulum_tape(&arena, &tape, &error) : TAUT_ERROR_FILE;
    if (status == 0)
        status = taut_native_create(&tape, 1, folder, NULL, &native, &error);
    if (status)
        printf("cannot run: %s\n", error.message);
    else if (!pendulum_rows(&arena, tape) || !batch_row(&arena, tape))
        status = printf("cannot run: compiled and hand-written values differ\n");
    taut_native_destroy(native);
    taut_arena_clear(&arena);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status ? 1 : 0;
}
