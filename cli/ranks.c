/* ranks.c - the program as one of several processes of a run (mpiexec): the first one speaks. What
 * another one prints is kept, and shown where it fails alone. A process that has
 * failed ends all of them, with its exit status, after it has waited for the first one to fail
 * for the same reason. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static taut_space *space; /* of the process, as its standard streams are */
static FILE *kept;        /* standard error of a process that is not the first one */
static int speaks = -1;   /* standard error as it was */

taut_space *cli_ranks(void)
{
    return space;
}

bool cli_ranks_first(void)
{
    return taut_space_rank(space) == 0;
}

int cli_ranks_begin(void)
{
    taut_error error = {.code = 0};
    if (taut_space_create(&space, &error) != 0) {
        cli_say_failure(&error);
        return CLI_FAILED;
    }
    if (cli_ranks_first())
        return 0;
    kept = tmpfile();
    speaks = dup(STDERR_FILENO);
    FILE *nothing = freopen("/dev/null", "w", stdout);
    if (kept && nothing && speaks >= 0)
        dup2(fileno(kept), STDERR_FILENO);
    return 0;
}

static void show_kept(void)
{
    char line[1024];
    if (!kept || speaks < 0)
        return;
    fflush(stderr);
    rewind(kept);
    dup2(speaks, STDERR_FILENO);
    while (fgets(line, sizeof line, kept))
        fprintf(stderr, "rank %d: %s", taut_space_rank(space), line);
    fflush(stderr);
}

void cli_ranks_end(int status)
{
    if (!space)
        return;
    fflush(stdout);
    /* of a usage error, or a model that is wrong, all fail */
    const bool together = status == CLI_DONE || taut_space_meet(space, 1);
    if (!together) {
        show_kept();
        taut_space_end(space, status);
    }
    taut_space_destroy(space);
    space = NULL;
}
