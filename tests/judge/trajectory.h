/* trajectory.h - trajectories that owe nothing to the methods they judge.
 *
 * An integrator of its own: Gragg's modified midpoint rule, extrapolated over 2, 4, ..., 12
 * substeps to order 12 (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I,
 * II.9), adaptive, on accelerations formed here with dense elimination from what the system
 * answers about itself (f, g, G, gamma, M):
 *
 *     full    M a = f - G^T C^-1 (g + T gdot) - scale grad V, rigid bonds by [M G^T; G 0]:
 *     every oscillation resolved
 *     rigid   the same with every bond that is not soft rigid
 *     field   a of the slow multipliers lambda^(k) (src/slow/multiplier_recursion.c),
 *     k raised until it changes nothing: the explicit slow field
 *     rates   z' = f(t, z) of first-order systems
 *
 * Nothing of src/step, src/wrap, src/drive or src/linalg is used, but linalg inside the
 * recursion. */
#ifndef TAUT_TESTS_JUDGE_TRAJECTORY_H
#define TAUT_TESTS_JUDGE_TRAJECTORY_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <taut/taut.h>

#include "base/memory.h"
#include "slow/multiplier_recursion.h"

typedef enum judge_kind { JUDGE_FULL, JUDGE_RIGID, JUDGE_FIELD, JUDGE_RATES } judge_kind;

typedef struct judge {
    judge_kind kind;
    taut_system *system; /* not owned */
    taut_context *context;
    taut_sizes sizes;
    taut_arena arena;
    taut_index n, m, rods;
    taut_pattern jacobian, tangent;
    taut_values values;
    unsigned wanted;
    const double *c, *tau;
    taut_index *rod;   /* [rigid bonds] bonds */
    taut_index *order; /* of elimination */
    /* dense: A = G M^-1 G^T of the rigid bonds for a diagonal mass, else [M G^T; G 0] */
    double *matrix, *right;
    double *lambda, *seen; /* [m]: of rigid bonds, in their order; of all */
    taut_multiplier_recursion *recursion;
    taut_statistics statistics;
    int level;
    double *work; /* of the integrator */
    int64_t evaluations;
    /* may be NULL: of judge_march, the largest |y_i| and |lambda_i| at ends of steps,
     * [dim + m] */
    double *most;
    double longest; /* step of judge_march, 0: any */
    /* may be NULL: adds a force to force[n] at (t, q) */
    int (*more)(void *user, double t, const double *q, double *force);
    void *user;
} judge;

static inline double *judge_new(judge *j, int64_t count)
{
    return TAUT_NEW(&j->arena, double, count + 1);
}

static inline int judge_create(judge *j, judge_kind kind, taut_system *system)
{
    taut_error error;
    *j = (judge){.kind = kind, .system = system};
    taut_arena_init(&j->arena, NULL);
    taut_sizes_init(&j->sizes);
    taut_system_sizes_get(system, &j->sizes, NULL);
    const taut_sizes *z = &j->sizes;
    taut_index n = j->n = z->coordinates, m = j->m = z->bonds;
    bool first = z->kind != TAUT_MECHANICAL;
    if (taut_context_create(system, NULL, &j->context, &error) != 0)
        return error.code;
    taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &j->jacobian, &error);
    if (z->mass != TAUT_MASS_DIAGONAL) {
        taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &j->tangent, &error);
    }
    j->c = taut_context_compliance(j->context);
    j->tau = taut_context_damping(j->context);
    j->rod = TAUT_NEW(&j->arena, taut_index, m + 1);
    j->order = TAUT_NEW(&j->arena, taut_index, m + 1);
    for (taut_index i = 0; !first && i < m; i++)
        if (j->c[i] == 0 || (kind == JUDGE_RIGID && !taut_context_soft(j->context, i)))
            j->rod[j->rods++] = i;
    int64_t side = z->mass == TAUT_MASS_DIAGONAL ? j->rods : n + j->rods;
    j->matrix = judge_new(j, side * side);
    j->right = judge_new(j, n + m);
    j->lambda = judge_new(j, m);
    j->seen = judge_new(j, m);
    j->work = judge_new(j, 2 * (int64_t)n * 16);
    j->values = (taut_values){.size = sizeof(taut_values),
                              .force = judge_new(j, n),
                              .bond = judge_new(j, m),
                              .bond_dt = judge_new(j, m),
                              .gamma = judge_new(j, m),
                              .jacobian = judge_new(j, z->jacobian_entries),
                              .stiff_force = judge_new(j, n),
                              .mass = judge_new(j, j->tangent.start ? j->tangent.start[n] : n)};
    j->wanted = first ? TAUT_WANT_FORCE
                      : TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN |
                            (j->rods > 0 ? TAUT_WANT_GAMMA : 0) |
                            (z->can & TAUT_HAS_STIFF_POTENTIAL ? TAUT_WANT_STIFF_FORCE : 0) |
                            TAUT_WANT_MASS;
    return 0;
}

