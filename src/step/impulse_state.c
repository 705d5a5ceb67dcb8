/* impulse_state.c - the vibrating state of the impulse methods and what others see of it.
 *
 *     X = x + M(x)^-1 G(x)^T lambda, g(X) = 0   M(X) V = M(x) v + G(X)^T mu, G(X) V + g_t = 0
 *     [E (9), (15)]
 *
 * and the way back where (X, V) was altered, by an event: stretches and rates of the springs are
 * kept. A stiff potential has no functions g: X is then the foot point, and what x - X and v - V
 * were along its stiff modes is kept (impulse_potential.c). */
#include "step/impulse.h"

#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "step/impulse_potential.h"

enum { MOST_NEWTON = 40 };

/* ---- linear algebra */

/* The rows of stiff springs and rigid bonds that were evaluated last. */
static void copy_rows(const taut_impulse *w, double *rows)
{
    const taut_mechanics *m = &w->mechanics;
    taut_copy(m->rod_start[m->rods], m->rod_jacobian, rows);
}

int taut_impulse_factor(taut_impulse *w, double t, const double *mass, const double *g1,
                        const double *g2, taut_error *error)
{
    return taut_mechanics_factor(&w->mechanics, w->tie, t, mass, g1, g2, error);
}

int taut_impulse_solve(taut_impulse *w, double *x, taut_error *error)
{
    w->stepper->statistics->solves++;
    return taut_saddle_solve(w->tie, 1, x, w->y, error);
}

int taut_impulse_tangent(taut_impulse *w, double t, const double *x, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    if (!w->potential)
        return taut_impulse_factor(w, t, m->mass, m->rod_jacobian, NULL, error);
    TAUT_TRY(taut_impulse_potential_find(w, t, x, error));
    copy_rows(w, w->tie_2);
    taut_impulse_potential_rows(w, w->tie_2);
    return taut_impulse_factor(w, t, m->mass, w->tie_2, NULL, error);
}

/* ---- to the bonds and back */

/* tie_1: rows at x, mass_1: M(x); the bonds at x are evaluated. */
static int take_directions(taut_impulse *w, double t, const double *x, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_mechanics_bonds(m, t, x, NULL, 0, error));
    copy_rows(w, w->tie_1);
    if (m->varying)
        taut_copy(m->mass_start[m->n], m->mass, w->mass_room);
    if (!w->potential)
        return TAUT_OK;
    TAUT_TRY(taut_impulse_potential_find(w, t, x, error));
    taut_impulse_potential_rows(w, w->tie_1);
    taut_impulse_potential_rows(w, w->tie_2); /* linear functions of X */
    return TAUT_OK;
}

/* y: what the functions are to change by from X; w->r: X - x. */
static void take_residual(taut_impulse *w, const double *x, const double *target, const double *X)
{
    const taut_mechanics *m = &w->mechanics;
    for (taut_index r = 0; r < m->rods; r++)
        w->y[r] = (target ? target[r] : 0) - m->values.bond[m->rod[r]];
    for (taut_index i = 0; w->potential && i < m->n; i++)
        w->r[i] = w->off_x[i] - (X[i] - x[i]);
    for (taut_index r = m->rods; r < w->rows.rows; r++)
        w->y[r] = taut_row_dot(&w->rows, w->tie_2, r, w->r);
}

/* X = x + M^-1 G(x)^T lambda with g(X) = target on stiff springs and rigid bonds, and X - x = off_x
 * along the modes of a potential. */
static int reach(taut_impulse *w, double t, const double *x, const double *target, double *X,
                 taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    double before = INFINITY;
    TAUT_TRY(take_directions(w, t, x, error));
    taut_copy(m->n, x, X);
    taut_clear(w->rows.rows, w->lambda);
    for (int k = 0; k < MOST_NEWTON; k++) {
        copy_rows(w, w->tie_2);
        take_residual(w, x, target, X);
        taut_clear(m->n, w->r);
        TAUT_TRY(taut_impulse_factor(w, t, w->mass_1, w->tie_1, w->tie_2, error));
        TAUT_TRY(taut_impulse_solve(w, w->r, error));
        w->stepper->statistics->newton_iterations++;
        taut_add(m->n, w->r, X);
        double size = taut_largest(m->n, w->r), scale = taut_largest(m->n, X);
        for (taut_index r = 0; r < w->rows.rows; r++)
            w->lambda[r] -= w->y[r];
        TAUT_TRY(taut_mechanics_bonds(m, t, X, NULL, 0, error));
        /* the last step is at rounding, or is followed by one that would be (quadratic
         * convergence) */
        if (size <= 1e-13 * scale || (size <= 1e-9 * scale && size <= 1e-4 * before)) {
            copy_rows(w, w->tie_2);
            return TAUT_OK;
        }
        before = size;
    }
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "at t = %.9g the vibrating state could not be projected onto the springs' rest lengths: "
        "the vibration is too large for the effective motion; choose motion full",
        t);
}

