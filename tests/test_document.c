/* test_document.c - statements, sections and attributes of model files: forms, messages with
 * their places, shipped and bad files. */
#include "model/document.h"

#include <dirent.h>

#include "model/document_table.h"
#include "support/forms.h"
#include "support/table.h"

/* ---- a document written out in one fixed way */

typedef struct writer {
    char *text;
    size_t used, size;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(w->text + w->used, w->size - w->used, format, list);
    va_end(list);
    w->used = w->used + (size_t)n < w->size ? w->used + (size_t)n : w->size - 1;
}

static void put_tree(writer *w, const taut_tree *tree);

static void put_list(writer *w, const char *open, taut_tree *const *child, int32_t count,
                     const char *close)
{
    put(w, "%s", open);
    for (int32_t k = 0; k < count; k++) {
        put(w, "%s", k ? "," : "");
        put_tree(w, child[k]);
    }
    put(w, "%s", close);
}

static void put_iterators(writer *w, const taut_iterator *iterator, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        put(w, "%s%s in ", k ? "," : " for ", iterator[k].name);
        put_tree(w, iterator[k].first);
        put(w, "..");
        put_tree(w, iterator[k].last);
    }
}

static void put_pairs(writer *w, const taut_tree *tree)
{
    static const char *const word[TAUT_PAIR_TREES] = {" within ", " apart ", " periodic ",
                                                      " skin "};
    put(w, " for pairs %s,%s in %s,%s", tree->iterator[0].name, tree->iterator[1].name,
        tree->pairs->family[0], tree->pairs->family[1]);
    for (int k = 0; k < TAUT_PAIR_TREES; k++)
        if (tree->pairs->tree[k])
            put_list(w, word[k], &tree->pairs->tree[k], 1, "");
    put(w, "%s", tree->pairs->shift ? " shift" : "");
}

/* Brackets around every operation show the structure. */
static void put_tree(writer *w, const taut_tree *tree)
{
    switch (tree->kind) {
    case TAUT_TREE_NUMBER: put(w, "%.15g", tree->value); break;
    case TAUT_TREE_NAME:
        put(w, "%s", tree->name);
        if (tree->count)
            put_list(w, "[", tree->child, tree->count, "]");
        if (tree->member)
            put(w, ".%s", tree->member);
        if (tree->member_count)
            put_list(w, "[", tree->child + tree->count, tree->member_count, "]");
        for (int32_t k = 0; k < tree->primes; k++)
            put(w, "'");
        break;
    case TAUT_TREE_UNARY: put_list(w, "(-", tree->child, 1, ")"); break;
    case TAUT_TREE_BINARY:
        put_list(w, "(", tree->child, 1, "");
        put(w, "%c", tree->op);
        put_list(w, "", tree->child + 1, 1, ")");
        break;
    case TAUT_TREE_CALL:
        put(w, "%s", tree->name);
        put_list(w, "(", tree->child, tree->count, ")");
        break;
    case TAUT_TREE_VECTOR: put_list(w, "<", tree->child, tree->count, ">"); break;
    case TAUT_TREE_SUM:
        put_list(w, "sum(", tree->child, 1, "");
        if (tree->pairs)
            put_pairs(w, tree);
        else
            put_iterators(w, tree->iterator, tree->iterators);
        put(w, ")");
        break;
    }
}

static void put_attribute(writer *w, const taut_attribute *attribute)
{
    put(w, " {%s", taut_word_table[attribute->word].name);
    if (attribute->value)
        put_list(w, " ", &attribute->value, 1, "");
    for (int32_t k = 0; k < attribute->assignments; k++) {
        put_list(w, k ? "," : " ", &attribute->assignment[k].left, 1, "=");
        put_tree(w, attribute->assignment[k].value);
    }
    put(w, "}");
}

