/* multiplier_recursion.c - the slow multipliers. C lambda = g, differentiated twice along the
 * motion, is
 *
 *     C lambda'' = G M^-1 (f - G^T lambda) + gamma,       gamma = g_qq(v,v) + 2 g_qt v + g_tt,
 *
 * and on the slow manifold lambda'' is O(1) whatever the stiffness [B Theorem 2.2]. So the
 * fixed-point iteration
 *
 *     lambda^(0) = A^-1 (G M^-1 f + gamma),
 *     lambda^(j) = A^-1 (G M^-1 f + gamma - C (lambda^(j-1))''), A = G M^-1 G^T
 *
 * gains a power of C with each level. Derivatives in time are Taylor coefficients along the
 * motion that the level itself makes: level j is computed to order 2 (levels above j) + 1, order
 * by order. At order i the unknowns are a_i, lambda_i (v' = a):
 *
 *     M_0 a_i + G_0^T lambda_i = f_i - sum_{b=1..i} (M_b a_{i-b} + G_b^T lambda_{i-b})
 *     G_0 a_i                  = (C lambda^(j-1))''_i - gamma_i - sum_{b=1..i} G_b a_{i-b}
 *
 * with one factorisation for all orders and levels. (The second derivative is that along the
 * motion of level j-1, which differs from that of level j by as much as the levels do, times C.)
 * Damped bonds, C lambda = g + T gdot: C lambda is replaced by y = (1 + T d/dt)^-1 C lambda,
 * that is y_i = c lambda_i - tau (i+1) y_{i+1}. Soft bonds are forces. */
#include "slow/multiplier_recursion.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "base/rows.h"
#include "point/hold/hold.h"
#include "system/singular.h"

struct taut_multiplier_recursion {
    taut_context *context;
    taut_statistics *statistics;
    taut_index n, m;
    int64_t g_entries, m_entries;
    /* last level; that for which there is room; coefficients kept are 0..orders */
    int most, room, orders;
    taut_arena *arena;
    bool damped, matrix, varying;
    taut_pattern jacobian, tangent;
    taut_jet *jet;
    taut_saddle *saddle;
    const double *compliance, *damping;
    unsigned char *soft; /* [m] */
    double *q, *v, *a;   /* [orders+2][n] */
    /* [orders+2][m]: of the present level; of the level before, as y */
    double *lambda, *y;
    double *jacobian_i, *mass_i;        /* [orders+1][entries] */
    double *f, *bond, *bond_dt, *gamma; /* coefficient i */
    /* G_0 without soft rows; their diagonal; right-hand side [m] */
    double *g0, *d, *s;
};

/* Order to which level j is needed when `level` is the last and its value and first derivative
 * (extra = 1) are asked for. */
static int order_of(const taut_multiplier_recursion *r, int level, int j, int extra)
{
    return 2 * (level - j) + extra + (r->damped ? level : 0);
}

static bool is_damped(taut_context *context)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    return sizes.can & TAUT_HAS_DAMPING;
}

int taut_multiplier_recursion_most(taut_context *context)
{
    /* order_of(level, 0, 1) <= TAUT_JET_ORDER_MAX */
    return (TAUT_JET_ORDER_MAX - 1) / (is_damped(context) ? 3 : 2);
}

/* ---- one order */

/* out[column] -= G_b^T x over the rows with soft == which */
static void subtract_rows(const taut_multiplier_recursion *r, int b, const double *x, bool which,
                          double *out)
{
    const double *entry = r->jacobian_i + b * r->g_entries;
    for (taut_index i = 0; i < r->m; i++)
        if (r->soft[i] == which)
            taut_row_add(&r->jacobian, entry, i, -x[i], out);
}

static double row_times(const taut_multiplier_recursion *r, int b, taut_index i, const double *x)
{
    const double *entry = r->jacobian_i + b * r->g_entries;
    return taut_row_dot(&r->jacobian, entry, i, x);
}

static void subtract_mass(const taut_multiplier_recursion *r, int b, const double *x, double *out)
{
    const double *entry = r->mass_i + b * r->m_entries;
    if (r->varying)
        taut_mass_add(r->matrix ? &r->tangent : NULL, r->n, entry, -1, x, out);
}

/* Coefficient i of the pull of a soft bond: c lambda = g + tau (G v + g_t). */
static double soft_pull(const taut_multiplier_recursion *r, taut_index row, int i)
{
    double rate = r->bond_dt[row];
    for (int b = 0; b <= i && r->damping[row] != 0; b++)
        rate += row_times(r, b, row, r->v + (i - b) * (int64_t)r->n);
    return (r->bond[row] + r->damping[row] * rate) / r->compliance[row];
}

