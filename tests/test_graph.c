/* Expression graphs: sharing, simplification, folding, the size of derivatives, depth, limits,
 * failing memory, curves. */
#if defined(__linux__)
#define _GNU_SOURCE /* feenableexcept */
#endif
#include <fenv.h>

#include "expr/curve.h"
#include "expr/graph.h"
#include "support/faulty.h"
#include "support/table.h"

enum { LIMIT = 4000000 };

static int32_t op1(taut_graph *g, taut_op op, int32_t a)
{
    return taut_graph_unary(g, op, a);
}

static int32_t op2(taut_graph *g, taut_op op, int32_t a, int32_t b)
{
    return taut_graph_binary(g, op, a, b);
}

static int32_t num(taut_graph *g, double value)
{
    return taut_graph_constant(g, value);
}

/* ---- an evaluator of its own, so that rewriting rules are checked against what was asked for */

static double value_of(const taut_graph *g, int32_t root, const double *x)
{
    int32_t size = taut_graph_size(g);
    double *v = calloc((size_t)size, sizeof *v);
    for (int32_t k = 0; k <= root; k++) {
        const taut_node *n = taut_graph_node(g, k);
        double a = n->a >= 0 && n->op > TAUT_OP_INPUT ? v[n->a] : 0,
               b = n->b >= 0 && n->op > TAUT_OP_CURVE ? v[n->b] : 0;
        switch (n->op) {
        case TAUT_OP_CONSTANT: v[k] = n->value; break;
        case TAUT_OP_INPUT: v[k] = x[n->a]; break;
        case TAUT_OP_NEG: v[k] = -a; break;
        case TAUT_OP_SQRT:
        case TAUT_OP_ROOT: v[k] = sqrt(a); break;
        case TAUT_OP_EXP: v[k] = exp(a); break;
        case TAUT_OP_LOG: v[k] = log(a); break;
        case TAUT_OP_SIN: v[k] = sin(a); break;
        case TAUT_OP_COS: v[k] = cos(a); break;
        case TAUT_OP_ABS: v[k] = fabs(a); break;
        case TAUT_OP_SIGN: v[k] = (a > 0) - (a < 0); break;
        case TAUT_OP_ADD: v[k] = a + b; break;
        case TAUT_OP_SUB: v[k] = a - b; break;
        case TAUT_OP_MUL: v[k] = a * b; break;
        case TAUT_OP_DIV: v[k] = a / b; break;
        case TAUT_OP_DIVZ: v[k] = b == 0 ? 0 : a / b; break;
        case TAUT_OP_POW: v[k] = pow(a, b); break;
        case TAUT_OP_MIN: v[k] = fmin(a, b); break;
        case TAUT_OP_MAX: v[k] = fmax(a, b); break;
        case TAUT_OP_LT: v[k] = a < b; break;
        case TAUT_OP_LE: v[k] = a <= b; break;
        case TAUT_OP_EQ: v[k] = a == b; break;
        case TAUT_OP_NE: v[k] = a != b; break;
        case TAUT_OP_AND: v[k] = a != 0 && b != 0; break;
        case TAUT_OP_OR: v[k] = a != 0 || b != 0; break;
        case TAUT_OP_SELECT: v[k] = a != 0 ? b : v[n->c]; break;
        default: v[k] = NAN; break;
        }
    }
    double result = v[root];
    free(v);
    return result;
}

static void check_same(const char *what, const taut_graph *g, int32_t node, int32_t expected)
{
    check_row(node == expected && node >= 0, "%s: node %d (%s), expected node %d", what, (int)node,
              node >= 0 ? taut_op_table[taut_graph_node(g, node)->op].name : "none", (int)expected);
}

