/* foot_point.c - the foot point: the M-orthogonal projection of (q, v) onto the rigid bonds, M
 * and G taken at the foot point [A 4.3.1]
 *
 *     M(X) (X - q) + G(X)^T mu = 0, g(X) = 0   then   M(X) (V - v) + G(X)^T nu = 0,
 *     G(X) V + g_t(X) = 0
 *
 * Newton's iteration on (X, mu): first with K = M in place of the derivative of the first
 * equation (enough while the distance is small compared with the radius of curvature of the bonds),
 * then, when that contracts slowly, with K = M + sum mu_i Hess g_i + d(M w)/dq, w = X - q. A
 * long chain needs the second form: its mu grow with the square of its length.
 *
 * What is held does not move: its columns leave the matrix (masked_saddle.c); a bond without any
 * other coordinate is checked, not solved for. What is marked `guess` moves first: a least-squares
 * fit of the bonds by these coordinates alone (Levenberg-Marquardt), and the foot point is taken
 * from there. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "point/foot_projector.h"
#include "point/hold/hold.h"
#include "system/system.h"

typedef struct bonds_foot {
    taut_foot foot;
    taut_masked_saddle plain, exact; /* K = M; K with curvature, made when it is first needed */
    taut_arena late;                 /* of `exact` */
    taut_pattern *tangent;           /* of M; NULL: M is a diagonal */
    taut_values values;
    unsigned char *rigid; /* [m] */
    double *fitted;       /* [n]: after the fit of the guesses */
    double *weight;       /* [n]: diagonal of M, 1 where it has none */
    double *mu, *dmu;     /* [m] */
    double *k;            /* K with curvature */
} bonds_foot;

enum { MOST_ITERATIONS = 80, MOST_FITS = 30 };

/* ---- evaluation */

static int evaluate(bonds_foot *c, unsigned more, taut_error *error)
{
    const taut_foot *f = &c->foot;
    const bool known = c->values.mass == f->context->mass;
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | (known ? 0 : TAUT_WANT_MASS) | more;
    TAUT_TRY(taut_evaluate_inside(f->context, f->t, f->x, f->u, wanted, &c->values, error));
    f->projector.statistics->force_evaluations++;
    for (taut_index i = 0; i < f->n; i++) {
        double mass = c->values.mass[c->tangent ? taut_row_find(c->tangent, i, i) : i];
        c->weight[i] = mass > 0 ? mass : 1;
    }
    return TAUT_OK;
}

/* sqrt(x^T diag(M) x) */
static double size_of(const bonds_foot *c, const double *x)
{
    double sum = 0;
    for (taut_index i = 0; i < c->foot.n; i++)
        sum += c->weight[i] * x[i] * x[i];
    return sqrt(sum);
}

/* K with the derivatives of G^T mu and of M w. */
static void add_curvature(bonds_foot *c)
{
    const taut_pattern *p = &c->exact.tangent;
    for (taut_index i = 0; i < c->foot.n; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++)
            c->k[k] =
                c->values.bond_hessian[k] + (c->tangent ? c->values.mass[k] + c->values.mass_dq[k]
                                             : i == p->column[k] ? c->values.mass[i]
                                                                 : 0);
}

static int factor(bonds_foot *c, bool curved, double ease, taut_error *error)
{
    c->foot.projector.statistics->factorisations++;
    return taut_masked_saddle_factor(curved ? &c->exact : &c->plain, c->foot.t,
                                     curved ? c->k : c->values.mass, c->values.jacobian, c->rigid,
                                     ease, error);
}

static int solve(bonds_foot *c, bool curved, taut_error *error)
{
    c->foot.projector.statistics->solves++;
    return taut_masked_saddle_solve(curved ? &c->exact : &c->plain, c->foot.dx, c->dmu, error);
}

/* ---- failures */

static int fail_far(const bonds_foot *c, int iterations, taut_error *error)
{
    taut_index worst = -1;
    char name[96];
    for (taut_index i = 0; i < c->foot.m; i++)
        if (c->rigid[i] && (worst < 0 || !(fabs(c->values.bond[i]) <= fabs(c->values.bond[worst]))))
            worst = i;
    taut_system_name(c->foot.system, TAUT_BOND, worst, name, sizeof name);
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "no foot point was found in %d iterations: bond '%s' is off by %.3g where it ended; give "
        "start values that are nearer to the bonds, or mark some of them `guess`",
        iterations, name, fabs(c->values.bond[worst]));
}

