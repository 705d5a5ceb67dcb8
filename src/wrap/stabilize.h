/* stabilize.h - back to the manifold after a step: post-stabilisation (3.9) and coordinate
 * projection (3.10) of Ascher, Qin, Reich 1992, as projectors (base/projector.h).
 *
 * Kinds: "post"           a Newton step (or `passes` of them) with F = D (H D)^-1: D = M^-1 G^T
 * for mechanical systems (the rigid
 *                         bonds), then the velocities, exactly;
 *                         D = H^T for first-order systems (constraints and invariants)
 *        "project"        the same to convergence
 *        "post-velocity"  velocities only. First order:
 *        only variables that are the rate of another one move (Table 3.1)
 *        "post-simple"
 *        mechanical: positions and velocities with one G^T (G G^T)^-1 of the point (4.8)
 *        "post-position"  mechanical: positions only, by (4.8)
 * passes: 0 means the kind's own number. */
#ifndef TAUT_WRAP_STABILIZE_H
#define TAUT_WRAP_STABILIZE_H

#include "base/projector.h"

int taut_stabilizer_create(const char *kind, int passes, taut_context *context, taut_arena *arena,
                           taut_statistics *statistics, taut_projector **projector,
                           taut_error *error);
/* The invariants keep the values they have at this state (before: those of the model's start at
 * t = 0; mechanical: none). To be called at the initial state of a run, and after an event that
 * altered the state. v is for mechanical systems. */
int taut_stabilizer_begin(taut_projector *projector, double t, const double *q, const double *v,
                          taut_error *error);

#endif
