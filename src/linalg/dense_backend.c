/* dense_backend.c - dense factorisations: LAPACK where the build has it, own kernels otherwise.
 *
 * Symmetric indefinite matrices are treated as general ones: at the sizes where this backend is
 * chosen, OpenBLAS's dgetrf is not slower than dsytrf with half the operations. The number of
 * BLAS threads is the host program's business; at these sizes one is best
 * (OPENBLAS_NUM_THREADS=1, or openblas_set_num_threads(1) in main). */
#include "linalg/backend.h"

#ifdef TAUT_HAVE_LAPACK
#include <math.h>

#include "linalg/lapack.h"

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

static taut_index decompose(taut_form *form, taut_full *work, double tolerance)
{
    const int n = form->rows, lead = n > 0 ? n : 1;
    int info = 0;
    if (form->definite)
        dpotrf_("L", &n, work->matrix, &lead, &info, 1);
    else if (form->shape.complex_values)
        zgetrf_(&n, &n, work->matrix, &lead, work->pivot, &info);
    else
        dgetrf_(&n, &n, work->matrix, &lead, work->pivot, &info);
    return taut_small_pivot(form, work->matrix, info, tolerance);
}

static void substitute(taut_form *form, taut_full *work)
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
#define decompose taut_full_decompose
#define substitute taut_full_substitute
#endif

static int dense_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    taut_form *form = &saddle->form;
    TAUT_TRY(taut_full_form(saddle, values, error));
    taut_index bad = decompose(form, saddle->work, taut_form_tolerance(form->rows));
    return bad ? taut_form_singular(form, values, bad - 1, error) : 0;
}

static int dense_solve(taut_saddle *saddle, taut_error *error)
{
    (void)error;
    substitute(&saddle->form, saddle->work);
    return 0;
}

const taut_backend_functions taut_backend_dense = {taut_full_create, dense_factor, dense_solve,
                                                   NULL};
