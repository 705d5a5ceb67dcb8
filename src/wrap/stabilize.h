/* stabilize.h - back to the manifold after a step: post-stabilisation (3.9) and coordinate projection (3.10) of Ascher, Qin, Reich
 * 1992, as projectors (base/projector.h).
 *
 * Kinds: "post"           one Newton step (or `passes` of them) with F = D (H D)^-1: D = diag(M^-1 G^T, M^-1 G^T) for mechanical systems
 *                         (rigid bonds), H^T for first-order ones (constraints and invariants)
 *        "post-velocity"  mechanical: velocities only; first order: each invariant by the derivatives alone (see stabilize.c)
 *        "post-simple"    (4.8): positions and velocities from one G, without the term in L
 *        "post-position"  mechanical: positions only, from (4.8)
 *        "project"        to convergence
 * passes: 0 means the kind's own number. */
#ifndef TAUT_WRAP_STABILIZE_H
#define TAUT_WRAP_STABILIZE_H

#include "base/projector.h"

int taut_stabilizer_create(const char *kind, int passes, taut_context *context, taut_arena *arena, taut_statistics *statistics,
                           taut_projector **projector, taut_error *error);

#endif
