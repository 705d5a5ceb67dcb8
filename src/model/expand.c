/* expand.c - trees to graph nodes: names, indices, definitions, components, primes. Built-in
 * functions are in builtins.c. */
#include "model/model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int taut_expand_init(taut_expand *x, taut_model *model, const taut_document *document,
                     unsigned allow, const char *what)
{
    *x = (taut_expand){.model = model, .document = document, .allow = allow, .what = what};
    taut_arena_init(&x->arena, &model->scratch.allocator);
    x->graph = taut_graph_create(&model->scratch.allocator, TAUT_GRAPH_LIMIT);
    return x->graph ? 0 : taut_fail_memory(model->error);
}

void taut_expand_clear(taut_expand *x)
{
    /* a visit of a derivative is cheaper than one of a tree */
    x->model->effort += x->work + taut_graph_effort(x->graph) / 4;
    taut_graph_destroy(x->graph);
    taut_arena_clear(&x->arena);
    x->graph = NULL;
}

int taut_expand_fail(taut_expand *x, taut_place place, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return taut_document_fail(x->document, place, x->model->error, "%s", text);
}

static int permit(taut_expand *x, taut_slot_source source, taut_place place, const char *name)
{
    if (x->index_mode)
        return taut_expand_fail(
            x, place,
            "an index or range consists of integers, parameters, loop names and "
            "tables; '%s' is none of these",
            name);
    if (!(x->allow & 1u << source))
        return taut_expand_fail(x, place, "%s cannot depend on %s'%s'", x->what,
                                source == TAUT_FROM_V      ? "the velocity "
                                : source == TAUT_FROM_Q    ? "the coordinate "
                                : source == TAUT_FROM_TIME ? "time "
                                : source == TAUT_FROM_LAMBDA
                                    ? "a multiplier: reactions are outputs only, so "
                                    : "the parameter ",
                                name);
    return 0;
}

/* The inputs below a node, which count as work: an argument that is known may be requested again
 * and again. */
static int32_t inputs_below(taut_expand *x, int32_t node, const int32_t **slot)
{
    int64_t before = taut_graph_effort(x->graph);
    int32_t count = taut_graph_inputs(x->graph, node, slot);
    x->work += taut_graph_effort(x->graph) - before;
    return count;
}

bool taut_expand_is_index(taut_expand *x, int32_t node)
{
    const int32_t *slot;
    int32_t count = inputs_below(x, node, &slot);
    for (int32_t k = 0; k < count; k++)
        if (x->slot[slot[k]].source != TAUT_FROM_DATA)
            return false;
    return count >= 0;
}

/* ---- decisions */

int taut_expand_decide(taut_expand *x, int kind, const taut_reference *reference, int32_t node,
                       taut_place place, int32_t *choice)
{
    if (x->met < x->decisions) {
        *choice = x->decision[x->met++];
        return 0;
    }
    x->pending = kind;
    if (reference)
        x->pending_reference = *reference;
    x->pending_node = node;
    x->pending_place = place;
    return TAUT_PENDING;
}

/* ---- references to families */

int taut_expand_reference(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                          taut_reference *reference)
{
    taut_symbol *symbol = taut_model_find(x->model, tree->name);
    if (!symbol)
        return taut_model_unknown(x->model, x->document, tree->place, tree->name);
    *reference = (taut_reference){.symbol = symbol,
                                  .component = -1,
                                  .dims = tree->count,
                                  .place = tree->place,
                                  .document = x->document};
    if (symbol->kind == TAUT_SYMBOL_FUNCTION)
        return taut_expand_fail(x, tree->place, "'%s' is a function: write its arguments in ( )",
                                tree->name);
    if (symbol->dims != tree->count) {
        if (symbol->dims == 0)
            return taut_expand_fail(x, tree->place, "'%s' has no index", tree->name);
        return taut_expand_fail(x, tree->place, "'%s' needs %d %s in [ ], found %d", tree->name,
                                symbol->dims, symbol->dims == 1 ? "index" : "indices", tree->count);
    }
    for (int d = 0; d < tree->count; d++)
        TAUT_TRY(taut_expand_index(x, tree->child[d], scope, &reference->index[d]));
    symbol->used = true;
    return 0;
}