static void put_document(writer *w, const taut_document *document)
{
    for (int64_t k = 0; k < document->items; k++) {
        const taut_item_tree *item = &document->item[k];
        put(w, "%s", k ? "; " : "");
        if (item->left)
            put_list(w, "", &item->left, 1, " = ");
        if (item->value)
            put_tree(w, item->value);
        if (item->raw)
            put(w, "%s\"%s\"", item->value ? " " : "", item->raw);
        put_iterators(w, item->iterator, item->iterators);
        for (int32_t j = 0; j < item->attributes; j++)
            put_attribute(w, &item->attribute[j]);
    }
}

/* Parses and writes; the result is the status. */
static int write_out(const char *text, size_t length, char *written, size_t size, taut_error *error)
{
    taut_arena arena;
    taut_document *document = NULL;
    taut_arena_init(&arena, NULL);
    int status = taut_document_parse(text, length, "test", &arena, &document, error);
    writer w = {written, 0, size};
    put(&w, "%s", "");
    if (status == 0)
        put_document(&w, document);
    taut_arena_clear(&arena);
    return status;
}

/* ---- forms */

static void check_forms(void)
{
    check_group("forms");
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        char written[4000];
        taut_error error = {0};
        int status =
            write_out(forms[k].text, strlen(forms[k].text), written, sizeof written, &error);
        if (!forms[k].written)
            check_row(status == TAUT_ERROR_MODEL, "\"%s\" is accepted: %s", forms[k].text, written);
        else
            check_row(status == 0 && strcmp(written, forms[k].written) == 0,
                      "\"%s\"\n  gives    \"%s\" %s\n  expected \"%s\"", forms[k].text, written,
                      error.message, forms[k].written);
    }
}

/* The section table: names, and which headers were seen. */
static void check_sections(void)
{
    check_group("sections");
    for (int s = 0; s < TAUT_SECTION_COUNT; s++) {
        char text[64];
        taut_arena arena;
        taut_document *document;
        taut_error error = {0};
        snprintf(text, sizeof text, "[%s]\n", taut_section_name((taut_section)s));
        taut_arena_init(&arena, NULL);
        if (check_row(taut_document_parse(text, strlen(text), "test", &arena, &document, &error) ==
                          0,
                      "%s: %s", text, error.message))
            for (int k = 0; k < TAUT_SECTION_COUNT; k++)
                check_row(document->present[k] == (k == s), "after [%s], [%s] is %s",
                          taut_section_name((taut_section)s), taut_section_name((taut_section)k),
                          document->present[k] ? "present" : "absent");
        taut_arena_clear(&arena);
    }
    check_row(taut_section_name(TAUT_SECTION_COUNT)[0] == 0, "there is no section beyond the last");
}

static void check_title(void)
{
    static const struct {
        const char *text, *title;
    } rows[] = {
        {"# Pendulum [A (5)]  \n# more\n[run]", "Pendulum [A (5)]"},
        {"\n\n  ## Chain\r\n", "Chain"},
        {"#\n#######\n# Third line", "Third line"},
        {"[run]\n# not at the head\n", ""},
        {"", ""},
        {"#", ""},
        {"\xef\xbb\xbf# \xc3\xa9\xff\tx", "\xc3\xa9? x"},
    };
    check_group("title");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_arena arena;
        taut_document *document;
        taut_error error = {0};
        taut_arena_init(&arena, NULL);
        int status = taut_document_parse(rows[k].text, strlen(rows[k].text), NULL, &arena,
                                         &document, &error);
        if (check_row(status == 0, "%s", error.message))
            check_row(strcmp(document->title, rows[k].title) == 0, "\"%s\", expected \"%s\"",
                      document->title, rows[k].title);
        taut_arena_clear(&arena);
    }
}

