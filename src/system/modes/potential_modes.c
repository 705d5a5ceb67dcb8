/* potential_modes.c - stiff modes by dense eigenvalues (potential_modes.h has the definitions):
 * with M = R R^T and y = R^T x the pencil becomes P R^-1 K R^-T P, P the orthogonal projector
 * that removes the rows of G_r R^-T; what P removes adds zeros to the spectrum. */
#include "system/modes/potential_modes.h"

#include <math.h>

#include "base/reuse.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/spectrum.h"
#include "system/system.h"

static const double zero_mode = 1e-8; /* of the largest Omega^2, as in spectrum_potential.c */

/* ---- making */

static int reserve(taut_potential_modes *w, const taut_sizes *sizes, taut_arena *arena,
                   taut_error *error)
{
    const int64_t n = w->n, entries = w->tangent.start[n];
    TAUT_TRY(TAUT_RESERVE(arena, n * n, error, &w->root, &w->k, &w->mode, &w->vector));
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &w->value, &w->ascending, &w->line, &w->s, &w->start,
                          &w->dx, &w->force, &w->values.stiff_force));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->values.bond, &w->values.bond_dt, &w->bonds));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->jacobian_entries, error, &w->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &w->values.mass, &w->values.stiff_hessian));
    w->rigid = TAUT_NEW(arena, unsigned char, w->m);
    w->held = TAUT_NEW(arena, unsigned char, n);
    w->where = TAUT_NEW(arena, taut_index, n);
    w->dependent = TAUT_NEW(arena, taut_index, w->m);
    w->keep = taut_reuse_allocator(arena);
    if (!w->rigid || !w->held || !w->where || !w->dependent || !w->keep.allocate)
        return taut_fail_memory(error);
    TAUT_TRY(taut_rows_create(&w->rows, w->n, w->n, arena, error));
    /* rehearsed on the unit matrix, so that later calls find their memory */
    for (int64_t i = 0; i < n; i++)
        w->vector[i * (n + 1)] = 1;
    return taut_eigen_symmetric((int)n, w->vector, w->ascending, error, &w->keep);
}

int taut_potential_modes_create(taut_potential_modes *w, taut_context *context, taut_arena *arena,
                                bool rigid_springs, taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    const double *c = taut_context_compliance(context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    *w = (taut_potential_modes){
        .context = context, .n = sizes.coordinates, .m = sizes.bonds, .springs = !rigid_springs};
    if (w->n > TAUT_SPECTRUM_DENSE)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "the modes of a stiff potential of %d coordinates are too many (at most "
                         "%d): write it as bonds with a stiffness",
                         w->n, TAUT_SPECTRUM_DENSE);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    if (sizes.mass != TAUT_MASS_DIAGONAL)
        w->mass_pattern = &w->tangent;
    TAUT_TRY(reserve(w, &sizes, arena, error));
    for (taut_index i = 0; i < w->m; i++)
        w->rigid[i] = !(c[i] > 0) || (rigid_springs && !taut_context_soft(context, i));
    return TAUT_OK;
}

/* ---- at a point */

static int evaluate(taut_potential_modes *w, double t, const double *q, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(w->context), &sizes);
    unsigned stiff =
        sizes.can & TAUT_HAS_STIFF_POTENTIAL ? TAUT_WANT_STIFF_FORCE | TAUT_WANT_STIFF_HESSIAN : 0;
    unsigned wanted = TAUT_WANT_MASS | stiff | (w->m ? TAUT_WANT_BOND | TAUT_WANT_JACOBIAN : 0);
    return taut_evaluate_inside(w->context, t, q, NULL, wanted, &w->values, error);
}

int taut_potential_modes_root(const taut_context *context, double t, const taut_pattern *tangent,
                              const double *mass, double *root, taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    const taut_index n = system->sizes.coordinates;
    char name[96];
    taut_clear((int64_t)n * n, root);
    for (taut_index i = 0; i < n; i++)
        if (tangent)
            taut_row_add(tangent, mass, i, 1, root + (int64_t)i * n);
        else
            root[(int64_t)i * (n + 1)] = mass[i];
    taut_index bad = taut_cholesky(n, root);
    if (bad == n)
        return TAUT_OK;
    taut_system_name(system, TAUT_COORDINATE, bad, name, sizeof name);
    taut_fail(error, TAUT_ERROR_SINGULAR,
              "at t = %.9g the mass matrix is not positive definite, which the modes of a stiff "
              "potential need: increase the mass of '%s'",
              t, name);
    if (error)
        error->t = t;
    return TAUT_ERROR_SINGULAR;
}

static void take_rows(taut_potential_modes *w)
{
    taut_index n = w->n;
    w->rows.count = w->dependents = 0;
    for (taut_index i = 0; i < n + w->m; i++) {
        taut_index bond = i - n;
        if (bond < 0 ? !w->held[i] : !w->rigid[bond])
            continue;
        taut_clear(n, w->line);
        if (bond < 0)
            w->line[i] = 1;
        else
            taut_row_add(&w->jacobian, w->values.jacobian, bond, 1, w->line);
        taut_cholesky_lower(n, w->root, w->line);
        if (taut_rows_add(&w->rows, w->line))
            w->where[w->rows.count - 1] = bond < 0 ? ~i : bond;
        else if (bond >= 0)
            w->dependent[w->dependents++] = bond;
    }
}

