/* projection.h - what a projection onto a slow manifold is: a constant row of the table
 * (projection_run.c), one file each. */
#ifndef TAUT_POINT_PROJECTION_H
#define TAUT_POINT_PROJECTION_H

#include "base/warnings.h"
#include "point/projection_settings.h"

typedef struct taut_pass {
    double *g, *gdot; /* [m] */
    int64_t force_evaluations;
} taut_pass;

/* What a projection is given; it changes nothing of it. */
typedef struct taut_projection_input {
    const taut_system *system;
    taut_context *context; /* the caller's, as hold: they need not outlive the work */
    taut_sizes sizes;
    double t;
    /* [n], [n]; first order: the state, the algebraic variables */
    const double *q, *v;
    const unsigned char *hold; /* [n]: what keeps its value (point/hold/hold.h), or NULL */
} taut_projection_input;

/* What a projection makes of it; belongs to the caller. Everything is in the arena. */
struct taut_projection {
    taut_arena arena;
    const taut_projection_input *in;
    const struct taut_projection_method *method; /* that made it: auto chooses another one */
    double *q, *v, *lambda;                      /* lambda: [m] */
    double *stiff_force; /* [n]: of a stiff potential, its slow part; NULL when not known */
    int64_t passes, pass_capacity;
    taut_pass *pass;                  /* [0] is the initial state */
    double *entries;                  /* of G, for recording */
    struct taut_expansion *expansion; /* of series (expansion.h), or NULL */
    struct taut_record *record;       /* for a picture (record.h), or NULL */
    taut_statistics statistics;
    /* positions; NaN when there is no foot point */
    double moved_normal, moved_tangential;
    double moved_normal_velocity, moved_tangential_velocity; /* velocities */
    int stages;                                              /* of projection difference */
    double ratio, ratio_time, noise;                         /* as in taut_projection_result */
    bool ratio_bound;
    taut_projection_stage stage[TAUT_PROJECTION_STAGES];
    int status;
    bool hopeless; /* after a failure: slow and fast are not separated, for every method */
    char explanation[1200];
    unsigned idle;          /* TAUT_SETTING_ bits of its row that were not needed for this system */
    taut_warnings warnings; /* of options without effect */
    taut_system *whole;     /* (projection_ranks.c) of several ranks, after it was gathered */
};

typedef struct taut_projection_method {
    const char *name, *summary, *reference;
    unsigned needs, refuses; /* capability bits of taut.h */
    unsigned kinds;          /* 1 << taut_kind of each kind of system it accepts */
    const void *data;        /* where rows of one family differ; the projection's own */
    unsigned reads;          /* TAUT_SETTING_ bits */
    bool rigid_multipliers;  /* they are those of infinite stiffness already */
    /* is a filter: moves a slow state too, by its own errors (is_slow.c) */
    bool moves_slow;
    bool spans_ranks; /* it supports a system that is divided (system/rank_part.h) */
    /* from p->in, which p->q and p->v are copies of: moves these, fills p->lambda, records passes,
     * writes to p->explanation what it chose. On failure the caller restores q, v. */
    int (*project)(taut_projection *p, const taut_projection_settings *settings, taut_error *error);
} taut_projection_method;

extern const taut_projection_method taut_projection_ipa, taut_projection_kernel,
    taut_projection_series, taut_projection_constraint, taut_projection_difference,
    taut_projection_derivative, taut_projection_brute, taut_projection_outer,
    taut_projection_filter, taut_projection_auto;

/* (projection_table.c) The row of a name; fails with what there is when there is none. */
int taut_projection_find(const char *name, const taut_projection_method **method,
                         taut_error *error);
/* "ipa, series and kernel", with `last` as " and ": those for such a kind of system, and with
 * `reads` those that accept it and read one of these settings; sizes NULL: all. Returns how many.
 */
int taut_projection_names(const taut_sizes *sizes, unsigned reads, const char *last, char *text,
                          size_t size);
/* TAUT_OK when the method accepts such a system; else TAUT_ERROR_REFUSED with the reason. */
int taut_projection_check(const taut_projection_method *method, const taut_sizes *sizes,
                          taut_error *error);
/* Back to the initial state, when it did not converge. */
void taut_projection_restore(taut_projection *p);
/* p->explanation becomes this text, or goes on with it. */
void taut_explain(taut_projection *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void taut_explain_more(taut_projection *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* (p->q, p->v) becomes (q, v). */
void taut_projection_move(taut_projection *p, const double *q, const double *v);
/* From now on (q, v) is what is given: *here, which must stay as long, takes the place of p->in. */
int taut_projection_begin_at(taut_projection *p, const double *q, const double *v,
                             taut_projection_input *here, taut_error *error);
/* Room for the next pass, with the evaluations so far; it counts when p->passes is its number.
 * NULL, with a message, without memory. */
taut_pass *taut_projection_new_pass(taut_projection *p, taut_error *error);
/* Records g and gdot at (q, v); force_evaluations are those of p->statistics. Not counted as an
 * evaluation itself. */
int taut_projection_record(taut_projection *p, const double *q, const double *v, taut_error *error);
/* The same for projectors with a watch function: user is p, and t is its own. */
int taut_projection_watch(void *user, double t, const double *q, const double *v,
                          taut_error *error);
/* Is the initial state slow already, to rounding? Then it is the result, with its multipliers;
 * needs derivatives (is_slow.c). */
int taut_projection_is_slow(taut_projection *p, bool *slow, taut_error *error);
/* After p->method has found its state: the multipliers of p, extrapolated to infinite stiffness
 * (richardson.c). */
int taut_richardson(taut_projection *p, const taut_projection_settings *settings,
                    taut_error *error);
/* The multipliers of the rigid motion through (q, v), from the acceleration equation
 * (rigid_multipliers.c). acceleration[n] may be NULL. */
int taut_slow_multipliers(taut_context *context, double t, const double *q, const double *v,
                          double *lambda, double *acceleration, taut_statistics *statistics,
                          const taut_allocator *allocator, taut_error *error);

#endif
