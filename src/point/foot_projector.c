/* foot_projector.c - the phases of every projection onto a foot point: guesses move first; then
 * the position goes to its foot point with held coordinates fixed; then the velocity becomes
 * tangential with held velocities fixed. Failures carry the time. */
#include "point/foot_projector.h"

#include <math.h>
#include <string.h>

#include "base/method.h"
#include "base/rows.h"
#include "base/vectors.h"

int taut_foot_watch(const taut_foot *f, taut_error *error)
{
    return f->settings.watch ? f->settings.watch(f->settings.user, f->t, f->x, f->u, error)
                             : TAUT_OK;
}

void taut_foot_move(const taut_foot *f, double part, double *x)
{
    for (taut_index i = 0; i < f->n; i++)
        x[i] += f->fixed[i] ? 0 : part * f->dx[i];
}

double taut_foot_part(double step, double first)
{
    return step > 2 * first ? 2 * first / step : 1;
}

void taut_foot_rates(taut_foot *f, const taut_pattern *jacobian, const taut_values *values)
{
    for (taut_index i = 0; i < f->m; i++)
        f->rate[i] = values->bond_dt[i] + taut_row_dot(jacobian, values->jacobian, i, f->u);
}

int taut_foot_check_bond(const taut_foot *f, const taut_pattern *jacobian, const double *entry,
                         taut_index bond, double value, bool velocity, const char *which,
                         taut_error *error)
{
    char name[96];
    double most = taut_largest(f->n, velocity ? f->u : f->x);
    if (most == 0) /* at rest in the origin: what rounding leaves of numbers of size 1 */
        most = 1e-3;
    if (fabs(value) <= 1e-9 * taut_row_size(jacobian, entry, bond, NULL) * most)
        return TAUT_OK;
    taut_system_name(f->system, TAUT_BOND, bond, name, sizeof name);
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "all of the %s of bond '%s'%s are held, and it is off by %.3g; release one, "
                     "or correct it",
                     velocity ? "velocities" : "coordinates", name, which, value);
}

/* ---- phases */

static bool is_guess(const taut_foot *f, taut_index i)
{
    return (f->hold[i] & TAUT_GUESS) && !(f->hold[i] & TAUT_HOLD_POSITION);
}

static void fix_held(const taut_foot *f, unsigned bit)
{
    for (taut_index i = 0; i < f->n; i++)
        f->fixed[i] = f->hold && (f->hold[i] & bit);
}

static int project(taut_foot *f, taut_error *error)
{
    taut_copy(f->n, f->x, f->from);
    if (f->guesses && f->guess_first) {
        for (taut_index i = 0; i < f->n; i++)
            f->fixed[i] = !is_guess(f, i);
        TAUT_TRY(f->kind->fit(f, error));
        taut_copy(f->n, f->x, f->from);
    }
    fix_held(f, TAUT_HOLD_POSITION);
    TAUT_TRY(f->kind->find(f, error));
    fix_held(f, TAUT_HOLD_VELOCITY);
    for (int round = 0; round < 2; round++) { /* the second removes the rounding of the first */
        TAUT_TRY(f->kind->velocity(f, round == 0, error));
        taut_foot_move(f, 1, f->u);
    }
    TAUT_TRY(f->kind->check_velocity(f, error));
    return taut_foot_watch(f, error);
}

static int build(taut_foot *f, taut_error *error)
{
    if (f->built)
        return TAUT_OK;
    f->kind->release(f); /* what a failure before has left */
    TAUT_TRY(f->kind->build(f, f->projector.self, error));
    f->built = true;
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    taut_foot *f = (taut_foot *)projector;
    TAUT_TRY(build(f, error));
    if (f->idle)
        return TAUT_OK;
    f->t = t;
    taut_copy(f->n, q, f->x);
    taut_copy(f->n, v, f->u);
    int status = project(f, error);
    if (status == 0) {
        taut_copy(f->n, f->x, q);
        taut_copy(f->n, f->u, v);
    } else if (error && (status == TAUT_ERROR_CONVERGE || status == TAUT_ERROR_SINGULAR)) {
        error->t = t;
    }
    return status;
}

static void destroy(taut_projector *projector)
{
    taut_foot *f = (taut_foot *)projector;
    if (f)
        f->kind->release(f);
}

/* ---- the object */

static int prepare(taut_foot *f, taut_arena *arena, taut_error *error)
{
    taut_system_sizes(f->system, &f->sizes);
    if (f->sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "foot points belong to mechanical systems: bonds and velocities");
    f->n = f->sizes.coordinates;
    f->m = f->sizes.bonds;
    const int64_t apart = taut_apart(f->n);
    f->x = f->settings.room ? f->settings.room : TAUT_NEW(arena, double, TAUT_FOOT_ROOM *apart);
    TAUT_NEED(error, f->x);
    f->u = f->x + apart;
    f->from = f->u + apart;
    f->dx = f->from + apart;
    f->off = f->dx + apart;
    TAUT_TRY(TAUT_RESERVE(arena, f->m, error, &f->rate));
    if (!(f->fixed = TAUT_NEW(arena, unsigned char, f->n)))
        return taut_fail_memory(error);
    f->hold = f->settings.ignore_holds ? NULL
              : f->settings.hold       ? f->settings.hold
                                       : taut_system_hold(f->system);
    for (taut_index i = 0; f->hold && i < f->n; i++) {
        f->guesses |= is_guess(f, i);
        f->apart |= !(f->hold[i] & TAUT_HOLD_POSITION) != !(f->hold[i] & TAUT_HOLD_VELOCITY);
    }
    return TAUT_OK;
}

int taut_foot_create(const taut_foot_kind *kind, taut_context *context, taut_arena *arena,
                     taut_statistics *statistics, const taut_foot_point_settings *settings,
                     taut_projector **projector, taut_error *error)
{
    *projector = NULL;
    taut_foot *f = taut_arena_get(arena, 1, kind->size);
    TAUT_NEED(error, f);
    f->projector = (taut_projector){.name = "constraint",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = arena};
    f->kind = kind;
    f->context = context;
    f->guess_first = true;
    f->system = taut_context_system(context);
    if (settings)
        f->settings = *settings;
    int status = prepare(f, arena, error);
    if (status == 0 && !f->settings.deferred)
        status = build(f, error);
    if (status == 0)
        *projector = &f->projector;
    else
        kind->release(f);
    return status;
}

bool taut_foot_point_guess(taut_projector *projector, bool first)
{
    taut_foot *f = (taut_foot *)projector;
    f->guess_first = first;
    return f->guesses;
}
