/* cholesky.h - M = R R^T of a small dense mass matrix, and the rows of constraints orthonormal
 * in it (cholesky.c).
 *
 * In the coordinates y = R^T x lengths are those of the metric M: |y|^2 = x^T M x. Matrices are
 * stored by rows. */
#ifndef TAUT_LINALG_CHOLESKY_H
#define TAUT_LINALG_CHOLESKY_H

#include "base/memory.h"

/* a[n][n] becomes R in its lower half (the upper half is left alone). Returns n, or, when a is not
 * positive definite, the first row where that shows. */
taut_index taut_cholesky(taut_index n, double *a);
void taut_cholesky_lower(taut_index n, const double *r, double *x); /* x <- R^-1 x */
/* x <- R^-T x: from y to x */
void taut_cholesky_upper(taut_index n, const double *r, double *x);
void taut_cholesky_multiply(taut_index n, const double *r, double *x); /* x <- R^T x: from x to y */
void taut_cholesky_solve(taut_index n, const double *r, double *x);    /* x <- M^-1 x */

/* Rows a_i y = s_i, made orthonormal one after the other: a = T q, T lower triangular. */
typedef struct taut_rows {
    taut_index n, most, count; /* length; room; independent rows so far */
    double *q;                 /* [most][n] */
    double *t;                 /* [most][most] */
} taut_rows;

int taut_rows_create(taut_rows *rows, taut_index n, taut_index most, taut_arena *arena,
                     taut_error *error);
/* Takes the row a[n], which is overwritten; false when it depends on those before (a remainder
 * of 1e-10 of its length), and is omitted. */
bool taut_rows_add(taut_rows *rows, double *a);
/* y[n] += the shortest change with a change = s[count]; s is overwritten. */
void taut_rows_satisfy(const taut_rows *rows, double *s, double *y);
/* Takes from y[n] what the rows see of it. */
void taut_rows_remove(const taut_rows *rows, double *y);

#endif
