/* page_thin.c - scenes of more particles and bonds than a browser draws well: of a run one bond of
 * `every` is kept, with both of its ends, and of particles without bonds one of `every`.
 * Coordinates that are no points stay, and so do bonds to a fixed end. Scenes are evaluated for the
 * whole system (page_scene.c); rows, names and, after the last row, the lists of points and bonds
 * are those of what is kept. */
#include "io/page.h"

#include <string.h>

static void mark_point(unsigned char *kept, int32_t first, int dimension)
{
    memset(kept + first, 1, (size_t)dimension);
}

static int list(taut_page_run_data *run, const unsigned char *kept, int64_t count, taut_pick *pick,
                taut_error *error)
{
    for (int64_t k = 0; k < count; k++)
        pick->count += kept[k];
    pick->item = TAUT_NEW(run->arena, int32_t, pick->count);
    TAUT_NEED(error, pick->item);
    for (int64_t k = 0, i = 0; k < count; k++)
        if (kept[k])
            pick->item[i++] = (int32_t)k;
    return TAUT_OK;
}

/* Marks what is kept: [coordinates], [bonds]. */
static void mark(const taut_page_run_data *run, const unsigned char *dimension,
                 unsigned char *coordinate, unsigned char *bond)
{
    const taut_index n = run->sizes.coordinates, m = run->sizes.bonds;
    memset(coordinate, 1, (size_t)n);
    for (taut_index k = 0; k < run->points; k++)
        memset(coordinate + run->point[k] / 4, 0, (size_t)(run->point[k] % 4));
    for (taut_index k = 0; k < m; k++) {
        const int32_t *end = run->end + 2 * (int64_t)k;
        bond[k] = k % run->every == 0 || end[1] == TAUT_PAGE_FIXED_END;
        for (int side = 0; side < 2 && bond[k]; side++)
            if (end[side] >= 0)
                mark_point(coordinate, end[side], dimension[end[side]]);
    }
    for (taut_index k = 0; run->points > 2 * (int64_t)m && k < run->points; k += run->every)
        mark_point(coordinate, run->point[k] / 4, run->point[k] % 4);
}

int taut_page_thin(taut_page_run_data *run, taut_error *error)
{
    enum { MOST_DRAWN = 120000 };
    const taut_index n = run->sizes.coordinates, m = run->sizes.bonds;
    const int64_t drawn = run->points > m ? run->points : m;
    run->every = run->points > 0 ? (int)((drawn + MOST_DRAWN - 1) / MOST_DRAWN) : 1;
    if (run->every <= 1)
        return TAUT_OK;
    taut_arena arena;
    taut_arena_init(&arena, &run->arena->allocator);
    unsigned char *coordinate = TAUT_NEW(&arena, unsigned char, n),
                  *dimension = TAUT_NEW(&arena, unsigned char, n),
                  *bond = TAUT_NEW(&arena, unsigned char, m);
    int status = coordinate && dimension && bond ? TAUT_OK : taut_fail_memory(error);
    for (taut_index k = 0; status == 0 && k < run->points; k++)
        dimension[run->point[k] / 4] = (unsigned char)(run->point[k] % 4);
    if (status == 0) {
        mark(run, dimension, coordinate, bond);
        status = list(run, coordinate, n, &run->coordinate, error);
    }
    if (status == 0)
        status = list(run, bond, m, &run->bond, error);
    taut_arena_clear(&arena);
    return status;
}

/* Numbers of coordinates become those of the kept ones. */
int taut_page_renumber(taut_page_run_data *run, taut_error *error)
{
    if (run->every <= 1)
        return TAUT_OK;
    taut_arena arena;
    taut_arena_init(&arena, &run->arena->allocator);
    int32_t *place = TAUT_NEW(&arena, int32_t, run->sizes.coordinates);
    if (!place) {
        taut_arena_clear(&arena);
        return taut_fail_memory(error);
    }
    memset(place, -1, (size_t)run->sizes.coordinates * sizeof *place);
    for (int64_t k = 0; k < run->coordinate.count; k++)
        place[run->coordinate.item[k]] = (int32_t)k;
    taut_index points = 0;
    for (taut_index k = 0; k < run->points; k++)
        if (place[run->point[k] / 4] >= 0)
            run->point[points++] = 4 * place[run->point[k] / 4] + run->point[k] % 4;
    run->points = points;
    for (int64_t k = 0; k < run->bond.count; k++) {
        const int32_t from = run->bond.item[k];
        for (int side = 0; side < 2; side++) {
            const int32_t end = run->end[2 * (int64_t)from + side];
            run->end[2 * k + side] = end >= 0 ? place[end] : end;
        }
        run->kind[k] = run->kind[from];
        run->gain[k] = run->gain[from];
    }
    run->sizes.bonds = (taut_index)run->bond.count;
    taut_arena_clear(&arena);
    return TAUT_OK;
}
