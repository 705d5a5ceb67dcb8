/* guards.c - a statement with conditions (if, abs, min, floor, ...) as a smooth one whose branches
 * are given.
 *
 * Each condition becomes a *guard*: a function u of time and state, and an input s of the held
 * statement, which takes the place of what depends on u alone:
 *
 *     abs(a)           s a                       u = a          s = 1 or -1
 *     sign(a)          s                         u = a          s = 1 or -1
 *     a < b, a <= b    s                         u = b - a      s = 1 or 0
 *     min(a, b)        if(s, a, b)               u = b - a      s = 1 or 0
 *     max(a, b)        if(s, a, b)               u = a - b      s = 1 or 0
 *     floor(a)         s                         u = a          s = floor(u)
 *     round(a)         s                         u = a + 1/2    s = floor(u)
 *     mod(a, b)        a - b s                   u = a/b        s = floor(u)
 *     table[a]         table[a]                  u = a - 1, n - a
 *
 * A table of n values is its own continuation, a line; its ends are guards so that steps do not
 * pass over the whole of it. a == b and a != b are no guards: they differ from their neighbourhood
 * at single points, which have no duration, and are evaluated as they are met.
 * Derivatives, jets and compiled code of the held statement are those of the branch, continued
 * beyond the guard. Guards inside guards are held too, so that u is smooth. */
#include "expr/curve.h"
#include "system/kernel/kernel.h"

#include <string.h>

typedef struct holder {
    taut_graph *graph;
    int32_t *replaced; /* by node of the original: its held form */
    int32_t slots;     /* before those of the branches */
    int32_t count;
    taut_guard *guard;
    int32_t *u;
} holder;

static int32_t binary(holder *h, taut_op op, int32_t a, int32_t b)
{
    return taut_graph_binary(h->graph, op, a, b);
}

/* The guard of u; conditions with the same u share it. */
static int32_t guard_of(holder *h, taut_op op, taut_guard_kind kind, int32_t u)
{
    int32_t k = 0;
    while (k < h->count && (h->u[k] != u || h->guard[k].kind != kind))
        k++;
    if (k == h->count) {
        h->guard[h->count] = (taut_guard){.op = op, .kind = kind};
        h->u[h->count++] = u;
    }
    if (op != TAUT_OP_CURVE)
        h->guard[k].op = op;
    return k;
}

/* The input that has its branch. */
static int32_t branch(holder *h, taut_op op, taut_guard_kind kind, int32_t u)
{
    return taut_graph_input(h->graph, h->slots + guard_of(h, op, kind, u));
}

/* Conditions of constants and parameters stay as they are: their branch is for the whole run. */
static int32_t hold(holder *h, const taut_node *node, int32_t a, int32_t b)
{
    taut_op op = node->op;
    int32_t s;
    switch (op) {
    case TAUT_OP_ABS: return binary(h, TAUT_OP_MUL, branch(h, op, TAUT_GUARD_SIGN, a), a);
    case TAUT_OP_SIGN: return branch(h, op, TAUT_GUARD_SIGN, a);
    case TAUT_OP_FLOOR: return branch(h, op, TAUT_GUARD_CELL, a);
    case TAUT_OP_ROUND:
        return branch(h, op, TAUT_GUARD_CELL,
                      binary(h, TAUT_OP_ADD, a, taut_graph_constant(h->graph, 0.5)));
    case TAUT_OP_MOD:
        s = branch(h, op, TAUT_GUARD_CELL, binary(h, TAUT_OP_DIV, a, b));
        return binary(h, TAUT_OP_SUB, a, binary(h, TAUT_OP_MUL, b, s));
    case TAUT_OP_MIN:
    case TAUT_OP_MAX:
        s = branch(h, op, TAUT_GUARD_SIDE,
                   op == TAUT_OP_MIN ? binary(h, TAUT_OP_SUB, b, a) : binary(h, TAUT_OP_SUB, a, b));
        return taut_graph_select(h->graph, s, a, b);
    default: return branch(h, op, TAUT_GUARD_SIDE, binary(h, TAUT_OP_SUB, b, a)); /* <, <= */
    }
}

