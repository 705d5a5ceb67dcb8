/* lobatto_ab.c - Lobatto IIIA-IIIB pairs of 3 and 4 stages for rigid bonds, with springs and
 * potentials as forces F:
 *
 *     V_i = v0 + h sum_j b_ij a_j,  Q_i = q0 + h sum_j a_ij V_j,  M a_i = F(Q_i) - G(Q_i)^T L_i
 *     g(Q_i) = 0,  q1 = Q_s,  v1 = v0 + h sum_j b_j a_j,  G(q1) v1 + dg/dt = 0
 *     [Jay 1996; Hairer, Lubich, Wanner, Geometric Numerical Integration, VII.1.4]
 *
 * A of IIIA, B of IIIB: order 2s - 2 in q and v, symplectic, time-reversible; 2 stages are RATTLE.
 * The first row of A and the last column of B are 0: Q_1 = q0, and L_s is that of the velocity
 * alone. So a_1, ..., a_(s-1) and L_1, ..., L_(s-1) are the unknowns of
 *
 *     Q_i = q0 + h c_i v0 + h^2 sum_k P_ik a_k,  P = A B (rows 2 .. s),  g(Q_i) = 0, i = 2 .. s
 *
 * and are iterated together: forces and G at the latest Q, and h^2 (P^-1 g)_k as the right-hand
 * side of dL_k in [M G^T; G 0] of q0, which is factorised for the velocity there. The rate is
 * O(h) on bonds, O((h omega)^2/24) or less of forces. The iteration begins with a and L of each
 * stage as the last steps continue it, and ends at rounding. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/saddle_bonds.h"
#include "step/mechanics.h"
#include "step/methods.h"

enum { MOST = 3, MOST_ITERATIONS = 60, HISTORY = 5 };

typedef struct pair {
    int unknown; /* s - 1 */
    double c[MOST], b[MOST + 1];
    double through[MOST][MOST], back[MOST][MOST]; /* P and P^-1 */
} pair;

typedef struct lobatto_ab {
    bool fresh;    /* force and G of the first stage and the factorisation belong to now */
    bool complete; /* now.a and now.lambda are accelerations and multipliers */
    taut_mechanics mechanics;
    taut_saddle *saddle;           /* [M G^T; G 0] at now */
    taut_saddle *general;          /* elsewhere, for multipliers */
    taut_index entries;            /* of G of the rigid bonds */
    double *force[MOST], *g[MOST]; /* at Q_1 .. Q_(s-1) */
    double *q[MOST];               /* Q_2 .. Q_s */
    double *off[MOST];             /* g there, [rigid bonds] */
    double *kick, *row;            /* [n], [rigid bonds] */
    /* a_1 .. a_(s-1), then L_1 .. L_(s-1): of the present step, and of the latest ones, all of
     * length h, newest first */
    double *stage, *past[HISTORY];
    int steps; /* how many of them are known */
    double h;
} lobatto_ab;

static double *stage_a(const taut_stepper *s, int k)
{
    return ((lobatto_ab *)s->work)->stage + (int64_t)k * s->n;
}

static double *stage_lambda(const taut_stepper *s, int k)
{
    const lobatto_ab *w = s->work;
    const pair *p = s->method->data;
    return w->stage + (int64_t)p->unknown * s->n + (int64_t)k * w->mechanics.rods;
}

static int64_t stage_size(const taut_stepper *s)
{
    const lobatto_ab *w = s->work;
    return ((const pair *)s->method->data)->unknown * ((int64_t)s->n + w->mechanics.rods);
}

