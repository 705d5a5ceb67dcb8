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
#include "system/fused.h"
#include "system/rank_part.h"
#include "wrap/fields.h"

/* What the recursion would count. */
static void count(taut_slow_field *w, int level, bool rates, int evaluations)
{
    taut_statistics *statistics = w->field.statistics;
    statistics->jets += evaluations * (int64_t)(level + 1);
    statistics->factorisations += evaluations;
    statistics->solves +=
        evaluations * (int64_t)taut_multiplier_recursion_solves(w->recursion, level, rates);
}

static taut_fused_work *tape_of(taut_fused_work *const *tape, int level)
{
    return level < TAUT_SLOW_TAPES ? tape[level] : NULL;
}

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    taut_slow_field *w = field->self;
    const taut_multiplier_recursion *r = w->recursion;
    if (w->level == 0)
        return w->rigid->evaluate(w->rigid, t, q, v, rate, lambda, error);
    taut_fused_work *tape = tape_of(w->acceleration, w->level);
    field->statistics->force_evaluations++;
    if (tape && taut_fused_run(tape, t, q, v, rate, lambda, NULL)) {
        count(w, w->level, false, 1);
        return TAUT_OK;
    }
    TAUT_TRY(taut_multiplier_recursion_evaluate(w->recursion, w->level, false, t, q, v, error));
    taut_copy(field->n, r->a, rate);
    if (lambda)
        taut_copy(field->m, r->lambda, lambda);
    return TAUT_OK;
}

static int stages(taut_field *field, const taut_stages *s)
{
    taut_slow_field *w = field->self;
    if (w->level == 0)
        return w->rigid->stages ? w->rigid->stages(w->rigid, s) : -1;
    taut_fused_work *tape = tape_of(w->acceleration, w->level);
    int end = tape ? taut_fused_stages(tape, s, NULL) : -1;
    int done = end > s->first ? end - s->first : 0;
    field->statistics->force_evaluations += done;
    count(w, w->level, false, done);
    return end;
}

static double largest(const taut_slow_field *w, taut_index n, const double *x)
{
    return taut_space_largest(taut_context_space(w->context), taut_largest(n, x));
}

/* One correction of positions or velocities. */
static int correct_once(taut_slow_field *w, bool velocity, bool fused, double t, taut_error *error)
{
    if (!fused)
        return taut_multiplier_recursion_correct(w->recursion, velocity, t, w->q, w->v, w->step,
                                                 error);
    if (!taut_fused_run(velocity ? w->velocity : w->position, t, w->q, w->v, w->step, NULL, NULL))
        return TAUT_RETRY;
    w->field.statistics->factorisations++;
    w->field.statistics->solves++;
    taut_add(w->field.n, w->step, velocity ? w->v : w->q);
    return TAUT_OK;
}

/* Onto the manifold whose y has just been computed, positions first; *move: relative to the state,
 * the larger one. */
static int correct(taut_slow_field *w, bool fused, double t, double *move, taut_error *error)
{
    enum { STEPS = 3 };
    static const double CLOSE = 1e-8; /* the step after that would be rounding */
    taut_index n = w->field.n;
    *move = 0;
    for (int part = 0; part < 2; part++) {
        double size = largest(w, n, part ? w->v : w->q), step = INFINITY;
        for (int k = 0; k < STEPS && step > CLOSE * size; k++) {
            TAUT_TRY(correct_once(w, part, fused, t, error));
            step = largest(w, n, w->step);
            *move = taut_larger(*move, size > 0 ? step / size : 0);
        }
    }
    return isfinite(*move)
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_CONVERGE,
                           "the projection onto the slow manifold diverged at t = %.9g", t);
}

/* y and y' at the present state; fused: as one tape, which may fail. */
static int find_manifold(taut_slow_field *w, bool fused, double t, taut_error *error)
{
    if (!fused)
        return taut_multiplier_recursion_evaluate(w->recursion, w->level, true, t, w->q, w->v,
                                                  error);
    if (!taut_fused_run(w->manifold[w->level], t, w->q, w->v, w->y, NULL, NULL))
        return TAUT_RETRY;
    count(w, w->level, true, 1);
    taut_fused_aim(w->position, w->y);
    taut_fused_aim(w->velocity, w->y + w->field.m);
    return TAUT_OK;
}

static int move_onto(taut_slow_field *w, bool fused, double t, const double *q, const double *v,
                     taut_error *error)
{
    enum { PASSES = 3 };
    static const double ENOUGH = 1e-13; /* change of y by a move, relative to the state */
    taut_index n = w->field.n, m = w->field.m;
    const double *y = fused ? w->y : w->recursion->y;
    double move = INFINITY, size = largest(w, n, q);
    taut_copy(n, q, w->q);
    taut_copy(n, v, w->v);
    for (int k = 0; k < PASSES && (k == 0 || move * largest(w, m, y) > ENOUGH * size); k++) {
        TAUT_TRY(find_manifold(w, fused, t, error));
        TAUT_TRY(correct(w, fused, t, &move, error));
    }
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    taut_slow_field *w = projector->self;
    const bool fused = taut_slow_field_is_small(w) && tape_of(w->manifold, w->level);
    if (!fused || move_onto(w, true, t, q, v, NULL) != 0)
        TAUT_TRY(move_onto(w, false, t, q, v, error));
    taut_copy(w->field.n, w->q, q);
    taut_copy(w->field.n, w->v, v);
    return TAUT_OK;
}

