/* conserved.h - the invariants of a mechanical system, h(t,q,v): kernels of their own, whose
 * variables are (q, v), one behind the other. */
#ifndef TAUT_SYSTEM_CONSERVED_H
#define TAUT_SYSTEM_CONSERVED_H

#include "system/system.h"

/* Forms the pattern of dh/d(q,v), when all kernels are there. */
int taut_conserved_complete(taut_system *system, taut_error *error);
/* Its number of rows, 0 for other systems, and the pattern, invariants x 2n. */
taut_index taut_conserved_rows(const taut_system *system, taut_pattern *pattern);
void taut_conserved_name(const taut_system *system, taut_index k, char *name, size_t size);
/* value[rows]; unless NULL entries of dh/d(q,v), and rate[rows]: dh/dt at fixed q, v. */
int taut_conserved_evaluate(taut_context *context, double t, const double *q, const double *v,
                            double *value, double *entries, double *rate, taut_error *error);

#endif
