/* projection_kernel_result.c - the end of projection kernel: which of initial state and result is
 * slower, whether that is slow at all, multipliers, and the explanation. */
#include "base/rows.h"
#include "filter/filter_work.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/vectors.h"
#include "step/flow_rattle.h"

typedef taut_filter_work kernel;

static const double poor = 1e-4;   /* an error, relative, that is not to be called a slow point */
static const double clearly = 0.1; /* less oscillating energy: nearer to slow */

int taut_projection_kernel_differs_little(const kernel *w, const double *then,
                                          const double *then_dt, double share, double drift,
                                          bool *little, taut_error *error)
{
    const taut_projection *p = w->p;
    const taut_filter_progress *g = &w->progress;
    taut_pattern jacobian;
    TAUT_TRY(taut_system_pattern(p->in->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    *little = true;
    for (taut_index i = 0; i < g->count && *little; i++) {
        double size = w->declared ? taut_row_size(&jacobian, p->entries, i, NULL) : 1;
        *little = fabs(g->now[i] - then[i]) <=
                      share * w->off_q * size + drift * fabs(g->now[i]) + g->floor[i] &&
                  fabs(g->now_dt[i] - then_dt[i]) <= share * w->off_v * size +
                                                         drift * fabs(g->now_dt[i]) +
                                                         w->fastest * g->floor[i];
    }
    return TAUT_OK;
}

/* Is the result where the initial state was, up to twice the estimated errors, that of Verlet's
 * velocities among them, and rounding? */
static bool moved_little(const kernel *w)
{
    const taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    double rounding = 8 * DBL_EPSILON * taut_largest(n, p->q);
    return taut_largest_difference(n, p->q, p->in->q) <= 2 * w->off_q + rounding &&
           taut_largest_difference(n, p->v, p->in->v) <=
               2 * (w->off_v + w->off_verlet_v) + w->fastest * rounding;
}

int taut_projection_kernel_was_slow(const kernel *w, bool *slow, taut_error *error)
{
    /* what passes do along the manifold is among the errors then; accelerations would count what
     * is fastest most */
    if (!w->declared) {
        *slow = moved_little(w);
        return TAUT_OK;
    }
    /* velocities along the bonds come back changed by Verlet's error, and slow stretches go with
     * their square */
    double moves = taut_largest(w->p->in->sizes.coordinates, w->p->v),
           drift = moves > 0 ? fmin(1e-3, 4 * w->off_verlet_v / moves) : 0;
    return taut_projection_kernel_differs_little(w, w->progress.first, w->progress.first_dt, 2,
                                                 drift, slow, error);
}

void taut_projection_kernel_explain(const kernel *w, bool kept)
{
    taut_projection *p = w->p;
    taut_explain(p, "projection kernel, frequencies %.5g to %.5g", w->slowest, w->fastest);
    if (!w->declared)
        taut_explain_more(p, " seen in %s%s",
                          p->in->sizes.can & TAUT_HAS_SPRINGS ||
                                  !(p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
                              ? "differences of forces"
                              : "the stiff potential",
                          w->stiffness.lowered > 0 ? ", the slowest in the micro-solution" : "");
    if (w->progress.first_rate_left > 0)
        taut_explain_more(p, ", oscillating at %.4g in the micro-solution",
                          w->progress.first_rate_left);
    if (!w->declared)
        taut_explain_more(p, " (slow ones up to %.3g)%s", w->stiffness.slow,
                          p->in->sizes.bonds > 0 ? "" : "; without bonds there are no multipliers");
    if (w->foot)
        taut_explain_more(p, "; the foot point (pass 1)");
    if (w->tuned_passes > 0)
        taut_explain_more(p, "; %lld frequency-tuned %s, %d evaluations each",
                          (long long)w->tuned_passes, w->tuned_passes == 1 ? "pass" : "passes",
                          2 * w->tuned_steps + 1);
    if (w->smooth_step > 0)
        taut_explain_more(p,
                          "; then passes of a %s with %d moments, %d evaluations each; error about "
                          "%.1g in q, %.1g in v",
                          w->shape.smooth < 0 ? "bump" : "smooth kernel", w->shape.moments,
                          2 * w->sampler.steps + 1, w->off_q, w->off_v);
    if (kept)
        taut_explain_more(p, "; the initial state is kept, it is as slow as the result");
}

/* What is stated then counts how far the result would have been: in q, and across the bonds in
 * v, because along them it has only drifted. */
static int keep_start(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    const taut_filter_progress *g = &w->progress;
    w->off_q = fmax(w->off_q, taut_largest_difference(p->in->sizes.coordinates, p->q, p->in->q));
    for (taut_index i = 0; i < g->count; i++)
        if (isfinite(g->floor[i]))
            w->off_v = fmax(w->off_v, fabs(g->now_dt[i] - g->first_dt[i]));
    taut_projection_move(p, p->in->q, p->in->v);
    return p->passes > 1 ? taut_projection_record(p, p->q, p->v, error) : TAUT_OK;
}

/* Which of initial state and result is nearer to the balance of forces that slow motions have? The
 * initial state is kept when it is, or when the difference is within the estimated error and the
 * end is not clearly nearer. */
static int choose(kernel *w, taut_force_balance *end, bool *kept, taut_error *error)
{
    taut_projection *p = w->p;
    taut_force_balance start = {0};
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->in->sizes.bonds, error, &start.lambda, &end->lambda));
    TAUT_TRY(taut_projection_kernel_was_slow(w, kept, error));
    if (w->declared) {
        double size = taut_largest(p->in->sizes.coordinates, p->q), *floor = w->progress.floor;
        double seen =
            fmax(fmax(w->off_q, w->tolerance), fmax(1e-9, 1e-3 / (w->slowest * w->slowest)) * size);
        TAUT_TRY(taut_force_balance_measure(p, w->slowest, seen, floor, p->in->q, p->in->v,
                                            &p->pass[0], &start, error));
        TAUT_TRY(taut_force_balance_measure(p, w->slowest, seen, floor, p->q, p->v,
                                            &p->pass[p->passes], end, error));
    }
    if (start.known && end->known)
        *kept = (*kept && !(end->energy < clearly * start.energy)) ||
                start.energy < clearly * end->energy;
    if (!*kept)
        return TAUT_OK;
    *end = start;
    return keep_start(w, error);
}

/* A result that is not one: the slow motion is as fast as the window is long, or what is left
 * has forces as large as before. */
static int check_slow(const kernel *w, const taut_force_balance *end, taut_error *error)
{
    const taut_projection *p = w->p;
    double size = fmax(taut_largest(p->in->sizes.coordinates, p->q),
                       taut_largest(p->in->sizes.coordinates, p->in->q));
    if (!w->settings->inside) /* along a run forces may vanish */
        TAUT_TRY(taut_force_balance_check(p, end, "spring", w->slowest, error));
    double rate =
        w->declared || size == 0
            ? 0
            : w->progress.unit * sqrt(taut_largest(w->progress.count, w->progress.now) / size);
    if (!(rate <= 0.3 * w->slowest))
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "what the passes lead to is not a slow motion: it changes at a rate of "
                         "%.3g, and fast frequencies begin at %.3g",
                         rate, w->slowest);
    return TAUT_OK;
}

/* lambda = C^-1 g while rounding permits, else from the acceleration equation. */
int taut_projection_kernel_conclude(kernel *w, taut_error *error)
{
    taut_projection *p = w->p;
    bool kept = false,
         noisy = DBL_EPSILON / 2 * w->fastest * w->fastest >= taut_filter_noise(w->settings);
    taut_force_balance end = {0};
    TAUT_TRY(taut_sampler_check(&w->sampler, w->declared, w->slowest, w->off_q, poor, error));
    TAUT_TRY(choose(w, &end, &kept, error));
    TAUT_TRY(check_slow(w, &end, error));
    taut_projection_kernel_explain(w, kept);
    noisy = noisy && end.known;
    return taut_filter_work_multipliers(w, noisy ? end.lambda : NULL, p->passes, error);
}
