/* drift.c - how far a state is from what should hold exactly: |g| and |gdot| of rigid bonds; of
 * first-order systems the constraints; the invariants against their initial values.
 * Measured where rows are written, at the end of the step, and not counted as work. */
#include "base/rows.h"
#include "base/vectors.h"
#include "drive/solver.h"

#include <math.h>

#include "system/conserved.h"
#include "system/fused.h"

static void find_watched(taut_solver *solver)
{
    taut_drift *d = &solver->drift;
    const taut_sizes *z = &solver->sizes;
    const double *compliance = taut_context_compliance(solver->context);
    bool mechanical = z->kind == TAUT_MECHANICAL;
    for (taut_index i = 0; i < z->bonds; i++) {
        d->watched[i] = mechanical ? compliance[i] == 0 : i < z->constraints + z->invariants;
        d->rows += d->watched[i];
    }
    /* ranks measure together */
    d->rows = (taut_index)taut_space_largest(taut_run_space(solver), d->rows);
}

/* Of small systems g and gdot are one tape. */
static int open_tape(taut_solver *solver, taut_error *error)
{
    taut_drift *d = &solver->drift;
    if (solver->sizes.kind != TAUT_MECHANICAL || solver->sizes.bonds > TAUT_FUSED_BONDS)
        return TAUT_OK;
    d->rod = TAUT_NEW(&solver->arena, taut_index, d->rows);
    TAUT_NEED(error, d->rod);
    for (taut_index i = 0, r = 0; i < solver->sizes.bonds; i++)
        if (d->watched[i])
            d->rod[r++] = i;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, 2 * (int64_t)d->rows, error, &d->tape));
    return taut_fused_open(solver->context, TAUT_FUSED_DRIFT, 0, d->rows, d->rod, &solver->arena,
                           &d->fused, error);
}

int64_t taut_drift_room(const taut_sizes *sizes)
{
    return 2 * taut_apart(sizes->bonds) + sizes->jacobian_entries;
}

int taut_drift_create(taut_solver *solver, taut_error *error)
{
    taut_drift *d = &solver->drift;
    taut_arena *arena = &solver->arena;
    taut_index m = solver->sizes.bonds;
    d->measured = NAN;
    d->watched = TAUT_NEW(arena, unsigned char, m);
    TAUT_NEED(error, d->watched);
    find_watched(solver);
    taut_pattern ignored;
    d->conserved = taut_conserved_rows(solver->moving, &ignored);
    TAUT_TRY(TAUT_RESERVE(arena, d->conserved, error, &d->kept, &d->invariant));
    if (d->rows == 0)
        return taut_drift_begin(solver, error);
    TAUT_TRY(TAUT_RESERVE(arena, m, error, &d->first));
    d->values.bond = taut_stepper_room(&solver->stepper, taut_drift_room(&solver->sizes));
    TAUT_NEED(error, d->values.bond);
    d->values.bond_dt = d->values.bond + taut_apart(m);
    d->values.jacobian = d->values.bond_dt + taut_apart(m);
    TAUT_TRY(taut_system_pattern(solver->moving, TAUT_PATTERN_JACOBIAN, &d->jacobian, error));
    TAUT_TRY(open_tape(solver, error));
    return taut_drift_begin(solver, error);
}

int taut_drift_begin(taut_solver *solver, taut_error *error)
{
    taut_drift *d = &solver->drift;
    const taut_state *now = &solver->stepper.now;
    if (d->conserved > 0) {
        d->measured = NAN;
        return taut_conserved_evaluate(solver->context, now->t, now->q, now->v, d->kept, NULL, NULL,
                                       error);
    }
    if (d->rows == 0 || solver->sizes.invariants == 0)
        return TAUT_OK;
    TAUT_TRY(taut_evaluate_inside(solver->context, now->t, now->q, taut_state_v(now),
                                  TAUT_WANT_BOND, &d->values, error));
    for (taut_index i = solver->sizes.constraints;
         i < solver->sizes.constraints + solver->sizes.invariants; i++)
        d->first[i] = d->values.bond[i];
    d->measured = NAN;
    return TAUT_OK;
}

/* |g - g0| and |gdot| of the bonds begin .. end-1, the largest: NaN is left to what reports it. */
static double position_block(void *context, int64_t begin, int64_t end)
{
    const taut_drift *d = context;
    double most = 0;
    for (int64_t i = begin; i < end; i++)
        if (d->watched[i])
            most = fmax(most, fabs(d->values.bond[i] - d->first[i]));
    return most;
}

typedef struct rates {
    const taut_drift *drift;
    const double *v;
} rates;

static double velocity_block(void *context, int64_t begin, int64_t end)
{
    const rates *r = context;
    const taut_drift *d = r->drift;
    double most = 0;
    for (taut_index i = (taut_index)begin; i < end; i++)
        if (d->watched[i])
            most = fmax(most, fabs(d->values.bond_dt[i] +
                                   taut_row_dot(&d->jacobian, d->values.jacobian, i, r->v)));
    return most;
}

/* Rigid bonds, constraints and invariants that are rows of g. */
static int measure_rows(taut_solver *solver, const taut_state *state, taut_error *error)
{
    taut_drift *d = &solver->drift;
    bool mechanical = solver->sizes.kind == TAUT_MECHANICAL;
    unsigned wanted = TAUT_WANT_BOND | (mechanical ? TAUT_WANT_JACOBIAN : 0);
    if (d->fused && d->fused->context == solver->context &&
        taut_fused_run(d->fused, state->t, state->q, state->v, d->tape, NULL, NULL)) {
        d->position = taut_largest(d->rows, d->tape);
        d->velocity = taut_largest(d->rows, d->tape + d->rows);
        return TAUT_OK;
    }
    int status = taut_evaluate_inside(solver->context, state->t, state->q, taut_state_v(state),
                                      wanted, &d->values, error);
    status = taut_space_agree(taut_run_space(solver), status, error);
    TAUT_TRY(taut_unevaluated(status, state->t, error));
    taut_pool *pool = solver->pool;
    const taut_index bonds = solver->sizes.bonds;
    d->position = taut_pool_largest(pool, bonds, position_block, d);
    if (mechanical)
        d->velocity = taut_pool_largest(pool, bonds, velocity_block, &(rates){d, state->v});
    d->position = taut_space_largest(taut_run_space(solver), d->position);
    d->velocity = taut_space_largest(taut_run_space(solver), d->velocity);
    return TAUT_OK;
}

int taut_drift_measure(taut_solver *solver, const taut_state *state, taut_error *error)
{
    taut_drift *d = &solver->drift;
    if ((d->rows == 0 && d->conserved == 0) || d->measured == state->t)
        return TAUT_OK;
    d->position = d->velocity = 0;
    if (d->rows > 0)
        TAUT_TRY(measure_rows(solver, state, error));
    if (d->conserved > 0)
        TAUT_TRY(taut_conserved_evaluate(solver->context, state->t, state->q, state->v,
                                         d->invariant, NULL, NULL, error));
    for (taut_index i = 0; i < d->conserved; i++)
        d->position = fmax(d->position, fabs(d->invariant[i] - d->kept[i]));
    d->measured = state->t;
    d->most_position = taut_above(d->position, d->most_position); /* without NaN */
    d->most_velocity = taut_above(d->velocity, d->most_velocity);
    return TAUT_OK;
}
