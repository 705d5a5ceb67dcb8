/* multiplier_recursion.h - multipliers of the slow motion, to any order in the compliance, from
 * Taylor jets (multiplier_recursion.c). */
#ifndef TAUT_SLOW_MULTIPLIER_RECURSION_H
#define TAUT_SLOW_MULTIPLIER_RECURSION_H

#include "slow/order_equations.h"

typedef struct taut_multiplier_recursion taut_multiplier_recursion;

/* How accelerations and multipliers are solved for where a stiff potential adds rows of its own
 * (potential_recursion.c). Without `factor`: bonds alone. */
typedef struct taut_recursion_solver {
    /* the matrix of the equations at coefficient 0 */
    int (*factor)(void *self, double t, taut_error *error);
    /* a[n] holds the forces of order i but those of the own rows, s[own + m] the right-hand sides
     * of the bonds behind the own rows; they become a_i and lambda_i */
    int (*solve)(void *self, int i, double t, double *a, double *s, taut_error *error);
    void *self;
    taut_index most;         /* own rows at most */
    int64_t hessian_entries; /* > 0: Hess V is needed */
    /* bonds alone: a matrix to be used, as in taut_masked_saddle_create; NULL: its own */
    taut_saddle *saddle;
} taut_recursion_solver;

/* Coefficient i of an array x[...][n] is x + i n. Of rows: own ones first, then the bonds. */
struct taut_multiplier_recursion {
    taut_context *context;
    taut_statistics *statistics;
    taut_arena *arena, arrays; /* arrays: those whose size depends on the level */
    taut_order_equations equations;
    taut_recursion_solver solver;
    taut_jet *jet;
    int most, room; /* last level; that for which there is room */
    int orders;     /* coefficients kept are 0..orders */
    bool damped;
    int own;                  /* own rows of the solver; */
    const double *stiffness;  /* [own]: y = lambda/stiffness */
    taut_values values, next; /* of the state; the latest coefficient beyond */
    double *s;                /* [own + m] */
    double *mass, *hessian;   /* [orders+2][entries]; of V */
    double *no_mass;          /* where coefficients of a constant matrix go */
    /* [own + m], [n]: lambda and a of the level before the latest, at the same state */
    double *before, *a_before;
    /* the results, of the latest level */
    double *q, *v, *a; /* [orders+3][n] */
    double *lambda;    /* [orders+4][own + m] */
    /* [orders+4][own + m]: the values that the functions of the rows have on the slow manifold to
     * this order (0 for rigid and soft bonds), and their derivatives */
    double *y;
};

/* Prepares levels 0 to `most`; the context's system needs TAUT_CAN_JETS. Memory comes from the
 * arena; destroy frees the rest. first > 0: room for that many levels, and for more when a
 * higher one is evaluated. solver: NULL for bonds alone. */
int taut_multiplier_recursion_create(taut_context *context, taut_arena *arena,
                                     taut_statistics *statistics, int most, int first,
                                     const taut_recursion_solver *solver,
                                     taut_multiplier_recursion **recursion, taut_error *error);
void taut_multiplier_recursion_destroy(taut_multiplier_recursion *recursion);
/* The highest level that jets allow for this system: fewer with damping, and when other jets are
 * some orders ahead. */
int taut_multiplier_recursion_most(const taut_context *context, int ahead);

/* Room for levels up to this one, where there is none yet. */
int taut_multiplier_recursion_reserve(taut_multiplier_recursion *recursion, int level,
                                      taut_error *error);

/* The multipliers of the given level at (t, q, v), in recursion->lambda, with a in
 * recursion->a, and y in recursion->y; with `rates` also coefficient 1 of all of them. Allocates
 * nothing unless there is no room yet. */
int taut_multiplier_recursion_evaluate(taut_multiplier_recursion *recursion, int level, bool rates,
                                       double t, const double *q, const double *v,
                                       taut_error *error);
/* Only bonds, Jacobian and the like at (t, q, v), in recursion->values; lambda and y stay, a does
 * not. */
int taut_multiplier_recursion_bonds(taut_multiplier_recursion *recursion, double t, const double *q,
                                    const double *v, taut_error *error);
/* Bonds alone: moves q to g = y, or v to G v + g_t = y', with the y and the matrix of the latest
 * evaluation (`rates`), by step[n]: one Newton step, orthogonal in the metric of M. */
int taut_multiplier_recursion_correct(taut_multiplier_recursion *recursion, bool velocity, double t,
                                      double *q, double *v, double *step, taut_error *error);
/* Solutions that an evaluation consists of. */
int taut_multiplier_recursion_solves(const taut_multiplier_recursion *recursion, int level,
                                     bool rates);
/* A rate of the slow motion (taut_truncation_rate) after an evaluation with rates. */
double taut_multiplier_recursion_rate(const taut_multiplier_recursion *recursion);

#endif
