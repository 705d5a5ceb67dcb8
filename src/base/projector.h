/* projector.h - what moves a state onto (or towards) a manifold after a step:
 * post-stabilisation, coordinate projection, slow points. Makers are in src/slow and src/wrap.
 * The caller of apply then calls method->changed(). */
#ifndef TAUT_BASE_PROJECTOR_H
#define TAUT_BASE_PROJECTOR_H

#include "base/archive.h"

typedef struct taut_projector {
    const char *name;
    /* alters q[n] and v[n] (first order: the state q[n] only). Never allocates. On failure the
     * state is as before. */
    int (*apply)(struct taut_projector *projector, double t, double *q, double *v,
                 taut_error *error);
    /* the same by a correction that is evaluated where the step began, at (t0, q0, v0); NULL: by
     * `apply`. States between steps are not moved then: `apply` is empty */
    int (*apply_from)(struct taut_projector *projector, double t0, const double *q0,
                      const double *v0, double *q, double *v, taut_error *error);
    void (*destroy)(struct taut_projector *projector);
    /* what later calls depend on; NULL: nothing */
    void (*archive)(struct taut_projector *projector, taut_archive *archive);
    const char *warning; /* a sentence about calls so far, for the user; NULL: none */
    /* [m]: multipliers at the state of the latest apply, where it finds them; NULL: none */
    const double *lambda;
    taut_statistics *statistics;
    void *self;
} taut_projector;

#endif
