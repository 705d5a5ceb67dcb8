/* frequencies.c - frequencies of the stiff modes of a system at a state (spectrum.h has the
 * definitions). */
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/spectrum.h"
#include "system/modes/modes.h"
#include "system/modes/potential_modes.h"
#include "system/singular.h"
#include "system/system.h"

typedef struct work {
    taut_arena arena;
    taut_values values;
    taut_pattern jacobian, tangent;
    /* of the bonds that count, one after the other */
    taut_saddle_shape shape;
    taut_index *bond; /* NULL: all */
    double *entry;
    const double *compliance;
} work;

static int evaluate(work *w, taut_context *context, double t, const double *q, bool stiff,
                    taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    TAUT_TRY(taut_system_pattern(context->system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    bool matrix = sizes->mass != TAUT_MASS_DIAGONAL;
    if (matrix || stiff)
        TAUT_TRY(taut_system_pattern(context->system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    int64_t entries = w->tangent.start ? w->tangent.start[sizes->coordinates] : 0;
    w->values.jacobian = TAUT_NEW(&w->arena, double, sizes->jacobian_entries);
    const bool known = taut_context_masses(context);
    w->values.mass =
        known ? context->mass : TAUT_NEW(&w->arena, double, matrix ? entries : sizes->coordinates);
    w->values.stiff_hessian = TAUT_NEW(&w->arena, double, stiff ? entries : 0);
    TAUT_TRY(taut_arena_check(&w->arena, error));
    w->shape = (taut_saddle_shape){.n = sizes->coordinates, .symmetric = true, .positive = true};
    if (matrix) {
        w->shape.k_start = w->tangent.start;
        w->shape.k_column = w->tangent.column;
    }
    unsigned wanted = (known ? 0 : TAUT_WANT_MASS) | (sizes->bonds ? TAUT_WANT_JACOBIAN : 0) |
                      (stiff ? TAUT_WANT_STIFF_HESSIAN : 0);
    int64_t before = context->statistics.force_evaluations;
    taut_arena scratch;
    taut_arena_init(&scratch, &context->arena.allocator);
    int status = TAUT_RESERVE(&scratch, sizes->bonds, error, &w->values.bond_dt);
    if (status == 0)
        status = taut_evaluate_inside(context, t, q, NULL, wanted, &w->values, error);
    taut_arena_clear(&scratch);
    context->statistics.force_evaluations = before; /* a diagnosis, not a part of the motion */
    return status;
}

/* A stiff potential of few coordinates, alone or with springs: all modes, and as many as there
 * are on the manifold near q. */
static int small_stiff(taut_context *context, double t, const double *q, int count,
                       double *frequency, int *found, bool *complete, taut_error *error)
{
    taut_arena arena;
    taut_potential_modes modes;
    int rank = 0;
    if (count < 1)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "at least one frequency must be requested, not %d", count);
    int64_t before = context->statistics.force_evaluations;
    taut_arena_init(&arena, &context->arena.allocator);
    int status = taut_potential_modes_create(&modes, context, &arena, false, error);
    if (status == 0)
        status = taut_potential_modes_modes(&modes, t, q, &rank, error);
    context->statistics.force_evaluations = before; /* a diagnosis, not a part of the motion */
    int stable = 0;                                 /* negative eigenvalues are no frequencies */
    for (int k = 0; status == 0 && k < rank; k++)
        if (modes.value[k] > 0)
            modes.value[stable++] = modes.value[k];
    *complete = stable <= 2 * count;
    *found = *complete ? stable : 2 * count;
    for (int k = 0; k < *found; k++) { /* values descend */
        int from = *complete || k < count ? stable - 1 - k : *found - 1 - k;
        frequency[k] = sqrt(modes.value[from]);
    }
    taut_arena_clear(&arena);
    return status;
}

/* Adds G_s^T C^-1 G_s of the springs that are not soft to the Hessian: that is K of
 * potential_modes.h. */
static int join_springs(work *w, const taut_context *context, taut_error *error)
{
    const taut_pattern *g = &w->jacobian;
    for (taut_index i = 0; i < g->rows; i++)
        for (taut_index e = g->start[i]; e < g->start[i + 1]; e++)
            for (taut_index f = g->start[i]; f < g->start[i + 1]; f++) {
                if (!(context->compliance[i] > 0) || taut_context_soft(context, i))
                    continue;
                taut_index k = taut_row_find(&w->tangent, g->column[e], g->column[f]);
                if (k < 0)
                    return taut_fail(error, TAUT_ERROR_REFUSED,
                                     "frequencies of linear springs with a stiff potential of more "
                                     "than %d coordinates are unsupported: write the springs as "
                                     "part of the stiff potential",
                                     TAUT_SPECTRUM_DENSE);
                w->values.stiff_hessian[k] +=
                    w->values.jacobian[e] * w->values.jacobian[f] / context->compliance[i];
            }
    return 0;
}

/* The bonds that count: with a stiff potential the rigid ones, for springs are joined to it.
 * Otherwise soft springs are slow forces, not stiff modes; where there are no others, they are
 * what vibrates. */
static bool counts(const taut_context *context, taut_index i, bool stiff, bool hard)
{
    return !(context->compliance[i] > 0 && (stiff || (hard && taut_context_soft(context, i))));
}

static int choose_rows(work *w, const taut_context *context, bool stiff, taut_error *error)
{
    const taut_pattern *g = &w->jacobian;
    const double *c = context->compliance;
    bool hard = false, all = true;
    for (taut_index i = 0; i < g->rows; i++)
        hard |= c[i] > 0 && !taut_context_soft(context, i);
    for (taut_index i = 0; i < g->rows; i++)
        all = all && counts(context, i, stiff, hard);
    if (all) {
        w->entry = w->values.jacobian;
        w->compliance = c;
        w->shape.m = g->rows;
        w->shape.g_start = g->start;
        w->shape.g_column = g->column;
        return TAUT_OK;
    }
    taut_index *start = TAUT_NEW(&w->arena, taut_index, (int64_t)g->rows + 1), used = 0;
    taut_index *column = TAUT_NEW(&w->arena, taut_index, g->start[g->rows]);
    double *compliance;
    TAUT_TRY(TAUT_RESERVE(&w->arena, g->start[g->rows], error, &w->entry));
    TAUT_TRY(TAUT_RESERVE(&w->arena, g->rows, error, &compliance));
    w->compliance = compliance;
    w->bond = TAUT_NEW(&w->arena, taut_index, g->rows);
    TAUT_NEED(error, start, column, w->bond);
    for (taut_index i = 0; i < g->rows; i++) {
        if (!counts(context, i, stiff, hard))
            continue;
        for (taut_index e = g->start[i]; e < g->start[i + 1]; e++, used++) {
            column[used] = g->column[e];
            w->entry[used] = w->values.jacobian[e];
        }
        compliance[w->shape.m] = c[i];
        w->bond[w->shape.m] = i;
        start[++w->shape.m] = used;
    }
    w->shape.g_start = start;
    w->shape.g_column = column;
    return 0;
}

static int explain(const work *w, const taut_context *context, int status, double t,
                   taut_error *error)
{
    taut_singular parts = {.context = context,
                           .allocator = &context->arena.allocator,
                           .n = w->shape.n,
                           .m = w->shape.m,
                           .mass = w->values.mass,
                           .mass_start = w->shape.k_start,
                           .start = w->shape.g_start,
                           .column = w->shape.g_column,
                           .jacobian = w->entry,
                           .bond = w->bond,
                           .compliance = w->compliance};
    return taut_singular_explain(&parts, status, t, "frequencies cannot be found", error);
}

/* `ends`: of springs only these, count is 1. */
static int find(taut_context *context, double t, const double *q, int count, bool ends,
                double *frequency, int *found, bool *complete, taut_error *error)
{
    const taut_system *system = context->system;
    bool stiff = system->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    *found = 0;
    *complete = true;
    if (system->sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED, "frequencies belong to mechanical systems");
    if (!(system->sizes.can & TAUT_HAS_SPRINGS) && !stiff)
        return 0;
    if (stiff && system->sizes.coordinates <= TAUT_SPECTRUM_DENSE)
        return small_stiff(context, t, q, count, frequency, found, complete, error);
    work w = {0};
    taut_spectrum spectrum = {0};
    taut_arena_init(&w.arena, &context->arena.allocator);
    int status = evaluate(&w, context, t, q, stiff, error);
    if (status == 0 && stiff && (system->sizes.can & TAUT_HAS_SPRINGS))
        status = join_springs(&w, context, error);
    if (status == 0)
        status = choose_rows(&w, context, stiff, error);
    if (status == 0 && stiff)
        status = taut_spectrum_potential(&w.shape, w.values.mass, w.entry, w.tangent.start,
                                         w.tangent.column, w.values.stiff_hessian, count, frequency,
                                         &spectrum, &context->arena.allocator, error);
    else if (status == 0 && ends)
        status = taut_spectrum_ends(&w.shape, w.values.mass, w.entry, w.compliance, frequency,
                                    &spectrum, &context->arena.allocator, error);
    else if (status == 0)
        status = taut_spectrum_bonds(&w.shape, w.values.mass, w.entry, w.compliance, count,
                                     frequency, NULL, &spectrum, &context->arena.allocator, error);
    status = explain(&w, context, status, t, error);
    taut_arena_clear(&w.arena);
    *found = spectrum.found;
    *complete = spectrum.complete;
    return status;
}

int taut_frequencies(taut_context *context, double t, const double *q, int count, double *frequency,
                     int *found, bool *complete, taut_error *error)
{
    TAUT_REQUIRE(context && q && count >= 0 && (frequency || count == 0) && found && complete);
    return find(context, t, q, count, false, frequency, found, complete, error);
}

int taut_frequency_ends(taut_context *context, double t, const double *q, double frequency[2],
                        int *found, taut_error *error)
{
    bool complete;
    return find(context, t, q, 1, true, frequency, found, &complete, error);
}

/* Row sums of |C^-1 G M^-1 G^T|, which has the squares as eigenvalues [Gershgorin 1931]; rigid
 * bonds only lower them. */
static double row_sums(const work *w, const double *compliance, double *column)
{
    const taut_pattern *g = &w->jacobian;
    const double *entry = w->values.jacobian, *mass = w->values.mass;
    double most = 0;
    for (taut_index i = 0; i < g->rows; i++)
        for (taut_index k = g->start[i]; compliance[i] > 0 && k < g->start[i + 1]; k++)
            column[g->column[k]] += fabs(entry[k]) / mass[g->column[k]];
    for (taut_index i = 0; i < g->rows; i++)
        if (compliance[i] > 0)
            most = taut_larger(most, taut_row_size(g, entry, i, column) / compliance[i]);
    return most;
}

int taut_frequency_bound(taut_context *context, double t, const double *q, double *bound,
                         taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    *bound = INFINITY;
    if (sizes->mass != TAUT_MASS_DIAGONAL || sizes->can & TAUT_HAS_STIFF_POTENTIAL)
        return TAUT_OK;
    work w = {0};
    taut_arena_init(&w.arena, &context->arena.allocator);
    double *column = TAUT_NEW(&w.arena, double, sizes->coordinates);
    int status = column ? evaluate(&w, context, t, q, false, error) : taut_fail_memory(error);
    if (status == 0) {
        double square = row_sums(&w, context->compliance, column);
        *bound = isfinite(square) ? sqrt(square) : INFINITY;
    }
    taut_arena_clear(&w.arena);
    return status;
}
