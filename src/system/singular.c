/* singular.c - see singular.h. The factorisation gives the number of one of its own rows at best;
 * the rank gives the bonds. */
#include "system/singular.h"

#include <stdio.h>

#include "system/system.h"

/* Rows that a factorisation of G M^-1 G^T cannot tell apart are this close, and some more: its
 * condition is that of G squared. */
static const double CLOSE = 1e-7;

/* The first coordinate without mass that no bond sees, or -1. seen[n] is zero. */
static taut_index find_loose(const taut_singular *x, unsigned char *seen)
{
    for (taut_index e = 0; x->m > 0 && e < x->start[x->m]; e++)
        seen[x->column[e]] |= x->jacobian[e] != 0;
    for (taut_index i = 0; i < x->n; i++) {
        bool heavy = !x->mass_start && x->mass[i] != 0;
        for (taut_index e = x->mass_start ? x->mass_start[i] : 0;
             x->mass_start && e < x->mass_start[i + 1]; e++)
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
    TAUT_NEED(error, r->row, r->start, r->column, r->partner, r->entry, r->redundant);
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

static taut_index bond_of(const taut_singular *x, taut_index row)
{
    return x->bond ? x->bond[row] : row;
}

/* Is this bond, rigid in the matrix, a spring of the model? */
static int was_spring(const taut_singular *x, taut_index bond, bool *spring, taut_error *error)
{
    const taut_system *system = taut_context_system(x->context), *base = system->base;
    taut_context *stated = NULL;
    while (base && base->base)
        base = base->base;
    /* a rigid system without a base is that of effective motion: rigid bonds that depend on one
     * another fail earlier, at its modes */
    *spring = taut_context_compliance(x->context)[bond] > 0 || (system->rigid && !base);
    if (*spring || !base)
        return TAUT_OK;
    TAUT_TRY(taut_context_create(base, x->allocator, &stated, error));
    *spring = taut_context_compliance(stated)[bond] > 0;
    taut_context_destroy(stated);
    return TAUT_OK;
}

static const char *kind_of(const taut_sizes *sizes, taut_index bond)
{
    if (sizes->kind == TAUT_MECHANICAL)
        return "bond";
    return bond < sizes->constraints                       ? "constraint"
           : bond < sizes->constraints + sizes->invariants ? "invariant"
                                                           : "observable";
}

/* partner < 0: the row vanishes. */
static int blame(const taut_singular *x, taut_index row, taut_index partner, char *text,
                 size_t size, taut_error *error)
{
    const taut_system *system = taut_context_system(x->context);
    taut_index bond = bond_of(x, row);
    bool mechanical = system->sizes.kind == TAUT_MECHANICAL, spring = false;
    char name[96], other[96] = "";
    if (mechanical)
        TAUT_TRY(was_spring(x, bond, &spring, error));
    taut_system_name(system, TAUT_BOND, bond, name, sizeof name);
    if (partner >= 0)
        taut_system_name(system, TAUT_BOND, bond_of(x, partner), other, sizeof other);
    snprintf(text, size, "%s '%s' %s%s%s%s; %s", kind_of(&system->sizes, bond), name,
             other[0] ? "depends on others such as '" : "has a zero gradient there", other,
             other[0] ? "'" : "", x->held ? " (with the held coordinates fixed)" : "",
             x->held       ? "release one of its coordinates or velocities"
             : !other[0]   ? "write it in another form, or omit it"
             : !mechanical ? "omit it"
             : spring ? "as a spring it may depend on others, but not all of them can be rigid: "
                        "omit it, or mark it `soft`"
                      : "omit it, or give it a stiffness");
    return TAUT_OK;
}

/* The first bond that depends on others. */
static int name_dependent(const taut_singular *x, const rods *r, char *text, size_t size,
                          taut_error *error)
{
    taut_saddle_shape shape = {
        .n = x->n, .m = r->count, .g_start = r->start, .g_column = r->column};
    taut_index rank;
    if (r->count == 0)
        return TAUT_OK;
    int status = taut_rank(&shape, r->entry, CLOSE, NULL, &rank, r->redundant, r->partner, NULL,
                           x->allocator, error);
    if (status == TAUT_ERROR_MEMORY)
        return status;
    for (taut_index i = 0; status == 0 && i < r->count; i++) {
        if (r->redundant[i])
            return blame(x, r->row[i], r->partner[i] < 0 ? -1 : r->row[r->partner[i]], text, size,
                         error);
    }
    taut_error_clear(error); /* too large to be examined, or of full rank */
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
        taut_system_name(taut_context_system(x->context), TAUT_COORDINATE, loose, name,
                         sizeof name);
        snprintf(text, size,
                 "coordinate '%s' has no mass, and no %sbond holds it; give it one of them", name,
                 x->bond ? "rigid " : "");
    }
    taut_arena_clear(&arena);
    return status;
}

int taut_singular_explain(const taut_singular *x, int status, double t, const char *what,
                          taut_error *error)
{
    if (status != TAUT_ERROR_SINGULAR || !error)
        return status;
    char text[300];
    TAUT_TRY(taut_singular_text(x, text, sizeof text, error));
    if (!text[0])
        snprintf(text, sizeof text, "%s",
                 x->held    ? "the bonds cannot be met, or only just, with what is held standing "
                              "still; release some of it"
                 : x->m > 0 ? "bonds depend on others there, or nearly so, or masses and bonds "
                              "leave a coordinate free"
                            : "the mass matrix cannot be inverted");
    taut_fail(error, status, "at t = %.9g %s: %s", t, what, text);
    error->t = t;
    return status;
}
