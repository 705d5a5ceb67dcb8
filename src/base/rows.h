/* rows.h - products with the rows of a sparse matrix A: G on the pattern of the Jacobian, masses
 * and Hessians on that of the tangent. Entry k of row i stands in column[k], start[i] <= k <
 * start[i+1]; a column may repeat, then entries add up. Sums run in the order of the entries.
 *
 * Inline, since these are the inner loops of most methods. */
#ifndef TAUT_BASE_ROWS_H
#define TAUT_BASE_ROWS_H

#include <math.h>
#include <taut/taut.h>

/* Entries by columns: rows of equal length that follow one another are a group, and its first
 * entries come first, then its second ones, ... The group that begins with row i ends here. */
static inline taut_index taut_columns_end(const taut_index *start, taut_index rows, taut_index i)
{
    const taut_index terms = start[i + 1] - start[i];
    while (i < rows && start[i + 1] - start[i] == terms)
        i++;
    return i;
}

/* From there to entries by rows. */
static inline void taut_columns_to_rows(const taut_pattern *a, const double *columns, double *entry)
{
    for (taut_index i = 0, end; i < a->rows; i = end) {
        end = taut_columns_end(a->start, a->rows, i);
        const taut_index first = a->start[i], terms = a->start[i + 1] - first, count = end - i;
        for (taut_index k = 0; k < count; k++)
            for (taut_index t = 0; t < terms; t++)
                entry[first + k * terms + t] = columns[first + t * count + k];
    }
}

/* sum_k A_ik x_k */
static inline double taut_row_dot(const taut_pattern *a, const double *entry, taut_index i,
                                  const double *x)
{
    double sum = 0;
    for (taut_index k = a->start[i]; k < a->start[i + 1]; k++)
        sum += entry[k] * x[a->column[k]];
    return sum;
}

/* x_k += A_ik y */
static inline void taut_row_add(const taut_pattern *a, const double *entry, taut_index i, double y,
                                double *x)
{
    for (taut_index k = a->start[i]; k < a->start[i + 1]; k++)
        x[a->column[k]] += entry[k] * y;
}

/* sum_k A_ik^2 / weight_k: with masses as weights, the diagonal of A M^-1 A^T where no column
 * repeats; weight NULL: 1. */
static inline double taut_row_square(const taut_pattern *a, const double *entry, taut_index i,
                                     const double *weight)
{
    double sum = 0;
    for (taut_index k = a->start[i]; k < a->start[i + 1]; k++)
        sum += weight ? entry[k] * entry[k] / weight[a->column[k]] : entry[k] * entry[k];
    return sum;
}

/* sum_k |A_ik x_k|, which scales the rounding of taut_row_dot; x NULL: 1. */
static inline double taut_row_size(const taut_pattern *a, const double *entry, taut_index i,
                                   const double *x)
{
    double sum = 0;
    for (taut_index k = a->start[i]; k < a->start[i + 1]; k++)
        sum += fabs(x ? entry[k] * x[a->column[k]] : entry[k]);
    return sum;
}

/* y_i = sum_k A_ik x_k for all rows; x NULL: sum_k |A_ik|. Rows of four entries, bonds of two
 * points in the plane, without a loop. */
static inline void taut_rows_product(const taut_pattern *a, const double *entry, const double *x,
                                     double *y)
{
    for (taut_index i = 0; i < a->rows; i++) {
        const taut_index first = a->start[i], *column = a->column + first;
        const double *e = entry + first;
        if (!x)
            y[i] = taut_row_size(a, entry, i, NULL);
        else if (a->start[i + 1] - first == 4)
            y[i] = e[0] * x[column[0]] + e[1] * x[column[1]] + e[2] * x[column[2]] +
                   e[3] * x[column[3]];
        else
            y[i] = taut_row_dot(a, entry, i, x);
    }
}

/* A_ik = 0 */
static inline void taut_row_clear(const taut_pattern *a, double *entry, taut_index i)
{
    for (taut_index k = a->start[i]; k < a->start[i + 1]; k++)
        entry[k] = 0;
}

/* The entry of row i in column j, or -1. */
static inline taut_index taut_row_find(const taut_pattern *a, taut_index i, taut_index j)
{
    for (taut_index k = a->start[i]; k < a->start[i + 1]; k++)
        if (a->column[k] == j)
            return k;
    return -1;
}

/* y = A x */
static inline void taut_pattern_times(const taut_pattern *a, const double *entry, const double *x,
                                      double *y)
{
    for (taut_index i = 0; i < a->rows; i++)
        y[i] = taut_row_dot(a, entry, i, x);
}

/* y += factor A x */
static inline void taut_pattern_add(const taut_pattern *a, const double *entry, double factor,
                                    const double *x, double *y)
{
    for (taut_index i = 0; i < a->rows; i++)
        y[i] += factor * taut_row_dot(a, entry, i, x);
}

/* x += factor A^T y */
static inline void taut_pattern_add_transposed(const taut_pattern *a, const double *entry,
                                               double factor, const double *y, double *x)
{
    for (taut_index i = 0; i < a->rows; i++)
        taut_row_add(a, entry, i, factor * y[i], x);
}

/* y += factor M x, for masses on the tangent pattern, or a diagonal M (tangent NULL) of n. */
static inline void taut_mass_add(const taut_pattern *tangent, taut_index n, const double *mass,
                                 double factor, const double *x, double *y)
{
    if (tangent)
        taut_pattern_add(tangent, mass, factor, x, y);
    for (taut_index i = 0; !tangent && i < n; i++)
        y[i] += factor * (mass[i] * x[i]);
}

#endif
