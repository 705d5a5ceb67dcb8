/* digest.h - SHA-256 [FIPS 180-4]: names for cached files, and proof that they are whole. */
#ifndef TAUT_EXPR_DIGEST_H
#define TAUT_EXPR_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { TAUT_DIGEST_BYTES = 32 };

typedef struct taut_digest {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} taut_digest;

void taut_digest_begin(taut_digest *digest);
void taut_digest_add(taut_digest *digest, const void *data, size_t length);
void taut_digest_end(taut_digest *digest, unsigned char result[TAUT_DIGEST_BYTES]);

#endif
