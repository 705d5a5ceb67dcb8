/* members.c - the members of a statement: their loop values, and the integers their indices
 * evaluate to. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>

#include "expr/values.h"

int taut_expand_iterators(taut_expand *x)
{
    for (int k = 0; k < x->iterators; k++) {
        taut_slot_key key = {.source = TAUT_FROM_DATA, .iterator = k};
        x->iterator_node[k] = taut_expand_slot(x, &key);
        if (x->iterator_node[k] < 0)
            return taut_fail_memory(x->model->error);
        x->binding[k] = (taut_binding){.next = k ? &x->binding[k - 1] : NULL,
                                       .name = x->iterator[k]->name,
                                       .node = x->iterator_node[k]};
    }
    return 0;
}

taut_binding *taut_expand_scope(taut_expand *x, int depth)
{
    return depth > 0 ? &x->binding[depth - 1] : NULL;
}

/* ---- values of index nodes */

int taut_index_prepare(taut_index_run *run, taut_expand *x, const taut_members *members,
                       const int32_t *root, int32_t roots)
{
    int32_t size = taut_graph_size(x->graph);
    *run = (taut_index_run){.x = x, .members = members};
    unsigned char *flag = TAUT_NEW(&x->arena, unsigned char, size);
    run->node = TAUT_NEW(&x->arena, int32_t, size);
    run->value = TAUT_NEW(&x->arena, double, size);
    TAUT_NEED(x->model->error, flag, run->node, run->value);
    for (int32_t k = 0; k < roots; k++)
        flag[root[k]] = 1;
    /* operands are earlier nodes, and so is the row number of a look-up in a table: one pass
     * downwards marks all */
    for (int32_t k = size - 1; k >= 0; k--) {
        const taut_node *node = taut_graph_node(x->graph, k);
        const int32_t operand[3] = {node->a, node->b, node->c};
        for (int j = 0; flag[k] && j < taut_op_table[node->op].arity; j++)
            flag[operand[j]] = 1;
        if (flag[k] && node->op == TAUT_OP_INPUT && x->slot[node->a].table)
            flag[x->slot[node->a].reference.index[0]] = 1;
    }
    for (int32_t k = 0; k < size; k++)
        if (flag[k])
            run->node[run->nodes++] = k;
    return 0;
}

/* "i = 3, j = 4" */
static void member_text(const taut_index_run *run, int64_t member, char *text, size_t size)
{
    int length = 0;
    text[0] = 0;
    for (int k = 0; k < run->members->iterators && length < (int)size; k++)
        length += snprintf(text + length, size - (size_t)length, "%s%s = %d", k ? ", " : " for ",
                           run->x->iterator[k]->name, run->members->value[k][member]);
}

static int table_entry(taut_index_run *run, const taut_slot_key *key, int64_t member, double *value)
{
    const taut_table *table = key->table;
    double row = run->value[key->reference.index[0]];
    if (row == floor(row) && row >= 1 && row <= table->rows) {
        *value = table->value[(int64_t)key->column * table->rows + (int64_t)row - 1];
        return 0;
    }
    if (row != floor(row) && row >= 1 && row <= table->rows) {
        if (!table->curve[key->column])
            TAUT_TRY(taut_curve_create(&run->x->model->system->arena, table->rows,
                                       table->value + (int64_t)key->column * table->rows,
                                       &table->curve[key->column], run->x->model->error));
        *value = taut_curve_value(table->curve[key->column], 0, row);
        return 0;
    }
    char text[120];
    member_text(run, member, text, sizeof text);
    return taut_document_fail(key->reference.document, key->reference.place, run->x->model->error,
                              "table '%s' has rows 1..%d, found row %g%s",
                              key->reference.symbol->name, table->rows, row, text);
}

int taut_index_member(taut_index_run *run, int64_t member)
{
    const taut_graph *graph = run->x->graph;
    for (int32_t k = 0; k < run->nodes; k++) {
        int32_t id = run->node[k];
        const taut_node *node = taut_graph_node(graph, id);
        double *value = &run->value[id];
        switch (node->op) {
        case TAUT_OP_CONSTANT: *value = node->value; break;
        case TAUT_OP_INPUT: {
            const taut_slot_key *key = &run->x->slot[node->a];
            if (key->iterator >= 0)
                *value = run->members->value[key->iterator][member];
            else if (key->table)
                TAUT_TRY(table_entry(run, key, member, value));
            break;
        }
        case TAUT_OP_ADD: *value = run->value[node->a] + run->value[node->b]; break;
        case TAUT_OP_SUB: *value = run->value[node->a] - run->value[node->b]; break;
        case TAUT_OP_CURVE:
            *value = taut_curve_value(node->curve, node->b, run->value[node->a]);
            break;
        default:
            *value =
                taut_op_value(node->op, run->value[node->a], node->b >= 0 ? run->value[node->b] : 0,
                              node->c >= 0 ? run->value[node->c] : 0);
        }
    }
    return 0;
}

static int fail_member(taut_index_run *run, const taut_reference *r, int64_t member,
                       const double *index, const char *why)
{
    char text[120], list[80] = "";
    int length = 0;
    member_text(run, member, text, sizeof text);
    for (int d = 0; d < r->dims; d++)
        length +=
            snprintf(list + length, sizeof list - (size_t)length, "%s%g", d ? "," : "", index[d]);
    const taut_name_block *box = &r->symbol->block[0].box;
    char range[100] = "";
    if (r->symbol->blocks == 1 && r->dims == 1 && box->count > 0)
        snprintf(range, sizeof range, "; '%s' has members %d..%d", r->symbol->name, box->lo[0],
                 box->hi[0]);
    return taut_document_fail(r->document, r->place, run->x->model->error, "%s[%s] %s%s%s",
                              r->symbol->name, list, why, text, range);
}

