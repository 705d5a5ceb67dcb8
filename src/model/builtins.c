/* builtins.c - functions of the language: built-in ones from a table, vectors, if, sums that are
 * unrolled, and the user's own.
 *
 * angle(u, v) = atan2(|u x v|, u . v);  dihedral(a, b, c) = atan2(|b| a . (b x c), (a x b) . (b
 * x c)): smooth where arccos is not. */
#include "model/model.h"

#include <math.h>
#include <string.h>

static int32_t add(taut_expand *x, int32_t a, int32_t b)
{
    return taut_graph_binary(x->graph, TAUT_OP_ADD, a, b);
}

static int32_t mul(taut_expand *x, int32_t a, int32_t b)
{
    return taut_graph_binary(x->graph, TAUT_OP_MUL, a, b);
}

static int32_t sub(taut_expand *x, int32_t a, int32_t b)
{
    return taut_graph_binary(x->graph, TAUT_OP_SUB, a, b);
}

static int32_t dot(taut_expand *x, const taut_value *a, const taut_value *b)
{
    int32_t sum = mul(x, a->node[0], b->node[0]);
    for (int k = 1; k < a->n; k++)
        sum = add(x, sum, mul(x, a->node[k], b->node[k]));
    return sum;
}

static int32_t length(taut_expand *x, const taut_value *a)
{
    return taut_graph_unary(x->graph, TAUT_OP_ROOT, dot(x, a, a));
}

/* In two dimensions the cross product is a number. */
static taut_value cross(taut_expand *x, const taut_value *a, const taut_value *b)
{
    if (a->n == 2)
        return (taut_value){
            1, {sub(x, mul(x, a->node[0], b->node[1]), mul(x, a->node[1], b->node[0]))}};
    taut_value c = {.n = 3};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c.node[k] = sub(x, mul(x, a->node[i], b->node[j]), mul(x, a->node[j], b->node[i]));
    }
    return c;
}

static int32_t angle(taut_expand *x, const taut_value *a, const taut_value *b)
{
    taut_value c = cross(x, a, b);
    int32_t size = c.n == 1 ? taut_graph_unary(x->graph, TAUT_OP_ABS, c.node[0]) : length(x, &c);
    return taut_graph_binary(x->graph, TAUT_OP_ATAN2, size, dot(x, a, b));
}

static int32_t dihedral(taut_expand *x, const taut_value *a, const taut_value *b,
                        const taut_value *c)
{
    taut_value ab = cross(x, a, b), bc = cross(x, b, c);
    return taut_graph_binary(x->graph, TAUT_OP_ATAN2, mul(x, length(x, b), dot(x, a, &bc)),
                             dot(x, &ab, &bc));
}

/* ---- vector functions */

enum { LENGTH, DOT, CROSS, ANGLE, DIHEDRAL };
static const struct {
    const char *name;
    int arguments, least, most; /* components */
} vector_functions[] = {{"length", 1, 2, TAUT_VECTOR_LIMIT},
                        {"dot", 2, 2, TAUT_VECTOR_LIMIT},
                        {"cross", 2, 2, 3},
                        {"angle", 2, 2, 3},
                        {"dihedral", 3, 3, 3}};

static int expect_arguments(taut_expand *x, const taut_tree *tree, int count)
{
    if (tree->count == count)
        return 0;
    return taut_expand_fail(x, tree->place, "%s needs %d %s, found %d", tree->name, count,
                            count == 1 ? "argument" : "arguments", tree->count);
}

static int vector_call(taut_expand *x, const taut_tree *tree, taut_binding *scope, int which,
                       taut_value *value)
{
    taut_value a[3];
    TAUT_TRY(expect_arguments(x, tree, vector_functions[which].arguments));
    for (int k = 0; k < tree->count; k++) {
        TAUT_TRY(taut_expand_tree(x, tree->child[k], scope, &a[k]));
        if (a[k].n < vector_functions[which].least || a[k].n > vector_functions[which].most ||
            a[k].n != a[0].n) {
            if (a[k].n == 1)
                return taut_expand_fail(x, tree->child[k]->place,
                                        "%s needs vectors, found a number", tree->name);
            return taut_expand_fail(x, tree->child[k]->place,
                                    "%s does not accept a vector of %d components here", tree->name,
                                    a[k].n);
        }
    }
    value->n = 1;
    switch (which) {
    case LENGTH: value->node[0] = length(x, &a[0]); break;
    case DOT: value->node[0] = dot(x, &a[0], &a[1]); break;
    case CROSS: *value = cross(x, &a[0], &a[1]); break;
    case ANGLE: value->node[0] = angle(x, &a[0], &a[1]); break;
    default: value->node[0] = dihedral(x, &a[0], &a[1], &a[2]); break;
    }
    return 0;
}

