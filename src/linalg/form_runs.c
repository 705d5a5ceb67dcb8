/* form_runs.c - see form_runs.h. */
#include "linalg/form_runs.h"

#include <string.h>

#include "base/four.h"
#include "base/loops.h"

/* ---- once */

typedef struct builder {
    taut_form *form;
    taut_form_runs *runs;
    taut_arena *arena, scratch;
    taut_index *place_of; /* of each entry in the transposed order */
    bool regular;
    taut_error *error;
} builder;

static taut_index *indices(builder *b, int64_t count)
{
    return TAUT_NEW(&b->scratch, taut_index, count);
}

static int find_groups(builder *b)
{
    const taut_saddle_shape *shape = &b->form->shape;
    const taut_index *start = shape->g_start, m = shape->m;
    taut_form_runs *runs = b->runs;
    for (taut_index i = 0; i < m; i++)
        runs->groups += i == 0 || start[i + 1] - start[i] != start[i] - start[i - 1];
    runs->group = TAUT_NEW(b->arena, taut_form_group, runs->groups);
    b->place_of = indices(b, start[m]);
    TAUT_NEED(b->error, runs->group, b->place_of);
    taut_form_group *group = runs->group - 1;
    for (taut_index i = 0; i < m; i++) {
        taut_index terms = start[i + 1] - start[i];
        if (i == 0 || terms != group->terms)
            *++group = (taut_form_group){.terms = terms, .first = start[i]};
        group->rows++;
    }
    for (group = runs->group; group < runs->group + runs->groups; group++)
        for (taut_index k = 0; k < group->rows; k++)
            for (taut_index t = 0; t < group->terms; t++) {
                taut_index from = group->first + k * group->terms + t;
                b->place_of[from] = group->first + t * group->rows + k;
            }
    return TAUT_OK;
}

static int find(builder *b, const taut_sums *sums, taut_products *products)
{
    bool regular = false;
    TAUT_NEED(b->error, sums->to, sums->start, sums->a, sums->b);
    int status = taut_products_find(sums, b->arena, products, &regular, b->error);
    b->regular = b->regular && regular;
    return status;
}

static int find_rows(builder *b)
{
    const taut_saddle_shape *shape = &b->form->shape;
    return find(
        b, &(taut_sums){shape->m, b->form->place, shape->g_start, b->place_of, shape->g_column},
        &b->runs->rows);
}

static int find_columns(builder *b)
{
    const taut_columns *columns = &b->form->columns;
    const taut_index n = b->form->shape.n, entries = columns->start[n];
    taut_index *to = indices(b, n), *place = indices(b, entries);
    TAUT_NEED(b->error, to, place);
    for (taut_index j = 0; j < n; j++)
        to[j] = j;
    for (taut_index e = 0; e < entries; e++)
        place[e] = b->place_of[columns->entry[e]];
    return find(b, &(taut_sums){n, to, columns->start, place, columns->row}, &b->runs->columns);
}

/* Calls for all products of A, by rows of G: with `key` the diagonal and column, as if stored by
 * diagonals. Counts at start[key + 1], or, with places, writes from start[key] on. */
static void walk_products(const builder *b, taut_index *start, taut_index *left, taut_index *right)
{
    const taut_form *form = b->form;
    const taut_columns *columns = &form->columns;
    const taut_index *row = form->shape.g_start, *column = form->shape.g_column;
    for (taut_index i = 0; i < form->shape.m; i++)
        for (taut_index e = row[i]; e < row[i + 1]; e++)
            for (taut_index f = columns->start[column[e]]; f < columns->start[column[e] + 1]; f++) {
                taut_index from = form->place[i], to = columns->row[f];
                if (from < to)
                    continue;
                taut_index key = (from - to) * form->rows + to;
                if (!left) {
                    start[key + 1]++;
                    continue;
                }
                left[start[key]] = b->place_of[e];
                right[start[key]++] = b->place_of[columns->entry[f]];
            }
}

