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
 * dx_G the shortest change that satisfies the bonds, F = grad V/eps^2, and P the projector onto
 * what bonds and stiff modes leave: Newton's iteration towards the manifold, and along it a fixed
 * point that contracts as the distance over the radius of curvature, accelerated (anderson.c).
 * The rank d is decided on the manifold, where the other eigenvalues are rounding; so the first
 * phase goes there without regard to where it arrives. What [start] holds is a row of its own. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "linalg/anderson.h"
#include "point/foot_projector.h"
#include "slow/potential/potential.h"

typedef struct stiff_foot {
    taut_foot foot;
    /* with held positions; with held velocities, where these are others */
    taut_potential_modes stiff, moving;
    taut_jet *jet; /* of the stiff force: its rate, time included */
    taut_anderson anderson;
    int rank, full;       /* of Hess V with what is held fixed; without */
    double *part, *force; /* [n] */
    double *force_rate;   /* [n]: dF/dt */
    double *s;            /* [m] */
} stiff_foot;

enum { MOST_ITERATIONS = 200, ANDERSON = 3 };
/* of the largest Omega^2, as in the spectrum of a stiff potential */
static const double zero_mode = 1e-8;

static int find_modes(stiff_foot *c, taut_error *error)
{
    c->foot.projector.statistics->force_evaluations++;
    c->foot.projector.statistics->jacobians++;
    return taut_potential_modes_find(&c->stiff, c->foot.t, c->foot.x, error);
}

static int fail(const char *text, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE, "%s", text);
}

/* These modes leave fixed what is fixed now. */
static void take_fixed(const stiff_foot *c, const taut_potential_modes *w)
{
    memcpy(w->held, c->foot.fixed, (size_t)c->foot.n);
}

/* ---- positions */

/* dx: towards the manifold, by bonds and the first `rank` modes. */
static void normal_step(stiff_foot *c)
{
    for (taut_index i = 0; i < c->foot.m; i++)
        c->s[i] = -c->stiff.values.bond[i];
    taut_potential_modes_gradient(&c->stiff, c->force);
    taut_potential_modes_step(&c->stiff, c->rank, c->s, c->force, -1, c->foot.dx);
}

/* dx += P (from - x) */
static void tangential_step(stiff_foot *c)
{
    const taut_foot *f = &c->foot;
    for (taut_index i = 0; i < f->n; i++)
        c->part[i] = f->from[i] - f->x[i];
    taut_potential_modes_along(&c->stiff, c->rank, c->part, c->force);
    taut_add(f->n, c->part, f->dx);
}

/* To the manifold, anywhere near; its rank is decided there. */
static int reach(stiff_foot *c, taut_error *error)
{
    taut_foot *f = &c->foot;
    bool found;
    int64_t count = 0;
    int status = taut_potential_modes_descend(&c->stiff, f->t, f->from, f->x, &c->rank, &found,
                                              &count, error);
    f->projector.statistics->force_evaluations += count;
    f->projector.statistics->jacobians += count;
    if (status != 0 || found)
        return status;
    return fail("no minimum of the stiff potential was found near the initial state, or its "
                "Hessian vanishes there; give start values that are nearer to it",
                error);
}

/* Along the manifold to the point nearest to `from`, going back to it before every step: away
 * from it the curvature of stiff directions hides weak ones. Ends when steps are at rounding, or,
 * near it, have not become smaller for a while. */
static int settle(stiff_foot *c, taut_error *error)
{
    enum { PATIENCE = 6 };
    taut_foot *f = &c->foot;
    double before = INFINITY, best = INFINITY, first = 0;
    int rank = c->rank, waited = 0;
    taut_anderson_clear(&c->anderson);
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (iteration > 0)
            TAUT_TRY(reach(c, error));
        c->rank = rank;
        TAUT_TRY(taut_foot_watch(f, error));
        normal_step(c);
        tangential_step(c);
        double step = taut_potential_modes_length(&c->stiff, f->dx, NULL),
               scale = taut_potential_modes_scale(&c->stiff, f->from, f->x);
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
        if (step > 2 * before) /* the history does not hold here */
            taut_anderson_clear(&c->anderson);
        if (last || step > 2 * first) {
            taut_add_scaled(f->n, last ? 1 : taut_foot_part(step, first), f->dx, f->x);
        } else {
            taut_anderson_next(&c->anderson, f->x, f->dx, f->x);
        }
        f->projector.statistics->newton_iterations++;
        if (last)
            return find_modes(c, error);
        before = step;
    }
    return fail("no foot point on the minimum of the stiff potential was found; give start values "
                "that are nearer to it",
                error);
}

