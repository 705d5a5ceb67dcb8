/* potential_series.c - the projection `series` for a system with a stiff potential: the slow
 * point over the foot point of the start, as an expansion in eps^2 [B Theorem 2.2]. The point is
 * on the normal fibre of the foot point (X, V),
 *
 *     q = X + W alpha + M^-1 G^T mu, v = V + W beta + M^-1 G^T nu   (all at X), g = y^(k),
 *     gdot = ydot^(k),
 *
 * where g are the d functions of the potential and the bonds, and y^(k) what these are on the
 * slow manifold to order eps^(2k+2) (potential_recursion.c). Levels as in series.c, Newton's
 * steps with the matrix of the foot point. What is held does not move: the modes of the fibre
 * are then those of the space in which it stands still. */
#include "base/vectors.h"
#include "slow/potential/potential.h"
#include "slow/truncation_error.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

typedef struct series {
    taut_projection *p;
    taut_projector *foot;
    taut_potential_recursion *recursion;
    taut_potential_basis basis;
    taut_potential_values values;
    taut_index n, m;
    double *q, *v, *last_q, *last_v, *dq, *dv, *force, *s;
    double scale;            /* |q| + |v| */
    double error_q, error_v; /* of the result, max norm */
    double rate;             /* of the slow motion, 1/time; 0 when there is none */
    double noise;            /* of a step, over the scale */
    int level;
    bool grows;
} series;

static double norm(taut_index n, const double *x, const double *y)
{
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += (x[i] - (y ? y[i] : 0)) * (x[i] - (y ? y[i] : 0));
    return sqrt(sum);
}

static int evaluate(series *s, taut_error *error)
{
    s->p->statistics.force_evaluations++;
    return taut_potential_recursion_evaluate(s->recursion, &s->basis, s->level, s->p->t, s->q, s->v,
                                             &s->values, error);
}

/* dx: the step on the fibre that takes the functions from `now` to `wanted`. Where the
 * velocities that are held are others than the positions, their modes are others than those of
 * the frame. */
static void fibre_step(series *s, bool velocity, const double *now, const double *wanted,
                       double *dx)
{
    int count;
    const taut_potential_modes *w = taut_potential_foot_modes(s->foot, velocity, &count);
    bool apart = velocity && w != taut_potential_foot_modes(s->foot, false, &count);
    for (taut_index i = 0; i < s->m; i++)
        s->s[i] = wanted[count + i] - now[count + i];
    taut_clear(s->n, s->force);
    for (int k = 0; k < count && apart; k++)
        for (taut_index i = 0; i < s->n; i++)
            s->force[i] +=
                (wanted[k] - now[k]) * s->basis.value[k] * s->basis.force[(int64_t)k * s->n + i];
    taut_potential_modes_step(w, apart ? count : 0, s->s, s->force, 1, dx);
    for (int k = 0; k < count; k++)
        s->force[k] = wanted[k] - now[k];
    if (!apart)
        taut_potential_recursion_adjust(s->recursion, s->force, dx);
    for (taut_index i = 0; i < s->n; i++)
        dx[i] = w->held[i] ? 0 : dx[i];
}

/* Of the slowest stiff mode. */
static double frequency(const series *s)
{
    double least = INFINITY;
    for (int k = 0; k < s->basis.count; k++)
        least = fmin(least, s->basis.value[k]);
    return sqrt(least);
}

static int fail_separation(const series *s, taut_error *error)
{
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "slow and fast are not separated at this state: it moves at a rate of about %.3g, and the "
        "slowest mode of the stiff potential oscillates at %.3g (rad per time); a larger scale of "
        "the potential or a slower motion has a slow point, or use --method constraint",
        s->rate, frequency(s));
}

static int solve_level(series *s, taut_error *error)
{
    enum { MOST = 40 };
    double before = INFINITY;
    for (int k = 0; k < MOST; k++) {
        TAUT_TRY(evaluate(s, error));
        if (s->level == 1 && k == 0)
            s->rate = taut_potential_recursion_rate(s->recursion);
        fibre_step(s, false, s->values.g, s->values.y, s->dq);
        fibre_step(s, true, s->values.gdot, s->values.ydot, s->dv);
        for (taut_index i = 0; i < s->n; i++) {
            s->q[i] += s->dq[i];
            s->v[i] += s->dv[i];
        }
        s->p->statistics.newton_iterations++;
        double step = norm(s->n, s->dq, NULL) + norm(s->n, s->dv, NULL);
        if (step <= 4 * DBL_EPSILON * s->scale ||
            (step > 0.25 * before && step <= 10 * s->noise * s->scale))
            return TAUT_OK;
        if (!(step <= 4 * before))
            break;
        before = step;
    }
    return fail_separation(s, error);
}

static const double poor = 0.01; /* an error, relative, that is not to be called a slow point */

/* What is stated: of the series, when the next level would move the state by (q, v), and of
 * rounding. */
static void state_error(series *s, const taut_truncation *last, double q, double v)
{
    double rounding = 4 * taut_potential_noise(&s->basis) * s->scale;
    taut_truncation_errors(last, s->rate, frequency(s), q, v, &s->error_q, &s->error_v);
    s->error_q += rounding;
    s->error_v += rounding;
}

