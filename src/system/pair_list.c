/* pair_list.c - neighbours by cells, with a skin [Verlet 1967; Hockney, Goel, Eastwood 1974].
 *
 * Particles are sorted into cells of at least the width cut + skin; partners are in the same cell
 * and in those around it. As long as no particle has moved by more than skin/2, all pairs within
 * the cut-off are listed. Rows are in ascending order, so that the listed pairs that are within the
 * cut-off, and their order, follow from the positions alone: when the list was built has no
 * influence on any value. Distances in a periodic box are those of nearest images.
 *
 * Memory is reserved when the list is first built, for TWICE as many pairs as there are then and
 * SPARE more for each particle. Where particles crowd together later, rows that do not fit are
 * found in the cells again at each evaluation, with the same values. */
#include "system/pair_list.h"

#include <math.h>
#include <string.h>

#include "base/hot.h"

enum { TWICE = 2, SPARE = 16 };

typedef taut_pair_grid grid;

int taut_pair_list_create(taut_pair_list *list, const taut_pair_families *f, taut_arena *arena,
                          taut_error *error)
{
    *list = (taut_pair_list){.families = f};
    const int64_t all = (int64_t)f->count[0] + (f->same ? 0 : f->count[1]);
    list->start = TAUT_NEW(arena, int32_t, f->count[0] + 1);
    list->reference = TAUT_NEW(arena, double, all * f->dimension);
    list->cell_start = TAUT_NEW(arena, int32_t, f->count[1] + 2);
    list->cell_member = TAUT_NEW(arena, int32_t, f->count[1]);
    list->cell_of = TAUT_NEW(arena, int32_t, f->count[1]);
    list->row = TAUT_NEW(arena, int32_t, f->count[1] + 1);
    list->sorted = TAUT_NEW(arena, double, (int64_t)f->count[1] * f->dimension);
    TAUT_NEED(error, list->start, list->reference, list->cell_start, list->cell_member,
              list->cell_of, list->row, list->sorted);
    return 0;
}

/* Are all within half the skin of their reference positions? */
static bool stays(const taut_pair_list *list, const double *q)
{
    const taut_pair_families *f = list->families;
    const double *reference = list->reference, most = list->skin * list->skin / 4;
    for (int s = 0; s < (f->same ? 1 : 2); s++) {
        const double *x = q + f->first[s];
        for (int32_t k = 0; k < f->count[s]; k++, x += f->dimension, reference += f->dimension) {
            double square = 0;
            for (int c = 0; c < f->dimension; c++)
                square += (x[c] - reference[c]) * (x[c] - reference[c]);
            if (!(square <= most))
                return false;
        }
    }
    return true;
}

static bool keep_reference(taut_pair_list *list, const double *q)
{
    const taut_pair_families *f = list->families;
    double *reference = list->reference, odd = 0;
    for (int s = 0; s < (f->same ? 1 : 2); s++)
        for (int64_t k = 0; k < (int64_t)f->count[s] * f->dimension; k++) {
            *reference = q[f->first[s] + k];
            odd += *reference++ * 0;
        }
    return odd == 0;
}

/* Cells of a periodic box, or of the box around the second family; fewer than three in a periodic
 * direction, or more cells than particles, would not help. */
static grid make_grid(const taut_pair_list *list, const double *q)
{
    const taut_pair_families *f = list->families;
    const double reach = list->cut + list->skin;
    grid g = {.cells = {1, 1, 1}};
    double room = f->count[1];
    for (int c = 0; c < f->dimension; c++) {
        double low = INFINITY, high = -INFINITY;
        const double *x = q + f->first[1] + c;
        for (int32_t k = 0; k < f->count[1]; k++, x += f->dimension) {
            low = fmin(low, *x);
            high = fmax(high, *x);
        }
        g.wraps[c] = list->box[c] > 0;
        g.low[c] = g.wraps[c] ? 0 : low;
        const double width = g.wraps[c] ? list->box[c] : high - low;
        double cells = fmin(floor(width / reach), floor(room));
        if (!(cells >= (g.wraps[c] ? 3 : 1)))
            cells = 1;
        g.cells[c] = (int)cells;
        g.per[c] = width > 0 ? cells / width : 0;
        room /= cells;
    }
    return g;
}

