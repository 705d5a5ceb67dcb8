/* rank.c - which rows of G depend on others.
 *
 * Rows are scaled to unit length and put into the band order of A = G G^T. Two passes:
 *  1. L D L^T of A. Pivots well above rounding prove full rank;
 *  this is what happens nearly always, in O(rows b^2). Where the band is
 *     too wide for that, the sparse solver is asked first:
 *     full rank when it can solve without large numbers.
 *  2. Otherwise G^T = Q R by Givens rotations,
 *  coordinate by coordinate into the band of R (Q is not kept), as in Lawson, Hanson,
 *     Solving Least Squares Problems (1974),
 *     chapter 27. R has A's band but not its squared condition, so that tolerances down to
 *     1e-14 make sense. A column j whose diagonal |R_jj| <= tolerance depends on the columns before
 * it: back substitution gives z with G^T z = 0, z_j = 1, and the rest of row j goes on into the
 * rows below.
 *
 * The band order is not the user's. The null vectors z are therefore brought into echelon form
 * from the last row of G backwards; the row where each one ends is the one that depends on
 * earlier rows, as elimination in the given order would have found. */
#include "base/vectors.h"
#include "linalg/form.h"

#include <math.h>

#include "linalg/small_kernels.h"

/* Pivots of A (unit diagonal) above this prove full rank: far from both rounding and every
 * sensible tolerance squared. */
static const double clear_pivot = 1e-6;
/* Coefficients below this, relative to the largest, do not count as part of a dependence; below
 * the second, they are rounding. */
static const double coefficient_floor = 1e-6, rounding_floor = 1e-10;
/* g_i / |G_i| that differ by less, absolutely or relatively, do not conflict. */
static const double conflict_absolute = 1e-12, conflict_relative = 1e-5;
/* Operations from which the sparse solver goes first; and those, and bytes of the band, beyond
 * which the answer is "too large". */
static const double wide_band = 1e9, too_long = 4e11, too_large = 4e9;
/* Solutions below this, for right-hand sides of 1, prove that A is far from singular. */
static const double clear_solution = 1e8;
/* Operations spent on naming rows in the given order; beyond, the rows named are the last in the
 * band order. */
enum { EFFORT = 400000000 };

typedef struct null_vector {
    taut_index count, end; /* entries; the row that it marks */
    taut_index *row;       /* rows of G */
    double *value;         /* coefficients of the unit rows */
} null_vector;

typedef struct rank_work {
    taut_arena *arena;
    taut_form form; /* places and columns */
    const double *g;
    double tolerance;
    taut_index m, b;     /* rows of G, half-width */
    taut_index *row_at;  /* row of G at a place */
    double *length;      /* of the row at a place; 1 for zero rows */
    double *r;           /* R by rows: (i,j) at i*(b+1) + j-i */
    bool *used, *dead;   /* row i of R is filled; column i depends on earlier ones */
    double *line;        /* the line being rotated into R, [m]; then z by places */
    null_vector *vector; /* by the row they mark, [m]; count 0 where there is none */
    double *sum;         /* by rows of G; zero except where listed */
    taut_index *listed, listed_count;
    bool *is_listed;
    int64_t effort;
} rank_work;

/* Sums entries that repeat in a column: returns the end of the run that starts at e, and its sum.
 */
static taut_index run_of(const rank_work *work, taut_index column, taut_index e, double *sum)
{
    const taut_columns *columns = &work->form.columns;
    taut_index place = columns->row[e];
    *sum = 0;
    for (; e < columns->start[column + 1] && columns->row[e] == place; e++)
        *sum += work->g[columns->entry[e]];
    return e;
}

static int row_lengths(rank_work *work, taut_error *error)
{
    double entry;
    for (taut_index j = 0; j < work->form.shape.n; j++)
        for (taut_index e = work->form.columns.start[j]; e < work->form.columns.start[j + 1];) {
            taut_index place = work->form.columns.row[e];
            e = run_of(work, j, e, &entry);
            work->length[place] = hypot(work->length[place], entry);
        }
    for (taut_index i = 0; i < work->m; i++) {
        if (!isfinite(work->length[i]))
            return taut_fail(error, TAUT_ERROR_EVALUATE, "row %d of G is not finite",
                             work->row_at[i] + 1);
        if (work->length[i] == 0)
            work->length[i] = 1;
    }
    return 0;
}

