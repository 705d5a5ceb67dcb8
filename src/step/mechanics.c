/* mechanics.c - see mechanics.h. */
#include "step/mechanics.h"

#include <string.h>

#include "base/rows.h"
#include "base/loops.h"
#include "linalg/saddle_bonds.h"
#include "system/singular.h"
#include "system/system.h"

static bool is_rod(const taut_mechanics *w, taut_index i)
{
    return w->stiff ? !taut_context_soft(w->context, i) : !(w->compliance[i] > 0);
}

/* The halo of the rigid bonds, if they are not all: on all ranks if on one. */
static int divide_rods(taut_mechanics *w, taut_arena *arena, taut_error *error)
{
    w->rod_halo = &w->part->bonds;
    if (taut_space_largest(w->part->space, w->rods < w->m) == 0)
        return TAUT_OK;
    taut_halo *own = TAUT_NEW(arena, taut_halo, 1);
    w->rod_halo = own;
    TAUT_TRY(taut_space_agree(w->part->space, own ? 0 : taut_fail_memory(error), error));
    return taut_halo_part(&w->part->bonds, w->rods, w->rod, arena, own, error);
}

/* Which bonds are rigid, and their rows of G. */
static int split_bonds(taut_mechanics *w, taut_arena *arena, taut_error *error)
{
    static const taut_index nothing[1];
    int64_t entries = 0;
    for (taut_index i = 0; i < w->m; i++)
        if (is_rod(w, i)) {
            w->rods++;
            entries += w->jacobian.start[i + 1] - w->jacobian.start[i];
        }
    w->mixed = w->rods > 0 && w->rods < w->m;
    w->rod = TAUT_NEW(arena, taut_index, w->rods);
    taut_index *start = w->mixed ? TAUT_NEW(arena, taut_index, w->rods + 1) : NULL,
               *column = w->mixed ? TAUT_NEW(arena, taut_index, entries) : NULL;
    w->rod_jacobian = w->mixed ? TAUT_NEW(arena, double, entries) : w->values.jacobian;
    TAUT_TRY(taut_arena_check(arena, error));
    taut_index r = 0, used = 0;
    for (taut_index i = 0; i < w->m; i++)
        if (is_rod(w, i)) {
            w->rod[r++] = i;
            for (taut_index k = w->jacobian.start[i]; w->mixed && k < w->jacobian.start[i + 1]; k++)
                column[used++] = w->jacobian.column[k];
            if (w->mixed)
                start[r] = used;
        }
    w->rod_rows = w->mixed       ? (taut_pattern){w->rods, w->n, start, column}
                  : w->rods == 0 ? (taut_pattern){0, w->n, nothing, NULL}
                                 : w->jacobian; /* all of it */
    w->rod_start = w->rod_rows.start;
    w->rod_column = w->rod_rows.column;
    return w->part ? divide_rods(w, arena, error) : TAUT_OK;
}

static int take_bonds(taut_mechanics *w, const taut_sizes *sizes, taut_arena *arena,
                      taut_error *error)
{
    TAUT_TRY(taut_system_pattern(taut_context_system(w->context), TAUT_PATTERN_JACOBIAN,
                                 &w->jacobian, error));
    TAUT_TRY(
        TAUT_RESERVE(arena, w->m, error, &w->values.bond, &w->values.bond_dt, &w->values.gamma));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->jacobian_entries, error, &w->values.jacobian));
    w->compliance = taut_context_compliance(w->context);
    w->damping = taut_context_damping(w->context);
    TAUT_TRY(split_bonds(w, arena, error));
    w->wanted |= TAUT_WANT_JACOBIAN;
    if (w->rods < w->m)
        w->wanted |= TAUT_WANT_BOND;
    if (w->rods == 0)
        w->wanted &= ~(unsigned)TAUT_WANT_GAMMA;
    return TAUT_OK;
}

/* A constant mass is often sparser than the tangent pattern that it is delivered on: a pattern
 * and values of what is not zero. */
