/* parted.c - band matrices A = G K^-1 G^T + D whose rows are divided among ranks (base/space.h).
 *
 * Each rank has the rows of its own bonds, in the order of their highest coordinates, and those of
 * ghosts around them, whose rows are not complete. The last b rows of every rank but the last are a
 * separator, b the half-width; the interiors between separators are independent (nested dissection
 * of one level, as in segments.h):
 *
 *     [ A_I  E ] [y_I]   [r_I]       V = A_I^-1 E,   R = A_S - sum E^T V,
 *     [ E^T A_S ] [y_S] = [r_S]       R y_S = r_S - sum E^T A_I^-1 r_I,   y_I = A_I^-1 r_I - V y_S
 *
 * R is block tridiagonal with one block for each separator: all ranks gather and factor it. Two
 * messages a matrix, two a right-hand side, of the size of b. */
#include "linalg/backend.h"

#include <math.h>
#include <stdlib.h>

#include "base/vectors.h"
#include "linalg/form_runs.h"
#include "linalg/segments.h"
#include "linalg/small_kernels.h"

enum { WIDEST = 32 }; /* half-width: V has 2 b columns */

typedef struct parted {
    taut_space *space;
    taut_halo halo; /* of the rows, in the order of the form */
    taut_index rows, first, own,
        inner;                  /* all; of this rank: where they begin, how many, interior */
    double *scale;              /* in the order of the form, where that is scaled */
    taut_index b, width;        /* half-width of A, and of it as it is assembled */
    bool left, right, segments; /* is there a separator before, and after the interior? */
    bool apart; /* the interior is copied out of the matrix; else it is factored as it is there */
    double *matrix, *interior, *factors, *size;
    double *edge[2];   /* E: [b][b] of the separators before and after, by columns */
    double *shape[2];  /* V: [b][inner] */
    double *corner;    /* A_S, [b][b] */
    double *part;      /* of R, of this rank */
    double *parts;     /* those of all ranks */
    double *reduced;   /* R, a band */
    double *sums;      /* [size][2b] */
    double *sum;       /* [2b] */
    double *separator; /* [(size - 1) b] */
} parted;

/* Of a part of R: a status, the diagonal of A_S, the four blocks. */
static int64_t blocks_at(const parted *w)
{
    return 1 + w->b;
}

static int64_t part_size(const parted *w)
{
    return blocks_at(w) + 4 * (int64_t)w->b * w->b;
}

/* ---- once */

static int fail_shape(taut_error *error, const char *why)
{
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "the rigid bonds cannot be solved for by several ranks: %s; run this model "
                     "without mpiexec",
                     why);
}

typedef struct keyed {
    double key;
    taut_index row;
} keyed;

static int compare(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The places of all rows here in the whole matrix: own ones by their highest column. list: room. */
static void find_places(parted *w, const taut_form *form, keyed *list, double *place)
{
    const taut_saddle_shape *shape = &form->shape;
    const taut_halo *halo = shape->row_halo;
    for (int k = 0; k < halo->ranges; k++)
        for (taut_index i = halo->range[k][0]; i < halo->range[k][1]; i++) {
            taut_index most = 0;
            for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++)
                most = shape->g_column[e] > most ? shape->g_column[e] : most;
            list[w->own++] = (keyed){most, i};
        }
    qsort(list, (size_t)w->own, sizeof *list, compare);
    for (taut_index k = 0; k < w->own; k++)
        place[list[k].row] = (double)(halo->before + k);
    taut_halo_refresh(halo, place);
}

