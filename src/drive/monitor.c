/* monitor.c - does what the choice of slow or effective motion relies on still hold later?
 *
 * A look at the present state finds the slow rate (slow_rate.c), the lowest stiff frequency and,
 * in effective motion, all frequencies with their resonances: the quantities, limits and functions
 * of the choice (motion.c). The smallest separation and the first resonance are part of the result.
 * Between two looks  Omega_j - Omega_k - Omega_l  may change its sign: then the resonance was met,
 * even where both looks are outside its 5 %.
 *
 * Cost. Looks take at most 1/50 of the instructions of the steps, estimated from counts and sizes,
 * never from a clock; a first few, SPARE instructions in all, are spread over the time of the run,
 * since few steps can lead far (none with the explicit slow field, whose corrections are watched);
 * and there is one at the end, unless it exceeds 1/16. The first look, of the initial state,
 * reserves the memory of all: later ones allocate nothing.
 *
 * Where the motion was Taut's own choice and is effective, a limit that is crossed makes the status
 * TAUT_INACCURATE: a second run averages too, and cannot show the error of averaging. Slow motion
 * solves the stiff equations themselves, so that a second run measures it. */
#include "drive/solver.h"

#include <math.h>

#include "base/options.h"
#include "base/reuse.h"
#include "base/text.h"
#include "base/vectors.h"
#include "drive/slow_rate.h"
#include "linalg/spectrum.h"
#include "system/modes/modes.h"
#include "vibration/effective.h"

/* 1/SHARE of the steps for looks; for the last one 1/ENDING; modes whose signs are compared */
enum { SHARE = 50, ENDING = 16, MOST_SPARE = 16, MANY = 24 };
static const double SPARE = 1.2e6;

/* ---- cost, in instructions: fits to counts of small models and chains, within a factor of 2 */

static double cost_of_look(const taut_solver *solver, double springs)
{
    const taut_sizes *z = &solver->system->sizes;
    double n = z->coordinates, size = n + z->bonds, work = taut_system_work(solver->system);
    double modes = z->can & TAUT_HAS_STIFF_POTENTIAL      ? 60 * n * n * n
                   : solver->monitor.all || springs <= 32 ? 20 * springs * springs * springs
                                                          : 4000 * size;
    return 4e4 + 20 * work + 3000 * size + modes;
}

/* Large systems: evaluations cost more than their expressions, jets of families less. Explicit
 * methods factor G M^-1 G^T, which of chains takes 10 instructions a row. */
static double cost_of_large(const taut_solver *solver, double size)
{
    const taut_statistics *did = &solver->statistics;
    double evaluations = (double)did->force_evaluations + (double)did->fast_force_evaluations +
                         3 * (double)did->jacobians + 2 * (double)did->jets,
           factor =
               solver->stepper.method->uses_field ? 30 * size : taut_cost_factor(&solver->stepper);
    return 2.5 *
           (evaluations * taut_system_work(solver->system) + (double)did->factorisations * factor);
}

static double cost_of_run(const taut_solver *solver)
{
    const taut_statistics *did = &solver->statistics;
    double modes = solver->stepper.method->averages ? solver->monitor.found : 0,
           each = modes > 0 ? 2.5e4 + 20 * modes * modes * modes : 1e3,
           rows = solver->rows.sinks > 0 && solver->rows.every > 0 ? (double)solver->rows.next : 0,
           steps = (double)did->steps, size = (double)solver->stepper.n + solver->stepper.m,
           stepping = size > 100 ? cost_of_large(solver, size) : taut_cost_run(solver);
    stepping += each * (double)did->force_evaluations + 5e4 * steps;
    return stepping * (1 + rows / fmax(4 * steps, 1)); /* a row is a quarter of a step, or more */
}

/* ---- resonances */

/* Omega_j - Omega_k - Omega_l, or without the last one. */
static double excess(const double *f, const taut_resonance *r)
{
    return f[r->j] - f[r->k] - (r->l >= 0 ? f[r->l] : 0);
}

/* The time since the look before, as a part, at which the sign changed; 1: it did not. */
static double crossing(const taut_monitor *m, const taut_resonance *r)
{
    double a = excess(m->before, r), b = excess(m->frequency, r);
    return a * b < 0 ? a / (a - b) : 1;
}

/* The first of all pairs k <= l whose sum was met by a frequency j since the look before. */
static bool find_crossing(const taut_monitor *m, taut_resonance *first, double *part)
{
    *part = 1;
    for (int j = 0; j < m->found && m->found <= MANY; j++)
        for (int k = 0; k < j; k++)
            for (int l = k; l < j; l++) {
                taut_resonance r = {j, k, l, 0};
                double at = crossing(m, &r);
                if (at < *part) {
                    *part = at;
                    *first = r;
                }
            }
    return *part < 1;
}

