/* kernel.c - a better iterative projection: the passes of [A section 3.2] with better kernels (DESIGN 6).
 *
 *     (q, v) <- sum_j w_j (q, v)(t + j h),  |j| <= N,        v at the very end <- sum_j d_j q(t + j h)/h
 *
 * First passes with weights that vanish at the frequencies of the springs (aware.c): h times the fastest frequency is 1.7, N is 4 or a
 * little more, so that they cost 9 evaluations where the paper's cost 37. They are repeated, with the frequencies of where they have led to, while
 * they help. Then passes with a smooth kernel of mu = 5 exact discrete moments (kernels.c) remove the rest. Velocities of Verlet on a slow motion are
 * wrong by h^2/6 q'''; fed back, a corrected velocity would ring as seen by Verlet, so only the very last pass takes it from the odd filter of
 * the same samples.
 *
 * What is left is estimated from the same samples: the difference to the kernel of mu + 2 moments, and what Verlet does to slow positions,
 * h^2/12 |q''''|/omega^2. A start that differs from the result by no more is kept. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "slow/anderson.h"
#include "slow/kernels.h"
#include "slow/projection.h"
#include "slow/springs.h"
#include "slow/trace.h"
#include "step/flow_verlet.h"
#include "step/methods.h"

static const double aware_step = 1.7;   /* h times the fastest frequency; Verlet is stable below 2 */
static const double smooth_step = 1.7;  /* the same for smooth kernels: another would have another slow motion of Verlet */
static const double smooth_left = 0.02; /* of an oscillation, after a smooth pass */
static const double glides = 0.1;       /* changes of two passes that differ less are one */
static const double finest_step = 0.3;  /* not below, however inaccurate Verlet's slow motion is */
static const double slow_target = 1e-9; /* what Verlet may do to slow positions, relative */
static const double shows = 1e-10;      /* an error of the kernel, relative, worth a better one */
static const double clearly = 0.1;      /* less oscillating energy: nearer to slow */
static const double poor = 1e-4;        /* an error, relative, that is not to be called a slow point */
static const double most_sum = 5;       /* sum |w| of weights that know frequencies: beyond, passes diverge */

static const double aware_enough = 300; /* a change, in units of rounding, that smooth passes deal with as well */

static const double alone_enough = 1e4; /* the same when there are none */

enum { AWARE_PASSES = 8, MOST_STEPS = 1 << 22 };

/* Weighted sums of samples, each [n]. */
enum { EVEN_Q, EVEN_V, BETTER_Q, BETTER_V, RATE, FOURTH, SUMS };

typedef struct kernel {
    taut_projection *p;
    taut_springs springs;
    double slowest, fastest;
    taut_kernel shape; /* of the smooth passes */
    double tolerance;
    double first;          /* change of the first smooth pass */
    double h, smooth_step; /* step; that of smooth passes times the fastest frequency */
    int steps;
    double *weight[SUMS];            /* [steps + 1]; those of q and v are one array */
    double *sum[SUMS];               /* [n] */
    int sums;                        /* how many are formed */
    double *state;                   /* [2n] */
    double *last_q, *last_v;         /* before the latest pass */
    double *floor;                   /* [m] */
    double off_q, off_v, off_verlet; /* estimated errors, max norm; part of off_q that is Verlet's */
    int64_t aware_passes;
    bool alone;      /* no smooth passes follow */
    bool aware_done; /* they ended because they had nothing more to do */
    int aware_steps;
    taut_flow *flow;
    taut_anderson anderson;
    double *point, *residual; /* [2n]: for acceleration; NULL without */
} kernel;

static double largest(taut_index n, const double *x)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* ---- one pass */

static int filter_side(kernel *w, int side, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->sizes.coordinates;
    memcpy(w->state, p->q, (size_t)n * sizeof(double));
    memcpy(w->state + n, p->v, (size_t)n * sizeof(double));
    for (int j = 1; j <= w->steps; j++) {
        TAUT_TRY(w->flow->advance(w->flow, p->t + side * (j - 1) * w->h, side * w->h, w->state, error));
        TAUT_TRY(taut_trace_sample(p, side * j, w->state, error));
        for (int k = 0; k < w->sums; k++) {
            bool velocity = k == EVEN_V || k == BETTER_V;
            const double *from = velocity ? p->v : p->q, *now = velocity ? w->state + n : w->state;
            double weight = (k == RATE ? side : 1) * w->weight[k][j], *sum = w->sum[k];
            /* as differences from the centre: a constant passes unchanged, and rounding stays small */
            for (taut_index i = 0; i < n; i++)
                sum[i] += weight * (now[i] - from[i]);
        }
    }
    return TAUT_OK;
}

