/* test_radau.c - Radau IIA as users meet it: analytic solutions for everything that can hold a
 * system, steps that do not see the stiffness, adaptive step size, dense output. */
#include <complex.h>

#include "support/radau.h"

/* ---- everything that can hold a system, against analytic solutions */

typedef struct analytic {
    const char *name, *model, *motion;
    /* scale: of the allowed error, for the less accurate */
    double until, q[2], v[2], lambda, scale;
    int coordinates, bonds;
} analytic;

static void check_analytic(const analytic *rows, size_t count)
{
    for (size_t k = 0; k < count; k++)
        for (int order = 5; order <= 9; order += 4)
            for (int form = 0; form < 2; form++) {
                const analytic *x = &rows[k];
                char options[200];
                double q[KEPT_WIDTH], v[KEPT_WIDTH], lambda[KEPT_WIDTH] = {NAN}, off = 0, pull;
                snprintf(options, sizeof options,
                         "motion=%s method=radau%d newton=%s rtol=1e-9 atol=1e-10", x->motion,
                         order, form ? "tensor" : "stage");
                run(x->name, x->model, options, x->until, q, v, lambda);
                for (int i = 0; i < x->coordinates; i++)
                    off = fmax(off, fmax(fabs(q[i] - x->q[i]), fabs(v[i] - x->v[i])));
                pull = x->bonds ? fabs(lambda[0] - x->lambda) : 0;
                check_row(off < 1e-8 * x->scale && pull < 3e-5 * x->scale,
                          "%s, %s: off by %.3g, lambda by %.3g", x->name, options, off, pull);
            }
}

static void test_analytic_forces(void)
{
    check_group("radau, analytic solutions");
    const analytic rows[] = {
        {"parabola",
         "[coordinates]\nx\n[potential]\nx\n[start]\nx = 1, x' = 1\n",
         "full",
         2,
         {1},
         {-1},
         0,
         1,
         1,
         0},
        {"mass matrix",
         "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[potential]\n2*(x^2 + "
         "y^2)\n[start]\nx = 1\n",
         "full",
         1,
         {(cos(sqrt(4. / 3)) + cos(2)) / 2, (cos(sqrt(4. / 3)) - cos(2)) / 2},
         {(-sqrt(4. / 3) * sin(sqrt(4. / 3)) - 2 * sin(2)) / 2,
          (-sqrt(4. / 3) * sin(sqrt(4. / 3)) + 2 * sin(2)) / 2},
         0,
         1,
         2,
         0},
        /* drag makes the velocity follow cos t: x' = (cos t + sin(t)/k)/(1 + 1/k^2) */
        {"strong drag",
         "[parameters]\nk = 1e6\n[coordinates]\nx\n[forces]\nx = k*(cos(t) - x')\n[start]\nx = "
         "-1/k/(1 + 1/k^2), x' = 1/(1 + 1/k^2)\n",
         "full",
         2,
         {(sin(2) - 1e-6 * cos(2)) / (1 + 1e-12)},
         {(cos(2) + 1e-6 * sin(2)) / (1 + 1e-12)},
         0,
         30,
         1,
         0},
        /* a stiff potential whose limit is the rigid pendulum: off by about 1/(2e10) */
        {"stiff potential",
         "[coordinates]\nx, y\n[potential]\ny\n[stiff potential]\n(x^2 + y^2 - 1)^2/4 scale "
         "1e10\n[start]\nx = 1\n",
         "slow",
         1,
         {rigid_end[0], rigid_end[1]},
         {rigid_end[2], rigid_end[3]},
         0,
         30,
         2,
         0},
    };
    check_analytic(rows, sizeof rows / sizeof rows[0]);
}

