/* test_rattle.c - RATTLE: order 2 on rigid bonds, rigid bonds at rounding, reversal, energy;
 * springs, mass matrices and moving rigid bonds; counts. */
#include <float.h>

#include "support/rig.h"
#include "base/vectors.h"

/* Rigid double pendulum from (31)-(32) of [A] at t = 10, from the equations in the two angles by
 * extrapolated midpoint steps in 34 digits (T = a'^2 + b'^2/2 + a' b' cos(a - b)). The slow
 * solution of omega = 1e4 differs by less than 1e-6 [docs/sources.md, A, figure 2]. */
static const double folded[8] = {0.99934375713186321,  -0.036222300887320576, 0.66152386461392287,
                                 0.90498847264811194,  0.0010988276061174403, 0.030315758011993110,
                                 -0.67390902195224277, -0.21195843348501582};

static double distance(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Figure 2 of [A]: H = 1/8, 1/16, 1/32, 1/64 [docs/sources.md, A]. */
static void test_figure_2(void)
{
    static const double expected[4] = {2.80e-2, 6.93e-3, 1.73e-3, 4.32e-4};
    check_group("figure 2 of [A]");
    for (int k = 0; k < 4; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = "double_pendulum",
                                  .set = {"lift=0"},
                                  .method = "rattle",
                                  .rigid = true});
        int steps = 80 << k;
        rig_run(&r, 10, steps);
        if (rig_good("run", &r)) {
            double p, v;
            check_near("error of q", distance(r.s.now.q, folded, 4), expected[k],
                       0.005 * expected[k]);
            rig_drift(&r, &p, &v);
            check_below("rods", p, 4e-16);
            check_below("their rates", v, 1e-15);
            check_equal("a force evaluation a step", r.statistics.force_evaluations, steps + 1);
            check_equal("a factorisation a step", r.statistics.factorisations, steps + 1);
            check_below("iterations a step", (double)r.statistics.newton_iterations / steps, 10);
        }
        rig_destroy(&r);
    }
}

/* Analytic motions; the error shrinks as h^2 in q, v and lambda. */
static void test_orders(void)
{
    static const struct {
        const char *name, *model;
        double q, v, lambda; /* first entries at t = 1; NaN: no bond */
    } rows[] = {
        {"pendulum [B (1.1), eps = 0]",
         "[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nrod = sqrt(y1^2 + y2^2) - "
         "1\n[start]\ny1 = 1\n",
         .87954813241188915462, -.46415735885099401163, 1.427429768828162},
        {"no bonds", "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n", 0.54030230586813977,
         -0.8414709848078965, NAN},
        {"rod and spring",
         "[coordinates]\nx, y\n[bonds]\nrod = y - x - 1\nspring = x stiffness 2\n[start]\nx = 1, y "
         "= 2\n",
         0.54030230586813977, -0.8414709848078965, 0.54030230586813977},
        {"mass matrix and rod",
         "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[potential]\n6*(x^2 + "
         "y^2)\n[bonds]\nrod = x - y\n[start]\nx = 1, y = 1\n",
         -0.41614683654714241, -1.8185948536513634, 0},
        /* pendulum of length 1 on the unit circle with a turning anchor: q = (cos t, sin t)
         * exactly prescribed */
        {"moving rods",
         "[coordinates]\nx, y\n[bonds]\na = x - cos(t)\nb = (y - x*tan(t))*cos(t)\n[start]\nx = 1, "
         "y' = 1\n",
         0.54030230586813977, -0.8414709848078965, NAN},
    };
    check_group("order 2");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double e[2];
        for (int j = 0; j < 2; j++) {
            rig r;
            rig_create(&r, &(rig_how){.model = rows[k].model, .method = "rattle"});
            rig_run(&r, 1, 64 << j);
            e[j] = NAN;
            if (rig_good(rows[k].name, &r)) {
                e[j] = fabs(r.s.now.q[0] - rows[k].q) + fabs(r.s.now.v[0] - rows[k].v);
                if (!isnan(rows[k].lambda))
                    check_near("lambda", r.s.now.lambda[0], rows[k].lambda, 2e-4);
            }
            rig_destroy(&r);
        }
        bool exact = strcmp(rows[k].name, "moving rods") == 0;
        if (exact)
            check_below(rows[k].name, e[0] + e[1], 1e-13);
        else
            check_near(rows[k].name, log2(e[0] / e[1]), 2, 0.05);
        check_below(rows[k].name, e[1], 1e-3);
    }
}

