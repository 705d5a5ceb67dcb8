/* verify.h - exact derivatives against extrapolated differences of what they are derivatives of. */
#ifndef TAUT_SYSTEM_VERIFY_H
#define TAUT_SYSTEM_VERIFY_H

#include "system/system.h"

/* Compares every derivative the system gives, along random directions (so that the cost is
 * linear in the size and every entry takes part), at (t, q, v). Fills at most `room` rows. */
int taut_verify_derivatives(taut_context *context, double t, const double *q, const double *v,
                            taut_derivative_check *rows, int room, int *count, taut_error *error);

/* (verify_ranks.c) Of each row the worst one of several ranks, which verified their parts. */
int taut_verify_join(const taut_context *context, taut_derivative_check *rows, int count,
                     taut_error *error);

#endif
