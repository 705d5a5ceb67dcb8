/* rigid_foot.h - the foot point of a state on all bonds that are not soft, as if they were rigid:
 * the derived system, its context and the projector belong together. */
#ifndef TAUT_POINT_RIGID_FOOT_H
#define TAUT_POINT_RIGID_FOOT_H

#include "point/foot_point.h"

typedef struct taut_rigid_foot {
    taut_system *system;
    taut_context *context;
    taut_projector *projector;
} taut_rigid_foot;

/* A projector of kind taut_bond_foot for the rigid system of the context's one, with the parameters
 * of the context. */
int taut_rigid_foot_create(taut_rigid_foot *foot, const taut_context *context, taut_arena *arena,
                           taut_statistics *statistics, const taut_foot_point_settings *settings,
                           taut_error *error);
void taut_rigid_foot_destroy(taut_rigid_foot *foot); /* half-made ones too */

#endif
