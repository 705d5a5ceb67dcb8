/* parameters.c - parameters are evaluated when first needed, so that their order in the file
 * does not matter; the order of need is kept, and contexts renew them in it. Values given by the
 * program override the file. */
#include "base/vectors.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

enum { DEMAND_LIMIT = 200 };

int taut_model_run(taut_model *model, const taut_statement_kernel *kernel, double *value)
{
    taut_arena arena;
    taut_block_regs regs = {0};
    taut_arena_init(&arena, &model->scratch.allocator);
    if (taut_statement_kernel_regs(kernel, &arena, &regs)) {
        taut_arena_clear(&arena);
        return taut_fail_memory(model->error);
    }
    taut_inputs inputs = {.parameter = model->parameter};
    taut_statement_kernel_set_parameters(kernel, model->parameter, &regs);
    for (int64_t first = 0; first < kernel->members; first += regs.lanes) {
        int n = kernel->members - first < regs.lanes ? (int)(kernel->members - first) : regs.lanes;
        taut_statement_kernel_run(kernel, 0, first, n, &inputs, &regs);
        for (int l = 0; l < n; l++)
            value[kernel->row[first + l]] =
                regs.regs[(int64_t)kernel->tape->output[0] * regs.lanes + l];
    }
    taut_arena_clear(&arena);
    return 0;
}

/* Values and flags have room for all parameters declared so far. */
static int make_room(taut_model *model)
{
    int64_t total = model->system->parameters.total, old = model->system->sizes.parameters;
    model->system->sizes.parameters = (taut_index)total;
    if (total <= model->parameter_capacity)
        return 0;
    model->parameter_capacity =
        total > 2 * model->parameter_capacity ? total : 2 * model->parameter_capacity;
    double *value = TAUT_NEW(&model->system->arena, double, model->parameter_capacity);
    unsigned char *fixed =
        TAUT_NEW(&model->system->arena, unsigned char, model->parameter_capacity);
    TAUT_NEED(model->error, value, fixed);
    if (old) {
        taut_copy(old, model->parameter, value);
        memcpy(fixed, model->system->parameter_fixed, (size_t)old);
    }
    model->parameter = model->system->parameter_value = value;
    model->system->parameter_fixed = fixed;
    return 0;
}

static int build(taut_model *model, const taut_document *document, const taut_item_tree *item)
{
    int32_t before = model->system->value_kernels[TAUT_LIST_PARAMETER];
    taut_statement s = taut_statement_make(model, document, item, TAUT_ROLE_VALUE,
                                           1u << TAUT_FROM_PARAMETER, "a parameter");
    s.list = TAUT_LIST_PARAMETER;
    s.left = item->left;
    TAUT_TRY(taut_statement_terms(&s, item->value));
    for (int32_t k = before; k < model->system->value_kernels[TAUT_LIST_PARAMETER]; k++) {
        const taut_statement_kernel *kernel = model->system->parameter_kernel[k];
        TAUT_TRY(taut_model_run(model, kernel, model->parameter));
        for (int64_t i = 0; i < kernel->members; i++)
            if (!isfinite(model->parameter[kernel->row[i]]))
                return taut_document_fail(document, item->value->place, model->error,
                                          "this parameter has no finite value (%g)",
                                          model->parameter[kernel->row[i]]);
    }
    return 0;
}

static bool same_name(const taut_item_tree *item, const char *name)
{
    return item->left && strcmp(item->left->name, name) == 0;
}

int taut_model_demand(taut_model *model, taut_symbol *symbol, const taut_document *document,
                      taut_place place)
{
    if (symbol->state == 2)
        return 0;
    if (symbol->state == 1 || model->depth > DEMAND_LIMIT)
        return taut_document_fail(document, place, model->error,
                                  symbol->state == 1
                                      ? "the parameter '%s' depends on itself"
                                      : "parameters depend on one another too deeply at '%s'",
                                  symbol->name);
    symbol->state = 1;
    model->depth++;
    for (int32_t b = 0; b < symbol->blocks; b++)
        if (symbol->block[b].kind == TAUT_SYMBOL_PARAMETER)
            TAUT_TRY(build(model, symbol->block[b].document, symbol->block[b].item));
    /* single members of a family: --set m[2]=5 */
    const taut_document *set = model->parameter_overrides;
    for (int64_t k = 0; set && symbol->dims && k < set->items; k++)
        if (same_name(&set->item[k], symbol->name))
            TAUT_TRY(build(model, set, &set->item[k]));
    model->depth--;
    symbol->state = 2;
    return 0;
}

static int check_item(taut_model *model, const taut_document *document, const taut_item_tree *item)
{
    if (item->left->kind != TAUT_TREE_NAME || item->left->primes || item->left->member)
        return taut_document_fail(document, item->left->place, model->error,
                                  "expected the name of a parameter");
    return 0;
}

static const taut_item_tree *last_override(const taut_model *model, const char *name)
{
    const taut_document *set = model->parameter_overrides;
    const taut_item_tree *found = NULL;
    for (int64_t k = 0; set && k < set->items; k++)
        if (same_name(&set->item[k], name) && set->item[k].left->count == 0)
            found = &set->item[k];
    return found;
}

static int declare_all(taut_model *model, bool families)
{
    for (int64_t k = 0; k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section != TAUT_SECTION_PARAMETERS)
            continue;
        TAUT_TRY(check_item(model, model->document, item));
        if ((item->left->count > 0) != families)
            continue;
        const taut_item_tree *other = families ? NULL : last_override(model, item->left->name);
        taut_symbol *symbol;
        TAUT_TRY(taut_model_declare(model, model->document, TAUT_SYMBOL_PARAMETER, item, item->left,
                                    &model->system->parameters, 1, &symbol));
        if (other) {
            symbol->block[0].item = other;
            symbol->block[0].document = model->parameter_overrides;
        }
        TAUT_TRY(make_room(model));
    }
    return 0;
}

int taut_model_parameters(taut_model *model, const taut_document *overrides)
{
    model->parameter_overrides = overrides;
    TAUT_TRY(declare_all(model, false));
    TAUT_TRY(declare_all(model, true));
    for (int64_t k = 0; overrides && k < overrides->items; k++) {
        const taut_item_tree *item = &overrides->item[k];
        TAUT_TRY(check_item(model, overrides, item));
        taut_symbol *symbol = taut_model_find(model, item->left->name);
        if (!symbol)
            return taut_model_unknown(model, overrides, item->left->place, item->left->name);
    }
    for (int64_t k = 0; k < model->symbols; k++)
        if (model->symbol[k]->kind == TAUT_SYMBOL_PARAMETER)
            TAUT_TRY(taut_model_demand(model, model->symbol[k], model->document,
                                       model->symbol[k]->place));
    return 0;
}
