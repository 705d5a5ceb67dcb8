/* choose.c - from options to a run: motion, method, times, step size. The caller's options override
 * [run] of the model; a method refuses a system that it does not support, with reasons from one
 * table. What neither specifies is chosen in motion.c. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "base/options.h"
#include "base/reasons.h"
#include "base/text.h"
#include "blackbox/flows.h"
#include "step/methods.h"
#include "system/rank_part.h"
#include "system/modes/modes.h"

enum { MOST_METHODS = 64 };

int taut_method_accepts(const taut_method *method, const taut_sizes *sizes, taut_error *error)
{
    unsigned bits = (method->needs & ~sizes->can) | (method->refuses & sizes->can);
    bool takes_first_order = method->follows || ((method->uses_field || method->first_order) &&
                                                 (method->motions & TAUT_MOTION_FULL));
    if (sizes->kind == TAUT_BLACK_BOX) {
        if (method->follows || (method->uses_field && (method->motions & TAUT_MOTION_SLOW)))
            return TAUT_OK;
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s needs equations, and a black box has none; explicit methods "
                         "integrate its slow motion (motion slow), method flow follows it",
                         method->name);
    }
    if (method->follows && sizes->kind == TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s follows black boxes and rates with a [stepper]; verlet and "
                         "dop8 integrate mechanical systems",
                         method->name);
    if (sizes->kind == TAUT_FIRST_ORDER && !takes_first_order)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s needs a mechanical system; explicit Runge-Kutta and Radau "
                         "methods support this one",
                         method->name);
    if (sizes->kind ==
        TAUT_FIRST_ORDER) /* rates are there, whatever the model's own stepper does with them */
        bits &= ~(unsigned)(TAUT_HAS_STEPPER | TAUT_CAN_INVERT_MASS);
    if (!bits)
        return TAUT_OK;
    char text[500];
    return taut_fail(error, TAUT_ERROR_REFUSED, "method %s %s", method->name,
                     taut_reasons_text(bits, text, sizeof text));
}

/* No method of the table has this motion: the available ones. */
static int fail_motion(const char *motion, taut_error *error)
{
    char text[80];
    unsigned bits = 0;
    for (int k = 0; taut_method_table[k]; k++)
        bits |= taut_method_table[k]->motions;
    return taut_fail(error, TAUT_ERROR_REFUSED, "motion '%s' is unsupported; available: %s", motion,
                     taut_motions_text(bits, text, sizeof text));
}

int taut_method_unknown(const char *option, const char *name, taut_error *error)
{
    const char *names[MOST_METHODS];
    int count = 0;
    while (taut_method_table[count] && count < MOST_METHODS) {
        names[count] = taut_method_table[count]->name;
        count++;
    }
    const char *near = taut_near_miss(name, names, count);
    if (near)
        return taut_fail_option(error, TAUT_ERROR_USAGE, option,
                                "unknown method '%.40s'; did you mean %s?", name, near);
    taut_projection_info info = {.size = sizeof info};
    for (int k = 0; taut_projection_get(k, &info, NULL) == 0; k++)
        if (strcmp(info.name, name) == 0)
            return taut_fail_option(error, TAUT_ERROR_USAGE, option,
                                    "%s is a projection, not a method of motion in time; `taut "
                                    "project` uses it",
                                    info.name);
    return taut_fail_option(error, TAUT_ERROR_USAGE, option,
                            "unknown method '%.40s'; `taut methods` lists the available ones",
                            name);
}

const taut_method *taut_method_find(const char *name)
{
    for (int k = 0; taut_method_table[k]; k++)
        if (strcmp(taut_method_table[k]->name, name) == 0)
            return taut_method_table[k];
    return NULL;
}

static bool motion_exists(unsigned motion)
{
    for (int k = 0; taut_method_table[k]; k++)
        if (taut_method_table[k]->motions & motion)
            return true;
    return false;
}

/* The motion for a method that is given: the only one it has, or what the initial state suggests
 * among those it has. */
