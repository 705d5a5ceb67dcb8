/* compile.c - whether a compiler pays for a run: option `compile` with value auto.
 *
 * The first steps of the run are made, and their cost in counted operations (cost.c) extended to
 * its end. About half of that is saved where expressions are compiled; a compiler takes as long as
 * 1.5e8 operations and 2.2e5 for each operation of the expressions, as measured for the shipped
 * models (within a factor of 1.5). No clock is read, and what the cache contains does not count, so
 * that every run with the same options decides alike. Families of many members run in vectors
 * without a compiler, and gain little (a chain of 1000 links: RATTLE 10 %, dop8 20 %; Verlet 40 %).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "drive/solver.h"
#include "system/fused_graph.h"

enum { STEPS = 64 };

/* What the run costs; 0: it ends within the first steps, or cannot begin, and says so itself. */
static double cost_of(taut_solver *solver)
{
    taut_error ignored;
    const taut_state *now = &solver->stepper.now;
    double from = now->t, limit = (double)solver->step_limit;
    solver->step_limit = STEPS;
    if (taut_run_once(solver, NULL, 0, NULL, NULL, &ignored) != TAUT_LIMIT)
        return 0;
    double parts = isfinite(solver->until) ? (solver->until - from) / (now->t - from) : INFINITY;
    return taut_cost_run(solver) * (limit > 0 ? fmin(parts, limit / STEPS) : parts);
}

/* A second look (second_look.c) is about twice the run itself. */
static int estimate(const taut_system *system, const taut_options *options, double *cost,
                    taut_error *error)
{
    taut_solver *solver;
    taut_error ignored;
    *cost = 0;
    int status = taut_solver_create(system, options, NULL, &solver, &ignored);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    if (status == 0)
        *cost =
            cost_of(solver) * (solver->tolerant && solver->verify != TAUT_VERIFY_NEVER ? 3 : 1);
    taut_solver_destroy(solver);
    return TAUT_OK;
}

static int say(taut_system *system, const char *text, taut_error *error)
{
    system->compiled = taut_arena_text(&system->arena, text, strlen(text));
    TAUT_NEED(error, system->compiled);
    return TAUT_OK;
}

int taut_system_compile(taut_system *system, const taut_options *options, bool *compiled,
                        taut_error *error)
{
    static const double SAVED = 0.5, BEGIN = 1.5e8, EACH = 2.2e5, NS = 1e-9, LEAST = 2;
    taut_error why;
    double cost;
    char text[400];
    taut_error_clear(error);
    TAUT_REQUIRE(system && compiled);
    *compiled = system->native != NULL;
    if (*compiled || system->kernels == 0)
        return TAUT_OK;
    if (system->sizes.coordinates > TAUT_FUSED_COORDINATES)
        return say(system, "not compiled: of large systems, little is gained", error);
    TAUT_TRY(estimate(system, options, &cost, error));
    if (!system->fused[0][0])
        TAUT_TRY(taut_fused_prepare(system, error));
    double price = BEGIN + EACH * taut_system_operations(system);
    int status = SAVED * cost > price ? taut_system_native(system, fmax(NS * cost, LEAST), &why)
                                      : TAUT_RETRY;
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    *compiled = status == 0;
    if (cost == 0)
        return say(system, "not compiled: the run is short", error);
    if (status < 0)
        snprintf(text, sizeof text, "not compiled: %.300s", why.message);
    else
        snprintf(text, sizeof text,
                 "%scompiled: about %.1g operations, where a compiler takes as long as %.1g",
                 status == 0 ? "" : "not ", cost, price);
    return say(system, text, error);
}
