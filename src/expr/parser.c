/* parser.c - recursive descent, one function per kind of construct; binary operators share one
 * function and one table.
 *
 * Every recursion is counted (TAUT_DEPTH_LIMIT), and the trees are bounded in height, so that
 * neither this file nor those who walk the trees can exhaust the stack. Long sums stay
 * left-deep: regrouping them would change their rounding. */
#include "expr/parser.h"

#include <stdio.h>
#include <string.h>

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, LEVEL_UNARY };

static const struct {
    int token;
    const char *word; /* of a name */
    int level;
    char op;
} binary_operators[] = {
    {TAUT_TOKEN_NAME, "or", LEVEL_OR, '|'},
    {TAUT_TOKEN_NAME, "and", LEVEL_AND, '&'},
    {'<', NULL, LEVEL_COMPARE, '<'},
    {TAUT_TOKEN_AT_MOST, NULL, LEVEL_COMPARE, 'l'},
    {'>', NULL, LEVEL_COMPARE, '>'},
    {TAUT_TOKEN_AT_LEAST, NULL, LEVEL_COMPARE, 'g'},
    {TAUT_TOKEN_EQUAL, NULL, LEVEL_COMPARE, '='},
    {TAUT_TOKEN_UNEQUAL, NULL, LEVEL_COMPARE, 'n'},
    {'+', NULL, LEVEL_ADD, '+'},
    {'-', NULL, LEVEL_ADD, '-'},
    {'*', NULL, LEVEL_MULTIPLY, '*'},
    {'/', NULL, LEVEL_MULTIPLY, '/'},
};

/* Words that can only stand between expressions, hence are no names. */
static const char *const reserved[] = {"for", "in", "and", "or"};

/* ---- failing */

int taut_parser_fail(const taut_parser *parser, taut_place place, const char *format, ...)
{
    const taut_lexer *lexer = &parser->lexer;
    va_list list;
    va_start(list, format);
    int code = taut_text_fail(parser->error, TAUT_ERROR_MODEL, lexer->file, lexer->text,
                              (size_t)lexer->length, place, format, list);
    va_end(list);
    return code;
}

/* A token as people see it. */
static void describe(const taut_parser *parser, const taut_token *token, char *text, size_t size)
{
    enum { LONGEST = 40 };
    int length = token->end.offset - token->place.offset;
    if (token->kind == TAUT_TOKEN_NEWLINE)
        snprintf(text, size, "end of line");
    else if (token->kind == TAUT_TOKEN_END)
        snprintf(text, size, parser->lexer.open ? "end of text" : "end of line");
    else if (token->kind == '\'')
        snprintf(text, size, "a prime");
    else if (length > LONGEST)
        snprintf(text, size, "'%.*s...'", LONGEST, parser->lexer.text + token->place.offset);
    else
        snprintf(text, size, "'%.*s'", length, parser->lexer.text + token->place.offset);
}

/* Where the present token is missed: itself, or, at the end of a line, right behind what stands
 * before. */
static taut_place missing_place(const taut_parser *parser)
{
    bool behind = taut_parser_at_end(parser) && parser->previous.kind != 0 &&
                  parser->previous.kind != TAUT_TOKEN_NEWLINE;
    return behind ? parser->previous.end : parser->token.place;
}

int taut_parser_expected(const taut_parser *parser, const char *what)
{
    char found[64], after[64];
    describe(parser, &parser->token, found, sizeof found);
    taut_place place = missing_place(parser);
    if (parser->previous.kind == 0 || parser->previous.kind == TAUT_TOKEN_NEWLINE)
        return taut_parser_fail(parser, place, "expected %s, found %s", what, found);
    describe(parser, &parser->previous, after, sizeof after);
    /* 1,5 for 1.5 */
    bool comma = parser->previous.kind == ',' && parser->token.kind == TAUT_TOKEN_NUMBER;
    return taut_parser_fail(parser, place, "expected %s after %s, found %s%s", what, after, found,
                            comma ? "; numbers have a decimal point" : "");
}

