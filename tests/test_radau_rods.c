/* test_radau_rods.c - Radau IIA with adaptive step size holds rigid bonds in position and in
 * velocity, to rounding and for a long time, and costs as much as on stiff springs; with a fixed
 * step size it is the method itself. */
#include "support/run.h"

#define PENDULUM                                                                                   \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = x^2 + y^2 - 1 rigid\n[start]\nx = 1\n"
#define DRIVEN                                                                                     \
    "[coordinates]\na, x, y\n[potential]\ny\n[bonds]\ncrank = a - 2*t rigid\nrod = hypot(x - "     \
    "cos(a), y - sin(a)) - 3 rigid\n"                                                              \
    "[start]\na = 0, a' = 2, x = 4, y = 0, y' = 2\n"
#define MIXED                                                                                      \
    "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\nrod = hypot(x1, y1) - 1 "       \
    "rigid\n"                                                                                      \
    "spring = hypot(x2 - x1, y2 - y1) - 1 stiffness 1e8\n[start]\nx1 = 1, x2 = 2\n"
#define VARYING                                                                                    \
    "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + "                                                   \
    "r^2*phi'^2)/2\n[potential]\n-r*cos(phi)\n[bonds]\nrod = r*(1 + phi^2/10) - 1 "                \
    "rigid\n"                                                                                      \
    "[start]\nphi = 1, r = 1/1.1\n"

static const struct {
    const char *name, *model, *motion;
} models[] = {{"pendulum", PENDULUM, "rigid"},
              {"driven", DRIVEN, "rigid"},
              {"mixed", MIXED, "slow"},
              {"varying mass", VARYING, "rigid"}};

/* The result of a run; drifts are NaN where it failed. */
static taut_result run(const char *model, const char *options)
{
    taut_result result = {.size = sizeof result, .drift_position = NAN, .drift_velocity = NAN};
    driven d = driven_create(model, options, NULL);
    static kept rows;
    taut_sink sink = kept_sink(&rows);
    if (driven_good(options, &d) &&
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s", options,
                  d.error.message))
        taut_solver_result_get(d.solver, &result, NULL);
    driven_destroy(&d);
    return result;
}

#define DOUBLE_PENDULUM                                                                            \
    "[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = hypot(x1, y1) - 1 %s\n"                       \
    "outer = hypot(x2 - x1, y2 - y1) - 1 %s\n[start]\nx1 = 1, x2 = 2, y1' = -0.5, y2' = 0.5\n"

static int64_t evaluations(const char *stiffness, const char *motion, int digits)
{
    char model[400], options[160];
    snprintf(model, sizeof model, DOUBLE_PENDULUM, stiffness, stiffness);
    snprintf(options, sizeof options, "method=radau5 motion=%s until=10 every=10 rtol=1e-%d",
             motion, digits);
    return run(model, options).statistics.force_evaluations;
}

/* Rigid bonds are the limit of stiff springs, in costs too. */
static void test_counts(void)
{
    static const char *const stiff[] = {"stiffness 1e6", "stiffness 1e8", "stiffness 1e10",
                                        "stiffness 1e12"};
    static const int most[] = {250, 345, 500, 800, 1370};
    check_group("evaluations");
    for (int digits = 4; digits <= 8; digits++) {
        int64_t rigid = evaluations("rigid", "rigid", digits);
        check_row(rigid <= most[digits - 4], "rigid, rtol 1e-%d: %d evaluations", digits,
                  (int)rigid);
        for (int k = 0; k < 4; k++) {
            double ratio = (double)rigid / (double)evaluations(stiff[k], "slow", digits);
            check_row(ratio < 1.1 && ratio > 0.9, "%s, rtol 1e-%d: rigid takes %d, %.3f of that",
                      stiff[k], digits, (int)rigid, ratio);
        }
    }
}

static void test_long(void)
{
    check_group("t = 1000");
    char model[400];
    snprintf(model, sizeof model, DOUBLE_PENDULUM, "rigid", "rigid");
    taut_result r = run(model, "method=radau5 motion=rigid until=1000 every=1 rtol=1e-5");
    check_below("rods", r.drift_position, 1e-15);
    check_below("their rates", r.drift_velocity, 1e-15);
}

/* A pendulum of length 1 pulls with v^2 - y, half of it in the unit of x^2 + y^2 - 1; with a
 * spring too, whose pull is as it is stretched. */
static void test_pull(void)
{
    check_group("pull of a rod");
    /* states are solved for to a twentieth of the tolerance */
    static const char *const motions[] = {"rigid", "full"};
    for (int order = 1; order <= 9; order += 2)
        for (int k = 0; k < 2; k++) {
            char options[160];
            snprintf(options, sizeof options, "method=radau%d motion=%s until=1 rtol=1e-%d", order,
                     motions[k], order == 1 ? 4 : 6);
            driven d = driven_create(PENDULUM, options, NULL);
            if (driven_good(options, &d) &&
                check_row(taut_solver_advance(d.solver, 1, &d.error) == 0, "%s", d.error.message)) {
                const double *q = taut_solver_position(d.solver),
                             *v = taut_solver_velocity(d.solver);
                check_near(options, taut_solver_multipliers(d.solver)[0],
                           (v[0] * v[0] + v[1] * v[1] - q[1]) / (2 * (q[0] * q[0] + q[1] * q[1])),
                           1e-7);
            }
            driven_destroy(&d);
        }
    driven d = driven_create(MIXED, "method=radau5 motion=full until=0.01 rtol=1e-10", NULL);
    if (driven_good("mixed", &d) &&
        check_row(taut_solver_advance(d.solver, 0.01, &d.error) == 0, "%s", d.error.message)) {
        const double *q = taut_solver_position(d.solver), *v = taut_solver_velocity(d.solver);
        const double *lambda = taut_solver_multipliers(d.solver);
        double length = hypot(q[2] - q[0], q[3] - q[1]),
               along = (q[0] * (q[2] - q[0]) + q[1] * (q[3] - q[1])) / length;
        check_near("spring", lambda[1], 1e8 * (length - 1), 1e-3);
        check_near("rigid bond and spring", lambda[0],
                   v[0] * v[0] + v[1] * v[1] - q[1] + lambda[1] * along, 1e-3);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_pull();
    test_counts();
    test_long();
    check_group("adaptive step size");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++)
        for (int order = 1; order <= 9; order += 2) {
            char options[160];
            snprintf(options, sizeof options,
                     "method=radau%d motion=%s until=2 every=0.25 rtol=1e-%d", order,
                     models[k].motion, order == 1 ? 3 : 6);
            taut_result r = run(models[k].model, options);
            double position = r.drift_position, velocity = r.drift_velocity;
            check_row(position <= 4e-15, "%s, %s: |g| %.3g", models[k].name, options, position);
            check_row(velocity <= 1e-13, "%s, %s: |gdot| %.3g", models[k].name, options, velocity);
        }

    /* fixed step size: order s across the rigid bond [B Theorem 4.1], the same as docs/sources.md,
     * B observes in y' */
    check_group("fixed step size");
    for (int s = 2; s <= 3; s++) {
        double before = NAN, order = NAN;
        for (int steps = 20; steps <= 80; steps *= 2) {
            char options[120];
            snprintf(options, sizeof options, "method=radau%d motion=rigid until=1 step=%.17g",
                     2 * s - 1, 1.0 / steps);
            double velocity = run(PENDULUM, options).drift_velocity;
            order = log2(before / velocity);
            before = velocity;
        }
        check_row(fabs(order - s) < 0.2, "radau%d: order %.3g across the rod, expected %d",
                  2 * s - 1, order, s);
    }
    return check_done();
}
