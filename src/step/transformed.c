/* transformed.c - the impulse method with the slow potential of transformed variables: coordinates
 * (q0, q1) with q1 = 0 on the bonds, in which the kick changes the momenta of q0 alone.
 *
 *     U(pi(x)), X = pi(x) the foot point: x = X + M^-1 G(X)^T mu, g(X) = 0   [E (22), section 5]
 *     a(x) = M^-1 pi'(x)^T f(X):  [M + H  G^T; G  0] (a, .) = (f(X), 0),  H = sum mu_i Hess g_i(X)
 *
 * with G = G(X): x moves by dx = dX + M^-1 H dX + M^-1 G^T dmu, G dX = 0. Newton's method for X has
 * the same matrix. Since G(X) a = 0, the momenta (dx/dg)^T y of the springs do not change in a
 * kick, and nor do actions made of them. Symplectic and time-reversible when f has a potential;
 * errors are O(h^2) + O(eps) [E Theorem 4.2]. The paper calls it impractical, as its variables
 * are; the foot point needs none of them. */
#include "base/rows.h"
#include "base/vectors.h"
#include "step/impulse.h"
#include "step/methods.h"

typedef struct transformed {
    taut_pattern tangent;
    taut_saddle *saddle;   /* [M + H G^T; G 0] */
    double *X, *dX;        /* [n] */
    double *mass, *matrix; /* M, M + H on the tangent pattern */
    double *weight;        /* mu on all bonds, [m] */
} transformed;

/* The matrix at X and mu, with G of the latest evaluation. */
static int factor(taut_impulse *w, transformed *own, double t, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    taut_values values = {.bond_hessian = own->matrix, .bond_weight = own->weight};
    TAUT_TRY(
        taut_evaluate_inside(m->context, t, own->X, NULL, TAUT_WANT_BOND_HESSIAN, &values, error));
    taut_add(own->tangent.start[m->n], own->mass, own->matrix);
    return taut_mechanics_factor(m, own->saddle, t, own->matrix, m->rod_jacobian, NULL, error);
}

/* dX = M (x - X) - G^T mu, w->y = -g */
static void residual(taut_impulse *w, transformed *own, const double *x)
{
    const taut_mechanics *m = &w->mechanics;
    for (taut_index i = 0; i < m->n; i++)
        w->r[i] = x[i] - own->X[i];
    taut_pattern_times(&own->tangent, own->mass, w->r, own->dX);
    for (taut_index r = 0; r < m->rods; r++)
        taut_row_add(&m->rod_rows, m->rod_jacobian, r, -own->weight[m->rod[r]], own->dX);
    taut_mechanics_pick(m, -1, m->values.bond, w->y);
}

/* X and mu of x; ends like taut_impulse_project. */
static int find_foot(taut_impulse *w, transformed *own, double t, const double *x,
                     taut_error *error)
{
    enum { MOST = 40 };
    taut_mechanics *m = &w->mechanics;
    double before = INFINITY;
    taut_copy(m->n, x, own->X);
    taut_clear(m->m, own->weight);
    for (int k = 0; k < MOST; k++) {
        TAUT_TRY(taut_mechanics_bonds(m, t, own->X, NULL, 0, error));
        residual(w, own, x);
        TAUT_TRY(factor(w, own, t, error));
        TAUT_TRY(taut_saddle_solve(own->saddle, 1, own->dX, w->y, error));
        w->stepper->statistics->solves++;
        w->stepper->statistics->newton_iterations++;
        taut_add(m->n, own->dX, own->X);
        for (taut_index r = 0; r < m->rods; r++)
            own->weight[m->rod[r]] += w->y[r];
        double size = taut_largest(m->n, own->dX), scale = taut_largest(m->n, own->X);
        if (size <= 1e-13 * scale || (size <= 1e-9 * scale && size <= 1e-4 * before))
            return TAUT_OK;
        before = size;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "at t = %.9g the vibrating state has no foot point on the springs' rest "
                     "lengths: the vibration is too large for the effective motion; choose motion "
                     "full",
                     t);
}

static int kick(taut_impulse *w, double t, const double *x, double *acceleration, taut_error *error)
{
    transformed *own = w->own;
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(find_foot(w, own, t, x, error));
    TAUT_TRY(taut_mechanics_force(m, t, own->X, NULL, acceleration, NULL, error));
    TAUT_TRY(factor(w, own, t, error));
    taut_clear(m->rods, w->y);
    w->stepper->statistics->solves++;
    return taut_saddle_solve(own->saddle, 1, acceleration, w->y, error);
}

/* own->mass: the constant M on the tangent pattern. */
static void spread_mass(const taut_mechanics *m, transformed *own)
{
    const taut_pattern *p = &own->tangent;
    for (taut_index i = 0; i < m->n; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++) {
            own->mass[k] = !m->mass_start && p->column[k] == i ? m->mass[i] : 0;
            for (taut_index e = m->mass_start ? m->mass_start[i] : 0;
                 m->mass_start && e < m->mass_start[i + 1]; e++)
                if (m->mass_column[e] == p->column[k])
                    own->mass[k] += m->mass[e];
        }
}

static int prepare(taut_impulse *w, taut_error *error)
{
    taut_arena *arena = w->stepper->arena;
    const taut_mechanics *m = &w->mechanics;
    transformed *own = w->own = TAUT_NEW(arena, transformed, 1);
    TAUT_NEED(error, own);
    TAUT_TRY(taut_system_pattern(taut_context_system(m->context), TAUT_PATTERN_TANGENT,
                                 &own->tangent, error));
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &own->X, &own->dX));
    TAUT_TRY(TAUT_RESERVE(arena, own->tangent.start[m->n], error, &own->mass, &own->matrix));
    TAUT_TRY(TAUT_RESERVE(arena, m->m, error, &own->weight));
    spread_mass(m, own);
    taut_saddle_shape shape = {.n = m->n,
                               .m = m->rods,
                               .k_start = own->tangent.start,
                               .k_column = own->tangent.column,
                               .g_start = m->rod_start,
                               .g_column = m->rod_column,
                               .symmetric = true};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &own->saddle, error);
}

static void release(taut_impulse *w)
{
    taut_saddle_destroy(((transformed *)w->own)->saddle);
}

static const taut_impulse_variant variant = {.kick = kick, .prepare = prepare, .release = release};
const taut_method taut_transformed = {
    TAUT_IMPULSE_METHOD(TAUT_HAS_RIGID | TAUT_HAS_VARYING_MASS),
    .name = "transformed",
    .summary = "kicks by the slow potential at the foot point, springs resolved in between; "
               "symplectic, keeps the actions exactly in a kick",
    .reference = "Lubich, Weiss (22), sections 3 to 5",
    .data = &variant,
};
