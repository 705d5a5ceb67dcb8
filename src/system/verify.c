/* verify.c - see verify.h. A directional derivative d/ds F(x + s w) is taken by central
 * differences at s, s/2, s/4, ... and extrapolated (Ridders 1982); each entry keeps the value
 * with the smallest estimated error. Points, directions and steps are made of so few binary
 * digits that x + s w is exact: in a chain of a million links the coordinates are 10^6 times as
 * large as the links, and rounding them would be the error of the differences. */
#include "base/random.h"
#include "base/vectors.h"
#include "system/verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/rows.h"
#include "system/pair_sums.h"
#include "system/rank_part.h"

/* First steps 2^FIRST_STEP, and a sixteenth of it, and so on; large systems have one. */
enum { LEVELS = 6, FIRST_STEP = -3, ONLY_STEP = -5 };

typedef struct verifier {
    taut_context *context;
    taut_arena arena;
    taut_error *error;
    const taut_sizes *sizes;
    taut_pattern jacobian, tangent, control;
    double t;
    double *q, *v; /* a point near the initial state, where nothing vanishes by symmetry */
    taut_index n, m, nv;
    taut_values values;        /* at the point, or where it is displaced to */
    double *matrix;            /* one matrix at a time: large systems have no room for all */
    double *dq, *dv, *shifted; /* directions; displaced positions or velocities */
    double *weight;            /* [m] */
    double *table[LEVELS];     /* differences, then extrapolations */
    double *best, *best_error, *floor, *exact, *work;
    double exact_size, state_ratio; /* largest |exact|; largest |q| over largest |dq| */
    int levels, starts;
    int exact_steps; /* displacements by 2^-k, k <= exact_steps, are free of rounding */
    taut_derivative_check *rows;
    int room, count;
} verifier;

/* One thing to differentiate: evaluates it at a displaced point into y[size]. */
typedef int (*probe)(verifier *w, double s, double *y);

static int allocate(verifier *w)
{
    int64_t tangent = w->tangent.start ? w->tangent.start[w->n] : 0,
            control = w->control.start ? w->control.start[w->n] : 0;
    int64_t longest = w->n > w->m ? w->n : w->m, matrix = tangent > control ? tangent : control;
    taut_arena *arena = &w->arena;
    TAUT_TRY(TAUT_RESERVE(arena, w->n, w->error, &w->q, &w->dq, &w->values.force));
    if (w->sizes->can & TAUT_HAS_STIFF_POTENTIAL)
        TAUT_TRY(TAUT_RESERVE(arena, w->n, w->error, &w->values.stiff_force));
    if (w->sizes->mass != TAUT_MASS_DIAGONAL)
        TAUT_TRY(TAUT_RESERVE(arena, w->n, w->error, &w->values.momentum));
    TAUT_TRY(TAUT_RESERVE(arena, w->nv, w->error, &w->v, &w->dv));
    TAUT_TRY(TAUT_RESERVE(arena, w->n > w->nv ? w->n : w->nv, w->error, &w->shifted));
    TAUT_TRY(TAUT_RESERVE(arena, w->m, w->error, &w->weight, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, w->sizes->jacobian_entries, w->error, &w->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, matrix, w->error, &w->matrix));
    for (int k = 0; k < w->levels; k++)
        TAUT_TRY(TAUT_RESERVE(arena, longest, w->error, &w->table[k]));
    return TAUT_RESERVE(arena, longest, w->error, &w->best, &w->best_error, &w->floor, &w->exact,
                        &w->work);
}

/* Random directions of the size of the state itself; mechanical states are measured by their
 * largest entry, at most 1. */
static void choose_directions(verifier *w, const double *q, const double *v)
{
    uint64_t seed = 12345;
    double largest = taut_largest(w->n, q);
    double unit = largest > 0 ? fmin(largest, 1) : 1;
    bool own = w->sizes->kind != TAUT_MECHANICAL;
    for (taut_index i = 0; i < w->n; i++) {
        double scale = own && q[i] != 0 ? fabs(q[i]) : unit;
        w->dq[i] = taut_random(&seed) * scale;
        w->q[i] = q[i] + 1e-3 * taut_random(&seed) * scale;
    }
    for (taut_index i = 0; i < w->nv; i++) {
        w->dv[i] = taut_random(&seed);
        w->v[i] = v[i] + 0.1 * taut_random(&seed);
    }
    for (taut_index i = 0; i < w->m; i++)
        w->weight[i] = 1 + 0.5 * taut_random(&seed);
}

