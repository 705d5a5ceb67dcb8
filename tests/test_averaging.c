/* test_averaging.c - the error of averaging that effective motion states: what is estimated from a
 * fifth of the interval and from soft twins, against the difference of effective and full motion
 * over the whole interval. */
#include <math.h>

#include "support/run.h"
#include "drive/solver.h"

/* A spring pendulum of ratio omega with oscillatory energy 0.02, and [E example 1]. */
#define PENDULUM(omega)                                                                            \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness " omega     \
    "^2\n[start]\nx = (1 + 0.2/" omega ")*sin(1), y = -(1 + 0.2/" omega ")*cos(1)\n"
#define DOUBLE(eps)                                                                                \
    "[parameters]\neps = " eps "\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"        \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n"                                               \
    "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness eps^-2\n"                                       \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"
#define CART                                                                                       \
    "[coordinates]\nx, r, phi\n[definitions]\nbob = (x + r*sin(phi), -r*cos(phi))\n[kinetic]\n"    \
    "0.7*x'^2/2\ndot(bob', bob')/2\n[potential]\nbob.y\n[bonds]\nrod = r - 1 stiffness 1e4\n"      \
    "[start]\nx = 0, r = 1.01, phi = 1\n"

static void test_estimates(void)
{
    static const struct {
        const char *name, *model, *options;
    } rows[] = {
        {"pendulum, 10", PENDULUM("10"), "until=5"},
        {"pendulum, 20", PENDULUM("20"), "until=5"},
        {"pendulum, 50", PENDULUM("50"), "until=5"},
        {"double pendulum, 1e-2", DOUBLE("1e-2"), "until=1.5"},
        {"double pendulum, 1e-3", DOUBLE("1e-3"), "until=1.5"},
        {"cart", CART, "until=2"},
        {"mollified", DOUBLE("1e-2"), "until=1.5 method=mollified-impulse step=0.05"},
    };
    double whole[sizeof rows / sizeof rows[0]] = {0};
    check_group("estimates against the whole interval");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[200];
        double found[2];
        snprintf(options, sizeof options, "motion=effective verify=always %s", rows[k].options);
        driven d = driven_create(rows[k].model, options, NULL);
        if (driven_good(rows[k].name, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == 0, "%s: %s", rows[k].name, d.error.message);
            whole[k] = found[0] = d.solver->averaging_error;
            code = taut_averaging_measure(d.solver, 0, INFINITY, &d.error);
            found[1] = d.solver->averaging_error;
            check_row(code == 0 && found[1] >= 0.5 * found[0] && found[1] <= 8 * found[0],
                      "%s: %g, estimated %g", rows[k].name, found[0], found[1]);
        }
        driven_destroy(&d);
    }
    /* positions on the bonds differ by O(eps^2) where the state itself does by O(eps) */
    check_near("slope in eps", log10(whole[3] / whole[4]), 2, 0.1);
    check_below("size", whole[4], 2e-5);
}

#define LINK                                                                                       \
    "[parameters]\neps = 1e-2\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"           \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n[stiff potential]\n"                            \
    "(sqrt((a-c)^2 + (b-d)^2) - 1)^2/2 scale eps^-2\n"                                             \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"

/* It is unknown where nothing is measured, where that costs too much, and in other motions. */
static void test_unknown(void)
{
    static const struct {
        const char *model, *options;
        bool known;
    } rows[] = {
        {PENDULUM("50"), "motion=effective until=5 verify=auto", true},
        {PENDULUM("50"), "motion=effective until=5 verify=never", false},
        {LINK, "motion=effective until=1.5 verify=auto", true},
        {PENDULUM("1e9"), "motion=effective until=5 verify=auto", false},
        {PENDULUM("50"), "motion=full until=5 verify=auto", false},
    };
    check_group("known or not");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        taut_result r = {.size = sizeof r};
        if (driven_good(rows[k].options, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            taut_solver_result_get(d.solver, &r, NULL);
            check_row(code == 0 && isfinite(r.averaging_error) == rows[k].known, "%s: %g (%s)",
                      rows[k].options, r.averaging_error, d.error.message);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_estimates();
    test_unknown();
    return check_done();
}
