/* differences.c - evaluating a system of C functions; what no function gives is formed by
 * differences of those that are there.
 *
 *   first derivatives    (F(x + h e_j) - F(x - h e_j)) / 2h,            h = (N L^2)^(1/3)
 *   second, from values   the same of G formed in the same way, with h and 2 h extrapolated,
 *   h = (N L^5)^(1/6)
 *   along the velocity   five points, (-1 16 -30 16 -1) / 12 s^2,       s |v| = (N L^5)^(1/6)
 *
 * L is the length over which F curves and N = max(measured, u |x_j|) the noise of F in terms of
 * x, u the rounding unit (scales.c). In units of L all errors are about u^(2/3) = 2e-11. */
#include "base/vectors.h"
#include "base/rows.h"
#include "system/from_c/callbacks.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "system/kernel/scatter.h"

typedef struct workspace {
    /* displaced points, [n]; two levels, because G may be differenced inside a difference */
    double *x[2];
    double *step[2];          /* of each coordinate, [n] */
    double *high[2], *low[2]; /* values on both sides, [max(n, m)] */
    double *entries;          /* G at a displaced point */
    double *coarse;           /* weighted Hessian with doubled steps, [tangent] */
    double *bond;             /* g where only the energy asks for it, [m] */
    double *matrix, *product; /* M, n x n, and M times a vector, [n] */
    /* A callback requested a stop: callers may continue without a value, so that further calls
     * are prevented here. */
    const char *stopped; /* which one, or NULL */
    int stop_status;
    double stop_t;
} workspace;

typedef struct point {
    taut_context *context;
    const taut_callback_system *s;
    workspace *w;
    double t;
    const double *q, *v;
    const double *weight; /* of G^T weight, M weight */
    double widen;         /* factor of the steps */
    taut_error *error;
} point;

int taut_callbacks_attach(taut_context *context, taut_error *error)
{
    const taut_callback_system *s = context->system->extra;
    taut_index n = s->call.coordinates, m = s->call.bonds, longest = n > m ? n : m;
    taut_arena *arena = &context->arena;
    workspace *w = TAUT_NEW(arena, workspace, 1);
    TAUT_NEED(error, w);
    for (int k = 0; k < 2; k++) {
        TAUT_TRY(TAUT_RESERVE(arena, n, error, &w->x[k], &w->step[k]));
        TAUT_TRY(TAUT_RESERVE(arena, longest, error, &w->high[k], &w->low[k]));
    }
    w->entries = TAUT_NEW(arena, double, context->system->sizes.jacobian_entries);
    w->bond = TAUT_NEW(arena, double, m);
    w->product = TAUT_NEW(arena, double, n);
    w->matrix = TAUT_NEW(arena, double, s->call.mass_matrix ? (int64_t)n *n : 0);
    taut_pattern tangent; /* asked for: a derived system forms its own */
    TAUT_TRY(taut_system_pattern(context->system, TAUT_PATTERN_TANGENT, &tangent, error));
    w->coarse = TAUT_NEW(arena, double, m && !s->call.jacobian ? tangent.start[n] : 0);
    TAUT_TRY(taut_arena_check(arena, error));
    context->extra = w;
    taut_copy(n, s->call.mass, context->mass);
    if (m) {
        taut_copy(m, s->call.compliance, context->compliance);
        taut_copy(m, s->call.damping, context->damping);
    }
    return 0;
}

int taut_callbacks_start(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    const taut_callback_system *s = context->system->extra;
    (void)t;
    (void)error;
    taut_copy(s->call.coordinates, s->call.start_q, q);
    taut_copy(s->call.coordinates, s->call.start_v, v);
    taut_system_give(context->system, q, v);
    return 0;
}

/* ---- calls */

static int fail_stopped(const workspace *w, taut_error *error)
{
    int code = taut_fail(error, TAUT_ERROR_STOPPED,
                         "the callback '%s' asked to stop at t = %.9g (it returned %d)", w->stopped,
                         w->stop_t, w->stop_status);
    if (error)
        error->t = w->stop_t;
    return code;
}

