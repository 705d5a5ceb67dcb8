/* anderson.c - a secant method in several dimensions for x <- x + f(x).
 *
 *     next = x + f - sum_j gamma_j (dx_j + df_j), gamma = argmin |f - sum_j gamma_j df_j|
 *     [Anderson 1965; Walker, Ni 2011 (2.2)]
 *
 * with the differences of the latest points. In one unknown it is the secant method. The
 * least-squares problem is solved by modified Gram-Schmidt, newest difference first; older ones
 * that add nothing (dependent up to rounding) are omitted. */
#include "linalg/anderson.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"

static const double dependent =
    1e-10; /* share of a column that must be independent of the others */

int taut_anderson_create(taut_anderson *a, taut_index n, int depth, taut_arena *arena,
                         taut_error *error)
{
    *a = (taut_anderson){.n = n, .depth = depth};
    for (int k = 0; k < depth; k++)
        TAUT_TRY(TAUT_RESERVE(arena, n, error, &a->dx[k], &a->df[k], &a->basis[k]));
    return TAUT_RESERVE(arena, n, error, &a->x, &a->f);
}

void taut_anderson_clear(taut_anderson *a)
{
    a->count = 0;
    a->started = false;
}

/* The differences from the latest pair become the newest ones. */
static void keep(taut_anderson *a, const double *x, const double *f)
{
    if (a->started && a->depth > 0) {
        int last = a->count < a->depth ? a->count++ : a->depth - 1;
        double *dx = a->dx[last], *df = a->df[last];
        memmove(a->dx + 1, a->dx, (size_t)last * sizeof *a->dx);
        memmove(a->df + 1, a->df, (size_t)last * sizeof *a->df);
        for (taut_index i = 0; i < a->n; i++) {
            dx[i] = x[i] - a->x[i];
            df[i] = f[i] - a->f[i];
        }
        a->dx[0] = dx;
        a->df[0] = df;
        if (a->least > 0 && !(taut_norm(a->n, df) > a->least)) { /* the places of last change */
            a->count--;
            memmove(a->dx, a->dx + 1, (size_t)last * sizeof *a->dx);
            memmove(a->df, a->df + 1, (size_t)last * sizeof *a->df);
            a->dx[last] = dx;
            a->df[last] = df;
        }
    }
    taut_copy(a->n, x, a->x);
    taut_copy(a->n, f, a->f);
    a->started = true;
}

/* gamma[] of the differences that are independent; returns how many, from the newest on. r is
 * upper triangular. */
static int solve(taut_anderson *a, double *gamma)
{
    double r[TAUT_ANDERSON_DEPTH][TAUT_ANDERSON_DEPTH] = {{0}};
    int used = 0;
    for (; used < a->count; used++) {
        double *column = a->basis[used];
        taut_copy(a->n, a->df[used], column);
        double before = taut_norm(a->n, column);
        for (int k = 0; k < used; k++) {
            r[k][used] = taut_dot(a->n, a->basis[k], column);
            for (taut_index i = 0; i < a->n; i++)
                column[i] -= r[k][used] * a->basis[k][i];
        }
        double left = taut_norm(a->n, column);
        if (!(left > dependent * before))
            break;
        for (taut_index i = 0; i < a->n; i++)
            column[i] /= left;
        r[used][used] = left;
    }
    for (int k = used - 1; k >= 0; k--) {
        gamma[k] = taut_dot(a->n, a->basis[k], a->f);
        for (int j = k + 1; j < used; j++)
            gamma[k] -= r[k][j] * gamma[j];
        gamma[k] /= r[k][k];
    }
    return used;
}

void taut_anderson_next(taut_anderson *a, const double *x, const double *f, double *next)
{
    double gamma[TAUT_ANDERSON_DEPTH];
    keep(a, x, f);
    int used = solve(a, gamma);
    for (taut_index i = 0; i < a->n; i++)
        next[i] = a->x[i] + a->f[i];
    for (int k = 0; k < used; k++)
        for (taut_index i = 0; i < a->n; i++)
            next[i] -= gamma[k] * (a->dx[k][i] + a->df[k][i]);
}
