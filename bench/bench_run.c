/* bench_run.c - Verlet on the hanging chain: Taut, from the model text, against hand-written C, in one run.
 *
 * Rows: name | limit | value | verdict. The limit of 2 for 1000 links is our aim; chains of 10, where calls count, and of
 * 100000, which do not fit the caches, have limits that only watch over what was reached. Both integrate the same motion with
 * the same steps; the times are the best of several short ones, so that other load disturbs little. Taut's include one
 * evaluation of the energy in each of them (the guard of the run). */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taut/taut.h>
#include "bench.h"

enum { ROUNDS = 21 };

static const double omega = 1000, step = 1e-4;

/* ---- by hand: forces of all links, masses 1, gravity 1 along -y */

typedef struct chain {
    int links;
    double *q, *v, *a; /* x, y alternating */
} chain;

static void accelerate(chain *c)
{
    double kappa = omega * omega, px = 0, py = 0;
    for (int i = 0; i < c->links; i++) {
        c->a[2 * i] = 0;
        c->a[2 * i + 1] = -1;
    }
    for (int i = 0; i < c->links; i++) {
        double dx = c->q[2 * i] - px, dy = c->q[2 * i + 1] - py, length = sqrt(dx * dx + dy * dy);
        double pull = kappa * (length - 1) / length;
        c->a[2 * i] -= pull * dx;
        c->a[2 * i + 1] -= pull * dy;
        if (i > 0) {
            c->a[2 * i - 2] += pull * dx;
            c->a[2 * i - 1] += pull * dy;
        }
        px = c->q[2 * i];
        py = c->q[2 * i + 1];
    }
}

static void hand_steps(chain *c, int64_t steps)
{
    for (int64_t k = 0; k < steps; k++) {
        for (int i = 0; i < 2 * c->links; i++) {
            c->v[i] += step / 2 * c->a[i];
            c->q[i] += step * c->v[i];
        }
        accelerate(c);
        for (int i = 0; i < 2 * c->links; i++)
            c->v[i] += step / 2 * c->a[i];
    }
}

static int hand_create(chain *c, int links)
{
    *c = (chain){links, calloc((size_t)links * 2, 8), calloc((size_t)links * 2, 8), calloc((size_t)links * 2, 8)};
    if (!c->q || !c->v || !c->a)
        return TAUT_ERROR_MEMORY;
    for (int i = 0; i < links; i++)
        c->q[2 * i] = i + 1;
    accelerate(c);
    return 0;
}

static void hand_destroy(chain *c)
{
    free(c->q);
    free(c->v);
    free(c->a);
}

/* ---- by Taut */

static const char model[] = "[parameters]\nN = 20\nomega = 1000\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
                            "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
                            "link[1] = length(bob[1]) - 1 stiffness omega^2\n"
                            "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness omega^2\n"
                            "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1\n";

static int taut_create(int links, taut_system **system, taut_solver **solver, taut_error *error)
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
        code = taut_options_set(options, "motion", "full", error);
    if (code == 0)
        code = taut_options_set(options, "method", "verlet", error);
    if (code == 0)
        code = taut_options_set(options, "step", "1e-4", error);
    if (code == 0)
        code = taut_solver_create(*system, options, NULL, solver, error);
    taut_options_destroy(options);
    return code;
}

/* Alternates the two, so that both see the same load. */
static int compare(int links, int64_t steps, double limit)
{
    chain c;
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    int code = taut_create(links, &system, &solver, &error);
    if (code == 0 && hand_create(&c, links) == 0) {
        double best[2] = {INFINITY, INFINITY}, off = 0;
        for (int k = 0; k < ROUNDS && code == 0; k++) {
            double t0 = now();
            hand_steps(&c, steps);
            double t1 = now();
            code = taut_solver_advance(solver, (double)((k + 1) * steps) * step, &error);
            best[0] = fmin(best[0], t1 - t0);
            best[1] = fmin(best[1], now() - t1);
        }
        for (int i = 0; i < 2 * links; i++)
            off = fmax(off, fabs(c.q[i] - taut_solver_position(solver)[i]));
        double scale = 1e9 / ((double)links * (double)steps);
        printf("chain of %d links: %.3g ns per link and step by hand, %.3g by Taut; positions differ by %.2g\n", links,
               best[0] * scale, best[1] * scale, off);
        char name[80];
        snprintf(name, sizeof name, "verlet, chain of %d, time against C", links);
        row(name, limit, best[1] / best[0]);
        hand_destroy(&c);
    }
    if (code != 0)
        printf("verlet, chain of %d | failed | %s\n", links, error.message);
    taut_solver_destroy(solver);
    taut_system_destroy(system);
    return code;
}

/* For bench_instructions.sh: nothing but the steps of one of the two. */
static int only(const char *who, int links, int64_t steps)
{
    chain c;
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    int code = 0;
    if (strcmp(who, "hand") == 0) {
        code = hand_create(&c, links);
        if (code == 0)
            hand_steps(&c, steps);
        hand_destroy(&c);
        return code;
    }
    code = taut_create(links, &system, &solver, &error);
    if (code == 0)
        code = taut_solver_advance(solver, (double)steps * step, &error);
    taut_solver_destroy(solver);
    taut_system_destroy(system);
    return code;
}

int main(int count, char **arguments)
{
    if (count == 4)
        return only(arguments[1], atoi(arguments[2]), atoi(arguments[3])) ? 1 : 0;
    int code = compare(10, 4000, 6);
    if (code == 0)
        code = compare(1000, 100, 2);
    if (code == 0)
        code = compare(100000, 10, 5);
    return code ? 1 : 0;
}
