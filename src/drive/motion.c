/* motion.c - from a motion to what runs: the system that moves, the default method, the field,
 * the stabiliser and the start.
 *
 *     rigid       c = 0 for every bond that is not soft; start at the foot point;
 *     index-1 field, post-stabilised
 *     slow        the stiff system itself in compliance form
 *     effective   bounded oscillations averaged
 *     full
 *     every oscillation resolved; a start that violates rigid bonds is moved onto those alone
 *
 * When nobody says which, the oscillatory energy of the start decides (taut_check measures it). */
#include "base/statistics.h"
#include "base/vectors.h"
#include "base/rows.h"
#include "drive/solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "point/foot_point.h"
#include "point/projection.h"
#include "slow/series.h"
#include "vibration/effective.h"
#include "wrap/fields.h"
#include "wrap/stabilize.h"

static const double HARDLY_RINGS = 1e-3; /* oscillatory energy over the energy scale */
static const double SEPARATED = 10;      /* lowest frequency over the slow rate */

/* ---- which motion */

/* Does the table have a method of this motion that takes the system? */
static bool offered(const taut_sizes *sizes, unsigned motion)
{
    for (int k = 0; taut_method_table[k]; k++)
        if ((taut_method_table[k]->motions & motion) &&
            taut_method_accepts(taut_method_table[k], sizes, NULL) == 0)
            return true;
    return false;
}

/* What the start says about a system with springs. `work` is what the slow forces do over the
 * size of the system. */
static unsigned judge_start(const taut_check_report *r, const taut_sizes *sizes, double work,
                            unsigned avoid, char *why, size_t size)
{
    double ratio = r->slow_rate > 0 ? r->frequency_least / r->slow_rate : INFINITY;
    double ringing = r->oscillatory_energy, scale = fmax(r->energy_scale, work);
    if (r->rank >= sizes->coordinates || r->frequencies >= sizes->coordinates) {
        snprintf(why, size, "full because the bonds leave no slow motion");
        return TAUT_MOTION_FULL;
    }
    if (!(ratio >= SEPARATED)) {
        snprintf(why, size, "full because fast (%.3g) and slow (about %.3g) are not separated",
                 r->frequency_least, r->slow_rate);
        return TAUT_MOTION_FULL;
    }
    if (ringing <= HARDLY_RINGS * scale && offered(sizes, TAUT_MOTION_SLOW & ~avoid)) {
        snprintf(why, size, "slow because the start hardly rings (oscillatory energy %.2g of %.2g)",
                 ringing, scale);
        return TAUT_MOTION_SLOW;
    }
    if (ringing > HARDLY_RINGS * scale && offered(sizes, TAUT_MOTION_EFFECTIVE & ~avoid)) {
        snprintf(why, size,
                 "effective because the start rings (oscillatory energy %.2g of %.2g): actions are "
                 "kept, oscillations averaged",
                 ringing, scale);
        return TAUT_MOTION_EFFECTIVE;
    }
    size_t used = strlen(why); /* what failed before */
    snprintf(why + used, size - used, "%sfull, with oscillatory energy %.2g of %.2g",
             used ? "; " : "", ringing, scale);
    return TAUT_MOTION_FULL;
}

static int examine_start(const taut_solver *solver, taut_check_report *report, taut_error *error)
{
    taut_options *options;
    char from[TAUT_NUMBER_SIZE];
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &options, error));
    taut_number_format(taut_options_real(solver->options, "from"), 17, from);
    int status = taut_options_set(options, "no-derivatives", "yes", error);
    if (status == 0)
        status = taut_options_set(options, "from", from, error);
    if (status == 0)
        status = taut_check(solver->system, options, report, error);
    taut_options_destroy(options);
    return status;
}

/* Slow forces times the largest coordinate: an energy that is there even when the start is at
 * rest and at potential zero. */
static int measure_work(const taut_solver *solver, double *work, taut_error *error)
{
    taut_arena arena;
    taut_context *context = NULL;
    taut_index n = solver->sizes.coordinates;
    double sum = 0, from = taut_options_real(solver->options, "from");
    taut_arena_init(&arena, &solver->arena.allocator);
    double *q = TAUT_NEW(&arena, double, n), *v = TAUT_NEW(&arena, double, n);
    taut_values values = {.force = TAUT_NEW(&arena, double, n)};
    int status = q && v && values.force ? TAUT_OK : taut_fail_memory(error);
    if (status == 0)
        status = taut_context_create(solver->system, &solver->arena.allocator, &context, error);
    if (status == 0)
        status = taut_context_start(context, from, q, v, error);
    if (status == 0)
        status = taut_evaluate(context, from, q, v, TAUT_WANT_FORCE, &values, error);
    for (taut_index i = 0; status == 0 && i < n; i++)
        sum += fabs(values.force[i]);
    *work = status == 0 ? sum * taut_largest(n, q) : 0;
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return status;
}

