/* radau_estimate.c - the error of a step: how far the collocation polynomials miss the equations
 * of motion at the initial state.
 *
 * The step is compared with a formula that has one more node, c = 0 [Hairer, Wanner II,
 * (IV.8.17)-(IV.8.19)]: its difference is
 *     M e = f0 - G0^T lambda0 - M a(0),     dv = h gamma e,   dq = (h gamma)^2 e,
 * a(0) from the accelerations' polynomial. Filtered by [K G^T; G -D] at mu = gamma, so that
 * directions held by stiff and rigid bonds, in which the comparison has no meaning, drop out
 * for every stiffness. lambda0 of a spring differs from the polynomial's when the spring
 * oscillates. In full motion that is an error like any other. In slow motion the oscillation is
 * unwanted, and the method damps it [B Theorem 3.2]: it counts only as far as steps that follow the
 * rest of the motion (of size h e0^(-1/order), e0 the estimate without it) would resolve the
 * spring, with (D/(D + G M^-1 G^T))^2 at that size. Soft bonds always count. A velocity that is not
 * quite along the bonds, delta = gdot0 - g'(0), g through the stages' C lambda - T gdot (order s
 * only, [B Theorem 4.1]), is stopped within the step by multipliers (A^-1 1)_i/h (G M^-1 G^T)^-1
 * delta that are no polynomial's values: their part of the comparison is taken out, else the
 * estimate would not fall with h after a long step. In slow motion so is that of a position off the
 * slow manifold, which makes (A^-1 (h A + T)^-1 1)_i/h (G M^-1 G^T)^-1 C (lambda0 - lambda(0)).
 * Without T in these, the rate of a damper counted as an error of the velocity, h^2 whatever the
 * stages. The estimate is O(h^(s+2)) in
 * the driver's norm; with one stage, O(h^2) from v0 - v1. Added to it is the velocity across the
 * bonds at the end, which alone gives the error where bonds leave no freedom. Signs are kept: the
 * driver forms G dq, how far springs are stretched. */
#include "base/vectors.h"
#include "base/rows.h"
#include "step/radau.h"

#include <float.h>
#include <math.h>

/* The velocity across the bonds is set again in every step: its error does not add up, and counts
 * less; more where the positions have its order, 1, too, and where the method damps nothing. */
static const double ACROSS = 0.25, ACROSS_LOW = 4, ACROSS_UNDAMPED = 0.5;

int taut_radau_estimate_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    return TAUT_RESERVE(s->arena, w->m, error, &w->filter_lambda, &w->ringing);
}

/* lambda at the initial state: that of the state where oscillations count, else that of the
 * polynomial; the difference is added to the oscillation. Returns whether there is one. */
static bool choose_tensions(taut_stepper *s, const taut_radau_past *past,
                            const taut_radau_past *trial, const double *weight)
{
    taut_radau *w = s->work;
    bool differs = false;
    for (taut_index i = 0; i < w->m; i++) {
        double value = 0;
        for (int j = 0; j < w->s; j++)
            value += weight[j] * trial->lambda[(int64_t)j * w->m + i];
        bool spring = w->compliance[i] > 0 && !isnan(past->tension[i]);
        bool counts = spring && (w->oscillations || (i < s->m && taut_context_soft(s->context, i)));
        w->filter_lambda[i] = counts ? past->tension[i] : value;
        w->ringing[i] = spring && !counts ? past->tension[i] - value : 0;
        differs |= spring && !counts;
    }
    return taut_radau_any(w, differs);
}

double taut_radau_norm(const taut_stepper *s, double factor, const double *x)
{
    const taut_radau *w = s->work;
    const taut_halo *halo = w->part ? &w->part->coordinates : NULL;
    const double n = halo ? (double)halo->total : s->n;
    double sum = 0;
    for (int r = 0; r < (halo ? halo->ranges : 1); r++) {
        const taut_index first = halo ? halo->range[r][0] : 0,
                         end = halo ? halo->range[r][1] : s->n;
        for (taut_index k = first; k < end; k++) {
            double size = factor * fabs(x[k]) / (s->atol + s->rtol * fabs(s->now.q[k]));
            sum += size * size;
        }
    }
    sum = taut_space_sum(halo ? halo->space : NULL, sum);
    return n > 0 ? sqrt(sum / n) : 0;
}

