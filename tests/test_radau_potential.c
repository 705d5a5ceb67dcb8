/* test_radau_potential.c - Radau IIA with stiff potentials: steps and Newton's iterations do not
 * depend on the stiffness [B Lemma 8.2], the limit is the rigid system, and no step changes the
 * branch of the potential. */
#include "support/run.h"

#define HEAD "[parameters]\nomega = %g\n[coordinates]\nx, y\n[potential]\ny\n"
/* models/quartic_rod.taut */
#define QUARTIC                                                                                    \
    HEAD "[definitions]\ns = x^2 + y^2 - 1\n[stiff potential]\ns^2/8 + s^3/12 + s^4/32 scale "     \
         "omega^2\n[start]\nx = 1\n"
/* the force across the circle is not radial where y is not 0: r of B (8.7) does not vanish */
#define SKEW                                                                                       \
    HEAD "[definitions]\ns = (x^2 + y^2 - 1)/2\n[stiff potential]\ns^2*(1 + y^2 + x*y)/2 "         \
         "scale omega^2\n[start]\nx = 1\n"
#define RIGID HEAD "[bonds]\nrod = (x^2 + y^2 - 1)/2 rigid\n[start]\nx = 1\n"
/* the length changes with time */
#define MOVING                                                                                     \
    HEAD "[definitions]\ns = hypot(x, y) - 1 - sin(t)/10\n[stiff potential]\ns^2/2 + s^3/3 + "     \
         "s^4/4 scale omega^2\n[start]\nx = 1, x' = 0.1\n"
#define MOVING_RIGID                                                                               \
    HEAD "[bonds]\nrod = hypot(x, y) - 1 - sin(t)/10 rigid\n[start]\nx = 1, x' = 0.1\n"
#define TWO                                                                                        \
    "[parameters]\nomega = %g\n[coordinates]\na, b, x, y\n[potential]\nb + "                       \
    "y\n[definitions]\nu = hypot(a, b) - 1, w = hypot(x - a, y - b) - 1\n"
/* a potential of rank 2; of rank 1 together with a rigid bond */
#define TWO_POTENTIALS                                                                             \
    TWO "[stiff potential]\n(u^2 + w^2 + u*w)/2 + u^3/3 + u*w^2/4 + u^4 + w^4 scale omega^2\n"     \
        "[start]\na = 1, x = 2\n"
#define MIXED                                                                                      \
    TWO "[bonds]\nrod = u rigid\n[stiff potential]\nw^2/2 + w^3/3 + w^4/4 scale "                  \
        "omega^2\n[start]\na = 1, x = 2\n"
#define TWO_RIGID TWO "[bonds]\nc = u rigid\nd = w rigid\n[start]\na = 1, x = 2\n"

typedef struct ended {
    taut_statistics cost;
    double q[KEPT_WIDTH], v[KEPT_WIDTH], energy; /* the largest change */
    int code;
    char text[1000];
} ended;

static ended run(const char *model, double omega, const char *options)
{
    char text[1000];
    static kept rows;
    ended e = {.energy = NAN};
    snprintf(text, sizeof text, model, omega);
    driven d = driven_create(text, options, NULL);
    if (!driven_good(options, &d)) {
        driven_destroy(&d);
        return e;
    }
    taut_sink sink = kept_sink(&rows);
    e.code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
    snprintf(e.text, sizeof e.text, "%s", d.error.message);
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(d.solver, &result, NULL);
    e.cost = result.statistics;
    e.energy = 0;
    for (int i = 0; i < rows.rows && i < KEPT_ROWS; i++)
        e.energy = fmax(e.energy, fabs(rows.energy[i] - rows.energy[0]));
    keep(e.q, taut_solver_position(d.solver), rows.n);
    keep(e.v, taut_solver_velocity(d.solver), rows.n);
    driven_destroy(&d);
    return e;
}

/* ---- against the rigid system */

