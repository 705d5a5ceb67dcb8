/* test_parser.c - precedence, places, bounds and messages of expressions. */
#include "expr/parser.h"

/* A whole text as one expression (line ends around it are allowed). */
static int parse_whole(const char *text, size_t length, const char *file, taut_arena *arena,
                       taut_tree **tree, taut_error *error)
{
    taut_parser parser;
    taut_tree *found;
    TAUT_TRY(taut_parser_init(&parser, file, text, length, arena, error));
    while (parser.token.kind == TAUT_TOKEN_NEWLINE)
        TAUT_TRY(taut_parser_advance(&parser));
    TAUT_TRY(taut_parse_expression(&parser, &found));
    while (parser.token.kind == TAUT_TOKEN_NEWLINE)
        TAUT_TRY(taut_parser_advance(&parser));
    if (parser.token.kind != TAUT_TOKEN_END)
        return taut_parser_expected(&parser, "an operator or the end");
    *tree = found;
    return 0;
}

#include "support/faulty.h"
#include "support/table.h"

/* ---- a small evaluator for trees */

typedef struct binding {
    const char *name;
    double value;
} binding;

static binding loops[16]; /* indices of sums, innermost last */
static int loop_count;

static double value_of(const char *name)
{
    static const binding fixed[] = {{"a", 2},     {"b", 3},      {"c", 5},   {"x", 7},
                                    {"mass", 11}, {"rigid", 13}, {"_u1", 17}};
    for (int k = loop_count - 1; k >= 0; k--)
        if (strcmp(loops[k].name, name) == 0)
            return loops[k].value;
    for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; k++)
        if (strcmp(fixed[k].name, name) == 0)
            return fixed[k].value;
    return NAN;
}

static double evaluate(const taut_tree *tree);

static double binary(char op, double l, double r)
{
    switch (op) {
    case '+': return l + r;
    case '-': return l - r;
    case '*': return l * r;
    case '/': return l / r;
    case '^': return pow(l, r);
    case '<': return l < r;
    case 'l': return l <= r;
    case '>': return l > r;
    case 'g': return l >= r;
    case '=': return l == r;
    case 'n': return l != r;
    case '&': return l != 0 && r != 0;
    case '|': return l != 0 || r != 0;
    default: return NAN;
    }
}

static double sum_over(const taut_tree *tree, int k)
{
    if (k == tree->iterators)
        return evaluate(tree->child[0]);
    double total = 0, last = evaluate(tree->iterator[k].last);
    loops[loop_count++].name = tree->iterator[k].name;
    for (double i = evaluate(tree->iterator[k].first); i <= last; i++) {
        loops[loop_count - 1].value = i;
        total += sum_over(tree, k + 1);
    }
    loop_count--;
    return total;
}

/* A vector counts as the polynomial of its components in 100, an index adds 1000 times itself, a
 * prime 1e6, a member 1e7. */
static double evaluate(const taut_tree *tree)
{
    double value = 0;
    switch (tree->kind) {
    case TAUT_TREE_NUMBER: return tree->value;
    case TAUT_TREE_NAME:
        value = value_of(tree->name) + 1e6 * tree->primes + (tree->member ? 1e7 : 0);
        for (int k = 0; k < tree->count + tree->member_count; k++)
            value += 1000 * evaluate(tree->child[k]);
        return value;
    case TAUT_TREE_UNARY: return -evaluate(tree->child[0]);
    case TAUT_TREE_BINARY:
        return binary(tree->op, evaluate(tree->child[0]), evaluate(tree->child[1]));
    case TAUT_TREE_CALL:
        if (strcmp(tree->name, "if") == 0)
            return evaluate(tree->child[evaluate(tree->child[0]) != 0 ? 1 : 2]);
        return strcmp(tree->name, "max") == 0
                   ? fmax(evaluate(tree->child[0]), evaluate(tree->child[1]))
                   : NAN;
    case TAUT_TREE_VECTOR:
        for (int k = 0; k < tree->count; k++)
            value = 100 * value + evaluate(tree->child[k]);
        return value;
    case TAUT_TREE_SUM: return sum_over(tree, 0);
    }
    return NAN;
}