/* Overrides: items of one section, and failing at a place later. */
static void check_one_section(void)
{
    taut_arena arena;
    taut_document *document;
    taut_error error = {0};
    check_group("one section");
    taut_arena_init(&arena, NULL);
    const char *text = "x1' = 2 hold, y = 3";
    check_equal("start values",
                taut_document_parse_section(TAUT_SECTION_START, text, strlen(text), "--init",
                                            &arena, &document, &error),
                0);
    check_equal("items", document->items, 2);
    check_equal("section", document->item[1].section, TAUT_SECTION_START);
    check_equal("place", document->item[1].place.column, 15);
    check_row(document->present[TAUT_SECTION_START], "the section is present");
    check_equal("code", taut_document_fail(document, document->item[1].place, &error, "no %s", "y"),
                TAUT_ERROR_MODEL);
    check_row(error.line == 1 && error.column == 15 && !strcmp(error.file, "--init") &&
                  !strcmp(error.source, text) && !strcmp(error.message, "no y"),
              "%s:%d:%d \"%s\" \"%s\"", error.file, error.line, error.column, error.message,
              error.source);
    const char *header = "a = 1\n[run]\n";
    check_equal("a header",
                taut_document_parse_section(TAUT_SECTION_PARAMETERS, header, strlen(header),
                                            "--set", &arena, &document, &error),
                TAUT_ERROR_MODEL);
    check_contains("a header", error.message, "only items of [parameters]");
    check_equal("its line", error.line, 2);
    check_equal(
        "no section",
        taut_document_parse_section(TAUT_SECTION_COUNT, "", 0, "", &arena, &document, &error),
        TAUT_ERROR_USAGE);
    taut_arena_clear(&arena);
}

/* ---- messages */

