/* redundant_run.c - runs of models whose rigid bonds are redundant.
 *
 * The motion uses an independent subset (system/redundant.c): the others are muted, and all
 * methods, projections and estimates see a system of full rank. Rows and events show multipliers
 * of all bonds, of the least norm (step/shared_forces.c).
 *
 * After each step the muted bonds are verified: they must hold as well as the others do. A subset
 * may become dependent where the whole does not (redundant bonds are used to lead a linkage through
 * a dead centre): where coefficients of muted rows become large, another one is selected, and the
 * method begins again. */
#include "base/text.h"
#include "base/vectors.h"
#include "drive/guard_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SELECTIONS = 1000 };
/* Growth of the coefficients from which on another subset is better: errors grow by as much. */
static const double GROWTH = 3;

/* The motion is that of the bonds that are not muted. */
static int use_subset(taut_solver *solver, const unsigned char *muted, taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    taut_system *subset = NULL;
    TAUT_TRY(taut_system_without(solver->model, muted, &subset, error));
    if (r->independent != r->first)
        taut_system_destroy(r->independent);
    r->first = r->first ? r->first : subset;
    solver->system = solver->moving = r->independent = subset;
    return TAUT_OK;
}

static int adopt(taut_solver *solver, const taut_redundancy *found, taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    int few = (int)(found->rows - found->rank);
    TAUT_TRY(use_subset(solver, found->independent->muted, error));
    r->rows = found->rows;
    r->rank = found->rank;
    r->coefficient = 0;
    snprintf(r->text, sizeof r->text, "%s follow%s from the others", found->text,
             few == 1 ? "s" : "");
    snprintf(solver->notice[0], sizeof solver->notice[0],
             "the rigid bonds have rank %d of %d: %s; their forces are not determined by the "
             "motion, and those of least norm are reported",
             (int)found->rank, (int)found->rows, r->text);
    return TAUT_OK;
}

static int examine(taut_solver *solver, const taut_system *system, double t, const double *q,
                   const double *v, taut_error *error)
{
    taut_redundancy found = {0};
    int status = taut_redundancy_find(system, t, q, v, &solver->arena.allocator, &found, error);
    if (status == 0 && found.independent && solver->unspecified &&
        system == solver->redundant.rigid)
        status = taut_fail(error, TAUT_ERROR_SINGULAR,
                           "springs share forces that rigid bonds would leave undetermined: %s "
                           "would follow from others",
                           found.text);
    else if (status == 0 && found.independent)
        status = adopt(solver, &found, error);
    taut_system_destroy(found.independent);
    return status;
}

int taut_redundant_begin(taut_solver *solver, bool springs, taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    taut_context *context = NULL;
    taut_error reason = {.t = NAN};
    taut_arena scratch;
    double *q, *v, from = taut_options_real(solver->options, "from");
    const unsigned kind = springs ? TAUT_HAS_SPRINGS : TAUT_HAS_RIGID;
    if (solver->sizes.kind != TAUT_MECHANICAL || !(solver->sizes.can & kind) ||
        taut_run_space(solver))
        return TAUT_OK;
    taut_arena_init(&scratch, &solver->arena.allocator);
    int status = TAUT_RESERVE(&scratch, solver->sizes.coordinates, &reason, &q, &v);
    if (status == 0)
        status = taut_context_create(solver->model, &solver->arena.allocator, &context, &reason);
    if (status == 0)
        status = taut_context_start(context, from, q, v, &reason);
    taut_context_destroy(context);
    if (status == 0 && springs)
        status = taut_system_rigid(solver->model, &r->rigid, &reason);
    r->selected = from;
    if (status == 0)
        status = examine(solver, springs ? r->rigid : solver->model, from, q, v, error);
    else /* reported where the initial state is needed */
        status = taut_fail_final(status, &reason, error);
    taut_arena_clear(&scratch);
    return status;
}

