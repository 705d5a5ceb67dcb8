/* bench_explicit.c - rigid chains: RATTLE by Taut, from the model text, against hand-written C; dop8 on the index-1 form, stabilised;
 * time per link and step as the chain grows.
 *
 * Rows: name | limit | value | verdict. The limit of 2 for 1000 links is our aim; chains of 10, where calls count, and of
 * 100000, which do not fit the caches, have limits that only watch over what was reached. The hand-written RATTLE solves the
 * same equations to the same accuracy: tridiagonal matrix of the old point, simplified Newton iteration. Times are the best of
 * several rounds, in which both take turns. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taut/taut.h>
#include "bench.h"

enum { ROUNDS = 11 };

/* ---- by hand: masses 1, gravity 1 along -y, links of length 1; u_i is the direction of link i at the old point */

typedef struct chain {
    int links;
    double *q, *v, *kick, *next; /* x, y alternating */
    double *u, *pivot, *lower;   /* directions; L D L^T of G G^T, tridiagonal */
    double *y;
} chain;

static void directions(chain *c)
{
    double px = 0, py = 0;
    for (int i = 0; i < c->links; i++) {
        double dx = c->q[2 * i] - px, dy = c->q[2 * i + 1] - py, length = sqrt(dx * dx + dy * dy);
        c->u[2 * i] = dx / length;
        c->u[2 * i + 1] = dy / length;
        px = c->q[2 * i];
        py = c->q[2 * i + 1];
    }
    double last = 0;
    for (int i = 0; i < c->links; i++) {
        double diagonal = i ? 2 : 1;
        if (i) {
            double beside = -(c->u[2 * i] * c->u[2 * i - 2] + c->u[2 * i + 1] * c->u[2 * i - 1]);
            c->lower[i] = beside * last;
            diagonal -= beside * c->lower[i];
        }
        last = c->pivot[i] = 1 / diagonal;
    }
}

/* y <- (G G^T)^-1 y, then x <- x + G^T y; returns the largest change. */
static double correct(chain *c, double *x)
{
    double size = 0;
    for (int i = 1; i < c->links; i++)
        c->y[i] -= c->lower[i] * c->y[i - 1];
    for (int i = 0; i < c->links; i++)
        c->y[i] *= c->pivot[i];
    for (int i = c->links - 2; i >= 0; i--)
        c->y[i] -= c->lower[i + 1] * c->y[i + 1];
    for (int i = 0; i < c->links; i++) {
        double after = i + 1 < c->links ? c->y[i + 1] : 0;
        double dx = c->y[i] * c->u[2 * i], dy = c->y[i] * c->u[2 * i + 1];
        if (i + 1 < c->links) {
            dx -= after * c->u[2 * i + 2];
            dy -= after * c->u[2 * i + 3];
        }
        x[2 * i] += dx;
        x[2 * i + 1] += dy;
        size = fmax(size, fmax(fabs(dx), fabs(dy)));
    }
    return size;
}

static void hand_step(chain *c, double h)
{
    double scale = 0, before = INFINITY;
    for (int i = 0; i < 2 * c->links; i++) {
        c->kick[i] *= h * h / 2;
        scale = fmax(scale, fabs(c->q[i]) + h * fabs(c->v[i]));
    }
    for (int k = 0; k < 60; k++) {
        double px = 0, py = 0;
        for (int i = 0; i < c->links; i++) {
            double x = c->q[2 * i] + (h * c->v[2 * i] + c->kick[2 * i]);
            double y = c->q[2 * i + 1] + (h * c->v[2 * i + 1] + c->kick[2 * i + 1]);
            c->y[i] = 1 - sqrt((x - px) * (x - px) + (y - py) * (y - py));
            px = x;
            py = y;
        }
        double size = correct(c, c->kick), floor = 2 * DBL_EPSILON * scale;
        if (size <= floor || (size > before / 2 && size < 1e3 * floor))
            break;
        before = size;
    }
    for (int i = 0; i < 2 * c->links; i++) {
        c->q[i] += h * c->v[i] + c->kick[i];
        c->v[i] += c->kick[i] / h;
        c->kick[i] = i % 2 ? -h / 2 : 0;
    }
    directions(c);
    for (int i = 0; i < c->links; i++) {
        double dx = c->v[2 * i] + c->kick[2 * i], dy = c->v[2 * i + 1] + c->kick[2 * i + 1];
        if (i) {
            dx -= c->v[2 * i - 2] + c->kick[2 * i - 2];
            dy -= c->v[2 * i - 1] + c->kick[2 * i - 1];
        }
        c->y[i] = -(c->u[2 * i] * dx + c->u[2 * i + 1] * dy);
    }
    correct(c, c->kick);
    for (int i = 0; i < 2 * c->links; i++) {
        c->v[i] += c->kick[i];
        c->kick[i] *= 2 / h;
    }
}

static bool hand_create(chain *c, int links)
{
    size_t n = (size_t)links * 2;
    *c = (chain){links,        calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8),
                 calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8)};
    if (!c->q || !c->v || !c->kick || !c->next || !c->u || !c->pivot || !c->lower || !c->y)
        return false;
    /* at rest, straight: gravity is perpendicular to the links, so that it is the acceleration */
    for (int i = 0; i < links; i++) {
        c->q[2 * i] = i + 1;
        c->kick[2 * i + 1] = -1;
    }
    directions(c);
    return true;
}