/* Forth and back. */
static void test_reversal(void)
{
    check_group("time reversal");
    static const char *models[] = {
        "double_pendulum",
        "[coordinates]\nx1, y1, x2, y2\n[mass]\nx1 = 2, y1 = 2\n[potential]\n2*y1 + y2 + "
        "x2^2\n[bonds]\n"
        "a = sqrt(x1^2 + y1^2) - 1\nb = (x1 - x2)^2 + (y1 - y2)^2 - 1\n[start]\nx1 = 1, x2 = 2\n"};
    for (int k = 0; k < 2; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = models[k],
                                  .set = {k ? NULL : "lift=0"},
                                  .method = "rattle",
                                  .rigid = true});
        if (rig_good("create", &r)) {
            double begin[8], there[4];
            memcpy(begin, r.s.now.q, 4 * sizeof(double));
            memcpy(begin + 4, r.s.now.v, 4 * sizeof(double));
            rig_run(&r, 2, 128);
            memcpy(there, r.s.now.q, sizeof there);
            rig_run(&r, 0, 128);
            rig_good("run", &r);
            check_row(distance(there, begin, 4) > 0.1, "it has moved by %g",
                      distance(there, begin, 4));
            check_below("q", distance(r.s.now.q, begin, 4), 2e-12);
            check_below("v", distance(r.s.now.v, begin + 4, 4), 2e-12);
        }
        rig_destroy(&r);
    }
}

/* 50000 steps of a swinging pendulum: the energy error is O(h^2) and does not grow. */
static void test_energy(void)
{
    check_group("energy");
    rig r;
    rig_create(&r, &(rig_how){.model = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = "
                                       "sqrt(x^2 + y^2) - 1\n[start]\nx = 1\n",
                              .method = "rattle"});
    double early = 0, late = 0;
    for (int k = 0; k < 500 && r.code == 0; k++) {
        rig_run(&r, 5. * (k + 1), 100);
        double energy =
            (r.s.now.v[0] * r.s.now.v[0] + r.s.now.v[1] * r.s.now.v[1]) / 2 + r.s.now.q[1];
        if (k < 100)
            early = fmax(early, fabs(energy));
        if (k >= 400)
            late = fmax(late, fabs(energy));
    }
    rig_good("run", &r);
    check_below("energy error", fmax(early, late), 2e-3);
    check_row(early > 1e-6 && late < 1.1 * early,
              "no growth: %g in the first fifth, %g in the last", early, late);
    rig_destroy(&r);
}

/* Long steps: the simplified iteration is slow, Newton's own takes over; beyond reach, a
 * sentence. */
static void test_long_steps(void)
{
    check_group("long steps");
    static const char model[] =
        "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1, y' = 1\n";
    rig r;
    rig_create(&r, &(rig_how){.model = model, .method = "rattle"});
    rig_run(&r, 0.9 * 20, 20);
    if (rig_good("h = 0.9", &r)) {
        /* free motion on a circle: every step turns by the angle whose sine is h v */
        double angle = 20 * asin(0.9);
        check_near("x", r.s.now.q[0], cos(angle), 1e-13);
        check_near("y", r.s.now.q[1], sin(angle), 1e-13);
        check_row(r.statistics.factorisations > 21, "Newton's matrix was factorised: %d",
                  (int)r.statistics.factorisations);
        check_below("iterations a step", (double)r.statistics.newton_iterations / 20, 10);
    }
    rig_destroy(&r);
    rig_create(&r, &(rig_how){.model = model, .method = "rattle"});
    check_equal("h = 1.5", rig_run(&r, 1.5, 1), TAUT_ERROR_CONVERGE);
    check_contains("h = 1.5", r.error.message, "smaller step size");
    rig_destroy(&r);
}

/* A whipping chain, whose multipliers change fast: what is foreseen and where the iteration ends
 * must not show in the rigid bonds, after steps of other lengths and after someone altered the
 * state neither. Rounding: g is a difference of numbers up to 20. */
