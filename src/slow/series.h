/* series.h - a projector onto the slow manifold, to rounding (series.c). */
#ifndef TAUT_SLOW_SERIES_H
#define TAUT_SLOW_SERIES_H

#include "base/projector.h"

/* All fields may be zero. */
typedef struct taut_series_settings {
    int levels;                /* at most; 0: 6, or what jets allow */
    bool gradual;              /* for one use: room for later levels is made when they are reached, in apply() */
    const unsigned char *hold; /* [n] of the bits of taut_system_hold: what stays; NULL: nothing */
    /* called with the foot point, then with the result of every level */
    void (*watch)(void *user, const double *q, const double *v);
    void *user;
} taut_series_settings;

/* How the last apply() ended. */
typedef struct taut_series_report {
    int level;                     /* the last one used */
    double error_q, error_v;       /* estimated, max norm, without rounding */
    double rate;                   /* of the slow motion, 1/time */
    bool grows;                    /* the next level would have moved more: slow and fast are barely separated */
    bool unseparated;              /* it failed because they are not separated */
    const double *lambda;          /* [m]: the multipliers of that level */
    const double *foot_q, *foot_v; /* [n]: the foot point */
} taut_series_report;

/* A rate of the slow motion from the lengths of q and its derivatives: the positive root of |q| r^3 + |v| r^2 = |v'| r + |v''|; 0 when
 * there is no motion. It is a unit of time in which positions and velocities can be compared, whatever the units of the model and
 * wherever its origin. */
double taut_series_rate(double q, double v, double a, double b);

/* Sizes of the terms of the latest levels, latest first: in units of the state; in q and in v, max norm. */
typedef struct taut_series_terms {
    double step[3], q[3], v[3];
    double floor_q, floor_v; /* rounding */
    int levels;              /* in all */
} taut_series_terms;

void taut_series_push(taut_series_terms *terms, double step, double q, double v);
/* What a series that is cut leaves of `term` (one of step, q, v): where terms are least, twice the larger of the last term and of its
 * lesser neighbour, for terms there are alike, but one of them may happen to vanish. `next` is the term after the last one; NaN: not
 * known, they go on as they did before the last one. */
double taut_series_tail(const taut_series_terms *terms, const double *term, double next);
/* The same for q and v; what is left changes at least at the rate of the slow motion. */
void taut_series_errors(const taut_series_terms *terms, double rate, double next_q, double next_v, double *q, double *v);

/* The context's system needs springs, TAUT_CAN_JETS and no stiff potential. Memory comes from the arena; apply() allocates nothing
 * (except to say in words why it fails) and fails with TAUT_ERROR_CONVERGE where slow and fast are not separated. */
int taut_series_projector(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                          const taut_series_settings *settings, taut_projector **projector, taut_error *error);
void taut_series_report_get(const taut_projector *projector, taut_series_report *report);

#endif
