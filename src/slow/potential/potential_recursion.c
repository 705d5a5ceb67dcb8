/* potential_recursion.c - slow multipliers with a stiff potential, to any order in eps^2.
 *
 * Let W be the stiff modes at the foot point, L = Hess V/eps^2 where we are, B = L W (W^T L
 * W)^-1. The stiff force F = grad V/eps^2 is
 *
 *     F(q) = B lambda + r(q),     lambda = W^T F,     r = F - B W^T F,
 *
 * and the d functions g = Omega^-2 W^T F(q) are to it what bonds are to springs: C lambda = g
 * with C = Omega^-2, exactly. r is what F has outside the range of B, as in B (8.6)-(8.7). So the
 * recursion of multiplier_recursion.c holds with these d rows in addition to those of the bonds:
 * along the motion of level j,
 *
 *     M a + B lambda + G^T mu = f - r,     g'' = (C lambda^(j-1))''   (bonds likewise),
 *
 * order by order. lambda is solved for and never computed from F, whose rounding is multiplied
 * by Omega^2, and whose value along the motion of level j belongs to level j-1. For the same
 * reason r is not F's own but that of a displacement W eta from the motion at which F has the
 * lambda of this level, to first order:  r <- r + (1 - B W^T) L(t) W eta,   W^T L(t) W eta =
 * lambda - W^T F.
 *
 * The coefficient i+2 of g is that with q_{i+2} = 0, plus Omega^-2 W^T L q_{i+2}; so jets of F
 * run two orders ahead, twice an order. Unlike repeated derivatives of the stiff motion itself
 * [B (8.1)] nothing grows as (Omega_max/Omega_min)^2k. */
#include "slow/potential/potential.h"

#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/small_kernels.h"
#include "slow/multiplier_recursion.h"

struct taut_potential_recursion {
    taut_multiplier_recursion *levels;
    taut_pattern tangent;
    taut_jet *ahead; /* the stiff force, two orders ahead */
    const taut_potential_basis *basis;
    double *stiff;       /* [orders+3][n]: F */
    double *eta;         /* [orders+1][n]: W eta */
    double *t;           /* [d][d] by columns: Omega^-2 W^T L W, factored; about 1 */
    taut_index *t_pivot; /* [d] */
    double *root;        /* [n][n]: of M_0 */
    double *row1, *row2; /* [n+m][n]: B^T and G; Omega^-2 W^T L and G, without soft rows */
    /* [n+m][n+m] by columns: row2 M^-1 row1^T, rows and columns scaled by unit[] */
    double *schur, *unit;
    double *solved;          /* [n+m][n]: M^-1 row1^T */
    taut_index *pivot;       /* [n+m] */
    double *rest, *zero, *f; /* [n] */
    double *g, *gdot;        /* [n+m]: results */
    double *reaction;        /* [n] */
};

/* Of the equations. */
static taut_index rows_of(const taut_potential_recursion *r)
{
    return r->basis->count + r->levels->equations.m;
}

static bool is_soft(const taut_potential_recursion *r, taut_index row)
{
    return row >= r->basis->count && !r->levels->equations.counts[row - r->basis->count];
}

/* ---- sums over coefficients */

/* y += L_b x */
static void add_hessian(const taut_potential_recursion *r, int b, const double *x, double *y)
{
    const double *entry = r->levels->hessian + b * r->levels->solver.hessian_entries;
    taut_pattern_add(&r->tangent, entry, 1, x, y);
}

/* W^T x, component k. */
static double along(const taut_potential_recursion *r, int k, const double *x)
{
    const taut_index n = r->levels->equations.n;
    return taut_dot(n, r->basis->mode + k * (int64_t)n, x);
}

/* f: coefficient i of F and of what W eta adds to it, as far as it is known before lambda_i is;
 * out -= (1 - B W^T) f. */
static void subtract_remainder(const taut_potential_recursion *r, int i, double *out)
{
    const int64_t n = r->levels->equations.n;
    taut_copy(n, r->stiff + i * n, r->f);
    for (int b = 1; b <= i; b++)
        add_hessian(r, b, r->eta + (i - b) * n, r->f);
    taut_add_scaled(n, -1, r->f, out);
    for (int k = 0; k < r->basis->count; k++)
        taut_add_scaled(n, along(r, k, r->f), r->row1 + k * n, out);
}

