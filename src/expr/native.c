/* native.c - the backend of compiled tapes: a compiler of the system, a cache, a shared object.
 *
 * The object lies in the cache as <key>.so, key = SHA-256 of the emitted C, the compiler's path
 * and version, and the flags; the digest of the object itself is appended to it (loaders ignore
 * what follows), so that a file cut short by a crash or a full disk is built again instead of
 * being loaded. Building happens in a folder of its own inside the cache, and the result arrives
 * by rename: other processes see all of it or nothing. Programs are started with an argument
 * vector, never through a shell, and write into a file instead of a pipe, so that this process
 * holds no descriptor while it waits. A compiler that hangs is ended with all it has started. */
#ifndef TAUT_CORE
#define _XOPEN_SOURCE 700
#endif

#include "expr/native.h"

#include <math.h>

#ifdef TAUT_CORE

int taut_native_within(taut_tape *const *tapes, int count, const char *folder, double seconds,
                       const taut_allocator *allocator, taut_native **native, taut_error *error)
{
    (void)tapes, (void)count, (void)folder, (void)seconds, (void)allocator;
    *native = NULL;
    return taut_fail(
        error, TAUT_ERROR_UNAVAILABLE,
        "this build cannot compile expressions (core: no processes); they stay interpreted");
}

void taut_native_destroy(taut_native *native)
{
    (void)native;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/watchdog.h"
#include "base/number.h"
#include "expr/digest.h"
#include "expr/seal.h"

extern char **environ;

struct taut_native {
    taut_arena arena;
    void *object; /* of dlopen */
};

typedef struct native_function {
    void (*lanes)(int level, int lanes, int n, double *regs);
    void (*const *one)(double *regs);
    const taut_bound_function *bound; /* NULL for tapes that are not bound */
    taut_stages_function stages;
    taut_family_function family;
} native_function;

/* What one creation works with; texts live in the arena. */
typedef struct build {
    taut_arena *arena;
    taut_error *error;
    const char *folder;              /* the cache */
    const char *compiler;            /* absolute path */
    const char *cached;              /* the object in the cache */
    char *work;                      /* our own folder inside it, NULL before and after */
    const char *code, *object, *log; /* files in there */
    taut_source source;
    native_function *function; /* [count] */
    int count;
    double allowed; /* seconds for each program */
    bool loops;     /* over the members of families */
} build;

/* Results equal the interpreter's: no -ffast-math, and no rewriting of functions (gcc makes x /
 * sqrt(1 + x^2) of sin(atan(x))). No -march=native: a cache may be shared by machines; AVX2 where
 * this one has it (without fused operations: no value changes). */
/* clang-format off */
static const char *const flags[] = {"-std=c11", "-fPIC", "-shared", "-fno-math-errno",
                                    "-fno-trapping-math", "-fno-builtin", "-ffp-contract=off"};
/* clang-format on */
/* Without families, and with them. The first text has no loops that could become vectors, and
 * measured no slower than by -O3. In the second what is left of a loop over lanes does not become
 * another vector loop. Either way a compiler takes two thirds to three quarters of the time. */
static const char *const efforts[2][2] = {{"-O1", "-fexpensive-optimizations"},
                                          {"-O3", "--param=vect-epilogues-nomask=0"}};
enum { FLAGS = sizeof flags / sizeof *flags };
#if defined(__x86_64__) && defined(__GNUC__)
#define MACHINE_FLAG (__builtin_cpu_supports("avx2") ? "-mavx2" : "-w")
#else
#define MACHINE_FLAG "-w"
#endif

/* ---- texts */

/* first, then `between` and second; NULL when out of memory. */
static char *join(taut_arena *arena, const char *first, const char *between, const char *second)
{
    const size_t length = strlen(first) + strlen(between) + strlen(second);
    char *text = taut_arena_get(arena, (int64_t)length + 1, 1);
    if (text)
        snprintf(text, length + 1, "%s%s%s", first, between, second);
    return text;
}

/* Up to size - 1 bytes of a file, terminated; how many. */
static size_t read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    const size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    return length;
}

