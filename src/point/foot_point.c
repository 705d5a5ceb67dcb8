/* foot_point.c - the foot point: the M-orthogonal projection of (q, v) onto the rigid bonds, M
 * and G taken at the foot point [A 4.3.1]
 *
 *     M(X) (X - q) + G(X)^T mu = 0, g(X) = 0   then   M(X) (V - v) + G(X)^T nu = 0,
 *     G(X) V + g_t(X) = 0
 *
 * Newton's iteration on (X, mu): first with K = M in place of the derivative of the first
 * equation (enough while the distance is small beside the radius of curvature of the bonds),
 * then, when that contracts slowly, with K = M + sum mu_i Hess g_i + d(M w)/dq, w = X - q. A
 * long chain needs the second form: its mu grow with the square of its length.
 *
 * What is held does not move: its columns leave the matrix; a bond without any other coordinate
 * is checked, not solved for. What is marked `guess` moves first: a least-squares fit of the
 * bonds by these coordinates alone (Levenberg-Marquardt), and the foot point is taken from
 * there. */
#include "point/foot_point.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"
#include "base/rows.h"
#include "point/hold/hold.h"
#include "system/singular.h"

typedef struct constraint {
    taut_projector projector;
    taut_context *context;
    const taut_system *system;
    taut_foot_point_settings settings;
    taut_index n, m, rigid_count;
    taut_pattern jacobian, tangent;
    bool mass_matrix;           /* M lives on the tangent pattern */
    taut_saddle *plain, *exact; /* K = M; K with curvature */
    taut_values values;
    const unsigned char *hold; /* [n] or NULL */
    unsigned char *rigid;      /* [m] */
    unsigned char *free;       /* [n] columns that may move now */
    bool guesses, guess_first; /* there are some; they move first */
    double *x, *u;             /* where we are: position, velocity */
    double *from, *fitted;     /* what the foot point is taken of; after the fit of the guesses */
    double *mu;                /* [m] */
    double *dx, *dmu;          /* a step */
    /* G without held columns and soft rows; K likewise; 1 in rows that have nothing left */
    double *g, *k, *d;
    double *weight; /* diagonal of M, 1 where it has none */
} constraint;

enum { MOST_ITERATIONS = 80, MOST_FITS = 30 };

/* ---- evaluation */

static int evaluate(constraint *c, double t, unsigned more, taut_error *error)
{
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS | more;
    TAUT_TRY(taut_evaluate(c->context, t, c->x, c->u, wanted, &c->values, error));
    c->projector.statistics->force_evaluations++;
    for (taut_index i = 0; i < c->n; i++) {
        double mass = c->values.mass[c->mass_matrix ? taut_row_find(&c->tangent, i, i) : i];
        c->weight[i] = mass > 0 ? mass : 1;
    }
    return TAUT_OK;
}

/* sqrt(x^T diag(M) x) */
static double size_of(const constraint *c, const double *x, const double *y)
{
    double sum = 0;
    for (taut_index i = 0; i < c->n; i++) {
        double z = x[i] - (y ? y[i] : 0);
        sum += c->weight[i] * z * z;
    }
    return sqrt(sum);
}

/* r = M w, w = x - from, plus G^T mu: what the first equation leaves. Held columns have no
 * equation. */
static void stationarity(constraint *c, double *r)
{
    for (taut_index i = 0; i < c->n; i++) {
        double sum = c->mass_matrix ? 0 : c->values.mass[i] * (c->x[i] - c->from[i]);
        for (taut_index k = c->mass_matrix ? c->tangent.start[i] : 0;
             c->mass_matrix && k < c->tangent.start[i + 1]; k++) {
            taut_index j = c->tangent.column[k];
            sum += c->values.mass[k] * (c->x[j] - c->from[j]);
        }
        r[i] = c->free[i] ? sum : 0;
    }
    taut_pattern_add_transposed(&c->jacobian, c->g, 1, c->mu, r);
}

/* ---- matrices without what may not move */

