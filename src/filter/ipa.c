/* ipa.c - the iterative projection algorithm [A section 3.2]: micro-integration, filtering,
 * repetition.
 *
 *     (q, v) <- sum_j w_j (q, v)(t + j h), |j| <= N, w_j = K(j/N)/N, h = delta/N,
 *     delta = L/omega   [A (10), (13)]
 *
 * until the bonds and their rates change by less than epsilon [A (14)]. The samples come from a
 * flow that goes both ways, velocity Verlet (step/flow_verlet.c): 2N + 1 force evaluations a
 * pass. Paper settings [A 5.2]: cubic kernel (others are options), L = 6 pi, N = 18, and epsilon
 * = max(1e-9, 1e-3/omega^2), which is 1e-7 for omega = 100 and 1e-9 for 1000 and 10000 as in the
 * paper.
 *
 * omega is in the paper the square root of the stiffness, for unit masses. Here: the smallest
 * frequency that a single spring would have with everything else at rest, sqrt(A_ii/c_i), A = G
 * M^-1 G^T, which is the same for the paper's problem. Coupled springs have slower modes; where
 * the slowest is below 0.6 omega (in the paper's problem it stays above 0.61) the window is
 * lengthened to keep delta 0.6 of L over it, and where the fastest would come near Verlet's
 * limit h omega = 2, N is raised.
 *
 * The stopping test accounts for rounding: tolerances are at least 8 u sum|G q| for g and omega
 * times that for gdot.
 *
 * Rigid bonds next to springs are constraints of the micro-integration, which is then RATTLE
 * (step/flow_rattle.c), and a pass ends on them (rigid_bonds.c).
 *
 * Without springs omega is taken from the stiff potential or from differences of forces
 * (stiffness.c), so that the window is that of springs with these modes, and is measured again
 * after a pass; accelerations over omega^2 take the place of g in (14) (progress.c). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "filter/filter_work.h"
#include "step/methods.h"

static const double slowest_share = 0.6; /* of omega: see above */
static const double stable_share = 1.75; /* h times the fastest frequency, at most */
/* an error, relative, that is not to be called a slow point: the paper has 1e-3 */
static const double poor = 0.01;
static const double alike = 0.1; /* relative change of frequencies that a window bears */

typedef taut_filter_work ipa;

/* ---- frequencies */

static int measure(ipa *w, taut_error *error)
{
    TAUT_TRY(taut_filter_work_measure(w, error));
    if (w->stiffness.given > 0) {
        w->omega = w->stiffness.given;
        return TAUT_OK;
    }
    if (w->fastest == 0)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "the frequencies of the springs could not be computed; set omega");
    w->omega = w->stiffness.single > 0 ? w->stiffness.single
               : w->declared           ? w->slowest
                                       : fmin(w->fastest, w->slowest / slowest_share);
    return TAUT_OK;
}

/* ---- window and steps */

static int choose_kernel(ipa *w, taut_error *error)
{
    const taut_projection_settings *settings = w->settings;
    bool cubic = settings->kernel == TAUT_KERNEL_AUTO || settings->kernel == TAUT_KERNEL_CUBIC;
    if (settings->kernel == TAUT_KERNEL_TUNED)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "kernel",
                                "aware is a kernel of projection kernel; use projection kernel, or "
                                "the kernel cubic, smooth or bump");
    if (cubic)
        w->p->idle |= TAUT_SETTING_MOMENTS | TAUT_SETTING_SMOOTHNESS;
    w->filter = cubic ? &taut_filter_cubic : NULL;
    return cubic ? TAUT_OK : taut_sampler_shape(w->p, settings, &w->shape, error);
}

static int choose(ipa *w, taut_error *error)
{
    const taut_projection_settings *settings = w->settings;
    taut_projection *p = w->p;
    double length = settings->window;
    bool given = w->stiffness.given > 0;
    bool longer = !given && w->slowest < slowest_share * w->omega * (1 - 1e-12);
    w->window = length / (longer ? w->slowest / slowest_share : w->omega);
    w->tolerance = isnan(settings->tolerance) ? fmax(1e-9, 1e-3 * pow(w->window / length, 2))
                                              : settings->tolerance;
    double steps = settings->micro_steps > 0
                       ? (double)settings->micro_steps
                       : fmax(18, ceil(w->window * w->fastest / stable_share * (1 - 1e-12)));
    if (!(steps <= 1e9))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection ipa would need %.3g steps a pass, because the fastest spring "
                         "oscillates %.3g times as fast as the slowest; use projection constraint",
                         2 * steps, w->fastest / w->slowest);
    double h = w->window / steps;
    int count = (int)steps;
    if (h * w->fastest >= taut_verlet.stability)
        return taut_fail(error, TAUT_ERROR_STEP,
                         "%d micro-steps in a window of %.4g are unstable: the fastest spring "
                         "needs h < %g/%.6g; at least %.0f micro-steps are needed",
                         count, w->window, taut_verlet.stability, w->fastest,
                         ceil(w->window * w->fastest / stable_share));
    if (!w->filter && count <= w->shape.moments + 2)
        return taut_fail_option(
            error, TAUT_ERROR_REFUSED, "micro-steps",
            "a smooth kernel needs more micro-steps than its moments and two, %d",
            w->shape.moments + 2);
    taut_explain(
        p, "projection ipa, omega %.6g%s, window %.4g%s, %d Verlet steps of %.4g to each side%s",
        w->omega,
        given                                         ? ""
        : w->declared                                 ? " (the slowest single spring)"
        : p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL ? " (of the stiff potential)"
        : w->stiffness.lowered > 0                    ? " (seen in the micro-solution)"
                                                      : " (seen in differences of forces)",
        w->window, longer ? " (lengthened for slower modes of coupled springs)" : "", count, h,
        w->sampler.rigid ? ", on the rigid bonds" : "");
    if (!w->filter)
        taut_explain_more(p, ", a %s with %d moments",
                          w->shape.smooth < 0 ? "bump" : "smooth kernel", w->shape.moments);
    taut_explain_more(p, ": %d force evaluations a pass", 2 * count + 1);
    return taut_sampler_filter(&w->sampler, w->filter, &w->shape, count, h,
                               fmax(w->fastest, w->omega), error);
}