/* Pass 1. *full: whether full rank is proved; if not, nothing is known. */
static int prove_full_rank(rank_work *work, bool *full, taut_error *error)
{
    const taut_form *form = &work->form;
    taut_arena scratch;
    taut_arena_init(&scratch, &work->arena->allocator);
    double *a = TAUT_NEW(&scratch, double, work->m *(int64_t)(work->b + 1));
    int status = a ? 0 : taut_fail_memory(error);
    for (taut_index j = 0; a && j < form->shape.n; j++)
        for (taut_index e = form->columns.start[j]; e < form->columns.start[j + 1]; e++)
            for (taut_index f = form->columns.start[j]; f < form->columns.start[j + 1]; f++) {
                taut_index p = form->columns.row[e], q = form->columns.row[f];
                if (p >= q)
                    a[p + q * (int64_t)work->b] +=
                        work->g[form->columns.entry[e]] / work->length[p] *
                        (work->g[form->columns.entry[f]] / work->length[q]);
            }
    double clear = fmax(clear_pivot, 4 * work->tolerance * work->tolerance);
    *full = a && taut_band_ldl_factor(work->m, work->b, a, NULL, clear) == 0;
    taut_arena_clear(&scratch);
    return status;
}

/* Pass 1 for wide bands: the saddle system with K = 1. */
static int prove_by_solver(rank_work *work, const taut_saddle_shape *shape, bool *full,
                           taut_error *error)
{
    taut_saddle_shape plain = work->form.shape;
    taut_arena scratch;
    taut_saddle *saddle = NULL;
    taut_arena_init(&scratch, &work->arena->allocator);
    taut_index entries = shape->g_start[shape->m];
    double *x = TAUT_NEW(&scratch, double, shape->n), *ones = TAUT_NEW(&scratch, double, shape->n),
           largest = 0;
    double *y = TAUT_NEW(&scratch, double, shape->m), *unit = TAUT_NEW(&scratch, double, entries);
    int status = x && ones && y && unit ? 0 : taut_fail_memory(error);
    for (taut_index j = 0; status == 0 && j < shape->n; j++)
        ones[j] = 1;
    for (taut_index i = 0; status == 0 && i < shape->m; i++) {
        y[i] = (i * INT64_C(2654435761) >> 8) % 2 ? 1 : -1; /* signs without a pattern */
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++)
            unit[e] = work->g[e] / work->length[work->form.place[i]];
    }
    if (status == 0)
        status = taut_saddle_create(&plain, TAUT_BACKEND_SPARSE, &work->arena->allocator, &saddle,
                                    error);
    if (status == 0)
        status = taut_saddle_factor(saddle, ones, unit, NULL, NULL, error);
    if (status == 0)
        status = taut_saddle_solve(saddle, 1, x, y, error);
    for (taut_index i = 0; status == 0 && i < shape->m; i++)
        largest = fabs(y[i]) <= largest ? largest : fabs(y[i]); /* NaN stays */
    *full = status == 0 && largest < clear_solution;
    taut_saddle_destroy(saddle);
    taut_arena_clear(&scratch);
    return status == TAUT_ERROR_SINGULAR ? 0 : status;
}

static int prove(rank_work *work, const taut_saddle_shape *shape, bool *full, taut_error *error)
{
    double row = work->b + 1.0;
    if (work->m * row * row > wide_band && taut_backend_available(TAUT_BACKEND_SPARSE)) {
        TAUT_TRY(prove_by_solver(work, shape, full, error));
        if (*full)
            return 0;
    }
    if (work->m * row * row > too_long || work->m * row * sizeof(double) > too_large)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "which of %d bonds depend on others cannot be found: too many of them "
                         "share coordinates (half-width %d)",
                         work->m, work->b);
    return prove_full_rank(work, full, error);
}