static bool write_text(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool written = fwrite(text, 1, length, file) == length;
    return (fclose(file) == 0) && written;
}

/* ---- folders */

static int default_folder(build *b)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') /* the XDG specification has relative ones ignored */
        b->folder = join(b->arena, cache, "/", "taut");
    else if (home && home[0] == '/')
        b->folder = join(b->arena, home, "/", ".cache/taut");
    else
        return taut_fail(b->error, TAUT_ERROR_UNAVAILABLE,
                         "no place for compiled expressions: set XDG_CACHE_HOME or HOME");
    return b->folder ? 0 : taut_fail_memory(b->error);
}

/* Makes the folder and those above it; whether that worked shows when the result is examined. */
static int make_folders(build *b)
{
    char *path = taut_arena_text(b->arena, b->folder, strlen(b->folder));
    TAUT_NEED(b->error, path);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    return 0;
}

/* A user who can write in a folder of the path can replace what is below it. So each of them
 * belongs to this user or to root and is closed to others, or it is like /tmp: it belongs to root,
 * and entries belong to their owners (the sticky bit). After this the folder has its real path,
 * without links. */
static int check_above(build *b)
{
    char *path = TAUT_NEW(b->arena, char, PATH_MAX);
    TAUT_NEED(b->error, path);
    if (!realpath(b->folder, path))
        return taut_fail(b->error, TAUT_ERROR_FILE,
                         "the folder %s for compiled expressions cannot be found: %s", b->folder,
                         strerror(errno));
    b->folder = taut_arena_text(b->arena, path, strlen(path));
    TAUT_NEED(b->error, b->folder);
    for (char *slash; (slash = strrchr(path, '/'));) {
        struct stat status;
        *slash = '\0';
        const char *above = *path ? path : "/";
        if (stat(above, &status) || (status.st_uid != 0 && status.st_uid != geteuid()))
            return taut_fail(b->error, TAUT_ERROR_REFUSED,
                             "the folder %s, above the one for compiled expressions, belongs to "
                             "another user; choose another folder",
                             above);
        bool closed = !(status.st_mode & (S_IWGRP | S_IWOTH)),
             sticky = status.st_uid == 0 && status.st_mode & S_ISVTX;
        if (!closed && !sticky)
            return taut_fail(b->error, TAUT_ERROR_REFUSED,
                             "the folder %s, above the one for compiled expressions, can be "
                             "written by others; choose another folder, or chmod go-w",
                             above);
    }
    return 0;
}

/* Code is loaded from here, so that no other user may be able to write there: a real folder of
 * this user, in a place where others cannot replace it. */
