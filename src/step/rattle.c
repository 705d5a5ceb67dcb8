/* rattle.c - RATTLE for rigid bonds, with springs and potentials as forces F:
 *
 *     v_half = v + h/2 M^-1 (F(q) - G(q)^T lambda),   q+ = q + h v_half,   g(t+h, q+) = 0
 *     v+   = v_half + h/2 M^-1 (F(q+) - G(q+)^T mu), G(q+) v+ + dg/dt = 0
 *     [Andersen 1983; Hairer, Lubich, Wanner, VII.1.4]
 *
 * Order 2, symplectic, time-reversible; the rigid bonds hold to rounding. The matrix [M G^T; G 0]
 * of a point is factorised once: it gives the velocities there and is the matrix of the simplified
 * Newton iteration (SHAKE) of the next step. When that is slow (long steps), the iteration goes
 * on with G of the new point in its second row, which is Newton's own. It begins with the
 * multipliers mu of the velocity stage, corrected by lambda - mu as the last steps continue it,
 * and ends where the next correction would be below rounding: the rate of convergence is known
 * from the steps before. Both together save half of the iterations.
 *
 * SHAKE [Ryckaert, Ciccotti, Berendsen 1977] has the same positions; its velocities are not
 * projected, v+ = v_half + h/2 M^-1 (F(q+) - G(q+)^T lambda), and G v is of size h^2. What is
 * missing of lambda there is found in the next position stage: half of its change is SHAKE's. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/four.h"
#include "base/rows.h"
#include "base/loops.h"
#include "linalg/saddle_bonds.h"
#include "step/mechanics.h"
#include "step/methods.h"
#include "system/system.h"

enum { MOST_ITERATIONS = 60, HISTORY = 4 };

typedef struct rattle {
    bool fresh;    /* force, g and the factorisation belong to now */
    bool complete; /* now.a and now.lambda are accelerations and multipliers */
    taut_mechanics mechanics;
    taut_saddle *saddle; /* [M G^T; G 0] at now */
    /* with two different G, for Newton's iteration; and for multipliers elsewhere */
    taut_saddle *general;
    double *force; /* F at now, [n] */
    /* M^-1 (F - G^T lambda) with some lambda, near v': a good first guess, [n] */
    double *kick;
    double *g;            /* G of the rigid bonds at now, by rows; or, while it is needed: */
    double *columns;      /* G of the rigid bonds at now inside `saddle`, or NULL */
    double *total, *step; /* [n] */
    double *residual;     /* [rigid bonds] */
    /* h^2/2 (lambda - mu) of the latest steps, all of length `h`, newest first, [rigid bonds] each
     */
    double *past[HISTORY];
    int steps;      /* how many of them are known */
    double h, rate; /* of the latest step: its length, and the rate of its iteration */
    double *mu;     /* SHAKE: multipliers of the latest step, [rigid bonds]; NULL: RATTLE */
} rattle;

static const double UNKNOWN_RATE = 0;
static const double FORGET = 0.9; /* how fast an old rate counts less */

/* Of large systems it is made when it is needed for the first time, in few runs: by long steps, or
 * by rows between steps; of several ranks by these alone, with one G. */
static int need_general(taut_stepper *s, taut_error *error)
{
    rattle *w = s->work;
    return w->general ? TAUT_OK
                      : taut_mechanics_saddle(&w->mechanics, false, w->mechanics.part != NULL,
                                              &s->arena->allocator, &w->general, error);
}

static int create(taut_stepper *s, taut_error *error)
{
    rattle *w = TAUT_NEW(s->arena, rattle, 1);
    s->work = w;
    TAUT_NEED(error, w);
    taut_mechanics *x = &w->mechanics;
    TAUT_TRY(taut_mechanics_create(x, s->context, s->arena, s->statistics, 0, error));
    TAUT_TRY(taut_mechanics_need_masses(x, "method rattle", error));
    if (s->method->data) {
        w->mu = TAUT_NEW(s->arena, double, x->rods);
        TAUT_TRY(taut_mechanics_invert(x, "method shake", s->now.t, s->arena, error));
    }
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->force, &w->kick, &w->total, &w->step));
    w->residual = TAUT_NEW(s->arena, double, x->rods);
    w->g = TAUT_NEW(s->arena, double, x->rods > 0 ? x->rod_start[x->rods] : 0);
    for (int k = 0; k < HISTORY; k++)
        w->past[k] = TAUT_NEW(s->arena, double, x->rods);
    TAUT_TRY(taut_arena_check(s->arena, error));
    w->rate = UNKNOWN_RATE;
    TAUT_TRY(taut_mechanics_saddle(x, false, true, &s->arena->allocator, &w->saddle, error));
    if (!x->part && !taut_arena_late(s->arena, s->n)) /* ranks decide alike */
        TAUT_TRY(need_general(s, error));
    if (w->mu) /* G is read by rows */
        return TAUT_OK;
    w->columns = taut_mechanics_room(x, w->saddle);
    taut_mechanics_columns(x, w->columns);
    return TAUT_OK;
}

