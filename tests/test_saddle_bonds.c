/* test_saddle_bonds.c - corrections onto bonds: K x + G1^T y = 0 and G2 x - D y = s hold, for
 * every backend and form. */
#include "linalg/saddle_bonds.h"
#include "support/table.h"

enum { N = 40, M = 19, PER_ROW = 4 };

/* Numbers in (-1, 1) that need no library. */
static double number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

typedef struct problem {
    taut_index g_start[M + 1], g_column[M * PER_ROW], k_start[N + 1], k_column[2 * N];
    double k[2 * N], g1[M * PER_ROW], g2[M * PER_ROW], d[M], s[M];
} problem;

/* Bond i joins coordinates 2i .. 2i+3; K is diagonal, or has one entry more in each row. */
static void fill(problem *p, bool matrix)
{
    unsigned seed = 7;
    taut_index used = 0;
    for (taut_index i = 0; i < M; i++) {
        p->g_start[i + 1] = (i + 1) * PER_ROW;
        p->d[i] = i % 3 == 0 ? 0.5 + number(&seed) / 4 : 0;
        p->s[i] = number(&seed);
        for (int e = 0; e < PER_ROW; e++) {
            p->g_column[i * PER_ROW + e] = 2 * i + e;
            p->g1[i * PER_ROW + e] = number(&seed);
            p->g2[i * PER_ROW + e] = p->g1[i * PER_ROW + e] * (1 + 0.1 * number(&seed));
        }
    }
    for (taut_index j = 0; j < N; j++) {
        p->k_column[used] = j;
        p->k[used++] = 2 + number(&seed);
        if (matrix) {
            p->k_column[used] = (j + 1) % N;
            p->k[used++] = number(&seed) / 4;
        }
        p->k_start[j + 1] = used;
    }
}

/* The largest residual of both equations, formed from the values themselves. */
static double residual(const problem *p, const double *g2, const double *d, const double *x,
                       const double *y)
{
    double upper[N] = {0}, worst = 0;
    for (taut_index j = 0; j < N; j++)
        for (taut_index e = p->k_start[j]; e < p->k_start[j + 1]; e++)
            upper[j] += p->k[e] * x[p->k_column[e]];
    for (taut_index i = 0; i < M; i++) {
        double lower = -p->s[i] - (d ? d[i] * y[i] : 0);
        for (taut_index e = p->g_start[i]; e < p->g_start[i + 1]; e++) {
            upper[p->g_column[e]] += p->g1[e] * y[i];
            lower += g2[e] * x[p->g_column[e]];
        }
        worst = fmax(worst, isnan(lower) ? INFINITY : fabs(lower));
    }
    for (taut_index j = 0; j < N; j++)
        worst = fmax(worst, isnan(upper[j]) ? INFINITY : fabs(upper[j]));
    return worst;
}

static void test_one(taut_backend backend, bool matrix, bool symmetric, bool compliant)
{
    static problem p;
    double x[N], y[M];
    taut_saddle *saddle = NULL;
    taut_error error = {0};
    p = (problem){0};
    fill(&p, matrix);
    taut_saddle_shape shape = {.n = N,
                               .m = M,
                               .k_start = matrix ? p.k_start : NULL,
                               .k_column = matrix ? p.k_column : NULL,
                               .g_start = p.g_start,
                               .g_column = p.g_column,
                               .symmetric = symmetric && !matrix,
                               .positive = !matrix};
    const double *g2 = symmetric ? p.g1 : p.g2, *d = compliant ? p.d : NULL;
    int code = taut_saddle_create(&shape, backend, NULL, &saddle, &error);
    if (code == 0)
        code = taut_saddle_factor(saddle, p.k, p.g1, g2, d, &error);
    for (int j = 0; j < N; j++)
        x[j] = NAN; /* it is written only */
    memcpy(y, p.s, sizeof y);
    if (code == 0)
        code = taut_saddle_solve_bonds(saddle, x, y, &error);
    double off = code == 0 ? residual(&p, g2, d, x, y) : INFINITY;
    check_row(off < 1e-11, "%s, %s, %s, %s: residual %.3g %s", taut_backend_name(backend),
              matrix ? "matrix" : "diagonal", symmetric ? "G1 = G2" : "G1 and G2",
              compliant ? "with D" : "without", off, error.message);
    taut_saddle_destroy(saddle);
}

int main(void)
{
    check_group("corrections onto bonds");
    for (int backend = TAUT_BACKEND_AUTO; backend < TAUT_BACKEND_COUNT; backend++)
        for (int k = 0; k < 8; k++)
            if (backend != TAUT_BACKEND_TINY && taut_backend_available((taut_backend)backend))
                test_one((taut_backend)backend, k & 1, k & 2, k & 4);

    /* without a factorisation there is nothing to solve with */
    taut_index start[2] = {0, 1}, column[1] = {0};
    taut_saddle_shape shape = {
        .n = 1, .m = 1, .g_start = start, .g_column = column, .symmetric = true, .positive = true};
    taut_saddle *saddle = NULL;
    taut_error error = {0};
    double x[1], y[1] = {1}, k[1] = {2}, g[1] = {4};
    check_equal("create", taut_saddle_create(&shape, TAUT_BACKEND_AUTO, NULL, &saddle, &error), 0);
    check_equal("not factored", taut_saddle_solve_bonds(saddle, x, y, &error), TAUT_ERROR_USAGE);
    check_equal("factor", taut_saddle_factor(saddle, k, g, NULL, NULL, &error), 0);
    y[0] = 1;
    check_equal("solve", taut_saddle_solve_bonds(saddle, x, y, &error), 0);
    check_near("x", x[0], 0.25, 1e-15); /* 4 x = 1, 2 x + 4 y = 0 */
    check_near("y", y[0], -0.125, 1e-15);
    taut_saddle_destroy(saddle);
    return check_done();
}
