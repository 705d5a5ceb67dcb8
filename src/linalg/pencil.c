/* pencil.c - extreme eigenvalues of V x = lambda B x by spectral transformations, so that
 * Lanczos iterations see separated values:
 *
 *     either end:
 *     theta = 1/(lambda - sigma), sigma just outside the spectrum and approaching it
 *     smallest, V singular:
 *     theta = lambda/(lambda + tau)^2, O = (V + tau B)^-1 V (V + tau B)^-1 B
 *
 * The ends of a long chain's spectrum are so dense (gaps of N^-2) that Lanczos on V itself would
 * take thousands of steps; each round of the first transformation brings sigma closer by a
 * factor, and with it separates the end. The second transformation sends zero eigenvalues to
 * zero instead of infinity; it is monotone for lambda > tau.
 *
 * Where a factorisation shows by its success that the shift lies outside the spectrum, a single
 * end is found by bisection instead.
 *
 * The shift-and-invert Lanczos method: T. Ericsson, A. Ruhe, Math. Comp. 35 (1980) 1251-1268. */
#include "linalg/pencil.h"

#include <math.h>

enum { ROUNDS = 30, RESTARTS = 12, FEW_RESTARTS = 1, MANY_RESTARTS = 60 };
static const double coarse = 0.03; /* residual of theta in a round; theta itself is far better */
static const double approach = 40; /* what a round gains */
/* last distance of sigma, relative: errors are at most `coarse` of it */
static const double goal = 5e-5;
static const double fine = 1e-7;      /* residual of theta where separation is good */
static const double tau_ratio = 1e-6; /* tau, relative to the largest */

/* theta -> lambda. *nearest to the end of the spectrum on `side`, *farthest from it; false when
 * some lambda lies beyond sigma. */
static bool back(int side, int count, double sigma, double *value, double *nearest,
                 double *farthest)
{
    bool good = true;
    *nearest = *farthest = NAN;
    for (int k = 0; k < count; k++) {
        good = good && side * value[k] <= 0;
        value[k] = value[k] != 0 ? sigma + 1 / value[k] : 0;
        if (k == 0 || side * value[k] > side * *nearest)
            *nearest = value[k];
        if (k == 0 || side * value[k] < side * *farthest)
            *farthest = value[k];
    }
    return good;
}

/* The `count` eigenvalues at the upper (side 1) or lower (side -1) end, of which `end` is an
 * estimate from inside. */
static int close_in(const taut_pencil *pencil, int side, double end, int count, double *value,
                    const taut_allocator *allocator, taut_error *error)
{
    taut_operator inverse = {pencil->n, pencil->solve, pencil->inner, pencil->user};
    double distance = 0.05 * end, nearest = end, farthest;
    for (int round = 0; round < ROUNDS; round++) {
        double sigma = nearest + side * distance;
        int status = pencil->prepare(pencil->user, -sigma, -side, error);
        bool good = status != TAUT_ERROR_SINGULAR;
        if (good) {
            TAUT_TRY(status);
            TAUT_TRY(
                taut_extreme(&inverse, count, coarse, RESTARTS, value, NULL, allocator, error));
            good = back(side, count, sigma, value, &nearest, &farthest);
        }
        if (!good) { /* sigma was inside the spectrum */
            distance *= 3;
            continue;
        }
        distance = fabs(sigma - nearest);
        if (distance > goal * fabs(nearest)) {
            distance /= approach;
            continue;
        }
        /* values far from sigma need a smaller residual, and converge the faster for it */
        double tolerance = coarse * goal * fabs(nearest) / fabs(sigma - farthest);
        if (count > 1 && tolerance < coarse) {
            TAUT_TRY(taut_extreme(&inverse, count, tolerance, MANY_RESTARTS, value, NULL, allocator,
                                  error));
            back(side, count, sigma, value, &nearest, &farthest);
        }
        return 0;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE, "the %s frequencies did not converge",
                     side > 0 ? "largest" : "smallest");
}

/* The last eigenvalue on `side`, where factorisations prove which shifts lie outside: bisection.
 * `end` is an estimate from inside. */
