/* impulse.c - the impulse method, and what its projected and mollified variants share.
 *
 *     v+ = v + h/2 a(x), (x, v) <- fast flow over h from (x, v+), v <- v + h/2 a(x)
 *     [E 2.1; Grubmueller et al. 1991]
 *
 * a is the slow acceleration: M^-1 f, with bonds marked `soft` in f. The fast flow has the stiff
 * springs alone and is resolved by Verlet with micro-steps of at most --inner-step; both
 * accelerations at the new point serve the next step.
 *
 * The state that vibrates is kept here. What the driver sees is X = x + M^-1 G(x)^T lambda, g(X)
 * = 0 [E (15)], and the velocity that belongs to Y = P(X) y [E (10)]: of these the method is an
 * approximation, of the normal velocity it is none [E Theorem 2.2]. When somebody alters that
 * state (an event), the vibration is put on top of it again with the same stretches and rates of
 * the springs.
 *
 * Multipliers are the springs' mean tensions, Lambda of the effective system: with H_w = sum w_i
 * Hess g_i the vibration adds <(G(x) - G(X))^T C^-1 g> = sum_k (J_k/Omega_k) H_{w_k} z_k = grad
 * W to the mean force (system/modes/modes.h), so that
 *
 *     M a + G^T Lambda = f - grad W, G a = -gamma   at (X, V), W = sum J_k Omega_k   [E (8)]
 *
 * with the actions of the start. They do not influence the motion, and are computed where
 * somebody asks for them. Beyond TAUT_SPECTRUM_DENSE springs grad W is left out of them. */
#include "step/impulse.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "base/rows.h"
#include "step/mechanics.h"
#include "step/methods.h"

enum { MOST_NEWTON = 40 };
/* default: 1/20 of a radian of the fastest vibration; Omega is then right to 1e-4 */
static const double steps_a_radian = 20;

/* ---- making */

static int find_springs(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    int64_t entries = 0;
    w->stiff = TAUT_NEW(s->arena, unsigned char, w->m);
    w->compliance = taut_context_compliance(s->context);
    if (!w->stiff)
        return taut_fail_memory(error);
    for (taut_index i = 0; i < w->m; i++) {
        if (!(w->compliance[i] > 0)) {
            char name[80];
            taut_system_name(taut_context_system(s->context), TAUT_BOND, i, name, sizeof name);
            return taut_fail(
                error, TAUT_ERROR_REFUSED,
                "method %s cannot treat bond '%s' with compliance %g; give it a stiffness",
                s->method->name, name, w->compliance[i]);
        }
        w->stiff[i] = !taut_context_soft(s->context, i);
        w->stiff_count += w->stiff[i];
        entries += w->stiff[i] ? w->jacobian.start[i + 1] - w->jacobian.start[i] : 0;
    }
    if (w->stiff_count == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s needs stiff springs, whose vibration it resolves: give bonds a "
                         "stiffness, or use the rigid or full motion",
                         s->method->name);
    w->tie_start = TAUT_NEW(s->arena, taut_index, (int64_t)w->stiff_count + 1);
    w->tie_column = TAUT_NEW(s->arena, taut_index, entries);
    if (!w->tie_start || !w->tie_column)
        return taut_fail_memory(error);
    TAUT_TRY(TAUT_RESERVE(s->arena, entries, error, &w->tie_1, &w->tie_2));
    for (taut_index i = 0, row = 0, used = 0; i < w->m; i++) {
        for (taut_index e = w->jacobian.start[i]; w->stiff[i] && e < w->jacobian.start[i + 1]; e++)
            w->tie_column[used++] = w->jacobian.column[e];
        if (w->stiff[i])
            w->tie_start[++row] = used;
    }
    return TAUT_OK;
}