static int sample(kernel *w, taut_error *error)
{
    for (int k = 0; k < w->sums; k++)
        memset(w->sum[k], 0, (size_t)w->p->sizes.coordinates * sizeof(double));
    TAUT_TRY(taut_trace_begin(w->p, w->steps, w->h, w->weight[EVEN_Q], error));
    TAUT_TRY(filter_side(w, 1, error));
    return filter_side(w, -1, error);
}

static void move_by(kernel *w, const double *dq, const double *dv)
{
    taut_projection *p = w->p;
    taut_index n = p->sizes.coordinates;
    memcpy(w->last_q, p->q, (size_t)n * sizeof(double));
    memcpy(w->last_v, p->v, (size_t)n * sizeof(double));
    for (taut_index i = 0; i < n; i++) {
        p->q[i] += dq[i];
        p->v[i] += dv[i];
    }
}

/* The largest change of bonds by the last pass in units of rounding, or of the tolerance where that is more. */
static double change(const kernel *w)
{
    const taut_pass *now = &w->p->pass[w->p->passes], *before = now - 1;
    double most = 0;
    for (taut_index i = 0; i < w->p->sizes.bonds; i++) {
        double g = fabs(now->g[i] - before->g[i]) / fmax(w->tolerance, w->floor[i]);
        double rate = fabs(now->gdot[i] - before->gdot[i]) / (w->fastest * fmax(w->tolerance, w->floor[i]));
        most = fmax(most, isnan(g + rate) ? INFINITY : fmax(g, rate));
    }
    return most;
}

/* ---- passes that know the frequencies */

static int measure(kernel *w, taut_error *error)
{
    TAUT_TRY(taut_springs_measure(w->p, w->p->q, &w->springs, error));
    if (w->springs.found == 0)
        return taut_fail(error, TAUT_ERROR_CONVERGE, "the frequencies of the springs could not be computed at this state");
    double size = largest(w->p->sizes.coordinates, w->p->q) + largest(w->p->sizes.coordinates, w->p->v) / w->springs.frequency[0];
    for (taut_index i = 0; i < w->p->sizes.bonds && w->springs.floor; i++) /* at q = 0 rounding is that of the motion */
        w->floor[i] = fmax(w->floor[i], DBL_EPSILON * fmax(size, DBL_MIN / DBL_EPSILON));
    w->springs.floor = NULL;
    w->slowest = w->springs.frequency[0];
    w->fastest = w->springs.frequency[w->springs.found - 1];
    return TAUT_OK;
}

/* The shortest weights that are tame; false when there are none. */
static bool find_aware(kernel *w)
{
    const double spread_left = 2, band_left = 0.1; /* of an oscillation whose frequency is off, of one in a band */
    double theta[2 * TAUT_SPRINGS_ENDS];
    int count = w->springs.found;
    w->h = aware_step / w->fastest;
    for (int k = 0; k < count; k++)
        theta[k] = 2 * asin(fmin(1, w->h * w->springs.frequency[k] / 2));
    int distinct = 0; /* repeated frequencies need one zero */
    for (int k = 0; k < count; k++)
        if (distinct == 0 || theta[k] > 1.02 * theta[distinct - 1])
            theta[distinct++] = theta[k];
    for (int steps = 4; steps <= TAUT_AWARE_STEPS; steps++) {
        double left = taut_aware_weights(3, distinct, theta, w->springs.complete, steps, w->weight[EVEN_Q]);
        bool band = !w->springs.complete || distinct > steps - 1 || distinct > TAUT_AWARE_ZEROS;
        if (left <= (band ? band_left : spread_left) && taut_aware_sum(steps, w->weight[EVEN_Q]) <= most_sum) {
            w->steps = w->aware_steps = steps;
            return true;
        }
    }
    return false;
}

