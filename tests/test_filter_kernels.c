/* test_filter_kernels.c - kernels as data: coefficients, moments, decay, zeros at given
 * frequencies, orders, and weights tuned to frequencies. Oracles: the polynomials of
 * docs/sources.md, A, moments and exact responses. */
#include "filter/filter_kernels.h"
#include "support/project.h"
#include "support/stated.h"

/* The polynomial p of K = w(t) p(t^2) whose discrete moments 0, 2, .., mu - 1 over the samples
 * j/steps are exact: p solves the moment equations, here by elimination in long double. Returns
 * K(t). */
static double moment_kernel(const taut_filter_kernel *kernel, int steps, double t)
{
    enum { MOST = (TAUT_FILTER_KERNEL_MOMENTS + 1) / 2 };
    int size = (kernel->moments + 1) / 2;
    long double a[MOST][MOST + 1] = {{0}}, value = 0;
    a[0][size] = steps;
    for (int j = 1 - steps; j < steps; j++) {
        long double u = (long double)j * j / ((long double)steps * steps);
        for (int i = 0; i < size; i++)
            for (int k = 0; k < size; k++)
                a[i][k] += powl(1 - u, kernel->smooth + 1) * powl(u, i + k);
    }
    /* Gauss and Jordan; the moment matrix is positive definite */
    for (int i = 0; i < size; i++)
        for (int row = 0; row < size; row++) {
            long double factor = a[row][i] / a[i][i];
            for (int k = i; k <= size && row != i; k++)
                a[row][k] -= factor * a[i][k];
        }
    for (int i = size - 1; i >= 0; i--)
        value = value * t * t + a[i][size] / a[i][i];
    return (double)(value * powl(1 - (long double)t * t, kernel->smooth + 1));
}

/* Weights of N steps are K_N(j/N)/N, where the discrete moments of K_N are exact; K_N tends to K
 * with the error of the trapezoidal rule, N^-6 for nu = 3 and 4 (Euler and Maclaurin), which is
 * below rounding at N = 2000. For mu = 1, nu = 0 K_N is K/(1 - 1/(4 N^2)). The library's weights
 * are compared at few steps: the centre is 1 less the others, so that N times it carries N
 * roundings. */
static void test_values(void)
{
    enum { STEPS = 20, FINE = 2000 };
    check_group("kernel coefficients"); /* docs/sources.md, A, "better kernels" */
    taut_filter_kernel five = {5, 3}, seven = {7, 4}, one = {1, 0};
    double weight[3][STEPS + 1];
    taut_filter_kernel_weights(&five, STEPS, 0, weight[0]);
    taut_filter_kernel_weights(&seven, STEPS, 0, weight[1]);
    taut_filter_kernel_weights(&one, 4, 0, weight[2]);
    check_near("mu = 1, centre", 4 * weight[2][0], 0.75 / (1 - 0.25 / 16), 1e-15);
    taut_filter_kernel_weights(&one, STEPS, 0, weight[2]);
    for (int k = 0; k <= STEPS; k++) {
        double t = (double)k / STEPS, u = t * t;
        check_near("mu = 5, limit", moment_kernel(&five, FINE, t),
                   pow(1 - u, 4) * (45045 + u * (-450450 + u * 765765)) / 16384, 1e-13);
        check_near("mu = 5", STEPS * weight[0][k], moment_kernel(&five, STEPS, t), 1e-13);
        check_near("mu = 7, limit", moment_kernel(&seven, FINE, t),
                   pow(1 - u, 5) * (3828825 + u * (-72747675 + u * (305540235 - u * 334639305))) /
                       1048576,
                   1e-13);
        check_near("mu = 7", STEPS * weight[1][k], moment_kernel(&seven, STEPS, t), 1e-13);
        if (k > 0)
            check_near("mu = 1", STEPS * weight[2][k], 0.75 * (1 - u) / (1 - 0.25 / STEPS / STEPS),
                       1e-15);
    }
}

/* sum_j w_j (j/N)^power over both sides */
static double moment(int steps, const double *weight, int power, int parity)
{
    double sum = power == 0 ? weight[0] : 0;
    for (int j = 1; j <= steps; j++)
        sum += (parity == power % 2 ? 2 : 0) * weight[j] * pow((double)j / steps, power);
    return sum;
}

