/* projecting.c - projection onto the slow manifold inside a run of the stiff system itself, for
 * explicit methods and any projection [Ariel, Sanz-Serna, Tsai 2012, section 6]:
 *
 *     none      the initial state stays as it is                           6.2
 *     start     its slow point                                             6.3
 *     every T   and again after each time T                                6.4
 *     drift X   and again when max |g - C lambda| has grown by X           6.4, remark at its end
 *     step      and after each step
 *     stage     and at each evaluation (wrap/projected_field.c)            6.5, (38)
 *
 * lambda of `drift` are the multipliers that the acceleration equation has there. As in the paper
 * there is no projection at the end of a run. `stage` alone lets steps be as long as those of slow
 * motion.
 *
 * Rigid motion with `stage`: every bond that is not soft becomes a spring, so stiff that slow and
 * rigid motion agree within about 1e-9 (end of 6.5). What the stiffness adds, (rate/omega)^2, and
 * what rounding of g adds to velocities, u omega/rate, are equal near omega/rate = 2e5. */
#include "drive/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/reasons.h"
#include "base/rows.h"
#include "base/text.h"
#include "base/vectors.h"
#include "project/row_projector.h"
#include "system/system.h"
#include "wrap/fields.h"
#include "wrap/projected_field.h"

static const double ARTIFICIAL = 1e5; /* lowest frequency of artificial springs over the rate */

/* of the smooth kernel: its error of g counts omega^2 times in the forces. Of 5, 7 and 9 these have
 * the smallest error of (38), 3e-5, 2e-6 and 9e-6 at omega = 100 */
enum { MOMENTS = 7 };

static const struct {
    const char *name, *amount; /* what follows it, or NULL */
    taut_project_when when;
} words[] = {{"none", NULL, TAUT_PROJECT_NONE},       {"start", NULL, TAUT_PROJECT_START},
             {"every", "a time", TAUT_PROJECT_EVERY}, {"drift", "a length", TAUT_PROJECT_DRIFT},
             {"step", NULL, TAUT_PROJECT_STEP},       {"stage", NULL, TAUT_PROJECT_STAGE}};

enum { WORDS = sizeof words / sizeof words[0] };

/* ---- options */

/* "every 0.5" or "every=0.5". */
static int read_when(taut_projecting *w, const char *text, taut_error *error)
{
    size_t length = strcspn(text, " =");
    const char *rest = text + length + strspn(text + length, " =");
    char *end;
    for (int k = 0; k < WORDS; k++) {
        if (strlen(words[k].name) != length || strncmp(words[k].name, text, length) != 0)
            continue;
        w->when = words[k].when;
        w->word = words[k].name;
        w->amount = strtod(rest, &end);
        bool good = words[k].amount
                        ? end != rest && *end == '\0' && w->amount > 0 && isfinite(w->amount)
                        : *rest == '\0';
        if (good)
            return TAUT_OK;
        return taut_fail_option(error, TAUT_ERROR_USAGE, "project",
                                words[k].amount ? "%s needs %s above 0, as in '%s 0.5'"
                                                : "%s has no value",
                                w->word, words[k].amount, w->word);
    }
    return taut_fail_option(error, TAUT_ERROR_USAGE, "project",
                            "unknown '%.40s'; choose none, start, every T, drift X, step or stage",
                            text);
}

int taut_projecting_read(taut_solver *solver, taut_error *error)
{
    taut_projecting *w = &solver->projecting;
    const char *text = taut_options_text(solver->options, "project"),
               *name = taut_options_text(solver->options, "projection");
    w->method = &taut_projection_auto;
    if (text[0])
        TAUT_TRY(read_when(w, text, error));
    if (w->when != TAUT_PROJECT_UNSET && solver->sizes.kind != TAUT_MECHANICAL)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "project",
                                "only mechanical systems have slow motions; omit it");
    if (!name[0] || w->when == TAUT_PROJECT_UNSET || w->when == TAUT_PROJECT_NONE)
        return TAUT_OK;
    int status = taut_projection_find(name, &w->method, error);
    if (status != 0 && error)
        snprintf(error->option, sizeof error->option, "projection");
    return status;
}

/* ---- which motion and method */

bool taut_projecting_inside(const taut_solver *solver)
{
    return solver->projecting.when >= TAUT_PROJECT_EVERY;
}

