/* native.h - tapes as machine code: C is emitted from the tape (never from user text), compiled by the system compiler, loaded, and
 * kept in a cache private to the user (folder 0700, files keyed by a hash of the emitted C and the compiler's version). */
#ifndef TAUT_EXPR_NATIVE_H
#define TAUT_EXPR_NATIVE_H

#include "expr/tape.h"

typedef struct taut_native taut_native;

/* Compiles `count` tapes into one shared object and sets tape->native of each. `folder` NULL: $XDG_CACHE_HOME/taut or ~/.cache/taut.
 * Without a compiler, or when anything fails, returns an error whose message says why; the tapes are untouched and stay usable. */
int taut_native_create(taut_tape *const *tapes, int count, const char *folder, const taut_allocator *allocator, taut_native **native,
                       taut_error *error);
void taut_native_destroy(taut_native *native); /* the tapes must not be run afterwards */
/* The C text for one tape, appended to a growing text (arena). Exposed for tests. */
int taut_native_emit(const taut_tape *tape, const char *function, taut_arena *arena, char **text, size_t *length, taut_error *error);

#endif
