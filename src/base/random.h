/* random.h - numbers without order, the same in every run: a linear congruential generator modulo
 * 2^64, of which the upper 53 bits are taken [Knuth, The Art of Computer Programming 2, 3.3.4]. */
#ifndef TAUT_BASE_RANDOM_H
#define TAUT_BASE_RANDOM_H

#include <stdint.h>

/* The next number in [-1, 1); *state is the seed at first. */
static inline double taut_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

#endif
