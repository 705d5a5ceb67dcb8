/* uniform.h - random numbers, always the same [Marsaglia 2003, xorshift]. */
#ifndef TAUT_TESTS_SUPPORT_UNIFORM_H
#define TAUT_TESTS_SUPPORT_UNIFORM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

static inline double uniform(double from, double to)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return from + (to - from) * (double)(random_state >> 11) * 0x1p-53;
}

#endif
