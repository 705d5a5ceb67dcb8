/* spectrum.c - frequencies of springs, with rigid bonds eliminated.
 *
 *     S^ = C^-1/2 S C^-1/2, S = A_ss - A_sr A_rr^-1 A_rs   [docs/theory.md]
 *
 * S is never formed from its blocks: S e = G_s z with M z + G_r^T mu = G_s^T e, G_r z = 0, one
 * saddle solve with the rigid bonds alone; and (S + shift C)^-1 is the bond block of a saddle solve
 * with all bonds and D = shift C on the springs. */
#include "base/rows.h"
#include "linalg/pencil.h"

#include <math.h>

static const double zero_mode = 1e-13;     /* of the largest Omega^2: rounding */
static const double rank_tolerance = 1e-8; /* for rigid bonds that depend on others */

/* Some rows of G, as a saddle solver needs them. */
typedef struct row_subset {
    taut_index rows, *row;            /* in G */
    const taut_index *start, *column; /* of G itself where all rows are there in order */
    const double *g;
    taut_saddle *saddle;
} row_subset;

typedef struct springs {
    taut_arena arena;
    const taut_saddle_shape *shape;
    const double *mass, *g, *compliance;
    taut_index p;        /* springs */
    row_subset rod, all; /* all: the springs, then the rigid bonds */
    double *root, *d;    /* sqrt(c), [p]; D of `all` */
    double *x, *y;       /* [n], [all] */
    double *signed_mass; /* diagonal M times sign, [n] */
    int sign;
    int64_t changes; /* of signed_mass, which `all` need not compare with a copy then */
    bool iterate;    /* also where all could be computed */
} springs;

void taut_spectrum_fill(int modes, const double *value, int count, double *frequency,
                        taut_spectrum *spectrum)
{
    spectrum->modes = modes;
    spectrum->complete = modes <= 2 * (int64_t)count;
    spectrum->found = spectrum->complete ? modes : 2 * count;
    for (int k = 0; k < spectrum->found; k++)
        frequency[k] = sqrt(value[k < count || spectrum->complete ? k : modes - 2 * count + k]);
}

static void sort(int count, double *value)
{
    for (int i = 1; i < count; i++) {
        double held = value[i];
        int k = i;
        for (; k > 0 && value[k - 1] > held; k--)
            value[k] = value[k - 1];
        value[k] = held;
    }
}

void taut_spectrum_fill_ends(int count, double *least, double *most, double *frequency,
                             taut_spectrum *spectrum)
{
    sort(count, least);
    sort(count, most);
    spectrum->found = 0;
    spectrum->complete = false;
    for (int k = 0; k < count; k++)
        if (least[k] > 0 && isfinite(least[k]))
            frequency[spectrum->found++] = sqrt(least[k]);
    for (int k = 0; k < count; k++)
        if (most[k] > 0 && isfinite(most[k]))
            frequency[spectrum->found++] = sqrt(most[k]);
}

/* Pattern and values from the list of rows. */
static int fill_subset(springs *work, row_subset *subset, taut_error *error)
{
    const taut_saddle_shape *shape = work->shape;
    int64_t entries = 0;
    bool same = subset->rows == shape->m;
    for (taut_index i = 0; i < subset->rows && same; i++)
        same = subset->row[i] == i;
    if (same) {
        subset->start = shape->g_start;
        subset->column = shape->g_column;
        subset->g = work->g;
        return TAUT_OK;
    }
    for (taut_index i = 0; i < subset->rows; i++)
        entries += shape->g_start[subset->row[i] + 1] - shape->g_start[subset->row[i]];
    taut_index *start = TAUT_NEW(&work->arena, taut_index, (int64_t)subset->rows + 1),
               *column = TAUT_NEW(&work->arena, taut_index, entries);
    double *g = TAUT_NEW(&work->arena, double, entries);
    TAUT_TRY(taut_arena_check(&work->arena, error));
    for (taut_index i = 0, count = 0; i < subset->rows; i++) {
        for (taut_index e = shape->g_start[subset->row[i]]; e < shape->g_start[subset->row[i] + 1];
             e++, count++) {
            column[count] = shape->g_column[e];
            g[count] = work->g[e];
        }
        start[i + 1] = count;
    }
    subset->start = start;
    subset->column = column;
    subset->g = g;
    return 0;
}

