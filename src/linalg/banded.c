/* banded.c - band matrices after a bandwidth-reducing order: O(rows b^2) to factor, O(rows b) to
 * solve.
 *
 * With K diagonal and positive the matrix is A = G2 K^-1 G1^T + D (tridiagonal for every chain),
 * factored as L D L^T when symmetric, else by LU with partial pivoting; otherwise it is the
 * whole saddle matrix. Where that is symmetric, its lower half is factored as L D L^T without
 * pivoting, bonds behind their coordinates: with K definite no pivot vanishes [Vanderbei, SIAM J.
 * Optim. 5 (1995) 100]. Where digits would be lost it is assembled again, and factored by LU, whose
 * memory is not touched before. Narrow bands use own kernels, the narrowest ones in segments
 * (segments.h), wide ones LAPACK's blocked routines where they are there. Symmetric ones are
 * assembled by runs (form_runs.h) where their pattern has them. */
#include "linalg/backend.h"

#include "linalg/form_runs.h"
#include "linalg/lapack.h"
#include "linalg/segments.h"
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
        return taut_band_ldl_factor(form->rows, form->half_width, work->matrix, NULL, tolerance);
    return taut_band_lu_factor(form->shape.complex_values, form->rows, form->half_width,
                               work->matrix, work->pivot, tolerance);
}

/* Runs: unscaled, so that pivots are compared with the diagonal. */
static taut_index decompose_runs(taut_form *form, taut_stored *work, double tolerance)
{
    const double *matrix = work->matrix;
    for (taut_index j = 0; j < form->rows; j++)
        form->scale[j] = matrix[j * (form->step + 1)];
    return taut_band_ldl_factor(form->rows, form->half_width, work->matrix, form->scale, tolerance);
}

/* The factors follow the matrix, which is room once it was factored. */
static double *factors_of(const taut_form *form, const taut_stored *work)
{
    return (double *)work->matrix + form->rows * ((int64_t)form->half_width + 1);
}

static taut_index decompose_segments(taut_form *form, taut_stored *work, double tolerance)
{
    return taut_segments_factor(form->shape.pool, form->rows, form->half_width, work->matrix,
                                form->rows, tolerance, factors_of(form, work));
}

static void substitute_segments(taut_form *form, taut_stored *work)
{
    taut_segments_solve(form->shape.pool, form->rows, form->half_width, factors_of(form, work),
                        work->matrix, form->vector);
}

static void substitute(taut_form *form, taut_stored *work)
{
    if (work->half)
        taut_band_symmetric_solve(form->shape.complex_values, form->rows, form->half_width,
                                  work->matrix, form->vector);
    else if (form->definite)
        taut_band_ldl_solve(form->rows, form->half_width, work->matrix, form->vector);
    else
        taut_band_lu_solve(form->shape.complex_values, form->rows, form->half_width, work->matrix,
                           work->pivot, form->vector);
}

/* Where entries are: those of the lower half, or with the room that LU needs. */
static void lay_out(taut_form *form, taut_stored *work, bool half)
{
    const int64_t b = form->half_width;
    work->half = form->lower = half;
    form->offset = half ? 0 : 2 * b;
    form->step = half ? b : 3 * b;
    work->clear = form->rows * (form->step + 1);
}

static int factor_banded(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    taut_form *form = &saddle->form;
    taut_stored *work = saddle->work;
    if (work->symmetric) {
        lay_out(form, work, true);
        TAUT_TRY(taut_form_load(form, values, error));
        taut_stored_assemble(form, work, values);
        if (taut_band_symmetric_factor(form->shape.complex_values, form->rows, form->half_width,
                                       work->matrix, taut_form_tolerance(work->width)))
            return TAUT_OK;
        lay_out(form, work, false);
    }
    return taut_stored_factor(saddle, values, error);
}

static void archive_banded(taut_saddle *saddle, taut_archive *archive)
{
    taut_stored *work = saddle->work;
    bool half = work->half;
    if (work->symmetric) {
        taut_archive_flag(archive, &half);
        lay_out(&saddle->form, work, half);
    }
    taut_stored_archive(saddle, archive);
}

static int create_banded(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    bool symmetric = form->shape.symmetric && !form->definite && form->half_width < WIDE;
    int64_t b = form->half_width;
    const taut_index most = 2 * b < WIDE ? (taut_index)(2 * b) : WIDE - 1;
    if (symmetric && !form->schur && form->shape.m > 0)
        TAUT_TRY(taut_form_postpone(form, most, &saddle->arena.allocator, &symmetric, error));
    b = form->half_width;
    int64_t offset = form->definite ? 0 : 2 * b, step = form->definite ? b : 3 * b,
            numbers = form->rows * (step + 1);
    bool wide = b >= WIDE && taut_lapack_get(), segments = taut_segments_fit(form->rows, b);
    form->offset = offset;
    form->step = step;
    if (!wide)
        TAUT_TRY(taut_form_runs_create(form, segments, &saddle->arena, error));
    segments = segments && form->runs;
    return taut_stored_create(
        saddle, offset, step,
        (taut_stored){.numbers = numbers + (segments ? taut_segments_numbers(form->rows, b) : 0),
                      .clear = segments ? 0 : numbers,
                      .symmetric = symmetric && !wide,
                      .base = wide,
                      .width = form->half_width,
                      .decompose = wide         ? decompose_wide
                                   : segments   ? decompose_segments
                                   : form->runs ? decompose_runs
                                                : decompose,
                      .substitute = wide       ? substitute_wide
                                    : segments ? substitute_segments
                                               : substitute},
        error);
}

const taut_backend_functions taut_backend_banded = {
    create_banded, factor_banded, taut_stored_solve, NULL, archive_banded, NULL};
