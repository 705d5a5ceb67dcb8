/* averaging.c - the error of averaging: how far effective motion is from the full one.
 *
 * A second run with a smaller tolerance averages too and cannot show it. Full motion from the same
 * initial state can: its foot points [E (9)] are compared with effective motion at SAMPLES times,
 *
 *     over the whole interval, where that is affordable;
 *     else the larger of (i) five times the difference over the first fifth, and (ii) that of soft
 *     twins: both motions over the whole interval at omega/4 and omega/8, with the energies of the
 *     oscillations kept, e(omega) = e(omega/4) 4^-s with the slope s = log2(e(omega/8)/e(omega/4)),
 *     between 1 and 2.
 *
 * Differences grow with time, so that short bursts show too little. What is affordable is decided
 * by counts, as in second_look.c. Stiff potentials have no twins. The error stays unknown
 * otherwise, and where one of the runs fails.
 */
#include <math.h>

#include "base/options.h"
#include "base/vectors.h"
#include "drive/solver.h"
#include "slow/potential/potential_foot.h"
#include "step/methods.h"
#include "vibration/effective.h"

enum { SAMPLES = 20, STAGES = 12 };
static const double PART = 0.2;              /* of the interval */
static const double SOFTER[2] = {4, 8};      /* omega over that of the twins */
static const double TWINS = 1. / 4 + 1. / 8; /* their cost, of that of the full motion */

/* The initial state of a twin (taut_system, extra). */
typedef struct twin {
    double *q, *v;
} twin;

typedef struct averaging {
    taut_solver *solver; /* whose motion is effective */
    taut_arena arena;
    taut_system *rigid;
    taut_context *context; /* of it */
    taut_projector *foot;
    taut_statistics statistics;
    taut_index n;
    double *q, *v; /* [n] */
} averaging;

static int twin_start(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    const twin *from = context->system->extra;
    (void)t;
    (void)error;
    taut_copy(context->system->sizes.coordinates, from->q, q);
    taut_copy(context->system->sizes.coordinates, from->v, v);
    return TAUT_OK;
}

/* A solver of either motion until `end`. */
static int make(averaging *a, const taut_system *system, unsigned motion, double end,
                taut_solver **made, taut_error *error)
{
    taut_solver *solver = taut_solver_latest(a->solver);
    const taut_method *method = motion == TAUT_MOTION_FULL ? &taut_dop8 : solver->stepper.method;
    taut_options *options = NULL;
    TAUT_TRY(taut_options_create(&a->arena.allocator, &options, error));
    int status = TAUT_OK;
    if (motion != TAUT_MOTION_FULL)
        status = taut_options_merge(options, solver->call, error);
    if (status == 0)
        status = taut_options_set(options, "motion", taut_motion_name(motion), error);
    if (status == 0)
        status = taut_options_set(options, "method", method->name, error);
    if (status == 0)
        status = taut_options_set_real(options, "from", solver->from, error);
    if (status == 0)
        status = taut_options_set_real(options, "until", end, error);
    if (status == 0 && motion == TAUT_MOTION_FULL && solver->tolerant)
        status = taut_options_set_real(options, "rtol", fmax(solver->asked / 10, 1e-12), error);
    if (status == 0)
        status = taut_options_set(options, "verify", "never", error);
    if (status == 0)
        status = taut_solver_create(system, options, &a->arena.allocator, made, error);
    taut_options_destroy(options);
    return status;
}

/* The largest distance of both motions until `end`, over the largest coordinate. */
static int compare(averaging *a, const taut_system *system, double end, double *distance,
                   taut_error *error)
{
    taut_solver *both[2] = {NULL, NULL};
    double from = a->solver->from, most = 0, size = 0;
    int status = make(a, system, TAUT_MOTION_EFFECTIVE, end, &both[0], error);
    if (status == 0)
        status = make(a, system, TAUT_MOTION_FULL, end, &both[1], error);
    for (int k = 1; k <= SAMPLES && status == 0; k++) {
        double t = k == SAMPLES ? end : from + k * (end - from) / SAMPLES;
        for (int j = 0; j < 2 && status == 0; j++)
            status = taut_solver_advance(both[j], t, error);
        if (status != 0)
            break;
        const double *effective = taut_solver_position(both[0]);
        taut_copy(a->n, taut_solver_position(both[1]), a->q);
        taut_copy(a->n, taut_solver_velocity(both[1]), a->v);
        status = a->foot->apply(a->foot, t, a->q, a->v, error);
        most = taut_larger(most, taut_largest_difference(a->n, effective, a->q));
        size = taut_larger(size, taut_largest(a->n, effective));
    }
    taut_solver_destroy(both[0]);
    taut_solver_destroy(both[1]);
    *distance = status == 0 && size > 0 ? most / size : NAN;
    return status;
}

