/* foot_point.h - the foot point of a state: its M-orthogonal projection onto the rigid bonds and
 * their velocities (foot_point.c). */
#ifndef TAUT_POINT_FOOT_POINT_H
#define TAUT_POINT_FOOT_POINT_H

#include "base/projector.h"

/* All fields may be zero. */
enum { TAUT_FOOT_ROOM = 5 }; /* vectors */

typedef struct taut_foot_point_settings {
    bool ignore_holds; /* hold and guess do not count */
    /* the matrix with the curvature of the bonds, which few foot points need, is made at the first
     * point that does: apply may allocate once */
    bool late;
    bool deferred; /* and nothing else is made before the first point */
    /* where nothing is held: a matrix [M G^T; G -D] of all bonds, looked at when the projector is
     * built, that its owner factors again whenever it is used and that lives as long; NULL: none */
    struct taut_saddle *const *saddle;
    double *room; /* [TAUT_FOOT_ROOM taut_apart(n)], used within calls only; NULL: its own */
    /* [n] of the bits of taut_system_hold, instead of those of [start]; NULL: those */
    const unsigned char *hold;
    /* [m], or NULL: bonds that may be off where all of their coordinates are held, because they
     * are springs */
    const unsigned char *springs;
    /* called with every point on the way, the first one included; what is not 0 ends the
     * projection, and is what it returns */
    int (*watch)(void *user, double t, const double *q, const double *v, taut_error *error);
    void *user;
} taut_foot_point_settings;

typedef struct taut_foot_kind taut_foot_kind;

/* A projector of this kind; settings may be NULL. (foot_projector.c) */
int taut_foot_create(const taut_foot_kind *kind, taut_context *context, taut_arena *arena,
                     taut_statistics *statistics, const taut_foot_point_settings *settings,
                     taut_projector **projector, taut_error *error);
/* A projector onto g = 0, G v + g_t = 0 for all bonds with compliance 0 of the context's system
 * (taut_system_rigid gives all but the soft ones that property). Memory comes from the arena,
 * which must outlive it; destroy frees the factorisations. apply() does not allocate, except to
 * name the bonds when G is singular, and with `late` or `deferred`. */
extern const taut_foot_kind taut_bond_foot;
/* From now on guesses move first, or are coordinates like others. True when there are any. */
bool taut_foot_point_guess(taut_projector *projector, bool first);

#endif
