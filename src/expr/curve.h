/* curve.h - a smooth curve through equidistant table values y[1..n]: natural cubic spline,
 * linear beyond the ends (C2 everywhere inside). Used for table look-ups with an argument that
 * is not an integer. */
#ifndef TAUT_EXPR_CURVE_H
#define TAUT_EXPR_CURVE_H

#include "base/memory.h"

typedef struct taut_curve {
    int32_t count; /* knots at 1, 2, ..., count */
    /* [count-1][4]: value, and derivatives 1..3 divided by j!, at the left knot */
    const double *coefficient;
    double first, last, slope_first, slope_last; /* linear continuation */
} taut_curve;

int taut_curve_create(taut_arena *arena, int32_t count, const double *values,
                      const taut_curve **curve, taut_error *error);
/* The derivative of order d (0..3; higher ones are 0) at x. */
double taut_curve_value(const taut_curve *curve, int d, double x);

#endif
