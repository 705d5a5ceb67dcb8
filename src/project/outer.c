/* outer.c - the outer expansion of a slow manifold: terms of the asymptotic series [D (1.7),
 * (4.3)].
 *
 *     u' = Q f(z),   s y' = P f(z),   y = y_0 + s y_1 + s^2 y_2 + ...    (s = 1: the model)
 *
 * y = P z is what is not kept, u the rest; the parameter eps of a singular perturbation is in f,
 * and need not be known: s^k y_k at s = 1 is the term of eps^k. y_0 solves P f = 0. By comparison
 * of powers in double series, x_{k,i} the coefficient of s^k t^i,
 *
 *     (i+1) Q z_{k,i+1} = Q f_{k,i},    P f_{k,i} = (i+1) P z_{k-1,i+1},    Q z_{k,0} = 0, k > 0
 *
 * with one matrix, P J P. Jets have one variable: they are taken along s = sigma t/tau, as in
 * slow/expansion.c, for order + 1 values of sigma; tau, the time in which fast parts decay, makes
 * all terms of one degree alike in size. P is that of y_0: kept functions must be linear. */
#include <float.h>
#include <math.h>

#include "base/inside.h"
#include "base/vectors.h"
#include "linalg/small_kernels.h"
#include "project/difference.h"
#include "system/system.h"

enum { TERMS = TAUT_PROJECTION_STAGES };

typedef struct outer {
    taut_difference *w;
    taut_index n;
    int order;
    double t, tau, sigma[TERMS];
    double inverse[TERMS][TERMS]; /* of the matrix sigma_s^k */
    taut_jet *jet[TERMS];
    double *z[TERMS][TERMS]; /* [k][i]: [n], over tau^k */
    double *f[TERMS][TERMS];
    double *along[TERMS]; /* [n]: coefficients of f along sigma */
    double *point;        /* [n]: y_0 */
    double *matrix;       /* [n][n], by columns: P J P + Q */
    double *x;            /* [n] */
    taut_index *pivot;
} outer;

static int tangent(outer *o, double *x, taut_error *error)
{
    return taut_kept_functions_tangent(&o->w->held, o->t, o->point, x, error);
}

/* ---- series */

/* Coefficient `degree` of f along all sigma from z_{k,degree-k}; then f_{k,degree-k}. */
static int advance(outer *o, int degree, taut_error *error)
{
    for (int s = 0; s <= o->order; s++) {
        double power = 1;
        taut_clear(o->n, o->x);
        for (int k = 0; k <= degree; k++, power *= o->sigma[s])
            taut_add_scaled(o->n, power, o->z[k][degree - k], o->x);
        taut_values values = {.force = o->along[s]};
        o->w->p->statistics.jets++;
        TAUT_TRY(taut_jet_advance_inside(o->jet[s], degree, o->t, o->x, NULL, &values, error));
    }
    for (int k = 0; k <= degree; k++) {
        taut_clear(o->n, o->f[k][degree - k]);
        for (int s = 0; s <= o->order; s++)
            taut_add_scaled(o->n, o->inverse[k][s], o->along[s], o->f[k][degree - k]);
    }
    return TAUT_OK;
}

/* P z_{k,i} such that P f_{k,i} = (i+1) P z_{k-1,i+1}. */
static int solve(outer *o, int k, int i, taut_error *error)
{
    for (taut_index j = 0; j < o->n; j++)
        o->x[j] = (k > 0 ? (i + 1) * o->z[k - 1][i + 1][j] / o->tau : 0) - o->f[k][i][j];
    TAUT_TRY(tangent(o, o->x, error));
    taut_lu_solve(false, o->n, o->matrix, o->pivot, o->x);
    o->w->p->statistics.solves++;
    TAUT_TRY(tangent(o, o->x, error));
    taut_add(o->n, o->x, o->z[k][i]);
    return TAUT_OK;
}

static int next_degree(outer *o, int degree, taut_error *error)
{
    for (int k = 0; k < degree; k++) { /* Q f_{k,i-1}/i */
        double *z = o->z[k][degree - k];
        taut_copy(o->n, o->f[k][degree - k - 1], o->x);
        TAUT_TRY(tangent(o, o->x, error));
        for (taut_index j = 0; j < o->n; j++)
            z[j] = (o->f[k][degree - k - 1][j] - o->x[j]) / (degree - k);
    }
    taut_clear(o->n, o->z[degree][0]);
    TAUT_TRY(advance(o, degree, error)); /* without the unknowns, which are linear here */
    for (int k = 0; k <= degree; k++)
        TAUT_TRY(solve(o, k, degree - k, error));
    return degree < o->order ? advance(o, degree, error) : TAUT_OK;
}

/* ---- creation */

