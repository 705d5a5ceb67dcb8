/* window.h - what slow.h is made of: polynomials over a window of time, a system's own answers
 * (f, g, G, M) as dense matrices, foot points. */
#ifndef TAUT_TESTS_JUDGE_WINDOW_H
#define TAUT_TESTS_JUDGE_WINDOW_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taut/taut.h>

#include "base/memory.h"

enum { SLOW_DEGREE = 40 };

typedef struct slow_judge {
    taut_context *context;
    taut_sizes sizes;
    taut_arena arena;
    taut_pattern jacobian, tangent;
    taut_values values;
    taut_index n, m;
    double t;
    const double *c, *tau;
    unsigned char *soft; /* [m]: a force */
    double *a0, *pivot;  /* [m][m]: A at the foot point, by Cholesky; a mass matrix [n][n] */
    double *foot_q, *foot_v;
    double *mass0, *g0; /* at the foot point: mass [n][n] or [n]; G */
    double *work;       /* [n + m] */
    /* a window */
    int degree;
    double window;
    double at[SLOW_DEGREE + 1], bonds_at[SLOW_DEGREE + 1]; /* nodes: N - 1 and N + 1 */
    /* q from a: at the nodes of the motion, at those of bonds */
    double place[2][SLOW_DEGREE + 1][SLOW_DEGREE + 1];
    double pace[2][SLOW_DEGREE + 1][SLOW_DEGREE + 1]; /* v from a */
    double spread[SLOW_DEGREE + 1][SLOW_DEGREE + 1];  /* lambda at the nodes of bonds */
    double to_coefficients[2][SLOW_DEGREE + 1][SLOW_DEGREE + 1];
} slow_judge;

/* ---- polynomials: Chebyshev coefficients */

static inline double slow_sum(int degree, const double *c, double x)
{
    double b1 = 0, b2 = 0; /* Clenshaw */
    for (int k = degree; k > 0; k--) {
        double b = c[k] + 2 * x * b1 - b2;
        b2 = b1;
        b1 = b;
    }
    return c[0] + x * b1 - b2;
}

/* The integral from 0, one degree more. */
static inline void slow_integrate(int degree, double *c)
{
    double from[SLOW_DEGREE + 3] = {0};
    memcpy(from, c, (size_t)(degree + 1) * sizeof *c);
    for (int k = 1; k <= degree + 1; k++)
        c[k] = ((k == 1 ? 2 : 1) * from[k - 1] - from[k + 1]) / (2 * k);
    c[0] = 0;
    c[0] = -slow_sum(degree + 1, c, 0);
}

/* out = d/dx c, of the same length; in place is allowed. */
static inline void slow_differentiate(int degree, const double *c, double *out)
{
    double d[SLOW_DEGREE + 3] = {0};
    for (int k = degree; k > 0; k--)
        d[k - 1] = d[k + 1] + 2 * k * c[k];
    d[0] /= 2;
    memcpy(out, d, (size_t)(degree + 1) * sizeof *out);
}

static inline void slow_nodes(int count, double *x, double to[SLOW_DEGREE + 1][SLOW_DEGREE + 1])
{
    const double pi = 4 * atan(1);
    for (int j = 0; j < count; j++) {
        x[j] = -cos((j + 0.5) * pi / count);
        for (int k = 0; k < count; k++)
            to[k][j] = (k ? 2. : 1.) / count * cos(k * acos(x[j]));
    }
}

static inline void slow_window(slow_judge *s, int degree, double window)
{
    int inner = degree - 1;
    s->degree = degree;
    s->window = window;
    slow_nodes(inner, s->at, s->to_coefficients[0]);
    slow_nodes(degree + 1, s->bonds_at, s->to_coefficients[1]);
    /* the motion of which acceleration is 1 at node j and 0 at the others */
    for (int j = 0; j < inner; j++) {
        double c[SLOW_DEGREE + 3] = {0};
        for (int k = 0; k < inner; k++)
            c[k] = s->to_coefficients[0][k][j];
        for (int i = 0; i <= degree; i++)
            s->spread[i][j] = slow_sum(inner - 1, c, s->bonds_at[i]);
        slow_integrate(inner - 1, c);
        for (int i = 0; i <= degree; i++) {
            s->pace[0][i][j] = i < inner ? window * slow_sum(inner, c, s->at[i]) : 0;
            s->pace[1][i][j] = window * slow_sum(inner, c, s->bonds_at[i]);
        }
        slow_integrate(inner, c);
        for (int i = 0; i <= degree; i++) {
            s->place[0][i][j] = i < inner ? window * window * slow_sum(degree, c, s->at[i]) : 0;
            s->place[1][i][j] = window * window * slow_sum(degree, c, s->bonds_at[i]);
        }
    }
}

