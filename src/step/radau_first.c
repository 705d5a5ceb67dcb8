/* radau_first.c - Radau IIA for first-order systems, stiff ones and those of index 2:
 *
 *     z' = f(t,z,y), 0 = g(t,z)   [C (1.6); Hairer, Wanner II, IV.8, VII.4]
 *
 * Unknowns are the rates k_i and the algebraic variables y_i of the stages, Z_i = z0 + h sum_j
 * a_ij k_j. Newton's iteration is stage-wise (radau_whole.c) for small systems of index 2, else
 * it has one Jacobian for all stages (radau_tensor.c), and each eigenvalue mu of A the saddle
 * system
 *     [ I - h mu df/dz   -df/dy ] [x]   [ f - k        ]^
 *     [ dg/dz             0     ] [y] = [ -g / (h mu)  ]
 * The error estimate is hgamma (f0 - k(0)), k(0) from the rates' polynomial, filtered by the
 * same matrix at mu = gamma, once more where the first result is above the tolerance [Hairer,
 * Wanner II, (IV.8.20)]. It does not see variables that only follow others, whose values at the
 * ends are right whatever the step: the error of the polynomial between the ends is added,
 * measured by how far the continuation of the last one missed the end of this step. Invariants
 * are not part of the equations. */
#include "step/radau.h"

#include <stdio.h>

#include "base/vectors.h"

/* ---- making */

/* G and df/dy^T side by side as the pattern of both G of the saddle systems. */
static int join_patterns(taut_stepper *s, taut_radau *w, taut_error *error)
{
    const taut_system *system = taut_context_system(s->context);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_CONTROL, &w->control, error));
    taut_index all = w->jacobian.start[w->m] + w->control.start[w->n], used = 0;
    taut_index *start = TAUT_NEW(s->arena, taut_index, w->m + 1),
               *column = TAUT_NEW(s->arena, taut_index, all);
    w->from = TAUT_NEW(s->arena, taut_index, all);
    TAUT_TRY(TAUT_RESERVE(s->arena, all, error, &w->control_g, &w->g2));
    TAUT_TRY(taut_arena_check(s->arena, error));
    w->g1 = w->control_g;
    for (taut_index i = 0; i < w->m; i++) {
        for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++) {
            w->from[used] = k;
            column[used++] = w->jacobian.column[k];
        }
        for (taut_index j = 0; j < w->n; j++)
            for (taut_index k = w->control.start[j]; k < w->control.start[j + 1]; k++)
                if (w->control.column[k] == i) {
                    w->from[used] = -1 - k;
                    column[used++] = j;
                }
        start[i + 1] = used;
    }
    w->shape.g_start = start;
    w->shape.g_column = column;
    return TAUT_OK;
}

int taut_radau_first_describe(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_system *system = taut_context_system(s->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    if (w->m != sizes.constraints)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s needs as many constraints (%d) as algebraic variables (%d)%s",
                         s->method->name, (int)sizes.constraints, (int)w->m,
                         w->m == 0 ? "; constraints without algebraic variables are [invariants]"
                                   : "");
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    w->tangents = w->tangent.start[w->n];
    w->diagonal = true; /* the unit matrix */
    w->mass_entries = w->n;
    TAUT_TRY(TAUT_RESERVE(s->arena, sizes.bonds, error, &w->bond, &w->bond_dt));
    w->frozen.jacobian = TAUT_NEW(s->arena, double, sizes.jacobian_entries);
    w->shape = (taut_saddle_shape){
        .n = w->n, .m = w->m, .k_start = w->tangent.start, .k_column = w->tangent.column};
    if (w->m > 0)
        TAUT_TRY(join_patterns(s, w, error));
    w->frozen.drag = TAUT_NEW(s->arena, double, w->m > 0 ? w->control.start[w->n] : 0);
    return taut_arena_check(s->arena, error);
}

/* ---- one step */