static void test_simplifications(void)
{
    check_group("simplifications");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t x = taut_graph_input(g, 0), y = taut_graph_input(g, 1), z = num(g, 0), one = num(g, 1),
            two = num(g, 2);
    int32_t xy = op2(g, TAUT_OP_MUL, x, y), minus_x = op1(g, TAUT_OP_NEG, x),
            root = op1(g, TAUT_OP_ROOT, xy);
    const struct {
        const char *what;
        int32_t node, expected;
    } rows[] = {
        {"x+0", op2(g, TAUT_OP_ADD, x, z), x},
        {"0+x", op2(g, TAUT_OP_ADD, z, x), x},
        {"x-0", op2(g, TAUT_OP_SUB, x, z), x},
        {"0-x", op2(g, TAUT_OP_SUB, z, x), minus_x},
        {"x-x", op2(g, TAUT_OP_SUB, x, x), z},
        {"x+x", op2(g, TAUT_OP_ADD, x, x), op2(g, TAUT_OP_MUL, two, x)},
        {"x*1", op2(g, TAUT_OP_MUL, x, one), x},
        {"x*0", op2(g, TAUT_OP_MUL, x, z), z},
        {"x*-1", op2(g, TAUT_OP_MUL, x, num(g, -1)), minus_x},
        {"x*y is y*x", op2(g, TAUT_OP_MUL, y, x), xy},
        {"x+y is y+x", op2(g, TAUT_OP_ADD, y, x), op2(g, TAUT_OP_ADD, x, y)},
        {"x/1", op2(g, TAUT_OP_DIV, x, one), x},
        {"0/x", op2(g, TAUT_OP_DIV, z, x), z},
        {"x/x", op2(g, TAUT_OP_DIV, x, x), one},
        {"x/4 is x*0.25", op2(g, TAUT_OP_DIV, x, num(g, 4)), op2(g, TAUT_OP_MUL, num(g, 0.25), x)},
        {"x^1", op2(g, TAUT_OP_POW, x, one), x},
        {"x^0", op2(g, TAUT_OP_POW, x, z), one},
        {"1^x", op2(g, TAUT_OP_POW, one, x), one},
        {"x^2", op2(g, TAUT_OP_POW, x, two), op2(g, TAUT_OP_MUL, x, x)},
        {"x^-1", op2(g, TAUT_OP_POW, x, num(g, -1)), op2(g, TAUT_OP_DIV, one, x)},
        {"x^0.5", op2(g, TAUT_OP_POW, x, num(g, 0.5)), op1(g, TAUT_OP_SQRT, x)},
        {"-(-x)", op1(g, TAUT_OP_NEG, minus_x), x},
        {"z - -(x-y)", op2(g, TAUT_OP_SUB, xy, op1(g, TAUT_OP_NEG, op2(g, TAUT_OP_SUB, x, y))),
         op2(g, TAUT_OP_ADD, xy, op2(g, TAUT_OP_SUB, x, y))},
        {"x + -y", op2(g, TAUT_OP_ADD, x, op1(g, TAUT_OP_NEG, y)), op2(g, TAUT_OP_SUB, x, y)},
        {"x - -y", op2(g, TAUT_OP_SUB, x, op1(g, TAUT_OP_NEG, y)), op2(g, TAUT_OP_ADD, x, y)},
        {"-x * -y", op2(g, TAUT_OP_MUL, minus_x, op1(g, TAUT_OP_NEG, y)), xy},
        {"root*root", op2(g, TAUT_OP_MUL, root, root), xy},
        {"root^2", op2(g, TAUT_OP_POW, root, two), xy},
        {"2*(0.5*x)", op2(g, TAUT_OP_MUL, two, op2(g, TAUT_OP_MUL, num(g, 0.5), x)), x},
        {"(0.5*x)*(2*y)",
         op2(g, TAUT_OP_MUL, op2(g, TAUT_OP_MUL, num(g, 0.5), x), op2(g, TAUT_OP_MUL, two, y)), xy},
        {"3*x - 2*x",
         op2(g, TAUT_OP_SUB, op2(g, TAUT_OP_MUL, num(g, 3), x), op2(g, TAUT_OP_MUL, two, x)), x},
        {"min(x,x)", op2(g, TAUT_OP_MIN, x, x), x},
        {"x < x", op2(g, TAUT_OP_LT, x, x), z},
        {"if(1,x,y)", taut_graph_select(g, one, x, y), x},
        {"if(x,y,y)", taut_graph_select(g, x, y, y), y},
        {"divz(x,0)", op2(g, TAUT_OP_DIVZ, x, z), z},
        {"abs(-x)", op1(g, TAUT_OP_ABS, minus_x), op1(g, TAUT_OP_ABS, x)},
        {"cos(-x)", op1(g, TAUT_OP_COS, minus_x), op1(g, TAUT_OP_COS, x)},
        {"x and 0", op2(g, TAUT_OP_AND, x, z), z},
        {"0 or (x<y)", op2(g, TAUT_OP_OR, z, op2(g, TAUT_OP_LT, x, y)), op2(g, TAUT_OP_LT, x, y)},
        {"-0 is 0", num(g, -0.0), z},
        {"NaN is NaN", num(g, NAN), num(g, -(double)NAN)},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        check_same(rows[k].what, g, rows[k].node, rows[k].expected);
    check_row(op2(g, TAUT_OP_SUB, x, y) != op2(g, TAUT_OP_SUB, y, x), "x-y and y-x are two nodes");
    check_equal("status", taut_graph_status(g, NULL), 0);
    taut_graph_destroy(g);
}

static void test_powers(void)
{
    check_group("powers");
    for (int n = -16; n <= 16; n++) {
        taut_graph *g = taut_graph_create(NULL, LIMIT);
        double x = 1.37;
        int32_t p = op2(g, TAUT_OP_POW, taut_graph_input(g, 0), num(g, n));
        double value = value_of(g, p, &x), expected = pow(x, n);
        check_row(fabs(value - expected) <= 1e-14 * expected, "x^%d: %.17g, expected %.17g", n,
                  value, expected);
        int32_t pows = 0;
        for (int32_t k = 0; k < taut_graph_size(g); k++)
            pows += taut_graph_node(g, k)->op == TAUT_OP_POW;
        check_row(pows == 0, "x^%d has %d calls of pow", n, (int)pows);
        taut_graph_destroy(g);
    }
}

static void test_folding(void)
{
    check_group("folding");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t inf = num(g, INFINITY), nan = num(g, NAN), z = num(g, 0);
    double v = 0;
#if defined(__GLIBC__)
    /* a host that traps floating-point exceptions must survive folding */
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_MUL, inf, z), &v) && isnan(v),
              "inf*0 folds to NaN: %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_MUL, nan, z), &v) && isnan(v),
              "NaN*0 folds to NaN: %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_SUB, inf, inf), &v) && isnan(v),
              "inf-inf folds to NaN: %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_DIV, num(g, 1), z), &v) && v == INFINITY,
              "1/0 folds to infinity: %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_DIV, z, z), &v) && isnan(v),
              "0/0 folds to NaN: %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_MUL, num(g, 1e300), num(g, 1e300)), &v) &&
                  v == INFINITY,
              "overflow: %g", v);
    check_row(taut_graph_is_constant(g, op1(g, TAUT_OP_LOG, num(g, -1)), &v) && isnan(v),
              "log(-1): %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_DIVZ, num(g, 3), z), &v) && v == 0,
              "divz(3,0): %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_MIN, nan, num(g, 1)), &v) && isnan(v),
              "min(NaN,1) stays NaN: %g", v);
    check_row(taut_graph_is_constant(g, op2(g, TAUT_OP_MAX, num(g, 1), nan), &v) && isnan(v),
              "max(1,NaN) stays NaN: %g", v);
    int32_t x = taut_graph_input(g, 0);
    int32_t huge = op2(g, TAUT_OP_MUL, num(g, 1e200), op2(g, TAUT_OP_MUL, num(g, 1e200), x));
    int32_t sum = op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, num(g, 1e308), x),
                      op2(g, TAUT_OP_MUL, num(g, 1.5e308), x));
