/* radau_potential.c - a stiff potential V/eps^2 as bonds of a step, so that Newton's iteration does
 * not see eps [B (8.5)-(8.8)].
 *
 * W [n][d] are the stiff modes at the beginning of the step, Omega^2 their eigenvalues, H = Hess
 * V/eps^2 and F = grad V/eps^2. The rows
 *     G(q) = Omega^-2 W^T H(q)
 * have the range of H near the manifold where V is least, and F = G^T mu + r with
 *     W^T (F - G^T mu) = 0,     r = O(eps^2).
 * A stage has the equations (8.6) of multipliers mu with compliance Omega^-2,
 *     M a = f - G^T mu - r,     Omega^-2 W^T (F - G^T mu) = 0,
 * r is kept while they are solved and formed again afterwards (8.7), where it matters: all matrices
 * stay bounded as eps -> 0, and mu is not the quotient of two roundings. The derivative of G^T mu
 * is omitted, as in (8.8). In full motion, and where there is no constant rank, H is part of K
 * instead (radau_stage.c). */
#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "step/radau.h"

/* Of the smallest stiff eigenvalue: what another may be where there is a manifold. */
static const double GAP = 0.1;
/* Modes are dense and found at every step: of more coordinates they cost more than the step. */
enum { MOST_COORDINATES = 100 };
/* Omega^2 L over the acceleration: from here on it has rows. */
static const double ENOUGH = 3e4;
/* Between the ends of a step: eigenvalues change less, and the way is not longer than this times
 * that of the velocity and the forces at the beginning, or a share of the whole size. */
static const double CHANGE = 50, WAY = 10, NEARBY = 0.1;

/* ---- making */

/* Whether H is G^T W^T H at the minimum: then bonds do not hold what the potential holds too. */
static bool spans(taut_radau *w)
{
    const taut_potential_modes *modes = &w->potential.modes;
    double missed = 0, all = 0;
    taut_index n = w->n;
    for (taut_index c = 0; c < n; c++)
        for (taut_index r = 0; r < n; r++) {
            double sum = modes->k[(int64_t)r * n + c];
            all += sum * sum;
            for (int k = 0; k < w->potential.rank; k++) {
                const double *z = modes->mode + (int64_t)k * n;
                double right = 0, left = 0;
                for (taut_index i = 0; i < n; i++) {
                    left += modes->k[(int64_t)r * n + i] * z[i];
                    right += modes->k[(int64_t)c * n + i] * z[i];
                }
                sum -= left * right / modes->value[k];
            }
            missed += sum * sum;
        }
    return missed <= 1e-12 * all;
}

/* Whether V is stiff enough for rows: r, about (|a|/(Omega^2 L))^2 of Omega^2 L, would be formed
 * several times a step where V is soft, and there the Hessian in K does as well. a is the
 * acceleration by f and v, L the size of q. */
static int compare(taut_stepper *s, bool *enough, taut_error *error)
{
    taut_radau *w = s->work;
    taut_potential_modes *modes = &w->potential.modes;
    taut_values values = {.force = modes->force};
    TAUT_TRY(taut_evaluate_inside(s->context, s->now.t, s->now.q, s->now.v, TAUT_WANT_FORCE,
                                  &values, error));
    double size = taut_potential_modes_length(modes, s->now.q, NULL),
           speed = taut_potential_modes_length(modes, s->now.v, NULL),
           a = taut_potential_modes_force_length(modes, modes->force);
    *enough = w->potential.least * size * size > ENOUGH * (a * size + speed * speed);
    return TAUT_OK;
}

int taut_radau_potential_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_potential *p = &w->potential;
    taut_error reason = {0};
    int64_t count = 0;
    bool found = false;
    if (w->n > MOST_COORDINATES)
        return TAUT_OK;
    int status = taut_potential_modes_create(&p->modes, s->context, s->arena, true, &reason);
    if (status == 0)
        status = TAUT_RESERVE(s->arena, w->n, &reason, &p->q);
    if (status == 0) {
        taut_copy(w->n, s->now.q, p->modes.start);
        status = taut_potential_modes_descend(&p->modes, s->now.t, s->now.q, p->modes.start,
                                              &p->rank, &found, &count, &reason);
    }
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    if (status != 0 || !found) {
        p->rank = 0;
        return TAUT_OK;
    }
    const double *value = p->modes.value;
    for (int k = 0; k < p->rank; k++)
        if (!(value[k] > 0))
            p->rank = 0;
    if (p->rank == 0 || (p->rank < w->n && fabs(value[p->rank]) > GAP * value[p->rank - 1]))
        p->rank = 0;
    p->most = value[0];
    p->least = p->rank > 0 ? value[p->rank - 1] : 0;
    bool enough = false;
    if (p->rank > 0 && !w->oscillations && spans(w) && compare(s, &enough, &reason) == 0 &&
        (enough || w->outer > 0))
        w->rows = p->rank;
    return TAUT_OK;
}

