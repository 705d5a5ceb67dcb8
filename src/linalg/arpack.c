/* arpack.c - extreme eigenvalues by ARPACK's implicitly restarted Lanczos (dsaupd) and Arnoldi
 * (dnaupd) methods, by reverse communication.
 *
 *     R. Lehoucq, D. Sorensen, C. Yang, ARPACK Users' Guide, SIAM (1998)
 *
 * Eigenvectors are not needed, so the Ritz values are read where they are left (IPNTR(6) and (7));
 * this also gives the best approximations when the iteration is cut short. */
#include "base/vectors.h"
#include "linalg/arnoldi.h"

#ifdef TAUT_HAVE_ARPACK

#include <math.h>
#include <pthread.h>

#include "base/library.h"

void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
             const double *tol, double *resid, const int *ncv, double *v, const int *ldv,
             int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
             size_t bmat_length, size_t which_length);

void dnaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
             const double *tol, double *resid, const int *ncv, double *v, const int *ldv,
             int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
             size_t bmat_length, size_t which_length);

static const taut_import routines[] = {TAUT_IMPORT(dsaupd_), TAUT_IMPORT(dnaupd_)};
static struct {
    __typeof__(dsaupd_) *symmetric, *general;
} call;
static taut_library library = {.file = TAUT_ARPACK_FILE,
                               .package = "libarpack2",
                               .blas = true,
                               .imports = 2,
                               .import = routines,
                               .table = &call};

/* ARPACK keeps its state in static variables */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct arpack {
    double *residual, *basis, *exchange, *inside;
    int size, inside_size, pointer[14];
    bool general; /* the operator is not self-adjoint */
} arpack;

/* The conversation: ARPACK asks for O x or B x until it is done. info is its final report. */
static int converse(const taut_operator *op, int count, double tolerance, int restarts,
                    arpack *work, int *info, taut_error *error)
{
    int ask = 0, parameter[11] = {0};
    *info = 1; /* the start vector is ours */
    parameter[0] = 1;
    parameter[2] = restarts + 1;
    parameter[3] = 1;
    parameter[6] = op->inner ? 3 : 1; /* 3: any operator that is self-adjoint in B */
    taut_extreme_start(op->n, work->residual);
    for (;;) {
        (work->general ? call.general : call.symmetric)(
            &ask, op->inner ? "G" : "I", &op->n, "LM", &count, &tolerance, work->residual,
            &work->size, work->basis, &op->n, parameter, work->pointer, work->exchange,
            work->inside, &work->inside_size, info, 1, 2);
        const double *x = work->exchange + work->pointer[0] - 1;
        double *y = work->exchange + work->pointer[1] - 1;
        if (ask == -1 || ask == 1)
            TAUT_TRY(op->apply(op->user, x, y, error));
        else if (ask == 2 && op->inner)
            TAUT_TRY(op->inner(op->user, x, y, error));
        else if (ask == 2)
            taut_copy(op->n, x, y);
        else
            return 0;
    }
}

/* The largest of the Ritz values, by repeated choice. */
static void choose(int count, double *value, double *ritz, int size)
{
    for (int k = 0; k < count; k++) {
        int best = 0;
        for (int i = 1; i < size; i++)
            if (fabs(ritz[i]) > fabs(ritz[best]))
                best = i;
        value[k] = ritz[best];
        ritz[best] = 0;
    }
}

/* Memory, and the conversation under the lock. */
static int run(const taut_operator *op, int count, double tolerance, int restarts, arpack *work,
               taut_arena *arena, bool *converged, taut_error *error)
{
    int info = 0;
    work->inside_size = work->size * (work->general ? 3 * work->size + 6 : work->size + 8);
    work->residual = TAUT_NEW(arena, double, op->n);
    work->basis = TAUT_NEW(arena, double, (int64_t)op->n * work->size);
    work->exchange = TAUT_NEW(arena, double, 3 * (int64_t)op->n);
    work->inside = TAUT_NEW(arena, double, work->inside_size);
    TAUT_TRY(taut_arena_check(arena, error));
    pthread_mutex_lock(&arpack_lock);
    int status = converse(op, count, tolerance, restarts, work, &info, error);
    pthread_mutex_unlock(&arpack_lock);
    if (status == 0 && info < 0)
        status = taut_fail(error, TAUT_ERROR_CONVERGE,
                           "the eigenvalue iteration failed (ARPACK: INFO = %d)", info);
    if (converged)
        *converged = info == 0;
    return status;
}

int taut_extreme(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error)
{
    if (!taut_library_load(&library))
        return taut_lanczos(op, count, tolerance, restarts, value, converged, allocator, error);
    arpack work = {.size = taut_extreme_basis(count, op->n)};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int status = run(op, count, tolerance, restarts, &work, &arena, converged, error);
    if (status == 0)
        choose(count, value, work.inside + work.pointer[5] - 1, work.size);
    taut_arena_clear(&arena);
    return status;
}

int taut_leading(const taut_operator *op, int count, double tolerance, int restarts, double *real,
                 double *imaginary, int *found, bool *converged, const taut_allocator *allocator,
                 taut_error *error)
{
    if (!taut_library_load(&library)) {
        *converged = false;
        return taut_arnoldi_values(op, 4 * count + 40, count, real, imaginary, found, allocator,
                                   error);
    }
    arpack work = {.size = taut_extreme_basis(count, op->n), .general = true};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int status = run(op, count, tolerance, restarts, &work, &arena, converged, error);
    if (status == 0)
        taut_leading_choose(work.size, work.inside + work.pointer[5] - 1,
                            work.inside + work.pointer[6] - 1, count, real, imaginary, found);
    taut_arena_clear(&arena);
    return status;
}

#else

int taut_extreme(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error)
{
    return taut_lanczos(op, count, tolerance, restarts, value, converged, allocator, error);
}

int taut_leading(const taut_operator *op, int count, double tolerance, int restarts, double *real,
                 double *imaginary, int *found, bool *converged, const taut_allocator *allocator,
                 taut_error *error)
{
    (void)tolerance;
    (void)restarts;
    *converged = false;
    return taut_arnoldi_values(op, 4 * count + 40, count, real, imaginary, found, allocator, error);
}

#endif