static void destroy(taut_stepper *s)
{
    rattle *w = s->work;
    if (!w)
        return;
    taut_saddle_destroy(w->saddle);
    taut_saddle_destroy(w->general);
    taut_mechanics_destroy(&w->mechanics);
}

/* G of the rigid bonds as it was evaluated becomes w->g; its array takes the next one. */
static void keep_jacobian(rattle *w)
{
    taut_mechanics *x = &w->mechanics;
    double *fresh = x->rod_jacobian;
    x->rod_jacobian = w->g;
    if (!x->mixed)
        x->values.jacobian = w->g;
    w->g = fresh;
}

/* F, G, gdot and the factorisation at a state; lambda gets the springs' multipliers. */
static int arrive(taut_stepper *s, const taut_state *state, taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    w->fresh = w->complete = false;
    TAUT_TRY(taut_mechanics_force(x, state->t, state->q, state->v, w->force, state->lambda, error));
    TAUT_TRY(taut_mechanics_factor(x, w->saddle, state->t, x->mass, x->rod_jacobian, NULL, error));
    taut_mechanics_rates_at(x, w->saddle, state->v, w->residual);
    if (x->rods > 0 && !w->columns)
        keep_jacobian(w);
    return TAUT_OK;
}

/* Acceleration and multipliers at now, from F in a. */
static int accelerate(taut_stepper *s, double *a, taut_error *error)
{
    rattle *w = s->work;
    taut_loop_copy(s->pool, s->n, w->force, a);
    return taut_mechanics_react(&w->mechanics, w->saddle, s->now.t, s->now.q, s->now.v, a,
                                w->residual, s->now.lambda, error);
}

static int complete(taut_stepper *s, taut_error *error)
{
    rattle *w = s->work;
    if (!w->fresh) {
        TAUT_TRY(arrive(s, &s->now, error));
        TAUT_TRY(accelerate(s, w->kick, error));
        taut_copy(s->n, w->kick, s->now.a);
        taut_copy(w->mu ? w->mechanics.rods : 0, w->residual, w->mu);
        s->statistics->solves++;
    } else if (!w->complete)
        TAUT_TRY(accelerate(s, s->now.a, error));
    w->fresh = w->complete = true;
    return TAUT_OK;
}

static int fail_converge(double t, double h, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "method rattle: the rigid bonds cannot be reached from t = %.9g with step %g; "
                     "a smaller step size is needed",
                     t, h);
}

/* residual = g(t, q). */
static int residual(taut_stepper *s, double t, const double *q, const double *v, taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    taut_values to = {.bond = x->mixed ? x->values.bond : w->residual};
    int status = taut_evaluate_inside(s->context, t, q, v, TAUT_WANT_BOND, &to, error);
    TAUT_TRY(x->part ? taut_space_agree(x->part->space, status, error) : status);
    if (x->mixed)
        taut_mechanics_pick(x, 1, x->values.bond, w->residual);
    return TAUT_OK;
}

/* The same with G there, and the matrix of both G factorised. */
static int residual_and_matrix(taut_stepper *s, double t, const double *q, const double *v,
                               taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    TAUT_TRY(need_general(s, error));
    taut_mechanics_columns(x, NULL);
    int status = taut_mechanics_bonds(x, t, q, v, 0, error);
    const double *g = x->rod_jacobian;
    taut_mechanics_columns(x, w->columns);
    TAUT_TRY(status);
    taut_mechanics_pick(x, 1, x->values.bond, w->residual);
    if (w->columns)
        taut_columns_to_rows(&x->rod_rows, w->columns, w->g);
    return taut_mechanics_factor(x, w->general, t, x->mass, w->g, g, error);
}

/* ---- loops over all coordinates */

/* The larger one of `most` and the bits of |x|, which are ordered as numbers, NaN above all. */
TAUT_INLINED int64_t larger_bits(int64_t most, double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= INT64_MAX;
    return bits > most ? bits : most;
}