int taut_radau_potential_extend(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    taut_index bonds = s->m, entries = bonds > 0 ? w->jacobian.start[bonds] : 0;
    int64_t all = entries + (int64_t)w->rows * w->n;
    if (all > INT32_MAX) {
        w->rows = 0;
        return TAUT_OK;
    }
    w->m = bonds + w->rows;
    taut_index *start = TAUT_NEW(s->arena, taut_index, w->m + 1),
               *column = TAUT_NEW(s->arena, taut_index, all);
    double *damping;
    TAUT_TRY(TAUT_RESERVE(s->arena, w->m, error, &w->potential.compliance, &damping));
    TAUT_TRY(TAUT_RESERVE(s->arena, (int64_t)w->s * w->n, error, &w->potential.rest,
                          &w->potential.left));
    TAUT_TRY(TAUT_RESERVE(s->arena, w->n, error, &w->potential.first));
    TAUT_TRY(TAUT_RESERVE(s->arena, (int64_t)w->rows * w->rows, error, &w->potential.gram));
    TAUT_TRY(TAUT_RESERVE(s->arena, (int64_t)w->s * w->rows, error, &w->potential.off));
    TAUT_TRY(taut_arena_check(s->arena, error));
    for (taut_index i = 0; i < bonds; i++) {
        start[i + 1] = w->jacobian.start[i + 1];
        w->potential.compliance[i] = w->compliance[i];
        damping[i] = w->damping[i];
    }
    for (taut_index k = 0; k < entries; k++)
        column[k] = w->jacobian.column[k];
    for (taut_index i = bonds; i < w->m; i++) {
        start[i + 1] = start[i] + w->n;
        for (taut_index k = 0; k < w->n; k++)
            column[start[i] + k] = k;
    }
    w->jacobian = (taut_pattern){w->m, w->n, start, column};
    w->compliance = w->potential.compliance;
    w->damping = damping;
    return TAUT_OK;
}

/* ---- a stage */

/* w - G^T mu of the potential's rows, from[n] -> to[n]. */
static void without_rows(const taut_radau *w, const double *jacobian, const double *mu,
                         const double *from, double *to)
{
    taut_copy(w->n, from, to);
    for (taut_index i = w->m - w->rows; i < w->m; i++)
        taut_row_add(&w->jacobian, jacobian, i, -mu[i], to);
}

/* Takes from left what multipliers would: left - G^T nu with W^T (left - G^T nu) = 0, where
 * W^T G^T Omega^2 = W^T H W is symmetric and, near the manifold, positive. */
static void take_rows(taut_radau *w, int stage)
{
    taut_radau_potential *p = &w->potential;
    taut_index d = w->rows, n = w->n, bonds = w->m - d;
    const double *g =
        w->g + (int64_t)stage * w->entries + (bonds > 0 ? w->jacobian.start[bonds] : 0);
    double *left = p->left + (int64_t)stage * n, *nu = w->filter_y;
    for (taut_index k = 0; k < d; k++) {
        const double *z = p->modes.mode + (int64_t)k * n;
        nu[k] = taut_dot(n, z, left);
        for (taut_index l = 0; l < d; l++)
            p->gram[k * d + l] = taut_dot(n, z, g + (int64_t)l * n) / p->compliance[bonds + l];
    }
    if (taut_cholesky(d, p->gram) < d)
        return; /* far from the manifold: all of it counts */
    taut_cholesky_solve(d, p->gram, nu);
    for (taut_index l = 0; l < d; l++)
        taut_add_scaled(n, -nu[l] / p->compliance[bonds + l], g + (int64_t)l * n, left);
}

/* What rounding of q makes of r. */
static double noise(const taut_stepper *s)
{
    const taut_radau *w = s->work;
    return 4 * DBL_EPSILON * taut_potential_modes_steepness(&w->potential.modes) *
           taut_largest(w->n, s->now.q);
}

