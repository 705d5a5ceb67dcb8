/* test_verlet.c - velocity Verlet against its exact discrete solutions, its order,
 * reversibility, energy and costs. */
#include "support/families.h"
#include "support/run.h"

/* x'' = -omega^2 x in three ways: Verlet's solution is x_n = cos(n theta), v_n = -sin(n theta)
 * sin(theta)/h, 2 sin(theta/2) = h omega. */
static void test_discrete_solution(void)
{
    static const struct {
        const char *name, *model;
        double factor; /* lambda = factor x */
    } rows[] = {
        {"potential", "[coordinates]\nx\n[potential]\n50*x^2\n[start]\nx = 1\n", 0},
        {"force", "[coordinates]\nx\n[forces]\nx = -100*x\n[start]\nx = 1\n", 0},
        {"bond", "[coordinates]\nx\n[mass]\nx = 2\n[bonds]\ns = x stiffness 200\n[start]\nx = 1\n",
         200},
        {"compliance", "[coordinates]\nx\n[bonds]\ns = 2*x compliance 0.04\n[start]\nx = 1\n", 50},
        {"stiff potential",
         "[coordinates]\nx\n[stiff potential]\nx^2/2 scale 100\n[start]\nx = 1\n", 0},
        {"kinetic", "[coordinates]\nx\n[kinetic]\n1.5*x'^2\n[potential]\n150*x^2\n[start]\nx = 1\n",
         0},
    };
    check_group("verlet, discrete solution");
    double h = 0.125, omega = 10, theta = 2 * asin(h * omega / 2);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, "method=verlet step=0.125 until=25", NULL);
        if (driven_good(rows[k].name, &d)) {
            int code = taut_solver_advance(d.solver, 25, &d.error);
            check_row(code == 0, "%s: %s", rows[k].name, d.error.message);
            check_near(rows[k].name, taut_solver_position(d.solver)[0], cos(200 * theta), 1e-12);
            check_near(rows[k].name, taut_solver_velocity(d.solver)[0],
                       -sin(200 * theta) * sin(theta) / h, 1e-11);
            if (rows[k].factor != 0)
                check_near("lambda", taut_solver_multipliers(d.solver)[0],
                           rows[k].factor * cos(200 * theta), 1e-9);
        }
        driven_destroy(&d);
    }
}

/* M = [2 1; 1 2], potential 2 (x^2 + y^2): x + y and x - y are modes of frequency sqrt(4/3) and
 * 2. */
static void test_full_mass(void)
{
    check_group("verlet, constant mass matrix");
    driven d = driven_create("[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = "
                             "1\n[potential]\n2*(x^2 + y^2)\n[start]\nx = 1\n",
                             "method=verlet step=0.25 until=30", NULL);
    if (driven_good("run", &d)) {
        check_equal("advance", taut_solver_advance(d.solver, 30, &d.error), 0);
        double sum = cos(120 * 2 * asin(0.125 * sqrt(4. / 3))),
               difference = cos(120 * 2 * asin(0.125 * 2));
        const double *q = taut_solver_position(d.solver);
        check_near("sum", q[0] + q[1], sum, 1e-12);
        check_near("difference", q[0] - q[1], difference, 1e-12);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_equal("one factorisation", result.statistics.factorisations, 1);
        check_equal("a solve per evaluation", result.statistics.solves, 121);
    }
    driven_destroy(&d);
}

/* The moving spring q'' = -omega^2 (q - cos t): started on Verlet's own slow solution A_h cos t,
 * it stays there to rounding. [A (5)] */
static void test_moving_bond(void)
{
    check_group("verlet, moving bond");
    double h = 0.0625, omega = 20, a = pow(2 * sin(h / 2) / h, 2),
           amplitude = omega * omega / (omega * omega - a);
    char model[200];
    snprintf(model, sizeof model,
             "[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 400\n[start]\nq = %.17g\n",
             amplitude);
    driven d = driven_create(model, "method=verlet step=0.0625 until=100", NULL);
    if (driven_good("run", &d)) {
        check_equal("advance", taut_solver_advance(d.solver, 100, &d.error), 0);
        check_near("q", taut_solver_position(d.solver)[0], amplitude * cos(100), 1e-12);
        check_near("v", taut_solver_velocity(d.solver)[0], -amplitude * sin(100) * sin(h) / h,
                   1e-11);
        check_near("lambda", taut_solver_multipliers(d.solver)[0], 400 * (amplitude - 1) * cos(100),
                   1e-9);
    }
    driven_destroy(&d);
}

