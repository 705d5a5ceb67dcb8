/* test_compose.c - compositions of Verlet and RATTLE of order 4, 6 and 8, Lobatto IIIA-IIIB pairs
 * of order 4 and 6, and SHAKE: observed orders in q, v and lambda, symmetry, rigid bonds at
 * rounding, energy, limits of stability, counts. */
#include <float.h>

#include "base/vectors.h"
#include "support/rig.h"

/* Pendulum of length 1 released from the horizontal, at t = 1 [B (1.1), eps = 0] */
static const char pendulum[] = "[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nrod = sqrt(y1^2 + "
                               "y2^2) - 1\n[start]\ny1 = 1\n";
static const char oscillator[] = "[coordinates]\nx\n[potential]\n50*x^2\n[start]\nx = 1\n";
/* the same with a mass matrix: M = [2 1; 1 2] on x = y is 3 */
static const char matrix[] = "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[potential]\n"
                             "6*(x^2 + y^2)\n[bonds]\nrod = x - y\n[start]\nx = 1, y = 1\n";

typedef struct error_of {
    double q, v, lambda;
} error_of;

static error_of errors(const char *method, const char *model, int steps)
{
    error_of e = {NAN, NAN, NAN};
    rig r;
    rig_create(&r, &(rig_how){.model = model, .method = method});
    rig_run(&r, 1, steps);
    if (rig_good(method, &r)) {
        bool free = model == oscillator, full = model == matrix;
        e.q = fabs(r.s.now.q[0] - (free ? cos(10) : full ? cos(2) : .87954813241188915462));
        e.v = fabs(r.s.now.v[0] - (free   ? -10 * sin(10)
                                   : full ? -2 * sin(2)
                                          : -.46415735885099401163));
        e.lambda = r.s.m > 0 ? fabs(r.s.now.lambda[0] - (full ? 0 : 1.427429768828162)) : 0;
    }
    rig_destroy(&r);
    return e;
}

/* Steps are chosen so that both errors are far above rounding. */
static void test_orders(void)
{
    static const struct {
        const char *method, *model;
        int order, steps;
    } rows[] = {{"verlet4", oscillator, 4, 20},     {"verlet6", oscillator, 6, 12},
                {"verlet8", oscillator, 8, 8},      {"rattle4", pendulum, 4, 10},
                {"rattle6", pendulum, 6, 5},        {"rattle8", pendulum, 8, 3},
                {"rattle4", matrix, 4, 10},         {"rattle8", oscillator, 8, 8},
                {"shake", pendulum, 2, 40},         {"shake", matrix, 2, 40},
                {"lobatto-ab4", pendulum, 4, 10},   {"lobatto-ab6", pendulum, 6, 4},
                {"lobatto-ab4", matrix, 4, 10},     {"lobatto-ab6", matrix, 6, 4},
                {"lobatto-ab4", oscillator, 4, 20}, {"lobatto-ab6", oscillator, 6, 12}};
    check_group("orders");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        error_of a = errors(rows[k].method, rows[k].model, rows[k].steps),
                 b = errors(rows[k].method, rows[k].model, 2 * rows[k].steps);
        double q = log2(a.q / b.q), v = log2(a.v / b.v);
        check_row(q > rows[k].order - 0.35 && q < rows[k].order + 1.2, "%s: order %.2f in q, %g",
                  rows[k].method, q, b.q);
        check_row(v > rows[k].order - 0.35 && v < rows[k].order + 1.2, "%s: order %.2f in v, %g",
                  rows[k].method, v, b.v);
        if (rows[k].model == pendulum)
            check_row(log2(a.lambda / b.lambda) > rows[k].order - 0.5, "%s: order %.2f in lambda",
                      rows[k].method, log2(a.lambda / b.lambda));
    }
}

static const char *const composed[] = {"rattle4", "rattle6", "rattle8", "lobatto-ab4",
                                       "lobatto-ab6"};
static const int stages[] = {5, 9, 17}, most_evaluations[] = {9, 16}; /* of a step */

/* Double pendulum: there and back, bonds at rounding; compositions evaluate once for each inner
 * step, Lobatto pairs at inner stages until these converge. */
static void test_reversal(void)
{
    check_group("reversal");
    for (int k = 0; k < 5; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = "double_pendulum",
                                  .set = {"lift=0"},
                                  .method = composed[k],
                                  .rigid = true});
        double first[4], p, v;
        taut_copy(r.code == 0 ? 4 : 0, r.s.now.q, first);
        rig_run(&r, 2, 40);
        if (rig_good(composed[k], &r)) {
            rig_drift(&r, &p, &v);
            check_below("rods", p, 1e-15);
            check_below("their rates", v, 4e-15);
            if (k < 3)
                check_equal("evaluations", r.statistics.force_evaluations, 40 * stages[k] + 1);
            else
                check_below(composed[k], r.statistics.force_evaluations / 40.0,
                            most_evaluations[k - 3]);
            check_equal("factorisations", r.statistics.factorisations,
                        40 * (k < 3 ? stages[k] : 1) + 1);
            check_equal("steps", r.statistics.steps, 40);
            check_near("time", r.s.last.t, 2 - 0.05, 1e-14);
            rig_run(&r, 0, 40);
            check_below("back", hypot(r.s.now.q[0] - first[0], r.s.now.q[3] - first[3]), 1e-13);
        }
        rig_destroy(&r);
    }
}

