/* telescope.c - a level of telescopic projective integration: a flow for rates with several gaps.
 * A step of H is the midpoint rule with rates from bursts of k + 1 inner steps of h, B = (k + 1) h:
 *
 *     burst from z at 0:             z_1 at B, rate r_1
 *     burst from z_1 + (s - B) r_1:  rate r_2 at (H + B)/2, where s = (H + B)/2 - (k + 1/2) h
 *     z(H) = z_1 + (H - B) r_2
 *
 * [Gear, Kevrekidis 2003b, Journal of Computational Physics 187, section 3, whose levels are of
 * order 1]. k inner steps damp what the inner flow resolves; the step damps the next slower rates.
 * Levels are flows of flows. */
#include <math.h>

#include "base/vectors.h"
#include "drive/projective.h"

typedef struct telescope {
    taut_flow flow;
    taut_flow *inner;
    double h, step; /* of inner steps; of leaps */
    double whole;   /* step before it was refined */
    int damping;
    double *rate, *middle, *z; /* [n] */
} telescope;

/* k + 1 inner steps from z at t; the rate at their end, into r. */
static int burst(telescope *f, double t, double h, double *z, double *r, taut_error *error)
{
    const int k = f->damping;
    if (k > 0)
        TAUT_TRY(f->inner->advance(f->inner, t, k * h, z, error));
    taut_copy(f->flow.size, z, r);
    TAUT_TRY(f->inner->advance(f->inner, t + k * h, h, z, error));
    for (taut_index i = 0; i < f->flow.size; i++)
        r[i] = (z[i] - r[i]) / h;
    return TAUT_OK;
}

/* One step of H, which is `step` or slightly less; inner steps alone where these are as many. */
static int leap(telescope *f, double t, double H, double *z, taut_error *error)
{
    const taut_index n = f->flow.size;
    double h = f->h * H / f->step, B = (f->damping + 1) * h, s = (H + B) / 2 - B + h / 2;
    if (2 * B >= H)
        return f->inner->advance(f->inner, t, H, z, error);
    TAUT_TRY(burst(f, t, h, z, f->rate, error));
    taut_copy(n, z, f->middle);
    taut_add_scaled(n, s - B, f->rate, f->middle);
    TAUT_TRY(burst(f, t + s, h, f->middle, f->rate, error));
    taut_add_scaled(n, H - B, f->rate, z);
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
                     .whole = step,
                     .damping = damping};
    TAUT_TRY(TAUT_RESERVE(arena, inner->size, error, &f->rate, &f->middle, &f->z));
    f->inner = inner; /* from here on it is destroyed with this one */
    *flow = &f->flow;
    return TAUT_OK;
}

void taut_flow_telescope_refine(taut_flow *flow, double factor)
{
    for (; flow->advance == advance; flow = ((telescope *)flow)->inner) {
        telescope *f = (telescope *)flow;
        f->step = f->whole / factor;
    }
}
