/* csv.c - the trajectory as CSV (RFC 4180): t, coordinates, velocities x', multipliers
 * lambda(bond), outputs; 17 digits. First order: t, state, algebraic variables, outputs.
 *
 * Rows are handed to the file as a whole, many at a time: a run that is interrupted, or killed,
 * leaves rows that were computed and no part of one. */
#include "io/writer.h"

#include <string.h>

#include "base/number.h"

enum { NAME_SIZE = 256, DIGITS = 17 };

typedef struct csv {
    taut_sizes sizes;
} csv;

static void add(taut_bytes *to, const char *text)
{
    taut_bytes_add(to, text, (int64_t)strlen(text));
}

void taut_csv_field(taut_bytes *to, const char *prefix, const char *text, const char *suffix)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    add(to, quoted ? ",\"" : ",");
    add(to, prefix);
    for (; *text; text++) {
        if (*text == '"')
            add(to, "\""); /* two stand for one */
        taut_bytes_add(to, text, 1);
    }
    add(to, suffix);
    if (quoted)
        add(to, "\"");
}

static void add_names(taut_bytes *to, const taut_system *system, taut_item item, taut_index count,
                      const char *prefix, const char *suffix)
{
    char name[NAME_SIZE];
    for (taut_index k = 0; k < count; k++) {
        taut_system_name(system, item, k, name, sizeof name);
        taut_csv_field(to, prefix, name, suffix);
    }
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_file_sink *sink = user;
    taut_sizes *sizes = &((csv *)sink->work)->sizes;
    taut_system_sizes(system, sizes);
    bool mechanical = sizes->kind == TAUT_MECHANICAL, again = sink->resume.rows >= 0;
    int64_t columns = 1 + (mechanical ? 2 : 1) * (int64_t)sizes->coordinates + sizes->bonds +
                      sizes->algebraic + sizes->outputs;
    TAUT_TRY(again ? taut_writer_reopen(sink, error) : taut_writer_open(sink, sink->path, error));
    TAUT_TRY(taut_writer_lines(sink, (size_t)columns * TAUT_NUMBER_SIZE, error));
    sink->resume.rows = -1;
    sink->begun = true;
    if (again)
        return TAUT_OK;
    taut_bytes head = {.arena = &sink->arena};
    add(&head, "t");
    add_names(&head, system, TAUT_COORDINATE, sizes->coordinates, "", "");
    if (mechanical) {
        add_names(&head, system, TAUT_COORDINATE, sizes->coordinates, "", "'");
        add_names(&head, system, TAUT_BOND, sizes->bonds, "lambda(", ")");
    } else {
        add_names(&head, system, TAUT_ALGEBRAIC, sizes->algebraic, "", "");
    }
    add_names(&head, system, TAUT_OUTPUT, sizes->outputs, "", "");
    add(&head, "\n");
    if (head.failed)
        return taut_fail_memory(error);
    taut_writer_bytes(sink, (const char *)head.data, (size_t)head.count);
    return taut_writer_check(sink, error);
}

static void write_numbers(taut_file_sink *sink, const double *x, taut_index count)
{
    for (taut_index i = 0; i < count; i++) {
        taut_writer_text(sink, ",");
        taut_writer_number(sink, x[i], DIGITS);
    }
}

static int row(void *user, const taut_row *values, taut_error *error)
{
    taut_file_sink *sink = user;
    const taut_sizes *sizes = &((const csv *)sink->work)->sizes;
    taut_writer_number(sink, values->t, DIGITS);
    write_numbers(sink, values->q, sizes->coordinates);
    bool mechanical = sizes->kind == TAUT_MECHANICAL;
    write_numbers(sink, values->v, mechanical ? sizes->coordinates : sizes->algebraic);
    write_numbers(sink, values->lambda, mechanical ? sizes->bonds : 0);
    write_numbers(sink, values->outputs, sizes->outputs);
    taut_writer_text(sink, "\n");
    return taut_writer_line(sink, error);
}

static int end(void *user, taut_error *error)
{
    return taut_writer_close(user, error);
}

int taut_csv_create(const char *path, taut_file_sink **file, taut_sink *sink, taut_error *error)
{
    TAUT_REQUIRE(sink);
    TAUT_TRY(taut_writer_create(path, sizeof(csv), file, error));
    (*file)->mark = taut_writer_mark;
    *sink = (taut_sink){.begin = begin, .row = row, .end = end, .user = *file};
    return TAUT_OK;
}
