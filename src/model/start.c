/* start.c - [start]: names refer to initial values, in any order; one member may depend on another
 * (bob[i] on bob[i-1]).
 *
 * Lines become VALUE kernels. Values that depend on no other initial value are computed in batches;
 * the others, member by member, in an order found once by a depth-first search with its own stack
 * (the recursion of a chain of a million links would exhaust the stack of the process). */
#include "model/model.h"

#include <math.h>

typedef struct order {
    taut_model *model;
    int64_t targets, n;
    int32_t *owner; /* kernel of each target, -1 for none */
    taut_index *owner_member;
    unsigned char *state;           /* 0 new, 1 on the stack, 2 done */
    unsigned char *depends;         /* [kernels]: reads other initial values */
    const taut_document **document; /* [kernels] and place, for messages */
    taut_place *place;
} order;

/* ---- building */

static int mark_hold(taut_model *model, const taut_item_tree *item, int32_t before)
{
    taut_system *system = model->system;
    int64_t n = system->sizes.coordinates;
    unsigned bits = 0;
    for (int32_t k = 0; k < item->attributes; k++)
        bits |= item->attribute[k].word == TAUT_WORD_HOLD    ? TAUT_HOLD_POSITION
                : item->attribute[k].word == TAUT_WORD_GUESS ? TAUT_GUESS
                                                             : 0;
    if (!bits)
        return 0;
    if (!system->hold && !(system->hold = TAUT_NEW(&system->arena, unsigned char, n)))
        return taut_fail_memory(model->error);
    for (int32_t k = before; k < system->value_kernels[TAUT_LIST_START]; k++) {
        const taut_statement_kernel *kernel = system->start_kernel[k];
        for (int64_t i = 0; i < kernel->members; i++) {
            taut_index row = kernel->row[i];
            unsigned position = bits & ~(unsigned)TAUT_HOLD_POSITION,
                     velocity = position | (bits & TAUT_HOLD_POSITION ? TAUT_HOLD_VELOCITY : 0);
            if (row < n)
                system->hold[row] |= (unsigned char)bits;
            else if (row - n < n && !model->first_order)
                system->hold[row - n] |= (unsigned char)velocity;
        }
    }
    return 0;
}

static int start_items(taut_model *model, const taut_document *document, order *o,
                       int64_t *capacity)
{
    taut_system *system = model->system;
    for (int64_t k = 0; document && k < document->items; k++) {
        const taut_item_tree *item = &document->item[k];
        if (item->section != TAUT_SECTION_START)
            continue;
        if (item->left->kind != TAUT_TREE_NAME || item->left->primes > 1 ||
            (item->left->primes && model->first_order))
            return taut_document_fail(document, item->left->place, model->error,
                                      "expected a coordinate or its velocity on the left");
        int32_t before = system->value_kernels[TAUT_LIST_START];
        taut_statement s = taut_statement_make(model, document, item, TAUT_ROLE_VALUE,
                                               1u << TAUT_FROM_Q | 1u << TAUT_FROM_V |
                                                   1u << TAUT_FROM_PARAMETER | 1u << TAUT_FROM_TIME,
                                               "an initial value");
        s.list = TAUT_LIST_START;
        s.left = item->left;
        s.velocity_rows = true;
        TAUT_TRY(taut_statement_terms(&s, item->value));
        for (int32_t j = before; j < system->value_kernels[TAUT_LIST_START]; j++) {
            int64_t was = *capacity;
            o->document =
                taut_arena_grow(&model->scratch, o->document, j, capacity, sizeof *o->document);
            o->place = taut_arena_grow(&model->scratch, o->place, j, &was, sizeof *o->place);
            TAUT_NEED(model->error, o->document, o->place);
            o->document[j] = document;
            o->place[j] = item->place;
        }
        TAUT_TRY(mark_hold(model, item, before));
    }
    return 0;
}

/* ---- order */

static int64_t slot_target(const order *o, const taut_slot *slot, int64_t member)
{
    int64_t k = slot->gather ? slot->gather[member] : slot->one;
    return slot->source == TAUT_FROM_V ? o->n + k : k;
}

static void find_owners(order *o)
{
    const taut_system *system = o->model->system;
    for (int64_t k = 0; k < o->targets; k++)
        o->owner[k] = -1;
    for (int32_t k = 0; k < system->value_kernels[TAUT_LIST_START]; k++) {
        const taut_statement_kernel *kernel = system->start_kernel[k];
        for (int32_t s = 0; s < kernel->slots; s++)
            o->depends[k] |=
                kernel->slot[s].source == TAUT_FROM_Q || kernel->slot[s].source == TAUT_FROM_V;
        for (int64_t i = 0; i < kernel->members; i++) { /* later lines override */
            o->owner[kernel->row[i]] = k;
            o->owner_member[kernel->row[i]] = (taut_index)i;
        }
    }
}

