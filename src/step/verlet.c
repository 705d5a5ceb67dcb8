/* verlet.c - velocity Verlet for the full motion,  M v' = F(t,q) = f - G^T C^-1 g - scale grad V:
 *
 *     v_half = v + h/2 a,   q+ = q + h v_half,   a+ = M^-1 F(t+h, q+),   v+ = v_half + h/2 a+
 *
 * the kick-drift-kick form [Verlet 1967; Swope, Andersen, Berens, Wilson 1982], order 2,
 * symmetric and symplectic. a+ serves the next step: one force evaluation a step. It resolves
 * every oscillation and needs h omega < 2 for the fastest one. Between two steps without a row,
 * event or guard both kicks and the drift are one pass over the points. Constant mass only: with a
 * mass that varies, or a force that depends on v, the two kicks would be implicit. */
#include "base/rows.h"
#include "step/methods.h"

#include <math.h>

#include "base/hot.h"
#include "base/vectors.h"
#include "step/mechanics.h"
#include "system/kernel/lanes.h"
#include "system/system.h"

typedef struct verlet {
    bool fresh; /* now.a belongs to now.q */
    bool kicks; /* of several ranks: all can make steps in passes over the points */
    taut_mechanics mechanics;
} verlet;

static bool on_all_ranks(const taut_mechanics *x, bool good)
{
    return x->part ? taut_space_largest(x->part->space, !good) == 0 : good;
}

/* Ghosts lack the forces of other ranks. */
static void refresh(const taut_mechanics *x, double *a, double *b)
{
    if (!x->part)
        return;
    taut_halo_refresh(&x->part->coordinates, a);
    taut_halo_refresh(&x->part->coordinates, b);
}

static int create(taut_stepper *s, taut_error *error)
{
    static const char who[] = "method verlet";
    verlet *w = s->work = TAUT_NEW(s->arena, verlet, 1);
    TAUT_NEED(error, w);
    taut_mechanics *x = &w->mechanics;
    TAUT_TRY(taut_mechanics_create(x, s->context, s->arena, s->statistics, 0, error));
    /* a parameter can make a compliance zero in a bond that the model does not call rigid */
    TAUT_TRY(taut_mechanics_need_springs(x, who, error));
    TAUT_TRY(taut_mechanics_invert(x, who, s->now.t, s->arena, error));
    w->kicks = x->part && on_all_ranks(x, taut_evaluate_kicks(s->context));
    return TAUT_OK;
}

static void destroy(taut_stepper *s)
{
    verlet *w = s->work;
    if (w)
        taut_mechanics_destroy(&w->mechanics);
}

/* ---- loops over all coordinates or bonds */

TAUT_HOT static void divide(taut_index count, double *restrict x, const double *restrict by)
{
    for (taut_index i = 0; i < count; i++)
        x[i] /= by[i];
}

TAUT_HOT static void kick(taut_index count, double h, const double *restrict a, double *restrict v)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < count; i++)
        v[i] += h / 2 * a[i];
}

TAUT_HOT static void kick_and_drift(taut_index count, double h, const taut_state *old,
                                    double *restrict v, double *restrict q)
{
    const double *restrict old_v = old->v, *restrict old_a = old->a, *restrict old_q = old->q;
    TAUT_UNROLLED
    for (taut_index i = 0; i < count; i++) {
        v[i] = old_v[i] + h / 2 * old_a[i];
        q[i] = old_q[i] + h * v[i];
    }
}

/* The same by the threads of the run. */
typedef struct verlet_loop {
    double h;
    const taut_state *old;
    const double *a;
    double *v, *q;
} verlet_loop;

static double kick_block(void *context, int64_t begin, int64_t end)
{
    const verlet_loop *l = context;
    kick((taut_index)(end - begin), l->h, l->a + begin, l->v + begin);
    return 0;
}

static double drift_block(void *context, int64_t begin, int64_t end)
{
    const verlet_loop *l = context;
    const taut_state old = {.q = l->old->q + begin, .v = l->old->v + begin, .a = l->old->a + begin};
    kick_and_drift((taut_index)(end - begin), l->h, &old, l->v + begin, l->q + begin);
    return 0;
}

static void drift(const taut_stepper *s, double h, const taut_state *old, double *v, double *q)
{
    taut_pool_loop(s->pool, s->n, drift_block, &(verlet_loop){.h = h, .old = old, .v = v, .q = q});
}

static double test_block(void *context, int64_t begin, int64_t end)
{
    return taut_lanes_test((const double *)context + begin, end - begin);
}

/* a = M^-1 F(t, q) and lambda = C^-1 g of a state, and the second kick: of the next state, or, from
 * its acceleration alone, of what the next drift overwrites. */
