/* anderson.h - Anderson's acceleration of a fixed-point iteration x <- x + f(x), for the judges
 * of tests: of the latest points that combination whose weighted change is least (Anderson 1965;
 * as a least-squares problem by orthogonalisation, latest differences first). */
#ifndef TAUT_TESTS_JUDGE_ANDERSON_H
#define TAUT_TESTS_JUDGE_ANDERSON_H

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { MIX_DEPTH = 40 };

typedef struct mix {
    int64_t length;
    int count;
    double *weight; /* [length] */
    /* the latest points and changes, oldest first; orthonormal */
    double *x[MIX_DEPTH + 1], *f[MIX_DEPTH + 1], *basis[MIX_DEPTH];
    double upper[MIX_DEPTH][MIX_DEPTH];
    int column[MIX_DEPTH];
} mix;

static inline bool mix_create(mix *h, int64_t length, taut_arena *arena)
{
    *h = (mix){.length = length, .weight = TAUT_NEW(arena, double, length)};
    bool good = h->weight;
    for (int k = 0; k <= MIX_DEPTH; k++) {
        good &= (h->x[k] = TAUT_NEW(arena, double, length)) != NULL;
        good &= (h->f[k] = TAUT_NEW(arena, double, length)) != NULL;
        good &= k == MIX_DEPTH || (h->basis[k] = TAUT_NEW(arena, double, length)) != NULL;
    }
    return good;
}

static inline double mix_dot(int64_t length, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t e = 0; e < length; e++)
        sum += a[e] * b[e];
    return sum;
}

/* basis and upper: the weighted differences of f to those kept, those that depend on others left
 * out. Returns how many there are. */
static inline int mix_orthogonalise(mix *h, const double *f)
{
    int used = 0;
    for (int i = h->count - 1; i >= 0; i--) {
        double *d = h->basis[used];
        for (int64_t e = 0; e < h->length; e++)
            d[e] = (f[e] - h->f[i][e]) * h->weight[e];
        double size = mix_dot(h->length, d, d);
        for (int p = 0; p < used; p++)
            h->upper[p][used] = 0;
        for (int p = 0; p < 2 * used; p++) { /* twice, for rounding */
            double part = mix_dot(h->length, h->basis[p % used], d);
            for (int64_t e = 0; e < h->length; e++)
                d[e] -= part * h->basis[p % used][e];
            h->upper[p % used][used] += part;
        }
        double left = mix_dot(h->length, d, d);
        if (!(left > 1e-24 * size))
            continue;
        h->upper[used][used] = sqrt(left);
        for (int64_t e = 0; e < h->length; e++)
            d[e] /= h->upper[used][used];
        h->column[used++] = i;
    }
    return used;
}

/* Keeps (x, f); the oldest goes when there are too many. */
static inline void mix_keep(mix *h, const double *x, const double *f)
{
    if (h->count == MIX_DEPTH) {
        double *first_x = h->x[0], *first_f = h->f[0];
        memmove(h->x, h->x + 1, (MIX_DEPTH - 1) * sizeof *h->x);
        memmove(h->f, h->f + 1, (MIX_DEPTH - 1) * sizeof *h->f);
        h->x[MIX_DEPTH - 1] = first_x;
        h->f[MIX_DEPTH - 1] = first_f;
        h->count--;
    }
    memcpy(h->x[h->count], x, (size_t)h->length * sizeof *x);
    memcpy(h->f[h->count], f, (size_t)h->length * sizeof *f);
    h->count++;
}

/* x becomes the next point; f is its change. */
static inline void mix_advance(mix *h, double *x, const double *f)
{
    double c[MIX_DEPTH];
    int used = mix_orthogonalise(h, f);
    for (int p = 0; p < used; p++) {
        c[p] = 0;
        for (int64_t e = 0; e < h->length; e++)
            c[p] += h->basis[p][e] * f[e] * h->weight[e];
    }
    for (int p = used - 1; p >= 0; p--) {
        for (int r = p + 1; r < used; r++)
            c[p] -= h->upper[p][r] * c[r];
        c[p] /= h->upper[p][p];
    }
    double *old_x = h->x[MIX_DEPTH];
    memcpy(old_x, x, (size_t)h->length * sizeof *x);
    for (int64_t e = 0; e < h->length; e++)
        x[e] += f[e];
    for (int p = 0; p < used; p++) {
        const double *px = h->x[h->column[p]], *pf = h->f[h->column[p]];
        for (int64_t e = 0; e < h->length; e++)
            x[e] -= c[p] * (old_x[e] - px[e] + f[e] - pf[e]);
    }
    mix_keep(h, old_x, f);
}

#endif
