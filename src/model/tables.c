/* tables.c - [tables]: CSV files below the model's folder. The first line names the columns; all
 * further entries are numbers. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

enum { COLUMN_LIMIT = 256, FILE_LIMIT = 256 << 20, NUMBER_LIMIT = 100 };
#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

typedef struct reader {
    taut_model *model;
    const char *path, *text;
    const char *at, *line_start;
    int line;
} reader;

static int fail(const reader *r, const char *place, const char *format, const char *detail)
{
    taut_error *error = r->model->error;
    int code = taut_fail(error, TAUT_ERROR_MODEL, format, detail);
    if (error) {
        taut_text_clean(error->file, sizeof error->file, r->path, strlen(r->path));
        error->line = r->line;
        error->column = (int)(place - r->line_start) + 1;
        taut_error_quote(error, r->line_start, strcspn(r->line_start, "\r\n"));
    }
    return code;
}

static int check_text(taut_model *model, const taut_item_tree *item, const char *text, size_t size)
{
    if (!memchr(text, 0, size)) /* the text after it would be lost */
        return 0;
    return taut_model_fail(model, item->place,
                           "the table '%s' contains a zero byte: is it a text file?", item->raw);
}

static int open_table(taut_model *model, const taut_item_tree *item, const char *folder,
                      char **text)
{
    char why[TAUT_FILE_WHY];
    size_t size = 0;
    *text = taut_file_read(folder, item->raw, FILE_LIMIT, &model->scratch, &size, why);
    if (!*text)
        return why[0] ? taut_model_fail(model, item->place, "the table '%s' cannot be opened: %s",
                                        item->raw, why)
                      : taut_fail_memory(model->error);
    return check_text(model, item, *text, size);
}

/* The text of a table that the caller gives, or NULL in *text: it is a file. */
static int take_table(taut_model *model, const taut_item_tree *item, char **text)
{
    const taut_load *how = model->how;
    for (int k = 0; k < how->table_count; k++) {
        const taut_table_text *given = &how->tables[k];
        if (strcmp(given->name, item->raw) != 0)
            continue;
        *text = taut_arena_text(&model->scratch, given->text, given->length);
        return *text ? check_text(model, item, *text, given->length)
                     : taut_fail_memory(model->error);
    }
    return 0;
}

static void next_line(reader *r)
{
    r->at += strcspn(r->at, "\n");
    if (*r->at == '\n')
        r->at++;
    r->line_start = r->at;
    r->line++;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
        r->at++;
}

/* Skips empty lines and comments; false at the end. */
static bool find_line(reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (*r->at == 0)
            return false;
        if (*r->at != '\n' && *r->at != '#')
            return true;
        next_line(r);
    }
}

static int read_header(reader *r, taut_table *table)
{
    const char *name[COLUMN_LIMIT];
    for (;;) {
        skip_blanks(r);
        const char *start = r->at;
        r->at += strspn(r->at, NAME_LETTERS);
        if (r->at == start || (*start >= '0' && *start <= '9') || r->at - start > TAUT_NAME_LIMIT)
            return fail(
                r, start,
                "expected the name of a column%s: the first line of a table names its columns", "");
        if (table->columns == COLUMN_LIMIT)
            return fail(r, start, "a table has at most 256 columns%s", "");
        name[table->columns] =
            taut_arena_text(&r->model->system->arena, start, (size_t)(r->at - start));
        TAUT_NEED(r->model->error, name[table->columns]);
        for (int32_t k = 0; k < table->columns; k++)
            if (strcmp(name[k], name[table->columns]) == 0)
                return fail(r, start, "the column '%s' is named twice", name[k]);
        table->columns++;
        skip_blanks(r);
        if (*r->at != ',')
            break;
        r->at++;
    }
    if (*r->at && *r->at != '\n')
        return fail(r, r->at, "expected ',' between the names of columns%s", "");
    table->column = TAUT_NEW(&r->model->system->arena, const char *, table->columns);
    table->curve = TAUT_NEW(&r->model->system->arena, const taut_curve *, table->columns);
    TAUT_NEED(r->model->error, table->column, table->curve);
    memcpy(table->column, name, (size_t)table->columns * sizeof *name);
    next_line(r);
    return 0;
}

