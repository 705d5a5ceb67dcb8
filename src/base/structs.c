/* structs.c - see structs.h. */
#include "base/structs.h"

#include <string.h>

static int find_size(const void *given, size_t most, const char *name, size_t *size,
                     taut_error *error)
{
    if (!given)
        return taut_fail(error, TAUT_ERROR_USAGE, "a %s must not be NULL", name);
    memcpy(size, given, sizeof *size);
    if (*size >= sizeof *size && *size <= most)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "the size of a %s is %lld, and this library (version %s) has %lld: %s", name,
                     (long long)*size, taut_version(), (long long)most,
                     *size < sizeof *size ? "call its _init function first"
                                          : "it was not initialised by its _init function, or the "
                                            "program needs a later version");
}

int taut_struct_read(void *own, size_t size, const void *given, const char *name, taut_error *error)
{
    size_t its = 0;
    memset(own, 0, size);
    TAUT_TRY(find_size(given, size, name, &its, error));
    memcpy(own, given, its);
    return TAUT_OK;
}

int taut_struct_fill(void *given, const void *own, size_t size, const char *name, taut_error *error)
{
    size_t its = 0;
    TAUT_TRY(find_size(given, size, name, &its, error));
    memcpy((char *)given + sizeof its, (const char *)own + sizeof its, its - sizeof its);
    return TAUT_OK;
}
