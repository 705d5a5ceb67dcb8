/* graph.h - expressions as a graph with shared subexpressions (hash-consing): equal expressions
 * are one node.
 *
 * Nodes are numbered in an order in which operands come before their users. Inputs are slots;
 * what a slot means (a coordinate, a parameter, time) is the caller's business. Building never
 * fails half-way: when memory or the node limit runs out every further call returns -1,
 * operations on -1 give -1, and taut_graph_status gives the reason, so that builders check once at
 * the end. Constants fold; x+0, x*1, x*0, x/1, x^1, x^0, x-x, -(-x), root(x)*root(x) and the like
 * simplify; x^2 becomes x*x, x^n (integer n, |n| <= 16) products, x^0.5 sqrt, x^-n a reciprocal. */
#ifndef TAUT_EXPR_GRAPH_H
#define TAUT_EXPR_GRAPH_H

#include "base/memory.h"

typedef enum taut_op {
    TAUT_OP_CONSTANT, /* value */
    TAUT_OP_INPUT,    /* slot */
    /* one operand */
    TAUT_OP_NEG,
    TAUT_OP_SQRT,
    TAUT_OP_ROOT, /* sqrt whose derivative at 0 is 0: what length() is made of */
    TAUT_OP_EXP,
    TAUT_OP_LOG,
    TAUT_OP_SIN,
    TAUT_OP_COS,
    TAUT_OP_TAN,
    TAUT_OP_ASIN,
    TAUT_OP_ACOS,
    TAUT_OP_ATAN,
    TAUT_OP_SINH,
    TAUT_OP_COSH,
    TAUT_OP_TANH,
    TAUT_OP_ABS,
    TAUT_OP_SIGN,
    TAUT_OP_FLOOR,
    TAUT_OP_ROUND,
    TAUT_OP_CURVE, /* a smooth curve through table values (curve.h), or one of its derivatives */
    /* two operands */
    TAUT_OP_ADD,
    TAUT_OP_SUB,
    TAUT_OP_MUL,
    TAUT_OP_DIV,
    TAUT_OP_DIVZ, /* a/b, and 0 where b == 0: derivatives of ROOT */
    TAUT_OP_POW,
    TAUT_OP_ATAN2,
    TAUT_OP_HYPOT,
    TAUT_OP_MIN,
    TAUT_OP_MAX,
    TAUT_OP_MOD, /* mod(a,b) = a - b floor(a/b) */
    TAUT_OP_LT,
    TAUT_OP_LE,
    TAUT_OP_EQ,
    TAUT_OP_NE,
    TAUT_OP_AND,
    TAUT_OP_OR, /* 1 or 0; a > b is b < a */
    /* three operands */
    TAUT_OP_SELECT, /* a != 0 ? b : c */
    TAUT_OP_COUNT
} taut_op;

/* One row per operation: name (as in model files, or as printed), number of operands, whether it
 * has a kink or jump. */
typedef struct taut_op_info {
    const char *name;
    int arity;
    bool kink;
} taut_op_info;
extern const taut_op_info taut_op_table[TAUT_OP_COUNT];

/* The operation of a function of numbers in model files, such as sin or max; false: none. */
bool taut_op_find(const char *name, taut_op *op);

struct taut_curve;

typedef struct taut_node {
    taut_op op;
    int32_t a, b, c;                /* operands, or the slot of an input in a; -1 when unused */
    double value;                   /* of a constant */
    const struct taut_curve *curve; /* of TAUT_OP_CURVE, with its derivative order in b */
} taut_node;

typedef struct taut_graph taut_graph;

/* NULL when out of memory */
taut_graph *taut_graph_create(const taut_allocator *allocator, int32_t node_limit);
void taut_graph_destroy(taut_graph *graph);
/* 0, TAUT_ERROR_MEMORY or TAUT_ERROR_SIZE */
int taut_graph_status(const taut_graph *graph, taut_error *error);
int32_t taut_graph_size(const taut_graph *graph);
const taut_node *taut_graph_node(const taut_graph *graph, int32_t node);

int32_t taut_graph_constant(taut_graph *graph, double value);
int32_t taut_graph_input(taut_graph *graph, int32_t slot);
int32_t taut_graph_unary(taut_graph *graph, taut_op op, int32_t a);
int32_t taut_graph_binary(taut_graph *graph, taut_op op, int32_t a, int32_t b);
int32_t taut_graph_select(taut_graph *graph, int32_t condition, int32_t a, int32_t b);
int32_t taut_graph_curve(taut_graph *graph, const struct taut_curve *curve, int derivative,
                         int32_t a);
/* True, with the value, when the node is a constant. */
bool taut_graph_is_constant(const taut_graph *graph, int32_t node, double *value);

/* The input slots below a root, each once; the list is the graph's and lasts until its next use.
 * -1 when the graph has failed. */
int32_t taut_graph_inputs(taut_graph *graph, int32_t root, const int32_t **slot);
/* Nodes that all sweeps over the graph have visited so far: what derivatives cost. */
int64_t taut_graph_effort(const taut_graph *graph);

/* Marks in flag[size] (caller's, zeroed) every node below the roots. */
void taut_graph_mark(const taut_graph *graph, const int32_t *roots, int count, unsigned char *flag);

/* Gradient of root with respect to input slots, by one reverse sweep: gradient[k] is the node of
 * d root / d slot[k]. */
int taut_graph_gradient(taut_graph *graph, int32_t root, int count, const int32_t *slot,
                        int32_t *gradient, taut_error *error);
/* Directional derivative: sum_k (d root / d slot[k]) seed[k], seeds being nodes (forward sweep). */
int32_t taut_graph_derivative(taut_graph *graph, int32_t root, int count, const int32_t *slot,
                              const int32_t *seed);
/* The same of many roots, by one sweep; -1 when the graph has failed. */
void taut_graph_derivatives(taut_graph *graph, int roots, const int32_t *root, int count,
                            const int32_t *slot, const int32_t *seed, int32_t *derivative);

#endif
