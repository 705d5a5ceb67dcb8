/* tridiagonal.h - eigenvalues of a symmetric tridiagonal matrix by QL sweeps (tridiagonal.c). */
#ifndef TAUT_LINALG_TRIDIAGONAL_H
#define TAUT_LINALG_TRIDIAGONAL_H

#include <stdbool.h>

/* Eigenvalues replace the diagonal d[n]; e[n - 1] couples neighbours, e[n] is overwritten.
 * z[n][width] is multiplied by the transposed vectors: rows of Q^T become eigenvectors, the last
 * column of the identity their last entries. False when they could not be found. */
bool taut_tridiagonal_ql(int n, double *d, double *e, double *z, int width);

#endif