/* A constant mass matrix, without the zeros of the tangent pattern. */
static int take_matrix(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    TAUT_TRY(taut_system_pattern(taut_context_system(s->context), TAUT_PATTERN_TANGENT, &w->tangent,
                                 error));
    int64_t entries = w->tangent.start[w->n];
    taut_values values = {.mass = TAUT_NEW(s->arena, double, entries)};
    if (!values.mass)
        return taut_fail_memory(error);
    TAUT_TRY(taut_evaluate_inside(s->context, s->now.t, s->now.q, s->now.v, TAUT_WANT_MASS, &values,
                                  error));
    TAUT_TRY(taut_mass_compress(&w->tangent, values.mass, s->arena, &w->mass_start, &w->mass_column,
                                &w->mass, error));
    taut_saddle_shape shape = {.n = w->n,
                               .k_start = w->mass_start,
                               .k_column = w->mass_column,
                               .symmetric = true,
                               .positive = true};
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->solid, error));
    s->statistics->factorisations++;
    return taut_saddle_factor(w->solid, w->mass, NULL, NULL, NULL, error);
}

static int take_mass(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    const double *diagonal = taut_context_mass(s->context);
    if (!diagonal)
        return take_matrix(w, error);
    TAUT_TRY(TAUT_RESERVE(s->arena, w->n, error, &w->mass, &w->inverse_mass));
    for (taut_index i = 0; i < w->n; i++) {
        if (!(diagonal[i] > 0)) {
            char name[80];
            taut_system_name(taut_context_system(s->context), TAUT_COORDINATE, i, name,
                             sizeof name);
            return taut_fail(
                error, TAUT_ERROR_REFUSED,
                "method %s divides by the masses, but that of '%s' is %g; give it a mass > 0",
                s->method->name, name, diagonal[i]);
        }
        w->mass[i] = diagonal[i];
        w->inverse_mass[i] = 1 / diagonal[i];
    }
    return TAUT_OK;
}

static int reserve(taut_impulse *w, int64_t jacobian_entries, taut_error *error)
{
    taut_arena *arena = w->stepper->arena;
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->x, &w->v, &w->next_x, &w->next_v, &w->kick,
                          &w->next_kick, &w->fast, &w->next_fast, &w->shown_q, &w->shown_v, &w->r));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->g, &w->gdot, &w->lambda, &w->y, &w->values.bond,
                          &w->values.bond_dt, &w->values.gamma));
    w->values.jacobian = TAUT_NEW(arena, double, jacobian_entries);
    return w->values.jacobian ? TAUT_OK : taut_fail_memory(error);
}

static int make_modes(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    w->has_modes = w->stiff_count <= TAUT_SPECTRUM_DENSE;
    if (!w->has_modes)
        return TAUT_OK;
    TAUT_TRY(TAUT_RESERVE(s->arena, w->stiff_count, error, &w->action, &w->blended));
    TAUT_TRY(TAUT_RESERVE(s->arena, w->n, error, &w->gradient));
    return taut_modes_create(&w->modes, s->context, s->arena, true, error);
}

/* Actions of the vibrating state. */
static int take_actions(taut_impulse *w, double t, taut_error *error)
{
    if (!w->has_modes)
        return TAUT_OK;
    TAUT_TRY(taut_modes_find(&w->modes, t, w->x, error));
    for (int k = 0; k < w->modes.count; k++) {
        double p, rate, omega = w->modes.frequency[k];
        taut_modes_amplitude(&w->modes, k, w->v, &p, &rate);
        w->action[k] = (rate * rate + omega * omega * p * p) / (2 * omega);
    }
    return TAUT_OK;
}

/* The micro-step: as said and stable, or a part of the fastest vibration at the start. A large
 * system whose spectrum does not converge runs with what is said. */
static int choose_inner(taut_impulse *w, taut_error *error)
{
    enum { ENDS = 2 };
    taut_stepper *s = w->stepper;
    double frequency[2 * ENDS];
    int found = 0;
    bool complete;
    taut_error reason;
    w->inner = s->options ? taut_options_real(s->options, "inner-step") : NAN;
    int status = taut_frequencies(s->context, s->now.t, s->now.q, ENDS, frequency, &found,
                                  &complete, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    double fastest = status == 0 && found > 0 ? frequency[found - 1] : 0;
    if (isnan(w->inner) && fastest == 0)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "method %s cannot tell its micro-step from the frequencies: say --inner-step",
            s->method->name);
    if (isnan(w->inner))
        w->inner = 1 / (steps_a_radian * fastest);
    if (w->inner * fastest >= 2)
        return taut_fail(error, TAUT_ERROR_STEP,
                         "--inner-step %g is unstable: the fastest vibration needs less than "
                         "2/omega = %.4g; leave it out for %.2g",
                         w->inner, 2 / fastest, 1 / (steps_a_radian * fastest));
    return TAUT_OK;
}

