/* saddle.c - the interface of saddle.h: the choice of a backend, and the calls that all backends
 * share. */
#include "linalg/backend.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "linalg/lapack.h"
#include "linalg/small_kernels.h"

enum { TINY_ROWS = 16, DENSE_ROWS = 300, WIDE = 64 };
static const double FRONT_ROW = 2.5e-7; /* seconds */

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

/* Is a sparse matrix factored on A (fronts.c)? Not where coordinates that many bonds share make it
 * full, and MUMPS can factor the saddle matrix. */
static int find_fronts(const taut_saddle_shape *shape, const taut_allocator *allocator,
                       bool *fronts, taut_error *error)
{
    enum { MANY = 30 }; /* pairs of bonds that share a coordinate, for each entry of G */
    *fronts = false;
    if (shape->k_start || !shape->positive || !shape->symmetric || shape->complex_values)
        return TAUT_OK;
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    const taut_index entries = shape->m ? shape->g_start[shape->m] : 0;
    taut_index *met = TAUT_NEW(&arena, taut_index, shape->n);
    double pairs = 0;
    for (taut_index e = 0; met && e < entries; e++)
        pairs += met[shape->g_column[e]]++;
    taut_arena_clear(&arena);
    TAUT_NEED(error, met);
    *fronts = pairs <= (double)MANY * entries || !taut_sparse_available();
    return TAUT_OK;
}

/* Seconds per factorisation, roughly (measured on chains, nets and dense matrices): what matters
 * is where the lines cross. A multiplication with addition takes 0.2 ns in a band (with
 * LAPACK 0.1 ns where it is 120 wide, 0.06 ns where it is 1200), 0.1 ns in LAPACK's dense routines
 * and 1 ns in own ones (0.4 ns in small ones). Pivoting in a band doubles its width, and leaves no
 * symmetry to use. MUMPS takes 2.5 microseconds a row of the saddle matrix, fronts some tenths of
 * one a row of A, and what their elimination counts. */
static double seconds(const taut_form *form, taut_backend backend, bool lapack,
                      const taut_elimination *fronts)
{
    double rows = form->rows, b = form->half_width + 2.0,
           all = (double)form->shape.n + form->shape.m;
    double field = form->shape.complex_values ? 4 : 1, general = form->definite ? 1 : 4;
    if (backend == TAUT_BACKEND_SPARSE)
        return fronts ? rows * FRONT_ROW + fronts->work * 4e-10 : field * all * 2.5e-6;
    if (backend == TAUT_BACKEND_BANDED)
        return field * general * rows * b * (lapack && b >= WIDE ? b * 5.5e-11 + 6e-9 : b * 2e-10);
    return field * (form->definite ? 1 : 2) * rows * rows * rows / 6 *
           (form->rows <= TAUT_SMALL_ROWS ? 4e-10
            : lapack                      ? 1e-10
                                          : 1e-9);
}

/* LAPACK is loaded only where its routines would be used, and fronts are found only where a band
 * takes longer than the least that they could; the form then has the natural order, which leaves
 * them less work. */
static int cheapest(taut_form *form, taut_arena *arena, taut_elimination *elimination,
                    taut_backend *backend, taut_error *error)
{
    bool small = form->rows <= TAUT_SMALL_ROWS, wide = form->half_width + 2 >= WIDE,
         few = form->rows <= DENSE_ROWS, fronts;
    bool useful = wide || (few && seconds(form, TAUT_BACKEND_DENSE, true, NULL) <
                                      seconds(form, TAUT_BACKEND_BANDED, false, NULL));
    bool lapack = !small && useful && taut_lapack_get();
    double banded = seconds(form, TAUT_BACKEND_BANDED, lapack, NULL);
    *backend = TAUT_BACKEND_BANDED;
    if (few && seconds(form, TAUT_BACKEND_DENSE, lapack, NULL) < banded) {
        *backend = TAUT_BACKEND_DENSE;
        return TAUT_OK;
    }
    if (banded < form->rows * FRONT_ROW)
        return TAUT_OK;
    TAUT_TRY(find_fronts(&form->shape, &arena->allocator, &fronts, error));
    if (fronts)
        TAUT_TRY(taut_form_natural(form, &arena->allocator, error));
    if (fronts)
        TAUT_TRY(
            taut_eliminate(form->rows, form->shape.n, &form->columns, arena, elimination, error));
    if (seconds(form, TAUT_BACKEND_SPARSE, lapack, fronts ? elimination : NULL) < banded &&
        (fronts || taut_sparse_available()))
        *backend = TAUT_BACKEND_SPARSE;
    return TAUT_OK;
}