/* A number up to the next comma or blank, read as in model files: with a point, whatever the
 * locale. */
static bool read_number(reader *r, double *value)
{
    char text[NUMBER_LIMIT + 1];
    size_t length = strcspn(r->at, ", \t\r\n");
    if (length == 0 || length > NUMBER_LIMIT)
        return false;
    memcpy(text, r->at, length);
    text[length] = 0;
    if (!taut_number_parse(text, value))
        return false;
    r->at += length;
    return true;
}

static int read_row(reader *r, const taut_table *table, double *to)
{
    for (int32_t c = 0; c < table->columns; c++) {
        skip_blanks(r);
        if (!read_number(r, &to[c]))
            return fail(r, r->at, "expected a number in column '%s'", table->column[c]);
        skip_blanks(r);
        if (c + 1 < table->columns) {
            if (*r->at != ',')
                return fail(r, r->at, "this row is too short: expected ',' and column '%s'",
                            table->column[c + 1]);
            r->at++;
        }
    }
    if (*r->at && *r->at != '\n')
        return fail(r, r->at, "this row has more entries than the header%s", "");
    next_line(r);
    return 0;
}

static int read_table(reader *r, taut_table *table)
{
    if (strncmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at += 3; /* the byte-order mark that spreadsheets write */
    if (!find_line(r))
        return fail(r, r->at, "the table is empty%s", "");
    TAUT_TRY(read_header(r, table));
    double *rows = NULL;
    int64_t capacity = 0;
    while (find_line(r)) {
        if (table->rows == TAUT_MEMBER_LIMIT)
            return fail(r, r->at, "a table has too many rows%s", "");
        rows = taut_arena_grow(&r->model->scratch, rows, table->rows, &capacity,
                               (size_t)table->columns * sizeof(double));
        TAUT_NEED(r->model->error, rows);
        TAUT_TRY(read_row(r, table, rows + (int64_t)table->rows * table->columns));
        table->rows++;
    }
    double *value =
        TAUT_NEW(&r->model->system->arena, double, (int64_t)table->rows * table->columns);
    TAUT_NEED(r->model->error, value);
    for (int32_t i = 0; i < table->rows; i++)
        for (int32_t c = 0; c < table->columns; c++)
            value[(int64_t)c * table->rows + i] = rows[(int64_t)i * table->columns + c];
    table->value = value;
    return 0;
}

/* A model file can name tables in its folder and below only. */
static int check_path(taut_model *model, const taut_item_tree *item)
{
    const char *path = item->raw;
    if (!path || !*path)
        return taut_model_fail(model, item->place, "expected the name of a CSV file");
    bool up = false;
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, "/");
        up = up || (length == 2 && p[0] == '.' && p[1] == '.');
        p += length + (p[length] == '/');
    }
    if (path[0] == '/' || up || strchr(path, '\\') || strlen(path) > 200)
        return taut_model_fail(model, item->place,
                               "tables are read from the folder of the model and below: "
                               "expected a relative path without '..', found '%s'",
                               path);
    return 0;
}

/* The folder of the tables; "." for a model without a folder. */
static int table_folder(taut_model *model, const taut_item_tree *item, char *path, size_t size)
{
    const char *folder = model->how->table_folder, *file = model->document->file;
    const char *slash = strrchr(file, '/');
    int written = folder  ? snprintf(path, size, "%s", folder)
                  : slash ? snprintf(path, size, "%.*s", (int)(slash - file) + 1, file)
                          : snprintf(path, size, ".");
    if (written < 0 || (size_t)written >= size)
        return taut_model_fail(model, item->place, "the path of this table is too long");
    return 0;
}

