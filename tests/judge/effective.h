/* effective.h - the vibration of a system and its potential W, computed once more, for judging
 * effective motion.
 *
 *     Omega^2: eigenvalues of C_s^-1 S, S the Schur complement of A = G M^-1 G^T;
 *     W = sum J_k Omega_k   [E (7)]
 *
 * From g, G and M alone, with dense elimination and Jacobi's rotations. The derivative of W
 * along a direction is a difference of W. For trajectories that is too expensive: there w and z
 * = M^-1 G^T w of a mode are held fixed (Omega^2 = w^T A w is stationary), and
 *
 *     Omega dOmega = d/ds G(q + s z)^T w - d(z^T M z)/2
 *
 * by differences of G and M; this is compared with differences of W first. */
#ifndef TAUT_TESTS_JUDGE_EFFECTIVE_H
#define TAUT_TESTS_JUDGE_EFFECTIVE_H

#include "judge/trajectory.h"

typedef struct vibration {
    judge at; /* evaluates the system with its springs */
    taut_index n, m, springs, rods, side;
    taut_index *spring;
    /* dense [M Gr^T; Gr 0]; [springs][side]: Z_i and the reactions of the rigid bonds */
    double *matrix, *column;
    /* [springs][springs]; eigenvectors in rows; [springs]: Omega */
    double *form, *vector, *root;
    double *weight, *shape;            /* [springs][m]: w; [springs][n]: z */
    double *action;                    /* J, [springs] */
    double *point, *pulled, *gradient; /* [n] */
    double *turned;                    /* G at another point */
} vibration;

static inline int vibration_create(vibration *v, taut_system *system)
{
    *v = (vibration){0};
    if (judge_create(&v->at, JUDGE_FULL, system) != 0)
        return -1;
    v->n = v->at.n;
    v->m = v->at.m;
    v->rods = v->at.rods;
    v->side = v->n + v->rods;
    v->spring = TAUT_NEW(&v->at.arena, taut_index, v->m + 1);
    for (taut_index i = 0; i < v->m; i++)
        if (v->at.c[i] > 0 && !taut_context_soft(v->at.context, i))
            v->spring[v->springs++] = i;
    int64_t p = v->springs;
    v->matrix = judge_new(&v->at, (int64_t)v->side * v->side);
    v->column = judge_new(&v->at, p * v->side);
    v->form = judge_new(&v->at, p * p);
    v->vector = judge_new(&v->at, p * p);
    v->root = judge_new(&v->at, p);
    v->weight = judge_new(&v->at, p * v->m);
    v->shape = judge_new(&v->at, p * v->n);
    v->action = judge_new(&v->at, p);
    v->point = judge_new(&v->at, v->n);
    v->pulled = judge_new(&v->at, v->n);
    v->gradient = judge_new(&v->at, v->n);
    v->turned = judge_new(&v->at, v->at.sizes.jacobian_entries);
    return 0;
}

static inline void vibration_destroy(vibration *v)
{
    judge_destroy(&v->at);
}

/* ---- linear algebra */

/* A symmetric matrix a[n][n] by Jacobi's rotations: eigenvalues on its diagonal, vectors in the
 * rows of u. */
