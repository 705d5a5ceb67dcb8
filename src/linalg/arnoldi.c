/* arnoldi.c - the largest |mu| of an operator O that is given by its products [Arnoldi 1951; Golub,
 * Van Loan 1996, 9.4].
 *
 *     O V = V H + h v e^T,    V^T B V = I,    eigenvalues of the Hessenberg matrix H
 *
 * There are no restarts: of the largest size alone a few digits are wanted. A basis of all
 * directions makes it the dense method, so that small operators need no other one; where the space
 * is invariant earlier, a start vector with a part in every direction has found all sizes. */
#include "linalg/arnoldi.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"
#include "linalg/hessenberg.h"

enum { LEAST = 8, BETWEEN = 4 }; /* vectors before the first look at H, and between looks */
static const double ROUNDING = 1e3 * DBL_EPSILON; /* of a remainder, relative to H */

typedef struct arnoldi {
    const taut_operator *op;
    int most;
    double *basis, *image;               /* [most + 1][n], [n] */
    double *h, *copy, *real, *imaginary; /* [most][most], [most][most], [most], [most] */
} arnoldi;

static int inner(const arnoldi *a, const double *x, const double **image, taut_error *error)
{
    *image = a->op->inner ? a->image : x;
    return a->op->inner ? a->op->inner(a->op->user, x, a->image, error) : 0;
}

/* Divides x by its length. */
static int normalise(const arnoldi *a, double *x, double *length, taut_error *error)
{
    const double *image;
    TAUT_TRY(inner(a, x, &image, error));
    *length = sqrt(fmax(taut_dot(a->op->n, x, image), 0));
    if (!isfinite(*length))
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the eigenvalue iteration met values that are not finite");
    for (taut_index i = 0; i<a->op->n && * length> 0; i++)
        x[i] /= *length;
    return 0;
}

/* Column j of H and the next vector; *length is what remains of it. Orthogonalised twice where the
 * basis is to be complete; of the largest size, copies do no harm. */
static int extend(const arnoldi *a, int j, double *length, taut_error *error)
{
    const taut_index n = a->op->n;
    double *next = a->basis + (int64_t)(j + 1) * n;
    const double *image;
    TAUT_TRY(a->op->apply(a->op->user, next - n, next, error));
    const int passes = a->most < n ? 1 : 2;
    for (int pass = 0; pass < passes; pass++) {
        TAUT_TRY(inner(a, next, &image, error));
        for (int i = 0; i <= j; i++)
            a->real[i] = taut_dot(n, a->basis + (int64_t)i * n, image);
        for (int i = 0; i <= j; i++) {
            a->h[i * a->most + j] += a->real[i];
            taut_add_scaled(n, -a->real[i], a->basis + (int64_t)i * n, next);
        }
    }
    return normalise(a, next, length, error);
}

/* max |mu| of the first `count` rows and columns of H. */
static int largest(const arnoldi *a, int count, double *size, taut_error *error)
{
    for (int i = 0; i < count; i++)
        taut_copy(count, a->h + (int64_t)i * a->most, a->copy + (int64_t)i * count);
    if (!taut_hessenberg_values(count, a->copy, a->real, a->imaginary))
        return taut_fail(error, TAUT_ERROR_CONVERGE, "the eigenvalue iteration does not converge");
    *size = 0;
    for (int i = 0; i < count; i++)
        *size = fmax(*size, hypot(a->real[i], a->imaginary[i]));
    return 0;
}

static int iterate(const arnoldi *a, double tolerance, double *size, taut_error *error)
{
    const taut_index n = a->op->n;
    double length, before = 0, scale = 0;
    *size = 0;
    /* one application puts the start into the range */
    taut_extreme_start(n, a->basis + n);
    TAUT_TRY(a->op->apply(a->op->user, a->basis + n, a->basis, error));
    TAUT_TRY(normalise(a, a->basis, &length, error));
    for (int j = 0; j < a->most && length > 0; j++) {
        TAUT_TRY(extend(a, j, &length, error));
        for (int i = 0; i <= j; i++)
            scale = fmax(scale, fabs(a->h[i * a->most + j]));
        bool last = j + 1 == a->most || length <= ROUNDING * scale,
             look = j + 1 >= LEAST && (j + 1) % BETWEEN == 0 && a->most < n;
        if (last || look) {
            before = *size;
            TAUT_TRY(largest(a, j + 1, size, error));
        }
        if (last || (look && fabs(*size - before) <= tolerance * *size))
            return 0;
        a->h[(j + 1) * a->most + j] = length;
    }
    return 0;
}

int taut_arnoldi_largest(const taut_operator *op, int most, double tolerance, double *size,
                         const taut_allocator *allocator, taut_error *error)
{
    arnoldi a = {.op = op, .most = most < op->n ? most : (int)op->n};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int64_t square = (int64_t)a.most * a.most;
    int status = TAUT_RESERVE(&arena, (a.most + 1) * (int64_t)op->n, error, &a.basis);
    if (status == 0)
        status = TAUT_RESERVE(&arena, op->n, error, &a.image);
    if (status == 0)
        status = TAUT_RESERVE(&arena, square, error, &a.h, &a.copy);
    if (status == 0)
        status = TAUT_RESERVE(&arena, a.most, error, &a.real, &a.imaginary);
    if (status == 0)
        status = iterate(&a, tolerance, size, error);
    taut_arena_clear(&arena);
    return status;
}