int taut_projecting_check(const taut_solver *solver, const taut_method *method, taut_error *error)
{
    const taut_projecting *w = &solver->projecting;
    const unsigned slow = TAUT_MOTION_SLOW | TAUT_MOTION_FULL,
                   motions = w->when == TAUT_PROJECT_STAGE  ? TAUT_MOTION_SLOW | TAUT_MOTION_RIGID
                             : w->when == TAUT_PROJECT_NONE ? TAUT_MOTION_SLOW
                                                            : slow;
    char text[200];
    if (w->when == TAUT_PROJECT_UNSET)
        return TAUT_OK;
    if (!(solver->motion & motions))
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "project", "%s is for motion %s, not %s",
                                w->word, taut_motions_text(motions, text, sizeof text),
                                taut_motion_name(solver->motion));
    if (w->when == TAUT_PROJECT_STAGE && !method->uses_field)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "project",
                                "stage is for explicit Runge-Kutta and Adams methods, whose "
                                "evaluations can be projected; method %s needs none, every, drift "
                                "or step",
                                method->name);
    if (taut_projecting_inside(solver) && (solver->sizes.can & TAUT_HAS_KINKS))
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "project",
                                "the equations have conditions, and slow points jump where "
                                "these change; motion slow by method radau5 supports them");
    return TAUT_OK;
}

/* ---- artificial stiffness */

/* About how fast the initial state changes: its velocities, and the length of the run. */
static double pace(const taut_solver *solver, taut_index n, const double *q, const double *v)
{
    double size = taut_largest(n, q), length = fabs(taut_options_real(solver->options, "until") -
                                                    taut_options_real(solver->options, "from"));
    double rate = size > 0 ? taut_largest(n, v) / size : 0;
    return fmax(rate, isfinite(length) && length > 0 ? 2 * acos(-1) / length : 1);
}

static int find_compliance(taut_solver *solver, taut_context *context, double *q, double *v,
                           double *compliance, taut_error *error)
{
    double frequency[2];
    int found = 0;
    bool complete;
    TAUT_TRY(taut_context_start(context, solver->from, q, v, error));
    TAUT_TRY(taut_frequencies(context, solver->from, q, 1, frequency, &found, &complete, error));
    if (found == 0 || !(frequency[0] > 0))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "there are no bonds that an artificial stiffness could hold");
    double omega = ARTIFICIAL * pace(solver, solver->sizes.coordinates, q, v),
           ratio = frequency[0] / omega;
    solver->projecting.artificial = omega;
    *compliance = ratio * ratio;
    return TAUT_OK;
}

/* Of compliance 1 first, whose frequencies give the scale. */
int taut_projecting_artificial(taut_solver *solver, taut_error *error)
{
    taut_arena arena;
    taut_system *unit = NULL;
    taut_context *context = NULL;
    double *q, *v, compliance = 0;
    taut_arena_init(&arena, &solver->arena.allocator);
    int status = TAUT_RESERVE(&arena, solver->sizes.coordinates, error, &q, &v);
    if (status == 0)
        status = taut_system_artificial(solver->system, 1, &unit, error);
    if (status == 0)
        status = taut_context_create(unit, &arena.allocator, &context, error);
    if (status == 0)
        status = find_compliance(solver, context, q, v, &compliance, error);
    taut_context_destroy(context);
    taut_system_destroy(unit);
    taut_arena_clear(&arena);
    TAUT_TRY(status);
    TAUT_APPEND(solver->begun,
                "; bonds are springs of artificial stiffness %.3g, the slowest with frequency %.3g",
                1 / compliance, solver->projecting.artificial);
    return taut_system_artificial(solver->system, compliance, &solver->derived, error);
}

/* ---- the beginning */

/* max |g + T gdot - C lambda| over the stiff bonds, lambda of the acceleration equation. */
static int measure(taut_solver *solver, double *off, taut_error *error)
{
    taut_projecting *w = &solver->projecting;
    const taut_stepper *s = &solver->stepper;
    const taut_state *x = &s->now;
    const double *c = taut_context_compliance(s->context), *tau = taut_context_damping(s->context);
    TAUT_TRY(w->balance->evaluate(w->balance, x->t, x->q, x->v, s->error_q, w->lambda, error));
    TAUT_TRY(taut_evaluate_inside(s->context, x->t, x->q, x->v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                  &w->values, error));
    *off = 0;
    for (taut_index i = 0; i < s->m; i++) {
        double rate =
            w->values.bond_dt[i] + taut_row_dot(&w->jacobian, w->values.jacobian, i, x->v);
        if (c[i] > 0 && !taut_context_soft(s->context, i))
            *off = taut_larger(*off, fabs(w->values.bond[i] + tau[i] * rate - c[i] * w->lambda[i]));
    }
    return TAUT_OK;
}

