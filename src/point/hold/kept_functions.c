/* kept_functions.c - the manifold c(z) = c0 on which a projection moves: c are observables and
 * invariants.
 *
 *     tangent: x <- x - S J^T (J S J^T)^-1 J x   restore:
 *     z <- z - S J^T (J S J^T)^-1 (c(z) - c0), repeated   J = dc/dz
 *
 * A function of one variable keeps that variable itself, exactly; so does `hold`. Where the
 * observables are variables this is the setting of [D (1.1)-(1.2)], and where u = x + y is
 * observed the rest moves along y - x, as in [D (4.4)-(4.5)].
 *
 * S = diag(s^2), s = 1 for variables up to a thousand times smaller than the largest, and in
 * proportion to their size below: traces must not pay for what abundant species owe to a
 * balance. (With S = I the plain iteration for hydrogen-oxygen diverges. The paper computes two
 * abundant species from the balances [D section 4.2], which comes to much the same.) */
#include "point/hold/kept_functions.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"
#include "system/singular.h"

enum { MOST_ITERATIONS = 20 };

static int new_arrays(taut_kept_functions *h, taut_arena *arena, taut_error *error)
{
    taut_index entries = h->jacobian.start[h->bonds];
    h->fixed = TAUT_NEW(arena, bool, h->n);
    h->row = TAUT_NEW(arena, taut_index, h->bonds);
    h->start = TAUT_NEW(arena, taut_index, h->bonds + 1);
    h->column = TAUT_NEW(arena, taut_index, entries);
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &h->entry, &h->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, h->n, error, &h->stiff, &h->x));
    TAUT_TRY(
        TAUT_RESERVE(arena, h->bonds, error, &h->value, &h->target, &h->y, &h->values.bond_dt));
    h->values.bond = h->value;
    return h->fixed && h->row && h->start && h->column ? TAUT_OK : taut_fail_memory(error);
}

/* The one free variable of row i, -1 when there is none, -2 when there are several. Columns may
 * repeat. */
static taut_index single_variable(const taut_kept_functions *h, taut_index i)
{
    taut_index found = -1;
    for (taut_index k = h->jacobian.start[i]; k < h->jacobian.start[i + 1]; k++) {
        taut_index j = h->jacobian.column[k];
        if (h->fixed[j] || j == found)
            continue;
        if (found >= 0)
            return -2;
        found = j;
    }
    return found;
}

static void fix_variables(taut_kept_functions *h, const unsigned char *hold)
{
    for (taut_index j = 0; hold && j < h->n; j++)
        h->fixed[j] = hold[j] & TAUT_HOLD_POSITION;
    bool more = true;
    while (more) {
        more = false;
        for (taut_index i = 0; i < h->bonds; i++) {
            taut_index j = single_variable(h, i);
            if (j >= 0)
                h->fixed[j] = more = true;
        }
    }
    h->unknowns = h->n;
    for (taut_index j = 0; j < h->n; j++)
        h->unknowns -= h->fixed[j];
}

/* Rows of several variables, without the fixed ones. */
static void take_rows(taut_kept_functions *h)
{
    taut_index used = 0;
    for (taut_index i = 0; i < h->bonds; i++) {
        if (single_variable(h, i) != -2)
            continue;
        h->row[h->rows++] = i;
        for (taut_index k = h->jacobian.start[i]; k < h->jacobian.start[i + 1]; k++)
            if (!h->fixed[h->jacobian.column[k]])
                h->column[used++] = h->jacobian.column[k];
        h->start[h->rows] = used;
    }
    h->unknowns -= h->rows;
}

int taut_kept_functions_create(taut_kept_functions *h, taut_context *context, taut_arena *arena,
                               const unsigned char *hold, double t, const double *z,
                               taut_error *error)
{
    taut_sizes sizes;
    const taut_system *system = taut_context_system(context);
    taut_system_sizes(system, &sizes);
    *h = (taut_kept_functions){.context = context,
                               .allocator = &arena->allocator,
                               .n = sizes.coordinates,
                               .bonds = sizes.bonds};
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &h->jacobian, error));
    TAUT_TRY(new_arrays(h, arena, error));
    fix_variables(h, hold);
    take_rows(h);
    for (taut_index j = 0; j < h->n; j++)
        h->stiff[j] = 1;
    TAUT_TRY(taut_evaluate_inside(context, t, z, NULL, TAUT_WANT_BOND, &h->values, error));
    taut_copy(h->bonds, h->value, h->target);
    if (h->rows == 0)
        return TAUT_OK;
    taut_saddle_shape shape = {.n = h->n,
                               .m = h->rows,
                               .g_start = h->start,
                               .g_column = h->column,
                               .symmetric = true,
                               .positive = true};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &h->saddle, error);
}

