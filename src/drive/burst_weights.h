/* burst_weights.h - the slow motion where a burst begins, as sums of its samples (burst_weights.c).
 */
#ifndef TAUT_DRIVE_BURST_WEIGHTS_H
#define TAUT_DRIVE_BURST_WEIGHTS_H

#include <stdbool.h>

enum { TAUT_BURST_DEGREE = 3, TAUT_BURST_WINDOW = 12 }; /* the least; the most */

typedef struct taut_burst_fit {
    bool line;          /* with noise: a line is fitted */
    int degree;         /* of p */
    int window;         /* of so many samples, less 1, at most */
    int skip;           /* samples at the beginning that are not used */
    double least, most; /* fast parts are multiplied by such factors from sample to sample */
    double samples;     /* of a burst, expected */
    double excess;      /* expected error over the tolerance, at least 1 */
} taut_burst_fit;

/* What a fit depends on; times in units of the distance of samples. */
typedef struct taut_burst_facts {
    double slowest, fastest; /* fast rates; the latter may be INFINITY */
    double slow;             /* the largest slow rate */
    double time;             /* of a leap */
    double noise, tolerance; /* of the state; relative */
} taut_burst_facts;

/* The degree that the tolerance needs, and as many zeros as rounding and noise permit. */
void taut_burst_choose(const taut_burst_facts *facts, taut_burst_fit *fit);
/* Samples last - W .. last are used of a burst that ends with sample `last` >= degree;
 * returns W <= TAUT_BURST_WINDOW. */
int taut_burst_window(const taut_burst_fit *fit, int last);
/* value[W + 1], slope[W + 1]: weights of these samples in value and slope of the slow motion at
 * sample 0, times in units of the distance of samples. */
void taut_burst_weights(const taut_burst_fit *fit, int last, double *value, double *slope);

#endif
