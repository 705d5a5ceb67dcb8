/* force_balance.c - in slow motion the forces of the springs are those that keep the bonds from
 * accelerating, up to O(omega^-2). */
#include "filter/force_balance.h"

#include <math.h>

#include "filter/stiffness.h"

double taut_spring_force(const taut_projection *p, const taut_pass *pass, taut_index i)
{
    return (pass->g[i] + taut_context_damping(p->in->context)[i] * pass->gdot[i]) /
           taut_context_compliance(p->in->context)[i];
}

int taut_force_balance_measure(const taut_projection *p, double omega, double tolerance,
                               const double *floor, const double *q, const double *v,
                               const taut_pass *pass, taut_force_balance *b, taut_error *error)
{
    const double *compliance = taut_context_compliance(p->in->context);
    taut_statistics aside = {0}; /* a diagnosis, not a part of the micro-integration */
    taut_error reason = {0};
    int status = taut_slow_multipliers(p->in->context, p->in->t, q, v, b->lambda, NULL, &aside,
                                       &p->arena.allocator, &reason);
    if (status == TAUT_ERROR_SINGULAR)
        return TAUT_OK;
    if (status != 0) {
        if (error)
            *error = reason;
        return status;
    }
    b->known = true;
    for (taut_index i = 0; i < p->in->sizes.bonds; i++) {
        double force = taut_spring_force(p, pass, i), off = fabs(force - b->lambda[i]),
               rate = pass->gdot[i] / omega;
        if (taut_context_soft(p->in->context, i) ||
            !(compliance[i] >
              0)) /* the forces of rigid bonds are those that their equations need */
            continue;
        b->energy += compliance[i] * off * off + rate * rate / compliance[i];
        b->off = fmax(b->off, off - 10 * fmax(tolerance, floor[i]) / compliance[i]);
        b->size = fmax(b->size, fmax(fabs(force), fabs(b->lambda[i])));
    }
    return TAUT_OK;
}

int taut_force_balance_check(const taut_projection *p, const taut_force_balance *b,
                             const char *slowest, double frequency, taut_error *error)
{
    if (!(b->off > 0.5 * b->size))
        return TAUT_OK;
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "what the passes lead to is not a slow motion: the forces of the springs differ by "
        "%.3g from the balance of %.3g; slow and fast are not separated at this state: it "
        "moves at a rate of %.3g, the slowest %s oscillates at %.4g",
        b->off, b->size, taut_stiffness_pace(p), slowest, frequency);
}
