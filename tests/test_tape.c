/* Tapes: levels, companions, batches against single members, special values, lanes, bad calls,
 * failing memory. */
#include "expr/curve.h"
#include "support/faulty.h"
#include "support/operations.h"

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
            /* inputs and constants may be outputs too */
            node[k] = pool[(int)uniform(0, INPUTS + 82)];
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
            bool ordered = code->to == first + k && code->a < code->to && code->b < code->to &&
                           code->c < code->to;
            check_row(ordered, "instruction %d: %d <- %d %d %d", (int)k, (int)code->to,
                      (int)code->a, (int)code->b, (int)code->c);
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
                check_row(isnan(part.regs[first + k]), "instruction %d of a higher level was run",
                          (int)k);
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
        check_equal(taut_op_table[r.tape->code[k].op].name, r.tape->code[k].companion,
                    needed ? next : -1);
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
    static const double special[] = {
        0.0,    -0.0,  1.0,    -1.0,     0.5,       -0.5, 2.5, 0.49999999999999994,
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
    static const int sizes[][2] = {{8, 1},   {8, 7},     {8, 8}, {16, 13},
                                   {64, 63}, {256, 255}, {3, 3}, {7, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int trial = 0; trial < 12; trial++) {
            int lanes = sizes[s][0], n = sizes[s][1];
            runner many = runner_open(g, 3, OPERATIONS + 5, node, NULL, lanes),
                   one = runner_open(g, 3, OPERATIONS + 5, node, NULL, 1);
            for (int k = 0; k < 3 * lanes; k++)
                many.regs[k] = trial < 6 ? uniform(-4, 9) : special[(int)uniform(0, SPECIAL)];
            taut_tape_run(many.tape, 0, lanes, n, many.regs);
            for (int k = 0; k < OPERATIONS + 5; k++) {
                const char *name =
                    k < OPERATIONS ? taut_op_table[operations[k].op].name : "curve or constant";
                int differ = 0, written = 0;
                double x[3] = {0}, b = 0, e = 0;
                for (int lane = 0; lane < lanes; lane++) {
                    const double at[3] = {many.regs[lane], many.regs[lanes + lane],
                                          many.regs[2 * lanes + lane]};
                    run_at(&one, at);
                    if (lane < n && !same_bits(output(&many, k, lane), output(&one, k, 0))) {
                        differ++;
                        memcpy(x, at, sizeof x);
                        b = output(&many, k, lane);
                        e = output(&one, k, 0);
                    }
                    written += lane >= n && k < OPERATIONS + 4 && !isnan(output(&many, k, lane));
                }
                check_row(differ == 0,
                          "%s: %d of %d lanes differ, at (%g, %g, %g): %.17g, alone %.17g", name,
                          differ, n, x[0], x[1], x[2], b, e);
                check_row(written == 0, "%s: %d unused lanes of %d were written", name, written,
                          lanes);
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
        int32_t node = build(g, rows[k].op), a = taut_graph_constant(g, rows[k].a),
                b = taut_graph_constant(g, rows[k].b);
        int32_t constant = taut_op_table[rows[k].op].arity == 1
                               ? taut_graph_unary(g, rows[k].op, a)
                               : taut_graph_binary(g, rows[k].op, a, b);
        runner r = runner_open(g, 3, 1, &node, NULL, 1);
        run_at(&r, (double[3]){rows[k].a, rows[k].b, 0});
        double value = output(&r, 0, 0), folded = 0, e = rows[k].expected;
        taut_graph_is_constant(g, constant, &folded);
        const char *name = taut_op_table[rows[k].op].name;
        check_row(value == e || (isnan(value) && isnan(e)), "%s(%g, %g) = %.17g, expected %.17g",
                  name, rows[k].a, rows[k].b, value, e);
        check_row(folded == e || (isnan(folded) && isnan(e)),
                  "folded %s(%g, %g) = %.17g, expected %.17g", name, rows[k].a, rows[k].b, folded,
                  e);
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
    int32_t sine = taut_graph_unary(g, TAUT_OP_SIN, taut_graph_input(g, 0)),
            far = taut_graph_input(g, 9), none = -1;
    unsigned char level = 0, high = TAUT_LEVELS;
    taut_arena arena;
    taut_error error;
    taut_tape *tape = NULL;
    taut_arena_init(&arena, NULL);
    check_equal("an input beyond", taut_tape_create(g, &arena, 9, 1, &far, &level, &tape, &error),
                TAUT_ERROR_USAGE);
    check_contains("message", error.message, "input 9");
    check_equal("no node", taut_tape_create(g, &arena, 1, 1, &none, &level, &tape, &error),
                TAUT_ERROR_USAGE);
    check_equal("a level too high", taut_tape_create(g, &arena, 1, 1, &sine, &high, &tape, &error),
                TAUT_ERROR_USAGE);
    check_equal("no outputs", taut_tape_create(g, &arena, 1, 0, &sine, &level, &tape, &error), 0);
    check_equal("is empty", tape->length, 0);

    check_equal("a tape", taut_tape_create(g, &arena, 1, 1, &sine, &level, &tape, &error), 0);
    double regs[2] = {0.5, -7};
    taut_tape_run(tape, -1, 1, 1, regs);
    check_near("level -1 runs nothing", regs[1], -7, 0);
    taut_tape_run(tape, 99, 1, 1, regs);
    check_near("levels beyond the last run all", regs[1], sin(0.5), 0);
    tape->native = native_answer;
    tape->native_levels = TAUT_LEVELS;
    taut_tape_run(tape, 3, 1, 1, regs);
    check_near("compiled code is called", regs[1], 3000, 0);
    taut_arena_clear(&arena);
    taut_graph_destroy(g);

    taut_graph *full = taut_graph_create(NULL, 2);
    for (int k = 0; k < 3; k++)
        taut_graph_input(full, k);
    int32_t first = 0;
    check_equal("a graph that failed",
                taut_tape_create(full, &arena, 3, 1, &first, &level, &tape, &error),
                TAUT_ERROR_SIZE);
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
        check_row(status == (state.failed ? TAUT_ERROR_MEMORY : 0),
                  "allocation %d fails: status %d", (int)k, status);
        taut_arena_clear(&arena);
        check_row(state.live == 0, "allocation %d fails: %d blocks leak", (int)k, (int)state.live);
    }
    check_row(k > 4 && k < 1000, "succeeds in the end, after %d", (int)k);
    taut_graph_destroy(g);
}

int main(void)
{
    test_levels();
    test_companions();
    test_batches();
    test_special_values();
    test_lanes();
    test_calls();
    test_memory();
    return check_done();
}
