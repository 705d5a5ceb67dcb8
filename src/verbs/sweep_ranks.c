/* sweep_ranks.c - a sweep over several processes: each computes runs of its own, and all get the
 * rows of all, in rounds. */
#include "verbs/sweep.h"

#include <stdio.h>
#include <string.h>

/* A row as it is sent; the kept values follow. */
typedef struct shared {
    int64_t ready, status, steps, force_evaluations;
    double error;
    char message[TAUT_SPACE_WORDS];
} shared;

static size_t row_bytes(const taut_sweep *sweep)
{
    return sizeof(shared) + (size_t)sweep->keeps * sizeof(double);
}

static void pack(const taut_sweep *sweep, int64_t k, char *to)
{
    shared row = {0};
    if (k < sweep->plan.runs && sweep->record[k].ready) {
        const taut_sweep_record *r = &sweep->record[k];
        row = (shared){.ready = 1,
                       .status = r->status,
                       .steps = r->steps,
                       .force_evaluations = r->force_evaluations,
                       .error = r->error};
        snprintf(row.message, sizeof row.message, "%s", r->message);
        memcpy(to + sizeof row, sweep->kept + k * sweep->keeps,
               (size_t)sweep->keeps * sizeof(double));
    }
    memcpy(to, &row, sizeof row);
}

static int unpack(taut_sweep *sweep, int64_t k, const char *from, taut_error *error)
{
    shared row;
    memcpy(&row, from, sizeof row);
    if (!row.ready || sweep->record[k].ready)
        return TAUT_OK;
    taut_sweep_record *r = &sweep->record[k];
    *r = (taut_sweep_record){.status = (int)row.status,
                             .ready = true,
                             .error = row.error,
                             .steps = row.steps,
                             .force_evaluations = row.force_evaluations};
    r->message = taut_arena_text(&sweep->arena, row.message, strlen(row.message));
    memcpy(sweep->kept + k * sweep->keeps, from + sizeof row,
           (size_t)sweep->keeps * sizeof(double));
    return r->message ? TAUT_OK : taut_fail_memory(error);
}

int taut_sweep_trade(taut_sweep *sweep, taut_space *space, int64_t begin, int64_t each, bool read,
                     taut_error *error)
{
    const int size = space->size;
    const size_t bytes = row_bytes(sweep);
    taut_arena scratch;
    taut_arena_init(&scratch, &sweep->arena.allocator);
    char *mine = TAUT_NEW(&scratch, char, each *(int64_t)bytes),
         *all = TAUT_NEW(&scratch, char, size *each *(int64_t)bytes);
    int status = taut_space_agree(space, mine && all ? 0 : taut_fail_memory(error), error);
    for (int64_t j = 0; status == 0 && j < each; j++)
        pack(sweep, read ? begin + j : begin + j * size + space->rank, mine + (size_t)j * bytes);
    if (status == 0)
        space->calls->gather(space, each * (int64_t)bytes, mine, all);
    for (int64_t i = 0; status == 0 && i < size * each; i++) {
        const int64_t rank = i / each, j = i % each, k = read ? begin + j : begin + j * size + rank;
        if (k < sweep->plan.runs)
            status = unpack(sweep, k, all + (size_t)i * bytes, error);
    }
    taut_arena_clear(&scratch);
    return taut_space_agree(space, status, error);
}
