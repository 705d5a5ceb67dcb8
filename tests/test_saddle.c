/* test_saddle.c - every backend on the same saddle systems, generic right-hand sides; residuals
 * are computed here, from the values. */
#include <complex.h>

#include "linalg/saddle.h"
#include "support/faulty.h"
#include "support/table.h"

enum { LARGEST_K = 40000, LARGEST_G = 20000, SIDES = 3 };

/* A system in complex numbers; real solvers get the real parts. */
typedef struct problem {
    char name[80];
    taut_index n, m;
    bool diagonal, positive, symmetric, complex_values, compliant;
    double tolerance;
    taut_index k_start[4001], k_column[LARGEST_K], g_start[4001], g_column[LARGEST_G];
    double complex k[LARGEST_K], g1[LARGEST_G], g2[LARGEST_G], d[4000];
} problem;

static uint64_t seed;

/* Uniform in (-1, 1): a 64-bit linear congruential generator (Knuth's multiplier), upper bits. */
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static double complex number(const problem *p)
{
    double real = uniform();
    return p->complex_values ? real + I * uniform() : real;
}

static void begin(problem *p, const char *name, taut_index n, taut_index m, bool symmetric,
                  bool complex_values)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s n=%d m=%d %s %s", name, n, m,
             symmetric ? "symmetric" : "general", complex_values ? "complex" : "real");
    p->n = n;
    p->m = m;
    p->symmetric = symmetric;
    p->complex_values = complex_values;
    p->tolerance = 1e-13;
}

/* K = diagonal masses in (0.5, 1.5). */
static void diagonal_mass(problem *p, double unit)
{
    p->diagonal = p->positive = true;
    for (taut_index i = 0; i < p->n; i++)
        p->k[i] = unit * (1 + 0.5 * uniform()) * (p->complex_values ? 1 + 0.3 * I : 1);
}

/* K with `reach` neighbours on each side, rows dominated by the diagonal; symmetric if the
 * problem is. */
static void band_mass(problem *p, taut_index reach)
{
    taut_index count = 0;
    for (taut_index i = 0; i < p->n; i++) {
        for (taut_index j = i - reach < 0 ? 0 : i - reach; j <= i + reach && j < p->n; j++) {
            p->k_column[count] = j;
            p->k[count] = number(p) * 0.3 + (i == j ? 3 + reach : 0);
            for (taut_index e = p->k_start[j]; p->symmetric && j < i && e < p->k_start[j + 1]; e++)
                if (p->k_column[e] == i)
                    p->k[count] = p->k[e];
            count++;
        }
        p->k_start[i + 1] = count;
    }
    p->positive = p->symmetric && !p->complex_values;
}

static void add_entry(problem *p, taut_index row, taut_index column)
{
    taut_index e = p->g_start[row + 1]++;
    p->g_column[e] = column;
    p->g1[e] = number(p);
    p->g2[e] = p->symmetric ? p->g1[e] : p->g1[e] * (1 + 0.2 * number(p));
}

static void next_row(problem *p, taut_index row)
{
    p->g_start[row + 1] = p->g_start[row];
}

/* Bond i between the plane nodes i-1 and i of a chain fixed at node -1; shuffled numbers when
 * `shuffle`. */
static void chain(problem *p, bool shuffle)
{
    static taut_index bond[4000], node[4000];
    for (taut_index i = 0; i < p->m; i++)
        bond[i] = node[i] = i;
    for (taut_index i = p->m - 1; shuffle && i > 0; i--) {
        taut_index a = (taut_index)((uniform() + 1) / 2 * (i + 1)),
                   b = (taut_index)((uniform() + 1) / 2 * (i + 1)), held;
        held = bond[i], bond[i] = bond[a], bond[a] = held;
        held = node[i], node[i] = node[b], node[b] = held;
    }
    for (taut_index i = 0; i < p->m; i++) {
        next_row(p, i);
        for (int c = 0; c < 2; c++) {
            add_entry(p, i, 2 * node[bond[i]] + c);
            if (bond[i] > 0)
                add_entry(p, i, 2 * node[bond[i] - 1] + c);
        }
    }
}

/* Rows of `length` random columns, which may repeat. */
static void scattered(problem *p, int length)
{
    for (taut_index i = 0; i < p->m; i++) {
        next_row(p, i);
        add_entry(p, i, i % p->n);
        for (int c = 1; c < length; c++)
            add_entry(p, i, (taut_index)((uniform() + 1) / 2 * p->n) % p->n);
    }
}

