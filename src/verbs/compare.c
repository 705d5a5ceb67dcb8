/* compare.c - methods side by side: every method with every step (or tolerance) from the same
 * initial state to the same end, measured against one reference.
 *
 * The reference is the run of the method of highest order with adaptive step size that supports
 * this motion of this system, with a tolerance a hundred times below the tightest that is compared.
 * A second method of that kind (the same one with a tolerance ten times wider, when there is no
 * other) must agree; their distance is the uncertainty of all errors.
 *
 * Methods of slow motion are all of one family, which are no independent references for one
 * another. From the slow point the full motion is the slow one: an explicit method that resolves it
 * is the second reference, where it can be had at a price, and unless slow and fast are so close
 * that the two motions differ. */
#include "verbs/compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/vectors.h"
#include "base/options.h"
#include "base/structs.h"
#include "drive/solver.h"
#include "step/methods.h"

enum { MOST_CANDIDATES = 64, MOST_ROWS = 100000 };
/* of references: rounding is near; further apart they mean nothing */
static const double tightest = 1e-13, wide_limit = 1e-4;
/* a reference that needs more is given up */
static const int64_t step_limit = 3000000;
/* steps times coordinates and bonds of the full motion, at most */
static const double full_price = 1e7;

typedef struct bench {
    const taut_system *system;
    const taut_options *given;
    taut_arena *arena;
    unsigned motion; /* bit of the one that all runs have; 0: first order */
    double until;
    taut_index n, m; /* of q and of v */
    /* largest initial value, at most 1: absolute tolerances follow it, as in runs without --atol */
    double size;
    double *end[2]; /* q and v of the two references, [n + m] */
    double *state;  /* of a run: its end */
    double *start;  /* where the latest run began, in slow motion its slow point, [n + m] */
} bench;

/* A run of the comparison: `value` is its step, or its tolerance; 0: neither. Method NULL: by
 * choice. `limit`: of steps; 0: none. */
static int make(const bench *b, const taut_method *method, double value, bool tolerance,
                int64_t limit, taut_solver **solver, taut_error *error)
{
    taut_options *options = NULL;
    /* in the proportion of the defaults, but not below rounding */
    double atol = fmax(value * 1e-3, 1e-15) * b->size;
    int status = taut_options_create(&b->arena->allocator, &options, error);
    if (status == 0)
        status = taut_options_merge(options, b->given, error);
    if (status == 0 && b->motion)
        status = taut_options_set_text(options, "motion", taut_motion_name(b->motion), error);
    if (status == 0 && value > 0)
        status = taut_options_set_real(options, tolerance ? "rtol" : "step", value, error);
    if (status == 0 && value > 0 && tolerance && !taut_options_given(b->given, "atol"))
        status = taut_options_set_real(options, "atol", atol, error);
    if (status == 0 && limit > 0)
        status = taut_options_set_integer(options, "steps", limit, error);
    if (status == 0)
        status =
            taut_solver_create_own(b->system, options, method, &b->arena->allocator, solver, error);
    taut_options_destroy(options);
    return status;
}

static int fail_control(const char *method, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "method %s has no adaptive step size here; compare it with a fixed one",
                     method);
}

static void keep(const bench *b, const taut_solver *solver, double *state)
{
    taut_copy(b->n, taut_solver_position(solver), state);
    taut_copy(b->m, taut_solver_velocity(solver), state + b->n);
}

static int finish(bench *b, taut_solver *solver, bool tolerance, taut_error *error)
{
    const char *name = solver->stepper.method->name;
    if (tolerance && !solver->control.on) /* [run] gives this very method a step */
        return fail_control(name, error);
    /* slow motion from its slow point, however small the oscillation that it begins with */
    TAUT_TRY(taut_refine_end(solver, error));
    keep(b, solver, b->start);
    int status = taut_solver_advance(solver, b->until, error);
    if (status > 0)
        return taut_fail(error, TAUT_ERROR_STEP, "%s ended at t = %g: %s", name,
                         taut_solver_time(solver), taut_code_text(status));
    if (status == 0)
        keep(b, solver, b->state);
    return status;
}

/* One run into b->state. */
static int run(bench *b, const taut_method *method, double value, bool tolerance, int64_t limit,
               taut_compared *row, taut_error *error)
{
    taut_solver *solver = NULL;
    if (tolerance && method->error_order == 0) /* else the missing step would be the error */
        return fail_control(method->name, error);
    clock_t begin = clock();
    int status = make(b, method, value, tolerance, limit, &solver, error);
    if (status == 0)
        status = finish(b, solver, tolerance, error);
    if (row) {
        row->seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (solver)
            row->statistics = solver->statistics;
    }
    taut_solver_destroy(solver);
    return status;
}