int taut_index_resolve(taut_index_run *run, const taut_reference *r, int64_t member, int32_t *block,
                       int64_t *ordinal)
{
    int32_t index[4];
    double value[4];
    bool whole = true;
    for (int d = 0; d < r->dims; d++) {
        value[d] = run->value[r->index[d]];
        whole = whole && value[d] == floor(value[d]) && fabs(value[d]) < 2e9;
        index[d] = whole ? (int32_t)value[d] : 0;
    }
    if (!whole)
        return fail_member(run, r, member, value, "needs integers as indices");
    *block = taut_symbol_block_of(r->symbol, index, ordinal);
    return *block >= 0 ? 0 : fail_member(run, r, member, value, "does not exist");
}

/* ---- members */

typedef struct lister {
    taut_expand *x;
    taut_members *members;
    int64_t capacity[TAUT_ITERATOR_LIMIT];
    int32_t bound[TAUT_ITERATOR_LIMIT][2]; /* nodes */
    taut_members one;                      /* the member in the making: value[k][0] */
    int32_t now[TAUT_ITERATOR_LIMIT];
    taut_index_run run;
    int64_t passes; /* of loops that are not the innermost: they may have empty ones inside */
    /* pieces (taut_members_each), or most = 0 */
    int64_t most, done;
    taut_members_piece *piece;
    void *user;
} lister;

static int bounds(lister *l, int level, int64_t *first, int64_t *last)
{
    TAUT_TRY(taut_index_member(&l->run, 0));
    double a = l->run.value[l->bound[level][0]], b = l->run.value[l->bound[level][1]];
    if (a == floor(a) && b == floor(b) && (fabs(a) > 1e9 || fabs(b) > 1e9))
        return taut_expand_fail(l->x, l->x->iterator[level]->place,
                                "the range of '%s', %g..%g, is too large: at most %d members",
                                l->x->iterator[level]->name, a, b, TAUT_MEMBER_LIMIT);
    if (a != floor(a) || b != floor(b))
        return taut_expand_fail(l->x, l->x->iterator[level]->place,
                                "the range of '%s' must have integers as bounds, found %g..%g",
                                l->x->iterator[level]->name, a, b);
    *first = (int64_t)a;
    *last = (int64_t)b;
    return 0;
}

static int flush(lister *l)
{
    int64_t first = l->done;
    l->done += l->members->count;
    TAUT_TRY(l->piece(l->user, l->members, first));
    l->members->count = 0;
    return 0;
}

static int append(lister *l)
{
    taut_members *m = l->members;
    for (int k = 0; k < m->iterators; k++) {
        int64_t capacity = l->capacity[k];
        m->value[k] =
            taut_arena_grow(&l->x->arena, m->value[k], m->count, &capacity, sizeof(int32_t));
        l->capacity[k] = capacity;
        TAUT_NEED(l->x->model->error, m->value[k]);
        m->value[k][m->count] = l->now[k];
    }
    return ++m->count == l->most ? flush(l) : 0;
}

static int list_level(lister *l, int level)
{
    int64_t first = 0, last = -1;
    TAUT_TRY(bounds(l, level, &first, &last));
    bool innermost = level == l->members->iterators - 1;
    int64_t so_far = l->members->count + (innermost && last >= first ? last - first + 1 : 0);
    l->passes += !innermost && last >= first ? last - first + 1 : 0;
    if ((l->most == 0 && so_far > TAUT_MEMBER_LIMIT) || l->passes > TAUT_MEMBER_LIMIT)
        return taut_expand_fail(l->x, l->x->iterator[level]->place,
                                "this statement has more than %d members", TAUT_MEMBER_LIMIT);
    for (int64_t i = first; i <= last; i++) {
        l->now[level] = (int32_t)i;
        TAUT_TRY(innermost ? append(l) : list_level(l, level + 1));
    }
    return 0;
}

static int list(lister *l)
{
    taut_expand *x = l->x;
    taut_members *members = l->members;
    int32_t root[2 * TAUT_ITERATOR_LIMIT], roots = 0;
    *members = (taut_members){.iterators = x->iterators};
    if (x->iterators == 0) {
        members->count = 1;
        return 0;
    }
    TAUT_TRY(taut_expand_iterators(x));
    for (int k = 0; k < x->iterators; k++) {
        TAUT_TRY(
            taut_expand_index(x, x->iterator[k]->first, taut_expand_scope(x, k), &l->bound[k][0]));
        TAUT_TRY(
            taut_expand_index(x, x->iterator[k]->last, taut_expand_scope(x, k), &l->bound[k][1]));
        root[roots++] = l->bound[k][0];
        root[roots++] = l->bound[k][1];
    }
    if (x->starved)
        return taut_fail_memory(x->model->error);
    TAUT_TRY(taut_graph_status(x->graph, x->model->error));
    l->one = (taut_members){.count = 1, .iterators = x->iterators};
    for (int k = 0; k < x->iterators; k++)
        l->one.value[k] = &l->now[k];
    TAUT_TRY(taut_index_prepare(&l->run, x, &l->one, root, roots));
    return list_level(l, 0);
}

int taut_members_list(taut_expand *x, taut_members *members)
{
    lister l = {.x = x, .members = members};
    return list(&l);
}

int taut_members_each(taut_expand *x, int64_t most, taut_members_piece *piece, void *user)
{
    taut_members members;
    lister l = {.x = x, .members = &members, .most = most, .piece = piece, .user = user};
    TAUT_TRY(list(&l));
    return members.count > 0 ? flush(&l) : 0;
}
