/* filter_work.h - a filtering projection at work: what ipa and kernel share (filter_work.c), and
 * how kernel judges its passes (projection_kernel_result.c). */
#ifndef TAUT_FILTER_FILTER_WORK_H
#define TAUT_FILTER_FILTER_WORK_H

#include "filter/fibre.h"
#include "filter/force_balance.h"
#include "filter/progress.h"
#include "filter/rigid_bonds.h"
#include "filter/sampler.h"
#include "linalg/anderson.h"

typedef struct taut_filter_work {
    taut_projection *p;
    const taut_projection_settings *settings;
    taut_stiffness stiffness;
    taut_force_spectrum spectrum; /* without springs */
    taut_filter_progress progress;
    taut_sampler sampler;
    taut_hold_restorer *restorer; /* NULL: nothing is held */
    taut_rigid_bonds rigid;
    bool declared;            /* the stiffness: there are springs */
    double slowest, fastest;  /* 0: not known */
    taut_filter_kernel shape; /* of smooth passes */
    double tolerance;
    double off_q, off_v; /* estimated errors, max norm; NaN: not known */
    /* ipa */
    const taut_filter *filter; /* the cubic kernel; NULL: shape */
    double omega, window;      /* window: delta */
    /* kernel */
    double first;        /* change of the first smooth pass */
    double smooth_step;  /* that of smooth passes times the fastest frequency */
    double off_verlet;   /* part of off_q that is Verlet's */
    double off_verlet_v; /* of Verlet's velocities, which the result does not have */
    int64_t tuned_passes;
    int tuned_steps;
    bool tuned_alone; /* no smooth passes follow */
    bool tuned_done;  /* tuned passes ended because they had nothing more to do */
    bool foot;        /* passes begin at the foot point */
    double shrinks;   /* what a tuned pass has left of the change of the one before */
    taut_fibre fibre; /* over the foot point, when passes begin there */
    /* what is held is put back without bonds that would follow: an alternation of projections */
    bool alternates;
    taut_anderson anderson;
    double *point, *residual; /* [2n]: for acceleration; NULL without */
    double *shift;            /* [n] */
} taut_filter_work;

/* w has p, settings and shape. Begins on the rigid bonds; memory comes from the arena of p. */
int taut_filter_work_create(taut_filter_work *w, taut_error *error);
void taut_filter_work_destroy(taut_filter_work *w); /* half-made ones too */
/* Frequencies at (p->q, p->v). They stay 0 where those of springs cannot be computed. */
int taut_filter_work_measure(taut_filter_work *w, taut_error *error);
/* u omega^2, noise of C^-1 g, from which on multipliers are those of the acceleration equation.
 * These are wrong by (rate/omega)^2; inside runs forces are made of them, and the smaller error
 * counts. */
static inline double taut_filter_noise(const taut_projection_settings *settings)
{
    return settings->inside ? 1e-7 : 1e-6;
}
/* Multipliers of the result: `balance` unless it is NULL, else the forces of the springs in a pass,
 * and of rigid bonds where there are some. */
int taut_filter_work_multipliers(taut_filter_work *w, const double *balance, int64_t pass,
                                 taut_error *error);

/* Do the bonds differ from what they were by no more than `share` of the estimated errors, and
 * by the drift along the bonds? p->entries is G at the end. */
int taut_projection_kernel_differs_little(const taut_filter_work *w, const double *then,
                                          const double *then_dt, double share, double drift,
                                          bool *little, taut_error *error);
/* Has the initial state been as slow already, as far as can be determined? What passes do along
 * the bonds does not count. */
int taut_projection_kernel_was_slow(const taut_filter_work *w, bool *slow, taut_error *error);
/* p->explanation: what was done, and whether the initial state was kept. */
void taut_projection_kernel_explain(const taut_filter_work *w, bool kept);
/* After the passes: is it slow, was the initial state; multipliers. */
int taut_projection_kernel_conclude(taut_filter_work *w, taut_error *error);

#endif
