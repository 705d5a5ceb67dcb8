/* stabilize.c - see stabilize.h: forms of stabilisation after any step.
 *
 * Mechanical systems have h = (g, gdot) of the rigid bonds; [M G^T; G 0], or with the unit matrix
 * for M, is factorised. We deviate from (4.7) in the velocities: gdot is linear in v, so they are
 * projected where the position has landed, exactly, instead of with the derivative L of G v.
 *
 * The backward form is solved by z <- z~ - alpha/(1 + alpha) F(z_k) (h(z_k) + H(z_k) (z~ - z_k)),
 * Newton's iteration with F of the latest point. */
#include "wrap/stabilize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/saddle_bonds.h"
#include "step/mechanics.h"
#include "system/fused.h"
#include "wrap/conserve.h"
#include "wrap/invariants.h"

enum { MOST_ITERATIONS = 50 };

typedef enum form_of { POST, FORWARD, BACKWARD, PROJECT } form_of;

typedef struct stabilizer {
    taut_projector projector;
    form_of form;
    int passes;
    double alpha;
    bool position, velocity; /* what moves */
    bool unit;               /* metric of D */
    bool simple;             /* both from one point */
    bool gradient;           /* F = H^T */
    taut_index n;
    taut_mechanics mechanics;
    taut_saddle *saddle;
    taut_fused_work *fused_q, *fused_v; /* corrections as one tape each, or NULL */
    bool whole;                         /* both are all of it */
    double *ones;                       /* the unit metric; NULL: the mass */
    double *q, *v;                      /* the new state until it is known to be good, [n] */
    double *step, *residual;            /* [n], [rigid bonds] */
    taut_invariants *invariants;        /* first order */
    taut_conserve *conserve;            /* mechanical: the invariants, or NULL */
} stabilizer;

/* [M G^T; G 0] with G of the latest evaluation. */
static int factor(stabilizer *w, double t, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    return taut_mechanics_factor(x, w->saddle, t, w->ones ? w->ones : x->mass, x->rod_jacobian,
                                 NULL, error);
}

/* step = -D (G D)^-1 residual with the G that was factorised. */
static int correction(stabilizer *w, taut_error *error)
{
    w->projector.statistics->solves++;
    return taut_saddle_oppose(w->saddle, false, w->step, w->residual, error);
}

/* The part of a full correction that is made. */
static double share(const stabilizer *w)
{
    return w->form == BACKWARD ? w->alpha / (1 + w->alpha) : w->alpha;
}

/* x <- x + factor step */
static void move(const stabilizer *w, double factor, double *x)
{
    if (factor == 1)
        taut_add(w->n, w->step, x);
    else
        taut_add_scaled(w->n, factor, w->step, x);
}

/* x <- x + the correction of one tape; false: the bonds must be evaluated. */
static bool correct_fused(stabilizer *w, taut_fused_work *fused, double t, double *x)
{
    if (!fused || !taut_fused_run(fused, t, w->q, w->v, w->step, NULL, NULL))
        return false;
    move(w, share(w), x);
    w->projector.statistics->factorisations++;
    w->projector.statistics->solves++;
    return true;
}

/* residual = gdot, g */
static void take_rates(stabilizer *w, const double *v)
{
    taut_mechanics_rates_at(&w->mechanics, w->saddle, v, w->residual);
}

static void take_positions(stabilizer *w)
{
    taut_mechanics_pick(&w->mechanics, 1, w->mechanics.values.bond, w->residual);
}

/* v with gdot = 0 where q is now, or on the way there. */
static int project_velocity(stabilizer *w, double t, taut_error *error)
{
    if (correct_fused(w, w->fused_v, t, w->v))
        return TAUT_OK;
    TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
    TAUT_TRY(factor(w, t, error));
    take_rates(w, w->v);
    TAUT_TRY(correction(w, error));
    move(w, share(w), w->v);
    return TAUT_OK;
}

static int newton_positions(stabilizer *w, double t, taut_error *error)
{
    for (int pass = 0; pass < w->passes; pass++) {
        if (correct_fused(w, w->fused_q, t, w->q))
            continue;
        TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
        TAUT_TRY(factor(w, t, error));
        take_positions(w);
        TAUT_TRY(correction(w, error));
        move(w, w->alpha, w->q);
    }
    return TAUT_OK;
}

