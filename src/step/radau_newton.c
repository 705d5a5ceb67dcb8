/* radau_newton.c - Newton's iteration of a step, stage-wise or tensor.
 *
 * Corrections are measured in positions and velocities (|dQ| + h |dV| in the driver's norm),
 * never in multipliers or energies: in the compliance form the rate of convergence and these
 * numbers do not depend on the stiffness [B Lemma 8.2], so neither does the count. */
#include "step/radau.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"

enum { MOST_ITERATIONS = 20 };
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

double taut_radau_scale(const taut_stepper *s, bool stage_wise, double largest, double *scale)
{
    double share = stage_wise ? SHARE_STAGE_WISE : SHARE;
    double rtol = s->adaptive ? share * s->rtol : 0, atol = s->adaptive ? share * s->atol : 0;
    double floor = fmax(8 * DBL_EPSILON * largest, DBL_MIN / DBL_EPSILON);
    for (taut_index k = 0; k < s->n; k++)
        scale[k] = fmax(atol + rtol * fabs(s->now.q[k]), floor);
    return 50 * floor / fmax(atol + rtol * largest, floor);
}

static void set_scale(const taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    /* as predicted: a start at rest in the origin has a size too */
    const double *a = w->past[1 - w->top].a;
    double largest = 0;
    for (taut_index k = 0; k < w->n; k++)
        largest =
            fmax(largest, fmax(fabs(s->now.q[k]), fmax(fabs(h * s->now.v[k]), h * h * fabs(a[k]))));
    w->rough = taut_radau_scale(s, w->stage_wise, largest, w->scale);
}

double taut_radau_correct(const taut_stepper *s, const taut_collocation *table, double h,
                          const double *scale, double *r, double *q, double *v, double *dq,
                          double *dv)
{
    double worst = 0;
    for (int i = 0; i < table->stages; i++) {
        double sum = 0;
        taut_collocation_row(table, v ? table->square[i] : table->a[i], v ? h * h : h, s->n, r, dq);
        if (v)
            taut_collocation_row(table, table->a[i], h, s->n, r, dv);
        for (taut_index k = 0; k < s->n; k++) {
            double e = (fabs(dq[k]) + (v ? fabs(h * dv[k]) : 0)) / scale[k];
            sum += e * e;
        }
        if (isnan(sum))
            return NAN;
        worst = fmax(worst, sum);
        taut_add(s->n, dq, q + (int64_t)i * s->n);
        if (v)
            taut_add(s->n, dv, v + (int64_t)i * s->n);
    }
    return s->n > 0 ? sqrt(worst / s->n) : 0;
}

/* Residuals of all stages, derivatives where they are asked for, and factorisations. */
static int evaluate(taut_stepper *s, double h, bool derivatives, taut_error *error)
{
    taut_radau *w = s->work;
    int middle = w->s / 2;
    for (int i = 0; i < w->s; i++) {
        bool here = derivatives && (w->stage_wise || i == middle);
        TAUT_TRY(taut_radau_evaluate(s, i, h, here, error));
        if (here && w->stage_wise)
            taut_radau_whole_add(w, i, h);
    }
    if (derivatives)
        w->frozen.valid = true;
    if (w->stage_wise)
        return derivatives ? taut_radau_whole_factor(s, h, error) : TAUT_OK;
    return derivatives || w->frozen.h != h ? taut_radau_tensor_factor(s, h, error) : TAUT_OK;
}

/* The polynomials of the latest step, continued; or the guess made at the start. */
static int predict(taut_stepper *s, double h, bool anew, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top], *trial = &w->past[1 - w->top];
    if (anew && !past->begun)
        TAUT_TRY(taut_radau_start(s, past, error));
    if (anew)
        w->rate = 1;
    if (anew)
        return taut_radau_guess(s, h, past, trial->a, trial->lambda, error);
    taut_collocation_extend(&w->table, h / past->h, w->n, past->a, trial->a);
    taut_collocation_extend(&w->table, h / past->h, w->m, past->lambda, trial->lambda);
    for (taut_index k = 0; w->velocity && k < w->n; k++) {
        double sum = 0;
        for (int j = 0; j < w->s; j++)
            sum += w->table.square[w->s - 1][j] * trial->a[(int64_t)j * w->n + k];
        w->foretold[k] = s->now.q[k] + h * (s->now.v[k] + h * sum);
    }
    return TAUT_OK;
}

