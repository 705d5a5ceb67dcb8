/* projection_run.c - taut_project: choose a projection, run it, measure what it moved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/structs.h"
#include "point/hold/hold.h"
#include "point/record.h"
#include "point/rigid_foot.h"
#include "project/project.h"
#include "slow/expansion.h"
#include "system/rank_part.h"
#include "system/system.h"
#include "slow/potential/potential.h"
#include "step/shared_forces.h"
#include "system/redundant.h"
#include "base/vectors.h"

/* Settings of [run] that concern a projection; `method` there is that of a run. */
static int read_settings(const taut_system *system, taut_options *merged, taut_error *error)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++) {
        const taut_option *row = taut_option_find(name);
        if (row && row->in_model && strcmp(name, "method") != 0 && strstr(row->verbs, "project"))
            TAUT_TRY(taut_options_set_as(merged, "[run] ", name, value, error));
    }
    return TAUT_OK;
}

/* ---- what the projection moved */

/* x[0], x[1] hold foot points of two states: the distance of these, and of what the states have
 * besides. */
static void measure(const taut_projection *p, const double *before, const double *after,
                    double *const *x, double *normal, double *tangential)
{
    const taut_halo *halo = taut_context_halo(p->in->context);
    const taut_index n = p->in->sizes.coordinates;
    for (taut_index i = 0; i < n; i++) {
        double foot = x[0][i] - x[1][i], rest = (before[i] - x[0][i]) - (after[i] - x[1][i]);
        x[0][i] = foot;
        x[1][i] = rest;
    }
    *tangential = taut_halo_norm(halo, n, x[0]);
    *normal = taut_halo_norm(halo, n, x[1]);
}

/* Foot points of the states (x, u). */
static int find_foot_points(taut_projection *p, double *const *x, double *const *u,
                            taut_error *error)
{
    taut_rigid_foot foot = {0};
    taut_foot_point_settings settings = {.ignore_holds = true, .late = true};
    taut_statistics aside = {0}; /* a diagnosis, not a part of the work */
    int status =
        p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL
            ? taut_foot_create(&taut_potential_foot, p->in->context, &p->arena, &aside, &settings,
                               &foot.projector, error)
            : taut_rigid_foot_create(&foot, p->in->context, &p->arena, &aside, &settings, error);
    for (int k = 0; status == 0 && k < 2; k++)
        status = foot.projector->apply(foot.projector, p->in->t, x[k], u[k], error);
    taut_rigid_foot_destroy(&foot);
    return status;
}

static int measure_moved(taut_projection *p, taut_error *error)
{
    taut_index n = p->in->sizes.coordinates;
    p->moved_normal = p->moved_tangential = p->moved_normal_velocity =
        p->moved_tangential_velocity = NAN;
    if (p->in->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    double *x[2], *u[2];
    for (int k = 0; k < 2; k++) {
        TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &x[k], &u[k]));
        taut_copy(n, k ? p->q : p->in->q, x[k]);
        taut_copy(n, k ? p->v : p->in->v, u[k]);
    }
    taut_error reason;
    int status = find_foot_points(p, x, u, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (status != 0)
        return TAUT_OK; /* redundant springs, or too far: there is nothing to measure from */
    measure(p, p->in->q, p->q, x, &p->moved_normal, &p->moved_tangential);
    measure(p, p->in->v, p->v, u, &p->moved_normal_velocity, &p->moved_tangential_velocity);
    return TAUT_OK;
}

/* ---- the object */

/* Memory for a result; it is the given state so far. */
static int reserve(taut_projection *p, taut_projection_input given, const double *q,
                   const double *v, taut_error *error)
{
    taut_projection_input *in = TAUT_NEW(&p->arena, taut_projection_input, 1);
    taut_system_sizes(given.system, &given.sizes);
    taut_index n = given.sizes.coordinates,
               nv = given.sizes.kind == TAUT_MECHANICAL ? n : given.sizes.algebraic;
    TAUT_NEED(error, in);
    TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &p->q));
    TAUT_TRY(TAUT_RESERVE(&p->arena, nv, error, &p->v));
    TAUT_TRY(TAUT_RESERVE(&p->arena, given.sizes.bonds, error, &p->lambda));
    p->in = &given;
    taut_projection_move(p, q, v);
    return taut_projection_begin_at(p, q, v, in, error);
}

int taut_projection_create(taut_context *context, double t, const double *q, const double *v,
                           const unsigned char *hold, const taut_allocator *allocator,
                           taut_projection **projection, taut_error *error)
{
    taut_projection_input given = {
        .system = taut_context_system(context), .context = context, .t = t, .hold = hold};
    taut_projection *p = *projection = allocator->allocate(allocator->user, sizeof *p);
    TAUT_NEED(error, p);
    *p = (taut_projection){.status = TAUT_OK, .ratio = NAN, .ratio_time = NAN, .noise = NAN};
    taut_arena_init(&p->arena, allocator);
    int status = reserve(p, given, q, v, error);
    if (status != 0) {
        taut_projection_destroy(p);
        *projection = NULL;
    }
    return status;
}

