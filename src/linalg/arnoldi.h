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

#endif
