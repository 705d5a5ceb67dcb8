/* motion.c - from a motion to what runs: the system that moves, the default method, the field, the stabiliser and the start.
 *
 *     rigid       c = 0 for every bond that is not soft; start at the foot point; index-1 field, post-stabilised
 *     slow        the stiff system itself in compliance form
 *     effective   bounded oscillations averaged
 *     full        every oscillation resolved; a start that violates rigid bonds is moved onto those alone
 *
 * When nobody says which, the oscillatory energy of the start decides (taut_check measures it). */
#include "drive/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double HARDLY_RINGS = 1e-3; /* oscillatory energy over the energy scale */
static const double SEPARATED = 10;      /* lowest frequency over the slow rate */

/* ---- which motion */

/* Does the table have a method of this motion that takes the system? */
static bool offered(const taut_sizes *sizes, unsigned motion)
{
    for (int k = 0; taut_method_table[k]; k++)
        if ((taut_method_table[k]->motions & motion) && taut_method_accepts(taut_method_table[k], sizes, NULL) == 0)
            return true;
    return false;
}

/* What the start says about a system with springs. */
static unsigned judge_start(const taut_check_report *r, const taut_sizes *sizes, char *why, size_t size)
{
    double ratio = r->slow_rate > 0 ? r->frequency_least / r->slow_rate : INFINITY;
    double ringing = r->oscillatory_energy, scale = r->energy_scale;
    if (r->rank >= sizes->coordinates) {
        snprintf(why, size, "full because the bonds leave no slow motion");
        return TAUT_MOTION_FULL;
    }
    if (!(ratio >= SEPARATED)) {
        snprintf(why, size, "full because fast (%.3g) and slow (about %.3g) are not separated", r->frequency_least, r->slow_rate);
        return TAUT_MOTION_FULL;
    }
    if (ringing <= HARDLY_RINGS * scale && offered(sizes, TAUT_MOTION_SLOW)) {
        snprintf(why, size, "slow because the start hardly rings (oscillatory energy %.2g of %.2g)", ringing, scale);
        return TAUT_MOTION_SLOW;
    }
    if (ringing > HARDLY_RINGS * scale && offered(sizes, TAUT_MOTION_EFFECTIVE)) {
        snprintf(why, size,
                 "effective because the start rings (oscillatory energy %.2g of %.2g): actions are kept, oscillations averaged",
                 ringing, scale);
        return TAUT_MOTION_EFFECTIVE;
    }
    snprintf(why, size, "full: oscillatory energy %.2g of %.2g", ringing, scale);
    return TAUT_MOTION_FULL;
}

static int examine_start(const taut_solver *solver, taut_check_report *report, taut_error *error)
{
    taut_options *options;
    char from[40];
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &options, error));
    snprintf(from, sizeof from, "%.17g", taut_options_real(solver->options, "from"));
    int status = taut_options_set(options, "no-derivatives", "yes", error);
    if (status == 0)
        status = taut_options_set(options, "from", from, error);
    if (status == 0)
        status = taut_check(solver->system, options, report, error);
    taut_options_destroy(options);
    return status;
}

int taut_motion_choose(taut_solver *solver, unsigned *motion, taut_error *error)
{
    const taut_sizes *sizes = &solver->sizes;
    taut_check_report report;
    *motion = TAUT_MOTION_FULL;
    if (!(sizes->can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL))) {
        if ((sizes->can & TAUT_HAS_RIGID) && offered(sizes, TAUT_MOTION_RIGID))
            *motion = TAUT_MOTION_RIGID;
        return TAUT_OK;
    }
    TAUT_TRY(examine_start(solver, &report, error));
    *motion = judge_start(&report, sizes, solver->why, sizeof solver->why);
    return TAUT_OK;
}

/* ---- which system, which method */

