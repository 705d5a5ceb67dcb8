/* Tapes: the value of every operation against extended precision, first and second derivatives against extrapolated differences of the
 * same, reverse against forward sweeps on random graphs, levels, batches against single members, bad calls, failing memory. */
#include "expr/curve.h"
#include "expr/tape.h"
#include "faulty.h"
#include "table.h"

enum { LIMIT = 1000000, MOST_INPUTS = 8 };

static uint64_t random_state = 88172645463325252u;

static double uniform(double from, double to)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return from + (to - from) * (double)(random_state >> 11) * 0x1p-53;
}

/* ---- every operation, as a function in extended precision */

typedef long double real;
typedef real (*reference)(real a, real b, real c);

#define REFERENCE(name, value)                                                                                                     \
    static real ref_##name(real a, real b, real c)                                                                                 \
    {                                                                                                                              \
        (void)a, (void)b, (void)c;                                                                                                 \
        return value;                                                                                                              \
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
REFERENCE(mul, a *b)
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
    {TAUT_OP_NEG, ref_neg, -3, 3, 0},       {TAUT_OP_SQRT, ref_sqrt, 0.1, 9, 0.5}, {TAUT_OP_ROOT, ref_sqrt, 0.1, 9, 0.5},
    {TAUT_OP_EXP, ref_exp, -3, 3, 1},       {TAUT_OP_LOG, ref_log, 0.1, 9, 1},     {TAUT_OP_SIN, ref_sin, -7, 7, 1},
    {TAUT_OP_COS, ref_cos, -7, 7, 1},       {TAUT_OP_TAN, ref_tan, -1.2, 1.2, 1},  {TAUT_OP_ASIN, ref_asin, -0.7, 0.7, 1},
    {TAUT_OP_ACOS, ref_acos, -0.7, 0.7, 1}, {TAUT_OP_ATAN, ref_atan, -5, 5, 1},    {TAUT_OP_SINH, ref_sinh, -3, 3, 2},
    {TAUT_OP_COSH, ref_cosh, -3, 3, 2},     {TAUT_OP_TANH, ref_tanh, -3, 3, 2},    {TAUT_OP_ABS, ref_abs, -3, 3, 0},
    {TAUT_OP_SIGN, ref_sign, -3, 3, 0},     {TAUT_OP_FLOOR, ref_floor, -9, 9, 0},  {TAUT_OP_ROUND, ref_round, -9, 9, 0},
    {TAUT_OP_ADD, ref_add, -3, 3, 0.5},     {TAUT_OP_SUB, ref_sub, -3, 3, 0.5},    {TAUT_OP_MUL, ref_mul, -3, 3, 0.5},
    {TAUT_OP_DIV, ref_div, 0.5, 3, 0.5},    {TAUT_OP_DIVZ, ref_divz, 0.5, 3, 0.5}, {TAUT_OP_POW, ref_pow, 0.5, 3, 1},
    {TAUT_OP_ATAN2, ref_atan2, -3, 3, 1},   {TAUT_OP_HYPOT, ref_hypot, -3, 3, 1},  {TAUT_OP_MIN, ref_min, -3, 3, 0},
    {TAUT_OP_MAX, ref_max, -3, 3, 0},       {TAUT_OP_MOD, ref_mod, 0.7, 9, 16},    {TAUT_OP_LT, ref_lt, -3, 3, 0},
    {TAUT_OP_LE, ref_le, -3, 3, 0},         {TAUT_OP_EQ, ref_eq, -3, 3, 0},        {TAUT_OP_NE, ref_ne, -3, 3, 0},
    {TAUT_OP_AND, ref_and, -3, 3, 0},       {TAUT_OP_OR, ref_or, -3, 3, 0},        {TAUT_OP_SELECT, ref_select, -3, 3, 0},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* The operation on inputs 0, 1, 2. The condition of `if` is 0 < input 0, so that both sides are met. */
static int32_t build(taut_graph *g, taut_op op)
{
    int32_t a = taut_graph_input(g, 0), b = taut_graph_input(g, 1), c = taut_graph_input(g, 2);
    switch (taut_op_table[op].arity) {
    case 1: return taut_graph_unary(g, op, a);
    case 2: return taut_graph_binary(g, op, a, b);
    default: return taut_graph_select(g, taut_graph_binary(g, TAUT_OP_LT, taut_graph_constant(g, 0), a), b, c);
    }
}

/* ---- a tape with its registers */

typedef struct runner {
    taut_arena arena;
    taut_tape *tape;
    double *regs;
    int lanes;
} runner;

static runner runner_open(const taut_graph *g, int32_t inputs, int32_t count, const int32_t *node, const unsigned char *level,
                          int lanes)
{
    static const unsigned char zeros[256];
    runner r = {.lanes = lanes};
    taut_error error;
    taut_arena_init(&r.arena, NULL);
    if (taut_tape_create(g, &r.arena, inputs, count, node, level ? level : zeros, &r.tape, &error)) {
        check_row(false, "cannot make a tape: %s", error.message);
        exit(check_done());
    }
    r.regs = TAUT_NEW(&r.arena, double, (int64_t)r.tape->registers *lanes);
    for (int64_t k = 0; k < (int64_t)r.tape->registers * lanes; k++)
        r.regs[k] = NAN;
    taut_tape_prepare(r.tape, lanes, r.regs);
    return r;
}

static double output(const runner *r, int k, int lane)
{
    return r->regs[(int64_t)r->tape->output[k] * r->lanes + lane];
}

static void run_at(runner *r, const double *x)
{
    for (int k = 0; k < r->tape->inputs; k++)
        r->regs[k] = x[k];
    taut_tape_run(r->tape, TAUT_LEVELS - 1, 1, 1, r->regs);
}

/* ---- differences in extended precision, twice extrapolated: error h^6 */

static real shifted(reference f, const double *x, int i, real di, int j, real dj)
{
    real y[3] = {x[0], x[1], x[2]};
    y[i] += di;
    y[j] += dj;
    return f(y[0], y[1], y[2]);
}

static real difference(reference f, const double *x, int i)
{
    real d[3], h = 0x1p-8L;
    for (int k = 0; k < 3; k++, h /= 2)
        d[k] = (shifted(f, x, i, h, i, 0) - shifted(f, x, i, -h, i, 0)) / (2 * h);
    real once[2] = {(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3};
    return (16 * once[1] - once[0]) / 15;
}

static real second_difference(reference f, const double *x, int i, int j)
{
    real d[3], h = 0x1p-6L;
    for (int k = 0; k < 3; k++, h /= 2)
        d[k] = (shifted(f, x, i, h, j, h) - shifted(f, x, i, h, j, -h) - shifted(f, x, i, -h, j, h) + shifted(f, x, i, -h, j, -h)) /
               (4 * h * h);
    real once[2] = {(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3};
    return (16 * once[1] - once[0]) / 15;
}

/* Far enough from kinks and jumps for differences. */
static bool smooth_near(taut_op op, const double *x)
{
    const double margin = 0.05;
    switch (op) {
    case TAUT_OP_FLOOR: return fabs(x[0] - round(x[0])) > margin;
    case TAUT_OP_ROUND: return fabs(x[0] - floor(x[0]) - 0.5) > margin;
    case TAUT_OP_ABS:
    case TAUT_OP_SIGN:
    case TAUT_OP_SELECT: return fabs(x[0]) > margin;
    case TAUT_OP_MIN:
    case TAUT_OP_MAX:
    case TAUT_OP_LT:
    case TAUT_OP_LE: return fabs(x[0] - x[1]) > margin;
    case TAUT_OP_MOD: return fabs(x[0] / x[1] - round(x[0] / x[1])) > 0.2;
    case TAUT_OP_ATAN2:
    case TAUT_OP_HYPOT: return hypot(x[0], x[1]) > 0.6 && (x[1] > 0 || fabs(x[0]) > margin);
    default: return true;
    }
}

static void test_operations(void)
{
    check_group("operations");
    bool covered[TAUT_OP_COUNT] = {[TAUT_OP_CONSTANT] = true, [TAUT_OP_INPUT] = true, [TAUT_OP_CURVE] = true};
    for (int o = 0; o < OPERATIONS; o++) {
        taut_op op = operations[o].op;
        const char *name = taut_op_table[op].name;
        covered[op] = true;
        taut_graph *g = taut_graph_create(NULL, LIMIT);
        const int32_t slots[3] = {0, 1, 2};
        int32_t node[13]; /* value, gradient, Hessian */
        node[0] = build(g, op);
        taut_graph_gradient(g, node[0], 3, slots, node + 1, NULL);
        for (int k = 0; k < 3; k++)
            taut_graph_gradient(g, node[1 + k], 3, slots, node + 4 + 3 * k, NULL);
        runner r = runner_open(g, 3, 13, node, NULL, 1);
        for (int trial = 0; trial < 50; trial++) {
            double x[3];
            do
                for (int k = 0; k < 3; k++)
                    x[k] = uniform(operations[o].low, operations[o].high);
            while (!smooth_near(op, x));
            run_at(&r, x);
            double value = output(&r, 0, 0), exact = (double)operations[o].value(x[0], x[1], x[2]);
            double ulp = nextafter(fabs(exact), INFINITY) - fabs(exact);
            if (op == TAUT_OP_MOD)
                ulp = nextafter(fabs(x[0]), INFINITY) - fabs(x[0]); /* it subtracts numbers of that size */
            check_row(fabs(value - exact) <= operations[o].ulps * ulp, "%s(%g, %g, %g) = %.17g, expected %.17g", name, x[0], x[1],
                      x[2], value, exact);
            for (int i = 0; i < 3; i++) {
                double d = output(&r, 1 + i, 0), expected = (double)difference(operations[o].value, x, i);
                check_row(fabs(d - expected) <= 1e-10 * (1 + fabs(expected)),
                          "derivative %d of %s(%g, %g, %g) = %.17g, expected %.17g", i, name, x[0], x[1], x[2], d, expected);
                for (int j = 0; j < 3; j++) {
                    double dd = output(&r, 4 + 3 * i + j, 0), second = (double)second_difference(operations[o].value, x, i, j);
                    check_row(fabs(dd - second) <= 1e-6 * (1 + fabs(second)),
                              "derivative %d%d of %s(%g, %g, %g) = %.17g, expected %.17g", i, j, name, x[0], x[1], x[2], dd,
                              second);
                }
            }
        }
        taut_arena_clear(&r.arena);
        taut_graph_destroy(g);
    }
    for (int op = 0; op < TAUT_OP_COUNT; op++)
        check_row(covered[op], "%s is covered", taut_op_table[op].name);
}

/* ---- random graphs */

static int32_t random_graph(taut_graph *g, int inputs, int operations_wanted, int32_t *pool)
{
    static const taut_op unary[] = {TAUT_OP_NEG, TAUT_OP_SIN, TAUT_OP_COS, TAUT_OP_TANH, TAUT_OP_ATAN, TAUT_OP_EXP, TAUT_OP_ROOT};
    static const taut_op binary[] = {TAUT_OP_ADD, TAUT_OP_SUB, TAUT_OP_MUL, TAUT_OP_DIV, TAUT_OP_HYPOT, TAUT_OP_ATAN2, TAUT_OP_POW};
    int count = 0;
    for (int k = 0; k < inputs; k++)
        pool[count++] = taut_graph_input(g, k);
    pool[count++] = taut_graph_constant(g, 0.7);
    pool[count++] = taut_graph_constant(g, -1.3);
    int32_t square_plus = -1;
    while (count < inputs + 2 + operations_wanted) {
        int recent = count < 12 ? count : 12; /* from the latest ones, so that the graph gets deep */
        int32_t a = pool[count - 1 - (int)uniform(0, recent)], b = pool[(int)uniform(0, count)];
        int32_t positive = taut_graph_binary(g, TAUT_OP_ADD, taut_graph_binary(g, TAUT_OP_MUL, b, b), taut_graph_constant(g, 1.5));
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
                pool[count++] = taut_graph_binary(g, op, positive, taut_graph_unary(g, TAUT_OP_SIN, a));
            else
                pool[count++] =
                    taut_graph_binary(g, op, a, op == TAUT_OP_ADD || op == TAUT_OP_SUB || op == TAUT_OP_MUL ? b : positive);
        }
        square_plus = pool[count - 1];
    }
    return square_plus;
}

/* The directional derivative of the first output by extrapolated differences of the tape itself. */
static double tape_difference(runner *r, const double *x, const double *direction, int which)
{
    double d[3], h = 4e-3, y[MOST_INPUTS];
    for (int k = 0; k < 3; k++, h /= 2) {
        double end[2];
        for (int side = 0; side < 2; side++) {
            for (int j = 0; j < r->tape->inputs; j++)
                y[j] = x[j] + (side ? -h : h) * direction[j];
            run_at(r, y);
            end[side] = output(r, which, 0);
        }
        d[k] = (end[0] - end[1]) / (2 * h);
    }
    return (16 * (4 * d[2] - d[1]) / 3 - (4 * d[1] - d[0]) / 3) / 15;
}

static void test_random_graphs(void)
{
    check_group("random graphs");
    enum { INPUTS = 5, TRIALS = 60 };
    for (int trial = 0; trial < TRIALS; trial++) {
        taut_graph *g = taut_graph_create(NULL, LIMIT);
        int32_t pool[64], slots[INPUTS], seeds[INPUTS], node[INPUTS + 3];
        node[0] = random_graph(g, INPUTS, 40, pool);
        double x[MOST_INPUTS], direction[INPUTS];
        for (int k = 0; k < INPUTS; k++) {
            slots[k] = k;
            x[k] = uniform(-1.5, 1.5);
            direction[k] = uniform(-1, 1);
            seeds[k] = taut_graph_constant(g, direction[k]);
        }
        int32_t before = taut_graph_size(g);
        taut_graph_gradient(g, node[0], INPUTS, slots, node + 1, NULL);
        check_row(taut_graph_size(g) - before <= 16 * before, "gradient adds %d nodes to %d", (int)(taut_graph_size(g) - before),
                  (int)before);
        node[INPUTS + 1] = taut_graph_derivative(g, node[0], INPUTS, slots, seeds);
        node[INPUTS + 2] = taut_graph_derivative(g, node[INPUTS + 1], INPUTS, slots, seeds);
        runner r = runner_open(g, INPUTS, INPUTS + 3, node, NULL, 1);
        run_at(&r, x);
        double reverse = 0, size = 0, forward = output(&r, INPUTS + 1, 0), second = output(&r, INPUTS + 2, 0);
        for (int k = 0; k < INPUTS; k++) {
            reverse += direction[k] * output(&r, 1 + k, 0);
            size += fabs(output(&r, 1 + k, 0));
        }
        check_near("reverse and forward", reverse, forward, 1e-11 * (1 + size));
        check_near("forward and differences", forward, tape_difference(&r, x, direction, 0), 1e-6 * (1 + size));
        check_near("second and differences of the first", second, tape_difference(&r, x, direction, INPUTS + 1),
                   1e-5 * (1 + size + fabs(second)));

        /* the same second derivative by reverse over forward */
        int32_t gradient[INPUTS + 1];
        taut_graph_gradient(g, node[INPUTS + 1], INPUTS, slots, gradient, NULL);
        runner again = runner_open(g, INPUTS, INPUTS, gradient, NULL, 1);
        run_at(&again, x);
        double contracted = 0, terms = 0;
        for (int k = 0; k < INPUTS; k++) {
            contracted += direction[k] * output(&again, k, 0);
            terms += fabs(output(&again, k, 0));
        }
        check_near("reverse over forward", contracted, second, 1e-10 * (1 + terms));
        taut_arena_clear(&again.arena);
        taut_arena_clear(&r.arena);
        taut_graph_destroy(g);
    }
}

/* ---- structure */

static void test_levels(void)
{
    check_group("levels");
    enum { INPUTS = 4, OUTPUTS = 9 };
    for (int trial = 0; trial < 30; trial++) {
        taut_graph *g = taut_graph_create(NULL, LIMIT);
        int32_t pool[128], node[OUTPUTS];
        unsigned char level[OUTPUTS];
        random_graph(g, INPUTS, 80, pool);
        for (int k = 0; k < OUTPUTS; k++) {
            node[k] = pool[(int)uniform(0, INPUTS + 82)]; /* inputs and constants may be outputs too */
            level[k] = (unsigned char)uniform(0, 4);
        }
        runner all = runner_open(g, INPUTS, OUTPUTS, node, level, 1);
        double x[MOST_INPUTS];
        for (int k = 0; k < INPUTS; k++)
            x[k] = uniform(-1, 1);
        run_at(&all, x);
        const taut_tape *tape = all.tape;
        int32_t first = tape->inputs + tape->constants;
        for (int32_t k = 0; k < tape->length; k++) {
            const taut_instruction *code = &tape->code[k];
            bool ordered = code->to == first + k && code->a < code->to && code->b < code->to && code->c < code->to;
            check_row(ordered, "instruction %d: %d <- %d %d %d", (int)k, (int)code->to, (int)code->a, (int)code->b, (int)code->c);
        }
        /* each level for itself: its outputs are there, and exactly what they need was run */
        for (int want = 0; want < TAUT_LEVELS; want++) {
            unsigned char *flag = calloc((size_t)taut_graph_size(g), 1);
            for (int k = 0; k < OUTPUTS; k++)
                if (level[k] <= want)
                    taut_graph_mark(g, &node[k], 1, flag);
            int needed = 0;
            for (int32_t k = 0; k < taut_graph_size(g); k++)
                needed += flag[k] && taut_op_table[taut_graph_node(g, k)->op].arity > 0;
            check_equal("instructions of a level", tape->level_end[want], needed);
            free(flag);
            runner part = runner_open(g, INPUTS, OUTPUTS, node, level, 1);
            memcpy(part.regs, x, INPUTS * sizeof *x);
            taut_tape_run(part.tape, want, 1, 1, part.regs);
            for (int k = 0; k < OUTPUTS; k++)
                if (level[k] <= want)
                    check_near("output of a level", output(&part, k, 0), output(&all, k, 0), 0);
            for (int32_t k = tape->level_end[want]; k < tape->length; k++)
                check_row(isnan(part.regs[first + k]), "instruction %d of a higher level was run", (int)k);
            taut_arena_clear(&part.arena);
        }
        check_equal("length", tape->length, tape->level_end[TAUT_LEVELS - 1]);
        taut_arena_clear(&all.arena);
        taut_graph_destroy(g);
    }
}

static void test_companions(void)
{
    check_group("companions");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t node[OPERATIONS];
    for (int k = 0; k < OPERATIONS; k++)
        node[k] = build(g, operations[k].op);
    runner r = runner_open(g, 3, OPERATIONS, node, NULL, 1);
    int32_t next = r.tape->registers;
    for (int32_t k = 0; k < r.tape->length; k++) {
        int needed = taut_jet_companions((taut_op)r.tape->code[k].op);
        check_equal(taut_op_table[r.tape->code[k].op].name, r.tape->code[k].companion, needed ? next : -1);
        next += needed;
    }
    check_equal("all", r.tape->companions, next - r.tape->registers);
    check_row(r.tape->kinks, "abs has a kink");
    taut_arena_clear(&r.arena);
    runner smooth = runner_open(g, 3, 1, node, NULL, 1);
    check_row(!smooth.tape->kinks, "neg has none");
    taut_arena_clear(&smooth.arena);
    taut_graph_destroy(g);
}

/* ---- batches */

static bool same_bits(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static void test_batches(void)
{
    check_group("batches");
    static const double special[] = {0.0,    -0.0,  1.0,    -1.0,     0.5,       -0.5, 2.5, 0.49999999999999994,
                                     1e-320, 1e300, -1e300, INFINITY, -INFINITY, NAN};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    const double table[6] = {1, 4, 2, 0, -1, 3};
    const taut_curve *curve = NULL;
    taut_curve_create(&arena, 6, table, &curve, NULL);
    int32_t node[OPERATIONS + 5];
    for (int k = 0; k < OPERATIONS; k++)
        node[k] = build(g, operations[k].op);
    for (int k = 0; k < 4; k++)
        node[OPERATIONS + k] = taut_graph_curve(g, curve, k, taut_graph_input(g, 0));
    node[OPERATIONS + 4] = taut_graph_constant(g, 42);
    static const int sizes[][2] = {{8, 1}, {8, 7}, {8, 8}, {16, 13}, {64, 63}, {256, 255}, {3, 3}, {7, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int trial = 0; trial < 12; trial++) {
            int lanes = sizes[s][0], n = sizes[s][1];
            runner many = runner_open(g, 3, OPERATIONS + 5, node, NULL, lanes),
                   one = runner_open(g, 3, OPERATIONS + 5, node, NULL, 1);
            for (int k = 0; k < 3 * lanes; k++)
                many.regs[k] = trial < 6 ? uniform(-4, 9) : special[(int)uniform(0, SPECIAL)];
            taut_tape_run(many.tape, 0, lanes, n, many.regs);
            for (int k = 0; k < OPERATIONS + 5; k++) {
                const char *name = k < OPERATIONS ? taut_op_table[operations[k].op].name : "curve or constant";
                int differ = 0, written = 0;
                double x[3] = {0}, b = 0, e = 0;
                for (int lane = 0; lane < lanes; lane++) {
                    const double at[3] = {many.regs[lane], many.regs[lanes + lane], many.regs[2 * lanes + lane]};
                    run_at(&one, at);
                    if (lane < n && !same_bits(output(&many, k, lane), output(&one, k, 0))) {
                        differ++;
                        memcpy(x, at, sizeof x);
                        b = output(&many, k, lane);
                        e = output(&one, k, 0);
                    }
                    written += lane >= n && k < OPERATIONS + 4 && !isnan(output(&many, k, lane));
                }
                check_row(differ == 0, "%s: %d of %d lanes differ, at (%g, %g, %g): %.17g, alone %.17g", name, differ, n, x[0],
                          x[1], x[2], b, e);
                check_row(written == 0, "%s: %d unused lanes of %d were written", name, written, lanes);
            }
            taut_arena_clear(&many.arena);
            taut_arena_clear(&one.arena);
        }
    taut_arena_clear(&arena);
    taut_graph_destroy(g);
}

static void test_special_values(void)
{
    check_group("special values");
    static const struct {
        taut_op op;
        double a, b, expected;
    } rows[] = {
        {TAUT_OP_DIVZ, 3, 0, 0},
        {TAUT_OP_DIVZ, 3, -0.0, 0},
        {TAUT_OP_DIVZ, 0, 0, 0},
        {TAUT_OP_DIVZ, 3, 2, 1.5},
        {TAUT_OP_DIVZ, NAN, 2, NAN},
        {TAUT_OP_DIV, 1, 0, INFINITY},
        {TAUT_OP_MIN, NAN, 1, NAN},
        {TAUT_OP_MIN, 1, NAN, NAN},
        {TAUT_OP_MAX, NAN, 1, NAN},
        {TAUT_OP_MAX, 1, NAN, NAN},
        {TAUT_OP_MAX, INFINITY, 1, INFINITY},
        {TAUT_OP_SIGN, NAN, 0, NAN},
        {TAUT_OP_SIGN, -2, 0, -1},
        {TAUT_OP_SIGN, 0, 0, 0},
        {TAUT_OP_ROUND, 2.5, 0, 3},
        {TAUT_OP_ROUND, -2.5, 0, -3},
        {TAUT_OP_ROUND, 0.49999999999999994, 0, 0},
        {TAUT_OP_ROUND, 4503599627370497.0, 0, 4503599627370497.0},
        {TAUT_OP_ROUND, INFINITY, 0, INFINITY},
        {TAUT_OP_MOD, -1, 3, 2},
        {TAUT_OP_MOD, 7, -3, -2},
        {TAUT_OP_MOD, 6, 3, 0},
        {TAUT_OP_POW, 0, 0, 1},
        {TAUT_OP_ROOT, 0, 0, 0},
        {TAUT_OP_SQRT, -1, 0, NAN},
        {TAUT_OP_LT, NAN, 1, 0},
        {TAUT_OP_NE, NAN, NAN, 1},
        {TAUT_OP_AND, 2, -3, 1},
        {TAUT_OP_AND, 2, 0, 0},
        {TAUT_OP_OR, 0, 0, 0},
        {TAUT_OP_OR, 0, 5, 1},
        {TAUT_OP_EQ, 0, -0.0, 1},
        {TAUT_OP_LE, 1, 1, 1},
        {TAUT_OP_LT, 1, 1, 0},
        {TAUT_OP_HYPOT, 0x3p600, 0x4p600, 0x5p600},
    };
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        int32_t node = build(g, rows[k].op), a = taut_graph_constant(g, rows[k].a), b = taut_graph_constant(g, rows[k].b);
        int32_t constant =
            taut_op_table[rows[k].op].arity == 1 ? taut_graph_unary(g, rows[k].op, a) : taut_graph_binary(g, rows[k].op, a, b);
        runner r = runner_open(g, 3, 1, &node, NULL, 1);
        run_at(&r, (double[3]){rows[k].a, rows[k].b, 0});
        double value = output(&r, 0, 0), folded = 0, e = rows[k].expected;
        taut_graph_is_constant(g, constant, &folded);
        const char *name = taut_op_table[rows[k].op].name;
        check_row(value == e || (isnan(value) && isnan(e)), "%s(%g, %g) = %.17g, expected %.17g", name, rows[k].a, rows[k].b, value,
                  e);
        check_row(folded == e || (isnan(folded) && isnan(e)), "folded %s(%g, %g) = %.17g, expected %.17g", name, rows[k].a,
                  rows[k].b, folded, e);
        taut_arena_clear(&r.arena);
    }
    taut_graph_destroy(g);
}

static void test_lanes(void)
{
    check_group("lanes");
    taut_tape tape = {.registers = 18};
    check_equal("one member", taut_tape_lanes(&tape, 1), 1);
    check_equal("no member", taut_tape_lanes(&tape, 0), 1);
    check_equal("two members", taut_tape_lanes(&tape, 2), 8);
    check_equal("nine members", taut_tape_lanes(&tape, 9), 16);
    for (int registers = 0; registers < 5000; registers = registers * 3 / 2 + 1)
        for (int64_t members = 2; members < 3000000; members *= 3) {
            tape.registers = registers;
            int lanes = taut_tape_lanes(&tape, members);
            bool fits = lanes == 8 || (int64_t)registers * lanes * 8 <= 24 * 1024;
            check_row(lanes >= 8 && lanes <= 256 && lanes % 8 == 0 && fits && lanes < members + 8,
                      "%d registers, %lld members: %d lanes", registers, (long long)members, lanes);
        }
}

/* ---- calls that make no sense, memory that runs out */

static void native_answer(int level, int lanes, int n, double *regs)
{
    for (int k = 0; k < n; k++)
        regs[lanes + k] = 1000 * level + k;
}

static void test_calls(void)
{
    check_group("calls");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t sine = taut_graph_unary(g, TAUT_OP_SIN, taut_graph_input(g, 0)), far = taut_graph_input(g, 9), none = -1;
    unsigned char level = 0, high = TAUT_LEVELS;
    taut_arena arena;
    taut_error error;
    taut_tape *tape = NULL;
    taut_arena_init(&arena, NULL);
    check_equal("an input beyond", taut_tape_create(g, &arena, 9, 1, &far, &level, &tape, &error), TAUT_ERROR_USAGE);
    check_contains("message", error.message, "input 9");
    check_equal("no node", taut_tape_create(g, &arena, 1, 1, &none, &level, &tape, &error), TAUT_ERROR_USAGE);
    check_equal("a level too high", taut_tape_create(g, &arena, 1, 1, &sine, &high, &tape, &error), TAUT_ERROR_USAGE);
    check_equal("no outputs", taut_tape_create(g, &arena, 1, 0, &sine, &level, &tape, &error), 0);
    check_equal("is empty", tape->length, 0);

    check_equal("a tape", taut_tape_create(g, &arena, 1, 1, &sine, &level, &tape, &error), 0);
    double regs[2] = {0.5, -7};
    taut_tape_run(tape, -1, 1, 1, regs);
    check_near("level -1 runs nothing", regs[1], -7, 0);
    taut_tape_run(tape, 99, 1, 1, regs);
    check_near("levels beyond the last run all", regs[1], sin(0.5), 0);
    tape->native = native_answer;
    taut_tape_run(tape, 3, 1, 1, regs);
    check_near("compiled code is called", regs[1], 3000, 0);
    taut_arena_clear(&arena);
    taut_graph_destroy(g);

    taut_graph *full = taut_graph_create(NULL, 2);
    for (int k = 0; k < 3; k++)
        taut_graph_input(full, k);
    int32_t first = 0;
    check_equal("a graph that failed", taut_tape_create(full, &arena, 3, 1, &first, &level, &tape, &error), TAUT_ERROR_SIZE);
    taut_graph_destroy(full);
    taut_arena_clear(&arena);
}

static void test_memory(void)
{
    check_group("memory");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t pool[600], root = random_graph(g, 5, 500, pool);
    unsigned char level = 0;
    int64_t k = 1;
    for (int status = TAUT_ERROR_MEMORY; status && k < 1000; k++) {
        faulty state = {.fail = k};
        taut_allocator allocator = faulty_allocator(&state);
        taut_arena arena;
        taut_tape *tape = NULL;
        taut_arena_init(&arena, &allocator);
        status = taut_tape_create(g, &arena, 5, 1, &root, &level, &tape, NULL);
        const taut_curve *curve = NULL;
        if (status == 0)
            status = taut_curve_create(&arena, 500, (const double[500]){1, 2, 3}, &curve, NULL);
        check_row(status == (state.failed ? TAUT_ERROR_MEMORY : 0), "allocation %d fails: status %d", (int)k, status);
        taut_arena_clear(&arena);
        check_row(state.live == 0, "allocation %d fails: %d blocks leak", (int)k, (int)state.live);
    }
    check_row(k > 4 && k < 1000, "succeeds in the end, after %d", (int)k);
    taut_graph_destroy(g);
}

int main(void)
{
    test_operations();
    test_random_graphs();
    test_levels();
    test_companions();
    test_batches();
    test_special_values();
    test_lanes();
    test_calls();
    test_memory();
    return check_done();
}
