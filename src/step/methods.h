/* methods.h - the methods there are: one file each, one row each in methods.c, which declares
 * them; here are those that others name. */
#ifndef TAUT_STEP_METHODS_H
#define TAUT_STEP_METHODS_H

#include "base/method.h"

extern const taut_method taut_verlet;
/* radau.c */
extern const taut_method taut_radau1, taut_radau3, taut_radau5, taut_radau7, taut_radau9;
extern const taut_method taut_lobatto2, taut_lobatto4, taut_lobatto6, taut_gauss2, taut_gauss4,
    taut_gauss6, taut_sdirk2, taut_sdirk3, taut_sdirk4, taut_trbdf2, taut_esdirk4;
/* explicit.c */
extern const taut_method taut_euler, taut_midpoint, taut_rk4, taut_dopri5, taut_dop8;
extern const taut_method taut_ab2, taut_rattle, taut_rattle_momenta;
/* impulse.c */
extern const taut_method taut_projected_impulse, taut_mollified_impulse, taut_impulse_method;
extern const taut_method taut_effective;
extern const taut_method taut_follow_flow;

/* Lengths of the steps that a symmetric composition of order 2, 4, 6 or 8 is made of, over its own,
 * and h omega below which it is stable. (compose.c) */
enum { TAUT_COMPOSED = 17 };
typedef struct taut_composition_weights {
    int count;
    double weight[TAUT_COMPOSED], stability;
} taut_composition_weights;
void taut_composition(int order, taut_composition_weights *weights);

/* What kicks in steps of length h make of a force of rate w: one that differs by (h w)^order/part
 * of it; the longest kick over h. The order is that of the option outer-order. (outer_kicks.c) */
typedef struct taut_kick_error {
    int order;
    double part, longest;
} taut_kick_error;
taut_kick_error taut_kick_error_of(const taut_options *options);

#endif
