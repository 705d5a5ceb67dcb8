/* shared_forces.c - multipliers of redundant rigid bonds.
 *
 * The motion determines the force G^T lambda of all rigid bonds together; where rows of G depend on
 * each other, not every lambda_i. Taken is the one of least Euclidean norm, sum lambda_i^2: the
 * limit of springs of equal stiffness. Two steps, each with one factorisation for any number of
 * dependences:
 *
 * 1. some lambda: [M G^T; G -e D] (a, lambda) = (f, -gamma), D = diag(G M^-1 G^T), corrected by the
 *    residual of G a = -gamma until that vanishes;
 * 2. its part in the null space of G^T is subtracted, lim z_k,  z_0 = lambda,
 *    z_(k+1) = e (G G^T + e)^-1 z_k; a part outside of it shrinks by e/sigma^2 in each step. */
#include "step/shared_forces.h"

#include <math.h>

#include "base/random.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/saddle_bonds.h"

/* e of both steps, the second relative to the largest |G_i|^2: rounding is amplified by 1/e, but in
 * the first step only where the second removes it. */
static const double EASE_MOTION = 1e-8, EASE = 1e-5;
enum { MOST_STEPS = 40, CORRECTIONS = 4 };

int taut_shared_forces_create(taut_shared_forces *s, const taut_system *system, taut_arena *arena,
                              taut_error *error)
{
    taut_mechanics *w = &s->mechanics;
    *s = (taut_shared_forces){0};
    TAUT_TRY(taut_context_create(system, &arena->allocator, &s->context, error));
    TAUT_TRY(taut_mechanics_create(w, s->context, arena, &s->uncounted, TAUT_WANT_GAMMA, error));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &s->lambda, &s->ease, &s->y, &s->z));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &s->ones, &s->a, &s->x));
    TAUT_TRY(TAUT_RESERVE(arena, w->rod_start[w->rods], error, &s->active));
    for (taut_index i = 0; i < w->n; i++)
        s->ones[i] = 1;
    TAUT_TRY(taut_mechanics_saddle(w, false, true, &arena->allocator, &s->motion, error));
    return taut_mechanics_saddle(w, true, true, &arena->allocator, &s->shares, error);
}

/* z: multipliers of the rigid bonds. Without their part in the null space. */
static int reduce(taut_shared_forces *s, taut_error *error)
{
    const taut_mechanics *w = &s->mechanics;
    double most = 0, scale = taut_largest(w->rods, s->z), change = INFINITY;
    for (taut_index i = 0; i < w->rods; i++)
        most = fmax(most, taut_row_square(&w->rod_rows, w->rod_jacobian, i, NULL));
    for (taut_index i = 0; i < w->rods; i++)
        s->ease[i] = EASE * most;
    for (taut_index i = 0; i < w->rods; i++)
        s->lambda[w->rod[i]] = s->z[i];
    TAUT_TRY(taut_saddle_factor(s->shares, s->ones, w->rod_jacobian, NULL, s->ease, error));
    for (int k = 0; k < MOST_STEPS && change > 1e-14 * scale; k++) {
        for (taut_index i = 0; i < w->rods; i++)
            s->y[i] = -s->ease[i] * s->z[i];
        TAUT_TRY(taut_saddle_solve_bonds(s->shares, s->x, s->y, error));
        change = taut_largest_difference(w->rods, s->y, s->z);
        taut_copy(w->rods, s->y, s->z);
    }
    for (taut_index i = 0; i < w->rods; i++)
        s->lambda[w->rod[i]] -= s->z[i];
    return TAUT_OK;
}

/* The diagonal of M where it is positive, or 1. */
static double mass_of(const taut_mechanics *w, taut_index i)
{
    double mass = w->mass_start ? 0 : w->mass[i];
    for (taut_index k = w->mass_start ? w->mass_start[i] : 0;
         w->mass_start && k < w->mass_start[i + 1]; k++)
        mass += w->mass_column[k] == i ? w->mass[k] : 0;
    return mass > 0 ? mass : 1;
}

