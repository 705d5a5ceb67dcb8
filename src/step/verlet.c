/* verlet.c - velocity Verlet for the full motion,  M v' = F(t,q) = f - G^T C^-1 g - scale grad V:
 *
 *     v_half = v + h/2 a,   q+ = q + h v_half,   a+ = M^-1 F(t+h, q+),   v+ = v_half + h/2 a+
 *
 * the kick-drift-kick form [Verlet 1967; Swope, Andersen, Berens, Wilson 1982], order 2,
 * symmetric and symplectic. a+ serves the next step: one force evaluation a step. It resolves
 * every oscillation and needs h omega < 2 for the fastest one. Constant mass only: with a mass
 * that varies, or a force that depends on v, the two kicks would be implicit. */
#include "base/rows.h"
#include "step/methods.h"

#include "base/hot.h"
#include "linalg/saddle.h"

typedef struct verlet {
    bool fresh;      /* now.a belongs to now.q */
    unsigned wanted; /* what one evaluation asks for */
    /* where it goes; force points at the acceleration that is being formed */
    taut_values values;
    taut_pattern jacobian; /* of G */
    const double *compliance;
    double *inverse_mass; /* diagonal, [n]; NULL when all masses are 1, or not diagonal */
    taut_saddle *mass;    /* factorised constant matrix; NULL for a diagonal one */
} verlet;

/* Constant masses are often sparser than the tangent pattern they are delivered on: only what is
 * not zero is kept. */
static int factor_mass(taut_stepper *s, verlet *w, const taut_pattern *tangent, const double *entry,
                       taut_error *error)
{
    taut_index n = s->n;
    int64_t count = 0;
    for (taut_index k = 0; k < tangent->start[n]; k++)
        count += entry[k] != 0;
    taut_index *start = TAUT_NEW(s->arena, taut_index, n + 1),
               *column = TAUT_NEW(s->arena, taut_index, count);
    double *value = TAUT_NEW(s->arena, double, count);
    if (!start || !column || !value)
        return taut_fail_memory(error);
    taut_index used = 0;
    for (taut_index i = 0; i < n; i++) {
        for (taut_index k = tangent->start[i]; k < tangent->start[i + 1]; k++)
            if (entry[k] != 0) {
                column[used] = tangent->column[k];
                value[used++] = entry[k];
            }
        start[i + 1] = used;
    }
    taut_saddle_shape shape = {
        .n = n, .k_start = start, .k_column = column, .symmetric = true, .positive = true};
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->mass, error));
    s->statistics->factorisations++;
    return taut_saddle_factor(w->mass, value, NULL, NULL, NULL, error);
}

static int take_mass(taut_stepper *s, verlet *w, taut_error *error)
{
    const double *diagonal = taut_context_mass(s->context);
    if (!diagonal) {
        taut_pattern tangent;
        TAUT_TRY(taut_system_pattern(taut_context_system(s->context), TAUT_PATTERN_TANGENT,
                                     &tangent, error));
        taut_values values = {.mass = TAUT_NEW(s->arena, double, tangent.start[s->n])};
        if (!values.mass)
            return taut_fail_memory(error);
        TAUT_TRY(taut_evaluate_inside(s->context, s->now.t, s->now.q, s->now.v, TAUT_WANT_MASS,
                                      &values, error));
        return factor_mass(s, w, &tangent, values.mass, error);
    }
    double *inverse = TAUT_NEW(s->arena, double, s->n);
    bool unit = true;
    if (!inverse)
        return taut_fail_memory(error);
    for (taut_index i = 0; i < s->n; i++) {
        if (!(diagonal[i] > 0)) {
            char name[80];
            taut_system_name(taut_context_system(s->context), TAUT_COORDINATE, i, name,
                             sizeof name);
            return taut_fail(
                error, TAUT_ERROR_REFUSED,
                "method verlet divides by the masses, but that of '%s' is %g; give it a mass > 0",
                name, diagonal[i]);
        }
        inverse[i] = 1 / diagonal[i];
        unit = unit && diagonal[i] == 1;
    }
    w->inverse_mass = unit ? NULL : inverse;
    return TAUT_OK;
}

/* A parameter can make a compliance zero in a bond that the model does not call rigid. */
static int check_compliance(const taut_stepper *s, const verlet *w, taut_error *error)
{
    for (taut_index i = 0; i < s->m; i++)
        if (!(w->compliance[i] > 0)) {
            char name[80];
            taut_system_name(taut_context_system(s->context), TAUT_BOND, i, name, sizeof name);
            return taut_fail(
                error, TAUT_ERROR_REFUSED,
                "method verlet cannot treat bond '%s' with compliance %g; give it a stiffness",
                name, w->compliance[i]);
        }
    return TAUT_OK;
}