static const struct {
    const char *name, *model, *rigid;
    int n;
    double until, energy; /* bound of its change at rtol 1e-6; 0: it changes */
} models[] = {{"quartic", QUARTIC, RIGID, 2, 10, 1e-5},
              {"skew", SKEW, RIGID, 2, 10, 1e-5},
              {"moving", MOVING, MOVING_RIGID, 2, 5, 0},
              {"rank 2", TWO_POTENTIALS, TWO_RIGID, 4, 2, 1e-5},
              {"with a rigid bond", MIXED, TWO_RIGID, 4, 2, 1e-5}};

static bool alike(int64_t x, int64_t y)
{
    return fabs((double)(x - y)) <= 0.1 * (double)(x < y ? x : y);
}

/* Counts over five powers of ten of the stiffness, each compared with the largest one. */
static void test_limit(int which, int order, double rtol)
{
    char options[160];
    snprintf(options, sizeof options, "motion=rigid method=dop8 until=%g rtol=1e-11 atol=1e-12",
             models[which].until);
    ended rigid = run(models[which].rigid, 1, options), first = {0};
    snprintf(options, sizeof options, "motion=slow method=radau%d until=%g rtol=%g", order,
             models[which].until, rtol);
    for (double omega = 1e8; omega > 999; omega /= 10) {
        ended e = run(models[which].model, omega, options);
        double off = 0, allowed = 20 * rtol + 50 / (omega * omega);
        if (!check_row(e.code == 0, "%s, omega %g, %s: %s", models[which].name, omega, options,
                       e.text))
            continue;
        for (int k = 0; k < models[which].n; k++)
            off = fmax(off, fabs(e.q[k] - rigid.q[k]));
        check_row(off <= allowed, "%s, omega %g, %s: off by %.3g, allowed %.3g", models[which].name,
                  omega, options, off, allowed);
        if (models[which].energy > 0)
            check_row(e.energy <= models[which].energy, "%s, omega %g, %s: energy changes by %.3g",
                      models[which].name, omega, options, e.energy);
        if (omega > 9e7)
            first = e;
        int64_t steps = e.cost.steps + e.cost.rejected,
                expected = first.cost.steps + first.cost.rejected;
        check_row(alike(steps, expected), "%s, omega %g, %s: %lld steps, %lld at 1e8",
                  models[which].name, omega, options, (long long)steps, (long long)expected);
        check_row(alike(e.cost.newton_iterations, first.cost.newton_iterations),
                  "%s, omega %g, %s: %lld iterations, %lld at 1e8", models[which].name, omega,
                  options, (long long)e.cost.newton_iterations,
                  (long long)first.cost.newton_iterations);
    }
}

/* ---- branches */

/* The origin is a maximum of the quartic, where its force vanishes too. */
static void test_branch(void)
{
    check_group("another branch");
    ended e = run(QUARTIC, 1e8, "motion=full method=radau5 until=10 rtol=1e-6 every=step");
    check_row(e.code == 0, "full motion: %s", e.text);
    check_near("full motion: radius", hypot(e.q[0], e.q[1]), 1, 1e-6);
    check_row(e.energy < 1, "full motion: energy changes by %.3g", e.energy);
    static const struct {
        double omega;
        const char *options;
    } rows[] = {{10, "motion=slow method=radau1 until=30 step=2"},
                {10, "motion=full method=radau1 until=30 step=2"},
                {30, "motion=slow method=radau3 until=30 step=1"}};
    for (int k = 0; k < 3; k++) {
        e = run(QUARTIC, rows[k].omega, rows[k].options);
        check_row(e.code < 0 && strstr(e.text, "another branch of the stiff potential"),
                  "omega %g, %s: %d, %s", rows[k].omega, rows[k].options, e.code, e.text);
        check_row(hypot(e.q[0], e.q[1]) > 0.5, "omega %g, %s: ends at (%g, %g)", rows[k].omega,
                  rows[k].options, e.q[0], e.q[1]);
    }
}

int main(void)
{
    check_group("steps do not depend on the stiffness of a potential");
    for (int which = 0; which < 5; which++) {
        test_limit(which, 5, 1e-6);
        test_limit(which, 5, 1e-8);
        test_limit(which, 9, 1e-8);
    }
    test_branch();
    return check_done();
}
