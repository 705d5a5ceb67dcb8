/* callback.c - a C function as a black box: the system that taut_system_from_flow makes, and its
 * flow. */
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "base/number.h"
#include "base/pool.h"
#include "base/structs.h"
#include "blackbox/flows.h"
#include "blackbox/internal_state.h"
#include "system/system.h"

enum { NAME_MOST = 100 };

typedef struct black_box {
    taut_black_box given;
    unsigned char *first; /* internal state when the system is made */
} black_box;

/* ---- the system: variables, some of them observed; nothing else is known */

static int evaluate(taut_context *context, double t, const double *q, const double *v,
                    unsigned wanted, taut_values *values, taut_error *error)
{
    const taut_system *system = context->system;
    (void)t;
    (void)v;
    if (wanted & ~(unsigned)(TAUT_WANT_BOND | TAUT_WANT_JACOBIAN))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "a black box has a flow, but no rates that could be evaluated");
    for (taut_index i = 0; i < system->sizes.bonds; i++) {
        if (wanted & TAUT_WANT_BOND)
            values->bond[i] = q[system->jacobian_column[i]];
        if (wanted & TAUT_WANT_JACOBIAN) {
            values->jacobian[i] = 1;
            values->bond_dt[i] = 0;
        }
    }
    return TAUT_OK;
}

static int attach(taut_context *context, taut_error *error)
{
    (void)context;
    (void)error;
    return TAUT_OK;
}

static int start(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    const black_box *box = context->system->extra;
    (void)t;
    (void)error;
    taut_copy(box->given.variables, box->given.start, q);
    taut_system_give(context->system, q, v);
    return TAUT_OK;
}

static int take_names(taut_system *system, const taut_black_box *given, taut_error *error)
{
    taut_arena *arena = &system->arena;
    if (!given->names) {
        taut_name_block block = {.dims = 1,
                                 .lo = {1},
                                 .hi = {given->variables},
                                 .count = given->variables,
                                 .components = 1};
        return taut_names_add(&system->coordinates, arena, "z", &block) ? taut_fail_memory(error)
                                                                        : TAUT_OK;
    }
    for (taut_index k = 0; k < given->variables; k++) {
        size_t length = given->names[k] ? strlen(given->names[k]) : 0;
        if (length == 0 || length > NAME_MOST)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "taut_system_from_flow: name %d must have 1 to %d characters", k,
                             NAME_MOST);
        taut_name_block block = {.count = 1, .components = 1, .first = k};
        char *copy = taut_arena_text(arena, given->names[k], length);
        if (!copy || taut_names_add(&system->coordinates, arena, copy, &block))
            return taut_fail_memory(error);
    }
    return TAUT_OK;
}

static int take_observables(taut_system *system, const taut_black_box *given, taut_error *error)
{
    taut_arena *arena = &system->arena;
    taut_index m = given->observables;
    system->jacobian_start = TAUT_NEW(arena, taut_index, m + 1);
    system->jacobian_column = TAUT_NEW(arena, taut_index, m);
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < m; i++) {
        taut_index j = given->observable[i];
        if (j < 0 || j >= given->variables)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "taut_system_from_flow: observable[%d] is %d, which is not a variable",
                             i, j);
        system->jacobian_start[i + 1] = i + 1;
        system->jacobian_column[i] = j;
        char name[NAME_MOST + 16];
        taut_names_print(&system->coordinates, j, name, sizeof name);
        taut_name_block block = {.count = 1, .components = 1, .first = i};
        char *copy = taut_arena_text(arena, name, strlen(name));
        if (!copy || taut_names_add(&system->bonds, arena, copy, &block))
            return taut_fail_memory(error);
    }
    return TAUT_OK;
}

/* The horizon as a setting of [stepper], where all flows look for it. */
static int take_horizon(taut_system *system, double horizon, taut_error *error)
{
    char text[TAUT_NUMBER_SIZE];
    if (!(horizon >= 0) || !isfinite(horizon))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_system_from_flow: horizon is %g: expected a time, or 0", horizon);
    if (horizon == 0)
        return TAUT_OK;
    int length = taut_number_format(horizon, 17, text);
    system->stepper = TAUT_NEW(&system->arena, taut_setting, 1);
    char *copy = taut_arena_text(&system->arena, text, (size_t)length);
    TAUT_TRY(taut_arena_check(&system->arena, error));
    system->stepper[0] = (taut_setting){"horizon", copy};
    system->steppers = 1;
    return TAUT_OK;
}

