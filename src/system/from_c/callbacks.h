/* callbacks.h - a system made of C functions: what system->extra holds, and the hooks that
 * evaluate it (differences.c). */
#ifndef TAUT_SYSTEM_FROM_C_CALLBACKS_H
#define TAUT_SYSTEM_FROM_C_CALLBACKS_H

#include "system/from_c/colour.h"
#include "system/system.h"

/* What the best step of a difference depends on: F(x + h) is known up to noise |F'|, and F'''/F'
 * = 1/length^2. */
typedef struct taut_difference_scale {
    double length, noise;
} taut_difference_scale;

typedef struct taut_callback_system {
    /* its arrays are copies in the system's arena, never NULL but for names */
    taut_callbacks call;
    /* which columns move together; of G only where G is formed by differences */
    taut_colouring jacobian, tangent;
    taut_difference_scale force, bond, clock; /* f and g along q, g along t */
    bool springs;                             /* some compliance is positive */
} taut_callback_system;

/* Measures the three scales at the start (scales.c). Functions that cannot be evaluated there
 * leave the scale of the initial state. */
int taut_callbacks_measure(taut_callback_system *s, const taut_allocator *allocator,
                           taut_error *error);
/* Scale of a vector without further knowledge: its largest entry, at most 1. */
taut_difference_scale taut_plain_scale(const double *x, taut_index n);

/* Hooks of taut_system: see system.h. */
int taut_callbacks_attach(taut_context *context, taut_error *error);
int taut_callbacks_evaluate(taut_context *context, double t, const double *q, const double *v,
                            unsigned wanted, taut_values *values, taut_error *error);
int taut_callbacks_start(taut_context *context, double t, double *q, double *v, taut_error *error);

#endif