static int add_step(order *o, int32_t kernel, taut_index member, int64_t *capacity)
{
    taut_system *system = o->model->system;
    int64_t was = *capacity;
    system->start_kernel_of = taut_arena_grow(&system->arena, system->start_kernel_of,
                                              system->start_steps, capacity, sizeof(int32_t));
    system->start_member_of = taut_arena_grow(&system->arena, system->start_member_of,
                                              system->start_steps, &was, sizeof(taut_index));
    TAUT_NEED(o->model->error, system->start_kernel_of, system->start_member_of);
    system->start_kernel_of[system->start_steps] = kernel;
    system->start_member_of[system->start_steps++] = member;
    return 0;
}

static int fail_cycle(const order *o, int64_t target)
{
    char name[160];
    int32_t kernel = o->owner[target];
    bool velocity = target >= o->n;
    taut_names_print(velocity && o->model->first_order ? &o->model->system->algebraic
                                                       : &o->model->system->coordinates,
                     (taut_index)(velocity ? target - o->n : target), name, sizeof name);
    return taut_document_fail(o->document[kernel], o->place[kernel], o->model->error,
                              "the initial value of %s%s depends on itself", name,
                              velocity && !o->model->first_order ? "'" : "");
}

/* Depth first from one target; the stack holds targets, a negative entry closes one. */
static int visit(order *o, int64_t root, int64_t *stack, int64_t *capacity)
{
    int64_t depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
        int64_t target = stack[--depth];
        if (target < 0) {
            target = ~target;
            o->state[target] = 2;
            TAUT_TRY(add_step(o, o->owner[target], o->owner_member[target], capacity));
            continue;
        }
        if (o->state[target] == 2)
            continue;
        if (o->state[target] == 1)
            return fail_cycle(o, target);
        o->state[target] = 1;
        stack[depth++] = ~target;
        const taut_statement_kernel *kernel = o->model->system->start_kernel[o->owner[target]];
        for (int32_t s = 0; s < kernel->slots; s++) {
            const taut_slot *slot = &kernel->slot[s];
            if (slot->source != TAUT_FROM_Q && slot->source != TAUT_FROM_V)
                continue;
            int64_t next = slot_target(o, slot, o->owner_member[target]);
            if (o->owner[next] < 0 || !o->depends[o->owner[next]] || o->state[next] == 2)
                continue;
            if (o->state[next] == 1)
                return fail_cycle(o, next);
            stack[depth++] = next;
        }
    }
    return 0;
}

static int find_order(order *o)
{
    const taut_system *system = o->model->system;
    int32_t kernels = system->value_kernels[TAUT_LIST_START];
    int64_t capacity = 0, edges = 2;
    taut_arena *scratch = &o->model->scratch;
    o->owner = TAUT_NEW(scratch, int32_t, o->targets);
    o->owner_member = TAUT_NEW(scratch, taut_index, o->targets);
    o->state = TAUT_NEW(scratch, unsigned char, o->targets);
    o->depends = TAUT_NEW(scratch, unsigned char, kernels);
    TAUT_NEED(o->model->error, o->owner, o->owner_member, o->state, o->depends);
    find_owners(o);
    for (int32_t k = 0; k < kernels; k++) {
        if (!o->depends[k])
            TAUT_TRY(add_step(o, ~k, 0, &capacity));
        else
            edges += system->start_kernel[k]->members * (system->start_kernel[k]->slots + 2);
    }
    int64_t *stack = TAUT_NEW(scratch, int64_t, edges + 2);
    TAUT_NEED(o->model->error, stack);
    for (int64_t k = 0; k < o->targets; k++)
        if (o->owner[k] >= 0 && o->depends[o->owner[k]] && o->state[k] == 0)
            TAUT_TRY(visit(o, k, stack, &capacity));
    return 0;
}

static int all_items(taut_model *model, order *o, int64_t *capacity)
{
    TAUT_TRY(start_items(model, model->document, o, capacity));
    TAUT_TRY(start_items(model, model->further, o, capacity));
    return start_items(model, model->overrides, o, capacity);
}

int taut_model_start_show(taut_model *model)
{
    order o = {.model = model};
    int64_t capacity = 0;
    return all_items(model, &o, &capacity);
}

int taut_model_start(taut_model *model)
{
    taut_system *system = model->system;
    int64_t second = model->first_order ? system->algebraic.total : system->sizes.coordinates,
            capacity = 0;
    order o = {.model = model,
               .n = system->sizes.coordinates,
               .targets = system->sizes.coordinates + second};
    TAUT_TRY(all_items(model, &o, &capacity));
    return find_order(&o);
}
