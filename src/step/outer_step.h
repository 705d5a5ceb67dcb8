/* outer_step.h - the checks of an outer step size that was chosen for the run (outer_step.c). */
#ifndef TAUT_STEP_OUTER_STEP_H
#define TAUT_STEP_OUTER_STEP_H

#include "base/method.h"

struct taut_impulse;

typedef struct taut_outer {
    int halvings;             /* a step of the driver is made in 2^halvings parts */
    int known;                /* kicks of the latest steps that are comparable, up to 2 */
    double *kick[3];          /* [n] tangential parts, the latest first */
    double h;                 /* between the latest two */
    double force, energy;     /* largest |b| and energy of the slow motion */
    double noise;             /* largest estimate that halving did not lower */
    bool actions;             /* the latest estimate is that of the actions */
    taut_state begin;         /* the state from which a step of the driver began, */
    double *x, *v, *a, *fast; /* the vibrating one and what is known there, [n] */
    double *r, *d;            /* [n]: room */
} taut_outer;

int taut_outer_create(taut_outer *outer, const taut_stepper *stepper, taut_error *error);
/* A step of length h from a fresh state, in as many parts as it needs. */
int taut_outer_step(struct taut_impulse *w, double h, taut_error *error);
void taut_outer_archive(struct taut_impulse *w, taut_archive *archive);

#endif
