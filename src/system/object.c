/* object.c - a system as an object: made empty, destroyed, and its title, warnings and settings. */
#include "base/structs.h"
#include "system/pair_sums.h"

#include <math.h>

/* The lock and the memory of what is formed at the first request; in the system's arena. */
static bool new_late(taut_system *system)
{
    system->late = TAUT_NEW(&system->arena, taut_late, 1);
    if (!system->late || pthread_mutex_init(&system->late->lock, NULL) != 0)
        return false;
    taut_arena_init(&system->late->arena, &system->arena.allocator);
    return system->owns_late = true;
}

static void destroy_late(taut_system *system)
{
    if (!system->owns_late)
        return;
    pthread_mutex_destroy(&system->late->lock);
    taut_arena_clear(&system->late->arena);
    system->owns_late = false;
}

taut_system *taut_system_new(const taut_allocator *allocator)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_system *system = TAUT_NEW(&arena, taut_system, 1);
    if (!system)
        return NULL;
    system->arena = arena;
    system->title = system->file = "";
    system->sizes.size = sizeof system->sizes;
    if (!new_late(system)) {
        taut_system_destroy(system);
        return NULL;
    }
    return system;
}

void taut_system_destroy(taut_system *system)
{
    if (!system)
        return;
    taut_native_destroy(system->native);
    destroy_late(system);
    taut_arena arena = system->arena; /* the system lives in it */
    taut_arena_clear(&arena);
}

int taut_system_set_tangent(taut_system *system, const taut_pattern *tangent, taut_error *error)
{
    if (!system->owns_late && !new_late(system))
        return taut_fail_memory(error);
    system->late->formed.tangent = *tangent;
    atomic_store_explicit(&system->late->patterns, &system->late->formed, memory_order_release);
    return TAUT_OK;
}

void taut_system_sizes(const taut_system *system, taut_sizes *sizes)
{
    *sizes = system->sizes;
}

const char *taut_system_title(const taut_system *system)
{
    return system ? system->title : NULL;
}

const char *taut_system_text(const taut_system *system, size_t *length)
{
    if (length)
        *length = system ? system->text_length : 0;
    return system ? system->text : NULL;
}

const char *taut_system_condition(const taut_system *system, taut_index k)
{
    return system && k >= 0 && k < system->conditions ? system->condition[k] : NULL;
}

const char *taut_system_warning(const taut_system *system, taut_index k)
{
    return system && k >= 0 && k < system->sizes.warnings ? system->warning[k] : NULL;
}

const char *taut_system_table_file(const taut_system *system, taut_index k)
{
    return system && k >= 0 && k < system->tables ? system->table[k].file : NULL;
}

const char *taut_system_table(const taut_system *system, taut_index k)
{
    return system && k >= 0 && k < system->tables ? system->table[k].name : NULL;
}

int taut_shape_count(const taut_system *system)
{
    return system ? system->shapes : 0;
}

int taut_shape_get(const taut_system *system, int k, taut_shape *shape, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(system);
    if (k < 0 || k >= system->shapes)
        return taut_fail(error, TAUT_ERROR_USAGE, "shape %d does not exist: there are %d", k,
                         system->shapes);
    return taut_struct_fill(shape, &system->shape[k], sizeof *shape, "taut_shape", error);
}

bool taut_system_setting(const taut_system *system, taut_index k, const char **name,
                         const char **value)
{
    if (!system || !name || !value || k < 0 || k >= system->sizes.settings)
        return false;
    *name = system->setting[k].name;
    *value = system->setting[k].value;
    return true;
}

/* The level of a tape that gives f, g and G. */
static int level_of(taut_role role)
{
    return role == TAUT_ROLE_KINETIC                           ? 2
           : role == TAUT_ROLE_FORCE || role == TAUT_ROLE_MASS ? 0
                                                               : 1;
}

double taut_system_work(const taut_system *system)
{
    static const double PARTNERS = 30; /* of a particle in a liquid, each pair once */
    const taut_sizes *z = &system->sizes;
    double sum = 8 * ((double)z->coordinates + z->bonds) + 40;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->role != TAUT_ROLE_VALUE)
            sum += 30 + (double)kernel->members * kernel->tape->level_end[level_of(kernel->role)];
    }
    for (int32_t k = 0; k < system->pair_sums; k++) {
        const taut_pair_sum *pairs = system->pair_sum[k];
        sum += 30 + PARTNERS * pairs->families.count[0] *
                        (double)pairs->kernel->tape->level_end[level_of(TAUT_ROLE_POTENTIAL)];
    }
    return system->kernels > 0 ? sum : 10 * sum; /* functions in C: not known */
}

bool taut_system_velocity_forces(const taut_system *system)
{
    const unsigned can = system->sizes.can;
    if (!(can & TAUT_HAS_VELOCITY_FORCES) || !(can & TAUT_HAS_KINETIC))
        return can & TAUT_HAS_VELOCITY_FORCES;
    for (int32_t k = 0; k < system->kernels; k++)
        if (system->kernel[k]->role == TAUT_ROLE_FORCE && system->kernel[k]->uses_v)
            return true;
    return false;
}
