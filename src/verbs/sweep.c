/* sweep.c - many runs of one system with different values, and one row for each.
 *
 * The system is loaded and analysed once; a run has a system derived from it with its parameters
 * and initial values, and a solver of its own. Where a parameter fixes sizes or indices, the model
 * is read again. Threads take runs in their order; rows are written in the same order, each when
 * all before it are complete, so that neither rows nor values depend on the number of threads. Of
 * several processes each takes every size-th run, in rounds. */
#include "verbs/sweep.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/pool.h"
#include "base/structs.h"
#include "system/system.h"

typedef struct sweeping {
    taut_sweep *sweep;
    const taut_system *system;
    const taut_options *options;
    bool several;          /* runs at the same time */
    const taut_load *load; /* or NULL */
    const taut_keep *keep; /* of `system` */
    taut_file_sink *file;  /* or NULL */
    bool structural;       /* each run reads the model */
    int64_t first;         /* runs before it are there already */
    taut_space *space;     /* of several processes, or NULL; first: of the present round */
    taut_progress progress;
    void *user;
    atomic_int stop;
    /* under the lock: rows, the file, the arena of the sweep, and what follows */
    pthread_mutex_t lock;
    int64_t done, failed;
    int status; /* of what ends the sweep */
    taut_error *error;
} sweeping;

/* What one run needs. */
typedef struct run {
    sweeping *s;
    int64_t k;
    taut_arena arena;
    taut_system *with, *starting, *read; /* its own systems, or NULL */
    const taut_system *system;
    taut_options *options;
    taut_solver *solver;
    taut_keeping *keeping;
    double *kept;
} run;

const char *taut_sweep_status(int status)
{
    return status < 0                  ? "failed"
           : status == TAUT_EVENT      ? "event"
           : status == TAUT_LIMIT      ? "limit"
           : status == TAUT_INACCURATE ? "inaccurate"
                                       : "done";
}

/* ---- one run */

static int set_options(run *r, taut_error *error)
{
    char text[TAUT_VARIED_TEXT];
    const taut_vary_plan *plan = &r->s->sweep->plan;
    TAUT_TRY(taut_options_create(&r->arena.allocator, &r->options, error));
    if (r->s->options)
        TAUT_TRY(taut_options_merge(r->options, r->s->options, error));
    if (r->s->several) /* which have a processor each */
        TAUT_TRY(taut_options_set(r->options, "threads", "1", error));
    for (int j = 0; j < plan->count; j++) {
        if (plan->varied[j].kind != TAUT_VARY_OPTION)
            continue;
        taut_vary_value(plan, r->k, j, text);
        TAUT_TRY(taut_options_set(r->options, plan->varied[j].name, text, error));
    }
    return TAUT_OK;
}

/* The values of one kind; their number. */
static taut_index collect(const run *r, int kind, taut_index *k, double *value)
{
    char text[TAUT_VARIED_TEXT];
    const taut_vary_plan *plan = &r->s->sweep->plan;
    taut_index count = 0;
    for (int j = 0; j < plan->count; j++)
        if ((int)plan->varied[j].kind == kind) {
            k[count] = plan->varied[j].k;
            value[count++] = taut_vary_value(plan, r->k, j, text);
        }
    return count;
}

static int derive(run *r, taut_error *error)
{
    const int names = r->s->sweep->plan.count;
    taut_index *k = TAUT_NEW(&r->arena, taut_index, names);
    double *value = TAUT_NEW(&r->arena, double, names);
    TAUT_NEED(error, k, value);
    taut_index count = collect(r, TAUT_VARY_PARAMETER, k, value);
    if (count > 0) {
        TAUT_TRY(taut_system_with(r->system, count, k, value, &r->with, error));
        r->system = r->with;
    }
    count = collect(r, TAUT_VARY_START, k, value);
    if (count > 0) {
        TAUT_TRY(taut_system_starting(r->system, count, k, value, &r->starting, error));
        r->system = r->starting;
    }
    return TAUT_OK;
}

/* `given` and after them NAME=VALUE of the varied values of one kind. */
static int add_texts(run *r, int kind, const char *const **list, int *count, taut_error *error)
{
    enum { LENGTH = 400 };
    const taut_vary_plan *plan = &r->s->sweep->plan;
    const char **all = TAUT_NEW(&r->arena, const char *, *count + plan->count);
    char value[TAUT_VARIED_TEXT];
    TAUT_NEED(error, all);
    for (int k = 0; k < *count; k++)
        all[k] = (*list)[k];
    for (int j = 0; j < plan->count; j++) {
        if ((int)plan->varied[j].kind != kind)
            continue;
        char *text = TAUT_NEW(&r->arena, char, LENGTH);
        TAUT_NEED(error, text);
        taut_vary_value(plan, r->k, j, value);
        snprintf(text, LENGTH, "%s=%s", plan->varied[j].name, value);
        all[(*count)++] = text;
    }
    *list = all;
    return TAUT_OK;
}

