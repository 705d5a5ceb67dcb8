/* bench_tape.c - interpreted tapes against hand-written C, in one run. Rows: name | limit |
 * value | verdict.
 *
 * Chain: N = 1000 distance bonds, values and gradients, both sides on the tape's arrays; forces
 * and Jacobian of the state, with the library's own gathering and scattering, are measured in
 * bench_system.c. Double pendulum: both bonds, their gradients and the forces, one member.
 * Values are ratios of the best of many short timings, so that other load disturbs little. Both
 * sides are compiled -O3 and compared first: a wrong tape is no result. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "expr/tape.h"

enum { BONDS = 1000, STATE = 2 * BONDS + 2, ROUNDS = 300 };

static const double kappa = 1e4;

static double time_of(void (*call)(void *), void *data, int repeat)
{
    double start = now();
    for (int j = 0; j < repeat; j++)
        call(data);
    return (now() - start) / repeat;
}

/* Best times of two calls, taken in turns so that both see the same machine. */
static double ratio(void (*tape)(void *), void (*hand)(void *), void *data, int repeat)
{
    double best_tape = INFINITY, best_hand = INFINITY;
    for (int k = 0; k < ROUNDS; k++) {
        best_tape = fmin(best_tape, time_of(tape, data, repeat));
        best_hand = fmin(best_hand, time_of(hand, data, repeat));
    }
    return best_tape / best_hand;
}

static double largest_difference(const double *x, const double *y, int n)
{
    double worst = 0;
    for (int k = 0; k < n; k++)
        worst = fabs(x[k] - y[k]) <= worst ? worst : fabs(x[k] - y[k]);
    return worst;
}

static int32_t op2(taut_graph *g, taut_op op, int32_t a, int32_t b)
{
    return taut_graph_binary(g, op, a, b);
}

/* length(u) - 1, and its gradient */
static void build_bond(taut_graph *g, int32_t ux, int32_t uy, const int32_t *slots, int32_t *node)
{
    int32_t square = op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, ux, ux), op2(g, TAUT_OP_MUL, uy, uy));
    node[0] =
        op2(g, TAUT_OP_SUB, taut_graph_unary(g, TAUT_OP_ROOT, square), taut_graph_constant(g, 1));
    taut_graph_gradient(g, node[0], 4, slots, node + 1, NULL);
}

/* ---- chain */

typedef struct chain {
    double q[STATE];
    taut_arena arena;
    taut_tape *tape;
    double *regs;
    int lanes;
} chain;

static int chain_create(chain *c)
{
    taut_graph *g = taut_graph_create(NULL, 10000);
    if (!g)
        return TAUT_ERROR_MEMORY;
    int32_t in[4], node[5];
    const int32_t slots[4] = {0, 1, 2, 3};
    const unsigned char level[5] = {0};
    for (int k = 0; k < 4; k++)
        in[k] = taut_graph_input(g, k);
    build_bond(g, op2(g, TAUT_OP_SUB, in[0], in[2]), op2(g, TAUT_OP_SUB, in[1], in[3]), slots,
               node);
    taut_arena_init(&c->arena, NULL);
    int status = taut_tape_create(g, &c->arena, 4, 5, node, level, &c->tape, NULL);
    taut_graph_destroy(g);
    if (status)
        return status;
    c->lanes = taut_tape_lanes(c->tape, BONDS);
    c->regs = TAUT_NEW(&c->arena, double, (int64_t)c->tape->registers * c->lanes);
    if (!c->regs)
        return TAUT_ERROR_MEMORY;
    taut_tape_prepare(c->tape, c->lanes, c->regs);
    for (int k = 0; k <= BONDS; k++) {
        c->q[2 * k] = k + 0.01 * sin(k);
        c->q[2 * k + 1] = 0.3 * cos(0.7 * k);
    }
    for (int j = 0; j < 4; j++)
        for (int k = 0; k < c->lanes; k++)
            c->regs[j * c->lanes + k] =
                c->q[2 * k + (j + 2) % 4]; /* x1 y1 x2 y2, the later end first */
    return 0;
}

static int block_size(const chain *c, int first)
{
    return BONDS - first < c->lanes ? BONDS - first : c->lanes;
}

static void kernel_tape(void *data)
{
    chain *c = data;
    for (int first = 0; first < BONDS; first += c->lanes)
        taut_tape_run(c->tape, 0, c->lanes, block_size(c, first), c->regs);
}

static double *output(const chain *c, int k)
{
    return c->regs + c->tape->output[k] * c->lanes;
}

static void hand_block(int n, const double *restrict x1, const double *restrict y1,
                       const double *restrict x2, const double *restrict y2, double *restrict g,
                       double *restrict d0, double *restrict d1, double *restrict d2,
                       double *restrict d3)
{
    for (int k = 0; k < n; k++) {
        double ux = x1[k] - x2[k], uy = y1[k] - y2[k], r = sqrt(ux * ux + uy * uy), w = 1 / r;
        g[k] = r - 1;
        d0[k] = w * ux;
        d1[k] = w * uy;
        d2[k] = -(w * ux);
        d3[k] = -(w * uy);
    }
}

static void kernel_hand(void *data)
{
    chain *c = data;
    const double *x = c->regs;
    for (int first = 0; first < BONDS; first += c->lanes)
        hand_block(block_size(c, first), x, x + c->lanes, x + 2 * c->lanes, x + 3 * c->lanes,
                   output(c, 0), output(c, 1), output(c, 2), output(c, 3), output(c, 4));
}

