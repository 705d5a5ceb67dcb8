/* initial_state.c - the initial state of a system: its kernels are run in the order that the
 * reader found (start.c). */
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "system/follow.h"
#include "system/rank_part.h"

const unsigned char *taut_system_hold(const taut_system *system)
{
    return system ? system->hold : NULL;
}

void taut_system_give(const taut_system *system, double *q, double *v)
{
    taut_index n = system->sizes.coordinates;
    for (taut_index k = 0; k < system->start_given; k++)
        *(system->start_row[k] < n ? &q[system->start_row[k]] : &v[system->start_row[k] - n]) =
            system->start_value[k];
}

/* All kernels once, in their order. */
static void run_start(taut_context *context, double t, double *q, double *v)
{
    const taut_system *system = context->system;
    const taut_index n = system->sizes.coordinates;
    int32_t count, first;
    taut_statement_kernel **kernels = taut_system_list(system, TAUT_LIST_START, &count, &first);
    taut_inputs inputs = {.q = q, .v = v, .parameter = context->parameter, .t = t};
    for (int32_t k = 0; k < count; k++)
        taut_statement_kernel_set_parameters(kernels[k], context->parameter,
                                             &context->value_regs[first + k]);
    taut_system_give(system, q, v);
    for (int64_t s = 0; s < system->start_steps; s++, taut_system_give(system, q, v)) {
        int32_t k = system->start_kernel_of[s] < 0 ? ~system->start_kernel_of[s]
                                                   : system->start_kernel_of[s];
        bool all = system->start_kernel_of[s] < 0;
        const taut_statement_kernel *kernel = kernels[k];
        taut_block_regs *regs = &context->value_regs[first + k];
        int64_t from = all ? 0 : system->start_member_of[s], end = all ? kernel->members : from + 1;
        for (; from < end; from += regs->lanes) {
            int m = end - from < regs->lanes ? (int)(end - from) : regs->lanes;
            taut_statement_kernel_run(kernel, 0, from, m, &inputs, regs);
            const double *x = regs->regs + (int64_t)kernel->tape->output[0] * regs->lanes;
            for (int l = 0; l < m; l++)
                *(kernel->row[from + l] < n ? &q[kernel->row[from + l]]
                                            : &v[kernel->row[from + l] - n]) = x[l];
        }
    }
}

/* Ghosts from their owners; did any change? */
static bool refresh(const taut_halo *halo, double *x, double *known)
{
    const int64_t ghosts = halo->in_start[halo->partners];
    bool changed = false;
    taut_halo_refresh(halo, x);
    for (int64_t k = 0; k < ghosts; k++) {
        changed = changed || memcmp(&known[k], &x[halo->in[k]], sizeof *x) != 0;
        known[k] = x[halo->in[k]];
    }
    return changed;
}

/* Values that refer to those of other ranks: all ranks compute theirs until none changes, once for
 * each border that a chain of references crosses. */
static int run_linked(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    enum { MOST = 1000 };
    const taut_halo *halo = &context->system->part->coordinates;
    const int64_t ghosts = halo->in_start[halo->partners];
    taut_arena scratch;
    double *known_q = NULL, *known_v = NULL;
    taut_arena_init(&scratch, &context->arena.allocator);
    int status = TAUT_RESERVE(&scratch, ghosts, error, &known_q, &known_v);
    status = taut_space_agree(halo->space, status, error);
    for (int64_t k = 0; k < ghosts && status == 0; k++) /* until they are known */
        q[halo->in[k]] = v[halo->in[k]] = NAN;
    bool changed = true;
    for (int round = 0; status == 0 && changed && round < MOST; round++) {
        run_start(context, t, q, v);
        const bool moved = refresh(halo, q, known_q), sped = refresh(halo, v, known_v);
        changed = taut_space_largest(halo->space, moved || sped) > 0;
    }
    bool unknown = false;
    for (int64_t k = 0; k < ghosts && status == 0; k++)
        unknown = unknown || isnan(known_q[k]) || isnan(known_v[k]);
    taut_arena_clear(&scratch);
    if (status == 0 && (taut_space_largest(halo->space, unknown) > 0 || changed))
        status = taut_fail(error, TAUT_ERROR_MODEL,
                           "initial values refer to themselves over several ranks, or over more "
                           "than %d borders of ranks, or are no numbers: run this model without "
                           "mpiexec, or give their numbers",
                           MOST);
    return status;
}

int taut_context_start(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    TAUT_REQUIRE(context && q);
    const taut_system *system = context->system;
    const taut_part *part = system->part;
    taut_index n = system->sizes.coordinates,
               nv = system->sizes.kind == TAUT_MECHANICAL ? n : system->sizes.algebraic;
    TAUT_REQUIRE(v || nv == 0);
    if (system->start)
        return system->start(context, t, q, v, error);
    taut_clear(n, q);
    if (nv)
        taut_clear(nv, v);
    if (part && part->linked)
        TAUT_TRY(run_linked(context, t, q, v, error));
    else
        run_start(context, t, q, v);
    TAUT_TRY(taut_check_finite(system, TAUT_COORDINATE, "the start value of", t, q, n, error));
    if (system->sizes.followed > 0)
        TAUT_TRY(taut_context_settle(context, t, q, error));
    return taut_check_finite(
        system, system->sizes.kind == TAUT_MECHANICAL ? TAUT_COORDINATE : TAUT_ALGEBRAIC,
        "the start velocity of", t, v, nv, error);
}
