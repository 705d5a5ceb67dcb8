/* banded.c - band matrices after a bandwidth-reducing order: O(rows b^2) to factor, O(rows b) to
 * solve.
 *
 * With K diagonal and positive the matrix is A = G2 K^-1 G1^T + D (tridiagonal for every chain),
 * factored as L D L^T when symmetric, else by LU with partial pivoting; otherwise it is the
 * whole saddle matrix, by LU. Narrow bands use own kernels, wide ones LAPACK's blocked routines
 * where they are there. */
#include "linalg/backend.h"

#include "linalg/lapack.h"
#include "linalg/small_kernels.h"

enum { WIDE = 48 }; /* half-width from which LAPACK's blocked routines win */

static taut_index decompose_wide(taut_form *form, taut_stored *work, double tolerance)
{
    const int n = form->rows, b = form->half_width, lead = (int)form->step + 1;
    const taut_lapack *lapack = taut_lapack_get();
    int info = 0;
    if (form->definite)
        lapack->dpbtrf("L", &n, &b, work->matrix, &lead, &info, 1);
    else if (form->shape.complex_values)
        lapack->zgbtrf(&n, &n, &b, &b, work->matrix, &lead, work->pivot, &info);
    else
        lapack->dgbtrf(&n, &n, &b, &b, work->matrix, &lead, work->pivot, &info);
    return taut_small_pivot(form, work->matrix, info, tolerance);
}

static void substitute_wide(taut_form *form, taut_stored *work)
{
    const int n = form->rows, b = form->half_width, lead = (int)form->step + 1, one = 1;
    const taut_lapack *lapack = taut_lapack_get();
    int info = 0;
    if (form->definite)
        lapack->dpbtrs("L", &n, &b, &one, work->matrix, &lead, form->vector, &n, &info, 1);
    else if (form->shape.complex_values)
        lapack->zgbtrs("N", &n, &b, &b, &one, work->matrix, &lead, work->pivot, form->vector, &n,
                       &info, 1);
    else
        lapack->dgbtrs("N", &n, &b, &b, &one, work->matrix, &lead, work->pivot, form->vector, &n,
                       &info, 1);
}

static taut_index decompose(taut_form *form, taut_stored *work, double tolerance)
{
    if (form->definite)
        return taut_band_ldl_factor(form->rows, form->half_width, work->matrix, tolerance);
    return taut_band_lu_factor(form->shape.complex_values, form->rows, form->half_width,
                               work->matrix, work->pivot, tolerance);
}

static void substitute(taut_form *form, taut_stored *work)
{
    if (form->definite)
        taut_band_ldl_solve(form->rows, form->half_width, work->matrix, form->vector);
    else
        taut_band_lu_solve(form->shape.complex_values, form->rows, form->half_width, work->matrix,
                           work->pivot, form->vector);
}

static int create_banded(taut_saddle *saddle, taut_error *error)
{
    const taut_form *form = &saddle->form;
    int64_t b = form->half_width, offset = form->definite ? 0 : 2 * b,
            step = form->definite ? b : 3 * b;
    bool wide = b >= WIDE && taut_lapack_get();
    return taut_stored_create(saddle, offset, step,
                              (taut_stored){.numbers = form->rows * (step + 1),
                                            .base = form->half_width >= WIDE,
                                            .width = form->half_width,
                                            .decompose = wide ? decompose_wide : decompose,
                                            .substitute = wide ? substitute_wide : substitute},
                              error);
}

const taut_backend_functions taut_backend_banded = {create_banded, taut_stored_factor,
                                                    taut_stored_solve, NULL, taut_stored_archive};
