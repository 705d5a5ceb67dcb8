/* run_record.h - a run that is in a file: what the calls of taut_record share. */
#ifndef TAUT_IO_RUN_RECORD_H
#define TAUT_IO_RUN_RECORD_H

#include "base/memory.h"

enum {
    TAUT_RECORD_TIME,
    TAUT_RECORD_POSITION,
    TAUT_RECORD_VELOCITY,
    TAUT_RECORD_MULTIPLIER,
    TAUT_RECORD_OUTPUT,
    TAUT_RECORD_ENERGY,
    TAUT_RECORD_DRIFT,
    TAUT_RECORD_EVENT,
    TAUT_RECORD_FIELDS
};
enum { TAUT_RECORD_ITEMS = TAUT_EVENT_ITEM + 1 };

typedef struct taut_record_field {
    const char *path; /* NULL: the file has none */
    taut_index width; /* of a row */
    taut_index parts; /* of the last index, where rows are tables; else 0 */
} taut_record_field;

struct taut_record {
    taut_arena arena, rows_arena;
    char *path;
    int64_t rows;
    taut_sizes sizes;
    taut_record_field field[TAUT_RECORD_FIELDS];
    double *t;                      /* [rows] */
    char **name[TAUT_RECORD_ITEMS]; /* by taut_item */
    char **text_name, **text;
    int texts;
};

/* What the file has besides its rows, and their times. */
int taut_record_read_head(taut_record *record, taut_error *error);
/* `count` rows from row `first` on, one array for each field, in rows_arena. */
int taut_record_read_rows(taut_record *record, int64_t first, int64_t count, double **array,
                          taut_error *error);

#endif
