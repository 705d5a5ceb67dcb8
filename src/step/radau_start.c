/* radau_start.c - what is known at a state that no step has reached: values, a first guess,
 * multipliers.
 *
 * The guess is one acceleration and one multiplier for all stages, from the bonds' equations
 * expanded over the step:
 *     M a = f - G^T lambda,
 *     C lambda = (g + h gdot + h^2/2 (gamma + G a)) + T (gdot + h (gamma + G a)) */
#include "base/rows.h"
#include "base/vectors.h"
#include "step/radau.h"

#include <float.h>
#include <math.h>

static int evaluate(taut_stepper *s, double t, const double *q, const double *v,
                    taut_radau_past *to, taut_error *error)
{
    taut_radau *w = s->work;
    taut_values values = {.force = to->force,
                          .bond = to->bond,
                          .jacobian = to->jacobian,
                          .bond_dt = to->rate,
                          .gamma = to->gamma,
                          .mass = to->mass,
                          .stiff_force = w->extra};
    unsigned wanted = TAUT_WANT_FORCE |
                      (w->m > w->rows ? TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA : 0) |
                      (w->varying ? TAUT_WANT_MASS : 0) | (w->stiff ? TAUT_WANT_STIFF_FORCE : 0);
    int status = taut_evaluate_inside(s->context, t, q, v, wanted, &values, error);
    TAUT_TRY(taut_radau_agree(w, status, error));
    s->statistics->force_evaluations++;
    for (taut_index k = 0; w->stiff && k < w->n; k++)
        if (w->rows > 0)
            to->pull[k] = -w->extra[k];
        else
            to->force[k] += w->extra[k];
    for (taut_index i = 0; i < s->m; i++) {
        to->drift[i] = to->rate[i];
        to->rate[i] += taut_row_dot(&w->jacobian, to->jacobian, i, v);
        double c = w->compliance[i];
        to->tension[i] = c > 0 ? (to->bond[i] + w->damping[i] * to->rate[i]) / c : NAN;
    }
    return TAUT_OK;
}

int taut_radau_start(taut_stepper *s, taut_radau_past *past, taut_error *error)
{
    TAUT_TRY(evaluate(s, s->now.t, s->now.q, s->now.v, past, error));
    past->ended = past->begun = true;
    return TAUT_OK;
}

int taut_radau_guess(taut_stepper *s, double h, taut_radau_past *past, double *a, double *lambda,
                     taut_error *error)
{
    taut_radau *w = s->work;
    const double *mass = w->varying ? past->mass : w->mass;
    taut_copy(w->n, past->force, a);
    if (w->rows > 0)
        taut_add_scaled(w->n, -1, w->potential.first, a);
    for (taut_index i = 0; i < w->m; i++) {
        /* backwards too: a guess must not divide by 0 */
        double tau = w->damping[i], scale = fabs(h) * (fabs(h) / 2 + tau);
        w->d[i] = fmax(w->compliance[i] / scale, 0);
        lambda[i] = -past->gamma[i] - (past->bond[i] + (h + tau) * past->rate[i]) / scale;
    }
    s->statistics->factorisations++;
    s->statistics->solves++;
    int status = taut_saddle_factor(w->acceleration, mass, past->jacobian, NULL, w->d, error);
    if (status == 0)
        status = taut_saddle_solve(w->acceleration, 1, a, lambda, error);
    /* a coordinate without mass that forces hold: it is in K, which Newton's iteration has */
    if (status == TAUT_ERROR_SINGULAR) {
        taut_error_clear(error);
        taut_clear(w->n, a);
        taut_clear(w->m, lambda);
        status = TAUT_OK;
    }
    TAUT_TRY(status);
    for (int j = 1; j < w->s; j++) {
        taut_copy(w->n, a, a + (int64_t)j * w->n);
        taut_copy(w->m, lambda, lambda + (int64_t)j * w->m);
    }
    return TAUT_OK;
}

/* (g + T gdot)/c is the multiplier unless g is so small that its rounding matters more than what
 * the rigid formula omits. */
