/* motion.c - which motion, and which method for it, when neither is specified.
 *
 *     rigid       c = 0 for every bond that is not soft
 *     slow        the stiff system itself on its slow manifold
 *     effective   bounded oscillations averaged
 *     full        every oscillation resolved
 *
 * The diagnosis of the initial state decides. `taut check` and every run use the same functions;
 * run_start.c puts the decision into effect. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/vectors.h"
#include "drive/solver.h"
#include "linalg/spectrum.h"
#include "project/project.h"
#include "step/methods.h"

static const double NEGLIGIBLE = 1e-3; /* oscillatory energy over the energy scale */
static const double SEPARATED = 10;    /* lowest stiff frequency over the slow rate: slow motion */
static const double AVERAGED = 30;     /* the same for effective motion */
static const double CALM = 10;         /* tolerances of an oscillation that is left out, in v */
static const double FORCES = 20;       /* times as many of spring forces */
static const double RESONANT = 0.05;   /* relative distance of frequencies */
static const double PER_RADIAN = 18;   /* evaluations of dop8 at rtol 1e-6, measured */
/* radians of the fastest vibration in a step of Verlet whose error is that of averaging, at
 * separation 1, and at most; units of taut_system_work besides the forces: of a step of Verlet, of
 * an evaluation of effective motion (bench/bench_effective_choice.c) */
static const double EQUAL = 45, LONGEST = 1.8, STEP = 600, EVALUATION = 2500;
static const double SPREAD = 3; /* of measured times over the estimate, largest of 50 states */

/* ---- which motion */

/* Does the table have a method of this motion that accepts the system? Of effective motion the one
 * that averages without micro-steps: others cost what full motion does. */
static bool offered(const taut_sizes *sizes, unsigned motion)
{
    if (motion == TAUT_MOTION_EFFECTIVE)
        return taut_method_accepts(&taut_effective, sizes, NULL) == 0;
    for (int k = 0; taut_method_table[k]; k++)
        if ((taut_method_table[k]->motions & motion) &&
            taut_method_accepts(taut_method_table[k], sizes, NULL) == 0)
            return true;
    return false;
}

bool taut_motion_oscillates(const taut_diagnosis *d)
{
    return d->oscillatory_energy > NEGLIGIBLE * d->energy_scale;
}

double taut_motion_separation(unsigned motion)
{
    return motion == TAUT_MOTION_SLOW ? SEPARATED : motion == TAUT_MOTION_EFFECTIVE ? AVERAGED : 0;
}

/* Along the effective motion, which a strong vibration drives. */
static double averaged_separation(const taut_diagnosis *d)
{
    return d->averaged_rate > d->slow_rate ? d->least / d->averaged_rate : d->separation;
}

static double averaged_gap(const taut_diagnosis *d)
{
    return fmin(d->resonance, d->averaged_gap);
}

bool taut_motion_resonant(double gap)
{
    return gap <= RESONANT;
}

static bool can_move(const taut_diagnosis *d, unsigned motion, unsigned avoid)
{
    return offered(&d->sizes, motion & ~avoid);
}

/* In brackets, what motion slow would neglect and effective motion average. */
static void append_oscillation(const taut_diagnosis *d, char *why, size_t size)
{
    taut_append(why, size, " (");
    if (isfinite(d->amplitude) && d->amplitude > 0)
        taut_append(why, size, "amplitude about %.2g, ", d->amplitude);
    taut_append(why, size, "energy %.3g, energy scale %.3g)", d->oscillatory_energy,
                d->energy_scale);
}

/* The cost of motion full with two digits, where it is known. */
static void append_cost(const taut_diagnosis *d, const char *words, char *why, size_t size)
{
    double digit = pow(10, floor(log10(d->full_evaluations)) - 1);
    if (isfinite(d->full_evaluations))
        taut_append(why, size, "%s about %.6g evaluations", words,
                    digit * round(d->full_evaluations / digit));
}

