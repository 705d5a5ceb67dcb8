/* flow_leap.h - a leapfrog for masses that vary and forces that depend on velocities, as a flow: what projections run where Verlet cannot. */
#ifndef TAUT_STEP_FLOW_LEAP_H
#define TAUT_STEP_FLOW_LEAP_H

#include "base/flow.h"

/* State: q, then v. Each advance is one step. Rods are refused; (t, q, v) is any state. */
int taut_flow_leap(taut_context *context, taut_arena *arena, taut_statistics *statistics, double t, taut_flow **flow,
                   taut_error *error);

/* max |a(t, q, v + dv) - a(t, q, v)|: what an error of the velocity does to accelerations. Two evaluations. */
int taut_flow_leap_feels(taut_flow *flow, double t, const double *q, const double *v, const double *dv, double *most,
                         taut_error *error);

#endif
