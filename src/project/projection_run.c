/* projection_run.c - taut_project: choose a projection, run it, measure what it moved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/structs.h"
#include "point/foot_point.h"
#include "point/hold/hold.h"
#include "point/record.h"
#include "slow/expansion.h"
#include "slow/potential/potential.h"
#include "base/vectors.h"

/* Options that only ipa has (or shares with kernel) mean ipa. */
static bool means_ipa(const taut_options *options)
{
    static const char *const own[] = {"omega", "window", "micro-steps", "passes", "tolerance"};
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        if (taut_options_given(options, own[k]))
            return true;
    return false;
}

static int choose_method(taut_projection *p, const taut_options *options, taut_error *error)
{
    if (taut_options_given(options, "method")) {
        TAUT_TRY(taut_projection_find(taut_options_text(options, "method"), &p->method, error));
        return taut_projection_check(p->method, p, error);
    }
    if (!means_ipa(options)) {
        p->method = &taut_projection_auto;
        return TAUT_OK;
    }
    /* the first row that takes the system; the reason of the first one for its kind when none
     * does */
    taut_error reason;
    int status = TAUT_OK;
    bool named = false; /* a row for this kind of system has said why it refuses */
    for (int k = 0; k < taut_projection_count() && !p->method; k++) {
        const taut_projection_method *row = taut_projection_row(k);
        int code = taut_projection_check(row, p, &reason);
        if (code == 0)
            p->method = row;
        else if (status == 0 || (row->kinds & 1u << p->sizes.kind && !named)) {
            named = row->kinds & 1u << p->sizes.kind;
            status = code;
            if (error)
                *error = reason;
        }
    }
    if (p->method)
        taut_error_clear(error);
    return p->method ? TAUT_OK : status;
}

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

static double distance(taut_index n, const double *a, const double *b)
{
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Foot points before and after: (x0, u0), (x1, u1), the arrays hold the states on entry. */
static int find_feet(taut_projection *p, double *x0, double *u0, double *x1, double *u1,
                     taut_error *error)
{
    taut_system *rigid = NULL;
    taut_context *context = NULL;
    taut_projector *projector = NULL;
    taut_foot_point_settings settings = {.ignore_holds = true};
    taut_statistics aside = {0}; /* a diagnosis, not a part of the work */
    bool stiff = p->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    int status =
        stiff ? taut_potential_foot(p->context, &p->arena, &aside, &settings, &projector, error)
              : taut_system_rigid(p->system, &rigid, error);
    if (status == 0 && !stiff)
        status = taut_context_create(rigid, &p->arena.allocator, &context, error);
    if (status == 0 && !stiff)
        status = taut_foot_point_create(context, &p->arena, &aside, &settings, &projector, error);
    if (status == 0)
        status = projector->apply(projector, p->t, x0, u0, error);
    if (status == 0)
        status = projector->apply(projector, p->t, x1, u1, error);
    if (projector)
        projector->destroy(projector);
    taut_context_destroy(context);
    taut_system_destroy(rigid);
    return status;
}

static int measure_moved(taut_projection *p, taut_error *error)
{
    taut_index n = p->sizes.coordinates;
    p->moved_normal = p->moved_tangential = p->moved_normal_velocity =
        p->moved_tangential_velocity = NAN;
    if (p->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    double *x[2], *u[2];
    const double *q[2] = {p->q0, p->q}, *v[2] = {p->v0, p->v};
    for (int k = 0; k < 2; k++) {
        TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &x[k], &u[k]));
        taut_copy(n, q[k], x[k]);
        taut_copy(n, v[k], u[k]);
    }
    taut_error reason;
    int status = find_feet(p, x[0], u[0], x[1], u[1], &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (status != 0)
        return TAUT_OK; /* redundant springs, or too far: there is nothing to measure from */
    p->moved_tangential = distance(n, x[0], x[1]);
    p->moved_tangential_velocity = distance(n, u[0], u[1]);
    for (taut_index i = 0; i < n; i++) { /* state minus foot point, before and after */
        x[0][i] = p->q0[i] - x[0][i];
        x[1][i] = p->q[i] - x[1][i];
        u[0][i] = p->v0[i] - u[0][i];
        u[1][i] = p->v[i] - u[1][i];
    }
    p->moved_normal = distance(n, x[0], x[1]);
    p->moved_normal_velocity = distance(n, u[0], u[1]);
    return TAUT_OK;
}

/* ---- the object */

static int new_start(taut_projection *p, const taut_options *options, taut_error *error)
{
    taut_index n = p->sizes.coordinates,
               nv = p->sizes.kind == TAUT_MECHANICAL ? n : p->sizes.algebraic;
    p->t = taut_options_real(options, "from");
    TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &p->q, &p->q0));
    TAUT_TRY(TAUT_RESERVE(&p->arena, nv, error, &p->v, &p->v0));
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->sizes.bonds, error, &p->lambda));
    TAUT_TRY(taut_context_create(p->system, &p->arena.allocator, &p->context, error));
    TAUT_TRY(taut_context_start(p->context, p->t, p->q0, p->v0, error));
    taut_copy(n, p->q0, p->q);
    taut_copy(nv, p->v0, p->v);
    return TAUT_OK;
}

/* A pass of a filter moves a state along the bonds by about as much as it was off them [A 4.2].
 * What has gone ten times as far has followed a motion along the bonds that is nearly as fast as
 * the springs, to another slow point. */