static int show(taut_impulse *w, double t, const double *x, const double *v, double *q, double *u,
                taut_error *error);
static int begin(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    taut_copy(w->n, s->now.q, w->x);
    taut_copy(w->n, s->now.v, w->v);
    TAUT_TRY(show(w, s->now.t, w->x, w->v, s->now.q, s->now.v, error));
    taut_copy(w->n, s->now.q, w->shown_q);
    taut_copy(w->n, s->now.v, w->shown_v);
    for (taut_index i = 0; i < w->n; i++)
        s->now.a[i] = NAN;
    TAUT_TRY(take_actions(w, s->now.t, error));
    w->time = s->now.t;
    return taut_impulse_complete(s, error);
}

int taut_impulse_create(taut_stepper *s, taut_impulse_kick kick, taut_error *error)
{
    const taut_system *system = taut_context_system(s->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    taut_impulse *w = s->work = TAUT_NEW(s->arena, taut_impulse, 1);
    if (!w)
        return taut_fail_memory(error);
    *w = (taut_impulse){.stepper = s, .n = s->n, .m = s->m, .slow = kick};
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    TAUT_TRY(find_springs(w, error));
    TAUT_TRY(reserve(w, sizes.jacobian_entries, error));
    TAUT_TRY(take_mass(w, error));
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->stiff_count,
                               .k_start = w->mass_start,
                               .k_column = w->mass_column,
                               .g_start = w->tie_start,
                               .g_column = w->tie_column,
                               .positive = true};
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->tie, error));
    TAUT_TRY(choose_inner(w, error));
    TAUT_TRY(make_modes(w, error));
    return begin(w, error);
}

void taut_impulse_destroy(taut_stepper *s)
{
    taut_impulse *w = s->work;
    if (!w)
        return;
    taut_saddle_destroy(w->solid);
    taut_saddle_destroy(w->tie);
    taut_modes_destroy(&w->modes);
}

/* ---- linear algebra */

void taut_impulse_rows(const taut_impulse *w, double *rows)
{
    for (taut_index i = 0; i < w->m; i++)
        for (taut_index e = w->jacobian.start[i]; w->stiff[i] && e < w->jacobian.start[i + 1]; e++)
            *rows++ = w->values.jacobian[e];
}

int taut_impulse_factor(taut_impulse *w, const double *g1, const double *g2, taut_error *error)
{
    w->stepper->statistics->factorisations++;
    int status = taut_saddle_factor(w->tie, w->mass, g1, g2, NULL, error);
    if (status != TAUT_ERROR_SINGULAR)
        return status;
    return taut_fail(error, TAUT_ERROR_SINGULAR,
                     "the stiff springs depend on each other, so that there is no manifold to "
                     "project onto; `taut check` names them: leave some out, or mark them `soft`");
}

int taut_impulse_divide(taut_impulse *w, double *x, taut_error *error)
{
    if (w->solid) {
        w->stepper->statistics->solves++;
        return taut_saddle_solve(w->solid, 1, x, NULL, error);
    }
    for (taut_index i = 0; i < w->n; i++)
        x[i] *= w->inverse_mass[i];
    return TAUT_OK;
}

/* ---- forces */

int taut_impulse_force(taut_impulse *w, double t, const double *x, const double *v, double *force,
                       taut_error *error)
{
    w->values.force = force;
    TAUT_TRY(taut_evaluate_inside(w->stepper->context, t, x, v,
                                  TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &w->values,
                                  error));
    w->stepper->statistics->force_evaluations++;
    for (taut_index i = 0; w->stiff_count < w->m && i < w->m; i++)
        if (!w->stiff[i])
            taut_row_add(&w->jacobian, w->values.jacobian, i, -w->values.bond[i] / w->compliance[i],
                         force);
    return TAUT_OK;
}

