/* stabilized_field.c - rigid bonds stabilised by terms in the field, as a system of first order in
 * (q, v):
 *
 *     q' = v + dq, v' = a + dv;   a, lambda of the index-1 form, h = (g, gdot)
 *     (dq, dv) = -gamma F h                          [Ascher, Qin, Reich 1992, (4.4)]
 *     reduced: dq of gamma g + gdot, F of (4.7)      the index-2 form (2.4) with the term (2.3)
 *
 * With L = d(gdot)/dq:  F = D (H D)^-1, D = diag(X, X) (4.7) gives G dq = -gamma g, G dv = -gamma
 * gdot - L dq, so that (4.5) holds exactly, s' = r - gamma s, r' = -gamma r, or s' = -gamma s
 * (reduced). X = M^-1 G^T (mass) or G^T (unit); simple omits L dq (4.8); gradient is F = D (1.14).
 * L dq is (gamma(v + dq) - gamma(v - dq))/4, gamma = g_qq(v,v) + 2 g_qt v + g_tt.
 *
 * A field of second order has q' = v: Runge-Kutta methods leave their stages to it, and here kq[i]
 * is V_i + dq_i. Extra stages of dense output do not contain dq. Implicit methods read dq after an
 * evaluation (step/implicit_field.c). */
#include <string.h>

#include "base/rows.h"
#include "linalg/saddle_bonds.h"
#include "step/mechanics.h"
#include "wrap/fields.h"

typedef struct continuous {
    taut_field field, *base;
    taut_mechanics mechanics;
    taut_saddle *saddle;
    double rate;
    bool unit, simple, gradient, reduced;
    bool lost;                  /* stage 0 could not be evaluated: nor can others */
    double *ones;               /* the unit metric */
    double *dq, *dv;            /* [n] */
    double *speed, *stage;      /* [n] */
    double *begin;              /* q' where a step begins, [n] */
    double *g, *gdot, *lateral; /* [rigid bonds]; the last: L dq */
} continuous;

/* x = -F y; y is overwritten. */
static int push(continuous *w, double *y, double *x, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    if (w->gradient) {
        taut_clear(m->n, x);
        taut_pattern_add_transposed(&m->rod_rows, m->rod_jacobian, -1, y, x);
        return TAUT_OK;
    }
    for (taut_index r = 0; r < m->rods; r++)
        y[r] = -y[r];
    w->field.statistics->solves++;
    return taut_saddle_solve_bonds(w->saddle, x, y, error);
}

/* lateral = L dq */
static int measure_lateral(continuous *w, double t, const double *q, const double *v,
                           taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    taut_clear(m->rods, w->lateral);
    for (int sign = 1; sign >= -1 && !w->simple && !w->gradient; sign -= 2) {
        for (taut_index i = 0; i < m->n; i++)
            w->speed[i] = v[i] + sign * w->dq[i];
        TAUT_TRY(
            taut_evaluate_inside(m->context, t, q, w->speed, TAUT_WANT_GAMMA, &m->values, error));
        for (taut_index r = 0; r < m->rods; r++)
            w->lateral[r] += sign * m->values.gamma[m->rod[r]] / 4;
    }
    return TAUT_OK;
}

/* dq and dv at a point. */
static int correct(continuous *w, double t, const double *q, const double *v, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    w->field.statistics->stabilizer_evaluations++;
    TAUT_TRY(taut_mechanics_bonds(m, t, q, v, 0, error));
    if (!w->gradient)
        TAUT_TRY(taut_mechanics_factor(m, w->saddle, t, w->unit ? w->ones : m->mass,
                                       m->rod_jacobian, NULL, error));
    taut_mechanics_rates(m, v, w->gdot);
    taut_mechanics_pick(m, w->rate, m->values.bond, w->g);
    if (w->reduced)
        taut_add(m->rods, w->gdot, w->g);
    TAUT_TRY(push(w, w->g, w->dq, error));
    TAUT_TRY(measure_lateral(w, t, q, v, error));
    for (taut_index r = 0; r < m->rods; r++)
        w->gdot[r] = w->rate * w->gdot[r] + w->lateral[r];
    return push(w, w->gdot, w->dv, error);
}

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    continuous *w = field->self;
    if (w->lost)
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the rigid bonds cannot be evaluated where the step at t = %.9g begins",
                         t);
    TAUT_TRY(w->base->evaluate(w->base, t, q, v, rate, lambda, error));
    TAUT_TRY(correct(w, t, q, v, error));
    taut_add(w->field.n, w->dv, rate);
    return TAUT_OK;
}