#if defined(__GLIBC__)
    fedisableexcept(FE_ALL_EXCEPT);
#endif
    double tiny = 1e-300;
    check_near("1e200*(1e200*x) does not overflow early", value_of(g, huge, &tiny) / 1e100, 1.0,
               1e-14);
    check_near("1e308*x + 1.5e308*x does not overflow early", value_of(g, sum, &tiny) / 2.5e8, 1.0,
               1e-14);
    check_equal("folding leaves no flags", fetestexcept(FE_DIVBYZERO), 0);
    taut_graph_destroy(g);
}

/* A sum of n terms sin(x + k): built twice, the second time adds nothing. */
static int32_t build_wide(taut_graph *g, int32_t n)
{
    int32_t sum = num(g, 0), x = taut_graph_input(g, 0);
    for (int32_t k = 1; k <= n; k++)
        sum = op2(g, TAUT_OP_ADD, sum, op1(g, TAUT_OP_SIN, op2(g, TAUT_OP_ADD, x, num(g, k))));
    return sum;
}

static void test_sharing(void)
{
    check_group("sharing");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t first = build_wide(g, 50000), size = taut_graph_size(g), second = build_wide(g, 50000);
    check_row(size > 199990 && size < 200010, "nodes of 50000 terms: %d", (int)size);
    check_equal("the same root", second, first);
    check_equal("no further nodes", taut_graph_size(g), size);

    /* one gradient: at most a few nodes for each node below the root, and again none the second
     * time */
    int32_t slot = 0, gradient = -1, again = -1;
    check_equal("gradient", taut_graph_gradient(g, first, 1, &slot, &gradient, NULL), 0);
    int32_t with = taut_graph_size(g);
    check_row(with - size <= size, "gradient adds %d nodes to %d", (int)(with - size), (int)size);
    check_equal("gradient again", taut_graph_gradient(g, first, 1, &slot, &again, NULL), 0);
    check_row(again == gradient && taut_graph_size(g) == with,
              "the same gradient without new nodes");
    taut_graph_destroy(g);
}

