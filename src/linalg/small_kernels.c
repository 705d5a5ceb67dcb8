/* small_kernels.c - see small_kernels.h. LU over both fields comes from small_kernels_generic.h;
 * here the definite factorisations
 *
 *     A = L D L^T, no square roots, no pivoting
 *     [Golub, Van Loan, Matrix Computations, 4th ed., section 4.3.6] */
#include "linalg/small_kernels.h"

#include <math.h>

#include "base/four.h"

/* Largest entry of |L||D||L^T| where the matrix has entries of about 1: four digits are lost. */
static const double MOST_GROWTH = 1e4;

/* y[0..count) -= factor * x[0..count) */
TAUT_INLINED void subtract_real(int64_t count, double factor, const double *restrict x,
                                double *restrict y)
{
    for (int64_t k = 0; k < count; k++)
        y[k] -= factor * x[k];
}

TAUT_INLINED double dot_real(int64_t count, const double *x, const double *y)
{
    taut_four sum = {0};
    int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        sum += *(const taut_four *)(x + k) * *(const taut_four *)(y + k);
    double all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; k < count; k++)
        all += x[k] * y[k];
    return all;
}

#include "linalg/scalar_real.h"
#include "linalg/small_kernels_generic.h"
#include "linalg/scalar_complex.h"

/* Compilers find no vectors in products of complex numbers: real parts of the factor times x, plus
 * imaginary parts times x with its parts exchanged. */
TAUT_INLINED void subtract_complex(int64_t count, double complex factor,
                                   const double complex *restrict x, double complex *restrict y)
{
    const double a = creal(factor), b = cimag(factor), *from = (const double *)x;
    const taut_four plain = {a, a, a, a}, turned = {-b, b, -b, b};
    double *to = (double *)y;
    int64_t k = 0;
    for (; k + 2 <= count; k += 2) {
        taut_four number = *(const taut_four *)(from + 2 * k);
        *(taut_four *)(to + 2 * k) -=
            plain * number + turned * TAUT_PICK(number, number, 1, 0, 3, 2);
    }
    for (; k < count; k++)
        y[k] -= TIMES(factor, x[k]);
}

TAUT_INLINED double complex dot_complex(int64_t count, const double complex *x,
                                        const double complex *y)
{
    const double *a = (const double *)x, *b = (const double *)y;
    taut_four plain = {0}, turned = {0};
    int64_t k = 0;
    for (; k + 2 <= count; k += 2) {
        const taut_four p = *(const taut_four *)(a + 2 * k), q = *(const taut_four *)(b + 2 * k);
        plain += TAUT_PICK(p, p, 0, 0, 2, 2) * q;
        turned += TAUT_PICK(p, p, 1, 1, 3, 3) * TAUT_PICK(q, q, 1, 0, 3, 2);
    }
    union {
        double part[2];
        double complex whole;
    } all = {{(plain[0] + plain[2]) - (turned[0] + turned[2]),
              (plain[1] + plain[3]) + (turned[1] + turned[3])}};
    for (; k < count; k++)
        all.whole += TIMES(x[k], y[k]);
    return all.whole;
}

#include "linalg/small_kernels_generic.h"

taut_index taut_lu_factor(bool complex_values, taut_index rows, void *a, taut_index *pivot,
                          double tolerance)
{
    return complex_values ? lu_factor_complex(rows, a, pivot, tolerance)
                          : lu_factor_real(rows, a, pivot, tolerance);
}

void taut_lu_solve(bool complex_values, taut_index rows, const void *a, const taut_index *pivot,
                   void *x)
{
    if (complex_values)
        lu_solve_complex(rows, a, pivot, x);
    else
        lu_solve_real(rows, a, pivot, x);
}

taut_index taut_band_lu_factor(bool complex_values, taut_index rows, taut_index b, void *a,
                               taut_index *pivot, double tolerance)
{
    return complex_values ? band_lu_factor_complex(rows, b, a, pivot, tolerance)
                          : band_lu_factor_real(rows, b, a, pivot, tolerance);
}

void taut_band_lu_solve(bool complex_values, taut_index rows, taut_index b, const void *a,
                        const taut_index *pivot, void *x)
{
    if (complex_values)
        band_lu_solve_complex(rows, b, a, pivot, x);
    else
        band_lu_solve_real(rows, b, a, pivot, x);
}

