/* digest.c - SHA-256 as in FIPS 180-4, sections 4.1.2 (functions), 4.2.2 (constants), 5.1.1
 * (padding), 6.2 (the hash). */
#include "expr/digest.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        const uint32_t low = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t high = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = high + w[t - 7] + low + w[t - 16];
    }
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], s[8]; /* the message schedule; a..h of the standard */
    schedule(block, w);
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t++) {
        const uint32_t big1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const uint32_t t1 = s[7] + big1 + choice + round_constant[t] + w[t];
        const uint32_t big0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + big0 + majority;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void taut_digest_begin(taut_digest *digest)
{
    /* the fractional parts of the square roots of the first 8 primes */
    *digest = (taut_digest){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                      0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void taut_digest_add(taut_digest *digest, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    while (length > 0) {
        const size_t at = (size_t)(digest->length % 64), room = 64 - at,
                     part = length < room ? length : room;
        memcpy(digest->block + at, bytes, part);
        digest->length += part;
        bytes += part;
        length -= part;
        if (part == room)
            compress(digest->state, digest->block);
    }
}

void taut_digest_end(taut_digest *digest, unsigned char result[TAUT_DIGEST_BYTES])
{
    static const unsigned char padding[64] = {0x80};
    const uint64_t bits = digest->length * 8;
    const size_t at = (size_t)(digest->length % 64);
    taut_digest_add(digest, padding, at < 56 ? 56 - at : 120 - at);
    unsigned char size[8];
    for (int i = 0; i < 8; i++)
        size[i] = (unsigned char)(bits >> (56 - 8 * i));
    taut_digest_add(digest, size, sizeof size);
    for (int i = 0; i < TAUT_DIGEST_BYTES; i++)
        result[i] = (unsigned char)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}
