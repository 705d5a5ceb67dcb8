/* singular_watch.c - singular configurations that a run passes through: a linkage in line, a slider
 * crank at a dead centre, where the rigid bonds depend on each other. The motion may branch there,
 * and errors grow: the time is reported.
 *
 * Watched is s = the least distance of a unit row of G from the span of the rows before it, after
 * each step of adaptive size. Along the motion it is |linear| where a singular configuration is
 * passed, so that it falls at the beginning of the step and rises at its end: where both tangents
 * meet near zero, the minimum is searched for on the dense output, by golden section. */
#include "base/rows.h"
#include "base/text.h"
#include "base/vectors.h"
#include "drive/solver.h"
#include "system/fused.h"

#include <math.h>
#include <stdio.h>

/* Rows beyond which the factorisation of a dense matrix costs more than a step. */
enum { MOST_ROWS = 60, SECTIONS = 40 };
/* Tangents that meet below this part of the higher end. */
static const double NEAR = 0.3;
/* A configuration is singular within the accuracy of the run. */
static const double ZERO = 1e-4;

int taut_singular_create(taut_solver *solver, taut_error *error)
{
    taut_singular_watch *w = &solver->singular;
    const taut_stepper *s = &solver->stepper;
    w->on = !s->first_order && solver->control.on && !s->trial && solver->drift.rows > 1 &&
            solver->drift.rows <= MOST_ROWS && !solver->redundant.independent &&
            !taut_run_space(solver);
    w->t = NAN;
    if (!w->on)
        return TAUT_OK;
    int64_t rows = solver->drift.rows;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, s->n, error, &w->dense, &w->q));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, solver->sizes.bonds, error, &w->bond_dt));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, solver->sizes.jacobian_entries, error, &w->jacobian));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, 2 * rows, error, &w->square));
    TAUT_TRY(taut_fused_open(solver->context, TAUT_FUSED_SPAN, 0, solver->drift.rows,
                             solver->drift.rod, &solver->arena, &w->fused, error));
    return TAUT_RESERVE(&solver->arena, rows * rows, error, &w->gram);
}

/* Unit rows of the rigid bonds: their products. */
static taut_index fill_gram(taut_solver *solver)
{
    taut_singular_watch *w = &solver->singular;
    const taut_drift *d = &solver->drift;
    const taut_pattern *p = &d->jacobian;
    taut_index row = 0;
    for (taut_index i = 0; i < p->rows; i++) {
        if (!d->watched[i])
            continue;
        double own = sqrt(taut_row_square(p, w->jacobian, i, NULL));
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++) {
            w->jacobian[k] /= own > 0 ? own : 1;
            w->dense[p->column[k]] += w->jacobian[k];
        }
        for (taut_index j = 0, column = 0; j <= i; j++)
            if (d->watched[j])
                w->gram[row * (int64_t)d->rows + column++] =
                    taut_row_dot(p, w->jacobian, j, w->dense);
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++)
            w->dense[p->column[k]] = 0;
        row++;
    }
    return row;
}

/* Square root of the least pivot of the Cholesky factorisation; its bond in w->bond. */
static double least_pivot(taut_solver *solver)
{
    taut_singular_watch *w = &solver->singular;
    taut_index m = fill_gram(solver), worst = 0, seen = 0;
    double least = INFINITY;
    for (taut_index i = 0; i < m; i++) {
        double *row = w->gram + i * (int64_t)m, pivot = row[i];
        for (taut_index j = 0; j < i; j++) {
            const double *other = w->gram + j * (int64_t)m;
            for (taut_index k = 0; k < j; k++)
                row[j] -= row[k] * other[k];
            row[j] = other[j] > 0 ? row[j] / other[j] : 0;
            pivot -= row[j] * row[j];
        }
        row[i] = sqrt(fmax(pivot, 0));
        worst = row[i] < least ? i : worst;
        least = fmin(least, row[i]);
    }
    for (taut_index i = 0; i < solver->sizes.bonds; i++)
        if (solver->drift.watched[i] && seen++ == worst)
            w->bond = i;
    return least;
}

/* s at (t, q), statement by statement. */
static int measure(taut_solver *solver, double t, const double *q, double *s, taut_error *error)
{
    taut_singular_watch *w = &solver->singular;
    taut_values values = {.jacobian = w->jacobian, .bond_dt = w->bond_dt};
    TAUT_TRY(taut_evaluate_inside(solver->context, t, q, NULL, TAUT_WANT_JACOBIAN, &values, error));
    *s = least_pivot(solver);
    return TAUT_OK;
}

/* s and its rate along the motion, of small systems by one tape; false: not by it. */
static bool watch(taut_solver *solver, double t, const double *q, const double *v, double *s,
                  double *rate)
{
    taut_singular_watch *w = &solver->singular;
    const taut_index rods = solver->drift.rows;
    const double *square = w->square;
    taut_index worst = 0;
    if (!w->fused || w->fused->context != solver->context ||
        !taut_fused_run(w->fused, t, q, v, w->square, NULL, NULL))
        return false;
    for (taut_index r = 1; r < rods; r++)
        worst = square[r] < square[worst] ? r : worst;
    if (!(square[worst] > 0))
        return false;
    w->bond = solver->drift.rod[worst];
    *s = sqrt(square[worst]);
    *rate = square[rods + worst] / (2 * *s);
    return true;
}

