/* switch.c - from an explicit to an implicit method where the system turns out to be stiff.
 *
 * The estimate of h rho, rho the largest rate of the system, comes from the method itself: how much
 * the rate changes between its last stage and the end of the step, which are close to each other
 * [Hairer, Wanner II, IV.2 (2.25)]. Where it stays at the limit of stability, it is stability that
 * determines the step size, not the tolerance. Steps that remain at this size are compared with a
 * hundred implicit ones, by taut_system_work and the size of their matrices.
 *
 * Only where Taut chose the method. A switch makes the work of the new method: with the first
 * request of a pattern the only place where a run allocates. */
#include "drive/solver.h"

#include <math.h>

#include "base/text.h"
#include "step/methods.h"

enum { BETWEEN = 8, CONFIRMED = 3, IMPLICIT_STEPS = 100 };

void taut_switch_create(taut_solver *solver)
{
    const taut_method *to = &taut_radau5;
    bool named = taut_options_given(solver->options, "method") || solver->own;
    solver->stiff.watched = !named && solver->control.on && solver->stepper.method->stiffness &&
                            (to->motions & solver->motion) && !solver->derived &&
                            taut_method_accepts(to, &solver->sizes, NULL) == 0;
}

/* Do the steps that remain cost more than implicit ones would? */
static bool pays(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    double left = fabs(solver->until - s->now.t) / solver->step,
           work = taut_system_work(solver->system), factor = taut_cost_factor(s);
    return isfinite(left) && left * 12 * work > IMPLICIT_STEPS * (6 * work + 3 * factor);
}

static int change(taut_solver *solver, const taut_method *to, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    TAUT_TRY(taut_complete(solver, error));
    if (s->method->destroy)
        s->method->destroy(s);
    s->method = to;
    s->work = NULL;
    TAUT_TRY(to->create(s, error));
    solver->stiff.at = s->now.t;
    solver->control.before = 0;
    TAUT_APPEND(solver->explanation,
                "; method %s from t = %.6g, where stability and not the tolerance determined the "
                "step size (%.2g)",
                to->name, s->now.t, solver->step);
    return TAUT_OK;
}

int taut_switch_step(taut_solver *solver, taut_error *error)
{
    taut_stiff *stiff = &solver->stiff;
    taut_stepper *s = &solver->stepper;
    if (!stiff->watched || s->statistics->steps % BETWEEN != 0)
        return TAUT_OK;
    bool limited = s->method->stiffness(s) > s->method->stiff_limit;
    stiff->found = limited ? stiff->found + 1 : 0;
    if (stiff->found < CONFIRMED || !pays(solver))
        return TAUT_OK;
    stiff->watched = false;
    return change(solver, &taut_radau5, error);
}
