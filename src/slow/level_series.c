/* level_series.c - the slow point over the foot point of a state, level by level. Newton's
 * iteration on the fibre of the foot point contracts as C, just as a level of slow multipliers
 * gains a power of C, so every level k = 1, 2, ... takes one step. When steps stop shrinking
 * above rounding, slow and fast are not separated: an asymptotic series [B Theorem 2.2], which is
 * cut at its smallest term. Slow motion is defined no better than the terms around that one, and
 * these are what is stated as its error (truncation_error.c). */
#include "slow/level_series.h"

#include <float.h>

#include "base/vectors.h"
#include "slow/multiplier_recursion.h"
#include "point/foot_point.h"
#include "slow/truncation_error.h"
#include "system/rank_part.h"

/* a relative error with which a point does not count as a slow point */
static const double poor = 0.01;

/* A step that is rounding. */
static double quiet(const taut_level_series *s)
{
    return 4 * s->rounding;
}

/* A step after which no other is needed. */
static double enough(const taut_level_series *s)
{
    return fmax(quiet(s), s->settings.enough);
}

/* Below it steps need not shrink any more. */
static double noise(const taut_level_series *s)
{
    return fmax(1e-12, 100 * s->rounding);
}

/* ---- steps */

static double norm(const taut_level_series *s, const double *x)
{
    return taut_halo_norm(taut_context_halo(s->context), s->n, x);
}

/* What steps are measured by, when the first one is known: at least its own size, for a state at
 * rest in the origin has none. */
static void set_scales(taut_level_series *s)
{
    double q = norm(s, s->q), v = norm(s, s->v), dq = norm(s, s->dq), dv = norm(s, s->dv);
    s->scale_q = fmax(q, dq);
    s->scale_v = fmax(v, dv);
    s->large = s->rate > 0 && dq + dv / s->rate > 0.5 * (q + v / s->rate);
    if (s->rate > 0) {
        s->scale_q = fmax(q + v / s->rate, dq + dv / s->rate);
        s->scale_v = s->rate * s->scale_q;
    }
}

/* What the step (dq, dv) is in units of the state. */
static double relative(const taut_level_series *s)
{
    double q = norm(s, s->dq), v = norm(s, s->dv);
    return (q == 0 ? 0 : q / s->scale_q) + (v == 0 ? 0 : v / s->scale_v);
}

/* One Newton step on the fibre, velocities where the positions have landed; *step is its size
 * relative to the state. */
static int correct(taut_level_series *s, double *step, taut_error *error)
{
    taut_space *space = taut_context_space(s->context);
    TAUT_TRY(s->kind->evaluate(s, error));
    TAUT_TRY(s->kind->step(s, false, s->dq, error));
    taut_add(s->n, s->dq, s->q);
    TAUT_TRY(s->kind->moved(s, error));
    TAUT_TRY(s->kind->step(s, true, s->dv, error));
    taut_add(s->n, s->dv, s->v);
    s->projector.statistics->newton_iterations++;
    if (s->level == 1)
        set_scales(s);
    *step = relative(s);
    s->moved_q = taut_space_largest(space, taut_largest(s->n, s->dq));
    s->moved_v = taut_space_largest(space, taut_largest(s->n, s->dv));
    return isfinite(*step)
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_CONVERGE, "the slow multipliers are not finite");
}

static void keep(const taut_level_series *s)
{
    taut_copy(s->n, s->q, s->last_q);
    taut_copy(s->n, s->v, s->last_v);
}

static int go_back(taut_level_series *s, taut_error *error)
{
    taut_copy(s->n, s->last_q, s->q);
    taut_copy(s->n, s->last_v, s->v);
    return s->kind->moved(s, error);
}

static int watch(const taut_level_series *s, taut_error *error)
{
    return s->settings.watch ? s->settings.watch(s->settings.user, s->t, s->q, s->v, error)
                             : TAUT_OK;
}

/* ---- levels */

