/* parted_saddle.c - saddle matrices [K G1^T; G2 -D] of several ranks, K not diagonal: by parallel
 * MUMPS, real and complex. Built with -DTAUT_MPI=ON where the library is there.
 *
 *     P. Amestoy, I. Duff, J.-Y. L'Excellent, J. Koster,
 *     SIAM J. Matrix Anal. Appl. 23 (2001) 15-41
 *
 * Each rank gives the rows that it owns, which are complete where it evaluates them: no message.
 * The rows of the whole matrix are counted rank by rank, coordinates before bonds, so that each
 * rank has successive ones. Right-hand sides and solutions are gathered on rank 0. MUMPS takes its
 * own memory, also while factoring. */
#include "linalg/backend.h"

#include <dmumps_c.h>
#include <zmumps_c.h>

enum { NULL_PIVOT = -10 };

typedef struct parted_saddle {
    taut_space *space;
    union {
        DMUMPS_STRUC_C real;
        ZMUMPS_STRUC_C complex_one;
    } mumps;
    bool begun;
    int64_t rows, entries;
    int *i, *j; /* from 1, in the whole matrix */
    void *a;
    unsigned char *own_column, *own_row;
    double *column, *row;     /* numbers in the whole matrix */
    int *partner;             /* on rank 0 all others, elsewhere rank 0 */
    int64_t *start, *nothing; /* [size + 1] numbers that rank 0 exchanges with each, and none */
    double *own, *whole;      /* right-hand sides: what is owned, on rank 0 all */
    double *part;             /* real or imaginary parts of a vector */
} parted_saddle;

/* Symmetric matrices are given by one half. */
static bool is_given(const parted_saddle *w, const taut_saddle_shape *shape, taut_index r,
                     taut_index c)
{
    return !shape->symmetric || w->column[c] <= w->column[r];
}

#include "linalg/scalar_real.h"
#define MUMPS_INSTANCE DMUMPS_STRUC_C
#define MUMPS_NUMBER double
#define MUMPS_DO dmumps_c
#include "linalg/entries_generic.h"
#include "linalg/parted_saddle_generic.h"
#undef MUMPS_INSTANCE
#undef MUMPS_NUMBER
#undef MUMPS_DO
#include "linalg/scalar_complex.h"
#define MUMPS_INSTANCE ZMUMPS_STRUC_C
#define MUMPS_NUMBER mumps_double_complex
#define MUMPS_DO zmumps_c
#include "linalg/entries_generic.h"
#include "linalg/parted_saddle_generic.h"

/* ---- once */

/* Owned entries of a halo get numbers from `next` on, ghosts those of their owners. */
static int64_t number(const taut_halo *halo, int64_t next, unsigned char *own, double *place)
{
    for (int k = 0; k < halo->ranges; k++)
        for (taut_index i = halo->range[k][0]; i < halo->range[k][1]; i++) {
            own[i] = 1;
            place[i] = (double)next++;
        }
    taut_halo_refresh(halo, place);
    return next;
}

static void put(parted_saddle *w, double i, double j)
{
    if (w->i) {
        w->i[w->entries] = (int)i + 1;
        w->j[w->entries] = (int)j + 1;
    }
    w->entries++;
}

/* Counts the entries of owned rows, or lists them. */
static void find_pattern(parted_saddle *w, const taut_saddle_shape *shape)
{
    w->entries = 0;
    for (taut_index r = 0; r < shape->n; r++)
        for (taut_index e = shape->k_start[r]; w->own_column[r] && e < shape->k_start[r + 1]; e++)
            if (is_given(w, shape, r, shape->k_column[e]))
                put(w, w->column[r], w->column[shape->k_column[e]]);
    for (taut_index b = 0; b < shape->m; b++) {
        for (taut_index e = shape->g_start[b]; e < shape->g_start[b + 1]; e++) {
            const taut_index c = shape->g_column[e];
            if (w->own_row[b])
                put(w, w->row[b], w->column[c]);
            if (!shape->symmetric && w->own_column[c])
                put(w, w->column[c], w->row[b]);
        }
        if (w->own_row[b])
            put(w, w->row[b], w->row[b]);
    }
}