static int parse_text(const char *text, taut_arena *arena, taut_tree **tree, taut_error *error)
{
    return parse_whole(text, strlen(text), "test", arena, tree, error);
}

static void check_values(void)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1 + 2*3", 7},
        {"(1 + 2)*3", 9},
        {"10 - 4 - 3", 3},
        {"2 - (3 - 4)", 3},
        {"100/5/2", 10},
        {"100/5*2", 40},
        {"2^3^2", 512},
        {"(2^3)^2", 64},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"2^-1", 0.5},
        {"2^-1^2", 0.5},
        {"2^-a^2*3", 3.0 / 16},
        {"--3", 3},
        {"-a*b", -6},
        {"a*-b", -6},
        {"a - -b", 5},
        {"a--b", 5},
        {"-a - b", -5},
        {"-a^b*c", -40},
        {"1 + 2 < 4", 1},
        {"1 < 2 and 3 > 4", 0},
        {"1 < 2 or 3 > 4 and 0 > 1", 1},
        {"(1 < 2 or 3 > 4) and 0 > 1", 0},
        {"1 <= 1 and 1 >= 1 and 1 == 1 and 1 != 2", 1},
        {"2 <= 1 or 1 >= 2 or 1 == 2 or 1 != 1", 0},
        {"if(a < b, c, x)", 5},
        {"if(a > b, c, x)", 7},
        {"max(a, b)*2", 6},
        {"max (a,b)", 3},
        {"sum(i for i in 1..10)", 55},
        {"sum(i*j for i in 1..3, j in i..3)", 1 + 2 + 3 + 4 + 6 + 9},
        {"sum(sum(i + j for j in 1..i) for i in 1..a+1)", 2 + 3 + 4 + 4 + 5 + 6},
        {"2*sum(1 for i in 1..3) + 1", 7},
        {"max(sum(i for i in 1..2), 1)", 3},
        {"mass + rigid", 24}, /* attribute words are names like others */
        {"_u1", 17},
        {"(1, 2)", 102},
        {"(1, 2 + 1, 3)", 10303},
        {"((1, 2))", 102},
        {"(((a)))", 2},
        {"x[1]", 1007},
        {"x[1, b]", 4007},
        {"x'", 1e6 + 7},
        {"x''", 2e6 + 7},
        {"x.y'", 1.1e7 + 7},
        {"x[1].y", 1e7 + 1007},
        {"x[2].y'", 1.1e7 + 2007},
        {"x.rest[2]", 1e7 + 2007},
        {"x.in", 1e7 + 7},
        {"x[x.i[1]]", 7 + 1000 * (1e7 + 1007)},
        {"x'^2", (1e6 + 7) * (1e6 + 7)},
        {".5 + 1.", 1.5},
        {"1e-3 + 1E+3 + 1e3", 2000.001},
        {"(1 +\n 2)\n", 3},
        {"1 + \\\n 2", 3},
        {"1 + \\  \r\n 2 # comment", 3},
        {"\n\n (1, # first\r\n\t2)", 102},
    };
    check_group("values");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_arena arena;
        taut_tree *tree;
        taut_error error;
        taut_arena_init(&arena, NULL);
        int status = parse_text(rows[k].text, &arena, &tree, &error);
        if (check_row(status == 0, "\"%s\" is refused: %s", rows[k].text,
                      status ? error.message : ""))
            check_near(rows[k].text, evaluate(tree), rows[k].value, 1e-12 * fabs(rows[k].value));
        taut_arena_clear(&arena);
    }
}

/* ---- places */

/* The text of every tree is what it was made of. */
static void check_span(const char *text, const taut_tree *tree, const char *expected)
{
    int length = tree->end.offset - tree->place.offset;
    check_row((size_t)length == strlen(expected) &&
                  memcmp(text + tree->place.offset, expected, (size_t)length) == 0,
              "the tree covers \"%.*s\", expected \"%s\"", length, text + tree->place.offset,
              expected);
}

