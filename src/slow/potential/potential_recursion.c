/* potential_recursion.c - slow multipliers beside a stiff potential, to any order in eps^2.
 *
 * Let W be the stiff modes at the foot point, L = Hess V/eps^2 where we are, B = L W (W^T L
 * W)^-1. The stiff force F = grad V/eps^2 is
 *
 *     F(q) = B lambda + r(q),     lambda = W^T F,     r = F - B W^T F,
 *
 * and the d functions g = Omega^-2 W^T F(q) are to it what bonds are to springs: C lambda = g
 * with C = Omega^-2, exactly. r is what F has outside the range of B; B (8.6)-(8.7) treats it
 * alike. So the recursion of multiplier_recursion.c holds with these d rows beside those of the
 * bonds: along the motion of level j,
 *
 *     M a + B lambda + G^T mu = f - r,     g'' = (C lambda^(j-1))''   (bonds likewise),
 *
 * order by order. lambda is solved for and never computed from F, whose rounding is multiplied
 * by Omega^2, and whose value along the motion of level j belongs to level j-1. For the same
 * reason r is not F's own but that of a displacement W eta beside the motion where F has the
 * lambda of this level, to first order:  r <- r + (1 - B W^T) L(t) W eta,   W^T L(t) W eta =
 * lambda - W^T F.
 *
 * The coefficient i+2 of g is that with q_{i+2} = 0, plus Omega^-2 W^T L q_{i+2}; so jets of F
 * run two orders ahead, twice an order. Unlike repeated derivatives of the stiff motion itself
 * [B (8.1)] nothing grows as (Omega_max/Omega_min)^2k. Damped and soft bonds are treated as in
 * multiplier_recursion.c. */
#include "base/vectors.h"
#include "base/rows.h"
#include "slow/potential/potential.h"

#include <math.h>

#include "linalg/small_kernels.h"

struct taut_potential_recursion {
    taut_context *context;
    taut_statistics *statistics;
    taut_index n, m;
    int64_t g_entries, m_entries;
    int most, orders; /* level; coefficients of a are 0..orders */
    bool damped, matrix, varying;
    taut_pattern jacobian, tangent;
    taut_jet *jet, *ahead; /* everything but the stiff force; the stiff force, two orders ahead */
    const taut_potential_frame *frame;
    const double *compliance, *damping;
    unsigned char *soft; /* [m] */
    double *q, *v, *a;   /* [orders+3][n] */
    double *stiff;       /* [orders+3][n]: F */
    /* [orders+5][n+m]: rows of the potential (n reserved), then bonds */
    double *lambda, *y;
    double *jacobian_i, *mass_i; /* [orders+1][entries] */
    double *bond, *bond_dt, *gamma;
    double *hessian_i;   /* [orders+1][tangent]: L */
    double *eta;         /* [orders+1][n]: W eta */
    double *t;           /* [d][d] by columns: Omega^-2 W^T L W, factored; about 1 */
    taut_index *t_pivot; /* [d] */
    double *root;        /* [n][n]: of M_0 */
    double *row1, *row2; /* [n+m][n]: B^T and G; Omega^-2 W^T L and G, without soft rows */
    /* [n+m][n+m] by columns: row2 M^-1 row1^T, rows and columns scaled by unit[] */
    double *schur, *unit;
    double *solved;               /* [n+m][n]: M^-1 row1^T */
    taut_index *pivot;            /* [n+m] */
    double *s, *rest, *zero, *fr; /* [n+m]; [n] */
};

/* Order to which level j is needed when `level` is the last and its value and first derivative
 * are asked for. */
static int order_of(bool damped, int level, int j)
{
    return 2 * (level - j) + 1 + (damped ? level : 0);
}

static bool is_damped(taut_context *context)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    return sizes.can & TAUT_HAS_DAMPING;
}

int taut_potential_most(taut_context *context)
{
    /* order_of + 2 <= TAUT_JET_ORDER_MAX */
    return (TAUT_JET_ORDER_MAX - 3) / (is_damped(context) ? 3 : 2);
}

