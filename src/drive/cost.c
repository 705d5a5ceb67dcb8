/* cost.c - what a run costs, in units of taut_system_work: from counts and sizes, so that every
 * machine decides alike. */
#include <math.h>

#include "drive/solver.h"

/* Matrices of small systems are dense, those of large ones sparse. */
double taut_cost_factor(const taut_stepper *s)
{
    double size = (double)s->n + s->m;
    return size <= 100 ? size * size * size : 600 * size;
}

double taut_cost_run(const taut_solver *solver)
{
    const taut_statistics *did = &solver->statistics;
    double evaluations = (double)did->force_evaluations + (double)did->fast_force_evaluations +
                         3 * (double)did->jacobians + 10 * (double)did->jets,
           matrices = (double)did->factorisations;
    return evaluations * taut_system_work(solver->system) +
           matrices * taut_cost_factor(&solver->stepper);
}
