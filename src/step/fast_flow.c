/* fast_flow.c - the flow of  H = y^T M(x)^-1 y/2 + g_s^T C^-1 g_s/2 + V(x)  on the rigid bonds
 * g_r = 0, V the terms of the potential that are marked `fast` and a stiff potential, by the
 * generalised leapfrog in momenta y = M v [E (5)], which with rigid bonds is RATTLE:
 *
 *     y' = y - h/2 (H_x(x, y') + G_r(x)^T lambda)
 *
 *     x+ = x + h/2 (M(x)^-1 + M(x+)^-1) y',  g_r(x+) = 0
 *
 *     y+ = y' - h/2 (H_x(x+, y') + G_r(x+)^T mu),  G_r(x+) v+ + g_t = 0
 *
 *     H_x = G_s^T C^-1 g_s + V_x - (d(M v)/dx)^T v/2 - F(x, v),  v = M(x)^-1 y
 *
 * [Hairer, Lubich, Wanner 2006, VI.3 (3.8), VII.1.4 (1.26)]
 *
 * F are forces that depend on velocities, if there are any. Without them symplectic;
 * time-reversible, order 2; with constant masses and without rigid bonds it is Verlet. The unknown
 * is u = M(x)^-1 y', iterated as in flow_rattle.c; what depends on u is slow. */
#include "step/fast_flow.h"

#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "system/system.h"

enum { MOST_ITERATIONS = 60 };

/* ---- a point */

/* g, G and M at (t, q); the forces of the springs and of fast terms, at the end of a step h. */
static int evaluate(taut_fast_flow *f, double t, double h, const double *q, double *spring,
                    taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    TAUT_TRY(taut_mechanics_bonds(m, t, q, NULL, 0, error));
    if (!spring)
        return TAUT_OK;
    taut_clear(m->n, spring);
    if (f->whole) {
        m->statistics->force_evaluations++;
        return f->force(f->user, t, h, q, spring, error);
    }
    m->statistics->fast_force_evaluations++;
    taut_values terms = {.force = spring, .stiff_force = m->values.stiff_force};
    bool fast = m->context->system->fast_terms && !f->velocity;
    unsigned wanted = fast ? TAUT_WANT_FORCE | TAUT_WANT_FAST : 0;
    wanted |= terms.stiff_force ? TAUT_WANT_STIFF_FORCE : 0;
    if (wanted)
        TAUT_TRY(taut_evaluate_inside(m->context, t, q, NULL, wanted, &terms, error));
    if (terms.stiff_force)
        taut_add(m->n, terms.stiff_force, spring);
    if (f->force)
        return f->force(f->user, t, h, q, spring, error);
    for (taut_index i = 0; i < m->m; i++)
        if (m->compliance[i] > 0 && !taut_context_soft(m->context, i))
            taut_row_add(&m->jacobian, m->values.jacobian, i, -m->values.bond[i] / m->compliance[i],
                         spring);
    return TAUT_OK;
}

/* force = spring + F(q, v) + (d(M v)/dq)^T v/2 */
static int add_inertia(taut_fast_flow *f, double t, const double *q, const double *v,
                       const double *spring, double *force, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    taut_copy(m->n, spring, force);
    if (f->velocity) {
        taut_values terms = {.force = f->push};
        TAUT_TRY(taut_evaluate_inside(m->context, t, q, v, TAUT_WANT_FORCE | TAUT_WANT_FAST, &terms,
                                      error));
        taut_add(m->n, f->push, force);
    }
    if (!m->varying)
        return TAUT_OK;
    m->values.mass_weight = v;
    TAUT_TRY(taut_evaluate_inside(m->context, t, q, NULL, TAUT_WANT_MASS_DQ, &m->values, error));
    taut_pattern_add_transposed(&f->tangent, m->values.mass_dq, 0.5, v, force);
    return TAUT_OK;
}

