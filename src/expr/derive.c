/* derive.c - exact derivatives as new nodes of the same graph.
 *
 *     reverse: adjoint(operand) += adjoint(node) * d node/d operand, root first
 *     (one sweep for a whole gradient)
 *     forward: tangent(node) = sum of d node/d operand * tangent(operand)
 *     (one sweep for one direction)
 *
 * [Griewank, Walther 2008, Evaluating Derivatives, sections 3.1 and 3.2.] Both sweeps visit what
 * lies below the root, in an order found without recursion, and share the table of partial
 * derivatives below. Only operands that depend on the slots are visited, so that for example
 * log(x) does not appear in the derivative of x^n.
 *
 * Branches (if, min, max) need care in the reverse sweep: 0 * infinity from the branch not taken
 * would be NaN. The adjoint of a branch is kept as if(mask, value, 0), and products move inside
 * the mask: if(mask, value * partial, 0). */
#include "expr/store.h"

#include <string.h>

/* ---- short names for building */

static int32_t number(taut_graph *graph, double value)
{
    return taut_graph_constant(graph, value);
}

static int32_t times(taut_graph *graph, int32_t a, int32_t b)
{
    return taut_graph_binary(graph, TAUT_OP_MUL, a, b);
}

static int32_t plus(taut_graph *graph, int32_t a, int32_t b)
{
    return taut_graph_binary(graph, TAUT_OP_ADD, a, b);
}

static int32_t minus(taut_graph *graph, int32_t a, int32_t b)
{
    return taut_graph_binary(graph, TAUT_OP_SUB, a, b);
}

static int32_t negative(taut_graph *graph, int32_t a)
{
    return taut_graph_unary(graph, TAUT_OP_NEG, a);
}

static int32_t square(taut_graph *graph, int32_t a)
{
    return times(graph, a, a);
}

/* 1/a, shared by all that divide by a: products are cheaper than divisions. */
static int32_t inverse(taut_graph *graph, int32_t a)
{
    return taut_graph_binary(graph, TAUT_OP_DIV, number(graph, 1.0), a);
}

/* The same, 0 at 0. */
static int32_t inverse_or_zero(taut_graph *graph, int32_t a)
{
    return taut_graph_binary(graph, TAUT_OP_DIVZ, number(graph, 1.0), a);
}

/* sqrt(1 - a^2), without the cancellation near a = 1 that 1 - a*a has. */
static int32_t other_leg(taut_graph *graph, int32_t a)
{
    int32_t one = number(graph, 1.0);
    return taut_graph_unary(graph, TAUT_OP_SQRT,
                            times(graph, minus(graph, one, a), plus(graph, one, a)));
}

/* ---- partial derivatives */

static int32_t partial_of_unary(taut_graph *graph, const taut_node *node, int32_t self)
{
    int32_t a = node->a, one = number(graph, 1.0);
    switch (node->op) {
    case TAUT_OP_NEG: return number(graph, -1.0);
    case TAUT_OP_SQRT: return times(graph, number(graph, 0.5), inverse(graph, self));
    case TAUT_OP_ROOT: return times(graph, number(graph, 0.5), inverse_or_zero(graph, self));
    case TAUT_OP_EXP: return self;
    case TAUT_OP_LOG: return inverse(graph, a);
    case TAUT_OP_SIN: return taut_graph_unary(graph, TAUT_OP_COS, a);
    case TAUT_OP_COS: return negative(graph, taut_graph_unary(graph, TAUT_OP_SIN, a));
    case TAUT_OP_TAN: return plus(graph, one, square(graph, self));
    case TAUT_OP_ASIN: return inverse(graph, other_leg(graph, a));
    case TAUT_OP_ACOS: return negative(graph, inverse(graph, other_leg(graph, a)));
    case TAUT_OP_ATAN: return inverse(graph, plus(graph, one, square(graph, a)));
    case TAUT_OP_SINH: return taut_graph_unary(graph, TAUT_OP_COSH, a);
    case TAUT_OP_COSH: return taut_graph_unary(graph, TAUT_OP_SINH, a);
    case TAUT_OP_TANH: return minus(graph, one, square(graph, self));
    case TAUT_OP_ABS: return taut_graph_unary(graph, TAUT_OP_SIGN, a);
    case TAUT_OP_CURVE: return taut_graph_curve(graph, node->curve, node->b + 1, a);
    default: return number(graph, 0.0); /* sign, floor, round: constant between their jumps */
    }
}

