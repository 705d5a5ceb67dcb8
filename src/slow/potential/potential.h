/* potential.h - foot points and slow points of a stiff potential V(q)/eps^2, with rigid bonds
 * and springs (potential_*.c).
 *
 * The manifold is where V is least: grad V = 0, with Hess V of constant rank d [B (2.2)-(2.3)],
 * and all bonds that are not soft are rigid. */
#ifndef TAUT_SLOW_POTENTIAL_POTENTIAL_H
#define TAUT_SLOW_POTENTIAL_POTENTIAL_H

#include "base/projector.h"
#include "point/projection.h"
#include "slow/potential/potential_foot.h"
#include "slow/series.h"
#include "system/modes/potential_modes.h"

/* ---- foot points (potential_foot.c) */

/* The stiff modes at the latest foot point, with what is held of positions (of velocities)
 * fixed; *count is the rank d, and the first d of them are those of V. */
const taut_potential_modes *taut_potential_foot_modes(const taut_projector *projector,
                                                      bool velocity, int *count);
/* Can the potential's functions take any value and rate with what is held? */
bool taut_potential_foot_whole(const taut_projector *projector);

/* ---- slow multipliers (potential_recursion.c) */

/* Near the foot point X the stiff force F = grad V/eps^2 is B lambda + r: W the stiff modes at
 * X, B = (Hess V/eps^2) W Omega^-2 the directions it has there, lambda = W^T F. The functions
 * Omega^-2 lambda, in number d, are what g is for springs. */
typedef struct taut_potential_basis {
    int count;           /* d */
    const double *mode;  /* [d][n]: W */
    const double *value; /* [d]: Omega^2 */
    double *force;       /* [d][n]: B^T */
} taut_potential_basis;

/* The values at a point, valid until the next evaluation; rows are the d functions of the
 * potential, then the m bonds. */
typedef struct taut_potential_values {
    const double *g, *gdot; /* values and rates of the functions */
    /* what these are on the slow manifold, to the order of the level; 0 for rigid and soft bonds */
    const double *y, *ydot;
    const double *lambda; /* multipliers */
    /* [n]: the slow part of grad V/eps^2, -B lambda - r: the force of the potential */
    double *reaction;
} taut_potential_values;

typedef struct taut_potential_recursion taut_potential_recursion;
/* Derivatives of the stiff force beyond those of the multipliers. */
enum { TAUT_POTENTIAL_AHEAD = 2 };
/* Prepares levels 0 to `most`, at most taut_multiplier_recursion_most(context,
 * TAUT_POTENTIAL_AHEAD). */
int taut_potential_recursion_create(taut_context *context, taut_arena *arena,
                                    taut_statistics *statistics, int most,
                                    taut_potential_recursion **recursion, taut_error *error);
void taut_potential_recursion_destroy(taut_potential_recursion *recursion);
/* All values at (t, q, v). Never allocates. */
int taut_potential_recursion_evaluate(taut_potential_recursion *recursion,
                                      const taut_potential_basis *basis, int level, double t,
                                      const double *q, const double *v,
                                      taut_potential_values *values, taut_error *error);
/* Only g and gdot of the values of the latest evaluation, at another (q, v). */
int taut_potential_recursion_rows(taut_potential_recursion *recursion, double t, const double *q,
                                  const double *v, taut_error *error);
/* A rate of the slow motion after an evaluation. */
double taut_potential_recursion_rate(const taut_potential_recursion *recursion);

/* dx += W alpha, such that dx changes the functions of the potential by g[d], linearised at the
 * point of the latest evaluation; g is overwritten. */
void taut_potential_recursion_adjust(const taut_potential_recursion *recursion, double *g,
                                     double *dx);

/* ---- projections (potential.c, potential_series.c) */

/* What `constraint` does for a system with a stiff potential. */
int taut_potential_constraint(taut_projection *p, taut_error *error);
/* For a system with a stiff potential; of its apply(), the first use allocates. */
extern const taut_level_kind taut_potential_series;
/* The oscillatory energy of a state of a system with a stiff potential: that of its difference
 * from its slow point, to leading order. Fails where there is no foot point. */
int taut_potential_oscillatory_energy(taut_context *context, double t, const double *q,
                                      const double *v, const taut_allocator *allocator,
                                      double *energy, taut_error *error);
/* Rounding of a position: the Hessian of a potential without structure has that of its largest
 * entries in all directions, so weak modes are known to u (Omega_max/Omega_min)^2 only. */
double taut_potential_noise(const taut_potential_basis *basis);
/* The basis at the foot point that `foot` found last, valid until the next one. Refuses springs
 * that stretch where the potential is stiff. */
int taut_potential_find_basis(const taut_projector *foot, taut_arena *arena,
                              taut_potential_basis *basis, taut_error *error);

#endif
