/* control.c - the adaptive step size, for every method with an error estimate.
 *
 *     norm   e = rms_i (|dq_i| + H |dv_i|) / (atol + rtol |q_i|), H = max(h, R/10)
 *     first order: |dq_i| alone
 *
 * R is the longest recent step; it decreases by a tenth of the time that passes. While steps keep
 * their size H is h. Where they collapse, at a kink or a close encounter, h |dv| would accept an
 * error tol/h of the velocity, which stays for the rest of the run, and any error at all at a
 * singularity, which the run would step over: with H it ends there, since no step is small
 * enough.
 *
 * A step is accepted while e <= 1. The next one is h S e^-alpha e_before^beta with alpha = 1/k -
 * 3 beta/4, k the order of the estimate (PI controller: Gustafsson 1991; Hairer, Wanner, Solving
 * Ordinary Differential Equations II, IV.2), within limits of growth; after a rejection it does
 * not grow. The first step is estimated as in Hairer, Norsett, Wanner, Solving Ordinary
 * Differential Equations I, II.4. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/vectors.h"

static const double SAFETY = 0.9, GROW = 6, SHRINK = 0.2, BETA = 0.1; /* BETA: times 1/k */
static const double COLLAPSE = 0.1, MEMORY = 10;                      /* H and R */
static const double AHEAD = 1e6; /* steps from a failure that explains why steps are too small */
enum { MOST_FAILURES = 12 };     /* evaluations that fail one after another, at quartered steps */

int taut_control_create(taut_solver *solver, taut_error *error)
{
    return TAUT_RESERVE(&solver->arena, 3 * (int64_t)solver->stepper.n, error,
                        &solver->control.trial);
}

/* Velocities along bonds come from positions at both ends: rounding of these, over h, is what no
 * smaller step improves. */
static double rounding_of_velocities(const taut_stepper *s, double h)
{
    return s->m > 0
               ? 0.25 * DBL_EPSILON *
                     fmax(taut_largest(s->n, s->now.q), taut_largest(s->n, s->last.q)) / fabs(h)
               : 0;
}

/* The norm of the latest step's estimate. NaN stays NaN. */
static double error_norm(const taut_solver *solver, double h)
{
    const taut_stepper *s = &solver->stepper;
    double sum = 0, more = COLLAPSE * solver->control.reach - fabs(h); /* H - h */
    double noise = more > 0 && !s->first_order ? rounding_of_velocities(s, h) : 0;
    for (taut_index i = 0; i < s->n; i++) {
        double scale = s->atol + s->rtol * fmax(fabs(s->now.q[i]), fabs(s->last.q[i]));
        double off = s->first_order ? 0 : fabs(s->error_v[i]),
               e = fabs(s->error_q[i]) + fabs(h) * off;
        if (more > 0 && off > noise)
            e += more * (off - noise);
        sum += e / scale * (e / scale);
    }
    return s->n > 0 ? sqrt(sum / s->n) : 0;
}

/* After a rejection, where H is above h: are the velocities as far off as they were in a try of
 * four times the length, and by very little? Then that is rounding, of stiff springs at tight
 * tolerances, and H must not hold up the run. At a kink the difference would decrease with the
 * step, at a singularity it would be far larger. */
static bool is_rounding(taut_solver *solver, double h)
{
    static const double NEGLIGIBLE = 1e-9;
    taut_control *c = &solver->control;
    const taut_stepper *s = &solver->stepper;
    double off = taut_largest(s->n, s->error_v), quarter = c->tried / 4, half = c->tried_off / 2;
    bool first = c->tried == 0, shorter = quarter > fabs(h), stays = off > half;
    if (!first && !shorter)
        return false;
    c->tried = fabs(h);
    c->tried_off = off;
    return !first && stays &&
           off <= NEGLIGIBLE * fmax(taut_largest(s->n, s->now.v), taut_largest(s->n, s->last.v));
}

/* ---- the first step */

/* Scaled rms of x, in the scale of q. */
static double scaled(const taut_stepper *s, const double *x)
{
    double sum = 0;
    for (taut_index i = 0; i < s->n; i++) {
        double e = x[i] / (s->atol + s->rtol * fabs(s->now.q[i]));
        sum += e * e;
    }
    return s->n > 0 ? sqrt(sum / s->n) : 0;
}

