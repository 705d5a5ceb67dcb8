/* tiny.c - matrices of at most 16 rows: own dense kernels, without the overhead of a library
 * call. */
#include "linalg/backend.h"

#include <string.h>

#include "linalg/small_kernels.h"

int taut_full_create(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    taut_full *work = saddle->work = TAUT_NEW(&saddle->arena, taut_full, 1);
    if (!work)
        return taut_fail_memory(error);
    form->offset = 0;
    form->step = form->rows;
    work->matrix =
        taut_arena_get(&saddle->arena, (int64_t)form->rows * form->rows, taut_form_scalar(form));
    work->pivot = TAUT_NEW(&saddle->arena, taut_index, form->rows);
    return work->matrix && work->pivot ? 0 : taut_fail_memory(error);
}

int taut_full_form(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    taut_full *work = saddle->work;
    taut_form *form = &saddle->form;
    TAUT_TRY(taut_form_load(form, values, error));
    memset(work->matrix, 0, (size_t)form->rows * (size_t)form->rows * taut_form_scalar(form));
    taut_form_assemble(form, values, work->matrix);
    return 0;
}

taut_index taut_full_decompose(const taut_form *form, taut_full *work, double tolerance)
{
    return form->definite ? taut_ldl_factor(form->rows, work->matrix, tolerance)
                          : taut_lu_factor(form->shape.complex_values, form->rows, work->matrix,
                                           work->pivot, tolerance);
}

void taut_full_substitute(taut_form *form, const taut_full *work)
{
    if (form->definite)
        taut_ldl_solve(form->rows, work->matrix, form->vector);
    else
        taut_lu_solve(form->shape.complex_values, form->rows, work->matrix, work->pivot,
                      form->vector);
}

static int tiny_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    const taut_form *form = &saddle->form;
    TAUT_TRY(taut_full_form(saddle, values, error));
    taut_index bad = taut_full_decompose(form, saddle->work, taut_form_tolerance(form->rows));
    return bad ? taut_form_singular(form, values, bad - 1, error) : 0;
}

static int tiny_solve(taut_saddle *saddle, taut_error *error)
{
    (void)error;
    taut_full_substitute(&saddle->form, saddle->work);
    return 0;
}

const taut_backend_functions taut_backend_tiny = {taut_full_create, tiny_factor, tiny_solve, NULL};