static int fail_nodes(const taut_parser *parser)
{
    taut_parser_fail(parser, parser->token.place,
                     "the model has more than %d numbers, names and operators; write families with "
                     "'for' or use [tables]",
                     TAUT_NODE_LIMIT);
    if (parser->error)
        parser->error->code = TAUT_ERROR_SIZE;
    return TAUT_ERROR_SIZE;
}

/* ---- words and names */

int taut_parser_advance(taut_parser *parser)
{
    parser->previous = parser->token;
    return taut_lexer_next(&parser->lexer, &parser->token);
}

int taut_parser_init(taut_parser *parser, const char *file, const char *text, size_t length,
                     taut_arena *arena, taut_error *error)
{
    *parser = (taut_parser){.arena = arena, .error = error};
    TAUT_TRY(taut_lexer_init(&parser->lexer, file, text, length, error));
    return taut_parser_advance(parser);
}

bool taut_parser_at_word(const taut_parser *parser, const char *word)
{
    const taut_token *token = &parser->token;
    size_t length = (size_t)(token->end.offset - token->place.offset);
    return token->kind == TAUT_TOKEN_NAME && length == strlen(word) &&
           memcmp(parser->lexer.text + token->place.offset, word, length) == 0;
}

bool taut_parser_at_end(const taut_parser *parser)
{
    return parser->token.kind == TAUT_TOKEN_NEWLINE || parser->token.kind == TAUT_TOKEN_END;
}

/* FNV-1a, mixed once more because the table uses the low bits. */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u;
    for (size_t k = 0; k < length; k++)
        h = (h ^ (unsigned char)text[k]) * 1099511628211u;
    h ^= h >> 33;
    return (h * 0xff51afd7ed558ccdu) ^ (h >> 29);
}

/* Where a text is in the table, or where it belongs. */
static const char **find_slot(const char **table, int64_t size, const char *text, size_t length)
{
    uint64_t mask = (uint64_t)size - 1, k = hash_text(text, length) & mask;
    while (table[k] && (strncmp(table[k], text, length) != 0 || table[k][length] != 0))
        k = (k + 1) & mask;
    return &table[k];
}

static int grow_names(taut_parser *parser)
{
    int64_t size = parser->name_size ? parser->name_size * 2 : 64;
    const char **table = TAUT_NEW(parser->arena, const char *, size);
    if (!table)
        return TAUT_ERROR_MEMORY;
    for (int64_t k = 0; k < parser->name_size; k++)
        if (parser->name[k])
            *find_slot(table, size, parser->name[k], strlen(parser->name[k])) = parser->name[k];
    parser->name = table;
    parser->name_size = size;
    return 0;
}

const char *taut_parser_intern(taut_parser *parser, const char *text, size_t length)
{
    if (2 * parser->names >= parser->name_size && grow_names(parser))
        return NULL;
    const char **slot = find_slot(parser->name, parser->name_size, text, length);
    if (!*slot) {
        *slot = taut_arena_text(parser->arena, text, length);
        parser->names += *slot != NULL;
    }
    return *slot;
}

static bool at_reserved(const taut_parser *parser)
{
    for (size_t k = 0; k < sizeof reserved / sizeof reserved[0]; k++)
        if (taut_parser_at_word(parser, reserved[k]))
            return true;
    return false;
}

int taut_parser_name(taut_parser *parser, const char *what, const char **name)
{
    const taut_token *token = &parser->token;
    if (token->kind != TAUT_TOKEN_NAME)
        return taut_parser_expected(parser, what);
    *name = taut_parser_intern(parser, parser->lexer.text + token->place.offset,
                               (size_t)(token->end.offset - token->place.offset));
    return *name ? taut_parser_advance(parser) : taut_fail_memory(parser->error);
}

/* ---- making trees */

