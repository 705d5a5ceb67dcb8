/* potential_foot.c - the foot point of a state on the manifold where a stiff potential is least
 * and the bonds hold:
 *
 *     grad V(X) = 0, g(X) = 0, X - q   M-orthogonal to the manifold,
 *     V M-orthogonally projected onto its tangent space
 *
 * With z_k, Omega_k^2 the modes of (Hess V/eps^2, M) on G z = 0 (potential_modes.c), all taken
 * where we are, a step is
 *
 *     dx = dx_G - sum_{k<d} z_k z_k^T (F + K dx_G)/Omega_k^2  +  P (q - x),
 *
 * dx_G the shortest change that mends the bonds, F = grad V/eps^2, and P the projector onto what
 * bonds and stiff modes leave: Newton's iteration towards the manifold, and along it a fixed
 * point that contracts as the distance over the radius of curvature, accelerated (anderson.c).
 * The rank d is decided on the manifold, where the other eigenvalues are rounding; so the first
 * phase goes there without regard to where it arrives. What [start] holds is a row of its own. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "base/rows.h"
#include "linalg/anderson.h"
#include "slow/potential/potential.h"

typedef struct foot {
    taut_projector projector;
    taut_context *context;
    const taut_system *system;
    taut_foot_point_settings settings;
    /* with held positions; with held velocities, where these are others */
    taut_potential_modes stiff, moving;
    bool apart;    /* they are */
    taut_jet *jet; /* of the stiff force: its rate, time included */
    taut_anderson anderson;
    taut_index n, m;
    const unsigned char *hold; /* [n] or NULL */
    bool guesses;
    int rank, full; /* of Hess V with what is held standing still; without */
    double t;
    double *x, *u, *from;          /* [n]: where we are; what the foot point is taken of */
    double *dx, *part, *force, *y; /* [n] */
    double *rate;                  /* [n]: dF/dt */
    double *s;                     /* [m] */
} foot;

enum { MOST_ITERATIONS = 200, ANDERSON = 3 };
/* of the largest Omega^2, as in the spectrum of a stiff potential */
static const double zero_mode = 1e-8;

static int find_modes(foot *c, taut_error *error)
{
    c->projector.statistics->force_evaluations++;
    c->projector.statistics->jacobians++;
    return taut_potential_modes_find(&c->stiff, c->t, c->x, error);
}

static int fail(foot *c, int code, const char *text, taut_error *error)
{
    taut_fail(error, code, "%s", text);
    if (error)
        error->t = c->t;
    return code;
}

/* ---- positions */

/* dx: towards the manifold, by bonds and the first `count` modes; force becomes what is left to
 * the modes. */
static void normal_step(foot *c, int count)
{
    for (taut_index i = 0; i < c->m; i++)
        c->s[i] = -c->stiff.values.bond[i];
    taut_potential_modes_gradient(&c->stiff, c->force);
    taut_potential_modes_step(&c->stiff, count, c->s, c->force, -1, c->dx);
}

/* dx += P (from - x) */
static void tangential_step(foot *c)
{
    for (taut_index i = 0; i < c->n; i++)
        c->part[i] = c->from[i] - c->x[i];
    taut_potential_modes_mass(&c->stiff, c->part, c->force);
    taut_cholesky_multiply(c->n, c->stiff.root, c->part);
    taut_rows_remove(&c->stiff.rows, c->part);
    taut_cholesky_upper(c->n, c->stiff.root, c->part);
    for (int k = 0; k < c->rank; k++) {
        const double *z = c->stiff.mode + (int64_t)k * c->n;
        double along = taut_dot(c->n, z, c->force);
        for (taut_index i = 0; i < c->n; i++)
            c->part[i] -= along * z[i];
    }
    for (taut_index i = 0; i < c->n; i++)
        c->dx[i] += c->part[i];
}