static int aware_passes(kernel *w, int64_t limit, taut_error *error)
{
    taut_projection *p = w->p;
    double before = INFINITY, now = INFINITY;
    w->sums = EVEN_V + 1;
    for (int64_t k = 0; k < limit; k++) {
        if (!find_aware(w))
            return TAUT_OK;
        TAUT_TRY(sample(w, error));
        move_by(w, w->sum[EVEN_Q], w->sum[EVEN_V]);
        TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
        w->aware_passes++;
        before = now;
        now = change(w);
        w->aware_done = now < 1 || (k > 0 && now * (now / before) < (w->alone ? alone_enough : aware_enough));
        if (w->aware_done || now > 0.5 * before)
            return TAUT_OK;
        TAUT_TRY(measure(w, error));
    }
    return TAUT_OK;
}

/* ---- smooth passes */

/* The fewest steps that leave little of every oscillation, from 12 on. */
static int find_smooth(kernel *w, double *scratch)
{
    double least = 2 * asin(w->smooth_step * w->slowest / w->fastest / 2), most = 2 * asin(w->smooth_step / 2);
    double from = fmax(12, 8 / least);
    if (from > MOST_STEPS / 4)
        return 0;
    for (int steps = (int)from; steps < 3 * from; steps += 1 + steps / 32) {
        double worst = 0;
        taut_kernel_weights(&w->shape, steps, 0, scratch);
        for (int i = 0; i <= 64; i++) { /* the response falls off quickly: dense near the slowest */
            double theta = least * pow(most / least, i / 64.0);
            worst = fmax(worst, fabs(taut_kernel_response(steps, scratch, theta)));
        }
        if (worst <= smooth_left)
            return steps;
    }
    return (int)(3 * from);
}

static int prepare_smooth(kernel *w, const taut_options *options, taut_error *error)
{
    taut_projection *p = w->p;
    double *scratch =
        TAUT_NEW(&p->arena, double, 4 + (int64_t)fmin(MOST_STEPS, 100 * w->fastest / w->slowest / w->smooth_step + 100));
    if (!scratch)
        return taut_fail_memory(error);
    w->h = w->smooth_step / w->fastest;
    w->steps = taut_options_given(options, "micro-steps")
                   ? (int)fmin(MOST_STEPS, (double)taut_options_integer(options, "micro-steps"))
                   : find_smooth(w, scratch);
    if (w->steps <= w->shape.moments + 2)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         w->steps == 0
                             ? "projection kernel would need millions of steps a pass: the fastest spring is %.3g times as "
                               "fast as the slowest; use --method series"
                             : "projection kernel needs more --micro-steps than its --moments and two (the springs differ "
                               "by %.3g in frequency)",
                         w->fastest / w->slowest);
    for (int k = 0; k < SUMS; k++)
        w->weight[k] = k == EVEN_V || k == BETTER_V ? w->weight[k - 1] : TAUT_NEW(&p->arena, double, w->steps + 1);
    for (int k = 0; k < SUMS; k++)
        if (!w->weight[k])
            return taut_fail_memory(error);
    taut_kernel better = {w->shape.moments < TAUT_KERNEL_MOMENTS ? w->shape.moments + 2 : w->shape.moments - 2, w->shape.smooth};
    taut_kernel fourth = {w->shape.moments < 5 ? 5 : w->shape.moments, w->shape.smooth};
    taut_kernel_weights(&w->shape, w->steps, 0, w->weight[EVEN_Q]);
    taut_kernel_weights(&better, w->steps, 0, w->weight[BETTER_Q]);
    taut_kernel_weights(&w->shape, w->steps, 1, w->weight[RATE]);
    taut_kernel_weights(&fourth, w->steps, 4, w->weight[FOURTH]);
    return TAUT_OK;
}

/* What the latest samples say about the error of the result. */
static void estimate(kernel *w)
{
    taut_index n = w->p->sizes.coordinates;
    double truncated = 0, rate = 0, fourth = 0;
    for (taut_index i = 0; i < n; i++) {
        truncated = fmax(truncated, fabs(w->sum[BETTER_Q][i] - w->sum[EVEN_Q][i]));
        rate = fmax(rate, fabs(w->sum[BETTER_V][i] - w->sum[EVEN_V][i]));
        fourth = fmax(fourth, fabs(w->sum[FOURTH][i]));
    }
    double slow = pow(w->h, -2) / 12 * fourth / (w->slowest * w->slowest);
    w->off_verlet = slow;
    w->off_q = truncated + slow;
    w->off_v = rate + slow / (w->h * w->steps);
}