static void check_places(void)
{
    const char *text = "(a + x[1].y')*(b) - sum(i^2 for i in 1..3)";
    taut_arena arena;
    taut_tree *tree;
    taut_error error;
    check_group("places");
    taut_arena_init(&arena, NULL);
    if (check_row(parse_text(text, &arena, &tree, &error) == 0, "refused: %s", error.message)) {
        check_span(text, tree, text);
        check_span(text, tree->child[0], "(a + x[1].y')*(b)");
        check_span(text, tree->child[0]->child[0], "a + x[1].y'");
        check_span(text, tree->child[0]->child[0]->child[1], "x[1].y'");
        check_span(text, tree->child[0]->child[0]->child[1]->child[0], "1");
        check_span(text, tree->child[0]->child[1], "b");
        check_span(text, tree->child[1], "sum(i^2 for i in 1..3)");
        check_span(text, tree->child[1]->child[0], "i^2");
        check_span(text, tree->child[1]->iterator[0].last, "3");
        check_equal("column of the iterator", tree->child[1]->iterator[0].place.column, 33);
        check_equal("height", tree->height, 5);
        check_row(tree->child[1]->child[0]->child[0]->name == tree->child[1]->iterator[0].name,
                  "equal names are equal pointers");
    }
    taut_arena_clear(&arena);
}

/* ---- messages */

static const struct {
    const char *text;
    int line, column;
    const char *message;
} refused[] = {
    {"", 1, 1, "expected an expression, found end of line"},
    {"1 +", 1, 4, "expected an expression after '+', found end of line"},
    {"1 + # why", 1, 4, "expected an expression after '+', found end of line"},
    {"1 + * 2", 1, 5, "expected an expression after '+', found '*'"},
    {"+ 1", 1, 1, "expected an expression, found '+'"},
    {"2*(a + b", 1, 9, "expected ')' to close '(' at column 3, found end of text"},
    {"2*(a +\n b\n", 2, 3, "expected ')' to close '(' at line 1, column 3, found end of text"},
    {"x[1", 1, 4, "expected ']' to close '[' at column 2, found end of text"},
    {"x[1)", 1, 4, "expected ']' to close '[' at column 2, found ')'"},
    {"(a b)", 1, 4,
     "expected ')' to close '(' at column 1, found 'b'; a product is written with '*'"},
    {"(a\nb)", 2, 1, "expected ')' to close '(' at line 1, column 1, found 'b'"},
    {"(a\n[b])", 1, 3, "expected ')' to close '(' at column 1, found end of line"},
    {"a)", 1, 2, "expected an operator or the end after 'a', found ')'"},
    {"a b", 1, 3, "expected an operator or the end after 'a', found 'b'"},
    {"f()", 1, 3, "expected an expression after '(', found ')'"},
    {"f(a,)", 1, 5, "expected an expression after ',', found ')'"},
    {"(a, )", 1, 5, "expected an expression after ',', found ')'"},
    {"x[]", 1, 3, "expected an expression after '[', found ']'"},
    {"x.", 1, 3, "expected a component (x, y, z) or a column after '.', found end of line"},
    {"x.5", 1, 2, "expected an operator or the end after 'x', found '.5'"},
    {"x'''''", 1, 6, "at most 4 primes"},
    {"x'[1]", 1, 3, "primes stand last"},
    {"x'.y", 1, 3, "primes stand last"},
    {"(a + b)'", 1, 8, "a prime can only follow a name"},
    {"(a + b).x", 1, 8, "a component can only follow a name"},
    {"f(x).y", 1, 5, "a component can only follow a name"},
    {"f(x)[1]", 1, 5, "indices can only follow a name"},
    {"2'", 1, 2, "a prime can only follow a name"},
    {"x[1,2,3,4,5]", 1, 11, "at most 4 indices"},
    {"a < b < c", 1, 7, "comparisons do not chain"},
    {"sum(x)", 1, 6, "expected 'for' and the range of the sum after 'x', found ')'"},
    {"sum(x for i = 1..3)", 1, 13, "expected 'in' after 'i', found '='"},
    {"sum(x for 3 in 1..3)", 1, 11, "expected the name of an index after 'for', found '3'"},
    {"sum(x for i in 1)", 1, 17,
     "expected '..' and the last value of the range after '1', found ')'"},
    {"sum(x for i in 1..)", 1, 19, "expected an expression after '..', found ')'"},
    {"sum(x for i in 1..2, i in 1..2)", 1, 22, "the index 'i' appears twice"},
    {"sum(x for i in 1..2, 3)", 1, 20, "expected ')' to close '(' at column 4, found ','"},
    {"sum(1 for a in 1..2, b in 1..2, c in 1..2, d in 1..2, e in 1..2)", 1, 55,
     "at most 4 indices"},
    {"max(x for i in 1..2)", 1, 7, "only sum(...) takes 'for'"},
    {"for + 1", 1, 1, "expected an expression, found 'for'"},
    {"1 + and", 1, 5, "expected an expression after '+', found 'and'"},
    {"2x", 1, 2,
     "expected an operator after the number 2, found 'x'; a product is written with '*'"},
    {"1e+", 1, 2, "expected an operator after the number 1, found 'e'"},
    {"0x10", 1, 2, "expected an operator after the number 0, found 'x'"},
    {"1 + 1e999", 1, 5, "the number 1e999 is too large"},
    {"1 + 1e-999", 1, 5, "the number 1e-999 is too small"},
    {"1:3", 1, 2, "unexpected character ':': a range is written first..last"},
    {"a ** b", 1, 3, "unexpected '**': a power is written with '^'"},
    {"a // b", 1, 3, "a comment begins with '#'"},
    {"a && b", 1, 3, "write 'and'"},
    {"!a", 1, 1, "'not equal' is written !="},
    {"a % b", 1, 3, "mod(a, b)"},
    {"{a}", 1, 1, "use ( ) around expressions"},
    {"a $ b", 1, 3, "unexpected character '$'"},
    {"a + \xc3\xa9", 1, 5, "unexpected byte 0xc3: outside comments only ASCII"},
    {"a + \x01", 1, 5, "control character 0x01"},
    {"a + \r b", 1, 5, "control character 0x0d"},
    {"a # \x02", 1, 5, "control character 0x02"},
    {"a + \\ b", 1, 5, "expected the end of the line after '\\'"},
    {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm", 1, 1,
     "a name of 65 letters"},
};