static taut_index rows_of(const taut_potential_recursion *r)
{
    return r->frame->count + r->m;
}

/* ---- sums over coefficients */

/* out -= G_b^T x, soft and hard rows alike */
static void subtract_bonds(const taut_potential_recursion *r, int b, const double *x, double *out)
{
    const double *entry = r->jacobian_i + b * r->g_entries;
    taut_pattern_add_transposed(&r->jacobian, entry, -1, x, out);
}

static double bond_times(const taut_potential_recursion *r, int b, taut_index i, const double *x)
{
    const double *entry = r->jacobian_i + b * r->g_entries;
    return taut_row_dot(&r->jacobian, entry, i, x);
}

static void subtract_mass(const taut_potential_recursion *r, int b, const double *x, double *out)
{
    const double *entry = r->mass_i + b * r->m_entries;
    taut_mass_add(r->matrix ? &r->tangent : NULL, r->n, entry, -1, x, out);
}

/* Coefficient i of the pull of a soft bond: c lambda = g + tau (G v + g_t). */
static double soft_pull(const taut_potential_recursion *r, taut_index row, int i)
{
    double rate = r->bond_dt[row];
    for (int b = 0; b <= i && r->damping[row] != 0; b++)
        rate += bond_times(r, b, row, r->v + (i - b) * (int64_t)r->n);
    return (r->bond[row] + r->damping[row] * rate) / r->compliance[row];
}

/* y += L_b x */
static void add_hessian(const taut_potential_recursion *r, int b, const double *x, double *y)
{
    const double *entry = r->hessian_i + b * (int64_t)r->tangent.start[r->n];
    taut_pattern_add(&r->tangent, entry, 1, x, y);
}

/* fr: coefficient i of F and of what W eta adds to it, as far as it is known before lambda_i is;
 * out -= (1 - B W^T) fr. */
static void subtract_remainder(const taut_potential_recursion *r, int i, double *out)
{
    const int64_t n = r->n;
    taut_copy(n, r->stiff + i * n, r->fr);
    for (int b = 1; b <= i; b++)
        add_hessian(r, b, r->eta + (i - b) * n, r->fr);
    for (taut_index j = 0; j < n; j++)
        out[j] -= r->fr[j];
    for (int k = 0; k < r->frame->count; k++) {
        double part = taut_dot(r->n, r->frame->mode + k * n, r->fr);
        for (taut_index j = 0; j < n; j++)
            out[j] += part * r->row1[k * n + j];
    }
}

/* W eta_i: the displacement with which W^T F is lambda_i; fr as left above. */
static void find_eta(taut_potential_recursion *r, int i, const double *lambda)
{
    const int64_t n = r->n;
    double *eta = r->eta + i * n;
    for (int k = 0; k < r->frame->count; k++)
        r->s[k] = (lambda[k] - taut_dot(r->n, r->frame->mode + k * n, r->fr)) / r->frame->value[k];
    taut_lu_solve(false, r->frame->count, r->t, r->t_pivot, r->s);
    taut_clear(n, eta);
    for (int k = 0; k < r->frame->count; k++)
        for (taut_index j = 0; j < n; j++)
            eta[j] += r->s[k] * r->frame->mode[k * n + j];
}

/* ---- the matrix at q_0 */

static int factor_mass(taut_potential_recursion *r, taut_error *error)
{
    const int64_t n = r->n;
    taut_clear(n * n, r->root);
    for (taut_index i = 0; i < n; i++)
        for (taut_index k = r->matrix ? r->tangent.start[i] : i;
             k < (r->matrix ? r->tangent.start[i + 1] : i + 1); k++)
            r->root[i * n + (r->matrix ? r->tangent.column[k] : i)] += r->mass_i[k];
    return taut_cholesky(r->n, r->root)
               ? TAUT_OK
               : taut_fail(error, TAUT_ERROR_SINGULAR, "the mass matrix is not positive definite");
}

