/* expansion.c - the coefficients of B (2.6),
 *
 *     y(t) = y^0(t) + eps^2 y^1(t) + eps^4 y^2(t) + ...,
 *     y^k(0), y^k'(0) in the range of M^-1 G^T at the foot point for k >= 1,
 *
 * by comparing powers of s = eps^2 in M a = f - G^T lambda, g = s (C lambda - T gdot) [B
 * (2.12)-(2.16); C and T over eps^2, so that damping constants stay as s -> 0]. Double Taylor
 * series in s and t: x_{k,i} is the coefficient of s^k t^i. With y_k = C lambda_{k-1} - T
 * y_{k-1}'
 *
 *     M_00 a_{k,i} + G_00^T lambda_{k,i} = f_{k,i}
 *     - sum (M_{j,b} a_{k-j,i-b} + G_{j,b}^T lambda_{k-j,i-b})
 *     G_00 a_{k,i}   = (y_k'')_i - gamma_{k,i} - sum G_{j,b} a_{k-j,i-b}   (j, b) != (0, 0)
 *     g_{k,0} = y_{k,0},    (G v + g_t)_{k,0} = y_{k,1}
 *
 * with one matrix. Jets have one variable: they are taken along s = sigma t, where the
 * coefficient of t^n is sum over k + i = n of sigma^k x_{k,i}; sigma = 0, 1, -1 separate k = 0, 1,
 * 2. No differences are involved: all numbers are of the size of the result. Needed are (0,
 * 0..3), (1, 0..1), (2, 0). */
#include "slow/expansion.h"

#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "slow/order_equations.h"

enum { ORDERS = 4, SIGMAS = 3 }; /* coefficients 0..3 in time; sigma = 0, 1, -1 */

/* (k, i): the coefficient of s^k t^i. */
typedef struct coefficient {
    double *q, *v, *a; /* [n] */
    double *lambda;    /* [m] */
    double *y;         /* [m]: g_k on the slow manifold */
    taut_values values;
} coefficient;

typedef struct work {
    taut_context *context;
    taut_statistics *statistics;
    taut_order_equations equations; /* factored at the foot point */
    double t, eps2;
    taut_jet *jet[SIGMAS];
    coefficient at[TAUT_EXPANSION_TERMS][ORDERS + 1];
    taut_values got[SIGMAS]; /* what jets gave */
    double *in_q, *in_v, *s; /* [n], [n], [m] */
} work;

/* ---- double series */

/* a_{k,i} and lambda_{k,i} from at[k][i]; then the next coefficients of q_k and v_k. */
static int solve(work *w, int k, int i, taut_error *error)
{
    const taut_order_equations *e = &w->equations;
    double *a = w->at[k][i].a, *lambda = w->at[k][i].lambda;
    taut_order_term term[2 * ORDERS];
    int terms = 0;
    for (int j = 0; j <= k; j++)
        for (int b = 0; b <= i; b++)
            term[terms++] = (taut_order_term){.jacobian = w->at[j][b].values.jacobian,
                                              .mass = w->at[j][b].values.mass,
                                              .v = w->at[k - j][i - b].v,
                                              .a = w->at[k - j][i - b].a,
                                              .lambda = w->at[k - j][i - b].lambda};
    taut_copy(e->n, w->at[k][i].values.force, a);
    taut_order_right_side(e, &w->at[k][i].values, term, terms, k > 0 ? w->at[k][i + 2].y : NULL,
                          (i + 2) * (i + 1), a, lambda, w->s);
    w->statistics->solves++;
    TAUT_TRY(taut_masked_saddle_solve(&e->saddle, a, w->s, error));
    taut_order_take(e, w->s, lambda);
    for (taut_index l = 0; l < e->n; l++) {
        w->at[k][i + 1].q[l] = w->at[k][i].v[l] / (i + 1);
        w->at[k][i + 1].v[l] = a[l] / (i + 1);
    }
    return TAUT_OK;
}

/* The normal vector x with G_00 x = s. */
static int normal(work *w, double *x, taut_error *error)
{
    taut_clear(w->equations.n, x);
    w->statistics->solves++;
    return taut_masked_saddle_solve(&w->equations.saddle, x, w->s, error);
}

