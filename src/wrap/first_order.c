/* first_order.c - first-order fields, with algebraic variables of index 2 and a stabilising term
 * if wanted.
 *
 *     z' = f(t,z,y) - gamma F(z) h(t,z), F = H^T (H H^T)^-1, h = (constraints, invariants)
 *     [Ascher, Qin, Reich 1992, (1.7), (2.3)], or F = H^T (1.8), or F = B (G B)^-1 (1.6);
 *     z' = f - F (H f + h_t + gamma h), the index-2 form (2.4)
 *
 * y follows from the differentiated constraints, G f(t,z,y) + g_t = 0, by Newton's iteration
 * with G B, B = df/dy. Where B does not depend on y the first correction is exact, and f + B dy
 * is the rate: no second evaluation. */
#include "base/rows.h"
#include "base/vectors.h"
#include "wrap/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "system/system.h"
#include "wrap/invariants.h"

typedef struct first_order {
    taut_field field;
    taut_context *context;
    taut_index n, rows, algebraic; /* rows of h */
    double gamma;
    bool baumgarte;              /* F = B (G B)^-1: a term in the equations for y */
    bool tangent;                /* (2.4) */
    bool linear, known;          /* f is linear in y; that has been found out */
    double *y0, *near, *entries; /* for finding out: y of the start, a state, df/dy */
    taut_pattern jacobian, control;
    taut_values values; /* jacobian, bond_dt, force_dv */
    double *y, *residual, *correction;
    double *matrix; /* G B as the K of a saddle system, dense by rows, [algebraic^2] */
    taut_index *start, *column;
    taut_saddle *solver;
    taut_invariants *invariants; /* NULL: no such term */
    double *push;                /* F h, [n] */
} first_order;

enum { MOST_ITERATIONS = 30 };

static void destroy(taut_field *field)
{
    first_order *w = field->self;
    taut_saddle_destroy(w->solver);
    w->solver = NULL;
    if (w->invariants)
        taut_invariants_destroy(w->invariants);
    w->invariants = NULL;
}

/* matrix = G B; residual = -(G f + g_t). B is stored by rows of the state. */
static void form_equations(first_order *w, const double *rate)
{
    const taut_pattern *g = &w->jacobian, *b = &w->control;
    taut_index k = w->algebraic;
    memset(w->matrix, 0, (size_t)k * (size_t)k * sizeof(double));
    for (taut_index i = 0; i < k; i++) {
        for (taut_index e = g->start[i]; e < g->start[i + 1]; e++)
            taut_row_add(b, w->values.force_dv, g->column[e], w->values.jacobian[e],
                         w->matrix + (int64_t)i * k);
        w->residual[i] = -w->values.bond_dt[i] - taut_row_dot(g, w->values.jacobian, i, rate);
        if (w->baumgarte)
            w->residual[i] -= w->gamma * w->values.bond[i];
    }
}

static int evaluate_all(first_order *w, double t, const double *z, double *rate, taut_error *error)
{
    unsigned bond = w->baumgarte ? TAUT_WANT_BOND : 0;
    w->values.force = rate;
    TAUT_TRY(taut_evaluate_inside(w->context, t, z, w->y,
                                  TAUT_WANT_FORCE | TAUT_WANT_FORCE_DV | TAUT_WANT_JACOBIAN | bond,
                                  &w->values, error));
    w->field.statistics->force_evaluations++;
    w->field.statistics->jacobians++;
    return TAUT_OK;
}

/* G B is singular: names a variable whose column vanishes, or a constraint whose row does. */
static int fail_singular(const first_order *w, double t, taut_error *error)
{
    const taut_system *system = taut_context_system(w->context);
    char name[96], text[200] = "the constraints, differentiated once, do not determine the "
                               "algebraic variables";
    const char *why = "some follow from others (`taut check` names them: omit them, with as many "
                      "algebraic variables), or the index is above 2. In that case differentiate "
                      "a constraint";
    taut_index k = w->algebraic;
    for (taut_index i = 0; i < k; i++) {
        bool row = false, column = false;
        for (taut_index j = 0; j < k; j++) {
            row |= w->matrix[(int64_t)i * k + j] != 0;
            column |= w->matrix[(int64_t)j * k + i] != 0;
        }
        if (row && column)
            continue;
        taut_system_name(system, column ? TAUT_BOND : TAUT_ALGEBRAIC, i, name, sizeof name);
        snprintf(text, sizeof text,
                 column ? "no algebraic variable moves the constraint '%s'"
                        : "the algebraic variable '%s' moves no constraint",
                 name);
        why = "the index is above 2. Differentiate such a constraint";
        break;
    }
    return taut_fail(
        error, TAUT_ERROR_SINGULAR,
        "%s at t = %.9g: %s once by hand and keep the original as an invariant, or write a "
        "mechanical system with [bonds]",
        text, t, why);
}