/* The rows of the potential: Omega^-2 W^T L, and B from them. */
static int fill_potential(taut_potential_recursion *r, taut_error *error)
{
    const int64_t n = r->n;
    const int d = r->frame->count;
    for (int k = 0; k < d; k++) {
        add_hessian(r, 0, r->frame->mode + k * n, r->row2 + k * n);
        for (taut_index j = 0; j < n; j++)
            r->row2[k * n + j] /= r->frame->value[k];
        for (int l = 0; l < d; l++)
            r->t[l * d + k] = taut_dot(r->n, r->row2 + k * n, r->frame->mode + l * n);
    }
    if (taut_lu_factor(false, d, r->t, r->t_pivot, 1e-6) != 0)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the stiff modes turn or vanish between the foot point and the slow point");
    for (int l = 0; l < d; l++) { /* column l of (W^T L W)^-1 */
        taut_clear(d, r->rest);
        r->rest[l] = 1 / r->frame->value[l];
        taut_lu_solve(false, d, r->t, r->t_pivot, r->rest);
        for (int k = 0; k < d; k++)
            for (taut_index j = 0; j < n; j++)
                r->row1[l * n + j] += r->rest[k] * r->frame->value[k] * r->row2[k * n + j];
    }
    return TAUT_OK;
}

static int fill_rows(taut_potential_recursion *r, taut_error *error)
{
    const int64_t n = r->n, d = r->frame->count;
    taut_clear(rows_of(r) * n, r->row1);
    taut_clear(rows_of(r) * n, r->row2);
    for (taut_index i = 0; i < r->m; i++)
        if (!r->soft[i])
            taut_row_add(&r->jacobian, r->jacobian_i, i, 1, r->row1 + (d + i) * n);
    taut_copy(r->m * n, r->row1 + d * n, r->row2 + d * n);
    return fill_potential(r, error);
}

static int factor(taut_potential_recursion *r, taut_error *error)
{
    const int64_t n = r->n, rows = rows_of(r);
    TAUT_TRY(factor_mass(r, error));
    TAUT_TRY(fill_rows(r, error));
    taut_copy(rows * n, r->row1, r->solved);
    for (taut_index j = 0; j < rows; j++)
        taut_cholesky_solve(r->n, r->root, r->solved + j * n);
    for (taut_index j = 0; j < rows; j++) {
        double size = taut_dot(r->n, r->row2 + j * n, r->solved + j * n);
        r->unit[j] = size > 0 ? 1 / sqrt(size) : 1;
        for (taut_index i = 0; i < rows; i++)
            r->schur[j * rows + i] = taut_dot(r->n, r->row2 + i * n, r->solved + j * n);
        if (j >= r->frame->count && r->soft[j - r->frame->count])
            r->schur[j * rows + j] = 1;
    }
    for (taut_index j = 0; j < rows; j++)
        for (taut_index i = 0; i < rows; i++)
            r->schur[j * rows + i] *= r->unit[i] * r->unit[j];
    r->statistics->factorisations++;
    if (taut_lu_factor(false, (taut_index)rows, r->schur, r->pivot, 1e-12) == 0)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_SINGULAR,
                     "bonds and stiff potential hold the same direction twice: leave out a bond, "
                     "or write the springs as part of the stiff potential");
}

/* a holds the forces, s the right-hand side of the rows: they become a and lambda. Soft rows
 * have s = lambda. */
static void solve(taut_potential_recursion *r, double *a, double *lambda)
{
    const int64_t n = r->n, rows = rows_of(r);
    taut_cholesky_solve(r->n, r->root, a);
    for (taut_index i = 0; i < rows; i++) {
        bool soft = i >= r->frame->count && r->soft[i - r->frame->count];
        lambda[i] = r->unit[i] * (soft ? r->s[i] : taut_dot(r->n, r->row2 + i * n, a) - r->s[i]);
    }
    taut_lu_solve(false, (taut_index)rows, r->schur, r->pivot, lambda);
    for (taut_index j = 0; j < rows; j++) {
        lambda[j] *= r->unit[j];
        for (taut_index i = 0; i < n; i++)
            a[i] -= lambda[j] * r->solved[j * n + i];
    }
    r->statistics->solves++;
}

