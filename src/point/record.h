/* record.h - what a picture of a projection shows besides its passes: the micro-solutions of the
 * first and of the latest pass, and the differences of every iteration. Recorded only when asked
 * for (option plot); without it, the calls below cost one comparison. */
#ifndef TAUT_POINT_RECORD_H
#define TAUT_POINT_RECORD_H

#include "point/projection.h"

/* bonds that are kept; samples to each side, evenly thinned above */
enum { TAUT_RECORD_BONDS = 8, TAUT_RECORD_SIDE = 1000 };

typedef struct taut_record_window {
    int64_t pass;           /* the pass that it leads to, from 1; 0: nothing is there */
    int side, stride;       /* samples that are kept to each side: every which one */
    double h;               /* between samples, kept or not */
    double *t, *weight, *g; /* [2 side + 1]; times from that of the start; g: [bonds][2 side + 1] */
    double filtered[TAUT_RECORD_BONDS];
} taut_record_window;

typedef struct taut_record_iteration {
    int order;
    double difference;
} taut_record_iteration;

typedef struct taut_record {
    taut_item item; /* bonds, or coordinates where there are none */
    int bonds;
    taut_index bond[TAUT_RECORD_BONDS]; /* spread evenly */
    double *values;                     /* [m] */
    int filling;                        /* the window that is being filled */
    taut_record_window window[2];       /* of the first pass and of the latest one after it */
    int64_t iterations, capacity;       /* of projection difference */
    taut_record_iteration *iteration;
} taut_record;

/* Makes p->record. */
int taut_record_create(taut_projection *p, taut_error *error);
/* A pass begins at (p->q, p->v): `steps` samples to each side, h apart; weight[0..steps] from
 * the centre outwards. */
int taut_record_begin(taut_projection *p, int steps, double h, const double *weight,
                      taut_error *error);
/* Sample j of it, -steps <= j <= steps. Not counted as an evaluation. */
int taut_record_sample(taut_projection *p, int j, const double *q, taut_error *error);
/* The passes are done; p->q is the result. */
void taut_record_end(taut_projection *p);
/* An iteration of projection difference. */
int taut_record_difference(taut_projection *p, int order, double difference, taut_error *error);

#endif