/* Adds the error by the springs' oscillation at the step that the rest of the motion allows. */
static int add_ringing(taut_stepper *s, taut_saddle *filter, double reach, const double *mass,
                       taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    double *r = w->extra;
    taut_clear(w->n, r);
    for (taut_index i = 0; i < w->m; i++) {
        if (w->ringing[i] == 0) { /* also of a bond without a gradient: mobility 0 */
            w->filter_y[i] = 0;
            continue;
        }
        double d = w->compliance[i] / (reach * (reach + w->damping[i]));
        double ratio = d / (d + taut_radau_mobility(w, i, past->jacobian, mass)),
               value = ratio * ratio * w->ringing[i];
        if (value != 0)
            taut_row_add(&w->jacobian, past->jacobian, i, -value, r);
        w->filter_y[i] = 0;
    }
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(filter, 1, r, w->filter_y, error));
    for (taut_index k = 0; k < w->n; k++)
        w->filter_x[k] += r[k];
    return TAUT_OK;
}

/* How the stages' multipliers of a bond stop a velocity (power 1) or take back a position (2) off
 * the slow manifold, sum_i l_i(0) (A^-k 1)_i/h^k; position and damped: between that and the first
 * power over T, as of A^-1 (h A + T)^-1 1/h. */
static double stopping_pattern(const taut_radau *w, int stage, int power, double h, double tau)
{
    double once = 0, twice = 0, size = fabs(h) + tau;
    for (int k = 0; k < w->s; k++) {
        once += w->table.inverse[stage][k];
        twice += w->table.inverse_square[stage][k];
    }
    return power == 1 ? once / h : (h * twice + tau * once) / (h * size * size);
}

/* r += sum_i pattern_i (G0 - G_i)^T mu, mu from G K^-1 G^T mu = delta; delta in
 * w->filter_lambda. */
static int forgive(taut_stepper *s, taut_saddle *filter, int power, double h, const double *weight,
                   double *r, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    double *mu = w->filter_lambda, *x = w->extra;
    taut_clear(w->n, x);
    for (taut_index i = 0; i < w->m; i++)
        mu[i] = -mu[i];
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(filter, 1, x, mu, error));
    for (int j = 0; j < w->s; j++) {
        const double *g = w->g + (int64_t)j * w->entries;
        for (taut_index i = 0; i < w->m; i++) {
            double pattern = weight[j] * stopping_pattern(w, j, power, h, w->damping[i]);
            for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++)
                r[w->jacobian.column[k]] += pattern * (past->jacobian[k] - g[k]) * mu[i];
        }
    }
    return TAUT_OK;
}

/* How much faster than the stages' values of g a bond moves, at theta = 0 or 1 with its rate there:
 * rate - g', g through the stages g_i = C lambda_i - T gdot_i, as their equations have it. */
static double faster_than_stages(const taut_radau *w, taut_index i, double theta, double rate,
                                 double h)
{
    const double *lambda = w->past[1 - w->top].lambda;
    double slope = 0;
    for (int j = 0; j < w->s; j++) {
        int64_t bond = (int64_t)j * w->m + i;
        double value = w->compliance[i] * lambda[bond], weight = 0, power = 1;
        if (i >= w->m - w->rows)
            value = taut_radau_potential_value(w, j, i);
        else if (w->damping[i] > 0)
            value -= w->damping[i] *
                     (w->bond_dt[bond] + taut_row_dot(&w->jacobian, w->g + j * (int64_t)w->entries,
                                                      i, w->v + j * (int64_t)w->n));
        for (int k = 1; k < w->s; k++, power *= theta)
            weight += k * power * w->table.basis[j][k];
        slope += weight * value;
    }
    return rate - slope / h;
}

