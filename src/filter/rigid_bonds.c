/* rigid_bonds.c - rigid bonds next to springs. A filter [A (10)] adds points of the manifold of
 * rigid bonds, and the sum is off the manifold: by half of the curvature times the square of the
 * oscillation, and by the error of the filter for the slow motion. After a pass the sum moves to
 * its foot point on the rigid bonds (foot_point.c): slow parts move by no more than the error of
 * the filter, so that the order of a kernel is kept. */
#include "filter/rigid_bonds.h"

#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "point/foot_point.h"

static const double rounding = 16 * DBL_EPSILON; /* of the terms that a bond is a sum of */
static const double difference = 1e-9;           /* the same of its rate, where G is one */

bool taut_rigid_bonds_any(taut_context *context)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    const double *compliance = taut_context_compliance(context);
    for (taut_index i = 0; i < sizes.bonds; i++)
        if (!(compliance[i] > 0))
            return true;
    return false;
}

int taut_rigid_bonds_create(taut_projection *p, taut_rigid_bonds *rigid, taut_error *error)
{
    *rigid = (taut_rigid_bonds){.p = p};
    if (!taut_rigid_bonds_any(p->in->context))
        return TAUT_OK;
    taut_foot_point_settings settings = {.ignore_holds = true};
    return taut_foot_create(&taut_bond_foot, p->in->context, &p->arena, &p->statistics, &settings,
                            &rigid->projector, error);
}

void taut_rigid_bonds_destroy(taut_rigid_bonds *rigid)
{
    if (rigid->projector)
        rigid->projector->destroy(rigid->projector);
    rigid->projector = NULL;
}

int taut_rigid_bonds_put(taut_rigid_bonds *rigid, taut_error *error)
{
    taut_projection *p = rigid->p;
    if (!rigid->projector)
        return TAUT_OK;
    int64_t before = p->statistics.force_evaluations;
    int status = rigid->projector->apply(rigid->projector, p->in->t, p->q, p->v, error);
    p->statistics.force_evaluations = before; /* bonds alone */
    return status;
}

/* ---- the start */

/* Does the initial state satisfy the rigid bonds, to rounding? g and gdot of all bonds are kept. */
static int is_on(taut_rigid_bonds *rigid, bool *on, taut_error *error)
{
    const taut_projection *p = rigid->p;
    const double *compliance = taut_context_compliance(p->in->context);
    taut_pattern jacobian;
    taut_arena *arena = &rigid->p->arena;
    TAUT_TRY(taut_system_pattern(p->in->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    double *entry = TAUT_NEW(arena, double, p->in->sizes.jacobian_entries);
    TAUT_NEED(error, entry);
    TAUT_TRY(TAUT_RESERVE(arena, p->in->sizes.bonds, error, &rigid->g, &rigid->gdot));
    taut_values values = {.bond = rigid->g, .bond_dt = rigid->gdot, .jacobian = entry};
    TAUT_TRY(taut_evaluate_inside(p->in->context, p->in->t, p->q, p->v,
                                  TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, error));
    double noise = p->in->sizes.can & TAUT_CAN_DERIVATIVES ? rounding : difference,
           largest = taut_largest(p->in->sizes.coordinates, p->q);
    *on = true;
    for (taut_index i = 0; i < p->in->sizes.bonds; i++) {
        double size = largest + taut_row_size(&jacobian, entry, i, p->q),
               rate = fabs(rigid->gdot[i]) + taut_row_size(&jacobian, entry, i, p->v);
        rigid->gdot[i] += taut_row_dot(&jacobian, entry, i, p->v);
        if (!(compliance[i] > 0))
            *on =
                *on && fabs(rigid->g[i]) <= rounding * size && fabs(rigid->gdot[i]) <= noise * rate;
    }
    return TAUT_OK;
}

int taut_rigid_bonds_begin(taut_rigid_bonds *rigid, taut_error *error)
{
    taut_projection *p = rigid->p;
    bool on = true;
    if (rigid->projector)
        TAUT_TRY(is_on(rigid, &on, error));
    if (on)
        return TAUT_OK;
    taut_foot_point_settings settings = {.ignore_holds = !p->in->hold, .hold = p->in->hold};
    taut_projector *projector = NULL;
    TAUT_TRY(taut_foot_create(&taut_bond_foot, p->in->context, &p->arena, &p->statistics, &settings,
                              &projector, error));
    int status = projector->apply(projector, p->in->t, p->q, p->v, error);
    projector->destroy(projector);
    TAUT_TRY(status);
    rigid->given = p->in;
    return taut_projection_begin_at(p, p->q, p->v, &rigid->put, error);
}

int taut_rigid_bonds_given(const taut_rigid_bonds *rigid, taut_projector *projector,
                           taut_error *error)
{
    taut_projection *p = rigid->p;
    if (rigid->given)
        taut_projection_move(p, rigid->given->q, rigid->given->v);
    int status = projector->apply(projector, p->in->t, p->q, p->v, error);
    if (status != 0 && rigid->given)
        taut_projection_move(p, p->in->q, p->in->v);
    return status;
}

void taut_rigid_bonds_end(taut_rigid_bonds *rigid)
{
    taut_projection *p = rigid->p;
    if (!rigid->given)
        return;
    p->in = rigid->given;
    rigid->given = NULL;
    if (!p->pass)
        return;
    p->pass[0].g = rigid->g;
    p->pass[0].gdot = rigid->gdot;
}
