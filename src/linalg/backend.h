/* backend.h - what a backend of the saddle solver is: a constant row of functions. One file per
 * backend; the table is in saddle.c. */
#ifndef TAUT_LINALG_BACKEND_H
#define TAUT_LINALG_BACKEND_H

#include "linalg/elimination.h"
#include "linalg/form.h"

typedef struct taut_backend_functions {
    /* allocates; the form is chosen and its work arrays are reserved */
    int (*create)(taut_saddle *saddle, taut_error *error);
    int (*factor)(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error);
    /* solves for form->vector in place */
    int (*solve)(taut_saddle *saddle, taut_error *error);
    void (*destroy)(taut_saddle *saddle); /* NULL when the arena has everything */
    /* the factorisation, beyond what the form keeps */
    void (*archive)(taut_saddle *saddle, taut_archive *archive);
    /* in place of solve, of a backend without a form: for x[n] and y[m] in place, real and
     * imaginary parts with `step` numbers from entry to entry */
    int (*solve_for)(taut_saddle *saddle, double *const x[2], double *const y[2], int step,
                     taut_error *error);
} taut_backend_functions;

struct taut_saddle {
    taut_arena arena, columns; /* columns: those of the form, cleared where they are not needed */
    taut_form form;
    taut_backend backend;
    const taut_backend_functions *functions;
    taut_elimination elimination; /* of sparse A; no fronts before it is made */
    bool factored;
    void *work; /* of the backend */
    char structure[160];
};

/* Backends that store the matrix as columns, full ones or a band, differ in two functions.
 * (dense_backend.c) */
typedef struct taut_stored {
    void *matrix;
    int64_t numbers; /* in it */
    int64_t clear;   /* how many of them are set to zero before it is assembled */
    bool symmetric;  /* a band that L D L^T may serve, */
    bool half;       /* and has; then it is the lower half */
    taut_index *pivot;
    taut_index base;  /* rows are counted from 0, or, by LAPACK, from 1 in `pivot` */
    taut_index width; /* entries that an elimination sums */
    /* 1 + the column of the first small pivot, or 0; and the solution of form->vector */
    taut_index (*decompose)(taut_form *form, struct taut_stored *work, double tolerance);
    void (*substitute)(taut_form *form, struct taut_stored *work);
} taut_stored;
/* Entry (i,j) at offset + i + j step; `like` has width and functions. */
int taut_stored_create(taut_saddle *saddle, int64_t offset, int64_t step, taut_stored like,
                       taut_error *error);
void taut_stored_assemble(const taut_form *form, taut_stored *work,
                          const taut_saddle_values *values);
int taut_stored_factor(taut_saddle *saddle, const taut_saddle_values *values, taut_error *error);
int taut_stored_solve(taut_saddle *saddle, taut_error *error);
void taut_stored_archive(taut_saddle *saddle, taut_archive *archive);

/* After LAPACK factored the matrix of a form and returned `info`: 1 + the column of the first small
 * pivot, or 0. (dense_backend.c) */
taut_index taut_small_pivot(const taut_form *form, const void *matrix, int info, double tolerance);

/* Whether MUMPS is there, which the Schur form does not need. (sparse.c) */
bool taut_sparse_available(void);

extern const taut_backend_functions taut_backend_tiny, taut_backend_dense, taut_backend_banded,
    taut_backend_sparse, taut_backend_fronts, taut_backend_parted, taut_backend_parted_mumps,
    taut_backend_parted_saddle;

#endif
