/* difference_iterations.c - from a point z and its delta(z) to the next one; wanted: delta = 0.
 *
 *     plain      z + delta                                                   [D (3.6)]
 *     aitken     two plain steps and an extrapolation, z_1 + delta_1 - theta (dz + ddelta),
 *                theta = delta_1 ddelta / |ddelta|^2 [Irons, Tuck 1969]; in one unknown that of
 *                Aitken
 *     anderson   secants of the latest points (linalg/anderson.c)
 *     newton     z + s, (d delta/dz) s = -delta by GMRES; products by differences of delta
 *                [Kelley 1995, chapters 3 and 6; Kelley, Kevrekidis, Qiao 2004]
 *     rpm        Newton in a few directions in which plain steps converge slowly, plain steps in
 *                the others [Shroff, Keller 1993]
 *
 * Norms are those of z_i/scale_i: a trace counts as much as an abundant species. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "project/difference.h"

typedef taut_difference_progress progress;

static int plain(taut_difference *w, progress *s, double *z, taut_error *error)
{
    (void)error;
    s->accelerated = false;
    taut_add(w->held.n, w->delta, z);
    return TAUT_OK;
}

/* ---- aitken */

static int aitken(taut_difference *w, progress *s, double *z, taut_error *error)
{
    taut_index n = w->held.n;
    if (s->phase == 0 || !s->known) {
        s->phase = 1;
        taut_copy(n, z, w->work); /* z_0; z_1 follows */
        taut_copy(n, w->delta, w->work_delta);
        return plain(w, s, z, error);
    }
    double top = 0, bottom = 0;
    for (taut_index i = 0; i < n; i++) {
        double b = w->delta[i] / w->scale[i], change = b - w->work_delta[i] / w->scale[i];
        top += b * change;
        bottom += change * change;
    }
    double theta = bottom > 0 ? top / bottom : 0;
    s->phase = 0;
    s->accelerated = true;
    for (taut_index i = 0; i < n; i++)
        z[i] += w->delta[i] - theta * (z[i] - w->work[i] + w->delta[i] - w->work_delta[i]);
    return TAUT_OK;
}

/* ---- anderson */

static int anderson(taut_difference *w, progress *s, double *z, taut_error *error)
{
    (void)error;
    taut_index n = w->held.n;
    for (taut_index i = 0; i < n; i++) {
        w->work[i] = z[i] / w->scale[i];
        w->work_delta[i] = w->delta[i] / w->scale[i];
    }
    taut_anderson_next(&w->anderson, w->work, w->work_delta, w->work);
    for (taut_index i = 0; i < n; i++)
        z[i] = w->work[i] * w->scale[i];
    s->accelerated = w->anderson.count > 0;
    return TAUT_OK;
}

/* ---- products with d delta/dz */

/* image = (delta(z + eps v) - delta)/eps in scaled variables, |v| = 1; delta: [n], at z. */
static int product(taut_difference *w, progress *s, const double *z, const double *delta,
                   const double *v, double *image, taut_error *error)
{
    taut_index n = w->held.n;
    double most, noise = taut_difference_noise(w, s->stage->order) / taut_largest(n, w->scale),
                 eps = fmin(1e-2, sqrt(fmax(noise, DBL_EPSILON)));
    for (taut_index i = 0; i < n; i++)
        w->work[i] = z[i] + eps * v[i] * w->scale[i];
    TAUT_TRY(taut_difference_evaluate(w, s->stage, w->work, &most, error));
    for (taut_index i = 0; i < n; i++)
        image[i] = (w->delta[i] - delta[i]) / (eps * w->scale[i]);
    return TAUT_OK;
}

/* v -= its parts along the first `count` vectors of the basis, whose sizes go to part[]; then
 * |v| = 1. Returns what |v| was. */
static double orthogonalise(const taut_difference *w, int count, double *v, double *part)
{
    taut_index n = w->held.n;
    for (int k = 0; k < count; k++) {
        part[k] = taut_dot(n, w->basis + (int64_t)k * n, v);
        taut_add_scaled(n, -part[k], w->basis + (int64_t)k * n, v);
    }
    double length = taut_norm(n, v);
    for (taut_index i = 0; i < n && length > 0; i++)
        v[i] /= length;
    return length;
}

