/* memory.c - memory is stated before it is used: more than a tenth of the machine with a warning,
 * more than the machine has not at all. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

#include "cli.h"

/* Bytes of this machine, or of what the process may use; TAUT_MEMORY of the environment instead.
 * 0: not known. */
static double machine_memory(void)
{
    const char *text = getenv("TAUT_MEMORY");
    double bytes = text ? strtod(text, NULL) : 0;
    if (bytes > 0)
        return bytes;
#ifdef _SC_PHYS_PAGES
    struct rlimit room;
    bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &room) == 0 && room.rlim_cur != RLIM_INFINITY &&
        (double)room.rlim_cur < bytes)
        bytes = (double)room.rlim_cur;
#endif
    return bytes;
}

/* Is the slow point computed for sure? Where the motion is left to Taut, perhaps. */
static bool is_slow(const cli_call *call)
{
    const char *motion = cli_option_text(call, "motion");
    return strcmp(call->verb->name, "project") == 0 || (motion && strcmp(motion, "slow") == 0);
}

/* Then no slow point decides about it. */
static bool motion_is_given(const cli_call *call)
{
    const char *motion = cli_option_text(call, "motion");
    return motion && motion[0] && strcmp(motion, "auto") != 0;
}

int cli_memory_check(const cli_call *call, const cli_model *model)
{
    const char *method = cli_option_text(call, "method");
    double there = machine_memory(), least = taut_system_memory_method(model->system, method),
           most = cli_ranks() ? least : fmax(least, taut_system_memory_slow(model->system));
    bool specified = is_slow(call);
    if (!specified && motion_is_given(call))
        most = least;
    double needed = specified ? most : least;
    if (!(there > 0) || (needed < there / 10 && most < there))
        return 0;
    if (needed > there)
        return cli_refuse(call,
                          "this system needs about %.2g GB of memory, and there are %.2g GB; make "
                          "it smaller (the variable TAUT_MEMORY sets the bytes that may be used)",
                          needed / 1e9, there / 1e9);
    char slow[80] = "";
    if (!specified && most > 1.5 * least)
        snprintf(slow, sizeof slow, ", %.2g GB where its slow point is computed", most / 1e9);
    if (!call->quiet)
        cli_warning("this system needs about %.2g GB of memory%s; there are %.2g GB", needed / 1e9,
                    slow, there / 1e9);
    return 0;
}
