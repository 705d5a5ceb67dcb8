/* fused.h - what a step of a small mechanical system needs, as one tape instead of one for each
 * statement and a saddle solver between them.
 *
 *     M x + G^T lambda = f,   G x = -r                      G, r of the rigid bonds
 *     x = v':  f all forces, r = gamma        (the index-1 form; without rigid bonds M x = f)
 *     x = dq:  f = 0, r = g - target          (towards the positions of rigid bonds)
 *     x = dv:  f = 0, r = gdot - target       (velocities along rigid bonds)
 *     drift:   g and gdot of the rigid bonds
 *     span:    s^2 of each and its derivative along the motion, s = distance of its row of G, of
 *              length 1, from the span of those before
 *     energy:  T, U, springs, stiff potential and the part of U that depends on time
 *     x[2 bonds]: y and y' of slow motion, C lambda^(k) for bonds without damping
 *
 * Accelerations of level k > 0 are those of the multipliers lambda^(k) of slow motion
 * (fused_slow.c). The statements of the model are repeated in one graph, so that they share
 * subexpressions; M = L D L^T and A = G M^-1 G^T = L' D' L'^T are factorised there too, operation
 * by operation, and what is known to be 0 or 1 disappears. What depends on parameters alone is
 * computed once. */
#ifndef TAUT_SYSTEM_FUSED_H
#define TAUT_SYSTEM_FUSED_H

#include "base/field.h"
#include "system/system.h"

enum { /* results of TAUT_FUSED_ENERGY */
       TAUT_FUSED_KINETIC,
       TAUT_FUSED_POTENTIAL,
       TAUT_FUSED_SPRINGS,
       TAUT_FUSED_STIFF,
       TAUT_FUSED_DRIVING,
       TAUT_FUSED_ENERGIES
};
/* Beyond that many bonds no tape would be short enough. */
enum { TAUT_FUSED_BONDS = 1000 };

typedef enum taut_fused_kind {
    TAUT_FUSED_ACCELERATION,
    TAUT_FUSED_POSITION,
    TAUT_FUSED_VELOCITY,
    TAUT_FUSED_DRIFT,
    TAUT_FUSED_SPAN,
    TAUT_FUSED_ENERGY,
    TAUT_FUSED_MANIFOLD,
    TAUT_FUSED_KINDS
} taut_fused_kind;
/* Levels that are compiled. */
enum { TAUT_FUSED_LEVELS = 2, TAUT_FUSED_FORMS = TAUT_FUSED_LEVELS * TAUT_FUSED_KINDS };

/* Constant: threads share it. */
typedef struct taut_fused {
    taut_fused_kind kind;
    int level;                  /* of slow motion; accelerations and manifolds */
    const unsigned char *rigid; /* [bonds] */
    taut_index rods;            /* how many are */
    taut_tape *once;            /* parameters, compliances, damping times -> known[] */
    taut_tape *each;            /* q, v, t, target[], known[] -> x, lambda, G; bound */
    int32_t known;              /* number of these */
    bool jacobian;              /* G of all bonds is among the results: there are springs */
} taut_fused;

/* A tape for one context. */
typedef struct taut_fused_work {
    const taut_fused *fused;
    taut_context *context;
    int64_t renewed; /* renewals of the context that known[] belongs to */
    double *known, *lambda, *target, *once, *each;
} taut_fused_work;

/* *fused: NULL when the system does not fit: it is large, is not made of statements, or has more
 * rigid bonds than 8. `rigid` stays the caller's and must outlive it. */
int taut_fused_create(const taut_system *system, taut_fused_kind kind, int level,
                      const unsigned char *rigid, taut_arena *arena, taut_fused **fused,
                      taut_error *error);
/* Those of the model as stated and of its rigid motion, to be compiled: system->fused. */
int taut_fused_prepare(taut_system *system, taut_error *error);
/* (machine_code.c) All expressions by a compiler of the system, with at most so many seconds for
 * it, before anything else uses the system; an error leaves it interpreted. */
int taut_system_native(taut_system *system, double seconds, taut_error *error);
/* Operations that would be compiled, of statements for one member. */
double taut_system_operations(const taut_system *system);
/* The compiled form where there is one for these rigid bonds, else one that is interpreted; *work
 * NULL: neither. */
int taut_fused_open(taut_context *context, taut_fused_kind kind, int level, taut_index rods,
                    const taut_index *rod, taut_arena *arena, taut_fused_work **work,
                    taut_error *error);
/* target[bonds] of positions or velocities, 0 before. */
void taut_fused_aim(taut_fused_work *work, const double *target);
/* taut_fused_run where something has changed, and by the interpreter. */
bool taut_fused_run_slowly(taut_fused_work *work, double t, const double *q, const double *v,
                           double *const *to);
/* x[n], x[2 * rigid bonds], x[2 * bonds] or energies; lambda[bonds] (of springs and rigid bonds)
 * and the entries of G (unless all bonds are rigid) may be NULL. False: a result is not finite, a
 * matrix is singular, or guards are held: to be computed, and explained, statement by statement. */
static inline bool taut_fused_run(taut_fused_work *work, double t, const double *q, const double *v,
                                  double *x, double *lambda, double *jacobian)
{
    const taut_context *context = work->context;
    const taut_bound_function *run = work->fused->each->native_bound;
    double *const to[] = {x, lambda ? lambda : work->lambda, jacobian};
    if (!run || work->renewed != context->renewals || context->kernel != context->system->kernel)
        return taut_fused_run_slowly(work, t, q, v, to);
    if ((*run)((const double *const[]){q, v, &t, work->known, work->target}, to, NULL) != 0)
        return false;
    work->context->statistics.force_evaluations++;
    return true;
}
/* Stages of an explicit method, as taut_field has them; -1 where guards are held. */
int taut_fused_stages(taut_fused_work *work, const taut_stages *stages, double *jacobian);
/* Steps likewise; *evaluations: their number. */
int64_t taut_fused_steps(taut_fused_work *work, taut_stages *stages, double begin, int64_t first,
                         int64_t last, double *jacobian, int64_t *evaluations);

#endif