/* The form takes that order, and so does the exchange. */
static int take_order(parted *w, taut_form *form, keyed *list, const double *place,
                      taut_arena *arena, taut_error *error)
{
    const taut_halo *halo = form->shape.row_halo;
    const int64_t outs = halo->out_start[halo->partners], ins = halo->in_start[halo->partners];
    for (taut_index i = 0; i < form->rows; i++)
        list[i] = (keyed){place[i], i};
    qsort(list, (size_t)form->rows, sizeof *list, compare);
    for (taut_index k = 0; k < form->rows; k++) {
        form->place[list[k].row] = k;
        form->ordered = form->ordered || list[k].row != k;
        w->first += list[k].key < (double)halo->before;
    }
    taut_form_measure(form);
    for (taut_index e = 0; e < form->columns.start[form->shape.n]; e++)
        form->columns.row[e] = form->place[form->columns.row[e]];
    w->halo = *halo;
    w->halo.out = TAUT_NEW(arena, taut_index, outs);
    w->halo.in = TAUT_NEW(arena, taut_index, ins);
    TAUT_NEED(error, w->halo.out, w->halo.in);
    for (int64_t k = 0; k < outs; k++)
        w->halo.out[k] = form->place[halo->out[k]];
    for (int64_t k = 0; k < ins; k++)
        w->halo.in[k] = form->place[halo->in[k]];
    return TAUT_OK;
}

/* b over all ranks; rows are coupled to those of the next rank at most. list: by places. */
static int find_band(parted *w, const taut_form *form, const keyed *list, taut_error *error)
{
    const char *why = NULL;
    const double first = (double)form->shape.row_halo->before;
    double width = 0;
    for (taut_index j = 0; j < form->shape.n; j++)
        for (taut_index e = form->columns.start[j]; e < form->columns.start[j + 1]; e++)
            for (taut_index f = form->columns.start[j]; f < form->columns.start[j + 1]; f++) {
                const taut_index i = form->columns.row[e], k = form->columns.row[f];
                if (i >= w->first && i < w->first + w->own)
                    width = fmax(width, fabs(list[i].key - list[k].key));
            }
    width = taut_space_largest(w->space, width);
    w->b = width < 1 ? 1 : width > WIDEST ? WIDEST : (taut_index)width;
    const bool last = w->space->rank == w->space->size - 1;
    if (width > WIDEST)
        why = "they are not a narrow band in the order of the coordinates";
    else if (w->own < (last ? w->b : 2 * w->b))
        why = "there are too few of them for so many ranks";
    for (taut_index k = 0; k < form->rows && !why; k++) /* ghosts stand where they belong */
        if (fabs(list[k].key - first) <= w->b && list[k].key - first != k - w->first)
            why = "their order differs from rank to rank";
    return taut_space_agree(w->space, why ? fail_shape(error, why) : TAUT_OK, error);
}

static int reserve(parted *w, taut_arena *arena, taut_index rows, bool runs, taut_error *error)
{
    const int64_t b = w->b, size = w->space->size, inner = w->inner;
    w->segments = taut_segments_fit(w->inner, w->b);
    w->apart = !(w->segments && runs && w->b <= w->width);
    TAUT_TRY(TAUT_RESERVE(arena, rows * ((int64_t)w->width + 1), error, &w->matrix));
    if (w->apart)
        TAUT_TRY(TAUT_RESERVE(arena, inner * (b + 1), error, &w->interior));
    else
        w->interior = w->matrix + w->first;
    TAUT_TRY(TAUT_RESERVE(arena, w->segments ? taut_segments_numbers(w->inner, w->b) : 0, error,
                          &w->factors));
    TAUT_TRY(TAUT_RESERVE(arena, w->segments ? 0 : inner, error, &w->size));
    for (int side = 0; side < 2; side++) {
        const bool there = side == 0 ? w->left : w->right;
        TAUT_TRY(TAUT_RESERVE(arena, b * b, error, &w->edge[side]));
        TAUT_TRY(TAUT_RESERVE(arena, there ? b * inner : 0, error, &w->shape[side]));
    }
    TAUT_TRY(TAUT_RESERVE(arena, b * b, error, &w->corner));
    TAUT_TRY(TAUT_RESERVE(arena, part_size(w), error, &w->part));
    TAUT_TRY(TAUT_RESERVE(arena, size * part_size(w), error, &w->parts));
    TAUT_TRY(TAUT_RESERVE(arena, 2 * b, error, &w->sum));
    TAUT_TRY(TAUT_RESERVE(arena, size * 2 * b, error, &w->sums));
    TAUT_TRY(TAUT_RESERVE(arena, (size - 1) * b, error, &w->separator));
    return TAUT_RESERVE(arena, (size - 1) * b * 2 * b, error, &w->reduced);
}

