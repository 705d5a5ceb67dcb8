/* form.c - see form.h. */
#include "linalg/form_runs.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/four.h"

/* About 1/sqrt(size), as a power of two; 1 for zero and for what is not finite. */
static inline double inverse_root(double size)
{
    uint64_t bits;
    if (!(size >= DBL_MIN && size <= DBL_MAX))
        return 1;
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    int half = exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2);
    bits = (uint64_t)(1023 - half) << 52;
    memcpy(&size, &bits, sizeof bits);
    return size;
}

/* As fmax, for numbers a; inline. */
static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

int taut_form_no_mass(taut_index j, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_SINGULAR,
                     "the diagonal entry of coordinate %d is zero or not finite: it needs a mass",
                     j + 1);
}

#include "linalg/scalar_real.h"
#include "linalg/entries_generic.h"
#include "linalg/form_generic.h"
#include "linalg/scalar_complex.h"
#include "linalg/entries_generic.h"
#include "linalg/form_generic.h"

size_t taut_form_scalar(const taut_form *form)
{
    return form->shape.complex_values ? sizeof(double complex) : sizeof(double);
}

static taut_index entries_of_g(const taut_form *form)
{
    return form->shape.m ? form->shape.g_start[form->shape.m] : 0;
}

/* A: a column of G connects all its bonds, from the first place to the last. */
static taut_index width_schur(const taut_form *form, const taut_index *place)
{
    taut_index width = 0;
    for (taut_index j = 0; j < form->shape.n; j++) {
        taut_index least = INT32_MAX, most = -1;
        for (taut_index e = form->columns.start[j]; e < form->columns.start[j + 1]; e++) {
            taut_index at = place[form->columns.row[e]];
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        if (most - least > width && most >= 0)
            width = most - least;
    }
    return width;
}

static taut_index width_whole(const taut_form *form, const taut_index *place)
{
    const taut_saddle_shape *shape = &form->shape;
    taut_index width = 0;
    for (taut_index i = 0; shape->k_start && i < shape->n; i++)
        for (taut_index e = shape->k_start[i]; e < shape->k_start[i + 1]; e++) {
            taut_index apart = place[i] - place[shape->k_column[e]];
            width = apart > width ? apart : -apart > width ? -apart : width;
        }
    for (taut_index i = 0; i < shape->m; i++)
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            taut_index apart = place[shape->n + i] - place[shape->g_column[e]];
            width = apart > width ? apart : -apart > width ? -apart : width;
        }
    return width;
}

static taut_index width(const taut_form *form, const taut_index *place)
{
    return form->schur ? width_schur(form, place) : width_whole(form, place);
}

void taut_form_measure(taut_form *form)
{
    form->half_width = width(form, form->place);
}

/* Keeps the reduced order where it is narrower. A natural half-width of 1 or less cannot be
 * improved in a connected graph. */
static int choose_order(taut_form *form, const taut_columns *columns, taut_arena *arena,
                        taut_error *error)
{
    const taut_saddle_shape *shape = &form->shape;
    form->half_width = width(form, form->place);
    if (form->half_width <= 1)
        return 0;
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    taut_index nodes = shape->n + shape->m;
    taut_index *position = TAUT_NEW(&scratch, taut_index, nodes), *inverse = NULL;
    int status = position ? taut_order(shape, columns, &arena->allocator, position, error)
                          : taut_fail_memory(error);
    if (status == 0 && form->schur) {
        /* the bonds' places among the bonds alone */
        inverse = TAUT_NEW(&scratch, taut_index, nodes);
        if (!inverse)
            status = taut_fail_memory(error);
        for (taut_index k = 0; inverse && k < nodes; k++)
            inverse[position[k]] = k;
        for (taut_index k = 0, bond = 0; inverse && k < nodes; k++)
            if (inverse[k] >= shape->n)
                position[inverse[k] - shape->n] = bond++;
    }
    if (status == 0) {
        taut_index reduced = width(form, position);
        if (reduced < form->half_width) {
            memcpy(form->place, position, (size_t)form->rows * sizeof *position);
            form->half_width = reduced;
            form->ordered = true;
        }
    }
    taut_arena_clear(&scratch);
    return status;
}

static int check_pattern(taut_index rows, taut_index columns, const taut_index *start,
                         const taut_index *column, const char *name, taut_error *error)
{
    bool good = rows == 0 || (start && start[0] == 0);
    for (taut_index i = 0; good && i < rows; i++)
        good = start[i + 1] >= start[i];
    for (taut_index e = 0; good && rows && e < start[rows]; e++)
        good = column && column[e] >= 0 && column[e] < columns;
    return good ? 0
                : taut_fail(error, TAUT_ERROR_USAGE,
                            "the pattern of %s has rows or columns out of range", name);
}

