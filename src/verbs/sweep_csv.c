/* sweep_csv.c - the table of a sweep as CSV (RFC 4180), written row by row, put on a page, and read
 * again when a sweep goes on. Numbers have 17 digits, so that rows that are read are those that
 * were written; nothing in a row depends on time or on threads. */
#include "verbs/sweep.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "io/page.h"

enum { DIGITS = 17, LAST = 5 }; /* columns after the kept values */
static const char *const last_name[LAST] = {"status", "error", "steps", "force_evaluations",
                                            "message"};

/* ---- writing */

static void add_text(taut_bytes *to, const char *text)
{
    taut_bytes_add(to, text, (int64_t)strlen(text));
}

static void add_field(taut_bytes *to, const char *text)
{
    taut_csv_field(to, "", text, "");
}

static void add_number(taut_bytes *to, double value)
{
    char text[TAUT_NUMBER_SIZE];
    taut_number_format(value, DIGITS, text);
    add_field(to, isnan(value) ? "" : text);
}

static void add_header(const taut_sweep *sweep, taut_bytes *to)
{
    add_text(to, "run");
    for (int j = 0; j < sweep->plan.count; j++)
        add_field(to, sweep->plan.varied[j].name);
    for (int j = 0; j < sweep->keeps; j++)
        add_field(to, sweep->keep[j]);
    for (int j = 0; j < LAST; j++)
        add_field(to, last_name[j]);
    add_text(to, "\n");
}

static void add_row(const taut_sweep *sweep, int64_t k, taut_bytes *to)
{
    char text[TAUT_VARIED_TEXT];
    const taut_sweep_record *record = &sweep->record[k];
    taut_number_format((double)(k + 1), DIGITS, text);
    add_text(to, text);
    for (int j = 0; j < sweep->plan.count; j++) {
        taut_vary_value(&sweep->plan, k, j, text);
        add_field(to, text);
    }
    for (int j = 0; j < sweep->keeps; j++)
        add_number(to, sweep->kept[k * sweep->keeps + j]);
    add_field(to, taut_sweep_status(record->status));
    add_number(to, record->error);
    add_number(to, (double)record->steps);
    add_number(to, (double)record->force_evaluations);
    add_field(to, record->message);
    add_text(to, "\n");
}

/* Writes the line and empties it. */
static int put_line(taut_sweep *sweep, taut_file_sink *file, taut_error *error)
{
    if (sweep->line.failed)
        return taut_fail_memory(error);
    taut_writer_bytes(file, (const char *)sweep->line.data, (size_t)sweep->line.count);
    sweep->line.count = 0;
    return taut_writer_check(file, error);
}

int taut_sweep_csv_begin(taut_sweep *sweep, taut_file_sink *file, taut_error *error)
{
    enum { MESSAGE = 2 * sizeof((taut_error *)0)->message };
    bool again = file->resume.rows >= 0;
    size_t columns = (size_t)sweep->plan.count + (size_t)sweep->keeps + LAST;
    TAUT_TRY(again ? taut_writer_reopen(file, error) : taut_writer_open(file, file->path, error));
    TAUT_TRY(taut_writer_lines(file, columns * TAUT_VARIED_TEXT + MESSAGE, error));
    if (!again)
        add_header(sweep, &sweep->line);
    return put_line(sweep, file, error);
}

int taut_sweep_csv_row(taut_sweep *sweep, taut_file_sink *file, int64_t k, taut_error *error)
{
    add_row(sweep, k, &sweep->line);
    TAUT_TRY(put_line(sweep, file, error));
    return taut_writer_line(file, error);
}

int taut_page_sweep(taut_page *page, const char *name, const taut_system *system,
                    const taut_sweep *sweep, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(page && name && sweep);
    taut_arena arena;
    taut_arena_init(&arena, &sweep->arena.allocator);
    taut_bytes csv = {.arena = &arena};
    add_header(sweep, &csv);
    for (int64_t k = 0; k < sweep->rows; k++)
        add_row(sweep, k, &csv);
    int status = csv.failed ? taut_fail_memory(error)
                            : taut_page_table_add(page, name, system, (const char *)csv.data,
                                                  csv.count, sweep->plan.count, error);
    taut_arena_clear(&arena);
    return status;
}

/* ---- reading */

/* The field at *p, terminated and without quotes; *p: the next one, NULL after the last of a line
 * (which ends with a zero byte). */
