/* simplify.c - the constructors of graph nodes: constants fold, and expressions take one form.
 *
 * Constant factors and signs move outwards (x*(c*y) = c*(x*y), (-x)*y = -(x*y), x + -y = x - y),
 * so that they meet and cancel: the gradient of length(u) then is u times one shared reciprocal.
 * -(x-y) keeps its difference, since -(x-y)*z should share (x-y)*z. Sums are not reordered
 * beyond like terms (c*x + d*x, and c*x + c*y where c is a power of two): rounding of what the
 * user wrote is kept. Rules hold for real
 * numbers: where an operand is infinite, NaN or 0 at run time x*0 and x-x still give 0, and x/x
 * gives 1. */
#include "expr/curve.h"
#include "expr/store.h"
#include "expr/values.h"

#include <assert.h>

enum { LARGEST_POWER = 16 };

static int32_t add(taut_graph *graph, int32_t a, int32_t b);
static int32_t subtract(taut_graph *graph, int32_t a, int32_t b);
static int32_t multiply(taut_graph *graph, int32_t a, int32_t b);
static int32_t divide(taut_graph *graph, int32_t a, int32_t b);

static int32_t raw(taut_graph *graph, taut_op op, int32_t a, int32_t b, int32_t c)
{
    return taut_graph_intern(graph, (taut_node){.op = op, .a = a, .b = b, .c = c});
}

static bool is_op(const taut_graph *graph, int32_t node, taut_op op)
{
    return node >= 0 && graph->node[node].op == op;
}

static bool is_value(const taut_graph *graph, int32_t node, double value)
{
    return is_op(graph, node, TAUT_OP_CONSTANT) && graph->node[node].value == value;
}

static bool is_constant(const taut_graph *graph, int32_t node)
{
    return is_op(graph, node, TAUT_OP_CONSTANT);
}

/* Factors that may be combined: products with infinities or subnormal numbers would change more
 * than rounding. */
static bool usable_factor(double c)
{
    return isnormal(c);
}

static double product(double c, double d)
{
    return taut_op_value(TAUT_OP_MUL, c, d, 0.0); /* overflow must not trap */
}

/* node = coefficient * base */
typedef struct scaled {
    double coefficient;
    int32_t base;
} scaled;

static scaled split(const taut_graph *graph, int32_t node)
{
    if (is_op(graph, node, TAUT_OP_NEG))
        return (scaled){-1.0, graph->node[node].a};
    if (is_op(graph, node, TAUT_OP_MUL) && is_constant(graph, graph->node[node].a))
        return (scaled){graph->node[graph->node[node].a].value, graph->node[node].b};
    return (scaled){1.0, node};
}

static int32_t scale(taut_graph *graph, double c, int32_t node)
{
    return multiply(graph, taut_graph_constant(graph, c), node);
}

/* Commutative operations: a constant first, else the older node first. */
static int32_t raw_sorted(taut_graph *graph, taut_op op, int32_t a, int32_t b)
{
    bool swap =
        is_constant(graph, b) ? !is_constant(graph, a) || b < a : !is_constant(graph, a) && b < a;
    return swap ? raw(graph, op, b, a, -1) : raw(graph, op, a, b, -1);
}

static int32_t negate(taut_graph *graph, int32_t a)
{
    if (a < 0)
        return -1;
    taut_node node = graph->node[a];
    if (node.op == TAUT_OP_CONSTANT)
        return taut_graph_constant(graph, -node.value);
    if (node.op == TAUT_OP_NEG)
        return node.a;
    if (node.op == TAUT_OP_MUL && is_constant(graph, node.a))
        return scale(graph, -graph->node[node.a].value, node.b);
    return raw(graph, TAUT_OP_NEG, a, -1, -1);
}

