/* fibre.c - states with a given foot point (X, V), on its normal fibre, as in series.c [A 4.3.1]:
 *
 *     q = X + M^-1 G^T mu, g(q) = y, v = V + M^-1 G^T nu, G(q) v + g_t = ydot
 *     (M and G of the fibre at X)
 *
 * y and ydot are those of a filtered state, 0 for rigid bonds. A filter moves a state along the
 * bonds: by the square of what it removes, by its own error, and velocities by h^2/6 q''', the
 * difference between velocities of Verlet and derivatives. Of its result only stretches and rates
 * are used; they vary along the manifold as C does, so that the error is small.
 *
 * Held coordinates are those of the foot point, and the fibre is that of the free ones, as in
 * series.c.
 *
 * First the part of (q, v) - (X, V) along the bonds is removed, with G at X. This changes g in
 * second order, which simplified Newton steps correct; likewise gdot where G is exact: with
 * differences the correction would be as large as their noise. */
#include "filter/fibre.h"

#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"

enum { MOST_ITERATIONS = 12 };

/* Bonds alone: not counted as an evaluation of forces. */
static int evaluate(taut_fibre *s, const double *q, const double *v, unsigned more,
                    taut_error *error)
{
    const taut_projection *p = s->p;
    return taut_evaluate_inside(p->in->context, p->in->t, q, v,
                                TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | more, &s->values, error);
}

/* Row i of G times x. */
static double row_times(const taut_fibre *s, const double *entry, taut_index i, const double *x)
{
    return taut_row_dot(&s->position.jacobian, entry, i, x);
}

/* x += dx on the fibre, G dx = residual; *step is the largest entry of dx. */
static int correct(taut_fibre *s, double *x, double *step, taut_error *error)
{
    taut_clear(s->position.n, s->dx);
    const taut_masked_saddle *saddle = x == s->v && s->separate ? &s->velocity : &s->position;
    s->p->statistics.solves++;
    TAUT_TRY(taut_masked_saddle_solve(saddle, s->dx, s->residual, error));
    taut_add(s->position.n, s->dx, x);
    *step = taut_largest(s->position.n, s->dx);
    return TAUT_OK;
}

/* to = foot + shift + the normal part of from - foot - shift. */
static int remove_tangential(taut_fibre *s, const double *from, const double *foot,
                             const double *shift, double *to, taut_error *error)
{
    double step;
    for (taut_index i = 0; i < s->position.n; i++) {
        to[i] = foot[i] + (shift ? shift[i] : 0);
        s->dx[i] = from[i] - to[i];
    }
    for (taut_index i = 0; i < s->position.m; i++)
        s->residual[i] = row_times(s, s->foot_g, i, s->dx);
    return correct(s, to, &step, error);
}

/* One step of x, which is s->q or s->v. */
static int refine_once(taut_fibre *s, double *x, double *step, taut_error *error)
{
    bool velocity = x == s->v;
    if (!velocity)
        TAUT_TRY(evaluate(s, s->q, s->v, 0, error));
    for (taut_index i = 0; i < s->position.m; i++) {
        double rate = s->values.bond_dt[i] + row_times(s, s->values.jacobian, i, s->v);
        s->residual[i] = !velocity                   ? s->y[i] - s->values.bond[i]
                         : s->spring[i] && !s->exact ? 0
                                                     : s->ydot[i] - rate;
    }
    return correct(s, x, step, error);
}

/* Steps until what is left would be rounding. *good is false when they do not shrink. */
static int refine(taut_fibre *s, double *x, bool *good, taut_error *error)
{
    double before = INFINITY, step = 0, scale = taut_largest(s->position.n, x);
    *good = false;
    for (int k = 0; k < MOST_ITERATIONS && !*good; k++) {
        TAUT_TRY(refine_once(s, x, &step, error));
        if (!isfinite(step) || step > 2 * before)
            return TAUT_OK;
        double rate = step / before, size = 2 * DBL_EPSILON * fmax(scale, step);
        *good = step <= size || (k > 0 && rate < 0.5 && step * rate <= size / 4) ||
                (rate > 0.25 && step <= 1e-12 * scale);
        before = step;
    }
    return TAUT_OK;
}