static int motion_of(taut_solver *solver, const taut_method *method, unsigned *motion,
                     taut_error *error)
{
    unsigned has = method->motions;
    *motion = has;
    if ((has & (has - 1)) == 0)
        return TAUT_OK;
    TAUT_TRY(taut_motion_choose(solver, motion, error));
    /* explicit methods have motion slow, RATTLE motion effective where it is specified, or Taut
     * chooses the method too */
    if ((has & *motion) && !(method->uses_field && *motion == TAUT_MOTION_SLOW) &&
        !(method->averages && *motion == TAUT_MOTION_EFFECTIVE))
        return TAUT_OK;
    solver->why[0] = '\0';
    *motion = has & TAUT_MOTION_FULL ? TAUT_MOTION_FULL : has & -has;
    return TAUT_OK;
}

/* The method for a motion that is known: the one that is given, or the first of its motion that
 * accepts the system. */
static int settle_method(taut_solver *solver, const taut_method *method, bool step_given,
                         taut_error *error)
{
    if (solver->motion == TAUT_MOTION_RIGID) {
        TAUT_TRY(taut_redundant_begin(solver, true, error));
        TAUT_TRY(taut_start_system(solver, method, error));
    }
    solver->own_choice = !method;
    if (!method) {
        method = taut_motion_method(solver, step_given);
        if (!method && solver->motion == TAUT_MOTION_SLOW && (solver->sizes.can & TAUT_HAS_PAIRS))
            TAUT_TRY(taut_slow_level_supports(solver, error));
        for (int k = 0; !method && taut_method_table[k];
             k++) /* none accepts: the first one gives the reason */
            method = taut_method_table[k]->motions & solver->motion ? taut_method_table[k] : NULL;
    }
    if (solver->sizes.kind !=
        TAUT_MECHANICAL) /* "needs a mechanical system" is clearer than the name of a motion */
        TAUT_TRY(taut_method_accepts(method, &solver->sizes, error));
    if (!(method->motions & solver->motion)) {
        char text[80];
        return taut_fail(error, TAUT_ERROR_REFUSED, "method %s is for motion %s, not for motion %s",
                         method->name, taut_motions_text(method->motions, text, sizeof text),
                         taut_motion_name(solver->motion));
    }
    const unsigned momenta = TAUT_HAS_KINETIC | TAUT_HAS_VARYING_MASS;
    if (method->in_momenta && (solver->sizes.can & momenta) == momenta)
        method = method->in_momenta;
    solver->stepper.method = method;
    TAUT_TRY(taut_projecting_check(solver, method, error));
    TAUT_TRY(taut_method_accepts(method, &solver->sizes, error));
    return solver->motion == TAUT_MOTION_EFFECTIVE ? taut_start_system(solver, method, error)
                                                   : TAUT_OK;
}

/* First order and black boxes: full, or slow by explicit methods (projective.c). */
static int choose_first_order(taut_solver *solver, const taut_method **method, unsigned *motion,
                              bool given, taut_error *error)
{
    bool box = solver->sizes.kind == TAUT_BLACK_BOX;
    if (*motion & (TAUT_MOTION_RIGID | TAUT_MOTION_EFFECTIVE) && given)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "motion",
                                "only mechanical systems have motions such as %s; rates and black "
                                "boxes have motion full or slow",
                                taut_motion_name(*motion));
    if (!*motion && box && !(*method && (*method)->follows))
        *motion = TAUT_MOTION_SLOW;
    if (*motion != TAUT_MOTION_SLOW)
        *motion = TAUT_MOTION_FULL;
    if (solver->direct) {
        *motion = TAUT_MOTION_FULL;
        *method = box ? &taut_follow_flow : NULL;
    }
    if (*method && *motion == TAUT_MOTION_SLOW && !(*method)->uses_field)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s is no explicit one, and slow motion of rates and black boxes "
                         "needs one of these: euler, midpoint, rk4, dopri5, dop8",
                         (*method)->name);
    if (!*method && box && *motion == TAUT_MOTION_FULL)
        *method = &taut_follow_flow;
    if (*method && box && *motion == TAUT_MOTION_FULL && !(*method)->follows)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s needs equations, and a black box has none; explicit methods "
                         "integrate its slow motion (motion slow), method flow follows it",
                         (*method)->name);
    return TAUT_OK;
}

