/* mechanics.h - a mechanical system as explicit methods see it: bonds without compliance are
 * constraints (rigid bonds), the others act as forces.
 *
 *     M v' = f - G_s^T C^-1 (g_s + T gdot_s) - scale grad V - G_r^T lambda_r,
 *     s the springs, r the rigid bonds
 *
 * What is evaluated is kept in `values`; the rows of the rigid bonds are copied out when there are
 * springs too. */
#ifndef TAUT_STEP_MECHANICS_H
#define TAUT_STEP_MECHANICS_H

#include "linalg/saddle.h"
#include "system/rank_part.h"

typedef struct taut_mechanics {
    taut_context *context;
    taut_statistics *statistics;
    taut_allocator allocator; /* the arena's */
    taut_index n, m;
    unsigned wanted; /* what a force evaluation asks for */
    /* bond, jacobian, bond_dt, gamma, mass, stiff_force; force is the caller's */
    taut_values values;
    taut_pattern jacobian; /* of G, all bonds */
    const double *compliance, *damping;
    const double
        *given; /* [m]: multipliers of springs that are not soft; NULL: C^-1 (g + T gdot) */

    bool stiff; /* the bonds that are not soft stand in place of the rigid bonds (impulse.c) */
    taut_index rods;
    taut_index *rod; /* bond number of each, [rigid bonds] */
    /* pattern of G_r; the system's own when every bond is rigid */
    const taut_index *rod_start, *rod_column;
    taut_pattern rod_rows; /* of these two */
    double *rod_jacobian;  /* values on it: values.jacobian when every bond is rigid */
    bool mixed;            /* springs and rigid bonds: the rows are copied */
    double *columns;       /* (taut_mechanics_columns) then it is rod_jacobian, or NULL */
    bool still;            /* with it: no bond depends on t, bond_dt stays 0 and is not written */

    bool varying;                               /* the mass */
    const taut_index *mass_start, *mass_column; /* pattern of M; NULL: diagonal */
    /* values on it, or the diagonal; filled by evaluations when it varies */
    const double *mass;
    bool positive;    /* M is positive definite for all that is known */
    double *inverse;  /* (taut_mechanics_invert) of a diagonal; NULL: all masses are 1 */
    taut_saddle *own; /* of a constant matrix, factorised */

    /* of several ranks (system/rank_part.h), or NULL; rod_halo: of the rigid bonds */
    const taut_part *part;
    const taut_halo *rod_halo;
} taut_mechanics;

/* In addition to the bits of `wanted`: sets `stiff`. */
enum { TAUT_STIFF_AS_RODS = 1 << 30 };

/* `wanted` bits beyond force, springs and mass: TAUT_WANT_GAMMA, TAUT_WANT_BOND. Memory comes
 * from the arena. */
int taut_mechanics_create(taut_mechanics *mechanics, taut_context *context, taut_arena *arena,
                          taut_statistics *statistics, unsigned wanted, taut_error *error);
/* f without the rigid bonds' reactions into force[n]; everything else wanted into `values`.
 * Springs' multipliers go to lambda[m] (may be NULL). */
int taut_mechanics_force(taut_mechanics *mechanics, double t, const double *q, const double *v,
                         double *force, double *lambda, taut_error *error);
/* g, G and dg/dt (and M, when it varies) without forces; `more` adds bits such as
 * TAUT_WANT_GAMMA. */
int taut_mechanics_bonds(taut_mechanics *mechanics, double t, const double *q, const double *v,
                         unsigned more, taut_error *error);
/* gdot[rigid bonds] = G_r v + dg_r/dt with the values of the latest evaluation. */
void taut_mechanics_rates(const taut_mechanics *mechanics, const double *v, double *gdot);
/* The same after G of the latest evaluation was factorised. */
void taut_mechanics_rates_at(const taut_mechanics *w, const taut_saddle *saddle, const double *v,
                             double *gdot);
/* row[r] = sign bond[i] for the rigid bonds i of an array over all bonds. */
void taut_mechanics_pick(const taut_mechanics *w, double sign, const double *bond, double *row);
/* row[rigid bonds], saved as a vector of all bonds, in values.bond where there are springs too. */
void taut_mechanics_archive(taut_mechanics *w, double *row, taut_archive *to);
/* The saddle matrix [M G_r^T; G_r 0], or with the unit matrix for M. symmetric = false leaves
 * room for two different G. */
int taut_mechanics_saddle(const taut_mechanics *mechanics, bool unit_mass, bool symmetric,
                          const taut_allocator *allocator, taut_saddle **saddle, taut_error *error);

/* G of evaluations goes by columns to this array, that of a saddle matrix: it is not copied when it
 * is factorised; NULL: to its own array, by rows, again. taut_mechanics_room: the array, or NULL
 * where G has to go by rows. */
double *taut_mechanics_room(const taut_mechanics *mechanics, taut_saddle *saddle);
void taut_mechanics_columns(taut_mechanics *mechanics, double *columns);

/* taut_saddle_factor; when the matrix is singular, at time t, the sentence names the bond or the
 * coordinate that is to blame. */
int taut_mechanics_factor(const taut_mechanics *mechanics, taut_saddle *saddle, double t,
                          const double *k, const double *g1, const double *g2, taut_error *error);
/* With the matrix of this state factorised, a[n] holding F and lambda[m] the multipliers of the
 * springs: the acceleration, and lambda of the rigid bonds,  [M G^T; G 0] (a, lambda) = (F,
 * -gamma). row: room, [rigid bonds]. */
int taut_mechanics_react(taut_mechanics *mechanics, taut_saddle *saddle, double t, const double *q,
                         const double *v, double *a, double *row, double *lambda,
                         taut_error *error);
/* lambda[m] at any state, not counted in the statistics; a[n], row[rigid bonds]: room. */
int taut_mechanics_multipliers(taut_mechanics *mechanics, taut_saddle *saddle, double t,
                               const double *q, const double *v, double *a, double *row,
                               double *lambda, taut_error *error);

/* Constant masses without rigid bonds: prepares x[n] <- M^-1 x. `who` ("method verlet") is named
 * when a mass is not positive. */
int taut_mechanics_invert(taut_mechanics *mechanics, const char *who, double t, taut_arena *arena,
                          taut_error *error);
int taut_mechanics_divide(taut_mechanics *mechanics, double *x, taut_error *error);
void taut_mechanics_destroy(taut_mechanics *mechanics); /* what they made */

/* Refusals that name the coordinate or bond: every mass of a diagonal must be positive, every
 * bond have a compliance. */
int taut_mechanics_need_masses(const taut_mechanics *mechanics, const char *who, taut_error *error);
/* Refuses kinetic energies that are not zero at rest, of which momenta are not M v; momentum[n] is
 * room. */
int taut_mechanics_at_rest(const taut_mechanics *mechanics, const char *who, double t,
                           const double *q, double *momentum, taut_error *error);
int taut_mechanics_need_springs(const taut_mechanics *mechanics, const char *who,
                                taut_error *error);

#endif
