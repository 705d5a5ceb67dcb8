/* pencil.c - extreme eigenvalues of V x = lambda B x by spectral transformations, so that Lanczos iterations see separated values:
 *
 *     largest:           theta = 1/(lambda - sigma), sigma just above the largest and approaching it
 *     smallest:          theta = 1/lambda
 *     smallest, V singular:  theta = lambda/(lambda + tau)^2, O = (V + tau B)^-1 V (V + tau B)^-1 B
 *
 * The upper end of a long chain's spectrum is so dense (gaps of N^-2) that Lanczos on V itself would take thousands of steps; each round
 * of the first transformation brings sigma closer by a factor, and with it separates the end. The last transformation sends zero
 * eigenvalues to zero instead of infinity; it is monotone for lambda > tau.
 *
 * The shift-and-invert Lanczos method: T. Ericsson, A. Ruhe, Math. Comp. 35 (1980) 1251-1268. */
#include "linalg/pencil.h"

#include <math.h>

enum { ROUNDS = 20, RESTARTS = 12, SMALL_RESTARTS = 60 };
static const double coarse = 0.03; /* residual of theta in a round; theta itself is far better */
static const double approach = 20; /* what a round gains */
static const double goal = 3e-6;   /* last distance of sigma, relative: errors are `coarse` of it */
static const double fine = 1e-9;   /* residual of theta where separation is good */
static const double shift = 1e-6;  /* tau, relative to the largest */

/* theta -> lambda. *most is the largest; *least the smallest; false when an eigenvalue lies above sigma. */
static bool back(int count, double sigma, double *value, double *least, double *most)
{
    bool below = true;
    *most = -HUGE_VAL;
    *least = HUGE_VAL;
    for (int k = 0; k < count; k++) {
        below = below && value[k] <= 0;
        value[k] = value[k] != 0 ? sigma + 1 / value[k] : 0;
        *most = fmax(*most, value[k]);
        *least = fmin(*least, value[k]);
    }
    return below;
}

int taut_pencil_largest(const taut_pencil *pencil, int count, double *value, const taut_allocator *allocator, taut_error *error)
{
    taut_operator forward = {pencil->n, pencil->forward, pencil->inner, pencil->user};
    taut_operator inverse = {pencil->n, pencil->solve, pencil->inner, pencil->user};
    double most, least, margin = 0.05;
    TAUT_TRY(taut_extreme(&forward, 1, coarse, RESTARTS, &most, allocator, error));
    for (int k = 0; k < count; k++)
        value[k] = 0;
    if (!(most > 0))
        return 0;
    double sigma = most * (1 + margin);
    for (int round = 0; round < ROUNDS; round++) {
        TAUT_TRY(pencil->prepare(pencil->user, -sigma, error));
        TAUT_TRY(taut_extreme(&inverse, count, coarse, RESTARTS, value, allocator, error));
        if (!back(count, sigma, value, &least, &most)) { /* sigma was below an eigenvalue after all */
            margin *= 2;
            sigma = most * (1 + margin);
            continue;
        }
        double distance = sigma - most;
        if (distance > goal * sigma) {
            margin = distance / approach / most;
            sigma = most + distance / approach;
            continue;
        }
        /* values far from sigma need a smaller residual, and converge the faster for it */
        double tolerance = coarse * goal * sigma / (sigma - least);
        if (count > 1 && tolerance < coarse) {
            TAUT_TRY(taut_extreme(&inverse, count, tolerance, SMALL_RESTARTS, value, allocator, error));
            back(count, sigma, value, &least, &most);
        }
        return 0;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE, "the largest frequencies did not converge");
}

int taut_pencil_smallest(const taut_pencil *pencil, int count, double *value, bool *regular, const taut_allocator *allocator,
                         taut_error *error)
{
    taut_operator inverse = {pencil->n, pencil->solve, pencil->inner, pencil->user};
    int status = pencil->prepare(pencil->user, 0, error);
    *regular = status != TAUT_ERROR_SINGULAR;
    if (!*regular)
        return 0;
    TAUT_TRY(status);
    TAUT_TRY(taut_extreme(&inverse, count, fine, SMALL_RESTARTS, value, allocator, error));
    for (int k = 0; k < count; k++)
        value[k] = 1 / value[k];
    return 0;
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

int taut_pencil_smallest_positive(const taut_pencil *pencil, double largest, int count, double *value,
                                  const taut_allocator *allocator, taut_error *error)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    positive_part part = {pencil, TAUT_NEW(&arena, double, pencil->n)};
    taut_operator op = {pencil->n, apply_positive_part, pencil->inner ? apply_inner : NULL, &part};
    double tau = shift * largest;
    int status = part.middle ? pencil->prepare(pencil->user, tau, error) : taut_fail_memory(error);
    if (status == 0)
        status = taut_extreme(&op, count, fine, SMALL_RESTARTS, value, allocator, error);
    for (int k = 0; k < count && status == 0; k++) {
        /* theta (lambda + tau)^2 = lambda, the larger root */
        double root = 1 - 4 * value[k] * tau;
        value[k] = value[k] > 0 ? (1 - 2 * value[k] * tau + sqrt(fmax(root, 0))) / (2 * value[k]) : 0;
    }
    taut_arena_clear(&arena);
    return status;
}
