/* solver.c - a run as an object: everything is allocated and chosen here, nothing later. */
#include "drive/solver.h"

#include <math.h>
#include <stdio.h>

#include "base/vectors.h"
#include "base/options.h"
#include "base/structs.h"
#include "drive/guard_watch.h"
#include "drive/projective.h"
#include "point/foot_point.h"
#include "system/parts.h"

static int new_state(taut_solver *solver, taut_state *state, taut_error *error)
{
    TAUT_TRY(taut_state_create(&solver->stepper, state, error));
    if (solver->stepper.n > 0)
        state->a[0] = NAN; /* until a method forms it */
    return TAUT_OK;
}

/* The motion that a method is to follow. Where all bonds are rigid, full motion is the rigid one;
 * methods of lower order on bonds then have the tolerances of rigid motion: velocities and
 * energies of single coordinates, near a dead centre of a mechanism, are beyond that order. */
static unsigned followed_motion(const taut_solver *solver)
{
    unsigned held =
        solver->sizes.can & (TAUT_HAS_RIGID | TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    bool rigid = solver->motion == TAUT_MOTION_FULL && held == TAUT_HAS_RIGID;
    return rigid && solver->stepper.method->bond_order > 0 ? TAUT_MOTION_RIGID : solver->motion;
}

/* The stepper's arrays, with the initial state of the model. */
static int new_stepper(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    s->context = solver->context;
    s->options = solver->options;
    s->motion = followed_motion(solver);
    s->adaptive = solver->tolerant;
    s->statistics = &solver->statistics;
    s->arena = &solver->arena;
    s->first_order = solver->sizes.kind != TAUT_MECHANICAL;
    s->n = solver->sizes.coordinates;
    s->m = s->first_order ? solver->sizes.algebraic : solver->sizes.bonds;
    TAUT_TRY(new_state(solver, &s->now, error));
    TAUT_TRY(new_state(solver, &s->last, error));
    TAUT_TRY(new_state(solver, &solver->probe, error));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, solver->sizes.outputs, error, &solver->outputs));
    if (solver->system->value_kernels[TAUT_LIST_TENSION] > 0)
        TAUT_TRY(TAUT_RESERVE(&solver->arena, solver->sizes.bonds, error, &solver->forces));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, s->n, error, &s->error_q, &s->error_v));
    /* once for all that share it */
    const int64_t foot = TAUT_FOOT_ROOM * taut_apart(s->n), drift = taut_drift_room(&solver->sizes);
    TAUT_NEED(error, taut_stepper_room(s, foot > drift ? foot : drift));
    s->now.t = s->last.t = solver->from;
    return taut_context_start(solver->context, solver->from, s->now.q, taut_state_v(&s->now),
                              error);
}

/* Without --atol it follows the size of the system, at first that of the initial state (norm.c). */
static void scale_tolerance(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    double size = taut_run_largest(solver, s->n, s->now.q);
    if (!taut_options_given(solver->options, "atol"))
        s->atol = 1e-3 * s->rtol * size; /* at rest at 0 it is not known */
}

static void find_unread(taut_solver *solver, const taut_options *given)
{
    char reader[80];
    int at = -1;
    snprintf(reader, sizeof reader, "method %s with %s", solver->stepper.method->name,
             solver->tolerant ? "adaptive step size" : "a fixed step size");
    for (const char *name; (name = taut_options_unread(solver->options, given, &at));)
        taut_warn_unread(&solver->warnings, name, reader, "");
    if (solver->stepper.method->undamped && solver->motion == TAUT_MOTION_SLOW)
        taut_warn(&solver->warnings,
                  "method %s damps no oscillation (|R(inf)| = 1): bonds off the slow manifold "
                  "oscillate with the step size; radau5 damps them",
                  solver->stepper.method->name);
}

static int new_context(taut_solver *solver, taut_error *error)
{
    TAUT_TRY(
        taut_context_create(solver->moving, &solver->arena.allocator, &solver->context, error));
    return taut_context_share(solver->context, solver->pool, error);
}

