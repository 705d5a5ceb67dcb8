/* lexer.c - see lexer.h. */
#include "expr/lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
    NUMBER_LIMIT = 400 /* characters */,
    EXPONENT_LIMIT = 100000 /* far beyond double: read no further */
};

/* Own classification: the ones of <ctype.h> follow the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int taut_text_fail(taut_error *error, int code, const char *file, const char *text, size_t length,
                   taut_place place, const char *format, va_list list)
{
    if (!error)
        return code;
    taut_error_clear(error);
    error->code = code;
    error->line = place.line;
    error->column = place.column;
    taut_message(error, format, list);
    if (file)
        taut_text_clean(error->file, sizeof error->file, file, strlen(file));
    size_t at = (size_t)place.offset < length ? (size_t)place.offset : length;
    size_t first = at, last = at;
    while (first > 0 && text[first - 1] != '\n')
        first--;
    while (last < length && text[last] != '\n')
        last++;
    taut_error_quote(error, text + first, last - first);
    return code;
}

__attribute__((format(printf, 3, 4))) static int fail(const taut_lexer *lexer, taut_place place,
                                                      const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int code = taut_text_fail(lexer->error, TAUT_ERROR_MODEL, lexer->file, lexer->text,
                              (size_t)lexer->length, place, format, list);
    va_end(list);
    return code;
}

taut_place taut_lexer_place(const taut_lexer *lexer)
{
    return (taut_place){lexer->line, lexer->offset - lexer->line_start + 1, lexer->offset};
}

/* The character `ahead` places further; 0 behind the end (a zero byte in the text is refused
 * before it matters). */
static char peek(const taut_lexer *lexer, int32_t ahead)
{
    return ahead < lexer->length - lexer->offset ? lexer->text[lexer->offset + ahead] : 0;
}

int taut_lexer_init(taut_lexer *lexer, const char *file, const char *text, size_t length,
                    taut_error *error)
{
    if (length > TAUT_TEXT_LIMIT) {
        taut_fail(
            error, TAUT_ERROR_SIZE,
            "the text has %lld bytes, more than the %d that are read; keep large data in [tables]",
            (long long)length, TAUT_TEXT_LIMIT);
        if (error && file)
            taut_text_clean(error->file, sizeof error->file, file, strlen(file));
        return TAUT_ERROR_SIZE;
    }
    *lexer = (taut_lexer){
        .file = file, .text = text, .length = (int32_t)length, .line = 1, .error = error};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        lexer->offset = lexer->line_start = 3; /* the byte-order mark that some editors write */
    return 0;
}

/* Bytes of the line end here: 0, 1 (\n) or 2 (\r\n). */
static int32_t line_end(const taut_lexer *lexer, int32_t ahead)
{
    if (peek(lexer, ahead) == '\n')
        return 1;
    return peek(lexer, ahead) == '\r' && peek(lexer, ahead + 1) == '\n' ? 2 : 0;
}

static void next_line(taut_lexer *lexer, int32_t bytes)
{
    lexer->offset += bytes;
    lexer->line++;
    lexer->line_start = lexer->offset;
}

static int32_t blanks(const taut_lexer *lexer, int32_t ahead)
{
    while (peek(lexer, ahead) == ' ' || peek(lexer, ahead) == '\t')
        ahead++;
    return ahead;
}

/* Any text is allowed in a comment, control characters are not. */
static int skip_comment(taut_lexer *lexer)
{
    for (; lexer->offset < lexer->length && !line_end(lexer, 0); lexer->offset++) {
        unsigned char c = (unsigned char)peek(lexer, 0);
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return fail(lexer, taut_lexer_place(lexer),
                        "a comment contains the control character 0x%02x; is this a text file?", c);
    }
    return 0;
}