static int find_matrix(builder *b)
{
    const taut_form *form = b->form;
    const taut_index rows = form->rows, keys = rows * (form->half_width + 1);
    taut_index *start = indices(b, (int64_t)keys + 1), *to = indices(b, keys),
               *used = indices(b, (int64_t)keys + 1), sums = 0;
    TAUT_NEED(b->error, start, to, used);
    walk_products(b, start, NULL, NULL);
    for (taut_index k = 0; k < keys; k++)
        start[k + 1] += start[k];
    taut_index *left = indices(b, start[keys]), *right = indices(b, start[keys]);
    TAUT_NEED(b->error, left, right);
    walk_products(b, start, left, right); /* moves each start to the next one */
    for (taut_index k = 0, before = 0; k < keys; before = start[k++])
        if (start[k] > before) {
            taut_index d = k / rows, j = k % rows;
            to[sums] =
                b->runs->diagonals ? k : (taut_index)(form->offset + d + j * (form->step + 1));
            used[sums++] = before;
            used[sums] = start[k];
        }
    return find(b, &(taut_sums){sums, to, used, left, right}, &b->runs->matrix);
}

/* Places are 32 bits wide, and so is the number of products. */
static bool places_fit(const taut_form *form)
{
    int64_t keys = form->rows * ((int64_t)form->half_width + 1), products = 0;
    const taut_index *start = form->columns.start;
    for (taut_index j = 0; j < form->shape.n; j++)
        products += (int64_t)(start[j + 1] - start[j]) * (start[j + 1] - start[j]);
    return keys < INT32_MAX / 2 && products < INT32_MAX / 2;
}

static int build(builder *b)
{
    taut_form *form = b->form;
    const int64_t entries = form->shape.g_start[form->shape.m];
    TAUT_TRY(find_groups(b));
    TAUT_TRY(find_rows(b));
    if (b->regular)
        TAUT_TRY(find_columns(b));
    if (b->regular)
        TAUT_TRY(find_matrix(b));
    if (!b->regular)
        return TAUT_OK;
    form->g2 = TAUT_NEW(b->arena, double, entries);
    b->runs->w = form->g1;
    TAUT_TRY(TAUT_RESERVE(b->arena, entries, b->error, &b->runs->inverse));
    if (!form->shape.k_changes)
        TAUT_TRY(TAUT_RESERVE(b->arena, form->shape.n, b->error, &b->runs->k));
    TAUT_NEED(b->error, form->g2);
    b->runs->room = form->vector;
    b->runs->rows.pool = b->runs->columns.pool = b->runs->matrix.pool = form->shape.pool;
    form->runs = b->runs;
    return TAUT_OK;
}

int taut_form_runs_create(taut_form *form, bool diagonals, taut_arena *arena, taut_error *error)
{
    form->runs = NULL;
    if (!form->schur || !form->definite || form->rows == 0 || !places_fit(form))
        return TAUT_OK;
    builder b = {.form = form,
                 .arena = arena,
                 .runs = TAUT_NEW(arena, taut_form_runs, 1),
                 .regular = true,
                 .error = error};
    TAUT_NEED(error, b.runs);
    b.runs->diagonals = diagonals;
    taut_arena_init(&b.scratch, &arena->allocator);
    int status = build(&b);
    taut_arena_clear(&b.scratch);
    return status;
}

/* ---- factor */

/* Whether K is the one that is known: of shapes that count its changes, by that number. */
static bool is_known(const taut_form *form, const double *k)
{
    const taut_form_runs *runs = form->runs;
    const int64_t *changes = form->shape.k_changes;
    if (runs->known && changes)
        return *changes == runs->changes;
    return runs->known && memcmp(k, runs->k, (size_t)form->shape.n * sizeof *k) == 0;
}

