/* growth.c - a fixed step size has no error estimate, and only a conserved energy would show that
 * it is unstable. So a state that has grown a hundred times is verified: the latest step is
 * repeated in parts. A motion that really grows so is found again; where the growth is that of the
 * step, the parts end elsewhere, since what a method multiplies errors by depends on h. */
#include "drive/solver.h"

#include <math.h>
#include <string.h>

#include "base/loops.h"

static const double LARGE = 100; /* growth since the initial state, or the latest verification */
static const double ELSEWHERE = 0.1; /* of the state */

/* Every step of short runs, the last one, and now and then: the size of the state is not to cost
 * more than the step. */
static bool is_due(const taut_solver *solver, bool last)
{
    int64_t steps = solver->statistics.steps;
    return steps <= TAUT_BETWEEN_LOOKS || last || steps % TAUT_BETWEEN_LOOKS == 0;
}

/* The state where the latest step began becomes the present one. */
static void go_back(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    taut_state_copy(s, &solver->probe, &s->now);
    s->method->changed(s);
}

/* The latest step again, in equal parts; *apart: how far from the whole they end. Parts that
 * fail are infinitely far. */
static int take_parts(taut_solver *solver, int parts, double end, double *apart, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_error reason;
    double begin = solver->probe.t, h = (end - begin) / parts;
    int status = 0;
    go_back(solver);
    for (int k = 1; k <= parts && status == 0; k++)
        status = taut_fixed_step(solver, h, k == parts ? end : begin + k * h, &reason);
    if (status != 0)
        *apart = INFINITY;
    else
        *apart = taut_larger(*apart, taut_largest_difference(s->n, s->now.q, solver->verified));
    return taut_fail_final(status, &reason, error);
}

/* Halves, and thirds, since the factors of halves may agree by chance. Then the whole once more:
 * dense output is that of the latest step. None of these is a step of the run, and none is
 * counted. */
static int verify(taut_solver *solver, double h, double *apart, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_statistics counted = solver->statistics;
    double end = s->now.t;
    taut_state_copy(s, &s->last, &solver->probe);
    taut_copy(s->n, s->now.q, solver->verified);
    *apart = 0;
    TAUT_TRY(take_parts(solver, 2, end, apart, error));
    TAUT_TRY(take_parts(solver, 3, end, apart, error));
    go_back(solver);
    TAUT_TRY(taut_fixed_step(solver, h, end, error));
    solver->statistics = counted;
    return TAUT_OK;
}

int taut_growth_create(taut_solver *solver, taut_error *error)
{
    return TAUT_RESERVE(&solver->arena, solver->stepper.n, error, &solver->verified);
}

int taut_growth_guard(taut_solver *solver, double h, bool last, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    if (!is_due(solver, last))
        return TAUT_OK;
    double size = taut_run_largest(solver, s->n, s->now.q), apart;
    if (isnan(solver->size))
        solver->size = taut_run_largest(solver, s->n, s->last.q);
    double before = solver->size;
    if (before == 0) /* a state may leave zero */
        solver->size = size;
    if (before == 0 || !(size > LARGE * before) || isinf(size))
        return TAUT_OK;
    solver->size = size;
    TAUT_TRY(verify(solver, h, &apart, error));
    apart = taut_space_largest(taut_run_space(solver), apart);
    if (apart <= ELSEWHERE * size)
        return TAUT_OK;
    return taut_fail(
        error, TAUT_ERROR_STEP,
        "the state grew from %.3g to %.3g up to t = %.9g, and shorter steps end %.3g away: step %g "
        "is unstable for this motion; use a smaller one, or a method with adaptive step size",
        before, size, s->now.t, apart, solver->step);
}
