/* second_look.c - a second look: the run once more, more accurately, and how far both are apart.
 *
 * The first run has the tolerance of the user, the second a tenth of it and steps of at most T/97:
 * the same sampling would step over the same narrow force twice. Their difference, largest over the
 * rows and relative to the largest value of each group of variables, is the measured error of the
 * first; rows and end are those of the second, which is better. Where it is more than 100
 * tolerances (multipliers: 1000, besides their rounding) the run is repeated with tol^2/error,
 * while that is affordable; what remains is reported by TAUT_INACCURATE, and so is a first run
 * whose repetition fails.
 *
 * Where a finer run is not affordable, one with ten times the tolerance is compared. Where the
 * estimate of a step falls as h^k, errors at the end follow a power of the tolerance between
 * (k - 1)/k and 1, about k/(k + 1): the error of the result is the difference over
 * 10^(k/(k + 1)) - 1.
 *
 * Rows wait in memory until it is known which are written, unless another run costs too much
 * however few its steps are. A run that turns out to be long, by the number of its evaluations and
 * never by a clock, writes them at once and is not repeated more accurately, or, if it is longer
 * still, not at all. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "base/vectors.h"

static const double AFFORDABLE = 2e9; /* of the first run, in units of taut_system_work */
static const double ALL = 6e9;        /* of all runs */
static const double COARSER = 10;     /* times the tolerance of a run that costs too much */
static const double LOOSEST = 0.05;   /* rtol that such a run has at most */
static const double FAR = 100;        /* tolerances */
static const double PARTS = 97;       /* of the run: the longest step of the second one */
static const double SLOW_PARTS = 7;   /* the same by bursts, which a narrow force is longer than */
static const double FAR_LAMBDA = 10;  /* times as many of multipliers, besides rounding */
static const double LEAST_RTOL = 1e-13;
enum { MOST_RUNS = 4, MOST_NUMBERS = 30000000 }; /* rows in memory */

/* Between a run and its sinks. */
struct taut_waiting {
    taut_solver *solver;
    const taut_sink *sinks; /* of the caller */
    int count, begun;
    taut_memory_sink *memory;
    taut_sink keep; /* of memory */
    int64_t numbers;
    bool always, streams; /* verified at any cost; rows go to the caller's sinks */
    bool partial;         /* rows are not kept any more */
};
typedef struct taut_waiting waiting;

/* ---- rows that wait */

static int give_row(waiting *w, const taut_row *row, taut_error *error)
{
    for (int k = 0; k < w->count; k++)
        TAUT_TRY(taut_sink_status(w->sinks[k].row(w->sinks[k].user, row, error), "row", error));
    return TAUT_OK;
}

/* The rows in memory go to the caller's sinks, which begin here. */
static int flush(waiting *w, taut_error *error)
{
    taut_memory_rows rows = {.size = sizeof rows};
    taut_memory_sink_get(w->memory, &rows, NULL);
    TAUT_TRY(taut_sinks_begin(w->solver, w->sinks, w->count, &w->begun, error));
    for (int64_t i = 0; i < rows.rows; i++) {
        taut_row row = {.t = rows.t[i],
                        .q = rows.q + i * rows.coordinates,
                        .v = rows.v + i * rows.velocities,
                        .lambda = w->solver->stepper.first_order
                                      ? rows.v + i * rows.velocities
                                      : rows.lambda + i * rows.multipliers,
                        .outputs = rows.output + i * rows.outputs,
                        .drift_position = rows.drift[2 * i],
                        .drift_velocity = rows.drift[2 * i + 1],
                        .energy = rows.energy[i],
                        .event = (taut_index)rows.event[i]};
        TAUT_TRY(give_row(w, &row, error));
    }
    return TAUT_OK;
}

static int wait_begin(void *user, const taut_system *system, taut_error *error)
{
    waiting *w = user;
    return w->keep.begin(w->keep.user, system, error);
}