static int order_and_measure(taut_saddle *saddle, parted *w, taut_arena *scratch, taut_error *error)
{
    taut_form *form = &saddle->form;
    double *place = TAUT_NEW(scratch, double, form->rows);
    keyed *list = TAUT_NEW(scratch, keyed, form->rows + 1);
    const bool can = form->schur && form->definite;
    int status = !(w && place && list) ? taut_fail_memory(error)
                 : !can ? fail_shape(error, "the mass matrix is not a constant diagonal")
                        : TAUT_OK;
    TAUT_TRY(taut_space_agree(form->shape.row_halo->space, status, error));
    w->space = form->shape.row_halo->space;
    saddle->work = w;
    find_places(w, form, list, place);
    status = take_order(w, form, list, place, &saddle->arena, error);
    TAUT_TRY(taut_space_agree(w->space, status, error));
    return find_band(w, form, list, error);
}

static int create_parted(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    parted *w = TAUT_NEW(&saddle->arena, parted, 1);
    taut_arena scratch;
    taut_arena_init(&scratch, &saddle->arena.allocator);
    int status = order_and_measure(saddle, w, &scratch, error);
    taut_arena_clear(&scratch);
    TAUT_TRY(status);
    w->left = w->space->rank > 0;
    w->right = w->space->rank < w->space->size - 1;
    w->rows = form->rows;
    w->inner = w->own - (w->right ? w->b : 0);
    w->width = form->half_width;
    form->offset = 0;
    form->step = w->width;
    status = taut_form_runs_create(form, true, &saddle->arena, error);
    if (status == 0)
        status = reserve(w, &saddle->arena, form->rows, form->runs, error);
    if (status == 0)
        status = TAUT_RESERVE(&saddle->arena, form->runs ? 0 : form->rows, error, &w->scale);
    return taut_space_agree(w->space, status, error);
}

/* ---- the matrix */

/* Entry (i, j), i >= j, of the rows that were assembled. */
static double entry(const parted *w, const taut_form *form, taut_index i, taut_index j)
{
    if (i - j > w->width)
        return 0;
    if (form->runs)
        return w->matrix[(int64_t)(i - j) * form->rows + j];
    return w->matrix[i + (int64_t)j * form->step] / (w->scale[i] * w->scale[j]);
}

/* The interior as its factorisation wants it: by diagonals, or by columns. */
static void take_interior(parted *w, const taut_form *form)
{
    const taut_index b = w->b, inner = w->inner, first = w->first;
    for (taut_index d = 0; w->apart && d <= b; d++) {
        const int64_t step = w->segments ? 1 : b + 1;
        double *to = w->segments ? w->interior + (int64_t)d * inner : w->interior + d;
        if (form->runs && w->segments && d <= w->width) {
            taut_copy(inner - d, w->matrix + (int64_t)d * form->rows + first, to);
            taut_clear(d, to + inner - d);
            continue;
        }
        for (taut_index j = 0; j < inner; j++)
            to[j * step] = j + d < inner ? entry(w, form, first + j + d, first + j) : 0;
    }
}

/* Column c of E before the interior is that of the ghost c - b rows before it; rows are the first b
 * of the interior, or the last b before the separator after it. */
static void take_edges(parted *w, const taut_form *form)
{
    const taut_index b = w->b, first = w->first, end = first + w->inner;
    for (taut_index c = 0; c < b; c++)
        for (taut_index r = 0; r < b; r++) {
            const taut_index ghost = first - b + c, low = end - b + r;
            w->edge[0][c * b + r] =
                w->left && ghost >= 0 && r < w->inner ? entry(w, form, first + r, ghost) : 0;
            w->edge[1][c * b + r] = w->right && low >= first ? entry(w, form, end + c, low) : 0;
            if (w->right)
                w->corner[c * b + r] = entry(w, form, end + (r > c ? r : c), end + (r > c ? c : r));
        }
}

