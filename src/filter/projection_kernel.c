/* projection_kernel.c - a better iterative projection: the passes of [A section 3.2] with better
 * kernels (docs/theory.md, Filters).
 *
 *     (q, v) <- sum_j w_j (q, v)(t + j h), |j| <= N,
 *     v at the very end <- sum_j d_j q(t + j h)/h
 *
 * First frequency-tuned passes, with weights that vanish at the frequencies of the springs
 * (tuned_weights.c): h times the fastest frequency is 1.7, N is 4 or slightly more, so that they
 * cost 9 evaluations where the paper's cost 37. They are repeated, with the frequencies of the
 * state reached, while they reduce the change. Then passes with a smooth kernel of mu = 5 exact
 * discrete moments (filter_kernels.c) remove the rest. Velocities of Verlet on a slow motion are
 * wrong by h^2/6 q'''; fed back, a corrected velocity would oscillate under Verlet, so only the
 * last pass takes it from the odd filter of the same samples.
 *
 * Passes begin at the foot point where there is one, and keep it (fibre.c). Where there are rigid
 * bonds the samples are those of RATTLE, whose error is that of Verlet (flow_rattle.c), and
 * passes end on the rigid bonds.
 *
 * The error is estimated from the same samples: the difference from the kernel of mu + 2 moments,
 * and the error of Verlet in slow positions, h^2/12 |q''''|/omega^2. An initial state that
 * differs from the result by no more is kept.
 *
 * Without springs the frequencies are those of the stiff potential or of the forces
 * (stiffness.c), and accelerations take the place of the bonds (progress.c). They are measured
 * again at the state reached, until they are those that the passes were made for. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/vectors.h"
#include "filter/filter_work.h"
#include "point/rigid_foot.h"
#include "point/hold/hold.h"

static const double smooth_step = 1.7; /* h times the fastest frequency: that of tuned passes, since
                                          Verlet's slow motion depends on it */
static const double finest_step = 0.3; /* not below, however inaccurate Verlet's slow motion is */
static const double slow_target = 1e-9;   /* what Verlet may do to slow positions, relative */
static const double visible = 1e-10;      /* an error of the kernel, relative, worth a better one */
static const double repeats = 0.1;        /* changes of two passes that differ less are one */
static const double retune_change = 1e-3; /* the same that zeros at frequencies bear */
/* of a change, after another pass: not an oscillation of the weights' frequencies */
static const double persists = 0.25;
static const double alike = 0.1; /* relative change of frequencies that weights bear */

static const double least_shrink = 1e-4; /* what a pass with zeros at the frequencies leaves: at
                                            least, because these change on the way */
/* a change, in units of rounding, that smooth passes deal with as well */
static const double tuned_enough = 300;
static const double alone_enough = 1e4; /* the same when there are none */

/* LASTING: passes after which changes must have shrunk */
enum { TUNED_PASSES = 8, ROUNDS = 3, LASTING = 6 };

typedef taut_filter_work kernel;

/* The largest change by the last pass in units of rounding, or of the tolerance where that is
 * more. */
static double change(const kernel *w)
{
    return taut_filter_progress_change(&w->progress, w->tolerance, w->fastest * w->tolerance,
                                       w->fastest);
}

/* Back over the foot point, whose velocity is shifted; or onto the rigid bonds, and what is held
 * goes back to where it was. */
static int put_back(kernel *w, const double *shift, taut_error *error)
{
    bool placed;
    TAUT_TRY(taut_fibre_place(&w->fibre, shift, &placed, error));
    if (placed)
        return TAUT_OK;
    TAUT_TRY(taut_rigid_bonds_put(&w->rigid, error));
    return taut_hold_restorer_restore(w->restorer, w->p->in->t, w->p->q, w->p->v, error);
}

/* The same between passes. At the very end velocities change from those of Verlet to
 * derivatives: it is the derivative that is to be over the foot point. And without bonds nothing
 * follows a velocity that is put back then. So Verlet's is put back with the difference already
 * in it. */
static int put_back_between(kernel *w, taut_error *error)
{
    const taut_projection *p = w->p;
    const taut_sampler *s = &w->sampler;
    for (taut_index i = 0; i < p->in->sizes.coordinates; i++)
        w->shift[i] = s->last_v[i] - s->slope[i];
    TAUT_TRY(put_back(w, w->shift, error));
    for (taut_index i = 0; i < p->in->sizes.coordinates && w->alternates && s->sums == TAUT_SUMS;
         i++)
        if (p->in->hold[i] & TAUT_HOLD_VELOCITY)
            p->v[i] -= s->sum[TAUT_RATE][i] / s->h - (s->last_v[i] + s->sum[TAUT_EVEN_V][i]);
    return TAUT_OK;
}