int taut_form_create(const taut_saddle_shape *shape, bool whole, bool order, taut_arena *arena,
                     taut_arena *columns, taut_form *form, taut_error *error)
{
    if (shape->n < 0 || shape->m < 0 || (int64_t)shape->n + shape->m > INT32_MAX - 2)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "a saddle system with %d coordinates and %d bonds is out of range",
                         shape->n, shape->m);
    TAUT_TRY(check_pattern(shape->m, shape->n, shape->g_start, shape->g_column, "G", error));
    if (shape->k_start)
        TAUT_TRY(check_pattern(shape->n, shape->n, shape->k_start, shape->k_column, "K", error));
    *form = (taut_form){.shape = *shape};
    form->schur = !whole && !shape->k_start && shape->positive;
    form->definite = shape->symmetric && shape->positive && !shape->complex_values &&
                     (form->schur || shape->m == 0);
    form->lower = form->definite;
    form->rows = form->schur ? shape->m : shape->n + shape->m;
    form->half_width = form->rows > 0 ? form->rows - 1 : 0;
    form->place = TAUT_NEW(arena, taut_index, form->rows);
    TAUT_NEED(error, form->place);
    for (taut_index i = 0; i < form->rows; i++)
        form->place[i] = i;
    if (form->schur || order) {
        TAUT_TRY(taut_columns_build(shape->m, shape->n, shape->g_start, shape->g_column, columns,
                                    &form->columns, error));
        if (order)
            TAUT_TRY(choose_order(form, &form->columns, arena, error));
    }
    for (taut_index e = 0; form->schur && e < entries_of_g(form); e++)
        form->columns.row[e] = form->place[form->columns.row[e]];
    return 0;
}

int taut_form_natural(taut_form *form, const taut_allocator *allocator, taut_error *error)
{
    taut_arena scratch;
    if (!form->ordered)
        return TAUT_OK;
    taut_arena_init(&scratch, allocator);
    taut_index *bond = TAUT_NEW(&scratch, taut_index, form->rows);
    for (taut_index i = 0; bond && i < form->rows; i++)
        bond[form->place[i]] = i;
    for (taut_index e = 0; bond && e < entries_of_g(form); e++)
        form->columns.row[e] = bond[form->columns.row[e]];
    for (taut_index i = 0; bond && i < form->rows; i++)
        form->place[i] = i;
    form->ordered = false;
    taut_arena_clear(&scratch);
    return bond ? TAUT_OK : taut_fail_memory(error);
}

/* New places, from how many nodes come before each old one: coordinates in their order, bonds
 * behind the last of theirs, in their order too. */
static void postpone(const taut_form *form, taut_index *before, taut_index *last, taut_index *bond,
                     taut_index *to)
{
    const taut_saddle_shape *shape = &form->shape;
    const taut_index *place = form->place, n = shape->n;
    for (taut_index j = 0; j < n; j++)
        before[place[j] + 1]++;
    for (taut_index i = 0; i < shape->m; i++) {
        last[i] = shape->g_start[i] < shape->g_start[i + 1] ? 0 : place[n + i];
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++)
            last[i] = place[shape->g_column[e]] > last[i] ? place[shape->g_column[e]] : last[i];
        before[last[i] + 1]++;
        bond[place[n + i]] = i + 1;
    }
    for (taut_index k = 0; k < form->rows; k++)
        before[k + 1] += before[k];
    for (taut_index j = 0; j < n; j++)
        to[j] = before[place[j]]++;
    for (taut_index k = 0; k < form->rows; k++)
        if (bond[k] > 0)
            to[n + bond[k] - 1] = before[last[bond[k] - 1]]++;
}

int taut_form_postpone(taut_form *form, taut_index most, const taut_allocator *allocator,
                       bool *narrow, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, allocator);
    taut_index *before = TAUT_NEW(&scratch, taut_index, form->rows + 1),
               *last = TAUT_NEW(&scratch, taut_index, form->shape.m),
               *bond = TAUT_NEW(&scratch, taut_index, form->rows),
               *to = TAUT_NEW(&scratch, taut_index, form->rows), wide;
    int status = taut_arena_check(&scratch, error);
    if (status == 0) {
        postpone(form, before, last, bond, to);
        wide = width(form, to);
        if ((*narrow = wide <= most)) {
            memcpy(form->place, to, (size_t)form->rows * sizeof *to);
            form->half_width = wide;
        }
    }
    taut_arena_clear(&scratch);
    return status;
}

int taut_form_reserve(taut_form *form, taut_arena *arena, taut_error *error)
{
    size_t scalar = taut_form_scalar(form);
    form->scale = TAUT_NEW(arena, double, form->rows);
    form->vector = taut_arena_get(arena, form->rows, scalar);
    if (form->schur) {
        form->k_inverse = taut_arena_get(arena, form->shape.n, scalar);
        form->g1 = taut_arena_get(arena, entries_of_g(form), scalar);
        form->g2 =
            form->shape.symmetric ? form->g1 : taut_arena_get(arena, entries_of_g(form), scalar);
    }
    return taut_arena_check(arena, error);
}

int taut_form_load(taut_form *form, const taut_saddle_values *values, taut_error *error)
{
    if (form->runs)
        return taut_form_runs_load(form, values, error);
    if (form->schur)
        return form->shape.complex_values ? load_schur_complex(form, values, error)
                                          : load_schur_real(form, values, error);
    if (form->shape.complex_values)
        load_whole_complex(form, values);
    else
        load_whole_real(form, values);
    return 0;
}

