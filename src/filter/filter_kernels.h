/* filter_kernels.h - filtering kernels: even functions on [-1, 1] of mass 1, sampled as weights
 * (filter_kernels.c, tuned_weights.c). */
#ifndef TAUT_FILTER_FILTER_KERNELS_H
#define TAUT_FILTER_FILTER_KERNELS_H

#include <stdbool.h>

typedef struct taut_filter {
    const char *name;
    int moments;                /* mu: moments 1..mu vanish */
    double (*value)(double at); /* for 0 <= at <= 1 */
} taut_filter;

extern const taut_filter taut_filter_cubic;

/* weight[0..steps]: that of the centre, then of the samples at j/steps to both sides, by the
 * trapezoid rule. The centre is set such that all add up to 1 to rounding: a constant passes
 * unchanged. */
void taut_filter_weights(const taut_filter *filter, int steps, double *weight);

/* ---- kernels w(t) p(t^2) with vanishing moments, p computed */

enum { TAUT_FILTER_KERNEL_MOMENTS = 9 }; /* mu at most */

typedef struct taut_filter_kernel {
    int moments; /* mu = 1, 3, 5, 7, 9 */
    /* nu: w = (1 - t^2)^(nu+1); -1: the bump exp(-1/(1 - t^2)), smooth of every order */
    int smooth;
} taut_filter_kernel;

/* K(t) = (1 - t^2)^(nu+1) p(t^2) has mass 1, and moments 1..mu are zero. weight[0..steps] of the
 * samples at j = 0, 1, ..: sum_j weight_j x(t + j h) / h^k is the k-th derivative of x at t,
 * exactly for polynomials up to degree mu (even k) or mu + 1 (odd k). Even k: weight_-j = weight_j,
 * odd k: -weight_j. k <= mu and steps > mu are needed. */
void taut_filter_kernel_weights(const taut_filter_kernel *kernel, int steps, int k, double *weight);
/* sum_j weight_j cos(j theta) over both sides, even weights: what is left of an oscillation. */
double taut_filter_kernel_response(int steps, const double *weight, double theta);

enum { TAUT_FILTER_KERNEL_ZEROS = 8 };

/* Changes the weights of a value (or, odd, of a first derivative) as little as can be, so that
 * an oscillation of each frequency theta[count] leaves nothing, and the moments stay exact.
 * False, and nothing changed, when there are too many for the steps. */
bool taut_filter_kernel_zeros(const taut_filter_kernel *kernel, bool odd, int steps, int count,
                              const double *theta, double *weight);

/* Gaussian elimination with pivoting, of rows that are `stride` apart; the solution replaces b.
 * False when singular. */
bool taut_filter_solve(int size, int stride, double *a, double *b);

/* ---- frequency-tuned weights (tuned_weights.c) */

enum { TAUT_TUNED_STEPS = 40, TAUT_TUNED_ZEROS = 8 };

/* Discrete moments 1..mu zero, sum 1. Zeros at theta[count] where there is room for them, else
 * smallest in the band that they span. Returns the largest response on theta (zeros: their
 * second order, for a spread of a tenth), INFINITY when there are no such weights. mu < 2 steps;
 * steps <= TAUT_TUNED_STEPS. */
double taut_tuned_weights(int moments, int count, const double *theta, bool complete, int steps,
                          double *weight);
/* sum |w| over both sides: what rounding and nonlinearity are multiplied by. */
double taut_tuned_sum(int steps, const double *weight);

#endif