void taut_kept_functions_scale(taut_kept_functions *h, const double *a, const double *b)
{
    static const double range = 1000, least = 1e-8;
    double most = DBL_MIN;
    for (taut_index j = 0; j < h->n; j++)
        most = fmax(most, fmax(fabs(a[j]), fabs(b[j])));
    for (taut_index j = 0; j < h->n; j++) {
        double s = fmax(least, fmin(1, range * (fmax(fabs(a[j]), fabs(b[j])) / most)));
        h->stiff[j] = 1 / (s * s);
    }
}

void taut_kept_functions_destroy(taut_kept_functions *h)
{
    taut_saddle_destroy(h->saddle);
    h->saddle = NULL;
}

/* Values and a factorisation at (t, z). */
static int factor(taut_kept_functions *h, double t, const double *z, taut_error *error)
{
    TAUT_TRY(taut_evaluate_inside(h->context, t, z, NULL, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                  &h->values, error));
    taut_index used = 0;
    for (taut_index r = 0; r < h->rows; r++)
        for (taut_index k = h->jacobian.start[h->row[r]]; k < h->jacobian.start[h->row[r] + 1]; k++)
            if (!h->fixed[h->jacobian.column[k]])
                h->entry[used++] = h->values.jacobian[k];
    int status = taut_saddle_factor(h->saddle, h->stiff, h->entry, NULL, NULL, error);
    taut_singular parts = {.context = h->context,
                           .allocator = h->allocator,
                           .n = h->n,
                           .m = h->rows,
                           .mass = h->stiff,
                           .start = h->start,
                           .column = h->column,
                           .jacobian = h->entry,
                           .bond = h->row};
    return taut_singular_explain(
        &parts, status, t, "observables and invariants are not independent of one another", error);
}

int taut_kept_functions_tangent(taut_kept_functions *h, double t, const double *z, double *x,
                                taut_error *error)
{
    for (taut_index j = 0; j < h->n; j++)
        if (h->fixed[j])
            x[j] = 0;
    if (h->rows == 0)
        return TAUT_OK;
    TAUT_TRY(factor(h, t, z, error));
    taut_clear(h->rows, h->y);
    for (taut_index j = 0; j < h->n; j++)
        x[j] *= h->stiff[j];
    return taut_saddle_solve(h->saddle, 1, x, h->y, error);
}

/* max |c - c0| in units of what rounding leaves */
static double violation(taut_kept_functions *h, const double *z)
{
    double most = 0;
    for (taut_index r = 0; r < h->rows; r++) {
        taut_index i = h->row[r];
        double size = fabs(h->target[i]);
        for (taut_index k = h->start[r]; k < h->start[r + 1]; k++)
            size = fmax(size, fabs(h->entry[k] * z[h->column[k]]));
        h->y[r] = h->target[i] - h->value[i];
        double here = fabs(h->y[r]) / (8 * DBL_EPSILON * fmax(size, DBL_MIN));
        most = isnan(here) ? INFINITY : fmax(most, here);
    }
    return most;
}

int taut_kept_functions_restore(taut_kept_functions *h, double t, double *z, taut_error *error)
{
    double before = INFINITY;
    for (int k = 0; k < MOST_ITERATIONS && h->rows > 0; k++) {
        TAUT_TRY(factor(h, t, z, error));
        double now = violation(h, z);
        if (now <= 1 || (now < 100 && now >= before)) /* done, or as near as rounding allows */
            return TAUT_OK;
        before = now;
        taut_clear(h->n, h->x);
        TAUT_TRY(taut_saddle_solve(h->saddle, 1, h->x, h->y, error));
        for (taut_index j = 0; j < h->n; j++)
            z[j] += h->x[j];
    }
    if (h->rows == 0)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the observables and invariants could not be brought back to their values");
}
