/* hold_restore.c - what is held, for projections that move everything. A filter [A (10)] gives a
 * slow state (q, v) in which held coordinates have moved; they are put back to their values, and
 * the others follow so that the bonds keep what the filter has given them:
 *
 *     q_h = given, g(q) = g(q filtered), v_h = given, G(q) v + g_t = gdot(filtered)
 *     (M_ff-orthogonally over what is free)
 *
 * Putting them back alone would be an alternation of projections, as slow as the angle between
 * held directions and bonds makes it; this way a pass loses nothing but the O(omega^-2) by which
 * slow stretches differ along the manifold. Stiffness that no bond declares gives nothing to
 * follow: there it is the alternation. */
#include "base/rows.h"
#include "base/vectors.h"
#include "point/hold/hold.h"

#include <float.h>
#include <math.h>

struct taut_hold_restorer {
    taut_context *context;
    taut_statistics *statistics;
    const unsigned char *hold;
    taut_index n, m;
    taut_masked_saddle position, velocity;
    taut_values values;
    double *q0, *v0;    /* what is held */
    double *want, *dmu; /* [m] */
    double *dx;
};

enum { MOST_ITERATIONS = 30 };
/* redundant springs are met by least squares: see taut_masked_saddle_factor */
static const double relaxation = 1e-10;

static int evaluate(taut_hold_restorer *w, double t, const double *q, const double *v,
                    taut_error *error)
{
    w->statistics->force_evaluations++;
    return taut_evaluate_inside(w->context, t, q, v,
                                TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS, &w->values,
                                error);
}

static void rates(const taut_hold_restorer *w, const double *v, double *gdot)
{
    const taut_pattern *g = &w->position.jacobian;
    for (taut_index i = 0; i < w->m; i++)
        gdot[i] = w->values.bond_dt[i] + taut_row_dot(g, w->values.jacobian, i, v);
}

/* ---- the way back */

static int restore_position(taut_hold_restorer *w, double t, double *q, const double *v,
                            taut_error *error)
{
    double before = INFINITY;
    taut_copy(w->m, w->values.bond, w->want);
    for (taut_index i = 0; i < w->n; i++)
        if (w->hold[i] & TAUT_HOLD_POSITION)
            q[i] = w->q0[i];
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(evaluate(w, t, q, v, error));
        taut_clear(w->n, w->dx);
        for (taut_index i = 0; i < w->m; i++)
            w->dmu[i] = w->want[i] - w->values.bond[i];
        w->statistics->factorisations++;
        w->statistics->solves++;
        TAUT_TRY(taut_masked_saddle_factor(&w->position, t, w->values.mass, w->values.jacobian,
                                           NULL, relaxation, error));
        TAUT_TRY(taut_masked_saddle_solve(&w->position, w->dx, w->dmu, error));
        double step = taut_norm(w->n, w->dx), scale = taut_norm(w->n, q);
        /* at rounding, or as near as least squares come */
        if (!isfinite(step) || step > 2 * before)
            return taut_fail(error, TAUT_ERROR_CONVERGE,
                             "what is held could not be put back after a pass: the bonds cannot "
                             "follow; hold less, or start nearer");
        for (taut_index i = 0; i < w->n; i++)
            q[i] += w->dx[i];
        if (step <= 2 * DBL_EPSILON * scale || (step > 0.5 * before && step <= 1e-10 * scale))
            return TAUT_OK;
        before = step;
    }
    /* redundant springs that cannot all be met: passes go on from here, and their stopping test
     * decides */
    return TAUT_OK;
}

static int restore_velocity(taut_hold_restorer *w, double t, const double *q, double *v,
                            taut_error *error)
{
    for (taut_index i = 0; i < w->n; i++)
        if (w->hold[i] & TAUT_HOLD_VELOCITY)
            v[i] = w->v0[i];
    TAUT_TRY(evaluate(w, t, q, v, error));
    w->statistics->factorisations++;
    TAUT_TRY(taut_masked_saddle_factor(&w->velocity, t, w->values.mass, w->values.jacobian, NULL,
                                       relaxation, error));
    /* linear: the later ones take out what `ease` and rounding leave */
    for (int round = 0; round < 3; round++) {
        rates(w, v, w->dmu);
        taut_clear(w->n, w->dx);
        for (taut_index i = 0; i < w->m; i++)
            w->dmu[i] = w->want[i] - w->dmu[i];
        w->statistics->solves++;
        TAUT_TRY(taut_masked_saddle_solve(&w->velocity, w->dx, w->dmu, error));
        for (taut_index i = 0; i < w->n; i++)
            v[i] += w->dx[i];
    }
    return TAUT_OK;
}

int taut_hold_restorer_restore(taut_hold_restorer *w, double t, double *q, double *v,
                               taut_error *error)
{
    if (!w)
        return TAUT_OK;
    TAUT_TRY(evaluate(w, t, q, v, error));
    double *rate = w->values.gamma; /* [m], not evaluated here: a place to keep them */
    rates(w, v, rate);
    TAUT_TRY(restore_position(w, t, q, v, error));
    taut_copy(w->m, rate, w->want);
    return restore_velocity(w, t, q, v, error);
}

