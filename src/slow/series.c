/* series.c - the slow point over the foot point of the start, as an expansion in the compliance
 * [B Theorem 2.2]: (q, v) on the normal fibre of the foot point (X, V),
 *
 *     q = X + M^-1 G^T mu, v = V + M^-1 G^T nu   (M, G at X), g(q) = y(q, v),
 *     G(q) v + g_t = ydot(q, v),
 *
 * where y = C lambda^(k) and ydot are the values that g and gdot have on the slow manifold to
 * order C^(k+1) (multiplier_recursion.c). Newton's iteration with the matrix of the foot point
 * contracts as C, just as a level gains a power of C, so every level k = 1, 2, ... takes one
 * step. When steps stop shrinking above rounding, slow and fast are not separated: an asymptotic
 * series, which is cut at its smallest term. Slow motion is defined no better than the terms
 * around that one, and these are what is stated as its error.
 *
 * What is held does not move: foot point and fibre are those of the space in which held
 * coordinates (for v: velocities) are constants,
 *
 *     M_ff (X - q)_f + G_f^T mu = 0, X_h = q_h, q_f = X_f + M_ff^-1 G_f^T mu, q_h = X_h
 *     (f: free, h: held)
 *
 * while y and ydot are those of the motion in which nothing is held. A bond without a free
 * coordinate is checked. */
#include "slow/series.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/rows.h"
#include "point/foot_point.h"
#include "point/hold/hold.h"
#include "slow/expansion.h"
#include "slow/multiplier_recursion.h"
#include "slow/potential/potential.h"
#include "slow/truncation_error.h"
#include "base/vectors.h"

typedef struct series {
    taut_projector projector;
    taut_series_settings settings;
    taut_context *context, *rigid_context;
    taut_system *rigid;
    taut_projector *foot;
    taut_multiplier_recursion *recursion;
    /* at the foot point; velocity without its own matrix where both are the same */
    taut_masked_saddle position, velocity;
    bool apart; /* they are not */
    taut_index n, m;
    taut_values values;
    double t;
    double *q, *v; /* where we are */
    /* [m]; [2][m]: what g and gdot are on the slow manifold; of the latest level that exists */
    double *lambda, *y;
    double *dq, *dv, *dmu;           /* steps */
    double *last_q, *last_v;         /* result of the level before */
    double *foot_q, *foot_v;         /* the foot point */
    unsigned char *counts, *springs; /* [m]: not soft; with a compliance */
    double rate;                     /* of the slow motion, 1/time; 0 when there is none */
    /* of positions and velocities: |q| + |v|/rate, and rate times that */
    double scale_q, scale_v;
    double *stretch;         /* [m]: of the springs by the latest step */
    double moved_q, moved_v; /* by the latest step, max norm */
    /* the frequency at which the springs would ring from it; 0: there is none */
    double ring;
    double error_q, error_v; /* of the result, max norm */
    int level;
    bool large;       /* the first step is as large as the state */
    bool grows;       /* the next level would have been worse */
    bool unseparated; /* slow and fast are not: why apply() failed */
} series;

static int evaluate(series *s, unsigned more, taut_error *error)
{
    s->projector.statistics->force_evaluations++;
    return taut_evaluate(s->context, s->t, s->q, s->v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | more,
                         &s->values, error);
}

static int factor_foot(series *s, taut_error *error)
{
    TAUT_TRY(evaluate(s, TAUT_WANT_MASS, error));
    s->projector.statistics->factorisations += 1 + s->apart;
    TAUT_TRY(taut_masked_saddle_factor(&s->position, s->t, s->values.mass, s->values.jacobian,
                                       s->counts, 0, error));
    return s->apart ? taut_masked_saddle_factor(&s->velocity, s->t, s->values.mass,
                                                s->values.jacobian, s->counts, 0, error)
                    : TAUT_OK;
}

/* ---- levels */

/* What steps are measured by, when the first one is known: at least its own size, for a state at
 * rest in the origin has none. */
