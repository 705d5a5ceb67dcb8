/* impulse.c - the impulse method, and what its projected and mollified variants share.
 *
 *     v+ = v + h/2 a(x), (x, v) <- fast flow over h from (x, v+), v <- v + h/2 a(x)
 *     [E 2.1; Grubmueller et al. 1991]
 *
 * a is the slow acceleration: M^-1 f, with bonds marked `soft` in f. The fast flow has the stiff
 * springs and stiff potentials (impulse_potential.c) alone and is resolved by Verlet, or by a
 * composition of it (option inner-order, compose.c), with micro-steps of at most the option
 * inner-step; both accelerations at the new point serve the next step. Option outer-order has kicks
 * of order 4 (outer_kicks.c), option inner-method long steps in place of micro-steps
 * (adiabatic.c). Terms of the potential that are marked `fast` belong to the
 * fast flow in place of a (r-RESPA with two levels [Tuckerman et al. 1992]), and so do forces that
 * depend on velocities: they damp the vibration, or turn it. Where M depends on x, kicks change the
 * momenta y = M(x) v [E (5)], f is without inertial forces, and the fast flow has the kinetic
 * energy; rigid bonds hold in it and project the kicks (fast_flow.c).
 *
 * The state that vibrates is kept here. What the driver sees is X = x + M^-1 G(x)^T lambda, g(X)
 * = 0 [E (15)], and the velocity that belongs to Y = P(X) y [E (10)]: of these the method is an
 * approximation, of the normal velocity it is none [E Theorem 2.2]. When that state is
 * altered (by an event), the vibration is put on top of it again with the same stretches and rates
 * of the springs. With the option raw the driver sees x and v themselves.
 *
 * Multipliers are the springs' mean tensions, Lambda of the effective system: with H_w = sum w_i
 * Hess g_i the vibration adds <(G(x) - G(X))^T C^-1 g> = sum_k (J_k/Omega_k) H_{w_k} z_k = grad
 * W to the mean force (system/modes/modes.h), so that
 *
 *     M a + G^T Lambda = f - grad W, G a = -gamma   at (X, V), W = sum J_k Omega_k   [E (8)]
 *
 * with the actions of the initial state, or those of now where forces depend on velocities. They do
 * not influence the motion, and are computed only on request. Of groups of more than
 * TAUT_SPECTRUM_DENSE connected springs grad W is omitted from them. */
#include "step/adiabatic.h"
#include "step/impulse_potential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows.h"
#include "step/methods.h"
#include "base/vectors.h"
#include "system/system.h"

/* evaluations in a radian of the fastest vibration by default, whatever the order of the
 * micro-steps; with order 2 Omega is then right to 1e-4 */
static const double steps_a_radian = 20;

/* ---- making */

static int reserve(taut_impulse *w, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    taut_arena *arena = w->stepper->arena;
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &w->x, &w->v, &w->next_x, &w->next_v, &w->kick,
                          &w->next_kick, &w->fast, &w->next_fast, &w->shown_q, &w->shown_v, &w->r,
                          &w->off_x, &w->off_v));
    TAUT_TRY(TAUT_RESERVE(arena, m->rods, error, &w->g, &w->gdot));
    TAUT_TRY(TAUT_RESERVE(arena, w->rows.rows, error, &w->lambda, &w->y));
    TAUT_TRY(TAUT_RESERVE(arena, m->varying ? m->mass_start[m->n] : 0, error, &w->mass_room));
    w->mass_1 = m->varying ? w->mass_room : m->mass;
    return TAUT_RESERVE(arena, w->rows.start[w->rows.rows], error, &w->tie_1, &w->tie_2);
}

static bool is_adiabatic(const taut_stepper *s)
{
    return s->options && strcmp(taut_options_text(s->options, "inner-method"), "adiabatic") == 0;
}

static int make_modes(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    taut_index stiff = w->mechanics.rods;
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->gradient));
    if (w->potential)
        return TAUT_OK;
    TAUT_TRY(TAUT_RESERVE(s->arena, stiff, error, &w->action, &w->blended));
    int status = taut_modes_create(&w->modes, s->context, s->arena,
                                   is_adiabatic(s) ? TAUT_MODES_SHAPES : TAUT_MODES_GRADIENT,
                                   TAUT_SPECTRUM_DENSE, error);
    w->has_modes = status == 0;
    return status == TAUT_ERROR_REFUSED ? TAUT_OK : status; /* too many: without */
}

