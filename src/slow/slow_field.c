/* slow_field.c - the explicit slow field: a non-stiff vector field whose solutions are the slow
 * solutions of a stiff system, up to O(C^(k+1)).
 *
 *     q' = v,    M v' = f - G^T lambda^(k)(t, q, v)
 *
 * with the multipliers of multiplier_recursion.c: lambda^(0) is that of rigid bonds and needs no
 * jets (wrap/fields.c), lambda^(k) one jet of degree 2k, and smaller ones for the levels above it.
 * Its solutions keep
 *
 *     g = y,   G v + g_t = y',   y = (1 + T d/dt)^-1 C lambda^(k)   (a jet of degree 2k + 1)
 *
 * as those of the index-1 form keep rigid bonds, and drift from it likewise: the projector moves a
 * state back, orthogonally in the metric of M [Ascher, Qin, Reich 1992, (3.9), (4.7)]. y depends on
 * the state, by O(C): it is computed again where the state has moved so far that this matters. */
#include "slow/slow_field.h"

#include <math.h>

#include "base/vectors.h"
#include "slow/multiplier_recursion.h"
#include "wrap/fields.h"

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    taut_slow_field *w = field->self;
    const taut_multiplier_recursion *r = w->recursion;
    if (w->level == 0)
        return w->rigid->evaluate(w->rigid, t, q, v, rate, lambda, error);
    field->statistics->force_evaluations++;
    TAUT_TRY(taut_multiplier_recursion_evaluate(w->recursion, w->level, false, t, q, v, error));
    taut_copy(field->n, r->a, rate);
    if (lambda)
        taut_copy(field->m, r->lambda, lambda);
    return TAUT_OK;
}

/* Level 0 has those of its rigid field. */
static int stages(taut_field *field, const taut_stages *s)
{
    taut_field *rigid = ((taut_slow_field *)field->self)->rigid;
    return ((taut_slow_field *)field->self)->level == 0 && rigid->stages ? rigid->stages(rigid, s)
                                                                         : -1;
}

/* Onto the manifold whose y has just been computed, positions first; *move: relative to the state,
 * the larger one. */
static int correct(taut_slow_field *w, double t, double *move, taut_error *error)
{
    enum { STEPS = 3 };
    static const double CLOSE = 1e-8; /* the step after that would be rounding */
    taut_index n = w->field.n;
    *move = 0;
    for (int part = 0; part < 2; part++) {
        double size = taut_largest(n, part ? w->v : w->q), step = INFINITY;
        for (int k = 0; k < STEPS && step > CLOSE * size; k++) {
            TAUT_TRY(taut_multiplier_recursion_correct(w->recursion, part, t, w->q, w->v, w->step,
                                                       error));
            step = taut_largest(n, w->step);
            *move = taut_larger(*move, size > 0 ? step / size : 0);
        }
    }
    return isfinite(*move)
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_CONVERGE,
                           "the projection onto the slow manifold diverged at t = %.9g", t);
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    enum { PASSES = 3 };
    static const double ENOUGH = 1e-13; /* change of y by a move, relative to the state */
    taut_slow_field *w = projector->self;
    const taut_multiplier_recursion *r = w->recursion;
    taut_index n = w->field.n, m = w->field.m;
    double move = INFINITY, size = taut_largest(n, q);
    taut_copy(n, q, w->q);
    taut_copy(n, v, w->v);
    for (int k = 0; k < PASSES && (k == 0 || move * taut_largest(m, r->y) > ENOUGH * size); k++) {
        TAUT_TRY(
            taut_multiplier_recursion_evaluate(w->recursion, w->level, true, t, w->q, w->v, error));
        TAUT_TRY(correct(w, t, &move, error));
    }
    taut_copy(n, w->q, q);
    taut_copy(n, w->v, v);
    return TAUT_OK;
}

int taut_slow_field_correction(taut_slow_field *w, int level, bool first, double t, const double *q,
                               const double *v, taut_slow_correction *to, taut_error *error)
{
    taut_multiplier_recursion *r = w->recursion;
    taut_statistics before = *w->field.statistics;
    int status = taut_multiplier_recursion_evaluate(r, level, first, t, q, v, error);
    *w->field.statistics = before;
    TAUT_TRY(status);
    taut_index m = w->field.m;
    *to = (taut_slow_correction){.a = r->a,
                                 .a_before = r->a_before,
                                 .lambda = taut_largest_difference(m, r->lambda, r->before),
                                 .size = taut_largest(m, r->lambda)};
    if (!first)
        return TAUT_OK;
    /* at a turning point multipliers may vanish, and their derivatives do not; that of order 2 is
     * still the one of level 0 */
    to->rate = taut_multiplier_recursion_rate(r);
    for (int i = 1; i <= 2 && to->rate > 0; i++)
        to->size = fmax(to->size, i * taut_largest(m, r->lambda + i * m) / pow(to->rate, i));
    return TAUT_OK;
}

int taut_slow_field_reserve(taut_slow_field *w, int level, taut_error *error)
{
    return taut_multiplier_recursion_reserve(w->recursion, level, error);
}

static void destroy(taut_field *field)
{
    taut_slow_field *w = field->self;
    if (w->rigid && w->rigid->destroy)
        w->rigid->destroy(w->rigid);
    w->rigid = NULL;
    taut_multiplier_recursion_destroy(w->recursion);
    w->recursion = NULL;
}

static void archive(taut_field *field, taut_archive *archive)
{
    taut_slow_field *w = field->self;
    taut_archive_integer(archive, &w->level, 0, w->most);
}

static int fill(taut_slow_field *w, taut_context *context, taut_arena *arena,
                taut_statistics *statistics, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    w->field = (taut_field){.name = "slow",
                            .second_order = true,
                            .n = sizes.coordinates,
                            .m = sizes.bonds,
                            .evaluate = evaluate,
                            .stages = stages,
                            .destroy = destroy,
                            .archive = archive,
                            .statistics = statistics,
                            .self = w};
    w->onto = (taut_projector){
        .name = "slow manifold", .apply = apply, .statistics = statistics, .self = w};
    w->most = taut_multiplier_recursion_most(context, 0);
    TAUT_TRY(TAUT_RESERVE(arena, w->field.n, error, &w->q, &w->v, &w->step));
    TAUT_TRY(taut_field_stiff_index1(context, arena, statistics, &w->rigid, error));
    return taut_multiplier_recursion_create(context, arena, statistics, w->most, 1, NULL,
                                            &w->recursion, error);
}

int taut_slow_field_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                           taut_slow_field **field, taut_error *error)
{
    *field = NULL;
    taut_slow_field *w = TAUT_NEW(arena, taut_slow_field, 1);
    TAUT_NEED(error, w);
    int status = fill(w, context, arena, statistics, error);
    if (status == 0)
        *field = w;
    else
        destroy(&w->field);
    return status;
}
