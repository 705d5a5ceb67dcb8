/* vectors.c - see vectors.h. Sums are formed a few entries at a time, all terms of these before
 * the next: sums stay in registers, and nothing but the terms is read. */
#include "base/vectors.h"

#include "base/hot.h"

/* Hot functions are static because gcc would export their choosers; clang makes these global all
 * the same, so names are unique. */

/* of gcc and clang, at any address */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

#define INLINED static inline __attribute__((always_inline))

void taut_sum_make(taut_sum *sum, int count, const double *weight)
{
    sum->terms = 0;
    for (int j = 0; j < count; j++)
        if (weight[j] != 0) {
            sum->weight[sum->terms] = weight[j];
            sum->term[sum->terms++] = j;
        }
}

INLINED void sum_form(taut_index n, const taut_sum *s, double *const *k, double h,
                      const double *base, double *restrict out)
{
    const int terms = s->terms;
    taut_index i = 0;
    for (; i + 8 <= n; i += 8) {
        four low = {0}, high = {0};
        for (int j = 0; j < terms; j++) {
            const double *x = k[s->term[j]] + i, a = s->weight[j];
            low += a * *(const four *)x;
            high += a * *(const four *)(x + 4);
        }
        *(four *)(out + i) = base ? *(const four *)(base + i) + h * low : h * low;
        *(four *)(out + i + 4) = base ? *(const four *)(base + i + 4) + h * high : h * high;
    }
    for (; i + 4 <= n; i += 4) {
        four low = {0};
        for (int j = 0; j < terms; j++)
            low += s->weight[j] * *(const four *)(k[s->term[j]] + i);
        *(four *)(out + i) = base ? *(const four *)(base + i) + h * low : h * low;
    }
    for (; i < n; i++) {
        double one = 0;
        for (int j = 0; j < terms; j++)
            one += s->weight[j] * k[s->term[j]][i];
        out[i] = base ? base[i] + h * one : h * one;
    }
}

TAUT_HOT static void vector_sum(taut_index n, const taut_sum *s, double *const *k, double h,
                                const double *base, double *out)
{
    sum_form(n, s, k, h, base, out);
}

TAUT_HOT static void vector_sum_pair(taut_index n, const taut_sum *s, double *const *kq,
                                     double *const *kv, double h, const double *q, const double *v,
                                     double *out_q, double *out_v)
{
    sum_form(n, s, kq, h, q, out_q);
    sum_form(n, s, kv, h, v, out_v);
}

void taut_sum_form(taut_index n, const taut_sum *sum, double *const *k, double h,
                   const double *base, double *out)
{
    vector_sum(n, sum, k, h, base, out);
}

void taut_sum_form_pair(taut_index n, const taut_sum *sum, double *const *kq, double *const *kv,
                        double h, const double *q, const double *v, double *out_q, double *out_v)
{
    vector_sum_pair(n, sum, kq, kv, h, q, v, out_q, out_v);
}

void taut_combine(taut_index n, int count, const double *weight, double *const *k, double h,
                  const double *base, double *out)
{
    taut_sum sum;
    taut_sum_make(&sum, count, weight);
    vector_sum(n, &sum, k, h, base, out);
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
