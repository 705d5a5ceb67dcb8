/* test_radau_first.c - Radau IIA for first-order systems: orders, index 2, stiff relaxation,
 * refusals. */
#include "support/run.h"

/* Orders of z on y' = nu (cos t - y) - sin t with nu moderate, and of the index-2 system of C
 * example 1 (nu = 1): x = exp(t), order 2s - 1 and, for y, at least s [Hairer, Wanner II,
 * VII.4]. */
static void test_first_order(void)
{
    static const char decay[] =
        "[state]\nz\n[rates]\nz' = 3*(cos(t) - z) - sin(t)\n[start]\nz = 1\n";
    static const char index2[] =
        "[state]\nx1, x2\n[algebraic]\ny\n[rates]\nx1' = (2 - t)*y + 2*exp(t)\nx2' = exp(t)\n"
        "[constraints]\nc = (t + 2)*x1 + (t^2 - 4)*x2 - (t^2 + t - 2)*exp(t)\n"
        "[start]\nx1 = exp(t), x2 = exp(t), y = -exp(t)/(2 - t)\n";
    static const struct {
        const char *name, *model;
        int stages, steps;
        double exact, order, y_order;
    } rows[] = {{"decay", decay, 1, 100, 0.54030230586813971740, 1, 0},
                {"decay", decay, 2, 20, 0.54030230586813971740, 3, 0},
                {"decay", decay, 3, 10, 0.54030230586813971740, 5, 0},
                {"decay", decay, 4, 4, 0.54030230586813971740, 7, 0},
                {"index 2", index2, 2, 40, 2.71828182845904523536, 3, 2},
                {"index 2", index2, 3, 20, 2.71828182845904523536, 5, 3}};
    check_group("radau, first order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double error[2], y[2];
        for (int j = 0; j < 2; j++) {
            char options[200];
            snprintf(options, sizeof options, "method=radau%d until=1 step=%.17g",
                     2 * rows[k].stages - 1, 1.0 / (rows[k].steps << j));
            driven d = driven_create(rows[k].model, options, NULL);
            error[j] = y[j] = NAN;
            if (driven_good(options, &d)) {
                check_row(taut_solver_advance(d.solver, 1, &d.error) == 0, "%s: %s", options,
                          d.error.message);
                error[j] = fabs(taut_solver_position(d.solver)[0] - rows[k].exact);
                if (rows[k].y_order > 0)
                    y[j] = fabs(taut_solver_multipliers(d.solver)[0] + rows[k].exact);
            }
            driven_destroy(&d);
        }
        double slope = log2(error[0] / error[1]), y_slope = log2(y[0] / y[1]);
        check_row(fabs(slope - rows[k].order) < 0.45,
                  "%s, %d stages: order %.3f (%.3g, %.3g), expected %g", rows[k].name,
                  rows[k].stages, slope, error[0], error[1], rows[k].order);
        if (rows[k].y_order > 0)
            check_row(y_slope > rows[k].y_order - 0.3,
                      "%s, %d stages: order of y %.3f (%.3g, %.3g), at least %g", rows[k].name,
                      rows[k].stages, y_slope, y[0], y[1], rows[k].y_order);
    }
}

/* Stiff relaxation: steps follow the slow solution z = cos t, for every rate, also from a
 * initial state off it; rows lie on it. */
static void test_stiff_relaxation(void)
{
    check_group("radau, stiff relaxation");
    double steps = 0;
    for (int k = 0; k < 3; k++) {
        char model[200];
        static kept rows;
        snprintf(model, sizeof model, "[state]\nz\n[rates]\nz' = %g*(cos(t) - z)\n[start]\nz = 0\n",
                 k == 0   ? 1e4
                 : k == 1 ? 1e7
                          : 1e10);
        driven d =
            driven_create(model, "method=radau5 until=6 every=0.1 rtol=1e-6 atol=1e-8", NULL);
        if (driven_good("relaxation", &d)) {
            taut_sink sink = kept_sink(&rows);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0,
                      "relaxation: %s", d.error.message);
            double off = 0;
            for (int i = 1; i < rows.rows; i++)
                off = fmax(off, fabs(rows.q[i][0] - cos(rows.t[i])));
            taut_result r = {.size = sizeof r};
            taut_solver_result_get(d.solver, &r, NULL);
            check_row(off < 2e-4 && rows.rows == 61, "%d rows, off by %.3g", rows.rows, off);
            check_row(r.statistics.steps < 150 &&
                          (k == 0 || (double)r.statistics.steps < 1.5 * steps),
                      "%lld steps", (long long)r.statistics.steps);
            steps = fmax(steps, (double)r.statistics.steps);
        }
        driven_destroy(&d);
    }
}

/* Runs to `until`; the first two variables of the end. */
static taut_statistics follow(const char *model, const char *options, double until, double *z)
{
    taut_result result = {.size = sizeof result};
    char all[200];
    snprintf(all, sizeof all, "%s until=%g", options, until);
    driven d = driven_create(model, all, NULL);
    z[0] = z[1] = NAN;
    if (driven_good(all, &d)) {
        check_row(taut_solver_advance(d.solver, until, &d.error) == 0, "%s: %s", all,
                  d.error.message);
        keep(z, taut_solver_position(d.solver), 2);
        taut_solver_result_get(d.solver, &result, NULL);
    }
    driven_destroy(&d);
    return result.statistics;
}