int taut_redundant_prepare(taut_solver *solver, taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    if (!r->independent)
        return TAUT_OK;
    if (solver->motion == TAUT_MOTION_RIGID && !r->rigid)
        TAUT_TRY(taut_system_rigid(solver->model, &r->rigid, error));
    return taut_shared_forces_create(&r->shared, r->rigid ? r->rigid : solver->model,
                                     &solver->arena, error);
}

/* All bonds are evaluated on the branches of the motion. */
static void follow_branches(taut_solver *solver)
{
    if (solver->guards.count > 0)
        taut_hold_follow(solver->context, solver->redundant.shared.context);
}

int taut_redundant_lambda(taut_solver *solver, const taut_state *state, const double **lambda,
                          taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    *lambda = taut_state_lambda(state);
    if (!r->independent)
        return TAUT_OK;
    follow_branches(solver);
    bool exact = solver->motion == TAUT_MOTION_RIGID || solver->motion == TAUT_MOTION_FULL;
    TAUT_TRY(exact ? taut_shared_forces_find(&r->shared, state->t, state->q, state->v, error)
                   : taut_shared_forces_spread(&r->shared, state->t, state->q, *lambda, error));
    *lambda = r->shared.lambda;
    return TAUT_OK;
}

static int fail_lost(const taut_solver *solver, double off, taut_index worst, taut_error *error)
{
    char name[96];
    double t = solver->stepper.now.t;
    taut_system_name(solver->model, TAUT_BOND, worst, name, sizeof name);
    taut_fail(error, TAUT_ERROR_SINGULAR,
              "at t = %.9g rigid bond '%s' does not follow from the others any more (it is off by "
              "%.3g): the rank of the bonds changed on the way, in a singular configuration",
              t, name, off);
    if (error)
        error->t = t;
    return TAUT_ERROR_SINGULAR;
}

/* After a change of the subset: what was made for the motion is made again. */
static int equip_again(taut_solver *solver, taut_error *error)
{
    TAUT_TRY(taut_solver_equip(solver, error));
    TAUT_TRY(taut_guard_again(solver, error));
    return taut_step_work_create(solver, error);
}

/* Another subset at the present state. *again: it differs. */
static int select_again(taut_solver *solver, bool *again, taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    taut_redundancy found = {0};
    const taut_state *now = &solver->stepper.now;
    r->selected = now->t;
    r->selections++;
    TAUT_TRY(taut_redundancy_find(r->rigid ? r->rigid : solver->model, now->t, now->q, now->v,
                                  &solver->arena.allocator, &found, error));
    *again =
        found.independent && found.rank == r->rank &&
        memcmp(found.independent->muted, r->independent->muted, (size_t)solver->sizes.bonds) != 0;
    int status = TAUT_OK;
    if (*again) {
        taut_guard_release(solver);
        taut_solver_unequip(solver);
        status = adopt(solver, &found, error);
        if (status == 0)
            status = equip_again(solver, error);
        solver->ledger.t = NAN;
    }
    if (*again && r->selections <= 3)
        TAUT_APPEND(solver->explanation, "; other independent bonds from t = %.6g", now->t);
    taut_system_destroy(found.independent);
    return status;
}

/* The coefficient at a state, relative to that at the selection. */
static int measure_growth(taut_solver *solver, const taut_state *x, double *growth,
                          taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    double off, coefficient;
    taut_index worst;
    follow_branches(solver);
    TAUT_TRY(taut_shared_forces_violation(&r->shared, x->t, x->q, &off, &worst, error));
    TAUT_TRY(
        taut_shared_forces_coefficient(&r->shared, r->independent->muted, &coefficient, error));
    *growth = fmax(1, coefficient) / fmax(1, r->coefficient);
    if (x == &solver->stepper.now)
        r->off = off, r->worst = worst;
    else
        r->coefficient = coefficient;
    return TAUT_OK;
}

/* Can another subset be selected at time t? */
static bool is_free(const taut_solver *solver, double t)
{
    const taut_redundant *r = &solver->redundant;
    return r->independent && r->selected != t && r->selections < MOST_SELECTIONS &&
           solver->motion != TAUT_MOTION_EFFECTIVE && !solver->slow;
}