static int accelerate(taut_stepper *s, double h, taut_state *state, taut_error *error)
{
    taut_mechanics *x = &((verlet *)s->work)->mechanics;
    taut_kick both = {.h = h, .v = s->last.v, .inverse = x->inverse};
    x->values.force = state->a;
    x->values.bond = state->lambda;
    bool done = s->m > 0 && taut_evaluate_pull(s->context, state->t, state->q, state->v, &x->values,
                                               x->own ? NULL : &both);
    int status = TAUT_OK;
    if (!done)
        status = taut_evaluate_inside(s->context, state->t, state->q, state->v, x->wanted,
                                      &x->values, error);
    TAUT_TRY(x->part ? taut_space_agree(x->part->space, status, error) : status);
    s->statistics->force_evaluations++;
    if (done && both.done)
        return TAUT_OK;
    if (both.done) /* values so large that their sum was not finite */
        drift(s, h, &s->now, s->last.v, s->last.q);
    if (s->m > 0 && !done) {
        divide(s->m, state->lambda, x->compliance);
        taut_pattern_add_transposed(&x->jacobian, x->values.jacobian, -1, state->lambda, state->a);
    }
    if (x->values.stiff_force)
        taut_add(s->n, x->values.stiff_force, state->a);
    TAUT_TRY(taut_mechanics_divide(x, state->a, error));
    taut_pool_loop(s->pool, s->n, kick_block,
                   &(verlet_loop){.h = h, .a = state->a, .v = s->last.v});
    return TAUT_OK;
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    verlet *w = s->work;
    const taut_part *part = w->mechanics.part;
    if (!w->fresh) {
        TAUT_TRY(accelerate(s, h, &s->now, error));
        taut_halo_refresh(part ? &part->coordinates : NULL, s->now.a);
    }
    w->fresh = true;

    taut_state old = s->now, next = s->last;
    next.t = old.t + h;
    drift(s, h, &old, next.v, next.q);
    TAUT_TRY(accelerate(s, h, &next, error));
    refresh(&w->mechanics, next.a, next.v);
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

/* The last drift, then for each step but the last: forces, its second kick, the next one's first
 * kick and drift, where the state is. */
static bool drift_on(taut_stepper *s, double begin, double h, int64_t first, int64_t last)
{
    taut_mechanics *x = &((verlet *)s->work)->mechanics;
    taut_state *to = &s->last;
    taut_kick kick = {.h = h, .v = to->v, .q = to->q, .inverse = x->inverse};
    x->values.force = to->a;
    x->values.bond = to->lambda;
    drift(s, h, &s->now, to->v, to->q);
    for (int64_t k = first; k < last - 1; k++) {
        bool good = taut_evaluate_pull(s->context, begin + (double)k * h + h, to->q, to->v,
                                       &x->values, &kick);
        if (!on_all_ranks(x, good))
            return false;
        refresh(x, to->q, to->v);
    }
    to->t = begin + (double)(last - 1) * h + h;
    return on_all_ranks(x, !isnan(taut_pool_largest(s->pool, s->n, test_block, to->v)));
}

/* Steps that fail are left to `step`, from the state before the first one. */
static int64_t several(taut_stepper *s, double begin, double h, int64_t first, int64_t last,
                       taut_projector *by)
{
    verlet *w = s->work;
    taut_mechanics *x = &w->mechanics;
    const bool kicks = x->part ? w->kicks : taut_evaluate_kicks(s->context);
    if (by || !w->fresh || s->m == 0 || x->own || x->values.stiff_force || !kicks ||
        !drift_on(s, begin, h, first, last))
        return 0;
    taut_kick kick = {.h = h, .v = s->last.v, .inverse = x->inverse};
    bool good = taut_evaluate_pull(s->context, s->last.t, s->last.q, s->last.v, &x->values, &kick);
    if (!on_all_ranks(x, good))
        return 0;
    refresh(x, s->last.a, s->last.v);
    taut_stepper_turn(s);
    s->now.t = begin + (double)last * h;
    s->statistics->steps += last - first;
    s->statistics->force_evaluations += last - first;
    return last - first;
}

static void changed(taut_stepper *s)
{
    ((verlet *)s->work)->fresh = false;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    const verlet *w = s->work;
    if (s->m == 0)
        return TAUT_OK;
    taut_values values = {.bond = lambda};
    TAUT_TRY(taut_evaluate_inside(s->context, t, q, v, TAUT_WANT_BOND, &values, error));
    divide(s->m, lambda, w->mechanics.compliance);
    return TAUT_OK;
}

static void archive(taut_stepper *s, taut_archive *to)
{
    taut_archive_flag(to, &((verlet *)s->work)->fresh);
}

const taut_method taut_verlet = {
    .name = "verlet",
    .motions = TAUT_MOTION_FULL,
    .order = 2,
    .summary = "velocity Verlet: explicit, symplectic, time-reversible; resolves every oscillation",
    .reference = "Verlet 1967; Swope, Andersen, Berens, Wilson 1982",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_RIGID | TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES |
               TAUT_HAS_VARYING_MASS | TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,
    .stability = 2,
    .spans_ranks = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .several = several,
    .changed = changed,
    .multipliers = multipliers,
    .archive = archive,
};