/* Motion and method determine each other where only one is given. When the caller gives one of
 * them, that of [run] for the other counts only if the two agree. */
static int choose_method(taut_solver *solver, const taut_options *given, taut_error *error)
{
    const taut_options *merged = solver->options;
    const char *motion = taut_options_text(merged, "motion"),
               *name = taut_options_text(merged, "method");
    const taut_method *method = solver->own ? solver->own : taut_method_find(name);
    bool motion_given = taut_options_given(given, "motion"),
         method_given = solver->own || taut_options_given(given, "method");
    if (name[0] && !method && !(motion_given && !method_given))
        return taut_method_unknown("method", name, error);

    bool inside = taut_projecting_inside(solver);
    solver->unspecified = !motion[0] && !name[0] && !solver->own && !inside;
    unsigned bit = taut_motion_bit(motion);
    if (!bit && inside)
        bit = TAUT_MOTION_SLOW;
    bool agree = method && (method->motions & bit);
    if (method && bit && !agree && method_given && !motion_given)
        bit = 0;
    else if (bit && !agree && motion_given && !method_given)
        method = NULL;

    if (solver->sizes.kind != TAUT_MECHANICAL) {
        TAUT_TRY(choose_first_order(solver, &method, &bit, motion_given, error));
    } else if (!bit && method) {
        TAUT_TRY(motion_of(solver, method, &bit, error));
    } else if (!bit) {
        TAUT_TRY(taut_motion_choose(solver, &bit, error));
    }
    if (!motion_exists(bit))
        return fail_motion(taut_motion_name(bit), error);
    solver->motion = bit;
    bool averaged = bit == TAUT_MOTION_EFFECTIVE || bit == TAUT_MOTION_FULL ||
                    solver->sizes.kind != TAUT_MECHANICAL;
    bool step_given = taut_options_given(averaged ? given : merged, "step");
    return settle_method(solver, method, step_given, error);
}

/* A step of [run] is for the method of [run], or for methods that resolve every oscillation and
 * have no error estimate; others would be slowed down by a step that was made for that. */
static void choose_step_source(taut_solver *solver, const taut_options *given,
                               const taut_method *of_run)
{
    const taut_method *method = solver->stepper.method;
    solver->step = solver->direct ? NAN : taut_options_real(solver->options, "step");
    bool from_run = !taut_options_given(given, "step"),
         longer = method->error_order > 0 || solver->motion == TAUT_MOTION_EFFECTIVE ||
                  (solver->motion == TAUT_MOTION_SLOW && solver->sizes.kind != TAUT_MECHANICAL);
    if (from_run && longer && method != of_run)
        solver->step = NAN;
    solver->step_in_run = from_run && !isnan(solver->step);
    solver->control.on = isnan(solver->step) && method->error_order > 0;
    solver->tolerant = solver->control.on || (isnan(solver->step) && method->kicks);
}

/* A tolerance that was given must be honoured. With a fixed step size it is that of the initial
 * state in slow motion, and of bursts (projective.c). */
