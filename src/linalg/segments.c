/* segments.c - see segments.h.
 *
 * In `f`: for each interior row of the segments the inverted pivots, b entries of L and b of Z, all
 * in eight lanes; then R, its diagonal, and the right-hand side of the separators. In `room`: the
 * solution of the interiors until the separators are known. */
#include "linalg/segments.h"

#include <string.h>

#include "base/four.h"
#include "linalg/small_kernels.h"

enum {
    LANES = 8,
    HALF = 4,
    MOST_WIDTH = 4,
    LEAST_LENGTH = 12,
    MOST_GROUPS = 16,
    LEAST_ROWS = 8192
};

#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Eight lanes. */
typedef struct eight {
    taut_four half[2];
} eight;

typedef struct layout {
    taut_index groups, segments;
    taut_index rows, b, length; /* of a segment, a multiple of HALF */
    taut_index apart;           /* from segment to segment */
    taut_index rest, reach;     /* rows and half-width of R */
    int64_t record;             /* numbers of an interior row */
    int64_t lead;               /* from diagonal to diagonal of the matrix */
} layout;

static layout layout_of(taut_index rows, taut_index b)
{
    layout l = {.rows = rows, .b = b, .reach = 2 * b - 1, .record = (1 + 2 * (int64_t)b) * LANES};
    l.groups = rows / LEAST_ROWS < 1             ? 1
               : rows / LEAST_ROWS < MOST_GROUPS ? rows / LEAST_ROWS
                                                 : MOST_GROUPS;
    l.segments = l.groups * LANES;
    l.length = (rows - l.segments * b) / l.segments / HALF * HALF;
    l.apart = l.length + b;
    l.rest = rows - l.segments * l.length;
    return l;
}

bool taut_segments_fit(taut_index rows, taut_index b)
{
    return b >= 1 && b <= MOST_WIDTH && rows >= LANES * (LEAST_LENGTH + b);
}

int64_t taut_segments_numbers(taut_index rows, taut_index b)
{
    layout l = layout_of(rows, b);
    return l.groups * (l.length * l.record) + (int64_t)l.rest * (l.reach + 3);
}

/* Of a group: the factors, the solution, and the first row of the matrix. */
static double *factors(const layout *l, double *f, int64_t group)
{
    return f + group * l->length * l->record;
}

static double *interiors(const layout *l, double *room, int64_t group)
{
    return room + group * l->length * LANES;
}

static int64_t rows_of(const layout *l, int64_t group)
{
    return group * LANES * l->apart;
}

static double *reduced(const layout *l, double *f)
{
    return factors(l, f, l->groups);
}

static double *right_hand_side(const layout *l, double *f)
{
    return reduced(l, f) + (int64_t)l->rest * (l->reach + 2);
}

/* ---- lanes */

/* Four rows from number j on of all segments, and back: transposed in blocks of 4 x 4. */
TAUT_INLINED void gather(const double *x, int64_t apart, eight to[HALF])
{
    UNROLLED
    for (int h = 0; h < 2; h++) {
        taut_four block[HALF];
        for (int k = 0; k < HALF; k++)
            block[k] = *(const taut_four *)(x + (h * HALF + k) * apart);
        taut_four_transpose(block);
        for (int k = 0; k < HALF; k++)
            to[k].half[h] = block[k];
    }
}

TAUT_INLINED void scatter(const eight from[HALF], int64_t apart, double *x)
{
    UNROLLED
    for (int h = 0; h < 2; h++) {
        taut_four block[HALF];
        for (int k = 0; k < HALF; k++)
            block[k] = from[k].half[h];
        taut_four_transpose(block);
        for (int k = 0; k < HALF; k++)
            *(taut_four *)(x + (h * HALF + k) * apart) = block[k];
    }
}

TAUT_INLINED eight lanes_at(const double *x)
{
    return (eight){{*(const taut_four *)x, *(const taut_four *)(x + HALF)}};
}

TAUT_INLINED void lanes_to(double *x, eight v)
{
    *(taut_four *)x = v.half[0];
    *(taut_four *)(x + HALF) = v.half[1];
}

TAUT_INLINED eight less(eight x, eight a, eight b) /* x - a b */
{
    return (eight){{x.half[0] - a.half[0] * b.half[0], x.half[1] - a.half[1] * b.half[1]}};
}

TAUT_INLINED eight times(eight a, eight b)
{
    return (eight){{a.half[0] * b.half[0], a.half[1] * b.half[1]}};
}

TAUT_INLINED eight plus(eight a, eight b)
{
    return (eight){{a.half[0] + b.half[0], a.half[1] + b.half[1]}};
}