/* The exact motion, where it is cheap enough or the same as the slow one. */
static unsigned judge_exact(const taut_diagnosis *d, unsigned avoid, char *why, size_t size)
{
    bool slow = can_move(d, TAUT_MOTION_SLOW, avoid), separated = d->separation >= SEPARATED;
    if (d->rank >= d->sizes.coordinates || d->frequencies >= d->sizes.coordinates) {
        taut_append(why, size, "full because the bonds leave no slow motion");
        append_cost(d, "; full needs", why, size);
        return TAUT_MOTION_FULL;
    }
    if (d->calm && slow && separated) {
        taut_append(why, size,
                    "slow because the initial state is a slow point within the tolerance "
                    "(amplitude about %.2g), so that slow and full motion are the same",
                    d->amplitude);
        return TAUT_MOTION_SLOW;
    }
    if (!(d->full_cost <= TAUT_AFFORDABLE))
        return 0;
    taut_append(why, size, "full because every oscillation can be resolved");
    append_cost(d, " with", why, size);
    if (separated && slow && d->oscillatory_energy > 0 && !d->overdamped) {
        taut_append(why, size, "; motion slow would neglect an oscillation");
        append_oscillation(d, why, size);
    }
    return TAUT_MOTION_FULL;
}

/* Full motion at any cost: why no other one is possible. */
static unsigned judge_rest(const taut_diagnosis *d, unsigned avoid, char *why, size_t size)
{
    bool oscillates = taut_motion_oscillates(d),
         averages = oscillates && can_move(d, TAUT_MOTION_EFFECTIVE, avoid);
    if (d->overdamped) { /* implicit methods follow it, at another cost */
        taut_append(why, size, "full because overdamped springs are far from their equilibrium");
        append_oscillation(d, why, size);
        return TAUT_MOTION_FULL;
    }
    taut_append(why, size, "full because %s",
                oscillates ? "the initial state oscillates" : "motion slow is impossible");
    append_oscillation(d, why, size);
    if (averages && averaged_separation(d) < AVERAGED)
        taut_append(why, size, ", and motion effective needs a separation of %g (it is %.3g%s)",
                    AVERAGED, averaged_separation(d),
                    d->separation < AVERAGED ? "" : " on the way");
    else if (averages && isnan(d->resonance))
        taut_append(why, size, ", and resonances, which averaging neglects, are unknown");
    else if (averages && taut_motion_resonant(averaged_gap(d)))
        taut_append(why, size,
                    ", and averaging neglects that frequencies are in resonance to %.1f %%%s",
                    100 * averaged_gap(d), taut_motion_resonant(d->resonance) ? "" : " on the way");
    else if (averages)
        taut_append(why, size,
                    ", and motion effective would cost up to %.2g times as much as resolving every "
                    "oscillation",
                    d->averaging);
    else if (oscillates && (d->sizes.can & TAUT_HAS_STIFF_POTENTIAL))
        taut_append(why, size,
                    ", and a stiff potential has no bonds that could become rigid in motion "
                    "effective: write it as bonds with a stiffness");
    append_cost(d, "; full needs", why, size);
    return TAUT_MOTION_FULL;
}

