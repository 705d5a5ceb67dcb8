/* compare.c - methods side by side: every method with every step (or tolerance) from the same start to the same end, measured against
 * one reference.
 *
 * The reference is the run of the method of highest order with error control that treats this motion of this system, with a
 * tolerance a hundred times below the tightest that is compared. A second method of that kind (the same one with a tolerance ten
 * times wider, when there is no other) must agree; their distance is the uncertainty of all errors. */
#include "drive/compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/options.h"
#include "drive/solver.h"

enum { MOST_CANDIDATES = 64, MOST_ROWS = 100000 };
static const double tightest = 1e-13, wide_limit = 1e-4; /* of references: rounding is near; further apart they mean nothing */
static const char *const step_limit = "3000000";         /* a reference that needs more is given up */

typedef struct bench {
    const taut_system *system;
    const taut_options *given;
    taut_arena *arena;
    const char *motion; /* the one that all runs have; NULL: first order */
    double until;
    taut_index n, m; /* of q and of v */
    double size;     /* largest start value, at most 1: absolute tolerances follow it, as in runs without --atol */
    double *end[2];  /* q and v of the two references, [n + m] */
    double *state;   /* of a run */
} bench;

static int set_real(taut_options *options, const char *name, double value, taut_error *error)
{
    char text[TAUT_NUMBER_SIZE];
    taut_number_format(value, 17, text); /* with a point in every locale */
    return taut_options_set(options, name, text, error);
}

/* What the caller gave, then motion, method and step or tolerance. */
static int fill_options(const bench *b, taut_options *options, const char *method, double value, bool tolerance, taut_error *error)
{
    TAUT_TRY(taut_options_merge(options, b->given, error));
    if (b->motion)
        TAUT_TRY(taut_options_set(options, "motion", b->motion, error));
    if (method)
        TAUT_TRY(taut_options_set(options, "method", method, error));
    if (!(value > 0))
        return TAUT_OK;
    TAUT_TRY(set_real(options, tolerance ? "rtol" : "step", value, error));
    if (tolerance && !taut_options_given(b->given, "atol")) /* in the proportion of the defaults */
        TAUT_TRY(set_real(options, "atol", value * 1e-3 * b->size, error));
    return TAUT_OK;
}

static int fail_control(const char *method, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_REFUSED, "method %s has no error control here; compare it with equal steps", method);
}

static int finish(bench *b, taut_solver *solver, bool tolerance, taut_error *error)
{
    const char *name = solver->stepper.method->name;
    if (tolerance && !solver->control.on) /* [run] gives this very method a step */
        return fail_control(name, error);
    int status = taut_solver_advance(solver, b->until, error);
    if (status > 0)
        return taut_fail(error, TAUT_ERROR_STEP, "%s ended at t = %g: %s", name, taut_solver_time(solver), taut_code_text(status));
    if (status == 0) {
        memcpy(b->state, taut_solver_position(solver), sizeof(double) * (size_t)b->n);
        memcpy(b->state + b->n, taut_solver_velocity(solver), sizeof(double) * (size_t)b->m);
    }
    return status;
}

