/* verify.c - see verify.h. A directional derivative d/ds F(x + s w) is taken by central differences at s, s/2, s/4, ... and
 * extrapolated (Ridders 1982); each entry keeps the value with the smallest estimated error. */
#include "system/verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 6 };

typedef struct verifier {
    taut_context *context;
    taut_arena arena;
    taut_error *error;
    const taut_sizes *sizes;
    taut_pattern jacobian, tangent, control;
    double t;
    double *q, *v; /* the point: a little beside the start, where nothing vanishes by symmetry */
    taut_index n, m, nv;
    taut_values values;        /* everything at the point */
    double *dq, *dv, *q2, *v2; /* directions and displaced point */
    double *weight;            /* [m] */
    double *table[LEVELS];     /* differences, then extrapolations */
    double *best, *best_error, *floor, *exact, *work;
    taut_values moved; /* at displaced points */
    int levels, starts;
    taut_derivative_check *rows;
    int room, count;
} verifier;

/* One thing to differentiate: evaluates it at a displaced point into y[size]. */
typedef int (*probe)(verifier *w, double s, double *y);

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static int allocate(verifier *w)
{
    taut_arena *a = &w->arena;
    int64_t tangent = w->tangent.start ? w->tangent.start[w->n] : 0, control = w->control.start ? w->control.start[w->n] : 0;
    int64_t mass = w->sizes->mass == TAUT_MASS_DIAGONAL ? w->n : tangent, longest = w->n > w->m ? w->n : w->m;
    double **const arrays[] = {&w->values.force,
                               &w->values.stiff_force,
                               &w->values.momentum,
                               &w->moved.force,
                               &w->moved.stiff_force,
                               &w->moved.momentum,
                               &w->dq,
                               &w->q2,
                               &w->q};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        if (!(*arrays[k] = TAUT_NEW(a, double, w->n)))
            return taut_fail_memory(w->error);
    double **const rows[] = {&w->values.bond, &w->values.bond_dt, &w->values.gamma, &w->moved.bond, &w->moved.bond_dt, &w->weight};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (!(*rows[k] = TAUT_NEW(a, double, w->m)))
            return taut_fail_memory(w->error);
    double **const matrices[] = {&w->values.force_dq, &w->values.bond_hessian, &w->values.mass_dq, &w->values.stiff_hessian};
    for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++)
        if (!(*matrices[k] = TAUT_NEW(a, double, tangent)))
            return taut_fail_memory(w->error);
    w->values.force_dv = TAUT_NEW(a, double, w->sizes->kind == TAUT_MECHANICAL ? tangent : control);
    w->values.mass = TAUT_NEW(a, double, mass);
    w->moved.mass = TAUT_NEW(a, double, mass);
    w->values.jacobian = TAUT_NEW(a, double, w->sizes->jacobian_entries);
    w->moved.jacobian = TAUT_NEW(a, double, w->sizes->jacobian_entries);
    w->dv = TAUT_NEW(a, double, w->nv);
    w->v2 = TAUT_NEW(a, double, w->nv);
    w->v = TAUT_NEW(a, double, w->nv);
    if (!w->values.force_dv || !w->values.mass || !w->moved.mass || !w->values.jacobian || !w->moved.jacobian || !w->dv || !w->v2 ||
        !w->v)
        return taut_fail_memory(w->error);
    for (int k = 0; k < LEVELS; k++)
        if (!(w->table[k] = TAUT_NEW(a, double, longest)))
            return taut_fail_memory(w->error);
    w->best = TAUT_NEW(a, double, longest);
    w->best_error = TAUT_NEW(a, double, longest);
    w->floor = TAUT_NEW(a, double, longest);
    w->exact = TAUT_NEW(a, double, longest);
    w->work = TAUT_NEW(a, double, longest);
    return w->best && w->best_error && w->floor && w->exact && w->work ? 0 : taut_fail_memory(w->error);
}

/* Random directions of the size of the state itself; mechanical states are measured by their largest entry, at most 1. */
static void choose_directions(verifier *w, const double *q, const double *v)
{
    uint64_t seed = 12345;
    double largest = 0;
    for (taut_index i = 0; i < w->n; i++)
        largest = fmax(largest, fabs(q[i]));
    double unit = largest > 0 ? fmin(largest, 1) : 1;
    bool own = w->sizes->kind != TAUT_MECHANICAL;
    for (taut_index i = 0; i < w->n; i++) {
        double scale = own && q[i] != 0 ? fabs(q[i]) : unit;
        w->dq[i] = uniform(&seed) * scale;
        w->q[i] = q[i] + 1e-3 * uniform(&seed) * scale;
    }
    for (taut_index i = 0; i < w->nv; i++) {
        w->dv[i] = uniform(&seed);
        w->v[i] = v[i] + 0.1 * uniform(&seed);
    }
    for (taut_index i = 0; i < w->m; i++)
        w->weight[i] = 1 + 0.5 * uniform(&seed);
}

