/* operations.h - what tests of tapes share: every operation in extended precision, random
 * graphs, a tape with its registers. */
#ifndef TAUT_TESTS_SUPPORT_OPERATIONS_H
#define TAUT_TESTS_SUPPORT_OPERATIONS_H

#include "expr/tape.h"
#include "support/table.h"
#include "support/uniform.h"

enum { LIMIT = 1000000, MOST_INPUTS = 8 };

/* ---- every operation, as a function in extended precision */

typedef long double real;
typedef real (*reference)(real a, real b, real c);

#define REFERENCE(name, value)                                                                     \
    static real ref_##name(real a, real b, real c)                                                 \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
REFERENCE(neg, -a)
REFERENCE(sqrt, sqrtl(a))
REFERENCE(exp, expl(a))
REFERENCE(log, logl(a))
REFERENCE(sin, sinl(a))
REFERENCE(cos, cosl(a))
REFERENCE(tan, tanl(a))
REFERENCE(asin, asinl(a))
REFERENCE(acos, acosl(a))
REFERENCE(atan, atanl(a))
REFERENCE(sinh, sinhl(a))
REFERENCE(cosh, coshl(a))
REFERENCE(tanh, tanhl(a))
REFERENCE(abs, fabsl(a))
REFERENCE(sign, (a > 0) - (a < 0))
REFERENCE(floor, floorl(a))
REFERENCE(round, roundl(a))
REFERENCE(add, a + b)
REFERENCE(sub, a - b)
REFERENCE(mul, (a * b))
REFERENCE(div, a / b)
REFERENCE(divz, b == 0 ? 0 : a / b)
REFERENCE(pow, powl(a, b))
REFERENCE(atan2, atan2l(a, b))
REFERENCE(hypot, hypotl(a, b))
REFERENCE(min, fminl(a, b))
REFERENCE(max, fmaxl(a, b))
REFERENCE(mod, a - b * floorl(a / b))
REFERENCE(lt, a < b)
REFERENCE(le, a <= b)
REFERENCE(eq, a == b)
REFERENCE(ne, a != b)
REFERENCE(and, a != 0 && b != 0)
REFERENCE(or, a != 0 || b != 0)
REFERENCE(select, a > 0 ? b : c)

