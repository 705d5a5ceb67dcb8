/* pool.c - threads that share the parts of a task. A task is open under a number; a thread that
 * sees one takes parts from a common counter until there are none. The caller works too, closes the
 * task when no part is left, and waits for the threads that are inside: one that comes later finds
 * it closed, and is not waited for. Steps of a run are many short tasks: threads look for the next
 * one for a while before they sleep, and the caller waits without sleeping. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sigset_t */
#endif
#include "base/pool.h"

#include <stdatomic.h>

#include "base/vectors.h"

#ifndef _WIN32
#define THREADS 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#endif

typedef struct member {
    taut_pool *pool;
    int number;
#ifdef THREADS
    pthread_t thread;
#endif
} member;

struct taut_pool {
    taut_allocator allocator;
    int size; /* threads, the caller's among them */
    member *members;
    /* the task */
    void (*function)(void *context, int64_t part, int thread);
    void *context;
    int64_t parts;
    atomic_llong next;
#ifdef THREADS
    int64_t task;
    atomic_llong open; /* number of the task, 0: closed */
    atomic_int inside; /* threads that may use the task, without the caller */
    atomic_int asleep;
    atomic_bool leave;
    pthread_mutex_t lock; /* of sleep */
    pthread_cond_t begin;
#endif
};

static void work(taut_pool *pool, int thread)
{
    for (;;) {
        int64_t part = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (part >= pool->parts)
            return;
        pool->function(pool->context, part, thread);
    }
}

int taut_pool_size(const taut_pool *pool)
{
    return pool ? pool->size : 1;
}

#ifdef THREADS

/* LOOKS: about 50 microseconds; YIELDS: from then on the caller leaves its processor to others. */
enum { LOOKS = 2000, YIELDS = 1000 };

static inline void pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Is there something to do, other than task `seen`? */
static bool is_called(taut_pool *pool, int64_t seen)
{
    const int64_t open = atomic_load(&pool->open);
    return (open != 0 && open != seen) || atomic_load(&pool->leave);
}

static void await_call(taut_pool *pool, int64_t seen)
{
    for (int k = 0; k < LOOKS; k++) {
        if (is_called(pool, seen))
            return;
        pause_shortly();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    while (!is_called(pool, seen))
        pthread_cond_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *live(void *argument)
{
    member *m = argument;
    taut_pool *pool = m->pool;
    for (int64_t seen = 0;;) {
        await_call(pool, seen);
        if (atomic_load(&pool->leave))
            return NULL;
        atomic_fetch_add(&pool->inside, 1);
        const int64_t open = atomic_load(&pool->open);
        if (open != 0 && open != seen) {
            seen = open;
            work(pool, m->number);
        }
        atomic_fetch_sub(&pool->inside, 1);
    }
}

/* Signals of the process are for the threads of the host. */
static void start_threads(taut_pool *pool, int count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; pool->size < count; pool->size++) {
        member *m = &pool->members[pool->size];
        *m = (member){.pool = pool, .number = pool->size};
        if (pthread_create(&m->thread, NULL, live, m) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake(taut_pool *pool)
{
    if (atomic_load(&pool->asleep) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
}

void taut_pool_run(taut_pool *pool, int64_t parts,
                   void (*function)(void *context, int64_t part, int thread), void *context)
{
    pool->function = function;
    pool->context = context;
    pool->parts = parts;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (pool->size > 1 && parts > 1) {
        atomic_store(&pool->open, ++pool->task);
        wake(pool);
    }
    work(pool, 0);
    if (pool->size == 1 || parts < 2)
        return;
    atomic_store(&pool->open, 0);
    for (int k = 0; atomic_load(&pool->inside) > 0; k++)
        if (k < YIELDS)
            pause_shortly();
        else
            sched_yield();
}

static void end_threads(taut_pool *pool)
{
    atomic_store(&pool->leave, true);
    wake(pool);
    for (int k = 1; k < pool->size; k++)
        pthread_join(pool->members[k].thread, NULL);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
}

#else

static void start_threads(taut_pool *pool, int count)
{
    (void)pool;
    (void)count;
}

static void end_threads(taut_pool *pool)
{
    (void)pool;
}

void taut_pool_run(taut_pool *pool, int64_t parts,
                   void (*function)(void *context, int64_t part, int thread), void *context)
{
    pool->function = function;
    pool->context = context;
    pool->parts = parts;
    atomic_store(&pool->next, 0);
    work(pool, 0);
}

#endif

int taut_pool_create(int count, const taut_allocator *allocator, taut_pool **result,
                     taut_error *error)
{
    taut_allocator own = taut_allocator_or_default(allocator);
    size_t members = (size_t)(count > 1 ? count : 1) * sizeof(member);
    taut_pool *pool = own.allocate(own.user, sizeof *pool + members);
    *result = pool;
    if (!pool)
        return taut_fail_memory(error);
    *pool = (taut_pool){.allocator = own, .size = 1, .members = (member *)(pool + 1)};
    start_threads(pool, count);
    return TAUT_OK;
}

void taut_pool_destroy(taut_pool *pool)
{
    if (!pool)
        return;
    end_threads(pool);
    pool->allocator.release(pool->allocator.user, pool);
}

/* ---- loops */

typedef struct loop {
    taut_loop_body *body;
    void *context;
    int64_t n, block;
    double *result; /* [blocks] */
} loop;

int64_t taut_pool_block(int64_t n)
{
    const int64_t even = (n + TAUT_LOOP_BLOCKS - 1) / TAUT_LOOP_BLOCKS, whole = (even + 7) / 8 * 8;
    return whole > TAUT_LOOP_LEAST ? whole : TAUT_LOOP_LEAST;
}

static void run_block(void *context, int64_t part, int thread)
{
    const loop *l = context;
    const int64_t begin = part * l->block, end = l->n - begin < l->block ? l->n : begin + l->block;
    (void)thread;
    l->result[part] = l->body(l->context, begin, end);
}

/* All blocks; how many there are. */
static int64_t run_loop(taut_pool *pool, int64_t n, taut_loop_body *body, void *context,
                        double *result)
{
    loop l = {body, context, n, taut_pool_block(n), result};
    const int64_t blocks = (n + l.block - 1) / l.block;
    if (pool && pool->size > 1 && blocks >= TAUT_LOOP_FEWEST)
        taut_pool_run(pool, blocks, run_block, &l);
    else
        for (int64_t k = 0; k < blocks; k++)
            run_block(&l, k, 0);
    return blocks;
}

void taut_pool_share_loop(taut_pool *pool, int64_t n, taut_loop_body *body, void *context)
{
    double result[TAUT_LOOP_BLOCKS];
    run_loop(pool, n, body, context, result);
}

double taut_pool_share_largest(taut_pool *pool, int64_t n, taut_loop_body *body, void *context)
{
    double result[TAUT_LOOP_BLOCKS], most = 0;
    const int64_t blocks = run_loop(pool, n, body, context, result);
    for (int64_t k = 0; k < blocks; k++)
        most = taut_larger(most, result[k]);
    return most;
}

double taut_pool_share_sum(taut_pool *pool, int64_t n, taut_loop_body *body, void *context)
{
    double result[TAUT_LOOP_BLOCKS], sum;
    const int64_t blocks = run_loop(pool, n, body, context, result);
    sum = result[0];
    for (int64_t k = 1; k < blocks; k++)
        sum += result[k];
    return sum;
}
