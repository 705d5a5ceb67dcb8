/* potential_series.c - the slow point over the foot point of a state of a system with a stiff
 * potential, as an expansion in eps^2 [B Theorem 2.2]. The point is on the normal fibre of the
 * foot point (X, V),
 *
 *     q = X + W alpha + M^-1 G^T mu, v = V + W beta + M^-1 G^T nu   (all at X), g = y^(k),
 *     gdot = ydot^(k),
 *
 * where g are the d functions of the potential and the bonds, and y^(k) what these are on the
 * slow manifold to order eps^(2k+2) (potential_recursion.c), level by level (level_series.c).
 * What is held does not move: the modes of the fibre are then those of the space in which it is
 * constant. */
#include "base/vectors.h"
#include "slow/level_series.h"
#include "slow/potential/potential.h"

typedef struct stiff_series {
    taut_level_series levels;
    taut_potential_recursion *recursion;
    taut_potential_basis basis;
    taut_potential_values values;
    double *force; /* [n]: work */
    double *s;     /* [m]: work */
} stiff_series;

/* ---- levels */

static int evaluate(taut_level_series *l, taut_error *error)
{
    stiff_series *s = (stiff_series *)l;
    l->projector.statistics->force_evaluations++;
    TAUT_TRY(taut_potential_recursion_evaluate(s->recursion, &s->basis, l->level, l->t, l->q, l->v,
                                               &s->values, error));
    if (l->level == 1)
        l->rate = taut_potential_recursion_rate(s->recursion);
    return TAUT_OK;
}

static int moved(taut_level_series *l, taut_error *error)
{
    l->projector.statistics->force_evaluations++;
    return taut_potential_recursion_rows(((stiff_series *)l)->recursion, l->t, l->q, l->v, error);
}

/* The step that takes the functions from what they are to what they are on the slow manifold.
 * Where the velocities that are held are others than the positions, their modes are others than
 * those of the basis. */
static int fibre_step(taut_level_series *l, bool velocity, double *dx, taut_error *error)
{
    stiff_series *s = (stiff_series *)l;
    const double *now = velocity ? s->values.gdot : s->values.g,
                 *wanted = velocity ? s->values.ydot : s->values.y;
    int count;
    const taut_potential_modes *w = taut_potential_foot_modes(l->foot, velocity, &count);
    bool apart = w != taut_potential_foot_modes(l->foot, false, &count);
    (void)error;
    for (taut_index i = 0; i < l->m; i++)
        s->s[i] = wanted[count + i] - now[count + i];
    taut_clear(l->n, s->force);
    for (int k = 0; k < count && apart; k++)
        taut_add_scaled(l->n, (wanted[k] - now[k]) * s->basis.value[k],
                        s->basis.force + (int64_t)k * l->n, s->force);
    taut_potential_modes_step(w, apart ? count : 0, s->s, s->force, 1, dx);
    for (int k = 0; k < count; k++)
        s->force[k] = wanted[k] - now[k];
    if (!apart)
        taut_potential_recursion_adjust(s->recursion, s->force, dx);
    for (taut_index i = 0; i < l->n; i++)
        dx[i] = w->held[i] ? 0 : dx[i];
    return TAUT_OK;
}

/* ---- the projector */

static int begin(taut_level_series *l, taut_error *error)
{
    stiff_series *s = (stiff_series *)l;
    if (!taut_potential_foot_whole(l->foot))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "so much is held that the stiff potential cannot be given its slow value; "
                         "release a coordinate or velocity, or use projection constraint");
    TAUT_TRY(taut_potential_find_basis(l->foot, l->projector.self, &s->basis, error));
    l->rounding = fmax(l->rounding, taut_potential_noise(&s->basis));
    l->frequency = s->basis.count > 0 ? sqrt(s->basis.value[s->basis.count - 1]) : 0;
    return TAUT_OK;
}

/* The forces at the result; what is stated as error includes the rounding of weak modes. */
static int finish(taut_level_series *l, taut_error *error)
{
    l->error_q += 4 * l->rounding * l->scale_q;
    l->error_v += 4 * l->rounding * l->scale_v;
    return evaluate(l, error);
}

static void release(taut_level_series *l)
{
    stiff_series *s = (stiff_series *)l;
    taut_potential_recursion_destroy(s->recursion);
    s->recursion = NULL;
}

static int build(taut_level_series *l, taut_arena *arena, taut_error *error)
{
    stiff_series *s = (stiff_series *)l;
    taut_foot_point_settings settings = {.ignore_holds = !l->settings.hold,
                                         .hold = l->settings.hold};
    TAUT_TRY(TAUT_RESERVE(arena, l->n, error, &s->force));
    TAUT_TRY(TAUT_RESERVE(arena, l->m, error, &s->s));
    TAUT_TRY(taut_foot_create(&taut_potential_foot, l->context, arena, l->projector.statistics,
                              &settings, &l->foot, error));
    return taut_potential_recursion_create(l->context, arena, l->projector.statistics,
                                           l->settings.levels, &s->recursion, error);
}

static void report(const taut_level_series *l, taut_series_report *to)
{
    const stiff_series *s = (const stiff_series *)l;
    to->lambda = s->values.lambda ? s->values.lambda + s->basis.count : NULL;
    to->stiff_force = s->values.reaction;
    to->rank = s->basis.count;
}

const taut_level_kind taut_potential_series = {.size = sizeof(stiff_series),
                                               .ahead = TAUT_POTENTIAL_AHEAD,
                                               .build = build,
                                               .release = release,
                                               .begin = begin,
                                               .evaluate = evaluate,
                                               .moved = moved,
                                               .step = fibre_step,
                                               .finish = finish,
                                               .report = report};
