/* force_spectrum.c - the frequencies of a system whose stiffness is not declared, from
 * differences of its forces.
 *
 *     K x = -(F(t, q + d x) - F(t, q))/d, K x = Omega^2 M x
 *
 * by Lanczos' iteration in the inner product of M with full orthogonalisation [Parlett 1998,
 * chapter 13], which ends after as many steps as there are different frequencies. K is projected
 * as a whole: where it is symmetric up to the noise of one-sided differences it is made
 * symmetric, and where forces have no reaction its eigenvalues are those of a Hessenberg matrix.
 * Beyond 128 coordinates only the ends of the spectrum are sought, without arrays of vectors
 * (force_spectrum_large.c).
 *
 * The displacement is sqrt(u) of the size of the state, more where forces are noisier. A longer
 * one stretches springs, whose force then appears as a frequency sqrt(d) Omega across them; a
 * shorter one is dominated by rounding. Both noises are about 1e-4 of the fastest frequency:
 * slower motion cannot be distinguished from rest, which is not required. With many coordinates
 * single springs may be hidden there, and the last measurement uses (F(q - d x) - F(q + d x))/2d
 * instead: errors are of order d^2, d the cube root of the noise, and 1e-5 is resolved. */
#include "base/random.h"
#include "filter/force_spectrum.h"
#include "linalg/hessenberg.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "linalg/spectrum.h"

enum { MOST_NUMBERS = 4000000, LEAST_STEPS = 16 }; /* in an array of vectors */

/* Room for an iteration that keeps its vectors. */
static int reserve(taut_force_spectrum *r, taut_error *error)
{
    taut_arena *arena = &r->p->arena;
    taut_index n = r->n;
    int64_t most = n < TAUT_FORCE_SPECTRUM_MOST ? n : TAUT_FORCE_SPECTRUM_MOST;
    if (most * n > MOST_NUMBERS)
        most = MOST_NUMBERS / n > LEAST_STEPS ? MOST_NUMBERS / n : LEAST_STEPS;
    r->most = (int)most;
    TAUT_TRY(TAUT_RESERVE(arena, most * n, error, &r->x, &r->mx));
    TAUT_TRY(TAUT_RESERVE(arena, most * most, error, &r->matrix));
    return TAUT_RESERVE(arena, most, error, &r->value);
}

/* Room for one that keeps the latest two. */
static int reserve_ends(taut_force_spectrum *r, taut_error *error)
{
    taut_arena *arena = &r->p->arena;
    TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)r->n, error, &r->x, &r->mx));
    TAUT_TRY(TAUT_RESERVE(arena, TAUT_FORCE_SPECTRUM_SEEN, error, &r->alpha, &r->beta));
    return TAUT_RESERVE(arena, r->n, error, &r->clean_at, &r->other);
}

int taut_force_spectrum_create(taut_projection *p, taut_force_spectrum *r, taut_error *error)
{
    taut_arena *arena = &p->arena;
    taut_index n = p->in->sizes.coordinates;
    *r = (taut_force_spectrum){.p = p, .n = n};
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &r->base, &r->force, &r->displaced));
    TAUT_TRY(n > TAUT_FORCE_SPECTRUM_MOST ? reserve_ends(r, error) : reserve(r, error));
    TAUT_TRY(taut_mechanics_create(&r->mechanics, p->in->context, arena, &p->statistics, 0, error));
    if (!r->mechanics.mass_start)
        return TAUT_OK;
    TAUT_TRY(taut_mechanics_saddle(&r->mechanics, false, true, &arena->allocator, &r->mass, error));
    return r->mechanics.varying ? TAUT_OK
                                : taut_mechanics_factor(&r->mechanics, r->mass, p->in->t,
                                                        r->mechanics.mass, NULL, NULL, error);
}

void taut_force_spectrum_destroy(taut_force_spectrum *r)
{
    taut_saddle_destroy(r->mass);
    r->mass = NULL;
}

/* F(t, q, v), and the factors of M there when it varies. */
static int evaluate(taut_force_spectrum *r, double t, const double *q, const double *v,
                    double *force, taut_error *error)
{
    TAUT_TRY(taut_mechanics_force(&r->mechanics, t, q, v, force, NULL, error));
    return r->mechanics.varying ? taut_mechanics_factor(&r->mechanics, r->mass, t,
                                                        r->mechanics.mass, NULL, NULL, error)
                                : TAUT_OK;
}

/* a <- M^-1 a, with the latest factors */
static int divide(taut_force_spectrum *r, double *a, taut_error *error)
{
    if (r->mass)
        return taut_saddle_solve(r->mass, 1, a, NULL, error);
    for (taut_index i = 0; i < r->n; i++)
        a[i] /= r->mechanics.mass[i];
    return TAUT_OK;
}