static int read_again(run *r, taut_error *error)
{
    const taut_system *system = r->s->system;
    taut_load how = *r->s->load;
    const char *slash = system->file ? strrchr(system->file, '/') : NULL;
    TAUT_TRY(add_texts(r, TAUT_VARY_PARAMETER, &how.set, &how.set_count, error));
    TAUT_TRY(add_texts(r, TAUT_VARY_START, &how.init, &how.init_count, error));
    how.allocator = &r->arena.allocator;
    if (!how.table_folder)
        how.table_folder =
            slash ? taut_arena_text(&r->arena, system->file, (size_t)(slash - system->file)) : ".";
    TAUT_NEED(error, how.table_folder);
    TAUT_TRY(
        taut_system_parse(system->text, system->text_length, system->file, &how, &r->read, error));
    r->system = r->read;
    return TAUT_OK;
}

/* Any thread may ask whether to go on, one at a time: the last run need not be that of the caller.
 */
static int progress(void *user, double t, double until, int64_t steps)
{
    const run *r = user;
    sweeping *s = r->s;
    (void)t, (void)until, (void)steps;
    if (s->progress && !atomic_load(&s->stop) && pthread_mutex_trylock(&s->lock) == 0) {
        if (s->progress(s->user, (double)s->done, (double)s->sweep->plan.runs, s->failed) != 0)
            atomic_store(&s->stop, 1);
        pthread_mutex_unlock(&s->lock);
    }
    return atomic_load(&s->stop) != 0;
}

static int compute(run *r, taut_error *error)
{
    sweeping *s = r->s;
    const taut_keep *keep = s->keep;
    r->system = s->system;
    TAUT_TRY(TAUT_RESERVE(&r->arena, s->sweep->keeps, error, &r->kept));
    for (int j = 0; j < s->sweep->keeps; j++)
        r->kept[j] = NAN;
    TAUT_TRY(set_options(r, error));
    TAUT_TRY(s->structural ? read_again(r, error) : derive(r, error));
    if (s->structural) { /* names may have other places */
        taut_keep *own;
        TAUT_TRY(
            taut_keep_create(&r->arena, r->system, s->sweep->keep, s->sweep->keeps, &own, error));
        keep = own;
    }
    TAUT_TRY(taut_keeping_create(&r->arena, keep, &r->keeping, error));
    TAUT_TRY(taut_solver_create(r->system, r->options, &r->arena.allocator, &r->solver, error));
    taut_sink sink = taut_keeping_sink(r->keeping);
    int status = taut_solver_run(r->solver, &sink, 1, progress, r, error);
    if (status >= 0 && status != TAUT_INTERRUPTED)
        taut_keeping_values(r->keeping, r->kept);
    return status;
}

static void release(run *r)
{
    taut_solver_destroy(r->solver);
    taut_options_destroy(r->options);
    taut_system_destroy(r->starting);
    taut_system_destroy(r->with);
    taut_system_destroy(r->read);
    taut_arena_clear(&r->arena);
}

/* ---- rows, under the lock */

static int write_ready(sweeping *s, taut_error *error)
{
    taut_sweep *sweep = s->sweep;
    for (; sweep->rows < sweep->plan.runs && sweep->record[sweep->rows].ready; sweep->rows++)
        if (s->file)
            TAUT_TRY(taut_sweep_csv_row(sweep, s->file, sweep->rows, error));
    return TAUT_OK;
}

static int keep_row(run *r, int status, const taut_error *reason, taut_error *error)
{
    taut_sweep *sweep = r->s->sweep;
    taut_sweep_record *record = &sweep->record[r->k];
    taut_result result = {.size = sizeof result, .error = NAN};
    if (r->solver)
        taut_solver_result_get(r->solver, &result, NULL);
    const taut_statistics *cost = &result.statistics;
    *record = (taut_sweep_record){.status = status,
                                  .error = result.error,
                                  .steps = cost->steps,
                                  .force_evaluations =
                                      cost->force_evaluations + cost->fast_force_evaluations,
                                  .message = ""};
    if (status < 0)
        record->message = taut_arena_text(&sweep->arena, reason->message, strlen(reason->message));
    TAUT_NEED(error, record->message);
    for (int j = 0; j < sweep->keeps; j++)
        sweep->kept[r->k * sweep->keeps + j] = r->kept[j];
    record->ready = true;
    r->s->done++;
    r->s->failed += status < 0;
    return r->s->space ? TAUT_OK : write_ready(r->s, error);
}

