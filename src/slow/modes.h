/* modes.h - what is made of the stiff modes: actions (actions.c) and the effective system (effective.c). */
#ifndef TAUT_SLOW_MODES_H
#define TAUT_SLOW_MODES_H

#include "system/modes.h"

/* The effective system with the actions of the model's own start at time t: what motion `effective` integrates as a rigid system. Its
 * start is the model's, to be moved to the foot point as that of any rigid system [E (9)]. `base` must outlive it. */
int taut_effective_from_start(const taut_system *base, double t, taut_system **system, taut_error *error);

#endif