static int fail_separation(taut_level_series *s, double before, double now, taut_error *error)
{
    s->unseparated = true;
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "slow and fast are not separated at this state: it moves at a rate of about %.3g, and the "
        "corrections of the slow multipliers grow from %.3g to %.3g; a stiffer spring or a slower "
        "motion has a slow point, or use projection constraint",
        s->rate, before, now);
}

static void state_error(taut_level_series *s, const taut_truncation *last, double next_q,
                        double next_v)
{
    taut_truncation_errors(last, s->rate, s->frequency, next_q, next_v, &s->error_q, &s->error_v);
}

/* More steps with the last level, which is the best there is, while they shrink and are larger
 * than `enough`. */
static int polish(taut_level_series *s, double step, double enough, taut_error *error)
{
    enum { MOST = 40 };
    for (int k = 0; k < MOST && step > fmax(quiet(s), enough); k++) {
        double next;
        keep(s);
        TAUT_TRY(correct(s, &next, error));
        if (next >= step)
            return go_back(s, error);
        step = next;
    }
    return TAUT_OK;
}

/* The level before was the best one. `step` is what the next one would do, unless it is lost. */
static int settle(taut_level_series *s, const taut_truncation *last, bool lost, double step,
                  taut_error *error)
{
    if (s->level <= 2 || taut_truncation_tail(last, last->step, lost ? INFINITY : step) > poor)
        return fail_separation(s, last->step[0], step, error);
    state_error(s, last, lost ? INFINITY : s->moved_q, lost ? INFINITY : s->moved_v);
    s->truncated = true;
    s->level--;
    TAUT_TRY(go_back(s, error));
    return polish(s, last->step[0], 0.01 * (lost ? last->step[0] : step), error);
}

/* In symmetric states every other coefficient may vanish: steps grow when they are above the last
 * one and not far below the one before it. */
static bool grows(const taut_level_series *s, const taut_truncation *last, double step)
{
    return s->level == 1   ? s->large
           : s->level == 2 ? step > last->step[0] && step > 1e-6
                           : step > fmax(last->step[0], noise(s)) && step > 0.1 * last->step[1];
}

/* Level after level, until the step is at rounding or would grow. */
static int expand(taut_level_series *s, taut_error *error)
{
    taut_truncation last = {0};
    /* the largest of two steps above rounding that followed each other */
    double step = 0, ratio = INFINITY;
    for (s->level = 1; s->level <= s->settings.levels; s->level++) {
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
        if (lost || grows(s, &last, step))
            return settle(s, &last, lost, step, error);
        TAUT_TRY(watch(s, error));
        last.floor_q = quiet(s) * s->scale_q;
        last.floor_v = quiet(s) * s->scale_v;
        const double end = enough(s);
        bool led = s->level > 1 && (last.step[0] <= end || last.step[0] * ratio <= end);
        if (s->level > 1 && last.step[0] > quiet(s) && step > quiet(s))
            ratio = ratio < INFINITY ? fmax(ratio, step / last.step[0]) : step / last.step[0];
        taut_truncation_push(&last, step, s->moved_q, s->moved_v);
        state_error(s, &last, NAN, NAN);
        /* one small step may be a coefficient that happens to vanish; not so when steps have led
         * there */
        if (step <= end && led && (s->settings.enough == 0 || s->change <= end))
            return TAUT_OK;
    }
    s->level--;
    if (taut_truncation_tail(&last, last.step, NAN) > poor)
        return fail_separation(s, last.step[1], last.step[0], error);
    return polish(s, step, noise(s), error);
}

/* ---- the projector */

static int run(taut_level_series *s, const double *q, const double *v, taut_error *error)
{
    taut_copy(s->n, q, s->q);
    taut_copy(s->n, v, s->v);
    TAUT_TRY(s->foot->apply(s->foot, s->t, s->q, s->v, error));
    TAUT_TRY(watch(s, error));
    taut_copy(s->n, s->q, s->foot_q);
    taut_copy(s->n, s->v, s->foot_v);
    s->error_q = s->error_v = 0;
    s->truncated = s->unseparated = false;
    TAUT_TRY(s->kind->begin(s, error));
    TAUT_TRY(expand(s, error));
    return s->kind->finish(s, error);
}

