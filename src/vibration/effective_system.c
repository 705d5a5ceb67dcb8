/* effective_system.c - the effective system: what fast vibration of bounded energy does to the
 * slow motion.
 *
 *     M V' = f(X) - grad W(X) - G(X)^T Lambda, g(X) = 0, W(X) = sum_k J_k Omega_k(X)
 *     [E (7)-(8)]
 *
 * It is a derived system: bonds that are not soft have compliance 0, W joins the potential and
 * -grad W the force, and all methods for rigid systems integrate it. Everything else is
 * evaluated by a context of the base system, in the arena of this one. The Hessian of W is
 * dense in each group of springs and formed by differences of the exact gradient; the tangent
 * pattern is full (up to 500 coordinates; beyond, what falls outside the base's pattern is left out
 * of df/dq). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "system/system.h"
#include "vibration/effective.h"

enum { FULL_MOST = 500 };

typedef struct effective { /* of a system */
    const taut_system *base;
    int modes;
    double *action; /* J, [modes] */
    bool full;      /* the tangent pattern is n x n */
} effective;

typedef struct workspace { /* of a context */
    taut_context *base;
    taut_allocator allocator; /* gives memory of our arena to the base's context */
    taut_modes_work modes;
    taut_pattern tangent; /* of the base; start NULL when no matrices are needed */
    double *gradient;     /* [n] of W */
    /* [n]: a displaced point, gradients on both sides, how far these are apart */
    double *x, *up, *down, *width;
    double *entries[5]; /* on the base's tangent pattern, before they are spread */
} workspace;

/* ---- refusals */

static int accept(const taut_system *base, taut_error *error)
{
    unsigned can = base->sizes.can;
    const char *why = NULL;
    if (base->sizes.kind != TAUT_MECHANICAL)
        why = "it exists for mechanical systems only";
    else if (can & TAUT_HAS_STIFF_POTENTIAL)
        why = "a stiff potential has no bonds that could become rigid: write it as bonds with a "
              "stiffness";
    else if (!(can & TAUT_HAS_SPRINGS))
        why = "nothing vibrates: give some bonds a stiffness, or use the rigid motion";
    else if (can & TAUT_HAS_DAMPING)
        why = "damped bonds do not keep their actions: omit `damping`, or use the slow motion";
    else if (taut_system_velocity_forces(base))
        why = "forces that depend on velocities change the actions: omit them, or use an impulse "
              "method, or the slow or full motion";
    else if ((can & TAUT_HAS_VARYING_MASS) && !(can & TAUT_HAS_KINETIC))
        why = "a varying [mass] is not a Hamiltonian system: state the kinetic energy in [kinetic]";
    else if (!(can & TAUT_CAN_INVERT_MASS))
        why = "the mass matrix must be regular: give every coordinate a mass";
    return why ? taut_fail(error, TAUT_ERROR_REFUSED, "no effective motion: %s", why) : 0;
}

/* ---- contexts */

static void *arena_allocate(void *user, size_t bytes)
{
    return taut_arena_get(user, (int64_t)bytes, 1);
}

static void arena_release(void *user, void *block)
{
    (void)user; /* the arena frees it */
    (void)block;
}

