/* stabilize.c - post-stabilisation and coordinate projection after any step.
 *
 *     z <- z~ - F(z~) h(z~), F = D (H D)^-1   [Ascher, Qin, Reich 1992, (3.9), alpha = 1]
 *     z <- z~ - D(z~) lambda with h(z) = 0   [(3.10)]
 *
 * Mechanical systems have h = (g, gdot) of the rigid bonds. "post" takes D = diag(M^-1 G^T, M^-1
 * G^T), which is (4.7) in the metric of the mass: only [M G^T; G 0] is factorised. We deviate in
 * the velocities: gdot is linear in v, so they are projected where the position has landed,
 * exactly, instead of with the derivative L of G v. "post-simple", "post-velocity" and
 * "post-position" are (4.8) as printed, all with the G of z~ and the unit metric. */
#include "wrap/stabilize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "step/mechanics.h"
#include "system/fused.h"
#include "wrap/conserve.h"
#include "wrap/invariants.h"

enum { MOST_ITERATIONS = 50 };

typedef struct stabilizer {
    taut_projector projector;
    const struct kind *kind;
    int passes;
    taut_index n;
    taut_mechanics mechanics;
    taut_saddle *saddle;
    taut_fused_work *position, *velocity; /* corrections of "post" as one tape each, or NULL */
    double *ones;                         /* the unit metric; NULL: the mass */
    double *q, *v;                        /* the new state until it is known to be good, [n] */
    double *step, *residual;              /* [n], [rigid bonds] */
    taut_invariants *invariants;          /* first order */
    taut_conserve *conserve;              /* mechanical: the invariants, or NULL */
} stabilizer;

typedef struct kind {
    const char *name;
    bool position, velocity; /* what moves */
    bool simple;             /* (4.8) */
    bool converge;
    bool first_order; /* offered there */
    int (*apply)(taut_projector *projector, double t, double *q, double *v, taut_error *error);
} kind;

/* [M G^T; G 0] with G of the latest evaluation. */
static int factor(stabilizer *w, double t, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    return taut_mechanics_factor(x, w->saddle, t, w->ones ? w->ones : x->mass, x->rod_jacobian,
                                 NULL, error);
}

/* step = -D (G D)^-1 residual with the G that was factorised; returns through *size the largest
 * entry. */
static int correction(stabilizer *w, double *size, taut_error *error)
{
    taut_clear(w->n, w->step);
    for (taut_index r = 0; r < w->mechanics.rods; r++)
        w->residual[r] = -w->residual[r];
    w->projector.statistics->solves++;
    TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->step, w->residual, error));
    *size = taut_largest(w->n, w->step);
    return TAUT_OK;
}

/* x <- x + the correction of one tape; false: the bonds must be evaluated. */
static bool correct_fused(stabilizer *w, taut_fused_work *fused, double t, double *x)
{
    if (!fused || !taut_fused_run(fused, t, w->q, w->v, w->step, NULL, NULL))
        return false;
    for (taut_index i = 0; i < w->n; i++)
        x[i] += w->step[i];
    w->projector.statistics->factorisations++;
    w->projector.statistics->solves++;
    return true;
}

static void take_positions(stabilizer *w)
{
    for (taut_index r = 0; r < w->mechanics.rods; r++)
        w->residual[r] = w->mechanics.values.bond[w->mechanics.rod[r]];
}

/* v with gdot = 0 where q is now. */
static int project_velocity(stabilizer *w, double t, taut_error *error)
{
    double size;
    if (correct_fused(w, w->velocity, t, w->v))
        return TAUT_OK;
    TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
    TAUT_TRY(factor(w, t, error));
    taut_mechanics_rates(&w->mechanics, w->v, w->residual);
    TAUT_TRY(correction(w, &size, error));
    taut_add(w->n, w->step, w->v);
    return TAUT_OK;
}

static int newton_positions(stabilizer *w, double t, taut_error *error)
{
    double size;
    for (int pass = 0; pass < w->passes; pass++) {
        if (correct_fused(w, w->position, t, w->q))
            continue;
        TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
        TAUT_TRY(factor(w, t, error));
        take_positions(w);
        TAUT_TRY(correction(w, &size, error));
        taut_add(w->n, w->step, w->q);
    }
    return TAUT_OK;
}

/* (3.10): D stays that of the first point while that converges fast; a far start takes a new one.
 */