void taut_form_runs_unit(taut_form *form)
{
    form->g1 = form->runs->unit ? form->g2 : form->runs->w;
}

/* 1/K of the column of each entry. */
static void spread_inverse(const taut_form *form, const taut_form_group *group)
{
    const taut_index *column = form->shape.g_column + group->first;
    double *inverse = form->runs->inverse + group->first;
    const int64_t rows = group->rows, terms = group->terms;
    for (taut_index k = 0; k < rows; k++)
        for (taut_index t = 0; t < terms; t++)
            inverse[t * rows + k] = ((const double *)form->k_inverse)[column[k * terms + t]];
}

static int load_k(taut_form *form, const double *k, taut_error *error)
{
    taut_form_runs *runs = form->runs;
    const taut_index n = form->shape.n;
    double *inverse = form->k_inverse;
    if (is_known(form, k))
        return TAUT_OK;
    runs->known = false;
    runs->unit = true;
    for (taut_index j = 0; j < n; j++) {
        if (!(fabs(k[j]) > 0))
            return taut_form_no_mass(j, error);
        runs->unit = runs->unit && k[j] == 1;
    }
    taut_form_runs_unit(form);
    for (taut_index j = 0; j < n && !runs->unit; j++)
        inverse[j] = 1 / k[j];
    for (taut_index r = 0; r < runs->groups && !runs->unit; r++)
        spread_inverse(form, &runs->group[r]);
    if (form->shape.k_changes)
        runs->changes = *form->shape.k_changes;
    else
        taut_copy(n, k, runs->k);
    runs->known = true;
    return TAUT_OK;
}

/* Column t of rows of `terms` entries. */
TAUT_INLINED void take_column(const taut_index terms, taut_index first, taut_index end,
                              const double *from, double *g)
{
    for (taut_index k = first; k < end; k++)
        g[k] = from[(int64_t)k * terms];
}

/* Four columns: blocks of 4 x 4 are transposed in registers. */
TAUT_INLINED taut_index take_four(const taut_index terms, taut_index first, taut_index end,
                                  int64_t rows, const double *from, double *g)
{
    taut_index k = first;
    for (; k + 4 <= end; k += 4) {
        const double *x = from + (int64_t)k * terms;
        taut_four block[4] = {*(const taut_four *)x, *(const taut_four *)(x + terms),
                              *(const taut_four *)(x + 2 * terms),
                              *(const taut_four *)(x + 3 * terms)};
        taut_four_transpose(block);
        for (int c = 0; c < 4; c++)
            *(taut_four *)(g + k + c * rows) = block[c];
    }
    return k;
}

/* Rows of `terms` entries, transposed. */
TAUT_INLINED void take_rows(const taut_form_group *group, const taut_index terms,
                            const double *from, double *g)
{
    enum { BLOCK = 256 };
    const int64_t rows = group->rows;
    for (taut_index first = 0; first < rows; first += BLOCK) {
        const taut_index end = rows - first < BLOCK ? (taut_index)rows : first + BLOCK;
        taut_index t = 0;
        for (; t + 4 <= terms; t += 4) {
            taut_index k = take_four(terms, first, end, rows, from + t, g + t * rows);
            for (taut_index c = t; c < t + 4; c++)
                take_column(terms, k, end, from + c, g + c * rows);
        }
        for (; t < terms; t++)
            take_column(terms, first, end, from + t, g + t * rows);
    }
}

TAUT_HOT static void runs_take(const taut_form_group *group, const double *from, double *g)
{
    if (group->terms == 4)
        take_rows(group, 4, from, g);
    else
        take_rows(group, group->terms, from, g);
}

/* Vectors of loops that threads share. */
typedef struct runs_loop {
    const double *x, *by;
    double *y;
} runs_loop;

TAUT_HOT static void runs_weigh(int64_t n, const double *restrict g, const double *restrict by,
                                double *restrict w)
{
    TAUT_UNROLLED
    for (int64_t e = 0; e < n; e++)
        w[e] = g[e] * by[e];
}

