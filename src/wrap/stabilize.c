/* stabilize.c - see stabilize.h: forms of stabilisation after any step, their options, and
 * first-order systems; rigid bonds are in stabilize_bonds.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/loops.h"
#include "base/method.h"
#include "system/system.h"
#include "wrap/stabilize_work.h"

static int fail_invariants(double t, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the projection onto the invariants did not converge at t = %.9g", t);
}

/* First order, to convergence: (3.10), or (3.7) from z~. */
static int converge_invariants(taut_stabilizer *w, double t, const double *from, taut_error *error)
{
    double before = INFINITY, rounding;
    bool backward = w->form == TAUT_FORM_BACKWARD;
    for (int k = 0; k < TAUT_STABILIZE_ITERATIONS; k++) {
        TAUT_TRY(
            taut_invariants_step(w->invariants, t, w->q, backward ? from : NULL, w->step, error));
        double size = taut_invariants_size(w->invariants, w->q, &rounding), change = 0;
        w->projector.statistics->newton_iterations++;
        if (!backward && (size <= 2 * rounding || (size > before / 4 && size < 1e4 * rounding)))
            return TAUT_OK;
        for (taut_index i = 0; i < w->n; i++) {
            double next =
                backward ? from[i] - taut_stabilizer_share(w) * w->step[i] : w->q[i] - w->step[i];
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

static int move_first_order(taut_stabilizer *w, double t, const double *q, taut_error *error)
{
    if (w->form == TAUT_FORM_PROJECT || w->form == TAUT_FORM_BACKWARD)
        return converge_invariants(w, t, q, error);
    for (int k = 0; k < w->passes; k++) {
        TAUT_TRY(taut_invariants_step(w->invariants, t, w->q, NULL, w->step, error));
        taut_add_scaled(w->n, -w->alpha, w->step, w->q);
    }
    return TAUT_OK;
}

/* A first call after a step, or a later one. */
static void note_step(taut_stabilizer *w, double t)
{
    int64_t steps = w->projector.statistics->steps;
    w->row = steps == w->seen;
    if (w->row)
        return;
    w->seen = steps;
    w->before = w->t;
    w->t = t;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    taut_stabilizer *w = projector->self;
    bool first = w->invariants;
    note_step(w, t);
    if (w->whole && taut_stabilizer_move_fused(w, t, q, v))
        return TAUT_OK;
    taut_loop_copy(w->pool, w->n, q, w->q);
    taut_loop_copy(w->pool, first ? 0 : w->n, v, w->v);
    TAUT_TRY(first ? move_first_order(w, t, q, error) : taut_stabilizer_move_bonds(w, t, q, error));
    taut_loop_copy(w->pool, w->n, w->q, q);
    taut_loop_copy(w->pool, first ? 0 : w->n, w->v, v);
    return TAUT_OK;
}

/* (3.4) */
static int apply_from(taut_projector *projector, double t0, const double *q0, const double *v0,
                      double *q, double *v, taut_error *error)
{
    taut_stabilizer *w = projector->self;
    if (w->invariants) {
        TAUT_TRY(taut_invariants_step(w->invariants, t0, q0, NULL, w->step, error));
        taut_add_scaled(w->n, -w->alpha, w->step, q);
        return TAUT_OK;
    }
    note_step(w, t0);
    taut_copy(w->n, q, w->q);
    taut_copy(w->n, v, w->v);
    TAUT_TRY(taut_stabilizer_move_both(w, t0, q0, v0, error));
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
    taut_form form;
    const char *of, *direction;
} forms[] = {{"post", TAUT_FORM_POST, "both", "auto"},
             {"forward", TAUT_FORM_FORWARD, "both", "auto"},
             {"backward", TAUT_FORM_BACKWARD, "both", "auto"},
             {"project", TAUT_FORM_PROJECT, "both", "auto"},
             {"post-velocity", TAUT_FORM_POST, "velocity", "simple"},
             {"post-position", TAUT_FORM_POST, "position", "simple"},
             {"post-simple", TAUT_FORM_POST, "both", "simple"}};

static const struct {
    const char *name;
    bool first_order, mechanical, unit, simple, gradient;
} directions[] = {
    {.name = "mass", .mechanical = true},
    {.name = "unit", .mechanical = true, .unit = true},
    {.name = "simple", .mechanical = true, .unit = true, .simple = true},
    {.name = "transpose", .first_order = true},
    {.name = "gradient", .first_order = true, .mechanical = true, .unit = true, .gradient = true}};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const char *choose(const char *given, const char *own)
{
    return given && !is(given, "auto") ? given : own;
}

static int set_direction(taut_stabilizer *w, const char *name, bool first_order, taut_error *error)
{
    if (is(name, "auto"))
        name = first_order ? "transpose" : "mass";
    for (size_t k = 0; k < sizeof directions / sizeof directions[0]; k++)
        if (is(directions[k].name, name)) {
            w->unit = directions[k].unit;
            w->simple = directions[k].simple;
            w->gradient = directions[k].gradient;
            if (first_order ? directions[k].first_order : directions[k].mechanical)
                return TAUT_OK;
            return taut_fail(error, TAUT_ERROR_REFUSED,
                             first_order ? "stabilisation along '%s' is for mechanical systems; "
                                           "first-order ones have transpose and gradient"
                                         : "stabilisation along '%s' is for first-order systems; "
                                           "mechanical ones have mass, unit, simple and gradient",
                             name);
        }
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "unknown direction '%.40s' of a stabilisation; choose mass, unit, simple, "
                     "transpose or gradient",
                     name);
}

/* What does not go together. */
static int refuse(const taut_stabilizer *w, bool first_order, taut_error *error)
{
    bool part = !w->position || !w->velocity,
         newton = w->form == TAUT_FORM_POST || w->form == TAUT_FORM_FORWARD;
    if (first_order && !w->velocity)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation of positions alone is for mechanical systems; first-order "
                         "ones move all variables, or velocities");
    if (w->form == TAUT_FORM_PROJECT && (part || w->alpha != 1))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "project moves positions and velocities all the way; use post for a part");
    if ((w->form == TAUT_FORM_PROJECT || w->form == TAUT_FORM_BACKWARD) &&
        (w->simple || w->gradient))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s solves equations at the new point; directions simple and gradient are "
                         "for post and forward",
                         w->projector.name);
    if ((w->form == TAUT_FORM_PROJECT || w->form == TAUT_FORM_BACKWARD) &&
        (w->refresh > 1 || w->relax != TAUT_RELAX_NONE))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%s iterates with matrices of the latest point; stabilize-refresh and "
                         "stabilize-solver are for post and forward",
                         w->projector.name);
    if (w->gradient && (w->refresh > 1 || w->relax != TAUT_RELAX_NONE))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "direction gradient has no matrix to be solved with");
    if (first_order && w->gradient && part)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "direction gradient moves all variables; use transpose for velocities");
    if (newton && !w->gradient && !(w->alpha < 2))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "%s with alpha = %.6g amplifies the drift; alpha must be below 2",
                         w->projector.name, w->alpha);
    return TAUT_OK;
}

