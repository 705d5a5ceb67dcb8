/* library.c - see library.h. What is loaded stays loaded: OpenBLAS cannot be unloaded while its
 * threads run. */
#if !defined TAUT_CORE && !defined _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif

#include "base/library.h"

#ifdef TAUT_CORE

void taut_blas_threads(int count)
{
    (void)count; /* there is no BLAS */
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { UNKNOWN, THERE, MISSING };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of loading, and of what follows */

static void set_address(taut_library *library, int k, void *address)
{
    memcpy((char *)library->table + (size_t)k * sizeof address, &address, sizeof address);
}

#ifdef TAUT_LOADS

#include <dlfcn.h>
#include <sys/resource.h>

enum { MOST = 8 }; /* more than there are libraries */

/* OpenBLAS ends the process when its threads find no room: a limited process does better with own
 * kernels. It needs 30 MB, and for each thread a stack of 8 MB and a buffer of 32 MB. */
static const double room_needed = 1e9;

static void *loaded[MOST];
static int loaded_count, threads_wanted;

static void set_threads(void *handle, int count)
{
    void (*set)(int) = NULL;
    void *symbol = dlsym(handle, "openblas_set_num_threads"); /* absent from other BLAS libraries */
    memcpy(&set, &symbol, sizeof symbol);
    if (set && count > 0)
        set(count);
}

static bool has_room(taut_library *library)
{
    struct rlimit room;
    if (!library->blas || getrlimit(RLIMIT_AS, &room) != 0 || room.rlim_cur == RLIM_INFINITY ||
        (double)room.rlim_cur >= room_needed)
        return true;
    snprintf(library->reason, sizeof library->reason,
             "the address space of this process is limited to %.0f MB (ulimit -v)",
             (double)room.rlim_cur / 1e6);
    return false;
}

/* Fills the table, or gives the reason. */
static bool open_library(taut_library *library)
{
    if (!has_room(library))
        return false;
    void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
    bool good = handle != NULL;
    /* A program that links the library too has its own copies of variables, which the library then
     * uses: they come first in the order of the program, not in that of the handle. */
    const char *first = library->import[0].name;
    bool shared = good && dlsym(RTLD_DEFAULT, first) == dlsym(handle, first);
    for (int k = 0; good && k < library->imports; k++) {
        void *symbol = dlsym(shared ? RTLD_DEFAULT : handle, library->import[k].name);
        set_address(library, k, symbol);
        good = symbol != NULL;
    }
    if (!good) {
        const char *why = dlerror();
        snprintf(library->reason, sizeof library->reason, "%s", why ? why : "a symbol is missing");
        if (handle)
            dlclose(handle);
        return false;
    }
    if (library->blas && loaded_count < MOST) {
        loaded[loaded_count++] = handle;
        set_threads(handle, threads_wanted);
    }
    return true;
}

void taut_blas_threads(int count)
{
    pthread_mutex_lock(&lock);
    threads_wanted = count;
    for (int k = 0; k < loaded_count; k++)
        set_threads(loaded[k], count);
    pthread_mutex_unlock(&lock);
}

#else

static bool open_library(taut_library *library)
{
    for (int k = 0; k < library->imports; k++)
        set_address(library, k, library->import[k].linked);
    return true;
}

#ifdef TAUT_HAVE_LAPACK
extern void openblas_set_num_threads(int count)
    __attribute__((weak)); /* absent from other BLAS libraries */
#endif

void taut_blas_threads(int count)
{
#ifdef TAUT_HAVE_LAPACK
    if (openblas_set_num_threads && count > 0)
        openblas_set_num_threads(count);
#else
    (void)count;
#endif
}

#endif

bool taut_library_load(taut_library *library)
{
    int state = atomic_load_explicit(&library->state, memory_order_acquire);
    if (state != UNKNOWN)
        return state == THERE;
    pthread_mutex_lock(&lock);
    state = atomic_load_explicit(&library->state, memory_order_relaxed);
    if (state == UNKNOWN) {
        state = open_library(library) ? THERE : MISSING;
        atomic_store_explicit(&library->state, state, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return state == THERE;
}

int taut_library_fail(const taut_library *library, const char *loss, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "%s: the library %s cannot be loaded; Debian has it in the package %s (%s)",
                     loss, library->file, library->package, library->reason);
}

#endif
