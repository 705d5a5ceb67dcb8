/* rows.c - a run from C, as taut.Model.solve makes it: rows MODEL.taut REPEAT FILE
 * [OPTION=VALUE]... writes the rows, t q v lambda outputs of each, as doubles to FILE, and prints
 * the shortest processor time of a run: options, solver, rows in memory. Exit status 3: it was
 * refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <taut/taut.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int never(void *user, double t, double until, int64_t steps)
{
    (void)user, (void)t, (void)until, (void)steps;
    return 0;
}

static int run(const taut_system *system, char **set, int count, taut_memory_sink **memory,
               taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_sink sink;
    int status = taut_options_create(NULL, &options, error);
    for (int k = 0; k < count && status == 0; k++) {
        char name[64];
        size_t length = strcspn(set[k], "=");
        snprintf(name, sizeof name, "%.*s", (int)length, set[k]);
        status = taut_options_set(options, name, set[k] + length + 1, error);
    }
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    if (status == 0)
        status = taut_memory_sink_create(NULL, memory, &sink, error);
    if (status == 0)
        status = taut_solver_run(solver, &sink, 1, never, NULL, error);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

int main(int argc, char **argv)
{
    taut_error error = {0};
    taut_system *system = NULL;
    taut_memory_sink *memory = NULL;
    taut_memory_rows rows = {.size = sizeof rows};
    double best = 1e9;
    if (argc < 4 || taut_system_load(argv[1], NULL, &system, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    int status = 0;
    for (int k = 0; k < atoi(argv[2]) && status >= 0; k++) {
        taut_memory_sink_destroy(memory);
        memory = NULL;
        double begin = seconds(), took;
        status = run(system, argv + 4, argc - 4, &memory, &error);
        took = seconds() - begin;
        best = took < best ? took : best;
    }
    if (status < 0)
        return fprintf(stderr, "%s\n", error.message), 3;
    taut_memory_sink_get(memory, &rows, NULL);
    FILE *file = fopen(argv[3], "wb");
    for (int64_t i = 0; file && i < rows.rows; i++) {
        fwrite(rows.t + i, 8, 1, file);
        fwrite(rows.q + i * rows.coordinates, 8, (size_t)rows.coordinates, file);
        fwrite(rows.v + i * rows.velocities, 8, (size_t)rows.velocities, file);
        fwrite(rows.lambda + i * rows.multipliers, 8, (size_t)rows.multipliers, file);
        fwrite(rows.output + i * rows.outputs, 8, (size_t)rows.outputs, file);
    }
    printf("%.9g\n", best);
    return !file || fclose(file) != 0;
}
