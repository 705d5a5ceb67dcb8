/* dense.h - the equations of a system at a state, as dense matrices: for tests that check what a
 * projection solved. */
#ifndef TAUT_TESTS_SUPPORT_DENSE_H
#define TAUT_TESTS_SUPPORT_DENSE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taut/taut.h>

static inline double largest(taut_index count, const double *x)
{
    double most = 0;
    for (taut_index i = 0; i < count; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]);
    return most;
}

/* A system at a state, dense: for the equations of a foot point. */
typedef struct dense {
    taut_context *context;
    taut_sizes sizes;
    taut_pattern jacobian, tangent;
    taut_values values;
    double *mass; /* [n n] */
} dense;

static inline int dense_make(dense *d, taut_system *system, double t, const double *q,
                             const double *v)
{
    taut_error error;
    *d = (dense){0};
    taut_sizes_init(&d->sizes);
    taut_system_sizes_get(system, &d->sizes, NULL);
    size_t n = (size_t)d->sizes.coordinates, m = (size_t)d->sizes.bonds;
    bool diagonal = d->sizes.mass == TAUT_MASS_DIAGONAL;
    int status = taut_context_create(system, NULL, &d->context, &error);
    if (status == 0) {
        status = taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &d->jacobian, &error);
    }
    if (status == 0) {
        status = taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &d->tangent, &error);
    }
    if (status != 0)
        return status;
    size_t entries = (size_t)d->tangent.start[n];
    d->values = (taut_values){.size = sizeof(taut_values),
                              .force = calloc(n + 1, 8),
                              .bond = calloc(m + 1, 8),
                              .bond_dt = calloc(m + 1, 8),
                              .gamma = calloc(m + 1, 8),
                              .jacobian = calloc((size_t)d->sizes.jacobian_entries + 1, 8),
                              .stiff_force = calloc(n + 1, 8),
                              .mass = calloc(entries + 1, 8)};
    d->mass = calloc(n * n, 8);
    unsigned wanted =
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_MASS;
    if (d->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        wanted |= TAUT_WANT_STIFF_FORCE;
    status = taut_evaluate(d->context, t, q, v, wanted, &d->values, &error);
    for (size_t i = 0; i < n && status == 0; i++) {
        if (diagonal)
            d->mass[i * n + i] = d->values.mass[i];
        for (taut_index k = d->tangent.start[i]; k < d->tangent.start[i + 1] && !diagonal; k++)
            d->mass[i * n + (size_t)d->tangent.column[k]] = d->values.mass[k];
    }
    return status;
}

static inline void dense_drop(dense *d)
{
    taut_values *x = &d->values;
    double *all[] = {x->force,    x->bond,        x->bond_dt, x->gamma,
                     x->jacobian, x->stiff_force, x->mass,    d->mass};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    taut_context_destroy(d->context);
}

static inline double row_times(const dense *d, taut_index i, const double *x)
{
    double sum = 0;
    for (taut_index k = d->jacobian.start[i]; k < d->jacobian.start[i + 1]; k++)
        sum += d->values.jacobian[k] * x[d->jacobian.column[k]];
    return sum;
}

/* The part of x[n] that is not G^T mu, over the bonds that are not soft: max norm. Rows by
 * Gram-Schmidt, twice for rounding. */
static inline double beside_rows(const dense *d, double *x)
{
    taut_index n = d->sizes.coordinates, m = d->sizes.bonds;
    double *basis = calloc((size_t)n * (size_t)m + 1, sizeof *basis);
    int rank = 0;
    for (taut_index i = 0; i < m && basis; i++) {
        double *row = basis + (int64_t)rank * n, size = 0;
        if (taut_context_soft(d->context, i))
            continue;
        memset(row, 0, (size_t)n * sizeof *row);
        for (taut_index k = d->jacobian.start[i]; k < d->jacobian.start[i + 1]; k++)
            row[d->jacobian.column[k]] += d->values.jacobian[k];
        for (int e = 0; e < 2 * rank; e++) {
            const double *other = basis + (int64_t)(e % rank) * n;
            double part = 0;
            for (taut_index k = 0; k < n; k++)
                part += row[k] * other[k];
            for (taut_index k = 0; k < n; k++)
                row[k] -= part * other[k];
        }
        for (taut_index k = 0; k < n; k++)
            size += row[k] * row[k];
        for (taut_index k = 0; k < n; k++)
            row[k] /= sqrt(size);
        rank++;
    }
    for (int e = 0; e < 2 * rank; e++) {
        const double *row = basis + (int64_t)(e % rank) * n;
        double part = 0;
        for (taut_index k = 0; k < n; k++)
            part += x[k] * row[k];
        for (taut_index k = 0; k < n; k++)
            x[k] -= part * row[k];
    }
    free(basis);
    return largest(n, x);
}

/* x <- M^-1 x by Cholesky; M is destroyed. */
static inline void solve_mass(taut_index count, double *mass, double *x)
{
    size_t n = (size_t)count;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = mass[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= mass[i * n + k] * mass[j * n + k];
            mass[i * n + j] = i == j ? sqrt(sum) : sum / mass[j * n + j];
        }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= mass[i * n + k] * x[k];
        x[i] /= mass[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= mass[k * n + i] * x[k];
        x[i] /= mass[i * n + i];
    }
}

#endif