/* a^b. At a = 0 the derivative in a is finite for every b >= 1 and 0 for b = 0, also where b is
 * a parameter (whose 0 would meet the infinity of a^-1); that in b is 0. */
static int32_t partial_of_power(taut_graph *graph, const taut_node *node, int32_t self, int which)
{
    int32_t zero = number(graph, 0.0);
    int32_t at_zero = taut_graph_binary(graph, TAUT_OP_EQ, node->a, zero);
    if (which == 0) {
        int32_t lower = taut_graph_binary(graph, TAUT_OP_POW, node->a,
                                          minus(graph, node->b, number(graph, 1.0)));
        int32_t constant = taut_graph_binary(graph, TAUT_OP_AND, at_zero,
                                             taut_graph_binary(graph, TAUT_OP_EQ, node->b, zero));
        return taut_graph_select(graph, constant, zero, times(graph, node->b, lower));
    }
    return taut_graph_select(graph, at_zero, zero,
                             times(graph, self, taut_graph_unary(graph, TAUT_OP_LOG, node->a)));
}

static int32_t partial_of_binary(taut_graph *graph, const taut_node *node, int32_t self, int which)
{
    int32_t a = node->a, b = node->b;
    switch (node->op) {
    case TAUT_OP_ADD: return number(graph, 1.0);
    case TAUT_OP_SUB: return number(graph, which ? -1.0 : 1.0);
    case TAUT_OP_MUL: return which ? a : b;
    case TAUT_OP_DIV:
        return which ? negative(graph, times(graph, self, inverse(graph, b))) : inverse(graph, b);
    case TAUT_OP_DIVZ:
        return which ? negative(graph, times(graph, self, inverse_or_zero(graph, b)))
                     : inverse_or_zero(graph, b);
    case TAUT_OP_POW: return partial_of_power(graph, node, self, which);
    case TAUT_OP_ATAN2: {
        int32_t scale = inverse(graph, plus(graph, square(graph, a), square(graph, b)));
        return which ? negative(graph, times(graph, a, scale)) : times(graph, b, scale);
    }
    case TAUT_OP_HYPOT: return times(graph, which ? b : a, inverse_or_zero(graph, self));
    case TAUT_OP_MOD:
        return which
                   ? negative(graph, taut_graph_unary(graph, TAUT_OP_FLOOR,
                                                      taut_graph_binary(graph, TAUT_OP_DIV, a, b)))
                   : number(graph, 1.0);
    default: return number(graph, 0.0); /* comparisons and logic */
    }
}

static int32_t partial(taut_graph *graph, const taut_node *node, int32_t self, int which)
{
    return taut_op_table[node->op].arity == 1 ? partial_of_unary(graph, node, self)
                                              : partial_of_binary(graph, node, self, which);
}

/* if, min and max as one form: where `mask` holds the node equals operand `yes`, else operand
 * `no`. */
typedef struct branch {
    int32_t mask, yes, no;
} branch;

static bool is_branch(taut_op op)
{
    return op == TAUT_OP_SELECT || op == TAUT_OP_MIN || op == TAUT_OP_MAX;
}

static branch branch_of(taut_graph *graph, const taut_node *node)
{
    if (node->op == TAUT_OP_SELECT)
        return (branch){node->a, node->b, node->c};
    if (node->op == TAUT_OP_MIN)
        return (branch){taut_graph_binary(graph, TAUT_OP_LT, node->a, node->b), node->a, node->b};
    return (branch){taut_graph_binary(graph, TAUT_OP_LT, node->b, node->a), node->a, node->b};
}