/* The latest r of a stage into to[n]; false where its distance y from the solution, by the
 * curvature of V, makes more of it. */
static bool renew(const taut_stepper *s, int stage, double *to)
{
    const taut_radau *w = s->work;
    const double *left = w->potential.left + (int64_t)stage * w->n,
                 *y = w->potential.off + (int64_t)stage * w->rows;
    double least = noise(s), size = taut_largest(w->n, s->now.q), blur = 0;
    for (taut_index k = 0; k < w->rows; k++)
        blur += y[k] * y[k] / w->compliance[w->m - w->rows + k];
    if (blur > size * fmax(least, 0.1 * taut_largest(w->n, left)))
        return false;
    for (taut_index k = 0; k < w->n; k++)
        to[k] = fabs(left[k]) > least ? left[k] : 0;
    return true;
}

void taut_radau_potential_rows(const taut_stepper *s, int i, const double *force,
                               const double *hessian, const double *lambda, double *jacobian,
                               double *y)
{
    taut_radau *w = s->work;
    double *left = w->potential.left + (int64_t)i * w->n;
    taut_index bonds = w->m - w->rows;
    for (taut_index k = 0; k < w->rows; k++) {
        const double *z = w->potential.modes.mode + (int64_t)k * w->n;
        double *row = jacobian + w->jacobian.start[bonds + k];
        for (taut_index r = 0; r < w->n; r++)
            row[r] = w->compliance[bonds + k] * taut_row_dot(&w->tangent, hessian, r, z);
    }
    without_rows(w, jacobian, lambda, force, left);
    for (taut_index k = 0; k < w->rows; k++) {
        const double *z = w->potential.modes.mode + (int64_t)k * w->n;
        y[bonds + k] = w->compliance[bonds + k] * taut_dot(w->n, z, left);
        w->potential.off[(int64_t)i * w->rows + k] = y[bonds + k];
    }
    take_rows(w, i);
    if (w->outer == 0)
        renew(s, i, w->potential.rest + (int64_t)i * w->n);
}

double taut_radau_potential_value(const taut_radau *w, int stage, taut_index i)
{
    taut_index bonds = w->m - w->rows;
    const double *lambda = w->past[1 - w->top].lambda + (int64_t)stage * w->m,
                 *g = w->g + (int64_t)stage * w->entries,
                 *z = w->potential.modes.mode + (int64_t)(i - bonds) * w->n;
    double sum = 0;
    for (taut_index l = bonds; l < w->m; l++)
        sum += taut_row_dot(&w->jacobian, g, l, z) * lambda[l];
    return w->compliance[i] * sum;
}

double taut_radau_potential_missed(const taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    double worst = 0, least = noise(s);
    for (int i = 0; i < w->s; i++) {
        double sum = 0;
        for (taut_index k = 0; k < w->n; k++) {
            int64_t at = (int64_t)i * w->n + k;
            double off = fabs(w->potential.left[at] - w->potential.rest[at]);
            if (off > least)
                sum += pow(h * h * (off - least) / w->scale[k], 2);
        }
        worst = fmax(worst, sum);
    }
    return sqrt(worst / w->n);
}

/* ---- the ends of a step */

int taut_radau_potential_drift(taut_stepper *s, double t, const double *q, double h, double *drift,
                               taut_error *error)
{
    taut_radau *w = s->work;
    taut_index bonds = w->m - w->rows;
    taut_clear(w->rows, drift + bonds);
    for (int side = -1; w->potential.driven && side <= 1; side += 2) {
        double dt = 1e-4 * h * side;
        taut_values values = {.stiff_force = w->extra};
        s->statistics->force_evaluations++;
        TAUT_TRY(taut_evaluate_inside(s->context, t + dt, q, s->now.v, TAUT_WANT_STIFF_FORCE,
                                      &values, error));
        for (taut_index k = 0; k < w->rows; k++)
            drift[bonds + k] -=
                w->compliance[bonds + k] / (2 * dt) *
                taut_dot(w->n, w->potential.modes.mode + (int64_t)k * w->n, w->extra);
    }
    return TAUT_OK;
}

static int find_modes(taut_stepper *s, double t, const double *q, taut_error *error)
{
    taut_radau *w = s->work;
    s->statistics->force_evaluations++;
    s->statistics->jacobians++;
    w->potential.sought = true;
    w->potential.t = t;
    taut_copy(w->n, q, w->potential.q);
    return taut_potential_modes_find(&w->potential.modes, t, q, error);
}

