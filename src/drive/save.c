/* save.c - a run written so that another process goes on with it, bit for bit.
 *
 *     "TAUTRUN", format, byte order | version of Taut | fingerprint | the walk | SHA-256
 *
 * One walk (base/archive.h) writes and reads everything that the next step depends on. The
 * fingerprint (fingerprint.c) shows that the solver which reads was made as the one which wrote. Of
 * several ranks the first one writes; the bytes are those of one process, so that any number of
 * ranks can read them. */
#include "drive/guard_watch.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "slow/multiplier_recursion.h"
#include "system/rank_part.h"

enum { FORMAT = 5 };
static const char magic[8] = "TAUTRUN";

/* ---- the walk */

static void walk_state(const taut_stepper *s, taut_state *x, taut_archive *a)
{
    const taut_part *part = s->context->system->part;
    const taut_halo *halo = part ? &part->coordinates : NULL;
    taut_archive_real(a, &x->t);
    taut_archive_spread(a, halo, x->q, s->n);
    taut_archive_spread(a, halo, x->v, x->v ? s->n : 0);
    taut_archive_spread(a, halo, x->a, s->n);
    taut_archive_spread(a, part ? &part->bonds : NULL, taut_state_lambda(x), s->m);
}

/* Branches of conditions, what is known of them, and what slides; before the stepper, whose field
 * depends on it. */
static void walk_guards(taut_solver *solver, taut_archive *a)
{
    taut_guard_watch *w = &solver->guards;
    taut_sliding *s = w->sliding;
    const taut_system *system = solver->moving;
    double *const array[] = {w->branch,      w->next,  w->held,        w->before,
                             w->slope,       w->after, w->slope_after, w->trial,
                             w->trial_slope, w->at,    w->drift};
    unsigned char *const flags[] = {w->slides, w->held_slides, w->next_slides, w->touched};
    double *const number[] = {&w->way, &w->clear, &w->stop, &w->aim};
    bool *const flag[] = {&w->settled, &w->pending, &w->aimed};
    int *const integer[] = {&w->aims, &w->passes, &w->chatters};
    if (w->count == 0)
        return;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_guards *guards = system->kernel[k]->guards;
        bool released = guards && solver->context->hold->kernel[k] != guards->held;
        taut_archive_flag(a, &released);
        if (a->reading && guards && released)
            taut_guard_drop(solver, k);
    }
    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++)
        taut_archive_reals(a, array[k], w->count);
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        taut_archive_bytes(a, flags[k], (size_t)w->count);
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    for (size_t k = 0; k < sizeof flag / sizeof flag[0]; k++)
        taut_archive_flag(a, flag[k]);
    for (size_t k = 0; k < sizeof integer / sizeof integer[0]; k++)
        taut_archive_integer(a, integer[k], 0, INT_MAX - 1);
    taut_archive_reals(a, w->a, solver->stepper.n);
    taut_archive_reals(a, w->a_old, solver->stepper.n);
    taut_archive_reals(a, w->contact, w->families);
    for (int32_t k = 0; k < w->families; k++)
        taut_archive_integer(a, &w->rough[k], 0, INT_MAX - 1);
    int64_t latest = w->latest + 1;
    taut_archive_count(a, &latest);
    taut_archive_count(a, &w->switches);
    w->latest = latest <= w->count ? latest - 1 : -1;
    if (!s)
        return;
    bool known = s->known;
    taut_archive_reals(a, s->matrix, (int64_t)(sizeof s->matrix / sizeof s->matrix[0]));
    taut_archive_flag(a, &known);
    if (a->reading)
        taut_slide_set(solver);
    s->known = known;
}

