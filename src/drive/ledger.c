/* ledger.c - the energy balance of a run: E = T + U + springs + stiff potential.
 *
 * Where nothing but potentials, springs and rigid bonds acts, E is constant; with damped bonds it
 * can only decrease. Steps of adaptive size are compared: an error dq, dv, dlambda that the
 * tolerance allows changes E by
 *
 *     |dE| = |grad U dq + v^T M dv + lambda^T C dlambda|
 *         <= tol (|grad U| |q| + 2 T + 2 springs),    tol = rtol + atol/|q|
 *
 * for errors relative to the sizes of q, v and lambda. A step whose |dE| is above MARGIN times
 * that (energies of its larger end, and rounding) is rejected; where no smaller step helps, the
 * run ends with this reason. Over many steps less than MARGIN may accumulate, as from a step size
 * at the limit of stability, or be left behind by a close encounter, where T was large: a run ends
 * when the drift is a good part of the kinetic energy, its mean over time or that of now. Decrease
 * has a wider limit, since implicit methods damp oscillations.
 *
 * The force for |grad U| is evaluated only where the rest does not suffice: usually a step costs
 * one evaluation of the energy.
 *
 * In good runs of the shipped models |dE| is up to 15 times tol times these energies (radau3 7,
 * others below 3 in most), in those that go wrong between 30 and 1000 times. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>

#include "base/loops.h"
#include "system/fused.h"
#include "system/rank_part.h"

static const double MARGIN = 30;
static const double MOST = 0.3;                /* of the energies, at tolerances near 1 */
static const double DRIFT = 0.3, DAMPED = 0.9; /* over many steps, of the mean kinetic energy */
static const double FAR = 10; /* times what a step may change: fails where none can be undone */
static const double ROUNDING = 64 * DBL_EPSILON;

/* In slow motion springs hold c lambda^2/2: their g is known to the tolerance only, and g^2/2c
 * would be its error times the stiffness. */
static double spring_energy(const taut_solver *solver, const taut_state *state)
{
    const double *compliance = taut_context_compliance(solver->context),
                 *damping = taut_context_damping(solver->context);
    const taut_part *part = solver->model->part;
    double sum = 0;
    for (taut_index i = 0; i < solver->stepper.m; i++)
        if (!(damping[i] > 0) && !(part && part->ghost_bond[i]))
            sum += compliance[i] * state->lambda[i] * state->lambda[i] / 2;
    return taut_space_sum(taut_run_space(solver), sum);
}

const double *taut_ledger_tape(taut_solver *solver, double t, const double *q, const double *v)
{
    taut_ledger *l = &solver->ledger;
    bool known = l->fused && l->fused->context == solver->context &&
                 taut_fused_run(l->fused, t, q, v, l->tape, NULL, NULL);
    return known ? l->tape : NULL;
}

int taut_ledger_energies(taut_solver *solver, const taut_state *state, taut_values *values,
                         taut_error *error)
{
    const double *e = taut_ledger_tape(solver, state->t, state->q, state->v);
    if (e) {
        values->kinetic = e[TAUT_FUSED_KINETIC];
        values->potential = e[TAUT_FUSED_POTENTIAL];
        values->bond_energy = e[TAUT_FUSED_SPRINGS];
        values->stiff_energy = e[TAUT_FUSED_STIFF];
    } else {
        taut_space *space = taut_run_space(solver);
        int status = taut_evaluate_inside(solver->context, state->t, state->q, state->v,
                                          TAUT_WANT_ENERGY, values, error);
        TAUT_TRY(taut_space_agree(space, status, error));
        values->kinetic = taut_space_sum(space, values->kinetic);
        values->potential = taut_space_sum(space, values->potential);
        values->bond_energy = taut_space_sum(space, values->bond_energy);
    }
    if (solver->motion != TAUT_MOTION_SLOW)
        return TAUT_OK;
    values->bond_energy = spring_energy(solver, state);
    /* so has a stiff potential between steps: its energy is that of the latest end of a step */
    if (state->t == solver->stepper.now.t || state->t == solver->stepper.last.t)
        solver->ledger.stiff = values->stiff_energy;
    else
        values->stiff_energy = solver->ledger.stiff;
    return TAUT_OK;
}

static double total(const taut_values *e)
{
    return e->kinetic + e->potential + e->bond_energy + e->stiff_energy;
}

