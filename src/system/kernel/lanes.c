/* lanes.c - see lanes.h. Common strides and row lengths are written out, so that the compiler
 * knows them and forms vectors. */
#include "system/kernel/lanes.h"

#include "base/hot.h"
#include "base/vectors.h"

enum { SUMS = 16 };

/* of gcc and clang, at any address */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLES
#endif
#endif

#define INLINED static inline __attribute__((always_inline))

taut_places taut_places_make(const taut_index *gather, taut_index one, int64_t members)
{
    if (!gather || members < 2)
        return (taut_places){.first = gather && members ? gather[0] : one};
    int64_t stride = (int64_t)gather[1] - gather[0];
    for (int64_t k = 2; k < members; k++)
        if (gather[k] - (int64_t)gather[k - 1] != stride)
            return (taut_places){.gather = gather};
    return (taut_places){.first = gather[0], .stride = (taut_index)stride};
}

taut_places taut_places_from(const taut_places *places, int64_t first)
{
    taut_places from = *places;
    if (from.gather)
        from.gather += first;
    else
        from.first = (taut_index)(from.first + from.stride * first);
    return from;
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
    case 1: taut_copy(n, from, to); break;
    case 2: load_second(to, from, n); break;
    case 3: load_third(to, from, n); break;
    default: load_strided(to, from, at.stride, n);
    }
}

TAUT_HOT static void load_pairs(double *restrict x, double *restrict y, const double *restrict from,
                                int n)
{
    int k = 0;
#ifdef SHUFFLES
    TAUT_UNROLLED
    for (; k + 4 <= n; k += 4) {
        four a = *(const four *)(from + 2 * k), b = *(const four *)(from + 2 * k + 4);
        four even = __builtin_shufflevector(a, b, 0, 1, 4, 5),
             odd = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        *(four *)(x + k) = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
        *(four *)(y + k) = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
    }
#endif
    for (; k < n; k++) {
        x[k] = from[2 * k];
        y[k] = from[2 * k + 1];
    }
}

void taut_lanes_load_pairs(double *x, double *y, const double *from, int n)
{
    load_pairs(x, y, from, n);
}

void taut_lanes_store(double *restrict to, const double *restrict x, taut_places at, int n)
{
    if (n == 1) {
        to[at.gather ? at.gather[0] : at.first] = x[0];
    } else if (at.gather) {
        for (int k = 0; k < n; k++)
            to[at.gather[k]] = x[k];
    } else if (at.stride == 1) {
        taut_copy(n, x, to + at.first);
    } else {
        for (int k = 0; k < n; k++)
            to[at.first + (int64_t)at.stride * k] = x[k];
    }
}

INLINED void add_strided(double *restrict to, double sign, const double *restrict x, int64_t stride,
                         int n)
{
    for (int k = 0; k < n; k++)
        to[k * stride] += sign * x[k];
}

/* Sums of successive members with the same place first: an addition to memory waits for the one
 * before it. */
static void add_repeated(double *restrict to, double sign, const double *restrict x,
                         const taut_index *gather, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += sign * x[k];
        if (k + 1 == n || gather[k + 1] != gather[k]) {
            to[gather[k]] += sum;
            sum = 0;
        }
    }
}

void taut_lanes_add(double *restrict to, double sign, const double *restrict x, taut_places at,
                    int n)
{
    if (at.gather && at.repeats) {
        add_repeated(to, sign, x, at.gather, n);
    } else if (at.gather) {
        for (int k = 0; k < n; k++)
            to[at.gather[k]] += sign * x[k];
    } else if (at.stride == 1) {
        add_strided(to + at.first, sign, x, 1, n);
    } else {
        add_strided(to + at.first, sign, x, at.stride, n);
    }
}

TAUT_HOT static void weigh_next(double *restrict to, const double *restrict x,
                                const double *restrict by, int n)
{
    for (int k = 0; k < n; k++)
        to[k] = x[k] * by[k];
}

void taut_lanes_weigh(double *to, const double *x, const double *by, taut_places at, int n)
{
    if (!at.gather && at.stride == 1)
        weigh_next(to, x, by + at.first, n);
    else
        for (int k = 0; k < n; k++)
            to[k] = x[k] * by[at.gather ? at.gather[k] : at.first + at.stride * k];
}

void taut_lanes_pull(double *restrict to, const double *restrict x, const double *restrict y,
                     taut_places at, int n)
{
    for (int k = 0; k < n; k++)
        to[at.gather ? at.gather[k] : at.first + at.stride * k] -= x[k] * y[k];
}

TAUT_HOT static void pull_pairs(double *restrict to, const double *restrict x,
                                const double *restrict y, const double *restrict z, int n)
{
    int k = 0;
#ifdef SHUFFLES
    TAUT_UNROLLED
    for (; k + 4 <= n; k += 4) {
        four factor = *(const four *)(x + k), a = factor * *(const four *)(y + k),
             b = factor * *(const four *)(z + k);
        *(four *)(to + 2 * k) -= __builtin_shufflevector(a, b, 0, 4, 1, 5);
        *(four *)(to + 2 * k + 4) -= __builtin_shufflevector(a, b, 2, 6, 3, 7);
    }
#endif
    for (; k < n; k++) {
        to[2 * k] -= x[k] * y[k];
        to[2 * k + 1] -= x[k] * z[k];
    }
}