static int cell_along(const grid *g, int c, double x)
{
    double u = (x - g->low[c]) * g->per[c];
    if (g->wraps[c])
        u -= g->cells[c] * floor(u / g->cells[c]);
    return u < 0 ? 0 : u < g->cells[c] ? (int)u : g->cells[c] - 1;
}

static void sort_into_cells(taut_pair_list *list, const grid *g, const double *q)
{
    const taut_pair_families *f = list->families;
    const int32_t cells = g->cells[0] * g->cells[1] * g->cells[2];
    memset(list->cell_start, 0, (size_t)(cells + 1) * sizeof *list->cell_start);
    for (int32_t k = 0; k < f->count[1]; k++) {
        const double *x = q + f->first[1] + (int64_t)k * f->dimension;
        int32_t cell = 0;
        for (int c = f->dimension - 1; c >= 0; c--)
            cell = cell * g->cells[c] + cell_along(g, c, x[c]);
        list->cell_of[k] = cell;
        list->cell_start[cell + 1]++;
    }
    for (int32_t k = 0; k < cells; k++)
        list->cell_start[k + 1] += list->cell_start[k];
    for (int32_t k = f->count[1] - 1; k >= 0; k--) /* cell_start[c + 1] moves down to that of c */
        list->cell_member[--list->cell_start[list->cell_of[k] + 1]] = k;
    for (int32_t k = 0; k < cells; k++)
        list->cell_start[k] = list->cell_start[k + 1];
    list->cell_start[cells] = f->count[1];
    for (int c = 0; c < f->dimension; c++)
        for (int32_t k = 0; k < f->count[1]; k++)
            list->sorted[(int64_t)c * f->count[1] + k] =
                q[f->first[1] + (int64_t)list->cell_member[k] * f->dimension + c];
}

/* The cells to look into along one direction. */
static int cells_along(const grid *g, int c, double x, int *cell)
{
    const int here = cell_along(g, c, x), n = g->cells[c];
    int count = 0;
    for (int k = here - 1; k <= here + 1; k++) {
        if (n == 1 ? k == here : g->wraps[c] || (k >= 0 && k < n))
            cell[count++] = (k + n) % n;
    }
    return count;
}

static void sort_row(int32_t *row, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t value = row[i];
        int64_t j = i;
        for (; j > 0 && row[j - 1] > value; j--)
            row[j] = row[j - 1];
        row[j] = value;
    }
}

static bool is_excluded(const taut_pair_families *f, int32_t i, int32_t j)
{
    const int64_t apart = (int64_t)f->low[0] + i - f->low[1] - j;
    if ((f->same && j <= i) || (apart < f->apart && -apart < f->apart))
        return true;
    for (int32_t k = f->joined ? f->joined_start[i] : 0; f->joined && k < f->joined_start[i + 1];
         k++)
        if (f->joined[k] == j)
            return true;
    return false;
}

/* Squares of distances between x and n particles, whose components are `apart` from each other. */
TAUT_HOT static void find_squares(const taut_pair_list *list, int d, const double *restrict x,
                                  const double *restrict y, int64_t apart, int32_t n,
                                  double *restrict square)
{
    memset(square, 0, (size_t)n * sizeof *square);
    for (int c = 0; c < d; c++, y += apart) {
        const double from = x[c], box = list->box[c], inverse = list->inverse[c];
        for (int32_t k = 0; k < n; k++) {
            double along = from - y[k];
            along -= taut_pair_shift(along, box, inverse);
            square[k] += along * along;
        }
    }
}

