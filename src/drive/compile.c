/* compile.c - whether a compiler pays for a run: option `compile` with value auto.
 *
 * The first steps of the run are made, and their cost in counted operations (cost.c) extended to
 * its end. About half of that is saved where expressions are compiled; a compiler takes as long as
 * 1.5e8 operations and 2.2e5 for each operation of the expressions, as measured for the shipped
 * models (within a factor of 1.5). No clock is read, and what the cache contains does not count, so
 * that every run with the same options decides alike.
 *
 * Large systems: families of many members run in vectors without a compiler, and what their
 * expressions take is a part of a step. Compiled, an operation of a member takes 0.15 ns less (a
 * chain of 1000 springs by Verlet: 9 operations, 3.4 ns and 2.1). Springs between two points, which
 * distance.c computes, gain nothing. Steps of large systems are not for nothing, so that fewer are
 * made, and only of a fixed size, whose number is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "drive/solver.h"
#include "system/fused_graph.h"
#include "system/kernel/family.h"

enum { STEPS = 64, FEW_STEPS = 16 };

/* What is expected of a compiled run, in operations. */
typedef struct expectation {
    double cost, saved; /* 0: it ends within the first steps, or cannot begin, and says so itself */
    bool unknown;       /* a large system with adaptive step size */
} expectation;

static bool is_large(const taut_system *system)
{
    return system->sizes.coordinates > TAUT_FUSED_COORDINATES;
}

/* Of the members of families, in one evaluation of forces and bonds. */
static double member_operations(const taut_system *system)
{
    double sum = 0;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const bool distances = kernel->family && kernel->family->is_distance;
        if (kernel->members > 1 && kernel->role != TAUT_ROLE_VALUE && !kernel->steady && !distances)
            sum += (double)kernel->members * kernel->tape->level_end[1];
    }
    return sum;
}

/* A second look (second_look.c) is about twice the run itself. */
static void expect(taut_solver *solver, expectation *to)
{
    static const double SHARE = 0.5, EACH = 0.15;
    taut_error ignored;
    const taut_state *now = &solver->stepper.now;
    const bool large = is_large(solver->system);
    const double from = now->t, limit = (double)solver->step_limit,
                 steps = large ? FEW_STEPS : STEPS;
    to->unknown = large && solver->control.on;
    if (to->unknown)
        return;
    solver->step_limit = (int64_t)steps;
    if (taut_run_once(solver, NULL, 0, NULL, NULL, &ignored) != TAUT_LIMIT)
        return;
    double parts = isfinite(solver->until) ? (solver->until - from) / (now->t - from) : INFINITY;
    if (limit > 0)
        parts = fmin(parts, limit / steps);
    if (solver->tolerant && solver->verify != TAUT_VERIFY_NEVER)
        parts *= 3;
    to->cost = parts * taut_cost_run(solver);
    to->saved =
        large ? EACH * parts * taut_cost_evaluations(solver) * member_operations(solver->system)
              : SHARE * to->cost;
}

static int estimate(const taut_system *system, const taut_options *options, expectation *to,
                    taut_error *error)
{
    taut_solver *solver;
    taut_error ignored;
    int status = taut_solver_create(system, options, NULL, &solver, &ignored);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    if (status == 0)
        expect(solver, to);
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
    static const double BEGIN = 1.5e8, EACH = 2.2e5, NS = 1e-9, LEAST = 2;
    taut_error why;
    expectation run = {0};
    char text[400];
    taut_error_clear(error);
    TAUT_REQUIRE(system && compiled);
    *compiled = system->native != NULL;
    if (*compiled || system->kernels == 0)
        return TAUT_OK;
    TAUT_TRY(estimate(system, options, &run, error));
    if (run.unknown)
        return say(system, "not compiled: with adaptive step size, large systems gain little",
                   error);
    if (!system->fused[0][0])
        TAUT_TRY(taut_fused_prepare(system, error));
    double price = BEGIN + EACH * taut_system_operations(system);
    int status = run.saved > price ? taut_system_native(system, fmax(NS * run.cost, LEAST), &why)
                                   : TAUT_RETRY;
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    *compiled = status == 0;
    if (run.cost == 0)
        return say(system, "not compiled: the run is short", error);
    if (status < 0)
        snprintf(text, sizeof text, "not compiled: %.300s", why.message);
    else
        snprintf(text, sizeof text,
                 "%scompiled: about %.2g of %.2g operations saved, where a compiler takes as long "
                 "as %.2g",
                 status == 0 ? "" : "not ", run.saved, run.cost, price);
    return say(system, text, error);
}
