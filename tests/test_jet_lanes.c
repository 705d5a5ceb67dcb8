/* test_jet_lanes.c - Taylor jets of many lanes at once, of outputs by level, order by order: the
 * same numbers as one lane alone. */
#include "support/jets.h"

/* All operations at once: output k is operation k of inputs 0 and 1. */
static int all_operations(bench *b, int32_t *node, unsigned char *level)
{
    static const double values[] = {1, 3, -2, 0.5};
    const taut_curve *curve;
    taut_error error;
    if (taut_curve_create(&b->arena, 4, values, &curve, &error))
        exit(1);
    int count = 0;
    for (int op = TAUT_OP_NEG; op < TAUT_OP_SELECT; op++, count++) {
        node[count] = op == TAUT_OP_CURVE
                          ? taut_graph_curve(b->graph, curve, 0, taut_graph_input(b->graph, 0))
                          : node_of(b->graph, (taut_op)op);
        level[count] = (unsigned char)(count % 3);
    }
    bench_tape(b, 2, count, node, level);
    return count;
}

static void test_lanes(void)
{
    check_group("lanes");
    bench b = bench_open();
    int32_t node[TAUT_OP_COUNT];
    unsigned char level[TAUT_OP_COUNT];
    const int count = all_operations(&b, node, level);
    enum { LANES = 56, USED = 53 }; /* whole vectors, and a rest */
    const size_t block = (size_t)(b.tape->registers + b.tape->companions) * LANES;
    double *regs = malloc(block * N * sizeof *regs);
    for (size_t i = 0; i < block * N; i++)
        regs[i] = -77;
    taut_tape_jet_prepare(b.tape, N, LANES, regs);
    static series input[USED][2];
    for (int l = 0; l < USED; l++) {
        input[l][0] = random_series(l == 0 ? 0 : uniform(0.1, 0.9));
        input[l][1] = l == 1 ? constant(2) : random_series(l == 2 ? 0 : uniform(0.1, 0.9));
    }
    for (int k = 0; k < N; k++) {
        for (int l = 0; l < USED; l++)
            for (int i = 0; i < 2; i++)
                regs[block * (size_t)k + (size_t)(i * LANES + l)] = (double)input[l][i].c[k];
        taut_tape_jet_run(b.tape, TAUT_LEVELS - 1, k, LANES, USED, regs);
    }
    long long different = 0, touched = 0;
    for (int l = 0; l < USED; l++)
        for (int o = 0; o < count; o++) {
            double got[N];
            run(b.tape, input[l], o, got);
            for (int k = 0; k < N; k++) {
                const double batched =
                    regs[block * (size_t)k + (size_t)(b.tape->output[o] * LANES + l)];
                different += batched != got[k] && !(isnan(batched) && isnan(got[k]));
            }
        }
    for (size_t i = 0; i < block * N; i++)
        if (i % LANES >= USED && (int32_t)(i % block / LANES) >= b.tape->inputs + b.tape->constants)
            touched += regs[i] != -77;
    check_equal("values that differ from one lane alone", different, 0);
    check_equal("values written in unused lanes", touched, 0);
    free(regs);
    bench_close(&b);
}

/* A lower level computes its own outputs and nothing behind them; orders in turn, with the
 * future still unknown (NaN), give what they give when everything is known. */
static void test_levels_and_orders(void)
{
    check_group("levels and orders");
    bench b = bench_open();
    int32_t node[TAUT_OP_COUNT];
    unsigned char level[TAUT_OP_COUNT];
    const int count = all_operations(&b, node, level);
    const size_t block = (size_t)(b.tape->registers + b.tape->companions);
    double *regs = malloc(block * N * sizeof *regs);
    for (size_t i = 0; i < block * N; i++)
        regs[i] = NAN;
    taut_tape_jet_prepare(b.tape, N, 1, regs);
    const series input[2] = {random_series(0.3), random_series(0.6)};
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < 2; i++)
            regs[block * (size_t)k + (size_t)i] = (double)input[i].c[k];
        taut_tape_jet_run(b.tape, 1, k, 1, 1, regs);
    }
    long long different = 0, behind = 0;
    for (int o = 0; o < count; o++) {
        double got[N];
        run(b.tape, input, o, got);
        for (int k = 0; k < N; k++) {
            const double value = regs[block * (size_t)k + (size_t)b.tape->output[o]];
            different += level[o] < 2 && value != got[k];
            behind += level[o] == 2 && !isnan(value);
        }
    }
    check_equal("values that differ", different, 0);
    check_equal("values of a higher level", behind, 0);

    /* all inputs known from the initial state */
    double *again = malloc(block * N * sizeof *again);
    taut_tape_jet_prepare(b.tape, N, 1, again);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < 2; i++)
            again[block * (size_t)k + (size_t)i] = (double)input[i].c[k];
    for (int k = 0; k < N; k++)
        taut_tape_jet_run(b.tape, 1, k, 1, 1, again);
    different = 0;
    for (int o = 0; o < count; o++)
        for (int k = 0; k < N && level[o] < 2; k++)
            different += again[block * (size_t)k + (size_t)b.tape->output[o]] !=
                         regs[block * (size_t)k + (size_t)b.tape->output[o]];
    check_equal("values that depend on the future", different, 0);
    free(again);
    free(regs);
    bench_close(&b);
}

static void outputs_only(int level, int lanes, int n, double *regs)
{
    (void)level, (void)lanes, (void)n, (void)regs;
}

/* A compiled form leaves inner registers empty; jets need them. */
static void test_compiled(void)
{
    check_group("compiled tape");
    bench b = bench_open();
    const int32_t node = taut_graph_unary(
        b.graph, TAUT_OP_EXP, taut_graph_unary(b.graph, TAUT_OP_SIN, taut_graph_input(b.graph, 0)));
    bench_tape(&b, 1, 1, &node, (const unsigned char[]){0});
    b.tape->native = outputs_only;
    b.tape->native_levels = TAUT_LEVELS;
    const series input = random_series(0.5);
    double got[N];
    run(b.tape, &input, 0, got);
    check_below("exp(sin x)", deviation(got, exponential(circular(input, 0))), 1e-13);
    bench_close(&b);
}

int main(void)
{
    test_lanes();
    test_levels_and_orders();
    test_compiled();
    return check_done();
}
