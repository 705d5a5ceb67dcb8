/* order.h - columns of G, and an order of coordinates and bonds that keeps neighbours together. */
#ifndef TAUT_LINALG_ORDER_H
#define TAUT_LINALG_ORDER_H

#include "linalg/saddle.h"

/* A pattern by columns: column j has rows row[start[j] .. start[j+1]-1], ascending; entry[] is
 * their place in the pattern by rows. */
typedef struct taut_columns {
    taut_index *start, *row, *entry;
} taut_columns;

int taut_columns_build(taut_index rows, taut_index columns, const taut_index *start,
                       const taut_index *column, taut_arena *arena, taut_columns *by_column,
                       taut_error *error);

/* Orders the graph of the saddle matrix, coordinates 0..n-1 and bonds n..n+m-1: position[node]
 * is its new place. `g` is G by columns. Scratch memory is taken from and returned to
 * `allocator`. Linear in the number of entries. */
int taut_order(const taut_saddle_shape *shape, const taut_columns *g,
               const taut_allocator *allocator, taut_index *position, taut_error *error);

#endif
