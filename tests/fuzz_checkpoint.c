/* fuzz_checkpoint.c - any bytes as a checkpoint: the file of the program is parsed or refused; the
 * bytes of a run are put behind the right fingerprint and in front of the right digest, as someone
 * would who means harm, so that every number of the walk is the fuzzer's. Then the run is refused,
 * or goes on with wrong numbers: some steps, with rows, that end with a result or an error.
 *
 * The first byte chooses the model and the method. With libFuzzer (preset fuzz) this is the target;
 * otherwise main replays files. TAUT_FUZZ_SEEDS=FOLDER writes inputs to begin with. */
#define _POSIX_C_SOURCE 200809L
#include <taut/taut.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/checkpoint_file.h"
#include "expr/digest.h"

/* A promise of the interface was broken: stop where the fuzzer sees it. */
static void demand(bool kept, const char *promise)
{
    if (kept)
        return;
    fprintf(stderr, "fuzz_checkpoint: broken promise: %s\n", promise);
    abort();
}

static const char rods[] = "[coordinates]\nx, y, u\n[potential]\n9.81*y + (u - x)^2\n[bonds]\n"
                           "rod = sqrt(x^2 + y^2) - 1   rigid\n[outputs]\nf = lambda(rod)\n"
                           "[events]\nw = x + 0.2   falling   then x' = -x', y' = -y'\n"
                           "[start]\nx = 1, y = 0, u = 0.5\n[run]\nuntil = 3\n";
static const char springs[] = "[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\n"
                              "rod = sqrt(x^2 + y^2) - 1   stiffness 1e4\n"
                              "[start]\nx = 1, y = 0\n[run]\nuntil = 3\n";
static const char potential[] = "[coordinates]\nx, y\n[forces]\ny = -1\n[stiff potential]\n"
                                "(x^2 + y^2 - 1)^2/4   scale 1e8\n"
                                "[start]\nx = 1, y = 0\n[run]\nuntil = 2\n";
static const char first[] = "[state]\nx, z\n[algebraic]\ny\n[rates]\nx' = -x + y\nz' = x - y\n"
                            "[constraints]\nc = x + 2*z - cos(t)\n[start]\nx = 1, z = 0\n"
                            "[run]\nuntil = 3\n";
static const char stiff[] = "[state]\nx, y\n[rates]\nx' = y\ny' = 500*(1 - x^2)*y - x\n"
                            "[start]\nx = 2, y = 0\n[run]\nuntil = 800\n";

/* other independent bonds are selected on the way */
static const char linkage[] =
    "[definitions]\nc[1] = (0, 0), c[2] = (1.5, 0), c[3] = (0.5, 0.75)\n[particles]\ndimension = "
    "2\np[i] for i in 1..3  mass i\n[potential]\nsum(i*p[i].y for i in 1..3)\n[bonds]\n"
    "crank[i] = length(p[i] - c[i]) - 1 for i in 1..3\nside[1] = length(p[2] - p[1]) - 1.5\n"
    "side[2] = length(p[3] - p[2]) - 1.25\nside[3] = length(p[1] - p[3]) - sqrt(13)/4\n[start]\n"
    "p[i] = c[i] + (0, -1) for i in 1..3\np[i]' = (2.2, 0) for i in 1..3\n[run]\nuntil = 20\n";

