/* spectrum_potential.c - frequencies of a stiff potential: the nonzero eigenvalues of V x =
 * lambda M x on G x = 0  [docs/theory.md].
 *
 * Small: H = M^-1/2 V M^-1/2, made dense, and P H P with the orthogonal projector P onto the
 * null space of G M^-1/2; the directions that P removes only add zeros. Large: the pencil (V, M)
 * with saddle solves that keep G x = 0. */
#include "linalg/pencil.h"

#include <math.h>

static const double zero_mode = 1e-8;  /* of the largest Omega^2 */
static const double dependent = 1e-10; /* remainder of a unit row of G that counts as zero */

typedef struct potential {
    taut_arena arena;
    taut_saddle_shape shape; /* of M and G */
    const double *mass, *g, *hessian;
    const taut_index *h_start, *h_column;
    taut_saddle_shape shifted;        /* of V + shift M and G */
    taut_index *mass_at, *hessian_at; /* places in the pattern of the sum */
    double *sum;                      /* V + shift M */
    taut_saddle *mass_saddle, *sum_saddle;
    double *y; /* [m] */
} potential;

static void multiply(taut_index n, const taut_index *start, const taut_index *column,
                     const double *a, const double *x, double *y)
{
    for (taut_index i = 0; i < n; i++) {
        double sum = 0;
        for (taut_index e = start ? start[i] : i; e < (start ? start[i + 1] : i + 1); e++)
            sum += a[e] * x[start ? column[e] : i];
        y[i] = sum;
    }
}

/* root = M^-1/2, dense. */
static int inverse_root_of_mass(potential *work, double *root, taut_error *error)
{
    const taut_saddle_shape *shape = &work->shape;
    const int n = shape->n;
    double *a = TAUT_NEW(&work->arena, double, (int64_t)n *n),
           *value = TAUT_NEW(&work->arena, double, n);
    TAUT_TRY(taut_arena_check(&work->arena, error));
    for (taut_index i = 0; i < n; i++)
        for (taut_index e = shape->k_start ? shape->k_start[i] : i;
             e < (shape->k_start ? shape->k_start[i + 1] : i + 1); e++)
            a[(int64_t)i * n + (shape->k_start ? shape->k_column[e] : i)] += work->mass[e];
    TAUT_TRY(taut_eigen_symmetric(n, a, value, error, &work->arena.allocator));
    for (int k = 0; k < n; k++) {
        if (!(value[k] > 0))
            return taut_fail(
                error, TAUT_ERROR_REFUSED,
                "frequencies of a stiff potential need a positive definite mass matrix");
        double scale = 1 / sqrt(value[k]), *u = a + (int64_t)k * n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && u[i] != 0; j++)
                root[(int64_t)i * n + j] += scale * u[i] * u[j];
    }
    return 0;
}

/* Removes from both sides of h the space spanned by the unit vector q: h <- (I - q q^T) h (I - q
 * q^T). */