/* An asymptotic series: the level before was the best one. The next one would move the state by
 * (q, v), `step` of its scale. */
static int settle(series *s, const taut_truncation *last, double step, double q, double v,
                  taut_error *error)
{
    if (s->level <= 2 || taut_truncation_tail(last, last->step, step) > poor)
        return fail_separation(s, error);
    state_error(s, last, q, v);
    taut_copy(s->n, s->last_q, s->q);
    taut_copy(s->n, s->last_v, s->v);
    s->grows = true;
    s->level--;
    return TAUT_OK;
}

/* Level after level, until the correction is at rounding or would grow. */
static int expand(series *s, int most, taut_error *error)
{
    taut_truncation last = {.floor_q = s->noise * s->scale, .floor_v = s->noise * s->scale};
    int quiet = 0;
    for (s->level = 1; s->level <= most; s->level++) {
        taut_copy(s->n, s->q, s->last_q);
        taut_copy(s->n, s->v, s->last_v);
        taut_error reason = {0};
        int status = solve_level(s, &reason);
        double step = (norm(s->n, s->q, s->last_q) + norm(s->n, s->v, s->last_v)) / s->scale;
        double q = taut_largest_difference(s->n, s->q, s->last_q),
               v = taut_largest_difference(s->n, s->v, s->last_v);
        bool lost = status == TAUT_ERROR_CONVERGE;
        if (status != 0 && !(lost && s->level > 2)) {
            if (error)
                *error = reason;
            return status;
        }
        if (lost)
            return settle(s, &last, INFINITY, INFINITY, INFINITY, error);
        if (s->level > 1 && step > fmax(last.step[0], s->noise))
            return settle(s, &last, step, q, v, error);
        taut_truncation_push(&last, step, q, v);
        TAUT_TRY(taut_projection_record(s->p, s->q, s->v, error));
        /* one small correction may be a coefficient that happens to vanish, two are not */
        quiet = step <= fmax(16 * DBL_EPSILON, 4 * taut_potential_noise(&s->basis)) ? quiet + 1 : 0;
        if (quiet == 2)
            break;
    }
    s->level -= s->level > most;
    if (taut_truncation_tail(&last, last.step, NAN) > poor)
        return fail_separation(s, error);
    state_error(s, &last, NAN, NAN);
    return TAUT_OK;
}

static int run(series *s, taut_error *error)
{
    taut_projection *p = s->p;
    int most = taut_potential_most(p->context);
    taut_foot_point_settings settings = {.ignore_holds = !p->hold, .hold = p->hold};
    TAUT_TRY(taut_projection_record(p, s->q, s->v, error));
    TAUT_TRY(
        taut_potential_foot(p->context, &p->arena, &p->statistics, &settings, &s->foot, error));
    TAUT_TRY(s->foot->apply(s->foot, p->t, s->q, s->v, error));
    TAUT_TRY(taut_projection_record(p, s->q, s->v, error));
    if (!taut_potential_foot_whole(s->foot))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "so much is held that the stiff potential cannot be given its slow value; "
                         "release a coordinate or velocity, or use --method constraint");
    TAUT_TRY(taut_potential_find_basis(s->foot, &p->arena, &s->basis, error));
    TAUT_TRY(taut_potential_recursion_create(p->context, &p->arena, &p->statistics, most,
                                             &s->recursion, error));
    s->noise = fmax(1e-12, 100 * taut_potential_noise(&s->basis));
    /* at rest at the origin nothing else says what is small */
    s->scale = 1e-6 + norm(s->n, s->q, NULL) + norm(s->n, s->v, NULL) + norm(s->n, s->q, p->q0) +
               norm(s->n, s->v, p->v0);
    TAUT_TRY(expand(s, most, error));
    return evaluate(s, error);
}

static void give(series *s)
{
    taut_projection *p = s->p;
    taut_copy(s->n, s->q, p->q);
    taut_copy(s->n, s->v, p->v);
    taut_copy(s->m, s->values.lambda + s->basis.count, p->lambda);
    p->stiff_force = s->values.reaction;
    snprintf(p->explanation, sizeof p->explanation,
             "projection series: the foot point where the stiff potential is least, rank %d (pass "
             "1), then %d levels of slow multipliers; error about %.1g in q, %.1g in v, rounding "
             "about %.1g%s",
             s->basis.count, s->level, s->error_q, s->error_v,
             4 * taut_potential_noise(&s->basis) * s->scale,
             s->grows ? "; the next level would be worse: slow and fast are barely separated" : "");
}

int taut_potential_series(taut_projection *p, taut_error *error)
{
    series s = {.p = p, .n = p->sizes.coordinates, .m = p->sizes.bonds};
    double **columns[] = {&s.q, &s.v, &s.last_q, &s.last_v, &s.dq, &s.dv, &s.force};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        if (!(*columns[k] = TAUT_NEW(&p->arena, double, s.n)))
            return taut_fail_memory(error);
    if (!(s.s = TAUT_NEW(&p->arena, double, s.m)))
        return taut_fail_memory(error);
    taut_copy(s.n, p->q, s.q);
    taut_copy(s.n, p->v, s.v);
    int status = run(&s, error);
    if (status == 0)
        give(&s);
    taut_potential_recursion_destroy(s.recursion);
    if (s.foot)
        s.foot->destroy(s.foot);
    return status;
}