/* 0; what a callback returns > 0 becomes TAUT_RETRY, < 0 an error that no smaller step avoids.
 * Both have a message. */
static int judge(const point *p, const char *which, double t, int status)
{
    if (status == 0)
        return 0;
    if (status < 0) {
        p->w->stopped = which;
        p->w->stop_status = status;
        p->w->stop_t = t;
        return fail_stopped(p->w, p->error);
    }
    int code = taut_fail(
        p->error, TAUT_RETRY,
        "the callback '%s' cannot evaluate at t = %.9g (it returned %d): a smaller step may help",
        which, t, status);
    if (p->error)
        p->error->t = t;
    return code;
}

static int call_force(const point *p, const double *q, const double *v, double *f)
{
    const taut_callbacks *call = &p->s->call;
    TAUT_TRY(judge(p, "force", p->t, call->force(call->user, p->t, q, v, f)));
    return taut_check_finite(p->context->system, TAUT_COORDINATE, "the force on", p->t, f,
                             call->coordinates, p->error);
}

static int call_bond(const point *p, double t, const double *q, double *g)
{
    const taut_callbacks *call = &p->s->call;
    TAUT_TRY(judge(p, "bond", t, call->bond(call->user, t, q, g)));
    return taut_check_finite(p->context->system, TAUT_BOND, "bond", t, g, call->bonds, p->error);
}

/* M(t, x) times a vector; M itself stays in w->matrix. */
static int call_mass(const point *p, const double *x, const double *vector, double *product)
{
    const taut_callbacks *call = &p->s->call;
    taut_index n = call->coordinates;
    if (!call->mass_matrix) {
        for (taut_index i = 0; i < n; i++)
            product[i] = call->mass[i] * vector[i];
        return 0;
    }
    TAUT_TRY(judge(p, "mass_matrix", p->t, call->mass_matrix(call->user, p->t, x, p->w->matrix)));
    for (taut_index i = 0; i < n; i++) {
        const double *row = p->w->matrix + (int64_t)i * n;
        double sum = 0;
        for (taut_index j = 0; j < n; j++)
            sum += row[j] * vector[j];
        product[i] = sum;
    }
    return taut_check_finite(p->context->system, TAUT_COORDINATE, "the momentum of", p->t, product,
                             n, p->error);
}

/* ---- steps */

/* (N L^(root-1))^(1/root): the step whose errors by curvature and by noise balance; roots 3 and
 * 6 as above. */
static double best_step(const taut_difference_scale *scale, double x, int root)
{
    double noise = fmax(scale->noise, DBL_EPSILON / 2 * fabs(x));
    return scale->length * pow(noise / scale->length, 1.0 / root);
}

/* ---- coloured differences */

typedef int (*vector_function)(const point *p, const double *x, double *y);

/* dF/dx at x into entries; columns of one colour move together. */
static int difference(const point *p, const taut_colouring *c, vector_function f, const double *x,
                      const taut_difference_scale *scale, int level, int root, double *entries)
{
    taut_index n = p->s->call.coordinates;
    double *y = p->w->x[level], *h = p->w->step[level], *high = p->w->high[level],
           *low = p->w->low[level];
    for (taut_index j = 0; j < n; j++) {
        y[j] = x[j];
        h[j] = p->widen * best_step(scale, x[j], root);
    }
    for (taut_index k = 0; k < c->colours; k++) {
        taut_index first = c->group_start[k], end = c->group_start[k + 1];
        for (int side = 1; side >= -1; side -= 2) {
            for (taut_index g = first; g < end; g++)
                y[c->group_column[g]] = x[c->group_column[g]] + side * h[c->group_column[g]];
            TAUT_TRY(f(p, y, side > 0 ? high : low));
        }
        for (taut_index g = first; g < end; g++) {
            taut_index j = c->group_column[g];
            double width = (x[j] + h[j]) - (x[j] - h[j]); /* as rounded */
            for (taut_index e = c->column_start[j]; e < c->column_start[j + 1]; e++)
                entries[c->place[e]] = (high[c->row[e]] - low[c->row[e]]) / width;
            y[j] = x[j];
        }
    }
    return 0;
}

