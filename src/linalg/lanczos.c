/* lanczos.c - thick-restart Lanczos with full reorthogonalisation.
 *
 *     K. Wu, H. Simon, Thick-restart Lanczos method for large symmetric eigenvalue problems,
 *     SIAM J. Matrix Anal. Appl. 22 (2000) 602-616
 *
 * The projected matrix is formed from all inner products, not from the recurrence: at these
 * basis sizes it costs nothing, and restarts need no special case. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/vectors.h"
#include "linalg/extreme.h"
#include "linalg/spectrum.h"

int taut_extreme_basis(int count, taut_index n)
{
    int basis = 2 * count + 10;
    return basis < n ? basis : n;
}

void taut_extreme_start(taut_index n, double *x)
{
    uint64_t state = 20240229;
    for (taut_index i = 0; i < n; i++)
        x[i] = taut_random(&state);
}

typedef struct lanczos {
    const taut_operator *op;
    taut_arena arena;
    int size;        /* basis vectors */
    double *basis;   /* [size + 1][n] */
    double *image;   /* B w, [n] */
    double *t;       /* projected matrix, [size][size] */
    double *vectors; /* its eigenvectors by rows */
    double *theta, *residual, *mix;
    int *best;   /* eigenvalues by decreasing magnitude */
    double next; /* length of what remains after the last vector */
} lanczos;

static void subtract(taut_index n, double factor, const double *restrict x, double *restrict y)
{
    for (taut_index i = 0; i < n; i++)
        y[i] -= factor * x[i];
}

/* *image = B w, or w itself. */
static int inner_image(lanczos *work, const double *w, const double **image, taut_error *error)
{
    *image = w;
    if (!work->op->inner)
        return 0;
    *image = work->image;
    return work->op->inner(work->op->user, w, work->image, error);
}

/* Makes w perpendicular to the first `count` basis vectors, by classical Gram-Schmidt, twice;
 * adds the coefficients to row[] (may be NULL). */
static int orthogonalise(lanczos *work, int count, double *w, double *row, double *left,
                         taut_error *error)
{
    const taut_index n = work->op->n;
    const double *image;
    for (int pass = 0; pass < 2; pass++) {
        TAUT_TRY(inner_image(work, w, &image, error));
        for (int i = 0; i < count; i++)
            work->mix[i] = taut_dot(n, work->basis + (int64_t)i * n, image);
        for (int i = 0; i < count; i++) {
            subtract(n, work->mix[i], work->basis + (int64_t)i * n, w);
            if (row)
                row[i] += work->mix[i];
        }
    }
    TAUT_TRY(inner_image(work, w, &image, error));
    *left = sqrt(fabs(taut_dot(n, w, image)));
    return 0;
}

/* Extends the basis from `from` vectors to all, filling t; *filled is smaller when there are no
 * more directions. */
static int extend(lanczos *work, int from, int *filled, taut_error *error)
{
    const taut_index n = work->op->n;
    for (int j = from; j < work->size; j++) {
        double *v = work->basis + (int64_t)j * n, *w = v + n, *row = work->t + j * work->size,
               size = 0, length;
        TAUT_TRY(work->op->apply(work->op->user, v, w, error));
        TAUT_TRY(orthogonalise(work, j + 1, w, row, &work->next, error));
        for (int i = 0; i <= j; i++) {
            work->t[i * work->size + j] = row[i];
            size = fmax(size, fabs(row[i]));
        }
        *filled = j + 1;
        length = work->next;
        if (!isfinite(length))
            return taut_fail(error, TAUT_ERROR_EVALUATE,
                             "the eigenvalue iteration met values that are not finite");
        if (length <= 10 * DBL_EPSILON * size) {
            /* an invariant space, as repeated eigenvalues make it: go on in another direction */
            work->next = 0;
            taut_extreme_start(n, w);
            for (taut_index k = 0; k < n; k++)
                w[k] *= k % (j + 2);
            TAUT_TRY(orthogonalise(work, j + 1, w, NULL, &length, error));
            if (!(length > 1e-8))
                return 0;
        }
        for (taut_index k = 0; k < n; k++)
            w[k] /= length;
    }
    return 0;
}