/* ---- one order */

/* F of coefficient j with the given q_j. */
static int stiff_coefficient(taut_potential_recursion *r, int j, double t, const double *q,
                             taut_error *error)
{
    double *to = r->stiff + j * (int64_t)r->n;
    taut_values values = {.stiff_force = to};
    TAUT_TRY(taut_jet_advance(r->ahead, j, t, q, r->zero, &values, error));
    for (taut_index i = 0; i < r->n; i++) {
        to[i] = -to[i];
        if (!isfinite(to[i]))
            return taut_fail(error, TAUT_ERROR_EVALUATE,
                             "a Taylor coefficient of the stiff potential is not finite");
    }
    return TAUT_OK;
}

/* s: what the rows ask of a_i. */
static int fill_right(taut_potential_recursion *r, int i, double t, taut_error *error)
{
    const int64_t n = r->n, rows = r->n + r->m;
    const double *y = r->y + (i + 2) * rows;
    int d = r->frame->count;
    double both = (i + 1) * (i + 2);
    TAUT_TRY(stiff_coefficient(r, i + 2, t, r->zero, error));
    for (int k = 0; k < d; k++) {
        double g =
            taut_dot(r->n, r->frame->mode + k * n, r->stiff + (i + 2) * n) / r->frame->value[k];
        r->s[k] = both * (y[k] - g);
    }
    for (taut_index k = 0; k < r->m; k++) {
        if (r->soft[k]) {
            r->s[d + k] = 0; /* its pull is among the forces already */
            continue;
        }
        r->s[d + k] = both * y[n + k] - r->gamma[k];
        for (int b = 1; b <= i; b++)
            r->s[d + k] -= bond_times(r, b, k, r->a + (i - b) * n);
    }
    return TAUT_OK;
}

static int next_order(taut_potential_recursion *r, int i, double t, bool first_level,
                      taut_error *error)
{
    const int64_t n = r->n, rows = r->n + r->m;
    double *a = r->a + i * n, *lambda = r->lambda + i * rows;
    int d = r->frame->count;
    taut_values values = {.force = a,
                          .bond = r->bond,
                          .bond_dt = r->bond_dt,
                          .gamma = r->gamma,
                          .jacobian = r->jacobian_i + i * r->g_entries,
                          .stiff_hessian = r->hessian_i + i * (int64_t)r->tangent.start[r->n],
                          /* constant: 0 beyond */
                          .mass = r->mass_i + (r->varying || i == 0 ? i : 1) * r->m_entries};
    TAUT_TRY(taut_jet_advance(r->jet, i, t, r->q + i * n, r->v + i * n, &values, error));
    if (i == 0 && first_level)
        TAUT_TRY(factor(r, error));
    TAUT_TRY(fill_right(r, i, t, error));
    subtract_remainder(r, i, a);
    for (taut_index k = 0; k < r->m; k++)
        lambda[n + k] = r->soft[k] ? soft_pull(r, k, i) : 0; /* hard ones are not known yet */
    for (int b = 0; b <= i; b++) {
        subtract_bonds(r, b, r->lambda + (i - b) * rows + n, a);
        if (b > 0 && r->varying)
            subtract_mass(r, b, r->a + (i - b) * n, a);
    }
    solve(r, a, r->rest);
    taut_copy(d, r->rest, lambda);
    find_eta(r, i, lambda);
    for (taut_index k = 0; k < r->m; k++)
        lambda[n + k] = r->soft[k] ? lambda[n + k] : r->rest[d + k];
    for (taut_index k = 0; k < n; k++) {
        r->v[(i + 1) * n + k] = a[k] / (i + 1);
        r->q[(i + 2) * n + k] = a[k] / ((i + 1) * (i + 2));
    }
    return stiff_coefficient(r, i + 2, t, r->q + (i + 2) * n, error);
}