/* Acceleration by the stiff springs alone. */
static int spring(taut_impulse *w, double t, const double *x, double *restrict a, taut_error *error)
{
    TAUT_TRY(taut_evaluate_inside(w->stepper->context, t, x, NULL,
                                  TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &w->values, error));
    w->stepper->statistics->fast_force_evaluations++;
    taut_clear(w->n, a);
    for (taut_index i = 0; i < w->m; i++)
        if (w->stiff[i])
            taut_row_add(&w->jacobian, w->values.jacobian, i, -w->values.bond[i] / w->compliance[i],
                         a);
    return taut_impulse_divide(w, a, error);
}

/* ---- the state that others see, and back */

int taut_impulse_project(taut_impulse *w, double t, const double *x, const double *target,
                         double *X, taut_error *error)
{
    taut_context *context = w->stepper->context;
    const unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN;
    TAUT_TRY(taut_evaluate_inside(context, t, x, NULL, wanted, &w->values, error));
    taut_impulse_rows(w, w->tie_1);
    taut_copy(w->n, x, X);
    taut_clear(w->m, w->lambda);
    double before = INFINITY;
    for (int k = 0; k < MOST_NEWTON; k++) {
        taut_impulse_rows(w, w->tie_2);
        taut_clear(w->n, w->r);
        for (taut_index i = 0, row = 0; i < w->m; i++)
            if (w->stiff[i])
                w->y[row++] = (target ? target[i] : 0) - w->values.bond[i];
        TAUT_TRY(taut_impulse_factor(w, w->tie_1, w->tie_2, error));
        TAUT_TRY(taut_saddle_solve(w->tie, 1, w->r, w->y, error));
        w->stepper->statistics->solves++;
        w->stepper->statistics->newton_iterations++;
        taut_add(w->n, w->r, X);
        double size = taut_largest(w->n, w->r), scale = taut_largest(w->n, X);
        for (taut_index i = 0; i < w->stiff_count; i++)
            w->lambda[i] -= w->y[i];
        TAUT_TRY(taut_evaluate_inside(context, t, X, NULL, wanted, &w->values, error));
        /* the last step is at rounding, or is followed by one that would be (quadratic
         * convergence) */
        if (size <= 1e-13 * scale || (size <= 1e-9 * scale && size <= 1e-4 * before)) {
            taut_impulse_rows(w, w->tie_2);
            return TAUT_OK;
        }
        before = size;
    }
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "at t = %.9g the vibrating state could not be projected onto the springs' rest lengths: "
        "the vibration is too large for the effective motion; use --motion full",
        t);
}

/* v <- v - M^-1 G^T nu with G v + g_t = rate (NULL: 0) on the stiff springs; G is `rows`, values
 * belong to the same point. */
static int project_velocity(taut_impulse *w, const double *rows, const double *rate, double *v,
                            taut_error *error)
{
    taut_clear(w->n, w->r);
    for (taut_index i = 0, row = 0; i < w->m; i++)
        if (w->stiff[i])
            w->y[row++] = (rate ? rate[i] : 0) - w->values.bond_dt[i] -
                          taut_row_dot(&w->jacobian, w->values.jacobian, i, v);
    TAUT_TRY(taut_impulse_factor(w, rows, NULL, error));
    TAUT_TRY(taut_saddle_solve(w->tie, 1, w->r, w->y, error));
    w->stepper->statistics->solves++;
    for (taut_index i = 0; i < w->n; i++)
        v[i] += w->r[i];
    return TAUT_OK;
}

/* (X, V) of a vibrating state. */
static int show(taut_impulse *w, double t, const double *x, const double *v, double *q, double *u,
                taut_error *error)
{
    TAUT_TRY(taut_impulse_project(w, t, x, NULL, q, error));
    memmove(u, v, (size_t)w->n * sizeof(double));
    return project_velocity(w, w->tie_2, NULL, u, error);
}