static void test_analytic_rigid(void)
{
    check_group("radau, analytic solutions");
    double drag = 1 - exp(-1.0); /* angle after drag 1 for time 1 from speed 1 */
    const analytic rows[] = {
        {"rigid circle with drag",
         "[coordinates]\nx, y\n[forces]\nx = -x', y = -y'\n[bonds]\ns = (x^2 + y^2 - "
         "1)/2\n[start]\nx = 1, y' = 1\n",
         "rigid",
         1,
         {cos(drag), sin(drag)},
         {-sin(drag) * (1 - drag), cos(drag) * (1 - drag)},
         (1 - drag) * (1 - drag),
         30,
         2,
         1},
        {"rigid, polar, from the kinetic energy",
         "[coordinates]\nr, p\n[kinetic]\n(r'^2 + r^2*p'^2)/2\n[potential]\n-r*sin(p)\n[bonds]\ns "
         "= r - 1\n[start]\nr = 1, p = 0\n",
         "rigid",
         1,
         {1, atan2(-rigid_end[1], rigid_end[0])},
         {0, hypot(rigid_end[2], rigid_end[3])},
         rigid_tension,
         30,
         2,
         1},
        {"driven rod",
         "[coordinates]\nx\n[mass]\nx = 2\n[bonds]\ns = x - sin(t)\n[start]\nx' = 1\n",
         "rigid",
         2,
         {sin(2)},
         {cos(2)},
         2 * sin(2),
         30,
         1,
         1},
        /* a coordinate without mass: 0 = -y + lambda, x'' = -lambda, x = y */
        {"massless",
         "[coordinates]\nx, y\n[mass]\ny = 0\n[forces]\ny = -y\n[bonds]\ns = x - y\n[start]\nx = "
         "1, y = 1\n",
         "rigid",
         2,
         {cos(2), cos(2)},
         {-sin(2), -sin(2)},
         cos(2),
         30,
         2,
         1},
        /* a coordinate without mass that only a force holds: 0 = x - y, x'' = -y */
        {"massless, held by a force",
         "[coordinates]\nx, y\n[mass]\ny = 0\n[forces]\ny = x - y, x = -y\n[start]\nx = 1, y = 1\n",
         "full",
         2,
         {cos(2), cos(2)},
         {-sin(2), -sin(2)},
         0,
         30,
         2,
         0},
    };
    check_analytic(rows, sizeof rows / sizeof rows[0]);
}

static void test_analytic_springs(void)
{
    check_group("radau, analytic solutions");
    double complex damped = (1 + 0.3 * I) / (1 + 0.3 * I - 1e-6),
                   strong = (1 + 100 * I) / (1 + 100 * I - 1e-8);
    const analytic rows[] = {
        /* the slow solution is A cos t, A = omega^2/(omega^2 - 1) [A (5)] */
        {"moving spring",
         "[coordinates]\nx\n[bonds]\ns = x - cos(t) stiffness 4e6\n[start]\nx = 4e6/(4e6 - 1)\n",
         "slow",
         2,
         {4e6 / (4e6 - 1) * cos(2)},
         {-4e6 / (4e6 - 1) * sin(2)},
         4e6 / (4e6 - 1) * cos(2),
         3,
         1,
         1},
        /* c lambda = g + tau g', g = x - cos t: the slow solution is Re X e^(it), c X = (1 + i
         * tau)(X - 1) */
        {"damped spring",
         "[coordinates]\nx\n[bonds]\ns = x - cos(t) stiffness 1e6 damping 3e5\n"
         "[parameters]\nb = 0.3\nc = 1e-6\n[start]\nx = ((1 - c) + b^2)/((1 - c)^2 + b^2), x' = "
         "b*c/((1 - c)^2 + b^2)\n",
         "slow",
         2,
         {creal(damped * cexp(2 * I))},
         {creal(I * damped * cexp(2 * I))},
         creal(damped * cexp(2 * I)),
         30,
         1,
         1},
        {"overdamped spring",
         "[coordinates]\nx\n[bonds]\ns = x - cos(t) stiffness 1e8 damping 1e10\n"
         "[parameters]\nb = 100\nc = 1e-8\n[start]\nx = ((1 - c) + b^2)/((1 - c)^2 + b^2), x' = "
         "b*c/((1 - c)^2 + b^2)\n",
         "full",
         2,
         {creal(strong * cexp(2 * I))},
         {creal(I * strong * cexp(2 * I))},
         creal(strong * cexp(2 * I)),
         300,
         1,
         1},
    };
    check_analytic(rows, sizeof rows / sizeof rows[0]);
}

/* ---- the double pendulum of A section 5.1 */

