/* difference.h - the parts of projection difference: the condition (difference_condition.c), orders
 * (difference.c), the iterations that solve them (difference_iterations.c), settings and rows
 * (difference_run.c), the noise of a flow (flow_noise.c). */
#ifndef TAUT_PROJECT_DIFFERENCE_H
#define TAUT_PROJECT_DIFFERENCE_H

#include "base/flow.h"
#include "linalg/anderson.h"
#include "point/hold/kept_functions.h"
#include "point/projection.h"

enum {
    TAUT_NEWTON_BASIS = 20,         /* directions of one linear system, at most */
    TAUT_DIFFERENCE_FIT = 3,        /* further samples of a fit, for each that the order needs */
    TAUT_DIFFERENCE_DEVIATIONS = 3, /* standard deviations that a difference may be off by */
};

/* How one order comes to its end. */
typedef struct taut_difference_progress {
    taut_projection_stage *stage;
    double best, first;
    int64_t since;    /* evaluations since the best */
    bool accelerated; /* the latest point is more than a plain step */
    double response;  /* max |change of z| / |change of delta| seen: the state that a delta is */
    bool known;       /* there is a point before */
    int phase;        /* of aitken */
    double slow_part; /* rpm: |delta| off the slow directions, one step ago */
} taut_difference_progress;

typedef struct taut_difference {
    taut_projection *p;
    taut_flow *flow;
    taut_jet *jet; /* of projection derivative, or NULL */
    taut_kept_functions held;
    taut_anderson anderson;
    const struct taut_iteration *iteration;
    bool tolerance_given;
    int order; /* the highest */
    bool auto_order, auto_iteration, newton_used, horizon_found;
    double horizon, tolerance;
    double first_horizon; /* longer, or NaN: none */
    int64_t spent;        /* evaluations with longer horizons */
    int steps;            /* of a filter to each side; 0: no filter */
    double *weight;       /* [steps + 1] */
    int64_t limit;        /* evaluations of one order; 0: that of the iteration */
    int fit;         /* further samples in the estimate of a derivative, each order + 1 of them */
    double *samples; /* [fit_most (order + 1) + 1][n]: z_0, z_1, ..., then their differences */
    double *delta;   /* [n] */
    double *best, *best_delta;
    double *before, *before_delta; /* of the point before */
    double *next;                  /* [n]: z_1 of the latest samples */
    double *away;                  /* [n]: the initial state, a horizon later */
    double *scale;                 /* [n]: sizes of the variables, for norms */
    double *work, *work_delta;     /* [n] */
    double *basis;                 /* [TAUT_NEWTON_BASIS + 1][n] */
    double *image;                 /* [TAUT_NEWTON_BASIS][n] */
    int directions;                /* rpm: of basis */
    double size;                   /* max |z_j|, of the latest samples */
    double noise;                  /* max over variables of the flow's standard deviation */
    bool random;                   /* it is far above rounding */
} taut_difference;

/* A way to the next point; one row each. */
typedef struct taut_iteration {
    const char *name;
    int64_t limit, patience; /* evaluations; without a better one */
    bool accelerates;        /* points may be far from a plain step */
    /* From z, where delta is w->delta, to the next point. May evaluate, with w->delta as result. */
    int (*next)(taut_difference *w, taut_difference_progress *s, double *z, taut_error *error);
} taut_iteration;

enum { TAUT_OUTER_VARIABLES = 400 };

/* (difference_run.c) Memory, and what is kept, at the state w->p->q. */
int taut_difference_build(taut_difference *w, taut_arena *arena, taut_error *error);
/* (difference.c) All orders from w->p->q. before[n]; work[TAUT_NOISE_POINTS n]. */
int taut_difference_solve(taut_difference *w, double *before, double *work, taut_error *error);
/* Values of the bonds at z, and their rates over one horizon, to w->next. */
int taut_difference_record(taut_difference *w, const double *z, taut_error *error);
/* One order from `before`, where z is too; where the iteration is free, Newton's method is the
 * second attempt. */
int taut_difference_iterate(taut_difference *w, taut_projection_stage *stage, const double *before,
                            double *z, taut_error *error);

/* (difference_condition.c) delta at z for the order of the stage, into w->delta; counted. 0, >0 the
 * flow cannot be followed from here, <0 error. */
int taut_difference_evaluate(taut_difference *w, taut_projection_stage *stage, const double *z,
                             double *most, taut_error *error);
/* (difference_condition.c) The standard deviation of delta that the noise of the flow causes. */
double taut_difference_noise(const taut_difference *w, int order);
/* Failures that another point may avoid; a process that has died is none of them. */
static inline bool taut_difference_avoidable(int status)
{
    return status > 0 || status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_CONVERGE ||
           status == TAUT_ERROR_SINGULAR;
}

/* (difference_checks.c) A step from w->before to z that makes a positive variable negative ends
 * before it does; then *shortened. */
int taut_difference_stay_positive(taut_difference *w, double *z, bool *shortened,
                                  taut_error *error);
/* Fail where the point z is a false solution: a positive variable is negative, deviations grow, the
 * order has moved farther than the one before. */
int taut_difference_check_positive(const taut_difference *w, double *z, taut_error *error);
int taut_difference_check_attracts(taut_difference *w, const taut_projection_stage *stage,
                                   const double *start, const double *z, taut_error *error);
int taut_difference_check_order(const taut_difference *w, const taut_projection_stage *stage,
                                taut_error *error);
/* Fills the verdict of w->p. */
int taut_difference_judge(taut_difference *w, taut_error *error);

/* (brute.c) The flow is followed until it is slow; start[n]: where it began. */
int taut_difference_brute(taut_difference *w, double *start, taut_error *error);

/* (outer.c) The outer expansion up to this order, or to its smallest term, from its term 0. */
int taut_difference_outer(taut_difference *w, int order, bool to_smallest, taut_arena *arena,
                          taut_error *error);

/* (difference_iterations.c) The row of a name; NULL: none. */
const taut_iteration *taut_iteration_find(const char *name);

/* (flow_noise.c) Standard deviations of what the flow makes of z over H, into noise[n]. `work`
 * has TAUT_NOISE_POINTS n numbers. Uses the flow at least as often. */
enum { TAUT_NOISE_POINTS = 8 };
int taut_flow_noise(taut_flow *flow, double t, double H, const double *z, const double *scale,
                    double *work, double *noise, taut_error *error);

#endif