/* ---- checks */

/* Rigid bonds that depend on others, or on what is held: are they satisfied all the same? */
static int check_dependent(const stiff_foot *c, const taut_potential_modes *w, const double *value,
                           bool velocity, taut_error *error)
{
    for (taut_index k = 0; k < w->dependents; k++) {
        taut_index i = w->dependent[k];
        char name[96];
        if (c->foot.hold) {
            TAUT_TRY(taut_foot_check_bond(&c->foot, &w->jacobian, w->values.jacobian, i, value[i],
                                          velocity, " that other bonds leave", error));
            continue;
        }
        taut_system_name(c->foot.system, TAUT_BOND, i, name, sizeof name);
        return taut_fail(error, TAUT_ERROR_SINGULAR, "bond '%s' depends on other bonds; omit it",
                         name);
    }
    return TAUT_OK;
}

/* On the manifold V is least without regard to the bonds; and constant rank means a gap in the
 * spectrum. */
static int check_minimum(const stiff_foot *c, taut_error *error)
{
    const taut_foot *f = &c->foot;
    const double *value = c->stiff.value;
    double steep = taut_potential_modes_steepness(&c->stiff),
           scale = taut_potential_modes_scale(&c->stiff, f->from, f->x);
    for (int k = 0; k < c->rank; k++)
        if (!(value[k] > 0))
            return fail("the stiff potential is stationary here but not least; give start values "
                        "that are nearer to its minimum",
                        error);
    bool apart =
        c->rank == 0 || (value[c->rank - 1] > zero_mode * fabs(value[0]) &&
                         (c->rank == f->n || fabs(value[c->rank]) <= 1e-6 * fabs(value[0])));
    if (!apart || (c->rank == 0 && !f->hold))
        return fail("the Hessian of the stiff potential has no constant rank along its minimum: "
                    "there is no manifold near the initial state",
                    error);
    taut_potential_modes_gradient(&c->stiff, c->force);
    if (taut_potential_modes_force_length(&c->stiff, c->force) <= 1e-9 * steep * scale)
        return TAUT_OK;
    return fail(
        f->hold ? "what is held, or the bonds, keep the stiff potential from its minimum; release "
                  "one, or correct it"
                : "bonds and stiff potential contradict one another: where the bonds hold, the "
                  "potential is not least; write the springs as part of the stiff potential",
        error);
}

/* The rank without regard to what is held; leaves the modes as they were. */
static int count_rank(stiff_foot *c, taut_error *error)
{
    c->full = c->rank;
    if (!c->foot.hold)
        return TAUT_OK;
    memset(c->stiff.held, 0, (size_t)c->foot.n);
    TAUT_TRY(find_modes(c, error));
    c->full = taut_potential_modes_rank(&c->stiff, zero_mode);
    take_fixed(c, &c->stiff);
    return find_modes(c, error);
}

static int find(taut_foot *f, taut_error *error)
{
    stiff_foot *c = (stiff_foot *)f;
    take_fixed(c, &c->stiff);
    TAUT_TRY(reach(c, error));
    TAUT_TRY(settle(c, error));
    for (taut_index i = 0; i < f->n; i++)
        f->x[i] = f->fixed[i] ? f->from[i] : f->x[i];
    TAUT_TRY(check_dependent(c, &c->stiff, c->stiff.values.bond, false, error));
    TAUT_TRY(check_minimum(c, error));
    return count_rank(c, error);
}

