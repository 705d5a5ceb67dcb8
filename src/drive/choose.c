/* choose.c - from options to a run: motion, method, times, step. The command line wins over [run] of the model; what a method cannot
 * treat is refused with words from one table. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "base/options.h"

enum { MOST_METHODS = 64 };

/* What a missing CAN bit or a present HAS bit means in a refusal, and what to do about it. */
static const struct {
    unsigned bit;
    const char *words, *advice;
} reasons[] = {
    {TAUT_CAN_FORCE, "needs forces that can be evaluated anywhere", "this model is a black box"},
    {TAUT_CAN_DERIVATIVES, "needs exact derivatives", "state the system in a model file"},
    {TAUT_CAN_JETS, "needs Taylor jets", "state the system in a model file"},
    {TAUT_CAN_INVERT_MASS, "needs a mass matrix that can be inverted", "give every coordinate a mass"},
    {TAUT_HAS_RIGID, "cannot treat rigid bonds", "give the bonds a stiffness"},
    {TAUT_HAS_SPRINGS, "cannot treat springs", "make the bonds rigid"},
    {TAUT_HAS_DAMPING, "cannot treat damped bonds", "leave out `damping`"},
    {TAUT_HAS_STIFF_POTENTIAL, "cannot treat a stiff potential", "write it as bonds with a stiffness"},
    {TAUT_HAS_VELOCITY_FORCES, "cannot treat forces that depend on velocities", "leave them out"},
    {TAUT_HAS_VARYING_MASS, "cannot treat a mass matrix that varies", "use coordinates in which it is constant, such as particles"},
    {TAUT_HAS_TIME, "cannot treat forces or masses that depend on t", "leave out `t`"},
    {TAUT_HAS_MOVING_BONDS, "cannot treat bonds that depend on t", "leave out `t`"},
    {TAUT_HAS_KINETIC, "cannot treat a kinetic energy", "give masses"},
    {TAUT_HAS_FORCES, "cannot treat forces without a potential", "give potentials"},
    {TAUT_HAS_EVENTS, "cannot treat events", "leave out [events]"},
    {TAUT_HAS_ALGEBRAIC, "cannot treat algebraic variables", "eliminate them"},
    {TAUT_HAS_INVARIANTS, "cannot treat invariants", "leave out [invariants]"},
    {TAUT_HAS_STEPPER, "cannot treat a black box", "give equations"},
    {TAUT_HAS_KINKS, "cannot treat kinks (abs, min, floor)", "use smooth functions"},
};

static int refuse(const taut_method *method, const taut_sizes *sizes, taut_error *error)
{
    unsigned bits = (method->needs & ~sizes->can) | (method->refuses & sizes->can);
    if (sizes->kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED, "method %s needs a mechanical system; methods for %s are not in this version",
                         method->name, sizes->kind == TAUT_BLACK_BOX ? "black boxes" : "first-order systems");
    if (!bits)
        return TAUT_OK;
    char text[500] = "";
    size_t used = 0;
    for (size_t k = 0; k < sizeof reasons / sizeof reasons[0]; k++)
        if ((bits & reasons[k].bit) && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s)", used ? ", " : "", reasons[k].words,
                                     reasons[k].advice);
    return taut_fail(error, TAUT_ERROR_REFUSED, "method %s %s", method->name, text);
}

/* "motion full with method verlet is": every pair that the table offers. */
static int fail_motion(const char *motion, taut_error *error)
{
    char text[400] = "", bits[80];
    size_t used = 0;
    for (int k = 0; taut_method_table[k] && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%smotion %s with method %s", used ? ", " : "",
                                 taut_motions_text(taut_method_table[k]->motions, bits, sizeof bits), taut_method_table[k]->name);
    return taut_fail(error, TAUT_ERROR_REFUSED, "motion '%s' is not in this version; %s is", motion, text);
}

static int fail_method(const char *name, taut_error *error)
{
    const char *names[MOST_METHODS];
    int count = 0;
    while (taut_method_table[count] && count < MOST_METHODS) {
        names[count] = taut_method_table[count]->name;
        count++;
    }
    const char *near = taut_near_miss(name, names, count);
    if (near)
        return taut_fail(error, TAUT_ERROR_USAGE, "--method: there is no method '%.40s'; did you mean %s?", name, near);
    return taut_fail(error, TAUT_ERROR_USAGE, "--method: '%.40s' is not in this version; `taut methods` lists what is", name);
}

static const taut_method *find_method(const char *name)
{
    for (int k = 0; taut_method_table[k]; k++)
        if (strcmp(taut_method_table[k]->name, name) == 0)
            return taut_method_table[k];
    return NULL;
}

static const taut_method *first_method(unsigned motion)
{
    for (int k = 0; taut_method_table[k]; k++)
        if (taut_method_table[k]->motions & motion)
            return taut_method_table[k];
    return NULL;
}

/* Motion and method determine each other where only one is said. When the command line says one of them, what [run] says about the
 * other counts only if the two agree. */