/* ---- masked adjoints */

static bool is_zero(const taut_graph *graph, int32_t node)
{
    double value;
    return taut_graph_is_constant(graph, node, &value) && value == 0.0;
}

static bool is_masked(const taut_graph *graph, int32_t node)
{
    return node >= 0 && graph->node[node].op == TAUT_OP_SELECT &&
           is_zero(graph, graph->node[node].c);
}

static int32_t complement(taut_graph *graph, int32_t mask)
{
    if (mask < 0)
        return -1;
    taut_node node = graph->node[mask];
    switch (node.op) {
    case TAUT_OP_LT: return taut_graph_binary(graph, TAUT_OP_LE, node.b, node.a);
    case TAUT_OP_LE: return taut_graph_binary(graph, TAUT_OP_LT, node.b, node.a);
    case TAUT_OP_EQ: return taut_graph_binary(graph, TAUT_OP_NE, node.a, node.b);
    case TAUT_OP_NE: return taut_graph_binary(graph, TAUT_OP_EQ, node.a, node.b);
    default: return taut_graph_binary(graph, TAUT_OP_EQ, mask, number(graph, 0.0));
    }
}

/* if(mask, adjoint, 0), never nested: masks of masks are joined, which keeps deep chains of
 * branches linear. */
static int32_t masked(taut_graph *graph, int32_t mask, int32_t adjoint)
{
    if (is_masked(graph, adjoint)) {
        taut_node node = graph->node[adjoint];
        mask = taut_graph_binary(graph, TAUT_OP_AND, mask, node.a);
        adjoint = node.b;
    }
    return taut_graph_select(graph, mask, adjoint, number(graph, 0.0));
}

static int32_t scaled_adjoint(taut_graph *graph, int32_t adjoint, int32_t factor)
{
    if (!is_masked(graph, adjoint))
        return times(graph, adjoint, factor);
    taut_node node = graph->node[adjoint];
    return taut_graph_select(graph, node.a, times(graph, node.b, factor), node.c);
}

static int32_t added_adjoint(taut_graph *graph, int32_t x, int32_t y)
{
    if (!is_masked(graph, x) || !is_masked(graph, y))
        return plus(graph, x, y);
    taut_node p = graph->node[x], q = graph->node[y];
    if (p.a == q.a)
        return taut_graph_select(graph, p.a, plus(graph, p.b, q.b), p.c);
    if (complement(graph, p.a) == q.a || complement(graph, q.a) == p.a)
        return taut_graph_select(graph, p.a, p.b, q.b);
    return taut_graph_select(graph, taut_graph_binary(graph, TAUT_OP_OR, p.a, q.a),
                             plus(graph, x, y), p.c);
}

/* ---- sweeps */

static int32_t operand(const taut_node *node, int which)
{
    return which == 0 ? node->a : which == 1 ? node->b : node->c;
}

static int sweep_reserve(taut_graph *graph)
{
    taut_sweep *sweep = &graph->sweep;
    if (sweep->capacity < graph->size) {
        taut_arena *arena = &graph->arena;
        sweep->order = TAUT_NEW(arena, int32_t, graph->capacity);
        sweep->stack = TAUT_NEW(arena, int32_t, graph->capacity);
        sweep->value = TAUT_NEW(arena, int32_t, graph->capacity);
        sweep->stamp = TAUT_NEW(arena, uint32_t, graph->capacity);
        sweep->epoch = 0;
        sweep->capacity = 0;
        if (!sweep->order || !sweep->stack || !sweep->value || !sweep->stamp)
            return graph->status = TAUT_ERROR_MEMORY;
        sweep->capacity = graph->capacity;
    }
    if (++sweep->epoch == 0) { /* after 2^32 sweeps */
        memset(sweep->stamp, 0, (size_t)sweep->capacity * sizeof *sweep->stamp);
        sweep->epoch = 1;
    }
    return 0;
}

static void sweep_visit(taut_graph *graph, int32_t node)
{
    taut_sweep *sweep = &graph->sweep;
    sweep->stamp[node] = sweep->epoch;
    sweep->value[node] = -1;
}

