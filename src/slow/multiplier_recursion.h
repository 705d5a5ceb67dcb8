/* multiplier_recursion.h - multipliers of the slow motion, to any order in the compliance, from
 * Taylor jets (multiplier_recursion.c). */
#ifndef TAUT_SLOW_MULTIPLIER_RECURSION_H
#define TAUT_SLOW_MULTIPLIER_RECURSION_H

#include "base/memory.h"

typedef struct taut_multiplier_recursion taut_multiplier_recursion;

/* Prepares levels 0 to `most`; the context's system needs TAUT_CAN_JETS. Memory comes from the
 * arena; destroy frees the rest. first > 0: room for that many levels, and for more when a
 * higher one is asked for. */
int taut_multiplier_recursion_create(taut_context *context, taut_arena *arena,
                                     taut_statistics *statistics, int most, int first,
                                     taut_multiplier_recursion **recursion, taut_error *error);
void taut_multiplier_recursion_destroy(taut_multiplier_recursion *recursion);
/* The highest level that jets allow for this system: fewer with damping. */
int taut_multiplier_recursion_most(taut_context *context);

/* At (t, q, v): lambda[m] of the given level; acceleration[n] with it; y[m] and ydot[m], the
 * values that g and gdot have on the slow manifold to this order (0 for rods; soft bonds: 0).
 * All but lambda may be NULL, y and ydot together. Allocates nothing. */
int taut_multiplier_recursion_evaluate(taut_multiplier_recursion *recursion, int level, double t,
                                       const double *q, const double *v, double *lambda,
                                       double *acceleration, double *y, double *ydot,
                                       taut_error *error);
/* Lengths of v' and v'' after an evaluation that gave ydot. */
void taut_multiplier_recursion_rates(const taut_multiplier_recursion *recursion,
                                     double *acceleration, double *jerk);

#endif
