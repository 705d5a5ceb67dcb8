/* run_start.c - how a run begins once motion and method are chosen: the system that moves, field
 * and stabiliser, the initial state, and states that events altered.
 *
 *     rigid       c = 0 for every bond that is not soft; from the foot point; index-1 field,
 *                 post-stabilised
 *     slow        the stiff system itself, from the slow point: in compliance form, or for explicit
 *                 methods as the slow field, projected onto its manifold (slow_level.c)
 *     effective   c = 0 and the force of the actions, or the model itself with impulses
 *     full        the model itself; an initial state that violates rigid bonds is moved onto them
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "base/text.h"
#include "base/vectors.h"
#include "drive/projective.h"
#include "drive/solver.h"
#include "point/foot_point.h"
#include "point/ranks_foot.h"
#include "project/project.h"
#include "slow/series.h"
#include "slow/slow_field.h"
#include "system/follow.h"
#include "vibration/effective.h"
#include "system/hold.h"
#include "wrap/conserve.h"
#include "wrap/fields.h"
#include "wrap/stabilize.h"
#include "step/implicit_field.h"

/* above, methods without a field begin with the algebraic variables that are given */
enum { MOST_ALGEBRAIC = 400 };

/* ---- the system */

/* Rigid: c = 0. Effective: methods that average move c = 0 with the force of the actions [Lubich,
 * Weiss (7)-(8)]; impulse methods move the model itself. */
int taut_start_system(taut_solver *solver, const taut_method *method, taut_error *error)
{
    bool effective = solver->motion == TAUT_MOTION_EFFECTIVE && method && method->averages;
    if (solver->sizes.kind != TAUT_MECHANICAL ||
        (solver->motion != TAUT_MOTION_RIGID && !effective))
        return TAUT_OK;
    if (effective)
        TAUT_TRY(taut_effective_from_start(
            solver->system, taut_options_real(solver->options, "from"), &solver->derived, error));
    else if (solver->projecting.when == TAUT_PROJECT_STAGE)
        TAUT_TRY(taut_projecting_artificial(solver, error));
    else
        TAUT_TRY(taut_system_rigid(solver->system, &solver->derived, error));
    solver->moving = solver->derived;
    taut_system_sizes(solver->moving, &solver->sizes);
    return TAUT_OK;
}

/* ---- field and stabiliser */

/* Stiff springs or a stiff potential in slow motion. */
static bool is_slow(const taut_solver *solver)
{
    return solver->motion == TAUT_MOTION_SLOW &&
           (solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL));
}

/* Stabilisations that are terms of the field. */
static bool is_term(const char *kind)
{
    return strcmp(kind, "baumgarte") == 0 || strcmp(kind, "continuous") == 0 ||
           strcmp(kind, "index-2") == 0;
}

/* kind: of such a term, or "none" */
static int make_field(taut_solver *solver, const char *kind, taut_field **field, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    const taut_options *options = solver->options;
    bool term = is_term(kind), reduced = strcmp(kind, "index-2") == 0,
         baumgarte = strcmp(kind, "baumgarte") == 0;
    double rate = term ? taut_options_real(options, "stabilize-rate") : 0, damping = 2 * rate;
    const char *along = term ? taut_options_text(options, "stabilize-direction") : NULL;
    if (s->first_order && reduced && strcmp(along, "auto") != 0 && strcmp(along, "transpose") != 0)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize-direction",
                                "the index-2 form of first-order systems is along transpose");
    if (s->first_order)
        return taut_field_first_order(s->context, s->arena, s->statistics, rate,
                                      reduced ? "tangent" : along, field, error);
    if (term && !baumgarte && !s->method->uses_stages)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "%s has a term in the rates of positions, which method %s does not "
                                "support; use a Runge-Kutta method, or post",
                                kind, s->method->name);
    if (term && !baumgarte)
        return taut_field_continuous(s->context, s->arena, s->statistics, rate, along, reduced,
                                     field, error);
    /* x'' + 2 rate x' + rate^2 x = 0 has no overshoot */
    if (baumgarte && taut_options_given(options, "stabilize-damping"))
        damping = taut_options_real(options, "stabilize-damping");
    if (solver->drift.rows > 0)
        return taut_field_index1(s->context, s->arena, s->statistics, damping, rate * rate, field,
                                 error);
    return taut_field_full(s->context, s->arena, s->statistics, field, error);
}