static inline void judge_destroy(judge *j)
{
    if (j->recursion)
        taut_multiplier_recursion_destroy(j->recursion);
    taut_context_destroy(j->context);
    taut_arena_clear(&j->arena);
    *j = (judge){0};
}

/* x <- A^-1 x by elimination with row exchanges; A is destroyed. */
static inline int judge_eliminate(taut_index n, double *a, double *x)
{
    for (taut_index k = 0; k < n; k++) {
        taut_index pivot = k;
        for (taut_index i = k + 1; i < n; i++)
            if (fabs(a[(int64_t)i * n + k]) > fabs(a[(int64_t)pivot * n + k]))
                pivot = i;
        double *top = a + (int64_t)k * n, *other = a + (int64_t)pivot * n;
        if (other[k] == 0 || !isfinite(other[k]))
            return -1;
        for (taut_index c = k; pivot != k && c < n; c++) {
            double keep = top[c];
            top[c] = other[c];
            other[c] = keep;
        }
        double keep = x[k];
        x[k] = x[pivot];
        x[pivot] = keep;
        for (taut_index i = k + 1; i < n; i++) {
            double *row = a + (int64_t)i * n, factor = row[k] / top[k];
            if (factor == 0)
                continue;
            for (taut_index c = k + 1; c < n; c++)
                row[c] -= factor * top[c];
            x[i] -= factor * x[k];
        }
    }
    for (taut_index k = n - 1; k >= 0; k--) {
        for (taut_index c = k + 1; c < n; c++)
            x[k] -= a[(int64_t)k * n + c] * x[c];
        x[k] /= a[(int64_t)k * n + k];
    }
    return 0;
}

/* x with A x = b, b in x, for A symmetric and not negative, by elimination with the largest
 * diagonal entry as pivot. Rows that depend on the others, as those of redundant rigid bonds do,
 * get x = 0. A is destroyed. */
static inline int judge_eliminate_bonds(taut_index n, double *a, double *x, taut_index *order)
{
    taut_index rank = 0;
    double first = 0;
    for (taut_index i = 0; i < n; i++)
        order[i] = i;
    for (; rank < n; rank++) {
        taut_index best = rank;
        for (taut_index i = rank; i < n; i++)
            if (a[order[i] * (int64_t)(n + 1)] > a[order[best] * (int64_t)(n + 1)])
                best = i;
        taut_index k = order[best];
        order[best] = order[rank];
        order[rank] = k;
        double pivot = a[k * (int64_t)(n + 1)];
        first = rank == 0 ? pivot : first;
        if (!isfinite(pivot) || !(first > 0))
            return -1;
        if (pivot <= 1e-12 * first)
            break;
        for (taut_index i = rank + 1; i < n; i++) {
            double *row = a + order[i] * (int64_t)n, factor = row[k] / pivot;
            for (taut_index c = rank + 1; c < n; c++)
                row[order[c]] -= factor * a[k * (int64_t)n + order[c]];
            x[order[i]] -= factor * x[k];
        }
    }
    for (taut_index i = n - 1; i >= rank; i--)
        x[order[i]] = 0;
    for (taut_index i = rank - 1; i >= 0; i--) {
        taut_index k = order[i];
        for (taut_index c = i + 1; c < rank; c++)
            x[k] -= a[k * (int64_t)n + order[c]] * x[order[c]];
        x[k] /= a[k * (int64_t)(n + 1)];
    }
    return 0;
}

