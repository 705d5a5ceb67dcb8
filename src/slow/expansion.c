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
 * coefficient of t^n is sum over k + i = n of sigma^k x_{k,i}; sigma = 0, 1, -1 tell k = 0, 1, 2
 * apart. No differences are involved: all numbers are of the size of the result. Needed are (0,
 * 0..3), (1, 0..1), (2, 0). */
#include "slow/expansion.h"

#include <math.h>

#include "base/vectors.h"
#include "base/rows.h"
#include "point/hold/hold.h"

enum { ORDERS = 4, SIGMAS = 3 }; /* coefficients 0..3 in time; sigma = 0, 1, -1 */

/* One coefficient of everything. */
typedef struct values {
    double *force, *bond, *bond_dt, *gamma, *jacobian, *mass;
} values;

typedef struct work {
    taut_context *context;
    taut_statistics *statistics;
    taut_index n, m;
    int64_t g_entries, m_entries;
    double t, eps2;
    taut_masked_saddle still; /* nothing is held; factored at the foot point */
    taut_jet *jet[SIGMAS];
    unsigned char *counts; /* [m]: not soft */
    const double *compliance, *damping;
    double *q[2][ORDERS + 1], *v[2][ORDERS + 1], *a[2][ORDERS], *lambda[2][ORDERS]; /* [k][i] */
    /* [k][i]: g_k on the slow manifold */
    double *y[3][ORDERS];
    /* (k, i); (2, 0); what jets gave */
    values at[2][ORDERS], second, got[SIGMAS];
    /* [n], [n], [m] */
    double *in_q, *in_v, *s;
} work;

/* ---- double series */

/* out -= G_{j,b}^T lambda over the rows that count as said */
static void subtract_rows(const work *w, const double *entry, const double *lambda, bool counted,
                          double *out)
{
    const taut_pattern *g = &w->still.jacobian;
    for (taut_index i = 0; i < w->m; i++)
        if (w->counts[i] == counted)
            taut_row_add(g, entry, i, -lambda[i], out);
}

static double row_times(const work *w, const double *entry, taut_index i, const double *x)
{
    return taut_row_dot(&w->still.jacobian, entry, i, x);
}

static void subtract_mass(const work *w, const double *entry, const double *x, double *out)
{
    taut_mass_add(w->still.matrix ? &w->still.tangent : NULL, w->n, entry, -1, x, out);
}

/* Soft bonds are forces: c lambda = g + tau gdot, whatever s. */
static void soft_pulls(work *w, int k, int i)
{
    for (taut_index row = 0; row < w->m; row++) {
        if (w->counts[row])
            continue;
        double rate = w->at[k][i].bond_dt[row];
        for (int j = 0; j <= k && w->damping[row] != 0; j++)
            for (int b = 0; b <= i; b++)
                rate += row_times(w, w->at[j][b].jacobian, row, w->v[k - j][i - b]);
        w->lambda[k][i][row] =
            (w->at[k][i].bond[row] + w->damping[row] * rate) / w->compliance[row];
    }
}

/* a_{k,i} and lambda_{k,i} from at[k][i]; then the next coefficients of q_k and v_k. */
static int solve(work *w, int k, int i, taut_error *error)
{
    double *a = w->a[k][i], *lambda = w->lambda[k][i];
    taut_copy(w->n, w->at[k][i].force, a);
    soft_pulls(w, k, i);
    for (taut_index row = 0; row < w->m; row++)
        w->s[row] = (k > 0 ? (i + 2) * (i + 1) * w->y[k][i + 2][row] : 0) - w->at[k][i].gamma[row];
    for (int j = 0; j <= k; j++)
        for (int b = 0; b <= i; b++) {
            const values *c = &w->at[j][b];
            subtract_rows(w, c->jacobian, w->lambda[k - j][i - b], false, a);
            if (j + b == 0)
                continue;
            subtract_rows(w, c->jacobian, w->lambda[k - j][i - b], true, a);
            subtract_mass(w, c->mass, w->a[k - j][i - b], a);
            for (taut_index row = 0; row < w->m; row++)
                w->s[row] -= row_times(w, c->jacobian, row, w->a[k - j][i - b]);
        }
    w->statistics->solves++;
    TAUT_TRY(taut_masked_saddle_solve(&w->still, a, w->s, error));
    for (taut_index row = 0; row < w->m; row++)
        if (w->counts[row])
            lambda[row] = w->s[row];
    for (taut_index l = 0; l < w->n; l++) {
        w->q[k][i + 1][l] = w->v[k][i][l] / (i + 1);
        w->v[k][i + 1][l] = a[l] / (i + 1);
    }
    return TAUT_OK;
}