static double weigh_block(void *context, int64_t begin, int64_t end)
{
    const runs_loop *l = context;
    runs_weigh(end - begin, l->x + begin, l->by + begin, l->y + begin);
    return 0;
}

int taut_form_runs_load(taut_form *form, const taut_saddle_values *values, taut_error *error)
{
    const taut_form_runs *runs = form->runs;
    const double *g = values->g1;
    double *kept = form->g2;
    TAUT_TRY(load_k(form, values->k, error));
    for (taut_index r = 0; g != kept && r < runs->groups; r++) {
        const taut_form_group *group = &runs->group[r];
        runs_take(group, g + group->first, kept + group->first);
    }
    if (!runs->unit)
        taut_pool_loop(form->shape.pool, form->shape.g_start[form->shape.m], weigh_block,
                       &(runs_loop){kept, runs->inverse, form->g1});
    return TAUT_OK;
}

void taut_form_runs_assemble(const taut_form *form, const double *d, double *matrix)
{
    const taut_form_runs *runs = form->runs;
    taut_products_form(&runs->matrix, TAUT_SUMS_SET, form->g1, form->g2, matrix);
    for (taut_index i = 0; d && i < form->shape.m; i++) {
        int64_t j = form->place[i];
        matrix[runs->diagonals ? j : form->offset + j * (form->step + 1)] += d[i];
    }
}

/* ---- solve */

TAUT_HOT static void runs_negate(taut_index n, double *x)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++)
        x[i] = -x[i];
}

static double negate_block(void *context, int64_t begin, int64_t end)
{
    runs_negate((taut_index)(end - begin), ((runs_loop *)context)->y + begin);
    return 0;
}

void taut_form_runs_before(taut_form *form, bool opposite, const double *x, double *y)
{
    taut_form_runs *runs = form->runs;
    for (taut_index i = 0; form->ordered && i < form->shape.m; i++)
        runs->room[form->place[i]] = y[i];
    form->vector = form->ordered ? runs->room : y;
    if (x)
        taut_products_form(&runs->rows, opposite ? TAUT_SUMS_ADD : TAUT_SUMS_LESS, form->g1, x,
                           form->vector);
    else if (!opposite)
        taut_pool_loop(form->shape.pool, form->shape.m, negate_block,
                       &(runs_loop){.y = form->vector});
}

static void take_bonds(const taut_form *form, double *y)
{
    for (taut_index i = 0; form->ordered && i < form->shape.m; i++)
        y[i] = form->runs->room[form->place[i]];
}

void taut_form_runs_after(taut_form *form, double *x, double *y)
{
    take_bonds(form, y);
    if (!form->runs->unit)
        taut_loop_multiply(form->shape.pool, form->shape.n, form->k_inverse, x);
    taut_products_form(&form->runs->columns, TAUT_SUMS_SUBTRACT, form->g1, form->vector, x);
}

void taut_form_runs_product(const taut_form *form, const double *x, double *y)
{
    const taut_form_runs *runs = form->runs;
    taut_products_form(&runs->rows, TAUT_SUMS_SET, form->g2, x, form->ordered ? runs->room : y);
    take_bonds(form, y);
}

void taut_form_runs_pull(const taut_form *form, const double *y, double *x)
{
    const taut_form_runs *runs = form->runs;
    for (taut_index i = 0; form->ordered && i < form->shape.m; i++)
        runs->room[form->place[i]] = y[i];
    taut_products_form(&runs->columns, TAUT_SUMS_NEGATIVE, form->g1, form->ordered ? runs->room : y,
                       x);
}

void taut_form_runs_after_bonds(taut_form *form, double *x, double *y)
{
    take_bonds(form, y);
    taut_products_form(&form->runs->columns, TAUT_SUMS_NEGATIVE, form->g1, form->vector, x);
}
