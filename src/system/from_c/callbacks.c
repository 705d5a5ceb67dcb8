/* callbacks.c - a system from C functions: arguments are checked and copied, patterns and
 * colours are fixed. differences.c evaluates.
 *
 * df/dq, df/dv, M and weighted Hessians live on a full n x n pattern up to 500 coordinates and
 * wherever there is a mass matrix; above that on the pattern of G^T G with the diagonal, which
 * holds the Hessians but not necessarily df/dq: forces between coordinates that no bond joins
 * would be credited to the wrong column. `taut_check` shows it. */
#include "base/random.h"
#include "system/from_c/callbacks.h"

#include <math.h>
#include <string.h>

#include "base/structs.h"

enum { FULL_MOST = 500, TANGENT_MOST = 1 << 27, NAME_MOST = 100 };

typedef struct maker {
    const taut_callbacks *given;
    taut_system *system;
    taut_callback_system *s;
    taut_error *error;
} maker;

/* ---- arrays */

static int fail_value(const maker *m, const char *what, taut_index k, double value,
                      const char *rule)
{
    return taut_fail(m->error, TAUT_ERROR_USAGE, "taut_system_from_callbacks: %s[%d] is %g: %s",
                     what, k, value, rule);
}

/* A copy of x[n], or n times `value` when there is none; entries must be finite and, where
 * asked, not negative. */
static int take(const maker *m, const char *what, const double *x, taut_index n, double value,
                bool positive, const double **copy)
{
    double *to = TAUT_NEW(&m->system->arena, double, n);
    TAUT_NEED(m->error, to);
    for (taut_index k = 0; k < n; k++) {
        to[k] = x ? x[k] : value;
        if (!isfinite(to[k]) || (positive && to[k] < 0))
            return fail_value(m, what, k, to[k],
                              positive ? "it must be finite and not negative"
                                       : "it must be finite");
    }
    *copy = to;
    return 0;
}

static int take_arrays(maker *m)
{
    const taut_callbacks *given = m->given;
    taut_callbacks *call = &m->s->call;
    taut_index n = given->coordinates;
    TAUT_TRY(take(m, "mass", given->mass_matrix ? NULL : given->mass, n, 1, true, &call->mass));
    TAUT_TRY(take(m, "compliance", given->compliance, given->bonds, 0, true, &call->compliance));
    TAUT_TRY(take(m, "damping", given->damping, given->bonds, 0, true, &call->damping));
    TAUT_TRY(take(m, "start_q", given->start_q, n, 0, false, &call->start_q));
    TAUT_TRY(take(m, "start_v", given->start_v, n, 0, false, &call->start_v));
    for (taut_index i = 0; i < given->bonds; i++)
        if (call->damping[i] > 0 && call->compliance[i] == 0)
            return fail_value(m, "damping", i, call->damping[i],
                              "a rigid bond cannot be damped; give it a compliance");
    return 0;
}

/* ---- names */

static int take_names(const maker *m, const char *const *names, const char *family,
                      taut_index count, taut_names *to)
{
    taut_arena *arena = &m->system->arena;
    if (!names && count > 0) {
        taut_name_block block = {
            .dims = 1, .lo = {1}, .hi = {count}, .count = count, .components = 1};
        return taut_names_add(to, arena, family, &block) ? taut_fail_memory(m->error) : 0;
    }
    for (taut_index k = 0; k < count; k++) {
        size_t length = names[k] ? strlen(names[k]) : 0;
        if (length == 0 || length > NAME_MOST)
            return taut_fail(
                m->error, TAUT_ERROR_USAGE,
                "taut_system_from_callbacks: name %d of the %s must have 1 to %d characters", k,
                family[0] == 'q' ? "coordinates" : "bonds", NAME_MOST);
        taut_name_block block = {.count = 1, .components = 1};
        char *copy = taut_arena_text(arena, names[k], length);
        if (!copy || taut_names_add(to, arena, copy, &block))
            return taut_fail_memory(m->error);
    }
    return 0;
}

/* ---- patterns */

