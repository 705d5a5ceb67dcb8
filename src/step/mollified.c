/* mollified.c - the mollified impulse method: the slow potential is taken at the projected point.
 *
 *     a(x) = M^-1 alpha'(x)^T f(X), X = alpha(x) = x + M^-1 G(x)^T lambda, g(X) = 0
 *     [E 2.2, (15)]
 *     alpha'(x)^T = (I + H M^-1) (I - G(X)^T (G(x) M^-1 G(X)^T)^-1 G(x) M^-1),
 *     H = sum lambda_i Hess g_i(x)
 *
 * With b from [M G(X)^T; G(x) 0] (b, .) = (f(X), 0) this is a = b + M^-1 H b. Symplectic and
 * time-reversible when f has a potential; errors are O(h^2) + O(eps), as with the projected
 * method [E Theorem 2.2]. */

#include "base/vectors.h"
#include "base/rows.h"
#include "step/impulse.h"
#include "step/methods.h"

typedef struct mollified {
    double *X, *product; /* [n] */
    double *hessian;     /* on the tangent pattern */
    double *weight;      /* lambda on all bonds, [m] */
} mollified;

/* product = H b */
static int curve(taut_impulse *w, mollified *own, double t, const double *x, const double *b,
                 taut_error *error)
{
    for (taut_index i = 0, row = 0; i < w->m; i++)
        own->weight[i] = w->stiff[i] ? w->lambda[row++] : 0;
    taut_values values = {.bond_hessian = own->hessian, .bond_weight = own->weight};
    TAUT_TRY(taut_evaluate_inside(w->stepper->context, t, x, NULL, TAUT_WANT_BOND_HESSIAN, &values,
                                  error));
    taut_pattern_times(&w->tangent, own->hessian, b, own->product);
    return taut_impulse_divide(w, own->product, error);
}

static int kick(taut_impulse *w, double t, const double *x, double *acceleration, taut_error *error)
{
    mollified *own = w->own;
    TAUT_TRY(taut_impulse_project(w, t, x, NULL, own->X, error)); /* tie_1 is G(x), tie_2 is G(X) */
    TAUT_TRY(taut_impulse_force(w, t, own->X, NULL, acceleration, error));
    TAUT_TRY(taut_impulse_factor(w, w->tie_2, w->tie_1, error));
    taut_clear(w->stiff_count, w->y);
    w->stepper->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(w->tie, 1, acceleration, w->y, error));
    TAUT_TRY(curve(w, own, t, x, acceleration, error));
    for (taut_index i = 0; i < w->n; i++)
        acceleration[i] += own->product[i];
    return TAUT_OK;
}

static int create(taut_stepper *s, taut_error *error)
{
    TAUT_TRY(taut_impulse_create(s, kick, error));
    taut_impulse *w = s->work;
    mollified *own = w->own = TAUT_NEW(s->arena, mollified, 1);
    TAUT_TRY(taut_system_pattern(taut_context_system(s->context), TAUT_PATTERN_TANGENT, &w->tangent,
                                 error));
    if (!own)
        return taut_fail_memory(error);
    TAUT_TRY(TAUT_RESERVE(s->arena, w->n, error, &own->X, &own->product));
    TAUT_TRY(TAUT_RESERVE(s->arena, w->tangent.start[w->n], error, &own->hessian));
    return TAUT_RESERVE(s->arena, w->m, error, &own->weight);
}

const taut_method taut_mollified_impulse = {
    TAUT_IMPULSE_METHOD,
    .name = "mollified-impulse",
    .summary = "kicks by the slow potential at the projected point, springs resolved in between; "
               "symplectic, keeps the actions",
    .reference = "Izaguirre, Reich, Skeel 1999; Lubich, Weiss section 2.2",
    .create = create,
};