/* A backslash at the end of a line joins it with the next one. */
static int skip_backslash(taut_lexer *lexer)
{
    int32_t ahead = blanks(lexer, 1), bytes = line_end(lexer, ahead);
    if (!bytes && lexer->offset + ahead < lexer->length)
        return fail(
            lexer, taut_lexer_place(lexer),
            "expected the end of the line after '\\', which joins a line with the next one");
    lexer->offset += ahead;
    if (bytes)
        next_line(lexer, bytes);
    return 0;
}

/* Skips what separates tokens; stops at a line end only where that ends a statement. */
static int skip_blanks(taut_lexer *lexer)
{
    for (;;) {
        lexer->offset += blanks(lexer, 0);
        if (peek(lexer, 0) == '#')
            TAUT_TRY(skip_comment(lexer));
        int32_t bytes = line_end(lexer, 0);
        if (peek(lexer, 0) == '\\') {
            TAUT_TRY(skip_backslash(lexer));
        } else if (bytes && lexer->open > 0 && peek(lexer, blanks(lexer, bytes)) != '[') {
            next_line(lexer, bytes);
        } else {
            return 0;
        }
    }
}

/* Digits without the point and with a shifted exponent: strtod of this text does not depend on
 * the locale and rounds correctly. */
static double to_double(const char *s, int32_t length)
{
    char buffer[NUMBER_LIMIT + 16];
    int used = 0, shift = 0, exponent = 0;
    bool fraction = false, negative = false;
    int32_t k = 0;
    for (; k < length && s[k] != 'e' && s[k] != 'E'; k++) {
        if (s[k] == '.') {
            fraction = true;
        } else {
            buffer[used++] = s[k];
            shift += fraction;
        }
    }
    for (k++; k < length; k++) {
        if (s[k] == '-')
            negative = true;
        else if (s[k] != '+' && exponent < EXPONENT_LIMIT)
            exponent = 10 * exponent + (s[k] - '0');
    }
    snprintf(buffer + used, sizeof buffer - (size_t)used, "e%d",
             (negative ? -exponent : exponent) - shift);
    return strtod(buffer, NULL);
}

static int check_number(const taut_lexer *lexer, const taut_token *token, bool zero)
{
    int length = token->end.offset - token->place.offset;
    const char *text = lexer->text + token->place.offset;
    if (is_letter(peek(lexer, 0)))
        return fail(
            lexer, taut_lexer_place(lexer),
            "expected an operator after the number %.*s, found '%c'; a product is written with '*'",
            length < 40 ? length : 40, text, peek(lexer, 0));
    if (isinf(token->value))
        return fail(lexer, token->place, "the number %.*s is too large for double precision",
                    length < 40 ? length : 40, text);
    if (token->value == 0 && !zero)
        return fail(lexer, token->place,
                    "the number %.*s is too small for double precision; write 0 if that is meant",
                    length < 40 ? length : 40, text);
    return 0;
}

static int read_number(taut_lexer *lexer, taut_token *token)
{
    const char *text = lexer->text + lexer->offset;
    bool point = false, zero = true;
    int32_t n = 0;
    for (;; n++) {
        char c = peek(lexer, n);
        if (c == '.' && !point && peek(lexer, n + 1) != '.')
            point = true;
        else if (!is_digit(c))
            break;
        zero = zero && (c == '0' || c == '.');
    }
    if (peek(lexer, n) == 'e' || peek(lexer, n) == 'E') {
        int32_t sign = peek(lexer, n + 1) == '+' || peek(lexer, n + 1) == '-';
        if (is_digit(peek(lexer, n + 1 + sign)))
            for (n += 1 + sign; is_digit(peek(lexer, n));)
                n++;
    }
    if (n > NUMBER_LIMIT)
        return fail(lexer, token->place, "a number of %d characters; at most %d are read", n,
                    NUMBER_LIMIT);
    token->kind = TAUT_TOKEN_NUMBER;
    token->value = to_double(text, n);
    lexer->offset += n;
    token->end = taut_lexer_place(lexer);
    return check_number(lexer, token, zero);
}

