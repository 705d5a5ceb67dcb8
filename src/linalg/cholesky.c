/* cholesky.c - Cholesky's factorisation of a dense matrix and orthonormal rows by Gram and
 * Schmidt, done twice.
 *
 *     Golub, Van Loan, Matrix Computations, 4th ed., sections 4.2.5, 5.2.7 */
#include "linalg/cholesky.h"

#include <math.h>

#include "base/vectors.h"

static const double dependent = 1e-10; /* remainder of a unit row that counts as zero */

taut_index taut_cholesky(taut_index n, double *a)
{
    for (taut_index i = 0; i < n; i++)
        for (taut_index j = 0; j <= i; j++) {
            double *row = a + (int64_t)i * n, *other = a + (int64_t)j * n,
                   left = row[j] - taut_dot(j, row, other);
            if (i == j && !(left > 0))
                return i;
            row[j] = i == j ? sqrt(left) : left / other[j];
        }
    return n;
}

void taut_cholesky_lower(taut_index n, const double *r, double *x)
{
    for (taut_index i = 0; i < n; i++)
        x[i] = (x[i] - taut_dot(i, r + (int64_t)i * n, x)) / r[(int64_t)i * n + i];
}

void taut_cholesky_upper(taut_index n, const double *r, double *x)
{
    for (taut_index i = n - 1; i >= 0; i--) {
        const double *row = r + (int64_t)i * n;
        x[i] /= row[i];
        for (taut_index j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

void taut_cholesky_multiply(taut_index n, const double *r, double *x)
{
    for (taut_index i = 0; i < n; i++) { /* entries above i are done with: they are sums already */
        const double *row = r + (int64_t)i * n;
        double own = x[i];
        for (taut_index j = 0; j < i; j++)
            x[j] += row[j] * own;
        x[i] = row[i] * own;
    }
}

void taut_cholesky_solve(taut_index n, const double *r, double *x)
{
    taut_cholesky_lower(n, r, x);
    taut_cholesky_upper(n, r, x);
}

int taut_rows_create(taut_rows *rows, taut_index n, taut_index most, taut_arena *arena,
                     taut_error *error)
{
    most = most < n ? most : n; /* more cannot be independent */
    *rows = (taut_rows){.n = n, .most = most};
    rows->q = TAUT_NEW(arena, double, (int64_t)most *n);
    rows->t = TAUT_NEW(arena, double, (int64_t)most *most);
    return taut_arena_check(arena, error);
}

bool taut_rows_add(taut_rows *rows, double *a)
{
    taut_index n = rows->n, count = rows->count;
    double length = taut_norm(n, a);
    if (count == rows->most || !(length > 0))
        return false;
    double *t = rows->t + (int64_t)count * rows->most;
    for (taut_index k = 0; k < count; k++)
        t[k] = 0;
    for (int round = 0; round < 2; round++)
        for (taut_index k = 0; k < count; k++) {
            const double *q = rows->q + (int64_t)k * n;
            double part = taut_dot(n, q, a);
            t[k] += part;
            for (taut_index i = 0; i < n; i++)
                a[i] -= part * q[i];
        }
    t[count] = taut_norm(n, a);
    if (!(t[count] > dependent * length))
        return false;
    for (taut_index i = 0; i < n; i++)
        rows->q[(int64_t)count * n + i] = a[i] / t[count];
    rows->count++;
    return true;
}

void taut_rows_satisfy(const taut_rows *rows, double *s, double *y)
{
    for (taut_index k = 0; k < rows->count; k++) {
        const double *t = rows->t + (int64_t)k * rows->most, *q = rows->q + (int64_t)k * rows->n;
        s[k] = (s[k] - taut_dot(k, t, s)) / t[k];
        for (taut_index i = 0; i < rows->n; i++)
            y[i] += s[k] * q[i];
    }
}

void taut_rows_remove(const taut_rows *rows, double *y)
{
    for (taut_index k = 0; k < rows->count; k++) {
        const double *q = rows->q + (int64_t)k * rows->n;
        double part = taut_dot(rows->n, q, y);
        for (taut_index i = 0; i < rows->n; i++)
            y[i] -= part * q[i];
    }
}