static inline void vibration_rotate(taut_index n, double *a, double *u)
{
    for (taut_index i = 0; i < n; i++)
        for (taut_index j = 0; j < n; j++)
            u[(int64_t)i * n + j] = i == j;
    for (int sweep = 0; sweep < 40; sweep++) {
        double off = 0, size = 0;
        for (taut_index i = 0; i < n; i++)
            for (taut_index j = 0; j < n; j++)
                *(i == j ? &size : &off) += a[(int64_t)i * n + j] * a[(int64_t)i * n + j];
        if (off <= 1e-30 * size)
            return;
        for (taut_index i = 0; i < n; i++)
            for (taut_index j = i + 1; j < n; j++) {
                double *ai = a + (int64_t)i * n, *aj = a + (int64_t)j * n, *ui = u + (int64_t)i * n,
                       *uj = u + (int64_t)j * n;
                if (ai[j] == 0)
                    continue;
                double theta = (aj[j] - ai[i]) / (2 * ai[j]);
                double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1)),
                       c = 1 / hypot(t, 1), s = t * c;
                for (taut_index k = 0; k < n; k++) {
                    double x = ai[k], y = aj[k], p = ui[k], q = uj[k];
                    ai[k] = c * x - s * y;
                    aj[k] = s * x + c * y;
                    ui[k] = c * p - s * q;
                    uj[k] = s * p + c * q;
                }
                for (taut_index k = 0; k < n; k++) {
                    double x = a[(int64_t)k * n + i], y = a[(int64_t)k * n + j];
                    a[(int64_t)k * n + i] = c * x - s * y;
                    a[(int64_t)k * n + j] = s * x + c * y;
                }
            }
    }
}

/* x[count][n] <- A^-1 x by elimination with row exchanges; A is destroyed. */
static inline int vibration_solve(taut_index n, double *a, taut_index count, double *x)
{
    for (taut_index k = 0; k < n; k++) {
        taut_index pivot = k;
        for (taut_index i = k + 1; i < n; i++)
            if (fabs(a[(int64_t)i * n + k]) > fabs(a[(int64_t)pivot * n + k]))
                pivot = i;
        double *top = a + (int64_t)k * n, *other = a + (int64_t)pivot * n;
        if (other[k] == 0 || !isfinite(other[k]))
            return -1;
        for (taut_index c = 0; pivot != k && c < n; c++) {
            double keep = top[c];
            top[c] = other[c];
            other[c] = keep;
        }
        for (taut_index r = 0; pivot != k && r < count; r++) {
            double keep = x[(int64_t)r * n + k];
            x[(int64_t)r * n + k] = x[(int64_t)r * n + pivot];
            x[(int64_t)r * n + pivot] = keep;
        }
        for (taut_index i = 0; i < n; i++) {
            double *row = a + (int64_t)i * n, factor = i == k ? 0 : row[k] / top[k];
            if (factor == 0)
                continue;
            for (taut_index c = k; c < n; c++)
                row[c] -= factor * top[c];
            for (taut_index r = 0; r < count; r++)
                x[(int64_t)r * n + i] -= factor * x[(int64_t)r * n + k];
        }
    }
    for (taut_index r = 0; r < count; r++)
        for (taut_index k = 0; k < n; k++)
            x[(int64_t)r * n + k] /= a[(int64_t)k * n + k];
    return 0;
}

/* ---- modes */

static inline int vibration_look(vibration *v, double t, const double *q)
{
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS;
    return taut_evaluate(v->at.context, t, q, NULL, wanted, &v->at.values, NULL);
}

/* v->matrix = [M Gr^T; Gr 0] of the latest point. */
static inline void vibration_saddle(vibration *v)
{
    judge *j = &v->at;
    taut_index side = v->side;
    memset(v->matrix, 0, (size_t)side * (size_t)side * sizeof(double));
    for (taut_index i = 0; i < v->n; i++) {
        if (j->sizes.mass == TAUT_MASS_DIAGONAL)
            v->matrix[(int64_t)i * side + i] = j->values.mass[i];
        for (taut_index e = j->tangent.start ? j->tangent.start[i] : 0;
             j->tangent.start && e < j->tangent.start[i + 1]; e++)
            v->matrix[(int64_t)i * side + j->tangent.column[e]] += j->values.mass[e];
    }
    for (taut_index r = 0; r < v->rods; r++)
        for (taut_index e = j->jacobian.start[j->rod[r]]; e < j->jacobian.start[j->rod[r] + 1];
             e++) {
            taut_index i = j->jacobian.column[e];
            v->matrix[(int64_t)i * side + v->n + r] += j->values.jacobian[e];
            v->matrix[(int64_t)(v->n + r) * side + i] += j->values.jacobian[e];
        }
}

