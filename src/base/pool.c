/* pool.c - threads that share the parts of a task. A task has a number; a thread that sees a new
 * one takes parts from a common counter until there are none, and the last to end wakes the
 * caller. Between tasks threads sleep. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sigset_t */
#endif
#include "base/pool.h"

#include <stdatomic.h>

#ifndef _WIN32
#define THREADS 1
#include <pthread.h>
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
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t begin, end;
    int64_t task;
    int busy;
    bool leave;
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
    return pool->size;
}

#ifdef THREADS

static void *live(void *argument)
{
    member *m = argument;
    taut_pool *pool = m->pool;
    int64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->task == seen && !pool->leave)
            pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->leave)
            break;
        seen = pool->task;
        pthread_mutex_unlock(&pool->lock);
        work(pool, m->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals of the process are for the threads of the host. */
static void start_threads(taut_pool *pool, int count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; pool->size < count; pool->size++) {
        member *m = &pool->members[pool->size];
        *m = (member){.pool = pool, .number = pool->size};
        if (pthread_create(&m->thread, NULL, live, m) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void taut_pool_run(taut_pool *pool, int64_t parts,
                   void (*function)(void *context, int64_t part, int thread), void *context)
{
    pthread_mutex_lock(&pool->lock);
    pool->function = function;
    pool->context = context;
    pool->parts = parts;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->size - 1;
    pool->task++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void end_threads(taut_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->leave = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int k = 1; k < pool->size; k++)
        pthread_join(pool->members[k].thread, NULL);
    pthread_cond_destroy(&pool->end);
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
