/* ranks_foot.c - the M-orthogonal projection of (q, v) onto the rigid bonds over several ranks. The
 * equations are those of foot_point.c, for a constant diagonal M, with K = M in all iterations:
 *
 *     [M G^T; G 0] (dX, mu) = (M (q - X), -g),   X <- X + dX
 *     [M G^T; G 0] (dV, nu) = (0, -(G V + g_t)), V <- V + dV
 *
 * They contract by the distance over the radius of curvature of the bonds. Where that is not small,
 * foot_point.c needs second derivatives, and this fails. */
#include "point/ranks_foot.h"

#include <float.h>
#include <math.h>

#include "base/loops.h"
#include "step/mechanics.h"
#include "system/system.h"

enum { MOST_ITERATIONS = 80 };

typedef struct ranks_foot {
    taut_projector projector;
    taut_mechanics mechanics;
    taut_foot_point_settings settings;
    taut_saddle *saddle;
    bool borrowed;
    double *x, *u, *step; /* [n] */
    double *residual;     /* [rigid bonds] */
} ranks_foot;

static double largest(const ranks_foot *w, taut_index n, const double *x)
{
    const taut_mechanics *m = &w->mechanics;
    return taut_space_largest(m->part->space, taut_loop_largest(m->context->pool, n, x));
}

static int watch(const ranks_foot *w, double t, taut_error *error)
{
    return w->settings.watch ? w->settings.watch(w->settings.user, t, w->x, w->u, error) : TAUT_OK;
}

/* G and the matrix at x, factorised. */
static int arrive(ranks_foot *w, double t, const double *v, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_mechanics_bonds(m, t, w->x, v, 0, error));
    w->projector.statistics->force_evaluations++;
    return taut_mechanics_factor(m, w->saddle, t, m->mass, m->rod_jacobian, NULL, error);
}

static int find(ranks_foot *w, double t, const double *q, const double *v, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    double before = INFINITY, first = 0;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(arrive(w, t, v, error));
        TAUT_TRY(watch(w, t, error));
        for (taut_index i = 0; i < m->n; i++)
            w->step[i] = m->mass[i] * (q[i] - w->x[i]);
        taut_mechanics_pick(m, -1, m->values.bond, w->residual);
        TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->step, w->residual, error));
        w->projector.statistics->newton_iterations++;
        w->projector.statistics->solves++;
        const double size = largest(w, m->n, w->step), scale = largest(w, m->n, w->x),
                     share = size == 0 ? 0 : size / scale;
        first = k == 0 ? size : first;
        if (!isfinite(share))
            break;
        taut_loop_add_scaled(m->context->pool, m->n, size > 2 * first ? 2 * first / size : 1,
                             w->step, w->x);
        if (share <= 2 * DBL_EPSILON || (share > 0.25 * before && share <= 1e-13))
            return TAUT_OK;
        before = share;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "no foot point was found over %d ranks in %d iterations, which do without the "
                     "curvature of the bonds: give initial values that are nearer to the rigid "
                     "bonds, or a foot point that was found in one process (taut project)",
                     m->part->space->size, MOST_ITERATIONS);
}

/* The second time removes the rounding of the first. */
static int project_velocity(ranks_foot *w, double t, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    TAUT_TRY(arrive(w, t, w->u, error));
    for (int k = 0; k < 2; k++) {
        taut_mechanics_rates(m, w->u, w->residual);
        taut_loop_scale(m->context->pool, m->rods, -1, w->residual, w->residual);
        taut_loop_clear(m->context->pool, m->n, w->step);
        TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->step, w->residual, error));
        w->projector.statistics->solves++;
        taut_loop_add(m->context->pool, m->n, w->step, w->u);
    }
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    ranks_foot *w = projector->self;
    const taut_mechanics *m = &w->mechanics;
    taut_loop_copy(m->context->pool, m->n, q, w->x);
    taut_loop_copy(m->context->pool, m->n, v, w->u);
    if (!w->saddle)
        return TAUT_OK;
    TAUT_TRY(find(w, t, q, v, error));
    TAUT_TRY(project_velocity(w, t, error));
    TAUT_TRY(watch(w, t, error));
    taut_loop_copy(m->context->pool, m->n, w->x, q);
    taut_loop_copy(m->context->pool, m->n, w->u, v);
    return TAUT_OK;
}

static void destroy(taut_projector *projector)
{
    ranks_foot *w = projector->self;
    taut_mechanics_destroy(&w->mechanics);
    if (!w->borrowed)
        taut_saddle_destroy(w->saddle);
}

int taut_ranks_foot_create(taut_context *context, taut_saddle *saddle, taut_arena *arena,
                           taut_statistics *statistics, const taut_foot_point_settings *settings,
                           taut_projector **projector, taut_error *error)
{
    ranks_foot *w = TAUT_NEW(arena, ranks_foot, 1);
    TAUT_NEED(error, w);
    taut_mechanics *m = &w->mechanics;
    if (settings)
        w->settings = *settings;
    w->projector = (taut_projector){.name = "constraint",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = w};
    TAUT_TRY(taut_mechanics_create(m, context, arena, statistics, 0, error));
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &w->x, &w->u, &w->step));
    TAUT_TRY(TAUT_RESERVE(arena, m->rods, error, &w->residual));
    w->saddle = saddle;
    w->borrowed = saddle != NULL;
    if (!saddle && taut_space_largest(m->part->space, m->rods) > 0)
        TAUT_TRY(taut_mechanics_saddle(m, false, true, &arena->allocator, &w->saddle, error));
    *projector = &w->projector;
    return TAUT_OK;
}
