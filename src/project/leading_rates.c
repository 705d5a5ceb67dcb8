/* leading_rates.c - the slowest rates of a flow with many variables.
 *
 *     A x ~ (flow_H(z + e x) - flow_H(z))/e,   mu eigenvalues of A,   rates log(mu)/H
 *
 * What is slow has decayed least: the eigenvalues of largest magnitude are the slow rates, and
 * ARPACK needs products with A alone [D section 5]. Norms in units of the variables' sizes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/vectors.h"
#include "linalg/arnoldi.h"
#include "project/flow_rates.h"

typedef struct products {
    taut_flow *flow;
    double t, H, eps;
    const double *z, *scale;
    double *at, *base; /* [n]: where a product is taken; flow_H(z) */
} products;

static int apply(void *user, const double *x, double *y, taut_error *error)
{
    const products *w = user;
    const taut_index n = w->flow->size;
    double length = taut_norm(n, x), eps = w->eps * sqrt(n) / (length > 0 ? length : 1);
    for (taut_index i = 0; i < n; i++)
        w->at[i] = w->z[i] + eps * x[i] * w->scale[i];
    TAUT_TRY(w->flow->advance(w->flow, w->t, w->H, w->at, error));
    for (taut_index i = 0; i < n; i++)
        y[i] = (w->at[i] - w->base[i]) / (eps * w->scale[i]);
    return TAUT_OK;
}

int taut_leading_rates(taut_flow_rates *r, taut_flow *flow, double t, double H, const double *z,
                       double noise, int count, bool *converged, taut_arena *arena,
                       taut_error *error)
{
    enum { RESTARTS = 100 };
    const taut_index n = flow->size;
    const double eps = fmin(1e-2, sqrt(fmax(noise, DBL_EPSILON)));
    products w = {.flow = flow, .t = t, .H = H, .eps = eps, .z = z, .scale = r->scale};
    taut_operator op = {.n = n, .apply = apply, .user = &w};
    double *real, *imaginary;
    int found = 0;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &w.at, &w.base));
    TAUT_TRY(TAUT_RESERVE(arena, count, error, &real, &imaginary));
    taut_copy(n, z, w.base);
    TAUT_TRY(flow->advance(flow, t, H, w.base, error));
    TAUT_TRY(taut_leading(&op, count, 1e-6, RESTARTS, real, imaginary, &found, converged,
                          &arena->allocator, error));
    r->n = found;
    r->time = H;
    r->resolution = 10 * eps / H;
    r->limit = -log(10 * eps) / H;
    for (int k = 0; k < found; k++) {
        double complex mu = real[k] + imaginary[k] * I;
        r->rate[k] = cabs(mu) > 10 * eps ? clog(mu) / H : -r->limit + 0 * I;
    }
    return TAUT_OK;
}