/* Actions of the vibrating state. */
static int take_actions(taut_impulse *w, double t, taut_error *error)
{
    if (w->potential)
        return taut_impulse_potential_actions(w, t, error);
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

/* The micro-step: as set and stable, or a part of the fastest vibration of the initial state. A
 * large system whose spectrum does not converge runs with what is set. */
static int choose_inner(taut_impulse *w, taut_error *error)
{
    enum { ENDS = 2 };
    taut_stepper *s = w->stepper;
    double frequency[2 * ENDS];
    int found = 0;
    bool complete;
    taut_error reason;
    w->inner = s->options ? taut_options_real(s->options, "inner-step") : NAN;
    taut_composition(s->options ? atoi(taut_options_text(s->options, "inner-order")) : 2,
                     &w->composed);
    int status = taut_frequencies(s->context, s->now.t, s->now.q, ENDS, frequency, &found,
                                  &complete, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    double fastest = status == 0 && found > 0 ? frequency[found - 1] : 0;
    bool adiabatic = is_adiabatic(s);
    if (isnan(w->inner) && fastest == 0 && !adiabatic)
        return taut_fail_option(
            error, TAUT_ERROR_REFUSED, "inner-step",
            "method %s cannot derive its micro-step from the frequencies; set it", s->method->name);
    double usual = w->composed.count / (steps_a_radian * fastest);
    w->finest = fastest > 0 ? usual : w->inner;
    if (isnan(w->inner))
        w->inner = adiabatic ? INFINITY : usual;
    if (!adiabatic && w->inner * fastest >= w->composed.stability)
        return taut_fail_option(error, TAUT_ERROR_STEP, "inner-step",
                                "%g is unstable: the fastest vibration needs less than "
                                "%.3g/omega = %.4g; the default is %.2g",
                                w->inner, w->composed.stability, w->composed.stability / fastest,
                                usual);
    return TAUT_OK;
}

static int begin(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    taut_index n = s->n;
    taut_copy(n, s->now.q, w->x);
    taut_copy(n, s->now.v, w->v);
    taut_copy(n, s->now.q, w->shown_q);
    taut_copy(n, s->now.v, w->shown_v);
    w->time = s->now.t;
    TAUT_TRY(taut_impulse_meet_rigid(w, error));
    TAUT_TRY(taut_impulse_show(w, s->now.t, w->x, w->v, s->now.q, s->now.v, error));
    taut_copy(n, s->now.q, w->shown_q);
    taut_copy(n, s->now.v, w->shown_v);
    for (taut_index i = 0; i < w->mechanics.n; i++)
        s->now.a[i] = NAN;
    TAUT_TRY(take_actions(w, s->now.t, error));
    return taut_impulse_complete(s, error);
}

/* Momenta are M v, and slow forces those of positions; those that depend on velocities move with
 * the springs. */
static int refuse_forces(const taut_impulse *w, const char *who, taut_error *error)
{
    const taut_stepper *s = w->stepper;
    const taut_system *system = taut_context_system(s->context);
    unsigned can = system->sizes.can;
    if (taut_system_velocity_forces(system) && (is_adiabatic(s) || !(can & TAUT_CAN_JETS)))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s supports forces that depend on velocities by micro-steps of method "
                         "verlet, in model files: they change the actions; omit them, or use the "
                         "slow or full motion",
                         who);
    if ((can & TAUT_HAS_VARYING_MASS) && !(can & TAUT_HAS_KINETIC))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s does not support a varying [mass], which is no Hamiltonian system: "
                         "state the kinetic energy in [kinetic]",
                         who);
    return taut_mechanics_at_rest(&w->mechanics, who, s->now.t, s->now.q, w->r, error);
}

