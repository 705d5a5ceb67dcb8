/* conserved.c - see conserved.h. */
#include "system/conserved.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"

int taut_conserved_complete(taut_system *system, taut_error *error)
{
    int32_t kernels, first;
    taut_statement_kernel **kernel =
        taut_system_list(system, TAUT_LIST_CONSERVED, &kernels, &first);
    taut_index rows = (taut_index)system->conserved.total;
    if (rows == 0)
        return TAUT_OK;
    int64_t entries = 0;
    taut_index *start = TAUT_NEW(&system->arena, taut_index, rows + 1);
    TAUT_NEED(error, start);
    for (int32_t k = 0; k < kernels; k++)
        for (int64_t i = 0; i < kernel[k]->members; i++)
            start[kernel[k]->row[i] + 1] += kernel[k]->locals;
    for (taut_index i = 0; i < rows; i++)
        start[i + 1] += start[i];
    entries = start[rows];
    taut_index *column = TAUT_NEW(&system->arena, taut_index, entries),
               *next = TAUT_NEW(&system->arena, taut_index, rows);
    TAUT_NEED(error, column, next);
    memcpy(next, start, (size_t)rows * sizeof *next);
    for (int32_t k = 0; k < kernels; k++)
        for (int64_t i = 0; i < kernel[k]->members; i++)
            for (int32_t c = 0; c < kernel[k]->locals; c++) {
                const taut_local *local = &kernel[k]->local[c];
                column[next[kernel[k]->row[i]]++] = local->gather ? local->gather[i] : local->one;
            }
    system->conserved_rows = (taut_pattern){rows, 2 * system->sizes.coordinates, start, column};
    return TAUT_OK;
}

taut_index taut_conserved_rows(const taut_system *system, taut_pattern *pattern)
{
    *pattern = system->conserved_rows;
    return system->conserved_rows.rows;
}

void taut_conserved_name(const taut_system *system, taut_index k, char *name, size_t size)
{
    taut_names_print(&system->conserved, k, name, size);
}

/* Members from .. from + n - 1 of a kernel that was run; next[rows]: where their entries go. */
static void scatter(const taut_statement_kernel *kernel, const taut_block_regs *regs, int64_t from,
                    int n, taut_index *next, double *value, double *entries, double *rate)
{
    const int32_t *output = kernel->tape->output;
    for (int l = 0; l < n; l++) {
        taut_index row = kernel->row[from + l];
        value[row] += regs->regs[(int64_t)output[0] * regs->lanes + l];
        for (int32_t c = 0; entries && c < kernel->locals; c++)
            entries[next[row]++] = regs->regs[(int64_t)output[1 + c] * regs->lanes + l];
        if (rate)
            rate[row] += regs->regs[(int64_t)output[1 + kernel->locals] * regs->lanes + l];
    }
}

int taut_conserved_evaluate(taut_context *context, double t, const double *q, const double *v,
                            double *value, double *entries, double *rate, taut_error *error)
{
    const taut_system *system = context->system;
    taut_index n = system->sizes.coordinates, rows = system->conserved_rows.rows;
    int32_t kernels, first;
    taut_statement_kernel **kernel =
        taut_system_list(system, TAUT_LIST_CONSERVED, &kernels, &first);
    memcpy(context->next, system->conserved_rows.start, (size_t)rows * sizeof *context->next);
    taut_clear(rows, value);
    if (rate)
        taut_clear(rows, rate);
    taut_copy(n, q, context->joined);
    taut_copy(n, v, context->joined + n);
    taut_inputs inputs = {
        .q = context->joined, .v = context->scratch, .parameter = context->parameter, .t = t};
    for (int32_t k = 0; k < kernels; k++) {
        taut_block_regs *regs = &context->value_regs[first + k];
        taut_statement_kernel_set_parameters(kernel[k], context->parameter, regs);
        for (int64_t from = 0; from < kernel[k]->members; from += regs->lanes) {
            int64_t left = kernel[k]->members - from;
            int count = left < regs->lanes ? (int)left : regs->lanes;
            taut_statement_kernel_run(kernel[k], entries || rate ? 1 : 0, from, count, &inputs,
                                      regs);
            scatter(kernel[k], regs, from, count, context->next, value, entries, rate);
        }
    }
    for (taut_index i = 0; i < rows; i++)
        if (!isfinite(value[i])) {
            char name[96];
            taut_conserved_name(system, i, name, sizeof name);
            return taut_fail(error, TAUT_ERROR_EVALUATE,
                             "the invariant %s is not a finite number at t = %.9g", name, t);
        }
    return TAUT_OK;
}
