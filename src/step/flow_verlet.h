/* flow_verlet.h - velocity Verlet as a flow: what projections run on systems whose forces are
 * known. */
#ifndef TAUT_STEP_FLOW_VERLET_H
#define TAUT_STEP_FLOW_VERLET_H

#include "base/flow.h"

/* State: q, then v. Each advance takes the fewest fixed steps that are not longer than `step`.
 * The accelerations of the latest end and of the latest new start are kept: going out from one
 * point in both directions costs one evaluation a step and one for the point. The caller has
 * checked that Verlet supports the system (taut_verlet.needs and .refuses); (t, q, v) is any
 * state of it. */
int taut_flow_verlet(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     double step, double t, const double *q, const double *v, taut_flow **flow,
                     taut_error *error);

#endif
