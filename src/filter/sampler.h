/* sampler.h - one pass of a filter: Verlet to both sides of a state (RATTLE where there are
 * rigid bonds), weighted sums of the samples, and the choice of weights (sampler.c). */
#ifndef TAUT_FILTER_SAMPLER_H
#define TAUT_FILTER_SAMPLER_H

#include "base/flow.h"
#include "filter/filter_kernels.h"
#include "filter/stiffness.h"

/* Weighted sums of samples, each [n]: of q and v with the weights of the pass, of kernels with
 * two more moments, the derivative of q, its fourth difference. */
enum { TAUT_EVEN_Q, TAUT_EVEN_V, TAUT_BETTER_Q, TAUT_BETTER_V, TAUT_RATE, TAUT_FOURTH, TAUT_SUMS };

typedef struct taut_sampler {
    taut_projection *p;
    taut_flow *flow;
    bool general;   /* masses vary, or forces depend on velocities */
    bool rigid;     /* the flow is RATTLE */
    double h;       /* between samples */
    double fastest; /* frequency that they are made for */
    int steps;
    int sums;                  /* how many are formed */
    double *weight[TAUT_SUMS]; /* [steps + 1]; those of q and v are one array */
    double *sum[TAUT_SUMS];    /* [n], as differences from the centre */
    /* [n]: the derivative of q at the centre, from its nearest samples: of order 8, and not
     * filtered */
    double *slope;
    double *state;           /* [2n] */
    double *last_q, *last_v; /* [n]: before the latest pass */
    bool zeros;              /* smooth weights vanish at the frequencies */
    int room;                /* steps that the arrays of smooth weights have place for */
    double *tuned, *smooth[TAUT_SUMS];
} taut_sampler;

/* Memory comes from the arena of p. */
int taut_sampler_create(taut_projection *p, taut_sampler *sampler, taut_error *error);
void taut_sampler_destroy(taut_sampler *sampler); /* half-made ones too */
/* The shortest frequency-tuned weights with a small sum |w|; false when there are none. Forms
 * sums of q and v. */
bool taut_sampler_tuned(taut_sampler *sampler, const taut_stiffness *stiffness);
/* Weights of a smooth kernel with h times the fastest frequency = step; steps = 0: as few as
 * leave little of the slowest. Zeros at the frequencies where these are all that there are.
 * Forms all sums. */
int taut_sampler_smooth(taut_sampler *sampler, const taut_filter_kernel *shape,
                        const taut_stiffness *stiffness, double step, int64_t steps,
                        taut_error *error);
/* The weights of a kernel of the literature, or where that is NULL of a smooth one, h apart; all
 * sums where there are steps enough for them, else those of q and v. */
int taut_sampler_filter(taut_sampler *sampler, const taut_filter *filter,
                        const taut_filter_kernel *shape, int steps, double h, double fastest,
                        taut_error *error);
/* The smooth kernel of the settings kernel (bump or another), moments, smoothness; those that it
 * does not need are noted in p->idle. */
int taut_sampler_shape(taut_projection *p, const taut_projection_settings *settings,
                       taut_filter_kernel *shape, taut_error *error);
/* Samples around (p->q, p->v), which is on the rigid bonds, and forms the sums. */
int taut_sampler_run(taut_sampler *sampler, taut_error *error);
/* Keeps (p->q, p->v) as last_q, last_v and adds the sums of q and v. */
void taut_sampler_move(taut_sampler *sampler);

/* Errors of the filtered state from the latest samples, max norms: of the filter, by a
 * kernel with more moments, in q and v; of Verlet's slow motion in q, h^2/12 |q^(4)|/slowest^2;
 * of its velocities. NaN where the sums are not formed. */
typedef struct taut_sampled_errors {
    double filter_q, filter_v, verlet_q, verlet_v;
} taut_sampled_errors;
taut_sampled_errors taut_sampler_errors(const taut_sampler *sampler, double slowest);
/* Fails where a result that is off by `off` in q, more than `poor` of the state, is not to be
 * called a slow point. declared: the stiffness is. */
int taut_sampler_check(const taut_sampler *sampler, bool declared, double slowest, double off,
                       double poor, taut_error *error);
/* Where forces depend on velocities, the micro-integration has them at velocities half a step to
 * both sides, in the mean off by h^2/4 of the third derivative: what that makes of positions
 * after the latest pass, max norm; 0 for Verlet. Three evaluations. */
int taut_sampler_velocity_error(taut_sampler *sampler, double slowest, double *off,
                                taut_error *error);

#endif