/* To the manifold, anywhere near; its rank is decided there. */
static int reach(foot *c, taut_error *error)
{
    bool found;
    int64_t count = 0;
    int status = taut_potential_modes_descend(&c->stiff, c->t, c->from, c->x, &c->rank, &found,
                                              &count, error);
    c->projector.statistics->force_evaluations += count;
    c->projector.statistics->jacobians += count;
    if (status != 0 || found)
        return status;
    return fail(c, TAUT_ERROR_CONVERGE,
                "no minimum of the stiff potential was found near the start, or its Hessian "
                "vanishes there; give start values that are nearer to it",
                error);
}

static int watch(const foot *c, taut_error *error)
{
    return c->settings.watch ? c->settings.watch(c->settings.user, c->t, c->x, c->u, error)
                             : TAUT_OK;
}

/* Along the manifold to the point nearest to where we came from, going back to it before every
 * step: beside it the curvature of stiff directions hides weak ones. Ends when steps are at
 * rounding, or, near it, have not become smaller for a while. */
static int settle(foot *c, taut_error *error)
{
    enum { PATIENCE = 6 };
    double before = INFINITY, best = INFINITY, first = 0;
    int rank = c->rank, waited = 0;
    taut_anderson_clear(&c->anderson);
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (iteration > 0)
            TAUT_TRY(reach(c, error));
        c->rank = rank;
        TAUT_TRY(watch(c, error));
        normal_step(c, c->rank);
        tangential_step(c);
        double step = taut_potential_modes_length(&c->stiff, c->dx, NULL),
               scale = taut_potential_modes_scale(&c->stiff, c->from, c->x);
        if (!isfinite(step))
            break;
        first = iteration == 0 ? step : first;
        /* of weak modes */
        double noise =
            DBL_EPSILON * fabs(c->stiff.value[0] / c->stiff.value[rank > 0 ? rank - 1 : 0]);
        waited = step < 0.5 * best ? 0 : waited + 1;
        best = fmin(best, step);
        bool last = step <= 4 * DBL_EPSILON * scale ||
                    (waited >= PATIENCE && step <= fmax(1e-13, 100 * noise) * scale);
        if (step > 2 * before) /* what was learned does not hold here */
            taut_anderson_clear(&c->anderson);
        if (last || step > 2 * first) {
            double part = last ? 1 : 2 * first / step;
            for (taut_index i = 0; i < c->n; i++)
                c->x[i] += part * c->dx[i];
        } else {
            taut_anderson_next(&c->anderson, c->x, c->dx, c->x);
        }
        c->projector.statistics->newton_iterations++;
        if (last)
            return find_modes(c, error);
        before = step;
    }
    return fail(c, TAUT_ERROR_CONVERGE,
                "no foot point on the minimum of the stiff potential was found; give start values "
                "that are nearer to it",
                error);
}

/* ---- what was found */

/* Rigid bonds that depend on others, or on what is held: are they kept all the same? */
static int check_lost(foot *c, const taut_potential_modes *w, const double *value, const char *what,
                      taut_error *error)
{
    for (taut_index k = 0; k < w->losts; k++) {
        taut_index i = w->lost[k];
        double scale = taut_row_size(&w->jacobian, w->values.jacobian, i, NULL);
        char name[96];
        double most = taut_largest(c->n, what[0] == 'v' ? c->u : c->x);
        if (c->hold && fabs(value[i]) <= 1e-9 * scale * most)
            continue;
        taut_system_name(c->system, TAUT_BOND, i, name, sizeof name);
        int code = c->hold ? taut_fail(error, TAUT_ERROR_CONVERGE,
                                       "all of the %s of bond '%s' that others leave are held, and "
                                       "it is off by %.3g; release one, or correct it",
                                       what, name, value[i])
                           : taut_fail(error, TAUT_ERROR_SINGULAR,
                                       "bond '%s' depends on other bonds; leave it out", name);
        if (error)
            error->t = c->t;
        return code;
    }
    return TAUT_OK;
}

/* On the manifold V is least without regard to the bonds; and constant rank means a gap in the
 * spectrum. */
