/* multiplier_recursion.c - the slow multipliers. C lambda = g, differentiated twice along the
 * motion, is
 *
 *     C lambda'' = G M^-1 (f - G^T lambda) + gamma,       gamma = g_qq(v,v) + 2 g_qt v + g_tt,
 *
 * and on the slow manifold lambda'' is O(1) whatever the stiffness [B Theorem 2.2]. So the
 * fixed-point iteration
 *
 *     lambda^(0) = A^-1 (G M^-1 f + gamma),
 *     lambda^(j) = A^-1 (G M^-1 f + gamma - C (lambda^(j-1))''), A = G M^-1 G^T
 *
 * gains a power of C with each level. Derivatives in time are Taylor coefficients along the
 * motion that the level itself makes: level j is computed to order 2 (levels above j) + 1, order
 * by order (order_equations.c), with one factorisation for all orders and levels; coefficient 0 of
 * forces and bonds is that of the state, and computed once for all levels. (The second
 * derivative is that along the motion of level j-1, which differs from that of level j by as much
 * as the levels do, times C.) Damped bonds, C lambda = g + T gdot: C lambda is replaced by
 * y = (1 + T d/dt)^-1 C lambda, that is y_i = c lambda_i - tau (i+1) y_{i+1}. Soft bonds are
 * forces. A stiff potential adds rows of its own (potential_recursion.c). */
#include "slow/multiplier_recursion.h"

#include "base/hot.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "slow/truncation_error.h"
#include "system/rank_part.h"

/* Order to which level j is needed when `level` is the last and its value (rates: and first
 * derivative) is needed. */
static int order_of(const taut_multiplier_recursion *r, int level, int j, bool rates)
{
    return 2 * (level - j) + rates + (r->damped ? level : 0);
}

int taut_multiplier_recursion_solves(const taut_multiplier_recursion *r, int level, bool rates)
{
    int solves = 0;
    for (int j = 0; j <= level; j++)
        solves += order_of(r, level, j, rates) + 1;
    return solves;
}

static bool is_damped(const taut_context *context)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    return sizes.can & TAUT_HAS_DAMPING;
}

int taut_multiplier_recursion_most(const taut_context *context, int ahead)
{
    /* order_of(level, 0, true) + ahead <= TAUT_JET_ORDER_MAX */
    return (TAUT_JET_ORDER_MAX - 1 - ahead) / (is_damped(context) ? 3 : 2);
}

/* ---- the matrix, for bonds alone */

static int factor_bonds(void *self, double t, taut_error *error)
{
    taut_multiplier_recursion *r = self;
    r->statistics->factorisations++;
    return taut_masked_saddle_factor(&r->equations.saddle, t, r->mass, r->values.jacobian,
                                     r->equations.counts, 0, error);
}

static int solve_bonds(void *self, int i, double t, double *a, double *s, taut_error *error)
{
    taut_multiplier_recursion *r = self;
    (void)i, (void)t;
    return taut_masked_saddle_solve(&r->equations.saddle, a, s, error);
}

/* ---- one order */

/* Coefficient i of everything along q and v. That of order 0 stays for all levels; the Jacobian of
 * the others stays in the jet. */
static int advance(taut_multiplier_recursion *r, int i, double t, taut_error *error)
{
    const taut_order_equations *e = &r->equations;
    const int64_t n = e->n;
    taut_values *to = i == 0 ? &r->values : &r->next;
    if (i > 0)
        to->force = r->a + i * n;
    /* constant: 0 beyond */
    to->mass = e->varying || i == 0 ? r->mass + i * e->m_entries : r->no_mass;
    to->stiff_hessian = r->hessian + i * r->solver.hessian_entries;
    int status = taut_jet_advance_inside(r->jet, i, t, r->q + i * n, r->v + i * n, to, error);
    return taut_space_agree(taut_context_space(r->context), status, error);
}

/* The right-hand sides of order i: what coefficients 1..i of G and M contribute, and the rest.
 * Those of G are still in the jet. */
static void right_side(taut_multiplier_recursion *r, int i, bool first_level, double *s)
{
    const taut_order_equations *e = &r->equations;
    const int64_t n = e->n, rows = r->own + (int64_t)e->m;
    const taut_values *values = i == 0 ? &r->values : &r->next;
    double *a = r->a + i * n, *lambda = r->lambda + i * rows + r->own;
    const taut_order_term now = {
        .jacobian = r->values.jacobian, .v = r->v + i * n, .lambda = lambda}; /* of soft bonds */
    if (e->soft && e->damped) { /* rates of soft bonds */
        taut_clear(e->m, s);
        for (int b = 1; b <= i; b++)
            taut_jet_rows(r->jet, b, r->v + (i - b) * n, NULL, s, NULL);
        taut_add_scaled(e->m, -1, s, values->bond_dt);
    }
    if (i == 0)
        taut_copy(n, values->force, a);
    taut_order_right_side(e, values, &now, 1, first_level ? NULL : r->y + (i + 2) * rows + r->own,
                          (i + 2) * (i + 1), a, lambda, s);
    for (int b = 1; b <= i; b++) {
        taut_jet_rows(r->jet, b, r->a + (i - b) * n, r->lambda + (i - b) * rows + r->own, s, a);
        if (e->varying)
            taut_mass_add(e->saddle.matrix ? &e->saddle.tangent : NULL, e->n,
                          r->mass + b * e->m_entries, -1, r->a + (i - b) * n, a);
    }
}

