/* saddle_bonds.h - saddle systems whose upper right-hand side is zero: corrections that reach
 * bonds and nothing else. */
#ifndef TAUT_LINALG_SADDLE_BONDS_H
#define TAUT_LINALG_SADDLE_BONDS_H

#include "linalg/saddle.h"

/* [K G1^T; G2 -D] (x, y) = (0, s), real: y[m] holds s and becomes y, x[n] is written only. The
 * same numbers as taut_saddle_solve with x = 0, up to rounding, at about half of its cost. */
int taut_saddle_solve_bonds(taut_saddle *saddle, double *x, double *y, taut_error *error);

/* The same with y[m] holding -s, values of bonds as they are evaluated; `forced`: x[n] holds r, as
 * for taut_saddle_solve. Where the matrix is kept in runs, y is not touched before. */
int taut_saddle_oppose(taut_saddle *saddle, bool forced, double *x, double *y, taut_error *error);

/* Where matrices are kept in runs: the array of G, by columns (taut_columns_place). G of the next
 * factorisation may be written there, and this array be given as g1. NULL: G is given by rows. */
double *taut_saddle_columns(taut_saddle *saddle);

/* With the real G and K of the latest factorisation: y = G x; x = -K^-1 G^T y. Only where they are
 * kept in runs of constant stride (form_runs.h), in which they cost less than products with G by
 * rows: otherwise nothing is done, and false is returned. */
bool taut_saddle_rows(const taut_saddle *saddle, const double *x, double *y);
bool taut_saddle_pull(const taut_saddle *saddle, const double *y, double *x);

#endif