static int read_name(taut_lexer *lexer, taut_token *token)
{
    int32_t n = 0;
    while (is_letter(peek(lexer, n)) || is_digit(peek(lexer, n)))
        n++;
    if (n > TAUT_NAME_LIMIT)
        return fail(lexer, token->place, "a name of %d letters, '%.20s...'; at most %d are allowed",
                    n, lexer->text + lexer->offset, TAUT_NAME_LIMIT);
    token->kind = TAUT_TOKEN_NAME;
    lexer->offset += n;
    token->end = taut_lexer_place(lexer);
    return 0;
}

/* What people of other languages try, and how it is written here. */
static const struct {
    char mark;
    const char *advice;
} foreign[] = {
    {':', "a range is written first..last"},
    {';', "items are separated by ',' or stand on lines of their own"},
    {'{', "use ( ) around expressions and [ ] around indices"},
    {'}', "use ( ) around expressions and [ ] around indices"},
    {'&', "write 'and'"},
    {'|', "write 'or' between conditions, abs(x) for the absolute value"},
    {'!', "'not equal' is written !="},
    {'%', "the remainder is mod(a, b), and a comment begins with '#'"},
    {'"', "names and texts stand without quotes"},
};

static int fail_character(const taut_lexer *lexer, taut_place place)
{
    unsigned char c = (unsigned char)peek(lexer, 0);
    for (size_t k = 0; k < sizeof foreign / sizeof foreign[0]; k++)
        if (foreign[k].mark == (char)c)
            return fail(lexer, place, "unexpected character '%c': %s", c, foreign[k].advice);
    if (c >= 0x80)
        return fail(lexer, place,
                    "unexpected byte 0x%02x: outside comments only ASCII characters are allowed",
                    c);
    if (c < 0x20 || c == 0x7f)
        return fail(lexer, place, "unexpected control character 0x%02x; is this a text file?", c);
    return fail(lexer, place, "unexpected character '%c'", c);
}

/* Marks of two characters, and pairs that look like one. */
static const struct {
    char first, second;
    int kind;
    const char *advice;
} pairs[] = {
    {'<', '=', TAUT_TOKEN_AT_MOST, NULL},       {'>', '=', TAUT_TOKEN_AT_LEAST, NULL},
    {'=', '=', TAUT_TOKEN_EQUAL, NULL},         {'!', '=', TAUT_TOKEN_UNEQUAL, NULL},
    {'.', '.', TAUT_TOKEN_RANGE, NULL},         {'*', '*', 0, "a power is written with '^'"},
    {'/', '/', 0, "a comment begins with '#'"},
};

static int read_mark(taut_lexer *lexer, taut_token *token)
{
    char c = peek(lexer, 0);
    int32_t n = 1;
    token->kind = c;
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        if (pairs[k].first != c || pairs[k].second != peek(lexer, 1))
            continue;
        if (pairs[k].advice)
            return fail(lexer, token->place, "unexpected '%c%c': %s", c, pairs[k].second,
                        pairs[k].advice);
        token->kind = pairs[k].kind;
        n = 2;
    }
    if (n == 1 && (!c || !strchr("+-*/^()[],=.'<>", c)))
        return fail_character(lexer, token->place);
    if (c == '(' || c == '[')
        lexer->open++;
    if ((c == ')' || c == ']') && lexer->open > 0)
        lexer->open--;
    lexer->offset += n;
    token->end = taut_lexer_place(lexer);
    return 0;
}

int taut_lexer_next(taut_lexer *lexer, taut_token *token)
{
    TAUT_TRY(skip_blanks(lexer));
    *token = (taut_token){.place = taut_lexer_place(lexer)};
    int32_t bytes = line_end(lexer, 0);
    if (bytes || lexer->offset >= lexer->length) {
        token->end = token->place;
        token->kind = bytes ? TAUT_TOKEN_NEWLINE : TAUT_TOKEN_END;
        if (bytes)
            next_line(lexer, bytes);
        return 0;
    }
    char c = peek(lexer, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
        return read_number(lexer, token);
    return is_letter(c) ? read_name(lexer, token) : read_mark(lexer, token);
}