/* dx += W t^-1 x; x[d] is overwritten. */
static void add_modes(const taut_potential_recursion *r, double *x, double *dx)
{
    const taut_index n = r->levels->equations.n;
    taut_lu_solve(false, r->basis->count, r->t, r->t_pivot, x);
    for (int k = 0; k < r->basis->count; k++)
        taut_add_scaled(n, x[k], r->basis->mode + k * (int64_t)n, dx);
}

/* W eta_i: the displacement with which W^T F is lambda_i; f as left above. */
static void find_eta(taut_potential_recursion *r, int i, const double *lambda)
{
    const int64_t n = r->levels->equations.n;
    for (int k = 0; k < r->basis->count; k++)
        r->rest[k] = (lambda[k] - along(r, k, r->f)) / r->basis->value[k];
    taut_clear(n, r->eta + i * n);
    add_modes(r, r->rest, r->eta + i * n);
}

/* ---- the matrix at q_0 */

/* The rows of the potential: Omega^-2 W^T L, and B from them. */
static int fill_potential(taut_potential_recursion *r, taut_error *error)
{
    const int64_t n = r->levels->equations.n;
    const int d = r->basis->count;
    for (int k = 0; k < d; k++) {
        add_hessian(r, 0, r->basis->mode + k * n, r->row2 + k * n);
        for (taut_index j = 0; j < n; j++)
            r->row2[k * n + j] /= r->basis->value[k];
        for (int l = 0; l < d; l++)
            r->t[l * d + k] = along(r, l, r->row2 + k * n);
    }
    if (taut_lu_factor(false, d, r->t, r->t_pivot, 1e-6) != 0)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the stiff modes turn or vanish between the foot point and the slow point");
    for (int l = 0; l < d; l++) { /* column l of (W^T L W)^-1 */
        taut_clear(d, r->rest);
        r->rest[l] = 1 / r->basis->value[l];
        taut_lu_solve(false, d, r->t, r->t_pivot, r->rest);
        for (int k = 0; k < d; k++)
            taut_add_scaled(n, r->rest[k] * r->basis->value[k], r->row2 + k * n, r->row1 + l * n);
    }
    return TAUT_OK;
}

static int fill_rows(taut_potential_recursion *r, taut_error *error)
{
    const taut_order_equations *e = &r->levels->equations;
    const taut_pattern *g = &e->saddle.jacobian;
    const int64_t n = e->n, d = r->basis->count;
    taut_clear(rows_of(r) * n, r->row1);
    taut_clear(rows_of(r) * n, r->row2);
    for (taut_index i = 0; i < e->m; i++)
        taut_row_add(g, r->levels->values.jacobian, i, e->counts[i], r->row1 + (d + i) * n);
    taut_copy(e->m * n, r->row1 + d * n, r->row2 + d * n);
    return fill_potential(r, error);
}

static int factor(void *self, double t, taut_error *error)
{
    taut_potential_recursion *r = self;
    const taut_order_equations *e = &r->levels->equations;
    const int64_t n = e->n, rows = rows_of(r);
    TAUT_TRY(taut_potential_modes_root(r->levels->context, t,
                                       e->saddle.matrix ? &e->saddle.tangent : NULL,
                                       r->levels->mass, r->root, error));
    TAUT_TRY(fill_rows(r, error));
    taut_copy(rows * n, r->row1, r->solved);
    for (taut_index j = 0; j < rows; j++)
        taut_cholesky_solve(e->n, r->root, r->solved + j * n);
    for (taut_index j = 0; j < rows; j++) {
        double size = taut_dot(e->n, r->row2 + j * n, r->solved + j * n);
        r->unit[j] = size > 0 ? 1 / sqrt(size) : 1;
        for (taut_index i = 0; i < rows; i++)
            r->schur[j * rows + i] = taut_dot(e->n, r->row2 + i * n, r->solved + j * n);
        if (is_soft(r, j))
            r->schur[j * rows + j] = 1;
    }
    for (taut_index j = 0; j < rows; j++)
        for (taut_index i = 0; i < rows; i++)
            r->schur[j * rows + i] *= r->unit[i] * r->unit[j];
    r->levels->statistics->factorisations++;
    if (taut_lu_factor(false, (taut_index)rows, r->schur, r->pivot, 1e-12) == 0)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_SINGULAR,
                     "bonds and stiff potential determine the same direction twice: omit a bond, "
                     "or write the springs as part of the stiff potential");
}