/* The normal vector x with G_00 x = s. */
static int normal(work *w, double *x, taut_error *error)
{
    taut_clear(w->n, x);
    w->statistics->solves++;
    return taut_masked_saddle_solve(&w->still, x, w->s, error);
}

/* y_{k,i} = C lambda_{k-1,i} - T (i+1) y_{k-1,i+1}, over eps^2 */
static void make_y(work *w, int k, int orders)
{
    for (int i = 0; i < orders; i++)
        for (taut_index row = 0; row < w->m; row++)
            if (w->counts[row])
                w->y[k][i][row] =
                    (w->compliance[row] * w->lambda[k - 1][i][row] -
                     (k > 1 ? w->damping[row] * (i + 1) * w->y[k - 1][i + 1][row] : 0)) /
                    w->eps2;
}

/* ---- jets along s = sigma t */

/* Coefficient n along sigma of q and v, and what comes of it. more_q (may be NULL): q_{2,0}. */
static int advance(work *w, int sigma, int n, const double *more_q, taut_error *error)
{
    static const double sign[SIGMAS] = {0, 1, -1};
    for (taut_index l = 0; l < w->n; l++) {
        w->in_q[l] = w->q[0][n][l] + (n > 0 ? sign[sigma] * w->q[1][n - 1][l] : 0) +
                     (more_q ? more_q[l] : 0);
        w->in_v[l] = w->v[0][n][l] + (n > 0 ? sign[sigma] * w->v[1][n - 1][l] : 0);
    }
    const values *to = &w->got[sigma];
    taut_values into = {.force = to->force,
                        .bond = to->bond,
                        .bond_dt = to->bond_dt,
                        .gamma = to->gamma,
                        .jacobian = to->jacobian,
                        .mass = to->mass};
    return taut_jet_advance(w->jet[sigma], n, w->t, w->in_q, w->in_v, &into, error);
}

/* to = (plus + sign minus)/2 - less */
static void combine(work *w, double sign, const values *less, values *to)
{
    const values *plus = &w->got[1], *minus = &w->got[2];
    const struct {
        int64_t count;
        const double *p, *m, *l;
        double *to;
    } part[] = {
        {w->n, plus->force, minus->force, less ? less->force : NULL, to->force},
        {w->m, plus->bond, minus->bond, less ? less->bond : NULL, to->bond},
        {w->m, plus->bond_dt, minus->bond_dt, less ? less->bond_dt : NULL, to->bond_dt},
        {w->m, plus->gamma, minus->gamma, less ? less->gamma : NULL, to->gamma},
        {w->g_entries, plus->jacobian, minus->jacobian, less ? less->jacobian : NULL, to->jacobian},
        {w->m_entries, plus->mass, minus->mass, less ? less->mass : NULL, to->mass},
    };
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++)
        for (int64_t i = 0; i < part[k].count; i++)
            part[k].to[i] =
                (part[k].p[i] + sign * part[k].m[i]) / 2 - (part[k].l ? part[k].l[i] : 0);
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
        values keep = w->at[0][i];
        w->at[0][i] = w->got[0];
        w->got[0] = keep;
        if (i == 0) {
            w->statistics->factorisations++;
            TAUT_TRY(taut_masked_saddle_factor(&w->still, w->t, w->at[0][0].mass,
                                               w->at[0][0].jacobian, w->counts, 0, error));
        }
        TAUT_TRY(solve(w, 0, i, error));
    }
    w->statistics->jets++;
    make_y(w, 1, ORDERS);
    return TAUT_OK;
}

static int first_term(work *w, taut_error *error)
{
    taut_copy(w->m, w->y[1][0], w->s);
    TAUT_TRY(normal(w, w->q[1][0], error));
    TAUT_TRY(both(w, 0, NULL, error));
    TAUT_TRY(both(w, 1, NULL, error)); /* v_{1,0} = 0: for G_{1,0} */
    combine(w, -1, NULL, &w->at[1][0]);
    for (taut_index row = 0; row < w->m; row++)
        w->s[row] = w->y[1][1][row] - w->at[1][0].bond_dt[row] -
                    row_times(w, w->at[1][0].jacobian, row, w->v[0][0]);
    TAUT_TRY(normal(w, w->v[1][0], error));
    TAUT_TRY(both(w, 1, NULL, error));
    combine(w, -1, NULL, &w->at[1][0]);
    w->statistics->jets += 2;
    return solve(w, 1, 0, error);
}