static int converge_positions(stabilizer *w, double t, taut_error *error)
{
    double before = INFINITY, size, floor = 4 * DBL_EPSILON * taut_largest(w->n, w->q);
    bool stale = true;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
        if (stale)
            TAUT_TRY(factor(w, t, error));
        take_positions(w);
        TAUT_TRY(correction(w, &size, error));
        w->projector.statistics->newton_iterations++;
        /* at rounding: small, or small and no longer shrinking */
        if (size <= floor || (size > before / 4 && size < 1e4 * floor))
            return TAUT_OK;
        taut_add(w->n, w->step, w->q);
        stale = size > before / 4;
        before = size;
        if (!isfinite(size))
            break;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the projection onto the rigid bonds did not converge at t = %.9g: use a "
                     "smaller step size, or an initial state closer to them",
                     t);
}

/* Invariants, from a state on the bonds whose matrix has been factorised; the velocities are put
 * along the bonds again after each correction. */
static int conserve(stabilizer *w, double t, taut_error *error)
{
    double off, before = INFINITY;
    int most = w->kind->converge ? MOST_ITERATIONS : w->passes;
    for (int k = 0; k < most; k++) {
        TAUT_TRY(taut_conserve_step(w->conserve, w->saddle, t, w->q, w->v, &off, error));
        if (off <= 1 || (w->kind->converge && k > 3 && off > before / 2))
            return TAUT_OK;
        before = off;
        if (w->kind->converge)
            TAUT_TRY(converge_positions(w, t, error));
        TAUT_TRY(project_velocity(w, t, error));
    }
    return TAUT_OK;
}

static int apply_mechanical(taut_projector *projector, double t, double *q, double *v,
                            taut_error *error)
{
    stabilizer *w = projector->self;
    taut_copy(w->n, q, w->q);
    taut_copy(w->n, v, w->v);
    TAUT_TRY(w->kind->converge ? converge_positions(w, t, error) : newton_positions(w, t, error));
    TAUT_TRY(project_velocity(w, t, error));
    if (w->conserve)
        TAUT_TRY(conserve(w, t, error));
    taut_copy(w->n, w->q, q);
    taut_copy(w->n, w->v, v);
    return TAUT_OK;
}

/* (4.8): both corrections from the same point. */
static int apply_simple(taut_projector *projector, double t, double *q, double *v,
                        taut_error *error)
{
    stabilizer *w = projector->self;
    taut_copy(w->n, q, w->q);
    taut_copy(w->n, v, w->v);
    for (int pass = 0; pass < w->passes; pass++) {
        double size;
        TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
        TAUT_TRY(factor(w, t, error));
        if (w->kind->velocity) {
            taut_mechanics_rates(&w->mechanics, w->v, w->residual);
            TAUT_TRY(correction(w, &size, error));
            taut_add(w->n, w->step, w->v);
        }
        if (w->kind->position) {
            take_positions(w);
            TAUT_TRY(correction(w, &size, error));
            taut_add(w->n, w->step, w->q);
        }
    }
    taut_copy(w->n, w->q, q);
    taut_copy(w->n, w->v, v);
    return TAUT_OK;
}

static int apply_first_order(taut_projector *projector, double t, double *q, double *v,
                             taut_error *error)
{
    (void)v;
    stabilizer *w = projector->self;
    double before = INFINITY, rounding;
    taut_copy(w->n, q, w->q);
    int most = w->kind->converge ? MOST_ITERATIONS : w->passes;
    for (int k = 0; k < most; k++) {
        TAUT_TRY(taut_invariants_step(w->invariants, t, w->q, w->step, error));
        double size = taut_invariants_size(w->invariants, w->q, &rounding);
        if (w->kind->converge)
            projector->statistics->newton_iterations++;
        bool done = size <= 2 * rounding || (size > before / 4 && size < 1e4 * rounding);
        if (w->kind->converge && done) {
            taut_copy(w->n, w->q, q);
            return TAUT_OK;
        }
        for (taut_index i = 0; i < w->n; i++)
            w->q[i] -= w->step[i];
        before = size;
    }
    if (w->kind->converge)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "the projection onto the invariants did not converge at t = %.9g", t);
    taut_copy(w->n, w->q, q);
    return TAUT_OK;
}

static const kind kinds[] = {
    {.name = "post",
     .position = true,
     .velocity = true,
     .first_order = true,
     .apply = apply_mechanical},
    {.name = "project",
     .position = true,
     .velocity = true,
     .converge = true,
     .first_order = true,
     .apply = apply_mechanical},
    {.name = "post-velocity",
     .velocity = true,
     .simple = true,
     .first_order = true,
     .apply = apply_simple},
    {.name = "post-simple",
     .position = true,
     .velocity = true,
     .simple = true,
     .apply = apply_simple},
    {.name = "post-position", .position = true, .simple = true, .apply = apply_simple},
};