/* Accelerations and multipliers of a level as one tape. */
static bool run_level(taut_slow_field *w, int level, double t, const double *q, const double *v,
                      double *a, double *lambda)
{
    if (level == 0)
        return w->rigid->evaluate(w->rigid, t, q, v, a, lambda, NULL) == 0;
    taut_fused_work *tape = tape_of(w->acceleration, level);
    return tape && taut_fused_run(tape, t, q, v, a, lambda, NULL);
}

int taut_slow_field_correction(taut_slow_field *w, int level, bool first, double t, const double *q,
                               const double *v, taut_slow_correction *to, taut_error *error)
{
    taut_multiplier_recursion *r = w->recursion;
    taut_statistics before = *w->field.statistics;
    taut_index m = w->field.m;
    bool fused = !first && run_level(w, level, t, q, v, w->a[0], w->lambda[0]) &&
                 run_level(w, level - 1, t, q, v, w->a[1], w->lambda[1]);
    int status =
        fused ? TAUT_OK : taut_multiplier_recursion_evaluate(r, level, first, t, q, v, error);
    *w->field.statistics = before;
    TAUT_TRY(status);
    const double *now = fused ? w->lambda[0] : r->lambda, *last = fused ? w->lambda[1] : r->before;
    *to =
        (taut_slow_correction){.a = fused ? w->a[0] : r->a,
                               .a_before = fused ? w->a[1] : r->a_before,
                               .lambda = taut_space_largest(taut_context_space(w->context),
                                                            taut_largest_difference(m, now, last)),
                               .before = largest(w, m, last),
                               .size = largest(w, m, now)};
    if (!first)
        return TAUT_OK;
    /* at a turning point multipliers may vanish, and their derivatives do not; that of order 2 is
     * still the one of level 0 */
    to->rate = taut_multiplier_recursion_rate(r);
    for (int i = 1; i <= 2 && to->rate > 0; i++)
        to->size = fmax(to->size, i * largest(w, m, r->lambda + i * m) / pow(to->rate, i));
    return TAUT_OK;
}

/* Where there is none yet. */
static int open_tape(taut_slow_field *w, taut_fused_kind kind, int level, taut_fused_work **tape,
                     taut_error *error)
{
    return *tape ? TAUT_OK
                 : taut_fused_open(w->context, kind, level, w->rods, w->rod, w->arena, tape, error);
}

/* Both corrections: NULL for systems that are not small. */
static int open_corrections(taut_slow_field *w, taut_error *error)
{
    w->rod = TAUT_NEW(w->arena, taut_index, w->field.m);
    TAUT_NEED(error, w->rod);
    for (taut_index i = 0; i < w->field.m; i++)
        if (w->recursion->equations.counts[i])
            w->rod[w->rods++] = i;
    TAUT_TRY(open_tape(w, TAUT_FUSED_POSITION, 0, &w->position, error));
    return open_tape(w, TAUT_FUSED_VELOCITY, 0, &w->velocity, error);
}

/* The tapes that steps need, and for looks at corrections the accelerations of the next level:
 * those of level 1 take longer to make than jets at every fourth step, unless they are compiled. */
static int open_levels(taut_slow_field *w, taut_error *error)
{
    const int k = w->level, next = k + (k > 0 || w->context->system->native);
    if (!taut_slow_field_is_small(w))
        return TAUT_OK;
    if (k < TAUT_SLOW_TAPES)
        TAUT_TRY(open_tape(w, TAUT_FUSED_MANIFOLD, k, &w->manifold[k], error));
    for (int j = k > 0 ? k : 1; j <= next && j < TAUT_SLOW_TAPES; j++)
        TAUT_TRY(open_tape(w, TAUT_FUSED_ACCELERATION, j, &w->acceleration[j], error));
    return TAUT_OK;
}

bool taut_slow_field_is_small(const taut_slow_field *w)
{
    return w->position && w->velocity;
}

int taut_slow_field_reserve(taut_slow_field *w, int level, taut_error *error)
{
    TAUT_TRY(open_levels(w, error));
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
    w->context = context;
    w->arena = arena;
    TAUT_TRY(TAUT_RESERVE(arena, w->field.n, error, &w->q, &w->v, &w->step, &w->a[0], &w->a[1]));
    TAUT_TRY(TAUT_RESERVE(arena, w->field.m, error, &w->lambda[0], &w->lambda[1]));
    TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)w->field.m, error, &w->y));
    TAUT_TRY(taut_field_stiff_index1(context, arena, statistics, &w->rigid, error));
    w->field.factor = w->rigid->factor;
    TAUT_TRY(taut_multiplier_recursion_create(context, arena, statistics, w->most, 1, NULL,
                                              &w->recursion, error));
    return open_corrections(w, error);
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
