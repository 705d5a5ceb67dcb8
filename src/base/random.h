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

/* A number in [0, 1) that depends on a seed and two places only, whatever was drawn before: the
 * mixing function of splitmix64 [Steele, Lea, Flood 2014, figure 15]. */
static inline double taut_random_at(uint64_t seed, uint64_t i, uint64_t j)
{
    uint64_t place[3] = {seed, i, j}, z = 0;
    for (int k = 0; k < 3; k++) {
        z += place[k] + 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return (double)(z >> 11) / 9007199254740992.0;
}

#endif
