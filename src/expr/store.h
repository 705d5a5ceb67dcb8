/* store.h - how a graph is kept; for the files that build and sweep graphs (graph.c, simplify.c,
 * derive.c). */
#ifndef TAUT_EXPR_STORE_H
#define TAUT_EXPR_STORE_H

#include "expr/graph.h"

/* Work arrays of derivative sweeps, indexed by node; they grow with the graph and are kept, so
 * that a sweep costs what is below its root and not the size of the graph. */
typedef struct taut_sweep {
    int64_t capacity;
    int32_t *order;  /* the nodes below the root, operands first */
    int32_t *stack;  /* of the search that finds them */
    int32_t *value;  /* adjoint or tangent of a node; -1 for none */
    uint32_t *stamp; /* == epoch: below the root; this is how arrays are "cleared" */
    uint32_t epoch;
    int32_t count;  /* of order */
    int64_t effort; /* nodes listed so far */
} taut_sweep;

struct taut_graph {
    taut_arena arena;
    taut_node *node;
    int64_t capacity;
    int32_t size, limit;
    int32_t *table; /* open addressing: node + 1, 0 when empty */
    int64_t slots;  /* of the table, a power of two */
    int status;     /* sticky */
    taut_sweep sweep;
};

/* The node equal to `node`, added when there is none; -1 on failure. No simplification. */
int32_t taut_graph_intern(taut_graph *graph, taut_node node);
/* The same without adding: -1 when there is none. */
int32_t taut_graph_find(const taut_graph *graph, taut_node node);

#endif