static int bisect(const taut_pencil *pencil, int side, double end, double *value, taut_error *error)
{
    double inside = end, outside = end, distance = 0.05 * end;
    for (bool found = false; !found; distance *= 3) {
        outside = fmax(inside + side * distance, 0);
        int status = pencil->prepare(pencil->user, -outside, -side, error);
        if (status && (status != TAUT_ERROR_SINGULAR || outside == 0 || !isfinite(outside)))
            return status;
        found = status == 0;
        inside = found ? inside : outside;
    }
    while (fabs(outside - inside) > 2 * fine * fabs(inside)) {
        double middle = (inside + outside) / 2;
        int status = pencil->prepare(pencil->user, -middle, -side, error);
        if (status && status != TAUT_ERROR_SINGULAR)
            return status;
        *(status ? &inside : &outside) = middle;
    }
    *value = (inside + outside) / 2;
    return 0;
}

static int find_end(const taut_pencil *pencil, int side, double end, int count, double *value,
                    const taut_allocator *allocator, taut_error *error)
{
    return count == 1 && pencil->proves
               ? bisect(pencil, side, end, value, error)
               : close_in(pencil, side, end, count, value, allocator, error);
}

int taut_pencil_largest(const taut_pencil *pencil, int count, double *value,
                        const taut_allocator *allocator, taut_error *error)
{
    taut_operator forward = {pencil->n, pencil->forward, pencil->inner, pencil->user};
    double most;
    TAUT_TRY(taut_extreme(&forward, 1, coarse, RESTARTS, &most, NULL, allocator, error));
    for (int k = 0; k < count; k++)
        value[k] = 0;
    return most > 0 ? find_end(pencil, 1, most, count, value, allocator, error) : 0;
}

int taut_pencil_smallest(const taut_pencil *pencil, int count, double *value, bool *regular,
                         const taut_allocator *allocator, taut_error *error)
{
    taut_operator inverse = {pencil->n, pencil->solve, pencil->inner, pencil->user};
    int status = pencil->prepare(pencil->user, 0, 1, error);
    double nearest, farthest;
    bool converged;
    *regular = status != TAUT_ERROR_SINGULAR;
    if (!*regular)
        return 0;
    TAUT_TRY(status);
    TAUT_TRY(
        taut_extreme(&inverse, count, fine, FEW_RESTARTS, value, &converged, allocator, error));
    *regular = back(-1, count, 0, value, &nearest, &farthest);
    /* a straight chain's lowest modes are well apart; those of a bent one are dense, like its
     * highest */
    return *regular && !converged ? find_end(pencil, -1, nearest, count, value, allocator, error)
                                  : 0;
}

typedef struct positive_part {
    const taut_pencil *pencil;
    double *middle; /* [n] */
} positive_part;

static int apply_positive_part(void *user, const double *x, double *y, taut_error *error)
{
    positive_part *part = user;
    const taut_pencil *pencil = part->pencil;
    TAUT_TRY(pencil->solve(pencil->user, x, y, error));
    TAUT_TRY(pencil->forward(pencil->user, y, part->middle, error));
    return pencil->solve(pencil->user, part->middle, y, error);
}

static int apply_inner(void *user, const double *x, double *y, taut_error *error)
{
    const taut_pencil *pencil = ((positive_part *)user)->pencil;
    return pencil->inner(pencil->user, x, y, error);
}

int taut_pencil_smallest_positive(const taut_pencil *pencil, double largest, int count,
                                  double *value, const taut_allocator *allocator, taut_error *error)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    positive_part part = {pencil, TAUT_NEW(&arena, double, pencil->n)};
    taut_operator op = {pencil->n, apply_positive_part, pencil->inner ? apply_inner : NULL, &part};
    double tau = tau_ratio * largest;
    int status =
        part.middle ? pencil->prepare(pencil->user, tau, 1, error) : taut_fail_memory(error);
    if (status == 0)
        status = taut_extreme(&op, count, fine, MANY_RESTARTS, value, NULL, allocator, error);
    for (int k = 0; k < count && status == 0; k++) {
        /* theta (lambda + tau)^2 = lambda, the larger root */
        double root = 1 - 4 * value[k] * tau;
        value[k] =
            value[k] > 0 ? (1 - 2 * value[k] * tau + sqrt(fmax(root, 0))) / (2 * value[k]) : 0;
    }
    taut_arena_clear(&arena);
    return status;
}
