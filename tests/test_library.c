/* test_library.c - optional libraries that are loaded at the first request: found, missing,
 * without a symbol, requested by several threads at once. libm stands for a library. */
#if !defined TAUT_CORE && !defined _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/library.h"

#include <string.h>

#include "support/table.h"

#ifdef TAUT_LOADS

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

typedef struct calls {
    double (*root)(double);
    double (*sine)(double);
} calls;

static const taut_import imports[] = {{"sqrt", NULL}, {"sin", NULL}};
static const taut_import strange[] = {{"sqrt", NULL}, {"taut_no_such_function", NULL}};

static void found(void)
{
    calls c = {0};
    taut_library library = {.file = "libm.so.6", .imports = 2, .import = imports, .table = &c};
    check_group("a library that is there");
    if (check_row(taut_library_load(&library), "libm.so.6 is loaded: %s", library.reason)) {
        check_near("its square root", c.root(2), 1.4142135623730951, 1e-15);
        check_near("its sine", c.sine(1), 0.8414709848078965, 1e-15);
    }
    check_row(taut_library_load(&library), "and stays loaded");
}

static void missing(void)
{
    calls c = {0};
    taut_error error;
    taut_library none = {.file = "libtaut-missing.so.7",
                         .package = "libtaut-missing7",
                         .imports = 2,
                         .import = imports,
                         .table = &c};
    taut_library other = {
        .file = "libm.so.6", .package = "libm-dev", .imports = 2, .import = strange, .table = &c};
    check_group("a library that is not there");
    check_row(!taut_library_load(&none) && !taut_library_load(&none), "a missing file, twice");
    int code = taut_library_fail(&none, "no such thing", &error);
    check_row(code == TAUT_ERROR_UNAVAILABLE && strstr(error.message, "no such thing: ") &&
                  strstr(error.message, "libtaut-missing.so.7 cannot be loaded") &&
                  strstr(error.message, "package libtaut-missing7"),
              "loss, file and package: %s", error.message);
    check_row(!taut_library_load(&other) && strstr(other.reason, "taut_no_such_function"),
              "a missing function is named: %s", other.reason);
}

/* OpenBLAS would end a process that cannot start its threads. */
static void limited(void)
{
    calls c = {0};
    struct rlimit before, now;
    taut_library blas = {
        .file = "libm.so.6", .blas = true, .imports = 2, .import = imports, .table = &c};
    taut_library plain = {.file = "libm.so.6", .imports = 2, .import = imports, .table = &c};
    check_group("little address space");
    getrlimit(RLIMIT_AS, &before);
    now = before;
    now.rlim_cur = 900u << 20;
    if (getenv("TAUT_TEST_SANITIZED") || setrlimit(RLIMIT_AS, &now) != 0) {
        check_skip("the address space cannot be limited here");
        return;
    }
    bool without = !taut_library_load(&blas), with = taut_library_load(&plain);
    setrlimit(RLIMIT_AS, &before);
    check_row(without && strstr(blas.reason, "ulimit -v"), "no library with threads: %s",
              blas.reason);
    check_row(with, "others are loaded: %s", plain.reason);
}

/* ---- several threads at once */

enum { THREADS = 8, ROUNDS = 20 };
static calls shared_calls;
static taut_library shared_library;
static pthread_barrier_t together;
static atomic_int wrong;

static void *request(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&together);
    if (!taut_library_load(&shared_library) || shared_calls.root(9) != 3)
        atomic_fetch_add(&wrong, 1);
    return NULL;
}

static void at_once(void)
{
    check_group("eight threads");
    pthread_barrier_init(&together, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[THREADS];
        shared_calls = (calls){0};
        shared_library = (taut_library){
            .file = "libm.so.6", .imports = 2, .import = imports, .table = &shared_calls};
        for (int k = 0; k < THREADS; k++)
            if (pthread_create(&thread[k], NULL, request, NULL) != 0) {
                check_row(false, "threads cannot be created");
                exit(check_done());
            }
        for (int k = 0; k < THREADS; k++)
            pthread_join(thread[k], NULL);
    }
    pthread_barrier_destroy(&together);
    check_row(atomic_load(&wrong) == 0, "%d requests found a library that was not ready",
              atomic_load(&wrong));
}

int main(void)
{
    found();
    missing();
    limited();
    at_once();
    return check_done();
}

#else

int main(void)
{
    check_skip("this build links its libraries, or has none");
    return check_done();
}

#endif
