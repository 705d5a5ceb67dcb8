/* flow_rattle.c - RATTLE with rigid bonds as constraints and springs as forces F, for masses that
 * vary and forces that depend on velocities:
 *
 *     u  = v + h/2 M(q)^-1 (F(t, q, u) - G(q)^T lambda),       q+ = q + h u,     g(t+h, q+) = 0
 *     v+ = u + h/2 M(q+)^-1 (F(t+h, q+, u) - G(q+)^T mu),      G(q+) v+ + g_t = 0
 *
 * G and g those of the rigid bonds [Hairer, Lubich, Wanner 2006, VII.1.4; the leapfrog of
 * flow_leap.c where there are none]. The second half is the adjoint of the first, so that on the
 * rigid bonds a step of -h undoes one of h, as filters to both sides need it. Positions obey M (q+
 * - 2 q + q-)/h^2 = F - G^T Lambda: on slow motions the errors are those of Verlet.
 *
 * d = u - v is found by iteration, [M G^T; G 0] (d, .) = (h/2 F(v + d'), G d' - g(q + h (v +
 * d'))/h) with d' the latest: Newton's method, simplified, for the rigid bonds, and a fixed point
 * for what depends on u. One factorisation of a point serves the velocities there and the next
 * step. */
#include "step/flow_rattle.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "step/mechanics.h"

enum { MOST_ITERATIONS = 60 };

/* What is known of a point: enough to step from it. */
typedef struct place {
    bool good;
    double t;
    double *q;     /* [n] */
    double *force; /* [n]: F, where it does not depend on velocities */
    double *kick;  /* [n]: M^-1 (F - G^T mu) with some mu, a first guess */
    double *g;     /* G of the rigid bonds */
    double *mass;  /* where it varies, else NULL */
} place;

typedef struct rattle_flow {
    taut_flow flow;
    taut_mechanics mechanics;
    bool general;                          /* F depends on velocities, or M varies */
    taut_saddle *saddle;                   /* [M G^T; G 0] at now */
    place now, anchor;                     /* the latest end; the latest start that was new */
    double *force, *d, *next_d, *u, *next; /* [n] */
    double *row;                           /* [rigid bonds] */
} rattle_flow;

/* ---- places */

static bool is_at(const place *p, taut_index n, double t, const double *q)
{
    return p->good && fabs(p->t - t) <= 8 * DBL_EPSILON * fabs(t) &&
           memcmp(p->q, q, (size_t)n * sizeof(double)) == 0;
}

static void copy_place(const taut_mechanics *m, place *to, const place *from)
{
    to->good = from->good;
    to->t = from->t;
    taut_copy(m->n, from->q, to->q);
    taut_copy(m->n, from->force, to->force);
    taut_copy(m->n, from->kick, to->kick);
    taut_copy(m->rod_start[m->rods], from->g, to->g);
    if (from->mass)
        taut_copy(m->mass_start[m->n], from->mass, to->mass);
}

/* What the latest evaluation gave, as the place (t, q); factorised. */
static int take(rattle_flow *f, double t, const double *q, const double *force, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    place *p = &f->now;
    p->t = t;
    taut_copy(m->n, q, p->q);
    taut_copy(m->n, force, p->force);
    taut_copy(m->rod_start[m->rods], m->rod_jacobian, p->g);
    if (p->mass)
        taut_copy(m->mass_start[m->n], m->mass, p->mass);
    return taut_mechanics_factor(m, f->saddle, t, p->mass ? p->mass : m->mass, p->g, NULL, error);
}

/* f->now becomes (t, q). */
static int arrive(rattle_flow *f, double t, const double *q, const double *v, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    if (is_at(&f->now, m->n, t, q))
        return TAUT_OK;
    f->now.good = false;
    if (is_at(&f->anchor, m->n, t, q)) {
        copy_place(m, &f->now, &f->anchor);
        return taut_mechanics_factor(m, f->saddle, t, f->now.mass ? f->now.mass : m->mass, f->now.g,
                                     NULL, error);
    }
    TAUT_TRY(taut_mechanics_force(m, t, q, v, f->force, NULL, error));
    TAUT_TRY(take(f, t, q, f->force, error));
    taut_copy(m->n, f->force, f->now.kick);
    taut_clear(m->rods, f->row);
    m->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(f->saddle, 1, f->now.kick, f->row, error));
    f->now.good = true;
    copy_place(m, &f->anchor, &f->now);
    return TAUT_OK;
}

