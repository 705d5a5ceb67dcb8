/* test_narrow.c - kernels of chains and other narrow structures: the segmented L D L^T against the
 * scalar one, sums of products in runs against plain loops, saddle systems that use both by their
 * residuals, forces of springs without G, and the bound that replaces a spectrum. */
#include "base/rows.h"
#include "linalg/backend.h"
#include "linalg/form_runs.h"
#include "linalg/saddle_bonds.h"
#include "linalg/segments.h"
#include "linalg/small_kernels.h"
#include "support/table.h"
#include "system/fused.h"
#include "system/modes/modes.h"
#include "system/kernel/family.h"
#include "system/system.h"

static unsigned seed = 1;

/* In (-1, 1). */
static double number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608.0 - 1;
}

static taut_index below(taut_index limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (taut_index)((seed >> 8) % (unsigned)limit);
}

static double *numbers(int64_t count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (!x)
        exit(1);
    return x;
}

/* ---- segments */

typedef struct band {
    taut_index rows, b;
    double *a, *columns; /* by diagonals; by columns, for the scalar kernel */
    double *f, *x, *y;
} band;

static band band_create(taut_index rows, taut_index b)
{
    int64_t size = rows * (int64_t)(b + 1);
    return (band){rows,
                  b,
                  numbers(size),
                  numbers(size),
                  numbers(taut_segments_numbers(rows, b)),
                  numbers(rows),
                  numbers(rows)};
}

static void band_destroy(band *m)
{
    free(m->a);
    free(m->columns);
    free(m->f);
    free(m->x);
    free(m->y);
}

/* Random, weakly dominated by the diagonal. */
static void band_fill(band *m)
{
    for (taut_index j = 0; j < m->rows; j++)
        for (taut_index d = 1; d <= m->b && j + d < m->rows; d++) {
            double v = m->a[d * (int64_t)m->rows + j] = number();
            m->a[j] += fabs(v);
            m->a[j + d] += fabs(v);
        }
    for (taut_index j = 0; j < m->rows; j++) {
        m->a[j] += 1e-3;
        m->x[j] = m->y[j] = number();
    }
}

/* Both factorisations; their verdicts agree. */
static taut_index band_factor(band *m, double tolerance)
{
    for (taut_index j = 0; j < m->rows; j++)
        for (taut_index d = 0; d <= m->b && j + d < m->rows; d++)
            m->columns[d + j * (int64_t)(m->b + 1)] = m->a[d * (int64_t)m->rows + j];
    taut_index one = taut_segments_factor(NULL, m->rows, m->b, m->a, m->rows, tolerance, m->f),
               other = taut_band_ldl_factor(m->rows, m->b, m->columns, m->a, tolerance);
    check_row(one == other, "rows %d, half-width %d: column %d, scalar %d", m->rows, m->b, one,
              other);
    return one;
}

/* Several groups of segments, by one thread and by three. */
static void test_groups(void)
{
    taut_pool *pool = NULL;
    check_group("groups of segments");
    check_row(taut_pool_create(3, NULL, &pool, NULL) == 0, "a pool");
    for (taut_index b = 1; b <= 4; b++)
        for (taut_index rows = 16384; rows < 60000; rows += 20011) {
            band m = band_create(rows, b);
            double *f = numbers(taut_segments_numbers(rows, b)), *x = numbers(rows),
                   *room = numbers(rows), worst = 0;
            band_fill(&m);
            memcpy(x, m.x, (size_t)rows * sizeof *x);
            if (band_factor(&m, 1e-14) == 0 &&
                taut_segments_factor(pool, rows, b, m.a, rows, 1e-14, f) == 0) {
                taut_segments_solve(NULL, rows, b, m.f, room, m.x);
                taut_segments_solve(pool, rows, b, f, room, x);
                taut_band_ldl_solve(rows, b, m.columns, m.y);
            }
            for (taut_index j = 0; j < rows; j++)
                worst = fmax(worst, fabs(m.x[j] - m.y[j]) / (1 + fabs(m.y[j])));
            check_row(worst <= 1e-9 && memcmp(x, m.x, (size_t)rows * sizeof *x) == 0,
                      "rows %d, half-width %d: off by %g", rows, b, worst);
            m.a[rows / 2] = 0; /* the same pivot is reported */
            band_factor(&m, 1e-14);
            free(f);
            free(x);
            free(room);
            band_destroy(&m);
        }
    taut_pool_destroy(pool);
}

