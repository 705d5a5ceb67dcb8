/* modes.c - the stiff modes at a point, and the gradient of their frequencies (modes.h has the
 * definitions).
 *
 * Without rigid bonds, and with a diagonal mass, S is G M^-1 G^T, a band matrix in each group.
 * Otherwise it is formed by columns: spring i gives Z_i and y_i with  M Z_i + G_r^T y_i = G_i^T,
 * G_r Z_i = 0,  and S_ij = G_i Z_j. One solution, and one evaluation for the gradient, serves one
 * spring or mode of every group: their number is that of the largest group.
 *
 * Gradient. Omega^2 = w^T A w with w on all bonds is stationary in w_r, and in w_s under its
 * norm; so w may be held fixed,
 *
 *     2 Omega dOmega = d(w^T G M^-1 G^T w) = (2 H_w z - (d(M z)/dq)^T z) . dq,
 *     H_w = sum w_i Hess g_i, z = M^-1 G^T w   held fixed
 *
 * in the last term. H_w z = (dG(q + s z)/ds)^T w is a coefficient of a jet, which needs no pattern
 * of second derivatives; systems without jets have the Hessians. Without rigid bonds the sum over
 * the modes needs only the entries of one matrix for bonds that share coordinates,
 *
 *     sum_k J_k dOmega_k = sum_i (Hess g_i y_i) . dq,   y_i = sum_j F_ij M^-1 G_j^T,
 *     F = sum_k J_k/Omega_k w_k w_k^T
 *
 * and one evaluation along a direction serves all bonds that do not touch one another: a chain of
 * any length takes two. Modes of one frequency are not
 * determined: the sum over them exists when they carry equal actions, or when all of them change
 * equally, along the bonds at least. Different groups have nothing to do with each other. */
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

static int take_rigid(taut_modes_work *w, taut_error *error)
{
    int64_t entries = 0;
    for (taut_index i = 0; i < w->rigids; i++)
        entries += w->jacobian.start[w->rigid[i] + 1] - w->jacobian.start[w->rigid[i]];
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

static int refuse_large(const taut_modes_work *w, int most, taut_error *error)
{
    double numbers = 0;
    for (taut_index g = 0; g < w->groups; g++)
        numbers += (double)w->group[g].springs *
                   (w->group[g].springs + (w->direct ? 0 : w->group[g].n + w->group[g].rigids));
    if (w->largest <= most && numbers <= MOST_NUMBERS)
        return 0;
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "modes and actions of %d springs that are connected are too many (at most %d, "
                     "and %d numbers in all): mark slow ones `soft`, or use the full motion",
                     w->largest, most, MOST_NUMBERS);
}

static bool is_narrow(const taut_modes_work *w, const taut_mode_group *g)
{
    enum { PART = 16 }; /* of the springs: wider bands take longer than dense matrices */
    return w->direct && g->springs > TAUT_MODES_SMALL && g->half_width <= g->springs / PART;
}

/* Scaled by C^-1/2: values and vectors of S, the latter by rows in g->matrix. */
static int find_vectors(taut_modes_work *w, taut_mode_group *g, taut_error *error)
{
    if (is_narrow(w, g))
        return taut_eigen_band(g->springs, g->half_width, w->band, w->square, g->matrix, error,
                               &w->keep);
    return taut_eigen_symmetric(g->springs, g->matrix, w->square, error, &w->keep);
}

/* Once on the unit matrix, so that later calls find their memory. */
static int rehearse(taut_modes_work *w, taut_mode_group *g, taut_error *error)
{
    const int64_t p = g->springs, b = g->half_width;
    for (int64_t i = 0; i < p; i++) {
        g->matrix[i * p + i] = 1;
        if (is_narrow(w, g))
            w->band[i * (b + 1)] = (double)i;
    }
    return find_vectors(w, g, error);
}

