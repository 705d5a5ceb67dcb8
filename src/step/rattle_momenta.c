/* rattle_momenta.c - RATTLE where the mass is that of a kinetic energy and varies: the generalised
 * leapfrog in momenta y = M(q) v with all forces of positions (fast_flow.c has the equations).
 *
 * Symplectic, time-reversible, order 2; rigid bonds hold to rounding, also their velocities. It
 * stands in the place of the row `rattle`; in effective motion the force -grad W is among the
 * others [Lubich, Weiss (7)]. */
#include "base/rows.h"
#include "base/vectors.h"
#include "step/fast_flow.h"
#include "system/system.h"

typedef struct momenta {
    taut_fast_flow flow;
    bool fresh;    /* the flow is at now */
    bool again;    /* it has been: beginning there again does not count */
    bool complete; /* now.a and now.lambda are those there */
    taut_saddle *saddle;
    double *a, *row; /* [n], [rigid bonds] */
} momenta;

/* f += the forces of positions, springs among them, of bonds that the flow has evaluated. */
static int add_forces(void *user, double t, double h, const double *q, double *f, taut_error *error)
{
    const taut_mechanics *m = user;
    taut_values values = {.force = f, .stiff_force = m->values.stiff_force};
    unsigned wanted = TAUT_WANT_FORCE | (values.stiff_force ? TAUT_WANT_STIFF_FORCE : 0);
    (void)h;
    TAUT_TRY(taut_evaluate_inside(m->context, t, q, NULL, wanted, &values, error));
    if (values.stiff_force)
        taut_add(m->n, values.stiff_force, f);
    for (taut_index i = 0; i < m->m; i++)
        if (m->compliance[i] > 0)
            taut_row_add(&m->jacobian, m->values.jacobian, i, -m->values.bond[i] / m->compliance[i],
                         f);
    return TAUT_OK;
}

static int create(taut_stepper *s, taut_error *error)
{
    momenta *w = s->work = TAUT_NEW(s->arena, momenta, 1);
    TAUT_NEED(error, w);
    TAUT_TRY(taut_fast_flow_create(&w->flow, s->context, s->arena, s->statistics, 0, error));
    if (w->flow.velocity)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method rattle does not support forces that depend on velocities (omit "
                         "them)");
    w->flow.force = add_forces;
    w->flow.user = &w->flow.mechanics;
    w->flow.whole = true;
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->a));
    TAUT_TRY(TAUT_RESERVE(s->arena, w->flow.mechanics.rods, error, &w->row));
    TAUT_TRY(taut_mechanics_at_rest(&w->flow.mechanics, "method rattle", s->now.t, s->now.q, w->a,
                                    error));
    return taut_mechanics_saddle(&w->flow.mechanics, false, true, &s->arena->allocator, &w->saddle,
                                 error);
}

static void destroy(taut_stepper *s)
{
    momenta *w = s->work;
    if (!w)
        return;
    taut_fast_flow_destroy(&w->flow);
    taut_saddle_destroy(w->saddle);
}

static int begin(taut_stepper *s, taut_error *error)
{
    momenta *w = s->work;
    const taut_statistics before = *s->statistics;
    TAUT_TRY(taut_fast_flow_begin(&w->flow, s->now.t, s->now.q, error));
    if (w->again)
        *s->statistics = before;
    return TAUT_OK;
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    momenta *w = s->work;
    taut_state old = s->now, next = s->last;
    if (!w->fresh)
        TAUT_TRY(begin(s, error));
    w->fresh = w->again = w->complete = false; /* a step that fails leaves the flow elsewhere */
    next.t = old.t + h;
    taut_copy(s->n, old.q, next.q);
    taut_copy(s->n, old.v, next.v);
    TAUT_TRY(taut_fast_flow_step(&w->flow, old.t, h, next.q, next.v, error));
    w->fresh = true;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    momenta *w = s->work;
    w->fresh = w->again = w->complete = false;
}

static int find_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                            double *lambda, taut_error *error)
{
    momenta *w = s->work;
    return taut_mechanics_multipliers(&w->flow.mechanics, w->saddle, t, q, v, w->a, w->row, lambda,
                                      error);
}

/* What the flow has evaluated at now stands there afterwards. */
static int complete(taut_stepper *s, taut_error *error)
{
    momenta *w = s->work;
    if (w->complete)
        return TAUT_OK;
    TAUT_TRY(find_multipliers(s, s->now.t, s->now.q, s->now.v, s->now.lambda, error));
    taut_copy(s->n, w->a, s->now.a);
    w->complete = true;
    return TAUT_OK;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    momenta *w = s->work;
    if (q == s->now.q && v == s->now.v && t == s->now.t) {
        TAUT_TRY(complete(s, error));
        if (lambda != s->now.lambda)
            taut_copy(s->m, s->now.lambda, lambda);
        return TAUT_OK;
    }
    w->again = w->again || w->fresh;
    w->fresh = false;
    return find_multipliers(s, t, q, v, lambda, error);
}

/* A flow that begins again at now goes on in the same bits. */
static void archive(taut_stepper *s, taut_archive *to)
{
    momenta *w = s->work;
    bool known = w->fresh || w->again;
    taut_archive_flag(to, &known);
    taut_archive_flag(to, &w->complete);
    if (to->reading) {
        w->fresh = false;
        w->again = known;
    }
}

const taut_method taut_rattle_momenta = {
    .name = "rattle",
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_EFFECTIVE | TAUT_MOTION_FULL,
    .order = 2,
    .summary = "RATTLE in momenta, for kinetic energies",
    .reference = "Hairer, Lubich, Wanner, Geometric Numerical Integration, VI.3, VII.1.4",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_DAMPING | TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,
    .on_bonds = true,
    .stability = 2,
    .averages = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .changed = changed,
    .complete = complete,
    .multipliers = multipliers,
    .archive = archive,
};
