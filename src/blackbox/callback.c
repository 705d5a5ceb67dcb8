/* callback.c - a C function as a black box: the system that taut_system_from_flow makes, and its
 * flow. */
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "base/number.h"
#include "base/structs.h"
#include "blackbox/flows.h"
#include "system/system.h"

enum { NAME_MOST = 100 };

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
    const taut_black_box *box = context->system->extra;
    (void)t;
    (void)v;
    (void)error;
    taut_copy(box->variables, box->start, q);
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

static int fill(taut_system *system, const taut_black_box *given, taut_error *error)
{
    taut_black_box *box = system->extra = TAUT_NEW(&system->arena, taut_black_box, 1);
    double *first = TAUT_NEW(&system->arena, double, given->variables);
    TAUT_TRY(taut_arena_check(&system->arena, error));
    for (taut_index i = 0; i < given->variables && given->start; i++)
        if (!isfinite(first[i] = given->start[i]))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "taut_system_from_flow: start[%d] is %g: it must be finite", i,
                             first[i]);
    *box = *given;
    box->start = first;
    box->names = NULL;
    box->observable = NULL;
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

typedef struct callback_flow {
    taut_flow flow;
    const taut_system *system;
    const taut_black_box *box;
    double *work; /* [size] */
} callback_flow;

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    callback_flow *f = (callback_flow *)flow;
    taut_copy(flow->size, state, f->work);
    flow->statistics->micro_steps++;
    int status = f->box->advance(f->box->user, t, H, f->work);
    if (status < 0)
        return taut_fail(error, TAUT_ERROR_STOPPED,
                         "the function `advance` asked to stop at t = %g (it returned %d)", t,
                         status);
    if (status > 0) {
        taut_fail(error, TAUT_ERROR_EVALUATE,
                  "the function `advance` cannot go on from t = %g (it returned %d)", t, status);
        return TAUT_RETRY;
    }
    if (taut_check_finite(f->system, TAUT_COORDINATE, "the flow", t, f->work, flow->size, error) !=
        0)
        return TAUT_RETRY;
    taut_copy(flow->size, f->work, state);
    return TAUT_OK;
}

static void destroy(taut_flow *flow)
{
    (void)flow;
}

int taut_flow_callback(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                       taut_flow **flow, taut_error *error)
{
    *flow = NULL;
    if (system->evaluate != evaluate)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "the black box has neither a command nor a function: there is nothing to run");
    callback_flow *f = TAUT_NEW(arena, callback_flow, 1);
    double *work = TAUT_NEW(arena, double, system->sizes.coordinates);
    TAUT_TRY(taut_arena_check(arena, error));
    f->flow = (taut_flow){.name = "function",
                          .size = system->sizes.coordinates,
                          .advance = advance,
                          .destroy = destroy,
                          .statistics = statistics};
    f->system = system;
    f->box = system->extra;
    f->work = work;
    *flow = &f->flow;
    return TAUT_OK;
}
