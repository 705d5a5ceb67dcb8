/* bench_start_up.c - what a run of a tiny model costs from the start of the program to its end,
 * the median of many: libraries that it does not need are not loaded (src/base/library.h).
 *
 * Row: name | limit | value | verdict, in milliseconds of processor time. TAUT is the program. */
#define _XOPEN_SOURCE 700
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { RUNS = 61 };

static double children_time(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(void)
{
    char program[1000];
    char *const none[] = {NULL};
    snprintf(program, sizeof program, "%s", getenv("TAUT") ? getenv("TAUT") : "build/taut");
    char model[] = "pendulum", run[] = "run", out[] = "--out", null[] = "/dev/null",
         every[] = "--every", one[] = "1", until[] = "--until";
    char *arguments[] = {program, run, model, until, one, every, one, out, null, NULL};
    posix_spawn_file_actions_t quiet;
    double time[RUNS];
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", 1, 0);
    for (int k = 0; k < RUNS; k++) {
        double before = children_time();
        pid_t child;
        int status = 1;
        if (posix_spawn(&child, program, &quiet, NULL, arguments, none) != 0 ||
            waitpid(child, &status, 0) != child || status != 0) {
            printf("start-up | failed | %s run pendulum\n", program);
            return 1;
        }
        time[k] = children_time() - before;
    }
    posix_spawn_file_actions_destroy(&quiet);
    qsort(time, RUNS, sizeof *time, compare);
    row("taut run pendulum --until 1, processor time in ms", 4, 1e3 * time[RUNS / 2]);
    return 0;
}