int taut_fibre_place(taut_fibre *s, const double *shift, bool *placed, taut_error *error)
{
    taut_projection *p = s->p;
    *placed = false;
    if (!s->ready)
        return TAUT_OK;
    TAUT_TRY(evaluate(s, p->q, p->v, 0, error));
    for (taut_index i = 0; i < s->position.m; i++) {
        s->y[i] = s->spring[i] ? s->values.bond[i] : 0;
        s->ydot[i] =
            s->spring[i] ? s->values.bond_dt[i] + row_times(s, s->values.jacobian, i, p->v) : 0;
    }
    TAUT_TRY(remove_tangential(s, p->q, s->foot_q, NULL, s->q, error));
    TAUT_TRY(remove_tangential(s, p->v, s->foot_v, shift, s->v, error));
    TAUT_TRY(refine(s, s->q, placed, error));
    if (!*placed)
        return TAUT_OK;
    TAUT_TRY(evaluate(s, s->q, s->v, 0, error)); /* the last step has moved it */
    TAUT_TRY(refine(s, s->v, placed, error));
    if (!*placed)
        return TAUT_OK;
    taut_projection_move(p, s->q, s->v);
    return TAUT_OK;
}

/* ---- the object */

static int new_arrays(taut_fibre *s, taut_error *error)
{
    taut_projection *p = s->p;
    taut_index n = s->position.n, m = s->position.m;
    TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &s->foot_q, &s->foot_v, &s->q, &s->v, &s->dx));
    TAUT_TRY(TAUT_RESERVE(&p->arena, m, error, &s->y, &s->ydot, &s->residual, &s->values.bond,
                          &s->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->in->sizes.jacobian_entries, error, &s->values.jacobian,
                          &s->foot_g));
    return TAUT_RESERVE(&p->arena, s->position.matrix ? s->position.tangent.start[n] : n, error,
                        &s->values.mass);
}

/* Which bonds count, and which of them are springs. */
static int sort_bonds(taut_fibre *s, taut_index *springs, taut_error *error)
{
    taut_projection *p = s->p;
    const double *compliance = taut_context_compliance(p->in->context);
    s->counts = TAUT_NEW(&p->arena, unsigned char, p->in->sizes.bonds);
    s->spring = TAUT_NEW(&p->arena, unsigned char, p->in->sizes.bonds);
    TAUT_NEED(error, s->counts, s->spring);
    for (taut_index i = 0; i < p->in->sizes.bonds; i++) {
        s->spring[i] = compliance[i] > 0;
        s->counts[i] = !s->spring[i] || !taut_context_soft(p->in->context, i);
        *springs += s->spring[i] && s->counts[i];
    }
    return TAUT_OK;
}

int taut_fibre_create(taut_projection *p, taut_fibre *s, taut_error *error)
{
    taut_index springs = 0;
    *s = (taut_fibre){.p = p, .exact = p->in->sizes.can & TAUT_CAN_DERIVATIVES};
    TAUT_TRY(sort_bonds(s, &springs, error));
    if (springs == 0)
        return TAUT_OK;
    s->separate = taut_hold_any(p->in->hold, p->in->sizes.coordinates,
                                TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY);
    const unsigned char *hold = s->separate ? p->in->hold : NULL;
    TAUT_TRY(taut_masked_saddle_create(&s->position, p->in->context, &p->arena, hold,
                                       TAUT_HOLD_POSITION, NULL, error));
    if (s->separate)
        TAUT_TRY(taut_masked_saddle_create(&s->velocity, p->in->context, &p->arena, hold,
                                           TAUT_HOLD_VELOCITY, NULL, error));
    TAUT_TRY(new_arrays(s, error));
    taut_copy(s->position.n, p->q, s->foot_q);
    taut_copy(s->position.n, p->v, s->foot_v);
    TAUT_TRY(evaluate(s, p->q, p->v, TAUT_WANT_MASS, error));
    taut_copy(p->in->sizes.jacobian_entries, s->values.jacobian, s->foot_g);
    s->p->statistics.factorisations += 1 + s->separate;
    taut_error reason = {0};
    int status = taut_masked_saddle_factor(&s->position, p->in->t, s->values.mass, s->foot_g,
                                           s->counts, 0, &reason);
    if (status == 0 && s->separate)
        status = taut_masked_saddle_factor(&s->velocity, p->in->t, s->values.mass, s->foot_g,
                                           s->counts, 0, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    s->ready = status == 0;
    return TAUT_OK;
}

void taut_fibre_destroy(taut_fibre *s)
{
    taut_masked_saddle_destroy(&s->position);
    taut_masked_saddle_destroy(&s->velocity);
}
