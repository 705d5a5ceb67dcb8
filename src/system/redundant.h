/* redundant.h - rigid bonds that follow from others: which of them a motion needs. */
#ifndef TAUT_SYSTEM_REDUNDANT_H
#define TAUT_SYSTEM_REDUNDANT_H

#include "system/system.h"

typedef struct taut_redundancy {
    taut_index rows, rank; /* rigid bonds, and how many of them are independent */
    /* the same system with an independent subset of them (derived.c); NULL: all are independent */
    taut_system *independent;
    char text[300]; /* "b follows from others such as a" */
} taut_redundancy;

/* Examines the rigid bonds at (t, q, v) of a mechanical system. Bonds that follow from others, at
 * the state and in its neighbourhood, are found redundant. Fails with TAUT_ERROR_SINGULAR where
 * they depend on others at this state only, with TAUT_ERROR_CONVERGE where they contradict
 * others. */
int taut_redundancy_find(const taut_system *system, double t, const double *q, const double *v,
                         const taut_allocator *allocator, taut_redundancy *found,
                         taut_error *error);

#endif