int taut_radau_verdict(bool quadratic, double norm, double rate, double rough, int k, bool anew,
                       double *kept)
{
    *kept = isnan(rate) ? 1 : fmin(fmax(rate, DBL_EPSILON), 1);
    if (norm <= 1e-3 ||
        (rate < 1 && norm * rate / (1 - rate) <= 1 && norm <= (quadratic ? NEAR_QUADRATIC : NEAR)))
        return 0;
    if (k > 0 && rate > SLOW && norm <= rough)
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

/* Iterates from the prediction, or from a guess made anew. *fresh: the Jacobian was formed in
 * this step. Returns 0, >0 no convergence, <0 error. */
static int iterate(taut_stepper *s, double h, bool anew, bool *fresh, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *trial = &w->past[1 - w->top];
    TAUT_TRY(predict(s, h, anew, error));
    taut_radau_place(s, h);
    set_scale(s, h);
    double before = 0;
    /* another step size means new factorisations: then derivatives at a new place cost little
     * more */
    bool derive =
        w->stage_wise || !w->frozen.valid || w->stiff || w->frozen.h != h || w->rate > OLD;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(evaluate(s, h, derive, error));
        *fresh |= derive;
        TAUT_TRY(w->stage_wise ? taut_radau_whole_solve(s, h, error)
                               : taut_radau_blocks_solve(s, &w->blocks, w->r, w->y, error));
        s->statistics->newton_iterations++;
        double norm =
            taut_radau_correct(s, &w->table, h, w->scale, w->r, w->q, w->v, w->extra, w->force);
        if (isnan(norm))
            return taut_radau_stuck(s, h, w->s, w->r, w->scale, error);
        for (int i = 0; i < w->s; i++) {
            taut_add(w->n, w->r + (int64_t)i * w->n, trial->a + (int64_t)i * w->n);
            taut_add(w->m, w->y + (int64_t)i * w->m, trial->lambda + (int64_t)i * w->m);
        }
        double rate = k > 0 ? norm / before : expected_rate(w, norm);
        if (k == 0)
            w->reach = norm;
        int verdict = taut_radau_verdict(w->quadratic, norm, rate, w->rough, k, anew, &w->rate);
        if (verdict == 0)
            return TAUT_OK;
        if (verdict < 0)
            break;
        /* where the Jacobian is too old or the prediction was poor, the next iterate is a better
         * place for it */
        derive = w->stiff || (k > 0 && rate > SLOW && (w->stage_wise || !*fresh || k % 4 == 0));
        before = norm;
    }
    return taut_radau_stuck(s, h, w->s, w->r, w->scale, error);
}

bool taut_radau_again(int status)
{
    return status > 0 || status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_SINGULAR;
}

/* The last stage is the end of the step: its G and M serve the error estimate of the next one. */
static void keep_end(taut_radau *w)
{
    taut_radau_past *trial = &w->past[1 - w->top];
    int64_t last = w->s - 1;
    taut_copy(w->entries, w->g + last * w->entries, trial->jacobian);
    taut_copy(w->m, w->bond_dt, trial->drift);
    if (w->varying)
        taut_copy(w->mass_entries, w->mass + last * w->mass_entries, trial->mass);
}

int taut_radau_newton(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    bool fresh = false, smooth = w->past[w->top].smooth;
    int status = iterate(s, h, !smooth, &fresh, error);
    /* an old Jacobian, or a step that was no continuation of the one before: a transient, a kink */
    if (taut_radau_again(status) && (smooth || !fresh)) {
        w->frozen.valid = false;
        taut_error_clear(error);
        status = iterate(s, h, true, &fresh, error);
    }
    if (status == 0)
        keep_end(w);
    else {
        w->frozen.valid = false;
        w->frozen.h = 0;
        w->rate = 1;
    }
    return taut_radau_explain(s, status, w->s, w->g, error);
}