static void walk_stepper(taut_solver *solver, taut_archive *a)
{
    taut_stepper *s = &solver->stepper;
    const taut_halo *halo = taut_run_halo(solver);
    int64_t weights = s->weight_q ? s->n : 0;
    walk_state(s, &s->now, a);
    walk_state(s, &s->last, a);
    walk_state(s, &solver->probe, a);
    taut_archive_spread(a, halo, s->error_q, s->n);
    taut_archive_spread(a, halo, s->error_v, s->n);
    taut_archive_spread(a, halo, s->weight_q, weights);
    taut_archive_spread(a, halo, s->weight_v, weights);
    taut_archive_real(a, &s->atol);
    taut_switch_archive(solver, a);
    taut_field *field = solver->guards.sliding ? solver->guards.sliding->inner : s->field;
    if (field && field->archive)
        field->archive(field, a);
    taut_slow_level_archive(solver, a);
    taut_projecting_archive(solver, a);
    if (solver->algebraic && solver->algebraic->archive)
        solver->algebraic->archive(solver->algebraic, a);
    taut_projector *const projector[] = {solver->stabilizer, solver->onto_rigid, solver->slow};
    for (int k = 0; k < 3; k++)
        if (projector[k] && projector[k]->archive)
            projector[k]->archive(projector[k], a);
}

static void walk_control(taut_control *c, taut_archive *a)
{
    double *const number[] = {&c->h, &c->before, &c->largest, &c->failed, &c->reason.t};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_flag(a, &c->held);
    taut_archive_integer(a, &c->failure, TAUT_ERROR_STOPPED, TAUT_RETRY);
    taut_archive_integer(a, &c->reason.code, TAUT_ERROR_STOPPED, TAUT_RETRY);
    taut_archive_text(a, c->reason.message, sizeof c->reason.message);
}

static void walk_norm(taut_error_norm *n, taut_archive *a)
{
    taut_index bonds = n->lambda ? n->bonds.count : 0;
    double *const number[] = {&n->elapsed, &n->length,  &n->share,     &n->pull,
                              &n->reach,   &n->tried,   &n->tried_off, &n->most_q,
                              &n->most_v,  &n->least_v, &n->least_g};
    double *const group[] = {n->q, n->v, n->square, n->now_q, n->now_v, n->last_v};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_integer(a, &n->steps, 0, INT_MAX);
    for (size_t k = 0; k < sizeof group / sizeof group[0]; k++)
        taut_archive_reals(a, group[k], group[k] ? n->coordinates.count : 0);
    taut_archive_reals(a, n->lambda, bonds);
    taut_archive_reals(a, n->force, bonds);
}

static void walk_step_work(taut_step_work *w, taut_archive *a)
{
    taut_step_energy *e = &w->energy;
    double *const number[] = {&w->t,      &e->sum,      &e->held, &e->rounding,   &w->length,
                              &w->passed, &w->integral, &w->done, &w->unexplained};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_integer(a, &w->calm, INT_MIN + 1, INT_MAX);
    taut_archive_count(a, &w->seen);
}

static void walk_ledger(taut_ledger *l, taut_archive *a)
{
    taut_work *w = &l->work;
    double *const number[] = {&l->t,           &l->energy,    &l->kinetic,    &l->springs,
                              &l->held,        &l->stiff,     &l->passed,     &l->integral,
                              &l->jumps,       &w->t,         &w->step,       &w->potential,
                              &w->gained,      &w->power.sum, &w->power.tail, &w->power.value,
                              &w->power.slope, &w->loss.sum,  &w->loss.tail,  &w->loss.value,
                              &w->loss.slope};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_integer(a, &w->samples, 0, INT_MAX - 1);
    taut_archive_integer(a, &l->calm, INT_MIN + 1, INT_MAX);
    taut_archive_integer(a, &l->beyond, 0, INT_MAX - 1);
    taut_archive_count(a, &l->seen);
    taut_archive_count(a, &l->rejected);
    walk_step_work(&l->step, a);
}