static void test_moments(void)
{
    check_group("discrete moments");
    double weight[64];
    for (int mu = 1; mu <= 9; mu += 2)
        for (int nu = -1; nu <= 6; nu++)
            for (int steps = 16; steps <= 43; steps += 9) {
                taut_filter_kernel kernel = {mu, nu};
                char what[80];
                taut_filter_kernel_weights(&kernel, steps, 0, weight);
                for (int power = 0; power <= mu; power++) {
                    snprintf(what, sizeof what, "mu %d, nu %d, N %d, moment %d", mu, nu, steps,
                             power);
                    check_near(what, moment(steps, weight, power, 0), power == 0, 2e-14);
                }
                taut_filter_kernel_weights(&kernel, steps, 1, weight);
                for (int power = 1; power <= mu + 1; power += 2) {
                    snprintf(what, sizeof what, "derivative, mu %d, nu %d, N %d, moment %d", mu, nu,
                             steps, power);
                    check_near(what, moment(steps, weight, power, 1) * steps, power == 1, 1e-12);
                }
            }
    taut_filter_kernel kernel = {5, 3};
    taut_filter_kernel_weights(&kernel, 30, 4, weight);
    for (int power = 0; power <= 4; power += 2)
        check_near("fourth derivative", moment(30, weight, power, 0) * pow(30, 4),
                   power == 4 ? 24 : 0, 1e-9);
}

static double largest_response(int steps, const double *weight, double from, double to)
{
    double most = 0;
    for (int k = 0; k <= 400; k++)
        most = fmax(most, fabs(taut_filter_kernel_response(
                              steps, weight, (from + (to - from) * k / 400) / steps)));
    return most;
}

/* A kernel whose derivatives up to nu vanish at the ends damps as (window omega)^-(nu+2) [A
 * lemma 3.2]; a bump faster than every power. */
static void test_decay(void)
{
    check_group("decay");
    enum { STEPS = 1500 };
    double weight[STEPS + 1];
    for (int nu = 0; nu <= 3; nu++) {
        taut_filter_kernel kernel = {3, nu};
        taut_filter_kernel_weights(&kernel, STEPS, 0, weight);
        double slope = log2(largest_response(STEPS, weight, 100, 110) /
                            largest_response(STEPS, weight, 200, 210));
        check_near("slope", slope, nu + 2, 0.25);
    }
    taut_filter_kernel bump = {3, -1};
    taut_filter_kernel_weights(&bump, STEPS, 0, weight);
    check_below("bump", largest_response(STEPS, weight, 200, 210), 1e-6);
}

/* Smooth weights with zeros: no response at the frequencies, moments as before, and a derivative
 * that sees none of them either. */
static void test_zeros(void)
{
    check_group("kernels with zeros");
    const double theta[3] = {0.62, 1.3, 2.03};
    double weight[40];
    for (int mu = 3; mu <= 9; mu += 2)
        for (int nu = -1; nu <= 5; nu += 2)
            for (int steps = 21; steps <= 35; steps += 7) {
                taut_filter_kernel kernel = {mu, nu};
                char what[80];
                snprintf(what, sizeof what, "mu %d, nu %d, N %d", mu, nu, steps);
                taut_filter_kernel_weights(&kernel, steps, 0, weight);
                check_row(taut_filter_kernel_zeros(&kernel, false, steps, 3, theta, weight),
                          "%s: even", what);
                for (int k = 0; k < 3; k++)
                    check_near(what, taut_filter_kernel_response(steps, weight, theta[k]), 0,
                               1e-12);
                for (int power = 0; power <= mu; power++)
                    check_near(what, moment(steps, weight, power, 0), power == 0, 1e-12);
                check_below(what, taut_tuned_sum(steps, weight), 5);
                taut_filter_kernel_weights(&kernel, steps, 1, weight);
                check_row(taut_filter_kernel_zeros(&kernel, true, steps, 3, theta, weight),
                          "%s: odd", what);
                for (int k = 0; k < 3; k++) {
                    double left = 0;
                    for (int j = 1; j <= steps; j++)
                        left += 2 * weight[j] * sin(j * theta[k]);
                    check_near(what, left, 0, 1e-12);
                }
                for (int power = 1; power <= mu + 1; power += 2)
                    check_near(what, moment(steps, weight, power, 1) * steps, power == 1, 1e-10);
            }
    taut_filter_kernel kernel = {5, 3};
    check_row(!taut_filter_kernel_zeros(&kernel, false, 5, 3, theta, weight),
              "too few steps are reported");
}

