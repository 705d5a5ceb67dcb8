/* text.h - texts of fixed size that are put together in steps, and foreign texts that are shown. */
#ifndef TAUT_BASE_TEXT_H
#define TAUT_BASE_TEXT_H

#include <stddef.h>

/* Appends to a terminated text in an array of `size` bytes; what does not fit is cut. */
void taut_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a text that is an array itself. */
#define TAUT_APPEND(text, ...) taut_append((text), sizeof(text), __VA_ARGS__)

/* Copies text for people, one column a character: tabs become blanks; control characters and
 * broken UTF-8 become '?'; never cuts a character. Returns the length; size counts the terminator.
 * (taut_visible, public, shows them as \x1b.) */
size_t taut_text_clean(char *copy, size_t size, const char *text, size_t length);

#endif
