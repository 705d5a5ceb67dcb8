/* modes.c - the stiff modes at a point, and the gradient of their frequencies (modes.h has the
 * definitions).
 *
 * S is formed by columns: spring i gives Z_i and y_i with  M Z_i + G_r^T y_i = G_i^T,  G_r Z_i =
 * 0,  and S_ij = G_i Z_j.
 *
 * Gradient. Omega^2 = w^T A w with w on all bonds is stationary in w_r, and in w_s under its
 * norm; so w may be held fixed,
 *
 *     2 Omega dOmega = d(w^T G M^-1 G^T w) = (2 H_w z - (d(M z)/dq)^T z) . dq,
 *     H_w = sum w_i Hess g_i, z = M^-1 G^T w   held fixed
 *
 * in the last term. Modes of one frequency are not determined: the sum over them exists when
 * they carry equal actions, or when all of them change equally, along the bonds at least. */
#include "system/modes/modes.h"

#include <math.h>
#include <string.h>

#include "base/reuse.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "system/singular.h"

static const double zero_mode = 1e-13; /* of the largest Omega^2: rounding */
static const double meeting = 1e-9;    /* relative distance at which two frequencies count as one */
enum { MOST_NUMBERS = 50000000 };      /* in the arrays of a work */

/* ---- making */

static int split(taut_modes_work *w, taut_error *error)
{
    const double *c = taut_context_compliance(w->context);
    w->spring = TAUT_NEW(w->arena, taut_index, w->m);
    w->rigid = TAUT_NEW(w->arena, taut_index, w->m);
    TAUT_NEED(error, w->spring, w->rigid);
    int64_t entries = 0;
    for (taut_index i = 0; i < w->m; i++)
        if (!(c[i] > 0)) {
            w->rigid[w->rigids++] = i;
            entries += w->jacobian.start[i + 1] - w->jacobian.start[i];
        } else if (!taut_context_soft(w->context, i)) {
            w->spring[w->springs++] = i;
        }
    w->rigid_start = TAUT_NEW(w->arena, taut_index, (int64_t)w->rigids + 1);
    w->rigid_column = TAUT_NEW(w->arena, taut_index, entries);
    w->rigid_g = TAUT_NEW(w->arena, double, entries);
    TAUT_NEED(error, w->rigid_start, w->rigid_column, w->rigid_g);
    for (taut_index i = 0, used = 0; i < w->rigids; i++) {
        for (taut_index e = w->jacobian.start[w->rigid[i]]; e < w->jacobian.start[w->rigid[i] + 1];
             e++)
            w->rigid_column[used++] = w->jacobian.column[e];
        w->rigid_start[i + 1] = used;
    }
    return 0;
}

static int refuse_large(const taut_modes_work *w, taut_error *error)
{
    if (w->springs <= TAUT_SPECTRUM_DENSE && (int64_t)w->springs * (w->n + w->m) <= MOST_NUMBERS)
        return 0;
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "modes and actions of %d springs in %d coordinates are too many (at most %d "
                     "springs): mark slow ones `soft`, or use the full motion",
                     w->springs, w->n, TAUT_SPECTRUM_DENSE);
}

static int reserve(taut_modes_work *w, const taut_sizes *sizes, bool gradient, taut_error *error)
{
    const int64_t p = w->springs;
    const int64_t entries = w->tangent.start ? w->tangent.start[w->n] : 0;
    taut_arena *arena = w->arena;
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->values.bond, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->jacobian_entries, error, &w->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, w->diagonal ? w->n : entries, error, &w->values.mass));
    TAUT_TRY(TAUT_RESERVE(arena, gradient ? entries : 0, error, &w->values.bond_hessian,
                          &w->values.mass_dq));
    TAUT_TRY(TAUT_RESERVE(arena, p * p, error, &w->matrix));
    TAUT_TRY(TAUT_RESERVE(arena, p, error, &w->square, &w->frequency, &w->blended));
    TAUT_TRY(TAUT_RESERVE(arena, p * w->n, error, &w->column, &w->shape));
    TAUT_TRY(TAUT_RESERVE(arena, p * w->m, error, &w->reaction, &w->weight));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->other, &w->force));
    TAUT_TRY(TAUT_RESERVE(arena, w->rigids, error, &w->held));
    w->keep = taut_reuse_allocator(arena);
    if (!w->keep.allocate)
        return taut_fail_memory(error);
    /* rehearsed once on the unit matrix, so that later calls find their memory */
    for (int64_t i = 0; i < p; i++)
        w->matrix[i * p + i] = 1;
    return taut_eigen_symmetric((int)p, w->matrix, w->square, error, &w->keep);
}