static int check_minimum(foot *c, taut_error *error)
{
    const double *value = c->stiff.value;
    double steep = taut_potential_modes_steepness(&c->stiff),
           scale = taut_potential_modes_scale(&c->stiff, c->from, c->x);
    for (int k = 0; k < c->rank; k++)
        if (!(value[k] > 0))
            return fail(
                c, TAUT_ERROR_CONVERGE,
                "the stiff potential is stationary here but not least; start nearer to its minimum",
                error);
    bool apart =
        c->rank == 0 || (value[c->rank - 1] > zero_mode * fabs(value[0]) &&
                         (c->rank == c->n || fabs(value[c->rank]) <= 1e-6 * fabs(value[0])));
    if (!apart || (c->rank == 0 && !c->hold))
        return fail(c, TAUT_ERROR_CONVERGE,
                    "the Hessian of the stiff potential has no constant rank along its minimum: "
                    "there is no manifold near the start",
                    error);
    taut_potential_modes_gradient(&c->stiff, c->force);
    taut_cholesky_lower(c->n, c->stiff.root, c->force);
    if (taut_norm(c->n, c->force) <= 1e-9 * steep * scale)
        return TAUT_OK;
    return fail(
        c, TAUT_ERROR_CONVERGE,
        c->hold ? "what is held, or the bonds, keep the stiff potential from its minimum; release "
                  "one, or correct it"
                : "bonds and stiff potential pull against one another: where the bonds hold, the "
                  "potential is not least; write the springs as part of the stiff potential",
        error);
}

/* ---- velocities */

static void choose_held(const foot *c, taut_potential_modes *w, unsigned bit)
{
    for (taut_index i = 0; i < c->n; i++)
        w->held[i] = c->hold && (c->hold[i] & bit);
}

/* rate = dF/dt along u, by a jet of order 1; s = -gdot */
static int find_rates(foot *c, const taut_potential_modes *w, taut_error *error)
{
    taut_values values = {.stiff_force = c->rate};
    TAUT_TRY(taut_jet_advance(c->jet, 0, c->t, c->x, c->u, &values, error));
    TAUT_TRY(taut_jet_advance(c->jet, 1, c->t, c->u, c->u, &values, error));
    for (taut_index i = 0; i < c->n; i++)
        c->rate[i] = -c->rate[i];
    for (taut_index i = 0; i < c->m; i++)
        c->s[i] = -w->values.bond_dt[i] - taut_row_dot(&w->jacobian, w->values.jacobian, i, c->u);
    return TAUT_OK;
}

static int project_velocity(foot *c, taut_error *error)
{
    taut_potential_modes *w = c->apart ? &c->moving : &c->stiff;
    choose_held(c, w, TAUT_HOLD_VELOCITY);
    if (c->apart)
        TAUT_TRY(taut_potential_modes_find(w, c->t, c->x, error));
    for (int round = 0; round < 2; round++) { /* the second takes out the rounding of the first */
        TAUT_TRY(find_rates(c, w, error));
        taut_potential_modes_step(w, c->rank, c->s, c->rate, -1, c->dx);
        for (taut_index i = 0; i < c->n; i++)
            c->u[i] += w->held[i] ? 0 : c->dx[i];
    }
    TAUT_TRY(find_rates(c, w, error));
    TAUT_TRY(check_lost(c, w, c->s, "velocities", error));
    taut_cholesky_lower(c->n, w->root, c->rate);
    if (c->hold &&
        taut_norm(c->n, c->rate) >
            1e-9 * fabs(w->value[0]) * taut_potential_modes_length(&c->stiff, c->u, NULL))
        return fail(c, TAUT_ERROR_CONVERGE,
                    "the held velocities leave the minimum of the stiff potential; release one",
                    error);
    return TAUT_OK;
}

/* ---- the projector */

/* The rank without regard to what is held; leaves the modes as they were. */
static int count_rank(foot *c, taut_error *error)
{
    int rank = c->rank;
    c->full = rank;
    if (!c->hold)
        return TAUT_OK;
    memset(c->stiff.held, 0, (size_t)c->n);
    TAUT_TRY(find_modes(c, error));
    c->full = taut_potential_modes_rank(&c->stiff, zero_mode);
    choose_held(c, &c->stiff, TAUT_HOLD_POSITION);
    return find_modes(c, error);
}

