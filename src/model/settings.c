/* settings.c - [run] and [stepper]: defaults of options, and how a black box or an inner
 * integrator is run. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/options.h"

static int number_text(taut_model *model, const taut_item_tree *item, char text[TAUT_NUMBER_SIZE])
{
    taut_expand x;
    int32_t node;
    double value;
    TAUT_TRY(taut_expand_init(&x, model, model->document, 0, "a setting"));
    int status = taut_expand_index(&x, item->value, NULL, &node);
    if (status == 0 && !taut_graph_is_constant(x.graph, node, &value))
        status = taut_model_fail(model, item->value->place, "expected a number made of parameters");
    if (status == 0)
        taut_number_format(value, 17, text);
    taut_expand_clear(&x);
    return status;
}

/* A number of [run], by a kernel that systems with other parameters run again. */
static int run_number(taut_model *model, const taut_item_tree *item, char text[TAUT_NUMBER_SIZE])
{
    taut_system *system = model->system;
    const int32_t before = system->value_kernels[TAUT_LIST_SETTING];
    double *value = taut_model_row_values(model, system->sizes.settings + 1);
    TAUT_NEED(model->error, value);
    taut_statement s = taut_statement_make(model, model->document, item, TAUT_ROLE_VALUE,
                                           1u << TAUT_FROM_PARAMETER, "a setting");
    s.list = TAUT_LIST_SETTING;
    s.first_row = system->sizes.settings;
    TAUT_TRY(taut_statement_terms(&s, item->value));
    for (int32_t k = before; k < system->value_kernels[TAUT_LIST_SETTING]; k++)
        TAUT_TRY(taut_model_run(model, system->setting_kernel[k], value));
    taut_number_format(value[system->sizes.settings], 17, text);
    if (system->setting_kernel[before]->slots == 0) /* a constant */
        system->value_kernels[TAUT_LIST_SETTING] = before;
    return 0;
}

static int keep_setting(taut_model *model, const taut_item_tree *item, taut_setting **list,
                        int32_t count, int64_t *capacity, const char *value)
{
    taut_arena *arena = &model->system->arena;
    *list = taut_arena_grow(arena, *list, count, capacity, sizeof **list);
    char *name = taut_arena_text(arena, item->left->name, strlen(item->left->name)),
         *copy = taut_arena_text(arena, value, strlen(value));
    TAUT_NEED(model->error, *list, name, copy);
    for (char *c = name; *c; c++) /* outer_step in files is --outer-step in flags */
        if (*c == '_')
            *c = '-';
    (*list)[count] = (taut_setting){name, copy};
    return 0;
}

static int run_item(taut_model *model, const taut_item_tree *item)
{
    char key[80], text[64];
    snprintf(key, sizeof key, "%s", item->left->name);
    for (char *c = key; *c; c++)
        if (*c == '_')
            *c = '-';
    const taut_option *option = taut_option_find(key);
    if (!option || !option->in_model) {
        taut_error unknown;
        taut_option_unknown(NULL, key, &unknown);
        return taut_model_fail(
            model, item->left->place, "unknown setting '%s' in [run]: %s", item->left->name,
            option ? "it is an option of a run, not of a model" : unknown.message);
    }
    for (taut_index k = 0; k < model->system->sizes.settings; k++)
        if (strcmp(model->system->setting[k].name, key) == 0)
            return taut_model_fail(model, item->left->place, "'%s' is given twice in [run]",
                                   item->left->name);
    const char *value = item->raw;
    bool word = value && taut_option_word(option, value);
    if (!word && (option->type == TAUT_OPTION_REAL || option->type == TAUT_OPTION_INTEGER)) {
        if (!item->value)
            return taut_model_fail(model, item->place, "expected a number");
        TAUT_TRY(run_number(model, item, text));
        value = text;
    }
    taut_options *probe;
    TAUT_TRY(taut_options_create(&model->scratch.allocator, &probe, model->error));
    taut_error wrong;
    int status = taut_options_set_as(probe, "", key, value ? value : "", &wrong);
    taut_options_destroy(probe);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(model->error);
    if (status)
        return taut_model_fail(model, item->value ? item->value->place : item->place, "%s",
                               wrong.message);
    TAUT_TRY(keep_setting(model, item, &model->system->setting, model->system->sizes.settings,
                          &model->setting_capacity, value));
    model->system->sizes.settings++;
    return 0;
}

static int stepper_item(taut_model *model, const taut_item_tree *item)
{
    static const char *const keys[] = {"command", "library", "horizon", "method",  "step",
                                       "order",   "timeout", "copies",  "restarts"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    int key = 0;
    while (key < KEYS && strcmp(keys[key], item->left->name) != 0)
        key++;
    if (key == KEYS) {
        const char *near = taut_near_miss(item->left->name, keys, KEYS);
        return taut_model_fail(model, item->left->place,
                               "unknown setting '%s' in [stepper]%s%s%s; choose command, "
                               "library, horizon, method, step, order, timeout, copies or restarts",
                               item->left->name, near ? "; did you mean '" : "", near ? near : "",
                               near ? "'?" : "");
    }
    char text[64];
    const char *value = item->raw;
    if (key == 2 || key >= 4) {
        if (!item->value)
            return taut_model_fail(model, item->place, "expected a number");
        TAUT_TRY(number_text(model, item, text));
        value = text;
    }
    if (key < 2)
        model->system->sizes.kind = TAUT_BLACK_BOX;
    TAUT_TRY(keep_setting(model, item, &model->system->stepper, model->system->steppers,
                          &model->stepper_capacity, value ? value : ""));
    model->system->steppers++;
    return 0;
}

int taut_model_settings(taut_model *model)
{
    for (int64_t k = 0; k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section == TAUT_SECTION_RUN)
            TAUT_TRY(run_item(model, item));
        if (item->section == TAUT_SECTION_STEPPER)
            TAUT_TRY(stepper_item(model, item));
    }
    return 0;
}