/* Z_i of every spring: M Z + Gr^T y = G_i^T, Gr Z = 0. */
static inline int vibration_columns(vibration *v)
{
    judge *j = &v->at;
    memset(v->column, 0, (size_t)v->springs * (size_t)v->side * sizeof(double));
    for (taut_index i = 0; i < v->springs; i++)
        judge_pull(j, v->spring[i], 1, v->column + (int64_t)i * v->side);
    if (v->rods == 0 && j->sizes.mass == TAUT_MASS_DIAGONAL) {
        for (int64_t k = 0; k < (int64_t)v->springs * v->n; k++)
            v->column[k] /= j->values.mass[k % v->n];
        return 0;
    }
    vibration_saddle(v);
    return vibration_solve(v->side, v->matrix, v->springs, v->column);
}

static inline void vibration_mode(vibration *v, taut_index k, const double *s)
{
    double *weight = v->weight + (int64_t)k * v->m, *shape = v->shape + (int64_t)k * v->n;
    memset(weight, 0, (size_t)v->m * sizeof(double));
    memset(shape, 0, (size_t)v->n * sizeof(double));
    for (taut_index i = 0; i < v->springs; i++) {
        double x = s[i] / sqrt(v->at.c[v->spring[i]]);
        const double *z = v->column + (int64_t)i * v->side;
        weight[v->spring[i]] = x;
        for (taut_index r = 0; r < v->rods; r++)
            weight[v->at.rod[r]] -= x * z[v->n + r];
        for (taut_index c = 0; c < v->n; c++)
            shape[c] += x * z[c];
    }
}

/* Frequencies at (t, q), ascending; with w and z when `modes` is set. */
static inline int vibration_find(vibration *v, double t, const double *q, bool modes)
{
    taut_index p = v->springs;
    if (vibration_look(v, t, q) != 0 || vibration_columns(v) != 0)
        return -1;
    for (taut_index i = 0; i < p; i++)
        for (taut_index k = 0; k < p; k++)
            v->form[(int64_t)i * p + k] =
                judge_row(&v->at, v->spring[i], v->column + (int64_t)k * v->side) /
                sqrt(v->at.c[v->spring[i]] * v->at.c[v->spring[k]]);
    vibration_rotate(p, v->form, v->vector);
    for (taut_index i = 0; i < p; i++)
        v->root[i] = sqrt(fmax(0, v->form[(int64_t)i * p + i]));
    for (taut_index i = 0; i < p; i++) { /* ascending, as actions are ordered */
        taut_index least = i;
        for (taut_index k = i + 1; k < p; k++)
            least = v->root[k] < v->root[least] ? k : least;
        double keep = v->root[i];
        v->root[i] = v->root[least];
        v->root[least] = keep;
        for (taut_index k = 0; k < p && least != i; k++) {
            double *a = v->vector + (int64_t)i * p + k, *b = v->vector + (int64_t)least * p + k;
            keep = *a;
            *a = *b;
            *b = keep;
        }
        if (modes)
            vibration_mode(v, i, v->vector + (int64_t)i * p);
    }
    return 0;
}

static inline double vibration_energy(const vibration *v) /* W at the latest point */
{
    double sum = 0;
    for (taut_index k = 0; k < v->springs; k++)
        sum += v->action[k] * v->root[k];
    return sum;
}

/* The actions of a state: p = w^T g/Omega, pdot = w^T gdot/Omega over the springs. */
static inline int vibration_actions(vibration *v, double t, const double *q, const double *u)
{
    if (vibration_find(v, t, q, true) != 0)
        return -1;
    for (taut_index k = 0; k < v->springs; k++) {
        double p = 0, rate = 0, omega = v->root[k];
        for (taut_index i = 0; i < v->springs; i++) {
            double w = v->weight[(int64_t)k * v->m + v->spring[i]];
            p += w * v->at.values.bond[v->spring[i]] / omega;
            rate += w * (judge_row(&v->at, v->spring[i], u) + v->at.values.bond_dt[v->spring[i]]) /
                    omega;
        }
        v->action[k] = (rate * rate + omega * omega * p * p) / (2 * omega);
    }
    return 0;
}