int taut_motion_choose(taut_solver *solver, unsigned *motion, taut_error *error)
{
    const taut_sizes *sizes = &solver->sizes;
    taut_check_report report;
    double work = 0;
    *motion = TAUT_MOTION_FULL;
    if (!(sizes->can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL))) {
        if ((sizes->can & TAUT_HAS_RIGID) && offered(sizes, TAUT_MOTION_RIGID & ~solver->avoid))
            *motion = TAUT_MOTION_RIGID;
        return TAUT_OK;
    }
    TAUT_TRY(examine_start(solver, &report, error));
    /* soft springs are forces */
    if (report.frequencies == 0 && !(sizes->can & TAUT_HAS_STIFF_POTENTIAL)) {
        if ((sizes->can & TAUT_HAS_RIGID) && offered(sizes, TAUT_MOTION_RIGID & ~solver->avoid))
            *motion = TAUT_MOTION_RIGID;
        return TAUT_OK;
    }
    TAUT_TRY(measure_work(solver, &work, error));
    *motion = judge_start(&report, sizes, work, solver->avoid, solver->why, sizeof solver->why);
    return TAUT_OK;
}

/* ---- which system, which method */

/* Rigid: c = 0. Effective, by the method of that name: c = 0 and the force of the actions
 * [Lubich, Weiss (7)-(8)]; impulse methods move the model itself. */
int taut_motion_system(taut_solver *solver, const taut_method *method, taut_error *error)
{
    bool effective =
        solver->motion == TAUT_MOTION_EFFECTIVE && method && strcmp(method->name, "effective") == 0;
    if (solver->sizes.kind != TAUT_MECHANICAL ||
        (solver->motion != TAUT_MOTION_RIGID && !effective))
        return TAUT_OK;
    if (effective)
        TAUT_TRY(taut_effective_from_start(
            solver->system, taut_options_real(solver->options, "from"), &solver->derived, error));
    else
        TAUT_TRY(taut_system_rigid(solver->system, &solver->derived, error));
    solver->moving = solver->derived;
    taut_system_sizes(solver->moving, &solver->sizes);
    return TAUT_OK;
}

/* Usable without more said: it takes the system, and knows its steps. */
static bool usable(const taut_solver *solver, const taut_method *method, bool step_said)
{
    bool springs = solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    bool knows = step_said || method->error_order > 0 || (springs && method->stability > 0);
    return (method->motions & solver->motion) && knows &&
           taut_method_accepts(method, &solver->sizes, NULL) == 0;
}

const taut_method *taut_motion_method(const taut_solver *solver, bool step_said)
{
    static const struct {
        unsigned motion;
        const char *names[4]; /* in order of preference */
    } preferred[] = {
        {TAUT_MOTION_RIGID, {"dop8", "radau5", "rattle"}},
        {TAUT_MOTION_SLOW, {"radau5"}},
        {TAUT_MOTION_EFFECTIVE, {"projected-impulse", "effective"}}, /* the first needs a step */
        {TAUT_MOTION_FULL, {"verlet", "dop8", "radau5"}},
    };
    bool damped = solver->sizes.kind == TAUT_MECHANICAL && (solver->sizes.can & TAUT_HAS_DAMPING);
    const taut_method *radau = taut_method_find("radau5");
    if (damped && radau && usable(solver, radau, step_said)) /* strong damping is stiff */
        return radau;
    for (size_t j = 0; j < sizeof preferred / sizeof preferred[0]; j++)
        for (int k = 0; preferred[j].motion == solver->motion && k < 4 && preferred[j].names[k];
             k++) {
            const taut_method *method = taut_method_find(preferred[j].names[k]);
            if (method && usable(solver, method, step_said))
                return method;
        }
    for (int pass = 0; pass < 2;
         pass++) /* any that knows its steps; then any that takes the system */
        for (int k = 0; taut_method_table[k]; k++)
            if ((taut_method_table[k]->motions & solver->motion) &&
                usable(solver, taut_method_table[k], step_said || pass))
                return taut_method_table[k];
    return NULL;
}

/* ---- field and stabiliser */

