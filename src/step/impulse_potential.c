/* impulse_potential.c - the impulse methods with a stiff potential V(q)/eps^2, alone or with
 * springs and rigid bonds.
 *
 * The manifold is where K = Hess V/eps^2 has its range as normal directions and grad V = 0 [E
 * (2)-(4); B (8.5)-(8.8)]; functions g with V = V(g) are not given. With z_k, Omega_k^2 the stiff
 * modes of (K, M) on G z = 0 (potential_modes.c) at a point, the rows
 *
 *     z_k^T K / Omega_k^2
 *
 * stand behind those of the bonds: M^-1 of both spans what the vibration moves. Off the manifold G
 * is a choice of functions, and so is the mollifier (15). The foot point
 *
 *     x - X = M(X)^-1 (G(X)^T mu + K(X) zeta),  grad V(X) = 0, g(X) = 0
 *
 * is not, so that it is taken for alpha(x) here, and what is shown. Its derivative: with
 * E = H_mu + K'[zeta] - (d(M w)/dX), w = x - X held fixed,
 *
 *     (M + E) dX + G^T dmu + K dzeta = M(X) dx,  G dX = 0, K dX = 0
 *     M a = M(X) b,  b = P M^-1 (f(X) - E^T b)
 *
 * P the projection onto the manifold at X. E is of the size of the vibration, and so is the rate of
 * this iteration; K'[zeta] b is a second derivative of grad V along zeta +- b, from jets. For one
 * circle the kick is that of its bond; for bonds in general the same up to O(eps^2) [E Lemma
 * 2.1].
 *
 * The modes of all that is stiff, K_all z = Omega^2 M z - G_r^T mu on G_r z = 0 with K_all = K +
 * G_s^T C^-1 G_s, have
 *
 *     2 Omega dOmega/dq = K'[z] z + sum_s 2 (G_i z/c_i) Hess g_i z + sum_r 2 mu_i Hess g_i z
 *                         - Omega^2 (d(M z)/dq)^T z
 *
 * since z^T K_all z - Omega^2 z^T M z + 2 mu^T G_r z is stationary in z and mu. */
#include "step/impulse_potential.h"

#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/anderson.h"
#include "system/modes/potential_modes.h"
#include "system/system.h"

enum { MOST_ITERATIONS = 200, ANDERSON = 3 };

typedef struct taut_impulse_potential {
    taut_potential_modes modes; /* at the latest point, springs as rows */
    int rank;
    taut_jet *jet; /* of the stiff force */
    taut_anderson anderson;
    double *dx, *force, *from;  /* [n] */
    double *s;                  /* [m] */
    double *X, *w;              /* [n]: a foot point, x - X */
    double *slow, *b, *next;    /* [n]: f(X), b and the next one */
    double *zeta, *line, *bend; /* [n] */
    double *hessian, *mass_dq;  /* on the tangent pattern */
    double *weight;             /* mu on all bonds, [m] */
    taut_potential_modes all;   /* springs as parts of K; n = 0 where there are no bonds */
    int count;                  /* of them, at the initial state */
    double *action;             /* [count] */
} potential;

static int fail(double t, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "at t = %.9g the vibrating state has no foot point on the minimum of the "
                     "stiff potential: the vibration is too large for the effective motion; choose "
                     "motion full",
                     t);
}

/* ---- rows */

taut_index taut_impulse_potential_rank(const taut_impulse *w)
{
    return w->potential ? w->potential->rank : 0;
}

int taut_impulse_potential_find(taut_impulse *w, double t, const double *q, taut_error *error)
{
    potential *p = w->potential;
    const double *value = p->modes.value;
    w->stepper->statistics->jacobians++;
    TAUT_TRY(taut_potential_modes_find(&p->modes, t, q, error));
    /* the other eigenvalues are those of the vibration's size */
    bool apart = value[p->rank - 1] > 0 &&
                 (p->rank == p->modes.n || fabs(value[p->rank]) < value[p->rank - 1] / 2);
    return apart ? TAUT_OK : fail(t, error);
}

void taut_impulse_potential_rows(const taut_impulse *w, double *rows)
{
    const potential *p = w->potential;
    double *row = rows + w->rows.start[w->mechanics.rods];
    for (int k = 0; k < p->rank; k++, row += p->modes.n) {
        taut_potential_modes_multiply(&p->modes, p->modes.mode + (int64_t)k * p->modes.n, row);
        for (taut_index i = 0; i < p->modes.n; i++)
            row[i] /= p->modes.value[k];
    }
}