static void finish(kernel *w)
{
    taut_projection *p = w->p;
    /* where the kernel shows, the samples of the settled iteration have no oscillation left that a less damping one would pass */
    int best = w->off_q - w->off_verlet > shows * largest(p->sizes.coordinates, p->q) ? BETTER_Q : EVEN_Q;
    for (taut_index i = 0; i < p->sizes.coordinates; i++) {
        p->q[i] = w->last_q[i] + w->sum[best][i];
        p->v[i] = w->sum[RATE][i] / w->h;
    }
}

static int fail_passes(const kernel *w, double now, taut_error *error)
{
    return taut_fail(
        error, TAUT_ERROR_CONVERGE,
        "after %lld passes a pass still changes the bonds by %.3g times what it should: the start is too far from the slow "
        "manifold, or slow and fast are not separated (slowest spring %.4g rad per time, window %.3g); start nearer "
        "(--method constraint gives a foot point), or allow more --passes",
        (long long)w->p->passes, now, w->slowest, 2 * w->h * w->steps);
}

/* The next point of the iteration, accelerated when that was asked for. */
static void go_on(kernel *w)
{
    taut_projection *p = w->p;
    taut_index n = p->sizes.coordinates;
    if (!w->point) {
        move_by(w, w->sum[EVEN_Q], w->sum[EVEN_V]);
        return;
    }
    memcpy(w->last_q, p->q, (size_t)n * sizeof(double));
    memcpy(w->last_v, p->v, (size_t)n * sizeof(double));
    for (taut_index i = 0; i < n; i++) { /* velocities in the unit of positions */
        w->point[i] = p->q[i];
        w->point[n + i] = p->v[i] / w->slowest;
        w->residual[i] = w->sum[EVEN_Q][i];
        w->residual[n + i] = w->sum[EVEN_V][i] / w->slowest;
    }
    taut_anderson_next(&w->anderson, w->point, w->residual, w->point);
    memcpy(p->q, w->point, (size_t)n * sizeof(double));
    for (taut_index i = 0; i < n; i++)
        p->v[i] = w->slowest * w->point[n + i];
}

static int smooth_passes(kernel *w, int64_t limit, taut_error *error)
{
    taut_projection *p = w->p;
    double before = INFINITY, now = INFINITY;
    int alike = 0; /* passes in a row that changed as much as the one before */
    w->sums = SUMS;
    for (int64_t k = 0; p->passes < limit; k++) {
        TAUT_TRY(sample(w, error));
        go_on(w);
        TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
        estimate(w);
        before = now;
        now = change(w);
        w->first = w->first > 0 ? w->first : now;
        if (now > before && w->point)
            taut_anderson_clear(&w->anderson); /* the safeguard: plain passes again */
        /* below rounding, or going there with the next pass; or no longer shrinking: slow motion drifts under the filter */
        if (now < 10 || (k > 0 && !w->point && now * (now / before) < 10) || (now > 0.5 * before && now <= 0.01 * w->first))
            return TAUT_OK;
        /* of an oscillation a pass leaves smooth_left: changes that repeat themselves are the slow motion gliding [A 4.2], from a start
         * that had little else */
        alike = fabs(now - before) <= glides * before ? alike + 1 : 0;
        if (alike == 2)
            return TAUT_OK;
        if (!(now <= 1e3 * w->first))
            break;
    }
    return fail_passes(w, now, error);
}

/* Smooth passes, again with shorter steps where those of Verlet show. */
static int smooth_stage(kernel *w, const taut_options *options, int64_t limit, taut_error *error)
{
    taut_projection *p = w->p;
    bool counted = taut_options_given(options, "micro-steps");
    w->smooth_step = smooth_step;
    TAUT_TRY(prepare_smooth(w, options, error));
    TAUT_TRY(smooth_passes(w, limit, error));
    double target = slow_target * largest(p->sizes.coordinates, p->q);
    if (w->off_verlet > 2 * target && !counted) {
        w->smooth_step *= fmax(sqrt(target / w->off_verlet), finest_step / smooth_step);
        if (w->point)
            taut_anderson_clear(&w->anderson);
        TAUT_TRY(prepare_smooth(w, options, error));
        TAUT_TRY(smooth_passes(w, limit, error));
    }
    finish(w);
    return taut_projection_record(p, p->q, p->v, error);
}

