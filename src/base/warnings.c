/* warnings.c - see warnings.h. */
#include "base/warnings.h"

#include <stdarg.h>
#include <stdio.h>

void taut_warn(taut_warnings *warnings, const char *format, ...)
{
    enum { MOST = sizeof warnings->text / sizeof warnings->text[0] };
    va_list arguments;
    va_start(arguments, format);
    if (warnings->count < MOST)
        vsnprintf(warnings->text[warnings->count++], sizeof warnings->text[0], format, arguments);
    va_end(arguments);
}

void taut_warn_unread(taut_warnings *warnings, const char *option, const char *reader,
                      const char *more)
{
    taut_warn(warnings, "%s has no effect: %s does not read it%s", option, reader, more);
}

const char *taut_warning_text(const taut_warnings *warnings, int k)
{
    return k >= 0 && k < warnings->count ? warnings->text[k] : NULL;
}
