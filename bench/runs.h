/* runs.h - for benches of runs: a solver from a model text, and Taut in turn with hand-written C
 * on the same chain. */
#ifndef TAUT_BENCH_RUNS_H
#define TAUT_BENCH_RUNS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <taut/taut.h>
#include "bench.h"

/* A solver of a model text. */
typedef struct bench {
    taut_system *system;
    taut_options *options;
    taut_solver *solver;
    taut_error error;
    int code;
} bench;

/* Options "name=value ..."; links > 0 sets the parameter N. No solver yet. */
static inline bench prepare(const char *model, int links, const char *settings, bool compile)
{
    bench b = {0};
    char copy[400], count[40];
    const char *set[] = {count};
    taut_load how = {.size = sizeof how, .set = set, .set_count = links > 0, .compile = compile};
    snprintf(copy, sizeof copy, "%s", settings);
    snprintf(count, sizeof count, "N=%d", links);
    b.code = taut_system_parse(model, strlen(model), "bench", &how, &b.system, &b.error);
    if (b.code == 0)
        b.code = taut_options_create(NULL, &b.options, &b.error);
    for (char *word = copy, *next; b.code == 0 && *word; word = next) {
        next = word + strcspn(word, " ");
        if (*next)
            *next++ = '\0';
        char *value = strchr(word, '=');
        *value++ = '\0';
        b.code = taut_options_set(b.options, word, value, &b.error);
    }
    return b;
}

static inline bench make(const char *model, int links, const char *settings)
{
    bench b = prepare(model, links, settings, false);
    if (b.code == 0)
        b.code = taut_solver_create(b.system, b.options, NULL, &b.solver, &b.error);
    return b;
}

static inline int done(bench *b)
{
    int code = b->code;
    if (code != 0)
        printf("failed | %s\n", b->error.message);
    taut_solver_destroy(b->solver);
    taut_options_destroy(b->options);
    taut_system_destroy(b->system);
    return code;
}

/* The same motion twice: the model text with its settings and step, and C written by hand. */
typedef struct rivals {
    const char *method, *model, *settings;
    double step;
    int rounds;
    bool (*create)(int links); /* the chain written by hand, at its initial state */
    void (*advance)(int64_t steps);
    const double *(*position)(void); /* x, y alternating */
    void (*destroy)(void);           /* takes a half-made one */
} rivals;

/* They take turns, so that both see the same load; times are the best of several rounds. */
static inline int compare(const rivals *r, int links, int64_t steps, double limit)
{
    bench b = make(r->model, links, r->settings);
    double best[2] = {INFINITY, INFINITY}, off = 0;
    if (b.code == 0 && !r->create(links))
        b.code = TAUT_ERROR_MEMORY;
    for (int k = 0; k < r->rounds && b.code == 0; k++) {
        double t0 = now();
        r->advance(steps);
        double t1 = now();
        b.code = taut_solver_advance(b.solver, (double)((k + 1) * steps) * r->step, &b.error);
        best[0] = fmin(best[0], t1 - t0);
        best[1] = fmin(best[1], now() - t1);
    }
    if (b.code == 0) {
        for (int i = 0; i < 2 * links; i++)
            off = fmax(off, fabs(r->position()[i] - taut_solver_position(b.solver)[i]));
        double scale = 1e9 / ((double)links * (double)steps);
        printf("%s, chain of %d links: %.3g ns per link and step by hand, %.3g by Taut; positions "
               "differ by %.2g\n",
               r->method, links, best[0] * scale, best[1] * scale, off);
        char name[80];
        snprintf(name, sizeof name, "%s, chain of %d, time against C", r->method, links);
        row(name, limit, best[1] / best[0]);
    }
    r->destroy();
    return done(&b);
}

/* For bench_instructions.sh: nothing but the steps of one of the two. */
static inline int only(const rivals *r, const char *who, int links, int64_t steps)
{
    if (strcmp(who, "hand") == 0) {
        bool good = r->create(links);
        if (good)
            r->advance(steps);
        r->destroy();
        return good ? 0 : TAUT_ERROR_MEMORY;
    }
    bench b = make(r->model, links, r->settings);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, (double)steps * r->step, &b.error);
    return done(&b);
}

#endif
