/* arnoldi.h - the size of the largest eigenvalue of an operator that need not be symmetric
 * (arnoldi.c). */
#ifndef TAUT_LINALG_ARNOLDI_H
#define TAUT_LINALG_ARNOLDI_H

#include "linalg/extreme.h"

/* *size = max |mu|, complex eigenvalues included, of op->apply; op->inner is any inner product
 * that is positive on its range. At most `most` vectors are kept. As many as op->n give the result
 * to rounding; with fewer it is a lower estimate, and the iteration ends early when four more
 * vectors change it by less than `tolerance`. 0 where the operator vanishes. The start vector is
 * fixed, so that results repeat. */
int taut_arnoldi_largest(const taut_operator *op, int most, double tolerance, double *size,
                         const taut_allocator *allocator, taut_error *error);

/* The `count` values of largest magnitude, largest first, from at most `most` vectors without
 * restarts; *found of them, fewer where the space is invariant earlier. */
int taut_arnoldi_values(const taut_operator *op, int most, int count, double *real,
                        double *imaginary, int *found, const taut_allocator *allocator,
                        taut_error *error);

/* (arnoldi.c) The largest of `size` values, by repeated choice; those chosen become NaN. */
void taut_leading_choose(int size, double *from_real, double *from_imaginary, int count,
                         double *real, double *imaginary, int *found);

/* The same as taut_arnoldi_values with restarts, by ARPACK (arpack.c), where it is there;
 * `restarts` rounds at most, and *converged is false when they were not enough. */
int taut_leading(const taut_operator *op, int count, double tolerance, int restarts, double *real,
                 double *imaginary, int *found, bool *converged, const taut_allocator *allocator,
                 taut_error *error);

#endif