/* x'' = -100 x over 4000 steps: bounded just below the limit of the table, growing above it. */
static void test_stability(void)
{
    static const char *const names[] = {"verlet4", "verlet6",     "verlet8",
                                        "verlet",  "lobatto-ab4", "lobatto-ab6"};
    check_group("stability");
    for (int k = 0; k < 6; k++)
        for (int above = 0; above < 2; above++) {
            rig r;
            rig_create(&r, &(rig_how){.model = oscillator, .method = names[k]});
            double h = r.s.method->stability / 10 * (above ? 1.01 : 0.998), most = 0;
            for (int n = 1; n <= 4000 && r.code == 0; n++) {
                rig_run(&r, n * h, 1);
                most = fmax(most, fabs(r.s.now.q[0]));
            }
            check_row(above ? most > 1e3 : most < 1e3, "%s at %g of its limit: %g", names[k],
                      above ? 1.01 : 0.998, most);
            rig_destroy(&r);
        }
}

/* Energy of the pendulum over 1000 periods by Lobatto pairs: the error of the last periods is that
 * of the first ones. */
static void test_energy(void)
{
    check_group("energy");
    for (int k = 3; k < 5; k++) {
        double most[2] = {0};
        rig r;
        rig_create(&r, &(rig_how){.model = pendulum, .method = composed[k], .rigid = true});
        const int steps = 60000;
        const double h = 0.125;
        for (int n = 1; n <= steps && r.code == 0; n++) {
            rig_run(&r, n * h, 1);
            const double *q = r.s.now.q, *v = r.s.now.v;
            double energy = (v[0] * v[0] + v[1] * v[1]) / 2 + q[1];
            bool late = n > steps - 1000;
            if (n <= 1000 || late)
                most[late] = fmax(most[late], fabs(energy));
        }
        check_row(r.code == 0 && most[1] < 1.02 * most[0] && most[1] < (k == 3 ? 1e-3 : 1e-5),
                  "%s: energy off by %.3g, later %.3g", composed[k], most[0], most[1]);
        rig_destroy(&r);
    }
}

/* SHAKE: RATTLE's positions; velocities off the bonds by h^2. */
static void test_shake(void)
{
    check_group("shake");
    double off[2];
    for (int k = 0; k < 2; k++) {
        rig a, b;
        double p, v, most = 0;
        int steps = 100 << k;
        rig_create(&a, &(rig_how){.model = "double_pendulum",
                                  .set = {"lift=0"},
                                  .method = "rattle",
                                  .rigid = true});
        rig_create(&b, &(rig_how){.model = "double_pendulum",
                                  .set = {"lift=0"},
                                  .method = "shake",
                                  .rigid = true});
        rig_run(&a, 1, steps);
        rig_run(&b, 1, steps);
        if (rig_good("rattle", &a) && rig_good("shake", &b)) {
            for (int i = 0; i < 4; i++)
                most = fmax(most, fabs(a.s.now.q[i] - b.s.now.q[i]));
            check_below("positions of rattle", most, 1e-12);
            rig_drift(&b, &p, &v);
            check_below("rods", p, 1e-15);
            off[k] = v;
            check_equal("evaluations", b.statistics.force_evaluations, steps + 1);
            check_row(b.statistics.solves - b.statistics.newton_iterations <= 2,
                      "no solve for velocities: %d", (int)b.statistics.solves);
        }
        rig_destroy(&a);
        rig_destroy(&b);
    }
    check_row(off[0] / off[1] > 3.5 && off[0] / off[1] < 4.5, "G v: %g, %g", off[0], off[1]);
}

/* 100,000 links: each step converges to rounding of coordinates of size 1e5. */
static void test_chain(void)
{
    check_group("chain of 100,000 links");
    rig r;
    rig_create(
        &r, &(rig_how){.model = "chain", .set = {"N=100000"}, .method = "rattle4", .rigid = true});
    rig_run(&r, 0.02, 2);
    if (rig_good("rattle4", &r)) {
        double p, v;
        rig_drift(&r, &p, &v);
        check_below("rods", p, 1e5 * 4 * DBL_EPSILON);
        check_below("their rates", v, 1e-11);
        check_below("iterations of a step", (double)r.statistics.newton_iterations / 10, 6);
        check_row(isfinite(r.s.now.lambda[0]) && r.s.now.lambda[50000] != 0, "multipliers");
    }
    rig_destroy(&r);
}

int main(void)
{
    test_orders();
    test_reversal();
    test_stability();
    test_energy();
    test_shake();
    test_chain();
    return check_done();
}