/* A square net of w x w plane nodes. */
static void net(problem *p, taut_index w)
{
    taut_index row = 0;
    for (taut_index i = 0; i < w; i++)
        for (taut_index j = 0; j < w; j++)
            for (int side = 0; side < 2; side++) {
                if ((side ? j : i) == 0)
                    continue;
                taut_index a = i * w + j, b = side ? a - 1 : a - w;
                next_row(p, row);
                for (int c = 0; c < 2; c++) {
                    add_entry(p, row, 2 * a + c);
                    add_entry(p, row, 2 * b + c);
                }
                row++;
            }
}

static void compliance(problem *p, double unit)
{
    p->compliant = true;
    for (taut_index i = 0; i < p->m; i++)
        p->d[i] = unit * (i % 3 ? fabs(uniform()) : 0) * (p->complex_values ? 1 + 0.5 * I : 1);
    snprintf(p->name + strlen(p->name), sizeof p->name - strlen(p->name), " d=%g", unit);
}

static taut_saddle_shape shape_of(const problem *p)
{
    return (taut_saddle_shape){.n = p->n,
                               .m = p->m,
                               .k_start = p->diagonal ? NULL : p->k_start,
                               .k_column = p->diagonal ? NULL : p->k_column,
                               .g_start = p->g_start,
                               .g_column = p->g_column,
                               .complex_values = p->complex_values,
                               .symmetric = p->symmetric,
                               .positive = p->positive};
}

/* |K x + G1^T y - r| and |G2 x - D y - s|, largest entries, each relative to the largest sum of
 * the sizes of a row's terms. */
static double residual(const problem *p, const double complex *x, const double complex *y,
                       const double complex *r, const double complex *s)
{
    static double complex left[8000];
    static double size[8000];
    const taut_index n = p->n, m = p->m;
    for (taut_index i = 0; i < n + m; i++) {
        left[i] = i < n ? -r[i] : -s[i - n];
        size[i] = cabs(left[i]);
    }
    for (taut_index i = 0; i < n; i++)
        for (taut_index e = p->diagonal ? i : p->k_start[i];
             e < (p->diagonal ? i + 1 : p->k_start[i + 1]); e++) {
            double complex term = p->k[e] * x[p->diagonal ? i : p->k_column[e]];
            left[i] += term;
            size[i] += cabs(term);
        }
    for (taut_index i = 0; i < m; i++) {
        for (taut_index e = p->g_start[i]; e < p->g_start[i + 1]; e++) {
            taut_index j = p->g_column[e];
            left[j] += p->g1[e] * y[i];
            size[j] += cabs(p->g1[e] * y[i]);
            left[n + i] += p->g2[e] * x[j];
            size[n + i] += cabs(p->g2[e] * x[j]);
        }
        left[n + i] -= p->d[i] * y[i];
        size[n + i] += cabs(p->d[i] * y[i]);
    }
    double off[2] = {0, 0}, unit[2] = {0, 0};
    for (taut_index i = 0; i < n + m; i++) {
        if (isnan(cabs(left[i])))
            return INFINITY;
        off[i >= n] = fmax(off[i >= n], cabs(left[i]));
        unit[i >= n] = fmax(unit[i >= n], size[i]);
    }
    return fmax(n ? off[0] / unit[0] : 0, m ? off[1] / unit[1] : 0);
}

static int factor(taut_saddle *saddle, const problem *p, taut_error *error)
{
    static double k[LARGEST_K], g1[LARGEST_G], g2[LARGEST_G], d[4000];
    if (p->complex_values)
        return taut_saddle_factor_complex(saddle, p->k, p->g1, p->symmetric ? NULL : p->g2,
                                          p->compliant ? p->d : NULL, error);
    for (int e = 0; e < LARGEST_K; e++)
        k[e] = creal(p->k[e]);
    for (int e = 0; e < LARGEST_G; e++)
        g1[e] = creal(p->g1[e]), g2[e] = creal(p->g2[e]);
    for (int i = 0; i < 4000; i++)
        d[i] = creal(p->d[i]);
    return taut_saddle_factor(saddle, k, g1, p->symmetric ? NULL : g2, p->compliant ? d : NULL,
                              error);
}

