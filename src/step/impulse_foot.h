/* impulse_foot.h - the foot point of a vibrating state on its stiff springs and rigid bonds, and
 * how it moves with the state (impulse_foot.c). */
#ifndef TAUT_STEP_IMPULSE_FOOT_H
#define TAUT_STEP_IMPULSE_FOOT_H

#include "step/impulse.h"

typedef struct taut_impulse_foot {
    taut_pattern tangent;
    taut_saddle *saddle;     /* [M + E G^T; G 0] */
    double *X, *dX;          /* [n] */
    double *from;            /* [n]: x - X */
    double *mass, *mass_dq;  /* M, d(M (x - X))/dX on the tangent pattern */
    double *matrix, *turned; /* M + E; its transpose where M varies */
    double *weight;          /* mu on all bonds, [m] */
} taut_impulse_foot;

int taut_impulse_foot_create(taut_impulse_foot *foot, const taut_impulse *w, taut_error *error);
void taut_impulse_foot_destroy(taut_impulse_foot *foot); /* accepts NULL */
/* foot->X of x; ends like taut_impulse_project. Bonds and M are those at X. */
int taut_impulse_foot_find(taut_impulse *w, taut_impulse_foot *foot, double t, const double *x,
                           taut_error *error);
/* force[n] at X, whose bonds and M are the latest evaluated, becomes pi'(x)^T force = M(X) b; b for
 * a constant M without rigid bonds, where that is the acceleration. */
int taut_impulse_foot_pull(taut_impulse *w, taut_impulse_foot *foot, double t, double *force,
                           taut_error *error);

#endif
