/* backend.h - what a backend of the saddle solver is: a constant row of functions. One file per backend; the table is in saddle.c. */
#ifndef TAUT_LINALG_BACKEND_H
#define TAUT_LINALG_BACKEND_H

#include "linalg/form.h"

typedef struct taut_backend_functions {
    /* allocates; the form is chosen and its work arrays are reserved */
    int (*create)(taut_saddle *saddle, taut_error *error);
    int (*factor)(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error);
    /* solves for form->vector in place */
    int (*solve)(taut_saddle *saddle, taut_error *error);
    void (*destroy)(taut_saddle *saddle); /* NULL when the arena has everything */
} taut_backend_functions;

struct taut_saddle {
    taut_arena arena;
    taut_form form;
    taut_backend backend;
    const taut_backend_functions *functions;
    bool factored;
    void *work; /* of the backend */
    char structure[160];
};

extern const taut_backend_functions taut_backend_tiny, taut_backend_dense, taut_backend_banded, taut_backend_sparse;

#endif
