/* monitor.c - does what the choice of slow or effective motion relies on still hold later?
 *
 * A look at the present state finds the slow rate (slow_rate.c), the lowest stiff frequency and,
 * in effective motion, all frequencies with their resonances: the quantities, limits and functions
 * of the choice (motion.c), group by group of connected springs. The smallest separation and the
 * first resonance are part of the result; every time during which a limit is crossed is an episode
 * with one sentence. Between two looks  Omega_j - Omega_k - Omega_l  may change its sign: then the
 * resonance was met, even where both looks are outside its 5 %. Neighbours Omega_j, Omega_k do not
 * change theirs: the square of their distance, from three looks, has a least value in between.
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

#include <limits.h>
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
/* separation below which effective motion is refused at the initial state */
static const double MIXED = 1.5;

/* ---- cost, in instructions: fits to counts of small models and chains, within a factor of 2 */

static double cost_of_look(const taut_solver *solver, double springs)
{
    const taut_sizes *z = &solver->system->sizes;
    const taut_monitor *m = &solver->monitor;
    double n = z->coordinates, size = n + z->bonds, work = taut_system_work(solver->system);
    double modes = z->can & TAUT_HAS_STIFF_POTENTIAL ? 60 * n * n * n
                   : m->all || springs <= 32         ? 3 * m->modes_cost
                                                     : 4000 * size;
    return 4e4 + 20 * work + 3000 * size + modes;
}

static double cost_of_run(const taut_solver *solver)
{
    const taut_statistics *did = &solver->statistics;
    bool averages = solver->stepper.method->averages && solver->monitor.found > 0;
    double each = averages ? 2.5e4 : 1e3,
           rows = solver->rows.sinks > 0 && solver->rows.every > 0 ? (double)solver->rows.next : 0,
           steps = (double)did->steps, size = (double)solver->stepper.n + solver->stepper.m,
           /* of large systems evaluations cost more than their expressions */
        stepping = (size > 100 ? 2.5 : 1) * taut_cost_run(solver);
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
    return r->l >= 0 && a * b < 0 ? a / (a - b) : 1;
}

/* Time and distance, relative, at which neighbours were closest, where that is near the look
 * before: the vertex of the parabola through the squares. */
static bool find_closest(const taut_monitor *m, const taut_resonance *r, double t, double *at,
                         double *gap)
{
    if (r->l >= 0 || m->looks < 2 || m->found_earlier != m->found || m->found_before != m->found)
        return false;
    double a = m->t_before, b = m->t, ea = excess(m->earlier, r), eb = excess(m->before, r),
           ec = excess(m->frequency, r), first = (eb * eb - ea * ea) / (b - a),
           curve = ((ec * ec - eb * eb) / (t - b) - first) / (t - a);
    if (eb * eb > ea * ea || eb * eb > ec * ec || !(curve > 0))
        return false;
    *at = (a + b) / 2 - first / (2 * curve);
    *gap = sqrt(fmax(eb * eb - curve * (*at - b) * (*at - b), 0)) / m->before[r->j];
    return true;
}

static const int *owners(const taut_monitor *m)
{
    return m->grouped ? m->modes.owner : NULL;
}

static bool same(const taut_resonance *a, const taut_resonance *b)
{
    return a->j == b->j && a->k == b->k && a->l == b->l;
}

static bool is_known(const taut_monitor *m, const taut_resonance *r)
{
    bool known = false;
    for (int e = 0; e < m->episodes; e++)
        known |= m->episode[e].open && same(&m->episode[e].resonance, r);
    return known;
}

static void begin_episode(taut_monitor *m, const taut_resonance *r, double t, double least,
                          bool open)
{
    if (m->episodes < TAUT_EPISODES)
        m->episode[m->episodes++] = (taut_episode){*r, t, t, least, open};
    else
        m->more++;
}

/* In resonance at the latest look. */
static bool is_near(const taut_monitor *m, const taut_resonance *r)
{
    return taut_motion_resonant(fabs(excess(m->frequency, r)) / m->frequency[r->j]);
}