static void test_segments(void)
{
    check_group("segments");
    for (taut_index b = 1; b <= 4; b++) {
        check_row(!taut_segments_fit(8 * (12 + b) - 1, b) && taut_segments_fit(8 * (12 + b), b),
                  "the least number of rows");
        for (taut_index rows = 8 * (12 + b); rows < 300; rows += 1 + rows % 7) {
            band m = band_create(rows, b);
            band_fill(&m);
            double worst = 0, most = 0, *room = numbers(rows);
            if (band_factor(&m, 1e-14) == 0) {
                taut_segments_solve(NULL, rows, b, m.f, room, m.x);
                taut_band_ldl_solve(rows, b, m.columns, m.y);
            }
            for (taut_index j = 0; j < rows; j++) {
                worst = fmax(worst, fabs(m.x[j] - m.y[j]));
                most = fmax(most, fabs(m.y[j]));
            }
            check_row(worst <= 1e-11 * most && most > 0, "rows %d, half-width %d: off by %g of %g",
                      rows, b, worst, most);
            free(room);
            band_destroy(&m);
        }
    }
    check_row(!taut_segments_fit(1000, 5) && !taut_segments_fit(1000, 0), "other half-widths");
}

/* A pivot that is negative, zero, below the tolerance, or NaN, anywhere: interiors, separators and
 * the rows at the end. */
static void test_refusals(void)
{
    static const double factor[] = {-1, 0, 1e-16, NAN};
    check_group("refusals");
    for (taut_index b = 1; b <= 4; b++)
        for (int k = 0; k < 60; k++) {
            band m = band_create(150 + k, b);
            band_fill(&m);
            taut_index at = k < 20 ? m.rows - 1 - k : below(m.rows);
            m.a[at] *= factor[k % 4];
            if (k % 4 == 1) /* a zero row is singular */
                for (taut_index d = 1; d <= b; d++) {
                    m.a[d * (int64_t)m.rows + at] = 0;
                    if (at >= d)
                        m.a[d * (int64_t)m.rows + at - d] = 0;
                }
            check_row(band_factor(&m, 1e-14) > 0, "half-width %d, row %d of %d, diagonal %g", b, at,
                      m.rows, m.a[at]);
            band_destroy(&m);
        }
}

/* ---- sums of products */

enum { SUMS = 240, MOST = 7, SIZE = 4000 };

typedef struct list {
    taut_index to[SUMS], start[SUMS + 1], a[SUMS * MOST], b[SUMS * MOST];
} list;

/* `period` interleaved runs with steps of their own; every `odd`-th sum is somewhere else. */
static void list_fill(list *l, taut_index period, taut_index odd)
{
    taut_index terms[6], a[6][MOST], b[6][MOST], p[6][MOST], q[6][MOST];
    for (taut_index r = 0; r < period; r++) {
        terms[r] = below(MOST + 1);
        for (taut_index t = 0; t < terms[r]; t++) {
            a[r][t] = 1000 + below(500);
            b[r][t] = 1000 + below(500);
            p[r][t] = below(3) ? 1 : below(9) - 4;
            q[r][t] = below(3) ? 1 : below(9) - 4;
        }
        if (terms[r] % 2 == 0 && r % 2 == 0)
            for (taut_index t = 0; t < terms[r]; t++) { /* points in a plane */
                p[r][t] = 1;
                q[r][t] = 2;
                b[r][t] = b[r][t / 2 * 2] + t % 2;
            }
    }
    memset(l, 0, sizeof *l);
    for (taut_index i = 0; i < SUMS; i++) {
        taut_index r = i % period, k = i / period, at = l->start[i];
        l->to[i] = i;
        for (taut_index t = 0; t < terms[r]; t++) {
            l->a[at + t] = odd && i % odd == 0 ? below(SIZE) : a[r][t] + k * p[r][t];
            l->b[at + t] = odd && i % odd == 0 ? below(SIZE) : b[r][t] + k * q[r][t];
        }
        l->start[i + 1] = at + terms[r];
    }
}

