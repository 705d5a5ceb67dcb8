/* series.c - the slow point over the foot point of the start, as an expansion in the compliance [B Theorem 2.2]: (q, v) on the normal fibre of
 * the foot point (X, V),
 *
 *     q = X + M^-1 G^T mu,   v = V + M^-1 G^T nu    (M, G at X),        g(q) = y(q, v),   G(q) v + g_t = ydot(q, v),
 *
 * where y = C lambda^(k) and ydot are the values that g and gdot have on the slow manifold to order C^(k+1) (recursion.c). Solved for
 * k = 1, 2, ..., each from the one before, by Newton's iteration with the matrix of the foot point: it contracts as C. The correction from
 * k-1 to k estimates what is left; when it stops shrinking above rounding, slow and fast are not separated. */
#include "slow/series.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/saddle.h"
#include "slow/constraint.h"
#include "slow/potential.h"
#include "slow/recursion.h"

typedef struct series {
    taut_projector projector;
    taut_series_settings settings;
    taut_context *context, *rigid_context;
    taut_system *rigid;
    taut_projector *foot;
    taut_recursion *recursion;
    taut_saddle *saddle; /* at the foot point */
    taut_index n, m;
    taut_pattern jacobian, tangent;
    taut_values values;
    double t;
    double *q, *v;           /* where we are */
    double *lambda;          /* [m] */
    double *y, *ydot, *d;    /* [m] */
    double *dq, *dv, *dmu;   /* steps */
    double *last_q, *last_v; /* result of the level before */
    double scale;            /* of the state, |q| + |v| */
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

static int evaluate(series *s, unsigned more, taut_error *error)
{
    s->projector.statistics->force_evaluations++;
    return taut_evaluate(s->context, s->t, s->q, s->v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | more, &s->values, error);
}

static int factor_foot(series *s, taut_error *error)
{
    TAUT_TRY(evaluate(s, TAUT_WANT_MASS, error));
    for (taut_index i = 0; i < s->m; i++)
        for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1] && s->d[i] != 0; k++)
            s->values.jacobian[k] = 0; /* soft */
    s->projector.statistics->factorisations++;
    return taut_saddle_factor(s->saddle, s->values.mass, s->values.jacobian, NULL, s->d, error);
}

/* ---- levels */

/* One Newton step on the fibre; its length in *step. */
static int correct(series *s, double *step, taut_error *error)
{
    taut_index n = s->n, m = s->m;
    TAUT_TRY(taut_recursion_evaluate(s->recursion, s->level, s->t, s->q, s->v, s->lambda, NULL, s->y, s->ydot, error));
    TAUT_TRY(evaluate(s, 0, error));
    for (int part = 0; part < 2; part++) {
        double *x = part ? s->dv : s->dq;
        memset(x, 0, (size_t)n * sizeof(double));
        for (taut_index i = 0; i < m; i++) {
            double now = part ? s->values.bond_dt[i] : s->values.bond[i];
            for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1] && part; k++)
                now += s->values.jacobian[k] * s->v[s->jacobian.column[k]];
            s->dmu[i] = s->d[i] != 0 ? 0 : (part ? s->ydot[i] : s->y[i]) - now;
        }
        TAUT_TRY(taut_saddle_solve(s->saddle, 1, x, s->dmu, error));
    }
    for (taut_index i = 0; i < n; i++) {
        s->q[i] += s->dq[i];
        s->v[i] += s->dv[i];
    }
    s->projector.statistics->solves += 2;
    s->projector.statistics->newton_iterations++;
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
    taut_index n = s->n;
    size_t bytes = (size_t)n * sizeof(double);
    int quiet = 0;
    for (s->level = 1; s->level <= most; s->level++) {
        memcpy(s->last_q, s->q, bytes);
        memcpy(s->last_v, s->v, bytes);
        taut_error reason = {0};
        int status = solve_level(s, &reason);
        double moved = norm(n, s->q, s->last_q) + norm(n, s->v, s->last_v);
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
            memcpy(s->q, s->last_q, bytes);
            memcpy(s->v, s->last_v, bytes);
            s->grows = true;
            break;
        }
        s->correction = moved;
        if (s->settings.watch)
            s->settings.watch(s->settings.user, s->q, s->v);
        /* one small correction may be a coefficient that happens to vanish, two are not */
        quiet = moved <= 16 * DBL_EPSILON * s->scale ? quiet + 1 : 0;
        if (quiet == 2)
            return TAUT_OK;
    }
    s->level--;
    return TAUT_OK;
}

