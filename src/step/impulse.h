/* impulse.h - what the impulse methods share: a vibrating state, kicks by the slow force, the
 * fast flow of the springs, and the projected state that everybody else sees (impulse.c). The
 * methods differ in the kick alone. */
#ifndef TAUT_STEP_IMPULSE_H
#define TAUT_STEP_IMPULSE_H

#include "base/method.h"
#include "linalg/saddle.h"
#include "system/modes/modes.h"

typedef struct taut_impulse {
    taut_stepper *stepper;
    taut_index n, m, stiff_count;
    unsigned char *stiff; /* [m]: a spring that is not soft */
    taut_pattern jacobian, tangent;
    const double *compliance;
    double *mass; /* constant: diagonal [n], or on the pattern below */
    taut_index *mass_start, *mass_column;
    double *inverse_mass; /* diagonal, [n]; NULL otherwise */
    taut_saddle *solid;   /* M alone, factorised; NULL for a diagonal */
    taut_saddle *tie;     /* [M G1^T; G2 0], G1 and G2 rows of the stiff springs at two points */
    taut_index *tie_start, *tie_column;
    double *tie_1, *tie_2; /* values of G1, G2 on their pattern */
    taut_values values;
    double inner; /* longest micro-step */

    double time;             /* of the vibrating state */
    double *x, *v;           /* the vibrating state of stepper->now, [n] each */
    double *next_x, *next_v; /* the one that is being formed */
    double *kick;            /* slow acceleration at x; valid when fresh */
    /* fast: acceleration by the springs at x; valid when fresh */
    double *next_kick, *fast, *next_fast;
    bool fresh, complete;      /* complete: now.lambda are its multipliers */
    double *shown_q, *shown_v; /* what `now` was when the state was projected */
    /* [m] stretches to be kept where someone alters the state */
    double *g, *gdot;
    double *lambda; /* [stiff] multipliers of a projection */
    double *r, *y;  /* [n], [stiff] */
    bool has_modes; /* few enough springs for the force of the vibration */
    taut_modes_work modes;
    /* of the vibration, [modes]; modes of one frequency with their mean */
    double *action, *blended;
    double *gradient; /* of W, [n] */
    /* the kick of a method: acceleration[n] at (t, x) */
    int (*slow)(struct taut_impulse *w, double t, const double *x, double *acceleration,
                taut_error *error);
    void *own; /* of a method */
} taut_impulse;

typedef int (*taut_impulse_kick)(taut_impulse *w, double t, const double *x, double *acceleration,
                                 taut_error *error);

int taut_impulse_create(taut_stepper *stepper, taut_impulse_kick kick, taut_error *error);
void taut_impulse_destroy(taut_stepper *stepper);
int taut_impulse_step(taut_stepper *stepper, double h, taut_error *error);
void taut_impulse_changed(taut_stepper *stepper);
int taut_impulse_complete(taut_stepper *stepper, taut_error *error);
int taut_impulse_multipliers(taut_stepper *stepper, double t, const double *q, const double *v,
                             double *lambda, taut_error *error);

/* force[n] = f - G^T C^-1 g of the soft bonds at x; G stays in w->values. One slow evaluation. */
int taut_impulse_force(taut_impulse *w, double t, const double *x, const double *v, double *force,
                       taut_error *error);
/* The rows of the stiff springs in w->values.jacobian, copied out. */
void taut_impulse_rows(const taut_impulse *w, double *rows);
/* x[n] <- M^-1 x */
int taut_impulse_divide(taut_impulse *w, double *x, taut_error *error);
/* X = x + M^-1 G(x)^T lambda with g(X) = target on the stiff springs (NULL: 0) [E (15)].
 * w->lambda; tie_1 holds G(x), tie_2 G(X). */
int taut_impulse_project(taut_impulse *w, double t, const double *x, const double *target,
                         double *X, taut_error *error);
/* Factors [M G1^T; G2 0]; g2 == NULL means g1. */
int taut_impulse_factor(taut_impulse *w, const double *g1, const double *g2, taut_error *error);

/* What all rows share; they differ in `create`, which names the kick. */
#define TAUT_IMPULSE_METHOD                                                                        \
    .motions = TAUT_MOTION_EFFECTIVE, .order = 2, .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,  \
    .refuses = TAUT_HAS_RIGID | TAUT_HAS_DAMPING | TAUT_HAS_STIFF_POTENTIAL |                      \
               TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS | TAUT_HAS_ALGEBRAIC |             \
               TAUT_HAS_STEPPER,                                                                   \
    .destroy = taut_impulse_destroy, .step = taut_impulse_step, .changed = taut_impulse_changed,   \
    .complete = taut_impulse_complete, .multipliers = taut_impulse_multipliers

#endif