static taut_index factor_interior(parted *w, taut_pool *pool, double tolerance)
{
    if (w->segments)
        return taut_segments_factor(pool, w->inner, w->b, w->interior,
                                    w->apart ? w->inner : w->rows, tolerance, w->factors);
    for (taut_index j = 0; j < w->inner; j++)
        w->size[j] = w->interior[j * ((int64_t)w->b + 1)];
    return taut_band_ldl_factor(w->inner, w->b, w->interior, w->size, tolerance);
}

static void solve_interior(const parted *w, taut_pool *pool, double *x)
{
    if (w->segments)
        taut_segments_solve(pool, w->inner, w->b, w->factors, w->interior, x);
    else
        taut_band_ldl_solve(w->inner, w->b, w->interior, x);
}

/* The first of the b rows that a side's E has. */
static taut_index edge_row(const parted *w, int side)
{
    return side == 0 ? 0 : w->inner - w->b;
}

/* E^T x of a side, column c. */
static double edge_dot(const parted *w, int side, taut_index c, const double *x)
{
    const taut_index row = edge_row(w, side);
    double sum = 0;
    for (taut_index r = 0; r < w->b; r++)
        if (row + r >= 0 && row + r < w->inner)
            sum += w->edge[side][c * w->b + r] * x[row + r];
    return sum;
}

/* V, and the blocks of R that this rank adds: [side][side][b][b]. */
static void form_part(parted *w, taut_pool *pool)
{
    const taut_index b = w->b;
    const bool there[2] = {w->left, w->right};
    for (int side = 0; side < 2; side++)
        for (taut_index c = 0; there[side] && c < b; c++) {
            double *v = w->shape[side] + (int64_t)c * w->inner;
            const taut_index row = edge_row(w, side);
            taut_clear(w->inner, v);
            for (taut_index r = 0; r < b; r++)
                if (row + r >= 0 && row + r < w->inner)
                    v[row + r] = w->edge[side][c * b + r];
            solve_interior(w, pool, v);
        }
    double *block = w->part + blocks_at(w);
    for (taut_index c = 0; c < b; c++)
        w->part[1 + c] = w->right ? w->corner[c * b + c] : 0;
    for (int a = 0; a < 2; a++)
        for (int side = 0; side < 2; side++)
            for (taut_index c = 0; c < b; c++)
                for (taut_index r = 0; r < b; r++, block++) {
                    *block = 0;
                    if (there[a] && there[side])
                        *block = -edge_dot(w, a, c, w->shape[side] + (int64_t)r * w->inner);
                    if (there[a] && a == 1 && side == 1)
                        *block += w->corner[c * b + r];
                }
}

/* Entry (c, r) of the block of sides (a, side) in the part of a rank. */
static double block_entry(const parted *w, int rank, int a, int side, taut_index c, taut_index r)
{
    const int64_t b = w->b;
    return w->parts[rank * part_size(w) + blocks_at(w) + ((2 * a + side) * b + c) * b + r];
}

/* Separator s lies after rank s: R_ss of ranks s and s + 1, R_(s, s-1) of rank s. */
static taut_index factor_reduced(parted *w, double tolerance)
{
    const taut_index b = w->b, half = 2 * b - 1, rows = (w->space->size - 1) * b;
    taut_clear((int64_t)rows * (half + 1), w->reduced);
    for (int s = 0; s < w->space->size - 1; s++)
        for (taut_index c = 0; c < b; c++)
            for (taut_index r = 0; r < b; r++) {
                const taut_index i = s * b + c, j = s * b + r;
                if (i >= j)
                    w->reduced[i - j + (int64_t)j * (half + 1)] =
                        block_entry(w, s, 1, 1, c, r) + block_entry(w, s + 1, 0, 0, c, r);
                if (s > 0)
                    w->reduced[i - (j - b) + (int64_t)(j - b) * (half + 1)] =
                        block_entry(w, s, 1, 0, c, r);
            }
    for (taut_index j = 0; j < rows; j++)
        w->separator[j] = w->parts[j / b * part_size(w) + 1 + j % b];
    return taut_band_ldl_factor(rows, half, w->reduced, w->separator, tolerance);
}