static inline double lane(const eight *x, int k)
{
    return x->half[k / HALF][k % HALF];
}

static inline void lane_set(eight *x, int k, double value)
{
    x->half[k / HALF][k % HALF] = value;
}

/* ---- factor */

/* What is still to be added to the rows after the current one. */
typedef struct front {
    eight window[MOST_WIDTH][MOST_WIDTH]; /* (row, column) from the current one on */
    eight z[MOST_WIDTH][MOST_WIDTH];      /* (row of the separator before, column) */
    eight own[MOST_WIDTH][MOST_WIDTH];    /* R of that separator */
    taut_four_mask bad;                   /* some pivot was too small */
} front;

static const eight none;

/* One column of all segments; entry[d] is A(j + d, j). */
TAUT_INLINED void eliminate(front *s, const int b, const eight *entry, double tolerance,
                            double *record)
{
    eight column[MOST_WIDTH + 1], here[MOST_WIDTH], inverse;
    UNROLLED
    for (int i = 0; i <= b; i++)
        column[i] = i < b ? plus(entry[i], s->window[i][0]) : entry[i];
    UNROLLED
    for (int h = 0; h < 2; h++) {
        s->bad |= ~(column[0].half[h] > tolerance * entry[0].half[h]);
        inverse.half[h] = 1 / column[0].half[h];
    }
    lanes_to(record, inverse);
    UNROLLED
    for (int i = 1; i <= b; i++) {
        eight below = times(column[i], inverse);
        lanes_to(record + i * LANES, below);
        UNROLLED
        for (int k = 1; k <= i; k++)
            s->window[i - 1][k - 1] = less(i < b ? s->window[i][k] : none, below, column[k]);
    }
    UNROLLED
    for (int r = 0; r < b; r++) {
        here[r] = s->z[r][0];
        eight scaled = times(here[r], inverse);
        lanes_to(record + (1 + b + r) * LANES, scaled);
        UNROLLED
        for (int i = 1; i <= b; i++)
            s->z[r][i - 1] = less(i < b ? s->z[r][i] : none, scaled, column[i]);
        UNROLLED
        for (int k = 0; k <= r; k++)
            s->own[r][k] = less(s->own[r][k], scaled, here[k]);
    }
}

/* The separator before segment p couples with its first rows. */
static void begin_front(const layout *l, const double *a, int64_t group, front *s)
{
    memset(s, 0, sizeof *s);
    for (int p = group == 0; p < LANES; p++)
        for (taut_index r = 0; r < l->b; r++)
            for (taut_index j = 0; j <= r; j++)
                lane_set(&s->z[r][j], p,
                         a[(j + l->b - r) * l->lead + rows_of(l, group) + p * l->apart - l->b + r]);
}

TAUT_INLINED bool factor_interiors(const layout *l, const double *a, double tolerance, double *f,
                                   front *result, const int b)
{
    front s = *result;
    for (taut_index j = 0; j < l->length; j += HALF) {
        eight block[MOST_WIDTH + 1][HALF];
        UNROLLED
        for (int d = 0; d <= b; d++)
            gather(a + d * l->lead + j, l->apart, block[d]);
        UNROLLED
        for (int k = 0; k < HALF; k++) {
            eight entry[MOST_WIDTH + 1];
            UNROLLED
            for (int d = 0; d <= b; d++)
                entry[d] = block[d][k];
            eliminate(&s, b, entry, tolerance, f + (j + k) * (1 + 2 * b) * LANES);
        }
    }
    *result = s;
    return !(s.bad[0] | s.bad[1] | s.bad[2] | s.bad[3]);
}

/* Entry (i, j) of R, i >= j. */
static double *entry_of(const layout *l, double *r, taut_index i, taut_index j)
{
    return r + i - j + (int64_t)j * (l->reach + 1);
}

/* The row of the whole matrix. */
static taut_index row_of(const layout *l, taut_index i)
{
    taut_index p = i / l->b < l->segments - 1 ? i / l->b : l->segments - 1;
    return i + (p + 1) * l->length;
}

static void assemble_reduced(const layout *l, const double *a, const front *s, double *r)
{
    double *diagonal = r + (int64_t)l->rest * (l->reach + 1);
    memset(r, 0, (size_t)l->rest * (size_t)(l->reach + 1) * sizeof *r);
    for (taut_index j = 0; j < l->rest; j++) {
        taut_index column = row_of(l, j);
        for (taut_index i = j; i < l->rest && row_of(l, i) - column <= l->b; i++)
            *entry_of(l, r, i, j) = a[(row_of(l, i) - column) * l->lead + column];
        diagonal[j] = a[column];
    }
    for (int p = 0; p < l->segments; p++)
        for (taut_index i = 0; i < l->b; i++) {
            const front *x = &s[p / LANES];
            const int at = p % LANES;
            taut_index after = p * l->b, before = after - l->b;
            for (taut_index k = 0; k <= i; k++)
                *entry_of(l, r, after + i, after + k) += lane(&x->window[i][k], at);
            for (taut_index k = 0; p > 0 && k <= i; k++)
                *entry_of(l, r, before + i, before + k) += lane(&x->own[i][k], at);
            for (taut_index k = 0; p > 0 && k < l->b; k++)
                *entry_of(l, r, after + i, before + k) += lane(&x->z[k][i], at);
        }
}

