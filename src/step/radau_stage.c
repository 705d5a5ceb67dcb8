/* radau_stage.c - the equations of one stage and their derivatives (radau.h). */
#include "base/hot.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "step/radau.h"

void taut_radau_place(taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    const taut_collocation *table = &w->table;
    bool first = w->equations->integrals == 1;
    double *a = w->past[1 - w->top].a;
    if (first)
        taut_collocation_combine(table, table->a[0], h, w->n, s->now.q, 0, NULL, a, w->q);
    else {
        taut_collocation_combine(table, table->a[0], h, w->n, s->now.v, 0, NULL, a, w->v);
        taut_collocation_combine(table, table->square[0], h * h, w->n, s->now.q, h, s->now.v, a,
                                 w->q);
    }
    for (int i = 0; table->begins && i < w->s; i++) {
        double by_q = first ? h * table->early[i] : h * h * table->early_square[i];
        taut_add_scaled(w->n, by_q, w->early, w->q + (int64_t)i * w->n);
        if (!first)
            taut_add_scaled(w->n, h * table->early[i], w->early, w->v + (int64_t)i * w->n);
    }
}

void taut_radau_end(taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    const taut_collocation *table = &w->table;
    double *a = w->past[1 - w->top].a;
    if (table->ends)
        return;
    if (w->equations->integrals == 1) {
        taut_collocation_row(table, table->b, h, w->n, a, w->end_q);
        taut_add(w->n, s->now.q, w->end_q);
        return;
    }
    taut_collocation_row(table, table->b, h, w->n, a, w->end_v);
    taut_add(w->n, s->now.v, w->end_v);
    taut_collocation_row(table, table->b_square, h * h, w->n, a, w->end_q);
    taut_add_scaled(w->n, h, s->now.v, w->end_q);
    taut_add(w->n, s->now.q, w->end_q);
}

/* r = f - M a */
TAUT_HOT static void radau_inertia(taut_index n, const double *restrict force,
                                   const double *restrict mass, const double *restrict a,
                                   double *restrict r)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < n; i++)
        r[i] = force[i] - mass[i] * a[i];
}

/* y = g - C lambda */
TAUT_HOT static void radau_stretch(taut_index m, const double *restrict bond,
                                   const double *restrict compliance, const double *restrict lambda,
                                   double *restrict y)
{
    TAUT_UNROLLED
    for (taut_index i = 0; i < m; i++)
        y[i] = bond[i] - compliance[i] * lambda[i];
}

void taut_radau_defect(const taut_radau *w, const double *force, const double *jacobian,
                       const double *lambda, const double *mass, const double *a, double *r)
{
    if (w->diagonal)
        radau_inertia(w->n, force, mass, a, r);
    else
        taut_copy(w->n, force, r);
    if (w->regular)
        taut_products_form(&w->pulls, TAUT_SUMS_SUBTRACT, jacobian, lambda, r);
    else
        taut_pattern_add_transposed(&w->jacobian, jacobian, -1, lambda, r);
    if (!w->diagonal)
        taut_pattern_add(&w->tangent, mass, -1, a, r);
}

/* S = g + T gdot - C lambda. */
static void bond_defect(const taut_radau *w, const double *jacobian, const double *drift,
                        const double *v, const double *lambda, double *y)
{
    radau_stretch(w->m - w->rows, w->bond, w->compliance, lambda, y);
    for (taut_index i = 0; w->moves && i < w->m - w->rows; i++)
        if (w->damping[i] > 0)
            y[i] += w->damping[i] * (drift[i] + taut_row_dot(&w->jacobian, jacobian, i, v));
}

static unsigned derivatives_wanted(const taut_radau *w)
{
    return TAUT_WANT_FORCE_DQ | (w->m > w->rows ? TAUT_WANT_BOND_HESSIAN : 0) |
           (w->velocity ? TAUT_WANT_FORCE_DV : 0) | (w->varying ? TAUT_WANT_MASS_DQ : 0) |
           (w->stiff ? TAUT_WANT_STIFF_HESSIAN : 0);
}

/* B = d(M a)/dq - df/dq + sum lambda Hess g + scale Hess V, from the parts that were delivered:
 * df/dq and the Hessians, with -lambda, in one array or in two. */
static void sum_stiffness(taut_radau *w, const taut_values *values)
{
    double *b = w->frozen.stiff;
    const double *force = values->force_dq, *hessian = w->m > w->rows && force != b ? b : NULL;
    for (taut_index k = 0; k < w->tangents; k++)
        b[k] = -(force[k] + (hessian ? hessian[k] : 0));
    if (w->varying)
        for (taut_index k = 0; k < w->tangents; k++)
            b[k] += values->mass_dq[k];
    if (w->stiff && w->rows == 0)
        for (taut_index k = 0; k < w->tangents; k++)
            b[k] += values->stiff_hessian[k];
}