TAUT_INLINED double number_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* total += a kick, next = q + (h v + total); the largest |q|, and |v| */
TAUT_HOT static double rattle_begin(taut_index n, double a, double h, const double *restrict kick,
                                    const double *restrict q, const double *restrict v,
                                    double *restrict total, double *restrict next, double *size_v)
{
    int64_t most_q = 0, most_v = 0;
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++) {
        total[i] = a * kick[i] + total[i];
        next[i] = q[i] + (h * v[i] + total[i]);
        most_q = larger_bits(most_q, q[i]);
        most_v = larger_bits(most_v, v[i]);
    }
    *size_v = number_of(most_v);
    return number_of(most_q);
}

/* total += step, next = q + (h v + total); the largest |step|, NaN if one is (vectors.c) */
TAUT_HOT static double rattle_move(taut_index n, double h, const double *restrict step,
                                   const double *restrict q, const double *restrict v,
                                   double *restrict total, double *restrict next)
{
    int64_t most = 0;
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++) {
        most = larger_bits(most, step[i]);
        total[i] += step[i];
        next[i] = q[i] + (h * v[i] + total[i]);
    }
    return number_of(most);
}

/* v = old + a x */
TAUT_HOT static void rattle_kick(taut_index n, double a, const double *restrict x,
                                 const double *restrict old, double *restrict v)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++)
        v[i] = old[i] + a * x[i];
}

/* v += kick, kick *= a */
TAUT_HOT static void rattle_finish(taut_index n, double a, double *restrict kick,
                                   double *restrict v)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++) {
        v[i] += kick[i];
        kick[i] *= a;
    }
}

/* newest = a_0 past_0 + ... + a_3 newest */
TAUT_HOT static void rattle_continue(taut_index n, const double *a, double *const *past,
                                     double *restrict newest)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *p0 = past[0], *p1 = past[1], *p2 = past[2];
    TAUT_UNROLLED
    for (taut_index r = 0; r < n; r++)
        newest[r] = a0 * p0[r] + a1 * p1[r] + a2 * p2[r] + a3 * newest[r];
}

/* The same by the threads of the run. */
typedef struct rattle_work {
    double a, h;
    const double *x, *q, *v; /* kick or step, and the state where it begins */
    double *total, *next;
    const double *weight;
    double *const *past;
    double *most_v; /* by blocks of n */
    int64_t n;
} rattle_work;

static double begin_block(void *context, int64_t begin, int64_t end)
{
    rattle_work *l = context;
    return rattle_begin((taut_index)(end - begin), l->a, l->h, l->x + begin, l->q + begin,
                        l->v + begin, l->total + begin, l->next + begin,
                        &l->most_v[begin / taut_pool_block(l->n)]);
}

static double move_block(void *context, int64_t begin, int64_t end)
{
    const rattle_work *l = context;
    return rattle_move((taut_index)(end - begin), l->h, l->x + begin, l->q + begin, l->v + begin,
                       l->total + begin, l->next + begin);
}

static double kick_block(void *context, int64_t begin, int64_t end)
{
    const rattle_work *l = context;
    rattle_kick((taut_index)(end - begin), l->a, l->x + begin, l->v + begin, l->next + begin);
    return 0;
}

static double finish_block(void *context, int64_t begin, int64_t end)
{
    const rattle_work *l = context;
    rattle_finish((taut_index)(end - begin), l->a, l->total + begin, l->next + begin);
    return 0;
}

static double continue_block(void *context, int64_t begin, int64_t end)
{
    const rattle_work *l = context;
    double *const past[] = {l->past[0] + begin, l->past[1] + begin, l->past[2] + begin};
    rattle_continue((taut_index)(end - begin), l->weight, past, l->next + begin);
    return 0;
}

static double over_ranks(const rattle *w, double most)
{
    return taut_space_largest(w->mechanics.part ? w->mechanics.part->space : NULL, most);
}

/* Begins with total += h^2/2 kick; the largest |q| + |h| |v|. */
static double begin_positions(taut_stepper *s, double h, const taut_state *old, double *next)
{
    const rattle *w = s->work;
    const int64_t blocks = (s->n - 1) / taut_pool_block(s->n) + 1;
    double sizes[TAUT_LOOP_BLOCKS];
    for (int64_t k = 0; k < blocks; k++)
        sizes[k] = 0;
    rattle_work l = {.a = h * h / 2,
                     .h = h,
                     .x = w->kick,
                     .q = old->q,
                     .v = old->v,
                     .total = w->total,
                     .next = next,
                     .most_v = sizes,
                     .n = s->n};
    const double most_q = taut_pool_largest(s->pool, s->n, begin_block, &l);
    double most_v = 0;
    for (int64_t k = 0; k < blocks; k++)
        most_v = taut_larger(most_v, sizes[k]);
    return over_ranks(w, most_q) + fabs(h) * over_ranks(w, most_v);
}

