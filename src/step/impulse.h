/* impulse.h - what the impulse methods share: a vibrating state, kicks by the slow force, the
 * fast flow of the springs, and the projected state that everybody else sees (impulse.c). The
 * methods differ in the kick alone. */
#ifndef TAUT_STEP_IMPULSE_H
#define TAUT_STEP_IMPULSE_H

#include "base/method.h"
#include "step/fast_flow.h"
#include "step/mechanics.h"
#include "step/outer_step.h"
#include "system/modes/modes.h"

typedef struct taut_impulse {
    taut_stepper *stepper;
    taut_mechanics
        mechanics; /* the stiff springs in place of rigid bonds, soft bonds among the forces */
    struct taut_impulse_potential *potential; /* NULL: none (impulse_potential.h) */
    /* [M G1^T; G2 0], G1 and G2 rows of the stiff springs and rigid bonds, and of the modes of a
     * potential, at two points */
    taut_saddle *tie;
    taut_pattern rows;     /* of these */
    double *tie_1, *tie_2; /* values of G1, G2 on it */
    const double *mass_1;  /* M at the point of G1: constant, or in `mass_room` */
    double *mass_room;
    bool fast_terms; /* forces that are none of the kicks: of the potential, or of velocities */
    /* the mass varies, or there are rigid bonds or forces of velocities: `flow` moves the springs
     */
    bool general;
    taut_fast_flow flow;
    struct taut_adiabatic
        *adiabatic; /* moves the springs instead (adiabatic.h); NULL: it does not */
    /* longest micro-step; that of the fastest vibration, which no outer step has to be shorter than
     */
    double inner, finest;
    taut_composition_weights composed; /* steps of the fast flow that it is made of */
    taut_outer outer;                  /* where the step size was chosen for the run */
    bool fourth;                       /* kicks of order 4 (outer_kicks.c) */
    double *near_x, *near_a;           /* [n]: a point near x, the slow acceleration there */

    double time;             /* of the vibrating state */
    double *x, *v;           /* the vibrating state of stepper->now, [n] each */
    double *next_x, *next_v; /* the one that is being formed */
    double *kick;            /* slow acceleration at x; valid when fresh */
    /* fast: acceleration by the springs at x; valid when fresh */
    double *next_kick, *fast, *next_fast;
    bool fresh, complete;      /* complete: now.lambda are its multipliers */
    bool raw;                  /* `now` is the vibrating state itself */
    double *shown_q, *shown_v; /* what `now` was when the state was projected */
    /* to be kept where the state is altered: [stiff] stretches and rates; [n] x - X and v - V, for
     * a potential */
    double *g, *gdot, *off_x, *off_v;
    double *lambda; /* [rows] multipliers of a projection */
    double *r, *y;  /* [n], [rows] */
    bool has_modes; /* few enough springs for the force of the vibration */
    taut_modes_work modes;
    /* of the vibration, [modes]; modes of one frequency with their mean */
    double *action, *blended;
    double *gradient; /* of W, [n] */
    void *own;        /* of a variant */
} taut_impulse;

/* What the rows differ in (data of taut_method). */
typedef struct taut_impulse_variant {
    /* acceleration[n] at (t, x) by the slow forces */
    int (*kick)(taut_impulse *w, double t, const double *x, double *acceleration,
                taut_error *error);
    int (*prepare)(taut_impulse *w, taut_error *error); /* `own`; may be NULL */
    void (*release)(taut_impulse *w); /* what `own` has outside of the arena; may be NULL */
} taut_impulse_variant;

int taut_impulse_create(taut_stepper *stepper, taut_error *error);
void taut_impulse_destroy(taut_stepper *stepper);
int taut_impulse_step(taut_stepper *stepper, double h, taut_error *error);
int taut_impulse_once(taut_impulse *w, double h, taut_error *error); /* from a fresh state */
/* The springs alone over a time h, from (next_x, next_v) and the acceleration in next_fast. */
int taut_impulse_vibrate(taut_impulse *w, double t, double h, taut_error *error);
/* The kick of the variant, by all forces but those marked `fast`. */
int taut_impulse_kick(taut_impulse *w, double t, const double *x, double *acceleration,
                      taut_error *error);
void taut_impulse_changed(taut_stepper *stepper);
void taut_impulse_vibrating(taut_stepper *stepper, taut_state *state);
int taut_impulse_complete(taut_stepper *stepper, taut_error *error);
void taut_impulse_archive(taut_stepper *stepper, taut_archive *archive);
int taut_impulse_multipliers(taut_stepper *stepper, double t, const double *q, const double *v,
                             double *lambda, taut_error *error);

/* ---- kicks of order 4 (outer_kicks.c) */

/* Sets w->fourth by the option; refuses what order 4 does not support. */
int taut_impulse_choose_order(taut_impulse *w, const char *who, bool adiabatic, taut_error *error);
/* (next_x, next_v) and next_fast over a step of length h from the kick at its beginning; next_kick
 * at its end. */
int taut_impulse_advance_4(taut_impulse *w, double t, double h, taut_error *error);

/* ---- the state that others see (impulse_state.c) */

/* X = x + M(x)^-1 G(x)^T lambda with g(X) = 0 on the stiff springs and rigid bonds [E (15)];
 * w->lambda; tie_1 holds G(x), tie_2 G(X), mass_1 M(x). With a stiff potential the foot point;
 * tie_2, mass_1. */
int taut_impulse_project(taut_impulse *w, double t, const double *x, double *X, taut_error *error);
/* (X, V) of a vibrating state; raw: that state. */
int taut_impulse_show(taut_impulse *w, double t, const double *x, const double *v, double *q,
                      double *u, taut_error *error);
/* Rigid bonds hold from the beginning; the stretches and rates of the springs are kept. */
int taut_impulse_meet_rigid(taut_impulse *w, taut_error *error);
/* w->g and w->gdot of (x, v). */
int taut_impulse_measure(taut_impulse *w, double t, const double *x, const double *v,
                         taut_error *error);
/* The vibrating state (x, u) over (q, v) that has the stretches and rates w->g, w->gdot: x = q +
 * M^-1 G(q)^T lambda, u = v + M^-1 G(x)^T nu. */
int taut_impulse_lift(taut_impulse *w, double t, const double *q, const double *v, double *x,
                      double *u, taut_error *error);
/* When `now` was altered: its vibration keeps the stretches and rates that it had; raw: `now` is
 * the vibrating state. */
int taut_impulse_follow(taut_impulse *w, bool *altered, taut_error *error);

/* [M G^T; G 0] at x, whose bonds are evaluated. */
int taut_impulse_tangent(taut_impulse *w, double t, const double *x, taut_error *error);
/* [M G1^T; G2 0] at time t; g2 == NULL means g1. */
int taut_impulse_factor(taut_impulse *w, double t, const double *mass, const double *g1,
                        const double *g2, taut_error *error);
/* Solves with it for x[n] and w->y. */
int taut_impulse_solve(taut_impulse *w, double *x, taut_error *error);

/* What all rows share; they differ in `data`. */
#define TAUT_IMPULSE_METHOD                                                                        \
    .motions = TAUT_MOTION_EFFECTIVE, .order = 2, .kicks = true,                                   \
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,                                                \
    .refuses = TAUT_HAS_DAMPING | TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,                           \
    .create = taut_impulse_create, .destroy = taut_impulse_destroy, .step = taut_impulse_step,     \
    .changed = taut_impulse_changed, .complete = taut_impulse_complete,                            \
    .multipliers = taut_impulse_multipliers, .archive = taut_impulse_archive,                      \
    .vibrating = taut_impulse_vibrating

#endif