/* ---- levels */

/* y of the level just made, coefficients 0..order; beyond: 0. */
static void make_y(taut_potential_recursion *r, int order)
{
    const int64_t n = r->n, rows = r->n + r->m;
    taut_clear((r->orders + 5) * rows, r->y);
    for (int i = order; i >= 0; i--) {
        for (int k = 0; k < r->frame->count; k++)
            r->y[i * rows + k] = r->lambda[i * rows + k] / r->frame->value[k];
        for (taut_index k = 0; k < r->m; k++)
            if (!r->soft[k])
                r->y[i * rows + n + k] = r->compliance[k] * r->lambda[i * rows + n + k] -
                                         r->damping[k] * (i + 1) * r->y[(i + 1) * rows + n + k];
    }
}

static int begin(taut_potential_recursion *r, double t, const double *q, const double *v,
                 taut_error *error)
{
    taut_copy(r->n, q, r->q);
    taut_copy(r->n, v, r->v);
    taut_copy(r->n, v, r->q + r->n);
    r->statistics->jets++;
    TAUT_TRY(stiff_coefficient(r, 0, t, r->q, error));
    return stiff_coefficient(r, 1, t, r->q + r->n, error);
}

static void give(const taut_potential_recursion *r, const taut_potential_values *values)
{
    const int64_t n = r->n, rows = r->n + r->m;
    int d = r->frame->count;
    taut_clear(n, values->reaction);
    subtract_remainder(r, 0, values->reaction);
    for (int k = 0; k < d; k++) {
        const double *mode = r->frame->mode + k * n, *force = r->row1 + k * n;
        values->g[k] = taut_dot(r->n, mode, r->stiff) / r->frame->value[k];
        values->gdot[k] = taut_dot(r->n, mode, r->stiff + n) / r->frame->value[k];
        for (taut_index i = 0; i < n; i++)
            values->reaction[i] -= r->lambda[k] * force[i];
    }
    for (int k = 0; k < d; k++) {
        values->y[k] = r->y[k];
        values->ydot[k] = r->y[rows + k];
        values->lambda[k] = r->lambda[k];
    }
    for (taut_index k = 0; k < r->m; k++) {
        values->y[d + k] = r->y[n + k];
        values->ydot[d + k] = r->y[rows + n + k];
        values->lambda[d + k] = r->lambda[n + k];
    }
    taut_copy(n, r->a, values->acceleration);
}

int taut_potential_recursion_evaluate(taut_potential_recursion *r,
                                      const taut_potential_frame *frame, int level, double t,
                                      const double *q, const double *v,
                                      const taut_potential_values *values, taut_error *error)
{
    int64_t rows = r->n + r->m;
    if (level > r->most)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "level %d of the slow multipliers was asked, %d were prepared", level,
                         r->most);
    r->frame = frame;
    taut_clear((r->orders + 5) * rows, r->y);
    for (int j = 0; j <= level; j++) {
        int order = order_of(r->damped, level, j);
        TAUT_TRY(begin(r, t, q, v, error));
        for (int i = 0; i <= order; i++) {
            TAUT_TRY(next_order(r, i, t, j == 0, error));
            for (taut_index k = 0; k < r->m && i == 0; k++) {
                values->g[frame->count + k] = r->bond[k];
                values->gdot[frame->count + k] = r->bond_dt[k] + bond_times(r, 0, k, r->v);
            }
        }
        make_y(r, order);
    }
    give(r, values);
    return TAUT_OK;
}