/* The rows of the bonds, and behind them dense ones of a potential. */
static int make_tie(taut_impulse *w, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    const taut_allocator *allocator = &w->stepper->arena->allocator;
    taut_index rank = taut_impulse_potential_rank(w), used = m->rod_start[m->rods];
    w->rows = (taut_pattern){m->rods + rank, m->n, m->rod_start, m->rod_column};
    if (rank == 0)
        return taut_mechanics_saddle(m, false, false, allocator, &w->tie, error);
    taut_index *start = TAUT_NEW(w->stepper->arena, taut_index, (int64_t)w->rows.rows + 1),
               *column = TAUT_NEW(w->stepper->arena, taut_index, used + (int64_t)rank * m->n);
    TAUT_NEED(error, start, column);
    w->rows.start = start;
    w->rows.column = column;
    for (taut_index r = 0; r <= m->rods; r++)
        start[r] = m->rod_start[r];
    for (taut_index k = 0; k < used; k++)
        column[k] = m->rod_column[k];
    for (taut_index k = 0; k < rank; k++) {
        for (taut_index i = 0; i < m->n; i++)
            column[used++] = i;
        start[m->rods + k + 1] = used;
    }
    taut_saddle_shape shape = {.n = m->n,
                               .m = w->rows.rows,
                               .k_start = m->mass_start,
                               .k_column = m->mass_column,
                               .g_start = start,
                               .g_column = column,
                               .positive = m->positive};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, allocator, &w->tie, error);
}

static int find_springs(taut_impulse *w, const char *who, taut_error *error)
{
    taut_stepper *s = w->stepper;
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(
        taut_mechanics_create(m, s->context, s->arena, s->statistics, TAUT_STIFF_AS_RODS, error));
    const bool velocity = taut_system_velocity_forces(taut_context_system(s->context));
    taut_index rigid = 0;
    for (taut_index r = 0; r < m->rods; r++)
        rigid += !(m->compliance[m->rod[r]] > 0);
    TAUT_TRY(taut_impulse_potential_create(w, error));
    if (m->rods == rigid && !w->potential)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s needs stiff springs, whose vibration it resolves: give bonds a "
                         "stiffness, or use the rigid or full motion",
                         who);
    w->fast_terms = taut_context_system(s->context)->fast_terms || velocity;
    w->general = rigid > 0 || m->varying || velocity;
    if (w->general)
        TAUT_TRY(taut_fast_flow_create(&w->flow, s->context, s->arena, s->statistics, 0, error));
    else
        TAUT_TRY(taut_mechanics_invert(m, who, s->now.t, s->arena, error));
    return make_tie(w, error);
}

int taut_impulse_create(taut_stepper *s, taut_error *error)
{
    const taut_impulse_variant *variant = s->method->data;
    taut_impulse *w = s->work = TAUT_NEW(s->arena, taut_impulse, 1);
    TAUT_NEED(error, w);
    char who[80];
    w->stepper = s;
    w->raw = s->options && taut_options_flag(s->options, "raw");
    snprintf(who, sizeof who, "method %s", s->method->name);
    TAUT_TRY(find_springs(w, who, error));
    TAUT_TRY(taut_impulse_choose_order(w, who, is_adiabatic(s), error));
    TAUT_TRY(reserve(w, error));
    TAUT_TRY(refuse_forces(w, who, error));
    TAUT_TRY(choose_inner(w, error));
    TAUT_TRY(make_modes(w, error));
    if (s->adaptive)
        TAUT_TRY(taut_outer_create(&w->outer, s, error));
    if (is_adiabatic(s))
        TAUT_TRY(taut_adiabatic_create(w, error));
    TAUT_TRY(begin(w, error));
    return variant->prepare ? variant->prepare(w, error) : TAUT_OK;
}

void taut_impulse_destroy(taut_stepper *s)
{
    taut_impulse *w = s->work;
    if (!w)
        return;
    const taut_impulse_variant *variant = s->method->data;
    if (variant->release && w->own)
        variant->release(w);
    taut_mechanics_destroy(&w->mechanics);
    taut_fast_flow_destroy(&w->flow);
    taut_saddle_destroy(w->tie);
    taut_modes_destroy(&w->modes);
    taut_impulse_potential_destroy(w);
    taut_adiabatic_destroy(w);
}

/* ---- stepping */

