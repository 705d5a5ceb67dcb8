/* saddle_bonds.h - saddle systems whose upper right-hand side is zero: corrections that reach
 * bonds and nothing else. */
#ifndef TAUT_LINALG_SADDLE_BONDS_H
#define TAUT_LINALG_SADDLE_BONDS_H

#include "linalg/saddle.h"

/* [K G1^T; G2 -D] (x, y) = (0, s), real: y[m] holds s and becomes y, x[n] is written only. The
 * same numbers as taut_saddle_solve with x = 0, up to rounding, at about half of its cost. */
int taut_saddle_solve_bonds(taut_saddle *saddle, double *x, double *y, taut_error *error);

#endif