/* For a system with stiff modes. */
static unsigned judge(const taut_diagnosis *d, unsigned avoid, char *why, size_t size)
{
    if (why[0])
        taut_append(why, size, "; "); /* after what failed before */
    unsigned exact = judge_exact(d, avoid, why, size);
    bool oscillates = taut_motion_oscillates(d);
    if (exact)
        return exact;
    if (d->frequencies < 0) {
        taut_append(
            why, size,
            "full because the stiff modes of a stiff potential of more than %d coordinates, "
            "from which the motion is chosen, are not computed: specify motion slow if the "
            "initial state does not oscillate, or write the potential as bonds with a "
            "stiffness",
            TAUT_SPECTRUM_DENSE);
        append_cost(d, "; full needs", why, size);
        return TAUT_MOTION_FULL;
    }
    if (!(d->separation >= SEPARATED)) {
        taut_append(why, size,
                    "full because the lowest stiff frequency (%.3g) is less than %g times the rate "
                    "of the slow motion (%.3g)",
                    d->least, SEPARATED, d->slow_rate);
        append_cost(d, "; full needs", why, size);
        return TAUT_MOTION_FULL;
    }
    if (!oscillates && can_move(d, TAUT_MOTION_SLOW, avoid)) {
        taut_append(why, size, "slow because the oscillation of the initial state is negligible");
        append_oscillation(d, why, size);
        append_cost(d, "; motion full would need", why, size);
        return TAUT_MOTION_SLOW;
    }
    if (oscillates && can_move(d, TAUT_MOTION_EFFECTIVE, avoid) &&
        averaged_separation(d) >= AVERAGED && d->averaging < 1 && !isnan(d->resonance) &&
        !taut_motion_resonant(averaged_gap(d))) {
        taut_append(why, size, "effective because the initial state oscillates");
        append_oscillation(d, why, size);
        append_cost(d, "; motion full would need", why, size);
        taut_append(why, size,
                    "; oscillations are averaged and their actions conserved; the error of "
                    "averaging is not part of the error shown");
        return TAUT_MOTION_EFFECTIVE;
    }
    return judge_rest(d, avoid, why, size);
}

unsigned taut_motion_advise(const taut_diagnosis *d, unsigned avoid, char *why, size_t size)
{
    bool stiff = d->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    if (stiff || d->frequencies > 0) /* soft springs are forces */
        return judge(d, avoid, why, size);
    bool rigid = d->sizes.kind == TAUT_MECHANICAL && (d->sizes.can & TAUT_HAS_RIGID) &&
                 offered(&d->sizes, TAUT_MOTION_RIGID & ~avoid);
    return rigid ? TAUT_MOTION_RIGID : TAUT_MOTION_FULL;
}

static taut_backend backend_of(const taut_options *options)
{
    const char *name = taut_options_text(options, "backend");
    for (int k = 0; k < TAUT_BACKEND_COUNT; k++)
        if (strcmp(taut_backend_name((taut_backend)k), name) == 0)
            return (taut_backend)k;
    return TAUT_BACKEND_AUTO;
}

/* May the initial state be a slow point within the tolerance, and does nothing excite oscillations
 * later? Velocities decide: those of an oscillation are its amplitude times the frequency. */
static bool may_be_calm(const taut_diagnosis *d, double tolerance, double speed)
{
    return d->sizes.kind == TAUT_MECHANICAL &&
           !(d->sizes.can & (TAUT_HAS_EVENTS | TAUT_HAS_KINKS)) && !d->overdamped &&
           d->separation >= SEPARATED && d->amplitude * d->most <= tolerance * speed;
}

/* Is (q, v) the slow point that was found, within the tolerance? Spring forces count too: at a
 * state at rest where lambda vanishes, but not its derivatives, stretches and velocities are small
 * and the forces of the oscillation are not. */
static bool is_near(const taut_projection *found, taut_diagnosis *d, taut_context *context,
                    double tolerance, double speed)
{
    const double *c = taut_context_compliance(context), *tau = taut_context_damping(context), *g,
                 *gdot;
    taut_index n = d->sizes.coordinates;
    taut_projection_result result = {.size = sizeof result};
    taut_projection_result_get(found, &result, NULL);
    double force = fmax(d->force, taut_largest(d->sizes.bonds, result.lambda)),
           rounding = 8 * DBL_EPSILON * taut_largest(n, result.q);
    if (!taut_projection_pass(found, 0, &g, &gdot, NULL) ||
        !(taut_largest_difference(n, result.v, result.start_v) <= tolerance * speed))
        return false;
    for (taut_index i = 0; i < d->sizes.bonds; i++) {
        double off = fabs(g[i] + tau[i] * gdot[i] - c[i] * result.lambda[i]);
        if (!(c[i] > 0) || taut_context_soft(context, i))
            continue;
        if (!(off <= FORCES * tolerance * c[i] * force + rounding))
            return false;
        d->neglected = fmax(d->neglected, off / c[i]);
    }
    return true;
}

