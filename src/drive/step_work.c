/* step_work.c - the balance of a step where forces or damping do work: the change of the kinetic
 * energy against the work of all forces,
 *
 *     T(t1) - T(t0) = W + errors,    W = integral of v^T M v' = h sum_i b_i V_i^T M V_i'
 *
 * with the stages V_i, V_i' of the method, as if W' = v^T M v' were one more of its equations: no
 * evaluation, and the order of the method. M v' is the sum of all forces, those of potentials,
 * springs and bonds too, whose energies would stand on both sides. The method's embedded weights
 * give the error of W.
 *
 * Allowed is what the tolerance allows of T (ledger.c), and a multiple of that error. Over many
 * steps the unexplained changes may be a part of the kinetic energy and of the work done. For
 * constant diagonal M, and explicit methods: W of Radau methods exceeds the change of T by the
 * square of the highest coefficient of v, whatever the forces are, so that a comparison shows
 * nothing but their dissipation.
 *
 * In good runs of the shipped models the difference is up to 25 times tol times T, most below 3,
 * and in sum up to 5 times tol times the work done once 10 steps were made. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"

static const double QUADRATURE = 10; /* times the estimated error of W */
static const double DRIFT = 0.3;     /* of the kinetic energy, over many steps */
static const double LOST = 0.1;      /* times what a step may lose, of the work done */

static const double FAR = 10;     /* as in ledger.c */
static const double MANY = 1000;  /* steps of a run whose end is not known */
static const double LONGER = 1.5; /* steps that are longer than the one compared are compared */

void taut_step_work_create(taut_solver *solver)
{
    taut_step_work *w = &solver->ledger.step;
    w->mass = taut_context_mass(solver->context);
    w->on = solver->control.on && solver->ledger.known && !solver->conserves && w->mass &&
            solver->stepper.method->work;
    w->t = NAN;
}

static double kinetic(const taut_solver *solver, const double *v)
{
    return taut_power(solver->stepper.n, solver->ledger.step.mass, v, v) / 2;
}

/* |M v'| |q|, as the work of forces in ledger.c. */
static double work_scale(const taut_solver *solver, const taut_state *x)
{
    double sum = 0;
    for (taut_index i = 0; i < solver->stepper.n; i++)
        sum += solver->ledger.step.mass[i] * fabs(x->a[i]);
    return isfinite(sum) ? sum * taut_largest(solver->stepper.n, x->q) : 0;
}

/* The kinetic energy of velocities that are too small to count: from rest the scale of positions,
 * by which atol is chosen, over the time of the run. */
static double negligible(const taut_solver *solver, double h)
{
    const taut_stepper *s = &solver->stepper;
    double length = fabs(solver->until - solver->from), sum = 0,
           speed = s->atol / s->rtol / (isfinite(length) ? length : MANY * fabs(h));
    for (taut_index i = 0; i < s->n; i++)
        sum += solver->ledger.step.mass[i];
    return sum * speed * speed / 2;
}

static int reject(taut_solver *solver, double change, double work, double allowed,
                  taut_error *error)
{
    solver->ledger.rejected++;
    taut_fail(error, TAUT_ERROR_STEP,
              "the kinetic energy would change by %.9g where the work of all forces is %.9g and "
              "the tolerance allows a difference of %.2g, as at a singularity or where the state "
              "leaves the domain of the model",
              change, work, allowed);
    return TAUT_RETRY;
}

static int check_sum(taut_solver *solver, double share, double most, taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    double start = fmin(DRIFT, FAR * share); /* of the energies at the initial state */
    double t = solver->stepper.now.t, mean = w->integral / fmax(w->passed, DBL_MIN),
           limit = DRIFT * fmax(most, mean) + LOST * share * w->done + start * solver->energy_scale;
    if (fabs(w->unexplained) <= limit ||
        fabs(w->unexplained) <= DRIFT * negligible(solver, solver->step))
        return TAUT_OK;
    int code = taut_fail(error, TAUT_ERROR_STEP,
                         "the kinetic energy changed by %.6g more than the work of all forces by t "
                         "= %.9g (limit %.2g): the errors of several steps add up; use a smaller "
                         "rtol or another method",
                         w->unexplained, t, limit);
    if (error)
        error->t = t;
    return code;
}

int taut_step_work_check(taut_solver *solver, double share, taut_error *error)
{
    taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    if (!w->on || !s->method->work)
        return TAUT_OK;
    double h = s->now.t - s->last.t;
    if (w->calm > 0 && w->seen == s->statistics->rejected && fabs(h) <= LONGER * w->length) {
        w->calm--;
        return TAUT_OK;
    }
    double off_work, rounding,
        work = s->method->work(&solver->stepper, w->mass, &off_work, &rounding),
        before = w->t == s->last.t ? w->kinetic : kinetic(solver, s->last.v),
        after = kinetic(solver, s->now.v), most = fmax(before, after), off = after - before - work,
        allowed = share * most;
    if (!(fabs(off) <= allowed)) { /* an estimate beyond the tolerance does not excuse a step */
        allowed += share * fmax(work_scale(solver, &s->last), work_scale(solver, &s->now));
        allowed += share * negligible(solver, h);
        allowed += fmin(QUADRATURE * off_work, allowed) + rounding;
    }
    if (!(fabs(off) <= allowed))
        return reject(solver, after - before, work, allowed, error);
    w->calm = fabs(off) <= 0.01 * allowed ? 2 : 0;
    w->seen = s->statistics->rejected;
    w->t = s->now.t;
    w->kinetic = after;
    w->length = fabs(h);
    w->passed += fabs(h);
    w->integral += fabs(h) * (before + after) / 2;
    w->done += fabs(work);
    w->unexplained += off;
    return check_sum(solver, share, most, error);
}

void taut_step_work_begin(taut_solver *solver)
{
    taut_step_work *w = &solver->ledger.step;
    *w = (taut_step_work){.mass = w->mass, .on = w->on, .t = NAN};
}
