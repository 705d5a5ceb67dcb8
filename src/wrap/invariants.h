/* invariants.h - the manifold of a first-order system: h(t,z) = (constraints, invariants minus
 * their values at the initial state), and the step that leads back to it,
 *
 *     F h, F = D (H D)^-1, H = dh/dz   [Ascher, Qin, Reich 1992, (1.13)]
 */
#ifndef TAUT_WRAP_INVARIANTS_H
#define TAUT_WRAP_INVARIANTS_H

#include "base/archive.h"
#include "wrap/relax.h"

typedef enum taut_invariants_of {
    TAUT_INVARIANTS_ALL,      /* D = H^T */
    TAUT_INVARIANTS_VELOCITY, /* D = H^T in the variables that are the rate of another one, 0 in the
                                 others */
    TAUT_INVARIANTS_GRADIENT  /* F = H^T (1.14) */
} taut_invariants_of;

typedef struct taut_invariants taut_invariants;

int taut_invariants_create(taut_context *context, taut_invariants_of which, taut_arena *arena,
                           taut_statistics *statistics, taut_invariants **invariants,
                           taut_error *error);
/* Instead of a factorisation at every point: one of every `refresh` steps, or none. */
void taut_invariants_approximate(taut_invariants *invariants, taut_relax relax, int refresh);
void taut_invariants_destroy(taut_invariants *invariants); /* what the arena does not free */
/* Takes the invariants' values at a state for those that are kept. Creation does so at the
 * model's start at t = 0, if there is one. */
int taut_invariants_begin(taut_invariants *invariants, double t, const double *z,
                          taut_error *error);
/* push[n] = F h at (t, z); with `from`: F (h + H (from - z)). */
int taut_invariants_step(taut_invariants *invariants, double t, const double *z, const double *from,
                         double *push, taut_error *error);
/* push[n] = F (H f + h_t + gamma h) at (t, z). */
int taut_invariants_rate(taut_invariants *invariants, double t, const double *z, const double *f,
                         double gamma, double *push, taut_error *error);
void taut_invariants_archive(taut_invariants *invariants, taut_archive *archive);
/* max |h| at the point of the latest step, and the largest |dh/dz_j z_j| eps: what rounding
 * alone may leave. */
double taut_invariants_size(const taut_invariants *invariants, const double *z, double *rounding);

#endif
