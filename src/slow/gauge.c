/* gauge.c - how much of a state is fast: what passes of a filter change, and when they have nothing more to do.
 *
 * With springs it is g and gdot [A (14)]. Forces without bonds have accelerations a = M^-1 F instead: a/Omega^2 is to a slow state what
 * C lambda = g is, O(Omega^-2), and is of the size of the displacement in a ringing one; its rate is the difference over q +- v/Omega. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "slow/rates.h"
#include "step/vectors.h"

int taut_gauge_create(taut_projection *p, taut_rates *rates, taut_gauge *g, taut_error *error)
{
    *g = (taut_gauge){.p = p, .rates = rates, .count = rates ? p->sizes.coordinates : p->sizes.bonds};
    double **arrays[] = {&g->first, &g->before, &g->now, &g->first_dt, &g->before_dt, &g->now_dt, &g->floor};
    bool good = (g->here = TAUT_NEW(&p->arena, double, p->sizes.coordinates)) != NULL;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        good &= (*arrays[k] = TAUT_NEW(&p->arena, double, g->count)) != NULL;
    return good ? TAUT_OK : taut_fail_memory(error);
}

static int accelerate_beside(taut_gauge *g, double dt, double *a, taut_error *error)
{
    const taut_projection *p = g->p;
    for (taut_index i = 0; i < g->count; i++)
        g->here[i] = p->q[i] + dt * p->v[i];
    return taut_rates_accelerate(g->rates, p->t + dt, g->here, p->v, a, error);
}

static int measure_forces(taut_gauge *g, taut_error *error)
{
    const taut_projection *p = g->p;
    double square = g->unit * g->unit, dt = 1 / g->unit;
    TAUT_TRY(accelerate_beside(g, -dt, g->now, error));
    TAUT_TRY(accelerate_beside(g, dt, g->now_dt, error));
    for (taut_index i = 0; i < g->count; i++)
        g->now_dt[i] = (g->now_dt[i] - g->now[i]) / (2 * dt * square);
    TAUT_TRY(taut_rates_accelerate(g->rates, p->t, p->q, p->v, g->now, error));
    for (taut_index i = 0; i < g->count; i++)
        g->now[i] /= square;
    return TAUT_OK;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

int taut_gauge_take(taut_gauge *g, taut_error *error)
{
    taut_projection *p = g->p;
    bool start = !p->pass;
    size_t bytes = (size_t)g->count * sizeof(double);
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    swap(&g->before, &g->now);
    swap(&g->before_dt, &g->now_dt);
    if (g->rates) {
        TAUT_TRY(measure_forces(g, error));
    } else {
        memcpy(g->now, p->pass[p->passes].g, bytes);
        memcpy(g->now_dt, p->pass[p->passes].gdot, bytes);
    }
    if (!start)
        return TAUT_OK;
    memcpy(g->first, g->now, bytes);
    memcpy(g->first_dt, g->now_dt, bytes);
    return TAUT_OK;
}

double taut_gauge_change(const taut_gauge *g, double tolerance, double tolerance_dt, double omega)
{
    double most = 0;
    for (taut_index i = 0; i < g->count; i++) {
        double change = fabs(g->now[i] - g->before[i]) / fmax(tolerance, g->floor[i]);
        double rate = fabs(g->now_dt[i] - g->before_dt[i]) / fmax(tolerance_dt, omega * g->floor[i]);
        most = fmax(most, isnan(change + rate) ? INFINITY : fmax(change, rate));
    }
    return most;
}
