/* progress.c - how much of a state is fast: what passes of a filter change, and when they have
 * nothing more to do.
 *
 * With springs it is g and gdot [A (14)]. Forces without bonds have accelerations a = M^-1 F
 * instead: a/Omega^2 corresponds to C lambda = g in a slow state, O(Omega^-2), and is of the size
 * of the displacement in an oscillating one; its rate is the difference over q +- v dt. Omega is
 * the slowest of the fast frequencies, so that none is overlooked, and every coordinate has its
 * own rounding.
 *
 * What a pass has changed is the part of the micro-solution that its weights took for fast. With
 * dq, dv the change of the state and da, da' that of the accelerations, the mean square of its
 * frequencies, each with the energy that it had, is seen at no cost:
 *
 *     rate^2 = -(dq^T M da Omega^2 + dv^T M da')/(dq^T M dq Omega^2 + dv^T M dv). */
#include <float.h>
#include <math.h>

#include "filter/progress.h"
#include "base/vectors.h"

int taut_filter_progress_create(taut_projection *p, taut_force_spectrum *spectrum,
                                taut_filter_progress *g, taut_error *error)
{
    *g = (taut_filter_progress){.p = p,
                                .spectrum = spectrum,
                                .count = spectrum ? p->in->sizes.coordinates : p->in->sizes.bonds};
    TAUT_TRY(TAUT_RESERVE(&p->arena, p->in->sizes.coordinates, error, &g->displaced));
    if (spectrum)
        TAUT_TRY(TAUT_RESERVE(&p->arena, g->count, error, &g->last_q, &g->last_v, &g->displaced_v,
                              &g->behind));
    return TAUT_RESERVE(&p->arena, g->count, error, &g->first, &g->before, &g->now, &g->first_dt,
                        &g->before_dt, &g->now_dt, &g->floor);
}

/* Rounding of a_i is u |q| times the stiffness that coordinate i meets: seen in two
 * displacements. */
static int measure_noise(taut_filter_progress *g, taut_error *error)
{
    const taut_projection *p = g->p;
    double size = taut_largest(g->count, p->q), shift = sqrt(DBL_EPSILON) * (size > 0 ? size : 1);
    TAUT_TRY(taut_force_spectrum_accelerate(g->spectrum, p->in->t, p->q, p->v, g->now, error));
    for (int k = 0; k < 2; k++) {
        for (taut_index i = 0; i < g->count;
             i++) /* signs in no order: neighbours must not move together only */
            g->displaced[i] =
                p->q[i] +
                ((uint32_t)(i + 1) * (k ? 2654435761u : 2246822519u) >> 31 ? -shift : shift);
        TAUT_TRY(taut_force_spectrum_accelerate(g->spectrum, p->in->t, g->displaced, p->v,
                                                g->now_dt, error));
        for (taut_index i = 0; i < g->count; i++)
            g->floor[i] = fmax(g->floor[i], fabs(g->now_dt[i] - g->now[i]) / shift);
    }
    return TAUT_OK;
}

int taut_filter_progress_scale(taut_filter_progress *g, double slowest, double fastest,
                               taut_error *error)
{
    const taut_projection *p = g->p;
    taut_index n = p->in->sizes.coordinates;
    /* at q = 0 rounding is that of the motion */
    double size =
        fmax(taut_largest(n, p->q) + taut_largest(n, p->v) / slowest, DBL_MIN / DBL_EPSILON);
    g->unit = slowest;
    g->dt = 1 / fastest;
    for (taut_index i = 0; i < g->count && !g->spectrum; i++)
        g->floor[i] = fmax(g->floor[i], DBL_EPSILON * size);
    if (!g->spectrum)
        return TAUT_OK;
    TAUT_TRY(measure_noise(g, error));
    TAUT_TRY(taut_force_spectrum_noise(g->spectrum, g->displaced, error));
    for (taut_index i = 0; i < g->count; i++) {
        double square = slowest * slowest,
               rounding = 8 * DBL_EPSILON * size * fmax(1, g->floor[i] / square);
        g->floor[i] = fmax(rounding, g->displaced[i] / square);
    }
    return TAUT_OK;
}

