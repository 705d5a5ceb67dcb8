/* test_stiff.c - stiffness: the fastest decay that `taut check` reports against closed forms, the
 * estimate of dop8 at the limit of its stability, and the switch to an implicit method, which
 * happens where it should, and only there. */
#include "support/run.h"

#include <math.h>

#include "drive/solver.h"

#define RELAX "[state]\nz\n[rates]\nz' = -1e4*(z - cos(t)) - sin(t)\n[start]\nz = 1\n"
/* stiff at first: the rate is 1e4 at t = 0 and 1 from t = 4 on */
#define FADING                                                                                     \
    "[state]\nz\n[rates]\nz' = -(1 + 1e4*exp(-t^4))*(z - cos(t)) - sin(t)\n[start]\nz = 1\n"
#define VAN_DER_POL "[state]\nx, y\n[rates]\nx' = y\ny' = 1000*(1 - x^2)*y - x\n[start]\nx = 2\n"
#define OSCILLATOR "[coordinates]\nx\n[bonds]\ns = x stiffness 1e8\n[start]\nx = 1, x' = 0.3\n"
/* x'' = -1e4 (x' + sin t) - cos t: x = cos t */
#define DRAGGED                                                                                    \
    "[coordinates]\nx\n[forces]\nx = -1e4*(x' + sin(t)) - cos(t)\n[start]\nx = 1, x' = 0\n"
#define DAMPED                                                                                     \
    "[coordinates]\nx, y\n[mass]\nx = 2, y = 0.5\n[bonds]\ns = x - y - 1 stiffness 100 damping "   \
    "30\n[start]\nx = 1\n"

static void test_decay(void)
{
    static const struct {
        const char *name, *model, *options;
        double rate, steps;
    } rows[] = {
        {"relaxation", RELAX, "until=10", 1e4, 1e5 / 6.1},
        {"Van der Pol", VAN_DER_POL, "until=2000", 2999.9996666666, 2999.9996666666 * 2000 / 6.1},
        {"Van der Pol, without an end", VAN_DER_POL, "", 2999.9996666666, NAN},
        /* d (1/m1 + 1/m2) */
        {"damped bond", DAMPED, "until=1", 30 * (1 / 2. + 1 / 0.5), 75 / 6.1},
        {"no damping", OSCILLATOR, "until=1", 0, 0},
    };
    check_group("fastest decay");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_check_report report = {.size = sizeof report};
        driven d = {0};
        d.code = taut_system_parse(rows[k].model, strlen(rows[k].model), "model.taut", NULL,
                                   &d.system, &d.error);
        if (d.code == 0)
            d.code = taut_options_create(NULL, &d.options, &d.error);
        driven_options(&d, rows[k].options);
        if (d.code == 0)
            d.code = taut_check(d.system, d.options, &report, &d.error);
        if (driven_good(rows[k].name, &d)) {
            check_near(rows[k].name, report.decay_rate, rows[k].rate, 1e-9 * rows[k].rate);
            check_row(isnan(rows[k].steps)
                          ? isnan(report.decay_steps)
                          : fabs(report.decay_steps - rows[k].steps) <= 1e-9 * rows[k].steps,
                      "%s: %g steps, expected %g", rows[k].name, report.decay_steps, rows[k].steps);
        }
        driven_destroy(&d);
    }
}

/* h rho of single steps: rho is known. */
static void test_estimate(void)
{
    static const struct {
        const char *name, *model;
        double h, low, high;
    } rows[] = {
        {"relaxation", RELAX, 5e-4, 4.9, 5.1},
        {"drag", DRAGGED, 5e-4, 4, 6},
        /* below the limit, however it swings */
        {"oscillation", OSCILLATOR, 1e-4, 0, 3},
        {"oscillation, longer", OSCILLATOR, 2e-4, 0, 3},
    };
    check_group("estimate of dop8");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[120];
        snprintf(options, sizeof options, "until=1 method=dop8 step=%g", rows[k].h);
        driven d = driven_create(rows[k].model, options, NULL);
        for (int steps = 1; d.code == 0 && steps <= 5; steps++) {
            int code = taut_solver_advance(d.solver, steps * rows[k].h, &d.error);
            check_row(code == 0, "%s: %s", rows[k].name, d.error.message);
            taut_stepper *s = &d.solver->stepper;
            double rho = s->method->stiffness(s);
            check_row(rho >= rows[k].low && rho <= rows[k].high, "%s, step %d: h rho = %.3g",
                      rows[k].name, steps, rho);
        }
        driven_good(rows[k].name, &d);
        driven_destroy(&d);
    }
}

static void test_switch(void)
{
    static const struct {
        const char *name, *model, *options, *method;
        double exact;
    } rows[] = {
        {"relaxation", RELAX, "until=10", "radau5", -0.83907152907645244},
        {"relaxation, short", RELAX, "until=1e-3", "dop8", 0.99999950000004167},
        {"relaxation, dop8 by name", RELAX, "until=0.5 method=dop8", "dop8", 0.87758256189037276},
        {"drag", DRAGGED, "until=10", "radau5", -0.83907152907645244},
        {"fading", FADING, "until=200", "dop8", 0.48718767500700594},
        /* 1e5 radians: many steps, and none limited by stability */
        {"oscillation", OSCILLATOR, "until=10", "dop8", NAN},
    };
    check_group("switch");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        taut_result result = {.size = sizeof result};
        if (driven_good(rows[k].name, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(code == 0, "%s: %s", rows[k].name, d.error.message);
            check_row(strcmp(result.method, rows[k].method) == 0, "%s: method %s", rows[k].name,
                      result.method);
            bool said = strstr(taut_solver_explanation(d.solver), "method radau5 from t = "),
                 back = strstr(taut_solver_explanation(d.solver), "method dop8 from t = "),
                 fades = strcmp(rows[k].model, FADING) == 0;
            check_row(back == fades && said == (fades || strcmp(rows[k].method, "radau5") == 0),
                      "%s: %s", rows[k].name, taut_solver_explanation(d.solver));
            if (!isnan(rows[k].exact))
                check_near(rows[k].name, taut_solver_position(d.solver)[0], rows[k].exact, 1e-5);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_decay();
    test_estimate();
    test_switch();
    return check_done();
}