static double by_index(const list *l, taut_index i, const double *a, const double *b)
{
    double sum = 0;
    for (taut_index k = l->start[i]; k < l->start[i + 1]; k++)
        sum += a[l->a[k]] * b[l->b[k]];
    return sum;
}

static void compare_lists(const list *l, const char *name, bool expected)
{
    static double a[SIZE], b[SIZE], out[SUMS];
    taut_arena arena;
    taut_products products;
    taut_error error = {0};
    bool regular;
    taut_arena_init(&arena, NULL);
    for (int k = 0; k < SIZE; k++) {
        a[k] = number();
        b[k] = number();
    }
    int code = taut_products_find(&(taut_sums){SUMS, l->to, l->start, l->a, l->b}, &arena,
                                  &products, &regular, &error);
    check_row(code == 0 && regular == expected, "%s: regular %d", name, regular);
    for (int mode = 0; mode <= TAUT_SUMS_LESS && code == 0 && regular; mode++) {
        double worst = 0;
        for (int i = 0; i < SUMS; i++)
            out[i] = i;
        taut_products_form(&products, (taut_products_mode)mode, a, b, out);
        for (taut_index i = 0; i < SUMS; i++) {
            double sum = by_index(l, i, a, b), expect = mode == TAUT_SUMS_SET        ? sum
                                                        : mode == TAUT_SUMS_NEGATIVE ? -sum
                                                        : mode == TAUT_SUMS_ADD      ? i + sum
                                                        : mode == TAUT_SUMS_LESS     ? sum - i
                                                                                     : i - sum;
            worst = fmax(worst, fabs(out[i] - expect));
        }
        check_row(worst <= 1e-12, "%s, mode %d: off by %g", name, mode, worst);
    }
    taut_arena_clear(&arena);
}

static void test_products(void)
{
    static list l;
    check_group("products");
    for (int k = 0; k < 300; k++) {
        char name[40];
        snprintf(name, sizeof name, "list %d", k);
        list_fill(&l, 1 + k % 6, k % 5 == 0 ? 61 : 0);
        compare_lists(&l, name, true);
    }
    for (taut_index i = 0; i < SUMS; i++) { /* no two neighbours alike */
        l.start[i + 1] = l.start[i] + 1 + i % 5 * (i % 3);
        for (taut_index k = l.start[i]; k < l.start[i + 1] && k < SUMS * MOST; k++)
            l.a[k] = below(SIZE);
        l.start[i + 1] = l.start[i + 1] < SUMS * MOST ? l.start[i + 1] : SUMS * MOST;
    }
    compare_lists(&l, "irregular", false);
}

/* ---- saddle systems */

enum { POINTS = 400, ENTRIES = 16 * POINTS };

typedef struct structure {
    const char *name;
    int dimension;
    /* points of bond i, at most 3 of them; 0: there is no such bond */
    int (*points)(int i, int *point);
    bool runs; /* are found */
} structure;

static int chain(int i, int *point)
{
    point[0] = i;
    point[1] = i - 1;
    return i < POINTS ? 1 + (i > 0) : 0;
}

static int chains(int i, int *point)
{
    point[0] = i;
    point[1] = i - 1;
    return i < POINTS ? 1 + (i % 50 > 0) : 0;
}

static int rope(int i, int *point) /* lengths, and bending of three points */
{
    for (int k = 0; k < 3; k++)
        point[k] = i / 2 + k;
    return i / 2 + 2 >= POINTS ? 0 : i % 2 ? 3 : 2;
}

static int tree(int i, int *point)
{
    point[0] = i;
    point[1] = (i - 1) / 2;
    return i < 200 ? 1 + (i > 0) : 0;
}

static int scattered(int i, int *point)
{
    point[0] = i;
    point[1] = i - 1 - i % 3;
    return i < POINTS ? 1 + (point[1] >= 0) : 0;
}

typedef struct saddle_case {
    taut_index n, m, start[2 * POINTS + 1], column[ENTRIES];
    double k[3 * POINTS], g[ENTRIES], d[2 * POINTS], x[3 * POINTS], y[2 * POINTS];
    double r[3 * POINTS], s[2 * POINTS];
} saddle_case;

