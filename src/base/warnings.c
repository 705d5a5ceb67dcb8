/* warnings.c - see warnings.h. */
#include "base/warnings.h"

#include <stdio.h>

void taut_warn_unread(taut_warnings *warnings, const char *option, const char *reader,
                      const char *more)
{
    enum { MOST = sizeof warnings->text / sizeof warnings->text[0] };
    if (warnings->count < MOST)
        snprintf(warnings->text[warnings->count++], sizeof warnings->text[0],
                 "%s has no effect: %s does not read it%s", option, reader, more);
}

const char *taut_warning_text(const taut_warnings *warnings, int k)
{
    return k >= 0 && k < warnings->count ? warnings->text[k] : NULL;
}
