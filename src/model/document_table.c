/* document_table.c - the sections of a model file, the form of their items, and the attributes that
 * they accept. */
#include "model/document_table.h"

#include <string.h>

#include "base/text.h"

#define BIT(word) (1u << TAUT_WORD_##word)

const taut_word_row taut_word_table[TAUT_WORD_COUNT] = {
    [TAUT_WORD_STIFFNESS] = {"stiffness", TAUT_TAKES_EXPRESSION},
    [TAUT_WORD_COMPLIANCE] = {"compliance", TAUT_TAKES_EXPRESSION},
    [TAUT_WORD_DAMPING] = {"damping", TAUT_TAKES_EXPRESSION},
    [TAUT_WORD_RIGID] = {"rigid", TAUT_TAKES_NOTHING},
    [TAUT_WORD_SOFT] = {"soft", TAUT_TAKES_NOTHING},
    [TAUT_WORD_MASS] = {"mass", TAUT_TAKES_EXPRESSION},
    [TAUT_WORD_SCALE] = {"scale", TAUT_TAKES_EXPRESSION},
    [TAUT_WORD_FAST] = {"fast", TAUT_TAKES_NOTHING},
    [TAUT_WORD_HOLD] = {"hold", TAUT_TAKES_NOTHING},
    [TAUT_WORD_GUESS] = {"guess", TAUT_TAKES_NOTHING},
    [TAUT_WORD_RISING] = {"rising", TAUT_TAKES_NOTHING},
    [TAUT_WORD_FALLING] = {"falling", TAUT_TAKES_NOTHING},
    [TAUT_WORD_STOP] = {"stop", TAUT_TAKES_NOTHING},
    [TAUT_WORD_THEN] = {"then", TAUT_TAKES_ASSIGNMENTS},
    [TAUT_WORD_POSITIVE] = {"positive", TAUT_TAKES_NOTHING},
    [TAUT_WORD_WIDTH] = {"width", TAUT_TAKES_EXPRESSION},
    [TAUT_WORD_COLOUR] = {"colour", TAUT_TAKES_COLOUR},
    [TAUT_WORD_LABEL] = {"label", TAUT_TAKES_QUOTED},
};

/* Okabe and Ito's palette, which colour-blind readers can tell apart (values: analysis.h). */
const char *const taut_colour_table[TAUT_COLOURS] = {"black",  "grey", "orange", "sky",   "green",
                                                     "yellow", "blue", "red",    "purple"};

enum {
    BOND_WORDS = BIT(STIFFNESS) | BIT(COMPLIANCE) | BIT(DAMPING) | BIT(RIGID) | BIT(SOFT),
    EVENT_WORDS = BIT(RISING) | BIT(FALLING) | BIT(STOP) | BIT(THEN),
    SHAPE_WORDS = BIT(WIDTH) | BIT(COLOUR) | BIT(LABEL),
};

const taut_section_row taut_section_table[TAUT_SECTION_COUNT] = {
    [TAUT_SECTION_PARAMETERS] = {"parameters", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0,
                                 "omega = 1e4"},
    [TAUT_SECTION_COORDINATES] = {"coordinates", TAUT_LEFT_NAMES, TAUT_VALUE_EXPRESSION, 0, "x, y"},
    [TAUT_SECTION_PARTICLES] = {"particles", TAUT_LEFT_NAMES_OR_VALUE, TAUT_VALUE_EXPRESSION,
                                BIT(MASS), "p[i] for i in 1..N  mass 1"},
    [TAUT_SECTION_DEFINITIONS] = {"definitions", TAUT_LEFT_FUNCTION, TAUT_VALUE_EXPRESSION, 0,
                                  "f(r) = r^2"},
    [TAUT_SECTION_TABLES] = {"tables", TAUT_LEFT_NEEDED, TAUT_VALUE_RAW, 0, "bars = bars.csv"},
    [TAUT_SECTION_MASS] = {"mass", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0, "x = 2"},
    [TAUT_SECTION_KINETIC] = {"kinetic", TAUT_LEFT_EXPRESSIONS, TAUT_VALUE_EXPRESSION, 0,
                              "m*x'^2/2"},
    [TAUT_SECTION_POTENTIAL] = {"potential", TAUT_LEFT_EXPRESSIONS, TAUT_VALUE_EXPRESSION,
                                BIT(FAST), "m*g*y"},
    [TAUT_SECTION_FORCES] = {"forces", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0, "x = -x'"},
    [TAUT_SECTION_BONDS] = {"bonds", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, BOND_WORDS,
                            "rod = sqrt(x^2 + y^2) - 1  stiffness k"},
    [TAUT_SECTION_STIFF_POTENTIAL] = {"stiff potential", TAUT_LEFT_EXPRESSIONS,
                                      TAUT_VALUE_EXPRESSION, BIT(SCALE),
                                      "(x^2 - 1)^2/4  scale omega^2"},
    [TAUT_SECTION_START] = {"start", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION,
                            BIT(HOLD) | BIT(GUESS), "x = 1, x' = 0"},
    [TAUT_SECTION_RUN] = {"run", TAUT_LEFT_NEEDED, TAUT_VALUE_SETTING, 0, "until = 10"},
    [TAUT_SECTION_STATE] = {"state", TAUT_LEFT_NAMES, TAUT_VALUE_EXPRESSION, BIT(POSITIVE), "x, y"},
    [TAUT_SECTION_ALGEBRAIC] = {"algebraic", TAUT_LEFT_NAMES, TAUT_VALUE_EXPRESSION, 0, "y"},
    [TAUT_SECTION_RATES] = {"rates", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0, "x' = u"},
    [TAUT_SECTION_CONSTRAINTS] = {"constraints", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0,
                                  "c = x^2 + y^2 - 1"},
    [TAUT_SECTION_INVARIANTS] = {"invariants", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0,
                                 "energy = (u^2 + x^2)/2"},
    [TAUT_SECTION_STEPPER] = {"stepper", TAUT_LEFT_NEEDED, TAUT_VALUE_STEPPER, 0, "horizon = 1e-5"},
    [TAUT_SECTION_OBSERVABLES] = {"observables", TAUT_LEFT_NAMES_OR_VALUE, TAUT_VALUE_EXPRESSION, 0,
                                  "u = x + y"},
    [TAUT_SECTION_OUTPUTS] = {"outputs", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, 0,
                              "tension = lambda(rod)"},
    [TAUT_SECTION_EVENTS] = {"events", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, EVENT_WORDS,
                             "floor = y  falling  stop"},
    [TAUT_SECTION_SHAPES] = {"shapes", TAUT_LEFT_NEEDED, TAUT_VALUE_EXPRESSION, SHAPE_WORDS,
                             "rod = line((0, 0), (x, y))  width 2"},
};

