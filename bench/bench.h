/* bench.h - what every bench needs: a clock, and the row that it prints (name | limit | value |
 * verdict; a limit of 0: none). */
#ifndef TAUT_BENCH_H
#define TAUT_BENCH_H

#include <stdio.h>
#include <time.h>

static inline double bench_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

static inline void row(const char *name, double limit, double value)
{
    if (limit > 0)
        printf("%s | %.3g | %.3g | %s\n", name, limit, value, value <= limit ? "met" : "missed");
    else
        printf("%s | - | %.3g | -\n", name, value);
}

#endif