/* Sets diagnosis.calm. Where the slow point is not found it remains unknown: false. */
static int find_calm(taut_solver *solver, taut_context *context, taut_arena *arena, const double *q,
                     const double *v, taut_error *error)
{
    taut_diagnosis *d = &solver->diagnosis;
    taut_index n = d->sizes.coordinates;
    taut_projection_settings settings;
    taut_projection *found = NULL;
    taut_error reason = {.t = NAN};
    if (d->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    double tolerance = CALM * taut_options_real(solver->options, "rtol"),
           speed = fmax(taut_largest(n, v), d->slow_rate * taut_largest(n, q));
    if (!may_be_calm(d, tolerance, speed))
        return TAUT_OK;
    TAUT_TRY(taut_projection_settings_for(solver->system, NULL, arena, &settings, error));
    settings.method = &taut_projection_series;
    settings.hold = NULL;
    settings.enough = 0.1 * tolerance; /* jets of levels beyond are much memory */
    int status =
        taut_project_state(context, d->t, q, v, &settings, &arena->allocator, &found, &reason);
    d->calm = status == 0 && is_near(found, d, context, tolerance, speed);
    taut_projection_destroy(found);
    return taut_fail_final(status, &reason, error);
}

/* What averaging costs compared with Verlet's method where both have the same error: that of
 * averaging falls with the separation, that of Verlet with the square of its step. */
static void estimate_averaging(taut_solver *solver)
{
    taut_diagnosis *d = &solver->diagnosis;
    const double work = taut_system_work(solver->system),
                 each = EVALUATION + 2 * work + d->modes_cost, one = STEP + work,
                 radians = fmin(LONGEST, EQUAL / sqrt(fmax(averaged_separation(d), 1))),
                 rate = fmax(d->slow_rate, d->averaged_rate);
    d->averaging =
        d->most > 0 && work > 0 ? SPREAD * PER_RADIAN * rate * each * radians / (d->most * one) : 0;
}

/* The cost of resolving every oscillation until the end, in evaluations of dop8 and in units of
 * taut_system_work; INFINITY: not known. */
static void estimate_full(taut_solver *solver)
{
    taut_diagnosis *d = &solver->diagnosis;
    double from = taut_options_real(solver->options, "from"),
           until = taut_options_real(solver->options, "until"),
           rtol = taut_options_real(solver->options, "rtol"),
           rate = fmax(fmax(d->most, d->fastest), d->slow_rate);
    double steps = (double)taut_options_integer(solver->options, "steps");
    d->full_evaluations = 500 + PER_RADIAN * rate * fabs(until - from) * pow(1e-6 / rtol, 0.14);
    if (isnan(until) && steps > 0) /* 12 evaluations each */
        d->full_evaluations = 12 * steps;
    if (isnan(d->full_evaluations) || !(d->most > 0))
        d->full_evaluations = INFINITY;
    d->decay_steps = fabs(until - from) * d->decay_rate / taut_dop8.stiff_limit;
    d->full_cost = d->full_evaluations * taut_system_work(solver->system);
}

/* Where effective motion would be chosen: what it meets. */
static int look_ahead(taut_solver *solver, taut_context *context, taut_error *error)
{
    taut_diagnosis *d = &solver->diagnosis;
    char why[sizeof solver->why] = "";
    if (taut_motion_advise(d, 0, why, sizeof why) != TAUT_MOTION_EFFECTIVE)
        return TAUT_OK;
    TAUT_TRY(
        taut_diagnose_averaged(context, taut_options_real(solver->options, "until"), d, error));
    estimate_averaging(solver);
    return TAUT_OK;
}

int taut_motion_diagnose(taut_solver *solver, taut_error *error)
{
    const taut_sizes *z = &solver->sizes; /* of the model: nothing is derived yet */
    taut_arena arena;
    taut_context *context = NULL;
    double from = taut_options_real(solver->options, "from");
    taut_index velocities = z->kind == TAUT_MECHANICAL ? z->coordinates : z->algebraic;
    if (solver->diagnosis.parts)
        return TAUT_OK;
    taut_arena_init(&arena, &solver->arena.allocator);
    double *q = TAUT_NEW(&arena, double, z->coordinates), *v = TAUT_NEW(&arena, double, velocities);
    int status = q && v ? TAUT_OK : taut_fail_memory(error);
    if (status == 0)
        status = taut_context_create(solver->system, &arena.allocator, &context, error);
    if (status == 0)
        status = taut_context_start(context, from, q, v, error);
    if (status == 0)
        status = taut_diagnose(context, from, q, v, TAUT_DIAGNOSE_INITIAL,
                               backend_of(solver->options), &solver->diagnosis, error);
    const bool alone = !taut_run_space(solver); /* what follows decides between motions */
    if (status == 0 && alone)
        status = taut_diagnose_along(context, taut_options_real(solver->options, "until"), q, v,
                                     &solver->diagnosis, error);
    if (status == 0 && alone)
        estimate_full(solver);
    if (status == 0 && alone)
        estimate_averaging(solver);
    if (status == 0 && alone)
        status = find_calm(solver, context, &arena, q, v, error);
    if (status == 0 && alone)
        status = look_ahead(solver, context, error);
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return status;
}

int taut_motion_choose(taut_solver *solver, unsigned *motion, taut_error *error)
{
    const taut_diagnosis none = {.sizes = solver->sizes}, *d = &none;
    if (solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)) {
        TAUT_TRY(taut_motion_diagnose(solver, error));
        d = &solver->diagnosis;
    }
    *motion = taut_motion_advise(d, solver->avoid, solver->why, sizeof solver->why);
    return TAUT_OK;
}

