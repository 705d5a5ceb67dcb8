/* sparse.c - large saddle matrices without a narrow band: MUMPS, sequential, real and complex.
 *
 *     P. Amestoy, I. Duff, J.-Y. L'Excellent, J. Koster,
 *     SIAM J. Matrix Anal. Appl. 23 (2001) 15-41
 *
 * Symmetric matrices are factored as L D L^T with 1x1 and 2x2 pivots (SYM=2), others as LU
 * (SYM=0). MUMPS takes its own memory, also while factoring. It keeps state in variables of its
 * modules, so one call runs at a time: threads that use this backend wait for one another. */
#include "linalg/backend.h"

#ifdef TAUT_HAVE_MUMPS

#include <math.h>
#include <pthread.h>

#include <dmumps_c.h>
#include <zmumps_c.h>

#include "base/library.h"

enum { WORLD = -987654 }; /* MPI_COMM_WORLD of the sequential library */

static pthread_mutex_t mumps_lock = PTHREAD_MUTEX_INITIALIZER;

/* Both are loaded at the first request. */
static const taut_import call_real = TAUT_IMPORT(dmumps_c), call_complex = TAUT_IMPORT(zmumps_c);
static __typeof__(dmumps_c) *do_real;
static __typeof__(zmumps_c) *do_complex;
static taut_library library_real = {.file = TAUT_DMUMPS_FILE,
                                    .package = "libmumps-seq-dev",
                                    .blas = true,
                                    .imports = 1,
                                    .import = &call_real,
                                    .table = &do_real};
static taut_library library_complex = {.file = TAUT_ZMUMPS_FILE,
                                       .package = "libmumps-seq-dev",
                                       .blas = true,
                                       .imports = 1,
                                       .import = &call_complex,
                                       .table = &do_complex};

bool taut_sparse_available(void)
{
    return taut_library_load(&library_real) && taut_library_load(&library_complex);
}

typedef struct sparse {
    union {
        DMUMPS_STRUC_C real;
        ZMUMPS_STRUC_C complex_one;
    } mumps;
    bool begun;
    int *row, *column; /* from 1 */
    void *values;
} sparse;

static int mumps_failed(const int *info, taut_error *error)
{
    if (info[0] == -7 || info[0] == -13 || info[0] == -19 || info[0] == -22)
        return taut_fail_memory(error);
    if (info[0] == -6 || info[0] == -10)
        return taut_fail(
            error, TAUT_ERROR_SINGULAR,
            "the saddle matrix is singular: bonds without compliance depend on each other");
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the sparse solver failed (MUMPS: INFO(1) = %d, INFO(2) = %d)", info[0],
                     info[1]);
}

#include "linalg/scalar_real.h"
#include "linalg/entries_generic.h"
#define MUMPS_INSTANCE DMUMPS_STRUC_C
#define MUMPS_NUMBER double
#define MUMPS_DO do_real
#include "linalg/sparse_generic.h"
#undef MUMPS_INSTANCE
#undef MUMPS_NUMBER
#undef MUMPS_DO
#include "linalg/scalar_complex.h"
#include "linalg/entries_generic.h"
#define MUMPS_INSTANCE ZMUMPS_STRUC_C
#define MUMPS_NUMBER mumps_double_complex
#define MUMPS_DO do_complex
#include "linalg/sparse_generic.h"

/* Writes the triplets' places when row is given; returns their number. Symmetric: the lower half.
 */
static int64_t sparse_pattern(const taut_saddle_shape *shape, int *row, int *column)
{
    int64_t count = 0;
    for (taut_index i = 0; i < shape->n; i++) {
        taut_index first = shape->k_start ? shape->k_start[i] : i,
                   end = shape->k_start ? shape->k_start[i + 1] : i + 1;
        for (taut_index e = first; e < end; e++) {
            taut_index j = shape->k_start ? shape->k_column[e] : i;
            if (j > i && shape->symmetric)
                continue;
            if (row)
                row[count] = i + 1, column[count] = j + 1;
            count++;
        }
    }
    for (taut_index i = 0; i < shape->m; i++) {
        int bond = shape->n + i + 1;
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            int j = shape->g_column[e] + 1;
            if (row)
                row[count] = bond, column[count] = j;
            count++;
            if (shape->symmetric)
                continue;
            if (row)
                row[count] = j, column[count] = bond;
            count++;
        }
        if (row)
            row[count] = column[count] = bond;
        count++;
    }
    return count;
}

