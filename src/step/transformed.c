/* transformed.c - the impulse method with the slow potential of transformed variables: coordinates
 * (q0, q1) with q1 = 0 on the bonds, in which the kick changes the momenta of q0 alone.
 *
 *     U(pi(x)), pi the foot point   [E (22), section 5];   M(x) a = pi'(x)^T f(pi(x))
 *
 * (impulse_foot.c). x moves along a fibre of pi as the springs are stretched, so that the momenta
 * (dx/dg)^T y of the springs do not change in a kick, and nor do actions made of them. Rigid bonds
 * cut fibres of their own out of these; the kick is projected onto them at x. Symplectic and
 * time-reversible when f has a potential; errors are O(h^2) + O(eps) [E Theorem 4.2]. The paper
 * calls it impractical, as its variables are; the foot point needs none of them. */
#include "step/impulse_foot.h"
#include "step/impulse_potential.h"
#include "step/methods.h"

static int kick(taut_impulse *w, double t, const double *x, double *acceleration, taut_error *error)
{
    taut_impulse_foot *foot = w->own;
    if (w->potential)
        return taut_impulse_potential_kick(w, t, x, acceleration, error);
    TAUT_TRY(taut_impulse_foot_find(w, foot, t, x, error));
    TAUT_TRY(taut_mechanics_force(&w->mechanics, t, foot->X, NULL, acceleration, NULL, error));
    TAUT_TRY(taut_impulse_foot_pull(w, foot, t, acceleration, error));
    return w->general ? taut_fast_flow_kick(&w->flow, t, x, acceleration, error) : TAUT_OK;
}

static int prepare(taut_impulse *w, taut_error *error)
{
    if (w->potential)
        return TAUT_OK;
    taut_impulse_foot *foot = w->own = TAUT_NEW(w->stepper->arena, taut_impulse_foot, 1);
    TAUT_NEED(error, foot);
    return taut_impulse_foot_create(foot, w, error);
}

static void release(taut_impulse *w)
{
    taut_impulse_foot_destroy(w->own);
}

static const taut_impulse_variant variant = {.kick = kick, .prepare = prepare, .release = release};
const taut_method taut_transformed = {
    TAUT_IMPULSE_METHOD,
    .name = "transformed",
    .summary = "kicks by the slow potential at the foot point, springs resolved in between; "
               "symplectic, keeps the actions exactly in a kick",
    .reference = "Lubich, Weiss (22), sections 3 to 5",
    .data = &variant,
};