static int make_field(taut_solver *solver, bool baumgarte, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    double rate = baumgarte ? taut_options_real(solver->options, "stabilize-rate") : 0;
    if (s->first_order)
        return taut_field_first_order(s->context, s->arena, s->statistics, rate, &s->field, error);
    if (solver->drift.rows > 0) /* x'' + 2 rate x' + rate^2 x = 0 has no overshoot */
        return taut_field_index1(s->context, s->arena, s->statistics, 2 * rate, rate * rate,
                                 &s->field, error);
    return taut_field_full(s->context, s->arena, s->statistics, &s->field, error);
}

/* Explicit methods drift from what holds exactly, so they are stabilised unless told otherwise;
 * others keep it themselves. */
static int make_stabilizer(taut_solver *solver, const char *kind, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    bool said = taut_options_given(solver->options, "stabilize"),
         something = solver->drift.rows > 0;
    if (said && !something && strcmp(kind, "none") != 0)
        return taut_fail(
            error, TAUT_ERROR_USAGE,
            "--stabilize %s: there are no rigid bonds, constraints or invariants to keep", kind);
    if (!said)
        kind = something && s->method->uses_field ? "post" : "none";
    if (strcmp(kind, "none") == 0 || strcmp(kind, "baumgarte") == 0)
        return TAUT_OK;
    int passes = (int)taut_options_integer(solver->options, "stabilize-passes");
    return taut_stabilizer_create(kind, passes, s->context, s->arena, s->statistics,
                                  &solver->stabilizer, error);
}

int taut_motion_prepare(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    const char *kind = taut_options_text(solver->options, "stabilize");
    bool baumgarte = strcmp(kind, "baumgarte") == 0;
    if (baumgarte && !s->method->uses_field)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "--stabilize baumgarte changes the equations that explicit methods "
                         "integrate; method %s does not use them",
                         s->method->name);
    if (s->method->uses_field)
        TAUT_TRY(make_field(solver, baumgarte, error));
    TAUT_TRY(make_stabilizer(solver, kind, error));
    if (solver->drift.rows == 0 || s->first_order)
        return TAUT_OK;
    static const taut_foot_point_settings later = {.ignore_holds = true};
    TAUT_TRY(
        taut_foot_point_create(s->context, s->arena, s->statistics, &later, &solver->rods, error));
    if (solver->motion == TAUT_MOTION_EFFECTIVE) /* along the directions of the vibrating state, not
                                                    those of the foot point */
        return taut_effective_projector(s->context, s->arena, s->statistics, &solver->assembly,
                                        error);
    if (taut_system_hold(solver->moving))
        return taut_foot_point_projector(s->context, s->arena, s->statistics, &solver->assembly,
                                         error);
    solver->assembly = solver->rods;
    return TAUT_OK;
}

void taut_motion_release(taut_solver *solver)
{
    taut_projector *held = solver->assembly == solver->rods ? NULL : solver->assembly;
    taut_projector *made[] = {solver->stabilizer, solver->rods, held, solver->slow};
    for (int k = 0; k < 4; k++)
        if (made[k] && made[k]->destroy)
            made[k]->destroy(made[k]);
    if (solver->stepper.field && solver->stepper.field->destroy)
        solver->stepper.field->destroy(solver->stepper.field);
}

/* ---- the start */