static int factor(taut_multiplier_recursion *r, double t, taut_error *error)
{
    taut_copy(r->g_entries, r->jacobian_i, r->g0);
    for (taut_index i = 0; i < r->m; i++)
        if (r->soft[i])
            taut_row_clear(&r->jacobian, r->g0, i);
    r->statistics->factorisations++;
    taut_singular parts = {.context = r->context,
                           .allocator = &r->arena->allocator,
                           .n = r->n,
                           .m = r->m,
                           .mass = r->mass_i,
                           .mass_start = r->tangent.start,
                           .start = r->jacobian.start,
                           .column = r->jacobian.column,
                           .jacobian = r->g0,
                           .compliance = r->d};
    int status = taut_saddle_factor(r->saddle, r->mass_i, r->g0, NULL, r->d, error);
    return taut_singular_explain(&parts, status, t, "slow multipliers cannot be determined", error);
}

static int next_order(taut_multiplier_recursion *r, int i, double t, bool first_level,
                      taut_error *error)
{
    int64_t n = r->n, m = r->m;
    double *a = r->a + i * n, *lambda = r->lambda + i * m;
    taut_values values = {.force = a,
                          .bond = r->bond,
                          .bond_dt = r->bond_dt,
                          .gamma = r->gamma,
                          .jacobian = r->jacobian_i + i * r->g_entries,
                          /* constant: 0 beyond */
                          .mass = r->mass_i + (r->varying || i == 0 ? i : 1) * r->m_entries};
    TAUT_TRY(taut_jet_advance(r->jet, i, t, r->q + i * n, r->v + i * n, &values, error));
    if (i == 0 && first_level)
        TAUT_TRY(factor(r, t, error));
    for (taut_index k = 0; k < m; k++) {
        if (r->soft[k]) {
            lambda[k] = soft_pull(r, k, i);
            continue;
        }
        r->s[k] = (i + 2) * (i + 1) * r->y[(i + 2) * m + k] - r->gamma[k];
        for (int b = 1; b <= i; b++)
            r->s[k] -= row_times(r, b, k, r->a + (i - b) * n);
    }
    for (int b = 0; b <= i; b++) {
        subtract_rows(r, b, r->lambda + (i - b) * m, true, a);
        if (b > 0) {
            subtract_rows(r, b, r->lambda + (i - b) * m, false, a);
            subtract_mass(r, b, r->a + (i - b) * n, a);
        }
    }
    for (taut_index k = 0; k < m; k++)
        lambda[k] = r->soft[k] ? -lambda[k] : r->s[k]; /* a soft row of the matrix is -lambda = s */
    r->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(r->saddle, 1, a, lambda, error));
    for (taut_index k = 0; k < n; k++) {
        r->q[(i + 1) * n + k] = r->v[i * n + k] / (i + 1);
        r->v[(i + 1) * n + k] = a[k] / (i + 1);
    }
    return TAUT_OK;
}

/* y of the level just made, coefficients 0..order; beyond: 0. */
static void make_y(taut_multiplier_recursion *r, int order)
{
    int64_t m = r->m;
    taut_clear((r->orders + 4) * m, r->y);
    for (int i = order; i >= 0; i--)
        for (taut_index k = 0; k < m; k++)
            if (!r->soft[k])
                r->y[i * m + k] = r->compliance[k] * r->lambda[i * m + k] -
                                  r->damping[k] * (i + 1) * r->y[(i + 1) * m + k];
}

static int new_arrays(taut_multiplier_recursion *r, taut_error *error)
{
    taut_arena *arena = r->arena;
    int64_t kept = r->orders + 2, masses = r->varying ? kept : 1;
    TAUT_TRY(TAUT_RESERVE(arena, kept * r->n, error, &r->q, &r->v, &r->a));
    TAUT_TRY(TAUT_RESERVE(arena, (kept + 2) * r->m, error, &r->lambda, &r->y));
    TAUT_TRY(TAUT_RESERVE(arena, r->m, error, &r->bond, &r->bond_dt, &r->gamma, &r->d, &r->s));
    TAUT_TRY(TAUT_RESERVE(arena, kept * r->g_entries, error, &r->jacobian_i));
    TAUT_TRY(TAUT_RESERVE(arena, (masses + 1) * r->m_entries, error, &r->mass_i));
    TAUT_TRY(TAUT_RESERVE(arena, r->g_entries, error, &r->g0));
    r->soft = TAUT_NEW(arena, unsigned char, r->m);
    return r->soft ? TAUT_OK : taut_fail_memory(error);
}

