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

void taut_csv_field(taut_file_sink *sink, const char *prefix, const char *name, const char *suffix)
{
    bool quoted = strpbrk(name, ",\"\r\n") != NULL;
    taut_writer_text(sink, quoted ? ",\"" : ",");
    taut_writer_text(sink, prefix);
    for (; *name; name++) {
        if (*name == '"')
            taut_writer_text(sink, "\"");
        taut_writer_bytes(sink, name, 1);
    }
    taut_writer_text(sink, suffix);
    if (quoted)
        taut_writer_text(sink, "\"");
}

static void write_names(taut_file_sink *sink, const taut_system *system, taut_item item,
                        taut_index count, const char *prefix, const char *suffix)
{
    char name[NAME_SIZE];
    for (taut_index k = 0; k < count; k++) {
        taut_system_name(system, item, k, name, sizeof name);
        taut_csv_field(sink, prefix, name, suffix);
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
    taut_writer_text(sink, "t");
    write_names(sink, system, TAUT_COORDINATE, sizes->coordinates, "", "");
    if (mechanical) {
        write_names(sink, system, TAUT_COORDINATE, sizes->coordinates, "", "'");
        write_names(sink, system, TAUT_BOND, sizes->bonds, "lambda(", ")");
    } else {
        write_names(sink, system, TAUT_ALGEBRAIC, sizes->algebraic, "", "");
    }
    write_names(sink, system, TAUT_OUTPUT, sizes->outputs, "", "");
    taut_writer_text(sink, "\n");
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
    *sink = (taut_sink){begin, row, end, *file};
    return TAUT_OK;
}