static void check_messages(void)
{
    check_group("messages");
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        taut_arena arena;
        taut_tree *tree = NULL;
        taut_error error = {0};
        taut_arena_init(&arena, NULL);
        int status = parse_text(refused[k].text, &arena, &tree, &error);
        check_row(status == TAUT_ERROR_MODEL && error.code == status && !tree &&
                      error.line == refused[k].line && error.column == refused[k].column &&
                      strstr(error.message, refused[k].message) && strcmp(error.file, "test") == 0,
                  "\"%s\": %d at %d:%d \"%s\", expected %d:%d \"%s\"", refused[k].text, status,
                  error.line, error.column, error.message, refused[k].line, refused[k].column,
                  refused[k].message);
        taut_arena_clear(&arena);
    }
}

/* ---- bounds */

/* `before` and `after` each repeated around a core. */
static char *repeated(const char *before, const char *core, const char *after, int count)
{
    size_t b = strlen(before), c = strlen(core), a = strlen(after);
    char *text = malloc((b + a) * (size_t)count + c + 1), *at = text;
    for (int k = 0; k < count; k++, at += b)
        memcpy(at, before, b);
    memcpy(at, core, c);
    at += c;
    for (int k = 0; k < count; k++, at += a)
        memcpy(at, after, a);
    *at = 0;
    return text;
}

