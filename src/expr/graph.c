/* graph.c - storage of expression graphs: hash-consing by open addressing with linear probing,
 * kept at most half full. */
#include "expr/store.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

taut_graph *taut_graph_create(const taut_allocator *allocator, int32_t node_limit)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_graph *graph = TAUT_NEW(&arena, taut_graph, 1);
    int32_t *table = TAUT_NEW(&arena, int32_t, FIRST_SLOTS);
    if (!graph || !table) {
        taut_arena_clear(&arena);
        return NULL;
    }
    graph->table = table;
    graph->slots = FIRST_SLOTS;
    graph->limit = node_limit;
    graph->arena = arena;
    return graph;
}

void taut_graph_destroy(taut_graph *graph)
{
    if (!graph)
        return;
    taut_arena arena = graph->arena; /* the graph itself lives in it */
    taut_arena_clear(&arena);
}

int taut_graph_status(const taut_graph *graph, taut_error *error)
{
    if (graph->status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    if (graph->status == TAUT_ERROR_SIZE)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "the expressions are too large: they need more than %d operations; use "
                         "families (for i in ...) and sums instead of writing every member out",
                         (int)graph->limit);
    return 0;
}

int32_t taut_graph_size(const taut_graph *graph)
{
    return graph->size;
}

const taut_node *taut_graph_node(const taut_graph *graph, int32_t node)
{
    assert(node >= 0 && node < graph->size);
    return &graph->node[node];
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint64_t value_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t node_hash(const taut_node *node)
{
    uint64_t h = mix((uint64_t)node->op, (uint32_t)node->a);
    h = mix(h, (uint64_t)(uint32_t)node->b << 32 | (uint32_t)node->c);
    h = mix(h, value_bits(node->value));
    return mix(h, (uint64_t)(uintptr_t)node->curve);
}

static bool same_node(const taut_node *x, const taut_node *y)
{
    return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c &&
           value_bits(x->value) == value_bits(y->value) && x->curve == y->curve;
}

/* The slot that holds an equal node, or the empty one where it belongs. */
static int64_t find_slot(const taut_graph *graph, const taut_node *node)
{
    int64_t mask = graph->slots - 1;
    int64_t slot = (int64_t)(node_hash(node) & (uint64_t)mask);
    while (graph->table[slot] && !same_node(&graph->node[graph->table[slot] - 1], node))
        slot = (slot + 1) & mask;
    return slot;
}

static int fail_sticky(taut_graph *graph, int status)
{
    graph->status = status;
    return status;
}

static int grow_table(taut_graph *graph)
{
    int32_t *table = TAUT_NEW(&graph->arena, int32_t, graph->slots * 2);
    if (!table)
        return fail_sticky(graph, TAUT_ERROR_MEMORY);
    graph->table = table;
    graph->slots *= 2;
    for (int32_t k = 0; k < graph->size; k++)
        graph->table[find_slot(graph, &graph->node[k])] = k + 1;
    return 0;
}

int32_t taut_graph_find(const taut_graph *graph, taut_node node)
{
    return graph->table[find_slot(graph, &node)] - 1;
}

int32_t taut_graph_intern(taut_graph *graph, taut_node node)
{
    if (graph->status)
        return -1;
    int64_t slot = find_slot(graph, &node);
    if (graph->table[slot])
        return graph->table[slot] - 1;
    if (graph->size >= graph->limit || graph->size == INT32_MAX) {
        fail_sticky(graph, TAUT_ERROR_SIZE);
        return -1;
    }
    if (2 * ((int64_t)graph->size + 1) > graph->slots) {
        if (grow_table(graph))
            return -1;
        slot = find_slot(graph, &node);
    }
    taut_node *nodes =
        taut_arena_grow(&graph->arena, graph->node, graph->size, &graph->capacity, sizeof *nodes);
    if (!nodes) {
        fail_sticky(graph, TAUT_ERROR_MEMORY);
        return -1;
    }
    graph->node = nodes;
    graph->node[graph->size] = node;
    graph->table[slot] = graph->size + 1;
    return graph->size++;
}

int32_t taut_graph_constant(taut_graph *graph, double value)
{
    /* one zero and one NaN, so that equal means same bits */
    if (value == 0.0)
        value = 0.0;
    if (isnan(value))
        value = NAN;
    return taut_graph_intern(
        graph, (taut_node){.op = TAUT_OP_CONSTANT, .a = -1, .b = -1, .c = -1, .value = value});
}

int32_t taut_graph_input(taut_graph *graph, int32_t slot)
{
    assert(slot >= 0);
    return taut_graph_intern(graph, (taut_node){.op = TAUT_OP_INPUT, .a = slot, .b = -1, .c = -1});
}

bool taut_graph_is_constant(const taut_graph *graph, int32_t node, double *value)
{
    if (node < 0 || graph->node[node].op != TAUT_OP_CONSTANT)
        return false;
    if (value)
        *value = graph->node[node].value;
    return true;
}

void taut_graph_mark(const taut_graph *graph, const int32_t *roots, int count, unsigned char *flag)
{
    int32_t top = -1;
    for (int k = 0; k < count; k++)
        if (roots[k] >= 0) {
            flag[roots[k]] = 1;
            top = roots[k] > top ? roots[k] : top;
        }
    /* operands have smaller numbers than their users, so one pass downwards is enough */
    for (int32_t k = top; k >= 0; k--) {
        const taut_node *node = &graph->node[k];
        int arity = flag[k] ? taut_op_table[node->op].arity : 0;
        if (arity > 0)
            flag[node->a] = 1;
        if (arity > 1)
            flag[node->b] = 1;
        if (arity > 2)
            flag[node->c] = 1;
    }
}
