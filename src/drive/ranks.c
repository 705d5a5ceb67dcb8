/* ranks.c - a run over several ranks (base/space.h): what it cannot do is refused before any rank
 * waits for another, and decisions are made from numbers of all ranks.
 *
 * Every rank runs the loop of a single process on its part of the system (system/rank_part.h). They
 * meet where a field is evaluated (step/mechanics.h, linalg/parted.c), where a norm decides, and
 * where a row is written. Ghosts are carried along: rates of ghosts are those of their owners. */
#include "drive/solver.h"

#include <string.h>

#include "base/loops.h"
#include "base/options.h"
#include "system/rank_part.h"

const taut_halo *taut_run_halo(const taut_solver *solver)
{
    const taut_part *part = solver->model->part;
    return part ? &part->coordinates : NULL;
}

taut_space *taut_run_space(const taut_solver *solver)
{
    return solver->model->part ? solver->model->part->space : NULL;
}

double taut_run_largest(const taut_solver *solver, int64_t n, const double *x)
{
    return taut_space_largest(taut_run_space(solver),
                              taut_loop_largest(solver->stepper.pool, n, x));
}

static int refuse_options(const taut_options *options, taut_error *error)
{
    static const char *const names[] = {"project", "hold", "raw"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (taut_options_given(options, names[k]))
            return taut_fail_option(error, TAUT_ERROR_REFUSED, names[k],
                                    "this option is not supported in a run over several ranks: "
                                    "omit it, or run without mpiexec");
    return TAUT_OK;
}

/* Stabilisations that are exact Newton steps with one matrix. */
static int refuse_stabilization(const taut_options *options, taut_error *error)
{
    static const char *const kinds[] = {
        "", "none", "post", "project", "post-velocity", "post-position", "baumgarte"};
    static const struct {
        const char *name, *value;
    } others[] = {{"stabilize-direction", "auto"}, {"stabilize-solver", "factor"}};
    const char *kind = taut_options_text(options, "stabilize");
    bool known = false;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        known = known || strcmp(kind, kinds[k]) == 0;
    if (taut_options_given(options, "stabilize") && !known)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "over several ranks it is none, post, project, post-velocity, "
                                "post-position or baumgarte");
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (taut_options_given(options, others[k].name) &&
            strcmp(taut_options_text(options, others[k].name), others[k].value) != 0)
            return taut_fail_option(error, TAUT_ERROR_REFUSED, others[k].name,
                                    "over several ranks it is %s", others[k].value);
    return TAUT_OK;
}

int taut_ranks_refuse_options(const taut_solver *solver, taut_error *error)
{
    if (!taut_run_space(solver))
        return TAUT_OK;
    if (!taut_options_text(solver->options, "motion")[0])
        return taut_fail_option(
            error, TAUT_ERROR_USAGE, "motion",
            "the motion is not chosen over several ranks, which do not diagnose the "
            "initial state: give rigid, slow or full");
    TAUT_TRY(refuse_options(solver->options, error));
    return refuse_stabilization(solver->options, error);
}

int taut_ranks_refuse_method(const taut_solver *solver, taut_error *error)
{
    const taut_method *method = solver->stepper.method;
    if (!taut_run_space(solver))
        return TAUT_OK;
    if (solver->motion == TAUT_MOTION_EFFECTIVE)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "motion %s is not supported in a run over several ranks, which has "
                         "rigid, slow and full; run without mpiexec",
                         taut_motion_name(solver->motion));
    if (!method->spans_ranks)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "method %s is not supported in a run over several ranks, which has dop8 and "
            "other explicit Runge-Kutta methods, radau5 and other Radau methods, rattle and "
            "verlet; run without mpiexec%s%s%s",
            method->name, solver->why[0] ? " (" : "", solver->why, solver->why[0] ? ")" : "");
    if (solver->motion == TAUT_MOTION_SLOW && !method->uses_field)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "slow motion over several ranks is computed by explicit Runge-Kutta "
                         "methods, not by %s; run without mpiexec%s%s%s",
                         method->name, solver->why[0] ? " (" : "", solver->why,
                         solver->why[0] ? ")" : "");
    if (solver->motion == TAUT_MOTION_FULL && solver->control.on)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "step",
                                "full motion over several ranks needs a fixed step size");
    return TAUT_OK;
}

/* Rigid bonds, and in slow motion stiff ones: accelerations need a matrix. */
static bool has_rows(const taut_solver *solver)
{
    const taut_context *context = solver->context;
    const double *compliance = taut_context_compliance(context);
    bool some = false;
    for (taut_index i = 0; i < solver->sizes.bonds && !some; i++)
        some = compliance[i] == 0 ||
               (solver->motion == TAUT_MOTION_SLOW && !taut_context_soft(context, i));
    return some;
}

int taut_ranks_refuse_parts(const taut_solver *solver, taut_error *error)
{
    taut_space *space = taut_run_space(solver);
    if (!space)
        return TAUT_OK;
    const bool none = !has_rows(solver);
    const bool without = taut_space_largest(space, none) > 0,
               with = taut_space_largest(space, !none) > 0;
    return without && with
               ? taut_fail(error, TAUT_ERROR_REFUSED,
                           "over %d ranks some would have %s bonds and others none; use fewer "
                           "ranks, or run without mpiexec",
                           taut_space_ranks(space),
                           solver->motion == TAUT_MOTION_SLOW ? "stiff or rigid" : "rigid")
               : TAUT_OK;
}
