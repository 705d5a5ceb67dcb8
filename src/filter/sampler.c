/* sampler.c - samples of the full motion to both sides of a state, and weights for them. */
#include "filter/sampler.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "filter/rigid_bonds.h"
#include "point/record.h"
#include "step/flow_leap.h"
#include "step/flow_rattle.h"
#include "step/flow_verlet.h"

/* h times the fastest frequency; Verlet is stable below 2 */
static const double tuned_step = 1.7;
static const double smooth_left = 0.02; /* of an oscillation, after a smooth pass */
/* sum |w| of frequency-tuned weights: beyond, passes diverge (docs/sources.md, F) */
static const double most_sum = 5;

enum { MOST_STEPS = 1 << 22 };

int taut_sampler_create(taut_projection *p, taut_sampler *s, taut_error *error)
{
    taut_index n = p->in->sizes.coordinates;
    *s = (taut_sampler){.p = p};
    for (int k = 0; k < TAUT_SUMS; k++)
        TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &s->sum[k]));
    TAUT_TRY(TAUT_RESERVE(&p->arena, 2 * n, error, &s->state));
    TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &s->slope, &s->last_q, &s->last_v));
    TAUT_TRY(TAUT_RESERVE(&p->arena, TAUT_TUNED_STEPS + 1, error, &s->tuned));
    const unsigned general =
        TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS | TAUT_HAS_KINETIC | TAUT_HAS_DAMPING;
    s->general = p->in->sizes.can & general;
    s->rigid = taut_rigid_bonds_any(p->in->context);
    if (s->rigid)
        return taut_flow_rattle(p->in->context, &p->arena, &p->statistics, &s->flow, error);
    if (s->general)
        return taut_flow_leap(p->in->context, &p->arena, &p->statistics, p->in->t, &s->flow, error);
    return taut_flow_verlet(p->in->context, &p->arena, &p->statistics, INFINITY, p->in->t, p->q,
                            p->v, &s->flow, error);
}

void taut_sampler_destroy(taut_sampler *s)
{
    if (s->flow)
        s->flow->destroy(s->flow);
    s->flow = NULL;
}

/* ---- one pass */

/* Central differences of order 8; of a lower one where there are fewer steps. */
static double slope_weight(int steps, int j)
{
    static const double weight[4][4] = {{1.0 / 2},
                                        {2.0 / 3, -1.0 / 12},
                                        {3.0 / 4, -3.0 / 20, 1.0 / 60},
                                        {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}};
    return j <= 4 && j <= steps ? weight[(steps < 4 ? steps : 4) - 1][j - 1] : 0;
}

static int sample_side(taut_sampler *s, int side, taut_error *error)
{
    taut_projection *p = s->p;
    taut_index n = p->in->sizes.coordinates;
    taut_copy(n, p->q, s->state);
    taut_copy(n, p->v, s->state + n);
    for (int j = 1; j <= s->steps; j++) {
        TAUT_TRY(s->flow->advance(s->flow, p->in->t + side * (j - 1) * s->h, side * s->h, s->state,
                                  error));
        TAUT_TRY(taut_record_sample(p, side * j, s->state, error));
        for (int k = 0; k < s->sums; k++) {
            bool velocity = k == TAUT_EVEN_V || k == TAUT_BETTER_V;
            const double *from = velocity ? p->v : p->q, *now = velocity ? s->state + n : s->state;
            double weight = (k == TAUT_RATE ? side : 1) * s->weight[k][j], *sum = s->sum[k];
            /* as differences from the centre: a constant passes unchanged, and rounding stays
             * small */
            for (taut_index i = 0; i < n; i++)
                sum[i] += weight * (now[i] - from[i]);
        }
        double weight = side * slope_weight(s->steps, j) / s->h;
        for (taut_index i = 0; i < n && weight != 0; i++)
            s->slope[i] += weight * (s->state[i] - p->q[i]);
    }
    return TAUT_OK;
}

/* Micro-steps that lose the rigid bonds: springs become faster than they were at the centre, or it
 * is not slow. */
static int fail_rigid(const taut_sampler *s, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "micro-steps of %.3g do not follow the rigid bonds: slow and fast are not "
                     "separated at this state; it moves at a rate of %.3g, the fastest spring "
                     "oscillates at %.4g rad per time; use projection series",
                     s->h, taut_stiffness_pace(s->p), s->fastest);
}