static int reserve_group(taut_modes_work *w, taut_mode_group *g, taut_error *error)
{
    const int64_t p = g->springs;
    if (w->direct) {
        TAUT_TRY(TAUT_RESERVE(w->arena, p * p, error, &g->matrix));
        g->weight = g->matrix;
        return rehearse(w, g, error);
    }
    /* one piece of memory, since there may be thousands of groups */
    TAUT_TRY(TAUT_RESERVE(w->arena, 2 * p * (p + g->n + g->rigids), error, &g->matrix));
    g->column = g->matrix + p * p;
    g->shape = g->column + p * g->n;
    g->reaction = g->shape + p * g->n;
    g->weight = g->reaction + p * g->rigids;
    return rehearse(w, g, error);
}

static int reserve(taut_modes_work *w, const taut_sizes *sizes, bool gradient, taut_error *error)
{
    const bool hessian = gradient && !(sizes->can & TAUT_CAN_JETS);
    const int64_t entries = w->tangent.start ? w->tangent.start[w->n] : 0;
    int64_t band = 0;
    taut_arena *arena = w->arena;
    w->rounds = w->direct ? 1 : w->largest;
    for (taut_index g = 0; g < w->groups; g++) {
        if (w->direct && w->group[g].half_width >= w->rounds)
            w->rounds = w->group[g].half_width + 1;
        const int64_t needs = w->group[g].springs * ((int64_t)w->group[g].half_width + 1);
        band = is_narrow(w, &w->group[g]) && needs > band ? needs : band;
    }
    TAUT_TRY(TAUT_RESERVE(arena, band, error, &w->band));
    TAUT_TRY(TAUT_RESERVE(arena, w->direct ? sizes->jacobian_entries : 0, error, &w->over));
    TAUT_TRY(TAUT_RESERVE(arena, w->largest, error, &w->share));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->values.bond, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->jacobian_entries, error, &w->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, w->diagonal ? w->n : entries, error, &w->values.mass));
    TAUT_TRY(TAUT_RESERVE(arena, hessian ? entries : 0, error, &w->values.bond_hessian));
    TAUT_TRY(TAUT_RESERVE(arena, gradient && w->varying ? entries : 0, error, &w->values.mass_dq));
    TAUT_TRY(TAUT_RESERVE(arena, w->springs, error, &w->frequency, &w->blended));
    TAUT_TRY(TAUT_RESERVE(arena, w->largest, error, &w->square));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->other, &w->force));
    TAUT_TRY(
        TAUT_RESERVE(arena, TAUT_MODES_TOGETHER * (int64_t)w->n, error, &w->direction, &w->scaled));
    TAUT_TRY(TAUT_RESERVE(arena, TAUT_MODES_TOGETHER * (int64_t)w->m, error, &w->bond_weight));
    TAUT_TRY(TAUT_RESERVE(arena, w->rigids, error, &w->held));
    w->owner = TAUT_NEW(arena, int, w->springs);
    w->keep = taut_reuse_allocator(arena);
    if (!w->owner || !w->keep.allocate)
        return taut_fail_memory(error);
    for (taut_index g = 0; g < w->groups; g++)
        TAUT_TRY(reserve_group(w, &w->group[g], error));
    return gradient && !hessian ? taut_jet_create_along(w->context, &w->jet, error) : TAUT_OK;
}