static char *next_field(char **p)
{
    char *begin = *p, *to = *p, *from = *p;
    bool quoted = *from == '"';
    for (from += quoted; *from; from++) {
        if (quoted && from[0] == '"' && from[1] != '"') {
            quoted = false; /* the closing one */
            continue;
        }
        if (!quoted && *from == ',')
            break;
        from += quoted && *from == '"'; /* two stand for one */
        *to++ = *from;
    }
    *p = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return begin;
}

static double field_number(const char *field)
{
    double value = NAN;
    if (strcmp(field, "inf") == 0 || strcmp(field, "-inf") == 0)
        return field[0] == '-' ? -INFINITY : INFINITY;
    return taut_number_parse(field, &value) ? value : NAN;
}

/* Compares the field with what it must be. */
static bool is_field(char **p, const char *expected)
{
    return *p && strcmp(next_field(p), expected) == 0;
}

static bool is_header(const taut_sweep *sweep, char *line)
{
    bool same = is_field(&line, "run");
    for (int j = 0; j < sweep->plan.count && same; j++)
        same = is_field(&line, sweep->plan.varied[j].name);
    for (int j = 0; j < sweep->keeps && same; j++)
        same = is_field(&line, sweep->keep[j]);
    for (int j = 0; j < LAST && same; j++)
        same = is_field(&line, last_name[j]);
    return same && !line;
}

static int status_of(const char *word)
{
    static const int codes[] = {TAUT_OK, TAUT_EVENT, TAUT_LIMIT, TAUT_INACCURATE};
    for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++)
        if (strcmp(word, taut_sweep_status(codes[k])) == 0)
            return codes[k];
    return TAUT_ERROR_STEP; /* the table has no codes of failures */
}

/* Row k of the table; false when it is not one of this sweep. */
static bool read_row(taut_sweep *sweep, int64_t k, char *line)
{
    char text[TAUT_VARIED_TEXT];
    taut_sweep_record *record = &sweep->record[k];
    taut_number_format((double)(k + 1), DIGITS, text);
    bool same = is_field(&line, text);
    for (int j = 0; j < sweep->plan.count && same; j++) {
        taut_vary_value(&sweep->plan, k, j, text);
        same = is_field(&line, text);
    }
    for (int j = 0; j < sweep->keeps && same; j++)
        sweep->kept[k * sweep->keeps + j] = line ? field_number(next_field(&line)) : NAN;
    char *field[LAST] = {0};
    for (int j = 0; j < LAST && line && same; j++)
        field[j] = next_field(&line);
    if (!same || !field[LAST - 1] || line)
        return false;
    *record = (taut_sweep_record){.status = status_of(field[0]),
                                  .ready = true,
                                  .error = field_number(field[1]),
                                  .steps = (int64_t)field_number(field[2]),
                                  .force_evaluations = (int64_t)field_number(field[3]),
                                  .message = field[4]};
    return true;
}

static int fail_other(const taut_file_sink *file, const char *what, int64_t row, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_FILE,
                     "cannot continue %.300s: its %s %lld is not that of this sweep; was it "
                     "replaced or edited?",
                     file->path, what, (long long)row);
}

int taut_sweep_csv_read(taut_sweep *sweep, taut_file_sink *file, taut_error *error)
{
    size_t length = 0;
    char *text, why[TAUT_FILE_WHY];
    FILE *there = fopen(file->path, "rb");
    if (!there)
        return TAUT_OK;
    fclose(there);
    text = taut_file_read(NULL, file->path, SIZE_MAX - 1, &sweep->arena, &length, why);
    if (!text)
        return why[0] ? taut_fail(error, TAUT_ERROR_FILE, "cannot continue %.300s: %s", file->path,
                                  why)
                      : taut_fail_memory(error);
    int64_t rows = -1;
    char *line = text, *end;
    /* a row that was cut off, by whatever, is computed again */
    for (; (end = memchr(line, '\n', length - (size_t)(line - text))) != NULL; line = end + 1) {
        *end = '\0';
        if (rows < 0 && !is_header(sweep, line))
            return fail_other(file, "line", 1, error);
        if (rows >= 0 && (rows == sweep->plan.runs || !read_row(sweep, rows, line)))
            return fail_other(file, "row", rows + 1, error);
        rows++;
    }
    if (rows < 0)
        return TAUT_OK; /* not even the header: a new file */
    sweep->rows = rows;
    file->resume = (taut_file_mark){.rows = rows, .bytes = line - text};
    return TAUT_OK;
}
