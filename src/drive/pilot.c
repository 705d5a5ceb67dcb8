/* pilot.c - the slow rate along the motion. It depends on the state, and its largest value counts:
 * a pilot run of the rigid motion at a loose tolerance leads to a few states at which it is
 * evaluated again. The force of a strong vibration, -grad W, drives a slow motion that is faster,
 * and leads to resonances: before effective motion is chosen a second pilot run is one of it.
 *
 * The cost is bounded and does not depend on the clock: at most STEPS steps, of which every
 * one, then every second, every fourth ... is kept, so that few remain. Events are
 * ignored. Systems with many coordinates have a few states by leaps of one radian instead
 * (later_rates.c). Those with a stiff potential (which has no rigid system) or with functions in C
 * (whose cost is unknown) are examined at the initial state alone. */
#include <math.h>
#include <stdio.h>

#include "base/inside.h"
#include "base/options.h"
#include "base/vectors.h"
#include "drive/slow_rate.h"
#include "drive/solver.h"
#include "vibration/effective.h"

enum {
    STEPS = 96,  /* with up to SMALL coordinates; fewer with more */
    STATES = 24, /* examined; all steps with up to TINY coordinates */
    TINY = 12,
    SMALL = 60,
    RADIANS = 20 /* of the slow motion, where there is no end time */
};

typedef struct pilot {
    taut_arena arena;
    taut_system *rigid;
    taut_options *options;
    taut_solver *solver;
    taut_index n;
    int count, most;   /* states that are kept */
    int stride, steps; /* steps between them; so far */
    double *t, *q, *v; /* [most], [most][n] */
} pilot;

/* Of p->rigid without [run], which may specify anything. */
static int create(pilot *p, const taut_diagnosis *d, double until, taut_error *error)
{
    char begin[40], end[40];
    const struct {
        const char *name, *value;
    } set[] = {{"motion", d->sizes.bonds > d->soft ? "rigid" : "full"},
               {"method", "dop8"},
               {"rtol", "1e-5"},
               {"atol", "1e-8"},
               {"from", begin},
               {"until", end}};
    snprintf(begin, sizeof begin, "%.17g", d->t);
    snprintf(end, sizeof end, "%.17g", until);
    p->rigid->sizes.settings = 0;
    TAUT_TRY(taut_options_create(&p->arena.allocator, &p->options, error));
    for (size_t k = 0; k < sizeof set / sizeof set[0]; k++)
        TAUT_TRY(taut_options_set(p->options, set[k].name, set[k].value, error));
    TAUT_TRY(taut_solver_create(p->rigid, p->options, &p->arena.allocator, &p->solver, error));
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->most, error, &p->t));
    return TAUT_RESERVE(&p->arena, p->most * (int64_t)p->n, error, &p->q, &p->v);
}

/* Every second of the kept states remains. */
static void thin(pilot *p)
{
    for (int k = 1; k < p->count; k += 2) {
        p->t[k / 2] = p->t[k];
        taut_copy(p->n, p->q + (int64_t)k * p->n, p->q + (int64_t)(k / 2) * p->n);
        taut_copy(p->n, p->v + (int64_t)k * p->n, p->v + (int64_t)(k / 2) * p->n);
    }
    p->count /= 2;
    p->stride *= 2;
}

static void keep(pilot *p)
{
    const taut_state *now = &p->solver->stepper.now;
    if (++p->steps % p->stride)
        return;
    if (p->count == p->most)
        thin(p);
    if (p->steps % p->stride)
        return;
    p->t[p->count] = now->t;
    taut_copy(p->n, now->q, p->q + (int64_t)p->count * p->n);
    taut_copy(p->n, taut_state_v(now), p->v + (int64_t)p->count++ * p->n);
}

static int fly(pilot *p)
{
    const taut_state *now = &p->solver->stepper.now;
    const int most = p->n > SMALL ? STEPS * SMALL / p->n : STEPS;
    while (p->steps < most && now->t != p->solver->until) {
        TAUT_TRY(taut_control_step(p->solver, p->solver->until, NULL));
        keep(p);
    }
    return TAUT_OK;
}

/* Are the bonds that were chosen from redundant ones nearly dependent in this state? Then its rate
 * is that of rounding errors. */
static int find_poor(taut_shared_forces *shared, const unsigned char *muted, double t,
                     const double *q, bool *poor, taut_error *error)
{
    enum { MOST = 10 }; /* coefficient of a row that depends on others */
    double off, coefficient;
    taut_index worst;
    TAUT_TRY(taut_shared_forces_violation(shared, t, q, &off, &worst, error));
    TAUT_TRY(taut_shared_forces_coefficient(shared, muted, &coefficient, error));
    *poor = !(coefficient < MOST);
    return TAUT_OK;
}

static void add_state(taut_diagnosis *d, double t, double rate, double force)
{
    d->states++;
    d->force = fmax(d->force, force);
    if (rate > d->slow_rate) {
        d->slow_rate = rate;
        d->slow_rate_at = t;
    }
}

