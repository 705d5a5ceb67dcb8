/* check.c - is a system well posed at its initial state, and what would a run of it be? Derivatives
 * against differences, the diagnosis of drive/diagnose.c, and the motion and method that
 * taut_solver_create chooses with the same options and [run]: the choice is tried, not copied. */
#include "base/structs.h"
#include "base/text.h"
#include "drive/solver.h"
#include "system/rank_part.h"
#include "system/verify.h"
#include "verbs/check_invariants.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void report_diagnosis(const taut_diagnosis *d, taut_check_report *r)
{
    r->soft = d->soft;
    r->rank = d->rank;
    r->start_position = d->position;
    r->start_velocity = d->velocity;
    r->foot_distance = d->foot_distance;
    r->frequency_least = d->least;
    r->frequency_most = d->most;
    r->frequencies = d->frequencies;
    r->slow_rate = d->slow_rate;
    r->slow_rate_initial = d->slow_rate_initial;
    r->slow_rate_at = d->slow_rate_at;
    r->slow_rate_states = d->states;
    r->decay_rate = d->decay_rate;
    r->decay_steps = d->decay_steps;
    r->time_rate = d->time_rate;
    r->separation = d->separation;
    r->oscillatory_energy = d->oscillatory_energy;
    r->energy_scale = d->energy_scale;
    r->verdict = d->redundant || d->massless >= 0;
    snprintf(r->structure, sizeof r->structure, "%s", d->structure);
    snprintf(r->rank_message, sizeof r->rank_message, "%s", d->dependent);
}

static int check_derivatives(const taut_system *system, double t, taut_check_report *r,
                             taut_error *error)
{
    taut_arena arena;
    taut_context *context = NULL;
    taut_index n = r->sizes->coordinates,
               velocities = r->sizes->kind == TAUT_MECHANICAL ? n : r->sizes->algebraic;
    taut_arena_init(&arena, &system->arena.allocator);
    double *q = TAUT_NEW(&arena, double, n), *v = TAUT_NEW(&arena, double, velocities);
    int status = q && v ? TAUT_OK : taut_fail_memory(error);
    if (status == 0)
        status = taut_context_create(system, &arena.allocator, &context, error);
    if (status == 0)
        status = taut_context_start(context, t, q, v, error);
    if (status == 0)
        status =
            taut_verify_derivatives(context, t, q, v, r->derivative, 16, &r->derivatives, error);
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return taut_unevaluated(status, t, error);
}

/* ---- advice */

/* What makes a system unusable. */
static void advise_correction(const taut_system *system, const taut_diagnosis *d,
                              taut_check_report *r)
{
    char name[96];
    bool smooth = !(d->sizes.can & TAUT_HAS_KINKS);
    for (int k = 0; k < r->derivatives && smooth && !r->advice[0]; k++) {
        const taut_derivative_check *row = &r->derivative[k];
        if (row->deviation <= row->limit + row->uncertainty)
            continue;
        r->verdict = 1;
        TAUT_APPEND(r->advice,
                    "%s does not agree with differences (%.2g at %s): correct the derivative",
                    row->name, row->deviation, row->where);
    }
    if (r->advice[0] || !r->verdict)
        return;
    if (d->massless >= 0 && !d->redundant) {
        taut_system_name(system, TAUT_COORDINATE, d->massless, name, sizeof name);
        TAUT_APPEND(
            r->advice,
            "%s has neither mass nor bonds, so that its motion is undetermined: give it one of "
            "them",
            name);
    } else if (d->sizes.kind == TAUT_MECHANICAL) {
        TAUT_APPEND(r->advice, "remove the redundant bonds, or give them a stiffness");
    } else {
        TAUT_APPEND(r->advice, "remove the redundant constraints");
    }
}