/* The polynomial through the latest values of h^2/2 (lambda - mu), continued by a step, as a
 * first step: w->total = -M^-1 G^T of it. It makes room for the new value, past[0], and puts its
 * guess there. */
static void foresee(rattle *w, double h)
{
    static const double weight[HISTORY + 1][HISTORY] = {
        {0}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
    const taut_mechanics *x = &w->mechanics;
    if (h != w->h || x->mass_start) { /* a full mass matrix would cost as much as an iteration */
        w->steps = 0;
        w->rate = h == w->h ? w->rate : UNKNOWN_RATE;
    }
    taut_pool *pool = x->context->pool;
    const double *a = weight[w->steps];
    double *newest = w->past[HISTORY - 1];
    taut_pool_loop(pool, x->rods, continue_block,
                   &(rattle_work){.weight = a, .past = w->past, .next = newest});
    bool pulled = w->steps > 0 && taut_saddle_pull(w->saddle, newest, w->total);
    if (!pulled)
        taut_loop_clear(pool, x->n, w->total);
    if (w->steps > 0 && !pulled)
        for (taut_index r = 0; r < x->rods; r++)
            for (taut_index k = x->rod_start[r]; k < x->rod_start[r + 1]; k++)
                w->total[x->rod_column[k]] -= w->g[k] * newest[r] / x->mass[x->rod_column[k]];
    if (w->steps > 0 && !pulled && x->part) /* ghosts lack bonds of other ranks */
        taut_halo_refresh(&x->part->coordinates, w->total);
    memmove(w->past + 1, w->past, (HISTORY - 1) * sizeof w->past[0]);
    w->past[0] = newest;
    w->h = h;
}

/* After a correction of the given size: what the next ones would still move. One rate is
 * not enough, since it depends on which rigid bonds were off: the largest of the latest steps
 * counts, doubled where no rate of this step is known yet. */
static double left(const rattle *w, double size, double before)
{
    double rate = before < INFINITY         ? fmax(size / before, w->rate)
                  : w->rate == UNKNOWN_RATE ? 1
                                            : 2 * w->rate;
    return rate < 0.5 ? size * rate / (1 - rate) : size;
}

/* Moves next.q within old.q + h v + range(M^-1 G^T) until g = 0; total is h (v_half - v), `scale`
 * the size of q + h v. */
static int reach_bonds(taut_stepper *s, const taut_state *old, const taut_state *next, double h,
                       double scale, taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    double before = INFINITY;
    bool slow = false;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY((slow ? residual_and_matrix : residual)(s, next->t, next->q, old->v, error));
        TAUT_TRY(
            taut_saddle_oppose(slow ? w->general : w->saddle, false, w->step, w->residual, error));
        s->statistics->solves++;
        s->statistics->newton_iterations++;
        rattle_work l = {
            .h = h, .x = w->step, .q = old->q, .v = old->v, .total = w->total, .next = next->q};
        double floor = 2 * DBL_EPSILON * scale,
               size = over_ranks(w, taut_pool_largest(s->pool, s->n, move_block, &l));
        taut_loop_add(s->pool, x->rods, w->residual, w->past[0]);
        /* the new point is at rounding once its correction is, or once it no longer shrinks there
         */
        bool done = size <= floor || (size > before / 2 && size < 1e3 * floor) ||
                    left(w, size, before) <= floor / 10;
        /* corrections that begin near rounding show no rate */
        if (before < INFINITY && before > 1e3 * floor && size > 2 * floor)
            w->rate = slow ? UNKNOWN_RATE : fmax(size / before, FORGET * w->rate);
        if (done)
            return TAUT_OK;
        if (!isfinite(size) || size > 1e3 * (scale + 1))
            break;
        /* near rounding no other matrix would be faster */
        slow = slow || (size > 0.2 * before && size > 1e3 * floor);
        if (slow && x->part)
            break;
        before = size;
    }
    return fail_converge(old->t, h, error);
}