static int configure(taut_stabilizer *w, const taut_stabilization *how, bool first_order,
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
    w->refresh = how->refresh > 0 ? how->refresh : 1;
    w->relax = how->solver && is(how->solver, "diagonal") ? TAUT_RELAX_DIAGONAL
               : how->solver && is(how->solver, "sor")    ? TAUT_RELAX_SOR
                                                          : TAUT_RELAX_NONE;
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
    taut_stabilizer *w = projector->self;
    if (!w->borrowed)
        taut_saddle_destroy(w->saddle);
    w->saddle = NULL;
    if (w->invariants)
        taut_invariants_destroy(w->invariants);
    w->invariants = NULL;
}

static void archive(taut_projector *projector, taut_archive *to)
{
    taut_stabilizer *w = projector->self;
    if (w->invariants)
        taut_invariants_archive(w->invariants, to);
    if (w->conserve)
        taut_conserve_archive(w->conserve, to);
    if (w->invariants)
        return;
    taut_archive_count(to, &w->seen);
    taut_archive_real(to, &w->enough);
    taut_archive_real(to, &w->before);
    taut_archive_real(to, &w->t);
    for (int k = 0; k < 2 && w->relax != TAUT_RELAX_NONE; k++)
        taut_archive_reals(to, w->guess[k], w->mechanics.rods);
    if (w->refresh <= 1)
        return;
    taut_archive_count(to, &w->epoch);
    taut_saddle_archive(w->saddle, to);
}

static int fill(taut_stabilizer *w, taut_context *context, const taut_sizes *sizes, double *room,
                taut_arena *arena, taut_error *error)
{
    w->n = sizes->coordinates;
    w->pool = context->pool;
    const int64_t apart = taut_apart(w->n);
    w->q = room ? room : TAUT_NEW(arena, double, 3 * apart);
    TAUT_NEED(error, w->q);
    w->v = w->q + apart;
    w->step = w->v + apart;
    if (sizes->kind == TAUT_MECHANICAL)
        return taut_stabilizer_fill_bonds(w, context, arena, error);
    taut_invariants_of which = w->gradient   ? TAUT_INVARIANTS_GRADIENT
                               : w->position ? TAUT_INVARIANTS_ALL
                                             : TAUT_INVARIANTS_VELOCITY;
    TAUT_TRY(taut_invariants_create(context, which, arena, w->projector.statistics, &w->invariants,
                                    error));
    taut_invariants_approximate(w->invariants, w->relax, w->refresh);
    return TAUT_OK;
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
    taut_stabilizer *w = TAUT_NEW(arena, taut_stabilizer, 1);
    TAUT_NEED(error, w);
    TAUT_TRY(configure(w, how, sizes.kind == TAUT_FIRST_ORDER, error));
    bool forward = w->form == TAUT_FORM_FORWARD;
    w->projector = (taut_projector){.name = w->projector.name,
                                    .apply = forward ? apply_nothing : apply,
                                    .apply_from = forward ? apply_from : NULL,
                                    .destroy = destroy,
                                    .archive = archive,
                                    .statistics = statistics,
                                    .self = w};
    w->saddle = how->saddle;
    w->borrowed = how->saddle;
    int status = fill(w, context, &sizes, how->room, arena, error);
    if (status == 0)
        *projector = &w->projector;
    else
        destroy(&w->projector);
    return status;
}

int taut_stabilizer_begin(taut_projector *projector, double t, const double *q, const double *v,
                          taut_error *error)
{
    taut_stabilizer *w = projector->self;
    if (w->conserve)
        return taut_conserve_begin(w->conserve, t, q, v, error);
    return w->invariants ? taut_invariants_begin(w->invariants, t, q, error) : TAUT_OK;
}