/* Methods without a field: one for consistent algebraic variables, or to verify invariants. */
static int make_second_field(taut_solver *solver, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    bool algebraic = s->first_order && s->m > 0 && s->m <= MOST_ALGEBRAIC && !s->trial,
         conserved = solver->drift.conserved > 0;
    if (s->field || !(algebraic || conserved))
        return TAUT_OK;
    return make_field(solver, "none", &solver->algebraic, error);
}

/* Explicit methods drift from what holds exactly, so they are stabilised unless the options specify
 * otherwise; others keep it themselves. */
static int make_stabilizer(taut_solver *solver, const char *kind, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    bool given = taut_options_given(solver->options, "stabilize"),
         something = solver->drift.rows > 0 || solver->drift.conserved > 0;
    if (given && !something && strcmp(kind, "none") != 0)
        return taut_fail_option(
            error, TAUT_ERROR_USAGE, "stabilize",
            "there are no rigid bonds, constraints or invariants that %s could keep", kind);
    if (!given)
        kind = something && s->method->uses_field ? "post" : "none";
    if (strcmp(kind, "none") == 0 || is_term(kind))
        return TAUT_OK;
    taut_stabilization how = {
        .form = kind,
        .passes = (int)taut_options_integer(solver->options, "stabilize-passes"),
        .alpha = taut_options_real(solver->options, "stabilize-alpha"),
        .of = taut_options_text(solver->options, "stabilize-of"),
        .direction = taut_options_text(solver->options, "stabilize-direction"),
        .refresh = (int)taut_options_integer(solver->options, "stabilize-refresh"),
        .solver = taut_options_text(solver->options, "stabilize-solver"),
        .saddle = s->field ? s->field->saddle : NULL,
        .room = taut_stepper_room(s, 3 * taut_apart(s->n))};
    return taut_stabilizer_create(&how, s->context, s->arena, s->statistics, &solver->stabilizer,
                                  error);
}

/* Implicit methods integrate the field that has the term, instead of the equations themselves. */
static int put_on_field(taut_solver *solver, const char *kind, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_method *row = TAUT_NEW(s->arena, taut_method, 1);
    TAUT_NEED(error, row);
    if (!taut_implicit_on_field(s->method, row))
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "%s changes the equations that Runge-Kutta methods integrate; "
                                "method %s does not use them",
                                kind, s->method->name);
    if (is_slow(solver))
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "%s is for rigid bonds; slow motion by method %s needs none", kind,
                                s->method->name);
    s->method = row;
    return TAUT_OK;
}

int taut_start_need_projector(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    if (!taut_run_space(solver) || solver->onto_rigid || solver->drift.rows == 0)
        return TAUT_OK;
    TAUT_TRY(taut_ranks_foot_create(s->context, s->field ? s->field->saddle : NULL, s->arena,
                                    s->statistics, NULL, &solver->onto_rigid, error));
    solver->assembly = solver->onto_rigid;
    return TAUT_OK;
}