/* ---- the system */

static inline double *slow_new(slow_judge *s, int64_t count)
{
    return TAUT_NEW(&s->arena, double, count + 1);
}

static inline void slow_destroy(slow_judge *s)
{
    taut_context_destroy(s->context);
    taut_arena_clear(&s->arena);
}

static inline int slow_create(slow_judge *s, const taut_system *system, double t)
{
    taut_error error;
    *s = (slow_judge){.t = t};
    taut_arena_init(&s->arena, NULL);
    taut_sizes_init(&s->sizes);
    taut_system_sizes_get(system, &s->sizes, NULL);
    int64_t n = s->n = s->sizes.coordinates, m = s->m = s->sizes.bonds;
    bool diagonal = s->sizes.mass == TAUT_MASS_DIAGONAL;
    if (s->sizes.kind != TAUT_MECHANICAL || m == 0 || taut_system_hold(system) ||
        s->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return TAUT_ERROR_REFUSED;
    int status = taut_context_create(system, NULL, &s->context, &error);
    if (status == 0) {
        status = taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &s->jacobian, &error);
    }
    if (status == 0 && !diagonal) {
        status = taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &s->tangent, &error);
    }
    if (status != 0)
        return status;
    s->c = taut_context_compliance(s->context);
    s->tau = taut_context_damping(s->context);
    s->soft = TAUT_NEW(&s->arena, unsigned char, m);
    for (taut_index i = 0; i < m; i++)
        s->soft[i] = taut_context_soft(s->context, i) && s->c[i] > 0;
    s->a0 = slow_new(s, m * m);
    s->pivot = slow_new(s, diagonal ? 0 : n * n);
    s->mass0 = slow_new(s, diagonal ? n : n * n);
    s->g0 = slow_new(s, s->sizes.jacobian_entries);
    s->foot_q = slow_new(s, n);
    s->foot_v = slow_new(s, n);
    s->work = slow_new(s, n + m);
    s->values = (taut_values){.size = sizeof(taut_values),
                              .force = slow_new(s, n),
                              .bond = slow_new(s, m),
                              .bond_dt = slow_new(s, m),
                              .jacobian = slow_new(s, s->sizes.jacobian_entries),
                              .mass = slow_new(s, diagonal ? n : s->tangent.start[n])};
    return 0;
}

static inline int slow_evaluate(slow_judge *s, double t, const double *q, const double *v,
                                bool forces)
{
    return taut_evaluate(s->context, t, q, v,
                         TAUT_WANT_BOND | TAUT_WANT_JACOBIAN |
                             (forces ? TAUT_WANT_FORCE | TAUT_WANT_MASS : 0),
                         &s->values, NULL);
}

static inline double slow_row(const slow_judge *s, const double *g, taut_index i, const double *x)
{
    double sum = 0;
    for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1]; k++)
        sum += g[k] * x[s->jacobian.column[k]];
    return sum;
}

static inline void slow_pull(const slow_judge *s, const double *g, taut_index i, double factor,
                             double *x)
{
    for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1]; k++)
        x[s->jacobian.column[k]] += factor * g[k];
}

/* L L^T in place, lower; not 0 when it is not positive. */
static inline int slow_factor(taut_index n, double *a)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 1e-13 * fabs(a[i * n + i])))
                return -1;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    return 0;
}

