/* fibre.h - states over a foot point: what has the stretches and rates of a given state, on the
 * normal fibre of another (fibre.c). */
#ifndef TAUT_FILTER_FIBRE_H
#define TAUT_FILTER_FIBRE_H

#include "point/hold/hold.h"
#include "point/projection.h"

typedef struct taut_fibre {
    taut_projection *p;
    /* at the foot point; for velocities, where something is held, else without a matrix */
    taut_masked_saddle position, velocity;
    bool separate; /* they are not the same */
    taut_values values;
    double *foot_q, *foot_v;     /* [n] */
    double *foot_g;              /* G there */
    double *q, *v, *dx;          /* [n] */
    double *y, *ydot, *residual; /* [m] */
    unsigned char *counts;       /* [m]: not soft */
    unsigned char *spring;       /* [m]: not rigid */
    bool exact;                  /* G is, not a difference */
    bool ready;
} taut_fibre;

/* For (p->q, p->v), which is a foot point; what p->in->hold holds is fixed. Memory
 * comes from the arena of p. Not ready, and nothing done, where all springs are soft, or where
 * bonds depend on others. */
int taut_fibre_create(taut_projection *p, taut_fibre *fibre, taut_error *error);
void taut_fibre_destroy(taut_fibre *fibre); /* half-made ones too */
/* (p->q, p->v) gets the foot point, with the stretches and rates that its springs have, on
 * the rigid bonds; shift[n] is added to the velocity of the foot point, NULL: nothing. What cannot
 * be placed stays, and *placed is false. Never allocates. */
int taut_fibre_place(taut_fibre *fibre, const double *shift, bool *placed, taut_error *error);

#endif
