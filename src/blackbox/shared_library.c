/* shared_library.c - a shared library as a flow, by three functions that it exports
 * (docs/black-boxes.md):
 *
 *     int  taut_flow_open(int version, int n, const char *const *names, void **user);
 *     int  taut_flow_advance(void *user, double t, double H, double *z);
 *     void taut_flow_close(void *user);
 *
 * Unlike a program it shares memory and life with the host: where it crashes, both end. */
#if !defined TAUT_CORE && !defined _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "blackbox/flows.h"
#include "system/system.h"

#ifndef TAUT_LOADS

int taut_flow_shared_library(const taut_system *system, taut_arena *arena,
                             taut_statistics *statistics, const char *path, taut_flow **flow,
                             taut_error *error)
{
    (void)system;
    (void)arena;
    (void)statistics;
    *flow = NULL;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "[stepper] library '%.200s': this build cannot load libraries; let a small "
                     "program call it (docs/black-boxes.md) and name that as the command",
                     path);
}

#else

#include <dlfcn.h>

enum { VERSION = 1, NAME_MOST = 200 };

typedef struct library_flow {
    taut_flow flow;
    const taut_system *system;
    void *handle, *user;
    bool opened;
    double *work; /* [size] */
    int (*open)(int version, int n, const char *const *names, void **user);
    int (*advance)(void *user, double t, double H, double *z);
    void (*close)(void *user);
} library_flow;

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    library_flow *f = (library_flow *)flow;
    taut_copy(flow->size, state, f->work);
    flow->statistics->micro_steps++;
    int status = f->advance(f->user, t, H, f->work);
    if (status < 0)
        return taut_fail(error, TAUT_ERROR_STOPPED,
                         "taut_flow_advance of the library asked to stop at t = %g (it returned "
                         "%d)",
                         t, status);
    if (status > 0) {
        taut_fail(error, TAUT_ERROR_EVALUATE,
                  "taut_flow_advance of the library cannot go on from t = %g (it returned %d)", t,
                  status);
        return TAUT_RETRY;
    }
    if (taut_check_finite(f->system, TAUT_COORDINATE, "the library", t, f->work, flow->size,
                          error) != 0)
        return TAUT_RETRY;
    taut_copy(flow->size, f->work, state);
    return TAUT_OK;
}

static void destroy(taut_flow *flow)
{
    library_flow *f = (library_flow *)flow;
    if (f->opened)
        f->close(f->user);
    if (f->handle)
        dlclose(f->handle);
}

static int find(library_flow *f, const char *name, void *pointer, const char *path,
                taut_error *error)
{
    void *symbol = dlsym(f->handle, name);
    if (!symbol)
        return taut_fail(error, TAUT_ERROR_PROCESS,
                         "the library '%.200s' does not export the function %s", path, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return TAUT_OK;
}

static int load(library_flow *f, const char *path, taut_arena *arena, taut_error *error)
{
    taut_index n = f->flow.size;
    const char **names = TAUT_NEW(arena, const char *, n);
    f->work = TAUT_NEW(arena, double, n);
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < n; i++) {
        char name[NAME_MOST];
        taut_system_name(f->system, TAUT_COORDINATE, i, name, sizeof name);
        if (!(names[i] = taut_arena_text(arena, name, strlen(name))))
            return taut_fail_memory(error);
    }
    f->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!f->handle)
        return taut_fail(error, TAUT_ERROR_PROCESS, "cannot load the library '%.200s': %.300s",
                         path, dlerror());
    TAUT_TRY(find(f, "taut_flow_open", &f->open, path, error));
    TAUT_TRY(find(f, "taut_flow_advance", &f->advance, path, error));
    TAUT_TRY(find(f, "taut_flow_close", &f->close, path, error));
    int status = f->open(VERSION, (int)n, names, &f->user);
    f->opened = status == 0;
    if (status != 0)
        return taut_fail(error, TAUT_ERROR_PROCESS,
                         "the library '%.200s' does not accept version %d with these %d variables "
                         "(taut_flow_open returned %d)",
                         path, VERSION, (int)n, status);
    return TAUT_OK;
}

int taut_flow_shared_library(const taut_system *system, taut_arena *arena,
                             taut_statistics *statistics, const char *path, taut_flow **flow,
                             taut_error *error)
{
    *flow = NULL;
    library_flow *f = TAUT_NEW(arena, library_flow, 1);
    TAUT_NEED(error, f);
    *f = (library_flow){.flow = {.name = "library",
                                 .size = system->sizes.coordinates,
                                 .advance = advance,
                                 .destroy = destroy,
                                 .statistics = statistics},
                        .system = system};
    return taut_flow_made(&f->flow, load(f, path, arena, error), flow);
}

#endif