/* A pass of a filter moves a state along the bonds by about as much as it was off them [A 4.2].
 * What has gone ten times as far has followed a motion along the bonds that is nearly as fast as
 * the springs, to another slow point. */
static int check_drift(const taut_projection *p, taut_error *error)
{
    /* poor: of the size of the state, as in projection_kernel.c */
    const double most = 10, poor = 1e-4;
    /* else there is more across */
    bool springs =
        p->in->sizes.can & TAUT_HAS_SPRINGS && !(p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL);
    if (!p->method->moves_slow || !springs || p->in->hold ||
        !(p->moved_tangential >
          most * p->moved_normal + poor * taut_largest(p->in->sizes.coordinates, p->in->q)))
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the passes of %s have followed the motion along the bonds, by %.3g where the "
                     "initial state was off them by %.3g: slow and fast are not separated at this "
                     "state; use projection series",
                     p->method->name, p->moved_tangential, p->moved_normal);
}

/* The state and its multipliers; then what they are measured by. */
static int find(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    bool slow = false;
    if (p->method->moves_slow && !settings->inside)
        TAUT_TRY(taut_projection_is_slow(p, &slow, error));
    if (!slow)
        TAUT_TRY(p->method->project(p, settings, error));
    if (settings->expansion && !p->expansion)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "expansion",
                                "projection %s does not expand in the compliance; use projection "
                                "series, with bonds that are springs",
                                p->method->name);
    if (settings->richardson > 0)
        TAUT_TRY(taut_richardson(p, settings, error));
    if (settings->inside)
        return TAUT_OK;
    TAUT_TRY(measure_moved(p, error));
    return check_drift(p, error);
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    p->method = settings->method;
    TAUT_TRY(taut_projection_ranks(p, settings, error));
    if (settings->expansion && taut_hold_any(p->in->hold, p->in->sizes.coordinates,
                                             TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY))
        return taut_fail_option(
            error, TAUT_ERROR_REFUSED, "expansion",
            "the expansion is that of a state in which nothing is held; release what is held");
    TAUT_TRY(taut_projection_check(p->method, &p->in->sizes, error));
    if (settings->record)
        TAUT_TRY(taut_record_create(p, error));
    p->status = find(p, settings, error);
    taut_record_end(p);
    if (p->status == 0)
        return TAUT_OK;
    if (p->status > 0) /* a callback cannot evaluate here */
        p->status = taut_fail(error, TAUT_ERROR_EVALUATE,
                              "the system cannot be evaluated on the way from the initial state");
    taut_projection_restore(p);
    return p->status;
}

int taut_project_state(taut_context *context, double t, const double *q, const double *v,
                       const taut_projection_settings *settings, const taut_allocator *allocator,
                       taut_projection **projection, taut_error *error)
{
    taut_projection *p = NULL;
    *projection = NULL;
    TAUT_TRY(taut_projection_create(context, t, q, v, settings->hold, allocator, &p, error));
    int status = project(p, settings, error);
    if (status == 0 || status == TAUT_ERROR_CONVERGE)
        *projection = p;
    else
        taut_projection_destroy(p);
    return status;
}

/* ---- from options */

/* What the boundary of the library has to make of options and model before a projection. */
/* [run] of the model, then what the caller gives. */
static int merge(const taut_system *system, const taut_options *options, taut_options *merged,
                 taut_arena *arena, taut_projection_settings *settings, taut_error *error)
{
    TAUT_TRY(read_settings(system, merged, error));
    TAUT_TRY(taut_options_merge(merged, options, error));
    TAUT_TRY(taut_projection_settings_read(merged, settings, error));
    return taut_hold_names(system, taut_options_text(merged, "hold"), arena, &settings->hold,
                           error);
}

int taut_projection_settings_for(const taut_system *system, const taut_options *options,
                                 taut_arena *arena, taut_projection_settings *settings,
                                 taut_error *error)
{
    taut_options *merged = NULL;
    TAUT_TRY(taut_options_create(&arena->allocator, &merged, error));
    int status = merge(system, options, merged, arena, settings, error);
    taut_options_destroy(merged);
    return status;
}

typedef struct request {
    taut_arena arena;
    taut_projection_settings settings;
    taut_context *context;
    taut_redundancy redundancy;
    double *q, *v;
} request;

static int prepare(request *r, const taut_system *system, const taut_options *options,
                   taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    TAUT_TRY(taut_projection_ranks_begin(system, options, error));
    TAUT_TRY(taut_projection_settings_for(system, options, &r->arena, &r->settings, error));
    TAUT_TRY(TAUT_RESERVE(&r->arena, sizes.coordinates, error, &r->q));
    TAUT_TRY(TAUT_RESERVE(&r->arena,
                          sizes.kind == TAUT_MECHANICAL ? sizes.coordinates : sizes.algebraic,
                          error, &r->v));
    TAUT_TRY(taut_context_create(system, &r->arena.allocator, &r->context, error));
    TAUT_TRY(taut_context_start(r->context, r->settings.from, r->q, r->v, error));
    TAUT_TRY(taut_redundancy_find(system, r->settings.from, r->q, r->v, &r->arena.allocator,
                                  &r->redundancy, error));
    if (!r->redundancy.independent)
        return TAUT_OK;
    taut_context_destroy(r->context);
    r->context = NULL;
    return taut_context_create(r->redundancy.independent, &r->arena.allocator, &r->context, error);
}

