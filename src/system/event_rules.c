/* event_rules.c - what an event does when its function passes zero: stop, or alter the state. */
#include "system/system.h"

bool taut_system_event(const taut_system *system, taut_index k, taut_event_info *info)
{
    if (k < 0 || k >= system->sizes.events)
        return false;
    const taut_event *event = &system->event[k];
    *info = (taut_event_info){
        .direction = event->direction, .stop = event->stop, .alters = event->alters};
    return true;
}

int taut_event_apply(taut_context *context, taut_index k, double t, double *q, double *v,
                     const double *lambda, taut_error *error)
{
    TAUT_REQUIRE(context && q && v && k >= 0 && k < context->system->sizes.events);
    const taut_system *system = context->system;
    const taut_event *event = &system->event[k];
    taut_inputs inputs = {.q = q,
                          .v = v,
                          .lambda = lambda ? lambda : context->scratch,
                          .parameter = context->parameter,
                          .t = t};
    taut_index n = system->sizes.coordinates;
    double *value = context->event_value;
    for (int32_t j = 0; j < event->assignments; j++) {
        const taut_statement_kernel *kernel = event->assign[j].kernel;
        taut_block_regs regs = {.lanes = 1, .regs = context->event_regs};
        taut_tape_prepare(kernel->tape, 1, regs.regs);
        taut_statement_kernel_set_parameters(kernel, context->parameter, &regs);
        taut_statement_kernel_run(kernel, 0, event->assign[j].member, 1, &inputs, &regs);
        value[j] = regs.regs[kernel->tape->output[0]];
    }
    for (int32_t j = 0; j < event->assignments; j++) {
        taut_index row = event->assign[j].kernel->row[event->assign[j].member];
        *(row < n ? &q[row] : &v[row - n]) = value[j];
    }
    TAUT_TRY(taut_check_finite(system, TAUT_COORDINATE, "after an event, the position of", t, q, n,
                               error));
    return taut_check_finite(system, TAUT_COORDINATE, "after an event, the velocity of", t, v,
                             system->sizes.kind == TAUT_MECHANICAL ? n : system->sizes.algebraic,
                             error);
}