static void walk_refined(taut_solver *solver, taut_archive *a)
{
    taut_refined *f = &solver->refined;
    bool room = f->state.q != NULL;
    taut_archive_flag(a, &f->on);
    taut_archive_flag(a, &f->verified);
    taut_archive_flag(a, &f->of_now);
    taut_archive_integer(a, &f->level, 0, f->recursion ? f->recursion->most : 0);
    taut_archive_integer(a, &f->since, 0, INT_MAX - 1);
    taut_archive_integer(a, &f->refused, 0, INT_MAX - 1);
    taut_archive_real(a, &f->uncertainty);
    if (room)
        walk_state(&solver->stepper, &f->state, a);
    else if (f->on)
        taut_archive_fail(a, TAUT_ERROR_FILE, "its rows are of another kind");
}

/* Rigid bonds: which follow from others, and how close they are to a singular configuration. */
static void walk_rigid(taut_solver *solver, taut_archive *a)
{
    taut_redundant *r = &solver->redundant;
    taut_singular_watch *s = &solver->singular;
    double *const number[] = {&r->selected, &r->coefficient, &r->off,   &s->t,
                              &s->s,        &s->rate,        &s->latest};
    taut_index bonds = solver->system->sizes.bonds, last = bonds > 0 ? bonds - 1 : 0;
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_integer(a, &r->worst, 0, last);
    taut_archive_integer(a, &s->bond, 0, last);
    taut_archive_integer(a, &s->found, 0, INT_MAX - 1);
    taut_archive_text(a, s->first, sizeof s->first);
    for (int k = 0; k < 2; k++)
        taut_archive_text(a, solver->notice[k], sizeof solver->notice[k]);
}

static void walk_watch(taut_solver *solver, taut_archive *a)
{
    taut_watch *w = &solver->watch;
    taut_drift *d = &solver->drift;
    taut_archive_reals(a, w->before, w->count);
    taut_archive_reals(a, w->met, w->count);
    taut_archive_reals(a, w->window, w->count);
    taut_archive_reals(a, w->gap, w->count);
    taut_archive_reals(a, w->ratio, w->count);
    taut_archive_reals(a, w->limit, w->count);
    for (taut_index k = 0; k < w->count; k++) {
        taut_archive_integer(a, &w->in_window[k], 0, INT_MAX - 1);
        taut_archive_integer(a, &w->agree[k], 0, INT_MAX - 1);
    }
    double *const number[] = {&d->measured, &d->position, &d->velocity, &d->most_position,
                              &d->most_velocity};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    const taut_part *part = solver->model->part;
    taut_archive_spread(a, part ? &part->bonds : NULL, d->first,
                        d->rows > 0 ? solver->sizes.bonds : 0);
    taut_archive_reals(a, d->kept, d->conserved);
}

static void walk_counters(taut_solver *solver, taut_archive *a)
{
    taut_statistics *s = &solver->statistics;
    int64_t *const count[] = {&s->steps,
                              &s->rejected,
                              &s->force_evaluations,
                              &s->fast_force_evaluations,
                              &s->jets,
                              &s->jacobians,
                              &s->factorisations,
                              &s->solves,
                              &s->newton_iterations,
                              &s->micro_steps,
                              &s->stabilizer_factorisations,
                              &s->stabilizer_solves,
                              &s->stabilizer_evaluations,
                              &s->projections,
                              &solver->altered,
                              &solver->rows.next,
                              &solver->plan.done,
                              &solver->plan.count};
    for (size_t k = 0; k < sizeof count / sizeof count[0]; k++)
        taut_archive_count(a, count[k]);
}

