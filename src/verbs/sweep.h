/* sweep.h - the inside of a sweep: its plan and its rows. */
#ifndef TAUT_VERBS_SWEEP_H
#define TAUT_VERBS_SWEEP_H

#include "base/space.h"
#include "io/writer.h"
#include "verbs/keep.h"
#include "verbs/vary.h"

typedef struct taut_sweep_record {
    int status;
    bool ready;
    double error;
    int64_t steps, force_evaluations;
    const char *message;
} taut_sweep_record;

struct taut_sweep {
    taut_arena arena;
    taut_vary_plan plan;
    const char **keep;
    int keeps;
    int64_t rows;              /* complete from the first on */
    taut_sweep_record *record; /* [runs] */
    double *kept;              /* [runs][keeps] */
    double *varied;            /* [runs][vary_count] */
    taut_bytes line;           /* of the CSV file */
};

/* "done", "event", "limit", "inaccurate", "failed" */
const char *taut_sweep_status(int status);

/* The CSV file of a sweep: run, varied values, kept values, status, error, steps,
 * force_evaluations, message. (sweep_csv.c) */
/* Reads the rows of an earlier sweep, behind which the file goes on. One that does not exist has
 * none. */
int taut_sweep_csv_read(taut_sweep *sweep, taut_file_sink *file, taut_error *error);
int taut_sweep_csv_begin(taut_sweep *sweep, taut_file_sink *file, taut_error *error);
int taut_sweep_csv_row(taut_sweep *sweep, taut_file_sink *file, int64_t k, taut_error *error);

/* Of several processes: runs begin + j size + rank, j < each, of every rank come to all; or those
 * that the first one has read, begin + j. The ranks call it together. (sweep_ranks.c) */
int taut_sweep_trade(taut_sweep *sweep, taut_space *space, int64_t begin, int64_t each, bool read,
                     taut_error *error);

#endif
