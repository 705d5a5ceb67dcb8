/* number.c - strtod and printf follow the locale's decimal point; here it is always '.'. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 200 };

bool taut_number_parse(const char *text, double *value)
{
    text += strspn(text, " \t\r\n");
    size_t length = strspn(text, "+-.0123456789eE");
    if (length == 0 || length > LONGEST || text[length + strspn(text + length, " \t\r\n")] != '\0')
        return false;
    /* the decimal point of a locale may have several bytes: U+066B in ps_AF */
    const char *point = localeconv()->decimal_point, *dot = memchr(text, '.', length);
    int before = (int)(dot ? dot - text : (ptrdiff_t)length),
        after = dot ? (int)length - before - 1 : 0;
    char copy[LONGEST + 16], *end;
    int used = snprintf(copy, sizeof copy, "%.*s%s%.*s", before, text, dot ? point : "", after,
                        dot ? dot + 1 : "");
    if (used >= (int)sizeof copy)
        return false;
    double number = strtod(copy, &end);
    if (*end != '\0' || !isfinite(number))
        return false;
    *value = number;
    return true;
}

int taut_number_format(double value, int digits, char buffer[TAUT_NUMBER_SIZE])
{
    if (isnan(value))
        return snprintf(buffer, TAUT_NUMBER_SIZE, "nan"); /* never "-nan" */
    int length = snprintf(buffer, TAUT_NUMBER_SIZE, "%.*g", digits, value);
    if (!isfinite(value))
        return length;
    char *point = buffer + strspn(buffer, "+-0123456789e"),
         *rest = point + strcspn(point, "0123456789");
    if (rest > point) {
        *point = '.';
        memmove(point + 1, rest, strlen(rest) + 1);
    }
    return (int)strlen(buffer);
}
