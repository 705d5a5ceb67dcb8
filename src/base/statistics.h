/* statistics.h - what parts of a computation cost together. */
#ifndef TAUT_BASE_STATISTICS_H
#define TAUT_BASE_STATISTICS_H

#include <taut/taut.h>

/* sum += more, except steps and rejected steps: these are the run's own. */
static inline void taut_statistics_add(taut_statistics *sum, const taut_statistics *more)
{
    sum->force_evaluations += more->force_evaluations;
    sum->fast_force_evaluations += more->fast_force_evaluations;
    sum->jets += more->jets;
    sum->jacobians += more->jacobians;
    sum->factorisations += more->factorisations;
    sum->solves += more->solves;
    sum->newton_iterations += more->newton_iterations;
    sum->micro_steps += more->micro_steps;
    sum->stabilizer_factorisations += more->stabilizer_factorisations;
    sum->stabilizer_solves += more->stabilizer_solves;
    sum->stabilizer_evaluations += more->stabilizer_evaluations;
    sum->restarts += more->restarts;
    sum->projections += more->projections;
}

#endif
