/* root.h - the sign change of a function inside the latest step. */
#ifndef TAUT_DRIVE_ROOT_H
#define TAUT_DRIVE_ROOT_H

#include "drive/solver.h"

/* The function at a fraction theta of the step. */
typedef int (*taut_root_function)(taut_solver *solver, int64_t k, double theta, double *value,
                                  taut_error *error);

/* Shrinks [*low, *high], with values f_low and f_high of different sign (f_high may be 0), around
 * the sign change of function k until it is not longer than `tiny`. */
int taut_root_locate(taut_solver *solver, taut_root_function function, int64_t k, double tiny,
                     double *low, double *high, double f_low, double f_high, taut_error *error);
/* The smallest difference of theta that times can show. */
double taut_root_resolution(const taut_solver *solver);
/* Where the cubic with values f0, f1 > 0 and slopes m0 < 0, m1 > 0 (per step) at the ends of a step
 * is least, if it is nearly 0 or less; else -1. */
double taut_root_dip(double f0, double f1, double m0, double m1);

#endif