/* ---- the projection */

static int new_arrays(kernel *w, bool accelerate, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = p->sizes.coordinates;
    bool good = true;
    for (int k = 0; k < SUMS; k++)
        good &= (w->sum[k] = TAUT_NEW(&p->arena, double, n)) != NULL;
    w->state = TAUT_NEW(&p->arena, double, 2 * n);
    w->last_q = TAUT_NEW(&p->arena, double, n);
    w->last_v = TAUT_NEW(&p->arena, double, n);
    w->floor = w->springs.floor = TAUT_NEW(&p->arena, double, p->sizes.bonds);
    w->weight[EVEN_Q] = w->weight[EVEN_V] = TAUT_NEW(&p->arena, double, TAUT_AWARE_STEPS + 1);
    if (accelerate) {
        w->point = TAUT_NEW(&p->arena, double, 2 * n);
        w->residual = TAUT_NEW(&p->arena, double, 2 * n);
        if (!w->point || !w->residual)
            return taut_fail_memory(error);
        TAUT_TRY(taut_anderson_create(&w->anderson, 2 * n, TAUT_ANDERSON_DEPTH, &p->arena, error));
    }
    return good && w->state && w->last_q && w->last_v && w->floor && w->weight[EVEN_Q] ? TAUT_OK : taut_fail_memory(error);
}

/* Has the start been as slow already, as far as can be told? What passes do along the bonds does not count. p->entries is G at the end. */
static int was_slow(const kernel *w, bool *slow, taut_error *error)
{
    const taut_projection *p = w->p;
    const taut_pass *start = &p->pass[0], *end = &p->pass[p->passes];
    taut_pattern jacobian;
    TAUT_TRY(taut_system_pattern(p->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    *slow = true;
    for (taut_index i = 0; i < p->sizes.bonds && *slow; i++) {
        double size = 0;
        for (taut_index k = jacobian.start[i]; k < jacobian.start[i + 1]; k++)
            size += fabs(p->entries[k]);
        *slow = fabs(end->g[i] - start->g[i]) <= 2 * w->off_q * size + w->floor[i] &&
                fabs(end->gdot[i] - start->gdot[i]) <= 2 * w->off_v * size + w->fastest * w->floor[i];
    }
    return TAUT_OK;
}

static void explain(const kernel *w, bool kept)
{
    taut_projection *p = w->p;
    char aware[100] = "", smooth[160] = "";
    if (w->aware_passes > 0)
        snprintf(aware, sizeof aware, "; %lld passes that know the frequencies, %d evaluations each", (long long)w->aware_passes,
                 2 * w->aware_steps + 1);
    if (w->smooth_step > 0)
        snprintf(smooth, sizeof smooth,
                 "; then passes of a %s with %d moments, %d evaluations each; error about %.1g in q, %.1g in v",
                 w->shape.smooth < 0 ? "bump" : "smooth kernel", w->shape.moments, 2 * w->steps + 1, w->off_q, w->off_v);
    snprintf(p->explanation, sizeof p->explanation, "projection kernel, frequencies %.5g to %.5g%s%s%s", w->slowest, w->fastest,
             aware, smooth, kept ? "; the start is kept, it is as slow as the result" : "");
}

/* Which of start and end is nearer to the balance of forces that slow motions have? The start is kept when it is, or when the difference is
 * within the estimated error and the end is not clearly nearer. */
static int choose(kernel *w, taut_balance *end, bool *kept, taut_error *error)
{
    taut_projection *p = w->p;
    taut_balance start = {.lambda = TAUT_NEW(&p->arena, double, p->sizes.bonds)};
    end->lambda = TAUT_NEW(&p->arena, double, p->sizes.bonds);
    if (!start.lambda || !end->lambda)
        return taut_fail_memory(error);
    double size = largest(p->sizes.coordinates, p->q);
    double seen = fmax(fmax(w->off_q, w->tolerance), fmax(1e-9, 1e-3 / (w->slowest * w->slowest)) * size);
    TAUT_TRY(was_slow(w, kept, error));
    TAUT_TRY(taut_balance_weigh(p, w->slowest, seen, w->floor, p->q0, p->v0, &p->pass[0], &start, error));
    TAUT_TRY(taut_balance_weigh(p, w->slowest, seen, w->floor, p->q, p->v, &p->pass[p->passes], end, error));
    if (start.known && end->known)
        *kept = (*kept && !(end->energy < clearly * start.energy)) || start.energy < clearly * end->energy;
    if (!*kept)
        return TAUT_OK;
    *end = start;
    memcpy(p->q, p->q0, (size_t)p->sizes.coordinates * sizeof(double));
    memcpy(p->v, p->v0, (size_t)p->sizes.coordinates * sizeof(double));
    return taut_projection_record(p, p->q, p->v, error);
}

/* lambda = C^-1 g while rounding permits, else from the acceleration equation. */
static int conclude(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    const double *compliance = taut_context_compliance(p->context);
    bool kept = false, noisy = DBL_EPSILON / 2 * w->fastest * w->fastest >= 1e-6;
    taut_balance end = {0};
    if (w->off_q > poor * largest(p->sizes.coordinates, p->q))
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the slow motion shows within the window of %.3g that the slowest spring (%.4g rad per time) needs, and the result "
            "would be wrong by about %.2g: slow and fast are not separated well enough; use --method series",
            2 * w->h * w->steps, w->slowest, w->off_q);
    TAUT_TRY(choose(w, &end, &kept, error));
    if (end.off > 0.5 * end.size)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "what the passes lead to is not a slow motion: the springs pull with %.3g beside the balance of %.3g; slow "
            "and fast are not separated at this state",
            end.off, end.size);
    for (taut_index i = 0; i < p->sizes.bonds; i++)
        p->lambda[i] = end.known && noisy ? end.lambda[i] : p->pass[p->passes].g[i] / compliance[i];
    explain(w, kept);
    return TAUT_OK;
}