/* All but what is made with the solver and never changes. */
static void walk(taut_solver *solver, taut_archive *a)
{
    taut_plan *p = &solver->plan;
    taut_redundant_archive(solver, a);
    if (a->status != TAUT_OK)
        return; /* there may be nothing to walk over */
    walk_guards(solver, a);
    walk_stepper(solver, a);
    walk_control(&solver->control, a);
    walk_norm(&solver->norm, a);
    walk_ledger(&solver->ledger, a);
    walk_refined(solver, a);
    walk_watch(solver, a);
    walk_rigid(solver, a);
    taut_monitor_archive(&solver->monitor, a);
    walk_counters(solver, a);
    double *const number[] = {&solver->step,
                              &solver->rows.written,
                              &solver->size,
                              &solver->energy_first,
                              &solver->energy_last,
                              &solver->energy_base,
                              &solver->energy_scale,
                              &solver->kinetic_most,
                              &solver->put_back,
                              &p->start,
                              &p->target,
                              &p->h};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    taut_archive_spread(a, taut_run_halo(solver), solver->verified,
                        solver->verified ? solver->stepper.n : 0);
    taut_archive_flag(a, &solver->event_met);
    taut_archive_text(a, solver->event_name, sizeof solver->event_name);
    taut_archive_text(a, solver->explanation, sizeof solver->explanation);
}

/* ---- writing */

/* Bytes on their way out, and what they add up to. */
typedef struct output {
    taut_write write;
    void *user;
    taut_digest digest;
} output;

static int write_bytes(void *user, const void *bytes, size_t count)
{
    output *to = user;
    taut_digest_add(&to->digest, bytes, count);
    return to->write(to->user, bytes, count);
}

static void walk_head(taut_archive *a, int *format, char *version, size_t size)
{
    char mark[sizeof magic];
    int order = 0x01020304;
    memcpy(mark, magic, sizeof mark);
    taut_archive_bytes(a, mark, sizeof mark);
    if (memcmp(mark, magic, sizeof mark) != 0)
        taut_archive_fail(a, TAUT_ERROR_FILE, "this is not a saved run");
    taut_archive_same(a, order, "it is from a machine with another order of bytes");
    taut_archive_integer(a, format, 0, INT_MAX);
    if (*format == FORMAT)
        taut_archive_text(a, version, size);
}

static int refuse_saving(const taut_solver *solver, taut_error *error)
{
    if (solver->better)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "a run whose error was measured by a second run is finished and cannot be "
                         "saved; set the option verify to never");
    if (!solver->stepper.method->archive)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s does not support saving: it has no function that writes what "
                         "it remembers",
                         solver->stepper.method->name);
    if (taut_run_space(solver) && solver->stepper.method->saved_alone)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "a run over several ranks by method %s cannot be saved: run without a "
                         "checkpoint, or by an explicit method",
                         solver->stepper.method->name);
    if (taut_run_space(solver) && taut_options_given(solver->options, "stabilize-refresh"))
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize-refresh",
                                "a run over several ranks with this option cannot be saved: omit "
                                "it, or run without a checkpoint");
    return TAUT_OK;
}

/* Of several ranks the first one writes. */
static int write_nothing(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return 0;
}

static int prepare_ranks(const taut_solver *solver, taut_arena *arena, taut_archive *a,
                         taut_error *error)
{
    const taut_part *part = solver->model->part;
    if (!part)
        return TAUT_OK;
    const int64_t rooms[] = {taut_halo_room(&part->coordinates), taut_halo_room(&part->bonds)};
    a->space = part->space;
    a->write = part->space->rank == 0 ? a->write : write_nothing;
    return taut_space_agree(
        part->space, TAUT_RESERVE(arena, rooms[rooms[1] > rooms[0]], error, &a->room), error);
}

