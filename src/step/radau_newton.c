/* radau_newton.c - Newton's iteration of a step, stage-wise or tensor.
 *
 * Corrections are measured in positions and velocities (|dQ| + h |dV| in the driver's norm),
 * never in multipliers or energies: in the compliance form the rate of convergence and these
 * numbers do not depend on the stiffness [B Lemma 8.2], so neither does the count. */
#include "step/radau.h"

#include <float.h>
#include <math.h>

#include "base/hot.h"
#include "base/vectors.h"

/* Of the tolerance: how well the equations are solved. Newton's own iteration ends far below it,
 * the simplified one just below. */
static const double SHARE = 0.02, SHARE_STAGE_WISE = 0.05;
/* In units of that share: how far the last iterate may be from what is accepted, for its G
 * serves the next error estimate. */
static const double NEAR = 20, NEAR_QUADRATIC = 1000;
static const double AGE = 4; /* rates that were not measured again are trusted less and less */
/* a rate above this asks for another Jacobian in the next step, */
static const double OLD = 0.1;
static const double SLOW = 0.3;   /* above this at once */
static const double HOPELESS = 2; /* corrections that grow like this diverge */
/* First order: fixed step sizes are solved to rounding, which cancellation in f and constraints
 * that are hard to meet make larger than it looks: Newton's own corrections that are below this,
 * in units of the rounding of the largest variable, and no longer shrink, are that. */
static const double STALLED = 1e6;

static bool first_order(const taut_radau *w)
{
    return w->equations->integrals == 1;
}

/* The stiff potential is part of K, whose entries then change from iterate to iterate. */
static bool in_k(const taut_radau *w)
{
    return w->stiff && w->rows == 0;
}

/* scale[n]: what a correction of each coordinate is measured with, a share of the tolerance; for
 * fixed step sizes, and never below, what rounding leaves of the largest coordinate. rough: the
 * norm below which it may be that. */
static void set_scale(const taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    /* as predicted: an initial state at rest in the origin has a size too */
    const double *a = first_order(w) ? w->past[w->top].force : w->past[1 - w->top].a;
    double largest = 0, share = w->stage_wise && !first_order(w) ? SHARE_STAGE_WISE : SHARE;
    for (taut_index k = 0; k < w->n; k++)
        largest = fmax(largest, fmax(fabs(s->now.q[k]), first_order(w) ? fabs(h * a[k])
                                                                       : fmax(fabs(h * s->now.v[k]),
                                                                              h * h * fabs(a[k]))));
    largest = taut_radau_largest(w, largest);
    double rtol = s->adaptive ? share * s->rtol : 0, atol = s->adaptive ? share * s->atol : 0;
    double floor = fmax(8 * DBL_EPSILON * largest, DBL_MIN / DBL_EPSILON), widest = floor;
    for (taut_index k = 0; k < s->n; k++) {
        double allowed = atol + rtol * fabs(s->now.q[k]);
        if (s->weight_q) /* velocities and forces have tolerances of their own */
            allowed = fmin(allowed, share * fmin(s->weight_q[k], fabs(h) * s->weight_v[k]));
        w->scale[k] = fmax(allowed, floor);
        widest = fmax(widest, w->scale[k]);
    }
    w->rough = 50 * floor / taut_radau_largest(w, widest);
}