static int sparse_create(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    if (!taut_sparse_available())
        return taut_library_fail(taut_library_load(&library_real) ? &library_complex
                                                                  : &library_real,
                                 "no sparse solver (MUMPS)", error);
    sparse *work = saddle->work = TAUT_NEW(&saddle->arena, sparse, 1);
    TAUT_NEED(error, work);
    int64_t entries = sparse_pattern(&form->shape, NULL, NULL);
    work->row = TAUT_NEW(&saddle->arena, int, entries);
    work->column = TAUT_NEW(&saddle->arena, int, entries);
    work->values = taut_arena_get(&saddle->arena, entries, taut_form_scalar(form));
    TAUT_TRY(taut_arena_check(&saddle->arena, error));
    if (form->rows == 0)
        return 0;
    sparse_pattern(&form->shape, work->row, work->column);
    work->begun = true;
    return form->shape.complex_values
               ? begin_complex(&work->mumps.complex_one, form->rows, entries, work->row,
                               work->column, form->shape.symmetric, error)
               : begin_real(&work->mumps.real, form->rows, entries, work->row, work->column,
                            form->shape.symmetric, error);
}

static int sparse_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    sparse *work = saddle->work;
    taut_form *form = &saddle->form;
    if (form->rows == 0)
        return 0;
    TAUT_TRY(taut_form_load(form, values, error));
    const int *info, *null;
    if (form->shape.complex_values) {
        ZMUMPS_STRUC_C *mumps = &work->mumps.complex_one;
        load_complex(form, values, work->values);
        decompose_complex(mumps, work->values);
        info = mumps->infog, null = mumps->pivnul_list;
    } else {
        DMUMPS_STRUC_C *mumps = &work->mumps.real;
        load_real(form, values, work->values);
        decompose_real(mumps, work->values);
        info = mumps->infog, null = mumps->pivnul_list;
    }
    if (info[0] >= 0 && info[27] > 0)
        return taut_form_singular(form, values, null ? null[0] - 1 : form->rows - 1, error);
    if (info[0] == -10)
        return taut_form_singular(form, values, form->rows - 1, error);
    return info[0] < 0 ? mumps_failed(info, error) : 0;
}

static int sparse_solve(taut_saddle *saddle, taut_error *error)
{
    sparse *work = saddle->work;
    taut_form *form = &saddle->form;
    if (form->rows == 0)
        return 0;
    int info = form->shape.complex_values
                   ? substitute_complex(&work->mumps.complex_one, form->vector)
                   : substitute_real(&work->mumps.real, form->vector);
    if (info >= 0)
        return 0;
    return mumps_failed(
        form->shape.complex_values ? work->mumps.complex_one.infog : work->mumps.real.infog, error);
}

/* MUMPS keeps its factors to itself: the same matrix gives the same ones. */
static void sparse_archive(taut_saddle *saddle, taut_archive *archive)
{
    sparse *work = saddle->work;
    const taut_form *form = &saddle->form;
    size_t entries = (size_t)sparse_pattern(&form->shape, NULL, NULL);
    taut_archive_bytes(archive, work->values, entries * taut_form_scalar(form));
    if (!archive->reading || archive->status != TAUT_OK || form->rows == 0)
        return;
    int info = form->shape.complex_values
                   ? decompose_complex(&work->mumps.complex_one, work->values)
                   : decompose_real(&work->mumps.real, work->values);
    if (info < 0)
        taut_archive_fail(archive, TAUT_ERROR_SINGULAR, "a matrix in it is singular");
}

static void sparse_destroy(taut_saddle *saddle)
{
    sparse *work = saddle->work;
    if (!work || !work->begun)
        return;
    if (saddle->form.shape.complex_values)
        run_complex(&work->mumps.complex_one, -2);
    else
        run_real(&work->mumps.real, -2);
}

#else

bool taut_sparse_available(void)
{
    return false;
}

static int sparse_create(taut_saddle *saddle, taut_error *error)
{
    (void)saddle;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "this build has no sparse solver (MUMPS); use the banded or dense one");
}

/* what cannot be created is never called */
#define sparse_factor NULL
#define sparse_solve NULL
#define sparse_destroy NULL
#define sparse_archive NULL

#endif

const taut_backend_functions taut_backend_sparse = {sparse_create,  sparse_factor,  sparse_solve,
                                                    sparse_destroy, sparse_archive, NULL};
