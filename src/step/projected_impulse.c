/* projected_impulse.c - the projected impulse method: the slow force kicks along the manifold
 * only.
 *
 *     a(x) = M^-1 P(x) f(x), P = I - G^T (G M^-1 G^T)^-1 G M^-1   [E (10) and section 2.3]
 *
 * a solves [M G^T; G 0] (a, .) = (f, 0). Without the normal part of the kick the actions are
 * kept to O(eps), whatever the step: errors are O(h^2) + O(eps) [E Theorem 2.2].
 * Time-reversible, not symplectic. */
#include "base/vectors.h"
#include "step/impulse.h"
#include "step/methods.h"

static int kick(taut_impulse *w, double t, const double *x, double *acceleration, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_mechanics_force(m, t, x, NULL, acceleration, NULL, error));
    TAUT_TRY(taut_impulse_tangent(w, t, x, error));
    taut_clear(w->rows.rows, w->y);
    return taut_impulse_solve(w, acceleration, error);
}

static const taut_impulse_variant variant = {.kick = kick};
const taut_method taut_projected_impulse = {
    TAUT_IMPULSE_METHOD,
    .name = "projected-impulse",
    .summary = "kicks by the tangential part of the slow forces, springs resolved in between; "
               "keeps the actions",
    .reference = "Lubich, Weiss section 2.3",
    .data = &variant,
};