static inline double judge_row(const judge *j, taut_index bond, const double *x)
{
    double sum = 0;
    for (taut_index e = j->jacobian.start[bond]; e < j->jacobian.start[bond + 1]; e++)
        sum += j->values.jacobian[e] * x[j->jacobian.column[e]];
    return sum;
}

/* out += factor G_i^T */
static inline void judge_pull(const judge *j, taut_index bond, double factor, double *out)
{
    for (taut_index e = j->jacobian.start[bond]; e < j->jacobian.start[bond + 1]; e++)
        out[j->jacobian.column[e]] += factor * j->values.jacobian[e];
}

/* a from the forces in j->right for a diagonal mass: A lambda = G M^-1 f + gamma, a = M^-1 (f -
 * G^T lambda). */
static inline int judge_schur(judge *j, double *a)
{
    const double *mass = j->values.mass;
    taut_index k = j->rods;
    for (taut_index i = 0; i < j->n; i++)
        a[i] = j->right[i] / mass[i];
    for (taut_index r = 0; r < k; r++) {
        double *row = j->matrix + (int64_t)r * k;
        memset(j->right, 0, (size_t)j->n * sizeof(double));
        judge_pull(j, j->rod[r], 1, j->right);
        for (taut_index i = 0; i < j->n; i++)
            j->right[i] /= mass[i];
        for (taut_index s = 0; s < k; s++)
            row[s] = judge_row(j, j->rod[s], j->right);
        j->lambda[r] = judge_row(j, j->rod[r], a) + j->values.gamma[j->rod[r]];
    }
    if (judge_eliminate_bonds(k, j->matrix, j->lambda, j->order) != 0)
        return -1;
    memset(j->right, 0, (size_t)j->n * sizeof(double));
    for (taut_index r = 0; r < k; r++)
        judge_pull(j, j->rod[r], j->lambda[r], j->right);
    for (taut_index i = 0; i < j->n; i++)
        a[i] -= j->right[i] / mass[i];
    return 0;
}

/* The same for a mass matrix, from the whole system [M G^T; G 0]. */
static inline int judge_whole(judge *j, double *a)
{
    taut_index side = j->n + j->rods;
    memset(j->matrix, 0, (size_t)side * (size_t)side * sizeof(double));
    for (taut_index i = 0; i < j->n; i++)
        for (taut_index e = j->tangent.start[i]; e < j->tangent.start[i + 1]; e++)
            j->matrix[(int64_t)i * side + j->tangent.column[e]] += j->values.mass[e];
    for (taut_index r = 0; r < j->rods; r++) {
        taut_index bond = j->rod[r];
        for (taut_index e = j->jacobian.start[bond]; e < j->jacobian.start[bond + 1]; e++) {
            taut_index i = j->jacobian.column[e];
            j->matrix[(int64_t)i * side + j->n + r] += j->values.jacobian[e];
            j->matrix[(int64_t)(j->n + r) * side + i] += j->values.jacobian[e];
        }
        j->right[j->n + r] = -j->values.gamma[bond];
    }
    if (judge_eliminate(side, j->matrix, j->right) != 0)
        return -1;
    memcpy(a, j->right, (size_t)j->n * sizeof(double));
    return 0;
}