/* Run `part` of those of this process after those that were there already. */
static void one(void *context, int64_t part, int thread)
{
    sweeping *s = context;
    taut_error reason = {.t = NAN}, final = {.t = NAN};
    run r = {.s = s, .k = s->first + part * taut_space_ranks(s->space) + taut_space_rank(s->space)};
    (void)thread;
    if (r.k >= s->sweep->plan.runs || progress(&r, 0, 0, 0) != 0)
        return;
    taut_arena_init(&r.arena, &s->sweep->arena.allocator);
    int status = compute(&r, &reason);
    if (status != TAUT_INTERRUPTED) {
        int failure = status < 0 ? taut_fail_final(status, &reason, &final) : TAUT_OK;
        pthread_mutex_lock(&s->lock);
        if (failure == 0)
            failure = keep_row(&r, status, &reason, &final);
        if (failure != 0 && s->status == 0) {
            s->status = failure;
            if (s->error)
                *s->error = final;
        }
        pthread_mutex_unlock(&s->lock);
        if (failure != 0)
            atomic_store(&s->stop, 1);
    }
    release(&r);
}

/* ---- the sweep */

static int prepare(taut_sweep *sweep, sweeping *s, const taut_sweep_request *request,
                   taut_error *error)
{
    taut_keep *keep;
    char text[TAUT_VARIED_TEXT];
    TAUT_TRY(taut_vary_create(&sweep->arena, s->system, request, &sweep->plan, error));
    const int names = sweep->plan.count;
    const int64_t runs = sweep->plan.runs;
    sweep->keeps = request->keep_count;
    sweep->keep = TAUT_NEW(&sweep->arena, const char *, sweep->keeps);
    sweep->record = TAUT_NEW(&sweep->arena, taut_sweep_record, runs);
    TAUT_NEED(error, sweep->keep, sweep->record);
    for (int k = 0; k < sweep->keeps; k++) {
        TAUT_REQUIRE(request->keep[k]);
        sweep->keep[k] = taut_arena_text(&sweep->arena, request->keep[k], strlen(request->keep[k]));
        TAUT_NEED(error, sweep->keep[k]);
    }
    TAUT_TRY(TAUT_RESERVE(&sweep->arena, runs * sweep->keeps, error, &sweep->kept));
    TAUT_TRY(TAUT_RESERVE(&sweep->arena, runs * names, error, &sweep->varied));
    for (int64_t k = 0; k < runs * names; k++)
        sweep->varied[k] = taut_vary_value(&sweep->plan, k / names, (int)(k % names), text);
    TAUT_TRY(taut_keep_create(&sweep->arena, s->system, sweep->keep, sweep->keeps, &keep, error));
    s->keep = keep;
    for (int j = 0; j < names; j++) {
        bool fixed = sweep->plan.varied[j].structural;
        s->structural |= fixed;
        if (fixed && (!s->load || !s->system->text))
            return taut_fail_option(error, TAUT_ERROR_REFUSED, "vary",
                                    "%.60s fixes sizes or indices: the model must be read again, "
                                    "which needs `load` of the request",
                                    sweep->plan.varied[j].name);
    }
    return TAUT_OK;
}

/* Rows that are in the file already. */
static int open_file(sweeping *s, const taut_sweep_request *request, taut_error *error)
{
    if (request->path && taut_space_rank(s->space) == 0)
        TAUT_TRY(taut_writer_create(request->path, 1, &s->file, error));
    if (s->file && request->resume)
        TAUT_TRY(taut_sweep_csv_read(s->sweep, s->file, error));
    return s->file ? taut_sweep_csv_begin(s->sweep, s->file, error) : TAUT_OK;
}

/* The processes have all rows after each round; they end together. */
static int run_rounds(sweeping *s, taut_pool *pool, taut_error *error)
{
    enum { EACH = 8 }; /* runs of a thread in a round */
    taut_sweep *sweep = s->sweep;
    const int64_t runs = sweep->plan.runs, size = s->space->size,
                  each = EACH * (int64_t)taut_pool_size(pool),
                  known = (int64_t)taut_space_largest(s->space, (double)sweep->rows);
    for (int64_t k = 0; k < known; k += each)
        TAUT_TRY(
            taut_sweep_trade(sweep, s->space, k, known - k < each ? known - k : each, true, error));
    sweep->rows = s->done = known;
    for (s->first = known; s->first < runs; s->first += each * size) {
        taut_pool_run(pool, each, one, s);
        TAUT_TRY(taut_space_agree(s->space, s->status, error));
        TAUT_TRY(taut_sweep_trade(sweep, s->space, s->first, each, false, error));
        TAUT_TRY(taut_space_agree(s->space, write_ready(s, error), error));
        s->done = sweep->rows;
        if (taut_space_largest(s->space, atomic_load(&s->stop)) > 0)
            break;
    }
    return TAUT_OK;
}

