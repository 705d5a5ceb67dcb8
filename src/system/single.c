/* single.c - kernels of one member, which small systems consist of, asked for what every step needs: f, g, G. Everything is one number,
 * so that loads, tape and stores go without the loops of gather.c and scatter.c, which would cost more than the expressions. */
#include "system/scatter.h"

void taut_kernel_plan_simple(taut_kernel *kernel)
{
    kernel->single = kernel->members == 1 && kernel->role <= TAUT_ROLE_FORCE;
    for (unsigned k = 0; k < 16; k++) {
        unsigned wanted = (k & 7) | (k & 8 ? (unsigned)TAUT_WANT_STIFF_FORCE : 0);
        if (kernel->steady) /* its force is known */
            wanted &= ~(unsigned)TAUT_WANT_FORCE;
        kernel->simple_level[k] = (signed char)taut_kernel_level(kernel, wanted);
    }
}

static void load(const taut_kernel *kernel, int level, const taut_inputs *inputs, double *regs)
{
    const taut_fetch *end = kernel->fetch + kernel->fetch_end[level];
    for (const taut_fetch *f = kernel->fetch; f < end; f++)
        regs[f->to] = f->data ? f->data[0] : inputs->from[f->source][f->places.first];
    if (kernel->time_slot >= 0)
        regs[kernel->time_slot] = inputs->t;
}

static double store_bond(const taut_system *system, const taut_kernel *kernel, int level, const double *regs, unsigned wanted,
                         taut_values *values)
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

static void subtract_gradient(const taut_kernel *kernel, const double *regs, double *force)
{
    const int32_t *out = kernel->tape->output + 1;
    for (int32_t c = 0; c < kernel->locals; c++)
        force[kernel->local[c].places.first] -= regs[out[c]];
}

double taut_single_run(const taut_system *system, const taut_kernel *kernel, int level, const taut_inputs *inputs, double *regs,
                       unsigned wanted, taut_values *values)
{
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