double taut_saddle_seconds(const taut_saddle *saddle)
{
    return seconds(&saddle->form, saddle->backend, true,
                   saddle->elimination.front ? &saddle->elimination : NULL);
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
    if (saddle->functions->solve_for) {
        snprintf(saddle->structure, sizeof saddle->structure,
                 "sparse, saddle matrix, %lld rows of %d ranks%s",
                 (long long)(form->shape.column_halo->total + form->shape.row_halo->total),
                 form->shape.row_halo->space->size, form->shape.symmetric ? ", symmetric" : "");
        return;
    }
    if (form->shape.row_halo) {
        snprintf(saddle->structure, sizeof saddle->structure,
                 "%s, A, %lld rows of %d ranks, definite", taut_backend_name(saddle->backend),
                 (long long)form->shape.row_halo->total, form->shape.row_halo->space->size);
        return;
    }
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

/* Chooses backend and form. A form made for the comparison is used where it fits, else made again.
 */
static int choose(taut_saddle *saddle, const taut_saddle_shape *shape, taut_backend backend,
                  taut_error *error)
{
    bool small = dense_rows(shape) <= TINY_ROWS;
    if (shape->row_halo) {
        saddle->backend =
            backend == TAUT_BACKEND_SPARSE ? TAUT_BACKEND_SPARSE : TAUT_BACKEND_BANDED;
        TAUT_TRY(taut_form_create(shape, false, false, &saddle->arena, &saddle->columns,
                                  &saddle->form, error));
        return TAUT_OK;
    }
    if (backend == TAUT_BACKEND_TINY && !small)
        return taut_fail(error, TAUT_ERROR_USAGE, "the tiny solver takes at most %d rows, not %lld",
                         TINY_ROWS, (long long)dense_rows(shape));
    if (backend == TAUT_BACKEND_AUTO && small)
        backend = TAUT_BACKEND_TINY;
    if (backend == TAUT_BACKEND_AUTO) {
        TAUT_TRY(taut_form_create(shape, false, true, &saddle->arena, &saddle->columns,
                                  &saddle->form, error));
        TAUT_TRY(cheapest(&saddle->form, &saddle->arena, &saddle->elimination, &backend, error));
        const bool fronts = saddle->elimination.front;
        saddle->backend = backend;
        if (fronts ? backend == TAUT_BACKEND_SPARSE : backend == TAUT_BACKEND_BANDED)
            return TAUT_OK;
        taut_arena_clear(&saddle->arena);
        taut_arena_clear(&saddle->columns);
        saddle->elimination = (taut_elimination){0};
    }
    bool fronts = false;
    saddle->backend = backend;
    if (backend == TAUT_BACKEND_SPARSE)
        TAUT_TRY(find_fronts(shape, &saddle->arena.allocator, &fronts, error));
    return taut_form_create(shape, backend == TAUT_BACKEND_SPARSE && !fronts,
                            backend == TAUT_BACKEND_BANDED, &saddle->arena, &saddle->columns,
                            &saddle->form, error);
}

int taut_saddle_choice(const taut_saddle_shape *shape, const taut_allocator *allocator,
                       taut_backend *backend, taut_error *error)
{
    taut_arena arena;
    taut_form form;
    taut_elimination fronts = {0};
    *backend = TAUT_BACKEND_TINY;
    if (dense_rows(shape) <= TINY_ROWS)
        return TAUT_OK;
    taut_arena_init(&arena, allocator);
    int status = taut_form_create(shape, false, true, &arena, &arena, &form, error);
    if (status == 0)
        status = cheapest(&form, &arena, &fronts, backend, error);
    taut_arena_clear(&arena);
    return status;
}

static int make_form(taut_saddle *saddle, const taut_saddle_shape *shape, taut_backend backend,
                     taut_error *error)
{
    TAUT_TRY(choose(saddle, shape, backend, error));
    return taut_form_reserve(&saddle->form, &saddle->arena, error);
}

/* Several ranks, K not diagonal: no form. */
static int make_parted(taut_saddle *saddle, const taut_saddle_shape *shape, taut_error *error)
{
#ifdef TAUT_HAVE_PARALLEL_MUMPS
    saddle->form.shape = *shape;
    saddle->form.rows = shape->n + shape->m;
    saddle->backend = TAUT_BACKEND_SPARSE;
    saddle->functions = &taut_backend_parted_saddle;
    return saddle->functions->create(saddle, error);
#else
    (void)saddle, (void)shape;
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "implicit methods over several ranks need parallel MUMPS, which this build "
                     "does not have: install libmumps-dev, or run without mpiexec");
#endif
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
    taut_arena_init(&made->columns, &owner);
    made->arena.looped = true;
    const bool parted = shape->row_halo && shape->k_start;
    int status = parted ? make_parted(made, shape, error) : make_form(made, shape, backend, error);
    if (status == 0 && !parted) {
        made->functions = shape->row_halo ? &taut_backend_parted
                          : made->backend == TAUT_BACKEND_SPARSE && made->form.schur
                              ? &taut_backend_fronts
                              : backends[made->backend].functions;
        status = made->functions->create(made, error);
    }
#ifdef TAUT_HAVE_PARALLEL_MUMPS
    if (status == TAUT_ERROR_REFUSED && shape->row_halo &&
        !parted) { /* on all ranks: no narrow band */
        taut_arena_clear(&made->arena);
        taut_arena_clear(&made->columns);
        taut_error_clear(error);
        made->functions = &taut_backend_parted_mumps;
        made->work = NULL;
        status = make_form(made, shape, TAUT_BACKEND_SPARSE, error);
        status = status == 0 ? made->functions->create(made, error) : status;
    }
#endif
    if (status == 0 && (made->form.runs || !made->form.schur)) {
        taut_arena_clear(&made->columns);
        made->form.columns = (taut_columns){0};
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
    taut_arena_clear(&saddle->columns);
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

static int need_factors(const taut_saddle *saddle, bool complex_values, taut_error *error)
{
    if (!saddle->factored || complex_values != saddle->form.shape.complex_values)
        return taut_fail(error, TAUT_ERROR_USAGE, "the saddle solver holds no %s factorisation",
                         complex_values ? "complex" : "real");
    return TAUT_OK;
}

static int solve(taut_saddle *saddle, bool complex_values, int count, char *x, char *y,
                 taut_error *error)
{
    TAUT_TRY(need_factors(saddle, complex_values, error));
    size_t scalar = taut_form_scalar(&saddle->form);
    for (int k = 0; k < count; k++) {
        if (saddle->functions->solve_for) {
            double *real_x = (double *)(void *)x, *real_y = (double *)(void *)y;
            TAUT_TRY(saddle->functions->solve_for(saddle, (double *const[]){real_x, real_x + 1},
                                                  (double *const[]){real_y, y ? real_y + 1 : NULL},
                                                  complex_values ? 2 : 1, error));
        } else {
            taut_form_before(&saddle->form, x, y);
            TAUT_TRY(saddle->functions->solve(saddle, error));
            taut_form_after(&saddle->form, x, y);
            taut_halo_refresh(saddle->form.shape.column_halo, (double *)(void *)x);
        }
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
    return factor(saddle, false, (taut_saddle_values){k, g1, g2, d, NULL}, error);
}

int taut_saddle_factor_complex(taut_saddle *saddle, const double complex *k,
                               const double complex *g1, const double complex *g2,
                               const double complex *d, taut_error *error)
{
    return factor(saddle, true, (taut_saddle_values){k, g1, g2, d, NULL}, error);
}

int taut_saddle_factor_sum(taut_saddle *saddle, const taut_saddle_sum *sum, taut_error *error)
{
    assert(!saddle->form.schur);
    return factor(saddle, saddle->form.shape.complex_values,
                  (taut_saddle_values){NULL, sum->g1, sum->g2, sum->d, sum}, error);
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

int taut_saddle_solve_parts(taut_saddle *saddle, double *const x[2], double *const y[2],
                            taut_error *error)
{
    assert(!saddle->form.schur);
    TAUT_TRY(need_factors(saddle, true, error));
    if (saddle->functions->solve_for)
        return saddle->functions->solve_for(saddle, x, y, 1, error);
    taut_form_before_parts(&saddle->form, x, y);
    TAUT_TRY(saddle->functions->solve(saddle, error));
    taut_form_after_parts(&saddle->form, x, y);
    return TAUT_OK;
}