/* Without springs: where a pass has led to, frequencies are seen more clearly. */
static int choose_again(ipa *w, taut_error *error)
{
    double slowest = w->slowest, fastest = w->fastest;
    TAUT_TRY(measure(w, error));
    if (fabs(w->slowest - slowest) < alike * slowest &&
        fabs(w->fastest - fastest) < alike * fastest)
        return TAUT_OK;
    return choose(w, error);
}

/* ---- passes */

static int filter(ipa *w, taut_error *error)
{
    taut_projection *p = w->p;
    TAUT_TRY(taut_sampler_run(&w->sampler, error));
    taut_sampler_move(&w->sampler);
    taut_sampled_errors e =
        taut_sampler_errors(&w->sampler, w->slowest > 0 ? w->slowest : w->omega);
    w->off_q = e.filter_q + e.verlet_q;
    w->off_v = e.filter_v + e.verlet_v;
    if (w->sampler.general) {
        double more;
        TAUT_TRY(taut_sampler_velocity_error(&w->sampler, w->slowest > 0 ? w->slowest : w->omega,
                                             &more, error));
        w->off_q += more;
        w->off_v += more / w->window;
    }
    TAUT_TRY(taut_rigid_bonds_put(&w->rigid, error));
    TAUT_TRY(taut_hold_restorer_restore(w->restorer, p->in->t, p->q, p->v, error));
    return taut_filter_progress_take(&w->progress, error);
}

/* The largest change of the last pass, in units of its tolerance; below 1: done. */
static double change(const ipa *w)
{
    return taut_filter_progress_change(&w->progress, w->tolerance, w->tolerance, w->omega);
}

static int fail_passes(const ipa *w, double first, double before, double now, taut_error *error)
{
    double rounding = 0;
    for (taut_index i = 0; i < w->progress.count; i++) /* soft springs have none */
        rounding = isfinite(w->progress.floor[i]) ? fmax(rounding, w->progress.floor[i]) : rounding;
    if (w->tolerance < rounding && now < 100) /* changes are counted in units of rounding then */
        return taut_fail_option(
            error, TAUT_ERROR_CONVERGE, "tolerance",
            "%.3g is below what rounding leaves of the bonds, about %.2g: after %lld passes they "
            "still change by %.2g; use a larger tolerance, or the default",
            w->tolerance, 10 * rounding, (long long)w->p->passes, now * rounding);
    const char *advice =
        now > first
            ? "the initial state is too far from the slow manifold, or slow and fast are not "
              "separated; start nearer (projection constraint gives a foot point of bonds)"
        : now > 0.95 * before
            ? "the changes no longer shrink, because the slow motion shows within the window; a "
              "larger tolerance accepts that, a shorter window reduces it"
            : "a longer window damps more in a pass, a larger number of passes allows more of them";
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "after %lld %s a pass still changes %s by %.3g times the tolerance %.3g: %s "
                     "(the initial state moves at a rate of %.3g, omega is %.4g rad per time)",
                     (long long)w->p->passes, w->p->passes == 1 ? "pass" : "passes",
                     w->declared ? "the bonds" : "what is fast", now, w->tolerance, advice,
                     taut_stiffness_pace(w->p), w->omega);
}

/* Without springs there is no balance of forces: the initial state is as slow as the result when
 * they differ by no more than its errors. */
static bool was_slow(const ipa *w)
{
    const taut_filter_progress *g = &w->progress;
    bool slow = !w->declared;
    for (taut_index i = 0; i < g->count && slow; i++)
        slow = fabs(g->now[i] - g->first[i]) <= 2 * w->off_q + g->floor[i] &&
               fabs(g->now_dt[i] - g->first_dt[i]) <= 2 * w->off_v + w->fastest * g->floor[i];
    return slow;
}