/* Redundant rigid bonds: the multipliers of all of them. */
static int share_forces(request *r, const taut_system *system, taut_projection *p,
                        taut_error *error)
{
    taut_shared_forces shared;
    if (!p || !r->redundancy.independent)
        return TAUT_OK;
    taut_projection_input *in = TAUT_NEW(&p->arena, taut_projection_input, 1);
    TAUT_NEED(error, in);
    *in = *p->in;
    in->system = system; /* the other one ends with the request */
    p->in = in;
    int status = taut_shared_forces_create(&shared, system, &r->arena, error);
    if (status == 0)
        status = taut_shared_forces_spread(&shared, in->t, p->q, p->lambda, error);
    if (status == 0)
        taut_copy(in->sizes.bonds, shared.lambda, p->lambda);
    taut_shared_forces_destroy(&shared);
    taut_explain_more(p, "; the rigid bonds have rank %d of %d, multipliers of least norm",
                      (int)r->redundancy.rank, (int)r->redundancy.rows);
    return status;
}

int taut_project(const taut_system *system, const taut_options *options,
                 const taut_allocator *allocator, taut_projection **projection, taut_error *error)
{
    taut_error_clear(error);
    if (!projection || !system)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_project: system and projection must not be NULL");
    *projection = NULL;
    request r = {0};
    taut_allocator from = taut_allocator_or_default(allocator);
    taut_arena_init(&r.arena, &from);
    int status = prepare(&r, system, options, error);
    if (status == 0)
        status = taut_project_state(r.context, r.settings.from, r.q, r.v, &r.settings, &from,
                                    projection, error);
    int shared = share_forces(&r, system, *projection, status == 0 ? error : NULL);
    status = status == 0 ? shared : status;
    if (status == 0 && (*projection)->lambda)
        taut_context_tensions(r.context, r.settings.from, (*projection)->lambda,
                              (*projection)->lambda);
    if (status == 0)
        taut_projection_unread(*projection, options);
    taut_context_destroy(r.context);
    taut_system_destroy(r.redundancy.independent);
    taut_arena_clear(&r.arena);
    return status;
}

void taut_projection_destroy(taut_projection *projection)
{
    if (!projection)
        return;
    taut_allocator from = projection->arena.allocator;
    taut_system_destroy(projection->whole);
    taut_arena_clear(&projection->arena);
    from.release(from.user, projection);
}

int taut_projection_result_get(const taut_projection *p, taut_projection_result *result,
                               taut_error *error)
{
    TAUT_REQUIRE(p);
    taut_projection_result own = {.status = p->status,
                                  .t = p->in->t,
                                  .method = p->method->name,
                                  .explanation = p->explanation,
                                  .q = p->q,
                                  .v = p->v,
                                  .lambda = p->lambda,
                                  .stiff_force = p->stiff_force,
                                  .start_q = p->in->q,
                                  .start_v = p->in->v,
                                  .passes = p->passes,
                                  .moved_normal = p->moved_normal,
                                  .moved_tangential = p->moved_tangential,
                                  .moved_normal_velocity = p->moved_normal_velocity,
                                  .moved_tangential_velocity = p->moved_tangential_velocity,
                                  .statistics = p->statistics,
                                  .ratio = p->ratio,
                                  .ratio_time = p->ratio_time,
                                  .noise = p->noise,
                                  .ratio_bound = p->ratio_bound};
    return taut_struct_fill(result, &own, sizeof own, "taut_projection_result", error);
}

const char *taut_projection_warning(const taut_projection *p, int k)
{
    return p ? taut_warning_text(&p->warnings, k) : NULL;
}

bool taut_projection_pass(const taut_projection *p, int64_t k, const double **g,
                          const double **gdot, int64_t *force_evaluations)
{
    if (!p || !p->pass || k < 0 || k > p->passes)
        return false;
    if (g)
        *g = p->pass[k].g;
    if (gdot)
        *gdot = p->pass[k].gdot;
    if (force_evaluations)
        *force_evaluations = p->pass[k].force_evaluations;
    return true;
}

int taut_projection_stage_get(const taut_projection *p, int k, taut_projection_stage *stage,
                              taut_error *error)
{
    TAUT_REQUIRE(p && k >= 0 && k < p->stages);
    return taut_struct_fill(stage, &p->stage[k], sizeof *stage, "taut_projection_stage", error);
}

bool taut_projection_expansion(const taut_projection *p, int k, const double **q, const double **v,
                               double *eps2)
{
    if (!p || !p->expansion || k < 0 || k >= TAUT_EXPANSION_TERMS)
        return false;
    if (q)
        *q = p->expansion->q[k];
    if (v)
        *v = p->expansion->v[k];
    if (eps2)
        *eps2 = p->expansion->eps2;
    return true;
}
