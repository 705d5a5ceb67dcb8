/* stabilize.h - back to the manifold h(z) = 0 after a step [Ascher, Qin, Reich 1992], as projectors
 * (base/projector.h). A stabilisation is a form, what moves, and directions D:
 *
 *     form       post      z <- z~ - alpha F(z~) h(z~), `passes` times             (3.9)
 *                forward   z <- z~ - alpha F(z_n) h(z_n), z_n where the step began (3.4)
 *                backward  z  = z~ - alpha F(z) h(z)                               (3.7)
 *                project   z  = z~ - D lambda, h(z) = 0                            (3.10)
 *     of         both, position, velocity
 *     direction  F = D (H D)^-1; of rigid bonds, h = (g, gdot):
 *                mass      D = M^-1 G^T; velocities where the position has landed  (4.7)
 *                unit      the same with D = G^T
 *                simple    D = G^T, both from one point                            (4.8)
 *                gradient  F = diag(G^T, G^T), without an inverse                  (1.14)
 *                of constraints and invariants of first-order systems:
 *                transpose D = H^T
 *                gradient  F = H^T                                                 (1.14)
 *     refresh    a factorisation of H D serves this number of steps                (section 5)
 *     solver     factor; diagonal or sor: no factorisation (relax.h)               (section 5)
 *
 * "post-velocity", "post-position" and "post-simple" are post of these, simple. First order,
 * velocity: only variables that are the rate of another one move (Table 3.1). */
#ifndef TAUT_WRAP_STABILIZE_H
#define TAUT_WRAP_STABILIZE_H

#include "base/projector.h"

typedef struct taut_stabilization {
    const char *form;
    int passes;                 /* 0: 1 */
    double alpha;               /* 0: 1 */
    const char *of, *direction; /* NULL or "auto": of the form, and of the system */
    int refresh;                /* 0: 1 */
    const char *solver;         /* NULL: "factor" */
    struct taut_saddle *saddle; /* of the field, which outlives the stabiliser; NULL: its own */
    double *room;               /* [3 taut_apart(n)], used within calls only; NULL: its own */
} taut_stabilization;

int taut_stabilizer_create(const taut_stabilization *how, taut_context *context, taut_arena *arena,
                           taut_statistics *statistics, taut_projector **projector,
                           taut_error *error);
/* The invariants keep the values they have at this state (before: those of the model's start at
 * t = 0; mechanical: none). To be called at the initial state of a run, and after an event that
 * altered the state. v is for mechanical systems. */
int taut_stabilizer_begin(taut_projector *projector, double t, const double *q, const double *v,
                          taut_error *error);
#endif
