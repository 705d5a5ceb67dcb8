/* dense.c - dense factorisations: LAPACK where the build has it, own kernels otherwise.
 *
 * Symmetric indefinite matrices are treated as general ones: at the sizes where this backend is chosen, OpenBLAS's dgetrf is not slower
 * than dsytrf with half the operations. The number of BLAS threads is the host program's business; at these sizes one is best
 * (OPENBLAS_NUM_THREADS=1, or openblas_set_num_threads(1) in main). */
#include "linalg/backend.h"

#include <math.h>
#include <string.h>

#include "linalg/kernels.h"
#ifdef TAUT_HAVE_LAPACK
#include "linalg/lapack.h"
#endif

typedef struct dense {
    void *matrix;
    taut_index *pivot;
} dense;

static int dense_create(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    dense *work = saddle->work = TAUT_NEW(&saddle->arena, dense, 1);
    if (!work)
        return taut_fail_memory(error);
    form->offset = 0;
    form->step = form->rows;
    work->matrix = taut_arena_get(&saddle->arena, (int64_t)form->rows * form->rows, taut_form_scalar(form));
    work->pivot = TAUT_NEW(&saddle->arena, taut_index, form->rows);
    return work->matrix && work->pivot ? 0 : taut_fail_memory(error);
}

#ifdef TAUT_HAVE_LAPACK

/* 1 + the column of the first small pivot after LAPACK was done, or 0. */
static taut_index small_pivot(const taut_form *form, const void *matrix, int info, double tolerance)
{
    if (info)
        return info > 0 ? info : 1;
    for (taut_index j = 0; j < form->rows; j++) {
        int64_t at = (int64_t)j * (form->rows + 1);
        double size = form->shape.complex_values ? cabs(((const double complex *)matrix)[at]) : fabs(((const double *)matrix)[at]);
        if (!(size > tolerance))
            return j + 1;
    }
    return 0;
}

static taut_index decompose(taut_form *form, dense *work, double tolerance)
{
    const int n = form->rows, lead = n > 0 ? n : 1;
    int info = 0;
    if (form->definite)
        dpotrf_("L", &n, work->matrix, &lead, &info, 1);
    else if (form->shape.complex_values)
        zgetrf_(&n, &n, work->matrix, &lead, work->pivot, &info);
    else
        dgetrf_(&n, &n, work->matrix, &lead, work->pivot, &info);
    /* Cholesky's diagonal is the root of the pivot */
    return small_pivot(form, work->matrix, info, form->definite ? sqrt(tolerance) : tolerance);
}

static void substitute(taut_form *form, dense *work)
{
    const int n = form->rows, lead = n > 0 ? n : 1, one = 1;
    int info = 0;
    if (form->definite)
        dpotrs_("L", &n, &one, work->matrix, &lead, form->vector, &lead, &info, 1);
    else if (form->shape.complex_values)
        zgetrs_("N", &n, &one, work->matrix, &lead, work->pivot, form->vector, &lead, &info, 1);
    else
        dgetrs_("N", &n, &one, work->matrix, &lead, work->pivot, form->vector, &lead, &info, 1);
}

#else

static taut_index decompose(taut_form *form, dense *work, double tolerance)
{
    return form->definite ? taut_ldl_factor(form->rows, work->matrix, tolerance)
                          : taut_lu_factor(form->shape.complex_values, form->rows, work->matrix, work->pivot, tolerance);
}

static void substitute(taut_form *form, dense *work)
{
    if (form->definite)
        taut_ldl_solve(form->rows, work->matrix, form->vector);
    else
        taut_lu_solve(form->shape.complex_values, form->rows, work->matrix, work->pivot, form->vector);
}

#endif

static int dense_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    dense *work = saddle->work;
    taut_form *form = &saddle->form;
    TAUT_TRY(taut_form_load(form, values, error));
    memset(work->matrix, 0, (size_t)form->rows * (size_t)form->rows * taut_form_scalar(form));
    taut_form_assemble(form, values, work->matrix);
    taut_index bad = decompose(form, work, taut_form_tolerance(form->rows));
    return bad ? taut_form_singular(form, values, bad - 1, error) : 0;
}

static int dense_solve(taut_saddle *saddle, taut_error *error)
{
    (void)error;
    substitute(&saddle->form, saddle->work);
    return 0;
}

const taut_backend_functions taut_backend_dense = {dense_create, dense_factor, dense_solve, NULL};