/* Threads of the run, where there are to be several. */
static int new_pool(taut_solver *solver, taut_error *error)
{
    const int threads = (int)taut_options_integer(solver->options, "threads");
    if (threads > 1)
        TAUT_TRY(taut_pool_create(threads, &solver->arena.allocator, &solver->pool, error));
    solver->stepper.pool = solver->pool;
    return TAUT_OK;
}

void taut_solver_unequip(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    if (s->method && s->method->destroy)
        s->method->destroy(s);
    taut_switch_release(solver);
    taut_start_release(solver);
    taut_projective_release(solver);
    taut_refine_release(solver);
    taut_context_destroy(solver->context);
    taut_system_destroy(solver->derived);
    s->field = NULL;
    s->work = NULL;
    solver->stabilizer = solver->assembly = solver->onto_rigid = solver->slow = NULL;
    solver->context = NULL;
    solver->derived = NULL;
    solver->refined = (taut_refined){0};
    solver->level.field = NULL;
    solver->stiff = (taut_stiff){.at = solver->stiff.at,
                                 .x = solver->stiff.x, /* room of the solver itself */
                                 .z = solver->stiff.z,
                                 .f = solver->stiff.f};
    solver->drift.rows = 0;
}

int taut_solver_equip(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    TAUT_TRY(taut_start_system(solver, s->method, error));
    TAUT_TRY(new_context(solver, error));
    s->context = solver->context;
    TAUT_TRY(taut_drift_create(solver, error));
    TAUT_TRY(taut_start_prepare(solver, error));
    TAUT_TRY(taut_slow_level_choose(solver, error));
    TAUT_TRY(taut_projecting_begin(solver, error));
    TAUT_TRY(s->method->create(s, error));
    TAUT_TRY(s->method->multipliers(s, s->now.t, s->now.q, taut_state_v(&s->now),
                                    taut_state_lambda(&s->now), error));
    return taut_refine_create(solver, error);
}

static int build(taut_solver *solver, const taut_options *options, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_system_sizes(solver->model, &solver->sizes);
    solver->moving = solver->system = solver->model;
    TAUT_TRY(taut_choose(solver, options, error));
    TAUT_TRY(new_pool(solver, error));
    TAUT_TRY(taut_redundant_prepare(solver, error));
    TAUT_TRY(new_context(solver, error));
    TAUT_TRY(new_stepper(solver, error));
    scale_tolerance(solver);
    TAUT_TRY(taut_drift_create(solver, error));
    TAUT_TRY(taut_start_prepare(solver, error));
    TAUT_TRY(taut_start_state(solver, error));
    TAUT_TRY(s->method->create(s, error));
    TAUT_TRY(s->method->multipliers(s, s->now.t, s->now.q, taut_state_v(&s->now),
                                    taut_state_lambda(&s->now), error));
    TAUT_TRY(taut_choose_step(solver, error));
    TAUT_TRY(taut_refine_create(solver, error));
    TAUT_TRY(taut_watch_create(solver, error));
    TAUT_TRY(taut_singular_create(solver, error));
    TAUT_TRY(taut_pulses_find(solver, error));
    TAUT_TRY(taut_guard_create(solver, error));
    if (!solver->control.on)
        TAUT_TRY(taut_growth_create(solver, error));
    TAUT_TRY(taut_switch_create(solver, error));
    TAUT_TRY(taut_monitor_create(solver, error));
    find_unread(solver, options);
    solver->averaged = solver->motion == TAUT_MOTION_EFFECTIVE && !solver->derived;
    TAUT_TRY(taut_ledger_create(solver, error));
    double energy;
    return taut_rows_guard(solver, &solver->stepper.now, &energy, error);
}

/* One try, from a pattern that holds what is given. On failure *result may still be there, with the
 * motion that was tried; to be destroyed. */
