/* text.c - small things with text: wrapping, whole files. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

#include "cli.h"
#include "windows.h"

/* Columns that there are: those of a terminal when it is narrower than `width`, but not absurdly
 * narrow. */
static int columns(FILE *out, int width)
{
#ifdef TIOCGWINSZ
    enum { LEAST = 50 };
    struct winsize size;
    if (cli_terminal(out) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST &&
        size.ws_col < width)
        return size.ws_col;
#else
    (void)out;
#endif
    return width;
}

/* A word after `before`; titles and comments of models are written by others. Returns its length.
 */
static size_t put_visible(FILE *out, const char *before, const char *text, size_t length)
{
    char word[300], shown[1200];
    size_t used = strlen(before);
    fputs(before, out);
    while (length > 0) {
        size_t part = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, part);
        word[part] = '\0';
        used += taut_visible(word, shown, sizeof shown);
        fputs(shown, out);
        text += part;
        length -= part;
    }
    return used;
}

void cli_wrap(FILE *out, const char *text, int indent, int column, int width)
{
    width = columns(out, width);
    bool fresh = true; /* nothing yet on this line after the indentation */
    while (*text) {
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] == '\n' || !text[1] ? 0 : indent, "");
            column = indent;
            fresh = true;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \n");
        if (!fresh && column + 1 + (int)length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        if (length > 0) {
            column += (int)put_visible(out, fresh ? "" : " ", text, length);
            fresh = false;
        }
        text += length;
        while (*text == ' ')
            text++;
    }
    fprintf(out, "\n");
}

char *cli_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text)
        return NULL;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

char *cli_read_file(FILE *file, size_t *length)
{
    /* more than the reader accepts: it refuses with its own sentence */
    enum { LARGEST = 64 << 20 };
    size_t size = 1 << 14, used = 0;
    char *text = malloc(size);
    while (text) {
        used += fread(text + used, 1, size - used - 1, file);
        if (used + 1 < size || used >= LARGEST)
            break;
        char *larger = realloc(text, size *= 2);
        if (!larger)
            free(text);
        text = larger;
    }
    if (!text)
        errno = ENOMEM;
    if (text && ferror(file)) {
        int reason = errno;
        free(text);
        errno = reason;
        return NULL;
    }
    if (text)
        text[used] = '\0';
    *length = used;
    return text;
}

FILE *cli_open_file(const char *path, const char **why)
{
    struct stat status;
    int number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    bool known = number >= 0 && fstat(number, &status) == 0;
    *why = !known                    ? strerror(errno)
           : S_ISREG(status.st_mode) ? NULL
           : S_ISDIR(status.st_mode) ? "it is a folder"
                                     : "it is a pipe or a device, not a regular file";
    FILE *file = *why ? NULL : fdopen(number, "rb");
    if (!file && number >= 0)
        close(number);
    if (!file && !*why)
        *why = "out of memory";
    return file;
}

char *cli_read_path(const char *path, size_t most, size_t *length, const char **why)
{
    struct stat status;
    FILE *file = cli_open_file(path, why);
    if (!file)
        return NULL;
    bool known = fstat(fileno(file), &status) == 0;
    size_t size = known ? (size_t)status.st_size : 0;
    char *text = known && size <= most ? malloc(size + 1) : NULL;
    *why = size > most ? "it is too large" : known ? "out of memory" : strerror(errno);
    if (text && fread(text, 1, size, file) != size) {
        *why = "it cannot be read";
        free(text);
        text = NULL;
    }
    fclose(file);
    if (text)
        text[size] = '\0';
    *length = size;
    return text;
}

bool cli_has_ending(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}
