/* colour.h - which columns of a sparse matrix can be differenced together: those that share no
 * row [Curtis, Powell, Reid 1974]. */
#ifndef TAUT_SYSTEM_FROM_C_COLOUR_H
#define TAUT_SYSTEM_FROM_C_COLOUR_H

#include "base/memory.h"

/* The columns in groups, and the entries of a pattern by columns. */
typedef struct taut_colouring {
    taut_index colours;
    /* [colours + 1], [columns]: columns of one colour share no row */
    const taut_index *group_start, *group_column;
    const taut_index *column_start; /* [columns + 1] */
    /* [entries]: row of an entry, and its position in the pattern */
    const taut_index *row, *place;
} taut_colouring;

/* Greedy, in the order of the columns; no column may repeat in a row. */
int taut_colour(const taut_pattern *pattern, taut_arena *arena, taut_colouring *colouring,
                taut_error *error);

/* The pattern of A^T A with the whole diagonal, rows sorted. More than `most` entries are
 * refused. */
int taut_colour_square(const taut_pattern *pattern, int64_t most, taut_arena *arena,
                       taut_pattern *square, taut_error *error);

#endif