static void case_fill(saddle_case *c, const structure *s, double unit)
{
    int point[3], count, dimension = s->dimension;
    memset(c, 0, sizeof *c);
    c->n = POINTS * dimension;
    for (; (count = s->points(c->m, point)) > 0; c->m++) {
        taut_index at = c->start[c->m];
        for (int p = 0; p < count; p++)
            for (int e = 0; e < dimension; e++, at++) {
                c->column[at] = point[p] * dimension + e;
                c->g[at] = number();
            }
        c->start[c->m + 1] = at;
        c->d[c->m] = (0.5 + 0.4 * number()) / unit;
        c->s[c->m] = number();
    }
    for (taut_index j = 0; j < c->n; j++) {
        c->k[j] = unit * (1 + 0.5 * number());
        c->r[j] = unit * number();
    }
}

/* The largest residual of both rows, from the values themselves, for right-hand sides r and s. */
static double residual(const saddle_case *c, const double *r, const double *d, double unit)
{
    static double upper[3 * POINTS];
    double worst = 0;
    for (taut_index j = 0; j < c->n; j++)
        upper[j] = c->k[j] * c->x[j] - (r ? r[j] : 0);
    for (taut_index i = 0; i < c->m; i++) {
        double lower = -c->s[i] - (d ? d[i] * c->y[i] : 0);
        for (taut_index e = c->start[i]; e < c->start[i + 1]; e++) {
            upper[c->column[e]] += c->g[e] * c->y[i];
            lower += c->g[e] * c->x[c->column[e]];
        }
        worst = fabs(lower) <= worst ? worst : fabs(lower);
    }
    for (taut_index j = 0; j < c->n; j++)
        worst = fabs(upper[j]) / unit <= worst ? worst : fabs(upper[j]) / unit;
    return worst;
}

/* rows and pull with the G and K that were factorised. */
static void compare_products(saddle_case *c, const taut_saddle *saddle, const char *name)
{
    double worst = 0, *x = numbers(c->n), *y = numbers(c->m), *pulled = numbers(c->n);
    check_row(taut_saddle_rows(saddle, c->r, y), "%s: rows", name);
    for (taut_index i = 0; i < c->m; i++) {
        double sum = 0;
        for (taut_index e = c->start[i]; e < c->start[i + 1]; e++) {
            sum += c->g[e] * c->r[c->column[e]];
            x[c->column[e]] += c->g[e] * c->s[i] / c->k[c->column[e]];
        }
        worst = fmax(worst, fabs(sum - y[i]));
    }
    check_row(taut_saddle_pull(saddle, c->s, pulled), "%s: pull", name);
    for (taut_index j = 0; j < c->n; j++)
        worst = fmax(worst, fabs(x[j] + pulled[j]));
    check_row(worst <= 1e-13, "%s: products off by %g", name, worst);
    free(pulled);
    free(x);
    free(y);
}

static void solve_case(saddle_case *c, taut_saddle *saddle, const double *d, double unit,
                       const char *name)
{
    taut_error error = {0};
    int code = taut_saddle_factor(saddle, c->k, c->g, NULL, d, &error);
    memcpy(c->x, c->r, sizeof c->x);
    memcpy(c->y, c->s, sizeof c->y);
    if (code == 0)
        code = taut_saddle_solve(saddle, 1, c->x, c->y, &error);
    double off = residual(c, c->r, d, unit);
    check_row(code == 0 && off <= 1e-9, "%s: %d %s, residual %g", name, code, error.message, off);
    memcpy(c->y, c->s, sizeof c->y);
    if (code == 0)
        code = taut_saddle_solve_bonds(saddle, c->x, c->y, &error);
    off = residual(c, NULL, d, unit);
    check_row(code == 0 && off <= 1e-9, "%s: bonds alone, residual %g", name, off);
    for (int forced = 0; forced < 2; forced++) {
        for (taut_index i = 0; i < c->m; i++)
            c->y[i] = -c->s[i];
        memcpy(c->x, c->r, sizeof c->x);
        if (code == 0)
            code = taut_saddle_oppose(saddle, forced, c->x, c->y, &error);
        off = residual(c, forced ? c->r : NULL, d, unit);
        check_row(code == 0 && off <= 1e-9, "%s: opposite sign %d, residual %g", name, forced, off);
    }
}

