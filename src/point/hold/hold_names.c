/* hold_names.c - from `--hold theta, bob[3].x', net` to the coordinates and velocities that are
 * meant. */
#include "point/hold/hold.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearmiss.h"
#include "system/system.h"

bool taut_hold_any(const unsigned char *hold, taut_index n, unsigned bits)
{
    for (taut_index i = 0; hold && i < n; i++)
        if (hold[i] & bits)
            return true;
    return false;
}

/* A name taken apart: "bob[3].x" is bob, one index, component 0. */
typedef struct parts {
    size_t length; /* of the name of the family */
    int indices;   /* 0: all members */
    int32_t index[4];
    int component; /* -1: all */
} parts;

/* False when the text has another form. */
static bool split_name(const char *text, parts *p)
{
    *p = (parts){.length = strcspn(text, "[."), .component = -1};
    text += p->length;
    if (*text == '[') {
        do {
            char *end;
            long value = strtol(text + 1, &end, 10);
            if (end == text + 1 || p->indices == 4 || value < INT32_MIN || value > INT32_MAX)
                return false;
            p->index[p->indices++] = (int32_t)value;
            for (text = end; *text == ' '; text++)
                ;
        } while (*text == ',');
        if (*text++ != ']')
            return false;
    }
    if (text[0] == '.' && text[1] >= 'x' && text[1] <= 'z' && text[2] == 0) {
        p->component = text[1] - 'x';
        return true;
    }
    return text[0] == 0;
}

static void mark_members(const taut_name_block *block, const parts *p, unsigned char *hold,
                         unsigned bit, int64_t *marked)
{
    int64_t first = 0, last = block->count - 1;
    if (p->indices > 0) {
        first = last = p->indices == block->dims ? taut_block_find(block, p->index) : -1;
        if (first < 0)
            return;
    }
    if (p->component >= block->components || (p->component >= 0 && block->components == 1))
        return;
    for (int64_t k = first; k <= last; k++)
        for (int c = 0; c < block->components; c++)
            if (p->component < 0 || p->component == c) {
                hold[block->first + k * block->components + c] |= (unsigned char)bit;
                ++*marked;
            }
}

static int fail_unknown(const taut_system *system, const char *text, taut_arena *arena,
                        taut_error *error)
{
    const taut_names *all = &system->coordinates;
    size_t length = strcspn(text, "[.");
    taut_index from = -1, to = -1;
    for (int64_t b = 0; b < all->blocks; b++)
        if (strncmp(all->block[b].name, text, length) == 0 && all->block[b].name[length] == 0) {
            const taut_name_block *block = &all->block[b].block;
            from = from < 0 ? block->first : from;
            to = (taut_index)(block->first + block->count * block->components - 1);
        }
    if (from >= 0) {
        char first[96], last[96];
        taut_system_name(system, TAUT_COORDINATE, from, first, sizeof first);
        taut_system_name(system, TAUT_COORDINATE, to, last, sizeof last);
        return taut_fail_option(error, TAUT_ERROR_USAGE, "hold",
                                "unknown '%.60s'; this name has %s%s%s", text, first,
                                to > from ? " to " : "", to > from ? last : "");
    }
    const char **names = TAUT_NEW(arena, const char *, all->blocks);
    TAUT_NEED(error, names);
    for (int64_t b = 0; b < all->blocks; b++)
        names[b] = all->block[b].name;
    char word[65];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    const char *near = taut_near_miss(word, names, all->blocks);
    return taut_fail_option(error, TAUT_ERROR_USAGE, "hold", "unknown coordinate '%.60s'%s%s%s",
                            text, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* One name, without blanks around it. */
static int mark_word(const taut_system *system, char *word, unsigned char *hold, taut_arena *arena,
                     taut_error *error)
{
    const taut_names *all = &system->coordinates;
    size_t length = strlen(word);
    bool velocity = length > 0 && word[length - 1] == '\'';
    if (velocity && system->sizes.kind != TAUT_MECHANICAL)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "hold",
                                "'%.60s' is a velocity, and a first-order system has none", word);
    if (velocity)
        word[length - 1] = 0;
    unsigned bit = velocity ? TAUT_HOLD_VELOCITY : TAUT_HOLD_POSITION;
    taut_index exact = taut_names_find(all, word); /* names given in C may have any letters */
    if (exact >= 0) {
        hold[exact] |= (unsigned char)bit;
        return TAUT_OK;
    }
    parts p;
    int64_t marked = 0;
    bool formed = split_name(word, &p);
    for (int64_t b = 0; formed && b < all->blocks; b++)
        if (strncmp(all->block[b].name, word, p.length) == 0 && all->block[b].name[p.length] == 0)
            mark_members(&all->block[b].block, &p, hold, bit, &marked);
    return marked > 0 ? TAUT_OK : fail_unknown(system, word, arena, error);
}

/* Ends the word that begins at `text` and returns where the next one begins, NULL after the
 * last. Commas inside brackets belong to indices. */
static char *end_word(char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '[') - (*text == ']');
        if (*text == '\n' || (*text == ',' && depth <= 0)) {
            *text = 0;
            return text + 1;
        }
    }
    return NULL;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t end = strlen(text); end > 0 && isspace((unsigned char)text[end - 1]); end--)
        text[end - 1] = 0;
    return text;
}

int taut_hold_names(const taut_system *system, const char *names, taut_arena *arena,
                    const unsigned char **result, taut_error *error)
{
    taut_index n = system->sizes.coordinates;
    *result = taut_system_hold(system);
    if (!names || !names[0])
        return TAUT_OK;
    unsigned char *hold = TAUT_NEW(arena, unsigned char, n);
    char *text = taut_arena_text(arena, names, strlen(names));
    TAUT_NEED(error, hold, text);
    if (*result)
        memcpy(hold, *result, (size_t)n);
    for (char *word = text, *next; word; word = next) {
        next = end_word(word);
        word = trim(word);
        if (!word[0])
            return taut_fail_option(error, TAUT_ERROR_USAGE, "hold",
                                    "expected names of coordinates, found '%.60s'", names);
        TAUT_TRY(mark_word(system, word, hold, arena, error));
    }
    *result = hold;
    return TAUT_OK;
}
