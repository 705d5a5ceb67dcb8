/* refine.c - velocities and multipliers of rows and of the end, as accurate as the positions. An
 * implicit method has the multipliers of its last stage, of order s - 1 [B Theorem 4.1], and
 * velocities that leave the manifold by as much. From its positions, in a copy (the method goes on
 * from its own state),
 *
 *     rigid   G v + g_t = 0, then lambda of the acceleration equation (rigid_multipliers.c);
 *     slow    g = y, G v + g_t = y', y = (1 + T d/dt)^-1 C lambda, with lambda of the multiplier
 *             recursion (multiplier_recursion.c), whose level rises until lambda stops improving.
 *
 * Corrections are orthogonal in the metric of M: the motion along the manifold is the method's.
 * What cannot be refined stays as it is: systems without jets, dependent bonds, slow and fast not
 * separated. Full motion: lambda = C^-1 (g + T gdot) is exact but for the rounding of g. */
#include "base/vectors.h"
#include "drive/solver.h"

#include <float.h>
#include <math.h>

#include "slow/multiplier_recursion.h"

/* Levels that there is room for: jets of large systems are kilobytes a coordinate. */
static int most_levels(const taut_solver *solver)
{
    enum { SMALL = 2000, MOST = 4, LARGE_MOST = 2 };
    int jets = taut_multiplier_recursion_most(solver->context, 0),
        wanted = solver->stepper.n + solver->stepper.m <= SMALL ? MOST : LARGE_MOST;
    return jets < wanted ? jets : wanted;
}

int taut_refine_create(taut_solver *solver, taut_error *error)
{
    const unsigned needs = TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES | TAUT_HAS_SPRINGS;
    taut_stepper *s = &solver->stepper;
    taut_refined *r = &solver->refined;
    unsigned can = solver->sizes.can;
    r->uncertainty = NAN;
    bool raw = taut_options_flag(solver->options, "raw");
    /* runs by the slow field may change to an implicit method */
    if (solver->motion == TAUT_MOTION_RIGID && s->method->on_bonds)
        return TAUT_OK;
    bool explicit_one = s->method->uses_field && !(solver->level.field && solver->own_choice);
    if (raw || s->trial || s->first_order || s->m == 0 || explicit_one)
        return TAUT_OK;
    const taut_recursion_solver with = {.saddle = s->saddle}; /* the method's, if it has one */
    if (solver->motion == TAUT_MOTION_SLOW && (can & needs) == needs &&
        !(can & TAUT_HAS_STIFF_POTENTIAL))
        TAUT_TRY(taut_multiplier_recursion_create(solver->context, s->arena, &r->uncounted,
                                                  most_levels(solver), 0, &with, &r->recursion,
                                                  error));
    bool rigid = solver->motion == TAUT_MOTION_RIGID ||
                 (solver->motion == TAUT_MOTION_SLOW &&
                  !(can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)));
    if (rigid)
        TAUT_TRY(taut_start_need_projector(solver, error));
    r->on = r->recursion || (rigid && solver->onto_rigid);
    return r->on ? taut_state_create(s, &r->state, error) : TAUT_OK;
}

void taut_refine_release(taut_solver *solver)
{
    taut_multiplier_recursion_destroy(solver->refined.recursion);
}

/* ---- rigid */

/* States between steps are on the bonds already (dense.c). */
static int refine_rigid(taut_solver *solver, bool between, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_state *x = &solver->refined.state;
    if (!between)
        TAUT_TRY(solver->onto_rigid->apply(solver->onto_rigid, x->t, x->q, x->v, error));
    TAUT_TRY(s->method->multipliers(s, x->t, x->q, x->v, x->lambda, error));
    solver->refined.uncertainty = 0;
    return TAUT_OK;
}

/* ---- slow */

/* q and v onto the slow manifold of the latest level: a Newton step with its matrix, velocities
 * where the positions have landed. *move: relative, the larger one. */
