/* control.c - the adaptive step size, for every method with an error estimate.
 *
 * A step is accepted while its norm (norm.c) is e <= 1. The next one is h S e^-alpha e_before^beta
 * with alpha = 1/k - 3 beta/4, k the order of the estimate (PI controller: Gustafsson 1991; Hairer,
 * Wanner, Solving Ordinary Differential Equations II, IV.2), within limits of growth; after a
 * rejection it does not grow. The first step is estimated as in Hairer, Norsett, Wanner, Solving
 * Ordinary Differential Equations I, II.4. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/vectors.h"
#include "drive/guard_watch.h"

static const double SAFETY = 0.9, GROW = 6, SHRINK = 0.2, BETA = 0.1; /* BETA: times 1/k */
static const double AHEAD = 1e6; /* steps from a failure that explains why steps are too small */
enum { MOST_FAILURES = 12 };     /* evaluations that fail one after another, at quartered steps */

int taut_control_create(taut_solver *solver, taut_error *error)
{
    solver->control.trial = taut_stepper_room(&solver->stepper, 3 * taut_apart(solver->stepper.n));
    TAUT_NEED(error, solver->control.trial);
    return taut_norm_create(solver, error);
}

/* ---- the first step */

/* Scaled rms of x, in the scale of q. */
typedef struct scaled_loop {
    const taut_stepper *s;
    const double *x;
} scaled_loop;

static double scaled_block(void *context, int64_t begin, int64_t end)
{
    const scaled_loop *l = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++) {
        double e = l->x[i] / (l->s->atol + l->s->rtol * fabs(l->s->now.q[i]));
        sum += e * e;
    }
    return sum;
}

static double scaled(const taut_solver *solver, const double *x)
{
    const taut_stepper *s = &solver->stepper;
    const taut_halo *halo = taut_run_halo(solver);
    scaled_loop l = {s, x};
    if (halo)
        return sqrt(taut_halo_sum(halo, NULL, s->n, scaled_block, &l) / (double)halo->total);
    return s->n > 0 ? sqrt(scaled_block(&l, 0, s->n) / s->n) : 0;
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
    double d0 = scaled(solver, s->now.q), d1 = scaled(solver, s->first_order ? rate : s->now.v),
           d2 = 0;
    double h0 = d0 < 1e-5 || d1 < 1e-5 ? least : 0.01 * d0 / d1;
    if (s->first_order) {
        h0 = fmin(h0, solver->control.most);
        for (taut_index i = 0; i < n; i++)
            q[i] = s->now.q[i] + way * h0 * rate[i];
        if (s->field->evaluate(s->field, s->now.t + way * h0, q, s->now.v, next, NULL, NULL) != 0)
            return h0; /* the step itself will show whether it is too long */
        for (taut_index i = 0; i < n; i++)
            next[i] = (next[i] - rate[i]) / h0;
        d2 = scaled(solver, next);
    } else {
        d2 = scaled(solver, rate);
        taut_norm_pull(solver, rate);
        if (d0 == 0 && d1 == 0)
            return 100 * least; /* at rest at 0 there is no scale; a rejection corrects it */
        double by_rest = d0 < 1e-5 || d2 < 1e-5 ? least : sqrt(0.01 * d0 / d2);
        h0 = d1 < 1e-5 ? by_rest : d2 < 1e-5 ? h0 : fmin(h0, by_rest);
    }
    double worst = fmax(d1, d2);
    double h1 =
        worst <= 1e-15 ? fmax(least, 1e-3 * h0) : pow(0.01 / worst, 1. / taut_error_order(s));
    return fmin(100 * h0, h1);
}

/* Methods without a field: from the velocity alone; rejected steps correct it. */
static double first_by_velocity(const taut_solver *solver, double least)
{
    const taut_stepper *s = &solver->stepper;
    double d0 = scaled(solver, s->now.q), d1 = s->first_order ? 0 : scaled(solver, s->now.v);
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
    double h = s->field ? first_by_field(solver, way, least, error, &status)
                        : first_by_velocity(solver, least);
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
    return 16 * DBL_EPSILON * taut_above(fabs(t), DBL_MIN / DBL_EPSILON);
}

/* The step is too small: with the reason of the latest failure, when there was one, also where
 * the steps before it were only judged too long: tiny ones have estimates full of rounding, and
 * what lies just ahead explains more. */
