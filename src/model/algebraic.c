/* algebraic.c - algebraic variables that constraints contain (index 1):
 *
 *     z' = f(t,z,y), 0 = c(t,z,y)      becomes      z' = f(t,z,y), y' = u, 0 = c(t,z,y)
 *
 * with y as state variables and their rates u as algebraic ones, which is of index 2 where dc/dy is
 * regular: every method for that index then solves it. Collocation methods have the same stages z
 * and y as applied to the given equations [Hairer, Wanner II, VI.1], because u enters nothing but
 * y. Variables that only rates contain stay algebraic, so that one model may have both indices. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
    const char *name;
    int64_t item;
} named;

typedef struct scan {
    taut_model *model;
    named *known; /* [count] algebraic variables and definitions, sorted by name */
    int64_t count;
    unsigned char *seen; /* [items] definitions that were read for the constraint at hand */
    bool found;          /* that constraint contains an algebraic variable */
} scan;

static int compare(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->item > y->item) - (x->item < y->item);
}

static int64_t first_of(const scan *s, const char *name)
{
    int64_t low = 0, high = s->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (strcmp(s->known[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Marks what a tree refers to, definitions included. */
static void read_tree(scan *s, const taut_tree *tree)
{
    const taut_document *document = s->model->document;
    bool refers = tree->kind == TAUT_TREE_NAME || tree->kind == TAUT_TREE_CALL;
    for (int64_t k = refers ? first_of(s, tree->name) : s->count;
         k < s->count && strcmp(s->known[k].name, tree->name) == 0; k++) {
        int64_t item = s->known[k].item;
        if (document->item[item].section == TAUT_SECTION_ALGEBRAIC)
            s->found = s->model->followed[item] = true;
        else if (!s->seen[item]) {
            s->seen[item] = 1;
            read_tree(s, document->item[item].value);
        }
    }
    for (int32_t k = 0; k < tree->count + tree->member_count; k++)
        read_tree(s, tree->child[k]);
}

static void collect(scan *s)
{
    const taut_document *document = s->model->document;
    for (int64_t k = 0; k < document->items; k++) {
        const taut_item_tree *item = &document->item[k];
        const taut_tree *name = item->section == TAUT_SECTION_ALGEBRAIC     ? item->value
                                : item->section == TAUT_SECTION_DEFINITIONS ? item->left
                                                                            : NULL;
        if (name && name->name)
            s->known[s->count++] = (named){name->name, k};
    }
    qsort(s->known, (size_t)s->count, sizeof *s->known, compare);
}

int taut_model_find_followed(taut_model *model)
{
    const taut_document *document = model->document;
    taut_arena *scratch = &model->scratch;
    scan s = {.model = model};
    if (!document->present[TAUT_SECTION_ALGEBRAIC])
        return 0;
    s.known = TAUT_NEW(scratch, named, document->items);
    s.seen = TAUT_NEW(scratch, unsigned char, document->items);
    model->followed = TAUT_NEW(scratch, bool, document->items);
    model->direct = TAUT_NEW(scratch, bool, document->items);
    TAUT_NEED(model->error, s.known, s.seen, model->followed, model->direct);
    collect(&s);
    for (int64_t k = 0; k < document->items; k++) {
        if (document->item[k].section != TAUT_SECTION_CONSTRAINTS || !document->item[k].value)
            continue;
        memset(s.seen, 0, (size_t)document->items);
        s.found = false;
        read_tree(&s, document->item[k].value);
        model->direct[k] = s.found;
    }
    return 0;
}

/* The rates of a block of state variables `first` ... as algebraic variables, and the kernel
 * y' = u. */
static int add_rate(taut_model *model, const taut_item_tree *item, taut_index first, int64_t count)
{
    taut_system *system = model->system;
    const taut_name_block *block = &system->coordinates.block[system->coordinates.blocks - 1].block;
    size_t length = strlen(item->value->name) + 2;
    char *name = TAUT_NEW(&system->arena, char, (int64_t)length);
    taut_index *row = TAUT_NEW(&system->arena, taut_index, count),
               *from = TAUT_NEW(&system->arena, taut_index, count);
    taut_statement_kernel *kernel;
    TAUT_NEED(model->error, name, row, from);
    snprintf(name, length, "%s'", item->value->name);
    for (int64_t k = 0; k < count; k++) {
        row[k] = first + (taut_index)k;
        from[k] = (taut_index)(system->algebraic.total + k);
    }
    if (taut_names_add(&system->algebraic, &system->arena, name, block))
        return taut_fail_memory(model->error);
    taut_slot slot[4] = {{.source = TAUT_FROM_V, .gather = from}};
    taut_graph *graph = taut_graph_create(&system->arena.allocator, TAUT_GRAPH_LIMIT);
    TAUT_NEED(model->error, graph);
    taut_statement_kernel_plan plan = {.role = TAUT_ROLE_FORCE,
                                       .graph = graph,
                                       .root = taut_graph_input(graph, 0),
                                       .members = count,
                                       .slots = 1,
                                       .slot = slot,
                                       .time_slot = -1,
                                       .row = row,
                                       .column = row,
                                       .first_order = true};
    int status = taut_graph_status(graph, model->error);
    if (status == 0)
        status = taut_statement_kernel_create(&plan, &system->arena, &kernel, model->error);
    taut_graph_destroy(graph);
    return status ? status : taut_model_add_kernel(model, -1, kernel);
}

int taut_model_declare_followed(taut_model *model)
{
    taut_system *system = model->system;
    taut_index first = (taut_index)system->coordinates.total;
    for (int64_t k = 0; model->followed && k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (!model->followed[k])
            continue;
        taut_index before = (taut_index)system->coordinates.total;
        if (item->value->kind != TAUT_TREE_NAME)
            return taut_model_fail(model, item->place, "expected a name to declare");
        TAUT_TRY(taut_model_declare(model, model->document, TAUT_SYMBOL_COORDINATE, item,
                                    item->value, &system->coordinates, 1, NULL));
        if (system->coordinates.total > before)
            TAUT_TRY(add_rate(model, item, before, system->coordinates.total - before));
    }
    system->sizes.followed = (taut_index)system->coordinates.total - first;
    return 0;
}

/* The first item of a section that is marked. */
static const taut_item_tree *first_marked(const taut_model *model, const bool *mark)
{
    int64_t k = 0;
    while (!mark[k])
        k++;
    return &model->document->item[k];
}

int taut_model_check_followed(taut_model *model)
{
    taut_system *system = model->system;
    int64_t rows = 0, block = 0;
    if (system->sizes.followed == 0)
        return 0;
    for (int64_t k = 0; k < model->document->items; k++)
        if (model->document->item[k].section == TAUT_SECTION_CONSTRAINTS) {
            const taut_name_block *box = &system->bonds.block[block++].block;
            rows += model->direct[k] ? box->count : 0;
        }
    if (rows == system->sizes.followed)
        return 0;
    bool more = rows > system->sizes.followed;
    const taut_item_tree *item = first_marked(model, more ? model->direct : model->followed);
    return taut_model_fail(
        model, item->place,
        "constraints that contain algebraic variables: %lld, such variables in them: %lld; there "
        "must be as many (index 1). %s",
        (long long)rows, (long long)system->sizes.followed,
        more ? "A constraint too many restricts the state: its index is above 1; combine "
               "constraints so that the algebraic variables cancel in it"
             : "Solve a constraint for one of its variables, and write that in [definitions]");
}