int taut_force_spectrum_accelerate(taut_force_spectrum *r, double t, const double *q,
                                   const double *v, double *a, taut_error *error)
{
    TAUT_TRY(evaluate(r, t, q, v, a, error));
    return divide(r, a, error);
}

int taut_force_spectrum_noise(taut_force_spectrum *r, double *a, taut_error *error)
{
    for (taut_index i = 0; i < r->n; i++)
        a[i] = r->noise_force;
    TAUT_TRY(divide(r, a, error));
    for (taut_index i = 0; i < r->n; i++)
        a[i] = fabs(a[i]);
    return TAUT_OK;
}

int taut_force_spectrum_normalise(taut_force_spectrum *r, double *x, double *mx, double *norm,
                                  taut_error *error)
{
    taut_copy(r->n, mx, x);
    TAUT_TRY(divide(r, x, error));
    double length = sqrt(taut_dot(r->n, x, mx));
    for (taut_index i = 0; i < r->n && length > 0; i++) {
        x[i] /= length;
        mx[i] /= length;
    }
    *norm = length;
    return TAUT_OK;
}

/* Random, with each coordinate as its mass weighs. */
void taut_force_spectrum_random(const taut_force_spectrum *r, double *mx)
{
    uint64_t seed = 3;
    for (taut_index i = 0; i < r->n; i++)
        mx[i] = taut_random(&seed) * (r->mass ? 1 : sqrt(fabs(r->mechanics.mass[i])));
}

/* F at the point displaced by d x. */
static int displaced_force(taut_force_spectrum *r, const taut_force_spectrum_point *at, double d,
                           const double *x, double *force, taut_error *error)
{
    for (taut_index i = 0; i < r->n; i++)
        r->displaced[i] = at->q[i] + d * x[i];
    return taut_mechanics_force(&r->mechanics, r->p->in->t, r->displaced, at->v, force, NULL,
                                error);
}

/* Where the system cannot be evaluated on one side, the other one is taken alone. */
int taut_force_spectrum_apply(taut_force_spectrum *r, const taut_force_spectrum_point *at,
                              const double *x, taut_error *error)
{
    double d = at->length / fmax(taut_largest(r->n, x), DBL_MIN);
    taut_error reason = {0};
    int status = 1, sides = 0;
    const double *from = r->base;
    for (int side = 1; side >= -1 && (status != 0 || at->both); side -= 2) {
        double *force = sides ? r->other : r->force;
        status = displaced_force(r, at, side * d, x, force, &reason);
        TAUT_TRY(taut_fail_final(status, &reason, error));
        if (status == 0 && sides++ == 0)
            d *= side;
    }
    if (sides == 0) {
        if (error)
            *error = reason;
        return status;
    }
    if (sides == 2) {
        from = r->other;
        d *= 2;
    }
    for (taut_index i = 0; i < r->n; i++)
        r->force[i] = -(r->force[i] - from[i]) / d;
    return TAUT_OK;
}

/* How far displacements d and 2 d disagree about K x, and how large that is, max norms. */
static int disagree(taut_force_spectrum *r, const taut_force_spectrum_point *at, double relative,
                    double *apart, double *size, taut_error *error)
{
    taut_force_spectrum_point once = *at, twice = *at;
    once.length *= relative;
    twice.length = 2 * once.length;
    TAUT_TRY(taut_force_spectrum_apply(r, &once, r->x, error));
    taut_copy(r->n, r->force, r->mx);
    TAUT_TRY(taut_force_spectrum_apply(r, &twice, r->x, error));
    *size = taut_largest(r->n, r->mx);
    *apart = taut_largest_difference(r->n, r->mx, r->force);
    return TAUT_OK;
}

/* The shortest displacement, unless forces are noisier than rounding makes them: then the one at
 * which twice as long a one shows most nearly the same. */
static int choose_shift(taut_force_spectrum *r, const taut_force_spectrum_point *at, double least,
                        taut_error *error)
{
    static const double most = 1e-3, agree = 1e-2, plain = 30;
    double best = agree, apart, size;
    uint64_t seed = 11;
    for (taut_index i = 0; i < r->n; i++)
        r->x[i] = taut_random(&seed);
    r->relative = r->noise = least; /* kinks, or no force at all: nothing is better */
    r->grain = least * least;
    for (double relative = least; relative < most; relative *= 10) {
        TAUT_TRY(disagree(r, at, relative, &apart, &size, error));
        if (relative == least && size > 0) {
            r->grain = fmax(r->grain, fmin(apart / size, 1) * least);
            r->noise_force = apart * least * at->length / taut_largest(r->n, r->x);
            if (apart <= plain * least * size)
                return TAUT_OK;
        }
        if (size > 0 && apart <= best * size) {
            best = apart / size;
            r->relative = relative;
            r->noise = fmax(best, relative);
        } else if (best < agree) {
            break;
        }
    }
    return TAUT_OK;
}

