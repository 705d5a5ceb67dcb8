/* event_watch.c - events: a function of the state changes sign within a step, the root is
 * located on the dense output, and the event ends the run (`stop`) or alters the state (`then`),
 * after which the steps begin again. Its moment is a row, two where the state jumps. Within the
 * long steps of methods of high order a function may change its sign twice: where its slopes at
 * both ends suggest it, its extremum is searched for.
 *
 * Which side of the root the state is put on matters for what comes next. An event that lets the
 * motion pass (a switch) leaves it just behind the root, so that it does not occur again. One
 * that turns the motion back (a bounce) leaves it just before the root, so that the next contact
 * is seen even within one step. The rates of the event function before and after `then` show
 * which it is. */
#include "base/vectors.h"
#include "drive/guard_watch.h"
#include "drive/root.h"
#include "system/rank_part.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const double SHORT = 1e-4;  /* of a step: time for differences of event functions */
static const double PASSES = 1e-3; /* rate of the event function after `then` over that before; less
                                      is a stop, at the root, or a bounce */

enum { MOST_IN_ONE_STEP = 16, EQUAL_RATIOS = 5 };
static const double TOGETHER =
    32; /* events as close as this, in what times can show, are at one time */

int taut_watch_create(taut_solver *solver, taut_error *error)
{
    taut_watch *w = &solver->watch;
    taut_arena *arena = &solver->arena;
    taut_index count = w->count = solver->sizes.events;
    w->info = TAUT_NEW(arena, taut_event_info, count);
    w->in_window = TAUT_NEW(arena, int, count);
    w->agree = TAUT_NEW(arena, int, count);
    w->together = TAUT_NEW(arena, signed char, count);
    TAUT_NEED(error, w->info, w->in_window, w->agree, w->together);
    TAUT_TRY(TAUT_RESERVE(arena, count, error, &w->before, &w->after, &w->trial, &w->low, &w->high,
                          &w->met, &w->window, &w->slope[0], &w->slope[1], &w->gap, &w->ratio,
                          &w->limit));
    if (taut_run_space(solver))
        TAUT_TRY(TAUT_RESERVE(arena, (int64_t)count * taut_space_ranks(taut_run_space(solver)),
                              error, &w->all));
    for (taut_index k = 0; k < count; k++) {
        taut_system_event(solver->system, k, &w->info[k]);
        w->met[k] = w->gap[k] = w->ratio[k] = NAN;
    }
    return TAUT_OK;
}

/* Of several ranks the owner of an event has its value: all get it, and do the same from here on.
 */
static void join_values(const taut_solver *solver, const taut_part *part, double *values)
{
    const taut_watch *w = &solver->watch;
    for (taut_index k = 0; k < w->count; k++)
        values[k] = part->event[k] & TAUT_EVENT_OWN ? values[k] : 0;
    part->space->calls->gather(part->space, (int64_t)w->count * (int64_t)sizeof *values, values,
                               w->all);
    taut_clear(w->count, values);
    for (int r = 0; r < part->space->size; r++)
        taut_add_scaled(w->count, 1, w->all + (int64_t)r * w->count, values);
}

static int evaluate(taut_solver *solver, const taut_state *x, double *values, taut_error *error)
{
    const taut_part *part = solver->model->part;
    const double *lambda;
    TAUT_TRY(taut_state_forces(solver, x, &lambda, error));
    if (part) /* those that are elsewhere */
        taut_clear(solver->watch.count, values);
    int status =
        taut_evaluate_events(solver->context, x->t, x->q, taut_state_v(x), lambda, values, error);
    if (!part)
        return status;
    TAUT_TRY(taut_space_agree(part->space, status, error));
    join_values(solver, part, values);
    return TAUT_OK;
}

