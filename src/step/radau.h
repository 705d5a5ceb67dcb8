/* radau.h - Radau IIA from the inside: mechanical systems in compliance form, and first-order
 * systems (radau_first.c), which share everything but their equations.
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
#include "linalg/products.h"
#include "linalg/saddle.h"
#include "step/collocation.h"
#include "system/modes/potential_modes.h"
#include "system/rank_part.h"

/* Up to this size of all stages together, stages (n + m), the stage-wise form is the cheaper one.
 */
enum { TAUT_STAGE_WISE_ROWS = 64 };

struct taut_radau;

/* Iterations without multipliers, to study (radau_study.c). */
typedef enum taut_radau_study_form {
    TAUT_STUDY_NONE,
    TAUT_STUDY_J0,
    TAUT_STUDY_J1,
    TAUT_STUDY_J2
} taut_radau_study_form;

/* A step that was taken: its polynomials, and what is known at its end. Two of them, so that a
 * rejected step can be forgotten. First order: a are the rates, lambda the algebraic variables,
 * force the rate at the end; the rest is not used. */
typedef struct taut_radau_past {
    double *a, *lambda; /* of the stages, [s n], [s m] */
    double h;
    /* the motion goes on from here: the polynomials predict the next step */
    bool smooth;
    bool ended;                      /* the values at the end are those of the present state: */
    double *force, *jacobian, *mass; /* f, G, and M when it varies */
    double *drift;                   /* dg/dt at fixed q [m] */
    double *tension;                 /* lambda [m]; NaN for a rigid bond when it is not known */
    double *pull;                    /* grad V/eps^2, where it has rows [n]; else part of f */
    bool begun;                      /* and these too: */
    double *gamma, *rate, *bond;     /* g_qq(v,v) + ..., gdot, g */
    /* by which velocities were put along the rigid bonds, M jump + G^T push = 0: before the step
     * and at its end, [n] and [m] (radau_along.c) */
    double *jump[2], *push[2];
} taut_radau_past;

/* One frozen Jacobian: B = d(M a)/dq - df/dq + sum_i lambda_i Hess g_i + scale Hess V. First
 * order: B = -df/dz, and df/dy in place of df/dv. Unless it is `kept`, M and G are those of its
 * stage, and B is forgotten once the matrices are factored. */
typedef struct taut_radau_frozen {
    bool kept;
    double *mass, *stiff, *drag, *jacobian; /* M, B, df/dv on the tangent pattern, G */
    double h;                               /* of the factorisations; 0: none */
    bool valid;
} taut_radau_frozen;

/* A stiff potential (radau_potential.c). */
typedef struct taut_radau_potential {
    taut_potential_modes modes; /* W and Omega^2 at the beginning of the step */
    int rank;                   /* of its Hessian; 0: not constant, or too large to find */
    bool found;                 /* modes are those of the present state */
    bool sought;                /* since it was made, the latest time here: */
    double t, *q;               /* [n] */
    bool driven;                /* V may depend on t */
    double most, least;         /* Omega^2 of the latest ones */
    double *compliance;         /* of bonds and rows, [m] */
    double *rest, *left;        /* r of the stages that is kept, that was found last [s n] */
    double *first;              /* and at the beginning [n] */
    double *gram;               /* [rows][rows] */
    double *off;                /* the rows' equations at the latest iterates [s rows] */
} taut_radau_potential;

/* What first-order and mechanical systems do not share. */
typedef struct taut_radau_equations {
    int integrals;  /* from the unknowns a to q: 2; first order: 1 */
    int iterations; /* of Newton, at most */
    /* values at a state that no step has reached, and one guess for all stages from them */
    int (*start)(taut_stepper *s, taut_radau_past *past, taut_error *error);
    int (*guess)(taut_stepper *s, double h, taut_radau_past *past, double *a, double *lambda,
                 taut_error *error);
    /* residuals r and y of stage i at the present iterate; `derivatives`: into w->frozen too */
    int (*evaluate)(taut_stepper *s, int i, double h, bool derivatives, taut_error *error);
    /* the rows of stage i, just evaluated with derivatives, in G1, G2 and D of all stages */
    void (*add_bonds)(struct taut_radau *w, int i, double h);
    int (*factor)(taut_stepper *s, double h, taut_error *error);
    /* fills error_q and error_v */
    int (*estimate)(taut_stepper *s, double h, taut_error *error);
    /* passes the status on; of a singular matrix it names what is to blame */
    int (*explain)(taut_stepper *s, int status, taut_error *error);
} taut_radau_equations;
extern const taut_radau_equations taut_radau_first;

