/* cost.c - what a run costs, in units of taut_system_work: from counts and sizes, so that every
 * machine decides alike. */
#include <math.h>

#include "drive/solver.h"
#include "slow/slow_field.h"
#include "vibration/effective.h"

enum { LARGE = 100 }; /* variables */

/* Of implicit methods, before they are made. Matrices of small systems are dense, those of large
 * ones sparse. */
double taut_cost_factor(const taut_stepper *s)
{
    double size = (double)s->n + s->m;
    return size <= LARGE ? size * size * size : 600 * size;
}

/* Fitted to radau5 for chains of 10^4 to 10^6 links and nets of 40^2 to 100^2 nodes. */
double taut_system_memory_method(const taut_system *system, const char *method)
{
    static const double PROGRAM = 1.6e7, IMPLICIT = 2.0;
    const taut_method *row = method ? taut_method_find(method) : NULL;
    const bool implicit = row && row->first_order && !row->uses_field && !row->follows;
    return implicit && system ? PROGRAM + IMPLICIT * (taut_system_footprint(system, true) - PROGRAM)
                              : taut_system_memory(system);
}

/* Jets of large families are batched. */
double taut_cost_evaluations(const taut_solver *solver)
{
    const taut_statistics *did = &solver->statistics;
    const double jets = solver->stepper.n + solver->stepper.m > LARGE ? 2 : 10;
    return (double)did->force_evaluations + (double)did->fast_force_evaluations +
           3 * (double)did->jacobians + jets * (double)did->jets;
}

/* A unit takes about a nanosecond. A step of an implicit method has a price of its own, which only
 * the smallest systems notice. */
double taut_cost_run(const taut_solver *solver)
{
    const double UNITS = 1e9, IMPLICIT = 500;
    const taut_stepper *s = &solver->stepper;
    const taut_statistics *did = &solver->statistics;
    const bool implicit = s->method->error_order > 0 && !s->method->uses_field;
    const double own = s->method->uses_field && s->field ? s->field->factor : s->factor,
                 factor = own > 0 ? UNITS * own : taut_cost_factor(s);
    return taut_cost_evaluations(solver) * taut_system_work(solver->system) +
           (double)did->force_evaluations * taut_effective_cost(solver->context) +
           (double)did->factorisations * factor +
           (implicit ? IMPLICIT * (double)(did->steps + did->rejected) : 0);
}

/* Evaluations of the rigid motion that one of level k costs, with its share of the projection and
 * of looks at corrections, as measured for butane (within a factor of 1.5) and for chains of 100 to
 * 1000 links, whose jets are batched. Those of
 * small systems are tapes, up to level 2: in units in which radau5 costs what is below, as measured
 * for the double pendulum. */
double taut_cost_slow_field(const taut_solver *solver, int level)
{
    enum { STAGES = 13 };
    static const double each[3][5] = {
        {1.5, 5, 12, 25, 45}, {1.2, 3.2, 7.5, 14, 24}, {0.5, 1.6, 6.5, 34, 60}};
    const bool small = solver->level.field && taut_slow_field_is_small(solver->level.field),
               large = solver->stepper.n + solver->stepper.m > LARGE;
    const double *of = each[small ? 2 : large ? 1 : 0];
    return STAGES * of[level < 4 ? level : 4] * taut_system_work(solver->system);
}

/* radau5 needs 2.8, 4.8 and 10 of its steps for one of dop8 at rtol 1e-4, 1e-6 and 1e-8. Factors
 * of narrow matrices cost less than taut_cost_factor allows for. */
double taut_cost_slow_implicit(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    double size = (double)s->n + s->m, factor = fmin(taut_cost_factor(s), fmax(100 * size, 1e4)),
           steps = 4.8 * pow(1e-6 / s->rtol, 0.14);
    return steps * (6 * taut_system_work(solver->system) + 3 * factor);
}