/* Observed order, from errors at three steps. */
typedef struct order_row {
    const char *name, *model;
    double until, q[2], v[2];
    double step;
} order_row;

static double error_at(const order_row *row, double step)
{
    char options[100];
    snprintf(options, sizeof options, "method=verlet step=%.17g until=%.17g", step, row->until);
    driven d = driven_create(row->model, options, NULL);
    double error = NAN;
    if (driven_good(row->name, &d) && taut_solver_advance(d.solver, row->until, &d.error) == 0) {
        const double *q = taut_solver_position(d.solver), *v = taut_solver_velocity(d.solver);
        error = hypot(hypot(q[0] - row->q[0], q[1] - row->q[1]),
                      hypot(v[0] - row->v[0], v[1] - row->v[1]));
    }
    driven_destroy(&d);
    return error;
}

static void test_order(void)
{
    static const order_row rows[] = {
        /* an ellipse of half-axis 1 comes back after 2 pi */
        {"kepler",
         "[coordinates]\nx, y\n[potential]\n-1/sqrt(x^2 + y^2)\n[start]\nx = 0.7, y' = sqrt(2/0.7 "
         "- 1)\n",
         6.28318530717958647692,
         {0.7, 0},
         {0, 1.3627702877384937},
         6.28318530717958647692 / 1000},
        /* smooth motion of the stiff spring pendulum: reference at t = 1, eps = 1e-2 [B (1.1);
         * docs/sources.md, B] */
        {"pendulum",
         "[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nspring = sqrt(y1^2 + y2^2) - 1 "
         "compliance 1e-4\n"
         "[start]\ny1 = 1 - 3e-8 - 54e-16\n",
         1,
         {.87970203199139791222, -.47582533536318366512},
         {-.46383765207953452227, -.85808022829804784066},
         1. / 512},
    };
    check_group("verlet, order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double e[3];
        for (int j = 0; j < 3; j++)
            e[j] = error_at(&rows[k], rows[k].step / (1 << j));
        check_below(rows[k].name, e[2], 1e-3);
        check_near(rows[k].name, log2(e[0] / e[1]), 2, 0.06);
        check_near(rows[k].name, log2(e[1] / e[2]), 2, 0.03);
    }
}

static const char pendulum[] =
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nspring = sqrt(x^2 + y^2) - 1 stiffness 400\n"
    "[start]\nx = 1.01, y' = -0.5\n";

/* Forth and back: only rounding remains. */
static void test_reversal(void)
{
    check_group("verlet, time reversal");
    driven d = driven_create(pendulum, "method=verlet step=0.015625 until=10", NULL);
    if (driven_good("run", &d)) {
        check_equal("forth", taut_solver_advance(d.solver, 10, &d.error), 0);
        check_row(fabs(taut_solver_position(d.solver)[0] - 1.01) > 0.1, "it has moved: x = %g",
                  taut_solver_position(d.solver)[0]);
        check_equal("back", taut_solver_advance(d.solver, 0, &d.error), 0);
        check_near("t", taut_solver_time(d.solver), 0, 0);
        check_near("x", taut_solver_position(d.solver)[0], 1.01, 1e-11);
        check_near("y", taut_solver_position(d.solver)[1], 0, 1e-11);
        check_near("x'", taut_solver_velocity(d.solver)[0], 0, 1e-11);
        check_near("y'", taut_solver_velocity(d.solver)[1], -0.5, 1e-11);
    }
    driven_destroy(&d);
}

static double largest_error(const kept *k, int from, int to)
{
    double largest = 0;
    for (int i = from; i < to; i++)
        largest = fmax(largest, fabs(k->energy[i] - k->energy[0]));
    return largest;
}

/* 10^5 steps: the energy error is bounded by (h omega)^2 times the energy of the spring, and
 * does not grow. */
static void test_energy(void)
{
    check_group("verlet, energy");
    static kept k;
    driven d = driven_create(pendulum, "method=verlet step=0.01 until=1000 every=0.1", NULL);
    if (driven_good("run", &d)) {
        taut_sink sink = kept_sink(&k);
        check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_equal("steps", result.statistics.steps, 100000);
        check_equal("rows", k.rows, 10001);
        double early = largest_error(&k, 0, 1000), late = largest_error(&k, 9000, 10001);
        check_below("energy error", fmax(early, late), 0.02);
        check_row(late < 1.5 * early && early > 1e-6,
                  "no growth: %g in the first tenth, %g in the last", early, late);
    }
    driven_destroy(&d);
}