/* Adds the nodes below a root that are not listed yet. */
static void sweep_root(taut_graph *graph, int32_t root)
{
    taut_sweep *sweep = &graph->sweep;
    int32_t depth = 0;
    if (sweep->stamp[root] == sweep->epoch)
        return;
    sweep->stack[depth++] = root;
    sweep_visit(graph, root);
    while (depth > 0) {
        int32_t top = sweep->stack[depth - 1], next = -1;
        const taut_node *node = &graph->node[top];
        for (int k = 0; k < taut_op_table[node->op].arity && next < 0; k++)
            if (sweep->stamp[operand(node, k)] != sweep->epoch)
                next = operand(node, k);
        if (next >= 0) {
            sweep_visit(graph, next);
            sweep->stack[depth++] = next;
        } else {
            sweep->order[sweep->count++] = top;
            depth--;
        }
    }
}

/* Lists the nodes below the roots, operands first (depth first, with a stack of our own: graphs
 * may be 1e5 deep). */
static int sweep_begin(taut_graph *graph, int roots, const int32_t *root)
{
    if (graph->status)
        return graph->status;
    TAUT_TRY(sweep_reserve(graph));
    graph->sweep.count = 0;
    for (int k = 0; k < roots; k++)
        sweep_root(graph, root[k]);
    graph->sweep.effort += graph->sweep.count;
    return 0;
}

int32_t taut_graph_inputs(taut_graph *graph, int32_t root, const int32_t **slot)
{
    if (root < 0 || sweep_begin(graph, 1, &root))
        return -1;
    int32_t *list = graph->sweep.stack, count = 0; /* the search is over: its stack is free */
    for (int32_t j = 0; j < graph->sweep.count; j++) {
        const taut_node *node = &graph->node[graph->sweep.order[j]];
        if (node->op == TAUT_OP_INPUT)
            list[count++] = node->a;
    }
    *slot = list;
    return count;
}

int64_t taut_graph_effort(const taut_graph *graph)
{
    return graph->sweep.effort;
}

/* The input node of a slot if it is below the root of the present sweep, else -1. */
static int32_t swept_input(const taut_graph *graph, int32_t slot)
{
    int32_t node =
        taut_graph_find(graph, (taut_node){.op = TAUT_OP_INPUT, .a = slot, .b = -1, .c = -1});
    bool below =
        node >= 0 && node < graph->sweep.capacity && graph->sweep.stamp[node] == graph->sweep.epoch;
    return below ? node : -1;
}

static void add_to_operand(taut_graph *graph, int32_t to, int32_t contribution)
{
    int32_t *value = &graph->sweep.value[to];
    *value = is_zero(graph, *value) ? contribution : added_adjoint(graph, *value, contribution);
}

/* Hands the adjoint of one node down to its operands. Values of operands that depend on no slot
 * are -1 and stay so. */
static void push_down(taut_graph *graph, int32_t self)
{
    const int32_t *value = graph->sweep.value;
    taut_node node = graph->node[self]; /* a copy: building moves the nodes */
    if (is_branch(node.op)) {
        branch b = branch_of(graph, &node);
        if (value[b.yes] >= 0)
            add_to_operand(graph, b.yes, masked(graph, b.mask, value[self]));
        if (value[b.no] >= 0)
            add_to_operand(graph, b.no, masked(graph, complement(graph, b.mask), value[self]));
        return;
    }
    int arity = taut_op_table[node.op].arity;
    int32_t first = value[node.a] >= 0
                        ? scaled_adjoint(graph, value[self], partial(graph, &node, self, 0))
                        : -1;
    int32_t second = arity > 1 && value[node.b] >= 0
                         ? scaled_adjoint(graph, value[self], partial(graph, &node, self, 1))
                         : -1;
    if (arity > 1 && node.a == node.b) { /* x*x: 2 A x before it meets other terms */
        add_to_operand(graph, node.a, added_adjoint(graph, first, second));
        return;
    }
    if (value[node.a] >= 0)
        add_to_operand(graph, node.a, first);
    if (arity > 1 && value[node.b] >= 0)
        add_to_operand(graph, node.b, second);
}