static int choose_component(taut_expand *x, const taut_tree *tree, int components, int *component)
{
    *component = -1;
    if (!tree->member)
        return 0;
    static const char *const letters[] = {"x", "y", "z"};
    for (int k = 0; k < 3 && k < components; k++)
        if (strcmp(tree->member, letters[k]) == 0)
            *component = k;
    if (components < 2)
        return taut_expand_fail(x, tree->place, "'%s' is not a vector: it has no component '.%s'",
                                tree->name, tree->member);
    if (*component < 0 || tree->member_count)
        return taut_expand_fail(x, tree->place, "expected a component %s after '%s'",
                                components == 2 ? ".x or .y" : ".x, .y or .z", tree->name);
    return 0;
}

/* "a[4] does not exist" */
static int no_member(taut_expand *x, const taut_reference *r)
{
    char list[80] = "";
    int length = 0;
    for (int d = 0; d < r->dims; d++) {
        double value = 0;
        taut_graph_is_constant(x->graph, r->index[d], &value);
        length +=
            snprintf(list + length, sizeof list - (size_t)length, "%s%g", d ? "," : "", value);
    }
    return taut_expand_fail(x, r->place, "%s[%s] does not exist", r->symbol->name, list);
}

/* Parameters in indices become numbers, and are fixed from then on. */
static int structural(taut_expand *x, const taut_reference *r, int32_t *node)
{
    int32_t index[4];
    for (int d = 0; d < r->dims; d++) {
        double value;
        if (!taut_graph_is_constant(x->graph, r->index[d], &value) || value != floor(value) ||
            fabs(value) > 1e9)
            return taut_expand_fail(
                x, r->place, "a parameter used in an index needs integers as its own indices");
        index[d] = (int32_t)value;
    }
    int64_t ordinal;
    int32_t b = taut_symbol_block_of(r->symbol, index, &ordinal);
    if (b < 0)
        return no_member(x, r);
    TAUT_TRY(taut_model_demand(x->model, r->symbol, x->document, r->place));
    int64_t k = r->symbol->block[b].box.first + ordinal;
    x->model->system->parameter_fixed[k] |= 1;
    *node = taut_graph_constant(x->graph, x->model->parameter[k]);
    return 0;
}

static int coordinate_value(taut_expand *x, const taut_tree *tree, const taut_reference *reference,
                            taut_symbol_kind kind, taut_value *value)
{
    const taut_symbol *symbol = reference->symbol;
    taut_slot_source source = kind == TAUT_SYMBOL_PARAMETER   ? TAUT_FROM_PARAMETER
                              : kind == TAUT_SYMBOL_ALGEBRAIC ? TAUT_FROM_V
                                                              : TAUT_FROM_Q;
    int components = symbol->block[symbol->plain].box.components, component;
    TAUT_TRY(choose_component(x, tree, components, &component));
    if (tree->primes && (kind == TAUT_SYMBOL_PARAMETER || kind == TAUT_SYMBOL_ALGEBRAIC))
        return taut_expand_fail(
            x, tree->place, "'%s' is %s: it has no time derivative here", symbol->name,
            kind == TAUT_SYMBOL_PARAMETER ? "a parameter" : "an algebraic variable");
    if (tree->primes > 1)
        return taut_expand_fail(
            x, tree->place,
            "accelerations such as %s'' cannot be used; write a force or a mass instead",
            symbol->name);
    if (tree->primes && x->model->first_order)
        return taut_expand_fail(x, tree->place,
                                "%s' is allowed on the left of [rates] only; use its expression",
                                symbol->name);
    if (tree->primes)
        source = TAUT_FROM_V;
    if (x->index_mode && kind == TAUT_SYMBOL_PARAMETER) {
        value->n = 1;
        return structural(x, reference, &value->node[0]);
    }
    char shown[80];
    snprintf(shown, sizeof shown, "%s%s", symbol->name, tree->primes ? "'" : "");
    TAUT_TRY(permit(x, source, tree->place, shown));
    if (kind == TAUT_SYMBOL_PARAMETER && x->model->depth)
        TAUT_TRY(taut_model_demand(x->model, reference->symbol, x->document, tree->place));
    taut_slot_key key = {.source = source, .reference = *reference, .iterator = -1};
    value->n = component >= 0 ? 1 : components;
    for (int k = 0; k < value->n; k++) {
        key.reference.component = component >= 0 ? component : k;
        value->node[k] = x->at_cut && source == TAUT_FROM_Q
                             ? taut_pairs_end(x, &key.reference, components)
                             : taut_expand_slot(x, &key);
    }
    return 0;
}

