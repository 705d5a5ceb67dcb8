/* slow_rate.c - the rate of the slow motion at a state: the largest |mu| of
 *
 *     P^T (mu^2 M + mu D + K) P x = 0,    P a basis of the null space of G without soft springs,
 *     K = -df/dq + sum lambda_i Hess g_i + d(M a)/dq (a fixed),    D = -df/dv,
 *
 * f with the forces of soft springs, a and lambda of the rigid motion. Neither P nor its products
 * are formed: with  S = P (P^T M P)^-1 P^T,  S r is the solution x of  [M G^T; G 0] (x, y) =
 * (r, 0).  Without D, -mu^2 are the eigenvalues of S K; with it, mu are those of
 *
 *     (x, y) -> (s y, -S (K x/s + D y)),    s > 0 a scale of the rates
 *
 * A soft spring with compliance c and damping tau has the force -G^T p, p = (g + tau gdot)/c, and
 * adds G^T (G x + tau (dgdot/dq) x)/c + p Hess g x to K x, tau/c G^T G x to D x. The middle term
 * is the polarised gamma(v): (dgdot/dq) x = (gamma(v + x) - gamma(v - x))/4. Where df/dq has no
 * pattern (TAUT_HAS_PAIRS), its products are differences of forces. From 100,000 coordinates on K
 * is not formed where it is symmetric (taut_evaluate_product): for few products, the pattern and
 * the values of K would take more memory than all the rest. */
#include "drive/slow_rate.h"

#include <math.h>

#include "base/inside.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/arnoldi.h"

static const double DIGITS = 5e-3; /* of the largest eigenvalue, where not all are computed */

typedef struct work {
    const taut_rigid_motion *at;
    taut_sizes sizes;
    taut_arena arena;
    taut_index n, m;
    taut_pattern jacobian, tangent;
    const taut_pattern *mass_pattern; /* NULL where M is diagonal */
    const double *c, *tau;
    bool drags, soft_drags;   /* D is not 0: of forces; of soft springs */
    bool unformed;            /* K: its products are evaluated */
    double *stiff, *drag;     /* [tangent]: K, D without the matrices G^T G of soft springs */
    double *reaction, *force; /* [rows], [n] */
    double *moved, *gamma[2]; /* [n], [m]: v + x, gamma there and at v - x */
    double *side;             /* [n]: the force at q + x, where df/dq has no pattern, else NULL */
    double scale;             /* s */
    bool begun;               /* y is in the range of S */
} work;

static bool is_soft(const work *w, taut_index i)
{
    return w->c[i] > 0 && taut_context_soft(w->at->context, i);
}

static int reserve(work *w, taut_error *error)
{
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->n, error, &w->force, &w->moved));
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->at->rows, error, &w->reaction));
    if (w->sizes.can & TAUT_HAS_PAIRS)
        TAUT_TRY(TAUT_RESERVE(&w->arena, w->n, error, &w->side));
    return TAUT_RESERVE(&w->arena, w->soft_drags ? w->m : 0, error, &w->gamma[0], &w->gamma[1]);
}