/* G by columns in the solver's own array: the same numbers, to the last bit. */
static void solve_columns(saddle_case *c, taut_saddle *saddle, const double *d, const char *name)
{
    double *columns = taut_saddle_columns(saddle), *y = numbers(c->m),
           *back = numbers(c->start[c->m]);
    taut_pattern g = {c->m, c->n, c->start, c->column};
    taut_error error = {0};
    memcpy(c->x, c->r, sizeof c->x);
    memcpy(y, c->s, (size_t)c->m * sizeof *y);
    int code = taut_saddle_solve(saddle, 1, c->x, y, &error);
    taut_columns_to_rows(&g, columns, back);
    check_row(code == 0 && memcmp(back, c->g, (size_t)c->start[c->m] * sizeof *back) == 0,
              "%s: columns are not the rows", name);
    code = taut_saddle_factor(saddle, c->k, columns, NULL, d, &error);
    memcpy(c->x, c->r, sizeof c->x);
    memcpy(c->y, c->s, sizeof c->y);
    if (code == 0)
        code = taut_saddle_solve(saddle, 1, c->x, c->y, &error);
    check_row(code == 0 && memcmp(c->y, y, (size_t)c->m * sizeof *y) == 0, "%s: by columns %d",
              name, code);
    free(y);
    free(back);
}

static void test_saddles(void)
{
    static const structure structures[] = {
        {"chain in the plane", 2, chain, true},
        {"chain in space", 3, chain, true},
        {"eight chains", 2, chains, true},
        {"rope that bends", 2, rope, true},
        {"tree", 2, tree, false},
        {"scattered", 2, scattered, true},
        {"chain on a line", 1, chain, true},
    };
    static saddle_case c;
    check_group("saddle systems");
    for (size_t k = 0; k < sizeof structures / sizeof structures[0]; k++)
        for (int tiny = 0; tiny < 2; tiny++) {
            const structure *s = &structures[k];
            double unit = tiny ? 1e-26 : 1;
            taut_saddle *saddle = NULL;
            taut_error error = {0};
            case_fill(&c, s, unit);
            taut_saddle_shape shape = {.n = c.n,
                                       .m = c.m,
                                       .g_start = c.start,
                                       .g_column = c.column,
                                       .symmetric = true,
                                       .positive = true};
            int code = taut_saddle_create(&shape, TAUT_BACKEND_BANDED, NULL, &saddle, &error);
            if (!check_row(code == 0, "%s: %s", s->name, error.message))
                continue;
            check_row(!s->runs || saddle->form.runs, "%s, %s: no runs", s->name,
                      taut_saddle_structure(saddle));
            double *d = c.d;
            solve_case(&c, saddle, d, unit, s->name);
            for (taut_index j = 0; j < c.n; j += 3) /* other masses, in the same solver */
                c.k[j] *= 1.5;
            solve_case(&c, saddle, d, unit, s->name);
            if (saddle->form.runs)
                solve_columns(&c, saddle, d, s->name);
            if (saddle->form.runs && !tiny)
                compare_products(&c, saddle, s->name);
            for (taut_index j = 0; j < c.n && !tiny; j++) /* then W is G */
                c.k[j] = 1;
            solve_case(&c, saddle, d, unit, s->name);
            check_row(!saddle->form.runs || saddle->form.runs->unit != tiny, "%s: masses of 1",
                      s->name);
            /* an empty row, without compliance */
            for (taut_index e = c.start[7]; e < c.start[8]; e++)
                c.g[e] = 0;
            code = taut_saddle_factor(saddle, c.k, c.g, NULL, NULL, &error);
            check_row(code == TAUT_ERROR_SINGULAR && strstr(error.message, "bond 8"), "%s: %d %s",
                      s->name, code, error.message);
            c.g[c.start[9]] = NAN;
            code = taut_saddle_factor(saddle, c.k, c.g, NULL, d, &error);
            check_row(code == TAUT_ERROR_EVALUATE, "%s, NaN: %d %s", s->name, code, error.message);
            c.k[3] = 0;
            code = taut_saddle_factor(saddle, c.k, c.g, NULL, d, &error);
            check_row(code == TAUT_ERROR_SINGULAR && strstr(error.message, "coordinate 4"),
                      "%s, no mass: %d %s", s->name, code, error.message);
            taut_saddle_destroy(saddle);
        }
}