/* Does any other run cost too much? It has PARTS steps at least, of as many evaluations as the
 * method has stages, which are no fewer than its order. */
static bool is_hopeless(const waiting *w)
{
    const taut_solver *solver = w->solver;
    const taut_method *method = solver->stepper.method;
    const double evaluations = method->uses_stages ? method->order : 1;
    return !w->always && !solver->projective && isfinite(solver->until) &&
           PARTS * evaluations * taut_system_work(solver->system) > ALL;
}

int taut_verify_decide(taut_waiting *w, taut_error *error)
{
    if (w->streams || w->always ||
        !(taut_cost_run(w->solver) > AFFORDABLE || w->numbers > MOST_NUMBERS || is_hopeless(w)))
        return TAUT_OK;
    w->streams = true;
    w->solver->saving.waits = NULL;
    return flush(w, error);
}

static int wait_row(void *user, const taut_row *row, taut_error *error)
{
    waiting *w = user;
    const taut_stepper *s = &w->solver->stepper;
    TAUT_TRY(taut_verify_decide(w, error));
    w->partial =
        w->partial || (w->streams && (w->numbers > MOST_NUMBERS ||
                                      taut_cost_run(w->solver) > ALL / 2 || is_hopeless(w)));
    if (w->streams)
        TAUT_TRY(give_row(w, row, error));
    if (w->partial)
        return TAUT_OK;
    w->numbers += 2 * (int64_t)s->n + s->m;
    return w->keep.row(w->keep.user, row, error);
}

/* ---- how far two runs are apart */

typedef struct distance {
    double q, v, lambda; /* relative to the scales, largest over the rows */
    double force;        /* lambda without what rounding explains, in parts of FAR_LAMBDA */
    double until;        /* from here on more than is tolerable; NaN: nowhere */
} distance;

/* max |a_i - b_i| - noise of group k over scale[k]; the largest of all groups. */
static double apart(const taut_groups *groups, const double *scale, double noise, const double *a,
                    const double *b)
{
    double most = 0;
    for (taut_index k = 0; k < groups->count; k++) {
        taut_index first = groups->start[k], count = groups->start[k + 1] - first;
        double off = taut_largest_difference(count, a + first, b + first) - noise;
        most = off > 0 || isnan(off) ? taut_larger(most, off / scale[k]) : most;
    }
    return most;
}

/* scale[k]: the largest of group k over the rows, at least a thousandth of all. */
static void find_scales(const taut_groups *groups, int64_t rows, taut_index width, const double *x,
                        double *scale)
{
    double all = 0;
    for (taut_index k = 0; k < groups->count; k++) {
        taut_index first = groups->start[k], count = groups->start[k + 1] - first;
        scale[k] = 0;
        for (int64_t i = 0; i < rows; i++)
            scale[k] = fmax(scale[k], taut_largest(count, x + i * width + first));
        all = fmax(all, scale[k]);
    }
    for (taut_index k = 0; k < groups->count; k++)
        scale[k] = fmax(scale[k], 1e-3 * all);
}

/* Positions within atol of each other, and velocities that make no such difference, are equal. */
static void raise_scales(const taut_solver *solver, double *const scale[2])
{
    const taut_stepper *s = &solver->stepper;
    double least = s->atol / s->rtol, length = fabs(solver->until - solver->from);
    for (taut_index k = 0; k < solver->norm.coordinates.count; k++) {
        scale[0][k] = fmax(scale[0][k], least);
        scale[1][k] = fmax(scale[1][k], length > 0 ? least / length : 0);
    }
}

/* Row j of b and row i of a have the same time, and as many events before them. Rows in between
 * the times of one event belong to different sides of it. */