static void mask_jacobian(constraint *c)
{
    for (taut_index i = 0; i < c->m; i++) {
        bool alive = false;
        for (taut_index k = c->jacobian.start[i]; k < c->jacobian.start[i + 1]; k++) {
            bool counts = c->rigid[i] && c->free[c->jacobian.column[k]];
            c->g[k] = counts ? c->values.jacobian[k] : 0;
            alive |= counts;
        }
        c->d[i] = !alive;
    }
}

/* K on the diagonal (plain, diagonal masses) or on the tangent pattern; `curved` adds the
 * derivatives of G^T mu and of M. */
static void mask_mass(constraint *c, double factor, bool curved)
{
    bool on_tangent = c->mass_matrix || curved;
    for (taut_index i = 0; i < c->n && !on_tangent; i++)
        c->k[i] = c->free[i] ? factor * c->values.mass[i] : 1;
    for (taut_index i = 0; i < c->n && on_tangent; i++)
        for (taut_index k = c->tangent.start[i]; k < c->tangent.start[i + 1]; k++) {
            taut_index j = c->tangent.column[k];
            double value = c->mass_matrix ? c->values.mass[k] : i == j ? c->values.mass[i] : 0;
            if (curved)
                value += c->values.bond_hessian[k] + (c->mass_matrix ? c->values.mass_dq[k] : 0);
            c->k[k] = c->free[i] && c->free[j] ? factor * value : i == j;
        }
}

static void choose_free(constraint *c, unsigned held)
{
    for (taut_index i = 0; i < c->n; i++)
        c->free[i] = !(c->hold && (c->hold[i] & held));
}

/* ---- failures */

static int fail_far(const constraint *c, double t, int iterations, taut_error *error)
{
    taut_index worst = -1;
    char name[96];
    for (taut_index i = 0; i < c->m; i++)
        if (c->rigid[i] && (worst < 0 || !(fabs(c->values.bond[i]) <= fabs(c->values.bond[worst]))))
            worst = i;
    taut_system_name(c->system, TAUT_BOND, worst, name, sizeof name);
    int code = taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "no foot point was found in %d iterations: bond '%s' is off by %.3g where it ended; give "
        "start values that are nearer to the bonds, or mark some of them `guess`",
        iterations, name, fabs(c->values.bond[worst]));
    if (error)
        error->t = t;
    return code;
}

/* Rows without a free coordinate: nothing can mend them. `value` is g or gdot, `size` gives the
 * scale of x or u. */
static int check_held(const constraint *c, double t, const double *value, const double *x,
                      const char *what, taut_error *error)
{
    double most = taut_largest(c->n, x);
    if (most == 0) /* at rest in the origin nothing says what is small: what rounding leaves of
                      numbers of size 1 is */
        most = 1e-3;
    for (taut_index i = 0; i < c->m; i++) {
        double scale = taut_row_size(&c->jacobian, c->values.jacobian, i, NULL) * most;
        bool spring = c->settings.springs && c->settings.springs[i];
        if (!c->rigid[i] || spring || c->d[i] == 0 || fabs(value[i]) <= 1e-9 * scale)
            continue;
        char name[96];
        taut_system_name(c->system, TAUT_BOND, i, name, sizeof name);
        int code = taut_fail(error, TAUT_ERROR_CONVERGE,
                             "all of the %s of bond '%s' are held, and it is off by %.3g; release "
                             "one, or correct it",
                             what, name, value[i]);
        if (error)
            error->t = t;
        return code;
    }
    return TAUT_OK;
}

static int factor(constraint *c, bool curved, double t, taut_error *error)
{
    mask_mass(c, 1, curved);
    c->projector.statistics->factorisations++;
    taut_singular parts = {
        .context = c->context,
        .allocator = &((const taut_arena *)c->projector.self)->allocator,
        .n = c->n,
        .m = c->m,
        .mass = c->k,
        .mass_start = c->mass_matrix || curved ? c->tangent.start : NULL,
        .start = c->jacobian.start,
        .column = c->jacobian.column,
        .jacobian = c->g,
        .compliance = c->d,
        .held = taut_hold_any(c->hold, c->n, TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY)};
    int status = taut_saddle_factor(curved ? c->exact : c->plain, c->k, c->g, NULL, c->d, error);
    return taut_singular_explain(&parts, status, t, "the foot point cannot be determined", error);
}