static int correct(taut_solver *solver, double *move, taut_error *error)
{
    taut_index n = solver->stepper.n;
    taut_state *state = &solver->refined.state;
    double *step = solver->stepper.error_q; /* scratch between steps */
    *move = 0;
    for (int part = 0; part < 2; part++) {
        TAUT_TRY(taut_multiplier_recursion_correct(solver->refined.recursion, part, state->t,
                                                   state->q, state->v, step, error));
        double size = taut_largest(n, part ? state->v : state->q);
        *move = fmax(*move, size > 0 ? taut_largest(n, step) / size : 0);
    }
    return TAUT_OK;
}

/* A change of the multipliers that does not count, relative. */
static double goal_of(const taut_solver *solver)
{
    static const double ROUNDING = 1e-13, SHARE = 0.5; /* of the tolerance */
    return solver->control.on ? fmax(ROUNDING, SHARE * solver->stepper.rtol) : ROUNDING;
}

/* Levels from f->level, or 1, on, until lambda stops changing. The state is close to the
 * manifold. */
static int raise_level(taut_solver *solver, double goal, taut_error *error)
{
    enum { MOST_PASSES = 8 };
    taut_refined *f = &solver->refined;
    taut_multiplier_recursion *r = f->recursion;
    taut_state *x = &f->state;
    taut_index m = solver->stepper.m;
    int level = f->level > 1 ? f->level : 1, last = level;
    f->uncertainty = INFINITY;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double move;
        TAUT_TRY(taut_multiplier_recursion_evaluate(r, level, true, x->t, x->q, x->v, error));
        double change = taut_largest_difference(m, r->lambda, r->before),
               enough = goal * taut_largest(m, r->lambda);
        if (level > last && !(change < f->uncertainty))
            break; /* the level before was better */
        taut_copy(m, r->lambda, x->lambda);
        TAUT_TRY(correct(solver, &move, error));
        f->uncertainty = change;
        f->level = level == 1 && change <= enough ? 0 : level;
        last = level;
        if (change > enough && level < r->most)
            level++;
        else if (move <= goal)
            break;
    }
    f->verified = true;
    f->since = 0;
    return TAUT_OK;
}

/* Level 0 moves the state close to the manifold, wherever it was. Where it has the multipliers too,
 * that is verified now and then, and at the end. */
static int refine_slow(taut_solver *solver, bool end, taut_error *error)
{
    enum { VERIFY_EVERY = 16 };
    taut_refined *f = &solver->refined;
    taut_multiplier_recursion *r = f->recursion;
    taut_state *x = &f->state;
    double goal = goal_of(solver), move;
    TAUT_TRY(taut_multiplier_recursion_evaluate(r, 0, true, x->t, x->q, x->v, error));
    taut_copy(solver->stepper.m, r->lambda, x->lambda);
    TAUT_TRY(correct(solver, &move, error));
    if (end || !f->verified || f->level > 0 || ++f->since > VERIFY_EVERY)
        return raise_level(solver, goal, error);
    if (move <= goal)
        return TAUT_OK;
    TAUT_TRY(taut_multiplier_recursion_evaluate(r, 0, false, x->t, x->q, x->v, error));
    taut_copy(solver->stepper.m, r->lambda, x->lambda);
    return TAUT_OK;
}

/* The largest force at the refined state; 0 where there is none. */
static double largest_force(taut_solver *solver)
{
    const taut_state *x = &solver->refined.state;
    taut_values values = {.force = solver->stepper.error_q}; /* scratch between steps */
    int status =
        taut_evaluate_inside(solver->context, x->t, x->q, x->v, TAUT_WANT_FORCE, &values, NULL);
    return status == 0 ? taut_largest(solver->stepper.n, values.force) : 0;
}

/* Is it an improvement? Where bonds depend on one another, it differs by far more than forces
 * explain, and is the larger one: the method's own may be as far off after a very short step, by
 * the error of its positions over h^2. Where slow and fast are barely separated, it is off by as
 * much as its levels differ. */