/* ---- one step */

static int fail_reach(const rattle_flow *f, double h, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     f->general
                         ? "micro-steps of %.3g do not reach the rigid bonds, or forces that "
                           "depend on velocities are too strong for them: damping as fast "
                           "as the oscillation cannot be filtered; choose method series"
                         : "micro-steps of %.3g do not reach the rigid bonds; choose method series",
                     fabs(h));
}

/* row = G d - g(t + h, q + h (v + d))/h */
static int residual(rattle_flow *f, double t, double h, const double *q, const double *v,
                    taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    for (taut_index i = 0; i < m->n; i++)
        f->next[i] = q[i] + h * (v[i] + f->d[i]);
    TAUT_TRY(
        taut_evaluate_inside(m->context, t + h, f->next, v, TAUT_WANT_BOND, &m->values, error));
    for (taut_index r = 0; r < m->rods; r++)
        f->row[r] = taut_row_dot(&m->rod_rows, f->now.g, r, f->d) - m->values.bond[m->rod[r]] / h;
    return TAUT_OK;
}

/* next_d from d. */
static int iterate(rattle_flow *f, double t, double h, const double *q, const double *v,
                   taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    const double *force = f->now.force;
    if (f->general) {
        for (taut_index i = 0; i < m->n; i++)
            f->u[i] = v[i] + f->d[i];
        TAUT_TRY(taut_mechanics_force(m, t, q, f->u, f->force, NULL, error));
        force = f->force;
    }
    TAUT_TRY(residual(f, t, h, q, v, error));
    for (taut_index i = 0; i < m->n; i++)
        f->next_d[i] = h / 2 * force[i];
    m->statistics->solves++;
    m->statistics->newton_iterations++;
    return taut_saddle_solve(f->saddle, 1, f->next_d, f->row, error);
}

/* d = u - v, such that the rigid bonds are met at t + h: as near as rounding of positions lets
 * them, u |q|/h. */
static int reach(rattle_flow *f, double t, double h, const double *q, const double *v,
                 taut_error *error)
{
    taut_index n = f->mechanics.n;
    double before = INFINITY, still = taut_largest(n, q) + fabs(h) * taut_largest(n, v);
    for (taut_index i = 0; i < n; i++)
        f->d[i] = h / 2 * f->now.kick[i];
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(iterate(f, t, h, q, v, error));
        double change = fabs(h) * taut_largest_difference(n, f->next_d, f->d),
               scale = still + fabs(h) * taut_largest(n, f->next_d),
               floor = 2 * DBL_EPSILON * scale;
        if (!isfinite(change) || change > 1e3 * (scale + 1))
            break;
        double *swap = f->d, rate = change / before;
        f->d = f->next_d;
        f->next_d = swap;
        /* what further ones would do */
        bool last = k > 0 && rate < 0.5 && change * rate / (1 - rate) <= floor / 10;
        if (change <= floor || (k > 0 && rate > 0.5 && change <= 1e3 * floor) || last)
            return TAUT_OK;
        before = change;
    }
    return fail_reach(f, h, error);
}

static int advance(taut_flow *flow, double t, double h, double *state, taut_error *error)
{
    rattle_flow *f = (rattle_flow *)flow;
    taut_mechanics *m = &f->mechanics;
    taut_index n = m->n;
    const double *q = state, *v = state + n;
    TAUT_TRY(arrive(f, t, q, v, error));
    TAUT_TRY(reach(f, t, h, q, v, error));
    for (taut_index i = 0; i < n; i++) {
        f->u[i] = v[i] + f->d[i];
        f->next[i] = q[i] + h * f->u[i];
    }
    f->now.good = false;
    TAUT_TRY(taut_mechanics_force(m, t + h, f->next, f->u, f->force, NULL, error));
    taut_mechanics_rates(m, f->u, f->row);
    TAUT_TRY(take(f, t + h, f->next, f->force, error));
    for (taut_index i = 0; i < n; i++)
        f->d[i] = h / 2 * f->force[i];
    for (taut_index r = 0; r < m->rods; r++)
        f->row[r] = -f->row[r];
    m->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(f->saddle, 1, f->d, f->row, error));
    taut_copy(n, f->next, state);
    for (taut_index i = 0; i < n; i++) {
        state[n + i] = f->u[i] + f->d[i];
        f->now.kick[i] = 2 / h * f->d[i];
    }
    f->now.good = true;
    m->statistics->micro_steps++;
    return TAUT_OK;
}