static void set_scales(series *s)
{
    double q = taut_norm(s->n, s->q), v = taut_norm(s->n, s->v), dq = taut_norm(s->n, s->dq),
           dv = taut_norm(s->n, s->dv);
    s->scale_q = fmax(q, dq);
    s->scale_v = fmax(v, dv);
    s->large = s->rate > 0 && dq + dv / s->rate > 0.5 * (q + v / s->rate);
    if (s->rate > 0) {
        s->scale_q = fmax(q + v / s->rate, dq + dv / s->rate);
        s->scale_v = s->rate * s->scale_q;
    }
}

/* What the step (dq, dv) is in units of the state. */
static double relative(const series *s)
{
    double q = taut_norm(s->n, s->dq), v = taut_norm(s->n, s->dv);
    return (q > 0 ? q / s->scale_q : 0) + (v > 0 ? v / s->scale_v : 0);
}

static void residual(series *s, bool velocity)
{
    const taut_pattern *g = &s->position.jacobian;
    for (taut_index i = 0; i < s->m; i++) {
        double rate = s->values.bond_dt[i] + taut_row_dot(g, s->values.jacobian, i, s->v);
        s->dmu[i] = velocity ? s->y[s->m + i] - rate : s->y[i] - s->values.bond[i];
    }
}

/* How the springs would ring from a step M^-1 G^T mu that stretches them by e: Rayleigh's
 * quotient e^T C^-1 e / mu^T e. */
static double ringing(const series *s)
{
    const double *compliance = taut_context_compliance(s->context);
    double springs = 0, mass = 0;
    for (taut_index i = 0; i < s->m; i++)
        if (s->counts[i] && compliance[i] > 0) {
            springs += s->stretch[i] * s->stretch[i] / compliance[i];
            mass += s->dmu[i] * s->stretch[i];
        }
    double ring = sqrt(springs / fabs(mass));
    return isfinite(ring) ? ring : 0;
}

/* dx: the step on the fibre to the bonds, or to their rates, that the slow motion has. */
static int fibre_step(series *s, bool velocity, double *dx, taut_error *error)
{
    taut_clear(s->n, dx);
    residual(s, velocity);
    taut_copy(s->m, s->dmu, s->stretch);
    TAUT_TRY(taut_masked_saddle_solve(velocity && s->apart ? &s->velocity : &s->position, dx,
                                      s->dmu, error));
    if (!velocity || s->ring == 0)
        s->ring = ringing(s);
    s->projector.statistics->solves++;
    return TAUT_OK;
}

/* One Newton step on the fibre, velocities where the positions have landed; *step is its size
 * beside that of the state. lambda is that of the point before it; values are those of the
 * latest positions, before and after. */
static int correct(series *s, double *step, taut_error *error)
{
    taut_index n = s->n;
    TAUT_TRY(
        taut_multiplier_recursion_evaluate(s->recursion, s->level, true, s->t, s->q, s->v, error));
    taut_copy(s->m, s->recursion->lambda, s->lambda);
    memcpy(s->y, s->recursion->y, 2 * (size_t)s->m * sizeof(double));
    if (s->level == 1)
        s->rate = taut_multiplier_recursion_rate(s->recursion);
    TAUT_TRY(fibre_step(s, false, s->dq, error));
    for (taut_index i = 0; i < n; i++)
        s->q[i] += s->dq[i];
    TAUT_TRY(evaluate(s, 0, error));
    TAUT_TRY(fibre_step(s, true, s->dv, error));
    for (taut_index i = 0; i < n; i++)
        s->v[i] += s->dv[i];
    s->projector.statistics->newton_iterations++;
    if (s->level == 1)
        set_scales(s);
    *step = relative(s);
    s->moved_q = taut_largest(n, s->dq);
    s->moved_v = taut_largest(n, s->dv);
    return isfinite(*step)
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_CONVERGE, "the slow multipliers are not finite");
}

