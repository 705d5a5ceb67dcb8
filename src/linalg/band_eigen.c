/* band_eigen.c - all eigenvalues and vectors of a symmetric band matrix, in O(rows^2 b^2).
 *
 * Values: rotations remove one diagonal after the other, and what each of them adds outside of the
 * band is moved out at its end [Schwarz, Numer. Math. 12 (1968) 231-241]; QL follows. Vectors:
 * inverse iteration on the band matrix, orthogonal to those of values nearby [Golub, Van Loan,
 * Matrix Computations, 4th ed., 8.2.2; Jessup, Ipsen, SIAM J. Sci. Stat. Comput. 13 (1992)]. */
#include <float.h>
#include <math.h>

#include "base/random.h"
#include "base/vectors.h"
#include "linalg/small_kernels.h"
#include "linalg/spectrum.h"
#include "linalg/tridiagonal.h"

/* of the largest |value|: vectors of values that are further apart are orthogonal to 1e-10 */
static const double CLUSTER = 1e-6;
enum { MOST_SOLUTIONS = 8 };

typedef struct band {
    int n, b;
    double *lower;  /* [n][b + 2] A(j + d, j) at j (b + 2) + d: one diagonal more than the band */
    double *factor; /* [n][3 b + 1] */
    taut_index *pivot;
    double *off;
    double size; /* largest |value| */
} band;

static double *at(const band *w, int i, int j)
{
    return w->lower + (int64_t)j * (w->b + 1) + i; /* j (b + 2) + i - j */
}

static void rotate(double *x, double *y, double c, double s)
{
    const double upper = *x, lower = *y;
    *x = c * upper + s * lower;
    *y = c * lower - s * upper;
}

/* Rows and columns q-1 and q; entries up to distance d + 1 from the diagonal. */
static void rotate_both(const band *w, int q, int d, double c, double s)
{
    const int p = q - 1;
    for (int k = q - d - 1 > 0 ? q - d - 1 : 0; k < p; k++)
        rotate(at(w, p, k), at(w, q, k), c, s);
    double *pp = at(w, p, p), *qp = at(w, q, p), *qq = at(w, q, q), low = *qp;
    rotate(pp, qp, c, s); /* the rows of the 2 x 2 block, then its columns */
    rotate(&low, qq, c, s);
    rotate(pp, &low, c, s);
    rotate(qp, qq, c, s);
    for (int k = q + 1; k <= q + d && k < w->n; k++)
        rotate(at(w, k, p), at(w, k, q), c, s);
}

/* Diagonal number d becomes 0. */
static void remove_diagonal(const band *w, int d)
{
    for (int j = 0; j + d < w->n; j++)
        for (int column = j, q = j + d; q < w->n; column = q - 1, q += d) {
            const double x = *at(w, q - 1, column), y = *at(w, q, column), r = hypot(x, y);
            if (y == 0)
                break;
            rotate_both(w, q, d, x / r, y / r);
            *at(w, q, column) = 0;
        }
}

static void sort(int n, double *value)
{
    for (int i = 1; i < n; i++) {
        const double held = value[i];
        int k = i;
        for (; k > 0 && value[k - 1] > held; k--)
            value[k] = value[k - 1];
        value[k] = held;
    }
}

static bool find_values(band *w, const double *a, double *value)
{
    const int n = w->n, b = w->b;
    for (int j = 0; j < n; j++) {
        for (int d = 0; d <= b; d++)
            w->lower[(int64_t)j * (b + 2) + d] = a[(int64_t)j * (b + 1) + d];
        w->lower[(int64_t)j * (b + 2) + b + 1] = 0;
    }
    for (int d = b; d > 1; d--)
        remove_diagonal(w, d);
    for (int j = 0; j < n; j++) {
        value[j] = *at(w, j, j);
        w->off[j] = b > 0 && j + 1 < n ? *at(w, j + 1, j) : 0;
    }
    if (!taut_tridiagonal_ql(n, value, w->off, value, 0))
        return false;
    sort(n, value);
    w->size = fmax(fabs(value[0]), fabs(value[n - 1]));
    w->size = w->size > 0 ? w->size : 1;
    return true;
}

/* (A - shift)/size; false where a pivot is 0. */
static bool factor(band *w, const double *a, double shift)
{
    const int n = w->n, b = w->b;
    const int64_t column = 3 * (int64_t)b + 1;
    taut_clear(n * column, w->factor);
    for (int j = 0; j < n; j++)
        for (int d = 0; d <= b && j + d < n; d++) {
            const double x = (a[(int64_t)j * (b + 1) + d] - (d ? 0 : shift)) / w->size;
            w->factor[j * column + 2 * b + d] = x;
            w->factor[(j + d) * column + 2 * b - d] = x;
        }
    return taut_band_lu_factor(false, n, b, w->factor, w->pivot, 0) == 0;
}

static void orthogonalise(int n, const double *from, const double *to, double *x)
{
    for (; from < to; from += n)
        taut_add_scaled(n, -taut_dot(n, from, x), from, x);
}

/* x[n], orthogonal to the vectors from `first` up to it; false where it does not converge. */
static bool find_vector(band *w, const double *a, double shift, const double *first, double *x)
{
    const double enough = 1 / (16 * DBL_EPSILON * w->n);
    uint64_t seed = (uint64_t)(x - first) + 1;
    for (int k = 0; !factor(w, a, shift); k++, shift += DBL_EPSILON * w->size)
        if (k == MOST_SOLUTIONS) /* values that are not finite */
            return false;
    for (int i = 0; i < w->n; i++)
        x[i] = taut_random(&seed);
    double grown = 0;
    for (int k = 0; k < MOST_SOLUTIONS; k++) {
        orthogonalise(w->n, first, x, x);
        const double size = sqrt(taut_dot(w->n, x, x));
        for (int i = 0; i < w->n; i++)
            x[i] /= size;
        if (grown >= enough && k > 1)
            return true;
        taut_band_lu_solve(false, w->n, w->b, w->factor, w->pivot, x);
        grown = sqrt(taut_dot(w->n, x, x));
    }
    return false;
}

static bool find_vectors(band *w, const double *a, const double *value, double *vector)
{
    int first = 0;
    double shift = -INFINITY;
    for (int k = 0; k < w->n; k++) {
        if (k > 0 && value[k] - value[k - 1] > CLUSTER * w->size)
            first = k;
        shift = fmax(value[k], shift + 4 * DBL_EPSILON * w->size);
        if (!find_vector(w, a, shift, vector + (int64_t)first * w->n, vector + (int64_t)k * w->n))
            return false;
    }
    return true;
}

static int reserve(band *w, taut_arena *arena, taut_error *error)
{
    TAUT_NEED(error, w->pivot = TAUT_NEW(arena, taut_index, w->n));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->off));
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)w->n * (w->b + 2), error, &w->lower));
    return TAUT_RESERVE(arena, w->n * (3 * (int64_t)w->b + 1), error, &w->factor);
}

int taut_eigen_band(int n, int b, const double *a, double *value, double *vector, taut_error *error,
                    const taut_allocator *allocator)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    band w = {.n = n, .b = b};
    int status = reserve(&w, &arena, error);
    if (status == 0 && !(find_values(&w, a, value) && find_vectors(&w, a, value, vector)))
        status = taut_fail(error, TAUT_ERROR_CONVERGE,
                           "the eigenvalues of a matrix of %d rows did not converge", n);
    taut_arena_clear(&arena);
    return status;
}
