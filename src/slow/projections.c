/* projections.c - the table of projections, and taut_project: choose one, refuse with words, run it, measure what it moved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "base/options.h"
#include "base/reasons.h"
#include "slow/constraint.h"
#include "slow/expansion.h"
#include "slow/hold.h"
#include "slow/potential.h"
#include "slow/trace.h"
#include "step/vectors.h"

static const taut_projection_method *const table[] = {&taut_projection_ipa,        &taut_projection_series,
                                                      &taut_projection_constraint, &taut_projection_kernel,
                                                      &taut_projection_difference, &taut_projection_auto};

enum { PROJECTIONS = sizeof table / sizeof table[0] };

int taut_projection_count(void)
{
    return PROJECTIONS;
}

bool taut_projection_get(int k, taut_projection_info *info)
{
    if (k < 0 || k >= PROJECTIONS || !info)
        return false;
    *info = (taut_projection_info){.name = table[k]->name,
                                   .summary = table[k]->summary,
                                   .reference = table[k]->reference,
                                   .needs = table[k]->needs,
                                   .refuses = table[k]->refuses};
    return true;
}

/* ---- choice */

static int find_method(const char *name, const taut_projection_method **method, taut_error *error)
{
    const char *names[PROJECTIONS];
    for (int k = 0; k < PROJECTIONS; k++) {
        names[k] = table[k]->name;
        if (strcmp(name, names[k]) == 0) {
            *method = table[k];
            return TAUT_OK;
        }
    }
    taut_method_info moves;
    for (int k = 0; taut_method_get(k, &moves); k++)
        if (strcmp(name, moves.name) == 0)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "--method: %s moves a system in time, it is no projection; `taut run` uses it", moves.name);
    const char *near = taut_near_miss(name, names, PROJECTIONS);
    if (near)
        return taut_fail(error, TAUT_ERROR_USAGE, "--method: there is no projection '%.40s'; did you mean %s?", name, near);
    char list[200] = "";
    for (int k = 0; k < PROJECTIONS; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", names[k]);
    return taut_fail(error, TAUT_ERROR_USAGE, "--method: there is no projection '%.40s'; those of this version are %s", name, list);
}

/* The system is of another kind: which projections are for it? */
static int fail_kind(const taut_projection_method *method, const taut_sizes *sizes, taut_error *error)
{
    static const char *const kinds[] = {"a mechanical system", "a first-order system", "a black box"};
    char list[200] = "";
    for (int k = 0; k < PROJECTIONS; k++)
        if (table[k]->kinds & 1u << sizes->kind)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "", table[k]->name);
    return taut_fail(error, TAUT_ERROR_REFUSED, "projection %s is not for %s; %s%s", method->name, kinds[sizes->kind],
                     list[0] ? "use --method " : "this version has none that is", list);
}

