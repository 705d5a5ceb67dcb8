/* test_adiabatic.c - the adiabatic integrator between kicks [E 2.1]: errors that the stiffness does
 * not enlarge, at a cost that does not depend on it; orders; modes that exchange their actions;
 * time reversal; rigid bonds, full mass matrices, groups; refusals. */
#include "drive/solver.h"
#include "step/impulse.h"
#include "support/gravity.h"

#define ADIABATIC "motion=effective inner-method=adiabatic verify=never "

static const char *const methods[] = {"projected-impulse", "mollified-impulse", "transformed"};

/* The bounds of the methods with micro-steps [docs/sources.md, E], with six steps between kicks in
 * place of up to 10^9. */
static void test_errors(void)
{
    static const double steps[] = {.25, .1}, sizes[] = {1e-2, 1e-3, 1e-4, 1e-7};
    check_group("adiabatic, errors");
    for (int m = 0; m < 3; m++)
        for (int e = 0; e < 4; e++)
            for (int k = 0; k < 2; k++) {
                double eps = sizes[e], h = steps[k], action[2], fit_q = .064 * h * h + 1.8 * eps,
                       fit_v = .079 * h * h + 2.5 * eps;
                angle_actions(eps, action);
                errors worst =
                    grid_errors(methods[m], eps, h, h / 6, "inner-method=adiabatic", action);
                check_row(worst.q <= 1.15 * fit_q && worst.v <= 1.15 * fit_v,
                          "%s eps %g h %g: %.3g and %.3g are %.3f and %.3f of the fits", methods[m],
                          eps, h, worst.q, worst.v, worst.q / fit_q, worst.v / fit_v);
            }
}

/* A run to t = 1: (x, v) that is shown, and what it cost. */
static driven run_to(const char *model, const char *options, double end, double *z)
{
    char all[240];
    snprintf(all, sizeof all, ADIABATIC "until=%g %s", end, options);
    driven d = driven_create(model, all, NULL);
    if (driven_good(options, &d)) {
        check_row(taut_solver_advance(d.solver, end, &d.error) == 0, "%s: %s", options,
                  d.error.message);
        taut_index n = d.solver->stepper.n;
        memcpy(z, taut_solver_position(d.solver), (size_t)n * sizeof *z);
        memcpy(z + n, taut_solver_velocity(d.solver), (size_t)n * sizeof *z);
    }
    return d;
}