static int create(taut_stepper *s, taut_error *error)
{
    const pair *p = s->method->data;
    lobatto_ab *w = s->work = TAUT_NEW(s->arena, lobatto_ab, 1);
    char who[40];
    TAUT_NEED(error, w);
    snprintf(who, sizeof who, "method %s", s->method->name);
    taut_mechanics *x = &w->mechanics;
    TAUT_TRY(taut_mechanics_create(x, s->context, s->arena, s->statistics, TAUT_WANT_BOND, error));
    TAUT_TRY(taut_mechanics_invert(x, who, s->now.t, s->arena, error));
    w->entries = x->rods > 0 ? x->rod_start[x->rods] : 0;
    for (int k = 0; k < p->unknown; k++) {
        TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->force[k], &w->q[k]));
        TAUT_TRY(TAUT_RESERVE(s->arena, w->entries, error, &w->g[k]));
        TAUT_TRY(TAUT_RESERVE(s->arena, x->rods, error, &w->off[k]));
    }
    w->kick = TAUT_NEW(s->arena, double, s->n);
    w->row = TAUT_NEW(s->arena, double, x->rods);
    w->stage = TAUT_NEW(s->arena, double, stage_size(s));
    for (int k = 0; k < HISTORY; k++)
        w->past[k] = TAUT_NEW(s->arena, double, stage_size(s));
    TAUT_TRY(taut_arena_check(s->arena, error));
    TAUT_TRY(taut_mechanics_saddle(x, false, true, &s->arena->allocator, &w->saddle, error));
    return taut_mechanics_saddle(x, false, true, &s->arena->allocator, &w->general, error);
}

static void destroy(taut_stepper *s)
{
    lobatto_ab *w = s->work;
    if (!w)
        return;
    taut_saddle_destroy(w->saddle);
    taut_saddle_destroy(w->general);
    taut_mechanics_destroy(&w->mechanics);
}

/* F and G at a stage; g in the values of the mechanics. */
static int evaluate(taut_stepper *s, double t, const double *q, const double *v, int k,
                    double *lambda, taut_error *error)
{
    lobatto_ab *w = s->work;
    TAUT_TRY(taut_mechanics_force(&w->mechanics, t, q, v, w->force[k], lambda, error));
    taut_copy(w->entries, w->mechanics.rod_jacobian, w->g[k]);
    return TAUT_OK;
}

/* F, G and the factorisation at a state; gdot in w->row. */
static int arrive(taut_stepper *s, const taut_state *state, taut_error *error)
{
    lobatto_ab *w = s->work;
    taut_mechanics *x = &w->mechanics;
    w->fresh = w->complete = false;
    TAUT_TRY(evaluate(s, state->t, state->q, state->v, 0, state->lambda, error));
    taut_mechanics_rates(x, state->v, w->row);
    return taut_mechanics_factor(x, w->saddle, state->t, x->mass, w->g[0], NULL, error);
}

static int complete(taut_stepper *s, taut_error *error)
{
    lobatto_ab *w = s->work;
    if (!w->fresh)
        TAUT_TRY(arrive(s, &s->now, error));
    if (!w->complete) {
        taut_copy(s->n, w->force[0], s->now.a);
        TAUT_TRY(taut_mechanics_react(&w->mechanics, w->saddle, s->now.t, s->now.q, s->now.v,
                                      s->now.a, w->row, s->now.lambda, error));
        s->statistics->solves++;
    }
    w->fresh = w->complete = true;
    return TAUT_OK;
}

/* a and L of the stages: the polynomial through those of the latest steps, continued; or those of
 * now. */
static int predict(taut_stepper *s, double h, taut_error *error)
{
    static const double weight[HISTORY + 1][HISTORY] = {
        {0}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}, {5, -10, 10, -5, 1}};
    lobatto_ab *w = s->work;
    const taut_mechanics *x = &w->mechanics;
    if (h != w->h)
        w->steps = 0;
    w->h = h;
    if (w->steps > 0) {
        taut_clear(stage_size(s), w->stage);
        for (int j = 0; j < w->steps; j++)
            taut_add_scaled(stage_size(s), weight[w->steps][j], w->past[j], w->stage);
        return TAUT_OK;
    }
    TAUT_TRY(complete(s, error));
    for (int k = 0; k < ((const pair *)s->method->data)->unknown; k++) {
        taut_copy(s->n, s->now.a, stage_a(s, k));
        for (taut_index r = 0; r < x->rods; r++)
            stage_lambda(s, k)[r] = s->now.lambda[x->rod[r]];
    }
    return TAUT_OK;
}

