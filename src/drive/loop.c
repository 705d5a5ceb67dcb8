/* loop.c - the time loop, one for all methods. A fixed step size h (t = t0 + k h, so that rounding
 * does not accumulate), or an adaptive one (control.c); the last step is shortened to end exactly.
 * After each step the stabiliser moves the state, then events and rows follow; steps begin again
 * at an event that altered the state.
 *
 * Inside the loop a status is 0, an error or TAUT_RETRY. What ends a run early without an error
 * (event, interrupt, limit) is solver->outcome; taut_solver_run and taut_solver_advance return it.
 */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "drive/guard_watch.h"
#include "drive/projective.h"

enum { BETWEEN_CALLS = 1024, LARGE_SYSTEM = 2048 };

/* Calls after 1024 steps or rows; where steps are long, after 0.1 s. Short steps of small
 * systems never read the clock. */
bool taut_report(taut_solver *solver, double t)
{
    taut_caller *to = &solver->caller;
    if (!to->call)
        return true;
    bool due = ++to->since >= BETWEEN_CALLS;
    if (!due && (solver->control.on || solver->stepper.n + solver->stepper.m >= LARGE_SYSTEM))
        due = taut_clock() - to->called > 0.1;
    if (!due)
        return true;
    to->since = 0;
    to->called = taut_clock();
    if (to->call(to->user, t, solver->until, solver->statistics.steps) == 0)
        return true;
    solver->outcome = TAUT_INTERRUPTED;
    return false;
}

int taut_fixed_step(taut_solver *solver, double h, double next, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    double t = s->now.t;
    taut_error_clear(error);
    int status = s->method->step(s, h, error);
    if (status > 0) {
        char reason[560] = "; a smaller step size may help";
        if (error && error->message[0])
            snprintf(reason, sizeof reason, ": %.500s%s", error->message,
                     error->code < 0 ? "; a smaller step size may help" : "");
        status = taut_fail(error, error && error->code < 0 ? error->code : TAUT_ERROR_EVALUATE,
                           "the step after t = %.9g failed%s", t, reason);
    }
    if (status == 0) {
        s->now.t = next;
        status = taut_stabilize(solver, error);
    }
    return status;
}

int taut_stabilize(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_projector *by = solver->stabilizer;
    /* implicit methods, to which a run may change, keep the slow manifold themselves */
    if (!by || ((solver->level.field || solver->projective) && !s->method->uses_field))
        return TAUT_OK;
    taut_statistics *count = s->statistics;
    int64_t factorisations = count->factorisations, solves = count->solves;
    int status = by->apply_from ? by->apply_from(by, s->last.t, s->last.q, s->last.v, s->now.q,
                                                 s->now.v, error)
                                : by->apply(by, s->now.t, s->now.q, s->now.v, error);
    count->stabilizer_factorisations += count->factorisations - factorisations;
    count->stabilizer_solves += count->solves - solves;
    if (by->warning && !solver->notice[1][0])
        snprintf(solver->notice[1], sizeof solver->notice[1], "%s", by->warning);
    if (status > 0)
        status = taut_fail(
            error, TAUT_ERROR_EVALUATE,
            "the rigid bonds cannot be evaluated at t = %.9g; a smaller step size may help",
            s->now.t);
    if (s->method->stabilized)
        s->method->stabilized(s);
    else
        s->method->changed(s);
    return status;
}

static taut_plan make_plan(double start, double target, double step)
{
    double length = fabs(target - start) / step;
    double count = ceil(length - 1e-9); /* a remainder of rounding size is no step of its own */
    if (count < 1 && length > 0)
        count = 1;
    return (taut_plan){start, target, target < start ? -step : step, 0, (int64_t)fmin(count, 9e18)};
}

static double next_time(const taut_plan *p)
{
    return p->done + 1 < p->count ? p->start + (double)(p->done + 1) * p->h : p->target;
}

