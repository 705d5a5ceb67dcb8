/* distance.h - families of springs between points of a plane or of space, as the links of a chain:
 *
 *     g = |d| - rest,   d = far - near,   lambda = g / c,   force on `far`: -lambda d / |d|
 *
 * found in the tape, and computed by vectors of four members with the operations of the tape, hence
 * with its bits, without a compiler as fast as with one. */
#ifndef TAUT_SYSTEM_KERNEL_DISTANCE_H
#define TAUT_SYSTEM_KERNEL_DISTANCE_H

#include "system/kernel/kernel.h"

struct taut_family;

typedef struct taut_distance {
    taut_index far, near; /* coordinates of the first member's points */
    int32_t rest;         /* register, the same for all members */
    bool negative;        /* it contains -rest */
} taut_distance;

/* Is this what the members of a family are? */
bool taut_distance_find(const taut_statement_kernel *kernel, const struct taut_family *family,
                        taut_distance *distance);
/* lambda d / |d| of n members to force[n][stride]; lambda: may be NULL. far, near: q of the first
 * member's points; length: rest. */
void taut_distance_run(int stride, int n, const double *far, const double *near, double length,
                       const double *stiffness, double *lambda, double *force);

#endif
