/* fronts.c - sparse positive definite matrices without a narrow band: multifrontal A + D = L L^T on
 * the fronts of elimination.h.
 *
 *     I. Duff, J. Reid, ACM Trans. Math. Softw. 9 (1983) 302-325
 *     J. Liu, SIAM Review 34 (1992) 82-109
 *
 * Entries of A are summed where the factor will be: those of the columns of a pivot lie in its
 * front. What a front leaves for the border waits on a stack, all of whose places are known before.
 * Columns are formed four at a time, from those before them. The diagonal of L is stored inverted.
 * Nothing is allocated after the analysis. */
#include "linalg/backend.h"

#include <math.h>

#include "base/four.h"
#include "base/vectors.h"
#include "linalg/elimination.h"

enum { BLOCK = 4 }; /* columns at a time, and rows of a vector */

typedef struct fronts {
    taut_elimination x;
    double *columns, *stack;
    /* by coordinate: where its products are added, [slot[j] ..] for pairs of its bonds; the same
     * for coordinates with the same bonds */
    taut_index *first_slot, *slot;
    taut_index *diagonal; /* by bond */
    double *left;         /* [largest][BLOCK] */
    double *vector;       /* [largest] */
} fronts;

static int64_t lead_of(const taut_front *front)
{
    return (int64_t)front->pivots + front->border + TAUT_FRONT_MORE;
}

/* ---- one front */

/* c -= l left^T for `tiles` vectors of rows and `count` columns, over `depth` columns of l. */
TAUT_INLINED void subtract(const int tiles, const int count, int64_t depth, const double *l,
                           int64_t lead, const double *left, double *c, int64_t c_lead)
{
    taut_four sum[2][BLOCK] = {0};
    for (int64_t k = 0; k < depth; k++, l += lead)
        for (int t = 0; t < tiles; t++) {
            const taut_four x = *(const taut_four *)(l + BLOCK * t);
            for (int j = 0; j < count; j++)
                sum[t][j] += x * left[BLOCK * k + j];
        }
    for (int t = 0; t < tiles; t++)
        for (int j = 0; j < count; j++)
            *(taut_four *)(c + BLOCK * t + j * c_lead) -= sum[t][j];
}

/* Columns of `count` from row `row` on: l is row 0 of the first column, c the entry (row, row). */
TAUT_INLINED void subtract_all(const int count, taut_index rows, taut_index row, int64_t depth,
                               const double *l, int64_t lead, const double *left, double *c,
                               int64_t c_lead)
{
    taut_index i = row;
    for (; i + BLOCK < rows; i += 2 * BLOCK)
        subtract(2, count, depth, l + i, lead, left, c + (i - row), c_lead);
    if (i < rows)
        subtract(1, count, depth, l + i, lead, left, c + (i - row), c_lead);
}

/* The columns begin .. end - 1, at `c` from their diagonal on, less what `depth` columns before
 * them give. */
TAUT_INLINED void form_block(taut_index begin, taut_index end, taut_index rows, int64_t depth,
                             const double *l, int64_t lead, double *left, double *c, int64_t c_lead)
{
    if (depth == 0)
        return;
    for (int64_t k = 0; k < depth; k++)
        for (taut_index j = begin; j < end; j++)
            left[BLOCK * k + j - begin] = l[k * lead + j];
    switch (end - begin) {
    case 4: subtract_all(4, rows, begin, depth, l, lead, left, c, c_lead); break;
    case 3: subtract_all(3, rows, begin, depth, l, lead, left, c, c_lead); break;
    case 2: subtract_all(2, rows, begin, depth, l, lead, left, c, c_lead); break;
    default: subtract_all(1, rows, begin, depth, l, lead, left, c, c_lead); break;
    }
}

/* Pivots begin .. end - 1, whose columns know all before. Returns 1 + the first that is at most
 * `tolerance`, NaN included, or 0. */
