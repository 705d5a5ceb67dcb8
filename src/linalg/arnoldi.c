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
/* ... where the largest size alone is wanted: a smaller remainder, orthogonalised once, would not
 * be orthogonal to the others */
static const double INVARIANT = 1e-9;

typedef struct arnoldi {
    const taut_operator *op;
    int most;
    bool all;                            /* values are wanted, not the largest size alone */
    int size;                            /* of H at the end */
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
    const int passes = a->most < n && !a->all ? 1 : 2;
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

/* max |mu| of the first `count` rows and columns of H, whose values are in a->real and imaginary.
 */
static int largest(arnoldi *a, int count, double *size, taut_error *error)
{
    a->size = count;
    for (int i = 0; i < count; i++)
        taut_copy(count, a->h + (int64_t)i * a->most, a->copy + (int64_t)i * count);
    if (!taut_hessenberg_values(count, a->copy, a->real, a->imaginary))
        return taut_fail(error, TAUT_ERROR_CONVERGE, "the eigenvalue iteration does not converge");
    *size = 0;
    for (int i = 0; i < count; i++)
        *size = fmax(*size, hypot(a->real[i], a->imaginary[i]));
    return 0;
}

static int iterate(arnoldi *a, double tolerance, double *size, taut_error *error)
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
        bool last = j + 1 == a->most ||
                    length <= (a->all || a->most == n ? ROUNDING : INVARIANT) * scale,
             look = j + 1 >= LEAST && (j + 1) % BETWEEN == 0 && a->most < n && !a->all;
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

static int run(arnoldi *a, double tolerance, double *size, taut_arena *arena, taut_error *error)
{
    int64_t square = (int64_t)a->most * a->most;
    TAUT_TRY(TAUT_RESERVE(arena, (a->most + 1) * (int64_t)a->op->n, error, &a->basis));
    TAUT_TRY(TAUT_RESERVE(arena, a->op->n, error, &a->image));
    TAUT_TRY(TAUT_RESERVE(arena, square, error, &a->h, &a->copy));
    TAUT_TRY(TAUT_RESERVE(arena, a->most, error, &a->real, &a->imaginary));
    return iterate(a, tolerance, size, error);
}

int taut_arnoldi_largest(const taut_operator *op, int most, double tolerance, double *size,
                         const taut_allocator *allocator, taut_error *error)
{
    arnoldi a = {.op = op, .most = most < op->n ? most : (int)op->n};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int status = run(&a, tolerance, size, &arena, error);
    taut_arena_clear(&arena);
    return status;
}

void taut_leading_choose(int size, double *from_real, double *from_imaginary, int count,
                         double *real, double *imaginary, int *found)
{
    for (*found = 0; *found < count && *found < size; ++*found) {
        int best = -1;
        double most = -1;
        for (int i = 0; i < size; i++) {
            double here = hypot(from_real[i], from_imaginary[i]);
            /* of a pair the one above the axis first */
            if (here > most * (1 + 1e-12) || (here >= most * (1 - 1e-12) && best >= 0 &&
                                              from_imaginary[i] > from_imaginary[best])) {
                best = i;
                most = here;
            }
        }
        if (best < 0)
            break;
        real[*found] = from_real[best];
        imaginary[*found] = from_imaginary[best];
        from_real[best] = NAN;
    }
}

int taut_arnoldi_values(const taut_operator *op, int most, int count, double *real,
                        double *imaginary, int *found, const taut_allocator *allocator,
                        taut_error *error)
{
    arnoldi a = {.op = op, .most = most < op->n ? most : (int)op->n, .all = true};
    taut_arena arena;
    double size;
    taut_arena_init(&arena, allocator);
    int status = run(&a, 0, &size, &arena, error);
    if (status == 0)
        taut_leading_choose(a.size, a.real, a.imaginary, count, real, imaginary, found);
    taut_arena_clear(&arena);
    return status;
}
