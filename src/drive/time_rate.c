/* time_rate.c - how fast the equations change with time alone, at fixed (q, v).
 *
 * For each component F of f and g,  max(max |F'|/R, max |F''|/max |F'|)  over sample times, R half
 * of the range of F there: w for A cos(w t), whatever A and whatever constant is added; 1/e for
 * tanh(t/e); 2/T for a ramp over the time T. The largest over the components counts. Those that
 * vary by less than 1e-4 of their size do not: derivatives are differences over 1e-5 T. */
#include "drive/slow_rate.h"

#include <math.h>

#include "base/inside.h"
#include "base/vectors.h"

enum { SAMPLES = 32, FEW = 4, LARGE = 400 }; /* sample times; of more than LARGE coordinates */
static const double SHORT = 1e-5, VARIES = 1e-4;

typedef struct work {
    taut_context *context;
    const double *q, *v;
    taut_index n, m, rows;                 /* rows = n + m */
    double *at[3];                         /* [rows]: F at t - h, t, t + h */
    double *least, *most, *first, *second; /* [rows]: of F, |F'|, |F''| over the sample times */
} work;

static int evaluate(work *w, double t, double *out, taut_error *error)
{
    taut_values values = {.force = out, .bond = out + w->n};
    return taut_evaluate_inside(w->context, t, w->q, w->v,
                                TAUT_WANT_FORCE | (w->m ? TAUT_WANT_BOND : 0), &values, error);
}

static int sample(work *w, double t, double h, taut_error *error)
{
    for (int k = 0; k < 3; k++)
        TAUT_TRY(evaluate(w, t + (k - 1) * h, w->at[k], error));
    for (taut_index i = 0; i < w->rows; i++) {
        double a = w->at[0][i], b = w->at[1][i], c = w->at[2][i];
        w->least[i] = fmin(w->least[i], b);
        w->most[i] = fmax(w->most[i], b);
        w->first[i] = fmax(w->first[i], fabs((c - a) / (2 * h)));
        w->second[i] = fmax(w->second[i], fabs(((c - b) - (b - a)) / (h * h)));
    }
    return TAUT_OK;
}

static double largest(const work *w)
{
    double rate = 0;
    for (taut_index i = 0; i < w->rows; i++) {
        double range = (w->most[i] - w->least[i]) / 2,
               size = fmax(fabs(w->most[i]), fabs(w->least[i]));
        if (range > VARIES * size && w->first[i] > 0)
            rate = fmax(rate, fmax(w->first[i] / range, w->second[i] / w->first[i]));
    }
    return rate;
}

int taut_time_rate(taut_context *context, double from, double until, const double *q,
                   const double *v, double *rate, taut_error *error)
{
    const taut_sizes *z = &taut_context_system(context)->sizes;
    work w = {.context = context, .q = q, .v = v, .n = z->coordinates, .m = z->bonds};
    const double golden = 0.6180339887498949; /* spreads times that no period agrees with */
    double length = until - from;
    taut_arena arena;
    *rate = 0;
    if (!(z->can & (TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS)) || !isfinite(length) || length == 0)
        return TAUT_OK;
    w.rows = w.n + w.m;
    taut_arena_init(&arena, &context->arena.allocator);
    int status = TAUT_RESERVE(&arena, w.rows, error, &w.at[0], &w.at[1], &w.at[2], &w.least,
                              &w.most, &w.first, &w.second);
    for (taut_index i = 0; i < w.rows && status == 0; i++) {
        w.least[i] = INFINITY;
        w.most[i] = -INFINITY;
    }
    int count = w.n > LARGE ? FEW : SAMPLES;
    for (int k = 0; k < count && status == 0; k++) {
        double part = k == 0 ? SHORT : fmod(k * golden, 1 - 2 * SHORT) + SHORT;
        status = sample(&w, from + part * length, SHORT * fabs(length), error);
    }
    if (status == 0)
        *rate = largest(&w);
    taut_arena_clear(&arena);
    return status;
}