/* The first resonance, followed while it is near. */
static void note_resonance(taut_monitor *m, double t)
{
    taut_modes_report near = {0};
    taut_resonance *r = &m->resonance, met;
    bool compares = m->found == m->found_before && m->looks > 0;
    double part = 1;
    if (m->within) {
        double gap = fabs(excess(m->frequency, r)) / m->frequency[r->j];
        part = compares && r->l >= 0 ? crossing(m, r) : 1;
        m->within = taut_motion_resonant(gap) && part == 1;
        met = (taut_resonance){r->j, r->k, r->l, part < 1 ? 0 : gap};
        if (met.gap >= r->gap)
            return;
    } else if (!isnan(m->resonance_at)) {
        return;
    } else if (!(compares && find_crossing(m, &met, &part))) {
        taut_resonances_find(m->found, m->frequency, NULL, &near);
        if (near.resonances == 0 || !taut_motion_resonant(near.resonance[0].gap))
            return;
        met = near.resonance[0];
        m->within = true;
    }
    *r = met;
    m->resonance_at = part < 1 ? m->t + part * (t - m->t) : t;
}

/* ---- looks */

static int find_frequencies(taut_monitor *m, const taut_state *now, taut_error *error)
{
    bool complete;
    double *before = m->before;
    m->before = m->frequency;
    m->frequency = before;
    m->found_before = m->found;
    m->found = 0;
    if (!m->all)
        return taut_frequency_ends(m->context, now->t, now->q, m->frequency, &m->found, error);
    int most = taut_context_system(m->context)->sizes.bonds;
    return taut_frequencies(m->context, now->t, now->q, most, m->frequency, &m->found, &complete,
                            error);
}

/* 1/separation is interpolated: it is 0 where nothing slow changes. */
static void note_separation(taut_monitor *m, double t, double rate)
{
    double now = rate > 0 ? m->frequency[0] / rate : INFINITY;
    if (isnan(m->separation) || now < m->separation) {
        m->separation = now;
        m->separation_at = t;
    }
    if (isnan(m->lost) && now < m->limit) {
        double a = 1 / m->latest, b = 1 / now;
        m->lost = m->looks > 0 ? m->t + (1 / m->limit - a) / (b - a) * (t - m->t) : t;
    }
    m->latest = now;
}

/* The next look: when the steps have paid for it, or after an interval of time while there are
 * spare ones. */
static void plan(taut_solver *solver)
{
    taut_monitor *m = &solver->monitor;
    int64_t steps = solver->statistics.steps;
    double each = steps > 0 ? cost_of_run(solver) / (double)steps : 5e4;
    m->next = steps + (int64_t)fmin(ceil(SHARE * m->cost / each), 1e15);
}

/* A state that cannot be examined is not a failure of the run. */
static int look(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    const taut_state *now = &solver->stepper.now;
    taut_diagnosis here = {0};
    taut_error reason;
    int status = find_frequencies(m, now, &reason);
    if (status == 0 && m->found > 0)
        status = taut_diagnose(m->context, now->t, now->q, now->v, TAUT_DIAGNOSE_RATE,
                               TAUT_BACKEND_AUTO, &here, &reason);
    if (status == 0 && m->found > 0) {
        note_separation(m, now->t, fmax(here.slow_rate, m->time_rate));
        if (m->all)
            note_resonance(m, now->t);
        m->looks++;
    } else {
        m->found = 0;
    }
    m->t = now->t;
    plan(solver);
    return taut_fail_final(status, &reason, error);
}

int taut_monitor_step(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    if (!m->on)
        return TAUT_OK;
    bool paid = solver->statistics.steps >= m->next,
         spare = m->spare > 0 && fabs(solver->stepper.now.t - m->t) >= m->interval;
    if (!paid && !spare)
        return TAUT_OK;
    m->spare -= !paid;
    return look(solver, error);
}

/* ---- the end */

static void append_modes(const taut_resonance *r, char *text, size_t size)
{
    taut_append(text, size, "mode %d ~ mode %d", r->j + 1, r->k + 1);
    if (r->l >= 0)
        taut_append(text, size, " + mode %d", r->l + 1);
}

