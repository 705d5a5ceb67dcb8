/* file.c - see file.h. Nothing is opened that could block or have no end: FIFOs and devices are
 * recognised by fstat, after an open that does not wait. Inside a folder every part of the path is
 * opened relative to the one before and without following links, so that a folder that changes
 * meanwhile cannot lead out either. */
#ifndef _WIN32
#define _XOPEN_SOURCE 700
#endif

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _WIN32

static int open_path(const char *path)
{
    return open(path, O_RDONLY | O_BINARY);
}

static int open_inside(const char *folder, const char *name)
{
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open_path(path);
}

#else

static int open_path(const char *path)
{
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* No part of the name may be a link: ELOOP (or ENOTDIR) then. */
static int open_parts(const char *folder, const char *name)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0) {
        char part[NAME_MAX + 1];
        size_t length = strcspn(name, "/");
        const char *rest = name + length + strspn(name + length, "/");
        int flags = *rest ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY, next = -1;
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        if (length < sizeof part)
            next = openat(at, part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
        else
            errno = ENAMETOOLONG;
        int reason = errno;
        close(at);
        errno = reason;
        if (!*rest)
            return next;
        at = next;
        name = rest;
    }
    return -1;
}

/* A link that stays inside is replaced by where it leads. */
static int open_inside(const char *folder, const char *name)
{
    int file = open_parts(folder, name);
    if (file >= 0 || (errno != ELOOP && errno != ENOTDIR))
        return file;
    char path[PATH_MAX], top[PATH_MAX], there[PATH_MAX];
    int reason = errno;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
        realpath(folder, top) && realpath(path, there)) {
        size_t length = strlen(top);
        if (strncmp(there, top, length) == 0 && there[length] == '/')
            return open_parts(top, there + length + 1);
        reason = ELOOP;
    }
    errno = reason;
    return -1;
}

#endif

static const char *kind_of(const struct stat *status)
{
    return S_ISDIR(status->st_mode)    ? "is a folder"
           : S_ISFIFO(status->st_mode) ? "is a pipe"
                                       : "is a device";
}

/* To the end; a file may grow meanwhile, and those of /proc have no size. */
static char *read_all(int file, int64_t expected, size_t most, taut_arena *arena, size_t *length,
                      char *why)
{
    int64_t capacity = expected + 2 > 4096 ? expected + 2 : 4096;
    char *text = TAUT_NEW(arena, char, capacity);
    *length = 0;
    while (text) {
        ssize_t got = read(file, text + *length, (size_t)capacity - *length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            snprintf(why, TAUT_FILE_WHY, "%s", strerror(errno));
            return NULL;
        }
        *length += (size_t)got;
        if (*length > most) {
            snprintf(why, TAUT_FILE_WHY, "it is larger than %zu MB", most >> 20);
            return NULL;
        }
        if (got == 0) {
            text[*length] = '\0';
            return text;
        }
        if ((int64_t)*length + 1 == capacity)
            text = taut_arena_grow(arena, text, capacity, &capacity, 1);
    }
    return NULL;
}

char *taut_file_read(const char *folder, const char *name, size_t most, taut_arena *arena,
                     size_t *length, char why[TAUT_FILE_WHY])
{
    struct stat status;
    char *text = NULL;
    why[0] = '\0';
    int file = folder ? open_inside(folder, name) : open_path(name);
    if (file < 0 && folder && errno == ELOOP)
        snprintf(why, TAUT_FILE_WHY, "it is a symbolic link that leads out of the folder");
    else if (file < 0 || fstat(file, &status) != 0)
        snprintf(why, TAUT_FILE_WHY, "%s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        snprintf(why, TAUT_FILE_WHY, "it %s, not a regular file", kind_of(&status));
    else if ((uint64_t)status.st_size > most)
        snprintf(why, TAUT_FILE_WHY, "it is larger than %zu MB", most >> 20);
    else
        text = read_all(file, (int64_t)status.st_size, most, arena, length, why);
    if (file >= 0)
        close(file);
    return text;
}