static bool next_pair(const taut_memory_rows *a, const taut_memory_rows *b, int64_t *i, int64_t *j)
{
    double way = b->t[b->rows - 1] < b->t[0] ? -1 : 1;
    for (++*i, ++*j; *i < a->rows && *j < b->rows;) {
        double gap = way * (a->t[*i] - b->t[*j]),
               tiny = 32 * DBL_EPSILON * fmax(fabs(a->t[*i]), fabs(b->t[*j]));
        if (fabs(gap) <= tiny && *i == *j)
            return true;
        if (fabs(gap) <= tiny || gap < 0)
            ++*i;
        if (fabs(gap) <= tiny || gap > 0)
            ++*j;
    }
    return false;
}

/* What multipliers may differ by in two runs because of rounding. */
static double noise_of(const taut_solver *a, const taut_solver *b)
{
    static const double OFTEN = 10; /* times what each of them states */
    double one = taut_refine_uncertainty(a), other = taut_refine_uncertainty(b);
    return OFTEN * ((one > 0 ? one : 0) + (other > 0 ? other : 0));
}

/* Largest differences over the rows that both have; NaN: they have none. */
static void compare_rows(const taut_solver *solver, double noise, const taut_memory_rows *a,
                         const taut_memory_rows *b, double *const scale[3], double tolerance,
                         distance *d)
{
    const taut_groups *coordinates = &solver->norm.coordinates, *bonds = &solver->norm.bonds;
    bool mechanical = !solver->stepper.first_order;
    int64_t pairs = 0;
    for (int64_t i = -1, j = -1; next_pair(a, b, &i, &j); pairs++) {
        const double *lambda = a->lambda + i * a->multipliers,
                     *other = b->lambda + j * b->multipliers;
        double q = apart(coordinates, scale[0], 0, a->q + i * a->coordinates,
                         b->q + j * b->coordinates),
               v = mechanical ? apart(coordinates, scale[1], 0, a->v + i * a->velocities,
                                      b->v + j * b->velocities)
                              : 0,
               force = apart(bonds, scale[2], noise, lambda, other) / FAR_LAMBDA;
        if (isnan(d->until) && !(fmax(fmax(q, v), force) <= FAR * tolerance))
            d->until = b->t[j];
        d->q = taut_larger(d->q, q);
        d->v = taut_larger(d->v, v);
        d->force = taut_larger(d->force, force);
        d->lambda = taut_larger(d->lambda, apart(bonds, scale[2], 0, lambda, other));
    }
    if (pairs <= 1 && b->rows > 1) /* the initial state alone says nothing */
        d->q = d->v = d->lambda = NAN;
}

static int compare(const waiting *x, const waiting *y, double tolerance, distance *d,
                   taut_error *error)
{
    const taut_error_norm *norm = &y->solver->norm;
    taut_memory_rows a = {.size = sizeof a}, b = {.size = sizeof b};
    taut_memory_sink_get(x->memory, &a, NULL);
    taut_memory_sink_get(y->memory, &b, NULL);
    *d = (distance){.until = NAN};
    taut_arena arena;
    double *scale[3];
    taut_arena_init(&arena, &y->solver->arena.allocator);
    int status = TAUT_RESERVE(&arena, norm->coordinates.count, error, &scale[0], &scale[1]);
    if (status == 0)
        status = TAUT_RESERVE(&arena, norm->bonds.count, error, &scale[2]);
    if (status == 0 && b.rows > 0) {
        find_scales(&norm->coordinates, b.rows, b.coordinates, b.q, scale[0]);
        if (!y->solver->stepper.first_order) {
            find_scales(&norm->coordinates, b.rows, b.velocities, b.v, scale[1]);
            raise_scales(y->solver, scale);
        }
        find_scales(&norm->bonds, b.rows, b.multipliers, b.lambda, scale[2]);
        compare_rows(y->solver, noise_of(x->solver, y->solver), &a, &b, scale, tolerance, d);
    }
    taut_arena_clear(&arena);
    return status;
}

/* ---- the runs */

