/* fuzz.h - what the fuzz targets share: a bounded allocator that counts, promises, and a main that
 * replays the files given as arguments where there is no libFuzzer. */
#ifndef TAUT_TESTS_SUPPORT_FUZZ_H
#define TAUT_TESTS_SUPPORT_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY_LIMIT = 256 << 20, NOTE = 16 };

/* Each block is preceded by its size, so that what is in use can be counted. */
static void *bounded_allocate(void *user, size_t bytes)
{
    size_t *used = user;
    if (bytes > MEMORY_LIMIT || *used + bytes > MEMORY_LIMIT)
        return NULL;
    char *block = malloc(bytes + NOTE);
    if (!block)
        return NULL;
    *(size_t *)(void *)block = bytes;
    *used += bytes;
    return block + NOTE;
}

static void bounded_release(void *user, void *place)
{
    size_t *used = user;
    if (!place)
        return;
    char *block = (char *)place - NOTE;
    *used -= *(size_t *)(void *)block;
    free(block);
}

/* A promise of the interface was broken: stop where the fuzzer sees it. */
static void demand(bool kept, const char *promise)
{
    if (kept)
        return;
    fprintf(stderr, "fuzz: broken promise: %s\n", promise);
    abort();
}

#ifndef TAUT_LIBFUZZER
static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "fuzz: cannot read %s\n", path);
        return 1;
    }
    enum { LONGEST = 1 << 20 };
    uint8_t *data = malloc(LONGEST);
    size_t size = data ? fread(data, 1, LONGEST, file) : 0;
    fclose(file);
    if (data)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return data ? 0 : 1;
}

int main(int count, char **argument)
{
    int status = 0;
    for (int k = 1; k < count; k++) {
        printf("%s\n", argument[k]);
        status |= replay(argument[k]);
    }
    return status;
}
#endif

#endif
