/* rank_part.c - see rank_part.h: what a part knows of the whole model. */
#include "system/rank_part.h"

#include "system/system.h"

taut_space *taut_context_space(const taut_context *context)
{
    return context->system->part ? context->system->part->space : NULL;
}

const taut_halo *taut_context_halo(const taut_context *context)
{
    return context->system->part ? &context->system->part->coordinates : NULL;
}

const taut_halo *taut_context_bond_halo(const taut_context *context)
{
    return context->system->part ? &context->system->part->bonds : NULL;
}

void taut_part_agree(taut_system *system)
{
    const unsigned every =
        TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS | TAUT_CAN_INVERT_MASS;
    taut_space *space = system->part ? system->part->space : NULL;
    if (!space)
        return;
    const double mine = system->sizes.can;
    unsigned all = ~0u, some = 0;
    space->calls->gather(space, sizeof mine, &mine, space->room);
    for (int r = 0; r < space->size; r++) {
        all &= (unsigned)space->room[r];
        some |= (unsigned)space->room[r];
    }
    system->sizes.can = (all & every) | (some & ~every);
}

int taut_part_refuse(const taut_system *system, taut_error *error)
{
    const unsigned can = system->sizes.can;
    if (!system->part)
        return TAUT_OK;
    if (can & (TAUT_HAS_KINKS | TAUT_HAS_VARYING_MASS))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s are not supported over several ranks: use this model without mpiexec",
                         can & TAUT_HAS_KINKS ? "abs, min, floor and other kinks"
                                              : "masses that vary");
    if (!(can & TAUT_CAN_INVERT_MASS))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "several ranks need masses > 0 of all coordinates");
    const double matrix = system->sizes.mass != TAUT_MASS_DIAGONAL;
    return taut_space_largest(system->part->space, matrix) > 0
               ? taut_fail(error, TAUT_ERROR_REFUSED, "several ranks need constant diagonal masses")
               : TAUT_OK;
}

int taut_part_fits(double numbers, const char *advice, taut_error *error)
{
    static const double MOST = 3e7; /* 240 MB */
    return numbers > MOST
               ? taut_fail(error, TAUT_ERROR_REFUSED,
                           "a state of %.3g numbers is too large for one rank: %s", numbers, advice)
               : TAUT_OK;
}

int taut_part_whole(const taut_system *system, const taut_allocator *allocator,
                    taut_system **result, taut_error *error)
{
    const taut_part *part = system->part;
    taut_system *whole = *result = taut_system_derive(system, allocator);
    TAUT_NEED(error, whole);
    whole->part = NULL;
    whole->coordinates.here = whole->bonds.here = NULL;
    whole->sizes.coordinates = (taut_index)part->coordinates.total;
    whole->sizes.bonds = (taut_index)part->bonds.total;
    return TAUT_OK;
}
