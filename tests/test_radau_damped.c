/* test_radau_damped.c - the error estimate of Radau IIA with damped bonds: steps follow the motion,
 * not the damping.
 *
 * A mass on a spring k with a damper d and a moving foot, in closed form:
 *     x'' + d (x' - y') + k (x - y) = 0, y = A sin(w t)
 * is Im(X exp(i w t)) + c1 exp(r1 t) + c2 exp(r2 t), X = A (k + i d w)/(k - w^2 + i d w). A
 * pendulum on a damped spring is compared with dop8. */
#include <complex.h>

#include "support/run.h"

static const struct {
    double k, d, A, w, x, until;
} springs[] = {{25, 0, 0, 0, 1, 2},       {25, 1, 0, 0, 1, 2},        {25, 9.9, 0, 0, 1, 2},
               {25, 75, 0, 0, 1, 2},      {25, 100, 0, 0, 1, 2},      {100, 5, 0.1, 10, 0, 10},
               {100, 50, 0.1, 10, 0, 10}, {1e4, 100, 0.1, 10, 0, 10}, {1e6, 1e4, 0.1, 10, 0, 10}};
enum { SPRINGS = sizeof springs / sizeof springs[0] };

/* x and x' at the end. */
static void closed_form(int row, double *x, double *v)
{
    double k = springs[row].k, d = springs[row].d, w = springs[row].w, t = springs[row].until;
    double complex root = csqrt(d * d / 4 - k), r1 = -d / 2 + root, r2 = -d / 2 - root;
    double complex amplitude = springs[row].A * (k + I * d * w) / (k - w * w + I * d * w);
    double complex x0 = springs[row].x - cimag(amplitude), v0 = -cimag(I * w * amplitude);
    double complex c1 = (v0 - r2 * x0) / (r1 - r2), c2 = x0 - c1;
    *x = cimag(amplitude * cexp(I * w * t)) + creal(c1 * cexp(r1 * t) + c2 * cexp(r2 * t));
    *v = cimag(I * w * amplitude * cexp(I * w * t)) +
         creal(r1 * c1 * cexp(r1 * t) + r2 * c2 * cexp(r2 * t));
}

/* Runs to `until`; the end in q[2] and v[2], steps and rejected ones together. */
static int64_t run(const char *model, const char *options, double until, double *q, double *v)
{
    driven d = driven_create(model, options, NULL);
    taut_result result = {.size = sizeof result};
    q[0] = NAN;
    if (driven_good(options, &d) && check_row(taut_solver_advance(d.solver, until, &d.error) == 0,
                                              "%s: %s", options, d.error.message)) {
        taut_sizes sizes = {.size = sizeof sizes};
        taut_system_sizes_get(d.system, &sizes, NULL);
        keep(q, taut_solver_position(d.solver), sizes.coordinates);
        keep(v, taut_solver_velocity(d.solver), sizes.coordinates);
        taut_solver_result_get(d.solver, &result, NULL);
    }
    driven_destroy(&d);
    return result.statistics.steps + result.statistics.rejected;
}

static int64_t run_spring(int row, int order, double tol, const char *motion)
{
    char model[400], options[200];
    snprintf(model, sizeof model,
             "[coordinates]\nx\n[bonds]\nspring = x - %g*sin(%g*t) stiffness %g damping %g\n"
             "[start]\nx = %g\n",
             springs[row].A, springs[row].w, springs[row].k, springs[row].d, springs[row].x);
    snprintf(options, sizeof options, "method=radau%d motion=%s until=%g rtol=%g atol=%g", order,
             motion, springs[row].until, tol, tol);
    double q[KEPT_WIDTH], v[KEPT_WIDTH], x, speed;
    int64_t steps = run(model, options, springs[row].until, q, v);
    closed_form(row, &x, &speed);
    check_row(fabs(q[0] - x) <= 10 * tol, "k %g, d %g, %s: x off by %.3g", springs[row].k,
              springs[row].d, options, q[0] - x);
    check_row(fabs(v[0] - speed) <= 50 * tol, "k %g, d %g, %s: x' off by %.3g", springs[row].k,
              springs[row].d, options, v[0] - speed);
    return steps;
}

/* The estimate falls with the power of h that the step-size control counts on, and a damped spring
 * costs no more than a free one. */
static void test_springs(void)
{
    static const struct {
        int order, power;
    } methods[] = {{5, 5}, {7, 6}, {9, 7}};
    check_group("spring and damper");
    for (int m = 0; m < 3; m++) {
        int64_t undamped = 0;
        for (int row = 0; row < SPRINGS; row++) {
            int64_t coarse = run_spring(row, methods[m].order, 1e-4, "full"),
                    fine = run_spring(row, methods[m].order, 1e-8, "full");
            double most = 1.3 * coarse * pow(1e4, 1.0 / methods[m].power) + 10;
            if (row == 0)
                undamped = fine;
            check_row(fine <= most, "k %g, d %g, radau%d: %lld steps, then %lld; at most %.0f",
                      springs[row].k, springs[row].d, methods[m].order, (long long)coarse,
                      (long long)fine, most);
            if (springs[row].A == 0)
                check_row(fine <= 1.1 * undamped, "d %g, radau%d: %lld steps, without damping %lld",
                          springs[row].d, methods[m].order, (long long)fine, (long long)undamped);
        }
    }
}

/* The bond is not linear: what is taken out of the estimate for a state off the slow manifold
 * (radau_estimate.c, forgive) is not zero. */
static void test_pendulum(void)
{
    static const double cases[][2] = {{100, 10}, {100, 1000}, {100, 1e4}, {1e4, 100}, {1e4, 1e4}};
    static const char *const motions[] = {"full", "slow"};
    check_group("pendulum on a damped spring");
    for (int c = 0; c < 5; c++)
        for (int k = 0; k < 2; k++) {
            char model[300], options[160];
            double q[KEPT_WIDTH], v[KEPT_WIDTH], expected[KEPT_WIDTH], speed[KEPT_WIDTH];
            snprintf(model, sizeof model,
                     "[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\nb = hypot(x, y) - 1 "
                     "stiffness %g damping %g\n[start]\nx = 1\n",
                     cases[c][0], cases[c][1]);
            snprintf(options, sizeof options, "method=radau5 motion=%s until=2 rtol=1e-7 atol=1e-7",
                     motions[k]);
            int64_t steps = run(model, options, 2, q, v);
            run(model, "method=dop8 motion=full until=2 rtol=1e-9 atol=1e-10", 2, expected, speed);
            double off = hypot(q[0] - expected[0], q[1] - expected[1]);
            check_row(off <= 2e-6, "%s, k %g, d %g: off by %.3g", options, cases[c][0], cases[c][1],
                      off);
            /* in full motion velocities and the spring's force have their own tolerances */
            check_row(steps <= (k == 0 ? 420 : 150), "%s, k %g, d %g: %lld steps", options,
                      cases[c][0], cases[c][1], (long long)steps);
        }
}

int main(void)
{
    test_springs();
    test_pendulum();
    return check_done();
}
