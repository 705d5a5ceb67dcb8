/* potential.c - the projection `constraint` for a system with a stiff potential: the foot point
 * (potential_foot.c), the multipliers of the bonds, all rigid, and the force of the potential in
 * the limit eps -> 0, which takes the place of its multipliers: level 0 of the recursion
 * (potential_recursion.c). */
#include "slow/potential/potential.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/rows.h"
#include "base/vectors.h"

/* ---- the basis */

/* A spring that stretches where the potential is stiff too: the potential's force must not be
 * more than the basis can represent. x[n], e[n] are work. */
static int check_spring(const taut_potential_modes *w, const taut_potential_basis *basis,
                        taut_index bond, double *x, double *e, taut_error *error)
{
    char name[96];
    taut_clear(w->n, x);
    taut_row_add(&w->jacobian, w->values.jacobian, bond, 1, x);
    taut_cholesky_solve(w->n, w->root, x);
    taut_potential_modes_multiply(w, x, e);
    for (int k = 0; k < basis->count; k++) {
        double part = taut_dot(w->n, basis->mode + (int64_t)k * w->n, e);
        taut_add_scaled(w->n, -part, basis->force + (int64_t)k * w->n, e);
    }
    if (taut_potential_modes_force_length(w, e) <=
        1e-6 * basis->value[0] * taut_potential_modes_length(w, x, NULL))
        return TAUT_OK;
    taut_system_name(taut_context_system(w->context), TAUT_BOND, bond, name, sizeof name);
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "spring '%s' and the stiff potential act in the same direction: write the "
                     "spring as part of the stiff potential",
                     name);
}

int taut_potential_find_basis(const taut_projector *foot, taut_arena *arena,
                              taut_potential_basis *basis, taut_error *error)
{
    const taut_potential_modes *w = taut_potential_foot_modes(foot, false, &basis->count);
    const double *c = taut_context_compliance(w->context);
    int64_t n = w->n;
    basis->value = w->value;
    basis->mode = w->mode;
    double *x, *e;
    TAUT_TRY(TAUT_RESERVE(arena, n * basis->count, error, &basis->force));
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &x, &e));
    for (int k = 0; k < basis->count; k++) {
        taut_potential_modes_multiply(w, w->mode + k * n, basis->force + k * n);
        for (taut_index i = 0; i < n; i++)
            basis->force[k * n + i] /= w->value[k];
    }
    for (taut_index i = 0; i < w->m; i++)
        if (c[i] > 0 && w->rigid[i])
            TAUT_TRY(check_spring(w, basis, i, x, e, error));
    return TAUT_OK;
}

double taut_potential_noise(const taut_potential_basis *basis)
{
    return basis->count ? DBL_EPSILON * basis->value[0] / basis->value[basis->count - 1]
                        : DBL_EPSILON;
}

/* ---- the projection */

/* A foot point with the forces of the limit of infinite stiffness there. */
typedef struct limit {
    taut_projector *foot;
    taut_potential_recursion *recursion;
    taut_potential_basis basis;
    taut_potential_values values;
} limit;

static int find_limit(limit *l, taut_context *context, taut_arena *arena,
                      taut_statistics *statistics, const taut_foot_point_settings *settings,
                      double t, double *q, double *v, taut_error *error)
{
    TAUT_TRY(taut_foot_create(&taut_potential_foot, context, arena, statistics, settings, &l->foot,
                              error));
    TAUT_TRY(l->foot->apply(l->foot, t, q, v, error));
    TAUT_TRY(taut_potential_find_basis(l->foot, arena, &l->basis, error));
    TAUT_TRY(taut_potential_recursion_create(context, arena, statistics, 0, &l->recursion, error));
    return taut_potential_recursion_evaluate(l->recursion, &l->basis, 0, t, q, v, &l->values,
                                             error);
}

static void destroy_limit(limit *l)
{
    taut_potential_recursion_destroy(l->recursion);
    if (l->foot)
        l->foot->destroy(l->foot);
}

int taut_potential_constraint(taut_projection *p, taut_error *error)
{
    taut_foot_point_settings settings = {.ignore_holds = !p->in->hold,
                                         .hold = p->in->hold,
                                         .watch = taut_projection_watch,
                                         .user = p};
    limit l = {0};
    int status = find_limit(&l, p->in->context, &p->arena, &p->statistics, &settings, p->in->t,
                            p->q, p->v, error);
    if (status == 0) {
        taut_copy(p->in->sizes.bonds, l.values.lambda + l.basis.count, p->lambda);
        p->stiff_force = l.values.reaction;
        snprintf(p->explanation, sizeof p->explanation,
                 "projection constraint: the foot point where the stiff potential is least (rank "
                 "%d)%s; its force, and multipliers, are those of the limit of infinite stiffness",
                 l.basis.count, p->in->sizes.bonds ? " and the bonds hold, all rigid" : "");
    }
    destroy_limit(&l);
    return status;
}

/* ---- the oscillatory energy of a state */

/* E = (d^T K d + (v-V)^T M (v-V))/2 with d = q - X less the slow displacement, all of the limit
 * of infinite stiffness; (x, u) is the foot point. */
static int measure_energy(const limit *l, const double *q, const double *v, const double *x,
                          const double *u, taut_arena *arena, double *energy, taut_error *error)
{
    int count = l->basis.count;
    const taut_potential_modes *w = taut_potential_foot_modes(l->foot, false, &count);
    const double *c = taut_context_compliance(w->context);
    const taut_index n = w->n;
    double *d, *force, *rate, *s;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &d, &force, &rate));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &s));
    for (taut_index i = 0; i < w->m; i++)
        s[i] = w->rigid[i] ? c[i] * l->values.lambda[count + i] : 0;
    taut_potential_modes_step(w, 0, s, force, 1, d);
    for (taut_index i = 0; i < n; i++) {
        for (int k = 0; k < count; k++)
            d[i] += l->basis.mode[(int64_t)k * n + i] * l->values.lambda[k] / l->basis.value[k];
        d[i] = q[i] - x[i] - d[i];
        rate[i] = v[i] - u[i];
    }
    taut_potential_modes_multiply(w, d, force);
    double speed = taut_potential_modes_length(w, rate, NULL);
    *energy = (taut_dot(n, d, force) + speed * speed) / 2;
    for (taut_index i = 0; i < w->m; i++) {
        double stretch = taut_row_dot(&w->jacobian, w->values.jacobian, i, d);
        if (c[i] > 0 && w->rigid[i])
            *energy += stretch * stretch / (2 * c[i]);
    }
    return TAUT_OK;
}

int taut_potential_oscillatory_energy(taut_context *context, double t, const double *q,
                                      const double *v, const taut_allocator *allocator,
                                      double *energy, taut_error *error)
{
    limit l = {0};
    taut_arena arena;
    taut_sizes sizes;
    taut_statistics aside = {0}; /* a diagnosis, not a part of the work */
    taut_foot_point_settings settings = {.ignore_holds = true};
    taut_system_sizes(taut_context_system(context), &sizes);
    taut_arena_init(&arena, allocator);
    double *x, *u;
    int status = TAUT_RESERVE(&arena, sizes.coordinates, error, &x, &u);
    if (status == 0) {
        taut_copy(sizes.coordinates, q, x);
        taut_copy(sizes.coordinates, v, u);
        status = find_limit(&l, context, &arena, &aside, &settings, t, x, u, error);
    }
    if (status == 0)
        status = measure_energy(&l, q, v, x, u, &arena, energy, error);
    destroy_limit(&l);
    taut_arena_clear(&arena);
    return status;
}