/* to = x + s d */
static const double *shift(double *restrict to, const double *restrict x, double s,
                           const double *restrict d, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = x[i] + s * d[i];
    return to;
}

/* Over several ranks each verifies its part; sums alone are those of all. */
static taut_space *ranks(const verifier *w)
{
    return taut_context_space(w->context);
}

/* Evaluates at the point displaced along one of q, v, t. */
typedef enum axis { ALONG_Q, ALONG_V, ALONG_T } axis;

static int evaluate_moved(verifier *w, double s, axis along, unsigned wanted)
{
    const double *q = along == ALONG_Q ? shift(w->shifted, w->q, s, w->dq, w->n) : w->q;
    const double *v = along == ALONG_V ? shift(w->shifted, w->v, s, w->dv, w->nv) : w->v;
    return taut_evaluate_inside(w->context, along == ALONG_T ? w->t + s : w->t, q, v, wanted,
                                &w->values, w->error);
}

static void multiply_transposed(const taut_pattern *pattern, const double *entries, const double *x,
                                double *y)
{
    taut_clear(pattern->columns, y);
    taut_pattern_add_transposed(pattern, entries, 1, x, y);
}

/* ---- what is differenced */

static int probe_bond(verifier *w, double s, double *y)
{
    w->values.bond = y;
    return evaluate_moved(w, s, ALONG_Q, TAUT_WANT_BOND);
}

static int probe_bond_time(verifier *w, double s, double *y)
{
    w->values.bond = y;
    return evaluate_moved(w, s, ALONG_T, TAUT_WANT_BOND);
}

/* gdot = G v + g_t along q' = v, t' = 1: its derivative is gamma. */
static int probe_gdot(verifier *w, double s, double *y)
{
    shift(w->shifted, w->q, s, w->dq, w->n);
    TAUT_TRY(taut_evaluate_inside(w->context, w->t + s, w->shifted, w->dq, TAUT_WANT_JACOBIAN,
                                  &w->values, w->error));
    taut_pattern_times(&w->jacobian, w->values.jacobian, w->dq, y);
    for (taut_index i = 0; i < w->m; i++)
        y[i] += w->values.bond_dt[i];
    return 0;
}

static int probe_reaction(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, ALONG_Q, TAUT_WANT_JACOBIAN));
    multiply_transposed(&w->jacobian, w->values.jacobian, w->weight, y);
    return 0;
}

static int probe_force(verifier *w, double s, double *y)
{
    w->values.force = y;
    return evaluate_moved(w, s, ALONG_Q, TAUT_WANT_FORCE);
}

static int probe_force_velocity(verifier *w, double s, double *y)
{
    w->values.force = y;
    return evaluate_moved(w, s, ALONG_V, TAUT_WANT_FORCE);
}

static int probe_potential(verifier *w, double s, double *y)
{
    int status = evaluate_moved(w, s, ALONG_Q, TAUT_WANT_ENERGY);
    TAUT_TRY(taut_space_agree(ranks(w), status, w->error));
    y[0] = taut_space_sum(ranks(w), w->values.potential);
    return 0;
}

static int probe_stiff(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, ALONG_Q, TAUT_WANT_ENERGY));
    y[0] = w->values.stiff_energy;
    return 0;
}

static int probe_stiff_force(verifier *w, double s, double *y)
{
    w->values.stiff_force = y;
    TAUT_TRY(evaluate_moved(w, s, ALONG_Q, TAUT_WANT_STIFF_FORCE));
    for (taut_index i = 0; i < w->n; i++)
        y[i] = -y[i];
    return 0;
}

static int probe_kinetic(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, ALONG_V, TAUT_WANT_ENERGY));
    y[0] = w->values.kinetic;
    return 0;
}

static int probe_momentum(verifier *w, double s, double *y)
{
    w->values.momentum = y;
    return evaluate_moved(w, s, ALONG_V, TAUT_WANT_MOMENTUM);
}

static int probe_mass(verifier *w, double s, double *y)
{
    w->values.mass = w->matrix;
    TAUT_TRY(evaluate_moved(w, s, ALONG_Q, TAUT_WANT_MASS));
    taut_pattern_times(&w->tangent, w->matrix, w->dv, y);
    return 0;
}

