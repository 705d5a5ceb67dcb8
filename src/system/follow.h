/* follow.h - algebraic variables that constraints determine (index 1), at a given state. */
#ifndef TAUT_SYSTEM_FOLLOW_H
#define TAUT_SYSTEM_FOLLOW_H

#include "system/system.h"

typedef struct taut_follow taut_follow;

/* NULL in *follow where the system has no such variables. Memory is from the arena. */
int taut_follow_create(taut_context *context, taut_arena *arena, taut_follow **follow,
                       taut_error *error);
void taut_follow_destroy(taut_follow *follow);
/* Solves the constraints for these variables, the last ones of z[n], from the values that they
 * have; the others stay. Nothing is allocated. */
int taut_follow_apply(taut_follow *follow, double t, double *z, taut_error *error);

/* The three in one. */
int taut_context_settle(taut_context *context, double t, double *z, taut_error *error);

#endif