int taut_modes_create(taut_modes_work *w, taut_context *context, taut_arena *arena, bool gradient,
                      taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    *w = (taut_modes_work){.context = context,
                           .arena = arena,
                           .n = sizes.coordinates,
                           .m = sizes.bonds,
                           .diagonal = sizes.mass == TAUT_MASS_DIAGONAL,
                           .varying = sizes.mass == TAUT_MASS_VARYING};
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    if (gradient || !w->diagonal)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    TAUT_TRY(split(w, error));
    TAUT_TRY(refuse_large(w, error));
    TAUT_TRY(reserve(w, &sizes, gradient, error));
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->rigids,
                               .k_start = w->diagonal ? NULL : w->tangent.start,
                               .k_column = w->diagonal ? NULL : w->tangent.column,
                               .g_start = w->rigid_start,
                               .g_column = w->rigid_column,
                               .symmetric = true,
                               .positive = sizes.can & TAUT_CAN_INVERT_MASS};
    /* a context that has such a work does not destroy it, so nothing outside the arena may belong
     * to it */
    taut_backend backend =
        gradient && w->n + w->rigids > 16 ? TAUT_BACKEND_BANDED : TAUT_BACKEND_AUTO;
    return taut_saddle_create(&shape, backend, &arena->allocator, &w->saddle, error);
}

void taut_modes_destroy(taut_modes_work *w)
{
    taut_saddle_destroy(w->saddle);
    w->saddle = NULL;
}

/* ---- modes */

static double row_times(const taut_modes_work *w, taut_index i, const double *x)
{
    return taut_row_dot(&w->jacobian, w->values.jacobian, i, x);
}

static int factor(taut_modes_work *w, double t, taut_error *error)
{
    taut_singular parts = {.context = w->context,
                           .allocator = &w->arena->allocator,
                           .n = w->n,
                           .m = w->rigids,
                           .mass = w->values.mass,
                           .mass_start = w->diagonal ? NULL : w->tangent.start,
                           .start = w->rigid_start,
                           .column = w->rigid_column,
                           .jacobian = w->rigid_g,
                           .bond = w->rigid};
    int status = taut_saddle_factor(w->saddle, w->values.mass, w->rigid_g, NULL, NULL, error);
    return taut_singular_explain(&parts, status, t, "the modes cannot be found", error);
}

/* Z_i and y_i of every spring. */
static int find_columns(taut_modes_work *w, double t, taut_error *error)
{
    for (taut_index i = 0, used = 0; i < w->rigids; i++)
        for (taut_index e = w->jacobian.start[w->rigid[i]]; e < w->jacobian.start[w->rigid[i] + 1];
             e++)
            w->rigid_g[used++] = w->values.jacobian[e];
    TAUT_TRY(factor(w, t, error));
    taut_clear((int64_t)w->springs * w->n, w->column);
    taut_clear((int64_t)w->springs * w->rigids, w->reaction);
    for (taut_index i = 0; i < w->springs; i++)
        taut_row_add(&w->jacobian, w->values.jacobian, w->spring[i], 1,
                     w->column + (int64_t)i * w->n);
    return w->springs ? taut_saddle_solve(w->saddle, w->springs, w->column, w->reaction, error) : 0;
}

static void form_matrix(taut_modes_work *w, const double *c)
{
    const int64_t p = w->springs;
    for (taut_index i = 0; i < p; i++)
        for (taut_index j = 0; j <= i; j++) {
            double ij = row_times(w, w->spring[i], w->column + (int64_t)j * w->n);
            double ji = i == j ? ij : row_times(w, w->spring[j], w->column + (int64_t)i * w->n);
            double scaled = (ij + ji) / 2 / sqrt(c[w->spring[i]] * c[w->spring[j]]);
            w->matrix[i * p + j] = w->matrix[j * p + i] = scaled;
        }
}

/* w and z of mode k from eigenvector s: w_s = C^-1/2 s, w_r = -sum s_i y_i, z = sum w_i Z_i. */
static void form_mode(taut_modes_work *w, const double *c, int k, const double *s)
{
    double *weight = w->weight + (int64_t)k * w->m, *shape = w->shape + (int64_t)k * w->n;
    taut_clear(w->m, weight);
    taut_clear(w->n, shape);
    for (taut_index i = 0; i < w->springs; i++) {
        double x = s[i] / sqrt(c[w->spring[i]]);
        weight[w->spring[i]] = x;
        for (taut_index r = 0; r < w->rigids; r++)
            weight[w->rigid[r]] -= x * w->reaction[(int64_t)i * w->rigids + r];
        taut_add_scaled(w->n, x, w->column + (int64_t)i * w->n, shape);
    }
}

int taut_modes_find(taut_modes_work *w, double t, const double *q, taut_error *error)
{
    const double *c = taut_context_compliance(w->context);
    const int p = w->springs;
    w->count = 0;
    TAUT_TRY(taut_evaluate_inside(w->context, t, q, NULL,
                                  TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS, &w->values,
                                  error));
    TAUT_TRY(find_columns(w, t, error));
    form_matrix(w, c);
    TAUT_TRY(taut_eigen_symmetric(p, w->matrix, w->square, error, &w->keep));
    for (int k = 0; k < p; k++) {
        if (!(w->square[k] > zero_mode * w->square[p - 1]))
            continue;
        w->frequency[w->count] = sqrt(w->square[k]);
        form_mode(w, c, w->count++, w->matrix + (int64_t)k * p);
    }
    return 0;
}