static int compress_mass(taut_mechanics *w, const taut_pattern *tangent, taut_arena *arena,
                         taut_error *error)
{
    const double *entry = w->values.mass;
    int64_t count = 0;
    taut_index used = 0;
    for (taut_index k = 0; k < tangent->start[w->n]; k++)
        count += entry[k] != 0;
    double *value = TAUT_NEW(arena, double, count);
    taut_index *start = TAUT_NEW(arena, taut_index, (int64_t)w->n + 1),
               *column = TAUT_NEW(arena, taut_index, count);
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < w->n; i++) {
        for (taut_index k = tangent->start[i]; k < tangent->start[i + 1]; k++)
            if (entry[k] != 0) {
                column[used] = tangent->column[k];
                value[used++] = entry[k];
            }
        start[i + 1] = used;
    }
    w->mass = value;
    w->mass_start = start;
    w->mass_column = column;
    return TAUT_OK;
}

static int take_matrix(taut_mechanics *w, taut_arena *arena, taut_error *error)
{
    taut_pattern tangent;
    TAUT_TRY(taut_system_pattern(taut_context_system(w->context), TAUT_PATTERN_TANGENT, &tangent,
                                 error));
    TAUT_TRY(TAUT_RESERVE(arena, tangent.start[w->n], error, &w->values.mass));
    if (w->varying) {
        w->wanted |= TAUT_WANT_MASS;
        w->mass = w->values.mass;
        w->mass_start = tangent.start;
        w->mass_column = tangent.column;
        return TAUT_OK;
    }
    double *q, *v;
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &q, &v));
    /* constant: any point will do; the initial state need not exist at t = 0, but callbacks may
     * accept it where they refuse the origin */
    taut_error reason;
    if (taut_context_start(w->context, 0, q, v, &reason) != 0)
        for (taut_index i = 0; i < w->n; i++)
            q[i] = v[i] = 0;
    TAUT_TRY(taut_evaluate_inside(w->context, 0, q, v, TAUT_WANT_MASS, &w->values, error));
    return compress_mass(w, &tangent, arena, error);
}

static int take_mass(taut_mechanics *w, const taut_sizes *sizes, taut_arena *arena,
                     taut_error *error)
{
    w->varying = sizes->mass == TAUT_MASS_VARYING;
    w->positive = sizes->can & TAUT_CAN_INVERT_MASS;
    w->mass = taut_context_mass(w->context);
    if (!w->mass)
        return take_matrix(w, arena, error);
    for (taut_index i = 0; i < w->n; i++)
        w->positive = w->positive && w->mass[i] > 0;
    return TAUT_OK;
}

int taut_mechanics_create(taut_mechanics *w, taut_context *context, taut_arena *arena,
                          taut_statistics *statistics, unsigned wanted, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    *w = (taut_mechanics){.context = context,
                          .statistics = statistics,
                          .allocator = arena->allocator,
                          .part = taut_context_system(context)->part,
                          .n = sizes.coordinates,
                          .m = sizes.bonds,
                          .stiff = wanted & TAUT_STIFF_AS_RODS,
                          .wanted = (wanted & ~(unsigned)TAUT_STIFF_AS_RODS) | TAUT_WANT_FORCE};
    if (w->m > 0)
        TAUT_TRY(take_bonds(w, &sizes, arena, error));
    else if (!(w->rod_start = TAUT_NEW(arena, taut_index, 1)))
        return taut_fail_memory(error);
    else
        w->wanted = TAUT_WANT_FORCE;
    if (sizes.can & TAUT_HAS_STIFF_POTENTIAL) {
        w->wanted |= TAUT_WANT_STIFF_FORCE;
        TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->values.stiff_force));
    }
    return take_mass(w, &sizes, arena, error);
}

