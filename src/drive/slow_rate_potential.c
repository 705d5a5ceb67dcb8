/* slow_rate_potential.c - the slow rate where a stiff potential V/eps^2 takes part: the functions
 * of its modes, (Hess V/eps^2) z = Omega^2 M z, are further rows of G (potential_modes.h),
 *
 *     G_k = z_k^T M,    gamma_k = z_k^T D3V[v, v]/(eps Omega_k)^2
 *
 * and their multipliers lambda_k displace the state by y = sum z_k lambda_k/Omega_k^2, which adds
 * D3V[y]/eps^2 to K as lambda_i Hess g_i does for bonds. Derivatives D3V are differences of the
 * Hessian. */
#include "drive/slow_rate.h"

#include <math.h>

#include "base/inside.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "system/modes/potential_modes.h"

typedef struct work {
    const taut_rigid_motion *at;
    taut_arena arena;
    taut_potential_modes modes;
    int rank;
    taut_index n, m;
    taut_index *start, *column;    /* of all rows */
    double *entry, *d;             /* [entries], [rows] */
    double *acceleration, *lambda; /* [n], [rows] */
    double *weight;                /* [m] */
    double *moved, *change;        /* [n], [tangent] */
    double *hessian;               /* [tangent] */
    taut_saddle *saddle;
} work;

static int reserve(work *w, taut_error *error)
{
    const taut_index rows = w->m + w->rank, bonds = w->modes.jacobian.start[w->m];
    const int64_t entries = bonds + (int64_t)w->rank * w->n;
    w->start = TAUT_NEW(&w->arena, taut_index, rows + 1);
    w->column = TAUT_NEW(&w->arena, taut_index, entries);
    TAUT_NEED(error, w->start, w->column);
    TAUT_TRY(TAUT_RESERVE(&w->arena, entries, error, &w->entry));
    TAUT_TRY(TAUT_RESERVE(&w->arena, rows, error, &w->d, &w->lambda));
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->n, error, &w->acceleration, &w->moved));
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->m, error, &w->weight));
    return TAUT_RESERVE(&w->arena, w->modes.tangent.start[w->n], error, &w->change, &w->hessian);
}

/* The rows of bonds, those of soft springs empty, then those of the modes. */
static void form_rows(work *w)
{
    const taut_pattern *g = &w->modes.jacobian;
    taut_index used = 0;
    for (taut_index i = 0; i < w->m; i++) {
        bool counts = w->modes.rigid[i];
        w->d[i] = !counts;
        for (taut_index k = g->start[i]; k < g->start[i + 1]; k++, used++) {
            w->column[used] = g->column[k];
            w->entry[used] = counts ? w->at->jacobian[k] : 0;
        }
        w->start[i + 1] = used;
    }
    for (int k = 0; k < w->rank; k++) {
        taut_potential_modes_mass(&w->modes, w->modes.mode + (int64_t)k * w->n, w->entry + used);
        for (taut_index i = 0; i < w->n; i++)
            w->column[used++] = i;
        w->start[w->m + k + 1] = used;
    }
}

/* change = D3V[x]/eps^2, from Hessians at q + e x and q - e x. */
static int differentiate(work *w, const double *x, double e, taut_error *error)
{
    const int64_t entries = w->modes.tangent.start[w->n];
    taut_clear(entries, w->change);
    for (int sign = 1; sign >= -1; sign -= 2) {
        taut_values values = {.stiff_hessian = w->hessian};
        taut_copy(w->n, w->at->q, w->moved);
        taut_add_scaled(w->n, sign * e, x, w->moved);
        TAUT_TRY(taut_evaluate_inside(w->at->context, w->at->t, w->moved, NULL,
                                      TAUT_WANT_STIFF_HESSIAN, &values, error));
        taut_add_scaled(entries, sign / (2 * e), w->hessian, w->change);
    }
    return TAUT_OK;
}

/* A difference that changes the coordinates by 1e-5 of their size. */
static double small(const work *w, const double *x)
{
    double size = taut_largest(w->n, w->at->q), length = taut_largest(w->n, x);
    return length > 0 ? 1e-5 * (size > 0 ? size : 1) / length : 0;
}

/* The rigid motion: its acceleration and multipliers, and what these add to K. */
static int solve(work *w, const double *force, const double *gamma, taut_error *error)
{
    const taut_potential_modes *modes = &w->modes;
    double e = small(w, w->at->v), *bent = w->acceleration;
    for (taut_index i = 0; i < w->m; i++)
        w->lambda[i] = modes->rigid[i] ? -gamma[i] : 0;
    if (e > 0) {
        TAUT_TRY(differentiate(w, w->at->v, e, error));
        taut_pattern_times(&modes->tangent, w->change, w->at->v, bent);
        for (int k = 0; k < w->rank; k++)
            w->lambda[w->m + k] =
                -taut_dot(w->n, modes->mode + (int64_t)k * w->n, bent) / modes->value[k];
    }
    taut_copy(w->n, force, w->acceleration);
    TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->acceleration, w->lambda, error));
    for (taut_index i = 0; i < w->m; i++)
        w->weight[i] = modes->rigid[i] ? w->lambda[i] : w->at->weight[i];
    double *y = w->modes.dx; /* free after the modes were found */
    taut_clear(w->n, y);
    for (int k = 0; k < w->rank; k++)
        taut_add_scaled(w->n, w->lambda[w->m + k] / modes->value[k],
                        modes->mode + (int64_t)k * w->n, y);
    taut_clear(modes->tangent.start[w->n], w->change);
    return small(w, y) > 0 ? differentiate(w, y, small(w, y), error) : TAUT_OK;
}

static int find(work *w, const double *force, const double *gamma, double *rate, taut_error *error)
{
    const taut_rigid_motion *at = w->at;
    TAUT_TRY(taut_potential_modes_create(&w->modes, at->context, &w->arena, true, error));
    TAUT_TRY(taut_potential_modes_modes(&w->modes, at->t, at->q, &w->rank, error));
    w->n = w->modes.n;
    w->m = w->modes.m;
    TAUT_TRY(reserve(w, error));
    form_rows(w);
    const taut_pattern *mass = w->modes.mass_pattern;
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->m + w->rank,
                               .g_start = w->start,
                               .g_column = w->column,
                               .k_start = mass ? mass->start : NULL,
                               .k_column = mass ? mass->column : NULL,
                               .symmetric = true,
                               .positive = true};
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &w->arena.allocator, &w->saddle, error));
    TAUT_TRY(taut_saddle_factor(w->saddle, at->mass, w->entry, NULL, w->d, error));
    TAUT_TRY(solve(w, force, gamma, error));
    taut_rigid_motion motion = *at;
    motion.acceleration = w->acceleration;
    motion.weight = w->weight;
    motion.curvature = w->change;
    motion.saddle = w->saddle;
    motion.rows = shape.m;
    return taut_slow_rate(&motion, rate, error);
}

int taut_slow_rate_potential(const taut_rigid_motion *at, const double *force, const double *gamma,
                             double *rate, taut_error *error)
{
    work w = {.at = at};
    taut_arena_init(&w.arena, &at->context->arena.allocator);
    int status = find(&w, force, gamma, rate, error);
    taut_saddle_destroy(w.saddle);
    taut_arena_clear(&w.arena);
    return status;
}
