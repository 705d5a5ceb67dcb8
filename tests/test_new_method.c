/* test_new_method.c - how a method is added: one file with one constant descriptor, and one row
 * in the table (docs/architecture.md).
 *
 * The file is examples/heun.c; its row would be `row(taut_heun)` in src/step/methods.c. Here it
 * is given to a run directly, and everything else comes by itself: fields, stabilisers, error
 * control, dense output, events, rows, refusals. */
#include "base/method.h"
#include "support/run.h"
#include "drive/solver.h"

extern const taut_method taut_heun; /* examples/heun.c */

static driven with_heun(const char *model, const char *options)
{
    driven d = {0};
    d.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &d.system, &d.error);
    if (d.code == 0)
        d.code = taut_options_create(NULL, &d.options, &d.error);
    driven_options(&d, options);
    if (d.code == 0)
        d.code = taut_solver_create_own(d.system, d.options, &taut_heun, NULL, &d.solver, &d.error);
    driven_good(options, &d);
    return d;
}

/* The error at the end of a run with N steps, or with a tolerance. */
static double error_of(const char *model, const char *options, double until, double x)
{
    driven d = with_heun(model, options);
    double e = NAN;
    if (d.code == 0 && check_row(taut_solver_advance(d.solver, until, &d.error) == 0, "%s: %s",
                                 options, d.error.message))
        e = fabs(taut_solver_position(d.solver)[0] - x);
    driven_destroy(&d);
    return e;
}

static void test_order(void)
{
    static const struct {
        const char *name, *model;
        double x; /* at t = 2 */
    } rows[] = {
        {"oscillator", "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n",
         -0.41614683654714241},
        {"decay", "[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", 0.13533528323661270},
        /* a mass on a rigid circle, without other forces: x = cos t */
        {"circle", "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 1, y' = 1\n",
         -0.41614683654714241},
    };
    check_group("order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double coarse = error_of(rows[k].model, "step=0.02 until=2", 2, rows[k].x);
        double fine = error_of(rows[k].model, "step=0.01 until=2", 2, rows[k].x);
        check_near(rows[k].name, log2(coarse / fine), 2, 0.1);
        double loose = error_of(rows[k].model, "rtol=1e-4 atol=1e-4 until=2", 2, rows[k].x);
        double tight = error_of(rows[k].model, "rtol=1e-6 atol=1e-6 until=2", 2, rows[k].x);
        check_row(tight < loose / 5 && tight < 1e-3,
                  "%s: errors %.3g and %.3g with adaptive step size", rows[k].name, loose, tight);
    }
}

static void test_rest(void)
{
    check_group("what comes by itself");
    static kept r;
    driven d = with_heun(
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1\n"
        "[events]\nlow = x falling stop\n",
        "rtol=1e-7 atol=1e-7 until=9 every=0.25");
    if (d.code == 0) {
        taut_sink sink = kept_sink(&r);
        taut_result result = {.size = sizeof result};
        check_equal("stops where the rod is vertical",
                    taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), TAUT_EVENT);
        taut_solver_result_get(d.solver, &result, NULL);
        /* quarter of a period from the horizontal: K(1/sqrt 2) = Gamma(1/4)^2 / (4 sqrt(pi)) */
        check_near("time", result.t, 1.8540746773013719, 1e-4);
        check_near("speed^2 = 2 g h", pow(taut_solver_velocity(d.solver)[0], 2), 2, 1e-4);
        check_near("tension = 3 g", taut_solver_multipliers(d.solver)[0], 3, 1e-3);
        check_below("drift", result.drift_position, 1e-13);
        check_equal("rows", r.rows, 9);
        check_contains("explanation", taut_solver_explanation(d.solver),
                       "motion rigid, method heun (order 2), adaptive step size");
    }
    driven_destroy(&d);
}

/* A peak of width 0.01: steps that are undone give back the state with its rate, so that a step
 * evaluates twice, and a rejected one once. x(2) = 2 atan(100)/100. */
static void test_rejected(void)
{
    check_group("rejected steps");
    driven d = with_heun("[state]\nx\n[rates]\nx' = 1/(1 + 1e4*(t - 1)^2)\n",
                         "rtol=1e-6 atol=1e-6 until=2");
    if (d.code == 0) {
        taut_result result = {.size = sizeof result};
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        taut_solver_result_get(d.solver, &result, NULL);
        const taut_statistics *s = &result.statistics;
        check_near("x(2)", taut_solver_position(d.solver)[0], 2 * atan(100) / 100, 1e-4);
        check_row(s->rejected > 0 && s->rejected < s->steps, "%d of %d steps are rejected",
                  (int)s->rejected, (int)s->steps);
        /* two more find the first step size, one completes the last state */
        check_equal("evaluations", s->force_evaluations, 2 * s->steps + s->rejected + 3);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_order();
    test_rest();
    test_rejected();
    return check_done();
}