/* An initial state that is slow already must stay, and fitting its guesses to rigid bonds would
 * move it along them. */
static int decide_guesses(taut_level_series *s, const double *q, const double *v, taut_error *error)
{
    static const double near = 1e-6; /* of the state */
    /* over ranks nothing is held or guessed, and the foot point is another one */
    if (taut_context_space(s->context) || !taut_foot_point_guess(s->foot, false))
        return TAUT_OK;
    taut_series_settings settings = s->settings;
    taut_error reason = {0};
    s->settings.watch = NULL;
    int status = run(s, q, v, &reason);
    s->settings = settings;
    TAUT_TRY(taut_fail_final(status, &reason, error));
    for (taut_index i = 0; i < s->n; i++) {
        s->dq[i] = s->q[i] - q[i];
        s->dv[i] = s->v[i] - v[i];
    }
    taut_foot_point_guess(s->foot, status != 0 || !(relative(s) <= near));
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    taut_level_series *s = (taut_level_series *)projector;
    s->t = t;
    TAUT_TRY(decide_guesses(s, q, v, error));
    TAUT_TRY(run(s, q, v, error));
    taut_copy(s->n, s->q, q);
    taut_copy(s->n, s->v, v);
    return TAUT_OK;
}

static void destroy(taut_projector *projector)
{
    taut_level_series *s = (taut_level_series *)projector;
    if (!s)
        return;
    s->kind->release(s);
    if (s->foot)
        s->foot->destroy(s->foot);
    s->foot = NULL;
}

static int prepare(taut_level_series *s, taut_arena *arena, taut_error *error)
{
    enum { LEVELS = 6 }; /* C^7 is below rounding wherever the series is worth using */
    int wanted = s->settings.levels > 0 ? s->settings.levels : LEVELS,
        most = taut_multiplier_recursion_most(s->context, s->kind->ahead);
    s->settings.levels = wanted < most ? wanted : most;
    s->rounding = 4 * DBL_EPSILON;
    taut_system_sizes(taut_context_system(s->context), &s->sizes);
    s->n = s->sizes.coordinates;
    s->m = s->sizes.bonds;
    TAUT_TRY(TAUT_RESERVE(arena, s->n, error, &s->q, &s->v, &s->dq, &s->dv, &s->last_q, &s->last_v,
                          &s->foot_q, &s->foot_v));
    return s->kind->build(s, arena, error);
}

int taut_series_create(const taut_level_kind *kind, taut_context *context, taut_arena *arena,
                       taut_statistics *statistics, const taut_series_settings *settings,
                       taut_projector **projector, taut_error *error)
{
    *projector = NULL;
    taut_level_series *s = taut_arena_get(arena, 1, kind->size);
    TAUT_NEED(error, s);
    s->projector = (taut_projector){.name = "series",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = arena};
    s->kind = kind;
    s->context = context;
    if (settings)
        s->settings = *settings;
    int status = prepare(s, arena, error);
    if (status == 0)
        *projector = &s->projector;
    else
        destroy(&s->projector);
    return status;
}

void taut_series_report_get(const taut_projector *projector, taut_series_report *report)
{
    const taut_level_series *s = (const taut_level_series *)projector;
    *report = (taut_series_report){.level = s->level,
                                   .error_q = s->error_q,
                                   .error_v = s->error_v,
                                   .rounding = quiet(s) * fmax(s->scale_q, s->scale_v),
                                   .rate = s->rate,
                                   .truncated = s->truncated,
                                   .unseparated = s->unseparated,
                                   .foot_q = s->foot_q,
                                   .foot_v = s->foot_v};
    s->kind->report(s, report);
}