static const char double_pendulum[] = "[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + "
                                      "y1^2) - 1 %s\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 %s\n"
                                      "[start]\nx1 = %.17g, x2 = %.17g, y1' = -0.5, y2' = 0.5\n";

static void make_double_pendulum(double omega, char *model, size_t size)
{
    char bond[60] = "rigid";
    double c = omega > 0 ? 1 / (omega * omega) : 0;
    if (omega > 0)
        snprintf(bond, sizeof bond, "stiffness %.17g", omega * omega);
    /* the slow point over (31)-(32): multipliers 3/2 and 5/4; exact at omega = 1000
     * [docs/sources.md, A] */
    double x1 = omega == 1000 ? 1.000001500045071096781 : 1 + 1.5 * c,
           x2 = omega == 1000 ? 2.000002750073263937993 : 2 + 2.75 * c;
    snprintf(model, size, double_pendulum, bond, bond, x1, x2);
}

/* Steps are those of the rigid system; evaluations and iterations are the same for every
 * stiffness, and factorisations no more than the rigid system needs: neither does the cost of a
 * step see the stiffness. */
static void test_uniform_steps(void)
{
    static const double omega[] = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    check_group("radau, steps do not see the stiffness");
    for (int form = 0; form < 2; form++)
        for (int order = 3; order <= 9; order += 2) {
            char model[600], options[200];
            double q[KEPT_WIDTH], v[KEPT_WIDTH];
            snprintf(options, sizeof options, "motion=slow method=radau%d newton=%s rtol=%s", order,
                     form ? "tensor" : "stage", order == 3 ? "1e-4" : "1e-6");
            make_double_pendulum(0, model, sizeof model);
            char rigid[220];
            snprintf(rigid, sizeof rigid, "motion=rigid%s", options + strlen("motion=slow"));
            taut_statistics held = run("rigid", model, rigid, 10, q, v, NULL);
            double steps = (double)held.steps;
            check_row(steps > 10, "rigid: %g steps", steps);
            taut_statistics first = {0};
            for (int k = 0; k < 6; k++) {
                make_double_pendulum(omega[k], model, sizeof model);
                taut_statistics x = run("stiff", model, options, 10, q, v, NULL);
                double here = (double)x.steps;
                check_row(fabs(here - steps) <= 0.1 * steps, "%s, omega = %g: %g steps, rigid %g",
                          options, omega[k], here, steps);
                if (k == 0)
                    first = x;
                const int64_t counts[2][2] = {{x.force_evaluations, first.force_evaluations},
                                              {x.newton_iterations, first.newton_iterations}};
                for (int i = 0; i < 2; i++)
                    check_row(llabs(counts[i][0] - counts[i][1]) * 10 <= counts[i][1],
                              "%s, omega = %g: count %d is %lld, %lld at 1e3", options, omega[k], i,
                              (long long)counts[i][0], (long long)counts[i][1]);
                check_row((double)x.factorisations <= 1.1 * (double)held.factorisations,
                          "%s, omega = %g: %lld factorisations, rigid %lld", options, omega[k],
                          (long long)x.factorisations, (long long)held.factorisations);
            }
        }
}

/* Reference of docs/sources.md, A at t = 10, omega = 1000, from the exact slow point. */
static void test_reference(void)
{
    static const double end[8] = {0.99934340676157869,  -0.03622915908201496, 0.66151150110952525,
                                  0.90497759592155011,  0.00109905864343522,  0.03032224325356639,
                                  -0.67391036767002129, -0.21196201577063433};
    static const struct {
        const char *options;
        double limit;
    } rows[] = {{"motion=slow method=radau5 rtol=2e-10 atol=1e-12", 1e-8},
                {"motion=slow method=radau7 rtol=1e-10 atol=1e-12", 1e-8},
                {"motion=slow method=radau9 rtol=1e-9 atol=1e-11", 1e-8},
                {"motion=slow method=radau9 rtol=1e-10 atol=1e-12 newton=tensor", 1e-8}};
    check_group("radau, reference of the double pendulum");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[600];
        double q[KEPT_WIDTH], v[KEPT_WIDTH], off = 0;
        make_double_pendulum(1000, model, sizeof model);
        taut_statistics s = run("reference", model, rows[k].options, 10, q, v, NULL);
        for (int i = 0; i < 4; i++)
            off = fmax(off, fmax(fabs(q[i] - end[i]), fabs(v[i] - end[4 + i])));
        check_row(off <= rows[k].limit, "%s: off by %.3g, %lld steps, %lld evaluations",
                  rows[k].options, off, (long long)s.steps, (long long)s.force_evaluations);
    }
}

