/* fast_flow.h - the springs alone, between the kicks of the impulse methods, where the mass varies
 * or rigid bonds hold (fast_flow.c). */
#ifndef TAUT_STEP_FAST_FLOW_H
#define TAUT_STEP_FAST_FLOW_H

#include "step/mechanics.h"
#include "step/methods.h"

typedef struct taut_fast_flow {
    taut_mechanics mechanics; /* rigid bonds as such; forces are not evaluated */
    taut_pattern tangent;     /* of M and d(M v)/dq where it varies */
    taut_saddle *saddle;      /* [M G_r^T; G_r 0] at the point where a step begins */
    taut_saddle *mass;        /* M where a step ends; NULL: it is constant */
    double *mass_q;           /* M where a step begins */
    double *spring;           /* [n]: forces of the springs there */
    double *d, *next_d, *u, *p, *next, *change; /* [n] */
    double *row;                                /* [rigid bonds] */
    double *rows;                               /* G_r where a step begins */
    bool velocity;                              /* forces depend on velocities */
    double *push;                               /* [n]: these */
    /* f[n] += what stands in place of the springs at the end of a step of length h; 0: where the
     * first one begins. NULL: the springs. */
    int (*force)(void *user, double t, double h, const double *q, double *f, taut_error *error);
    void *user;
    bool whole; /* a method of its own: `force` is all that acts, no part of it counts as fast */
} taut_fast_flow;

/* wanted: 0, or TAUT_STIFF_AS_RODS, with a force. */
int taut_fast_flow_create(taut_fast_flow *flow, taut_context *context, taut_arena *arena,
                          taut_statistics *statistics, unsigned wanted, taut_error *error);
void taut_fast_flow_destroy(taut_fast_flow *flow);
/* `steps` steps of length h, each composed of those of lengths weight h, from (t, q, v), in place.
 */
int taut_fast_flow_advance(taut_fast_flow *flow, const taut_composition_weights *by, double t,
                           double h, int64_t steps, double *q, double *v, taut_error *error);
/* The same step by step: at (t, q), then on from there. */
int taut_fast_flow_begin(taut_fast_flow *flow, double t, const double *q, taut_error *error);
int taut_fast_flow_step(taut_fast_flow *flow, double t, double h, double *q, double *v,
                        taut_error *error);
/* a[n] = M(q)^-1 (a - G_r^T mu), G_r a = 0: what a force does at (t, q). */
int taut_fast_flow_kick(taut_fast_flow *flow, double t, const double *q, double *a,
                        taut_error *error);

#endif
