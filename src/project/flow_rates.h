/* flow_rates.h - rates at which deviations from a state decay (flow_rates.c). */
#ifndef TAUT_PROJECT_FLOW_RATES_H
#define TAUT_PROJECT_FLOW_RATES_H

#include <complex.h>

#include "base/flow.h"

enum { TAUT_RATES_VARIABLES = 400 }; /* of dense matrices; more: taut_leading_rates */

typedef struct taut_flow_rates {
    taut_index n;
    double complex *rate; /* [n], by size: slow ones first; real part > 0: deviations grow */
    double complex *left; /* [n][n]: of each, weights of the variables in the function that decays
                           * with it alone, in units of the scale */
    double *matrix;       /* [n][n]: of the flow, or of the rates, in units of the scale */
    double *work;         /* [n][n] */
    double *scale;        /* [n] */
    double complex *solve;
    taut_index *pivot;
    double time;       /* of the flow; 0: from derivatives */
    double resolution; /* smaller rates cannot be distinguished from 0 */
    double limit;      /* larger rates cannot be seen: what decays with them has decayed */
} taut_flow_rates;

/* Memory for n variables; scale[n] are their sizes. */
int taut_flow_rates_create(taut_flow_rates *r, taut_index n, const double *scale, taut_arena *arena,
                           taut_error *error);
/* From the derivatives of the model's own rates at (t, z). */
int taut_flow_rates_open(taut_flow_rates *r, taut_context *context, double t, const double *z,
                         taut_error *error);
/* From the flow over H, by differences; `noise` is relative. Uses it n + 1 times. */
int taut_flow_rates_closed(taut_flow_rates *r, taut_flow *flow, double t, double H, const double *z,
                           double noise, taut_error *error);
/* An H that suits a projection in which `fast` variables are unknown: what decays slowest of them
 * decays by 1/e. For a flow it is found by trials, from `first` on. */
int taut_flow_rates_horizon(taut_flow_rates *r, taut_flow *flow, double t, const double *z,
                            taut_index fast, double first, double noise, double *H,
                            taut_error *error);
/* The largest ratio of successive rates, those of size 0 counted as the resolution, past the first
 * `conserved` ones: returns how many rates are below it. */
taut_index taut_flow_rates_gap(const taut_flow_rates *r, taut_index conserved, double *gap);
/* 1/|rate| of the slowest of the `fast` fastest. */
double taut_flow_rates_time(const taut_flow_rates *r, taut_index fast);
/* The left eigenvectors, when they are wanted. */
void taut_flow_rates_vectors(taut_flow_rates *r);

/* The largest |mu| of df/dz of a first-order system without algebraic variables; 0 for others.
 * (stiff_rate.c) */
int taut_stiff_rate(taut_context *context, double t, const double *z, double *rate,
                    taut_error *error);

/* (leading_rates.c) The `count` rates of smallest size, from the eigenvalues of largest magnitude
 * of the flow's Jacobian over H, whose products are differences of the flow: for any number of
 * variables. r->rate has room for them; r->n becomes how many were found. */
int taut_leading_rates(taut_flow_rates *r, taut_flow *flow, double t, double H, const double *z,
                       double noise, int count, bool *converged, taut_arena *arena,
                       taut_error *error);

#endif
