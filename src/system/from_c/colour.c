/* colour.c - see colour.h. */
#include "system/from_c/colour.h"

/* The entries of a pattern by columns. */
static int transpose(const taut_pattern *p, taut_arena *arena, taut_index **column_start,
                     taut_index **row, taut_index **place)
{
    taut_index entries = p->start[p->rows];
    taut_index *start = TAUT_NEW(arena, taut_index, p->columns + 1);
    *row = TAUT_NEW(arena, taut_index, entries);
    *place = TAUT_NEW(arena, taut_index, entries);
    if (!start || !*row || !*place)
        return TAUT_ERROR_MEMORY;
    for (taut_index k = 0; k < entries; k++)
        start[p->column[k] + 1]++;
    for (taut_index j = 0; j < p->columns; j++)
        start[j + 1] += start[j];
    for (taut_index i = 0; i < p->rows; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++) {
            taut_index to = start[p->column[k]]++;
            (*row)[to] = i;
            (*place)[to] = k;
        }
    for (taut_index j = p->columns; j > 0; j--) /* each start has moved to the next one's place */
        start[j] = start[j - 1];
    start[0] = 0;
    *column_start = start;
    return 0;
}

/* Then every column needs a colour of its own, and there is nothing to search. */
static bool has_full_row(const taut_pattern *p)
{
    for (taut_index i = 0; i < p->rows; i++)
        if (p->start[i + 1] - p->start[i] == p->columns)
            return true;
    return false;
}

/* colour[j] becomes the least one that no column with a common row has. */
static taut_index choose_colours(const taut_pattern *p, const taut_colouring *c, taut_index *colour,
                                 taut_index *stamp)
{
    taut_index colours = 0;
    for (taut_index j = 0; j < p->columns; j++) {
        for (taut_index e = c->column_start[j]; e < c->column_start[j + 1]; e++)
            for (taut_index k = p->start[c->row[e]]; k < p->start[c->row[e] + 1]; k++)
                if (p->column[k] < j)
                    stamp[colour[p->column[k]]] = j + 1;
        colour[j] = 0;
        while (stamp[colour[j]] == j + 1)
            colour[j]++;
        if (colour[j] == colours)
            colours++;
    }
    return colours;
}

/* Counting sort of the columns by colour. */
static int make_groups(taut_index columns, const taut_index *colour, taut_arena *arena,
                       taut_colouring *c)
{
    taut_index *start = TAUT_NEW(arena, taut_index, c->colours + 1),
               *member = TAUT_NEW(arena, taut_index, columns);
    if (!start || !member)
        return TAUT_ERROR_MEMORY;
    for (taut_index j = 0; j < columns; j++)
        start[colour[j] + 1]++;
    for (taut_index k = 0; k < c->colours; k++)
        start[k + 1] += start[k];
    for (taut_index j = columns - 1; j >= 0; j--)
        member[--start[colour[j] + 1]] = j;
    for (taut_index k = 0; k < c->colours; k++) /* each end has moved to its own beginning */
        start[k] = start[k + 1];
    start[c->colours] = columns;
    c->group_start = start;
    c->group_column = member;
    return 0;
}

int taut_colour(const taut_pattern *pattern, taut_arena *arena, taut_colouring *c,
                taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    taut_index *column_start, *row, *place;
    taut_index *colour = TAUT_NEW(&scratch, taut_index, pattern->columns),
               *stamp = TAUT_NEW(&scratch, taut_index, pattern->columns + 1);
    int status = colour && stamp ? transpose(pattern, arena, &column_start, &row, &place)
                                 : TAUT_ERROR_MEMORY;
    if (status == 0) {
        *c = (taut_colouring){.column_start = column_start, .row = row, .place = place};
        if (has_full_row(pattern))
            for (c->colours = 0; c->colours < pattern->columns; c->colours++)
                colour[c->colours] = c->colours;
        else
            c->colours = choose_colours(pattern, c, colour, stamp);
        status = make_groups(pattern->columns, colour, arena, c);
    }
    taut_arena_clear(&scratch);
    return status ? taut_fail_memory(error) : 0;
}

/* The columns that share a row with column j, and j itself: each once. */
static taut_index neighbours(const taut_pattern *p, const taut_index *column_start,
                             const taut_index *row, taut_index j, taut_index *stamp,
                             taut_index *list)
{
    taut_index count = 0;
    stamp[j] = j + 1;
    list[count++] = j;
    for (taut_index e = column_start[j]; e < column_start[j + 1]; e++)
        for (taut_index k = p->start[row[e]]; k < p->start[row[e] + 1]; k++)
            if (stamp[p->column[k]] != j + 1) {
                stamp[p->column[k]] = j + 1;
                list[count++] = p->column[k];
            }
    return count;
}

/* Symmetric, so that adding j to the rows of its neighbours, j ascending, makes every row sorted.
 */
static int form_square(const taut_pattern *p, int64_t most, taut_arena *scratch, taut_arena *arena,
                       taut_pattern *square, taut_error *error)
{
    taut_index n = p->columns, *column_start, *row, *place;
    taut_index *stamp = TAUT_NEW(scratch, taut_index, n), *list = TAUT_NEW(scratch, taut_index, n);
    taut_index *start = TAUT_NEW(arena, taut_index, n + 1),
               *fill = TAUT_NEW(scratch, taut_index, n);
    if (!stamp || !list || !start || !fill || transpose(p, scratch, &column_start, &row, &place))
        return taut_fail_memory(error);
    int64_t total = 0;
    for (taut_index j = 0; j < n && total <= most; j++) {
        fill[j] = start[j] = (taut_index)total;
        total += neighbours(p, column_start, row, j, stamp, list);
    }
    if (total > most)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "the matrix of second derivatives would have more than %lld entries: give "
                         "a sparse pattern of G",
                         (long long)most);
    start[n] = (taut_index)total;
    taut_index *column = TAUT_NEW(arena, taut_index, total);
    TAUT_NEED(error, column);
    for (taut_index j = 0; j < n; j++)
        stamp[j] = 0;
    for (taut_index j = 0; j < n; j++) {
        taut_index count = neighbours(p, column_start, row, j, stamp, list);
        for (taut_index k = 0; k < count; k++)
            column[fill[list[k]]++] = j;
    }
    *square = (taut_pattern){n, n, start, column};
    return 0;
}

int taut_colour_square(const taut_pattern *pattern, int64_t most, taut_arena *arena,
                       taut_pattern *square, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    int status =
        form_square(pattern, most < INT32_MAX ? most : INT32_MAX, &scratch, arena, square, error);
    taut_arena_clear(&scratch);
    return status;
}
