/* run_record.c - a run that is in a file (taut_record of analysis.h): names, texts and times are in
 * memory, rows are read at request. */
#include "io/run_record.h"

#include <math.h>
#include <string.h>

#include "base/structs.h"

int taut_record_open(const char *path, const taut_allocator *allocator, taut_record **record,
                     taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(path && record);
    *record = NULL;
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_record *r = TAUT_NEW(&arena, taut_record, 1);
    char *copy = r ? taut_arena_text(&arena, path, strlen(path)) : NULL;
    if (!copy) {
        taut_arena_clear(&arena);
        return taut_fail_memory(error);
    }
    r->arena = arena;
    taut_arena_init(&r->rows_arena, allocator);
    r->path = copy;
    int status = taut_record_read_head(r, error);
    if (status != 0)
        taut_record_destroy(r);
    else
        *record = r;
    return status;
}

void taut_record_destroy(taut_record *record)
{
    if (!record)
        return;
    taut_arena_clear(&record->rows_arena);
    taut_arena arena = record->arena; /* the record lives in it */
    taut_arena_clear(&arena);
}

int taut_record_sizes_get(const taut_record *record, taut_sizes *sizes, int64_t *rows,
                          taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(record);
    if (rows)
        *rows = record->rows;
    return taut_struct_fill(sizes, &record->sizes, sizeof record->sizes, "taut_sizes", error);
}

const char *taut_record_name(const taut_record *record, taut_item item, taut_index k)
{
    if (!record || (int)item < 0 || (int)item >= TAUT_RECORD_ITEMS || k < 0)
        return NULL;
    const taut_sizes *z = &record->sizes;
    const taut_index count[TAUT_RECORD_ITEMS] = {z->coordinates, z->algebraic, z->bonds, 0,
                                                 z->outputs,     z->events};
    return record->name[item] && k < count[item] ? record->name[item][k] : NULL;
}

const char *taut_record_text(const taut_record *record, const char *name)
{
    for (int k = 0; record && name && k < record->texts; k++)
        if (strcmp(record->text_name[k], name) == 0)
            return record->text[k];
    return NULL;
}

const char *taut_record_text_name(const taut_record *record, int k)
{
    return record && k >= 0 && k < record->texts ? record->text_name[k] : NULL;
}

int64_t taut_record_find(const taut_record *record, double t)
{
    if (!record || record->rows == 0)
        return -1;
    int64_t last = record->rows - 1, best = -1;
    const double *times = record->t;
    if (isnan(t))
        return last;
    double room = 1e-12 * (1 + fabs(t)), low = fmin(times[0], times[last]) - room,
           high = fmax(times[0], times[last]) + room;
    for (int64_t k = 0; k <= last && t >= low && t <= high; k++)
        if (best < 0 || fabs(times[k] - t) <= fabs(times[best] - t))
            best = k;
    return best;
}

int taut_record_rows_get(taut_record *record, int64_t first, int64_t count, taut_memory_rows *rows,
                         taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(record);
    TAUT_REQUIRE(first >= 0 && first <= record->rows && count <= record->rows - first);
    const taut_record_field *f = record->field;
    double *array[TAUT_RECORD_FIELDS];
    count = count < 0 ? record->rows - first : count;
    taut_arena_clear(&record->rows_arena);
    TAUT_TRY(taut_record_read_rows(record, first, count, array, error));
    taut_memory_rows own = {.rows = count,
                            .coordinates = f[TAUT_RECORD_POSITION].width,
                            .velocities = f[TAUT_RECORD_VELOCITY].width,
                            .multipliers = f[TAUT_RECORD_MULTIPLIER].width,
                            .outputs = f[TAUT_RECORD_OUTPUT].width,
                            .t = array[TAUT_RECORD_TIME],
                            .q = array[TAUT_RECORD_POSITION],
                            .v = array[TAUT_RECORD_VELOCITY],
                            .lambda = array[TAUT_RECORD_MULTIPLIER],
                            .output = array[TAUT_RECORD_OUTPUT],
                            .energy = array[TAUT_RECORD_ENERGY],
                            .drift = array[TAUT_RECORD_DRIFT],
                            .event = array[TAUT_RECORD_EVENT]};
    return taut_struct_fill(rows, &own, sizeof own, "taut_memory_rows", error);
}
