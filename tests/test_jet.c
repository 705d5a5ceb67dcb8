/* test_jet.c - Taylor jets against series in extended precision that are made another way: the
 * expansion of the function at a_0, composed with the argument's series by Horner's rule; and
 * against closed forms, graph derivatives and differences. */
#include "support/jets.h"

typedef struct op_row {
    taut_op op;
    double a_least, a_most, b_least, b_most; /* where coefficients 0 lie */
    series (*oracle)(series a, series b);
} op_row;

static const op_row smooth[] = {
    {TAUT_OP_NEG, -3, 3, 0, 0, of_neg},       {TAUT_OP_SQRT, 1.5, 4, 0, 0, of_sqrt},
    {TAUT_OP_ROOT, 1.5, 4, 0, 0, of_sqrt},    {TAUT_OP_EXP, -3, 3, 0, 0, of_exp},
    {TAUT_OP_LOG, 1.5, 4, 0, 0, of_log},      {TAUT_OP_SIN, -4, 4, 0, 0, of_sin},
    {TAUT_OP_COS, -4, 4, 0, 0, of_cos},       {TAUT_OP_TAN, -1, 1, 0, 0, of_tan},
    {TAUT_OP_ASIN, -0.6, 0.6, 0, 0, of_asin}, {TAUT_OP_ACOS, -0.6, 0.6, 0, 0, of_acos},
    {TAUT_OP_ATAN, -3, 3, 0, 0, of_atan},     {TAUT_OP_SINH, -2, 2, 0, 0, of_sinh},
    {TAUT_OP_COSH, -2, 2, 0, 0, of_cosh},     {TAUT_OP_TANH, -2, 2, 0, 0, of_tanh},
    {TAUT_OP_ADD, -2, 2, -2, 2, of_add},      {TAUT_OP_SUB, -2, 2, -2, 2, of_sub},
    {TAUT_OP_MUL, -2, 2, -2, 2, of_mul},      {TAUT_OP_DIV, -2, 2, 1.5, 4, of_div},
    {TAUT_OP_DIVZ, -2, 2, -4, -1.5, of_div},  {TAUT_OP_POW, 1.5, 4, -2, 2, of_pow},
    {TAUT_OP_HYPOT, -2, 2, 1.5, 4, of_hypot}, {TAUT_OP_ATAN2, -2, 2, 1.5, 4, of_atan2},
    {TAUT_OP_ATAN2, 2, 3, -4, -1.5, of_atan2}};
enum { SMOOTH = sizeof smooth / sizeof *smooth };

static void test_smooth(void)
{
    check_group("operation against composed series, order 16");
    for (int r = 0; r < SMOOTH; r++) {
        bench b = bench_open();
        const int32_t node = node_of(b.graph, smooth[r].op);
        bench_tape(&b, 2, 1, &node, (const unsigned char[]){0});
        double worst = 0;
        for (int trial = 0; trial < 50; trial++) {
            const series input[2] = {random_series(uniform(smooth[r].a_least, smooth[r].a_most)),
                                     random_series(uniform(smooth[r].b_least, smooth[r].b_most))};
            double got[N];
            run(b.tape, input, 0, got);
            worst = fmax(worst, deviation(got, smooth[r].oracle(input[0], input[1])));
        }
        check_below(taut_op_table[smooth[r].op].name, worst, 1e-13);
        bench_close(&b);
    }
}

/* ---- known expansions */

/* One row: the coefficients of f(t), t itself being the input, against a closed form. */
static void known(bench *b, int32_t node, const char *name, series want, double start,
                  double tolerance)
{
    bench_tape(b, 1, 1, &node, (const unsigned char[]){0});
    const series t = {{start, 1}};
    double got[N];
    run(b->tape, &t, 0, got);
    check_below(name, deviation(got, want), tolerance);
}

