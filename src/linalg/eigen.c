/* eigen.c - all eigenvalues and vectors of a small dense symmetric matrix: LAPACK's dsyev, or
 * Householder tridiagonalisation and QL with implicit shifts.
 *
 *     Golub, Van Loan, Matrix Computations, 4th ed., sections 8.3.1, 8.3.3; Dubrulle, Martin,
 *     Wilkinson, Numer. Math. 12 (1968) 377-383 */
#include "linalg/spectrum.h"

#include <math.h>

#include "linalg/lapack.h"
#include "linalg/tridiagonal.h"

/* rows up to which own code is about as fast; LAPACK is not loaded for less */
enum { SMALL = 48 };

/* One reflection: the first i entries of row i become (0 .. 0, off). Its vector u, zero for
 * none, stays there; returns off. */
static double reflect(int n, double *a, int i, double *p)
{
    double *u = a + (int64_t)i * n, scale = 0, square = 0, product = 0;
    for (int k = 0; k < i; k++)
        scale = fmax(scale, fabs(u[k]));
    if (i < 2 || scale == 0) {
        double off = i ? u[i - 1] : 0;
        u[0] = i ? 0 : u[0];
        return off;
    }
    for (int k = 0; k < i; k++)
        square += (u[k] / scale) * (u[k] / scale);
    double off = -copysign(scale * sqrt(square), u[i - 1]);
    u[i - 1] -= off;
    square = 0;
    for (int k = 0; k < i; k++)
        square += (u[k] / scale) * (u[k] / scale);
    double unit = scale * sqrt(square / 2); /* then I - u u^T reflects */
    for (int k = 0; k < i; k++)
        u[k] /= unit;
    for (int k = 0; k < i; k++) {
        const double *row = a + (int64_t)k * n;
        p[k] = 0;
        for (int l = 0; l < i; l++)
            p[k] += row[l] * u[l];
        product += p[k] * u[k];
    }
    for (int k = 0; k < i; k++)
        p[k] -= product / 2 * u[k];
    for (int k = 0; k < i; k++) {
        double *row = a + (int64_t)k * n;
        for (int l = 0; l < i; l++)
            row[l] -= u[k] * p[l] + p[k] * u[l];
    }
    return off;
}

/* a becomes Q^T by rows, with Q^T A Q tridiagonal: diagonal d, d[i-1] and d[i] coupled by off[i].
 */
static void tridiagonalise(int n, double *a, double *d, double *off)
{
    for (int i = n - 1; i >= 0; i--)
        off[i] = reflect(n, a, i, d);
    for (int i = 0; i < n; i++)
        d[i] = a[(int64_t)i * n + i];
    /* accumulate Q = H_{n-1} ... H_2 from the small end: rows i of a hold the reflectors */
    for (int i = 0; i < n; i++) {
        double *u = a + (int64_t)i * n;
        for (int j = 0; j < i; j++) { /* rows are columns of Q: each is reflected */
            double *column = a + (int64_t)j * n, product = 0;
            for (int k = 0; k < i; k++)
                product += u[k] * column[k];
            for (int k = 0; k < i; k++)
                column[k] -= product * u[k];
        }
        for (int k = 0; k < i; k++)
            u[k] = a[(int64_t)k * n + i] = 0;
        u[i] = 1;
    }
}

static void sort_ascending(int n, double *a, double *value)
{
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int k = i + 1; k < n; k++)
            if (value[k] < value[least])
                least = k;
        if (least == i)
            continue;
        double held = value[i], *x = a + (int64_t)i * n, *y = a + (int64_t)least * n;
        value[i] = value[least];
        value[least] = held;
        for (int k = 0; k < n; k++) {
            held = x[k];
            x[k] = y[k];
            y[k] = held;
        }
    }
}

/* 0, 1: no convergence, or an error. */
static int solve_here(int n, double *a, double *value, taut_arena *arena, taut_error *error)
{
    double *off = TAUT_NEW(arena, double, (int64_t)n + 1);
    TAUT_NEED(error, off);
    tridiagonalise(n, a, value, off);
    if (!taut_tridiagonal_ql(n, value, off + 1, a, n))
        return 1;
    sort_ascending(n, a, value);
    return 0;
}

static int solve_there(const taut_lapack *lapack, int n, double *a, double *value,
                       taut_arena *arena, taut_error *error)
{
    const int size = 66 * n; /* dsyev: (block + 2) n, with blocks of 64 */
    int info = 0;
    double *work = TAUT_NEW(arena, double, size);
    TAUT_NEED(error, work);
    lapack->dsyev("V", "U", &n, a, &n, value, work, &size, &info, 1, 1);
    return info != 0;
}

int taut_eigen_symmetric(int n, double *a, double *value, taut_error *error,
                         const taut_allocator *allocator)
{
    if (n == 0)
        return 0;
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    const taut_lapack *lapack = n > SMALL ? taut_lapack_get() : NULL;
    int status = lapack ? solve_there(lapack, n, a, value, &arena, error)
                        : solve_here(n, a, value, &arena, error);
    taut_arena_clear(&arena);
    return status > 0 ? taut_fail(error, TAUT_ERROR_CONVERGE,
                                  "the eigenvalues of a matrix of %d rows did not converge", n)
                      : status;
}
