/* pool.h - threads that share the parts of a task. The caller works too: a pool of n has n - 1
 * threads of its own, which wait between tasks. Windows runs all parts one after the other.
 *
 * What is computed must not depend on the number of threads: parts depend on the problem alone, and
 * each number is written by one part. */
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
int taut_pool_size(const taut_pool *pool); /* 1 for NULL */
void taut_pool_destroy(taut_pool *pool);   /* may be NULL */

/* Loops over the entries of vectors, by blocks of at least LEAST entries where there are FEWEST
 * blocks: below, a task would cost more than it saves. The pool may be NULL; nothing is allocated.
 * body: entries begin .. end-1. */
enum { TAUT_LOOP_BLOCKS = 64, TAUT_LOOP_LEAST = 4096, TAUT_LOOP_FEWEST = 4 };
typedef double taut_loop_body(void *context, int64_t begin, int64_t end);
/* By several threads, n at least FEWEST * LEAST; sums by blocks, n above LEAST. */
void taut_pool_share_loop(taut_pool *pool, int64_t n, taut_loop_body *body, void *context);
double taut_pool_share_largest(taut_pool *pool, int64_t n, taut_loop_body *body, void *context);
double taut_pool_share_sum(taut_pool *pool, int64_t n, taut_loop_body *body, void *context);
int64_t taut_pool_block(int64_t n); /* entries of a block, which n alone determines */

static inline void taut_pool_loop(taut_pool *pool, int64_t n, taut_loop_body *body, void *context)
{
    if (pool && n >= TAUT_LOOP_FEWEST * TAUT_LOOP_LEAST)
        taut_pool_share_loop(pool, n, body, context);
    else if (n > 0)
        body(context, 0, n);
}

/* The largest result, which is not negative; NaN where one is. */
static inline double taut_pool_largest(taut_pool *pool, int64_t n, taut_loop_body *body,
                                       void *context)
{
    if (pool && n >= TAUT_LOOP_FEWEST * TAUT_LOOP_LEAST)
        return taut_pool_share_largest(pool, n, body, context);
    return n > 0 ? body(context, 0, n) : 0;
}

/* The sum of the results of all blocks, in their order. */
static inline double taut_pool_sum(taut_pool *pool, int64_t n, taut_loop_body *body, void *context)
{
    if (n > TAUT_LOOP_LEAST)
        return taut_pool_share_sum(pool, n, body, context);
    return n > 0 ? body(context, 0, n) : 0;
}

#endif
