/* document.c - sections, items and attributes of a model file; see document.h for the grammar
 * and document_table.c for the table. */
#include "model/document.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "expr/parser.h"
#include "model/document_table.h"

typedef struct reader {
    taut_parser parser;
    taut_document *document;
    taut_section section; /* TAUT_SECTION_COUNT before the first header */
    int64_t item_size;
    bool headers;     /* may section headers appear? */
    bool to_line_end; /* the present statement ends with its line: no item may follow */
} reader;

int taut_document_fail(const taut_document *document, taut_place place, taut_error *error,
                       const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int code = taut_text_fail(error, TAUT_ERROR_MODEL, document->file, document->text,
                              document->length, place, format, list);
    va_end(list);
    return code;
}

static const taut_section_row *row_of(const reader *r)
{
    return &taut_section_table[r->section];
}

/* ---- section headers */

static int unknown_section(reader *r, taut_place place, const char *name)
{
    char clean[TAUT_NAME_LIMIT + 1], advice[480];
    taut_text_clean(clean, sizeof clean, name, strlen(name));
    return taut_parser_fail(&r->parser, place, "unknown section [%s]; %s", clean,
                            taut_section_advice(name, advice, sizeof advice));
}

/* A header is read as text: its name may contain a blank, and its line contains nothing else. */
static int read_header(reader *r)
{
    taut_parser *parser = &r->parser;
    taut_lexer *lexer = &parser->lexer;
    taut_place place = parser->token.place;
    const char *name = lexer->text + lexer->offset;
    int32_t length = 0, left = lexer->length - lexer->offset;
    while (length < left && !memchr("]#\r\n", name[length], 4))
        length++;
    if (!r->headers)
        return taut_parser_fail(parser, place,
                                "unexpected section header: only items of [%s] are read here",
                                row_of(r)->name);
    if (length == left || name[length] != ']') {
        lexer->offset += length;
        return taut_parser_fail(parser, taut_lexer_place(lexer),
                                "expected ']' to close the section header at column %d",
                                place.column);
    }
    char copy[TAUT_NAME_LIMIT + 1];
    snprintf(copy, sizeof copy, "%.*s", length, name);
    r->section = length < (int32_t)sizeof copy ? taut_section_find(copy) : TAUT_SECTION_COUNT;
    if (r->section == TAUT_SECTION_COUNT)
        return unknown_section(r, place, copy);
    r->document->present[r->section] = true;
    lexer->offset += length + 1;
    lexer->open = 0;
    TAUT_TRY(taut_parser_advance(parser));
    if (!taut_parser_at_end(parser))
        return taut_parser_fail(parser, parser->token.place,
                                "expected the end of the line after the section header [%s]", copy);
    return 0;
}

/* ---- left sides */

static bool is_plain(const taut_tree *tree)
{
    return tree->kind == TAUT_TREE_NAME && !tree->count && !tree->member && !tree->primes;
}

/* f(a, b) = ... : the arguments are plain, different names. */
static int check_function(reader *r, const taut_tree *left)
{
    if (left->kind != TAUT_TREE_CALL || row_of(r)->left != TAUT_LEFT_FUNCTION)
        return taut_parser_fail(
            &r->parser, left->place,
            "[%s] does not accept a function before '='; functions are defined in "
            "[definitions], and indices are written %s[1]",
            row_of(r)->name, left->name);
    for (int32_t k = 0; k < left->count; k++) {
        const taut_tree *argument = left->child[k];
        if (!is_plain(argument))
            return taut_parser_fail(&r->parser, argument->place,
                                    "expected the name of an argument of %s", left->name);
        for (int32_t j = 0; j < k; j++)
            if (left->child[j]->name == argument->name)
                return taut_parser_fail(&r->parser, argument->place,
                                        "the argument '%s' of %s appears twice", argument->name,
                                        left->name);
    }
    return 0;
}