static double held(const taut_values *e)
{
    return e->kinetic + e->bond_energy + fabs(e->stiff_energy);
}

static void note(taut_ledger *l, double t, const taut_values *e)
{
    l->t = t;
    l->energy = total(e);
    l->held = held(e);
    l->kinetic = e->kinetic;
    l->springs = e->bond_energy;
}

static double sum_sizes(void *context, int64_t begin, int64_t end)
{
    const double *x = *(const double *const *)context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += fabs(x[i]);
    return sum;
}

double taut_work_scale(const taut_halo *halo, taut_index n, const double *force, const double *q)
{
    const double sum = taut_halo_sum(halo, NULL, n, sum_sizes, &force);
    return sum * taut_space_largest(halo ? halo->space : NULL, taut_largest(n, q));
}

/* |grad U| |q|. error_q is scratch: nothing reads it after a step was accepted. */
int taut_ledger_work_scale(taut_solver *solver, const taut_state *state, double *scale,
                           taut_error *error)
{
    taut_values values = {.force = solver->stepper.error_q};
    taut_error reason;
    int status = taut_evaluate_inside(solver->context, state->t, state->q, state->v,
                                      TAUT_WANT_FORCE, &values, &reason);
    status = taut_space_agree(taut_run_space(solver), status, &reason);
    *scale = status == 0
                 ? taut_work_scale(taut_run_halo(solver), solver->stepper.n, values.force, state->q)
                 : 0;
    return taut_fail_final(status, &reason, error); /* it is a measure, not a result */
}

/* A kinetic energy is conserved together with U when it is quadratic in v, v^T dT/dv = 2 T; terms
 * of lower degree, of moving frames, make another sum constant. Tried with some v near the initial
 * state, where a factor of such a term may vanish. */
static bool is_quadratic(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    taut_values e = {.momentum = s->error_q};
    double *q = solver->probe.q, *v = solver->probe.v, product = 0;
    taut_error ignored;
    for (taut_index i = 0; i < s->n; i++) {
        v[i] = 1 + 0.37 * (double)(i % 7);
        q[i] = s->now.q[i] + 1e-3 * v[i] * (1 + fabs(s->now.q[i]));
    }
    if (taut_evaluate_inside(solver->context, s->now.t, q, v, TAUT_WANT_ENERGY | TAUT_WANT_MOMENTUM,
                             &e, &ignored) != 0)
        return false;
    for (taut_index i = 0; i < s->n; i++)
        product += v[i] * e.momentum[i];
    return fabs(product - 2 * e.kinetic) <= 1e-12 * (fabs(product) + fabs(e.kinetic));
}

/* Of small systems the energies are one tape. */
static int open_tape(taut_solver *solver, taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    const double *compliance = taut_context_compliance(solver->context);
    taut_index rods = 0, *rod;
    if (solver->sizes.bonds > TAUT_FUSED_BONDS)
        return TAUT_OK;
    rod = TAUT_NEW(&solver->arena, taut_index, solver->sizes.bonds);
    TAUT_NEED(error, rod);
    for (taut_index i = 0; i < solver->sizes.bonds; i++)
        if (!(compliance[i] > 0))
            rod[rods++] = i;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, TAUT_FUSED_ENERGIES, error, &l->tape));
    return taut_fused_open(solver->context, TAUT_FUSED_ENERGY, 0, rods, rod, &solver->arena,
                           &l->fused, error);
}

int taut_ledger_create(taut_solver *solver, taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    unsigned can = solver->sizes.can,
             drives = TAUT_HAS_FORCES | TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS;
    bool damped = can & TAUT_HAS_DAMPING, slow = solver->motion == TAUT_MOTION_SLOW;
    l->t = NAN;
    l->known = !solver->stepper.first_order && !solver->averaged;
    if (l->known && can & TAUT_HAS_KINETIC)
        l->known = is_quadratic(solver);
    else if (can & TAUT_HAS_VARYING_MASS)
        l->known = false; /* [mass] has no inertial forces */
    solver->conserves = l->known && !(can & drives) && !damped;
    /* in slow motion the energy of damped springs is not known */
    l->falls = l->known && !(can & drives) && damped && !slow;
    l->on = solver->control.on && (solver->conserves || l->falls) && !taut_run_space(solver);
    if (l->known)
        TAUT_TRY(open_tape(solver, error));
    TAUT_TRY(taut_step_work_create(solver, error));
    return taut_work_create(solver, error);
}