static int fail_separation(series *s, double before, double now, taut_error *error)
{
    s->unseparated = true;
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "slow and fast are not separated at this state: it moves at a rate of about %.3g, and the "
        "corrections of the slow multipliers grow from %.3g to %.3g; a stiffer spring or a slower "
        "motion has a slow point, or use --method constraint",
        s->rate, before, now);
}

static void keep(series *s)
{
    taut_copy(s->n, s->q, s->last_q);
    taut_copy(s->n, s->v, s->last_v);
}

static int go_back(series *s, taut_error *error)
{
    taut_copy(s->n, s->last_q, s->q);
    taut_copy(s->n, s->last_v, s->v);
    return evaluate(s, 0, error);
}

static const double quiet = 16 * DBL_EPSILON; /* a step that is rounding */
/* the best step, when it is larger than this, leads to no slow point */
static const double poor = 0.01;

/* More steps with the last level, which is the best there is, while they shrink and are larger
 * than `enough`. */
static int polish(series *s, double step, double enough, taut_error *error)
{
    enum { MOST = 40 };
    for (int k = 0; k < MOST && step > fmax(quiet, enough); k++) {
        double next;
        keep(s);
        TAUT_TRY(correct(s, &next, error));
        if (next >= step)
            return go_back(s, error);
        step = next;
    }
    return TAUT_OK;
}

/* An asymptotic series: the level before was the best one. `step` is what the next one would do,
 * unless it is lost. */
static int settle(series *s, const taut_truncation *last, bool lost, double step, taut_error *error)
{
    if (s->level <= 2 || taut_truncation_tail(last, last->step, lost ? INFINITY : step) > poor)
        return fail_separation(s, last->step[0], step, error);
    double next_q = lost ? INFINITY : s->moved_q, next_v = lost ? INFINITY : s->moved_v;
    taut_truncation_errors(last, s->rate, s->ring, next_q, next_v, &s->error_q, &s->error_v);
    TAUT_TRY(go_back(s, error));
    s->grows = true;
    s->level--;
    return polish(s, last->step[0], 0.01 * (lost ? last->step[0] : step), error);
}

static int watch(const series *s, taut_error *error)
{
    return s->settings.watch ? s->settings.watch(s->settings.user, s->t, s->q, s->v, error)
                             : TAUT_OK;
}

/* Level after level, until the step is at rounding or would grow. In symmetric states every
 * other coefficient may vanish: steps grow when they are above the last one and not far below
 * the one before it. */
static int expand(series *s, int most, taut_error *error)
{
    taut_truncation last = {0};
    /* the largest of two steps above rounding that followed each other */
    double step = 0, ratio = INFINITY;
    for (s->level = 1; s->level <= most; s->level++) {
        taut_error reason = {0};
        keep(s);
        int status = correct(s, &step, &reason);
        /* the step led nowhere */
        bool lost = status == TAUT_ERROR_CONVERGE || status == TAUT_ERROR_EVALUATE || status > 0;
        if (status != 0 && !(lost && s->level > 2)) {
            if (error)
                *error = reason;
            return status;
        }
        bool grows = s->level == 1 ? s->large
                     : s->level == 2
                         ? step > last.step[0] && step > 1e-6
                         : step > fmax(last.step[0], 1e-12) && step > 0.1 * last.step[1];
        if (grows || status != 0)
            return settle(s, &last, status != 0, step, error);
        TAUT_TRY(watch(s, error));
        last.floor_q = quiet * s->scale_q;
        last.floor_v = quiet * s->scale_v;
        bool led = s->level > 1 && (last.step[0] <= quiet || last.step[0] * ratio <= quiet);
        if (s->level > 1 && last.step[0] > quiet && step > quiet)
            ratio = ratio < INFINITY ? fmax(ratio, step / last.step[0]) : step / last.step[0];
        taut_truncation_push(&last, step, s->moved_q, s->moved_v);
        taut_truncation_errors(&last, s->rate, s->ring, NAN, NAN, &s->error_q, &s->error_v);
        /* one small step may be a coefficient that happens to vanish; not so when steps have led
         * there */
        if (step <= quiet && led)
            return TAUT_OK;
    }
    s->level--;
    if (taut_truncation_tail(&last, last.step, NAN) > poor)
        return fail_separation(s, last.step[1], last.step[0], error);
    return polish(s, step, 1e-12, error);
}