/* v' = a, q' = v for coefficient i of a. */
TAUT_HOT static void integrate(taut_index n, int i, const double *restrict a, double *restrict v,
                               double *restrict q)
{
    const double once = 1.0 / (i + 1), twice = once / (i + 2);
    for (taut_index k = 0; k < n; k++) {
        v[k] = once * a[k];
        q[k] = twice * a[k];
    }
}

static int next_order(taut_multiplier_recursion *r, int i, int order, double t, bool first_level,
                      taut_error *error)
{
    const taut_order_equations *e = &r->equations;
    const int64_t n = e->n, rows = r->own + (int64_t)e->m;
    double *a = r->a + i * n, *lambda = r->lambda + i * rows, *s = e->soft ? r->s : lambda;
    if (i > 0 || first_level)
        TAUT_TRY(advance(r, i, t, error));
    if (i == 0 && first_level)
        TAUT_TRY(r->solver.factor(r->solver.self, t, error));
    right_side(r, i, first_level, s + r->own);
    r->statistics->solves++;
    TAUT_TRY(r->solver.solve(r->solver.self, i, t, a, s, error));
    if (s != lambda) {
        taut_copy(r->own, s, lambda);
        taut_order_take(e, s + r->own, lambda + r->own);
    }
    if (i < order)
        integrate(e->n, i, a, r->v + (i + 1) * n, r->q + (i + 2) * n);
    return TAUT_OK;
}

/* y of the level just made, coefficients `least`..order; the next one is 0. */
static void make_y(taut_multiplier_recursion *r, int least, int order)
{
    const int64_t rows = r->own + (int64_t)r->equations.m;
    taut_clear(rows, r->y + (order + 1) * rows);
    for (int i = order; i >= least; i--) {
        double *y = r->y + i * rows, *lambda = r->lambda + i * rows;
        for (int k = 0; k < r->own; k++)
            y[k] = lambda[k] / r->stiffness[k];
        taut_order_stretch(&r->equations, i, lambda + r->own, y + rows + r->own, 1, y + r->own);
    }
}

/* ---- levels */

static int new_arrays(taut_multiplier_recursion *r, taut_error *error)
{
    const taut_order_equations *e = &r->equations;
    taut_arena *arena = &r->arrays;
    taut_arena_clear(arena);
    const int64_t kept = r->orders + 4, rows = r->solver.most + (int64_t)e->m;
    TAUT_TRY(TAUT_RESERVE(arena, (kept - 1) * e->n, error, &r->q, &r->v, &r->a));
    TAUT_TRY(TAUT_RESERVE(arena, kept * rows, error, &r->lambda, &r->y));
    for (taut_values *v = &r->values; v; v = v == &r->values ? &r->next : NULL)
        TAUT_TRY(TAUT_RESERVE(arena, rows, error, &v->bond, &v->bond_dt, &v->gamma));
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &r->s, &r->before));
    TAUT_TRY(TAUT_RESERVE(arena, e->n, error, &r->a_before, &r->values.force));
    TAUT_TRY(TAUT_RESERVE(arena, e->g_entries, error, &r->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, (e->varying ? kept - 2 : 1) * e->m_entries, error, &r->mass));
    if (!e->varying && e->saddle.matrix)
        TAUT_TRY(TAUT_RESERVE(arena, e->m_entries, error, &r->no_mass));
    return TAUT_RESERVE(arena, (kept - 2) * r->solver.hessian_entries, error, &r->hessian);
}

/* Jets of all levels are kilobytes a coordinate, and long chains need two of them. */
static int make_room(taut_multiplier_recursion *r, int levels, taut_error *error)
{
    unsigned wanted =
        TAUT_ORDER_WANTED | (r->solver.hessian_entries > 0 ? TAUT_WANT_STIFF_HESSIAN : 0);
    r->room = -1;
    r->orders = order_of(r, levels, 0, true);
    TAUT_TRY(new_arrays(r, error));
    taut_jet_destroy(r->jet);
    r->jet = NULL;
    TAUT_TRY(taut_jet_create(r->context, r->orders, wanted, &r->jet, error));
    r->room = levels;
    return TAUT_OK;
}