typedef struct taut_radau {
    const taut_radau_equations *equations;
    const taut_part *part; /* of several ranks (system/rank_part.h), or NULL */
    taut_collocation table;
    int s;
    taut_index n, m;
    bool stage_wise; /* else tensor */
    taut_radau_study_form study;
    double *rigid; /* compliances 0 of the constrained system of J2, [m] */
    /* to study: 1 + the corrections of r by outer iterations of a stiff potential; 0: r is
     * renewed while inner iterations go on, until it no longer matters */
    int outer;
    /* derivatives are complete and those of the iterate: Newton's own convergence */
    bool quadratic;
    /* mass varies, is diagonal; f depends on v; stiff potential; damped bonds */
    bool varying, diagonal, velocity, stiff, moves;
    bool springs;    /* some bonds are not rigid, */
    bool rods;       /* some are, */
    bool jumps;      /* and jumps of the velocity onto them are part of the prediction */
    taut_index rows; /* of m: those of the stiff potential, behind the bonds; 0: it is part of K */
    taut_radau_potential potential;
    bool symmetric; /* K is */
    /* motion full: the error estimate sees every oscillation of the springs */
    bool oscillations;
    const double *compliance, *damping;
    taut_pattern jacobian, tangent;
    taut_products pulls; /* of G^T lambda, where `regular` */
    bool regular;
    taut_index entries, tangents, mass_entries;
    taut_saddle_shape shape; /* of a stage: [K G1^T; G2 -D], K on the tangent pattern */
    const double *g1;        /* on it, of the frozen Jacobian; */
    double *g2;              /* NULL: as g1 */
    /* first order: G and df/dy^T side by side in `shape`; from: place in G, or at -1 - from in
     * df/dy */
    taut_pattern control;
    taut_index *from;
    double *control_g; /* g1 of first-order systems */

    taut_radau_past past[2];
    int top; /* the latest of the two */

    /* the iteration: trial values are a and lambda of past[1 - top] */
    /* Q_i, V_i, R_i then corrections, [s n]; S_i then corrections of lambda, [s m] */
    double *q, *v, *r, *y;
    double *end_q, *end_v;  /* of the step: the last stage, or what b makes of them all, [n] */
    double *early;          /* the acceleration of an explicit first stage, [n] */
    double *g;              /* G at the stages, [s entries] */
    double *mass;           /* M at the stages, [s mass_entries], or M once */
    double *force;          /* f at the latest stage evaluated, [n] */
    double *bond, *bond_dt; /* g at the latest stage, [m]; dg/dt at all of them, [s m] */
    /* [tangents] each, or NULL: derivatives that are not summed while they are formed */
    double *force_dq, *mass_dq, *stiff_hessian;
    double *extra; /* [n] */
    double *scale; /* [n]: what a correction is measured with */
    /* of convergence, in the latest step, and the size of its first correction */
    double rate, reach;
    double rough;             /* norms below this may be rounding */
    taut_index *pivot;        /* [n]: place of the diagonal of M in the tangent pattern */
    taut_radau_frozen frozen; /* tensor: at the middle stage; stage-wise: at the last one */
    /* forces of velocities, first order: q at the end by the continued polynomial, [n] */
    double *foretold;
    double between; /* taut_collocation_between */
    double *d;      /* diagonal of D, [m]; stage-wise [s m] */

    taut_saddle *whole; /* stage-wise: all stages at once */
    double *whole_k, *whole_g1, *whole_g2;
    taut_index *whole_k_start, *whole_k_column, *whole_g_start, *whole_g_column;

    taut_saddle *block[TAUT_SPECTRAL_MAX]; /* tensor: one for each eigenvalue of A */
    /* 1 over what the row of each bond is divided by, [blocks m]; without dampers [blocks] */
    double complex *block_inverse;

    taut_saddle *filter; /* of the error estimate; NULL: the first block, which is real */
    /* [n], [m], [m], [m] */
    double *filter_x, *filter_y, *filter_lambda, *ringing;

    taut_saddle *acceleration; /* [M G^T; G -D]: multipliers and the first guess */
    double *acceleration_g;    /* G with the rows of springs emptied, where there are some */
    int64_t mass_changes;      /* 0: a constant M stays what it is */
    bool complete;             /* now.lambda is what reactions made of it */
    bool redundant;            /* that matrix was singular: more bonds than freedoms */
    taut_radau_past probe;     /* values at a state for multipliers */
} taut_radau;