static bool by_spring(const taut_radau *w, taut_index i, const taut_radau_past *at, double size)
{
    const double *mass = w->varying ? at->mass : w->mass;
    double c = w->compliance[i];
    return c > 0 && (fabs(at->bond[i]) > 1e6 * DBL_EPSILON * size ||
                     DBL_EPSILON * taut_radau_mobility(w, i, at->jacobian, mass) < 1e-6 * c);
}

/* Bonds marked in w->d keep at->tension; the others get the multipliers of the acceleration
 * equation,
 *     [M G^T; G 0] (v', lambda) = (f - G_s^T lambda_s, -gamma);
 * v' takes the place of at->force, without rigid bonds when `accelerate`. */
static int solve_rods(taut_stepper *s, taut_radau_past *at, bool accelerate, double *lambda,
                      taut_error *error)
{
    taut_radau *w = s->work;
    taut_index rods = 0;
    if (w->rows > 0)
        taut_add_scaled(w->n, -1, at->pull, at->force);
    for (taut_index i = s->m; i < w->m; i++) { /* of the potential: that force is known */
        w->d[i] = 1;
        at->tension[i] = 0;
    }
    for (taut_index i = 0; i < w->m; i++) {
        bool spring = w->d[i] > 0;
        lambda[i] = spring ? 0 : -at->gamma[i];
        rods += !spring;
        if (spring) {
            taut_row_add(&w->jacobian, at->jacobian, i, -at->tension[i], at->force);
        }
    }
    const double *g = rods < w->m ? w->acceleration_g : at->jacobian;
    if (g != at->jacobian)
        taut_copy(w->entries, at->jacobian, w->acceleration_g);
    for (taut_index i = 0; i < w->m; i++)
        if (w->d[i] > 0)
            taut_row_clear(&w->jacobian, w->acceleration_g, i);
    if (taut_radau_any(w, rods > 0 || accelerate)) {
        s->statistics->factorisations++;
        s->statistics->solves++;
        TAUT_TRY(taut_saddle_factor(w->acceleration, w->varying ? at->mass : w->mass, g, NULL, w->d,
                                    error));
        TAUT_TRY(taut_saddle_solve(w->acceleration, 1, at->force, lambda, error));
    }
    for (taut_index i = 0; i < w->m; i++)
        if (w->d[i] > 0)
            lambda[i] = at->tension[i];
    return TAUT_OK;
}

/* Values at the present state, which its first step needs too. */
static int evaluate_now(taut_stepper *s, taut_radau_past *to, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top];
    if (!past->ended || !past->begun)
        TAUT_TRY(taut_radau_start(s, past, error));
    taut_copy(w->n, past->force, to->force);
    taut_copy(w->entries, past->jacobian, to->jacobian);
    taut_copy(w->m, past->bond, to->bond);
    taut_copy(w->m, past->gamma, to->gamma);
    taut_copy(w->m, past->tension, to->tension);
    if (w->varying)
        taut_copy(w->mass_entries, past->mass, to->mass);
    if (w->rows > 0)
        taut_copy(w->n, past->pull, to->pull);
    return TAUT_OK;
}

int taut_radau_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                           double *lambda, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *at = &w->probe;
    if (s->m == 0)
        return TAUT_OK;
    bool now = q == s->now.q && v == s->now.v && t == s->now.t && !w->past[w->top].ended;
    taut_statistics before = *s->statistics; /* output is not counted */
    TAUT_TRY(now ? evaluate_now(s, at, error) : evaluate(s, t, q, v, at, error));
    double size = taut_radau_largest(w, taut_largest(w->n, q));
    /* between the ends of a step Hermite interpolation leaves the slow manifold: g/c is its error
     */
    bool spring = w->table.dense || w->oscillations;
    for (taut_index i = 0; i < s->m; i++)
        w->d[i] = by_spring(w, i, at, size) && (spring || taut_context_soft(s->context, i));
    int status = solve_rods(s, at, false, at->lambda, error);
    taut_copy(s->m, at->lambda, lambda);
    if (!now)
        *s->statistics = before;
    return taut_radau_explain(s, status, 1, at->jacobian, error);
}

