/* continuous.c - dense output of explicit Runge-Kutta methods, one form for all:
 *
 *     y(theta) = y0 + theta (F0 + (1-theta) (F1 + theta (F2 + (1-theta) (F3 + theta (F4 + ...)))))
 *     F0 = y1 - y0, F1 = h k_0 - F0, F2 = 2 F0 - h (k_0 + k_s), F_j = h sum_i dense_ji k_i
 *     (j > 2)
 *
 * F0 to F2 are the cubic Hermite polynomial; dopri5 has one coefficient more (order 4), dop8
 * four, and three more stages (order 7). [Hairer, Norsett, Wanner I, II.6 (6.12) and dop853.f] */
#include "base/loops.h"
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

/* The rate at the end of the latest step and the extra stages, with which w->rows of the polynomial
 * are known: the stages belong to their own end only; for another one (an event inside the step)
 * Hermite's polynomial is used alone. */
static int prepare(taut_stepper *s, double **kq, double **kv, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    double h = s->now.t - s->last.t;
    TAUT_TRY(taut_runge_kutta_complete(s, error));
    taut_runge_kutta_stages(w, &s->last, &s->now, kq, kv);
    if (w->continuous)
        return TAUT_OK;
    bool whole = fabs(h - w->h) <= 1e-9 * fabs(w->h);
    w->rows = whole ? 3 + table->dense_rows : 3;
    for (int i = table->stages + 1; whole && i <= table->stages + table->extra; i++)
        TAUT_TRY(taut_runge_kutta_stage(s, &s->last, h, i, kq, kv, error));
    return TAUT_OK;
}

/* Forms the polynomials of the latest step. */
static int form(taut_stepper *s, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    double h = s->now.t - s->last.t, *kq[TAUT_TABLEAU_WIDTH], *kv[TAUT_TABLEAU_WIDTH];
    TAUT_TRY(prepare(s, kq, kv, error));
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

/* y0 + rise (y1 - y0) + h sum_i weight_i k_i is the polynomial at theta; returns the rise. */
static double weights_at(const taut_runge_kutta *w, double theta, double *weight)
{
    const taut_tableau *table = w->tableau;
    double basis = theta, rise = theta;
    for (int i = 0; i < TAUT_TABLEAU_WIDTH; i++)
        weight[i] = 0;
    for (int j = 1; j < w->rows; j++) {
        basis *= j % 2 == 0 ? theta : 1 - theta;
        if (j < 3) {
            rise += j == 1 ? -basis : 2 * basis;
            weight[0] += j == 1 ? basis : -basis;
            weight[table->stages] -= j == 1 ? 0 : basis;
        }
        for (int i = 0; j >= 3 && i < table->width; i++)
            weight[i] += basis * table->dense[(j - 3) * table->width + i];
    }
    return rise;
}

/* From the accelerations, at one theta: no polynomial is kept. The velocity at the end is that of
 * the state, which a stabiliser may have moved. */
static int dense_by_rates(taut_stepper *s, double theta, taut_state *state, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    const int end = w->tableau->stages;
    const double h = s->now.t - s->last.t;
    double *kq[TAUT_TABLEAU_WIDTH], *kv[TAUT_TABLEAU_WIDTH], weight[TAUT_TABLEAU_WIDTH];
    TAUT_TRY(prepare(s, kq, kv, error));
    w->continuous = true;
    const double rise = weights_at(w, theta, weight), last = weight[end];
    taut_stage_path path;
    taut_sum rates;
    taut_sum_make(&rates, w->tableau->width, weight);
    weight[end] = 0;
    taut_stage_path_make(&path, w->tableau, w->tableau->width, weight);
    const double ends[2][3] = {{-rise, rise, h * last}, {-rise, rise}};
    double *of_q[] = {s->last.q, s->now.q, s->now.v}, *of_v[] = {s->last.v, s->now.v};
    taut_sum sum[2];
    taut_sum_make(&sum[0], 3, ends[0]);
    taut_sum_make(&sum[1], 2, ends[1]);
    taut_loop_sums(s->pool, s->n, 1,
                   (const taut_loop_sum[2]){{&sum[0], of_q, s->last.q, w->stage},
                                            {&sum[1], of_v, s->last.v, w->speed}});
    taut_stage_path_form(s, &path, &rates, kq, kv, h, w->stage, w->speed, state->q, state->v);
    return TAUT_OK;
}

int taut_runge_kutta_dense(taut_stepper *s, double theta, taut_state *state, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    if (w->by_rates)
        TAUT_TRY(dense_by_rates(s, theta, state, error));
    else if (!w->continuous)
        TAUT_TRY(form(s, error));
    state->t = s->last.t + theta * (s->now.t - s->last.t);
    if (!w->by_rates)
        polynomial(s->n, w->rows, theta, s->last.q, w->polynomial_q, state->q);
    if (!w->by_rates && w->second_order)
        polynomial(s->n, w->rows, theta, s->last.v, w->polynomial_v, state->v);
    TAUT_TRY(taut_field_multipliers(s, state->t, state->q, state->v, state->a,
                                    taut_state_lambda(state), error));
    taut_field_place(s->field, state->q, state->v);
    return TAUT_OK;
}
