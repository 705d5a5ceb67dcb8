/* effective.h - what is made of the stiff modes: actions (actions.c) and the effective system
 * (effective_system.c). */
#ifndef TAUT_VIBRATION_EFFECTIVE_H
#define TAUT_VIBRATION_EFFECTIVE_H

#include "base/projector.h"
#include "system/modes/modes.h"

/* The effective system with the actions of the initial state of the model at time t: what motion
 * `effective` integrates as a rigid system. Its initial state is that of the model, to be moved by
 * the projector below. `base` must outlive it. */
int taut_effective_from_start(const taut_system *base, double t, taut_system **system,
                              taut_error *error);
/* The separation and the closest resonances of frequencies, within the groups that owner[modes]
 * numbers (NULL: one), ascending in each, into `report`. (actions.c) */
void taut_resonances_find(int modes, const double *frequency, const int *owner,
                          taut_modes_report *report);
/* What W and its gradient cost in an evaluation, in units of taut_system_work; 0 for a context of
 * another system. */
double taut_effective_cost(const taut_context *context);
/* From a state that vibrates to the consistent one of the effective system, whose context this
 * is [E (9)] (effective_start.c). */
int taut_effective_projector(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                             taut_projector **projector, taut_error *error);

#endif
