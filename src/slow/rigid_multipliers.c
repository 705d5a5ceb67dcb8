/* rigid_multipliers.c - multipliers from the acceleration equation: g = 0 differentiated twice
 * along the motion,
 *
 *     [ M  G^T ] [ v'     ]   [ f - G_soft^T lambda_soft ]
 *     [ G   0   ] [ lambda ] = [ -gamma   ], gamma = g_qq(v,v) + 2 g_qt v + g_tt
 *
 * over all bonds that are not soft; soft ones follow their own law, c lambda = g + tau gdot. On
 * the slow manifold of springs the right-hand side is C lambda'' - gamma: leaving C lambda'' out
 * errs by O(omega^-2), and unlike C^-1 g does not amplify the rounding of g. */
#include "point/projection.h"

#include "base/vectors.h"
#include "slow/order_equations.h"
#include "system/rank_part.h"

static int solve(taut_order_equations *e, taut_context *context, double t, const double *q,
                 const double *v, double *lambda, double *acceleration, taut_arena *arena,
                 taut_error *error)
{
    taut_values values;
    TAUT_TRY(taut_order_equations_create(e, context, arena, "multipliers cannot be determined",
                                         NULL, error));
    TAUT_TRY(taut_order_values(e, arena, &values, error));
    double *s = TAUT_NEW(arena, double, e->m);
    TAUT_NEED(error, s);
    int status = taut_evaluate_inside(context, t, q, v, TAUT_ORDER_WANTED, &values, error);
    TAUT_TRY(taut_space_agree(taut_context_space(context), status, error));
    taut_order_term now = {.jacobian = values.jacobian, .v = v, .lambda = lambda};
    taut_order_right_side(e, &values, &now, 1, NULL, 0, values.force, lambda, s);
    TAUT_TRY(taut_masked_saddle_factor(&e->saddle, t, values.mass, values.jacobian, e->counts, 0,
                                       error));
    TAUT_TRY(taut_masked_saddle_solve(&e->saddle, values.force, s, error));
    taut_order_take(e, s, lambda);
    if (acceleration)
        taut_copy(e->n, values.force, acceleration);
    return TAUT_OK;
}

int taut_slow_multipliers(taut_context *context, double t, const double *q, const double *v,
                          double *lambda, double *acceleration, taut_statistics *statistics,
                          const taut_allocator *allocator, taut_error *error)
{
    taut_order_equations equations = {0};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int status = solve(&equations, context, t, q, v, lambda, acceleration, &arena, error);
    statistics->force_evaluations++;
    statistics->factorisations++;
    statistics->solves++;
    taut_order_equations_destroy(&equations);
    taut_arena_clear(&arena);
    return status;
}
