/* dense_backend.c - full matrices: LAPACK where it is there, own kernels otherwise, and for
 * small ones, without the overhead of a library call; and what all backends share that store the
 * matrix as columns.
 *
 * Symmetric indefinite matrices are factored as general ones: at the sizes where this backend is
 * chosen, OpenBLAS's dgetrf is not slower than dsytrf with half the operations. The number of
 * BLAS threads is left to the host program; at these sizes one is best (OPENBLAS_NUM_THREADS=1,
 * or openblas_set_num_threads(1) in main). */
#include "linalg/backend.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "linalg/lapack.h"
#include "linalg/small_kernels.h"

int taut_stored_create(taut_saddle *saddle, int64_t offset, int64_t step, taut_stored like,
                       taut_error *error)
{
    taut_form *form = &saddle->form;
    taut_stored *work = saddle->work = TAUT_NEW(&saddle->arena, taut_stored, 1);
    TAUT_NEED(error, work);
    *work = like;
    form->offset = offset;
    form->step = step;
    work->matrix = taut_arena_get(&saddle->arena, work->numbers, taut_form_scalar(form));
    work->pivot = TAUT_NEW(&saddle->arena, taut_index, form->rows);
    return taut_arena_check(&saddle->arena, error);
}

void taut_stored_assemble(const taut_form *form, taut_stored *work,
                          const taut_saddle_values *values)
{
    taut_clear(work->clear * (int64_t)(taut_form_scalar(form) / sizeof(double)), work->matrix);
    taut_form_assemble(form, values, work->matrix);
}

int taut_stored_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    taut_stored *work = saddle->work;
    taut_form *form = &saddle->form;
    TAUT_TRY(taut_form_load(form, values, error));
    taut_stored_assemble(form, work, values);
    taut_index bad = work->decompose(form, work, taut_form_tolerance(work->width));
    return bad ? taut_form_singular(form, values, bad - 1, error) : 0;
}

int taut_stored_solve(taut_saddle *saddle, taut_error *error)
{
    taut_stored *work = saddle->work;
    (void)error;
    work->substitute(&saddle->form, work);
    return 0;
}

void taut_stored_archive(taut_saddle *saddle, taut_archive *archive)
{
    taut_stored *work = saddle->work;
    const taut_form *form = &saddle->form;
    const int64_t numbers = work->half ? work->clear : work->numbers;
    taut_archive_bytes(archive, work->matrix, (size_t)numbers * taut_form_scalar(form));
    if (!form->definite && !work->half)
        taut_archive_indices(archive, work->pivot, form->rows, work->base,
                             work->base + form->rows - 1);
}

static taut_index decompose_tiny(taut_form *form, taut_stored *work, double tolerance)
{
    return form->definite ? taut_ldl_factor(form->rows, work->matrix, tolerance)
                          : taut_lu_factor(form->shape.complex_values, form->rows, work->matrix,
                                           work->pivot, tolerance);
}

static void substitute_tiny(taut_form *form, taut_stored *work)
{
    if (form->definite)
        taut_ldl_solve(form->rows, work->matrix, form->vector);
    else
        taut_lu_solve(form->shape.complex_values, form->rows, work->matrix, work->pivot,
                      form->vector);
}

static int create_full(taut_saddle *saddle, taut_stored like, taut_error *error)
{
    taut_index rows = saddle->form.rows;
    like.width = rows;
    like.numbers = like.clear = (int64_t)rows * rows;
    return taut_stored_create(saddle, 0, rows, like, error);
}

static int create_tiny(taut_saddle *saddle, taut_error *error)
{
    return create_full(
        saddle, (taut_stored){.decompose = decompose_tiny, .substitute = substitute_tiny}, error);
}

const taut_backend_functions taut_backend_tiny = {
    create_tiny, taut_stored_factor, taut_stored_solve, NULL, taut_stored_archive, NULL};

taut_index taut_small_pivot(const taut_form *form, const void *matrix, int info, double tolerance)
{
    if (info)
        return info > 0 ? info : 1;
    if (form->definite) /* Cholesky's diagonal is the root of the pivot */
        tolerance = sqrt(tolerance);
    for (taut_index j = 0; j < form->rows; j++) {
        int64_t at = form->offset + j * (form->step + 1);
        double size = form->shape.complex_values ? cabs(((const double complex *)matrix)[at])
                                                 : fabs(((const double *)matrix)[at]);
        if (!(size > tolerance))
            return j + 1;
    }
    return 0;
}

static taut_index decompose(taut_form *form, taut_stored *work, double tolerance)
{
    const int n = form->rows, lead = n > 0 ? n : 1;
    const taut_lapack *lapack = taut_lapack_get();
    int info = 0;
    if (form->definite)
        lapack->dpotrf("L", &n, work->matrix, &lead, &info, 1);
    else if (form->shape.complex_values)
        lapack->zgetrf(&n, &n, work->matrix, &lead, work->pivot, &info);
    else
        lapack->dgetrf(&n, &n, work->matrix, &lead, work->pivot, &info);
    return taut_small_pivot(form, work->matrix, info, tolerance);
}

static void substitute(taut_form *form, taut_stored *work)
{
    const int n = form->rows, lead = n > 0 ? n : 1, one = 1;
    const taut_lapack *lapack = taut_lapack_get();
    int info = 0;
    if (form->definite)
        lapack->dpotrs("L", &n, &one, work->matrix, &lead, form->vector, &lead, &info, 1);
    else if (form->shape.complex_values)
        lapack->zgetrs("N", &n, &one, work->matrix, &lead, work->pivot, form->vector, &lead, &info,
                       1);
    else
        lapack->dgetrs("N", &n, &one, work->matrix, &lead, work->pivot, form->vector, &lead, &info,
                       1);
}

static int create_dense(taut_saddle *saddle, taut_error *error)
{
    if (saddle->form.rows <= TAUT_SMALL_ROWS || !taut_lapack_get())
        return create_tiny(saddle, error);
    return create_full(
        saddle, (taut_stored){.base = 1, .decompose = decompose, .substitute = substitute}, error);
}

const taut_backend_functions taut_backend_dense = {
    create_dense, taut_stored_factor, taut_stored_solve, NULL, taut_stored_archive, NULL};
