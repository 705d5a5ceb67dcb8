/* conserve.h - back to the invariants h(t,q,v) = h0 of a mechanical system, along its rigid bonds.
 *
 *     (dq, dv) = -W^-1 P^T H^T A^-1 (h - h0),   A = H P W^-1 P^T H^T,   W = diag(M, tau^2 M)
 *
 * H = dh/d(q,v); P projects onto G dq = 0, G dv = 0, so that positions and velocities stay on the
 * bonds but for terms of second order and those of dG/dt, which the projection of the velocities
 * that follows takes out [Ascher, Qin, Reich 1992, (3.9), with h = (g, gdot, invariants)]. We
 * deviate in doing both one after the other: the joint matrix is then that of the bonds, and A,
 * with as many rows as invariants. tau, which weighs velocities against positions, is the ratio of
 * the largest |h_v| and |h_q| so far, in the metric of M^-1. */
#ifndef TAUT_WRAP_CONSERVE_H
#define TAUT_WRAP_CONSERVE_H

#include "base/archive.h"
#include "step/mechanics.h"

typedef struct taut_conserve taut_conserve;

/* bonds: the rigid ones. *conserve is NULL where the system has no invariants, or is not
 * mechanical. */
int taut_conserve_create(taut_context *context, taut_arena *arena, taut_index bonds,
                         taut_conserve **conserve, taut_error *error);
/* h0 = h at this state. */
int taut_conserve_begin(taut_conserve *conserve, double t, const double *q, const double *v,
                        taut_error *error);
/* One correction of q and v; the saddle matrix [M G^T; G 0] of this q has been factorised. *off:
 * the largest |h - h0| before, over what rounding may leave. */
int taut_conserve_step(taut_conserve *conserve, taut_saddle *saddle, double t, double *q, double *v,
                       double *off, taut_error *error);
void taut_conserve_archive(taut_conserve *conserve, taut_archive *archive);
/* Fails with the name of an invariant whose rate along (v, a) is above a share of its terms. */
int taut_conserve_verify(taut_conserve *conserve, double t, const double *q, const double *v,
                         const double *a, double share, const char *motion, taut_error *error);

#endif