static const struct {
    const char *text;
    int line, column;
    const char *message;
} faults[] = {
    {"a = 1", 1, 1, "a statement before the first section"},
    {"# title\n\n  a = 1", 3, 3, "a statement before the first section"},
    {"[bond]", 1, 1,
     "unknown section [bond]; did you mean [bonds]? sections are parameters, coordinates"},
    {"[Parameters]", 1, 1, "did you mean [parameters]?"},
    {"[stiff  potential]", 1, 1, "did you mean [stiff potential]?"},
    {"[ bonds]", 1, 1, "did you mean [bonds]?"},
    {"[qwertz]", 1, 1, "unknown section [qwertz]; sections are"},
    {"[]", 1, 1, "unknown section []"},
    {"[\x1b[1m]", 1, 1, "unknown section [?[1m]"},
    {"[bonds", 1, 7, "expected ']' to close the section header at column 1"},
    {"\n [bonds # x]", 2, 9, "expected ']'"},
    {"[bonds]x", 1, 8, "expected the end of the line after the section header [bonds]"},
    {"[bonds] [run]", 1, 9, "expected the end of the line after the section header"},
    {"[parameters]\na", 2, 2, "expected '=' (as in 'omega = 1e4') after 'a', found end of line"},
    {"[parameters]\na 3", 2, 3, "expected '=' (as in 'omega = 1e4') after 'a', found '3'"},
    {"[parameters]\na == 3", 2, 3, "found '=='"},
    {"[parameters]\na + b = 3", 2, 3, "expected '='"},
    {"[parameters]\n= 3", 2, 1, "expected a name, found '='"},
    {"[parameters]\n3 = a", 2, 1, "expected a name, found '3'"},
    {"[parameters]\n(a) = 3", 2, 1, "expected a name, found '('"},
    {"[parameters]\na =", 2, 4, "expected an expression after '=', found end of line"},
    {"[parameters]\na = # none\nb = 2", 2, 4,
     "expected an expression after '=', found end of line"},
    {"[parameters]\na = 1,", 2, 7, "expected a name after ',', found end of line"},
    {"[parameters]\na = 1,, b = 2", 2, 7, "expected a name after ',', found ','"},
    {"[parameters]\na = b = 2", 2, 7,
     "expected an operator, ',' or the end of the line after 'b', found '='"},
    {"[parameters]\na = 2 b", 2, 7,
     "unknown attribute 'b'; [parameters] accepts no attributes; a product is written with '*'"},
    {"[parameters]\na = 2 (b)", 2, 7,
     "expected an operator, ',' or the end of the line after '2', found '('"},
    {"[parameters]\na = (1 + 2\nb = 3", 3, 1,
     "expected ')' to close '(' at line 2, column 5, found 'b'"},
    {"[parameters]\na = (1 + 2\n\n[run]\nuntil = 1", 2, 11,
     "expected ')' to close '(' at column 5, found end of line"},
    {"[parameters]\nf(x) = 2", 2, 1,
     "[parameters] does not accept a function before '='; functions are defined in [definitions], "
     "and "
     "indices are written f[1]"},
    {"[parameters]\na = 1 for i in 1..2 for j in 1..2", 2, 21,
     "'for' is written once, before the attributes"},
    {"[parameters]\nfor = 1", 2, 1, "expected a name, found 'for'"},
    {"[parameters]\na.b[1] = 1", 2, 1, "a column of a table cannot be assigned to"},
    {"[coordinates]\nx y", 2, 3, "unknown attribute 'y'; [coordinates] accepts no attributes"},
    {"[coordinates]\nx = 2", 2, 3, "[coordinates] lists names"},
    {"[coordinates]\nx'", 2, 1, "expected a name, as in 'x, y'"},
    {"[coordinates]\nx(1)", 2, 1, "indices are written [i]"},
    {"[coordinates]\nx + y", 2, 3,
     "expected ',' or the end of the line (as in 'x, y') after 'x', found '+'"},
    {"[coordinates]\nx; y", 2, 2, "items are separated by ','"},
    {"[coordinates]\nx[i] for i in 1..N, j in", 2, 25,
     "expected an expression after 'in', found end of line"},
    {"[coordinates]\nx[i] for i of 1..N", 2, 12, "expected 'in' after 'i', found 'of'"},
    {"[particles]\np.x mass 1", 2, 1, "expected a name"},
    {"[particles]\np mass", 2, 7, "expected an expression after 'mass', found end of line"},
    {"[particles]\np mass 1 mass 2", 2, 10, "the attribute 'mass' appears twice"},
    {"[particles]\np[i] mass 1 for i in 1..3", 2, 13,
     "'for' is written once, before the attributes"},
    {"[particles]\np' = 2", 2, 1, "expected a plain name before '='"},
    {"[definitions]\nf(1) = 2", 2, 3, "expected the name of an argument of f"},
    {"[definitions]\nf(x, y, x) = 2", 2, 9, "the argument 'x' of f appears twice"},
    {"[definitions]\nf(x) + 1 = 2", 2, 6, "expected '='"},
    {"[definitions]\nsum(x for x in 1..2) = 2", 2, 1, "does not accept a function before '='"},
    {"[tables]\na", 2, 2, "expected '=' (as in 'bars = bars.csv')"},
    {"[tables]\na = # none", 2, 4, "expected a value after '='"},
    {"[tables]\na = x.csv, b =", 2, 15, "expected a value after '='"},
    {"[tables]\na = caf\xc3\xa9.csv", 2, 8, "unexpected byte 0xc3"},
    {"[kinetic]\nT = x'^2", 2, 3, "[kinetic] contains expressions without a name and '='"},
    {"[bonds]\na = x stiffness", 2, 16,
     "expected an expression after 'stiffness', found end of line"},
    {"[bonds]\na = x stiff 3", 2, 7,
     "unknown attribute 'stiff'; [bonds] accepts stiffness, compliance, damping, rigid, soft"},
    {"[bonds]\na = x Rigid", 2, 7, "did you mean 'rigid'?"},
    {"[bonds]\na = x rigid 3", 2, 13,
     "expected an operator, ',' or the end of the line after 'rigid', found '3'"},
    {"[bonds]\na = x hold", 2, 7, "'hold' is an attribute of [start]; [bonds] accepts"},
    {"[bonds]\na = x rigid soft rigid", 2, 18, "the attribute 'rigid' appears twice"},
    {"[start]\nx = 1 hold guess holt", 2, 18, "did you mean 'hold'? [start] accepts hold, guess"},
    {"[run]\nuntil", 2, 6, "expected '='"},
    {"[run]\nuntil =", 2, 8, "expected a value after '='"},
    {"[run]\nouter- step = 1", 2, 8, "expected the rest of a name after '-', found 'step'"},
    {"[run]\nouter -step = 1", 2, 7, "expected '='"},
    {"[run]\nuntil = 10 \\\n 3", 2, 12, "a value of [run] cannot continue in the next line"},
    {"[run]\nuntil = \x07", 2, 9, "unexpected byte 0x07"},
    {"[stepper]\nhorizon = 1 +", 2, 14, "expected an expression after '+'"},
    {"[stepper]\nhorizon = 1 2", 2, 13,
     "expected an operator or the end of the value after '1', found '2'"},
    {"[observables]\nx*y", 2, 2,
     "expected ',' or the end of the line (as in 'u = x + y') after 'x', found '*'"},
    {"[events]\na = x falling then", 2, 19, "expected a name after 'then', found end of line"},
    {"[events]\na = x falling then y", 2, 21, "expected '='"},
    {"[events]\na = x falling then y' = 0, z rising", 2, 30, "expected '='"},
    {"[events]\na = x falling then y' = 0 stop, b = x", 2, 31,
     "expected the end of the line that contains 'then'"},
    {"[events]\na = x falling then y' = 0 for i in 1..2", 2, 27,
     "'for' is written once, before the attributes"},
    {"[events]\na = x falling then f(y) = 0", 2, 20, "does not accept a function before '='"},
};

