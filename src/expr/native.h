/* native.h - tapes as machine code: C is emitted from the tape (never from user text), compiled
 * by the system compiler, loaded, and kept in a cache private to the user (folder 0700, files
 * keyed by a hash of the emitted C and the compiler's version). */
#ifndef TAUT_EXPR_NATIVE_H
#define TAUT_EXPR_NATIVE_H

#include "expr/tape.h"

typedef struct taut_native taut_native;

/* Longer tapes, and more in one call, stay interpreted: compilers take long for them. */
enum { TAUT_NATIVE_LENGTH = 20000, TAUT_NATIVE_TOTAL = 100000 };

/* Compiles `count` tapes into one shared object and sets tape->native of each. `folder` NULL:
 * $XDG_CACHE_HOME/taut or ~/.cache/taut. Without a compiler, or when anything fails, returns an
 * error whose message states the reason; the tapes are untouched and stay usable. Starts a compiler
 * and waits for it, unless the cache has the result. */
int taut_native_create(taut_tape *const *tapes, int count, const char *folder,
                       const taut_allocator *allocator, taut_native **native, taut_error *error);
/* The same with at most so many seconds for the compiler. */
int taut_native_within(taut_tape *const *tapes, int count, const char *folder, double seconds,
                       const taut_allocator *allocator, taut_native **native, taut_error *error);
void taut_native_destroy(taut_native *native); /* the tapes must not be run afterwards */

/* C text that grows in an arena; `failed` (out of memory) is sticky, so that writers check once
 * at the end. */
typedef struct taut_source {
    taut_arena *arena;
    char *text; /* terminated; NULL while empty */
    int64_t length, capacity;
    bool failed;
} taut_source;

/* Levels of a tape that are compiled, from 0 on; higher ones are interpreted. (emit.c) */
int taut_native_levels(const taut_tape *tape);
/* Appends `void function(int level, int lanes, int n, double *regs)` for one tape, the table
 * function_one[] of the forms for one lane and, for a bound tape, function_bound[]; the first
 * call writes what all functions share. (emit.c) */
int taut_native_emit(const taut_tape *tape, const char *function, taut_source *source,
                     taut_error *error);

#endif
