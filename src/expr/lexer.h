/* lexer.h - text to words of the model language, one at a time.
 *
 * Numbers (2, .5, 1.5e-3; 1..N is 1 and a range), names (ASCII letters, digits, underscore),
 * marks. Blanks, tabs and comments (# to the end of the line) separate words. A line ends a
 * statement, except inside brackets and after a trailing backslash; a line that begins with '['
 * is always a section header, so that a bracket left open is reported where it belongs and not a
 * page later. */
#ifndef TAUT_EXPR_LEXER_H
#define TAUT_EXPR_LEXER_H

#include <stdarg.h>

#include "expr/ast.h"

/* Marks of one character are their own kind; the others are below. */
enum {
    TAUT_TOKEN_END = 256,
    TAUT_TOKEN_NEWLINE,
    TAUT_TOKEN_NUMBER,
    TAUT_TOKEN_NAME,
    TAUT_TOKEN_RANGE,    /* .. */
    TAUT_TOKEN_AT_MOST,  /* <= */
    TAUT_TOKEN_AT_LEAST, /* >= */
    TAUT_TOKEN_EQUAL,    /* == */
    TAUT_TOKEN_UNEQUAL   /* != */
};

typedef struct taut_token {
    int kind;
    taut_place place, end; /* first byte, and one past the last */
    double value;          /* of a number */
} taut_token;

typedef struct taut_lexer {
    const char *file, *text;
    int32_t length, offset;
    int32_t line, line_start; /* number and offset of the present line */
    int32_t open;             /* brackets that are open */
    taut_error *error;
} taut_lexer;

/* At the beginning of a text, which must outlive the lexer. Fails with TAUT_ERROR_SIZE above
 * TAUT_TEXT_LIMIT. */
int taut_lexer_init(taut_lexer *lexer, const char *file, const char *text, size_t length,
                    taut_error *error);
/* The next token. After the end it gives TAUT_TOKEN_END for ever. */
int taut_lexer_next(taut_lexer *lexer, taut_token *token);
/* Where the lexer stands. */
taut_place taut_lexer_place(const taut_lexer *lexer);

/* Fills *error (may be NULL) with code, message, file, line, column and the source line around
 * `place`. Returns the code. */
int taut_text_fail(taut_error *error, int code, const char *file, const char *text, size_t length,
                   taut_place place, const char *format, va_list list);

#endif