const char *taut_section_name(taut_section section)
{
    return (unsigned)section < TAUT_SECTION_COUNT ? taut_section_table[section].name : "";
}

taut_section taut_section_find(const char *name)
{
    int k = 0;
    while (k < TAUT_SECTION_COUNT && strcmp(taut_section_table[k].name, name) != 0)
        k++;
    return (taut_section)k;
}

taut_word taut_word_find(const char *name)
{
    int k = 0;
    while (k < TAUT_WORD_COUNT && strcmp(taut_word_table[k].name, name) != 0)
        k++;
    return (taut_word)k;
}

/* Names compare in small letters and with single blanks between the words, so that [Stiff
 * Potential ] finds its near miss. */
static void simplify(const char *name, char *plain, size_t size)
{
    size_t used = 0;
    for (; *name && used + 1 < size; name++) {
        bool blank = *name == ' ' || *name == '\t' || *name == '_' || *name == '-';
        if (blank && (used == 0 || plain[used - 1] == ' '))
            continue;
        plain[used++] = (char)(blank                          ? ' '
                               : *name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a'
                                                              : *name);
    }
    plain[used - (used > 0 && plain[used - 1] == ' ')] = 0;
}

const char *taut_section_advice(const char *name, char *text, size_t size)
{
    const char *names[TAUT_SECTION_COUNT];
    char plain[TAUT_NAME_LIMIT + 1];
    for (int k = 0; k < TAUT_SECTION_COUNT; k++)
        names[k] = taut_section_table[k].name;
    simplify(name, plain, sizeof plain);
    const char *near_miss = taut_near_miss(plain, names, TAUT_SECTION_COUNT);
    text[0] = 0;
    if (near_miss)
        taut_append(text, size, "did you mean [%s]? ", near_miss);
    taut_append(text, size, "sections are");
    for (int k = 0; k < TAUT_SECTION_COUNT; k++)
        taut_append(text, size, "%s %s", k ? "," : "", names[k]);
    return text;
}

const char *taut_word_advice(taut_section section, const char *name, char *text, size_t size)
{
    const taut_section_row *row = &taut_section_table[section];
    const char *names[TAUT_WORD_COUNT];
    int count = 0;
    text[0] = 0;
    for (int k = 0; k < TAUT_WORD_COUNT; k++)
        if (row->words >> k & 1)
            names[count++] = taut_word_table[k].name;
    taut_word word = taut_word_find(name);
    for (int k = 0; word != TAUT_WORD_COUNT && k < TAUT_SECTION_COUNT; k++)
        if (taut_section_table[k].words >> word & 1)
            taut_append(text, size, "'%s' is an attribute of [%s]; ", name,
                        taut_section_table[k].name);
    const char *near_miss = taut_near_miss(name, names, count);
    if (near_miss)
        taut_append(text, size, "did you mean '%s'? ", near_miss);
    taut_append(text, size, count ? "[%s] accepts" : "[%s] accepts no attributes", row->name);
    for (int k = 0; k < count; k++)
        taut_append(text, size, "%s %s", k ? "," : "", names[k]);
    taut_append(text, size, "; a product is written with '*'");
    return text;
}
