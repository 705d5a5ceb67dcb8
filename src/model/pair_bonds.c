/* pair_bonds.c - particles that are no pair of a sum because bonds join them: `exclude k` omits the
 * pairs that a path of at most k bonds connects, each bond one between two particles.
 *
 * Particles are named by their first coordinate, other coordinates by themselves; which of them a
 * bond contains is in the pattern of G. The paths are found by a breadth-first search of depth k
 * from each particle: O(N) for molecules. */
#include "model/model.h"

typedef struct bond_graph {
    taut_index n;
    taut_index *point;           /* [n]: the particle of a coordinate */
    taut_index *start, *next;    /* neighbours of point p: next[start[p] .. start[p + 1] - 1] */
    taut_index *queue, *visited; /* [n] of a search; visited[p] - 1: the particle it began at */
} bond_graph;

static int find_points(const taut_model *model, bond_graph *g)
{
    for (taut_index i = 0; i < g->n; i++)
        g->point[i] = i;
    for (int64_t k = 0; k < model->symbols; k++)
        for (int32_t b = 0; b < model->symbol[k]->blocks; b++) {
            const taut_symbol_block *block = &model->symbol[k]->block[b];
            const int64_t d = block->box.components;
            for (int64_t i = 0; block->kind == TAUT_SYMBOL_COORDINATE && i < block->box.count * d;
                 i++)
                g->point[block->box.first + i] = block->box.first + (taut_index)(i - i % d);
        }
    return 0;
}

/* The two particles of a bond; false where there are not two. */
static bool ends_of(const taut_system *system, const bond_graph *g, taut_index row, taut_index *end)
{
    int count = 0;
    for (taut_index k = system->jacobian_start[row]; k < system->jacobian_start[row + 1]; k++) {
        const taut_index point = g->point[system->jacobian_column[k]];
        bool met = false;
        for (int e = 0; e < count; e++)
            met = met || end[e] == point;
        if (!met && count == 2)
            return false;
        if (!met)
            end[count++] = point;
    }
    return count == 2;
}

static int make_graph(taut_model *model, bond_graph *g)
{
    const taut_system *system = model->system;
    const taut_index n = g->n = system->sizes.coordinates;
    taut_index end[2];
    g->point = TAUT_NEW(&model->scratch, taut_index, n);
    g->start = TAUT_NEW(&model->scratch, taut_index, n + 2);
    g->next = TAUT_NEW(&model->scratch, taut_index, 2 * (int64_t)system->sizes.bonds);
    g->queue = TAUT_NEW(&model->scratch, taut_index, n);
    g->visited = TAUT_NEW(&model->scratch, taut_index, n);
    TAUT_NEED(model->error, g->point, g->start, g->next, g->queue, g->visited);
    TAUT_TRY(find_points(model, g));
    /* counts two places ahead, then sums, then places: start[p + 1] moves up to its end */
    for (taut_index row = 0; row < system->sizes.bonds; row++)
        for (int e = 0; ends_of(system, g, row, end) && e < 2; e++)
            g->start[end[e] + 2]++;
    for (taut_index i = 0; i < n; i++)
        g->start[i + 2] += g->start[i + 1];
    for (taut_index row = 0; row < system->sizes.bonds; row++)
        for (int e = 0; ends_of(system, g, row, end) && e < 2; e++)
            g->next[g->start[end[e] + 1]++] = end[1 - e];
    return 0;
}

/* Particles within `depth` bonds of a particle, in the queue behind it; returns how many. */
static taut_index search(const bond_graph *g, taut_index from, int32_t depth)
{
    taut_index count = 1, reached = 0;
    g->queue[0] = from;
    g->visited[from] = from + 1;
    for (int32_t k = 0; k < depth && reached < count; k++)
        for (const taut_index level = count; reached < level; reached++) {
            const taut_index at = g->queue[reached];
            for (taut_index e = g->start[at]; e < g->start[at + 1]; e++)
                if (g->visited[g->next[e]] != from + 1) {
                    g->visited[g->next[e]] = from + 1;
                    g->queue[count++] = g->next[e];
                }
        }
    return count - 1;
}

static int join(taut_model *model, bond_graph *g, taut_pair_families *f)
{
    taut_arena *arena = &model->system->arena;
    int32_t *start = TAUT_NEW(arena, int32_t, f->count[0] + 1), *joined = NULL;
    int64_t capacity = 0, used = 0;
    TAUT_NEED(model->error, start);
    for (taut_index i = 0; i < g->n; i++)
        g->visited[i] = 0;
    for (int32_t i = 0; i < f->count[0]; i++) {
        const taut_index found = search(g, f->first[0] + i * f->dimension, f->exclude);
        for (taut_index k = 1; k <= found; k++) {
            const taut_index j = (g->queue[k] - f->first[1]) / f->dimension;
            if (g->queue[k] < f->first[1] || j >= f->count[1])
                continue;
            joined = taut_arena_grow(arena, joined, used, &capacity, sizeof *joined);
            TAUT_NEED(model->error, joined);
            joined[used++] = j;
        }
        start[i + 1] = (int32_t)used;
    }
    f->joined_start = start;
    f->joined = joined;
    return 0;
}

int taut_pairs_exclude(taut_model *model)
{
    const taut_system *system = model->system;
    bond_graph g = {0};
    for (int32_t k = 0; k < system->pair_sums; k++)
        if (system->pair_sum[k]->families.exclude > 0) {
            if (!g.point)
                TAUT_TRY(make_graph(model, &g));
            TAUT_TRY(join(model, &g, &system->pair_sum[k]->families));
        }
    return 0;
}
