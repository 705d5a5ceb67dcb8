/* ab2.c - the second-order Adams-Bashforth method on any field, started with forward Euler:
 *
 *     y+ = y + h ((1 + r/2) f_n - r/2 f_{n-1}), r = h / h_previous
 *     [Hairer, Norsett, Wanner I, III.1 and III.5]
 *
 * The f are those of the points as they are kept, after stabilisation, as in Ascher, Qin, Reich
 * 1992, Example 4. One evaluation a step. */

#include "base/vectors.h"
#include "step/explicit.h"
#include "step/methods.h"

typedef struct adams {
    taut_runge_kutta euler;  /* only for dense output (cubic Hermite) and the rate at `now` */
    bool history;            /* the previous point is known */
    double h;                /* the step that led from there to `now` */
    double *rate, *velocity; /* f of the previous point: v' (first order: q'), and v */
} adams;

static int create(taut_stepper *s, taut_error *error)
{
    adams *w = TAUT_NEW(s->arena, adams, 1);
    s->work = w;
    TAUT_NEED(error, w);
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->rate, &w->velocity));
    return taut_runge_kutta_reserve(s, &w->euler, error);
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    adams *w = s->work;
    TAUT_TRY(taut_runge_kutta_complete(s, error));
    taut_state old = s->now, next = s->last;
    bool second = w->euler.second_order;
    double r = w->history ? h / w->h : 0, weight[2] = {1 + r / 2, -r / 2};
    double *rates[2] = {old.a, w->rate}, *velocities[2] = {old.v, w->velocity};
    taut_combine(s->n, 2, weight, second ? velocities : rates, h, old.q, next.q);
    if (second)
        taut_combine(s->n, 2, weight, rates, h, old.v, next.v);
    taut_copy(s->n, old.a, w->rate);
    if (second)
        taut_copy(s->n, old.v, w->velocity);
    w->history = true;
    w->h = w->euler.h = h;
    w->euler.fresh = w->euler.continuous = false;
    next.t = old.t + h;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    taut_runge_kutta_changed(s);
    ((adams *)s->work)->history = false;
}

static void archive(taut_stepper *s, taut_archive *to)
{
    adams *w = s->work;
    taut_runge_kutta_archive(s, to);
    taut_archive_flag(to, &w->history);
    taut_archive_real(to, &w->h);
    taut_archive_reals(to, w->rate, s->n);
    taut_archive_reals(to, w->velocity, s->n);
}

const taut_method taut_ab2 = {
    .name = "ab2",
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_SLOW | TAUT_MOTION_FULL,
    .order = 2,
    .summary = "Adams-Bashforth of order 2, started with Euler: one evaluation a step",
    .reference = "Bashforth, Adams 1883; Ascher, Qin, Reich 1992, Example 4",
    .needs = TAUT_CAN_FORCE,
    .refuses = TAUT_HAS_STEPPER,
    .data = &taut_tableau_euler,
    .uses_field = true,
    .create = create,
    .step = step,
    .changed = changed,
    .stabilized = taut_runge_kutta_changed,
    .complete = taut_runge_kutta_complete,
    .dense = taut_runge_kutta_dense,
    .multipliers = taut_runge_kutta_multipliers,
    .archive = archive};
