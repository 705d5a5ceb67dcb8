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
#include "drive/solver.h"

#include <float.h>
#include <math.h>

static const double SHORT = 1e-4;  /* of a step: time for differences of event functions */
static const double PASSES = 1e-3; /* rate of the event function after `then` over that before; less
                                      is a stop, at the root, or a bounce */

enum { MOST_IN_ONE_STEP = 16, MOST_ITERATIONS = 200 };

int taut_watch_create(taut_solver *solver, taut_error *error)
{
    taut_watch *w = &solver->watch;
    taut_arena *arena = &solver->arena;
    taut_index count = w->count = solver->sizes.events;
    w->info = TAUT_NEW(arena, taut_event_info, count);
    w->in_window = TAUT_NEW(arena, int, count);
    TAUT_NEED(error, w->info, w->in_window);
    TAUT_TRY(TAUT_RESERVE(arena, count, error, &w->before, &w->after, &w->trial, &w->low, &w->high,
                          &w->met, &w->window, &w->slope[0], &w->slope[1]));
    for (taut_index k = 0; k < count; k++) {
        taut_system_event(solver->system, k, &w->info[k]);
        w->met[k] = NAN;
    }
    return TAUT_OK;
}

static int evaluate(taut_solver *solver, const taut_state *x, double *values, taut_error *error)
{
    return taut_evaluate_events(solver->context, x->t, x->q, taut_state_v(x), taut_state_lambda(x),
                                values, error);
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

/* The smallest difference of theta that times can show. */
static double resolution(const taut_solver *solver)
{
    double h = fabs(solver->stepper.now.t - solver->stepper.last.t);
    return fmax(DBL_EPSILON, 2 * DBL_EPSILON * fabs(solver->stepper.now.t) / h);
}

/* Shrinks [low, high] around the sign change of event k until the times of its ends are
 * neighbours up to rounding: regula falsi, an end value halved when that end stays twice
 * (Illinois), and a bisection whenever three steps have not halved the bracket. */
static int locate(taut_solver *solver, taut_index k, double f_low, double f_high, taut_error *error)
{
    taut_watch *w = &solver->watch;
    double tiny = resolution(solver), a = w->low[k], b = w->high[k], mark = b - a;
    bool rising = f_low < 0;
    int stayed = 0; /* which end stayed: -1 low, 1 high */
    for (int j = 0; b - a > tiny && j < MOST_ITERATIONS; j++) {
        double c = (a * f_high - b * f_low) / (f_high - f_low);
        if (j % 3 == 2) {
            if (b - a > mark / 2)
                c = (a + b) / 2;
            mark = b - a;
        }
        /* off the ends by what can be seen, so that the far end comes in at last */
        if (!(c > a + tiny / 2))
            c = a + tiny / 2;
        if (c > b - tiny / 2)
            c = b - tiny / 2;
        TAUT_TRY(evaluate_inside(solver, c, error));
        double f = w->trial[k];
        if (rising ? f >= 0 : f <= 0) {
            b = c;
            f_high = f;
            f_low = stayed == -1 ? f_low / 2 : f_low;
            stayed = -1;
        } else {
            a = c;
            f_low = f;
            f_high = stayed == 1 ? f_high / 2 : f_high;
            stayed = 1;
        }
    }
    w->low[k] = a;
    w->high[k] = b;
    return TAUT_OK;
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

/* Where the cubic with values f0, f1 > 0 and slopes m0 < 0, m1 > 0 at the ends of a step is
 * least, if it is nearly 0 or less; else -1. */
static double dip(double f0, double f1, double m0, double m1)
{
    /* of the lower end: a cubic is no better approximation of a long step */
    static const double NEARLY = 0.25;
    double a2 = 3 * (f1 - f0) - 2 * m0 - m1, a3 = 2 * (f0 - f1) + m0 + m1;
    double theta = -m0 / (a2 + sqrt(fmax(a2 * a2 - 3 * a3 * m0, 0)));
    double value = f0 + theta * (m0 + theta * (a2 + theta * a3));
    return theta > 0 && theta < 1 && value < NEARLY * fmin(f0, f1) ? theta : -1;
}

/* The function of event k has the same sign at both ends: does it have the other one between? By
 * golden section from where the cubic dips. */
static int look_inside(taut_solver *solver, taut_index k, taut_error *error)
{
    enum { MOST = 10 };
    static const double GOLDEN = 0.38196601125010515;
    taut_watch *w = &solver->watch;
    double sign = w->before[k] > 0 ? 1 : -1, m0 = sign * w->slope[0][k], m1 = sign * w->slope[1][k];
    double x = m0 < 0 && m1 > 0 ? dip(sign * w->before[k], sign * w->after[k], m0, m1) : -1;
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

/* The earliest event of the step, or -1. */
static taut_index earliest(const taut_watch *w)
{
    taut_index first = -1;
    for (taut_index k = 0; k < w->count; k++)
        if (w->high[k] <= 1 && (first < 0 || w->high[k] < w->high[first]))
            first = k;
    return first;
}

/* One event many times in one step length, or twice at the same moment: the motion accumulates
 * (a bouncing ball coming to rest). */
static int guard_accumulation(taut_solver *solver, taut_index k, double t, taut_error *error)
{
    taut_watch *w = &solver->watch;
    bool again = fabs(t - w->met[k]) <= 4 * DBL_EPSILON * fabs(t);
    if (isnan(w->met[k]) || fabs(t - w->window[k]) > solver->step) {
        w->window[k] = t;
        w->in_window[k] = 0;
    }
    w->met[k] = t;
    if (++w->in_window[k] <= MOST_IN_ONE_STEP && !again)
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
    TAUT_TRY(taut_event_apply(solver->context, k, x->t, x->q, taut_state_v(x), taut_state_lambda(x),
                              error));
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
    double moved, together = w->high[k] + 4 * resolution(solver);
    bool at_root = false, positive = false;
    TAUT_TRY(taut_dense(solver, w->low[k], error));
    int status = guard_accumulation(solver, k, solver->probe.t, error);
    if (status == 0)
        status = carry_out(solver, k, &at_root, &positive, &moved, error);
    if (status != 0) { /* the run ends where it cannot continue, not behind it */
        if (taut_dense(solver, w->low[k], NULL) == 0)
            taut_watch_restart(solver, false, NULL);
        return status;
    }
    TAUT_TRY(taut_watch_restart(solver, true, error));
    solver->altered++;
    solver->put_back = fmax(solver->put_back, moved);
    if (at_root)
        take_side(w, k, positive);
    /* others at the same moment have their turn in the next step */
    for (taut_index j = 0; j < w->count; j++)
        if (j != k && w->high[j] <= together)
            keep_before(w, j, w->after[j] >= 0 && (w->after[j] > 0 || w->info[j].direction >= 0));
    return TAUT_OK;
}

/* Acts on event k: rows up to it, its own row, then what it asks for; when it alters the state,
 * there is one more right after that. */
static int act(taut_solver *solver, taut_index k, taut_error *error)
{
    const taut_watch *w = &solver->watch;
    const taut_event_info *info = &w->info[k];
    const taut_stepper *s = &solver->stepper;
    TAUT_TRY(taut_kept_add(solver, s->last.t + w->high[k] * (s->now.t - s->last.t), error));
    TAUT_TRY(taut_rows_event(solver, info->alters ? w->low[k] : w->high[k], error));
    TAUT_TRY(info->alters ? alter(solver, k, error) : taut_watch_restart(solver, false, error));
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
        taut_index first = earliest(w);
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