/* Finds the block of a reference with constant indices; -1 when there is none or they are not
 * constant. */
static int32_t constant_block(taut_expand *x, const taut_reference *r, bool *constant)
{
    int32_t index[4];
    int64_t ordinal;
    *constant = true;
    for (int d = 0; d < r->dims; d++) {
        double value;
        if (!taut_graph_is_constant(x->graph, r->index[d], &value)) {
            *constant = false;
            return -1;
        }
        if (value != floor(value) || fabs(value) > 1e9)
            return -1;
        index[d] = (int32_t)value;
    }
    return taut_symbol_block_of(r->symbol, index, &ordinal);
}

/* d/dt of one node along the motion: time moves by 1, positions by their velocities. */
static int node_derivative(taut_expand *x, taut_place place, int32_t *node)
{
    const int32_t *below;
    int32_t count = inputs_below(x, *node, &below), moving = 0;
    int32_t *slot = TAUT_NEW(&x->arena, int32_t, count < 0 ? 0 : count),
            *seed = TAUT_NEW(&x->arena, int32_t, count < 0 ? 0 : count);
    TAUT_NEED(x->model->error, slot, seed);
    for (int32_t k = 0; k < count; k++) {
        taut_slot_key key = x->slot[below[k]];
        if (key.source == TAUT_FROM_V || (key.source == TAUT_FROM_Q && x->model->first_order))
            return taut_expand_fail(x, place, "this time derivative would need %s",
                                    key.source == TAUT_FROM_V
                                        ? "accelerations"
                                        : "the rates of the state: write the expression");
        if (key.source != TAUT_FROM_Q && key.source != TAUT_FROM_TIME)
            continue;
        slot[moving] = below[k];
        if (key.source == TAUT_FROM_Q) {
            TAUT_TRY(permit(x, TAUT_FROM_V, place, key.reference.symbol->name));
            key.source = TAUT_FROM_V;
            seed[moving++] = taut_expand_slot(x, &key);
        } else {
            seed[moving++] = taut_graph_constant(x->graph, 1);
        }
    }
    *node = taut_graph_derivative(x->graph, *node, moving, slot, seed);
    return 0;
}

static int total_derivative(taut_expand *x, taut_place place, taut_value *value)
{
    for (int k = 0; k < value->n; k++)
        TAUT_TRY(node_derivative(x, place, &value->node[k]));
    return 0;
}

static int definition_value(taut_expand *x, const taut_tree *tree, const taut_reference *r,
                            const taut_symbol_block *block, taut_value *value)
{
    taut_symbol *symbol = r->symbol;
    if (symbol->state > TAUT_CALL_LIMIT || x->calls > TAUT_CALL_LIMIT ||
        (symbol->state && symbol->dims == 0))
        return taut_expand_fail(x, tree->place, "the definition of '%s' depends on itself",
                                symbol->name);
    taut_binding *scope = NULL;
    for (int d = 0; d < r->dims; d++)
        if (block->iterator_of[d] >= 0) {
            taut_binding *binding = TAUT_NEW(&x->arena, taut_binding, 1);
            TAUT_NEED(x->model->error, binding);
            *binding = (taut_binding){.next = scope,
                                      .name = block->item->iterator[block->iterator_of[d]].name,
                                      .node = r->index[d]};
            scope = binding;
        }
    const taut_document *document = x->document;
    x->document = block->document;
    x->calls++;
    symbol->state++;
    int status = taut_expand_tree(x, block->item->value, scope, value);
    symbol->state--;
    x->calls--;
    if (status == 0 || status == TAUT_PENDING)
        x->document = document;
    TAUT_TRY(status);
    for (int k = 0; k < tree->primes; k++)
        TAUT_TRY(total_derivative(x, tree->place, value));
    int component;
    TAUT_TRY(choose_component(x, tree, value->n, &component));
    if (component >= 0) {
        value->node[0] = value->node[component];
        value->n = 1;
    }
    return 0;
}

static int add_check(taut_expand *x, const taut_reference *r)
{
    x->check =
        taut_arena_grow(&x->arena, x->check, x->checks, &x->check_capacity, sizeof *x->check);
    TAUT_NEED(x->model->error, x->check);
    x->check[x->checks++].reference = *r;
    return 0;
}

