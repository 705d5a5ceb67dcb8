/* test_outer_step.c - impulse methods without a step size of the user: one step size is chosen for
 * the run from the tolerance and the slow rate, errors fall with the tolerance, steps that turn out
 * to be too long are halved and reported, and the energy of long runs does not drift. */
#include <math.h>

#include "drive/solver.h"
#include "step/impulse.h"
#include "support/run.h"

/* [E example 1] */
#define DOUBLE(eps)                                                                                \
    "[parameters]\neps = " eps "\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"        \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n"                                               \
    "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness eps^-2\n"                                       \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"

static const char *const methods[] = {"projected-impulse", "mollified-impulse", "transformed"};
enum { METHODS = sizeof methods / sizeof methods[0] };

static driven open_run(const char *model, const char *method, const char *more)
{
    char options[200];
    snprintf(options, sizeof options, "motion=effective verify=never method=%s %s", method, more);
    driven d = driven_create(model, options, NULL);
    driven_good(method, &d);
    return d;
}

/* Largest difference from the effective system at the end. */
static double error_of(const driven *d, double end)
{
    double most = INFINITY;
    driven exact = open_run(DOUBLE("1e-3"), "effective", "until=1.5 rtol=1e-10");
    if (exact.code == 0 && taut_solver_advance(exact.solver, end, &exact.error) == 0) {
        const double *q = taut_solver_position(d->solver), *p = taut_solver_position(exact.solver);
        most = 0;
        for (int i = 0; i < 4; i++)
            most = fmax(most, fabs(q[i] - p[i]));
    }
    driven_destroy(&exact);
    return most;
}

/* Steps by the formula, errors of the order of the tolerance. */
static void test_tolerance(void)
{
    static const double rtol[] = {1e-2, 1e-3, 1e-4};
    check_group("errors follow the tolerance");
    for (int m = 0; m < METHODS; m++) {
        double error[3] = {0};
        for (int k = 0; k < 3; k++) {
            char more[80];
            snprintf(more, sizeof more, "until=1.5 rtol=%g", rtol[k]);
            driven d = open_run(DOUBLE("1e-3"), methods[m], more);
            if (d.code == 0) {
                taut_result result = {.size = sizeof result};
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                taut_solver_result_get(d.solver, &result, NULL);
                double rate = d.solver->stepper.slow_rate,
                       steps = fmax(16, ceil(1.5 * rate / sqrt(12 * rtol[k]))) +
                               1; /* the first is two */
                error[k] = error_of(&d, 1.5);
                check_row(code == 0 && result.rtol == rtol[k] && rate > 1.2 && rate < 1.7 &&
                              (double)result.statistics.steps == steps &&
                              result.statistics.rejected == 0 && error[k] <= rtol[k],
                          "%s, rtol %g: %lld steps, %g expected, error %g, slow rate %g",
                          methods[m], rtol[k], (long long)result.statistics.steps, steps, error[k],
                          rate);
            }
            driven_destroy(&d);
        }
        /* steps are at most 1/16 of the run, which limits the first */
        double slope = log10(error[1] / error[2]);
        check_row(slope > 0.7 && slope < 1.4 && error[0] > error[1], "%s: slope %g", methods[m],
                  slope);
    }
}

/* Without a tolerance: 1/separation, and a second run measures the error. */
static void test_default(void)
{
    check_group("the tolerance where none is given");
    driven d = driven_create(
        DOUBLE("1e-2"), "motion=effective verify=auto until=1.5 method=mollified-impulse", NULL);
    if (driven_good("default", &d)) {
        taut_result result = {.size = sizeof result};
        int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(code == 0 && fabs(result.rtol * d.solver->diagnosis.separation - 1) < 1e-12,
                  "rtol %g, separation %g: %s", result.rtol, d.solver->diagnosis.separation,
                  d.error.message);
        check_row(result.error_position < result.rtol && result.error > 0 &&
                      result.averaging_error < result.rtol,
                  "errors %g, %g of averaging, rtol %g", result.error, result.averaging_error,
                  result.rtol);
        check_row(strstr(taut_solver_explanation(d.solver), "remain with every step size"), "%s",
                  taut_solver_explanation(d.solver));
    }
    driven_destroy(&d);
}

/* Steps 16 times as long as they should be, and kicks across the bonds. */
static void test_reduced(void)
{
    static const struct {
        const char *method, *why;
        double longer;
    } rows[] = {{"projected-impulse", "the slow forces", 16},
                {"mollified-impulse", "the slow forces", 16},
                {"transformed", "the slow forces", 16},
                {"impulse", "the energy of the vibration", 1}};
    check_group("steps that are too long");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = open_run(DOUBLE("1e-3"), rows[k].method, "until=1.5 rtol=3e-4");
        if (d.code == 0) {
            double chosen = d.solver->step;
            d.solver->step *= rows[k].longer;
            int code = taut_solver_advance(d.solver, 1.5, &d.error);
            const taut_stepper *s = &d.solver->stepper;
            const char *notice = taut_solver_notice(d.solver, 0);
            check_row(code == 0 && s->reduced > 0 && s->reduced <= 4 * chosen &&
                          s->statistics->rejected > 0,
                      "%s: %d, reduced to %g, chosen %g: %s", rows[k].method, code, s->reduced,
                      chosen, d.error.message);
            check_row(notice && strstr(notice, rows[k].why), "%s: %s", rows[k].method,
                      notice ? notice : "no notice");
            check_row(error_of(&d, 1.5) < 3e-3, "%s: error %g", rows[k].method, error_of(&d, 1.5));
        }
        driven_destroy(&d);
    }
}

/* The energy of the vibrating state: mean over the first and over the last quarter. */
static void test_energy(void)
{
    enum { STEPS = 10000 };
    check_group("energy over 10^4 outer steps");
    driven d = open_run(DOUBLE("0.02"), "mollified-impulse", "until=1000 rtol=2e-3");
    if (d.code == 0) {
        double quarter[4] = {0}, most = 0, first = NAN, h = d.solver->step;
        const taut_impulse *w = d.solver->stepper.work;
        int code = 0;
        for (int k = 0; k < STEPS && code == 0; k++) {
            const double *x = w->x, *v = w->v;
            double inner = hypot(x[0], x[1]) - 1, outer = hypot(x[0] - x[2], x[1] - x[3]) - 1,
                   energy = x[1] + x[3] + (inner * inner + outer * outer) / (2 * 0.02 * 0.02);
            for (int i = 0; i < 4; i++)
                energy += v[i] * v[i] / 2;
            first = k == 0 ? energy : first;
            quarter[4 * k / STEPS] += 4 * (energy - first) / STEPS;
            most = fmax(most, fabs(energy - first));
            code = taut_solver_advance(d.solver, (k + 1) * h, &d.error);
        }
        check_row(code == 0 && d.solver->statistics.steps == STEPS + 1 && most < 0.15 &&
                      fabs(quarter[3] - quarter[0]) < 0.02,
                  "%d after %lld steps of %g: energy off by %g, means of quarters %g %g %g %g",
                  code, (long long)d.solver->statistics.steps, h, most, quarter[0], quarter[1],
                  quarter[2], quarter[3]);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_tolerance();
    test_default();
    test_reduced();
    test_energy();
    return check_done();
}