/* Acceleration by the stiff springs, and by terms of the potential that are marked `fast`. */
static int spring(taut_impulse *w, double t, const double *x, double *restrict a, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    const taut_values *values = &m->values;
    const unsigned terms = w->fast_terms ? TAUT_WANT_FORCE | TAUT_WANT_FAST : 0,
                   bonds = m->m > 0 ? TAUT_WANT_BOND | TAUT_WANT_JACOBIAN : 0,
                   stiff = w->potential ? TAUT_WANT_STIFF_FORCE : 0;
    m->values.force = a;
    TAUT_TRY(
        taut_evaluate_inside(m->context, t, x, NULL, bonds | terms | stiff, &m->values, error));
    w->stepper->statistics->fast_force_evaluations++;
    if (!terms)
        taut_clear(m->n, a);
    if (stiff)
        taut_add(m->n, values->stiff_force, a);
    for (taut_index r = 0; r < m->rods; r++) {
        taut_index i = m->rod[r];
        taut_row_add(&m->jacobian, values->jacobian, i, -values->bond[i] / m->compliance[i], a);
    }
    return taut_mechanics_divide(m, a, error);
}

int taut_impulse_vibrate(taut_impulse *w, double t, double h, taut_error *error)
{
    static const double most = 1e12; /* micro-steps in one step: more would not end */
    double count = ceil(fabs(h) / w->inner * (1 - 1e-12));
    if (!(count <= most))
        return taut_fail_option(error, TAUT_ERROR_STEP, "inner-step",
                                "a step of %g would take %.2g micro-steps of %g; set a longer one",
                                h, count, w->inner);
    int64_t steps = count < 1 ? 1 : (int64_t)count;
    double d = h / (double)steps;
    if (w->adiabatic)
        return taut_adiabatic_advance(w, t, d, steps, error);
    if (w->general)
        return taut_fast_flow_advance(&w->flow, &w->composed, t, d, steps, w->next_x, w->next_v,
                                      error);
    const int stages = w->composed.count;
    const double *weight = w->composed.weight, *a = w->next_fast;
    double *restrict x = w->next_x, *restrict v = w->next_v;
    for (taut_index i = 0; i < w->mechanics.n; i++)
        v[i] += weight[0] * d / 2 * a[i];
    for (int64_t k = 0; k < steps; k++) {
        double done = 0;
        for (int j = 0; j < stages; j++) {
            for (taut_index i = 0; i < w->mechanics.n; i++)
                x[i] += weight[j] * d * v[i];
            done = j + 1 == stages ? 1 : done + weight[j];
            TAUT_TRY(spring(w, t + ((double)k + done) * d, x, w->next_fast, error));
            bool last = k + 1 == steps && j + 1 == stages; /* else two half kicks in one */
            double kick = (weight[j] + (last ? 0 : weight[(j + 1) % stages])) / 2 * d;
            for (taut_index i = 0; i < w->mechanics.n; i++)
                v[i] += kick * a[i];
        }
    }
    w->stepper->statistics->micro_steps += steps * stages;
    return TAUT_OK;
}

static int follow(taut_impulse *w, taut_error *error)
{
    bool altered;
    TAUT_TRY(taut_impulse_follow(w, &altered, error));
    return altered ? take_actions(w, w->time, error) : TAUT_OK;
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
    taut_copy(w->mechanics.n, next->q, w->shown_q);
    taut_copy(w->mechanics.n, next->v, w->shown_v);
    for (taut_index i = 0; i < w->mechanics.n;
         i++) /* a belongs to the vibration or to the mean motion: rows do without */
        s->now.a[i] = NAN;
    w->time = next->t;
    w->complete = false;
    s->statistics->steps++;
}

int taut_impulse_kick(taut_impulse *w, double t, const double *x, double *acceleration,
                      taut_error *error)
{
    const taut_impulse_variant *variant = w->stepper->method->data;
    const unsigned all = w->mechanics.wanted;
    w->mechanics.wanted |= w->fast_terms ? TAUT_WANT_SLOW : 0;
    int status = variant->kick(w, t, x, acceleration, error);
    w->mechanics.wanted = all;
    return status;
}

/* (next_x, next_v) and next_fast over a step of length h, next_kick at its end. */
static int advance_2(taut_impulse *w, double t, double h, taut_error *error)
{
    for (taut_index i = 0; i < w->mechanics.n; i++)
        w->next_v[i] += h / 2 * w->kick[i];
    TAUT_TRY(taut_impulse_vibrate(w, t, h, error));
    TAUT_TRY(taut_impulse_kick(w, t + h, w->next_x, w->next_kick, error));
    for (taut_index i = 0; i < w->mechanics.n; i++)
        w->next_v[i] += h / 2 * w->next_kick[i];
    return TAUT_OK;
}