static void project_out(int n, const double *q, double *h, double *image)
{
    double both = 0;
    for (int i = 0; i < n; i++) {
        image[i] = 0;
        for (int j = 0; j < n; j++)
            image[i] += h[(int64_t)i * n + j] * q[j];
        both += q[i] * image[i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            h[(int64_t)i * n + j] += q[i] * (both * q[j] - image[j]) - image[i] * q[j];
}

/* The rows of G M^-1/2, orthonormal one after the other, are projected out of h. */
static int project_rods(potential *work, const double *root, double *h, taut_error *error)
{
    const int n = work->shape.n;
    const taut_index m = work->shape.m;
    double *basis = TAUT_NEW(&work->arena, double, (int64_t)(m < n ? m : n) * n + n),
           *image = TAUT_NEW(&work->arena, double, n);
    int rank = 0;
    TAUT_TRY(taut_arena_check(&work->arena, error));
    for (taut_index i = 0; i < m && rank < n; i++) {
        double *q = basis + (int64_t)rank * n, length = 0, left = 0;
        for (int j = 0; j < n; j++)
            q[j] = 0;
        for (taut_index e = work->shape.g_start[i]; e < work->shape.g_start[i + 1]; e++)
            for (int j = 0; j < n; j++)
                q[j] += work->g[e] * root[(int64_t)work->shape.g_column[e] * n + j];
        for (int j = 0; j < n; j++)
            length += q[j] * q[j];
        for (int k = 0; k < 2 * rank; k++) { /* Gram-Schmidt, twice */
            const double *other = basis + (int64_t)(k % rank) * n;
            double product = 0;
            for (int j = 0; j < n; j++)
                product += other[j] * q[j];
            for (int j = 0; j < n; j++)
                q[j] -= product * other[j];
        }
        for (int j = 0; j < n; j++)
            left += q[j] * q[j];
        if (!(left > dependent * dependent * length))
            continue;
        for (int j = 0; j < n; j++)
            q[j] /= sqrt(left);
        project_out(n, q, h, image);
        rank++;
    }
    return 0;
}

static int dense_potential(potential *work, int count, double *frequency, taut_spectrum *spectrum,
                           taut_error *error)
{
    const int n = work->shape.n;
    double *root, *half, *h, *value;
    int zeros = 0;
    TAUT_TRY(TAUT_RESERVE(&work->arena, (int64_t)n * n, error, &root, &half, &h));
    TAUT_TRY(TAUT_RESERVE(&work->arena, n, error, &value));
    TAUT_TRY(inverse_root_of_mass(work, root, error));
    for (int k = 0; k < n; k++) /* root is symmetric: half = root V by rows, h = half root */
        multiply(n, work->h_start, work->h_column, work->hessian, root + (int64_t)k * n,
                 half + (int64_t)k * n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n && half[(int64_t)i * n + k] != 0; j++)
                h[(int64_t)i * n + j] += half[(int64_t)i * n + k] * root[(int64_t)k * n + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            h[(int64_t)i * n + j] = h[(int64_t)j * n + i] =
                (h[(int64_t)i * n + j] + h[(int64_t)j * n + i]) / 2;
    TAUT_TRY(project_rods(work, root, h, error));
    TAUT_TRY(taut_eigen_symmetric(n, h, value, error, &work->arena.allocator));
    double largest = n ? fmax(fabs(value[0]), fabs(value[n - 1])) : 0;
    while (zeros < n && !(value[zeros] > zero_mode * largest))
        zeros++;
    taut_spectrum_fill(n - zeros, value + zeros, count, frequency, spectrum);
    return 0;
}

/* The pattern of V + shift M: rows of both, columns once. */
static int join_patterns(potential *work, taut_error *error)
{
    const taut_saddle_shape *shape = &work->shape;
    const taut_index n = shape->n;
    int64_t most = (int64_t)work->h_start[n] + (shape->k_start ? shape->k_start[n] : n);
    if (most > INT32_MAX)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "the Hessian of the stiff potential has too many entries");
    taut_index *start = TAUT_NEW(&work->arena, taut_index, (int64_t)n + 1),
               *column = TAUT_NEW(&work->arena, taut_index, most);
    /* 1 + the place of a column in the present row, when in it */
    taut_index *seen = TAUT_NEW(&work->arena, taut_index, n);
    work->mass_at = TAUT_NEW(&work->arena, taut_index, shape->k_start ? shape->k_start[n] : n);
    work->hessian_at = TAUT_NEW(&work->arena, taut_index, work->h_start[n]);
    TAUT_TRY(taut_arena_check(&work->arena, error));
    taut_index count = 0;
    for (taut_index i = 0; i < n; i++) {
        for (taut_index e = work->h_start[i]; e < work->h_start[i + 1]; e++) {
            taut_index j = work->h_column[e];
            if (seen[j] <= start[i])
                column[count] = j, seen[j] = ++count;
            work->hessian_at[e] = seen[j] - 1;
        }
        for (taut_index e = shape->k_start ? shape->k_start[i] : i;
             e < (shape->k_start ? shape->k_start[i + 1] : i + 1); e++) {
            taut_index j = shape->k_start ? shape->k_column[e] : i;
            if (seen[j] <= start[i])
                column[count] = j, seen[j] = ++count;
            work->mass_at[e] = seen[j] - 1;
        }
        start[i + 1] = count;
    }
    work->shifted = *shape;
    work->shifted.k_start = start;
    work->shifted.k_column = column;
    work->shifted.positive = false;
    work->sum = TAUT_NEW(&work->arena, double, count);
    return taut_arena_check(&work->arena, error);
}

static int inner(void *user, const double *x, double *y, taut_error *error)
{
    potential *work = user;
    (void)error;
    multiply(work->shape.n, work->shape.k_start, work->shape.k_column, work->mass, x, y);
    return 0;
}

/* Solves in place with G y = 0. */
static int constrained_solve(potential *work, taut_saddle *saddle, double *y, taut_error *error)
{
    for (taut_index i = 0; i < work->shape.m; i++)
        work->y[i] = 0;
    return taut_saddle_solve(saddle, 1, y, work->y, error);
}

static int forward(void *user, const double *x, double *y, taut_error *error)
{
    potential *work = user;
    multiply(work->shape.n, work->h_start, work->h_column, work->hessian, x, y);
    return constrained_solve(work, work->mass_saddle, y, error);
}

static int prepare(void *user, double shift, int sign, taut_error *error)
{
    potential *work = user;
    (void)sign; /* the whole saddle matrix is indefinite anyway */
    const taut_index n = work->shape.n;
    for (taut_index e = 0; e < work->shifted.k_start[n]; e++)
        work->sum[e] = 0;
    for (taut_index e = 0; e < work->h_start[n]; e++)
        work->sum[work->hessian_at[e]] += work->hessian[e];
    for (taut_index e = 0; e < (work->shape.k_start ? work->shape.k_start[n] : n); e++)
        work->sum[work->mass_at[e]] += shift * work->mass[e];
    return taut_saddle_factor(work->sum_saddle, work->sum, work->g, NULL, NULL, error);
}

static int solve(void *user, const double *x, double *y, taut_error *error)
{
    potential *work = user;
    TAUT_TRY(inner(work, x, y, error));
    return constrained_solve(work, work->sum_saddle, y, error);
}

/* Eigenvalues from both ends, of which those below `zero_mode` belong to directions without
 * stiffness; where the upper end reaches them it has all modes, and the lower one repeats them. */
static void take_ends(int count, double largest, double *least, double *most, double *frequency,
                      taut_spectrum *spectrum)
{
    int modes = 0;
    for (int k = 0; k < count; k++)
        modes += most[k] > zero_mode * largest;
    taut_spectrum_fill_ends(count, least, most, frequency, spectrum);
    spectrum->modes = -1;
    if (modes < count) /* `most` ascends now */
        taut_spectrum_fill(modes, most + count - modes, count, frequency, spectrum);
}

static int large_potential(potential *work, int count, double *frequency, taut_spectrum *spectrum,
                           taut_error *error)
{
    const taut_allocator *allocator = &work->arena.allocator;
    taut_pencil pencil = {work->shape.n, forward, inner, prepare, solve, work, false};
    double *least, *most;
    TAUT_TRY(TAUT_RESERVE(&work->arena, count, error, &least, &most));
    TAUT_TRY(TAUT_RESERVE(&work->arena, work->shape.m, error, &work->y));
    TAUT_TRY(join_patterns(work, error));
    TAUT_TRY(
        taut_saddle_create(&work->shape, TAUT_BACKEND_AUTO, allocator, &work->mass_saddle, error));
    TAUT_TRY(
        taut_saddle_create(&work->shifted, TAUT_BACKEND_AUTO, allocator, &work->sum_saddle, error));
    TAUT_TRY(taut_saddle_factor(work->mass_saddle, work->mass, work->g, NULL, NULL, error));
    TAUT_TRY(taut_pencil_largest(&pencil, count, most, allocator, error));
    double largest = most[0];
    for (int k = 1; k < count; k++)
        largest = fmax(largest, most[k]);
    if (largest > 0)
        TAUT_TRY(taut_pencil_smallest_positive(&pencil, largest, count, least, allocator, error));
    take_ends(count, largest, least, most, frequency, spectrum);
    return 0;
}

int taut_spectrum_potential(const taut_saddle_shape *shape, const double *mass, const double *g,
                            const taut_index *h_start, const taut_index *h_column,
                            const double *hessian, int count, double *frequency,
                            taut_spectrum *spectrum, const taut_allocator *allocator,
                            taut_error *error)
{
    potential work = {.shape = *shape,
                      .mass = mass,
                      .g = g,
                      .hessian = hessian,
                      .h_start = h_start,
                      .h_column = h_column};
    *spectrum = (taut_spectrum){.complete = true};
    if (count < 1)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "at least one frequency must be asked for, not %d", count);
    work.shape.complex_values = false;
    work.shape.symmetric = true;
    bool dense = shape->n <= TAUT_SPECTRUM_DENSE || count > shape->n / 8;
    if (dense && shape->n > TAUT_SPECTRUM_DENSE_LIMIT)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "all modes of %d coordinates are too many (at most %d): ask for fewer frequencies",
            shape->n, TAUT_SPECTRUM_DENSE_LIMIT);
    taut_arena_init(&work.arena, allocator);
    int status = dense ? dense_potential(&work, count, frequency, spectrum, error)
                       : large_potential(&work, count, frequency, spectrum, error);
    taut_saddle_destroy(work.mass_saddle);
    taut_saddle_destroy(work.sum_saddle);
    taut_arena_clear(&work.arena);
    return status;
}