/* Accelerations a time dt later on the motion; those of now are in g->now. */
static int accelerate_displaced(taut_filter_progress *g, double dt, double *a, taut_error *error)
{
    const taut_projection *p = g->p;
    bool turns = p->in->sizes.can & TAUT_HAS_VELOCITY_FORCES;
    for (taut_index i = 0; i < g->count; i++) {
        g->displaced[i] = p->q[i] + dt * p->v[i];
        if (turns)
            g->displaced_v[i] = p->v[i] + dt * g->now[i];
    }
    return taut_force_spectrum_accelerate(g->spectrum, p->in->t + dt, g->displaced,
                                          turns ? g->displaced_v : p->v, a, error);
}

static int measure_forces(taut_filter_progress *g, taut_error *error)
{
    const taut_projection *p = g->p;
    double square = g->unit * g->unit, dt = g->dt;
    TAUT_TRY(taut_force_spectrum_accelerate(g->spectrum, p->in->t, p->q, p->v, g->now, error));
    TAUT_TRY(accelerate_displaced(g, -dt, g->behind, error));
    TAUT_TRY(accelerate_displaced(g, dt, g->now_dt, error));
    for (taut_index i = 0; i < g->count; i++) {
        g->now_dt[i] = (g->now_dt[i] - g->behind[i]) / (2 * dt * square);
        g->now[i] /= square;
    }
    return TAUT_OK;
}

/* The rate of what has changed since the state before, whose accelerations are in before[] and
 * before_dt[]; 0 where rounding hides it. */
static double find_rate_left(const taut_filter_progress *g)
{
    const taut_projection *p = g->p;
    const taut_mechanics *m = &g->spectrum->mechanics;
    double square = g->unit * g->unit, pull = 0, size = 0, noise = 0;
    for (taut_index i = 0; i < g->count; i++) {
        double mass = g->spectrum->mass ? 1 : fabs(m->mass[i]), dq = p->q[i] - g->last_q[i],
               dv = p->v[i] - g->last_v[i];
        pull -= mass *
                (square * dq * (g->now[i] - g->before[i]) + dv * (g->now_dt[i] - g->before_dt[i]));
        size += mass * (square * dq * dq + dv * dv);
        noise += mass * mass * g->floor[i] * g->floor[i] *
                 (square * square * dq * dq + dv * dv / (g->dt * g->dt));
    }
    return pull > 4 * sqrt(noise) ? sqrt(square * pull / size) : 0;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

int taut_filter_progress_take(taut_filter_progress *g, taut_error *error)
{
    taut_projection *p = g->p;
    bool start = !p->pass;
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    swap(&g->before, &g->now);
    swap(&g->before_dt, &g->now_dt);
    if (g->spectrum) {
        TAUT_TRY(measure_forces(g, error));
        g->rate_left = start ? 0 : find_rate_left(g);
        g->first_rate_left = g->first_rate_left > 0 ? g->first_rate_left : g->rate_left;
        taut_copy(g->count, p->q, g->last_q);
        taut_copy(g->count, p->v, g->last_v);
    } else {
        taut_copy(g->count, p->pass[p->passes].g, g->now);
        taut_copy(g->count, p->pass[p->passes].gdot, g->now_dt);
    }
    if (!start)
        return TAUT_OK;
    taut_copy(g->count, g->now, g->first);
    taut_copy(g->count, g->now_dt, g->first_dt);
    return TAUT_OK;
}

void taut_filter_progress_rewind(taut_filter_progress *g)
{
    taut_copy(g->count, g->first, g->now);
    taut_copy(g->count, g->first_dt, g->now_dt);
    g->rate_left = g->first_rate_left = 0;
    for (taut_index i = 0; i < g->count && g->spectrum; i++) {
        g->last_q[i] = g->p->q[i];
        g->last_v[i] = g->p->v[i];
    }
}

double taut_filter_progress_change(const taut_filter_progress *g, double tolerance,
                                   double tolerance_dt, double omega)
{
    double most = 0;
    if (g->spectrum) /* rates are differences over dt: rounding over it is their own */
        omega = fmax(omega, 1 / g->dt);
    for (taut_index i = 0; i < g->count; i++) {
        double change = fabs(g->now[i] - g->before[i]) / fmax(tolerance, g->floor[i]);
        double rate =
            fabs(g->now_dt[i] - g->before_dt[i]) / fmax(tolerance_dt, omega * g->floor[i]);
        most = fmax(most, isnan(change + rate) ? INFINITY : fmax(change, rate));
    }
    return most;
}
