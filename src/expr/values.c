/* values.c - the table of operations, and their values on constants. */
#include "expr/values.h"

#include <string.h>

#include <fenv.h>

const taut_op_info taut_op_table[TAUT_OP_COUNT] = {
    [TAUT_OP_CONSTANT] = {"constant", 0, false},
    [TAUT_OP_INPUT] = {"input", 0, false},
    [TAUT_OP_NEG] = {"-", 1, false},
    [TAUT_OP_SQRT] = {"sqrt", 1, false},
    [TAUT_OP_ROOT] = {"root", 1, false},
    [TAUT_OP_EXP] = {"exp", 1, false},
    [TAUT_OP_LOG] = {"log", 1, false},
    [TAUT_OP_SIN] = {"sin", 1, false},
    [TAUT_OP_COS] = {"cos", 1, false},
    [TAUT_OP_TAN] = {"tan", 1, false},
    [TAUT_OP_ASIN] = {"asin", 1, false},
    [TAUT_OP_ACOS] = {"acos", 1, false},
    [TAUT_OP_ATAN] = {"atan", 1, false},
    [TAUT_OP_SINH] = {"sinh", 1, false},
    [TAUT_OP_COSH] = {"cosh", 1, false},
    [TAUT_OP_TANH] = {"tanh", 1, false},
    [TAUT_OP_ABS] = {"abs", 1, true},
    [TAUT_OP_SIGN] = {"sign", 1, true},
    [TAUT_OP_FLOOR] = {"floor", 1, true},
    [TAUT_OP_ROUND] = {"round", 1, true},
    [TAUT_OP_CURVE] = {"curve", 1, false},
    [TAUT_OP_ADD] = {"+", 2, false},
    [TAUT_OP_SUB] = {"-", 2, false},
    [TAUT_OP_MUL] = {"*", 2, false},
    [TAUT_OP_DIV] = {"/", 2, false},
    [TAUT_OP_DIVZ] = {"divz", 2, false},
    [TAUT_OP_POW] = {"^", 2, false},
    [TAUT_OP_ATAN2] = {"atan2", 2, false},
    [TAUT_OP_HYPOT] = {"hypot", 2, false},
    [TAUT_OP_MIN] = {"min", 2, true},
    [TAUT_OP_MAX] = {"max", 2, true},
    [TAUT_OP_MOD] = {"mod", 2, true},
    [TAUT_OP_LT] = {"<", 2, true},
    [TAUT_OP_LE] = {"<=", 2, true},
    [TAUT_OP_EQ] = {"==", 2, true},
    [TAUT_OP_NE] = {"!=", 2, true},
    [TAUT_OP_AND] = {"and", 2, true},
    [TAUT_OP_OR] = {"or", 2, true},
    [TAUT_OP_SELECT] = {"if", 3, true},
};

#define CASE(name, value)                                                                          \
    case TAUT_OP_##name: return value;

static double plain_value(taut_op op, double a, double b, double c)
{
    switch (op) {
        TAUT_UNARY_ROWS(CASE)
        TAUT_BINARY_ROWS(CASE)
    case TAUT_OP_SELECT: return TAUT_SELECT_VALUE;
    default: return NAN;
    }
}

double taut_op_value(taut_op op, double a, double b, double c)
{
    /* volatile keeps the arithmetic between the two calls that guard it */
    volatile double operand[3] = {a, b, c};
    fenv_t environment;
    feholdexcept(&environment);
    volatile double value = plain_value(op, operand[0], operand[1], operand[2]);
    fesetenv(&environment);
    return value;
}

bool taut_op_find(const char *name, taut_op *op)
{
    static const taut_op ops[] = {
        TAUT_OP_SQRT,  TAUT_OP_EXP,   TAUT_OP_LOG,  TAUT_OP_SIN,   TAUT_OP_COS,  TAUT_OP_TAN,
        TAUT_OP_ASIN,  TAUT_OP_ACOS,  TAUT_OP_ATAN, TAUT_OP_ATAN2, TAUT_OP_SINH, TAUT_OP_COSH,
        TAUT_OP_TANH,  TAUT_OP_ABS,   TAUT_OP_SIGN, TAUT_OP_MIN,   TAUT_OP_MAX,  TAUT_OP_HYPOT,
        TAUT_OP_FLOOR, TAUT_OP_ROUND, TAUT_OP_MOD};
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
        if (strcmp(taut_op_table[ops[k]].name, name) == 0) {
            *op = ops[k];
            return true;
        }
    return false;
}
