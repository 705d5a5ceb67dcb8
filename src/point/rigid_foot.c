/* rigid_foot.c - see rigid_foot.h. */
#include "point/rigid_foot.h"

#include "point/ranks_foot.h"
#include "system/rank_part.h"
#include "system/system.h"

int taut_rigid_foot_create(taut_rigid_foot *foot, const taut_context *context, taut_arena *arena,
                           taut_statistics *statistics, const taut_foot_point_settings *settings,
                           taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    *foot = (taut_rigid_foot){0};
    TAUT_TRY(taut_system_rigid_in(system, &arena->allocator, &foot->system, error));
    TAUT_TRY(taut_context_like(context, foot->system, &arena->allocator, &foot->context, error));
    if (taut_context_space(context))
        return taut_ranks_foot_create(foot->context, NULL, arena, statistics, settings,
                                      &foot->projector, error);
    return taut_foot_create(&taut_bond_foot, foot->context, arena, statistics, settings,
                            &foot->projector, error);
}

void taut_rigid_foot_destroy(taut_rigid_foot *foot)
{
    if (foot->projector)
        foot->projector->destroy(foot->projector);
    taut_context_destroy(foot->context);
    taut_system_destroy(foot->system);
    *foot = (taut_rigid_foot){0};
}