/* ---- frequency-tuned passes */

static int measure(kernel *w, taut_error *error)
{
    bool first = w->fastest == 0;
    TAUT_TRY(taut_filter_work_measure(w, error));
    if (w->stiffness.found == 0)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "the frequencies of the springs could not be computed at this state");
    return first && w->declared
               ? taut_filter_progress_scale(&w->progress, w->slowest, w->fastest, error)
               : TAUT_OK;
}

static int tuned_passes(kernel *w, int64_t limit, taut_error *error)
{
    double before = INFINITY, now = INFINITY;
    for (int64_t k = 0; k < limit; k++) {
        if (!taut_sampler_tuned(&w->sampler, &w->stiffness))
            return TAUT_OK;
        w->tuned_steps = w->sampler.steps;
        TAUT_TRY(taut_sampler_run(&w->sampler, error));
        taut_sampler_move(&w->sampler);
        TAUT_TRY(put_back_between(w, error));
        TAUT_TRY(taut_filter_progress_take(&w->progress, error));
        w->tuned_passes++;
        before = now;
        now = change(w);
        w->shrinks = isfinite(before) ? now / before : 1;
        w->tuned_done = now < 1 || (k > 0 && now * (now / before) <
                                                 (w->tuned_alone ? alone_enough : tuned_enough));
        if (!w->tuned_done && w->declared && now > 0.5 * before)
            return TAUT_OK;
        if (!w->tuned_done || !w->declared)
            TAUT_TRY(measure(w, error));
        if (w->tuned_done || now > 0.5 * before)
            return TAUT_OK;
    }
    return TAUT_OK;
}

/* ---- smooth passes */

/* The error, from the latest samples, of the result, whose velocity is a derivative. */
static void estimate(kernel *w)
{
    taut_sampled_errors e = taut_sampler_errors(&w->sampler, w->slowest);
    w->off_verlet = e.verlet_q;
    w->off_verlet_v = e.verlet_v;
    w->off_q = e.filter_q + e.verlet_q;
    w->off_v = e.filter_v + e.verlet_q / (w->sampler.h * w->sampler.steps);
}

static void finish(kernel *w)
{
    taut_projection *p = w->p;
    const taut_sampler *s = &w->sampler;
    /* where the kernel shows, the samples of the settled iteration have no oscillation left that
     * a less damping one would pass */
    int best = w->off_q - w->off_verlet > visible * taut_largest(p->in->sizes.coordinates, p->q)
                   ? TAUT_BETTER_Q
                   : TAUT_EVEN_Q;
    for (taut_index i = 0; i < p->in->sizes.coordinates; i++) {
        p->q[i] = s->last_q[i] + s->sum[best][i];
        p->v[i] = s->sum[TAUT_RATE][i] / s->h;
    }
}

static int fail_passes(const kernel *w, double now, taut_error *error)
{
    if (w->stiffness.repels)
        return taut_stiffness_separated(&w->stiffness, error);
    char size[40] = "without bound";
    if (isfinite(now))
        snprintf(size, sizeof size, "by %.3g times what it should", now);
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "after %lld passes a pass still changes %s %s: the "
                     "initial state is too far from the slow manifold, or slow and fast are not "
                     "separated (it moves at a rate of %.3g, the slowest %s oscillates at %.4g rad "
                     "per time, the window is %.3g); start nearer%s, or allow more passes",
                     (long long)w->p->passes, w->declared ? "the bonds" : "what is fast", size,
                     taut_stiffness_pace(w->p), w->declared ? "spring" : "of the fast", w->slowest,
                     2 * w->sampler.h * w->sampler.steps,
                     w->declared ? " (projection constraint gives a foot point)" : "");
}

