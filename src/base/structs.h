/* structs.h - structs that callers allocate: they begin with their size, which is that of the
 * header the caller was compiled with. Later versions add members at the end, so that an older
 * struct is a shorter one: what it lacks is read as zero, and not written. */
#ifndef TAUT_BASE_STRUCTS_H
#define TAUT_BASE_STRUCTS_H

#include "base/error.h"

/* A copy of *given in full length. Fails when `given` is NULL, or its size is 0 or beyond `size`.
 */
int taut_struct_read(void *own, size_t size, const void *given, const char *name,
                     taut_error *error);
/* Writes what fits of *own into *given, whose size stays. Fails as taut_struct_read. */
int taut_struct_fill(void *given, const void *own, size_t size, const char *name,
                     taut_error *error);

#endif