/* ---- which method */

/* Usable without further options: it accepts the system, and its step size can be chosen. */
static bool usable(const taut_solver *solver, const taut_method *method, bool step_given)
{
    bool springs = solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    bool stepped = step_given || method->error_order > 0 || method->kicks ||
                   (springs && method->stability > 0);
    bool slow_field = solver->motion == TAUT_MOTION_SLOW && method->uses_field && springs;
    if (solver->projecting.when == TAUT_PROJECT_STAGE && !method->uses_field)
        return false;
    if (slow_field && !taut_projecting_inside(solver) &&
        (solver->avoid_field || taut_slow_level_supports(solver, NULL) != 0))
        return false;
    return (method->motions & solver->motion) && stepped &&
           taut_method_accepts(method, &solver->sizes, NULL) == 0;
}

const taut_method *taut_motion_method(const taut_solver *solver, bool step_given)
{
    static const struct {
        unsigned motion;
        const taut_method *methods[3]; /* in order of preference */
    } preferred[] = {
        {TAUT_MOTION_RIGID, {&taut_dop8, &taut_radau5, &taut_rattle}},
        {TAUT_MOTION_SLOW, {&taut_dop8, &taut_radau5}},
        {TAUT_MOTION_EFFECTIVE, {&taut_effective, &taut_projected_impulse}},
        {TAUT_MOTION_FULL, {&taut_dop8, &taut_radau5, &taut_verlet}},
    };
    bool full = solver->motion == TAUT_MOTION_FULL && solver->sizes.kind == TAUT_MECHANICAL;
    if (solver->motion == TAUT_MOTION_SLOW && solver->sizes.kind != TAUT_MECHANICAL)
        return step_given ? &taut_rk4 : &taut_dopri5; /* each stage is a burst */
    if (full && step_given && usable(solver, &taut_verlet, step_given))
        return &taut_verlet;
    if (solver->motion == TAUT_MOTION_EFFECTIVE && step_given &&
        usable(solver, &taut_projected_impulse, step_given))
        return &taut_projected_impulse;
    for (size_t j = 0; j < sizeof preferred / sizeof preferred[0]; j++)
        for (int k = 0; preferred[j].motion == solver->motion && k < 3; k++)
            if (preferred[j].methods[k] && usable(solver, preferred[j].methods[k], step_given))
                return preferred[j].methods[k];
    /* any whose step size can be chosen; then any that accepts the system */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; taut_method_table[k]; k++)
            if (usable(solver, taut_method_table[k], step_given || pass))
                return taut_method_table[k];
    return NULL;
}