static void check_messages(void)
{
    check_group("messages");
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        taut_arena arena;
        taut_document *document = NULL;
        taut_error error = {0};
        taut_arena_init(&arena, NULL);
        int status = taut_document_parse(faults[k].text, strlen(faults[k].text), "test", &arena,
                                         &document, &error);
        check_row(status == TAUT_ERROR_MODEL && error.code == status && !document &&
                      error.line == faults[k].line && error.column == faults[k].column &&
                      strstr(error.message, faults[k].message) && !strcmp(error.file, "test"),
                  "\"%s\": %d at %d:%d \"%s\", expected %d:%d \"%s\"", faults[k].text, status,
                  error.line, error.column, error.message, faults[k].line, faults[k].column,
                  faults[k].message);
        taut_arena_clear(&arena);
    }
}

/* ---- files */

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif

typedef struct file_text {
    char path[512];
    char *text;
    size_t length;
} file_text;

static bool read_text(file_text *file)
{
    enum { LONGEST = 1 << 20 };
    FILE *stream = fopen(file->path, "rb");
    if (!stream)
        return false;
    file->text = malloc(LONGEST);
    file->length = fread(file->text, 1, LONGEST, stream);
    fclose(stream);
    return true;
}

/* Calls `visit` for each model of a folder; returns their number. */
static int each_model(const char *folder, void (*visit)(const file_text *file))
{
    char path[256];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", TAUT_SOURCE_DIR, folder);
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        file_text file = {0};
        snprintf(file.path, sizeof file.path, "%s/%s", path, entry->d_name);
        if (!dot || strcmp(dot, ".taut") != 0 || !read_text(&file))
            continue;
        visit(&file);
        free(file.text);
        count++;
    }
    closedir(directory);
    return count;
}

