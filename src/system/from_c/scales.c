/* scales.c - steps for differences from the functions themselves, so that they need not be
 * written in units near 1.
 *
 * Central differences D(h) of F along one direction are formed for h falling by 4. D(h) - D(h/4)
 * = (15/96) h^2 F''' + O(noise/h): where the first part dominates it gives the length over which F
 * curves, where the second dominates the noise; the best steps follow from both [Gill, Murray,
 * Wright 1981, section 8.6]. */
#include "base/random.h"
#include "base/vectors.h"
#include "system/from_c/callbacks.h"

#include <float.h>
#include <math.h>

enum { RUNGS = 21 }; /* from 1/4 to 2e-13 of the size of the state */

typedef struct ladder {
    const taut_callback_system *s;
    bool force, time; /* f or g; along t or along q */
    taut_index rows;
    double *q, *way, *zero, *high, *low; /* displaced point, direction, [n]; values, [max(n, m)] */
    double *now, *last;                  /* D(h), D(4h) */
    int stop;                            /* what a callback returned that asked to stop */
} ladder;

taut_difference_scale taut_plain_scale(const double *x, taut_index n)
{
    double most = taut_largest(n, x), length = most > 0 && most < 1 ? most : 1;
    return (taut_difference_scale){length, DBL_EPSILON / 2 * length};
}

/* F at a displacement; false when it cannot be evaluated there. */
static bool value_at(ladder *l, double h, double *y)
{
    const taut_callbacks *call = &l->s->call;
    double t = l->time ? 0.3 + h : 0; /* not 0, where a periodic drive may stand still */
    for (taut_index i = 0; i < call->coordinates; i++)
        l->q[i] = call->start_q[i] + (l->time ? 0 : h * l->way[i]);
    if (l->stop)
        return false;
    int status = l->force ? call->force(call->user, t, l->q, l->zero, y)
                          : call->bond(call->user, t, l->q, y);
    l->stop = status < 0 ? status : 0;
    for (taut_index i = 0; i < l->rows && status == 0; i++)
        status = !isfinite(y[i]);
    return status == 0;
}

static bool slope(ladder *l, double h, double *d)
{
    if (!value_at(l, h, l->high) || !value_at(l, -h, l->low))
        return false;
    for (taut_index i = 0; i < l->rows; i++)
        d[i] = (l->high[i] - l->low[i]) / (2 * h);
    return true;
}

/* max |D(4h) - D(h)| relative to the slopes, of which those below a tenth of the largest count
 * as that; -1 when all are 0. */
static double change(const ladder *l)
{
    double most = fmax(taut_largest(l->rows, l->now), taut_largest(l->rows, l->last)), apart = 0;
    for (taut_index i = 0; i < l->rows && most > 0; i++) {
        double own = fmax(fabs(l->now[i]), fabs(l->last[i]));
        apart = fmax(apart, fabs(l->now[i] - l->last[i]) / fmax(own, 0.1 * most));
    }
    return most > 0 ? apart : -1;
}

/* From the changes between rungs: e[k] belongs to h[k] and h[k] / 4. */
static void conclude(const double *e, const double *h, int count, double size,
                     taut_difference_scale *scale)
{
    int best = -1, above;
    for (int k = 0; k < count; k++)
        if (e[k] >= 0 && (best < 0 || e[k] < e[best]))
            best = k;
    if (best < 0 || e[best] > 0.01) /* no slope, or one that never settles */
        return;
    for (above = best;
         above > 0 && e[above] < 100 * e[best] && e[above - 1] > e[above] && e[above - 1] < 0.1;)
        above--;
    double noise = DBL_EPSILON / 2 * size;
    for (int k = best + 1; k < count && k <= best + 3; k++)
        noise = fmax(noise, e[k] * h[k] / 4);
    /* below the noise nothing is seen of the curvature: then it is at least this far away */
    double length = h[above] * sqrt(15.0 / 96 / e[above]);
    scale->length = fmin(length, fmax(size, 1));
    scale->noise = noise;
}

static void climb(ladder *l, double size, taut_difference_scale *scale)
{
    double e[RUNGS], h[RUNGS], step = fmax(size, 1) / 4;
    int count = 0;
    bool before = false;
    for (int k = 0; k < RUNGS; k++, step /= 4) {
        double *swap = l->last;
        l->last = l->now;
        l->now = swap;
        bool good = slope(l, step, l->now);
        if (good && before) {
            double seen = change(l);
            h[count] = 4 * step;
            /* slopes may agree by chance, but they are not known better than the state */
            e[count++] = seen < 0 ? seen : fmax(seen, DBL_EPSILON / 2 * size / step);
        }
        before = good;
    }
    conclude(e, h, count, size, scale);
}

/* Of size 1/2 to 1: no coordinate stands still. */
static double scattered(uint64_t *state)
{
    taut_random(state);
    return (*state >> 33 & 1 ? 1 : -1) * (0.5 + (double)(*state >> 34) / 2147483648.0);
}

int taut_callbacks_measure(taut_callback_system *s, const taut_allocator *allocator,
                           taut_error *error)
{
    taut_index n = s->call.coordinates, m = s->call.bonds, longest = n > m ? n : m;
    taut_arena scratch;
    taut_arena_init(&scratch, allocator);
    ladder l = {.s = s};
    int status = TAUT_RESERVE(&scratch, longest, error, &l.q, &l.way, &l.zero, &l.high, &l.low,
                              &l.now, &l.last);
    if (status == 0) {
        uint64_t seed = 1;
        double size = taut_largest(n, s->call.start_q);
        for (taut_index i = 0; i < n; i++)
            l.way[i] = scattered(&seed);
        if (size == 0)
            size = 1;
        s->force = s->bond = taut_plain_scale(s->call.start_q, n);
        s->clock = (taut_difference_scale){1, DBL_EPSILON / 2};
        l.force = true;
        l.rows = n;
        climb(&l, size, &s->force);
        if (m && !l.stop) {
            l.force = false;
            l.rows = m;
            climb(&l, size, &s->bond);
            l.time = true;
            if (s->call.time_dependent)
                climb(&l, 1, &s->clock);
        }
    }
    taut_arena_clear(&scratch);
    if (l.stop)
        return taut_fail(error, TAUT_ERROR_STOPPED,
                         "taut_system_from_callbacks: the callback '%s' asked to stop near the "
                         "start (it returned %d)",
                         l.force ? "force" : "bond", l.stop);
    return status;
}
