/* potential_foot.h - foot points on the minimum of a stiff potential (potential_foot.c). */
#ifndef TAUT_SLOW_POTENTIAL_POTENTIAL_FOOT_H
#define TAUT_SLOW_POTENTIAL_POTENTIAL_FOOT_H

#include "point/foot_point.h"

/* For a system with a stiff potential (not its rigid derivative: bonds that are not soft count as
 * rigid). */
extern const taut_foot_kind taut_potential_foot;

#endif