static taut_saddle_shape subset_shape(const springs *work, const row_subset *subset)
{
    taut_saddle_shape shape = *work->shape;
    shape.m = subset->rows;
    shape.g_start = subset->start;
    shape.g_column = subset->column;
    shape.complex_values = false;
    shape.symmetric = true;
    return shape;
}

/* Removes rigid bonds that depend on others: constraints stated twice do not alter the modes. */
static int drop_dependent_rods(springs *work, taut_error *error)
{
    row_subset *rod = &work->rod;
    taut_saddle_shape shape = subset_shape(work, rod);
    unsigned char *redundant = TAUT_NEW(&work->arena, unsigned char, rod->rows);
    taut_index rank, kept = 0;
    TAUT_NEED(error, redundant);
    TAUT_TRY(taut_rank(&shape, rod->g, rank_tolerance, NULL, &rank, redundant, NULL, NULL,
                       &work->arena.allocator, error));
    for (taut_index i = 0; i < rod->rows; i++)
        if (!redundant[i])
            rod->row[kept++] = rod->row[i];
    rod->rows = kept;
    return fill_subset(work, rod, error);
}

static int factor_rods(springs *work, taut_error *error)
{
    row_subset *rod = &work->rod;
    TAUT_TRY(fill_subset(work, rod, error));
    for (int attempt = 0;; attempt++) {
        taut_saddle_shape shape = subset_shape(work, rod);
        TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &work->arena.allocator, &rod->saddle,
                                    error));
        int status = taut_saddle_factor(rod->saddle, work->mass, rod->g, NULL, NULL, error);
        if (status != TAUT_ERROR_SINGULAR || attempt || rod->rows == 0)
            return status;
        taut_saddle_destroy(rod->saddle);
        rod->saddle = NULL;
        TAUT_TRY(drop_dependent_rods(work, error));
    }
}

/* y = S^ x */
static int forward(void *user, const double *x, double *y, taut_error *error)
{
    springs *work = user;
    const taut_saddle_shape *shape = work->shape;
    const taut_pattern rows = {shape->m, shape->n, shape->g_start, shape->g_column};
    for (taut_index j = 0; j < shape->n; j++)
        work->x[j] = 0;
    for (taut_index i = 0; i < work->rod.rows; i++)
        work->y[i] = 0;
    for (taut_index i = 0; i < work->p; i++)
        taut_row_add(&rows, work->g, work->all.row[i], x[i] / work->root[i], work->x);
    TAUT_TRY(taut_saddle_solve(work->rod.saddle, 1, work->x, work->y, error));
    for (taut_index i = 0; i < work->p; i++)
        y[i] = taut_row_dot(&rows, work->g, work->all.row[i], work->x) / work->root[i];
    return 0;
}

/* The solver for all bonds. */
static int create_all(springs *work, taut_error *error)
{
    TAUT_TRY(fill_subset(work, &work->all, error));
    taut_saddle_shape shape = subset_shape(work, &work->all);
    shape.symmetric = shape.k_start || work->rod.rows == 0;
    shape.k_changes = shape.k_start ? NULL : &work->changes;
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &work->arena.allocator, &work->all.saddle,
                              error);
}

/* Factors S + shift C. Without rigid bonds and with a diagonal M the sign turns A + shift C into a
 * positive definite matrix, which is faster to factor and proves on which side of the spectrum
 * the shift lies; otherwise a solver that is not told of symmetry takes all. */
static int prepare(void *user, double shift, int sign, taut_error *error)
{
    springs *work = user;
    row_subset *all = &work->all;
    const int before = work->sign;
    work->sign = work->shape->k_start || work->rod.rows ? 1 : sign;
    work->changes += work->sign != before;
    for (taut_index j = 0; j < work->shape->n && !work->shape->k_start; j++)
        work->signed_mass[j] = work->sign * work->mass[j];
    for (taut_index i = 0; i < all->rows; i++)
        work->d[i] = i < work->p ? work->sign * shift * work->root[i] * work->root[i] : 0;
    return taut_saddle_factor(all->saddle, work->shape->k_start ? work->mass : work->signed_mass,
                              all->g, NULL, work->d, error);
}