/* ---- is it possible? */

/* Rank of the rows that move, with the given entries; -1 when it cannot be determined. */
static int rank_of(const taut_masked_saddle *s, const double *entry, taut_arena *arena,
                   unsigned char *redundant, taut_index *partner, taut_index *rank,
                   taut_error *error)
{
    taut_saddle_shape shape = {
        .n = s->n, .m = s->m, .g_start = s->jacobian.start, .g_column = s->jacobian.column};
    int status =
        taut_rank(&shape, entry, 0, NULL, rank, redundant, partner, NULL, &arena->allocator, error);
    if (status == TAUT_ERROR_SIZE) {
        *rank = -1;
        return TAUT_OK;
    }
    return status;
}

/* Holding must not make bonds depend on one another that were independent. */
static int check_rank(taut_hold_restorer *w, taut_masked_saddle *s, double t, const char *what,
                      taut_arena *arena, taut_error *error)
{
    unsigned char *before = TAUT_NEW(arena, unsigned char, w->m),
                  *after = TAUT_NEW(arena, unsigned char, w->m);
    taut_index *partner = TAUT_NEW(arena, taut_index, w->m), free_rank, held_rank;
    TAUT_NEED(error, before, after, partner);
    TAUT_TRY(taut_masked_saddle_factor(s, t, w->values.mass, w->values.jacobian, NULL, relaxation,
                                       error));
    TAUT_TRY(rank_of(s, s->g, arena, after, partner, &held_rank, error));
    for (taut_index i = 0; i < w->m; i++) /* rows without a free coordinate count on neither side */
        for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1]; k++)
            s->g[k] = s->moves[i] ? w->values.jacobian[k] : 0;
    TAUT_TRY(rank_of(s, s->g, arena, before, NULL, &free_rank, error));
    if (held_rank < 0 || held_rank >= free_rank)
        return TAUT_OK;
    taut_index bad = 0;
    while (bad < w->m - 1 && !(after[bad] && !before[bad] && s->moves[bad]))
        bad++;
    char name[96], other[96] = "";
    taut_system_name(taut_context_system(w->context), TAUT_BOND, bad, name, sizeof name);
    if (partner[bad] >= 0)
        taut_system_name(taut_context_system(w->context), TAUT_BOND, partner[bad], other,
                         sizeof other);
    return taut_fail(
        error, TAUT_ERROR_SINGULAR,
        "too much is held: with the held %s fixed, bond '%s' %s%s%s; release one of its %s", what,
        name, other[0] ? "depends on others such as '" : "cannot change", other,
        other[0] ? "'" : "", what);
}

/* ---- the object */

static int build(taut_hold_restorer *w, taut_arena *arena, double t, const double *q,
                 const double *v, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(w->context), &sizes);
    w->n = sizes.coordinates;
    w->m = sizes.bonds;
    TAUT_TRY(taut_masked_saddle_create(&w->position, w->context, arena, w->hold, TAUT_HOLD_POSITION,
                                       NULL, error));
    TAUT_TRY(taut_masked_saddle_create(&w->velocity, w->context, arena, w->hold, TAUT_HOLD_VELOCITY,
                                       NULL, error));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->q0, &w->v0, &w->dx));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->want, &w->dmu, &w->values.bond,
                          &w->values.bond_dt, &w->values.gamma));
    TAUT_TRY(TAUT_RESERVE(arena, sizes.jacobian_entries, error, &w->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, w->position.matrix ? w->position.tangent.start[w->n] : w->n, error,
                          &w->values.mass));
    taut_copy(w->n, q, w->q0);
    taut_copy(w->n, v, w->v0);
    TAUT_TRY(evaluate(w, t, q, v, error));
    TAUT_TRY(check_rank(w, &w->position, t, "coordinates", arena, error));
    return check_rank(w, &w->velocity, t, "velocities", arena, error);
}

int taut_hold_restorer_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                              const unsigned char *hold, double t, const double *q, const double *v,
                              taut_hold_restorer **restorer, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    *restorer = NULL;
    if (!taut_hold_any(hold, sizes.coordinates, TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY))
        return TAUT_OK;
    taut_hold_restorer *w = TAUT_NEW(arena, taut_hold_restorer, 1);
    TAUT_NEED(error, w);
    *w = (taut_hold_restorer){.context = context, .statistics = statistics, .hold = hold};
    int status = build(w, arena, t, q, v, error);
    if (status != 0) {
        taut_hold_restorer_destroy(w);
        return status;
    }
    *restorer = w;
    return TAUT_OK;
}

void taut_hold_restorer_destroy(taut_hold_restorer *w)
{
    if (!w)
        return;
    taut_masked_saddle_destroy(&w->position);
    taut_masked_saddle_destroy(&w->velocity);
}
