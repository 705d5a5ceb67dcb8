/* statement.c - one statement to kernels: members, groups, gather maps, rows. */
#include "model/slot_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
    struct group *next;
    int64_t count;
    int32_t *member; /* ordinals */
    bool ghost;      /* another rank owns these members */
    int32_t decisions;
    int32_t *decision;
} group;

typedef struct builder {
    taut_statement *s;
    taut_model *model;
    taut_arena arena; /* members and groups */
    taut_members members;
    int64_t first; /* number of the first member */
    group *groups;
    int made;                  /* groups so far */
    const taut_survey *survey; /* instead of building, or NULL */
    taut_members_piece *after; /* after each piece of a survey, or NULL */
    void *user;
} builder;

static int64_t member_of(const group *g, int64_t k)
{
    return g->member ? g->member[k] : k;
}

/* Its place among all members, of which a part may be here. */
static int64_t ordinal_of(const builder *b, const group *g, int64_t k)
{
    const int64_t member = member_of(g, k);
    return b->members.ordinal ? b->members.ordinal[member] : member;
}

/* ---- groups */

typedef struct keyed {
    int32_t key, member;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static int decision_key(taut_expand *x, taut_index_run *run, int64_t member, int32_t *key)
{
    TAUT_TRY(taut_index_member(run, member));
    if (x->pending == TAUT_DECIDE_BLOCK) {
        int64_t ordinal;
        TAUT_TRY(taut_index_resolve(run, &x->pending_reference, member, key, &ordinal));
        const taut_symbol *symbol = x->pending_reference.symbol;
        if (symbol->block[*key].kind != TAUT_SYMBOL_DEFINITION) /* coordinates are all alike */
            *key = symbol->plain;
        return 0;
    }
    double value = run->value[x->pending_node];
    if (x->pending == TAUT_DECIDE_TRUTH)
        *key = value != 0;
    else
        *key = value > 0 && value < 1e9 ? (int32_t)value : 0;
    return 0;
}

static int add_group(builder *b, const group *from, const keyed *list, int64_t count)
{
    group *g = TAUT_NEW(&b->arena, group, 1);
    TAUT_NEED(b->model->error, g);
    *g = (group){
        .next = b->groups, .count = count, .ghost = from->ghost, .decisions = from->decisions + 1};
    g->member = TAUT_NEW(&b->arena, int32_t, count);
    g->decision = TAUT_NEW(&b->arena, int32_t, g->decisions);
    TAUT_NEED(b->model->error, g->member, g->decision);
    for (int64_t k = 0; k < count; k++)
        g->member[k] = list[k].member;
    if (from->decisions)
        memcpy(g->decision, from->decision, (size_t)from->decisions * sizeof *g->decision);
    g->decision[from->decisions] = list[0].key;
    b->groups = g;
    return 0;
}

/* Splits a group by the pending decision. */
static int split(builder *b, const group *g, taut_expand *x)
{
    keyed *list = TAUT_NEW(&b->arena, keyed, g->count);
    int32_t root[4], roots = 0;
    TAUT_NEED(b->model->error, list);
    if (x->pending == TAUT_DECIDE_BLOCK)
        for (int d = 0; d < x->pending_reference.dims; d++)
            root[roots++] = x->pending_reference.index[d];
    else
        root[roots++] = x->pending_node;
    taut_index_run run;
    TAUT_TRY(taut_index_prepare(&run, x, &b->members, root, roots));
    bool sorted = true;
    for (int64_t k = 0; k < g->count; k++) {
        list[k].member = (int32_t)member_of(g, k);
        TAUT_TRY(decision_key(x, &run, list[k].member, &list[k].key));
        sorted = sorted && (k == 0 || list[k].key == list[k - 1].key);
    }
    if (!sorted)
        qsort(list, (size_t)g->count, sizeof *list, compare_keyed);
    for (int64_t first = 0, last; first < g->count; first = last) {
        for (last = first + 1; last < g->count && list[last].key == list[first].key; last++)
            ;
        if (++b->made > TAUT_GROUP_LIMIT || g->decisions > 200)
            return taut_expand_fail(
                x, x->pending_place,
                "the members of this statement have more than %d different forms",
                TAUT_GROUP_LIMIT);
        TAUT_TRY(add_group(b, g, list + first, last - first));
    }
    return 0;
}

static int components_of(const taut_reference *r, const taut_tree *tree, taut_expand *x,
                         int *components, int *component)
{
    *component = 0;
    *components = r->symbol->block[r->symbol->plain].box.components;
    if (!tree->member)
        return 0;
    if (*components == 1 || tree->member[1] || tree->member[0] < 'x' ||
        tree->member[0] > "xyz"[*components - 1])
        return taut_expand_fail(x, tree->place, "'%s' has no component '.%s'", tree->name,
                                tree->member);
    *component = tree->member[0] - 'x';
    *components = 1;
    return 0;
}

/* ---- kernels */

typedef struct left_side {
    int count;
    const taut_tree *tree[2];
    taut_reference reference[2];
    taut_index *base[2];
    int components, component[2];
} left_side;

static int expand_left(builder *b, taut_expand *x, int64_t members, left_side *left)
{
    const taut_tree *tree[2] = {b->s->left, b->s->left2};
    left->components = 0;
    for (int k = 0; k < 2 && tree[k]; k++) {
        int components;
        left->tree[left->count] = tree[k];
        const taut_symbol *known = taut_model_find(b->model, tree[k]->name);
        bool used = known && known->used; /* being assigned to is not being used */
        TAUT_TRY(taut_expand_reference(x, tree[k], taut_expand_scope(x, b->s->item->iterators),
                                       &left->reference[k]));
        left->reference[k].symbol->used = used;
        taut_symbol_kind kind = left->reference[k].symbol->kind;
        bool target = kind == TAUT_SYMBOL_COORDINATE ||
                      (kind == TAUT_SYMBOL_ALGEBRAIC && b->s->list == TAUT_LIST_START) ||
                      kind == TAUT_SYMBOL_PARAMETER ||
                      (kind == TAUT_SYMBOL_DEFINITION && left->reference[k].symbol->mixed);
        if (!target)
            return taut_expand_fail(x, tree[k]->place,
                                    "expected a coordinate on the left; '%s' is a %s",
                                    tree[k]->name, taut_symbol_word(kind));
        TAUT_TRY(components_of(&left->reference[k], tree[k], x, &components, &left->component[k]));
        if (k == 1 && components != left->components)
            return taut_expand_fail(x, tree[k]->place,
                                    "M[a,b] needs two particles, or two coordinates");
        left->components = components;
        left->base[k] = TAUT_NEW(&x->arena, taut_index, members);
        TAUT_NEED(b->model->error, left->base[k]);
        left->count++;
    }
    return 0;
}

static int make_rows(builder *b, const group *g, const left_side *left, int side, int c,
                     const taut_index **rows)
{
    const taut_statement *s = b->s;
    *rows = NULL;
    if (s->role == TAUT_ROLE_POTENTIAL || s->role == TAUT_ROLE_STIFF ||
        s->role == TAUT_ROLE_KINETIC)
        return 0;
    taut_index *row = TAUT_NEW(&b->model->system->arena, taut_index, g->count);
    TAUT_NEED(b->model->error, row);
    bool second =
        s->velocity_rows && left->count &&
        (left->tree[0]->primes || left->reference[0].symbol->kind == TAUT_SYMBOL_ALGEBRAIC);
    taut_index shift = second ? b->model->system->sizes.coordinates : 0;
    bool adds = s->joined && s->item->iterators == 0; /* all members to one row */
    taut_index stride = s->stride ? s->stride : 1;
    for (int64_t k = 0; k < g->count; k++)
        row[k] = left->count
                     ? left->base[side][k] + left->component[side] + c + shift
                     : s->first_row + c + (adds ? 0 : (taut_index)ordinal_of(b, g, k) * stride);
    *rows = row;
    return 0;
}

static int add_kernel(builder *b, taut_expand *x, const group *g, taut_slot_map *m,
                      const left_side *left, int32_t node, int c)
{
    taut_model *model = b->model;
    taut_statement_kernel *kernel;
    taut_slot *slot = TAUT_NEW(&x->arena, taut_slot, 3 * x->slots + 1);
    TAUT_NEED(model->error, slot);
    memcpy(slot, m->slot, (size_t)(x->slots + 1) * sizeof *slot);
    taut_statement_kernel_plan plan = {.role = b->s->role,
                                       .graph = x->graph,
                                       .root = node,
                                       .members = g->count,
                                       .slots = x->slots,
                                       .slot = slot,
                                       .time_slot = -1,
                                       .fast = b->s->fast,
                                       .first_order = model->first_order || b->s->joined};
    int64_t branches = 0; /* conditions of pairs are refused */
    if (b->s->role != TAUT_ROLE_VALUE)
        plan.branches = b->s->pairs ? &branches : &model->system->branches;
    for (int32_t k = 0; k < x->slots; k++)
        if (slot[k].source == TAUT_FROM_TIME)
            plan.time_slot = k;
    TAUT_TRY(make_rows(b, g, left, 0, c, &plan.row));
    plan.column = plan.row;
    if (left->count > 1)
        TAUT_TRY(make_rows(b, g, left, 1, c, &plan.column));
    int status = taut_statement_kernel_create(&plan, &model->system->arena, &kernel, model->error);
    if (status == TAUT_ERROR_MODEL || status == TAUT_ERROR_SIZE) {
        char message[300] = "this statement is too large";
        if (model->error)
            snprintf(message, sizeof message, "%.290s", model->error->message);
        return taut_document_fail(b->s->document, b->s->item->place, model->error, "%s", message);
    }
    TAUT_TRY(status);
    kernel->ghost = g->ghost;
    if (b->s->pairs)
        return taut_pairs_add(b->s, x, kernel);
    if (kernel->kinks && b->s->list < 0 && !b->s->events && model->kink_place.line == 0) {
        model->kink_document = b->s->document;
        model->kink_place = b->s->item->place;
    }
    if (kernel->guards)
        TAUT_TRY(taut_model_place_guards(model, b->s->document, b->s->item, kernel->guards));
    for (int64_t k = 0; b->s->events && k < g->count; k++) {
        taut_event *event = &b->s->events[ordinal_of(b, g, k)];
        event->assign[event->assignments++] = (taut_event_value){kernel, k};
    }
    if (b->s->events)
        return 0;
    return taut_model_add_kernel(model, b->s->list, kernel);
}

static int expand_group(builder *b, const group *g, taut_expand *x)
{
    taut_statement *s = b->s;
    taut_value value;
    left_side left = {0};
    x->decision = g->decision;
    x->decisions = g->decisions;
    x->iterators = s->term.iterators;
    memcpy(x->iterator, s->term.iterator, sizeof s->term.iterator);
    TAUT_TRY(taut_expand_iterators(x));
    TAUT_TRY(expand_left(b, x, g->count, &left));
    TAUT_TRY(taut_statement_value(s, x, &value));
    if (x->starved)
        return taut_fail_memory(b->model->error);
    TAUT_TRY(taut_graph_status(x->graph, b->model->error));
    /* a mass is one number for all components, M[a,b] a multiple of the identity */
    bool repeat = s->role == TAUT_ROLE_MASS;
    int want = left.count == 1 && !repeat ? left.components : 1;
    if (s->point && value.n != 2 && value.n != 3)
        return taut_expand_fail(x, s->term.body->place,
                                "expected a point (x, y) or (x, y, z), found %s",
                                value.n == 1 ? "a number" : "a vector of more components");
    if (s->point)
        want = value.n;
    if (value.n != want && want > 1 && value.n == 1)
        return taut_expand_fail(
            x, s->item->value->place,
            "'%s' is a vector of %d components: the right-hand side must be one too",
            left.tree[0]->name, want);
    if (value.n != want)
        return taut_expand_fail(x, (s->stride ? s->term.body : s->item->value)->place,
                                "expected a number, found a vector of %d components", value.n);
    taut_slot_map m = {
        .s = s, .x = x, .members = &b->members, .member = g->member, .count = g->count};
    TAUT_TRY(taut_slot_map_prepare(&m, value.node, value.n, left.reference, left.count));
    if (b->survey)
        return taut_slot_map_show(&m, left.reference, left.count, b->first, b->survey);
    TAUT_TRY(taut_slot_map_make(&m, left.reference, left.count, left.base));
    int copies = repeat ? left.components : value.n;
    for (int c = 0; c < copies; c++)
        TAUT_TRY(add_kernel(b, x, g, &m, &left, value.node[value.n > 1 ? c : 0], c));
    return 0;
}

static int build_group(builder *b, const group *g)
{
    taut_expand x;
    TAUT_TRY(taut_expand_init(&x, b->model, b->s->document, b->s->allow, b->s->what));
    int status = expand_group(b, g, &x);
    if (status == TAUT_PENDING && b->s->pairs)
        status = taut_expand_fail(&x, x.pending_place,
                                  "the term of a sum over pairs must have one form for all pairs: "
                                  "it cannot depend on conditions of the indices");
    if (status == TAUT_PENDING)
        status = split(b, g, &x);
    taut_expand_clear(&x);
    return status;
}

static int list_members(builder *b)
{
    taut_expand x;
    taut_members found;
    TAUT_TRY(taut_expand_init(&x, b->model, b->s->document, 0, "a range"));
    x.iterators = b->s->term.iterators;
    memcpy(x.iterator, b->s->term.iterator, sizeof b->s->term.iterator);
    int status = taut_members_list(&x, &found);
    b->members = found;
    for (int k = 0; k < found.iterators && status == 0 && found.count; k++) {
        b->members.value[k] = TAUT_NEW(&b->arena, int32_t, found.count);
        if (!b->members.value[k])
            status = taut_fail_memory(b->model->error);
        else
            memcpy(b->members.value[k], found.value[k], (size_t)found.count * sizeof(int32_t));
    }
    taut_expand_clear(&x);
    return status;
}

static int build_groups(builder *b, int64_t own)
{
    group all = {.count = b->members.count};
    if (own < all.count) { /* the others first: groups are a stack */
        group *rest = TAUT_NEW(&b->arena, group, 1);
        TAUT_NEED(b->model->error, rest);
        *rest = (group){.count = all.count - own, .ghost = true};
        rest->member = TAUT_NEW(&b->arena, int32_t, rest->count);
        all.member = TAUT_NEW(&b->arena, int32_t, own);
        TAUT_NEED(b->model->error, rest->member, all.member);
        for (int64_t k = 0; k < all.count; k++)
            *(k < own ? &all.member[k] : &rest->member[k - own]) = (int32_t)k;
        all.count = own;
        b->groups = rest;
    }
    int status = all.count > 0 ? build_group(b, &all) : 0;
    while (status == 0 && b->groups) {
        group *g = b->groups;
        b->groups = g->next;
        status = build_group(b, g);
    }
    return status;
}

static int show_piece(void *user, const taut_members *members, int64_t first)
{
    builder *b = user;
    b->members = *members;
    b->first = first;
    b->made = 0;
    int status = build_groups(b, members->count);
    taut_arena_clear(&b->arena);
    return status == 0 && b->after ? b->after(b->user, members, first) : status;
}

int taut_statement_show(taut_statement *s, const taut_survey *survey, taut_members_piece *after,
                        void *user)
{
    enum { PIECE = 1 << 15 };
    builder b = {.s = s, .model = s->model, .survey = survey, .after = after, .user = user};
    taut_expand x;
    taut_arena_init(&b.arena, &s->model->scratch.allocator);
    TAUT_TRY(taut_expand_init(&x, s->model, s->document, 0, "a range"));
    x.iterators = s->term.iterators;
    memcpy(x.iterator, s->term.iterator, sizeof s->term.iterator);
    int status = taut_members_each(&x, PIECE, show_piece, &b);
    taut_expand_clear(&x);
    taut_arena_clear(&b.arena);
    return status;
}

int taut_statement_build(taut_statement *s)
{
    builder b = {.s = s, .model = s->model};
    int64_t own = INT64_MAX;
    if (s->model->survey)
        return taut_statement_show(s, s->model->survey, NULL, NULL);
    taut_arena_init(&b.arena, &s->model->scratch.allocator);
    int status = s->pairs                 ? taut_pairs_members(s, &b.arena, &b.members)
                 : s->model->system->part ? taut_part_members(s, &b.arena, &b.members, &own)
                                          : list_members(&b);
    if (status == 0)
        status = build_groups(&b, own);
    taut_arena_clear(&b.arena);
    return status;
}
