/* callbacks.h - a system made of C functions: what system->extra holds, and the hooks that evaluate it (differences.c). */
#ifndef TAUT_SYSTEM_CALLBACKS_H
#define TAUT_SYSTEM_CALLBACKS_H

#include "system/colour.h"
#include "system/system.h"

typedef struct taut_callback_system {
    taut_callbacks call;              /* its arrays are copies in the system's arena, never NULL but for names */
    taut_colouring jacobian, tangent; /* which columns move together; of G only where G is formed by differences */
    bool springs;                     /* some compliance is positive */
} taut_callback_system;

/* Hooks of taut_system: see system.h. */
int taut_callbacks_attach(taut_context *context, taut_error *error);
int taut_callbacks_evaluate(taut_context *context, double t, const double *q, const double *v, unsigned wanted, taut_values *values,
                            taut_error *error);
int taut_callbacks_start(taut_context *context, double t, double *q, double *v, taut_error *error);

#endif
