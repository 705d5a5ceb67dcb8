/* difference_condition.c - delta(z), which projections difference and derivative make vanish.
 *
 *     delta = (-1)^m P Delta^{m+1} z_0,      z_j = flow_H(z_{j-1})            [D (3.1)-(3.5)]
 *     delta = (-1)^m P H^{m+1} z^(m+1)       by Taylor jets of the rates      [D (1.9)]
 *     delta = (-1)^m P sum_j w_j z_j         the derivative of the polynomial of degree m + 1 that
 *                                            fits more samples best, for flows with noise
 *     delta = P (sum_j w_j z_j - z)          a filter to both sides (difference_run.c) */
#include <math.h>

#include "base/inside.h"
#include "base/vectors.h"
#include "project/difference.h"

typedef taut_difference difference;

enum { SAMPLES = (1 + TAUT_DIFFERENCE_FIT) * TAUT_PROJECTION_STAGES + 1 };

/* weight[0..count]: sum_j weight[j] z_j is H^(m+1) times the derivative of order m + 1 of the
 * polynomial of this degree that fits z_0 .. z_count best. Its highest coefficient is the part
 * along Gram's polynomial p: p_{k+1} = x p_k - b_k p_{k-1}. */
static void weights(int order, int count, double *weight)
{
    double before[SAMPLES] = {0}, square = 0, factorial = 1;
    for (int j = 0; j <= count; j++)
        weight[j] = 1;
    for (int k = 0; k <= order; k++) {
        double points = count + 1.0,
               b = k * k * (points * points - k * k) / (4 * (4.0 * k * k - 1));
        for (int j = 0; j <= count; j++) {
            double p = weight[j];
            weight[j] = (j - count / 2.0) * p - (k ? b : 0) * before[j];
            before[j] = p;
        }
        factorial *= k + 1;
    }
    for (int j = 0; j <= count; j++)
        square += weight[j] * weight[j];
    for (int j = 0; j <= count; j++)
        weight[j] *= factorial / square;
}

double taut_difference_noise(const difference *w, int order)
{
    double weight[SAMPLES], sum = 0;
    for (int j = 1; j <= w->steps; j++) /* errors of successive steps add up */
        sum += 2 * w->weight[j] * w->weight[j] * j;
    if (w->steps > 0)
        return w->noise * sqrt(sum);
    int count = (order + 1) * (1 + w->fit);
    weights(order, count, weight);
    for (int j = 1; j <= count; j++)
        sum += weight[j] * weight[j];
    return w->noise * sqrt(sum);
}

/* samples[0..count] become the difference of order m + 1, or the fit, in samples[0]. */
static void combine(const difference *w, int order, int count)
{
    taut_index n = w->held.n;
    double weight[SAMPLES], *first = w->samples;
    if (w->fit == 0) {
        for (int level = 0; level <= order; level++)
            for (int64_t i = 0; i < (int64_t)(order + 1 - level) * n; i++)
                first[i] = first[i + n] - first[i];
        return;
    }
    weights(order, count, weight);
    for (taut_index i = 0; i < n; i++)
        first[i] *= weight[0];
    for (int j = 1; j <= count; j++)
        taut_add_scaled(n, weight[j], first + (int64_t)j * n, first);
}

/* samples[0] becomes the difference; w->next and w->size of the latest samples. */
static int by_flow(difference *w, int order, const double *z, taut_error *error)
{
    taut_index n = w->held.n;
    int count = (order + 1) * (1 + w->fit);
    double *first = w->samples, H = w->horizon;
    taut_copy(n, z, first);
    for (int j = 0; j < count; j++) {
        double *from = first + (int64_t)j * n, *to = from + n;
        taut_copy(n, from, to);
        TAUT_TRY(w->flow->advance(w->flow, w->p->in->t + j * H, H, to, error));
    }
    taut_copy(n, first + n, w->next);
    w->size = taut_largest((int64_t)(count + 1) * n, first);
    combine(w, order, count);
    return TAUT_OK;
}

/* samples[0] becomes the filtered state less z. `given`: z is the initial state. */
static int by_filter(difference *w, bool given, const double *z, taut_error *error)
{
    taut_index n = w->held.n;
    double *sum = w->samples, *now = sum + n, h = w->horizon / w->steps;
    w->size = taut_largest(n, z);
    for (taut_index i = 0; i < n; i++)
        sum[i] = (w->weight[0] - 1) * z[i];
    for (int side = -1; side <= 1; side += 2) {
        taut_copy(n, z, now);
        for (int j = 0; j < w->steps; j++) {
            double t = w->p->in->t + side * j * h;
            int status = w->flow->advance(w->flow, t, side * h, now, error);
            if (status > 0 && side < 0 && given)
                return taut_fail(error, TAUT_ERROR_REFUSED,
                                 "projection filter needs a flow that runs backwards, and from t = "
                                 "%.6g this one cannot, or grows without bounds; use projection "
                                 "difference",
                                 t);
            TAUT_TRY(status);
            taut_add_scaled(n, w->weight[j + 1], now, sum);
        }
        w->size = fmax(w->size, taut_largest(n, now));
    }
    taut_copy(n, now, w->next);
    return TAUT_OK;
}

/* samples[0] becomes H^(m+1) times the derivative of order m + 1: z_{j+1} = f_j/(j + 1), in Taylor
 * coefficients along the motion. */
static int by_jet(difference *w, int order, const double *z, taut_error *error)
{
    taut_index n = w->held.n;
    double *now = w->samples, *rate = w->samples + n, factor = 1;
    taut_values values = {.force = rate};
    w->size = taut_largest(n, z);
    taut_copy(n, z, now);
    for (int j = 0; j <= order; j++) {
        w->p->statistics.jets++;
        TAUT_TRY(taut_jet_advance_inside(w->jet, j, w->p->in->t, now, NULL, &values, error));
        for (taut_index i = 0; i < n; i++)
            now[i] = rate[i] / (j + 1);
        for (taut_index i = 0; i < n && j == 0; i++)
            w->next[i] = z[i] + w->horizon * rate[i];
        factor *= (j + 1) * w->horizon;
        w->size = taut_larger(w->size, taut_largest(n, now) * pow(w->horizon, j + 1));
    }
    for (taut_index i = 0; i < n; i++)
        now[i] *= factor;
    return TAUT_OK;
}

int taut_difference_evaluate(difference *w, taut_projection_stage *stage, const double *z,
                             double *most, taut_error *error)
{
    taut_index n = w->held.n;
    int order = stage->order;
    double *first = w->samples;
    *most = INFINITY;
    stage->iterations++;
    TAUT_TRY(w->steps ? by_filter(w, stage->iterations == 1, z, error)
             : w->jet ? by_jet(w, order, z, error)
                      : by_flow(w, order, z, error));
    for (taut_index i = 0; i < n; i++)
        w->delta[i] = order % 2 ? -first[i] : first[i];
    TAUT_TRY(taut_kept_functions_tangent(&w->held, w->p->in->t, z, w->delta, error));
    *most = taut_largest(n, w->delta);
    if (!isfinite(*most))
        *most = INFINITY;
    return TAUT_OK;
}