static int fit_guesses(taut_foot *f, taut_error *error)
{
    stiff_foot *c = (stiff_foot *)f;
    taut_error reason = {0};
    take_fixed(c, &c->stiff);
    int status = reach(c, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (status != 0)
        taut_copy(f->n, f->from, f->x);
    return TAUT_OK;
}

/* ---- velocities */

static taut_potential_modes *velocity_modes(stiff_foot *c)
{
    return c->foot.apart ? &c->moving : &c->stiff;
}

/* force_rate = dF/dt along u, by a jet of order 1; s = -gdot */
static int find_rates(stiff_foot *c, taut_error *error)
{
    taut_foot *f = &c->foot;
    const taut_potential_modes *w = velocity_modes(c);
    taut_values values = {.stiff_force = c->force_rate};
    TAUT_TRY(taut_jet_advance_inside(c->jet, 0, f->t, f->x, f->u, &values, error));
    TAUT_TRY(taut_jet_advance_inside(c->jet, 1, f->t, f->u, f->u, &values, error));
    for (taut_index i = 0; i < f->n; i++)
        c->force_rate[i] = -c->force_rate[i];
    taut_foot_rates(f, &w->jacobian, &w->values);
    for (taut_index i = 0; i < f->m; i++)
        c->s[i] = -f->rate[i];
    return TAUT_OK;
}

static int velocity_step(taut_foot *f, bool first, taut_error *error)
{
    stiff_foot *c = (stiff_foot *)f;
    taut_potential_modes *w = velocity_modes(c);
    if (first && f->apart) {
        take_fixed(c, w);
        TAUT_TRY(taut_potential_modes_find(w, f->t, f->x, error));
    }
    TAUT_TRY(find_rates(c, error));
    taut_potential_modes_step(w, c->rank, c->s, c->force_rate, -1, f->dx);
    return TAUT_OK;
}

static int check_velocity(taut_foot *f, taut_error *error)
{
    stiff_foot *c = (stiff_foot *)f;
    const taut_potential_modes *w = velocity_modes(c);
    TAUT_TRY(find_rates(c, error));
    TAUT_TRY(check_dependent(c, w, f->rate, true, error));
    if (f->hold &&
        taut_potential_modes_force_length(w, c->force_rate) >
            1e-9 * fabs(w->value[0]) * taut_potential_modes_length(&c->stiff, f->u, NULL))
        return fail("the held velocities leave the minimum of the stiff potential; release one",
                    error);
    return TAUT_OK;
}

/* ---- the projector */

static void release(taut_foot *f)
{
    stiff_foot *c = (stiff_foot *)f;
    taut_jet_destroy(c->jet);
    c->jet = NULL;
}

static int build(taut_foot *f, taut_arena *arena, taut_error *error)
{
    stiff_foot *c = (stiff_foot *)f;
    TAUT_TRY(taut_potential_modes_create(&c->stiff, f->context, arena, true, error));
    if (f->apart)
        TAUT_TRY(taut_potential_modes_create(&c->moving, f->context, arena, true, error));
    TAUT_TRY(taut_anderson_create(&c->anderson, f->n, ANDERSON, arena, error));
    TAUT_TRY(TAUT_RESERVE(arena, f->n, error, &c->part, &c->force, &c->force_rate));
    TAUT_TRY(TAUT_RESERVE(arena, f->m, error, &c->s));
    return taut_jet_create(f->context, 1, TAUT_WANT_STIFF_FORCE, &c->jet, error);
}

const taut_foot_kind taut_potential_foot = {.size = sizeof(stiff_foot),
                                            .build = build,
                                            .release = release,
                                            .fit = fit_guesses,
                                            .find = find,
                                            .velocity = velocity_step,
                                            .check_velocity = check_velocity};

const taut_potential_modes *taut_potential_foot_modes(const taut_projector *projector,
                                                      bool velocity, int *count)
{
    const stiff_foot *c = (const stiff_foot *)projector;
    *count = c->rank;
    return velocity && c->foot.apart ? &c->moving : &c->stiff;
}

bool taut_potential_foot_whole(const taut_projector *projector)
{
    int rank;
    const stiff_foot *c = (const stiff_foot *)projector;
    const taut_potential_modes *w = taut_potential_foot_modes(projector, true, &rank);
    return rank == c->full && taut_potential_modes_rank(w, zero_mode) >= c->full;
}
