/* projection_kernel.c - a better iterative projection: the passes of [A section 3.2] with better
 * kernels (docs/theory.md, Filters).
 *
 *     (q, v) <- sum_j w_j (q, v)(t + j h), |j| <= N,
 *     v at the very end <- sum_j d_j q(t + j h)/h
 *
 * First passes with weights that vanish at the frequencies of the springs (tuned_weights.c): h
 * times the fastest frequency is 1.7, N is 4 or a little more, so that they cost 9 evaluations
 * where the paper's cost 37. They are repeated, with the frequencies of where they have led to,
 * while they help. Then passes with a smooth kernel of mu = 5 exact discrete moments
 * (filter_kernels.c) remove the rest. Velocities of Verlet on a slow motion are wrong by h^2/6
 * q'''; fed back, a corrected velocity would ring as seen by Verlet, so only the very last pass
 * takes it from the odd filter of the same samples.
 *
 * Passes begin at the foot point, where there is one, and stay over it (fibre.c). Where there
 * are rods the samples are those of RATTLE, which errs as Verlet does (flow_rattle.c), and
 * passes end on the rods.
 *
 * What is left is estimated from the same samples: the difference to the kernel of mu + 2
 * moments, and what Verlet does to slow positions, h^2/12 |q''''|/omega^2. A start that differs
 * from the result by no more is kept.
 *
 * Without springs the frequencies are those of the stiff potential or of the forces
 * (stiffness.c), and the accelerations take the part of the bonds (progress.c). They are
 * measured again where the passes have led to, until they are those that the passes were made
 * for. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "filter/projection_kernel.h"
#include "base/vectors.h"
#include "point/foot_point.h"
#include "point/hold/hold.h"

static const double smooth_step = 1.7;  /* h times the fastest frequency: that of aware passes, for
                                           Verlet's slow motion depends on it */
static const double finest_step = 0.3;  /* not below, however inaccurate Verlet's slow motion is */
static const double slow_target = 1e-9; /* what Verlet may do to slow positions, relative */
static const double shows = 1e-10;      /* an error of the kernel, relative, worth a better one */
static const double glides = 0.1;       /* changes of two passes that differ less are one */
static const double tuned = 1e-3;       /* the same that zeros at frequencies bear */
/* of a change, after another pass: no oscillation that the weights know */
static const double lasts = 0.25;
static const double alike = 0.1; /* relative change of frequencies that weights bear */

static const double least_shrink = 1e-4; /* what a pass with zeros at the frequencies leaves: at
                                            least, because these change on the way */
/* a change, in units of rounding, that smooth passes deal with as well */
static const double aware_enough = 300;
static const double alone_enough = 1e4; /* the same when there are none */

/* LASTING: passes after which changes must have shrunk */
enum { AWARE_PASSES = 8, ROUNDS = 3, LASTING = 6 };

typedef taut_projection_kernel_work kernel;

/* The largest change by the last pass in units of rounding, or of the tolerance where that is
 * more. */
static double change(const kernel *w)
{
    return taut_filter_progress_change(&w->gauge, w->tolerance, w->fastest * w->tolerance,
                                       w->fastest);
}

/* Back over the foot point, whose velocity is shifted; or onto the rods, and what is held goes
 * back to where it was. */
static int put_back(kernel *w, const double *shift, taut_error *error)
{
    bool placed;
    TAUT_TRY(taut_fibre_place(&w->seat, shift, &placed, error));
    if (placed)
        return TAUT_OK;
    TAUT_TRY(taut_rigid_bonds_put(&w->rods, error));
    return taut_hold_restorer_restore(w->grip, w->p->t, w->p->q, w->p->v, error);
}

/* The same between passes. At the very end velocities change from those of Verlet to
 * derivatives: it is the derivative that is to be over the foot point. And without bonds nothing
 * follows a velocity that is put back then. So Verlet's is put back with the difference already
 * in it. */
static int put_back_between(kernel *w, taut_error *error)
{
    const taut_projection *p = w->p;
    const taut_sampler *s = &w->sampler;
    for (taut_index i = 0; i < p->sizes.coordinates; i++)
        w->shift[i] = s->last_v[i] - s->slope[i];
    TAUT_TRY(put_back(w, w->shift, error));
    for (taut_index i = 0; i < p->sizes.coordinates && w->alternates && s->sums == TAUT_SUMS; i++)
        if (p->hold[i] & TAUT_HOLD_VELOCITY)
            p->v[i] -= s->sum[TAUT_RATE][i] / s->h - (s->last_v[i] + s->sum[TAUT_EVEN_V][i]);
    return TAUT_OK;
}