int taut_impulse_project(taut_impulse *w, double t, const double *x, double *X, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    if (!w->potential)
        return reach(w, t, x, NULL, X, error);
    TAUT_TRY(taut_mechanics_bonds(m, t, x, NULL, 0, error));
    if (m->varying)
        taut_copy(m->mass_start[m->n], m->mass, w->mass_room);
    TAUT_TRY(taut_impulse_potential_foot(w, t, x, X, error));
    TAUT_TRY(taut_mechanics_bonds(m, t, X, NULL, 0, error));
    copy_rows(w, w->tie_2);
    taut_impulse_potential_rows(w, w->tie_2);
    return TAUT_OK;
}

/* v <- M^-1 (M_1 v - G^T nu) with G v + g_t = rate (NULL: 0) on the stiff springs and rigid bonds,
 * and along the modes of a potential that of off_v (0); G is tie_2, values belong to the same point
 * q, M_1 to the one that it was projected from. */
static int project_velocity(taut_impulse *w, double t, const double *q, const double *rate,
                            double *v, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    const taut_pattern masses = {m->n, m->n, m->mass_start, m->mass_column};
    taut_mechanics_rates(m, v, w->y);
    for (taut_index r = 0; r < m->rods; r++)
        w->y[r] = (rate ? rate[r] : 0) - w->y[r];
    if (w->potential && rate) {
        for (taut_index r = m->rods; r < w->rows.rows; r++)
            w->y[r] = taut_row_dot(&w->rows, w->tie_2, r, w->off_v) -
                      taut_row_dot(&w->rows, w->tie_2, r, v);
    } else if (w->potential) {
        TAUT_TRY(taut_impulse_potential_rates(w, t, q, v, 1, w->y + m->rods, error));
    }
    taut_clear(m->n, w->r);
    if (m->varying) {
        taut_mass_add(&masses, m->n, w->mass_1, 1, v, w->r);
        taut_mass_add(&masses, m->n, m->mass, -1, v, w->r);
    }
    TAUT_TRY(taut_impulse_factor(w, t, m->mass, w->tie_2, NULL, error));
    TAUT_TRY(taut_impulse_solve(w, w->r, error));
    taut_add(m->n, w->r, v);
    return TAUT_OK;
}

int taut_impulse_show(taut_impulse *w, double t, const double *x, const double *v, double *q,
                      double *u, taut_error *error)
{
    memmove(u, v, (size_t)w->mechanics.n * sizeof(double));
    if (w->raw) {
        memmove(q, x, (size_t)w->mechanics.n * sizeof(double));
        return TAUT_OK;
    }
    TAUT_TRY(taut_impulse_project(w, t, x, q, error));
    return project_velocity(w, t, q, NULL, u, error);
}

int taut_impulse_measure(taut_impulse *w, double t, const double *x, const double *v,
                         taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_mechanics_bonds(m, t, x, v, 0, error));
    taut_mechanics_pick(m, 1, m->values.bond, w->g);
    taut_mechanics_rates(m, v, w->gdot);
    return TAUT_OK;
}

/* Of the vibrating state. */
static int measure(taut_impulse *w, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_impulse_measure(w, w->time, w->x, w->v, error));
    for (taut_index i = 0; w->potential && i < m->n; i++) {
        w->off_x[i] = w->x[i] - w->shown_q[i];
        w->off_v[i] = w->v[i] - w->shown_v[i];
    }
    return TAUT_OK;
}

int taut_impulse_lift(taut_impulse *w, double t, const double *q, const double *v, double *x,
                      double *u, taut_error *error)
{
    TAUT_TRY(reach(w, t, q, w->g, x, error));
    taut_copy(w->mechanics.n, v, u);
    return project_velocity(w, t, x, w->gdot, u, error);
}

/* The vibrating state over (q, v) that has what was measured. */
static int restore(taut_impulse *w, double t, const double *q, const double *v, taut_error *error)
{
    taut_index n = w->mechanics.n;
    TAUT_TRY(taut_impulse_lift(w, t, q, v, w->next_x, w->next_v, error));
    taut_copy(n, w->next_x, w->x);
    taut_copy(n, w->next_v, w->v);
    return TAUT_OK;
}

int taut_impulse_meet_rigid(taut_impulse *w, taut_error *error)
{
    const taut_mechanics *m = &w->mechanics;
    if (w->flow.mechanics.rods == 0)
        return TAUT_OK;
    TAUT_TRY(measure(w, error));
    for (taut_index r = 0; r < m->rods; r++)
        if (!(m->compliance[m->rod[r]] > 0))
            w->g[r] = w->gdot[r] = 0;
    return restore(w, w->time, w->x, w->v, error);
}

int taut_impulse_follow(taut_impulse *w, bool *altered, taut_error *error)
{
    const taut_stepper *s = w->stepper;
    taut_index n = s->n;
    size_t bytes = (size_t)n * sizeof(double);
    *altered = memcmp(w->shown_q, s->now.q, bytes) != 0 || memcmp(w->shown_v, s->now.v, bytes) != 0;
    if (!*altered)
        return TAUT_OK;
    if (w->raw) {
        taut_copy(n, s->now.q, w->x);
        taut_copy(n, s->now.v, w->v);
    } else { /* at its own time: an event lies before the end of the step, and bonds may move */
        TAUT_TRY(measure(w, error));
        TAUT_TRY(restore(w, s->now.t, s->now.q, s->now.v, error));
    }
    taut_copy(n, s->now.q, w->shown_q);
    taut_copy(n, s->now.v, w->shown_v);
    w->time = s->now.t;
    return TAUT_OK;
}
