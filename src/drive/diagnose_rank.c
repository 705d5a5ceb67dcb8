/* diagnose_rank.c - the rank of some rows of G, and the names of those that depend on others. */
#include "drive/diagnose.h"

#include "base/text.h"

/* The rows that were selected, and what taut_rank found of each. */
typedef struct selection {
    taut_index count, rank;
    taut_index *row, *start, *column, *partner;
    double *entry, *residual;
    unsigned char *redundant;
    bool conflict;
} selection;

static int select_rows(const taut_row_rank *e, taut_arena *scratch, selection *x, taut_error *error)
{
    const taut_pattern *g = e->jacobian;
    const int64_t entries = g->start[g->rows];
    x->row = TAUT_NEW(scratch, taut_index, g->rows);
    x->start = TAUT_NEW(scratch, taut_index, (int64_t)g->rows + 1);
    x->column = TAUT_NEW(scratch, taut_index, entries);
    x->partner = TAUT_NEW(scratch, taut_index, g->rows);
    x->redundant = TAUT_NEW(scratch, unsigned char, g->rows);
    TAUT_NEED(error, x->row, x->start, x->column, x->partner, x->redundant);
    TAUT_TRY(TAUT_RESERVE(scratch, entries, error, &x->entry));
    TAUT_TRY(TAUT_RESERVE(scratch, g->rows, error, &x->residual));
    taut_index used = 0;
    for (taut_index i = 0; i < g->rows; i++) {
        if (!e->only[i])
            continue;
        for (taut_index k = g->start[i]; k < g->start[i + 1]; k++, used++) {
            x->column[used] = g->column[k];
            x->entry[used] = e->entry[k];
        }
        x->residual[x->count] = e->bond[i];
        x->row[x->count++] = i;
        x->start[x->count] = used;
    }
    return TAUT_OK;
}

/* The first three redundant rows by name. */
static void name_redundant(const taut_system *system, const selection *x, char *message,
                           size_t size)
{
    int shown = 0;
    for (taut_index i = 0; i < x->count && shown < 3; i++) {
        char name[96], other[96] = "";
        if (!x->redundant[i])
            continue;
        taut_system_name(system, TAUT_BOND, x->row[i], name, sizeof name);
        if (x->partner[i] >= 0)
            taut_system_name(system, TAUT_BOND, x->row[x->partner[i]], other, sizeof other);
        taut_append(message, size, "%s%s %s%s", shown++ ? "; " : "", name,
                    x->partner[i] < 0 ? "has a zero gradient"
                    : x->conflict     ? "contradicts "
                                      : "follows from others such as ",
                    other);
    }
    if (x->rank < x->count - 3)
        taut_append(message, size, "; and %d more", (int)(x->count - 3 - x->rank));
}

int taut_diagnose_rank(const taut_row_rank *e, const taut_allocator *allocator, taut_index *rank,
                       taut_index *rows, char *message, size_t size, taut_error *error)
{
    taut_arena scratch;
    selection x = {0};
    taut_arena_init(&scratch, allocator);
    int status = select_rows(e, &scratch, &x, error);
    taut_saddle_shape shape = {
        .n = e->jacobian->columns, .m = x.count, .g_start = x.start, .g_column = x.column};
    if (status == 0 && x.count > 0)
        status = taut_rank(&shape, x.entry, 1e-10, x.residual, &x.rank, x.redundant, x.partner,
                           &x.conflict, allocator, error);
    message[0] = '\0';
    if (status == 0 && x.count > 0)
        name_redundant(e->system, &x, message, size);
    *rank = x.rank;
    *rows = x.count;
    taut_arena_clear(&scratch);
    return status;
}