static int check_folder(build *b)
{
    struct stat status;
    if (lstat(b->folder, &status))
        return taut_fail(b->error, TAUT_ERROR_FILE,
                         "cannot make the folder %s for compiled expressions: %s", b->folder,
                         strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return taut_fail(b->error, TAUT_ERROR_REFUSED,
                         "%s, the folder for compiled expressions, is not a folder", b->folder);
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
        return taut_fail(b->error, TAUT_ERROR_REFUSED,
                         "the folder for compiled expressions, %s, can be written by others; make "
                         "it yours alone: chmod 700",
                         b->folder);
    return check_above(b);
}

static int open_folder(build *b, const char *folder)
{
    if (!folder)
        TAUT_TRY(default_folder(b));
    else if (!(b->folder = join(b->arena, folder[0] == '/' ? "" : "./", folder, "")))
        return taut_fail_memory(b->error);
    TAUT_TRY(make_folders(b));
    return check_folder(b);
}

static int open_work(build *b)
{
    char *work = join(b->arena, b->folder, "/", "build-XXXXXX");
    TAUT_NEED(b->error, work);
    if (!mkdtemp(work))
        return taut_fail(b->error, TAUT_ERROR_FILE, "cannot write in %s: %s", b->folder,
                         strerror(errno));
    b->work = work;
    b->code = join(b->arena, work, "/", "tape.c");
    b->object = join(b->arena, work, "/", "tape.so");
    b->log = join(b->arena, work, "/", "log");
    return b->code && b->object && b->log ? 0 : taut_fail_memory(b->error);
}

static void close_work(build *b)
{
    if (!b->work)
        return;
    const char *const files[] = {b->code, b->object, b->log};
    for (int i = 0; i < 3; i++)
        if (files[i])
            unlink(files[i]);
    rmdir(b->work);
    b->work = NULL;
}

/* ---- programs */

/* The first of cc, gcc, clang in the absolute folders of PATH. (The variable CC is not read: it
 * is often more than a program.) */
static int find_compiler(build *b)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    const char *path = getenv("PATH");
    if (geteuid() != getuid() || getegid() != getgid())
        return taut_fail(
            b->error, TAUT_ERROR_REFUSED,
            "no compiler is started with the rights of another user; expressions stay interpreted");
    for (size_t k = 0; path && k < sizeof names / sizeof *names; k++) {
        for (const char *at = path; *at;) {
            const size_t length = strcspn(at, ":");
            char *place = at[0] == '/' ? taut_arena_text(b->arena, at, length) : NULL;
            const char *file = place ? join(b->arena, place, "/", names[k]) : NULL;
            struct stat status;
            if (at[0] == '/' && !file)
                return taut_fail_memory(b->error);
            if (file && stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                access(file, X_OK) == 0) {
                b->compiler = file;
                return 0;
            }
            at += length + (at[length] == ':');
        }
    }
    return taut_fail(b->error, TAUT_ERROR_UNAVAILABLE,
                     "no C compiler (cc, gcc, clang) found in PATH; expressions stay interpreted, "
                     "which is slower");
}

/* Output of the program goes to the log; signals are as in a fresh process, whatever the host
 * has ignored or blocked. */
