/* flow_steps.h - flows that take steps of a method without a driver: states and the loop over the
 * steps. */
#ifndef TAUT_STEP_FLOW_STEPS_H
#define TAUT_STEP_FLOW_STEPS_H

#include "base/flow.h"
#include "base/method.h"

typedef struct taut_steps_flow {
    taut_flow flow;
    taut_stepper stepper; /* has its method, context, arena and sizes */
    taut_statistics cost; /* of the latest steps */
    double step;          /* not to be exceeded */
} taut_steps_flow;

/* The fewest fixed steps over H. */
double taut_steps_count(const taut_steps_flow *f, double H);
/* `count` steps of h from stepper.now; their cost is added to that of the flow. */
int taut_steps_take(taut_steps_flow *f, double count, double h, taut_error *error);
void taut_steps_destroy(taut_flow *flow);

#endif