static int check_tolerance(const taut_solver *solver, const taut_options *given, taut_error *error)
{
    const taut_method *method = solver->stepper.method;
    bool named = solver->own || taut_options_given(solver->options, "method"),
         estimates = method->error_order > 0 || method->kicks;
    const char *name = taut_options_given(given, "rtol")   ? "rtol"
                       : taut_options_given(given, "atol") ? "atol"
                                                           : NULL;
    if (!name || solver->tolerant ||
        (solver->motion == TAUT_MOTION_SLOW &&
         (estimates || solver->sizes.kind != TAUT_MECHANICAL)))
        return TAUT_OK;
    if (taut_options_given(given, "step") && (estimates || !named))
        return taut_fail_option(error, TAUT_ERROR_USAGE, name,
                                "a tolerance and a fixed step size contradict each other: omit "
                                "`step`, and the tolerance determines the step size, or omit `%s`",
                                name);
    if (estimates)
        return taut_fail_option(error, TAUT_ERROR_USAGE, name,
                                "[run] of the model has a fixed step size for method %s, which "
                                "contradicts a tolerance: remove `step` there, or omit `%s`",
                                method->name, name);
    return taut_fail_option(error, TAUT_ERROR_USAGE, name,
                            "method %s has a fixed step size and no error estimate, so that it "
                            "cannot honour a tolerance: omit it, or use a method with adaptive "
                            "step size, such as dop8",
                            method->name);
}

static int choose_times(taut_solver *solver, taut_error *error)
{
    const taut_options *merged = solver->options;
    solver->from = taut_options_real(merged, "from");
    solver->until = taut_options_real(merged, "until");
    /* a fixed step size has no tolerance, but the initial state of slow motion may oscillate no
     * more than one allows */
    const taut_options *tolerant =
        solver->tolerant || solver->motion == TAUT_MOTION_SLOW ? merged : NULL;
    solver->stepper.rtol = taut_options_real(tolerant, "rtol");
    solver->stepper.atol = taut_options_real(tolerant, "atol");
    static const char *const looks[] = {"never", "auto", "always"};
    const char *verify = taut_options_text(merged, "verify");
    for (int k = 0; k < 3; k++)
        if (strcmp(verify, looks[k]) == 0)
            solver->verify = (taut_verify)k;
    if (taut_run_space(solver)) /* there is no second look */
        solver->verify = TAUT_VERIFY_NEVER;
    solver->asked = solver->stepper.rtol;
    double most = solver->tolerant ? taut_options_real(merged, "max-step") : NAN;
    solver->control.most = isnan(most) ? INFINITY : most;
    solver->step_limit = taut_options_integer(merged, "steps");
    if (isnan(solver->until) && (solver->step_limit > 0 || solver->stepper.trial))
        solver->until = INFINITY; /* the limit ends the run; the end time follows from the step */
    if (isnan(solver->until))
        return taut_fail_option(
            error, TAUT_ERROR_USAGE, "until",
            "an end time is required (here, or as `until = ...` in [run] of the model)");
    return TAUT_OK;
}

static int read_settings(const taut_system *system, taut_options *merged, taut_error *error)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++) {
        const taut_option *row = taut_option_find(name);
        if (row && !row->in_model)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "[run] %s: this option cannot stand in a model", name);
        TAUT_TRY(taut_options_set_as(merged, "[run] ", name, value, error));
    }
    return TAUT_OK;
}

int taut_choose(taut_solver *solver, const taut_options *options, taut_error *error)
{
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &solver->options, error));
    TAUT_TRY(taut_options_track(solver->options, error));
    TAUT_TRY(read_settings(solver->system, solver->options, error));
    const taut_method *of_run = taut_method_find(taut_options_text(solver->options, "method"));
    TAUT_TRY(taut_options_merge(solver->options, options, error));
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &solver->call, error));
    TAUT_TRY(taut_options_merge(solver->call, options, error));
    TAUT_TRY(taut_part_refuse(solver->model, error));
    int status = taut_redundant_begin(solver, false, error);
    TAUT_TRY(taut_fail_final(status, error, error));
    if (solver->stepper.trial) /* the diagnosis is wanted in any case */
        TAUT_TRY(taut_motion_diagnose(solver, status == 0 ? error : NULL));
    TAUT_TRY(status);
    TAUT_TRY(taut_ranks_refuse_options(solver, error));
    TAUT_TRY(taut_projecting_read(solver, error));
    TAUT_TRY(choose_method(solver, options, error));
    choose_step_source(solver, options, of_run);
    TAUT_TRY(taut_ranks_refuse_method(solver, error));
    TAUT_TRY(check_tolerance(solver, options, error));
    return choose_times(solver, error);
}