/* Rows given by the caller: in order, inside, without repetition. */
static int check_rows(const maker *m, taut_index *stamp)
{
    const taut_callbacks *given = m->given;
    const taut_index *start = given->jacobian_start;
    for (taut_index i = 0; i < given->bonds; i++) {
        if ((i == 0 && start[0] != 0) || start[i + 1] < start[i])
            return taut_fail(m->error, TAUT_ERROR_USAGE,
                             "taut_system_from_callbacks: jacobian_start must begin with 0 and not "
                             "decrease (row %d)",
                             i);
        for (taut_index k = start[i]; k < start[i + 1]; k++) {
            taut_index j = given->jacobian_column[k];
            if (j < 0 || j >= given->coordinates || stamp[j] == i + 1)
                return taut_fail(m->error, TAUT_ERROR_USAGE,
                                 j < 0 || j >= given->coordinates
                                     ? "taut_system_from_callbacks: jacobian_column[%d] is %d, "
                                       "which is not a coordinate (row %d)"
                                     : "taut_system_from_callbacks: jacobian_column[%d] names "
                                       "column %d a second time in row %d",
                                 k, j, i);
            stamp[j] = i + 1;
        }
    }
    return 0;
}

static int full_pattern(const maker *m, taut_index rows, taut_index columns, taut_pattern *pattern)
{
    int64_t entries = (int64_t)rows * columns;
    if (entries > TANGENT_MOST)
        return taut_fail(
            m->error, TAUT_ERROR_SIZE,
            "taut_system_from_callbacks: a full matrix of %d x %d is too large: give the sparsity "
            "of G (jacobian_start, jacobian_column) and masses without a matrix",
            rows, columns);
    taut_index *start = TAUT_NEW(&m->system->arena, taut_index, rows + 1);
    taut_index *column = TAUT_NEW(&m->system->arena, taut_index, entries);
    TAUT_NEED(m->error, start, column);
    for (taut_index i = 0; i < rows; i++) {
        start[i + 1] = start[i] + columns;
        for (taut_index j = 0; j < columns; j++)
            column[start[i] + j] = j;
    }
    *pattern = (taut_pattern){rows, columns, start, column};
    return 0;
}

static int take_rows(maker *m, taut_pattern *pattern)
{
    const taut_callbacks *given = m->given;
    if (!given->jacobian_start && !given->jacobian_column)
        return full_pattern(m, given->bonds, given->coordinates, pattern);
    if (!given->jacobian_start || !given->jacobian_column)
        return taut_fail(
            m->error, TAUT_ERROR_USAGE,
            "taut_system_from_callbacks: give both jacobian_start and jacobian_column, or neither");
    taut_arena scratch;
    taut_arena_init(&scratch, &m->system->arena.allocator);
    taut_index *stamp = TAUT_NEW(&scratch, taut_index, given->coordinates);
    int status = stamp ? check_rows(m, stamp) : taut_fail_memory(m->error);
    taut_arena_clear(&scratch);
    TAUT_TRY(status);
    int64_t entries = given->bonds ? given->jacobian_start[given->bonds] : 0;
    taut_index *start = TAUT_NEW(&m->system->arena, taut_index, given->bonds + 1);
    taut_index *column = TAUT_NEW(&m->system->arena, taut_index, entries);
    TAUT_NEED(m->error, start, column);
    if (entries) {
        memcpy(start, given->jacobian_start, ((size_t)given->bonds + 1) * sizeof *start);
        memcpy(column, given->jacobian_column, (size_t)entries * sizeof *column);
    }
    *pattern = (taut_pattern){given->bonds, given->coordinates, start, column};
    return 0;
}

static int make_patterns(maker *m)
{
    taut_pattern jacobian, tangent;
    taut_arena *arena = &m->system->arena;
    taut_index n = m->given->coordinates;
    TAUT_TRY(take_rows(m, &jacobian));
    if (n <= FULL_MOST || m->given->mass_matrix)
        TAUT_TRY(full_pattern(m, n, n, &tangent));
    else
        TAUT_TRY(taut_colour_square(&jacobian, TANGENT_MOST, arena, &tangent, m->error));
    if (!m->given->jacobian)
        TAUT_TRY(taut_colour(&jacobian, arena, &m->s->jacobian, m->error));
    TAUT_TRY(taut_colour(&tangent, arena, &m->s->tangent, m->error));
    /* the arrays are the system's own: the pattern only shows them */
    m->system->jacobian_start = (taut_index *)(uintptr_t)jacobian.start;
    m->system->jacobian_column = (taut_index *)(uintptr_t)jacobian.column;
    m->system->sizes.jacobian_entries = jacobian.start[m->given->bonds];
    return taut_system_set_tangent(m->system, &tangent, m->error);
}

