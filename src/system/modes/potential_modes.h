/* potential_modes.h - the stiff modes of a potential V(q)/eps^2, alone or with springs, with
 * rigid bonds and held coordinates; dense (potential_modes.c).
 *
 *     K z = Omega^2 M z   on   G_r z = 0, z^T M z = 1, K = Hess V/eps^2   (+ G_s^T C^-1 G_s)
 *
 * Springs are either part of K, as in the frequencies of docs/theory.md, or rows of G_r, as for
 * foot points, where all bonds are rigid. */
#ifndef TAUT_SYSTEM_MODES_POTENTIAL_MODES_H
#define TAUT_SYSTEM_MODES_POTENTIAL_MODES_H

#include "linalg/cholesky.h"
#include "linalg/spectrum.h"

typedef struct taut_potential_modes {
    taut_context *context;
    taut_index n, m;
    taut_pattern jacobian, tangent;
    const taut_pattern *mass_pattern; /* of M: tangent; NULL where M is a diagonal */
    /* bond, bond_dt, jacobian, mass, stiff_force, stiff_hessian at the latest point */
    taut_values values;
    unsigned char *rigid; /* [m]: bonds that are rows of G_r */
    /* [n]: coordinates that are rows of their own; set by the caller, 0 at first */
    unsigned char *held;
    bool springs; /* those that are not soft are part of K */

    double *root;          /* [n][n]: M = R R^T */
    taut_rows rows;        /* G_r in the metric of M, held coordinates first */
    taut_index *where;     /* [n]: bond of each independent row, ~coordinate for held ones */
    taut_index *dependent; /* [m]: rigid bonds that depend on rows before them */
    taut_index dependents;
    double *k; /* [n][n]: K, without regard to the rows */
    /* [n]: eigenvalues of K on G_r z = 0, largest in absolute value first */
    double *value;
    double *mode; /* [n][n]: z, in the same order */
    /* [n][n] work, the modes in the metric's own coordinates, ascending */
    double *vector;
    double *ascending;          /* [n] */
    double *line, *s;           /* [n] work */
    double *start, *dx, *force; /* [n] work of descend */
    double *bonds;              /* [m] work */
    taut_allocator keep;
} taut_potential_modes;

/* rigid_springs: springs that are not soft are rows, not part of K. Memory comes from the arena;
 * refuses more than TAUT_SPECTRUM_DENSE coordinates and masses that cannot be inverted. */
int taut_potential_modes_create(taut_potential_modes *stiff, taut_context *context,
                                taut_arena *arena, bool rigid_springs, taut_error *error);
/* Everything at (t, q), modes included. Never allocates. TAUT_ERROR_SINGULAR when M is not
 * positive definite. */
int taut_potential_modes_find(taut_potential_modes *stiff, double t, const double *q,
                              taut_error *error);
/* dx[n]: the shortest change with G_r dx = s[m], and then, by the first `count` modes, with K dx
 * = sign force[n] as far as these can; force is overwritten. */
void taut_potential_modes_step(const taut_potential_modes *stiff, int count, const double *s,
                               double *force, double sign, double *dx);
/* Moves x[n] to where the rows hold and what is stiff is least, anywhere near, and finds
 * everything there; *rank is that of K: how many values exceed 1e-8 of the largest, negative
 * ones included. Only there is it determined: away from the minimum every direction is curved.
 * *found is false, x is anywhere, when there is no minimum near. `from` is where it began, for the
 * scale. Counts evaluations in *count. Never allocates. */
int taut_potential_modes_descend(taut_potential_modes *stiff, double t, const double *from,
                                 double *x, int *rank, bool *found, int64_t *count,
                                 taut_error *error);
/* x[n] <- its part along the manifold: without that along the rows and the first `count` modes;
 * room[n]. */
void taut_potential_modes_along(const taut_potential_modes *stiff, int count, double *x,
                                double *room);
/* The size of a state at x that came from `from`, in the metric of M: |from| + |x - from|, and a
 * little more for the origin. */
double taut_potential_modes_scale(const taut_potential_modes *stiff, const double *from,
                                  const double *x);
/* max K_ii/M_ii: how stiff it is in all directions, independent of the rows. */
double taut_potential_modes_steepness(const taut_potential_modes *stiff);
/* sqrt((x - y)^T M (x - y)); y may be NULL. */
double taut_potential_modes_length(const taut_potential_modes *stiff, const double *x,
                                   const double *y);
/* sqrt(x^T M^-1 x): of a force; x is overwritten. */
double taut_potential_modes_force_length(const taut_potential_modes *stiff, double *x);
/* The modes of a system with a stiff potential at (t, q): *rank as on the manifold near q,
 * values and modes those of q. */
int taut_potential_modes_modes(taut_potential_modes *stiff, double t, const double *q, int *rank,
                               taut_error *error);
/* How many |value| exceed `part` of the largest. */
int taut_potential_modes_rank(const taut_potential_modes *stiff, double part);
/* force[n] of all that is stiff, K's own: grad V/eps^2 (+ G_s^T C^-1 g_s). */
void taut_potential_modes_gradient(const taut_potential_modes *stiff, double *gradient);
/* y = K x; y is not x. */
void taut_potential_modes_multiply(const taut_potential_modes *stiff, const double *x, double *y);
/* y = M x. */
void taut_potential_modes_mass(const taut_potential_modes *stiff, const double *x, double *y);
/* root[n][n]: M = R R^T from its entries at time t; tangent is NULL where M is a diagonal.
 * TAUT_ERROR_SINGULAR, with the name of a coordinate, where M is not positive definite. */
int taut_potential_modes_root(const taut_context *context, double t, const taut_pattern *tangent,
                              const double *mass, double *root, taut_error *error);

#endif