/* ---- the projector */

static int run(series *s, taut_error *error)
{
    TAUT_TRY(s->foot->apply(s->foot, s->t, s->q, s->v, error));
    if (s->settings.watch)
        s->settings.watch(s->settings.user, s->q, s->v);
    TAUT_TRY(factor_foot(s, error));
    s->scale = norm(s->n, s->q, NULL) + norm(s->n, s->v, NULL);
    s->correction = 0;
    s->grows = false;
    TAUT_TRY(expand(s, s->settings.levels, error));
    return taut_recursion_evaluate(s->recursion, s->level, s->t, s->q, s->v, s->lambda, NULL, NULL, NULL, error);
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    series *s = (series *)projector;
    size_t bytes = (size_t)s->n * sizeof(double);
    s->t = t;
    memcpy(s->q, q, bytes);
    memcpy(s->v, v, bytes);
    TAUT_TRY(run(s, error));
    memcpy(q, s->q, bytes);
    memcpy(v, s->v, bytes);
    return TAUT_OK;
}

static void destroy(taut_projector *projector)
{
    series *s = (series *)projector;
    if (!s)
        return;
    taut_recursion_destroy(s->recursion);
    taut_saddle_destroy(s->saddle);
    if (s->foot)
        s->foot->destroy(s->foot);
    taut_context_destroy(s->rigid_context);
    taut_system_destroy(s->rigid);
    s->recursion = NULL;
    s->saddle = NULL;
    s->foot = NULL;
    s->rigid_context = NULL;
    s->rigid = NULL;
}

static int new_arrays(series *s, taut_arena *arena, const taut_sizes *sizes, taut_error *error)
{
    bool matrix = sizes->mass != TAUT_MASS_DIAGONAL;
    const taut_system *system = taut_context_system(s->context);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &s->jacobian, error));
    if (matrix)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &s->tangent, error));
    double **rows[] = {&s->y, &s->ydot, &s->d, &s->dmu, &s->lambda, &s->values.bond, &s->values.bond_dt};
    double **columns[] = {&s->q, &s->v, &s->dq, &s->dv, &s->last_q, &s->last_v};
    bool good = true;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        good &= (*rows[k] = TAUT_NEW(arena, double, s->m)) != NULL;
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        good &= (*columns[k] = TAUT_NEW(arena, double, s->n)) != NULL;
    s->values.jacobian = TAUT_NEW(arena, double, sizes->jacobian_entries);
    s->values.mass = TAUT_NEW(arena, double, matrix ? s->tangent.start[s->n] : s->n);
    return good && s->values.jacobian && s->values.mass ? TAUT_OK : taut_fail_memory(error);
}

static int new_saddle(series *s, const taut_sizes *sizes, const taut_allocator *allocator, taut_error *error)
{
    bool positive = sizes->can & TAUT_CAN_INVERT_MASS;
    const double *mass = taut_context_mass(s->context), *compliance = taut_context_compliance(s->context);
    for (taut_index i = 0; mass && i < s->n; i++)
        positive &= mass[i] > 0;
    for (taut_index i = 0; i < s->m; i++)
        s->d[i] = taut_context_soft(s->context, i) && compliance[i] > 0;
    taut_saddle_shape shape = {.n = s->n,
                               .m = s->m,
                               .k_start = s->tangent.start,
                               .k_column = s->tangent.column,
                               .g_start = s->jacobian.start,
                               .g_column = s->jacobian.column,
                               .symmetric = true,
                               .positive = positive};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, allocator, &s->saddle, error);
}

