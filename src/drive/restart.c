/* restart.c - a run continues from a state that the caller gives: a kick, a correction, another
 * time. The state is moved onto the rigid bonds as one that an event altered, in slow motion to its
 * slow point as the initial state is; statistics and the largest drift go on, events and rows begin
 * again. */
#include "drive/solver.h"

#include <math.h>

#include "base/vectors.h"

static int check_finite(const char *name, const double *x, taut_index count, taut_error *error)
{
    for (taut_index i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "taut_solver_restart: %s[%d] is %g, it must be finite", name, (int)i,
                             x[i]);
    return TAUT_OK;
}

/* The first row by time that lies behind t. */
static void count_rows(taut_solver *solver, double t)
{
    double way = solver->until < solver->from ? -1 : 1;
    solver->rows.written = NAN;
    solver->rows.times = NULL;
    if (solver->rows.every > 0)
        solver->rows.next =
            (int64_t)floor(way * (t - solver->from) / solver->rows.every + 1e-9) + 1;
}

int taut_solver_restart(taut_solver *solver, double t, const double *q, const double *v,
                        taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(solver && q && isfinite(t));
    solver = taut_solver_latest(solver);
    const taut_stepper *s = &solver->stepper;
    taut_index velocities = s->first_order ? s->m : s->n;
    TAUT_REQUIRE(v || velocities == 0);
    TAUT_TRY(check_finite("q", q, s->n, error));
    TAUT_TRY(check_finite("v", v, velocities, error));
    taut_state *x = &solver->probe;
    double moved;
    x->t = t;
    taut_copy(s->n, q, x->q);
    taut_copy(velocities, v, taut_state_v(x));
    TAUT_TRY(taut_unevaluated(taut_start_again(solver, true, x, &moved, error), t, error));
    for (taut_index k = 0; k < solver->watch.count; k++)
        solver->watch.met[k] = NAN;
    solver->put_back = fmax(solver->put_back, moved);
    solver->size = NAN; /* growth is measured from here */
    solver->drift.measured = NAN;
    solver->event_met = solver->refined.of_now = false;
    solver->status = TAUT_OK;
    count_rows(solver, t);
    return taut_unevaluated(taut_watch_restart(solver, true, error), t, error);
}