/* Stretches and rates of the vibrating state. */
static int measure(taut_impulse *w, taut_error *error)
{
    TAUT_TRY(taut_evaluate_inside(w->stepper->context, w->time, w->x, w->v,
                                  TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &w->values, error));
    for (taut_index i = 0; i < w->m; i++) {
        w->g[i] = w->values.bond[i];
        w->gdot[i] = w->values.bond_dt[i] + taut_row_dot(&w->jacobian, w->values.jacobian, i, w->v);
    }
    return TAUT_OK;
}

/* Somebody has altered `now`: its vibration has the stretches and rates that it had. */
static int follow(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    size_t bytes = (size_t)w->n * sizeof(double);
    if (memcmp(w->shown_q, s->now.q, bytes) == 0 && memcmp(w->shown_v, s->now.v, bytes) == 0)
        return TAUT_OK;
    /* at its own time: an event lies before the end of the step, and bonds may move */
    TAUT_TRY(measure(w, error));
    TAUT_TRY(taut_impulse_project(w, s->now.t, s->now.q, w->g, w->next_x, error));
    memcpy(w->next_v, s->now.v, bytes);
    TAUT_TRY(project_velocity(w, w->tie_2, w->gdot, w->next_v, error));
    memcpy(w->x, w->next_x, bytes);
    memcpy(w->v, w->next_v, bytes);
    memcpy(w->shown_q, s->now.q, bytes);
    memcpy(w->shown_v, s->now.v, bytes);
    w->time = s->now.t;
    return take_actions(w, s->now.t, error);
}

/* ---- stepping */

/* The springs alone over a time h, from (next_x, next_v) and the acceleration in next_fast. */
static int vibrate(taut_impulse *w, double t, double h, taut_error *error)
{
    static const double most = 1e12; /* micro-steps in one step: more would not end */
    double count = ceil(fabs(h) / w->inner * (1 - 1e-12));
    if (!(count <= most))
        return taut_fail(
            error, TAUT_ERROR_STEP,
            "a step of %g would take %.2g micro-steps of %g; say a longer --inner-step", h, count,
            w->inner);
    int64_t steps = count < 1 ? 1 : (int64_t)count;
    double d = h / (double)steps;
    double *restrict x = w->next_x, *restrict v = w->next_v;
    const double *a = w->next_fast;
    for (taut_index i = 0; i < w->n; i++)
        v[i] += d / 2 * a[i];
    for (int64_t k = 1; k <= steps; k++) {
        for (taut_index i = 0; i < w->n; i++)
            x[i] += d * v[i];
        TAUT_TRY(spring(w, t + (double)k * d, x, w->next_fast, error));
        double kick = k == steps ? d / 2 : d; /* two half kicks in one */
        for (taut_index i = 0; i < w->n; i++)
            v[i] += kick * a[i];
    }
    w->stepper->statistics->micro_steps += steps;
    return TAUT_OK;
}

static void swap(double **a, double **b)
{
    double *held = *a;
    *a = *b;
    *b = held;
}

static void accept(taut_impulse *w, const taut_state *next)
{
    taut_stepper *s = w->stepper;
    swap(&w->x, &w->next_x);
    swap(&w->v, &w->next_v);
    swap(&w->kick, &w->next_kick);
    swap(&w->fast, &w->next_fast);
    s->last = s->now;
    s->now = *next;
    taut_copy(w->n, next->q, w->shown_q);
    taut_copy(w->n, next->v, w->shown_v);
    for (taut_index i = 0; i < w->n;
         i++) /* a belongs to the vibration or to the mean motion: rows do without */
        s->now.a[i] = NAN;
    w->time = next->t;
    w->complete = false;
    s->statistics->steps++;
}

