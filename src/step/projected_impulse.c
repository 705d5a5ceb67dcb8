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
    TAUT_TRY(taut_impulse_force(w, t, x, NULL, acceleration, error));
    taut_impulse_rows(w, w->tie_1);
    TAUT_TRY(taut_impulse_factor(w, w->tie_1, NULL, error));
    taut_clear(w->stiff_count, w->y);
    w->stepper->statistics->solves++;
    return taut_saddle_solve(w->tie, 1, acceleration, w->y, error);
}

static int create(taut_stepper *s, taut_error *error)
{
    return taut_impulse_create(s, kick, error);
}

const taut_method taut_projected_impulse = {
    TAUT_IMPULSE_METHOD,
    .name = "projected-impulse",
    .summary = "kicks by the tangential part of the slow forces, springs resolved in between; "
               "keeps the actions",
    .reference = "Lubich, Weiss section 2.3",
    .create = create,
};
