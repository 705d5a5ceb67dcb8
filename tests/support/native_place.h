/* native_place.h - a folder to work in, compilers that are scripts, and small tapes: what the
 * tests of compiled tapes share. */
#ifndef TAUT_TESTS_SUPPORT_NATIVE_PLACE_H
#define TAUT_TESTS_SUPPORT_NATIVE_PLACE_H

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expr/native.h"
#include "support/table.h"

static char place[200]; /* everything happens below this folder */
static char old_path[8192];

static inline const char *in_place(const char *name)
{
    static char path[4][400];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", place, name);
    return path[turn];
}

static inline int remove_one(const char *path, const struct stat *status, int kind,
                             struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline bool find_compiler(char *path, size_t size)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    for (int i = 0; i < 3; i++)
        for (const char *at = old_path; *at;) {
            const int length = (int)strcspn(at, ":");
            snprintf(path, size, "%.*s/%s", length, at, names[i]);
            if (at[0] == '/' && access(path, X_OK) == 0)
                return true;
            at += length + (at[length] == ':');
        }
    return false;
}

typedef struct bench {
    taut_graph *graph;
    taut_arena arena;
    taut_tape *tape;
    taut_native *native;
} bench;

static inline bench bench_open(void)
{
    bench b = {.graph = taut_graph_create(NULL, 1 << 20)};
    taut_arena_init(&b.arena, NULL);
    return b;
}

static inline void bench_close(bench *b)
{
    taut_native_destroy(b->native);
    taut_arena_clear(&b->arena);
    taut_graph_destroy(b->graph);
}

static inline void bench_tape(bench *b, int inputs, int outputs, const int32_t *node,
                              const unsigned char *level)
{
    taut_error error = {0};
    if (taut_tape_create(b->graph, &b->arena, inputs, outputs, node, level, &b->tape, &error)) {
        printf("cannot make a tape: %s\n", error.message);
        exit(1);
    }
}

static inline bool bench_compile(bench *b, const char *folder)
{
    taut_error error = {0};
    const int status = taut_native_create(&b->tape, 1, in_place(folder), NULL, &b->native, &error);
    return check_row(status == 0 && b->tape->native, "compile: %d, %s", status, error.message);
}

/* Makes the folder, keeps PATH; false (and a skipped row) where there is no compiler. */
static inline bool place_open(char *compiler, size_t size)
{
    const char *path = getenv("PATH"), *folder = getenv("TMPDIR");
    snprintf(old_path, sizeof old_path, "%s", path ? path : "");
    snprintf(place, sizeof place, "%s/taut-native-XXXXXX",
             folder && folder[0] == '/' ? folder : "/tmp");
    if (!mkdtemp(place)) {
        printf("cannot make a folder in %s\n", place);
        exit(1);
    }
    if (find_compiler(compiler, size))
        return true;
    check_skip("there is no C compiler");
    return false;
}

#endif
