/* ringing.h - how much a state rings: a judge of slow points that owes nothing to projections.
 *
 * The full motion through the state, every oscillation resolved (dop8 with equal steps, a fraction of the fastest period), is followed over
 * several periods of the slowest stiff mode, to both sides (after the start only where bonds are damped: backwards they would grow). Slow
 * motion is what a polynomial in t can follow over that time, oscillations are what it cannot: P is the polynomial of a least-squares fit with
 * weights that fade towards the ends, and
 *
 *     off_q = max |q(0) - P(0)|,      off_v = max |v(0) - P'(0)|
 *
 * is the distance to the slow manifold, near it. The difference to the fit of two degrees less says how far that can be trusted, and the
 * derivatives of P are those of the slow motion. */
#ifndef TAUT_TESTS_RINGING_H
#define TAUT_TESTS_RINGING_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taut/taut.h>

enum { RINGING_DEGREE = 18, RINGING_ORDERS = 6 };

typedef struct ringing {
    double off_q, off_v;
    double doubt_q, doubt_v;           /* truncation of the fit, and rounding */
    double slowest, fastest;           /* frequencies there */
    double size_q, size_v;             /* max |q|, |v| */
    double derivative[RINGING_ORDERS]; /* max over coordinates and the middle half of the window of |d^k P/dt^k| */
    int steps;
} ringing;

/* Orthonormal polynomials of x over samples with weights: p_{k+1} = (x - a_k) p_k - b_k p_{k-1}, scaled. */
typedef struct ringing_fit {
    int count; /* samples */
    double *x, *weight;
    double a[RINGING_DEGREE + 1], b[RINGING_DEGREE + 1], norm[RINGING_DEGREE + 1];
} ringing_fit;

/* p[k] and its first derivatives d[i][k] at x. */
static inline void ringing_basis(const ringing_fit *f, int degree, double x, double d[RINGING_ORDERS][RINGING_DEGREE + 1])
{
    for (int i = 0; i < RINGING_ORDERS; i++)
        for (int k = 0; k <= degree; k++) {
            if (k == 0) {
                d[i][0] = i == 0;
                continue;
            }
            d[i][k] = (x - f->a[k - 1]) * d[i][k - 1] + (i ? i * d[i - 1][k - 1] : 0) - (k > 1 ? f->b[k - 1] * d[i][k - 2] : 0);
        }
}

static inline double ringing_value(const ringing_fit *f, int k, double x)
{
    double last = 0, now = 1;
    for (int i = 0; i < k; i++) {
        double next = (x - f->a[i]) * now - (i ? f->b[i] * last : 0);
        last = now;
        now = next;
    }
    return now;
}

static inline void ringing_prepare(ringing_fit *f)
{
    for (int k = 0; k <= RINGING_DEGREE; k++) {
        double sum = 0, first = 0;
        for (int j = 0; j < f->count; j++) {
            double p = ringing_value(f, k, f->x[j]);
            sum += f->weight[j] * p * p;
            first += f->weight[j] * p * p * f->x[j];
        }
        f->norm[k] = sum;
        f->a[k] = first / sum;
        f->b[k] = k ? sum / f->norm[k - 1] : 0;
    }
}

