/* stabilize_work.h - what the parts of a stabiliser share: stabilize.c (forms, directions,
 * first-order systems) and stabilize_bonds.c (rigid bonds). */
#ifndef TAUT_WRAP_STABILIZE_WORK_H
#define TAUT_WRAP_STABILIZE_WORK_H

#include "step/mechanics.h"
#include "system/fused.h"
#include "wrap/conserve.h"
#include "wrap/invariants.h"
#include "wrap/relax.h"
#include "wrap/stabilize.h"

enum { TAUT_STABILIZE_ITERATIONS = 50 };

typedef enum taut_form {
    TAUT_FORM_POST,
    TAUT_FORM_FORWARD,
    TAUT_FORM_BACKWARD,
    TAUT_FORM_PROJECT
} taut_form;

typedef struct taut_stabilizer {
    taut_projector projector;
    taut_form form;
    int passes;
    double alpha;
    bool position, velocity; /* what moves */
    bool unit;               /* metric of D */
    bool simple;             /* both from one point */
    bool gradient;           /* F = H^T, of rigid bonds F = diag(G^T, G^T) */
    int refresh;             /* steps that a factorisation serves */
    taut_relax relax;        /* instead of one */
    taut_index n;
    taut_pool *pool; /* of the context */
    taut_mechanics mechanics;
    taut_saddle *saddle;
    bool borrowed;                      /* the saddle matrix is that of the field */
    taut_fused_work *fused_q, *fused_v; /* corrections as one tape each, or NULL */
    bool whole;                         /* both are all of it */
    bool learns;                        /* when a second pass is rounding (stabilize_bonds.c) */
    double *ones;                       /* the unit metric; NULL: the mass */
    double *q, *v;                      /* the new state until it is known to be good, [n] */
    double *step, *residual;            /* [n], [rigid bonds] */
    double *guess[2], *spare;           /* relaxation: y of the step before for g, gdot; no y */
    taut_invariants *invariants;        /* first order */
    taut_conserve *conserve;            /* mechanical: the invariants, or NULL */
    int64_t epoch;    /* which `refresh` steps the factorisation belongs to, from 1; 0: none */
    int64_t seen;     /* number of the latest step */
    int pass, rates;  /* at work: number of the pass; 0: g is corrected, 1: gdot */
    bool row;         /* applied again in it: a row, from which nothing is learned */
    double enough;    /* the largest first correction after which a second one was rounding */
    double before, t; /* times of the latest two steps */
} taut_stabilizer;

int taut_stabilizer_fill_bonds(taut_stabilizer *w, taut_context *context, taut_arena *arena,
                               taut_error *error);
/* Moves w->q and w->v, which hold the state (t, q). */
int taut_stabilizer_move_bonds(taut_stabilizer *w, double t, const double *q, taut_error *error);
/* The state (t, q, v) itself, positions and then velocities by one tape each. False: nothing was
 * moved, and bonds must be evaluated. */
bool taut_stabilizer_move_fused(taut_stabilizer *w, double t, double *q, double *v);
/* Both corrections from the point (t, q0, v0), into w->q and w->v: (4.8). */
int taut_stabilizer_move_both(taut_stabilizer *w, double t, const double *q0, const double *v0,
                              taut_error *error);
/* The part of a full correction that is made. */
double taut_stabilizer_share(const taut_stabilizer *w);

#endif
