/* memory_sink.c - a sink that keeps rows in memory, each quantity as one array by rows. Arrays
 * double their size in an arena; the rows of further runs follow those before. */
#include <string.h>

#include "base/memory.h"
#include "base/structs.h"

enum { TIME, POSITION, VELOCITY, MULTIPLIER, OUTPUT, ENERGY, DRIFT, EVENT, FIELDS };

struct taut_memory_sink {
    taut_arena arena;
    int64_t rows, capacity;
    taut_index width[FIELDS]; /* of one row */
    double *array[FIELDS];    /* [capacity][width] */
};

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_memory_sink *s = user;
    taut_sizes z;
    taut_system_sizes(system, &z);
    bool mechanical = z.kind == TAUT_MECHANICAL;
    taut_index velocities = mechanical ? z.coordinates : z.algebraic,
               width[FIELDS] = {
                   1, z.coordinates, velocities, mechanical ? z.bonds : 0, z.outputs, 1, 2, 1};
    if (s->rows > 0 && memcmp(width, s->width, sizeof width) != 0)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "the rows in memory belong to a system of other sizes");
    memcpy(s->width, width, sizeof width);
    return TAUT_OK;
}

static int grow(taut_memory_sink *s, taut_error *error)
{
    int64_t capacity = s->capacity;
    for (int k = 0; k < FIELDS; k++) {
        capacity = s->capacity;
        double *more = taut_arena_grow(&s->arena, s->array[k], s->rows, &capacity,
                                       (size_t)s->width[k] * sizeof *more + !s->width[k]);
        TAUT_NEED(error, more);
        s->array[k] = more;
    }
    s->capacity = capacity;
    return TAUT_OK;
}

static int row(void *user, const taut_row *given, taut_error *error)
{
    taut_memory_sink *s = user;
    const double drift[2] = {given->drift_position, given->drift_velocity}, event = given->event;
    const double *from[FIELDS] = {&given->t,      given->q,       given->v, given->lambda,
                                  given->outputs, &given->energy, drift,    &event};
    if (s->rows == s->capacity)
        TAUT_TRY(grow(s, error));
    for (int k = 0; k < FIELDS; k++)
        if (s->width[k] > 0)
            memcpy(s->array[k] + s->rows * s->width[k], from[k],
                   (size_t)s->width[k] * sizeof(double));
    s->rows++;
    return TAUT_OK;
}

int taut_memory_sink_create(const taut_allocator *allocator, taut_memory_sink **memory,
                            taut_sink *sink, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(memory && sink);
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    *memory = TAUT_NEW(&arena, taut_memory_sink, 1);
    TAUT_NEED(error, *memory);
    (*memory)->arena = arena;
    *sink = (taut_sink){.begin = begin, .row = row, .user = *memory};
    return TAUT_OK;
}

void taut_memory_sink_destroy(taut_memory_sink *memory)
{
    if (!memory)
        return;
    taut_arena arena = memory->arena; /* the sink lives in it */
    taut_arena_clear(&arena);
}

int taut_memory_sink_get(const taut_memory_sink *memory, taut_memory_rows *rows, taut_error *error)
{
    TAUT_REQUIRE(memory);
    taut_memory_rows own = {.rows = memory->rows,
                            .coordinates = memory->width[POSITION],
                            .velocities = memory->width[VELOCITY],
                            .multipliers = memory->width[MULTIPLIER],
                            .outputs = memory->width[OUTPUT],
                            .t = memory->array[TIME],
                            .q = memory->array[POSITION],
                            .v = memory->array[VELOCITY],
                            .lambda = memory->array[MULTIPLIER],
                            .output = memory->array[OUTPUT],
                            .energy = memory->array[ENERGY],
                            .drift = memory->array[DRIFT],
                            .event = memory->array[EVENT]};
    return taut_struct_fill(rows, &own, sizeof own, "taut_memory_rows", error);
}