/* ---- springs */

/* G by rows and by columns. */
static void compare_columns(taut_context *context, const taut_pattern *g, double *q,
                            const double *v, const char *name)
{
    const taut_index entries = g->start[g->rows], m = g->rows;
    taut_error error = {0};
    taut_values rows = {.jacobian = numbers(entries), .bond_dt = numbers(m)},
                columns = {.jacobian = numbers(entries)};
    double *back = numbers(entries), kept = q[1];
    if (check_row(taut_system_columns(taut_context_system(context)), "%s: no columns", name)) {
        int code = taut_evaluate_inside(context, 0.3, q, v, TAUT_WANT_JACOBIAN, &rows, &error) |
                   taut_evaluate_inside(context, 0.3, q, v, TAUT_WANT_JACOBIAN | TAUT_WANT_COLUMNS,
                                        &columns, &error);
        taut_columns_to_rows(g, columns.jacobian, back);
        check_row(code == 0 && memcmp(back, rows.jacobian, (size_t)entries * sizeof *back) == 0,
                  "%s: G by columns differs", name);
        /* the sentence names the same bond */
        taut_error other = {0};
        q[1] = NAN;
        code = taut_evaluate_inside(context, 0.3, q, v, TAUT_WANT_JACOBIAN, &rows, &error);
        int again = taut_evaluate_inside(context, 0.3, q, v, TAUT_WANT_JACOBIAN | TAUT_WANT_COLUMNS,
                                         &columns, &other);
        check_row(code != 0 && again == code && strcmp(error.message, other.message) == 0,
                  "%s: %d '%s', %d '%s'", name, code, error.message, again, other.message);
        q[1] = kept;
    }
    free(rows.jacobian);
    free(rows.bond_dt);
    free(columns.jacobian);
    free(back);
}

/* Accelerations and kicks in one pass against forces, interpreted and compiled; then two kicks and
 * the drift between them. */
static void compare_kick(taut_system *system, taut_context *context, const double *q,
                         const double *force, const double *tension, bool family, const char *name)
{
    taut_sizes sizes;
    taut_error error = {0};
    taut_system_sizes(system, &sizes);
    const taut_index n = sizes.coordinates, m = sizes.bonds;
    double *a = numbers(n), *lambda = numbers(m), *v = numbers(n), *old = numbers(n),
           *inverse = numbers(n), *moved = numbers(n);
    for (int row = 0; row < 4; row++) {
        const bool masses = row % 2;
        if (row == 2 && taut_system_native(system, INFINITY, &error))
            break; /* no compiler */
        double worst = 0;
        for (taut_index i = 0; i < n; i++) {
            old[i] = v[i] = number();
            inverse[i] = masses ? 1 + fabs(number()) : 1;
        }
        taut_values values = {.force = a, .bond = lambda};
        taut_kick kick = {.h = 0.5, .v = v, .inverse = masses ? inverse : NULL};
        check_row(taut_evaluate_pull(context, 0.3, q, NULL, &values, &kick) && kick.done == family,
                  "%s, %d: kicked %d, right %d", name, row, !family, family);
        for (taut_index i = 0; i < n && family; i++) {
            const double right = force[i] * inverse[i];
            worst = fmax(worst, fabs(a[i] - right) + fabs(v[i] - old[i] - 0.25 * right));
        }
        for (taut_index i = 0; i < m && family; i++)
            worst = fmax(worst, fabs(lambda[i] - tension[i]));
        check_below(name, worst, 1e-11);
        if (!family)
            continue;
        memcpy(v, old, (size_t)n * sizeof *v);
        memcpy(moved, q, (size_t)n * sizeof *q);
        kick.q = moved;
        worst = taut_evaluate_pull(context, 0.3, moved, NULL, &values, &kick) ? 0 : NAN;
        for (taut_index i = 0; i < n; i++) {
            const double half = 0.25 * force[i] * inverse[i], right = old[i] + half + half;
            worst = fmax(worst, fabs(v[i] - right) + fabs(moved[i] - q[i] - 0.5 * right));
        }
        check_below(name, worst, 1e-11);
    }
    double *all[] = {a, lambda, v, old, inverse, moved};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
}