static void write_run(taut_solver *solver, taut_fingerprint *fingerprint, output *to,
                      taut_archive *a)
{
    unsigned char mark[TAUT_DIGEST_BYTES];
    char version[32];
    int format = FORMAT;
    /* rows that wait are not written: the run begins again */
    bool some = !solver->saving.waits, midway = solver->rows.sink != NULL || solver->midway;
    int outcome = solver->outcome == TAUT_EVENT && midway ? TAUT_EVENT : TAUT_OK;
    snprintf(version, sizeof version, "%s", taut_version());
    taut_digest_begin(&to->digest);
    walk_head(a, &format, version, sizeof version);
    taut_fingerprint_archive(fingerprint, a);
    taut_archive_flag(a, &some);
    if (some) {
        taut_archive_flag(a, &midway);
        taut_archive_integer(a, &outcome, TAUT_OK, TAUT_EVENT);
        walk(solver, a);
    }
    taut_digest_end(&to->digest, mark);
    taut_archive_bytes(a, mark, sizeof mark);
}

int taut_solver_save(taut_solver *solver, taut_write write, void *user, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(solver && write);
    TAUT_TRY(refuse_saving(solver, error));
    taut_fingerprint fingerprint;
    TAUT_TRY(taut_fingerprint_find(solver, &fingerprint, error));
    output to = {.write = write, .user = user};
    taut_archive a = {.write = write_bytes, .user = &to};
    taut_arena arena;
    taut_arena_init(&arena, &solver->arena.allocator);
    int status = prepare_ranks(solver, &arena, &a, error);
    if (status == 0)
        write_run(solver, &fingerprint, &to, &a);
    if (status == 0 && !taut_archive_agree(&a))
        status = taut_fail(error, a.status, "the run cannot be saved: %s", a.wrong);
    taut_arena_clear(&arena);
    return status;
}

/* ---- reading */

/* The digest at the end is that of everything before it. */
static bool is_whole(const taut_archive *a, size_t count)
{
    enum { PIECE = 1 << 14 };
    unsigned char piece[PIECE], found[TAUT_DIGEST_BYTES], mark[TAUT_DIGEST_BYTES];
    const size_t body = count - sizeof mark;
    taut_digest d;
    taut_digest_begin(&d);
    for (size_t at = 0, size; at < body; at += size) {
        size = body - at < PIECE ? body - at : PIECE;
        if (a->read(a->user, at, piece, size) != 0)
            return false;
        taut_digest_add(&d, piece, size);
    }
    taut_digest_end(&d, mark);
    return a->read(a->user, body, found, sizeof found) == 0 &&
           memcmp(mark, found, sizeof mark) == 0;
}

/* What is wrong with the bytes before they are used: they are of this version, and whole, as the
 * first of several ranks sees. */
static int check_bytes(const taut_solver *solver, taut_archive *a, taut_error *error)
{
    char version[32] = "";
    int format = -1;
    const size_t count = a->left;
    walk_head(a, &format, version, sizeof version);
    if (a->status == TAUT_OK && (format != FORMAT || strcmp(version, taut_version()) != 0))
        return taut_fail(error, TAUT_ERROR_FILE,
                         "the saved run is from Taut %s (format %d), and this is %s (format %d): "
                         "only the same version continues with the same numbers",
                         version[0] ? version : "of another version", format, taut_version(),
                         FORMAT);
    if (a->status == TAUT_OK && a->left < TAUT_DIGEST_BYTES)
        taut_archive_fail(a, TAUT_ERROR_FILE, "it ends too early");
    if (a->status == TAUT_OK) {
        a->left -= TAUT_DIGEST_BYTES;
        if (taut_space_rank(taut_run_space(solver)) == 0 && !is_whole(a, count))
            taut_archive_fail(a, TAUT_ERROR_FILE, "it is damaged or cut off");
    }
    return a->status == TAUT_OK
               ? TAUT_OK
               : taut_fail(error, a->status, "the saved run cannot be read: %s", a->wrong);
}

/* Times that no run has: not finite, or so large that rows cannot be distinguished. */
static bool has_times(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    double most = fmax(fabs(s->now.t), fabs(s->last.t)), every = solver->rows.every;
    bool finite = isfinite(s->now.t) && isfinite(s->last.t);
    return finite && !(every > 0 && 8 * DBL_EPSILON * most > every);
}

