/* radau.h - for tests of Radau IIA: a run to a time, and the pendulum whose end is known. */
#ifndef TAUT_TESTS_SUPPORT_RADAU_H
#define TAUT_TESTS_SUPPORT_RADAU_H

#include "support/run.h"

/* Runs to `until`; q, v (and lambda, unless NULL) of the end. Fails a row and gives NaN when it
 * cannot. */
static inline taut_statistics run(const char *what, const char *model, const char *options,
                                  double until, double *q, double *v, double *lambda)
{
    taut_result result = {.size = sizeof result};
    taut_sizes sizes = {.size = sizeof sizes};
    char all[400];
    snprintf(all, sizeof all, "%s until=%.17g", options, until);
    driven d = driven_create(model, all, NULL);
    for (int i = 0; i < KEPT_WIDTH; i++)
        q[i] = v[i] = NAN;
    if (driven_good(what, &d)) {
        taut_system_sizes_get(d.system, &sizes, NULL);
        int code = taut_solver_advance(d.solver, until, &d.error);
        if (check_row(code == 0, "%s (%s): %s", what, all, d.error.message)) {
            keep(q, taut_solver_position(d.solver), sizes.coordinates);
            keep(v, taut_solver_velocity(d.solver), sizes.coordinates);
            if (lambda)
                keep(lambda, taut_solver_multipliers(d.solver), sizes.bonds);
        }
        taut_solver_result_get(d.solver, &result, NULL);
    }
    driven_destroy(&d);
    return result.statistics;
}

/* The spring pendulum on its slow manifold and where it is at t = 1 [B (1.1); docs/sources.md, B].
 */
__attribute__((unused)) static const char pendulum[] =
    "[parameters]\neps = %g\n[coordinates]\ny1, y2\n[potential]\ny2\n"
    "[bonds]\nspring = sqrt(y1^2 + y2^2) - 1 compliance eps^2\n"
    "[start]\ny1 = 1 - 3*eps^4 - 54*eps^8\n";
__attribute__((unused)) static const double rigid_end[4] = {
    .87954813241188915462, -.47580992294272079709, -.46415735885099401163, -.85800803732244324777};
__attribute__((unused)) static const double stiff_end[4] = {
    .87954814780693139261, -.47580992448454775102, -.46415732687265482858, -.85800804454502104540};
__attribute__((unused)) static const double rigid_tension = 1.427429768828162;

#endif
