/* checkpoint.h - runs that are saved from time to time, and continued: what 'taut run' uses. */
#ifndef TAUT_CLI_CHECKPOINT_H
#define TAUT_CLI_CHECKPOINT_H

#include "cli.h"
#include "checkpoint_file.h"

#define CLI_SWEEP_MARK "sweep" /* in the place of a solver */
/* Where a run is saved, and what of it. */
typedef struct cli_checkpoint {
    const cli_call *call;
    const cli_model *model;
    const char *path;
    taut_file_sink *const *file; /* outputs */
    int files;
    bool warned;    /* that it cannot be written */
    cli_saving *to; /* while the solver is saved; NULL: another process writes */
    char *bytes;    /* of parts */
    size_t count, room;
} cli_checkpoint;
/* Refuses what cannot be continued before the computation: 0 or CLI_MISUSED. */
int cli_checkpoint_check(const cli_call *call, const char *path, const char *out);
/* Before the outputs are opened: removes the checkpoint of an earlier run, which they do not belong
 * to; refuses other files. */
int cli_checkpoint_begin(const cli_call *call, const char *path);
/* A taut_checkpoint; user is a cli_checkpoint. A file that cannot be written is a warning. solver
 * NULL: of a sweep, whose rows are all that it needs. Of several processes the first one writes. */
int cli_checkpoint_call(void *user, taut_solver *solver, taut_error *error);
void cli_checkpoint_release(cli_checkpoint *checkpoint);

/* A run that is continued. */
typedef struct cli_resumed {
    cli_saved saved;
    cli_call call;    /* as it was given then */
    char **arguments; /* of it */
    char *path;       /* of the checkpoint, from the root */
} cli_resumed;
/* Reads the file of --resume, and goes to the folder of the run. 0, or the exit status after a
 * message. */
int cli_resume(const cli_call *call, cli_resumed *resumed);
void cli_resumed_release(cli_resumed *resumed);
/* Puts a new solver and its outputs where the run was saved. */
int cli_resume_solver(cli_saved *saved, taut_solver *solver, taut_file_sink *const *file, int files,
                      taut_error *error);

#endif
