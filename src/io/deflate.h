/* deflate.h - bytes that grow, compressed as RFC 1951 describes, and as base64. */
#ifndef TAUT_IO_DEFLATE_H
#define TAUT_IO_DEFLATE_H

#include "base/memory.h"

typedef struct taut_bytes {
    taut_arena *arena;
    unsigned char *data;
    int64_t count, capacity;
    bool failed; /* out of memory: what follows is ignored */
} taut_bytes;

void taut_bytes_add(taut_bytes *to, const void *bytes, int64_t count);
/* Appends `count` bytes, compressed (raw deflate). */
void taut_deflate(taut_bytes *to, const unsigned char *bytes, int64_t count);
/* Appends them as base64. */
void taut_base64(taut_bytes *to, const unsigned char *bytes, int64_t count);

#endif