/* The internal state of the beginning. */
static int take_memory(taut_system *system, black_box *box, taut_error *error)
{
    const taut_black_box *given = &box->given;
    if (!given->save && !given->restore)
        return TAUT_OK;
    if (!given->save || !given->restore || given->memory == 0 || given->threads)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_system_from_flow: save and restore are given together, with "
                         "`memory` > 0 bytes, and without `threads`: one internal state cannot "
                         "serve several threads");
    box->first = TAUT_NEW(&system->arena, unsigned char, given->memory);
    TAUT_NEED(error, box->first);
    int status = given->save(given->user, box->first);
    if (status != 0)
        return taut_fail(error, TAUT_ERROR_STOPPED,
                         "taut_system_from_flow: the function `save` returned %d", status);
    return TAUT_OK;
}

static int fill(taut_system *system, const taut_black_box *given, taut_error *error)
{
    black_box *box = system->extra = TAUT_NEW(&system->arena, black_box, 1);
    double *first = TAUT_NEW(&system->arena, double, given->variables);
    TAUT_TRY(taut_arena_check(&system->arena, error));
    for (taut_index i = 0; i < given->variables && given->start; i++)
        if (!isfinite(first[i] = given->start[i]))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "taut_system_from_flow: start[%d] is %g: it must be finite", i,
                             first[i]);
    box->given = *given;
    box->given.start = first;
    box->given.names = NULL;
    box->given.observable = NULL;
    TAUT_TRY(take_memory(system, box, error));
    system->sizes.kind = TAUT_BLACK_BOX;
    system->sizes.can = TAUT_HAS_STEPPER;
    system->sizes.coordinates = given->variables;
    system->sizes.bonds = system->sizes.observables = given->observables;
    system->sizes.jacobian_entries = given->observables;
    system->evaluate = evaluate;
    system->attach = attach;
    system->start = start;
    TAUT_TRY(take_names(system, given, error));
    TAUT_TRY(take_observables(system, given, error));
    return take_horizon(system, given->horizon, error);
}

int taut_system_from_flow(const taut_black_box *given, const taut_allocator *allocator,
                          taut_system **result, taut_error *error)
{
    taut_black_box box;
    taut_error_clear(error);
    TAUT_REQUIRE(result);
    *result = NULL;
    TAUT_TRY(taut_struct_read(&box, sizeof box, given, "taut_black_box", error));
    if (box.variables <= 0 || box.observables < 0 || box.observables > box.variables ||
        (box.observables > 0 && !box.observable) || !box.advance)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_system_from_flow: %d variables, %d observables: expected at least "
                         "one variable, their observables, and a function `advance`",
                         box.variables, box.observables);
    taut_system *system = taut_system_new(allocator);
    TAUT_NEED(error, system);
    int status = fill(system, &box, error);
    if (status) {
        taut_system_destroy(system);
        return status;
    }
    *result = system;
    return TAUT_OK;
}

/* ---- its flow */

/* What a thread needs. */
typedef struct lane {
    double *work; /* [size] */
    int64_t part; /* of its first failure */
    int status;
    taut_error error;
} lane;

typedef struct callback_flow {
    taut_flow flow;
    const taut_system *system;
    const black_box *box;
    taut_internal_state *internal; /* NULL: none */
    taut_pool *pool;               /* NULL: one thread */
    lane *lanes;                   /* [threads] */
    /* of advance_all */
    double t, H, *states;
} callback_flow;

