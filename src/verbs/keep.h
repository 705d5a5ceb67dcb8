/* keep.h - what a sweep keeps of each run: expressions such as max(energy) - start(energy)
 * (docs/sweeps.md has the grammar). */
#ifndef TAUT_VERBS_KEEP_H
#define TAUT_VERBS_KEEP_H

#include "base/memory.h"

/* Expressions over runs of one system, and of systems derived from it; threads may share them. */
typedef struct taut_keep taut_keep;
/* Their values along one run. */
typedef struct taut_keeping taut_keeping;

/* A wrong expression fails with TAUT_ERROR_MODEL, file <keep>, its text and the column. Everything
 * lives in the arena. */
int taut_keep_create(taut_arena *arena, const taut_system *system, const char *const *text,
                     int count, taut_keep **keep, taut_error *error);
int taut_keeping_create(taut_arena *arena, const taut_keep *keep, taut_keeping **keeping,
                        taut_error *error);
/* Takes the rows of a run; it begins again with each. */
taut_sink taut_keeping_sink(taut_keeping *keeping);
/* value[count] of the rows so far. */
void taut_keeping_values(taut_keeping *keeping, double *value);

/* A number: an expression without names but pi. */
int taut_keep_number(const char *text, double *value, taut_error *error);

#endif
