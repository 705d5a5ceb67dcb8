/* radau.h - Radau IIA in compliance form from the inside.
 *
 *     M(t,q) v' = f - G^T lambda, q' = v, C lambda = g + T gdot   [B (8.4); G = dg/dq]
 *
 * Unknowns are the accelerations a_i and multipliers lambda_i of the stages; positions and
 * velocities follow:
 *     V_i = v0 + h sum_j a_ij a_j,     Q_i = q0 + h c_i v0 + h^2 sum_j (A A)_ij a_j
 * The equations of stage i are   R_i = M a_i - f + G^T lambda_i = 0   and   S_i = g + T gdot - C
 * lambda_i = 0   at (t_i, Q_i, V_i). */
#ifndef TAUT_STEP_RADAU_H
#define TAUT_STEP_RADAU_H

#include <math.h>

#include "base/method.h"
#include "linalg/saddle.h"
#include "step/collocation.h"

/* Up to this size of all stages together, stages (n + m), the stage-wise form is the cheaper one.
 */
enum { TAUT_STAGE_WISE_ROWS = 64 };

/* A step that was taken: its polynomials, and what is known at its end. Two of them, so that a
 * rejected step can be forgotten. */
typedef struct taut_radau_past {
    double *a, *lambda; /* of the stages, [s n], [s m] */
    double h;
    /* the motion goes on from here: the polynomials predict the next step */
    bool smooth;
    bool ended;                      /* the values at the end are those of the present state: */
    double *force, *jacobian, *mass; /* f, G, and M when it varies */
    double *drift;                   /* dg/dt at fixed q [m] */
    double *tension;                 /* lambda [m]; NaN for a rigid bond when it is not known */
    bool begun;                      /* and these too: */
    double *gamma, *rate, *bond;     /* g_qq(v,v) + ..., gdot, g */
} taut_radau_past;

/* One frozen Jacobian: B = d(M a)/dq - df/dq + sum_i lambda_i Hess g_i + scale Hess V. */
typedef struct taut_radau_frozen {
    double *mass, *stiff, *drag, *jacobian; /* M, B, df/dv on the tangent pattern, G */
    double h;                               /* of the factorisations; 0: none */
    bool valid;
} taut_radau_frozen;

/* (radau_blocks.c) The saddle systems of the eigenvalues of A. */
typedef struct taut_radau_blocks {
    const taut_collocation *table;
    taut_index n, m;
    taut_saddle *saddle[TAUT_SPECTRAL_MAX];
    /* by which the right-hand side of each bond is multiplied, [blocks m]: set by whoever factors
     */
    double complex *factor;
    double *x, *y; /* T^-1 r and T^-1 c, [stages n], [stages m] */
    double complex *pair_x, *pair_y;
} taut_radau_blocks;

/* `shape` of one of them; complex_values does not matter. */
int taut_radau_blocks_create(taut_stepper *s, const taut_collocation *table,
                             const taut_saddle_shape *shape, taut_radau_blocks *blocks,
                             taut_error *error);
void taut_radau_blocks_destroy(taut_radau_blocks *blocks);
/* Right-hand sides r and c of all stages -> solutions. */
int taut_radau_blocks_solve(taut_stepper *s, taut_radau_blocks *blocks, double *r, double *c,
                            taut_error *error);

