/* order.c - reverse Cuthill-McKee on the graph of the saddle matrix.
 *
 * Coordinates and bonds are the nodes; G connects them, K connects coordinates. The graph of A =
 * G K^-1 G^T is never formed: its edges are the paths bond - coordinate - bond, so a coordinate
 * shared by many bonds costs its entries, not their square. Starting nodes are found as in
 * George, Liu, An implementation of a pseudoperipheral node finder, ACM TOMS 5 (1979), with at
 * most ROUNDS searches. Neighbours are taken by degree; above SORTED of them the band is wide
 * anyway and they are left as they come. */
#include "linalg/order.h"

enum { ROUNDS = 4, SORTED = 64 };

int taut_columns_build(taut_index rows, taut_index columns, const taut_index *start,
                       const taut_index *column, taut_arena *arena, taut_columns *by_column,
                       taut_error *error)
{
    taut_index entries = rows ? start[rows] : 0;
    by_column->start = TAUT_NEW(arena, taut_index, (int64_t)columns + 2);
    by_column->row = TAUT_NEW(arena, taut_index, entries);
    by_column->entry = TAUT_NEW(arena, taut_index, entries);
    TAUT_TRY(taut_arena_check(arena, error));
    /* counts are kept two places up, so that filling leaves start[] in place */
    for (taut_index e = 0; e < entries; e++)
        by_column->start[column[e] + 2]++;
    for (taut_index j = 2; j <= columns + 1; j++)
        by_column->start[j] += by_column->start[j - 1];
    taut_index *next = by_column->start + 1;
    for (taut_index i = 0; i < rows; i++)
        for (taut_index e = start[i]; e < start[i + 1]; e++) {
            taut_index place = next[column[e]]++;
            by_column->row[place] = i;
            by_column->entry[place] = e;
        }
    return 0;
}

typedef struct saddle_graph {
    const taut_saddle_shape *shape;
    taut_columns g, k; /* by columns; k.start is NULL when K is diagonal or symmetric */
    taut_index *mark;  /* number of the search that met a node last; TAKEN when it has its place */
    taut_index *queue; /* nodes in the order of the search */
    taut_index search;
} saddle_graph;

enum { TAKEN = INT32_MAX };

static taut_index degree(const saddle_graph *graph, taut_index node)
{
    const taut_saddle_shape *shape = graph->shape;
    if (node >= shape->n)
        return shape->g_start[node - shape->n + 1] - shape->g_start[node - shape->n];
    taut_index count = shape->m ? graph->g.start[node + 1] - graph->g.start[node] : 0;
    if (shape->k_start)
        count += shape->k_start[node + 1] - shape->k_start[node];
    return count;
}

static taut_index take(saddle_graph *graph, taut_index node, taut_index tail)
{
    if (graph->mark[node] >= graph->search)
        return tail;
    graph->mark[node] = graph->search;
    graph->queue[tail] = node;
    return tail + 1;
}

/* Appends the neighbours not yet met to the queue, those of small degree first. */
static taut_index visit(saddle_graph *graph, taut_index node, taut_index tail)
{
    const taut_saddle_shape *shape = graph->shape;
    const taut_index n = shape->n, first = tail;
    if (node >= n) {
        for (taut_index e = shape->g_start[node - n]; e < shape->g_start[node - n + 1]; e++)
            tail = take(graph, shape->g_column[e], tail);
    } else {
        if (shape->m)
            for (taut_index e = graph->g.start[node]; e < graph->g.start[node + 1]; e++)
                tail = take(graph, n + graph->g.row[e], tail);
        if (shape->k_start)
            for (taut_index e = shape->k_start[node]; e < shape->k_start[node + 1]; e++)
                tail = take(graph, shape->k_column[e], tail);
        if (graph->k.start)
            for (taut_index e = graph->k.start[node]; e < graph->k.start[node + 1]; e++)
                tail = take(graph, graph->k.row[e], tail);
    }
    if (tail - first > SORTED)
        return tail;
    for (taut_index i = first + 1; i < tail; i++) {
        taut_index held = graph->queue[i], size = degree(graph, held), j = i;
        for (; j > first && degree(graph, graph->queue[j - 1]) > size; j--)
            graph->queue[j] = graph->queue[j - 1];
        graph->queue[j] = held;
    }
    return tail;
}

/* Breadth-first search from `root`, queue filled from `head` on. Gives the end of the queue, the
 * depth, the start of the last level. */
static taut_index search(saddle_graph *graph, taut_index root, taut_index head, taut_index *depth,
                         taut_index *last_level)
{
    graph->search++;
    taut_index tail = take(graph, root, head), level_end = tail;
    *depth = 0;
    *last_level = head;
    while (head < tail) {
        tail = visit(graph, graph->queue[head++], tail);
        if (head == level_end && head < tail) {
            ++*depth;
            *last_level = head;
            level_end = tail;
        }
    }
    return tail;
}

/* The queue from `head` on becomes the component of `root`, searched from one of its ends. */
static taut_index search_from_end(saddle_graph *graph, taut_index root, taut_index head)
{
    taut_index depth, last_level;
    taut_index tail = search(graph, root, head, &depth, &last_level);
    for (int round = 0; round < ROUNDS; round++) {
        taut_index end = graph->queue[last_level], previous = depth;
        for (taut_index k = last_level; k < tail; k++)
            if (degree(graph, graph->queue[k]) < degree(graph, end))
                end = graph->queue[k];
        tail = search(graph, end, head, &depth, &last_level);
        if (depth <= previous)
            break;
    }
    return tail;
}

static int order(saddle_graph *graph, taut_arena *arena, taut_index *position, taut_error *error)
{
    const taut_saddle_shape *shape = graph->shape;
    taut_index nodes = shape->n + shape->m, placed = 0;
    graph->mark = TAUT_NEW(arena, taut_index, nodes);
    graph->queue = TAUT_NEW(arena, taut_index, nodes);
    TAUT_TRY(taut_arena_check(arena, error));
    if (shape->k_start && !shape->symmetric)
        TAUT_TRY(taut_columns_build(shape->n, shape->n, shape->k_start, shape->k_column, arena,
                                    &graph->k, error));
    for (taut_index node = 0; node < nodes; node++) {
        if (graph->mark[node] == TAKEN)
            continue;
        taut_index end = search_from_end(graph, node, placed);
        for (; placed < end; placed++)
            graph->mark[graph->queue[placed]] = TAKEN;
        if (graph->search >
            TAKEN - 2 * ROUNDS - 4) /* old marks would compare wrongly: forget them */
            for (graph->search = 0, end = 0; end < nodes; end++)
                graph->mark[end] = graph->mark[end] == TAKEN ? TAKEN : 0;
    }
    for (taut_index k = 0; k < nodes; k++)
        position[graph->queue[k]] = nodes - 1 - k;
    return 0;
}

int taut_order(const taut_saddle_shape *shape, const taut_columns *g,
               const taut_allocator *allocator, taut_index *position, taut_error *error)
{
    saddle_graph graph = {.shape = shape, .g = *g};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int status = order(&graph, &arena, position, error);
    taut_arena_clear(&arena);
    return status;
}
