/* document_table.h - the one table of sections and attribute words, for document.c. */
#ifndef TAUT_MODEL_DOCUMENT_TABLE_H
#define TAUT_MODEL_DOCUMENT_TABLE_H

#include "model/document.h"

/* The part before '='. Names and expressions without '=' are what the section lists or adds
 * up. */
typedef enum taut_left_rule {
    TAUT_LEFT_NEEDED,         /* name = ... */
    TAUT_LEFT_FUNCTION,       /* name = ... or name(arguments) = ... */
    TAUT_LEFT_NAMES,          /* names only, no '=' */
    TAUT_LEFT_NAMES_OR_VALUE, /* names, or name = ... */
    TAUT_LEFT_EXPRESSIONS     /* expressions only, no '=' */
} taut_left_rule;

typedef enum taut_value_rule {
    TAUT_VALUE_EXPRESSION,
    TAUT_VALUE_RAW, /* text up to a comma */
    /* text up to a comma, and its expression if it is one; the name may contain '-' */
    TAUT_VALUE_SETTING,
    TAUT_VALUE_STEPPER /* command and library: text to the end of the line; others: text and its
                          expression */
} taut_value_rule;

typedef struct taut_section_row {
    const char *name;
    taut_left_rule left;
    taut_value_rule value;
    unsigned words;      /* bits 1 << taut_word */
    const char *example; /* for messages */
} taut_section_row;

typedef enum taut_word_takes {
    TAUT_TAKES_NOTHING,
    TAUT_TAKES_EXPRESSION,
    TAUT_TAKES_ASSIGNMENTS,
    TAUT_TAKES_COLOUR, /* a name, or #rrggbb */
    TAUT_TAKES_QUOTED  /* "text" */
} taut_word_takes;

typedef struct taut_word_row {
    const char *name;
    taut_word_takes takes;
} taut_word_row;

extern const taut_section_row taut_section_table[TAUT_SECTION_COUNT];
enum { TAUT_COLOURS = 9 };
extern const char *const taut_colour_table[TAUT_COLOURS];
extern const taut_word_row taut_word_table[TAUT_WORD_COUNT];

/* Row with this name, or the COUNT. */
taut_section taut_section_find(const char *name);
taut_word taut_word_find(const char *name);
/* Messages for a name that was not found. `text` is filled, terminated, and returned. */
const char *taut_section_advice(const char *name, char *text, size_t size);
const char *taut_word_advice(taut_section section, const char *name, char *text, size_t size);

#endif
