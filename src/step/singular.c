/* singular.c - see singular.h. The factorisation knows the number of a row of its own at best; ranks know the bonds. */
#include "step/singular.h"

#include <stdio.h>
#include <string.h>

/* Rows that a factorisation of G M^-1 G^T cannot tell apart are this close, and some more: its condition is that of G squared. */
static const double CLOSE = 1e-7;

/* The first coordinate without mass that no bond sees, or -1. seen[n] is zero. */
static taut_index find_loose(const taut_singular *x, unsigned char *seen)
{
    for (taut_index e = 0; x->m > 0 && e < x->start[x->m]; e++)
        seen[x->column[e]] |= x->jacobian[e] != 0;
    for (taut_index i = 0; i < x->n; i++) {
        bool heavy = !x->mass_start && x->mass[i] != 0;
        for (taut_index e = x->mass_start ? x->mass_start[i] : 0; x->mass_start && e < x->mass_start[i + 1]; e++)
            heavy |= x->mass[e] != 0;
        if (!heavy && !seen[i])
            return i;
    }
    return -1;
}

/* Rows without compliance, one after another. */
typedef struct rods {
    taut_index count, *row, *start, *column, *partner;
    double *entry;
    unsigned char *redundant;
} rods;

static int take_rods(const taut_singular *x, taut_arena *arena, rods *r, taut_error *error)
{
    taut_index all = x->m > 0 ? x->start[x->m] : 0, used = 0;
    *r = (rods){.row = TAUT_NEW(arena, taut_index, x->m),
                .start = TAUT_NEW(arena, taut_index, (int64_t)x->m + 1),
                .column = TAUT_NEW(arena, taut_index, all),
                .partner = TAUT_NEW(arena, taut_index, x->m),
                .entry = TAUT_NEW(arena, double, all),
                .redundant = TAUT_NEW(arena, unsigned char, x->m)};
    if (!r->row || !r->start || !r->column || !r->partner || !r->entry || !r->redundant)
        return taut_fail_memory(error);
    for (taut_index i = 0; i < x->m; i++) {
        if (x->compliance && x->compliance[i] > 0)
            continue;
        for (taut_index e = x->start[i]; e < x->start[i + 1]; e++, used++) {
            r->column[used] = x->column[e];
            r->entry[used] = x->jacobian[e];
        }
        r->row[r->count++] = i;
        r->start[r->count] = used;
    }
    return TAUT_OK;
}

static void name_bond(const taut_singular *x, taut_index row, char *name, size_t size)
{
    taut_system_name(x->system, TAUT_BOND, x->bond ? x->bond[row] : row, name, size);
}

/* The first bond that depends on others. */
static int name_dependent(const taut_singular *x, const rods *r, char *text, size_t size, taut_error *error)
{
    taut_saddle_shape shape = {.n = x->n, .m = r->count, .g_start = r->start, .g_column = r->column};
    taut_index rank;
    if (r->count == 0)
        return TAUT_OK;
    int status = taut_rank(&shape, r->entry, CLOSE, NULL, &rank, r->redundant, r->partner, NULL, x->allocator, error);
    if (status == TAUT_ERROR_MEMORY)
        return status;
    for (taut_index i = 0; status == 0 && i < r->count; i++) {
        if (!r->redundant[i])
            continue;
        char name[96], other[96];
        name_bond(x, r->row[i], name, sizeof name);
        if (r->partner[i] < 0)
            snprintf(text, size, "bond '%s' has a zero gradient there: write it in another form, or leave it out", name);
        else {
            name_bond(x, r->row[r->partner[i]], other, sizeof other);
            snprintf(text, size, "bond '%s' depends on others such as '%s': leave it out, or give it a stiffness", name, other);
        }
        return TAUT_OK;
    }
    taut_error_clear(error); /* too large to say, or of full rank */
    return TAUT_OK;
}

int taut_singular_text(const taut_singular *x, char *text, size_t size, taut_error *error)
{
    taut_arena arena;
    rods r = {0};
    text[0] = 0;
    taut_arena_init(&arena, x->allocator);
    unsigned char *seen = TAUT_NEW(&arena, unsigned char, x->n);
    int status = seen ? take_rods(x, &arena, &r, error) : taut_fail_memory(error);
    if (status == 0)
        status = name_dependent(x, &r, text, size, error);
    taut_index loose = status == 0 && !text[0] ? find_loose(x, seen) : -1;
    if (loose >= 0) {
        char name[96];
        taut_system_name(x->system, TAUT_COORDINATE, loose, name, sizeof name);
        snprintf(text, size, "coordinate '%s' has no mass, and no bond holds it: give it one of them", name);
    }
    taut_arena_clear(&arena);
    return status;
}
