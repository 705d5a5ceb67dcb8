/* rates.c - the frequencies of a system whose stiffness is not declared, from differences of its forces.
 *
 *     K x = -(F(t, q + d x) - F(t, q))/d,      K x = Omega^2 M x,      sought by Lanczos' iteration in the inner product of M
 *
 * with full orthogonalisation [Parlett 1998, chapter 13], so that it ends after as many steps as there are different frequencies. K is
 * projected as a whole and made symmetric: what one-sided differences leave beside symmetry is noise. The displacement is sqrt(u) of
 * the size of the state, because a longer one stretches springs, and their pull looks like a frequency sqrt(d) Omega across them; a shorter
 * one drowns in rounding. Both noises are about 1e-4 of the fastest frequency: slower motion cannot be told from rest, and need not be. */
#include "slow/rates.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/spectrum.h"
#include "step/vectors.h"

enum { MOST_NUMBERS = 4000000, LEAST_STEPS = 16 }; /* in an array of vectors */

int taut_rates_create(taut_projection *p, taut_rates *r, taut_error *error)
{
    taut_arena *arena = &p->arena;
    taut_index n = p->sizes.coordinates;
    int64_t most = n < TAUT_RATES_MOST ? n : TAUT_RATES_MOST;
    if (most * n > MOST_NUMBERS)
        most = MOST_NUMBERS / n > LEAST_STEPS ? MOST_NUMBERS / n : LEAST_STEPS;
    *r = (taut_rates){.p = p, .n = n, .most = (int)most};
    r->base = TAUT_NEW(arena, double, n);
    r->force = TAUT_NEW(arena, double, n);
    r->here = TAUT_NEW(arena, double, n);
    r->x = TAUT_NEW(arena, double, most *n);
    r->mx = TAUT_NEW(arena, double, most *n);
    r->matrix = TAUT_NEW(arena, double, most *most);
    r->value = TAUT_NEW(arena, double, most);
    if (!r->base || !r->force || !r->here || !r->x || !r->mx || !r->matrix || !r->value)
        return taut_fail_memory(error);
    TAUT_TRY(taut_mechanics_create(&r->mechanics, p->context, arena, &p->statistics, 0, error));
    if (!r->mechanics.mass_start)
        return TAUT_OK;
    TAUT_TRY(taut_mechanics_saddle(&r->mechanics, false, true, &arena->allocator, &r->mass, error));
    return taut_mechanics_factor(&r->mechanics, r->mass, p->t, r->mechanics.mass, NULL, NULL, error);
}

void taut_rates_destroy(taut_rates *r)
{
    taut_saddle_destroy(r->mass);
    r->mass = NULL;
}

/* a <- M^-1 a */
static int divide(taut_rates *r, double *a, taut_error *error)
{
    if (r->mass)
        return taut_saddle_solve(r->mass, 1, a, NULL, error);
    for (taut_index i = 0; i < r->n; i++)
        a[i] /= r->mechanics.mass[i];
    return TAUT_OK;
}

int taut_rates_accelerate(taut_rates *r, double t, const double *q, const double *v, double *a, taut_error *error)
{
    TAUT_TRY(taut_mechanics_force(&r->mechanics, t, q, v, a, NULL, error));
    return divide(r, a, error);
}

