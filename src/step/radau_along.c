/* radau_along.c - the velocity at the end of a step, put along the rigid bonds.
 *
 * The equations of the stages hold the positions on the bonds and leave the velocity across them
 * to the method: an error O(h^s) where the motion along them has O(h^(2s-1)) [B Theorem 4.1].
 * One M-orthogonal projection at the end removes it,
 *
 *     M dv + G^T mu = 0, G (v + dv) + dg/dt = 0   [Hairer, Wanner II, VII.4, VII.7]
 *
 * Springs are left alone: their slow velocity C lambda' is known only as well as the derivative
 * of the multipliers' polynomial, whose order is s - 2. Gauss methods do not end with a stage:
 * their positions leave the bonds too, and are put back onto them first.
 *
 * The next step begins after that jump dv, and its accelerations contain what stops it: with
 *     a_i -> a_i - (A^-1 1)_i dv/h,     lambda_i -> lambda_i - (A^-1 1)_i mu/h
 * V_i and Q_i are those of a step from the velocity before the jump (A 1 = c), and so is
 * M a + G^T lambda but for the change of G within the step. Only the accelerations without it
 * are values of a smooth function, which the polynomials continue: it is taken out of those of
 * the latest step, and that of the next one is added to the prediction, whose error is then that
 * of stiff springs. */

#include "base/rows.h"
#include "base/vectors.h"
#include "step/radau.h"

/* Returns G with the rows of springs emptied, 1 in D there; right-hand sides of the rigid bonds:
 * -gdot, or without v -g. */
static const double *take_rods(taut_radau *w, const taut_radau_past *end, const double *v,
                               double *y)
{
    for (taut_index i = 0; i < w->m; i++) {
        bool rod = w->compliance[i] == 0;
        double rate =
            !v ? w->bond[i] : end->drift[i] + taut_row_dot(&w->jacobian, end->jacobian, i, v);
        for (taut_index k = w->jacobian.start[i]; w->springs && k < w->jacobian.start[i + 1]; k++)
            w->acceleration_g[k] = rod ? end->jacobian[k] : 0;
        w->d[i] = !rod;
        y[i] = rod ? -rate : 0;
    }
    return w->springs ? w->acceleration_g : end->jacobian;
}

/* g, G and dg/dt at q. */
static int evaluate(taut_stepper *s, double t, const double *q, const double *v, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *end = &w->past[1 - w->top];
    taut_values values = {.bond = w->bond, .bond_dt = end->drift, .jacobian = end->jacobian};
    int status = taut_evaluate_inside(s->context, t, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                      &values, error);
    return taut_radau_agree(w, status, error);
}

/* One correction of x, q or v, with the values at q: M dx + G^T mu = 0 with G dx = -g, or with v
 * -gdot; dx in w->extra, mu in w->bond. */
static int correct(taut_stepper *s, const double *v, double *x, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *end = &w->past[1 - w->top];
    const double *g = take_rods(w, end, v, w->bond);
    taut_clear(w->n, w->extra);
    s->statistics->factorisations++;
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_factor(w->acceleration, w->varying ? end->mass : w->mass, g, NULL, w->d,
                                error));
    TAUT_TRY(taut_saddle_solve(w->acceleration, 1, w->extra, w->bond, error));
    taut_add(w->n, w->extra, x);
    return TAUT_OK;
}

/* q onto the bonds, to rounding, by Newton's iteration; then v along them. */
static int put_along(taut_stepper *s, double t, double *q, double *v, taut_error *error)
{
    enum { POSITIONS = 3 };
    static const double NEAR = 1e-8; /* its square is rounding */
    taut_radau *w = s->work;
    taut_radau_past *end = &w->past[1 - w->top];
    double off = INFINITY, size = taut_radau_largest(w, taut_largest(w->n, q));
    TAUT_TRY(evaluate(s, t, q, v, error));
    for (int pass = 0; pass < POSITIONS && off > NEAR * size; pass++) {
        TAUT_TRY(correct(s, NULL, q, error));
        off = taut_radau_largest(w, taut_largest(w->n, w->extra));
        TAUT_TRY(evaluate(s, t, q, v, error));
    }
    TAUT_TRY(correct(s, v, v, error));
    if (w->jumps) {
        taut_copy(w->n, w->extra, end->jump[1]);
        taut_copy(w->m, w->bond, end->push[1]);
    }
    return TAUT_OK;
}

void taut_radau_no_jump(const taut_radau *w, taut_radau_past *past)
{
    taut_clear(w->n, past->jump[1]);
    taut_clear(w->m, past->push[1]);
}

int taut_radau_along(taut_stepper *s, double h, double *q, double *v, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top], *end = &w->past[1 - w->top];
    if (!w->rods)
        return TAUT_OK;
    if (w->jumps) {
        taut_copy(w->n, past->jump[1], end->jump[0]);
        taut_copy(w->m, past->push[1], end->push[0]);
        taut_radau_no_jump(w, end);
    }
    int status = put_along(s, s->now.t + h, q, v, error);
    /* Newton's iteration has got through it: the velocity stays as the method left it */
    if (status == TAUT_ERROR_SINGULAR) {
        taut_error_clear(error);
        return TAUT_OK;
    }
    return status;
}

void taut_radau_jump(taut_radau *w, double h)
{
    const taut_radau_past *past = &w->past[w->top];
    taut_radau_past *trial = &w->past[1 - w->top];
    double stop[TAUT_STAGES_MAX] = {0}, later[TAUT_STAGES_MAX];
    for (int i = 0; i < w->s; i++)
        for (int j = 0; j < w->s; j++)
            stop[i] += w->table.inverse[i][j];
    taut_collocation_extend(&w->table, h / past->h, 1, stop, later);
    for (int i = 0; i < w->s; i++)
        for (int k = 0; k < 2; k++) {
            double share = k == 0 ? later[i] / past->h : -stop[i] / h;
            taut_add_scaled(w->n, share, past->jump[k], trial->a + (int64_t)i * w->n);
            taut_add_scaled(w->m, share, past->push[k], trial->lambda + (int64_t)i * w->m);
        }
}