enum { NONE, FAMILY, DISTANCES };

/* family: points of one family are kicked with the forces; whether it has distances. */
static void compare_pull(const char *text, const char *name, int family)
{
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_error error = {0};
    taut_load how = {.size = sizeof how};
    int code = taut_system_parse(text, strlen(text), name, &how, &system, &error);
    if (code == 0)
        code = taut_context_create(system, NULL, &context, &error);
    if (!check_row(code == 0, "%s: %s", name, error.message))
        return;
    taut_sizes sizes;
    taut_pattern g;
    taut_system_sizes(system, &sizes);
    taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &g, &error);
    taut_index n = sizes.coordinates, m = sizes.bonds;
    double *q = numbers(n), *v = numbers(n), *force = numbers(n), *tension = numbers(m), worst = 0;
    taut_values values = {.force = numbers(n),
                          .bond = numbers(m),
                          .bond_dt = numbers(m),
                          .jacobian = numbers(sizes.jacobian_entries)},
                pulled = {.force = force, .bond = tension};
    taut_context_start(context, 0, q, v, &error);
    for (taut_index i = 0; i < n; i++)
        q[i] += 0.1 * number();
    compare_columns(context, &g, q, v, name);
    code = taut_evaluate_inside(
        context, 0.3, q, v, TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, &error);
    check_row(code == 0 && taut_evaluate_pull(context, 0.3, q, v, &pulled, NULL), "%s: %s", name,
              error.message);
    for (taut_index i = 0; i < m; i++) {
        double lambda = values.bond[i] / taut_context_compliance(context)[i];
        worst = fmax(worst, fabs(lambda - tension[i]));
        for (taut_index e = g.start[i]; e < g.start[i + 1]; e++)
            values.force[g.column[e]] -= values.jacobian[e] * lambda;
    }
    for (taut_index i = 0; i < n; i++)
        worst = fmax(worst, fabs(values.force[i] - force[i]));
    check_below(name, worst, 1e-11); /* forces of several hundred */
    compare_kick(system, context, q, force, tension, family != NONE, name);
    bool distances = false;
    for (int32_t k = 0; k < system->kernels; k++)
        distances =
            distances || (system->kernel[k]->family && system->kernel[k]->family->is_distance);
    check_row(distances == (family == DISTANCES), "%s: distances %d", name, distances);
    q[1] = NAN;
    check_row(!taut_evaluate_pull(context, 0.3, q, v, &pulled, NULL), "%s: NaN is not seen", name);
    taut_kick kick = {.h = 0.25, .v = v};
    check_row(!taut_evaluate_pull(context, 0.3, q, NULL, &pulled, &kick), "%s: NaN, kicked", name);
    double *all[] = {
        q, v, force, tension, values.force, values.bond, values.bond_dt, values.jacobian};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

#define HEAD                                                                                       \
    "[parameters]\nN = 300\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1 + i/N\n"       \
    "[potential]\nsum(bob[i].y + 0.1*bob[i].x^2 for i in 1..N)\n[start]\nbob[i] = (i, 0) for i "   \
    "in 1..N\n[bonds]\n"

/* Another number of links, so that blocks end elsewhere. */
#define HEAVY(dimension)                                                                           \
    "[parameters]\nN = 573\nL[i] = 1 + i/N for i in 1..N\n[particles]\ndimension = " #dimension    \
    "\nbob[i] for i in 1..N mass 1\n[potential]\nsum(bob[i].y for i in 1..N)\n[start]\nbob[i].x "  \
    "= "                                                                                           \
    "i for i in 1..N\n[bonds]\n"