static int second_term(work *w, double *q, double *v, taut_error *error)
{
    TAUT_TRY(both(w, 2, NULL, error));
    combine(w, -1, NULL, &w->at[1][1]);
    TAUT_TRY(solve(w, 1, 1, error));
    make_y(w, 2, 2);
    combine(w, 1, &w->at[0][2], &w->second);
    for (taut_index row = 0; row < w->m; row++)
        w->s[row] = w->y[2][0][row] - w->second.bond[row];
    TAUT_TRY(normal(w, q, error));
    TAUT_TRY(both(w, 2, q, error));
    combine(w, 1, &w->at[0][2], &w->second);
    for (taut_index row = 0; row < w->m; row++)
        w->s[row] = w->y[2][1][row] - w->second.bond_dt[row] -
                    row_times(w, w->second.jacobian, row, w->v[0][0]) -
                    row_times(w, w->at[1][0].jacobian, row, w->v[1][0]);
    return normal(w, v, error);
}

/* ---- the object */

static int new_values(const work *w, taut_arena *arena, values *to, taut_error *error)
{
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &to->force));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &to->bond, &to->bond_dt, &to->gamma));
    TAUT_TRY(TAUT_RESERVE(arena, w->g_entries, error, &to->jacobian));
    return TAUT_RESERVE(arena, w->m_entries, error, &to->mass);
}

static int new_arrays(work *w, taut_arena *arena, taut_error *error)
{
    for (int k = 0; k < 2; k++)
        for (int i = 0; i <= ORDERS; i++)
            TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->q[k][i], &w->v[k][i]));
    for (int i = 0; i < ORDERS; i++) {
        TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->a[0][i], &w->a[1][i]));
        TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->lambda[0][i], &w->lambda[1][i], &w->y[0][i],
                              &w->y[1][i], &w->y[2][i]));
        for (int k = 0; k < 2; k++)
            TAUT_TRY(new_values(w, arena, &w->at[k][i], error));
    }
    TAUT_TRY(new_values(w, arena, &w->second, error));
    for (int sigma = 0; sigma < SIGMAS; sigma++)
        TAUT_TRY(new_values(w, arena, &w->got[sigma], error));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->in_q, &w->in_v));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->s));
    w->counts = TAUT_NEW(arena, unsigned char, w->m);
    return w->counts ? TAUT_OK : taut_fail_memory(error);
}

static int prepare(work *w, taut_arena *arena, taut_error *error)
{
    unsigned wanted =
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_MASS;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(w->context), &sizes);
    w->n = sizes.coordinates;
    w->m = sizes.bonds;
    w->compliance = taut_context_compliance(w->context);
    w->damping = taut_context_damping(w->context);
    TAUT_TRY(taut_masked_saddle_create(&w->still, w->context, arena, NULL, 0, error));
    w->g_entries = sizes.jacobian_entries;
    w->m_entries = w->still.matrix ? w->still.tangent.start[w->n] : w->n;
    TAUT_TRY(new_arrays(w, arena, error));
    for (taut_index i = 0; i < w->m; i++) {
        w->counts[i] = !(taut_context_soft(w->context, i) && w->compliance[i] > 0);
        if (w->counts[i])
            w->eps2 = fmax(w->eps2, w->compliance[i]);
    }
    for (int sigma = 0; sigma < SIGMAS; sigma++)
        TAUT_TRY(taut_jet_create(w->context, sigma == 0 ? ORDERS - 1 : 2, wanted, &w->jet[sigma],
                                 error));
    return w->eps2 > 0
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_REFUSED,
                           "an expansion in the compliance needs springs that are not soft");
}

static int make(work *w, taut_arena *arena, const double *x, const double *u, taut_expansion *e,
                taut_error *error)
{
    for (int k = 0; k < TAUT_EXPANSION_TERMS; k++) {
        TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &e->q[k], &e->v[k]));
    }
    taut_copy(w->n, x, e->q[0]);
    taut_copy(w->n, u, e->v[0]);
    taut_copy(w->n, x, w->q[0][0]);
    taut_copy(w->n, u, w->v[0][0]);
    TAUT_TRY(rigid_motion(w, error));
    TAUT_TRY(first_term(w, error));
    TAUT_TRY(second_term(w, e->q[2], e->v[2], error));
    taut_copy(w->n, w->q[1][0], e->q[1]);
    taut_copy(w->n, w->v[1][0], e->v[1]);
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
    taut_masked_saddle_destroy(&w.still);
    taut_arena_clear(&own);
    return status;
}
