/* hessenberg.h - eigenvalues of a small matrix that is zero below its first subdiagonal
 * (hessenberg.c). */
#ifndef TAUT_LINALG_HESSENBERG_H
#define TAUT_LINALG_HESSENBERG_H

#include <stdbool.h>

/* Eigenvalues of h[n][n], zero below the first subdiagonal; h is overwritten. False when they
 * could not be found. */
bool taut_hessenberg_values(int n, double *h, double *real, double *imaginary);

#endif
