/* filter_kernels.c - filtering kernels and their samples.
 *
 * The piecewise cubic kernel of [A 5.2]:
 *
 *     K(t) = 2 - 2|t| - 8|t|^2 + 8|t|^3           for |t| <= 1/2
 *            2 - 22/3|t| + 8|t|^2 - 8/3|t|^3      for 1/2 < |t| <= 1
 *
 * mu = 3 vanishing moments, nu = 2 in the sense of lemma 3.2. K is zero at the ends, so that the
 * trapezoid rule has the weights K(j/N)/N; its moments 0 and 2 are exact when N is even. (N odd:
 * the centre weight is corrected.)
 *
 * Kernels with any number of moments are K = w p where p is the reproducing kernel at 0 of
 * polynomials up to degree mu in the inner product with weight w: with orthonormal p_n, integral
 * K x dt = integral w sum_n p_n(0) p_n x dt = x(0) for every x of that degree. With the
 * *discrete* inner product over the samples the discrete moments are exact instead, and
 * p_n^(k)(0) in place of p_n(0) gives the k-th derivative at 0: smoothing and differentiation
 * are one formula. The monic p_n obey p_{n+1} = t p_n - b_n p_{n-1}, b_n = |p_n|^2/|p_{n-1}|^2. */
#include "filter/filter_kernels.h"

#include <math.h>

static double cubic(double at)
{
    if (at <= 0.5)
        return 2 + at * (-2 + at * (-8 + 8 * at));
    return 2 + at * (-22.0 / 3 + at * (8 - 8.0 / 3 * at));
}

const taut_filter taut_filter_cubic = {.name = "cubic", .moments = 3, .value = cubic};

void taut_filter_weights(const taut_filter *filter, int steps, double *weight)
{
    double sum = 0;
    for (int j = 1; j <= steps; j++) {
        weight[j] = j == steps ? 0 : filter->value((double)j / steps) / steps;
        sum += 2 * weight[j];
    }
    weight[0] = 1 - sum;
}

/* ---- moments by orthogonal polynomials */

enum { DEGREES = TAUT_FILTER_KERNEL_MOMENTS + 1 };

typedef struct polynomials {
    double b[DEGREES + 1];    /* [1..]: of the recurrence */
    double norm[DEGREES + 1]; /* |p_n|^2 */
} polynomials;

static double window(const taut_filter_kernel *kernel, double t)
{
    double inside = (1 - t) * (1 + t), product = inside;
    if (!(inside > 0))
        return 0;
    if (kernel->smooth < 0)
        return exp(-1 / inside);
    for (int k = 0; k < kernel->smooth; k++) /* in the innermost loop, where pow takes longer */
        product *= inside;
    return product;
}

/* p[0..degree] at t */
static void values(const polynomials *s, int degree, double t, double *p)
{
    p[0] = 1;
    for (int n = 0; n < degree; n++)
        p[n + 1] = t * p[n] - (n > 0 ? s->b[n] * p[n - 1] : 0);
}

/* p_n^(k)(0), n = 0..degree: differentiate the recurrence k times. */
static void derivatives(const polynomials *s, int degree, int k, double *d)
{
    double lower[DEGREES + 1];
    values(s, degree, 0, d);
    for (int i = 1; i <= k; i++) {
        for (int n = 0; n <= degree; n++) {
            lower[n] = d[n];
            d[n] = 0;
        }
        for (int n = 0; n < degree; n++)
            d[n + 1] = i * lower[n] - (n > 0 ? s->b[n] * d[n - 1] : 0);
    }
}

static double combine(const polynomials *s, int degree, const double *at_zero, double t)
{
    double p[DEGREES + 1], sum = 0;
    values(s, degree, t, p);
    for (int n = 0; n <= degree; n++)
        sum += at_zero[n] * p[n] / s->norm[n];
    return sum;
}

/* The discrete polynomials, by Stieltjes' procedure. */
static void prepare(const taut_filter_kernel *kernel, int steps, int degree, polynomials *s)
{
    double p[DEGREES + 1];
    for (int n = 0; n <= degree; n++) {
        double sum = 0;
        for (int j = 0; j < steps; j++) {
            double t = (double)j / steps;
            values(s, n, t, p);
            sum += (j ? 2 : 1) * window(kernel, t) * p[n] * p[n];
        }
        s->norm[n] = sum;
        s->b[n] = n > 0 ? sum / s->norm[n - 1] : 0;
    }
}