/* ---- further values */

int taut_flow_rattle_feels(taut_flow *flow, double t, double h, const double *q, const double *v,
                           const double *dv, double *most, taut_error *error)
{
    rattle_flow *f = (rattle_flow *)flow;
    taut_mechanics *m = &f->mechanics;
    f->now.good = false;
    TAUT_TRY(taut_mechanics_force(m, t, q, v, f->force, NULL, error));
    TAUT_TRY(take(f, t, q, f->force, error));
    taut_copy(m->n, f->force, f->d);
    m->statistics->solves += 2;
    /* d is the acceleration now */
    TAUT_TRY(taut_mechanics_react(m, f->saddle, t, q, v, f->d, f->row, NULL, error));
    for (taut_index i = 0; i < m->n; i++) {
        f->u[i] = v[i] + dv[i] + h / 2 * f->d[i];
        f->d[i] = v[i] + dv[i] - h / 2 * f->d[i];
    }
    TAUT_TRY(taut_mechanics_force(m, t, q, f->u, f->next_d, NULL, error));
    TAUT_TRY(taut_mechanics_force(m, t, q, f->d, f->next, NULL, error));
    for (taut_index i = 0; i < m->n; i++)
        f->d[i] = (f->next_d[i] + f->next[i]) / 2 - f->force[i];
    taut_clear(m->rods, f->row);
    TAUT_TRY(taut_saddle_solve(f->saddle, 1, f->d, f->row, error));
    *most = taut_largest(m->n, f->d);
    return TAUT_OK;
}

int taut_flow_rattle_multipliers(taut_flow *flow, double t, const double *q, const double *v,
                                 double *lambda, taut_error *error)
{
    rattle_flow *f = (rattle_flow *)flow;
    taut_mechanics *m = &f->mechanics;
    taut_statistics before = *m->statistics; /* output is not counted */
    f->now.good = false;
    int status = taut_mechanics_force(m, t, q, v, f->force, lambda, error);
    if (status == 0)
        status = take(f, t, q, f->force, error);
    if (status == 0)
        status = taut_mechanics_react(m, f->saddle, t, q, v, f->force, f->row, lambda, error);
    *m->statistics = before;
    return status;
}

/* ---- the object */

static void destroy(taut_flow *flow)
{
    taut_saddle_destroy(((rattle_flow *)flow)->saddle);
}

static int new_place(const taut_mechanics *m, taut_arena *arena, place *p, taut_error *error)
{
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &p->q, &p->force, &p->kick));
    TAUT_TRY(TAUT_RESERVE(arena, m->rod_start[m->rods], error, &p->g));
    return m->varying ? TAUT_RESERVE(arena, m->mass_start[m->n], error, &p->mass) : TAUT_OK;
}

static int build(rattle_flow *f, taut_context *context, taut_arena *arena, taut_error *error)
{
    taut_mechanics *m = &f->mechanics;
    TAUT_TRY(taut_mechanics_create(m, context, arena, f->flow.statistics, 0, error));
    if (m->rods == 0)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "the flow of rigid bonds needs bonds without compliance");
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &f->force, &f->d, &f->next_d, &f->u, &f->next));
    TAUT_TRY(TAUT_RESERVE(arena, m->rods, error, &f->row));
    TAUT_TRY(new_place(m, arena, &f->now, error));
    TAUT_TRY(new_place(m, arena, &f->anchor, error));
    return taut_mechanics_saddle(m, false, true, &arena->allocator, &f->saddle, error);
}

int taut_flow_rattle(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     taut_flow **flow, taut_error *error)
{
    const unsigned general =
        TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS | TAUT_HAS_KINETIC | TAUT_HAS_DAMPING;
    *flow = NULL;
    rattle_flow *f = TAUT_NEW(arena, rattle_flow, 1);
    TAUT_NEED(error, f);
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    f->general = sizes.can & general;
    f->flow = (taut_flow){.name = "rattle",
                          .size = 2 * sizes.coordinates,
                          .advance = advance,
                          .destroy = destroy,
                          .statistics = statistics};
    return taut_flow_made(&f->flow, build(f, context, arena, error), flow);
}
