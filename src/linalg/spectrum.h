/* spectrum.h - frequencies of stiff modes (DESIGN 1).
 *
 * Springs s (c_i > 0) and rods r (c_i = 0):  Omega^2 are the eigenvalues of C_s^-1 S,  S = A_ss - A_sr A_rr^-1 A_rs,  A = G M^-1 G^T.
 * A stiff potential:  the nonzero eigenvalues of (V, M), V = scale Hess V restricted by the rods (G x = 0). */
#ifndef TAUT_LINALG_SPECTRUM_H
#define TAUT_LINALG_SPECTRUM_H

#include "linalg/saddle.h"

typedef struct taut_spectrum {
    int found;     /* entries of frequency[] that are set, ascending */
    bool complete; /* all of them, or `count` from each end */
    int64_t modes; /* number of stiff modes */
} taut_spectrum;

/* shape: pattern of M (K; NULL for diagonal) and G. Dense (LAPACK, own Jacobi in the core build) up to 400 springs, else the `count` largest
 * and smallest by ARPACK (own Lanczos in the core build) with the saddle solver for inner solves. frequency[2*count] at least, or
 * frequency[springs] when springs <= 2*count. mode (may be NULL, dense only): [springs][m] the vectors u of DESIGN 1, u^T A^-1 u = 1. */
int taut_spectrum_bonds(const taut_saddle_shape *shape, const double *mass, const double *g, const double *compliance, int count,
                        double *frequency, double *mode, taut_spectrum *spectrum, const taut_allocator *allocator,
                        taut_error *error);
/* hessian on the tangent pattern (h_start, h_column); eigenvalues below 1e-8 of the largest count as zero. */
int taut_spectrum_potential(const taut_saddle_shape *shape, const double *mass, const double *g, const taut_index *h_start,
                            const taut_index *h_column, const double *hessian, int count, double *frequency,
                            taut_spectrum *spectrum, const taut_allocator *allocator, taut_error *error);

/* Small dense symmetric eigenproblems, ascending: a[n][n] is overwritten by the vectors (rows). */
int taut_eigen_symmetric(int n, double *a, double *value, taut_error *error, const taut_allocator *allocator);

#endif
