/* vectors.h - loops over all coordinates that steppers share. */
#ifndef TAUT_STEP_VECTORS_H
#define TAUT_STEP_VECTORS_H

#include "base/memory.h"

/* out = base + h sum_j weight[j] k[j], j < count <= 16; base may be NULL. out is none of the k. */
void taut_combine(taut_index n, int count, const double *weight, double *const *k, double h,
                  const double *base, double *out);
/* max |x_i|; 0 for n = 0. NaN is passed over. */
double taut_largest(taut_index n, const double *x);
/* x += y. */
void taut_add(taut_index n, const double *y, double *x);

#endif