/* K and D on the tangent pattern, with one more array of its size at most. */
static int evaluate(work *w, taut_error *error)
{
    const taut_rigid_motion *at = w->at;
    const int64_t entries = w->tangent.start[w->n];
    const unsigned velocity = TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_KINETIC | TAUT_HAS_VARYING_MASS;
    bool drags = w->sizes.can & velocity, varies = w->sizes.mass == TAUT_MASS_VARYING;
    double *other = NULL;
    TAUT_TRY(TAUT_RESERVE(&w->arena, entries, error, &w->stiff));
    TAUT_TRY(TAUT_RESERVE(&w->arena, drags ? entries : 0, error, &w->drag));
    TAUT_TRY(TAUT_RESERVE(&w->arena, w->m > 0 || varies ? entries : 0, error, &other));
    taut_values values = {.force_dq = w->stiff,
                          .force_dv = w->drag,
                          .bond_hessian = other,
                          .mass_dq = other,
                          .bond_weight = at->weight,
                          .mass_weight = at->acceleration};
    const unsigned parts[] = {(w->side ? 0 : TAUT_WANT_FORCE_DQ) | (drags ? TAUT_WANT_FORCE_DV : 0),
                              w->m > 0 ? TAUT_WANT_BOND_HESSIAN : 0,
                              varies ? TAUT_WANT_MASS_DQ : 0};
    for (int k = 0; k < 3; k++) {
        if (!parts[k])
            continue;
        TAUT_TRY(taut_evaluate_inside(at->context, at->t, at->q, at->v,
                                      parts[k] | (k == 0 ? at->part : 0), &values, error));
        for (int64_t i = 0; i < entries; i++)
            w->stiff[i] = k == 0 ? -w->stiff[i] : w->stiff[i] + other[i];
    }
    if (at->curvature)
        taut_add_scaled(entries, 1, at->curvature, w->stiff);
    for (int64_t i = 0; i < entries && drags; i++)
        w->drag[i] = -w->drag[i];
    w->drags = drags && taut_largest(entries, w->drag) > 0;
    return TAUT_OK;
}

/* gamma[0] = (dgdot/dq) x of all bonds. */
static int turn(work *w, const double *x, taut_error *error)
{
    const taut_rigid_motion *at = w->at;
    double speed = taut_largest(w->n, at->v), size = taut_largest(w->n, x),
           factor = size > 0 ? (speed > 0 ? speed : 1) / size : 0;
    for (int k = 0; k < 2; k++) {
        taut_values values = {.gamma = w->gamma[k]};
        taut_copy(w->n, at->v, w->moved);
        taut_add_scaled(w->n, k == 0 ? factor : -factor, x, w->moved);
        TAUT_TRY(taut_evaluate_inside(at->context, at->t, at->q, w->moved, TAUT_WANT_GAMMA, &values,
                                      error));
    }
    for (taut_index i = 0; i < w->m; i++)
        w->gamma[0][i] = size > 0 ? (w->gamma[0][i] - w->gamma[1][i]) / (4 * factor) : 0;
    return TAUT_OK;
}

/* force = (df/dq) x by a difference. */
static int differ(work *w, const double *x, taut_error *error)
{
    static const double small = 1e-6;
    const taut_rigid_motion *at = w->at;
    const double size = taut_largest(w->n, x), width = taut_largest(w->n, at->q),
                 e = size > 0 ? small * (width > 0 ? width : 1) / size : 0;
    for (int k = 0; k < 2; k++) {
        taut_values values = {.force = k == 0 ? w->side : w->force};
        taut_copy(w->n, at->q, w->moved);
        taut_add_scaled(w->n, k == 0 ? e : -e, x, w->moved);
        TAUT_TRY(taut_evaluate_inside(at->context, at->t, w->moved, at->v,
                                      TAUT_WANT_FORCE | at->part, &values, error));
    }
    for (taut_index i = 0; i < w->n; i++)
        w->force[i] = e > 0 ? (w->side[i] - w->force[i]) / (2 * e) : 0;
    return TAUT_OK;
}

/* force = -K x, by products of its parts */
static int restore_unformed(work *w, const double *x, taut_error *error)
{
    const taut_rigid_motion *at = w->at;
    TAUT_TRY(taut_evaluate_product(at->context, at->t, at->q, at->v, TAUT_WANT_FORCE_DQ | at->part,
                                   x, NULL, w->force, error));
    TAUT_TRY(taut_evaluate_product(at->context, at->t, at->q, at->v, TAUT_WANT_BOND_HESSIAN, x,
                                   at->weight, w->moved, error));
    taut_add_scaled(w->n, -1, w->moved, w->force);
    return TAUT_OK;
}

