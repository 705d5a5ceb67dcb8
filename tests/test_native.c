/* test_native.c - compiled tapes give the same numbers as the interpreter. (The cache and its
 * failures: test_native_cache.c.) */
#ifndef TAUT_CORE
#define _XOPEN_SOURCE 700
#endif

#include "expr/curve.h"
#include "expr/digest.h"
#include "expr/native.h"
#include "expr/values.h"
#include "support/table.h"
#include "support/uniform.h"

static void hex_digest(const char *text, size_t repeat, char hex[2 * TAUT_DIGEST_BYTES + 1])
{
    taut_digest digest;
    unsigned char sum[TAUT_DIGEST_BYTES];
    taut_digest_begin(&digest);
    for (size_t i = 0; i < repeat; i++)
        taut_digest_add(&digest, text, strlen(text));
    taut_digest_end(&digest, sum);
    for (int i = 0; i < TAUT_DIGEST_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

/* The examples of FIPS 180-2, appendix B, and the empty message. */
static void test_digest(void)
{
    check_group("SHA-256");
    static const struct {
        const char *text;
        size_t repeat;
        const char *sum;
    } rows[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hex[2 * TAUT_DIGEST_BYTES + 1];
        hex_digest(rows[i].text, rows[i].repeat, hex);
        check_row(strcmp(hex, rows[i].sum) == 0, "row %zu: %s, expected %s", i, hex, rows[i].sum);
    }
}

#ifdef TAUT_CORE

int main(void)
{
    test_digest();
    check_group("core");
    taut_native *native = NULL;
    taut_tape tape = {0}, *tapes[] = {&tape};
    taut_error error = {0};
    check_equal("status", taut_native_create(tapes, 1, NULL, NULL, &native, &error),
                TAUT_ERROR_UNAVAILABLE);
    check_contains("message", error.message, "core");
    check_row(native == NULL && tape.native == NULL, "something was made");
    taut_native_destroy(native);
    return check_done();
}

#else

#include "support/native_place.h"

/* Distance in units of the last place; NaN equals NaN. */
static double ulps(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    if (isnan(x) || isnan(y) || isinf(x) || isinf(y))
        return INFINITY;
    return fabs(x - y) / (nextafter(fmax(fabs(x), fabs(y)), INFINITY) - fmax(fabs(x), fabs(y)));
}

static double sample(int turn)
{
    static const double special[] = {0,        -0.0,      1,   -1,        0.5,   -0.5,   2.5, -2.5,
                                     INFINITY, -INFINITY, NAN, 0x1p-1074, 1e300, 1e-300, 3};
    enum { SPECIAL = sizeof special / sizeof *special };
    return turn < 3 * SPECIAL ? special[turn % SPECIAL] : uniform(-4, 4);
}

/* Runs compiled and interpreted on the same inputs; the largest distance over the outputs and
 * the used lanes. */
static double compare(const bench *b, int lanes, int n, int trials, double (*input)(int turn))
{
    const size_t size = (size_t)b->tape->registers * (size_t)lanes;
    double *ours = calloc(size, sizeof *ours), *theirs = calloc(size, sizeof *theirs), worst = 0;
    taut_tape interpreted = *b->tape;
    interpreted.native = NULL;
    taut_tape_prepare(b->tape, lanes, ours);
    for (int trial = 0; trial < trials; trial++) {
        for (int i = 0; i < b->tape->inputs; i++)
            for (int l = 0; l < n; l++)
                ours[i * lanes + l] =
                    input(i ? (trial * n + l) * 7 % 45 + (trial * n + l) / 45 : trial * n + l);
        memcpy(theirs, ours, size * sizeof *ours);
        taut_tape_run(b->tape, TAUT_LEVELS - 1, lanes, n, ours);
        taut_tape_run(&interpreted, TAUT_LEVELS - 1, lanes, n, theirs);
        for (int o = 0; o < b->tape->outputs; o++)
            for (int l = 0; l < n; l++)
                worst = fmax(worst, ulps(ours[b->tape->output[o] * lanes + l],
                                         theirs[b->tape->output[o] * lanes + l]));
    }
    free(ours);
    free(theirs);
    return worst;
}

/* ---- values */

/* One tape for each operation, all in one object. */
static void test_operations(void)
{
    check_group("every operation, ulps from the interpreter");
    bench b[TAUT_OP_COUNT];
    taut_tape *tapes[TAUT_OP_COUNT];
    int op_of[TAUT_OP_COUNT], count = 0;
    for (int op = TAUT_OP_NEG; op < TAUT_OP_COUNT; op++) {
        if (op == TAUT_OP_CURVE)
            continue;
        b[count] = bench_open();
        taut_graph *g = b[count].graph;
        const int32_t x = taut_graph_input(g, 0), y = taut_graph_input(g, 1),
                      z = taut_graph_input(g, 2);
        const int arity = taut_op_table[op].arity;
        const int32_t node = arity == 1   ? taut_graph_unary(g, (taut_op)op, x)
                             : arity == 2 ? taut_graph_binary(g, (taut_op)op, x, y)
                                          : taut_graph_select(g, x, y, z);
        bench_tape(&b[count], 3, 1, &node, (const unsigned char[]){0});
        tapes[count] = b[count].tape;
        op_of[count++] = op;
    }
    taut_error error = {0};
    taut_native *native = NULL;
    const int status = taut_native_create(tapes, count, in_place("values"), NULL, &native, &error);
    check_row(status == 0, "compile: %s", error.message);
    for (int i = 0; i < count; i++) {
        check_row(tapes[i]->native && tapes[i]->length == 1, "%s is compiled",
                  taut_op_table[op_of[i]].name);
        check_below(taut_op_table[op_of[i]].name, compare(&b[i], 1, 1, 2000, sample), 2);
        check_below(taut_op_table[op_of[i]].name, compare(&b[i], 8, 5, 300, sample), 2);
    }
    taut_native_destroy(native);
    for (int i = 0; i < count; i++)
        bench_close(&b[i]);
}

static double near_knots(int turn)
{
    return turn % 3 ? uniform(-2, 9) : turn % 10;
}

static void test_curves(void)
{
    check_group("curves");
    static const double values[] = {1, 3, -2, 0.5, 4, 4, -1}, other[] = {2, 1}, single[] = {5};
    bench b = bench_open();
    const taut_curve *curve[3];
    taut_error error;
    if (taut_curve_create(&b.arena, 7, values, &curve[0], &error) ||
        taut_curve_create(&b.arena, 2, other, &curve[1], &error) ||
        taut_curve_create(&b.arena, 1, single, &curve[2], &error))
        exit(1);
    int32_t node[12];
    unsigned char level[12] = {0};
    for (int i = 0; i < 12; i++)
        node[i] = taut_graph_curve(b.graph, curve[i / 4], i % 4, taut_graph_input(b.graph, 0));
    bench_tape(&b, 1, 12, node, level);
    if (bench_compile(&b, "values")) {
        check_below("inside and outside", compare(&b, 1, 1, 500, near_knots), 2);
        check_below("special arguments", compare(&b, 1, 1, 45, sample), 2);
    }
    bench_close(&b);
}

/* Outputs that are inputs, constants, or the same twice; numbers that are hard to print. */
static void test_outputs_and_numbers(void)
{
    check_group("outputs and numbers");
    static const double number[] = {
        0.1, -0.0, 0x1p-1074, 0x1.fffffffffffffp1023, INFINITY, -INFINITY, NAN, -1.0 / 3, 1e22};
    enum { NUMBERS = sizeof number / sizeof *number };
    bench b = bench_open();
    int32_t node[2 * NUMBERS + 3];
    unsigned char level[2 * NUMBERS + 3] = {0};
    const int32_t x = taut_graph_input(b.graph, 0);
    for (int i = 0; i < NUMBERS; i++) {
        node[i] = taut_graph_constant(b.graph, number[i]);
        node[NUMBERS + i] = taut_graph_binary(b.graph, TAUT_OP_ATAN2, node[i], x);
    }
    node[2 * NUMBERS] = x;
    node[2 * NUMBERS + 1] = node[2 * NUMBERS + 2] = taut_graph_unary(b.graph, TAUT_OP_COS, x);
    bench_tape(&b, 1, 2 * NUMBERS + 3, node, level);
    if (bench_compile(&b, "values")) {
        check_below("one lane", compare(&b, 1, 1, 100, sample), 0);
        check_below("lanes", compare(&b, 16, 13, 10, sample), 0);
    }
    bench_close(&b);
}

/* A lower level writes its outputs and no others; compiled twice over, each level separately. */
static void test_levels(void)
{
    check_group("levels");
    bench b = bench_open();
    int32_t node[4] = {taut_graph_unary(b.graph, TAUT_OP_SIN, taut_graph_input(b.graph, 0))};
    for (int i = 1; i < 4; i++)
        node[i] = taut_graph_unary(b.graph, TAUT_OP_EXP, node[i - 1]);
    bench_tape(&b, 1, 4, node, (const unsigned char[]){0, 1, 3, 3});
    if (bench_compile(&b, "values"))
        for (int level = 0; level < TAUT_LEVELS; level++)
            for (int lanes = 1; lanes <= 4; lanes += 3) {
                double regs[64];
                for (int i = 0; i < 64; i++)
                    regs[i] = -77;
                regs[0] = 0.5;
                taut_tape_run(b.tape, level, lanes, 1, regs);
                int wrong = 0;
                double want = 0.5;
                for (int i = 0; i < 4; i++) {
                    want = i ? exp(want) : sin(want);
                    const bool computed = level >= (int[]){0, 1, 3, 3}[i];
                    const double found = regs[b.tape->output[i] * lanes];
                    wrong += computed ? ulps(found, want) > 2 : found != -77;
                    wrong += lanes > 1 && regs[b.tape->output[i] * lanes + 1] != -77;
                }
                check_row(wrong == 0, "level %d, %d lanes: %d values wrong", level, lanes, wrong);
            }
    bench_close(&b);
}

static double moderate(int turn)
{
    (void)turn;
    return uniform(0.5, 1.5);
}

/* Thousands of operations on one another; several tapes in one object. */
static void test_random_graphs(void)
{
    check_group("random graphs");
    enum { TAPES = 3, SIZE = 4000, TAIL = 40 };
    static const taut_op ops[] = {TAUT_OP_ADD,  TAUT_OP_SUB,  TAUT_OP_MUL, TAUT_OP_SIN,
                                  TAUT_OP_ATAN, TAUT_OP_TANH, TAUT_OP_COS, TAUT_OP_MIN,
                                  TAUT_OP_MAX,  TAUT_OP_DIVZ, TAUT_OP_LE,  TAUT_OP_HYPOT};
    bench b[TAPES];
    taut_tape *tapes[TAPES];
    for (int i = 0; i < TAPES; i++) {
        b[i] = bench_open();
        int32_t node[SIZE];
        const int length = i == 0 ? SIZE : 500;
        for (int k = 0; k < length; k++) {
            const taut_op op = ops[(int)uniform(0, 12)];
            const int32_t x = k < 10 ? 0 : node[(int)uniform(k > 60 ? k - 60 : 0, k)],
                          y = k < 10 ? 0 : node[(int)uniform(0, k)];
            node[k] = k < 10                         ? taut_graph_input(b[i].graph, k)
                      : taut_op_table[op].arity == 1 ? taut_graph_unary(b[i].graph, op, x)
                                                     : taut_graph_binary(b[i].graph, op, x, y);
        }
        bench_tape(&b[i], 10, TAIL, node + length - TAIL, (unsigned char[TAIL]){0});
        tapes[i] = b[i].tape;
    }
    taut_error error = {0};
    taut_native *native = NULL;
    const int status = taut_native_create(tapes, TAPES, in_place("values"), NULL, &native, &error);
    check_row(status == 0, "compile: %s", error.message);
    for (int i = 0; i < TAPES && status == 0; i++) {
        char name[60];
        snprintf(name, sizeof name, "tape %d of %d operations", i, (int)b[i].tape->length);
        check_row(b[i].tape->length > (i == 0 ? 1500 : 100), "%s is too short to tell anything",
                  name);
        check_below(name, compare(&b[i], 1, 1, 20, moderate), 2);
        check_below(name, compare(&b[i], 8, 8, 5, moderate), 2);
    }
    taut_native_destroy(native);
    for (int i = 0; i < TAPES; i++)
        bench_close(&b[i]);
}

int main(void)
{
    char compiler[400];
    test_digest();
    check_group("compiled tapes");
    if (place_open(compiler, sizeof compiler)) {
        test_operations();
        test_curves();
        test_outputs_and_numbers();
        test_levels();
        test_random_graphs();
    }
    remove_tree(place);
    return check_done();
}

#endif
