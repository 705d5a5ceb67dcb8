/* output.c - files that a verb writes: wrong names are refused before the computation, and a
 * file is complete or does not exist. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/statvfs.h>
#endif

#include "cli.h"
#include "windows.h"

const char *cli_option_text(const cli_call *call, const char *name)
{
    const char *text =
        taut_options_given(call->options, name) ? taut_options_text(call->options, name) : NULL;
    return text && text[0] ? text : NULL;
}

/* A folder that does not exist or is not writable is reported before the computation, not after
 * it. */
int cli_output_check(const cli_call *call, const char *option, const char *path)
{
    struct stat status;
    if (!path || strcmp(path, "-") == 0)
        return 0;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return cli_refuse(call, "--%s %s: this is a folder, expected the name of a file", option,
                          path);
    if (there)
        return access(path, W_OK) == 0
                   ? 0
                   : cli_refuse(call, "--%s %s: cannot write: %s", option, path, strerror(errno));
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? cli_format("%.*s", slash == path ? 1 : (int)(slash - path), path) : cli_format(".");
    int result = 0;
    if (!folder)
        result = cli_refuse(call, "out of memory");
    else if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        result = cli_refuse(call, "--%s %s: the folder '%s' does not exist", option, path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        result = cli_refuse(call, "--%s %s: cannot write in the folder '%s': %s", option, path,
                            folder, strerror(errno));
    free(folder);
    return result;
}

/* ---- outputs are not inputs */

static bool same_file(const char *path, const char *other)
{
    struct stat a, b;
    return path && other && stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_ino != 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Where a path leads, allocated: of a file that is still to be made its folder, and its name. */
static char *place_of(const char *path)
{
    char *place = realpath(path, NULL);
    if (place)
        return place;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? cli_format("%.*s", (int)(slash - path + 1), path) : cli_format("."),
         *top = folder ? realpath(folder, NULL) : NULL;
    place = top ? cli_format("%s/%s", top, slash ? slash + 1 : path) : NULL;
    free(folder);
    free(top);
    return place;
}

/* One file under two names, a device aside. */
static bool same_output(const char *path, const char *other)
{
    struct stat status;
    if (!path || !other || strcmp(path, "-") == 0 ||
        (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return false;
    char *one = place_of(path), *two = place_of(other);
    bool same = same_file(path, other) || (one && two && strcmp(one, two) == 0);
    free(one);
    free(two);
    return same;
}

/* --start FILE, or FILE.h5@T. */
static bool is_start(const cli_call *call, const char *path)
{
    const char *start = cli_option_text(call, "start");
    char *file = NULL;
    double t;
    bool same = same_file(path, start) ||
                (start && cli_record_place(start, &file, &t) && same_file(path, file));
    free(file);
    return same;
}

int cli_output_spare(const cli_call *call, const cli_model *model)
{
    static const char *const options[] = {"out", "plot", "view", "end", "checkpoint"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const char *path = cli_option_text(call, options[k]), *table;
        for (size_t j = 0; j < k; j++)
            if (same_output(path, cli_option_text(call, options[j])))
                return cli_refuse(call, "--%s %s: this is the file of --%s", options[k], path,
                                  options[j]);
        const char *what = same_file(path, model->path) ? "the model"
                           : is_start(call, path)       ? "the initial state"
                                                        : NULL;
        for (taut_index i = 0; !what && (table = taut_system_table_file(model->system, i)); i++)
            what = same_file(path, table) ? "a table of the model" : NULL;
        if (what)
            return cli_refuse(call, "--%s %s: this file is %s, it would be overwritten", options[k],
                              path, what);
    }
    return 0;
}

int cli_picture_check(const cli_call *call, const char *path)
{
    if (path && !cli_has_ending(path, ".png") && !cli_has_ending(path, ".svg"))
        return cli_refuse(call, "--plot %s: expected a name that ends in .png or .svg", path);
    return cli_output_check(call, "plot", path);
}

/* Bytes that are free where `path` goes; NaN: not known, or it is no file. */
static double free_bytes(const char *path)
{
#ifndef _WIN32
    struct stat status;
    struct statvfs disk;
    bool here = path && strcmp(path, "-") == 0;
    if (here && (fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)))
        return NAN;
    if (!here && path && stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return NAN;
    char *folder = path ? cli_format("%s", path) : NULL;
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[1] = '\0';
    int failure = here     ? fstatvfs(STDOUT_FILENO, &disk)
                  : folder ? statvfs(slash ? folder : ".", &disk)
                           : -1;
    free(folder);
    return failure == 0 ? (double)disk.f_bavail * (double)disk.f_frsize : NAN;
#else
    (void)path;
    return NAN;
#endif
}

void cli_output_warn(const taut_solver *solver, const char *path, double row_bytes)
{
    static const double LARGE = 1e9, GIGA = 1e9;
    double rows = taut_solver_rows(solver), bytes = rows * row_bytes, room = free_bytes(path);
    if (bytes > room)
        cli_warning("the output has about %.2g rows, %.3g GB, and %.3g GB are free; --every sets "
                    "the time between rows, Ctrl-C ends the run",
                    rows, bytes / GIGA, room / GIGA);
    else if (bytes > LARGE)
        cli_warning("the output has about %.2g rows, %.3g GB; --every sets the time between rows, "
                    "Ctrl-C ends the run",
                    rows, bytes / GIGA);
}

/* ---- a file that is complete or does not exist */

/* A new file in the folder of the output, under a name that no file or link has. */
static void open_part(cli_output *output)
{
    int number = -1;
    for (int k = 0; k < 100 && number < 0 && (k == 0 || errno == EEXIST); k++) {
        free(output->part);
        output->part = cli_format("%s.%ld-%d.part", output->path, (long)getpid(), k);
        if (!output->part) {
            errno = ENOMEM;
            return;
        }
        number = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    output->file = number < 0 ? NULL : fdopen(number, "w");
    if (number >= 0 && !output->file)
        close(number);
}

bool cli_output_open(cli_output *output, const char *path)
{
    struct stat status;
    *output = (cli_output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    /* a device or a pipe is written to as it is; a link stays a link */
    bool direct = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    if (!direct)
        open_part(output);
    if (output->part && !output->file && lstat(path, &status) == 0) {
        /* no other file can be created in this folder: the existing one is overwritten */
        free(output->part);
        output->part = NULL;
        direct = true;
    }
    if (direct)
        output->file = fopen(path, "w");
    output->reason = output->file ? 0 : errno;
    return output->file != NULL;
}

int cli_output_close(cli_output *output, const char *option, taut_error *error)
{
    if (output->file && output->file != stdout) {
        errno = 0;
        if ((fflush(output->file) != 0 || ferror(output->file)) && output->reason == 0)
            output->reason = errno ? errno : EIO;
        if (fclose(output->file) != 0 && output->reason == 0)
            output->reason = errno;
        if (output->reason == 0 && output->part && rename(output->part, output->path) != 0)
            output->reason = errno;
        if (output->reason != 0 && output->part)
            remove(output->part);
    }
    output->file = NULL;
    free(output->part);
    output->part = NULL;
    if (output->reason == 0)
        return CLI_DONE;
    snprintf(error->message, sizeof error->message, "--%s: cannot write '%.300s': %s", option,
             output->path, strerror(output->reason));
    error->code = TAUT_ERROR_FILE;
    cli_error("%s", error->message);
    return CLI_FAILED;
}
