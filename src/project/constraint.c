/* constraint.c - the projection `constraint`: the foot point of the start on all bonds that are
 * not soft, as if they were rigid (foot_point.c), and the multipliers of the rigid motion from
 * there (rigid_multipliers.c). For springs of infinite stiffness it is the slow point [A (4)]. */
#include <stdio.h>

#include "point/foot_point.h"
#include "slow/potential/potential.h"

static int find(taut_projection *p, taut_context *context, taut_error *error)
{
    taut_projector *projector = NULL;
    taut_foot_point_settings settings = {
        .ignore_holds = !p->hold, .hold = p->hold, .watch = taut_projection_watch, .user = p};
    TAUT_TRY(
        taut_foot_point_create(context, &p->arena, &p->statistics, &settings, &projector, error));
    int status = projector->apply(projector, p->t, p->q, p->v, error);
    projector->destroy(projector);
    return status != 0 ? status
                       : taut_slow_multipliers(context, p->t, p->q, p->v, p->lambda, NULL,
                                               &p->statistics, &p->arena.allocator, error);
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    (void)options;
    taut_system *rigid = NULL;
    taut_context *context = NULL;
    if (p->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return taut_potential_constraint(p, error);
    if (p->sizes.bonds == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection constraint needs bonds, and the system has none");
    TAUT_TRY(taut_system_rigid(p->system, &rigid, error));
    int status = taut_context_create(rigid, &p->arena.allocator, &context, error);
    if (status == 0)
        status = find(p, context, error);
    snprintf(p->explanation, sizeof p->explanation,
             "projection constraint: the foot point on the bonds, all rigid%s; multipliers of the "
             "rigid motion",
             p->sizes.can & TAUT_HAS_SPRINGS ? " (the slow point of infinite stiffness)" : "");
    taut_context_destroy(context);
    taut_system_destroy(rigid);
    return status;
}

const taut_projection_method taut_projection_constraint = {
    .name = "constraint",
    .summary = "M-orthogonal projection onto g = 0, G v + g_t = 0 (foot point), with the "
               "multipliers of the rigid motion",
    .reference = "Ariel, Sanz-Serna, Tsai 2012, section 4.3.1",
    .needs = TAUT_CAN_FORCE,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .project = project,
};
