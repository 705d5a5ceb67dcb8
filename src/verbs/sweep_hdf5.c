/* sweep_hdf5.c - the table of a sweep as HDF5: /varied and /kept [rows][names], /varied_text (words
 * and numbers as in CSV), /status, /error, /steps, /force_evaluations, /message [rows]. */
#include <string.h>

#include "io/hdf5_table.h"
#include "verbs/sweep.h"

/* Texts of equal room, one after the other; *size: the room of each. */
static char *pack(taut_arena *arena, int64_t count,
                  const char *(*text)(const taut_sweep *, int64_t), const taut_sweep *sweep,
                  size_t *size)
{
    *size = 1;
    for (int64_t k = 0; k < count; k++)
        *size = strlen(text(sweep, k)) + 1 > *size ? strlen(text(sweep, k)) + 1 : *size;
    char *all = taut_arena_get(arena, count, *size);
    for (int64_t k = 0; k < count && all; k++)
        memcpy(all + (size_t)k * *size, text(sweep, k), strlen(text(sweep, k)));
    return all;
}

static const char *varied_name(const taut_sweep *sweep, int64_t k)
{
    return sweep->plan.varied[k].name;
}

static const char *keep_name(const taut_sweep *sweep, int64_t k)
{
    return sweep->keep[k];
}

static const char *message(const taut_sweep *sweep, int64_t k)
{
    return sweep->record[k].message;
}

static const char *status(const taut_sweep *sweep, int64_t k)
{
    return taut_sweep_status(sweep->record[k].status);
}

static int write_table(const taut_sweep *sweep, taut_arena *arena, const char *path,
                       taut_error *error)
{
    const int64_t rows = sweep->rows, names = sweep->plan.count;
    size_t varied_size, keep_size, message_size, status_size;
    double *error_of, *steps, *evaluations;
    char *varied = pack(arena, names, varied_name, sweep, &varied_size),
         *keep = pack(arena, sweep->keeps, keep_name, sweep, &keep_size),
         *messages = pack(arena, rows, message, sweep, &message_size),
         *statuses = pack(arena, rows, status, sweep, &status_size),
         *text = taut_arena_get(arena, rows * names, TAUT_VARIED_TEXT);
    TAUT_NEED(error, varied, keep, messages, statuses, text);
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &error_of, &steps, &evaluations));
    for (int64_t k = 0; k < rows; k++) {
        error_of[k] = sweep->record[k].error;
        steps[k] = (double)sweep->record[k].steps;
        evaluations[k] = (double)sweep->record[k].force_evaluations;
        for (int j = 0; j < names; j++)
            taut_vary_value(&sweep->plan, k, j, text + (k * names + j) * TAUT_VARIED_TEXT);
    }
    const taut_hdf5_set set[] = {
        {"/varied", sweep->varied, NULL, 0, rows, names, varied, varied_size},
        {"/varied_text", NULL, text, TAUT_VARIED_TEXT, rows, names, varied, varied_size},
        {"/kept", sweep->kept, NULL, 0, rows, sweep->keeps, keep, keep_size},
        {"/status", NULL, statuses, status_size, rows, 0, NULL, 0},
        {"/error", error_of, NULL, 0, rows, 0, NULL, 0},
        {"/steps", steps, NULL, 0, rows, 0, NULL, 0},
        {"/force_evaluations", evaluations, NULL, 0, rows, 0, NULL, 0},
        {"/message", NULL, messages, message_size, rows, 0, NULL, 0}};
    return taut_hdf5_write(path, "sweep", set, sizeof set / sizeof set[0], error);
}

int taut_sweep_hdf5(const taut_sweep *sweep, const char *path, taut_error *error)
{
    taut_arena arena;
    taut_error_clear(error);
    TAUT_REQUIRE(sweep && path);
    taut_arena_init(&arena, &sweep->arena.allocator);
    int code = write_table(sweep, &arena, path, error);
    taut_arena_clear(&arena);
    return code;
}
