/* anchors.h - the hanging chain written by hand: N unit masses, links of length 1, the first at the
 * origin, gravity 1 along -y, at rest in the horizontal initially.
 *
 * What general code is compared with, so it is as fast as it can be without another algorithm:
 * arrays for each component, link vectors instead of positions where that saves differences, and
 * compiled for AVX2 with fused operations (CMakeLists.txt). One chain at a time. */
#ifndef TAUT_BENCH_ANCHORS_H
#define TAUT_BENCH_ANCHORS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct anchor {
    bool (*create)(int links);
    void (*advance)(int64_t steps, double h);
    void (*position)(double *q); /* x, y alternating */
    void (*destroy)(void);       /* accepts what `create` left when it failed */
} anchor;

extern double anchor_stiffness; /* of the springs, 1e6 unless set */
/* Verlet with springs; RATTLE and DOP853 (index 1, fixed step size,
 * no estimates, no stabilisation) with rigid links. */
extern const anchor anchor_verlet, anchor_rattle, anchor_dop8;

#endif