/* ---- passes that know the frequencies */

static int measure(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    bool first = w->fastest == 0;
    w->springs.floor = first && w->declared ? w->gauge.floor : NULL;
    TAUT_TRY(taut_stiffness_measure(p, p->q, &w->springs, error));
    if (w->springs.found == 0)
        return w->declared
                   ? taut_fail(error, TAUT_ERROR_CONVERGE,
                               "the frequencies of the springs could not be computed at this state")
                   : taut_stiffness_separated(&w->springs, error);
    w->slowest = w->springs.frequency[0];
    w->fastest = w->springs.frequency[w->springs.found - 1];
    return first ? taut_filter_progress_scale(&w->gauge, w->slowest, w->fastest, error) : TAUT_OK;
}

static int aware_passes(kernel *w, int64_t limit, taut_error *error)
{
    double before = INFINITY, now = INFINITY;
    for (int64_t k = 0; k < limit; k++) {
        if (!taut_sampler_aware(&w->sampler, &w->springs))
            return TAUT_OK;
        w->aware_steps = w->sampler.steps;
        TAUT_TRY(taut_sampler_run(&w->sampler, error));
        taut_sampler_move(&w->sampler);
        TAUT_TRY(put_back_between(w, error));
        TAUT_TRY(taut_filter_progress_take(&w->gauge, error));
        w->aware_passes++;
        before = now;
        now = change(w);
        w->shrinks = isfinite(before) ? now / before : 1;
        w->aware_done =
            now < 1 || (k > 0 && now * (now / before) < (w->alone ? alone_enough : aware_enough));
        if (!w->aware_done && w->declared && now > 0.5 * before)
            return TAUT_OK;
        if (!w->aware_done || !w->declared)
            TAUT_TRY(measure(w, error));
        if (w->aware_done || now > 0.5 * before)
            return TAUT_OK;
    }
    return TAUT_OK;
}

/* ---- smooth passes */

/* What the latest samples say about the error of the result, whose velocity is a derivative. */
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
    int best = w->off_q - w->off_verlet > shows * taut_largest(p->sizes.coordinates, p->q)
                   ? TAUT_BETTER_Q
                   : TAUT_EVEN_Q;
    for (taut_index i = 0; i < p->sizes.coordinates; i++) {
        p->q[i] = s->last_q[i] + s->sum[best][i];
        p->v[i] = s->sum[TAUT_RATE][i] / s->h;
    }
}

static int fail_passes(const kernel *w, double now, taut_error *error)
{
    if (w->springs.repels)
        return taut_stiffness_separated(&w->springs, error);
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "after %lld passes a pass still changes %s by %.3g times what it should: the "
                     "start is too far from the slow manifold, or slow and fast are not separated "
                     "(the start moves at a rate of %.3g, the slowest %s oscillates at %.4g rad "
                     "per time, the window is %.3g); start nearer%s, or allow more --passes",
                     (long long)w->p->passes, w->declared ? "the bonds" : "what is fast", now,
                     taut_stiffness_pace(w->p), w->declared ? "spring" : "of the fast", w->slowest,
                     2 * w->sampler.h * w->sampler.steps,
                     w->declared ? " (--method constraint gives a foot point)" : "");
}

