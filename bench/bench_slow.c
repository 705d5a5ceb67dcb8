/* bench_slow.c - slow points of long chains. Rows: name | limit | value | verdict.
 *
 * Time per link of projection series on a crooked chain (tests/support/crooked.h), best of many:
 * 10,000 links over 100, and the dearest of 100, 1000 and 10,000 over the cheapest, per jet
 * (long chains need fewer levels than short ones, whose rounding is smaller). A chain of 1000 by
 * kernel is shown for comparison.
 *
 *     bench_slow series LINKS COUNT
 *     projects COUNT times and prints the jets of one: for bench_slow_instructions.sh */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "support/crooked.h"

/* Of this process: other load disturbs less. */
static double spent(void)
{
    return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Seconds of one projection, the best of `count`; negative when it fails. *jets: of one. */
static double project(const char *method, taut_index links, int count, double *jets)
{
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_error error = {0};
    double best = -1;
    int status = crooked_chain(links, 1e6, NULL, NULL, &system, &error);
    if (status == 0)
        status = taut_options_create(NULL, &options, &error);
    if (status == 0)
        status = taut_options_set(options, "method", method, &error);
    for (int k = 0; k < count && status == 0; k++) {
        taut_projection *projection = NULL;
        double start = spent();
        status = taut_project(system, options, NULL, &projection, &error);
        double seconds = spent() - start;
        best = best < 0 || seconds < best ? seconds : best;
        if (projection) {
            taut_projection_result result = {.size = sizeof result};
            taut_projection_result_get(projection, &result, NULL);
            *jets = (double)result.statistics.jets;
        }
        taut_projection_destroy(projection);
    }
    if (status != 0)
        printf("%s, chain of %d | failed | %s\n", method, (int)links, error.message);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return status == 0 ? best : -1;
}

int main(int argc, char **argv)
{
    double jets = 0;
    taut_blas_threads(1);
    if (argc == 4) {
        bool failed = project(argv[1], atoi(argv[2]), atoi(argv[3]), &jets) < 0;
        printf("%.0f\n", jets);
        return failed;
    }
    static const taut_index sizes[] = {100, 1000, 10000};
    double each[3], least = INFINITY, most = 0;
    for (int k = 0; k < 3; k++) {
        double seconds = project("series", sizes[k], 30000 / sizes[k] + 5, &jets);
        if (seconds < 0)
            return 1;
        each[k] = seconds / sizes[k];
        least = fmin(least, each[k] / jets);
        most = fmax(most, each[k] / jets);
        printf("series, chain of %d: %.3g us per link, %.0f jets\n", (int)sizes[k], 1e6 * each[k],
               jets);
    }
    double kernel = project("kernel", 1000, 3, &jets);
    printf("kernel, chain of 1000: %.3g us per link\n", 1e6 * kernel / 1000);
    row("slow point by series, time per link, 10000 links over 100", 1.5, each[2] / each[0]);
    row("slow point by series, time per link and jet, most over least of 100, 1000, 10000", 1.5,
        most / least);
    return kernel < 0;
}