static inline void slow_solve(taut_index n, const double *a, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* The mass as evaluated last, ready to divide by: to[n], or factors to[n][n]. */
static inline int slow_mass(const slow_judge *s, double *to)
{
    int64_t n = s->n;
    if (!s->tangent.start) {
        memcpy(to, s->values.mass, (size_t)n * sizeof *to);
        return 0;
    }
    memset(to, 0, (size_t)(n * n) * sizeof *to);
    for (int64_t i = 0; i < n; i++)
        for (taut_index k = s->tangent.start[i]; k < s->tangent.start[i + 1]; k++)
            to[i * n + s->tangent.column[k]] += s->values.mass[k];
    return slow_factor(s->n, to);
}

static inline void slow_divide(const slow_judge *s, const double *mass, double *x)
{
    if (s->tangent.start)
        slow_solve(s->n, mass, x);
    for (taut_index i = 0; i < s->n && !s->tangent.start; i++)
        x[i] /= mass[i];
}

/* A = G M^-1 G^T of what was evaluated last, factored; rows of soft springs are those of the
 * identity. */
static inline int slow_matrix(slow_judge *s, const double *mass, const double *g)
{
    int64_t m = s->m;
    for (taut_index i = 0; i < m; i++) {
        memset(s->work, 0, (size_t)s->n * sizeof(double));
        slow_pull(s, g, i, 1, s->work);
        slow_divide(s, mass, s->work);
        for (taut_index k = 0; k < m; k++)
            s->a0[i * m + k] = s->soft[i] || s->soft[k] ? i == k : slow_row(s, g, k, s->work);
    }
    return slow_factor(s->m, s->a0);
}

/* x += M^-1 G^T mu at the foot point */
static inline void slow_shift(slow_judge *s, const double *mu, double *x)
{
    memset(s->work, 0, (size_t)s->n * sizeof(double));
    for (taut_index i = 0; i < s->m; i++)
        if (!s->soft[i])
            slow_pull(s, s->g0, i, mu[i], s->work);
    slow_divide(s, s->mass0, s->work);
    for (taut_index i = 0; i < s->n; i++)
        x[i] += s->work[i];
}

/* The foot point of (q, v): X = q - M^-1 G^T mu with g(X) = 0, linearised where X was before,
 * again and again. */
static inline int slow_foot(slow_judge *s, const double *q, const double *v)
{
    enum { MOST = 400 };
    size_t bytes = (size_t)s->n * sizeof(double);
    double *mu = s->work + s->n, last = INFINITY, *before = malloc(bytes);
    int status = before ? 0 : -1;
    memcpy(s->foot_q, q, bytes);
    for (int pass = 0; pass < MOST && status == 0; pass++) {
        double step = 0, size = 0;
        memcpy(before, s->foot_q, bytes);
        status = slow_evaluate(s, s->t, before, v, true) || slow_mass(s, s->mass0);
        memcpy(s->g0, s->values.jacobian, (size_t)s->sizes.jacobian_entries * sizeof(double));
        status = status || slow_matrix(s, s->mass0, s->g0);
        for (taut_index i = 0; i < s->m && status == 0; i++)
            mu[i] = s->soft[i] ? 0
                               : -s->values.bond[i] - slow_row(s, s->g0, i, q) +
                                     slow_row(s, s->g0, i, before);
        if (status != 0)
            break;
        slow_solve(s->m, s->a0, mu);
        memcpy(s->foot_q, q, bytes);
        slow_shift(s, mu, s->foot_q);
        for (taut_index i = 0; i < s->n; i++) {
            step = fmax(step, fabs(s->foot_q[i] - before[i]));
            size = fmax(size, fabs(s->foot_q[i]));
        }
        if (step <= 4 * DBL_EPSILON * size || (step >= last && step < 1e-13 * size))
            break;
        last = step;
        status = pass == MOST - 1 ? -1 : 0;
    }
    if (status == 0)
        status = slow_evaluate(s, s->t, s->foot_q, v, true) || slow_mass(s, s->mass0);
    memcpy(s->g0, s->values.jacobian, (size_t)s->sizes.jacobian_entries * sizeof(double));
    status = status || slow_matrix(s, s->mass0, s->g0);
    memcpy(s->foot_v, v, bytes);
    for (int pass = 0; pass < 2 && status == 0; pass++) { /* once more for rounding */
        for (taut_index i = 0; i < s->m; i++)
            mu[i] = s->soft[i] ? 0 : -s->values.bond_dt[i] - slow_row(s, s->g0, i, s->foot_v);
        slow_solve(s->m, s->a0, mu);
        slow_shift(s, mu, s->foot_v);
    }
    free(before);
    return status;
}

#endif