/* Does the present token touch the one before it? */
static bool touches(const taut_parser *parser)
{
    return parser->token.place.offset == parser->previous.end.offset;
}

/* Settings are named like the flags of the program, with hyphens: outer-step. */
static int join_hyphens(reader *r, taut_tree *left)
{
    taut_parser *parser = &r->parser;
    while (parser->token.kind == '-' && touches(parser)) {
        TAUT_TRY(taut_parser_advance(parser));
        if (parser->token.kind != TAUT_TOKEN_NAME || !touches(parser))
            return taut_parser_expected(parser, "the rest of a name");
        TAUT_TRY(taut_parser_advance(parser));
    }
    left->end = parser->previous.end;
    int32_t length = left->end.offset - left->place.offset;
    if (length > TAUT_NAME_LIMIT)
        return taut_parser_fail(parser, left->place, "a name of %d letters; at most %d are allowed",
                                length, TAUT_NAME_LIMIT);
    left->name =
        taut_parser_intern(parser, parser->lexer.text + left->place.offset, (size_t)length);
    return left->name ? 0 : taut_fail_memory(parser->error);
}

/* Reads the part before '='; the current token is then '='. */
static int read_left(reader *r, taut_tree **left)
{
    taut_parser *parser = &r->parser;
    TAUT_TRY(taut_parse_reference(parser, left));
    if (row_of(r)->value != TAUT_VALUE_EXPRESSION && is_plain(*left))
        TAUT_TRY(join_hyphens(r, *left));
    int kind = parser->token.kind;
    bool compares =
        kind == '<' || kind == '>' || kind == TAUT_TOKEN_AT_MOST || kind == TAUT_TOKEN_AT_LEAST;
    if (compares && (r->section == TAUT_SECTION_BONDS || r->section == TAUT_SECTION_CONSTRAINTS))
        return taut_parser_fail(parser, parser->token.place, TAUT_ONE_SIDED);
    if (kind != '=') {
        char what[160];
        snprintf(what, sizeof what, "'=' (as in '%s')", row_of(r)->example);
        return taut_parser_expected(parser, what);
    }
    if ((*left)->kind != TAUT_TREE_NAME)
        return check_function(r, *left);
    if ((*left)->member_count)
        return taut_parser_fail(parser, (*left)->place,
                                "a column of a table cannot be assigned to");
    return 0;
}

/* ---- values */

/* The end of a text value: a comma outside brackets unless the whole line is meant, a comment,
 * the end of the line. */
