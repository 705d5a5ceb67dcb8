/* modes.h - the stiff modes at a point: frequencies, shapes, amplitudes, and the gradient of the
 * frequencies.
 *
 * With S the Schur complement of A = G M^-1 G^T for the springs s and the rigid bonds r
 * (docs/theory.md), mode k is a weight w on the bonds:
 *
 *     S w_s = Omega^2 C w_s, w_s^T C w_s = 1, w_r = -A_rr^-1 A_rs w_s, z = M^-1 G^T w,
 *     u = Omega C w_s
 *
 * so that for g = sum p u (over the springs)  p = w^T g / Omega,  and  E = ((w^T gdot)^2/Omega^2
 * + (w^T g)^2)/2. z is the shape of the vibration in the coordinates. Bonds marked `soft` are
 * slow forces, not modes.
 *
 * Bonds that share no coordinate, directly or through others, belong to different groups: S is
 * block diagonal, and modes are those of the blocks. Molecules in a box take O(1) each. */
#ifndef TAUT_SYSTEM_MODES_MODES_H
#define TAUT_SYSTEM_MODES_MODES_H

#include "linalg/spectrum.h"

/* Springs that are connected by coordinates, rigid bonds or the mass matrix. (groups.c) */
typedef struct taut_mode_group {
    taut_index springs, rigids, n;
    taut_index *spring, *rigid; /* bond numbers */
    taut_index *coordinate;     /* [n], ascending */
    taut_index half_width;      /* of S, in the order of the springs */
    double *matrix;             /* [springs][springs]: S scaled by C^-1/2; then its vectors */
    double *column;             /* [springs][n]: Z_i of each spring; NULL where `direct` */
    double *reaction;           /* [springs][rigid bonds] */

    int first, count; /* its modes: springs that depend on others add none */
    double *weight;   /* [count][springs + rigids]: w, springs first; may be `matrix` */
    double *shape;    /* [count][n]: z on its coordinates; NULL where `direct` */
} taut_mode_group;

enum {
    TAUT_MODES_TOGETHER = 4, /* directions in one evaluation of the gradient */
    TAUT_MODES_SMALL = 16    /* springs of a group up to which its matrix counts as dense */
};
typedef struct taut_modes_work {
    taut_context *context;
    taut_arena *arena;
    taut_index n, m, springs, rigids;
    taut_index *spring, *rigid; /* bond numbers; springs by groups */
    taut_index groups, largest; /* largest: most springs of a group */
    taut_mode_group *group;
    taut_index *local;      /* [n]: place of a coordinate in its group */
    bool diagonal, varying; /* the mass */
    bool direct;            /* no rigid bonds, and a diagonal mass: S = G M^-1 G^T */
    taut_pattern jacobian, tangent;
    taut_values values; /* bond, bond_dt, jacobian, mass at the latest point */
    taut_index *rigid_start, *rigid_column;
    double *rigid_g;
    taut_saddle *saddle; /* [M G_r^T; G_r 0]; NULL where `direct` */
    taut_jet *jet;       /* of G along a direction; NULL: from the Hessians of the bonds */
    double *square;      /* Omega^2, [largest] */
    /* `direct`: G M^-1 on the pattern of G; J/Omega of the modes of a group; S of a group whose
     * band is narrow, [springs][half_width + 1] */
    double *over, *share, *band;
    int rounds; /* `direct`: directions that serve all springs; else the most springs of a group */
    /* [TAUT_MODES_TOGETHER] times [m], [n], [n]: weights and shapes of one mode of each group;
     * J/(2 Omega) times the latter; `direct`: weights and directions of bonds that do not touch */
    double *bond_weight, *direction, *scaled;
    double *blended;       /* [springs]: for frequencies that meet; */
    double *other, *force; /* [n], [n]: the same */
    double *held;          /* [rigid bonds] */
    taut_allocator keep;   /* gives back the same memory again: nothing is allocated after create */

    int count;         /* modes of all groups, one group after the other */
    double *frequency; /* [count], ascending in each group */
    int *owner;        /* [count]: the group of each */
} taut_modes_work;

/* GRADIENT prepares for taut_modes_gradient; SHAPES does too, and every group has its `shape`. */
typedef enum taut_modes_for {
    TAUT_MODES_ALONE,
    TAUT_MODES_GRADIENT,
    TAUT_MODES_SHAPES
} taut_modes_for;
/* Memory comes from the arena. Refuses groups of more than `most` springs: TAUT_SPECTRUM_DENSE
 * where time matters, at most TAUT_SPECTRUM_DENSE_LIMIT. */
int taut_modes_create(taut_modes_work *modes, taut_context *context, taut_arena *arena,
                      taut_modes_for purpose, int most, taut_error *error);
void taut_modes_destroy(taut_modes_work *modes); /* accepts half-made ones */
/* What modes and a gradient cost, in units of taut_system_work, besides evaluations of G. */
double taut_modes_cost(const taut_modes_work *modes);
/* Modes at (t, q). Never allocates, except to name rigid bonds that depend on one another. */
int taut_modes_find(taut_modes_work *modes, double t, const double *q, taut_error *error);
/* p and pdot of mode k at the point of taut_modes_find, for a velocity v[n]. */
void taut_modes_amplitude(const taut_modes_work *modes, int k, const double *v, double *p,
                          double *pdot);
/* w of mode k on the springs of its group. */
const double *taut_modes_weight(const taut_modes_work *modes, int k);
/* Actions of modes with one frequency become their mean: such modes exchange them. False when
 * this changes nothing. */
bool taut_modes_blend(const taut_modes_work *modes, const double *action, double *blended);
/* gradient[n] = sum_k action[k] dOmega_k/dq at the point of taut_modes_find, which is given
 * again. Where frequencies meet and this makes no difference for motions along the bonds (equal
 * molecules that are rigid as a whole), with their mean actions. Never allocates. */
int taut_modes_gradient(taut_modes_work *modes, double t, const double *q, const double *action,
                        double *gradient, taut_error *error);
/* The same sum, whatever the frequencies, of the shapes and weights that stand in the groups. */
int taut_modes_sum(taut_modes_work *modes, double t, const double *q, const double *action,
                   double *gradient, taut_error *error);
/* (groups.c) The springs and rigid bonds of w->context, by groups; the patterns are there. */
int taut_mode_groups_find(taut_modes_work *modes, taut_error *error);

/* (frequencies.c) The lowest and the highest frequency at (t, q); *found: 0, 1 (one mode) or 2. */
int taut_frequency_ends(taut_context *context, double t, const double *q, double frequency[2],
                        int *found, taut_error *error);

/* No frequency of a spring at this state is above it; INFINITY where that would need more than
 * sums over G: with a stiff potential or a mass that is not diagonal. (frequencies.c) */
int taut_frequency_bound(taut_context *context, double t, const double *q, double *bound,
                         taut_error *error);

#endif