/* What rank 0 gets from each, in numbers of 8 bytes. */
static int find_exchange(parted_saddle *w, int64_t own, int numbers, taut_arena *arena,
                         taut_error *error)
{
    const int size = w->space->size;
    const bool first = w->space->rank == 0;
    const double mine = (double)(own * numbers);
    w->partner = TAUT_NEW(arena, int, size);
    w->start = TAUT_NEW(arena, int64_t, size + 1);
    w->nothing = TAUT_NEW(arena, int64_t, size + 1);
    TAUT_NEED(error, w->partner, w->start, w->nothing);
    TAUT_TRY(TAUT_RESERVE(arena, own * numbers, error, &w->own));
    TAUT_TRY(TAUT_RESERVE(arena, first ? w->rows * numbers : 0, error, &w->whole));
    w->space->calls->gather(w->space, sizeof mine, &mine, w->space->room);
    for (int r = 1; r < size && first; r++) {
        w->partner[r - 1] = r;
        w->start[r] = w->start[r - 1] + (int64_t)w->space->room[r];
    }
    if (!first)
        w->start[1] = (int64_t)mine;
    return TAUT_OK;
}

static int make(parted_saddle *w, const taut_saddle_shape *shape, taut_arena *arena,
                taut_error *error)
{
    const taut_index widest = shape->n > shape->m ? shape->n : shape->m;
    w->own_column = TAUT_NEW(arena, unsigned char, shape->n);
    w->own_row = TAUT_NEW(arena, unsigned char, shape->m);
    TAUT_NEED(error, w->own_column, w->own_row);
    return TAUT_RESERVE(arena, shape->n, error, &w->column) != 0 ||
                   TAUT_RESERVE(arena, shape->m, error, &w->row) != 0
               ? taut_fail_memory(error)
               : TAUT_RESERVE(arena, widest, error, &w->part);
}

static int list_entries(parted_saddle *w, const taut_saddle_shape *shape, taut_arena *arena,
                        taut_error *error)
{
    const taut_halo *columns = shape->column_halo, *rows = shape->row_halo;
    const int64_t first = columns->before + rows->before,
                  end = number(rows, number(columns, first, w->own_column, w->column), w->own_row,
                               w->row);
    const int numbers = shape->complex_values ? 2 : 1;
    find_pattern(w, shape);
    w->i = TAUT_NEW(arena, int, w->entries);
    w->j = TAUT_NEW(arena, int, w->entries);
    w->a = TAUT_NEW(arena, double, numbers * w->entries);
    const bool room = w->i && w->j && w->a;
    int status = find_exchange(w, end - first, numbers, arena, error);
    TAUT_TRY(status != 0 || room ? status : taut_fail_memory(error));
    find_pattern(w, shape);
    return TAUT_OK;
}

static int fail_mumps(int info, const char *what, taut_error *error)
{
    if (info == -7 || info == -13 || info == -19 || info == -22)
        return taut_fail_memory(error);
    if (info == -6 || info == NULL_PIVOT)
        return taut_fail(
            error, TAUT_ERROR_SINGULAR,
            "the saddle matrix is singular: bonds without compliance depend on each other");
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "MUMPS cannot %s the matrix of an implicit step: INFOG(1) = %d", what, info);
}

static int create_parted_saddle(taut_saddle *saddle, taut_error *error)
{
    const taut_saddle_shape *shape = &saddle->form.shape;
    taut_space *space = shape->row_halo->space;
    parted_saddle *w = saddle->work = TAUT_NEW(&saddle->arena, parted_saddle, 1);
    int status = w ? make(w, shape, &saddle->arena, error) : taut_fail_memory(error);
    TAUT_TRY(taut_space_agree(space, status, error));
    w->space = space;
    w->rows = shape->column_halo->total + shape->row_halo->total;
    if (w->rows > INT32_MAX)
        return taut_fail(error, TAUT_ERROR_SIZE, "the matrix of an implicit step is too large");
    status = list_entries(w, shape, &saddle->arena, error);
    TAUT_TRY(taut_space_agree(space, status, error));
    int info = shape->complex_values ? begin_complex(w, &w->mumps.complex_one, shape->symmetric)
                                     : begin_real(w, &w->mumps.real, shape->symmetric);
    return info < 0 ? fail_mumps(info, "analyse", error) : TAUT_OK;
}