int taut_modes_create(taut_modes_work *w, taut_context *context, taut_arena *arena,
                      taut_modes_for purpose, int most, taut_error *error)
{
    const bool gradient = purpose != TAUT_MODES_ALONE;
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
    if (!w->diagonal || (gradient && !(sizes.can & TAUT_CAN_JETS)))
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    TAUT_TRY(taut_mode_groups_find(w, error));
    w->direct = w->diagonal && w->rigids == 0 && (sizes.can & TAUT_CAN_INVERT_MASS) &&
                purpose != TAUT_MODES_SHAPES;
    TAUT_TRY(take_rigid(w, error));
    TAUT_TRY(refuse_large(w, most, error));
    TAUT_TRY(reserve(w, &sizes, gradient, error));
    if (w->direct)
        return TAUT_OK;
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

/* Instructions over 3.5, counted for a pendulum, water molecules and chains of 20 to 300. */
double taut_modes_cost(const taut_modes_work *w)
{
    static const double EACH = 800, SQUARE = 150, CUBE = 10;
    double sum = 0;
    for (taut_index k = 0; k < w->groups; k++) {
        const taut_mode_group *g = &w->group[k];
        const double p = g->springs;
        sum += EACH * p + (is_narrow(w, g) ? SQUARE * g->half_width * p * p : CUBE * p * p * p);
    }
    return sum;
}

void taut_modes_destroy(taut_modes_work *w)
{
    taut_saddle_destroy(w->saddle);
    taut_jet_destroy(w->jet);
    w->saddle = NULL;
    w->jet = NULL;
}

/* ---- modes */

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

/* Z_i and y_i of one spring of every group that has as many; together, since they share no
 * coordinate. */
static int find_columns(taut_modes_work *w, taut_index i, taut_error *error)
{
    taut_clear(w->n, w->other);
    taut_clear(w->rigids, w->held);
    for (taut_index g = 0; g < w->groups; g++)
        if (i < w->group[g].springs)
            taut_row_add(&w->jacobian, w->values.jacobian, w->group[g].spring[i], 1, w->other);
    TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->other, w->held, error));
    for (taut_index r = 0; r < w->rigids; r++) /* by bonds, for the groups */
        w->bond_weight[w->rigid[r]] = w->held[r];
    for (taut_index g = 0; g < w->groups; g++) {
        taut_mode_group *group = &w->group[g];
        for (taut_index k = 0; i < group->springs && k < group->n; k++)
            group->column[(int64_t)i * group->n + k] = w->other[group->coordinate[k]];
        for (taut_index r = 0; i < group->springs && r < group->rigids; r++)
            group->reaction[(int64_t)i * group->rigids + r] = w->bond_weight[group->rigid[r]];
    }
    return TAUT_OK;
}

static int solve(taut_modes_work *w, double t, taut_error *error)
{
    for (taut_index i = 0, used = 0; i < w->rigids; i++)
        for (taut_index e = w->jacobian.start[w->rigid[i]]; e < w->jacobian.start[w->rigid[i] + 1];
             e++)
            w->rigid_g[used++] = w->values.jacobian[e];
    TAUT_TRY(factor(w, t, error));
    for (taut_index i = 0; i < w->largest; i++)
        TAUT_TRY(find_columns(w, i, error));
    return TAUT_OK;
}

/* G_i x, x on the coordinates of the group */
static double row_times(const taut_modes_work *w, taut_index i, const double *x)
{
    double sum = 0;
    for (taut_index e = w->jacobian.start[i]; e < w->jacobian.start[i + 1]; e++)
        sum += w->values.jacobian[e] * x[w->local[w->jacobian.column[e]]];
    return sum;
}

static void form_matrix(const taut_modes_work *w, const taut_mode_group *g, const double *c)
{
    const int64_t p = g->springs;
    for (taut_index i = 0; i < p; i++)
        for (taut_index j = 0; j <= i; j++) {
            double ij = row_times(w, g->spring[i], g->column + (int64_t)j * g->n);
            double ji = i == j ? ij : row_times(w, g->spring[j], g->column + (int64_t)i * g->n);
            double scaled = (ij + ji) / 2 / sqrt(c[g->spring[i]] * c[g->spring[j]]);
            g->matrix[i * p + j] = g->matrix[j * p + i] = scaled;
        }
}

/* Entries of S at distances up to the half-width. */
static void form_band(taut_modes_work *w, const taut_mode_group *g, const double *c)
{
    const int64_t p = g->springs, b = g->half_width;
    const bool narrow = is_narrow(w, g);
    const taut_pattern *a = &w->jacobian;
    const double *entry = w->values.jacobian;
    if (!narrow)
        taut_clear(p * p, g->matrix);
    for (taut_index i = 0; i < g->n; i++)
        w->force[g->coordinate[i]] = 0;
    for (int64_t j = 0; j < p; j++) { /* w->force is 0 in between */
        const taut_index bond = g->spring[j];
        taut_row_add(a, w->over, bond, 1, w->force);
        for (int64_t i = j; i <= j + b && i < p; i++) {
            const double ij =
                taut_row_dot(a, entry, g->spring[i], w->force) / sqrt(c[g->spring[i]] * c[bond]);
            if (narrow)
                w->band[j * (b + 1) + i - j] = ij;
            else
                g->matrix[i * p + j] = g->matrix[j * p + i] = ij;
        }
        for (taut_index e = a->start[bond]; e < a->start[bond + 1]; e++)
            w->force[a->column[e]] = 0;
    }
}