static void add_why(taut_solver *solver, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_why(taut_solver *solver, const char *format, ...)
{
    size_t used = strlen(solver->why), room = sizeof solver->why - used;
    if (used > 0 && room > 2)
        used += (size_t)snprintf(solver->why + used, room, "; ");
    va_list list;
    va_start(list, format);
    vsnprintf(solver->why + used, sizeof solver->why - used, format, list);
    va_end(list);
}

/* Good already: moving it would only add rounding. */
static bool start_is_good(const taut_solver *solver)
{
    const taut_state *now = &solver->stepper.now;
    double q = fmax(1, taut_largest(solver->stepper.n, now->q)),
           v = fmax(1, taut_largest(solver->stepper.n, now->v));
    return solver->drift.position <= 1e-13 * q && solver->drift.velocity <= 1e-13 * v;
}

/* Onto the rigid bonds of the system that moves, orthogonally in the metric of M. */
static int start_on_bonds(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    TAUT_TRY(taut_drift_measure(solver, &s->now, error));
    if (start_is_good(solver))
        return TAUT_OK;
    double position = solver->drift.position, velocity = solver->drift.velocity;
    TAUT_TRY(solver->assembly->apply(solver->assembly, s->now.t, s->now.q, s->now.v, error));
    solver->drift.measured = NAN;
    solver->drift.most_position = solver->drift.most_velocity = 0;
    const char *where =
        solver->motion == TAUT_MOTION_EFFECTIVE ? "onto the bonds" : "onto the rigid bonds";
    add_why(solver, "the start was moved %s, which it violated by %.2g (velocities %.2g)", where,
            position, velocity);
    return TAUT_OK;
}

/* How much of the start would be seen as oscillation: the largest of |g + tau gdot - c lambda|
 * and |gdot|/omega over the stiff springs, lambda those of the rigid motion. INFINITY when it
 * cannot be told; 0 when a spring is overdamped: it does not ring, its stretch is part of the
 * slow motion, and no projection may take it away. */
static int measure_ringing(taut_solver *solver, double *amplitude, bool *overdamped,
                           taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_arena arena;
    taut_index m = solver->sizes.bonds;
    const double *c = taut_context_compliance(s->context), *tau = taut_context_damping(s->context);
    taut_pattern g;
    taut_error ignored;
    *overdamped = false;
    *amplitude = INFINITY;
    if (m == 0 || (solver->sizes.can & TAUT_HAS_STIFF_POTENTIAL))
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(solver->moving, TAUT_PATTERN_JACOBIAN, &g, error));
    taut_arena_init(&arena, &solver->arena.allocator);
    double *lambda = TAUT_NEW(&arena, double, m);
    taut_values values = {.bond = TAUT_NEW(&arena, double, m),
                          .bond_dt = TAUT_NEW(&arena, double, m),
                          .jacobian = TAUT_NEW(&arena, double, solver->sizes.jacobian_entries)};
    int status = lambda && values.bond && values.bond_dt && values.jacobian
                     ? TAUT_OK
                     : taut_fail_memory(error);
    if (status == 0)
        status = taut_evaluate(s->context, s->now.t, s->now.q, s->now.v,
                               TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, error);
    int known = status != 0 ? status
                            : taut_slow_multipliers(s->context, s->now.t, s->now.q, s->now.v,
                                                    lambda, NULL, &solver->statistics,
                                                    &solver->arena.allocator, &ignored);
    if (known == TAUT_OK)
        *amplitude = 0;
    else if (status == 0)
        status = taut_fail_final(known, &ignored, error);
    for (taut_index i = 0; known == TAUT_OK && i < m; i++) {
        double rate = values.bond_dt[i] + taut_row_dot(&g, values.jacobian, i, s->now.v),
               size = taut_row_square(&g, values.jacobian, i, NULL);
        if (c[i] == 0 || taut_context_soft(s->context, i))
            continue;
        /* as if masses were 1: a measure, not a result */
        double period = sqrt(c[i] / fmax(size, 1e-300)); /* 1/omega */
        *overdamped |= tau[i] >= 2 * period;
        *amplitude = fmax(*amplitude, fmax(fabs(values.bond[i] + tau[i] * rate - c[i] * lambda[i]),
                                           fabs(rate) * period));
    }
    if (*overdamped)
        *amplitude = 0;
    taut_arena_clear(&arena);
    return status;
}

/* Projections advise other projections by `--method`; in a run that is the method of the motion,
 * so they are named in full. */
static int named_in_full(int status, taut_error *error)
{
    static const char said[] = "--method ", verb[] = "taut project ";
    size_t more = sizeof verb - 1;
    for (char *at = error && status < 0 ? strstr(error->message, said) : NULL; at;
         at = strstr(at + more + 1, said)) {
        if (strlen(error->message) + more >= sizeof error->message)
            break;
        memmove(at + more, at, strlen(at) + 1);
        memcpy(at, verb, more);
    }
    return status;
}

/* How far the start was moved: across and along the bonds where there is a foot point that
 * tells, the largest change elsewhere. */
static void tell_slow_point(taut_solver *solver, const char *method,
                            const taut_projection_result *result)
{
    char moved[80];
    double most = taut_largest_difference(solver->stepper.n, result->q, solver->stepper.now.q);
    if (isnan(result->moved_normal))
        snprintf(moved, sizeof moved, "by %.2g", most);
    else
        snprintf(moved, sizeof moved, "normal %.2g, tangential %.2g", result->moved_normal,
                 result->moved_tangential);
    add_why(solver, "the start was moved to its slow point, where nothing rings (%s; %s)", method,
            moved);
}

/* Takes over the slow point that a projection finds. */
static int take_slow_point(taut_solver *solver, const char *method, taut_error *error)
{
    taut_options *options = NULL;
    taut_projection *projection = NULL;
    taut_projection_result result;
    taut_stepper *s = &solver->stepper;
    char from[TAUT_NUMBER_SIZE];
    taut_number_format(solver->from, 17, from);
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &options, error));
    int status = taut_options_set(options, "method", method, error);
    if (status == 0)
        status = taut_options_set(options, "from", from, error);
    if (status == 0)
        status =
            taut_project(solver->system, options, &solver->arena.allocator, &projection, error);
    if (status == 0) {
        taut_projection_result_get(projection, &result);
        tell_slow_point(solver, method, &result);
        taut_copy(s->n, result.q, s->now.q);
        taut_copy(s->n, result.v, s->now.v);
        taut_statistics_add(s->statistics, &result.statistics);
    }
    taut_projection_destroy(projection);
    taut_options_destroy(options);
    return status;
}

