/* main.c - the program `taut`: finds the verb, reads its arguments, acts. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>

#include "cli.h"

/* taut, taut --help, taut --version. Returns -1 when the first argument is something else. */
static int without_verb(int count, char **arguments)
{
    const char *first = count > 1 ? arguments[1] : "";
    if (count < 2 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        cli_help_program(stdout);
    else if (strcmp(first, "--version") == 0)
        cli_help_version(stdout);
    else if (first[0] == '-' && first[1] != '\0')
        return cli_misuse(NULL, "unknown option '%s' before the verb: write 'taut VERB [options]'",
                          first);
    else
        return -1;
    return CLI_DONE;
}

static int with_verb(int count, char **arguments)
{
    cli_call call = {.program = arguments[0], .verb = cli_verb_find(arguments[1])};
    if (!call.verb)
        return cli_verb_unknown(NULL, arguments[1]);
    int status = cli_arguments_read(&call, count - 2, arguments + 2);
    if (status == 0) {
        if (call.help)
            cli_help_verb(stdout, call.verb);
        else if (call.version)
            cli_help_version(stdout);
        else if (cli_ranks() && !call.verb->ranks)
            status =
                cli_refuse(&call,
                           "'taut %s' does not use several processes, only check, run, project "
                           "and sweep do: start it without mpiexec",
                           call.verb->name);
        else
            status = call.verb->act(&call);
    }
    cli_arguments_release(&call);
    return status;
}

int main(int count, char **arguments)
{
    /* a reader that goes away is seen as a failed write, so that files and pictures are still
     * closed (say.c ends quietly) */
#ifdef SIGPIPE
    signal(SIGPIPE, SIG_IGN);
#endif
    taut_blas_threads(1);
    int status = cli_ranks_begin();
    if (status == 0)
        status = without_verb(count, arguments);
    if (status < 0)
        status = with_verb(count, arguments);
    int written = cli_output_finish(status != CLI_DONE);
    status = status != 0 ? status : written;
    cli_ranks_end(status);
    return status;
}
