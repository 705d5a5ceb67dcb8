/* saddle_bonds.h - saddle systems whose upper right-hand side is zero: corrections that reach
 * bonds and nothing else. */
#ifndef TAUT_LINALG_SADDLE_BONDS_H
#define TAUT_LINALG_SADDLE_BONDS_H

#include "linalg/saddle.h"

/* [K G1^T; G2 -D] (x, y) = (0, s), real: y[m] holds s and becomes y, x[n] is written only. The
 * same numbers as taut_saddle_solve with x = 0, up to rounding, at about half of its cost. */
int taut_saddle_solve_bonds(taut_saddle *saddle, double *x, double *y, taut_error *error);

/* With the real G and K of the latest factorisation: y = G x; x -= K^-1 G^T y. Only where they are
 * kept in runs of constant stride (form_runs.h), in which they cost less than products with G by
 * rows: otherwise nothing is done, and false is returned. */
bool taut_saddle_rows(const taut_saddle *saddle, const double *x, double *y);
bool taut_saddle_pull(const taut_saddle *saddle, const double *y, double *x);

#endif