/* dy of y = (q, v), or of the state. */
static inline int judge_rate(judge *j, double t, const double *y, double *dy)
{
    taut_index n = j->n;
    const double *q = y, *v = y + n;
    double *a = dy + n;
    j->evaluations++;
    if (j->kind == JUDGE_RATES) {
        if (taut_evaluate(j->context, t, y, NULL, j->wanted, &j->values, NULL) != 0)
            return -1;
        memcpy(dy, j->values.force, (size_t)n * sizeof(double));
        return 0;
    }
    memcpy(dy, v, (size_t)n * sizeof(double));
    if (j->kind == JUDGE_FIELD) {
        if (taut_multiplier_recursion_evaluate(j->recursion, j->level, false, t, q, v, NULL) != 0)
            return -1;
        memcpy(a, j->recursion->a, (size_t)n * sizeof(double));
        return 0;
    }
    if (taut_evaluate(j->context, t, q, v, j->wanted, &j->values, NULL) != 0)
        return -1;
    memcpy(j->right, j->values.force, (size_t)n * sizeof(double));
    if (j->more && j->more(j->user, t, q, j->right) != 0)
        return -1;
    for (taut_index i = 0; j->wanted & TAUT_WANT_STIFF_FORCE && i < n; i++)
        j->right[i] += j->values.stiff_force[i];
    for (taut_index i = 0, r = 0; i < j->m; i++) {
        if (r < j->rods && j->rod[r] == i) {
            r++;
            continue;
        }
        double rate = j->tau[i] > 0 ? judge_row(j, i, v) + j->values.bond_dt[i] : 0;
        judge_pull(j, i, -(j->values.bond[i] + j->tau[i] * rate) / j->c[i], j->right);
    }
    return j->sizes.mass == TAUT_MASS_DIAGONAL ? judge_schur(j, a) : judge_whole(j, a);
}

/* lambda[m] of the latest evaluation, which was at velocity v. */
static inline void judge_multipliers(const judge *j, const double *v, double *lambda)
{
    bool diagonal = j->sizes.mass == TAUT_MASS_DIAGONAL;
    for (taut_index i = 0, r = 0; j->kind != JUDGE_RATES && i < j->m; i++) {
        bool rigid = r < j->rods && j->rod[r] == i;
        if (j->kind == JUDGE_FIELD)
            lambda[i] = j->recursion->lambda[i];
        else if (rigid)
            lambda[i] = diagonal ? j->lambda[r] : j->right[j->n + r];
        else
            lambda[i] =
                (j->values.bond[i] + j->tau[i] * (judge_row(j, i, v) + j->values.bond_dt[i])) /
                j->c[i];
        r += rigid;
    }
}

static inline void judge_observe(judge *j, taut_index dim, const double *y, double *lambda)
{
    for (taut_index i = 0; i < dim; i++)
        j->most[i] = fmax(j->most[i], fabs(y[i]));
    judge_multipliers(j, y + j->n, lambda);
    for (taut_index i = 0; dim > j->n && i < j->m; i++)
        j->most[dim + i] = fmax(j->most[dim + i], fabs(lambda[i]));
}

/* The slow field at the level where it settles: the last one that changes the acceleration by
 * less than the one before did. Returns the relative size of its last change through *change;
 * not 0 when there is no field. */
static inline int judge_field(judge *j, double t, const double *y, double *change)
{
    taut_error error;
    int most = taut_multiplier_recursion_most(j->context, 0);
    most = most < 6 ? most : 6;
    if (taut_multiplier_recursion_create(j->context, &j->arena, &j->statistics, most, 0, NULL,
                                         &j->recursion, &error) != 0)
        return -1;
    double *before = j->work, last = INFINITY;
    *change = INFINITY;
    for (int k = 0; k <= most; k++) {
        double off = 0, size = 0;
        if (taut_multiplier_recursion_evaluate(j->recursion, k, false, t, y, y + j->n, &error) != 0)
            return -1;
        const double *a = j->recursion->a;
        for (taut_index i = 0; i < j->n; i++) {
            off = fmax(off, fabs(a[i] - before[i]));
            size = fmax(size, fabs(a[i]));
        }
        off = size > 0 ? off / size : off;
        if (k > 0 && off > last)
            break;
        j->level = k;
        memcpy(before, a, (size_t)j->n * sizeof(double));
        if (k > 0)
            *change = last = off;
        if (k > 0 && off < 1e-14)
            break;
    }
    return 0;
}