/* Fills matrix[0..steps)[0..steps); *left is the norm of what the next vector would have been. */
static int iterate(taut_force_spectrum *r, const taut_force_spectrum_point *at, double noise,
                   int *steps, double *left, taut_error *error)
{
    taut_index n = r->n;
    uint64_t seed = 3;
    double norm, largest = 0;
    for (taut_index i = 0; i < n; i++)
        r->mx[i] = taut_random(&seed);
    TAUT_TRY(taut_force_spectrum_normalise(r, r->x, r->mx, &norm, error));
    for (int k = 0; k < r->most; k++) {
        TAUT_TRY(taut_force_spectrum_apply(r, at, r->x + (int64_t)k * n, error));
        for (int twice = 0; twice < 2; twice++)
            for (int j = 0; j <= k; j++) {
                double share = taut_dot(n, r->x + (int64_t)j * n, r->force);
                for (taut_index i = 0; i < n; i++)
                    r->force[i] -= share * r->mx[(int64_t)j * n + i];
                r->matrix[j * r->most + k] = (twice ? r->matrix[j * r->most + k] : 0) + share;
                largest = fmax(largest, fabs(share));
            }
        *steps = k + 1;
        double *x = k + 1 < r->most ? r->x + (int64_t)(k + 1) * n : r->displaced;
        double *mx = k + 1 < r->most ? r->mx + (int64_t)(k + 1) * n : r->force;
        memmove(mx, r->force, (size_t)n * sizeof(double));
        TAUT_TRY(taut_force_spectrum_normalise(r, x, mx, left, error));
        if (k + 1 < r->most)
            r->matrix[(k + 1) * r->most + k] = *left;
        if (!(*left > noise * largest)) { /* nothing new but noise */
            *left = 0;
            break;
        }
    }
    if (*steps == n)
        *left = 0;
    return TAUT_OK;
}

/* Is the projected matrix symmetric but for noise? Otherwise some force has no reaction. */
static bool symmetric(const taut_force_spectrum *r, int steps)
{
    double most = 0, off = 0;
    for (int i = 0; i < steps; i++)
        for (int j = i; j < steps; j++) {
            most = fmax(most, fabs(r->matrix[i * r->most + j]));
            off = fmax(off, fabs(r->matrix[i * r->most + j] - r->matrix[j * r->most + i]));
        }
    return off <= 1e-4 * most;
}

void taut_force_spectrum_add(taut_force_spectrum_seen *seen, double square, bool repels, double off)
{
    double rate = sqrt(fabs(square));
    int to = seen->count++;
    for (; to > 0 && seen->rate[to - 1] > rate; to--) {
        seen->rate[to] = seen->rate[to - 1];
        seen->loose[to] = seen->loose[to - 1];
        seen->repels[to] = seen->repels[to - 1];
    }
    seen->rate[to] = rate;
    seen->loose[to] = off / fmax(rate, DBL_MIN);
    seen->repels[to] = repels;
}

/* Frequencies from the projected matrix. The last entries of its vectors give their errors. */
static int solve(taut_force_spectrum *r, int steps, double left, taut_force_spectrum_seen *seen,
                 taut_error *error)
{
    /* steps x steps, and steps: not more than the vectors took */
    double *a = r->x, *imaginary = r->mx;
    bool even = symmetric(r, steps);
    for (int i = 0; i < steps; i++)
        for (int j = 0; j < steps; j++) {
            double here = r->matrix[i * r->most + j], there = r->matrix[j * r->most + i];
            bool inside = i - j <= 1 && j - i <= 1;
            a[(int64_t)i * steps + j] = !even    ? (i - j <= 1 ? here : 0)
                                        : inside ? (here + there) / 2
                                                 : 0;
        }
    if (even)
        TAUT_TRY(taut_eigen_symmetric(steps, a, r->value, error, &r->p->arena.allocator));
    else if (!taut_hessenberg_values(steps, a, r->value, imaginary))
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "the frequencies of the forces could not be computed at this state");
    for (int k = 0; k < steps; k++) {
        /* growing and decaying oscillations */
        double turns = even ? 0 : fabs(imaginary[k]), square = hypot(r->value[k], turns);
        double off = even ? left * fabs(a[(int64_t)k * steps + steps - 1]) : left > 0 ? square : 0;
        taut_force_spectrum_add(seen, square,
                                r->value[k] < 0 || (left == 0 && turns > 1e-2 * square), off);
    }
    return TAUT_OK;
}

/* The rate of the motion itself: what is slower than this is not fast, however large the gap
 * below it. */
static double pace(taut_index n, const double *q, const double *v, const double *a)
{
    double size = taut_largest(n, q);
    return size > 0 ? fmax(taut_largest(n, v) / size, sqrt(taut_largest(n, a) / size)) : 0;
}