/* w and z of mode k from eigenvector s: w_s = C^-1/2 s, w_r = -sum s_i y_i, z = sum w_i Z_i. */
static void form_mode(const taut_mode_group *g, const double *c, int k, const double *s)
{
    const taut_index bonds = g->springs + g->rigids;
    double *weight = g->weight + (int64_t)k * bonds;
    if (!g->shape) { /* vectors become weights in their place, or earlier */
        for (taut_index i = 0; i < g->springs; i++)
            weight[i] = s[i] / sqrt(c[g->spring[i]]);
        return;
    }
    double *shape = g->shape + (int64_t)k * g->n;
    taut_clear(bonds, weight);
    taut_clear(g->n, shape);
    for (taut_index i = 0; i < g->springs; i++) {
        double x = s[i] / sqrt(c[g->spring[i]]);
        weight[i] = x;
        taut_add_scaled(g->rigids, -x, g->reaction + (int64_t)i * g->rigids, weight + g->springs);
        taut_add_scaled(g->n, x, g->column + (int64_t)i * g->n, shape);
    }
}

static int find_group(taut_modes_work *w, taut_index number, taut_error *error)
{
    const double *c = taut_context_compliance(w->context);
    taut_mode_group *g = &w->group[number];
    const int p = g->springs;
    g->first = w->count;
    g->count = 0;
    if (w->direct)
        form_band(w, g, c);
    else
        form_matrix(w, g, c);
    TAUT_TRY(find_vectors(w, g, error));
    for (int k = 0; k < p; k++) {
        if (!(w->square[k] > zero_mode * w->square[p - 1]))
            continue;
        w->frequency[w->count] = sqrt(w->square[k]);
        w->owner[w->count++] = number;
        form_mode(g, c, g->count++, g->matrix + (int64_t)k * p);
    }
    return TAUT_OK;
}

int taut_modes_find(taut_modes_work *w, double t, const double *q, taut_error *error)
{
    w->count = 0;
    TAUT_TRY(taut_evaluate_inside(w->context, t, q, NULL,
                                  TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS, &w->values,
                                  error));
    if (!w->direct)
        TAUT_TRY(solve(w, t, error));
    for (taut_index e = 0; w->direct && e < w->jacobian.start[w->m]; e++)
        w->over[e] = w->values.jacobian[e] / w->values.mass[w->jacobian.column[e]];
    for (taut_index g = 0; g < w->groups; g++)
        TAUT_TRY(find_group(w, g, error));
    return 0;
}

const double *taut_modes_weight(const taut_modes_work *w, int k)
{
    const taut_mode_group *g = &w->group[w->owner[k]];
    return g->weight + (int64_t)(k - g->first) * (g->springs + g->rigids);
}

void taut_modes_amplitude(const taut_modes_work *w, int k, const double *v, double *p, double *pdot)
{
    const taut_mode_group *g = &w->group[w->owner[k]];
    const double *weight = taut_modes_weight(w, k);
    double stretch = 0, rate = 0;
    for (taut_index s = 0; s < g->springs; s++) {
        taut_index i = g->spring[s];
        double moves = v ? taut_row_dot(&w->jacobian, w->values.jacobian, i, v) : 0;
        stretch += weight[s] * w->values.bond[i];
        rate += weight[s] * (w->values.bond_dt[i] + moves);
    }
    *p = stretch / w->frequency[k];
    *pdot = rate / w->frequency[k];
}

/* ---- gradient */