/* path: NULL when the text of the table was given. */
static int record_table(taut_model *model, const char *name, const char *path)
{
    taut_system *system = model->system;
    taut_arena *arena = &system->arena;
    system->table = taut_arena_grow(arena, system->table, system->tables, &system->table_capacity,
                                    sizeof *system->table);
    taut_table_name record = {taut_arena_text(arena, name, strlen(name)),
                              path ? taut_arena_text(arena, path, strlen(path)) : NULL};
    TAUT_NEED(model->error, system->table, record.name);
    system->table[system->tables++] = record;
    return 0;
}

int taut_model_tables(taut_model *model)
{
    for (int64_t k = 0; k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section != TAUT_SECTION_TABLES)
            continue;
        char folder[1024], path[1300], *text = NULL;
        taut_symbol *symbol;
        TAUT_TRY(check_path(model, item));
        TAUT_TRY(taut_model_declare(model, model->document, TAUT_SYMBOL_TABLE, item, item->left,
                                    NULL, 1, &symbol));
        TAUT_TRY(table_folder(model, item, folder, sizeof folder));
        TAUT_TRY(take_table(model, item, &text));
        bool file = !text;
        if (file)
            TAUT_TRY(open_table(model, item, folder, &text));
        size_t end = strlen(folder);
        bool here = strcmp(folder, ".") == 0 && !model->how->table_folder;
        snprintf(path, sizeof path, "%s%s%s", here ? "" : folder,
                 here || (end && folder[end - 1] == '/') ? "" : "/", item->raw);
        TAUT_TRY(record_table(model, item->raw, file ? path : NULL));
        symbol->table = TAUT_NEW(&model->scratch, taut_table, 1);
        TAUT_NEED(model->error, symbol->table);
        reader r = {
            .model = model, .path = path, .text = text, .at = text, .line_start = text, .line = 1};
        TAUT_TRY(read_table(&r, symbol->table));
    }
    return 0;
}

/* ---- in expressions */

int taut_expand_table(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                      taut_symbol *symbol, taut_value *value)
{
    taut_table *table = symbol->table;
    value->n = 1;
    symbol->used = true;
    if (!tree->member || tree->count || tree->primes)
        return taut_expand_fail(x, tree->place, "'%s' is a table: write %s.column[k] or %s.rows",
                                symbol->name, symbol->name, symbol->name);
    if (strcmp(tree->member, "rows") == 0 && tree->member_count == 0) {
        value->node[0] = taut_graph_constant(x->graph, table->rows);
        return 0;
    }
    int column = 0;
    while (column < table->columns && strcmp(table->column[column], tree->member) != 0)
        column++;
    if (column == table->columns) {
        const char *near = taut_near_miss(tree->member, table->column, table->columns);
        return taut_expand_fail(x, tree->place, "table '%s' has no column '%s'%s%s%s", symbol->name,
                                tree->member, near ? "; did you mean '" : "", near ? near : "",
                                near ? "'?" : "");
    }
    if (tree->member_count != 1)
        return taut_expand_fail(x, tree->place, "expected one row number in [ ] after %s.%s",
                                symbol->name, tree->member);
    bool mode = x->index_mode;
    int32_t row = -1;
    TAUT_TRY(taut_expand_scalar(x, tree->child[tree->count], scope, &row));
    if (mode || taut_expand_is_index(x, row)) {
        taut_slot_key key = {.source = TAUT_FROM_DATA,
                             .table = table,
                             .column = column,
                             .iterator = -1,
                             .reference = {.dims = 1,
                                           .index = {row},
                                           .place = tree->place,
                                           .document = x->document,
                                           .symbol = symbol}};
        value->node[0] = taut_expand_slot(x, &key);
        return 0;
    }
    if (!table->curve[column])
        TAUT_TRY(taut_curve_create(&x->model->system->arena, table->rows,
                                   table->value + (int64_t)column * table->rows,
                                   &table->curve[column], x->model->error));
    value->node[0] = taut_graph_curve(x->graph, table->curve[column], 0, row);
    return 0;
}
