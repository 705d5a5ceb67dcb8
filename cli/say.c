/* say.c - errors and warnings as compilers print them; colours only on a terminal and without
 * NO_COLOR (no-color.org). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <poll.h>
#endif

#include "cli.h"

typedef enum tone { TONE_ERROR, TONE_WARNING, TONE_PLACE, TONE_CARET, TONE_END } tone;

bool cli_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

/* The escape sequence that begins a tone on standard error, or nothing. */
static const char *colour(tone which)
{
    static const char *const sequence[] = {"\033[1;31m", "\033[1;35m", "\033[1m", "\033[1;32m",
                                           "\033[0m"};
    const char *refusal = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool wanted = !(refusal && refusal[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
    return wanted && cli_terminal(stderr) ? sequence[which] : "";
}

/* "place: error: message" in colours, the texts made visible. */
static void say(const char *place, tone kind, const char *message)
{
    char where[4 * CLI_MESSAGE], what[4 * CLI_MESSAGE];
    fflush(stdout);
    taut_visible(place, where, sizeof where);
    taut_visible(message, what, sizeof what);
    fprintf(stderr, "%s%s:%s %s%s:%s %s\n", colour(TONE_PLACE), where, colour(TONE_END),
            colour(kind), kind == TONE_ERROR ? "error" : "warning", colour(TONE_END), what);
}

static void say_formatted(tone kind, const char *format, va_list list)
{
    char message[2 * CLI_MESSAGE];
    vsnprintf(message, sizeof message, format, list);
    say("taut", kind, message);
}

void cli_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_formatted(TONE_ERROR, format, list);
    va_end(list);
}

void cli_warning(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_formatted(TONE_WARNING, format, list);
    va_end(list);
}

/* The message, and with --json an object too. */
static int refuse(const cli_call *call, const char *format, va_list list)
{
    taut_error error = {.code = TAUT_ERROR_USAGE, .t = NAN};
    vsnprintf(error.message, sizeof error.message, format, list);
    cli_error("%s", error.message);
    if (call && call->json)
        cli_json_failure(&error);
    return CLI_MISUSED;
}

int cli_refuse(const cli_call *call, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int status = refuse(call, format, list);
    va_end(list);
    return status;
}

int cli_misuse(const cli_call *call, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int status = refuse(call, format, list);
    va_end(list);
    if (call && call->verb)
        fprintf(stderr, "'taut %s --help' lists the options\n", call->verb->name);
    else
        fprintf(stderr, "'taut --help' lists the verbs\n");
    return status;
}

/* The source line with a caret under the byte `column` (from 1); long lines are cut to a window
 * around it. `cut`: its beginning is missing already. */
static void show_source(const char *source, int column, bool cut)
{
    enum { WINDOW = 88, BEFORE = 60 };
    int length = (int)strlen(source);
    int at = column - 1 < length ? column - 1 : length;
    int first = length > WINDOW && at > BEFORE ? at - BEFORE : 0;
    int last = first + WINDOW < length ? first + WINDOW : length;
    /* do not cut inside a UTF-8 sequence */
    while (first > 0 && ((unsigned char)source[first] & 0xc0) == 0x80)
        first--;
    while (last < length && ((unsigned char)source[last] & 0xc0) == 0x80)
        last++;
    const char *lead = first > 0 || cut ? "... " : "";
    fprintf(stderr, "    %s", lead);
    for (int k = first; k < last; k++) /* control characters must not reach a terminal */
        fputc((unsigned char)source[k] < 0x20 || source[k] == 0x7f ? ' ' : source[k], stderr);
    fprintf(stderr, "%s\n", last < length ? " ..." : "");
    if (column < 1)
        return;
    fprintf(stderr, "    %*s", (int)strlen(lead), "");
    for (int k = first; k < at; k++)
        if (((unsigned char)source[k] & 0xc0) != 0x80)
            fputc(' ', stderr);
    fprintf(stderr, "%s^%s\n", colour(TONE_CARET), colour(TONE_END));
}

/* Line number `line` of a text; false when there is none. */
static bool find_source(const char *text, int line, char *buffer, size_t size)
{
    for (int now = 1; text && now < line; now++) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    size_t length = text ? strcspn(text, "\r\n") : 0;
    snprintf(buffer, size, "%.*s", (int)length, text ? text : "");
    return length > 0;
}

void cli_message(const taut_error *error, char *buffer, size_t size)
{
    bool option = error->option[0] != '\0';
    snprintf(buffer, size, "%s%s%s%s", option ? "--" : "", error->option, option ? ": " : "",
             error->message[0] ? error->message : taut_code_text(error->code));
}

void cli_say_failure(const taut_error *error)
{
    char message[CLI_MESSAGE];
    cli_message(error, message, sizeof message);
    if (!error->file[0] || error->line <= 0) {
        cli_error("%s", message);
        return;
    }
    char place[320];
    snprintf(place, sizeof place, "%s:%d:%d", error->file, error->line, error->column);
    say(place, TONE_ERROR, message);
    if (error->source[0])
        show_source(error->source, error->source_column, error->source_column != error->column);
}

int cli_fail(const cli_call *call, const taut_error *error, int code)
{
    cli_say_failure(error);
    if (call->json)
        cli_json_failure(error);
    return code == TAUT_ERROR_FILE ? CLI_MISUSED : cli_exit_status(code);
}

void cli_say_warning(const char *warning, const char *text)
{
    /* "file:line:column: text"; the name of the file may contain colons, so that numbers are
     * searched
     */
    for (const char *p = strchr(warning, ':'); p; p = strchr(p + 1, ':')) {
        int line, column, used = 0;
        if (sscanf(p, ":%d:%d: %n", &line, &column, &used) != 2 || used == 0)
            continue;
        char path[1024], source[1024], place[1100];
        snprintf(path, sizeof path, "%.*s", (int)(p - warning), warning);
        snprintf(place, sizeof place, "%s:%d:%d", path, line, column);
        say(place, TONE_WARNING, p + used);
        if (find_source(text, line, source, sizeof source))
            show_source(source, column, false);
        return;
    }
    cli_warning("%s", warning);
}

int cli_exit_status(int code)
{
    switch (code) {
    case TAUT_OK:
    case TAUT_EVENT:
    case TAUT_LIMIT: return CLI_DONE;
    case TAUT_INTERRUPTED: return CLI_INTERRUPTED;
    case TAUT_INACCURATE: return CLI_INACCURATE;
    case TAUT_ERROR_USAGE:
    case TAUT_ERROR_MODEL:
    case TAUT_ERROR_SIZE:
    case TAUT_ERROR_REFUSED:
    case TAUT_ERROR_UNAVAILABLE: return CLI_MISUSED;
    default: return CLI_FAILED;
    }
}

void cli_quit_if_reader_left(void)
{
#ifdef SIGPIPE
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&output, 1, 0) == 1 && (output.revents & POLLERR)) {
        /* as other programs end when their reader ends, so that scripts get the usual status */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
#endif
}

int cli_output_finish(bool failed)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    int reason = errno;
    cli_quit_if_reader_left();
    if (reason || !failed)
        cli_error("cannot write standard output: %s",
                  reason ? strerror(reason) : "an earlier write failed");
    return CLI_FAILED;
}