/* M and G of the frozen Jacobian. */
static void freeze(taut_radau *w, double *mass, const double *jacobian)
{
    if (w->frozen.kept) {
        taut_copy(w->entries, jacobian, w->frozen.jacobian);
        if (w->varying)
            taut_copy(w->mass_entries, mass, w->frozen.mass);
    } else {
        w->frozen.mass = mass;
        w->g1 = jacobian;
    }
}

int taut_radau_evaluate(taut_stepper *s, int i, double h, bool derivatives, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_radau_past *trial = &w->past[1 - w->top];
    const double *a = trial->a + (int64_t)i * w->n;
    double *lambda = trial->lambda + (int64_t)i * w->m;
    const double *q = w->q + (int64_t)i * w->n, *v = w->v + (int64_t)i * w->n;
    double *jacobian = w->g + (int64_t)i * w->entries, *r = w->r + (int64_t)i * w->n,
           *drift = w->bond_dt + (int64_t)i * w->m;
    double *mass = w->varying ? w->mass + (int64_t)i * w->mass_entries : w->mass;
    taut_values values = {.force = w->force,
                          .bond = w->bond,
                          .bond_dt = drift,
                          .jacobian = jacobian,
                          .mass = mass,
                          .stiff_force = w->extra,
                          .stiff_hessian = w->stiff_hessian,
                          .bond_weight = w->filter_y,
                          .mass_weight = a};
    unsigned wanted = TAUT_WANT_FORCE | (w->m > w->rows ? TAUT_WANT_BOND | TAUT_WANT_JACOBIAN : 0) |
                      (w->varying ? TAUT_WANT_MASS : 0);
    if (derivatives) {
        wanted |= derivatives_wanted(w);
        values.force_dv = w->frozen.drag;
        values.bond_hessian = w->frozen.stiff;
        values.force_dq = w->force_dq ? w->force_dq : w->frozen.stiff;
        values.mass_dq = w->mass_dq;
        s->statistics->jacobians++;
    }
    double t = s->now.t + w->table.c[i] * h;
    if (w->study && w->compliance != w->rigid) { /* lambda weights the Hessians of the bonds */
        TAUT_TRY(taut_evaluate_inside(s->context, t, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                      &values, error));
        taut_radau_study_tensions(w, jacobian, drift, v, lambda);
    }
    for (taut_index b = 0; derivatives && b < w->m; b++)
        w->filter_y[b] = -lambda[b];
    if (w->stiff)
        wanted |= TAUT_WANT_STIFF_FORCE | (w->rows > 0 ? TAUT_WANT_STIFF_HESSIAN : 0);
    TAUT_TRY(taut_evaluate_inside(s->context, t, q, v, wanted, &values, error));
    s->statistics->force_evaluations++;
    for (taut_index k = 0; w->stiff && k < w->n; k++)
        if (w->rows > 0)
            w->extra[k] = -w->extra[k];
        else
            w->force[k] += w->extra[k];
    if (w->rows > 0)
        taut_radau_potential_rows(s, i, w->extra, values.stiff_hessian, lambda, jacobian,
                                  w->y + (int64_t)i * w->m);
    if (derivatives) {
        sum_stiffness(w, &values);
        freeze(w, mass, jacobian);
    }
    taut_radau_defect(w, w->force, jacobian, lambda, mass, a, r);
    if (w->rows > 0)
        taut_add_scaled(w->n, -1, w->potential.rest + (int64_t)i * w->n, r);
    bond_defect(w, jacobian, drift, v, lambda, w->y + (int64_t)i * w->m);
    return TAUT_OK;
}

taut_saddle_sum taut_radau_shifted(const taut_radau *w, const double *mass, double complex e,
                                   const double *g1)
{
    const double complex power = w->equations->integrals == 2 ? e * e : e;
    taut_saddle_sum sum = {.diagonal = w->diagonal ? mass : NULL,
                           .parts = 1,
                           .part = {w->frozen.stiff},
                           .factor = {power},
                           .g1 = g1};
    if (!w->diagonal) {
        sum.part[sum.parts] = mass;
        sum.factor[sum.parts++] = 1;
    }
    if (w->velocity) {
        sum.part[sum.parts] = w->frozen.drag;
        sum.factor[sum.parts++] = -e;
    }
    return sum;
}

double taut_radau_mobility(const taut_radau *w, taut_index i, const double *jacobian,
                           const double *mass)
{
    double sum = 0;
    for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++) {
        taut_index r = w->jacobian.column[k];
        double inertia = mass[w->diagonal ? r : w->pivot[r]];
        if (inertia > 0)
            sum += jacobian[k] * jacobian[k] / inertia;
    }
    return sum;
}