int taut_redundant_step(taut_solver *solver, bool *again, taut_error *error)
{
    taut_redundant *r = &solver->redundant;
    taut_stepper *s = &solver->stepper;
    double growth;
    *again = false;
    if (!r->independent)
        return TAUT_OK;
    if (r->coefficient == 0)
        TAUT_TRY(measure_growth(solver, &s->last, &growth, error));
    TAUT_TRY(measure_growth(solver, &s->now, &growth, error));
    if (growth > GROWTH && is_free(solver, s->last.t)) {
        taut_state_copy(s, &s->now, &solver->probe);
        taut_state_copy(s, &s->last, &s->now);
        TAUT_TRY(select_again(solver, again, error));
        if (*again)
            return TAUT_OK;
        taut_state_copy(s, &solver->probe, &s->now);
    }
    double size = taut_largest(s->n, s->now.q),
           limit = fmax(1e-7, solver->control.on ? 10 * s->rtol : 0) * (size > 0 ? size : 1);
    return r->off <= limit ? TAUT_OK : fail_lost(solver, r->off, r->worst, error);
}

int taut_redundant_rescue(taut_solver *solver, int status, bool *again, taut_error *error)
{
    *again = false;
    if ((status != TAUT_ERROR_SINGULAR && status != TAUT_ERROR_STEP) ||
        !is_free(solver, solver->stepper.now.t))
        return status;
    taut_error reason = {.t = NAN};
    int found = select_again(solver, again, &reason);
    if (*again && found == 0)
        taut_error_clear(error);
    return *again ? found : status;
}

/* The subset and the method in use, as they were made; what they remember is read afterwards. */
static int restore_subset(taut_solver *solver, const unsigned char *muted,
                          const taut_method *method, taut_error *error)
{
    taut_guard_release(solver);
    taut_solver_unequip(solver);
    solver->stepper.method = method;
    TAUT_TRY(use_subset(solver, muted, error));
    return equip_again(solver, error);
}

void taut_redundant_archive(taut_solver *solver, taut_archive *a)
{
    taut_redundant *r = &solver->redundant;
    taut_index bonds = solver->sizes.bonds, some = 0;
    taut_arena arena;
    char name[64];
    if (!r->independent)
        return;
    taut_archive_integer(a, &r->selections, 0, MOST_SELECTIONS);
    taut_archive_text(a, r->text, sizeof r->text);
    if (a->status != TAUT_OK || r->selections == 0)
        return;
    taut_arena_init(&arena, &solver->arena.allocator);
    unsigned char *muted = TAUT_NEW(&arena, unsigned char, bonds);
    if (!muted)
        taut_archive_fail(a, TAUT_ERROR_MEMORY, "out of memory");
    if (muted && !a->reading)
        memcpy(muted, r->independent->muted, (size_t)bonds);
    taut_archive_bytes(a, muted, (size_t)bonds);
    snprintf(name, sizeof name, "%s", solver->stepper.method->name);
    taut_archive_text(a, name, sizeof name);
    for (taut_index i = 0; a->status == TAUT_OK && i < bonds; i++)
        some += muted[i] <= 1 ? muted[i] : bonds + 1;
    if (some != r->rows - r->rank)
        taut_archive_fail(a, TAUT_ERROR_FILE, "its rigid bonds are not those of the model");
    const taut_method *method = solver->stepper.method;
    method = strcmp(name, method->name) == 0 ? method : taut_method_find(name);
    if (a->reading && a->status == TAUT_OK &&
        (!method || restore_subset(solver, muted, method, NULL) != 0))
        taut_archive_fail(a, TAUT_ERROR_FILE, "its rigid bonds cannot be used");
    taut_arena_clear(&arena);
}

void taut_redundant_release(taut_solver *solver)
{
    taut_shared_forces_destroy(&solver->redundant.shared);
    taut_system_destroy(solver->redundant.rigid);
    if (solver->redundant.first != solver->redundant.independent)
        taut_system_destroy(solver->redundant.first);
    taut_system_destroy(solver->redundant.independent);
}