void taut_form_archive(taut_form *form, taut_archive *archive)
{
    size_t scalar = taut_form_scalar(form);
    taut_archive_reals(archive, form->scale, form->rows);
    if (form->runs) {
        taut_archive_flag(archive, &form->runs->unit);
        taut_form_runs_unit(form);
    }
    if (form->runs && archive->reading)
        form->runs->known = false;
    if (!form->schur)
        return;
    taut_archive_bytes(archive, form->k_inverse, (size_t)form->shape.n * scalar);
    taut_archive_bytes(archive, form->g1, (size_t)entries_of_g(form) * scalar);
    if (form->g2 != form->g1)
        taut_archive_bytes(archive, form->g2, (size_t)entries_of_g(form) * scalar);
}

void taut_form_assemble(const taut_form *form, const taut_saddle_values *values, void *matrix)
{
    if (form->runs) {
        taut_form_runs_assemble(form, values->d, matrix);
    } else if (form->shape.complex_values) {
        if (form->schur)
            assemble_schur_complex(form, values, matrix);
        else
            assemble_whole_complex(form, values, matrix);
    } else {
        if (form->schur)
            assemble_schur_real(form, values, matrix);
        else
            assemble_whole_real(form, values, matrix);
    }
}

void taut_form_before(taut_form *form, const void *x, void *y)
{
    if (form->runs)
        taut_form_runs_before(form, false, x, y);
    else if (form->shape.complex_values)
        before_complex(form, x, y);
    else
        before_real(form, x, y);
}

void taut_form_after(taut_form *form, void *x, void *y)
{
    if (form->runs)
        taut_form_runs_after(form, x, y);
    else if (form->shape.complex_values)
        after_complex(form, x, y);
    else
        after_real(form, x, y);
}

static void parts_before(const taut_form *form, taut_index count, const taut_index *place,
                         const double *scale, double *const part[2])
{
    double *vector = form->vector;
    for (taut_index k = 0; k < count; k++)
        for (int p = 0; p < 2; p++)
            vector[2 * (int64_t)place[k] + p] = part[p][k] * scale[k];
}

static void parts_after(const taut_form *form, taut_index count, const taut_index *place,
                        const double *scale, double *const part[2])
{
    const double *vector = form->vector;
    for (taut_index k = 0; k < count; k++)
        for (int p = 0; p < 2; p++)
            part[p][k] = vector[2 * (int64_t)place[k] + p] * scale[k];
}

void taut_form_before_parts(taut_form *form, double *const x[2], double *const y[2])
{
    const taut_index n = form->shape.n, *place = form->place;
    parts_before(form, n, place, form->scale, x);
    parts_before(form, form->shape.m, place + n, form->scale + n, y);
}

void taut_form_after_parts(const taut_form *form, double *const x[2], double *const y[2])
{
    const taut_index n = form->shape.n, *place = form->place;
    parts_after(form, n, place, form->scale, x);
    parts_after(form, form->shape.m, place + n, form->scale + n, y);
}

double taut_form_tolerance(taut_index width)
{
    return DBL_EPSILON * (width > 16 ? width : 16);
}

static bool values_finite(const taut_form *form, const taut_saddle_values *values)
{
    const taut_saddle_shape *shape = &form->shape;
    int64_t k = shape->k_start ? shape->k_start[shape->n] : shape->n, g = entries_of_g(form);
    const taut_saddle_sum *sum = values->sum;
    if (sum) {
        bool finite = all_finite_real(shape->n, sum->diagonal) && all_finite_real(g, sum->g1) &&
                      all_finite_real(g, values->g2) && all_finite_real(shape->m, sum->d);
        for (int p = 0; p < sum->parts; p++)
            finite = finite && all_finite_real(k, sum->part[p]);
        return finite;
    }
    if (shape->complex_values)
        return all_finite_complex(k, values->k) && all_finite_complex(g, values->g1) &&
               all_finite_complex(g, values->g2) && all_finite_complex(shape->m, values->d);
    return all_finite_real(k, values->k) && all_finite_real(g, values->g1) &&
           all_finite_real(g, values->g2) && all_finite_real(shape->m, values->d);
}

int taut_form_singular(const taut_form *form, const taut_saddle_values *values, taut_index column,
                       taut_error *error)
{
    if (!values_finite(form, values))
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the saddle matrix has entries that are not finite");
    taut_index node = 0;
    while (node < form->rows && form->place[node] != column)
        node++;
    taut_index bond = form->schur ? node : node - form->shape.n;
    if (bond >= 0)
        return taut_fail(error, TAUT_ERROR_SINGULAR,
                         "the saddle matrix is singular at bond %d: its row of G depends on other "
                         "bonds without compliance",
                         bond + 1);
    return taut_fail(
        error, TAUT_ERROR_SINGULAR,
        "the saddle matrix is singular at coordinate %d: neither mass nor bonds determine it",
        node + 1);
}