/* `then` of event k at a state. Ghosts become what their owners have. */
static int alter_state(taut_solver *solver, taut_index k, taut_state *x, taut_error *error)
{
    const taut_halo *halo = taut_run_halo(solver);
    const double *lambda;
    TAUT_TRY(taut_state_forces(solver, x, &lambda, error));
    int status = taut_event_apply(solver->context, k, x->t, x->q, taut_state_v(x), lambda, error);
    TAUT_TRY(taut_space_agree(taut_run_space(solver), status, error));
    taut_halo_refresh(halo, x->q);
    if (halo)
        taut_halo_refresh(halo, taut_state_v(x));
    return TAUT_OK;
}

int taut_watch_begin(taut_solver *solver, taut_error *error)
{
    if (solver->watch.count == 0)
        return TAUT_OK;
    return evaluate(solver, &solver->stepper.now, solver->watch.before, error);
}

static int evaluate_inside(taut_solver *solver, double theta, taut_error *error)
{
    TAUT_TRY(taut_dense(solver, theta, error));
    return evaluate(solver, &solver->probe, solver->watch.trial, error);
}

/* -1, 0, +1: does f cross zero from `before` to `after`, and which way. */
static int crossing(double before, double after)
{
    if (before < 0 && after >= 0)
        return 1;
    if (before > 0 && after <= 0)
        return -1;
    return 0;
}

static int function(taut_solver *solver, int64_t k, double theta, double *value, taut_error *error)
{
    TAUT_TRY(evaluate_inside(solver, theta, error));
    *value = solver->watch.trial[k];
    return TAUT_OK;
}

/* Shrinks [low, high] around the sign change of event k until the times of its ends are
 * neighbours up to rounding. */
static int locate(taut_solver *solver, taut_index k, double f_low, double f_high, taut_error *error)
{
    taut_watch *w = &solver->watch;
    return taut_root_locate(solver, function, k, taut_root_resolution(solver), &w->low[k],
                            &w->high[k], f_low, f_high, error);
}

/* ---- events that are met twice within a step */

/* Moves the probe along the motion for a short time. */
static void shift(taut_solver *solver, double delta)
{
    const taut_stepper *s = &solver->stepper;
    taut_state *x = &solver->probe;
    bool known = s->n > 0 && !isnan(x->a[0]);
    for (taut_index i = 0; i < s->n && (known || !s->first_order); i++) {
        x->q[i] += delta * (s->first_order ? x->a[i] : x->v[i]);
        if (!s->first_order && known)
            x->v[i] += delta * x->a[i];
    }
    x->t += delta;
}

/* Slopes of the event functions at both ends of the step, per step; none (0) where they cannot
 * be evaluated. */
