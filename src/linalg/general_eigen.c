/* general_eigen.c - eigenvalues of a dense matrix: reduction to Hessenberg form by elimination with
 * pivots [Martin, Wilkinson 1968], then hessenberg.c; left eigenvectors by inverse iteration. */
#include "linalg/general_eigen.h"

#include <float.h>
#include <math.h>

#include "linalg/hessenberg.h"
#include "linalg/small_kernels.h"

/* Rows and columns i and j change places. */
static void exchange(int n, double *a, int i, int j)
{
    for (int k = 0; k < n && i != j; k++) {
        double swap = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = swap;
    }
    for (int k = 0; k < n && i != j; k++) {
        double swap = a[k * n + i];
        a[k * n + i] = a[k * n + j];
        a[k * n + j] = swap;
    }
}

bool taut_general_values(int n, double *a, double *real, double *imaginary)
{
    for (int m = 1; m + 1 < n; m++) {
        int pivot = m;
        for (int i = m + 1; i < n; i++)
            pivot = fabs(a[i * n + m - 1]) > fabs(a[pivot * n + m - 1]) ? i : pivot;
        exchange(n, a, pivot, m);
        double top = a[m * n + m - 1];
        for (int i = m + 1; i < n && top != 0; i++) {
            double factor = a[i * n + m - 1] / top;
            for (int k = 0; k < n; k++)
                a[i * n + k] -= factor * a[m * n + k];
            for (int k = 0; k < n; k++)
                a[k * n + m] += factor * a[k * n + i];
            a[i * n + m - 1] = 0;
        }
    }
    return taut_hessenberg_values(n, a, real, imaginary);
}

/* Takes from x its parts along the orthonormal vectors e[known][n]. */
static void orthogonalise(int n, int known, const double complex *e, double complex *x)
{
    for (int k = 0; k < known; k++, e += n) {
        double complex part = 0;
        for (int i = 0; i < n; i++)
            part += conj(e[i]) * x[i];
        for (int i = 0; i < n; i++)
            x[i] -= part * e[i];
    }
}

void taut_general_left(int n, const double *a, double complex mu, int known, double complex *work,
                       taut_index *pivot, double complex *left)
{
    double size = DBL_MIN;
    for (int i = 0; i < n * n; i++)
        size = fmax(size, fabs(a[i]));
    /* by columns, a^T has the rows of a; a shift off mu keeps it regular */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            work[j + i * n] =
                (a[i * n + j] - (i == j ? mu * (1 + 1e-10) + 1e-14 * size : 0)) / size;
    for (int i = 0; i < n; i++)
        left[i] = 1 + 0.1 * (i + i * known % 7) / n;
    if (taut_lu_factor(true, n, work, pivot, 0) != 0)
        return;
    for (int pass = 0; pass < 3; pass++) {
        int most = 0;
        double norm = 0;
        taut_lu_solve(true, n, work, pivot, left);
        orthogonalise(n, known, left - (int64_t)known * n, left);
        for (int i = 0; i < n; i++)
            most = cabs(left[i]) > cabs(left[most]) ? i : most;
        double complex phase = left[most] / cabs(left[most]);
        for (int i = 0; i < n; i++)
            norm = hypot(norm, cabs(left[i]));
        for (int i = 0; i < n; i++)
            left[i] /= phase * norm;
    }
}