/* Hairer's estimate from the first two derivatives of q: h0 changes q by a hundredth, h1 makes
 * the term of order k a hundredth of the tolerance were the derivatives all alike. Second order:
 * v and v' are these derivatives; first order: the second one by an Euler step. Counts one
 * evaluation, or two. */
static double first_by_field(taut_solver *solver, double way, double least, taut_error *error,
                             int *status)
{
    taut_stepper *s = &solver->stepper;
    taut_index n = s->n;
    double *rate = solver->control.trial, *q = rate + n, *next = q + n;
    *status = s->field->evaluate(s->field, s->now.t, s->now.q, s->now.v, rate, NULL, error);
    if (*status != 0)
        return 0;
    double d0 = scaled(s, s->now.q), d1 = scaled(s, s->first_order ? rate : s->now.v), d2 = 0;
    double h0 = d0 < 1e-5 || d1 < 1e-5 ? least : 0.01 * d0 / d1;
    if (s->first_order) {
        h0 = fmin(h0, solver->control.most);
        for (taut_index i = 0; i < n; i++)
            q[i] = s->now.q[i] + way * h0 * rate[i];
        if (s->field->evaluate(s->field, s->now.t + way * h0, q, s->now.v, next, NULL, NULL) != 0)
            return h0; /* the step itself will show whether it is too long */
        for (taut_index i = 0; i < n; i++)
            next[i] = (next[i] - rate[i]) / h0;
        d2 = scaled(s, next);
    } else {
        d2 = scaled(s, rate);
        double by_rest = d0 < 1e-5 || d2 < 1e-5 ? least : sqrt(0.01 * d0 / d2);
        h0 = d1 < 1e-5 ? by_rest : d2 < 1e-5 ? h0 : fmin(h0, by_rest);
    }
    double worst = fmax(d1, d2);
    double h1 =
        worst <= 1e-15 ? fmax(least, 1e-3 * h0) : pow(0.01 / worst, 1. / s->method->error_order);
    return fmin(100 * h0, h1);
}

/* Methods without a field: from the velocity alone; rejected steps correct it. */
static double first_by_velocity(const taut_stepper *s, double least)
{
    double d0 = scaled(s, s->now.q), d1 = s->first_order ? 0 : scaled(s, s->now.v);
    return d0 < 1e-5 || d1 < 1e-5 ? 100 * least : 0.01 * d0 / d1;
}

/* `least` is the length where nothing else determines one: a millionth of the way, so that it has
 * the unit of time. */
static int first_step(taut_solver *solver, double target, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    double way = target < s->now.t ? -1 : 1, length = fabs(target - s->now.t),
           least = 1e-6 * (isfinite(length) ? length : 1);
    int status = 0;
    double h =
        s->field ? first_by_field(solver, way, least, error, &status) : first_by_velocity(s, least);
    if (status < 0 && h == 0)
        return status;
    taut_error_clear(error);
    h = fmax(fmin(h, length), 1e3 * DBL_EPSILON * fabs(s->now.t));
    solver->control.h = fmin(h > 0 ? h : least, solver->control.most);
    return TAUT_OK;
}

/* ---- every step */

static double smallest(double t)
{
    return 16 * DBL_EPSILON * fmax(fabs(t), DBL_MIN / DBL_EPSILON);
}

/* The step is too small: with the reason of the latest failure, when there was one, also where
 * the steps before it were only judged too long: tiny ones have estimates full of rounding, and
 * what lies just ahead explains more. */
static int fail_small(const taut_solver *solver, int status, taut_error *error)
{
    const taut_control *c = &solver->control;
    double t = solver->stepper.now.t;
    if (status == 0 && c->failure != 0 && fabs(c->failed - t) < AHEAD * c->h) {
        status = c->failure;
        if (error)
            *error = c->reason;
    }
    char reason[300] = "";
    if (status != 0 && error && error->message[0])
        snprintf(reason, sizeof reason, ": %.250s", error->message);
    if (status > 0 && reason[0] && error->code < 0)
        status = error->code;
    if (status < 0)
        taut_fail(error, status, "no step succeeded at t = %.9g, down to h = %.3g%s", t,
                  solver->control.h, reason);
    else if (status > 0)
        status = taut_fail(error, TAUT_ERROR_EVALUATE,
                           "the system cannot be evaluated after t = %.9g, with steps down to %.3g",
                           t, solver->control.h);
    else
        status = taut_fail(error, TAUT_ERROR_STEP,
                           "the step became too small (%.3g) at t = %.9g: the error stays above "
                           "the tolerance, as at a kink or a singularity; a larger rtol or "
                           "atol, a smooth model or an event there may help",
                           solver->control.h, t);
    if (error)
        error->t = t;
    return status;
}