/* y = (S^ + shift)^-1 x */
static int solve(void *user, const double *x, double *y, taut_error *error)
{
    springs *work = user;
    for (taut_index j = 0; j < work->shape->n; j++)
        work->x[j] = 0;
    for (taut_index i = 0; i < work->all.rows; i++)
        work->y[i] = i < work->p ? -x[i] * work->root[i] : 0;
    TAUT_TRY(taut_saddle_solve(work->all.saddle, 1, work->x, work->y, error));
    for (taut_index i = 0; i < work->p; i++)
        y[i] = work->sign * work->y[i] * work->root[i];
    return 0;
}

static int dense_springs(springs *work, int count, double *frequency, double *mode,
                         taut_spectrum *spectrum, taut_error *error)
{
    const int p = work->p;
    double *s, *value, *unit;
    int zeros = 0;
    TAUT_TRY(TAUT_RESERVE(&work->arena, (int64_t)p * p, error, &s));
    TAUT_TRY(TAUT_RESERVE(&work->arena, p, error, &value, &unit));
    for (int i = 0; i < p; i++) {
        unit[i] = 1;
        TAUT_TRY(forward(work, unit, s + (int64_t)i * p, error));
        unit[i] = 0;
    }
    for (int i = 0; i < p; i++)
        for (int j = 0; j < i; j++)
            s[(int64_t)i * p + j] = s[(int64_t)j * p + i] =
                (s[(int64_t)i * p + j] + s[(int64_t)j * p + i]) / 2;
    TAUT_TRY(taut_eigen_symmetric(p, s, value, error, &work->arena.allocator));
    while (zeros < p && !(value[zeros] > zero_mode * value[p - 1]))
        zeros++;
    taut_spectrum_fill(p - zeros, value + zeros, count, frequency, spectrum);
    for (int k = zeros; mode && k < p; k++) {
        double *u = mode + (int64_t)(k - zeros) * work->shape->m;
        for (taut_index i = 0; i < work->shape->m; i++)
            u[i] = 0;
        for (int i = 0; i < p; i++)
            u[work->all.row[i]] = sqrt(value[k]) * work->root[i] * s[(int64_t)k * p + i];
    }
    return 0;
}

/* Modes of springs that depend on each other: the rank of all rows, less the rigid bonds. */
static int count_modes(springs *work, int64_t *modes, taut_error *error)
{
    taut_saddle_shape shape = subset_shape(work, &work->all);
    taut_index rank = 0;
    TAUT_TRY(taut_rank(&shape, work->all.g, rank_tolerance, NULL, &rank, NULL, NULL, NULL,
                       &work->arena.allocator, error));
    *modes = rank - work->rod.rows;
    return 0;
}

static int large_springs(springs *work, int count, double *frequency, taut_spectrum *spectrum,
                         taut_error *error)
{
    const taut_allocator *allocator = &work->arena.allocator;
    taut_pencil pencil = {work->p, forward, NULL, prepare, solve, work, false};
    double *least, *most;
    bool regular = true;
    TAUT_TRY(TAUT_RESERVE(&work->arena, count, error, &least, &most));
    TAUT_TRY(create_all(work, error));
    pencil.proves = !work->shape->k_start && work->shape->positive && work->rod.rows == 0 &&
                    taut_saddle_backend(work->all.saddle) != TAUT_BACKEND_SPARSE;
    TAUT_TRY(taut_pencil_largest(&pencil, count, most, allocator, error));
    double largest = most[0];
    for (int k = 1; k < count; k++)
        largest = fmax(largest, most[k]);
    spectrum->modes = work->p;
    TAUT_TRY(taut_pencil_smallest(&pencil, count, least, &regular, allocator, error));
    for (int k = 0; k < count && regular; k++)
        regular = least[k] > zero_mode * largest;
    if (!regular) {
        TAUT_TRY(count_modes(work, &spectrum->modes, error));
        TAUT_TRY(taut_pencil_smallest_positive(&pencil, largest, count, least, allocator, error));
    }
    taut_spectrum_fill_ends(count, least, most, frequency, spectrum);
    return 0;
}

