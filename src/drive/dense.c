/* dense.c - the trajectory between the ends of a step, so that rows and events do not dictate
 * step sizes.
 *
 * A method's own polynomial when it has one. Else Hermite interpolation: q by the quintic
 * through (q, v, a) at both ends and v as its derivative, error O(h^6) and O(h^5). Methods up to
 * order 3 get cubics, q through (q, v) and v through (v, a): their steps are short, and the
 * quintic's derivative loses eps |q|/h to rounding. First order: the cubic through (q, q').
 * Multipliers are those of the method at the interpolated state.
 *
 * Interpolation leaves rigid bonds and invariants by its own error. What puts the end of a step
 * back onto them, the stabiliser or the method itself, is done for a state between steps too, so
 * that rows and events hold what the steps hold. */
#include "drive/solver.h"

#include <math.h>

#include "base/vectors.h"

/* y(theta), and its slope per time when `slope` is not NULL, from values y0, y1 and slopes d0,
 * d1 (per time) at the ends of a step h. */
static void cubic(taut_index n, double theta, double h, const double *y0, const double *d0,
                  const double *y1, const double *d1, double *y, double *slope)
{
    double s = 1 - theta;
    double b0 = (1 + 2 * theta) * s * s, b1 = theta * theta * (3 - 2 * theta);
    double c0 = h * theta * s * s, c1 = -h * theta * theta * s;
    double db = 6 * theta * s / h, e0 = s * (1 - 3 * theta), e1 = theta * (3 * theta - 2);
    for (taut_index i = 0; i < n; i++) {
        y[i] = b0 * y0[i] + b1 * y1[i] + c0 * d0[i] + c1 * d1[i];
        if (slope)
            slope[i] = db * (y1[i] - y0[i]) + e0 * d0[i] + e1 * d1[i];
    }
}

/* The quintic through q, v, a at both ends. With r = q1 - q0 - h v0 - h^2 a0/2, its last three
 * terms match q1, v1, a1: theta^3 (A + B theta + C theta^2). */
static void quintic(taut_index n, double theta, const taut_state *x0, const taut_state *x1,
                    taut_state *x)
{
    double h = x1->t - x0->t, theta2 = theta * theta;
    for (taut_index i = 0; i < n; i++) {
        double v0 = h * x0->v[i], a0 = h * h * x0->a[i];
        double r = x1->q[i] - x0->q[i] - v0 - a0 / 2, s = h * x1->v[i] - v0 - a0,
               u = h * h * x1->a[i] - a0;
        double A = 10 * r - 4 * s + u / 2, B = -15 * r + 7 * s - u, C = 6 * r - 3 * s + u / 2;
        x->q[i] =
            x0->q[i] + theta * (v0 + theta * (a0 / 2 + theta * (A + theta * (B + theta * C))));
        x->v[i] = (v0 + theta * a0 + theta2 * (3 * A + theta * (4 * B + theta * 5 * C))) / h;
        x->a[i] = (a0 + theta * (6 * A + theta * (12 * B + theta * 20 * C))) / (h * h);
    }
}

static bool known(const taut_stepper *s, const taut_state *x0, const taut_state *x1)
{
    return s->n > 0 && !isnan(x0->a[0]) && !isnan(x1->a[0]);
}

/* The acceleration (first order: the rate) at a state that the method gave: between those of the
 * ends. */
static void blend_rates(const taut_stepper *s, const taut_state *x0, const taut_state *x1,
                        double theta, taut_state *x)
{
    double h = x1->t - x0->t;
    const double *y0 = s->first_order ? x0->q : x0->v, *y1 = s->first_order ? x1->q : x1->v;
    for (taut_index i = 0; i < s->n; i++)
        x->a[i] =
            known(s, x0, x1) ? (1 - theta) * x0->a[i] + theta * x1->a[i] : (y1[i] - y0[i]) / h;
}

int taut_unevaluated(int status, double t, taut_error *error)
{
    return status <= 0 ? status
                       : taut_fail(error, TAUT_ERROR_EVALUATE,
                                   "the system cannot be evaluated at t = %.9g", t);
}

int taut_complete(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    return s->method->complete ? taut_unevaluated(s->method->complete(s, error), s->now.t, error)
                               : TAUT_OK;
}

void taut_state_copy(const taut_stepper *s, const taut_state *from, taut_state *to)
{
    taut_copy(s->n, from->q, to->q);
    taut_copy(s->n, from->a, to->a);
    taut_copy(s->first_order ? s->m : s->n, taut_state_v(from), taut_state_v(to));
    taut_copy(s->m, taut_state_lambda(from), taut_state_lambda(to));
    to->t = from->t;
}

/* Methods without a field keep the rigid bonds themselves; explicit ones do as far as they are
 * stabilised. Output is not counted as work. */
static int put_back(taut_solver *solver, taut_state *x, taut_error *error)
{
    const bool stabilized = solver->stepper.method->uses_field;
    if (!stabilized)
        TAUT_TRY(taut_start_need_projector(solver, error));
    taut_projector *projector = stabilized ? solver->stabilizer : solver->onto_rigid;
    taut_statistics before = solver->statistics;
    if (!projector)
        return TAUT_OK;
    int status = projector->apply(projector, x->t, x->q, x->v, error);
    solver->statistics = before;
    return taut_unevaluated(status, x->t, error);
}

void taut_dense_points(taut_solver *solver, const taut_state *x0, const taut_state *x1,
                       double theta)
{
    const taut_stepper *s = &solver->stepper;
    taut_state *x = &solver->probe;
    double h = x1->t - x0->t;
    bool rates = known(s, x0, x1);
    x->t = x0->t + theta * h;
    if (s->first_order && rates) {
        cubic(s->n, theta, h, x0->q, x0->a, x1->q, x1->a, x->q, x->a);
    } else if (s->first_order) {
        for (taut_index i = 0; i < s->n; i++)
            x->q[i] = (1 - theta) * x0->q[i] + theta * x1->q[i];
        blend_rates(s, x0, x1, theta, x);
    } else if (rates && s->method->order > 3) {
        quintic(s->n, theta, x0, x1, x);
    } else if (rates) {
        cubic(s->n, theta, h, x0->q, x0->v, x1->q, x1->v, x->q, NULL);
        cubic(s->n, theta, h, x0->v, x0->a, x1->v, x1->a, x->v, NULL);
        blend_rates(s, x0, x1, theta, x);
    } else {
        cubic(s->n, theta, h, x0->q, x0->v, x1->q, x1->v, x->q, x->v);
        blend_rates(s, x0, x1, theta, x);
    }
}

int taut_dense_between(taut_solver *solver, const taut_state *x0, const taut_state *x1,
                       double theta, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_state *x = &solver->probe;
    taut_dense_points(solver, x0, x1, theta);
    TAUT_TRY(taut_unevaluated(
        s->method->multipliers(s, x->t, x->q, taut_state_v(x), taut_state_lambda(x), error), x->t,
        error));
    return put_back(solver, x, error);
}

int taut_dense(taut_solver *solver, double theta, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_state *x = &solver->probe;
    double t = s->last.t + theta * (s->now.t - s->last.t);
    TAUT_TRY(taut_complete(solver, error));
    if (!s->method->dense)
        return taut_dense_between(solver, &s->last, &s->now, theta, error);
    TAUT_TRY(taut_unevaluated(s->method->dense(s, theta, x, error), t, error));
    x->t = t;
    blend_rates(s, &s->last, &s->now, theta, x);
    return put_back(solver, x, error);
}