static int force_of_q(const point *p, const double *x, double *y)
{
    return call_force(p, x, p->v, y);
}

static int force_of_v(const point *p, const double *x, double *y)
{
    return call_force(p, p->q, x, y);
}

static int bond_of_q(const point *p, const double *x, double *y)
{
    return call_bond(p, p->t, x, y);
}

static int momentum_of_q(const point *p, const double *x, double *y)
{
    return call_mass(p, x, p->weight, y);
}

/* G by its callback; NaN has the name of its bond. */
static int call_jacobian(const point *p, const double *x, double *entries)
{
    const taut_callbacks *call = &p->s->call;
    const taut_system *system = p->context->system;
    TAUT_TRY(judge(p, "jacobian", p->t, call->jacobian(call->user, p->t, x, entries)));
    for (taut_index i = 0; i < call->bonds; i++)
        for (taut_index k = system->jacobian_start[i]; k < system->jacobian_start[i + 1]; k++)
            if (!isfinite(entries[k])) {
                char name[160];
                taut_system_name(system, TAUT_BOND, i, name, sizeof name);
                int code = taut_fail(
                    p->error, TAUT_ERROR_EVALUATE,
                    "the callback 'jacobian' gives %g for the gradient of bond %s at t = %.9g",
                    entries[k], name, p->t);
                if (p->error)
                    p->error->t = p->t;
                return code;
            }
    return 0;
}

static int jacobian_at(const point *p, const double *x, int level, int root, double *entries)
{
    if (p->s->call.jacobian)
        return call_jacobian(p, x, entries);
    return difference(p, &p->s->jacobian, bond_of_q, x, &p->s->bond, level, root, entries);
}

static taut_pattern jacobian_of(const taut_system *system)
{
    return (taut_pattern){system->sizes.bonds, system->sizes.coordinates, system->jacobian_start,
                          system->jacobian_column};
}

/* G(x)^T weight, whose derivative is the weighted Hessian. */
static int reaction_of_q(const point *p, const double *x, double *y)
{
    const taut_system *system = p->context->system;
    const taut_pattern g = jacobian_of(system);
    TAUT_TRY(jacobian_at(p, x, 1, 6, p->w->entries));
    taut_clear(system->sizes.coordinates, y);
    taut_pattern_add_transposed(&g, p->w->entries, 1, p->weight, y);
    return taut_check_finite(system, TAUT_COORDINATE, "the reaction of the bonds on", p->t, y,
                             system->sizes.coordinates, p->error);
}

/* The mean of a matrix on the tangent pattern and its transpose. The pattern is symmetric and
 * sorted, so that entry e of column j is the mirror image of entry e of row j. */
static void symmetrise(const point *p, double *entries)
{
    const taut_colouring *c = &p->s->tangent;
    const taut_index *start = taut_system_patterns(p->context->system)->tangent.start;
    for (taut_index j = 0; j < p->s->call.coordinates; j++)
        for (taut_index e = c->column_start[j]; e < c->column_start[j + 1] && c->row[e] < j; e++) {
            double *a = &entries[c->place[e]], *b = &entries[start[j] + (e - c->column_start[j])];
            *a = *b = (*a + *b) / 2;
        }
}

/* From exact G one difference; from g alone two, whose errors of second order cancel. */
static int hessian_at(point *p, const double *weight, double *entries)
{
    const taut_colouring *c = &p->s->tangent;
    p->weight = weight;
    if (p->s->call.jacobian) {
        TAUT_TRY(difference(p, c, reaction_of_q, p->q, &p->s->bond, 0, 3, entries));
    } else {
        p->widen = 2;
        int status = difference(p, c, reaction_of_q, p->q, &p->s->bond, 0, 6, p->w->coarse);
        p->widen = 1;
        TAUT_TRY(status);
        TAUT_TRY(difference(p, c, reaction_of_q, p->q, &p->s->bond, 0, 6, entries));
        const taut_index *start = taut_system_patterns(p->context->system)->tangent.start;
        for (taut_index k = 0; k < start[p->s->call.coordinates]; k++)
            entries[k] += (entries[k] - p->w->coarse[k]) / 3;
    }
    symmetrise(p, entries);
    return 0;
}