static void test_known(void)
{
    check_group("closed form");
    bench b = bench_open();
    taut_graph *g = b.graph;
    const int32_t t = taut_graph_input(g, 0), one = taut_graph_constant(g, 1),
                  square = taut_graph_binary(g, TAUT_OP_MUL, t, t);
    series want = {{0}};
    real factorial = 1;
    for (int k = 0; k < N; k++) {
        want.c[k] = 1 / factorial;
        factorial *= k + 1;
    }
    known(&b, taut_graph_unary(g, TAUT_OP_EXP, t), "exp(t)", want, 0, 1e-15);
    for (int k = 0; k < N; k++)
        want.c[k] = k % 2 ? 0 : k % 4 ? -1 : 1;
    known(&b,
          taut_graph_binary(g, TAUT_OP_DIV, one, taut_graph_binary(g, TAUT_OP_ADD, one, square)),
          "1/(1+t^2)", want, 0, 0);
    for (int k = 0; k < N; k++)
        want.c[k] = k % 2 ? (k % 4 == 1 ? 1.0L : -1.0L) / k : 0;
    known(&b, taut_graph_unary(g, TAUT_OP_ATAN, t), "atan(t)", want, 0, 1e-15);
    known(&b, taut_graph_binary(g, TAUT_OP_ATAN2, t, one), "atan2(t,1)", want, 0, 1e-15);
    for (int k = 0; k < N; k++)
        want.c[k] = k == 0 ? 0 : (k % 2 ? 1.0L : -1.0L) / k;
    known(&b, taut_graph_unary(g, TAUT_OP_LOG, taut_graph_binary(g, TAUT_OP_ADD, one, t)),
          "log(1+t)", want, 0, 1e-15);
    /* Bernoulli numbers: tan t = t + t^3/3 + 2 t^5/15 + 17 t^7/315 + 62 t^9/2835 + ...  [DLMF
     * 4.19.3] */
    const series tangent = {{0, 1, 0, 1.0L / 3, 0, 2.0L / 15, 0, 17.0L / 315, 0, 62.0L / 2835, 0,
                             1382.0L / 155925, 0, 21844.0L / 6081075, 0, 929569.0L / 638512875, 0}};
    known(&b, taut_graph_unary(g, TAUT_OP_TAN, t), "tan(t)", tangent, 0, 1e-15);
    series hyperbolic = tangent;
    for (int k = 3; k < N; k += 4)
        hyperbolic.c[k] = -hyperbolic.c[k];
    known(&b, taut_graph_unary(g, TAUT_OP_TANH, t), "tanh(t)", hyperbolic, 0, 1e-15);
    want = (series){{0, 1}};
    for (int k = 3; k < N; k += 2)
        want.c[k] = want.c[k - 2] * (k - 2) * (k - 2) / ((real)k * (k - 1));
    known(&b, taut_graph_unary(g, TAUT_OP_ASIN, t), "asin(t)", want, 0, 1e-15);
    const series start = {{0.7L, 1}};
    known(&b, taut_graph_unary(g, TAUT_OP_SIN, taut_graph_unary(g, TAUT_OP_COS, t)), "sin(cos t)",
          circular(circular(start, 1), 0), 0.7L, 1e-13);
    bench_close(&b);
}

/* sin^2 + cos^2 and the like: every coefficient beyond the first vanishes; and a long
 * composition. */
static void test_identities(void)
{
    check_group("identity");
    bench b = bench_open();
    taut_graph *g = b.graph;
    const int32_t x = taut_graph_input(g, 0), y = taut_graph_input(g, 1);
    const int32_t s = taut_graph_unary(g, TAUT_OP_SIN, x), c = taut_graph_unary(g, TAUT_OP_COS, x);
    const int32_t sh = taut_graph_unary(g, TAUT_OP_SINH, x),
                  ch = taut_graph_unary(g, TAUT_OP_COSH, x);
    const int32_t hypot_node = taut_graph_binary(g, TAUT_OP_HYPOT, s, c);
    const int32_t node[4] = {
        taut_graph_binary(g, TAUT_OP_ADD, taut_graph_binary(g, TAUT_OP_MUL, s, s),
                          taut_graph_binary(g, TAUT_OP_MUL, c, c)),
        taut_graph_binary(g, TAUT_OP_SUB, taut_graph_binary(g, TAUT_OP_MUL, ch, ch),
                          taut_graph_binary(g, TAUT_OP_MUL, sh, sh)),
        hypot_node,
        taut_graph_unary(
            g, TAUT_OP_ATAN,
            taut_graph_binary(
                g, TAUT_OP_POW, taut_graph_unary(g, TAUT_OP_EXP, s),
                taut_graph_unary(g, TAUT_OP_TANH, taut_graph_binary(g, TAUT_OP_MUL, y, c))))};
    bench_tape(&b, 2, 4, node, (const unsigned char[]){0, 0, 0, 0});
    const series input[2] = {random_series(0.4), random_series(-0.3)};
    const char *const name[3] = {"sin^2 + cos^2 = 1", "cosh^2 - sinh^2 = 1", "hypot(sin, cos) = 1"};
    double got[N];
    for (int i = 0; i < 3; i++) {
        run(b.tape, input, i, got);
        double worst = fabs(got[0] - 1);
        for (int k = 1; k < N; k++)
            worst = fmax(worst, fabs(got[k]));
        check_below(name[i], worst, 1e-14);
    }
    run(b.tape, input, 3, got);
    const series ours = of_sin(input[0], input[0]),
                 product = multiply(input[1], of_cos(input[0], input[0]));
    check_below(
        "atan(exp(sin x)^tanh(y cos x))",
        deviation(got, of_atan(exponential(multiply(ours, of_tanh(product, product))), product)),
        1e-13);
    bench_close(&b);
}