/* Jets of all levels are kilobytes a coordinate, and long chains need two of them. */
static int make_room(taut_multiplier_recursion *r, int levels, taut_error *error)
{
    unsigned wanted =
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_MASS;
    r->room = -1;
    r->orders = order_of(r, levels, 0, 1);
    TAUT_TRY(new_arrays(r, error));
    for (taut_index i = 0; i < r->m; i++)
        r->d[i] = r->soft[i] = taut_context_soft(r->context, i) && r->compliance[i] > 0;
    taut_jet_destroy(r->jet);
    r->jet = NULL;
    TAUT_TRY(taut_jet_create(r->context, r->orders, wanted, &r->jet, error));
    r->room = levels;
    return TAUT_OK;
}

int taut_multiplier_recursion_evaluate(taut_multiplier_recursion *r, int level, double t,
                                       const double *q, const double *v, double *lambda,
                                       double *acceleration, double *y, double *ydot,
                                       taut_error *error)
{
    int extra = y ? 1 : 0;
    size_t row = (size_t)r->m * sizeof(double), column = (size_t)r->n * sizeof(double);
    if (level > r->most)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "level %d of the slow multipliers was asked, %d were prepared", level,
                         r->most);
    if (level > r->room) /* and for the next one, which often follows */
        TAUT_TRY(make_room(r, level < r->most ? level + 1 : level, error));
    memset(r->y, 0, (size_t)(r->orders + 4) * row);
    for (int j = 0; j <= level; j++) {
        int order = order_of(r, level, j, extra);
        memcpy(r->q, q, column);
        memcpy(r->v, v, column);
        r->statistics->jets++;
        for (int i = 0; i <= order; i++)
            TAUT_TRY(next_order(r, i, t, j == 0, error));
        make_y(r, order);
    }
    memcpy(lambda, r->lambda, row);
    if (acceleration)
        memcpy(acceleration, r->a, column);
    if (y) {
        memcpy(y, r->y, row);
        memcpy(ydot, r->y + r->m, row);
    }
    return TAUT_OK;
}

void taut_multiplier_recursion_rates(const taut_multiplier_recursion *r, double *acceleration,
                                     double *jerk)
{
    double first = 0, second = 0;
    for (taut_index i = 0; i < r->n; i++) {
        first += r->a[i] * r->a[i];
        second += r->a[r->n + i] * r->a[r->n + i];
    }
    *acceleration = sqrt(first);
    *jerk = sqrt(second);
}

/* ---- the object */

static int build(taut_multiplier_recursion *r, int first, taut_error *error)
{
    const taut_system *system = taut_context_system(r->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    r->n = sizes.coordinates;
    r->m = sizes.bonds;
    r->g_entries = sizes.jacobian_entries;
    r->matrix = sizes.mass != TAUT_MASS_DIAGONAL;
    r->varying = sizes.can & TAUT_HAS_VARYING_MASS;
    r->damped = sizes.can & TAUT_HAS_DAMPING;
    r->compliance = taut_context_compliance(r->context);
    r->damping = taut_context_damping(r->context);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &r->jacobian, error));
    if (r->matrix)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &r->tangent, error));
    r->m_entries = r->matrix ? r->tangent.start[r->n] : r->n;
    TAUT_TRY(make_room(r, first > 0 && first < r->most ? first : r->most, error));
    return taut_bonds_saddle(r->context, &r->jacobian, &r->tangent, &r->arena->allocator,
                             &r->saddle, error);
}

int taut_multiplier_recursion_create(taut_context *context, taut_arena *arena,
                                     taut_statistics *statistics, int most, int first,
                                     taut_multiplier_recursion **recursion, taut_error *error)
{
    *recursion = NULL;
    taut_multiplier_recursion *r = TAUT_NEW(arena, taut_multiplier_recursion, 1);
    if (!r)
        return taut_fail_memory(error);
    r->context = context;
    r->statistics = statistics;
    r->arena = arena;
    r->most = most;
    int status = build(r, first, error);
    if (status != 0) {
        taut_multiplier_recursion_destroy(r);
        return status;
    }
    *recursion = r;
    return TAUT_OK;
}

void taut_multiplier_recursion_destroy(taut_multiplier_recursion *r)
{
    if (!r)
        return;
    taut_jet_destroy(r->jet);
    taut_saddle_destroy(r->saddle);
    r->jet = NULL;
    r->saddle = NULL;
}