static bool is_condition(taut_op op)
{
    return op == TAUT_OP_ABS || op == TAUT_OP_SIGN || op == TAUT_OP_FLOOR || op == TAUT_OP_ROUND ||
           op == TAUT_OP_MOD || op == TAUT_OP_MIN || op == TAUT_OP_MAX || op == TAUT_OP_LT ||
           op == TAUT_OP_LE;
}

/* The ends of a table; two values, a line, have none. */
static void add_ends(holder *h, const taut_curve *curve, int32_t a)
{
    if (curve->count < 3)
        return;
    int32_t end[2] = {binary(h, TAUT_OP_SUB, a, taut_graph_constant(h->graph, 1)),
                      binary(h, TAUT_OP_SUB, taut_graph_constant(h->graph, curve->count), a)};
    for (int j = 0; j < 2; j++) {
        double *length = &h->guard[guard_of(h, TAUT_OP_CURVE, TAUT_GUARD_SIDE, end[j])].length;
        *length = *length > 0 && *length < curve->count - 1 ? *length : curve->count - 1;
    }
}

static int32_t rebuild(holder *h, const taut_node *node, const int32_t *operand, bool varies)
{
    if (node->op == TAUT_OP_CURVE && varies)
        add_ends(h, node->curve, operand[0]);
    if (node->op == TAUT_OP_CURVE)
        return taut_graph_curve(h->graph, node->curve, node->b, operand[0]);
    switch (taut_op_table[node->op].arity) {
    case 1: return taut_graph_unary(h->graph, node->op, operand[0]);
    case 2: return binary(h, node->op, operand[0], operand[1]);
    default: return taut_graph_select(h->graph, operand[0], operand[1], operand[2]);
    }
}

/* Does a node depend on the state or on time? In varies[], by node; operands come first. */
static void find_varying(const taut_graph *graph, int32_t size, const taut_slot *slot,
                         int32_t slots, unsigned char *varies)
{
    for (int32_t k = 0; k < size; k++) {
        const taut_node *node = taut_graph_node(graph, k);
        const int32_t operand[3] = {node->a, node->b, node->c};
        if (node->op == TAUT_OP_INPUT && node->a < slots) {
            taut_slot_source from = slot[node->a].source;
            varies[k] = from == TAUT_FROM_Q || from == TAUT_FROM_V || from == TAUT_FROM_TIME ||
                        from == TAUT_FROM_LAMBDA;
        }
        for (int j = 0; j < taut_op_table[node->op].arity; j++)
            varies[k] = varies[k] || varies[operand[j]];
    }
}

/* The held form of everything below the root. */
static int hold_all(holder *h, const taut_statement_kernel_plan *plan, taut_arena *arena,
                    taut_error *error)
{
    int32_t size = plan->root + 1;
    unsigned char *flag = TAUT_NEW(arena, unsigned char, size),
                  *varies = TAUT_NEW(arena, unsigned char, size);
    h->replaced = TAUT_NEW(arena, int32_t, size);
    h->guard = TAUT_NEW(arena, taut_guard, 2 * (int64_t)size);
    h->u = TAUT_NEW(arena, int32_t, 2 * (int64_t)size);
    TAUT_NEED(error, flag, varies, h->replaced, h->guard, h->u);
    taut_graph_mark(h->graph, &plan->root, 1, flag);
    find_varying(h->graph, size, plan->slot, h->slots, varies);
    for (int32_t k = 0; k < size; k++) {
        taut_node node = *taut_graph_node(h->graph, k); /* the graph grows */
        int arity = taut_op_table[node.op].arity;
        h->replaced[k] = k;
        if (!flag[k] || arity == 0)
            continue;
        int32_t operand[3] = {h->replaced[node.a], arity > 1 ? h->replaced[node.b] : -1,
                              arity > 2 ? h->replaced[node.c] : -1};
        h->replaced[k] = is_condition(node.op) && varies[k] ? hold(h, &node, operand[0], operand[1])
                                                            : rebuild(h, &node, operand, varies[k]);
    }
    return taut_graph_status(h->graph, error);
}