int taut_multiplier_recursion_reserve(taut_multiplier_recursion *r, int level, taut_error *error)
{
    return level > r->room ? make_room(r, level < r->most ? level : r->most, error) : TAUT_OK;
}

static void set_state(taut_multiplier_recursion *r, const double *q, const double *v)
{
    const taut_index n = r->equations.n;
    taut_copy(n, q, r->q);
    taut_copy(n, v, r->v);
    taut_copy(n, v, r->q + n);
}

int taut_multiplier_recursion_bonds(taut_multiplier_recursion *r, double t, const double *q,
                                    const double *v, taut_error *error)
{
    set_state(r, q, v);
    return advance(r, 0, t, error);
}

int taut_multiplier_recursion_evaluate(taut_multiplier_recursion *r, int level, bool rates,
                                       double t, const double *q, const double *v,
                                       taut_error *error)
{
    if (level > r->most)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "level %d of the slow multipliers was requested, %d were prepared", level,
                         r->most);
    if (level > r->room) /* and for the next one, which often follows */
        TAUT_TRY(make_room(r, level < r->most ? level + 1 : level, error));
    const int64_t rows = r->own + (int64_t)r->equations.m;
    if (r->own > 0) /* those of the first level */
        taut_clear((order_of(r, level, 0, rates) + 3) * rows, r->y);
    for (int j = 0; j <= level; j++) {
        int order = order_of(r, level, j, rates);
        if (j == 0)
            set_state(r, q, v);
        if (j > 0 && j == level) {
            taut_copy(rows, r->lambda, r->before);
            taut_copy(r->equations.n, r->a, r->a_before);
        }
        r->statistics->jets++;
        for (int i = 0; i <= order; i++)
            TAUT_TRY(next_order(r, i, order, t, j == 0, error));
        make_y(r, j < level ? 2 : 0, order); /* the next level needs y'' */
    }
    return TAUT_OK;
}

int taut_multiplier_recursion_correct(taut_multiplier_recursion *r, bool velocity, double t,
                                      double *q, double *v, double *step, taut_error *error)
{
    const taut_order_equations *e = &r->equations;
    TAUT_TRY(taut_multiplier_recursion_bonds(r, t, q, v, error));
    const double *y = r->y + (velocity ? e->m : 0),
                 *bond = velocity ? r->values.bond_dt : r->values.bond;
    for (taut_index i = 0; i < e->m; i++)
        r->s[i] = y[i] - bond[i];
    if (velocity)
        taut_jet_rows(r->jet, 0, v, NULL, r->s, NULL);
    taut_clear(e->n, step);
    r->statistics->solves++;
    TAUT_TRY(taut_masked_saddle_solve(&e->saddle, step, r->s, error));
    taut_add(e->n, step, velocity ? v : q);
    return TAUT_OK;
}

double taut_multiplier_recursion_rate(const taut_multiplier_recursion *r)
{
    const taut_index n = r->equations.n;
    const taut_halo *halo = taut_context_halo(r->context);
    return taut_truncation_rate(taut_halo_norm(halo, n, r->q), taut_halo_norm(halo, n, r->v),
                                taut_halo_norm(halo, n, r->a), taut_halo_norm(halo, n, r->a + n));
}

/* ---- the object */

static int build(taut_multiplier_recursion *r, int first, taut_error *error)
{
    TAUT_TRY(taut_order_equations_create(&r->equations, r->context, r->arena,
                                         "slow multipliers cannot be determined", r->solver.saddle,
                                         error));
    r->damped = is_damped(r->context);
    return make_room(r, first > 0 && first < r->most ? first : r->most, error);
}

int taut_multiplier_recursion_create(taut_context *context, taut_arena *arena,
                                     taut_statistics *statistics, int most, int first,
                                     const taut_recursion_solver *solver,
                                     taut_multiplier_recursion **recursion, taut_error *error)
{
    *recursion = NULL;
    taut_multiplier_recursion *r = TAUT_NEW(arena, taut_multiplier_recursion, 1);
    TAUT_NEED(error, r);
    r->context = context;
    r->statistics = statistics;
    r->arena = arena;
    taut_arena_init(&r->arrays, &arena->allocator);
    r->most = most;
    r->solver = solver ? *solver : (taut_recursion_solver){0};
    if (!r->solver.factor) {
        r->solver.factor = factor_bonds;
        r->solver.solve = solve_bonds;
        r->solver.self = r;
    }
    int status = build(r, first, error);
    if (status != 0) {
        taut_multiplier_recursion_destroy(r);
        return status;
    }
    *recursion = r;
    return TAUT_OK;
}

void taut_multiplier_recursion_destroy(taut_multiplier_recursion *r)
{
    if (!r)
        return;
    taut_jet_destroy(r->jet);
    r->jet = NULL;
    taut_order_equations_destroy(&r->equations);
    taut_arena_clear(&r->arrays);
}
