/* windows.h - names and functions of POSIX that the program uses and Windows has otherwise; empty
 * elsewhere. Paths are written with '/'. Compiled in CI, not run there. */
#ifndef CLI_WINDOWS_H
#define CLI_WINDOWS_H

#ifdef _WIN32
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#define O_CLOEXEC _O_NOINHERIT
#define O_NOFOLLOW 0
#define O_NONBLOCK _O_BINARY
#define O_NOCTTY 0
#define fsync(number) _commit(number)
#define getcwd(buffer, size) _getcwd(buffer, (int)(size))
#define chdir(path) _chdir(path)
#define lstat stat
#define mkdir(path, mode) _mkdir(path)

/* The program itself is what POSIX systems call /proc/self/exe. */
static inline char *cli_real_path(const char *path)
{
    path = strcmp(path, "/proc/self/exe") == 0 ? _pgmptr : path;
    char *full = _access(path, 0) == 0 ? _fullpath(NULL, path, 0) : NULL;
    for (char *at = full; at && *at; at++)
        *at = *at == '\\' ? '/' : *at;
    return full;
}
#define realpath(path, to) cli_real_path(path)
#endif

#endif
