/* order_equations.c - the equations of motion for one Taylor coefficient in time. At order i the
 * unknowns are a_i, lambda_i (v' = a):
 *
 *     M_0 a_i + G_0^T lambda_i = f_i - sum_{b=1..i} (M_b a_{i-b} + G_b^T lambda_{i-b})
 *     G_0 a_i                  = (y'')_i - gamma_i - sum_{b=1..i} G_b a_{i-b},
 *
 * y the values that the bonds have on the slow motion, 0 for rigid ones. Soft bonds are forces,
 * c lambda = g + tau (G v + g_t). Order 0 with y = 0 is the acceleration equation of the rigid
 * motion. */
#include "slow/order_equations.h"

#include "base/hot.h"
#include "base/rows.h"
#include "base/vectors.h"

static double soft_tension(const taut_order_equations *e, const taut_values *values,
                           const taut_order_term *term, int terms, taut_index row)
{
    const taut_pattern *g = &e->saddle.jacobian;
    double rate = values->bond_dt[row];
    for (int b = 0; b < terms && e->damping[row] != 0; b++)
        rate += taut_row_dot(g, term[b].jacobian, row, term[b].v);
    return (values->bond[row] + e->damping[row] * rate) / e->compliance[row];
}

/* s = factor second - gamma */
TAUT_HOT static void second_less(taut_index m, double factor, const double *second,
                                 const double *gamma, double *restrict s)
{
    for (taut_index k = 0; k < m && second; k++)
        s[k] = factor * second[k] - gamma[k];
    for (taut_index k = 0; k < m && !second; k++)
        s[k] = -gamma[k];
}

TAUT_HOT static void products(taut_index m, const double *restrict c, const double *restrict lambda,
                              double *restrict y)
{
    for (taut_index k = 0; k < m; k++)
        y[k] = c[k] * lambda[k];
}

void taut_order_right_side(const taut_order_equations *e, const taut_values *values,
                           const taut_order_term *term, int terms, const double *second,
                           double factor, double *a, double *lambda, double *s)
{
    const taut_pattern *g = &e->saddle.jacobian;
    if (!e->soft && terms == 1) {
        second_less(e->m, factor, second, values->gamma, s);
        return;
    }
    for (taut_index k = 0; k < e->m; k++) {
        lambda[k] = e->counts[k] ? 0 : soft_tension(e, values, term, terms, k);
        s[k] = 0;
        if (!e->counts[k])
            continue;
        s[k] = (second ? factor * second[k] : 0) - values->gamma[k];
        for (int b = 1; b < terms; b++)
            s[k] -= taut_row_dot(g, term[b].jacobian, k, term[b].a);
    }
    for (int b = e->soft ? 0 : 1; b < terms; b++) {
        taut_pattern_add_transposed(g, term[b].jacobian, -1, term[b].lambda, a);
        if (b > 0 && e->varying)
            taut_mass_add(e->saddle.matrix ? &e->saddle.tangent : NULL, e->n, term[b].mass, -1,
                          term[b].a, a);
    }
}

void taut_order_take(const taut_order_equations *e, const double *s, double *lambda)
{
    if (!e->soft)
        taut_copy(e->m, s, lambda);
    for (taut_index k = 0; k < e->m && e->soft; k++)
        if (e->counts[k])
            lambda[k] = s[k];
}

void taut_order_stretch(const taut_order_equations *e, int i, const double *lambda,
                        const double *next, double unit, double *y)
{
    bool plain = !e->soft && unit == 1 && !(e->damped && next);
    if (plain)
        products(e->m, e->compliance, lambda, y);
    for (taut_index k = 0; k < e->m && !plain; k++)
        if (e->counts[k])
            y[k] = (e->compliance[k] * lambda[k] - (next ? e->damping[k] * (i + 1) * next[k] : 0)) /
                   unit;
}

int taut_order_equations_create(taut_order_equations *e, taut_context *context, taut_arena *arena,
                                const char *purpose, taut_saddle *other, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    *e = (taut_order_equations){.n = sizes.coordinates,
                                .m = sizes.bonds,
                                .g_entries = sizes.jacobian_entries,
                                .varying = sizes.can & TAUT_HAS_VARYING_MASS,
                                .compliance = taut_context_compliance(context),
                                .damping = taut_context_damping(context),
                                .counts = TAUT_NEW(arena, unsigned char, sizes.bonds)};
    TAUT_NEED(error, e->counts);
    for (taut_index i = 0; i < e->m; i++) {
        e->counts[i] = !(taut_context_soft(context, i) && e->compliance[i] > 0);
        e->soft |= !e->counts[i];
        e->damped |= e->damping[i] != 0;
    }
    TAUT_TRY(taut_masked_saddle_create(&e->saddle, context, arena, NULL, 0, other, error));
    e->saddle.purpose = purpose;
    e->m_entries = e->saddle.matrix ? e->saddle.tangent.start[e->n] : e->n;
    e->numbers = e->n + 3 * (int64_t)e->m + e->g_entries + e->m_entries;
    return TAUT_OK;
}

int taut_order_values(const taut_order_equations *e, taut_arena *arena, taut_values *values,
                      taut_error *error)
{
    double *next = TAUT_NEW(arena, double, e->numbers);
    TAUT_NEED(error, next);
    *values = (taut_values){.force = next,
                            .bond = next + e->n,
                            .bond_dt = next + e->n + e->m,
                            .gamma = next + e->n + 2 * (int64_t)e->m,
                            .jacobian = next + e->n + 3 * (int64_t)e->m,
                            .mass = next + e->n + 3 * (int64_t)e->m + e->g_entries};
    return TAUT_OK;
}

void taut_order_equations_destroy(taut_order_equations *e)
{
    taut_masked_saddle_destroy(&e->saddle);
}