/* Evaluations of the two forms as measured, at errors 1e-4, 1e-6, 1e-8 in
 * positions: within 1.1 of them, by the order and the tolerance that suit [docs/sources.md, F]. */
static void test_evaluations(void)
{
    static const double end[4] = {0.99934340676157869, -0.03622915908201496, 0.66151150110952525,
                                  0.90497759592155011};
    static const double design[2][3] = {{168, 264, 410}, {591, 840, 1715}};
    check_group("radau, evaluations for an accuracy");
    for (int form = 0; form < 2; form++) {
        double least[3] = {INFINITY, INFINITY, INFINITY};
        for (int order = 5; order <= 9; order += 2)
            for (int k = 10; k <= 36; k++) { /* below, the springs oscillate */
                char model[600], options[200];
                double q[KEPT_WIDTH], v[KEPT_WIDTH], off = 0, rtol = pow(10, -k / 4.0);
                make_double_pendulum(1000, model, sizeof model);
                snprintf(options, sizeof options,
                         "motion=slow method=radau%d newton=%s rtol=%.3g atol=%.3g", order,
                         form ? "tensor" : "stage", rtol, rtol);
                taut_statistics s = run("evaluations", model, options, 10, q, v, NULL);
                for (int i = 0; i < 4; i++)
                    off = fmax(off, fabs(q[i] - end[i]));
                for (int j = 0; j < 3; j++)
                    if (off <= pow(10, -4 - 2 * j))
                        least[j] = fmin(least[j], (double)s.force_evaluations);
            }
        for (int j = 0; j < 3; j++)
            check_row(least[j] <= 1.1 * design[form][j],
                      "%s, error 1e-%d: %g evaluations, design %g", form ? "tensor" : "stage",
                      4 + 2 * j, least[j], design[form][j]);
    }
}

/* ---- adaptive step size */

/* The error of a run follows its tolerance. */
static void test_tolerance(void)
{
    static const double rtol[] = {1e-4, 1e-6, 1e-8, 1e-10};
    check_group("radau, tolerance");
    for (int order = 3; order <= 9; order += 2) {
        double before = 0;
        for (int k = 0; k < 4; k++) {
            char model[400], options[200];
            double q[KEPT_WIDTH], v[KEPT_WIDTH];
            if (order == 3 && k == 3)
                continue;
            snprintf(model, sizeof model, pendulum, 0.0);
            snprintf(options, sizeof options, "motion=rigid method=radau%d rtol=%g atol=%g", order,
                     rtol[k], rtol[k]);
            taut_statistics s = run(options, model, options, 1, q, v, NULL);
            double off = hypot(q[0] - rigid_end[0], q[1] - rigid_end[1]);
            check_row(off < 30 * rtol[k], "%s: off by %.3g in %lld steps", options, off,
                      (long long)s.steps);
            check_row((double)s.steps >= before && s.rejected <= s.steps / 4 + 2,
                      "%s: %lld steps, %lld rejected", options, (long long)s.steps,
                      (long long)s.rejected);
            before = (double)s.steps;
        }
    }
}

/* Full motion resolves what slow motion leaves out: the same spring, the same start. */
static void test_motions(void)
{
    static const char spring[] = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + "
                                 "y^2) - 1 stiffness 1e4\n[start]\nx = 1.01\n";
    check_group("radau, motions");
    static kept k;
    for (int full = 0; full < 2; full++) {
        driven d = driven_create(spring,
                                 full ? "motion=full method=radau5 until=0.2 every=0.001 rtol=1e-8"
                                      : "motion=full method=radau5 until=0.4 step=0.1 every=0.1",
                                 NULL);
        if (driven_good("run", &d)) {
            taut_sink sink = kept_sink(&k);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "run: %s",
                      d.error.message);
            double last = 0;
            for (int i = full ? k.rows - 70 : k.rows - 1; i < k.rows; i++)
                last = fmax(last, fabs(hypot(k.q[i][0], k.q[i][1]) - 1));
            /* a period is 0.0628: rows of the last one reach the amplitude again; four steps of
             * h omega = 10 leave (3/10)^4 at most */
            check_row(full ? last > 0.009 && last < 0.0115 : last < 0.01 * 0.0081 * 2 + 1e-4,
                      "%s: %.4g remains of 0.01", full ? "resolved" : "equal long steps", last);
        }
        driven_destroy(&d);
    }
}