int taut_projection_check(const taut_projection_method *method, const taut_projection *p, taut_error *error)
{
    const taut_sizes *sizes = &p->sizes;
    char text[500];
    if (!(method->kinds & 1u << sizes->kind))
        return fail_kind(method, sizes, error);
    unsigned bits = (method->needs & ~sizes->can) | (method->refuses & sizes->can);
    if ((method->needs & ~sizes->can & TAUT_HAS_SPRINGS) && !(sizes->can & TAUT_HAS_STIFF_POTENTIAL))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection %s needs springs, and the system has none; --method constraint projects onto rigid bonds",
                         method->name);
    const unsigned stiff = TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL;
    if (method->moves_slow && (sizes->can & TAUT_HAS_RIGID) && (sizes->can & stiff) != TAUT_HAS_SPRINGS)
        return taut_fail(error, TAUT_ERROR_REFUSED, "projection %s treats rigid bonds beside springs alone, and the system has %s",
                         method->name,
                         sizes->can & TAUT_HAS_STIFF_POTENTIAL ? "a stiff potential; use --method series"
                                                               : "no springs; --method constraint projects onto rigid bonds");
    bits &= ~(unsigned)TAUT_HAS_SPRINGS;
    if (bits)
        return taut_fail(error, TAUT_ERROR_REFUSED, "projection %s %s", method->name, taut_reasons_text(bits, text, sizeof text));
    return TAUT_OK;
}

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
        TAUT_TRY(find_method(taut_options_text(options, "method"), &p->method, error));
        return taut_projection_check(p->method, p, error);
    }
    if (!means_ipa(options)) {
        p->method = &taut_projection_auto;
        return TAUT_OK;
    }
    /* the first row that takes the system; the reason of the first one for its kind when none does */
    taut_error reason;
    int status = TAUT_OK;
    bool named = false; /* a row for this kind of system has said why it refuses */
    for (int k = 0; k < PROJECTIONS && !p->method; k++) {
        int code = taut_projection_check(table[k], p, &reason);
        if (code == 0)
            p->method = table[k];
        else if (status == 0 || (table[k]->kinds & 1u << p->sizes.kind && !named)) {
            named = table[k]->kinds & 1u << p->sizes.kind;
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

/* ---- what passes leave behind */

int taut_projection_record(taut_projection *p, const double *q, const double *v, taut_error *error)
{
    taut_index m = p->sizes.bonds;
    taut_pattern jacobian;
    TAUT_TRY(taut_system_pattern(p->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    int64_t used = p->pass ? p->passes + 1 : 0;
    taut_pass *pass = taut_arena_grow(&p->arena, p->pass, used, &p->pass_capacity, sizeof *pass);
    taut_pass now = {TAUT_NEW(&p->arena, double, m), TAUT_NEW(&p->arena, double, m), p->statistics.force_evaluations};
    if (!p->entries)
        p->entries = TAUT_NEW(&p->arena, double, p->sizes.jacobian_entries);
    if (!pass || !now.g || !now.gdot || !p->entries)
        return taut_fail_memory(error);
    p->pass = pass;
    taut_values values = {.bond = now.g, .bond_dt = now.gdot, .jacobian = p->entries};
    TAUT_TRY(taut_evaluate(p->context, p->t, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, error));
    for (taut_index i = 0; i < m; i++)
        for (taut_index k = jacobian.start[i]; k < jacobian.start[i + 1]; k++)
            now.gdot[i] += p->entries[k] * v[jacobian.column[k]];
    p->pass[used] = now;
    p->passes = used;
    return TAUT_OK;
}

int taut_projection_watch(void *user, double t, const double *q, const double *v, taut_error *error)
{
    (void)t;
    return taut_projection_record(user, q, v, error);
}

static double distance(taut_index n, const double *a, const double *b)
{
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Foot points before and after: (x0, u0), (x1, u1), the arrays hold the states on entry. */
static int find_feet(taut_projection *p, double *x0, double *u0, double *x1, double *u1, taut_error *error)
{
    taut_system *rigid = NULL;
    taut_context *context = NULL;
    taut_projector *projector = NULL;
    taut_constraint_settings settings = {.ignore_holds = true};
    taut_statistics aside = {0}; /* a diagnosis, not a part of the work */
    bool stiff = p->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    int status = stiff ? taut_potential_foot(p->context, &p->arena, &aside, &settings, &projector, error)
                       : taut_system_rigid(p->system, &rigid, error);
    if (status == 0 && !stiff)
        status = taut_context_create(rigid, &p->arena.allocator, &context, error);
    if (status == 0 && !stiff)
        status = taut_constraint_create(context, &p->arena, &aside, &settings, &projector, error);
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
    p->moved_normal = p->moved_tangential = p->moved_normal_velocity = p->moved_tangential_velocity = NAN;
    if (p->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    double *x[2], *u[2];
    const double *q[2] = {p->q0, p->q}, *v[2] = {p->v0, p->v};
    for (int k = 0; k < 2; k++) {
        x[k] = TAUT_NEW(&p->arena, double, n);
        u[k] = TAUT_NEW(&p->arena, double, n);
        if (!x[k] || !u[k])
            return taut_fail_memory(error);
        memcpy(x[k], q[k], (size_t)n * sizeof(double));
        memcpy(u[k], v[k], (size_t)n * sizeof(double));
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
    taut_index n = p->sizes.coordinates, nv = p->sizes.kind == TAUT_MECHANICAL ? n : p->sizes.algebraic;
    p->t = taut_options_real(options, "from");
    p->q = TAUT_NEW(&p->arena, double, n);
    p->v = TAUT_NEW(&p->arena, double, nv);
    p->q0 = TAUT_NEW(&p->arena, double, n);
    p->v0 = TAUT_NEW(&p->arena, double, nv);
    p->lambda = TAUT_NEW(&p->arena, double, p->sizes.bonds);
    if (!p->q || !p->v || !p->q0 || !p->v0 || !p->lambda)
        return taut_fail_memory(error);
    TAUT_TRY(taut_context_create(p->system, &p->arena.allocator, &p->context, error));
    TAUT_TRY(taut_context_start(p->context, p->t, p->q0, p->v0, error));
    memcpy(p->q, p->q0, (size_t)n * sizeof(double));
    memcpy(p->v, p->v0, (size_t)nv * sizeof(double));
    return TAUT_OK;
}

/* What did not converge keeps its start. */
void taut_projection_restore(taut_projection *p)
{
    taut_index n = p->sizes.coordinates, nv = p->sizes.kind == TAUT_MECHANICAL ? n : p->sizes.algebraic;
    memcpy(p->q, p->q0, (size_t)n * sizeof(double));
    memcpy(p->v, p->v0, (size_t)nv * sizeof(double));
    for (taut_index i = 0; i < p->sizes.bonds; i++)
        p->lambda[i] = NAN;
    p->moved_normal = p->moved_tangential = p->moved_normal_velocity = p->moved_tangential_velocity = 0;
}

/* A pass of a filter moves a state along the bonds by about as much as it was off them [A 4.2]. What has gone ten times as far has followed a
 * motion along the bonds that is nearly as fast as the springs, to another slow point. */
static int check_glide(const taut_projection *p, taut_error *error)
{
    const double most = 10, poor = 1e-4; /* poor: of the size of the state, as in kernel.c */
    bool springs = p->sizes.can & TAUT_HAS_SPRINGS && !(p->sizes.can & TAUT_HAS_STIFF_POTENTIAL); /* else there is more across */
    if (!p->method->moves_slow || !springs || p->hold ||
        !(p->moved_tangential > most * p->moved_normal + poor * taut_largest(p->sizes.coordinates, p->q0)))
        return TAUT_OK;
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "the passes of %s have followed the motion along the bonds, by %.3g where the start was off them by %.3g: slow and "
        "fast are not separated at this state; use --method series",
        p->method->name, p->moved_tangential, p->moved_normal);
}

/* An option that was given and that nobody has read has no effect: said, not refused, since scripts give the same options to many methods. */
static void find_unread(taut_projection *p, const taut_options *merged, const taut_options *given)
{
    enum { MOST = sizeof p->warning / sizeof p->warning[0] };
    int at = -1;
    for (const char *name; p->warnings < MOST && (name = taut_options_unread(merged, given, &at));)
        snprintf(p->warning[p->warnings++], sizeof p->warning[0], "--%s has no effect: projection %s does not use it here", name,
                 p->method->name);
}

static int build(taut_projection *p, const taut_options *options, taut_options *merged, taut_error *error)
{
    taut_system_sizes(p->system, &p->sizes);
    TAUT_TRY(read_settings(p->system, merged, error));
    TAUT_TRY(taut_options_merge(merged, options, error));
    TAUT_TRY(taut_options_track(merged, error));
    TAUT_TRY(taut_hold_names(p->system, taut_options_text(merged, "hold"), &p->arena, &p->hold, error));
    if (taut_options_flag(merged, "expansion") &&
        taut_hold_any(p->hold, p->sizes.coordinates, TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY))
        return taut_fail(error, TAUT_ERROR_REFUSED, "--expansion is that of a state in which nothing is held; release what is");
    TAUT_TRY(choose_method(p, merged, error));
    TAUT_TRY(new_start(p, merged, error));
    if (taut_options_given(merged, "plot"))
        TAUT_TRY(taut_trace_create(p, error));
    bool slow = false;
    if (p->method->moves_slow)
        TAUT_TRY(taut_projection_already(p, &slow, error));
    p->status = slow ? TAUT_OK : p->method->project(p, merged, error);
    taut_trace_end(p);
    int levels = (int)taut_options_integer(merged, "richardson");
    if (!slow && p->status == 0)
        find_unread(p, merged, options);
    if (p->status == 0 && taut_options_flag(merged, "expansion") && !p->expansion)
        p->status = taut_fail(
            error, TAUT_ERROR_REFUSED,
            "--expansion: projection %s does not expand in the compliance; use --method series, with bonds that are springs",
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
        p->status = taut_fail(error, TAUT_ERROR_EVALUATE, "the system cannot be evaluated on the way from the start");
    taut_projection_restore(p);
    return p->status;
}

int taut_project(const taut_system *system, const taut_options *options, const taut_allocator *allocator,
                 taut_projection **projection, taut_error *error)
{
    taut_error_clear(error);
    if (!projection || !system)
        return taut_fail(error, TAUT_ERROR_USAGE, "taut_project: system and projection must not be NULL");
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

void taut_projection_result_get(const taut_projection *p, taut_projection_result *result)
{
    *result = (taut_projection_result){.status = p->status,
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
}

const char *taut_projection_warning(const taut_projection *p, int k)
{
    return k >= 0 && k < p->warnings ? p->warning[k] : NULL;
}

bool taut_projection_pass(const taut_projection *p, int64_t k, const double **g, const double **gdot, int64_t *force_evaluations)
{
    if (!p->pass || k < 0 || k > p->passes)
        return false;
    if (g)
        *g = p->pass[k].g;
    if (gdot)
        *gdot = p->pass[k].gdot;
    if (force_evaluations)
        *force_evaluations = p->pass[k].force_evaluations;
    return true;
}

bool taut_projection_stage_get(const taut_projection *p, int k, taut_projection_stage *stage)
{
    if (k < 0 || k >= p->stages)
        return false;
    *stage = p->stage[k];
    return true;
}

bool taut_projection_expansion(const taut_projection *p, int k, const double **q, const double **v, double *eps2)
{
    if (!p->expansion || k < 0 || k >= TAUT_EXPANSION_TERMS)
        return false;
    if (q)
        *q = p->expansion->q[k];
    if (v)
        *v = p->expansion->v[k];
    if (eps2)
        *eps2 = p->expansion->eps2;
    return true;
}