/* (3.7), from q~: see above. */
static int backward_positions(stabilizer *w, double t, const double *from, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    double before = INFINITY, floor = 4 * DBL_EPSILON * taut_largest(w->n, from);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, w->q, w->v, 0, error));
        TAUT_TRY(factor(w, t, error));
        for (taut_index i = 0; i < w->n; i++)
            w->step[i] = from[i] - w->q[i];
        for (taut_index r = 0; r < x->rods; r++)
            w->residual[r] =
                x->values.bond[x->rod[r]] + taut_row_dot(&x->rod_rows, x->rod_jacobian, r, w->step);
        TAUT_TRY(correction(w, error));
        w->projector.statistics->newton_iterations++;
        double change = 0;
        for (taut_index i = 0; i < w->n; i++) {
            double next = from[i] + share(w) * w->step[i];
            change = taut_larger(change, fabs(next - w->q[i]));
            w->q[i] = next;
        }
        if (change <= floor || (change > before / 4 && change < 1e4 * floor))
            return TAUT_OK;
        before = change;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the backward stabilisation did not converge at t = %.9g: use a smaller step "
                     "size",
                     t);
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
        TAUT_TRY(correction(w, error));
        size = taut_largest(w->n, w->step);
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
    bool converge = w->form == PROJECT;
    int most = converge ? MOST_ITERATIONS : w->passes;
    for (int k = 0; k < most; k++) {
        TAUT_TRY(taut_conserve_step(w->conserve, w->saddle, t, w->q, w->v, &off, error));
        if (off <= 1 || (converge && k > 3 && off > before / 2))
            return TAUT_OK;
        before = off;
        if (converge)
            TAUT_TRY(converge_positions(w, t, error));
        TAUT_TRY(project_velocity(w, t, error));
    }
    return TAUT_OK;
}

/* Both corrections from the point (t, q0, v0), into w->q and w->v: (4.8). */
static int move_both(stabilizer *w, double t, const double *q0, const double *v0, taut_error *error)
{
    TAUT_TRY(taut_mechanics_bonds(&w->mechanics, t, q0, v0, 0, error));
    TAUT_TRY(factor(w, t, error));
    if (w->velocity) {
        take_rates(w, v0);
        TAUT_TRY(correction(w, error));
        move(w, w->alpha, w->v);
    }
    if (w->position) {
        take_positions(w);
        TAUT_TRY(correction(w, error));
        move(w, w->alpha, w->q);
    }
    return TAUT_OK;
}

static int move_mechanical(stabilizer *w, double t, const double *q, taut_error *error)
{
    if (w->simple) {
        for (int pass = 0; pass < w->passes; pass++)
            TAUT_TRY(move_both(w, t, w->q, w->v, error));
        return TAUT_OK;
    }
    if (w->position)
        TAUT_TRY(w->form == PROJECT    ? converge_positions(w, t, error)
                 : w->form == BACKWARD ? backward_positions(w, t, q, error)
                                       : newton_positions(w, t, error));
    if (w->velocity)
        TAUT_TRY(project_velocity(w, t, error));
    return w->conserve ? conserve(w, t, error) : TAUT_OK;
}

static int fail_invariants(double t, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the projection onto the invariants did not converge at t = %.9g", t);
}

/* First order, to convergence: (3.10), or (3.7) from z~. */
static int converge_invariants(stabilizer *w, double t, const double *from, taut_error *error)
{
    double before = INFINITY, rounding;
    bool backward = w->form == BACKWARD;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(
            taut_invariants_step(w->invariants, t, w->q, backward ? from : NULL, w->step, error));
        double size = taut_invariants_size(w->invariants, w->q, &rounding), change = 0;
        w->projector.statistics->newton_iterations++;
        if (!backward && (size <= 2 * rounding || (size > before / 4 && size < 1e4 * rounding)))
            return TAUT_OK;
        for (taut_index i = 0; i < w->n; i++) {
            double next = backward ? from[i] - share(w) * w->step[i] : w->q[i] - w->step[i];
            change = taut_larger(change, fabs(next - w->q[i]));
            w->q[i] = next;
        }
        double floor = 4 * DBL_EPSILON * taut_largest(w->n, from);
        if (backward && (change <= floor || (change > before / 4 && change < 1e4 * floor)))
            return TAUT_OK;
        before = backward ? change : size;
    }
    return fail_invariants(t, error);
}

static int move_first_order(stabilizer *w, double t, const double *q, taut_error *error)
{
    if (w->form == PROJECT || w->form == BACKWARD)
        return converge_invariants(w, t, q, error);
    for (int k = 0; k < w->passes; k++) {
        TAUT_TRY(taut_invariants_step(w->invariants, t, w->q, NULL, w->step, error));
        taut_add_scaled(w->n, -w->alpha, w->step, w->q);
    }
    return TAUT_OK;
}

