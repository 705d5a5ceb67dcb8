/* reuse.c - see reuse.h. A block that was released is given to the next caller whom it is large
 * enough for. */
#include "base/reuse.h"

enum { KEPT_BLOCKS = 8 };
typedef struct kept_memory {
    taut_arena *arena;
    void *block[KEPT_BLOCKS];
    size_t bytes[KEPT_BLOCKS];
    bool used[KEPT_BLOCKS];
} kept_memory;

static void *keep_allocate(void *user, size_t bytes)
{
    kept_memory *kept = user;
    for (int k = 0; k < KEPT_BLOCKS; k++)
        if (kept->block[k] && !kept->used[k] && kept->bytes[k] >= bytes) {
            kept->used[k] = true;
            return kept->block[k];
        }
    for (int k = 0; k < KEPT_BLOCKS; k++)
        if (!kept->block[k]) {
            kept->block[k] = taut_arena_get(kept->arena, (int64_t)bytes, 1);
            kept->bytes[k] = bytes;
            kept->used[k] = kept->block[k] != NULL;
            return kept->block[k];
        }
    return NULL;
}

static void keep_release(void *user, void *block)
{
    kept_memory *kept = user;
    for (int k = 0; k < KEPT_BLOCKS; k++)
        if (kept->block[k] == block)
            kept->used[k] = false;
}

taut_allocator taut_reuse_allocator(taut_arena *arena)
{
    kept_memory *kept = TAUT_NEW(arena, kept_memory, 1);
    if (!kept)
        return (taut_allocator){0};
    kept->arena = arena;
    return (taut_allocator){keep_allocate, keep_release, kept};
}