/* The column that the scalar elimination reports, from the few rows that it looks back. */
static taut_index first_small(const layout *l, const double *a, double tolerance)
{
    const taut_index b = l->b;
    double window[MOST_WIDTH + 1][MOST_WIDTH + 1] = {{0}};
    for (taut_index j = 0; j < l->rows; j++) {
        double column[MOST_WIDTH + 1] = {0};
        for (taut_index i = 0; i <= b; i++)
            column[i] = window[i][0] + (j + i < l->rows ? a[i * l->lead + j] : 0);
        if (!(column[0] > tolerance * a[j]))
            return j + 1;
        for (taut_index i = 1; i <= b; i++)
            for (taut_index k = 1; k <= i; k++)
                window[i - 1][k - 1] = window[i][k] - column[i] * (1 / column[0]) * column[k];
    }
    return 0;
}

#define KERNELS(b)                                                                                 \
    TAUT_HOT static bool segments_factor_##b(const layout *l, const double *a, double tolerance,   \
                                             double *f, front *s)                                  \
    {                                                                                              \
        return factor_interiors(l, a, tolerance, f, s, b);                                         \
    }                                                                                              \
    TAUT_HOT static void segments_forward_##b(const layout *l, const double *f, const double *x,   \
                                              double *y, eight *right, eight *left)                \
    {                                                                                              \
        forward(l, f, x, y, right, left, b);                                                       \
    }                                                                                              \
    TAUT_HOT static void segments_backward_##b(const layout *l, const double *f, const double *y,  \
                                               double *x, const eight *right, const eight *left)   \
    {                                                                                              \
        backward(l, f, y, x, right, left, b);                                                      \
    }

/* ---- solve */

/* y: the right-hand sides of the interiors after elimination; `right` and `left`: what they add to
 * the separators after and before. */
TAUT_INLINED void forward(const layout *l, const double *f, const double *x, double *y,
                          eight *right, eight *left, const int b)
{
    eight next[MOST_WIDTH] = {none, none, none, none},
          before[MOST_WIDTH] = {none, none, none, none};
    for (taut_index j = 0; j < l->length; j += HALF) {
        eight block[HALF];
        gather(x + j, l->apart, block);
        UNROLLED
        for (int k = 0; k < HALF; k++) {
            const double *record = f + (j + k) * (1 + 2 * b) * LANES;
            eight here = plus(block[k], next[0]);
            UNROLLED
            for (int i = 1; i <= b; i++)
                next[i - 1] = less(i < b ? next[i] : none, lanes_at(record + i * LANES), here);
            UNROLLED
            for (int r = 0; r < b; r++)
                before[r] = less(before[r], lanes_at(record + (1 + b + r) * LANES), here);
            lanes_to(y + (j + k) * LANES, here);
        }
    }
    UNROLLED
    for (int i = 0; i < b; i++) {
        right[i] = next[i];
        left[i] = before[i];
    }
}

/* x of the interiors, from that of the separators. */
TAUT_INLINED void backward(const layout *l, const double *f, const double *y, double *x,
                           const eight *right, const eight *left, const int b)
{
    eight next[MOST_WIDTH], before[MOST_WIDTH];
    UNROLLED
    for (int i = 0; i < b; i++) {
        next[i] = right[i];
        before[i] = left[i];
    }
    for (taut_index j = l->length - HALF; j >= 0; j -= HALF) {
        eight block[HALF];
        UNROLLED
        for (int k = HALF - 1; k >= 0; k--) {
            const double *record = f + (j + k) * (1 + 2 * b) * LANES;
            eight here = times(lanes_at(y + (j + k) * LANES), lanes_at(record));
            UNROLLED
            for (int r = 0; r < b; r++)
                here = less(here, lanes_at(record + (1 + b + r) * LANES), before[r]);
            UNROLLED
            for (int i = b; i >= 1; i--)
                here = less(here, lanes_at(record + i * LANES), next[i - 1]);
            UNROLLED
            for (int i = b - 1; i >= 1; i--)
                next[i] = next[i - 1];
            next[0] = block[k] = here;
        }
        scatter(block, l->apart, x + j);
    }
}