/* f (into rate) and g (into c, unless NULL) at a point, with derivatives on request. */
static int evaluate_at(taut_stepper *s, double t, const double *z, const double *y,
                       bool derivatives, double *rate, double *c, taut_error *error)
{
    taut_radau *w = s->work;
    taut_values values = {.force = rate,
                          .bond = w->bond,
                          .jacobian = w->frozen.jacobian,
                          .bond_dt = w->bond_dt,
                          .force_dq = w->frozen.stiff,
                          .force_dv = w->frozen.drag};
    unsigned wanted = TAUT_WANT_FORCE | (c && w->m > 0 ? TAUT_WANT_BOND : 0);
    if (derivatives)
        wanted |= TAUT_WANT_FORCE_DQ | (w->m > 0 ? TAUT_WANT_FORCE_DV | TAUT_WANT_JACOBIAN : 0);
    TAUT_TRY(taut_evaluate_inside(s->context, t, z, y, wanted, &values, error));
    s->statistics->force_evaluations++;
    if (c)
        taut_copy(w->m, w->bond, c);
    if (!derivatives)
        return TAUT_OK;
    s->statistics->jacobians++;
    for (taut_index k = 0; k < w->tangents; k++)
        w->frozen.stiff[k] = -w->frozen.stiff[k];
    for (taut_index k = 0; w->m > 0 && k < w->shape.g_start[w->m]; k++) {
        taut_index from = w->from[k];
        w->control_g[k] = from < 0 ? -w->frozen.drag[-1 - from] : 0;
        w->g2[k] = from < 0 ? 0 : w->frozen.jacobian[from];
    }
    return TAUT_OK;
}

static int start(taut_stepper *s, taut_radau_past *past, taut_error *error)
{
    TAUT_TRY(evaluate_at(s, s->now.t, s->now.q, s->now.y, false, past->force, NULL, error));
    past->ended = past->begun = true;
    return TAUT_OK;
}

static int guess(taut_stepper *s, double h, taut_radau_past *past, double *a, double *lambda,
                 taut_error *error)
{
    const taut_radau *w = s->work;
    (void)h;
    (void)error;
    for (int i = 0; i < w->s; i++) {
        taut_copy(w->n, past->force, a + (int64_t)i * w->n);
        taut_copy(w->m, s->now.y, lambda + (int64_t)i * w->m);
    }
    return TAUT_OK;
}

/* The rate at the last stage is kept as that of the end. */
static int evaluate(taut_stepper *s, int i, double h, bool derivatives, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *trial = &w->past[1 - w->top];
    int64_t row = (int64_t)i * w->n, bond = (int64_t)i * w->m;
    TAUT_TRY(evaluate_at(s, s->now.t + w->table.c[i] * h, w->q + row, trial->lambda + bond,
                         derivatives, w->r + row, w->y + bond, error));
    if (i == w->s - 1)
        taut_copy(w->n, w->r + row, trial->force);
    for (taut_index k = 0; k < w->n; k++)
        w->r[row + k] -= trial->a[row + k];
    return TAUT_OK;
}

static void add_bonds(taut_radau *w, int i, double h)
{
    (void)h;
    if (w->m == 0)
        return;
    taut_index entries = w->shape.g_start[w->m], first = w->whole_g_start[i * w->m];
    taut_copy(entries, w->g1, w->whole_g1 + first);
    taut_copy(entries, w->g2, w->whole_g2 + first);
}

static int factor(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    TAUT_TRY(taut_radau_factor(s, h, error));
    if (!w->filter)
        return TAUT_OK;
    s->statistics->factorisations++;
    taut_saddle_sum sum = taut_radau_shifted(w, w->mass, h * w->table.gamma, w->g1);
    sum.g2 = w->g2;
    return taut_saddle_factor_sum(w->filter, &sum, error);
}

/* A singular matrix: the algebraic variable that moves no constraint, or the constraint that
 * none moves, by the terms of dg/dz df/dy. */