/* Rotates work->line, which begins at place `first` and ends at `last`, into R; leaves it zero. */
static void insert_line(rank_work *work, taut_index first, taut_index last)
{
    const taut_index m = work->m, b = work->b;
    for (taut_index i = first; i < m && i <= last; i++) {
        double *line = work->line + i, *row = work->r + i * (int64_t)(b + 1);
        if (line[0] == 0)
            continue;
        taut_index count = m - i < b + 1 ? m - i : b + 1;
        if (!work->used[i]) {
            taut_copy(count, line, row);
            taut_clear(count, line);
            work->used[i] = true;
            return;
        }
        double length = hypot(row[0], line[0]), c = row[0] / length, s = line[0] / length;
        for (taut_index k = 1; k < count; k++) {
            double upper = row[k], lower = line[k];
            row[k] = c * upper + s * lower;
            line[k] = c * lower - s * upper;
        }
        row[0] = length;
        line[0] = 0;
        last = last < i + b ? i + b : last;
    }
}

/* Coordinates by the first place they touch: those of place i are list[start[i] .. start[i+1]-1].
 */
static int by_first_place(rank_work *work, taut_index **start, taut_index **list, taut_error *error)
{
    const taut_columns *columns = &work->form.columns;
    const taut_index n = work->form.shape.n;
    taut_index *first = TAUT_NEW(work->arena, taut_index, n),
               *count = TAUT_NEW(work->arena, taut_index, (int64_t)work->m + 2);
    *list = TAUT_NEW(work->arena, taut_index, n);
    TAUT_TRY(taut_arena_check(work->arena, error));
    for (taut_index j = 0; j < n; j++) {
        first[j] = work->m;
        for (taut_index e = columns->start[j]; e < columns->start[j + 1]; e++)
            first[j] = columns->row[e] < first[j] ? columns->row[e] : first[j];
        if (first[j] < work->m)
            count[first[j] + 2]++;
    }
    for (taut_index i = 2; i <= work->m + 1; i++)
        count[i] += count[i - 1];
    for (taut_index j = 0; j < n; j++)
        if (first[j] < work->m)
            (*list)[count[first[j] + 1]++] = j;
    *start = count;
    return 0;
}

/* Pass 2: fills R, and marks the columns that depend on earlier ones. */
static int triangularise(rank_work *work, taut_error *error)
{
    taut_index *start = NULL, *list = NULL;
    double entry;
    TAUT_TRY(by_first_place(work, &start, &list, error));
    for (taut_index i = 0; i < work->m; i++) {
        for (taut_index k = start[i]; k < start[i + 1]; k++) {
            taut_index j = list[k], last = i;
            for (taut_index e = work->form.columns.start[j]; e < work->form.columns.start[j + 1];) {
                taut_index place = work->form.columns.row[e];
                e = run_of(work, j, e, &entry);
                work->line[place] = entry / work->length[place];
                last = place > last ? place : last;
            }
            insert_line(work, i, last);
        }
        double *row = work->r + i * (int64_t)(work->b + 1);
        work->dead[i] = !work->used[i] || !(fabs(row[0]) > work->tolerance);
        if (work->dead[i] && work->used[i]) {
            taut_index last = i + work->b < work->m ? i + work->b : work->m - 1;
            taut_copy(last - i, row + 1, work->line + i + 1);
            insert_line(work, i + 1, last);
        }
    }
    return 0;
}

static void list_row(rank_work *work, taut_index row, double value)
{
    if (!work->is_listed[row]) {
        work->is_listed[row] = true;
        work->listed[work->listed_count++] = row;
    }
    work->sum[row] += value;
}

/* The null vector of the dependent column j, into sum. Stops where all further coefficients
 * vanish. */
static void null_vector_of(rank_work *work, taut_index j)
{
    const taut_index b = work->b;
    double *z = work->line, largest = 1;
    taut_index lowest = j, silent = 0, i = j - 1;
    z[j] = 1;
    for (; i >= 0 && silent <= b; i--) {
        const double *row = work->r + i * (int64_t)(b + 1);
        double sum = 0;
        for (taut_index k = 1; !work->dead[i] && k <= b && i + k <= j; k++)
            sum -= row[k] * z[i + k];
        z[i] = work->dead[i] ? 0 : sum / row[0];
        if (fabs(z[i]) <= rounding_floor * largest)
            z[i] = 0;
        largest = fmax(largest, fabs(z[i]));
        silent = z[i] == 0 ? silent + 1 : 0;
        lowest = i;
        work->effort += b + 1;
    }
    for (i = lowest; i <= j; i++) {
        if (z[i] != 0)
            list_row(work, work->row_at[i], z[i]);
        z[i] = 0;
    }
}