/* Linear, of index 2, with df/dy and dg/dz nearly orthogonal [C example 1, nu = 1000; the
 * solution is exp(t)]: derivatives at every stage solve a step in one correction, and a second
 * one tells so; one Jacobian for all stages is worth little. */
static void test_oblique(void)
{
    static const char model[] =
        "[parameters]\nnu = 1000\n[state]\nx1, x2\n[algebraic]\ny\n[rates]\n"
        "x1' = (2 - t)*nu*y + (1 + nu)*exp(t)\nx2' = (nu - 1)*y + (1 + (nu - 1)/(2 - t))*exp(t)\n"
        "[constraints]\nc = (t + 2)*x1 + (t^2 - 4)*x2 - (t^2 + t - 2)*exp(t)\n"
        "[start]\nx1 = 1, x2 = 1, y = -0.5\n";
    check_group("radau, oblique constraints");
    for (int order = 3; order <= 9; order += 2) {
        char options[80];
        double q[2][2];
        snprintf(options, sizeof options, "method=radau%d rtol=1e-6 atol=1e-6", order);
        taut_statistics auto_form = follow(model, options, 1, q[0]);
        int64_t tries = auto_form.steps + auto_form.rejected;
        check_row(fmax(fabs(q[0][0] - exp(1)), fabs(q[0][1] - exp(1))) < 1e-4,
                  "%s: off by %.3g, %.3g", options, q[0][0] - exp(1), q[0][1] - exp(1));
        check_row(auto_form.newton_iterations <= 2 * tries + 2, "%s: %lld iterations in %lld tries",
                  options, (long long)auto_form.newton_iterations, (long long)tries);
    }
    /* fixed step size: the equations of backward Euler, solved with fractions (x1 = x2 at the end,
     * by the constraint at t = 1) */
    double z[2];
    follow(model, "method=radau1 step=0.001", 1, z);
    check_near("backward Euler, x1", z[0], 2.7182831898673543, 1e-11);
    check_near("backward Euler, x2", z[1], 2.7182831898673543, 1e-11);
    follow(model, "method=radau1 step=0.1", 0.1, z);
    check_near("backward Euler, x1 of one long step", z[0], 5.9220734505329887, 1e-9);
    check_near("backward Euler, x2 of one long step", z[1], 3.6403827772637219, 1e-9);
    /* x1 would end at -1.23e17 */
    driven d = driven_create(model, "method=radau1 step=0.1 until=1", NULL);
    if (driven_good("unstable", &d))
        check_equal("unstable", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                    TAUT_ERROR_STEP);
    driven_destroy(&d);
}

/* The form may be chosen for any first-order system: stiff relaxation, a nonlinear oscillator,
 * index 2, as with the other form. */
static void test_forms(void)
{
    static const char oblique[] = "[state]\nx1, x2\n[algebraic]\ny\n[rates]\nx1' = (2 - t)*10*y + "
                                  "11*exp(t)\nx2' = 9*y + (1 + 9/(2 - t))*exp(t)\n"
                                  "[constraints]\nc = (t + 2)*x1 + (t^2 - 4)*x2 - (t^2 + t - "
                                  "2)*exp(t)\n[start]\nx1 = 1, x2 = 1, y = -0.5\n";
    static const char *const models[] = {
        "[state]\nx, z\n[rates]\nx' = -1e4*(x - cos(t))\nz' = x^2\n[start]\nx = 1\n",
        "[state]\nx, z\n[rates]\nx' = z\nz' = 5*(1 - x^2)*z - x\n[start]\nx = 2\n", oblique};
    check_group("radau, forms of first order");
    for (int k = 0; k < 3; k++)
        for (int order = 1; order <= 9; order += 2) {
            double q[2][2];
            for (int form = 0; form < 2; form++) {
                char options[80];
                snprintf(options, sizeof options, "method=radau%d step=0.01 newton=%s", order,
                         form ? "tensor" : "stage");
                follow(models[k], options, 1, q[form]);
            }
            check_row(fabs(q[0][0] - q[1][0]) < 1e-10 && fabs(q[0][1] - q[1][1]) < 1e-10,
                      "model %d, radau%d: differ by %.3g, %.3g", k, order, q[0][0] - q[1][0],
                      q[0][1] - q[1][1]);
        }
}

static void test_refusal(void)
{
    check_group("radau, refusals");
    driven d = driven_create("[state]\nx, u\n[rates]\nx' = u\nu' = -x\n[constraints]\nc = x^2 + "
                             "u^2 - 1\n[start]\nx = 1\n",
                             "method=radau5 until=1", NULL);
    check_row(d.code < 0, "constraints without algebraic variables: %s", taut_code_name(d.code));
    check_row(strlen(d.error.message) > 20, "a sentence: %s", d.error.message);
    driven_destroy(&d);
}

int main(void)
{
    test_first_order();
    test_stiff_relaxation();
    test_oblique();
    test_forms();
    test_refusal();
    return check_done();
}