typedef struct taut_radau {
    taut_collocation table;
    int s;
    taut_index n, m;
    bool stage_wise; /* else tensor */
    /* derivatives are complete and those of the iterate: Newton's own convergence */
    bool quadratic;
    /* mass varies, is diagonal; f depends on v; stiff potential; damped bonds */
    bool varying, diagonal, velocity, stiff, moves;
    bool symmetric; /* K is */
    /* motion full: the error estimate sees every oscillation of the springs */
    bool oscillations;
    const double *compliance, *damping;
    taut_pattern jacobian, tangent;
    taut_index entries, tangents, mass_entries;

    taut_radau_past past[2];
    int top; /* the latest of the two */

    /* the iteration: trial values are a and lambda of past[1 - top] */
    /* Q_i, V_i, R_i then corrections, [s n]; S_i then corrections of lambda, [s m] */
    double *q, *v, *r, *y;
    double *g;              /* G at the stages, [s entries] */
    double *mass;           /* M at the stages, [s mass_entries], or M once */
    double *force;          /* f at the latest stage evaluated, [n] */
    double *bond, *bond_dt; /* [m] */
    double *work, *extra;   /* [tangents] each, for derivatives */
    double *scale;          /* [n]: what a correction is measured with */
    /* of convergence, in the latest step, and the size of its first correction */
    double rate, reach;
    double rough;             /* norms below this may be rounding */
    taut_index *pivot;        /* [n]: place of the diagonal in the tangent pattern */
    taut_radau_frozen frozen; /* tensor: at the middle stage; stage-wise: at the last one */
    /* forces of velocities: q at the end by the continued polynomial, [n] */
    double *foretold;
    double between; /* taut_collocation_between */
    double *d;      /* diagonal of D, [s m] */

    taut_saddle *whole; /* stage-wise: all stages at once */
    double *whole_k, *whole_g1, *whole_g2;
    taut_index *whole_k_start, *whole_k_column, *whole_g_start, *whole_g_column;

    taut_radau_blocks blocks; /* tensor */
    double complex *block_k, *block_g, *block_d;

    taut_saddle *filter; /* of the error estimate; tensor with a real block: that one */
    bool own_filter;
    /* [tangents], [n], [m], [m], [m] */
    double *filter_k, *filter_x, *filter_y, *filter_lambda, *ringing;

    taut_saddle *acceleration; /* [M G^T; G -D]: multipliers and the first guess */
    double *acceleration_g;    /* G with the rows of springs emptied */
    bool complete;             /* now.lambda is what reactions made of it */
    bool redundant;            /* that matrix was singular: more bonds than freedoms */
    taut_radau_past probe;     /* values at a state for multipliers */
} taut_radau;

/* Arrays and their lengths; (radau.c) memory for all of them. */
typedef struct taut_radau_part {
    double **array;
    int64_t count;
} taut_radau_part;
int taut_radau_reserve(taut_stepper *s, size_t count, const taut_radau_part *part,
                       taut_error *error);

/* (radau_stage.c) Evaluates stage i at the present iterate: R_i, S_i, G_i, M_i, and with
 * `derivatives` B and df/dv into w->frozen. */
int taut_radau_evaluate(taut_stepper *s, int i, double h, bool derivatives, taut_error *error);
/* Q and V of all stages from the accelerations. */
void taut_radau_place(taut_stepper *s, double h);
/* r[n] = f - G^T lambda - M a with given values. */
void taut_radau_defect(const taut_radau *w, const double *force, const double *jacobian,
                       const double *lambda, const double *mass, const double *a, double *r);

/* (radau_stage.c) K = M - e df/dv + e^2 B on the tangent pattern and D = C / (e (e + T)) of the
 * frozen Jacobian, e = h mu. */
void taut_radau_shift(const taut_radau *w, const double *mass, double e, double *k, double *d);
/* e (e + tau), by which the row of a bond is divided. Backwards in time it vanishes where e is
 * as long as the damping time: a little beside it keeps the row, and alters Newton's matrix by
 * less than anybody sees. */
static inline double taut_radau_divisor(double e, double tau)
{
    double sum = e + tau;
    return e * (fabs(sum) > 1e-10 * tau || tau == 0 ? sum : 1e-10 * tau);
}
/* Row i of G M^-1 G^T on the diagonal, with the diagonal of M alone. */
double taut_radau_mobility(const taut_radau *w, taut_index i, const double *jacobian,
                           const double *mass);

/* (radau_whole.c) Stage-wise: Jacobians at every stage, all stages in one saddle matrix. */
int taut_radau_whole_create(taut_stepper *s, taut_error *error);
/* stage i, just evaluated with derivatives */
void taut_radau_whole_add(taut_radau *w, int i, double h);
int taut_radau_whole_factor(taut_stepper *s, double h, taut_error *error);
/* R, S -> corrections of a and lambda in w->r, w->y */
int taut_radau_whole_solve(taut_stepper *s, double h, taut_error *error);

