/* kept_steps.c - dense output of a finished run: both ends of every accepted step are kept, and a
 * state in between is interpolated when it is wanted (dense.c: Hermite, O(h^6) in q for methods of
 * order 4 and higher, O(h^4) below and for first-order systems). Long steps of methods with an
 * interpolation of their own are kept in parts. A step that an event shortened is kept whole, and
 * valid up to the event. */
#include "drive/solver.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"

static taut_state *copy_state(taut_solver *solver, const taut_state *from)
{
    taut_stepper room = solver->stepper;
    room.arena = &solver->kept.arena;
    taut_state *to = TAUT_NEW(room.arena, taut_state, 1);
    if (!to || taut_state_create(&room, to, NULL) != 0)
        return NULL;
    taut_state_copy(&room, from, to);
    return to;
}

/* The latest step begins elsewhere, or goes the other way: nothing before it belongs to it. */
static bool continues(const taut_kept *kept, const taut_state *begin, double until)
{
    const taut_kept_step *before = &kept->step[kept->count - 1];
    double h = before->until - before->begin->t;
    return fabs(begin->t - before->until) <= 1e-6 * fabs(h) && h * (until - begin->t) > 0;
}

static void forget(taut_kept *kept)
{
    taut_arena_clear(&kept->arena);
    kept->step = NULL;
    kept->count = kept->capacity = 0;
}

/* In how many parts a step is kept. Methods with an interpolation of their own take long steps:
 * states in between are theirs. Without accelerations the parts are cubic, and shorter. */
static int count_parts(const taut_stepper *s)
{
    if (!s->method->dense || s->n == 0)
        return 1;
    return isnan(s->now.a[0]) ? 8 : s->method->order > 5 ? 4 : 1;
}

/* The state at a fraction theta of the latest step, as the method has it, into the probe. */
static int inside(taut_solver *solver, double theta, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    double t = s->last.t + theta * (s->now.t - s->last.t);
    solver->probe.a[0] = NAN; /* unless the method sets it */
    TAUT_TRY(taut_unevaluated(s->method->dense(s, theta, &solver->probe, error), t, error));
    solver->probe.t = t;
    return TAUT_OK;
}

/* Where the latest step begins: mostly where the one before ended. */
static taut_state *find_begin(taut_solver *solver)
{
    const taut_kept *kept = &solver->kept;
    const taut_state *last = &solver->stepper.last;
    size_t bytes = (size_t)solver->stepper.n * sizeof(double);
    taut_state *end = kept->count > 0 ? kept->step[kept->count - 1].end : NULL;
    bool same = end && end->t == last->t && memcmp(end->q, last->q, bytes) == 0 &&
                (solver->stepper.first_order || memcmp(end->v, last->v, bytes) == 0);
    return same ? end : copy_state(solver, last);
}

int taut_kept_add(taut_solver *solver, double until, taut_error *error)
{
    taut_kept *kept = &solver->kept;
    const taut_stepper *s = &solver->stepper;
    if (!kept->on || until == s->last.t)
        return TAUT_OK;
    TAUT_TRY(taut_complete(solver, error));
    if (kept->count > 0 && !continues(kept, &s->last, until))
        forget(kept);
    taut_state *begin = find_begin(solver);
    double h = s->now.t - s->last.t;
    int parts = count_parts(s);
    for (int j = 1; j <= parts && (!begin || h * (until - begin->t) > 0); j++) {
        if (j < parts)
            TAUT_TRY(inside(solver, (double)j / parts, error));
        taut_state *end = copy_state(solver, j < parts ? &solver->probe : &s->now);
        taut_kept_step *grown = taut_arena_grow(&kept->arena, kept->step, kept->count,
                                                &kept->capacity, sizeof *kept->step);
        TAUT_NEED(error, begin, end, grown);
        kept->step = grown;
        grown[kept->count++] =
            (taut_kept_step){h * (until - end->t) > 0 ? end->t : until, begin, end};
        begin = end;
    }
    return TAUT_OK;
}

int taut_solver_keep(taut_solver *solver, bool keep, taut_error *error)
{
    TAUT_REQUIRE(solver);
    solver = taut_solver_latest(solver);
    taut_arena_clear(&solver->kept.arena);
    solver->kept = (taut_kept){.on = keep};
    taut_arena_init(&solver->kept.arena, &solver->arena.allocator);
    return TAUT_OK;
}

int64_t taut_solver_kept(const taut_solver *solver, double *from, double *until)
{
    solver = taut_solver_latest(solver);
    int64_t count = solver ? solver->kept.count : 0;
    if (from)
        *from = count > 0 ? solver->kept.step[0].begin->t : NAN;
    if (until)
        *until = count > 0 ? solver->kept.step[count - 1].until : NAN;
    return count;
}

int taut_solver_interpolate(taut_solver *solver, double t, double *q, double *v, double *lambda,
                            taut_error *error)
{
    double from, until;
    int64_t low = 0, high = taut_solver_kept(solver, &from, &until) - 1;
    taut_error_clear(error);
    TAUT_REQUIRE(solver);
    solver = taut_solver_latest(solver);
    double way = until < from ? -1 : 1;
    if (!(way * t >= way * from && way * t <= way * until))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "t = %.9g is outside the %lld steps that were kept, from %.9g to %.9g", t,
                         (long long)(high + 1), from, until);
    while (low < high) { /* the first step that ends at t or later */
        int64_t middle = low + (high - low) / 2;
        if (way * solver->kept.step[middle].until >= way * t)
            high = middle;
        else
            low = middle + 1;
    }
    const taut_kept_step *step = &solver->kept.step[low];
    const taut_stepper *s = &solver->stepper;
    double theta = (t - step->begin->t) / (step->end->t - step->begin->t);
    TAUT_TRY(taut_dense_between(solver, step->begin, step->end, fmax(theta, 0), error));
    taut_copy(q ? s->n : 0, solver->probe.q, q);
    taut_copy(!v ? 0 : s->first_order ? s->m : s->n, taut_state_v(&solver->probe), v);
    const double *shown;
    TAUT_TRY(taut_state_forces(solver, &solver->probe, &shown, error));
    taut_copy(lambda ? s->m : 0, shown, lambda);
    return TAUT_OK;
}
