/* number.c - strtod and printf follow the locale's decimal point; here it is always '.'. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
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
    char copy[LONGEST + 1];
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *point = strchr(copy, '.');
    if (point)
        *point = localeconv()->decimal_point[0];
    char *end;
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
    for (char *c = buffer; *c; c++)
        if (!strchr("+-0123456789e", *c))
            *c = '.';
    return length;
}
