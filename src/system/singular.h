/* singular.h - why a saddle matrix is singular, in the names of the model. */
#ifndef TAUT_SYSTEM_SINGULAR_H
#define TAUT_SYSTEM_SINGULAR_H

#include "linalg/saddle.h"

/* The parts of a matrix [M G^T; G -C] that was found singular. */
typedef struct taut_singular {
    const taut_context *context;
    const taut_allocator *allocator;
    taut_index n, m; /* coordinates, rows of G */
    const double *mass;
    const taut_index *mass_start; /* rows of M in `mass`; NULL: its diagonal */
    const taut_index *start, *column;
    const double *jacobian;
    const taut_index *bond;   /* the bond of each row, of rigid ones; NULL: rows are the bonds */
    const double *compliance; /* of each row; NULL: none has any */
    /* some coordinates or velocities stand still, and have no part in G */
    bool held;
} taut_singular;

/* Writes what is wrong and what to do: a bond whose row of G vanishes or depends on others, or
 * else a coordinate with neither mass nor bond. Empty text: none of these. Fails when memory
 * runs out. */
int taut_singular_text(const taut_singular *x, char *text, size_t size, taut_error *error);
/* Passes the status on; of a singular matrix, at time t, the message states what cannot be done
 * (`what`), and why. */
int taut_singular_explain(const taut_singular *x, int status, double t, const char *what,
                          taut_error *error);

#endif