static void copy_rods(taut_mechanics *w)
{
    if (!w->mixed)
        return;
    double *to = w->rod_jacobian;
    for (taut_index r = 0; r < w->rods; r++)
        for (taut_index k = w->jacobian.start[w->rod[r]]; k < w->jacobian.start[w->rod[r] + 1]; k++)
            *to++ = w->values.jacobian[k];
}

/* lambda = C^-1 (g + T gdot) of the springs, force <- force - G^T lambda. */
static void add_springs(const taut_mechanics *w, const double *restrict v, double *restrict force,
                        double *restrict lambda)
{
    const double *entry = w->values.jacobian;
    for (taut_index i = 0; i < w->m; i++) {
        if (is_rod(w, i))
            continue;
        double stretch = w->values.bond[i];
        if (w->damping[i] > 0)
            stretch +=
                w->damping[i] * (w->values.bond_dt[i] + taut_row_dot(&w->jacobian, entry, i, v));
        double tension = w->given && !taut_context_soft(w->context, i) ? w->given[i]
                                                                       : stretch / w->compliance[i];
        if (lambda)
            lambda[i] = tension;
        taut_row_add(&w->jacobian, entry, i, -tension, force);
    }
}

double *taut_mechanics_room(const taut_mechanics *w, taut_saddle *saddle)
{
    bool can = w->rods > 0 && !w->mixed && taut_system_columns(taut_context_system(w->context));
    return can ? taut_saddle_columns(saddle) : NULL;
}

void taut_mechanics_columns(taut_mechanics *w, double *columns)
{
    const taut_system *system = taut_context_system(w->context);
    w->columns = columns;
    if (!w->mixed)
        w->rod_jacobian = columns ? columns : w->values.jacobian;
    w->still = columns;
    for (int32_t k = 0; k < system->kernels; k++)
        w->still =
            w->still && !(system->kernel[k]->role == TAUT_ROLE_BOND && system->kernel[k]->uses_t);
}

/* Into `values`, G where it goes. */
static int evaluate(taut_mechanics *w, double t, const double *q, const double *v, unsigned wanted,
                    taut_error *error)
{
    taut_values to = w->values;
    if (w->columns) {
        to.jacobian = w->columns;
        wanted |= TAUT_WANT_COLUMNS;
    }
    if (w->still)
        to.bond_dt = NULL;
    return taut_evaluate_inside(w->context, t, q, v, wanted, &to, error);
}

/* Ranks continue together. */
static int agree(const taut_mechanics *w, int status, taut_error *error)
{
    return w->part ? taut_space_agree(w->part->space, status, error) : status;
}

int taut_mechanics_force(taut_mechanics *w, double t, const double *q, const double *v,
                         double *force, double *lambda, taut_error *error)
{
    w->values.force = force;
    TAUT_TRY(agree(w, evaluate(w, t, q, v, w->wanted, error), error));
    w->statistics->force_evaluations++;
    if (w->rods < w->m)
        add_springs(w, v, force, lambda);
    if (w->wanted & TAUT_WANT_STIFF_FORCE)
        taut_loop_add(w->context->pool, w->n, w->values.stiff_force, force);
    copy_rods(w);
    return TAUT_OK;
}

int taut_mechanics_bonds(taut_mechanics *w, double t, const double *q, const double *v,
                         unsigned more, taut_error *error)
{
    unsigned wanted =
        (w->m > 0 ? TAUT_WANT_BOND | TAUT_WANT_JACOBIAN : 0) | more | (w->wanted & TAUT_WANT_MASS);
    if (wanted)
        TAUT_TRY(agree(w, evaluate(w, t, q, v, wanted, error), error));
    copy_rods(w);
    return TAUT_OK;
}

void taut_mechanics_pick(const taut_mechanics *w, double sign, const double *bond, double *row)
{
    if (!w->mixed)
        taut_loop_scale(w->context->pool, w->rods, sign, bond, row);
    for (taut_index r = 0; w->mixed && r < w->rods; r++)
        row[r] = sign * bond[w->rod[r]];
}