static void form_k(taut_potential_modes *w)
{
    const int64_t n = w->n;
    const double *c = taut_context_compliance(w->context);
    taut_clear(n * n, w->k);
    for (taut_index i = 0; i < n; i++)
        taut_row_add(&w->tangent, w->values.stiff_hessian, i, 1, w->k + i * n);
    for (taut_index i = 0; i < w->m && w->springs; i++) {
        if (w->rigid[i] || taut_context_soft(w->context, i))
            continue;
        for (taut_index e = w->jacobian.start[i]; e < w->jacobian.start[i + 1]; e++)
            taut_row_add(&w->jacobian, w->values.jacobian, i, w->values.jacobian[e] / c[i],
                         w->k + w->jacobian.column[e] * n);
    }
}

/* vector = P R^-1 K R^-T P: both factors act on rows, K being symmetric. */
static void reduce(taut_potential_modes *w)
{
    const int64_t n = w->n;
    taut_copy(n * n, w->k, w->vector);
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < n; i++) {
            taut_cholesky_lower(w->n, w->root, w->vector + i * n);
            taut_rows_remove(&w->rows, w->vector + i * n);
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++) {
                double *a = w->vector + i * n + j, *b = w->vector + j * n + i, held = *a;
                *a = side ? (*a + *b) / 2 : *b;
                *b = side ? *a : held;
            }
    }
}

/* Largest in absolute value first: the ascending list is read from both ends. */
static void order_modes(taut_potential_modes *w)
{
    const int64_t n = w->n;
    for (int64_t low = 0, high = n - 1, k = 0; k < n; k++) {
        int64_t from = fabs(w->ascending[high]) >= fabs(w->ascending[low]) ? high-- : low++;
        w->value[k] = w->ascending[from];
        taut_copy(n, w->vector + from * n, w->mode + k * n);
        taut_cholesky_upper(w->n, w->root, w->mode + k * n);
    }
}

int taut_potential_modes_find(taut_potential_modes *w, double t, const double *q, taut_error *error)
{
    TAUT_TRY(evaluate(w, t, q, error));
    TAUT_TRY(
        taut_potential_modes_root(w->context, t, w->mass_pattern, w->values.mass, w->root, error));
    take_rows(w);
    form_k(w);
    reduce(w);
    TAUT_TRY(taut_eigen_symmetric((int)w->n, w->vector, w->ascending, error, &w->keep));
    order_modes(w);
    return TAUT_OK;
}

int taut_potential_modes_rank(const taut_potential_modes *w, double part)
{
    int rank = 0;
    while (rank < w->n && fabs(w->value[rank]) > part * fabs(w->value[0]))
        rank++;
    return rank;
}

/* ---- what is made of it */

void taut_potential_modes_gradient(const taut_potential_modes *w, double *gradient)
{
    const double *c = taut_context_compliance(w->context);
    for (taut_index i = 0; i < w->n; i++)
        gradient[i] = -w->values.stiff_force[i];
    for (taut_index i = 0; i < w->m && w->springs; i++)
        if (!w->rigid[i] && !taut_context_soft(w->context, i))
            taut_row_add(&w->jacobian, w->values.jacobian, i, w->values.bond[i] / c[i], gradient);
}

/* The shortest change dx[n], in the metric of M, with (G_r dx)_i = s_i; s is indexed by bond, [m];
 * held coordinates do not move. */
static void satisfy(const taut_potential_modes *w, const double *s, double *dx)
{
    taut_clear(w->n, dx);
    for (taut_index k = 0; k < w->rows.count; k++)
        w->s[k] = w->where[k] < 0 ? 0 : s[w->where[k]];
    taut_rows_satisfy(&w->rows, w->s, dx);
    taut_cholesky_upper(w->n, w->root, dx);
}

void taut_potential_modes_multiply(const taut_potential_modes *w, const double *x, double *y)
{
    for (taut_index i = 0; i < w->n; i++)
        y[i] = taut_dot(w->n, w->k + (int64_t)i * w->n, x);
}

void taut_potential_modes_mass(const taut_potential_modes *w, const double *x, double *y)
{
    taut_clear(w->n, y);
    taut_mass_add(w->mass_pattern, w->n, w->values.mass, 1, x, y);
}

double taut_potential_modes_length(const taut_potential_modes *w, const double *x, const double *y)
{
    taut_copy(w->n, x, w->line);
    if (y)
        taut_add_scaled(w->n, -1, y, w->line);
    taut_cholesky_multiply(w->n, w->root, w->line);
    return taut_norm(w->n, w->line);
}

double taut_potential_modes_force_length(const taut_potential_modes *w, double *x)
{
    taut_cholesky_lower(w->n, w->root, x);
    return taut_norm(w->n, x);
}