/* The last step may differ from h by rounding only: then it is h. */
static double next_length(const taut_plan *p, double t)
{
    double h = next_time(p) - t;
    return p->done + 1 < p->count || fabs(h - p->h) <= 1e-9 * fabs(p->h) ? p->h : h;
}

/* A step size that was chosen for the run turned out to be too long (outer_step.c). */
static void note_reduced(taut_solver *solver, double t)
{
    const taut_stepper *s = &solver->stepper;
    if (!(s->reduced > 0 && s->reduced_at == t))
        return;
    memset(solver->notice[1], 0, sizeof solver->notice[1]);
    snprintf(solver->notice[1], sizeof solver->notice[1],
             "from t = %.4g on the step size %.4g was reduced to %.4g, since %s", t, solver->step,
             s->reduced,
             s->reduced_by_actions ? "kicks changed the energy of the vibration"
                                   : "the slow forces change faster than at the beginning");
}

static int one_step(taut_solver *solver, taut_plan *p, taut_error *error)
{
    double t = solver->stepper.now.t, h = next_length(p, t);
    double target = taut_projecting_target(solver, p->target);
    int status = solver->control.on ? taut_control_step(solver, target, error)
                                    : taut_fixed_step(solver, h, next_time(p), error);
    if (status == 0)
        note_reduced(solver, t);
    if (status == 0 && !solver->control.on)
        status = taut_growth_guard(solver, h, p->done + 1 >= p->count, error);
    if (status < 0 && error && isnan(error->t))
        error->t = t;
    p->done++;
    return status;
}

/* Steps after which a row may be due for the first time. */
static int64_t before_row(const taut_solver *solver, const taut_plan *p)
{
    const taut_rows *rows = &solver->rows;
    if (rows->sinks == 0) /* the drift alone */
        return INT64_MAX;
    if (rows->every == 0 || rows->times)
        return 0;
    double way = p->h < 0 ? -1 : 1, t = solver->stepper.now.t,
           left = (1 - 1e-12) * rows->every * (double)rows->next - way * (t - solver->from);
    return (int64_t)fmin(fmax(left / fabs(p->h) - 2, 0), 9e18);
}

/* Steps of one length before which nothing looks at the state. They depend on the run alone, so
 * that a resumed one makes the same. */
static int64_t steps_ahead(const taut_solver *solver, const taut_plan *p)
{
    const taut_stepper *s = &solver->stepper;
    const taut_monitor *monitor = &solver->monitor;
    int64_t steps = solver->statistics.steps, ahead = p->count - p->done;
    if (solver->control.on || !s->method->several || (s->method->uses_field && !s->field->steps) ||
        steps < TAUT_BETWEEN_LOOKS || solver->watch.count > 0 || solver->guards.count > 0 ||
        solver->redundant.independent || solver->level.field || solver->kept.on ||
        solver->drift.conserved > 0 || (monitor->on && monitor->spare > 0) ||
        (solver->stabilizer && solver->stabilizer->apply_from) || solver->projective ||
        taut_projecting_inside(solver))
        return 0;
    int64_t limits[] = {TAUT_BETWEEN_LOOKS - steps % TAUT_BETWEEN_LOOKS, before_row(solver, p),
                        solver->step_limit > 0 ? solver->step_limit - steps : INT64_MAX,
                        monitor->on ? monitor->next - steps : INT64_MAX};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        ahead = limits[k] < ahead ? limits[k] : ahead;
    return ahead - 1;
}

/* Makes them: the driver looks at the state after the next one. */
static void step_ahead(taut_solver *solver, taut_plan *p)
{
    taut_stepper *s = &solver->stepper;
    int64_t ahead = steps_ahead(solver, p);
    if (ahead <= 0)
        return;
    int64_t made =
        s->method->several(s, p->start, p->h, p->done, p->done + ahead, solver->stabilizer);
    p->done += made;
    solver->caller.since += made;
}