int taut_impulse_once(taut_impulse *w, double h, taut_error *error)
{
    taut_stepper *s = w->stepper;
    taut_index n = s->n;
    taut_state next = s->last;
    next.t = s->now.t + h;
    taut_copy(n, w->x, w->next_x);
    taut_copy(n, w->fast, w->next_fast);
    taut_copy(n, w->v, w->next_v);
    TAUT_TRY(w->fourth ? taut_impulse_advance_4(w, s->now.t, h, error)
                       : advance_2(w, s->now.t, h, error));
    TAUT_TRY(taut_impulse_show(w, next.t, w->next_x, w->next_v, next.q, next.v, error));
    accept(w, &next);
    return TAUT_OK;
}

int taut_impulse_step(taut_stepper *s, double h, taut_error *error)
{
    taut_impulse *w = s->work;
    if (!w->fresh) {
        TAUT_TRY(follow(w, error));
        TAUT_TRY(taut_impulse_kick(w, s->now.t, w->x, w->kick, error));
        if (!w->general && !w->adiabatic)
            TAUT_TRY(spring(w, s->now.t, w->x, w->fast, error));
        w->fresh = true;
        w->outer.known = 0;
    }
    return s->adaptive ? taut_outer_step(w, h, error) : taut_impulse_once(w, h, error);
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
    taut_mechanics *m = &w->mechanics;
    if (w->has_modes) {
        TAUT_TRY(taut_modes_find(&w->modes, t, q, error));
        taut_modes_blend(&w->modes, w->action, w->blended);
        TAUT_TRY(taut_modes_gradient(&w->modes, t, q, w->blended, w->gradient, error));
    }
    TAUT_TRY(taut_mechanics_force(m, t, q, v, a, lambda, error));
    TAUT_TRY(taut_impulse_tangent(w, t, q, error));
    if (w->potential)
        TAUT_TRY(taut_impulse_potential_gradient(w, t, q, w->gradient, error));
    for (taut_index i = 0; (w->has_modes || w->potential) && i < m->n; i++)
        a[i] -= w->gradient[i];
    if (w->potential)
        TAUT_TRY(taut_impulse_potential_rates(w, t, q, v, 2, w->y + m->rods, error));
    return taut_mechanics_react(m, w->tie, t, q, v, a, w->y, lambda, error);
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
    TAUT_TRY(follow(w, error)); /* the actions, where the state was altered */
    if (w->flow.velocity)
        TAUT_TRY(take_actions(w, w->time, error));
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

void taut_impulse_vibrating(taut_stepper *s, taut_state *state)
{
    const taut_impulse *w = s->work;
    *state = (taut_state){.t = w->time, .q = w->x, .v = w->v};
}

void taut_impulse_archive(taut_stepper *s, taut_archive *archive)
{
    taut_impulse *w = s->work;
    double *const vector[] = {w->x, w->v, w->kick, w->fast, w->shown_q, w->shown_v};
    for (size_t k = 0; k < sizeof vector / sizeof vector[0]; k++)
        taut_archive_reals(archive, vector[k], s->n);
    taut_archive_real(archive, &w->time);
    taut_archive_flag(archive, &w->fresh);
    taut_archive_flag(archive, &w->complete);
    taut_archive_reals(archive, w->action, w->has_modes ? w->mechanics.rods : 0);
    taut_impulse_potential_archive(w, archive);
    if (s->adaptive)
        taut_outer_archive(w, archive);
}

/* ---- the method */

static int plain_kick(taut_impulse *w, double t, const double *x, double *acceleration,
                      taut_error *error)
{
    TAUT_TRY(taut_mechanics_force(&w->mechanics, t, x, NULL, acceleration, NULL, error));
    if (w->general)
        return taut_fast_flow_kick(&w->flow, t, x, acceleration, error);
    return taut_mechanics_divide(&w->mechanics, acceleration, error);
}

static const taut_impulse_variant plain = {.kick = plain_kick};
const taut_method taut_impulse_method = {
    TAUT_IMPULSE_METHOD,
    .name = "impulse",
    .summary = "kicks by the slow forces, springs resolved in between; actions are not kept: for "
               "comparison",
    .reference = "Grubmueller et al. 1991; Tuckerman et al. 1992; Lubich, Weiss section 2.1",
    .data = &plain,
};