/* The next point of the iteration, accelerated when that was asked for. */
static int next_point(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    taut_sampler *s = &w->sampler;
    taut_index n = p->in->sizes.coordinates;
    taut_sampler_move(s);
    TAUT_TRY(put_back_between(w, error));
    if (!w->point)
        return TAUT_OK;
    for (taut_index i = 0; i < n; i++) { /* velocities in the unit of positions */
        w->point[i] = s->last_q[i];
        w->point[n + i] = s->last_v[i] / w->slowest;
        w->residual[i] = p->q[i] - s->last_q[i];
        w->residual[n + i] = (p->v[i] - s->last_v[i]) / w->slowest;
    }
    taut_anderson_next(&w->anderson, w->point, w->residual, w->point);
    taut_copy(n, w->point, p->q);
    for (taut_index i = 0; i < n; i++)
        p->v[i] = w->slowest * w->point[n + i];
    return put_back_between(w, error); /* to the last bit */
}

static int form_weights(kernel *w, taut_error *error)
{
    return taut_sampler_smooth(&w->sampler, &w->shape, &w->stiffness, w->smooth_step,
                               w->settings->micro_steps, error);
}

/* The zeros follow the frequencies, which springs give at no cost; others are measured between
 * rounds. */
static int retune(kernel *w, taut_error *error)
{
    double slowest = w->slowest, fastest = w->fastest;
    if (!w->declared || !w->sampler.zeros)
        return TAUT_OK;
    TAUT_TRY(measure(w, error));
    if (fabs(w->slowest - slowest) <= retune_change * slowest &&
        fabs(w->fastest - fastest) <= retune_change * fastest)
        return TAUT_OK;
    if (w->point)
        taut_anderson_clear(&w->anderson);
    return form_weights(w, error);
}

static int smooth_passes(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    double before = INFINITY, now = INFINITY;
    int repeated = 0; /* passes in a row that changed as much as the one before */
    if (p->passes >= w->settings->passes)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "no pass is left for the smooth kernel (passes: %lld); allow more passes",
                         (long long)p->passes);
    for (int64_t k = 0; p->passes < w->settings->passes; k++) {
        TAUT_TRY(taut_sampler_run(&w->sampler, error));
        TAUT_TRY(next_point(w, error));
        TAUT_TRY(taut_filter_progress_take(&w->progress, error));
        estimate(w);
        before = now;
        now = change(w);
        w->first = w->first > 0 ? w->first : now;
        if (now > before && w->point)
            taut_anderson_clear(&w->anderson); /* the safeguard: plain passes again */
        /* below rounding, or going there with the next pass; or no longer shrinking: slow motion
         * drifts under the filter */
        /* accelerated ones shrink unevenly */
        bool stands = now > 0.5 * before && now <= 0.01 * w->first && !w->point;
        if (now > 10 && now > persists * before &&
            taut_stiffness_missed(&w->stiffness, w->progress.rate_left))
            return TAUT_OK; /* the next round accounts for it */
        double expected = k > 0              ? now / before
                          : w->sampler.zeros ? fmax(w->shrinks, least_shrink)
                                             : 1;
        if (now < 10 || (!w->point && now * expected < 10) || stands)
            return TAUT_OK;
        /* from the foot point little was left to remove; of an oscillation that a pass has
         * changed by less than its error, 0.02 stay */
        bool little = false;
        if (w->foot && !w->point)
            TAUT_TRY(taut_projection_kernel_differs_little(
                w, w->progress.before, w->progress.before_dt, 0.5, 0, &little, error));
        if (little)
            return TAUT_OK;
        /* of an oscillation a pass leaves smooth_left: changes that repeat themselves are the
         * slow motion drifting along the bonds [A 4.2], from an initial state that had little else
         */
        repeated = fabs(now - before) <= repeats * before ? repeated + 1 : 0;
        if (repeated == 2)
            return TAUT_OK;
        if (!(now <= 1e3 * w->first) || (!w->declared && k >= LASTING && now > 0.5 * w->first))
            break;
        TAUT_TRY(retune(w, error));
    }
    return fail_passes(w, now, error);
}

/* Passes with one kernel. */
static int smooth_round(kernel *w, taut_error *error)
{
    w->first = 0;
    w->stiffness.rate_left = 0;
    if (w->point)
        taut_anderson_clear(&w->anderson);
    TAUT_TRY(form_weights(w, error));
    TAUT_TRY(smooth_passes(w, error));
    double more;
    TAUT_TRY(taut_sampler_velocity_error(&w->sampler, w->slowest, &more, error));
    w->off_verlet += more;
    w->off_q += more;
    w->off_v += more / (w->sampler.h * w->sampler.steps);
    return TAUT_OK;
}