static void check_bounds(void)
{
    static const struct {
        const char *before, *core, *after;
        int count;
        const char *message; /* NULL: accepted */
    } rows[] = {
        {"(", "x", ")", 199, NULL},
        {"(", "x", ")", 200, "nested more than 200 deep"},
        {"(", "", "", 1000000, "nested more than 200 deep"},
        {"-", "x", "", 199, NULL},
        {"-", "x", "", 200, "nested more than 200 deep"},
        {"2^", "x", "", 199, NULL},
        {"2^", "x", "", 200, "nested more than 200 deep"},
        {"2^-", "x", "", 1000, "nested more than 200 deep"},
        {"x[", "1", "]", 199, NULL},
        {"x[", "1", "]", 200, "nested more than 200 deep"},
        {"x.y[", "1", "]", 5000, "nested more than 200 deep"},
        {"sin(", "1", ")", 199, NULL},
        {"if(", "1", ",1,1)", 200, "nested more than 200 deep"},
        {"sum(", "1", " for i in 1..2)", 199, NULL},
        {"sum(", "1", " for i in 1..2)", 200, "nested more than 200 deep"},
        {"sum(1 for i in 1..", "1", ")", 200, "nested more than 200 deep"},
        {"(1, ", "1", ")", 199, NULL},
        {"(1, ", "1", ")", 200, "nested more than 200 deep"},
        {"x + ", "x", "", 999, NULL},
        {"x + ", "x", "", 1000, "more than 1000 terms in one row; write sum("},
        {"x*", "x", "", 1000, "more than 1000 terms"},
        {"x and ", "x", "", 1000, "more than 1000 terms"},
        {"x or ", "x", "", 100000, "more than 1000 terms"},
    };
    check_group("bounds");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_arena arena;
        taut_tree *tree;
        taut_error error = {0};
        char *text = repeated(rows[k].before, rows[k].core, rows[k].after,
                              rows[k].before[0] == 'x' && !rows[k].before[1] ? 1 : rows[k].count);
        taut_arena_init(&arena, NULL);
        int status = parse_text(text, &arena, &tree, &error);
        if (rows[k].message)
            check_row(status == TAUT_ERROR_MODEL && strstr(error.message, rows[k].message) &&
                          error.column > 0,
                      "%d of \"%s\": %d \"%s\"", rows[k].count, rows[k].before, status,
                      error.message);
        else
            check_row(status == 0 && tree->height <= TAUT_HEIGHT_LIMIT, "%d of \"%s\": %d \"%s\"",
                      rows[k].count, rows[k].before, status, error.message);
        taut_arena_clear(&arena);
        free(text);
    }
}

/* Chains in brackets at the head of chains are legal at each level, and high together. */
static void check_height(void)
{
    taut_arena arena;
    taut_tree *tree;
    taut_error error = {0};
    char *chain = repeated("", ")", "+x", 800), *three = malloc(3 * strlen(chain) + 8);
    check_group("height");
    sprintf(three, "(((x%s%s%s", chain, chain, chain);
    taut_arena_init(&arena, NULL);
    check_equal("three chains of 800", parse_text(three, &arena, &tree, &error), TAUT_ERROR_MODEL);
    check_contains("three chains of 800", error.message, "more than 2000 levels");
    sprintf(three, "((x%s%s", chain, chain);
    check_equal("two chains of 800", parse_text(three, &arena, &tree, &error), 0);
    check_equal("their height", tree->height, 1601);
    taut_arena_clear(&arena);

    char *row = repeated("x*x*x*x+", "x", "", 900), *wide = malloc(10 * strlen(row) + 64),
         *at = wide;
    at += sprintf(at, "f(%s", row);
    for (int k = 0; k < 5; k++)
        at += sprintf(at, ",%s", row);
    sprintf(at, ")");
    taut_arena_init(&arena, NULL);
    check_equal("21600 operators", parse_text(wide, &arena, &tree, &error), TAUT_ERROR_MODEL);
    check_contains("21600 operators", error.message, "more than 20000 operators");
    taut_arena_clear(&arena);
    free(chain);
    free(three);
    free(row);
    free(wide);
}

