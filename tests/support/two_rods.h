/* two_rods.h - the double pendulum without gravity as C functions: four coordinates, two bonds
 * of length 1. */
#ifndef TAUT_TESTS_SUPPORT_TWO_RODS_H
#define TAUT_TESTS_SUPPORT_TWO_RODS_H

#include <math.h>
#include <string.h>

#include <taut/taut.h>

static inline int no_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    memset(f, 0, 4 * sizeof(double));
    return 0;
}

static inline int two_rods(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    g[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
    return 0;
}

/* For taut_system_from_callbacks; two compliances, positions and velocities of two points. */
static inline taut_callbacks two_rods_calls(const double *c, const double *q, const double *v)
{
    return (taut_callbacks){.size = sizeof(taut_callbacks),
                            .coordinates = 4,
                            .bonds = 2,
                            .compliance = c,
                            .start_q = q,
                            .start_v = v,
                            .force = no_force,
                            .bond = two_rods};
}

#endif
