/* projection.h - what a projection onto a slow manifold is: a constant row of the table
 * (projection_run.c), one file each. */
#ifndef TAUT_POINT_PROJECTION_H
#define TAUT_POINT_PROJECTION_H

#include "base/memory.h"

typedef struct taut_pass {
    double *g, *gdot; /* [m] */
    int64_t force_evaluations;
} taut_pass;

/* A projection at work, and its result. Everything lives in the arena. */
struct taut_projection {
    taut_arena arena;
    const taut_system *system;
    taut_sizes sizes;
    taut_context *context;
    const struct taut_projection_method *method;
    double t;
    /* [n], [n], [m]; first order: the state, the algebraic variables, [m] */
    double *q, *v, *lambda;
    double *q0, *v0;           /* the start */
    double *stiff_force;       /* [n]: of a stiff potential, its slow part; NULL when not known */
    const unsigned char *hold; /* [n]: what [start] and --hold keep (point/hold/hold.h), or NULL */
    int64_t passes, pass_capacity;
    taut_pass *pass;                  /* [0] is the start */
    double *entries;                  /* of G, for recording */
    struct taut_expansion *expansion; /* of series (expansion.h), or NULL */
    struct taut_record *record;       /* for a picture (record.h), or NULL */
    taut_statistics statistics;
    /* positions; NaN when there is no foot point */
    double moved_normal, moved_tangential;
    double moved_normal_velocity, moved_tangential_velocity; /* velocities */
    /* of projection difference: orders solved */
    int stages;
    taut_projection_stage stage[TAUT_PROJECTION_STAGES];
    int status;
    bool hopeless; /* after a failure: slow and fast are not separated, whatever the method */
    char explanation[700];
    int warnings;
    char warning[6][160]; /* options without effect */
};

typedef struct taut_projection_method {
    const char *name, *summary, *reference;
    unsigned needs, refuses; /* capability bits of taut.h */
    unsigned kinds;          /* 1 << taut_kind of each kind of system it accepts */
    const void *data;        /* what tells rows of one family apart; the projection's own */
    /* is a filter: moves a slow state too, by its own errors (is_slow.c) */
    bool moves_slow;
    /* moves p->q and p->v, fills p->lambda, records passes, says in p->explanation what it
     * chose. On failure the caller restores q, v. */
    int (*project)(taut_projection *p, const taut_options *options, taut_error *error);
} taut_projection_method;

extern const taut_projection_method taut_projection_ipa, taut_projection_kernel,
    taut_projection_series, taut_projection_constraint, taut_projection_difference,
    taut_projection_auto;

/* (projection_table.c) Row k of the table, and the row of a name; fails with what there is when
 * there is none. */
const taut_projection_method *taut_projection_row(int k);
int taut_projection_find(const char *name, const taut_projection_method **method,
                         taut_error *error);
/* TAUT_OK when the method takes the system of p; else TAUT_ERROR_REFUSED with the reason. */
int taut_projection_check(const taut_projection_method *method, const taut_projection *p,
                          taut_error *error);
/* Back to the start: what did not converge. */
void taut_projection_restore(taut_projection *p);
/* Records g and gdot at (q, v); force_evaluations are those of p->statistics. Not counted as an
 * evaluation itself. */
int taut_projection_record(taut_projection *p, const double *q, const double *v, taut_error *error);
/* The same for projectors that are watched: user is p, and t is its own. */
int taut_projection_watch(void *user, double t, const double *q, const double *v,
                          taut_error *error);
/* Is the start slow already, to rounding? Then it is the result, with its multipliers; needs
 * derivatives (is_slow.c). */
int taut_projection_already(taut_projection *p, bool *slow, taut_error *error);
/* After p->method has found its state: the multipliers of p, extrapolated to infinite stiffness
 * in `levels` (richardson.c). */
int taut_richardson(taut_projection *p, const taut_options *options, int levels, taut_error *error);
/* The multipliers of the rigid motion through (q, v), from the acceleration equation
 * (rigid_multipliers.c). acceleration[n] may be NULL. */
int taut_slow_multipliers(taut_context *context, double t, const double *q, const double *v,
                          double *lambda, double *acceleration, taut_statistics *statistics,
                          const taut_allocator *allocator, taut_error *error);

#endif