static bool finished(const taut_solver *solver, const taut_plan *p)
{
    return solver->control.on ? solver->stepper.now.t == p->target : p->done >= p->count;
}

/* Up to `target`, or to what ends the run before: solver->outcome. */
static int march(taut_solver *solver, double target, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_plan *p = &solver->plan;
    if (!solver->midway) {
        *p = make_plan(now->t, target, solver->step);
        TAUT_TRY(taut_watch_begin(solver, error));
        TAUT_TRY(taut_saving_step(solver, true, error));
    }
    while (!finished(solver, p)) {
        if (solver->step_limit > 0 && solver->statistics.steps >= solver->step_limit)
            solver->outcome = TAUT_LIMIT;
        if (solver->outcome != TAUT_OK) {
            TAUT_TRY(taut_saving_step(solver, true, error));
            return taut_monitor_end(solver, error);
        }
        bool restarted = false, again = false;
        step_ahead(solver, p);
        int status = one_step(solver, p, error);
        status = status == 0 ? taut_redundant_step(solver, &again, error)
                             : taut_redundant_rescue(solver, status, &again, error);
        TAUT_TRY(status);
        if (again) {
            p->done--;
            continue;
        }
        TAUT_TRY(taut_singular_step(solver, error));
        TAUT_TRY(taut_start_verify(solver, error));
        TAUT_TRY(taut_watch_step(solver, &restarted, error));
        if (!restarted)
            TAUT_TRY(taut_guard_switch(solver, error));
        if (restarted)
            *p = make_plan(now->t, target, solver->step);
        if (!restarted && solver->control.on)
            TAUT_TRY(taut_switch_step(solver, error));
        TAUT_TRY(taut_slow_level_step(solver, error));
        if (solver->outcome == TAUT_OK)
            TAUT_TRY(taut_projecting_step(solver, error));
        TAUT_TRY(taut_monitor_step(solver, error));
        if (solver->outcome == TAUT_OK)
            taut_report(solver, now->t);
        TAUT_TRY(taut_saving_step(solver, false, error));
    }
    TAUT_TRY(taut_saving_step(solver, true, error));
    TAUT_TRY(taut_monitor_end(solver, error));
    taut_projective_end(solver);
    return solver->outcome == TAUT_OK ? taut_complete(solver, error) : TAUT_OK;
}

int taut_sinks_begin(taut_solver *solver, const taut_sink *sinks, int count, int *begun,
                     taut_error *error)
{
    taut_space *space = taut_run_space(solver);
    int status = count > 0 ? taut_whole_begin(solver, sinks, count, error) : TAUT_OK;
    const taut_system *system = space ? solver->whole.system : solver->model;
    const bool writes = taut_space_rank(space) == 0; /* of several ranks the first one */
    for (*begun = 0; *begun < count && status == 0; *begun += status == 0) {
        const taut_sink *sink = &sinks[*begun];
        if (sink->begin && writes)
            status = taut_sink_status(sink->begin(sink->user, system, error), "begin", error);
    }
    return count > 0 ? taut_space_agree(space, status, error) : status;
}

int taut_sinks_end(const taut_sink *sinks, int begun, int status, taut_error *error)
{
    taut_error later;
    for (int k = 0; k < begun; k++) {
        const taut_sink *sink = &sinks[k];
        taut_error *reason = status == 0 ? error : &later;
        int end = sink->end ? taut_sink_status(sink->end(sink->user, reason), "end", reason) : 0;
        status = status == 0 ? end : status;
    }
    return status;
}

/* The first row; the rows of the march; the state at the end, when it is not a row yet. */
static int march_with_rows(taut_solver *solver, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    if (!solver->midway) {
        TAUT_TRY(taut_rows_write(solver, now->t, now, error));
        if (now->t == solver->from)
            solver->rows.next = 1;
    }
    TAUT_TRY(march(solver, solver->until, error));
    bool written = fabs(solver->rows.written - now->t) <= 8 * DBL_EPSILON * fabs(now->t);
    return written ? TAUT_OK : taut_rows_write(solver, now->t, now, error);
}

