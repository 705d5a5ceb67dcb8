/* reuse.h - an allocator that gives back the same memory again: for workers that ask for the
 * same sizes at every call, and must not allocate after they were made (reuse.c). */
#ifndef TAUT_BASE_REUSE_H
#define TAUT_BASE_REUSE_H

#include "base/memory.h"

/* Memory comes from the arena and stays in it; a sequence of requests that repeats takes nothing
 * more from it. allocate is NULL when out of memory. */
taut_allocator taut_reuse_allocator(taut_arena *arena);

#endif