/* What a run will be, and why. */
typedef struct choice {
    const taut_method *method; /* NULL: no run can begin */
    unsigned motion;
    bool unspecified;
    taut_index rows, rank; /* of rigid bonds, where some are redundant */
    char redundant[sizeof((taut_solver *)NULL)->redundant.text];
    char why[sizeof((taut_solver *)NULL)->why];
} choice;

static void take_choice(const taut_solver *solver, choice *c)
{
    c->method = solver->stepper.method;
    c->motion = solver->motion;
    c->unspecified = solver->unspecified;
    memcpy(c->why, solver->why, sizeof c->why);
    if (!solver->redundant.independent)
        return;
    c->rows = solver->redundant.rows;
    c->rank = solver->redundant.rank;
    memcpy(c->redundant, solver->redundant.text, sizeof c->redundant);
}

/* Without an end time the cost of motion full is not known, and could decide otherwise. */
static bool decided_by_end(const taut_diagnosis *d, unsigned motion)
{
    bool approximate = (motion == TAUT_MOTION_SLOW && !d->calm) || motion == TAUT_MOTION_EFFECTIVE;
    return approximate && d->most > 0 && isinf(d->full_cost);
}

static void advise_run(const taut_diagnosis *d, const taut_options *given, const choice *c,
                       taut_check_report *r)
{
    bool here = taut_options_given(given, "motion") || taut_options_given(given, "method"),
         mechanical = d->sizes.kind == TAUT_MECHANICAL;
    r->motion = mechanical ? taut_motion_name(c->motion) : NULL;
    r->method = c->method->name;
    if (mechanical)
        TAUT_APPEND(r->advice, "motion %s, ", r->motion);
    TAUT_APPEND(r->advice, "method %s", r->method);
    if (mechanical && !c->unspecified)
        TAUT_APPEND(r->advice, here ? ", as specified" : ", as [run] of the model specifies");
    if (c->why[0])
        TAUT_APPEND(r->advice, "; %s", c->why);
    if (c->unspecified && decided_by_end(d, c->motion))
        TAUT_APPEND(
            r->advice,
            "; no end time is given: with one, motion full is chosen where it is affordable");
    if (mechanical && !c->why[0] && d->frequencies == 0 && d->hard == 0)
        TAUT_APPEND(r->advice, "; there are no stiff springs");
}

/* Would the motion be slow without its oscillation, if motion full were too expensive? */
static bool is_slow_without(const taut_diagnosis *d)
{
    char why[200] = "";
    taut_diagnosis calm = *d;
    calm.oscillatory_energy = 0;
    calm.full_cost = INFINITY;
    return taut_motion_advise(&calm, 0, why, sizeof why) == TAUT_MOTION_SLOW;
}

static void advise_state(const taut_diagnosis *d, const choice *c, taut_check_report *r)
{
    bool mechanical = d->sizes.kind == TAUT_MECHANICAL;
    unsigned motion = r->motion ? taut_motion_bit(r->motion) : TAUT_MOTION_FULL;
    if (d->hard && d->position > 1e-6)
        TAUT_APPEND(r->advice, "; the initial state violates the %s by %.2g%s",
                    mechanical ? "rigid bonds" : "constraints", d->position,
                    mechanical ? ", and a run moves it onto them" : "");
    if (d->hard && !d->frequencies && d->dependent[0])
        TAUT_APPEND(r->advice, "; springs that follow from rigid bonds have no effect: omit them");
    if (c->redundant[0])
        TAUT_APPEND(r->advice, "; redundant rigid bonds share their forces: the multipliers are "
                               "those of least norm");
    if (mechanical && !d->over_ranks && taut_motion_oscillates(d) && !d->overdamped &&
        is_slow_without(d))
        TAUT_APPEND(r->advice, "; motion slow removes the oscillation of the initial state");
    if (d->most > 0 && motion != TAUT_MOTION_FULL)
        TAUT_APPEND(r->advice, "; motion full needs a step size of about %.2g (0.3 over %s)",
                    0.3 / d->most,
                    d->over_ranks ? "a bound of the frequencies" : "the highest frequency");
    if (d->sizes.observables > 0)
        TAUT_APPEND(r->advice, "; projections find a slow point for its observables");
}

