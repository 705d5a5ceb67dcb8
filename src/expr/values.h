/* values.h - what every operation computes, once: constant folding, the scalar interpreter and
 * the batched one all expand these rows, so that they agree to the last bit. In a row, `a`, `b`,
 * `c` are the operands.
 *
 * a + 0.0 in atan2 makes -0 a plain 0, so that angles lie in (-pi, pi]: a planar chain is trans,
 * pi, whatever the signs of its zeros. NaN passes through min, max and sign (unlike fmin and
 * fmax): a wrong number must be seen at the end. sqrt and the divisions are computed
 * unconditionally and selected afterwards, which is what lets compilers vectorise the rows. */
#ifndef TAUT_EXPR_VALUES_H
#define TAUT_EXPR_VALUES_H

#include <math.h>

#include "expr/graph.h"

/* Half away from zero, as round() does, but made of floor(): processors have an instruction for
 * that one. */
static inline double taut_value_round(double a)
{
    double size = fabs(a), whole = floor(size);
    return copysign(whole + (size - whole >= 0.5 ? 1.0 : 0.0), a);
}

static inline double taut_value_divz(double a, double b)
{
    double quotient = a / b;
    return b == 0.0 ? 0.0 : quotient;
}

#define TAUT_UNARY_ROWS(X)                                                                         \
    X(NEG, -a)                                                                                     \
    X(SQRT, sqrt(a))                                                                               \
    X(ROOT, sqrt(a))                                                                               \
    X(EXP, exp(a))                                                                                 \
    X(LOG, log(a))                                                                                 \
    X(SIN, sin(a))                                                                                 \
    X(COS, cos(a))                                                                                 \
    X(TAN, tan(a))                                                                                 \
    X(ASIN, asin(a))                                                                               \
    X(ACOS, acos(a))                                                                               \
    X(ATAN, atan(a))                                                                               \
    X(SINH, sinh(a))                                                                               \
    X(COSH, cosh(a))                                                                               \
    X(TANH, tanh(a))                                                                               \
    X(ABS, fabs(a))                                                                                \
    X(SIGN, a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : a))                                                  \
    X(FLOOR, floor(a))                                                                             \
    X(ROUND, taut_value_round(a))

#define TAUT_BINARY_ROWS(X)                                                                        \
    X(ADD, a + b)                                                                                  \
    X(SUB, a - b)                                                                                  \
    X(MUL, (a * b))                                                                                \
    X(DIV, a / b)                                                                                  \
    X(DIVZ, taut_value_divz(a, b))                                                                 \
    X(POW, pow(a, b))                                                                              \
    X(ATAN2, atan2(a + 0.0, b))                                                                    \
    X(HYPOT, hypot(a, b))                                                                          \
    X(MIN, a < b ? a : (a != a ? a : b))                                                           \
    X(MAX, a > b ? a : (a != a ? a : b))                                                           \
    X(MOD, a - b * floor(a / b))                                                                   \
    X(LT, a < b ? 1.0 : 0.0)                                                                       \
    X(LE, a <= b ? 1.0 : 0.0)                                                                      \
    X(EQ, a == b ? 1.0 : 0.0)                                                                      \
    X(NE, a != b ? 1.0 : 0.0)                                                                      \
    X(AND, ((a != 0.0) & (b != 0.0)) ? 1.0 : 0.0)                                                  \
    X(OR, ((a != 0.0) | (b != 0.0)) ? 1.0 : 0.0)

#define TAUT_SELECT_VALUE (a != 0.0 ? b : c)

/* The value of one operation on constants (operands that it does not have are ignored). Leaves
 * the floating-point environment as it was: neither flags nor, where a host enabled them, traps.
 * Not for constants, inputs and curves. */
double taut_op_value(taut_op op, double a, double b, double c);

#endif