static int fail_small(const taut_solver *solver, int status, taut_error *error)
{
    const taut_control *c = &solver->control;
    const taut_stepper *s = &solver->stepper;
    double t = s->now.t;
    if (status == 0 && c->failure != 0 && fabs(c->failed - t) < AHEAD * c->h) {
        status = c->failure;
        if (error)
            *error = c->reason;
    }
    char reason[560] = "", advice[160] = "";
    if (s->m > 0 && s->method->bond_order == 1)
        snprintf(advice, sizeof advice,
                 "; %s has order 1 on bonds, and may need steps so short that rounding is larger "
                 "than the tolerance: choose radau5 or esdirk4",
                 s->method->name);
    if (status != 0 && error && error->message[0])
        snprintf(reason, sizeof reason, ": %.500s", error->message);
    if (status > 0 && reason[0] && error->code < 0)
        status = error->code;
    if (status < 0)
        taut_fail(error, status, "no step succeeded at t = %.9g, down to h = %.3g%s%s", t,
                  solver->control.h, reason, advice);
    else if (status > 0)
        status = taut_fail(error, TAUT_ERROR_EVALUATE,
                           "the system cannot be evaluated after t = %.9g, with steps down to %.3g",
                           t, solver->control.h);
    else
        status = taut_fail(error, TAUT_ERROR_STEP,
                           "the step became too small (%.3g) at t = %.9g: the error stays above "
                           "the tolerance, as at a kink or a singularity; a larger rtol or "
                           "atol, a smooth model or an event there may help%s",
                           solver->control.h, t, advice);
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
    taut_stepper_turn(s);
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
    taut_stepper *s = &solver->stepper;
    double k = taut_error_order(s), beta = BETA / k;
    if (!(e <= 1)) {
        double factor = s->method->propose ? s->method->propose(s, e)
                        : isfinite(e)      ? fmax(SHRINK, SAFETY * pow(e, -1 / k))
                                           : SHRINK;
        c->h = fabs(h) * factor;
        c->held = true;
        return false;
    }
    double before = c->before > 0 ? taut_above(c->before, 1e-4) : 1;
    /* e^-alpha before^beta */
    double factor = SAFETY * pow(taut_above(e, 1e-30), 0.75 * beta - 1 / k) * pow(before, beta);
    factor = taut_below(c->held ? 1 : GROW, taut_above(SHRINK, factor));
    c->h = fabs(h) * factor;
    c->before = e;
    c->held = false;
    c->largest = taut_above(c->largest, e);
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
    const double was_h = c->h, was_before = c->before, was_largest = c->largest;
    const bool was_held = c->held;
    int status = s->method->step(s, h, error);
    bool taken = status == 0;
    if (taken) {
        s->now.t = next;
        if (!judge(solver, h, taut_norm_step(solver, h))) {
            undo(s);
            *failure = 0;
            return TAUT_RETRY;
        }
        status = taut_stabilize(solver, error);
        if (status == 0 && s->method->uses_field)
            status = taut_complete(solver, error);
        if (status == 0 && (status = taut_guard_step(solver, h, error)) > 0) {
            undo(s);
            c->h = was_h;
            c->before = was_before;
            c->largest = was_largest;
            c->held = was_held;
            *failure = 0;
            return TAUT_RETRY;
        }
        if (status == 0)
            status = taut_ledger_step(solver, error);
    }
    if (status == 0 && s->method->propose) /* once the step is complete */
        c->h = fabs(h) * fmin(was_held ? 1 : GROW, s->method->propose(s, c->before));
    if (status == 0) {
        taut_norm_accept(solver, h);
        taut_guard_accept(solver);
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
    if (c->h == 0) {
        taut_norm_begin(solver);
        TAUT_TRY(first_step(solver, target, error));
    }
    for (;;) {
        double t = s->now.t, goal, planned = taut_below(c->h, c->most),
               size = taut_below(planned, taut_pulses_limit(solver, t)), wanted = size;
        TAUT_TRY(taut_guard_goal(solver, target, &size, &goal, error));
        double left = fabs(goal - t);
        if (size != wanted)
            size = fmax(size, 2 * smallest(t));
        bool last = size * 1.01 >= left;
        double h = way * (last ? left : size);
        if ((!last && !(size > smallest(t))) || failures > MOST_FAILURES) {
            if (failure == 0 || !taut_guard_pass(solver, size, way))
                return fail_small(solver, failure, error);
            failures = failure = 0;
            c->h = fmax(size, 64 * smallest(s->now.t));
            continue;
        }
        taut_error_clear(error);
        int status = try_step(solver, h, last ? goal : t + h, &failure, error);
        if (status < 0)
            return status;
        if (status == 0) {
            solver->step = fabs(h);
            if (last || size < planned)
                /* a shortened step is no reason against the size that was planned */
                c->h = fmax(c->h, planned);
            return TAUT_OK;
        }
        failures = failure < 0 ? failures + 1 : failure > 0 ? failures : 0;
        if (failure != 0) {
            c->failure = failure;
            c->failed = t + h;
            if (error) /* a cleared one may have old text behind its ends */
                c->reason = error->code != 0 ? *error : (taut_error){.t = NAN};
        }
    }
}
