/* flow_verlet.c - velocity Verlet (verlet.c) over a time H, forwards or backwards, without a
 * driver. Kick-drift-kick is symmetric, so that steps of -h undo steps of h: filters that use
 * both directions rely on it [A 5.2]. */
#include "step/flow_verlet.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "step/flow_steps.h"
#include "step/methods.h"

typedef struct verlet_flow {
    taut_steps_flow base;
    taut_state anchor; /* the latest beginning that was new */
    bool now_good, anchor_good;
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
    taut_stepper *s = &f->base.stepper;
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
    const taut_stepper *s = &f->base.stepper;
    f->anchor.t = s->last.t;
    taut_copy(s->n, s->last.q, f->anchor.q);
    taut_copy(s->n, s->last.a, f->anchor.a);
    taut_copy(s->m, s->last.lambda, f->anchor.lambda);
    f->anchor_good = true;
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    verlet_flow *f = (verlet_flow *)flow;
    taut_stepper *s = &f->base.stepper;
    double count = taut_steps_count(&f->base, H), h = H / count;
    bool fresh = place(f, t, state);
    int status = taut_steps_take(&f->base, 1, h, error);
    if (status == 0 && fresh)
        remember(f);
    if (status == 0)
        status = taut_steps_take(&f->base, count - 1, h, error);
    f->now_good = status == 0;
    if (status != 0)
        return status;
    taut_copy(s->n, s->now.q, state);
    taut_copy(s->n, s->now.v, state + s->n);
    return TAUT_OK;
}

static int build(verlet_flow *f, double t, const double *q, const double *v, taut_error *error)
{
    taut_stepper *s = &f->base.stepper;
    TAUT_TRY(taut_state_create(s, &s->now, error));
    TAUT_TRY(taut_state_create(s, &s->last, error));
    TAUT_TRY(taut_state_create(s, &f->anchor, error));
    s->now.t = t;
    taut_copy(s->n, q, s->now.q);
    taut_copy(s->n, v, s->now.v);
    int status = s->method->create(s, error);
    f->base.flow.statistics->factorisations += f->base.cost.factorisations;
    return status;
}

int taut_flow_verlet(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     double step, double t, const double *q, const double *v, taut_flow **flow,
                     taut_error *error)
{
    *flow = NULL;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    verlet_flow *f = TAUT_NEW(arena, verlet_flow, 1);
    TAUT_NEED(error, f);
    f->base = (taut_steps_flow){.flow = {.name = "verlet",
                                         .size = 2 * sizes.coordinates,
                                         .advance = advance,
                                         .destroy = taut_steps_destroy,
                                         .statistics = statistics},
                                .stepper = {.method = &taut_verlet,
                                            .context = context,
                                            .statistics = &f->base.cost,
                                            .arena = arena,
                                            .n = sizes.coordinates,
                                            .m = sizes.bonds},
                                .step = step};
    return taut_flow_made(&f->base.flow, build(f, t, q, v, error), flow);
}
