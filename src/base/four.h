/* four.h - vectors of four numbers at any address, of gcc and clang, for loops in which compilers
 * do not find vectors by themselves. Without AVX they become pairs: no value changes. */
#ifndef TAUT_BASE_FOUR_H
#define TAUT_BASE_FOUR_H

#include <stdint.h>

#include "base/hot.h"

typedef double taut_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long taut_four_mask __attribute__((vector_size(32), aligned(8), may_alias));

/* Inside functions that are compiled twice (hot.h). */
#define TAUT_INLINED static inline __attribute__((always_inline))

/* Entries i, j, k, l of the eight of x and y. */
#if defined(__clang__)
#define TAUT_PICK(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
#define TAUT_PICK(x, y, i, j, k, l) __builtin_shuffle(x, y, (taut_four_mask){i, j, k, l})
#endif

/* to = |x[i .. i+3]|, zeros behind the end: in registers, since a whole load of what was stored in
 * parts would wait */
TAUT_INLINED void taut_four_sizes(int64_t n, int64_t i, const double *x, taut_four *to)
{
    taut_four y;
    x += i;
    if (i + 4 <= n)
        y = *(const taut_four *)x;
    else if (i + 3 <= n)
        y = (taut_four){x[0], x[1], x[2], 0};
    else if (i + 2 <= n)
        y = (taut_four){x[0], x[1], 0, 0};
    else
        y = (taut_four){x[0], 0, 0, 0};
    *to = (taut_four)((taut_four_mask)y & 0x7fffffffffffffffLL);
}

/* Rows become columns. */
TAUT_INLINED void taut_four_transpose(taut_four x[4])
{
    taut_four ab0 = TAUT_PICK(x[0], x[1], 0, 4, 2, 6), ab1 = TAUT_PICK(x[0], x[1], 1, 5, 3, 7),
              cd0 = TAUT_PICK(x[2], x[3], 0, 4, 2, 6), cd1 = TAUT_PICK(x[2], x[3], 1, 5, 3, 7);
    x[0] = TAUT_PICK(ab0, cd0, 0, 1, 4, 5);
    x[1] = TAUT_PICK(ab1, cd1, 0, 1, 4, 5);
    x[2] = TAUT_PICK(ab0, cd0, 2, 3, 6, 7);
    x[3] = TAUT_PICK(ab1, cd1, 2, 3, 6, 7);
}

#endif