/* A shipped model is good, has a title, and means the same with the line ends of another system. */
static void visit_good(const file_text *file)
{
    enum { SIZE = 200000 };
    char *written = malloc(SIZE), *again = malloc(SIZE), *other = malloc(2 * file->length + 1);
    taut_error error = {0};
    size_t length = 0;
    for (size_t k = 0; k < file->length; k++) {
        if (file->text[k] == '\n')
            other[length++] = '\r';
        other[length++] = file->text[k];
    }
    int status = write_out(file->text, file->length, written, SIZE, &error);
    check_row(status == 0 && written[0], "%s:%d:%d: %s", file->path, error.line, error.column,
              error.message);
    check_equal("with CR LF", write_out(other, length, again, SIZE, &error), status);
    check_row(strcmp(written, again) == 0, "%s: CR LF changes its meaning", file->path);
    free(written);
    free(again);
    free(other);
}

/* A bad model says in its first line where and what: "# expect LINE:COLUMN part of the message". */
static void visit_bad(const file_text *file)
{
    int line = 0, column = 0, rest = 0;
    char expected[256] = "", written[2000];
    taut_error error = {0};
    snprintf(expected, sizeof expected, "%.*s", (int)strcspn(file->text, "\n"), file->text);
    check_row(sscanf(expected, "# expect %d:%d %n", &line, &column, &rest) == 2 && rest > 0,
              "%s: no expectation", file->path);
    int status = write_out(file->text, file->length, written, sizeof written, &error);
    check_row(status == TAUT_ERROR_MODEL && error.line == line && error.column == column &&
                  strstr(error.message, expected + rest),
              "%s: %d at %d:%d \"%s\", expected %d:%d \"%s\"", file->path, status, error.line,
              error.column, error.message, line, column, expected + rest);
}

static void check_files(void)
{
    check_group("shipped models");
    check_row(each_model("models", visit_good) >= 20, "models are found in %s", TAUT_SOURCE_DIR);
    check_group("bad models");
    check_row(each_model("tests/data/syntax", visit_bad) >= 29, "bad models are found in %s",
              TAUT_SOURCE_DIR);
}

/* The page of the grammar lists what the tables and the bounds say. */
static void check_page(void)
{
    static const int bounds[] = {TAUT_TEXT_LIMIT,  TAUT_NODE_LIMIT,    TAUT_DEPTH_LIMIT,
                                 TAUT_CHAIN_LIMIT, TAUT_HEIGHT_LIMIT,  TAUT_OPERATOR_LIMIT,
                                 TAUT_NAME_LIMIT,  TAUT_INDICES_LIMIT, TAUT_PRIMES_LIMIT};
    file_text page = {.path = TAUT_SOURCE_DIR "/docs/grammar.md"};
    check_group("docs/grammar.md");
    if (!check_row(read_text(&page), "%s cannot be read", page.path))
        return;
    char *text = malloc(page.length + 1), part[80];
    snprintf(text, page.length + 1, "%.*s", (int)page.length, page.text);
    for (int k = 0; k < TAUT_SECTION_COUNT; k++) {
        snprintf(part, sizeof part, "| `[%s]` |", taut_section_table[k].name);
        const char *row = strstr(text, part);
        check_row(row != NULL, "there is no row %s", part);
        for (int j = 0; row && j < TAUT_WORD_COUNT; j++) {
            snprintf(part, sizeof part, "`%s`", taut_word_table[j].name);
            const char *found = strstr(row, part);
            bool listed = found && found < row + strcspn(row, "\n");
            check_row(listed == (taut_section_table[k].words >> j & 1), "[%s]: %s is %s",
                      taut_section_table[k].name, part,
                      listed ? "listed, but not known" : "known, but not listed");
        }
    }
    for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
        snprintf(part, sizeof part, "| %d |", bounds[k]);
        check_row(strstr(text, part) != NULL, "the bound %d is not listed", bounds[k]);
    }
    free(text);
    free(page.text);
}

int main(void)
{
    check_forms();
    check_sections();
    check_title();
    check_one_section();
    check_messages();
    check_files();
    check_page();
    return check_done();
}