int taut_force_spectrum_pace(taut_force_spectrum *r, const double *q, const double *v, double *rate,
                             taut_error *error)
{
    TAUT_TRY(taut_force_spectrum_accelerate(r, r->p->in->t, q, v, r->base, error));
    *rate = pace(r->n, q, v, r->base);
    return TAUT_OK;
}

/* All that there is, or as many steps as there is room for. */
static int find_all(taut_force_spectrum *r, const taut_force_spectrum_point *at,
                    const taut_force_spectrum_request *request, taut_force_spectrum_seen *seen,
                    taut_error *error)
{
    int steps = 0;
    double left = 0;
    TAUT_TRY(iterate(r, at, 4 * r->noise, &steps, &left, error));
    TAUT_TRY(solve(r, steps, left, seen, error));
    seen->complete = left == 0;
    TAUT_TRY(divide(r, r->base, error));
    seen->floor =
        fmax(2 * sqrt(r->noise) * seen->rate[steps - 1], pace(r->n, at->q, at->v, r->base));
    seen->first = taut_force_spectrum_gap(seen->count, seen->rate, seen->floor, request->given);
    return TAUT_OK;
}

/* The ends, of many; everything that fits into memory where they need forces with reactions. */
static int find_ends(taut_force_spectrum *r, const taut_force_spectrum_point *at,
                     const taut_force_spectrum_request *request, taut_force_spectrum_seen *seen,
                     taut_error *error)
{
    bool even;
    taut_copy(r->n, r->base, r->displaced);
    TAUT_TRY(divide(r, r->displaced, error));
    TAUT_TRY(taut_force_spectrum_ends(r, at, request, pace(r->n, at->q, at->v, r->displaced), seen,
                                      &even, error));
    r->clean = even && seen->clean;
    r->sharp = at->both;
    if (r->clean)
        taut_copy(r->n, at->q, r->clean_at);
    if (even)
        return TAUT_OK;
    TAUT_TRY(reserve(r, error));
    return find_all(r, at, request, seen, error);
}

/* The unit of displacements: a part of the system may be small compared with its distance from the
 * origin. */
static double unit(const taut_force_spectrum *r, const double *q)
{
    double size = taut_largest(r->n, q);
    return size > 0 && size < 1 ? size : 1;
}

bool taut_force_spectrum_known(const taut_force_spectrum *r, const double *q, bool rough)
{
    /* what frequencies bear, and what hides slow ones: its root, of the fastest */
    const double bends = 1e-3, stretches = 1e-7;
    return r->clean && (r->sharp || rough) &&
           taut_largest_difference(r->n, q, r->clean_at) <=
               (rough ? bends : stretches) * unit(r, q);
}

int taut_force_spectrum_see(taut_force_spectrum *r, const double *q, const double *v,
                            const taut_force_spectrum_request *request,
                            taut_force_spectrum_seen *seen, taut_error *error)
{
    const double longest = 1e-3;
    double length = unit(r, q), size = taut_largest(r->n, q);
    taut_force_spectrum_point at = {.q = q, .v = v, .length = length};
    memset(seen, 0, sizeof *seen);
    TAUT_TRY(evaluate(r, r->p->in->t, q, v, r->base, error));
    if (r->relative == 0)
        TAUT_TRY(choose_shift(r, &at, sqrt(DBL_EPSILON * fmax(size, length) / length), error));
    at.noise = r->noise;
    at.both = r->most == 0 && !request->rough;
    if (at.both) { /* the error is the square of the displacement: longer ones, less noise */
        double relative = fmin(cbrt(r->grain), longest);
        at.noise = fmin(r->noise, r->grain / relative + relative * relative);
        at.length *= relative;
    } else {
        at.length *= r->relative;
    }
    return r->most > 0 ? find_all(r, &at, request, seen, error)
                       : find_ends(r, &at, request, seen, error);
}

/* ---- what is fast? */

static const double joined = 4;        /* frequencies nearer than this are not apart */
static const double given_least = 0.6; /* of omega: coupled springs are slower than single ones */

int taut_force_spectrum_gap(int count, const double *rate, double floor, double given)
{
    int first = 0;
    if (given > 0) {
        while (first < count && rate[first] < given_least * given)
            first++;
        return first;
    }
    double widest = joined;
    for (int k = 1; k < count; k++) {
        double ratio = rate[k] / fmax(rate[k - 1], floor);
        if (ratio > widest) {
            widest = ratio;
            first = k;
        }
    }
    /* no gap: an oscillating state hides it; what is faster than its forces can cause is fast */
    for (int k = 1; k < count && widest == joined; k++)
        if (rate[k] > 2 * floor && rate[k - 1] <= 2 * floor)
            return k;
    return first;
}