/* ---- extrapolated differences */

static int difference(verifier *w, probe f, int64_t size, double h, double *y)
{
    TAUT_TRY(f(w, h, y));
    TAUT_TRY(f(w, -h, w->work));
    for (int64_t i = 0; i < size; i++)
        y[i] = (y[i] - w->work[i]) / (2 * h);
    return 0;
}

/* Neville on one entry through the column of differences; keeps the estimate that changed least. */
static void extrapolate(verifier *w, int64_t i, const double *noise, double *value,
                        double *uncertainty, double *floor)
{
    double column[LEVELS];
    *value = w->table[w->levels - 1][i];
    *uncertainty = INFINITY;
    int same = 0;
    while (same < w->levels && w->table[same][i] == *value)
        same++;
    /* constant, as many forces are: nothing changes below, and the least noise decides */
    if (same == w->levels && isfinite(*value)) {
        for (int k = 2; k < w->levels; k++)
            if (noise[k] < *uncertainty)
                *uncertainty = *floor = noise[k];
        return;
    }
    for (int k = 0; k < w->levels; k++) {
        double above = 0, factor = 4;
        for (int j = 0; j <= k; j++, factor *= 4) {
            double now = j == 0 ? w->table[k][i] : 0;
            if (j > 0)
                now = column[j - 1] + (column[j - 1] - above) / (factor / 4 - 1);
            double previous = j < k ? column[j] : 0;
            if (j > 1) { /* two differences may agree by chance; three almost never */
                double change = taut_larger(
                    noise[k], taut_larger(fabs(now - column[j - 1]), fabs(now - above)));
                if (change < *uncertainty) {
                    *uncertainty = change;
                    *floor = noise[k];
                    *value = now;
                }
            }
            column[j] = now;
            above = previous;
        }
    }
}

/* Rounding errors of what is differenced: of its own size, and of the state it is computed from
 * where that is rounded. Without this floor two differences may agree by chance, which among
 * many entries they do. */
static double rounding(const verifier *w, int64_t size, double step)
{
    const double state = step < ldexp(1, -w->exact_steps) ? w->state_ratio * w->exact_size : 0;
    return DBL_EPSILON * (taut_largest(size, w->work) + state);
}

/* One entry of the column that two extrapolations give: what remains of it between steps is
 * almost no truncation error. */
static double twice(const verifier *w, int64_t i, int k)
{
    const double a = w->table[k - 2][i], b = w->table[k - 1][i], c = w->table[k][i];
    const double ab = b + (b - a) / 3, bc = c + (c - b) / 3;
    return bc + (bc - ab) / 15;
}

/* The noise of what is differenced, times the smallest step, from how much twice() scatters at
 * the two smallest steps: expressions may cancel inside and be far less exact than their size
 * suggests. Two values agree by chance now and then, many do not, and a few at a kink must not
 * count for all: the geometric mean over the entries, to a factor of two. */
static double scatter(const verifier *w, int64_t size)
{
    const int last = w->levels - 1;
    int64_t sum = 0, count = 0;
    for (int64_t i = 0; i < size; i++) {
        const double middle = twice(w, i, last - 1);
        const double change =
            fabs(twice(w, i, last) - middle) + 2 * fabs(middle - twice(w, i, last - 2));
        int exponent;
        if (!(change > 0) || !isfinite(change))
            continue;
        frexp(change, &exponent);
        sum += exponent;
        count++;
    }
    return count ? ldexp(1, (int)(sum / count)) : 0;
}

/* From several first steps, because the right one differs between entries (a steep potential
 * and a flat one); a step that leaves the domain is omitted. */
static int differentiate(verifier *w, probe f, int64_t size)
{
    int good = 0;
    for (int64_t i = 0; i < size; i++)
        w->best_error[i] = INFINITY;
    double first = ldexp(1, w->starts > 1 ? FIRST_STEP : ONLY_STEP);
    for (int start = 0; start < (good ? w->starts : w->starts + 4); start++, first /= 16) {
        int status = 0;
        double step = first, noise[LEVELS];
        for (int k = 0; k < w->levels && status == 0; k++, step /= 2) {
            status = difference(w, f, size, step, w->table[k]);
            noise[k] = rounding(w, size, step) / step;
        }
        if (status == TAUT_ERROR_EVALUATE)
            continue;
        TAUT_TRY(status);
        good++;
        const double least = scatter(w, size);
        for (int k = 0; k < w->levels;
             k++) /* noise is the same at all steps, differences divide it by them */
            noise[k] = taut_larger(noise[k], ldexp(least, k + 1 - w->levels));
        for (int64_t i = 0; i < size; i++) {
            double value, uncertainty, floor = 0;
            extrapolate(w, i, noise, &value, &uncertainty, &floor);
            if (uncertainty < w->best_error[i]) {
                w->best_error[i] = uncertainty;
                w->best[i] = value;
                w->floor[i] = floor;
            }
        }
    }
    return good ? 0 : TAUT_ERROR_EVALUATE;
}

