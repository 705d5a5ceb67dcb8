/* conserved_section.c - [invariants] of a mechanical model: functions of t, positions and
 * velocities, each a kernel over (q, v) (system/conserved.h). Their names are a space of their own:
 * they have no multipliers. */
#include "system/conserved.h"

#include "model/model.h"

static int conserved_item(taut_model *model, taut_model *space, const taut_item_tree *item)
{
    const unsigned allow =
        1u << TAUT_FROM_Q | 1u << TAUT_FROM_V | 1u << TAUT_FROM_PARAMETER | 1u << TAUT_FROM_TIME;
    taut_symbol_block block;
    if (!item->left)
        return taut_model_fail(model, item->place, "expected a name: energy = ...");
    TAUT_TRY(taut_space_name(space, model, item, item->left, &model->system->conserved, &block));
    taut_statement s =
        taut_statement_make(model, model->document, item, TAUT_ROLE_BOND, allow, "an invariant");
    s.list = TAUT_LIST_CONSERVED;
    s.first_row = block.box.first;
    s.joined = true;
    return taut_statement_terms(&s, item->value);
}

int taut_model_conserved(taut_model *model)
{
    taut_system *system = model->system;
    taut_model space = taut_space_make(model);
    int status = 0;
    for (int64_t k = 0; k < model->document->items && status == 0; k++)
        if (model->document->item[k].section == TAUT_SECTION_INVARIANTS)
            status = conserved_item(model, &space, &model->document->item[k]);
    taut_arena_clear(&space.scratch);
    if (status == 0)
        status = taut_conserved_complete(system, model->error);
    system->sizes.invariants = (taut_index)system->conserved.total;
    return status;
}
