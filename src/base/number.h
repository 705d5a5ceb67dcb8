/* number.h - numbers as text, the same in every locale: a host program may have set a decimal
 * comma. */
#ifndef TAUT_BASE_NUMBER_H
#define TAUT_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { TAUT_NUMBER_SIZE = 32 }; /* room for any double with 17 digits */

/* A decimal number and nothing else but blanks around it (no hexadecimal, no inf, no nan). */
bool taut_number_parse(const char *text, double *value);
/* Writes `digits` significant digits, with a point; "nan", "inf" and "-inf" for the rest.
 * Returns the length. */
int taut_number_format(double value, int digits, char buffer[TAUT_NUMBER_SIZE]);

#endif