/* The largest difference between both sides, relative to the size of the numbers. */
static double chain_difference(chain *c)
{
    static double values[5][256];
    double worst = 0;
    kernel_hand(c);
    for (int k = 0; k < 5; k++)
        memcpy(values[k], output(c, k), (size_t)c->lanes * sizeof(double));
    kernel_tape(c);
    for (int k = 0; k < 5; k++)
        worst = fmax(worst, largest_difference(values[k], output(c, k), c->lanes));
    return worst;
}

static int bench_chain(void)
{
    static chain c;
    if (chain_create(&c))
        return 1;
    double worst = chain_difference(&c);
    if (!(worst < 1e-14)) {
        fprintf(stderr, "chain: the tape differs from the plain loop by %g\n", worst);
        return 1;
    }
    row("chain of 1000 bonds, kernel on the same arrays: batched tape / C", 1.5,
        ratio(kernel_tape, kernel_hand, &c, 10));
    taut_arena_clear(&c.arena);
    return 0;
}

/* ---- double pendulum [A section 5.1]: g1 = |p1| - 1, g2 = |p1 - p2| - 1, forces -kappa g grad g
 */

enum { PENDULUM_OUTPUTS = 2 + 8 + 4 };

typedef struct pendulum {
    double q[4], out[PENDULUM_OUTPUTS];
    taut_arena arena;
    taut_tape *tape;
    double *regs;
} pendulum;

static int pendulum_create(pendulum *p)
{
    taut_graph *g = taut_graph_create(NULL, 10000);
    if (!g)
        return TAUT_ERROR_MEMORY;
    int32_t in[4], first[5], second[5], node[PENDULUM_OUTPUTS];
    const int32_t slots[4] = {0, 1, 2, 3};
    const unsigned char level[PENDULUM_OUTPUTS] = {0};
    for (int k = 0; k < 4; k++)
        in[k] = taut_graph_input(g, k);
    build_bond(g, in[0], in[1], slots, first);
    build_bond(g, op2(g, TAUT_OP_SUB, in[0], in[2]), op2(g, TAUT_OP_SUB, in[1], in[3]), slots,
               second);
    node[0] = first[0];
    node[1] = second[0];
    int32_t scale = taut_graph_constant(g, kappa);
    for (int k = 0; k < 4; k++) {
        node[2 + k] = first[1 + k];
        node[6 + k] = second[1 + k];
        int32_t one = op2(g, TAUT_OP_MUL, op2(g, TAUT_OP_MUL, scale, first[0]), first[1 + k]);
        int32_t two = op2(g, TAUT_OP_MUL, op2(g, TAUT_OP_MUL, scale, second[0]), second[1 + k]);
        node[10 + k] = taut_graph_unary(g, TAUT_OP_NEG, op2(g, TAUT_OP_ADD, one, two));
    }
    taut_arena_init(&p->arena, NULL);
    int status = taut_tape_create(g, &p->arena, 4, PENDULUM_OUTPUTS, node, level, &p->tape, NULL);
    taut_graph_destroy(g);
    if (status)
        return status;
    p->regs = TAUT_NEW(&p->arena, double, p->tape->registers);
    if (!p->regs)
        return TAUT_ERROR_MEMORY;
    taut_tape_prepare(p->tape, 1, p->regs);
    memcpy(p->q, (const double[4]){1, 0.25, 2, 0}, sizeof p->q);
    return 0;
}

static void pendulum_tape(void *data)
{
    pendulum *p = data;
    memcpy(p->regs, p->q, sizeof p->q);
    taut_tape_run(p->tape, 0, 1, 1, p->regs);
    for (int k = 0; k < PENDULUM_OUTPUTS; k++)
        p->out[k] = p->regs[p->tape->output[k]];
}

static void pendulum_hand(void *data)
{
    pendulum *p = data;
    const double *q = p->q;
    double *out = p->out;
    double r1 = sqrt(q[0] * q[0] + q[1] * q[1]), w1 = 1 / r1;
    double ux = q[0] - q[2], uy = q[1] - q[3], r2 = sqrt(ux * ux + uy * uy), w2 = 1 / r2;
    double g1 = r1 - 1, g2 = r2 - 1;
    out[0] = g1;
    out[1] = g2;
    out[2] = w1 * q[0];
    out[3] = w1 * q[1];
    out[4] = out[5] = 0;
    out[6] = w2 * ux;
    out[7] = w2 * uy;
    out[8] = -out[6];
    out[9] = -out[7];
    double t1 = kappa * g1, t2 = kappa * g2;
    out[10] = -(t1 * out[2] + t2 * out[6]);
    out[11] = -(t1 * out[3] + t2 * out[7]);
    out[12] = -t2 * out[8];
    out[13] = -t2 * out[9];
}

static int bench_pendulum(void)
{
    static pendulum p;
    double hand[PENDULUM_OUTPUTS];
    if (pendulum_create(&p))
        return 1;
    pendulum_hand(&p);
    memcpy(hand, p.out, sizeof hand);
    pendulum_tape(&p);
    double worst = largest_difference(hand, p.out, PENDULUM_OUTPUTS) / kappa;
    if (!(worst < 1e-14)) {
        fprintf(stderr, "double pendulum: the tape differs from C by %g\n", worst);
        return 1;
    }
    row("double pendulum, bonds, gradients and forces: tape / C", 15,
        ratio(pendulum_tape, pendulum_hand, &p, 1000));
    taut_arena_clear(&p.arena);
    return 0;
}

int main(void)
{
    int chain_failed = bench_chain(), pendulum_failed = bench_pendulum();
    return chain_failed || pendulum_failed;
}