/* The largest deviation over the entries, its place in *at. What the differences cannot explain
 * comes before anything else. */
static void judge(const verifier *w, int64_t size, taut_derivative_check *row, int64_t *at)
{
    const double largest = taut_larger(w->exact_size, taut_largest(size, w->best));
    bool wrong = false;
    *at = 0;
    for (int64_t i = 0; i < size && largest > 0; i++) {
        /* entries far below the largest are judged against a hundredth of it */
        double off = fabs(w->exact[i] - w->best[i]),
               scale =
                   taut_larger(taut_larger(fabs(w->exact[i]), fabs(w->best[i])), 0.01 * largest);
        double deviation = isfinite(off) ? off / scale : INFINITY,
               uncertainty = (w->best_error[i] + 16 * w->floor[i]) / scale;
        if (!isfinite(uncertainty)) /* a value that is no number excuses nothing */
            uncertainty = 0;
        bool bad = !(deviation <= row->limit + uncertainty);
        if (bad == wrong ? deviation > row->deviation : bad) {
            wrong = bad;
            row->deviation = deviation;
            row->uncertainty = uncertainty;
            *at = i;
        }
    }
}

static int compare(verifier *w, const char *name, int derivative, probe f, int64_t size,
                   taut_item item)
{
    if (w->count == w->room || size == 0)
        return 0;
    w->exact_size = taut_largest(size, w->exact);
    TAUT_TRY(differentiate(w, f, size));
    taut_derivative_check *row = &w->rows[w->count++];
    *row = (taut_derivative_check){
        .name = name, .derivative = derivative, .limit = derivative == 1 ? 1e-8 : 1e-6};
    if (!(w->sizes->can & TAUT_CAN_DERIVATIVES)) /* differences of differences (differences.c) */
        row->limit *= 100;
    int64_t at;
    judge(w, size, row, &at);
    if (size > 1)
        taut_system_name(w->context->system, item, (taut_index)at, row->where, sizeof row->where);
    return 0;
}

typedef struct product {
    const double *a, *b;
} product;

static double multiply(void *context, int64_t begin, int64_t end)
{
    const product *p = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += p->a[i] * p->b[i];
    return sum;
}

static double inner(const verifier *w, const double *a, const double *b)
{
    return taut_halo_sum(taut_context_halo(w->context), NULL, w->n, multiply, &(product){a, b});
}

/* exact = A x for a matrix A of the point, which `want` writes to *place. */
static int exact_product(verifier *w, unsigned want, double **place, const taut_pattern *pattern,
                         const double *x)
{
    if (taut_evaluates_products(w->context->system)) /* there, df/dv = 0 */
        return taut_evaluate_product(w->context, w->t, w->q, w->v, want, x, w->weight, w->exact,
                                     w->error);
    *place = w->matrix;
    TAUT_TRY(taut_evaluate_inside(w->context, w->t, w->q, w->v, want, &w->values, w->error));
    taut_pattern_times(pattern, w->matrix, x, w->exact);
    return 0;
}

static int verify_bonds(verifier *w)
{
    taut_pattern_times(&w->jacobian, w->values.jacobian, w->dq, w->exact);
    TAUT_TRY(compare(w, "G", 1, probe_bond, w->m, TAUT_BOND));
    if (w->sizes->can & TAUT_HAS_MOVING_BONDS) {
        taut_copy(w->m, w->values.bond_dt, w->exact);
        TAUT_TRY(compare(w, "dg/dt", 1, probe_bond_time, w->m, TAUT_BOND));
    }
    if (w->sizes->kind == TAUT_MECHANICAL) {
        w->values.gamma = w->exact;
        TAUT_TRY(taut_evaluate_inside(w->context, w->t, w->q, w->dq, TAUT_WANT_GAMMA, &w->values,
                                      w->error));
        TAUT_TRY(compare(w, "gamma", 2, probe_gdot, w->m, TAUT_BOND));
    }
    TAUT_TRY(exact_product(w, TAUT_WANT_BOND_HESSIAN, &w->values.bond_hessian, &w->tangent, w->dq));
    return compare(w, "Hess g", 2, probe_reaction, w->n, TAUT_COORDINATE);
}