int taut_sampler_run(taut_sampler *s, taut_error *error)
{
    taut_error reason = {0};
    for (int k = 0; k < s->sums; k++)
        taut_clear(s->p->in->sizes.coordinates, s->sum[k]);
    taut_clear(s->p->in->sizes.coordinates, s->slope);
    TAUT_TRY(taut_record_begin(s->p, s->steps, s->h, s->weight[TAUT_EVEN_Q], error));
    int status = sample_side(s, 1, &reason);
    if (status == 0)
        status = sample_side(s, -1, &reason);
    if (status == TAUT_ERROR_CONVERGE && s->rigid && !s->general)
        return fail_rigid(s, error);
    if (status != 0 && error)
        *error = reason;
    return status;
}

void taut_sampler_move(taut_sampler *s)
{
    taut_projection *p = s->p;
    taut_index n = p->in->sizes.coordinates;
    taut_copy(n, p->q, s->last_q);
    taut_copy(n, p->v, s->last_v);
    for (taut_index i = 0; i < n; i++) {
        p->q[i] += s->sum[TAUT_EVEN_Q][i];
        p->v[i] += s->sum[TAUT_EVEN_V][i];
    }
}

taut_sampled_errors taut_sampler_errors(const taut_sampler *s, double slowest)
{
    taut_index n = s->p->in->sizes.coordinates;
    taut_sampled_errors e = {0};
    if (s->sums < TAUT_SUMS)
        return (taut_sampled_errors){NAN, NAN, NAN, NAN};
    e.filter_q = taut_largest_difference(n, s->sum[TAUT_BETTER_Q], s->sum[TAUT_EVEN_Q]);
    e.filter_v = taut_largest_difference(n, s->sum[TAUT_BETTER_V], s->sum[TAUT_EVEN_V]);
    for (taut_index i = 0; i < n; i++) {
        double velocity = s->last_v[i] + s->sum[TAUT_EVEN_V][i];
        e.verlet_v = taut_larger(e.verlet_v, fabs(s->sum[TAUT_RATE][i] / s->h - velocity));
    }
    e.verlet_q = pow(s->h, -2) / 12 * taut_largest(n, s->sum[TAUT_FOURTH]) / (slowest * slowest);
    return e;
}

int taut_sampler_check(const taut_sampler *s, bool declared, double slowest, double off,
                       double poor, taut_error *error)
{
    const taut_projection *p = s->p;
    taut_index n = p->in->sizes.coordinates;
    /* NaN: not known */
    if (isnan(off) || off <= poor * fmax(taut_largest(n, p->q), taut_largest(n, p->in->q)))
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the slow motion (rate %.3g at the initial state) is visible within the "
                     "window of %.3g that the slowest %s (%.4g rad per time) needs, and the result "
                     "would be wrong by about %.2g: slow and fast are not separated well enough%s",
                     taut_stiffness_pace(p), 2 * s->h * s->steps,
                     declared ? "spring" : "of the fast", slowest, off,
                     declared ? "; use projection series" : "");
}

int taut_sampler_velocity_error(taut_sampler *s, double slowest, double *off, taut_error *error)
{
    const taut_projection *p = s->p;
    double most = 0;
    *off = 0;
    if (!s->general || s->sums < TAUT_SUMS)
        return TAUT_OK;
    for (taut_index i = 0; i < p->in->sizes.coordinates;
         i++) /* h^2/6 of the third derivative is seen */
        s->state[i] = 1.5 * (s->last_v[i] + s->sum[TAUT_EVEN_V][i] - s->sum[TAUT_RATE][i] / s->h);
    TAUT_TRY((s->rigid ? taut_flow_rattle_feels : taut_flow_leap_feels)(
        s->flow, p->in->t, s->h, p->q, p->v, s->state, &most, error));
    *off = most / (slowest * slowest);
    return TAUT_OK;
}

/* ---- weights */

/* theta[] of the frequencies as Verlet samples them, 2 sin(theta/2) = h omega; repeated ones
 * need one zero. */
static int angles(double h, const taut_stiffness *stiffness, double *theta)
{
    int distinct = 0;
    for (int k = 0; k < stiffness->found; k++) {
        double here = 2 * asin(fmin(1, h * stiffness->frequency[k] / 2));
        if (distinct == 0 || here > 1.02 * theta[distinct - 1])
            theta[distinct++] = here;
    }
    return distinct;
}

