/* spectrum.h - frequencies of stiff modes (docs/theory.md).
 *
 * Springs s (c_i > 0) and rigid bonds r (c_i = 0):  Omega^2 are the eigenvalues of C_s^-1 S,  S =
 * A_ss
 * - A_sr A_rr^-1 A_rs,  A = G M^-1 G^T. A stiff potential:  the nonzero eigenvalues of (V, M), V
 * = scale Hess V restricted by the rigid bonds (G x = 0).
 *
 * Up to TAUT_SPECTRUM_DENSE springs (coordinates, for a potential) all are computed, to rounding
 * relative to the largest Omega^2. Beyond, `count` from each end by iteration, to about 1e-6
 * relative in Omega^2 or better; of repeated frequencies some copies may be missed. Springs and
 * rigid bonds that depend on others are omitted: they add no mode. */
#ifndef TAUT_LINALG_SPECTRUM_H
#define TAUT_LINALG_SPECTRUM_H

#include "linalg/saddle.h"

/* Springs (coordinates, for a potential) up to which all modes are computed with dense matrices,
 * and up to which they can be where more than an eighth of them is asked for. */
enum { TAUT_SPECTRUM_DENSE = 400, TAUT_SPECTRUM_DENSE_LIMIT = 2000 };

typedef struct taut_spectrum {
    int found;     /* entries of frequency[] that are set, ascending */
    bool complete; /* all modes are in frequency[]; otherwise `count` from each end */
    int64_t modes; /* number of stiff modes; -1 when not known (a large stiff potential) */
} taut_spectrum;

/* shape: pattern of M (K; NULL for diagonal) and G; `positive`: M is positive definite.
 * frequency[2*count] at least, or frequency[springs] when springs <= 2*count. mode (may be NULL;
 * at most 2000 springs): [springs][m], row k the vector u of mode k as in docs/theory.md, C^-1 u =
 * Omega^2 A^-1 u, u^T A^-1 u = 1, zero for rigid bonds; all modes, ascending, also where
 * frequency[] holds the ends only. */
int taut_spectrum_bonds(const taut_saddle_shape *shape, const double *mass, const double *g,
                        const double *compliance, int count, double *frequency, double *mode,
                        taut_spectrum *spectrum, const taut_allocator *allocator,
                        taut_error *error);
/* The lowest and the highest frequency alone, by iteration where that is faster. */
int taut_spectrum_ends(const taut_saddle_shape *shape, const double *mass, const double *g,
                       const double *compliance, double frequency[2], taut_spectrum *spectrum,
                       const taut_allocator *allocator, taut_error *error);
/* hessian on the tangent pattern (h_start, h_column); eigenvalues below 1e-8 of the largest
 * count as zero (1e-6 above TAUT_SPECTRUM_DENSE coordinates). frequency[2*count] at least, or
 * frequency[n] when n <= 2*count. */
int taut_spectrum_potential(const taut_saddle_shape *shape, const double *mass, const double *g,
                            const taut_index *h_start, const taut_index *h_column,
                            const double *hessian, int count, double *frequency,
                            taut_spectrum *spectrum, const taut_allocator *allocator,
                            taut_error *error);

/* Small dense symmetric eigenproblems, ascending: a[n][n] is overwritten by the vectors (rows). */
int taut_eigen_symmetric(int n, double *a, double *value, taut_error *error,
                         const taut_allocator *allocator);
/* The same for a band of half-width b: a[n][b + 1], entry (j + d, j) at a[j (b + 1) + d]; a stays.
 * Vectors, vector[n][n], of values that differ by more than 1e-6 of the largest are orthogonal to
 * about 1e-10. (band_eigen.c) */
int taut_eigen_band(int n, int b, const double *a, double *value, double *vector, taut_error *error,
                    const taut_allocator *allocator);

#endif