/* ---- derivatives */

static const double vibration_factor[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12},
                    vibration_at[4] = {-2, -1, 1, 2};

/* dW along d: differences of fourth order with the step h. */
static inline double vibration_slope(vibration *v, double t, const double *q, const double *d,
                                     double h)
{
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        for (taut_index i = 0; i < v->n; i++)
            v->point[i] = q[i] + vibration_at[k] * h * d[i];
        if (vibration_find(v, t, v->point, false) != 0)
            return NAN;
        sum += vibration_factor[k] * vibration_energy(v) / h;
    }
    return sum;
}

/* How far a coordinate moves while the direction of a bond turns by about a radian, at most
 * `most`: max |G_i| / |dG_i|. */
static inline double vibration_length(vibration *v, double t, const double *q, double most)
{
    double length = most;
    int64_t entries = v->at.jacobian.start[v->m];
    for (taut_index i = 0; i < v->n; i++)
        v->point[i] = q[i] + 1e-4 * most * sin(1.7 * (double)i + 0.3);
    if (vibration_look(v, t, v->point) != 0)
        return NAN;
    memcpy(v->turned, v->at.values.jacobian, (size_t)entries * sizeof(double));
    if (vibration_look(v, t, q) != 0)
        return NAN;
    for (taut_index i = 0; i < v->m; i++) {
        double change = 0, size = 0;
        for (taut_index e = v->at.jacobian.start[i]; e < v->at.jacobian.start[i + 1]; e++) {
            size = fmax(size, fabs(v->at.values.jacobian[e]));
            change = fmax(change, fabs(v->turned[e] - v->at.values.jacobian[e]));
        }
        length = fmin(length, 1e-4 * most * size / fmax(change, DBL_MIN));
    }
    return length;
}

/* pulled += factor G(point)^T w */
static inline int vibration_pull(vibration *v, double t, const double *w, double factor)
{
    if (vibration_look(v, t, v->point) != 0)
        return -1;
    for (taut_index i = 0; i < v->m; i++)
        if (w[i] != 0)
            judge_pull(&v->at, i, factor * w[i], v->pulled);
    return 0;
}

/* z^T M(point) z */
static inline double vibration_weigh(vibration *v, double t, const double *z)
{
    if (vibration_look(v, t, v->point) != 0)
        return NAN;
    double sum = 0;
    for (taut_index i = 0; i < v->n; i++)
        for (taut_index e = v->at.tangent.start[i]; e < v->at.tangent.start[i + 1]; e++)
            sum += z[i] * v->at.values.mass[e] * z[v->at.tangent.column[e]];
    return sum;
}

/* v->gradient of W at (t, q), with w and z held fixed; coordinates are displaced by `step` and
 * twice that. */
static inline int vibration_gradient(vibration *v, double t, const double *q, double step)
{
    const double *factor = vibration_factor, *at = vibration_at;
    if (vibration_find(v, t, q, true) != 0)
        return -1;
    memset(v->gradient, 0, (size_t)v->n * sizeof(double));
    for (taut_index k = 0; k < v->springs; k++) {
        const double *w = v->weight + (int64_t)k * v->m, *z = v->shape + (int64_t)k * v->n;
        double most = 0, share = v->action[k] / v->root[k];
        for (taut_index i = 0; i < v->n; i++)
            most = fmax(most, fabs(z[i]));
        double h = step / most;
        memset(v->pulled, 0, (size_t)v->n * sizeof(double));
        for (int s = 0; s < 4 && share != 0; s++) {
            for (taut_index i = 0; i < v->n; i++)
                v->point[i] = q[i] + at[s] * h * z[i];
            if (vibration_pull(v, t, w, factor[s] / h) != 0)
                return -1;
        }
        for (taut_index i = 0; i < v->n && share != 0; i++)
            v->gradient[i] += share * v->pulled[i];
        for (taut_index i = 0; v->at.sizes.mass == TAUT_MASS_VARYING && i < v->n; i++)
            for (int s = 0; s < 4; s++) {
                memcpy(v->point, q, (size_t)v->n * sizeof(double));
                v->point[i] += at[s] * step;
                v->gradient[i] -= share / 2 * factor[s] / step * vibration_weigh(v, t, z);
            }
    }
    return 0;
}

