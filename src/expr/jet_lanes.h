/* jet_lanes.h - the loops over lanes in which jets (jet.c) spend their time. Results overlap no
 * operand, unless it is the same array. */
#ifndef TAUT_EXPR_JET_LANES_H
#define TAUT_EXPR_JET_LANES_H

#include <stdbool.h>
#include <stddef.h>

/* Terms that one pass over the lanes adds up. */
enum { TAUT_JET_TERMS = 4 };
typedef struct taut_jet_terms {
    double weight[TAUT_JET_TERMS];
    const double *x[TAUT_JET_TERMS], *y[TAUT_JET_TERMS];
} taut_jet_terms;

/* to = from + sum_j weight_j x_j y_j, j < count; from NULL: 0; not weighted: weights are 1. */
void taut_jet_sum(int n, double *to, const double *from, const taut_jet_terms *terms, int count,
                  bool weighted);
/* to = factor from */
void taut_jet_scale(int n, double *to, double factor, const double *from);
/* to /= factor b; the second: 0 where b is 0 */
void taut_jet_divide(int n, double *to, double factor, const double *b);
void taut_jet_divide_or_zero(int n, double *to, double factor, const double *b);
/* c = a + b; c = a - b */
void taut_jet_add(int n, double *c, const double *a, const double *b);
void taut_jet_subtract(int n, double *c, const double *a, const double *b);

#endif
