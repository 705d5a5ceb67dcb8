/* force_balance.h - are the forces of the springs those of slow motion? (force_balance.c) */
#ifndef TAUT_FILTER_FORCE_BALANCE_H
#define TAUT_FILTER_FORCE_BALANCE_H

#include "point/projection.h"

/* C^-1 (g + T gdot) of bond i. */
double taut_spring_force(const taut_projection *p, const taut_pass *pass, taut_index i);

/* In slow motion the forces of the springs are those that keep the bonds from accelerating, up
 * to O(omega^-2). */
typedef struct taut_force_balance {
    double *lambda; /* [m]: of the acceleration equation */
    double energy;  /* of the deviation from it, in units of a single spring */
    double off;     /* largest deviation from it, above noise */
    double size;    /* of the forces */
    bool known;     /* not for redundant springs: only the sum of their forces is determined */
} taut_force_balance;

/* floor[m]: rounding of g. */
int taut_force_balance_measure(const taut_projection *p, double omega, double tolerance,
                               const double *floor, const double *q, const double *v,
                               const taut_pass *pass, taut_force_balance *b, taut_error *error);
/* Fails when the forces at a result are as far from the balance as before: it is not slow.
 * `slowest` spring ("spring", "single spring") and its frequency are for the message. */
int taut_force_balance_check(const taut_projection *p, const taut_force_balance *b,
                             const char *slowest, double frequency, taut_error *error);

#endif