/* ---- if, lambda, own functions */

static int if_call(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value)
{
    int32_t condition;
    double constant;
    TAUT_TRY(expect_arguments(x, tree, 3));
    TAUT_TRY(taut_expand_scalar(x, tree->child[0], scope, &condition));
    if (taut_graph_is_constant(x->graph, condition, &constant))
        return taut_expand_tree(x, tree->child[constant != 0 ? 1 : 2], scope, value);
    if (!x->index_mode && taut_expand_is_index(x, condition)) {
        /* over the index of a family: members of the other branch do not evaluate this one */
        int32_t truth;
        TAUT_TRY(taut_expand_decide(x, TAUT_DECIDE_TRUTH, NULL, condition, tree->place, &truth));
        return taut_expand_tree(x, tree->child[truth ? 1 : 2], scope, value);
    }
    taut_value a, b;
    TAUT_TRY(taut_expand_tree(x, tree->child[1], scope, &a));
    TAUT_TRY(taut_expand_tree(x, tree->child[2], scope, &b));
    if (a.n != b.n)
        return taut_expand_fail(x, tree->place, "the two branches of if have %d and %d components",
                                a.n, b.n);
    value->n = a.n;
    for (int k = 0; k < a.n; k++)
        value->node[k] = taut_graph_select(x->graph, condition, a.node[k], b.node[k]);
    return 0;
}

static int lambda_call(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                       taut_value *value)
{
    TAUT_TRY(expect_arguments(x, tree, 1));
    const taut_tree *name = tree->child[0];
    if (name->kind != TAUT_TREE_NAME || name->member || name->primes)
        return taut_expand_fail(x, name->place, "lambda needs the name of a bond");
    if (taut_space_ranks(x->model->how->space) > 1)
        return taut_expand_fail(x, tree->place,
                                "lambda(%s) is not supported in a run over several ranks: run this "
                                "model without mpiexec",
                                name->name);
    if (!(x->allow & 1u << TAUT_FROM_LAMBDA))
        return taut_expand_fail(
            x, tree->place,
            "lambda(%s) can be used in outputs, events and shapes only: forces that "
            "depend on reactions (friction) are unsupported",
            name->name);
    taut_reference r;
    TAUT_TRY(taut_expand_reference(x, name, scope, &r));
    if (r.symbol->kind != TAUT_SYMBOL_BOND)
        return taut_expand_fail(x, name->place, "lambda needs the name of a bond; '%s' is a %s",
                                name->name, taut_symbol_word(r.symbol->kind));
    taut_slot_key key = {.source = TAUT_FROM_LAMBDA, .reference = r, .iterator = -1};
    key.reference.component = 0;
    *value = (taut_value){1, {taut_expand_slot(x, &key)}};
    return 0;
}

static int own_call(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_symbol *symbol,
                    taut_value *value)
{
    const taut_symbol_block *block = &symbol->block[0];
    const taut_tree *left = block->item->left;
    TAUT_TRY(expect_arguments(x, tree, left->count));
    if (x->calls >= TAUT_CALL_LIMIT)
        return taut_expand_fail(
            x, tree->place,
            "functions call one another too deeply at '%s': recursion is not possible", tree->name);
    symbol->used = true;
    taut_binding *inner = NULL;
    for (int k = 0; k < tree->count; k++) {
        taut_binding *binding = TAUT_NEW(&x->arena, taut_binding, 1);
        TAUT_NEED(x->model->error, binding);
        *binding = (taut_binding){.next = inner,
                                  .name = left->child[k]->name,
                                  .node = -1,
                                  .tree = tree->child[k],
                                  .where = scope,
                                  .document = x->document};
        inner = binding;
    }
    const taut_document *document = x->document;
    x->document = block->document;
    x->calls++;
    int status = taut_expand_tree(x, block->item->value, inner, value);
    x->calls--;
    if (status == 0 || status == TAUT_PENDING)
        x->document = document;
    return status;
}

/* ---- functions of numbers, component by component */

static int plain_call(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_op op,
                      taut_value *value)
{
    int arity = taut_op_table[op].arity;
    bool many = op == TAUT_OP_MIN || op == TAUT_OP_MAX;
    if (!many)
        TAUT_TRY(expect_arguments(x, tree, arity));
    else if (tree->count < 2)
        return taut_expand_fail(x, tree->place, "%s needs at least 2 arguments, found %d",
                                tree->name, tree->count);
    TAUT_TRY(taut_expand_tree(x, tree->child[0], scope, value));
    if (arity == 1) {
        for (int k = 0; k < value->n; k++)
            value->node[k] = taut_graph_unary(x->graph, op, value->node[k]);
        return 0;
    }
    for (int i = 1; i < tree->count; i++) {
        taut_value b;
        TAUT_TRY(taut_expand_tree(x, tree->child[i], scope, &b));
        if (value->n > 1 || b.n > 1)
            return taut_expand_fail(x, tree->place, "%s needs numbers, found a vector", tree->name);
        value->node[0] = taut_graph_binary(x->graph, op, value->node[0], b.node[0]);
    }
    return 0;
}

