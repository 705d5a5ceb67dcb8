/* run.c - the interpreter. One member: a switch for each instruction, or for two. Many: each
 * instruction is one loop over the lanes, which the compiler vectorises, so that the switch costs
 * little per member. Both expand the rows of values.h. */
#include "base/hot.h"
#include "expr/curve.h"
#include "expr/tape.h"
#include "expr/values.h"

/* One instruction; `code` then is the next. */
#define RUN_ONE(value)                                                                             \
    do {                                                                                           \
        const double a = regs[code->a];                                                            \
        regs[code->to] = value;                                                                    \
        code++;                                                                                    \
    } while (0)
#define RUN_TWO(value)                                                                             \
    do {                                                                                           \
        const double a = regs[code->a], b = regs[code->b];                                         \
        regs[code->to] = value;                                                                    \
        code++;                                                                                    \
    } while (0)
#define UNARY(name, value)                                                                         \
    case TAUT_OP_##name:                                                                           \
        RUN_ONE(value);                                                                            \
        break;
#define BINARY(name, value)                                                                        \
    case TAUT_OP_##name: RUN_TWO(value); break;
/* Two of them; a and b of the second as given. */
#define RUN_PAIR(x, y, second_a, second_b)                                                         \
    do {                                                                                           \
        double a = regs[code->a], b = regs[code->b];                                               \
        const double result = x;                                                                   \
        regs[code->to] = result;                                                                   \
        code++;                                                                                    \
        a = second_a, b = second_b;                                                                \
        regs[code->to] = y;                                                                        \
        code++;                                                                                    \
    } while (0)
#define PAIR(first, x, second, y)                                                                  \
    case TAUT_PAIR(TAUT_OP_##first, TAUT_OP_##second, 0):                                          \
        RUN_PAIR(x, y, regs[code->a], regs[code->b]);                                              \
        break;                                                                                     \
    case TAUT_PAIR(TAUT_OP_##first, TAUT_OP_##second, 1):                                          \
        RUN_PAIR(x, y, result, regs[code->b]);                                                     \
        break;                                                                                     \
    case TAUT_PAIR(TAUT_OP_##first, TAUT_OP_##second, 2):                                          \
        RUN_PAIR(x, y, regs[code->a], result);                                                     \
        break;
#define PAIRS(first, x)                                                                            \
    PAIR(first, x, ADD, a + b)                                                                     \
    PAIR(first, x, SUB, a - b)                                                                     \
    PAIR(first, x, MUL, a *b)                                                                      \
    PAIR(first, x, DIV, a / b)

static void run_one(const taut_tape *tape, const taut_instruction *code,
                    const taut_instruction *end, double *regs)
{
    while (code < end)
        switch (code->pair) {
            TAUT_UNARY_ROWS(UNARY)
            TAUT_BINARY_ROWS(BINARY)
            PAIRS(ADD, a + b)
            PAIRS(SUB, a - b)
            PAIRS(MUL, a * b)
            PAIRS(DIV, a / b)
        case TAUT_OP_CURVE:
            regs[code->to] = taut_curve_value(tape->curve[code->c], code->b, regs[code->a]);
            code++;
            break;
        case TAUT_OP_SELECT: {
            const double a = regs[code->a], b = regs[code->b], c = regs[code->c];
            regs[code->to] = TAUT_SELECT_VALUE;
            code++;
            break;
        }
        default: __builtin_unreachable(); /* inputs and constants are no instructions */
        }
}

enum { WHOLE = 8 };

/* The loops are bound by loads and stores; unrolled they come closer to one of each in a cycle. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC ivdep") TAUT_UNROLLED
#else
#define UNROLLED
#endif
#define UNARY_LANES(name, value)                                                                   \
    case TAUT_OP_##name:                                                                           \
        UNROLLED                                                                                   \
        for (int k = 0; k < n; k++) {                                                              \
            double a = x[k];                                                                       \
            to[k] = value;                                                                         \
        }                                                                                          \
        break;
#define BINARY_LANES(name, value)                                                                  \
    case TAUT_OP_##name:                                                                           \
        UNROLLED                                                                                   \
        for (int k = 0; k < n; k++) {                                                              \
            double a = x[k], b = y[k];                                                             \
            to[k] = value;                                                                         \
        }                                                                                          \
        break;

static void run_curve(const taut_curve *curve, int derivative, int n, const double *x, double *to)
{
    for (int k = 0; k < n; k++)
        to[k] = taut_curve_value(curve, derivative, x[k]);
}

/* Every instruction writes a register of its own, so that `to` overlaps no operand. With `whole`,
 * n is a multiple of WHOLE: loops have no rest. */
static inline __attribute__((always_inline)) void run_instruction(const taut_tape *tape,
                                                                  const taut_instruction *code,
                                                                  int64_t lanes, int count,
                                                                  double *regs, const bool whole)
{
    const int n = whole ? count / WHOLE * WHOLE : count;
    double *restrict to = regs + code->to * lanes;
    const double *x = regs + code->a * lanes;
    const double *y = taut_op_table[code->op].arity > 1 ? regs + code->b * lanes : x;
    switch ((taut_op)code->op) {
        TAUT_UNARY_ROWS(UNARY_LANES)
        TAUT_BINARY_ROWS(BINARY_LANES)
    case TAUT_OP_CURVE: run_curve(tape->curve[code->c], code->b, n, x, to); break;
    case TAUT_OP_SELECT: {
        const double *z = regs + code->c * lanes;
        UNROLLED
        for (int k = 0; k < n; k++) {
            double a = x[k], b = y[k], c = z[k];
            to[k] = TAUT_SELECT_VALUE;
        }
        break;
    }
    default: break;
    }
}

TAUT_HOT static void run_lanes(const taut_tape *tape, int32_t length, int lanes, int n,
                               double *regs)
{
    for (int32_t k = 0; k < length; k++)
        run_instruction(tape, &tape->code[k], lanes, n, regs, false);
}

TAUT_HOT static void run_whole(const taut_tape *tape, int32_t length, int lanes, int n,
                               double *regs)
{
    const taut_instruction *code = tape->code, *end = code + length;
    for (; code < end; code++)
        run_instruction(tape, code, lanes, n, regs, true);
}

void taut_tape_interpret(const taut_tape *tape, int level, int lanes, int n, double *regs)
{
    const int32_t length = tape->level_end[level];
    const int whole = n / WHOLE * WHOLE;
    if (lanes == 1) {
        run_one(tape, tape->code, tape->code + length, regs);
        return;
    }
    if (whole > 0)
        run_whole(tape, length, lanes, whole, regs);
    if (whole < n)
        run_lanes(tape, length, lanes, n - whole, regs + whole);
}