static int stages(taut_field *field, const taut_stages *s)
{
    continuous *w = field->self;
    const taut_index n = field->n;
    taut_error ignored;
    w->lost = false;
    if (s->first == 0 && evaluate(field, s->t, s->q, s->v, s->kv[0], NULL, &ignored) != 0)
        return 0;
    w->lost = s->first > 0 && correct(w, s->t, s->q, s->v, &ignored) != 0;
    if (w->lost)
        return 1;
    for (taut_index i = 0; i < n; i++)
        w->begin[i] = s->v[i] + w->dq[i];
    s->kq[0] = w->begin;
    for (int i = 1; i < s->count; i++) {
        taut_sum_form_pair(n, &s->row[i], s->kq, s->kv, s->h, s->q, s->v, w->stage, s->kq[i]);
        if (evaluate(field, s->t + s->c[i] * s->h, w->stage, s->kq[i], s->kv[i], NULL, &ignored) !=
            0)
            return i;
        taut_add(n, w->dq, s->kq[i]);
    }
    taut_sum_form_pair(n, &s->row[s->count], s->kq, s->kv, s->h, s->q, s->v, s->next_q, s->next_v);
    return s->count;
}

static void stretch(taut_field *field, const double *x, double *gx)
{
    continuous *w = field->self;
    w->base->stretch(w->base, x, gx);
}

static void destroy(taut_field *field)
{
    continuous *w = field->self;
    taut_saddle_destroy(w->saddle);
    w->saddle = NULL;
    if (w->base)
        w->base->destroy(w->base);
    w->base = NULL;
}

static int set_direction(continuous *w, const char *name, taut_error *error)
{
    static const char *const names[] = {"auto", "mass", "unit", "simple", "gradient"};
    int k = 0;
    while (k < 5 && strcmp(names[k], name) != 0)
        k++;
    if (k == 5)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation along '%.20s' is for first-order systems; mechanical ones "
                         "have mass, unit, simple and gradient",
                         name);
    w->unit = k >= 2;
    w->simple = k == 3;
    w->gradient = k == 4;
    if (w->reduced && k >= 3)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "the index-2 form needs F = D (H D)^-1: direction mass or unit");
    return TAUT_OK;
}

static int fill(continuous *w, taut_context *context, taut_arena *arena, const char *direction,
                taut_error *error)
{
    taut_statistics *statistics = w->field.statistics;
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(set_direction(w, direction ? direction : "auto", error));
    TAUT_TRY(taut_field_index1(context, arena, statistics, 0, 0, &w->base, error));
    TAUT_TRY(taut_mechanics_create(m, context, arena, statistics, TAUT_WANT_GAMMA | TAUT_WANT_BOND,
                                   error));
    if (m->rods == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "there is nothing to stabilise: the system has no rigid bonds");
    w->field.n = m->n;
    w->field.m = m->m;
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &w->ones, &w->dq, &w->dv, &w->speed, &w->stage,
                          &w->begin));
    TAUT_TRY(TAUT_RESERVE(arena, m->rods, error, &w->g, &w->gdot, &w->lateral));
    for (taut_index i = 0; i < m->n; i++)
        w->ones[i] = 1;
    w->field.extra = w->dq;
    return taut_mechanics_saddle(m, w->unit, true, &arena->allocator, &w->saddle, error);
}

int taut_field_continuous(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                          double rate, const char *direction, bool reduced, taut_field **field,
                          taut_error *error)
{
    *field = NULL;
    continuous *w = TAUT_NEW(arena, continuous, 1);
    TAUT_NEED(error, w);
    w->rate = rate;
    w->reduced = reduced;
    w->field = (taut_field){.name = reduced ? "index-2" : "index-1, stabilised",
                            .second_order = true,
                            .evaluate = evaluate,
                            .stages = stages,
                            .stretch = stretch,
                            .destroy = destroy,
                            .statistics = statistics,
                            .self = w};
    int status = fill(w, context, arena, direction, error);
    if (status == 0)
        *field = &w->field;
    else
        destroy(&w->field);
    return status;
}
