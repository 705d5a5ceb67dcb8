/* general_eigen.h - eigenvalues and left eigenvectors of a dense matrix that need not be symmetric
 * (general_eigen.c). */
#ifndef TAUT_LINALG_GENERAL_EIGEN_H
#define TAUT_LINALG_GENERAL_EIGEN_H

#include <complex.h>

#include "base/memory.h"

/* Eigenvalues of a[n][n], which is overwritten. False when they could not be found. */
bool taut_general_values(int n, double *a, double *real, double *imaginary);
/* left[n]: x with x^T a = mu x^T, |x| = 1, for an eigenvalue mu; of its complex multiples the one
 * whose largest entry is real. work[n*(n + 1)], pivot[n]. The `known` vectors before `left` belong
 * to the same eigenvalue: this one is orthogonal to them. */
void taut_general_left(int n, const double *a, double complex mu, int known, double complex *work,
                       taut_index *pivot, double complex *left);

#endif