static int run_all(sweeping *s, const taut_sweep_request *request, taut_error *error)
{
    taut_sweep *sweep = s->sweep;
    taut_pool *pool = NULL;
    TAUT_TRY(taut_space_agree(s->space, open_file(s, request, error), error));
    s->first = s->done = sweep->rows;
    for (int64_t k = 0; k < sweep->rows; k++)
        s->failed += sweep->record[k].status < 0;
    int64_t left = sweep->plan.runs - s->first, threads = request->threads;
    threads = threads < 1 ? 1 : threads > left ? left : threads;
    if (s->space) /* alike on all ranks */
        threads = request->threads < 1 ? 1 : request->threads;
    TAUT_TRY(
        taut_pool_create(threads < 1 ? 1 : (int)threads, &sweep->arena.allocator, &pool, error));
    s->several = taut_pool_size(pool) > 1 || s->space;
    if (s->space)
        s->status = run_rounds(s, pool, error);
    else
        taut_pool_run(pool, left, one, s);
    taut_pool_destroy(pool);
    if (s->status != 0)
        return s->status;
    if (s->file)
        TAUT_TRY(taut_writer_close(s->file, error));
    return sweep->rows < sweep->plan.runs ? TAUT_INTERRUPTED : TAUT_OK;
}

int taut_sweep_run(const taut_system *system, const taut_options *options,
                   const taut_sweep_request *request, const taut_allocator *allocator,
                   taut_progress called, void *user, taut_sweep **result, taut_error *error)
{
    taut_sweep_request own;
    taut_load how = {0};
    taut_error_clear(error);
    if (result)
        *result = NULL;
    TAUT_REQUIRE(system && result);
    TAUT_TRY(taut_struct_read(&own, sizeof own, request, "taut_sweep_request", error));
    TAUT_REQUIRE((own.vary || own.vary_count == 0) && (own.keep || own.keep_count == 0));
    TAUT_REQUIRE(own.keep_count >= 0 && own.random >= 0);
    if (own.load)
        TAUT_TRY(taut_struct_read(&how, sizeof how, own.load, "taut_load", error));
    how.size = sizeof how;
    taut_allocator from = taut_allocator_or_default(allocator);
    taut_sweep *sweep = from.allocate(from.user, sizeof *sweep);
    TAUT_NEED(error, sweep);
    *sweep = (taut_sweep){0};
    taut_arena_init(&sweep->arena, &from);
    sweep->line.arena = &sweep->arena;
    sweeping s = {.sweep = sweep,
                  .system = system,
                  .options = options,
                  .load = own.load ? &how : NULL,
                  .space = own.space,
                  .progress = called,
                  .user = user,
                  .error = error};
    pthread_mutex_init(&s.lock, NULL);
    int status = prepare(sweep, &s, &own, error);
    if (status == 0)
        status = run_all(&s, &own, error);
    taut_file_sink_destroy(s.file);
    pthread_mutex_destroy(&s.lock);
    if (status >= 0)
        *result = sweep;
    else
        taut_sweep_destroy(sweep);
    return status;
}

void taut_sweep_destroy(taut_sweep *sweep)
{
    if (!sweep)
        return;
    taut_allocator from = sweep->arena.allocator;
    taut_arena_clear(&sweep->arena);
    from.release(from.user, sweep);
}

int64_t taut_sweep_rows(const taut_sweep *sweep, int64_t *runs)
{
    if (runs)
        *runs = sweep ? sweep->plan.runs : 0;
    return sweep ? sweep->rows : 0;
}

int taut_sweep_get(const taut_sweep *sweep, int64_t k, taut_swept *row, taut_error *error)
{
    TAUT_REQUIRE(sweep && k >= 0 && k < sweep->rows);
    const taut_sweep_record *record = &sweep->record[k];
    taut_swept own = {.varied = sweep->varied + k * sweep->plan.count,
                      .kept = sweep->kept + k * sweep->keeps,
                      .status = record->status,
                      .error = record->error,
                      .steps = record->steps,
                      .force_evaluations = record->force_evaluations,
                      .message = record->message};
    return taut_struct_fill(row, &own, sizeof own, "taut_swept", error);
}

bool taut_sweep_text(const taut_sweep *sweep, int64_t k, int j, char *buffer, size_t size)
{
    char text[TAUT_VARIED_TEXT];
    if (!sweep || k < 0 || k >= sweep->plan.runs || j < 0 || j >= sweep->plan.count)
        return false;
    taut_vary_value(&sweep->plan, k, j, text);
    snprintf(buffer, size, "%s", text);
    return true;
}
