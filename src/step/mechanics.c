/* mechanics.c - see mechanics.h. */
#include "step/mechanics.h"

#include <string.h>

#include "base/rows.h"
#include "system/singular.h"

/* Which bonds are rods, and their rows of G. */
static int split_bonds(taut_mechanics *w, taut_arena *arena, taut_error *error)
{
    int64_t entries = 0;
    for (taut_index i = 0; i < w->m; i++)
        if (!(w->compliance[i] > 0)) {
            w->rods++;
            entries += w->jacobian.start[i + 1] - w->jacobian.start[i];
        }
    w->mixed = w->rods > 0 && w->rods < w->m;
    w->rod = TAUT_NEW(arena, taut_index, w->rods);
    w->rod_start = TAUT_NEW(arena, taut_index, w->rods + 1);
    w->rod_column = TAUT_NEW(arena, taut_index, entries);
    w->rod_jacobian = w->mixed ? TAUT_NEW(arena, double, entries) : w->values.jacobian;
    if (!w->rod || !w->rod_start || !w->rod_column || (w->mixed && !w->rod_jacobian))
        return taut_fail_memory(error);
    taut_index r = 0, used = 0;
    for (taut_index i = 0; i < w->m; i++)
        if (!(w->compliance[i] > 0)) {
            w->rod[r++] = i;
            for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++)
                w->rod_column[used++] = w->jacobian.column[k];
            w->rod_start[r] = used;
        }
    w->rod_rows = (taut_pattern){w->rods, w->n, w->rod_start, w->rod_column};
    return TAUT_OK;
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

int taut_mass_compress(const taut_pattern *tangent, const double *entry, taut_arena *arena,
                       taut_index **start, taut_index **column, double **value, taut_error *error)
{
    int64_t count = 0;
    taut_index n = tangent->rows, used = 0;
    for (taut_index k = 0; k < tangent->start[n]; k++)
        count += entry[k] != 0;
    *value = TAUT_NEW(arena, double, count);
    *start = TAUT_NEW(arena, taut_index, (int64_t)n + 1);
    *column = TAUT_NEW(arena, taut_index, count);
    if (!*value || !*start || !*column)
        return taut_fail_memory(error);
    for (taut_index i = 0; i < n; i++) {
        for (taut_index k = tangent->start[i]; k < tangent->start[i + 1]; k++)
            if (entry[k] != 0) {
                (*column)[used] = tangent->column[k];
                (*value)[used++] = entry[k];
            }
        (*start)[i + 1] = used;
    }
    return TAUT_OK;
}

static int copy_pattern(taut_mechanics *w, const taut_pattern *tangent, taut_arena *arena,
                        taut_error *error)
{
    taut_index count = tangent->start[w->n];
    w->mass_start = TAUT_NEW(arena, taut_index, w->n + 1);
    w->mass_column = TAUT_NEW(arena, taut_index, count);
    if (!w->mass_start || !w->mass_column)
        return taut_fail_memory(error);
    memcpy(w->mass_start, tangent->start, ((size_t)w->n + 1) * sizeof(taut_index));
    memcpy(w->mass_column, tangent->column, (size_t)count * sizeof(taut_index));
    return TAUT_OK;
}

static int take_matrix(taut_mechanics *w, taut_arena *arena, taut_error *error)
{
    taut_pattern tangent;
    TAUT_TRY(taut_system_pattern(taut_context_system(w->context), TAUT_PATTERN_TANGENT, &tangent,
                                 error));
    w->values.mass = TAUT_NEW(arena, double, tangent.start[w->n]);
    if (!w->values.mass)
        return taut_fail_memory(error);
    if (w->varying) {
        w->wanted |= TAUT_WANT_MASS;
        w->mass = w->values.mass;
        return copy_pattern(w, &tangent, arena, error);
    }
    double *q = TAUT_NEW(arena, double, w->n), *v = TAUT_NEW(arena, double, w->n);
    if (!q || !v)
        return taut_fail_memory(error);
    /* constant: any point will do; the start need not exist at t = 0, but callbacks may like it
     * better than the origin */
    taut_error reason;
    if (taut_context_start(w->context, 0, q, v, &reason) != 0)
        for (taut_index i = 0; i < w->n; i++)
            q[i] = v[i] = 0;
    TAUT_TRY(taut_evaluate_inside(w->context, 0, q, v, TAUT_WANT_MASS, &w->values, error));
    double *value;
    TAUT_TRY(taut_mass_compress(&tangent, w->values.mass, arena, &w->mass_start, &w->mass_column,
                                &value, error));
    w->mass = value;
    return TAUT_OK;
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
                          .n = sizes.coordinates,
                          .m = sizes.bonds,
                          .wanted = wanted | TAUT_WANT_FORCE};
    if (w->m > 0)
        TAUT_TRY(take_bonds(w, &sizes, arena, error));
    else
        w->wanted = TAUT_WANT_FORCE;
    if (sizes.can & TAUT_HAS_STIFF_POTENTIAL) {
        w->wanted |= TAUT_WANT_STIFF_FORCE;
        w->values.stiff_force = TAUT_NEW(arena, double, w->n);
        if (!w->values.stiff_force)
            return taut_fail_memory(error);
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
        if (!(w->compliance[i] > 0))
            continue;
        double stretch = w->values.bond[i];
        if (w->damping[i] > 0)
            stretch +=
                w->damping[i] * (w->values.bond_dt[i] + taut_row_dot(&w->jacobian, entry, i, v));
        double tension = stretch / w->compliance[i];
        if (lambda)
            lambda[i] = tension;
        taut_row_add(&w->jacobian, entry, i, -tension, force);
    }
}

int taut_mechanics_force(taut_mechanics *w, double t, const double *q, const double *v,
                         double *force, double *lambda, taut_error *error)
{
    w->values.force = force;
    TAUT_TRY(taut_evaluate_inside(w->context, t, q, v, w->wanted, &w->values, error));
    w->statistics->force_evaluations++;
    if (w->rods < w->m)
        add_springs(w, v, force, lambda);
    if (w->values.stiff_force)
        for (taut_index i = 0; i < w->n; i++)
            force[i] += w->values.stiff_force[i];
    copy_rods(w);
    return TAUT_OK;
}

int taut_mechanics_bonds(taut_mechanics *w, double t, const double *q, const double *v,
                         unsigned more, taut_error *error)
{
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | more | (w->wanted & TAUT_WANT_MASS);
    TAUT_TRY(taut_evaluate_inside(w->context, t, q, v, wanted, &w->values, error));
    copy_rods(w);
    return TAUT_OK;
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
                               .positive = unit_mass || w->positive};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, allocator, saddle, error);
}

int taut_mechanics_factor(const taut_mechanics *w, taut_saddle *saddle, double t, const double *k,
                          const double *g1, const double *g2, taut_error *error)
{
    w->statistics->factorisations++;
    int status = taut_saddle_factor(saddle, k, g1, g2, NULL, error);
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
    const char *what = w->rods > 0 ? "the forces of rigid bonds cannot be determined"
                                   : "accelerations cannot be determined";
    return taut_singular_explain(&parts, status, t, what, error);
}
