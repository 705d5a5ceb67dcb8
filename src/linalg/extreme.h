/* extreme.h - the eigenvalues of largest magnitude of an operator that is self-adjoint in the
 * inner product x^T B y. */
#ifndef TAUT_LINALG_EXTREME_H
#define TAUT_LINALG_EXTREME_H

#include "base/memory.h"

typedef struct taut_operator {
    taut_index n;
    int (*apply)(void *user, const double *x, double *y, taut_error *error); /* y = O x */
    /* y = B x; NULL for the identity */
    int (*inner)(void *user, const double *x, double *y, taut_error *error);
    void *user;
} taut_operator;

/* The `count` (fewer than n/2) of largest magnitude into value[], largest first. An entry has
 * converged when its residual is below `tolerance` times its size; after `restarts` rounds the
 * best approximations are returned all the same, and *converged (may be NULL) is false. ARPACK
 * (under a lock, it is not re-entrant), or own Lanczos. The start vector is fixed, so that
 * results repeat. */
int taut_extreme(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error);

/* The same by own Lanczos iteration. */
int taut_lanczos(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error);

/* Basis vectors used for `count` values. */
int taut_extreme_basis(int count, taut_index n);
/* The start vector: pseudo-random, entries in (-1, 1). */
void taut_extreme_start(taut_index n, double *x);

#endif
