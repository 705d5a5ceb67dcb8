/* object.c - a system as an object: made empty, destroyed, and what it says of itself. */
#include "system/system.h"

taut_system *taut_system_new(const taut_allocator *allocator)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_system *system = TAUT_NEW(&arena, taut_system, 1);
    if (!system)
        return NULL;
    system->arena = arena;
    taut_arena_init(&system->late, allocator);
    system->title = system->file = "";
    if (pthread_mutex_init(&system->lock, NULL) != 0) {
        taut_arena_clear(&arena);
        return NULL;
    }
    return system;
}

void taut_system_destroy(taut_system *system)
{
    if (!system)
        return;
    taut_native_destroy(system->native);
    pthread_mutex_destroy(&system->lock);
    taut_arena_clear(&system->late);
    taut_arena arena = system->arena; /* the system lives in it */
    taut_arena_clear(&arena);
}

void taut_system_sizes(const taut_system *system, taut_sizes *sizes)
{
    *sizes = system->sizes;
}

const char *taut_system_title(const taut_system *system)
{
    return system->title;
}

const char *taut_system_warning(const taut_system *system, taut_index k)
{
    return k >= 0 && k < system->sizes.warnings ? system->warning[k] : NULL;
}

bool taut_system_setting(const taut_system *system, taut_index k, const char **name,
                         const char **value)
{
    if (k < 0 || k >= system->sizes.settings)
        return false;
    *name = system->setting[k].name;
    *value = system->setting[k].value;
    return true;
}