static int evaluate_moved(verifier *w, double s, double along_q, double along_v, double along_t, unsigned wanted)
{
    for (taut_index i = 0; i < w->n; i++)
        w->q2[i] = w->q[i] + along_q * s * w->dq[i];
    for (taut_index i = 0; i < w->nv; i++)
        w->v2[i] = w->v[i] + along_v * s * w->dv[i];
    return taut_evaluate(w->context, w->t + along_t * s, w->q2, w->v2, wanted, &w->moved, w->error);
}

/* y = P x for a pattern with values. */
static void multiply(const taut_pattern *pattern, const double *entries, const double *x, double *y)
{
    for (taut_index i = 0; i < pattern->rows; i++) {
        double sum = 0;
        for (taut_index k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            sum += entries[k] * x[pattern->column[k]];
        y[i] = sum;
    }
}

static void multiply_transposed(const taut_pattern *pattern, const double *entries, const double *x, double *y)
{
    memset(y, 0, (size_t)pattern->columns * sizeof *y);
    for (taut_index i = 0; i < pattern->rows; i++)
        for (taut_index k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            y[pattern->column[k]] += entries[k] * x[i];
}

static void copy(double *to, const double *from, int64_t count)
{
    if (count)
        memcpy(to, from, (size_t)count * sizeof *to);
}

/* ---- what is differenced */

static int probe_bond(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_BOND));
    copy(y, w->moved.bond, w->m);
    return 0;
}

static int probe_bond_time(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 0, 0, 1, TAUT_WANT_BOND));
    copy(y, w->moved.bond, w->m);
    return 0;
}

/* gdot = G v + g_t along q' = v, t' = 1: its derivative is gamma. */
static int probe_gdot(verifier *w, double s, double *y)
{
    for (taut_index i = 0; i < w->n; i++)
        w->q2[i] = w->q[i] + s * w->dv[i];
    TAUT_TRY(taut_evaluate(w->context, w->t + s, w->q2, w->dv, TAUT_WANT_JACOBIAN, &w->moved, w->error));
    multiply(&w->jacobian, w->moved.jacobian, w->dv, y);
    for (taut_index i = 0; i < w->m; i++)
        y[i] += w->moved.bond_dt[i];
    return 0;
}

static int probe_reaction(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_JACOBIAN));
    multiply_transposed(&w->jacobian, w->moved.jacobian, w->weight, y);
    return 0;
}

static int probe_force(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_FORCE));
    copy(y, w->moved.force, w->n);
    return 0;
}

static int probe_force_velocity(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 0, 1, 0, TAUT_WANT_FORCE));
    copy(y, w->moved.force, w->n);
    return 0;
}

static int probe_potential(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_ENERGY));
    y[0] = w->moved.potential;
    return 0;
}

static int probe_stiff(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_ENERGY));
    y[0] = w->moved.stiff_energy;
    return 0;
}

static int probe_stiff_force(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_STIFF_FORCE));
    for (taut_index i = 0; i < w->n; i++)
        y[i] = -w->moved.stiff_force[i];
    return 0;
}

static int probe_kinetic(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 0, 1, 0, TAUT_WANT_ENERGY));
    y[0] = w->moved.kinetic;
    return 0;
}

static int probe_momentum(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 0, 1, 0, TAUT_WANT_MOMENTUM));
    copy(y, w->moved.momentum, w->n);
    return 0;
}

static int probe_mass(verifier *w, double s, double *y)
{
    TAUT_TRY(evaluate_moved(w, s, 1, 0, 0, TAUT_WANT_MASS));
    multiply(&w->tangent, w->moved.mass, w->dv, y);
    return 0;
}

/* ---- extrapolated differences */

static int difference(verifier *w, probe f, int64_t size, double h, double *y)
{
    TAUT_TRY(f(w, h, w->work));
    copy(y, w->work, size);
    TAUT_TRY(f(w, -h, w->work));
    for (int64_t i = 0; i < size; i++)
        y[i] = (y[i] - w->work[i]) / (2 * h);
    return 0;
}

