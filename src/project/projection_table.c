/* projection_table.c - the table of projections: the rows, how one is found by name, and what it
 * refuses. */
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "base/reasons.h"
#include "base/structs.h"
#include "point/projection.h"

static const taut_projection_method *const table[] = {
    &taut_projection_ipa,    &taut_projection_series,     &taut_projection_constraint,
    &taut_projection_kernel, &taut_projection_difference, &taut_projection_auto};

enum { PROJECTIONS = sizeof table / sizeof table[0] };

int taut_projection_count(void)
{
    return PROJECTIONS;
}

const taut_projection_method *taut_projection_row(int k)
{
    return table[k];
}

int taut_projection_get(int k, taut_projection_info *info, taut_error *error)
{
    TAUT_REQUIRE(k >= 0 && k < PROJECTIONS);
    taut_projection_info own = {.name = table[k]->name,
                                .summary = table[k]->summary,
                                .reference = table[k]->reference,
                                .needs = table[k]->needs,
                                .refuses = table[k]->refuses};
    return taut_struct_fill(info, &own, sizeof own, "taut_projection_info", error);
}

/* ---- choice */

int taut_projection_find(const char *name, const taut_projection_method **method, taut_error *error)
{
    const char *names[PROJECTIONS];
    for (int k = 0; k < PROJECTIONS; k++) {
        names[k] = table[k]->name;
        if (strcmp(name, names[k]) == 0) {
            *method = table[k];
            return TAUT_OK;
        }
    }
    taut_method_info moves = {.size = sizeof moves};
    for (int k = 0; taut_method_get(k, &moves, NULL) == 0; k++)
        if (strcmp(name, moves.name) == 0)
            return taut_fail(
                error, TAUT_ERROR_USAGE,
                "--method: %s moves a system in time, it is no projection; `taut run` uses it",
                moves.name);
    const char *near = taut_near_miss(name, names, PROJECTIONS);
    if (near)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "--method: there is no projection '%.40s'; did you mean %s?", name, near);
    char list[200] = "";
    for (int k = 0; k < PROJECTIONS; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", names[k]);
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "--method: there is no projection '%.40s'; those of this version are %s", name,
                     list);
}

/* The system is of another kind: which projections are for it? */
static int fail_kind(const taut_projection_method *method, const taut_sizes *sizes,
                     taut_error *error)
{
    static const char *const kinds[] = {"a mechanical system", "a first-order system",
                                        "a black box"};
    char list[200] = "";
    for (int k = 0; k < PROJECTIONS; k++)
        if (table[k]->kinds & 1u << sizes->kind)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "",
                     table[k]->name);
    return taut_fail(error, TAUT_ERROR_REFUSED, "projection %s is not for %s; %s%s", method->name,
                     kinds[sizes->kind],
                     list[0] ? "use --method " : "this version has none that is", list);
}

int taut_projection_check(const taut_projection_method *method, const taut_projection *p,
                          taut_error *error)
{
    const taut_sizes *sizes = &p->sizes;
    char text[500];
    if (!(method->kinds & 1u << sizes->kind))
        return fail_kind(method, sizes, error);
    unsigned bits = (method->needs & ~sizes->can) | (method->refuses & sizes->can);
    if ((method->needs & ~sizes->can & TAUT_HAS_SPRINGS) &&
        !(sizes->can & TAUT_HAS_STIFF_POTENTIAL))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection %s needs springs, and the system has none; --method "
                         "constraint projects onto rigid bonds",
                         method->name);
    const unsigned stiff = TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL;
    if (method->moves_slow && (sizes->can & TAUT_HAS_RIGID) &&
        (sizes->can & stiff) != TAUT_HAS_SPRINGS)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "projection %s treats rigid bonds beside springs alone, and the system has %s",
            method->name,
            sizes->can & TAUT_HAS_STIFF_POTENTIAL
                ? "a stiff potential; use --method series"
                : "no springs; --method constraint projects onto rigid bonds");
    bits &= ~(unsigned)TAUT_HAS_SPRINGS;
    if (bits)
        return taut_fail(error, TAUT_ERROR_REFUSED, "projection %s %s", method->name,
                         taut_reasons_text(bits, text, sizeof text));
    return TAUT_OK;
}
