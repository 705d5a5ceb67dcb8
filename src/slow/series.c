/* series.c - the slow point over the foot point of the start, as an expansion in the compliance [B Theorem 2.2]: (q, v) on the normal fibre of
 * the foot point (X, V),
 *
 *     q = X + M^-1 G^T mu,   v = V + M^-1 G^T nu    (M, G at X),        g(q) = y(q, v),   G(q) v + g_t = ydot(q, v),
 *
 * where y = C lambda^(k) and ydot are the values that g and gdot have on the slow manifold to order C^(k+1) (recursion.c). Solved for
 * k = 1, 2, ..., each from the one before, by Newton's iteration with the matrix of the foot point: it contracts as C. The correction from
 * k-1 to k estimates what is left; when it stops shrinking above rounding, slow and fast are not separated. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/saddle.h"
#include "slow/constraint.h"
#include "slow/projection.h"
#include "slow/recursion.h"

typedef struct series {
    taut_projection *p;
    taut_recursion *recursion;
    taut_saddle *saddle; /* at the foot point */
    taut_pattern jacobian, tangent;
    taut_values values;
    double *y, *ydot, *d;    /* [m] */
    double *dq, *dv, *dmu;   /* steps */
    double *last_q, *last_v; /* result of the level before */
    double scale;            /* of the state, |q| */
    double correction;       /* of the last level */
    int level;
    bool grows; /* the next level would have been worse */
} series;

static double norm(taut_index n, const double *x, const double *y)
{
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += (x[i] - (y ? y[i] : 0)) * (x[i] - (y ? y[i] : 0));
    return sqrt(sum);
}

/* ---- the foot point */

static int find_foot(taut_projection *p, taut_error *error)
{
    taut_system *rigid = NULL;
    taut_context *context = NULL;
    taut_projector *projector = NULL;
    int status = taut_system_rigid(p->system, &rigid, error);
    if (status == 0)
        status = taut_context_create(rigid, &p->arena.allocator, &context, error);
    if (status == 0)
        status = taut_constraint_projector(context, &p->arena, &p->statistics, &projector, error);
    if (status == 0)
        status = projector->apply(projector, p->t, p->q, p->v, error);
    if (projector)
        projector->destroy(projector);
    taut_context_destroy(context);
    taut_system_destroy(rigid);
    return status;
}

static int evaluate(series *s, unsigned more, taut_error *error)
{
    taut_projection *p = s->p;
    p->statistics.force_evaluations++;
    return taut_evaluate(p->context, p->t, p->q, p->v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | more, &s->values, error);
}

static int factor_foot(series *s, taut_error *error)
{
    taut_projection *p = s->p;
    bool positive = p->sizes.can & TAUT_CAN_INVERT_MASS;
    const double *mass = taut_context_mass(p->context), *compliance = taut_context_compliance(p->context);
    for (taut_index i = 0; mass && i < p->sizes.coordinates; i++)
        positive &= mass[i] > 0;
    taut_saddle_shape shape = {.n = p->sizes.coordinates,
                               .m = p->sizes.bonds,
                               .k_start = s->tangent.start,
                               .k_column = s->tangent.column,
                               .g_start = s->jacobian.start,
                               .g_column = s->jacobian.column,
                               .symmetric = true,
                               .positive = positive};
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &p->arena.allocator, &s->saddle, error));
    TAUT_TRY(evaluate(s, TAUT_WANT_MASS, error));
    for (taut_index i = 0; i < p->sizes.bonds; i++) {
        s->d[i] = taut_context_soft(p->context, i) && compliance[i] > 0;
        for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1] && s->d[i] != 0; k++)
            s->values.jacobian[k] = 0;
    }
    p->statistics.factorisations++;
    return taut_saddle_factor(s->saddle, s->values.mass, s->values.jacobian, NULL, s->d, error);
}

/* ---- levels */

/* One Newton step on the fibre; its length in *step. */
static int correct(series *s, double *step, taut_error *error)
{
    taut_projection *p = s->p;
    taut_index n = p->sizes.coordinates, m = p->sizes.bonds;
    TAUT_TRY(taut_recursion_evaluate(s->recursion, s->level, p->t, p->q, p->v, p->lambda, NULL, s->y, s->ydot, error));
    TAUT_TRY(evaluate(s, 0, error));
    for (int part = 0; part < 2; part++) {
        double *x = part ? s->dv : s->dq;
        memset(x, 0, (size_t)n * sizeof(double));
        for (taut_index i = 0; i < m; i++) {
            double now = part ? s->values.bond_dt[i] : s->values.bond[i];
            for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1] && part; k++)
                now += s->values.jacobian[k] * p->v[s->jacobian.column[k]];
            s->dmu[i] = s->d[i] != 0 ? 0 : (part ? s->ydot[i] : s->y[i]) - now;
        }
        TAUT_TRY(taut_saddle_solve(s->saddle, 1, x, s->dmu, error));
    }
    for (taut_index i = 0; i < n; i++) {
        p->q[i] += s->dq[i];
        p->v[i] += s->dv[i];
    }
    p->statistics.solves += 2;
    p->statistics.newton_iterations++;
    *step = norm(n, s->dq, NULL) + norm(n, s->dv, NULL);
    return isfinite(*step) ? TAUT_OK : taut_fail(error, TAUT_ERROR_CONVERGE, "the slow multipliers are not finite");
}