static int iterate(ipa *w, taut_error *error)
{
    taut_projection *p = w->p;
    double first = 0, before = INFINITY, now = INFINITY;
    while (p->passes < w->settings->passes) {
        TAUT_TRY(filter(w, error));
        before = now;
        now = change(w);
        if (now < 1 || (p->passes == 1 && was_slow(w))) {
            double window = w->window;
            if (w->stiffness.rough) { /* many coordinates: once more, where nothing hides */
                w->stiffness.rough = false;
                TAUT_TRY(choose_again(w, error));
            }
            if (w->window == window)
                return w->declared ? TAUT_OK : taut_stiffness_separated(&w->stiffness, error);
        } else if (!w->declared && (p->passes <= 4 ||
                                    taut_stiffness_missed(&w->stiffness, w->progress.rate_left))) {
            TAUT_TRY(choose_again(w, error));
            w->stiffness.rate_left = 0;
        }
        first = p->passes == 1 ? now : first;
        if (now > 1e3 * first)
            break;
    }
    return fail_passes(w, first, before, now, error);
}

/* ---- is it slow? */

/* What is left of the oscillation after the last pass is less than it changed. */
static void state_errors(const ipa *w, bool kept)
{
    taut_projection *p = w->p;
    double rest = w->tolerance * fmin(1, change(w));
    if (!isnan(w->off_q))
        taut_explain_more(p, "; error about %.1g in q, %.1g in v", w->off_q + rest,
                          w->off_v + rest);
    if (!w->declared)
        taut_explain_more(p, "; slow frequencies up to %.3g", w->stiffness.slow);
    if (kept)
        taut_explain_more(
            p, "; the initial state is kept, it is %s the slow manifold %s what the passes lead to",
            w->declared ? "nearer to" : "as near to", w->declared ? "than" : "as");
}

/* The filter moves slow parts by O((window * slow rate)^4): an initial state that was better is
 * kept. Never worse than the initial state, and never far from slow. lambda = C^-1 g while the
 * rounding of g is not amplified too much, else from the acceleration equation (docs/theory.md,
 * Filters). */
static int conclude(ipa *w, double *first, double *last, taut_error *error)
{
    taut_projection *p = w->p;
    taut_force_balance start = {.lambda = first}, end = {.lambda = last};
    double fastest = fmax(w->fastest, w->omega);
    TAUT_TRY(taut_sampler_check(&w->sampler, w->declared, w->slowest > 0 ? w->slowest : w->omega,
                                w->off_q, poor, error));
    if (!w->declared) {
        bool kept = was_slow(w);
        state_errors(w, kept);
        if (kept)
            taut_projection_move(p, p->in->q, p->in->v);
        return taut_filter_work_multipliers(w, NULL, kept ? 0 : p->passes, error);
    }
    TAUT_TRY(taut_force_balance_measure(p, w->omega, w->tolerance, w->progress.floor, p->in->q,
                                        p->in->v, &p->pass[0], &start, error));
    TAUT_TRY(taut_force_balance_measure(p, w->omega, w->tolerance, w->progress.floor, p->q, p->v,
                                        &p->pass[p->passes], &end, error));
    bool keep = start.known && end.known && start.energy < end.energy;
    const taut_force_balance *best = keep ? &start : &end;
    if (!w->settings->inside) /* along a run forces may vanish */
        TAUT_TRY(taut_force_balance_check(p, best, "single spring", w->omega, error));
    state_errors(w, keep);
    if (keep)
        taut_projection_move(p, p->in->q, p->in->v);
    bool noisy = DBL_EPSILON / 2 * fastest * fastest >= taut_filter_noise(w->settings),
         balance = best->known && (noisy || keep);
    return taut_filter_work_multipliers(w, balance ? best->lambda : NULL, p->passes, error);
}

static int run(ipa *w, taut_error *error)
{
    taut_projection *p = w->p;
    double *first, *last;
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->in->sizes.bonds, error, &first, &last));
    TAUT_TRY(choose_kernel(w, error));
    TAUT_TRY(taut_filter_work_create(w, error));
    TAUT_TRY(measure(w, error));
    TAUT_TRY(choose(w, error));
    TAUT_TRY(taut_filter_progress_take(&w->progress, error));
    TAUT_TRY(iterate(w, error));
    return conclude(w, first, last, error);
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    ipa w = {.p = p, .settings = settings};
    int status = run(&w, error);
    taut_filter_work_destroy(&w);
    return status;
}

const taut_projection_method taut_projection_ipa = {
    .name = "ipa",
    .summary = "iterative projection: Verlet to both sides, filtered by a cubic kernel, repeated; "
               "cost independent of the stiffness",
    .reference = "Ariel, Sanz-Serna, Tsai 2012, section 3.2 and 5.2",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .reads = TAUT_SETTING_OMEGA | TAUT_SETTING_WINDOW | TAUT_SETTING_MICRO_STEPS |
             TAUT_SETTING_KERNEL | TAUT_SETTING_MOMENTS | TAUT_SETTING_SMOOTHNESS |
             TAUT_SETTING_PASSES | TAUT_SETTING_TOLERANCE,
    .moves_slow = true,
    .project = project,
};