int taut_graph_gradient(taut_graph *graph, int32_t root, int count, const int32_t *slot,
                        int32_t *gradient, taut_error *error)
{
    int32_t zero = number(graph, 0.0), one = number(graph, 1.0);
    for (int k = 0; k < count; k++)
        gradient[k] = -1;
    if (root < 0 || sweep_begin(graph, 1, &root))
        return taut_graph_status(graph, error);
    taut_sweep *sweep = &graph->sweep;

    /* what depends on the slots gets the adjoint 0, the root 1 */
    for (int k = 0; k < count; k++)
        if (swept_input(graph, slot[k]) >= 0)
            sweep->value[swept_input(graph, slot[k])] = zero;
    for (int32_t j = 0; j < sweep->count; j++) {
        const taut_node *node = &graph->node[sweep->order[j]];
        for (int k = 0; k < taut_op_table[node->op].arity; k++)
            if (sweep->value[operand(node, k)] >= 0)
                sweep->value[sweep->order[j]] = zero;
    }
    if (sweep->value[root] >= 0)
        sweep->value[root] = one;

    for (int32_t j = sweep->count - 1; j >= 0; j--)
        if (sweep->value[sweep->order[j]] >= 0 && !is_zero(graph, sweep->value[sweep->order[j]]))
            push_down(graph, sweep->order[j]);
    for (int k = 0; k < count; k++) {
        int32_t input = swept_input(graph, slot[k]);
        gradient[k] = input >= 0 ? sweep->value[input] : zero;
    }
    return taut_graph_status(graph, error);
}

static int32_t tangent(taut_graph *graph, int32_t self)
{
    const int32_t *value = graph->sweep.value;
    taut_node node = graph->node[self];
    if (is_branch(node.op)) {
        branch b = branch_of(graph, &node);
        return taut_graph_select(graph, b.mask, value[b.yes], value[b.no]);
    }
    int32_t sum = number(graph, 0.0);
    for (int k = 0; k < taut_op_table[node.op].arity; k++)
        if (!is_zero(graph, value[operand(&node, k)]))
            sum = plus(graph, sum,
                       times(graph, value[operand(&node, k)], partial(graph, &node, self, k)));
    return sum;
}

void taut_graph_derivatives(taut_graph *graph, int roots, const int32_t *root, int count,
                            const int32_t *slot, const int32_t *seed, int32_t *derivative)
{
    int32_t zero = number(graph, 0.0);
    if (sweep_begin(graph, roots, root)) {
        for (int k = 0; k < roots; k++)
            derivative[k] = -1;
        return;
    }
    taut_sweep *sweep = &graph->sweep;
    for (int k = 0; k < count; k++) {
        int32_t input = swept_input(graph, slot[k]);
        if (input >= 0) /* a slot that is named twice moves by both seeds */
            sweep->value[input] =
                sweep->value[input] < 0 ? seed[k] : plus(graph, sweep->value[input], seed[k]);
    }
    for (int32_t j = 0; j < sweep->count; j++) {
        int32_t self = sweep->order[j];
        taut_op op = graph->node[self].op;
        if (op == TAUT_OP_CONSTANT || (op == TAUT_OP_INPUT && sweep->value[self] < 0))
            sweep->value[self] = zero;
        else if (op != TAUT_OP_INPUT)
            sweep->value[self] = tangent(graph, self);
    }
    for (int k = 0; k < roots; k++)
        derivative[k] = graph->status ? -1 : sweep->value[root[k]];
}

int32_t taut_graph_derivative(taut_graph *graph, int32_t root, int count, const int32_t *slot,
                              const int32_t *seed)
{
    int32_t derivative = -1;
    if (root >= 0)
        taut_graph_derivatives(graph, 1, &root, count, slot, seed, &derivative);
    return derivative;
}
