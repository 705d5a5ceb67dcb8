/* clock.c - CLOCK_MONOTONIC of POSIX; where there is none, the processor time of C. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "base/clock.h"

#include <time.h>

double taut_clock(void)
{
#ifdef CLOCK_MONOTONIC
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
    return (double)clock() / CLOCKS_PER_SEC;
}