static int make(const taut_solver *like, const taut_options *options,
                const taut_allocator *allocator, taut_solver **result, taut_error *error)
{
    taut_allocator from = taut_allocator_or_default(allocator);
    taut_solver *made = *result = from.allocate(from.user, sizeof *made);
    TAUT_NEED(error, made);
    *made = *like;
    taut_arena_init(&made->arena, &from);
    made->arena.looped = true;
    int status = build(made, options, error);
    /* TAUT_RETRY at the initial state: no smaller step can help */
    return status > 0 ? taut_fail(error, TAUT_ERROR_EVALUATE,
                                  "the system cannot be evaluated at the initial state")
                      : status;
}

/* Tries until one can begin. A motion that was Taut's own choice and cannot begin gives way to the
 * next one, with the reason. */
static int make_first(taut_solver *like, const taut_options *options,
                      const taut_allocator *allocator, taut_solver **solver, taut_error *error)
{
    for (;;) {
        taut_solver *made;
        int status = make(like, options, allocator, &made, error);
        if (made)
            like->diagnosis = made->diagnosis;
        if (status == 0)
            *solver = made;
        if (status == 0 || !made)
            return status;
        if (made->direct && !like->direct) {
            like->direct = true;
            snprintf(like->why, sizeof like->why, "integrated directly: %.400s",
                     error ? error->message : "the rates have no gap");
            taut_solver_destroy(made);
            taut_error_clear(error);
            continue;
        }
        if (made->level.refused && made->own_choice) {
            like->avoid_field = true;
            snprintf(like->why, sizeof like->why, "not dop8: %.400s", made->level.reason);
            taut_solver_destroy(made);
            taut_error_clear(error);
            continue;
        }
        bool chosen = made->unspecified && made->motion != 0 && made->motion != TAUT_MOTION_FULL &&
                      !(like->avoid & made->motion);
        bool again = chosen && status != TAUT_ERROR_MEMORY && status != TAUT_ERROR_USAGE &&
                     status != TAUT_ERROR_STOPPED;
        like->avoid |= made->motion;
        const char *why = error ? error->message : "it cannot begin";
        if (strncmp(why, "no ", 3) == 0) /* "no effective motion: ..." */
            snprintf(like->why, sizeof like->why, "%.400s", why);
        else
            snprintf(like->why, sizeof like->why, "not %s: %.400s", taut_motion_name(made->motion),
                     why);
        taut_solver_destroy(made);
        if (!again)
            return status;
        taut_error_clear(error);
    }
}

static int create(const taut_system *system, const taut_options *options, const taut_method *own,
                  bool trial, const taut_allocator *allocator, taut_solver **solver,
                  taut_diagnosis *diagnosis, taut_error *error)
{
    taut_error_clear(error);
    if (!solver)
        return taut_fail(error, TAUT_ERROR_USAGE, "taut_solver_create: solver must not be NULL");
    *solver = NULL;
    if (!system)
        return taut_fail(error, TAUT_ERROR_USAGE, "taut_solver_create: system must not be NULL");
    taut_solver like = {.model = system,
                        .own = own,
                        .stepper.trial = trial,
                        .energy_first = NAN,
                        .energy_last = NAN,
                        .energy_base = NAN,
                        .size = NAN,
                        .stiff.at = NAN,
                        .error_q = NAN,
                        .averaging_error = NAN,
                        .error_v = NAN,
                        .error_lambda = NAN,
                        .predictable = NAN,
                        .direct_steps = NAN,
                        .rows = {.written = NAN},
                        .drift = {.measured = NAN}};
    int status = make_first(&like, options, allocator, solver, error);
    if (diagnosis)
        *diagnosis = like.diagnosis;
    return status;
}

int taut_solver_create_own(const taut_system *system, const taut_options *options,
                           const taut_method *method, const taut_allocator *allocator,
                           taut_solver **solver, taut_error *error)
{
    return create(system, options, method, false, allocator, solver, NULL, error);
}

int taut_solver_try(const taut_system *system, const taut_options *options,
                    const taut_allocator *allocator, taut_solver **solver,
                    taut_diagnosis *diagnosis, taut_error *error)
{
    return create(system, options, NULL, true, allocator, solver, diagnosis, error);
}