static const kind *find_kind(const char *name, bool first_order, taut_error *error)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(kinds[k].name, name) == 0) {
            if (!first_order || kinds[k].first_order)
                return &kinds[k];
            taut_fail(error, TAUT_ERROR_REFUSED,
                      "stabilisation '%s' is for mechanical systems; first-order ones take post, "
                      "project or post-velocity",
                      name);
            return NULL;
        }
    taut_fail(error, TAUT_ERROR_USAGE,
              "there is no stabilisation '%.40s'; post, project, post-velocity, post-simple and "
              "post-position are",
              name);
    return NULL;
}

static void destroy(taut_projector *projector)
{
    stabilizer *w = projector->self;
    taut_saddle_destroy(w->saddle);
    w->saddle = NULL;
    if (w->invariants)
        taut_invariants_destroy(w->invariants);
    w->invariants = NULL;
}

static void archive(taut_projector *projector, taut_archive *to)
{
    stabilizer *w = projector->self;
    if (w->invariants)
        taut_invariants_archive(w->invariants, to);
    if (w->conserve)
        taut_conserve_archive(w->conserve, to);
}

static int fill_mechanical(stabilizer *w, taut_context *context, taut_arena *arena,
                           taut_error *error)
{
    taut_mechanics *x = &w->mechanics;
    TAUT_TRY(
        taut_mechanics_create(x, context, arena, w->projector.statistics, TAUT_WANT_BOND, error));
    TAUT_TRY(taut_conserve_create(context, arena, x->rods, &w->conserve, error));
    if (x->rods == 0 && !w->conserve)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "there is nothing to stabilise: the system has no rigid bonds and no "
                         "invariants");
    if (w->conserve && w->kind->simple)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation '%s' is for rigid bonds alone; [invariants] need post or "
                         "project",
                         w->kind->name);
    TAUT_TRY(TAUT_RESERVE(arena, x->rods, error, &w->residual));
    if (w->kind->simple) {
        TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->ones));
        for (taut_index i = 0; i < w->n; i++)
            w->ones[i] = 1;
    }
    if (!w->kind->simple && !w->conserve) { /* invariants need the matrix that was factorised */
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_POSITION, x->rods, x->rod, arena, &w->position,
                                 error));
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_VELOCITY, x->rods, x->rod, arena, &w->velocity,
                                 error));
    }
    return taut_mechanics_saddle(x, w->kind->simple, true, &arena->allocator, &w->saddle, error);
}

static int fill(stabilizer *w, taut_context *context, const taut_sizes *sizes, taut_arena *arena,
                taut_error *error)
{
    w->n = sizes->coordinates;
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->q, &w->v, &w->step));
    if (sizes->kind == TAUT_MECHANICAL)
        return fill_mechanical(w, context, arena, error);
    taut_invariants_of which = w->kind->position ? TAUT_INVARIANTS_ALL : TAUT_INVARIANTS_VELOCITY;
    return taut_invariants_create(context, which, arena, w->projector.statistics, &w->invariants,
                                  error);
}

int taut_stabilizer_create(const char *name, int passes, taut_context *context, taut_arena *arena,
                           taut_statistics *statistics, taut_projector **projector,
                           taut_error *error)
{
    *projector = NULL;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    if (sizes.kind == TAUT_BLACK_BOX)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "a black box has no equations to be stabilised");
    bool first = sizes.kind == TAUT_FIRST_ORDER;
    taut_error why;
    const kind *found = find_kind(name, first, &why);
    if (!found)
        return taut_fail(error, why.code, "%s", why.message);
    if (passes < 0)
        return taut_fail(error, TAUT_ERROR_USAGE, "the number of passes must not be negative");
    stabilizer *w = TAUT_NEW(arena, stabilizer, 1);
    TAUT_NEED(error, w);
    w->kind = found;
    w->passes = passes > 0 ? passes : 1;
    w->projector = (taut_projector){.name = found->name,
                                    .apply = first ? apply_first_order : found->apply,
                                    .destroy = destroy,
                                    .archive = archive,
                                    .statistics = statistics,
                                    .self = w};
    int status = fill(w, context, &sizes, arena, error);
    if (status == 0)
        *projector = &w->projector;
    else
        destroy(&w->projector);
    return status;
}

int taut_stabilizer_begin(taut_projector *projector, double t, const double *q, const double *v,
                          taut_error *error)
{
    stabilizer *w = projector->self;
    if (w->conserve)
        return taut_conserve_begin(w->conserve, t, q, v, error);
    return w->invariants ? taut_invariants_begin(w->invariants, t, q, error) : TAUT_OK;
}