static bool recoverable(int status)
{
    return status > 0 || status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_CONVERGE ||
           status == TAUT_ERROR_SINGULAR;
}

/* The driver undoes the latest step: `now` is again what `last` was. */
static void undo(taut_stepper *s)
{
    taut_state now = s->now;
    s->now = s->last;
    s->last = now;
    s->statistics->steps--;
    s->statistics->rejected++;
    if (s->method->rejected)
        s->method->rejected(s);
    else
        s->method->changed(s);
}

/* Accepts or rejects by the norm e, and sets the size of the next step. */
static bool judge(taut_solver *solver, double h, double e)
{
    taut_control *c = &solver->control;
    double k = solver->stepper.method->error_order, beta = BETA / k;
    if (!(e <= 1)) {
        double factor = isfinite(e) ? fmax(SHRINK, SAFETY * pow(e, -1 / k)) : SHRINK;
        c->h = fabs(h) * factor;
        c->held = true;
        return false;
    }
    double before = c->before > 0 ? fmax(c->before, 1e-4) : 1;
    double factor = SAFETY * pow(fmax(e, 1e-30), -1 / k + 0.75 * beta) * pow(before, beta);
    factor = fmin(c->held ? 1 : GROW, fmax(SHRINK, factor));
    c->h = fabs(h) * factor;
    c->reach = fmax(fabs(h), c->reach - fabs(h) / MEMORY);
    if (COLLAPSE * c->reach <= fabs(h))
        c->tried = 0;
    c->before = e;
    c->held = false;
    c->largest = fmax(c->largest, e);
    return true;
}

/* One try of length h to time `next`: 0 accepted, TAUT_RETRY with the new size, <0 error. A new
 * state counts only when it can be stabilised and, in methods that integrate a field, when the
 * forces there can be evaluated, which the next step needs anyway. What others leave for later,
 * multipliers with a factorisation of their own, is made when rows, events or the end read it. */
static int try_step(taut_solver *solver, double h, double next, int *failure, taut_error *error)
{
    taut_control *c = &solver->control;
    taut_stepper *s = &solver->stepper;
    int status = s->method->step(s, h, error);
    bool taken = status == 0;
    if (taken) {
        s->now.t = next;
        double e = error_norm(solver, h);
        if (!(e <= 1) && COLLAPSE * c->reach > fabs(h) && is_rounding(solver, h)) {
            c->reach = 0;
            e = error_norm(solver, h);
        }
        if (!judge(solver, h, e)) {
            undo(s);
            *failure = 0;
            return TAUT_RETRY;
        }
        status = taut_stabilize(solver, error);
        if (status == 0 && s->method->uses_field)
            status = taut_complete(solver, error);
        if (status == 0)
            status = taut_ledger_step(solver, error);
    }
    if (status == 0 || !recoverable(status))
        return status;
    if (taken)
        undo(s);
    else
        s->statistics->rejected++;
    c->h = fabs(h) * (status > 0 ? 0.5 : 0.25);
    c->held = true;
    *failure = status;
    return TAUT_RETRY;
}

int taut_control_step(taut_solver *solver, double target, taut_error *error)
{
    taut_control *c = &solver->control;
    taut_stepper *s = &solver->stepper;
    double way = target < s->now.t ? -1 : 1;
    int failures = 0, failure = 0;
    if (c->h == 0)
        TAUT_TRY(first_step(solver, target, error));
    for (;;) {
        double t = s->now.t, left = fabs(target - t), size = fmin(c->h, c->most);
        bool last = size * 1.01 >= left;
        double h = way * (last ? left : size);
        if ((!last && !(size > smallest(t))) || failures > MOST_FAILURES)
            return fail_small(solver, failure, error);
        taut_error_clear(error);
        int status = try_step(solver, h, last ? target : t + h, &failure, error);
        if (status < 0)
            return status;
        if (status == 0) {
            solver->step = fabs(h);
            if (last)
                c->h = fmax(
                    c->h,
                    size); /* a shortened step is no reason against the size that was planned */
            return TAUT_OK;
        }
        failures = failure < 0 ? failures + 1 : failure > 0 ? failures : 0;
        if (failure != 0) {
            c->failure = failure;
            c->failed = t + h;
            if (error)
                c->reason = *error;
        }
    }
}
