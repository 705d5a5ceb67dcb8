/* text.c - see text.h. Terminals obey control characters, so that text of others is never shown as
 * it is. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <taut/taut.h>

void taut_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

/* Length of the UTF-8 sequence of a printable character, or 0 [RFC 3629, section 4; without the
 * controls U+0080..U+009F]. */
static size_t character_length(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7f;
    size_t n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t k = 1; k < n; k++)
        if ((s[k] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool no_character = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f) ||
                        (s[0] == 0xc2 && s[1] < 0xa0);
    return overlong || no_character ? 0 : n;
}

size_t taut_text_clean(char *copy, size_t size, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t k = 0; k < length;) {
        size_t n = character_length((const unsigned char *)text + k, length - k);
        if (used + (n ? n : 1) >= size)
            break;
        if (n)
            memcpy(copy + used, text + k, n);
        else
            copy[used] = text[k] == '\t' ? ' ' : '?';
        used += n ? n : 1;
        k += n ? n : 1;
    }
    copy[used] = 0;
    return used;
}

size_t taut_visible(const char *text, char *copy, size_t size)
{
    size_t used = 0, length = text ? strlen(text) : 0;
    if (!copy || size == 0)
        return 0;
    for (size_t k = 0; k < length;) {
        size_t n = character_length((const unsigned char *)text + k, length - k);
        char code[5];
        if (n == 0)
            snprintf(code, sizeof code, text[k] == '\t' ? " " : "\\x%02x", (unsigned char)text[k]);
        const char *from = n ? text + k : code;
        size_t bytes = n ? n : strlen(code);
        if (used + bytes >= size)
            break;
        memcpy(copy + used, from, bytes);
        used += bytes;
        k += n ? n : 1;
    }
    copy[used] = 0;
    return used;
}
