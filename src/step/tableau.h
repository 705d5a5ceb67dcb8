/* tableau.h - explicit Runge-Kutta methods as data.
 *
 *     k_i = f(t + c_i h, y + h sum_{j<i} a_ij k_j), y+ = y + h sum_i b_i k_i,
 *     i, j = 0 .. stages-1
 *
 * k of index `stages` is f at the end of the step; further ones, up to stages + extra, are made
 * for dense output only. */
#ifndef TAUT_STEP_TABLEAU_H
#define TAUT_STEP_TABLEAU_H

typedef struct taut_tableau {
    int stages, extra;
    int width;           /* length of the rows of a and dense */
    const double *a;     /* [stages + 1 + extra][width]; row `stages` is b */
    const double *c;     /* [stages + 1 + extra] */
    const double *error; /* [stages + 1], error = h sum error_i k_i; NULL without estimate */
    /* a second estimate of lower order, see taut_runge_kutta_estimate; NULL without */
    const double *error_3;
    int dense_rows;      /* coefficients beyond the cubic Hermite polynomial */
    const double *dense; /* [dense_rows][width] */
} taut_tableau;

enum { TAUT_TABLEAU_WIDTH = 16 }; /* the widest */

extern const taut_tableau taut_tableau_euler, taut_tableau_midpoint, taut_tableau_rk4,
    taut_tableau_dopri5, taut_tableau_dop8;

#endif
