/* frequencies.c - frequencies of the stiff modes of a system at a state (spectrum.h has the definitions). */
#include "linalg/spectrum.h"
#include "system/system.h"

typedef struct work {
    taut_arena arena;
    taut_values values;
    taut_saddle_shape shape;
    taut_pattern tangent;
} work;

static int evaluate(work *w, taut_context *context, double t, const double *q, bool stiff, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    taut_pattern jacobian;
    TAUT_TRY(taut_system_pattern(context->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    bool matrix = sizes->mass != TAUT_MASS_DIAGONAL;
    if (matrix || stiff)
        TAUT_TRY(taut_system_pattern(context->system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    int64_t entries = w->tangent.start ? w->tangent.start[sizes->coordinates] : 0;
    w->values.jacobian = TAUT_NEW(&w->arena, double, sizes->jacobian_entries);
    w->values.bond_dt = TAUT_NEW(&w->arena, double, sizes->bonds);
    w->values.mass = TAUT_NEW(&w->arena, double, matrix ? entries : sizes->coordinates);
    w->values.stiff_hessian = TAUT_NEW(&w->arena, double, stiff ? entries : 0);
    if (!w->values.jacobian || !w->values.bond_dt || !w->values.mass || !w->values.stiff_hessian)
        return taut_fail_memory(error);
    w->shape = (taut_saddle_shape){.n = sizes->coordinates,
                                   .m = sizes->bonds,
                                   .g_start = jacobian.start,
                                   .g_column = jacobian.column,
                                   .symmetric = true,
                                   .positive = true};
    if (matrix) {
        w->shape.k_start = w->tangent.start;
        w->shape.k_column = w->tangent.column;
    }
    unsigned wanted = TAUT_WANT_MASS | (sizes->bonds ? TAUT_WANT_JACOBIAN : 0) | (stiff ? TAUT_WANT_STIFF_HESSIAN : 0);
    int64_t before = context->statistics.force_evaluations;
    int status = taut_evaluate(context, t, q, NULL, wanted, &w->values, error);
    context->statistics.force_evaluations = before; /* a diagnosis, not a part of the motion */
    return status;
}

int taut_frequencies(taut_context *context, double t, const double *q, int count, double *frequency, int *found, bool *complete,
                     taut_error *error)
{
    const taut_system *system = context->system;
    bool stiff = system->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    *found = 0;
    *complete = true;
    if (system->sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED, "frequencies belong to mechanical systems");
    if (!(system->sizes.can & TAUT_HAS_SPRINGS) && !stiff)
        return 0;
    if ((system->sizes.can & TAUT_HAS_SPRINGS) && stiff)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "frequencies of springs beside a stiff potential are not in this version: write the stiff potential as "
                         "bonds, or the bonds as stiff potential");
    work w = {0};
    taut_spectrum spectrum = {0};
    taut_arena_init(&w.arena, &context->arena.allocator);
    int status = evaluate(&w, context, t, q, stiff, error);
    if (status == 0 && stiff)
        status = taut_spectrum_potential(&w.shape, w.values.mass, w.values.jacobian, w.tangent.start, w.tangent.column,
                                         w.values.stiff_hessian, count, frequency, &spectrum, &context->arena.allocator, error);
    else if (status == 0)
        status = taut_spectrum_bonds(&w.shape, w.values.mass, w.values.jacobian, context->compliance, count, frequency, NULL,
                                     &spectrum, &context->arena.allocator, error);
    taut_arena_clear(&w.arena);
    *found = spectrum.found;
    *complete = spectrum.complete;
    return status;
}