/* Over several ranks there is no spectrum. */
static int fail_bound(const taut_solver *solver, double stability, taut_error *error)
{
    return taut_fail_option(error, TAUT_ERROR_STEP, "step",
                            "over several ranks the step size must be below %g/omega = %.4g, omega "
                            "a bound of the frequencies of the springs",
                            stability, stability / solver->bound);
}

/* The fastest frequency at the initial state: of the diagnosis, where the run begins there. Of
 * large systems a spectrum takes as long as thousands of steps: where the step size is given, a
 * bound that shows that it is stable will do. */
static int find_frequency(taut_solver *solver, taut_error *error)
{
    enum { LARGE = 400 };
    taut_diagnosis here;
    const taut_diagnosis *d = &solver->diagnosis;
    const taut_state *now = &solver->stepper.now;
    double stability = solver->stepper.method->stability;
    if (!(solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)) || stability == 0 ||
        solver->level.field || solver->projecting.inner)
        return TAUT_OK;
    taut_space *space = taut_run_space(solver);
    if (space || !taut_start_diagnosed(solver) || d->frequencies == 0) {
        taut_error reason;
        int status = 0;
        if (space || (!solver->control.on && !isnan(solver->step) && solver->stepper.n > LARGE))
            status = taut_frequency_bound(solver->context, now->t, now->q, &solver->bound, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        if (space)
            solver->bound = taut_space_largest(space, solver->bound);
        if (solver->bound > 0 && solver->step * solver->bound < stability)
            return TAUT_OK;
        if (space)
            return fail_bound(solver, stability, error);
        solver->bound = 0;
        TAUT_TRY(taut_diagnose(solver->context, now->t, now->q, taut_state_v(now),
                               TAUT_DIAGNOSE_FASTEST, TAUT_BACKEND_AUTO, &here, error));
        d = &here;
    }
    solver->frequency = d->fastest;
    return TAUT_OK;
}

static int check_step(const taut_solver *solver, taut_error *error)
{
    double stability = solver->stepper.method->stability,
           limit = solver->frequency > 0 ? stability / solver->frequency : INFINITY;
    if (stability > 0 && solver->step >= limit)
        return taut_fail(error, TAUT_ERROR_STEP,
                         "step %g is unstable: the fastest spring needs h < %g/omega = %.4g; h = "
                         "%.2g resolves its period with 30 steps",
                         solver->step, stability, limit, 2 * acos(-1) / (30 * solver->frequency));
    double largest = fmax(fabs(solver->from), isinf(solver->until) ? 0 : fabs(solver->until));
    if (solver->step < 16 * DBL_EPSILON * largest)
        return taut_fail(error, TAUT_ERROR_STEP,
                         "step %g is too small: adding it to t = %g changes nothing", solver->step,
                         largest);
    return TAUT_OK;
}

/* Rows at 1000 equal distances; fewer of large systems, since a row costs as much as a step or
 * more: of 10,000 numbers with 17 digits, as some 40 evaluations. They have one row in a step at
 * most, unless there are events, whose rows would be counted by the second look. Without an end
 * time, and where a row needs a slow point from forces alone, each step is a row; a vibrating state
 * (raw, impulse methods) exists at the ends of steps only. */