/* (radau_tensor.c) Tensor: one Jacobian, a saddle matrix per eigenvalue of A. */
int taut_radau_tensor_create(taut_stepper *s, taut_error *error);
int taut_radau_tensor_factor(taut_stepper *s, double h, taut_error *error);
/* The shape of [K G^T; G -D] with K on the tangent pattern. */
taut_saddle_shape taut_radau_shape(const taut_radau *w);

/* (radau_newton.c) Solves the equations of a step: 0, >0 when a smaller step is needed. */
int taut_radau_newton(taut_stepper *s, double h, taut_error *error);

/* Parts of it that first-order systems share. scale[n]: what a correction of each coordinate is
 * measured with, a share of the tolerance; for equal steps, and never below, what rounding
 * leaves of coordinates of size `largest`. Returns the norm below which it may be that. */
double taut_radau_scale(const taut_stepper *s, bool stage_wise, double largest, double *scale);
/* Corrections r of the accelerations (first order, v NULL: of the rates) move q and v of all
 * stages; returns the norm of that, the largest over the stages of rms (|dq| + h |dv|) / scale.
 * dq, dv: room, [n] each. */
double taut_radau_correct(const taut_stepper *s, const taut_collocation *table, double h,
                          const double *scale, double *r, double *q, double *v, double *dq,
                          double *dv);
/* After correction k of size `norm`, `rate` times the one before: 0 solved, 1 go on, -1
 * hopeless. *kept: the rate, for the next step. */
int taut_radau_verdict(bool quadratic, double norm, double rate, double rough, int k, bool anew,
                       double *kept);
/* Whether what failed from a prediction, or with an old Jacobian, may succeed from a guess made
 * anew. */
bool taut_radau_again(int status);
/* (radau_failure.c) Returns 1, for an iteration that does not converge, and says which
 * coordinate of correction[stages][n] is worst. */
int taut_radau_stuck(const taut_stepper *s, double h, int stages, const double *correction,
                     const double *scale, taut_error *error);
/* TAUT_ERROR_SINGULAR with a sentence that says where, and `what`. */
int taut_radau_singular(const taut_stepper *s, const char *what, taut_error *error);
/* Passes the status on; of a singular matrix with one of `count` jacobians one after another it
 * names what is to blame. */
int taut_radau_explain(const taut_stepper *s, int status, int count, const double *jacobian,
                       taut_error *error);

/* (radau_start.c) Values at a state that no step has reached, the first guess from them,
 * multipliers of any state. */
int taut_radau_start(taut_stepper *s, taut_radau_past *past, taut_error *error);
int taut_radau_guess(taut_stepper *s, double h, taut_radau_past *past, double *a, double *lambda,
                     taut_error *error);
int taut_radau_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                           double *lambda, taut_error *error);

/* lambda of a state by the acceleration equation where rods and stiff bonds allow it: order s
 * where the stages have s - 1. Others keep the value that lambda[m] holds. */
int taut_radau_reactions(taut_stepper *s, double t, const double *q, const double *v,
                         double *lambda, taut_error *error);

/* (radau_estimate.c) */
int taut_radau_estimate_create(taut_stepper *s, taut_error *error);
/* fills error_q and error_v */
int taut_radau_estimate(taut_stepper *s, double h, taut_error *error);

/* (radau_along.c) Puts the velocity v at the end (q) of the step just solved along the rods. */
int taut_radau_along(taut_stepper *s, double h, const double *q, double *v, taut_error *error);

/* (radau_first.c) The same method for first-order systems. `forget`: values at the present
 * state, and the history too. */
int taut_radau_first_create(taut_stepper *s, int stages, taut_error *error);
void taut_radau_first_destroy(taut_stepper *s);
int taut_radau_first_step(taut_stepper *s, double h, taut_error *error);
void taut_radau_first_forget(taut_stepper *s, bool history);
void taut_radau_first_rejected(taut_stepper *s);
void taut_radau_first_dense(taut_stepper *s, double theta, taut_state *state);

#endif