void taut_filter_kernel_weights(const taut_filter_kernel *kernel, int steps, int k, double *weight)
{
    polynomials s = {0};
    double at_zero[DEGREES + 1], scale = pow(steps, -k), sum = 0;
    int degree = kernel->moments + k % 2;
    prepare(kernel, steps, degree, &s);
    derivatives(&s, degree, k, at_zero);
    for (int j = 0; j <= steps; j++) {
        double t = (double)j / steps;
        weight[j] = scale * window(kernel, t) * combine(&s, degree, at_zero, t);
        sum += j ? 2 * weight[j] : 0;
    }
    if (k % 2 == 0)
        weight[0] = (k == 0) - sum; /* a constant passes to rounding */
    else
        weight[0] = 0;
}

double taut_filter_kernel_response(int steps, const double *weight, double theta)
{
    /* Clenshaw's recurrence: one cosine; projections ask for the response again and again */
    double c = cos(theta), next = 0, now = 0;
    for (int j = steps; j > 0; j--) {
        double before = 2 * (weight[j] + c * now) - next;
        next = now;
        now = before;
    }
    return weight[0] + c * now - next;
}

/* ---- zeros at known frequencies */

enum { CONDITIONS = (TAUT_FILTER_KERNEL_MOMENTS + 3) / 2 + TAUT_FILTER_KERNEL_ZEROS };

static void exchange(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

bool taut_filter_solve(int size, int stride, double *a, double *b)
{
    for (int k = 0; k < size; k++) {
        int best = k;
        for (int i = k + 1; i < size; i++)
            best = fabs(a[i * stride + k]) > fabs(a[best * stride + k]) ? i : best;
        if (!(fabs(a[best * stride + k]) > 1e-14))
            return false;
        for (int j = k; j < size && best != k; j++)
            exchange(&a[k * stride + j], &a[best * stride + j]);
        exchange(&b[k], &b[best]);
        for (int i = k + 1; i < size; i++) {
            double factor = a[i * stride + k] / a[k * stride + k];
            for (int j = k; j < size && factor != 0; j++)
                a[i * stride + j] -= factor * a[k * stride + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = size - 1; k >= 0; k--) {
        for (int j = k + 1; j < size; j++)
            b[k] -= a[k * stride + j] * b[j];
        b[k] /= a[k * stride + k];
    }
    return true;
}

/* The conditions at sample j: moments first, then cos or sin of the frequencies. */
static void conditions(const taut_filter_kernel *kernel, bool odd, int steps, int j, int count,
                       const double *theta, double *row)
{
    int used = 0;
    double t = (double)j / steps;
    for (int power = odd; power < kernel->moments + odd; power += 2)
        row[used++] = pow(t, power);
    for (int k = 0; k < count; k++)
        row[used++] = odd ? sin(j * theta[k]) : cos(j * theta[k]);
}

bool taut_filter_kernel_zeros(const taut_filter_kernel *kernel, bool odd, int steps, int count,
                              const double *theta, double *weight)
{
    /* powers 0, 2, .., mu - 1, or 1, 3, .., mu */
    int moments = (kernel->moments + 1) / 2, size = moments + count;
    double a[CONDITIONS][CONDITIONS] = {{0}}, b[CONDITIONS] = {0}, row[CONDITIONS], sum = 0;
    if (count > TAUT_FILTER_KERNEL_ZEROS || size > steps)
        return false;
    for (int j = 0; j < steps;
         /* the least change in sum (dw)^2/window that leaves the moments and takes the responses
          * away */
         j++) {
        double t = (double)j / steps, share = window(kernel, t), times = j ? 2 : 1;
        conditions(kernel, odd, steps, j, count, theta, row);
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < size; k++)
                a[i][k] += times * share * row[i] * row[k];
            if (i >= moments)
                b[i] -= times * weight[j] * row[i];
        }
    }
    if (!taut_filter_solve(size, CONDITIONS, a[0], b))
        return false;
    for (int j = odd; j < steps; j++) {
        double change = 0;
        conditions(kernel, odd, steps, j, count, theta, row);
        for (int i = 0; i < size; i++)
            change += b[i] * row[i];
        weight[j] += window(kernel, (double)j / steps) * change;
        sum += j ? 2 * weight[j] : 0;
    }
    if (!odd)
        weight[0] = 1 - sum;
    return true;
}