static int measure_slopes(taut_solver *solver, taut_error *error)
{
    taut_watch *w = &solver->watch;
    const taut_stepper *s = &solver->stepper;
    for (int end = 0; end < 2; end++) {
        const taut_state *at = end ? &s->now : &s->last;
        taut_state *x = &solver->probe;
        taut_error reason;
        taut_state_copy(s, at, x);
        shift(solver, (end ? -SHORT : SHORT) * (s->now.t - s->last.t));
        int status = evaluate(solver, x, w->trial, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        for (taut_index k = 0; k < w->count; k++) {
            double change = end ? w->after[k] - w->trial[k] : w->trial[k] - w->before[k];
            w->slope[end][k] = status == 0 ? change / SHORT : 0;
        }
    }
    return TAUT_OK;
}

/* The function of event k has the same sign at both ends: does it have the other one between? By
 * golden section from where the cubic dips. */
static int look_inside(taut_solver *solver, taut_index k, taut_error *error)
{
    enum { MOST = 10 };
    static const double GOLDEN = 0.38196601125010515;
    taut_watch *w = &solver->watch;
    double sign = w->before[k] > 0 ? 1 : -1, m0 = sign * w->slope[0][k], m1 = sign * w->slope[1][k];
    double x =
        m0 < 0 && m1 > 0 ? taut_root_dip(sign * w->before[k], sign * w->after[k], m0, m1) : -1;
    if (x < 0)
        return TAUT_OK;
    TAUT_TRY(evaluate_inside(solver, x, error));
    double least = sign * w->trial[k], a = 0, b = 1;
    for (int j = 0; j < MOST && least >= 0; j++) {
        double u = b - x > x - a ? x + GOLDEN * (b - x) : x - GOLDEN * (x - a);
        TAUT_TRY(evaluate_inside(solver, u, error));
        double value = sign * w->trial[k];
        if (value < least) {
            *(u > x ? &a : &b) = x;
            x = u;
            least = value;
        } else {
            *(u > x ? &b : &a) = u;
        }
    }
    if (!(least < 0))
        return TAUT_OK;
    /* the first crossing has the other direction */
    bool second = w->info[k].direction == (int)sign;
    w->low[k] = second ? x : 0;
    w->high[k] = second ? 1 : x;
    return locate(solver, k, second ? sign * least : w->before[k],
                  second ? w->after[k] : sign * least, error);
}

/* Finds every event of the latest step: brackets in low, high. */
static int scan(taut_solver *solver, taut_error *error)
{
    taut_watch *w = &solver->watch;
    bool sloped = false;
    TAUT_TRY(taut_complete(solver, error));
    TAUT_TRY(evaluate(solver, &solver->stepper.now, w->after, error));
    for (taut_index k = 0; k < w->count; k++) {
        double before = w->before[k];
        w->low[k] = 0;
        w->high[k] = 2; /* not met */
        if (before == 0) {
            /* the step begins on the root: its side is the one it leaves to */
            w->low[k] = 0x1p-10;
            TAUT_TRY(evaluate_inside(solver, w->low[k], error));
            before = w->trial[k];
        }
        int way = crossing(before, w->after[k]);
        if (way == 0 && before != 0 && w->before[k] != 0 && w->after[k] != 0) {
            if (!sloped)
                TAUT_TRY(measure_slopes(solver, error));
            sloped = true;
            TAUT_TRY(look_inside(solver, k, error));
        }
        if (way == 0 || (w->info[k].direction != 0 && w->info[k].direction != way))
            continue;
        w->high[k] = 1;
        TAUT_TRY(locate(solver, k, before, w->after[k], error));
    }
    return TAUT_OK;
}

/* Where an event is met at the very end of the step, others at the same time may lie behind it by
 * rounding: they count as met there, too. */
static int peek(taut_solver *solver, taut_error *error)
{
    taut_watch *w = &solver->watch;
    const taut_stepper *s = &solver->stepper;
    double beyond = TOGETHER * taut_root_resolution(solver);
    taut_error reason;
    bool any = false;
    for (taut_index k = 0; k < w->count; k++)
        any |= w->high[k] <= 1 && w->high[k] >= 1 - beyond;
    if (!any)
        return TAUT_OK;
    taut_state_copy(s, &s->now, &solver->probe);
    shift(solver, beyond * (s->now.t - s->last.t));
    int status = evaluate(solver, &solver->probe, w->trial, &reason);
    for (taut_index k = 0; k < w->count && status == 0; k++) {
        int way = w->high[k] <= 1 ? 0 : crossing(w->after[k], w->trial[k]);
        if (way == 0 || (w->info[k].direction != 0 && w->info[k].direction != way))
            continue;
        w->low[k] = w->high[k] = 1;
        w->after[k] = w->trial[k];
    }
    return taut_fail_final(status, &reason, error);
}

/* The earliest event of the step, of several at one time the first of the file; or -1. */
static taut_index earliest(const taut_solver *solver)
{
    const taut_watch *w = &solver->watch;
    double least = 2, together = TOGETHER * taut_root_resolution(solver);
    for (taut_index k = 0; k < w->count; k++)
        least = fmin(least, w->high[k]);
    for (taut_index k = 0; k < w->count; k++)
        if (w->high[k] <= 1 && w->high[k] <= least + together)
            return k;
    return -1;
}

/* The times of event k so far approach a limit in geometric progression (a bouncing ball coming to
 * rest): met - gap/ratio, met, met + gap, ... Then w->limit is Aitken's
 * extrapolation of the latest three. */
static bool find_limit(taut_solver *solver, taut_index k, double t)
{
    static const double EQUAL = 0.01; /* relative to 1 - ratio */
    taut_watch *w = &solver->watch;
    double gap = t - w->met[k], ratio = gap / w->gap[k];
    bool shrinks = ratio > 0 && ratio < 1 && fabs(ratio - w->ratio[k]) <= EQUAL * (1 - ratio);
    w->agree[k] = shrinks ? w->agree[k] + 1 : 0;
    w->gap[k] = gap;
    w->ratio[k] = ratio;
    if (w->agree[k] < EQUAL_RATIOS)
        return false;
    w->limit[k] = t + gap * ratio / (1 - ratio);
    return true;
}

/* The run ends at the limit: it is reached, to NEAR of the time so far. */
static void end_at_limit(taut_solver *solver, taut_index k)
{
    solver->outcome = TAUT_EVENT;
    solver->event_met = true;
    taut_system_name(solver->system, TAUT_EVENT_ITEM, k, solver->event_name,
                     sizeof solver->event_name);
    snprintf(
        solver->notice[1], sizeof solver->notice[1],
        "event '%s' accumulates at t = %.12g: the intervals between its occurrences decrease by "
        "the factor %.6g, and infinitely many would follow before that time; the run ends "
        "there, at t = %.12g",
        solver->event_name, solver->watch.limit[k], solver->watch.ratio[k], solver->watch.met[k]);
}

/* Events that occur many times within one step length, or twice at one moment, accumulate: with a
 * limit in geometric progression the run ends there (*ends), without one it fails. */
static int guard_accumulation(taut_solver *solver, taut_index k, double t, bool *ends,
                              taut_error *error)
{
    static const double NEAR = 1e-9,
                        LOST = 1e-6; /* of the time so far; where rounding disturbs it */
    taut_watch *w = &solver->watch;
    double length = fmax(fabs(t), fabs(t - solver->from));
    bool again = fabs(t - w->met[k]) <= 4 * DBL_EPSILON * fabs(t),
         was = w->agree[k] >= EQUAL_RATIOS, progression = find_limit(solver, k, t);
    if (isnan(w->met[k]) || fabs(t - w->window[k]) > solver->step) {
        w->window[k] = t;
        w->in_window[k] = 0;
    }
    w->met[k] = t;
    w->in_window[k]++;
    *ends = (progression || was) && fabs(w->limit[k] - t) <= (progression ? NEAR : LOST) * length;
    if (*ends)
        end_at_limit(solver, k);
    if (*ends || progression || (w->in_window[k] <= MOST_IN_ONE_STEP && !again))
        return TAUT_OK;
    char name[80];
    taut_system_name(solver->system, TAUT_EVENT_ITEM, k, name, sizeof name);
    int code =
        taut_fail(error, TAUT_ERROR_STEP,
                  "event '%s' occurs without end at t = %.9g (%d times within one step): the "
                  "motion cannot continue from the state that `then` leaves; let the event stop "
                  "the run",
                  name, t, w->in_window[k]);
    if (error)
        error->t = t;
    return code;
}

/* d/dt of event function k along the motion at the probe, by a short difference. The probe's
 * arrays are altered. */
static int rate(taut_solver *solver, taut_index k, double *rate, taut_error *error)
{
    TAUT_TRY(evaluate(solver, &solver->probe, solver->watch.trial, error));
    double f = solver->watch.trial[k];
    shift(solver, SHORT * (solver->stepper.now.t - solver->stepper.last.t));
    TAUT_TRY(evaluate(solver, &solver->probe, solver->watch.trial, error));
    *rate = solver->watch.trial[k] - f;
    return TAUT_OK;
}

/* What event k has altered is where the motion cannot begin: the reason, with the event. */
static int fail_altered(const taut_solver *solver, taut_index k, int status,
                        const taut_error *reason, taut_error *error)
{
    char name[80];
    TAUT_TRY(taut_fail_final(status, reason, error));
    taut_system_name(solver->system, TAUT_EVENT_ITEM, k, name, sizeof name);
    int code = taut_fail(
        error, status > 0 ? TAUT_ERROR_EVALUATE : status,
        "event '%s' at t = %.9g leaves a state from which motion %s cannot continue%s: %.400s",
        name, solver->probe.t, taut_motion_name(solver->motion),
        solver->slow ? ", but motion full can" : "",
        status > 0 ? "the system cannot be evaluated there" : reason->message);
    if (error)
        error->t = solver->probe.t;
    return code;
}

/* Puts the probe at theta, carries out `then`, and puts what comes out where the motion can
 * begin, which moves it by *moved. *value: of the event function right after `then`. */
static int apply(taut_solver *solver, taut_index k, double theta, double *value, double *moved,
                 taut_error *error)
{
    taut_state *x = &solver->probe;
    taut_error reason = {.t = NAN};
    TAUT_TRY(taut_dense(solver, theta, error));
    TAUT_TRY(alter_state(solver, k, x, error));
    TAUT_TRY(evaluate(solver, x, solver->watch.trial, error));
    *value = solver->watch.trial[k];
    int status = taut_start_again(solver, false, x, moved, &reason);
    return status == 0 ? TAUT_OK : fail_altered(solver, k, status, &reason, error);
}

int taut_watch_restart(taut_solver *solver, bool altered, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_state was = s->now;
    s->now = solver->probe;
    solver->probe = was;
    s->method->changed(s);
    solver->ledger.t = NAN;
    taut_guard_begin(solver);
    if (altered) {
        solver->norm.reach = 0; /* and another pace */
        TAUT_TRY(taut_start_begin(solver, error));
    }
    TAUT_TRY(s->method->multipliers(s, s->now.t, s->now.q, taut_state_v(&s->now),
                                    taut_state_lambda(&s->now), error));
    if (altered)
        TAUT_TRY(taut_ledger_begin(solver, &s->now, error)); /* `then` may give any energy */
    return taut_watch_begin(solver, error);
}

/* After a restart: event j is still to come although its function may be zero, or behind zero by
 * rounding. */
static void keep_before(taut_watch *w, taut_index j, bool rising)
{
    if (rising ? w->before[j] >= 0 : w->before[j] <= 0)
        w->before[j] = rising ? -DBL_MIN : DBL_MIN;
}

/* After a restart at the root of event k the state is on one side of it, whatever the sign
 * after rounding or after the projection onto rigid bonds, which removes an error of interpolation
 * far larger than rounding. */
static void take_side(taut_watch *w, taut_index k, bool positive)
{
    if (positive ? w->before[k] <= 0 : w->before[k] >= 0)
        w->before[k] = positive ? DBL_MIN : -DBL_MIN;
}

/* Carries out `then` of event k on the side of the root where the motion continues: into the
 * probe. *at_root: `then` has not taken the state elsewhere; *positive: the side on which the
 * event function then is. */
static int carry_out(taut_solver *solver, taut_index k, bool *at_root, bool *positive,
                     double *moved, taut_error *error)
{
    taut_watch *w = &solver->watch;
    double before, after, value;
    TAUT_TRY(taut_dense(solver, w->high[k], error));
    TAUT_TRY(rate(solver, k, &before, error));
    TAUT_TRY(apply(solver, k, w->high[k], &value, moved, error));
    TAUT_TRY(rate(solver, k, &after, error));
    bool passes = after / before > PASSES; /* slowed down or sped up, but on its way */
    *positive = passes == (before > 0);
    TAUT_TRY(apply(solver, k, passes ? w->high[k] : w->low[k], &value, moved, error));
    *at_root = fabs(value) <= 1e-8 * (fabs(w->before[k]) + fabs(w->after[k]));
    return TAUT_OK;
}

/* Event k alters the state. */
static int alter(taut_solver *solver, taut_index k, taut_error *error)
{
    taut_watch *w = &solver->watch;
    double moved;
    bool at_root = false, positive = false;
    TAUT_TRY(taut_dense(solver, w->low[k], error));
    bool ends = false;
    int status = guard_accumulation(solver, k, solver->probe.t, &ends, error);
    if (status == 0 && ends) /* where the latest one occurs: the state after it is the same */
        return taut_watch_restart(solver, false, error);
    if (status == 0)
        status = carry_out(solver, k, &at_root, &positive, &moved, error);
    if (status != 0) { /* the run ends where it cannot continue, not behind it */
        if (taut_dense(solver, w->low[k], NULL) == 0)
            taut_watch_restart(solver, false, NULL);
        return status;
    }
    TAUT_TRY(taut_watch_restart(solver, true, error));
    if (w->agree[k] > 0) /* the next one comes sooner: within a long step rounding would hide it */
        solver->control.h = fmin(solver->control.h, 4 * fabs(w->gap[k]));
    solver->altered++;
    solver->put_back = fmax(solver->put_back, moved);
    if (at_root)
        take_side(w, k, positive);
    return TAUT_OK;
}

/* Events at the moment of event k, which come after it, have their turn in the next step. */
static void postpone_others(taut_solver *solver, taut_index k)
{
    taut_watch *w = &solver->watch;
    for (taut_index j = 0; j < w->count; j++)
        if (j != k && w->together[j])
            keep_before(w, j, w->together[j] > 0);
}

/* Acts on event k: rows up to it, its own row, then what it asks for; when it alters the state,
 * there is one more right after that. */
static int act(taut_solver *solver, taut_index k, taut_error *error)
{
    taut_watch *w = &solver->watch;
    const taut_event_info *info = &w->info[k];
    const taut_stepper *s = &solver->stepper;
    double together = w->high[k] + TOGETHER * taut_root_resolution(solver);
    for (taut_index j = 0; j < w->count; j++) {
        bool rising = w->after[j] >= 0 && (w->after[j] > 0 || w->info[j].direction >= 0);
        w->together[j] = w->high[j] > together ? 0 : rising ? 1 : -1;
    }
    TAUT_TRY(taut_kept_add(solver, s->last.t + w->high[k] * (s->now.t - s->last.t), error));
    TAUT_TRY(taut_rows_event(solver, k, info->alters ? w->low[k] : w->high[k], error));
    TAUT_TRY(info->alters ? alter(solver, k, error) : taut_watch_restart(solver, false, error));
    postpone_others(solver, k);
    if (info->alters && solver->rows.sinks > 0)
        TAUT_TRY(taut_rows_write(solver, s->now.t, &s->now, error));
    if (!info->stop)
        return TAUT_OK;
    solver->outcome = TAUT_EVENT;
    solver->event_met = true;
    taut_system_name(solver->system, TAUT_EVENT_ITEM, k, solver->event_name,
                     sizeof solver->event_name);
    return TAUT_OK;
}

int taut_watch_step(taut_solver *solver, bool *restarted, taut_error *error)
{
    taut_watch *w = &solver->watch;
    if (w->count > 0) {
        TAUT_TRY(scan(solver, error));
        TAUT_TRY(peek(solver, error));
        taut_index first = earliest(solver);
        *restarted = first >= 0;
        if (first >= 0)
            return act(solver, first, error);
        double *swap = w->before;
        w->before = w->after;
        w->after = swap;
    }
    TAUT_TRY(taut_kept_add(solver, solver->stepper.now.t, error));
    return taut_rows_due(solver, solver->stepper.now.t, error);
}