enum { JUDGE_COLUMNS = 6 };

/* One step H by extrapolation; the estimate is the last difference. row[COLUMNS][dim], dy[dim],
 * a, b, c [dim]. */
static inline int judge_extrapolate(judge *j, taut_index dim, double t, double H, const double *y,
                                    const double *slope, double *work, const double **result,
                                    const double **below)
{
    double *row = work, *a = work + (int64_t)JUDGE_COLUMNS * dim, *b = a + dim, *dy = b + dim;
    for (int k = 0; k < JUDGE_COLUMNS; k++) {
        int count = 2 * (k + 1);
        double h = H / count, *to = row + (int64_t)k * dim;
        for (taut_index i = 0; i < dim; i++) {
            a[i] = y[i];
            b[i] = y[i] + h * slope[i];
        }
        /* s = count: the smoothing step needs the slope at the end */
        for (int s = 1; s <= count; s++) {
            if (judge_rate(j, t + s * h, b, dy) != 0)
                return -1;
            for (taut_index i = 0; i < dim; i++) {
                double next = a[i] + (s < count ? 2 * h : h) * dy[i];
                a[i] = b[i];
                b[i] = next;
            }
        }
        for (taut_index i = 0; i < dim; i++)
            to[i] = (a[i] + b[i]) / 2;
        /* Aitken, Neville: row[l] becomes the entry of order 2 (k - l + 1) */
        for (int l = k - 1; l >= 0; l--) {
            double ratio = (double)count / (2 * (l + 1)), factor = 1 / (ratio * ratio - 1);
            for (taut_index i = 0; i < dim; i++)
                row[(int64_t)l * dim + i] =
                    row[(int64_t)(l + 1) * dim + i] +
                    factor * (row[(int64_t)(l + 1) * dim + i] - row[(int64_t)l * dim + i]);
        }
    }
    *result = row;
    *below = row + dim;
    return 0;
}

/* From (t, y) to `end`, each step good to `tolerance` of the largest entries of q and of v; or,
 * in v, of |q|/100h: stiff forces have rounding errors, which a small velocity would take for an
 * error of the step. */
static inline int judge_march(judge *j, double t, double end, double tolerance, double *y)
{
    taut_index n = j->n, dim = j->kind == JUDGE_RATES ? n : 2 * n;
    double *slope = j->work, *work = slope + dim, H = (end - t) * 1e-3;
    const double *result, *below;
    int64_t most = 4000000;
    for (int tries = 0; t < end; tries++) {
        if (tries > most || !(H > 1e-14 * fabs(end)))
            return -1;
        H = j->longest > 0 ? fmin(H, j->longest) : H;
        bool last = t + H * 1.0001 >= end;
        double h = last ? end - t : H, e = 0, size[2] = {0, 0};
        int status = judge_rate(j, t, y, slope);
        if (status == 0 && j->most)
            judge_observe(j, dim, y, j->seen);
        if (status != 0 || judge_extrapolate(j, dim, t, h, y, slope, work, &result, &below) != 0) {
            H /= 4;
            continue;
        }
        for (taut_index i = 0; i < dim; i++)
            size[i >= n] = fmax(size[i >= n], fabs(y[i]) + fabs(h * slope[i]));
        size[1] += 0.01 * size[0] / h;
        for (taut_index i = 0; i < dim; i++)
            e = fmax(e, fabs(result[i] - below[i]) / (size[i >= n] + DBL_MIN));
        double factor = 0.9 * pow(tolerance / fmax(e, 1e-300), 1. / (2 * JUDGE_COLUMNS - 1));
        H = h * (isfinite(e) ? fmin(3, fmax(0.2, factor)) : 0.2);
        if (!(e <= tolerance))
            continue;
        memcpy(y, result, (size_t)dim * sizeof(double));
        t = last ? end : t + h;
    }
    return 0;
}

#endif
