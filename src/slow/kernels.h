/* kernels.h - filtering kernels: even functions on [-1, 1] of mass 1, sampled as weights (kernels.c). */
#ifndef TAUT_SLOW_KERNELS_H
#define TAUT_SLOW_KERNELS_H

typedef struct taut_filter {
    const char *name;
    int moments;                /* mu: moments 1..mu vanish */
    double (*value)(double at); /* for 0 <= at <= 1 */
} taut_filter;

extern const taut_filter taut_filter_cubic;

/* weight[0..steps]: that of the centre, then of the samples at j/steps to both sides, by the trapezoid rule. The centre is set such that all
 * add up to 1 to rounding: a constant passes unchanged. */
void taut_filter_weights(const taut_filter *filter, int steps, double *weight);

#endif