/* x -> sin(0.9 x + 0.1) composed 1e5 times; the derivative is the product of 0.9 cos(...). */
static void test_depth(void)
{
    check_group("depth");
    enum { DEPTH = 100000 };
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t node = taut_graph_input(g, 0), slot = 0, gradient = -1;
    double x = 0.3, value = x, derivative = 1;
    for (int k = 0; k < DEPTH; k++) {
        /* later ones hover, so that the product does not vanish */
        double scale = k < 40 ? 0.9 : 1.0;
        node = op1(g, TAUT_OP_SIN,
                   op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, num(g, scale), node),
                       num(g, k < 40 ? 0.1 : 0.0)));
        derivative *= scale * cos(scale * value + (k < 40 ? 0.1 : 0.0));
        value = sin(scale * value + (k < 40 ? 0.1 : 0.0));
    }
    int32_t size = taut_graph_size(g);
    check_equal("gradient", taut_graph_gradient(g, node, 1, &slot, &gradient, NULL), 0);
    check_row(taut_graph_size(g) - size <= 3 * size, "gradient adds %d nodes to %d",
              (int)(taut_graph_size(g) - size), (int)size);
    check_near("value", value_of(g, node, &x), value, 1e-14);
    check_near("reverse / product", value_of(g, gradient, &x) / derivative, 1.0, 1e-9);
    int32_t one = num(g, 1), forward = taut_graph_derivative(g, node, 1, &slot, &one);
    check_near("forward / product", value_of(g, forward, &x) / derivative, 1.0, 1e-9);
    taut_graph_destroy(g);

    /* a deep chain of branches must stay linear too */
    enum { BRANCHES = 20000 };
    g = taut_graph_create(NULL, LIMIT);
    int32_t y = taut_graph_input(g, 0), top = y;
    for (int k = 1; k < BRANCHES; k++)
        top = op2(
            g, TAUT_OP_MAX,
            op2(g, TAUT_OP_MUL, num(g, k), op1(g, TAUT_OP_SIN, op2(g, TAUT_OP_ADD, y, num(g, k)))),
            top);
    size = taut_graph_size(g);
    check_equal("gradient of branches", taut_graph_gradient(g, top, 1, &slot, &gradient, NULL), 0);
    check_row(taut_graph_size(g) - size <= 6 * size, "gradient of branches adds %d nodes to %d",
              (int)(taut_graph_size(g) - size), (int)size);
    double best = x, slope = 1;
    for (int k = 1; k < BRANCHES; k++)
        if (k * sin(x + k) > best) {
            best = k * sin(x + k);
            slope = k * cos(x + k);
        }
    check_near("its value", value_of(g, gradient, &x), slope, 1e-9 * fabs(slope));
    taut_graph_destroy(g);
}