int taut_start_prepare(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    const char *kind = taut_options_text(solver->options, "stabilize");
    TAUT_TRY(taut_ranks_refuse_parts(solver, error));
    if (is_term(kind) && !s->method->uses_field)
        TAUT_TRY(put_on_field(solver, kind, error));
    if (is_term(kind) && solver->drift.conserved > 0)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "%s keeps rigid bonds only; [invariants] of a mechanical model "
                                "need post, project or none",
                                kind);
    bool slow_field = s->method->uses_field && is_slow(solver) && !taut_projecting_inside(solver);
    bool projective = s->first_order && solver->motion == TAUT_MOTION_SLOW;
    if (projective)
        return taut_projective_create(solver, error);
    if (slow_field)
        TAUT_TRY(taut_slow_level_create(solver, error));
    else if (s->method->uses_field)
        TAUT_TRY(make_field(solver, kind, &s->field, error));
    if (s->first_order)
        TAUT_TRY(taut_follow_create(s->context, s->arena, &solver->follow, error));
    TAUT_TRY(make_second_field(solver, error));
    if (solver->drift.conserved > 0)
        TAUT_TRY(taut_conserve_create(s->context, s->arena, 0, &solver->invariants, error));
    if (!slow_field)
        TAUT_TRY(make_stabilizer(solver, kind, error));
    if (solver->drift.rows == 0 || s->first_order)
        return TAUT_OK;
    if (taut_run_space(solver)) /* others make one where it is needed: few runs */
        return solver->sizes.events > 0 ? taut_start_need_projector(solver, error) : TAUT_OK;
    const bool once = solver->sizes.events == 0 && solver->moving->branches == 0;
    const bool rarely = s->method->uses_field || taut_arena_late(s->arena, s->n);
    const taut_foot_point_settings later = {
        .ignore_holds = true,
        .late = once,
        .deferred = once && rarely,
        .room = taut_stepper_room(s, TAUT_FOOT_ROOM * taut_apart(s->n)),
        .saddle = once && rarely ? (taut_saddle *const *)&s->saddle : NULL};
    TAUT_TRY(taut_foot_create(&taut_bond_foot, s->context, s->arena, s->statistics, &later,
                              &solver->onto_rigid, error));
    if (solver->motion == TAUT_MOTION_EFFECTIVE) /* along the directions of the vibrating state, not
                                                    those of the foot point */
        return taut_effective_projector(s->context, s->arena, s->statistics, &solver->assembly,
                                        error);
    if (taut_system_hold(solver->moving))
        return taut_foot_create(&taut_bond_foot, s->context, s->arena, s->statistics, NULL,
                                &solver->assembly, error);
    solver->assembly = solver->onto_rigid;
    return TAUT_OK;
}

void taut_start_release(taut_solver *solver)
{
    taut_projector *held =
        solver->assembly == solver->onto_rigid || solver->assembly == solver->stabilizer
            ? NULL
            : solver->assembly;
    taut_projector *after = solver->stabilizer == solver->slow ? NULL : solver->stabilizer;
    taut_projector *made[] = {after, solver->onto_rigid, held, solver->slow};
    taut_projecting_release(solver);
    for (int k = 0; k < 4; k++) /* the slow field owns its projector */
        if (made[k] && made[k]->destroy)
            made[k]->destroy(made[k]);
    if (solver->stepper.field && solver->stepper.field->destroy)
        solver->stepper.field->destroy(solver->stepper.field);
    if (solver->algebraic)
        solver->algebraic->destroy(solver->algebraic);
    taut_follow_destroy(solver->follow);
}

/* ---- the initial state */

bool taut_start_diagnosed(const taut_solver *solver)
{
    return solver->diagnosis.parts && solver->moving == solver->system && !solver->moved;
}

/* The initial state satisfies the bonds: moving it would only add rounding. */
static bool is_good(const taut_solver *solver)
{
    const taut_state *now = &solver->stepper.now;
    double q = fmax(1, taut_run_largest(solver, solver->stepper.n, now->q)),
           v = fmax(1, taut_run_largest(solver, solver->stepper.n, now->v));
    return solver->drift.position <= 1e-13 * q && solver->drift.velocity <= 1e-13 * v;
}

/* Onto the rigid bonds of the system that moves, orthogonally in the metric of M. */
static int start_on_bonds(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    TAUT_TRY(taut_drift_measure(solver, &s->now, error));
    if (is_good(solver))
        return TAUT_OK;
    double position = solver->drift.position, velocity = solver->drift.velocity;
    const double holds = taut_system_hold(solver->moving) != NULL;
    if (taut_run_space(solver) && taut_space_largest(taut_run_space(solver), holds) > 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "the initial state violates the rigid bonds by %.2g, and a run over "
                         "several ranks moves it onto them without `hold` and `guess` of [start]: "
                         "omit these, or give a foot point that was found in one process",
                         position);
    TAUT_TRY(taut_start_need_projector(solver, error));
    TAUT_TRY(solver->assembly->apply(solver->assembly, s->now.t, s->now.q, s->now.v, error));
    solver->moved = true;
    solver->drift.measured = NAN;
    solver->drift.most_position = solver->drift.most_velocity = 0;
    const char *where =
        solver->motion == TAUT_MOTION_EFFECTIVE ? "onto the bonds" : "onto the rigid bonds";
    TAUT_APPEND(solver->begun,
                "; the initial state was moved %s, which it violated by %.2g (velocities %.2g)",
                where, position, velocity);
    return TAUT_OK;
}