static int forgive_velocity(taut_stepper *s, taut_saddle *filter, double h, const double *weight,
                            taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    for (taut_index i = 0; i < w->m; i++) {
        double rate = past->drift[i] + taut_row_dot(&w->jacobian, past->jacobian, i, s->now.v);
        w->filter_lambda[i] = faster_than_stages(w, i, 0, rate, h);
    }
    return forgive(s, filter, 1, h, weight, w->filter_x, error);
}

static int forgive_position(taut_stepper *s, taut_saddle *filter, double h, const double *weight,
                            taut_error *error)
{
    taut_radau *w = s->work;
    for (taut_index i = 0; i < w->m; i++)
        w->filter_lambda[i] = w->compliance[i] * w->ringing[i];
    return forgive(s, filter, 2, h, weight, w->filter_x, error);
}

/* The velocity at the end across the bonds, gdot - g', which the equations leave to the method
 * [B Theorem 4.1: order s]: the difference to a velocity along the bonds into w->extra. Of a damped
 * bond the equation of the last stage holds T gdot too, and leaves the share e/(e + T) of it. */
static int velocity_across(taut_stepper *s, taut_saddle *filter, double h, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *end = &w->past[1 - w->top];
    double e = fabs(h * w->table.gamma);
    for (taut_index i = 0; i < w->m; i++) {
        double rate = end->drift[i] + taut_row_dot(&w->jacobian, end->jacobian, i, w->end_v);
        /* the rest of the estimate has it */
        bool resolved = w->oscillations && w->compliance[i] > 0 && w->damping[i] == 0;
        w->filter_y[i] =
            resolved ? 0 : faster_than_stages(w, i, 1, rate, h) * (e / (e + w->damping[i]));
    }
    taut_clear(w->n, w->extra);
    s->statistics->solves++;
    return taut_saddle_solve(filter, 1, w->extra, w->filter_y, error);
}

/* Removes from d[n] what is across bonds that steps of size e do not resolve: [M G^T; G -D] (d,
 * *) = (M d, 0). */
static int along_bonds(taut_stepper *s, double e, double *d, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    const double *mass = w->varying ? past->mass : w->mass;
    for (taut_index k = 0; k < w->n; k++) {
        w->force[k] = 0;
        w->extra[k] = -d[k];
    }
    for (taut_index i = 0; i < w->m; i++) {
        w->filter_lambda[i] = w->filter_y[i] = 0;
        w->d[i] = fmax(w->compliance[i] / taut_radau_divisor(e, w->damping[i]), 0);
    }
    taut_radau_defect(w, w->force, past->jacobian, w->filter_lambda, mass, w->extra, d);
    s->statistics->factorisations++;
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_factor(w->acceleration, mass, past->jacobian, NULL, w->d, error));
    return taut_saddle_solve(w->acceleration, 1, d, w->filter_y, error);
}

/* The two errors have the same derivative: their quotient is that of the node integrals. */
double taut_radau_between(const taut_radau *w, double h)
{
    int integrals = w->equations->integrals;
    double ratio = h / w->past[w->top].h,
           missed = taut_collocation_miss(&w->table, 1, ratio, integrals);
    return pow(fabs(ratio), w->table.nodes + integrals) * w->between / fmax(fabs(missed), DBL_MIN);
}

/* A strong drag makes velocities follow forces, and the filter removes what it damps though
 * positions need it: the error of the polynomial between the ends is added, from how far the
 * continuation of the last one missed the end. */
static int add_between(taut_stepper *s, double h, double reach, taut_error *error)
{
    taut_radau *w = s->work;
    double share = taut_radau_between(w, h), *d = w->filter_x;
    for (taut_index k = 0; k < w->n; k++)
        d[k] = share * (w->end_q[k] - w->foretold[k]);
    if (w->m > 0 && !w->oscillations)
        TAUT_TRY(along_bonds(s, reach, d, error));
    for (taut_index k = 0; k < w->n; k++)
        s->error_q[k] += copysign(d[k], s->error_q[k]);
    return TAUT_OK;
}