static int count_below(const taut_graph *g, const int32_t *roots, int count, taut_op op)
{
    unsigned char *flag = calloc((size_t)taut_graph_size(g), 1);
    taut_graph_mark(g, roots, count, flag);
    int found = 0;
    for (int32_t k = 0; k < taut_graph_size(g); k++) {
        taut_op has = taut_graph_node(g, k)->op;
        found += flag[k] && (op == TAUT_OP_COUNT ? has > TAUT_OP_INPUT : has == op);
    }
    free(flag);
    return found;
}

/* The hot loop of chains: g = length(u) - rest and its gradient in twelve operations, one root
 * and one division. */
static void test_bond(void)
{
    check_group("bond");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t in[5], slots[4] = {0, 1, 2, 3}, root[21];
    for (int k = 0; k < 5; k++)
        in[k] = taut_graph_input(g, k);
    int32_t ux = op2(g, TAUT_OP_SUB, in[0], in[2]), uy = op2(g, TAUT_OP_SUB, in[1], in[3]);
    int32_t length =
        op1(g, TAUT_OP_ROOT,
            op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, ux, ux), op2(g, TAUT_OP_MUL, uy, uy)));
    root[0] = op2(g, TAUT_OP_SUB, length, in[4]);
    check_equal("gradient", taut_graph_gradient(g, root[0], 4, slots, root + 1, NULL), 0);
    check_equal("operations", count_below(g, root, 5, TAUT_OP_COUNT), 12);
    check_equal("roots", count_below(g, root, 5, TAUT_OP_ROOT), 1);
    check_equal("divisions", count_below(g, root, 5, TAUT_OP_DIVZ), 1);
    for (int k = 0; k < 4; k++)
        check_equal("Hessian row",
                    taut_graph_gradient(g, root[1 + k], 4, slots, root + 5 + 4 * k, NULL), 0);
    check_below("operations with the Hessian", count_below(g, root, 21, TAUT_OP_COUNT), 32);
    check_equal("divisions with the Hessian", count_below(g, root, 21, TAUT_OP_DIVZ), 1);
    const double at[5] = {1, 0.25, 2, 0, 1}, zero[5] = {0};
    double dx = -1, dy = 0.25, r = sqrt(dx * dx + dy * dy);
    const double expected[21] = {
        r - 1,
        dx / r,
        dy / r,
        -dx / r,
        -dy / r,
        dy * dy / (r * r * r),
        -dx * dy / (r * r * r),
        -dy * dy / (r * r * r),
        dx * dy / (r * r * r),
        -dx * dy / (r * r * r),
        dx * dx / (r * r * r),
        dx * dy / (r * r * r),
        -dx * dx / (r * r * r),
        -dy * dy / (r * r * r),
        dx * dy / (r * r * r),
        dy * dy / (r * r * r),
        -dx * dy / (r * r * r),
        dx * dy / (r * r * r),
        -dx * dx / (r * r * r),
        -dx * dy / (r * r * r),
        dx * dx / (r * r * r),
    };
    for (int k = 0; k < 21; k++)
        check_near("value, gradient, Hessian", value_of(g, root[k], at), expected[k], 4e-16);
    for (int k = 0; k < 21; k++)
        check_near("at length 0", value_of(g, root[k], zero), 0.0, 0.0);
    taut_graph_destroy(g);
}