int taut_expand_call(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value)
{
    taut_op op;
    if (strcmp(tree->name, "if") == 0)
        return if_call(x, tree, scope, value);
    if (strcmp(tree->name, "lambda") == 0)
        return lambda_call(x, tree, scope, value);
    for (size_t k = 0; k < sizeof vector_functions / sizeof vector_functions[0]; k++)
        if (strcmp(tree->name, vector_functions[k].name) == 0)
            return vector_call(x, tree, scope, (int)k, value);
    if (taut_op_find(tree->name, &op))
        return plain_call(x, tree, scope, op, value);
    taut_symbol *symbol = taut_model_find(x->model, tree->name);
    if (!symbol)
        return taut_model_unknown(x->model, x->document, tree->place, tree->name);
    if (symbol->kind != TAUT_SYMBOL_FUNCTION)
        return taut_expand_fail(x, tree->place, "'%s' is a %s, not a function", tree->name,
                                taut_symbol_word(symbol->kind));
    return own_call(x, tree, scope, symbol, value);
}

/* ---- sums inside nonlinear expressions are unrolled; those that add up to an output stay loops
 * (statement.c) */

static int sum_level(taut_expand *x, const taut_tree *tree, int level, taut_binding *scope,
                     taut_value *value)
{
    if (level == tree->iterators) {
        taut_value term;
        if (++x->unrolled > TAUT_UNROLL_LIMIT)
            return taut_expand_fail(x, tree->place,
                                    "a sum inside a nonlinear expression has more than %d terms",
                                    TAUT_UNROLL_LIMIT);
        TAUT_TRY(taut_expand_tree(x, tree->child[0], scope, &term));
        if (value->n == 0) {
            *value = term;
            return 0;
        }
        if (term.n != value->n)
            return taut_expand_fail(x, tree->place,
                                    "the terms of this sum have different numbers of components");
        for (int k = 0; k < term.n; k++)
            value->node[k] = add(x, value->node[k], term.node[k]);
        return 0;
    }
    const taut_iterator *iterator = &tree->iterator[level];
    int32_t first, last;
    double from, count;
    TAUT_TRY(taut_expand_index(x, iterator->first, scope, &first));
    TAUT_TRY(taut_expand_index(x, iterator->last, scope, &last));
    int32_t width = add(x, sub(x, last, first), taut_graph_constant(x->graph, 1));
    if (!taut_graph_is_constant(x->graph, width, &count)) {
        int32_t choice;
        if (x->index_mode)
            return taut_expand_fail(x, tree->place, "a sum inside an index needs constant bounds");
        TAUT_TRY(taut_expand_decide(x, TAUT_DECIDE_COUNT, NULL, width, tree->place, &choice));
        count = choice;
    }
    if (count < -2e9)
        return taut_expand_fail(x, iterator->place,
                                "the range of '%s' is too large: its bounds are at most 1e9",
                                iterator->name);
    if (count != floor(count) || count > TAUT_UNROLL_LIMIT ||
        (taut_graph_is_constant(x->graph, first, &from) && from != floor(from)))
        return taut_expand_fail(x, iterator->place,
                                count > TAUT_UNROLL_LIMIT
                                    ? "a sum inside a nonlinear expression has more than %d terms"
                                    : "the bounds of a range must be integers (at most %d terms)",
                                TAUT_UNROLL_LIMIT);
    for (int k = 0; k < count; k++) {
        taut_binding binding = {.next = scope,
                                .name = iterator->name,
                                .node = add(x, first, taut_graph_constant(x->graph, k))};
        taut_binding *kept = TAUT_NEW(&x->arena, taut_binding, 1);
        TAUT_NEED(x->model->error, kept);
        *kept = binding;
        TAUT_TRY(sum_level(x, tree, level + 1, kept, value));
    }
    return 0;
}

int taut_expand_sum(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value)
{
    value->n = 0;
    if (tree->pairs)
        return taut_expand_fail(x, tree->place,
                                "a sum over pairs is a term of [potential], with nothing but "
                                "signs and factors around it");
    TAUT_TRY(sum_level(x, tree, 0, scope, value));
    if (value->n == 0) /* an empty sum is 0 */
        *value = (taut_value){1, {taut_graph_constant(x->graph, 0)}};
    return 0;
}