/* Both motions with frequencies that are `times` lower: stretches grow as much. */
static int compare_twins(averaging *a, double times, double end, double *distance,
                         taut_error *error)
{
    taut_system *softer = NULL;
    twin start;
    taut_solver *solver = a->solver;
    TAUT_TRY(TAUT_RESERVE(&a->arena, a->n, error, &start.q, &start.v));
    TAUT_TRY(taut_context_start(solver->monitor.context, solver->from, start.q, start.v, error));
    taut_copy(a->n, start.q, a->q);
    taut_copy(a->n, start.v, a->v);
    TAUT_TRY(a->foot->apply(a->foot, solver->from, a->q, a->v, error));
    for (taut_index i = 0; i < a->n; i++)
        start.q[i] = a->q[i] + times * (start.q[i] - a->q[i]);
    TAUT_TRY(taut_system_softer(solver->model, times * times, &softer, error));
    softer->start = twin_start;
    softer->extra = &start;
    int status = compare(a, softer, end, distance, error);
    taut_system_destroy(softer);
    return status;
}

static int estimate(averaging *a, double end, double cost, double whole, double most,
                    double *result, taut_error *error)
{
    const taut_solver *solver = a->solver;
    double fifth = NAN, twins[2] = {NAN, NAN}, extrapolated = NAN;
    if (cost <= whole)
        return compare(a, solver->model, end, result, error);
    TAUT_TRY(compare(a, solver->model, solver->from + PART * (end - solver->from), &fifth, error));
    *result = fifth / PART;
    bool softens = !(solver->model->sizes.can & TAUT_HAS_STIFF_POTENTIAL) &&
                   !solver->model->evaluate && !solver->model->start && solver->monitor.context;
    if (!(TWINS * cost <= most) || !softens)
        return TAUT_OK;
    taut_error reason;
    int status = TAUT_OK;
    for (int k = 0; k < 2 && status == 0; k++)
        status = compare_twins(a, SOFTER[k], end, &twins[k], &reason);
    if (status == 0)
        extrapolated = twins[0] * pow(SOFTER[0], -fmin(fmax(log2(twins[1] / twins[0]), 1), 2));
    *result = fmax(*result, extrapolated); /* NaN: the other one */
    return taut_fail_final(status, &reason, error);
}

static int prepare(averaging *a, taut_error *error)
{
    static const taut_foot_point_settings anywhere = {.ignore_holds = true};
    const taut_system *model = a->solver->model;
    TAUT_TRY(TAUT_RESERVE(&a->arena, a->n, error, &a->q, &a->v));
    if (model->sizes.can & TAUT_HAS_STIFF_POTENTIAL) { /* as its impulse methods show it */
        TAUT_TRY(taut_context_create(model, &a->arena.allocator, &a->context, error));
        return taut_foot_create(&taut_potential_foot, a->context, &a->arena, &a->statistics,
                                &anywhere, &a->foot, error);
    }
    TAUT_TRY(taut_system_rigid_in(model, &a->arena.allocator, &a->rigid, error));
    TAUT_TRY(taut_context_create(a->rigid, &a->arena.allocator, &a->context, error));
    return taut_effective_projector(a->context, &a->arena, &a->statistics, &a->foot, error);
}

int taut_averaging_measure(taut_solver *solver, double whole, double most, taut_error *error)
{
    averaging a = {.solver = solver, .n = solver->sizes.coordinates};
    taut_error reason = {.t = NAN};
    double end = taut_solver_latest(solver)->stepper.now.t;
    if (solver->motion != TAUT_MOTION_EFFECTIVE || solver->verify == TAUT_VERIFY_NEVER ||
        solver->own || end == solver->from)
        return TAUT_OK;
    int status = taut_motion_diagnose(solver, &reason);
    double length = fabs(solver->until - solver->from),
           cost = solver->diagnosis.full_cost * fabs(end - solver->from) / length +
                  STAGES * SAMPLES * taut_effective_cost(solver->context);
    if (status == 0 && !(PART * cost <= most))
        return TAUT_OK;
    taut_arena_init(&a.arena, &solver->arena.allocator);
    if (status == 0)
        status = prepare(&a, &reason);
    if (status == 0)
        status = estimate(&a, end, cost, whole, most, &solver->averaging_error, &reason);
    if (a.foot && a.foot->destroy)
        a.foot->destroy(a.foot);
    taut_context_destroy(a.context);
    taut_system_destroy(a.rigid);
    taut_arena_clear(&a.arena);
    return taut_fail_final(status, &reason, error);
}