static int check_glide(const taut_projection *p, taut_error *error)
{
    /* poor: of the size of the state, as in projection_kernel.c */
    const double most = 10, poor = 1e-4;
    /* else there is more across */
    bool springs = p->sizes.can & TAUT_HAS_SPRINGS && !(p->sizes.can & TAUT_HAS_STIFF_POTENTIAL);
    if (!p->method->moves_slow || !springs || p->hold ||
        !(p->moved_tangential >
          most * p->moved_normal + poor * taut_largest(p->sizes.coordinates, p->q0)))
        return TAUT_OK;
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "the passes of %s have followed the motion along the bonds, by %.3g where the start was "
        "off them by %.3g: slow and fast are not separated at this state; use --method series",
        p->method->name, p->moved_tangential, p->moved_normal);
}

/* An option that was given and that nobody has read has no effect: said, not refused, since
 * scripts give the same options to many methods. */
static void find_unread(taut_projection *p, const taut_options *merged, const taut_options *given)
{
    enum { MOST = sizeof p->warning / sizeof p->warning[0] };
    int at = -1;
    for (const char *name; p->warnings < MOST && (name = taut_options_unread(merged, given, &at));)
        snprintf(p->warning[p->warnings++], sizeof p->warning[0],
                 "--%s has no effect: projection %s does not use it here", name, p->method->name);
}

static int build(taut_projection *p, const taut_options *options, taut_options *merged,
                 taut_error *error)
{
    taut_system_sizes(p->system, &p->sizes);
    TAUT_TRY(read_settings(p->system, merged, error));
    TAUT_TRY(taut_options_merge(merged, options, error));
    TAUT_TRY(taut_options_track(merged, error));
    TAUT_TRY(
        taut_hold_names(p->system, taut_options_text(merged, "hold"), &p->arena, &p->hold, error));
    if (taut_options_flag(merged, "expansion") &&
        taut_hold_any(p->hold, p->sizes.coordinates, TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY))
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "--expansion is that of a state in which nothing is held; release what is");
    TAUT_TRY(choose_method(p, merged, error));
    TAUT_TRY(new_start(p, merged, error));
    if (taut_options_given(merged, "plot"))
        TAUT_TRY(taut_record_create(p, error));
    bool slow = false;
    if (p->method->moves_slow)
        TAUT_TRY(taut_projection_already(p, &slow, error));
    p->status = slow ? TAUT_OK : p->method->project(p, merged, error);
    taut_record_end(p);
    int levels = (int)taut_options_integer(merged, "richardson");
    if (!slow && p->status == 0)
        find_unread(p, merged, options);
    if (p->status == 0 && taut_options_flag(merged, "expansion") && !p->expansion)
        p->status = taut_fail(error, TAUT_ERROR_REFUSED,
                              "--expansion: projection %s does not expand in the compliance; use "
                              "--method series, with bonds that are springs",
                              p->method->name);
    if (p->status == 0 && levels > 0)
        p->status = taut_richardson(p, merged, levels, error);
    if (p->method != &taut_projection_series && p->method != &taut_projection_constraint)
        p->stiff_force = NULL; /* of a foot point that was only on the way */
    if (p->status == 0)
        p->status = measure_moved(p, error);
    if (p->status == 0)
        p->status = check_glide(p, error);
    if (p->status == 0)
        return TAUT_OK;
    if (p->status > 0) /* a callback cannot evaluate here */
        p->status = taut_fail(error, TAUT_ERROR_EVALUATE,
                              "the system cannot be evaluated on the way from the start");
    taut_projection_restore(p);
    return p->status;
}

int taut_project(const taut_system *system, const taut_options *options,
                 const taut_allocator *allocator, taut_projection **projection, taut_error *error)
{
    taut_error_clear(error);
    if (!projection || !system)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_project: system and projection must not be NULL");
    *projection = NULL;
    taut_allocator from = taut_allocator_or_default(allocator);
    taut_projection *made = from.allocate(from.user, sizeof *made);
    if (!made)
        return taut_fail_memory(error);
    *made = (taut_projection){.system = system};
    taut_arena_init(&made->arena, &from);
    taut_options *merged = NULL;
    int status = taut_options_create(&from, &merged, error);
    if (status == 0)
        status = build(made, options, merged, error);
    taut_options_destroy(merged);
    if (status == 0 || status == TAUT_ERROR_CONVERGE)
        *projection = made;
    else
        taut_projection_destroy(made);
    return status;
}

void taut_projection_destroy(taut_projection *projection)
{
    if (!projection)
        return;
    taut_context_destroy(projection->context);
    taut_allocator from = projection->arena.allocator;
    taut_arena_clear(&projection->arena);
    from.release(from.user, projection);
}

int taut_projection_result_get(const taut_projection *p, taut_projection_result *result,
                               taut_error *error)
{
    TAUT_REQUIRE(p);
    taut_projection_result own = {.status = p->status,
                                  .t = p->t,
                                  .method = p->method->name,
                                  .explanation = p->explanation,
                                  .q = p->q,
                                  .v = p->v,
                                  .lambda = p->lambda,
                                  .stiff_force = p->stiff_force,
                                  .start_q = p->q0,
                                  .start_v = p->v0,
                                  .passes = p->passes,
                                  .moved_normal = p->moved_normal,
                                  .moved_tangential = p->moved_tangential,
                                  .moved_normal_velocity = p->moved_normal_velocity,
                                  .moved_tangential_velocity = p->moved_tangential_velocity,
                                  .statistics = p->statistics};
    return taut_struct_fill(result, &own, sizeof own, "taut_projection_result", error);
}

const char *taut_projection_warning(const taut_projection *p, int k)
{
    return p && k >= 0 && k < p->warnings ? p->warning[k] : NULL;
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
