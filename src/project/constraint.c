/* constraint.c - the projection `constraint`: the foot point of the initial state on all bonds that
 * are not soft, as if they were rigid (foot_point.c), and the multipliers of the rigid motion from
 * there (rigid_multipliers.c). For springs of infinite stiffness it is the slow point [A (4)]. */
#include "point/rigid_foot.h"
#include "slow/potential/potential.h"

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    (void)settings;
    taut_rigid_foot foot;
    taut_foot_point_settings how = {.ignore_holds = !p->in->hold,
                                    .late = true,
                                    .hold = p->in->hold,
                                    .watch = taut_projection_watch,
                                    .user = p};
    if (p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return taut_potential_constraint(p, error);
    if (p->in->sizes.bonds == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection constraint needs bonds, and the system has none");
    int status =
        taut_rigid_foot_create(&foot, p->in->context, &p->arena, &p->statistics, &how, error);
    if (status == 0)
        status = foot.projector->apply(foot.projector, p->in->t, p->q, p->v, error);
    if (status == 0)
        status = taut_slow_multipliers(foot.context, p->in->t, p->q, p->v, p->lambda, NULL,
                                       &p->statistics, &p->arena.allocator, error);
    taut_explain(p,
                 "projection constraint: the foot point on the bonds, all rigid%s; multipliers "
                 "of the rigid motion",
                 p->in->sizes.can & TAUT_HAS_SPRINGS ? " (the slow point of infinite stiffness)"
                                                     : "");
    taut_rigid_foot_destroy(&foot);
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
    .rigid_multipliers = true,
    .spans_ranks = true,
    .project = project,
};
