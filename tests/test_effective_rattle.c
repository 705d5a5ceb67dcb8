/* test_effective_rattle.c - the effective system by RATTLE and its compositions: their orders
 * against dop8 on the same system, and an energy T + U + W that does not drift over 10^6 steps
 * (TAUT_TEST_LONG; else 5 10^4), nor that of the mollified impulse method over 10^4. */
#include <math.h>

#include "support/run.h"

/* [E example 1] */
#define PENDULUM(eps)                                                                              \
    "[parameters]\neps = " eps "\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"        \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n"                                               \
    "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness eps^-2\n"                                       \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"
#define DOUBLE PENDULUM("1e-3")

static void end_of(const char *method, const char *more, double *q)
{
    char options[160];
    snprintf(options, sizeof options, "motion=effective verify=never until=1.5 method=%s %s",
             method, more);
    driven d = driven_create(DOUBLE, options, NULL);
    if (driven_good(options, &d)) {
        int code = taut_solver_advance(d.solver, 1.5, &d.error);
        check_row(code == 0, "%s: %s", options, d.error.message);
        memcpy(q, taut_solver_position(d.solver), 4 * sizeof *q);
    }
    driven_destroy(&d);
}

static void test_orders(void)
{
    static const struct {
        const char *method, *step[2];
        double order;
    } rows[] = {{"rattle", {"step=0.05", "step=0.025"}, 2},
                {"rattle4", {"step=0.15", "step=0.075"}, 4},
                {"rattle6", {"step=0.3", "step=0.15"}, 6}};
    double exact[4] = {0}, q[4] = {0};
    check_group("orders");
    end_of("effective", "rtol=1e-12", exact);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double error[2] = {0};
        for (int j = 0; j < 2; j++) {
            end_of(rows[k].method, rows[k].step[j], q);
            for (int i = 0; i < 4; i++)
                error[j] = fmax(error[j], fabs(q[i] - exact[i]));
        }
        double order = log2(error[0] / error[1]);
        check_row(fabs(order - rows[k].order) < 0.6 && error[0] < 1e-2,
                  "%s: errors %g, %g, order %.2f", rows[k].method, error[0], error[1], order);
    }
}

/* Means of the energy over the first and the last quarter; the motion itself is chaotic. */
static void check_energy(const char *method, const char *model, double h, int64_t steps, double off,
                         double drift)
{
    const int64_t rows = 5000;
    char options[200];
    static kept seen;
    seen = (kept){0};
    snprintf(options, sizeof options,
             "motion=effective verify=never method=%s step=%g until=%.17g every=%.17g", method, h,
             h * (double)steps, h * (double)steps / (double)rows);
    driven d = driven_create(model, options, NULL);
    if (driven_good(options, &d)) {
        taut_sink sink = kept_sink(&seen);
        taut_result result = {.size = sizeof result};
        int code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
        taut_solver_result_get(d.solver, &result, NULL);
        double quarter[4] = {0}, most = 0;
        for (int i = 0; i < rows && i < seen.rows; i++) {
            double change = seen.energy[i] - seen.energy[0];
            quarter[4 * i / rows] += 4 * change / (double)rows;
            most = fmax(most, fabs(change));
        }
        const double moved = fabs(quarter[3] - quarter[0]);
        check_row(code == 0 && result.statistics.steps == steps &&
                      (drift > 0 ? most < off && moved < drift : most > off),
                  "%s: %d after %lld steps: energy off by %g, quarters %g %g %g %g: %s", method,
                  code, (long long)result.statistics.steps, most, quarter[0], quarter[1],
                  quarter[2], quarter[3], d.error.message);
        /* no iteration but those of the multipliers: one slow force in each step */
        check_row(result.statistics.force_evaluations <= steps + 10, "%s: %lld force evaluations",
                  method, (long long)result.statistics.force_evaluations);
    }
    driven_destroy(&d);
}

/* Energies are about 6; with kicks that are not mollified they change by more than that. */
static void test_energy(void)
{
    check_group("energy");
    check_energy("rattle", DOUBLE, 0.02, getenv("TAUT_TEST_LONG") ? 1000000 : 50000, 2e-3, 3e-5);
    check_energy("mollified-impulse", PENDULUM("1e-2"), 0.05, 10000, 0.06, 0.01);
    check_energy("impulse", PENDULUM("1e-2"), 0.1, 10000, 5, 0); /* drifts */
}

/* RATTLE is effective only where that is specified, needs a step size and constant masses. */
static void test_choice(void)
{
    static const char cart[] = "[coordinates]\nx, r\n[kinetic]\n(1 + r^2)*x'^2/2\nr'^2/2\n[bonds]\n"
                               "rod = r - 1 stiffness 1e4\n[start]\nr = 1.01\nx' = 1\n";
    static const struct {
        const char *model, *options, *words;
    } rows[] = {{DOUBLE, "method=rattle motion=effective until=1", "a step size is required"},
                {cart, "method=rattle motion=effective until=1 step=0.01", "mass matrix"}};
    check_group("choice");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        check_row(d.code < 0 && strstr(d.error.message, rows[k].words), "%s: %s", rows[k].options,
                  d.error.message);
        driven_destroy(&d);
    }
    driven d = driven_create(DOUBLE, "method=rattle until=1e4 step=1e-4", NULL);
    if (driven_good("without a motion", &d)) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(strcmp(result.motion, "full") == 0, "motion %s", result.motion);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_orders();
    test_energy();
    test_choice();
    return check_done();
}