static int create(taut_stepper *s, taut_error *error)
{
    const taut_system *system = taut_context_system(s->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    verlet *w = s->work = TAUT_NEW(s->arena, verlet, 1);
    if (!w)
        return taut_fail_memory(error);
    w->wanted = TAUT_WANT_FORCE;
    if (s->m > 0) {
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
        w->wanted |= TAUT_WANT_BOND | TAUT_WANT_JACOBIAN;
        w->values.jacobian = TAUT_NEW(s->arena, double, sizes.jacobian_entries);
        w->values.bond_dt = TAUT_NEW(s->arena, double, s->m);
        w->compliance = taut_context_compliance(s->context);
        if (!w->values.jacobian || !w->values.bond_dt)
            return taut_fail_memory(error);
        TAUT_TRY(check_compliance(s, w, error));
    }
    if (sizes.can & TAUT_HAS_STIFF_POTENTIAL) {
        w->wanted |= TAUT_WANT_STIFF_FORCE;
        w->values.stiff_force = TAUT_NEW(s->arena, double, s->n);
        if (!w->values.stiff_force)
            return taut_fail_memory(error);
    }
    return take_mass(s, w, error);
}

static void destroy(taut_stepper *s)
{
    verlet *w = s->work;
    if (w)
        taut_saddle_destroy(w->mass);
}

/* ---- loops over all coordinates or bonds */

TAUT_HOT static void divide(taut_index count, double *restrict x, const double *restrict by)
{
    for (taut_index i = 0; i < count; i++)
        x[i] /= by[i];
}

TAUT_HOT static void multiply(taut_index count, double *restrict x, const double *restrict by)
{
    for (taut_index i = 0; i < count; i++)
        x[i] *= by[i];
}

TAUT_HOT static void add(taut_index count, double *restrict x, const double *restrict y)
{
    for (taut_index i = 0; i < count; i++)
        x[i] += y[i];
}

TAUT_HOT static void kick(taut_index count, double h, const double *restrict a, double *restrict v)
{
    for (taut_index i = 0; i < count; i++)
        v[i] += h / 2 * a[i];
}

TAUT_HOT static void kick_and_drift(taut_index count, double h, const taut_state *old,
                                    double *restrict v, double *restrict q)
{
    const double *old_v = old->v, *old_a = old->a, *old_q = old->q;
    for (taut_index i = 0; i < count; i++) {
        v[i] = old_v[i] + h / 2 * old_a[i];
        q[i] = old_q[i] + h * v[i];
    }
}

/* Adds the forces of the springs: lambda = C^-1 g, F <- F - G^T lambda. lambda holds g on entry. */
static void add_springs(const verlet *w, taut_index m, double *restrict lambda,
                        double *restrict force)
{
    divide(m, lambda, w->compliance);
    taut_pattern_add_transposed(&w->jacobian, w->values.jacobian, -1, lambda, force);
}

/* a = M^-1 F(t, q) and lambda of a state. */
static int accelerate(taut_stepper *s, taut_state *state, taut_error *error)
{
    verlet *w = s->work;
    w->values.force = state->a;
    w->values.bond = state->lambda;
    TAUT_TRY(taut_evaluate_inside(s->context, state->t, state->q, state->v, w->wanted, &w->values,
                                  error));
    s->statistics->force_evaluations++;
    add_springs(w, s->m, state->lambda, state->a);
    if (w->values.stiff_force)
        add(s->n, state->a, w->values.stiff_force);
    if (w->mass) {
        s->statistics->solves++;
        return taut_saddle_solve(w->mass, 1, state->a, NULL, error);
    }
    if (w->inverse_mass)
        multiply(s->n, state->a, w->inverse_mass);
    return TAUT_OK;
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    verlet *w = s->work;
    if (!w->fresh)
        TAUT_TRY(accelerate(s, &s->now, error));
    w->fresh = true;

    taut_state old = s->now, next = s->last;
    next.t = old.t + h;
    kick_and_drift(s->n, h, &old, next.v, next.q);
    TAUT_TRY(accelerate(s, &next, error));
    kick(s->n, h, next.a, next.v);
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
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
    divide(s->m, lambda, w->compliance);
    return TAUT_OK;
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
    .create = create,
    .destroy = destroy,
    .step = step,
    .changed = changed,
    .multipliers = multipliers,
};
