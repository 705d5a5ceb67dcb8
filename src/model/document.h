/* document.h - a model file as a list of statements: syntax only, no meaning. (document.c:
 * sections, statements, attributes.)
 *
 *     item   :=   [left '='] expression [for iterators] attributes
 *     left := name [indices] [.component] ['] | name(args)
 *     statement   :=   item { ',' item }   one line; continues inside brackets or after '\'
 *
 * A comma inside a `for` continues the iterators only if `name in` follows. Which attributes a
 * section accepts, whether they have an expression, and whether a section's values are raw text
 * (tables, stepper command) is one table in document_table.c. In [run] and, except for command
 * and library, in [stepper] a value is given as text and as an expression; in [run] a text that
 * is no expression has value NULL. The whole grammar is docs/grammar.md. */
#ifndef TAUT_MODEL_DOCUMENT_H
#define TAUT_MODEL_DOCUMENT_H

#include "base/nearmiss.h"
#include "expr/ast.h"

typedef enum taut_section {
    TAUT_SECTION_PARAMETERS,
    TAUT_SECTION_COORDINATES,
    TAUT_SECTION_PARTICLES,
    TAUT_SECTION_DEFINITIONS,
    TAUT_SECTION_TABLES,
    TAUT_SECTION_MASS,
    TAUT_SECTION_KINETIC,
    TAUT_SECTION_POTENTIAL,
    TAUT_SECTION_FORCES,
    TAUT_SECTION_BONDS,
    TAUT_SECTION_STIFF_POTENTIAL,
    TAUT_SECTION_START,
    TAUT_SECTION_RUN,
    TAUT_SECTION_STATE,
    TAUT_SECTION_ALGEBRAIC,
    TAUT_SECTION_RATES,
    TAUT_SECTION_CONSTRAINTS,
    TAUT_SECTION_INVARIANTS,
    TAUT_SECTION_STEPPER,
    TAUT_SECTION_OBSERVABLES,
    TAUT_SECTION_OUTPUTS,
    TAUT_SECTION_EVENTS,
    TAUT_SECTION_SHAPES,
    TAUT_SECTION_COUNT
} taut_section;

const char *taut_section_name(taut_section section); /* "stiff potential" */

typedef enum taut_word {
    TAUT_WORD_STIFFNESS,
    TAUT_WORD_COMPLIANCE,
    TAUT_WORD_DAMPING,
    TAUT_WORD_RIGID,
    TAUT_WORD_SOFT,  /* bonds */
    TAUT_WORD_MASS,  /* particles */
    TAUT_WORD_SCALE, /* stiff potential */
    TAUT_WORD_FAST,  /* potential */
    TAUT_WORD_HOLD,
    TAUT_WORD_GUESS, /* start */
    TAUT_WORD_RISING,
    TAUT_WORD_FALLING,
    TAUT_WORD_STOP,
    TAUT_WORD_THEN,     /* events */
    TAUT_WORD_POSITIVE, /* state */
    TAUT_WORD_WIDTH,
    TAUT_WORD_COLOUR,
    TAUT_WORD_LABEL, /* shapes */
    TAUT_WORD_COUNT
} taut_word;

typedef struct taut_assignment { /* after `then` */
    taut_tree *left, *value;
} taut_assignment;

typedef struct taut_attribute {
    taut_word word;
    taut_place place;
    taut_tree *value;            /* NULL for words without one */
    const char *text;            /* of COLOUR and LABEL */
    taut_assignment *assignment; /* of THEN */
    int32_t assignments;
} taut_attribute;

typedef struct taut_item_tree {
    taut_section section;
    taut_place place;
    /* NAME, or CALL of a function definition (children: NAME trees of its arguments); NULL
     * without '=' */
    taut_tree *left;
    taut_tree *value; /* NULL when there is only raw text */
    /* text of the value in [tables], [run] and [stepper], trimmed; NULL in other sections */
    const char *raw;
    int32_t iterators;
    taut_iterator *iterator;
    int32_t attributes;
    taut_attribute *attribute;
} taut_item_tree;

/* The message for a contact written as a bond. */
#define TAUT_ONE_SIDED                                                                             \
    "one-sided bonds are unsupported: a bond is an expression that is held at 0; use an event or " \
    "a force at the limit"

typedef struct taut_document {
    const char *file, *text;
    size_t length;
    const char *title; /* first line of the comment at the head that is not empty; "" without */
    int64_t items;
    taut_item_tree *item; /* in file order */
    bool present[TAUT_SECTION_COUNT];
} taut_document;

/* Parses a whole text. Everything lives in the arena. On error: file, line, column, source line
 * and what was expected. */
int taut_document_parse(const char *text, size_t length, const char *file, taut_arena *arena,
                        taut_document **document, taut_error *error);
/* Parses statements of one section without its header (overrides, initial values); appends
 * nothing, gives a document of its own. */
int taut_document_parse_section(taut_section section, const char *text, size_t length,
                                const char *file, taut_arena *arena, taut_document **document,
                                taut_error *error);
/* Fails with a place in the document: fills file, line, column and the source line. Returns
 * TAUT_ERROR_MODEL. */
int taut_document_fail(const taut_document *document, taut_place place, taut_error *error,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