static int run(kernel *w, const taut_options *options, taut_error *error)
{
    taut_projection *p = w->p;
    const char *name = taut_options_text(options, "kernel");
    int64_t limit = taut_options_integer(options, "passes");
    bool aware = strcmp(name, "auto") == 0 || strcmp(name, "aware") == 0;
    w->alone = strcmp(name, "aware") == 0;
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    if (aware)
        TAUT_TRY(aware_passes(w, limit < AWARE_PASSES ? limit : AWARE_PASSES, error));
    if (!w->alone)
        return smooth_stage(w, options, limit, error);
    bool settled = w->aware_done || (w->aware_passes > 0 && change(w) < 1e-6 / DBL_EPSILON);
    if (!settled)
        return w->aware_passes == 0 ? taut_fail(error, TAUT_ERROR_REFUSED,
                                                "there are no short weights for frequencies from %.4g to %.4g; use --kernel smooth",
                                                w->slowest, w->fastest)
                                    : fail_passes(w, change(w), error);
    return TAUT_OK;
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    bool bump = strcmp(taut_options_text(options, "kernel"), "bump") == 0;
    kernel w = {.p = p, .shape = {.moments = (int)taut_options_integer(options, "moments"), .smooth = 3}};
    if (w.shape.moments % 2 == 0)
        return taut_fail(error, TAUT_ERROR_USAGE, "--moments: kernels are even, so that %d moments are %d: give an odd number",
                         w.shape.moments, w.shape.moments + 1);
    w.shape.smooth = bump ? -1 : (w.shape.moments + 1) / 2;
    w.tolerance = taut_options_given(options, "tolerance") ? taut_options_real(options, "tolerance") : 0;
    TAUT_TRY(new_arrays(&w, taut_options_flag(options, "accelerate"), error));
    TAUT_TRY(measure(&w, error));
    TAUT_TRY(taut_flow_verlet(p->context, &p->arena, &p->statistics, INFINITY, p->t, p->q, p->v, &w.flow, error));
    explain(&w, false);
    int status = run(&w, options, error);
    w.flow->destroy(w.flow);
    return status == 0 ? conclude(&w, error) : status;
}

const taut_projection_method taut_projection_kernel = {
    .name = "kernel",
    .summary = "iterative projection with weights that know the frequencies, then a smooth kernel of order 6; needs forces only",
    .reference = "Ariel, Sanz-Serna, Tsai 2012, section 3.2, with better kernels",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS | TAUT_HAS_SPRINGS,
    .refuses = TAUT_HAS_RIGID | TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS | TAUT_HAS_STIFF_POTENTIAL |
               TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .moves_held = true,
    .project = project,
};