int taut_motion_system(taut_solver *solver, taut_error *error)
{
    if (solver->motion != TAUT_MOTION_RIGID || solver->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    TAUT_TRY(taut_system_rigid(solver->system, &solver->derived, error));
    solver->moving = solver->derived;
    taut_system_sizes(solver->moving, &solver->sizes);
    return TAUT_OK;
}

static const taut_method *named(const char *name)
{
    for (int k = 0; taut_method_table[k]; k++)
        if (strcmp(taut_method_table[k]->name, name) == 0)
            return taut_method_table[k];
    return NULL;
}

/* Usable without more said: it takes the system, and knows its steps. */
static bool usable(const taut_solver *solver, const taut_method *method, bool step_said)
{
    bool springs = solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    bool knows = step_said || method->error_order > 0 || (springs && method->stability > 0);
    return method && (method->motions & solver->motion) && knows && taut_method_accepts(method, &solver->sizes, NULL) == 0;
}

const taut_method *taut_motion_method(const taut_solver *solver, bool step_said)
{
    static const struct {
        unsigned motion;
        const char *names[4]; /* in order of preference */
    } preferred[] = {
        {TAUT_MOTION_RIGID, {"dop8", "radau5", "rattle"}},
        {TAUT_MOTION_SLOW, {"radau5"}},
        {TAUT_MOTION_EFFECTIVE, {"projected-impulse", "effective"}},
        {TAUT_MOTION_FULL, {"verlet", "dop8", "radau5"}},
    };
    bool damped = solver->sizes.kind == TAUT_MECHANICAL && (solver->sizes.can & TAUT_HAS_DAMPING);
    const taut_method *radau = named("radau5");
    if (damped && radau && usable(solver, radau, step_said)) /* strong damping is stiff */
        return radau;
    for (size_t j = 0; j < sizeof preferred / sizeof preferred[0]; j++)
        for (int k = 0; preferred[j].motion == solver->motion && k < 4 && preferred[j].names[k]; k++) {
            const taut_method *method = named(preferred[j].names[k]);
            if (method && usable(solver, method, step_said))
                return method;
        }
    for (int pass = 0; pass < 2; pass++) /* any that knows its steps; then any that takes the system */
        for (int k = 0; taut_method_table[k]; k++)
            if ((taut_method_table[k]->motions & solver->motion) && usable(solver, taut_method_table[k], step_said || pass))
                return taut_method_table[k];
    return NULL;
}

/* ---- field and stabiliser */

int taut_motion_prepare(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    if (s->method->uses_field)
        return taut_fail(error, TAUT_ERROR_UNAVAILABLE, "this version has no fields for explicit methods");
    if (solver->drift.rows == 0 || s->first_order)
        return TAUT_OK;
    return TAUT_OK;
}

void taut_motion_release(taut_solver *solver)
{
    taut_projector *made[] = {solver->stabilizer, solver->assembly};
    for (int k = 0; k < 2; k++)
        if (made[k] && made[k]->destroy)
            made[k]->destroy(made[k]);
    if (solver->stepper.field && solver->stepper.field->destroy)
        solver->stepper.field->destroy(solver->stepper.field);
}

/* ---- the start */

/* Good already: moving it would only add rounding. */
static bool start_is_good(const taut_solver *solver)
{
    const taut_state *now = &solver->stepper.now;
    double q = 1, v = 1;
    for (taut_index i = 0; i < solver->stepper.n; i++) {
        q = fmax(q, fabs(now->q[i]));
        v = fmax(v, fabs(now->v[i]));
    }
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
    size_t used = strlen(solver->why);
    snprintf(solver->why + used, sizeof solver->why - used,
             "%sthe start was moved onto the rigid bonds, which it violated by %.2g (velocities %.2g)", used ? "; " : "", position,
             velocity);
    return TAUT_OK;
}

int taut_motion_start(taut_solver *solver, taut_error *error)
{
    if (solver->drift.rows > 0 && !solver->stepper.first_order)
        return start_on_bonds(solver, error);
    return TAUT_OK;
}
