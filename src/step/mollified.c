/* mollified.c - the mollified impulse method: the slow potential is taken at the projected point.
 *
 *     a(x) = M^-1 alpha'(x)^T f(X), X = alpha(x) = x + M^-1 G(x)^T lambda, g(X) = 0
 *     [E 2.2, (15)]
 *     alpha'(x)^T = (I + H M^-1) (I - G(X)^T (G(x) M^-1 G(X)^T)^-1 G(x) M^-1),
 *     H = sum lambda_i Hess g_i(x)
 *
 * With b from [M G(X)^T; G(x) 0] (b, .) = (f(X), 0) this is a = b + M^-1 H b; where M depends on
 * x, M stands for M(x) and H for H - (d(M w)/dx)^T, w = X - x held fixed. Symplectic and
 * time-reversible when f has a potential; errors are O(h^2) + O(eps), as with the projected
 * method [E Theorem 2.2]. With a stiff potential alpha is the foot point (impulse_potential.c). */
#include "base/rows.h"
#include "step/impulse_potential.h"
#include "step/methods.h"
#include "base/vectors.h"

typedef struct mollified {
    taut_pattern tangent;
    double *X, *product, *moved; /* [n]; moved: X - x */
    double *hessian, *mass_dq;   /* on the tangent pattern */
    double *weight;              /* lambda on all bonds, [m] */
} mollified;

/* product = H b, without what changes of M add */
static int curve(taut_impulse *w, mollified *own, double t, const double *x, const double *b,
                 taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    for (taut_index r = 0; r < m->rods; r++)
        own->weight[m->rod[r]] = w->lambda[r];
    taut_values values = {.bond_hessian = own->hessian,
                          .bond_weight = own->weight,
                          .mass_dq = own->mass_dq,
                          .mass_weight = own->moved};
    for (taut_index i = 0; i < m->n; i++)
        own->moved[i] = own->X[i] - x[i];
    TAUT_TRY(taut_evaluate_inside(m->context, t, x, NULL,
                                  TAUT_WANT_BOND_HESSIAN | (m->varying ? TAUT_WANT_MASS_DQ : 0),
                                  &values, error));
    taut_pattern_times(&own->tangent, own->hessian, b, own->product);
    if (m->varying)
        taut_pattern_add_transposed(&own->tangent, own->mass_dq, -1, b, own->product);
    return TAUT_OK;
}

static int kick(taut_impulse *w, double t, const double *x, double *acceleration, taut_error *error)
{
    mollified *own = w->own;
    taut_mechanics *m = &w->mechanics;
    const taut_pattern masses = {m->n, m->n, m->mass_start, m->mass_column};
    if (w->potential)
        return taut_impulse_potential_kick(w, t, x, acceleration, error);
    TAUT_TRY(taut_impulse_project(w, t, x, own->X, error)); /* tie_1 is G(x), tie_2 is G(X) */
    TAUT_TRY(taut_mechanics_force(m, t, own->X, NULL, acceleration, NULL, error));
    TAUT_TRY(taut_impulse_factor(w, t, w->mass_1, w->tie_2, w->tie_1, error));
    taut_clear(m->rods, w->y);
    TAUT_TRY(taut_impulse_solve(w, acceleration, error));
    TAUT_TRY(curve(w, own, t, x, acceleration, error));
    if (!w->general) {
        TAUT_TRY(taut_mechanics_divide(m, own->product, error));
        taut_add(m->n, own->product, acceleration);
        return TAUT_OK;
    }
    taut_mass_add(m->mass_start ? &masses : NULL, m->n, w->mass_1, 1, acceleration, own->product);
    taut_copy(m->n, own->product, acceleration);
    return taut_fast_flow_kick(&w->flow, t, x, acceleration, error);
}

static int prepare(taut_impulse *w, taut_error *error)
{
    taut_arena *arena = w->stepper->arena;
    const taut_mechanics *m = &w->mechanics;
    mollified *own = w->own = TAUT_NEW(arena, mollified, 1);
    TAUT_NEED(error, own);
    TAUT_TRY(taut_system_pattern(taut_context_system(m->context), TAUT_PATTERN_TANGENT,
                                 &own->tangent, error));
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &own->X, &own->product, &own->moved));
    own->hessian = TAUT_NEW(arena, double, own->tangent.start[m->n]);
    own->mass_dq = TAUT_NEW(arena, double, m->varying ? own->tangent.start[m->n] : 0);
    own->weight = TAUT_NEW(arena, double, m->m);
    return taut_arena_check(arena, error);
}

static const taut_impulse_variant variant = {.kick = kick, .prepare = prepare};
const taut_method taut_mollified_impulse = {
    TAUT_IMPULSE_METHOD,
    .name = "mollified-impulse",
    .summary = "kicks by the slow potential at the projected point, springs resolved in between; "
               "symplectic, keeps the actions",
    .reference = "Izaguirre, Reich, Skeel 1999; Lubich, Weiss section 2.2",
    .data = &variant,
};