static int solve(taut_saddle *saddle, const problem *p, double complex *x, double complex *y,
                 taut_error *error)
{
    static double real_x[SIDES * 4000], real_y[SIDES * 4000];
    if (p->complex_values)
        return taut_saddle_solve_complex(saddle, SIDES, x, y, error);
    for (int i = 0; i < SIDES * p->n; i++)
        real_x[i] = creal(x[i]);
    for (int i = 0; i < SIDES * p->m; i++)
        real_y[i] = creal(y[i]);
    int status = taut_saddle_solve(saddle, SIDES, real_x, real_y, error);
    for (int i = 0; i < SIDES * p->n; i++)
        x[i] = real_x[i];
    for (int i = 0; i < SIDES * p->m; i++)
        y[i] = real_y[i];
    return status;
}

/* Factor twice (the second time with other values), several right-hand sides each. */
static void run(problem *p, taut_backend backend)
{
    static double complex x[SIDES * 4000], y[SIDES * 4000], r[SIDES * 4000], s[SIDES * 4000];
    taut_saddle_shape shape = shape_of(p);
    taut_saddle *saddle = NULL;
    taut_error error;
    taut_error_clear(&error);
    int status = taut_saddle_create(&shape, backend, NULL, &saddle, &error);
    if (!check_row(status == 0, "%s, %s: create gave %d, %s", p->name, taut_backend_name(backend),
                   status, error.message))
        return;
    double worst = 0;
    for (int round = 0; round < 2 && status == 0; round++) {
        status = factor(saddle, p, &error);
        for (int i = 0; i < SIDES * p->n; i++)
            x[i] = r[i] = number(p);
        for (int i = 0; i < SIDES * p->m; i++)
            y[i] = s[i] = number(p);
        if (status == 0)
            status = solve(saddle, p, x, y, &error);
        for (int k = 0; k < SIDES && status == 0; k++)
            worst =
                fmax(worst, residual(p, x + k * p->n, y + k * p->m, r + k * p->n, s + k * p->m));
        for (taut_index e = 0; e < p->g_start[p->m]; e++) { /* other values, same pattern */
            p->g1[e] *= 1.25;
            p->g2[e] = p->symmetric ? p->g1[e] : p->g2[e] * 0.75;
        }
    }
    check_row(status == 0 && worst <= p->tolerance,
              "%s, %s (%s): status %d %s, residual %.3g, limit %.3g", p->name,
              taut_backend_name(backend), taut_saddle_structure(saddle), status, error.message,
              worst, p->tolerance);
    taut_saddle_destroy(saddle);
}

static void run_all(problem *p)
{
    for (int backend = TAUT_BACKEND_AUTO; backend < TAUT_BACKEND_COUNT; backend++) {
        bool small = p->diagonal && p->positive ? p->m <= 16 : p->n + p->m <= 16;
        if (taut_backend_available((taut_backend)backend) &&
            (backend != TAUT_BACKEND_TINY || small))
            run(p, (taut_backend)backend);
    }
}

static problem p; /* large: not on the stack */

static void regular_systems(bool symmetric, bool complex_values)
{
    static const taut_index links[] = {1, 2, 8, 20, 150};
    for (int k = 0; k < 5; k++)
        for (int compliant = 0; compliant < 2; compliant++)
            for (int shuffle = 0; shuffle < 2; shuffle++) {
                begin(&p, shuffle ? "shuffled chain" : "chain", 2 * links[k], links[k], symmetric,
                      complex_values);
                diagonal_mass(&p, 1);
                chain(&p, shuffle);
                if (compliant)
                    compliance(&p, 1e-3);
                run_all(&p);
                begin(&p, shuffle ? "shuffled chain, K" : "chain, K", 2 * links[k], links[k],
                      symmetric, complex_values);
                band_mass(&p, 2);
                chain(&p, shuffle);
                if (compliant)
                    compliance(&p, 2);
                run_all(&p);
            }
    for (taut_index n = 5; n <= 60; n += 11) {
        begin(&p, "scattered", n, n / 2, symmetric, complex_values);
        diagonal_mass(&p, 1);
        scattered(&p, 5);
        run_all(&p);
        begin(&p, "scattered, K", n, n / 2, symmetric, complex_values);
        band_mass(&p, 1);
        scattered(&p, 5);
        compliance(&p, 0.1);
        run_all(&p);
    }
    begin(&p, "net", 2 * 100, 180, symmetric, complex_values);
    diagonal_mass(&p, 1);
    net(&p, 10);
    run_all(&p);
    begin(&p, "net, K", 2 * 100, 180, symmetric, complex_values);
    band_mass(&p, 1);
    net(&p, 10);
    run_all(&p);
}