/* ---- what is held */

/* Springs of which nothing can move must have the length and rate of the slow motion already. */
static int check_held(series *s, taut_error *error)
{
    const taut_pattern *g = &s->position.jacobian;
    for (int part = 0; part < 2; part++) {
        const taut_masked_saddle *still = part && s->apart ? &s->velocity : &s->position;
        const double *x = part ? s->v : s->q;
        double most = taut_largest(s->n, x);
        residual(s, part);
        for (taut_index i = 0; i < s->m; i++) {
            double size = taut_row_size(g, s->values.jacobian, i, NULL) * most;
            if (!s->counts[i] || still->moves[i] || fabs(s->dmu[i]) <= 1e-9 * size)
                continue;
            char name[96];
            taut_system_name(taut_context_system(s->context), TAUT_BOND, i, name, sizeof name);
            return taut_fail(error, TAUT_ERROR_CONVERGE,
                             "all of the %s of bond '%s' are held, and its %s is off by %.3g from "
                             "that of the slow motion; release one, or correct it",
                             part ? "velocities" : "coordinates", name, part ? "rate" : "stretch",
                             fabs(s->dmu[i]));
        }
    }
    return TAUT_OK;
}

/* ---- the projector */

static int run(series *s, taut_error *error)
{
    TAUT_TRY(s->foot->apply(s->foot, s->t, s->q, s->v, error));
    TAUT_TRY(watch(s, error));
    taut_copy(s->n, s->q, s->foot_q);
    taut_copy(s->n, s->v, s->foot_v);
    TAUT_TRY(factor_foot(s, error));
    s->error_q = s->error_v = 0;
    s->grows = s->unseparated = false;
    TAUT_TRY(expand(s, s->settings.levels, error));
    return s->settings.hold ? check_held(s, error) : TAUT_OK;
}

/* A start that is slow already must stay, and fitting its guesses to rigid bonds would move it
 * along them. */
static int decide_guesses(series *s, const double *q, const double *v, taut_error *error)
{
    static const double near = 1e-6; /* of the state */
    if (!taut_foot_point_guess(s->foot, false))
        return TAUT_OK;
    taut_series_settings settings = s->settings;
    taut_error reason = {0};
    taut_copy(s->n, q, s->q);
    taut_copy(s->n, v, s->v);
    s->settings.watch = NULL;
    int status = run(s, &reason);
    s->settings = settings;
    TAUT_TRY(taut_fail_final(status, &reason, error));
    for (taut_index i = 0; i < s->n; i++) {
        s->dq[i] = s->q[i] - q[i];
        s->dv[i] = s->v[i] - v[i];
    }
    taut_foot_point_guess(s->foot, status != 0 || relative(s) > near);
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    series *s = (series *)projector;
    s->t = t;
    TAUT_TRY(decide_guesses(s, q, v, error));
    taut_copy(s->n, q, s->q);
    taut_copy(s->n, v, s->v);
    TAUT_TRY(run(s, error));
    taut_copy(s->n, s->q, q);
    taut_copy(s->n, s->v, v);
    return TAUT_OK;
}

static void destroy(taut_projector *projector)
{
    series *s = (series *)projector;
    if (!s)
        return;
    taut_multiplier_recursion_destroy(s->recursion);
    taut_masked_saddle_destroy(&s->position);
    taut_masked_saddle_destroy(&s->velocity);
    if (s->foot)
        s->foot->destroy(s->foot);
    taut_context_destroy(s->rigid_context);
    taut_system_destroy(s->rigid);
    s->recursion = NULL;
    s->foot = NULL;
    s->rigid_context = NULL;
    s->rigid = NULL;
}