/* ---- the guesses */

/* One step of x over the guesses: minimises |g + G dx|^2 / d + small dx^T M dx. */
static int fit_step(constraint *c, taut_error *error)
{
    enum { FADE = 1000000 }; /* contraction of the fit: small beside rounding after three steps */
    mask_jacobian(c);
    mask_mass(c, 1.0 / FADE, false);
    for (taut_index i = 0; i < c->m; i++) {
        double size = taut_row_square(&c->jacobian, c->g, i, c->weight);
        c->d[i] = size > 0 ? size : 1;
        c->dmu[i] = size > 0 ? -c->values.bond[i] : 0;
    }
    taut_clear(c->n, c->dx);
    c->projector.statistics->factorisations++;
    c->projector.statistics->solves++;
    TAUT_TRY(taut_saddle_factor(c->plain, c->k, c->g, NULL, c->d, error));
    return taut_saddle_solve(c->plain, 1, c->dx, c->dmu, error);
}

static double misfit(const constraint *c)
{
    double sum = 0;
    for (taut_index i = 0; i < c->m; i++) {
        double size = taut_row_square(&c->jacobian, c->values.jacobian, i, c->weight);
        if (c->rigid[i] && size > 0)
            sum += c->values.bond[i] * c->values.bond[i] / size;
    }
    return sqrt(sum);
}

/* Moves the guesses towards the bonds while that helps. A fit that fails is no failure: the foot
 * point is taken from where it was. */
