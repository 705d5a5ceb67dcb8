/* stiffness.h - the stiffness that filtering projections work with: frequencies, rounding of g,
 * and whether a state is slow (stiffness.c). */
#ifndef TAUT_FILTER_STIFFNESS_H
#define TAUT_FILTER_STIFFNESS_H

#include "filter/force_spectrum.h"

enum { TAUT_STIFFNESS_ENDS = 4 }; /* frequencies from each end of the spectrum */

typedef struct taut_stiffness {
    /* ascending; soft springs do not count unless all are soft */
    double frequency[2 * TAUT_STIFFNESS_ENDS];
    int found;     /* 0: they could not be computed */
    bool complete; /* these are all */
    double single; /* the least that a single spring would have with the rest at rest; 0 when M is
                      not diagonal, or without springs */
    double *floor; /* [m], or NULL: 8 u sum |G_ik q_k| is added, the rounding of g */
    /* without springs: where the frequencies are seen, together with slow ones; NULL: springs */
    taut_force_spectrum *spectrum;
    /* without springs: what the user defines as fast begins here; 0: the largest gap decides */
    double given;
    /* without springs: the fastest below the gap, or what hides it; 0: there is none, or it is
     * not known */
    double slow;
    /* without springs: noise hides it, and there is no slower motion that is known */
    bool hidden;
    double floor_rate; /* without springs: what hides slow ones, as far as it is known */
    /* without springs: the largest rate above the gap of a force that pushes away from
     * equilibrium; 0: none */
    double repels;
    /* without springs: how far the slowest of the fast may be from a true one, relative */
    double loose;
    /* without springs, many coordinates: the next passes need it, nothing is decided yet */
    bool rough;
    /* without springs: what passes change again and again oscillates at this rate (progress.c);
     * 0: nothing */
    double rate_left;
    /* without springs: the slowest of the fast, as seen so in the micro-solution; 0: in
     * differences of forces */
    double lowered;
} taut_stiffness;

/* Does the system have springs, which have frequencies? Otherwise they are those of the
 * stiff potential, or seen in its forces. */
bool taut_stiffness_declared(const taut_projection *p);
int taut_stiffness_measure(const taut_projection *p, const double *q, taut_stiffness *stiffness,
                           taut_error *error);
/* Without springs: is `rate`, of what passes change again and again, a fast one that the weights
 * do not cover? Then it is noted, and the next measurement counts it. */
bool taut_stiffness_missed(taut_stiffness *stiffness, double rate);
/* Fails with both numbers unless fast and slow are apart; springs that are declared always pass. */
int taut_stiffness_separated(const taut_stiffness *stiffness, taut_error *error);

/* How fast the initial state moves, |v|/|q| in 1/time: the other number where slow and fast are not
 * separated. */
double taut_stiffness_pace(const taut_projection *p);

#endif
