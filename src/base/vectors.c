/* vectors.c - see vectors.h. Sums are formed in blocks that stay in the first-level cache, up to
 * four terms at a time. */
#include "base/vectors.h"

#include "base/hot.h"

/* Hot functions are static because gcc would export their choosers; clang makes these global all
 * the same, so names are unique. */

enum { BLOCK = 512, MOST_TERMS = 16 };

TAUT_HOT static void vector_add_four(int n, const double *a, const double *const *k,
                                     double *restrict sum)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *k0 = k[0], *k1 = k[1], *k2 = k[2], *k3 = k[3];
    for (int i = 0; i < n; i++)
        sum[i] += (a0 * k0[i] + a1 * k1[i]) + (a2 * k2[i] + a3 * k3[i]);
}

TAUT_HOT static void vector_add_one(int n, double a, const double *k, double *restrict sum)
{
    for (int i = 0; i < n; i++)
        sum[i] += a * k[i];
}

TAUT_HOT static void vector_finish(int n, double h, const double *base, const double *restrict sum,
                                   double *out)
{
    if (base)
        for (int i = 0; i < n; i++)
            out[i] = base[i] + h * sum[i];
    else
        for (int i = 0; i < n; i++)
            out[i] = h * sum[i];
}

void taut_combine(taut_index n, int count, const double *weight, double *const *k, double h,
                  const double *base, double *out)
{
    double a[MOST_TERMS], sum[BLOCK];
    const double *from[MOST_TERMS];
    int terms = 0;
    for (int j = 0; j < count; j++)
        if (weight[j] != 0) {
            a[terms] = weight[j];
            from[terms++] = k[j];
        }
    for (taut_index first = 0; first < n; first += BLOCK) {
        int length = n - first < BLOCK ? (int)(n - first) : BLOCK, j = 0;
        for (int i = 0; i < length; i++)
            sum[i] = 0;
        for (; j + 4 <= terms; j += 4) {
            const double *four[4] = {from[j] + first, from[j + 1] + first, from[j + 2] + first,
                                     from[j + 3] + first};
            vector_add_four(length, a + j, four, sum);
        }
        for (; j < terms; j++)
            vector_add_one(length, a[j], from[j] + first, sum);
        vector_finish(length, h, base ? base + first : NULL, sum, out + first);
    }
}

/* The bits of numbers without a sign, read as integers, are in the order of the numbers, and those
 * of NaN come last: the largest keeps NaN. */
TAUT_HOT static double vector_largest(int64_t n, const double *x)
{
    int64_t most = 0;
    double size;
    TAUT_UNROLLED
    for (int64_t i = 0; i < n; i++) {
        int64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= INT64_MAX;
        most = bits > most ? bits : most;
    }
    memcpy(&size, &most, sizeof size);
    return size;
}

TAUT_HOT static void vector_add(taut_index n, const double *restrict y, double *restrict x)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++)
        x[i] += y[i];
}

double taut_largest(int64_t n, const double *x)
{
    return vector_largest(n, x);
}

double taut_largest_difference(int64_t n, const double *x, const double *y)
{
    double size = 0;
    for (int64_t i = 0; i < n; i++)
        size = taut_larger(size, fabs(x[i] - y[i]));
    return size;
}

double taut_dot(taut_index n, const double *x, const double *y)
{
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Four sums at a time: one alone would wait for itself. */
TAUT_HOT static double vector_power(taut_index n, const double *m, const double *x, const double *y)
{
    double sum[4] = {0}, rest = 0;
    taut_index i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += m[i + k] * x[i + k] * y[i + k];
    for (; i < n; i++)
        rest += m[i] * x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

double taut_power(taut_index n, const double *m, const double *x, const double *y)
{
    return vector_power(n, m, x, y);
}

TAUT_HOT static double vector_square(taut_index n, const double *x)
{
    double sum[4] = {0}, rest = 0;
    taut_index i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += x[i + k] * x[i + k];
    for (; i < n; i++)
        rest += x[i] * x[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

double taut_square(taut_index n, const double *x)
{
    return vector_square(n, x);
}

/* As vector_largest. */
TAUT_HOT static double vector_largest_share(taut_index n, const double *x, const double *c,
                                            double a, double b)
{
    int64_t most = 0;
    double size;
    for (taut_index i = 0; i < n; i++) {
        double share = x[i] / (a * c[i] + b);
        int64_t bits;
        memcpy(&bits, &share, sizeof bits);
        bits = c[i] > 0 ? bits & INT64_MAX : 0;
        most = bits > most ? bits : most;
    }
    memcpy(&size, &most, sizeof size);
    return size;
}

double taut_largest_share(taut_index n, const double *x, const double *c, double a, double b)
{
    return vector_largest_share(n, x, c, a, b);
}

double taut_norm(taut_index n, const double *x)
{
    return sqrt(taut_dot(n, x, x));
}

void taut_add(taut_index n, const double *y, double *x)
{
    vector_add(n, y, x);
}
