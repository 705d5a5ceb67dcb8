/* explicit.h - an explicit Runge-Kutta method at work: shared by the stepper (explicit.c) and
 * its dense output (continuous.c). */
#ifndef TAUT_STEP_EXPLICIT_H
#define TAUT_STEP_EXPLICIT_H

#include "base/method.h"
#include "step/tableau.h"
#include "base/vectors.h"

/* sum_i weight_i V_i of velocities of stages V_i = v + h sum_j a_ij A_j, by accelerations alone:
 * speed v + h sum_j w_j A_j */
typedef struct taut_stage_path {
    taut_sum rates; /* the w_j, of k_j */
    double speed;
} taut_stage_path;

/* Second order: k_i = (V_i, v'_i) with V_i the velocity of the stage; the k of the ends of a
 * step are the v and a of its states. Of large systems V_i are not kept: positions are sums of
 * accelerations, as in Nystrom's methods [Hairer, Norsett, Wanner I, II.14]. */
typedef struct taut_runge_kutta {
    const taut_tableau *tableau;
    taut_sum row[TAUT_TABLEAU_WIDTH], error, error_3; /* of the tableau */
    bool by_rates;                                    /* V_i are not kept */
    /* of row, error, error_3 then: the sums of positions */
    taut_stage_path path[TAUT_TABLEAU_WIDTH], path_error, path_error_3;
    bool second_order;
    bool fresh;      /* now.a (and now.lambda) belong to now */
    bool continuous; /* the polynomial of the latest step is formed */
    int rows;        /* of it */
    double h;        /* of the latest step */
    double *stage;   /* Q_i, [n]; this and the next one only within a call */
    double *speed;   /* V_i, where they are not kept; the second estimate, [n] */
    /* v' (first order: q') of stage i = 1 .. stages-1 and of the extra ones, [n] each */
    double *rate[TAUT_TABLEAU_WIDTH];
    double *velocity[TAUT_TABLEAU_WIDTH]; /* V_i likewise; NULL for first order and by_rates */
    double *kq[TAUT_TABLEAU_WIDTH], *kv[TAUT_TABLEAU_WIDTH]; /* all k of the latest step */
    taut_stages at_once;                 /* of fields that evaluate all stages in one call */
    double *polynomial_q, *polynomial_v; /* [3 + dense_rows][n] each; by_rates: NULL */
} taut_runge_kutta;

/* The sum of `count` V_i with these weights. */
void taut_stage_path_make(taut_stage_path *path, const taut_tableau *table, int count,
                          const double *weight);
/* out_q = q + h times this sum, out_v = v + h sum of the rates; q and v may be NULL. kq[0] is v of
 * the beginning. */
void taut_stage_path_form(const taut_stepper *s, const taut_stage_path *path, const taut_sum *sum,
                          double *const *kq, double *const *kv, double h, const double *q,
                          const double *v, double *out_q, double *out_v);
/* Fills k with the stages of the latest step (or, before it, to the step that begins at
 * `begin`). */
void taut_runge_kutta_stages(const taut_runge_kutta *w, const taut_state *begin,
                             const taut_state *end, double **kq, double **kv);
/* One more stage of the step from `begin`: its Q, V and rate. */
int taut_runge_kutta_stage(taut_stepper *s, const taut_state *begin, double h, int i, double **kq,
                           double **kv, taut_error *error);

/* Rows of the method table: `data` is the tableau, so that another method is a tableau and a row
 * with this macro. */
#define TAUT_RUNGE_KUTTA_METHOD                                                                    \
    .uses_field = true, .uses_stages = true, .spans_ranks = true,                                  \
    .create = taut_runge_kutta_create, .step = taut_runge_kutta_step,                              \
    .changed = taut_runge_kutta_changed, .rejected = taut_runge_kutta_rejected,                    \
    .complete = taut_runge_kutta_complete, .dense = taut_runge_kutta_dense,                        \
    .multipliers = taut_runge_kutta_multipliers, .stretch = taut_runge_kutta_stretch,              \
    .node = taut_runge_kutta_node, .several = taut_runge_kutta_several,                            \
    .archive = taut_runge_kutta_archive
int taut_runge_kutta_create(taut_stepper *s, taut_error *error);
/* Only what is inside `w`, for methods that build on it. */
int taut_runge_kutta_reserve(taut_stepper *s, taut_runge_kutta *w, taut_error *error);
int taut_runge_kutta_step(taut_stepper *s, double h, taut_error *error);
int64_t taut_runge_kutta_several(taut_stepper *s, double begin, double h, int64_t first,
                                 int64_t last, taut_projector *by);
void taut_runge_kutta_changed(taut_stepper *s);
void taut_runge_kutta_rejected(taut_stepper *s);
void taut_runge_kutta_archive(taut_stepper *s, taut_archive *archive);
int taut_runge_kutta_complete(taut_stepper *s, taut_error *error);
double taut_runge_kutta_stiffness(taut_stepper *s);
bool taut_runge_kutta_node(taut_stepper *s, int j, bool place, taut_step_node *node);
void taut_runge_kutta_stretch(taut_stepper *s, const double *x, double *gx);
int taut_runge_kutta_dense(taut_stepper *s, double theta, taut_state *state, taut_error *error);
int taut_runge_kutta_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                                 double *lambda, taut_error *error);

/* lambda[m] (first order: the algebraic variables) of the field at a state, and the rate. For
 * output: not counted. */
int taut_field_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                           double *rate, double *lambda, taut_error *error);

#endif