/* out = (d/ds)^order grad V(q + s u)/eps^2, order 1 or 2 */
static int derive(potential *p, double t, const double *q, const double *u, int order, double *out,
                  taut_error *error)
{
    taut_values values = {.stiff_force = out};
    const double *rest = p->slow; /* velocities are not read */
    TAUT_TRY(taut_jet_advance_inside(p->jet, 0, t, q, rest, &values, error));
    TAUT_TRY(taut_jet_advance_inside(p->jet, 1, t, u, rest, &values, error));
    if (order > 1) {
        taut_clear(p->modes.n, p->line);
        TAUT_TRY(taut_jet_advance_inside(p->jet, 2, t, p->line, rest, &values, error));
    }
    for (taut_index i = 0; i < p->modes.n; i++)
        out[i] *= -order;
    return TAUT_OK;
}

int taut_impulse_potential_rates(taut_impulse *w, double t, const double *q, const double *v,
                                 int order, double *y, taut_error *error)
{
    potential *p = w->potential;
    TAUT_TRY(derive(p, t, q, v, order, p->force, error));
    for (int k = 0; k < p->rank; k++)
        y[k] = -taut_dot(p->modes.n, p->modes.mode + (int64_t)k * p->modes.n, p->force) /
               p->modes.value[k];
    return TAUT_OK;
}

/* ---- the foot point */

/* dx: towards the manifold, and along it to where x - X has no part. */
static void step_of(potential *p, const double *x, const double *X)
{
    taut_potential_modes *modes = &p->modes;
    for (taut_index i = 0; i < modes->m; i++)
        p->s[i] = -modes->values.bond[i];
    taut_potential_modes_gradient(modes, p->force);
    taut_potential_modes_step(modes, p->rank, p->s, p->force, -1, p->dx);
    for (taut_index i = 0; i < modes->n; i++)
        p->from[i] = x[i] - X[i];
    taut_potential_modes_along(modes, p->rank, p->from, p->force);
    taut_add(modes->n, p->from, p->dx);
}

int taut_impulse_potential_foot(taut_impulse *w, double t, const double *x, double *X,
                                taut_error *error)
{
    potential *p = w->potential;
    double before = INFINITY;
    taut_copy(p->modes.n, x, X);
    taut_anderson_clear(&p->anderson);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(taut_impulse_potential_find(w, t, X, error));
        step_of(p, x, X);
        w->stepper->statistics->newton_iterations++;
        double step = taut_potential_modes_length(&p->modes, p->dx, NULL),
               scale = taut_potential_modes_scale(&p->modes, x, X);
        if (!isfinite(step))
            break;
        if (step <= 2 * DBL_EPSILON * scale || (step > before / 2 && step <= 1e-13 * scale))
            return TAUT_OK;
        if (step > 2 * before) /* the history does not hold here */
            taut_anderson_clear(&p->anderson);
        taut_anderson_next(&p->anderson, X, p->dx, X);
        before = step;
    }
    return fail(t, error);
}

/* ---- the kick */

/* p->bend = K'[a] b = (1/8) of the sum of second derivatives along +-(a + b) minus those along
 * +-(a - b), in which what an explicit time adds cancels. */
static int bend(potential *p, double t, const double *a, const double *b, taut_error *error)
{
    const taut_index n = p->modes.n;
    double size = taut_norm(n, a), other = taut_norm(n, b), *u = p->from;
    taut_clear(n, p->bend);
    for (int k = 0; k < 4 && size > 0 && other > 0; k++) {
        double sign = k < 2 ? 1 : -1, of_a = k % 2 ? -1 : 1;
        for (taut_index i = 0; i < n; i++)
            u[i] = of_a * (a[i] / size + sign * b[i] / other);
        TAUT_TRY(derive(p, t, p->X, u, 2, p->force, error));
        taut_add_scaled(n, sign * size * other / 8, p->force, p->bend);
    }
    return TAUT_OK;
}

/* mu and zeta, from [M G^T K Z/Omega^2; . 0] (w, .) = (M w, 0), whose matrix is factorised. */
static int take_multipliers(taut_impulse *w, double t, taut_error *error)
{
    potential *p = w->potential;
    const taut_mechanics *m = &w->mechanics;
    taut_potential_modes_mass(&p->modes, p->w, p->b);
    taut_clear(w->rows.rows, w->y);
    TAUT_TRY(taut_impulse_solve(w, p->b, error));
    taut_clear(m->m, p->weight);
    for (taut_index r = 0; r < m->rods; r++)
        p->weight[m->rod[r]] = w->y[r];
    taut_clear(m->n, p->zeta);
    for (int k = 0; k < p->rank; k++)
        taut_add_scaled(m->n, w->y[m->rods + k] / p->modes.value[k],
                        p->modes.mode + (int64_t)k * m->n, p->zeta);
    taut_values values = {.bond_hessian = p->hessian,
                          .bond_weight = p->weight,
                          .mass_dq = p->mass_dq,
                          .mass_weight = p->w};
    unsigned wanted = (m->rods ? TAUT_WANT_BOND_HESSIAN : 0) | (m->varying ? TAUT_WANT_MASS_DQ : 0);
    return wanted ? taut_evaluate_inside(m->context, t, p->X, NULL, wanted, &values, error)
                  : TAUT_OK;
}