/* One Newton correction of y from values at (z, y); correction[] holds it. */
static int correct(first_order *w, double t, double *rate, taut_error *error)
{
    form_equations(w, rate);
    taut_copy(w->algebraic, w->residual, w->correction);
    int status = taut_saddle_factor(w->solver, w->matrix, NULL, NULL, NULL, error);
    if (status == TAUT_ERROR_SINGULAR)
        return fail_singular(w, t, error);
    TAUT_TRY(status);
    TAUT_TRY(taut_saddle_solve(w->solver, 1, w->correction, NULL, error));
    w->field.statistics->factorisations++;
    w->field.statistics->solves++;
    w->field.statistics->newton_iterations++;
    for (taut_index i = 0; i < w->algebraic; i++)
        w->y[i] += w->correction[i];
    return TAUT_OK;
}

static void add_control(const first_order *w, double *rate)
{
    taut_pattern_add(&w->control, w->values.force_dv, 1, w->correction, rate);
}

static int solve_algebraic(first_order *w, double t, const double *z, double *rate,
                           taut_error *error)
{
    TAUT_TRY(evaluate_all(w, t, z, rate, error));
    if (w->linear) {
        TAUT_TRY(correct(w, t, rate, error));
        add_control(w, rate);
        return TAUT_OK;
    }
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(correct(w, t, rate, error));
        TAUT_TRY(evaluate_all(w, t, z, rate, error));
        double size = taut_largest(w->algebraic, w->y),
               off = taut_largest(w->algebraic, w->correction);
        if (off <= 16 * DBL_EPSILON * size || off <= DBL_MIN)
            return TAUT_OK;
        if (!isfinite(off))
            break;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the algebraic variables did not converge at t = %.9g; better start values "
                     "for them may help",
                     t);
}

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    (void)v;
    first_order *w = field->self;
    if (w->algebraic > 0)
        TAUT_TRY(solve_algebraic(w, t, q, rate, error));
    else {
        w->values.force = rate;
        TAUT_TRY(taut_evaluate_inside(w->context, t, q, NULL, TAUT_WANT_FORCE, &w->values, error));
        field->statistics->force_evaluations++;
    }
    if (lambda)
        taut_copy(w->algebraic, w->y, lambda);
    if (!w->invariants)
        return TAUT_OK;
    if (w->tangent)
        TAUT_TRY(taut_invariants_rate(w->invariants, t, q, rate, w->gamma, w->push, error));
    else
        TAUT_TRY(taut_invariants_step(w->invariants, t, q, NULL, w->push, error));
    taut_add_scaled(w->n, w->tangent ? -1 : -w->gamma, w->push, rate);
    return TAUT_OK;
}

/* The iteration for y begins with the latest one. */
static void archive(taut_field *field, taut_archive *to)
{
    first_order *w = field->self;
    taut_archive_reals(to, w->y, w->algebraic);
    if (w->invariants)
        taut_invariants_archive(w->invariants, to);
}

/* df/dy at a state and at points near it, for several y: the same bits everywhere? With
 * functions that have no kinks, agreement at points in general position means that it does not
 * depend on y. */
static bool find_linear(first_order *w, double t, const double *z0)
{
    double *z = w->near, *b0 = w->entries;
    const double *y0 = w->y0;
    taut_sizes sizes;
    taut_error ignored;
    taut_system_sizes(taut_context_system(w->context), &sizes);
    int64_t entries = w->control.start[w->n];
    if (sizes.can & TAUT_HAS_KINKS)
        return false;
    for (int point = 0; point < 2; point++) {
        for (taut_index i = 0; i < w->n; i++)
            z[i] = z0[i] + point * 1e-3 * (fabs(z0[i]) + 1e-3) * sin(1.0 + i);
        for (int k = 0; k < 3; k++) {
            for (taut_index i = 0; i < w->algebraic; i++)
                w->y[i] = y0[i] + k * (0.37 + fabs(y0[i])) * cos(2.0 * k + i);
            if (taut_evaluate_inside(w->context, t + 0.01 * point, z, w->y, TAUT_WANT_FORCE_DV,
                                     &w->values, &ignored) != 0)
                return false;
            if (k == 0)
                taut_copy(entries, w->values.force_dv, b0);
            else if (memcmp(b0, w->values.force_dv, (size_t)entries * sizeof(double)) != 0)
                return false;
        }
    }
    return true;
}

static void learn(first_order *w, double t, const double *z)
{
    w->linear = find_linear(w, t, z);
    w->known = true;
    taut_copy(w->algebraic, w->y0, w->y);
}