static int choose_rows(taut_solver *solver, taut_error *error)
{
    enum { MOST = 1000, LEAST = 100, NUMBERS = 1000000 };
    const taut_stepper *s = &solver->stepper;
    double every = taut_options_real(solver->options, "every"), /* NaN: not given, or `step` */
        length = fabs(solver->until - solver->from),
           width = taut_space_sum(taut_run_space(solver), 2. * s->n + s->m) + solver->sizes.outputs,
           rows = fmin(fmax(floor(NUMBERS / fmax(width, 1)), LEAST), MOST);
    bool vibrating =
        solver->motion == TAUT_MOTION_EFFECTIVE && taut_options_flag(solver->options, "raw");
    bool each_step = vibrating || taut_options_given(solver->options, "every") || isinf(length) ||
                     solver->projecting.costly;
    solver->rows.every = every > 0 && !vibrating ? every : each_step ? 0 : length / rows;
    solver->rows.few = !each_step && rows < MOST && solver->sizes.events == 0;
    double count = taut_solver_rows(solver);
    /* where the number of steps may end the run before, rows are counted in each step */
    bool known = isfinite(length) && (!solver->control.on || solver->step_limit == 0);
    return known && solver->rows.every > 0 && count > TAUT_MOST_ROWS
               ? taut_rows_refuse(solver, count, "", error)
               : TAUT_OK;
}

double taut_solver_rows(const taut_solver *solver)
{
    if (!solver)
        return NAN;
    if (solver->rows.times)
        return (double)solver->rows.count;
    double length = fabs(solver->until - solver->from), fastest = solver->diagnosis.fastest;
    if (!solver->control.on && solver->step_limit > 0)
        length = fmin(length, (double)solver->step_limit * solver->step);
    double at_times = floor(length / solver->rows.every + 1e-9) + 1,
           at_steps = ceil(length / solver->step - 1e-9) + 1;
    if (solver->rows.every > 0)
        return solver->rows.few && !solver->control.on ? fmin(at_times, at_steps) : at_times;
    if (!solver->control.on)
        return at_steps;
    if (solver->step_limit > 0)
        return (double)solver->step_limit + 1;
    return solver->motion == TAUT_MOTION_FULL && fastest > 0 ? length * fastest : NAN;
}

/* Methods with kicks: one step size for the run. The leading error of kicks by a force of rate w
 * is (h w)^2/12, relative to the force, or of order 4 (outer_kicks.c), and h w = 0.7 is short of
 * where they become unstable. Errors of order 1/separation remain with every step size [E
 * Theorem 2.2]: without a tolerance of the user it is that. The force of the vibration is no part
 * of the slow rate; bonds that turn, and the length of the run, are bounds where that is smaller.
 */
static int choose_outer(taut_solver *solver, taut_error *error)
{
    static const double MOST = 0.7;
    enum { LEAST_STEPS = 16 };
    taut_stepper *s = &solver->stepper;
    const taut_diagnosis *d = &solver->diagnosis;
    const taut_kick_error kicks = taut_kick_error_of(solver->options);
    double length = fabs(solver->until - solver->from), h;
    TAUT_TRY(taut_motion_diagnose(solver, error));
    if (!isfinite(d->slow_rate) || (d->slow_rate == 0 && !isfinite(length)))
        return taut_fail_option(error, TAUT_ERROR_USAGE, "step",
                                "a step size is required: the rate of the slow motion, which would "
                                "determine it, is unknown");
    s->slow_rate = fmax(fmax(d->slow_rate, d->turning_rate), 1 / length);
    s->floor = fmin(s->slow_rate / d->least, MOST * MOST / 12);
    s->error_order = kicks.order;
    if (!taut_options_given(solver->options, "rtol"))
        s->rtol = solver->asked = fmax(s->rtol, s->floor);
    h = fmin(pow(kicks.part * s->rtol, 1. / kicks.order), MOST) / s->slow_rate;
    h = fmin(fmin(h, solver->control.most), length / LEAST_STEPS);
    solver->step = isfinite(length) ? length / ceil(length / h - 1e-9) : h;
    return taut_norm_create(solver, error);
}