static int find_raw_end(reader *r, bool whole_line, int32_t *end)
{
    taut_lexer *lexer = &r->parser.lexer;
    int depth = 0;
    for (; lexer->offset < lexer->length; lexer->offset++) {
        unsigned char c = (unsigned char)lexer->text[lexer->offset];
        if (c == '\n' || c == '#' || (c == ',' && depth <= 0 && !whole_line))
            break;
        if (c == '\r' && lexer->offset + 1 < lexer->length &&
            lexer->text[lexer->offset + 1] == '\n')
            break;
        if ((c < 0x20 && c != '\t') || c >= 0x7f)
            return taut_parser_fail(
                &r->parser, taut_lexer_place(lexer),
                "unexpected byte 0x%02x: only printable ASCII characters are allowed", c);
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    *end = lexer->offset;
    return 0;
}

/* Reads the text between the lexer's place and `end` as an expression. Afterwards the lexer is
 * where it was. */
static int parse_within(reader *r, int32_t end, taut_tree **value)
{
    taut_parser *parser = &r->parser;
    taut_lexer lexer = parser->lexer;
    parser->lexer.length = end;
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(taut_parse_expression(parser, value));
    if (parser->token.kind != TAUT_TOKEN_END)
        return taut_parser_expected(parser, "an operator or the end of the value");
    parser->lexer = lexer;
    return 0;
}

/* The same, where a text that is no expression is a text: the value stays NULL. */
static int try_within(reader *r, int32_t end, taut_tree **value)
{
    taut_parser before = r->parser;
    taut_error failure;
    r->parser.error = r->parser.lexer.error = &failure;
    int status = parse_within(r, end, value);
    r->parser.error = r->parser.lexer.error = before.error;
    if (status && status != TAUT_ERROR_MODEL) {
        if (before.error)
            *before.error = failure;
        return status;
    }
    if (status) {
        *value = NULL;
        r->parser.lexer = before.lexer;
        r->parser.token = before.token;
        r->parser.previous = before.previous;
        r->parser.stacked = before.stacked;
        r->parser.depth = before.depth;
    }
    return 0;
}

/* A value as text; the present token is '='. */
static int read_raw(reader *r, taut_item_tree *item)
{
    taut_parser *parser = &r->parser;
    taut_lexer *lexer = &parser->lexer;
    taut_value_rule rule = row_of(r)->value;
    bool line = rule == TAUT_VALUE_STEPPER && (strcmp(item->left->name, "command") == 0 ||
                                               strcmp(item->left->name, "library") == 0);
    int32_t end = 0, stop;
    while (lexer->offset < lexer->length &&
           (lexer->text[lexer->offset] == ' ' || lexer->text[lexer->offset] == '\t'))
        lexer->offset++;
    taut_lexer first = *lexer;
    TAUT_TRY(find_raw_end(r, line, &end));
    stop = end;
    while (stop > first.offset && (lexer->text[stop - 1] == ' ' || lexer->text[stop - 1] == '\t'))
        stop--;
    if (stop == first.offset)
        return taut_parser_fail(parser, parser->token.end, "expected a value after '='");
    lexer->offset = stop - 1;
    if (lexer->text[stop - 1] == '\\')
        return taut_parser_fail(parser, taut_lexer_place(lexer),
                                "a value of [%s] cannot continue in the next line",
                                row_of(r)->name);
    item->raw =
        taut_arena_text(parser->arena, lexer->text + first.offset, (size_t)(stop - first.offset));
    TAUT_NEED(parser->error, item->raw);
    *lexer = first;
    if (rule == TAUT_VALUE_SETTING)
        TAUT_TRY(try_within(r, stop, &item->value));
    else if (rule == TAUT_VALUE_STEPPER && !line)
        TAUT_TRY(parse_within(r, stop, &item->value));
    lexer->offset = end;
    return taut_parser_advance(parser);
}

/* ---- attributes */

/* Assignments behind `then`; with them the statement ends. */
static int read_assignments(reader *r, taut_attribute *attribute)
{
    taut_parser *parser = &r->parser;
    int64_t size = 0;
    r->to_line_end = true;
    for (;;) {
        taut_assignment one;
        TAUT_TRY(read_left(r, &one.left));
        TAUT_TRY(taut_parser_advance(parser));
        TAUT_TRY(taut_parse_expression(parser, &one.value));
        attribute->assignment = taut_arena_grow(parser->arena, attribute->assignment,
                                                attribute->assignments, &size, sizeof one);
        TAUT_NEED(parser->error, attribute->assignment);
        attribute->assignment[attribute->assignments++] = one;
        if (parser->token.kind != ',')
            return 0;
        TAUT_TRY(taut_parser_advance(parser));
    }
}

/* Letters, or '#' and six digits; 0: neither. */
static int32_t colour_length(const char *text, int32_t left)
{
    int32_t length = 0;
    bool digits = left > 0 && text[0] == '#';
    for (; length + digits < left; length++) {
        char c = text[length + digits], small = (char)(c | 32);
        bool letter = small >= 'a' && small <= (digits ? 'f' : 'z');
        if (!letter && !(digits && c >= '0' && c <= '9'))
            break;
    }
    return digits ? (length == 6 ? 7 : 0) : length;
}

static int read_colour(reader *r, const char **colour)
{
    taut_parser *parser = &r->parser;
    taut_lexer *lexer = &parser->lexer;
    char name[TAUT_NAME_LIMIT + 1], list[200] = "";
    const char *text = lexer->text + lexer->offset;
    int32_t length = colour_length(text, lexer->length - lexer->offset);
    snprintf(name, sizeof name, "%.*s", length, text);
    bool known = name[0] == '#';
    for (int k = 0; k < TAUT_COLOURS; k++) {
        known = known || strcmp(name, taut_colour_table[k]) == 0;
        taut_append(list, sizeof list, "%s, ", taut_colour_table[k]);
    }
    if (!known)
        return taut_parser_fail(parser, taut_lexer_place(lexer),
                                "expected a colour: %sor #rrggbb with six digits 0-9, a-f", list);
    lexer->offset += length;
    *colour = taut_arena_text(parser->arena, name, strlen(name));
    return *colour ? 0 : taut_fail_memory(parser->error);
}

static int read_quoted(reader *r, const char **quoted)
{
    taut_parser *parser = &r->parser;
    taut_lexer *lexer = &parser->lexer;
    const char *text = lexer->text + lexer->offset;
    int32_t left = lexer->length - lexer->offset, end = 1;
    while (end < left && text[end] >= 0x20 && text[end] < 0x7f && text[end] != '"')
        end++;
    if (left < 1 || text[0] != '"' || end >= left || text[end] != '"')
        return taut_parser_fail(parser, taut_lexer_place(lexer),
                                "expected a text of printable ASCII characters in double quotes, "
                                "as in label \"pin A\"");
    lexer->offset += end + 1;
    *quoted = taut_arena_text(parser->arena, text + 1, (size_t)(end - 1));
    return *quoted ? 0 : taut_fail_memory(parser->error);
}

/* A text behind an attribute, which is the present token. It is read before the lexer: '#' would
 * begin a comment. */
static int read_text(reader *r, taut_word_takes takes, const char **text)
{
    taut_lexer *lexer = &r->parser.lexer;
    while (lexer->offset < lexer->length &&
           (lexer->text[lexer->offset] == ' ' || lexer->text[lexer->offset] == '\t'))
        lexer->offset++;
    TAUT_TRY(takes == TAUT_TAKES_COLOUR ? read_colour(r, text) : read_quoted(r, text));
    return taut_parser_advance(&r->parser);
}

static int read_attribute(reader *r, taut_attribute *attribute)
{
    taut_parser *parser = &r->parser;
    taut_place place = parser->token.place;
    char name[TAUT_NAME_LIMIT + 1], advice[400];
    snprintf(name, sizeof name, "%.*s", parser->token.end.offset - place.offset,
             parser->lexer.text + place.offset);
    if (strcmp(name, "for") == 0)
        return taut_parser_fail(parser, place, "'for' is written once, before the attributes");
    taut_word word = taut_word_find(name);
    if (word == TAUT_WORD_COUNT || !(row_of(r)->words >> word & 1))
        return taut_parser_fail(parser, place, "unknown attribute '%s'; %s", name,
                                taut_word_advice(r->section, name, advice, sizeof advice));
    *attribute = (taut_attribute){.word = word, .place = place};
    taut_word_takes takes = taut_word_table[word].takes;
    if (takes == TAUT_TAKES_COLOUR || takes == TAUT_TAKES_QUOTED)
        return read_text(r, takes, &attribute->text);
    TAUT_TRY(taut_parser_advance(parser));
    if (takes == TAUT_TAKES_EXPRESSION)
        return taut_parse_expression(parser, &attribute->value);
    return takes == TAUT_TAKES_ASSIGNMENTS ? read_assignments(r, attribute) : 0;
}

static int read_attributes(reader *r, taut_item_tree *item)
{
    taut_parser *parser = &r->parser;
    taut_attribute list[TAUT_WORD_COUNT];
    int32_t count = 0;
    while (parser->token.kind == TAUT_TOKEN_NAME) {
        taut_attribute one;
        TAUT_TRY(read_attribute(r, &one));
        for (int32_t k = 0; k < count; k++)
            if (list[k].word == one.word)
                return taut_parser_fail(parser, one.place, "the attribute '%s' appears twice",
                                        taut_word_table[one.word].name);
        list[count++] = one;
    }
    if (!count)
        return 0;
    item->attribute = TAUT_NEW(parser->arena, taut_attribute, count);
    TAUT_NEED(parser->error, item->attribute);
    memcpy(item->attribute, list, (size_t)count * sizeof list[0]);
    item->attributes = count;
    return 0;
}

/* ---- items, statements */

/* Names of a list: x, x[i]. Of observables, parts too: p[1].x, x'. */
static int read_name_or_value(reader *r, taut_item_tree *item)
{
    taut_parser *parser = &r->parser;
    TAUT_TRY(taut_parse_reference(parser, &item->value));
    const taut_tree *name = item->value;
    bool plain = name->kind == TAUT_TREE_NAME && !name->member && !name->primes;
    if (parser->token.kind == '=' && row_of(r)->left == TAUT_LEFT_NAMES)
        return taut_parser_fail(parser, parser->token.place,
                                "[%s] lists names; values are given in [start] and [parameters]",
                                row_of(r)->name);
    if (parser->token.kind == '=') {
        item->left = item->value;
        if (!plain)
            return taut_parser_fail(parser, name->place, "expected a plain name before '='");
        TAUT_TRY(taut_parser_advance(parser));
        return taut_parse_expression(parser, &item->value);
    }
    if (parser->token.kind != ',' && parser->token.kind != TAUT_TOKEN_NAME &&
        !taut_parser_at_end(parser)) {
        char what[160];
        snprintf(what, sizeof what, "',' or the end of the line (as in '%s')", row_of(r)->example);
        return taut_parser_expected(parser, what);
    }
    if (name->kind != TAUT_TREE_NAME || (!plain && r->section != TAUT_SECTION_OBSERVABLES))
        return taut_parser_fail(parser, name->place,
                                "expected a name, as in '%s'; indices are written [i]",
                                row_of(r)->example);
    return 0;
}

static int read_body(reader *r, taut_item_tree *item)
{
    taut_parser *parser = &r->parser;
    switch (row_of(r)->left) {
    case TAUT_LEFT_EXPRESSIONS:
        TAUT_TRY(taut_parse_expression(parser, &item->value));
        if (parser->token.kind == '=')
            return taut_parser_fail(parser, parser->token.place,
                                    "[%s] contains expressions without a name and '=', as in '%s'",
                                    row_of(r)->name, row_of(r)->example);
        return 0;
    case TAUT_LEFT_NAMES:
    case TAUT_LEFT_NAMES_OR_VALUE: return read_name_or_value(r, item);
    case TAUT_LEFT_NEEDED:
    case TAUT_LEFT_FUNCTION: break;
    }
    TAUT_TRY(read_left(r, &item->left));
    if (row_of(r)->value != TAUT_VALUE_EXPRESSION)
        return read_raw(r, item);
    TAUT_TRY(taut_parser_advance(parser));
    return taut_parse_expression(parser, &item->value);
}

static int read_item(reader *r)
{
    taut_parser *parser = &r->parser;
    taut_item_tree item = {.section = r->section, .place = parser->token.place};
    TAUT_TRY(read_body(r, &item));
    if (taut_parser_at_word(parser, "for"))
        TAUT_TRY(taut_parse_iterators(parser, &item.iterator, &item.iterators));
    TAUT_TRY(read_attributes(r, &item));
    taut_document *document = r->document;
    document->item =
        taut_arena_grow(parser->arena, document->item, document->items, &r->item_size, sizeof item);
    TAUT_NEED(parser->error, document->item);
    document->item[document->items++] = item;
    return 0;
}

/* One line: items separated by commas. */
static int read_statement(reader *r)
{
    taut_parser *parser = &r->parser;
    if (r->section == TAUT_SECTION_COUNT)
        return taut_parser_fail(
            parser, parser->token.place,
            "a statement before the first section; begin with a header like [parameters]");
    r->to_line_end = false;
    for (;;) {
        TAUT_TRY(read_item(r));
        if (taut_parser_at_end(parser))
            return 0;
        if (r->to_line_end)
            return taut_parser_expected(parser, "the end of the line that contains 'then'");
        if (parser->token.kind != ',')
            return taut_parser_expected(parser, "an operator, ',' or the end of the line");
        TAUT_TRY(taut_parser_advance(parser));
    }
}

static int read_document(reader *r)
{
    taut_parser *parser = &r->parser;
    while (parser->token.kind != TAUT_TOKEN_END) {
        if (parser->token.kind == TAUT_TOKEN_NEWLINE)
            TAUT_TRY(taut_parser_advance(parser));
        else if (parser->token.kind == '[')
            TAUT_TRY(read_header(r));
        else
            TAUT_TRY(read_statement(r));
    }
    return 0;
}

/* ---- entry points */

/* The first comment line that is not empty, if the text begins with comments. */
static const char *find_title(const taut_document *document, taut_arena *arena)
{
    const char *at = document->text, *end = at + document->length;
    if (document->length >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    while (at < end && memchr(" \t\r\n#", *at, 5)) {
        bool comment = false;
        for (; at < end && *at != '\n' && memchr(" \t\r#", *at, 4); at++)
            comment = comment || *at == '#';
        const char *stop = at;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        if (stop > at && !comment)
            return "";
        if (stop > at) {
            char *title = TAUT_NEW(arena, char, stop - at + 1);
            size_t length =
                title ? taut_text_clean(title, (size_t)(stop - at) + 1, at, (size_t)(stop - at))
                      : 0;
            while (length > 0 && title[length - 1] == ' ')
                title[--length] = 0;
            return title;
        }
        at = stop < end ? stop + 1 : stop;
    }
    return "";
}

static int parse(taut_section section, bool headers, const char *text, size_t length,
                 const char *file, taut_arena *arena, taut_document **document, taut_error *error)
{
    reader r = {.section = section, .headers = headers};
    taut_lexer probe;
    /* the limit is checked before the copy */
    TAUT_TRY(taut_lexer_init(&probe, file, text, length, error));
    r.document = TAUT_NEW(arena, taut_document, 1);
    TAUT_NEED(error, r.document);
    file = file ? file : "model";
    r.document->file = taut_arena_text(arena, file, strlen(file));
    r.document->text = taut_arena_text(arena, text, length);
    r.document->length = length;
    TAUT_NEED(error, r.document->file, r.document->text);
    r.document->title = find_title(r.document, arena);
    TAUT_NEED(error, r.document->title);
    if (section != TAUT_SECTION_COUNT)
        r.document->present[section] = true;
    TAUT_TRY(taut_parser_init(&r.parser, r.document->file, r.document->text, length, arena, error));
    TAUT_TRY(read_document(&r));
    *document = r.document;
    return 0;
}

int taut_document_parse(const char *text, size_t length, const char *file, taut_arena *arena,
                        taut_document **document, taut_error *error)
{
    return parse(TAUT_SECTION_COUNT, true, text, length, file, arena, document, error);
}

int taut_document_parse_section(taut_section section, const char *text, size_t length,
                                const char *file, taut_arena *arena, taut_document **document,
                                taut_error *error)
{
    if ((unsigned)section >= TAUT_SECTION_COUNT)
        return taut_fail(error, TAUT_ERROR_USAGE, "section %d does not exist", (int)section);
    return parse(section, false, text, length, file, arena, document, error);
}