static void test_pull(void)
{
    check_group("springs");
    compare_pull(HEAD "a[1] = length(bob[1]) - 1 stiffness 9\n"
                      "a[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 4 + i/N\n",
                 "chain", DISTANCES);
    compare_pull(HEAVY(2) "a[1] = length(bob[1]) - 1 stiffness 9\n"
                          "a[i] = length(bob[i] - bob[i-1]) - L[i]*cos(t) for i in 2..N stiffness "
                          "4\n[forces]\nbob[1].x = 3*sin(t)\n",
                 "chain, forces at its end", FAMILY);
    compare_pull(HEAVY(2) "a[i] = length(bob[i] - bob[i-1]) - L[i] for i in 2..N stiffness 4\n"
                          "[forces]\nbob[77].y = -bob[77].y\n",
                 "chain, a force inside", FAMILY);
    compare_pull(HEAVY(3) "a[i] = length(bob[i] - bob[i-1]) - L[i] for i in 2..N stiffness 4\n",
                 "chain in space", FAMILY);
    compare_pull(HEAVY(2) "a[i] = length(bob[i-1] - bob[i]) - L[3] for i in 2..N stiffness i\n",
                 "distances in a plane", DISTANCES);
    compare_pull(HEAVY(3) "a[i] = length(bob[i] - bob[i-3]) - 3.25 for i in 4..N stiffness i\n",
                 "distances in space", DISTANCES);
    compare_pull(HEAVY(2) "a[i] = length(bob[i] - 2*bob[i-1] + bob[i-2]) - 1 for i in 3..N "
                          "stiffness 4\nb[i] = bob[i].x - bob[i-1].x - 1 for i in 2..40 "
                          "stiffness 3\n",
                 "bends", FAMILY);
    compare_pull("[parameters]\nN = 301\n[coordinates]\nx[i] for i in 1..N\n[start]\nx[i] = i for "
                 "i in 1..N\n[bonds]\na[i] = exp(x[i]/N) - x[i-1] for i in 2..N stiffness 4\n",
                 "a line", FAMILY);
    compare_pull("[parameters]\nN = 40\n[coordinates]\nx[i] for i in 1..N\n[start]\nx[i] = i for "
                 "i in 1..N\n[bonds]\na[i] = x[i]^2 - i for i in 1..N stiffness 4\n",
                 "points of their own", FAMILY);
    compare_pull(HEAD "a[i] = length(bob[i] - bob[N+1-i]) - 1 for i in 1..N/2 stiffness 4\n"
                      "b[i] = bob[i].x*bob[i+2].y - 1 for i in 1..N-2 stiffness 2\n"
                      "c[i] = length(bob[2*i] - bob[1]) - i for i in 1..N/2 stiffness 2 + t^2\n",
                 "several families", FAMILY);
    compare_pull(HEAD "a[i] = length(bob[i] - bob[N+1-i]) - 1 for i in 1..N/2 stiffness 4\n",
                 "no family", NONE);
}

/* ---- the bound in place of a spectrum */

static void test_bound(void)
{
    static const char text[] =
        "[parameters]\nN = 300\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n[bonds]\n"
        "a[1] = length(bob[1]) - 1 stiffness 100\n"
        "a[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 100\n"
        "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1\nmotion = full\n"
        "method = verlet\n";
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    taut_load how = {.size = sizeof how};
    check_group("bound");
    int code = taut_system_parse(text, strlen(text), "bound", &how, &system, &error);
    if (code == 0)
        code = taut_options_create(NULL, &options, &error);
    if (!check_row(code == 0, "%s", error.message))
        return;
    /* the fastest frequency of the straight chain is just below 2 sqrt(k/m) = 20 */
    static const struct {
        const char *step, *text;
    } rows[] = {{"0.01", "at least 31.4 steps in the period of each spring (omega <= 20)"},
                {"0.2", "step 0.2 is unstable"}};
    for (int k = 0; k < 2; k++) {
        taut_options_set(options, "step", rows[k].step, &error);
        code = taut_solver_create(system, options, NULL, &solver, &error);
        check_equal("status", code, k == 0 ? 0 : TAUT_ERROR_STEP);
        check_contains("text", code ? error.message : taut_solver_explanation(solver),
                       rows[k].text);
        taut_solver_destroy(solver);
        solver = NULL;
    }
    taut_options_destroy(options);
    taut_system_destroy(system);
}

int main(void)
{
    test_segments();
    test_groups();
    test_refusals();
    test_products();
    test_saddles();
    test_pull();
    test_bound();
    return check_done();
}