int taut_impulse_step(taut_stepper *s, double h, taut_error *error)
{
    taut_impulse *w = s->work;
    if (!w->fresh) {
        TAUT_TRY(follow(w, error));
        TAUT_TRY(w->slow(w, s->now.t, w->x, w->kick, error));
        TAUT_TRY(spring(w, s->now.t, w->x, w->fast, error));
        w->fresh = true;
    }
    taut_state next = s->last;
    next.t = s->now.t + h;
    taut_copy(w->n, w->x, w->next_x);
    taut_copy(w->n, w->fast, w->next_fast);
    for (taut_index i = 0; i < w->n; i++)
        w->next_v[i] = w->v[i] + h / 2 * w->kick[i];
    TAUT_TRY(vibrate(w, s->now.t, h, error));
    TAUT_TRY(w->slow(w, next.t, w->next_x, w->next_kick, error));
    for (taut_index i = 0; i < w->n; i++)
        w->next_v[i] += h / 2 * w->next_kick[i];
    TAUT_TRY(show(w, next.t, w->next_x, w->next_v, next.q, next.v, error));
    accept(w, &next);
    return TAUT_OK;
}

void taut_impulse_changed(taut_stepper *s)
{
    taut_impulse *w = s->work;
    w->fresh = w->complete = false;
}

/* lambda[m], and the acceleration a[n] of the effective motion. */
static int solve_multipliers(taut_impulse *w, double t, const double *q, const double *v, double *a,
                             double *lambda, taut_error *error)
{
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA;
    w->values.force = a;
    TAUT_TRY(taut_evaluate_inside(w->stepper->context, t, q, v, wanted, &w->values, error));
    if (w->has_modes) {
        TAUT_TRY(taut_modes_find(&w->modes, t, q, error));
        taut_modes_blend(&w->modes, w->action, w->blended);
        TAUT_TRY(taut_modes_gradient(&w->modes, t, q, w->blended, w->gradient, error));
        for (taut_index i = 0; i < w->n; i++)
            a[i] -= w->gradient[i];
    }
    for (taut_index i = 0, row = 0; i < w->m; i++) {
        lambda[i] = w->values.bond[i] / w->compliance[i];
        if (w->stiff[i])
            w->y[row++] = -w->values.gamma[i];
        else
            taut_row_add(&w->jacobian, w->values.jacobian, i, -lambda[i], a);
    }
    taut_impulse_rows(w, w->tie_1);
    TAUT_TRY(taut_impulse_factor(w, w->tie_1, NULL, error));
    TAUT_TRY(taut_saddle_solve(w->tie, 1, a, w->y, error));
    for (taut_index i = 0, row = 0; i < w->m; i++)
        if (w->stiff[i])
            lambda[i] = w->y[row++];
    return TAUT_OK;
}

/* What only rows need is not counted, as in the other methods. */
static int find_multipliers(taut_impulse *w, double t, const double *q, const double *v, double *a,
                            double *lambda, taut_error *error)
{
    const taut_statistics before = *w->stepper->statistics;
    int status = solve_multipliers(w, t, q, v, a, lambda, error);
    *w->stepper->statistics = before;
    return status;
}

int taut_impulse_complete(taut_stepper *s, taut_error *error)
{
    taut_impulse *w = s->work;
    if (w->complete)
        return TAUT_OK;
    TAUT_TRY(follow(w, error)); /* the actions, where somebody has altered the state */
    TAUT_TRY(find_multipliers(w, s->now.t, s->now.q, s->now.v, w->r, s->now.lambda, error));
    w->complete = true;
    return TAUT_OK;
}

int taut_impulse_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                             double *lambda, taut_error *error)
{
    taut_impulse *w = s->work;
    return find_multipliers(w, t, q, v, w->r, lambda, error);
}

/* ---- the method */

static int plain_kick(taut_impulse *w, double t, const double *x, double *acceleration,
                      taut_error *error)
{
    TAUT_TRY(taut_impulse_force(w, t, x, NULL, acceleration, error));
    return taut_impulse_divide(w, acceleration, error);
}

static int create(taut_stepper *s, taut_error *error)
{
    return taut_impulse_create(s, plain_kick, error);
}

const taut_method taut_impulse_method = {
    TAUT_IMPULSE_METHOD,
    .name = "impulse",
    .summary = "kicks by the slow forces, springs resolved in between; actions are not kept: for "
               "comparison",
    .reference = "Grubmueller et al. 1991; Tuckerman et al. 1992; Lubich, Weiss section 2.1",
    .create = create,
};