static int solve_level(series *s, taut_error *error)
{
    enum { MOST = 40 };
    double before = INFINITY, step;
    for (int k = 0; k < MOST; k++) {
        TAUT_TRY(correct(s, &step, error));
        if (step <= 4 * DBL_EPSILON * s->scale || (step > 0.25 * before && step <= 1e-11 * s->scale))
            return TAUT_OK;
        if (step > 4 * before)
            break;
        before = step;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "level %d of the slow multipliers does not converge: slow and fast are not separated at this state; a stiffer "
                     "spring or a slower motion has a slow point, or use --method constraint",
                     s->level);
}

/* Level after level, until the correction is at rounding or would grow. */
static int expand(series *s, int most, taut_error *error)
{
    taut_projection *p = s->p;
    taut_index n = p->sizes.coordinates;
    size_t bytes = (size_t)n * sizeof(double);
    int quiet = 0;
    for (s->level = 1; s->level <= most; s->level++) {
        memcpy(s->last_q, p->q, bytes);
        memcpy(s->last_v, p->v, bytes);
        taut_error reason = {0};
        int status = solve_level(s, &reason);
        double moved = norm(n, p->q, s->last_q) + norm(n, p->v, s->last_v);
        bool worse = status == TAUT_ERROR_CONVERGE || (s->level > 1 && moved > fmax(s->correction, 1e-12 * s->scale));
        if (status != 0 && !(worse && s->level > 2)) {
            if (error)
                *error = reason;
            return status;
        }
        if (worse && s->level <= 2)
            return taut_fail(
                error, TAUT_ERROR_CONVERGE,
                "the corrections of the slow multipliers grow from %.3g to %.3g: slow and fast are not separated at this "
                "state; use --method constraint",
                s->correction, moved);
        if (worse) { /* an asymptotic series: the level before was the best one */
            memcpy(p->q, s->last_q, bytes);
            memcpy(p->v, s->last_v, bytes);
            s->grows = true;
            break;
        }
        s->correction = moved;
        TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
        /* one small correction may be a coefficient that happens to vanish, two are not */
        quiet = moved <= 16 * DBL_EPSILON * s->scale ? quiet + 1 : 0;
        if (quiet == 2)
            return TAUT_OK;
    }
    s->level--;
    return TAUT_OK;
}

static int run(series *s, int most, taut_error *error)
{
    taut_projection *p = s->p;
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    TAUT_TRY(find_foot(p, error));
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    TAUT_TRY(factor_foot(s, error));
    s->scale = norm(p->sizes.coordinates, p->q, NULL) + norm(p->sizes.coordinates, p->v, NULL);
    TAUT_TRY(taut_recursion_create(p->context, &p->arena, &p->statistics, most, &s->recursion, error));
    TAUT_TRY(expand(s, most, error));
    return taut_recursion_evaluate(s->recursion, s->level, p->t, p->q, p->v, p->lambda, NULL, NULL, NULL, error);
}

static int new_arrays(series *s, taut_error *error)
{
    taut_projection *p = s->p;
    taut_index n = p->sizes.coordinates, m = p->sizes.bonds;
    bool matrix = p->sizes.mass != TAUT_MASS_DIAGONAL;
    TAUT_TRY(taut_system_pattern(p->system, TAUT_PATTERN_JACOBIAN, &s->jacobian, error));
    if (matrix)
        TAUT_TRY(taut_system_pattern(p->system, TAUT_PATTERN_TANGENT, &s->tangent, error));
    double **rows[] = {&s->y, &s->ydot, &s->d, &s->dmu, &s->values.bond, &s->values.bond_dt};
    double **columns[] = {&s->dq, &s->dv, &s->last_q, &s->last_v};
    bool good = true;
    for (int k = 0; k < 6; k++)
        good &= (*rows[k] = TAUT_NEW(&p->arena, double, m)) != NULL;
    for (int k = 0; k < 4; k++)
        good &= (*columns[k] = TAUT_NEW(&p->arena, double, n)) != NULL;
    s->values.jacobian = TAUT_NEW(&p->arena, double, p->sizes.jacobian_entries);
    s->values.mass = TAUT_NEW(&p->arena, double, matrix ? s->tangent.start[n] : n);
    return good && s->values.jacobian && s->values.mass ? TAUT_OK : taut_fail_memory(error);
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    (void)options;
    enum { LEVELS = 6 }; /* C^7 is below rounding wherever the series is worth using */
    series s = {.p = p};
    int most = taut_recursion_most(p->context) < LEVELS ? taut_recursion_most(p->context) : LEVELS;
    TAUT_TRY(new_arrays(&s, error));
    int status = run(&s, most, error);
    taut_recursion_destroy(s.recursion);
    taut_saddle_destroy(s.saddle);
    if (status == 0)
        snprintf(
            p->explanation, sizeof p->explanation,
            "projection series: the foot point (pass 1), then %d levels of slow multipliers; the last one moved the state by %.3g",
            s.level, s.correction);
    else
        snprintf(p->explanation, sizeof p->explanation,
                 "projection series: the foot point (pass 1), then levels of slow multipliers");
    return status;
}

const taut_projection_method taut_projection_series = {
    .name = "series",
    .summary =
        "slow point by expansion in the compliance: Taylor jets along the motion, exact to rounding when slow and fast are apart",
    .reference = "Lubich 1993, Theorem 2.2; jets in place of its recursion",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS | TAUT_HAS_SPRINGS,
    .refuses = TAUT_HAS_STIFF_POTENTIAL | TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .moves_held = true,
    .project = project,
};
