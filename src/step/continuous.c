/* continuous.c - dense output of explicit Runge-Kutta methods, one form for all:
 *
 *     y(theta) = y0 + theta (F0 + (1-theta) (F1 + theta (F2 + (1-theta) (F3 + theta (F4 + ...)))))
 *     F0 = y1 - y0, F1 = h k_0 - F0, F2 = 2 F0 - h (k_0 + k_s), F_j = h sum_i dense_ji k_i
 *     (j > 2)
 *
 * F0 to F2 are the cubic Hermite polynomial; dopri5 has one coefficient more (order 4), dop8
 * four, and three more stages (order 7). [Hairer, Norsett, Wanner I, II.6 (6.12) and dop853.f] */
#include "base/vectors.h"
#include "step/explicit.h"

#include <math.h>

static void hermite_part(taut_index n, double h, const double *y0, const double *y1,
                         const double *k0, const double *k1, double *f)
{
    for (taut_index i = 0; i < n; i++) {
        double rise = y1[i] - y0[i];
        f[i] = rise;
        f[n + i] = h * k0[i] - rise;
        f[2 * (int64_t)n + i] = 2 * rise - h * (k0[i] + k1[i]);
    }
}

/* Forms the polynomials of the latest step: the rate at its end and the extra stages are
 * evaluated here. */
static int form(taut_stepper *s, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    double h = s->now.t - s->last.t, *kq[TAUT_TABLEAU_WIDTH], *kv[TAUT_TABLEAU_WIDTH];
    TAUT_TRY(taut_runge_kutta_complete(s, error));
    taut_runge_kutta_stages(w, &s->last, &s->now, kq, kv);
    /* the stages belong to their own end only; for another one (an event inside the step)
     * Hermite's polynomial is used alone */
    bool whole = fabs(h - w->h) <= 1e-9 * fabs(w->h);
    w->rows = whole ? 3 + table->dense_rows : 3;
    for (int i = table->stages + 1; whole && i <= table->stages + table->extra; i++)
        TAUT_TRY(taut_runge_kutta_stage(s, &s->last, h, i, kq, kv, error));
    hermite_part(s->n, h, s->last.q, s->now.q, kq[0], kq[table->stages], w->polynomial_q);
    if (w->second_order)
        hermite_part(s->n, h, s->last.v, s->now.v, kv[0], kv[table->stages], w->polynomial_v);
    for (int j = 0; j + 3 < w->rows; j++) {
        const double *weight = table->dense + j * table->width;
        int64_t row = (int64_t)(3 + j) * s->n;
        taut_combine(s->n, table->width, weight, kq, h, NULL, w->polynomial_q + row);
        if (w->second_order)
            taut_combine(s->n, table->width, weight, kv, h, NULL, w->polynomial_v + row);
    }
    w->continuous = true;
    return TAUT_OK;
}

static void polynomial(taut_index n, int rows, double theta, const double *y0, const double *f,
                       double *y)
{
    for (taut_index i = 0; i < n; i++) {
        double value = 0;
        for (int j = rows - 1; j >= 0; j--)
            value = (value + f[(int64_t)j * n + i]) * (j % 2 == 0 ? theta : 1 - theta);
        y[i] = y0[i] + value;
    }
}

int taut_runge_kutta_dense(taut_stepper *s, double theta, taut_state *state, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    if (!w->continuous)
        TAUT_TRY(form(s, error));
    state->t = s->last.t + theta * (s->now.t - s->last.t);
    polynomial(s->n, w->rows, theta, s->last.q, w->polynomial_q, state->q);
    if (w->second_order)
        polynomial(s->n, w->rows, theta, s->last.v, w->polynomial_v, state->v);
    TAUT_TRY(taut_field_multipliers(s, state->t, state->q, state->v, state->a,
                                    taut_state_lambda(state), error));
    taut_field_place(s->field, state->q, state->v);
    return TAUT_OK;
}
