/* projection_kernel.h - projection kernel at work, shared by its passes (projection_kernel.c)
 * and by what judges them (projection_kernel_result.c). */
#ifndef TAUT_FILTER_PROJECTION_KERNEL_H
#define TAUT_FILTER_PROJECTION_KERNEL_H

#include "filter/fibre.h"
#include "filter/force_balance.h"
#include "filter/progress.h"
#include "filter/rigid_bonds.h"
#include "filter/sampler.h"
#include "linalg/anderson.h"

typedef struct taut_projection_kernel_work {
    taut_projection *p;
    taut_stiffness springs;
    taut_force_spectrum rates; /* without springs */
    taut_filter_progress gauge;
    taut_sampler sampler;
    double slowest, fastest;
    taut_filter_kernel shape; /* of the smooth passes */
    double tolerance;
    double first;       /* change of the first smooth pass */
    double smooth_step; /* that of smooth passes times the fastest frequency */
    /* estimated errors, max norm; part of off_q that is Verlet's */
    double off_q, off_v, off_verlet;
    double off_verlet_v; /* of Verlet's velocities, which the result does not have */
    int64_t aware_passes;
    bool declared;   /* the stiffness: there are springs */
    bool foot;       /* passes begin at the foot point */
    bool alone;      /* no smooth passes follow */
    bool aware_done; /* they ended because they had nothing more to do */
    /* what a pass that knows the frequencies has left of the change of the one before */
    double shrinks;
    int aware_steps;
    taut_hold_restorer *grip; /* NULL: nothing is held */
    taut_rigid_bonds rods;
    taut_fibre seat; /* over the foot point, when passes begin there */
    /* what is held is put back without bonds that would follow: an alternation of projections */
    bool alternates;
    taut_anderson anderson;
    double *point, *residual; /* [2n]: for acceleration; NULL without */
    double *shift;            /* [n] */
} taut_projection_kernel_work;

/* Do the bonds differ from what they were by no more than `share` of the estimated errors, and
 * by the glide? p->entries is G at the end. */
int taut_projection_kernel_differs_little(const taut_projection_kernel_work *w, const double *then,
                                          const double *then_dt, double share, double glide,
                                          bool *little, taut_error *error);
/* Has the start been as slow already, as far as can be told? What passes do along the bonds does
 * not count. */
int taut_projection_kernel_was_slow(const taut_projection_kernel_work *w, bool *slow,
                                    taut_error *error);
/* p->explanation: what was done, and whether the start was kept. */
void taut_projection_kernel_explain(const taut_projection_kernel_work *w, bool kept);
/* After the passes: is it slow, was the start; multipliers. */
int taut_projection_kernel_conclude(taut_projection_kernel_work *w, taut_error *error);

#endif