/* Q_2 .. Q_s; how far they moved at most. */
static double place(taut_stepper *s, double h)
{
    lobatto_ab *w = s->work;
    const pair *p = s->method->data;
    double most = 0;
    const double *a[MOST];
    for (int k = 0; k < p->unknown; k++)
        a[k] = stage_a(s, k);
    for (int i = 0; i < p->unknown; i++)
        for (taut_index j = 0; j < s->n; j++) {
            double sum = 0;
            for (int k = 0; k < p->unknown; k++)
                sum += p->through[i][k] * a[k][j];
            double next = s->now.q[j] + h * (p->c[i] * s->now.v[j] + h * sum);
            most = taut_larger(fabs(next - w->q[i][j]), most);
            w->q[i][j] = next;
        }
    return most;
}

/* F, G and g at the stages; of the last one g alone. */
static int evaluate_stages(taut_stepper *s, double h, taut_error *error)
{
    lobatto_ab *w = s->work;
    taut_mechanics *x = &w->mechanics;
    const pair *p = s->method->data;
    int last = p->unknown - 1;
    for (int i = 0; i <= last; i++) {
        double t = s->now.t + p->c[i] * h;
        if (i < last)
            TAUT_TRY(evaluate(s, t, w->q[i], s->now.v, i + 1, NULL, error));
        else if (x->rods > 0)
            TAUT_TRY(taut_evaluate_inside(s->context, t, w->q[i], s->now.v, TAUT_WANT_BOND,
                                          &x->values, error));
        taut_mechanics_pick(x, 1, x->values.bond, w->off[i]);
    }
    return TAUT_OK;
}

/* L_k += dL_k, and a_k = M^-1 (F - G^T L) of the stages as they were evaluated. */
static int react(taut_stepper *s, double h, taut_error *error)
{
    lobatto_ab *w = s->work;
    taut_mechanics *x = &w->mechanics;
    const pair *p = s->method->data;
    for (int k = 0; k < p->unknown; k++) {
        double *a = stage_a(s, k), *lambda = stage_lambda(s, k);
        taut_clear(x->rods, w->row);
        for (int i = 0; i < p->unknown; i++)
            taut_add_scaled(x->rods, p->back[k][i] / (h * h), w->off[i], w->row);
        if (x->rods > 0) {
            TAUT_TRY(taut_saddle_oppose(w->saddle, false, w->kick, w->row, error));
            s->statistics->solves++;
        }
        taut_add(x->rods, w->row, lambda);
        taut_copy(s->n, w->force[k], a);
        for (taut_index r = 0; r < x->rods; r++)
            taut_row_add(&x->rod_rows, w->g[k], r, -lambda[r], a);
        TAUT_TRY(taut_mechanics_divide(x, a, error));
    }
    return TAUT_OK;
}

static int iterate(taut_stepper *s, double h, taut_error *error)
{
    double scale = taut_largest(s->n, s->now.q) + fabs(h) * taut_largest(s->n, s->now.v),
           floor = 2 * DBL_EPSILON * scale, before = INFINITY;
    place(s, h);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(evaluate_stages(s, h, error));
        TAUT_TRY(react(s, h, error));
        s->statistics->newton_iterations++;
        double size = place(s, h);
        /* at rounding, or where it no longer shrinks near it */
        if (size <= floor || (size > before / 2 && size < 1e3 * floor))
            return TAUT_OK;
        if (!isfinite(size) || size > 1e3 * (scale + 1))
            break;
        before = size;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "method %s: the iteration of its stages does not converge from t = %.9g with "
                     "step %g; a smaller step size is needed",
                     s->method->name, s->now.t, h);
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    lobatto_ab *w = s->work;
    const pair *p = s->method->data;
    taut_state old = s->now, next = s->last;
    if (!w->fresh)
        TAUT_TRY(complete(s, error));
    TAUT_TRY(predict(s, h, error));
    int known = w->steps;
    w->steps = 0; /* a step that fails leaves no history */
    TAUT_TRY(iterate(s, h, error));
    next.t = old.t + h;
    taut_copy(s->n, w->q[p->unknown - 1], next.q);
    taut_copy(s->n, old.v, next.v);
    for (int k = 0; k < p->unknown; k++)
        taut_add_scaled(s->n, h * p->b[k], stage_a(s, k), next.v);

    /* b_s a_s, with L_s of a velocity along the bonds */
    TAUT_TRY(arrive(s, &next, error));
    taut_clear(s->n, w->kick);
    taut_add_scaled(s->n, h * p->b[p->unknown], w->force[0], w->kick);
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_oppose(w->saddle, true, w->kick, w->row, error));
    taut_add(s->n, w->kick, next.v);
    w->fresh = true;

    double *oldest = w->past[HISTORY - 1];
    memmove(w->past + 1, w->past, (HISTORY - 1) * sizeof w->past[0]);
    w->past[0] = w->stage;
    w->stage = oldest;
    w->steps = known < HISTORY ? known + 1 : HISTORY;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    lobatto_ab *w = s->work;
    w->fresh = w->complete = false;
    w->steps = 0;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    lobatto_ab *w = s->work;
    taut_mechanics *x = &w->mechanics;
    if (s->m == 0)
        return TAUT_OK;
    if (q == s->now.q && v == s->now.v && t == s->now.t) {
        TAUT_TRY(complete(s, error));
        if (lambda != s->now.lambda)
            taut_copy(s->m, s->now.lambda, lambda);
        return TAUT_OK;
    }
    return taut_mechanics_multipliers(x, w->general, t, q, v, w->kick, w->row, lambda, error);
}

