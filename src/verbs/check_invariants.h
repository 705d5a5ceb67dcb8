/* check_invariants.h - are [invariants] constants of the motion? */
#ifndef TAUT_VERBS_CHECK_INVARIANTS_H
#define TAUT_VERBS_CHECK_INVARIANTS_H

#include "system/system.h"

/* Fills report->invariant, as many as there is room for, at the initial state of time t. What
 * cannot be evaluated stays unknown: the verdict does not depend on it. */
int taut_check_invariants(const taut_system *system, double t, taut_check_report *report,
                          taut_error *error);

#endif