/* y_{k,i} = C lambda_{k-1,i} - T (i+1) y_{k-1,i+1}, over eps^2 */
static void make_y(work *w, int k, int orders)
{
    for (int i = 0; i < orders; i++)
        taut_order_stretch(&w->equations, i, w->at[k - 1][i].lambda,
                           k > 1 ? w->at[k - 1][i + 1].y : NULL, w->eps2, w->at[k][i].y);
}

/* ---- jets along s = sigma t */

/* Coefficient n along sigma of q and v, and what comes of it. more_q (may be NULL): q_{2,0}. */
static int advance(work *w, int sigma, int n, const double *more_q, taut_error *error)
{
    static const double sign[SIGMAS] = {0, 1, -1};
    for (taut_index l = 0; l < w->equations.n; l++) {
        w->in_q[l] = w->at[0][n].q[l] + (n > 0 ? sign[sigma] * w->at[1][n - 1].q[l] : 0) +
                     (more_q ? more_q[l] : 0);
        w->in_v[l] = w->at[0][n].v[l] + (n > 0 ? sign[sigma] * w->at[1][n - 1].v[l] : 0);
    }
    return taut_jet_advance_inside(w->jet[sigma], n, w->t, w->in_q, w->in_v, &w->got[sigma], error);
}

/* to = (plus + sign minus)/2 - less of all values, from the jets along sigma = 1 and -1; less may
 * be NULL. */
static void combine(const work *w, double sign, const taut_values *less, const taut_values *to)
{
    const double *plus = w->got[1].force, *minus = w->got[2].force;
    for (int64_t i = 0; i < w->equations.numbers; i++)
        to->force[i] = (plus[i] + sign * minus[i]) / 2 - (less ? less->force[i] : 0);
}

static int both(work *w, int n, const double *more_q, taut_error *error)
{
    TAUT_TRY(advance(w, 1, n, more_q, error));
    return advance(w, 2, n, more_q, error);
}

/* ---- the terms */

/* lambda_0 to order 3: the rigid motion from the foot point. */
static int rigid_motion(work *w, taut_error *error)
{
    for (int i = 0; i < ORDERS; i++) {
        TAUT_TRY(advance(w, 0, i, NULL, error));
        taut_values keep = w->at[0][i].values;
        w->at[0][i].values = w->got[0];
        w->got[0] = keep;
        if (i == 0) {
            w->statistics->factorisations++;
            TAUT_TRY(taut_masked_saddle_factor(&w->equations.saddle, w->t, w->at[0][0].values.mass,
                                               w->at[0][0].values.jacobian, w->equations.counts, 0,
                                               error));
        }
        TAUT_TRY(solve(w, 0, i, error));
    }
    w->statistics->jets++;
    make_y(w, 1, ORDERS);
    return TAUT_OK;
}

static int first_term(work *w, taut_error *error)
{
    const taut_pattern *g = &w->equations.saddle.jacobian;
    taut_copy(w->equations.m, w->at[1][0].y, w->s);
    TAUT_TRY(normal(w, w->at[1][0].q, error));
    TAUT_TRY(both(w, 0, NULL, error));
    TAUT_TRY(both(w, 1, NULL, error)); /* v_{1,0} = 0: for G_{1,0} */
    combine(w, -1, NULL, &w->at[1][0].values);
    for (taut_index row = 0; row < w->equations.m; row++)
        w->s[row] = w->at[1][1].y[row] - w->at[1][0].values.bond_dt[row] -
                    taut_row_dot(g, w->at[1][0].values.jacobian, row, w->at[0][0].v);
    TAUT_TRY(normal(w, w->at[1][0].v, error));
    TAUT_TRY(both(w, 1, NULL, error));
    combine(w, -1, NULL, &w->at[1][0].values);
    w->statistics->jets += 2;
    return solve(w, 1, 0, error);
}