/* Slots of the branches, behind those of the statement. */
static int add_branches(const taut_statement_kernel_plan *plan, const holder *h, int64_t first,
                        taut_arena *arena, taut_slot *slot, taut_error *error)
{
    memcpy(slot, plan->slot, (size_t)h->slots * sizeof *slot);
    for (int32_t k = 0; k < h->count; k++) {
        int64_t begin = first + k * plan->members;
        taut_index *gather = NULL;
        if (begin + plan->members > INT32_MAX)
            return taut_fail(error, TAUT_ERROR_SIZE, "the model has more conditions than %d",
                             INT32_MAX);
        if (plan->members > 1) {
            TAUT_NEED(error, gather = TAUT_NEW(arena, taut_index, plan->members));
            for (int64_t m = 0; m < plan->members; m++)
                gather[m] = (taut_index)(begin + m);
        }
        slot[h->slots + k] =
            (taut_slot){.source = TAUT_FROM_BRANCH, .one = (taut_index)begin, .gather = gather};
    }
    return 0;
}

/* What each u depends on. */
static int describe(holder *h, const taut_statement_kernel_plan *plan, taut_error *error)
{
    for (int32_t k = 0; k < h->count; k++) {
        const int32_t *slot;
        int32_t time = plan->time_slot, one = taut_graph_constant(h->graph, 1), rate = -1;
        if (time >= 0)
            rate = taut_graph_derivative(h->graph, h->u[k], 1, &time, &one);
        int32_t used = taut_graph_inputs(h->graph, h->u[k], &slot);
        for (int32_t j = 0; j < used; j++)
            h->guard[k].of_state =
                h->guard[k].of_state ||
                (slot[j] < h->slots && plan->slot[slot[j]].source != TAUT_FROM_PARAMETER &&
                 plan->slot[slot[j]].source != TAUT_FROM_DATA && slot[j] != time);
        used = rate >= 0 ? taut_graph_inputs(h->graph, rate, &slot) : 0;
        for (int32_t j = 0; j < used; j++)
            h->guard[k].curved = h->guard[k].curved || slot[j] == time;
    }
    return taut_graph_status(h->graph, error);
}

static int make(const taut_statement_kernel_plan *plan, holder *h, taut_arena *scratch,
                taut_arena *arena, taut_statement_kernel *kernel, taut_error *error)
{
    TAUT_TRY(hold_all(h, plan, scratch, error));
    if (h->count == 0)
        return 0;
    int32_t slots = h->slots + h->count;
    taut_guards *guards = kernel->guards = TAUT_NEW(arena, taut_guards, 1);
    taut_slot *slot[2] = {TAUT_NEW(scratch, taut_slot, 3 * slots + 1),
                          TAUT_NEW(scratch, taut_slot, 3 * slots + 1)};
    TAUT_NEED(error, guards, slot[0], slot[1]);
    TAUT_NEED(error, guards->guard = TAUT_NEW(arena, taut_guard, h->count));
    guards->count = h->count;
    guards->first = *plan->branches;
    TAUT_TRY(describe(h, plan, error));
    memcpy(guards->guard, h->guard, (size_t)h->count * sizeof *h->guard);
    TAUT_TRY(add_branches(plan, h, guards->first, arena, slot[0], error));
    memcpy(slot[1], slot[0], (size_t)slots * sizeof *slot[0]);
    taut_statement_kernel_plan held = *plan, values = *plan;
    held.slots = values.slots = slots;
    held.slot = slot[0];
    values.slot = slot[1];
    held.branches = values.branches = NULL;
    held.held = true;
    held.root = h->replaced[plan->root];
    held.also = &plan->root; /* the same coordinates in the same order */
    held.also_count = 1;
    values.role = TAUT_ROLE_GUARD;
    values.root = h->u[0];
    values.also = h->u;
    values.also_count = h->count;
    TAUT_TRY(taut_statement_kernel_create(&held, arena, &guards->held, error));
    TAUT_TRY(taut_statement_kernel_create(&values, arena, &guards->values, error));
    *plan->branches += h->count * plan->members;
    return 0;
}

int taut_guards_create(const taut_statement_kernel_plan *plan, int32_t slots, taut_arena *arena,
                       taut_statement_kernel *kernel, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    holder h = {.graph = plan->graph, .slots = slots};
    int status = make(plan, &h, &scratch, arena, kernel, error);
    taut_arena_clear(&scratch);
    return status;
}