static void advise(const taut_system *system, const taut_options *given, const taut_diagnosis *d,
                   const choice *c, const taut_error *reason, taut_check_report *r)
{
    advise_correction(system, d, r);
    if (r->verdict)
        return;
    if (c->method)
        advise_run(d, given, c, r);
    else if (d->sizes.kind == TAUT_BLACK_BOX)
        TAUT_APPEND(r->advice, "well posed%s",
                    d->sizes.observables > 0
                        ? ""
                        : "; name [observables], and projections find a slow point "
                          "for them");
    else
        TAUT_APPEND(r->advice, "a run cannot begin: %s", reason->message);
    advise_state(d, c, r);
}

/* The sizes of all parts together; entries of G are counted where their bonds are owned. */
static int find_whole(const taut_system *system, taut_check_report *r, taut_error *error)
{
    const taut_part *part = system->part;
    taut_pattern g;
    double entries = 0;
    r->ranks = part ? part->space->size : 1;
    r->sizes = &system->sizes;
    if (!part)
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &g, error));
    for (taut_index i = 0; i < g.rows; i++)
        entries += part->ghost_bond[i] ? 0 : g.start[i + 1] - g.start[i];
    r->whole = system->sizes;
    r->whole.coordinates = (taut_index)part->coordinates.total;
    r->whole.bonds = (taut_index)part->bonds.total;
    r->whole.jacobian_entries = (int64_t)taut_space_sum(part->space, entries);
    r->whole.members = -1;
    r->sizes = &r->whole;
    return TAUT_OK;
}

static int check(const taut_system *system, const taut_options *options, taut_check_report *report,
                 taut_error *error)
{
    taut_diagnosis d;
    taut_solver *solver;
    choice chosen = {0};
    taut_error reason = {.t = NAN};
    int status = taut_solver_try(system, options, &system->arena.allocator, &solver, &d, &reason);
    if (solver)
        take_choice(solver, &chosen);
    taut_solver_destroy(solver); /* derivatives need as much memory again */
    bool derivatives = d.sizes.kind != TAUT_BLACK_BOX &&
                       !(options && taut_options_flag(options, "no-derivatives"));
    if (status != 0 && d.parts) /* a run cannot begin: advice, unless no other way is open */
        status = taut_fail_final(status, &reason, error);
    else if (status != 0 && error)
        *error = reason;
    if (status == 0) {
        report_diagnosis(&d, report);
        report->kinks = system->kinks;
        status = find_whole(system, report, error);
    }
    if (status == 0 && chosen.redundant[0] && !report->rank_message[0])
        TAUT_APPEND(report->rank_message, "the rigid bonds have rank %d of %d: %s",
                    (int)chosen.rank, (int)chosen.rows, chosen.redundant);
    if (status == 0 && derivatives)
        status = check_derivatives(system, d.t, report, error);
    if (status == 0)
        status = taut_check_invariants(system, d.t, report, error);
    if (status == 0)
        advise(system, options, &d, &chosen, &reason, report);
    return status;
}

int taut_check(const taut_system *system, const taut_options *options, taut_check_report *report,
               taut_error *error)
{
    taut_check_report own = {0};
    taut_error_clear(error);
    TAUT_REQUIRE(system);
    TAUT_TRY(taut_struct_fill(report, &own, sizeof own, "taut_check_report", error));
    int status = check(system, options, &own, error);
    const bool divided = own.sizes == &own.whole,
               room = report->size >= offsetof(taut_check_report, whole) + sizeof own.whole;
    taut_struct_fill(report, &own, sizeof own, "taut_check_report", NULL);
    if (divided)
        report->sizes = room ? &report->whole : &system->sizes;
    return status;
}