/* The rate of each state that was kept. */
static int examine(pilot *p, taut_context *context, taut_diagnosis *d, taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    taut_shared_forces shared = {0};
    int status = system->muted ? taut_shared_forces_create(&shared, system->base, &p->arena, error)
                               : TAUT_OK;
    for (int k = 0; k < p->count && status == 0; k++) {
        taut_diagnosis here;
        taut_error reason;
        const double *q = p->q + (int64_t)k * p->n, *v = p->v + (int64_t)k * p->n;
        bool poor = false;
        if (system->muted)
            status = find_poor(&shared, system->muted, p->t[k], q, &poor, &reason);
        if (status == 0 && !poor)
            status = taut_diagnose(context, p->t[k], q, v, TAUT_DIAGNOSE_RATE, TAUT_BACKEND_AUTO,
                                   &here, &reason);
        bool known = status == 0 && !poor;
        status = taut_fail_final(status, &reason, error);
        if (!known)
            continue;
        add_state(d, p->t[k], here.slow_rate, here.force);
    }
    taut_shared_forces_destroy(&shared);
    return status;
}

static void destroy(pilot *p)
{
    taut_solver_destroy(p->solver);
    taut_options_destroy(p->options);
    taut_system_destroy(p->rigid);
    taut_arena_clear(&p->arena);
}

static int run(taut_context *context, double until, taut_diagnosis *d, taut_error *error)
{
    pilot p = {.n = d->sizes.coordinates, .stride = 1};
    p.most = p.n <= TINY ? STEPS : STATES;
    taut_error reason;
    taut_arena_init(&p.arena, &context->arena.allocator);
    int status = taut_system_rigid(taut_context_system(context), &p.rigid, &reason);
    if (status == 0)
        status = create(&p, d, until, &reason);
    if (status == 0)
        status = fly(&p);
    status = taut_fail_final(status, &reason, error); /* else the states before it failed */
    if (status == 0)
        status = examine(&p, context, d, error);
    destroy(&p);
    return status;
}

/* Of each state that was kept: rate and resonance. */
static int examine_averaged(pilot *p, taut_context *context, taut_diagnosis *d, taut_error *error)
{
    for (int k = 0; k < p->count; k++) {
        taut_diagnosis here;
        taut_error reason;
        const int64_t at = (int64_t)k * p->n;
        int status = taut_diagnose(context, p->t[k], p->q + at, p->v + at,
                                   TAUT_DIAGNOSE_RATE | TAUT_DIAGNOSE_MODES, TAUT_BACKEND_AUTO,
                                   &here, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        if (status != 0)
            continue;
        d->averaged_rate = fmax(d->averaged_rate, here.slow_rate);
        if (here.resonance < d->averaged_gap)
            d->averaged_gap = here.resonance;
    }
    return TAUT_OK;
}

int taut_diagnose_averaged(taut_context *context, double until, taut_diagnosis *d,
                           taut_error *error)
{
    pilot p = {.n = d->sizes.coordinates, .stride = 1, .most = STATES};
    taut_error reason;
    if (p.n > SMALL || !(d->sizes.can & TAUT_CAN_DERIVATIVES) || d->redundant ||
        d->rank < d->sizes.bonds - d->soft)
        return TAUT_OK;
    if (!isfinite(until))
        until = d->slow_rate > 0 ? d->t + RADIANS / d->slow_rate : d->t;
    taut_arena_init(&p.arena, &context->arena.allocator);
    int status = taut_effective_from_start(taut_context_system(context), d->t, &p.rigid, &reason);
    if (status == 0)
        status = create(&p, d, until, &reason);
    if (status == 0)
        status = fly(&p);
    status = taut_fail_final(status, &reason, error);
    if (status == 0)
        status = examine_averaged(&p, context, d, error);
    destroy(&p);
    return status;
}

int taut_diagnose_along(taut_context *context, double until, const double *q, const double *v,
                        taut_diagnosis *d, taut_error *error)
{
    taut_error reason;
    const taut_sizes *z = &d->sizes;
    double rate = fmax(d->slow_rate, d->turning_rate);
    bool known = (z->can & TAUT_CAN_DERIVATIVES) && !(z->can & TAUT_HAS_STIFF_POTENTIAL) &&
                 !d->redundant,
         flies = known && z->coordinates <= TAUT_PILOT_LARGE;
    if (z->kind != TAUT_MECHANICAL || !(d->parts & TAUT_DIAGNOSE_RATE))
        return TAUT_OK;
    if (!isfinite(until))
        until = rate > 0 ? d->t + RADIANS / rate : d->t;
    if (until != d->t) {
        int status = taut_time_rate(context, d->t, until, q, v, &d->time_rate, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        if (flies)
            TAUT_TRY(run(context, until, d, error));
        for (int k = 0; k < d->laters && known && d->later[k].t <= until; k++)
            add_state(d, d->later[k].t, d->later[k].rate, d->later[k].force);
    }
    if (d->states == 0 || !flies) /* leaps give lower estimates */
        d->slow_rate = fmax(d->slow_rate, d->turning_rate);
    d->slow_rate = fmax(d->slow_rate, d->time_rate);
    taut_diagnosis_separate(d);
    return TAUT_OK;
}