static int new_arrays(series *s, taut_arena *arena, const taut_sizes *sizes, taut_error *error)
{
    double **rows[] = {&s->dmu, &s->stretch, &s->lambda, &s->values.bond, &s->values.bond_dt};
    double **columns[] = {&s->q,      &s->v,      &s->dq,     &s->dv,
                          &s->last_q, &s->last_v, &s->foot_q, &s->foot_v};
    bool good = true;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        good &= (*rows[k] = TAUT_NEW(arena, double, s->m)) != NULL;
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        good &= (*columns[k] = TAUT_NEW(arena, double, s->n)) != NULL;
    good &= (s->y = TAUT_NEW(arena, double, 2 * (int64_t)s->m)) != NULL;
    s->counts = TAUT_NEW(arena, unsigned char, s->m);
    s->springs = TAUT_NEW(arena, unsigned char, s->m);
    TAUT_TRY(TAUT_RESERVE(arena, sizes->jacobian_entries, error, &s->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, s->position.matrix ? s->position.tangent.start[s->n] : s->n, error,
                          &s->values.mass));
    return s->counts && s->springs ? TAUT_OK : taut_fail_memory(error);
}

/* The matrices of the fibre: one, unless other velocities are held than positions. */
static int new_stills(series *s, taut_arena *arena, taut_error *error)
{
    const unsigned char *hold = s->settings.hold;
    for (taut_index i = 0; hold && i < s->n; i++)
        s->apart |= !(hold[i] & TAUT_HOLD_POSITION) != !(hold[i] & TAUT_HOLD_VELOCITY);
    TAUT_TRY(taut_masked_saddle_create(&s->position, s->context, arena, hold, TAUT_HOLD_POSITION,
                                       error));
    return s->apart ? taut_masked_saddle_create(&s->velocity, s->context, arena, hold,
                                                TAUT_HOLD_VELOCITY, error)
                    : TAUT_OK;
}

static int new_foot(series *s, taut_arena *arena, const taut_sizes *sizes, taut_error *error)
{
    taut_foot_point_settings settings = {
        .ignore_holds = !s->settings.hold, .hold = s->settings.hold, .springs = s->springs};
    TAUT_TRY(taut_system_rigid(taut_context_system(s->context), &s->rigid, error));
    TAUT_TRY(taut_context_create(s->rigid, &arena->allocator, &s->rigid_context, error));
    for (taut_index k = 0; k < sizes->parameters; k++) { /* the caller may have changed some */
        double value = taut_context_parameter(s->context, k);
        if (value != taut_context_parameter(s->rigid_context, k))
            TAUT_TRY(taut_context_set_parameter(s->rigid_context, k, value, error));
    }
    return taut_foot_point_create(s->rigid_context, arena, s->projector.statistics, &settings,
                                  &s->foot, error);
}

static int build(series *s, taut_arena *arena, taut_error *error)
{
    enum { LEVELS = 6 }; /* C^7 is below rounding wherever the series is worth using */
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(s->context), &sizes);
    s->n = sizes.coordinates;
    s->m = sizes.bonds;
    int most = taut_multiplier_recursion_most(s->context, 0),
        wanted = s->settings.levels > 0 ? s->settings.levels : LEVELS;
    s->settings.levels = wanted < most ? wanted : most;
    TAUT_TRY(new_stills(s, arena, error));
    TAUT_TRY(new_arrays(s, arena, &sizes, error));
    const double *compliance = taut_context_compliance(s->context);
    for (taut_index i = 0; i < s->m; i++) {
        s->counts[i] = !(taut_context_soft(s->context, i) && compliance[i] > 0);
        s->springs[i] = compliance[i] > 0;
    }
    TAUT_TRY(new_foot(s, arena, &sizes, error));
    return taut_multiplier_recursion_create(s->context, arena, s->projector.statistics,
                                            s->settings.levels, s->settings.gradual ? 2 : 0, NULL,
                                            &s->recursion, error);
}