static int verify_forces(verifier *w)
{
    bool mechanical = w->sizes->kind == TAUT_MECHANICAL;
    bool conservative = mechanical && !(w->sizes->can & (TAUT_HAS_FORCES | TAUT_HAS_KINETIC));
    if (conservative) {
        w->exact[0] = -inner(w, w->values.force, w->dq);
        TAUT_TRY(compare(w, "grad U", 1, probe_potential, 1, TAUT_COORDINATE));
    }
    if (taut_pair_sums_check(w->context->system, NULL) == 0) {
        TAUT_TRY(exact_product(w, TAUT_WANT_FORCE_DQ, &w->values.force_dq, &w->tangent, w->dq));
        TAUT_TRY(compare(w, "df/dq", conservative ? 2 : 1, probe_force, w->n, TAUT_COORDINATE));
    }
    if (!mechanical && w->nv == 0)
        return 0;
    TAUT_TRY(exact_product(w, TAUT_WANT_FORCE_DV, &w->values.force_dv,
                           mechanical ? &w->tangent : &w->control, w->dv));
    return compare(w, mechanical ? "df/dv" : "df/dy", 1, probe_force_velocity, w->n,
                   TAUT_COORDINATE);
}

static int verify_energies(verifier *w)
{
    if (w->sizes->can & TAUT_HAS_STIFF_POTENTIAL) {
        w->exact[0] = -inner(w, w->values.stiff_force, w->dq);
        TAUT_TRY(compare(w, "grad V", 1, probe_stiff, 1, TAUT_COORDINATE));
        TAUT_TRY(exact_product(w, TAUT_WANT_STIFF_HESSIAN, &w->values.stiff_hessian, &w->tangent,
                               w->dq));
        TAUT_TRY(compare(w, "Hess V", 2, probe_stiff_force, w->n, TAUT_COORDINATE));
    }
    if (w->sizes->mass == TAUT_MASS_DIAGONAL)
        return 0;
    w->exact[0] = inner(w, w->values.momentum, w->dv);
    TAUT_TRY(compare(w, "dT/dv", 1, probe_kinetic, 1, TAUT_COORDINATE));
    TAUT_TRY(exact_product(w, TAUT_WANT_MASS, &w->values.mass, &w->tangent, w->dv));
    TAUT_TRY(compare(w, "M", 2, probe_momentum, w->n, TAUT_COORDINATE));
    if (w->sizes->mass != TAUT_MASS_VARYING)
        return 0;
    TAUT_TRY(exact_product(w, TAUT_WANT_MASS_DQ, &w->values.mass_dq, &w->tangent, w->dq));
    return compare(w, "dM/dq", 2, probe_mass, w->n, TAUT_COORDINATE);
}

/* Bonds have a length of their own: directions are shortened until a tenth of them changes every
 * bond almost linearly. */
static int shorten_directions(verifier *w, const double *q)
{
    for (int tries = 0; tries < 20 && w->m && w->sizes->kind == TAUT_MECHANICAL; tries++) {
        double *forth = w->table[0], *back = w->table[1], *here = w->table[2], slope = 0, bend = 0;
        int status = probe_bond(w, 0.1, forth);
        if (status == 0)
            status = probe_bond(w, -0.1, back);
        if (status == 0)
            status = probe_bond(w, 0, here);
        status = taut_space_agree(ranks(w), status, w->error);
        if (status && status != TAUT_ERROR_EVALUATE)
            return status;
        for (taut_index i = 0; i < w->m && status == 0; i++) {
            slope = taut_larger(slope, fabs(forth[i] - back[i]));
            bend = taut_larger(bend, fabs(forth[i] - 2 * here[i] + back[i]));
        }
        slope = taut_space_largest(ranks(w), slope);
        bend = taut_space_largest(ranks(w), bend);
        if (status == 0 && bend <= 0.2 * slope)
            break;
        for (taut_index i = 0; i < w->n; i++) {
            w->dq[i] /= 4;
            w->q[i] = q[i] + (w->q[i] - q[i]) / 4;
        }
    }
    double direction = taut_largest(w->n, w->dq);
    w->state_ratio = direction > 0 ? taut_largest(w->n, w->q) / direction : 0;
    return 0;
}

