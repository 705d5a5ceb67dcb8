/* writer.c - see writer.h. A full disk may show only when buffers are flushed, so flush and
 * close are checked too. */
#ifndef TAUT_CORE
#define _POSIX_C_SOURCE 200809L
#ifdef __linux__
#define _GNU_SOURCE /* clone */
#endif
#endif

#include "io/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/structs.h"

#ifndef TAUT_CORE
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#endif
#endif

/* Rows wait until there are many, or for some time: the file shows how far a slow run is. */
enum { ROOM = 1 << 18, STACK = 1 << 16 };
static const double LONGEST_WAIT = 1; /* seconds */

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
    *made = (taut_file_sink){.arena = arena, .path = copy, .work = work, .resume.rows = -1};
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
    sink->rows = sink->bytes = sink->whole = 0;
    sink->tail_bytes = 0;
    return sink->file ? TAUT_OK : fail_file(sink, "open", errno, error);
}

int taut_writer_lines(taut_file_sink *sink, size_t longest, taut_error *error)
{
    if (sink->file == stdout)
        return TAUT_OK;
    if (!sink->hold)
        sink->hold = TAUT_NEW(&sink->arena, char, longest + ROOM + STACK);
    TAUT_NEED(error, sink->hold);
    sink->line = longest;
    sink->room = longest + ROOM;
    sink->held = 0;
    setvbuf(sink->file, NULL, _IONBF, 0);
    return TAUT_OK;
}

/* The end of what is in the file: shows whether it is still there when the file is continued. */
static void remember(taut_file_sink *sink, const char *bytes, size_t count)
{
    size_t room = sizeof sink->tail, more = count < room ? count : room,
           keep = sink->tail_bytes < room - more ? sink->tail_bytes : room - more;
    memmove(sink->tail, sink->tail + sink->tail_bytes - keep, keep);
    memcpy(sink->tail + keep, bytes + count - more, more);
    sink->tail_bytes = keep + more;
}

/* How much of the rows is written at once, so that others who read the file see whole rows: up to
 * the last row on this page of the file; a row on two pages alone. */
static size_t piece_of(const char *text, size_t count, int64_t at)
{
    enum { PAGE = 4096 };
    size_t left = PAGE - (size_t)(at % PAGE);
    if (left >= count)
        return count;
    for (size_t k = left; k > 0; k--)
        if (text[k - 1] == '\n')
            return k;
    const char *end = memchr(text + left, '\n', count - left);
    return end ? (size_t)(end - text) + 1 : count;
}

/* Returns 0, or what failed. */
static int write_held(void *user)
{
    taut_file_sink *sink = user;
    for (size_t done = 0; done < sink->held;) {
        size_t count = piece_of(sink->hold + done, sink->held - done, sink->whole + (int64_t)done);
        errno = 0;
        if (fwrite(sink->hold + done, 1, count, sink->file) != count)
            return errno ? errno : EIO;
        done += count;
    }
    return 0;
}

/* the thread sanitizer does not support processes that share memory */
#if !defined TAUT_CORE && defined __linux__ && !defined __SANITIZE_THREAD__

static int write_apart(void *user)
{
    setsid(); /* away from signals to the group */
    return write_held(user);
}

/* SIGKILL interrupts a write between two pages of the file. So another process writes, which lives
 * on when this one is killed: it has the same memory while this one waits, as in posix_spawn, and
 * sends no signal when it ends. */
static int write_all(taut_file_sink *sink)
{
    struct stat status;
    int result = 0;
    pid_t child = -1;
    if (fstat(fileno(sink->file), &status) == 0 && S_ISREG(status.st_mode))
        child = clone(write_apart, sink->hold + sink->room + STACK, CLONE_VM | CLONE_VFORK, sink);
    if (child < 0)
        return write_held(sink);
    while (waitpid(child, &result, __WALL) < 0)
        if (errno != EINTR)
            return errno;
    if (WIFEXITED(result))
        return WEXITSTATUS(result);
    return WTERMSIG(result) == SIGXFSZ ? EFBIG : EINTR;
}

#else

static int write_all(taut_file_sink *sink)
{
    return write_held(sink);
}

#endif

/* Bytes of the whole rows in the file. */
static int64_t rows_written(const taut_file_sink *sink)
{
    int64_t done = (int64_t)sink->held;
#ifndef TAUT_CORE
    if (sink->failure != 0)
        done = (int64_t)lseek(fileno(sink->file), 0, SEEK_CUR) - sink->whole;
#endif
    while (done > 0 && sink->hold[done - 1] != '\n')
        done--;
    return done;
}

static void hand_over(taut_file_sink *sink)
{
    if (sink->held > 0 && sink->failure == 0) {
        sink->failure = write_all(sink);
        int64_t done = rows_written(sink);
        sink->whole += done;
        remember(sink, sink->hold, (size_t)done);
    }
    sink->held = 0;
    sink->handed = taut_clock();
}

int taut_writer_line(taut_file_sink *sink, taut_error *error)
{
    sink->rows++;
    if (sink->line > 0 &&
        (sink->held + sink->line > sink->room || taut_clock() - sink->handed > LONGEST_WAIT))
        hand_over(sink);
    return taut_writer_check(sink, error);
}

#ifdef TAUT_CORE

static void remove_part(taut_file_sink *sink)
{
    (void)sink;
}

int taut_writer_reopen(taut_file_sink *sink, taut_error *error)
{
    (void)sink;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "this build cannot continue a file: it has nothing but the C library");
}

