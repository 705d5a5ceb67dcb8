/* loops.h - the loops of vectors.h by the threads of a run: the same numbers, shared where vectors
 * are long (pool.h). The pool may be NULL. */
#ifndef TAUT_BASE_LOOPS_H
#define TAUT_BASE_LOOPS_H

#include "base/pool.h"
#include "base/vectors.h"

void taut_loop_copy(taut_pool *pool, int64_t n, const double *from, double *to);
void taut_loop_clear(taut_pool *pool, int64_t n, double *x);
/* x = value; x += y; x += factor y; x *= by; y = factor x */
void taut_loop_fill(taut_pool *pool, int64_t n, double value, double *x);
void taut_loop_add(taut_pool *pool, int64_t n, const double *y, double *x);
void taut_loop_add_scaled(taut_pool *pool, int64_t n, double factor, const double *y, double *x);
void taut_loop_multiply(taut_pool *pool, int64_t n, const double *by, double *x);
void taut_loop_scale(taut_pool *pool, int64_t n, double factor, const double *x, double *y);
/* max |x_i|, NaN when an entry is; x^T x, the sum over blocks */
double taut_loop_largest(taut_pool *pool, int64_t n, const double *x);
double taut_loop_square(taut_pool *pool, int64_t n, const double *x);
/* taut_sum_form_pair; without kv the sum of kq alone */
void taut_loop_form(taut_pool *pool, taut_index n, const taut_sum *sum, double *const *kq,
                    double *const *kv, double h, const double *q, const double *v, double *out_q,
                    double *out_v);

/* out = base + h sum_j weight[j] k[term[j]] of two sums, a few hundred entries of both at a time:
 * what both read is read once. base may be NULL. */
typedef struct taut_loop_sum {
    const taut_sum *sum;
    double *const *k;
    const double *base;
    double *out;
} taut_loop_sum;
void taut_loop_sums(taut_pool *pool, taut_index n, double h, const taut_loop_sum sums[2]);

#endif
