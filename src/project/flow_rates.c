/* flow_rates.c - the spectrum of a flow or of a model's rates at a state.
 *
 *     A = d flow_H / dz,   mu eigenvalues of A,   rates log(mu)/H        (differences of the flow)
 *     J = d f / dz,        rates are its eigenvalues                     (first-order models)
 *
 * In units of the variables' sizes, so that traces count. The columns of A are independent of one
 * another: several copies of a program compute them at the same time. A left eigenvector l gives
 * the function l^T z of the state that decays with one rate alone: of a slow rate, it is an
 * observable [D section 5]. */
#include "project/flow_rates.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/inside.h"
#include "base/vectors.h"
#include "linalg/general_eigen.h"
#include "system/system.h"

int taut_flow_rates_create(taut_flow_rates *r, taut_index n, const double *scale, taut_arena *arena,
                           taut_error *error)
{
    if (n > TAUT_RATES_VARIABLES)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "the spectrum of %d variables: at most %d are supported", (int)n,
                         TAUT_RATES_VARIABLES);
    *r = (taut_flow_rates){.n = n};
    int64_t square = (int64_t)n * n;
    r->rate = TAUT_NEW(arena, double complex, n);
    r->left = TAUT_NEW(arena, double complex, square);
    r->solve = TAUT_NEW(arena, double complex, square + n);
    r->pivot = TAUT_NEW(arena, taut_index, n);
    TAUT_TRY(taut_arena_check(arena, error));
    TAUT_TRY(TAUT_RESERVE(arena, square + n, error, &r->matrix, &r->work));
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &r->scale));
    for (taut_index i = 0; i < n; i++)
        r->scale[i] = scale[i] > 0 ? scale[i] : 1;
    return TAUT_OK;
}

static int by_size(const void *a, const void *b)
{
    double x = cabs(*(const double complex *)a), y = cabs(*(const double complex *)b);
    if (x != y)
        return (x > y) - (x < y);
    return cimag(*(const double complex *)a) < cimag(*(const double complex *)b) ? 1 : -1;
}

/* Eigenvalues of r->matrix as rates; H = 0: they are rates. */
static int find(taut_flow_rates *r, double H, taut_error *error)
{
    taut_index n = r->n;
    double *real = r->work + (int64_t)n * n, *imaginary = (double *)r->solve;
    r->time = H;
    taut_copy((int64_t)n * n, r->matrix, r->work);
    if (!taut_general_values((int)n, r->work, real, imaginary))
        return taut_fail(error, TAUT_ERROR_CONVERGE, "the eigenvalue iteration does not converge");
    for (taut_index k = 0; k < n; k++) {
        double complex mu = real[k] + imaginary[k] * I;
        r->rate[k] = H == 0 ? mu : cabs(mu) > 0 ? clog(mu) / H : -2 * r->limit;
        if (H > 0 && !(creal(r->rate[k]) > -r->limit))
            r->rate[k] = -r->limit + 0 * I; /* decayed: its phase is noise */
    }
    qsort(r->rate, (size_t)n, sizeof *r->rate, by_size);
    return TAUT_OK;
}

int taut_flow_rates_open(taut_flow_rates *r, taut_context *context, double t, const double *z,
                         taut_error *error)
{
    taut_index n = r->n;
    taut_pattern tangent;
    TAUT_TRY(
        taut_system_pattern(taut_context_system(context), TAUT_PATTERN_TANGENT, &tangent, error));
    double *rates = r->work, *entry = r->work + n;
    taut_values values = {.force = rates, .force_dq = entry};
    TAUT_TRY(taut_evaluate_inside(context, t, z, NULL, TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ,
                                  &values, error));
    taut_clear((int64_t)n * n, r->matrix);
    double size = 0;
    for (taut_index i = 0; i < n; i++)
        for (taut_index k = tangent.start[i]; k < tangent.start[i + 1]; k++) {
            taut_index j = tangent.column[k];
            r->matrix[(int64_t)i * n + j] += entry[k] * r->scale[j] / r->scale[i];
        }
    size = taut_largest((int64_t)n * n, r->matrix);
    if (!isfinite(size))
        return taut_fail(error, TAUT_ERROR_EVALUATE, "the derivatives of the rates are not finite");
    r->resolution = 1e3 * n * DBL_EPSILON * size;
    r->limit = INFINITY;
    return find(r, 0, error);
}