static void test_whip(void)
{
    check_group("whipping chain");
    rig r;
    rig_create(&r,
               &(rig_how){.model = "chain", .set = {"N=20"}, .method = "rattle", .rigid = true});
    double worst = 0, rate = 0, p, v;
    for (int k = 1; k <= 100; k++) {
        rig_run(&r, 0.1 * k, k % 10 == 0 ? 13 : 10);
        if (k % 25 == 0)
            r.s.method->changed(&r.s);
        rig_drift(&r, &p, &v);
        worst = fmax(worst, p);
        rate = fmax(rate, v);
    }
    if (rig_good("run", &r)) {
        check_below("rods", worst, 4 * DBL_EPSILON * 20);
        check_below("their rates", rate, 4 * DBL_EPSILON * 20 * taut_largest(40, r.s.now.v));
        check_below("iterations a step",
                    (double)r.statistics.newton_iterations / (double)r.statistics.steps, 4);
    }
    rig_destroy(&r);
}

/* Multipliers: those of the acceleration at any state; a chain at rest hangs from link k by the
 * weight of what is below. */
static void test_multipliers(void)
{
    check_group("multipliers");
    rig r;
    rig_create(&r,
               &(rig_how){.model = "chain", .set = {"N=10"}, .method = "rattle", .rigid = true});
    if (rig_good("create", &r)) {
        double q[20], v[20] = {0}, lambda[10];
        for (int i = 0; i < 10; i++) {
            q[2 * i] = 0;
            q[2 * i + 1] = -(i + 1);
        }
        check_equal("call", r.s.method->multipliers(&r.s, 0, q, v, lambda, &r.error), 0);
        for (int i = 0; i < 10; i++)
            check_near("weight below", lambda[i], 10 - i, 1e-13);
        check_equal("not counted", r.statistics.force_evaluations, 0);
    }
    rig_destroy(&r);
}

/* 10,000 links, released at rest: rigid bonds at the rounding of coordinates of size 1e4, energy
 * kept, the banded solver. */
static void test_chain(void)
{
    static const struct {
        const char *method, *field, *stabilize;
        double h;
        int steps;
    } rows[] = {{"rattle", NULL, NULL, 0.01, 40}, {"dop8", "rigid", "post", 0.1, 10}};
    check_group("chain of 10,000 links");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = "chain",
                                  .set = {"N=10000"},
                                  .method = rows[k].method,
                                  .field = rows[k].field,
                                  .stabilize = rows[k].stabilize,
                                  .rigid = true});
        const int steps = rows[k].steps;
        rig_run(&r, steps * rows[k].h, steps);
        if (rig_good(rows[k].method, &r)) {
            double p, v;
            taut_values values = {.size = sizeof values};
            rig_drift(&r, &p, &v);
            check_below("rods", p, 1e-11);
            check_below("their rates", v, 1e-11);
            check_equal("energy",
                        taut_evaluate(r.context, r.s.now.t, r.s.now.q, r.s.now.v, TAUT_WANT_ENERGY,
                                      &values, &r.error),
                        0);
            /* the free end has fallen by about t^2/2 */
            double t = steps * rows[k].h;
            check_near("the end falls", r.s.now.q[19999], -t * t / 2, 0.02 * t * t);
            check_near("energy", values.kinetic + values.potential, 0, 1e-3 * values.kinetic);
            /* rounding, of coordinates up to 1e4, is not taken for slow convergence */
            check_equal("factorisations", r.statistics.factorisations,
                        k == 0 ? steps + 1 : 14 * steps + 1);
            check_below("iterations a step", (double)r.statistics.newton_iterations / steps, 2.8);
        }
        rig_destroy(&r);
    }
}

static void test_refusals(void)
{
    check_group("refusals");
    rig r;
    rig_create(
        &r,
        &(rig_how){
            .model = "[coordinates]\nx, y\n[mass]\ny = 0\n[potential]\nx^2\n[bonds]\nrod = y - x\n",
            .method = "rattle"});
    check_equal("massless", r.code, TAUT_ERROR_REFUSED);
    check_contains("massless", r.error.message, "that of 'y' is 0");
    rig_destroy(&r);
}

int main(void)
{
    test_figure_2();
    test_orders();
    test_reversal();
    test_energy();
    test_long_steps();
    test_whip();
    test_multipliers();
    test_chain();
    test_refusals();
    return check_done();
}