/* ---- powers */

/* x^b with b an input that does not move, for bases that have no logarithm. */
static void power_row(const char *name, series x, double exponent, series want)
{
    bench b = bench_open();
    const int32_t node = taut_graph_binary(b.graph, TAUT_OP_POW, taut_graph_input(b.graph, 0),
                                           taut_graph_input(b.graph, 1));
    bench_tape(&b, 2, 1, &node, (const unsigned char[]){0});
    const series input[2] = {x, constant(exponent)};
    double got[N];
    run(b.tape, input, 0, got);
    check_below(name, deviation(got, want), 1e-13);
    bench_close(&b);
}

static void test_powers(void)
{
    check_group("powers");
    series x = random_series(0), product = constant(1), late = random_series(0);
    late.c[1] = 0;
    series late_product = constant(1);
    for (int n = 0; n <= 6; n++) {
        char name[40];
        snprintf(name, sizeof name, "(x_1 t + ..)^%d", n);
        power_row(name, x, n, product);
        snprintf(name, sizeof name, "(x_2 t^2 + ..)^%d", n);
        power_row(name, late, n, late_product);
        product = multiply(product, x);
        late_product = multiply(late_product, late);
    }
    power_row("(x_1 t + ..)^20", x, 20, (series){{0}});
    power_row("0^3", (series){{0}}, 3, (series){{0}});
    power_row("0^2.5", (series){{0}}, 2.5, (series){{0}});
    x = random_series(1e-9);
    power_row("(1e-9 + ..)^3", x, 3, multiply(x, multiply(x, x)));
    x = random_series(-2);
    power_row("(-2 + ..)^3", x, 3, multiply(x, multiply(x, x)));
    power_row("(-2 + ..)^-1", x, -1, power(x, -1));
    x = random_series(2);
    power_row("(2 + ..)^2.5", x, 2.5, power(x, 2.5L));

    bench b = bench_open();
    const int32_t input = taut_graph_input(b.graph, 0);
    const int32_t node[3] = {
        taut_graph_binary(b.graph, TAUT_OP_POW, input, taut_graph_constant(b.graph, 1.3)),
        taut_graph_binary(b.graph, TAUT_OP_POW, taut_graph_constant(b.graph, 1.3), input),
        taut_graph_binary(b.graph, TAUT_OP_POW, input, taut_graph_input(b.graph, 1))};
    bench_tape(&b, 2, 3, node, (const unsigned char[]){0, 0, 0});
    series exponent = {{0.5L, 0, 0, 0.25L, -1}}; /* moves from order 3 on */
    const series both[2] = {x, exponent};
    double got[N];
    run(b.tape, both, 0, got);
    check_below("x^1.3", deviation(got, power(x, (real)1.3)), 1e-13);
    run(b.tape, both, 1, got);
    check_below("1.3^x", deviation(got, exponential(scale(x, logl((real)1.3)))), 1e-13);
    run(b.tape, both, 2, got);
    check_below("x^y, y at rest up to order 2", deviation(got, of_pow(x, exponent)), 1e-13);
    const series rough[2] = {{{0, 1}}, {{1.5L}}};
    run(b.tape, rough, 2, got);
    check_row(got[0] == 0 && got[1] == 0 && isnan(got[2]), "t^1.5 at 0: %g %g %g, expected 0 0 nan",
              got[0], got[1], got[2]);
    bench_close(&b);
}