/* c*x + d*x; -2 when the terms are not alike. */
static int32_t add_like(taut_graph *graph, int32_t a, int32_t b, double sign)
{
    scaled x = split(graph, a), y = split(graph, b);
    if (x.base != y.base)
        return -2;
    double c =
        taut_op_value(sign > 0.0 ? TAUT_OP_ADD : TAUT_OP_SUB, x.coefficient, y.coefficient, 0.0);
    return c == 0.0 || usable_factor(c) ? scale(graph, c, x.base) : -2;
}

/* c*x + c*y = c*(x + y) where c is a power of two: no rounding changes, and such factors, which
 * derivatives of squares are full of, meet others further outside. -2: not so. */
static int32_t add_scaled(taut_graph *graph, int32_t a, int32_t b, bool plus)
{
    scaled x = split(graph, a), y = split(graph, b);
    int exponent;
    if (x.base == a || y.base == b || fabs(x.coefficient) != fabs(y.coefficient) ||
        fabs(x.coefficient) == 1.0 || fabs(frexp(x.coefficient, &exponent)) != 0.5 ||
        exponent < -1000 || exponent > 1000)
        return -2;
    bool same = (x.coefficient == y.coefficient) == plus;
    return scale(graph, x.coefficient,
                 same ? add(graph, x.base, y.base) : subtract(graph, x.base, y.base));
}

static int32_t add(taut_graph *graph, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return -1;
    if (is_value(graph, a, 0.0))
        return b;
    if (is_value(graph, b, 0.0))
        return a;
    int32_t like = add_like(graph, a, b, 1.0);
    if (like != -2 || (like = add_scaled(graph, a, b, true)) != -2)
        return like;
    if (is_op(graph, b, TAUT_OP_NEG))
        return subtract(graph, a, graph->node[b].a);
    if (is_op(graph, a, TAUT_OP_NEG))
        return subtract(graph, b, graph->node[a].a);
    return raw_sorted(graph, TAUT_OP_ADD, a, b);
}

static int32_t subtract(taut_graph *graph, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return -1;
    if (is_value(graph, b, 0.0))
        return a;
    if (is_value(graph, a, 0.0))
        return negate(graph, b);
    int32_t like = add_like(graph, a, b, -1.0);
    if (like != -2 || (like = add_scaled(graph, a, b, false)) != -2)
        return like;
    if (is_op(graph, b, TAUT_OP_NEG))
        return add(graph, a, graph->node[b].a);
    if (is_op(graph, a, TAUT_OP_NEG))
        return negate(graph, add(graph, graph->node[a].a, b));
    if (is_constant(graph, b)) /* x - 1 and x + -1 are one node */
        return add(graph, a, negate(graph, b));
    return raw(graph, TAUT_OP_SUB, a, b, -1);
}

static int32_t multiply_constant(taut_graph *graph, int32_t constant, int32_t b)
{
    double c = graph->node[constant].value;
    if (c == 0.0)
        return constant;
    if (c == 1.0)
        return b;
    if (c == -1.0)
        return negate(graph, b);
    scaled x = split(graph, b);
    if (x.base != b && usable_factor(product(c, x.coefficient)))
        return scale(graph, product(c, x.coefficient), x.base);
    return raw(graph, TAUT_OP_MUL, constant, b, -1);
}

static int32_t multiply(taut_graph *graph, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return -1;
    if (is_constant(graph, a) && is_constant(graph, b))
        return taut_graph_constant(graph, product(graph->node[a].value, graph->node[b].value));
    if (is_constant(graph, a))
        return multiply_constant(graph, a, b);
    if (is_constant(graph, b))
        return multiply_constant(graph, b, a);
    scaled x = split(graph, a), y = split(graph, b);
    if ((x.base != a || y.base != b) && usable_factor(product(x.coefficient, y.coefficient)))
        return scale(graph, product(x.coefficient, y.coefficient), multiply(graph, x.base, y.base));
    if (a == b && is_op(graph, a, TAUT_OP_ROOT)) /* length(u)^2 is dot(u,u) */
        return graph->node[a].a;
    return raw_sorted(graph, TAUT_OP_MUL, a, b);
}