static int open_waiting(waiting *w, taut_solver *solver, const taut_sink *sinks, int count,
                        bool always, taut_error *error)
{
    *w = (waiting){.solver = solver, .sinks = sinks, .count = count, .always = always};
    return taut_memory_sink_create(&solver->arena.allocator, &w->memory, &w->keep, error);
}

static int run(waiting *w, taut_progress progress, void *user, taut_error *error)
{
    taut_sink sink = {.begin = wait_begin, .row = wait_row, .user = w};
    w->solver->saving.waits = w;
    return taut_run_once(w->solver, &sink, 1, progress, user, error);
}

/* The same run with another tolerance: its motion and its method are those of the first, after a
 * switch the implicit one. Each has shorter steps at most than the one before: two runs whose steps
 * only this limits would be the same, and seem to have no error. */
static int make_finer(taut_solver *solver, int runs, double rtol, taut_solver **finer,
                      taut_error *error)
{
    taut_options *options = NULL;
    double length = fabs(solver->until - solver->from), most = solver->control.most,
           share = rtol / solver->asked;
    TAUT_TRY(taut_options_create(&solver->arena.allocator, &options, error));
    int status = taut_options_merge(options, solver->call, error);
    if (status == 0)
        status = taut_options_set_real(options, "rtol", rtol, error);
    if (status == 0 && solver->norm.given)
        status = taut_options_set_real(options, "atol", solver->stepper.atol * share, error);
    if (status == 0 && isfinite(length))
        status = taut_options_set_real(
            options, "max-step",
            fmin(most, length / (runs * (solver->projective ? SLOW_PARTS : PARTS))), error);
    if (status == 0 && !solver->stepper.first_order)
        status = taut_options_set(options, "motion", taut_motion_name(solver->motion), error);
    if (status == 0 && !solver->own)
        status = taut_options_set(options, "method", solver->stepper.method->name, error);
    if (status == 0)
        status = taut_options_set(options, "verify", "never", error);
    if (status == 0)
        status = taut_solver_create_own(solver->model, options, solver->own,
                                        &solver->arena.allocator, finer, error);
    taut_options_destroy(options);
    if (status == 0 && solver->kept.on)
        status = taut_solver_keep(*finer, true, error);
    return status;
}

static double error_of(const distance *d)
{
    return taut_larger(taut_larger(d->q, d->v), d->force);
}

/* The error is the distance over `times`. */
static void note_error(taut_solver *solver, const distance *d, double times)
{
    solver->error_q = d->q / times;
    solver->error_v = d->v / times;
    solver->error_lambda = d->lambda / times;
    solver->far = error_of(d) > times * FAR * solver->asked;
    solver->predictable = d->until;
}

/* The finer run takes the place of the solver for all that is asked of it from now on. */
static void adopt(taut_solver *solver, taut_solver *finer, const distance *d)
{
    taut_solver_destroy(solver->better);
    solver->better = finer;
    note_error(solver, d, 1);
}

/* How many times the steps of a run grow with rtol/times; those of the second one are short. In
 * full motion the error of a step is compared with tol h. */
static double more_steps(const taut_solver *solver, int runs, double times)
{
    const double parts = solver->projective ? SLOW_PARTS : PARTS,
                 least = runs == 1 ? parts / fmax((double)solver->statistics.steps, 1) : 0;
    return fmax(pow(times, 1.0 / fmax(taut_error_order(&solver->stepper) - 1, 1)), least);
}

/* The tolerance of the next run: a tenth at first, then what the error asks for, so that a further
 * one, which measures its error, remains possible. 0: no further one is needed, or helps, or is
 * affordable. */
static double next_tolerance(const taut_solver *solver, int runs, double rtol, const distance *d,
                             double cost, double spent, bool always)
{
    double asked = solver->asked, next = rtol / 10;
    if (runs > 1 && !(error_of(d) > FAR * asked))
        return 0;
    if (runs > 1 && isfinite(error_of(d)))
        next = fmin(next, fmax(asked * asked / error_of(d), 10 * LEAST_RTOL));
    next = fmax(next, LEAST_RTOL);
    double more = cost * more_steps(solver, runs, rtol / next);
    return next > 0.5 * rtol || runs >= MOST_RUNS || (!always && spent + more > ALL) ? 0 : next;
}

