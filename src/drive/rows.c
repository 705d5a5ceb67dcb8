/* rows.c - rows for the sinks, and the guard against results that are not worth writing. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"

/* Steps between two looks at the drift where no rows need it. */
enum { BETWEEN_DRIFTS = 8 };

static double nothing_block(void *context, int64_t begin, int64_t end)
{
    const double *x = context;
    double sum = 0; /* x - x is 0 for finite x only */
    for (int64_t i = begin; i < end; i++)
        sum += x[i] - x[i];
    return sum;
}

static bool finite_state(const taut_solver *solver, const taut_state *state)
{
    const taut_stepper *s = &solver->stepper;
    taut_index velocities = s->first_order ? s->m : s->n;
    return taut_pool_sum(s->pool, s->n, nothing_block, state->q) == 0 &&
           taut_pool_sum(s->pool, velocities, nothing_block, taut_state_v(state)) == 0;
}

static int fail_diverged(const taut_solver *solver, double t, double energy, taut_error *error)
{
    int code;
    if (solver->control.on)
        code = taut_fail(error, TAUT_ERROR_STEP,
                         "the solution diverged at t = %.9g (the energy grew from %.6g to %.6g)", t,
                         solver->energy_base, energy);
    else
        code = taut_fail(error, TAUT_ERROR_STEP,
                         "the energy grew from %.6g to %.6g at t = %.9g: step %g is unstable for "
                         "this motion; use a smaller one",
                         solver->energy_base, energy, t, solver->step);
    if (error)
        error->t = t;
    return code;
}

/* The energy of the vibrating state at the end of the latest step: the projected one is without
 * that of the vibration. */
static int find_whole(taut_solver *solver, double *energy, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_state whole;
    taut_values values = {0};
    if (!s->method->vibrating)
        return TAUT_OK;
    s->method->vibrating(s, &whole);
    TAUT_TRY(
        taut_unevaluated(taut_ledger_energies(solver, &whole, &values, error), whole.t, error));
    *energy = values.kinetic + values.potential + values.bond_energy + values.stiff_energy;
    solver->energy_first = isnan(solver->energy_first) ? *energy : solver->energy_first;
    solver->energy_last = *energy;
    return TAUT_OK;
}

/* Diverged, with a fixed step size: the energy error is 1000 times the initial energy, and a good
 * part of the largest kinetic energy so far. An adaptive step size needs no such guard: an estimate
 * that diverges is rejected. */
int taut_rows_guard(taut_solver *solver, const taut_state *state, double *energy, taut_error *error)
{
    const double odd = !finite_state(solver, state);
    if (taut_space_largest(taut_run_space(solver), odd) > 0)
        return fail_diverged(solver, state->t, INFINITY, error);
    *energy = NAN;
    if (solver->averaged)
        return find_whole(solver, energy, error);
    if (solver->stepper.first_order)
        return TAUT_OK;
    if (isnan(solver->energy_base))
        TAUT_TRY(taut_unevaluated(taut_ledger_begin(solver, state, error), state->t, error));
    taut_values values = {0};
    TAUT_TRY(
        taut_unevaluated(taut_ledger_energies(solver, state, &values, error), state->t, error));
    *energy = values.kinetic + values.potential + values.bond_energy + values.stiff_energy;
    TAUT_TRY(taut_unevaluated(taut_work_sample(solver, state, values.potential, false, error),
                              state->t, error));
    solver->energy_last = *energy;
    solver->kinetic_most = fmax(solver->kinetic_most, values.kinetic);
    double off = fabs(*energy - solver->energy_base);
    if (solver->conserves && !solver->control.on && off > 1e3 * solver->energy_scale &&
        off > 0.1 * solver->kinetic_most)
        return fail_diverged(solver, state->t, *energy, error);
    return TAUT_OK;
}

int taut_sink_status(int status, const char *call, taut_error *error)
{
    if (status <= 0)
        return status;
    return taut_fail(
        error, TAUT_ERROR_USAGE,
        "a sink returned %d from %s: 0 continues the run, a negative code ends it with "
        "an error",
        status, call);
}

int taut_state_forces(taut_solver *solver, const taut_state *state, const double **forces,
                      taut_error *error)
{
    TAUT_TRY(taut_redundant_lambda(solver, state, forces, error));
    if (!solver->forces)
        return TAUT_OK;
    taut_context_tensions(solver->context, state->t, *forces, solver->forces);
    *forces = solver->forces;
    return TAUT_OK;
}

int taut_rows_give(const taut_solver *solver, const taut_row *row, taut_error *error)
{
    const taut_rows *rows = &solver->rows;
    int status = TAUT_OK;
    for (int k = 0; k < rows->sinks && status == 0; k++)
        status = taut_sink_status(rows->sink[k].row(rows->sink[k].user, row, error), "row", error);
    return status;
}

int taut_rows_write(taut_solver *solver, double t, const taut_state *state, taut_error *error)
{
    const taut_rows *rows = &solver->rows;
    if (state == &solver->stepper.now)
        TAUT_TRY(taut_complete(solver, error));
    TAUT_TRY(taut_refine(solver, state, &state, error));
    taut_row row = {.t = t, .q = state->q, .v = taut_state_v(state), .outputs = solver->outputs};
    row.event = rows->event;
    TAUT_TRY(taut_state_forces(solver, state, &row.lambda, error));
    TAUT_TRY(taut_rows_guard(solver, state, &row.energy, error));
    /* the drift is that of the step which the row belongs to: what interpolation adds between is
     * no drift */
    TAUT_TRY(taut_drift_measure(solver, &solver->stepper.now, error));
    row.drift_position = solver->drift.position;
    row.drift_velocity = solver->drift.velocity;
    if (solver->sizes.outputs > 0)
        TAUT_TRY(taut_evaluate_outputs(solver->context, t, state->q, row.v, row.lambda,
                                       solver->outputs, error));
    if (rows->sinks > 0)
        TAUT_TRY(taut_run_space(solver) ? taut_whole_row(solver, &row, error)
                                        : taut_rows_give(solver, &row, error));
    solver->rows.written = t;
    return TAUT_OK;
}