static void hand_destroy(chain *c)
{
    double *all[] = {c->q, c->v, c->kick, c->next, c->u, c->pivot, c->lower, c->y};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
}

/* ---- by Taut */

static const char model[] = "[parameters]\nN = 20\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
                            "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
                            "link[1] = length(bob[1]) - 1\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N\n"
                            "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1000\n";

static int taut_create(int links, const char *method, const char *step, taut_system **system, taut_solver **solver,
                       taut_error *error)
{
    char count[40];
    snprintf(count, sizeof count, "N=%d", links);
    const char *set[] = {count};
    taut_load how = {.set = set, .set_count = 1};
    taut_options *options = NULL;
    int code = taut_system_parse(model, sizeof model - 1, "chain", &how, system, error);
    if (code == 0)
        code = taut_options_create(NULL, &options, error);
    if (code == 0)
        code = taut_options_set(options, "step", step, error);
    if (code == 0)
        code = taut_options_set(options, "method", method, error);
    if (code == 0)
        code = taut_solver_create(*system, options, NULL, solver, error);
    taut_options_destroy(options);
    return code;
}

/* Alternates the two, so that both see the same load. */
static int compare(int links, int steps, double limit)
{
    const double step = 0.01;
    chain c;
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    int code = taut_create(links, "rattle", "0.01", &system, &solver, &error);
    if (hand_create(&c, links) && code == 0) {
        double best[2] = {INFINITY, INFINITY}, off = 0;
        for (int k = 0; k < ROUNDS && code == 0; k++) {
            double t0 = now();
            for (int j = 0; j < steps; j++)
                hand_step(&c, step);
            double t1 = now();
            code = taut_solver_advance(solver, (double)((k + 1) * steps) * step, &error);
            best[0] = fmin(best[0], t1 - t0);
            best[1] = fmin(best[1], now() - t1);
        }
        for (int i = 0; i < 2 * links; i++)
            off = fmax(off, fabs(c.q[i] - taut_solver_position(solver)[i]));
        double scale = 1e9 / ((double)links * steps);
        printf("rigid chain of %d links: %.3g ns per link and step by hand, %.3g by Taut; positions differ by %.2g\n", links,
               best[0] * scale, best[1] * scale, off);
        char name[80];
        snprintf(name, sizeof name, "rattle, chain of %d, time against C", links);
        row(name, limit, best[1] / best[0]);
    }
    if (code != 0)
        printf("rattle, chain of %d | failed | %s\n", links, error.message);
    hand_destroy(&c);
    taut_solver_destroy(solver);
    taut_system_destroy(system);
    return code;
}

/* ns per link and step of a method, stabilised as it is by default. */
static double cost(const char *method, const char *step, int links, int steps, taut_error *error)
{
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    double best = INFINITY;
    int code = taut_create(links, method, step, &system, &solver, error);
    for (int k = 0; k < 5 && code == 0; k++) {
        double t0 = now();
        code = taut_solver_advance(solver, (double)((k + 1) * steps) * atof(step), error);
        best = fmin(best, now() - t0);
    }
    taut_solver_destroy(solver);
    taut_system_destroy(system);
    return code ? NAN : best * 1e9 / ((double)links * steps);
}

/* Growth from 100 links on: 1 is linear cost. */
static int flat(const char *method, const char *step)
{
    taut_error error = {0};
    double first = cost(method, step, 100, 20, &error);
    for (int links = 1000; links <= 100000; links *= 10) {
        double more = cost(method, step, links, links < 10000 ? 20 : 2, &error);
        char name[80];
        printf("%s, rigid chain of %d links: %.4g ns per link and step (%.4g with 100)\n", method, links, more, first);
        snprintf(name, sizeof name, "%s, chain of %d, time per link against 100 links", method, links);
        row(name, links < 100000 ? 1.5 : 2.5, more / first); /* the largest no longer fits the caches */
        if (isnan(more)) {
            printf("%s | failed | %s\n", name, error.message);
            return 1;
        }
    }
    return 0;
}

/* For bench_instructions.sh: nothing but the steps of one of the two. */
static int only(const char *who, int links, int steps)
{
    chain c;
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    int code = 0;
    if (strcmp(who, "hand") == 0) {
        code = hand_create(&c, links) ? 0 : TAUT_ERROR_MEMORY;
        for (int k = 0; k < steps && code == 0; k++)
            hand_step(&c, 0.01);
        hand_destroy(&c);
        return code;
    }
    code = taut_create(links, "rattle", "0.01", &system, &solver, &error);
    if (code == 0)
        code = taut_solver_advance(solver, steps * 0.01, &error);
    taut_solver_destroy(solver);
    taut_system_destroy(system);
    return code;
}

int main(int count, char **arguments)
{
    if (count == 4)
        return only(arguments[1], atoi(arguments[2]), atoi(arguments[3])) ? 1 : 0;
    int code = compare(10, 20, 10); /* short: the motion is chaotic */
    if (code == 0)
        code = compare(1000, 20, 2);
    if (code == 0)
        code = compare(100000, 2, 5);
    if (code == 0)
        code = flat("rattle", "0.01");
    if (code == 0)
        code = flat("dop8", "0.05");
    return code ? 1 : 0;
}
