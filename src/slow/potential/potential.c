/* potential.c - the projection `constraint` for a system with a stiff potential: the foot point
 * (potential_foot.c), the multipliers of the bonds, all rigid, and the force of the potential in
 * the limit eps -> 0, which takes the place of its multipliers: level 0 of the recursion
 * (potential_recursion.c). */
#include "slow/potential/potential.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/vectors.h"
#include "base/rows.h"

/* ---- frames */

int taut_potential_reserve(taut_index n, taut_index m, taut_arena *arena,
                           taut_potential_frame *frame, taut_potential_values *values,
                           taut_error *error)
{
    int64_t rows = (int64_t)n + m;
    *frame = (taut_potential_frame){0};
    *values = (taut_potential_values){0};
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)n * n, error, &frame->mode, &frame->force));
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &values->g, &values->gdot, &values->y, &values->ydot,
                          &values->lambda));
    return TAUT_RESERVE(arena, n, error, &frame->value, &values->reaction, &values->acceleration);
}

/* |x| in the metric of M^-1: of a force. */
static double force_size(const taut_potential_modes *w, double *x)
{
    double sum = 0;
    taut_cholesky_lower(w->n, w->root, x);
    for (taut_index i = 0; i < w->n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* A spring that stretches where the potential is stiff too: the potential's force must not be
 * more than its frame can carry. */
static int check_spring(const taut_potential_modes *w, const taut_potential_frame *frame,
                        taut_index bond, double *x, double *e, taut_error *error)
{
    char name[96];
    taut_clear(w->n, x);
    taut_row_add(&w->jacobian, w->values.jacobian, bond, 1, x);
    taut_cholesky_solve(w->n, w->root, x);
    taut_potential_modes_multiply(w, x, e);
    for (int k = 0; k < frame->count; k++) {
        double part = 0;
        for (taut_index i = 0; i < w->n; i++)
            part += frame->mode[(int64_t)k * w->n + i] * e[i];
        for (taut_index i = 0; i < w->n; i++)
            e[i] -= part * frame->force[(int64_t)k * w->n + i];
    }
    taut_cholesky_multiply(w->n, w->root, x);
    double length = 0;
    for (taut_index i = 0; i < w->n; i++)
        length += x[i] * x[i];
    if (force_size(w, e) <= 1e-6 * frame->value[0] * sqrt(length))
        return TAUT_OK;
    taut_system_name(taut_context_system(w->context), TAUT_BOND, bond, name, sizeof name);
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "spring '%s' and the stiff potential hold the same direction: write the "
                     "spring as part of the stiff potential",
                     name);
}

int taut_potential_take_frame(const taut_projector *foot, taut_potential_frame *frame, double *x,
                              double *e, taut_error *error)
{
    const taut_potential_modes *w = taut_potential_foot_modes(foot, false, &frame->count);
    const double *c = taut_context_compliance(w->context);
    int64_t n = w->n;
    for (int k = 0; k < frame->count; k++) {
        frame->value[k] = w->value[k];
        taut_copy(n, w->mode + k * n, frame->mode + k * n);
        taut_potential_modes_multiply(w, w->mode + k * n, frame->force + k * n);
        for (taut_index i = 0; i < n; i++)
            frame->force[k * n + i] /= w->value[k];
    }
    for (taut_index i = 0; i < w->m; i++)
        if (c[i] > 0 && w->rigid[i])
            TAUT_TRY(check_spring(w, frame, i, x, e, error));
    return TAUT_OK;
}

double taut_potential_noise(const taut_potential_frame *frame)
{
    return frame->count ? DBL_EPSILON * frame->value[0] / frame->value[frame->count - 1]
                        : DBL_EPSILON;
}

/* ---- the projection */

static int find_forces(taut_projection *p, const taut_projector *foot, taut_error *error)
{
    taut_index n = p->sizes.coordinates, m = p->sizes.bonds;
    taut_potential_frame frame;
    taut_potential_values values;
    taut_potential_recursion *recursion = NULL;
    TAUT_TRY(taut_potential_reserve(n, m, &p->arena, &frame, &values, error));
    TAUT_TRY(taut_potential_take_frame(foot, &frame, values.reaction, values.acceleration, error));
    TAUT_TRY(taut_potential_recursion_create(p->context, &p->arena, &p->statistics, 0, &recursion,
                                             error));
    int status =
        taut_potential_recursion_evaluate(recursion, &frame, 0, p->t, p->q, p->v, &values, error);
    taut_potential_recursion_destroy(recursion);
    if (status != 0)
        return status;
    taut_copy(m, values.lambda + frame.count, p->lambda);
    p->stiff_force = values.reaction;
    return TAUT_OK;
}

int taut_potential_constraint(taut_projection *p, taut_error *error)
{
    taut_foot_point_settings settings = {
        .ignore_holds = !p->hold, .hold = p->hold, .watch = taut_projection_watch, .user = p};
    taut_projector *foot = NULL;
    int count;
    TAUT_TRY(taut_potential_foot(p->context, &p->arena, &p->statistics, &settings, &foot, error));
    int status = foot->apply(foot, p->t, p->q, p->v, error);
    if (status == 0)
        status = find_forces(p, foot, error);
    if (status == 0) {
        taut_potential_foot_modes(foot, false, &count);
        snprintf(p->explanation, sizeof p->explanation,
                 "projection constraint: the foot point where the stiff potential is least (rank "
                 "%d)%s; its force, and multipliers, are those of the limit of infinite stiffness",
                 count, p->sizes.bonds ? " and the bonds hold, all rigid" : "");
    }
    foot->destroy(foot);
    return status;
}

/* ---- does a state ring? */

typedef struct beside { /* a state beside its slow one */
    taut_projector *foot;
    taut_potential_recursion *recursion;
    taut_potential_frame frame;
    taut_potential_values values;
    double *x, *u, *d, *s, *mass; /* foot point; displacement and its velocity; [m]; [n] */
} beside;

/* E = (d^T K d + (v-V)^T M (v-V))/2 with d = q - X less the slow displacement, all of the limit
 * of infinite stiffness. */
static double energy_beside(beside *b, taut_index n, taut_index m, const double *q, const double *v)
{
    int count;
    const taut_potential_modes *w = taut_potential_foot_modes(b->foot, false, &count);
    const double *c = taut_context_compliance(w->context);
    double energy = 0;
    for (taut_index i = 0; i < m; i++)
        b->s[i] = w->rigid[i] ? c[i] * b->values.lambda[count + i] : 0;
    taut_clear(n, b->values.reaction);
    taut_potential_modes_step(w, 0, b->s, b->values.reaction, 1, b->d);
    for (taut_index i = 0; i < n; i++) {
        double slow = b->d[i];
        for (int k = 0; k < count; k++)
            slow += b->frame.mode[(int64_t)k * n + i] * b->values.lambda[k] / b->frame.value[k];
        b->d[i] = q[i] - b->x[i] - slow;
        b->u[i] = v[i] - b->u[i];
    }
    taut_potential_modes_multiply(w, b->d, b->values.reaction);
    taut_potential_modes_mass(w, b->u, b->mass);
    for (taut_index i = 0; i < n; i++)
        energy += (b->d[i] * b->values.reaction[i] + b->u[i] * b->mass[i]) / 2;
    for (taut_index i = 0; i < m; i++) {
        double stretch = taut_row_dot(&w->jacobian, w->values.jacobian, i, b->d);
        if (c[i] > 0 && w->rigid[i])
            energy += stretch * stretch / (2 * c[i]);
    }
    return energy;
}

static int measure_beside(beside *b, taut_context *context, double t, const double *q,
                          const double *v, taut_arena *arena, double *energy, taut_error *error)
{
    taut_sizes sizes;
    taut_statistics aside = {0}; /* a diagnosis, not a part of the work */
    taut_foot_point_settings settings = {.ignore_holds = true};
    taut_system_sizes(taut_context_system(context), &sizes);
    taut_index n = sizes.coordinates, m = sizes.bonds;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &b->x, &b->u, &b->d, &b->mass));
    if (!(b->s = TAUT_NEW(arena, double, m)))
        return taut_fail_memory(error);
    taut_copy(n, q, b->x);
    taut_copy(n, v, b->u);
    TAUT_TRY(taut_potential_reserve(n, m, arena, &b->frame, &b->values, error));
    TAUT_TRY(taut_potential_foot(context, arena, &aside, &settings, &b->foot, error));
    TAUT_TRY(b->foot->apply(b->foot, t, b->x, b->u, error));
    TAUT_TRY(taut_potential_take_frame(b->foot, &b->frame, b->d, b->mass, error));
    TAUT_TRY(taut_potential_recursion_create(context, arena, &aside, 0, &b->recursion, error));
    TAUT_TRY(taut_potential_recursion_evaluate(b->recursion, &b->frame, 0, t, b->x, b->u,
                                               &b->values, error));
    *energy = energy_beside(b, n, m, q, v);
    return TAUT_OK;
}

int taut_potential_ringing(taut_context *context, double t, const double *q, const double *v,
                           const taut_allocator *allocator, double *energy, taut_error *error)
{
    beside b = {0};
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    int status = measure_beside(&b, context, t, q, v, &arena, energy, error);
    taut_potential_recursion_destroy(b.recursion);
    if (b.foot)
        b.foot->destroy(b.foot);
    taut_arena_clear(&arena);
    return status;
}