void taut_modes_amplitude(const taut_modes_work *w, int k, const double *v, double *p, double *pdot)
{
    const double *weight = w->weight + (int64_t)k * w->m;
    double stretch = 0, rate = 0;
    for (taut_index s = 0; s < w->springs; s++) {
        taut_index i = w->spring[s];
        stretch += weight[i] * w->values.bond[i];
        rate += weight[i] * (w->values.bond_dt[i] + (v ? row_times(w, i, v) : 0));
    }
    *p = stretch / w->frequency[k];
    *pdot = rate / w->frequency[k];
}

/* ---- gradient */

/* Do modes j-1 and j have one frequency? */
static bool meet(const taut_modes_work *w, int j)
{
    return w->frequency[j] - w->frequency[j - 1] <= meeting * w->frequency[j];
}

bool taut_modes_blend(const taut_modes_work *w, const double *action, double *blended)
{
    bool differ = false;
    for (int k = 0, end; k < w->count; k = end) {
        double sum = 0;
        for (end = k; end == k || (end < w->count && meet(w, end)); end++)
            sum += action[end];
        for (int j = k; j < end; j++) {
            blended[j] = sum / (end - k);
            differ = differ || (end - k > 1 && blended[j] != action[j]);
        }
    }
    return differ;
}

/* gradient += factor (2 H z - (d(M z)/dq)^T z) */
static void add_mode(const taut_modes_work *w, double factor, const double *z, double *gradient)
{
    for (taut_index i = 0; i < w->n; i++) {
        double sum = 0;
        for (taut_index e = w->tangent.start[i]; e < w->tangent.start[i + 1]; e++) {
            taut_index j = w->tangent.column[e];
            sum += 2 * w->values.bond_hessian[e] * z[j];
            if (w->varying)
                gradient[j] -= factor * w->values.mass_dq[e] * z[i];
        }
        gradient[i] += factor * sum;
    }
}

static int sum_gradients(taut_modes_work *w, double t, const double *q, const double *action,
                         double *gradient, taut_error *error)
{
    unsigned wanted = TAUT_WANT_BOND_HESSIAN | (w->varying ? TAUT_WANT_MASS_DQ : 0);
    taut_clear(w->n, gradient);
    for (int k = 0; k < w->count; k++) {
        if (action[k] == 0)
            continue;
        w->values.bond_weight = w->weight + (int64_t)k * w->m;
        w->values.mass_weight = w->shape + (int64_t)k * w->n;
        TAUT_TRY(taut_evaluate_inside(w->context, t, q, NULL, wanted, &w->values, error));
        add_mode(w, action[k] / (2 * w->frequency[k]), w->shape + (int64_t)k * w->n, gradient);
    }
    return 0;
}

/* How much of w->force moves the system along all of its bonds: *along and *all are the largest
 * accelerations that springs and rigid bonds leave, and that rigid bonds alone leave. x = M^-1
 * (force - G_r^T y) loses sum_k z_k (z_k^T M x)/Omega_k^2, and z_k^T M x = w_k^T G_s x. */
static int measure_force(taut_modes_work *w, double *along, double *all, taut_error *error)
{
    double *x = w->force;
    *along = *all = 0;
    taut_clear(w->rigids, w->held);
    TAUT_TRY(taut_saddle_solve(w->saddle, 1, x, w->held, error));
    *all = taut_largest(w->n, x);
    for (int k = 0; k < w->count; k++) { /* one after the other: they are orthogonal */
        const double *weight = w->weight + (int64_t)k * w->m, *shape = w->shape + (int64_t)k * w->n;
        double part = 0;
        for (taut_index s = 0; s < w->springs; s++)
            part += weight[w->spring[s]] * row_times(w, w->spring[s], x);
        taut_add_scaled(w->n, -part / (w->frequency[k] * w->frequency[k]), shape, x);
    }
    *along = taut_largest(w->n, x);
    return 0;
}

int taut_modes_gradient(taut_modes_work *w, double t, const double *q, const double *action,
                        double *gradient, taut_error *error)
{
    TAUT_TRY(sum_gradients(w, t, q, action, gradient, error));
    if (!taut_modes_blend(w, action, w->blended))
        return 0;
    /* the modes of one frequency are an arbitrary choice: does it matter? */
    double along, all;
    TAUT_TRY(sum_gradients(w, t, q, w->blended, w->other, error));
    if (taut_largest_difference(w->n, gradient, w->other) <=
        1e-6 * fmax(taut_largest(w->n, gradient), taut_largest(w->n, w->other)))
        return 0;
    for (taut_index i = 0; i < w->n; i++)
        w->force[i] = gradient[i] - w->other[i];
    TAUT_TRY(measure_force(w, &along, &all, error));
    if (along <= 1e-6 * all) {
        taut_copy(w->n, w->other, gradient);
        return 0;
    }
    int code = taut_fail(error, TAUT_ERROR_EVALUATE,
                         "frequencies of stiff modes meet at t = %.9g: their actions are not kept "
                         "there, and the effective motion ends; use the full motion",
                         t);
    if (error)
        error->t = t;
    return code;
}
