/* bond_ends.c - what pictures need of a bond: the points it joins, from the coordinates that its
 * row of G depends on and the names of these. */
#include "system/system.h"

#include <string.h>

typedef struct point {
    taut_index first;
    int dimension;
} point;

/* Is coordinate i, if there is one, named `letter`, then `ending`? */
static bool is_named(const taut_system *system, taut_index i, char letter, const char *ending)
{
    char name[160];
    return taut_system_name(system, TAUT_COORDINATE, i, name, sizeof name) > 0 &&
           name[0] == letter && strcmp(name + 1, ending) == 0;
}

static point point_of(const taut_system *system, taut_index column)
{
    const taut_names *names = &system->coordinates;
    for (int64_t b = 0; b < names->blocks; b++) {
        const taut_name_block *block = &names->block[b].block;
        int64_t offset = (int64_t)column - block->first, width = block->components;
        if (width > 1 && offset >= 0 && offset < block->count * width)
            return (point){(taut_index)(column - offset % width), (int)width};
    }
    char name[160];
    taut_system_name(system, TAUT_COORDINATE, column, name, sizeof name);
    taut_index x = column - (name[0] - 'x');
    if (name[0] < 'x' || name[0] > 'z' || !is_named(system, x, 'x', name + 1) ||
        !is_named(system, x + 1, 'y', name + 1))
        return (point){column, 1};
    return (point){x, is_named(system, x + 2, 'z', name + 1) ? 3 : 2};
}

taut_index taut_system_point(const taut_system *system, taut_index column, int *dimension)
{
    point p = point_of(system, column);
    *dimension = p.dimension;
    return p.first;
}

int taut_system_bond_ends(const taut_system *system, taut_index k, int most, taut_index *first,
                          int *dimension)
{
    taut_pattern g;
    int count = 0;
    if (!system || k < 0 || k >= system->sizes.bonds ||
        taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &g, NULL) != 0)
        return -1;
    for (taut_index e = g.start[k]; e < g.start[k + 1]; e++) {
        point p = point_of(system, g.column[e]);
        taut_index before = g.start[k];
        while (before < e && point_of(system, g.column[before]).first != p.first)
            before++;
        if (before < e) /* known from another of its coordinates */
            continue;
        if (count < most && first)
            first[count] = p.first;
        if (count < most && dimension)
            dimension[count] = p.dimension;
        count++;
    }
    return count;
}