/* Derivatives at points where a careless rule gives NaN. */
static void test_corners(void)
{
    check_group("corners");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t x = taut_graph_input(g, 0), y = taut_graph_input(g, 1), z = num(g, 0);
    int32_t positive = op2(g, TAUT_OP_LT, z, x), root_x = op1(g, TAUT_OP_SQRT, x);
    int32_t xlogx = op2(g, TAUT_OP_MUL, x, op1(g, TAUT_OP_LOG, x));
    int32_t inner = taut_graph_select(g, positive, xlogx, op1(g, TAUT_OP_NEG, x));
    const struct {
        const char *what;
        int32_t f;
        double x, y, dx, dy;
    } rows[] = {
        {"x^1.5 at 0", op2(g, TAUT_OP_POW, x, num(g, 1.5)), 0, 0, 0, 0},
        {"x^3 at 0", op2(g, TAUT_OP_POW, x, num(g, 3)), 0, 0, 0, 0},
        {"x^20 at 0", op2(g, TAUT_OP_POW, x, num(g, 20)), 0, 0, 0, 0},
        {"x^y at x = 0, y = 2", op2(g, TAUT_OP_POW, x, y), 0, 2, 0, 0},
        {"x^y at x = 0, y = 1", op2(g, TAUT_OP_POW, x, y), 0, 1, 1, 0},
        {"2^y", op2(g, TAUT_OP_POW, num(g, 2), y), 0, 3, 0, 8 * log(2)},
        {"0^y", op2(g, TAUT_OP_POW, z, y), 0, 3, 0, 0},
        {"if(x>0, sqrt(x), 0) outside", taut_graph_select(g, positive, root_x, z), -1, 0, 0, 0},
        {"if(x>0, sqrt(x), 0) inside", taut_graph_select(g, positive, root_x, z), 4, 0, 0.25, 0},
        {"if(x>0, x log x, 0) at 0", taut_graph_select(g, positive, xlogx, z), 0, 0, 0, 0},
        {"if(x>0, x log x, -x) at 0", inner, 0, 0, -1, 0},
        {"if(x>0, x log x, -x) at 1", inner, 1, 0, 1, 0},
        {"y * if(x>0, x log x, -x) at -2", op2(g, TAUT_OP_MUL, y, inner), -2, 3, -3, 2},
        {"if(y, nested, x) at x = -1", taut_graph_select(g, y, inner, x), -1, 1, -1, 0},
        {"if(y, nested, x) else", taut_graph_select(g, y, inner, x), -1, 0, 1, 0},
        {"max(0, x)^1.5 at -1", op2(g, TAUT_OP_POW, op2(g, TAUT_OP_MAX, z, x), num(g, 1.5)), -1, 0,
         0, 0},
        {"sqrt(max(x, 0)) * x at 4",
         op2(g, TAUT_OP_MUL, op1(g, TAUT_OP_SQRT, op2(g, TAUT_OP_MAX, x, z)), x), 4, 0, 3, 0},
        {"abs at 0", op1(g, TAUT_OP_ABS, x), 0, 0, 0, 0},
        {"length(x, y) at 0",
         op1(g, TAUT_OP_ROOT,
             op2(g, TAUT_OP_ADD, op2(g, TAUT_OP_MUL, x, x), op2(g, TAUT_OP_MUL, y, y))),
         0, 0, 0, 0},
        {"hypot at 0", op2(g, TAUT_OP_HYPOT, x, y), 0, 0, 0, 0},
    };
    const int32_t slots[2] = {0, 1};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        int32_t gradient[2];
        double at[2] = {rows[k].x, rows[k].y};
        taut_graph_gradient(g, rows[k].f, 2, slots, gradient, NULL);
        /* the evaluator here has no hypot: look at the form */
        if (strncmp(rows[k].what, "hypot", 5) == 0) {
            check_row(count_below(g, gradient, 2, TAUT_OP_DIVZ) == 1, "%s: one guarded division",
                      rows[k].what);
            continue;
        }
        check_near(rows[k].what, value_of(g, gradient[0], at), rows[k].dx,
                   1e-15 * (1 + fabs(rows[k].dx)));
        check_near(rows[k].what, value_of(g, gradient[1], at), rows[k].dy,
                   1e-15 * (1 + fabs(rows[k].dy)));
        for (int j = 0; j < 2; j++) {
            int32_t one = num(g, 1),
                    forward = taut_graph_derivative(g, rows[k].f, 1, &slots[j], &one);
            check_near(rows[k].what, value_of(g, forward, at), j ? rows[k].dy : rows[k].dx,
                       1e-15 * (1 + fabs(j ? rows[k].dy : rows[k].dx)));
        }
    }
    int32_t log_free[1];
    taut_graph_gradient(g, op2(g, TAUT_OP_POW, x, y), 1, slots, log_free, NULL);
    check_equal("no log in d(x^y)/dx", count_below(g, log_free, 1, TAUT_OP_LOG), 0);
    taut_graph_destroy(g);
}

