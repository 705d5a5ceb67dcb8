/* rigid_bonds.h - rigid bonds next to springs, for projections that move everything (filters):
 * how a state returns to them (rigid_bonds.c). */
#ifndef TAUT_FILTER_RIGID_BONDS_H
#define TAUT_FILTER_RIGID_BONDS_H

#include "base/projector.h"
#include "point/projection.h"

typedef struct taut_rigid_bonds {
    taut_projection *p;
    taut_projector *projector; /* NULL: there are none */
    /* what was given; NULL: it was on the rigid bonds. Else `put` stands in its place, with a state
     * that is on them */
    const taut_projection_input *given;
    taut_projection_input put;
    double *g, *gdot; /* [m]: of that */
} taut_rigid_bonds;

/* Does the context have bonds without compliance? */
bool taut_rigid_bonds_any(taut_context *context);
/* Memory comes from the arena of p. */
int taut_rigid_bonds_create(taut_projection *p, taut_rigid_bonds *rigid, taut_error *error);
void taut_rigid_bonds_destroy(taut_rigid_bonds *rigid); /* half-made ones too */
/* An initial state that is not on the rigid bonds is put there, M-orthogonally, with what is held
 * fixed. What follows starts from it: p->in is that point, until taut_rigid_bonds_end
 * gives back what was given and shows the given state in the record of passes. */
int taut_rigid_bonds_begin(taut_rigid_bonds *rigid, taut_error *error);
void taut_rigid_bonds_end(taut_rigid_bonds *rigid);
/* (p->q, p->v) becomes what the projector makes of the given state. On failure it
 * stays. */
int taut_rigid_bonds_given(const taut_rigid_bonds *rigid, taut_projector *projector,
                           taut_error *error);
/* (p->q, p->v) goes back onto the rigid bonds and their velocities. Nothing without rigid bonds;
 * never allocates. */
int taut_rigid_bonds_put(taut_rigid_bonds *rigid, taut_error *error);

#endif