static int family_value(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                        taut_value *value)
{
    taut_reference r;
    TAUT_TRY(taut_expand_reference(x, tree, scope, &r));
    taut_symbol *symbol = r.symbol;
    if (symbol->kind == TAUT_SYMBOL_BOND)
        return taut_expand_fail(x, tree->place, "'%s' is a bond; its multiplier is lambda(%s)",
                                symbol->name, symbol->name);
    bool constant;
    int32_t choice = constant_block(x, &r, &constant);
    if (constant && choice < 0)
        return no_member(x, &r);
    if (!constant && symbol->mixed) {
        /* which kind of member this is may differ between members of the statement */
        TAUT_TRY(taut_expand_decide(x, TAUT_DECIDE_BLOCK, &r, -1, tree->place, &choice));
    } else if (!constant) {
        choice = 0;
        if (symbol->kind == TAUT_SYMBOL_DEFINITION)
            TAUT_TRY(add_check(x, &r));
    }
    if (symbol->block[choice].kind == TAUT_SYMBOL_DEFINITION)
        return definition_value(x, tree, &r, &symbol->block[choice], value);
    return coordinate_value(x, tree, &r, symbol->block[choice].kind, value);
}

/* ---- names */

static int binding_value(taut_expand *x, const taut_tree *tree, taut_binding *binding,
                         taut_value *value)
{
    if (tree->count)
        return taut_expand_fail(
            x, tree->place, "'%s' is an argument or loop name here: it has no index", tree->name);
    if (binding->tree && binding->known && !x->index_mode) {
        *value = binding->value;
    } else if (binding->tree) {
        const taut_document *document = x->document;
        x->document = binding->document;
        int status = taut_expand_tree(x, binding->tree, binding->where, value);
        if (status == 0 || status == TAUT_PENDING)
            x->document = document;
        TAUT_TRY(status);
        if (!x->index_mode) {
            binding->known = true;
            binding->value = *value;
        }
    } else {
        *value = (taut_value){1, {binding->node}};
    }
    for (int k = 0; k < tree->primes; k++)
        TAUT_TRY(total_derivative(x, tree->place, value));
    int component;
    TAUT_TRY(choose_component(x, tree, value->n, &component));
    if (component >= 0)
        *value = (taut_value){1, {value->node[component]}};
    return 0;
}

static int name_value(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value)
{
    for (taut_binding *b = scope; b; b = b->next)
        if (strcmp(b->name, tree->name) == 0)
            return binding_value(x, tree, b, value);
    bool plain = tree->count == 0 && !tree->member && tree->primes == 0;
    if (strcmp(tree->name, "pi") == 0 && plain) {
        *value = (taut_value){1, {taut_graph_constant(x->graph, 3.14159265358979323846)}};
        return 0;
    }
    if (strcmp(tree->name, "t") == 0 && plain) {
        TAUT_TRY(permit(x, TAUT_FROM_TIME, tree->place, "t"));
        x->timed = true;
        if (x->still) {
            *value = (taut_value){1, {taut_graph_constant(x->graph, x->model->system->from)}};
            return 0;
        }
        taut_slot_key key = {.source = TAUT_FROM_TIME, .iterator = -1};
        *value = (taut_value){1, {taut_expand_slot(x, &key)}};
        return 0;
    }
    taut_symbol *symbol = taut_model_find(x->model, tree->name);
    if (symbol && symbol->kind == TAUT_SYMBOL_TABLE)
        return taut_expand_table(x, tree, scope, symbol, value);
    return family_value(x, tree, scope, value);
}

/* ---- operators */

static taut_op binary_op(char op)
{
    switch (op) {
    case '+': return TAUT_OP_ADD;
    case '-': return TAUT_OP_SUB;
    case '*': return TAUT_OP_MUL;
    case '/': return TAUT_OP_DIV;
    case '^': return TAUT_OP_POW;
    case '<':
    case '>': return TAUT_OP_LT;
    case 'l':
    case 'g': return TAUT_OP_LE;
    case '=': return TAUT_OP_EQ;
    case 'n': return TAUT_OP_NE;
    case '&': return TAUT_OP_AND;
    default: return TAUT_OP_OR;
    }
}