/* Of several ranks: what they decide together. The largest x; whether it is so on any; a status. */
static inline double taut_radau_largest(const taut_radau *w, double x)
{
    return taut_space_largest(w->part ? w->part->space : NULL, x);
}
static inline bool taut_radau_any(const taut_radau *w, bool here)
{
    return taut_radau_largest(w, here) > 0;
}
static inline int taut_radau_agree(const taut_radau *w, int status, taut_error *error)
{
    return taut_space_agree(w->part ? w->part->space : NULL, status, error);
}

/* (radau_stage.c) Stage i of a mechanical system: R_i, S_i, G_i, M_i. */
int taut_radau_evaluate(taut_stepper *s, int i, double h, bool derivatives, taut_error *error);
/* Q and V of all stages from the accelerations. */
void taut_radau_place(taut_stepper *s, double h);
/* q and v at the end of the step, where that is not its last stage. */
void taut_radau_end(taut_stepper *s, double h);
/* r[n] = f - G^T lambda - M a with given values. */
void taut_radau_defect(const taut_radau *w, const double *force, const double *jacobian,
                       const double *lambda, const double *mass, const double *a, double *r);

/* K = M - e df/dv + e^2 B of the frozen Jacobian, e = h mu; first order: K = I + e B. With this
 * G, and without D. */
taut_saddle_sum taut_radau_shifted(const taut_radau *w, const double *mass, double complex e,
                                   const double *g1);
/* e (e + tau), by which the row of a bond is divided. Backwards in time it vanishes where e is
 * as long as the damping time: a small distance keeps the row, and alters Newton's matrix by
 * a negligible amount. */
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
void taut_radau_add_bonds(taut_radau *w, int i, double h); /* of a mechanical system */
int taut_radau_whole_factor(taut_stepper *s, taut_error *error);
/* R, S -> corrections of a and lambda in w->r, w->y */
int taut_radau_whole_solve(taut_stepper *s, double h, taut_error *error);

/* (radau_tensor.c) Tensor: one Jacobian, a saddle matrix per eigenvalue of A. */
int taut_radau_tensor_create(taut_stepper *s, taut_error *error);
/* R, S -> corrections of a and lambda in w->r, w->y */
int taut_radau_tensor_solve(taut_stepper *s, double h, taut_error *error);
/* The matrices of Newton's iteration in either form. */
int taut_radau_factor(taut_stepper *s, double h, taut_error *error);

/* (radau_newton.c) Solves the equations of a step: 0, TAUT_RETRY when a smaller step is needed. */
int taut_radau_newton(taut_stepper *s, double h, taut_error *error);

/* (radau_study.c) By the option `newton`. */
int taut_radau_study_create(taut_stepper *s, const char *form, taut_error *error);
/* lambda[m] of a stage just evaluated. */
void taut_radau_study_tensions(taut_radau *w, const double *jacobian, const double *drift,
                               const double *v, double *lambda);
/* Stages where the Jacobian is formed. */
void taut_radau_study_place(taut_stepper *s, double h);

/* (radau_failure.c) TAUT_RETRY, for an iteration that does not converge; the message names the
 * coordinate whose correction in w->r is largest. */
