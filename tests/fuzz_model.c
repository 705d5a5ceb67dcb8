/* fuzz_model.c - any bytes as a model file: the reader must answer with a system or an error, in bounded time and memory.
 *
 * With libFuzzer (preset fuzz) this is the target; otherwise main replays the files given as arguments, so that an input that once
 * failed can be tried in any build. */
#include <taut/taut.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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
    fprintf(stderr, "fuzz_model: broken promise: %s\n", promise);
    abort();
}

/* Names are made on request: ask for the first and the last of each kind, and for those beyond. */
static void look_at(const taut_system *system)
{
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    const struct {
        taut_item item;
        taut_index count;
    } kinds[] = {{TAUT_COORDINATE, sizes.coordinates}, {TAUT_ALGEBRAIC, sizes.algebraic}, {TAUT_BOND, sizes.bonds},
                 {TAUT_PARAMETER, sizes.parameters},   {TAUT_OUTPUT, sizes.outputs},      {TAUT_EVENT_ITEM, sizes.events}};
    char name[24];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        demand(kinds[k].count >= 0, "counts are not negative");
        if (kinds[k].count > 0) {
            demand(taut_system_name(system, kinds[k].item, 0, name, sizeof name) > 0, "the first has a name");
            demand(taut_system_name(system, kinds[k].item, kinds[k].count - 1, name, sizeof name) > 0, "the last has a name");
        }
        demand(taut_system_name(system, kinds[k].item, kinds[k].count, name, sizeof name) == 0, "beyond the last there is no name");
    }
    for (taut_index k = 0; k < sizes.warnings; k++)
        demand(taut_system_warning(system, k) != NULL, "warnings have a text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t used = 0;
    taut_allocator allocator = {bounded_allocate, bounded_release, &used};
    taut_load how = {.allocator = &allocator};
    taut_system *system = NULL;
    taut_error error = {0};

    int status = taut_system_parse((const char *)data, size, "fuzz", &how, &system, &error);
    if (status == 0) {
        demand(system != NULL, "success gives a system");
        look_at(system);
    } else {
        demand(status < 0, "reading ends with success or an error");
        demand(system == NULL, "an error creates nothing");
        demand(error.code == status && error.message[0], "an error has its code and a message");
        demand(status != TAUT_ERROR_MODEL || (error.line > 0 && error.column > 0), "a wrong model has a place");
    }
    taut_system_destroy(system);
    demand(used == 0, "all memory is given back");
    return 0;
}

#ifndef TAUT_LIBFUZZER
static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "fuzz_model: cannot read %s\n", path);
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