/* next = P M^-1 (f - E^T b) */
static int iterate(taut_impulse *w, double t, taut_error *error)
{
    potential *p = w->potential;
    const taut_mechanics *m = &w->mechanics;
    TAUT_TRY(bend(p, t, p->zeta, p->b, error));
    for (taut_index i = 0; i < m->n; i++)
        p->next[i] = p->slow[i] - p->bend[i];
    if (m->rods)
        taut_pattern_add(&p->modes.tangent, p->hessian, -1, p->b, p->next);
    if (m->varying)
        taut_pattern_add_transposed(&p->modes.tangent, p->mass_dq, 1, p->b, p->next);
    taut_clear(w->rows.rows, w->y);
    return taut_impulse_solve(w, p->next, error);
}

/* b at the foot point, which is factorised. */
static int pull(taut_impulse *w, double t, taut_error *error)
{
    potential *p = w->potential;
    const taut_index n = p->modes.n;
    double before = INFINITY;
    TAUT_TRY(take_multipliers(w, t, error));
    taut_clear(n, p->b);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(iterate(w, t, error));
        double change = taut_largest_difference(n, p->next, p->b), size = taut_largest(n, p->next);
        taut_copy(n, p->next, p->b);
        if (!isfinite(change))
            break;
        if (change <= 2 * DBL_EPSILON * size || (change > before / 2 && change <= 1e-13 * size))
            return TAUT_OK;
        before = change;
    }
    return fail(t, error);
}

int taut_impulse_potential_kick(taut_impulse *w, double t, const double *x, double *acceleration,
                                taut_error *error)
{
    potential *p = w->potential;
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_impulse_project(w, t, x, p->X, error));
    for (taut_index i = 0; i < m->n; i++)
        p->w[i] = x[i] - p->X[i];
    TAUT_TRY(taut_mechanics_force(m, t, p->X, NULL, p->slow, NULL, error));
    TAUT_TRY(taut_impulse_factor(w, t, m->mass, w->tie_2, NULL, error));
    TAUT_TRY(pull(w, t, error));
    if (!w->general) {
        taut_copy(m->n, p->b, acceleration);
        return TAUT_OK;
    }
    taut_potential_modes_mass(&p->modes, p->b, acceleration);
    return taut_fast_flow_kick(&w->flow, t, x, acceleration, error);
}

/* ---- the force of the vibration */

static bool vibrates(const potential *p, taut_index i)
{
    return !p->all.rigid[i] && !taut_context_soft(p->all.context, i);
}

int taut_impulse_potential_actions(taut_impulse *w, double t, taut_error *error)
{
    potential *p = w->potential;
    taut_potential_modes *all = &p->all;
    const double *c = w->mechanics.compliance;
    if (all->n == 0)
        return TAUT_OK;
    TAUT_TRY(taut_potential_modes_find(all, t, w->x, error));
    taut_potential_modes_gradient(all, p->b);
    TAUT_TRY(derive(p, t, w->x, w->v, 1, p->next, error));
    for (taut_index i = 0; i < all->m; i++)
        if (vibrates(p, i))
            taut_row_add(&all->jacobian, all->values.jacobian, i,
                         (all->values.bond_dt[i] +
                          taut_row_dot(&all->jacobian, all->values.jacobian, i, w->v)) /
                             c[i],
                         p->next);
    for (int k = 0; k < p->count; k++) {
        const double *z = all->mode + (int64_t)k * all->n, square = all->value[k];
        double stretch = taut_dot(all->n, z, p->b) / square,
               rate = taut_dot(all->n, z, p->next) / square;
        p->action[k] =
            square > 0 ? (rate * rate + square * stretch * stretch) / (2 * sqrt(square)) : 0;
    }
    return TAUT_OK;
}

void taut_impulse_potential_archive(taut_impulse *w, taut_archive *archive)
{
    if (w->potential)
        taut_archive_reals(archive, w->potential->action, w->potential->count);
}