int taut_solver_create(const taut_system *system, const taut_options *options,
                       const taut_allocator *allocator, taut_solver **solver, taut_error *error)
{
    return create(system, options, NULL, false, allocator, solver, NULL, error);
}

void taut_solver_destroy(taut_solver *solver)
{
    if (!solver)
        return;
    taut_guard_release(solver);
    taut_solver_unequip(solver);
    taut_solver_destroy(solver->better);
    taut_monitor_release(solver);
    taut_redundant_release(solver);
    taut_system_destroy(solver->whole.system);
    taut_options_destroy(solver->options);
    taut_options_destroy(solver->call);
    taut_allocator from = solver->arena.allocator;
    taut_pool_destroy(solver->pool);
    taut_arena_clear(&solver->given);
    taut_arena_clear(&solver->kept.arena);
    taut_arena_clear(&solver->arena);
    from.release(from.user, solver);
}

double taut_solver_time(const taut_solver *solver)
{
    solver = taut_solver_latest(solver);
    return solver ? solver->stepper.now.t : NAN;
}

const double *taut_solver_position(const taut_solver *solver)
{
    solver = taut_solver_latest(solver);
    return solver ? taut_refined_now(solver)->q : NULL;
}

const double *taut_solver_velocity(const taut_solver *solver)
{
    solver = taut_solver_latest(solver);
    return solver ? taut_state_v(taut_refined_now(solver)) : NULL;
}

const double *taut_solver_multipliers(const taut_solver *solver)
{
    taut_solver *latest = taut_solver_latest(solver);
    const double *lambda = NULL;
    return latest && taut_state_forces(latest, taut_refined_now(latest), &lambda, NULL) == 0
               ? lambda
               : NULL;
}

const char *taut_solver_explanation(const taut_solver *solver)
{
    return solver ? solver->explanation : NULL;
}

const char *taut_solver_warning(const taut_solver *solver, int k)
{
    return solver ? taut_warning_text(&solver->warnings, k) : NULL;
}

const char *taut_solver_notice(const taut_solver *solver, int k)
{
    solver = taut_solver_latest(solver);
    for (int j = 0; solver && j < 2; j++)
        if (solver->notice[j][0] && k-- == 0)
            return solver->notice[j];
    return NULL;
}

int taut_solver_result_get(const taut_solver *solver, taut_result *result, taut_error *error)
{
    TAUT_REQUIRE(solver);
    const taut_solver *asked = solver;
    solver = taut_solver_latest(solver);
    taut_result own = {
        .status = asked->status,
        .t = solver->stepper.now.t,
        .method = solver->stepper.method->name,
        .motion = taut_motion_name(solver->motion),
        .event = solver->event_met ? solver->event_name : NULL,
        .altered = solver->altered,
        .put_back = solver->put_back,
        .error_estimate = solver->control.on ? solver->control.largest * solver->stepper.rtol : NAN,
        .error_share = solver->control.on ? solver->control.largest : NAN,
        /* springs of artificial stiffness stand for rigid bonds: not measured */
        .drift_position = solver->projecting.artificial > 0 ? NAN : solver->drift.most_position,
        .drift_velocity = solver->projecting.artificial > 0 ? NAN : solver->drift.most_velocity,
        .energy_first = solver->energy_first,
        .energy_last = solver->energy_last,
        .statistics = solver->statistics,
        .lambda_uncertainty = taut_refine_uncertainty(solver),
        .error = taut_larger(asked->error_q, asked->error_v),
        .error_position = asked->error_q,
        .error_velocity = asked->stepper.first_order ? NAN : asked->error_v,
        .error_lambda =
            asked->sizes.bonds > 0 && !asked->stepper.first_order ? asked->error_lambda : NAN,
        .predictable = asked->predictable,
        .averaging_error = asked->averaging_error,
        .rtol = asked->tolerant ? asked->asked : NAN,
        .direct_steps = solver->direct_steps};
    taut_ledger_result(solver, &own);
    taut_monitor_result(solver, &own);
    taut_slow_level_result(solver, &own);
    return taut_struct_fill(result, &own, sizeof own, "taut_result", error);
}