/* Motion and end time as a run without a method would choose them; when no method fits by
 * itself, the first compared one decides. */
static int survey(bench *b, const taut_compare_request *request, taut_error *error)
{
    taut_solver *solver = NULL;
    double step = request->tolerances ? 0 : request->values[0];
    taut_error reason;
    int status = make(b, NULL, 0, false, 0, &solver, error);
    for (int k = 0; k < request->method_count && status != 0; k++) {
        TAUT_TRY(taut_fail_final(status, error, error));
        int later =
            make(b, taut_method_find(request->methods[k]), step, false, 0, &solver, &reason);
        TAUT_TRY(taut_fail_final(later, &reason, error));
        status = later == 0 ? TAUT_OK : status; /* the first reason explains */
    }
    TAUT_TRY(status);
    taut_sizes sizes;
    taut_system_sizes(b->system, &sizes);
    bool mechanical = sizes.kind == TAUT_MECHANICAL;
    b->motion = mechanical ? solver->motion : 0;
    b->until = solver->until;
    b->size = fmin(taut_largest(sizes.coordinates, solver->stepper.now.q), 1);
    b->size = b->size > 0 ? b->size : 1;
    b->n = sizes.coordinates;
    b->m = mechanical ? sizes.coordinates : sizes.algebraic;
    taut_solver_destroy(solver);
    return isfinite(b->until)
               ? TAUT_OK
               : taut_fail_option(error, TAUT_ERROR_USAGE, "until",
                                  "an end time is required, at which results are compared");
}

/* Methods of variable order are less accurate at the same tolerance. */
static int rank(const taut_method *method)
{
    return method->propose ? 0 : method->order;
}

/* Methods with adaptive step size, highest order first. */
static int find_candidates(const taut_method **candidate)
{
    int count = 0;
    for (int k = 0; taut_method_table[k] && count < MOST_CANDIDATES; k++) {
        const taut_method *method = taut_method_table[k];
        if (method->error_order == 0)
            continue;
        int place = count++;
        for (; place > 0 && rank(candidate[place - 1]) < rank(method); place--)
            candidate[place] = candidate[place - 1];
        candidate[place] = method;
    }
    return count;
}

/* ---- the full motion from a slow point */

/* Begins again at b->start. */
static int begin_at_start(const bench *b, taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_copy(b->n, b->start, s->now.q);
    taut_copy(b->m, b->start + b->n, taut_state_v(&s->now));
    s->method->changed(s);
    TAUT_TRY(s->method->multipliers(s, s->now.t, s->now.q, taut_state_v(&s->now),
                                    taut_state_lambda(&s->now), error));
    return taut_ledger_begin(solver, &s->now, error);
}

/* Does an explicit method get through the oscillations of the springs, a step of two over the
 * fastest frequency each, at the price? */
static int affordable(const bench *b, taut_solver *solver, int64_t steps, bool *yes,
                      taut_error *error)
{
    taut_diagnosis d;
    int status = taut_diagnose(solver->context, solver->from, b->start, NULL, TAUT_DIAGNOSE_FASTEST,
                               TAUT_BACKEND_AUTO, &d, error);
    *yes = status == 0 && d.fastest > 0 &&
           d.fastest * fabs(b->until - solver->from) <= 2 * (double)steps;
    return status;
}

/* The full motion from the initial state of the latest run into b->state. *done: it came to the
 * end. */
static int run_full(bench *b, double tolerance, bool *done, taut_error *error)
{
    taut_solver *solver = NULL;
    taut_error reason = {.t = NAN};
    int64_t steps = (int64_t)(full_price / (b->n + b->m + 1));
    bench full = *b;
    full.motion = TAUT_MOTION_FULL;
    *done = false;
    bool yes = false;
    int status = make(&full, &taut_dop8, tolerance, true, steps, &solver, &reason);
    if (status == 0)
        status = affordable(b, solver, steps, &yes, &reason);
    if (status == 0 && yes)
        status = begin_at_start(b, solver, &reason);
    if (status == 0 && yes) {
        status = taut_solver_advance(solver, b->until, &reason);
        *done = status == 0;
        if (*done)
            keep(b, solver, b->state);
    }
    taut_solver_destroy(solver);
    return *done ? TAUT_OK : taut_fail_final(status, &reason, error);
}

/* ---- references */

static void measure(bench *b, taut_comparison *c)
{
    c->uncertainty = taut_largest_difference(b->n, b->end[0], b->end[1]);
    c->uncertainty_velocity = taut_largest_difference(b->m, b->end[0] + b->n, b->end[1] + b->n);
}

