/* finite.c - see finite.h: which item is not a number, or infinite, and what may be the reason. */
#include "system/finite.h"

#include <math.h>
#include <stdio.h>

#include "base/rows.h"

int taut_check_finite(const taut_system *system, taut_item item, const char *what, double t,
                      const double *x, int64_t count, taut_error *error)
{
    if (taut_lanes_test(x, count) == 0)
        return 0;
    int64_t bad = 0;
    while (bad < count && isfinite(x[bad]))
        bad++;
    if (bad == count)
        return 0;
    char name[160];
    taut_system_name(system, item, (taut_index)bad, name, sizeof name);
    int code =
        taut_fail(error, TAUT_ERROR_EVALUATE,
                  "%s %s is %s at t = %.9g: the state is outside the domain of an expression "
                  "(division by zero, root or log of a negative number), or has grown too large",
                  what, name, isnan(x[bad]) ? "not a number" : "infinite", t);
    if (error)
        error->t = t;
    return code;
}

static taut_index row_of_entry(const taut_system *system, bool columns, int64_t entry)
{
    const taut_index *start = system->jacobian_start;
    taut_index low = 0, high = system->sizes.bonds;
    for (taut_index end; columns && low < high; low = end) {
        end = taut_columns_end(start, high, low);
        if (entry < start[end])
            return low + (taut_index)((entry - start[low]) % (end - low));
    }
    while (high - low > 1) {
        taut_index middle = low + (high - low) / 2;
        if (system->jacobian_start[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int check_jacobian(const taut_system *system, double t, bool columns, const double *x,
                          taut_error *error)
{
    if (taut_lanes_test(x, system->sizes.jacobian_entries) == 0)
        return 0;
    int64_t bad = 0;
    while (bad < system->sizes.jacobian_entries && isfinite(x[bad]))
        bad++;
    if (bad == system->sizes.jacobian_entries)
        return 0;
    char name[160];
    taut_system_name(system, TAUT_BOND, row_of_entry(system, columns, bad), name, sizeof name);
    int code = taut_fail(
        error, TAUT_ERROR_EVALUATE,
        "the gradient of bond %s is not finite at t = %.9g (a length of zero, or a root at zero?)",
        name, t);
    if (error)
        error->t = t;
    return code;
}

int taut_check_bonds(const taut_system *system, double t, unsigned wanted,
                     const taut_values *values, taut_error *error)
{
    if (wanted & TAUT_WANT_BOND)
        TAUT_TRY(taut_check_finite(system, TAUT_BOND, "bond", t, values->bond, system->sizes.bonds,
                                   error));
    if (wanted & TAUT_WANT_JACOBIAN)
        TAUT_TRY(check_jacobian(system, t, wanted & TAUT_WANT_COLUMNS, values->jacobian, error));
    if (wanted & TAUT_WANT_JACOBIAN && values->bond_dt)
        TAUT_TRY(taut_check_finite(system, TAUT_BOND, "the time derivative of bond", t,
                                   values->bond_dt, system->sizes.bonds, error));
    if (wanted & TAUT_WANT_GAMMA)
        return taut_check_finite(system, TAUT_BOND, "the second derivative of bond", t,
                                 values->gamma, system->sizes.bonds, error);
    return 0;
}

/* Matrices: an entry that is not finite is reported by the coordinate of its row. */
static int check_matrix(const taut_system *system, const char *what, double t, const double *x,
                        const taut_index *start, taut_error *error)
{
    const taut_index n = system->sizes.coordinates;
    if (n == 0 || taut_lanes_test(x, start[n]) == 0)
        return 0;
    for (taut_index i = 0; i < n; i++)
        for (taut_index k = start[i]; k < start[i + 1]; k++)
            if (!isfinite(x[k])) {
                char name[160];
                taut_system_name(system, TAUT_COORDINATE, i, name, sizeof name);
                int code = taut_fail(
                    error, TAUT_ERROR_EVALUATE,
                    "%s is not finite in the row of %s at t = %.9g (a root or a power at zero?)",
                    what, name, t);
                if (error)
                    error->t = t;
                return code;
            }
    return 0;
}

int taut_check_matrices(const taut_system *system, double t, unsigned wanted,
                        const taut_values *values, taut_error *error)
{
    const bool first = system->sizes.kind != TAUT_MECHANICAL,
               diagonal = system->sizes.mass == TAUT_MASS_DIAGONAL;
    const taut_patterns *patterns = taut_system_patterns(system);
    const taut_index *tangent = patterns->tangent.start, *control = patterns->control.start;
    const struct {
        unsigned bit;
        const char *what;
        const double *x;
        const taut_index *start;
    } rows[] = {{TAUT_WANT_BOND_HESSIAN, "the weighted second derivative of the bonds",
                 values->bond_hessian, tangent},
                {TAUT_WANT_FORCE_DQ,
                 first ? "the derivative of the rates" : "the derivative of the forces",
                 values->force_dq, tangent},
                {TAUT_WANT_FORCE_DV,
                 first ? "the derivative of the rates by the algebraic variables"
                       : "the derivative of the forces by velocities",
                 values->force_dv, first ? control : tangent},
                {TAUT_WANT_MASS, "the mass matrix", values->mass, diagonal ? NULL : tangent},
                {TAUT_WANT_MASS_DQ, "the derivative of the mass matrix", values->mass_dq, tangent},
                {TAUT_WANT_STIFF_HESSIAN, "the second derivative of the stiff potential",
                 values->stiff_hessian, tangent}};
    if (wanted & TAUT_WANT_FORCE_DQ && values->bond_hessian == values->force_dq)
        wanted &= ~(unsigned)TAUT_WANT_BOND_HESSIAN; /* one array for their sum */
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (wanted & rows[k].bit && rows[k].start)
            TAUT_TRY(check_matrix(system, rows[k].what, t, rows[k].x, rows[k].start, error));
    if (wanted & TAUT_WANT_MOMENTUM)
        return taut_check_finite(system, TAUT_COORDINATE, "the momentum of", t, values->momentum,
                                 system->sizes.coordinates, error);
    return 0;
}

int taut_check_forces(const taut_system *system, double t, unsigned wanted,
                      const taut_values *values, taut_error *error)
{
    const taut_sizes *sizes = &system->sizes;
    if (wanted & TAUT_WANT_FORCE)
        TAUT_TRY(taut_check_finite(system, TAUT_COORDINATE,
                                   sizes->kind == TAUT_MECHANICAL ? "the force on" : "the rate of",
                                   t, values->force, sizes->coordinates, error));
    if (wanted & TAUT_WANT_STIFF_FORCE)
        TAUT_TRY(taut_check_finite(system, TAUT_COORDINATE, "the stiff force on", t,
                                   values->stiff_force, sizes->coordinates, error));
    if (wanted & TAUT_WANT_ENERGY && !isfinite(values->kinetic + values->potential +
                                               values->bond_energy + values->stiff_energy)) {
        int code = taut_fail(error, TAUT_ERROR_EVALUATE, "the energy is not finite at t = %.9g", t);
        if (error)
            error->t = t;
        return code;
    }
    return 0;
}
