/* impulse_foot.c - the foot point X = pi(x) of E's transformed variables, whose slow coordinates
 * are those of X and whose fast ones are g:
 *
 *     x = X + M(X)^-1 G(X)^T mu,  g(X) = 0   [E section 5]
 *
 *     (M + E) dX + G^T dmu = M dx,  G dX = 0,   E = H - d(M w)/dX,  H = sum mu_i Hess g_i(X),
 *
 * w = x - X held fixed, everything at X. Newton's method for X has the same matrix. So
 * pi'(x)^T f = M b with [(M + E)^T G^T; G 0] (b, .) = (f, 0). */
#include "step/impulse_foot.h"

#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"

/* M + E at X and mu, with G and M of the latest evaluation there. */
static int form(taut_impulse *w, taut_impulse_foot *foot, double t, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    taut_values values = {.bond_hessian = foot->matrix,
                          .bond_weight = foot->weight,
                          .mass_dq = foot->mass_dq,
                          .mass_weight = foot->from};
    const taut_index entries = foot->tangent.start[m->n];
    TAUT_TRY(taut_evaluate_inside(m->context, t, foot->X, NULL,
                                  TAUT_WANT_BOND_HESSIAN | (m->varying ? TAUT_WANT_MASS_DQ : 0),
                                  &values, error));
    if (m->varying)
        taut_add_scaled(entries, -1, foot->mass_dq, foot->matrix);
    taut_add(entries, m->varying ? m->mass : foot->mass, foot->matrix);
    return TAUT_OK;
}

/* dX = M (x - X) - G^T mu, w->y = -g, of which M (x - X) is what foot->from gives. */
static void residual(taut_impulse *w, taut_impulse_foot *foot)
{
    const taut_mechanics *m = &w->mechanics;
    taut_pattern_times(&foot->tangent, m->varying ? m->mass : foot->mass, foot->from, foot->dX);
    for (taut_index r = 0; r < m->rods; r++)
        taut_row_add(&m->rod_rows, m->rod_jacobian, r, -foot->weight[m->rod[r]], foot->dX);
    taut_mechanics_pick(m, -1, m->values.bond, w->y);
}

static int improve(taut_impulse *w, taut_impulse_foot *foot, double t, const double *x,
                   taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_mechanics_bonds(m, t, foot->X, NULL, 0, error));
    for (taut_index i = 0; i < m->n; i++)
        foot->from[i] = x[i] - foot->X[i];
    residual(w, foot);
    TAUT_TRY(form(w, foot, t, error));
    TAUT_TRY(taut_mechanics_factor(m, foot->saddle, t, foot->matrix, m->rod_jacobian, NULL, error));
    TAUT_TRY(taut_saddle_solve(foot->saddle, 1, foot->dX, w->y, error));
    w->stepper->statistics->solves++;
    w->stepper->statistics->newton_iterations++;
    taut_add(m->n, foot->dX, foot->X);
    for (taut_index r = 0; r < m->rods; r++)
        foot->weight[m->rod[r]] += w->y[r];
    return TAUT_OK;
}

int taut_impulse_foot_find(taut_impulse *w, taut_impulse_foot *foot, double t, const double *x,
                           taut_error *error)
{
    enum { MOST = 40 };
    taut_mechanics *m = &w->mechanics;
    double before = INFINITY;
    taut_copy(m->n, x, foot->X);
    taut_clear(m->m, foot->weight);
    for (int k = 0; k < MOST; k++) {
        TAUT_TRY(improve(w, foot, t, x, error));
        double size = taut_largest(m->n, foot->dX), scale = taut_largest(m->n, foot->X);
        if (size <= 1e-13 * scale || (size <= 1e-9 * scale && size <= 1e-4 * before)) {
            for (taut_index i = 0; i < m->n; i++)
                foot->from[i] = x[i] - foot->X[i];
            return TAUT_OK;
        }
        before = size;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "at t = %.9g the vibrating state has no foot point on the springs' rest "
                     "lengths: the vibration is too large for the effective motion; choose motion "
                     "full",
                     t);
}

static void turn(const taut_impulse_foot *foot)
{
    const taut_pattern *p = &foot->tangent;
    for (taut_index i = 0; i < p->rows; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++)
            foot->turned[taut_row_find(p, p->column[k], i)] = foot->matrix[k];
}

int taut_impulse_foot_pull(taut_impulse *w, taut_impulse_foot *foot, double t, double *force,
                           taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(form(w, foot, t, error));
    if (m->varying)
        turn(foot);
    TAUT_TRY(taut_mechanics_factor(m, foot->saddle, t, m->varying ? foot->turned : foot->matrix,
                                   m->rod_jacobian, NULL, error));
    taut_clear(m->rods, w->y);
    w->stepper->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(foot->saddle, 1, force, w->y, error));
    if (!w->general)
        return TAUT_OK;
    taut_copy(m->n, force, foot->dX);
    taut_pattern_times(&foot->tangent, m->varying ? m->mass : foot->mass, foot->dX, force);
    return TAUT_OK;
}

/* ---- making */

/* foot->mass: the constant M on the tangent pattern. */
static void spread_mass(const taut_mechanics *m, const taut_impulse_foot *foot)
{
    const taut_pattern *p = &foot->tangent;
    for (taut_index i = 0; i < m->n; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++) {
            foot->mass[k] = !m->mass_start && p->column[k] == i ? m->mass[i] : 0;
            for (taut_index e = m->mass_start ? m->mass_start[i] : 0;
                 m->mass_start && e < m->mass_start[i + 1]; e++)
                if (m->mass_column[e] == p->column[k])
                    foot->mass[k] += m->mass[e];
        }
}

int taut_impulse_foot_create(taut_impulse_foot *foot, const taut_impulse *w, taut_error *error)
{
    taut_arena *arena = w->stepper->arena;
    const taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_system_pattern(taut_context_system(m->context), TAUT_PATTERN_TANGENT,
                                 &foot->tangent, error));
    const taut_index entries = foot->tangent.start[m->n], more = m->varying ? entries : 0;
    TAUT_TRY(TAUT_RESERVE(arena, m->n, error, &foot->X, &foot->dX, &foot->from));
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &foot->mass, &foot->matrix));
    TAUT_TRY(TAUT_RESERVE(arena, more, error, &foot->mass_dq, &foot->turned));
    TAUT_TRY(TAUT_RESERVE(arena, m->m, error, &foot->weight));
    if (!m->varying)
        spread_mass(m, foot);
    taut_saddle_shape shape = {.n = m->n,
                               .m = m->rods,
                               .k_start = foot->tangent.start,
                               .k_column = foot->tangent.column,
                               .g_start = m->rod_start,
                               .g_column = m->rod_column,
                               .symmetric = !m->varying};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &foot->saddle, error);
}

void taut_impulse_foot_destroy(taut_impulse_foot *foot)
{
    if (foot)
        taut_saddle_destroy(foot->saddle);
}