static double apart(int n, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Two evaluations a step, at its beginning and its end, for every eps. */
static void test_cost(void)
{
    check_group("adiabatic, cost");
    for (int e = 2; e <= 8; e += 3) {
        double z[8];
        char model[700];
        taut_result r = {.size = sizeof r};
        snprintf(model, sizeof model, gravity_model, pow(10, -e));
        driven d = run_to(model, "method=projected-impulse step=0.05", 1, z);
        if (d.code == 0) {
            taut_solver_result_get(d.solver, &r, NULL);
            check_equal("steps", r.statistics.micro_steps, 20);
            check_equal("fast", r.statistics.fast_force_evaluations, 40);
            check_equal("slow", r.statistics.force_evaluations, 21);
            check_below("iterations", (double)r.statistics.newton_iterations, 600);
        }
        driven_destroy(&d);
    }
}

/* Orders in the step between kicks, at eps = 1e-6, where nothing else is left: 2, or that of a
 * composition. The outer step is 1/4. */
static void test_order(void)
{
    check_group("adiabatic, order");
    for (int order = 2; order <= 6; order += 2) {
        double z[8], exact[8], error[2];
        char model[700], options[120];
        snprintf(model, sizeof model, gravity_model, 1e-6);
        driven d = run_to(
            model, "method=projected-impulse step=0.25 inner-order=8 inner-step=0.0625", 1, exact);
        driven_destroy(&d);
        for (int half = 0; half < 2; half++) {
            snprintf(options, sizeof options,
                     "method=projected-impulse step=0.25 inner-order=%d inner-step=%g", order,
                     0.125 / (1 + half));
            d = run_to(model, options, 1, z);
            driven_destroy(&d);
            error[half] = apart(8, z, exact);
        }
        double slope = log2(error[0] / error[1]);
        check_row(fabs(slope - order) < 0.7, "order %d: errors %g, %g, slope %.2f", order, error[0],
                  error[1], slope);
    }
}

/* Where frequencies meet (crossing.taut) the slow motion is that of micro-steps to O(h^2) +
 * O(1/omega), while the effective system, which neglects the exchange, is off by 0.04. */
/* The same in coordinates in which the mass varies: the coupling of the modes is covariant. */
static const char *const skewed =
    "[parameters]\nomega = 200\nlink = 0.035\nvibration = 0.3\n[coordinates]\nx, y, u\n"
    "[definitions]\nz = u + x*y/2\n[kinetic]\n(x'^2 + y'^2 + z'^2)/2\n[potential]\n"
    "x^2/4 - y - z\n[bonds]\nstiffening = sqrt(1 + x/2)*y stiffness omega^2\n"
    "softening = sqrt(1 - x/2)*z + link*y stiffness omega^2\n[start]\n"
    "x = -1,  x' = 1,  y' = sqrt(2*vibration), u' = sqrt(2*vibration)/2\n";

static void test_crossing(void)
{
    static const char *const options[] = {
        "method=transformed step=0.02", "method=transformed step=0.01",
        "method=transformed step=0.005", "method=transformed step=0.005 inner-method=verlet",
        "method=effective"};
    double x[5] = {0};
    check_group("adiabatic, frequencies that meet");
    for (int k = 0; k < 5; k++) {
        driven d = {0};
        char all[200];
        snprintf(all, sizeof all, ADIABATIC "until=1.8 %s", options[k]);
        d.code =
            taut_system_load(TAUT_SOURCE_DIR "/models/crossing.taut", NULL, &d.system, &d.error);
        driven_equip(&d, all, NULL);
        if (driven_good(all, &d)) {
            check_equal("advance", taut_solver_advance(d.solver, 1.8, &d.error), 0);
            x[k] = taut_solver_position(d.solver)[0];
        }
        driven_destroy(&d);
    }
    check_near("slope in h", log2((x[0] - x[1]) / (x[1] - x[2])), 2, 0.1);
    check_near("against micro-steps", x[2], x[3], 3e-4);
    check_row(fabs(x[4] - x[3]) > 0.03, "the effective system: %g", x[4] - x[3]);
    double z[6];
    driven d = run_to(skewed, "method=transformed step=0.005", 1.8, z);
    check_near("in skewed coordinates", z[0], x[2], 1e-5);
    driven_destroy(&d);
}

/* Systems of other kinds: the inner link rigid; a full mass matrix; a molecule twice, whose equal
 * frequencies do not touch; a term of the potential that is marked fast. */
static const struct {
    const char *name, *model;
    double allowed;
} kinds[] = {
    {"rigid",
     "[coordinates]\nx, y, u, w\n[potential]\ny + w\n[bonds]\ninner = sqrt(x^2 + y^2) - 1\n"
     "outer = sqrt((x-u)^2 + (y-w)^2) - 1 stiffness 1e6\n"
     "[start]\nx = sqrt(0.5), y = -sqrt(0.5), u = sqrt(2), w = 0.005\n",
     4e-3},
    {"polar",
     "[coordinates]\nr, a, s, b\n[definitions]\np = (r*sin(a), -r*cos(a))\n"
     "q = (r*sin(a) + s*sin(b), -r*cos(a) - s*cos(b))\n[kinetic]\ndot(p', p')/2\ndot(q', q')/2\n"
     "[potential]\np.y + q.y\n[bonds]\ninner = r - 1 stiffness 1e6\nouter = s - 1 stiffness 1e6\n"
     "[start]\nr = 1, a = pi/4, s = 1.0035, b = 2.35\n",
     4e-3},
    {"mass matrix",
     "[coordinates]\nx, y, u, w\n[mass]\nx = 2, u = 3, w = 1.5, M[x, u] = 0.4\n"
     "[potential]\ny + w\n[bonds]\na = sqrt(x^2 + y^2) - 1 stiffness 1e6\n"
     "b = sqrt((x - u)^2 + (y - w)^2) - 1 stiffness 4e6\n[start]\nx = 1.002, u = 1.6, w = 0.8\n",
     4e-3},
    {"groups",
     "[particles]\ndimension = 2\np[i] for i in 1..6\n[potential]\nsum(p[i].y for i in 1..6)\n"
     "sum(length(p[i] - p[i+3])^2 for i in 1..3)\n[bonds]\n"
     "a[i] = length(p[i] - p[i+1]) - 1 for i in 1..2 stiffness i*1e6\n"
     "b[i] = length(p[i+3] - p[i+4]) - 1 for i in 1..2 stiffness i*1e6\n[start]\n"
     "p[i] = (i, 0) for i in 1..3\np[4] = (1, 1), p[5] = (1.6, 1.8), p[6] = (1.6, 2.802)\n",
     4e-3},
    {"fast",
     "[coordinates]\nx, y, u, w\n[potential]\ny + w\n5*x^2 fast\n[bonds]\n"
     "a = sqrt(x^2 + y^2) - 1 stiffness 1e6\nb = sqrt((x - u)^2 + (y - w)^2) - 1 stiffness 4e6\n"
     "[start]\nx = 1.002, u = 1.6, w = 0.8\n",
     4e-3},
};

static void test_kinds(void)
{
    check_group("adiabatic, kinds of systems");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        double z[24] = {0}, exact[24] = {0};
        driven e =
            run_to(kinds[k].model, "method=effective rtol=1e-9 inner-method=verlet", 1, exact);
        driven d = run_to(kinds[k].model, "method=mollified-impulse step=0.025", 1, z);
        if (d.code == 0 && e.code == 0) {
            int n = (int)d.solver->stepper.n;
            check_row(apart(2 * n, z, exact) < kinds[k].allowed, "%s: %g from the effective system",
                      kinds[k].name, apart(2 * n, z, exact));
            memcpy(exact, taut_solver_position(d.solver), (size_t)n * sizeof *exact);
            check_equal("backwards", taut_solver_advance(d.solver, 0, &d.error), 0);
            check_equal("forwards", taut_solver_advance(d.solver, 1, &d.error), 0);
            check_near("reversible", apart(n, taut_solver_position(d.solver), exact), 0, 1e-9);
        }
        driven_destroy(&d);
        driven_destroy(&e);
    }
}

static const struct {
    const char *model, *message;
} refusals[] = {
    {"[coordinates]\nx, y\n[stiff potential]\ny^2/2 scale 1e4\n", "a stiff potential"},
    {"[coordinates]\nx, y\n[forces]\nx = -x'\n[bonds]\ns = y stiffness 1e4\n",
     "micro-steps of method verlet"},
};

static void test_refusals(void)
{
    check_group("adiabatic, refusals");
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        driven d =
            driven_create(refusals[k].model, ADIABATIC "method=impulse step=0.1 until=1", NULL);
        check_equal("code", d.code, TAUT_ERROR_REFUSED);
        check_contains("message", d.error.message, refusals[k].message);
        driven_destroy(&d);
    }
}

int main(void)
{
    test_errors();
    test_cost();
    test_order();
    test_crossing();
    test_kinds();
    test_refusals();
    return check_done();
}