static int prepare_algebraic(first_order *w, const taut_sizes *sizes, taut_arena *arena,
                             taut_error *error)
{
    const taut_system *system = taut_context_system(w->context);
    taut_index k = w->algebraic;
    if (sizes->constraints != k)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "%d algebraic variables need as many constraints, but there are %d", k,
                         sizes->constraints);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_CONTROL, &w->control, error));
    int64_t entries = w->control.start[w->n];
    double *z0;
    w->values.jacobian = TAUT_NEW(arena, double, sizes->jacobian_entries);
    w->values.bond_dt = TAUT_NEW(arena, double, sizes->bonds);
    w->values.bond = TAUT_NEW(arena, double, sizes->bonds);
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &w->values.force_dv, &w->entries));
    TAUT_TRY(TAUT_RESERVE(arena, k, error, &w->residual, &w->correction));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &z0, &w->near));
    w->matrix = TAUT_NEW(arena, double, (int64_t)k *k);
    w->start = TAUT_NEW(arena, taut_index, k + 1);
    w->column = TAUT_NEW(arena, taut_index, (int64_t)k * k);
    w->y0 = TAUT_NEW(arena, double, w->n > k ? w->n : k);
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < k; i++) {
        w->start[i + 1] = (i + 1) * k;
        for (taut_index j = 0; j < k; j++)
            w->column[i * k + j] = j;
    }
    /* the initial state at t = 0 need not exist: a run may begin later, and then calls
     * (taut_field_first_order_begin) */
    taut_error reason;
    int status = taut_context_start(w->context, 0, z0, w->y0, &reason);
    if (status == 0)
        learn(w, 0, z0);
    else if (!taut_start_missing(status))
        return taut_fail(error, reason.code, "%s", reason.message);
    else
        taut_clear(k, w->y0);
    taut_saddle_shape shape = {.n = k, .k_start = w->start, .k_column = w->column};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &w->solver, error);
}

static int fill(first_order *w, const char *direction, taut_arena *arena, taut_error *error)
{
    enum { DENSE_LIMIT = 4096 };
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(w->context), &sizes);
    w->n = sizes.coordinates;
    w->algebraic = sizes.algebraic;
    w->field.n = w->n;
    w->field.m = w->algebraic;
    w->field.name = w->algebraic > 0 ? (w->gamma > 0 ? "index-1, stabilised" : "index-1")
                    : w->gamma > 0   ? "stabilised"
                                     : "full";
    if (w->algebraic > DENSE_LIMIT)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "explicit methods take at most %d algebraic variables", DENSE_LIMIT);
    w->y = TAUT_NEW(arena, double, w->algebraic);
    w->push = TAUT_NEW(arena, double, w->n);
    TAUT_TRY(taut_arena_check(arena, error));
    if (w->algebraic > 0)
        TAUT_TRY(prepare_algebraic(w, &sizes, arena, error));
    if (w->gamma == 0)
        return TAUT_OK;
    bool constraints_alone = w->algebraic > 0 && sizes.invariants == 0 && sizes.followed == 0;
    w->baumgarte = strcmp(direction, "control") == 0;
    w->tangent = strcmp(direction, "tangent") == 0;
    if (w->baumgarte && !constraints_alone)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "direction control needs algebraic variables that keep every constraint "
                         "(index 2), and no [invariants]");
    taut_invariants_of which =
        strcmp(direction, "gradient") == 0 ? TAUT_INVARIANTS_GRADIENT : TAUT_INVARIANTS_ALL;
    return w->baumgarte ? TAUT_OK
                        : taut_invariants_create(w->context, which, arena, w->field.statistics,
                                                 &w->invariants, error);
}

int taut_field_first_order(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                           double gamma, const char *direction, taut_field **field,
                           taut_error *error)
{
    *field = NULL;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    if (sizes.kind != TAUT_FIRST_ORDER)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "this field needs a first-order system with equations");
    if (!(gamma >= 0))
        return taut_fail(error, TAUT_ERROR_USAGE, "the stabilising factor must not be negative");
    first_order *w = TAUT_NEW(arena, first_order, 1);
    TAUT_NEED(error, w);
    w->context = context;
    w->gamma = gamma;
    w->field = (taut_field){.evaluate = evaluate,
                            .destroy = destroy,
                            .archive = archive,
                            .statistics = statistics,
                            .self = w};
    int status = fill(w, direction ? direction : "auto", arena, error);
    if (status == 0)
        *field = &w->field;
    else
        destroy(&w->field);
    return status;
}

int taut_field_first_order_begin(taut_field *field, double t, const double *z, taut_error *error)
{
    first_order *w = field->self;
    if (w->algebraic > 0 && !w->known)
        learn(w, t, z);
    return w->invariants ? taut_invariants_begin(w->invariants, t, z, error) : TAUT_OK;
}
