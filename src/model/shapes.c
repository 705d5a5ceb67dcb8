/* shapes.c - [shapes]: what a page or a picture draws for generalised coordinates. A shape is a
 * call of its kind with points, whose numbers are values of the state as outputs are. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

/* Arguments are points; the second one of a circle is its radius, a number. */
static const struct {
    const char *name;
    int least, most;
    const char *takes;
} kinds[] = {
    [TAUT_SHAPE_POINT] = {"point", 1, 1, "a point"},
    [TAUT_SHAPE_LINE] = {"line", 2, 2, "two points"},
    [TAUT_SHAPE_PATH] = {"path", 2, INT_MAX, "at least two points"},
    [TAUT_SHAPE_CIRCLE] = {"circle", 2, 2, "a point and a radius"},
    [TAUT_SHAPE_BOX] = {"box", 2, 2, "two opposite corners"},
    [TAUT_SHAPE_ARROW] = {"arrow", 2, 2, "two points, its tail and its tip"},
    [TAUT_SHAPE_TEXT] = {"text", 1, 1, "a point; its words are written label \"...\""},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int find_kind(taut_model *model, const taut_tree *value, taut_shape_kind *kind)
{
    const char *names[KINDS], *near = NULL;
    int k = 0;
    for (int j = 0; j < KINDS; j++)
        names[j] = kinds[j].name;
    while (k < KINDS && !(value->kind == TAUT_TREE_CALL && strcmp(value->name, names[k]) == 0))
        k++;
    if (k == KINDS && value->kind == TAUT_TREE_CALL)
        near = taut_near_miss(value->name, names, KINDS);
    if (k == KINDS)
        return taut_model_fail(
            model, value->place,
            "expected a shape: point, line, path, circle, box, arrow or text, as "
            "in line((0, 0), (x, y))%s%s%s",
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    if (value->count < kinds[k].least || value->count > kinds[k].most)
        return taut_model_fail(model, value->place, "%s needs %s, found %d argument%s", names[k],
                               kinds[k].takes, value->count, value->count == 1 ? "" : "s");
    *kind = (taut_shape_kind)k;
    return 0;
}

static int find_width(taut_model *model, const taut_tree *tree, double *width)
{
    taut_expand x;
    int32_t node;
    TAUT_TRY(taut_expand_init(&x, model, model->document, 0, "a width"));
    int status = taut_expand_index(&x, tree, NULL, &node);
    bool good = status == 0 && taut_graph_is_constant(x.graph, node, width) && *width > 0 &&
                isfinite(*width);
    if (!good && (status == 0 || status == TAUT_ERROR_MODEL))
        status = taut_model_fail(model, tree->place,
                                 "expected a width > 0 in pixels, made of numbers and parameters");
    taut_expand_clear(&x);
    return status;
}

static int find_attributes(taut_model *model, const taut_item_tree *item, taut_shape *shape)
{
    taut_arena *arena = &model->system->arena;
    const taut_attribute *width = taut_item_attribute(item, TAUT_WORD_WIDTH),
                         *colour = taut_item_attribute(item, TAUT_WORD_COLOUR),
                         *label = taut_item_attribute(item, TAUT_WORD_LABEL);
    if (width)
        TAUT_TRY(find_width(model, width->value, &shape->width));
    if (colour && !(shape->colour = taut_arena_text(arena, colour->text, strlen(colour->text))))
        return taut_fail_memory(model->error);
    if (label && shape->kind != TAUT_SHAPE_TEXT)
        return taut_model_fail(model, label->place, "'label' is the words of a shape text(...)");
    if (label && !(shape->text = taut_arena_text(arena, label->text, strlen(label->text))))
        return taut_fail_memory(model->error);
    return 0;
}

/* One shape for each member, with its name; a text without words shows its name. */
static int add_members(taut_model *model, const taut_names *names, taut_shape shape, int64_t count,
                       int64_t *capacity)
{
    taut_system *system = model->system;
    for (int64_t k = 0; k < count; k++) {
        char name[256];
        taut_names_print(names, system->shapes, name, sizeof name);
        system->shape = taut_arena_grow(&system->arena, system->shape, system->shapes, capacity,
                                        sizeof *system->shape);
        TAUT_NEED(model->error, system->shape);
        taut_shape *one = &system->shape[system->shapes++];
        *one = shape;
        one->first = system->shape_points;
        one->name = taut_arena_text(&system->arena, name, strlen(name));
        TAUT_NEED(model->error, one->name);
        if (shape.kind == TAUT_SHAPE_TEXT && !shape.text)
            one->text = one->name;
        system->shape_points += shape.points;
    }
    return 0;
}

static int shape_item(taut_model *model, taut_model *space, taut_names *names,
                      const taut_item_tree *item, int64_t *capacity)
{
    const unsigned allow = 1u << TAUT_FROM_Q | 1u << TAUT_FROM_V | 1u << TAUT_FROM_PARAMETER |
                           1u << TAUT_FROM_TIME | 1u << TAUT_FROM_LAMBDA;
    const taut_tree *value = item->value;
    taut_symbol_block block;
    taut_shape shape = {.size = sizeof shape, .points = value->count};
    if (item->left->kind != TAUT_TREE_NAME || item->left->member || item->left->primes)
        return taut_model_fail(model, item->left->place, "expected a plain name on the left");
    TAUT_TRY(find_kind(model, value, &shape.kind));
    TAUT_TRY(find_attributes(model, item, &shape));
    TAUT_TRY(taut_space_name(space, model, item, item->left, names, &block));
    if (block.box.count * shape.points > (INT_MAX / 3 - model->system->shape_points))
        return taut_model_fail(model, item->place, "too many points in [shapes]");
    for (int32_t k = 0; k < value->count; k++) {
        taut_statement s =
            taut_statement_make(model, model->document, item, TAUT_ROLE_VALUE, allow, "a shape");
        s.list = TAUT_LIST_SHAPE;
        s.first_row = 3 * (model->system->shape_points + k);
        s.stride = 3 * shape.points;
        s.point = !(shape.kind == TAUT_SHAPE_CIRCLE && k == 1);
        TAUT_TRY(taut_statement_terms(&s, value->child[k]));
    }
    return add_members(model, names, shape, block.box.count, capacity);
}

int taut_model_shapes(taut_model *model)
{
    taut_model space = taut_space_make(model);
    taut_names names = {0};
    int64_t capacity = 0;
    int status = 0;
    for (int64_t k = 0; k < model->document->items && status == 0; k++)
        if (model->document->item[k].section == TAUT_SECTION_SHAPES)
            status = shape_item(model, &space, &names, &model->document->item[k], &capacity);
    taut_arena_clear(&space.scratch);
    return status;
}
