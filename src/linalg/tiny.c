/* tiny.c - matrices of at most 16 rows: own dense kernels, without the overhead of a library call. */
#include "linalg/backend.h"

#include <string.h>

#include "linalg/kernels.h"

typedef struct tiny {
    void *matrix;
    taut_index *pivot;
} tiny;

static int tiny_create(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    tiny *work = saddle->work = TAUT_NEW(&saddle->arena, tiny, 1);
    if (!work)
        return taut_fail_memory(error);
    form->offset = 0;
    form->step = form->rows;
    work->matrix = taut_arena_get(&saddle->arena, (int64_t)form->rows * form->rows, taut_form_scalar(form));
    work->pivot = TAUT_NEW(&saddle->arena, taut_index, form->rows);
    return work->matrix && work->pivot ? 0 : taut_fail_memory(error);
}

static int tiny_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error)
{
    tiny *work = saddle->work;
    taut_form *form = &saddle->form;
    double tolerance = taut_form_tolerance(form->rows);
    TAUT_TRY(taut_form_load(form, values, error));
    memset(work->matrix, 0, (size_t)form->rows * (size_t)form->rows * taut_form_scalar(form));
    taut_form_assemble(form, values, work->matrix);
    taut_index bad = form->definite ? taut_ldl_factor(form->rows, work->matrix, tolerance)
                                    : taut_lu_factor(form->shape.complex_values, form->rows, work->matrix, work->pivot, tolerance);
    return bad ? taut_form_singular(form, values, bad - 1, error) : 0;
}

static int tiny_solve(taut_saddle *saddle, taut_error *error)
{
    (void)error;
    tiny *work = saddle->work;
    taut_form *form = &saddle->form;
    if (form->definite)
        taut_ldl_solve(form->rows, work->matrix, form->vector);
    else
        taut_lu_solve(form->shape.complex_values, form->rows, work->matrix, work->pivot, form->vector);
    return 0;
}

const taut_backend_functions taut_backend_tiny = {tiny_create, tiny_factor, tiny_solve, NULL};
