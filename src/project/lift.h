/* lift.h - from observables back to a whole state, again and again along a run, without allocating
 * (lift.c). */
#ifndef TAUT_PROJECT_LIFT_H
#define TAUT_PROJECT_LIFT_H

#include "base/archive.h"
#include "base/flow.h"

typedef struct taut_lift taut_lift;

typedef struct taut_lift_settings {
    taut_context *context;
    taut_flow *flow; /* must outlive it */
    double horizon;
    int order; /* of the difference that vanishes */
    bool last; /* the remembered values instead */
} taut_lift_settings;

/* Refuses a system without observables. z is the state at t, which is remembered. */
int taut_lift_create(const taut_lift_settings *how, taut_arena *arena, double t, const double *z,
                     taut_lift **lift, taut_error *error);
void taut_lift_destroy(taut_lift *lift); /* takes half-made ones, and NULL */
/* z keeps its observables and invariants; what else it has is found, or that which is remembered.
 */
int taut_lift_apply(taut_lift *lift, double t, double *z, taut_error *error);
void taut_lift_remember(taut_lift *lift, const double *z);
void taut_lift_archive(taut_lift *lift, taut_archive *archive);

#endif