static void check_size(void)
{
    taut_arena arena;
    taut_tree *tree;
    taut_error error = {0};
    size_t length = (size_t)TAUT_TEXT_LIMIT + 1;
    char *text = malloc(length);
    check_group("size");
    memset(text, ' ', length);
    taut_arena_init(&arena, NULL);
    check_equal("one byte too many", parse_whole(text, length, "test", &arena, &tree, &error),
                TAUT_ERROR_SIZE);
    check_contains("one byte too many", error.file, "test");
    text[length - 2] = 'x';
    check_equal("the largest text", parse_whole(text, length - 1, "test", &arena, &tree, &error),
                0);
    check_equal("its last column", tree->place.column, TAUT_TEXT_LIMIT);
    memset(text, '1', length);
    check_equal("16 MB of digits", parse_whole(text, length - 1, "test", &arena, &tree, &error),
                TAUT_ERROR_MODEL);
    check_contains("16 MB of digits", error.message, "at most 400 are read");
    memset(text, 0, length);
    check_equal("zero bytes", parse_whole(text, length - 1, "test", &arena, &tree, &error),
                TAUT_ERROR_MODEL);
    check_contains("zero bytes", error.message, "0x00");
    taut_arena_clear(&arena);
    free(text);
}

/* ---- memory, lines, names */

/* The second block of an arena fails; what is taken from the first one beforehand decides where
 * in the parser that happens. */
static void check_faults(void)
{
    const char *text =
        "sum(abc[i].y'*(1, 2^-x, if(a < b, c, d)) for i in 1..n, j in 1..m) + f(a, b, c)";
    int failed = 0, succeeded = 0;
    check_group("faults");
    for (int64_t taken = 1; taken < 4000; taken += 16) {
        faulty f = {.fail = 2};
        taut_allocator allocator = faulty_allocator(&f);
        taut_arena arena;
        taut_tree *tree = NULL;
        taut_error error = {0};
        taut_arena_init(&arena, &allocator);
        taut_arena_get(&arena, taken, 1);
        int status = parse_text(text, &arena, &tree, &error);
        taut_arena_clear(&arena);
        *(f.failed ? &failed : &succeeded) += 1;
        check_row(f.failed ? status == TAUT_ERROR_MEMORY && error.code == status && !tree
                           : status == 0,
                  "%lld bytes taken: %d \"%s\"", (long long)taken, status, error.message);
        check_equal("blocks left", f.live, 0);
    }
    check_row(failed > 100, "%d runs out of memory, %d without", failed, succeeded);
}

/* Errors show the line as people see it, so that a caret can stand under the column. */
static void check_source(void)
{
    check_group("source lines");
    taut_arena arena;
    taut_tree *tree;
    taut_error error = {0};
    taut_arena_init(&arena, NULL);
    parse_text("1 +\r\n2", &arena, &tree, &error);
    check_row(strcmp(error.source, "1 +") == 0, "source line \"%s\"", error.source);
    parse_text("(1 +\n\t) # \xc3\xa9\r\n2", &arena, &tree, &error);
    check_row(strcmp(error.source, " ) # \xc3\xa9") == 0 && error.column == 2,
              "source line \"%s\", column %d", error.source, error.column);
    check_equal("without an error object", parse_text("1 +", &arena, &tree, NULL),
                TAUT_ERROR_MODEL);
    taut_arena_clear(&arena);
}

/* Interning stays exact when the table has grown many times. */
static void check_names(void)
{
    enum { COUNT = 5000 };
    taut_arena arena;
    taut_parser parser;
    int equal = 0, different = 0;
    const char *first[COUNT];
    check_group("names");
    taut_arena_init(&arena, NULL);
    taut_parser_init(&parser, NULL, "", 0, &arena, NULL);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < COUNT; k++) {
            char name[16];
            int length = snprintf(name, sizeof name, "n%d", k);
            const char *found = taut_parser_intern(&parser, name, (size_t)length);
            different += strcmp(found, name) != 0;
            if (pass)
                equal += found == first[k];
            first[k] = found;
        }
    }
    check_equal("names found again", equal, COUNT);
    check_equal("names spoiled", different, 0);
    check_equal("names kept", parser.names, COUNT);
    taut_arena_clear(&arena);
}

int main(void)
{
    check_values();
    check_places();
    check_messages();
    check_bounds();
    check_height();
    check_size();
    check_faults();
    check_source();
    check_names();
    return check_done();
}