/* a holds the forces, s the right-hand side of the rows: they become a and lambda (0 for soft
 * bonds, whose s is 0). */
static void solve(const taut_potential_recursion *r, double *a, double *s)
{
    const int64_t n = r->levels->equations.n, rows = rows_of(r);
    taut_cholesky_solve((taut_index)n, r->root, a);
    for (taut_index i = 0; i < rows; i++)
        if (!is_soft(r, i))
            s[i] = r->unit[i] * (taut_dot((taut_index)n, r->row2 + i * n, a) - s[i]);
    taut_lu_solve(false, (taut_index)rows, r->schur, r->pivot, s);
    for (taut_index j = 0; j < rows; j++) {
        s[j] *= r->unit[j];
        taut_add_scaled(n, -s[j], r->solved + j * n, a);
    }
}

/* ---- one order */

/* F of coefficient j with the given q_j. */
static int stiff_coefficient(taut_potential_recursion *r, int j, double t, const double *q,
                             taut_error *error)
{
    const taut_index n = r->levels->equations.n;
    double *to = r->stiff + j * (int64_t)n;
    taut_values values = {.stiff_force = to};
    TAUT_TRY(taut_jet_advance_inside(r->ahead, j, t, q, r->zero, &values, error));
    for (taut_index i = 0; i < n; i++) {
        to[i] = -to[i];
        if (!isfinite(to[i]))
            return taut_fail(error, TAUT_ERROR_EVALUATE,
                             "a Taylor coefficient of the stiff potential is not finite");
    }
    return TAUT_OK;
}

/* Values and rates of the rows where the motion begins, whose bonds are known. */
static int find_rows(taut_potential_recursion *r, double t, taut_error *error)
{
    const taut_multiplier_recursion *l = r->levels;
    const taut_index n = l->equations.n, d = r->basis->count;
    TAUT_TRY(stiff_coefficient(r, 0, t, l->q, error));
    TAUT_TRY(stiff_coefficient(r, 1, t, l->q + n, error));
    for (int k = 0; k < d; k++) {
        r->g[k] = along(r, k, r->stiff) / r->basis->value[k];
        r->gdot[k] = along(r, k, r->stiff + n) / r->basis->value[k];
    }
    for (taut_index k = 0; k < l->equations.m; k++) {
        r->g[d + k] = l->values.bond[k];
        r->gdot[d + k] = l->values.bond_dt[k] +
                         taut_row_dot(&l->equations.saddle.jacobian, l->values.jacobian, k, l->v);
    }
    return TAUT_OK;
}

static int solve_order(void *self, int i, double t, double *a, double *s, taut_error *error)
{
    taut_potential_recursion *r = self;
    const taut_multiplier_recursion *l = r->levels;
    const int64_t n = l->equations.n;
    const double *y = l->y + (i + 2) * (int64_t)rows_of(r);
    TAUT_TRY(i == 0 ? find_rows(r, t, error)
                    : stiff_coefficient(r, i + 1, t, l->q + (i + 1) * n, error));
    TAUT_TRY(stiff_coefficient(r, i + 2, t, r->zero, error));
    for (int k = 0; k < r->basis->count; k++)
        s[k] =
            (i + 1) * (i + 2) * (y[k] - along(r, k, r->stiff + (i + 2) * n) / r->basis->value[k]);
    subtract_remainder(r, i, a);
    solve(r, a, s);
    find_eta(r, i, s);
    return TAUT_OK;
}

/* ---- levels */