/* Events that alter the state of a slow motion make it ring: what leads to the slow point again
 * is made ready, since nothing allocates in a run. Overdamped springs do not ring, at the start
 * or later. */
static int prepare_again(taut_solver *solver, bool overdamped, taut_error *error)
{
    const unsigned needs = TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES;
    taut_stepper *s = &solver->stepper;
    taut_event_info info;
    taut_index k = 0;
    while (taut_system_event(solver->system, k, &info) && !info.alters)
        k++;
    if (k == solver->sizes.events || overdamped)
        return TAUT_OK;
    if ((solver->sizes.can & TAUT_HAS_STIFF_POTENTIAL) || (solver->sizes.can & needs) != needs) {
        char name[80];
        taut_system_name(solver->system, TAUT_EVENT_ITEM, k, name, sizeof name);
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "event '%s' alters the state, and in slow motion the slow point must then "
                         "be found anew, which needs springs with exact derivatives in place of a "
                         "stiff potential; use --motion full, or let the event stop the run",
                         name);
    }
    TAUT_TRY(
        taut_series_projector(s->context, s->arena, s->statistics, NULL, &solver->slow, error));
    add_why(solver, "states that events alter are moved to their slow points");
    return TAUT_OK;
}

/* Slow motion begins on the slow manifold. A start whose oscillation the tolerance cannot see is
 * left as it is: error control sees its velocity times the step, a thousand times the amplitude
 * when the step is a hundred periods long. */
static int start_slow(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    double amplitude;
    bool overdamped;
    taut_error reason = {0};
    TAUT_TRY(measure_ringing(solver, &amplitude, &overdamped, error));
    TAUT_TRY(prepare_again(solver, overdamped, error));
    if (amplitude <= 1e-3 * (s->atol + s->rtol * taut_largest(s->n, s->now.q)))
        return TAUT_OK;
    static const char *const ways[] = {"series", "kernel"}; /* from jets; from forces alone */
    int status = -1;
    for (int k = 0; k < 2 && status != 0; k++) {
        status = named_in_full(take_slow_point(solver, ways[k], &reason), &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
    }
    if (status != 0 && isinf(amplitude))
        add_why(solver, "the start was left as it is, which may ring: %.200s", reason.message);
    else if (status != 0)
        add_why(solver,
                "the start was left as it is, with an oscillation of about %.2g in it: %.200s",
                amplitude, reason.message);
    return TAUT_OK;
}

int taut_motion_begin(taut_solver *solver, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    if (!s->first_order)
        return TAUT_OK;
    if (solver->stabilizer)
        TAUT_TRY(taut_stabilizer_begin(solver->stabilizer, s->now.t, s->now.q, error));
    if (s->field)
        TAUT_TRY(taut_field_first_order_begin(s->field, s->now.t, s->now.q, error));
    return taut_drift_begin(solver, error);
}

int taut_motion_start(taut_solver *solver, taut_error *error)
{
    if (solver->stepper.first_order)
        return taut_motion_begin(solver, error);
    if (solver->drift.rows > 0)
        TAUT_TRY(start_on_bonds(solver, error));
    bool springs = solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    return solver->motion == TAUT_MOTION_SLOW && springs ? start_slow(solver, error) : TAUT_OK;
}

/* ---- after an event */

int taut_motion_again(taut_solver *solver, taut_state *x, double *moved, taut_error *error)
{
    const taut_stepper *s = &solver->stepper;
    double *q = s->error_q, *v = s->error_v; /* scratch between steps */
    *moved = 0;
    if (s->first_order)
        return TAUT_OK;
    taut_copy(s->n, x->q, q);
    taut_copy(s->n, x->v, v);
    if (solver->rods)
        TAUT_TRY(solver->rods->apply(solver->rods, x->t, x->q, x->v, error));
    if (solver->slow)
        TAUT_TRY(named_in_full(solver->slow->apply(solver->slow, x->t, x->q, x->v, error), error));
    *moved =
        taut_larger(taut_largest_difference(s->n, x->q, q), taut_largest_difference(s->n, x->v, v));
    return TAUT_OK;
}