static const struct {
    const char *model, *method, *motion, *step, *newton;
} cases[] = {
    {springs, "verlet", "full", "1e-3", "auto"},
    {rods, "rattle", "rigid", "1e-3", "auto"},
    {rods, "dop8", "rigid", NULL, "auto"},
    {rods, "radau5", "rigid", NULL, "auto"},
    {rods, "radau3", "rigid", NULL, "tensor"},
    {springs, "radau5", "slow", NULL, "tensor"},
    {rods, "ab2", "rigid", "1e-3", "auto"},
    {springs, "projected-impulse", "effective", "1e-2", "auto"},
    {potential, "radau5", "slow", NULL, "auto"},
    {first, "radau5", NULL, NULL, "tensor"},
    {first, "dop8", NULL, NULL, "auto"},
    {stiff, NULL, NULL, NULL, "auto"},
    {linkage, "dop8", "rigid", NULL, "auto"},
    {linkage, "rattle", "rigid", "1e-1", "auto"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static taut_system *systems[CASES];

static taut_solver *make(int k)
{
    taut_error error;
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    if (!systems[k])
        taut_system_parse(cases[k].model, strlen(cases[k].model), "fuzz", NULL, &systems[k],
                          &error);
    taut_options_create(NULL, &options, NULL);
    if (cases[k].method)
        taut_options_set(options, "method", cases[k].method, NULL);
    if (cases[k].motion)
        taut_options_set(options, "motion", cases[k].motion, NULL);
    if (cases[k].step)
        taut_options_set(options, "step", cases[k].step, NULL);
    taut_options_set(options, "newton", cases[k].newton, NULL);
    taut_options_set(options, "verify", "never", NULL);
    if (taut_solver_create(systems[k], options, NULL, &solver, &error) != 0)
        fprintf(stderr, "fuzz_checkpoint: case %d: %s\n", k, error.message);
    demand(solver != NULL, "the solvers can be made");
    taut_options_destroy(options);
    return solver;
}

/* ---- a saved run in memory */

typedef struct bytes {
    unsigned char *data;
    size_t count, room;
} bytes;

static int keep(void *user, const void *from, size_t count)
{
    bytes *to = user;
    if (to->count + count > to->room) {
        to->room = 2 * (to->count + count);
        to->data = realloc(to->data, to->room);
    }
    memcpy(to->data + to->count, from, count);
    to->count += count;
    return 0;
}

/* mark, order, format, length of the version and the version; the fingerprint: two digests, six
 * sums, the number of processes */
static size_t head_size(void)
{
    return 8 + 8 + 4 + 4 + strlen(taut_version()) + 2 * TAUT_DIGEST_BYTES + 6 * 8 + 4;
}

static int ends_soon(void *user, double t, double until, int64_t steps)
{
    int *calls = user;
    (void)t;
    (void)until;
    (void)steps;
    return ++*calls > 3;
}

static int count_row(void *user, const taut_row *row, taut_error *error)
{
    int *rows = user;
    (void)row;
    (void)error;
    return ++*rows > 20000 ? TAUT_ERROR_FILE : 0;
}

static void resume(int k, const uint8_t *data, size_t size)
{
    taut_error error = {0};
    bytes run = {0};
    unsigned char digest[TAUT_DIGEST_BYTES];
    taut_digest d;
    taut_solver *solver = make(k);
    demand(taut_solver_save(solver, keep, &run, &error) == 0, "a new solver can be saved");
    run.count = head_size();
    keep(&run, data, size);
    taut_digest_begin(&d);
    taut_digest_add(&d, run.data, run.count);
    taut_digest_end(&d, digest);
    keep(&run, digest, sizeof digest);
    int status = taut_solver_restore(solver, run.data, run.count, &error), calls = 0, rows = 0;
    demand(status <= 0 && (status == 0 || error.message[0]), "a refusal has a sentence");
    if (status == 0) {
        taut_sink sink = {.row = count_row, .user = &rows};
        status = taut_solver_run(solver, &sink, 1, ends_soon, &calls, &error);
        demand(status >= 0 || error.message[0], "a failure has a sentence");
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(solver, &result, NULL);
    }
    taut_solver_destroy(solver);
    free(run.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *wrong = NULL;
    cli_saved saved;
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (!file)
        return 0;
    bool whole = cli_saved_open(&saved, file, data[0] % 2, &wrong);
    demand(whole || wrong, "a file that is refused has a reason");
    cli_saved_release(&saved);
    resume(data[0] % CASES, data + 1, size - 1);
    return 0;
}

/* ---- inputs to begin with */

static int stop_at(void *user, double t, double until, int64_t steps)
{
    (void)t;
    (void)until;
    return steps >= *(int64_t *)user;
}

/* The walk of a run in progress. */
static int save_walk(void *user, taut_solver *solver, taut_error *error)
{
    bytes *to = user;
    to->count = 0;
    return taut_solver_save(solver, keep, to, error);
}

static int write_seeds(const char *folder)
{
    for (int k = 0; k < CASES; k++) {
        char path[1000];
        bytes run = {0};
        int64_t steps = 20;
        taut_solver *solver = make(k);
        taut_sink sink = {.row = count_row, .user = &(int){0}};
        taut_solver_checkpoint(solver, 0, save_walk, &run, NULL);
        taut_solver_run(solver, &sink, 1, stop_at, &steps, NULL);
        taut_solver_destroy(solver);
        snprintf(path, sizeof path, "%s/run_%d", folder, k);
        FILE *file = fopen(path, "wb");
        if (!file)
            return 1;
        fputc(k, file);
        fwrite(run.data + head_size(), 1, run.count - head_size() - TAUT_DIGEST_BYTES, file);
        fclose(file);
        free(run.data);
    }
    return 0;
}

/* libFuzzer calls it first. */
int LLVMFuzzerInitialize(int *count, char ***arguments);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    const char *folder = getenv("TAUT_FUZZ_SEEDS");
    if (folder)
        exit(write_seeds(folder));
    return 0;
}

#ifndef TAUT_LIBFUZZER

static int replay(const char *path)
{
    enum { LONGEST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(LONGEST);
    if (!file || !data) {
        fprintf(stderr, "fuzz_checkpoint: cannot read %s\n", path);
        free(data);
        return 1;
    }
    size_t size = fread(data, 1, LONGEST, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int count, char **argument)
{
    int status = LLVMFuzzerInitialize(&count, &argument);
    for (int k = 1; k < count; k++) {
        printf("%s\n", argument[k]);
        status |= replay(argument[k]);
    }
    for (int k = 0; k < CASES; k++)
        taut_system_destroy(systems[k]);
    return status;
}
#endif
