/* crooked.h - a crooked chain of stiff links under gravity, at rest: bends of up to 0.5 rad
 * between neighbours, springs off rest by up to 1e-3, from a fixed random sequence. For tests
 * and measurements of projections. */
#ifndef TAUT_TESTS_SUPPORT_CROOKED_H
#define TAUT_TESTS_SUPPORT_CROOKED_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <taut/taut.h>

/* Uniform in [-1, 1): the high bits of a linear congruential sequence [Knuth, The Art of
 * Computer Programming 2, 3.3.4, line 26]. */
static inline double crooked_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

/* p[2 links]: where the chain begins. */
static inline void crooked_place(taut_index links, double *p)
{
    uint64_t state = 1;
    double x = 0, y = 0, angle = 0;
    for (taut_index i = 0; i < links; i++) {
        angle += 0.5 * crooked_random(&state);
        double length = 1 + 1e-3 * crooked_random(&state);
        p[2 * i] = x += length * cos(angle);
        p[2 * i + 1] = y += length * sin(angle);
    }
}

/* The chain with start p[2 links], v[2 links]; NULL: the place above, at rest. */
static inline int crooked_chain(taut_index links, double omega, const double *p, const double *v,
                                taut_system **system, taut_error *error)
{
    static const double down[2] = {0, -1};
    size_t n = (size_t)links;
    taut_index *first = calloc(n, sizeof *first), *second = calloc(n, sizeof *second);
    double *anchor = calloc(2 * n, sizeof *anchor), *rest = calloc(n, sizeof *rest),
           *stiffness = calloc(n, sizeof *stiffness), *place = calloc(2 * n, sizeof *place),
           *mass = calloc(n, sizeof *mass);
    taut_builder *builder = NULL;
    int status =
        first && second && anchor && rest && stiffness && place && mass ? 0 : TAUT_ERROR_MEMORY;
    if (status == 0) {
        crooked_place(links, place);
        for (taut_index i = 0; i < links; i++) {
            first[i] = i;
            second[i] = i - 1; /* the first one to the origin */
            rest[i] = mass[i] = 1;
            stiffness[i] = omega * omega;
        }
        status = taut_builder_create(2, links, NULL, &builder, error);
    }
    if (status == 0) {
        (void)taut_builder_mass(builder, mass); /* what is wrong is remembered */
        (void)taut_builder_start(builder, p ? p : place, v);
        (void)taut_builder_gravity(builder, down);
        (void)taut_builder_distances(builder, "link", links, first, second, anchor, rest,
                                     stiffness);
        status = taut_builder_finish(builder, system, error);
        taut_builder_destroy(builder);
    }
    free(first);
    free(second);
    free(anchor);
    free(rest);
    free(stiffness);
    free(place);
    free(mass);
    return status;
}

#endif