/* Splits the bonds, checks them, reserves the work arrays. */
static int split(springs *work, taut_error *error)
{
    const taut_index m = work->shape->m;
    work->rod.row = TAUT_NEW(&work->arena, taut_index, m);
    work->all.row = TAUT_NEW(&work->arena, taut_index, m);
    TAUT_TRY(taut_arena_check(&work->arena, error));
    TAUT_TRY(TAUT_RESERVE(&work->arena, m, error, &work->root, &work->d, &work->y));
    TAUT_TRY(TAUT_RESERVE(&work->arena, work->shape->n, error, &work->x));
    TAUT_TRY(TAUT_RESERVE(&work->arena, work->shape->k_start ? 0 : work->shape->n, error,
                          &work->signed_mass));
    for (taut_index i = 0; i < m; i++) {
        if (!(work->compliance[i] >= 0) || !isfinite(work->compliance[i]))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "the compliance of bond %d is negative or not finite", i + 1);
        if (work->compliance[i] > 0) {
            work->root[work->p] = sqrt(work->compliance[i]);
            work->all.row[work->p++] = i;
        } else {
            work->rod.row[work->rod.rows++] = i;
        }
    }
    return 0;
}

static int find_modes(springs *work, int count, double *frequency, double *mode,
                      taut_spectrum *spectrum, taut_error *error)
{
    TAUT_TRY(split(work, error));
    if (work->p == 0)
        return 0;
    TAUT_TRY(factor_rods(work, error));
    work->all.rows = work->p + work->rod.rows;
    for (taut_index i = 0; i < work->rod.rows; i++)
        work->all.row[work->p + i] = work->rod.row[i];
    bool small = work->p <= TAUT_SPECTRUM_DENSE && !work->iterate,
         dense = mode || small || count > work->p / 8;
    if (dense && work->p > TAUT_SPECTRUM_DENSE_LIMIT)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "all modes of %d springs are too many (at most %d): ask for fewer frequencies", work->p,
            TAUT_SPECTRUM_DENSE_LIMIT);
    return dense ? dense_springs(work, count, frequency, mode, spectrum, error)
                 : large_springs(work, count, frequency, spectrum, error);
}

static int find_all(springs *work, int count, double *frequency, double *mode,
                    taut_spectrum *spectrum, const taut_allocator *allocator, taut_error *error)
{
    *spectrum = (taut_spectrum){.complete = true};
    if (count < 1)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "at least one frequency must be asked for, not %d", count);
    taut_arena_init(&work->arena, allocator);
    int status = find_modes(work, count, frequency, mode, spectrum, error);
    taut_saddle_destroy(work->rod.saddle);
    taut_saddle_destroy(work->all.saddle);
    taut_arena_clear(&work->arena);
    return status;
}

int taut_spectrum_bonds(const taut_saddle_shape *shape, const double *mass, const double *g,
                        const double *compliance, int count, double *frequency, double *mode,
                        taut_spectrum *spectrum, const taut_allocator *allocator, taut_error *error)
{
    springs work = {.shape = shape, .mass = mass, .g = g, .compliance = compliance};
    return find_all(&work, count, frequency, mode, spectrum, allocator, error);
}

int taut_spectrum_ends(const taut_saddle_shape *shape, const double *mass, const double *g,
                       const double *compliance, double frequency[2], taut_spectrum *spectrum,
                       const taut_allocator *allocator, taut_error *error)
{
    enum { FEW = 32 }; /* all are computed sooner */
    springs work = {.shape = shape, .mass = mass, .g = g, .compliance = compliance};
    work.iterate = shape->m > FEW;
    return find_all(&work, 1, frequency, NULL, spectrum, allocator, error);
}