bool taut_band_symmetric_factor(bool complex_values, taut_index rows, taut_index b, void *a,
                                double tolerance)
{
    return complex_values ? band_symmetric_factor_complex(rows, b, a, tolerance)
                          : band_symmetric_factor_real(rows, b, a, tolerance);
}

void taut_band_symmetric_solve(bool complex_values, taut_index rows, taut_index b, const void *a,
                               void *x)
{
    if (complex_values)
        band_symmetric_solve_complex(rows, b, a, x);
    else
        band_symmetric_solve_real(rows, b, a, x);
}

/* One column of L D L^T: `diagonal` points at (j,j), `below` entries follow it, `next` leads
 * from (i,j) to (i,j+1). */
static inline bool eliminate_column(double *diagonal, taut_index below, int64_t next,
                                    double tolerance)
{
    if (!(diagonal[0] > tolerance))
        return false;
    double inverse = 1 / diagonal[0];
    diagonal[0] = inverse;
    for (taut_index k = 1; k <= below; k++)
        subtract_real(below - k + 1, diagonal[k] * inverse, diagonal + k, diagonal + k * next + k);
    for (taut_index k = 1; k <= below; k++)
        diagonal[k] *= inverse;
    return true;
}

taut_index taut_ldl_factor(taut_index rows, double *a, double tolerance)
{
    for (taut_index j = 0; j < rows; j++)
        if (!eliminate_column(a + (int64_t)j * (rows + 1), rows - 1 - j, rows, tolerance))
            return j + 1;
    return 0;
}

void taut_ldl_solve(taut_index rows, const double *a, double *x)
{
    for (taut_index j = 0; j < rows; j++)
        subtract_real(rows - 1 - j, x[j], a + (int64_t)j * (rows + 1) + 1, x + j + 1);
    for (taut_index j = rows - 1; j >= 0; j--) {
        const double *diagonal = a + (int64_t)j * (rows + 1);
        double sum = x[j] * diagonal[0];
        for (taut_index i = 1; i < rows - j; i++)
            sum -= diagonal[i] * x[j + i];
        x[j] = sum;
    }
}

/* Tridiagonal: the case of every chain, worth its own loop. */
static taut_index tridiagonal_factor(taut_index rows, double *a, const double *size,
                                     double tolerance)
{
    double update = 0;
    for (taut_index j = 0; j < rows; j++) {
        double pivot = a[2 * (int64_t)j] - update, below = a[2 * (int64_t)j + 1];
        if (!(pivot > (size ? tolerance * size[j] : tolerance)))
            return j + 1;
        double inverse = 1 / pivot;
        a[2 * (int64_t)j] = inverse;
        a[2 * (int64_t)j + 1] = below * inverse;
        update = below * below * inverse;
    }
    return 0;
}

taut_index taut_band_ldl_factor(taut_index rows, taut_index b, double *a, const double *size,
                                double tolerance)
{
    if (b == 1)
        return tridiagonal_factor(rows, a, size, tolerance);
    for (taut_index j = 0; j < rows; j++) {
        taut_index below = rows - 1 - j < b ? rows - 1 - j : b;
        if (!eliminate_column(a + j * (int64_t)(b + 1), below, b,
                              size ? tolerance * size[j] : tolerance))
            return j + 1;
    }
    return 0;
}

void taut_band_ldl_solve(taut_index rows, taut_index b, const double *a, double *x)
{
    for (taut_index j = 0; j < rows; j++) {
        taut_index below = rows - 1 - j < b ? rows - 1 - j : b;
        subtract_real(below, x[j], a + j * (int64_t)(b + 1) + 1, x + j + 1);
    }
    for (taut_index j = rows - 1; j >= 0; j--) {
        taut_index below = rows - 1 - j < b ? rows - 1 - j : b;
        const double *diagonal = a + j * (int64_t)(b + 1);
        double sum = x[j] * diagonal[0];
        for (taut_index i = 1; i <= below; i++)
            sum -= diagonal[i] * x[j + i];
        x[j] = sum;
    }
}
