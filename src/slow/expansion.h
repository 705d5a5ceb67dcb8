/* expansion.h - coefficients of the slow point as a power series in the compliance (expansion.c).
 */
#ifndef TAUT_SLOW_EXPANSION_H
#define TAUT_SLOW_EXPANSION_H

#include "base/memory.h"

enum { TAUT_EXPANSION_TERMS = 3 };

/* y = y^0 + eps^2 y^1 + eps^4 y^2 + ..., eps^2 the largest compliance of a bond that is not
 * soft; all others in proportion. */
typedef struct taut_expansion {
    double eps2;
    double *q[TAUT_EXPANSION_TERMS], *v[TAUT_EXPANSION_TERMS]; /* [n] each; [0]: the foot point */
} taut_expansion;

/* At the foot point (x, u) of the context's system, which needs springs and TAUT_CAN_JETS. The
 * result lives in the arena. */
int taut_expansion_make(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                        double t, const double *x, const double *u, taut_expansion *expansion,
                        taut_error *error);

#endif