/* The next point of the iteration, accelerated when that was asked for. */
static int go_on(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    taut_sampler *s = &w->sampler;
    taut_index n = p->sizes.coordinates;
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

/* The zeros follow the frequencies, which springs tell at no cost; others are measured between
 * rounds. */
static int retune(kernel *w, int64_t steps, taut_error *error)
{
    double slowest = w->slowest, fastest = w->fastest;
    if (!w->declared || !w->sampler.zeros)
        return TAUT_OK;
    TAUT_TRY(measure(w, error));
    if (fabs(w->slowest - slowest) <= tuned * slowest &&
        fabs(w->fastest - fastest) <= tuned * fastest)
        return TAUT_OK;
    if (w->point)
        taut_anderson_clear(&w->anderson);
    return taut_sampler_smooth(&w->sampler, &w->shape, &w->springs, w->smooth_step, steps, error);
}

static int smooth_passes(kernel *w, int64_t limit, int64_t steps, taut_error *error)
{
    taut_projection *p = w->p;
    double before = INFINITY, now = INFINITY;
    int repeated = 0; /* passes in a row that changed as much as the one before */
    for (int64_t k = 0; p->passes < limit; k++) {
        TAUT_TRY(taut_sampler_run(&w->sampler, error));
        TAUT_TRY(go_on(w, error));
        TAUT_TRY(taut_filter_progress_take(&w->gauge, error));
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
        if (now > 10 && now > lasts * before && taut_stiffness_missed(&w->springs, w->gauge.left))
            return TAUT_OK; /* the next round knows it */
        double expected = k > 0              ? now / before
                          : w->sampler.zeros ? fmax(w->shrinks, least_shrink)
                                             : 1;
        if (now < 10 || (!w->point && now * expected < 10) || stands)
            return TAUT_OK;
        /* from the foot point little was left to remove; of an oscillation that a pass has
         * changed by less than its error, 0.02 stay */
        bool little = false;
        if (w->foot && !w->point)
            TAUT_TRY(taut_projection_kernel_differs_little(w, w->gauge.before, w->gauge.before_dt,
                                                           0.5, 0, &little, error));
        if (little)
            return TAUT_OK;
        /* of an oscillation a pass leaves smooth_left: changes that repeat themselves are the
         * slow motion gliding [A 4.2], from a start that had little else */
        repeated = fabs(now - before) <= glides * before ? repeated + 1 : 0;
        if (repeated == 2)
            return TAUT_OK;
        if (!(now <= 1e3 * w->first) || (!w->declared && k >= LASTING && now > 0.5 * w->first))
            break;
        TAUT_TRY(retune(w, steps, error));
    }
    return fail_passes(w, now, error);
}

/* Passes with one kernel. */
static int smooth_round(kernel *w, const taut_options *options, int64_t limit, taut_error *error)
{
    int64_t steps = taut_options_given(options, "micro-steps")
                        ? taut_options_integer(options, "micro-steps")
                        : 0;
    w->first = 0;
    w->springs.left = 0;
    if (w->point)
        taut_anderson_clear(&w->anderson);
    TAUT_TRY(
        taut_sampler_smooth(&w->sampler, &w->shape, &w->springs, w->smooth_step, steps, error));
    TAUT_TRY(smooth_passes(w, limit, steps, error));
    double dragged;
    TAUT_TRY(taut_sampler_dragged(&w->sampler, w->slowest, &dragged, error));
    w->off_verlet += dragged;
    w->off_q += dragged;
    w->off_v += dragged / (w->sampler.h * w->sampler.steps);
    return TAUT_OK;
}

/* Measures again; are the frequencies still those that the passes were made for? */
static int measure_again(kernel *w, bool *same, taut_error *error)
{
    double slowest = w->slowest, fastest = w->fastest;
    w->springs.rough = false;
    TAUT_TRY(measure(w, error));
    *same = fabs(w->slowest - slowest) < alike * slowest &&
            fabs(w->fastest - fastest) < alike * fastest;
    return TAUT_OK;
}

/* Smooth passes, again with shorter steps where those of Verlet show. */
static int smooth_stage(kernel *w, const taut_options *options, int64_t limit, taut_error *error)
{
    taut_projection *p = w->p;
    bool same = w->declared;
    w->smooth_step = smooth_step;
    for (int round = 0; round == 0 || (round < ROUNDS && !same); round++) {
        TAUT_TRY(smooth_round(w, options, limit, error));
        if (!w->declared)
            TAUT_TRY(measure_again(w, &same, error));
    }
    TAUT_TRY(taut_stiffness_separated(&w->springs, error));
    if (!same)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the frequencies change from pass to pass (the last ones %.4g to %.4g, slow ones up to "
            "%.4g): the start is too far from the slow manifold, or slow and fast are not "
            "separated; --omega says from where on they are fast",
            w->slowest, w->fastest, w->springs.slow);
    double target = slow_target * taut_largest(p->sizes.coordinates, p->q);
    if (w->off_verlet > 2 * target && !taut_options_given(options, "micro-steps")) {
        w->smooth_step *= fmax(sqrt(target / w->off_verlet), finest_step / smooth_step);
        TAUT_TRY(smooth_round(w, options, limit, error));
    }
    finish(w);
    TAUT_TRY(put_back(w, NULL, error));
    return taut_filter_progress_take(&w->gauge, error);
}

/* ---- the projection */

static int create(kernel *w, const taut_options *options, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->sizes.coordinates;
    TAUT_TRY(taut_rigid_bonds_create(p, &w->rods, error));
    TAUT_TRY(taut_rigid_bonds_begin(&w->rods, error));
    w->declared = taut_stiffness_declared(p);
    if (!w->declared) {
        TAUT_TRY(taut_force_spectrum_create(p, &w->rates, error));
        w->springs.rates = &w->rates;
        w->springs.given =
            taut_options_given(options, "omega") ? taut_options_real(options, "omega") : 0;
        w->springs.rough = n > TAUT_FORCE_SPECTRUM_MOST;
    }
    TAUT_TRY(taut_filter_progress_create(p, w->springs.rates, &w->gauge, error));
    TAUT_TRY(taut_hold_restorer_create(p->context, &p->arena, &p->statistics, p->hold, p->t, p->q,
                                       p->v, &w->grip, error));
    w->alternates = w->grip && !w->declared;
    if (!(w->shift = TAUT_NEW(&p->arena, double, n)))
        return taut_fail_memory(error);
    if (taut_options_flag(options, "accelerate") || w->alternates) {
        TAUT_TRY(TAUT_RESERVE(&p->arena, 2 * n, error, &w->point, &w->residual));
        TAUT_TRY(taut_anderson_create(&w->anderson, 2 * n, TAUT_ANDERSON_DEPTH, &p->arena, error));
    }
    TAUT_TRY(measure(w, error));
    return taut_sampler_create(p, &w->sampler, error);
}

/* Does the start ring for all to see? Springs do not pull with what balances the forces then;
 * without springs, much of it is fast. */
static int rings(kernel *w, bool *yes, taut_error *error)
{
    const double much = 1e-4; /* of the coordinates */
    taut_projection *p = w->p;
    taut_force_balance start = {.lambda = TAUT_NEW(&p->arena, double, p->sizes.bonds)};
    double most = 0;
    if (!start.lambda)
        return taut_fail_memory(error);
    if (w->declared)
        TAUT_TRY(taut_force_balance_weigh(p, w->slowest, 0, w->gauge.floor, p->q, p->v, &p->pass[0],
                                          &start, error));
    for (taut_index i = 0; i < w->gauge.count; i++)
        if (isfinite(w->gauge.floor[i]))
            most = fmax(most, fmax(fabs(w->gauge.now[i]), fabs(w->gauge.now_dt[i]) / w->slowest));
    *yes = !(most <= much * taut_largest(p->sizes.coordinates, p->q)) ||
           (start.known && start.off > 0.5 * start.size);
    return TAUT_OK;
}

/* A start in which little is fast gets a smooth pass first: when that moves it by no more than
 * its own error, it stays. */
static int look_first(kernel *w, const taut_options *options, bool *slow, taut_error *error)
{
    taut_projection *p = w->p;
    bool ringing = true;
    *slow = false;
    TAUT_TRY(rings(w, &ringing, error));
    if (ringing || taut_stiffness_separated(&w->springs, NULL) != 0)
        return TAUT_OK;
    if (w->springs.rough) {
        w->springs.rough = false;
        TAUT_TRY(measure(w, error));
        w->springs.rough = true;
        if (taut_stiffness_separated(&w->springs, NULL) != 0)
            return TAUT_OK;
    }
    int64_t steps = taut_options_given(options, "micro-steps")
                        ? taut_options_integer(options, "micro-steps")
                        : 0;
    w->smooth_step = smooth_step;
    TAUT_TRY(taut_sampler_smooth(&w->sampler, &w->shape, &w->springs, smooth_step, steps, error));
    TAUT_TRY(taut_sampler_run(&w->sampler, error));
    taut_sampler_move(&w->sampler);
    estimate(w);
    finish(w);
    TAUT_TRY(put_back(w, NULL, error));
    TAUT_TRY(taut_filter_progress_take(&w->gauge, error));
    TAUT_TRY(taut_projection_kernel_was_slow(w, slow, error));
    if (*slow)
        return TAUT_OK;
    /* as if nothing had been: the velocity that `finish` gives is not for further passes */
    w->smooth_step = 0;
    taut_copy(p->sizes.coordinates, p->q0, p->q);
    taut_copy(p->sizes.coordinates, p->v0, p->v);
    p->passes = 0;
    taut_filter_progress_rewind(&w->gauge);
    return TAUT_OK;
}

/* Springs have a foot point, and the slow point of the start is over it. A filter glides along
 * the bonds by as much as the start is off them: from the foot point by next to nothing. Where
 * there is none (redundant springs, a start too far) passes begin at the start. */
static int begin_at_foot(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    taut_system *rigid = NULL;
    taut_context *context = NULL;
    taut_projector *projector = NULL;
    taut_foot_point_settings settings = {.ignore_holds = !w->grip, .hold = p->hold};
    taut_error reason = {0};
    if (!w->declared)
        return TAUT_OK;
    int status = taut_system_rigid(p->system, &rigid, &reason);
    if (status == 0)
        status = taut_context_create(rigid, &p->arena.allocator, &context, &reason);
    if (status == 0)
        status = taut_foot_point_create(context, &p->arena, &p->statistics, &settings, &projector,
                                        &reason);
    if (status == 0) {
        taut_foot_point_guess(projector, false);
        status = taut_rigid_bonds_given(&w->rods, projector, &reason);
    }
    if (projector)
        projector->destroy(projector);
    taut_context_destroy(context);
    taut_system_destroy(rigid);
    w->foot = status == 0;
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (!w->foot)
        return TAUT_OK;
    TAUT_TRY(measure(w, error));
    TAUT_TRY(taut_fibre_create(p, &w->seat, error));
    return taut_filter_progress_take(&w->gauge, error);
}

static int run(kernel *w, const taut_options *options, taut_error *error)
{
    const char *name = taut_options_text(options, "kernel");
    int64_t limit = taut_options_integer(options, "passes");
    bool aware = strcmp(name, "auto") == 0 || strcmp(name, "aware") == 0;
    w->alone = strcmp(name, "aware") == 0;
    taut_projection_kernel_explain(w, false);
    TAUT_TRY(taut_filter_progress_take(&w->gauge, error));
    bool slow;
    TAUT_TRY(look_first(w, options, &slow, error));
    if (slow)
        return TAUT_OK;
    if (strcmp(name, "auto") == 0)
        TAUT_TRY(begin_at_foot(w, error));
    if (aware)
        TAUT_TRY(aware_passes(w, limit < AWARE_PASSES ? limit : AWARE_PASSES, error));
    if (!w->alone)
        return smooth_stage(w, options, limit, error);
    bool settled = w->aware_done || (w->aware_passes > 0 && change(w) < 1e-6 / DBL_EPSILON);
    if (!settled)
        return w->aware_passes == 0 ? taut_fail(error, TAUT_ERROR_REFUSED,
                                                "there are no short weights for frequencies from "
                                                "%.4g to %.4g; use --kernel smooth",
                                                w->slowest, w->fastest)
                                    : fail_passes(w, change(w), error);
    bool same = true;
    if (w->springs.rough)
        TAUT_TRY(measure_again(w, &same, error));
    return same ? taut_stiffness_separated(&w->springs, error) : fail_passes(w, change(w), error);
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    kernel w = {.p = p, .shrinks = 1};
    if (strcmp(taut_options_text(options, "kernel"), "cubic") == 0)
        return taut_fail(
            error, TAUT_ERROR_USAGE,
            "--kernel cubic is that of projection ipa; use --method ipa, or --kernel smooth");
    TAUT_TRY(taut_sampler_shape(options, &w.shape, error));
    w.tolerance =
        taut_options_given(options, "tolerance") ? taut_options_real(options, "tolerance") : 0;
    int status = create(&w, options, error);
    if (status == 0)
        status = run(&w, options, error);
    if (status == 0)
        status = taut_projection_kernel_conclude(&w, error);
    taut_rigid_bonds_end(&w.rods);
    taut_rigid_bonds_destroy(&w.rods);
    taut_fibre_destroy(&w.seat);
    taut_sampler_destroy(&w.sampler);
    taut_force_spectrum_destroy(&w.rates);
    taut_hold_restorer_destroy(w.grip);
    return status;
}

const taut_projection_method taut_projection_kernel = {
    .name = "kernel",
    .summary = "iterative projection with weights that know the frequencies, then a smooth kernel "
               "of order 6; needs forces only",
    .reference = "Ariel, Sanz-Serna, Tsai 2012, section 3.2, with better kernels",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .moves_slow = true,
    .project = project,
};