int taut_radau_acceleration(taut_stepper *s, double *a, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *at = &w->probe;
    TAUT_TRY(evaluate_now(s, at, error));
    double size = taut_radau_largest(w, taut_largest(w->n, s->now.q));
    bool slow = s->motion == TAUT_MOTION_SLOW; /* the oscillation of stiff springs is unwanted */
    for (taut_index i = 0; i < s->m; i++)
        w->d[i] = by_spring(w, i, at, size) && (!slow || taut_context_soft(s->context, i));
    TAUT_TRY(
        taut_radau_explain(s, solve_rods(s, at, true, at->lambda, error), 1, at->jacobian, error));
    taut_copy(w->n, at->force, a);
    return TAUT_OK;
}

/* f and M of the last iterate at the end of the step, with gamma and G of the end itself. f of
 * the equations has the pull of the old G. */
static int evaluate_end(taut_stepper *s, taut_radau_past *to, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    taut_values values = {.gamma = to->gamma, .jacobian = to->jacobian, .bond_dt = to->drift};
    taut_copy(w->n, past->force, to->force);
    if (w->varying)
        taut_copy(w->mass_entries, past->mass, to->mass);
    if (w->rows > 0)
        taut_copy(w->n, past->pull, to->pull);
    int status = taut_evaluate_inside(s->context, s->now.t, s->now.q, s->now.v,
                                      TAUT_WANT_GAMMA | TAUT_WANT_JACOBIAN, &values, error);
    TAUT_TRY(taut_radau_agree(w, status, error));
    for (taut_index i = 0; i < s->m; i++)
        for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++)
            to->force[w->jacobian.column[k]] +=
                (to->jacobian[k] - past->jacobian[k]) * past->tension[i];
    return TAUT_OK;
}

int taut_radau_reactions(taut_stepper *s, double t, const double *q, const double *v,
                         double *lambda, taut_error *error)
{
    static const double STIFF = 1e-3; /* what the acceleration equation omits, C lambda'', is
                                         then a thousandth of what it keeps */
    taut_radau *w = s->work;
    taut_radau_past *at = &w->probe;
    double e = fabs(w->past[w->top].h * w->table.gamma);
    /* the force of an oscillating spring is that of its stretch: of a full motion only rigid bonds
     * count */
    taut_index wanted = 0;
    for (taut_index i = 0; i < s->m; i++)
        wanted += !(w->oscillations && w->compliance[i] > 0);
    if (!taut_radau_any(w, wanted > 0) || w->redundant)
        return TAUT_OK;
    bool known = q == s->now.q && w->past[w->top].ended;
    if (w->rows > 0 && !known) /* between the ends a stiff potential's force is that of q's error */
        return TAUT_OK;
    TAUT_TRY(known ? evaluate_end(s, at, error) : evaluate(s, t, q, v, at, error));
    for (taut_index i = 0; i < s->m; i++) {
        double size = taut_radau_mobility(w, i, at->jacobian, w->varying ? at->mass : w->mass);
        w->d[i] = w->oscillations ? w->compliance[i] > 0
                                  : !(w->compliance[i] <= STIFF * e * (e + w->damping[i]) * size);
        at->tension[i] = lambda[i];
    }
    /* more springs than freedoms: the equation does not determine them, or not well; then
     * those of the stages are better */
    int status = solve_rods(s, at, false, at->lambda, error);
    taut_copy(s->m, at->lambda, lambda);
    double off = 0, largest = 0;
    for (taut_index i = 0; status == 0 && i < s->m; i++) {
        off = fmax(off, fabs(lambda[i] - at->tension[i]));
        largest = fmax(largest, fabs(lambda[i]) + fabs(at->tension[i]));
    }
    off = taut_radau_largest(w, off);
    largest = taut_radau_largest(w, largest);
    w->redundant |= status == TAUT_ERROR_SINGULAR;
    bool poor = s->method->bond_order == 1; /* those of the stages do not converge at all */
    if (status == TAUT_ERROR_SINGULAR || (!poor && !(off <= 0.5 * largest))) {
        taut_copy(s->m, at->tension, lambda);
        taut_error_clear(error);
        return TAUT_OK;
    }
    return status;
}