TAUT_INLINED taut_index divide_block(taut_index begin, taut_index end, taut_index rows, double *l,
                                     int64_t lead, double tolerance)
{
    for (taut_index j = begin; j < end; j++) {
        double *column = l + j * lead;
        for (taut_index k = begin; k < j; k++) {
            const double *other = l + k * lead, by = other[j];
            for (taut_index i = j; i < rows; i++)
                column[i] -= other[i] * by;
        }
        if (!(column[j] > tolerance && column[j] <= HUGE_VAL))
            return j + 1;
        const double inverse = 1 / sqrt(column[j]);
        for (taut_index i = j; i < rows; i++)
            column[i] *= inverse;
        column[j] = inverse;
    }
    return 0;
}

/* All pivots of a front, and what remains for its border. */
TAUT_HOT static taut_index fronts_factor(const taut_front *front, double *l, double *border,
                                         double *left, double tolerance)
{
    const taut_index pivots = front->pivots, rows = pivots + front->border;
    const int64_t lead = rows + TAUT_FRONT_MORE, border_lead = front->border + TAUT_FRONT_MORE;
    for (taut_index j = 0, end; j < pivots; j = end) {
        end = j + BLOCK < pivots ? j + BLOCK : pivots;
        form_block(j, end, rows, j, l, lead, left, l + j * (lead + 1), lead);
        const taut_index bad = divide_block(j, end, rows, l, lead, tolerance);
        if (bad)
            return bad;
    }
    for (taut_index j = pivots, end; j < rows; j = end) {
        end = j + BLOCK < rows ? j + BLOCK : rows;
        form_block(j, end, rows, pivots, l, lead, left, border + (j - pivots) * (border_lead + 1),
                   border_lead);
    }
    return 0;
}

/* Adds what a child left. */
static void add_child(const fronts *w, const taut_front *parent, const taut_front *child,
                      double *border)
{
    const taut_index *local = w->x.local + child->list;
    const int64_t lead = lead_of(parent), child_lead = child->border + TAUT_FRONT_MORE,
                  border_lead = parent->border + TAUT_FRONT_MORE;
    const double *from = w->stack + child->kept;
    for (taut_index c = 0; c < child->border; c++, from += child_lead) {
        const taut_index column = local[c];
        double *to = column < parent->pivots
                         ? w->columns + parent->column + column * lead
                         : border + (column - parent->pivots) * border_lead - parent->pivots;
        for (taut_index r = c; r < child->border; r++)
            to[local[r]] += from[r];
    }
}

/* Returns 1 + the place of the first small pivot, or 0. */
static taut_index factor_all(fronts *w, double tolerance)
{
    for (taut_index k = 0; k < w->x.fronts; k++) {
        const taut_front *front = &w->x.front[k];
        double *border = w->stack + front->formed;
        const int64_t size = (int64_t)front->border * (front->border + TAUT_FRONT_MORE);
        taut_clear(size, border);
        for (taut_index c = front->child; c >= 0; c = w->x.front[c].before)
            add_child(w, front, &w->x.front[c], border);
        const taut_index bad =
            fronts_factor(front, w->columns + front->column, border, w->left, tolerance);
        if (bad)
            return front->first + bad;
        double *kept = w->stack + front->kept;
        for (int64_t i = 0; kept != border && i < size; i++)
            kept[i] = border[i];
    }
    return 0;
}

/* ---- solve */

/* x holds the rows of the front: pivots become L^-1 x, what they give is taken from the border. */
TAUT_HOT static void fronts_down(taut_index pivots, taut_index rows, const double *l, double *x)
{
    const int64_t lead = rows + TAUT_FRONT_MORE;
    for (taut_index k = 0; k < pivots; k++, l += lead) {
        const double value = x[k] *= l[k];
        for (taut_index i = k + 1; i < rows; i++)
            x[i] -= l[i] * value;
    }
}