static double inner(taut_index n, const double *a, const double *b)
{
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* x from M x, both divided by the norm of x, which is returned. */
static int normalise(taut_rates *r, double *x, double *mx, double *norm, taut_error *error)
{
    memcpy(x, mx, (size_t)r->n * sizeof(double));
    TAUT_TRY(divide(r, x, error));
    *norm = sqrt(inner(r->n, x, mx));
    for (taut_index i = 0; i<r->n && * norm> 0; i++) {
        x[i] /= *norm;
        mx[i] /= *norm;
    }
    return TAUT_OK;
}

/* Numbers in (-1, 1), always the same. */
static double scattered(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

/* force <- K x. Where the system cannot be evaluated on one side, the other one is taken. */
static int apply(taut_rates *r, const double *q, const double *v, double length, const double *x, taut_error *error)
{
    double d = length / fmax(taut_largest(r->n, x), DBL_MIN);
    int status = TAUT_OK;
    for (int side = 1; side >= -1; side -= 2, d = -d) {
        for (taut_index i = 0; i < r->n; i++)
            r->here[i] = q[i] + d * x[i];
        status = taut_mechanics_force(&r->mechanics, r->p->t, r->here, v, r->force, NULL, error);
        if (status == 0)
            break;
    }
    TAUT_TRY(status);
    taut_error_clear(error);
    for (taut_index i = 0; i < r->n; i++)
        r->force[i] = -(r->force[i] - r->base[i]) / d;
    return TAUT_OK;
}

/* Fills matrix[0..steps)[0..steps); *left is the norm of what the next vector would have been. */
static int iterate(taut_rates *r, const double *q, const double *v, double length, int *steps, double *left, taut_error *error)
{
    taut_index n = r->n;
    uint64_t seed = 3;
    double norm, largest = 0;
    for (taut_index i = 0; i < n; i++)
        r->mx[i] = scattered(&seed);
    TAUT_TRY(normalise(r, r->x, r->mx, &norm, error));
    for (int k = 0; k < r->most; k++) {
        TAUT_TRY(apply(r, q, v, length, r->x + (int64_t)k * n, error));
        for (int twice = 0; twice < 2; twice++)
            for (int j = 0; j <= k; j++) {
                double share = inner(n, r->x + (int64_t)j * n, r->force);
                for (taut_index i = 0; i < n; i++)
                    r->force[i] -= share * r->mx[(int64_t)j * n + i];
                r->matrix[j * r->most + k] = (twice ? r->matrix[j * r->most + k] : 0) + share;
                largest = fmax(largest, fabs(share));
            }
        *steps = k + 1;
        double *x = k + 1 < r->most ? r->x + (int64_t)(k + 1) * n : r->here;
        double *mx = k + 1 < r->most ? r->mx + (int64_t)(k + 1) * n : r->force;
        memmove(mx, r->force, (size_t)n * sizeof(double));
        TAUT_TRY(normalise(r, x, mx, left, error));
        if (k + 1 < r->most)
            r->matrix[(k + 1) * r->most + k] = *left;
        if (!(*left > 1e-6 * largest)) { /* nothing new but noise */
            *left = 0;
            break;
        }
    }
    if (*steps == n)
        *left = 0;
    return TAUT_OK;
}

/* Frequencies from the projected matrix, by size. The last entries of its vectors tell how good they are. */
static int solve(taut_rates *r, int steps, double left, taut_rates_seen *seen, taut_error *error)
{
    int most = r->most;
    for (int i = 0; i < steps; i++) /* packed: steps x steps, Lanczos' three diagonals made symmetric */
        for (int j = 0; j < steps; j++) {
            bool inside = i - j <= 1 && j - i <= 1;
            r->x[(int64_t)i * steps + j] = inside ? (r->matrix[i * most + j] + r->matrix[j * most + i]) / 2 : 0;
        }
    double *a = r->x;
    TAUT_TRY(taut_eigen_symmetric(steps, a, r->value, error, &r->p->arena.allocator));
    seen->count = 0;
    for (int low = 0, high = steps - 1; low <= high;) { /* by falling |Omega^2| */
        int k = fabs(r->value[low]) > fabs(r->value[high]) ? low++ : high--;
        int to = steps - 1 - seen->count++;
        seen->rate[to] = sqrt(fabs(r->value[k]));
        seen->repels[to] = r->value[k] < 0;
        seen->loose[to] = left * fabs(a[(int64_t)k * steps + steps - 1]) / fmax(seen->rate[to], DBL_MIN);
    }
    return TAUT_OK;
}

int taut_rates_see(taut_rates *r, const double *q, const double *v, taut_rates_seen *seen, taut_error *error)
{
    double size = taut_largest(r->n, q), length = size > 0 && size < 1 ? size : 1, left = 0;
    double relative = sqrt(DBL_EPSILON * fmax(size, length) / length);
    int steps = 0;
    memset(seen, 0, sizeof *seen);
    TAUT_TRY(taut_mechanics_force(&r->mechanics, r->p->t, q, v, r->base, NULL, error));
    TAUT_TRY(iterate(r, q, v, relative * length, &steps, &left, error));
    TAUT_TRY(solve(r, steps, left, seen, error));
    seen->complete = left == 0;
    /* rates that the motion itself has: what is slower than these is not fast, however large the gap below it */
    double still = 0, moves = 0;
    TAUT_TRY(divide(r, r->base, error));
    for (taut_index i = 0; i < r->n; i++) {
        still = fmax(still, fabs(r->base[i]));
        moves = fmax(moves, fabs(v[i]));
    }
    seen->floor =
        fmax(2 * sqrt(relative) * seen->rate[steps - 1], fmax(moves / fmax(size, DBL_MIN), sqrt(still / fmax(size, DBL_MIN))));
    if (!(size > 0))
        seen->floor = 2 * sqrt(relative) * seen->rate[steps - 1];
    return TAUT_OK;
}
