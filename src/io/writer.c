/* writer.c - see writer.h. A full disk may show only when buffers are flushed, so flush and
 * close are checked too. */
#include "io/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/number.h"

int taut_writer_create(const char *path, size_t bytes, taut_file_sink **sink, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(sink);
    *sink = NULL;
    if (!path || !path[0])
        return taut_fail(error, TAUT_ERROR_USAGE, "a file name is needed (`-` is standard output)");
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    taut_file_sink *made = TAUT_NEW(&arena, taut_file_sink, 1);
    char *copy = made ? taut_arena_text(&arena, path, strlen(path)) : NULL;
    void *work = copy ? taut_arena_get(&arena, 1, bytes) : NULL;
    if (!work) {
        taut_arena_clear(&arena);
        return taut_fail_memory(error);
    }
    *made = (taut_file_sink){.arena = arena, .path = copy, .work = work};
    *sink = made;
    return TAUT_OK;
}

static int fail_file(const taut_file_sink *sink, const char *what, int number, taut_error *error)
{
    const char *name = strcmp(sink->path, "-") == 0 ? "standard output" : sink->path;
    int code =
        taut_fail(error, TAUT_ERROR_FILE, "cannot %s %.300s: %s", what, name, strerror(number));
    if (error)
        snprintf(error->file, sizeof error->file, "%s", sink->path);
    return code;
}

int taut_writer_open(taut_file_sink *sink, const char *path, taut_error *error)
{
    sink->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    return sink->file ? TAUT_OK : fail_file(sink, "open", errno, error);
}

void taut_writer_bytes(taut_file_sink *sink, const char *bytes, size_t count)
{
    errno = 0;
    if (sink->failure == 0 && fwrite(bytes, 1, count, sink->file) != count)
        sink->failure = errno ? errno : EIO;
}

void taut_writer_text(taut_file_sink *sink, const char *text)
{
    taut_writer_bytes(sink, text, strlen(text));
}

void taut_writer_number(taut_file_sink *sink, double value, int digits)
{
    char buffer[TAUT_NUMBER_SIZE];
    taut_writer_bytes(sink, buffer, (size_t)taut_number_format(value, digits, buffer));
}

void taut_writer_format(taut_file_sink *sink, const char *format, ...)
{
    enum { DIGITS = 12 };
    va_list list;
    va_start(list, format);
    for (size_t plain; plain = strcspn(format, "%"), format[plain]; format += plain + 2) {
        taut_writer_bytes(sink, format, plain);
        if (format[plain + 1] == 's')
            taut_writer_text(sink, va_arg(list, const char *));
        else
            taut_writer_number(
                sink, format[plain + 1] == 'd' ? va_arg(list, int) : va_arg(list, double), DIGITS);
    }
    va_end(list);
    taut_writer_text(sink, format);
}

int taut_writer_check(taut_file_sink *sink, taut_error *error)
{
    return sink->failure ? fail_file(sink, "write", sink->failure, error) : TAUT_OK;
}

int taut_writer_close(taut_file_sink *sink, taut_error *error)
{
    if (!sink->file)
        return TAUT_OK;
    errno = 0;
    if (fflush(sink->file) != 0 && sink->failure == 0)
        sink->failure = errno ? errno : EIO;
    if (sink->file != stdout && fclose(sink->file) != 0 && sink->failure == 0)
        sink->failure = errno ? errno : EIO;
    sink->file = NULL;
    return taut_writer_check(sink, error);
}

void taut_file_sink_destroy(taut_file_sink *sink)
{
    if (!sink)
        return;
    taut_writer_close(sink, NULL);
    if (sink->discard)
        sink->discard(sink);
    taut_arena arena = sink->arena; /* the sink lives in its own arena */
    taut_arena_clear(&arena);
}