/* Gauss with pivots: a[count][count] x = b, x in b. False: singular. */
static bool solve_small(int count, double a[TAUT_NEWTON_BASIS][TAUT_NEWTON_BASIS], double *b)
{
    for (int k = 0; k < count; k++) {
        int pivot = k;
        for (int i = k + 1; i < count; i++)
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        if (!(fabs(a[pivot][k]) > 0))
            return false;
        for (int j = 0; j < count; j++) {
            double swap = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        for (int i = k + 1; i < count; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < count; j++)
                a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = count - 1; k >= 0; k--) {
        for (int j = k + 1; j < count; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return true;
}

/* ---- newton */

/* min |image y + delta| over y by the normal equations of h[count + 1][count], which is small and,
 * after its rotations, well scaled. */
static double least_squares(int count, double h[TAUT_NEWTON_BASIS + 1][TAUT_NEWTON_BASIS],
                            double length, double *y)
{
    double r[TAUT_NEWTON_BASIS + 1][TAUT_NEWTON_BASIS], b[TAUT_NEWTON_BASIS + 1] = {-length};
    memcpy(r, h, sizeof r);
    for (int k = 0; k < count; k++) { /* Givens rotations */
        double size = hypot(r[k][k], r[k + 1][k]), c = size > 0 ? r[k][k] / size : 1,
               sine = size > 0 ? r[k + 1][k] / size : 0;
        for (int j = k; j < count; j++) {
            double upper = r[k][j], lower = r[k + 1][j];
            r[k][j] = c * upper + sine * lower;
            r[k + 1][j] = c * lower - sine * upper;
        }
        b[k + 1] = -sine * b[k];
        b[k] *= c;
    }
    for (int k = count - 1; k >= 0; k--) {
        y[k] = b[k];
        for (int j = k + 1; j < count; j++)
            y[k] -= r[k][j] * y[j];
        y[k] = r[k][k] != 0 ? y[k] / r[k][k] : 0;
    }
    return fabs(b[count]);
}

static int newton(taut_difference *w, progress *s, double *z, taut_error *error)
{
    static const double forcing = 1e-3; /* share of delta that a linear solution may leave */
    taut_index n = w->held.n;
    double h[TAUT_NEWTON_BASIS + 1][TAUT_NEWTON_BASIS] = {{0}}, y[TAUT_NEWTON_BASIS],
                                 part[TAUT_NEWTON_BASIS + 1];
    double *first = w->basis, *delta = w->before_delta; /* that of z, kept by the caller */
    for (taut_index i = 0; i < n; i++)
        first[i] = delta[i] / w->scale[i];
    double length = orthogonalise(w, 0, first, part);
    int most = w->held.unknowns < TAUT_NEWTON_BASIS ? (int)w->held.unknowns : TAUT_NEWTON_BASIS,
        count = 0;
    while (count < most) {
        double *v = w->basis + (int64_t)count * n, *next = v + n;
        int status = product(w, s, z, delta, v, next, error);
        if (status != 0 && taut_difference_avoidable(status) && count > 0)
            break; /* with the directions so far */
        TAUT_TRY(status);
        double image = taut_norm(n, next), rest = orthogonalise(w, count + 1, next, part);
        for (int k = 0; k <= count; k++)
            h[k][count] = part[k];
        h[count + 1][count] = rest;
        count++;
        if (least_squares(count, h, length, y) <= forcing * length || rest <= 1e-8 * image)
            break;
    }
    for (int k = 0; k < count; k++)
        for (taut_index i = 0; i < n; i++)
            z[i] += y[k] * w->basis[(int64_t)k * n + i] * w->scale[i];
    s->accelerated = true;
    return TAUT_OK;
}

/* ---- rpm */

/* One more direction: that in which delta shrinks slowly. */
static int add_direction(taut_difference *w, progress *s, const double *z, const double *delta,
                         const double *slow, taut_error *error)
{
    double part[TAUT_NEWTON_BASIS + 1];
    double *v = w->basis + (int64_t)w->directions * w->held.n;
    taut_copy(w->held.n, slow, v);
    if (!(orthogonalise(w, w->directions, v, part) > 0))
        return TAUT_OK;
    w->directions++;
    for (int k = 0; k < w->directions; k++) /* all: the point has moved */
        TAUT_TRY(product(w, s, z, delta, w->basis + (int64_t)k * w->held.n,
                         w->image + (int64_t)k * w->held.n, error));
    return TAUT_OK;
}

static int rpm(taut_difference *w, progress *s, double *z, taut_error *error)
{
    static const double slowly = 0.3;
    taut_index n = w->held.n;
    double a[TAUT_NEWTON_BASIS][TAUT_NEWTON_BASIS], y[TAUT_NEWTON_BASIS];
    double *delta = w->before_delta, *rest = w->work_delta;
    int most = w->held.unknowns < TAUT_NEWTON_BASIS ? (int)w->held.unknowns : TAUT_NEWTON_BASIS;
    if (!s->known)
        w->directions = 0;
    for (taut_index i = 0; i < n; i++)
        rest[i] = delta[i] / w->scale[i];
    for (int k = 0; k < w->directions; k++)
        taut_add_scaled(n, -taut_dot(n, w->basis + (int64_t)k * n, rest), w->basis + (int64_t)k * n,
                        rest);
    double now = taut_norm(n, rest);
    if (s->known && now > slowly * s->slow_part && w->directions < most) {
        TAUT_TRY(add_direction(w, s, z, delta, rest, error));
        const double *v = w->basis + (int64_t)(w->directions - 1) * n;
        taut_add_scaled(n, -taut_dot(n, v, rest), v, rest);
        now = taut_norm(n, rest);
    }
    s->slow_part = now;
    for (int i = 0; i < w->directions; i++) {
        const double *v = w->basis + (int64_t)i * n;
        y[i] = 0;
        for (taut_index k = 0; k < n; k++)
            y[i] -= v[k] * delta[k] / w->scale[k];
        for (int j = 0; j < w->directions; j++)
            a[i][j] = taut_dot(n, v, w->image + (int64_t)j * n);
    }
    s->accelerated = w->directions > 0 && solve_small(w->directions, a, y);
    for (taut_index i = 0; i < n; i++) {
        double change = s->accelerated ? rest[i] : delta[i] / w->scale[i];
        for (int k = 0; k < w->directions && s->accelerated; k++)
            change += y[k] * w->basis[(int64_t)k * n + i];
        z[i] += change * w->scale[i];
    }
    return TAUT_OK;
}

/* ---- the table */

static const taut_iteration table[] = {
    {"anderson", 500, 40, true, anderson},
    {"newton", 500, 100, true, newton},
    {"rpm", 2000, 200, true, rpm},
    {"aitken", 100000, 1000, true, aitken},
    {"plain", 10000000, 1000000, false, plain},
};

const taut_iteration *taut_iteration_find(const char *name)
{
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (strcmp(table[k].name, name) == 0)
            return &table[k];
    return NULL;
}