/* Rows between steps: on the circle, at the speed, under the pull that belong to their time. */
static void test_dense(void)
{
    check_group("radau, dense output");
    static const double limit[] = {4e-2, 2e-4, 2e-6, 2e-8, 3e-9};
    for (int s = 1; s <= 5; s++) {
        static kept k;
        char options[200];
        snprintf(options, sizeof options, "motion=rigid method=radau%d until=2 every=0.013 step=%g",
                 2 * s - 1, s == 1 ? 0.02 : 0.1);
        driven d = driven_create(
            "[coordinates]\nx, y\n[bonds]\ns = sqrt(x^2 + y^2) - 1\n[start]\nx = 1, y' = 1\n",
            options, NULL);
        if (driven_good(options, &d)) {
            taut_sink sink = kept_sink(&k);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      options, d.error.message);
            double q = 0, v = 0, lambda = 0;
            for (int i = 0; i < k.rows; i++) {
                q = fmax(q, hypot(k.q[i][0] - cos(k.t[i]), k.q[i][1] - sin(k.t[i])));
                v = fmax(v, hypot(k.v[i][0] + sin(k.t[i]), k.v[i][1] - cos(k.t[i])));
                if (k.t[i] > 0.2)
                    lambda = fmax(lambda, fabs(k.lambda[i][0] - 1));
            }
            check_row(k.rows == 155 && q < limit[s - 1] && v < 20 * limit[s - 1] &&
                          lambda < 600 * limit[s - 1],
                      "%s: %d rows, q off by %.3g, v by %.3g, lambda by %.3g", options, k.rows, q,
                      v, lambda);
        }
        driven_destroy(&d);
    }
}

/* Backwards, and after an event that alters the state. */
static void test_restarts(void)
{
    check_group("radau, restarts");
    driven d = driven_create("[coordinates]\nx\n[potential]\nx\n[start]\nx = 0.5\n[events]\nfloor "
                             "= x falling then x' = -x'\n",
                             "motion=full method=radau5 until=3", NULL);
    if (driven_good("bouncing", &d)) {
        /* falls for 1, bounces to 1/2 at t = 2, falls again: at t = 2.5 it is at 1/2 - 1/8 */
        check_row(taut_solver_advance(d.solver, 2.5, &d.error) == 0, "bouncing: %s",
                  d.error.message);
        check_near("height", taut_solver_position(d.solver)[0], 0.375, 1e-7);
        check_near("speed", taut_solver_velocity(d.solver)[0], -0.5, 1e-7);
    }
    driven_destroy(&d);
    char model[400];
    snprintf(model, sizeof model, pendulum, 0.0);
    d = driven_create(model, "motion=rigid method=radau9 until=1 rtol=1e-10 atol=1e-12", NULL);
    if (driven_good("there and back", &d)) {
        check_equal("there", taut_solver_advance(d.solver, 1, &d.error), 0);
        check_near("y1", taut_solver_position(d.solver)[0], rigid_end[0], 1e-8);
        check_row(taut_solver_advance(d.solver, 0, &d.error) == 0, "back: %s", d.error.message);
        check_near("y1", taut_solver_position(d.solver)[0], 1, 1e-8);
        check_near("y2", taut_solver_position(d.solver)[1], 0, 1e-8);
    }
    driven_destroy(&d);
}

/* Reaction forces at the steps of a run with adaptive step size, which change their size: a mass on
 * a circle, pushed along it, lambda = v^2. */