int taut_writer_mark(taut_file_sink *sink, taut_error *error)
{
    return taut_writer_reopen(sink, error);
}

#else

/* What stands behind the latest row that is whole. */
static void remove_part(taut_file_sink *sink)
{
    struct stat status;
    int number = fileno(sink->file);
    if (sink->line > 0 && fstat(number, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > sink->whole && ftruncate(number, (off_t)sink->whole) != 0)
        sink->failure = sink->failure ? sink->failure : errno; /* it is reported already */
}

static bool has_tail(taut_file_sink *sink)
{
    const taut_file_mark *mark = &sink->resume;
    size_t count = mark->memory_bytes;
    if (count > sizeof sink->tail || (int64_t)count > mark->bytes)
        return false;
    sink->tail_bytes = count;
    return count == 0 || (fseeko(sink->file, (off_t)mark->bytes - (off_t)count, SEEK_SET) == 0 &&
                          fread(sink->tail, 1, count, sink->file) == count &&
                          memcmp(sink->tail, mark->memory, count) == 0);
}

int taut_writer_reopen(taut_file_sink *sink, taut_error *error)
{
    const taut_file_mark *mark = &sink->resume;
    struct stat status;
    sink->file = fopen(sink->path, "r+");
    if (!sink->file || fstat(fileno(sink->file), &status) != 0)
        return fail_file(sink, "open", errno, error);
    if (!S_ISREG(status.st_mode) || status.st_size < mark->bytes)
        return taut_fail(error, TAUT_ERROR_FILE,
                         "cannot continue %.300s: it is shorter than it was (%lld bytes, expected "
                         "at least %lld); was it replaced?",
                         sink->path, (long long)status.st_size, (long long)mark->bytes);
    if (!has_tail(sink))
        return taut_fail(
            error, TAUT_ERROR_FILE,
            "cannot continue %.300s: its row %lld is not the one that was written; was "
            "it replaced or edited?",
            sink->path, (long long)mark->rows);
    if (ftruncate(fileno(sink->file), (off_t)mark->bytes) != 0 ||
        fseek(sink->file, 0, SEEK_END) != 0)
        return fail_file(sink, "continue", errno, error);
    sink->rows = mark->rows;
    sink->bytes = sink->whole = mark->bytes;
    return TAUT_OK;
}

int taut_writer_mark(taut_file_sink *sink, taut_error *error)
{
    hand_over(sink);
    sink->memory = sink->tail;
    sink->memory_bytes = sink->tail_bytes;
    if (sink->failure == 0 && fsync(fileno(sink->file)) != 0 && errno != EINVAL && errno != EROFS)
        sink->failure = errno;
    return taut_writer_check(sink, error);
}

#endif

int taut_file_sink_mark(taut_file_sink *sink, taut_file_mark *mark, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(sink);
    if (!sink->mark)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%.300s cannot be continued later: what it needs of its rows is not kept",
                         sink->path);
    taut_file_mark own = {.rows = -1};
    if (sink->begun) {
        TAUT_TRY(sink->mark(sink, error));
        own.rows = sink->rows;
        own.bytes = sink->bytes;
        own.memory = sink->memory;
        own.memory_bytes = sink->memory_bytes;
    }
    return taut_struct_fill(mark, &own, sizeof own, "taut_file_mark", error);
}

int taut_file_sink_resume(taut_file_sink *sink, const taut_file_mark *mark, taut_error *error)
{
    taut_error_clear(error);
    taut_file_mark own;
    TAUT_REQUIRE(sink);
    TAUT_TRY(taut_struct_read(&own, sizeof own, mark, "taut_file_mark", error));
    TAUT_REQUIRE(own.rows >= -1 && own.bytes >= 0 && (own.memory || own.memory_bytes == 0));
    if (!sink->mark)
        return taut_fail(error, TAUT_ERROR_REFUSED, "%.300s cannot be continued", sink->path);
    if (own.memory_bytes > 0) {
        char *copy = TAUT_NEW(&sink->arena, char, own.memory_bytes);
        TAUT_NEED(error, copy);
        memcpy(copy, own.memory, own.memory_bytes);
        own.memory = copy;
    }
    sink->resume = own;
    return TAUT_OK;
}

int taut_file_sink_text(taut_file_sink *sink, const char *name, const char *text, taut_error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    taut_error_clear(error);
    TAUT_REQUIRE(sink && name && text);
    TAUT_REQUIRE(name[0] && strlen(name) < 64 && name[strspn(name, allowed)] == '\0');
    if (!sink->text)
        return taut_fail(error, TAUT_ERROR_REFUSED, "%.300s cannot hold texts: it is no HDF5 file",
                         sink->path);
    return sink->text(sink, name, text, error);
}

void taut_writer_bytes(taut_file_sink *sink, const char *bytes, size_t count)
{
    if (count == 0) /* then there may be no bytes at all */
        return;
    sink->bytes += (int64_t)count;
    if (sink->line > 0 && sink->held + count > sink->room)
        hand_over(sink);
    if (sink->line > 0 && count <= sink->room) {
        memcpy(sink->hold + sink->held, bytes, count);
        sink->held += count;
        return;
    }
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
    hand_over(sink);
    errno = 0;
    if (fflush(sink->file) != 0 && sink->failure == 0)
        sink->failure = errno ? errno : EIO;
    if (sink->failure != 0)
        remove_part(sink);
    if (sink->file != stdout && fclose(sink->file) != 0 && sink->failure == 0)
        sink->failure = errno ? errno : EIO;
    sink->file = NULL;
    sink->begun = false;
    sink->line = 0;
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