/* Another motion as the second reference, when the motion is slow: *found. The reason when not:
 * note. */
static int slow_reference(bench *b, double tolerance, taut_comparison *c, bool *found, char *note,
                          size_t size, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(b->system, &sizes);
    *found = false;
    note[0] = '\0';
    if (b->motion != TAUT_MOTION_SLOW)
        return TAUT_OK;
    bool done = false;
    if (!(sizes.can & TAUT_HAS_EVENTS)) /* a state that an event altered oscillates */
        TAUT_TRY(run_full(b, tolerance, &done, error));
    if (!done) {
        snprintf(note, size,
                 "; both are of one family, since the full motion as an independent one %s",
                 sizes.can & TAUT_HAS_EVENTS ? "oscillates after events" : "needs too many steps");
        return TAUT_OK;
    }
    taut_copy((int64_t)b->n + b->m, b->state, b->end[1]);
    measure(b, c);
    *found = c->uncertainty <= wide_limit * fmax(taut_largest(b->n, b->end[0]), DBL_MIN);
    if (!*found)
        snprintf(note, size,
                 "; the full motion from there is %.1e away: slow and fast are not separated "
                 "enough for a closer comparison",
                 c->uncertainty);
    return TAUT_OK;
}

/* Runs into b->end[which] with the first candidate from *k on that can; NULL: none. */
static int next_reference(bench *b, const taut_method **candidate, int count, int *k,
                          double tolerance, int which, const taut_method **used, taut_error *last,
                          taut_error *error)
{
    *used = NULL;
    for (; *k < count && !*used; ++*k) {
        int status = run(b, candidate[*k], tolerance, true, step_limit, NULL, last);
        TAUT_TRY(taut_fail_final(status, last, error));
        if (status != 0)
            continue;
        *used = candidate[*k];
        taut_copy((int64_t)b->n + b->m, b->state, b->end[which]);
    }
    return TAUT_OK;
}

static int make_references(bench *b, double tolerance, taut_comparison *c, taut_error *error)
{
    const taut_method *candidate[MOST_CANDIDATES], *used[2] = {NULL, NULL};
    int count = find_candidates(candidate), k = 0;
    /* the steps of the full motion are short anyway */
    double second = tolerance, finer = fmax(tolerance / 100, tightest);
    bool full = false;
    char note[200];
    taut_error last = {.t = NAN};
    TAUT_TRY(next_reference(b, candidate, count, &k, tolerance, 0, &used[0], &last, error));
    if (!used[0])
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "no method can give a reference for this motion: %.300s", last.message);
    TAUT_TRY(slow_reference(b, finer, c, &full, note, sizeof note, error));
    second = full ? finer : tolerance;
    if (!full)
        TAUT_TRY(next_reference(b, candidate, count, &k, tolerance, 1, &used[1], &last, error));
    if (!full && !used[1]) {
        used[1] = used[0];
        second = 10 * tolerance;
        TAUT_TRY(run(b, used[1], second, true, step_limit, NULL, error));
        taut_copy((int64_t)b->n + b->m, b->state, b->end[1]);
    }
    measure(b, c);
    const char *other = full ? "the full motion by dop8 from the same slow point" : used[1]->name;
    snprintf(
        c->explanation, sizeof c->explanation,
        "%s%s at t = %.6g; reference %s with tolerance %.0e, of which %s with %.0e is %.1e away%s",
        b->motion ? "motion " : "first order", taut_motion_name(b->motion), b->until, used[0]->name,
        tolerance, other, second, c->uncertainty, note);
    if (!(c->uncertainty <= wide_limit * fmax(taut_largest(b->n, b->end[0]), DBL_MIN)))
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "two references do not agree: %s with tolerance %.0e and %s with %.0e are "
                         "%.2g apart at t = %g; the motion may be too sensitive for so long a "
                         "time: compare at an earlier end time",
                         used[0]->name, tolerance, other, second, c->uncertainty, b->until);
    return TAUT_OK;
}

/* order = log(e1/e2) / log(h1/h2) against the row before, of the same method; 0 and failures
 * have none. */
static double observed_order(const taut_compared *before, const taut_compared *now,
                             double uncertainty)
{
    if (before->message || now->message || before->value == now->value ||
        !(now->error > uncertainty))
        return NAN;
    return log(before->error / now->error) / log(before->value / now->value);
}