/* Operands are drawn from [low, high]; ulps: what the C library is trusted with. */
static const struct {
    taut_op op;
    reference value;
    double low, high, ulps;
} operations[] = {
    {TAUT_OP_NEG, ref_neg, -3, 3, 0},       {TAUT_OP_SQRT, ref_sqrt, 0.1, 9, 0.5},
    {TAUT_OP_ROOT, ref_sqrt, 0.1, 9, 0.5},  {TAUT_OP_EXP, ref_exp, -3, 3, 1},
    {TAUT_OP_LOG, ref_log, 0.1, 9, 1},      {TAUT_OP_SIN, ref_sin, -7, 7, 1},
    {TAUT_OP_COS, ref_cos, -7, 7, 1},       {TAUT_OP_TAN, ref_tan, -1.2, 1.2, 1},
    {TAUT_OP_ASIN, ref_asin, -0.7, 0.7, 1}, {TAUT_OP_ACOS, ref_acos, -0.7, 0.7, 1},
    {TAUT_OP_ATAN, ref_atan, -5, 5, 1},     {TAUT_OP_SINH, ref_sinh, -3, 3, 2},
    {TAUT_OP_COSH, ref_cosh, -3, 3, 2},     {TAUT_OP_TANH, ref_tanh, -3, 3, 2},
    {TAUT_OP_ABS, ref_abs, -3, 3, 0},       {TAUT_OP_SIGN, ref_sign, -3, 3, 0},
    {TAUT_OP_FLOOR, ref_floor, -9, 9, 0},   {TAUT_OP_ROUND, ref_round, -9, 9, 0},
    {TAUT_OP_ADD, ref_add, -3, 3, 0.5},     {TAUT_OP_SUB, ref_sub, -3, 3, 0.5},
    {TAUT_OP_MUL, ref_mul, -3, 3, 0.5},     {TAUT_OP_DIV, ref_div, 0.5, 3, 0.5},
    {TAUT_OP_DIVZ, ref_divz, 0.5, 3, 0.5},  {TAUT_OP_POW, ref_pow, 0.5, 3, 4},
    {TAUT_OP_ATAN2, ref_atan2, -3, 3, 1},   {TAUT_OP_HYPOT, ref_hypot, -3, 3, 1},
    {TAUT_OP_MIN, ref_min, -3, 3, 0},       {TAUT_OP_MAX, ref_max, -3, 3, 0},
    {TAUT_OP_MOD, ref_mod, 0.7, 9, 16},     {TAUT_OP_LT, ref_lt, -3, 3, 0},
    {TAUT_OP_LE, ref_le, -3, 3, 0},         {TAUT_OP_EQ, ref_eq, -3, 3, 0},
    {TAUT_OP_NE, ref_ne, -3, 3, 0},         {TAUT_OP_AND, ref_and, -3, 3, 0},
    {TAUT_OP_OR, ref_or, -3, 3, 0},         {TAUT_OP_SELECT, ref_select, -3, 3, 0},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* The operation on inputs 0, 1, 2. The condition of `if` is 0 < input 0, so that both sides are
 * met. */
static inline int32_t build(taut_graph *g, taut_op op)
{
    int32_t a = taut_graph_input(g, 0), b = taut_graph_input(g, 1), c = taut_graph_input(g, 2);
    switch (taut_op_table[op].arity) {
    case 1: return taut_graph_unary(g, op, a);
    case 2: return taut_graph_binary(g, op, a, b);
    default:
        return taut_graph_select(g, taut_graph_binary(g, TAUT_OP_LT, taut_graph_constant(g, 0), a),
                                 b, c);
    }
}

/* ---- a tape with its registers */

typedef struct runner {
    taut_arena arena;
    taut_tape *tape;
    double *regs;
    int lanes;
} runner;

static inline runner runner_open(const taut_graph *g, int32_t inputs, int32_t count,
                                 const int32_t *node, const unsigned char *level, int lanes)
{
    static const unsigned char zeros[256];
    runner r = {.lanes = lanes};
    taut_error error;
    taut_arena_init(&r.arena, NULL);
    if (taut_tape_create(g, &r.arena, inputs, count, node, level ? level : zeros, &r.tape,
                         &error)) {
        check_row(false, "cannot make a tape: %s", error.message);
        exit(check_done());
    }
    r.regs = TAUT_NEW(&r.arena, double, (int64_t)r.tape->registers *lanes);
    for (int64_t k = 0; k < (int64_t)r.tape->registers * lanes; k++)
        r.regs[k] = NAN;
    taut_tape_prepare(r.tape, lanes, r.regs);
    return r;
}

static inline double output(const runner *r, int k, int lane)
{
    return r->regs[(int64_t)r->tape->output[k] * r->lanes + lane];
}

static inline void run_at(runner *r, const double *x)
{
    for (int k = 0; k < r->tape->inputs; k++)
        r->regs[k] = x[k];
    taut_tape_run(r->tape, TAUT_LEVELS - 1, 1, 1, r->regs);
}

/* A deep random graph of smooth operations with moderate numbers; its nodes go into pool[inputs
 * + 2 + operations_wanted]. */
static inline int32_t random_graph(taut_graph *g, int inputs, int operations_wanted, int32_t *pool)
{
    static const taut_op unary[] = {TAUT_OP_NEG,  TAUT_OP_SIN, TAUT_OP_COS, TAUT_OP_TANH,
                                    TAUT_OP_ATAN, TAUT_OP_EXP, TAUT_OP_ROOT};
    static const taut_op binary[] = {TAUT_OP_ADD,   TAUT_OP_SUB,   TAUT_OP_MUL, TAUT_OP_DIV,
                                     TAUT_OP_HYPOT, TAUT_OP_ATAN2, TAUT_OP_POW};
    int count = 0;
    for (int k = 0; k < inputs; k++)
        pool[count++] = taut_graph_input(g, k);
    pool[count++] = taut_graph_constant(g, 0.7);
    pool[count++] = taut_graph_constant(g, -1.3);
    int32_t last = -1;
    while (count < inputs + 2 + operations_wanted) {
        /* from the latest ones, so that the graph gets deep */
        int recent = count < 12 ? count : 12;
        int32_t a = pool[count - 1 - (int)uniform(0, recent)], b = pool[(int)uniform(0, count)];
        int32_t positive = taut_graph_binary(
            g, TAUT_OP_ADD, taut_graph_binary(g, TAUT_OP_MUL, b, b), taut_graph_constant(g, 1.5));
        if (uniform(0, 1) < 0.4) {
            taut_op op = unary[(int)uniform(0, 7)];
            if (op == TAUT_OP_EXP) /* keep numbers moderate */
                a = taut_graph_unary(g, TAUT_OP_SIN, a);
            pool[count++] = taut_graph_unary(g, op, op == TAUT_OP_ROOT ? positive : a);
        } else {
            taut_op op = binary[(int)uniform(0, 7)];
            if (op == TAUT_OP_MUL)
                a = taut_graph_unary(g, TAUT_OP_TANH, a);
            if (op == TAUT_OP_POW)
                pool[count++] =
                    taut_graph_binary(g, op, positive, taut_graph_unary(g, TAUT_OP_SIN, a));
            else
                pool[count++] = taut_graph_binary(
                    g, op, a,
                    op == TAUT_OP_ADD || op == TAUT_OP_SUB || op == TAUT_OP_MUL ? b : positive);
        }
        last = pool[count - 1];
    }
    return last;
}

#endif
