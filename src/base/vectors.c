/* vectors.c - see vectors.h. Sums are formed a few entries at a time, all terms of these before
 * the next: sums stay in registers, and nothing but the terms is read. */
#include "base/vectors.h"

#include "base/hot.h"

/* Hot functions are static because gcc would export their choosers; clang makes these global all
 * the same, so names are unique. */

/* of gcc and clang, at any address */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

#define INLINED static inline __attribute__((always_inline))

/* An empty sum has one term, with weight 0. */
void taut_sum_make(taut_sum *sum, int count, const double *weight)
{
    sum->terms = sum->term[0] = 0;
    sum->weight[0] = 0;
    for (int j = 0; j < count; j++)
        if (weight[j] != 0) {
            sum->weight[sum->terms] = weight[j];
            sum->term[sum->terms++] = j;
        }
    sum->terms += sum->terms == 0;
}

/* Entries i, i+1, ... of a sum, as many as `type` has; where a term is the result of the stage
 * before, little is left to do once it is known. */
#define FORM(type, i, k, base, out)                                                                \
    do {                                                                                           \
        type sum = h * s->weight[0] * *(const type *)((k)[s->term[0]] + (i));                      \
        for (int j = 1; j < s->terms; j++)                                                         \
            sum += h * s->weight[j] * *(const type *)((k)[s->term[j]] + (i));                      \
        if (base)                                                                                  \
            sum += *(const type *)((base) + (i));                                                  \
        *(type *)((out) + (i)) = sum;                                                              \
    } while (0)

INLINED void sum_form(taut_index n, const taut_sum *s, double *const *k, double h,
                      const double *base, double *restrict out)
{
    taut_index i = 0;
    for (; i + 8 <= n; i += 8) {
        four low = h * s->weight[0] * *(const four *)(k[s->term[0]] + i),
             high = h * s->weight[0] * *(const four *)(k[s->term[0]] + i + 4);
        for (int j = 1; j < s->terms; j++) {
            const double *x = k[s->term[j]] + i, a = h * s->weight[j];
            low += a * *(const four *)x;
            high += a * *(const four *)(x + 4);
        }
        if (base) {
            low += *(const four *)(base + i);
            high += *(const four *)(base + i + 4);
        }
        *(four *)(out + i) = low;
        *(four *)(out + i + 4) = high;
    }
    for (; i + 4 <= n; i += 4)
        FORM(four, i, k, base, out);
    for (; i < n; i++)
        FORM(double, i, k, base, out);
}

TAUT_HOT static void vector_sum(taut_index n, const taut_sum *s, double *const *k, double h,
                                const double *base, double *out)
{
    sum_form(n, s, k, h, base, out);
}

/* The same of both sums. */
#define FORM_PAIR(type, i)                                                                         \
    do {                                                                                           \
        double a = h * s->weight[0];                                                               \
        type sum_q = a * *(const type *)(kq[s->term[0]] + (i)),                                    \
             sum_v = a * *(const type *)(kv[s->term[0]] + (i));                                    \
        for (int j = 1; j < s->terms; j++) {                                                       \
            a = h * s->weight[j];                                                                  \
            sum_q += a * *(const type *)(kq[s->term[j]] + (i));                                    \
            sum_v += a * *(const type *)(kv[s->term[j]] + (i));                                    \
        }                                                                                          \
        if (q)                                                                                     \
            sum_q += *(const type *)(q + (i));                                                     \
        if (v)                                                                                     \
            sum_v += *(const type *)(v + (i));                                                     \
        *(type *)(out_q + (i)) = sum_q;                                                            \
        *(type *)(out_v + (i)) = sum_v;                                                            \
    } while (0)

/* Long vectors one after the other: fewer places of memory are read at a time. */
TAUT_HOT static void vector_sum_pair(taut_index n, const taut_sum *s, double *const *kq,
                                     double *const *kv, double h, const double *q, const double *v,
                                     double *restrict out_q, double *restrict out_v)
{
    enum { SHORT = 32 };
    taut_index i = 0;
    if (n > SHORT) {
        sum_form(n, s, kq, h, q, out_q);
        sum_form(n, s, kv, h, v, out_v);
        return;
    }
    for (; i + 4 <= n; i += 4)
        FORM_PAIR(four, i);
    if (i + 2 <= n) {
        FORM_PAIR(two, i);
        i += 2;
    }
    if (i < n)
        FORM_PAIR(double, i);
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
INLINED double largest(int64_t n, const double *x)
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

TAUT_HOT static double vector_largest(int64_t n, const double *x)
{
    return largest(n, x);
}

TAUT_HOT static void vector_add(taut_index n, const double *restrict y, double *restrict x)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++)
        x[i] += y[i];
}

double taut_largest(int64_t n, const double *x)
{
    enum { FEW = 8 };
    return n > FEW ? vector_largest(n, x) : largest(n, x);
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
