/* gnuplot.c - gnuplot as a child process. No shell: the program is found on PATH and run by
 * execv, with fixed file names in a folder of its own; the picture is copied to its place by us,
 * so that no name of the user's reaches gnuplot. */
#ifndef TAUT_CORE
#define _POSIX_C_SOURCE 200809L
#endif

#include "io/gnuplot.h"

const char taut_gnuplot_style[] =
    "set encoding utf8\nset output 'picture'\nset grid lc rgb '#dddddd' lt 1 lw 1\nset border lc "
    "rgb '#555555'\n"
    "set tics textcolor rgb '#333333'\nset tics nomirror\n"
    "set key bmargin center horizontal Left reverse samplen 2 width 0.5 height 0.7\nset lmargin "
    "10\nset rmargin 3\n"
    "set format '%g'\nset title offset 0,-0.4\nset datafile missing 'nan'\n"
    "set linetype 1 lc rgb '#0072b2' lw 1.6\nset linetype 2 lc rgb '#d55e00' lw 1.6\nset linetype "
    "3 lc rgb '#009e73' lw 1.6\n"
    "set linetype 4 lc rgb '#cc79a7' lw 1.6\nset linetype 5 lc rgb '#e69f00' lw 1.6\nset linetype "
    "6 lc rgb '#56b4e9' lw 1.6\n"
    "set linetype 7 lc rgb '#6b4c9a' lw 1.6\nset linetype 8 lc rgb '#5c5c5c' lw 1.6\n";

#ifdef TAUT_CORE

int taut_gnuplot_find(taut_gnuplot *gnuplot, taut_error *error)
{
    (void)gnuplot;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "pictures are not part of this build: it cannot start gnuplot");
}

int taut_gnuplot_open(taut_gnuplot *gnuplot, taut_error *error)
{
    return taut_gnuplot_find(gnuplot, error);
}

void taut_gnuplot_path(const taut_gnuplot *gnuplot, const char *name, char path[TAUT_GNUPLOT_PATH])
{
    (void)gnuplot;
    (void)name;
    path[0] = '\0';
}

int taut_gnuplot_run(const taut_gnuplot *gnuplot, taut_error *error)
{
    (void)gnuplot;
    return taut_gnuplot_find(NULL, error);
}

int taut_gnuplot_deliver(const taut_gnuplot *gnuplot, const char *path, taut_error *error)
{
    (void)path;
    return taut_gnuplot_run(gnuplot, error);
}

void taut_gnuplot_discard(taut_gnuplot *gnuplot)
{
    (void)gnuplot;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int taut_gnuplot_find(taut_gnuplot *gnuplot, taut_error *error)
{
    const char *path = getenv("PATH");
    for (const char *part = path ? path : ""; *part;) {
        size_t length = strcspn(part, ":");
        int used =
            snprintf(gnuplot->program, sizeof gnuplot->program, "%.*s/gnuplot", (int)length, part);
        /* relative entries would mean the folder we are about to leave */
        if (part[0] == '/' && used < (int)sizeof gnuplot->program &&
            access(gnuplot->program, X_OK) == 0)
            return TAUT_OK;
        part += length + (part[length] == ':');
    }
    return taut_fail(
        error, TAUT_ERROR_UNAVAILABLE,
        "gnuplot draws the pictures, but is not on PATH; install it (Debian: gnuplot-nox)");
}

int taut_gnuplot_open(taut_gnuplot *gnuplot, taut_error *error)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/')
        parent = "/tmp";
    /* room for names behind it */
    int used = snprintf(gnuplot->folder, sizeof gnuplot->folder - 16, "%s/taut-XXXXXX", parent);
    if (used < (int)sizeof gnuplot->folder - 16 && mkdtemp(gnuplot->folder))
        return TAUT_OK;
    int number = errno;
    gnuplot->folder[0] = '\0';
    return taut_fail(error, TAUT_ERROR_FILE, "cannot make a folder for the picture in %.200s: %s",
                     parent, strerror(number));
}