static int fit_guesses(constraint *c, double t, taut_error *error)
{
    for (taut_index i = 0; i < c->n; i++)
        c->free[i] = (c->hold[i] & TAUT_GUESS) && !(c->hold[i] & TAUT_HOLD_POSITION);
    double best = INFINITY;
    for (int round = 0; round < MOST_FITS; round++) {
        taut_error reason;
        int status = evaluate(c, t, 0, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        double now = status == 0 ? misfit(c) : INFINITY;
        if (!(now < best))
            break;
        best = now;
        taut_copy(c->n, c->x, c->fitted);
        status = fit_step(c, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        if (status != 0)
            break;
        for (taut_index i = 0; i < c->n; i++)
            c->x[i] += c->free[i] ? c->dx[i] : 0;
    }
    taut_copy(c->n, c->fitted, c->x);
    return TAUT_OK;
}

/* ---- positions */

static int watch(const constraint *c, double t, taut_error *error)
{
    return c->settings.watch ? c->settings.watch(c->settings.user, t, c->x, c->u, error) : TAUT_OK;
}

static int newton_step(constraint *c, bool curved, double t, taut_error *error)
{
    unsigned more = !curved ? 0 : TAUT_WANT_BOND_HESSIAN | (c->mass_matrix ? TAUT_WANT_MASS_DQ : 0);
    for (taut_index i = 0; i < c->n; i++)
        c->dx[i] = c->x[i] - c->from[i]; /* read as mass_weight */
    TAUT_TRY(evaluate(c, t, more, error));
    TAUT_TRY(watch(c, t, error));
    mask_jacobian(c);
    stationarity(c, c->dx);
    for (taut_index i = 0; i < c->n; i++)
        c->dx[i] = -c->dx[i];
    for (taut_index i = 0; i < c->m; i++)
        c->dmu[i] = c->d[i] != 0 ? 0 : -c->values.bond[i];
    TAUT_TRY(factor(c, curved, t, error));
    c->projector.statistics->solves++;
    c->projector.statistics->newton_iterations++;
    c->projector.statistics->jacobians += curved;
    return taut_saddle_solve(curved ? c->exact : c->plain, 1, c->dx, c->dmu, error);
}

/* A step beside the state, in the metric of M and in the largest entry: in M alone a light mass
 * beside a heavy one would never count. */
static double relative(const constraint *c, double step)
{
    double scale = size_of(c, c->x, NULL) + size_of(c, c->x, c->from),
           most = taut_largest(c->n, c->dx),
           size = fmax(taut_largest(c->n, c->x), taut_largest(c->n, c->from));
    return taut_larger(step == 0 ? 0 : step / scale, most == 0 ? 0 : most / size);
}

/* Ends when the steps are at rounding: as small as they can be, or small and no longer shrinking.
 */
static int find_foot(constraint *c, double t, taut_error *error)
{
    double before = INFINITY, first = 0;
    bool curved = false;
    taut_clear(c->m, c->mu);
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        TAUT_TRY(newton_step(c, curved, t, error));
        double step = size_of(c, c->dx, NULL), share = relative(c, step);
        if (iteration == 0)
            first = step;
        if (!isfinite(step))
            break;
        /* far away the linear model promises too much */
        double part = step > 2 * first ? 2 * first / step : 1;
        for (taut_index i = 0; i < c->n; i++)
            c->x[i] += c->free[i] ? part * c->dx[i] : 0;
        for (taut_index i = 0; i < c->m; i++)
            c->mu[i] += part * c->dmu[i];
        bool stalled = share > 0.25 * before;
        if (share <= 2 * DBL_EPSILON || (stalled && share <= 1e-9 && (curved || share <= 1e-13)))
            return TAUT_OK;
        curved |= share > 0.1 * before;
        before = share;
    }
    return fail_far(c, t, MOST_ITERATIONS, error);
}

/* ---- velocities */

/* gdot[i] = G v + g_t of the rigid rows, G in full */
static void bond_rates(const constraint *c, const double *v, double *gdot)
{
    for (taut_index i = 0; i < c->m; i++)
        gdot[i] = c->values.bond_dt[i] + taut_row_dot(&c->jacobian, c->values.jacobian, i, v);
}

static int project_velocity(constraint *c, double t, taut_error *error)
{
    choose_free(c, TAUT_HOLD_VELOCITY);
    mask_jacobian(c);
    TAUT_TRY(factor(c, false, t, error));
    /* the second round takes out the rounding of the first */
    for (int round = 0; round < 2; round++) {
        bond_rates(c, c->u, c->dmu);
        taut_clear(c->n, c->dx);
        for (taut_index i = 0; i < c->m; i++)
            c->dmu[i] = c->d[i] != 0 ? 0 : -c->dmu[i];
        c->projector.statistics->solves++;
        TAUT_TRY(taut_saddle_solve(c->plain, 1, c->dx, c->dmu, error));
        for (taut_index i = 0; i < c->n; i++)
            c->u[i] += c->free[i] ? c->dx[i] : 0;
    }
    bond_rates(c, c->u, c->dmu);
    return check_held(c, t, c->dmu, c->u, "velocities", error);
}

/* ---- the projector */

static int project(constraint *c, double t, taut_error *error)
{
    if (c->guesses && c->guess_first)
        TAUT_TRY(fit_guesses(c, t, error));
    taut_copy(c->n, c->x, c->from);
    choose_free(c, TAUT_HOLD_POSITION);
    TAUT_TRY(find_foot(c, t, error));
    TAUT_TRY(evaluate(c, t, 0, error));
    TAUT_TRY(check_held(c, t, c->values.bond, c->x, "coordinates", error));
    TAUT_TRY(project_velocity(c, t, error));
    TAUT_TRY(watch(c, t, error));
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    constraint *c = (constraint *)projector;
    if (c->rigid_count == 0)
        return TAUT_OK;
    taut_copy(c->n, q, c->x);
    taut_copy(c->n, v, c->u);
    TAUT_TRY(project(c, t, error));
    taut_copy(c->n, c->x, q);
    taut_copy(c->n, c->u, v);
    return TAUT_OK;
}

static void destroy(taut_projector *projector)
{
    constraint *c = (constraint *)projector;
    if (!c)
        return;
    taut_saddle_destroy(c->plain);
    taut_saddle_destroy(c->exact);
    c->plain = c->exact = NULL;
}

static int new_arrays(constraint *c, taut_arena *arena, const taut_sizes *sizes, taut_error *error)
{
    int64_t entries = c->tangent.start[c->n];
    TAUT_TRY(
        TAUT_RESERVE(arena, c->n, error, &c->x, &c->u, &c->from, &c->fitted, &c->dx, &c->weight));
    TAUT_TRY(TAUT_RESERVE(arena, c->m, error, &c->values.bond, &c->values.bond_dt, &c->mu, &c->dmu,
                          &c->d));
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &c->values.mass, &c->values.bond_hessian,
                          &c->values.mass_dq, &c->k));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->jacobian_entries, error, &c->values.jacobian, &c->g));
    c->rigid = TAUT_NEW(arena, unsigned char, c->m);
    c->free = TAUT_NEW(arena, unsigned char, c->n);
    c->values.bond_weight = c->mu;
    c->values.mass_weight = c->dx;
    return c->rigid && c->free ? TAUT_OK : taut_fail_memory(error);
}

