/* reuse.c - see reuse.h. The sizes of blocks are powers of two, and a block that was released is
 * given to the next caller of its size: a worker that repeats its requests finds every one of them
 * again, in whatever order it released them. */
#include "base/reuse.h"

enum { HEADER = 64 };
typedef struct kept_block {
    struct kept_block *next;
    size_t bytes; /* with the header */
    bool used;
} kept_block;

typedef struct kept_memory {
    taut_arena *arena;
    kept_block *blocks;
} kept_memory;

static void *keep_allocate(void *user, size_t bytes)
{
    kept_memory *kept = user;
    size_t size = 2 * HEADER;
    while (size - HEADER < bytes && size <= SIZE_MAX / 4)
        size *= 2;
    kept_block *block = kept->blocks;
    while (block && (block->used || block->bytes != size))
        block = block->next;
    if (!block) {
        block = taut_arena_get(kept->arena, (int64_t)size, 1);
        if (!block)
            return NULL;
        *block = (kept_block){.next = kept->blocks, .bytes = size};
        kept->blocks = block;
    }
    block->used = true;
    return (char *)block + HEADER;
}

static void keep_release(void *user, void *block)
{
    (void)user;
    if (block)
        ((kept_block *)(void *)((char *)block - HEADER))->used = false;
}

taut_allocator taut_reuse_allocator(taut_arena *arena)
{
    kept_memory *kept = TAUT_NEW(arena, kept_memory, 1);
    if (!kept)
        return (taut_allocator){0};
    kept->arena = arena;
    return (taut_allocator){keep_allocate, keep_release, kept};
}
