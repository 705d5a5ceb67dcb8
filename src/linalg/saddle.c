/* saddle.c - the interface of saddle.h: the choice of a backend, and the calls that all backends
 * share. */
#include "linalg/backend.h"

#include <stdio.h>
#include <string.h>

#include "linalg/lapack.h"
#include "linalg/small_kernels.h"

enum { TINY_ROWS = 16, DENSE_ROWS = 300, WIDE = 64 };

static const struct {
    const char *name;
    const taut_backend_functions *functions;
} backends[TAUT_BACKEND_COUNT] = {
    [TAUT_BACKEND_AUTO] = {"auto", NULL},
    [TAUT_BACKEND_TINY] = {"tiny", &taut_backend_tiny},
    [TAUT_BACKEND_DENSE] = {"dense", &taut_backend_dense},
    [TAUT_BACKEND_BANDED] = {"banded", &taut_backend_banded},
    [TAUT_BACKEND_SPARSE] = {"sparse", &taut_backend_sparse},
};

const char *taut_backend_name(taut_backend backend)
{
    return (unsigned)backend < TAUT_BACKEND_COUNT ? backends[backend].name : "unknown";
}

bool taut_backend_available(taut_backend backend)
{
    if (backend == TAUT_BACKEND_SPARSE)
        return taut_sparse_available();
    return (unsigned)backend < TAUT_BACKEND_COUNT;
}

/* Rows of the matrix that tiny and dense would factor. */
static int64_t dense_rows(const taut_saddle_shape *shape)
{
    return !shape->k_start && shape->positive ? shape->m : (int64_t)shape->n + shape->m;
}

/* Seconds per factorisation, roughly (measured on chains, nets and dense matrices): what matters
 * is where the lines cross. A multiplication with addition takes 0.2 ns in a band (0.06 ns in a
 * wide one with LAPACK), 0.1 ns in LAPACK's dense routines and 1 ns in own ones (0.4 ns in small
 * ones); MUMPS takes 2.5 microseconds a row of the saddle matrix. Pivoting in a band doubles its
 * width, and leaves no symmetry to use. */
static double seconds(const taut_form *form, taut_backend backend, bool lapack)
{
    double rows = form->rows, b = form->half_width + 2.0,
           all = (double)form->shape.n + form->shape.m;
    double field = form->shape.complex_values ? 4 : 1, general = form->definite ? 1 : 4;
    if (backend == TAUT_BACKEND_SPARSE)
        return field * all * 2.5e-6;
    if (backend == TAUT_BACKEND_BANDED)
        return field * general * rows * b * b * (lapack && b >= WIDE ? 0.6e-10 : 2e-10);
    return field * (form->definite ? 1 : 2) * rows * rows * rows / 6 *
           (form->rows <= TAUT_SMALL_ROWS ? 4e-10
            : lapack                      ? 1e-10
                                          : 1e-9);
}

/* LAPACK is loaded only where its routines would be used. */
static taut_backend cheapest(const taut_form *form)
{
    bool small = form->rows <= TAUT_SMALL_ROWS, wide = form->half_width + 2 >= WIDE,
         few = form->rows <= DENSE_ROWS;
    bool useful = wide || (few && seconds(form, TAUT_BACKEND_DENSE, true) <
                                      seconds(form, TAUT_BACKEND_BANDED, false));
    bool lapack = !small && useful && taut_lapack_get();
    double banded = seconds(form, TAUT_BACKEND_BANDED, lapack);
    if (few && seconds(form, TAUT_BACKEND_DENSE, lapack) < banded)
        return TAUT_BACKEND_DENSE;
    if (seconds(form, TAUT_BACKEND_SPARSE, lapack) < banded &&
        taut_backend_available(TAUT_BACKEND_SPARSE))
        return TAUT_BACKEND_SPARSE;
    return TAUT_BACKEND_BANDED;
}

double taut_saddle_seconds(const taut_saddle *saddle)
{
    return seconds(&saddle->form, saddle->backend, true);
}

static void describe(taut_saddle *saddle, bool chosen)
{
    const taut_form *form = &saddle->form;
    char width[80] = "", rows[24];
    if (saddle->backend == TAUT_BACKEND_BANDED)
        snprintf(width, sizeof width, " of half-width %d%s", form->half_width,
                 form->ordered ? " after reordering" : "");
    else if (saddle->backend == TAUT_BACKEND_SPARSE && chosen)
        snprintf(width, sizeof width, ", no narrow band");
    snprintf(rows, sizeof rows, "%d row%s", form->rows, form->rows == 1 ? "" : "s");
    snprintf(saddle->structure, sizeof saddle->structure, "%s, %s%s, %s%s",
             taut_backend_name(saddle->backend),
             form->schur          ? "A"
             : form->shape.m == 0 ? "K"
                                  : "saddle matrix",
             width, rows,
             form->definite          ? ", definite"
             : form->shape.symmetric ? ", symmetric"
                                     : "");
}

/* Chooses backend and form. A form made for the comparison is used when a band is chosen, else
 * made again. */