/* weight: 2 G_i z/c_i of the springs, 2 mu_i of the rigid bonds. */
static int weigh_bonds(taut_impulse *w, const double *z, double square, taut_error *error)
{
    potential *p = w->potential;
    const taut_potential_modes *all = &p->all;
    const taut_mechanics *m = &w->mechanics;
    taut_potential_modes_mass(all, z, p->b);
    taut_potential_modes_multiply(all, z, p->next);
    for (taut_index i = 0; i < all->n; i++)
        p->b[i] = square * p->b[i] - p->next[i];
    taut_clear(w->rows.rows, w->y);
    TAUT_TRY(taut_impulse_solve(w, p->b, error));
    taut_clear(all->m, p->weight);
    for (taut_index r = 0; r < m->rods; r++) {
        taut_index i = m->rod[r];
        p->weight[i] =
            2 * (all->rigid[i]
                     ? w->y[r]
                     : taut_row_dot(&all->jacobian, all->values.jacobian, i, z) / m->compliance[i]);
    }
    return TAUT_OK;
}

int taut_impulse_potential_gradient(taut_impulse *w, double t, const double *q, double *gradient,
                                    taut_error *error)
{
    potential *p = w->potential;
    taut_potential_modes *all = &p->all;
    taut_clear(w->mechanics.n, gradient);
    if (all->n == 0)
        return TAUT_OK;
    TAUT_TRY(taut_potential_modes_find(all, t, q, error));
    taut_copy(all->n, q, p->X);
    for (int k = 0; k < p->count && all->value[k] > 0; k++) {
        const double *z = all->mode + (int64_t)k * all->n, square = all->value[k],
                     f = p->action[k] / (2 * sqrt(square));
        taut_values values = {.bond_hessian = p->hessian,
                              .bond_weight = p->weight,
                              .mass_dq = p->mass_dq,
                              .mass_weight = z};
        unsigned varying = w->mechanics.varying ? TAUT_WANT_MASS_DQ : 0;
        TAUT_TRY(weigh_bonds(w, z, square, error));
        TAUT_TRY(taut_evaluate_inside(all->context, t, q, NULL, TAUT_WANT_BOND_HESSIAN | varying,
                                      &values, error));
        taut_pattern_add(&all->tangent, p->hessian, f, z, gradient);
        if (varying)
            taut_pattern_add_transposed(&all->tangent, p->mass_dq, -f * square, z, gradient);
        TAUT_TRY(bend(p, t, z, z, error));
        taut_add_scaled(all->n, f, p->bend, gradient);
    }
    return TAUT_OK;
}

/* ---- making */

/* Actions count where there are bonds, whose mean tensions they change. */
static int create_all(taut_impulse *w, taut_error *error)
{
    potential *p = w->potential;
    const taut_stepper *s = w->stepper;
    if (w->mechanics.rods == 0)
        return TAUT_OK;
    TAUT_TRY(taut_potential_modes_create(&p->all, s->context, s->arena, false, error));
    TAUT_TRY(taut_potential_modes_modes(&p->all, s->now.t, s->now.q, &p->count, error));
    return TAUT_RESERVE(s->arena, p->count, error, &p->action);
}

int taut_impulse_potential_create(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    taut_arena *arena = s->arena;
    taut_mechanics *m = &w->mechanics;
    if (!(taut_context_system(s->context)->sizes.can & TAUT_HAS_STIFF_POTENTIAL))
        return TAUT_OK;
    potential *p = w->potential = TAUT_NEW(arena, potential, 1);
    TAUT_NEED(error, p);
    m->wanted &= ~(unsigned)TAUT_WANT_STIFF_FORCE; /* it is no slow force */
    TAUT_TRY(taut_potential_modes_create(&p->modes, s->context, arena, true, error));
    const int64_t entries = p->modes.tangent.start[m->n];
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &p->dx, &p->force, &p->from, &p->X, &p->w, &p->slow,
                          &p->b, &p->next, &p->zeta, &p->line, &p->bend));
    TAUT_TRY(TAUT_RESERVE(arena, m->m, error, &p->s, &p->weight));
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &p->hessian, &p->mass_dq));
    TAUT_TRY(taut_anderson_create(&p->anderson, m->n, ANDERSON, arena, error));
    TAUT_TRY(taut_jet_create(s->context, 2, TAUT_WANT_STIFF_FORCE, &p->jet, error));
    TAUT_TRY(taut_potential_modes_modes(&p->modes, s->now.t, s->now.q, &p->rank, error));
    if (p->rank > 0 && p->modes.value[p->rank - 1] > 0)
        return create_all(w, error);
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "method %s needs a stiff potential that has a minimum near the initial state, "
                     "with a positive second derivative; give start values that are nearer to it, "
                     "or choose motion full",
                     s->method->name);
}

void taut_impulse_potential_destroy(taut_impulse *w)
{
    if (!w->potential)
        return;
    taut_jet_destroy(w->potential->jet);
    w->potential->jet = NULL;
}
