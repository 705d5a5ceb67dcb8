/* guard_slide.c - dry friction and other sign(u) whose fields point at u = 0 from both sides: the
 * motion stays on the surface, with a number s in [-1, 1] instead of the sign (wrap/sliding.c), and
 * leaves it when |s| reaches 1. Of several surfaces at once, which are left and on which side is
 * found by trying: a surface whose s is too large is left on that side, and one on which the field
 * points back is stayed on (a small complementarity problem). */
#include "drive/guard_watch.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"

static bool can_slide(const taut_guard *guard)
{
    return guard->op == TAUT_OP_SIGN && guard->of_state;
}

int taut_slide_create(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_stepper *s = &solver->stepper;
    bool some = false;
    for (int32_t f = 0; f < w->families; f++)
        some = some || can_slide(w->family[f].guard);
    if (!some || !s->field || !s->method->uses_field)
        return TAUT_OK;
    TAUT_NEED(error, w->sliding = TAUT_NEW(&solver->arena, taut_sliding, 1));
    return taut_sliding_create(w->sliding, s->field, s->context, &solver->arena, error);
}

void taut_slide_set(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    taut_sliding *sliding = w->sliding;
    if (!sliding)
        return;
    int count = 0;
    bool same = true;
    for (int32_t f = 0; f < w->families; f++)
        for (int64_t k = w->family[f].first;
             can_slide(w->family[f].guard) && k < w->family[f].first + w->family[f].members; k++)
            if (w->slides[k] && count < TAUT_SLIDING_MOST) {
                same = same && count < sliding->count && sliding->guard[count] == k;
                sliding->guard[count++] = k;
            }
    sliding->known = sliding->known && same && count == sliding->count;
    sliding->count = count;
    solver->stepper.field = count > 0 ? &sliding->field : sliding->inner;
}

static int refuse(const taut_solver *solver, int64_t k, const char *what, taut_error *error)
{
    const char *place = solver->guards.family[taut_guard_family_of(&solver->guards, k)].place;
    int code =
        taut_fail(error, TAUT_ERROR_REFUSED,
                  "%s%sthe motion stays where the argument u of a sign is 0 (it sticks) from "
                  "t = %.9g on, %s; tanh(u/vs) with a small velocity vs instead of sign(u) "
                  "may help",
                  place ? place : "", place ? ": " : "", solver->stepper.now.t, what);
    if (error)
        error->t = solver->stepper.now.t;
    return code;
}

/* One round: corrects branches that contradict the field a. *k: the latest; -1: none. */
static void correct(taut_solver *solver, const taut_state *x, double way, const double *a, bool one,
                    int64_t *last)
{
    static const double ROUNDING = 1e-9;
    taut_guard_watch *w = &solver->guards;
    *last = -1;
    taut_hold_values(solver->context, x->t, x->q, taut_state_v(x), a, false, w->trial,
                     w->trial_slope);
    for (int64_t k = 0; k < w->count && !(one && *last >= 0); k++) {
        if (w->slides[k] && fabs(w->branch[k]) > 1 + ROUNDING) {
            w->slides[k] = 0;
            w->branch[k] = w->branch[k] > 0 ? 1 : -1;
            w->at[k] = -w->branch[k] * 2 * fabs(w->trial[k]);
            w->touched[k] = 1;
            *last = k;
        } else if (!w->slides[k] && w->touched[k] && w->branch[k] * way * w->trial_slope[k] < 0) {
            w->slides[k] = 1;
            w->branch[k] = 0;
            *last = k;
        }
    }
}

int taut_slide_resolve(taut_solver *solver, const taut_state *x, double way, double *a,
                       taut_error *error)
{
    enum { ROUNDS = 40, TOGETHER = 5 };
    taut_guard_watch *w = &solver->guards;
    int64_t last = -1;
    for (int round = 0; round < ROUNDS; round++) {
        taut_slide_set(solver);
        int status = taut_guard_rates(solver, x, a, error);
        if (status > 0 && w->sliding && w->sliding->count > 0)
            return refuse(
                solver, w->sliding->guard[0],
                "and no force keeps it there (several surfaces may depend on one another)", error);
        TAUT_TRY(status);
        correct(solver, x, way, a, round >= TOGETHER, &last);
        if (last < 0)
            return TAUT_OK;
        int64_t count = 0;
        for (int64_t k = 0; k < w->count; k++)
            count += w->slides[k];
        if (count > 0 && !w->sliding)
            return refuse(solver, last, "which this method does not support; dop8 and dopri5 do",
                          error);
        if (count > TAUT_SLIDING_MOST)
            return refuse(solver, last, "in more places than are supported at once", error);
    }
    return refuse(solver, last, "or does not: no choice of forces is consistent", error);
}

int taut_slide_begin(taut_solver *solver, double way, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    const taut_state *now = &solver->stepper.now;
    bool some = false;
    memset(w->touched, 0, (size_t)w->count);
    for (int32_t f = 0; f < w->families; f++)
        for (int64_t k = w->family[f].first;
             can_slide(w->family[f].guard) && k < w->family[f].first + w->family[f].members; k++)
            if (w->trial[k] == 0 && !w->slides[k])
                w->touched[k] = some = true;
    return some ? taut_unevaluated(taut_slide_resolve(solver, now, way, w->a, error), now->t, error)
                : TAUT_OK;
}
