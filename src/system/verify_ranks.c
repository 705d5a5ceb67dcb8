/* verify_ranks.c - derivatives that several ranks have verified, each on its part. */
#include "system/rank_part.h"
#include "system/verify.h"

static bool is_wrong(const taut_derivative_check *row)
{
    return !(row->deviation <= row->limit + row->uncertainty);
}

int taut_verify_join(const taut_context *context, taut_derivative_check *rows, int count,
                     taut_error *error)
{
    taut_space *space = taut_context_space(context);
    if (!space)
        return TAUT_OK;
    taut_arena scratch;
    taut_arena_init(&scratch, &context->arena.allocator);
    taut_derivative_check *all = TAUT_NEW(&scratch, taut_derivative_check, space->size);
    int status = all ? TAUT_OK : taut_fail_memory(error);
    for (int k = 0; k < count && status == 0; k++) {
        const char *name = rows[k].name; /* of this process */
        const taut_derivative_check *worst = &all[0];
        space->calls->gather(space, sizeof rows[k], &rows[k], all);
        for (int r = 1; r < space->size; r++)
            if (is_wrong(&all[r]) == is_wrong(worst) ? all[r].deviation > worst->deviation
                                                     : is_wrong(&all[r]))
                worst = &all[r];
        rows[k] = *worst;
        rows[k].name = name;
    }
    taut_arena_clear(&scratch);
    return status;
}