/* force = -K x */
static int restore(work *w, const double *x, taut_error *error)
{
    taut_clear(w->n, w->force);
    if (w->side)
        TAUT_TRY(differ(w, x, error));
    if (w->unformed)
        TAUT_TRY(restore_unformed(w, x, error));
    else
        taut_pattern_add(&w->tangent, w->stiff, -1, x, w->force);
    if (w->soft_drags)
        TAUT_TRY(turn(w, x, error));
    for (taut_index i = 0; i < w->m; i++)
        if (is_soft(w, i)) {
            double pull = taut_row_dot(&w->jacobian, w->at->jacobian, i, x) +
                          (w->tau[i] > 0 ? w->tau[i] * w->gamma[0][i] : 0);
            taut_row_add(&w->jacobian, w->at->jacobian, i, -pull / w->c[i], w->force);
        }
    return TAUT_OK;
}

/* force -= D y */
static void brake(work *w, const double *y)
{
    if (w->drags)
        taut_pattern_add(&w->tangent, w->drag, -1, y, w->force);
    for (taut_index i = 0; i < w->m && w->soft_drags; i++)
        if (is_soft(w, i) && w->tau[i] > 0) {
            double rate = taut_row_dot(&w->jacobian, w->at->jacobian, i, y);
            taut_row_add(&w->jacobian, w->at->jacobian, i, -w->tau[i] / w->c[i] * rate, w->force);
        }
}

/* x = S force */
static int project(work *w, double *x, taut_error *error)
{
    taut_copy(w->n, w->force, x);
    taut_clear(w->at->rows, w->reaction);
    return taut_saddle_solve(w->at->saddle, 1, x, w->reaction, error);
}

/* ---- the two operators and their inner products, x^T M x and x^T M x + y^T M y */

static int apply(void *user, const double *x, double *out, taut_error *error)
{
    work *w = user;
    TAUT_TRY(restore(w, x, error));
    return project(w, out, error);
}

static int inner(void *user, const double *x, double *out, taut_error *error)
{
    (void)error;
    const work *w = user;
    taut_clear(w->n, out);
    taut_mass_add(w->mass_pattern, w->n, w->at->mass, 1, x, out);
    return TAUT_OK;
}

static int apply_pair(void *user, const double *x, double *out, taut_error *error)
{
    work *w = user;
    if (!w->begun) { /* the start vector */
        w->begun = true;
        TAUT_TRY(inner(w, x, w->force, error));
        TAUT_TRY(project(w, out, error));
        TAUT_TRY(inner(w, x + w->n, w->force, error));
        return project(w, out + w->n, error);
    }
    TAUT_TRY(restore(w, x, error));
    for (taut_index i = 0; i < w->n; i++) {
        w->force[i] /= w->scale;
        out[i] = w->scale * x[w->n + i];
    }
    brake(w, x + w->n);
    return project(w, out + w->n, error);
}

static int inner_pair(void *user, const double *x, double *out, taut_error *error)
{
    const work *w = user;
    TAUT_TRY(inner(user, x, out, error));
    return inner(user, x + w->n, out + w->n, error);
}

/* Basis vectors: all directions of small systems; few where each is long, since the order of
 * magnitude of the rate is enough there. */
static int vectors(const work *w)
{
    return w->at->vectors > 0 ? w->at->vectors : w->n <= 1000 ? 40 : w->n <= 10000 ? 8 : 4;
}

static int find(work *w, double *rate, taut_error *error)
{
    const taut_allocator *allocator = &w->arena.allocator;
    taut_operator op = {.n = w->n, .apply = apply, .inner = inner, .user = w};
    double square = 0;
    bool drags = w->drags || w->soft_drags;
    int count = drags && !w->at->vectors ? 8 : vectors(w);
    TAUT_TRY(taut_arnoldi_largest(&op, count, DIGITS, &square, allocator, error));
    *rate = sqrt(square);
    if (!drags)
        return TAUT_OK;
    w->scale = *rate > 0 ? *rate : 1;
    op = (taut_operator){.n = 2 * w->n, .apply = apply_pair, .inner = inner_pair, .user = w};
    return taut_arnoldi_largest(&op, vectors(w), DIGITS, rate, allocator, error);
}

