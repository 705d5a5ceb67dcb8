/* writer.h - what the file sinks share: ownership, and writing with errors noticed. */
#ifndef TAUT_IO_WRITER_H
#define TAUT_IO_WRITER_H

#include <stdio.h>

#include "io/deflate.h"

struct taut_file_sink {
    taut_arena arena;
    char *path;          /* where the result goes; "-" is standard output */
    FILE *file;          /* open for writing, or NULL */
    int failure;         /* errno of the first write that failed, or 0 */
    bool begun;          /* and not ended */
    int64_t rows, bytes; /* so far */
    int64_t whole;       /* bytes up to the latest row that was handed over */
    /* rows that are written as a whole: the longest one, and what waits; 0: stdio's own buffer */
    size_t line, room, held;
    double handed; /* when, by the clock */
    char *hold;
    char tail[64]; /* end of the latest row that was handed over */
    size_t tail_bytes;
    const void *memory;  /* what the sink needs of its rows, where they are in no file yet; NULL: */
    size_t memory_bytes; /* all are in the file */
    taut_file_mark resume; /* where begin goes on; rows < 0: a new file */
    /* makes sure that all rows so far are in the file, or in `memory`; NULL: the sink cannot go on
     * later */
    int (*mark)(struct taut_file_sink *sink, taut_error *error);
    /* sets a text that the file holds besides its rows; NULL: it has none */
    int (*text)(struct taut_file_sink *sink, const char *name, const char *text, taut_error *error);
    void *work; /* of the kind of sink, in the arena */
    /* removes what must not stay behind; may be NULL */
    void (*discard)(struct taut_file_sink *sink);
};

/* A sink with a copy of its path and `bytes` of zeroed work. */
int taut_writer_create(const char *path, size_t bytes, taut_file_sink **sink, taut_error *error);
/* Opens `path` for writing; "-" is standard output. */
int taut_writer_open(taut_file_sink *sink, const char *path, taut_error *error);
/* Rows of at most about `longest` bytes are written as a whole from here on, where files are; a
 * kill leaves no part of a row, and a full disk removes it. */
int taut_writer_lines(taut_file_sink *sink, size_t longest, taut_error *error);
/* The end of such a row. */
int taut_writer_line(taut_file_sink *sink, taut_error *error);
/* Opens the file again and goes on behind the mark. */
int taut_writer_reopen(taut_file_sink *sink, taut_error *error);
/* Of sinks by stdio: everything is on the disk. */
int taut_writer_mark(taut_file_sink *sink, taut_error *error);
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

/* Adds ",text" with a prefix and a suffix, quoted where commas or quotes ask for it. (csv.c) */
void taut_csv_field(taut_bytes *to, const char *prefix, const char *text, const char *suffix);

#endif