int taut_radau_potential_begin(taut_stepper *s, double h, taut_radau_past *past, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_potential_modes *modes = &w->potential.modes;
    taut_index bonds = w->m - w->rows;
    if (!w->potential.found)
        TAUT_TRY(find_modes(s, s->now.t, s->now.q, error));
    w->potential.found = true;
    w->potential.most = modes->value[0];
    w->potential.least = modes->value[w->rows - 1];
    for (taut_index k = 0; k < w->rows; k++) {
        const double *z = modes->mode + (int64_t)k * w->n;
        double *row = past->jacobian + w->jacobian.start[bonds + k], c = 1 / modes->value[k];
        if (!(modes->value[k] > 0))
            return taut_radau_singular(
                s, "the stiff potential is not least across its manifold here", error);
        taut_potential_modes_multiply(modes, z, row);
        for (taut_index r = 0; r < w->n; r++)
            row[r] *= c;
        w->potential.compliance[bonds + k] = c;
        past->tension[bonds + k] = taut_dot(w->n, z, past->pull);
        past->bond[bonds + k] = c * past->tension[bonds + k];
        past->gamma[bonds + k] = 0; /* of a first guess only */
    }
    TAUT_TRY(taut_radau_potential_drift(s, s->now.t, s->now.q, h, past->drift, error));
    for (taut_index i = bonds; i < w->m; i++)
        past->rate[i] = past->drift[i] + taut_row_dot(&w->jacobian, past->jacobian, i, s->now.v);
    without_rows(w, past->jacobian, past->tension, past->pull, w->potential.first);
    double least = noise(s);
    for (taut_index k = 0; k < w->n; k++) {
        if (fabs(w->potential.first[k]) <= least)
            w->potential.first[k] = 0;
        for (int i = 0; i < w->s; i++)
            w->potential.rest[(int64_t)i * w->n + k] = w->potential.first[k];
    }
    return TAUT_OK;
}

void taut_radau_potential_end(const taut_stepper *s, taut_radau_past *end)
{
    const taut_radau *w = s->work;
    int last = w->s - 1;
    if (!renew(s, last, end->pull))
        taut_copy(w->n, w->potential.rest + (int64_t)last * w->n, end->pull);
    for (taut_index i = w->m - w->rows; i < w->m; i++)
        taut_row_add(&w->jacobian, end->jacobian, i, end->tension[i], end->pull);
}

/* ---- the branch */

static int refuse(taut_stepper *s, double h, const char *what, taut_error *error)
{
    taut_radau *w = s->work;
    w->potential.found = false;
    taut_fail(error, TAUT_ERROR_CONVERGE,
              "a step of %.3g by %s ends on another branch of the stiff potential: %s", fabs(h),
              s->method->name, what);
    return TAUT_RETRY;
}

int taut_radau_potential_check(taut_stepper *s, double h, const double *q, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_potential *p = &w->potential;
    const taut_potential_modes *modes = &p->modes;
    /* a full motion whose oscillation is resolved may be anywhere */
    if (!w->rows && !(h * h * p->least > WAY))
        return TAUT_OK;
    taut_copy(w->n, w->past[w->top].force, w->extra);
    double way = taut_potential_modes_length(modes, q, s->now.q),
           size = taut_potential_modes_length(modes, q, NULL) +
                  taut_potential_modes_length(modes, s->now.q, NULL),
           speed = taut_potential_modes_length(modes, s->now.v, NULL),
           gain = fabs(h) * taut_potential_modes_force_length(modes, w->extra);
    if (!(way <= WAY * fabs(h) * (speed + gain) + NEARBY * size))
        return refuse(s, h, "it moves farther than the velocity allows", error);
    TAUT_TRY(find_modes(s, s->now.t + h, q, error));
    double most = modes->value[0], least = modes->value[p->rank - 1];
    for (int k = 0; k < p->rank; k++)
        if (!(modes->value[k] > 0))
            return refuse(s, h, "the potential is not least there", error);
    if (!(most < CHANGE * p->most && p->least < CHANGE * least))
        return refuse(s, h, "the rank of its Hessian is another there", error);
    p->found = true;
    p->most = most;
    p->least = least;
    return TAUT_OK;
}
