/* warnings.h - options that were given and have no effect: reported, not refused, since scripts
 * give the same options to many methods; and methods that do not suit a motion. */
#ifndef TAUT_BASE_WARNINGS_H
#define TAUT_BASE_WARNINGS_H

#include <stddef.h>

typedef struct taut_warnings {
    int count;
    char text[12][160]; /* each begins with the name of the option: the program adds "--" */
} taut_warnings;

/* "OPTION has no effect: READER does not read it", and what follows; warnings that find no place
 * are dropped. */
void taut_warn_unread(taut_warnings *warnings, const char *option, const char *reader,
                      const char *more);
/* Any other one. */
void taut_warn(taut_warnings *warnings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text k, NULL when out of range. */
const char *taut_warning_text(const taut_warnings *warnings, int k);

#endif