static void test_sweeps(void)
{
    check_group("sweeps");
    taut_graph *g = taut_graph_create(NULL, LIMIT);
    int32_t x = taut_graph_input(g, 3), y = taut_graph_input(g, 7), unused = taut_graph_input(g, 9);
    int32_t f = op2(g, TAUT_OP_MUL, op1(g, TAUT_OP_SIN, x), y);
    int32_t slots[5] = {7, 3, 9, 1000, 7}, gradient[5];
    check_equal("gradient", taut_graph_gradient(g, f, 5, slots, gradient, NULL), 0);
    check_same("d/dy", g, gradient[0], op1(g, TAUT_OP_SIN, x));
    check_same("d/dx", g, gradient[1], op2(g, TAUT_OP_MUL, op1(g, TAUT_OP_COS, x), y));
    check_same("an input that is not below", g, gradient[2], num(g, 0));
    check_same("a slot that the graph has not", g, gradient[3], num(g, 0));
    check_same("a slot named twice", g, gradient[4], gradient[0]);
    check_same("gradient of an input", g,
               (taut_graph_gradient(g, x, 1, &slots[1], gradient, NULL), gradient[0]), num(g, 1));
    check_same("gradient of a constant", g,
               (taut_graph_gradient(g, num(g, 5), 1, &slots[1], gradient, NULL), gradient[0]),
               num(g, 0));

    /* forward with two seeds for one slot: d/dx (u + w) */
    int32_t twice[2] = {3, 3}, seeds[2] = {unused, y};
    int32_t d = taut_graph_derivative(g, f, 2, twice, seeds);
    int32_t sum = op2(g, TAUT_OP_MUL, op2(g, TAUT_OP_ADD, unused, y), op1(g, TAUT_OP_COS, x));
    check_same("seeds add up", g, d, op2(g, TAUT_OP_MUL, sum, y));
    taut_graph_destroy(g);
}

static void test_limit(void)
{
    check_group("limit");
    taut_graph *g = taut_graph_create(NULL, 100);
    int32_t last = build_wide(g, 1000), slot = 0, gradient = 0;
    taut_error error;
    check_equal("poisoned root", last, -1);
    check_equal("size stays within", taut_graph_size(g), 100);
    check_equal("status", taut_graph_status(g, &error), TAUT_ERROR_SIZE);
    check_contains("message", error.message, "more than 100");
    check_equal("sticky, even for a node that exists", taut_graph_input(g, 0), -1);
    check_equal("operations on -1", op2(g, TAUT_OP_ADD, -1, 3), -1);
    check_equal("gradient tells", taut_graph_gradient(g, 0, 1, &slot, &gradient, NULL),
                TAUT_ERROR_SIZE);
    check_equal("gradient is -1", gradient, -1);
    check_equal("derivative is -1", taut_graph_derivative(g, 0, 1, &slot, &slot), -1);
    check_equal("select of -1", taut_graph_select(g, -1, 0, 0), -1);
    taut_graph_destroy(g);
    taut_graph_destroy(NULL);
}

static int exercise(const taut_allocator *allocator)
{
    taut_graph *g = taut_graph_create(allocator, LIMIT);
    if (!g)
        return TAUT_ERROR_MEMORY;
    int32_t slot = 0, gradient = -1, second = -1;
    int32_t root = build_wide(g, 3000);
    taut_graph_gradient(g, root, 1, &slot, &gradient, NULL);
    int status = taut_graph_gradient(g, gradient, 1, &slot, &second, NULL);
    if (status == 0 && second < 0)
        status = TAUT_ERROR_USAGE; /* would be a lie */
    if (status == 0)
        status = taut_graph_status(g, NULL);
    taut_graph_destroy(g);
    return status;
}

static void test_memory(void)
{
    check_group("memory");
    for (int lasting = 0; lasting < 2; lasting++) {
        int64_t k = 1;
        for (int status = TAUT_ERROR_MEMORY; status && k < 1000; k++) {
            faulty state = {.fail = k, .lasting = lasting};
            taut_allocator allocator = faulty_allocator(&state);
            status = exercise(&allocator);
            check_row(status == (state.failed ? TAUT_ERROR_MEMORY : 0),
                      "allocation %d fails: status %d", (int)k, status);
            check_row(state.live == 0, "allocation %d fails: %d blocks leak", (int)k,
                      (int)state.live);
        }
        check_row(k > 5 && k < 1000, "succeeds in the end, after %d", (int)k);
    }
}