static int fill_row(bench *b, taut_comparison *c, const taut_compare_request *request, int k,
                    taut_error *error)
{
    taut_compared *row = &c->row[k];
    taut_error why = {.t = NAN};
    const char *name = request->methods[k / request->value_count];
    *row = (taut_compared){.value = request->values[k % request->value_count],
                           .error = NAN,
                           .error_velocity = NAN,
                           .order = NAN,
                           .uncertainty = c->uncertainty,
                           .uncertainty_velocity = b->m > 0 ? c->uncertainty_velocity : NAN};
    row->method = taut_arena_text(b->arena, name, strlen(name));
    TAUT_NEED(error, row->method);
    int status = run(b, taut_method_find(name), row->value, request->tolerances, 0, row, &why);
    TAUT_TRY(taut_fail_final(status, &why, error));
    if (status != 0) {
        row->message = taut_arena_text(b->arena, why.message, strlen(why.message));
        return row->message ? TAUT_OK : taut_fail_memory(error);
    }
    row->error = taut_largest_difference(b->n, b->state, b->end[0]);
    row->error_velocity =
        b->m > 0 ? taut_largest_difference(b->m, b->state + b->n, b->end[0] + b->n) : NAN;
    if (!request->tolerances && k % request->value_count > 0)
        row->order = observed_order(row - 1, row, c->uncertainty);
    return TAUT_OK;
}

static int check_request(const taut_compare_request *r, taut_error *error)
{
    if (!r || r->method_count < 1 || r->value_count < 1 || !r->methods || !r->values)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "a comparison needs methods, and steps or tolerances");
    if (r->method_count > MOST_ROWS / r->value_count)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "a comparison of %d methods with %d values is too large", r->method_count,
                         r->value_count);
    for (int k = 0; k < r->method_count; k++) /* an unknown name is an error, not a result */
        if (!taut_method_find(r->methods[k]))
            return taut_method_unknown("methods", r->methods[k], error);
    for (int k = 0; k < r->value_count; k++)
        if (!(r->values[k] > 0 && r->values[k] <= (r->tolerances ? 1 : DBL_MAX)))
            return taut_fail(error, TAUT_ERROR_USAGE, "%s: expected numbers > 0%s, found %g",
                             r->tolerances ? "tolerances" : "steps",
                             r->tolerances ? " and <= 1" : "", r->values[k]);
    return TAUT_OK;
}

static int compare(const taut_system *system, const taut_options *options,
                   const taut_compare_request *request, taut_comparison *c, taut_error *error)
{
    bench b = {.system = system, .given = options, .arena = &c->arena, .size = 1};
    TAUT_TRY(check_request(request, error));
    TAUT_TRY(survey(&b, request, error));
    int64_t size = (int64_t)b.n + b.m;
    int rows = request->method_count * request->value_count;
    c->row = TAUT_NEW(&c->arena, taut_compared, rows);
    b.state = TAUT_NEW(&c->arena, double, 4 * size);
    TAUT_NEED(error, c->row, b.state);
    b.end[0] = b.state + size;
    b.end[1] = b.end[0] + size;
    b.start = b.end[1] + size;
    /* a fixed step size has no tolerance */
    double tolerance = request->tolerances ? INFINITY : 1000 * tightest;
    for (int k = 0; k < request->value_count && request->tolerances; k++)
        tolerance = fmin(tolerance, request->values[k]);
    TAUT_TRY(make_references(&b, fmax(tolerance / 100, tightest), c, error));
    for (; c->rows < rows; c->rows++)
        TAUT_TRY(fill_row(&b, c, request, c->rows, error));
    return TAUT_OK;
}

int taut_compare(const taut_system *system, const taut_options *options,
                 const taut_compare_request *request, const taut_allocator *allocator,
                 taut_comparison **comparison, taut_error *error)
{
    taut_compare_request own;
    taut_error_clear(error);
    if (comparison)
        *comparison = NULL;
    TAUT_REQUIRE(system && comparison);
    TAUT_TRY(taut_struct_read(&own, sizeof own, request, "taut_compare_request", error));
    taut_allocator from = taut_allocator_or_default(allocator);
    taut_comparison *c = from.allocate(from.user, sizeof *c);
    TAUT_NEED(error, c);
    *c = (taut_comparison){.uncertainty = NAN};
    taut_arena_init(&c->arena, &from);
    int status = compare(system, options, &own, c, error);
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

int taut_comparison_get(const taut_comparison *comparison, int k, taut_compared *row,
                        taut_error *error)
{
    TAUT_REQUIRE(comparison && k >= 0 && k < comparison->rows);
    return taut_struct_fill(row, &comparison->row[k], sizeof *row, "taut_compared", error);
}

const char *taut_comparison_explanation(const taut_comparison *comparison, double *uncertainty)
{
    if (uncertainty)
        *uncertainty = comparison ? comparison->uncertainty : NAN;
    return comparison ? comparison->explanation : NULL;
}