/* filter_x = compare_start (f0 - G0^T lambda0) - M (sum of compare a); returns whether springs
 * oscillate. */
static bool compare(taut_stepper *s, const double *mass)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top], *trial = &w->past[1 - w->top];
    const taut_collocation *table = &w->table;
    double weight[TAUT_STAGES_MAX];
    taut_collocation_weights(table, 0, 0, weight);
    bool rings = choose_tensions(s, past, trial, weight), starts = table->compare_start != 0;
    for (taut_index k = 0; k < w->n; k++) {
        double sum = table->begins ? table->compare_early * w->early[k] : 0;
        for (int j = 0; j < w->s; j++)
            sum += table->compare[j] * trial->a[(int64_t)j * w->n + k];
        w->extra[k] = sum;
    }
    if (!starts) {
        taut_clear(w->m, w->filter_lambda);
        taut_clear(w->n, w->force);
    }
    taut_radau_defect(w, starts ? past->force : w->force, past->jacobian, w->filter_lambda, mass,
                      w->extra, w->filter_x);
    if (w->rows > 0 && starts)
        taut_add_scaled(w->n, -1, w->potential.first, w->filter_x);
    return rings;
}

static int estimate(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top];
    const double *mass = w->varying ? past->mass : w->mass, *weight = w->table.compare;
    const bool euler = w->s == 1 && w->table.ends;
    double e = h * w->table.gamma, share = w->table.triangular && s->method->bond_order == 1
                                               ? ACROSS_LOW
                                           : s->method->undamped ? ACROSS_UNDAMPED
                                                                 : ACROSS;
    bool rings = compare(s, mass);

    taut_saddle *filter = w->filter ? w->filter : w->block[0];
    if (w->filter) {
        static const double complex one = 1;
        taut_saddle_sum sum = taut_radau_shifted(w, mass, e, past->jacobian);
        for (taut_index i = 0; i < w->m; i++)
            w->d[i] = w->compliance[i] / taut_radau_divisor(e, w->damping[i]);
        sum.d = w->d;
        sum.d_factor = &one;
        s->statistics->factorisations++;
        TAUT_TRY(taut_saddle_factor_sum(filter, &sum, error));
    }
    if (w->m > 0 && !euler)
        TAUT_TRY(forgive_velocity(s, filter, h, weight, error));
    if (rings && !euler)
        TAUT_TRY(forgive_position(s, filter, h, weight, error));
    taut_clear(w->m, w->filter_y);
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(filter, 1, w->filter_x, w->filter_y, error));
    double factor = e * e + fabs(e / w->table.gamma * e),
           norm = fmin(taut_radau_norm(s, factor, w->filter_x), 1),
           reach = e * pow(norm, -1.0 / taut_error_order(s));
    if (rings)
        TAUT_TRY(add_ringing(s, filter, fabs(reach), mass, error));
    if (w->m > 0)
        TAUT_TRY(velocity_across(s, filter, h, error));
    else
        taut_clear(w->n, w->extra);
    for (taut_index k = 0; k < w->n; k++) {
        double across = share * fabs(w->extra[k]);
        s->error_v[k] = e * w->filter_x[k] * (euler ? 0.5 : 1);
        s->error_q[k] = euler ? h / 2 * (s->now.v[k] - w->end_v[k]) : e * e * w->filter_x[k];
        if (w->oscillations && !w->moves) /* rows show velocities along the bonds */
            s->error_q[k] += copysign(h * across, s->error_q[k]);
        else
            s->error_v[k] += copysign(across, s->error_v[k]);
    }
    if (w->velocity && past->smooth)
        TAUT_TRY(add_between(s, h, reach, error));
    return TAUT_OK;
}

int taut_radau_estimate(taut_stepper *s, double h, taut_error *error)
{
    const taut_radau *w = s->work;
    return taut_radau_explain(s, estimate(s, h, error), 1, w->past[w->top].jacobian, error);
}
