/* switch.c - between an explicit and an implicit method, as the system is stiff or not.
 *
 * dop8 -> radau5: the estimate of h rho, rho the largest rate of the system, comes from the method
 * itself: how much the rate changes between its last stage and the end of the step, which are close
 * to each other [Hairer, Wanner II, IV.2 (2.25)]. Where it stays at the limit of stability, it is
 * stability that determines the step size, not the tolerance. Steps that remain at this size are
 * compared with a hundred implicit ones, by taut_system_work and the size of their matrices.
 *
 * radau5 -> dop8: rho by a power iteration with differences of the rate, one a check, along the
 * run: x <- (f(z + e x) - f(z))/e, rho its growth. Where h rho is small, dop8 could make steps of
 * this size too.
 *
 * Only where Taut chose the method. The first switch makes the work of the implicit method: with
 * the first request of a pattern the only place where a run allocates. */
#include "drive/solver.h"

#include <limits.h>
#include <math.h>

#include "base/text.h"
#include "base/vectors.h"
#include "step/methods.h"

enum { BETWEEN = 8, CONFIRMED = 3, IMPLICIT_STEPS = 100, BEGINNING = 4, MOST_SWITCHES = 20 };
static const double EASY = 1.5; /* h rho that dop8 reaches by its accuracy */

int taut_switch_create(taut_solver *solver, taut_error *error)
{
    const taut_method *to = &taut_radau5;
    taut_stiff *stiff = &solver->stiff;
    taut_stepper *s = &solver->stepper;
    bool named = taut_options_given(solver->options, "method") || solver->own;
    /* implicit methods do not slide */
    stiff->watched = !named && !taut_run_space(solver) && solver->control.on &&
                     s->method->stiffness && !solver->guards.sliding &&
                     (to->motions & solver->motion) && !solver->derived && !solver->projective &&
                     !s->trial && taut_method_accepts(to, &solver->sizes, NULL) == 0;
    int64_t size = stiff->watched ? s->n : 0;
    return TAUT_RESERVE(&solver->arena, 2 * size, error, &stiff->x, &stiff->z, &stiff->f);
}

/* Do the steps that remain cost more than implicit ones would? */
static bool pays(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    double left = fabs(solver->until - s->now.t) / solver->step,
           work = taut_system_work(solver->system), factor = taut_cost_factor(s);
    return isfinite(left) && left * 12 * work > IMPLICIT_STEPS * (6 * work + 3 * factor);
}

/* Each method keeps its work, and forgets the steps of the other. */
static int change(taut_solver *solver, const taut_method *to, const char *why, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_stiff *stiff = &solver->stiff;
    void *work = stiff->other;
    TAUT_TRY(taut_complete(solver, error));
    stiff->other = s->work;
    stiff->resting = s->method;
    s->method = to;
    s->work = work;
    if (work)
        to->changed(s);
    else
        TAUT_TRY(to->create(s, error));
    stiff->at = s->now.t;
    stiff->found = 0;
    stiff->watched = ++stiff->switches < MOST_SWITCHES;
    solver->control.before = 0;
    if (stiff->switches <= 3)
        TAUT_APPEND(solver->explanation, "; method %s from t = %.6g, where %s (h = %.2g)", to->name,
                    s->now.t, why, solver->step);
    return TAUT_OK;
}

int taut_switch_for_good(taut_solver *solver, const char *why, taut_error *error)
{
    TAUT_TRY(change(solver, &taut_radau5, why, error));
    solver->stiff.watched = false;
    return TAUT_OK;
}

/* f[n or 2n] at z: rates; of second-order systems (v, v'). */
static int rate(taut_solver *solver, const double *z, double *f)
{
    taut_stepper *s = &solver->stepper;
    taut_field *field = s->field;
    taut_statistics before = *field->statistics;
    const double *v = s->first_order ? NULL : z + s->n;
    int status = field->evaluate(field, s->now.t, z, v, s->first_order ? f : f + s->n, NULL, NULL);
    *field->statistics = before;
    if (!s->first_order)
        taut_copy(s->n, v, f);
    return status;
}

static void take_state(const taut_stepper *s, double *z)
{
    taut_copy(s->n, s->now.q, z);
    if (!s->first_order)
        taut_copy(s->n, s->now.v, z + s->n);
}

/* One more power iteration; the latest estimate of rho, or INFINITY where there is none. Positions
 * are weighted with rho, so that an oscillation grows by omega in every iteration. */