static int32_t divide(taut_graph *graph, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return -1;
    double value;
    if (taut_graph_is_constant(graph, b, &value)) {
        int exponent;
        /* a power of two: the product is exact */
        if (fabs(frexp(value, &exponent)) == 0.5 && exponent > -1000 && exponent < 1000)
            return scale(graph, 1.0 / value, a);
        return raw(graph, TAUT_OP_DIV, a, b, -1);
    }
    if (is_value(graph, a, 0.0))
        return a;
    if (a == b)
        return taut_graph_constant(graph, 1.0);
    if (is_op(graph, a, TAUT_OP_NEG))
        return negate(graph, divide(graph, graph->node[a].a, b));
    if (is_op(graph, b, TAUT_OP_NEG))
        return negate(graph, divide(graph, a, graph->node[b].a));
    return raw(graph, TAUT_OP_DIV, a, b, -1);
}

/* x^n by repeated squaring, n >= 1 */
static int32_t whole_power(taut_graph *graph, int32_t x, int n)
{
    int32_t result = -2;
    for (;; n >>= 1) {
        if (n & 1)
            result = result == -2 ? x : multiply(graph, result, x);
        if (n <= 1)
            return result;
        x = multiply(graph, x, x);
    }
}

static int32_t power(taut_graph *graph, int32_t a, int32_t b)
{
    double c;
    if (taut_graph_is_constant(graph, a, &c) && c == 1.0)
        return a;
    if (!taut_graph_is_constant(graph, b, &c))
        return raw(graph, TAUT_OP_POW, a, b, -1);
    int32_t one = taut_graph_constant(graph, 1.0);
    if (c == 0.0)
        return one;
    if (c == 0.5)
        return taut_graph_unary(graph, TAUT_OP_SQRT, a);
    if (c == -0.5)
        return divide(graph, one, taut_graph_unary(graph, TAUT_OP_SQRT, a));
    if (fabs(c) <= LARGEST_POWER && c == floor(c))
        return c > 0.0 ? whole_power(graph, a, (int)c)
                       : divide(graph, one, whole_power(graph, a, (int)-c));
    return raw(graph, TAUT_OP_POW, a, b, -1);
}

/* Comparisons and logic; -2 when nothing applies. */
static int32_t logic(taut_graph *graph, taut_op op, int32_t a, int32_t b)
{
    if (a == b) {
        if (op == TAUT_OP_LT || op == TAUT_OP_NE)
            return taut_graph_constant(graph, 0.0);
        if (op == TAUT_OP_LE || op == TAUT_OP_EQ)
            return taut_graph_constant(graph, 1.0);
    }
    if (op == TAUT_OP_AND || op == TAUT_OP_OR) {
        bool decided = op == TAUT_OP_OR; /* the truth value of one side that settles the result */
        for (int side = 0; side < 2; side++) {
            int32_t x = side ? b : a, other = side ? a : b;
            double value;
            if (taut_graph_is_constant(graph, x, &value)) {
                if ((value != 0.0) == decided)
                    return taut_graph_constant(graph, decided);
                return taut_graph_binary(graph, TAUT_OP_NE, other, taut_graph_constant(graph, 0.0));
            }
        }
        if (a == b)
            return taut_graph_binary(graph, TAUT_OP_NE, a, taut_graph_constant(graph, 0.0));
    }
    return -2;
}

static bool is_truth(const taut_graph *graph, int32_t node)
{
    taut_op op = graph->node[node].op;
    return op >= TAUT_OP_LT && op <= TAUT_OP_OR;
}