int taut_ledger_total(taut_solver *solver, const taut_state *state, double *sum, taut_error *error)
{
    taut_values e = {0};
    *sum = 0;
    if (!solver->ledger.on)
        return TAUT_OK;
    TAUT_TRY(taut_ledger_energies(solver, state, &e, error));
    *sum = total(&e);
    return TAUT_OK;
}

int taut_ledger_begin(taut_solver *solver, const taut_state *state, taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    taut_values e = {0};
    double work;
    if (solver->stepper.first_order || solver->averaged)
        return TAUT_OK;
    TAUT_TRY(taut_ledger_energies(solver, state, &e, error));
    TAUT_TRY(taut_ledger_work_scale(solver, state, &work, error));
    note(l, state->t, &e);
    taut_step_work_begin(solver);
    solver->energy_base = l->energy;
    l->passed = l->integral = 0;
    if (isnan(solver->energy_first))
        solver->energy_first = l->energy;
    else
        l->jumps += l->energy - solver->energy_last;
    solver->energy_last = l->energy;
    solver->kinetic_most = e.kinetic;
    solver->energy_scale = held(&e) + fabs(e.potential) + work;
    return taut_work_sample(solver, state, e.potential, true, error);
}

/* The latest step breaks the balance: a reason, in case that no smaller one does better. */
static int reject(taut_solver *solver, double energy, double allowed, taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    l->rejected++;
    taut_fail(
        error, TAUT_ERROR_STEP,
        "the energy, which %s, would go from %.9g to %.9g where the tolerance allows a change "
        "of %.2g, as at a singularity or where the state leaves the domain of the model",
        l->falls ? "damping can only decrease" : "is constant in this motion", l->energy, energy,
        allowed);
    return TAUT_RETRY;
}

static int fail_drift(taut_solver *solver, double from, double to, double limit, taut_error *error)
{
    double t = solver->stepper.now.t;
    solver->energy_last = to;
    int code =
        taut_fail(error, TAUT_ERROR_STEP,
                  "the energy drifted from %.6g to %.6g by t = %.9g, although it %s (limit "
                  "%.2g): the errors of several steps add up; use a smaller rtol or another "
                  "method",
                  from, to, t,
                  solver->ledger.falls ? "can only decrease" : "is constant in this motion", limit);
    if (error)
        error->t = t;
    return code;
}

/* What errors within the tolerance may change in one step: with the work of forces at both of its
 * ends when the energies alone do not explain `off`. */
static int allow(taut_solver *solver, const taut_values *e, double share, double off,
                 double *allowed, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    double floor = ROUNDING * (held(e) + fabs(e->potential) + solver->energy_scale), work[2];
    *allowed = share * fmax(held(e), solver->ledger.held) + floor;
    if (off <= *allowed)
        return TAUT_OK;
    TAUT_TRY(taut_ledger_work_scale(solver, &s->last, &work[0], error));
    TAUT_TRY(taut_ledger_work_scale(solver, &s->now, &work[1], error));
    *allowed += share * fmax(work[0], work[1]);
    return TAUT_OK;
}

static double share(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    double size = taut_loop_largest(s->pool, s->n, s->now.q),
           tolerance = s->rtol * (1 + taut_slow_level_defect(solver));
    return taut_below(MOST, MARGIN * (tolerance + (size > 0 ? s->atol / size : 1)));
}

/* *off: the change since the latest comparison that nothing explains; *allowed: what it may be. */
static int compare(taut_solver *solver, const taut_values *e, double *off, double *allowed,
                   taut_error *error)
{
    const taut_ledger *l = &solver->ledger;
    const taut_stepper *s = &solver->stepper;
    double way = s->now.t < s->last.t ? -1 : 1, change = total(e) - l->energy;
    *off = l->falls ? way * change : fabs(change);
    if (solver->motion == TAUT_MOTION_SLOW) /* multipliers of stages may be far less accurate */
        *off = fmin(*off, fabs(change - (e->bond_energy - l->springs)));
    return allow(solver, e, share(solver), *off, allowed, error);
}

