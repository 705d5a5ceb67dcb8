/* page_table.c - the table of a sweep on a page: CSV as `taut sweep` writes it (docs/sweeps.md),
 * every row with as many fields as the header, compressed. */
#include "io/page.h"

#include <string.h>

static const char FIRST[] = "run,", LAST[] = ",status,error,steps,force_evaluations,message";

/* The bytes of the line at `text`, with its end; 0: it has none. *fields of it, quoted ones too. */
static int64_t line_bytes(const char *text, int64_t most, int64_t *fields)
{
    bool quoted = false;
    *fields = 1;
    for (int64_t k = 0; k < most; k++) {
        quoted ^= text[k] == '"';
        *fields += !quoted && text[k] == ',';
        if (!quoted && text[k] == '\n')
            return k + 1;
    }
    return 0;
}

static bool is_header(const char *line, int64_t bytes)
{
    int64_t first = sizeof FIRST - 1, last = sizeof LAST - 1;
    return bytes > first + last + 1 && memcmp(line, FIRST, (size_t)first) == 0 &&
           memcmp(line + bytes - 1 - last, LAST, (size_t)last) == 0;
}

int taut_page_table_add(taut_page *page, const char *name, const taut_system *system,
                        const char *csv, int64_t bytes, int varied, taut_error *error)
{
    taut_page_run_data *run;
    int64_t columns, fields, line = line_bytes(csv, bytes, &columns), rows = 0, used = line;
    if (!is_header(csv, line))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "expected the table of a sweep, with the columns run, ..., status, error, "
                         "steps, force_evaluations, message");
    for (; (line = line_bytes(csv + used, bytes - used, &fields)) > 0; used += line, rows++)
        if (fields != columns)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "row %lld of the table has %lld fields, its header %lld",
                             (long long)rows + 1, (long long)fields, (long long)columns);
    if (rows == 0)
        return taut_fail(error, TAUT_ERROR_USAGE, "the sweep has no rows to show");
    TAUT_TRY(taut_page_add(page, name, true, &run, error));
    if (system)
        TAUT_TRY(taut_page_model(run, system, error));
    run->varied = varied;
    run->seen = rows;
    taut_bytes_add(&run->table, csv, used);
    return run->table.failed ? taut_fail_memory(error) : TAUT_OK;
}

int taut_page_table(taut_page *page, const char *name, const char *csv, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(page && name && csv);
    return taut_page_table_add(page, name, NULL, csv, (int64_t)strlen(csv), -1, error);
}

void taut_page_table_code(taut_bytes *to, const taut_page_run_data *run, int64_t thin)
{
    const char *csv = (const char *)run->table.data;
    int64_t bytes = run->table.count, fields, row = -1, line;
    taut_arena arena; /* all but the result */
    taut_arena_init(&arena, &run->arena->allocator);
    taut_bytes raw = {.arena = &arena}, packed = {.arena = &arena};
    for (; (line = line_bytes(csv, bytes, &fields)) > 0; csv += line, bytes -= line, row++)
        if (row < 0 || row % thin == 0)
            taut_bytes_add(&raw, csv, line);
    if (!raw.failed)
        taut_deflate(&packed, raw.data, raw.count);
    to->failed |= raw.failed || packed.failed;
    if (!to->failed)
        taut_base64(to, packed.data, packed.count);
    taut_arena_clear(&arena);
}
