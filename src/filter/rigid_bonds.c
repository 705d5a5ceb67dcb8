/* rigid_bonds.c - rigid bonds beside springs. A filter [A (10)] adds up points of the manifold
 * of the rods, and the sum is beside it: by half of the curvature times the square of the
 * oscillation, and by the error of the filter for the slow motion. After a pass the sum goes to
 * its foot point on the rods (foot_point.c): what was slow moves by no more than the filter's
 * own error, so that the order of a kernel stays. */
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

int taut_rigid_bonds_create(taut_projection *p, taut_rigid_bonds *rods, taut_error *error)
{
    *rods = (taut_rigid_bonds){.p = p};
    if (!taut_rigid_bonds_any(p->context))
        return TAUT_OK;
    taut_foot_point_settings settings = {.ignore_holds = true};
    return taut_foot_point_create(p->context, &p->arena, &p->statistics, &settings,
                                  &rods->projector, error);
}

void taut_rigid_bonds_destroy(taut_rigid_bonds *rods)
{
    if (rods->projector)
        rods->projector->destroy(rods->projector);
    rods->projector = NULL;
}

int taut_rigid_bonds_put(taut_rigid_bonds *rods, taut_error *error)
{
    taut_projection *p = rods->p;
    if (!rods->projector)
        return TAUT_OK;
    int64_t before = p->statistics.force_evaluations;
    int status = rods->projector->apply(rods->projector, p->t, p->q, p->v, error);
    p->statistics.force_evaluations = before; /* bonds alone */
    return status;
}

/* ---- the start */

/* Does the start meet the rods, to rounding? g and gdot of all bonds are kept. */
static int is_on(taut_rigid_bonds *rods, bool *on, taut_error *error)
{
    const taut_projection *p = rods->p;
    const double *compliance = taut_context_compliance(p->context);
    taut_pattern jacobian;
    taut_arena *arena = &rods->p->arena;
    TAUT_TRY(taut_system_pattern(p->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    double *entry = TAUT_NEW(arena, double, p->sizes.jacobian_entries);
    if (!entry)
        return taut_fail_memory(error);
    TAUT_TRY(TAUT_RESERVE(arena, p->sizes.bonds, error, &rods->g, &rods->gdot));
    taut_values values = {.bond = rods->g, .bond_dt = rods->gdot, .jacobian = entry};
    TAUT_TRY(taut_evaluate_inside(p->context, p->t, p->q, p->v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                  &values, error));
    double noise = p->sizes.can & TAUT_CAN_DERIVATIVES ? rounding : difference,
           largest = taut_largest(p->sizes.coordinates, p->q);
    *on = true;
    for (taut_index i = 0; i < p->sizes.bonds; i++) {
        double size = largest + taut_row_size(&jacobian, entry, i, p->q),
               rate = fabs(rods->gdot[i]) + taut_row_size(&jacobian, entry, i, p->v);
        rods->gdot[i] += taut_row_dot(&jacobian, entry, i, p->v);
        if (!(compliance[i] > 0))
            *on = *on && fabs(rods->g[i]) <= rounding * size && fabs(rods->gdot[i]) <= noise * rate;
    }
    return TAUT_OK;
}

int taut_rigid_bonds_begin(taut_rigid_bonds *rods, taut_error *error)
{
    taut_projection *p = rods->p;
    taut_index n = p->sizes.coordinates;
    bool on = true;
    if (rods->projector)
        TAUT_TRY(is_on(rods, &on, error));
    if (on)
        return TAUT_OK;
    taut_foot_point_settings settings = {.ignore_holds = !p->hold, .hold = p->hold};
    taut_projector *projector = NULL;
    double *q = TAUT_NEW(&p->arena, double, n), *v = TAUT_NEW(&p->arena, double, n);
    if (!q || !v)
        return taut_fail_memory(error);
    TAUT_TRY(taut_foot_point_create(p->context, &p->arena, &p->statistics, &settings, &projector,
                                    error));
    int status = projector->apply(projector, p->t, p->q, p->v, error);
    projector->destroy(projector);
    TAUT_TRY(status);
    taut_copy(n, p->q, q);
    taut_copy(n, p->v, v);
    rods->q0 = p->q0;
    rods->v0 = p->v0;
    p->q0 = q;
    p->v0 = v;
    return TAUT_OK;
}

int taut_rigid_bonds_given(const taut_rigid_bonds *rods, taut_projector *projector,
                           taut_error *error)
{
    taut_projection *p = rods->p;
    if (!rods->q0)
        return projector->apply(projector, p->t, p->q, p->v, error);
    taut_copy(p->sizes.coordinates, rods->q0, p->q);
    taut_copy(p->sizes.coordinates, rods->v0, p->v);
    int status = projector->apply(projector, p->t, p->q, p->v, error);
    if (status != 0) {
        taut_copy(p->sizes.coordinates, p->q0, p->q);
        taut_copy(p->sizes.coordinates, p->v0, p->v);
    }
    return status;
}

void taut_rigid_bonds_end(taut_rigid_bonds *rods)
{
    taut_projection *p = rods->p;
    if (!rods->q0)
        return;
    p->q0 = rods->q0;
    p->v0 = rods->v0;
    rods->q0 = rods->v0 = NULL;
    if (!p->pass)
        return;
    p->pass[0].g = rods->g;
    p->pass[0].gdot = rods->gdot;
}