/* ---- states on the bonds */

/* (X, V) of (q, v) as in (9), all bonds that are not soft:  X = q + M(q)^-1 G(q)^T lambda, g(X)
 * = 0;  M(X) V = M(q) v + G(X)^T mu, G V + g_t = 0. `rigid` is a judge of kind JUDGE_RIGID. */
static inline int vibration_lay(judge *rigid, double t, double *q, double *v)
{
    taut_index n = rigid->n, r = rigid->rods, side = n + r;
    double *matrix = calloc((size_t)side * (size_t)side, sizeof(double)),
           *away = calloc((size_t)side * (size_t)(r + 2), sizeof(double));
    double *small = calloc((size_t)r * (size_t)r + 1, sizeof(double)),
           *step = calloc((size_t)r + 1, sizeof(double));
    double *momentum = away + (int64_t)r * side;
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS;
    int status = taut_evaluate(rigid->context, t, q, NULL, wanted, &rigid->values, NULL);
    for (taut_index i = 0; i < n && status == 0; i++) /* M(q), M(q) v, and G(q)^T in columns */
        if (rigid->tangent.start)
            for (taut_index e = rigid->tangent.start[i]; e < rigid->tangent.start[i + 1]; e++) {
                matrix[(int64_t)i * n + rigid->tangent.column[e]] += rigid->values.mass[e];
                momentum[i] += rigid->values.mass[e] * v[rigid->tangent.column[e]];
            }
        else {
            matrix[(int64_t)i * n + i] = rigid->values.mass[i];
            momentum[i] = rigid->values.mass[i] * v[i];
        }
    for (taut_index k = 0; k < r; k++)
        judge_pull(rigid, rigid->rod[k], 1, away + (int64_t)k * n);
    status = status ? status : vibration_solve(n, matrix, r, away); /* rows of n now: M^-1 G^T */
    for (int pass = 0; pass < 12 && status == 0; pass++) {
        status = taut_evaluate(rigid->context, t, q, NULL, wanted, &rigid->values, NULL);
        for (taut_index i = 0; i < r; i++) {
            step[i] = -rigid->values.bond[rigid->rod[i]];
            for (taut_index k = 0; k < r; k++)
                small[(int64_t)i * r + k] = judge_row(rigid, rigid->rod[i], away + (int64_t)k * n);
        }
        status = status ? status : judge_eliminate(r, small, step);
        for (taut_index i = 0; i < n; i++)
            for (taut_index k = 0; k < r; k++)
                q[i] += away[(int64_t)k * n + i] * step[k];
    }
    status =
        status ? status : taut_evaluate(rigid->context, t, q, NULL, wanted, &rigid->values, NULL);
    for (taut_index i = 0; i < r; i++) /* gamma's place: G V = -g_t */
        rigid->values.gamma[rigid->rod[i]] = rigid->values.bond_dt[rigid->rod[i]];
    memcpy(rigid->right, momentum, (size_t)n * sizeof(double));
    status = status                                    ? status
             : rigid->sizes.mass == TAUT_MASS_DIAGONAL ? judge_schur(rigid, v)
                                                       : judge_whole(rigid, v);
    free(matrix);
    free(away);
    free(small);
    free(step);
    return status;
}

/* judge.more of the effective motion; `user` is the vibration, with its actions. */
typedef struct vibration_force {
    vibration *vibration;
    double step;
} vibration_force;

static inline int vibration_push(void *user, double t, const double *q, double *force)
{
    const vibration_force *f = user;
    if (vibration_gradient(f->vibration, t, q, f->step) != 0)
        return -1;
    for (taut_index i = 0; i < f->vibration->n; i++)
        force[i] -= f->vibration->gradient[i];
    return 0;
}

#endif
