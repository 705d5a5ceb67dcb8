/* test_lexer.c - numbers, tokens and their places, texts made fit for messages. */
#include "base/text.h"
#include "expr/lexer.h"

#include <locale.h>

#include "support/table.h"

/* ---- numbers */

static double number(const char *text)
{
    taut_lexer lexer;
    taut_token token;
    if (taut_lexer_init(&lexer, NULL, text, strlen(text), NULL) || taut_lexer_next(&lexer, &token))
        return NAN;
    return token.kind == TAUT_TOKEN_NUMBER && (size_t)token.end.offset == strlen(text) ? token.value
                                                                                       : NAN;
}

static void check_numbers(const char *group)
{
    static const struct {
        const char *text;
        double value; /* rounded by the compiler */
    } rows[] = {
        {"0", 0},
        {"0.0", 0},
        {"007", 7},
        {".5", .5},
        {"5.", 5.},
        {"0.1", 0.1},
        {"3.14159265358979323846", 3.14159265358979323846},
        {"0.1000000000000000055511151231257827", 0.1000000000000000055511151231257827},
        {"9007199254740993", 9007199254740993.0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"179769313486231570000000000000000000000e270", 1.7976931348623157e308},
        {"2.2250738585072014e-308", 2.2250738585072014e-308},
        {"4.9406564584124654e-324", 4.9406564584124654e-324},
        /* a famous trap of rounding near the subnormals */
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"0.000000000000000000001e21", 1},
        {"1e0000000000000000001", 10},
        {"0e99999999999", 0},
    };
    check_group(group);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double value = number(rows[k].text);
        check_row(value == rows[k].value, "%s: %.17g, expected %.17g", rows[k].text, value,
                  rows[k].value);
    }
}

/* A host program may have set a locale with a decimal comma. */
static void check_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
                                        "nl_NL.UTF-8"};
    check_group("locale");
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (!setlocale(LC_ALL, names[k]))
            continue;
        check_numbers("numbers with a decimal comma in the locale");
        setlocale(LC_ALL, "C");
        return;
    }
    check_skip("no locale with a decimal comma is installed");
}

/* ---- tokens */

static void check_tokens(void)
{
    static const struct {
        int kind;
        int line, column, length;
    } rows[] = {
        {TAUT_TOKEN_NUMBER, 1, 1, 1},
        {TAUT_TOKEN_RANGE, 1, 2, 2},
        {TAUT_TOKEN_NAME, 1, 4, 1},
        {TAUT_TOKEN_NEWLINE, 1, 13, 0},
        {TAUT_TOKEN_NUMBER, 2, 2, 3},
        {TAUT_TOKEN_RANGE, 2, 5, 2},
        {TAUT_TOKEN_NUMBER, 2, 7, 2},
        {TAUT_TOKEN_NEWLINE, 2, 9, 0},
        {TAUT_TOKEN_NAME, 3, 1, 1},
        {'[', 3, 2, 1},
        {TAUT_TOKEN_NUMBER, 4, 1, 1},
        {']', 4, 2, 1},
        {'.', 4, 3, 1},
        {TAUT_TOKEN_NAME, 4, 4, 2},
        {'\'', 4, 6, 1},
        {'\'', 4, 7, 1},
        {TAUT_TOKEN_AT_MOST, 5, 1, 2},
        {'<', 5, 4, 1},
        {TAUT_TOKEN_UNEQUAL, 5, 6, 2},
        {TAUT_TOKEN_EQUAL, 5, 9, 2},
        {'=', 5, 12, 1},
        {TAUT_TOKEN_AT_LEAST, 5, 13, 2},
        {TAUT_TOKEN_END, 5, 15, 0},
        {TAUT_TOKEN_END, 5, 15, 0},
    };
    const char *text = "1..N # range\r\n\t1.5...5\nx[\n1].y2'' \\\n<= < != == =>=";
    taut_lexer lexer;
    check_group("tokens");
    taut_lexer_init(&lexer, "test", text, strlen(text), NULL);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_token token = {0};
        int status = taut_lexer_next(&lexer, &token);
        check_row(status == 0 && token.kind == rows[k].kind && token.place.line == rows[k].line &&
                      token.place.column == rows[k].column &&
                      token.end.offset - token.place.offset == rows[k].length,
                  "token %zu: status %d, kind %d at %d:%d, length %d; expected kind %d at %d:%d, "
                  "length %d",
                  k, status, token.kind, token.place.line, token.place.column,
                  token.end.offset - token.place.offset, rows[k].kind, rows[k].line, rows[k].column,
                  rows[k].length);
    }
}

/* ---- clean texts */

/* What errors show: no control characters, no broken UTF-8, tabs as single blanks. */
static void check_clean(void)
{
    static const struct {
        const char *text, *clean;
        size_t size;
    } rows[] = {
        {"a\tb", "a b", 200},
        {"a\x1b[31mb", "a?[31mb", 200},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 200},
        {"\xc3\xa9", "", 2}, /* a character is kept whole or left out */
        {"\xc3\xa9", "\xc3\xa9", 3},
        {"\xff\xfe", "??", 200},           /* no UTF-8 */
        {"\xc0\xaf", "??", 200},           /* overlong */
        {"\xe0\x80\xaf", "???", 200},      /* overlong */
        {"\xed\xa0\x80", "???", 200},      /* surrogate */
        {"\xf4\x90\x80\x80", "????", 200}, /* above U+10FFFF */
        {"\xc2\x9b", "??", 200},           /* a control character */
        {"a\xe2\x82", "a??", 200},         /* cut */
        {"abcdef", "abc", 4},
    };
    check_group("clean texts");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char copy[200];
        size_t length = taut_text_clean(copy, rows[k].size, rows[k].text, strlen(rows[k].text));
        check_row(strcmp(copy, rows[k].clean) == 0 && length == strlen(copy),
                  "row %zu: \"%s\", expected \"%s\"", k, copy, rows[k].clean);
    }
}

int main(void)
{
    check_numbers("numbers");
    check_locale();
    check_tokens();
    check_clean();
    return check_done();
}