void taut_mechanics_archive(taut_mechanics *w, double *row, taut_archive *to)
{
    const taut_halo *halo = w->part ? &w->part->bonds : NULL;
    double *bond = w->values.bond;
    if (!w->mixed) {
        taut_archive_spread(to, halo, row, w->rods);
        return;
    }
    taut_loop_clear(w->context->pool, w->m, bond);
    for (taut_index r = 0; r < w->rods; r++)
        bond[w->rod[r]] = row[r];
    taut_archive_spread(to, halo, bond, w->m);
    taut_mechanics_pick(w, 1, bond, row);
}

void taut_mechanics_rates_at(const taut_mechanics *w, const taut_saddle *saddle, const double *v,
                             double *gdot)
{
    if (!taut_saddle_rows(saddle, v, gdot)) {
        taut_mechanics_rates(w, v, gdot);
        return;
    }
    if (!w->mixed && !w->still)
        taut_loop_add(w->context->pool, w->rods, w->values.bond_dt, gdot);
    for (taut_index r = 0; w->mixed && r < w->rods; r++)
        gdot[r] += w->values.bond_dt[w->rod[r]];
}

void taut_mechanics_rates(const taut_mechanics *w, const double *v, double *gdot)
{
    for (taut_index r = 0; r < w->rods; r++)
        gdot[r] = w->values.bond_dt[w->rod[r]] + taut_row_dot(&w->rod_rows, w->rod_jacobian, r, v);
}

int taut_mechanics_saddle(const taut_mechanics *w, bool unit_mass, bool symmetric,
                          const taut_allocator *allocator, taut_saddle **saddle, taut_error *error)
{
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->rods,
                               .k_start = unit_mass ? NULL : w->mass_start,
                               .k_column = unit_mass ? NULL : w->mass_column,
                               .g_start = w->rod_start,
                               .g_column = w->rod_column,
                               .symmetric = symmetric,
                               .positive = unit_mass || w->positive,
                               .pool = w->context->pool};
    if (w->part) {
        shape.column_halo = &w->part->coordinates;
        shape.row_halo = w->rod_halo;
    }
    if (unit_mass || !w->varying)
        shape.k_changes = &w->context->renewals;
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, allocator, saddle, error);
}

int taut_mechanics_factor(const taut_mechanics *w, taut_saddle *saddle, double t, const double *k,
                          const double *g1, const double *g2, taut_error *error)
{
    w->statistics->factorisations++;
    int status = taut_saddle_factor(saddle, k, g1, g2, NULL, error);
    if (status == TAUT_OK || w->part)
        return status;
    if (w->columns && g1 == w->columns) {
        taut_columns_to_rows(&w->rod_rows, g1, w->values.jacobian);
        g1 = w->values.jacobian;
    }
    taut_singular parts = {.context = w->context,
                           .allocator = &w->allocator,
                           .n = w->n,
                           .m = w->rods,
                           .mass = w->mass,
                           .mass_start = w->mass_start,
                           .start = w->rod_start,
                           .column = w->rod_column,
                           .jacobian = g1,
                           .bond = w->rod};
    const char *what = w->stiff && w->rods > 0
                           ? "the state cannot be projected onto the stiff springs"
                       : w->rods > 0 ? "the forces of rigid bonds cannot be determined"
                                     : "accelerations cannot be determined";
    return taut_singular_explain(&parts, status, t, what, error);
}

int taut_mechanics_react(taut_mechanics *w, taut_saddle *saddle, double t, const double *q,
                         const double *v, double *a, double *row, double *lambda, taut_error *error)
{
    if (w->rods > 0)
        TAUT_TRY(taut_evaluate_inside(w->context, t, q, v, TAUT_WANT_GAMMA, &w->values, error));
    taut_mechanics_pick(w, -1, w->values.gamma, row);
    TAUT_TRY(taut_saddle_solve(saddle, 1, a, row, error));
    for (taut_index r = 0; lambda && r < w->rods; r++)
        lambda[w->rod[r]] = row[r];
    return TAUT_OK;
}

