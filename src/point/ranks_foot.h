/* ranks_foot.h - the foot point of a state over several ranks (system/rank_part.h), without holds
 * and without the curvature of the bonds: what taut_bond_foot finds where the state is near. */
#ifndef TAUT_POINT_RANKS_FOOT_H
#define TAUT_POINT_RANKS_FOOT_H

#include "linalg/saddle.h"
#include "point/foot_point.h"

/* The ranks create it, and apply it, together; `saddle` is one of [M G^T; G 0] that keeps nothing,
 * or NULL: one of its own. settings: `watch` counts, may be NULL. */
int taut_ranks_foot_create(taut_context *context, taut_saddle *saddle, taut_arena *arena,
                           taut_statistics *statistics, const taut_foot_point_settings *settings,
                           taut_projector **projector, taut_error *error);

#endif