int taut_solver_restore_from(taut_solver *solver, taut_read read, void *user, size_t count,
                             taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(solver && read);
    if (solver->statistics.steps > 0 || solver->better || solver->stiff.other)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_solver_restore: the solver has made steps; a new one is needed");
    taut_archive a = {.reading = true, .read = read, .user = user, .left = count};
    TAUT_TRY(refuse_saving(solver, error));
    int whole = check_bytes(solver, &a, error);
    TAUT_TRY(taut_space_agree(taut_run_space(solver), whole, error));
    taut_fingerprint own, saved = {0};
    TAUT_TRY(taut_fingerprint_find(solver, &own, error));
    taut_fingerprint_archive(&saved, &a);
    if (!taut_fingerprint_alike(&saved, &own))
        taut_archive_fail(&a, TAUT_ERROR_FILE, "it is that of another model, or of other options");
    if (solver->motion == TAUT_MOTION_SLOW && (saved.ranks == 1) != (own.ranks == 1))
        taut_archive_fail(&a, TAUT_ERROR_FILE, /* one process watches the separation (monitor.c) */
                          "slow motion that several processes saved is resumed by several, that of "
                          "one process by one");
    bool some = false, midway = false;
    int outcome = TAUT_OK;
    taut_archive_flag(&a, &some);
    if (some) {
        taut_archive_flag(&a, &midway);
        taut_archive_integer(&a, &outcome, TAUT_OK, TAUT_EVENT);
        if (a.status == TAUT_OK)
            walk(solver, &a);
    }
    if (a.left > 0)
        taut_archive_fail(&a, TAUT_ERROR_FILE, "it is too long");
    if (!has_times(solver))
        taut_archive_fail(&a, TAUT_ERROR_FILE, "its time is none of the run");
    if (a.status != TAUT_OK)
        return taut_fail(error, a.status, "the saved run cannot be read: %s", a.wrong);
    solver->midway = midway;
    solver->outcome = outcome;
    return TAUT_OK;
}

static int read_memory(void *user, size_t at, void *bytes, size_t count)
{
    memcpy(bytes, (const unsigned char *)user + at, count);
    return 0;
}

int taut_solver_restore(taut_solver *solver, const void *bytes, size_t count, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(bytes);
    void *memory = (void *)(uintptr_t)bytes; /* not altered by reading */
    return taut_solver_restore_from(solver, read_memory, memory, count, error);
}

/* ---- when */

int taut_solver_checkpoint(taut_solver *solver, double seconds, taut_checkpoint call, void *user,
                           taut_error *error)
{
    TAUT_REQUIRE(solver && seconds >= 0);
    if (call)
        TAUT_TRY(refuse_saving(solver, error));
    solver->saving = (taut_saving){.call = call, .user = user, .every = seconds};
    return TAUT_OK;
}

/* Of several ranks the clock of the first one decides. */
static bool is_time(const taut_solver *solver)
{
    const taut_saving *saving = &solver->saving;
    taut_space *space = taut_run_space(solver);
    bool due = taut_space_rank(space) == 0 && taut_clock() - saving->called >= saving->every;
    return taut_space_largest(space, due) > 0;
}

int taut_saving_step(taut_solver *solver, bool now, taut_error *error)
{
    taut_saving *saving = &solver->saving;
    bool first = solver->statistics.steps == 0;
    if (!saving->call || saving->cut || !(now || is_time(solver)))
        return TAUT_OK;
    if (saving->waits && !first) /* the next row may be far away */
        TAUT_TRY(taut_verify_decide(saving->waits, error));
    if (saving->waits && !first)
        return TAUT_OK;
    int status = saving->call(saving->user, solver, error);
    saving->called = taut_clock();
    return status > 0 ? taut_fail(error, TAUT_ERROR_USAGE,
                                  "a checkpoint returned %d: 0 continues the run, a negative code "
                                  "ends it with an error",
                                  status)
                      : status;
}