static void test_curve(void)
{
    check_group("curve");
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    double y[40];
    for (int k = 0; k < 40; k++)
        y[k] = sin(0.2 * k) + 0.1 * k;
    const taut_curve *curve = NULL;
    check_equal("create", taut_curve_create(&arena, 40, y, &curve, NULL), 0);
    for (int k = 0; k < 40; k++)
        check_near("through the values", taut_curve_value(curve, 0, k + 1.0), y[k], 1e-15);
    /* value and two derivatives continuous at every knot, ends included; derivatives agree with
     * differences between knots */
    for (int k = 1; k <= 40; k++)
        for (int d = 0; d < 3; d++)
            check_near("continuous", taut_curve_value(curve, d, nextafter(k, 0)),
                       taut_curve_value(curve, d, nextafter(k, 99)), 1e-13);
    for (double x = -1.7; x < 44; x += 0.61)
        for (int d = 0; d < 3; d++) {
            double h = 1e-3,
                   slope = (taut_curve_value(curve, d, x + h) - taut_curve_value(curve, d, x - h)) /
                           (2 * h);
            if (fabs(x - round(x)) > h)
                check_near("derivative", taut_curve_value(curve, d + 1, x), slope, 1e-7);
        }
    /* inside, where the ends are not felt, the spline is close to the function: h^4
     * max|y''''|/384 = 4.2e-6 */
    for (double x = 12; x < 28; x += 0.13)
        check_near("accuracy", taut_curve_value(curve, 0, x), sin(0.2 * (x - 1)) + 0.1 * (x - 1),
                   8e-6);
    check_near("linear before", taut_curve_value(curve, 0, -4),
               y[0] - 5 * taut_curve_value(curve, 1, 1), 1e-14);
    check_near("linear after", taut_curve_value(curve, 0, 50),
               y[39] + 10 * taut_curve_value(curve, 1, 40), 1e-14);
    check_near("no curvature outside",
               taut_curve_value(curve, 2, 60) + taut_curve_value(curve, 3, -1), 0, 0);
    check_row(isnan(taut_curve_value(curve, 0, NAN)), "NaN passes");
    check_near("fourth derivative", taut_curve_value(curve, 4, 2.5), 0, 0);

    const double few[3] = {2, 5, 8};
    const taut_curve *one = NULL, *two = NULL, *line = NULL;
    taut_error error;
    check_equal("one value", taut_curve_create(&arena, 1, few, &one, NULL), 0);
    check_near("is constant", taut_curve_value(one, 0, 7.5), 2, 0);
    check_equal("two values", taut_curve_create(&arena, 2, few, &two, NULL), 0);
    check_near("are a line", taut_curve_value(two, 0, 1.5), 3.5, 1e-15);
    check_equal("three on a line", taut_curve_create(&arena, 3, few, &line, NULL), 0);
    check_near("stay a line", taut_curve_value(line, 0, 2.75), 2 + 3 * 1.75, 1e-14);
    check_equal("no value", taut_curve_create(&arena, 0, few, &line, &error), TAUT_ERROR_USAGE);

    taut_graph *g = taut_graph_create(NULL, LIMIT);
    double folded = 0;
    check_row(taut_graph_is_constant(g, taut_graph_curve(g, curve, 0, num(g, 2.25)), &folded),
              "folds");
    check_near("folded", folded, taut_curve_value(curve, 0, 2.25), 0);
    int32_t x = taut_graph_input(g, 0), slot = 0, d = taut_graph_curve(g, curve, 0, x);
    check_same("shared", g, taut_graph_curve(g, curve, 0, x), d);
    for (int k = 1; k <= 3; k++) {
        taut_graph_gradient(g, d, 1, &slot, &d, NULL);
        check_same("derivative", g, d, taut_graph_curve(g, curve, k, x));
    }
    taut_graph_gradient(g, d, 1, &slot, &d, NULL);
    check_same("beyond the third", g, d, num(g, 0));
    taut_graph_destroy(g);
    taut_arena_clear(&arena);
}

int main(void)
{
    test_simplifications();
    test_powers();
    test_folding();
    test_sharing();
    test_depth();
    test_bond();
    test_corners();
    test_sweeps();
    test_limit();
    test_memory();
    test_curve();
    return check_done();
}
