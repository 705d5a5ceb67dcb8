/* rigid_multipliers.c - multipliers from the acceleration equation: g = 0 differentiated twice
 * along the motion,
 *
 *     [ M  G^T ] [ v'     ]   [ f - G_soft^T lambda_soft ]
 *     [ G   0   ] [ lambda ] = [ -gamma   ], gamma = g_qq(v,v) + 2 g_qt v + g_tt
 *
 * over all bonds that are not soft; soft ones follow their own law, c lambda = g + tau gdot. On
 * the slow manifold of springs the right-hand side is C lambda'' - gamma: leaving C lambda'' out
 * errs by O(omega^-2), and unlike C^-1 g does not amplify the rounding of g. */
#include "base/rows.h"
#include "point/projection.h"

#include "point/hold/hold.h"
#include "system/singular.h"

typedef struct work {
    taut_arena arena;
    taut_index n, m;
    taut_pattern jacobian, tangent;
    taut_values values;
    taut_saddle *saddle;
    double *a, *d;
} work;

static int evaluate(work *w, taut_context *context, const taut_sizes *sizes, double t,
                    const double *q, const double *v, taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    bool matrix = sizes->mass != TAUT_MASS_DIAGONAL;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    if (matrix)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->m, error, &w->values.bond, &w->values.bond_dt,
                          &w->values.gamma, &w->d));
    TAUT_TRY(TAUT_RESERVE(&w->arena, sizes->jacobian_entries, error, &w->values.jacobian));
    TAUT_TRY(
        TAUT_RESERVE(&w->arena, matrix ? w->tangent.start[w->n] : w->n, error, &w->values.mass));
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->n, error, &w->a));
    w->values.force = w->a;
    return taut_evaluate(context, t, q, v,
                         TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA |
                             TAUT_WANT_MASS,
                         &w->values, error);
}

/* Soft bonds become forces; their rows leave the matrix. */
static void take_soft(work *w, taut_context *context, const double *v, double *lambda)
{
    const double *compliance = taut_context_compliance(context),
                 *damping = taut_context_damping(context);
    for (taut_index i = 0; i < w->m; i++) {
        lambda[i] = -w->values.gamma[i];
        if (!taut_context_soft(context, i) || !(compliance[i] > 0))
            continue;
        double rate = w->values.bond_dt[i] + taut_row_dot(&w->jacobian, w->values.jacobian, i, v);
        double tension = (w->values.bond[i] + damping[i] * rate) / compliance[i];
        taut_row_add(&w->jacobian, w->values.jacobian, i, -tension, w->a);
        taut_row_clear(&w->jacobian, w->values.jacobian, i);
        w->d[i] = 1;
        lambda[i] = -tension;
    }
}

static int factor(work *w, const taut_context *context, double t, taut_error *error)
{
    taut_singular parts = {.context = context,
                           .allocator = &w->arena.allocator,
                           .n = w->n,
                           .m = w->m,
                           .mass = w->values.mass,
                           .mass_start = w->tangent.start,
                           .start = w->jacobian.start,
                           .column = w->jacobian.column,
                           .jacobian = w->values.jacobian,
                           .compliance = w->d};
    int status =
        taut_saddle_factor(w->saddle, w->values.mass, w->values.jacobian, NULL, w->d, error);
    return taut_singular_explain(&parts, status, t, "multipliers cannot be determined", error);
}

static int solve(work *w, const taut_context *context, double t, double *lambda, taut_error *error)
{
    TAUT_TRY(taut_bonds_saddle(context, &w->jacobian, &w->tangent, &w->arena.allocator, &w->saddle,
                               error));
    TAUT_TRY(factor(w, context, t, error));
    return taut_saddle_solve(w->saddle, 1, w->a, lambda, error);
}

int taut_slow_multipliers(taut_context *context, double t, const double *q, const double *v,
                          double *lambda, double *acceleration, taut_statistics *statistics,
                          const taut_allocator *allocator, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    work w = {.n = sizes.coordinates, .m = sizes.bonds};
    taut_arena_init(&w.arena, allocator);
    int status = evaluate(&w, context, &sizes, t, q, v, error);
    if (status == 0) {
        take_soft(&w, context, v, lambda);
        statistics->force_evaluations++;
        statistics->factorisations++;
        statistics->solves++;
        status = solve(&w, context, t, lambda, error);
    }
    for (taut_index i = 0; status == 0 && acceleration && i < w.n; i++)
        acceleration[i] = w.a[i];
    taut_saddle_destroy(w.saddle);
    taut_arena_clear(&w.arena);
    return status;
}