static void destroy_parted_saddle(taut_saddle *saddle)
{
    parted_saddle *w = saddle->work;
    if (!w || !w->begun)
        return;
    if (saddle->form.shape.complex_values)
        run_complex(&w->mumps.complex_one, -2);
    else
        run_real(&w->mumps.real, -2);
    w->begun = false;
}

/* ---- values */

static int factor_parted_saddle(taut_saddle *saddle, const taut_saddle_values *values,
                                taut_error *error)
{
    parted_saddle *w = saddle->work;
    const taut_saddle_shape *shape = &saddle->form.shape;
    if (shape->complex_values)
        load_complex(w, shape, values);
    else
        load_real(w, shape, values);
    int info = shape->complex_values ? decompose_complex(&w->mumps.complex_one)
                                     : decompose_real(&w->mumps.real);
    return info < 0 ? fail_mumps(info, "factor", error) : TAUT_OK;
}

/* What is owned of x to the right-hand side of this rank, or back; the next place there. x[c]: real
 * and imaginary parts, `step` numbers from entry to entry. */
static double *move(const taut_halo *halo, int numbers, double *const *x, int step, double *own,
                    bool back)
{
    for (int k = 0; k < halo->ranges; k++)
        for (int64_t i = halo->range[k][0]; i < halo->range[k][1]; i++)
            for (int c = 0; c < numbers; c++, own++)
                *(back ? &x[c][i * step] : own) = *(back ? own : &x[c][i * step]);
    return own;
}

static void refresh(const parted_saddle *w, const taut_halo *halo, int numbers, double *const *x,
                    int step)
{
    for (int c = 0; c < numbers; c++) {
        for (int64_t i = 0; i < halo->count; i++)
            w->part[i] = x[c][step * i];
        taut_halo_refresh(halo, w->part);
        for (int64_t i = 0; i < halo->count; i++)
            x[c][step * i] = w->part[i];
    }
}

/* Owned right-hand sides to rank 0, or back. */
static void exchange(const parted_saddle *w, int numbers, bool back)
{
    const bool first = w->space->rank == 0, sends = first == back;
    const int64_t rest = w->start[w->space->size - 1];
    double *others = first ? w->whole + (w->rows * numbers - rest) : w->own;
    w->space->calls->exchange(w->space, first ? w->space->size - 1 : 1, w->partner,
                              sends ? w->start : w->nothing, others, sends ? w->nothing : w->start,
                              others);
}

static int solve_parted_saddle(taut_saddle *saddle, double *const x[2], double *const y[2],
                               int step, taut_error *error)
{
    parted_saddle *w = saddle->work;
    const taut_saddle_shape *shape = &saddle->form.shape;
    const int numbers = shape->complex_values ? 2 : 1;
    double *own = w->space->rank == 0 ? w->whole : w->own;
    move(shape->row_halo, numbers, y, step, move(shape->column_halo, numbers, x, step, own, false),
         false);
    exchange(w, numbers, false);
    int info = shape->complex_values ? substitute_complex(w, &w->mumps.complex_one)
                                     : substitute_real(w, &w->mumps.real);
    exchange(w, numbers, true);
    move(shape->row_halo, numbers, y, step, move(shape->column_halo, numbers, x, step, own, true),
         true);
    refresh(w, shape->column_halo, numbers, x, step);
    refresh(w, shape->row_halo, numbers, y, step);
    return info < 0 ? fail_mumps(info, "solve with", error) : TAUT_OK;
}

static void archive_nothing(taut_saddle *saddle, taut_archive *archive)
{
    (void)saddle;
    taut_archive_fail(archive, TAUT_ERROR_REFUSED, "factors of several ranks are not saved");
}

const taut_backend_functions taut_backend_parted_saddle = {.create = create_parted_saddle,
                                                           .factor = factor_parted_saddle,
                                                           .solve_for = solve_parted_saddle,
                                                           .destroy = destroy_parted_saddle,
                                                           .archive = archive_nothing};
