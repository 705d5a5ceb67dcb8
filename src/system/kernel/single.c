/* single.c - kernels of one member, which small systems consist of, asked for what every step
 * needs: f, g, G. Everything is one number, so that loads, tape and stores go without the loops
 * of gather.c and scatter.c, which would cost more than the expressions. */
#include "system/kernel/scatter.h"

/* Where the bound form of a tape (expr/tape.h) stores. */
enum { TO_BOND, TO_ROW, TO_BOND_DT, TO_FORCE = 0, TO_COUNT = 3 };

static void bind_outputs(const taut_statement_kernel *kernel, taut_bound_output *to,
                         taut_tape_binding *binding)
{
    const int32_t *out = kernel->tape->output, nc = kernel->locals;
    taut_index row = kernel->rows.first;
    int32_t count = 0;
    if (kernel->role == TAUT_ROLE_BOND)
        to[count++] = (taut_bound_output){out[0], TO_BOND, row, '=', true};
    else if (kernel->role == TAUT_ROLE_FORCE)
        to[count++] = (taut_bound_output){out[0], TO_FORCE, row, '+', false};
    binding->output_end[0] = count;
    for (int32_t c = 0; c < nc && kernel->role == TAUT_ROLE_BOND; c++)
        to[count++] = (taut_bound_output){out[1 + c], TO_ROW, c, '=', false};
    if (kernel->role == TAUT_ROLE_BOND)
        to[count++] = (taut_bound_output){out[1 + nc], TO_BOND_DT, row, '=', false};
    for (int32_t c = 0;
         c < nc && (kernel->role == TAUT_ROLE_POTENTIAL || kernel->role == TAUT_ROLE_STIFF); c++)
        to[count++] =
            (taut_bound_output){out[1 + c], TO_FORCE, kernel->local[c].places.first, '-', false};
    binding->output_end[1] = count;
}

/* Parameters that all share and time are in their registers before a run; what a table gives is
 * a number. */
static int bind(taut_statement_kernel *kernel, taut_arena *arena)
{
    taut_tape_binding *binding = TAUT_NEW(arena, taut_tape_binding, 1);
    taut_bound_input *input = TAUT_NEW(arena, taut_bound_input, kernel->slots);
    taut_bound_output *output = TAUT_NEW(arena, taut_bound_output, 2 + kernel->locals);
    if (!binding || !input || !output)
        return TAUT_ERROR_MEMORY;
    for (int32_t k = 0; k < kernel->slots; k++)
        input[k].array = -1;
    for (int32_t k = 0; k < kernel->fetches; k++) {
        const taut_fetch *f = &kernel->fetch[k];
        input[f->to] = (taut_bound_input){f->data, f->source, f->places.first, 0};
    }
    bind_outputs(kernel, output, binding);
    binding->input = input;
    binding->output = output;
    binding->watch = kernel->watch;
    for (int level = 0; level < TAUT_BOUND_LEVELS; level++)
        binding->watch_end[level] = kernel->watch_end[level];
    kernel->tape->binding = binding;
    return 0;
}

int taut_statement_kernel_plan_simple(taut_statement_kernel *kernel, taut_arena *arena)
{
    kernel->single = kernel->members == 1 && kernel->role <= TAUT_ROLE_FORCE;
    for (unsigned k = 0; k < 16; k++) {
        unsigned wanted = (k & 7) | (k & 8 ? (unsigned)TAUT_WANT_STIFF_FORCE : 0);
        if (kernel->steady) /* its force is known */
            wanted &= ~(unsigned)TAUT_WANT_FORCE;
        kernel->simple_level[k] = (signed char)taut_statement_kernel_level(kernel, wanted);
    }
    return kernel->single ? bind(kernel, arena) : 0;
}

/* The compiled form that loads and stores by itself. */
static double run_bound(const taut_system *system, const taut_statement_kernel *kernel, int level,
                        const taut_inputs *inputs, double *regs, unsigned wanted,
                        taut_values *values)
{
    double *to[TO_COUNT] = {0};
    if (kernel->time_slot >= 0)
        regs[kernel->time_slot] = inputs->t;
    if (kernel->role == TAUT_ROLE_BOND) {
        to[TO_BOND] = wanted & TAUT_WANT_BOND ? values->bond : NULL;
        if (wanted & TAUT_WANT_JACOBIAN) {
            to[TO_ROW] = values->jacobian + system->jacobian_start[kernel->rows.first];
            to[TO_BOND_DT] = values->bond_dt;
        }
    } else {
        to[TO_FORCE] = kernel->role == TAUT_ROLE_STIFF ? values->stiff_force : values->force;
    }
    return kernel->tape->native_bound[level](inputs->from, to, regs);
}

static void load(const taut_statement_kernel *kernel, int level, const taut_inputs *inputs,
                 double *regs)
{
    const taut_fetch *end = kernel->fetch + kernel->fetch_end[level];
    for (const taut_fetch *f = kernel->fetch; f < end; f++)
        regs[f->to] = f->data ? f->data[0] : inputs->from[f->source][f->places.first];
    if (kernel->time_slot >= 0)
        regs[kernel->time_slot] = inputs->t;
}

static double store_bond(const taut_system *system, const taut_statement_kernel *kernel, int level,
                         const double *regs, unsigned wanted, taut_values *values)
{
    const int32_t *out = kernel->tape->output;
    taut_index row = kernel->rows.first;
    double sum = 0;
    if (wanted & TAUT_WANT_BOND)
        values->bond[row] = regs[out[0]];
    if (wanted & TAUT_WANT_JACOBIAN) {
        double *entry = values->jacobian + system->jacobian_start[row];
        for (int32_t c = 0; c < kernel->locals; c++)
            entry[c] = regs[out[1 + c]];
        values->bond_dt[row] = regs[out[1 + kernel->locals]];
    }
    for (int32_t k = 0; k < kernel->watch_end[level]; k++)
        sum += regs[kernel->watch[k]];
    return sum - sum; /* see taut_lanes_test */
}

static void subtract_gradient(const taut_statement_kernel *kernel, const double *regs,
                              double *force)
{
    const int32_t *out = kernel->tape->output + 1;
    for (int32_t c = 0; c < kernel->locals; c++)
        force[kernel->local[c].places.first] -= regs[out[c]];
}

double taut_single_run(const taut_system *system, const taut_statement_kernel *kernel, int level,
                       const taut_inputs *inputs, double *regs, unsigned wanted,
                       taut_values *values)
{
    if (kernel->tape->native_bound)
        return run_bound(system, kernel, level, inputs, regs, wanted, values);
    load(kernel, level, inputs, regs);
    taut_tape_run(kernel->tape, level, 1, 1, regs);
    switch (kernel->role) {
    case TAUT_ROLE_BOND: return store_bond(system, kernel, level, regs, wanted, values);
    case TAUT_ROLE_POTENTIAL: subtract_gradient(kernel, regs, values->force); break;
    case TAUT_ROLE_STIFF: subtract_gradient(kernel, regs, values->stiff_force); break;
    default: values->force[kernel->rows.first] += regs[kernel->tape->output[0]];
    }
    return 0;
}
