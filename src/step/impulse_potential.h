/* impulse_potential.h - what the impulse methods need of a stiff potential: the rows that stand
 * for G, the foot point, and the kick of the potential there (impulse_potential.c). */
#ifndef TAUT_STEP_IMPULSE_POTENTIAL_H
#define TAUT_STEP_IMPULSE_POTENTIAL_H

#include "step/impulse.h"

/* w->potential for a system with a stiff potential. Refuses one that is flat at the initial state,
 * and systems without jets. */
int taut_impulse_potential_create(taut_impulse *w, taut_error *error);
void taut_impulse_potential_destroy(taut_impulse *w);
taut_index taut_impulse_potential_rank(const taut_impulse *w);

/* The stiff modes at (t, q): what the functions below refer to. */
int taut_impulse_potential_find(taut_impulse *w, double t, const double *q, taut_error *error);
/* Their rows behind those of the bonds. */
void taut_impulse_potential_rows(const taut_impulse *w, double *rows);
/* y[rank] = - (d/dt)^order of the rows' functions along q + s v, with time, at the point of the
 * modes; order 1 or 2. */
int taut_impulse_potential_rates(taut_impulse *w, double t, const double *q, const double *v,
                                 int order, double *y, taut_error *error);
/* The foot point X of x; the modes are those at X. */
int taut_impulse_potential_foot(taut_impulse *w, double t, const double *x, double *X,
                                taut_error *error);
/* acceleration[n] by the slow potential at the foot point of x. */
int taut_impulse_potential_kick(taut_impulse *w, double t, const double *x, double *acceleration,
                                taut_error *error);

/* ---- the force of the vibration, where there are bonds, whose mean tensions it changes */

/* Actions of all stiff modes of the vibrating state. */
int taut_impulse_potential_actions(taut_impulse *w, double t, taut_error *error);
void taut_impulse_potential_archive(taut_impulse *w, taut_archive *archive);
/* gradient[n] of W = sum J_k Omega_k at q, where taut_impulse_tangent was called. */
int taut_impulse_potential_gradient(taut_impulse *w, double t, const double *q, double *gradient,
                                    taut_error *error);

#endif
