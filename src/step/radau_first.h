/* radau_first.h - stage-wise Newton of first-order systems (radau_first_whole.c). */
#ifndef TAUT_STEP_RADAU_FIRST_H
#define TAUT_STEP_RADAU_FIRST_H

#include "step/radau.h"

/* Derivatives at every stage, all stages in one saddle matrix. */
typedef struct taut_first_whole {
    const taut_collocation *table;
    taut_saddle_shape one; /* the shape of a single stage: df/dz, and dg/dz beside df/dy^T */
    /* where entries of the latter come from: dg/dz, or at -1 - from in df/dy */
    const taut_index *from;
    taut_saddle *saddle;
    taut_index *k_start, *k_column, *g_start, *g_column;
    double *k, *g1, *g2, *u;
} taut_first_whole;

int taut_first_whole_create(taut_stepper *s, const taut_collocation *table,
                            const taut_saddle_shape *one, const taut_index *from,
                            taut_first_whole *whole, taut_error *error);
/* The derivatives of stage i. */
void taut_first_whole_add(taut_first_whole *whole, int i, double h, const double *force_dz,
                          const double *force_dy, const double *g);
int taut_first_whole_factor(taut_stepper *s, taut_first_whole *whole, taut_error *error);
/* f - k and g of all stages -> corrections of k and y. */
int taut_first_whole_solve(taut_stepper *s, taut_first_whole *whole, double h, double *r, double *c,
                           taut_error *error);

#endif