/* ---- what the system can do */

/* The start, and points near it. */
static void near_start(const taut_callbacks *call, int k, uint64_t *seed, double *q)
{
    for (taut_index i = 0; i < call->coordinates; i++)
        q[i] = call->start_q[i] +
               (k == 0 ? 0 : 1e-3 * taut_random(seed) * fmax(1, fabs(call->start_q[i])));
}

static int stopped(const maker *m, const char *callback, int status)
{
    return taut_fail(m->error, TAUT_ERROR_STOPPED,
                     "taut_system_from_callbacks: the callback '%s' asked to stop at the start (it "
                     "returned %d)",
                     callback, status);
}

/* f and g in one array. *usable: they can be evaluated. */
static int both_at(const maker *m, double t, const double *q, double *both, bool *usable)
{
    const taut_callbacks *call = &m->s->call;
    int status = call->force(call->user, t, q, call->start_v, both);
    if (status < 0)
        return stopped(m, "force", status);
    *usable = status == 0;
    if (call->bonds > 0)
        status = call->bond(call->user, t, q, both + call->coordinates);
    if (status < 0)
        return stopped(m, "bond", status);
    *usable = *usable && status == 0;
    for (taut_index i = 0; i < call->coordinates + call->bonds && *usable; i++)
        *usable = isfinite(both[i]);
    return 0;
}

/* Do f and g change with t? Asked at the start and at two points near it. */
static int find_time(const maker *m, taut_arena *scratch, bool *depends)
{
    const taut_callbacks *call = &m->s->call;
    const taut_index rows = call->coordinates + call->bonds;
    uint64_t seed = 1;
    double *q, *first, *later;
    TAUT_TRY(TAUT_RESERVE(scratch, call->coordinates, m->error, &q));
    TAUT_TRY(TAUT_RESERVE(scratch, rows, m->error, &first, &later));
    for (int k = 0; k < 3 && !*depends; k++) {
        bool usable;
        near_start(call, k, &seed, q);
        TAUT_TRY(both_at(m, 0, q, first, &usable));
        if (usable)
            TAUT_TRY(both_at(m, 1e-3 * (2 + taut_random(&seed)), q, later, &usable));
        for (taut_index i = 0; i < rows && usable; i++)
            *depends = *depends || first[i] != later[i];
    }
    return 0;
}

/* Does f change with v? Asked at the start and at two points near it; where nothing can be
 * evaluated, yes. */
static int find_velocity_forces(const maker *m, taut_arena *scratch, bool *depends)
{
    const taut_callbacks *call = &m->s->call;
    taut_index n = call->coordinates;
    uint64_t seed = 1;
    int compared = 0;
    double *q, *v, *zero, *still, *moving;
    TAUT_TRY(TAUT_RESERVE(scratch, n, m->error, &q, &v, &zero, &still, &moving));
    *depends = false;
    for (int k = 0; k < 3; k++) {
        near_start(call, k, &seed, q);
        for (taut_index i = 0; i < n; i++)
            v[i] = call->start_v[i] + taut_random(&seed);
        int status = call->force(call->user, 0, q, zero, still);
        if (status == 0)
            status = call->force(call->user, 0, q, v, moving);
        if (status < 0)
            return stopped(m, "force", status);
        bool usable = status == 0;
        for (taut_index i = 0; i < n && usable; i++)
            usable = isfinite(still[i]) && isfinite(moving[i]);
        compared += usable;
        for (taut_index i = 0; i < n && usable; i++)
            *depends = *depends || still[i] != moving[i];
    }
    *depends = *depends || compared == 0;
    return 0;
}