static int new_saddles(constraint *c, const taut_sizes *sizes, const taut_allocator *allocator,
                       taut_error *error)
{
    bool positive = sizes->can & TAUT_CAN_INVERT_MASS;
    const double *mass = taut_context_mass(c->context);
    for (taut_index i = 0; mass && i < c->n; i++)
        positive &= mass[i] > 0;
    taut_saddle_shape shape = {.n = c->n,
                               .m = c->m,
                               .g_start = c->jacobian.start,
                               .g_column = c->jacobian.column,
                               .symmetric = true,
                               .positive = positive};
    if (c->mass_matrix) {
        shape.k_start = c->tangent.start;
        shape.k_column = c->tangent.column;
    }
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, allocator, &c->plain, error));
    shape.k_start = c->tangent.start;
    shape.k_column = c->tangent.column;
    shape.symmetric = !c->mass_matrix; /* d(M w)/dq is not */
    shape.positive = false;
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, allocator, &c->exact, error);
}

static int build(constraint *c, taut_arena *arena, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(c->system, &sizes);
    if (sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "foot points belong to mechanical systems: bonds and velocities");
    c->n = sizes.coordinates;
    c->m = sizes.bonds;
    c->mass_matrix = sizes.mass != TAUT_MASS_DIAGONAL;
    const double *compliance = taut_context_compliance(c->context);
    for (taut_index i = 0; i < c->m; i++)
        c->rigid_count += compliance[i] == 0;
    if (c->rigid_count == 0)
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(c->system, TAUT_PATTERN_JACOBIAN, &c->jacobian, error));
    TAUT_TRY(taut_system_pattern(c->system, TAUT_PATTERN_TANGENT, &c->tangent, error));
    TAUT_TRY(new_arrays(c, arena, &sizes, error));
    for (taut_index i = 0; i < c->m; i++)
        c->rigid[i] = compliance[i] == 0;
    c->hold = c->settings.ignore_holds ? NULL
              : c->settings.hold       ? c->settings.hold
                                       : taut_system_hold(c->system);
    for (taut_index i = 0; c->hold && i < c->n; i++)
        c->guesses |= (c->hold[i] & TAUT_GUESS) && !(c->hold[i] & TAUT_HOLD_POSITION);
    return new_saddles(c, &sizes, &arena->allocator, error);
}

int taut_foot_point_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                           const taut_foot_point_settings *settings, taut_projector **projector,
                           taut_error *error)
{
    *projector = NULL;
    constraint *c = TAUT_NEW(arena, constraint, 1);
    if (!c)
        return taut_fail_memory(error);
    c->projector = (taut_projector){.name = "constraint",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = arena};
    c->context = context;
    c->guess_first = true;
    c->system = taut_context_system(context);
    if (settings)
        c->settings = *settings;
    int status = build(c, arena, error);
    if (status != 0) {
        destroy(&c->projector);
        return status;
    }
    *projector = &c->projector;
    return TAUT_OK;
}

bool taut_foot_point_guess(taut_projector *projector, bool first)
{
    constraint *c = (constraint *)projector;
    c->guess_first = first;
    return c->guesses;
}

int taut_foot_point_projector(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                              taut_projector **projector, taut_error *error)
{
    return taut_foot_point_create(context, arena, statistics, NULL, projector, error);
}