/* Eliminates the rows marked so far from sum, last one first (which brings in earlier rows
 * only); `except` stays. */
static void reduce(rank_work *work, taut_index except)
{
    for (;;) {
        taut_index last = -1;
        for (taut_index k = 0; k < work->listed_count; k++) {
            taut_index row = work->listed[k];
            if (row > last && row != except && work->sum[row] != 0 && work->vector[row].count)
                last = row;
        }
        work->effort += work->listed_count + 1;
        if (last < 0 || work->effort > 2 * (int64_t)EFFORT)
            return;
        const null_vector *vector = &work->vector[last];
        double factor = 0;
        for (taut_index k = 0; k < vector->count; k++)
            if (vector->row[k] == last)
                factor = work->sum[last] / vector->value[k];
        for (taut_index k = 0; k < vector->count; k++)
            list_row(work, vector->row[k], -factor * vector->value[k]);
        work->sum[last] = 0;
        work->effort += vector->count;
    }
}

static double largest_in_sum(const rank_work *work)
{
    double largest = 0;
    for (taut_index k = 0; k < work->listed_count; k++)
        largest = fmax(largest, fabs(work->sum[work->listed[k]]));
    return largest;
}

static void clear_sum(rank_work *work)
{
    for (taut_index k = 0; k < work->listed_count; k++) {
        work->sum[work->listed[k]] = 0;
        work->is_listed[work->listed[k]] = false;
    }
    work->listed_count = 0;
}

/* Keeps sum as the vector that marks its last row (or `fallback`, once naming in the given order
 * has become too costly). */
static int keep_vector(rank_work *work, taut_index fallback, taut_error *error)
{
    double largest = largest_in_sum(work);
    taut_index end = -1, count = 0;
    for (taut_index k = 0; k < work->listed_count; k++)
        if (fabs(work->sum[work->listed[k]]) > coefficient_floor * largest && work->listed[k] > end)
            end = work->listed[k];
    if (end < 0) { /* cancelled to nothing: cannot happen in exact arithmetic */
        list_row(work, fallback, 1);
        largest = 1;
    }
    bool plain = end < 0 || work->effort > EFFORT || work->vector[end].count;
    end = plain ? fallback : end;
    null_vector *vector = &work->vector[end];
    vector->row = TAUT_NEW(work->arena, taut_index, work->listed_count);
    vector->value = TAUT_NEW(work->arena, double, work->listed_count);
    TAUT_TRY(taut_arena_check(work->arena, error));
    vector->end = end;
    for (taut_index k = 0; k < work->listed_count; k++) {
        taut_index row = work->listed[k];
        bool wanted =
            row == end || (fabs(work->sum[row]) > rounding_floor * largest && (row < end || plain));
        if (wanted) {
            vector->row[count] = row;
            vector->value[count++] = work->sum[row];
        }
    }
    vector->count = count;
    clear_sum(work);
    return 0;
}

/* Partner and conflict of one marked row, expressed by unmarked rows alone. */
static void judge(rank_work *work, const null_vector *vector, const double *residual,
                  taut_index *partner, bool *conflict)
{
    taut_index best = -1;
    double total = 0, sizes = 0, length;
    for (taut_index k = 0; k < vector->count; k++)
        list_row(work, vector->row[k], vector->value[k]);
    reduce(work, vector->end);
    double own = fabs(work->sum[vector->end]);
    for (taut_index k = 0; k < work->listed_count; k++) {
        taut_index row = work->listed[k];
        double coefficient = work->sum[row] / own;
        if (residual) {
            length = work->length[work->form.place[row]];
            total += coefficient * residual[row] / length;
            sizes += fabs(coefficient * residual[row] / length);
        }
        if (row != vector->end && !work->vector[row].count &&
            fabs(coefficient) > coefficient_floor &&
            (best < 0 || fabs(work->sum[row]) > fabs(work->sum[best])))
            best = row;
    }
    if (partner)
        *partner = best;
    if (conflict && residual && !(fabs(total) <= conflict_absolute + conflict_relative * sizes))
        *conflict = true;
    clear_sum(work);
}