static int explain(taut_stepper *s, int status, taut_error *error)
{
    taut_radau *w = s->work;
    char text[200] = "the matrix of the step is singular", name[96];
    taut_index still = -1;
    if (status != TAUT_ERROR_SINGULAR)
        return status;
    taut_clear(w->m, w->y); /* how often each variable is seen */
    for (taut_index i = 0; i < w->m; i++) {
        bool moved = false;
        for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++)
            for (taut_index j = w->control.start[w->jacobian.column[k]];
                 j < w->control.start[w->jacobian.column[k] + 1]; j++) {
                bool acts = w->frozen.jacobian[k] != 0 && w->frozen.drag[j] != 0;
                w->y[w->control.column[j]] += acts;
                moved |= acts;
            }
        still = !moved && still < 0 ? i : still;
    }
    taut_index idle = 0;
    while (idle < w->m && w->y[idle] > 0)
        idle++;
    if (idle < w->m) {
        taut_system_name(taut_context_system(s->context), TAUT_ALGEBRAIC, idle, name, sizeof name);
        snprintf(text, sizeof text,
                 "the algebraic variable '%s' moves no constraint: the index is above 2", name);
    } else if (still >= 0) {
        taut_system_name(taut_context_system(s->context), TAUT_BOND, still, name, sizeof name);
        snprintf(text, sizeof text,
                 "no algebraic variable moves the constraint '%s': the index is above 2", name);
    } else if (w->m > 0)
        snprintf(text, sizeof text,
                 "the constraints, differentiated once, do not determine the algebraic variables; "
                 "`taut check` names those that follow from others");
    return taut_radau_singular(s, text, error);
}

/* ---- the error */

/* error_q = h gamma (filtered) (rate - k(0)). */
static int filtered(taut_stepper *s, double h, const double *rate, taut_error *error)
{
    taut_radau *w = s->work;
    const double *k = w->past[1 - w->top].a;
    const taut_collocation *table = &w->table;
    for (taut_index i = 0; i < w->n; i++) {
        double sum = table->compare_start * rate[i];
        if (table->begins)
            sum -= table->compare_early * w->early[i];
        for (int j = 0; j < w->s; j++)
            sum -= table->compare[j] * k[(int64_t)j * w->n + i];
        w->filter_x[i] = sum;
    }
    taut_clear(w->m, w->filter_y);
    s->statistics->solves++;
    TAUT_TRY(
        taut_saddle_solve(w->filter ? w->filter : w->block[0], 1, w->filter_x, w->filter_y, error));
    for (taut_index i = 0; i < w->n; i++)
        s->error_q[i] = h * w->table.gamma * w->filter_x[i];
    return TAUT_OK;
}

/* What is fast and damped at the beginning is no error of the step: the rate is evaluated where
 * the estimate leads. */
static int filtered_again(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    double *z = w->extra, *rate = w->r;
    for (taut_index i = 0; i < w->n; i++)
        z[i] = s->now.q[i] + s->error_q[i];
    taut_error reason = {0};
    int status = evaluate_at(s, s->now.t, z, s->now.y, false, rate, NULL, &reason);
    return status == 0 ? filtered(s, h, rate, error) : taut_fail_final(status, &reason, error);
}

static int estimate(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    taut_clear(w->n, s->error_v);
    TAUT_TRY(filtered(s, h, past->force, error));
    if (w->table.compare_start != 0 && taut_radau_norm(s, 1, s->error_q) > 1)
        TAUT_TRY(filtered_again(s, h, error));
    if (!past->smooth)
        return TAUT_OK;
    double share = taut_radau_between(w, h);
    for (taut_index k = 0; k < w->n; k++)
        s->error_q[k] = fabs(s->error_q[k]) + share * fabs(w->end_q[k] - w->foretold[k]);
    return TAUT_OK;
}

const taut_radau_equations taut_radau_first = {.integrals = 1,
                                               .iterations = 15,
                                               .start = start,
                                               .guess = guess,
                                               .evaluate = evaluate,
                                               .add_bonds = add_bonds,
                                               .factor = factor,
                                               .estimate = estimate,
                                               .explain = explain};