/* A row of the latest step, at time `due`. */
static int row_inside(taut_solver *solver, double due, double tiny, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    if (fabs(due - now->t) <= tiny)
        return taut_rows_write(solver, now->t == solver->until ? now->t : due, now,
                               error); /* 0.3 - 3 * 0.1 is not 0 */
    double begin = solver->stepper.last.t, theta = (due - begin) / (now->t - begin);
    TAUT_TRY(taut_dense(solver, theta < 0 ? 0 : theta, error));
    return taut_rows_write(solver, due, &solver->probe, error);
}

static double rounding(const taut_solver *solver)
{
    return 8 * DBL_EPSILON * taut_above(fabs(solver->stepper.last.t), fabs(solver->stepper.now.t));
}

/* Rows that are due up to time t, in direction `way`. */
static double rows_past(const taut_solver *solver, double t, double way, double tiny)
{
    const taut_rows *rows = &solver->rows;
    int64_t past = rows->next;
    if (!rows->times)
        return floor((way * (t - solver->from) + tiny) / rows->every) + 1;
    while (past < rows->count && way * (rows->times[past] - t) <= tiny)
        past++;
    return (double)past;
}

int taut_rows_refuse(const taut_solver *solver, double count, const char *where, taut_error *error)
{
    return taut_fail_option(error, TAUT_ERROR_USAGE, "every",
                            "a row every %g gives %.2g rows%s, and at most %.0g are written; give "
                            "a longer time, or `step` for a row of each step",
                            solver->rows.every, count, where, TAUT_MOST_ROWS);
}

int taut_rows_due(taut_solver *solver, double t, taut_error *error)
{
    taut_rows *rows = &solver->rows;
    const taut_state *now = &solver->stepper.now;
    double way = now->t < solver->stepper.last.t ? -1 : 1, tiny = rounding(solver);
    bool each_step = rows->every == 0;
    /* only the drift is measured: the result has the largest */
    if (rows->sinks == 0 && solver->control.on && solver->statistics.steps % BETWEEN_DRIFTS != 0)
        return TAUT_OK;
    if (!each_step && !rows->times && /* most steps: no division */
        way * (t - solver->from) + tiny < (1 - 1e-12) * rows->every * (double)rows->next)
        return TAUT_OK;
    double count = each_step ? 0 : rows_past(solver, t, way, tiny);
    int64_t past = (int64_t)taut_below(count, 9e18);
    if (each_step ? t != now->t : past <= rows->next)
        return TAUT_OK;
    if (rows->sinks == 0) {
        rows->next = past;
        return taut_drift_measure(solver, now, error);
    }
    if (each_step)
        return row_inside(solver, t, tiny, error);
    if (count - (double)rows->next > TAUT_MOST_ROWS) /* a run without an end time */
        return taut_rows_refuse(solver, count - (double)rows->next, " in one step", error);
    if (rows->few && !rows->times)
        rows->next = past - 1;
    for (; rows->next < past; rows->next++) {
        double due = rows->times ? rows->times[rows->next]
                                 : solver->from + way * ((double)rows->next * rows->every);
        if (fabs(due - rows->written) <= tiny)
            continue; /* the row of an event */
        TAUT_TRY(row_inside(solver, due, tiny, error));
        /* at the end of a step the loop reports */
        if (fabs(due - t) > tiny && !taut_report(solver, due)) {
            rows->next = past; /* those that are not written now cannot be interpolated later */
            solver->saving.cut = true;
            break;
        }
    }
    return TAUT_OK;
}

int taut_rows_event(taut_solver *solver, taut_index k, double theta, taut_error *error)
{
    double begin = solver->stepper.last.t, h = solver->stepper.now.t - begin,
           before = begin + theta * h - copysign(2 * rounding(solver), h);
    TAUT_TRY(taut_rows_due(solver, before, error));
    /* also when interrupted: the run ends behind the event otherwise */
    TAUT_TRY(taut_dense(solver, theta, error));
    const taut_state *x = &solver->probe;
    if (solver->rows.written == x->t)
        return TAUT_OK;
    solver->rows.event = k + 1;
    int status = taut_rows_write(solver, x->t, x, error);
    solver->rows.event = 0;
    return status;
}

int taut_solver_times(taut_solver *solver, const double *times, int64_t count, taut_error *error)
{
    TAUT_REQUIRE(solver && times && count > 0);
    taut_rows *rows = &solver->rows;
    double way = solver->until < solver->from ? -1 : 1, *copy;
    for (int64_t i = 0; i < count; i++)
        if (!(way * (times[i] - (i ? times[i - 1] : solver->from)) >= 0) ||
            way * (times[i] - solver->until) > 0)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "time %lld of the rows, %.9g, is not between the time before it and "
                             "the end time %.17g",
                             (long long)i + 1, times[i], solver->until);
    TAUT_TRY(TAUT_RESERVE(&solver->arena, count + 1, error, &copy));
    copy[0] = solver->from; /* the first row is that of the initial state */
    taut_copy(count, times, copy + 1);
    rows->times = copy;
    rows->count = count + 1;
    rows->few = false;
    if (rows->every == 0) /* a row for each step */
        rows->every = fabs(solver->until - solver->from);
    return TAUT_OK;
}
