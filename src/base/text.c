/* text.c - texts of fixed size that are put together in steps. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void taut_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}