/* Adds the partners of particle i from cells that follow each other to a row of `count`; returns
 * how many it has. */
static int32_t take_cells(const taut_pair_list *list, int32_t i, int first, int last, int32_t *row,
                          int32_t count)
{
    enum { PIECE = 128 };
    const taut_pair_families *f = list->families;
    const double reach = list->cut + list->skin, most = reach * reach;
    const int32_t end = list->cell_start[last + 1], before = count;
    double square[PIECE];
    for (int32_t k = list->cell_start[first]; k < end; k += PIECE) {
        const int32_t n = end - k < PIECE ? end - k : PIECE;
        find_squares(list, f->dimension, list->reference + (int64_t)i * f->dimension,
                     list->sorted + k, f->count[1], n, square);
        for (int32_t l = 0; l < n; l++) {
            row[count] = list->cell_member[k + l];
            count += square[l] < most;
        }
    }
    int32_t kept = before;
    for (int32_t k = before; k < count; k++)
        if (!is_excluded(f, i, row[k]))
            row[kept++] = row[k];
    return kept;
}

/* The row of particle i, from the cells. */
static int32_t find_row(const taut_pair_list *list, int32_t i)
{
    const taut_pair_families *f = list->families;
    const grid *g = &list->grid;
    const double *x = list->reference + (int64_t)i * f->dimension;
    int cell[TAUT_PAIR_DIMENSIONS][3] = {{0}}, count[TAUT_PAIR_DIMENSIONS] = {1, 1, 1};
    int32_t found = 0;
    for (int c = 0; c < f->dimension; c++)
        count[c] = cells_along(g, c, x[c], cell[c]);
    for (int k = 0; k < count[1] * count[2]; k++) {
        const int line =
            (cell[2][k / count[1]] * g->cells[1] + cell[1][k % count[1]]) * g->cells[0];
        for (int from = 0, next; from < count[0]; from = next) {
            for (next = from + 1; next < count[0] && cell[0][next] == cell[0][next - 1] + 1;)
                next++;
            found = take_cells(list, i, line + cell[0][from], line + cell[0][next - 1], list->row,
                               found);
        }
    }
    sort_row(list->row, found);
    return found;
}

int32_t taut_pair_list_row(const taut_pair_list *list, int32_t i, const int32_t **row)
{
    if (i < list->rows) {
        *row = list->partner + list->start[i];
        return list->start[i + 1] - list->start[i];
    }
    *row = list->row;
    return find_row(list, i);
}

static int reserve(taut_pair_list *list, taut_arena *arena, taut_error *error)
{
    const int32_t particles = list->families->count[0];
    int64_t room = (int64_t)SPARE * particles;
    for (int32_t i = 0; i < particles; i++)
        room += TWICE * (int64_t)find_row(list, i);
    room = room < INT32_MAX ? room : INT32_MAX;
    if (room > list->capacity) {
        TAUT_NEED(error, list->partner = TAUT_NEW(arena, int32_t, room));
        list->capacity = room;
    }
    list->reserved = true;
    return 0;
}

int taut_pair_list_update(taut_pair_list *list, const double *q, taut_arena *arena,
                          taut_error *error)
{
    if (list->valid && stays(list, q))
        return 0;
    list->valid = false;
    if (!keep_reference(list, q))
        return 0;
    list->grid = make_grid(list, q);
    sort_into_cells(list, &list->grid, q);
    if (!list->reserved)
        TAUT_TRY(reserve(list, arena, error));
    list->start[0] = 0;
    for (list->rows = 0; list->rows < list->families->count[0]; list->rows++) {
        const int32_t count = find_row(list, list->rows), used = list->start[list->rows];
        if (count > list->capacity - used)
            break;
        memcpy(list->partner + used, list->row, (size_t)count * sizeof *list->row);
        list->start[list->rows + 1] = used + count;
    }
    list->valid = true;
    list->builds++;
    return 0;
}