static void test_reactions(void)
{
    check_group("radau, reaction forces");
    for (int order = 5; order <= 9; order += 2) {
        static kept k;
        char options[200];
        snprintf(options, sizeof options, "motion=rigid method=radau%d until=6 rtol=1e-6 atol=1e-6",
                 order);
        driven d = driven_create("[coordinates]\nx, y\n[forces]\nx = -y*cos(3*t)\ny = "
                                 "x*cos(3*t)\n[bonds]\ns = (x^2 + y^2 - 1)/2\n"
                                 "[start]\nx = 1, y' = 1\n",
                                 options, NULL);
        if (driven_good(options, &d)) {
            taut_sink sink = kept_sink(&k);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      options, d.error.message);
            double off = 0;
            for (int i = 0; i < k.rows; i++) {
                double speed = 1 + sin(3 * k.t[i]) / 3;
                off = fmax(off, fabs(k.lambda[i][0] - speed * speed));
            }
            check_row(off < 1e-3 && k.rows > 10, "%s: %d rows, lambda off by %.3g", options, k.rows,
                      off);
        }
        driven_destroy(&d);
    }
}

/* More springs than freedoms: a point held by three springs at rest, pulled by 1; the
 * multipliers share the load by their stiffness. */
static void test_redundant(void)
{
    check_group("radau, more springs than freedoms");
    static kept k;
    driven d = driven_create("[coordinates]\nx, y\n[potential]\ny\n[bonds]\na = y stiffness 1e6\nb "
                             "= 2*y stiffness 1e6\nc = x stiffness 1e6\n"
                             "[start]\ny = -0.2e-6\n",
                             "motion=slow method=radau5 until=1 every=0.1", NULL);
    if (driven_good("three springs", &d)) {
        taut_sink sink = kept_sink(&k);
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0,
                  "three springs: %s", d.error.message);
        /* at rest: 1 = -(lambda_a + 2 lambda_b), lambda_b = 2 lambda_a */
        for (int i = 0; i < k.rows; i++)
            check_row(fabs(k.lambda[i][0] + 0.2) < 1e-6 && fabs(k.lambda[i][1] + 0.4) < 1e-6 &&
                          fabs(k.lambda[i][2]) < 1e-6,
                      "t = %g: lambda %.9g, %.9g, %.9g", k.t[i], k.lambda[i][0], k.lambda[i][1],
                      k.lambda[i][2]);
        check_equal("rows", k.rows, 11);
    }
    driven_destroy(&d);
}

/* A chain long enough for the tensor form by default: falls freely where it can, and its length
 * stays. */
static void test_chain(void)
{
    check_group("radau, chain");
    static const char model[] =
        "[parameters]\nN = 200\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass "
        "1\n[potential]\n"
        "sum(bob[i].y for i in 1..N)\n[bonds]\nlink[1] = length(bob[1]) - 1 stiffness 1e12\n"
        "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e12\n[start]\nbob[i] = "
        "(i, 0) for i in 1..N\n";
    driven d = driven_create(model, "motion=slow method=radau5 until=1", NULL);
    if (driven_good("chain", &d)) {
        check_row(taut_solver_advance(d.solver, 1, &d.error) == 0, "chain: %s", d.error.message);
        const double *q = taut_solver_position(d.solver);
        double worst = fabs(hypot(q[0], q[1]) - 1);
        for (int i = 1; i < 200; i++)
            worst =
                fmax(worst, fabs(hypot(q[2 * i] - q[2 * i - 2], q[2 * i + 1] - q[2 * i - 1]) - 1));
        check_below("lengths", worst, 1e-6);
        check_near("the far end falls freely", q[399], -0.5, 1e-6);
        taut_result r = {.size = sizeof r};
        taut_solver_result_get(d.solver, &r, NULL);
        check_row(r.statistics.steps < 60 && r.statistics.jacobians <= 2 * r.statistics.steps,
                  "%lld steps, %lld Jacobians", (long long)r.statistics.steps,
                  (long long)r.statistics.jacobians);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_analytic_forces();
    test_analytic_rigid();
    test_analytic_springs();
    test_uniform_steps();
    test_reference();
    test_evaluations();
    test_tolerance();
    test_motions();
    test_dense();
    test_restarts();
    test_reactions();
    test_redundant();
    test_chain();
    return check_done();
}
