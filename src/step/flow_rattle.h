/* flow_rattle.h - RATTLE as a flow: what projections run on systems with rigid bonds and springs.
 */
#ifndef TAUT_STEP_FLOW_RATTLE_H
#define TAUT_STEP_FLOW_RATTLE_H

#include "base/flow.h"

/* State: q, then v, on the rigid bonds (g = 0, G v + g_t = 0): elsewhere a step of -h does not undo
 * one of h. Each advance is one step. Masses may vary, forces may depend on velocities, rigid bonds
 * on time. Values at the latest end and at the latest new start are kept, so that going out from
 * one point in both directions costs one evaluation a step and one for the point; iterations
 * onto the rigid bonds evaluate bonds alone and do not count, those for forces that depend on
 * velocities do. */
int taut_flow_rattle(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     taut_flow **flow, taut_error *error);

/* As taut_flow_leap_feels, along the rigid bonds. Three evaluations. */
int taut_flow_rattle_feels(taut_flow *flow, double t, double h, const double *q, const double *v,
                           const double *dv, double *most, taut_error *error);
/* lambda[m] at a state on the rigid bonds: of springs C^-1 (g + T gdot), of rigid bonds what these
 * forces and the others require. Not counted. */
int taut_flow_rattle_multipliers(taut_flow *flow, double t, const double *q, const double *v,
                                 double *lambda, taut_error *error);

#endif