/* The fixed step size: as given, or from the fastest spring. */
static int fix_step(taut_solver *solver, bool given, double period, taut_error *error)
{
    const taut_options *options = solver->options;
    double horizon = taut_options_real(options, "horizon");
    if (isnan(horizon))
        horizon = taut_stepper_number(solver->system, "horizon");
    if (solver->tolerant)
        TAUT_TRY(choose_outer(solver, error));
    else if (!given && isinf(period) && !(solver->stepper.method->follows && horizon > 0))
        return taut_fail_option(error, TAUT_ERROR_USAGE, "step", "a step size is required: %s",
                                solver->stepper.method->stability > 0
                                    ? "there is no spring whose period would determine it"
                                    : "this method has no error estimate that would choose it");
    if (!given && solver->stepper.method->follows)
        solver->step = horizon;
    else if (!given && !solver->tolerant)
        solver->step = period / 30;
    if (isinf(solver->until))
        solver->until = solver->from + (double)solver->step_limit * solver->step;
    return check_step(solver, error);
}

/* One line: motion, method, step, and why. */
static void explain(taut_solver *solver, bool given, double period)
{
    const taut_stepper *s = &solver->stepper;
    const taut_kick_error kicks = taut_kick_error_of(solver->options);
    solver->explanation[0] = '\0';
    if (s->first_order)
        TAUT_APPEND(solver->explanation, "first order%s, method %s (order %d)",
                    solver->projective ? ", motion slow" : "", s->method->name, s->method->order);
    else
        TAUT_APPEND(solver->explanation, "motion %s, method %s (order %d)",
                    taut_motion_name(solver->motion), s->method->name,
                    s->method->kicks ? kicks.order : s->method->order);
    if (solver->control.on)
        TAUT_APPEND(solver->explanation, ", adaptive step size with rtol %g", s->rtol);
    if (solver->control.on && s->atol > 0)
        TAUT_APPEND(solver->explanation, ", atol %g", s->atol);
    if (!solver->control.on)
        TAUT_APPEND(solver->explanation, ", step %.6g%s", solver->step,
                    !given                ? " (chosen)"
                    : solver->step_in_run ? " (of [run])"
                                          : "");
    if (solver->tolerant && !solver->control.on)
        TAUT_APPEND(
            solver->explanation,
            " for the whole run: (h w)^%d/%.4g is at most rtol %.3g, w = %.4g the slow rate; "
            "errors of order w/omega = %.2g remain with every step size",
            kicks.order, kicks.part, s->rtol, s->slow_rate, s->floor);
    if (solver->frequency > 0 && !solver->control.on)
        TAUT_APPEND(solver->explanation,
                    ": %.3g steps in the period of the fastest spring (omega = %.6g)",
                    period / solver->step, solver->frequency);
    else if (solver->bound > 0)
        TAUT_APPEND(solver->explanation,
                    ": at least %.3g steps in the period of each spring (omega <= %.6g)",
                    2 * acos(-1) / (solver->bound * solver->step), solver->bound);
    else if (!solver->control.on && s->method->stability > 0 &&
             solver->projecting.when != TAUT_PROJECT_STAGE &&
             (solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        TAUT_APPEND(solver->explanation,
                    ": the frequencies of the springs could not be computed; only the energy shows "
                    "whether it is small enough");
    if (solver->stabilizer)
        TAUT_APPEND(solver->explanation, "; stabilised: %s", solver->stabilizer->name);
    TAUT_APPEND(solver->explanation, "%s%s%s", solver->why[0] ? "; " : "", solver->why,
                solver->begun);
    if (solver->model->compiled)
        TAUT_APPEND(solver->explanation, "; %s", solver->model->compiled);
}

int taut_choose_step(taut_solver *solver, taut_error *error)
{
    TAUT_TRY(find_frequency(solver, error));
    double period = solver->frequency > 0 ? 2 * acos(-1) / solver->frequency : INFINITY;
    bool given = !isnan(solver->step);
    if (!solver->control.on)
        TAUT_TRY(fix_step(solver, given, period, error));
    else
        TAUT_TRY(taut_control_create(solver, error));
    TAUT_TRY(choose_rows(solver, error));
    explain(solver, given, period);
    return TAUT_OK;
}