/* *rate = max_i |G_i(q + e x) - G_i(q)|/|e G_i| over the rows of at->rows bonds, by a change e x of
 * 1e-8 of the coordinates. */
static int turn_along(const taut_rigid_motion *at, const taut_pattern *g, const double *x,
                      double *moved, double *there, double *rate, taut_error *error)
{
    double size = taut_largest(g->columns, at->q), length = taut_largest(g->columns, x),
           e = length > 0 ? 1e-8 * (size > 0 ? size : 1) / length : 0;
    taut_values values = {.jacobian = there, .bond_dt = moved + g->columns};
    *rate = 0;
    if (!(e > 0) || !isfinite(e))
        return TAUT_OK;
    taut_copy(g->columns, at->q, moved);
    taut_add_scaled(g->columns, e, x, moved);
    TAUT_TRY(
        taut_evaluate_inside(at->context, at->t, moved, NULL, TAUT_WANT_JACOBIAN, &values, error));
    for (taut_index i = 0; i < g->rows; i++) {
        double square = taut_row_square(g, at->jacobian, i, NULL), change = 0;
        for (taut_index k = g->start[i]; k < g->start[i + 1]; k++)
            change += (there[k] - at->jacobian[k]) * (there[k] - at->jacobian[k]);
        if (square > 0)
            *rate = fmax(*rate, sqrt(change / square) / e);
    }
    return TAUT_OK;
}

int taut_turning_rate(const taut_rigid_motion *at, double *rate, taut_error *error)
{
    taut_arena arena;
    taut_pattern g;
    double *moved, *there, speed = 0, acceleration = 0;
    taut_arena_init(&arena, &at->context->arena.allocator);
    int status =
        taut_system_pattern(taut_context_system(at->context), TAUT_PATTERN_JACOBIAN, &g, error);
    if (status == 0)
        status = TAUT_RESERVE(&arena, (int64_t)g.columns + g.rows, error, &moved);
    if (status == 0)
        status = TAUT_RESERVE(&arena, g.start[g.rows], error, &there);
    if (status == 0)
        status = turn_along(at, &g, at->v, moved, there, &speed, error);
    if (status == 0)
        status = turn_along(at, &g, at->acceleration, moved, there, &acceleration, error);
    *rate = fmax(speed, sqrt(acceleration));
    taut_arena_clear(&arena);
    return status;
}

int taut_slow_rate(const taut_rigid_motion *at, double *rate, taut_error *error)
{
    const taut_system *system = taut_context_system(at->context);
    work w = {.at = at,
              .c = taut_context_compliance(at->context),
              .tau = taut_context_damping(at->context)};
    taut_system_sizes(system, &w.sizes);
    w.n = w.sizes.coordinates;
    w.m = w.sizes.bonds;
    taut_arena_init(&w.arena, &at->context->arena.allocator);
    int status = taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w.jacobian, error);
    w.unformed = !at->curvature && taut_evaluates_products(system);
    if (status == 0 && !w.unformed)
        status = taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w.tangent, error);
    w.mass_pattern = w.sizes.mass == TAUT_MASS_DIAGONAL ? NULL : &w.tangent;
    for (taut_index i = 0; i < w.m; i++)
        w.soft_drags |= is_soft(&w, i) && w.tau[i] > 0;
    if (status == 0)
        status = reserve(&w, error);
    if (status == 0 && !w.unformed)
        status = evaluate(&w, error);
    if (status == 0)
        status = find(&w, rate, error);
    taut_arena_clear(&w.arena);
    return status;
}
