/* bench_linalg.c - the saddle solver: own tiny kernels against LAPACK, and linear time on
 * chains. Rows: name | limit | value | verdict.
 *
 * Values are ratios of the best of many short timings in one run, so that other load disturbs
 * little. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "linalg/spectrum.h"

/* A bent plane chain, fixed at its first end. */
typedef struct chain {
    taut_saddle_shape shape;
    taut_index *start, *column;
    double *g, *mass, *compliance, *x, *y;
} chain;

static bool chain_create(chain *c, taut_index links, bool diagonal)
{
    size_t n = 2 * (size_t)links, entries = 4 * (size_t)links;
    c->start = malloc((n + 1) * sizeof(taut_index));
    c->column = malloc(entries * sizeof(taut_index));
    c->g = malloc(entries * sizeof(double));
    c->mass = malloc(n * sizeof(double));
    c->compliance = malloc(n * sizeof(double));
    c->x = malloc(n * sizeof(double));
    c->y = malloc(n * sizeof(double));
    if (!c->start || !c->column || !c->g || !c->mass || !c->compliance || !c->x || !c->y)
        return false;
    taut_index e = 0;
    for (taut_index i = 0; i < links; i++) {
        double angle = 0.5 * sin(0.1 * i);
        c->start[i] = e;
        for (int k = 0; k < 2; k++) {
            c->column[e] = 2 * i + k;
            c->g[e++] = k ? sin(angle) : cos(angle);
            if (i) {
                c->column[e] = 2 * i - 2 + k;
                c->g[e] = -c->g[e - 1];
                e++;
            }
        }
        c->compliance[i] = 1e-6;
    }
    c->start[links] = e;
    for (size_t j = 0; j < n; j++)
        c->mass[j] = 1 + 0.1 * (double)(j % 3);
    c->shape = (taut_saddle_shape){.n = (taut_index)n,
                                   .m = links,
                                   .g_start = c->start,
                                   .g_column = c->column,
                                   .symmetric = true,
                                   .positive = diagonal};
    return true;
}

static void chain_destroy(chain *c)
{
    free(c->start), free(c->column), free(c->g), free(c->mass), free(c->compliance), free(c->x),
        free(c->y);
}

/* Seconds of one factorisation and one solution, the best of several. */
static double factor_and_solve(chain *c, taut_backend backend, int rounds, int repeat)
{
    taut_saddle *saddle;
    taut_error error;
    double best = INFINITY;
    if (taut_saddle_create(&c->shape, backend, NULL, &saddle, &error))
        return NAN;
    for (int k = 0; k < rounds; k++) {
        for (taut_index j = 0; j < c->shape.n; j++)
            c->x[j] = 1;
        for (taut_index i = 0; i < c->shape.m; i++)
            c->y[i] = 0;
        int status = 0;
        double begin = now();
        for (int r = 0; r < repeat && status == 0; r++) {
            status = taut_saddle_factor(saddle, c->mass, c->g, NULL, NULL, &error);
            if (status == 0)
                status = taut_saddle_solve(saddle, 1, c->x, c->y, &error);
        }
        double time = (now() - begin) / repeat;
        best = status ? NAN : fmin(best, time);
    }
    taut_saddle_destroy(saddle);
    return best;
}

static void tiny_against_dense(void)
{
    for (int diagonal = 1; diagonal >= 0; diagonal--) {
        chain c;
        if (!chain_create(&c, 2, diagonal))
            return;
        double tiny = factor_and_solve(&c, TAUT_BACKEND_TINY, 200, 200),
               dense = factor_and_solve(&c, TAUT_BACKEND_DENSE, 200, 200);
        char name[120];
        snprintf(name, sizeof name,
                 "tiny against dense, 4 coordinates and 2 bonds, %s (tiny %.0f ns)",
                 diagonal ? "on A" : "whole", 1e9 * tiny);
        row(name, 1, tiny / dense);
        chain_destroy(&c);
    }
}

static void linear_time(bool diagonal)
{
    double least = INFINITY, most = 0;
    for (taut_index links = 1000; links <= 1000000; links *= 10) {
        chain c;
        if (!chain_create(&c, links, diagonal))
            return;
        int rounds = (int)(12 + 1000000 / links / 4);
        double each = factor_and_solve(&c, TAUT_BACKEND_BANDED, rounds, 1) / links;
        least = fmin(least, each);
        most = fmax(most, each);
        printf("# chain of %d links, %s: %.1f ns a link\n", links,
               diagonal ? "on A" : "whole saddle matrix", 1e9 * each);
        chain_destroy(&c);
    }
    row(diagonal ? "banded factor and solve a link, 1e3 to 1e6 links, on A"
                 : "the same on the whole saddle matrix",
        3, most / least);
}

/* What `taut check` needs of a long chain. */
static void analysis(taut_index links)
{
    chain c;
    taut_error error;
    taut_saddle *saddle;
    taut_spectrum spectrum;
    taut_index rank;
    double frequency[2];
    char name[120];
    if (!chain_create(&c, links, true))
        return;
    double begin = now();
    if (taut_saddle_create(&c.shape, TAUT_BACKEND_AUTO, NULL, &saddle, &error) == 0)
        taut_saddle_destroy(saddle);
    snprintf(name, sizeof name, "seconds to analyse a chain of %d links", links);
    row(name, 2, now() - begin);
    begin = now();
    int status = taut_rank(&c.shape, c.g, 1e-10, NULL, &rank, NULL, NULL, NULL, NULL, &error);
    snprintf(name, sizeof name, "seconds for the rank of a chain of %d links", links);
    row(name, 2, status == 0 && rank == links ? now() - begin : NAN);
    if (links <= 100000) {
        begin = now();
        status = taut_spectrum_bonds(&c.shape, c.mass, c.g, c.compliance, 1, frequency, NULL,
                                     &spectrum, NULL, &error);
        snprintf(name, sizeof name, "seconds for the extreme frequencies of a chain of %d links",
                 links);
        row(name, 1, status == 0 ? now() - begin : NAN);
    }
    chain_destroy(&c);
}

int main(void)
{
    tiny_against_dense();
    linear_time(true);
    linear_time(false);
    analysis(100000);
    analysis(1000000);
    return 0;
}