/* A hub in every bond, tiny masses, stiff springs, no bonds, no coordinates. */
static void special_systems(bool symmetric, bool complex_values)
{
    begin(&p, "star", 101, 100, symmetric, complex_values);
    diagonal_mass(&p, 1);
    for (taut_index i = 0; i < 100; i++) {
        next_row(&p, i);
        add_entry(&p, i, 0);
        add_entry(&p, i, i + 1);
    }
    p.tolerance = 2e-12; /* the hub dominates A: forming it costs a digit */
    run_all(&p);
    begin(&p, "masses 1e-26", 20, 10, symmetric, complex_values);
    diagonal_mass(&p, 1e-26);
    chain(&p, true);
    run_all(&p);
    begin(&p, "masses 1e20", 20, 10, symmetric, complex_values);
    diagonal_mass(&p, 1e20);
    chain(&p, true);
    compliance(&p, 1e-22);
    run_all(&p);
    begin(&p, "no bonds", 12, 0, symmetric, complex_values);
    diagonal_mass(&p, 1);
    run_all(&p);
    begin(&p, "no bonds, K", 30, 0, symmetric, complex_values);
    band_mass(&p, 3);
    run_all(&p);
    begin(&p, "no coordinates", 0, 7, symmetric, complex_values);
    p.diagonal = p.positive = true;
    for (taut_index i = 0; i < 7; i++) {
        next_row(&p, i);
        p.d[i] = 1 + i;
    }
    p.compliant = true;
    run_all(&p);
    begin(&p, "nothing", 0, 0, symmetric, complex_values);
    p.diagonal = p.positive = true;
    run_all(&p);
}

/* K singular, the saddle matrix regular: massless coordinates (diagonal and stored), and a
 * quaternion's mass matrix of rank 3. */
static void singular_masses(bool symmetric, bool complex_values)
{
    begin(&p, "massless end, diagonal K", 40, 20, symmetric, complex_values);
    diagonal_mass(&p, 1);
    p.positive = false;
    chain(&p, true);
    p.k[7] = p.k[22] = 0;
    run_all(&p);
    for (taut_index bodies = 1; bodies <= 50; bodies += 7) {
        begin(&p, "quaternions", 4 * bodies, bodies, symmetric, complex_values);
        taut_index count = 0;
        for (taut_index b = 0; b < bodies; b++) {
            double q[4], square = 0;
            for (int c = 0; c < 4; c++) {
                q[c] = uniform();
                square += q[c] * q[c];
            }
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) {
                    p.k_column[count] = 4 * b + j;
                    p.k[count++] = (i == j) - q[i] * q[j] / square; /* K q = 0 */
                }
                p.k_start[4 * b + i + 1] = count;
            }
            next_row(&p, b);
            for (int c = 0; c < 4; c++) {
                add_entry(&p, b, 4 * b + c);
                p.g1[p.g_start[b + 1] - 1] = p.g2[p.g_start[b + 1] - 1] = 2 * q[c];
            }
        }
        run_all(&p);
    }
}

/* Singular systems are refused with a sentence that names the bond or coordinate; not-finite
 * values are named as such. */
