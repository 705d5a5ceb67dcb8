/* shared_forces.h - how redundant rigid bonds share their forces. */
#ifndef TAUT_STEP_SHARED_FORCES_H
#define TAUT_STEP_SHARED_FORCES_H

#include "step/mechanics.h"

/* Multipliers of all rigid bonds of a system, of the least Euclidean norm. */
typedef struct taut_shared_forces {
    taut_context *context;
    taut_mechanics mechanics;
    taut_statistics uncounted;
    taut_saddle *motion, *shares; /* with K = M; with K = 1 */
    double *ones, *a, *x;         /* [n] */
    double *active;               /* as the entries of G */
    double *ease, *y, *z;         /* [rigid bonds] */
    double *lambda;               /* [bonds]: the result */
} taut_shared_forces;

/* Reserves memory in `arena`. */
int taut_shared_forces_create(taut_shared_forces *s, const taut_system *system, taut_arena *arena,
                              taut_error *error);
/* s->lambda at (t, q, v): those of springs from their stretch, those of rigid bonds from the
 * accelerations. */
int taut_shared_forces_find(taut_shared_forces *s, double t, const double *q, const double *v,
                            taut_error *error);
/* s->lambda with the same force G^T lambda as given multipliers. */
int taut_shared_forces_spread(taut_shared_forces *s, double t, const double *q,
                              const double *lambda, taut_error *error);
/* *off: the largest |g_i|/|G_i| of a rigid bond at (t, q); *worst: its bond. */
int taut_shared_forces_violation(taut_shared_forces *s, double t, const double *q, double *off,
                                 taut_index *worst, taut_error *error);
/* How far the rows of muted bonds are from a good combination of the others: the largest
 * coefficient of such a combination; INFINITY where the others depend on each other. At the
 * latest point of taut_shared_forces_violation. */
int taut_shared_forces_coefficient(taut_shared_forces *s, const unsigned char *muted,
                                   double *coefficient, taut_error *error);
void taut_shared_forces_destroy(taut_shared_forces *s);

#endif
