/* pool.h - threads that share the parts of a task. The caller works too: a pool of n has n - 1
 * threads of its own, which wait between tasks. Builds without threads (core, Windows) run all
 * parts one after the other. */
#ifndef TAUT_BASE_POOL_H
#define TAUT_BASE_POOL_H

#include "base/memory.h"

typedef struct taut_pool taut_pool;

/* For up to `count` threads: where the system gives fewer, the pool has fewer. */
int taut_pool_create(int count, const taut_allocator *allocator, taut_pool **pool,
                     taut_error *error);
/* Calls function(context, part, thread) once for each part from 0 to parts - 1, in any order and at
 * the same time, and returns after the last. Parts are given out in increasing order; `thread` is
 * from 0 to taut_pool_size - 1 and not used by two calls at once. One caller at a time. */
void taut_pool_run(taut_pool *pool, int64_t parts,
                   void (*function)(void *context, int64_t part, int thread), void *context);
int taut_pool_size(const taut_pool *pool);
void taut_pool_destroy(taut_pool *pool); /* may be NULL */

#endif