void taut_potential_recursion_rates(const taut_potential_recursion *r, double *acceleration,
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

void taut_potential_recursion_adjust(const taut_potential_recursion *r, double *g, double *dx)
{
    const int64_t n = r->n;
    for (int k = 0; k < r->frame->count; k++)
        g[k] -= taut_dot(r->n, r->row2 + k * n, dx);
    taut_lu_solve(false, r->frame->count, r->t, r->t_pivot, g);
    for (int k = 0; k < r->frame->count; k++)
        for (taut_index j = 0; j < n; j++)
            dx[j] += g[k] * r->frame->mode[k * n + j];
}

/* ---- the object */

static int new_arrays(taut_potential_recursion *r, taut_arena *arena, taut_error *error)
{
    int64_t n = r->n, kept = r->orders + 3, rows = r->n + r->m, masses = r->varying ? kept : 1;
    TAUT_TRY(TAUT_RESERVE(arena, kept * n, error, &r->q, &r->v, &r->a, &r->stiff, &r->eta));
    TAUT_TRY(TAUT_RESERVE(arena, (kept + 2) * rows, error, &r->lambda, &r->y));
    TAUT_TRY(TAUT_RESERVE(arena, r->m, error, &r->bond, &r->bond_dt, &r->gamma));
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &r->s, &r->rest, &r->zero, &r->fr, &r->unit));
    TAUT_TRY(TAUT_RESERVE(arena, rows * n, error, &r->row1, &r->row2, &r->solved));
    TAUT_TRY(TAUT_RESERVE(arena, rows * rows, error, &r->schur));
    TAUT_TRY(TAUT_RESERVE(arena, n * n, error, &r->root, &r->t));
    TAUT_TRY(TAUT_RESERVE(arena, kept * r->tangent.start[n], error, &r->hessian_i));
    TAUT_TRY(TAUT_RESERVE(arena, kept * r->g_entries, error, &r->jacobian_i));
    TAUT_TRY(TAUT_RESERVE(arena, (masses + 1) * r->m_entries, error, &r->mass_i));
    r->t_pivot = TAUT_NEW(arena, taut_index, n);
    r->soft = TAUT_NEW(arena, unsigned char, r->m);
    r->pivot = TAUT_NEW(arena, taut_index, rows);
    return r->t_pivot && r->soft && r->pivot ? TAUT_OK : taut_fail_memory(error);
}

static int build(taut_potential_recursion *r, taut_arena *arena, taut_error *error)
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
    r->orders = order_of(r->damped, r->most, 0);
    r->compliance = taut_context_compliance(r->context);
    r->damping = taut_context_damping(r->context);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &r->jacobian, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &r->tangent, error));
    r->m_entries = r->matrix ? r->tangent.start[r->n] : r->n;
    TAUT_TRY(new_arrays(r, arena, error));
    for (taut_index i = 0; i < r->m; i++)
        r->soft[i] = taut_context_soft(r->context, i) && r->compliance[i] > 0;
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA |
                      TAUT_WANT_MASS | TAUT_WANT_STIFF_HESSIAN;
    TAUT_TRY(taut_jet_create(r->context, r->orders, wanted, &r->jet, error));
    return taut_jet_create(r->context, r->orders + 2, TAUT_WANT_STIFF_FORCE, &r->ahead, error);
}

int taut_potential_recursion_create(taut_context *context, taut_arena *arena,
                                    taut_statistics *statistics, int most,
                                    taut_potential_recursion **recursion, taut_error *error)
{
    *recursion = NULL;
    taut_potential_recursion *r = TAUT_NEW(arena, taut_potential_recursion, 1);
    if (!r)
        return taut_fail_memory(error);
    r->context = context;
    r->statistics = statistics;
    r->most = most;
    int status = build(r, arena, error);
    if (status != 0) {
        taut_potential_recursion_destroy(r);
        return status;
    }
    *recursion = r;
    return TAUT_OK;
}

void taut_potential_recursion_destroy(taut_potential_recursion *r)
{
    if (!r)
        return;
    taut_jet_destroy(r->jet);
    taut_jet_destroy(r->ahead);
    r->jet = r->ahead = NULL;
}