/* A finer run that failed: nothing is known of the rest of the first one. */
static void doubt(taut_solver *solver, const waiting *best, const waiting *failed)
{
    distance d;
    taut_error reason = {.t = NAN};
    double until = failed->solver->stepper.now.t;
    if (solver->better) /* the error is known already */
        return;
    int status = compare(best, failed, solver->asked, &d, &reason);
    solver->predictable = status == 0 && !isnan(d.until) ? d.until : until;
    solver->far = true;
}

/* Where steps decide which rows there are, the finer run has those of the one before it, and its
 * own events; times that were given are the same for all. Vibrating states exist at the ends of
 * steps only. */
static int follow_rows(const waiting *first, const waiting *before, taut_solver *finer,
                       taut_error *error)
{
    taut_memory_rows rows = {.size = sizeof rows};
    taut_memory_sink_get(before->memory, &rows, NULL);
    const taut_rows *given = &first->solver->rows;
    taut_rows *own = &finer->rows;
    double length = fabs(finer->until - finer->from), *times;
    bool raw = taut_options_flag(finer->options, "raw");
    if (given->times) {
        own->times = given->times;
        own->count = given->count;
        own->every = given->every;
    } else if (own->few && rows.rows > 0) {
        own->times = rows.t;
        own->count = rows.rows;
    } else if (own->every == 0 && rows.rows > 0 && isfinite(length) && !raw) {
        TAUT_TRY(TAUT_RESERVE(&finer->arena, rows.rows, error, &times));
        own->times = times;
        own->every = length;
        double met = NAN; /* an event, which has a row behind it too */
        for (int64_t i = 0; i < rows.rows; i++) {
            met = rows.event[i] != 0 ? rows.t[i] : met;
            if (rows.t[i] != met)
                times[own->count++] = rows.t[i];
        }
    }
    return TAUT_OK;
}

/* The run once more, rows in *next, whose solver may be NULL after an error. */
static int repeat(const waiting *first, const waiting *before, int runs, double rtol, waiting *next,
                  taut_progress progress, void *user, taut_error *error)
{
    taut_solver *other = NULL;
    *next = (waiting){0};
    TAUT_TRY(make_finer(first->solver, runs, rtol, &other, error));
    int status = open_waiting(next, other, first->sinks, first->count, true, error);
    const taut_rows own = other->rows;
    if (status == 0)
        status = follow_rows(first, before, other, error);
    if (status == 0) {
        status = run(next, progress, user, error);
        other->rows.times = NULL;
        other->rows.every = own.every;
        other->rows.count = own.count;
    }
    return status;
}

/* Runs with smaller tolerances, until two agree. `first` has finished; returns the better one in
 * *best (its rows still wait). */
