/* projective.h - slow motion of first-order models and black boxes (projective.c): the field that
 * explicit methods integrate, from short bursts of a flow. */
#ifndef TAUT_DRIVE_PROJECTIVE_H
#define TAUT_DRIVE_PROJECTIVE_H

#include "base/field.h"
#include "base/flow.h"
#include "base/method.h"
#include "base/projector.h"
#include "drive/burst_weights.h"

struct taut_solver;
struct taut_lift;
struct taut_invariants;

/* What the spectrum at the initial state suggests (projective_plan.c). */
typedef struct taut_projective_plan {
    double slow, fast, fastest; /* rates: the largest slow one, the smallest and largest fast one */
    int dimension;              /* of the slow manifold, conserved quantities included */
    double inner;               /* inner step */
    double spacing;             /* time between two samples of a burst */
    double gain;                /* expected: inner steps of direct integration over those needed */
    double noise;               /* of the flow, relative to the state; 0: it does not matter */
    int levels;                 /* of telescopic steps between the inner step and the samples */
    bool open;                  /* the rates are known */
    bool exact;                 /* fast parts decay at these rates in the flow too */
} taut_projective_plan;

/* One way to a slow point of a stage, before its burst. */
typedef enum taut_lifting { TAUT_LIFT_BURST, TAUT_LIFT_LAST, TAUT_LIFT_DIFFERENCE } taut_lifting;

typedef struct taut_projective {
    taut_field field;
    taut_projector heal; /* after a step: onto the slow manifold, at the same time */
    taut_stepper *stepper;
    taut_flow *flow;
    const char *description; /* of the flow */
    taut_projective_plan plan;
    double length;   /* of the run; INFINITY: not known */
    int least, most; /* samples of a burst after its beginning */
    taut_burst_fit weights;
    double noise;         /* of the flow, relative to the state, where it was measured */
    double *sample;       /* [TAUT_BURST_WINDOW + 1][n], in turn */
    double *from, *state; /* [n]: where the latest burst began; the slow point there */
    double *slope;        /* [n]: rate of the slow motion at that point */
    double *before;       /* [n]: that of one sample less */
    double *coarse;       /* [2][n]: state and slope of a burst with longer telescopic steps */
    double refined;       /* telescopic steps are divided by this */
    int64_t healed;       /* steps since the start */
    double *scale;        /* [n]: sizes of the variables at the initial state */
    double t;             /* of the latest burst; NaN: none */
    int64_t bursts, samples;
    taut_lifting lifting;
    struct taut_invariants *invariants; /* that slow points keep, or NULL */
    struct taut_lift *lift;             /* of TAUT_LIFT_LAST and TAUT_LIFT_DIFFERENCE */
} taut_projective;

/* (projective_plan.c) The flow, the spectrum of the state z at time t, and what follows from it; in
 * solver->projective. */
int taut_projective_make_plan(struct taut_solver *solver, taut_projective *p, taut_error *error);

/* (projective.c) Field and healing of a run in motion slow; refuses where it does not pay, and sets
 * solver->direct then. */
int taut_projective_create(struct taut_solver *solver, taut_error *error);
/* Moves the initial state to its slow point. */
int taut_projective_start(struct taut_solver *solver, taut_error *error);
/* At the end of a run: the explanation goes on with what it has cost. */
void taut_projective_end(struct taut_solver *solver);
void taut_projective_release(struct taut_solver *solver);

/* (telescope.c) A flow whose steps of `step` are two bursts of `damping` + 1 inner steps of h, and
 * leaps. */
int taut_flow_telescope(taut_flow *inner, taut_arena *arena, double h, int damping, double step,
                        taut_flow **flow, taut_error *error);
/* Steps of this flow and of those inside it become step/factor. */
void taut_flow_telescope_refine(taut_flow *flow, double factor);

#endif