static int find_capabilities(maker *m)
{
    const taut_callbacks *call = &m->s->call;
    unsigned can = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS;
    if (call->bonds == 0 || (call->jacobian && call->gamma))
        can |= TAUT_CAN_DERIVATIVES;
    for (taut_index i = 0; i < call->coordinates; i++)
        if (call->mass[i] == 0)
            can &= ~(unsigned)TAUT_CAN_INVERT_MASS;
    for (taut_index i = 0; i < call->bonds; i++)
        can |= (call->compliance[i] > 0 ? TAUT_HAS_SPRINGS : TAUT_HAS_RIGID) |
               (call->damping[i] > 0 ? TAUT_HAS_DAMPING : 0);
    m->s->springs = can & TAUT_HAS_SPRINGS;
    if (call->mass_matrix)
        can |= TAUT_HAS_VARYING_MASS;
    bool velocity = call->velocity_dependent, time = call->time_dependent;
    taut_arena scratch;
    taut_arena_init(&scratch, &m->system->arena.allocator);
    int status = velocity ? 0 : find_velocity_forces(m, &scratch, &velocity);
    if (status == 0 && !time)
        status = find_time(m, &scratch, &time);
    taut_arena_clear(&scratch);
    TAUT_TRY(status);
    m->s->call.time_dependent = time;
    if (time)
        can |= TAUT_HAS_TIME | (call->bonds ? TAUT_HAS_MOVING_BONDS : 0);
    if (velocity)
        can |= TAUT_HAS_VELOCITY_FORCES;
    if (velocity || !call->energy) /* a potential gives forces without velocities */
        can |= TAUT_HAS_FORCES;
    m->system->sizes.can = can;
    return 0;
}

static int check_calls(const taut_callbacks *given, taut_error *error)
{
    if (given->coordinates <= 0 || given->bonds < 0)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_system_from_callbacks: %d coordinates and %d bonds: at least one "
                         "coordinate is needed",
                         given->coordinates, given->bonds);
    if (!given->force || (given->bonds > 0 && !given->bond))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_system_from_callbacks: the callback '%s' is required",
                         given->force ? "bond" : "force");
    return 0;
}

static int fill(maker *m)
{
    taut_system *system = m->system;
    if (!(m->s = TAUT_NEW(&system->arena, taut_callback_system, 1)))
        return taut_fail_memory(m->error);
    m->s->call = *m->given;
    m->s->call.coordinate_names = m->s->call.bond_names = NULL;
    m->s->call.jacobian_start = m->s->call.jacobian_column = NULL;
    /* first, because this is where sizes beyond all bounds are refused */
    TAUT_TRY(make_patterns(m));
    TAUT_TRY(take_arrays(m));
    TAUT_TRY(take_names(m, m->given->coordinate_names, "q", m->given->coordinates,
                        &system->coordinates));
    TAUT_TRY(take_names(m, m->given->bond_names, "bond", m->given->bonds, &system->bonds));
    system->sizes.kind = TAUT_MECHANICAL;
    system->sizes.mass = m->given->mass_matrix ? TAUT_MASS_VARYING : TAUT_MASS_DIAGONAL;
    system->sizes.coordinates = m->given->coordinates;
    system->sizes.bonds = m->given->bonds;
    TAUT_TRY(find_capabilities(m));
    TAUT_TRY(taut_callbacks_measure(m->s, &system->arena.allocator, m->error));
    system->extra = m->s;
    system->attach = taut_callbacks_attach;
    system->evaluate = taut_callbacks_evaluate;
    system->start = taut_callbacks_start;
    return 0;
}

int taut_system_from_callbacks(const taut_callbacks *callbacks, const taut_allocator *allocator,
                               taut_system **result, taut_error *error)
{
    taut_callbacks own;
    taut_error_clear(error);
    TAUT_REQUIRE(result);
    *result = NULL;
    TAUT_TRY(taut_struct_read(&own, sizeof own, callbacks, "taut_callbacks", error));
    TAUT_TRY(check_calls(&own, error));
    maker m = {.given = &own, .error = error};
    if (!(m.system = taut_system_new(allocator)))
        return taut_fail_memory(error);
    int status = fill(&m);
    if (status) {
        taut_system_destroy(m.system);
        return status;
    }
    *result = m.system;
    return 0;
}