static void refusals(taut_backend backend)
{
    taut_error error;
    taut_saddle *saddle = NULL;
    taut_saddle_shape shape;
    for (int variant = 0; variant < 5; variant++) {
        begin(&p, "refused", 20, 10, variant != 1, false);
        if (variant == 2)
            band_mass(&p, 1);
        else
            diagonal_mass(&p, 1);
        chain(&p, false);
        if (variant < 3) /* bond 6 repeats bond 5 */
            for (int c = 0; c < 4; c++) {
                taut_index e = p.g_start[5] + c, f = p.g_start[4] + c;
                p.g_column[e] = p.g_column[f];
                p.g1[e] = 3 * p.g1[f];
                p.g2[e] = 3 * p.g2[f];
            }
        if (variant == 3)
            p.g1[7] = NAN;
        if (variant == 4)
            p.positive = false,
            p.k[19] = p.k[18] =
                0; /* the free end: bond 10 alone cannot hold two massless coordinates */
        shape = shape_of(&p);
        taut_error_clear(&error);
        int status = taut_saddle_create(&shape, backend, NULL, &saddle, &error);
        if (status == 0)
            status = factor(saddle, &p, &error);
        int expected = variant == 3 ? TAUT_ERROR_EVALUATE : TAUT_ERROR_SINGULAR;
        check_row(status == expected && error.code == expected,
                  "%s, variant %d: status %d, expected %d, %s", taut_backend_name(backend), variant,
                  status, expected, error.message);
        if (variant == 0 && (backend == TAUT_BACKEND_TINY || backend == TAUT_BACKEND_DENSE))
            check_contains("the repeated bond is named", error.message, "bond 6");
        check_equal("no solve after a failed factor",
                    taut_saddle_solve(saddle, 1, (double[20]){0}, (double[10]){0}, &error),
                    TAUT_ERROR_USAGE);
        taut_saddle_destroy(saddle);
        saddle = NULL;
    }
}

static void misuse(void)
{
    taut_error error;
    taut_saddle *saddle = NULL;
    begin(&p, "misuse", 20, 10, true, false);
    diagonal_mass(&p, 1);
    chain(&p, false);
    taut_saddle_shape shape = shape_of(&p);
    double complex k[20], g[40] = {0};
    double g1[40] = {0}, g2[40] = {0}, mass[20];
    for (int i = 0; i < 20; i++)
        k[i] = mass[i] = 1;
    check_equal("create", taut_saddle_create(&shape, TAUT_BACKEND_AUTO, NULL, &saddle, &error), 0);
    check_equal("solve before factor", taut_saddle_solve(saddle, 1, mass, g1, &error),
                TAUT_ERROR_USAGE);
    check_equal("complex values for a real solver",
                taut_saddle_factor_complex(saddle, k, g, NULL, NULL, &error), TAUT_ERROR_USAGE);
    check_equal("two G for a symmetric solver",
                taut_saddle_factor(saddle, mass, g1, g2, NULL, &error), TAUT_ERROR_USAGE);
    taut_saddle_destroy(saddle);
    p.g_column[3] = 20;
    check_equal("a column out of range",
                taut_saddle_create(&shape, TAUT_BACKEND_AUTO, NULL, &saddle, &error),
                TAUT_ERROR_USAGE);
    p.g_column[3] = 0;
    shape.positive = false;
    check_equal("tiny is refused",
                taut_saddle_create(&shape, TAUT_BACKEND_TINY, NULL, &saddle, &error),
                TAUT_ERROR_USAGE);
    check_row(saddle == NULL, "nothing is created");
    check_equal("no such backend",
                taut_saddle_create(&shape, TAUT_BACKEND_COUNT, NULL, &saddle, &error),
                TAUT_ERROR_USAGE);
    taut_saddle_destroy(NULL);
}

/* Counts blocks, and fails at a given call. */
static void memory(taut_backend backend, bool stored_mass)
{
    taut_error error;
    faulty c = {0};
    taut_allocator allocator = faulty_allocator(&c);
    static double complex x[SIDES * 600], y[SIDES * 300];
    taut_index links = backend == TAUT_BACKEND_TINY ? 4 : 300;
    begin(&p, "memory", 2 * links, links, !stored_mass, false);
    if (stored_mass)
        band_mass(&p, 2);
    else
        diagonal_mass(&p, 1);
    chain(&p, true);
    taut_saddle_shape shape = shape_of(&p);
    for (int fail_at = 1; fail_at < 200; fail_at++) {
        taut_saddle *saddle = NULL;
        c = (faulty){.fail = fail_at};
        int status = taut_saddle_create(&shape, backend, &allocator, &saddle, &error);
        if (status == 0) {
            int64_t before = c.calls;
            check_equal("factor", factor(saddle, &p, &error), 0);
            check_equal("solve", solve(saddle, &p, x, y, &error), 0);
            check_equal("allocations in factor and solve", c.calls - before, 0);
            taut_saddle_destroy(saddle);
            check_row(c.live == 0, "%s: %lld blocks left after destroy", taut_backend_name(backend),
                      (long long)c.live);
            check_row(fail_at > 2, "%s: only %d allocations seen", taut_backend_name(backend),
                      fail_at - 1);
            return;
        }
        check_row(status == TAUT_ERROR_MEMORY && c.live == 0 && !saddle,
                  "%s, allocation %d fails: status %d, %lld blocks left",
                  taut_backend_name(backend), fail_at, status, (long long)c.live);
    }
    check_row(false, "%s: never succeeded", taut_backend_name(backend));
}