static bool better(taut_solver *solver, const taut_state *raw)
{
    static const double POOR = 1e-3; /* relative: no slow motion is known that well */
    const taut_refined *f = &solver->refined;
    taut_index m = solver->stepper.m;
    double fine = taut_largest(m, f->state.lambda), coarse = taut_largest(m, raw->lambda),
           size = fine + coarse, off = taut_largest_difference(m, f->state.lambda, raw->lambda);
    bool explained = off <= 0.5 * size || fine <= coarse || off <= largest_force(solver);
    return f->uncertainty <= POOR * size && explained &&
           (f->uncertainty <= goal_of(solver) * size || 4 * f->uncertainty <= off);
}

/* ---- */

int taut_refine(taut_solver *solver, const taut_state *state, const taut_state **shown,
                taut_error *error)
{
    enum { FEW = 3 }; /* rows that were not improved: further ones are not tried */
    taut_refined *f = &solver->refined;
    taut_error reason = {.t = NAN};
    *shown = state;
    f->of_now = false;
    bool end =
        state == &solver->stepper.now && (state->t == solver->until || solver->rows.sinks == 0);
    if (!f->on || solver->stepper.method->uses_field || (f->refused >= FEW && !end))
        return TAUT_OK;
    taut_state_copy(&solver->stepper, state, &f->state);
    taut_statistics before = solver->statistics;
    int status = f->recursion ? refine_slow(solver, end, &reason)
                              : refine_rigid(solver, state == &solver->probe, &reason);
    solver->statistics = before; /* output is not counted as work */
    if (status == TAUT_ERROR_SINGULAR)
        f->on = false;
    if (status == 0 && better(solver, state)) {
        double rounding = 8 * DBL_EPSILON * taut_largest(solver->stepper.m, f->state.lambda);
        f->uncertainty = fmax(f->uncertainty, rounding);
        *shown = &f->state;
        f->of_now = state == &solver->stepper.now;
        f->refused = 0;
    } else {
        f->refused++;
        f->uncertainty = NAN;
        f->verified = false;
    }
    return taut_fail_final(status, &reason, error);
}

int taut_refine_end(taut_solver *solver, taut_error *error)
{
    const taut_state *shown;
    return taut_refined_now(solver) != &solver->stepper.now
               ? TAUT_OK
               : taut_refine(solver, &solver->stepper.now, &shown, error);
}

const taut_state *taut_refined_now(const taut_solver *solver)
{
    const taut_refined *f = &solver->refined;
    const taut_state *now = &solver->stepper.now;
    return f->on && f->of_now && f->state.t == now->t ? &f->state : now;
}

double taut_refine_uncertainty(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    const double *compliance = taut_context_compliance(solver->context),
                 *damping = taut_context_damping(solver->context);
    if (taut_run_space(solver)) /* one rank alone does not know */
        return NAN;
    if (solver->motion == TAUT_MOTION_RIGID && s->method->uses_field && s->m > 0)
        return 8 * DBL_EPSILON * taut_largest(s->m, s->now.lambda); /* of the acceleration */
    bool calm = solver->unspecified && solver->diagnosis.calm;
    double of_slow = solver->level.field && s->method->uses_field ? solver->level.lambda
                                                                  : solver->refined.uncertainty;
    if (solver->motion != TAUT_MOTION_FULL || s->first_order)
        return of_slow + (calm ? solver->diagnosis.neglected : 0);
    double q = taut_largest(s->n, s->now.q), v = taut_largest(s->n, s->now.v), most = 0;
    for (taut_index i = 0; i < s->m; i++)
        if (compliance[i] > 0)
            most = fmax(most, (q + damping[i] * v) / compliance[i]);
    /* each step rounds q, and the oscillation keeps it: a random walk */
    double walk = sqrt(1 + (double)solver->statistics.steps);
    return s->m == 0 ? NAN : 4 * DBL_EPSILON * walk * most;
}