/* How far the initial state was moved: normal and tangential to the bonds where a foot point
 * defines that, the largest change elsewhere. */
static void note_slow_point(taut_solver *solver, const taut_projection_result *result)
{
    char moved[80];
    double most = taut_space_largest(
        taut_run_space(solver),
        taut_largest_difference(solver->stepper.n, result->q, solver->stepper.now.q));
    if (isnan(result->moved_normal))
        snprintf(moved, sizeof moved, "by %.2g", most);
    else
        snprintf(moved, sizeof moved, "normal %.2g, tangential %.2g", result->moved_normal,
                 result->moved_tangential);
    TAUT_APPEND(solver->begun,
                "; the initial state was moved to its slow point, without oscillation (%s; %s)",
                result->method, moved);
}

/* Moves x to the slow point that a projection finds; [run] of the model counts for it, what is held
 * for the initial state only. */
static int take_slow_point(taut_solver *solver, const taut_projection_method *method, taut_state *x,
                           taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_projection_settings settings;
    taut_projection *found = NULL;
    taut_projection_result result = {.size = sizeof result};
    TAUT_TRY(taut_projection_settings_for(solver->system, NULL, &solver->arena, &settings, error));
    settings.method = method;
    if (x != &s->now)
        settings.hold = NULL;
    int status = taut_project_state(s->context, x->t, x->q, x->v, &settings,
                                    &solver->arena.allocator, &found, error);
    if (status == 0) {
        taut_projection_result_get(found, &result, NULL);
        if (x == &s->now)
            note_slow_point(solver, &result);
        taut_copy(s->n, result.q, x->q);
        taut_copy(s->n, result.v, x->v);
        solver->moved = true;
        taut_statistics_add(s->statistics, &result.statistics);
    }
    taut_projection_destroy(found);
    return status;
}

/* Events that alter the state of a slow motion make it oscillate, and so do forces that jump
 * (guard_watch.c): the projector that leads to the slow point again is made here, since nothing
 * allocates in a run. Overdamped springs do not oscillate. */
static int prepare_again(taut_solver *solver, bool overdamped, taut_error *error)
{
    const unsigned needs = TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES;
    taut_stepper *s = &solver->stepper;
    taut_event_info info;
    taut_index k = 0;
    while (taut_system_event(solver->system, k, &info) && !info.alters)
        k++;
    bool alters = k < solver->sizes.events,
         jumps = solver->control.on && solver->moving->branches > 0,
         able = !(solver->sizes.can & TAUT_HAS_STIFF_POTENTIAL) &&
                (solver->sizes.can & needs) == needs;
    if (overdamped || !(alters || (jumps && able)))
        return TAUT_OK;
    if (!able) {
        char name[80];
        taut_system_name(solver->system, TAUT_EVENT_ITEM, k, name, sizeof name);
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "event '%s' alters the state, and in slow motion the slow point must then "
                         "be found again, which needs springs with exact derivatives in place of a "
                         "stiff potential; use motion full, or let the event stop the run",
                         name);
    }
    TAUT_TRY(taut_series_create(&taut_bond_series, s->context, s->arena, s->statistics, NULL,
                                &solver->slow, error));
    if (alters)
        TAUT_APPEND(solver->begun, "; states that events alter are moved to their slow points");
    return TAUT_OK;
}

/* Explicit methods do not damp velocities across the bonds, however small the amplitude is. */
static bool is_off(taut_solver *solver, const taut_state *x)
{
    const taut_stepper *s = &solver->stepper;
    double *q = s->error_q, *v = s->error_v; /* scratch before the first step */
    if (!solver->level.field)
        return false;
    taut_projector *onto = &solver->level.field->onto;
    taut_copy(s->n, x->q, q);
    taut_copy(s->n, x->v, v);
    return onto->apply(onto, x->t, q, v, NULL) == 0 &&
           taut_space_largest(taut_run_space(solver), taut_largest_difference(s->n, v, x->v)) >
               1e-3 * s->rtol * taut_run_largest(solver, s->n, x->v);
}

