/* check_invariants.c - are [invariants] constants of the motion? Their rate by the equations of the
 * model as it is written,
 *
 *     mechanical    h' = h_t + h_q v + h_v v',     v' of the index-1 field: springs act as forces
 *     first order   h' = h_t + h_z z'
 *
 * compared with the sum of the sizes of its terms; at the initial state, and at two others (at rest
 * every energy is constant, and a force may vanish in one direction). */
#include "verbs/check_invariants.h"

#include <math.h>
#include <stdio.h>

#include "base/vectors.h"
#include "drive/solver.h"
#include "point/foot_point.h"
#include "system/conserved.h"
#include "wrap/fields.h"

static const double CONSTANT = 1e-6; /* a rate below this share of its terms is 0: conserve.c */

typedef struct examined {
    taut_context *context;
    const taut_sizes *sizes;
    taut_arena arena;
    taut_statistics statistics;
    taut_field *field;
    taut_projector *onto_rigid; /* or NULL */
    taut_index n, rows, first;  /* invariants are rows first .. first + rows - 1 of the pattern */
    taut_pattern pattern;
    double *q, *v, *x;              /* x: (v, v'), first order z' */
    double *value, *rate, *entries; /* of all rows of the pattern */
} examined;

static bool is_mechanical(const examined *e)
{
    return e->sizes->kind == TAUT_MECHANICAL;
}

/* The field may not exist (a singular mass, redundant bonds): then rates stay unknown. */
static int prepare(examined *e, const taut_system *system, double t, taut_error *error)
{
    static const taut_foot_point_settings anywhere = {.ignore_holds = true, .late = true};
    taut_arena *arena = &e->arena;
    taut_error reason;
    e->n = e->sizes->coordinates;
    e->first = is_mechanical(e) ? 0 : e->sizes->constraints;
    e->rows = e->sizes->invariants;
    if (is_mechanical(e))
        taut_conserved_rows(system, &e->pattern);
    else
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &e->pattern, error));
    taut_index velocities = is_mechanical(e) ? e->n : e->sizes->algebraic;
    TAUT_TRY(taut_context_create(system, &arena->allocator, &e->context, error));
    TAUT_TRY(TAUT_RESERVE(arena, 2 * e->n, error, &e->x));
    TAUT_TRY(TAUT_RESERVE(arena, e->n, error, &e->q));
    TAUT_TRY(TAUT_RESERVE(arena, velocities, error, &e->v));
    TAUT_TRY(TAUT_RESERVE(arena, e->pattern.rows, error, &e->value, &e->rate));
    TAUT_TRY(TAUT_RESERVE(arena, e->pattern.start[e->pattern.rows], error, &e->entries));
    TAUT_TRY(taut_context_start(e->context, t, e->q, e->v, error));
    if (e->sizes->kind == TAUT_BLACK_BOX)
        return TAUT_OK;
    int status =
        !is_mechanical(e)
            ? taut_field_first_order(e->context, arena, &e->statistics, 0, NULL, &e->field, &reason)
            : taut_field_index1(e->context, arena, &e->statistics, 0, 0, &e->field, &reason);
    if (status == 0 && is_mechanical(e) && (e->sizes->can & TAUT_HAS_RIGID))
        status = taut_foot_create(&taut_bond_foot, e->context, arena, &e->statistics, &anywhere,
                                  &e->onto_rigid, &reason);
    return taut_fail_final(status, &reason, error);
}

/* h, its derivatives and its explicit rate. */
static int evaluate(examined *e, double t, taut_error *error)
{
    if (is_mechanical(e))
        return taut_conserved_evaluate(e->context, t, e->q, e->v, e->value, e->entries, e->rate,
                                       error);
    taut_values to = {.bond = e->value, .bond_dt = e->rate, .jacobian = e->entries};
    return taut_evaluate_inside(e->context, t, e->q, e->v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &to,
                                error);
}

/* The rate of (q, v), in x. */
static int find_motion(examined *e, double t)
{
    taut_error reason;
    if (!e->field)
        return TAUT_ERROR_EVALUATE;
    if (!is_mechanical(e))
        return e->field->evaluate(e->field, t, e->q, NULL, e->x, NULL, &reason);
    taut_copy(e->n, e->v, e->x);
    return e->field->evaluate(e->field, t, e->q, e->v, e->x + e->n, NULL, &reason);
}

/* *size: the sum of the sizes of its terms. */
static double rate_of(const examined *e, taut_index row, double *size)
{
    double sum = e->rate[row];
    *size = fabs(sum);
    for (taut_index k = e->pattern.start[row]; k < e->pattern.start[row + 1]; k++) {
        double term = e->entries[k] * e->x[e->pattern.column[k]];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* Other states that the motion could be in: at first other velocities (as in run_start.c), then
 * other positions too, both on the rigid bonds. First order: other values; of what constraints hold
 * together there are none. */
static int move(examined *e, int k, double t)
{
    taut_error reason;
    bool mechanical = is_mechanical(e);
    double *x = mechanical && k == 0 ? e->v : e->q, size = taut_largest(e->n, x);
    if (!mechanical && e->sizes->constraints > 0)
        return TAUT_ERROR_REFUSED;
    for (taut_index i = 0; i < e->n; i++)
        x[i] += mechanical ? (k == 0 ? 0.37 : 0.3) * (size > 0 ? size : 1) * sin(1.0 + k + 1.7 * i)
                           : 1e-3 * x[i] * sin(1.0 + k + 1.7 * i);
    return e->onto_rigid ? e->onto_rigid->apply(e->onto_rigid, t, e->q, e->v, &reason) : TAUT_OK;
}

static int examine(examined *e, const taut_system *system, double t, taut_check_report *r,
                   taut_error *error)
{
    enum { ROOM = sizeof r->invariant / sizeof r->invariant[0] };
    double size;
    taut_error reason;
    TAUT_TRY(prepare(e, system, t, error));
    TAUT_TRY(taut_unevaluated(evaluate(e, t, error), t, error));
    bool known = find_motion(e, t) == 0;
    r->invariants = e->rows < ROOM ? (int)e->rows : ROOM;
    for (int k = 0; k < r->invariants; k++) {
        taut_invariant_check *row = &r->invariant[k];
        if (is_mechanical(e))
            taut_conserved_name(system, k, row->name, sizeof row->name);
        else
            taut_system_name(system, TAUT_BOND, e->first + k, row->name, sizeof row->name);
        row->value = e->value[e->first + k];
        row->rate = known ? rate_of(e, e->first + k, &size) : NAN;
        row->constant = known ? fabs(row->rate) <= CONSTANT * size : -1;
    }
    for (int j = 0; j < 2 && known; j++) {
        known = move(e, j, t) == 0 && evaluate(e, t, &reason) == 0 && find_motion(e, t) == 0;
        for (int k = 0; known && k < r->invariants; k++)
            if (fabs(rate_of(e, e->first + k, &size)) > CONSTANT * size)
                r->invariant[k].constant = 0;
    }
    return TAUT_OK;
}

int taut_check_invariants(const taut_system *system, double t, taut_check_report *report,
                          taut_error *error)
{
    examined e = {.sizes = report->sizes};
    if (report->sizes->invariants == 0)
        return TAUT_OK;
    taut_arena_init(&e.arena, &system->arena.allocator);
    int status = examine(&e, system, t, report, error);
    if (e.onto_rigid && e.onto_rigid->destroy)
        e.onto_rigid->destroy(e.onto_rigid);
    if (e.field && e.field->destroy)
        e.field->destroy(e.field);
    taut_context_destroy(e.context);
    taut_arena_clear(&e.arena);
    return status;
}