static void begin_run(taut_solver *solver, taut_error *error)
{
    taut_error_clear(error);
    solver->saving.cut = false;
    if (solver->midway)
        return;
    solver->outcome = TAUT_OK;
    solver->event_met = solver->refined.of_now = false;
}

int taut_run_once(taut_solver *solver, const taut_sink *sinks, int sink_count,
                  taut_progress progress, void *user, taut_error *error)
{
    begin_run(solver, error);
    solver->caller = (taut_caller){.call = progress, .user = user, .called = taut_clock()};
    solver->rows.sink = sinks;
    int status = taut_sinks_begin(solver, sinks, sink_count, &solver->rows.sinks, error);
    if (status == 0)
        status = march_with_rows(solver, error);
    if (status == 0)
        status = taut_refine_end(solver, error);
    solver->caller = (taut_caller){0};
    status = taut_unevaluated(status, solver->stepper.now.t, error);
    const bool writes = taut_space_rank(taut_run_space(solver)) == 0;
    status = taut_sinks_end(sinks, writes ? solver->rows.sinks : 0, status, error);
    solver->rows.sink = NULL;
    solver->rows.sinks = 0;
    solver->midway = false;
    return solver->status = status == 0 ? solver->outcome : status;
}

int taut_solver_run(taut_solver *solver, const taut_sink *sinks, int sink_count,
                    taut_progress progress, void *user, taut_error *error)
{
    TAUT_REQUIRE(solver && sink_count >= 0 && (sinks || sink_count == 0));
    for (int k = 0; k < sink_count; k++)
        TAUT_REQUIRE(sinks[k].row);
    bool whole = !solver->better && solver->statistics.steps == 0 && isfinite(solver->until) &&
                 !solver->midway;
    /* what a black box costs is not known */
    taut_verify least =
        solver->sizes.kind == TAUT_BLACK_BOX ? TAUT_VERIFY_ALWAYS : TAUT_VERIFY_AUTO;
    bool twice = whole && solver->tolerant && solver->verify >= least;
    int status =
        twice ? taut_verify_run(solver, sinks, sink_count, progress, user, error)
              : taut_run_once(taut_solver_latest(solver), sinks, sink_count, progress, user, error);
    status = taut_slow_level_status(taut_solver_latest(solver), status);
    if (whole && (status == TAUT_OK || status == TAUT_EVENT)) {
        double most = (solver->verify == TAUT_VERIFY_ALWAYS ? 30 : 1) * TAUT_AFFORDABLE;
        int measured = taut_averaging_measure(solver, TAUT_AFFORDABLE, most, error);
        status = measured < 0 ? measured : status;
    }
    return solver->status = taut_monitor_status(solver, status);
}

int taut_solver_watch(taut_solver *solver, taut_progress progress, void *user, taut_error *error)
{
    TAUT_REQUIRE(solver);
    solver->of_advances = (taut_caller){.call = progress, .user = user};
    return TAUT_OK;
}

int taut_solver_advance(taut_solver *solver, double t, taut_error *error)
{
    TAUT_REQUIRE(solver && isfinite(t));
    const taut_caller watch = solver->of_advances;
    solver = taut_solver_latest(solver);
    solver->midway = false;
    begin_run(solver, error);
    solver->caller = watch;
    solver->caller.called = watch.call ? taut_clock() : 0;
    double energy;
    int status = march(solver, t, error);
    if (status == 0)
        status = taut_refine_end(solver, error);
    if (status == 0)
        status = taut_rows_guard(solver, taut_refined_now(solver), &energy, error);
    if (status == 0)
        status = taut_drift_measure(solver, &solver->stepper.now, error);
    solver->caller = (taut_caller){0};
    status = taut_unevaluated(status, solver->stepper.now.t, error);
    return solver->status = status == 0 ? solver->outcome : status;
}