static int enter(taut_parser *parser)
{
    if (++parser->depth <= TAUT_DEPTH_LIMIT)
        return 0;
    return taut_parser_fail(
        parser, parser->token.place,
        "the expression is nested more than %d deep; name its parts in [definitions]",
        TAUT_DEPTH_LIMIT);
}

static int push(taut_parser *parser, taut_tree *tree)
{
    parser->stack = taut_arena_grow(parser->arena, parser->stack, parser->stacked,
                                    &parser->stack_size, sizeof(taut_tree *));
    TAUT_NEED(parser->error, parser->stack);
    parser->stack[parser->stacked++] = tree;
    return 0;
}

static void raise_height(taut_tree *tree, const taut_tree *part)
{
    if (tree->height <= part->height)
        tree->height = part->height + 1;
}

/* A tree from `start` to the last token taken, with the children stacked since `base`. */
static int make_tree(taut_parser *parser, taut_tree_kind kind, taut_place start, int64_t base,
                     taut_tree **made)
{
    if (++parser->nodes > TAUT_NODE_LIMIT)
        return fail_nodes(parser);
    taut_tree *tree = TAUT_NEW(parser->arena, taut_tree, 1);
    TAUT_NEED(parser->error, tree);
    tree->kind = kind;
    tree->place = start;
    tree->end = parser->previous.end;
    tree->height = 1;
    tree->count = (int32_t)(parser->stacked - base);
    if (tree->count) {
        tree->child = TAUT_NEW(parser->arena, taut_tree *, tree->count);
        TAUT_NEED(parser->error, tree->child);
        memcpy(tree->child, parser->stack + base, (size_t)tree->count * sizeof *tree->child);
        parser->stacked = base;
    }
    for (int32_t k = 0; k < tree->count; k++)
        raise_height(tree, tree->child[k]);
    *made = tree;
    if (tree->height > TAUT_HEIGHT_LIMIT)
        return taut_parser_fail(
            parser, start,
            "the expression has more than %d levels; name its parts in [definitions]",
            TAUT_HEIGHT_LIMIT);
    return 0;
}

/* ---- constructs */

static int parse_unary(taut_parser *parser, taut_tree **tree);

/* Takes the closing bracket, or reports which one was left open. */
static int close_bracket(taut_parser *parser, char bracket, taut_place open)
{
    if (parser->token.kind == bracket)
        return taut_parser_advance(parser);
    char found[64], where[48];
    describe(parser, &parser->token, found, sizeof found);
    char opening = bracket == ')' ? '(' : '[';
    taut_place place = missing_place(parser);
    if (open.line == place.line)
        snprintf(where, sizeof where, "column %d", open.column);
    else
        snprintf(where, sizeof where, "line %d, column %d", open.line, open.column);
    const char *advice = "";
    int kind = parser->token.kind;
    if (taut_parser_at_word(parser, "for"))
        advice = "; only sum(...) takes 'for'";
    else if ((kind == TAUT_TOKEN_NAME || kind == TAUT_TOKEN_NUMBER || kind == '(') &&
             parser->token.place.line == parser->previous.place.line)
        advice = "; a product is written with '*'";
    return taut_parser_fail(parser, place, "expected '%c' to close '%c' at %s, found %s%s", bracket,
                            opening, where, found, advice);
}

/* Expressions separated by commas, pushed on the stack; `limit` 0 means any number. */
static int parse_list(taut_parser *parser, int limit)
{
    for (int count = 1;; count++) {
        taut_tree *part;
        if (limit && count > limit)
            return taut_parser_fail(parser, parser->token.place, "a name has at most %d indices",
                                    limit);
        TAUT_TRY(taut_parse_expression(parser, &part));
        TAUT_TRY(push(parser, part));
        if (parser->token.kind != ',')
            return 0;
        TAUT_TRY(taut_parser_advance(parser));
    }
}

static int parse_indices(taut_parser *parser)
{
    taut_place open = parser->token.place;
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(parse_list(parser, TAUT_INDICES_LIMIT));
    return close_bracket(parser, ']', open);
}

