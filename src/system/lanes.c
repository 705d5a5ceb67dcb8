/* lanes.c - see lanes.h. Common strides and row lengths are written out, so that the compiler knows them and forms vectors. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "system/lanes.h"

#include <string.h>

#include "expr/hot.h"

#define INLINED static inline __attribute__((always_inline))

taut_places taut_places_make(const taut_index *gather, taut_index one, int64_t members)
{
    if (!gather || members < 2)
        return (taut_places){NULL, gather && members ? gather[0] : one, 0};
    int64_t stride = (int64_t)gather[1] - gather[0];
    for (int64_t k = 2; k < members; k++)
        if (gather[k] - (int64_t)gather[k - 1] != stride)
            return (taut_places){gather, 0, 0};
    return (taut_places){NULL, gather[0], (taut_index)stride};
}

taut_places taut_places_from(const taut_places *places, int64_t first)
{
    if (places->gather)
        return (taut_places){places->gather + first, 0, 0};
    return (taut_places){NULL, (taut_index)(places->first + places->stride * first), places->stride};
}

void taut_lanes_fill(double *to, int64_t n, double value)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = value;
}

INLINED void load_strided(double *restrict to, const double *restrict from, int64_t stride, int n)
{
    for (int k = 0; k < n; k++)
        to[k] = from[k * stride];
}

TAUT_HOT static void load_second(double *to, const double *from, int n)
{
    load_strided(to, from, 2, n);
}

TAUT_HOT static void load_third(double *to, const double *from, int n)
{
    load_strided(to, from, 3, n);
}

void taut_lanes_load(double *to, const double *from, taut_places at, int n)
{
    if (at.gather) {
        for (int k = 0; k < n; k++)
            to[k] = from[at.gather[k]];
        return;
    }
    from += at.first;
    switch (at.stride) {
    case 0: taut_lanes_fill(to, n, from[0]); break;
    case 1: memcpy(to, from, (size_t)n * sizeof *to); break;
    case 2: load_second(to, from, n); break;
    case 3: load_third(to, from, n); break;
    default: load_strided(to, from, at.stride, n);
    }
}

void taut_lanes_store(double *restrict to, const double *restrict x, taut_places at, int n)
{
    if (at.gather) {
        for (int k = 0; k < n; k++)
            to[at.gather[k]] = x[k];
    } else if (at.stride == 1) {
        memcpy(to + at.first, x, (size_t)n * sizeof *to);
    } else {
        for (int k = 0; k < n; k++)
            to[at.first + (int64_t)at.stride * k] = x[k];
    }
}

INLINED void add_strided(double *restrict to, double sign, const double *restrict x, int64_t stride, int n)
{
    for (int k = 0; k < n; k++)
        to[k * stride] += sign * x[k];
}

void taut_lanes_add(double *restrict to, double sign, const double *restrict x, taut_places at, int n)
{
    if (at.gather) {
        for (int k = 0; k < n; k++)
            to[at.gather[k]] += sign * x[k];
    } else if (at.stride == 1) {
        add_strided(to + at.first, sign, x, 1, n);
    } else {
        add_strided(to + at.first, sign, x, at.stride, n);
    }
}

INLINED void rows_of(double *restrict to, const double *restrict x, const int32_t *restrict column, int32_t columns, int64_t lanes,
                     int n)
{
    for (int k = 0; k < n; k++)
        for (int32_t c = 0; c < columns; c++)
            to[(int64_t)k * columns + c] = x[column[c] * lanes + k];
}

TAUT_HOT void taut_lanes_rows(double *to, const double *x, const int32_t *column, int32_t columns, int lanes, int n)
{
    switch (columns) {
    case 1: rows_of(to, x, column, 1, lanes, n); break;
    case 2: rows_of(to, x, column, 2, lanes, n); break;
    case 3: rows_of(to, x, column, 3, lanes, n); break;
    case 4: rows_of(to, x, column, 4, lanes, n); break;
    case 6: rows_of(to, x, column, 6, lanes, n); break;
    default: rows_of(to, x, column, columns, lanes, n);
    }
}

/* x * 0 is 0, or NaN when x is NaN or infinite; many sums at once keep the processor busy. */
TAUT_HOT double taut_lanes_test(const double *x, int64_t n)
{
    enum { SUMS = 16 };
    double sum[SUMS] = {0}, total = 0;
    int64_t k = 0;
    for (; k + SUMS <= n; k += SUMS)
        for (int j = 0; j < SUMS; j++)
            sum[j] += x[k + j] * 0;
    for (; k < n; k++)
        total += x[k] * 0;
    for (int j = 0; j < SUMS; j++)
        total += sum[j];
    return total;
}