static int binary_value(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                        taut_value *value)
{
    taut_value a, b;
    TAUT_TRY(taut_expand_tree(x, tree->child[0], scope, &a));
    TAUT_TRY(taut_expand_tree(x, tree->child[1], scope, &b));
    char op = tree->op;
    if (op == '>' || op == 'g') {
        taut_value swap = a;
        a = b;
        b = swap;
    }
    if (a.n > 1 && b.n > 1 && (a.n != b.n || (op != '+' && op != '-')))
        return taut_expand_fail(x, tree->place,
                                a.n != b.n ? "vectors of %d and %d components cannot be combined"
                                           : "vectors are added and subtracted; for products use "
                                             "dot or cross (%d components here)",
                                a.n, b.n);
    if ((a.n > 1) != (b.n > 1) && op != '*' && !(op == '/' && a.n > 1))
        return taut_expand_fail(x, tree->place, "a vector and a number cannot be combined by '%s'",
                                op == 'l'   ? "<="
                                : op == 'g' ? ">="
                                : op == '=' ? "=="
                                : op == 'n' ? "!="
                                : op == '&' ? "and"
                                : op == '|' ? "or"
                                            : (char[]){op, 0});
    value->n = a.n > b.n ? a.n : b.n;
    for (int k = 0; k < value->n; k++)
        value->node[k] = taut_graph_binary(x->graph, binary_op(op), a.node[a.n > 1 ? k : 0],
                                           b.node[b.n > 1 ? k : 0]);
    return 0;
}

static int vector_value(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                        taut_value *value)
{
    if (tree->count > TAUT_VECTOR_LIMIT)
        return taut_expand_fail(x, tree->place, "a vector has at most %d components",
                                TAUT_VECTOR_LIMIT);
    value->n = tree->count;
    for (int k = 0; k < tree->count; k++)
        TAUT_TRY(taut_expand_scalar(x, tree->child[k], scope, &value->node[k]));
    return 0;
}

static int tree_value(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value)
{
    switch (tree->kind) {
    case TAUT_TREE_NUMBER:
        *value = (taut_value){1, {taut_graph_constant(x->graph, tree->value)}};
        return 0;
    case TAUT_TREE_NAME: return name_value(x, tree, scope, value);
    case TAUT_TREE_UNARY:
        TAUT_TRY(taut_expand_tree(x, tree->child[0], scope, value));
        for (int k = 0; k < value->n; k++)
            value->node[k] = taut_graph_unary(x->graph, TAUT_OP_NEG, value->node[k]);
        return 0;
    case TAUT_TREE_BINARY: return binary_value(x, tree, scope, value);
    case TAUT_TREE_CALL: return taut_expand_call(x, tree, scope, value);
    case TAUT_TREE_VECTOR: return vector_value(x, tree, scope, value);
    case TAUT_TREE_SUM: return taut_expand_sum(x, tree, scope, value);
    }
    return taut_expand_fail(x, tree->place, "expected an expression");
}

int taut_expand_tree(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value)
{
    taut_model *model = x->model;
    if (++x->work > TAUT_WORK_LIMIT)
        return taut_expand_fail(
            x, tree->place, "this statement is too large after substitution of its definitions");
    if (model->effort + x->work > TAUT_EFFORT_LIMIT)
        return taut_expand_fail(x, tree->place,
                                "this model is too large after substitution of its definitions");
    if (model->levels >= TAUT_LEVEL_LIMIT)
        return taut_expand_fail(
            x, tree->place, "definitions or parameters are nested more than %d levels deep here",
            TAUT_LEVEL_LIMIT);
    model->levels++;
    int status = tree_value(x, tree, scope, value);
    model->levels--;
    return status;
}

int taut_expand_scalar(taut_expand *x, const taut_tree *tree, taut_binding *scope, int32_t *node)
{
    taut_value value;
    TAUT_TRY(taut_expand_tree(x, tree, scope, &value));
    if (value.n != 1)
        return taut_expand_fail(x, tree->place,
                                "expected a number, found a vector of %d components", value.n);
    *node = value.node[0];
    if (*node >= 0)
        return 0;
    TAUT_TRY(taut_graph_status(x->graph, x->model->error));
    return taut_fail_memory(x->model->error);
}

int taut_expand_index(taut_expand *x, const taut_tree *tree, taut_binding *scope, int32_t *node)
{
    bool mode = x->index_mode;
    x->index_mode = true;
    int status = taut_expand_scalar(x, tree, scope, node);
    x->index_mode = mode;
    return status;
}