/* The first of all pairs k <= l of a group, modes first to end, whose sum was met by a frequency j
 * since the look before. */
static void find_crossing(taut_monitor *m, int first, int end, double t)
{
    taut_resonance met = {-1, -1, -1, 0};
    double part = 1;
    for (int j = first; j < end && end - first <= MANY; j++)
        for (int k = first; k < j; k++)
            for (int l = k; l < j; l++) {
                taut_resonance r = {j, k, l, 0};
                double at = crossing(m, &r);
                if (at < part && !is_known(m, &r)) {
                    part = at;
                    met = r;
                }
            }
    if (part < 1)
        begin_episode(m, &met, m->t + part * (t - m->t), 0, is_near(m, &met));
}

/* Neighbours that were close between the looks, of modes first to end of a group. */
static void find_neighbours(taut_monitor *m, int first, int end, double t)
{
    for (int j = first + 1; j < end; j++) {
        taut_resonance r = {j, j - 1, -1, 0};
        double at, gap;
        if (find_closest(m, &r, t, &at, &gap) && taut_motion_resonant(gap) && !is_known(m, &r))
            begin_episode(m, &r, at, gap, is_near(m, &r));
    }
}

/* The ones that were met before: closer, or left. */
static void follow_resonances(taut_monitor *m, int episodes, bool compares, double t)
{
    for (int e = 0; e < episodes; e++) {
        taut_episode *now = &m->episode[e];
        const taut_resonance *r = &now->resonance;
        if (!now->open || r->j < 0)
            continue;
        double gap = fabs(excess(m->frequency, r)) / m->frequency[r->j],
               part = compares ? crossing(m, r) : 1;
        now->open = taut_motion_resonant(gap);
        if (part < 1)
            gap = 0;
        if (gap < now->least) {
            now->least = gap;
            now->at = part < 1 ? m->t + part * (t - m->t) : t;
        }
        double at, closest;
        if (find_closest(m, r, t, &at, &closest) && closest <= now->least) {
            now->least = closest;
            now->at = at;
        }
    }
}

static void note_resonances(taut_monitor *m, double t)
{
    taut_modes_report near = {0};
    bool compares = m->found == m->found_before && m->looks > 0;
    const int *owner = owners(m);
    int before = m->episodes;
    /* before the episodes that such a meeting belongs to are closed */
    for (int first = 0, end; first < m->found && compares; first = end) {
        end = owner ? first + 1 : m->found;
        while (end < m->found && owner[end] == owner[first])
            end++;
        find_neighbours(m, first, end, t);
        find_crossing(m, first, end, t);
    }
    if (m->found == m->found_before)
        follow_resonances(m, before, compares, t);
    taut_resonances_find(m->found, m->frequency, owner, &near);
    for (int k = 0; k < near.resonances && taut_motion_resonant(near.resonance[k].gap); k++) {
        bool crossed = false; /* an episode of this look */
        for (int e = before; e < m->episodes; e++)
            crossed |= same(&m->episode[e].resonance, &near.resonance[k]);
        if (!crossed && !is_known(m, &near.resonance[k]))
            begin_episode(m, &near.resonance[k], t, near.resonance[k].gap, true);
    }
}

/* ---- looks */

static int find_frequencies(taut_monitor *m, const taut_state *now, taut_error *error)
{
    bool complete;
    double *earliest = m->earlier;
    m->earlier = m->before;
    m->before = m->frequency;
    m->frequency = earliest;
    m->found_earlier = m->found_before;
    m->found_before = m->found;
    m->found = 0;
    if (!m->all)
        return taut_frequency_ends(m->context, now->t, now->q, m->frequency, &m->found, error);
    if (m->grouped) {
        TAUT_TRY(taut_modes_find(&m->modes, now->t, now->q, error));
        m->found = m->modes.count;
        taut_copy(m->found, m->modes.frequency, m->frequency);
        return TAUT_OK;
    }
    int most = taut_context_system(m->context)->sizes.bonds;
    return taut_frequencies(m->context, now->t, now->q, most, m->frequency, &m->found, &complete,
                            error);
}