/* Does `name in` follow the present comma? */
static bool iterator_follows(const taut_parser *parser)
{
    taut_parser ahead = *parser;
    ahead.error = ahead.lexer.error = NULL; /* what stands there is reported when it is read */
    return taut_parser_advance(&ahead) == 0 && ahead.token.kind == TAUT_TOKEN_NAME &&
           taut_parser_advance(&ahead) == 0 && taut_parser_at_word(&ahead, "in");
}

static int parse_iterator(taut_parser *parser, taut_iterator *iterator)
{
    iterator->place = parser->token.place;
    if (at_reserved(parser))
        return taut_parser_expected(parser, "the name of an index");
    TAUT_TRY(taut_parser_name(parser, "the name of an index", &iterator->name));
    if (!taut_parser_at_word(parser, "in"))
        return taut_parser_expected(parser, "'in'");
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(taut_parse_expression(parser, &iterator->first));
    if (parser->token.kind != TAUT_TOKEN_RANGE)
        return taut_parser_expected(parser, "'..' and the last value of the range");
    TAUT_TRY(taut_parser_advance(parser));
    return taut_parse_expression(parser, &iterator->last);
}

int taut_parse_iterators(taut_parser *parser, taut_iterator **iterator, int32_t *count)
{
    taut_iterator list[TAUT_INDICES_LIMIT] = {0};
    int32_t n = 0;
    do {
        TAUT_TRY(taut_parser_advance(parser)); /* `for` or a comma */
        if (n == TAUT_INDICES_LIMIT)
            return taut_parser_fail(parser, parser->token.place, "a 'for' has at most %d indices",
                                    TAUT_INDICES_LIMIT);
        TAUT_TRY(parse_iterator(parser, &list[n]));
        for (int32_t k = 0; k < n; k++)
            if (list[k].name == list[n].name)
                return taut_parser_fail(parser, list[n].place,
                                        "the index '%s' appears twice in this 'for'", list[n].name);
        n++;
    } while (parser->token.kind == ',' && iterator_follows(parser));
    *iterator = TAUT_NEW(parser->arena, taut_iterator, n);
    TAUT_NEED(parser->error, *iterator);
    memcpy(*iterator, list, (size_t)n * sizeof list[0]);
    *count = n;
    return 0;
}

/* sum(term for i in a..b, ...); the present token is behind the opening bracket. */
static int parse_sum(taut_parser *parser, const char *name, taut_place start, taut_place open,
                     taut_tree **tree)
{
    int64_t base = parser->stacked;
    taut_tree *term;
    taut_iterator *iterator;
    taut_pairs *pairs = NULL;
    int32_t count = 2;
    TAUT_TRY(taut_parse_expression(parser, &term));
    TAUT_TRY(push(parser, term));
    if (!taut_parser_at_word(parser, "for"))
        return taut_parser_expected(parser, "'for' and the range of the sum");
    TAUT_TRY(taut_parser_at_pairs(parser) ? taut_parse_pairs(parser, &iterator, &pairs)
                                          : taut_parse_iterators(parser, &iterator, &count));
    TAUT_TRY(close_bracket(parser, ')', open));
    TAUT_TRY(make_tree(parser, TAUT_TREE_SUM, start, base, tree));
    (*tree)->name = name;
    (*tree)->iterators = count;
    (*tree)->iterator = iterator;
    (*tree)->pairs = pairs;
    for (int32_t k = 0; k < count && !pairs; k++) {
        raise_height(*tree, iterator[k].first);
        raise_height(*tree, iterator[k].last);
    }
    for (int k = 0; k < TAUT_PAIR_TREES && pairs; k++)
        if (pairs->tree[k])
            raise_height(*tree, pairs->tree[k]);
    return 0;
}