static int call(const callback_flow *f, double t, double H, const double *from, double *to,
                taut_error *error)
{
    taut_copy(f->flow.size, from, to);
    int status = f->box->given.advance(f->box->given.user, t, H, to);
    if (status < 0)
        return taut_fail(error, TAUT_ERROR_STOPPED,
                         "the function `advance` asked to stop at t = %g (it returned %d)", t,
                         status);
    if (status > 0) {
        taut_fail(error, TAUT_ERROR_EVALUATE,
                  "the function `advance` cannot go on from t = %g (it returned %d)", t, status);
        return TAUT_RETRY;
    }
    if (taut_check_finite(f->system, TAUT_COORDINATE, "the flow", t, to, f->flow.size, error) != 0)
        return TAUT_RETRY;
    return TAUT_OK;
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    callback_flow *f = (callback_flow *)flow;
    double *to = f->lanes[0].work;
    flow->statistics->micro_steps++;
    if (f->internal)
        TAUT_TRY(taut_internal_state_restore(f->internal, t, H, state, error));
    int status = call(f, t, H, state, to, error);
    if (f->internal && status >= 0)
        TAUT_TRY(
            taut_internal_state_save(f->internal, t, state, t + H, status == 0 ? to : NULL, error));
    if (status == 0)
        taut_copy(flow->size, to, state);
    return status;
}

static void advance_part(void *context, int64_t part, int thread)
{
    callback_flow *f = context;
    lane *l = &f->lanes[thread];
    double *state = f->states + part * f->flow.size;
    if (l->status != 0) /* of an earlier part: parts come in increasing order */
        return;
    l->part = part;
    l->status = call(f, f->t, f->H, state, l->work, &l->error);
    if (l->status == 0)
        taut_copy(f->flow.size, l->work, state);
}

/* The failure that is returned is the first by number, which does not depend on the threads. */
static int advance_all(taut_flow *flow, double t, double H, int count, double *states,
                       taut_error *error)
{
    callback_flow *f = (callback_flow *)flow;
    const lane *first = NULL;
    int threads = taut_pool_size(f->pool);
    f->t = t;
    f->H = H;
    f->states = states;
    for (int k = 0; k < threads; k++)
        f->lanes[k].status = 0;
    flow->statistics->micro_steps += count;
    taut_pool_run(f->pool, count, advance_part, f);
    for (int k = 0; k < threads; k++)
        if (f->lanes[k].status != 0 && (!first || f->lanes[k].part < first->part))
            first = &f->lanes[k];
    if (first && error)
        *error = first->error;
    return first ? first->status : TAUT_OK;
}

static void archive(taut_flow *flow, taut_archive *a)
{
    taut_internal_state_archive(((callback_flow *)flow)->internal, a);
}

static void destroy(taut_flow *flow)
{
    taut_pool_destroy(((callback_flow *)flow)->pool);
}

static int prepare(callback_flow *f, int copies, taut_arena *arena, taut_error *error)
{
    taut_index n = f->flow.size;
    const taut_black_box *box = &f->box->given;
    int threads = 1;
    if (box->threads && copies > 1) {
        TAUT_TRY(taut_pool_create(copies, &arena->allocator, &f->pool, error));
        f->flow.advance_all = advance_all;
        threads = taut_pool_size(f->pool);
    }
    f->lanes = TAUT_NEW(arena, lane, threads);
    TAUT_TRY(taut_arena_check(arena, error));
    for (int k = 0; k < threads; k++)
        f->lanes[k].work = TAUT_NEW(arena, double, n);
    TAUT_TRY(taut_arena_check(arena, error));
    if (!box->save)
        return TAUT_OK;
    f->flow.archive = archive;
    f->internal = TAUT_NEW(arena, taut_internal_state, 1);
    TAUT_NEED(error, f->internal);
    return taut_internal_state_create(f->internal, n, box, f->box->first, arena, error);
}

int taut_flow_callback(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                       int copies, taut_flow **flow, taut_error *error)
{
    *flow = NULL;
    if (system->evaluate != evaluate)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "the black box has neither a command nor a function: there is nothing to run");
    callback_flow *f = TAUT_NEW(arena, callback_flow, 1);
    TAUT_NEED(error, f);
    *f = (callback_flow){.flow = {.name = "function",
                                  .size = system->sizes.coordinates,
                                  .advance = advance,
                                  .destroy = destroy,
                                  .statistics = statistics},
                         .system = system,
                         .box = system->extra};
    return taut_flow_made(&f->flow, prepare(f, copies, arena, error), flow);
}