/* Pivots become L^-T x. */
TAUT_HOT static void fronts_up(taut_index pivots, taut_index rows, const double *l, double *x)
{
    const int64_t lead = rows + TAUT_FRONT_MORE;
    for (taut_index k = pivots - 1; k >= 0; k--) {
        const double *column = l + k * lead;
        taut_four all = {0};
        taut_index i = k + 1;
        for (; i + 4 <= rows; i += 4)
            all += *(const taut_four *)(column + i) * *(const taut_four *)(x + i);
        double sum = (all[0] + all[1]) + (all[2] + all[3]);
        for (; i < rows; i++)
            sum += column[i] * x[i];
        x[k] = (x[k] - sum) * column[k];
    }
}

static int solve(taut_saddle *saddle, taut_error *error)
{
    fronts *w = saddle->work;
    double *x = saddle->form.vector, *room = w->vector;
    (void)error;
    for (taut_index f = 0; f < w->x.fronts; f++) {
        const taut_front *front = &w->x.front[f];
        const taut_index pivots = front->pivots, *places = w->x.places + front->list;
        taut_copy(pivots, x + front->first, room);
        taut_clear(front->border, room + pivots);
        fronts_down(pivots, pivots + front->border, w->columns + front->column, room);
        taut_copy(pivots, room, x + front->first);
        for (taut_index r = 0; r < front->border; r++)
            x[places[r]] += room[pivots + r];
    }
    for (taut_index f = w->x.fronts - 1; f >= 0; f--) {
        const taut_front *front = &w->x.front[f];
        const taut_index pivots = front->pivots, *places = w->x.places + front->list;
        taut_copy(pivots, x + front->first, room);
        for (taut_index r = 0; r < front->border; r++)
            room[pivots + r] = x[places[r]];
        fronts_up(pivots, pivots + front->border, w->columns + front->column, room);
        taut_copy(pivots, room, x + front->first);
    }
    return TAUT_OK;
}

/* ---- the matrix */

/* Where entry (row, column) is, by places; the column is one of the front. */
static taut_index slot_of(const fronts *w, const taut_front *front, taut_index row,
                          taut_index column)
{
    taut_index local = row - front->first;
    if (local >= front->pivots) {
        const taut_index *places = w->x.places + front->list;
        taut_index low = 0, high = front->border - 1;
        while (low < high) {
            const taut_index middle = low + (high - low) / 2;
            if (places[middle] < row)
                low = middle + 1;
            else
                high = middle;
        }
        local = front->pivots + low;
    }
    return (taut_index)(front->column + (column - front->first) * lead_of(front) + local);
}

static bool as_before(const taut_columns *g, taut_index j)
{
    const taut_index before = j > 0 ? g->start[j] - g->start[j - 1] : -1;
    bool same = g->start[j + 1] - g->start[j] == before;
    for (taut_index e = 0; same && e < before; e++)
        same = g->row[g->start[j] + e] == g->row[g->start[j - 1] + e];
    return same;
}

/* The slots of all pairs of entries of each column, those that came before with each one. */
static int64_t fill_slots(fronts *w, const taut_columns *g, taut_index n, const taut_index *front)
{
    int64_t slots = 0, before = 0;
    for (taut_index j = 0; j < n; j++) {
        const taut_index many = g->start[j + 1] - g->start[j], *row = g->row + g->start[j];
        const bool same = as_before(g, j);
        if (w->slot)
            w->first_slot[j] = (taut_index)(same ? before : slots);
        if (same)
            continue;
        before = slots;
        for (taut_index b = 0; w->slot && b < many; b++)
            for (taut_index a = 0; a <= b; a++) {
                const taut_index least = row[a] < row[b] ? row[a] : row[b];
                w->slot[slots++] =
                    slot_of(w, &w->x.front[front[least]], row[a] + row[b] - least, least);
            }
        if (!w->slot)
            slots += (int64_t)many * (many + 1) / 2;
    }
    return slots;
}

