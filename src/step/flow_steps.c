/* flow_steps.c - see flow_steps.h:  z <- Psi_h o ... o Psi_h (z),  H = n h. */
#include "step/flow_steps.h"

#include <math.h>

#include "base/statistics.h"

double taut_steps_count(const taut_steps_flow *f, double H)
{
    return fmax(1, ceil(fabs(H) / f->step * (1 - 1e-12)));
}

int taut_steps_take(taut_steps_flow *f, double count, double h, taut_error *error)
{
    int status = TAUT_OK;
    f->cost = (taut_statistics){0};
    for (double k = 0; k < count && status == 0; k++)
        status = f->stepper.method->step(&f->stepper, h, error);
    f->flow.statistics->micro_steps += f->cost.steps;
    taut_statistics_add(f->flow.statistics, &f->cost);
    return status;
}

void taut_steps_destroy(taut_flow *flow)
{
    taut_stepper *s = &((taut_steps_flow *)flow)->stepper;
    if (s->work && s->method->destroy)
        s->method->destroy(s);
    s->work = NULL;
}
