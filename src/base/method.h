/* method.h - what a stepping method is: a constant descriptor, one file and one row of the table (step/methods.c). */
#ifndef TAUT_BASE_METHOD_H
#define TAUT_BASE_METHOD_H

#include "base/memory.h"

enum { TAUT_MOTION_RIGID = 1, TAUT_MOTION_SLOW = 2, TAUT_MOTION_EFFECTIVE = 4, TAUT_MOTION_FULL = 8 };

/* A method at work. The driver owns t, q, v; `work` belongs to the method and lives in the arena. */
typedef struct taut_stepper {
    const struct taut_method *method;
    taut_context *context;
    taut_statistics *statistics;
    taut_arena *arena;
    taut_index n, m;
    double t;
    double *q, *v, *lambda; /* state, [n], [n], [m] */
    void *work;
} taut_stepper;

typedef struct taut_method {
    const char *name;
    unsigned motions;
    int order;
    const char *summary, *reference;
    unsigned needs, refuses; /* capability bits of taut.h */
    int (*create)(taut_stepper *stepper, taut_error *error);         /* assigns work; the only place that allocates */
    int (*step)(taut_stepper *stepper, double h, taut_error *error); /* advances t, q, v by h; >0: try a smaller step, state unchanged */
    void (*changed)(taut_stepper *stepper);                          /* someone altered the state: forget what depends on it */
    int (*multipliers)(taut_stepper *stepper, taut_error *error);    /* fills lambda for output at the present state */
} taut_method;

extern const taut_method *const taut_method_table[]; /* ends with NULL (step/methods.c) */

#endif