int taut_mechanics_multipliers(taut_mechanics *w, taut_saddle *saddle, double t, const double *q,
                               const double *v, double *a, double *row, double *lambda,
                               taut_error *error)
{
    taut_statistics before = *w->statistics;
    int status = taut_mechanics_force(w, t, q, v, a, lambda, error);
    if (status == 0)
        status = taut_mechanics_factor(w, saddle, t, w->mass, w->rod_jacobian, NULL, error);
    if (status == 0)
        status = taut_mechanics_react(w, saddle, t, q, v, a, row, lambda, error);
    *w->statistics = before;
    return status;
}

/* ---- masses that are constant, without rigid bonds */

int taut_mechanics_invert(taut_mechanics *w, const char *who, double t, taut_arena *arena,
                          taut_error *error)
{
    if (w->mass_start) {
        taut_saddle_shape shape = {.n = w->n,
                                   .k_start = w->mass_start,
                                   .k_column = w->mass_column,
                                   .symmetric = true,
                                   .positive = true};
        TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &w->own, error));
        taut_mechanics alone = *w;
        alone.rods = 0;
        return taut_mechanics_factor(&alone, w->own, t, w->mass, NULL, NULL, error);
    }
    TAUT_TRY(taut_mechanics_need_masses(w, who, error));
    double *inverse = TAUT_NEW(arena, double, w->n);
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < w->n; i++) {
        inverse[i] = 1 / w->mass[i];
        if (w->mass[i] != 1)
            w->inverse = inverse;
    }
    return TAUT_OK;
}

int taut_mechanics_divide(taut_mechanics *w, double *x, taut_error *error)
{
    if (w->inverse)
        taut_loop_multiply(w->context->pool, w->n, w->inverse, x);
    if (!w->own)
        return TAUT_OK;
    w->statistics->solves++;
    return taut_saddle_solve(w->own, 1, x, NULL, error);
}

void taut_mechanics_destroy(taut_mechanics *w)
{
    taut_saddle_destroy(w->own);
    w->own = NULL;
}

/* ---- refusals */

int taut_mechanics_need_masses(const taut_mechanics *w, const char *who, taut_error *error)
{
    char name[80];
    for (taut_index i = 0; !w->mass_start && i < w->n; i++)
        if (!(w->mass[i] > 0)) {
            taut_system_name(taut_context_system(w->context), TAUT_COORDINATE, i, name,
                             sizeof name);
            return taut_fail(error, TAUT_ERROR_REFUSED,
                             "%s divides by the masses, but that of '%s' is %g; give it a mass > 0",
                             who, name, w->mass[i]);
        }
    return TAUT_OK;
}

int taut_mechanics_at_rest(const taut_mechanics *w, const char *who, double t, const double *q,
                           double *momentum, taut_error *error)
{
    taut_values values = {.momentum = momentum};
    if (!(taut_context_system(w->context)->sizes.can & TAUT_HAS_KINETIC))
        return TAUT_OK;
    TAUT_TRY(taut_evaluate_inside(w->context, t, q, NULL, TAUT_WANT_MOMENTUM | TAUT_WANT_ENERGY,
                                  &values, error));
    if (values.kinetic == 0 && taut_largest(w->n, momentum) == 0)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "%s needs a kinetic energy that is zero at rest: coordinates that move with "
                     "time are unsupported; use the full motion",
                     who);
}

int taut_mechanics_need_springs(const taut_mechanics *w, const char *who, taut_error *error)
{
    char name[80];
    for (taut_index i = 0; i < w->m; i++)
        if (!(w->compliance[i] > 0)) {
            taut_system_name(taut_context_system(w->context), TAUT_BOND, i, name, sizeof name);
            return taut_fail(
                error, TAUT_ERROR_REFUSED,
                "%s does not support bond '%s' with compliance %g; give it a stiffness", who, name,
                w->compliance[i]);
        }
    return TAUT_OK;
}