static double iterate(taut_solver *solver)
{
    taut_stiff *stiff = &solver->stiff;
    taut_stepper *s = &solver->stepper;
    taut_index n = s->n, size = s->first_order ? n : 2 * n;
    double *x = stiff->x, *z = stiff->z, *f = stiff->f, weight = stiff->rho > 0 ? stiff->rho : 1;
    if (stiff->iterations++ == 0)
        for (taut_index i = 0; i < size; i++)
            x[i] = 1 + 0.37 * (double)(i % 7);
    double large = taut_largest(n, s->now.q), length = taut_norm(size, x);
    double e = 1e-7 * (large > 0 ? large : 1) / (length > 0 ? length : 1);
    take_state(s, z);
    if (rate(solver, z, f) != 0)
        return INFINITY;
    taut_add_scaled(size, e, x, z);
    for (taut_index i = 0; i < size; i++)
        x[i] = -f[i];
    if (rate(solver, z, f) != 0)
        return INFINITY;
    taut_add(size, f, x);
    double before = 0, after = 0;
    take_state(s, f); /* z - f is e times the old x */
    for (taut_index i = 0; i < size; i++) {
        double scale = i < n && !s->first_order ? weight : 1;
        before += scale * (z[i] - f[i]) * (scale * (z[i] - f[i]));
        after += scale * x[i] * (scale * x[i]);
    }
    stiff->rho = before > 0 ? sqrt(after / before) : 0;
    return stiff->iterations > BEGINNING ? stiff->rho : INFINITY;
}

static int watch_explicit(taut_solver *solver, taut_error *error)
{
    static const double FREE = 0.01; /* norm of a step that something else than stability limits */
    taut_stiff *stiff = &solver->stiff;
    taut_stepper *s = &solver->stepper;
    bool limited = s->method->stiffness(s) > s->method->stiff_limit;
    if (solver->level.field) /* its projection moves the end of a step, however short */
        limited = limited && solver->control.before > FREE;
    stiff->found = limited ? stiff->found + 1 : 0;
    if (stiff->found < CONFIRMED || !pays(solver))
        return TAUT_OK;
    stiff->iterations = 0;
    return change(solver, &taut_radau5, "stability and not the tolerance determined the step size",
                  error);
}

static int watch_implicit(taut_solver *solver, taut_error *error)
{
    taut_stiff *stiff = &solver->stiff;
    bool easy = iterate(solver) * solver->step < EASY;
    stiff->found = easy ? stiff->found + 1 : 0;
    if (stiff->found < CONFIRMED)
        return TAUT_OK;
    return change(solver, stiff->resting, "it is not stiff any more", error);
}

int taut_switch_step(taut_solver *solver, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    if (!solver->stiff.watched || s->statistics->steps % BETWEEN != 0)
        return TAUT_OK;
    return s->method->stiffness ? watch_explicit(solver, error) : watch_implicit(solver, error);
}

/* The method that a switch led to, as it was made: what it makes of the present state is read
 * afterwards. */
static int make_other(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    taut_stiff *stiff = &solver->stiff;
    stiff->other = s->work;
    stiff->resting = s->method;
    s->method = &taut_radau5;
    s->work = NULL;
    return s->method->create(s, NULL);
}

static void exchange(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    taut_stiff *stiff = &solver->stiff;
    const taut_method *method = s->method;
    void *work = s->work;
    s->method = stiff->resting;
    s->work = stiff->other;
    stiff->resting = method;
    stiff->other = work;
}

void taut_switch_archive(taut_solver *solver, taut_archive *a)
{
    taut_stepper *s = &solver->stepper;
    taut_stiff *stiff = &solver->stiff;
    bool both = stiff->other != NULL, away = stiff->switches % 2 != 0, could = stiff->watched;
    int64_t size = stiff->watched || both ? 2 * (int64_t)s->n : 0;
    taut_archive_flag(a, &both);
    taut_archive_flag(a, &away);
    if (a->reading && both && (!could || make_other(solver) != 0))
        taut_archive_fail(a, TAUT_ERROR_FILE, "its method cannot be made");
    if (a->status != TAUT_OK)
        return;
    if (a->reading && both && !away)
        exchange(solver);
    taut_archive_flag(a, &stiff->watched);
    taut_archive_integer(a, &stiff->found, 0, INT_MAX - 1);
    taut_archive_integer(a, &stiff->switches, 0, MOST_SWITCHES);
    taut_archive_integer(a, &stiff->iterations, 0, INT_MAX - 1);
    taut_archive_real(a, &stiff->at);
    taut_archive_real(a, &stiff->rho);
    taut_archive_reals(a, stiff->x, size);
    if (!could && stiff->watched && a->reading)
        taut_archive_fail(a, TAUT_ERROR_FILE, "its method cannot be made");
    s->method->archive(s, a);
    if (!both)
        return;
    exchange(solver);
    s->method->archive(s, a);
    exchange(solver);
}

void taut_switch_release(taut_solver *solver)
{
    taut_stepper *s = &solver->stepper;
    const taut_method *resting = solver->stiff.resting;
    if (!resting || !resting->destroy || !solver->stiff.other)
        return;
    s->work = solver->stiff.other;
    resting->destroy(s);
}