/* Do modes j-1 and j have one frequency? Those of different groups do not touch. */
static bool meet(const taut_modes_work *w, int j)
{
    return w->owner[j] == w->owner[j - 1] &&
           w->frequency[j] - w->frequency[j - 1] <= meeting * w->frequency[j];
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

/* Modes k .. k + TAUT_MODES_TOGETHER - 1 of every group that has them: -2 f w, z and f z,
 * f = J/(2 Omega). Returns how many there are up to the last one with an action. */
static int take_modes(taut_modes_work *w, int k, const double *action)
{
    int taken = 0;
    taut_clear(TAUT_MODES_TOGETHER * (int64_t)w->m, w->bond_weight);
    taut_clear(TAUT_MODES_TOGETHER * (int64_t)w->n, w->direction);
    for (taut_index number = 0; number < w->groups; number++) {
        const taut_mode_group *g = &w->group[number];
        for (int j = k; j < g->count && j < k + TAUT_MODES_TOGETHER; j++) {
            const int mode = g->first + j;
            const double *weight = taut_modes_weight(w, mode),
                         *shape = g->shape + (int64_t)j * g->n,
                         f = action[mode] / (2 * w->frequency[mode]);
            double *to = w->bond_weight + (j - k) * (int64_t)w->m,
                   *z = w->direction + (j - k) * (int64_t)w->n,
                   *scaled = w->scaled + (j - k) * (int64_t)w->n;
            if (action[mode] == 0)
                continue;
            for (taut_index i = 0; i < g->springs; i++)
                to[g->spring[i]] = -2 * f * weight[i];
            for (taut_index i = 0; i < g->rigids; i++)
                to[g->rigid[i]] = -2 * f * weight[g->springs + i];
            for (taut_index i = 0; i < g->n; i++) {
                z[g->coordinate[i]] = shape[i];
                scaled[g->coordinate[i]] = f * shape[i];
            }
            taken = j - k + 1 > taken ? j - k + 1 : taken;
        }
    }
    return taken;
}

/* y_i on the coordinates of spring `at` of a group. */
static void find_direction(const taut_modes_work *w, const taut_mode_group *g, taut_index at,
                           double *y)
{
    const taut_pattern *a = &w->jacobian;
    const taut_index p = g->springs, first = at > g->half_width ? at - g->half_width : 0,
                     end = at + g->half_width < p ? at + g->half_width + 1 : p;
    for (taut_index j = first; j < end; j++) {
        double f = 0;
        for (int k = 0; k < g->count; k++)
            f += w->share[k] * g->weight[(int64_t)k * p + at] * g->weight[(int64_t)k * p + j];
        taut_row_add(a, w->over, g->spring[j], f, w->force);
    }
    for (taut_index e = a->start[g->spring[at]]; e < a->start[g->spring[at] + 1]; e++)
        y[a->column[e]] = w->force[a->column[e]];
    for (taut_index i = 0; i < g->n && p <= TAUT_MODES_SMALL; i++)
        w->force[g->coordinate[i]] = 0;
    for (taut_index j = first; j < end && p > TAUT_MODES_SMALL; j++)
        for (taut_index e = a->start[g->spring[j]]; e < a->start[g->spring[j] + 1]; e++)
            w->force[a->column[e]] = 0;
}

/* Springs k .. k + TAUT_MODES_TOGETHER - 1 of every half_width + 1 that follow each other. Where
 * that is all of them, the same places are written each time. */
static int take_springs(taut_modes_work *w, int k, const double *action)
{
    const int rest = w->rounds - k, count = rest < TAUT_MODES_TOGETHER ? rest : TAUT_MODES_TOGETHER;
    if (w->rounds > count) {
        taut_clear(count * (int64_t)w->m, w->bond_weight);
        taut_clear(count * (int64_t)w->n, w->direction);
    }
    taut_clear(w->n, w->force);
    for (taut_index number = 0; number < w->groups; number++) {
        const taut_mode_group *g = &w->group[number];
        for (int j = 0; j < g->count; j++)
            w->share[j] = action[g->first + j] / w->frequency[g->first + j];
        for (taut_index i = 0; i < g->springs; i++) {
            const int j = i % (g->half_width + 1) - k;
            if (j < 0 || j >= count)
                continue;
            find_direction(w, g, i, w->direction + j * (int64_t)w->n);
            w->bond_weight[j * (int64_t)w->m + g->spring[i]] = -1;
        }
    }
    return count;
}

/* gradient += f (2 H_w z - (d(M z)/dq)^T z) of these modes */
static int add_modes(taut_modes_work *w, double t, const double *q, int count, double *gradient,
                     taut_error *error)
{
    unsigned wanted = (w->jet ? 0 : TAUT_WANT_BOND_HESSIAN) | (w->varying ? TAUT_WANT_MASS_DQ : 0);
    if (w->jet)
        taut_jet_along(w->jet, t, q, count, w->direction, w->bond_weight, gradient);
    for (int j = 0; j < count && wanted; j++) {
        const double *z = w->direction + j * (int64_t)w->n;
        w->values.bond_weight = w->bond_weight + j * (int64_t)w->m;
        w->values.mass_weight = w->scaled + j * (int64_t)w->n;
        TAUT_TRY(taut_evaluate_inside(w->context, t, q, NULL, wanted, &w->values, error));
        if (!w->jet)
            taut_pattern_add(&w->tangent, w->values.bond_hessian, -1, z, gradient);
        if (w->varying)
            taut_pattern_add_transposed(&w->tangent, w->values.mass_dq, -1, z, gradient);
    }
    return TAUT_OK;
}

int taut_modes_sum(taut_modes_work *w, double t, const double *q, const double *action,
                   double *gradient, taut_error *error)
{
    taut_clear(w->n, gradient);
    for (int k = 0; k < w->rounds; k += TAUT_MODES_TOGETHER) {
        const int count = w->direct ? take_springs(w, k, action) : take_modes(w, k, action);
        if (count > 0)
            TAUT_TRY(add_modes(w, t, q, count, gradient, error));
    }
    return TAUT_OK;
}

/* How much of w->force moves the system along all of its bonds: *along and *all are the largest
 * accelerations that springs and rigid bonds leave, and that rigid bonds alone leave. x = M^-1
 * (force - G_r^T y) loses sum_k z_k (z_k^T M x)/Omega_k^2, and z_k^T M x = w_k^T G_s x. */
static int measure_force(taut_modes_work *w, double *along, double *all, taut_error *error)
{
    double *x = w->force;
    *along = *all = 0;
    taut_clear(w->rigids, w->held);
    for (taut_index i = 0; w->direct && i < w->n; i++)
        x[i] /= w->values.mass[i];
    if (!w->direct)
        TAUT_TRY(taut_saddle_solve(w->saddle, 1, x, w->held, error));
    *all = taut_largest(w->n, x);
    for (int k = 0; k < w->count; k++) { /* one after the other: they are orthogonal */
        const taut_mode_group *g = &w->group[w->owner[k]];
        const double *weight = taut_modes_weight(w, k);
        const int64_t first = (int64_t)(k - g->first) * g->n; /* of its shape */
        double part = 0;
        for (taut_index s = 0; s < g->springs; s++)
            part += weight[s] * taut_row_dot(&w->jacobian, w->values.jacobian, g->spring[s], x);
        part /= w->frequency[k] * w->frequency[k];
        for (taut_index i = 0; i < g->n && !w->direct; i++)
            x[g->coordinate[i]] -= part * g->shape[first + i];
        for (taut_index s = 0; s < g->springs && w->direct; s++)
            taut_row_add(&w->jacobian, w->over, g->spring[s], -part * weight[s], x);
    }
    *along = taut_largest(w->n, x);
    return 0;
}

int taut_modes_gradient(taut_modes_work *w, double t, const double *q, const double *action,
                        double *gradient, taut_error *error)
{
    TAUT_TRY(taut_modes_sum(w, t, q, action, gradient, error));
    if (!taut_modes_blend(w, action, w->blended))
        return 0;
    /* the modes of one frequency are an arbitrary choice: does it matter? */
    double along, all;
    TAUT_TRY(taut_modes_sum(w, t, q, w->blended, w->other, error));
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
