/* test_symmetric_band.c - saddle matrices of chains that are symmetric and not definite, real and
 * complex, stated as sums: by their residuals, where L D L^T without pivoting serves and where LU
 * has to. */
#include <complex.h>

#include "linalg/saddle.h"
#include "linalg/small_kernels.h"
#include "support/table.h"

static unsigned seed = 1;

/* In (-1, 1). */
static double number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608.0 - 1;
}

/* [K G^T; G -D] of a chain of points in the plane, K on a pattern, real or complex, stated as a
 * sum: K = diag(mass) + factor B. */
typedef struct bead_chain {
    taut_index points, k_start[402], k_column[2400], g_start[201], g_column[800];
    double mass[400], stiff[2400], g[800], d[200];
} bead_chain;

static bead_chain *chain_create(taut_index points)
{
    bead_chain *c = calloc(1, sizeof *c);
    taut_index used = 0;
    c->points = points;
    for (taut_index r = 0; r < 2 * points; r++) {
        const taut_index point = r / 2;
        for (taut_index other = point - 1; other <= point + 1; other++)
            for (taut_index axis = 0; axis < 2 && other >= 0 && other < points; axis++)
                c->k_column[used++] = 2 * other + axis;
        c->k_start[r + 1] = used;
        c->mass[r] = 1;
    }
    for (taut_index r = 0; r < 2 * points; r++)
        for (taut_index e = c->k_start[r]; e < c->k_start[r + 1]; e++) {
            const taut_index j = c->k_column[e];
            c->stiff[e] = j == r ? 1 : 0.02 * cos(3.0 * (r + j)); /* symmetric */
        }
    used = 0;
    for (taut_index i = 0; i < points; i++) { /* straight: parallel bonds */
        for (taut_index k = i > 0 ? 0 : 1; k < 2; k++) {
            c->g_column[used] = 2 * (i - 1 + k);
            c->g[used++] = k ? 1 : -1;
            c->g_column[used] = 2 * (i - 1 + k) + 1;
            c->g[used++] = k ? 1e-3 : -1e-3;
        }
        c->g_start[i + 1] = used;
        c->d[i] = 0.5;
    }
    return c;
}

/* Residual of the solution for known numbers, relative; < 0: not solved. x, y: parts. */
static double chain_off(const bead_chain *c, double complex factor, double complex divisor,
                        taut_saddle *saddle)
{
    const taut_index n = 2 * c->points, m = c->points;
    double right[2][600], solution[2][600], most = 0;
    const taut_saddle_sum sum = {.diagonal = c->mass,
                                 .parts = 1,
                                 .part = {c->stiff},
                                 .factor = {factor},
                                 .g1 = c->g,
                                 .d = c->d,
                                 .d_factor = &divisor};
    for (taut_index i = 0; i < n + m; i++)
        for (int p = 0; p < 2; p++)
            solution[p][i] = right[p][i] = number();
    if (taut_saddle_factor_sum(saddle, &sum, NULL))
        return -1;
    const bool whole = cimag(factor) != 0;
    int status =
        whole ? taut_saddle_solve_parts(saddle, (double *const[]){solution[0], solution[1]},
                                        (double *const[]){solution[0] + n, solution[1] + n}, NULL)
              : taut_saddle_solve(saddle, 1, solution[0], solution[0] + n, NULL);
    double complex left[600], x[600];
    for (taut_index i = 0; i < n + m; i++) {
        left[i] = -right[0][i] - (whole ? I * right[1][i] : 0);
        x[i] = solution[0][i] + (whole ? I * solution[1][i] : 0);
    }
    for (taut_index r = 0; r < n; r++)
        for (taut_index e = c->k_start[r]; e < c->k_start[r + 1]; e++)
            left[r] +=
                ((c->k_column[e] == r ? c->mass[r] : 0) + factor * c->stiff[e]) * x[c->k_column[e]];
    for (taut_index i = 0; i < m; i++) {
        left[n + i] -= divisor * c->d[i] * x[n + i];
        for (taut_index e = c->g_start[i]; e < c->g_start[i + 1]; e++) {
            left[c->g_column[e]] += c->g[e] * x[n + i];
            left[n + i] += c->g[e] * x[c->g_column[e]];
        }
    }
    for (taut_index i = 0; i < n + m; i++)
        most = fmax(most, cabs(left[i]) / (1 + cabs(x[i])));
    return status ? -1 : most;
}

/* Definite K, where no pivoting is needed; K that is indefinite, and singular in points, where it
 * is; and back again with the same matrix. */
static void test_symmetric(void)
{
    static const struct {
        double complex factor;
        double d;
    } rows[] = {{0.3, 0},           {0.3, 1},           {-1, 0},
                {-1.5, 0},          {0.3, 0},           {0.1 + 0.2 * I, 0},
                {-1 + 1e-9 * I, 0}, {-1 + 1e-9 * I, 1}, {0.1 - 0.2 * I, 1}};
    check_group("symmetric bands");
    bead_chain *c = chain_create(100);
    taut_saddle *saddle[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        taut_saddle_shape shape = {.n = 200,
                                   .m = 100,
                                   .k_start = c->k_start,
                                   .k_column = c->k_column,
                                   .g_start = c->g_start,
                                   .g_column = c->g_column,
                                   .complex_values = k,
                                   .symmetric = true};
        check_equal("created",
                    taut_saddle_create(&shape, TAUT_BACKEND_BANDED, NULL, &saddle[k], NULL), 0);
        check_contains("structure", taut_saddle_structure(saddle[k]), "half-width 5");
    }
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double off = chain_off(c, rows[k].factor, rows[k].d, saddle[cimag(rows[k].factor) != 0]);
        check_row(off >= 0 && off <= 1e-9, "factor %g + %g i, D %g: off by %g",
                  creal(rows[k].factor), cimag(rows[k].factor), rows[k].d, off);
    }
    for (int k = 0; k < 2; k++)
        taut_saddle_destroy(saddle[k]);
    free(c);
    /* kernels alone: a zero pivot is left to LU */
    double zero[] = {0, 1, 0, 0};
    double complex tiny[] = {1e-6, 1, 1, 0};
    check_row(!taut_band_symmetric_factor(false, 2, 1, zero, 1e-15), "a pivot of 0");
    check_row(!taut_band_symmetric_factor(true, 2, 1, tiny, 1e-15), "a pivot of 1e-6 below 1");
}

int main(void)
{
    test_symmetric();
    return check_done();
}
