/* pencil.h - the stiff eigenvalues of V x = lambda B x, whichever way V and B are given. */
#ifndef TAUT_LINALG_PENCIL_H
#define TAUT_LINALG_PENCIL_H

#include "linalg/extreme.h"
#include "linalg/spectrum.h"

/* V symmetric (its positive eigenvalues are wanted), B symmetric positive definite or the
 * identity. */
typedef struct taut_pencil {
    taut_index n;
    int (*forward)(void *user, const double *x, double *y, taut_error *error); /* y = B^-1 V x */
    /* y = B x; NULL for the identity */
    int (*inner)(void *user, const double *x, double *y, taut_error *error);
    /* factors sign (V + shift B), which is meant to be definite; one that needs it may answer
     * TAUT_ERROR_SINGULAR when it is not */
    int (*prepare)(void *user, double shift, int sign, taut_error *error);
    /* y = (V + shift B)^-1 B x */
    int (*solve)(void *user, const double *x, double *y, taut_error *error);
    void *user;
    bool proves; /* prepare does answer so, and costs no more than some solves */
} taut_pencil;

/* The `count` largest eigenvalues, in any order, to about 1e-6 relative or better. */
int taut_pencil_largest(const taut_pencil *pencil, int count, double *value,
                        const taut_allocator *allocator, taut_error *error);
/* The `count` smallest, to about 1e-6 relative or better, of a regular V. *regular is false (and
 * nothing is found) when V is singular. */
int taut_pencil_smallest(const taut_pencil *pencil, int count, double *value, bool *regular,
                         const taut_allocator *allocator, taut_error *error);
/* The `count` smallest eigenvalues that are not zero, of a singular V; they must lie above about
 * 1e-6 `largest`. */
int taut_pencil_smallest_positive(const taut_pencil *pencil, double largest, int count,
                                  double *value, const taut_allocator *allocator,
                                  taut_error *error);

/* frequency[] from `modes` eigenvalues, ascending: all where they fit, else `count` from each
 * end. */
void taut_spectrum_fill(int modes, const double *value, int count, double *frequency,
                        taut_spectrum *spectrum);
/* The same from the ends alone: least[] ascending and most[] descending, each of `count`. Values
 * that are not positive are omitted. */
void taut_spectrum_fill_ends(int count, double *least, double *most, double *frequency,
                             taut_spectrum *spectrum);

#endif