/* ---- along the motion */

/* dg/dt at fixed q. */
static int bond_in_time(const point *p, double *bond_dt)
{
    taut_index m = p->s->call.bonds;
    double h = best_step(&p->s->clock, p->t, 3), width = (p->t + h) - (p->t - h),
           *low = p->w->low[0];
    taut_clear(m, bond_dt);
    if (!p->s->call.time_dependent)
        return 0;
    TAUT_TRY(call_bond(p, p->t + h, p->q, bond_dt));
    TAUT_TRY(call_bond(p, p->t - h, p->q, low));
    for (taut_index i = 0; i < m; i++)
        bond_dt[i] = (bond_dt[i] - low[i]) / width;
    return 0;
}

/* s for displacements (q + s v, t + s); 0 when nothing moves. */
static double step_along(const point *p, int root)
{
    taut_index n = p->s->call.coordinates;
    double per_step = taut_largest(n, p->v) / best_step(&p->s->bond, taut_largest(n, p->q), root);
    if (p->s->call.time_dependent)
        per_step = fmax(per_step, 1 / best_step(&p->s->clock, p->t, root));
    return per_step > 0 ? 1 / per_step : 0;
}

/* Where G is a function of q alone: the derivative of G v along v. */
static int gamma_from_jacobian(const point *p, double s, double *gamma)
{
    const taut_pattern g = jacobian_of(p->context->system);
    double *x = p->w->x[0];
    for (int side = 1; side >= -1; side -= 2) {
        for (taut_index j = 0; j < g.columns; j++)
            x[j] = p->q[j] + side * s * p->v[j];
        TAUT_TRY(jacobian_at(p, x, 1, 3, p->w->entries));
        taut_pattern_add(&g, p->w->entries, side / (2 * s), p->v, gamma);
    }
    return 0;
}

static int gamma_from_bonds(const point *p, double s, double *gamma)
{
    static const double weight[5] = {-1, 16, -30, 16, -1};
    double *x = p->w->x[0], *g = p->w->high[0];
    for (int k = 0; k < 5; k++) {
        double way = (k - 2) * s;
        for (taut_index j = 0; j < p->s->call.coordinates; j++)
            x[j] = p->q[j] + way * p->v[j];
        TAUT_TRY(call_bond(p, p->t + way, x, g));
        for (taut_index i = 0; i < p->s->call.bonds; i++)
            gamma[i] += weight[k] * g[i];
    }
    for (taut_index i = 0; i < p->s->call.bonds; i++)
        gamma[i] /= 12 * s * s;
    return 0;
}

static int gamma_at(const point *p, double *gamma)
{
    const taut_callbacks *call = &p->s->call;
    if (call->gamma) {
        TAUT_TRY(judge(p, "gamma", p->t, call->gamma(call->user, p->t, p->q, p->v, gamma)));
        return taut_check_finite(p->context->system, TAUT_BOND, "gamma of bond", p->t, gamma,
                                 call->bonds, p->error);
    }
    bool from_jacobian = call->jacobian && !call->time_dependent;
    double s = step_along(p, from_jacobian ? 3 : 6);
    taut_clear(call->bonds, gamma);
    if (s == 0)
        return 0;
    return from_jacobian ? gamma_from_jacobian(p, s, gamma) : gamma_from_bonds(p, s, gamma);
}

/* ---- everything */