/* Measures again; are the frequencies still those that the passes were made for? */
static int measure_again(kernel *w, bool *same, taut_error *error)
{
    double slowest = w->slowest, fastest = w->fastest;
    w->stiffness.rough = false;
    TAUT_TRY(measure(w, error));
    *same = fabs(w->slowest - slowest) < alike * slowest &&
            fabs(w->fastest - fastest) < alike * fastest;
    return TAUT_OK;
}

/* Smooth passes, again with shorter steps where those of Verlet show. */
static int smooth_stage(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    bool same = w->declared;
    w->smooth_step = smooth_step;
    for (int round = 0; round == 0 || (round < ROUNDS && !same); round++) {
        TAUT_TRY(smooth_round(w, error));
        if (!w->declared)
            TAUT_TRY(measure_again(w, &same, error));
    }
    TAUT_TRY(taut_stiffness_separated(&w->stiffness, error));
    if (!same)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the frequencies change from pass to pass (the last ones %.4g to %.4g, slow ones up to "
            "%.4g): the initial state is too far from the slow manifold, or slow and fast are not "
            "separated; set omega, from which on motion is fast",
            w->slowest, w->fastest, w->stiffness.slow);
    double target = slow_target * taut_largest(p->in->sizes.coordinates, p->q);
    if (w->off_verlet > 2 * target && w->settings->micro_steps == 0) {
        w->smooth_step *= fmax(sqrt(target / w->off_verlet), finest_step / smooth_step);
        TAUT_TRY(smooth_round(w, error));
    }
    finish(w);
    TAUT_TRY(put_back(w, NULL, error));
    return taut_filter_progress_take(&w->progress, error);
}

/* ---- the projection */

static int create(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    TAUT_TRY(taut_filter_work_create(w, error));
    p->idle |= w->declared ? TAUT_SETTING_OMEGA : 0;
    w->alternates = w->restorer && !w->declared;
    TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &w->shift));
    if (w->settings->accelerate || w->alternates) {
        TAUT_TRY(TAUT_RESERVE(&p->arena, 2 * n, error, &w->point, &w->residual));
        TAUT_TRY(taut_anderson_create(&w->anderson, 2 * n, TAUT_ANDERSON_DEPTH, &p->arena, error));
    }
    return measure(w, error);
}

/* Does the initial state clearly oscillate? Then the springs do not balance the forces;
 * without springs, much of it is fast. */
static int find_oscillation(kernel *w, bool *yes, taut_error *error)
{
    const double much = 1e-4; /* of the coordinates */
    taut_projection *p = w->p;
    taut_force_balance start = {0};
    double most = 0;
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->in->sizes.bonds, error, &start.lambda));
    if (w->declared)
        TAUT_TRY(taut_force_balance_measure(p, w->slowest, 0, w->progress.floor, p->q, p->v,
                                            &p->pass[0], &start, error));
    for (taut_index i = 0; i < w->progress.count; i++)
        if (isfinite(w->progress.floor[i]))
            most = fmax(most,
                        fmax(fabs(w->progress.now[i]), fabs(w->progress.now_dt[i]) / w->slowest));
    *yes = !(most <= much * taut_largest(p->in->sizes.coordinates, p->q)) ||
           (start.known && start.off > 0.5 * start.size);
    return TAUT_OK;
}

/* An initial state in which little is fast gets a smooth pass first: when that moves it by no more
 * than its own error, it stays. */
static int try_initial_state(kernel *w, bool *slow, taut_error *error)
{
    taut_projection *p = w->p;
    bool oscillates = true;
    *slow = false;
    TAUT_TRY(find_oscillation(w, &oscillates, error));
    if (oscillates || taut_stiffness_separated(&w->stiffness, NULL) != 0)
        return TAUT_OK;
    if (w->stiffness.rough) {
        w->stiffness.rough = false;
        TAUT_TRY(measure(w, error));
        w->stiffness.rough = true;
        if (taut_stiffness_separated(&w->stiffness, NULL) != 0)
            return TAUT_OK;
    }
    w->smooth_step = smooth_step;
    TAUT_TRY(form_weights(w, error));
    TAUT_TRY(taut_sampler_run(&w->sampler, error));
    taut_sampler_move(&w->sampler);
    estimate(w);
    finish(w);
    TAUT_TRY(put_back(w, NULL, error));
    TAUT_TRY(taut_filter_progress_take(&w->progress, error));
    TAUT_TRY(taut_projection_kernel_was_slow(w, slow, error));
    if (*slow)
        return TAUT_OK;
    /* as if nothing had been: the velocity that `finish` gives is not for further passes */
    w->smooth_step = 0;
    taut_projection_move(p, p->in->q, p->in->v);
    p->passes = 0;
    taut_filter_progress_rewind(&w->progress);
    return TAUT_OK;
}