static double lowest(const taut_monitor *m)
{
    double least = m->frequency[0];
    for (int k = 1; k < m->found && m->grouped; k++)
        least = fmin(least, m->frequency[k]);
    return least;
}

/* 1/separation is interpolated: it is 0 where nothing slow changes. */
static void note_separation(taut_monitor *m, double t, double rate)
{
    static const taut_resonance none = {-1, -1, -1, 0};
    double now = rate > 0 ? lowest(m) / rate : INFINITY, a = 1 / m->latest, b = 1 / now;
    taut_episode *open = NULL;
    if (isnan(m->separation) || now < m->separation) {
        m->separation = now;
        m->separation_at = t;
    }
    for (int e = 0; e < m->episodes; e++)
        if (m->episode[e].open && m->episode[e].resonance.j < 0)
            open = &m->episode[e];
    if (open && now < open->least) {
        open->least = now;
        open->at = t;
    }
    if (open)
        open->open = now < m->limit;
    else if (now < m->limit) {
        double from = m->looks > 0 ? m->t + (1 / m->limit - a) / (b - a) * (t - m->t) : t;
        int before = m->episodes;
        begin_episode(m, &none, from, now, true);
        if (m->episodes > before)
            m->episode[before].at = t;
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

/* A state that cannot be examined is not a failure of the run. *rate: of the state, without the
 * explicit dependence on time; 0: unknown. */
static int look(taut_solver *solver, double *rate, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    const taut_state *now = &solver->stepper.now;
    taut_diagnosis here = {0};
    taut_error reason;
    /* impulse methods resolve terms marked `fast` together with the springs */
    const bool kicks = solver->motion == TAUT_MOTION_EFFECTIVE && !solver->stepper.method->averages;
    int status = find_frequencies(m, now, &reason);
    if (status == 0 && m->found > 0)
        status = taut_diagnose(m->context, now->t, now->q, now->v,
                               TAUT_DIAGNOSE_RATE | (kicks ? TAUT_DIAGNOSE_KICKS : 0),
                               TAUT_BACKEND_AUTO, &here, &reason);
    if (status == 0 && m->found > 0) {
        note_separation(m, now->t, fmax(here.slow_rate, m->time_rate));
        if (m->all)
            note_resonances(m, now->t);
        m->looks++;
    } else {
        m->found = 0;
    }
    m->t_before = m->t;
    m->t = now->t;
    *rate = here.slow_rate;
    plan(solver);
    return taut_fail_final(status, &reason, error);
}

int taut_monitor_step(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    if (!m->on)
        return TAUT_OK;
    double rate;
    bool paid = solver->statistics.steps >= m->next,
         spare = m->spare > 0 && fabs(solver->stepper.now.t - m->t) >= m->interval;
    if (!paid && !spare)
        return TAUT_OK;
    m->spare -= !paid;
    return look(solver, &rate, error);
}

/* ---- the end */

static void append_modes(const taut_resonance *r, char *text, size_t size)
{
    taut_append(text, size, "mode %d ~ mode %d", r->j + 1, r->k + 1);
    if (r->l >= 0)
        taut_append(text, size, " + mode %d", r->l + 1);
}

static void warn_separation(const taut_solver *solver, taut_monitor *m)
{
    for (int e = 0; e < m->episodes; e++) {
        const taut_episode *now = &m->episode[e];
        if (now->resonance.j >= 0)
            continue;
        if (m->caution[0])
            TAUT_APPEND(m->caution, ", and again");
        else
            TAUT_APPEND(m->caution, "motion %s needs a separation of %g, and",
                        taut_motion_name(solver->motion), m->limit);
        if (now->from != solver->from)
            TAUT_APPEND(m->caution, " from t = %.4g on it is smaller (%.3g at t = %.4g)", now->from,
                        now->least, now->at);
        else
            TAUT_APPEND(m->caution, " it is %.3g at t = %.4g", now->least, now->at);
    }
}

static void warn(taut_solver *solver)
{
    taut_monitor *m = &solver->monitor;
    int resonances = 0;
    m->caution[0] = '\0';
    warn_separation(solver, m);
    for (int e = 0; e < m->episodes; e++)
        resonances += m->episode[e].resonance.j >= 0;
    if (resonances == 0)
        return;
    if (m->caution[0])
        TAUT_APPEND(m->caution, "; it");
    else
        TAUT_APPEND(m->caution, "motion %s", taut_motion_name(solver->motion));
    TAUT_APPEND(m->caution, " %s the resonance%s ",
                solver->stepper.method->averages ? "neglects" : "passes",
                resonances > 1 ? "s" : "");
    for (int e = 0, shown = 0; e < m->episodes; e++) {
        const taut_episode *now = &m->episode[e];
        if (now->resonance.j < 0)
            continue;
        TAUT_APPEND(m->caution, "%s", shown++ ? ", " : "");
        append_modes(&now->resonance, m->caution, sizeof m->caution);
        TAUT_APPEND(m->caution, " at t = %.4g (frequencies to %.1f %%)", now->at, 100 * now->least);
    }
    if (m->more > 0)
        TAUT_APPEND(m->caution, " and others");
    TAUT_APPEND(m->caution, ", where oscillations may exchange energy");
}

int taut_monitor_end(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    double t = solver->stepper.now.t, rate;
    if (!m->on)
        return TAUT_OK;
    bool last = t == solver->until || solver->outcome != TAUT_OK,
         affordable = m->spare > 0 || ENDING * m->cost <= cost_of_run(solver);
    if (last && affordable && t != m->t)
        TAUT_TRY(look(solver, &rate, error));
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
    const taut_episode *met = NULL; /* the first resonance */
    for (int e = m->episodes - 1; e >= 0; e--)
        met = m->episode[e].resonance.j >= 0 ? &m->episode[e] : met;
    result->looks = m->looks;
    result->separation = m->looks > 0 ? m->separation : NAN;
    result->separation_at = m->looks > 0 ? m->separation_at : NAN;
    result->resonance_at = met ? met->at : NAN;
    result->resonance_gap = met ? met->least : NAN;
    result->resonance_modes[0] = met ? met->resonance.j : -1;
    result->resonance_modes[1] = met ? met->resonance.k : -1;
    result->resonance_modes[2] = met ? met->resonance.l : -1;
    result->caution = m->caution[0] ? m->caution : NULL;
}

/* ---- checkpoints */

static void walk_episode(taut_episode *e, taut_index room, taut_archive *a)
{
    taut_resonance *r = &e->resonance;
    double *const number[] = {&e->from, &e->at, &e->least, &r->gap};
    int last = room > 0 ? room - 1 : 0;
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_integer(a, &r->j, -1, last);
    taut_archive_integer(a, &r->k, -1, last);
    taut_archive_integer(a, &r->l, -1, last);
    taut_archive_flag(a, &e->open);
    if (r->j >= 0 && r->k < 0)
        e->open = false; /* there is none */
}

void taut_monitor_archive(taut_monitor *m, taut_archive *a)
{
    double *const number[] = {&m->t,          &m->t_before,      &m->latest,
                              &m->separation, &m->separation_at, &m->interval};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_reals(a, m->frequency, m->room);
    taut_archive_reals(a, m->before, m->room);
    taut_archive_reals(a, m->earlier, m->room);
    taut_archive_integer(a, &m->found, 0, m->room);
    taut_archive_integer(a, &m->found_before, 0, m->room);
    taut_archive_integer(a, &m->found_earlier, 0, m->room);
    taut_archive_integer(a, &m->spare, 0, INT_MAX);
    taut_archive_integer(a, &m->episodes, 0, TAUT_EPISODES);
    for (int k = 0; k < m->episodes; k++)
        walk_episode(&m->episode[k], m->room, a);
    taut_archive_count(a, &m->more);
    taut_archive_count(a, &m->looks);
    taut_archive_count(a, &m->next);
    taut_archive_text(a, m->caution, sizeof m->caution);
}

/* ---- making */

/* What a look takes is kept for the next one; of large systems, where it is as much as a run by
 * itself, only where the caller watches its memory. */
static int make_context(taut_solver *solver, taut_error *error)
{
    const taut_arena *arena = &solver->arena;
    taut_allocator again = taut_arena_late(arena, solver->sizes.coordinates)
                               ? arena->allocator
                               : taut_reuse_allocator(&solver->arena);
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

/* Frequencies group by group, where no group is too large. */
static int make_modes(taut_solver *solver, taut_index springs, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    taut_error reason;
    m->modes_cost = 7 * pow(springs, 3);
    if (!m->all || solver->system->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return TAUT_OK;
    int status = taut_modes_create(&m->modes, m->context, &solver->arena, TAUT_MODES_ALONE,
                                   TAUT_SPECTRUM_DENSE, &reason);
    m->all = m->grouped = status == 0;
    if (m->grouped)
        m->modes_cost = taut_modes_cost(&m->modes);
    return taut_fail_final(status, &reason, error);
}

/* Vibrations as slow as the slow motion have no actions that it keeps. */
static int refuse_mixed(const taut_solver *solver, double rate, taut_error *error)
{
    const taut_monitor *m = &solver->monitor;
    if (solver->motion != TAUT_MOTION_EFFECTIVE || m->looks == 0 || !(lowest(m) < MIXED * rate))
        return TAUT_OK;
    return taut_fail_option(
        error, TAUT_ERROR_REFUSED, "motion",
        "motion effective needs stiff vibrations that are faster than the slow motion, at least %g "
        "times: the slowest one has a frequency of %.4g rad per time, the slow motion a rate of "
        "%.4g; write the energy of the bonds that vibrate so slowly in [potential], marked fast, "
        "and use an impulse method, or choose motion full",
        MIXED, lowest(m), rate);
}

int taut_monitor_create(taut_solver *solver, taut_error *error)
{
    taut_monitor *m = &solver->monitor;
    const taut_sizes *z = &solver->system->sizes;
    const taut_state *now = &solver->stepper.now;
    bool potential = z->can & TAUT_HAS_STIFF_POTENTIAL,
         small = !potential || z->coordinates <= TAUT_SPECTRUM_DENSE;
    m->limit = taut_motion_separation(solver->motion);
    m->separation = m->t = m->t_before = NAN;
    /* what functions in C cost is unknown */
    if (taut_run_space(solver) || solver->stepper.first_order || solver->stepper.trial ||
        !(m->limit > 0) || !small || !(z->can & (TAUT_CAN_DERIVATIVES | TAUT_HAS_PAIRS)) ||
        !(z->can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        return TAUT_OK;
    TAUT_TRY(make_context(solver, error));
    taut_index springs = count_springs(m);
    if (springs == 0 && !potential)
        return TAUT_OK;
    m->on = true;
    m->all = solver->motion == TAUT_MOTION_EFFECTIVE;
    TAUT_TRY(make_modes(solver, springs, error));
    m->cost = cost_of_look(solver, springs);
    m->room = springs + 2;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, m->room, error, &m->frequency, &m->before, &m->earlier));
    taut_error reason;
    int status = taut_time_rate(m->context, solver->from, solver->until, now->q, now->v,
                                &m->time_rate, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    /* the explicit slow field watches its corrections, which say more: a look at the end */
    bool watched = solver->level.field && solver->stepper.method->uses_field;
    m->spare = (int)fmin(fmax(SPARE / m->cost, 0), watched ? 1 : MOST_SPARE);
    m->interval = watched ? INFINITY : fabs(solver->until - solver->from) / (m->spare + 1);
    double rate;
    TAUT_TRY(look(solver, &rate, error));
    return refuse_mixed(solver, rate, error);
}

void taut_monitor_release(taut_solver *solver)
{
    taut_modes_destroy(&solver->monitor.modes);
    taut_context_destroy(solver->monitor.context);
}
