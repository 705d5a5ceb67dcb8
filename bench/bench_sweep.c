/* bench_sweep.c - 1000 runs of the double pendulum, each with its measured error, on two threads:
 * rows name | limit | value | verdict. Processor time does not depend on what else the machine
 * does. */
#define _POSIX_C_SOURCE 200809L
#include <taut/taut.h>

#include "bench.h"

/* `vary` as of taut sweep. */
static int measure(const taut_system *system, const taut_load *how, const taut_options *options,
                   const char *vary)
{
    static const char *const keep[] = {"max(energy)", "end(x2)"};
    taut_sweep_request request;
    taut_sweep *sweep = NULL;
    taut_error error;
    char name[200];
    taut_sweep_request_init(&request);
    request.vary = &vary;
    request.vary_count = 1;
    request.keep = keep;
    request.keep_count = 2;
    request.threads = 2;
    request.load = how;
    double begin = now(), used = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    int status = taut_sweep_run(system, options, &request, NULL, NULL, NULL, &sweep, &error);
    double wall = now() - begin;
    used = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - used;
    if (status != 0)
        printf("sweep | failed | %s\n", error.message);
    snprintf(name, sizeof name, "double_pendulum, %s, two threads, seconds", vary);
    row(name, 2, wall);
    snprintf(name, sizeof name, "double_pendulum, %s, processor time over two, seconds", vary);
    row(name, 2, used / 2);
    taut_sweep_destroy(sweep);
    return status != 0;
}

int main(void)
{
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_error error;
    taut_load how;
    taut_load_init(&how);
    int status =
        taut_system_load(TAUT_SOURCE_DIR "/models/double_pendulum.taut", &how, &system, &error);
    if (status == 0)
        status = taut_options_create(NULL, &options, &error);
    if (status == 0)
        status = taut_options_set(options, "verify", "auto", &error);
    if (status != 0)
        printf("sweep | failed | %s\n", error.message);
    else
        status = measure(system, &how, options, "lift=0:0.5:1000") |
                 measure(system, &how, options, "omega=1e4:1e6:log1000");
    taut_options_destroy(options);
    taut_system_destroy(system);
    return status != 0;
}