/* Rows without a free coordinate cannot be corrected. `value` is g or gdot. */
static int check_held(const bonds_foot *c, const double *value, bool velocity, taut_error *error)
{
    const unsigned char *springs = c->foot.settings.springs;
    for (taut_index i = 0; i < c->foot.m; i++)
        if (c->rigid[i] && !(springs && springs[i]) && !c->plain.moves[i])
            TAUT_TRY(taut_foot_check_bond(&c->foot, &c->plain.jacobian, c->values.jacobian, i,
                                          value[i], velocity, "", error));
    return TAUT_OK;
}

/* ---- the guesses */

/* One step of x over the guesses: minimises |g + G dx|^2 / diag(G M^-1 G^T) + ease dx^T M dx. */
static int fit_step(bonds_foot *c, taut_error *error)
{
    static const double ease = 1e-6; /* contraction of the fit: at rounding after three steps */
    taut_clear(c->foot.n, c->foot.dx);
    for (taut_index i = 0; i < c->foot.m; i++)
        c->dmu[i] = -c->values.bond[i];
    TAUT_TRY(factor(c, false, ease, error));
    return solve(c, false, error);
}

static double misfit(const bonds_foot *c)
{
    double sum = 0;
    for (taut_index i = 0; i < c->foot.m; i++) {
        double size = taut_row_square(&c->plain.jacobian, c->values.jacobian, i, c->weight);
        if (c->rigid[i] && size > 0)
            sum += c->values.bond[i] * c->values.bond[i] / size;
    }
    return sqrt(sum);
}

