/* saddle_bonds.c - see saddle_bonds.h. In the Schur form,
 *
 *     (A + D) y = -s,     x = -K^-1 G1^T y,
 *
 * nothing is to be done before, and x is a sum over each column of G, written once. */
#include "linalg/saddle_bonds.h"

#include "base/vectors.h"
#include "linalg/backend.h"
#include "linalg/form_runs.h"

/* Scales and reorders s; and back, with x. */
static void begin(taut_form *form, const double *restrict y)
{
    double *restrict vector = form->vector;
    const taut_index *place = form->place;
    for (taut_index i = 0; i < form->shape.m; i++)
        vector[place[i]] = -y[i] * form->scale[i];
}

static void finish(const taut_form *form, double *restrict x, double *restrict y)
{
    const double *restrict vector = form->vector, *restrict g1 = form->g1,
                           *restrict k_inverse = form->k_inverse;
    const taut_index *start = form->columns.start, *row = form->columns.row,
                     *entry = form->columns.entry;
    for (taut_index i = 0; i < form->shape.m; i++)
        y[i] = vector[form->place[i]] * form->scale[i];
    for (taut_index j = 0, e = start[0]; j < form->shape.n; j++) {
        double sum = 0;
        for (taut_index end = start[j + 1]; e < end; e++)
            sum += g1[entry[e]] * vector[row[e]];
        x[j] = -k_inverse[j] * sum;
    }
}

/* `opposite`: y holds -s. */
static int solve_bonds(taut_saddle *saddle, bool opposite, double *x, double *y, taut_error *error)
{
    taut_form *form = &saddle->form;
    if (form->runs)
        taut_form_runs_before(form, opposite, NULL, y);
    else
        begin(form, y);
    TAUT_TRY(saddle->functions->solve(saddle, error));
    if (form->runs)
        taut_form_runs_after_bonds(form, x, y);
    else
        finish(form, x, y);
    taut_halo_refresh(form->shape.column_halo, x);
    return TAUT_OK;
}

int taut_saddle_solve_bonds(taut_saddle *saddle, double *x, double *y, taut_error *error)
{
    taut_form *form = &saddle->form;
    if (form->schur && !form->shape.complex_values && saddle->factored)
        return solve_bonds(saddle, false, x, y, error);
    taut_clear(form->shape.n, x);
    return taut_saddle_solve(saddle, 1, x, y, error);
}

int taut_saddle_oppose(taut_saddle *saddle, bool forced, double *x, double *y, taut_error *error)
{
    taut_form *form = &saddle->form;
    if (form->runs && saddle->factored && forced) {
        taut_form_runs_before(form, true, x, y);
        TAUT_TRY(saddle->functions->solve(saddle, error));
        taut_form_runs_after(form, x, y);
        taut_halo_refresh(form->shape.column_halo, x);
        return TAUT_OK;
    }
    if (form->runs && saddle->factored)
        return solve_bonds(saddle, true, x, y, error);
    for (taut_index i = 0; i < form->shape.m; i++)
        y[i] = -y[i];
    return forced ? taut_saddle_solve(saddle, 1, x, y, error)
                  : taut_saddle_solve_bonds(saddle, x, y, error);
}

double *taut_saddle_columns(taut_saddle *saddle)
{
    return saddle && saddle->form.runs ? saddle->form.g2 : NULL;
}

bool taut_saddle_rows(const taut_saddle *saddle, const double *x, double *y)
{
    bool kept = saddle && saddle->factored && saddle->form.runs;
    if (kept)
        taut_form_runs_product(&saddle->form, x, y);
    return kept;
}

bool taut_saddle_pull(const taut_saddle *saddle, const double *y, double *x)
{
    bool kept = saddle && saddle->factored && saddle->form.runs;
    if (kept) {
        taut_form_runs_pull(&saddle->form, y, x);
        taut_halo_refresh(saddle->form.shape.column_halo, x);
    }
    return kept;
}