int taut_flow_rates_closed(taut_flow_rates *r, taut_flow *flow, double t, double H, const double *z,
                           double noise, taut_error *error)
{
    taut_index n = r->n;
    double *base = r->matrix + (int64_t)n * n; /* states, one a row: of z + eps scale_k e_k, of z */
    double eps = fmin(1e-2, sqrt(fmax(noise, DBL_EPSILON)));
    for (taut_index k = 0; k <= n; k++) {
        taut_copy(n, z, r->matrix + (int64_t)k * n);
        if (k < n)
            r->matrix[(int64_t)k * n + k] += eps * r->scale[k];
    }
    TAUT_TRY(taut_flow_advance_all(flow, t, H, (int)n + 1, r->matrix, error));
    for (taut_index k = 0; k < n; k++)
        for (taut_index i = 0; i < n; i++)
            r->work[(int64_t)i * n + k] =
                (r->matrix[(int64_t)k * n + i] - base[i]) / (eps * r->scale[i]);
    taut_copy((int64_t)n * n, r->work, r->matrix);
    r->resolution = 10 * n * eps / H;
    r->limit = -log(10 * n * eps) / H;
    return find(r, H, error);
}

taut_index taut_flow_rates_gap(const taut_flow_rates *r, taut_index conserved, double *gap)
{
    taut_index slow = 0;
    *gap = 0;
    for (taut_index k = conserved + 1; k < r->n; k++) {
        double ratio = cabs(r->rate[k]) / fmax(cabs(r->rate[k - 1]), fmax(r->resolution, DBL_MIN));
        if (ratio > *gap) {
            *gap = ratio;
            slow = k;
        }
    }
    return slow;
}

double taut_flow_rates_time(const taut_flow_rates *r, taut_index fast)
{
    return 1 / fmax(cabs(r->rate[r->n - fast]), DBL_MIN);
}

int taut_flow_rates_horizon(taut_flow_rates *r, taut_flow *flow, double t, const double *z,
                            taut_index fast, double first, double noise, double *H,
                            taut_error *error)
{
    enum { TRIALS = 24 };
    static const double factor = 30;
    double time = first, below = 0, above = INFINITY;
    for (int k = 0; k < TRIALS; k++) {
        int status = taut_flow_rates_closed(r, flow, t, time, z, noise, error);
        if (status < 0 && status != TAUT_ERROR_EVALUATE && status != TAUT_ERROR_CONVERGE)
            return status;
        double size = status == 0 ? cabs(r->rate[r->n - fast]) : INFINITY;
        bool decays =
            true; /* where it does not, the inner integration is unstable over this time */
        for (taut_index i = r->n - fast; i < r->n && status == 0; i++)
            decays = decays && creal(r->rate[i]) < r->resolution;
        if (decays && size > 3 * r->resolution && size < 0.5 * r->limit) {
            *H = 1 / size;
            return TAUT_OK;
        }
        if (status == 0 && size <= 3 * r->resolution)
            below = time;
        else
            above = time;
        time = below == 0 ? time / factor : isinf(above) ? time * factor : sqrt(below * above);
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "no time of the flow was found in which fast parts decay and slow ones do not "
                     "(tried down to %.2g and up to %.2g)",
                     below == 0 ? time : below, isinf(above) ? time : above);
}

void taut_flow_rates_vectors(taut_flow_rates *r)
{
    taut_index n = r->n;
    int known = 0;
    for (taut_index k = 0; k < n; k++) {
        double complex mu = r->rate[k];
        known = k > 0 && cabs(mu - r->rate[k - 1]) <= r->resolution ? known + 1 : 0;
        if (r->time > 0) /* of the matrix */
            mu = cexp(mu * r->time);
        taut_general_left((int)n, r->matrix, mu, known, r->solve, r->pivot,
                          r->left + (int64_t)k * n);
    }
}
