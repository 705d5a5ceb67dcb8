/* vectors.h - loops over the entries of vectors. Norms keep NaN: the norm of a vector with an entry
 * that is NaN is NaN, so that convergence tests of the form `norm <= tolerance` fail. */
#ifndef TAUT_BASE_VECTORS_H
#define TAUT_BASE_VECTORS_H

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Which vectors a sum has, and their weights: those that are not 0. */
enum { TAUT_MOST_TERMS = 16 };
typedef struct taut_sum {
    int terms, term[TAUT_MOST_TERMS];
    double weight[TAUT_MOST_TERMS];
} taut_sum;
void taut_sum_make(taut_sum *sum, int count, const double *weight);
/* out = base + sum_j h weight[j] k[term[j]]; base may be NULL. out is none of the k. */
void taut_sum_form(taut_index n, const taut_sum *sum, double *const *k, double h,
                   const double *base, double *out);
/* The same of kq, q and of kv, v. */
void taut_sum_form_pair(taut_index n, const taut_sum *sum, double *const *kq, double *const *kv,
                        double h, const double *q, const double *v, double *out_q, double *out_v);
/* out = base + h sum_j weight[j] k[j], j < count <= 16; base may be NULL. out is none of the k. */
void taut_combine(taut_index n, int count, const double *weight, double *const *k, double h,
                  const double *base, double *out);
/* max |x_i|; 0 for n = 0, NaN when an entry is. */
double taut_largest(int64_t n, const double *x);
/* max |x_i - y_i|, likewise. */
double taut_largest_difference(int64_t n, const double *x, const double *y);
/* |x|, the Euclidean norm. */
double taut_norm(taut_index n, const double *x);
/* x^T y */
double taut_dot(taut_index n, const double *x, const double *y);
/* x^T x, without the order of a single sum */
double taut_square(taut_index n, const double *x);
/* max |x_i|/(a c_i + b) over c_i > 0; 0 without one, NaN when x_i is */
double taut_largest_share(taut_index n, const double *x, const double *c, double a, double b);
/* sum of m_i x_i y_i */
double taut_power(taut_index n, const double *m, const double *x, const double *y);
/* x += y. */
void taut_add(taut_index n, const double *y, double *x);

/* The larger one; NaN when one of them is (fmax would ignore it). */
static inline double taut_larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* Of numbers that are not NaN, without a call. */
static inline double taut_above(double a, double b)
{
    return a > b ? a : b;
}

static inline double taut_below(double a, double b)
{
    return a < b ? a : b;
}

typedef double taut_two __attribute__((vector_size(16), aligned(8), may_alias));

/* out = x + factor y; out may be x */
static inline void taut_moved(int64_t n, const double *x, double factor, const double *y,
                              double *out)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) { /* two vectors of any processor */
        const taut_two low = *(const taut_two *)(x + i) + factor * *(const taut_two *)(y + i),
                       high =
                           *(const taut_two *)(x + i + 2) + factor * *(const taut_two *)(y + i + 2);
        *(taut_two *)(out + i) = low;
        *(taut_two *)(out + i + 2) = high;
    }
    for (; i < n; i++)
        out[i] = x[i] + factor * y[i];
}

/* x *= factor */
static inline void taut_scale(int64_t n, double factor, double *x)
{
    int64_t i = 0;
    for (; i + 2 <= n; i += 2)
        *(taut_two *)(x + i) *= factor;
    if (i < n)
        x[i] *= factor;
}

/* x += factor y */
static inline void taut_add_scaled(int64_t n, double factor, const double *y, double *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += factor * y[i];
}

/* C libraries copy and clear more than this at once by string instructions, which begin slowly. */
enum { TAUT_COPIED = 256 };

/* to = from */
static inline void taut_copy(int64_t n, const double *from, double *to)
{
    for (int64_t part; n > 0; n -= part, from += part, to += part) {
        part = n < TAUT_COPIED ? n : TAUT_COPIED;
        memcpy(to, from, (size_t)part * sizeof *to);
    }
}

/* x = 0 */
static inline void taut_clear(int64_t n, double *x)
{
    for (int64_t part; n > 0; n -= part, x += part) {
        part = n < TAUT_COPIED ? n : TAUT_COPIED;
        memset(x, 0, (size_t)part * sizeof *x);
    }
}

#endif