static int find_slots(fronts *w, const taut_form *form, taut_arena *arena, taut_error *error)
{
    const taut_index n = form->shape.n;
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    taut_index *front = TAUT_NEW(&scratch, taut_index, form->rows);
    w->first_slot = TAUT_NEW(arena, taut_index, n);
    w->diagonal = TAUT_NEW(arena, taut_index, form->rows);
    const int64_t slots = fill_slots(w, &form->columns, n, NULL);
    taut_index *slot = TAUT_NEW(arena, taut_index, slots);
    const bool good = front && w->first_slot && w->diagonal && slot && slots <= INT32_MAX;
    for (taut_index f = 0; good && f < w->x.fronts; f++)
        for (taut_index k = 0; k < w->x.front[f].pivots; k++)
            front[w->x.front[f].first + k] = f;
    w->slot = slot;
    if (good)
        fill_slots(w, &form->columns, n, front);
    for (taut_index i = 0; good && i < form->rows; i++) {
        const taut_index at = form->place[i];
        w->diagonal[i] = slot_of(w, &w->x.front[front[at]], at, at);
    }
    taut_arena_clear(&scratch);
    TAUT_TRY(taut_arena_check(arena, error));
    return good ? TAUT_OK : taut_fail_memory(error);
}

/* A + D where the factor will be; G is scaled, columns of equal bonds are together. */
static void assemble(fronts *w, const taut_form *form, const double *d)
{
    const taut_columns *g = &form->columns;
    const double *k_inverse = form->k_inverse, *value = form->g1;
    taut_clear(w->x.numbers, w->columns);
    for (taut_index j = 0; j < form->shape.n; j++) {
        const taut_index *slot = w->slot + w->first_slot[j];
        for (taut_index b = g->start[j]; b < g->start[j + 1]; b++) {
            const double right = value[g->entry[b]] * k_inverse[j];
            for (taut_index a = g->start[j]; a < b; a++)
                w->columns[*slot++] +=
                    value[g->entry[a]] * right * (g->row[a] == g->row[b] ? 2 : 1);
            w->columns[*slot++] += value[g->entry[b]] * right;
        }
    }
    for (taut_index i = 0; d && i < form->shape.m; i++)
        w->columns[w->diagonal[i]] += d[i] * (form->scale[i] * form->scale[i]);
}

static int factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    fronts *w = saddle->work;
    taut_form *form = &saddle->form;
    TAUT_TRY(taut_form_load(form, values, error));
    assemble(w, form, values->d);
    const taut_index bad = factor_all(w, taut_form_tolerance(w->x.largest));
    return bad ? taut_form_singular(form, values, bad - 1, error) : TAUT_OK;
}

static int create(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    fronts *w = saddle->work = TAUT_NEW(&saddle->arena, fronts, 1);
    TAUT_NEED(error, w);
    if (!saddle->elimination.front)
        TAUT_TRY(taut_eliminate(form->rows, form->shape.n, &form->columns, &saddle->arena,
                                &saddle->elimination, error));
    w->x = saddle->elimination;
    if (w->x.numbers > INT32_MAX)
        return taut_fail(
            error, TAUT_ERROR_SIZE,
            "the factors of %d bonds would need %.2g numbers; at most %d can be stored", form->rows,
            (double)w->x.numbers, INT32_MAX);
    form->ordered = true;
    for (taut_index i = 0; i < form->rows; i++)
        form->place[i] = w->x.place[form->place[i]];
    for (taut_index e = 0; e < form->columns.start[form->shape.n]; e++)
        form->columns.row[e] = w->x.place[form->columns.row[e]];
    TAUT_TRY(find_slots(w, form, &saddle->arena, error));
    TAUT_TRY(TAUT_RESERVE(&saddle->arena, w->x.numbers, error, &w->columns));
    TAUT_TRY(TAUT_RESERVE(&saddle->arena, w->x.stacked, error, &w->stack));
    TAUT_TRY(TAUT_RESERVE(&saddle->arena, (int64_t)BLOCK * w->x.largest, error, &w->left));
    return TAUT_RESERVE(&saddle->arena, w->x.largest, error, &w->vector);
}

static void archive(taut_saddle *saddle, taut_archive *to)
{
    fronts *w = saddle->work;
    taut_archive_reals(to, w->columns, w->x.numbers);
}

const taut_backend_functions taut_backend_fronts = {create, factor, solve, NULL, archive, NULL};
