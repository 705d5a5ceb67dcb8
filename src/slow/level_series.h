/* level_series.h - slow points level by level (level_series.c): what the series of bonds
 * (series.c) and of a stiff potential (potential/potential_series.c) share. */
#ifndef TAUT_SLOW_LEVEL_SERIES_H
#define TAUT_SLOW_LEVEL_SERIES_H

#include "slow/series.h"

/* Begins the projector of every kind. */
typedef struct taut_level_series {
    taut_projector projector; /* self: the arena */
    const taut_level_kind *kind;
    taut_series_settings settings;
    taut_context *context;
    taut_sizes sizes;
    taut_index n, m;
    taut_projector *foot; /* made by build */
    double t;
    double *q, *v;           /* [n]: the present point */
    double *dq, *dv;         /* [n]: the latest step */
    double *last_q, *last_v; /* [n]: the result of the level before */
    double *foot_q, *foot_v; /* [n]: the foot point */
    double rate;             /* of the slow motion, 1/time; 0 when there is none */
    double change;           /* of the multipliers by the latest level, relative */
    /* of positions and velocities: |q| + |v|/rate, and rate times that */
    double scale_q, scale_v;
    double moved_q, moved_v; /* by the latest step, max norm */
    double rounding;         /* of the state, relative: at least that of a number */
    /* at which what is stiff would oscillate from the latest step; 0: not at all */
    double frequency;
    double error_q, error_v; /* of the result, max norm */
    int level;
    bool large;       /* the first step is as large as the state */
    bool truncated;   /* the next level would have been worse */
    bool unseparated; /* slow and fast are not: why apply() failed */
} taut_level_series;

/* Steps on the normal fibre of the foot point. */
struct taut_level_kind {
    size_t size; /* of the projector */
    int ahead;   /* orders of other jets beyond those of the multipliers */
    int (*build)(taut_level_series *series, taut_arena *arena, taut_error *error);
    void (*release)(taut_level_series *series);                 /* accepts half-made ones */
    int (*begin)(taut_level_series *series, taut_error *error); /* (q, v) is the foot point */
    /* the slow multipliers of series->level at (q, v); sets `change`, at level 1 the rate */
    int (*evaluate)(taut_level_series *series, taut_error *error);
    int (*moved)(taut_level_series *series, taut_error *error); /* q has changed */
    /* dx: the step to the bonds (velocity: rates) that the slow motion has; sets the frequency */
    int (*step)(taut_level_series *series, bool velocity, double *dx, taut_error *error);
    int (*finish)(taut_level_series *series, taut_error *error);
    /* adds the forces, and for a stiff potential its rank */
    void (*report)(const taut_level_series *series, taut_series_report *report);
};

#endif
