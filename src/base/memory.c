/* memory.c - see memory.h. Loops over a dozen arrays of 1 MB spend up to a third of their time on
 * finding pages of 4 KB; with large pages, 2 MB on most machines, there are few.
 *
 * Where the allocator is the default one, large blocks come from the system itself, which gives
 * pages of zeros when they are first written to: what is reserved and never used, such as dense
 * output of a run without rows between its steps, takes no memory, and what is freed goes back. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* mmap, madvise */
#include <sys/mman.h>
#endif
#include "base/memory.h"

#include "base/hot.h"

#include <stdlib.h>
#include <string.h>

typedef struct taut_block {
    struct taut_block *next;
    size_t mapped; /* bytes from the system; 0: from the allocator */
} taut_block;

/* Sanitizers watch what malloc gives. */
#if defined(__linux__) && !defined(TAUT_SANITIZED)
#define TAUT_MAPPED
#endif

enum { SMALLEST_BLOCK = 4096, LARGEST_STEP = 1 << 20, LARGE_PAGE = 2 << 20, HEADER = 64 };
/* large arrays in a block, and bytes of one */
enum { SHARED = 4, LARGE_ARRAY = 1 << 19, LARGEST_SHARED = 32 << 20 };

static void *plain_allocate(void *user, size_t bytes)
{
    (void)user;
    return malloc(bytes);
}

static void plain_release(void *user, void *block)
{
    (void)user;
    free(block);
}

taut_allocator taut_allocator_or_default(const taut_allocator *allocator)
{
    if (allocator)
        return *allocator;
    return (taut_allocator){plain_allocate, plain_release, NULL};
}

void taut_arena_init(taut_arena *arena, const taut_allocator *allocator)
{
    *arena = (taut_arena){.allocator = taut_allocator_or_default(allocator)};
}

/* Pages of zeros, large ones where it can be and `large`; *bytes becomes their size. NULL where the
 * system has no such call, or no memory. */
static taut_block *map(size_t *bytes, bool large)
{
#if defined(TAUT_MAPPED)
    const size_t page = large ? LARGE_PAGE : SMALLEST_BLOCK;
    const size_t whole = (*bytes + page - 1) / page * page, more = large ? LARGE_PAGE : 0;
    char *at = mmap(NULL, whole + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (large) { /* what is before and after the first whole large page goes back */
        const size_t before = -(uintptr_t)at & (LARGE_PAGE - 1);
        if (before > 0)
            munmap(at, before);
        if (more > before)
            munmap(at + before + whole, more - before);
        at += before;
        (void)madvise(at, whole, MADV_HUGEPAGE); /* advice: it may be refused */
    }
    taut_block *block = (taut_block *)at;
    block->mapped = *bytes = whole;
    return block;
#else
    (void)bytes, (void)large;
    return NULL;
#endif
}

static void unmap(taut_block *block)
{
#if defined(TAUT_MAPPED)
    munmap(block, block->mapped);
#else
    (void)block;
#endif
}

void taut_arena_clear(taut_arena *arena)
{
    for (taut_block *block = arena->blocks; block;) {
        taut_block *next = block->next;
        if (block->mapped)
            unmap(block);
        else
            arena->allocator.release(arena->allocator.user, block);
        block = next;
    }
    *arena = (taut_arena){.allocator = arena->allocator, .looped = arena->looped};
}

/* A new block of at least `bytes`; blocks grow with the arena so that their number stays
 * logarithmic. */
static int add_block(taut_arena *arena, size_t bytes)
{
    size_t size = arena->size * 2;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    if (size < SMALLEST_BLOCK)
        size = SMALLEST_BLOCK;
    if (size < bytes + 2 * HEADER)
        size = bytes + 2 * HEADER;
    const bool large = bytes >= LARGE_ARRAY && arena->allocator.allocate == plain_allocate,
               pages = large && arena->looped;
    if (pages && bytes <= LARGEST_SHARED)
        size = SHARED * bytes + LARGE_PAGE;
    taut_block *block = large ? map(&size, pages) : NULL;
    arena->clean = block;
    if (!block && (block = arena->allocator.allocate(arena->allocator.user, size)))
        block->mapped = 0;
    if (!block)
        return TAUT_ERROR_MEMORY;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used = sizeof(taut_block);
    arena->size = size;
    return 0;
}

static size_t padding(const taut_arena *arena, size_t alignment)
{
    uintptr_t at = (uintptr_t)arena->blocks + arena->used;
    return (size_t)(-at & (alignment - 1));
}

static void *take(taut_arena *arena, int64_t count, size_t size)
{
    if (count < 0 || (size && (uint64_t)count > (SIZE_MAX / 4) / size))
        return NULL;
    size_t bytes = (size_t)count * size;
    if (bytes == 0)
        bytes = 1;
    size_t alignment = bytes >= 64 ? 64 : 16;
    if (!arena->blocks || arena->used + padding(arena, alignment) + bytes > arena->size)
        if (add_block(arena, bytes))
            return NULL;
    arena->used += padding(arena, alignment);
    char *place = (char *)arena->blocks + arena->used;
    arena->used += bytes;
    arena->bytes += (int64_t)bytes;
    return arena->clean ? place : memset(place, 0, bytes);
}

void *taut_arena_get(taut_arena *arena, int64_t count, size_t size)
{
    void *place = take(arena, count, size);
    arena->failed |= !place;
    return place;
}

bool taut_arena_late(const taut_arena *arena, taut_index coordinates)
{
    enum { LARGE_SYSTEM = 4096 };
    return coordinates >= LARGE_SYSTEM && arena->allocator.allocate == plain_allocate;
}

int taut_arena_check(taut_arena *arena, taut_error *error)
{
    bool failed = arena->failed;
    arena->failed = false;
    return failed ? taut_fail_memory(error) : TAUT_OK;
}

char *taut_arena_text(taut_arena *arena, const char *text, size_t length)
{
    char *copy = taut_arena_get(arena, (int64_t)length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

int taut_arena_need(const void *const *pointers, size_t count, taut_error *error)
{
    for (size_t k = 0; k < count; k++)
        if (!pointers[k])
            return taut_fail_memory(error);
    return TAUT_OK;
}

int taut_arena_reserve(taut_arena *arena, int64_t count, double **const *vectors, taut_error *error)
{
    for (; *vectors; vectors++)
        if (!(**vectors = TAUT_NEW(arena, double, count)))
            return taut_fail_memory(error);
    return TAUT_OK;
}

void *taut_arena_grow(taut_arena *arena, void *array, int64_t count, int64_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    int64_t wanted = *capacity < 8 ? 16 : *capacity * 2;
    void *larger = taut_arena_get(arena, wanted, size);
    if (!larger)
        return NULL;
    if (count)
        memcpy(larger, array, (size_t)count * size);
    *capacity = wanted;
    return larger;
}