/* Newton's steps of positions, then velocities, by one tape each. False: nothing was moved, and
 * bonds must be evaluated. */
static bool move_fused(stabilizer *w, double t, double *q, double *v)
{
    const double *from = q;
    for (int pass = 0; pass < w->passes; pass++, from = w->q) {
        if (!taut_fused_run(w->fused_q, t, from, v, w->step, NULL, NULL))
            return false;
        taut_moved(w->n, from, w->alpha, w->step, w->q);
    }
    if (!taut_fused_run(w->fused_v, t, w->q, v, w->step, NULL, NULL))
        return false;
    taut_moved(w->n, v, w->alpha, w->step, v);
    taut_copy(w->n, w->q, q);
    w->projector.statistics->factorisations += w->passes + 1;
    w->projector.statistics->solves += w->passes + 1;
    return true;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    stabilizer *w = projector->self;
    bool first = w->invariants;
    if (w->whole && move_fused(w, t, q, v))
        return TAUT_OK;
    taut_copy(w->n, q, w->q);
    taut_copy(first ? 0 : w->n, v, w->v);
    TAUT_TRY(first ? move_first_order(w, t, q, error) : move_mechanical(w, t, q, error));
    taut_copy(w->n, w->q, q);
    taut_copy(first ? 0 : w->n, w->v, v);
    return TAUT_OK;
}

/* (3.4) */
static int apply_from(taut_projector *projector, double t0, const double *q0, const double *v0,
                      double *q, double *v, taut_error *error)
{
    stabilizer *w = projector->self;
    if (w->invariants) {
        TAUT_TRY(taut_invariants_step(w->invariants, t0, q0, NULL, w->step, error));
        taut_add_scaled(w->n, -w->alpha, w->step, q);
        return TAUT_OK;
    }
    taut_copy(w->n, q, w->q);
    taut_copy(w->n, v, w->v);
    TAUT_TRY(move_both(w, t0, q0, v0, error));
    taut_copy(w->n, w->q, q);
    taut_copy(w->n, w->v, v);
    return TAUT_OK;
}

static int apply_nothing(taut_projector *projector, double t, double *q, double *v,
                         taut_error *error)
{
    (void)projector, (void)t, (void)q, (void)v, (void)error;
    return TAUT_OK;
}

/* ---- forms and directions */

static const struct {
    const char *name;
    form_of form;
    const char *of, *direction;
} forms[] = {{"post", POST, "both", "auto"},
             {"forward", FORWARD, "both", "auto"},
             {"backward", BACKWARD, "both", "auto"},
             {"project", PROJECT, "both", "auto"},
             {"post-velocity", POST, "velocity", "simple"},
             {"post-position", POST, "position", "simple"},
             {"post-simple", POST, "both", "simple"}};

static const struct {
    const char *name;
    bool first_order, unit, simple, gradient;
} directions[] = {{.name = "mass"},
                  {.name = "unit", .unit = true},
                  {.name = "simple", .unit = true, .simple = true},
                  {.name = "transpose", .first_order = true},
                  {.name = "gradient", .first_order = true, .gradient = true}};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const char *choose(const char *given, const char *own)
{
    return given && !is(given, "auto") ? given : own;
}

static int set_direction(stabilizer *w, const char *name, bool first_order, taut_error *error)
{
    if (is(name, "auto"))
        name = first_order ? "transpose" : "mass";
    for (size_t k = 0; k < sizeof directions / sizeof directions[0]; k++)
        if (is(directions[k].name, name)) {
            w->unit = directions[k].unit;
            w->simple = directions[k].simple;
            w->gradient = directions[k].gradient;
            if (directions[k].first_order == first_order)
                return TAUT_OK;
            return taut_fail(error, TAUT_ERROR_REFUSED,
                             first_order ? "stabilisation along '%s' is for mechanical systems; "
                                           "first-order ones have transpose and gradient"
                                         : "stabilisation along '%s' is for first-order systems; "
                                           "mechanical ones have mass, unit and simple",
                             name);
        }
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "unknown direction '%.40s' of a stabilisation; choose mass, unit, simple, "
                     "transpose or gradient",
                     name);
}