double taut_potential_modes_scale(const taut_potential_modes *w, const double *from,
                                  const double *x)
{
    double mass = 0;
    for (taut_index i = 0; i < w->n; i++)
        mass =
            fmax(mass, taut_dot(i + 1, w->root + (int64_t)i * w->n, w->root + (int64_t)i * w->n));
    return taut_potential_modes_length(w, from, NULL) + taut_potential_modes_length(w, x, from) +
           1e-6 * sqrt(mass);
}

void taut_potential_modes_step(const taut_potential_modes *w, int count, const double *s,
                               double *force, double sign, double *dx)
{
    satisfy(w, s, dx);
    for (taut_index i = 0; i < w->n; i++) /* what the bonds' change does to the force */
        force[i] -= sign * taut_dot(w->n, w->k + (int64_t)i * w->n, dx);
    for (int k = 0; k < count && fabs(w->value[k]) > zero_mode * fabs(w->value[0]); k++) {
        const double *z = w->mode + (int64_t)k * w->n;
        taut_add_scaled(w->n, sign * taut_dot(w->n, z, force) / fabs(w->value[k]), z, dx);
    }
}

void taut_potential_modes_along(const taut_potential_modes *w, int count, double *x, double *room)
{
    taut_potential_modes_mass(w, x, room);
    taut_cholesky_multiply(w->n, w->root, x);
    taut_rows_remove(&w->rows, x);
    taut_cholesky_upper(w->n, w->root, x);
    for (int k = 0; k < count; k++) {
        const double *z = w->mode + (int64_t)k * w->n;
        taut_add_scaled(w->n, -taut_dot(w->n, z, room), z, x);
    }
}

/* ---- the minimum */

/* dx: Newton's step to the minimum, every curved direction taken as it is. Returns how far the
 * minimum and the rows are: the slope over the largest curvature (weak directions count little;
 * none when it is flat), and the bonds' own step. */
static double newton_step(taut_potential_modes *w, bool flat)
{
    double slope = 0;
    for (taut_index i = 0; i < w->m; i++)
        w->bonds[i] = -w->values.bond[i];
    satisfy(w, w->bonds, w->dx);
    double bonds = taut_potential_modes_length(w, w->dx, NULL);
    taut_potential_modes_gradient(w, w->force);
    taut_potential_modes_step(w, flat ? 0 : w->n, w->bonds, w->force, -1, w->dx);
    for (taut_index k = 0; k < w->n && !flat; k++) {
        double part = taut_dot(w->n, w->mode + (int64_t)k * w->n, w->force) / fabs(w->value[0]);
        slope += part * part;
    }
    return bonds + sqrt(slope);
}

double taut_potential_modes_steepness(const taut_potential_modes *w)
{
    double most = 0;
    for (taut_index i = 0; i < w->n; i++) {
        const double *row = w->root + (int64_t)i * w->n;
        most = fmax(most, fabs(w->k[(int64_t)i * (w->n + 1)]) / taut_dot(i + 1, row, row));
    }
    return most;
}

int taut_potential_modes_descend(taut_potential_modes *w, double t, const double *from, double *x,
                                 int *rank, bool *found, int64_t *count, taut_error *error)
{
    enum { MOST = 200 };
    double before = INFINITY, first = 0, steepest = 0;
    *found = false;
    *rank = 0;
    for (int iteration = 0; iteration < MOST; iteration++) {
        TAUT_TRY(taut_potential_modes_find(w, t, x, error));
        ++*count;
        /* the rows, with what is held, leave it no curvature: whether it is least is the
         * caller's question */
        bool flat = !(fabs(w->value[0]) > zero_mode * taut_potential_modes_steepness(w));
        if (flat && w->rows.count == 0)
            return TAUT_OK;
        double far = newton_step(w, flat), scale = taut_potential_modes_scale(w, from, x);
        if (!isfinite(far))
            return TAUT_OK;
        *found = far <= 1e-13 * scale || (far <= 1e-9 * scale && far > before / 2);
        steepest = fmax(steepest, fabs(w->value[0]));
        if (*found && fabs(w->value[0]) < zero_mode * steepest &&
            !flat) /* it vanishes on the way: x^4 */
            *found = false;
        else if (*found) {
            *rank = flat ? 0 : taut_potential_modes_rank(w, zero_mode);
            return TAUT_OK;
        }
        double length = taut_potential_modes_length(w, w->dx, NULL);
        first = iteration == 0 ? length : first;
        /* far away the quadratic model promises too much */
        taut_add_scaled(w->n, length > 2 * first ? 2 * first / length : 1, w->dx, x);
        before = far;
    }
    return TAUT_OK;
}

int taut_potential_modes_modes(taut_potential_modes *w, double t, const double *q, int *rank,
                               taut_error *error)
{
    bool found;
    int64_t count = 0;
    taut_copy(w->n, q, w->start);
    TAUT_TRY(taut_potential_modes_descend(w, t, q, w->start, rank, &found, &count, error));
    TAUT_TRY(taut_potential_modes_find(w, t, q, error));
    int here = taut_potential_modes_rank(w, zero_mode);
    *rank = found && *rank > 0 && *rank < here ? *rank : here;
    return TAUT_OK;
}