static int second_term(work *w, double *q, double *v, taut_error *error)
{
    const taut_pattern *g = &w->equations.saddle.jacobian;
    TAUT_TRY(both(w, 2, NULL, error));
    combine(w, -1, NULL, &w->at[1][1].values);
    TAUT_TRY(solve(w, 1, 1, error));
    make_y(w, 2, 2);
    combine(w, 1, &w->at[0][2].values, &w->at[2][0].values);
    for (taut_index row = 0; row < w->equations.m; row++)
        w->s[row] = w->at[2][0].y[row] - w->at[2][0].values.bond[row];
    TAUT_TRY(normal(w, q, error));
    TAUT_TRY(both(w, 2, q, error));
    combine(w, 1, &w->at[0][2].values, &w->at[2][0].values);
    for (taut_index row = 0; row < w->equations.m; row++)
        w->s[row] = w->at[2][1].y[row] - w->at[2][0].values.bond_dt[row] -
                    taut_row_dot(g, w->at[2][0].values.jacobian, row, w->at[0][0].v) -
                    taut_row_dot(g, w->at[1][0].values.jacobian, row, w->at[1][0].v);
    return normal(w, v, error);
}

/* ---- the object */

static int new_arrays(work *w, taut_arena *arena, taut_error *error)
{
    const taut_index n = w->equations.n, m = w->equations.m;
    for (int k = 0; k < TAUT_EXPANSION_TERMS; k++)
        for (int i = 0; i <= ORDERS; i++) {
            coefficient *c = &w->at[k][i];
            TAUT_TRY(TAUT_RESERVE(arena, n, error, &c->q, &c->v, &c->a));
            TAUT_TRY(TAUT_RESERVE(arena, m, error, &c->lambda, &c->y));
            TAUT_TRY(taut_order_values(&w->equations, arena, &c->values, error));
        }
    for (int sigma = 0; sigma < SIGMAS; sigma++)
        TAUT_TRY(taut_order_values(&w->equations, arena, &w->got[sigma], error));
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &w->in_q, &w->in_v));
    return TAUT_RESERVE(arena, m, error, &w->s);
}

static int prepare(work *w, taut_arena *arena, taut_error *error)
{
    const taut_order_equations *e = &w->equations;
    TAUT_TRY(taut_order_equations_create(&w->equations, w->context, arena,
                                         "the expansion cannot be determined", NULL, error));
    TAUT_TRY(new_arrays(w, arena, error));
    for (taut_index i = 0; i < e->m; i++)
        if (e->counts[i])
            w->eps2 = fmax(w->eps2, e->compliance[i]);
    for (int sigma = 0; sigma < SIGMAS; sigma++)
        TAUT_TRY(taut_jet_create(w->context, sigma == 0 ? ORDERS - 1 : 2, TAUT_ORDER_WANTED,
                                 &w->jet[sigma], error));
    return w->eps2 > 0
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_REFUSED,
                           "an expansion in the compliance needs springs that are not soft");
}

static int make(work *w, taut_arena *arena, const double *x, const double *u, taut_expansion *e,
                taut_error *error)
{
    for (int k = 0; k < TAUT_EXPANSION_TERMS; k++)
        TAUT_TRY(TAUT_RESERVE(arena, w->equations.n, error, &e->q[k], &e->v[k]));
    taut_copy(w->equations.n, x, e->q[0]);
    taut_copy(w->equations.n, u, e->v[0]);
    taut_copy(w->equations.n, x, w->at[0][0].q);
    taut_copy(w->equations.n, u, w->at[0][0].v);
    TAUT_TRY(rigid_motion(w, error));
    TAUT_TRY(first_term(w, error));
    TAUT_TRY(second_term(w, e->q[2], e->v[2], error));
    taut_copy(w->equations.n, w->at[1][0].q, e->q[1]);
    taut_copy(w->equations.n, w->at[1][0].v, e->v[1]);
    e->eps2 = w->eps2;
    return TAUT_OK;
}

int taut_expansion_make(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                        double t, const double *x, const double *u, taut_expansion *expansion,
                        taut_error *error)
{
    work w = {.context = context, .statistics = statistics, .t = t};
    taut_arena own;
    taut_arena_init(&own, &arena->allocator);
    int status = prepare(&w, &own, error);
    if (status == 0)
        status = make(&w, arena, x, u, expansion, error);
    for (int sigma = 0; sigma < SIGMAS; sigma++)
        taut_jet_destroy(w.jet[sigma]);
    taut_order_equations_destroy(&w.equations);
    taut_arena_clear(&own);
    return status;
}