void taut_gnuplot_path(const taut_gnuplot *gnuplot, const char *name, char path[TAUT_GNUPLOT_PATH])
{
    size_t length = strlen(gnuplot->folder);
    memcpy(path, gnuplot->folder, length);
    snprintf(path + length, TAUT_GNUPLOT_PATH - length, "/%s", name);
}

/* In the child: only calls that are safe between fork and exec. -d: no start-up files of the
 * user. */
static void become_gnuplot(const taut_gnuplot *gnuplot, char *const arguments[])
{
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || chdir(gnuplot->folder) != 0)
        _exit(126);
    int messages = open("messages", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (messages < 0 || dup2(nothing, 0) < 0 || dup2(messages, 1) < 0 || dup2(messages, 2) < 0)
        _exit(126);
    execv(gnuplot->program, arguments);
    _exit(127);
}

/* The last line that gnuplot wrote, for the error. */
static int fail_process(const taut_gnuplot *gnuplot, taut_error *error)
{
    char path[TAUT_GNUPLOT_PATH], line[200], last[200] = "it said nothing";
    taut_gnuplot_path(gnuplot, "messages", path);
    FILE *messages = fopen(path, "r");
    while (messages && fgets(line, sizeof line, messages)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[strspn(line, " ^")] != '\0')
            strcpy(last, line + strspn(line, " "));
    }
    if (messages)
        fclose(messages);
    return taut_fail(error, TAUT_ERROR_PROCESS, "gnuplot could not draw the picture: %s", last);
}

int taut_gnuplot_run(const taut_gnuplot *gnuplot, taut_error *error)
{
    char name[] = "gnuplot", settings[] = "-d", script[] = "script";
    char *arguments[] = {name, settings, script, NULL};
    pid_t child = fork();
    if (child < 0)
        return taut_fail(error, TAUT_ERROR_PROCESS, "cannot start gnuplot: %s", strerror(errno));
    if (child == 0)
        become_gnuplot(gnuplot, arguments);
    int status = -1;
    while (waitpid(child, &status, 0) < 0) {
        if (errno ==
            ECHILD) /* a host that ignores its children: then the picture itself is looked for */
            return TAUT_OK;
        if (errno != EINTR)
            break;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail_process(gnuplot, error);
    return TAUT_OK;
}

/* Copies what is left of `from`; 0, or the errno of what failed. */
static int copy_rest(FILE *from, FILE *to)
{
    char block[8192];
    size_t count;
    errno = 0;
    while ((count = fread(block, 1, sizeof block, from)) > 0)
        if (fwrite(block, 1, count, to) != count)
            return errno ? errno : EIO;
    return ferror(from) ? EIO : 0;
}

int taut_gnuplot_deliver(const taut_gnuplot *gnuplot, const char *path, taut_error *error)
{
    char made[TAUT_GNUPLOT_PATH];
    taut_gnuplot_path(gnuplot, "picture", made);
    FILE *from = fopen(made, "rb");
    if (!from)
        return fail_process(gnuplot, error);
    FILE *to = fopen(path, "wb");
    int number = to ? copy_rest(from, to) : errno;
    struct stat file;
    /* devices are not ours to remove */
    bool partial = to && fstat(fileno(to), &file) == 0 && S_ISREG(file.st_mode);
    fclose(from);
    if (to && fclose(to) != 0 && number == 0)
        number = errno;
    if (number == 0)
        return TAUT_OK;
    if (partial)
        unlink(path);
    return taut_fail(error, TAUT_ERROR_FILE, "cannot write %.300s: %s", path, strerror(number));
}

void taut_gnuplot_discard(taut_gnuplot *gnuplot)
{
    static const char *const names[] = {"rows", "script", "messages", "picture"};
    if (!gnuplot->folder[0])
        return;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char path[TAUT_GNUPLOT_PATH];
        taut_gnuplot_path(gnuplot, names[k], path);
        unlink(path);
    }
    rmdir(gnuplot->folder);
    gnuplot->folder[0] = '\0';
}

#endif