static int check_drift(taut_solver *solver, const taut_values *e, taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    const taut_stepper *s = &solver->stepper;
    double way = s->now.t < s->last.t ? -1 : 1, drift = total(e) - solver->energy_base;
    bool grown = way * drift > 0, damps = !grown && !s->method->uses_field;
    double mean = l->integral / fmax(l->passed, DBL_MIN), some = fmin(MOST, FAR * share(solver)),
           limit = (damps ? DAMPED : DRIFT) * fmax(mean, e->kinetic) + some * solver->energy_scale;
    l->beyond = fabs(drift) <= limit || (l->falls && !grown) ? 0 : l->beyond + 1;
    /* an error of q off the slow manifold may oscillate for some steps, and is damped then */
    return l->beyond <= (solver->motion == TAUT_MOTION_SLOW ? 20 : 0)
               ? TAUT_OK
               : fail_drift(solver, solver->energy_base, total(e), limit, error);
}

static int note_last(taut_solver *solver, taut_error *error)
{
    taut_values e = {0};
    TAUT_TRY(taut_ledger_energies(solver, &solver->stepper.last, &e, error));
    note(&solver->ledger, solver->stepper.last.t, &e);
    return TAUT_OK;
}

/* The balance does not hold since the latest comparison. The latest step can still be undone; what
 * those before it did stays, with the drift to judge it unless it is far beyond what is allowed. */
static int blame(taut_solver *solver, const taut_values *e, double off, double allowed,
                 taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    double from = l->energy, before = off - FAR * allowed;
    if (l->t != solver->stepper.last.t) {
        TAUT_TRY(note_last(solver, error));
        TAUT_TRY(compare(solver, e, &off, &allowed, error));
        if (off <= allowed)
            return before <= 0 ? TAUT_OK : fail_drift(solver, from, total(e), allowed, error);
    }
    return reject(solver, total(e), allowed, error);
}

/* By explicit methods some steps may follow uncompared while all is well; steps of implicit ones
 * cost far more than an energy. */
static int calm_steps(const taut_stepper *s, double off, double allowed)
{
    return !s->method->uses_field || off > 0.01 * allowed ? 0 : off > 0.003 * allowed ? 2 : 5;
}

static int check_energy(taut_solver *solver, taut_error *error)
{
    taut_ledger *l = &solver->ledger;
    const taut_stepper *s = &solver->stepper;
    taut_values e = {0};
    double off, allowed;
    if (isnan(l->t))
        TAUT_TRY(note_last(solver, error));
    TAUT_TRY(taut_ledger_energies(solver, &s->now, &e, error));
    TAUT_TRY(compare(solver, &e, &off, &allowed, error));
    l->calm = calm_steps(s, off, allowed);
    l->seen = s->statistics->rejected;
    if (!(off <= allowed))
        TAUT_TRY(blame(solver, &e, off, allowed, error));
    l->passed += fabs(s->now.t - l->t);
    l->integral += fabs(s->now.t - l->t) * (l->kinetic + e.kinetic) / 2;
    note(l, s->now.t, &e);
    return check_drift(solver, &e, error);
}

int taut_ledger_step(taut_solver *solver, taut_error *error)
{
    if (solver->ledger.step.on && taut_step_work_due(solver))
        TAUT_TRY(taut_step_work_check(solver, share(solver), error));
    taut_ledger *l = &solver->ledger;
    if (!l->on)
        return TAUT_OK;
    if (l->calm > 0 && !isnan(l->t) && l->seen == solver->stepper.statistics->rejected) {
        l->calm--;
        return TAUT_OK;
    }
    return check_energy(solver, error);
}

/* Sampled powers are as good as the remainder of the balance is small. Otherwise, where one kind
 * of change is possible only, it is the change of the energy. */
void taut_ledger_result(const taut_solver *solver, taut_result *result)
{
    static const double GOOD = 0.01;
    const taut_ledger *l = &solver->ledger;
    unsigned can = solver->sizes.can;
    double change = solver->energy_last - solver->energy_first - l->jumps, work, lost;
    result->energy_work = result->energy_dissipated = result->energy_balance = NAN;
    if (!l->known)
        return;
    taut_work_get(&l->work, &work, &lost);
    double rest = change - work + lost;
    if (solver->conserves || (l->work.on && fabs(rest) <= GOOD * (fabs(work) + fabs(lost)))) {
        result->energy_work = work;
        result->energy_dissipated = lost;
        result->energy_balance = rest;
    } else if (!(can & TAUT_HAS_DAMPING)) {
        result->energy_work = change;
        result->energy_dissipated = 0;
    } else if (l->falls) {
        result->energy_work = 0;
        result->energy_dissipated = -change;
    }
}