static int reserve(workspace *w, taut_context *context, taut_error *error)
{
    taut_arena *arena = &context->arena;
    taut_index n = context->system->sizes.coordinates;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &w->gradient, &w->x, &w->up, &w->down, &w->width));
    TAUT_TRY(taut_system_pattern(w->base->system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    for (size_t k = 0; k < sizeof w->entries / sizeof w->entries[0]; k++)
        TAUT_TRY(TAUT_RESERVE(arena, w->tangent.start[n], error, &w->entries[k]));
    return 0;
}

/* The base's values in our own arrays: outputs, events and methods read these. */
static int copy_values(taut_context *context, const workspace *w, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    if (!w->base->system->attach)
        TAUT_TRY(taut_context_renew(context, error));
    taut_copy(sizes->bonds, w->base->compliance, context->compliance);
    taut_copy(sizes->bonds, w->base->damping, context->damping);
    taut_copy(sizes->coordinates, w->base->mass, context->mass);
    return 0;
}

static int attach(taut_context *context, taut_error *error)
{
    const effective *e = context->system->extra;
    workspace *w = context->extra = TAUT_NEW(&context->arena, workspace, 1);
    TAUT_NEED(error, w);
    w->allocator = (taut_allocator){arena_allocate, arena_release, &context->arena};
    TAUT_TRY(taut_context_create(e->base, &w->allocator, &w->base, error));
    TAUT_TRY(reserve(w, context, error));
    TAUT_TRY(copy_values(context, w, error));
    TAUT_TRY(taut_modes_create(&w->modes, w->base, &w->base->arena, TAUT_MODES_GRADIENT,
                               TAUT_SPECTRUM_DENSE_LIMIT, error));
    return 0;
}

static int start(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    const workspace *w = context->extra;
    return taut_context_start(w->base, t, q, v, error);
}

/* Parameters that were set in our context hold in the base's too. */
static int follow_parameters(const taut_context *context, workspace *w, taut_error *error)
{
    for (taut_index k = 0; k < context->system->sizes.parameters; k++)
        if (context->parameter[k] != w->base->parameter[k])
            TAUT_TRY(taut_context_set_parameter(w->base, k, context->parameter[k], error));
    return 0;
}

/* ---- evaluation */

static int find_gradient(const effective *e, workspace *w, double t, const double *q,
                         double *gradient, taut_error *error)
{
    TAUT_TRY(taut_modes_find(&w->modes, t, q, error));
    if (w->modes.count != e->modes)
        return taut_fail(
            error, TAUT_ERROR_EVALUATE,
            "at t = %.9g there are %d stiff modes, but %d actions: a mode has vanished", t,
            w->modes.count, e->modes);
    return gradient ? taut_modes_gradient(&w->modes, t, q, e->action, gradient, error) : 0;
}

/* The spreads of base entries over a full pattern. */
static void spread(const effective *e, const workspace *w, taut_index n, const double *from,
                   double *to)
{
    if (!e->full) {
        taut_copy(w->tangent.start[n], from, to);
        return;
    }
    memset(to, 0, (size_t)n * (size_t)n * sizeof(double));
    for (taut_index i = 0; i < n; i++)
        taut_row_add(&w->tangent, from, i, 1, to + (int64_t)i * n);
}

/* The columns of Hess W that belong to coordinate number `local` of every group, from gradients on
 * both sides; those of different groups share no row. */
static void subtract_columns(const effective *e, const workspace *w, taut_index n, taut_index local,
                             double *force_dq)
{
    for (taut_index g = 0; g < w->modes.groups; g++) {
        const taut_mode_group *group = &w->modes.group[g];
        taut_index j = local < group->n ? group->coordinate[local] : -1;
        for (taut_index k = 0; j >= 0 && k < group->n; k++) {
            taut_index i = group->coordinate[k],
                       at = e->full ? i * n + j : taut_row_find(&w->tangent, i, j);
            if (at >= 0)
                force_dq[at] -= (w->up[i] - w->down[i]) / w->width[j];
        }
    }
}

/* force_dq -= Hess W, by central differences; steps of eps^(1/3) balance rounding and truncation.
 * One coordinate of every group is displaced at a time. */
static int subtract_hessian(const effective *e, workspace *w, taut_index n, double t,
                            const double *q, double *force_dq, taut_error *error)
{
    taut_index most = 0;
    for (taut_index g = 0; g < w->modes.groups; g++)
        most = w->modes.group[g].n > most ? w->modes.group[g].n : most;
    for (taut_index local = 0; local < most; local++) {
        for (int side = 1; side >= -1; side -= 2) {
            taut_copy(n, q, w->x);
            for (taut_index g = 0; g < w->modes.groups; g++)
                if (local < w->modes.group[g].n) {
                    taut_index j = w->modes.group[g].coordinate[local];
                    double h = 6e-6 * fmax(1, fabs(q[j])), up = q[j] + h, down = q[j] - h;
                    w->x[j] = side > 0 ? up : down;
                    w->width[j] = up - down;
                }
            TAUT_TRY(find_gradient(e, w, t, w->x, side > 0 ? w->up : w->down, error));
        }
        subtract_columns(e, w, n, local, force_dq);
    }
    return 0;
}

/* What lives on the tangent pattern: where the base puts it, and where it goes. */
static int evaluate_base(const effective *e, workspace *w, taut_index n, double t, const double *q,
                         const double *v, unsigned wanted, taut_values *values, taut_error *error)
{
    taut_values base = *values;
    double **to[] = {&base.bond_hessian, &base.force_dq, &base.force_dv, &base.mass, &base.mass_dq};
    double *const target[] = {values->bond_hessian, values->force_dq, values->force_dv,
                              values->mass, values->mass_dq};
    const unsigned bit[] = {TAUT_WANT_BOND_HESSIAN, TAUT_WANT_FORCE_DQ, TAUT_WANT_FORCE_DV,
                            TAUT_WANT_MASS, TAUT_WANT_MASS_DQ};
    bool diagonal = w->base->system->sizes.mass == TAUT_MASS_DIAGONAL;
    for (int k = 0; k < 5; k++)
        if ((wanted & bit[k]) && !(bit[k] == TAUT_WANT_MASS && diagonal))
            *to[k] = w->entries[k];
    TAUT_TRY(taut_evaluate_inside(w->base, t, q, v, wanted, &base, error));
    for (int k = 0; k < 5; k++)
        if ((wanted & bit[k]) && !(bit[k] == TAUT_WANT_MASS && diagonal))
            spread(e, w, n, w->entries[k], target[k]);
    values->kinetic = base.kinetic;
    values->potential = base.potential;
    values->bond_energy = base.bond_energy;
    values->stiff_energy = base.stiff_energy;
    return 0;
}

/* W joins the potential; springs that became rigid have no energy. */
static void correct_energy(const effective *e, const workspace *w, taut_values *values)
{
    const taut_modes_work *modes = &w->modes;
    for (int k = 0; k < modes->count; k++)
        values->potential += e->action[k] * modes->frequency[k];
    for (taut_index s = 0; s < modes->springs; s++) {
        double g = modes->values.bond[modes->spring[s]];
        values->bond_energy -= g * g / (2 * w->base->compliance[modes->spring[s]]);
    }
}

static int evaluate(taut_context *context, double t, const double *q, const double *v,
                    unsigned wanted, taut_values *values, taut_error *error)
{
    const effective *e = context->system->extra;
    workspace *w = context->extra;
    taut_index n = context->system->sizes.coordinates;
    TAUT_TRY(follow_parameters(context, w, error));
    TAUT_TRY(evaluate_base(e, w, n, t, q, v, wanted, values, error));
    if (wanted & TAUT_WANT_FORCE_DQ)
        TAUT_TRY(subtract_hessian(e, w, n, t, q, values->force_dq, error));
    if (wanted & (TAUT_WANT_FORCE | TAUT_WANT_ENERGY))
        TAUT_TRY(find_gradient(e, w, t, q, wanted & TAUT_WANT_FORCE ? w->gradient : NULL, error));
    for (taut_index i = 0; (wanted & TAUT_WANT_FORCE) && i < n; i++)
        values->force[i] -= w->gradient[i];
    if (wanted & TAUT_WANT_ENERGY)
        correct_energy(e, w, values);
    return 0;
}

double taut_effective_cost(const taut_context *context)
{
    const workspace *w = context && context->system->evaluate == evaluate ? context->extra : NULL;
    return w ? taut_modes_cost(&w->modes) : 0;
}

/* ---- making */

static int make_pattern(taut_system *system, effective *e, taut_error *error)
{
    taut_index n = system->sizes.coordinates;
    e->full = n <= FULL_MOST;
    if (!e->full)
        return 0;
    taut_index *from = TAUT_NEW(&system->arena, taut_index, n + 1),
               *column = TAUT_NEW(&system->arena, taut_index, (int64_t)n * n);
    TAUT_NEED(error, from, column);
    for (taut_index i = 0; i <= n; i++)
        from[i] = i * n;
    for (taut_index k = 0; k < n * n; k++)
        column[k] = k % n;
    system->base = NULL; /* the pattern is our own */
    return taut_system_set_tangent(system, &(taut_pattern){n, n, from, column}, error);
}

static void set_capabilities(taut_system *system)
{
    unsigned lost = TAUT_HAS_SPRINGS | TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES;
    system->sizes.can = (system->sizes.can & ~lost) | TAUT_HAS_RIGID;
    for (taut_index i = 0; i < system->sizes.bonds; i++)
        if (system->soft && system->soft[i] && !(system->muted && system->muted[i]))
            system->sizes.can |= TAUT_HAS_SPRINGS;
}

static int fill(taut_system *system, const taut_system *base, const double *action, int modes,
                taut_error *error)
{
    effective *e = TAUT_NEW(&system->arena, effective, 1);
    double *copy = TAUT_NEW(&system->arena, double, modes);
    TAUT_NEED(error, e, copy);
    for (int k = 0; k < modes; k++) {
        copy[k] = action[k];
        if (!(action[k] >= 0) || !isfinite(action[k]))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "action %d is %g: actions are finite and not negative", k + 1,
                             action[k]);
    }
    *e = (effective){.base = base, .modes = modes, .action = copy};
    system->rigid = true;
    system->evaluate = evaluate;
    system->attach = attach;
    system->start = start;
    system->extra = e;
    set_capabilities(system);
    return make_pattern(system, e, error);
}

