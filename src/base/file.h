/* file.h - files that others may have prepared: model files and tables. */
#ifndef TAUT_BASE_FILE_H
#define TAUT_BASE_FILE_H

#include "base/memory.h"

enum { TAUT_FILE_WHY = 200 };

/* The contents of a regular file of at most `most` bytes, terminated, in the arena. With a folder
 * the file is inside it or below: `name` is relative, and symbolic links that lead out of the
 * folder are refused. Without one, `name` is a path that the user gave. NULL on failure, with a
 * reason, which is empty when out of memory. */
char *taut_file_read(const char *folder, const char *name, size_t most, taut_arena *arena,
                     size_t *length, char why[TAUT_FILE_WHY]);

#endif
