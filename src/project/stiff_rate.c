/* stiff_rate.c - the fastest rate of a system at a state, which limits the steps of explicit
 * methods: max |mu| of df/dz in first-order systems (Arnoldi's iteration). Mechanical systems have
 * their frequencies, and what damped bonds add (diagnose.c). */
#include "project/flow_rates.h"

#include "base/rows.h"
#include "linalg/arnoldi.h"
#include "system/system.h"

typedef struct linear {
    taut_pattern tangent;
    const double *entry;
} linear;

static int apply(void *user, const double *x, double *y, taut_error *error)
{
    const linear *w = user;
    (void)error;
    taut_rows_product(&w->tangent, w->entry, x, y);
    return TAUT_OK;
}

int taut_stiff_rate(taut_context *context, double t, const double *z, double *rate,
                    taut_error *error)
{
    enum { EXACT = 40, VECTORS = 16 };
    const taut_system *system = taut_context_system(context);
    taut_arena arena;
    taut_sizes sizes;
    linear w;
    taut_values values = {0};
    *rate = 0;
    taut_system_sizes(system, &sizes);
    if (sizes.kind != TAUT_FIRST_ORDER || sizes.algebraic > 0)
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w.tangent, error));
    taut_arena_init(&arena, &context->arena.allocator);
    int status = TAUT_RESERVE(&arena, w.tangent.start[sizes.coordinates], error, &values.force_dq);
    if (status == 0)
        status = taut_evaluate_inside(context, t, z, NULL, TAUT_WANT_FORCE_DQ, &values, error);
    w.entry = values.force_dq;
    taut_operator op = {.n = sizes.coordinates, .apply = apply, .user = &w};
    if (status == 0)
        status = taut_arnoldi_largest(&op, sizes.coordinates <= EXACT ? EXACT : VECTORS, 1e-2, rate,
                                      &arena.allocator, error);
    taut_arena_clear(&arena);
    return status;
}