/* kick = h/2 M^-1 (F - G^T mu), of a velocity along the bonds, or with SHAKE's multipliers. */
static int kick(taut_stepper *s, double h, taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    taut_loop_scale(s->pool, s->n, h / 2, w->force, w->kick);
    if (!w->mu) {
        s->statistics->solves++;
        return taut_saddle_oppose(w->saddle, true, w->kick, w->residual, error);
    }
    taut_add_scaled(x->rods, 1 / (h * h), w->past[0], w->mu);
    for (taut_index r = 0; r < x->rods; r++)
        taut_row_add(&x->rod_rows, w->g, r, -h / 2 * w->mu[r], w->kick);
    return taut_mechanics_divide(x, w->kick, error);
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    if (!w->fresh)
        TAUT_TRY(complete(s, error));

    taut_state old = s->now, next = s->last;
    next.t = old.t + h;
    if (x->rods > 0)
        foresee(w, h);
    else
        taut_loop_clear(s->pool, s->n, w->total);
    int known = w->steps;
    w->steps = 0; /* a step that fails leaves no history */
    double scale = begin_positions(s, h, &old, next.q);
    if (x->rods > 0)
        TAUT_TRY(reach_bonds(s, &old, &next, h, scale, error));
    taut_pool_loop(s->pool, s->n, kick_block,
                   &(rattle_work){.a = 1 / h, .x = w->total, .v = old.v, .next = next.v});

    TAUT_TRY(arrive(s, &next, error));
    TAUT_TRY(kick(s, h, error));
    taut_pool_loop(s->pool, s->n, finish_block,
                   &(rattle_work){.a = 2 / h, .total = w->kick, .next = next.v});
    w->fresh = true;
    w->steps = known < HISTORY ? known + 1 : HISTORY;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    rattle *w = s->work;
    w->fresh = w->complete = false;
    w->steps = 0;
    w->rate = UNKNOWN_RATE;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    if (s->m == 0)
        return TAUT_OK;
    if (q == s->now.q && v == s->now.v && t == s->now.t) {
        TAUT_TRY(complete(s, error));
        if (lambda != s->now.lambda)
            taut_copy(s->m, s->now.lambda, lambda);
        return TAUT_OK;
    }
    TAUT_TRY(need_general(s, error));
    taut_mechanics_columns(x, NULL);
    int status =
        taut_mechanics_multipliers(x, w->general, t, q, v, w->step, w->residual, lambda, error);
    taut_mechanics_columns(x, w->columns);
    return status;
}

/* F, G and the matrix at now are made again: the same bits, and on any number of ranks. */
static void archive(taut_stepper *s, taut_archive *to)
{
    rattle *w = s->work;
    taut_mechanics *x = &w->mechanics;
    bool is_fresh = w->fresh, is_complete = w->complete;
    taut_archive_flag(to, &is_fresh);
    taut_archive_flag(to, &is_complete);
    taut_archive_spread(to, x->part ? &x->part->coordinates : NULL, w->kick, s->n);
    for (int k = 0; k < HISTORY; k++)
        taut_mechanics_archive(x, w->past[k], to);
    taut_archive_integer(to, &w->steps, 0, HISTORY);
    taut_archive_real(to, &w->h);
    taut_archive_real(to, &w->rate);
    if (w->mu)
        taut_mechanics_archive(x, w->mu, to);
    if (!to->reading || to->status != TAUT_OK)
        return;
    if (is_fresh && arrive(s, &s->now, NULL) != 0)
        taut_archive_fail(to, TAUT_ERROR_EVALUATE, "its state cannot be evaluated");
    w->fresh = is_fresh;
    w->complete = is_complete;
}

const taut_method taut_shake = {
    .name = "shake",
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_FULL,
    .order = 2,
    .summary = "SHAKE: the positions of RATTLE; velocities leave the rigid bonds by h^2",
    .reference = "Ryckaert, Ciccotti, Berendsen 1977",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS |
               TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,
    .data = "velocities are not projected",
    .stability = 2,
    .create = create,
    .destroy = destroy,
    .step = step,
    .changed = changed,
    .complete = complete,
    .multipliers = multipliers,
    .archive = archive,
};

const taut_method taut_rattle = {
    .name = "rattle",
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_EFFECTIVE | TAUT_MOTION_FULL,
    .order = 2,
    .summary =
        "RATTLE: rigid bonds held to rounding, symplectic, time-reversible; springs and potentials "
        "as forces",
    .reference = "Andersen 1983; Hairer, Lubich, Wanner, Geometric Numerical Integration, VII.1.4",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS |
               TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,
    .on_bonds = true,
    .stability = 2,
    .spans_ranks = true,
    .averages = true,
    .in_momenta = &taut_rattle_momenta,
    .create = create,
    .destroy = destroy,
    .step = step,
    .changed = changed,
    .complete = complete,
    .multipliers = multipliers,
    .archive = archive,
};