static int factor(taut_fast_flow *f, double t, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    if (f->mass)
        taut_copy(f->tangent.start[m->n], m->mass, f->mass_q);
    return taut_mechanics_factor(m, f->saddle, t, m->mass, m->rod_jacobian, NULL, error);
}

static int solve(taut_fast_flow *f, double *x, taut_error *error)
{
    f->mechanics.statistics->solves++;
    return taut_saddle_solve(f->saddle, 1, x, f->row, error);
}

int taut_fast_flow_kick(taut_fast_flow *f, double t, const double *q, double *a, taut_error *error)
{
    TAUT_TRY(evaluate(f, t, 0, q, NULL, error));
    TAUT_TRY(factor(f, t, error));
    taut_clear(f->mechanics.rods, f->row);
    return solve(f, a, error);
}

/* ---- a step */

/* next = x+ that belongs to u, from the latest x+ in `next`; g_r and M there. p is M(x) u. */
static int move(taut_fast_flow *f, double t, double h, const double *q, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    taut_copy(m->n, f->u, f->change);
    if (f->mass) {
        TAUT_TRY(evaluate(f, t, 0, f->next, NULL, error));
        taut_clear(m->n, f->p);
        taut_mass_add(&f->tangent, m->n, f->mass_q, 1, f->u, f->p);
        m->statistics->factorisations++;
        TAUT_TRY(taut_saddle_factor(f->mass, m->mass, NULL, NULL, NULL, error));
        taut_copy(m->n, f->p, f->change);
        TAUT_TRY(taut_saddle_solve(f->mass, 1, f->change, NULL, error));
    }
    for (taut_index i = 0; i < m->n; i++)
        f->next[i] = q[i] + h / 2 * (f->u[i] + f->change[i]);
    return m->rods > 0 ? evaluate(f, t, 0, f->next, NULL, error) : TAUT_OK;
}

/* next_d from d = u - v: [M G^T; G 0] (d, .) = (h/2 F(u), G d - g_r(x+)/h) at x. */
static int iterate(taut_fast_flow *f, double t, double h, const double *q, const double *v,
                   taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    for (taut_index i = 0; i < m->n; i++)
        f->u[i] = v[i] + f->d[i];
    TAUT_TRY(move(f, t + h, h, q, error));
    for (taut_index r = 0; r < m->rods; r++)
        f->row[r] = taut_row_dot(&m->rod_rows, f->rows, r, f->d) - m->values.bond[m->rod[r]] / h;
    TAUT_TRY(add_inertia(f, t, q, f->u, f->spring, f->next_d, error));
    for (taut_index i = 0; i < m->n; i++)
        f->next_d[i] *= h / 2;
    m->statistics->newton_iterations++;
    return solve(f, f->next_d, error);
}

/* u and x+ from (q, v), as near as rounding lets them. */
static int reach(taut_fast_flow *f, double t, double h, const double *q, const double *v,
                 taut_error *error)
{
    taut_index n = f->mechanics.n;
    double before = INFINITY, still = taut_largest(n, q) + fabs(h) * taut_largest(n, v);
    taut_clear(n, f->d);
    for (taut_index i = 0; i < n; i++)
        f->next[i] = q[i] + h * v[i];
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        double *swap = f->d;
        TAUT_TRY(iterate(f, t, h, q, v, error));
        double change = fabs(h) * taut_largest_difference(n, f->next_d, f->d),
               floor = DBL_EPSILON * (still + fabs(h) * taut_largest(n, f->next_d));
        f->d = f->next_d;
        f->next_d = swap;
        if (!isfinite(change) || change > 1e3 * (still + 1))
            break;
        if (k > 1 && (change <= floor / 4 || (change >= before && change <= 1e3 * floor)))
            return TAUT_OK;
        before = change;
    }
    if (f->whole)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "method rattle: a step of %.3g from t = %.9g does not converge; a smaller "
                         "step size is needed",
                         h, t);
    return taut_fail_option(error, TAUT_ERROR_CONVERGE, "inner-step",
                            "at t = %.9g micro-steps of %.3g do not converge; set a shorter one", t,
                            fabs(h));
}