static int factor_parted(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    parted *w = saddle->work;
    taut_form *form = &saddle->form;
    const double tolerance = taut_form_tolerance(w->b);
    int status = taut_form_load(form, values, error);
    if (status == 0) {
        if (!form->runs)
            taut_clear(form->rows * ((int64_t)w->width + 1), w->matrix);
        for (taut_index i = 0; !form->runs && i < form->rows; i++)
            w->scale[form->place[i]] = form->scale[i];
        taut_form_assemble(form, values, w->matrix);
        take_interior(w, form);
        take_edges(w, form);
        taut_index bad = factor_interior(w, form->shape.pool, tolerance);
        if (bad)
            status = taut_form_singular(form, values, w->first + bad - 1, error);
    }
    if (status == 0)
        form_part(w, form->shape.pool);
    w->part[0] = status;
    w->space->calls->gather(w->space, part_size(w) * (int64_t)sizeof(double), w->part, w->parts);
    for (int r = 0; r < w->space->size; r++)
        if (w->parts[r * part_size(w)] != 0)
            return status ? status
                          : taut_fail(error, (int)w->parts[r * part_size(w)],
                                      "the bonds of rank %d cannot be solved for", r);
    taut_index bad = factor_reduced(w, tolerance);
    return bad ? taut_fail(error, TAUT_ERROR_SINGULAR,
                           "the saddle matrix is singular at the last bonds of rank %d",
                           (int)((bad - 1) / w->b))
               : TAUT_OK;
}

/* ---- right-hand sides */

static void solve_reduced(parted *w)
{
    const taut_index b = w->b;
    const int ranks = w->space->size;
    w->space->calls->gather(w->space, 2 * b * (int64_t)sizeof(double), w->sum, w->sums);
    for (int s = 0; s < ranks - 1; s++)
        for (taut_index c = 0; c < b; c++)
            w->separator[s * b + c] = w->sums[(s * 2 + 1) * b + c] + w->sums[(s + 1) * 2 * b + c];
    taut_band_ldl_solve((ranks - 1) * b, 2 * b - 1, w->reduced, w->separator);
}

static int solve_parted(taut_saddle *saddle, taut_error *error)
{
    parted *w = saddle->work;
    taut_form *form = &saddle->form;
    double *vector = form->vector, *scale = form->runs ? NULL : w->scale;
    const taut_index b = w->b, first = w->first;
    (void)error;
    for (taut_index i = 0; scale && i < form->rows; i++)
        vector[i] /= scale[i];
    double *z = vector + first;
    solve_interior(w, form->shape.pool, z);
    for (taut_index c = 0; c < b; c++) {
        w->sum[c] = w->left ? -edge_dot(w, 0, c, z) : 0;
        w->sum[b + c] = w->right ? vector[first + w->inner + c] - edge_dot(w, 1, c, z) : 0;
    }
    solve_reduced(w);
    const double *before = w->separator + (int64_t)(w->space->rank - 1) * b,
                 *after = w->separator + (int64_t)w->space->rank * b;
    for (taut_index c = 0; c < b && w->left; c++)
        taut_add_scaled(w->inner, -before[c], w->shape[0] + (int64_t)c * w->inner, z);
    for (taut_index c = 0; c < b && w->right; c++) {
        taut_add_scaled(w->inner, -after[c], w->shape[1] + (int64_t)c * w->inner, z);
        vector[first + w->inner + c] = after[c];
    }
    taut_halo_refresh(&w->halo, vector);
    for (taut_index i = 0; scale && i < form->rows; i++)
        vector[i] /= scale[i];
    return TAUT_OK;
}

static void archive_nothing(taut_saddle *saddle, taut_archive *archive)
{
    (void)saddle, (void)archive; /* nothing is kept between steps */
}

const taut_backend_functions taut_backend_parted = {create_parted, factor_parted,   solve_parted,
                                                    NULL,          archive_nothing, NULL};