/* Springs have a foot point, and so has the slow point of the initial state. A filter moves along
 * the bonds by as much as the state is off them: from the foot point by almost nothing. Where
 * there is none (redundant springs, an initial state too far away) passes begin at the initial
 * state. */
static int begin_at_foot(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    taut_rigid_foot foot;
    taut_foot_point_settings settings = {.ignore_holds = !w->restorer, .hold = p->in->hold};
    taut_error reason = {0};
    if (!w->declared)
        return TAUT_OK;
    int status = taut_rigid_foot_create(&foot, p->in->context, &p->arena, &p->statistics, &settings,
                                        &reason);
    if (status == 0) {
        taut_foot_point_guess(foot.projector, false);
        status = taut_rigid_bonds_given(&w->rigid, foot.projector, &reason);
    }
    taut_rigid_foot_destroy(&foot);
    w->foot = status == 0;
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (!w->foot)
        return TAUT_OK;
    TAUT_TRY(measure(w, error));
    TAUT_TRY(taut_fibre_create(p, &w->fibre, error));
    return taut_filter_progress_take(&w->progress, error);
}

static int run(kernel *w, taut_error *error)
{
    taut_kernel_choice choice = w->settings->kernel;
    int64_t limit = w->settings->passes;
    w->tuned_alone = choice == TAUT_KERNEL_TUNED;
    taut_projection_kernel_explain(w, false);
    TAUT_TRY(taut_filter_progress_take(&w->progress, error));
    bool slow;
    TAUT_TRY(try_initial_state(w, &slow, error));
    if (slow)
        return TAUT_OK;
    if (choice == TAUT_KERNEL_AUTO)
        TAUT_TRY(begin_at_foot(w, error));
    if (choice == TAUT_KERNEL_AUTO || w->tuned_alone)
        TAUT_TRY(tuned_passes(w, limit < TUNED_PASSES ? limit : TUNED_PASSES, error));
    if (!w->tuned_alone)
        return smooth_stage(w, error);
    bool settled = w->tuned_done || (w->tuned_passes > 0 && change(w) < 1e-6 / DBL_EPSILON);
    if (!settled)
        return w->tuned_passes == 0 ? taut_fail(error, TAUT_ERROR_REFUSED,
                                                "there are no short weights for frequencies from "
                                                "%.4g to %.4g; use the kernel smooth",
                                                w->slowest, w->fastest)
                                    : fail_passes(w, change(w), error);
    bool same = true;
    if (w->stiffness.rough)
        TAUT_TRY(measure_again(w, &same, error));
    return same ? taut_stiffness_separated(&w->stiffness, error) : fail_passes(w, change(w), error);
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    kernel w = {.p = p, .settings = settings, .shrinks = 1};
    if (settings->kernel == TAUT_KERNEL_CUBIC)
        return taut_fail_option(
            error, TAUT_ERROR_USAGE, "kernel",
            "cubic is the kernel of projection ipa; use projection ipa, or the kernel smooth");
    TAUT_TRY(taut_sampler_shape(p, settings, &w.shape, error));
    w.tolerance = isnan(settings->tolerance) ? 0 : settings->tolerance;
    int status = create(&w, error);
    if (status == 0)
        status = run(&w, error);
    if (status == 0)
        status = taut_projection_kernel_conclude(&w, error);
    taut_filter_work_destroy(&w);
    return status;
}

const taut_projection_method taut_projection_kernel = {
    .name = "kernel",
    .summary = "iterative projection with frequency-tuned weights, then a smooth kernel of order "
               "6; needs forces only",
    .reference = "Ariel, Sanz-Serna, Tsai 2012, section 3.2, with better kernels",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .reads = TAUT_SETTING_OMEGA | TAUT_SETTING_MICRO_STEPS | TAUT_SETTING_KERNEL |
             TAUT_SETTING_MOMENTS | TAUT_SETTING_SMOOTHNESS | TAUT_SETTING_ACCELERATE |
             TAUT_SETTING_PASSES | TAUT_SETTING_TOLERANCE,
    .moves_slow = true,
    .project = project,
};
