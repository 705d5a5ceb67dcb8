/* parser.h - tokens to trees: expressions and iterators of the model language (grammar: ast.h
 * and docs/grammar.md).
 *
 * One token is looked at; what follows a complete expression (an attribute, a comma, '=') is
 * left to the caller. All functions return 0 or a negative code and then have filled the error
 * with file, line, column, the line itself and what was expected. */
#ifndef TAUT_EXPR_PARSER_H
#define TAUT_EXPR_PARSER_H

#include "expr/lexer.h"

typedef struct taut_parser {
    taut_lexer lexer;
    taut_token token, previous; /* present one, and the one before it (kind 0 at the beginning) */
    taut_arena *arena;
    taut_error *error;
    const char **name; /* interned names: an open hash table of name_size entries, a power of two */
    int64_t names, name_size;
    taut_tree **stack; /* children that wait for their parent */
    int64_t stacked, stack_size;
    int64_t nodes;            /* trees made so far */
    int32_t depth, operators; /* of the expression being read */
} taut_parser;

/* At the first token of a text, which must outlive the trees only for messages. */
int taut_parser_init(taut_parser *parser, const char *file, const char *text, size_t length,
                     taut_arena *arena, taut_error *error);
int taut_parser_advance(taut_parser *parser);
/* Equal texts give equal pointers. NULL when out of memory. */
const char *taut_parser_intern(taut_parser *parser, const char *text, size_t length);
/* Is the present token this name? */
bool taut_parser_at_word(const taut_parser *parser, const char *word);
/* Is the present token an end of line or of the text? */
bool taut_parser_at_end(const taut_parser *parser);

/* Fails at a place with TAUT_ERROR_MODEL. */
int taut_parser_fail(const taut_parser *parser, taut_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails at the present token: "expected WHAT after 'previous', found 'present'". */
int taut_parser_expected(const taut_parser *parser, const char *what);

int taut_parse_expression(taut_parser *parser, taut_tree **tree);
/* name [indices] [.member [indices]] primes, or name(arguments): what may stand before '='. */
int taut_parse_reference(taut_parser *parser, taut_tree **tree);
/* `for name in first..last, ...` with the present token at `for`; a comma goes on only if `name
 * in` follows. */
int taut_parse_iterators(taut_parser *parser, taut_iterator **iterator, int32_t *count);
/* Takes the present token, which must be a name. */
int taut_parser_name(taut_parser *parser, const char *what, const char **name);
/* `for pairs i, j in a, b within r ...` with the present token at `for`: is it that, and its two
 * iterators. (parse_pairs.c) */
bool taut_parser_at_pairs(const taut_parser *parser);
int taut_parse_pairs(taut_parser *parser, taut_iterator **iterator, taut_pairs **pairs);

#endif
