/* groups.c - which springs vibrate together: the connected components of the coordinates that
 * bonds, other than soft ones, and the mass matrix connect (union-find, Tarjan 1975, with path
 * halving). Components without a spring are no group. Springs of large groups are ordered such that
 * those that touch are near to each other. */
#include "system/modes/modes.h"

#include "linalg/order.h"

static taut_index root_of(taut_index *parent, taut_index i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* The columns of a row become one component. */
static void unite_row(taut_index *parent, const taut_pattern *a, taut_index row)
{
    for (taut_index e = a->start[row]; e < a->start[row + 1]; e++) {
        taut_index one = root_of(parent, a->column[a->start[row]]),
                   other = root_of(parent, a->column[e]);
        parent[other > one ? other : one] = other > one ? one : other;
    }
}

static bool is_stiff(const taut_modes_work *w, taut_index bond)
{
    return taut_context_compliance(w->context)[bond] > 0 && !taut_context_soft(w->context, bond);
}

static bool is_rigid(const taut_modes_work *w, taut_index bond)
{
    return !(taut_context_compliance(w->context)[bond] > 0);
}

/* A bond that depends on no coordinate belongs to none. */
static taut_index group_of_row(const taut_modes_work *w, taut_index *parent, const taut_index *of,
                               taut_index bond)
{
    taut_index e = w->jacobian.start[bond];
    return e < w->jacobian.start[bond + 1] ? of[root_of(parent, w->jacobian.column[e])] : -1;
}

static void unite(const taut_modes_work *w, taut_index *parent)
{
    for (taut_index i = 0; i < w->n; i++)
        parent[i] = i;
    for (taut_index i = 0; i < w->m; i++)
        if (is_stiff(w, i) || is_rigid(w, i))
            unite_row(parent, &w->jacobian, i);
    for (taut_index i = 0; i < w->n && !w->diagonal; i++)
        unite_row(parent, &w->tangent, i);
}

/* Numbers the groups by their first springs; of[root] is the number, or -1. */
static void number(taut_modes_work *w, taut_index *parent, taut_index *of)
{
    for (taut_index i = 0; i < w->n; i++)
        of[i] = -1;
    for (taut_index i = 0; i < w->m; i++) {
        taut_index e = w->jacobian.start[i];
        w->rigids += is_rigid(w, i);
        if (!is_stiff(w, i) || e == w->jacobian.start[i + 1])
            continue;
        taut_index root = root_of(parent, w->jacobian.column[e]);
        if (of[root] < 0)
            of[root] = w->groups++;
        w->springs++;
    }
}

/* Members of each group: counted in the first pass, written in the second one, springs in the given
 * order. */
static void fill(taut_modes_work *w, taut_index *parent, const taut_index *of,
                 const taut_index *order, bool write)
{
    taut_index rigid = 0;
    for (taut_index k = 0; k < w->m; k++) {
        const taut_index i = order ? order[k] : k, g = group_of_row(w, parent, of, i);
        if (is_rigid(w, i) && write)
            w->rigid[rigid++] = i;
        if (g < 0)
            continue;
        taut_mode_group *group = &w->group[g];
        if (is_stiff(w, i) && write)
            group->spring[group->springs] = i;
        else if (is_rigid(w, i) && write)
            group->rigid[group->rigids] = i;
        group->springs += is_stiff(w, i);
        group->rigids += is_rigid(w, i);
    }
    for (taut_index i = 0; i < w->n; i++) {
        taut_index g = of[root_of(parent, i)];
        if (g < 0)
            continue;
        w->local[i] = w->group[g].n;
        if (write)
            w->group[g].coordinate[w->group[g].n] = i;
        w->group[g].n++;
    }
}

static void place(taut_modes_work *w, taut_index *rigid, taut_index *coordinate)
{
    taut_index *spring = w->spring;
    for (taut_index g = 0; g < w->groups; g++) {
        taut_mode_group *group = &w->group[g];
        group->spring = spring;
        group->rigid = rigid;
        group->coordinate = coordinate;
        spring += group->springs;
        rigid += group->rigids;
        coordinate += group->n;
        w->largest = group->springs > w->largest ? group->springs : w->largest;
        group->springs = group->rigids = group->n = 0;
    }
}

/* Bonds such that those that share coordinates are near to each other. */
static int order_bonds(const taut_modes_work *w, taut_index *bond, taut_error *error)
{
    const taut_saddle_shape shape = {
        .n = w->n, .m = w->m, .g_start = w->jacobian.start, .g_column = w->jacobian.column};
    const taut_index nodes = w->n + w->m;
    taut_arena arena;
    taut_columns columns;
    taut_arena_init(&arena, &w->arena->allocator);
    taut_index *position = TAUT_NEW(&arena, taut_index, nodes),
               *node = TAUT_NEW(&arena, taut_index, nodes);
    int status = position && node ? taut_columns_build(w->m, w->n, shape.g_start, shape.g_column,
                                                       &arena, &columns, error)
                                  : taut_fail_memory(error);
    if (status == 0)
        status = taut_order(&shape, &columns, &w->arena->allocator, position, error);
    for (taut_index k = 0; status == 0 && k < nodes; k++)
        node[position[k]] = k;
    for (taut_index k = 0, i = 0; status == 0 && k < nodes; k++)
        if (node[k] >= w->n)
            bond[i++] = node[k] - w->n;
    taut_arena_clear(&arena);
    return status;
}

/* The largest distance, in their group, of springs that share a coordinate. */
static void measure_bands(taut_modes_work *w, taut_index *first)
{
    for (taut_index i = 0; i < w->n; i++)
        first[i] = -1;
    for (taut_index g = 0; g < w->groups; g++)
        for (taut_index s = 0; s < w->group[g].springs; s++) {
            const taut_index bond = w->group[g].spring[s];
            for (taut_index e = w->jacobian.start[bond]; e < w->jacobian.start[bond + 1]; e++) {
                taut_index *before = &first[w->jacobian.column[e]];
                *before = *before < 0 ? s : *before;
                if (s - *before > w->group[g].half_width)
                    w->group[g].half_width = s - *before;
            }
        }
}

int taut_mode_groups_find(taut_modes_work *w, taut_error *error)
{
    taut_arena *arena = w->arena;
    taut_index *parent = TAUT_NEW(arena, taut_index, w->n), *of = TAUT_NEW(arena, taut_index, w->n),
               *order = NULL;
    w->local = TAUT_NEW(arena, taut_index, w->n);
    TAUT_NEED(error, parent, of, w->local);
    unite(w, parent);
    number(w, parent, of);
    taut_index *rigid = TAUT_NEW(arena, taut_index, w->rigids),
               *coordinate = TAUT_NEW(arena, taut_index, w->n);
    w->spring = TAUT_NEW(arena, taut_index, w->springs);
    w->rigid = TAUT_NEW(arena, taut_index, w->rigids);
    w->group = TAUT_NEW(arena, taut_mode_group, w->groups);
    TAUT_NEED(error, rigid, coordinate, w->spring, w->rigid, w->group);
    fill(w, parent, of, NULL, false);
    place(w, rigid, coordinate);
    if (w->largest > TAUT_MODES_SMALL && w->rigids == 0) {
        TAUT_NEED(error, order = TAUT_NEW(arena, taut_index, w->m));
        TAUT_TRY(order_bonds(w, order, error));
    }
    fill(w, parent, of, order, true);
    measure_bands(w, parent);
    return TAUT_OK;
}