/* forced_spring, q'' = -omega^2 (q - cos t): passes with Verlet and a kernel converge to
 * Verlet's own slow solution A_h cos t (docs/sources.md, A), up to an error of order mu + 1 in the
 * window. Verlet and the iteration are written out here. */
static double forced_fixed_point(const taut_filter_kernel *kernel, int steps, double omega,
                                 double step)
{
    double weight[64], h = step / omega, q = 1, v = 0;
    taut_filter_kernel_weights(kernel, steps, 0, weight);
    for (int pass = 0; pass < 60; pass++) {
        double sum_q = 0, sum_v = 0;
        for (int side = -1; side <= 1; side += 2) {
            double x = q, u = v;
            for (int j = 1; j <= steps; j++) {
                u += side * h / 2 * -omega * omega * (x - cos((j - 1) * h));
                x += side * h * u;
                u += side * h / 2 * -omega * omega * (x - cos(j * h));
                sum_q += weight[j] * (x - q);
                sum_v += weight[j] * (u - v);
            }
        }
        q += sum_q;
        v += sum_v;
    }
    return q;
}

static void test_orders(void)
{
    check_group("orders against Verlet's slow solution");
    /* omega at which errors are above rounding, by mu */
    static const double from[] = {0, 60, 0, 20, 0, 6, 0, 4};
    for (int mu = 1; mu <= 7; mu += 2) {
        taut_filter_kernel kernel = {mu, (mu + 1) / 2};
        double error[3];
        for (int k = 0; k < 3; k++) {
            double omega = from[mu] * (1 << k), h = 1 / omega, rate = 2 * sin(h / 2) / h;
            error[k] = fabs(forced_fixed_point(&kernel, 24, omega, 1) -
                            omega * omega / (omega * omega - rate * rate));
        }
        check_near("slope", log2(error[1] / error[2]), mu + 1, 0.25);
        check_row(error[2] < error[1] && error[1] < error[0], "mu %d: errors %.3g %.3g %.3g", mu,
                  error[0], error[1], error[2]);
    }
}

static void test_aware(void)
{
    check_group("weights that know frequencies");
    double weight[TAUT_TUNED_STEPS + 1], h = 1.7;
    /* the straight double pendulum: omega^2 = (3 -+ sqrt 5)/2 */
    double theta[2] = {2 * asin(h * (sqrt(5) - 1) / (sqrt(5) + 1) / 2), 2 * asin(h / 2)};
    for (int steps = 4; steps <= 6; steps++) {
        taut_tuned_weights(3, 2, theta, true, steps, weight);
        for (int k = 0; k < 2; k++)
            check_near("zero", taut_filter_kernel_response(steps, weight, theta[k]), 0, 1e-12);
        check_near("moment 0", moment(steps, weight, 0, 0), 1, 1e-14);
        check_near("moment 2", moment(steps, weight, 2, 0), 0, 1e-13);
        check_below("sum |w|", taut_tuned_sum(steps, weight), 7);
    }
    double left = taut_tuned_weights(3, 2, theta, false, 12, weight), most = 0;
    for (int k = 0; k <= 500; k++)
        most = fmax(most, fabs(taut_filter_kernel_response(
                              12, weight, theta[0] + (theta[1] - theta[0]) * k / 500)));
    check_below("band", most, 0.1);
    check_near("band as promised", left, most, 0.02);
    check_near("band, moment 2", moment(12, weight, 2, 0), 0, 1e-13);
    check_below("band, sum |w|", taut_tuned_sum(12, weight), 5);
    check_row(isinf(taut_tuned_weights(3, 2, theta, true, TAUT_TUNED_STEPS + 1, weight)),
              "too many steps are refused");
    check_row(isinf(taut_tuned_weights(9, 2, theta, true, 3, weight)), "too few steps are refused");
}

int main(void)
{
    test_values();
    test_moments();
    test_decay();
    test_zeros();
    test_orders();
    test_aware();
    return check_done();
}