int taut_series_projector(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                          const taut_series_settings *settings, taut_projector **projector,
                          taut_error *error)
{
    *projector = NULL;
    series *s = TAUT_NEW(arena, series, 1);
    if (!s)
        return taut_fail_memory(error);
    s->projector = (taut_projector){.name = "series",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = arena};
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
    *report = (taut_series_report){.level = s->level,
                                   .error_q = s->error_q,
                                   .error_v = s->error_v,
                                   .rate = s->rate,
                                   .grows = s->grows,
                                   .unseparated = s->unseparated,
                                   .lambda = s->lambda,
                                   .foot_q = s->foot_q,
                                   .foot_v = s->foot_v};
}

/* ---- the projection */

/* Adds to "not separated" how fast the springs are; or finds that they are far faster, and that
 * something else is wrong. */
static int tell_frequency(taut_projection *p, double rate, taut_error *error)
{
    double frequency[2];
    int found = 0;
    bool complete;
    taut_error reason = {0};
    int status =
        taut_frequencies(p->context, p->t, p->q0, 1, frequency, &found, &complete, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    p->hopeless = status != 0 || found == 0 || rate > 0.05 * frequency[0];
    if (!p->hopeless)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the levels of the slow multipliers do not shrink, though the slowest spring "
            "oscillates at %.3g and the state moves at a rate of about %.3g (rad per time): at the "
            "foot point the bonds are nearly stationary%s; use --method kernel",
            frequency[0], rate, p->hold ? " in what is not held" : "");
    if (status == 0 && found > 0)
        taut_fail(error, TAUT_ERROR_CONVERGE,
                  "slow and fast are not separated at this state: it moves at a rate of about "
                  "%.3g, and the slowest spring oscillates at %.3g (rad per time); a stiffer "
                  "spring or a slower motion has a slow point, or use --method constraint",
                  rate, frequency[0]);
    return TAUT_ERROR_CONVERGE;
}

/* The coefficients of B (2.6), when they are asked for. */
static int expand_foot(taut_projection *p, const taut_series_report *report, taut_error *error)
{
    p->expansion = TAUT_NEW(&p->arena, taut_expansion, 1);
    if (!p->expansion)
        return taut_fail_memory(error);
    return taut_expansion_make(p->context, &p->arena, &p->statistics, p->t, report->foot_q,
                               report->foot_v, p->expansion, error);
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    if (p->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return taut_potential_series(p, error);
    taut_series_settings settings = {
        .gradual = true, .hold = p->hold, .watch = taut_projection_watch, .user = p};
    taut_projector *projector = NULL;
    taut_series_report report;
    snprintf(p->explanation, sizeof p->explanation,
             "projection series: the foot point (pass 1), then levels of slow multipliers");
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    TAUT_TRY(
        taut_series_projector(p->context, &p->arena, &p->statistics, &settings, &projector, error));
    int status = projector->apply(projector, p->t, p->q, p->v, error);
    taut_series_report_get(projector, &report);
    if (status == TAUT_ERROR_CONVERGE && report.unseparated)
        status = tell_frequency(p, report.rate, error);
    if (status == 0) {
        taut_copy(p->sizes.bonds, report.lambda, p->lambda);
        snprintf(p->explanation, sizeof p->explanation,
                 "projection series: the foot point (pass 1), then %d levels of slow multipliers; "
                 "error about %.1g in q, %.1g in v%s",
                 report.level, report.error_q, report.error_v,
                 report.grows
                     ? "; the next level would be worse: slow and fast are barely separated"
                     : "");
        if (taut_options_flag(options, "expansion"))
            status = expand_foot(p, &report, error);
    }
    projector->destroy(projector);
    return status;
}

const taut_projection_method taut_projection_series = {
    .name = "series",
    .summary = "slow point by expansion in the compliance: Taylor jets along the motion, exact to "
               "rounding when slow and fast are apart",
    .reference = "Lubich 1993, Theorem 2.2; jets in place of its recursion",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS | TAUT_HAS_SPRINGS,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .project = project,
};
