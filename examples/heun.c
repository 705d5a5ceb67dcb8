/* heun.c - Heun's method on any field,
 *
 *     x* = x + h f(t, x),   x+ = x + h/2 (f(t, x) + f(t + h, x*)),     estimate: x+ - x*
 *
 * x = (q, v) for second order, q alone for first order; order 2. [Hairer, Norsett, Wanner I,
 * II.1; the estimate is Euler's error]
 *
 * The example of docs/architecture.md: this file as src/step/heun.c and the row `row(taut_heun)`
 * in src/step/methods.c make it a method of Taut. It is built and run with the tests
 * (tests/test_new_method.c). */
#include "base/method.h"

typedef struct heun {
    bool fresh;    /* now.a belongs to now */
    double *q, *v; /* x*, [n] */
    double *rate;  /* f there, [n] */
} heun;

static int create(taut_stepper *s, taut_error *error)
{
    heun *w = s->work = TAUT_NEW(s->arena, heun, 1);
    if (!w)
        return taut_fail_memory(error);
    w->q = TAUT_NEW(s->arena, double, s->n);
    w->v = TAUT_NEW(s->arena, double, s->n);
    w->rate = TAUT_NEW(s->arena, double, s->n);
    return w->q && w->v && w->rate ? TAUT_OK : taut_fail_memory(error);
}

/* now.a and now.lambda: of the state the step arrived at. */
static int complete(taut_stepper *s, taut_error *error)
{
    heun *w = s->work;
    if (!w->fresh)
        TAUT_TRY(s->field->evaluate(s->field, s->now.t, s->now.q, s->now.v, s->now.a, s->now.lambda,
                                    error));
    w->fresh = true;
    return TAUT_OK;
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    heun *w = s->work;
    TAUT_TRY(complete(s, error));
    taut_state old = s->now, next = s->last;
    const double *slope = s->first_order ? old.a : old.v; /* q' */
    for (taut_index i = 0; i < s->n; i++) {
        w->q[i] = old.q[i] + h * slope[i];
        w->v[i] = s->first_order ? 0 : old.v[i] + h * old.a[i];
    }
    TAUT_TRY(s->field->evaluate(s->field, old.t + h, w->q, w->v, w->rate, NULL, error));
    for (taut_index i = 0; i < s->n; i++) {
        double dq = h / 2 * ((s->first_order ? w->rate[i] : w->v[i]) - slope[i]);
        double dv = s->first_order ? 0 : h / 2 * (w->rate[i] - old.a[i]);
        next.q[i] = w->q[i] + dq;
        if (!s->first_order)
            next.v[i] = w->v[i] + dv;
        s->error_q[i] = dq;
        s->error_v[i] = dv;
    }
    next.t = old.t + h;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    w->fresh = false;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    ((heun *)s->work)->fresh = false;
}

/* A step that is undone gives back the state in which a was known. */
static void rejected(taut_stepper *s)
{
    ((heun *)s->work)->fresh = true;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    heun *w = s->work;
    return s->m == 0 ? TAUT_OK : s->field->evaluate(s->field, t, q, v, w->rate, lambda, error);
}

extern const taut_method taut_heun; /* methods.c says it too */

const taut_method taut_heun = {
    .name = "heun",
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_FULL,
    .order = 2,
    .summary = "Heun's method: explicit, with Euler's error as its estimate",
    .reference = "Heun 1900; Hairer, Norsett, Wanner I, II.1",
    .needs = TAUT_CAN_FORCE,
    .uses_field = true,
    .error_order = 2,
    .create = create,
    .step = step,
    .changed = changed,
    .rejected = rejected,
    .complete = complete,
    .multipliers = multipliers,
};