static int start_program(const char *const *arguments, const char *log, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    sigset_t ordinary, none;
    sigemptyset(&none);
    sigemptyset(&ordinary);
    sigaddset(&ordinary, SIGCHLD);
    sigaddset(&ordinary, SIGPIPE);
    int failed =
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600) ||
        posix_spawn_file_actions_adddup2(&actions, 1, 2) ||
        posix_spawnattr_setsigdefault(&attributes, &ordinary) ||
        posix_spawnattr_setsigmask(&attributes, &none) ||
        posix_spawnattr_setpgroup(&attributes, 0) ||
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETPGROUP);
    if (!failed) {
        /* posix_spawn promises not to write to the arguments */
        char *vector[FLAGS + 10];
        int count = 0;
        for (; arguments[count]; count++)
            memcpy(&vector[count], &arguments[count], sizeof *vector);
        vector[count] = NULL;
        failed = posix_spawn(child, arguments[0], &actions, &attributes, vector, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : 0;
}

/* Seconds that a compiler has: TAUT_COMPILE_SECONDS of the environment, or a minute; at most
 * `limit`. */
static double time_allowed(double limit)
{
    const char *text = getenv("TAUT_COMPILE_SECONDS");
    double seconds;
    return fmin(text && taut_number_parse(text, &seconds) && seconds > 0 ? seconds : 60, limit);
}

/* As waitpid, but kills the group of a child that takes too long, and returns 0 then. Sleeps grow
 * with the time that has passed, so that a fast program is not waited for. */
static pid_t wait_for(pid_t child, double allowed, int *status)
{
    double begin = taut_clock();
    for (;;) {
        pid_t got = waitpid(child, status, WNOHANG);
        double passed = taut_clock() - begin;
        if (got != 0 && !(got < 0 && errno == EINTR))
            return got;
        if (got == 0 && passed > allowed) {
            kill(-child, SIGKILL);
            while (waitpid(child, status, 0) < 0 && errno == EINTR)
                ;
            return 0;
        }
        double pause = fmin(fmax(0.02 * passed, 2e-4), 0.02);
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
    }
}

/* 0 when the program ended well, 1 when it was ended because it took too long. A host that ignores
 * SIGCHLD, or reaps every child itself, leaves us without a status (ECHILD): then what the program
 * wrote is examined. */
static int run_program(const build *b, const char *const *arguments)
{
    pid_t child;
    taut_watchdog watchdog;
    int status = 0;
    if (start_program(arguments, b->log, &child))
        return -1;
    taut_watchdog_begin(&watchdog, child);
    pid_t got = wait_for(child, b->allowed, &status);
    int reason = errno;
    taut_watchdog_end(&watchdog);
    if (got <= 0)
        return got == 0 ? 1 : reason == ECHILD ? 0 : -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* Status 1: it took too long. */
static int program_failed(build *b, const char *what, int status)
{
    char text[300];
    if (status > 0)
        return taut_fail(b->error, TAUT_ERROR_PROCESS,
                         "%s was ended after %g s; expressions stay interpreted. The variable "
                         "TAUT_COMPILE_SECONDS allows more",
                         b->compiler, b->allowed);
    read_text(b->log, text, sizeof text);
    text[strcspn(text, "\r\n")] = '\0';
    return taut_fail(b->error, TAUT_ERROR_PROCESS,
                     "%s %s; expressions stay interpreted. Its output: %s", b->compiler, what,
                     text[0] ? text : "(nothing)");
}

/* ---- cache */

static void add_text(taut_digest *digest, const char *text)
{
    taut_digest_add(digest, text, strlen(text) + 1);
}

/* Names the cached object after everything it depends on. */
static int name_object(build *b)
{
    char version[4096], name[2 * TAUT_DIGEST_BYTES + 4];
    const char *const arguments[] = {b->compiler, "--version", NULL};
    int status = run_program(b, arguments);
    if (status || read_text(b->log, version, sizeof version) == 0)
        return program_failed(b, "does not report its version", status);
    taut_digest digest;
    taut_digest_begin(&digest);
    add_text(&digest, b->compiler);
    add_text(&digest, version);
    for (int i = 0; i < FLAGS; i++)
        add_text(&digest, flags[i]);
    add_text(&digest, MACHINE_FLAG);
    for (int i = 0; i < 2; i++)
        add_text(&digest, efforts[b->loops][i]);
    add_text(&digest, b->source.text);
    unsigned char sum[TAUT_DIGEST_BYTES];
    taut_digest_end(&digest, sum);
    for (int i = 0; i < TAUT_DIGEST_BYTES; i++)
        snprintf(name + 2 * i, 3, "%02x", sum[i]);
    memcpy(name + 2 * TAUT_DIGEST_BYTES, ".so", 4);
    b->cached = join(b->arena, b->folder, "/", name);
    return b->cached ? 0 : taut_fail_memory(b->error);
}

static int compile(build *b)
{
    if (!write_text(b->code, b->source.text, (size_t)b->source.length))
        return taut_fail(b->error, TAUT_ERROR_FILE, "cannot write %s: %s", b->code,
                         strerror(errno));
    const char *arguments[FLAGS + 10];
    int count = 0;
    arguments[count++] = b->compiler;
    for (int i = 0; i < FLAGS; i++)
        arguments[count++] = flags[i];
    arguments[count++] = "-w";
    arguments[count++] = MACHINE_FLAG;
    for (int i = 0; i < 2; i++)
        arguments[count++] = efforts[b->loops][i];
    arguments[count++] = "-o";
    arguments[count++] = b->object;
    arguments[count++] = b->code;
    arguments[count++] = "-lm";
    arguments[count] = NULL;
    int status = run_program(b, arguments);
    if (status || access(b->object, R_OK))
        return program_failed(b, "cannot compile the expressions", status);
    if (!taut_seal_write(b->object) || rename(b->object, b->cached))
        return taut_fail(b->error, TAUT_ERROR_FILE, "cannot write %s: %s", b->cached,
                         strerror(errno));
    return 0;
}

static void *find_symbol(void *object, int k, const char *form)
{
    char name[40];
    snprintf(name, sizeof name, "taut_f%d%s", k, form);
    return dlsym(object, name);
}

/* dlsym gives a data pointer; POSIX has it mean a function all the same. */
static bool find_function(void *object, int k, native_function *function)
{
    void *lanes = find_symbol(object, k, ""), *stages = find_symbol(object, k, "_stages"),
         *family = find_symbol(object, k, "_family");
    memcpy(&function->lanes, &lanes, sizeof lanes);
    memcpy(&function->stages, &stages, sizeof stages);
    memcpy(&function->family, &family, sizeof family);
    function->one = find_symbol(object, k, "_one");
    function->bound = find_symbol(object, k, "_bound");
    return lanes || function->one || function->bound;
}

/* Loads the cached object and finds its functions. */
static int load(build *b, void **object)
{
    *object = taut_seal_holds(b->cached) ? dlopen(b->cached, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int i = 0; *object && i < b->count; i++)
        if (!find_function(*object, i, &b->function[i])) {
            dlclose(*object);
            *object = NULL;
        }
    return *object ? 0 : -1;
}

/* ---- interface */

static int emit_all(build *b, taut_tape *const *tapes)
{
    int64_t length = 0;
    for (int i = 0; i < b->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "taut_f%d", i);
        TAUT_TRY(taut_native_emit(tapes[i], name, &b->source, b->error));
        length += tapes[i]->length;
        if (tapes[i]->members != 1 && !(tapes[i]->binding && tapes[i]->binding->alone))
            b->loops = true;
    }
    if (length > TAUT_NATIVE_TOTAL)
        return taut_fail(
            b->error, TAUT_ERROR_SIZE,
            "%lld operations are too many to compile (at most %d in all); they stay interpreted",
            (long long)length, TAUT_NATIVE_TOTAL);
    return 0;
}

static int make(build *b, taut_native *native, taut_tape *const *tapes, const char *folder)
{
    TAUT_TRY(emit_all(b, tapes));
    TAUT_TRY(find_compiler(b));
    TAUT_TRY(open_folder(b, folder));
    TAUT_TRY(open_work(b));
    TAUT_TRY(name_object(b));
    if (load(b, &native->object) == 0)
        return 0;
    unlink(b->cached);
    TAUT_TRY(compile(b));
    if (load(b, &native->object) == 0)
        return 0;
    const char *why = dlerror();
    unlink(b->cached);
    return taut_fail(b->error, TAUT_ERROR_PROCESS,
                     "the compiled expressions cannot be loaded; they stay interpreted: %s",
                     why ? why : b->cached);
}

int taut_native_within(taut_tape *const *tapes, int count, const char *folder, double seconds,
                       const taut_allocator *allocator, taut_native **native, taut_error *error)
{
    *native = NULL;
    if (count < 1)
        return taut_fail(error, TAUT_ERROR_USAGE, "there are no expressions to compile");
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_native *made = TAUT_NEW(&arena, taut_native, 1);
    build b = {.arena = &arena,
               .error = error,
               .count = count,
               .allowed = time_allowed(seconds),
               .source = {.arena = &arena}};
    b.function = TAUT_NEW(&arena, native_function, count);
    int status = made && b.function ? make(&b, made, tapes, folder) : taut_fail_memory(error);
    close_work(&b);
    if (status) {
        taut_arena_clear(&arena);
        return status;
    }
    for (int i = 0; i < count; i++) {
        tapes[i]->native = b.function[i].lanes;
        tapes[i]->native_levels = taut_native_levels(tapes[i]);
        tapes[i]->native_one = b.function[i].one;
        tapes[i]->native_bound = b.function[i].bound;
        tapes[i]->native_stages = b.function[i].stages;
        tapes[i]->native_family = b.function[i].family;
    }
    made->arena = arena;
    *native = made;
    return 0;
}

void taut_native_destroy(taut_native *native)
{
    if (!native)
        return;
    dlclose(native->object);
    taut_arena arena = native->arena; /* the object itself lies in it */
    taut_arena_clear(&arena);
}

#endif

int taut_native_create(taut_tape *const *tapes, int count, const char *folder,
                       const taut_allocator *allocator, taut_native **native, taut_error *error)
{
    return taut_native_within(tapes, count, folder, INFINITY, allocator, native, error);
}