static int parse_call(taut_parser *parser, const char *name, taut_place start, taut_tree **tree)
{
    taut_place open = parser->token.place;
    int64_t base = parser->stacked;
    TAUT_TRY(taut_parser_advance(parser));
    if (strcmp(name, "sum") == 0)
        return parse_sum(parser, name, start, open, tree);
    TAUT_TRY(parse_list(parser, 0));
    TAUT_TRY(close_bracket(parser, ')', open));
    TAUT_TRY(make_tree(parser, TAUT_TREE_CALL, start, base, tree));
    (*tree)->name = name;
    return 0;
}

/* Indices, member and primes of a name. */
static int parse_name(taut_parser *parser, const char *name, taut_place start, taut_tree **tree)
{
    int64_t base = parser->stacked, indices;
    const char *member = NULL;
    int32_t primes = 0;
    if (parser->token.kind == '[')
        TAUT_TRY(parse_indices(parser));
    indices = parser->stacked - base;
    if (parser->token.kind == '.') {
        TAUT_TRY(taut_parser_advance(parser));
        TAUT_TRY(taut_parser_name(parser, "a component (x, y, z) or a column", &member));
        if (parser->token.kind == '[')
            TAUT_TRY(parse_indices(parser));
    }
    for (; parser->token.kind == '\''; primes++) {
        if (primes == TAUT_PRIMES_LIMIT)
            return taut_parser_fail(parser, parser->token.place, "a name has at most %d primes",
                                    TAUT_PRIMES_LIMIT);
        TAUT_TRY(taut_parser_advance(parser));
    }
    if (primes && (parser->token.kind == '[' || parser->token.kind == '.'))
        return taut_parser_fail(parser, parser->token.place,
                                "primes stand last: write %s[1]' or %s.x'", name, name);
    TAUT_TRY(make_tree(parser, TAUT_TREE_NAME, start, base, tree));
    (*tree)->name = name;
    (*tree)->member = member;
    (*tree)->primes = primes;
    (*tree)->member_count = (*tree)->count - (int32_t)indices;
    (*tree)->count = (int32_t)indices;
    return 0;
}

int taut_parse_reference(taut_parser *parser, taut_tree **tree)
{
    taut_place start = parser->token.place;
    const char *name;
    if (at_reserved(parser))
        return taut_parser_expected(parser, "a name");
    TAUT_TRY(taut_parser_name(parser, "a name", &name));
    return parser->token.kind == '(' ? parse_call(parser, name, start, tree)
                                     : parse_name(parser, name, start, tree);
}

/* (expression) or a vector (a, b, ..). */
static int parse_brackets(taut_parser *parser, taut_tree **tree)
{
    taut_place open = parser->token.place;
    int64_t base = parser->stacked;
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(parse_list(parser, 0));
    TAUT_TRY(close_bracket(parser, ')', open));
    if (parser->stacked - base > 1)
        return make_tree(parser, TAUT_TREE_VECTOR, open, base, tree);
    *tree = parser->stack[--parser->stacked];
    return 0;
}

static int parse_number(taut_parser *parser, taut_tree **tree)
{
    taut_place start = parser->token.place;
    double value = parser->token.value;
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(make_tree(parser, TAUT_TREE_NUMBER, start, parser->stacked, tree));
    (*tree)->value = value;
    return 0;
}

static int parse_primary(taut_parser *parser, taut_tree **tree)
{
    int kind = at_reserved(parser) ? 0 : parser->token.kind;
    if (kind == TAUT_TOKEN_NUMBER)
        TAUT_TRY(parse_number(parser, tree));
    else if (kind == TAUT_TOKEN_NAME)
        TAUT_TRY(taut_parse_reference(parser, tree));
    else if (kind == '(')
        TAUT_TRY(parse_brackets(parser, tree));
    else
        return taut_parser_expected(parser, "an expression");
    kind = parser->token.kind;
    if (kind == '\'' || kind == '.' || kind == '[')
        return taut_parser_fail(
            parser, parser->token.place,
            "%s can only follow a name; name the expression in [definitions] and use that name",
            kind == '['   ? "indices"
            : kind == '.' ? "a component"
                          : "a prime");
    return 0;
}