/* Slow motion begins on the slow manifold, or continues there from a given state x, which is not
 * stepper.now. A state whose oscillation is far below the tolerance stays as it is: the adaptive
 * step size depends on its velocity times the step, a thousand times the amplitude when the step
 * is a hundred periods long. */
static int start_slow(taut_solver *solver, taut_state *x, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    bool given = x != &s->now;
    taut_diagnosis here;
    const taut_diagnosis *d = &solver->diagnosis;
    taut_error reason = {0};
    if (given || !taut_start_diagnosed(solver)) {
        TAUT_TRY(taut_diagnose(s->context, x->t, x->q, x->v, TAUT_DIAGNOSE_OSCILLATION,
                               TAUT_BACKEND_AUTO, &here, error));
        d = &here;
    }
    if (!given)
        TAUT_TRY(prepare_again(solver, d->overdamped, error));
    if (solver->projecting.when == TAUT_PROJECT_NONE)
        return TAUT_OK;
    if (solver->projecting.when == TAUT_PROJECT_START)
        return take_slow_point(solver, solver->projecting.method, x, error);
    const double size = taut_run_largest(solver, s->n, x->q);
    bool visible = d->amplitude > 1e-3 * (s->atol + s->rtol * size) || is_off(solver, x);
    if (!visible || solver->stepper.trial) /* the run begins with or without the slow point */
        return TAUT_OK;
    static const taut_projection_method *const ways[] = {
        &taut_projection_series, &taut_projection_kernel}; /* from jets; from forces alone */
    const int many = taut_run_space(solver) ? 1 : 2;
    int status = -1;
    for (int k = 0; k < many && status != 0; k++) {
        status = take_slow_point(solver, ways[k], x, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
    }
    if (status != 0 && given)
        return taut_fail(error, status,
                         "slow motion continues from the slow point of the given state, which was "
                         "not found: %.500s",
                         reason.message);
    if (status != 0 && isinf(d->amplitude))
        TAUT_APPEND(solver->begun, "; the initial state was not moved, and may oscillate: %.500s",
                    reason.message);
    else if (status != 0)
        TAUT_APPEND(solver->begun,
                    "; the initial state was not moved, with an oscillation of about %.2g: %.500s",
                    d->amplitude, reason.message);
    return TAUT_OK;
}

/* Algebraic variables y from the constraints, differentiated once: implicit methods begin with
 * consistent ones too. Where the iteration from the given y does not converge, these stay, as a
 * guess. */
static int start_algebraic(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_field *field = solver->algebraic;
    taut_statistics before = *s->statistics; /* not counted */
    taut_error reason = {0};
    if (!field)
        return TAUT_OK;
    TAUT_TRY(taut_field_first_order_begin(field, s->now.t, s->now.q, error));
    int status = field->evaluate(field, s->now.t, s->now.q, NULL, s->error_q, s->now.y, &reason);
    *s->statistics = before;
    if (status == TAUT_ERROR_SINGULAR)
        return taut_fail(error, status, "%s", reason.message);
    return taut_fail_final(status, &reason, error);
}

/* The rates of [invariants] at a state: are they constant in this motion? */
static int verify_at(taut_solver *solver, const double *q, const double *v, double share,
                     taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_field *field = s->field ? s->field : solver->algebraic;
    taut_statistics before = *s->statistics; /* not counted */
    int status = field->evaluate(field, s->now.t, q, v, s->error_v, NULL, error);
    if (status == 0)
        status = taut_conserve_verify(solver->invariants, s->now.t, q, v, s->error_v, share,
                                      taut_motion_name(solver->motion), error);
    *s->statistics = before;
    return status;
}

/* At the initial state, and with other velocities along the bonds: at rest every energy is. */
static int verify_invariants(taut_solver *solver, taut_error *error)
{
    static const double SHARE = 1e-6; /* a rate below this share of its terms is 0 */
    const taut_stepper *s = &solver->stepper;
    taut_statistics before = *s->statistics;
    double *q = s->last.q, *v = s->last.v, speed = taut_largest(s->n, s->now.v);
    int status = TAUT_OK;
    for (int k = 0; k < 2 && status == 0; k++) {
        taut_copy(s->n, s->now.q, q);
        taut_copy(s->n, s->now.v, v);
        for (taut_index i = 0; i < s->n; i++)
            v[i] += k * 0.37 * (speed > 0 ? speed : 1) * sin(1.0 + i);
        if (k > 0 && solver->onto_rigid)
            status = solver->onto_rigid->apply(solver->onto_rigid, s->now.t, q, v, error);
        if (status == 0)
            status = verify_at(solver, q, v, SHARE, error);
    }
    *s->statistics = before;
    return status;
}

int taut_start_verify(taut_solver *solver, taut_error *error)
{
    static const double SHARE = 1e-4; /* the bonds hold but for errors of the stabiliser */
    int64_t steps = solver->statistics.steps;
    if (!solver->stabilizer || solver->drift.conserved == 0 || (steps & (steps - 1)) != 0)
        return TAUT_OK;
    return verify_at(solver, solver->stepper.now.q, solver->stepper.now.v, SHARE, error);
}

int taut_start_begin(taut_solver *solver, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    if (!s->first_order && solver->drift.conserved == 0)
        return TAUT_OK;
    if (!s->first_order) {
        if (solver->stabilizer)
            TAUT_TRY(
                taut_stabilizer_begin(solver->stabilizer, s->now.t, s->now.q, s->now.v, error));
        return taut_drift_begin(solver, error);
    }
    if (solver->projective)
        return taut_drift_begin(solver, error);
    TAUT_TRY(start_algebraic(solver, error));
    if (solver->stabilizer)
        TAUT_TRY(taut_stabilizer_begin(solver->stabilizer, s->now.t, s->now.q, NULL, error));
    if (s->field)
        TAUT_TRY(taut_field_first_order_begin(s->field, s->now.t, s->now.q, error));
    return taut_drift_begin(solver, error);
}

int taut_start_state(taut_solver *solver, taut_error *error)
{
    if (solver->projective)
        TAUT_TRY(taut_projective_start(solver, error));
    if (solver->stepper.first_order)
        return taut_start_begin(solver, error);
    if (solver->drift.rows > 0)
        TAUT_TRY(start_on_bonds(solver, error));
    if (taut_projecting_inside(solver))
        TAUT_TRY(taut_projecting_begin(solver, error));
    else if (is_slow(solver))
        TAUT_TRY(start_slow(solver, &solver->stepper.now, error));
    else if (solver->projecting.when == TAUT_PROJECT_START)
        TAUT_TRY(take_slow_point(solver, solver->projecting.method, &solver->stepper.now, error));
    TAUT_TRY(taut_slow_level_choose(solver, error));
    if (solver->drift.conserved > 0)
        TAUT_TRY(verify_invariants(solver, error));
    return taut_start_begin(solver, error);
}

/* ---- after an event, or at a state that the caller gives */

static int move_again(taut_solver *solver, bool given, taut_state *x, double *moved,
                      taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    double *q = s->error_q, *v = s->error_v; /* scratch between steps */
    *moved = 0;
    if (s->first_order)
        return solver->follow ? taut_follow_apply(solver->follow, x->t, x->q, error) : TAUT_OK;
    taut_copy(s->n, x->q, q);
    taut_copy(s->n, x->v, v);
    if (solver->onto_rigid)
        TAUT_TRY(solver->onto_rigid->apply(solver->onto_rigid, x->t, x->q, x->v, error));
    if (given && is_slow(solver) && !taut_projecting_inside(solver))
        TAUT_TRY(start_slow(solver, x, error));
    else if (solver->slow)
        TAUT_TRY(solver->slow->apply(solver->slow, x->t, x->q, x->v, error));
    *moved = taut_space_largest(taut_run_space(solver),
                                taut_larger(taut_largest_difference(s->n, x->q, q),
                                            taut_largest_difference(s->n, x->v, v)));
    return TAUT_OK;
}

int taut_start_again(taut_solver *solver, bool given, taut_state *x, double *moved,
                     taut_error *error)
{
    taut_hold_use(solver->context, false); /* branches are those of another state */
    int status = move_again(solver, given, x, moved, error);
    taut_hold_use(solver->context, true);
    return status;
}