/* From a point whose matrix is factorised, to the next one. */
int taut_fast_flow_step(taut_fast_flow *f, double t, double h, double *q, double *v,
                        taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    taut_copy(m->rod_start[m->rods], m->rod_jacobian, f->rows);
    TAUT_TRY(reach(f, t, h, q, v, error));
    for (taut_index i = 0; i < m->n; i++)
        f->u[i] = v[i] + f->d[i];
    TAUT_TRY(move(f, t + h, h, q, error));
    taut_copy(m->n, f->next, q);
    taut_copy(m->n, f->change, f->u); /* M(x+)^-1 y' */
    TAUT_TRY(evaluate(f, t + h, h, q, f->spring, error));
    TAUT_TRY(factor(f, t + h, error));
    TAUT_TRY(add_inertia(f, t + h, q, f->u, f->spring, f->next_d, error));
    taut_mechanics_rates(m, f->u, f->row);
    for (taut_index r = 0; r < m->rods; r++)
        f->row[r] = -f->row[r];
    for (taut_index i = 0; i < m->n; i++)
        f->next_d[i] *= h / 2;
    TAUT_TRY(solve(f, f->next_d, error));
    for (taut_index i = 0; i < m->n; i++)
        v[i] = f->u[i] + f->next_d[i];
    m->statistics->micro_steps += !f->whole;
    return TAUT_OK;
}

int taut_fast_flow_begin(taut_fast_flow *f, double t, const double *q, taut_error *error)
{
    TAUT_TRY(evaluate(f, t, 0, q, f->spring, error));
    return factor(f, t, error);
}

int taut_fast_flow_advance(taut_fast_flow *f, const taut_composition_weights *by, double t,
                           double h, int64_t steps, double *q, double *v, taut_error *error)
{
    TAUT_TRY(taut_fast_flow_begin(f, t, q, error));
    for (int64_t k = 0; k < steps; k++) {
        double at = t + (double)k * h;
        for (int j = 0; j < by->count; j++) {
            TAUT_TRY(taut_fast_flow_step(f, at, by->weight[j] * h, q, v, error));
            at += by->weight[j] * h;
        }
    }
    return TAUT_OK;
}

/* ---- making */

int taut_fast_flow_create(taut_fast_flow *f, taut_context *context, taut_arena *arena,
                          taut_statistics *statistics, unsigned wanted, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    TAUT_TRY(taut_mechanics_create(m, context, arena, statistics, wanted, error));
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &f->spring, &f->d, &f->next_d, &f->u, &f->p, &f->next,
                          &f->change));
    f->velocity = taut_system_velocity_forces(taut_context_system(context));
    TAUT_TRY(TAUT_RESERVE(arena, f->velocity ? m->n : 0, error, &f->push));
    TAUT_TRY(TAUT_RESERVE(arena, m->rods, error, &f->row));
    TAUT_TRY(TAUT_RESERVE(arena, m->rod_start[m->rods], error, &f->rows));
    TAUT_TRY(taut_mechanics_saddle(m, false, true, &arena->allocator, &f->saddle, error));
    if (!m->varying)
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(taut_context_system(context), TAUT_PATTERN_TANGENT, &f->tangent,
                                 error));
    TAUT_TRY(TAUT_RESERVE(arena, f->tangent.start[m->n], error, &f->mass_q, &m->values.mass_dq));
    taut_mechanics alone = *m;
    alone.rods = 0;
    return taut_mechanics_saddle(&alone, false, true, &arena->allocator, &f->mass, error);
}

void taut_fast_flow_destroy(taut_fast_flow *f)
{
    taut_saddle_destroy(f->saddle);
    taut_saddle_destroy(f->mass);
    f->saddle = f->mass = NULL;
}
