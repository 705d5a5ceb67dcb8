/* small_kernels.h - own factorisations: dense and banded, LU with partial pivoting (real,
 * complex) and L D L^T (real, definite; bands also symmetric, without pivoting).
 *
 * Matrices are stored by columns. Dense: entry (i,j) at i + j*rows. A band of half-width b: LU
 * at 2b + i - j + j*(3b+1) (LAPACK's layout, with room for the rows that pivoting moves), L D
 * L^T at i - j + j*(b+1), lower half only.
 *
 * All factors expect a matrix scaled to entries of about 1. They return 0, or 1 + the column of
 * the first pivot that is not above `tolerance` (NaN included). Pivots of L D L^T and of the
 * banded LU are stored inverted. */
#ifndef TAUT_LINALG_SMALL_KERNELS_H
#define TAUT_LINALG_SMALL_KERNELS_H

#include <complex.h>

#include "base/memory.h"

/* Up to here they are as fast as LAPACK, or faster (measured: real to 60, complex to 32 rows). */
enum { TAUT_SMALL_ROWS = 32 };

taut_index taut_lu_factor(bool complex_values, taut_index rows, void *a, taut_index *pivot,
                          double tolerance);
void taut_lu_solve(bool complex_values, taut_index rows, const void *a, const taut_index *pivot,
                   void *x);
taut_index taut_band_lu_factor(bool complex_values, taut_index rows, taut_index b, void *a,
                               taut_index *pivot, double tolerance);
void taut_band_lu_solve(bool complex_values, taut_index rows, taut_index b, const void *a,
                        const taut_index *pivot, void *x);

/* L D L^T of a symmetric band, real or complex, that is not definite. false: it would lose digits
 * without pivoting, or a pivot is small; `a` is overwritten all the same. */
bool taut_band_symmetric_factor(bool complex_values, taut_index rows, taut_index b, void *a,
                                double tolerance);
void taut_band_symmetric_solve(bool complex_values, taut_index rows, taut_index b, const void *a,
                               void *x);

taut_index taut_ldl_factor(taut_index rows, double *a, double tolerance);
void taut_ldl_solve(taut_index rows, const double *a, double *x);
/* size: pivots are compared with tolerance times these numbers; NULL: 1 */
taut_index taut_band_ldl_factor(taut_index rows, taut_index b, double *a, const double *size,
                                double tolerance);
void taut_band_ldl_solve(taut_index rows, taut_index b, const double *a, double *x);

#endif