static int count_operator(taut_parser *parser)
{
    if (++parser->operators <= TAUT_OPERATOR_LIMIT)
        return 0;
    return taut_parser_fail(parser, parser->token.place,
                            "the expression has more than %d operators; write sum(... for ...) or "
                            "name its parts in [definitions]",
                            TAUT_OPERATOR_LIMIT);
}

/* base ^ exponent; the exponent may carry a sign and another power. */
static int parse_power(taut_parser *parser, taut_tree **tree)
{
    taut_place start = parser->token.place;
    taut_tree *exponent;
    TAUT_TRY(parse_primary(parser, tree));
    if (parser->token.kind != '^')
        return 0;
    TAUT_TRY(count_operator(parser));
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(enter(parser));
    TAUT_TRY(push(parser, *tree));
    TAUT_TRY(parse_unary(parser, &exponent));
    TAUT_TRY(push(parser, exponent));
    parser->depth--;
    TAUT_TRY(make_tree(parser, TAUT_TREE_BINARY, start, parser->stacked - 2, tree));
    (*tree)->op = '^';
    return 0;
}

static int parse_unary(taut_parser *parser, taut_tree **tree)
{
    taut_place start = parser->token.place;
    taut_tree *operand;
    if (parser->token.kind != '-')
        return parse_power(parser, tree);
    TAUT_TRY(count_operator(parser));
    TAUT_TRY(taut_parser_advance(parser));
    TAUT_TRY(enter(parser));
    TAUT_TRY(parse_unary(parser, &operand));
    parser->depth--;
    TAUT_TRY(push(parser, operand));
    TAUT_TRY(make_tree(parser, TAUT_TREE_UNARY, start, parser->stacked - 1, tree));
    (*tree)->op = '-';
    return 0;
}

/* The binary operator of this level at the present token, or 0. */
static char operator_at(const taut_parser *parser, int level)
{
    for (size_t k = 0; k < sizeof binary_operators / sizeof binary_operators[0]; k++)
        if (binary_operators[k].level == level && binary_operators[k].token == parser->token.kind &&
            (!binary_operators[k].word || taut_parser_at_word(parser, binary_operators[k].word)))
            return binary_operators[k].op;
    return 0;
}

static int parse_level(taut_parser *parser, int level, taut_tree **tree)
{
    if (level == LEVEL_UNARY)
        return parse_unary(parser, tree);
    taut_place start = parser->token.place;
    TAUT_TRY(parse_level(parser, level + 1, tree));
    char op;
    for (int terms = 1; (op = operator_at(parser, level)) != 0; terms++) {
        taut_tree *right;
        if (level == LEVEL_COMPARE && terms > 1)
            return taut_parser_fail(parser, parser->token.place,
                                    "comparisons do not chain: write a < b and b < c");
        if (terms >= TAUT_CHAIN_LIMIT)
            return taut_parser_fail(parser, parser->token.place,
                                    "more than %d terms in one row; write sum(... for ...) or name "
                                    "parts in [definitions]",
                                    TAUT_CHAIN_LIMIT);
        TAUT_TRY(count_operator(parser));
        TAUT_TRY(taut_parser_advance(parser));
        TAUT_TRY(push(parser, *tree));
        TAUT_TRY(parse_level(parser, level + 1, &right));
        TAUT_TRY(push(parser, right));
        TAUT_TRY(make_tree(parser, TAUT_TREE_BINARY, start, parser->stacked - 2, tree));
        (*tree)->op = op;
    }
    return 0;
}

int taut_parse_expression(taut_parser *parser, taut_tree **tree)
{
    if (parser->depth == 0)
        parser->operators = 0;
    TAUT_TRY(enter(parser));
    TAUT_TRY(parse_level(parser, LEVEL_OR, tree));
    parser->depth--;
    return 0;
}