/* Rounds x and d so that x + d 2^-k is exact for k <= digits. No entry of a direction becomes 0
 * by it. */
static void make_exact(double *x, double *d, int64_t count, int digits)
{
    for (int64_t i = 0; i < count; i++) {
        int exponent;
        frexp(fabs(x[i]) + fabs(d[i]), &exponent);
        const double grid = ldexp(1, exponent - 52), coarse = ldexp(grid, digits);
        if (!(grid >= DBL_MIN) || !isfinite(coarse)) /* numbers at the ends of what there is */
            continue;
        x[i] = rint(x[i] / grid) * grid;
        const double rounded = rint(d[i] / coarse) * coarse;
        d[i] = rounded != 0 || d[i] == 0 ? rounded : copysign(coarse, d[i]);
    }
}

static void make_all_exact(verifier *w)
{
    double one = 1;
    make_exact(w->q, w->dq, w->n, w->exact_steps);
    make_exact(w->v, w->dv, w->nv, w->exact_steps);
    make_exact(&w->t, &one, 1, w->exact_steps);
}

static int prepare(verifier *w, const double *q, const double *v)
{
    const taut_system *system = w->context->system;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, w->error));
    if (!taut_evaluates_products(w->context->system))
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, w->error));
    if (w->sizes->algebraic)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_CONTROL, &w->control, w->error));
    TAUT_TRY(allocate(w));
    choose_directions(w, q, v);
    double *const shared[] = {w->q, w->dq, w->v, w->dv};
    for (int k = 0; k < 4; k++)
        taut_halo_refresh(taut_context_halo(w->context), shared[k]);
    TAUT_TRY(shorten_directions(w, q));
    make_all_exact(w);
    w->values.bond_weight = w->weight;
    w->values.mass_weight = w->dv;
    w->values.bond = w->work;
    unsigned wanted = TAUT_WANT_FORCE;
    if (w->m)
        wanted |= TAUT_WANT_BOND | TAUT_WANT_JACOBIAN;
    if (w->values.momentum)
        wanted |= TAUT_WANT_MOMENTUM;
    if (w->values.stiff_force)
        wanted |= TAUT_WANT_STIFF_FORCE;
    int status = taut_evaluate_inside(w->context, w->t, w->q, w->v, wanted, &w->values, w->error);
    status = taut_space_agree(ranks(w), status, w->error);
    if (status != TAUT_ERROR_EVALUATE)
        return status;
    taut_copy(w->n, q, w->q); /* the point near the initial state is outside the domain */
    taut_copy(w->nv, v, w->v);
    make_all_exact(w);
    return taut_evaluate_inside(w->context, w->t, w->q, w->v, wanted, &w->values, w->error);
}

int taut_verify_derivatives(taut_context *context, double t, const double *q, const double *v,
                            taut_derivative_check *rows, int room, int *count, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    verifier w = {
        .context = context, .error = error, .sizes = sizes, .t = t, .rows = rows, .room = room};
    taut_arena_init(&w.arena, &context->arena.allocator);
    w.n = sizes->coordinates;
    w.m = sizes->bonds;
    w.nv = sizes->kind == TAUT_MECHANICAL ? w.n : sizes->algebraic;
    const bool large = taut_space_largest(ranks(&w), w.n) > 20000;
    w.levels = large ? 5 : LEVELS;
    w.starts = large ? 1 : 3;
    w.exact_steps = w.levels - 1 - (w.starts > 1 ? FIRST_STEP : ONLY_STEP) + 4 * (w.starts - 1);
    int status = prepare(&w, q, v);
    if (status == 0 && w.m)
        status = verify_bonds(&w);
    if (status == 0)
        status = verify_forces(&w);
    if (status == 0 && sizes->kind == TAUT_MECHANICAL)
        status = verify_energies(&w);
    status = taut_space_agree(ranks(&w), status, error);
    if (status == 0)
        status = taut_verify_join(w.context, w.rows, w.count, error);
    *count = w.count;
    taut_arena_clear(&w.arena);
    return status;
}