/* Follows the full motion over `steps` steps of h and keeps the positions, sample by sample. */
static inline int ringing_follow(const taut_system *system, double from, double h, int steps, double *samples, taut_error *error)
{
    taut_sizes sizes;
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    char step[40], start[40], until[40];
    taut_system_sizes(system, &sizes);
    snprintf(step, sizeof step, "%.17g", fabs(h));
    snprintf(start, sizeof start, "%.17g", from);
    snprintf(until, sizeof until, "%.17g", from + 2 * fabs(h) * steps);
    const char *const words[][2] = {{"motion", "full"}, {"method", "dop8"}, {"step", step}, {"from", start}, {"until", until}};
    int status = taut_options_create(NULL, &options, error);
    for (int k = 0; k < 5 && status == 0; k++)
        status = taut_options_set(options, words[k][0], words[k][1], error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    for (int j = 1; j <= steps && status == 0; j++) {
        status = taut_solver_advance(solver, from + j * h, error);
        if (status == 0)
            memcpy(samples + (int64_t)j * sizes.coordinates, taut_solver_position(solver),
                   (size_t)sizes.coordinates * sizeof(double));
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

/* The fit of one coordinate: samples y[count * stride]. */
static inline void ringing_coordinate(const ringing_fit *f, const double *y, int stride, double q, double v, double window,
                                      ringing *r)
{
    double c[RINGING_DEGREE + 1], d[RINGING_ORDERS][RINGING_DEGREE + 1], lower_q = 0, lower_v = 0, value = 0, rate = 0;
    for (int k = 0; k <= RINGING_DEGREE; k++) {
        double sum = 0;
        for (int j = 0; j < f->count; j++) /* as differences from q: rounding stays small */
            sum += f->weight[j] * ringing_value(f, k, f->x[j]) * (y[(int64_t)j * stride] - q);
        c[k] = sum / f->norm[k];
    }
    ringing_basis(f, RINGING_DEGREE, 0, d);
    for (int k = 0; k <= RINGING_DEGREE; k++) {
        value += c[k] * d[0][k];
        rate += c[k] * d[1][k] / window;
        if (k == RINGING_DEGREE - 2) {
            lower_q = value;
            lower_v = rate;
        }
    }
    r->off_q = fmax(r->off_q, fabs(value));
    r->off_v = fmax(r->off_v, fabs(v - rate));
    r->doubt_q = fmax(r->doubt_q, fabs(value - lower_q));
    r->doubt_v = fmax(r->doubt_v, fabs(rate - lower_v));
    for (int at = -1; at <= 1; at++) {
        ringing_basis(f, RINGING_DEGREE, 0.5 * at, d);
        for (int i = 0; i < RINGING_ORDERS; i++) {
            double sum = i == 0 ? q : 0;
            for (int k = 0; k <= RINGING_DEGREE; k++)
                sum += c[k] * d[i][k] * pow(window, -i);
            r->derivative[i] = fmax(r->derivative[i], fabs(sum));
        }
    }
}

/* Frequencies, sizes and steps of the window. */
static inline int ringing_plan(const taut_system *system, double from, double *q, double *v, ringing *r, taut_error *error)
{
    taut_sizes sizes;
    taut_context *context = NULL;
    double frequency[8];
    int found = 0;
    bool complete;
    taut_system_sizes(system, &sizes);
    int status = taut_context_create(system, NULL, &context, error);
    if (status == 0)
        status = taut_context_start(context, from, q, v, error);
    if (status == 0)
        status = taut_frequencies(context, from, q, 4, frequency, &found, &complete, error);
    taut_context_destroy(context);
    if (status == 0 && found == 0)
        return TAUT_ERROR_REFUSED;
    for (taut_index i = 0; status == 0 && i < sizes.coordinates; i++) {
        r->size_q = fmax(r->size_q, fabs(q[i]));
        r->size_v = fmax(r->size_v, fabs(v[i]));
    }
    int first =
        0; /* what lies below a wide gap belongs to the slow motion: soft springs, the curvature of a stiff potential's valley */
    for (int k = 1; k < found; k++)
        if (frequency[k] > 20 * frequency[k - 1])
            first = k;
    if (status == 0) {
        r->slowest = frequency[first];
        r->fastest = frequency[found - 1];
    }
    return status;
}

/* The state is the start of the system. 0, or why it cannot be told. */
static inline int ringing_measure(const taut_system *system, double from, ringing *r, taut_error *error)
{
    const double periods = 6, share = 0.35; /* of the slowest to each side; step times the fastest frequency */
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    *r = (ringing){0};
    taut_index n = sizes.coordinates;
    bool both = !(sizes.can & TAUT_HAS_DAMPING);
    double *q = calloc((size_t)n, sizeof *q), *v = calloc((size_t)n, sizeof *v), *samples = NULL;
    ringing_fit f = {0};
    int status = q && v ? ringing_plan(system, from, q, v, r, error) : TAUT_ERROR_MEMORY;
    if (status == 0) {
        double window = 8 * atan(1) * periods / r->slowest;
        r->steps = (int)ceil(window * r->fastest / share);
        f.count = both ? 2 * r->steps + 1 : r->steps + 1;
        f.x = calloc((size_t)f.count, sizeof *f.x);
        f.weight = calloc((size_t)f.count, sizeof *f.weight);
        samples = calloc((size_t)f.count * (size_t)n, sizeof *samples);
        int middle = both ? r->steps : 0;
        double h = window / r->steps, *centre = samples ? samples + (int64_t)middle * n : NULL;
        status = f.x && f.weight && samples ? 0 : TAUT_ERROR_MEMORY;
        if (status == 0) {
            memcpy(centre, q, (size_t)n * sizeof *q);
            status = ringing_follow(system, from, h, r->steps, centre, error);
        }
        if (status == 0 && both) { /* backwards into the same array, then in order of time */
            double *back = calloc((size_t)(r->steps + 1) * (size_t)n, sizeof *back);
            status = back ? ringing_follow(system, from, -h, r->steps, back, error) : TAUT_ERROR_MEMORY;
            for (int j = 1; j <= r->steps && status == 0; j++)
                memcpy(centre - (int64_t)j * n, back + (int64_t)j * n, (size_t)n * sizeof *back);
            free(back);
        }
        for (int j = 0; j < f.count && status == 0; j++) {
            f.x[j] = (double)(j - middle) / r->steps;
            f.weight[j] = pow(both ? 1 - f.x[j] * f.x[j] : 1 - f.x[j], 4);
        }
        if (status == 0) {
            ringing_prepare(&f);
            for (taut_index i = 0; i < n; i++)
                ringing_coordinate(&f, samples + i, n, q[i], v[i], window, r);
            double rounding = DBL_EPSILON * r->size_q; /* kicks of omega^2 u |q| h, a random walk */
            r->doubt_q += rounding * sqrt(r->steps * share);
            r->doubt_v += rounding * sqrt(r->steps * share) * r->fastest;
        }
    }
    free(q);
    free(v);
    free(samples);
    free(f.x);
    free(f.weight);
    return status;
}

#endif