/* The sum of ((|dq| + |h dv|)/scale)^2, four at a time; without dv, h is 0 and dv is dq. */
TAUT_HOT static double radau_squares(taut_index n, double h, const double *restrict dq,
                                     const double *restrict dv, const double *restrict scale)
{
    double sum[4] = {0}, rest = 0;
    taut_index k = 0;
    for (; k + 4 <= n; k += 4)
        for (int i = 0; i < 4; i++) {
            double e = (fabs(dq[k + i]) + fabs(h * dv[k + i])) / scale[k + i];
            sum[i] += e * e;
        }
    for (; k < n; k++) {
        double e = (fabs(dq[k]) + fabs(h * dv[k])) / scale[k];
        rest += e * e;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

/* Of all ranks what they own. */
static double sum_squares(const taut_radau *w, double h, const double *dq, const double *dv)
{
    double sum = 0;
    if (!w->part)
        return radau_squares(w->n, h, dq, dv, w->scale);
    const taut_halo *halo = &w->part->coordinates;
    for (int k = 0; k < halo->ranges; k++) {
        const taut_index first = halo->range[k][0], count = halo->range[k][1] - first;
        sum += radau_squares(count, h, dq + first, dv + first, w->scale + first);
    }
    return taut_space_sum(halo->space, sum);
}

/* Corrections r and y of a and lambda, which move q and v of all stages; returns the norm of
 * that, the largest over the stages of rms (|dq| + h |dv|) / scale. */
static double correct(const taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    taut_radau_past *trial = &w->past[1 - w->top];
    const taut_collocation *table = &w->table;
    bool moving = !first_order(w);
    double worst = 0, *dq = w->extra, *dv = w->force;
    for (int i = 0; i < w->s; i++) {
        taut_collocation_row(table, moving ? table->square[i] : table->a[i], moving ? h * h : h,
                             w->n, w->r, dq);
        if (moving)
            taut_collocation_row(table, table->a[i], h, w->n, w->r, dv);
        double sum = sum_squares(w, moving ? h : 0, dq, moving ? dv : dq);
        if (isnan(sum))
            return NAN;
        worst = fmax(worst, sum);
        taut_add(w->n, dq, w->q + (int64_t)i * w->n);
        if (moving)
            taut_add(w->n, dv, w->v + (int64_t)i * w->n);
    }
    for (int i = 0; i < w->s; i++) {
        taut_add(w->n, w->r + (int64_t)i * w->n, trial->a + (int64_t)i * w->n);
        taut_add(w->m, w->y + (int64_t)i * w->m, trial->lambda + (int64_t)i * w->m);
    }
    const double n = w->part ? (double)w->part->coordinates.total : w->n;
    return n > 0 ? sqrt(worst / n) : 0;
}

/* Residuals of all stages, derivatives where they are asked for. */
static int evaluate_stages(taut_stepper *s, double h, bool derivatives, taut_error *error)
{
    taut_radau *w = s->work;
    int middle = w->s / 2;
    for (int i = 0; i < w->s; i++) {
        bool here = derivatives && (w->stage_wise || i == middle);
        TAUT_TRY(w->equations->evaluate(s, i, h, here, error));
        if (here && w->stage_wise)
            taut_radau_whole_add(w, i, h);
    }
    return TAUT_OK;
}

/* And factorisations. */
static int evaluate(taut_stepper *s, double h, bool derivatives, taut_error *error)
{
    taut_radau *w = s->work;
    TAUT_TRY(taut_radau_agree(w, evaluate_stages(s, h, derivatives, error), error));
    if (derivatives)
        w->frozen.valid = true;
    return derivatives || w->frozen.h != h ? w->equations->factor(s, h, error) : TAUT_OK;
}

/* The polynomials of the latest step, continued; or the guess made at the start. */
static int predict(taut_stepper *s, double h, bool anew, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top], *trial = &w->past[1 - w->top];
    if (anew && !past->begun)
        TAUT_TRY(w->equations->start(s, past, error));
    if (anew)
        w->rate = 1;
    if (anew)
        return w->equations->guess(s, h, past, trial->a, trial->lambda, error);
    taut_collocation_extend(&w->table, h / past->h, w->n, past->a, trial->a);
    taut_collocation_extend(&w->table, h / past->h, w->m, past->lambda, trial->lambda);
    if (w->jumps)
        taut_radau_jump(w, h);
    const double *row = first_order(w) ? w->table.b : w->table.b_square,
                 early = (first_order(w) ? w->table.early : w->table.early_square)[w->s - 1];
    for (taut_index k = 0; (w->velocity || first_order(w)) && k < w->n; k++) {
        double sum = w->table.begins ? early * w->early[k] : 0;
        for (int j = 0; j < w->s; j++)
            sum += row[j] * trial->a[(int64_t)j * w->n + k];
        w->foretold[k] = s->now.q[k] + h * (first_order(w) ? sum : s->now.v[k] + h * sum);
    }
    return TAUT_OK;
}

/* After correction k of size `norm`, `rate` times the one before: 0 solved, 1 go on, -1
 * hopeless. The rate is kept for the next step. */
static int verdict_on(taut_radau *w, double norm, double rate, int k, bool anew)
{
    w->rate = isnan(rate) ? 1 : fmin(fmax(rate, DBL_EPSILON), 1);
    if (norm <= 1e-3 || (rate < 1 && norm * rate / (1 - rate) <= 1 &&
                         norm <= (w->quadratic ? NEAR_QUADRATIC : NEAR)))
        return 0;
    if (k > 0 && rate > SLOW && norm <= w->rough)
        return 0; /* rounding is all that is left */
    return k > anew && rate > HOPELESS ? -1 : 1;
}

/* The rate to expect after a first correction of size `norm`, from that of an earlier step.
 * Where derivatives are those of the iterate, it is proportional to the correction. */
static double expected_rate(const taut_radau *w, double norm)
{
    if (!w->quadratic)
        return pow(w->rate, 0.8);
    return fmin(AGE * w->rate * fmax(norm / w->reach, 0.05), 1);
}

/* Whether the next iterate is a better place for the derivatives: where the Jacobian is too old
 * or the prediction was poor. */
static bool derive_again(const taut_radau *w, double rate, int k, bool fresh)
{
    return in_k(w) || (k > 0 && rate > SLOW &&
                       (w->stage_wise || (first_order(w) ? k % 2 == 0 : !fresh || k % 4 == 0)));
}

/* Iterates from where the stages are. *fresh: the Jacobian was formed in this step. Returns 0,
 * TAUT_RETRY no convergence, <0 error. */
static int settle(taut_stepper *s, double h, bool anew, bool *fresh, taut_error *error)
{
    taut_radau *w = s->work;
    double before = 0;
    int slow = 0;
    /* another step size means new factorisations: then derivatives at a new place cost little
     * more */
    bool kept = w->study && w->compliance != w->rigid;
    bool derive = !kept && (w->stage_wise || !w->frozen.valid || in_k(w) || w->frozen.h != h ||
                            w->rate > OLD || (first_order(w) && anew));
    for (int k = 0; k < w->equations->iterations; k++) {
        TAUT_TRY(evaluate(s, h, derive, error));
        *fresh |= derive;
        TAUT_TRY(w->stage_wise ? taut_radau_whole_solve(s, h, error)
                               : taut_radau_tensor_solve(s, h, error));
        s->statistics->newton_iterations++;
        double norm = correct(s, h);
        if (isnan(norm))
            break;
        double rate = k > 0 ? norm / before : expected_rate(w, norm);
        if (k == 0)
            w->reach = norm;
        int verdict = verdict_on(w, norm, rate, k, anew);
        if (verdict == 0)
            return TAUT_OK;
        slow = rate > SLOW && k > 0 ? slow + 1 : 0;
        if (first_order(w) && w->stage_wise && !s->adaptive && norm <= STALLED &&
            (slow >= 3 || verdict < 0))
            return TAUT_OK;
        if (verdict < 0)
            break;
        derive = !kept && derive_again(w, rate, k, *fresh);
        before = norm;
    }
    return taut_radau_stuck(s, h, error);
}

/* The one Jacobian of an iteration to study; J2: at the stages of the constrained system, from
 * which it goes on. */
static int form_once(taut_stepper *s, double h, bool anew, taut_error *error)
{
    taut_radau *w = s->work;
    const double *compliance = w->compliance;
    bool fresh = false;
    int status = TAUT_OK;
    if (w->study == TAUT_STUDY_J2) {
        w->compliance = w->rigid;
        status = settle(s, h, anew, &fresh, error);
        w->compliance = compliance;
    }
    TAUT_TRY(status);
    taut_radau_study_place(s, h);
    TAUT_TRY(evaluate(s, h, true, error));
    taut_radau_place(s, h);
    return TAUT_OK;
}

/* Whether the r of a stiff potential needs another outer iteration after k of them; --newton r0,
 * r1, r2 make as many as they are named for. */
static bool goes_on(const taut_stepper *s, double h, int k)
{
    const taut_radau *w = s->work;
    return w->outer > 0 ? k + 1 < w->outer : w->rows > 0 && taut_radau_potential_missed(s, h) > 1;
}

/* Iterates from the prediction, or from a new guess. The part r of a stiff potential's force that
 * its rows do not have is kept while the stages are too far from the solution to form it
 * [B (8.7)]: then they go on until it no longer matters. */
static int iterate(taut_stepper *s, double h, bool anew, bool *fresh, taut_error *error)
{
    enum { MOST_OUTER = 10 };
    taut_radau *w = s->work;
    TAUT_TRY(predict(s, h, anew, error));
    taut_radau_place(s, h);
    set_scale(s, h);
    if (w->study)
        TAUT_TRY(form_once(s, h, anew, error));
    if (w->outer > 0) /* (8.5) */
        taut_clear((int64_t)w->s * w->n, w->potential.rest);
    TAUT_TRY(settle(s, h, anew, fresh, error));
    for (int k = 0; goes_on(s, h, k); k++) {
        if (k == MOST_OUTER)
            return taut_radau_stuck(s, h, error);
        if (w->outer > 0) /* (8.7) */
            taut_copy((int64_t)w->s * w->n, w->potential.left, w->potential.rest);
        TAUT_TRY(settle(s, h, anew, fresh, error));
    }
    return TAUT_OK;
}

/* Whether what failed from a prediction, or with an old Jacobian, may succeed from a new guess. */
static bool may_succeed(int status)
{
    return status == TAUT_RETRY || status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_SINGULAR;
}

/* G and M at an end that is no stage. */
static int evaluate_end(taut_stepper *s, double h, taut_radau_past *trial, taut_error *error)
{
    const taut_radau *w = s->work;
    taut_values values = {
        .jacobian = trial->jacobian, .bond_dt = trial->drift, .mass = trial->mass};
    unsigned wanted = (w->m > w->rows ? TAUT_WANT_JACOBIAN : 0) | (w->varying ? TAUT_WANT_MASS : 0);
    return wanted == 0 ? TAUT_OK
                       : taut_evaluate_inside(s->context, s->now.t + h, w->end_q, w->end_v, wanted,
                                              &values, error);
}

/* The last stage is the end of the step: its G and M serve the error estimate of the next one. */
static int keep_end(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_end(s, h);
    if (first_order(w))
        return TAUT_OK;
    taut_radau_past *trial = &w->past[1 - w->top];
    if (!w->table.ends)
        return evaluate_end(s, h, trial, error);
    int64_t last = w->s - 1;
    if (w->rows > 0 && s->adaptive)
        TAUT_TRY(taut_radau_potential_drift(s, s->now.t + h, w->q + last * w->n, h,
                                            w->bond_dt + last * w->m, error));
    taut_copy(w->entries, w->g + last * w->entries, trial->jacobian);
    taut_copy(w->m, w->bond_dt + last * w->m, trial->drift);
    if (w->varying)
        taut_copy(w->mass_entries, w->mass + last * w->mass_entries, trial->mass);
    return TAUT_OK;
}

int taut_radau_newton(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    bool fresh = false, smooth = w->past[w->top].smooth;
    int status = iterate(s, h, !smooth, &fresh, error);
    /* an old Jacobian, or a step that was no continuation of the one before: a transient, a kink */
    if (may_succeed(status) && (smooth || !fresh)) {
        w->frozen.valid = false;
        taut_error_clear(error);
        status = iterate(s, h, true, &fresh, error);
    }
    if (status == 0)
        status = keep_end(s, h, error);
    if (status != 0) {
        w->frozen.valid = false;
        w->frozen.h = 0;
        w->rate = 1;
    }
    return w->equations->explain(s, status, error);
}
