/* flow_leap.c - the generalised leapfrog
 *
 *     u = v + h/2 a(t, q, u), q+ = q + h u, v+ = u + h/2 a(t + h, q+, u),
 *     a = M(t,q)^-1 F(t, q, v)
 *
 * for accelerations that depend on velocities [after Hairer, Lubich, Wanner 2006, section VI.3].
 * The second half is the adjoint of the first, so that a step of -h undoes one of h, as filters
 * to both sides need it; where a does not depend on v it is velocity Verlet. The first equation
 * is solved by iteration: stiff forces depend on q alone, what depends on u is slow, and h is
 * short. */
#include "step/flow_leap.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"
#include "step/mechanics.h"

enum { MOST_ITERATIONS = 40 };

typedef struct leap {
    taut_flow flow;
    taut_mechanics mechanics;
    taut_saddle *mass;    /* NULL for a diagonal one */
    double *a, *u, *next; /* [n]: acceleration, velocity between, the other one */
    double *last;         /* [n]: acceleration at the latest end, a guess */
} leap;

static int accelerate(leap *f, double t, const double *q, const double *v, double *a,
                      taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    TAUT_TRY(taut_mechanics_force(m, t, q, v, a, NULL, error));
    if (!f->mass) {
        for (taut_index i = 0; i < m->n; i++)
            a[i] /= m->mass[i];
        return TAUT_OK;
    }
    if (m->varying)
        TAUT_TRY(taut_mechanics_factor(m, f->mass, t, m->mass, NULL, NULL, error));
    m->statistics->solves++;
    return taut_saddle_solve(f->mass, 1, a, NULL, error);
}

/* u = v + H/2 a(t, q, u) */
static int solve(leap *f, double t, double H, const double *q, const double *v, taut_error *error)
{
    taut_index n = f->mechanics.n;
    double before = INFINITY;
    for (taut_index i = 0; i < n; i++)
        f->u[i] = v[i] + H / 2 * f->last[i];
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(accelerate(f, t, q, f->u, f->a, error));
        double change = 0, size = 0;
        for (taut_index i = 0; i < n; i++) {
            double u = v[i] + H / 2 * f->a[i];
            change = taut_larger(change, fabs(u - f->u[i]));
            size = taut_larger(size, fabs(u) + fabs(H * f->a[i]));
            f->u[i] = u;
        }
        if (!(change <= 1e3 * before))
            break;
        if (change <= 2 * DBL_EPSILON * size ||
            (k > 2 && change >= before && change <= 1e-12 * size))
            return TAUT_OK;
        before = change;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "forces that depend on velocities are too strong for micro-steps of %.3g: "
                     "damping as fast as the oscillation cannot be filtered; choose method series",
                     fabs(H));
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    leap *f = (leap *)flow;
    taut_index n = f->mechanics.n;
    TAUT_TRY(solve(f, t, H, state, state + n, error));
    for (taut_index i = 0; i < n; i++)
        f->next[i] = state[i] + H * f->u[i];
    TAUT_TRY(accelerate(f, t + H, f->next, f->u, f->last, error));
    taut_copy(n, f->next, state);
    for (taut_index i = 0; i < n; i++)
        state[n + i] = f->u[i] + H / 2 * f->last[i];
    flow->statistics->micro_steps++;
    return TAUT_OK;
}

int taut_flow_leap_feels(taut_flow *flow, double t, double h, const double *q, const double *v,
                         const double *dv, double *most, taut_error *error)
{
    leap *f = (leap *)flow;
    taut_index n = f->mechanics.n;
    TAUT_TRY(accelerate(f, t, q, v, f->last, error)); /* as good a guess as any */
    for (taut_index i = 0; i < n; i++)
        f->u[i] = v[i] + dv[i] + h / 2 * f->last[i];
    TAUT_TRY(accelerate(f, t, q, f->u, f->a, error));
    for (taut_index i = 0; i < n; i++)
        f->u[i] = v[i] + dv[i] - h / 2 * f->last[i];
    TAUT_TRY(accelerate(f, t, q, f->u, f->next, error));
    *most = 0;
    for (taut_index i = 0; i < n; i++)
        *most = taut_larger(*most, fabs((f->a[i] + f->next[i]) / 2 - f->last[i]));
    return TAUT_OK;
}

static void destroy(taut_flow *flow)
{
    taut_saddle_destroy(((leap *)flow)->mass);
}

static int build(leap *f, taut_context *context, taut_arena *arena, double t, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    TAUT_TRY(taut_mechanics_create(m, context, arena, f->flow.statistics, 0, error));
    if (m->rods > 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "filters do not support bonds without compliance; give them a stiffness");
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &f->a, &f->u, &f->next, &f->last));
    if (!m->mass_start)
        return TAUT_OK;
    TAUT_TRY(taut_mechanics_saddle(m, false, true, &arena->allocator, &f->mass, error));
    return m->varying ? TAUT_OK : taut_mechanics_factor(m, f->mass, t, m->mass, NULL, NULL, error);
}

int taut_flow_leap(taut_context *context, taut_arena *arena, taut_statistics *statistics, double t,
                   taut_flow **flow, taut_error *error)
{
    *flow = NULL;
    leap *f = TAUT_NEW(arena, leap, 1);
    TAUT_NEED(error, f);
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    f->flow = (taut_flow){.name = "leapfrog",
                          .size = 2 * sizes.coordinates,
                          .advance = advance,
                          .destroy = destroy,
                          .statistics = statistics};
    return taut_flow_made(&f->flow, build(f, context, arena, t, error), flow);
}
