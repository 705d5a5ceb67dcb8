/* relax.h - instead of a factorisation of H D: x = D y with y near (H D)^-1 r, D = W H^T, W the
 * inverse of diagonal masses or 1 [Ascher, Qin, Reich 1992, section 5].
 *
 *     diagonal   y_i = r_i / (H D)_ii
 *     sor        one symmetric sweep of successive over-relaxation from a given y, rows up and
 * down, y_i <- y_i + omega (r_i - H_i x) / (H D)_ii, omega = 1.2
 *
 * H D is not formed: x = D y is kept too. A part of the drift is left, which the next steps reduce
 * further; from the y of the step before it vanishes where local errors change slowly: errors are
 * multiplied by sqrt(1 - mu) in a step, mu in (0, 1] the eigenvalues of H F. */
#ifndef TAUT_WRAP_RELAX_H
#define TAUT_WRAP_RELAX_H

#include <stdbool.h>

#include "base/rows.h"

typedef enum taut_relax { TAUT_RELAX_NONE, TAUT_RELAX_DIAGONAL, TAUT_RELAX_SOR } taut_relax;

/* x += W H_i^T y; mass NULL: W = 1 */
static inline void taut_relax_row(const taut_pattern *h, const double *entry, const double *mass,
                                  taut_index i, double y, double *x)
{
    for (taut_index k = h->start[i]; k < h->start[i + 1]; k++)
        x[h->column[k]] += entry[k] * y / (mass ? mass[h->column[k]] : 1);
}

/* y[rows]: a first guess for sor, 0 for diagonal; x[n] = 0 before, D y after. */
static inline void taut_relax_solve(taut_relax how, const taut_pattern *h, taut_index rows,
                                    const double *entry, const double *mass, const double *r,
                                    double *y, double *x)
{
    const bool sor = how == TAUT_RELAX_SOR;
    const taut_index count = sor ? 2 * rows : rows;
    for (taut_index i = 0; sor && i < rows; i++)
        taut_relax_row(h, entry, mass, i, y[i], x);
    for (taut_index j = 0; j < count; j++) {
        taut_index i = j < rows ? j : 2 * rows - 1 - j;
        double a = taut_row_square(h, entry, i, mass),
               change = a > 0 ? (sor ? 1.2 * (r[i] - taut_row_dot(h, entry, i, x)) : r[i]) / a : 0;
        y[i] += change;
        taut_relax_row(h, entry, mass, i, change, x);
    }
}

#endif
