/* flow_leap.h - a leapfrog for masses that vary and forces that depend on velocities, as a flow:
 * what projections run where Verlet cannot. */
#ifndef TAUT_STEP_FLOW_LEAP_H
#define TAUT_STEP_FLOW_LEAP_H

#include "base/flow.h"

/* State: q, then v. Each advance is one step. Rigid bonds are refused; (t, q, v) is any state. */
int taut_flow_leap(taut_context *context, taut_arena *arena, taut_statistics *statistics, double t,
                   taut_flow **flow, taut_error *error);

/* max |(a(t, q, u+) + a(t, q, u-))/2 - a(t, q, v)|, u+- = v + dv +- h/2 a(t, q, v): what the
 * velocities of two steps that meet, in the mean off by dv, do to the acceleration between them.
 * Three evaluations. */
int taut_flow_leap_feels(taut_flow *flow, double t, double h, const double *q, const double *v,
                         const double *dv, double *most, taut_error *error);

#endif