int taut_system_effective(const taut_system *base, const double *action, int modes,
                          taut_system **result, taut_error *error)
{
    if (result)
        *result = NULL;
    TAUT_REQUIRE(base && action && result);
    TAUT_TRY(accept(base, error));
    if (modes < 1)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "an effective system needs one action for each mode, not %d in all",
                         modes);
    taut_system *system = taut_system_derive(base, NULL);
    TAUT_NEED(error, system);
    int status = fill(system, base, action, modes, error);
    if (status) {
        taut_system_destroy(system);
        return status;
    }
    *result = system;
    return 0;
}

/* Energy of stretches that are rounding errors: actions below it are none. */
static double noise(const taut_context *context, const double *q)
{
    double g = 8 * DBL_EPSILON * taut_largest(context->system->sizes.coordinates, q), energy = 0;
    for (taut_index i = 0; i < context->system->sizes.bonds; i++)
        energy += context->compliance[i] > 0 ? g * g / (2 * context->compliance[i]) : 0;
    return energy;
}

static int actions_at_start(taut_context *context, double t, taut_arena *arena, taut_mode **mode,
                            taut_modes_report *report, taut_error *error)
{
    taut_index n = context->system->sizes.coordinates, m = context->system->sizes.bonds;
    double *q, *v;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &q, &v));
    *mode = TAUT_NEW(arena, taut_mode, m);
    TAUT_NEED(error, *mode);
    TAUT_TRY(taut_context_start(context, t, q, v, error));
    TAUT_TRY(taut_modes(context, t, q, v, m, *mode, report, error));
    if (report->found == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "no effective motion: it needs at least one stiff spring that can move");
    double least = noise(context, q);
    for (int k = 0; k < report->found; k++)
        if ((*mode)[k].energy <= least)
            (*mode)[k].action = 0;
    return 0;
}

int taut_effective_from_start(const taut_system *base, double t, taut_system **system,
                              taut_error *error)
{
    *system = NULL;
    TAUT_TRY(accept(base, error));
    taut_arena arena;
    taut_context *context = NULL;
    taut_mode *mode = NULL;
    taut_modes_report report = {.size = sizeof report};
    taut_arena_init(&arena, &base->arena.allocator);
    int status = taut_context_create(base, NULL, &context, error);
    if (status == 0)
        status = actions_at_start(context, t, &arena, &mode, &report, error);
    double *action = status ? NULL : TAUT_NEW(&arena, double, report.found);
    if (status == 0 && !action)
        status = taut_fail_memory(error);
    for (int k = 0; status == 0 && k < report.found; k++)
        action[mode[k].place] = mode[k].action;
    if (status == 0)
        status = taut_system_effective(base, action, report.found, system, error);
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return status;
}