/* s and its rate along the motion, per step of length h, at one end of the step. */
static int measure_end(taut_solver *solver, const taut_state *x, double h, double *s, double *rate,
                       taut_error *error)
{
    static const double SHORT = 1e-5, REGULAR = 0.8; /* too far for one step */
    taut_singular_watch *w = &solver->singular;
    double later;
    if (watch(solver, x->t, x->q, x->v, s, rate)) {
        *rate *= h;
        return TAUT_OK;
    }
    *rate = 0;
    taut_copy(solver->stepper.n, x->q, w->q);
    TAUT_TRY(measure(solver, x->t, w->q, s, error));
    if (*s > REGULAR)
        return TAUT_OK;
    taut_add_scaled(solver->stepper.n, SHORT * h, x->v, w->q);
    TAUT_TRY(measure(solver, x->t + SHORT * h, w->q, &later, error));
    *rate = (later - *s) / SHORT;
    return TAUT_OK;
}

/* s between both ends of the latest step; 0 where the state cannot be found. */
static int measure_inside(taut_solver *solver, double theta, double *s, taut_error *error)
{
    taut_error reason = {.t = NAN};
    const taut_state *x = &solver->probe;
    double rate;
    int status = taut_dense(solver, theta, &reason);
    *s = 0;
    TAUT_TRY(taut_fail_final(status, &reason, error));
    return status != 0 || watch(solver, x->t, x->q, x->v, s, &rate)
               ? TAUT_OK
               : measure(solver, x->t, x->q, s, error);
}

static void report(taut_solver *solver, double t)
{
    taut_singular_watch *w = &solver->singular;
    char name[96], *text = solver->notice[1];
    size_t size = sizeof solver->notice[1];
    taut_system_name(solver->model, TAUT_BOND, w->bond, name, sizeof name);
    if (++w->found == 1)
        snprintf(w->first, sizeof w->first,
                 "at t = %.9g the motion passes a singular configuration, in which the gradient of "
                 "rigid bond '%s' depends on those of others",
                 t, name);
    w->latest = t;
    snprintf(text, size, "%s", w->first);
    if (w->found > 1)
        taut_append(text, size, " (%d times so far, the last at t = %.9g)", w->found, t);
    taut_append(text, size,
                "; the linkage may move on in more than one way there, and the result is one of "
                "them");
}

/* The minimum between the ends, from theta on. */
static int search(taut_solver *solver, double theta, taut_error *error)
{
    static const double GOLDEN = 0.38196601125010515;
    taut_singular_watch *w = &solver->singular;
    const taut_stepper *s = &solver->stepper;
    double a = 0, b = 1, x = theta, least, value, limit = fmax(ZERO, 100 * s->rtol);
    taut_index bond;
    TAUT_TRY(measure_inside(solver, x, &least, error));
    bond = w->bond;
    for (int k = 0; k < SECTIONS && least > 0 && b - a > 1e-9; k++) {
        double u = b - x > x - a ? x + GOLDEN * (b - x) : x - GOLDEN * (x - a);
        TAUT_TRY(measure_inside(solver, u, &value, error));
        bool lower = value < least;
        *(lower == (u > x) ? &a : &b) = lower ? x : u;
        if (lower) {
            x = u;
            least = value;
            bond = w->bond;
        }
    }
    w->bond = bond;
    if (least <= limit)
        report(solver, s->last.t + x * (s->now.t - s->last.t));
    return TAUT_OK;
}

/* One step after the one that was measured is not, where s = sin(phi) would be passed by 0 after
 * phi/phi' at the latest rate, and half of this time is not over. */
static bool far_away(const taut_singular_watch *w, const taut_stepper *s)
{
    double passed = 2 * fabs((s->now.t - w->t) * w->rate), cosine;
    if (w->t != s->last.t || w->rate == 0)
        return false;
    cosine = sqrt(taut_above(1 - w->s * w->s, 0));
    return passed <= w->s * cosine || passed <= asin(taut_below(w->s, 1)) * cosine;
}

int taut_singular_step(taut_solver *solver, taut_error *error)
{
    taut_singular_watch *w = &solver->singular;
    const taut_stepper *s = &solver->stepper;
    double h = s->now.t - s->last.t, s0 = w->s, m0 = w->rate * h, s1, m1;
    if (!w->on || far_away(w, s))
        return TAUT_OK;
    bool known = w->t == s->last.t;
    TAUT_TRY(measure_end(solver, &s->now, h, &s1, &m1, error));
    w->t = s->now.t;
    w->s = s1;
    w->rate = m1 / h;
    if (m1 <= 0 || s1 - m1 > NEAR * s1) /* its tangent does not come near zero */
        return TAUT_OK;
    if (!known)
        TAUT_TRY(measure_end(solver, &s->last, h, &s0, &m0, error));
    /* tangents s0 + m0 theta and s1 - m1 (1 - theta) */
    double theta = (s1 - s0 - m1) / (m0 - m1);
    theta = fmin(fmax(theta, 0.01), 0.99);
    bool dips =
        m0 < 0 && m1 > 0 && fmin(s0 + m0 * theta, s1 - m1 * (1 - theta)) < NEAR * fmax(s0, s1);
    return dips ? search(solver, theta, error) : TAUT_OK;
}