static int build(series *s, taut_arena *arena, taut_error *error)
{
    enum { LEVELS = 6 }; /* C^7 is below rounding wherever the series is worth using */
    const taut_system *system = taut_context_system(s->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    s->n = sizes.coordinates;
    s->m = sizes.bonds;
    int most = taut_recursion_most(s->context), wanted = s->settings.levels > 0 ? s->settings.levels : LEVELS;
    s->settings.levels = wanted < most ? wanted : most;
    TAUT_TRY(new_arrays(s, arena, &sizes, error));
    TAUT_TRY(new_saddle(s, &sizes, &arena->allocator, error));
    TAUT_TRY(taut_system_rigid(system, &s->rigid, error));
    TAUT_TRY(taut_context_create(s->rigid, &arena->allocator, &s->rigid_context, error));
    for (taut_index k = 0; k < sizes.parameters; k++) { /* the caller may have changed some */
        double value = taut_context_parameter(s->context, k);
        if (value != taut_context_parameter(s->rigid_context, k))
            TAUT_TRY(taut_context_set_parameter(s->rigid_context, k, value, error));
    }
    TAUT_TRY(taut_constraint_projector(s->rigid_context, arena, s->projector.statistics, &s->foot, error));
    return taut_recursion_create(s->context, arena, s->projector.statistics, s->settings.levels, &s->recursion, error);
}

int taut_series_projector(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                          const taut_series_settings *settings, taut_projector **projector, taut_error *error)
{
    *projector = NULL;
    series *s = TAUT_NEW(arena, series, 1);
    if (!s)
        return taut_fail_memory(error);
    s->projector = (taut_projector){.name = "series", .apply = apply, .destroy = destroy, .statistics = statistics};
    s->context = context;
    if (settings)
        s->settings = *settings;
    int status = build(s, arena, error);
    if (status != 0) {
        destroy(&s->projector);
        return status;
    }
    *projector = &s->projector;
    return TAUT_OK;
}

void taut_series_report_get(const taut_projector *projector, taut_series_report *report)
{
    const series *s = (const series *)projector;
    *report = (taut_series_report){.level = s->level, .correction = s->correction, .grows = s->grows, .lambda = s->lambda};
}

/* ---- the projection */

typedef struct recorder {
    taut_projection *p;
    taut_error *error;
    int status;
} recorder;

static void record(void *user, const double *q, const double *v)
{
    recorder *r = user;
    if (r->status == 0)
        r->status = taut_projection_record(r->p, q, v, r->error);
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    (void)options;
    if (p->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return taut_potential_series(p, error);
    recorder r = {.p = p, .error = error};
    taut_series_settings settings = {.watch = record, .user = &r};
    taut_projector *projector = NULL;
    taut_series_report report;
    snprintf(p->explanation, sizeof p->explanation, "projection series: the foot point (pass 1), then levels of slow multipliers");
    record(&r, p->q, p->v);
    TAUT_TRY(r.status);
    TAUT_TRY(taut_series_projector(p->context, &p->arena, &p->statistics, &settings, &projector, error));
    int status = projector->apply(projector, p->t, p->q, p->v, error);
    status = status != 0 ? status : r.status;
    if (status == 0) {
        taut_series_report_get(projector, &report);
        memcpy(p->lambda, report.lambda, (size_t)p->sizes.bonds * sizeof(double));
        snprintf(p->explanation, sizeof p->explanation,
                 "projection series: the foot point (pass 1), then %d levels of slow multipliers; the last one moved the state by "
                 "%.3g%s",
                 report.level, report.correction,
                 report.grows ? ", the next would move it more: slow and fast are barely separated" : "");
    }
    projector->destroy(projector);
    return status;
}

const taut_projection_method taut_projection_series = {
    .name = "series",
    .summary =
        "slow point by expansion in the compliance: Taylor jets along the motion, exact to rounding when slow and fast are apart",
    .reference = "Lubich 1993, Theorem 2.2; jets in place of its recursion",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS | TAUT_HAS_SPRINGS,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .moves_held = true,
    .project = project,
};