static void warn(taut_solver *solver)
{
    taut_monitor *m = &solver->monitor;
    const char *motion = taut_motion_name(solver->motion);
    m->caution[0] = '\0';
    if (m->lost == solver->from)
        TAUT_APPEND(m->caution, "motion %s needs a separation of %g, and it is %.3g at t = %.4g",
                    motion, m->limit, m->separation, m->separation_at);
    else if (!isnan(m->lost))
        TAUT_APPEND(m->caution,
                    "motion %s needs a separation of %g, and from t = %.4g on it is smaller (%.3g "
                    "at t = %.4g)",
                    motion, m->limit, m->lost, m->separation, m->separation_at);
    if (isnan(m->resonance_at))
        return;
    TAUT_APPEND(m->caution, "%s%s neglects the resonance ", m->caution[0] ? "; " : "motion ",
                m->caution[0] ? "it" : motion);
    append_modes(&m->resonance, m->caution, sizeof m->caution);
    TAUT_APPEND(m->caution,
                " at t = %.4g (frequencies to %.1f %%), where oscillations may exchange "
                "energy",
                m->resonance_at, 100 * m->resonance.gap);
}

int taut_monitor_end(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    double t = solver->stepper.now.t;
    if (!m->on)
        return TAUT_OK;
    bool last = t == solver->until || solver->outcome != TAUT_OK,
         affordable = m->spare > 0 || ENDING * m->cost <= cost_of_run(solver);
    if (last && affordable && t != m->t)
        TAUT_TRY(look(solver, error));
    warn(solver);
    return TAUT_OK;
}

int taut_monitor_status(const taut_solver *solver, int status)
{
    bool own = !taut_options_given(solver->options, "motion") && solver->why[0];
    const taut_monitor *m = &taut_solver_latest(solver)->monitor;
    bool averaged = solver->motion == TAUT_MOTION_EFFECTIVE;
    return status == TAUT_OK && own && averaged && m->caution[0] ? TAUT_INACCURATE : status;
}

void taut_monitor_result(const taut_solver *solver, taut_result *result)
{
    const taut_monitor *m = &solver->monitor;
    const taut_resonance *r = &m->resonance;
    bool met = m->on && !isnan(m->resonance_at);
    result->looks = m->looks;
    result->separation = m->looks > 0 ? m->separation : NAN;
    result->separation_at = m->looks > 0 ? m->separation_at : NAN;
    result->resonance_at = met ? m->resonance_at : NAN;
    result->resonance_gap = met ? r->gap : NAN;
    result->resonance_modes[0] = met ? r->j : -1;
    result->resonance_modes[1] = met ? r->k : -1;
    result->resonance_modes[2] = met ? r->l : -1;
    result->caution = m->caution[0] ? m->caution : NULL;
}

/* ---- making */

static int make_context(taut_solver *solver, taut_error *error)
{
    taut_allocator again = taut_reuse_allocator(&solver->arena);
    if (!again.allocate)
        return taut_fail_memory(error);
    return taut_context_create(solver->system, &again, &solver->monitor.context, error);
}

static taut_index count_springs(const taut_monitor *m)
{
    const double *c = taut_context_compliance(m->context);
    taut_index count = 0;
    for (taut_index i = 0; i < taut_context_system(m->context)->sizes.bonds; i++)
        count += c[i] > 0 && !taut_context_soft(m->context, i);
    return count;
}

int taut_monitor_create(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    const taut_sizes *z = &solver->system->sizes;
    const taut_state *now = &solver->stepper.now;
    bool potential = z->can & TAUT_HAS_STIFF_POTENTIAL,
         small = !potential || z->coordinates <= TAUT_SPECTRUM_DENSE;
    m->limit = taut_motion_separation(solver->motion);
    m->separation = m->lost = m->resonance_at = m->t = NAN;
    /* what functions in C cost is unknown */
    if (solver->stepper.first_order || solver->stepper.trial || !(m->limit > 0) || !small ||
        !(z->can & TAUT_CAN_DERIVATIVES) ||
        !(z->can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        return TAUT_OK;
    TAUT_TRY(make_context(solver, error));
    taut_index springs = count_springs(m);
    if (springs == 0 && !potential)
        return TAUT_OK;
    m->on = true;
    m->all = solver->motion == TAUT_MOTION_EFFECTIVE;
    m->cost = cost_of_look(solver, springs);
    m->room = springs + 2;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, m->room, error, &m->frequency, &m->before));
    taut_error reason;
    int status = taut_time_rate(m->context, solver->from, solver->until, now->q, now->v,
                                &m->time_rate, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    /* the explicit slow field watches its corrections, which say more: a look at the end */
    bool watched = solver->level.field && solver->stepper.method->uses_field;
    m->spare = (int)fmin(fmax(SPARE / m->cost, 0), watched ? 1 : MOST_SPARE);
    m->interval = watched ? INFINITY : fabs(solver->until - solver->from) / (m->spare + 1);
    return look(solver, error);
}

void taut_monitor_release(taut_solver *solver)
{
    taut_context_destroy(solver->monitor.context);
}
