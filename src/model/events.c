/* events.c - [outputs] and [events]: values watched along a run, and what happens when an event
 * function passes zero. */
#include "model/model.h"

#include "system/rank_part.h"

static const unsigned watched = 1u << TAUT_FROM_Q | 1u << TAUT_FROM_V | 1u << TAUT_FROM_PARAMETER |
                                1u << TAUT_FROM_TIME | 1u << TAUT_FROM_LAMBDA;

static int name_item(taut_model *model, taut_model *space, const taut_item_tree *item,
                     taut_names *names, taut_index *first, int64_t *count)
{
    taut_symbol_block block;
    if (item->left->kind != TAUT_TREE_NAME || item->left->member || item->left->primes)
        return taut_model_fail(model, item->left->place, "expected a plain name on the left");
    TAUT_TRY(taut_space_name(space, model, item, item->left, names, &block));
    *first = names->block[names->blocks - 1].block.first;
    *count = block.box.count;
    return 0;
}

static int value_item(taut_model *model, const taut_item_tree *item, int list, taut_index first,
                      const char *what)
{
    taut_statement s =
        taut_statement_make(model, model->document, item, TAUT_ROLE_VALUE, watched, what);
    s.list = list;
    s.first_row = first;
    s.whole_row = first;
    return taut_statement_terms(&s, item->value);
}

static int read_action(taut_model *model, const taut_item_tree *item, taut_event *event)
{
    for (int32_t k = 0; k < item->attributes; k++) {
        const taut_attribute *a = &item->attribute[k];
        event->direction += a->word == TAUT_WORD_RISING ? 1 : a->word == TAUT_WORD_FALLING ? -1 : 0;
        event->stop = event->stop || a->word == TAUT_WORD_STOP;
        event->assignments += a->word == TAUT_WORD_THEN ? a->assignments : 0;
    }
    if (!event->stop && !event->assignments)
        return taut_model_fail(model, item->place,
                               "an event needs an action: stop, or then x' = ...");
    return 0;
}

/* `then`, for all members of a family; events[] have room for the components of vectors. */
static int read_values(taut_model *model, const taut_item_tree *item, const taut_attribute *a,
                       taut_index first, taut_event *events)
{
    for (int32_t j = 0; j < a->assignments; j++) {
        const taut_assignment *assignment = &a->assignment[j];
        if (assignment->left->kind != TAUT_TREE_NAME || assignment->left->primes > 1)
            return taut_model_fail(model, assignment->left->place,
                                   "expected a coordinate or its velocity on the left");
        taut_statement s = taut_statement_make(model, model->document, item, TAUT_ROLE_VALUE,
                                               watched, "a value after an event");
        s.left = assignment->left;
        s.velocity_rows = true;
        s.events = events;
        s.whole_row = first;
        TAUT_TRY(taut_statement_terms(&s, assignment->value));
    }
    return 0;
}

static int output_item(taut_model *model, taut_model *space, const taut_item_tree *item)
{
    taut_index first;
    int64_t count;
    TAUT_TRY(name_item(model, space, item, &model->system->outputs, &first, &count));
    return value_item(model, item, TAUT_LIST_OUTPUT, first, "an output");
}

/* Name and function; where the names are known, `names` is NULL and *first given. */
static int event_function(taut_model *model, taut_model *space, const taut_item_tree *item,
                          taut_names *names, taut_index *first, int64_t *count)
{
    if (names)
        TAUT_TRY(name_item(model, space, item, names, first, count));
    return value_item(model, item, TAUT_LIST_EVENT, *first, "an event");
}

static int event_values(taut_model *model, const taut_item_tree *item, taut_index first,
                        taut_event *events)
{
    for (int32_t k = 0; k < item->attributes; k++)
        if (item->attribute[k].word == TAUT_WORD_THEN)
            TAUT_TRY(read_values(model, item, &item->attribute[k], first, events));
    return 0;
}

static int event_item(taut_model *model, taut_model *space, const taut_item_tree *item,
                      int64_t known, int64_t *capacity)
{
    enum { COMPONENTS = 3 };
    taut_system *system = model->system;
    const taut_name_block *block =
        known < system->events.blocks ? &system->events.block[known].block : NULL;
    taut_event event = {0};
    taut_index first = block ? block->first : 0;
    int64_t count = block ? block->count : 0;
    TAUT_TRY(event_function(model, space, item, block ? NULL : &system->events, &first, &count));
    TAUT_TRY(read_action(model, item, &event));
    event.alters = event.assignments > 0;
    int64_t values = event.assignments * (int64_t)COMPONENTS;
    taut_event_value *room = TAUT_NEW(&system->arena, taut_event_value, values * count);
    TAUT_NEED(model->error, room);
    event.assignments = 0;
    for (int64_t i = 0; i < count; i++) {
        event.assign = room + i * values;
        system->event =
            taut_arena_grow(&system->arena, system->event, first + i, capacity, sizeof event);
        TAUT_NEED(model->error, system->event);
        system->event[first + i] = event;
    }
    return count > 0 ? event_values(model, item, first, &system->event[first]) : 0;
}

int taut_model_event_names(taut_model *model)
{
    taut_model space = taut_space_make(model);
    taut_index first;
    int64_t count;
    int status = 0;
    for (int64_t k = 0; k < model->document->items && status == 0; k++)
        if (model->document->item[k].section == TAUT_SECTION_EVENTS)
            status = name_item(model, &space, &model->document->item[k], &model->system->events,
                               &first, &count);
    taut_arena_clear(&space.scratch);
    return status;
}

int taut_model_event_show(taut_model *model, const taut_item_tree *item, taut_index first)
{
    TAUT_TRY(event_function(model, NULL, item, NULL, &first, NULL));
    return event_values(model, item, first, NULL);
}

int taut_model_events(taut_model *model)
{
    taut_system *system = model->system;
    taut_model outputs = taut_space_make(model), events = taut_space_make(model);
    int64_t capacity = 0, known = system->part ? 0 : INT64_MAX;
    int status = 0;
    bool omitted = false;
    for (int64_t k = 0; k < model->document->items && status == 0; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section == TAUT_SECTION_OUTPUTS && system->part) {
            if (system->part->space->rank == 0 && !omitted)
                status = taut_model_warn(model, model->document, item->place,
                                         "a run over several ranks omits [outputs]");
            omitted = true;
        } else if (item->section == TAUT_SECTION_OUTPUTS)
            status = output_item(model, &outputs, item);
        else if (item->section == TAUT_SECTION_EVENTS)
            status = event_item(model, &events, item, system->part ? known++ : known, &capacity);
    }
    taut_arena_clear(&outputs.scratch);
    taut_arena_clear(&events.scratch);
    system->sizes.outputs = (taut_index)system->outputs.total;
    system->sizes.events = (taut_index)system->events.total;
    system->sizes.can |= system->sizes.events ? TAUT_HAS_EVENTS : 0;
    return status;
}