static void expect_choice(const char *what, taut_backend expected, const char *part)
{
    taut_error error;
    taut_saddle *saddle = NULL;
    taut_saddle_shape shape = shape_of(&p);
    check_equal(what, taut_saddle_create(&shape, TAUT_BACKEND_AUTO, NULL, &saddle, &error), 0);
    check_row(saddle && taut_saddle_backend(saddle) == expected, "%s: chose %s, expected %s", what,
              saddle ? taut_saddle_structure(saddle) : "nothing", taut_backend_name(expected));
    if (part)
        check_contains(what, saddle ? taut_saddle_structure(saddle) : "", part);
    taut_saddle_destroy(saddle);
}

static void choices(void)
{
    begin(&p, "double pendulum", 4, 2, true, false);
    diagonal_mass(&p, 1);
    chain(&p, false);
    expect_choice("double pendulum", TAUT_BACKEND_TINY, "A, 2 rows");
    begin(&p, "long chain", 4000, 2000, true, false);
    diagonal_mass(&p, 1);
    chain(&p, false);
    expect_choice("long chain", TAUT_BACKEND_BANDED, "half-width 1, 2000 rows");
    begin(&p, "shuffled chain", 4000, 2000, true, false);
    diagonal_mass(&p, 1);
    chain(&p, true);
    expect_choice("shuffled chain", TAUT_BACKEND_BANDED,
                  "half-width 1 after reordering, 2000 rows");
    begin(&p, "scattered", 100, 60, false, false);
    diagonal_mass(&p, 1);
    scattered(&p, 8);
    expect_choice("scattered", TAUT_BACKEND_DENSE, NULL);
    begin(&p, "large scattered", 3500, 1500, true, false);
    diagonal_mass(&p, 1);
    scattered(&p, 8);
    expect_choice("large scattered", TAUT_BACKEND_SPARSE, "A, no narrow band");
    begin(&p, "net", 2 * 40 * 40, 2 * 40 * 39, true, false);
    diagonal_mass(&p, 1);
    net(&p, 40);
    expect_choice("net", TAUT_BACKEND_SPARSE, "A, no narrow band");
    /* A would be full: one coordinate has all bonds */
    begin(&p, "star", 1501, 1500, true, false);
    diagonal_mass(&p, 1);
    for (taut_index i = 0; i < p.m; i++) {
        next_row(&p, i);
        add_entry(&p, i, 0);
        add_entry(&p, i, i + 1);
    }
    if (taut_backend_available(TAUT_BACKEND_SPARSE))
        expect_choice("star", TAUT_BACKEND_SPARSE, "saddle matrix, no narrow band");
    check_row(!strcmp(taut_backend_name(TAUT_BACKEND_BANDED), "banded"),
              "name of the banded backend");
}

int main(void)
{
    for (int symmetric = 0; symmetric < 2; symmetric++)
        for (int complex_values = 0; complex_values < 2; complex_values++) {
            seed = 12345;
            check_group("regular");
            regular_systems(symmetric, complex_values);
            check_group("special");
            special_systems(symmetric, complex_values);
            check_group("singular K");
            singular_masses(symmetric, complex_values);
        }
    check_group("refusals");
    for (int backend = TAUT_BACKEND_AUTO; backend < TAUT_BACKEND_COUNT; backend++)
        if (backend != TAUT_BACKEND_TINY && taut_backend_available((taut_backend)backend))
            refusals((taut_backend)backend);
    check_group("misuse");
    misuse();
    check_group("memory");
    for (int stored = 0; stored < 2; stored++)
        for (int backend = TAUT_BACKEND_AUTO; backend < TAUT_BACKEND_COUNT; backend++)
            if (taut_backend_available((taut_backend)backend))
                memory((taut_backend)backend, stored);
    check_group("choice");
    choices();
    return check_done();
}