/* ---- zero divisors, kinks, curves */

typedef struct side_row {
    const char *name;
    taut_op op;
    double a0, b0;
    /* the result is a times the first operand's series plus b times the second's, beyond order 0 */
    double a, b;
} side_row;

static void test_sides(void)
{
    check_group("one side");
    static const side_row rows[] = {
        {"root at 0", TAUT_OP_ROOT, 0, 0, 0, 0},
        {"hypot at 0", TAUT_OP_HYPOT, 0, 0, 0, 0},
        {"divz by 0", TAUT_OP_DIVZ, 3, 0, 0, 0},
        {"abs +", TAUT_OP_ABS, 2, 0, 1, 0},
        {"abs -", TAUT_OP_ABS, -2, 0, -1, 0},
        {"abs 0", TAUT_OP_ABS, 0, 0, 0, 0},
        {"sign", TAUT_OP_SIGN, 2, 0, 0, 0},
        {"floor", TAUT_OP_FLOOR, 2.5, 0, 0, 0},
        {"round", TAUT_OP_ROUND, 2.2, 0, 0, 0},
        {"min first", TAUT_OP_MIN, 1, 2, 1, 0},
        {"min second", TAUT_OP_MIN, 2, 1, 0, 1},
        {"max first", TAUT_OP_MAX, 2, 1, 1, 0},
        {"max second", TAUT_OP_MAX, 1, 2, 0, 1},
        {"mod", TAUT_OP_MOD, 7.5, 2, 1, -3},
        {"mod -", TAUT_OP_MOD, -0.5, 2, 1, 1},
        {"less", TAUT_OP_LT, 1, 2, 0, 0},
        {"less or equal", TAUT_OP_LE, 1, 2, 0, 0},
        {"equal", TAUT_OP_EQ, 1, 1, 0, 0},
        {"not equal", TAUT_OP_NE, 1, 2, 0, 0},
        {"and", TAUT_OP_AND, 1, 2, 0, 0},
        {"or", TAUT_OP_OR, 0, 2, 0, 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bench b = bench_open();
        const int32_t node = node_of(b.graph, rows[r].op);
        bench_tape(&b, 2, 1, &node, (const unsigned char[]){0});
        const series input[2] = {random_series(rows[r].a0), random_series(rows[r].b0)};
        double got[N];
        run(b.tape, input, 0, got);
        series want = add(scale(input[0], rows[r].a), input[1], rows[r].b);
        want.c[0] = taut_op_value(rows[r].op, rows[r].a0, rows[r].b0, 0);
        check_below(rows[r].name, deviation(got, want), 1e-15);
        bench_close(&b);
    }
}

static void test_select(void)
{
    check_group("select");
    bench b = bench_open();
    const int32_t node =
        taut_graph_select(b.graph, taut_graph_input(b.graph, 0), taut_graph_input(b.graph, 1),
                          taut_graph_input(b.graph, 2));
    bench_tape(&b, 3, 1, &node, (const unsigned char[]){0});
    series input[3] = {random_series(1), random_series(2), random_series(3)};
    double got[N];
    run(b.tape, input, 0, got);
    check_below("condition holds", deviation(got, input[1]), 0);
    input[0].c[0] = 0;
    run(b.tape, input, 0, got);
    check_below("condition fails", deviation(got, input[2]), 0);
    bench_close(&b);
}

/* A cubic of a quintic has degree 15, so its jet of order 16 is the whole function. */
static void test_curve(void)
{
    check_group("curve");
    static const double values[] = {1, 3, -2, 0.5, 4, 4, -1};
    bench b = bench_open();
    const taut_curve *curve;
    taut_error error;
    if (taut_curve_create(&b.arena, 7, values, &curve, &error))
        exit(1);
    int32_t node[4];
    for (int d = 0; d < 4; d++)
        node[d] = taut_graph_curve(b.graph, curve, d, taut_graph_input(b.graph, 0));
    bench_tape(&b, 1, 4, node, (const unsigned char[]){0, 0, 0, 0});
    static const double start[] = {-3, 1.4, 4.6, 6.3, 11};
    for (int i = 0; i < 5; i++)
        for (int d = 0; d < 4; d++) {
            const series input = {{start[i], 0.3L, -0.2L, 0.1L, 0.25L, -0.15L}};
            double got[N], worst = 0;
            run(b.tape, &input, d, got);
            for (double h = -0.5; h <= 0.5; h += 0.125) {
                double argument = 0, value = 0;
                for (int k = N - 1; k >= 0; k--) {
                    argument = argument * h + (double)input.c[k];
                    value = value * h + got[k];
                }
                worst = fmax(worst, fabs(value - taut_curve_value(curve, d, argument)));
            }
            char name[60];
            snprintf(name, sizeof name, "derivative %d at %g", d, start[i]);
            check_below(name, worst, 1e-13);
        }
    bench_close(&b);
}

/* ---- derivatives of the graph */

/* c_1 = Df a_1 and 2 c_2 = D^2 f (a_1, a_1) + 2 Df a_2, with D from the graph: another route to
 * the same numbers. Slots: 0, 1 the operands, 2, 3 their velocities, 4, 5 their accelerations. */
static void test_against_graph(void)
{
    check_group("orders 1 and 2 against graph derivatives");
    for (int op = TAUT_OP_NEG; op < TAUT_OP_SELECT; op++) {
        if (op == TAUT_OP_CURVE)
            continue;
        bench b = bench_open();
        taut_graph *g = b.graph;
        const int32_t slot[4] = {0, 1, 2, 3};
        const int32_t seed[4] = {taut_graph_input(g, 2), taut_graph_input(g, 3),
                                 taut_graph_input(g, 4), taut_graph_input(g, 5)};
        int32_t node[3] = {node_of(g, (taut_op)op)};
        node[1] = taut_graph_derivative(g, node[0], 2, slot, seed);
        node[2] = taut_graph_derivative(g, node[1], 4, slot, seed);
        bench_tape(&b, 6, 3, node, (const unsigned char[]){0, 1, 2});
        double worst = 0, *regs = calloc((size_t)b.tape->registers, sizeof *regs);
        taut_tape_prepare(b.tape, 1, regs);
        for (int trial = 0; trial < 20; trial++) {
            series input[6] = {random_series(uniform(0.1, 0.9)), random_series(uniform(0.1, 0.9))};
            double got[N];
            run(b.tape, input, 0, got);
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < 3; k++)
                    regs[i + 2 * k] = (double)input[i].c[k] * (k == 2 ? 2 : 1);
            taut_tape_run(b.tape, 2, 1, 1, regs);
            const double first = regs[b.tape->output[1]], second = regs[b.tape->output[2]];
            worst = fmax(worst, fabs(got[1] - first) / fmax(1, fabs(first)));
            worst = fmax(worst, fabs(2 * got[2] - second) / fmax(1, fabs(second)));
            if (isnan(got[1] + got[2]))
                worst = INFINITY;
        }
        check_below(taut_op_table[op].name, worst, 1e-12);
        free(regs);
        bench_close(&b);
    }
}

