/* runs.h - for benches of runs: a solver from a model text. */
#ifndef TAUT_BENCH_RUNS_H
#define TAUT_BENCH_RUNS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <taut/taut.h>
#include "bench.h"

/* N links from the origin, with these attributes. */
#define LENGTH "length(bob[i] - bob[i-1])"
#define HANGING_CHAIN(distance, attributes)                                                        \
    "[parameters]\nN = 20\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"              \
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"                                          \
    "link[1] = length(bob[1]) - 1" attributes "\n"                                                 \
    "link[i] = " distance " - 1 for i in 2..N" attributes "\n"                                     \
    "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1000\n"

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

static inline bench make_how(const char *model, int links, const char *settings, bool compile)
{
    bench b = prepare(model, links, settings, compile);
    if (b.code == 0)
        b.code = taut_solver_create(b.system, b.options, NULL, &b.solver, &b.error);
    return b;
}

static inline bench make(const char *model, int links, const char *settings)
{
    return make_how(model, links, settings, false);
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

#endif