void taut_lanes_pull_pairs(double *to, const double *x, const double *y, const double *z, int n)
{
    pull_pairs(to, x, y, z, n);
}

void taut_lanes_push(double *restrict to, const double *restrict x, const double *restrict from,
                     taut_places at, int n)
{
    for (int k = 0; k < n; k++)
        to[k] -= x[k] * from[at.gather ? at.gather[k] : at.first + at.stride * k];
}

TAUT_HOT static void push_pairs(double *restrict to, const double *restrict x,
                                const double *restrict y, const double *restrict from, int n)
{
    int k = 0;
#ifdef SHUFFLES
    TAUT_UNROLLED
    for (; k + 4 <= n; k += 4) {
        four a = *(const four *)(from + 2 * k), b = *(const four *)(from + 2 * k + 4);
        four even = __builtin_shufflevector(a, b, 0, 1, 4, 5),
             odd = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        *(four *)(to + k) -=
            *(const four *)(x + k) * __builtin_shufflevector(even, odd, 0, 4, 2, 6) +
            *(const four *)(y + k) * __builtin_shufflevector(even, odd, 1, 5, 3, 7);
    }
#endif
    for (; k < n; k++)
        to[k] -= x[k] * from[2 * k] + y[k] * from[2 * k + 1];
}

void taut_lanes_push_pairs(double *to, const double *x, const double *y, const double *from, int n)
{
    push_pairs(to, x, y, from, n);
}

INLINED void rows_of(double *restrict to, const double *restrict x, const int32_t *restrict column,
                     int32_t columns, int64_t lanes, int n)
{
    for (int k = 0; k < n; k++)
        for (int32_t c = 0; c < columns; c++)
            to[(int64_t)k * columns + c] = x[column[c] * lanes + k];
}

/* One column into rows of a given length. */
INLINED void spread(double *restrict to, const double *restrict x, int64_t length, int n)
{
    for (int k = 0; k < n; k++)
        to[k * length] = x[k];
}

/* Four columns into rows of a given length: 4 x 4 blocks are transposed in registers, which
 * compilers do not find by themselves. */
INLINED void spread_four(double *restrict to, const double *const x[4], int64_t length, int n)
{
    int k = 0;
#ifdef SHUFFLES
    for (; k + 4 <= n; k += 4) {
        four a = *(const four *)(x[0] + k), b = *(const four *)(x[1] + k);
        four c = *(const four *)(x[2] + k), d = *(const four *)(x[3] + k);
        four ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
             ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
        four cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6),
             cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
        *(four *)(to + k * length) = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
        *(four *)(to + (k + 1) * length) = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
        *(four *)(to + (k + 2) * length) = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
        *(four *)(to + (k + 3) * length) = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
    }
#endif
    for (int c = 0; c < 4; c++)
        spread(to + k * length + c, x[c] + k, length, n - k);
}

TAUT_HOT static void long_rows(double *to, const double *x, const int32_t *column, int32_t columns,
                               int64_t lanes, int n)
{
    int32_t c = 0;
    for (; c + 4 <= columns; c += 4) {
        const double *group[4] = {x + column[c] * lanes, x + column[c + 1] * lanes,
                                  x + column[c + 2] * lanes, x + column[c + 3] * lanes};
        spread_four(to + c, group, columns, n);
    }
    for (; c < columns; c++)
        spread(to + c, x + column[c] * lanes, columns, n);
}

TAUT_HOT static void common_rows(double *to, const double *x, const int32_t *column,
                                 int32_t columns, int64_t lanes, int n)
{
    switch (columns) {
    case 1: rows_of(to, x, column, 1, lanes, n); break;
    case 2: rows_of(to, x, column, 2, lanes, n); break;
    case 3: rows_of(to, x, column, 3, lanes, n); break;
    default: rows_of(to, x, column, 6, lanes, n);
    }
}

void taut_lanes_rows(double *to, const double *x, const int32_t *column, int32_t columns, int lanes,
                     int n)
{
    if (n == 1)
        rows_of(to, x, column, columns, lanes, 1);
    else if (columns == 6 || (columns > 0 && columns < 4))
        common_rows(to, x, column, columns, lanes, n);
    else
        long_rows(to, x, column, columns, lanes, n);
}

/* A sum is finite only when all its terms are. */
INLINED double sum_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += x[k];
    return sum;
}

/* Sixteen sums at once keep the processor busy. */
TAUT_HOT static double long_sum(const double *x, int64_t n)
{
    four a = {0}, b = {0}, c = {0}, d = {0};
    int64_t k = 0;
    for (; k + SUMS <= n; k += SUMS) {
        a += *(const four *)(x + k);
        b += *(const four *)(x + k + 4);
        c += *(const four *)(x + k + 8);
        d += *(const four *)(x + k + 12);
    }
    a = (a + b) + (c + d);
    return (a[0] + a[1]) + (a[2] + a[3]) + sum_of(x + k, n - k);
}

double taut_lanes_test(const double *x, int64_t n)
{
    double sum = n < SUMS ? sum_of(x, n) : long_sum(x, n);
    return sum - sum;
}
