/* truncation_error.h - what is left of an expansion of slow motion that is cut, from its terms
 * (truncation_error.c). */
#ifndef TAUT_SLOW_TRUNCATION_ERROR_H
#define TAUT_SLOW_TRUNCATION_ERROR_H

/* A rate of the slow motion from the lengths of q and its derivatives: the positive root of |q|
 * r^3 + |v| r^2 = |v'| r + |v''|; 0 when there is no motion. It is a unit of time in which
 * positions and velocities can be compared, whatever the units of the model and wherever its
 * origin. */
double taut_truncation_rate(double q, double v, double a, double b);

/* Sizes of the terms of the latest levels, latest first: in units of the state; in q and in v,
 * max norm. */
typedef struct taut_truncation {
    double step[3], q[3], v[3];
    double floor_q, floor_v; /* rounding */
    int levels;              /* in all */
} taut_truncation;

void taut_truncation_push(taut_truncation *terms, double step, double q, double v);
/* What a series that is cut leaves of `term` (one of step, q, v): where terms are least, twice
 * the larger of the last term and of its lesser neighbour, for terms there are of one size, but one
 * of them may vanish by symmetry. `next` is the term after the last one; NaN: unknown, then they go
 * on as they did before the last one. */
double taut_truncation_tail(const taut_truncation *terms, const double *term, double next);
/* The same for q and v. What is left changes at a rate between that of the slow motion and the
 * frequency at which its springs oscillate: where v has less than q times that frequency, or q
 * less than v over it, one of the two happens to be small, and the mean is taken. */
void taut_truncation_errors(const taut_truncation *terms, double rate, double frequency,
                            double next_q, double next_v, double *q, double *v);

#endif
