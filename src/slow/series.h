/* series.h - a projector onto the slow manifold, to rounding (series.c). */
#ifndef TAUT_SLOW_SERIES_H
#define TAUT_SLOW_SERIES_H

#include "base/projector.h"

/* All fields may be zero. */
typedef struct taut_series_settings {
    int levels; /* at most; 0: 6, or what jets allow */
    /* for one use: room for later levels is made when they are reached, in apply() */
    bool gradual;
    /* of bonds: a step of the state, and a change of multipliers, below which no further level is
     * needed, both relative; 0: rounding */
    double enough;
    const unsigned char *hold; /* [n] of the bits of taut_system_hold: what stays; NULL: nothing */
    /* called with the foot point, then with the result of every level; a code other than 0 ends
     * apply() with it */
    int (*watch)(void *user, double t, const double *q, const double *v, taut_error *error);
    void *user;
} taut_series_settings;

/* How the last apply() ended. */
typedef struct taut_series_report {
    int level;               /* the last one used */
    double error_q, error_v; /* estimated, max norm; with rounding for a stiff potential */
    double rounding;         /* the larger one in q and v */
    double rate;             /* of the slow motion, 1/time */
    /* the next level would have moved more: slow and fast are barely separated */
    bool truncated;
    bool unseparated;              /* it failed because they are not separated */
    const double *lambda;          /* [m]: the multipliers of that level */
    int rank;                      /* of a stiff potential */
    double *stiff_force;           /* [n]: of a stiff potential, its slow part; else NULL */
    const double *foot_q, *foot_v; /* [n]: the foot point */
} taut_series_report;

typedef struct taut_level_kind taut_level_kind;

/* A projector of this kind; settings may be NULL. (level_series.c) */
int taut_series_create(const taut_level_kind *kind, taut_context *context, taut_arena *arena,
                       taut_statistics *statistics, const taut_series_settings *settings,
                       taut_projector **projector, taut_error *error);
/* The context's system needs springs, TAUT_CAN_JETS and no stiff potential. Memory comes from
 * the arena; apply() allocates nothing (except for the message of a failure) and fails with
 * TAUT_ERROR_CONVERGE where slow and fast are not separated. */
extern const taut_level_kind taut_bond_series;
void taut_series_report_get(const taut_projector *projector, taut_series_report *report);

#endif