int taut_shared_forces_find(taut_shared_forces *s, double t, const double *q, const double *v,
                            taut_error *error)
{
    taut_mechanics *w = &s->mechanics;
    TAUT_TRY(taut_mechanics_force(w, t, q, v, s->a, s->lambda, error));
    TAUT_TRY(taut_evaluate_inside(s->context, t, q, v, TAUT_WANT_GAMMA, &w->values, error));
    for (taut_index i = 0; i < w->n; i++)
        s->x[i] = mass_of(w, i);
    for (taut_index i = 0; i < w->rods; i++) {
        double own = taut_row_square(&w->rod_rows, w->rod_jacobian, i, s->x);
        s->ease[i] = own > 0 ? EASE_MOTION * own : 1;
        s->y[i] = -w->values.gamma[w->rod[i]];
        s->z[i] = 0;
    }
    TAUT_TRY(taut_saddle_factor(s->motion, w->mass, w->rod_jacobian, NULL, s->ease, error));
    TAUT_TRY(taut_saddle_solve(s->motion, 1, s->a, s->y, error));
    for (int k = 0;; k++) {
        taut_add(w->rods, s->y, s->z);
        if (k == CORRECTIONS)
            return reduce(s, error);
        for (taut_index i = 0; i < w->rods; i++)
            s->y[i] =
                -w->values.gamma[w->rod[i]] - taut_row_dot(&w->rod_rows, w->rod_jacobian, i, s->a);
        TAUT_TRY(taut_saddle_solve_bonds(s->motion, s->x, s->y, error));
        taut_add(w->n, s->x, s->a);
    }
}

int taut_shared_forces_spread(taut_shared_forces *s, double t, const double *q,
                              const double *lambda, taut_error *error)
{
    taut_mechanics *w = &s->mechanics;
    TAUT_TRY(taut_mechanics_bonds(w, t, q, NULL, 0, error));
    taut_copy(w->m, lambda, s->lambda);
    for (taut_index i = 0; i < w->rods; i++)
        s->z[i] = lambda[w->rod[i]];
    return reduce(s, error);
}

int taut_shared_forces_violation(taut_shared_forces *s, double t, const double *q, double *off,
                                 taut_index *worst, taut_error *error)
{
    taut_mechanics *w = &s->mechanics;
    *off = *worst = 0;
    TAUT_TRY(taut_mechanics_bonds(w, t, q, NULL, 0, error));
    for (taut_index i = 0; i < w->rods; i++) {
        double length = sqrt(taut_row_square(&w->rod_rows, w->rod_jacobian, i, NULL)),
               distance = fabs(w->values.bond[w->rod[i]]) / (length > 0 ? length : 1);
        *worst = distance > *off ? w->rod[i] : *worst;
        *off = taut_larger(*off, distance);
    }
    return TAUT_OK;
}

/* One random combination of the muted rows: A n = G_kept sum +-G_muted, unit rows. */
int taut_shared_forces_coefficient(taut_shared_forces *s, const unsigned char *muted,
                                   double *coefficient, taut_error *error)
{
    taut_error reason = {.t = NAN};
    uint64_t seed = 1;
    const taut_mechanics *w = &s->mechanics;
    const taut_pattern *rows = &w->rod_rows;
    taut_clear(w->n, s->x);
    for (taut_index i = 0; i < w->rods; i++) {
        bool kept = !muted[w->rod[i]];
        double size = sqrt(taut_row_square(rows, w->rod_jacobian, i, NULL)),
               sign = copysign(1, taut_random(&seed));
        for (taut_index k = rows->start[i]; k < rows->start[i + 1]; k++)
            s->active[k] = kept && size > 0 ? w->rod_jacobian[k] / size : 0;
        s->ease[i] = kept && size > 0 ? 0 : 1;
        if (!kept && size > 0)
            taut_row_add(rows, w->rod_jacobian, i, sign / size, s->x);
    }
    for (taut_index i = 0; i < w->rods; i++)
        s->y[i] = -taut_row_dot(rows, s->active, i, s->x);
    int status = taut_saddle_factor(s->shares, s->ones, s->active, NULL, s->ease, &reason);
    if (status == 0)
        status = taut_saddle_solve_bonds(s->shares, s->x, s->y, &reason);
    *coefficient = status == 0 ? taut_largest(w->rods, s->y) : INFINITY;
    return taut_fail_final(status, &reason, error);
}

void taut_shared_forces_destroy(taut_shared_forces *s)
{
    taut_mechanics_destroy(&s->mechanics);
    taut_saddle_destroy(s->motion);
    taut_saddle_destroy(s->shares);
    taut_context_destroy(s->context);
    *s = (taut_shared_forces){0};
}