/* d/dt by central differences of the value itself, extrapolated once: error O(h^4). */
static void test_against_differences(void)
{
    check_group("order 1 against differences");
    for (int op = TAUT_OP_NEG; op < TAUT_OP_SELECT; op++) {
        if (op == TAUT_OP_CURVE)
            continue;
        bench b = bench_open();
        const int32_t node = node_of(b.graph, (taut_op)op);
        bench_tape(&b, 2, 1, &node, (const unsigned char[]){0});
        const series input[2] = {{{0.61L, 0.7L}}, {{0.43L, -0.4L}}};
        double got[N], slope[2];
        run(b.tape, input, 0, got);
        for (int i = 0; i < 2; i++) {
            const double h = 2e-3 / (i + 1), *end = (const double[]){h, -h};
            double value[2];
            for (int j = 0; j < 2; j++)
                value[j] = taut_op_value((taut_op)op, 0.61 + 0.7 * end[j], 0.43 - 0.4 * end[j], 0);
            slope[i] = (value[0] - value[1]) / (2 * h);
        }
        check_near(taut_op_table[op].name, got[1], (4 * slope[1] - slope[0]) / 3, 1e-9);
        bench_close(&b);
    }
}

int main(void)
{
    test_smooth();
    test_known();
    test_identities();
    test_powers();
    test_sides();
    test_select();
    test_curve();
    test_against_graph();
    test_against_differences();
    return check_done();
}
