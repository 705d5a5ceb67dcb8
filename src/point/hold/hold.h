/* hold.h - coordinates and velocities that a projection keeps, to the last bit: their names
 * (hold_names.c), matrices in which they are fixed (masked_saddle.c), and the way back for
 * projections that move everything (hold_restore.c). First-order systems: kept_functions.h.
 *
 * `hold` is everywhere an array [n] of TAUT_HOLD_POSITION, TAUT_HOLD_VELOCITY and TAUT_GUESS, or
 * NULL. */
#ifndef TAUT_POINT_HOLD_HOLD_H
#define TAUT_POINT_HOLD_HOLD_H

#include "linalg/saddle.h"

/* What [start] holds and what `names` contains: coordinates "theta", velocities "theta'", members
 * "bob[3].x", particles "bob[3]", families "bob", separated by commas. *hold is NULL when there
 * is nothing of the kind. */
int taut_hold_names(const taut_system *system, const char *names, taut_arena *arena,
                    const unsigned char **hold, taut_error *error);
/* Does any coordinate have one of these bits? */
bool taut_hold_any(const unsigned char *hold, taut_index n, unsigned bits);

/* The saddle matrix of M and G without the rows and columns of what is held: x = 0 there. A bond
 * that has no free coordinate, or that is not counted, has the row -y = s. */
typedef struct taut_masked_saddle {
    const taut_context *context;
    const taut_allocator *allocator; /* to name what is singular */
    taut_index n, m;
    bool matrix; /* M lives on the tangent pattern */
    taut_pattern jacobian, tangent;
    const unsigned char *hold;
    unsigned bit;
    bool plain;           /* every row has entries */
    bool whole;           /* the latest matrix was that of all of M and G, without D */
    double *g, *k, *d;    /* as they are factored, unless it was whole */
    unsigned char *moves; /* [m]: counted, with a free coordinate */
    const char *purpose;  /* begins the message for a singular matrix; may be replaced */
    taut_saddle *saddle;
    bool borrowed; /* `saddle` is another's */
} taut_masked_saddle;

/* hold[i] & bit: i is held. other: a matrix [M G^T; G -D] of all bonds to be used, which its owner
 * factors too; then nothing is ever held. NULL: its own. */
int taut_masked_saddle_create(taut_masked_saddle *saddle, taut_context *context, taut_arena *arena,
                              const unsigned char *hold, unsigned bit, taut_saddle *other,
                              taut_error *error);
/* The same with a matrix on the tangent pattern in place of M, M + sum mu_i Hess g_i + d(M w)/dq.
 */
int taut_masked_saddle_create_curved(taut_masked_saddle *saddle, taut_context *context,
                                     taut_arena *arena, const unsigned char *hold, unsigned bit,
                                     taut_error *error);
void taut_masked_saddle_destroy(taut_masked_saddle *saddle); /* half-made ones too */
/* counts[m]: bonds that count, NULL: all. ease > 0: rows may be met by least squares, D = ease
 * diag(G M^-1 G^T), M by its diagonal. A singular matrix is reported with names and the time t. */
int taut_masked_saddle_factor(taut_masked_saddle *saddle, double t, const double *mass,
                              const double *jacobian, const unsigned char *counts,
                              double relaxation, taut_error *error);
/* x[n] holds r, y[m] holds s; rows that do not move get y = 0. Never allocates. */
int taut_masked_saddle_solve(const taut_masked_saddle *saddle, double *x, double *y,
                             taut_error *error);

/* For a projection that moves everything (a filter): puts what is held back, and moves the rest,
 * orthogonally in M, so that the bonds have the lengths and rates that the projection gave them. */
typedef struct taut_hold_restorer taut_hold_restorer;
/* Keeps what is held of (q, v). *grip is NULL when nothing is held. TAUT_ERROR_SINGULAR, with
 * names, when the bonds are not free to be what they should be with so much held. */
int taut_hold_restorer_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                              const unsigned char *hold, double t, const double *q, const double *v,
                              taut_hold_restorer **restorer, taut_error *error);
void taut_hold_restorer_destroy(taut_hold_restorer *restorer);
/* grip may be NULL. Never allocates. */
int taut_hold_restorer_restore(taut_hold_restorer *restorer, double t, double *q, double *v,
                               taut_error *error);

#endif