/* What does not go together. */
static int refuse(const stabilizer *w, bool first_order, taut_error *error)
{
    bool part = !w->position || !w->velocity, newton = w->form == POST || w->form == FORWARD;
    if (first_order && !w->velocity)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation of positions alone is for mechanical systems; first-order "
                         "ones move all variables, or velocities");
    if (w->form == PROJECT && (part || w->alpha != 1))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "project moves positions and velocities all the way; use post for a part");
    if ((w->form == PROJECT || w->form == BACKWARD) && (w->simple || w->gradient))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s solves equations at the new point; directions simple and gradient are "
                         "for post and forward",
                         w->projector.name);
    if (w->gradient && part)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "direction gradient moves all variables; use transpose for velocities");
    if (newton && !w->gradient && !(w->alpha < 2))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "%s with alpha = %.6g amplifies the drift; alpha must be below 2",
                         w->projector.name, w->alpha);
    return TAUT_OK;
}

static int configure(stabilizer *w, const taut_stabilization *how, bool first_order,
                     taut_error *error)
{
    size_t k = 0, count = sizeof forms / sizeof forms[0];
    while (k < count && !is(forms[k].name, how->form))
        k++;
    if (k == count)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "unknown stabilisation '%.40s'; choose post, forward, backward, project, "
                         "post-velocity, post-position or post-simple",
                         how->form);
    const char *of = choose(how->of, forms[k].of),
               *direction = choose(how->direction, forms[k].direction);
    w->projector.name = forms[k].name;
    w->form = forms[k].form;
    w->passes = how->passes > 0 ? how->passes : 1;
    w->alpha = how->alpha > 0 ? how->alpha : 1;
    w->position = !is(of, "velocity");
    w->velocity = !is(of, "position");
    /* Table 3.1 */
    if (first_order && is(forms[k].name, "post-velocity"))
        direction = choose(how->direction, "auto");
    TAUT_TRY(set_direction(w, direction, first_order, error));
    return refuse(w, first_order, error);
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
    bool plain = (w->form == POST || w->form == PROJECT) && !w->unit && w->position &&
                 w->velocity && w->alpha == 1;
    if (w->conserve && !plain)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation '%s' is for rigid bonds alone; [invariants] need post or "
                         "project of both, along mass, with alpha = 1",
                         w->projector.name);
    TAUT_TRY(TAUT_RESERVE(arena, x->rods, error, &w->residual));
    if (w->unit) {
        TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->ones));
        for (taut_index i = 0; i < w->n; i++)
            w->ones[i] = 1;
    }
    if (!w->unit && !w->conserve) { /* invariants need the matrix that was factorised */
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_POSITION, 0, x->rods, x->rod, arena, &w->fused_q,
                                 error));
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_VELOCITY, 0, x->rods, x->rod, arena, &w->fused_v,
                                 error));
        w->whole =
            w->fused_q && w->fused_v && w->form == POST && !w->simple && w->position && w->velocity;
    }
    TAUT_TRY(taut_mechanics_saddle(x, w->unit, true, &arena->allocator, &w->saddle, error));
    /* the others evaluate G without factorising it, or read it by rows */
    if ((w->form == POST || w->form == FORWARD) && !w->conserve)
        taut_mechanics_columns(x, taut_mechanics_room(x, w->saddle));
    return TAUT_OK;
}

static int fill(stabilizer *w, taut_context *context, const taut_sizes *sizes, taut_arena *arena,
                taut_error *error)
{
    w->n = sizes->coordinates;
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->q, &w->v, &w->step));
    if (sizes->kind == TAUT_MECHANICAL)
        return fill_mechanical(w, context, arena, error);
    taut_invariants_of which = w->gradient   ? TAUT_INVARIANTS_GRADIENT
                               : w->position ? TAUT_INVARIANTS_ALL
                                             : TAUT_INVARIANTS_VELOCITY;
    return taut_invariants_create(context, which, arena, w->projector.statistics, &w->invariants,
                                  error);
}

int taut_stabilizer_create(const taut_stabilization *how, taut_context *context, taut_arena *arena,
                           taut_statistics *statistics, taut_projector **projector,
                           taut_error *error)
{
    *projector = NULL;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    if (sizes.kind == TAUT_BLACK_BOX)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "a black box has no equations to be stabilised");
    if (how->passes < 0)
        return taut_fail(error, TAUT_ERROR_USAGE, "the number of passes must not be negative");
    stabilizer *w = TAUT_NEW(arena, stabilizer, 1);
    TAUT_NEED(error, w);
    TAUT_TRY(configure(w, how, sizes.kind == TAUT_FIRST_ORDER, error));
    bool forward = w->form == FORWARD;
    w->projector = (taut_projector){.name = w->projector.name,
                                    .apply = forward ? apply_nothing : apply,
                                    .apply_from = forward ? apply_from : NULL,
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