KERNELS(1)
KERNELS(2)
KERNELS(3)
KERNELS(4)

#define FOR_WIDTH(name, ...)                                                                       \
    (b == 1   ? segments_##name##_1(__VA_ARGS__)                                                   \
     : b == 2 ? segments_##name##_2(__VA_ARGS__)                                                   \
     : b == 3 ? segments_##name##_3(__VA_ARGS__)                                                   \
              : segments_##name##_4(__VA_ARGS__))

/* ---- groups */

typedef struct work {
    const layout *l;
    const double *a;
    double tolerance, *f, *room, *x;
    front s[MOST_GROUPS];
    bool good[MOST_GROUPS];
    eight right[MOST_GROUPS][MOST_WIDTH], left[MOST_GROUPS][MOST_WIDTH];
} work;

static void factor_group(void *context, int64_t group, int thread)
{
    work *w = context;
    const layout *l = w->l;
    const taut_index b = l->b;
    front *s = &w->s[group];
    (void)thread;
    begin_front(l, w->a, group, s);
    w->good[group] =
        FOR_WIDTH(factor, l, w->a + rows_of(l, group), w->tolerance, factors(l, w->f, group), s);
}

static void forward_group(void *context, int64_t group, int thread)
{
    work *w = context;
    const layout *l = w->l;
    const taut_index b = l->b;
    (void)thread;
    FOR_WIDTH(forward, l, factors(l, w->f, group), w->x + rows_of(l, group),
              interiors(l, w->room, group), w->right[group], w->left[group]);
}

static void backward_group(void *context, int64_t group, int thread)
{
    work *w = context;
    const layout *l = w->l;
    const taut_index b = l->b;
    (void)thread;
    FOR_WIDTH(backward, l, factors(l, w->f, group), interiors(l, w->room, group),
              w->x + rows_of(l, group), w->right[group], w->left[group]);
}

static void run_groups(taut_pool *pool, work *w,
                       void (*function)(void *context, int64_t group, int thread))
{
    if (w->l->groups > 1 && taut_pool_size(pool) > 1) {
        taut_pool_run(pool, w->l->groups, function, w);
        return;
    }
    for (int64_t group = 0; group < w->l->groups; group++)
        function(w, group, 0);
}

taut_index taut_segments_factor(taut_pool *pool, taut_index rows, taut_index b, const double *a,
                                int64_t apart, double tolerance, double *f)
{
    layout l = layout_of(rows, b);
    l.lead = apart;
    work w;
    w.l = &l;
    w.a = a;
    w.tolerance = tolerance;
    w.f = f;
    double *r = reduced(&l, f);
    run_groups(pool, &w, factor_group);
    bool good = true;
    for (taut_index group = 0; group < l.groups; group++)
        good = good && w.good[group];
    taut_index bad = 0;
    if (good) {
        assemble_reduced(&l, a, w.s, r);
        bad = taut_band_ldl_factor(l.rest, l.reach, r, r + (int64_t)l.rest * (l.reach + 1),
                                   tolerance);
    }
    if (good && bad == 0)
        return 0;
    taut_index column = first_small(&l, a, tolerance);
    return column ? column : bad ? row_of(&l, bad - 1) + 1 : 1;
}

void taut_segments_solve(taut_pool *pool, taut_index rows, taut_index b, double *f, double *room,
                         double *x)
{
    const layout l = layout_of(rows, b);
    work w;
    w.l = &l;
    w.f = f;
    w.room = room;
    w.x = x;
    double *s = right_hand_side(&l, f);
    run_groups(pool, &w, forward_group);
    for (taut_index i = 0; i < l.rest; i++)
        s[i] = x[row_of(&l, i)];
    for (int p = 0; p < l.segments; p++)
        for (taut_index i = 0; i < b; i++) {
            s[p * b + i] += lane(&w.right[p / LANES][i], p % LANES);
            if (p > 0)
                s[(p - 1) * b + i] += lane(&w.left[p / LANES][i], p % LANES);
        }
    taut_band_ldl_solve(l.rest, l.reach, reduced(&l, f), s);
    for (int p = 0; p < l.segments; p++)
        for (taut_index i = 0; i < b; i++) {
            lane_set(&w.right[p / LANES][i], p % LANES, s[p * b + i]);
            lane_set(&w.left[p / LANES][i], p % LANES, p > 0 ? s[(p - 1) * b + i] : 0);
        }
    run_groups(pool, &w, backward_group);
    for (taut_index i = 0; i < l.rest; i++)
        x[row_of(&l, i)] = s[i];
}