static int evaluate_bonds(point *p, unsigned wanted, taut_values *values)
{
    bool energy = wanted & TAUT_WANT_ENERGY && p->s->springs;
    double *g = wanted & TAUT_WANT_BOND ? values->bond : p->w->bond;
    if (wanted & TAUT_WANT_BOND || energy)
        TAUT_TRY(call_bond(p, p->t, p->q, g));
    for (taut_index i = 0; i < p->s->call.bonds && energy; i++)
        if (p->context->compliance[i] >
            0) /* not the callbacks' own: a derived system makes springs rigid */
            values->bond_energy += g[i] * g[i] / (2 * p->context->compliance[i]);
    if (wanted & TAUT_WANT_JACOBIAN) {
        TAUT_TRY(jacobian_at(p, p->q, 0, 3, values->jacobian));
        TAUT_TRY(bond_in_time(p, values->bond_dt));
    }
    if (wanted & TAUT_WANT_GAMMA)
        TAUT_TRY(gamma_at(p, values->gamma));
    if (wanted & TAUT_WANT_BOND_HESSIAN)
        TAUT_TRY(hessian_at(p, values->bond_weight, values->bond_hessian));
    return 0;
}

static int evaluate_forces(point *p, unsigned wanted, taut_values *values)
{
    const taut_callbacks *call = &p->s->call;
    if (wanted & TAUT_WANT_FORCE)
        TAUT_TRY(call_force(p, p->q, p->v, values->force));
    if (wanted & TAUT_WANT_FORCE_DQ)
        TAUT_TRY(
            difference(p, &p->s->tangent, force_of_q, p->q, &p->s->force, 0, 3, values->force_dq));
    if (wanted & TAUT_WANT_FORCE_DV) {
        taut_difference_scale scale = taut_plain_scale(p->v, call->coordinates);
        TAUT_TRY(difference(p, &p->s->tangent, force_of_v, p->v, &scale, 0, 3, values->force_dv));
    }
    if (!(wanted & TAUT_WANT_ENERGY) || !call->energy)
        return 0;
    TAUT_TRY(judge(p, "energy", p->t, call->energy(call->user, p->t, p->q, &values->potential)));
    if (isfinite(values->potential))
        return 0;
    int code = taut_fail(p->error, TAUT_ERROR_EVALUATE,
                         "the callback 'energy' gives %g at t = %.9g", values->potential, p->t);
    if (p->error)
        p->error->t = p->t;
    return code;
}

static int evaluate_masses(point *p, unsigned wanted, taut_values *values)
{
    taut_index n = p->s->call.coordinates;
    bool matrix = p->s->call.mass_matrix != NULL;
    if (wanted & (TAUT_WANT_MASS | TAUT_WANT_MOMENTUM | TAUT_WANT_ENERGY))
        TAUT_TRY(call_mass(p, p->q, p->v, p->w->product));
    if (wanted & TAUT_WANT_MASS && matrix) /* the tangent pattern is full then */
        memcpy(values->mass, p->w->matrix, (size_t)n * (size_t)n * sizeof(double));
    else if (wanted & TAUT_WANT_MASS)
        taut_copy(n, p->context->mass, values->mass);
    if (wanted & TAUT_WANT_MOMENTUM)
        taut_copy(n, p->w->product, values->momentum);
    for (taut_index i = 0; i < n && wanted & TAUT_WANT_ENERGY; i++)
        values->kinetic += p->v[i] * p->w->product[i] / 2;
    if (!(wanted & TAUT_WANT_MASS_DQ) || !matrix)
        return 0;
    p->weight = values->mass_weight;
    taut_difference_scale scale = taut_plain_scale(p->q, n);
    return difference(p, &p->s->tangent, momentum_of_q, p->q, &scale, 0, 3, values->mass_dq);
}

int taut_callbacks_evaluate(taut_context *context, double t, const double *q, const double *v,
                            unsigned wanted, taut_values *values, taut_error *error)
{
    point p = {.context = context,
               .s = context->system->extra,
               .w = context->extra,
               .t = t,
               .q = q,
               .v = v,
               .widen = 1,
               .error = error};
    if (p.w->stopped)
        return fail_stopped(p.w, error);
    taut_values_clear(context->system, wanted, values);
    TAUT_TRY(evaluate_forces(&p, wanted, values));
    if (p.s->call.bonds)
        TAUT_TRY(evaluate_bonds(&p, wanted, values));
    return evaluate_masses(&p, wanted, values);
}