/* The guesses go to the minimum first, as far as they can, the others held. */
static int move_guesses(foot *c, taut_error *error)
{
    taut_error reason = {0};
    for (taut_index i = 0; i < c->n; i++)
        c->stiff.held[i] = !(c->hold[i] & TAUT_GUESS) || (c->hold[i] & TAUT_HOLD_POSITION);
    int status = reach(c, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (status != 0) /* no failure: the foot point is taken from where it was */
        taut_copy(c->n, c->from, c->x);
    return TAUT_OK;
}

static int project(foot *c, taut_error *error)
{
    taut_copy(c->n, c->x, c->from);
    if (c->guesses) {
        TAUT_TRY(move_guesses(c, error));
        taut_copy(c->n, c->x, c->from);
    }
    choose_held(c, &c->stiff, TAUT_HOLD_POSITION);
    TAUT_TRY(reach(c, error));
    TAUT_TRY(settle(c, error));
    for (taut_index i = 0; i < c->n; i++)
        c->x[i] = c->stiff.held[i] ? c->from[i] : c->x[i];
    TAUT_TRY(check_lost(c, &c->stiff, c->stiff.values.bond, "positions", error));
    TAUT_TRY(check_minimum(c, error));
    TAUT_TRY(project_velocity(c, error));
    TAUT_TRY(count_rank(c, error));
    TAUT_TRY(watch(c, error));
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    foot *c = (foot *)projector;
    c->t = t;
    taut_copy(c->n, q, c->x);
    taut_copy(c->n, v, c->u);
    TAUT_TRY(project(c, error));
    taut_copy(c->n, c->x, q);
    taut_copy(c->n, c->u, v);
    return TAUT_OK;
}

static void destroy(taut_projector *projector)
{
    foot *c = (foot *)projector;
    if (!c)
        return;
    taut_jet_destroy(c->jet);
    c->jet = NULL;
}

static int build(foot *c, taut_arena *arena, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(c->system, &sizes);
    c->n = sizes.coordinates;
    c->m = sizes.bonds;
    TAUT_TRY(taut_potential_modes_create(&c->stiff, c->context, arena, true, error));
    TAUT_TRY(taut_anderson_create(&c->anderson, c->n, ANDERSON, arena, error));
    TAUT_TRY(TAUT_RESERVE(arena, c->n, error, &c->x, &c->u, &c->from, &c->dx, &c->part, &c->force,
                          &c->y, &c->rate));
    if (!(c->s = TAUT_NEW(arena, double, c->m)))
        return taut_fail_memory(error);
    c->hold = c->settings.ignore_holds ? NULL
              : c->settings.hold       ? c->settings.hold
                                       : taut_system_hold(c->system);
    for (taut_index i = 0; c->hold && i < c->n; i++) {
        c->guesses |= (c->hold[i] & TAUT_GUESS) && !(c->hold[i] & TAUT_HOLD_POSITION);
        c->apart |= !(c->hold[i] & TAUT_HOLD_POSITION) != !(c->hold[i] & TAUT_HOLD_VELOCITY);
    }
    if (c->apart)
        TAUT_TRY(taut_potential_modes_create(&c->moving, c->context, arena, true, error));
    return taut_jet_create(c->context, 1, TAUT_WANT_STIFF_FORCE, &c->jet, error);
}

int taut_potential_foot(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                        const taut_foot_point_settings *settings, taut_projector **projector,
                        taut_error *error)
{
    *projector = NULL;
    foot *c = TAUT_NEW(arena, foot, 1);
    if (!c)
        return taut_fail_memory(error);
    c->projector = (taut_projector){
        .name = "constraint", .apply = apply, .destroy = destroy, .statistics = statistics};
    c->context = context;
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

const taut_potential_modes *taut_potential_foot_modes(const taut_projector *projector,
                                                      bool velocity, int *count)
{
    const foot *c = (const foot *)projector;
    *count = c->rank;
    return velocity && c->apart ? &c->moving : &c->stiff;
}

bool taut_potential_foot_whole(const taut_projector *projector)
{
    const foot *c = (const foot *)projector;
    const taut_potential_modes *moving = c->apart ? &c->moving : &c->stiff;
    return c->rank == c->full && taut_potential_modes_rank(moving, zero_mode) >= c->full;
}