static int watch_drift(taut_solver *solver, taut_error *error)
{
    taut_projecting *w = &solver->projecting;
    taut_stepper *s = &solver->stepper;
    if (!(solver->sizes.can & TAUT_HAS_SPRINGS) || !(solver->sizes.can & TAUT_CAN_DERIVATIVES))
        return taut_fail_option(
            error, TAUT_ERROR_REFUSED, "project",
            "drift compares springs with the multipliers of the acceleration "
            "equation, which needs springs with derivatives; use every, step or "
            "stage");
    TAUT_TRY(taut_system_pattern(solver->moving, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    TAUT_TRY(TAUT_RESERVE(s->arena, s->m, error, &w->lambda, &w->values.bond, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(s->arena, solver->sizes.jacobian_entries, error, &w->values.jacobian));
    TAUT_TRY(taut_field_stiff_index1(s->context, s->arena, s->statistics, &w->balance, error));
    return measure(solver, &w->base, error);
}

int taut_projecting_begin(taut_solver *solver, taut_error *error)
{
    taut_projecting *w = &solver->projecting;
    taut_stepper *s = &solver->stepper;
    taut_projection_settings settings = taut_projection_settings_of(solver->options);
    const taut_projection_method *row;
    double *q = s->last.q;
    if (!taut_projecting_inside(solver))
        return TAUT_OK;
    settings.method = w->method;
    if (!(settings.given & TAUT_SETTING_MOMENTS))
        settings.moments = MOMENTS;
    taut_copy(s->n, s->now.q, q);
    TAUT_TRY(taut_row_projector_create(s->context, &settings, s->arena, s->statistics, s->now.t,
                                       s->now.q, s->now.v, &row, &solver->slow, error));
    double moved = taut_largest_difference(s->n, q, s->now.q);
    solver->moved |= moved > 0;
    TAUT_APPEND(solver->begun, "; projected onto the slow manifold by %s: %s", row->name, w->word);
    if (w->when == TAUT_PROJECT_EVERY || w->when == TAUT_PROJECT_DRIFT)
        TAUT_APPEND(solver->begun, " %g", w->amount);
    TAUT_APPEND(solver->begun, ", the initial state by %.2g", moved);
    w->done = 0;
    if (w->when == TAUT_PROJECT_DRIFT)
        return watch_drift(solver, error);
    if (w->when == TAUT_PROJECT_STEP)
        solver->stabilizer = solver->slow;
    if (w->when != TAUT_PROJECT_STAGE)
        return TAUT_OK;
    w->inner = s->field;
    w->costly = row != &taut_projection_series;
    return taut_field_projected(w->inner, solver->slow, s->arena, &s->field, error);
}

/* ---- along the run */

static double next_time(const taut_solver *solver)
{
    double way = solver->until < solver->from ? -1 : 1;
    return solver->from + way * (double)(solver->projecting.done + 1) * solver->projecting.amount;
}

double taut_projecting_target(const taut_solver *solver, double target)
{
    const double t = solver->stepper.now.t;
    if (solver->projecting.when != TAUT_PROJECT_EVERY)
        return target;
    double next = next_time(solver);
    return fabs(next - t) < fabs(target - t) && (next - t) * (target - t) > 0 ? next : target;
}

static int is_due(taut_solver *solver, bool *due, taut_error *error)
{
    taut_projecting *w = &solver->projecting;
    double t = solver->stepper.now.t, way = solver->until < solver->from ? -1 : 1, off;
    *due = false;
    if (t == solver->until)
        return TAUT_OK;
    if (w->when == TAUT_PROJECT_DRIFT) {
        TAUT_TRY(taut_unevaluated(measure(solver, &off, error), t, error));
        *due = off > w->base + w->amount;
    }
    /* a fixed step may pass several */
    for (; w->when == TAUT_PROJECT_EVERY && way * (t - next_time(solver)) >= -1e-9 * w->amount;
         w->done++)
        *due = true;
    return TAUT_OK;
}

int taut_projecting_step(taut_solver *solver, taut_error *error)
{
    taut_projecting *w = &solver->projecting;
    taut_stepper *s = &solver->stepper;
    bool due;
    if (w->when != TAUT_PROJECT_EVERY && w->when != TAUT_PROJECT_DRIFT)
        return TAUT_OK;
    TAUT_TRY(is_due(solver, &due, error));
    if (!due)
        return TAUT_OK;
    taut_state_copy(s, &s->now, &solver->probe);
    taut_state *x = &solver->probe;
    TAUT_TRY(
        taut_unevaluated(solver->slow->apply(solver->slow, x->t, x->q, x->v, error), x->t, error));
    TAUT_TRY(taut_unevaluated(taut_watch_restart(solver, true, error), x->t, error));
    if (s->method->propose) /* it begins again with order 1 */
        solver->control.h = 0;
    return w->when == TAUT_PROJECT_DRIFT
               ? taut_unevaluated(measure(solver, &w->base, error), s->now.t, error)
               : TAUT_OK;
}

void taut_projecting_archive(taut_solver *solver, taut_archive *a)
{
    taut_projecting *w = &solver->projecting;
    taut_archive_count(a, &w->done);
    taut_archive_real(a, &w->base);
    if (w->inner && w->inner->archive)
        w->inner->archive(w->inner, a);
    if (w->balance && w->balance->archive)
        w->balance->archive(w->balance, a);
}

void taut_projecting_release(taut_solver *solver)
{
    taut_projecting *w = &solver->projecting;
    taut_field *made[] = {w->inner, w->balance};
    for (int k = 0; k < 2; k++)
        if (made[k] && made[k]->destroy)
            made[k]->destroy(made[k]);
    w->inner = w->balance = NULL;
}
