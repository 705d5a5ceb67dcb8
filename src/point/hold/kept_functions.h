/* kept_functions.h - what a projection keeps: observables, invariants and held variables of a
 * first-order system (kept_functions.c). */
#ifndef TAUT_POINT_HOLD_KEPT_FUNCTIONS_H
#define TAUT_POINT_HOLD_KEPT_FUNCTIONS_H

#include "linalg/saddle.h"

typedef struct taut_kept_functions {
    const taut_allocator *allocator; /* to name what is singular */
    taut_context *context;
    taut_index n, bonds;
    taut_index unknowns; /* dimension of what may move */
    bool *fixed;         /* [n]: the variable itself is kept, to the last bit */
    taut_index rows;     /* functions of several variables that are kept */
    taut_index *row;     /* [rows]: bond numbers */
    taut_index *start, *column;
    double *entry;          /* of the rows, without fixed columns */
    double *stiff;          /* [n]: 1/s^2, what moves small variables less than large ones */
    double *value, *target; /* [bonds]: now; to be kept */
    double *x, *y;          /* work: [n], [rows] */
    taut_pattern jacobian;
    taut_values values;
    taut_saddle *saddle; /* NULL without rows */
} taut_kept_functions;

/* Keeps what the values at (t, z) are; hold[n] (point/hold/hold.h): which variables
 * themselves, NULL: none. Memory comes from the arena; destroy frees the factorisation. */
int taut_kept_functions_create(taut_kept_functions *held, taut_context *context, taut_arena *arena,
                               const unsigned char *hold, double t, const double *z,
                               taut_error *error);
void taut_kept_functions_destroy(taut_kept_functions *held); /* half-made ones too */
/* Sets s from two states: what happens in what follows is orthogonal in (x_i/s_i). Before: s = 1.
 */
void taut_kept_functions_scale(taut_kept_functions *held, const double *a, const double *b);
/* Takes from a change x[n] at (t, z) what would alter the kept functions, orthogonally. Never
 * allocates. */
int taut_kept_functions_tangent(taut_kept_functions *held, double t, const double *z, double *x,
                                taut_error *error);
/* Moves z back to the kept values. Never allocates. */
int taut_kept_functions_restore(taut_kept_functions *held, double t, double *z, taut_error *error);

#endif
