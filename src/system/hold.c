/* hold.c - see hold.h. Kernels without guards keep their registers; those with guards get a second
 * set, for the held form and for the functions of the guards. */
#include "system/hold.h"

#include "base/vectors.h"

int taut_hold_create(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    taut_arena *arena = &context->arena;
    if (context->hold || system->branches == 0)
        return 0;
    taut_hold *hold = TAUT_NEW(arena, taut_hold, 1);
    TAUT_NEED(error, hold);
    hold->branch = TAUT_NEW(arena, double, system->branches);
    hold->kernel = TAUT_NEW(arena, taut_statement_kernel *, system->kernels);
    hold->regs = TAUT_NEW(arena, taut_block_regs, system->kernels);
    hold->value_regs = TAUT_NEW(arena, taut_block_regs, system->kernels);
    TAUT_NEED(error, hold->branch, hold->kernel, hold->regs, hold->value_regs);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_guards *guards = system->kernel[k]->guards;
        hold->kernel[k] = guards ? guards->held : system->kernel[k];
        hold->regs[k] = context->regs[k]; /* held: as many lanes */
        if (guards && (taut_statement_kernel_regs(guards->held, arena, &hold->regs[k]) ||
                       taut_statement_kernel_regs(guards->values, arena, &hold->value_regs[k])))
            return taut_fail_memory(error);
        int64_t blocks = guards ? (guards->held->members - 1) / hold->regs[k].lanes + 1 : 0;
        TAUT_NEED(error, hold->regs[k].alike = TAUT_NEW(arena, int32_t, blocks));
    }
    hold->plain = context->regs;
    context->hold = hold;
    taut_hold_use(context, true);
    taut_hold_renew(context);
    return 0;
}

void taut_hold_use(taut_context *context, bool held)
{
    taut_hold *hold = context->hold;
    if (!hold)
        return;
    context->kernel = held ? hold->kernel : context->system->kernel;
    context->regs = held ? hold->regs : hold->plain;
}

void taut_hold_release(taut_context *context, int32_t k)
{
    taut_hold *hold = context->hold;
    hold->kernel[k] = context->system->kernel[k];
    hold->regs[k] = hold->plain[k];
}

void taut_hold_follow(const taut_context *leader, taut_context *context)
{
    const taut_system *system = context->system;
    const taut_hold *from = leader->hold;
    taut_copy(system->branches, from->branch, context->hold->branch);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_guards *guards = system->kernel[k]->guards;
        if (guards && from->kernel[k] != guards->held)
            taut_hold_release(context, k);
    }
}

/* Do members `first` to `end` have the branches of member `as`? */
static bool are_alike(const taut_guards *guards, const double *branch, int64_t as, int64_t first,
                      int64_t end)
{
    for (int32_t g = 0; g < guards->count; g++, branch += guards->held->members)
        for (int64_t m = first; m < end; m++)
            if (branch[m] != branch[as])
                return false;
    return true;
}

void taut_hold_fix(taut_context *context)
{
    taut_hold *hold = context->hold;
    for (int32_t k = 0; !hold->fixed && k < context->system->kernels; k++) {
        const taut_guards *guards = context->system->kernel[k]->guards;
        taut_block_regs *regs = &hold->regs[k];
        int64_t as = 0, members = guards ? guards->held->members : 0;
        int32_t runs = 0;
        if (!guards || hold->kernel[k] != guards->held)
            continue;
        for (int64_t first = 0; first < members; first += regs->lanes) {
            const double *branch = hold->branch + guards->first;
            int64_t end = first + regs->lanes < members ? first + regs->lanes : members;
            if (runs == 0 || !are_alike(guards, branch, as, first, first + 1)) {
                as = first;
                runs++;
            }
            regs->alike[first / regs->lanes] = are_alike(guards, branch, as, first, end) ? runs : 0;
        }
        regs->loaded = 0;
        regs->fixed = true;
    }
    hold->fixed = true;
}

void taut_hold_vary(taut_context *context)
{
    taut_hold *hold = context->hold;
    for (int32_t k = 0; hold->fixed && k < context->system->kernels; k++)
        hold->regs[k].fixed = false;
    hold->fixed = false;
}

void taut_hold_renew(taut_context *context)
{
    const taut_system *system = context->system;
    taut_hold *hold = context->hold;
    for (int32_t k = 0; hold && k < system->kernels; k++) {
        const taut_guards *guards = system->kernel[k]->guards;
        if (!guards)
            continue;
        if (hold->kernel[k] == guards->held)
            taut_statement_kernel_set_parameters(guards->held, context->parameter, &hold->regs[k]);
        taut_statement_kernel_set_parameters(guards->values, context->parameter,
                                             &hold->value_regs[k]);
    }
}

static bool has_of_time(const taut_guards *guards)
{
    for (int32_t g = 0; g < guards->count; g++)
        if (!guards->guard[g].of_state)
            return true;
    return false;
}

static void store(const taut_guards *guards, int32_t output, int64_t first, int n,
                  const taut_block_regs *regs, double *to)
{
    const taut_statement_kernel *kernel = guards->values;
    for (int32_t g = 0; g < guards->count; g++) {
        const double *x = regs->regs + (int64_t)kernel->tape->output[output + g] * regs->lanes;
        taut_copy(n, x, to + guards->first + g * kernel->members + first);
    }
}

void taut_hold_values(taut_context *context, double t, const double *q, const double *v,
                      const double *a, bool of_time, double *u, double *rate)
{
    const taut_system *system = context->system;
    taut_inputs inputs = {.q = q,
                          .v = v ? v : context->scratch,
                          .lambda = context->scratch,
                          .parameter = context->parameter,
                          .weight = a ? a : context->scratch,
                          .branch = context->hold->branch,
                          .t = t};
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_guards *guards = system->kernel[k]->guards;
        bool released = guards && context->hold->kernel[k] != guards->held;
        if (!guards || released || (of_time && !has_of_time(guards)))
            continue;
        const taut_statement_kernel *kernel = guards->values;
        taut_block_regs *regs = &context->hold->value_regs[k];
        for (int64_t first = 0; first < kernel->members; first += regs->lanes) {
            int64_t rest = kernel->members - first;
            int n = rest < regs->lanes ? (int)rest : regs->lanes;
            taut_statement_kernel_run(kernel, rate ? 1 : 0, first, n, &inputs, regs);
            store(guards, 0, first, n, regs, u);
            if (rate)
                store(guards, guards->count, first, n, regs, rate);
        }
    }
}

bool taut_guard_family_get(const taut_system *system, int32_t k, taut_guard_family *family)
{
    for (int32_t j = 0; j < system->kernels; j++) {
        const taut_guards *guards = system->kernel[j]->guards;
        if (guards && k < guards->count) {
            int64_t members = system->kernel[j]->members;
            *family = (taut_guard_family){.guard = &guards->guard[k],
                                          .place = guards->place,
                                          .first = guards->first + k * members,
                                          .members = members,
                                          .kernel = j};
            return true;
        }
        k -= guards ? guards->count : 0;
    }
    return false;
}