/* o->matrix at y_0, factored. */
static int make_matrix(outer *o, taut_error *error)
{
    taut_context *context = o->w->p->in->context;
    taut_pattern pattern;
    taut_arena own;
    double *entry = NULL, *rate = NULL;
    TAUT_TRY(
        taut_system_pattern(taut_context_system(context), TAUT_PATTERN_TANGENT, &pattern, error));
    taut_arena_init(&own, &o->w->p->arena.allocator);
    int status = TAUT_RESERVE(&own, pattern.start[o->n] + 1, error, &entry);
    if (status == 0)
        status = TAUT_RESERVE(&own, o->n, error, &rate);
    taut_values values = {.force = rate, .force_dq = entry};
    if (status == 0)
        status = taut_evaluate_inside(context, o->t, o->point, NULL,
                                      TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ, &values, error);
    for (taut_index j = 0; j < o->n && status == 0; j++) {
        double *column = o->matrix + (int64_t)j * o->n;
        taut_clear(o->n, o->x);
        taut_clear(o->n, column);
        o->x[j] = 1;
        status = tangent(o, o->x, error);
        for (taut_index i = 0; i < o->n && status == 0; i++)
            for (taut_index k = pattern.start[i]; k < pattern.start[i + 1]; k++)
                column[i] += entry[k] * o->x[pattern.column[k]];
        if (status == 0)
            status = tangent(o, column, error);
        for (taut_index i = 0; i < o->n && status == 0; i++) /* Q, in units of P J P */
            column[i] += ((i == j) - o->x[i]) / o->tau;
    }
    taut_arena_clear(&own);
    TAUT_TRY(status);
    o->w->p->statistics.factorisations++;
    if (taut_lu_factor(false, o->n, o->matrix, o->pivot,
                       1e3 * DBL_EPSILON * taut_largest((int64_t)o->n * o->n, o->matrix)))
        return taut_fail(error, TAUT_ERROR_SINGULAR,
                         "the derivatives of the rates of what is not observed are singular: the "
                         "observables do not determine the state");
    return TAUT_OK;
}

/* sigma, and the inverse of Vandermonde's matrix: coefficients of Lagrange's polynomials. */
static void make_sigma(outer *o)
{
    for (int s = 0; s <= o->order; s++)
        o->sigma[s] = cos(acos(-1) * (s + 0.5) / (o->order + 1));
    for (int s = 0; s <= o->order; s++) {
        double c[TERMS + 1] = {1};
        int degree = 0;
        for (int m = 0; m <= o->order; m++) {
            if (m == s)
                continue;
            degree++;
            for (int k = degree; k >= 0; k--)
                c[k] = ((k > 0 ? c[k - 1] : 0) - o->sigma[m] * c[k]) / (o->sigma[s] - o->sigma[m]);
        }
        for (int k = 0; k <= o->order; k++)
            o->inverse[k][s] = c[k];
    }
}

static int create(outer *o, taut_arena *arena, taut_error *error)
{
    TAUT_TRY(TAUT_RESERVE(arena, o->n, error, &o->point, &o->x));
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)o->n * o->n, error, &o->matrix));
    o->pivot = TAUT_NEW(arena, taut_index, o->n);
    TAUT_NEED(error, o->pivot);
    for (int k = 0; k <= o->order; k++) {
        TAUT_TRY(TAUT_RESERVE(arena, o->n, error, &o->along[k]));
        for (int i = 0; i <= o->order - k; i++)
            TAUT_TRY(TAUT_RESERVE(arena, o->n, error, &o->z[k][i], &o->f[k][i]));
        TAUT_TRY(
            taut_jet_create(o->w->p->in->context, o->order, TAUT_WANT_FORCE, &o->jet[k], error));
    }
    make_sigma(o);
    taut_copy(o->n, o->w->p->q, o->point);
    taut_copy(o->n, o->point, o->z[0][0]);
    return make_matrix(o, error);
}

/* ---- the sum */

/* Adds terms 1 to order, or to the smallest one; p->stage has their sizes. */
static void add_terms(outer *o, bool to_smallest)
{
    taut_projection *p = o->w->p;
    double power = 1;
    for (int k = 1; k <= o->order; k++) {
        power *= o->tau;
        double size = power * taut_largest(o->n, o->z[k][0]);
        if (to_smallest && k > 1 && !(size < p->stage[k - 1].moved)) {
            taut_explain_more(p, "the term of order %d is larger than the one before", k);
            return;
        }
        p->stage[k] = (taut_projection_stage){.order = k, .moved = size, .accuracy = size};
        p->stages = k + 1;
        taut_add_scaled(o->n, power, o->z[k][0], p->q);
    }
}

/* Kept functions that are linear have their values, to rounding. */
static int check_linear(outer *o, taut_error *error)
{
    taut_projection *p = o->w->p;
    double moved = taut_largest_difference(o->n, p->q, o->point);
    taut_copy(o->n, p->q, o->x);
    TAUT_TRY(taut_kept_functions_restore(&o->w->held, o->t, o->x, error));
    if (taut_largest_difference(o->n, o->x, p->q) <=
        1e-9 * moved + 1e-12 * taut_largest(o->n, p->q)) {
        taut_copy(o->n, o->x, p->q);
        return TAUT_OK;
    }
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "projection outer needs observables and invariants that are linear functions "
                     "of the state; use projection derivative");
}

int taut_difference_outer(taut_difference *w, int order, bool to_smallest, taut_arena *arena,
                          taut_error *error)
{
    outer o = {.w = w, .n = w->held.n, .order = order, .t = w->p->in->t, .tau = w->horizon};
    if (o.n > TAUT_OUTER_VARIABLES)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection outer supports up to %d variables; use projection derivative",
                         TAUT_OUTER_VARIABLES);
    int status = create(&o, arena, error);
    if (status == 0)
        status = advance(&o, 0, error);
    for (int degree = 1; degree <= order && status == 0; degree++)
        status = next_degree(&o, degree, error);
    if (status == 0) {
        add_terms(&o, to_smallest);
        status = check_linear(&o, error);
    }
    for (int k = 0; k <= order; k++)
        taut_jet_destroy(o.jet[k]);
    return status;
}
