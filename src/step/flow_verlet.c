/* flow_verlet.c - velocity Verlet (verlet.c) over a time H, forwards or backwards, without a
 * driver. Kick-drift-kick is symmetric, so that steps of -h undo steps of h: filters that use
 * both directions rely on it [A 5.2]. */
#include "step/flow_verlet.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "base/statistics.h"
#include "step/methods.h"

typedef struct verlet_flow {
    taut_flow flow;
    taut_stepper stepper;
    taut_statistics cost;
    taut_state anchor; /* the latest start that was new */
    bool now_good, anchor_good;
    double step;
} verlet_flow;

/* The same point up to the rounding of t: accelerations do not depend on v. */
static bool same(const taut_state *state, taut_index n, double t, const double *q)
{
    return fabs(state->t - t) <= 8 * DBL_EPSILON * fabs(t) &&
           memcmp(state->q, q, (size_t)n * sizeof(double)) == 0;
}

/* Puts the stepper at (t, state). Returns true when the acceleration there has to be evaluated. */
static bool place(verlet_flow *f, double t, const double *state)
{
    taut_stepper *s = &f->stepper;
    bool fresh = f->now_good && same(&s->now, s->n, t, state);
    if (!fresh && f->anchor_good && same(&f->anchor, s->n, t, state)) {
        taut_copy(s->n, f->anchor.a, s->now.a);
        taut_copy(s->m, f->anchor.lambda, s->now.lambda);
        fresh = true;
    }
    s->now.t = t;
    taut_copy(s->n, state, s->now.q);
    taut_copy(s->n, state + s->n, s->now.v);
    if (!fresh)
        s->method->changed(s);
    return !fresh;
}

static void remember(verlet_flow *f)
{
    const taut_stepper *s = &f->stepper;
    f->anchor.t = s->last.t;
    taut_copy(s->n, s->last.q, f->anchor.q);
    taut_copy(s->n, s->last.a, f->anchor.a);
    taut_copy(s->m, s->last.lambda, f->anchor.lambda);
    f->anchor_good = true;
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    verlet_flow *f = (verlet_flow *)flow;
    taut_stepper *s = &f->stepper;
    double steps = fmax(1, ceil(fabs(H) / f->step * (1 - 1e-12)));
    bool fresh = place(f, t, state);
    int status = TAUT_OK;
    f->cost = (taut_statistics){0};
    for (double k = 0; k < steps && status == 0; k++) {
        status = s->method->step(s, H / steps, error);
        if (status == 0 && k == 0 && fresh)
            remember(f);
    }
    flow->statistics->micro_steps += f->cost.steps;
    taut_statistics_add(flow->statistics, &f->cost);
    f->now_good = status == 0;
    if (status != 0)
        return status;
    taut_copy(s->n, s->now.q, state);
    taut_copy(s->n, s->now.v, state + s->n);
    return TAUT_OK;
}

static void destroy(taut_flow *flow)
{
    verlet_flow *f = (verlet_flow *)flow;
    if (f && f->stepper.method->destroy)
        f->stepper.method->destroy(&f->stepper);
}

static int new_state(taut_stepper *s, taut_state *state, taut_error *error)
{
    *state = (taut_state){.q = TAUT_NEW(s->arena, double, s->n),
                          .v = TAUT_NEW(s->arena, double, s->n),
                          .a = TAUT_NEW(s->arena, double, s->n),
                          .lambda = TAUT_NEW(s->arena, double, s->m)};
    return state->q && state->v && state->a && state->lambda ? TAUT_OK : taut_fail_memory(error);
}

static int build(verlet_flow *f, double t, const double *q, const double *v, taut_error *error)
{
    taut_stepper *s = &f->stepper;
    TAUT_TRY(new_state(s, &s->now, error));
    TAUT_TRY(new_state(s, &s->last, error));
    TAUT_TRY(new_state(s, &f->anchor, error));
    s->now.t = t;
    taut_copy(s->n, q, s->now.q);
    taut_copy(s->n, v, s->now.v);
    return s->method->create(s, error);
}

int taut_flow_verlet(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     double step, double t, const double *q, const double *v, taut_flow **flow,
                     taut_error *error)
{
    *flow = NULL;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    verlet_flow *f = TAUT_NEW(arena, verlet_flow, 1);
    if (!f)
        return taut_fail_memory(error);
    f->flow = (taut_flow){.name = "verlet",
                          .size = 2 * sizes.coordinates,
                          .backward = true,
                          .advance = advance,
                          .destroy = destroy,
                          .statistics = statistics};
    f->step = step;
    f->stepper = (taut_stepper){.method = &taut_verlet,
                                .context = context,
                                .statistics = &f->cost,
                                .arena = arena,
                                .n = sizes.coordinates,
                                .m = sizes.bonds};
    int status = build(f, t, q, v, error);
    statistics->factorisations += f->cost.factorisations;
    if (status != 0) {
        destroy(&f->flow);
        return status;
    }
    *flow = &f->flow;
    return TAUT_OK;
}