bool taut_sampler_tuned(taut_sampler *s, const taut_stiffness *stiffness)
{
    /* of an oscillation whose frequency is off, of one in a band */
    const double spread_left = 2, band_left = 0.1;
    double theta[2 * TAUT_STIFFNESS_ENDS];
    s->fastest = stiffness->frequency[stiffness->found - 1];
    s->h = tuned_step / s->fastest;
    s->sums = TAUT_EVEN_V + 1;
    s->weight[TAUT_EVEN_Q] = s->weight[TAUT_EVEN_V] = s->tuned;
    int distinct = angles(s->h, stiffness, theta);
    for (int steps = 4; steps <= TAUT_TUNED_STEPS; steps++) {
        double left = taut_tuned_weights(3, distinct, theta, stiffness->complete, steps, s->tuned);
        bool band = !stiffness->complete || distinct > steps - 1 || distinct > TAUT_TUNED_ZEROS;
        if (left <= (band ? band_left : spread_left) &&
            taut_tuned_sum(steps, s->tuned) <= most_sum) {
            s->steps = steps;
            return true;
        }
    }
    return false;
}

/* The fewest steps that leave little of every oscillation, from 12 on. What long windows leave
 * depends on steps times theta alone: it is looked up with shorter ones. */
static int find_smooth(const taut_filter_kernel *shape, double ratio, double step, double *scratch)
{
    enum { ENOUGH = 400 };
    double least = 2 * asin(step * ratio / 2), most = 2 * asin(step / 2),
           from = fmax(12, 8 / least);
    double scale = fmax(1, from / ENOUGH);
    least *= scale;
    from /= scale;
    for (int steps = (int)from; steps < 3 * from; steps += 1 + steps / 32) {
        double worst = 0;
        taut_filter_kernel_weights(shape, steps, 0, scratch);
        for (int i = 0; i <= 64; i++) { /* the response falls off quickly: dense near the slowest */
            double theta = least * pow(most / least, i / 64.0);
            worst = fmax(worst, fabs(taut_filter_kernel_response(steps, scratch, theta)));
        }
        if (worst <= smooth_left)
            return (int)(steps * scale);
    }
    return (int)(3 * from * scale);
}

/* Of another order, to compare with. */
static taut_filter_kernel next_shape(const taut_filter_kernel *shape)
{
    return (taut_filter_kernel){shape->moments < TAUT_FILTER_KERNEL_MOMENTS ? shape->moments + 2
                                                                            : shape->moments - 2,
                                shape->smooth};
}

/* Place for weights of up to `steps` steps. */
static int reserve(taut_sampler *s, int64_t steps, taut_error *error)
{
    if (steps <= s->room)
        return TAUT_OK;
    for (int k = 0; k < TAUT_SUMS; k++) {
        bool same = k == TAUT_EVEN_V || k == TAUT_BETTER_V;
        s->smooth[k] = same ? s->smooth[k - 1] : TAUT_NEW(&s->p->arena, double, steps + 1);
        TAUT_NEED(error, s->smooth[k]);
    }
    s->room = (int)steps;
    return TAUT_OK;
}

static void form_smooth(taut_sampler *s, const taut_filter_kernel *shape,
                        const taut_filter_kernel *better)
{
    taut_filter_kernel_weights(shape, s->steps, 0, s->weight[TAUT_EVEN_Q]);
    taut_filter_kernel_weights(better, s->steps, 0, s->weight[TAUT_BETTER_Q]);
    taut_filter_kernel_weights(shape, s->steps, 1, s->weight[TAUT_RATE]);
}

/* Zeros at the frequencies, where these are all: then one pass does what otherwise takes two.
 * Not at the price of large weights. */