int32_t taut_graph_unary(taut_graph *graph, taut_op op, int32_t a)
{
    assert(taut_op_table[op].arity == 1 && op != TAUT_OP_CURVE);
    if (graph->status || a < 0)
        return -1;
    taut_node node = graph->node[a];
    if (node.op == TAUT_OP_CONSTANT)
        return taut_graph_constant(graph, taut_op_value(op, node.value, 0.0, 0.0));
    if (op == TAUT_OP_NEG)
        return negate(graph, a);
    bool negative = node.op == TAUT_OP_NEG;
    switch (op) {
    case TAUT_OP_COS:
    case TAUT_OP_COSH: return raw(graph, op, negative ? node.a : a, -1, -1);
    case TAUT_OP_ABS:
        if (node.op == TAUT_OP_ABS || node.op == TAUT_OP_SQRT || node.op == TAUT_OP_ROOT)
            return a;
        return raw(graph, op, negative ? node.a : a, -1, -1);
    case TAUT_OP_SIN:
    case TAUT_OP_TAN:
    case TAUT_OP_SINH:
    case TAUT_OP_TANH:
    case TAUT_OP_SIGN:
        if (negative)
            return negate(graph, raw(graph, op, node.a, -1, -1));
        break;
    case TAUT_OP_FLOOR:
    case TAUT_OP_ROUND:
        if (node.op == TAUT_OP_FLOOR || node.op == TAUT_OP_ROUND)
            return a;
        break;
    default: break;
    }
    return raw(graph, op, a, -1, -1);
}

int32_t taut_graph_binary(taut_graph *graph, taut_op op, int32_t a, int32_t b)
{
    assert(taut_op_table[op].arity == 2);
    if (graph->status || a < 0 || b < 0)
        return -1;
    if (is_constant(graph, a) && is_constant(graph, b))
        return taut_graph_constant(
            graph, taut_op_value(op, graph->node[a].value, graph->node[b].value, 0.0));
    switch (op) {
    case TAUT_OP_ADD: return add(graph, a, b);
    case TAUT_OP_SUB: return subtract(graph, a, b);
    case TAUT_OP_MUL: return multiply(graph, a, b);
    case TAUT_OP_DIV: return divide(graph, a, b);
    case TAUT_OP_POW: return power(graph, a, b);
    case TAUT_OP_DIVZ:
        if (is_value(graph, a, 0.0))
            return a;
        if (is_constant(graph, b))
            return is_value(graph, b, 0.0) ? b : divide(graph, a, b);
        return raw(graph, op, a, b, -1);
    case TAUT_OP_MIN:
    case TAUT_OP_MAX: return a == b ? a : raw_sorted(graph, op, a, b);
    case TAUT_OP_HYPOT: return raw_sorted(graph, op, a, b);
    case TAUT_OP_ATAN2:
    case TAUT_OP_MOD: return raw(graph, op, a, b, -1);
    default: break;
    }
    int32_t simple = logic(graph, op, a, b);
    if (simple != -2)
        return simple;
    if (op == TAUT_OP_NE && (is_value(graph, a, 0.0) || is_value(graph, b, 0.0))) {
        int32_t other = is_value(graph, a, 0.0) ? b : a;
        if (is_truth(graph, other))
            return other;
    }
    return op == TAUT_OP_LT || op == TAUT_OP_LE ? raw(graph, op, a, b, -1)
                                                : raw_sorted(graph, op, a, b);
}

int32_t taut_graph_select(taut_graph *graph, int32_t condition, int32_t a, int32_t b)
{
    if (graph->status || condition < 0 || a < 0 || b < 0)
        return -1;
    double value;
    if (taut_graph_is_constant(graph, condition, &value))
        return value != 0.0 ? a : b;
    return a == b ? a : raw(graph, TAUT_OP_SELECT, condition, a, b);
}

int32_t taut_graph_curve(taut_graph *graph, const struct taut_curve *curve, int derivative,
                         int32_t a)
{
    assert(curve && derivative >= 0);
    if (graph->status || a < 0)
        return -1;
    if (derivative > 3)
        return taut_graph_constant(graph, 0.0);
    double x;
    if (taut_graph_is_constant(graph, a, &x))
        return taut_graph_constant(graph, taut_curve_value(curve, derivative, x));
    return taut_graph_intern(
        graph, (taut_node){.op = TAUT_OP_CURVE, .a = a, .b = derivative, .c = -1, .curve = curve});
}
