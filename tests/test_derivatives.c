/* Values and derivatives of every operation against extended precision and extrapolated
 * differences of the same; on random graphs reverse against forward sweeps, against differences,
 * and second derivatives both ways. */
#include "support/operations.h"

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
        d[k] = (shifted(f, x, i, h, j, h) - shifted(f, x, i, h, j, -h) -
                shifted(f, x, i, -h, j, h) + shifted(f, x, i, -h, j, -h)) /
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
    bool covered[TAUT_OP_COUNT] = {
        [TAUT_OP_CONSTANT] = true, [TAUT_OP_INPUT] = true, [TAUT_OP_CURVE] = true};
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
                ulp = nextafter(fabs(x[0]), INFINITY) -
                      fabs(x[0]); /* it subtracts numbers of that size */
            check_row(fabs(value - exact) <= operations[o].ulps * ulp,
                      "%s(%g, %g, %g) = %.17g, expected %.17g", name, x[0], x[1], x[2], value,
                      exact);
            for (int i = 0; i < 3; i++) {
                double d = output(&r, 1 + i, 0),
                       expected = (double)difference(operations[o].value, x, i);
                check_row(fabs(d - expected) <= 1e-10 * (1 + fabs(expected)),
                          "derivative %d of %s(%g, %g, %g) = %.17g, expected %.17g", i, name, x[0],
                          x[1], x[2], d, expected);
                for (int j = 0; j < 3; j++) {
                    double dd = output(&r, 4 + 3 * i + j, 0),
                           second = (double)second_difference(operations[o].value, x, i, j);
                    check_row(fabs(dd - second) <= 1e-6 * (1 + fabs(second)),
                              "derivative %d%d of %s(%g, %g, %g) = %.17g, expected %.17g", i, j,
                              name, x[0], x[1], x[2], dd, second);
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
        check_row(taut_graph_size(g) - before <= 16 * before, "gradient adds %d nodes to %d",
                  (int)(taut_graph_size(g) - before), (int)before);
        node[INPUTS + 1] = taut_graph_derivative(g, node[0], INPUTS, slots, seeds);
        node[INPUTS + 2] = taut_graph_derivative(g, node[INPUTS + 1], INPUTS, slots, seeds);
        runner r = runner_open(g, INPUTS, INPUTS + 3, node, NULL, 1);
        run_at(&r, x);
        double reverse = 0, size = 0, forward = output(&r, INPUTS + 1, 0),
               second = output(&r, INPUTS + 2, 0);
        for (int k = 0; k < INPUTS; k++) {
            reverse += direction[k] * output(&r, 1 + k, 0);
            size += fabs(output(&r, 1 + k, 0));
        }
        check_near("reverse and forward", reverse, forward, 1e-11 * (1 + size));
        check_near("forward and differences", forward, tape_difference(&r, x, direction, 0),
                   1e-6 * (1 + size));
        check_near("second and differences of the first", second,
                   tape_difference(&r, x, direction, INPUTS + 1), 1e-5 * (1 + size + fabs(second)));

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

int main(void)
{
    test_operations();
    test_random_graphs();
    return check_done();
}
