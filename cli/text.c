/* text.c - small things with text: wrapping, near misses, whole files. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cli.h"

/* Columns that there are: those of a terminal when it is narrower than `width`, but not absurdly
 * narrow. */
static int columns(FILE *out, int width)
{
    enum { LEAST = 50 };
    struct winsize size;
    if (!cli_terminal(out) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col < LEAST ||
        size.ws_col >= width)
        return width;
    return size.ws_col;
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
            fprintf(out, "%s%.*s", fresh ? "" : " ", (int)length, text);
            column += (int)length + (fresh ? 0 : 1);
            fresh = false;
        }
        text += length;
        while (*text == ' ')
            text++;
    }
    fprintf(out, "\n");
}

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Edits (insert, delete, replace, swap neighbours) from a to b, by rows of the usual table. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    int row[3][LONGEST + 1];
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return 99;
    int *before = row[0], *last = row[1], *now = row[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

const char *cli_near(const char *name, const char *const *candidates, int count)
{
    size_t length = strlen(name);
    int nearest = length <= 4 ? 1 : length <= 8 ? 2 : 3;
    const char *found = NULL;
    for (int k = 0; k < count; k++) {
        int distance = edit_distance(name, candidates[k]);
        if (distance < nearest || (distance == nearest && !found)) {
            nearest = distance;
            found = candidates[k];
        }
    }
    return found;
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

bool cli_has_ending(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}
