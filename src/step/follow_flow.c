/* follow_flow.c - direct integration of a black box: a step is one use of its flow over h.
 *
 *     z(t + h) = flow_h(z(t))
 *
 * Dense output is the flow itself over a part of the step. The flow is that of [stepper], of a C
 * function, or the model's own rates (blackbox/flows.h). */
#include <math.h>

#include "base/options.h"
#include "base/vectors.h"
#include "blackbox/flows.h"
#include "step/methods.h"

typedef struct follower {
    taut_flow *flow;
} follower;

static int create(taut_stepper *s, taut_error *error)
{
    follower *w = s->work = TAUT_NEW(s->arena, follower, 1);
    const char *description;
    TAUT_NEED(error, w);
    double horizon = taut_stepper_number(taut_context_system(s->context), "horizon"),
           step = taut_options_real(s->options, "inner-step");
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(s->context), &sizes);
    if (sizes.kind == TAUT_FIRST_ORDER && step > 0)
        return taut_flow_open(s->context, s->arena, s->statistics, step, &w->flow, &description,
                              error);
    return taut_flow_create(s->context, s->arena, s->statistics, horizon > 0 ? horizon : 1, 0,
                            &w->flow, &description, error);
}

static void destroy(taut_stepper *s)
{
    follower *w = s->work;
    if (w && w->flow)
        w->flow->destroy(w->flow);
    s->work = NULL;
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    follower *w = s->work;
    taut_state old = s->now, next = s->last;
    taut_copy(s->n, old.q, next.q);
    TAUT_TRY(w->flow->advance(w->flow, old.t, h, next.q, error));
    next.t = old.t + h;
    if (s->n > 0)
        next.a[0] = NAN;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

static int dense(taut_stepper *s, double theta, taut_state *state, taut_error *error)
{
    follower *w = s->work;
    double h = theta * (s->now.t - s->last.t);
    taut_statistics before = *s->statistics; /* output is not counted */
    if (theta == 1 || h == 0) {
        taut_copy(s->n, h == 0 ? s->last.q : s->now.q, state->q);
        return TAUT_OK;
    }
    taut_copy(s->n, s->last.q, state->q);
    int status = w->flow->advance(w->flow, s->last.t, h, state->q, error);
    *s->statistics = before;
    return status;
}

static void changed(taut_stepper *s)
{
    (void)s;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    (void)s, (void)t, (void)q, (void)v, (void)lambda, (void)error;
    return TAUT_OK;
}

static void archive(taut_stepper *s, taut_archive *a)
{
    follower *w = s->work;
    if (w->flow->archive)
        w->flow->archive(w->flow, a);
}

const taut_method taut_follow_flow = {
    .name = "flow",
    .motions = TAUT_MOTION_FULL,
    .order = 1,
    .summary = "black boxes, and rates by [stepper]: the flow itself, one use for each step",
    .reference = "Gear, Kaper, Kevrekidis, Zagaris 2005, section 4.1",
    .refuses = TAUT_HAS_ALGEBRAIC,
    .follows = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .changed = changed,
    .dense = dense,
    .multipliers = multipliers,
    .archive = archive,
};