static void archive(taut_stepper *s, taut_archive *to)
{
    lobatto_ab *w = s->work;
    taut_archive_flag(to, &w->fresh);
    taut_archive_flag(to, &w->complete);
    taut_saddle_archive(w->saddle, to);
    taut_archive_reals(to, w->force[0], s->n);
    taut_archive_reals(to, w->g[0], w->entries);
    for (int k = 0; k < HISTORY; k++)
        taut_archive_reals(to, w->past[k], stage_size(s));
    taut_archive_integer(to, &w->steps, 0, HISTORY);
    taut_archive_real(to, &w->h);
}

/* ---- coefficients */

#define ROOT5 2.2360679774997896964

static const pair three = {
    .unknown = 2,
    .c = {1 / 2.0, 1},
    .b = {1 / 6.0, 2 / 3.0, 1 / 6.0},
    .through = {{1 / 12.0, 1 / 24.0}, {1 / 6.0, 1 / 3.0}},
    .back = {{16, -2}, {-8, 4}},
};

static const pair four = {
    .unknown = 3,
    .c = {(5 - ROOT5) / 10, (5 + ROOT5) / 10, 1},
    .b = {1 / 12.0, 5 / 12.0, 5 / 12.0, 1 / 12.0},
    .through = {{(5 - ROOT5) / 120, 1 / 60.0, (11 - 5 * ROOT5) / 120},
                {(5 + ROOT5) / 120, (11 + 5 * ROOT5) / 120, 1 / 60.0},
                {1 / 12.0, (5 + ROOT5) / 24, (5 - ROOT5) / 24}},
    .back = {{25 + 15 * ROOT5, 25 - 15 * ROOT5, 2},
             {-20, 10, 5 - 3 * ROOT5},
             {10, -20, 5 + 3 * ROOT5}},
};

/* Stability: where the matrix of a step of x'' = -omega^2 x first leaves the unit circle. */
#define LOBATTO_AB(p, title, coefficients, limit)                                                  \
    const taut_method taut_lobatto_ab##p = {                                                       \
        .name = "lobatto-ab" #p,                                                                   \
        .motions = TAUT_MOTION_RIGID | TAUT_MOTION_FULL,                                           \
        .order = p,                                                                                \
        .summary = "Lobatto IIIA-IIIB, " title                                                     \
                   " stages: rigid bonds held to rounding, symplectic, time-reversible",           \
        .reference = "Jay 1996; Hairer, Lubich, Wanner, Geometric Numerical Integration, "         \
                     "VII.1.4",                                                                    \
        .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,                                            \
        .refuses = TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS |           \
                   TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,                                          \
        .data = &(coefficients),                                                                   \
        .stability = limit,                                                                        \
        .create = create,                                                                          \
        .destroy = destroy,                                                                        \
        .step = step,                                                                              \
        .changed = changed,                                                                        \
        .complete = complete,                                                                      \
        .multipliers = multipliers,                                                                \
        .archive = archive}
LOBATTO_AB(4, "3", three, 2.82);
LOBATTO_AB(6, "4", four, 3.11);
