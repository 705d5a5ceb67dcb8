/* arpack.c - extreme eigenvalues by ARPACK's implicitly restarted Lanczos method (dsaupd), by
 * reverse communication.
 *
 *     R. Lehoucq, D. Sorensen, C. Yang, ARPACK Users' Guide, SIAM (1998)
 *
 * Eigenvectors are not needed, so the Ritz values are read where dsaupd leaves them (IPNTR(6));
 * this also gives the best approximations when the iteration is cut short. */
#include "base/vectors.h"
#include "linalg/extreme.h"

#ifdef TAUT_HAVE_ARPACK

#include <math.h>
#include <pthread.h>

#include "base/library.h"

void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
             const double *tol, double *resid, const int *ncv, double *v, const int *ldv,
             int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
             size_t bmat_length, size_t which_length);

static const taut_import routine = TAUT_IMPORT(dsaupd_);
static __typeof__(dsaupd_) *dsaupd;
static taut_library library = {.file = TAUT_ARPACK_FILE,
                               .package = "libarpack2",
                               .blas = true,
                               .imports = 1,
                               .import = &routine,
                               .table = &dsaupd};

/* ARPACK keeps its state in static variables */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct arpack {
    double *residual, *basis, *exchange, *inside;
    int size, inside_size, pointer[11];
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
        dsaupd(&ask, op->inner ? "G" : "I", &op->n, "LM", &count, &tolerance, work->residual,
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

int taut_extreme(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error)
{
    if (!taut_library_load(&library))
        return taut_lanczos(op, count, tolerance, restarts, value, converged, allocator, error);
    arpack work = {.size = taut_extreme_basis(count, op->n)};
    taut_arena arena;
    int info = 0, status;
    taut_arena_init(&arena, allocator);
    work.inside_size = work.size * (work.size + 8);
    work.residual = TAUT_NEW(&arena, double, op->n);
    work.basis = TAUT_NEW(&arena, double, (int64_t)op->n *work.size);
    work.exchange = TAUT_NEW(&arena, double, 3 * (int64_t)op->n);
    work.inside = TAUT_NEW(&arena, double, work.inside_size);
    if (work.residual && work.basis && work.exchange && work.inside) {
        pthread_mutex_lock(&arpack_lock);
        status = converse(op, count, tolerance, restarts, &work, &info, error);
        pthread_mutex_unlock(&arpack_lock);
        if (status == 0 && info < 0)
            status = taut_fail(error, TAUT_ERROR_CONVERGE,
                               "the eigenvalue iteration failed (ARPACK: INFO = %d)", info);
        if (status == 0)
            choose(count, value, work.inside + work.pointer[5] - 1, work.size);
    } else {
        status = taut_fail_memory(error);
    }
    taut_arena_clear(&arena);
    if (converged)
        *converged = info == 0;
    return status;
}

#else

int taut_extreme(const taut_operator *op, int count, double tolerance, int restarts, double *value,
                 bool *converged, const taut_allocator *allocator, taut_error *error)
{
    return taut_lanczos(op, count, tolerance, restarts, value, converged, allocator, error);
}

#endif
