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
    &taut_projection_kernel, &taut_projection_difference, &taut_projection_derivative,
    &taut_projection_brute,  &taut_projection_outer,      &taut_projection_filter,
    &taut_projection_auto};

enum { PROJECTIONS = sizeof table / sizeof table[0] };

int taut_projection_count(void)
{
    return PROJECTIONS;
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

int taut_projection_names(const taut_sizes *sizes, unsigned reads, const char *last, char *text,
                          size_t size)
{
    const char *name[PROJECTIONS];
    int count = 0;
    for (int k = 0; k < PROJECTIONS; k++)
        if (!sizes ||
            (reads ? table[k]->reads & reads && !taut_projection_check(table[k], sizes, NULL)
                   : table[k]->kinds & 1u << sizes->kind))
            name[count++] = table[k]->name;
    text[0] = '\0';
    for (int k = 0; k < count; k++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s",
                 k == 0          ? ""
                 : k + 1 < count ? ", "
                                 : last,
                 name[k]);
    return count;
}

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
            return taut_fail_option(error, TAUT_ERROR_USAGE, "method",
                                    "%s moves a system in time and is not a projection; use it for "
                                    "a run",
                                    moves.name);
    const char *near = taut_near_miss(name, names, PROJECTIONS);
    char list[200];
    taut_projection_names(NULL, 0, " or ", list, sizeof list);
    return taut_fail_option(error, TAUT_ERROR_USAGE, "method",
                            "unknown projection '%.40s'; %s %s%s", name,
                            near ? "did you mean" : "choose", near ? near : list, near ? "?" : "");
}

int taut_projection_check(const taut_projection_method *method, const taut_sizes *sizes,
                          taut_error *error)
{
    static const char *const kinds[] = {"a mechanical system", "a first-order system",
                                        "a black box"};
    char text[500];
    if (!(method->kinds & 1u << sizes->kind)) {
        taut_projection_names(sizes, 0, " or ", text, sizeof text);
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection %s does not support %s; use projection %s", method->name,
                         kinds[sizes->kind], text);
    }
    unsigned bits = (method->needs & ~sizes->can) | (method->refuses & sizes->can);
    if ((method->needs & ~sizes->can & TAUT_HAS_SPRINGS) &&
        !(sizes->can & TAUT_HAS_STIFF_POTENTIAL))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection %s needs springs, and the system has none; "
                         "projection constraint projects onto rigid bonds",
                         method->name);
    const unsigned stiff = TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL;
    if (method->moves_slow && (sizes->can & TAUT_HAS_RIGID) &&
        (sizes->can & stiff) != TAUT_HAS_SPRINGS)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "projection %s supports rigid bonds only together with springs, and the system has %s",
            method->name,
            sizes->can & TAUT_HAS_STIFF_POTENTIAL
                ? "a stiff potential; use projection series"
                : "no springs; projection constraint projects onto rigid bonds");
    if (method->moves_slow && (sizes->can & TAUT_HAS_PAIRS) && !(sizes->can & stiff))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection %s filters vibrations, and the system has no springs: its "
                         "forces are sums over pairs of particles",
                         method->name);
    bits &= ~(unsigned)TAUT_HAS_SPRINGS;
    if (bits)
        return taut_fail(error, TAUT_ERROR_REFUSED, "projection %s %s", method->name,
                         taut_reasons_text(bits, text, sizeof text));
    return TAUT_OK;
}
