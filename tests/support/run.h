/* run.h - for tests of runs: a model from text, options from a list, rows kept in memory. */
#ifndef TAUT_TESTS_SUPPORT_RUN_H
#define TAUT_TESTS_SUPPORT_RUN_H

#include <stdlib.h>
#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

/* Rows kept: times, the first coordinates, velocities and multipliers, energy. */
enum { KEPT_ROWS = 20000, KEPT_WIDTH = 4 };
typedef struct kept {
    int rows, begun, ended;
    int n, m;
    double t[KEPT_ROWS], energy[KEPT_ROWS];
    double q[KEPT_ROWS][KEPT_WIDTH], v[KEPT_ROWS][KEPT_WIDTH], lambda[KEPT_ROWS][KEPT_WIDTH],
        output[KEPT_ROWS][KEPT_WIDTH];
    int outputs, fail_at; /* the row at which the sink fails; 0: never */
} kept;

static inline int kept_begin(void *user, const taut_system *system, taut_error *error)
{
    (void)error;
    kept *k = user;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    k->rows = 0;
    k->begun++;
    k->n = sizes.coordinates;
    k->m = sizes.bonds;
    k->outputs = sizes.outputs;
    return 0;
}

static inline void keep(double *to, const double *from, int count)
{
    for (int i = 0; i < count && i < KEPT_WIDTH; i++)
        to[i] = from[i];
}

static inline int kept_row(void *user, const taut_row *row, taut_error *error)
{
    (void)error;
    kept *k = user;
    int at = k->rows < KEPT_ROWS ? k->rows : KEPT_ROWS - 1;
    k->rows++;
    k->t[at] = row->t;
    k->energy[at] = row->energy;
    keep(k->q[at], row->q, k->n);
    keep(k->v[at], row->v, k->n);
    keep(k->lambda[at], row->lambda, k->m);
    keep(k->output[at], row->outputs, k->outputs);
    return k->rows == k->fail_at ? TAUT_ERROR_FILE : 0;
}

static inline int kept_end(void *user, taut_error *error)
{
    (void)error;
    ((kept *)user)->ended++;
    return 0;
}

static inline taut_sink kept_sink(kept *k)
{
    return (taut_sink){.begin = kept_begin, .row = kept_row, .end = kept_end, .user = k};
}

/* A run made from a model text and options written "name=value name=value". */
typedef struct driven {
    taut_system *system;
    taut_options *options;
    taut_solver *solver;
    taut_error error;
    int code; /* of the first call that failed */
} driven;

static inline void driven_options(driven *d, const char *text)
{
    char copy[400];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = copy, *next; d->code == 0 && *word; word = next) {
        next = word + strcspn(word, " ");
        if (*next)
            *next++ = '\0';
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        d->code = taut_options_set(d->options, word, value, &d->error);
    }
}

/* Options and solver of the system that is there. */
static inline void driven_equip(driven *d, const char *options, const taut_allocator *allocator)
{
    if (d->code == 0)
        d->code = taut_options_create(NULL, &d->options, &d->error);
    driven_options(d, options);
    if (d->code == 0)
        d->code = taut_solver_create(d->system, d->options, allocator, &d->solver, &d->error);
}

static inline driven driven_create(const char *model, const char *options,
                                   const taut_allocator *allocator)
{
    driven d = {0};
    d.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &d.system, &d.error);
    driven_equip(&d, options, allocator);
    return d;
}

static inline void driven_destroy(driven *d)
{
    taut_solver_destroy(d->solver);
    taut_options_destroy(d->options);
    taut_system_destroy(d->system);
    *d = (driven){0};
}

/* The run must have been made: says why when it was not. */
static inline bool driven_good(const char *what, const driven *d)
{
    return check_row(d->code == 0, "%s: %s: %s (line %d)", what, taut_code_name(d->code),
                     d->error.message, d->error.line);
}

#endif