/* One run into b->state. */
static int run(bench *b, const char *method, double value, bool tolerance, bool limited, taut_compared *row, taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    const taut_method *known = taut_method_find(method);
    if (tolerance && known && known->error_order == 0) /* before it asks for a step */
        return fail_control(method, error);
    int status = taut_options_create(&b->arena->allocator, &options, error);
    if (status == 0)
        status = fill_options(b, options, method, value, tolerance, error);
    if (status == 0 && limited)
        status = taut_options_set(options, "steps", step_limit, error);
    clock_t begin = clock();
    if (status == 0)
        status = taut_solver_create(b->system, options, &b->arena->allocator, &solver, error);
    if (status == 0)
        status = finish(b, solver, tolerance, error);
    if (row) {
        row->seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (solver)
            row->statistics = solver->statistics;
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

static double size_of(const double *a, taut_index count)
{
    double most = 0;
    for (taut_index i = 0; i < count; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

/* Motion and end time as a run without a method would choose them; when no method fits by itself, the first compared one decides. */
static int survey(bench *b, const taut_compare_request *request, taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    double value = request->tolerances ? 0 : request->values[0];
    int status = TAUT_ERROR_USAGE;
    taut_error reason[2], *why = reason; /* the first one is the one that tells */
    for (int k = -1; k < request->method_count && status != 0 && taut_fail_final(status, why, NULL) == 0; k++) {
        why = &reason[k >= 0];
        taut_options_destroy(options);
        options = NULL;
        status = taut_options_create(&b->arena->allocator, &options, why);
        if (status == 0)
            status = fill_options(b, options, k < 0 ? NULL : request->methods[k], k < 0 ? 0 : value, false, why);
        if (status == 0)
            status = taut_solver_create(b->system, options, &b->arena->allocator, &solver, why);
    }
    if (status != 0 && taut_fail_final(status, why, error) == 0) {
        status = reason[0].code;
        if (error)
            *error = reason[0];
    }
    if (status == 0) {
        taut_sizes sizes;
        taut_system_sizes(b->system, &sizes);
        b->motion = sizes.kind == TAUT_MECHANICAL ? taut_motion_name(solver->motion) : NULL;
        b->until = solver->until;
        b->size = fmin(size_of(solver->stepper.now.q, sizes.coordinates), 1);
        b->size = b->size > 0 ? b->size : 1;
        b->n = sizes.coordinates;
        b->m = sizes.kind == TAUT_MECHANICAL ? sizes.coordinates : sizes.algebraic;
    }
    if (status == 0 && !isfinite(b->until))
        status = taut_fail(error, TAUT_ERROR_USAGE, "--until is needed: the time at which results are compared");
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

/* Methods with error control, highest order first. */
static int find_candidates(const taut_method **candidate)
{
    int count = 0;
    for (int k = 0; taut_method_table[k] && count < MOST_CANDIDATES; k++) {
        const taut_method *method = taut_method_table[k];
        if (method->error_order == 0)
            continue;
        int place = count++;
        for (; place > 0 && candidate[place - 1]->order < method->order; place--)
            candidate[place] = candidate[place - 1];
        candidate[place] = method;
    }
    return count;
}

/* Max norm of the difference of two states, positions and velocities apart. */
static double distance(const double *a, const double *b, taut_index count)
{
    double most = 0;
    for (taut_index i = 0; i < count; i++) {
        double d = fabs(a[i] - b[i]);
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

static int make_references(bench *b, double tolerance, taut_comparison *c, taut_error *error)
{
    const taut_method *candidate[MOST_CANDIDATES], *used[2] = {NULL, NULL};
    int count = find_candidates(candidate), found = 0;
    double second = tolerance;
    taut_error last = {.t = NAN};
    for (int k = 0; k < count && found < 2; k++) {
        int status = run(b, candidate[k]->name, tolerance, true, true, NULL, &last);
        TAUT_TRY(taut_fail_final(status, &last, error));
        if (status != 0)
            continue;
        used[found] = candidate[k];
        memcpy(b->end[found++], b->state, sizeof(double) * (size_t)(b->n + b->m));
    }
    if (found == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED, "no method can give a reference for this motion: %.300s", last.message);
    if (found == 1) {
        used[1] = used[0];
        second = 10 * tolerance;
        TAUT_TRY(run(b, used[1]->name, second, true, true, NULL, error));
        memcpy(b->end[1], b->state, sizeof(double) * (size_t)(b->n + b->m));
    }
    c->uncertainty = distance(b->end[0], b->end[1], b->n);
    snprintf(c->explanation, sizeof c->explanation,
             "%s%s at t = %.6g; reference %s with tolerance %.0e, of which %s with %.0e is %.1e away",
             b->motion ? "motion " : "first order", b->motion ? b->motion : "", b->until, used[0]->name, tolerance, used[1]->name,
             second, c->uncertainty);
    if (!(c->uncertainty <= wide_limit * fmax(size_of(b->end[0], b->n), DBL_MIN)))
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "two references do not agree: %s with tolerance %.0e and %s with %.0e are %.2g apart at t = %g; the motion "
            "may be too sensitive for so long a time: compare at an earlier --until",
            used[0]->name, tolerance, used[1]->name, second, c->uncertainty, b->until);
    return TAUT_OK;
}

/* order = log(e1/e2) / log(h1/h2) against the row before, of the same method; 0 and failures have none. */
static double observed_order(const taut_compared *before, const taut_compared *now, double uncertainty)
{
    if (before->message || now->message || before->value == now->value || !(now->error > uncertainty))
        return NAN;
    return log(before->error / now->error) / log(before->value / now->value);
}

static int fill_row(bench *b, taut_comparison *c, const taut_compare_request *request, int k, taut_error *error)
{
    taut_compared *row = &c->row[k];
    taut_error why = {.t = NAN};
    const char *name = request->methods[k / request->value_count];
    *row = (taut_compared){.value = request->values[k % request->value_count], .error = NAN, .error_velocity = NAN, .order = NAN};
    row->method = taut_arena_text(b->arena, name, strlen(name));
    const taut_method *method = taut_method_find(name);
    if (!row->method)
        return taut_fail_memory(error);
    int status = run(b, name, row->value, request->tolerances, false, row, &why);
    TAUT_TRY(taut_fail_final(status, &why, error));
    if (!method) /* a name that does not exist is a slip, not a result */
        return taut_fail(error, status, "%s", why.message);
    if (status != 0) {
        row->message = taut_arena_text(b->arena, why.message, strlen(why.message));
        return row->message ? TAUT_OK : taut_fail_memory(error);
    }
    row->error = distance(b->state, b->end[0], b->n);
    row->error_velocity = b->m > 0 ? distance(b->state + b->n, b->end[0] + b->n, b->m) : NAN;
    if (!request->tolerances && k % request->value_count > 0)
        row->order = observed_order(row - 1, row, c->uncertainty);
    return TAUT_OK;
}

static int check_request(const taut_compare_request *r, taut_error *error)
{
    if (!r || r->method_count < 1 || r->value_count < 1 || !r->methods || !r->values)
        return taut_fail(error, TAUT_ERROR_USAGE, "a comparison needs methods, and steps or tolerances");
    if (r->method_count > MOST_ROWS / r->value_count)
        return taut_fail(error, TAUT_ERROR_SIZE, "a comparison of %d methods with %d values is too large", r->method_count,
                         r->value_count);
    for (int k = 0; k < r->value_count; k++)
        if (!(r->values[k] > 0 && r->values[k] <= (r->tolerances ? 1 : DBL_MAX)))
            return taut_fail(error, TAUT_ERROR_USAGE, "%s: expected numbers > 0%s, found %g",
                             r->tolerances ? "tolerances" : "steps", r->tolerances ? " and <= 1" : "", r->values[k]);
    return TAUT_OK;
}

static int compare(const taut_system *system, const taut_options *options, const taut_compare_request *request, taut_comparison *c,
                   taut_error *error)
{
    bench b = {.system = system, .given = options, .arena = &c->arena, .size = 1};
    TAUT_TRY(check_request(request, error));
    TAUT_TRY(survey(&b, request, error));
    int64_t size = (int64_t)b.n + b.m;
    int rows = request->method_count * request->value_count;
    c->row = TAUT_NEW(&c->arena, taut_compared, rows);
    b.state = TAUT_NEW(&c->arena, double, 3 * size);
    if (!c->row || !b.state)
        return taut_fail_memory(error);
    b.end[0] = b.state + size;
    b.end[1] = b.end[0] + size;
    double tolerance = request->tolerances ? INFINITY : 1000 * tightest; /* equal steps tell no tolerance */
    for (int k = 0; k < request->value_count && request->tolerances; k++)
        tolerance = fmin(tolerance, request->values[k]);
    TAUT_TRY(make_references(&b, fmax(tolerance / 100, tightest), c, error));
    for (; c->rows < rows; c->rows++)
        TAUT_TRY(fill_row(&b, c, request, c->rows, error));
    return TAUT_OK;
}

int taut_compare(const taut_system *system, const taut_options *options, const taut_compare_request *request,
                 const taut_allocator *allocator, taut_comparison **comparison, taut_error *error)
{
    taut_error_clear(error);
    if (!system || !comparison)
        return taut_fail(error, TAUT_ERROR_USAGE, "taut_compare: system and comparison must not be NULL");
    taut_allocator from = taut_allocator_or_default(allocator);
    *comparison = NULL;
    taut_comparison *c = from.allocate(from.user, sizeof *c);
    if (!c)
        return taut_fail_memory(error);
    *c = (taut_comparison){.uncertainty = NAN};
    taut_arena_init(&c->arena, &from);
    int status = compare(system, options, request, c, error);
    if (status == 0)
        *comparison = c;
    else
        taut_comparison_destroy(c);
    return status;
}

void taut_comparison_destroy(taut_comparison *comparison)
{
    if (!comparison)
        return;
    taut_allocator from = comparison->arena.allocator;
    taut_arena_clear(&comparison->arena);
    from.release(from.user, comparison);
}

bool taut_comparison_get(const taut_comparison *comparison, int k, taut_compared *row)
{
    if (!comparison || k < 0 || k >= comparison->rows)
        return false;
    *row = comparison->row[k];
    return true;
}

const char *taut_comparison_explanation(const taut_comparison *comparison, double *uncertainty)
{
    if (uncertainty)
        *uncertainty = comparison->uncertainty;
    return comparison->explanation;
}
