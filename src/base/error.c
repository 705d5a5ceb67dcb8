/* error.c - the table of codes and texts. */
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    int code;
    const char *name, *text;
} codes[] = {
    {TAUT_OK, "TAUT_OK", "done"},
    {TAUT_EVENT, "TAUT_EVENT", "an event stopped the run"},
    {TAUT_INTERRUPTED, "TAUT_INTERRUPTED", "the run was interrupted"},
    {TAUT_LIMIT, "TAUT_LIMIT", "a limit was reached before the end time"},
    {TAUT_INACCURATE, "TAUT_INACCURATE",
     "the measured error is above 100 tolerances (of multipliers 1000), the second run failed, or "
     "averaging was not justified"},
    {TAUT_ERROR_USAGE, "TAUT_ERROR_USAGE", "a call or an option does not make sense"},
    {TAUT_ERROR_MODEL, "TAUT_ERROR_MODEL", "the model is wrong"},
    {TAUT_ERROR_FILE, "TAUT_ERROR_FILE", "a file cannot be read or written"},
    {TAUT_ERROR_MEMORY, "TAUT_ERROR_MEMORY", "out of memory"},
    {TAUT_ERROR_SIZE, "TAUT_ERROR_SIZE", "too large"},
    {TAUT_ERROR_EVALUATE, "TAUT_ERROR_EVALUATE", "an evaluation gave no finite number"},
    {TAUT_ERROR_SINGULAR, "TAUT_ERROR_SINGULAR", "a matrix is singular"},
    {TAUT_ERROR_CONVERGE, "TAUT_ERROR_CONVERGE", "an iteration did not converge"},
    {TAUT_ERROR_STEP, "TAUT_ERROR_STEP", "the step became too small"},
    {TAUT_ERROR_REFUSED, "TAUT_ERROR_REFUSED", "the method does not support this system"},
    {TAUT_ERROR_UNAVAILABLE, "TAUT_ERROR_UNAVAILABLE", "not part of this build"},
    {TAUT_ERROR_PROCESS, "TAUT_ERROR_PROCESS", "a separate program failed"},
    {TAUT_ERROR_STOPPED, "TAUT_ERROR_STOPPED", "a callback asked to stop"},
};

const char *taut_code_name(int code)
{
    for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++)
        if (codes[k].code == code)
            return codes[k].name;
    return "unknown";
}

const char *taut_code_text(int code)
{
    for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++)
        if (codes[k].code == code)
            return codes[k].text;
    return "unknown code";
}

void taut_error_clear(taut_error *error)
{
    if (!error)
        return;
    /* every step begins with this: texts are emptied, not filled with zeros */
    error->code = error->line = error->column = error->source_column = 0;
    error->file[0] = error->source[0] = error->option[0] = error->message[0] = '\0';
    memset(error->reserved, 0, sizeof error->reserved);
    error->t = NAN;
}

void taut_message(taut_error *error, const char *format, va_list list)
{
    char text[sizeof error->message];
    vsnprintf(text, sizeof text, format, list);
    taut_visible(text, error->message, sizeof error->message);
}

void taut_error_quote(taut_error *error, const char *line, size_t length)
{
    enum { BEFORE = 120 };
    size_t room = sizeof error->source - 1, column = error->column > 0 ? (size_t)error->column : 1;
    size_t first = length > room && column > BEFORE ? column - BEFORE : 0;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    first = first < length ? first : length;
    while (first > 0 && ((unsigned char)line[first] & 0xc0) == 0x80)
        first--; /* not inside a UTF-8 sequence */
    taut_text_clean(error->source, sizeof error->source, line + first, length - first);
    error->source_column = error->column > 0 ? error->column - (int)first : 0;
}

static int fail(taut_error *error, int code, const char *option, const char *format, va_list list)
{
    if (error) {
        memset(error, 0, sizeof *error);
        error->t = NAN;
        error->code = code;
        snprintf(error->option, sizeof error->option, "%s", option);
        taut_message(error, format, list);
    }
    return code;
}

int taut_fail(taut_error *error, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(error, code, "", format, list);
    va_end(list);
    return code;
}

int taut_fail_option(taut_error *error, int code, const char *option, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(error, code, option, format, list);
    va_end(list);
    return code;
}

int taut_fail_argument(taut_error *error, const char *call, const char *required)
{
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "%s: an argument is NULL or out of range; required: %s", call, required);
}

int taut_fail_memory(taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_MEMORY,
                     "out of memory: a smaller system, or more memory, is needed");
}

int taut_fail_final(int status, const taut_error *reason, taut_error *error)
{
    if (status != TAUT_ERROR_MEMORY && status != TAUT_ERROR_STOPPED)
        return TAUT_OK;
    if (error && error != reason)
        *error = *reason;
    return status;
}
