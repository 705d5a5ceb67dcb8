/* telescope.c - a level of telescopic projective integration: a flow for rates with several gaps.
 *
 *     a = flow_h^k(z),  b = flow_h(a),  z <- b + (H/h - k - 1) (b - a)
 *     [Gear, Kevrekidis 2003b, Journal of Computational Physics 187, (5)-(7)]
 *
 * k inner steps damp what the inner flow resolves, the leap makes the rest of a step of H, which
 * damps the next slower rates as forward Euler does. Levels are flows of flows. */
#include <math.h>

#include "base/vectors.h"
#include "drive/projective.h"

typedef struct telescope {
    taut_flow flow;
    taut_flow *inner;
    double h, step;
    int damping;
    double *before, *z; /* [n] */
} telescope;

/* One step of H, which is `step` or slightly less. */
static int leap(telescope *f, double t, double H, double *z, taut_error *error)
{
    double h = f->h * H / f->step, far = f->step / f->h - f->damping - 1;
    if (f->damping > 0)
        TAUT_TRY(f->inner->advance(f->inner, t, f->damping * h, z, error));
    taut_copy(f->flow.size, z, f->before);
    TAUT_TRY(f->inner->advance(f->inner, t + f->damping * h, h, z, error));
    for (taut_index i = 0; i < f->flow.size; i++)
        z[i] += far * (z[i] - f->before[i]);
    return TAUT_OK;
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    telescope *f = (telescope *)flow;
    double count = fmax(1, ceil(fabs(H) / f->step * (1 - 1e-12)));
    taut_copy(flow->size, state, f->z);
    for (double k = 0; k < count; k++)
        TAUT_TRY(leap(f, t + k * (H / count), H / count, f->z, error));
    taut_copy(flow->size, f->z, state);
    return TAUT_OK;
}

static void destroy(taut_flow *flow)
{
    telescope *f = (telescope *)flow;
    if (f->inner)
        f->inner->destroy(f->inner);
    f->inner = NULL;
}

int taut_flow_telescope(taut_flow *inner, taut_arena *arena, double h, int damping, double step,
                        taut_flow **flow, taut_error *error)
{
    telescope *f = TAUT_NEW(arena, telescope, 1);
    TAUT_NEED(error, f);
    *f = (telescope){.flow = {.name = "telescopic",
                              .size = inner->size,
                              .advance = advance,
                              .destroy = destroy,
                              .statistics = inner->statistics},
                     .h = h,
                     .step = step,
                     .damping = damping};
    TAUT_TRY(TAUT_RESERVE(arena, inner->size, error, &f->before, &f->z));
    f->inner = inner; /* from here on it is destroyed with this one */
    *flow = &f->flow;
    return TAUT_OK;
}