int taut_potential_recursion_evaluate(taut_potential_recursion *r,
                                      const taut_potential_basis *basis, int level, double t,
                                      const double *q, const double *v,
                                      taut_potential_values *values, taut_error *error)
{
    taut_multiplier_recursion *l = r->levels;
    const taut_index n = l->equations.n;
    r->basis = basis;
    l->own = basis->count;
    l->stiffness = basis->value;
    TAUT_TRY(taut_multiplier_recursion_evaluate(l, level, true, t, q, v, error));
    taut_clear(n, r->reaction);
    subtract_remainder(r, 0, r->reaction);
    for (int k = 0; k < basis->count; k++)
        taut_add_scaled(n, -l->lambda[k], r->row1 + (int64_t)k * n, r->reaction);
    *values = (taut_potential_values){.g = r->g,
                                      .gdot = r->gdot,
                                      .y = l->y,
                                      .ydot = l->y + rows_of(r),
                                      .lambda = l->lambda,
                                      .reaction = r->reaction};
    return TAUT_OK;
}

int taut_potential_recursion_rows(taut_potential_recursion *r, double t, const double *q,
                                  const double *v, taut_error *error)
{
    TAUT_TRY(taut_multiplier_recursion_bonds(r->levels, t, q, v, error));
    return find_rows(r, t, error);
}

double taut_potential_recursion_rate(const taut_potential_recursion *r)
{
    return taut_multiplier_recursion_rate(r->levels);
}

void taut_potential_recursion_adjust(const taut_potential_recursion *r, double *g, double *dx)
{
    const taut_index n = r->levels->equations.n;
    for (int k = 0; k < r->basis->count; k++)
        g[k] -= taut_dot(n, r->row2 + k * (int64_t)n, dx);
    add_modes(r, g, dx);
}

/* ---- the object */

static int new_arrays(taut_potential_recursion *r, taut_arena *arena, taut_error *error)
{
    const int64_t n = r->levels->equations.n, rows = n + r->levels->equations.m;
    const int64_t kept = r->levels->orders + 1 + TAUT_POTENTIAL_AHEAD;
    TAUT_TRY(TAUT_RESERVE(arena, kept * n, error, &r->stiff, &r->eta));
    TAUT_TRY(TAUT_RESERVE(arena, n * n, error, &r->t, &r->root));
    TAUT_TRY(TAUT_RESERVE(arena, rows * n, error, &r->row1, &r->row2, &r->solved));
    TAUT_TRY(TAUT_RESERVE(arena, rows * rows, error, &r->schur));
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &r->unit, &r->g, &r->gdot));
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &r->rest, &r->zero, &r->f, &r->reaction));
    r->t_pivot = TAUT_NEW(arena, taut_index, n);
    r->pivot = TAUT_NEW(arena, taut_index, rows);
    return r->t_pivot && r->pivot ? TAUT_OK : taut_fail_memory(error);
}

static int build(taut_potential_recursion *r, taut_context *context, taut_arena *arena,
                 taut_statistics *statistics, int most, taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &r->tangent, error));
    taut_recursion_solver solver = {.factor = factor,
                                    .solve = solve_order,
                                    .self = r,
                                    .most = sizes.coordinates,
                                    .hessian_entries = r->tangent.start[sizes.coordinates]};
    TAUT_TRY(taut_multiplier_recursion_create(context, arena, statistics, most, 0, &solver,
                                              &r->levels, error));
    TAUT_TRY(new_arrays(r, arena, error));
    return taut_jet_create(context, r->levels->orders + TAUT_POTENTIAL_AHEAD, TAUT_WANT_STIFF_FORCE,
                           &r->ahead, error);
}

int taut_potential_recursion_create(taut_context *context, taut_arena *arena,
                                    taut_statistics *statistics, int most,
                                    taut_potential_recursion **recursion, taut_error *error)
{
    taut_potential_recursion *r = *recursion = TAUT_NEW(arena, taut_potential_recursion, 1);
    TAUT_NEED(error, r);
    int status = build(r, context, arena, statistics, most, error);
    if (status != 0) {
        taut_potential_recursion_destroy(r);
        *recursion = NULL;
    }
    return status;
}

void taut_potential_recursion_destroy(taut_potential_recursion *r)
{
    if (!r)
        return;
    taut_multiplier_recursion_destroy(r->levels);
    taut_jet_destroy(r->ahead);
    r->levels = NULL;
    r->ahead = NULL;
}