int taut_radau_stuck(const taut_stepper *s, double h, taut_error *error);
/* TAUT_ERROR_SINGULAR with a sentence that names the time and the reason `what`. */
int taut_radau_singular(const taut_stepper *s, const char *what, taut_error *error);
/* Passes the status on; of a singular matrix with one of `count` jacobians one after another it
 * names what is to blame. */
int taut_radau_explain(const taut_stepper *s, int status, int count, const double *jacobian,
                       taut_error *error);

/* (radau_potential.c) Finds the rank of a stiff potential and decides whether it has rows. */
int taut_radau_potential_create(taut_stepper *s, taut_error *error);
/* Adds its rows to the bonds. */
int taut_radau_potential_extend(taut_stepper *s, taut_error *error);
/* Rows of stage i in jacobian and y, from grad V/eps^2 and its Hessian. */
void taut_radau_potential_rows(const taut_stepper *s, int i, const double *force,
                               const double *hessian, const double *lambda, double *jacobian,
                               double *y);
/* What g is for bonds: Omega^-2 W^T G^T mu, row i at a stage. */
double taut_radau_potential_value(const taut_radau *w, int stage, taut_index i);
/* How far the latest r is from the one kept, in units of Newton's tolerance. */
double taut_radau_potential_missed(const taut_stepper *s, double h);
/* Rows, compliances and multipliers at the beginning of a step; grad V/eps^2 at its end. */
int taut_radau_potential_begin(taut_stepper *s, double h, taut_radau_past *past, taut_error *error);
void taut_radau_potential_end(const taut_stepper *s, taut_radau_past *end);
/* dg/dt of its rows at fixed q behind those of the bonds in drift[m]; by differences, in which the
 * compliance takes the stiffness out. */
int taut_radau_potential_drift(taut_stepper *s, double t, const double *q, double h, double *drift,
                               taut_error *error);
/* Is q, at the end of a step, on the branch where the step began? TAUT_RETRY: no. */
int taut_radau_potential_check(taut_stepper *s, double h, const double *q, taut_error *error);

/* (radau_start.c) Values at a state that no step has reached, the first guess from them,
 * multipliers of any state. */
int taut_radau_start(taut_stepper *s, taut_radau_past *past, taut_error *error);
int taut_radau_guess(taut_stepper *s, double h, taut_radau_past *past, double *a, double *lambda,
                     taut_error *error);
int taut_radau_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                           double *lambda, taut_error *error);
/* a[n] at the present state, with these multipliers. */
int taut_radau_acceleration(taut_stepper *s, double *a, taut_error *error);

/* lambda of a state by the acceleration equation where rigid and stiff bonds allow it: order s
 * where the stages have s - 1. Others keep the value that lambda[m] holds. */
int taut_radau_reactions(taut_stepper *s, double t, const double *q, const double *v,
                         double *lambda, taut_error *error);

/* (radau_estimate.c) */
int taut_radau_estimate_create(taut_stepper *s, taut_error *error);
int taut_radau_estimate(taut_stepper *s, double h, taut_error *error);
/* Parts of it that first-order systems share: the driver's norm of factor x[n] as an error; and
 * the error between the ends of a step, as a share of what the continued polynomial missed. */
double taut_radau_norm(const taut_stepper *s, double factor, const double *x);
double taut_radau_between(const taut_radau *w, double h);

/* (radau_along.c) Puts the velocity v at the end (q) of the step just solved along the rigid bonds;
 * where the end is no stage, first q onto them. */
int taut_radau_along(taut_stepper *s, double h, double *q, double *v, taut_error *error);
/* The predicted a and lambda of a step of length h continue those of the latest step, after its
 * jump[0]: they become those of a step after jump[1]. And: there is no such jump. */
void taut_radau_jump(taut_radau *w, double h);
void taut_radau_no_jump(const taut_radau *w, taut_radau_past *past);

/* (radau_first.c) What a first-order system is like, and memory for its derivatives. */
int taut_radau_first_describe(taut_stepper *s, taut_error *error);

/* (radau_archive.c) All that later steps depend on. */
void taut_radau_archive(taut_stepper *s, taut_archive *archive);

#endif
