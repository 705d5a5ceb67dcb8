/* anderson.h - Anderson's acceleration of a fixed-point iteration x <- x + f(x) (anderson.c). */
#ifndef TAUT_LINALG_ANDERSON_H
#define TAUT_LINALG_ANDERSON_H

#include "base/memory.h"

enum { TAUT_ANDERSON_DEPTH = 5 }; /* pairs of differences at most */

typedef struct taut_anderson {
    taut_index n;
    int depth, count;                /* wanted; kept */
    double *dx[TAUT_ANDERSON_DEPTH]; /* [n] each, newest first */
    double *df[TAUT_ANDERSON_DEPTH];
    double *basis[TAUT_ANDERSON_DEPTH]; /* work: orthonormal columns */
    double *x, *f;                      /* the latest pair */
    bool started;
    double least; /* differences of f that are shorter are noise, and not kept */
} taut_anderson;

/* depth: 0 .. TAUT_ANDERSON_DEPTH; 0 is the plain iteration. Memory comes from the arena. */
int taut_anderson_create(taut_anderson *a, taut_index n, int depth, taut_arena *arena,
                         taut_error *error);
/* Forgets all pairs. */
void taut_anderson_clear(taut_anderson *a);
/* Takes the pair (x, f(x)) and writes the next point; next may be x. Never allocates. */
void taut_anderson_next(taut_anderson *a, const double *x, const double *f, double *next);

#endif