/* Eigenvalues of the projected matrix, their residuals and their order. */
static int project(lanczos *work, int filled, taut_error *error)
{
    for (int i = 0; i < filled; i++)
        taut_copy(filled, work->t + (int64_t)i * work->size, work->vectors + (int64_t)i * filled);
    TAUT_TRY(
        taut_eigen_symmetric(filled, work->vectors, work->theta, error, &work->arena.allocator));
    for (int i = 0; i < filled; i++) {
        work->residual[i] = work->next * fabs(work->vectors[(int64_t)i * filled + filled - 1]);
        int k = i;
        for (; k > 0 && fabs(work->theta[work->best[k - 1]]) < fabs(work->theta[i]); k--)
            work->best[k] = work->best[k - 1];
        work->best[k] = i;
    }
    return 0;
}

/* Keeps the `keep` best vectors, then the remainder. */
static void restart(lanczos *work, int keep)
{
    const taut_index n = work->op->n;
    const int size = work->size;
    for (taut_index k = 0; k < n; k++) {
        for (int i = 0; i < keep; i++) {
            const double *vector = work->vectors + (int64_t)work->best[i] * size;
            double sum = 0;
            for (int j = 0; j < size; j++)
                sum += vector[j] * work->basis[(int64_t)j * n + k];
            work->mix[i] = sum;
        }
        for (int i = 0; i < keep; i++)
            work->basis[(int64_t)i * n + k] = work->mix[i];
    }
    taut_copy(n, work->basis + (int64_t)size * n, work->basis + (int64_t)keep * n);
    memset(work->t, 0, (size_t)size * (size_t)size * sizeof(double));
    for (int i = 0; i < keep; i++)
        work->t[i * size + i] = work->theta[work->best[i]];
}

static int iterate(lanczos *work, int count, double tolerance, int restarts, double *value,
                   bool *converged, taut_error *error)
{
    const taut_index n = work->op->n;
    const double *image;
    int from = 0, filled = 0;
    taut_extreme_start(n, work->basis + n);
    /* one application puts the start into the operator's range */
    TAUT_TRY(work->op->apply(work->op->user, work->basis + n, work->basis, error));
    TAUT_TRY(inner_image(work, work->basis, &image, error));
    double length = sqrt(fabs(taut_dot(n, work->basis, image)));
    for (taut_index k = 0; k < n && length > 0; k++)
        work->basis[k] /= length;
    for (int round = 0;; round++) {
        TAUT_TRY(extend(work, from, &filled, error));
        TAUT_TRY(project(work, filled, error));
        *converged = true;
        for (int i = 0; i < count && i < filled; i++)
            *converged = *converged && work->residual[work->best[i]] <=
                                           tolerance * fabs(work->theta[work->best[i]]);
        if (*converged || round >= restarts || filled < work->size)
            break;
        from = count + (work->size - count) / 2;
        from = from < work->size ? from : work->size - 1;
        restart(work, from);
    }
    for (int i = 0; i < count; i++)
        value[i] = i < filled ? work->theta[work->best[i]] : 0;
    return 0;
}

int taut_lanczos(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error)
{
    bool done = false;
    lanczos work = {.op = op, .size = taut_extreme_basis(count, op->n)};
    taut_arena_init(&work.arena, allocator);
    const int size = work.size;
    work.basis = TAUT_NEW(&work.arena, double, (size + 1) * (int64_t)op->n);
    work.image = TAUT_NEW(&work.arena, double, op->inner ? op->n : 0);
    work.t = TAUT_NEW(&work.arena, double, size *size);
    work.vectors = TAUT_NEW(&work.arena, double, size *size);
    work.theta = TAUT_NEW(&work.arena, double, size);
    work.residual = TAUT_NEW(&work.arena, double, size);
    work.mix = TAUT_NEW(&work.arena, double, size);
    work.best = TAUT_NEW(&work.arena, int, size);
    bool good = work.basis && work.image && work.t && work.vectors && work.theta && work.residual &&
                work.mix && work.best;
    int status = good ? iterate(&work, count, tolerance, restarts, value, &done, error)
                      : taut_fail_memory(error);
    taut_arena_clear(&work.arena);
    if (converged)
        *converged = done;
    return status;
}
