/* test_radau_damped.c - the error estimate of Radau IIA with damped bonds: steps follow the motion,
 * not the damping.
 *
 * A mass on a spring k with a damper d and a moving foot, in closed form:
 *     x'' + d (x' - y') + k (x - y) = 0, y = A sin(w t)
 * is Im(X exp(i w t)) + c1 exp(r1 t) + c2 exp(r2 t), X = A (k + i d w)/(k - w^2 + i d w). A
 * pendulum on a damped spring is compared with another Radau code. */
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

/* The same pendulum by an independent Radau IIA method of order 5 for y' = f(t, y), with the
 * controller of Hairer and Wanner: x and y at t = 2, and for rtol = atol = 1e-4 .. 1e-9 its
 * accepted steps and the error of its positions (tests/oracle/radau5.py). */
static const struct {
    double k, d, q[2];
    struct {
        double steps, error;
    } by[6];
} others[] = {
    {100,
     10,
     {0.252113925725809, -1.19302742129267},
     {{38, 8.8e-6}, {63, 4e-7}, {108, 1.9e-8}, {191, 9.7e-10}, {338, 5.2e-11}, {605, 2.6e-12}}},
    {100,
     1000,
     {0.788306243033481, -0.657941649979554},
     {{77, 1.9e-5}, {100, 5.7e-7}, {123, 1.4e-8}, {208, 3.9e-9}, {355, 5.9e-11}, {639, 1.4e-12}}},
    {100,
     1e4,
     {0.793126360442625, -0.613846718986922},
     {{147, 1.9e-4}, {195, 1.8e-6}, {264, 1.6e-7}, {308, 1e-8}, {428, 7.3e-11}, {659, 9.6e-12}}},
    {1e4,
     100,
     {0.787284301434194, -0.619659971508043},
     {{80, 1.5e-6}, {118, 4.7e-8}, {171, 1.9e-9}, {283, 9e-11}, {463, 6.7e-12}, {767, 3.3e-13}}},
    {1e4,
     1e4,
     {0.793136184020725, -0.611407163700479},
     {{160, 2.6e-5}, {196, 1.8e-6}, {268, 1.3e-7}, {315, 9.3e-9}, {419, 5.9e-11}, {665, 1.1e-11}}},
};

/* Its steps for an error, between those of the table. */
static double other_steps(int c, double error)
{
    int i = 0;
    while (i < 4 && error < others[c].by[i + 1].error)
        i++;
    double e0 = log(others[c].by[i].error), e1 = log(others[c].by[i + 1].error),
           n0 = log(others[c].by[i].steps), n1 = log(others[c].by[i + 1].steps);
    return exp(n0 + (n1 - n0) * (log(error) - e0) / (e1 - e0));
}

/* The bond is not linear: what is taken out of the estimate for a state off the slow manifold
 * (radau_estimate.c, forgive) is not zero.
 *
 * In full motion velocities and the spring's force have their own tolerances, and the force has the
 * error of the velocity along the bond times the damping. Of 328 steps with k = d = 1e4 some 50
 * resolve the first 0.05, where the force builds up; in the swing they are 0.006 to 0.01 long, as
 * velocity and force need. Positions become 10 to 1000 times as accurate as requested: hence 141 to
 * 390 steps at a tolerance of 1e-7. For the accuracy that they have, the other code needs as many.
 */
static void test_pendulum(void)
{
    static const char *const motions[] = {"full", "slow"};
    check_group("pendulum on a damped spring");
    for (int c = 0; c < (int)(sizeof others / sizeof others[0]); c++)
        for (int k = 0; k < 2; k++) {
            char model[300], options[160];
            double q[KEPT_WIDTH], v[KEPT_WIDTH];
            snprintf(model, sizeof model,
                     "[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\nb = hypot(x, y) - 1 "
                     "stiffness %g damping %g\n[start]\nx = 1\n",
                     others[c].k, others[c].d);
            snprintf(options, sizeof options, "method=radau5 motion=%s until=2 rtol=1e-7 atol=1e-7",
                     motions[k]);
            int64_t steps = run(model, options, 2, q, v);
            double off = hypot(q[0] - others[c].q[0], q[1] - others[c].q[1]),
                   most = k == 0 ? 1.5 * other_steps(c, off) : 150;
            check_row(off <= 2e-6, "%s, k %g, d %g: off by %.3g", options, others[c].k, others[c].d,
                      off);
            check_row(steps <= most, "%s, k %g, d %g: %lld steps, at most %.0f", options,
                      others[c].k, others[c].d, (long long)steps, most);
        }
}

int main(void)
{
    test_springs();
    test_pendulum();
    return check_done();
}
