/* segments.h - L D L^T of narrow band matrices that are positive definite, in eight segments at
 * once.
 *
 * The recurrence of a band waits for each pivot: about 25 cycles a row. Rows are therefore divided
 * into eight segments of equal length, separated by b rows each (nested dissection of one level):
 *
 *     interior of all segments, then the separators;   R = S - sum of Z D Z^T
 *
 * The interiors are independent: one vector lane for each. Z, the rows of the separator before a
 * segment, fills in along it; that after it stays within the band. R, the reduced matrix of the
 * separators and of the few rows that do not fill the segments, has half-width 2b - 1 and is
 * factored by the scalar kernel (small_kernels.h). Twice the operations, on eight rows at a time.
 *
 * Long matrices have several groups of eight segments, as many as their rows determine, which
 * threads share.
 *
 * Stored by diagonals: entry (j + d, j) at d * apart + j. */
#ifndef TAUT_LINALG_SEGMENTS_H
#define TAUT_LINALG_SEGMENTS_H

#include "base/pool.h"

/* Whether this is the faster way. */
bool taut_segments_fit(taut_index rows, taut_index b);
/* Numbers that a factorisation needs. */
int64_t taut_segments_numbers(taut_index rows, taut_index b);
/* Factors `a`, which is not changed, into `f`. Returns 0, or 1 + the column of the first pivot
 * that is at most `tolerance` times its diagonal entry (NaN included), in the natural order of
 * elimination. */
taut_index taut_segments_factor(taut_pool *pool, taut_index rows, taut_index b, const double *a,
                                int64_t apart, double tolerance, double *f);
/* Solves for x in place; f is the factorisation. room: [rows], such as the first diagonal of what
 * was factored. pool: may be NULL. */
void taut_segments_solve(taut_pool *pool, taut_index rows, taut_index b, double *f, double *room,
                         double *x);

#endif