static int choose(taut_saddle *saddle, const taut_saddle_shape *shape, taut_backend backend,
                  taut_error *error)
{
    bool small = dense_rows(shape) <= TINY_ROWS;
    if (backend == TAUT_BACKEND_TINY && !small)
        return taut_fail(error, TAUT_ERROR_USAGE, "the tiny solver takes at most %d rows, not %lld",
                         TINY_ROWS, (long long)dense_rows(shape));
    if (backend == TAUT_BACKEND_AUTO && small)
        backend = TAUT_BACKEND_TINY;
    if (backend == TAUT_BACKEND_AUTO) {
        TAUT_TRY(taut_form_create(shape, false, true, &saddle->arena, &saddle->form, error));
        backend = cheapest(&saddle->form);
        if (backend != TAUT_BACKEND_BANDED)
            taut_arena_clear(&saddle->arena);
    }
    saddle->backend = backend;
    if (!saddle->form.place || backend != TAUT_BACKEND_BANDED)
        TAUT_TRY(taut_form_create(shape, backend == TAUT_BACKEND_SPARSE,
                                  backend == TAUT_BACKEND_BANDED, &saddle->arena, &saddle->form,
                                  error));
    return 0;
}

int taut_saddle_choice(const taut_saddle_shape *shape, const taut_allocator *allocator,
                       taut_backend *backend, taut_error *error)
{
    taut_arena arena;
    taut_form form;
    *backend = TAUT_BACKEND_TINY;
    if (dense_rows(shape) <= TINY_ROWS)
        return TAUT_OK;
    taut_arena_init(&arena, allocator);
    int status = taut_form_create(shape, false, true, &arena, &form, error);
    if (status == 0)
        *backend = cheapest(&form);
    taut_arena_clear(&arena);
    return status;
}

int taut_saddle_create(const taut_saddle_shape *shape, taut_backend backend,
                       const taut_allocator *allocator, taut_saddle **saddle, taut_error *error)
{
    *saddle = NULL;
    if ((unsigned)backend >= TAUT_BACKEND_COUNT)
        return taut_fail(error, TAUT_ERROR_USAGE, "there is no linear solver number %d",
                         (int)backend);
    taut_allocator owner = taut_allocator_or_default(allocator);
    taut_saddle *made = owner.allocate(owner.user, sizeof *made);
    TAUT_NEED(error, made);
    memset(made, 0, sizeof *made);
    taut_arena_init(&made->arena, &owner);
    made->arena.looped = true;
    int status = choose(made, shape, backend, error);
    if (status == 0)
        status = taut_form_reserve(&made->form, &made->arena, error);
    if (status == 0) {
        made->functions = backends[made->backend].functions;
        status = made->functions->create(made, error);
    }
    if (status) {
        taut_saddle_destroy(made);
        return status;
    }
    describe(made, backend == TAUT_BACKEND_AUTO);
    *saddle = made;
    return 0;
}

void taut_saddle_destroy(taut_saddle *saddle)
{
    if (!saddle)
        return;
    if (saddle->functions && saddle->functions->destroy)
        saddle->functions->destroy(saddle);
    taut_allocator owner = saddle->arena.allocator;
    taut_arena_clear(&saddle->arena);
    owner.release(owner.user, saddle);
}

taut_backend taut_saddle_backend(const taut_saddle *saddle)
{
    return saddle->backend;
}

const char *taut_saddle_structure(const taut_saddle *saddle)
{
    return saddle->structure;
}

static int factor(taut_saddle *saddle, bool complex_values, taut_saddle_values values,
                  taut_error *error)
{
    saddle->factored = false;
    if (complex_values != saddle->form.shape.complex_values)
        return taut_fail(error, TAUT_ERROR_USAGE, "this saddle solver was created for %s values",
                         complex_values ? "real" : "complex");
    if (!values.g2)
        values.g2 = values.g1;
    else if (saddle->form.shape.symmetric && values.g2 != values.g1)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "this saddle solver was created as symmetric, G1 and G2 must be the same");
    TAUT_TRY(saddle->functions->factor(saddle, &values, error));
    saddle->factored = true;
    return 0;
}

static int solve(taut_saddle *saddle, bool complex_values, int count, char *x, char *y,
                 taut_error *error)
{
    if (!saddle->factored || complex_values != saddle->form.shape.complex_values)
        return taut_fail(error, TAUT_ERROR_USAGE, "the saddle solver holds no %s factorisation",
                         complex_values ? "complex" : "real");
    size_t scalar = taut_form_scalar(&saddle->form);
    for (int k = 0; k < count; k++) {
        taut_form_before(&saddle->form, x, y);
        TAUT_TRY(saddle->functions->solve(saddle, error));
        taut_form_after(&saddle->form, x, y);
        if (x)
            x += (size_t)saddle->form.shape.n * scalar;
        if (y)
            y += (size_t)saddle->form.shape.m * scalar;
    }
    return 0;
}

void taut_saddle_archive(taut_saddle *saddle, taut_archive *archive)
{
    if (!saddle)
        return;
    taut_archive_flag(archive, &saddle->factored);
    if (!saddle->factored)
        return;
    taut_form_archive(&saddle->form, archive);
    saddle->functions->archive(saddle, archive);
}

int taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1, const double *g2,
                       const double *d, taut_error *error)
{
    return factor(saddle, false, (taut_saddle_values){k, g1, g2, d}, error);
}

int taut_saddle_factor_complex(taut_saddle *saddle, const double complex *k,
                               const double complex *g1, const double complex *g2,
                               const double complex *d, taut_error *error)
{
    return factor(saddle, true, (taut_saddle_values){k, g1, g2, d}, error);
}

int taut_saddle_solve(taut_saddle *saddle, int count, double *x, double *y, taut_error *error)
{
    return solve(saddle, false, count, (char *)x, (char *)y, error);
}

int taut_saddle_solve_complex(taut_saddle *saddle, int count, double complex *x, double complex *y,
                              taut_error *error)
{
    return solve(saddle, true, count, (char *)x, (char *)y, error);
}