static int choose_method(taut_solver *solver, const taut_options *given, const taut_options *merged, taut_error *error)
{
    const char *motion = taut_options_text(merged, "motion"), *name = taut_options_text(merged, "method");
    const taut_method *method = find_method(name);
    bool motion_said = taut_options_given(given, "motion"), method_said = taut_options_given(given, "method");
    if (name[0] && !method && !(motion_said && !method_said))
        return fail_method(name, error);

    unsigned bit = taut_motion_bit(motion);
    bool agree = method && (method->motions & bit);
    if (method && bit && !agree && method_said && !motion_said)
        bit = 0;
    else if (bit && !agree && motion_said && !method_said)
        method = NULL;

    if (!bit)
        bit = method ? method->motions & -method->motions : TAUT_MOTION_FULL;
    if (!first_method(bit))
        return fail_motion(taut_motion_name(bit), error);
    if (!method)
        method = first_method(bit);
    if (!(method->motions & bit)) {
        char text[80];
        return taut_fail(error, TAUT_ERROR_REFUSED, "method %s is for motion %s, not for motion %s", method->name,
                         taut_motions_text(method->motions, text, sizeof text), taut_motion_name(bit));
    }
    solver->stepper.method = method;
    solver->motion = taut_motion_name(bit);
    return refuse(method, &solver->sizes, error);
}

static int choose_times(taut_solver *solver, const taut_options *merged, taut_error *error)
{
    solver->from = taut_options_real(merged, "from");
    solver->until = taut_options_real(merged, "until");
    solver->step = taut_options_real(merged, "step");
    solver->step_limit = taut_options_integer(merged, "steps");
    double every = taut_options_real(merged, "every");
    solver->rows.every = isnan(every) ? -1 : every; /* -1: decided when the step is known */
    if (isnan(solver->until) && solver->step_limit > 0)
        solver->until = INFINITY; /* the limit ends the run; the end time follows from the step */
    if (isnan(solver->until))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "--until is needed: the time of the end (or `until = ...` in [run] of the model)");
    return TAUT_OK;
}

static int read_settings(const taut_system *system, taut_options *merged, taut_error *error)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++) {
        const taut_option *row = taut_option_find(name);
        if (row && !row->in_model)
            return taut_fail(error, TAUT_ERROR_USAGE, "[run] %s: only the command line can say this", name);
        TAUT_TRY(taut_options_set_as(merged, "[run] ", name, value, error));
    }
    return TAUT_OK;
}

int taut_choose(taut_solver *solver, const taut_options *options, taut_error *error)
{
    taut_options *merged;
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &merged, error));
    int status = read_settings(solver->system, merged, error);
    if (status == 0)
        status = taut_options_merge(merged, options, error);
    if (status == 0)
        status = choose_method(solver, options, merged, error);
    if (status == 0)
        status = choose_times(solver, merged, error);
    taut_options_destroy(merged);
    return status;
}

/* The fastest frequency at the start. A large system whose spectrum does not converge is run without it: the energy is watched. */
static int find_frequency(taut_solver *solver, taut_error *error)
{
    enum { ENDS = 2 };
    double frequency[2 * ENDS] = {0};
    int found = 0;
    bool complete;
    taut_error reason;
    const taut_state *now = &solver->stepper.now;
    if (!(solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        return TAUT_OK;
    int status = taut_frequencies(solver->context, now->t, now->q, ENDS, frequency, &found, &complete, &reason);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    if (status == 0 && found > 0)
        solver->frequency = frequency[found - 1];
    return TAUT_OK;
}

static int check_step(const taut_solver *solver, taut_error *error)
{
    double stability = solver->stepper.method->stability, limit = solver->frequency > 0 ? stability / solver->frequency : INFINITY;
    if (stability > 0 && solver->step >= limit)
        return taut_fail(
            error, TAUT_ERROR_STEP,
            "step %g is unstable: the fastest spring needs h < %g/omega = %.4g; h = %.2g follows it with 30 steps a period",
            solver->step, stability, limit, 2 * acos(-1) / (30 * solver->frequency));
    double largest = fmax(fabs(solver->from), isinf(solver->until) ? 0 : fabs(solver->until));
    if (solver->step < 16 * DBL_EPSILON * largest)
        return taut_fail(error, TAUT_ERROR_STEP, "step %g is too small: adding it to t = %g changes nothing", solver->step,
                         largest);
    return TAUT_OK;
}

/* Every step is a row while there are at most 1000, otherwise 1000 equal times. */
static void choose_rows(taut_solver *solver)
{
    enum { MOST_ROWS = 1000 };
    double length = fabs(solver->until - solver->from);
    if (solver->rows.every < 0)
        solver->rows.every = length / solver->step <= MOST_ROWS ? 0 : length / MOST_ROWS;
}

int taut_choose_step(taut_solver *solver, taut_error *error)
{
    const taut_method *method = solver->stepper.method;
    TAUT_TRY(find_frequency(solver, error));
    double period = solver->frequency > 0 ? 2 * acos(-1) / solver->frequency : INFINITY;
    bool said = !isnan(solver->step);
    if (!said && isinf(period))
        return taut_fail(error, TAUT_ERROR_USAGE, "--step is needed: there is no spring whose period would tell it");
    if (!said)
        solver->step = period / 30;
    if (isinf(solver->until))
        solver->until = solver->from + (double)solver->step_limit * solver->step;
    TAUT_TRY(check_step(solver, error));
    choose_rows(solver);
    int used = snprintf(solver->explanation, sizeof solver->explanation, "motion %s, method %s (order %d), step %.6g%s",
                        solver->motion, method->name, method->order, solver->step, said ? "" : " (chosen)");
    char *rest = solver->explanation + used;
    size_t room = sizeof solver->explanation - (size_t)used;
    if (solver->frequency > 0)
        snprintf(rest, room, ": %.3g steps in the period of the fastest spring (omega = %.6g)", period / solver->step,
                 solver->frequency);
    else if (solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL))
        snprintf(rest, room,
                 ": the frequencies of the springs could not be computed, so the energy alone tells whether it is small enough");
    return TAUT_OK;
}