static int name_dependent_rows(rank_work *work, const double *residual, unsigned char *redundant,
                               taut_index *partner, bool *conflict, taut_error *error)
{
    const taut_index m = work->m;
    work->vector = TAUT_NEW(work->arena, null_vector, m);
    work->sum = TAUT_NEW(work->arena, double, m);
    work->listed = TAUT_NEW(work->arena, taut_index, m);
    work->is_listed = TAUT_NEW(work->arena, bool, m);
    TAUT_TRY(taut_arena_check(work->arena, error));
    for (taut_index j = 0; j < m; j++)
        if (work->dead[j]) {
            null_vector_of(work, j);
            reduce(work, -1);
            TAUT_TRY(keep_vector(work, work->row_at[j], error));
        }
    for (taut_index i = 0; i < m; i++)
        if (work->vector[i].count) {
            judge(work, &work->vector[i], residual, partner ? &partner[i] : NULL, conflict);
            if (redundant)
                redundant[i] = 1;
        }
    return 0;
}

static int prepare(rank_work *work, const taut_saddle_shape *shape, taut_error *error)
{
    /* as if K were the identity: then the form's matrix is A = G G^T */
    taut_saddle_shape plain = {.n = shape->n,
                               .m = shape->m,
                               .g_start = shape->g_start,
                               .g_column = shape->g_column,
                               .symmetric = true,
                               .positive = true};
    TAUT_TRY(taut_form_create(&plain, false, true, work->arena, work->arena, &work->form, error));
    work->m = shape->m;
    work->b = work->form.half_width;
    work->row_at = TAUT_NEW(work->arena, taut_index, work->m);
    work->length = TAUT_NEW(work->arena, double, work->m);
    TAUT_TRY(taut_arena_check(work->arena, error));
    for (taut_index i = 0; i < work->m; i++)
        work->row_at[work->form.place[i]] = i;
    return row_lengths(work, error);
}

static int find_rank(rank_work *work, const taut_saddle_shape *shape, const double *residual,
                     taut_index *rank, unsigned char *redundant, taut_index *partner,
                     bool *conflict, taut_error *error)
{
    bool full;
    TAUT_TRY(prepare(work, shape, error));
    *rank = work->m;
    TAUT_TRY(prove(work, shape, &full, error));
    if (full)
        return 0;
    work->r = TAUT_NEW(work->arena, double, work->m *(int64_t)(work->b + 1));
    work->used = TAUT_NEW(work->arena, bool, work->m);
    work->dead = TAUT_NEW(work->arena, bool, work->m);
    work->line = TAUT_NEW(work->arena, double, (int64_t)work->m + work->b + 1);
    TAUT_TRY(taut_arena_check(work->arena, error));
    TAUT_TRY(triangularise(work, error));
    for (taut_index j = 0; j < work->m; j++)
        *rank -= work->dead[j];
    return *rank < work->m
               ? name_dependent_rows(work, residual, redundant, partner, conflict, error)
               : 0;
}

int taut_rank(const taut_saddle_shape *shape, const double *g, double tolerance,
              const double *residual, taut_index *rank, unsigned char *redundant,
              taut_index *partner, bool *conflict, const taut_allocator *allocator,
              taut_error *error)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    rank_work work = {.arena = &arena, .g = g, .tolerance = tolerance > 0 ? tolerance : 1e-10};
    *rank = 0;
    if (conflict)
        *conflict = false;
    for (taut_index i = 0; i < shape->m; i++) {
        if (redundant)
            redundant[i] = 0;
        if (partner)
            partner[i] = -1;
    }
    int status = find_rank(&work, shape, residual, rank, redundant, partner, conflict, error);
    taut_arena_clear(&arena);
    return status;
}
