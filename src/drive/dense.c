/* dense.c - the trajectory between the ends of a step, so that rows and events do not dictate step sizes.
 *
 * Cubic Hermite polynomials: q from (q, v), v from (v, a) at both ends. The error O(h^4) is below that of the steps themselves for the
 * second-order methods there are; multipliers are those of the method at the interpolated state. */
#include "drive/solver.h"

/* y(theta) from values y0, y1 and slopes d0, d1 (per time) at the ends of a step h. */
static void hermite(taut_index n, double theta, double h, const double *y0, const double *d0, const double *y1, const double *d1,
                    double *y)
{
    double s = 1 - theta;
    double b0 = (1 + 2 * theta) * s * s, b1 = theta * theta * (3 - 2 * theta);
    double c0 = h * theta * s * s, c1 = -h * theta * theta * s;
    for (taut_index i = 0; i < n; i++)
        y[i] = b0 * y0[i] + b1 * y1[i] + c0 * d0[i] + c1 * d1[i];
}

int taut_dense(taut_solver *solver, double theta, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    const taut_state *x0 = &s->last, *x1 = &s->now;
    taut_state *x = &solver->probe;
    double h = x1->t - x0->t;
    x->t = x0->t + theta * h;
    hermite(s->n, theta, h, x0->q, x0->v, x1->q, x1->v, x->q);
    hermite(s->n, theta, h, x0->v, x0->a, x1->v, x1->a, x->v);
    for (taut_index i = 0; i < s->n; i++)
        x->a[i] = (1 - theta) * x0->a[i] + theta * x1->a[i];
    return s->method->multipliers(s, x->t, x->q, x->v, x->lambda, error);
}