/* Moves the guesses towards the bonds while that helps. */
static int fit_guesses(taut_foot *f, taut_error *error)
{
    bonds_foot *c = (bonds_foot *)f;
    double best = INFINITY;
    taut_copy(f->n, f->x, c->fitted);
    for (int round = 0; round < MOST_FITS; round++) {
        taut_error reason;
        int status = evaluate(c, 0, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        double now = status == 0 ? misfit(c) : INFINITY;
        if (!(now < best))
            break;
        best = now;
        taut_copy(f->n, f->x, c->fitted);
        status = fit_step(c, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        if (status != 0)
            break;
        taut_foot_move(f, 1, f->x);
    }
    taut_copy(f->n, c->fitted, f->x);
    return TAUT_OK;
}

/* ---- positions */

/* Few foot points need the curvature, whose matrix is far larger than that of the bonds. */
static int create_exact(bonds_foot *c, taut_error *error)
{
    if (c->exact.saddle)
        return TAUT_OK;
    TAUT_TRY(taut_masked_saddle_create_curved(&c->exact, c->foot.context, &c->late, c->foot.fixed,
                                              1, error));
    c->exact.purpose = c->plain.purpose;
    const int64_t entries = c->exact.tangent.start[c->foot.n];
    TAUT_TRY(TAUT_RESERVE(&c->late, entries, error, &c->values.bond_hessian, &c->k));
    return TAUT_RESERVE(&c->late, c->tangent ? entries : 0, error, &c->values.mass_dq);
}

static int newton_step(bonds_foot *c, bool curved, taut_error *error)
{
    const taut_foot *f = &c->foot;
    if (curved)
        TAUT_TRY(create_exact(c, error));
    unsigned more = !curved ? 0 : TAUT_WANT_BOND_HESSIAN | (c->tangent ? TAUT_WANT_MASS_DQ : 0);
    for (taut_index i = 0; i < f->n; i++)
        f->off[i] = f->x[i] - f->from[i];
    TAUT_TRY(evaluate(c, more, error));
    TAUT_TRY(taut_foot_watch(f, error));
    taut_clear(f->n, f->dx);
    taut_mass_add(c->tangent, f->n, c->values.mass, -1, f->off, f->dx);
    taut_pattern_add_transposed(&c->plain.jacobian, c->values.jacobian, -1, c->mu, f->dx);
    for (taut_index i = 0; i < f->m; i++)
        c->dmu[i] = -c->values.bond[i];
    if (curved)
        add_curvature(c);
    TAUT_TRY(factor(c, curved, 0, error));
    f->projector.statistics->newton_iterations++;
    f->projector.statistics->jacobians += curved;
    return solve(c, curved, error);
}

/* A step relative to the state, in the metric of M and in the largest entry: in M alone a light
 * mass among heavy ones would never count. */
static double relative(const bonds_foot *c, double step)
{
    const taut_foot *f = &c->foot;
    double scale = size_of(c, f->x) + size_of(c, f->off), most = taut_largest(f->n, f->dx),
           size = fmax(taut_largest(f->n, f->x), taut_largest(f->n, f->from));
    return taut_larger(step == 0 ? 0 : step / scale, most == 0 ? 0 : most / size);
}

/* Ends when the steps are at rounding: as small as they can be, or small and no longer shrinking.
 */
static int iterate(bonds_foot *c, taut_error *error)
{
    const taut_foot *f = &c->foot;
    double before = INFINITY, first = 0;
    bool curved = false;
    taut_clear(f->m, c->mu);
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        TAUT_TRY(newton_step(c, curved, error));
        double step = size_of(c, f->dx), share = relative(c, step);
        if (iteration == 0)
            first = step;
        if (!isfinite(step))
            break;
        double part = taut_foot_part(step, first);
        taut_foot_move(f, part, f->x);
        taut_add_scaled(f->m, part, c->dmu, c->mu);
        bool stalled = share > 0.25 * before;
        if (share <= 2 * DBL_EPSILON || (stalled && share <= 1e-9 && (curved || share <= 1e-13)))
            return TAUT_OK;
        curved |= share > 0.1 * before;
        before = share;
    }
    return fail_far(c, MOST_ITERATIONS, error);
}

static int find(taut_foot *f, taut_error *error)
{
    bonds_foot *c = (bonds_foot *)f;
    TAUT_TRY(iterate(c, error));
    TAUT_TRY(evaluate(c, 0, error));
    return check_held(c, c->values.bond, false, error);
}

/* ---- velocities */

static int velocity_step(taut_foot *f, bool first, taut_error *error)
{
    bonds_foot *c = (bonds_foot *)f;
    if (first)
        TAUT_TRY(factor(c, false, 0, error));
    taut_foot_rates(f, &c->plain.jacobian, &c->values);
    taut_clear(f->n, f->dx);
    for (taut_index i = 0; i < f->m; i++)
        c->dmu[i] = -f->rate[i];
    return solve(c, false, error);
}

static int check_velocity(taut_foot *f, taut_error *error)
{
    bonds_foot *c = (bonds_foot *)f;
    taut_foot_rates(f, &c->plain.jacobian, &c->values);
    return check_held(c, f->rate, true, error);
}

/* ---- the projector */

static void release(taut_foot *f)
{
    bonds_foot *c = (bonds_foot *)f;
    taut_masked_saddle_destroy(&c->plain);
    taut_masked_saddle_destroy(&c->exact);
    taut_arena_clear(&c->late);
}

static int new_arrays(bonds_foot *c, taut_arena *arena, taut_error *error)
{
    const taut_index n = c->foot.n, m = c->foot.m;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &c->fitted, &c->weight));
    TAUT_TRY(TAUT_RESERVE(arena, m, error, &c->values.bond, &c->values.bond_dt, &c->mu, &c->dmu));
    if (taut_context_masses(c->foot.context))
        c->values.mass = c->foot.context->mass;
    else
        TAUT_TRY(
            TAUT_RESERVE(arena, c->tangent ? c->tangent->start[n] : n, error, &c->values.mass));
    TAUT_TRY(TAUT_RESERVE(arena, c->foot.sizes.jacobian_entries, error, &c->values.jacobian));
    c->rigid = TAUT_NEW(arena, unsigned char, m);
    c->values.bond_weight = c->mu;
    c->values.mass_weight = c->foot.off;
    return c->rigid ? TAUT_OK : taut_fail_memory(error);
}

static int build(taut_foot *f, taut_arena *arena, taut_error *error)
{
    bonds_foot *c = (bonds_foot *)f;
    const double *compliance = taut_context_compliance(f->context);
    f->idle = true;
    for (taut_index i = 0; i < f->m; i++)
        f->idle &= compliance[i] != 0;
    if (f->idle)
        return TAUT_OK;
    TAUT_TRY(taut_masked_saddle_create(&c->plain, f->context, arena, f->fixed, 1,
                                       f->settings.saddle ? *f->settings.saddle : NULL, error));
    taut_arena_init(&c->late, &arena->allocator);
    c->plain.purpose = "the foot point cannot be determined";
    c->tangent = c->plain.matrix ? &c->plain.tangent : NULL;
    if (!f->settings.late)
        TAUT_TRY(create_exact(c, error));
    TAUT_TRY(new_arrays(c, arena, error));
    for (taut_index i = 0; i < f->m; i++)
        c->rigid[i] = compliance[i] == 0;
    return TAUT_OK;
}

const taut_foot_kind taut_bond_foot = {.size = sizeof(bonds_foot),
                                       .build = build,
                                       .release = release,
                                       .fit = fit_guesses,
                                       .find = find,
                                       .velocity = velocity_step,
                                       .check_velocity = check_velocity};
