/* slow_rate.h - how fast the rigid motion can change at a state (slow_rate.c), and how fast the
 * equations change with time alone (time_rate.c), the fastest rate of all (stiff_rate.c):
 * docs/theory.md, Fast and slow. */
#ifndef TAUT_DRIVE_SLOW_RATE_H
#define TAUT_DRIVE_SLOW_RATE_H

#include "linalg/saddle.h"
#include "system/system.h"

/* The rigid motion of a mechanical system at a state. */
typedef struct taut_rigid_motion {
    taut_context *context;
    double t;
    const double *q, *v;
    const double *mass;         /* as evaluated */
    const double *jacobian;     /* of all bonds, soft springs included */
    const double *acceleration; /* [n] */
    const double *weight;       /* [m]: multipliers; the forces of soft springs */
    const double *curvature;    /* [tangent]: what a stiff potential adds to K; NULL: nothing */
    taut_saddle *saddle;        /* factored: [M G^T; G 0] without the rows of soft springs */
    taut_index rows;            /* of G in there */
    unsigned part;              /* TAUT_WANT_SLOW: without terms marked `fast`; 0: all */
    int vectors;                /* of Arnoldi's iteration; 0: by the size of the system */
} taut_rigid_motion;

/* A state soon after the initial one, its rate and largest multiplier (later_rates.c). */
enum { TAUT_LATER = 8 };
typedef struct taut_later {
    double t, rate, force;
} taut_later;
/* The rate at *count later states, from a state with the given larger one of its rates; soft[m]: 1
 * of soft springs. Arrays of `work` are overwritten: force, bond, bond_dt, gamma, mass and
 * jacobian, which is that of `from` where there are no soft springs. The saddle matrix is factored
 * again. Ends with the first that cannot be evaluated, whose status is returned with those before
 * it counted. */
int taut_leaps(const taut_rigid_motion *from, const double *soft, taut_values *work, double rate,
               taut_later *later, int *count, taut_error *error);

/* *rate = max |mu|; memory comes from the allocator of the context. */
int taut_slow_rate(const taut_rigid_motion *at, double *rate, taut_error *error);

/* How fast the bonds turn: the larger of  max |dG_i/dt|/|G_i|  with the velocity and of the square
 * root of the same with the acceleration. A lower estimate of what the rate will be soon, where no
 * later state is examined. */
int taut_turning_rate(const taut_rigid_motion *at, double *rate, taut_error *error);

/* The slow rate where a stiff potential takes part, with at most TAUT_SPECTRUM_DENSE coordinates;
 * of `at`, saddle, rows and curvature are found here, the acceleration and the multipliers
 * replaced. force[n], gamma[m] as in the equations of the rigid motion, jacobian of these rows. */
int taut_slow_rate_potential(const taut_rigid_motion *at, const double *force, const double *gamma,
                             double *rate, taut_error *error);

/* The rate at which f and g change with time at fixed (q, v), from sample times between `from` and
 * `until`; 0 where they do not depend on time. */
int taut_time_rate(taut_context *context, double from, double until, const double *q,
                   const double *v, double *rate, taut_error *error);

#endif
