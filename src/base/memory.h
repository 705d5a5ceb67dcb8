/* memory.h - all memory comes from one allocator; an arena frees what it gave in one call.
 *
 * Objects own one arena each and are built in it, so that cleaning up after a failure is one
 * line and nothing can leak. Arrays that grow double their size; the old copies stay in the
 * arena until the end (at most as much again). */
#ifndef TAUT_BASE_MEMORY_H
#define TAUT_BASE_MEMORY_H

#include "base/error.h"

typedef struct taut_arena {
    taut_allocator allocator;
    struct taut_block *blocks; /* newest first */
    size_t used, size;         /* of the newest block */
    int64_t bytes;             /* handed out in total */
    bool failed;               /* a request got NULL and was not reported yet */
    bool clean;                /* the rest of the newest block is zero */
    bool looped;               /* by every step: large arrays share blocks of large pages */
} taut_arena;

/* The allocator to use: `allocator`, or malloc and free when it is NULL. */
taut_allocator taut_allocator_or_default(const taut_allocator *allocator);

void taut_arena_init(taut_arena *arena, const taut_allocator *allocator);
void taut_arena_clear(taut_arena *arena); /* frees everything; the arena can be used again */
/* count * size bytes, zeroed, aligned to 64 bytes from 64 bytes on (16 below). NULL when out of
 * memory or on overflow; count 0 gives a valid pointer. */
void *taut_arena_get(taut_arena *arena, int64_t count, size_t size);
/* After several requests: TAUT_OK when all of them got memory, else the error, reported once. */
int taut_arena_check(taut_arena *arena, taut_error *error);
/* a terminated copy, or NULL */
char *taut_arena_text(taut_arena *arena, const char *text, size_t length);

#define TAUT_NEW(arena, type, count)                                                               \
    ((type *)taut_arena_get((arena), (int64_t)(count), sizeof(type)))

/* Whether matrices that few runs need may be made when they are needed for the first time, also in
 * a run: those of large systems, unless the caller gave an allocator and thus wants to know when
 * memory is taken. */
bool taut_arena_late(const taut_arena *arena, taut_index coordinates);

/* Leaves the function with TAUT_ERROR_MEMORY unless all of these were allocated. */
#define TAUT_NEED(error, ...)                                                                      \
    TAUT_TRY(taut_arena_need((const void *const[]){__VA_ARGS__},                                   \
                             sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *),          \
                             (error)))
int taut_arena_need(const void *const *pointers, size_t count, taut_error *error);

/* Reserves `count` numbers for each of the vectors, a list that ends with NULL. */
int taut_arena_reserve(taut_arena *arena, int64_t count, double **const *vectors,
                       taut_error *error);
#define TAUT_RESERVE(arena, count, error, ...)                                                     \
    taut_arena_reserve((arena), (count), (double **const[]){__VA_ARGS__, NULL}, (error))

/* Makes room for one more in an array of *capacity entries that holds count; doubles. Returns
 * the array, or NULL. */
void *taut_arena_grow(taut_arena *arena, void *array, int64_t count, int64_t *capacity,
                      size_t size);

#endif