static void place_zeros(taut_sampler *s, const taut_filter_kernel *shape,
                        const taut_filter_kernel *better, const taut_stiffness *stiffness)
{
    double theta[2 * TAUT_STIFFNESS_ENDS];
    int count = angles(s->h, stiffness, theta);
    s->zeros =
        stiffness->complete &&
        taut_filter_kernel_zeros(shape, false, s->steps, count, theta, s->weight[TAUT_EVEN_Q]) &&
        taut_filter_kernel_zeros(better, false, s->steps, count, theta, s->weight[TAUT_BETTER_Q]) &&
        taut_filter_kernel_zeros(shape, true, s->steps, count, theta, s->weight[TAUT_RATE]) &&
        taut_tuned_sum(s->steps, s->weight[TAUT_EVEN_Q]) <= most_sum &&
        taut_tuned_sum(s->steps, s->weight[TAUT_BETTER_Q]) <= most_sum;
    if (!s->zeros)
        form_smooth(s, shape, better);
}

int taut_sampler_smooth(taut_sampler *s, const taut_filter_kernel *shape,
                        const taut_stiffness *stiffness, double step, int64_t steps,
                        taut_error *error)
{
    double slowest = stiffness->frequency[0], fastest = stiffness->frequency[stiffness->found - 1],
           ratio = slowest / fastest;
    double expected = steps > 0 ? (double)steps : 3 * fmax(12, 8 / (step * ratio)) + 4;
    if (!(expected <= MOST_STEPS))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "projection kernel would need millions of steps in a pass: the fastest "
                         "spring is %.3g times as fast as the slowest; use projection series",
                         fastest / slowest);
    TAUT_TRY(reserve(s, (int64_t)expected, error));
    s->fastest = fastest;
    s->h = step / fastest;
    s->sums = TAUT_SUMS;
    memcpy(s->weight, s->smooth, sizeof s->weight);
    s->steps = steps > 0 ? (int)steps : find_smooth(shape, ratio, step, s->smooth[TAUT_EVEN_Q]);
    if (s->steps <= shape->moments + 2)
        return taut_fail_option(
            error, TAUT_ERROR_REFUSED, "micro-steps",
            "projection kernel needs more micro-steps than its moments and two, %d",
            shape->moments + 2);
    taut_filter_kernel better = next_shape(shape);
    taut_filter_kernel fourth = {shape->moments < 5 ? 5 : shape->moments, shape->smooth};
    form_smooth(s, shape, &better);
    taut_filter_kernel_weights(&fourth, s->steps, 4, s->weight[TAUT_FOURTH]);
    place_zeros(s, shape, &better, stiffness);
    return TAUT_OK;
}

int taut_sampler_shape(taut_projection *p, const taut_projection_settings *settings,
                       taut_filter_kernel *shape, taut_error *error)
{
    int moments = settings->moments;
    if (moments % 2 == 0)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "moments",
                                "kernels are even, so that %d moments are %d: give an odd number",
                                moments, moments + 1);
    if (settings->kernel == TAUT_KERNEL_BUMP)
        p->idle |= TAUT_SETTING_SMOOTHNESS;
    *shape = (taut_filter_kernel){moments, settings->kernel == TAUT_KERNEL_BUMP ? -1
                                           : settings->smoothness >= 0 ? settings->smoothness
                                                                       : (moments + 1) / 2};
    return TAUT_OK;
}

int taut_sampler_filter(taut_sampler *s, const taut_filter *filter, const taut_filter_kernel *shape,
                        int steps, double h, double fastest, taut_error *error)
{
    taut_filter_kernel better = filter ? (taut_filter_kernel){5, 3} : next_shape(shape),
                       fourth = better;
    fourth.moments = better.moments < 5 ? 5 : better.moments;
    TAUT_TRY(reserve(s, steps, error));
    s->h = h;
    s->fastest = fastest;
    s->steps = steps;
    s->sums = steps > fourth.moments + 2 ? TAUT_SUMS : TAUT_EVEN_V + 1;
    memcpy(s->weight, s->smooth, sizeof s->weight);
    if (filter)
        taut_filter_weights(filter, steps, s->weight[TAUT_EVEN_Q]);
    else
        taut_filter_kernel_weights(shape, steps, 0, s->weight[TAUT_EVEN_Q]);
    if (s->sums < TAUT_SUMS)
        return TAUT_OK;
    taut_filter_kernel_weights(&better, steps, 0, s->weight[TAUT_BETTER_Q]);
    taut_filter_kernel_weights(&better, steps, 1, s->weight[TAUT_RATE]);
    taut_filter_kernel_weights(&fourth, steps, 4, s->weight[TAUT_FOURTH]);
    return TAUT_OK;
}