static void test_counts(void)
{
    static const struct {
        const char *options;
        int64_t steps;
    } rows[] = {{"method=verlet step=0.01 until=1", 100},
                {"method=verlet step=0.01 until=1 every=0.003", 100},
                {"method=verlet step=0.03 until=1", 34},
                {"method=verlet step=0.01 until=-1", 100},
                {"method=verlet step=0.05 until=0.05", 1},
                {"method=verlet step=0.05 until=0.15", 3},
                {"method=verlet step=0.01 until=5", 500},
                {"method=verlet step=0.01 steps=7", 7},
                {"method=verlet step=0.05 until=0.02", 1},
                {"method=verlet step=0.001 until=1.0005", 1001}};
    check_group("verlet, counts");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        static kept rows_kept;
        faulty c = {0};
        taut_allocator allocator = faulty_allocator(&c);
        driven d = driven_create(pendulum, rows[k].options, &allocator);
        if (driven_good(rows[k].options, &d)) {
            int64_t calls = c.calls;
            taut_sink sink = kept_sink(&rows_kept);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      rows[k].options, d.error.message);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_equal(rows[k].options, result.statistics.steps, rows[k].steps);
            check_equal("force evaluations", result.statistics.force_evaluations,
                        rows[k].steps + 1);
            check_row(c.calls == calls && calls > 0, "%s: %d allocations while stepping",
                      rows[k].options, (int)(c.calls - calls));
        }
        driven_destroy(&d);
        check_equal("blocks left", c.live, 0);
    }
}

/* The same solution in families, whose points are kicked with their forces; and where these are so
 * large that their sum overflows, so that the step is made in the other way. */
static void test_families(void)
{
    static const struct {
        const char *name, *model, *options;
        double h, omega;
    } rows[] = {
        {"family",
         "[coordinates]\nx[i] for i in 1..40\n[mass]\nx[i] = i for i in 1..40\n[bonds]\n"
         "s[i] = x[i] for i in 1..40 stiffness 100*i\n[start]\nx[i] = 1 for i in 1..40\n",
         "method=verlet step=0.125 until=25", 0.125, 10},
        {"sum overflows",
         "[coordinates]\nx[i] for i in 1..40\n[bonds]\ns[i] = x[i] for i in 1..40 stiffness "
         "6.25e306\n[start]\nx[i] = 1 for i in 1..40\n",
         "motion=full method=verlet step=1e-154 until=2e-152", 1e-154, 2.5e153},
    };
    check_group("verlet, families");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const double h = rows[k].h, theta = 2 * asin(h * rows[k].omega / 2);
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].name, &d)) {
            int code = taut_solver_advance(d.solver, 200 * h, &d.error);
            check_row(code == 0, "%s: %s", rows[k].name, d.error.message);
            for (int i = 0; i < 40; i++) {
                check_near(rows[k].name, taut_solver_position(d.solver)[i], cos(200 * theta),
                           1e-11);
                check_near(rows[k].name, taut_solver_velocity(d.solver)[i] * h,
                           -sin(200 * theta) * sin(theta), 1e-11);
            }
        }
        driven_destroy(&d);
    }
}

/* A chain, whose first link is no member of the family, against dop8. */
static void test_chain(void)
{
    static const char *const settings[] = {
        "motion=full method=dop8 rtol=1e-9 until=0.3 verify=never",
        "motion=full method=verlet step=1e-3 until=0.3"};
    double end[2][FAMILY_MOST] = {0}, apart = 0;
    check_group("verlet, chain");
    for (int k = 0; k < 2; k++) {
        driven d = driven_create(family_plane, settings[k], NULL);
        if (driven_good(settings[k], &d)) {
            int code = taut_solver_advance(d.solver, 0.3, &d.error);
            check_row(code == 0, "%s: %s", settings[k], d.error.message);
            memcpy(end[k], taut_solver_position(d.solver), sizeof end[k]);
        }
        driven_destroy(&d);
    }
    for (int i = 0; i < FAMILY_MOST; i++)
        apart = fmax(apart, fabs(end[0][i] - end[1][i]));
    check_below("distance", apart, 1e-4);
    check_near("free fall of most bobs", end[1][FAMILY_MOST - 1], -0.045, 1e-3);
}

int main(void)
{
    test_discrete_solution();
    test_families();
    test_chain();
    test_full_mass();
    test_moving_bond();
    test_order();
    test_reversal();
    test_energy();
    test_counts();
    return check_done();
}