static int look_again(taut_solver *solver, waiting *first, waiting *best, taut_progress progress,
                      void *user, taut_error *error)
{
    double rtol = solver->asked, cost = taut_cost_run(solver), spent = cost;
    distance d = {0};
    *best = *first;
    first->memory = NULL;
    for (int runs = 1;; runs++) {
        rtol = next_tolerance(solver, runs, rtol, &d, cost, spent, first->always);
        if (rtol == 0)
            return solver->better ? solver->better->status : solver->status;
        waiting next;
        taut_error reason = {.t = NAN};
        int status = repeat(first, best, runs, rtol, &next, progress, user, &reason);
        taut_solver *finer = next.solver;
        if (status >= 0 && status != TAUT_INTERRUPTED && status != TAUT_LIMIT) {
            status = compare(best, &next, solver->asked, &d, &reason);
            if (status == 0 && finer->status != best->solver->status)
                d.q = INFINITY; /* one met an event that the other did not */
        }
        if (status != 0) {
            if (status < 0 && next.memory && rtol > 10 * LEAST_RTOL)
                doubt(solver, best, &next);
            taut_memory_sink_destroy(next.memory);
            taut_solver_destroy(finer);
            TAUT_APPEND(solver->explanation, "; the second run, with rtol %g, %s%.500s", rtol,
                        status == TAUT_INTERRUPTED ? "was interrupted" : "failed: ",
                        status == TAUT_INTERRUPTED ? "" : reason.message);
            return status == TAUT_INTERRUPTED || taut_fail_final(status, &reason, error) != 0
                       ? status
                       : solver->status;
        }
        taut_memory_sink_destroy(best->memory);
        cost = taut_cost_run(finer);
        spent += cost;
        *best = next;
        adopt(solver, finer, &d);
    }
}

/* A run with a larger tolerance, where none with a smaller one was affordable; `result` has the
 * rows of the first. One that fails, or ends otherwise, says nothing. */
static int look_from_afar(taut_solver *solver, const waiting *result, taut_progress progress,
                          void *user, taut_error *error)
{
    double k = taut_error_order(&solver->stepper), cost = taut_cost_run(solver),
           times = pow(COARSER, k / (k + 1)) - 1, rtol = COARSER * solver->asked;
    if (result->partial || cost * (1 + more_steps(solver, 1, 1 / COARSER)) > ALL ||
        rtol > LOOSEST || solver->asked < LEAST_RTOL)
        return solver->status;
    waiting other;
    distance d;
    taut_error reason = {.t = NAN};
    int status = repeat(result, result, 1, rtol, &other, progress, user, &reason);
    bool same = status == solver->status;
    if (same)
        status = compare(&other, result, times * solver->asked, &d, &reason);
    if (same && status == 0) {
        note_error(solver, &d, times);
        TAUT_APPEND(solver->explanation,
                    "; its error is estimated by a run with rtol %g, a smaller one costs too much",
                    rtol);
    }
    taut_memory_sink_destroy(other.memory);
    taut_solver_destroy(other.solver);
    if (status != TAUT_INTERRUPTED && taut_fail_final(status, &reason, error) == 0)
        status = solver->status;
    return status;
}

int taut_verify_run(taut_solver *solver, const taut_sink *sinks, int count, taut_progress progress,
                    void *user, taut_error *error)
{
    waiting first, best;
    bool always = solver->verify == TAUT_VERIFY_ALWAYS;
    solver->far = false;
    TAUT_TRY(open_waiting(&first, solver, sinks, count, always, error));
    int status = run(&first, progress, user, error);
    best = first;
    taut_error reason = {.t = NAN};
    if (!first.streams && (status == TAUT_OK || status == TAUT_EVENT))
        status = look_again(solver, &first, &best, progress, user, error);
    if ((status == TAUT_OK || status == TAUT_EVENT) && !solver->better && !solver->far)
        status = look_from_afar(solver, &best, progress, user, error);
    /* what was computed is written, also after a failure */
    int written = first.streams ? 0 : flush(&best, status < 0 ? &reason : error);
    if (first.streams)
        best = first;
    status = status >= 0 && written < 0 ? written : status;
    int ended = taut_sinks_end(best.sinks, best.begun, status < 0 ? status : 0, error);
    status = ended < 0 ? ended : status;
    taut_memory_sink_destroy(best.memory);
    solver->saving.waits = NULL;
    if (solver->better && solver->better->asked <= 2 * LEAST_RTOL && solver->far)
        TAUT_APPEND(solver->explanation,
                    "; the result is not computable in double precision: at rtol %g rounding grows "
                    "to more than the tolerance",
                    solver->better->asked);
    if (status == TAUT_OK && solver->far)
        status = TAUT_INACCURATE;
    return solver->status = status;
}
