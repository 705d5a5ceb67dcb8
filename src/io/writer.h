/* writer.h - what the file sinks share: ownership, and writing with errors noticed. */
#ifndef TAUT_IO_WRITER_H
#define TAUT_IO_WRITER_H

#include <stdio.h>

#include "base/memory.h"

struct taut_file_sink {
    taut_arena arena;
    char *path;  /* where the result goes; "-" is standard output */
    FILE *file;  /* open for writing, or NULL */
    int failure; /* errno of the first write that failed, or 0 */
    void *work;  /* of the kind of sink, in the arena */
    /* removes what must not stay behind; may be NULL */
    void (*discard)(struct taut_file_sink *sink);
};

/* A sink with a copy of its path and `bytes` of zeroed work. */
int taut_writer_create(const char *path, size_t bytes, taut_file_sink **sink, taut_error *error);
/* Opens `path` for writing; "-" is standard output. */
int taut_writer_open(taut_file_sink *sink, const char *path, taut_error *error);
void taut_writer_bytes(taut_file_sink *sink, const char *bytes, size_t count);
void taut_writer_text(taut_file_sink *sink, const char *text);
void taut_writer_number(taut_file_sink *sink, double value, int digits);
/* As fprintf, for %s, %d and %g alone; %g gives 12 digits, with a point in every locale. */
void taut_writer_format(taut_file_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fails when a write has failed since the sink was opened. */
int taut_writer_check(taut_file_sink *sink, taut_error *error);
/* Flushes and closes; reports what failed, now or before. Closing twice does nothing. */
int taut_writer_close(taut_file_sink *sink, taut_error *error);

#endif