/* Neville on one entry through the column of differences; keeps the estimate that changed least. */
static void extrapolate(verifier *w, int64_t i, const double *noise, double *value, double *uncertainty, double *floor)
{
    double column[LEVELS];
    *value = w->table[w->levels - 1][i];
    *uncertainty = INFINITY;
    for (int k = 0; k < w->levels; k++) {
        double above = 0, factor = 4;
        for (int j = 0; j <= k; j++, factor *= 4) {
            double now = j == 0 ? w->table[k][i] : 0;
            if (j > 0)
                now = column[j - 1] + (column[j - 1] - above) / (factor / 4 - 1);
            double previous = j < k ? column[j] : 0;
            if (j > 1) { /* two differences agree by chance now and then; three hardly ever */
                double change = fmax(noise[k], fmax(fabs(now - column[j - 1]), fabs(now - above)));
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

/* Rounding errors of what is differenced: of its own size, and of the state it is computed from. Without this floor two differences
 * may agree by chance, which among many entries they do. */
static double rounding(const verifier *w, int64_t size)
{
    double value = 0, exact = 0, state = 0, direction = 0;
    for (int64_t i = 0; i < size; i++) {
        value = fmax(value, fabs(w->work[i]));
        exact = fmax(exact, fabs(w->exact[i]));
    }
    for (taut_index i = 0; i < w->n; i++) {
        state = fmax(state, fabs(w->q[i]));
        direction = fmax(direction, fabs(w->dq[i]));
    }
    return DBL_EPSILON * (value + (direction > 0 ? state * exact / direction : 0));
}

/* From several first steps, because the right one differs between entries (a steep potential beside a flat one); a step that leaves
 * the domain is left out. */
static int differentiate(verifier *w, probe f, int64_t size)
{
    int good = 0;
    for (int64_t i = 0; i < size; i++)
        w->best_error[i] = INFINITY;
    double first = w->starts > 1 ? 0.1 : 0.03;
    for (int start = 0; start < (good ? w->starts : w->starts + 4); start++, first /= 16) {
        int status = 0;
        double step = first, noise[LEVELS];
        for (int k = 0; k < w->levels && status == 0; k++, step /= 2) {
            status = difference(w, f, size, step, w->table[k]);
            noise[k] = rounding(w, size) / step;
        }
        if (status == TAUT_ERROR_EVALUATE)
            continue;
        TAUT_TRY(status);
        good++;
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

static int compare(verifier *w, const char *name, int derivative, probe f, int64_t size, taut_item item)
{
    if (w->count == w->room || size == 0)
        return 0;
    double *exact = w->exact;
    TAUT_TRY(differentiate(w, f, size));
    double largest = 0, worst = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < size; i++)
        largest = fmax(largest, fmax(fabs(exact[i]), fabs(w->best[i])));
    for (int64_t i = 0; i < size && largest > 0; i++) {
        /* beyond what the differences know of themselves; entries far below the largest are judged against a hundredth of it */
        double off = fmax(fabs(exact[i] - w->best[i]) - 16 * w->floor[i] - w->best_error[i], 0);
        double deviation =
            isfinite(exact[i] - w->best[i]) ? off / fmax(fmax(fabs(exact[i]), fabs(w->best[i])), 0.01 * largest) : INFINITY;
        if (!(deviation <= worst)) {
            worst = deviation;
            at = i;
        }
    }
    taut_derivative_check *row = &w->rows[w->count++];
    *row =
        (taut_derivative_check){.name = name, .derivative = derivative, .deviation = worst, .limit = derivative == 1 ? 1e-8 : 1e-6};
    if (size > 1)
        taut_system_name(w->context->system, item, (taut_index)at, row->where, sizeof row->where);
    return 0;
}

static double inner(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static int verify_bonds(verifier *w)
{
    multiply(&w->jacobian, w->values.jacobian, w->dq, w->exact);
    TAUT_TRY(compare(w, "G", 1, probe_bond, w->m, TAUT_BOND));
    if (w->sizes->can & TAUT_HAS_MOVING_BONDS) {
        copy(w->exact, w->values.bond_dt, w->m);
        TAUT_TRY(compare(w, "dg/dt", 1, probe_bond_time, w->m, TAUT_BOND));
    }
    if (w->sizes->kind == TAUT_MECHANICAL) {
        TAUT_TRY(taut_evaluate(w->context, w->t, w->q, w->dv, TAUT_WANT_GAMMA, &w->values, w->error));
        copy(w->exact, w->values.gamma, w->m);
        TAUT_TRY(compare(w, "gamma", 2, probe_gdot, w->m, TAUT_BOND));
    }
    multiply(&w->tangent, w->values.bond_hessian, w->dq, w->exact);
    return compare(w, "Hess g", 2, probe_reaction, w->n, TAUT_COORDINATE);
}

static int verify_forces(verifier *w)
{
    bool conservative = w->sizes->kind == TAUT_MECHANICAL && !(w->sizes->can & (TAUT_HAS_FORCES | TAUT_HAS_KINETIC));
    if (conservative) {
        w->exact[0] = -inner(w->values.force, w->dq, w->n);
        TAUT_TRY(compare(w, "grad U", 1, probe_potential, 1, TAUT_COORDINATE));
    }
    multiply(&w->tangent, w->values.force_dq, w->dq, w->exact);
    TAUT_TRY(compare(w, "df/dq", conservative ? 2 : 1, probe_force, w->n, TAUT_COORDINATE));
    if (w->sizes->kind != TAUT_MECHANICAL && w->nv == 0)
        return 0;
    multiply(w->sizes->kind == TAUT_MECHANICAL ? &w->tangent : &w->control, w->values.force_dv, w->dv, w->exact);
    return compare(w, w->sizes->kind == TAUT_MECHANICAL ? "df/dv" : "df/dy", 1, probe_force_velocity, w->n, TAUT_COORDINATE);
}

static int verify_energies(verifier *w)
{
    if (w->sizes->can & TAUT_HAS_STIFF_POTENTIAL) {
        w->exact[0] = -inner(w->values.stiff_force, w->dq, w->n);
        TAUT_TRY(compare(w, "grad V", 1, probe_stiff, 1, TAUT_COORDINATE));
        multiply(&w->tangent, w->values.stiff_hessian, w->dq, w->exact);
        TAUT_TRY(compare(w, "Hess V", 2, probe_stiff_force, w->n, TAUT_COORDINATE));
    }
    if (w->sizes->mass == TAUT_MASS_DIAGONAL)
        return 0;
    w->exact[0] = inner(w->values.momentum, w->dv, w->n);
    TAUT_TRY(compare(w, "dT/dv", 1, probe_kinetic, 1, TAUT_COORDINATE));
    multiply(&w->tangent, w->values.mass, w->dv, w->exact);
    TAUT_TRY(compare(w, "M", 2, probe_momentum, w->n, TAUT_COORDINATE));
    if (w->sizes->mass != TAUT_MASS_VARYING)
        return 0;
    multiply(&w->tangent, w->values.mass_dq, w->dq, w->exact);
    return compare(w, "dM/dq", 2, probe_mass, w->n, TAUT_COORDINATE);
}

static int prepare(verifier *w, const double *q, const double *v)
{
    const taut_system *system = w->context->system;
    bool mechanical = w->sizes->kind == TAUT_MECHANICAL;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, w->error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, w->error));
    if (w->sizes->algebraic)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_CONTROL, &w->control, w->error));
    TAUT_TRY(allocate(w));
    choose_directions(w, q, v);
    w->values.bond_weight = w->weight;
    w->values.mass_weight = w->dv;
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV;
    if (w->m)
        wanted |= TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_BOND_HESSIAN;
    if (mechanical)
        wanted |= TAUT_WANT_MASS | TAUT_WANT_MOMENTUM;
    if (mechanical && w->sizes->mass != TAUT_MASS_DIAGONAL)
        wanted |= TAUT_WANT_MASS_DQ;
    if (w->sizes->can & TAUT_HAS_STIFF_POTENTIAL)
        wanted |= TAUT_WANT_STIFF_FORCE | TAUT_WANT_STIFF_HESSIAN;
    int status = taut_evaluate(w->context, w->t, w->q, w->v, wanted, &w->values, w->error);
    if (status != TAUT_ERROR_EVALUATE)
        return status;
    copy(w->q, q, w->n); /* beside the start is outside the domain */
    copy(w->v, v, w->nv);
    return taut_evaluate(w->context, w->t, w->q, w->v, wanted, &w->values, w->error);
}

int taut_verify_derivatives(taut_context *context, double t, const double *q, const double *v, taut_derivative_check *rows,
                            int room, int *count, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    verifier w = {.context = context, .error = error, .sizes = sizes, .t = t, .rows = rows, .room = room};
    taut_arena_init(&w.arena, &context->arena.allocator);
    w.n = sizes->coordinates;
    w.m = sizes->bonds;
    w.nv = sizes->kind == TAUT_MECHANICAL ? w.n : sizes->algebraic;
    w.levels = w.n > 20000 ? 5 : LEVELS;
    w.starts = w.n > 20000 ? 1 : 3;
    int status = prepare(&w, q, v);
    if (status == 0 && w.m)
        status = verify_bonds(&w);
    if (status == 0)
        status = verify_forces(&w);
    if (status == 0 && sizes->kind == TAUT_MECHANICAL)
        status = verify_energies(&w);
    *count = w.count;
    taut_arena_clear(&w.arena);
    return status;
}
