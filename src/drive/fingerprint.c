/* fingerprint.c - is a saved run (save.c) that of this model, with these options? Of one process a
 * digest of names, options and values of all functions of the system at the initial state and near
 * it. Of several ranks, whose sums are rounded in another order, a digest of what does not depend
 * on their number, and sums of values that are compared up to rounding. */
#include "drive/solver.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/options.h"
#include "system/rank_part.h"

static void add_names(taut_digest *d, const taut_system *system, taut_item item, taut_index count)
{
    char name[256];
    for (taut_index k = 0; k < count; k++) {
        int length = taut_system_name(system, item, k, name, sizeof name);
        taut_digest_add(d, name, (size_t)(length < 255 ? length + 1 : 256));
    }
}

static void add_options(taut_digest *d, const taut_solver *solver)
{
    int count;
    const taut_option *table = taut_option_table(&count);
    for (int k = 0; k < count; k++)
        if (table[k].in_model && taut_options_given(solver->options, table[k].name)) {
            const char *text = taut_options_text(solver->options, table[k].name);
            taut_digest_add(d, table[k].name, strlen(table[k].name) + 1);
            taut_digest_add(d, text, strlen(text) + 1);
        }
}

/* What the system gives at a point; where it cannot be evaluated, that it cannot. */
static void add_values(taut_digest *d, taut_context *context, const taut_sizes *z,
                       const taut_state *x, taut_values *to)
{
    unsigned wanted = TAUT_WANT_FORCE | (z->bonds > 0 ? TAUT_WANT_BOND | TAUT_WANT_JACOBIAN : 0);
    double *lambda = taut_state_lambda(x);
    int status = taut_evaluate_inside(context, x->t, x->q, taut_state_v(x), wanted, to, NULL);
    taut_digest_add(d, &status, sizeof status);
    if (status == 0) {
        taut_digest_add(d, to->force, (size_t)z->coordinates * sizeof(double));
        taut_digest_add(d, to->bond, (size_t)z->bonds * sizeof(double));
        taut_digest_add(d, to->jacobian, (size_t)z->jacobian_entries * sizeof(double));
    }
    if (z->events > 0 &&
        taut_evaluate_events(context, x->t, x->q, taut_state_v(x), lambda, to->gamma, NULL) == 0)
        taut_digest_add(d, to->gamma, (size_t)z->events * sizeof(double));
    if (z->outputs > 0 && taut_evaluate_outputs(context, x->t, x->q, taut_state_v(x), lambda,
                                                to->momentum, NULL) == 0)
        taut_digest_add(d, to->momentum, (size_t)z->outputs * sizeof(double));
}

static int add_points(taut_digest *d, taut_solver *solver, taut_context *context, taut_arena *arena,
                      taut_error *error)
{
    const taut_sizes *z = &solver->sizes;
    taut_stepper room = solver->stepper;
    taut_state x;
    taut_values to = {0};
    room.arena = arena;
    TAUT_TRY(taut_state_create(&room, &x, error));
    TAUT_TRY(TAUT_RESERVE(arena, z->coordinates, error, &to.force));
    TAUT_TRY(TAUT_RESERVE(arena, z->bonds, error, &to.bond, &to.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, z->jacobian_entries, error, &to.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, z->events, error, &to.gamma));
    TAUT_TRY(TAUT_RESERVE(arena, z->outputs, error, &to.momentum));
    x.t = solver->from;
    int status = taut_context_start(context, x.t, x.q, taut_state_v(&x), error);
    taut_digest_add(d, &status, sizeof status);
    for (int k = 0; k < 2 && status == 0; k++) {
        taut_digest_add(d, x.q, (size_t)room.n * sizeof(double));
        add_values(d, context, z, &x, &to);
        for (taut_index i = 0; i < room.n; i++) { /* no symmetry stays */
            x.q[i] += 1e-3 * (1 + 0.37 * (double)(i % 7)) * (fabs(x.q[i]) + 1e-3);
            if (x.v)
                x.v[i] += 1e-3 * (1 + 0.61 * (double)(i % 5)) * (fabs(x.v[i]) + 1e-3);
        }
        x.t += 1e-3 * (1 + fabs(x.t));
    }
    return TAUT_OK;
}

/* Of one process. */
static int find_mark(taut_solver *solver, taut_context *context, taut_arena *arena,
                     unsigned char *mark, taut_error *error)
{
    const taut_sizes *z = &solver->sizes;
    const double numbers[] = {solver->from, solver->until, solver->rows.every, solver->asked};
    const taut_index sizes[] = {z->coordinates, z->bonds,           z->algebraic,
                                z->outputs,     z->events,          z->jacobian_entries,
                                z->constraints, (taut_index)z->can, (taut_index)solver->motion};
    taut_digest d;
    const double *compliance = taut_context_compliance(context),
                 *damping = taut_context_damping(context);
    taut_digest_begin(&d);
    taut_digest_add(&d, sizes, sizeof sizes);
    taut_digest_add(&d, numbers, sizeof numbers);
    add_names(&d, solver->system, TAUT_COORDINATE, z->coordinates);
    add_names(&d, solver->system, TAUT_BOND, z->bonds);
    add_names(&d, solver->system, TAUT_OUTPUT, z->outputs);
    add_options(&d, solver);
    if (compliance && damping) {
        taut_digest_add(&d, compliance, (size_t)z->bonds * sizeof(double));
        taut_digest_add(&d, damping, (size_t)z->bonds * sizeof(double));
    }
    int status = add_points(&d, solver, context, arena, error);
    taut_digest_end(&d, mark);
    return status;
}

/* ---- the same for any number of ranks */

static void add_blocks(taut_digest *d, const taut_names *names)
{
    for (int64_t b = 0; b < names->blocks; b++) {
        const taut_name_block *block = &names->block[b].block;
        const int64_t sizes[] = {block->count, block->components, block->dims};
        taut_digest_add(d, names->block[b].name, strlen(names->block[b].name) + 1);
        taut_digest_add(d, sizes, sizeof sizes);
    }
}

static double sum_sizes(const taut_halo *halo, const double *x, taut_index count)
{
    double sum = 0;
    for (taut_index i = 0; i < count && !halo; i++)
        sum += fabs(x[i]);
    for (int k = 0; halo && k < halo->ranges; k++)
        for (taut_index i = halo->range[k][0]; i < halo->range[k][1]; i++)
            sum += fabs(x[i]);
    return taut_space_sum(halo ? halo->space : NULL, sum);
}

/* Near the initial state; the numbers of coordinates are those of the whole system. */
static int sum_values(taut_solver *solver, taut_context *context, taut_arena *arena, double *sum,
                      taut_error *error)
{
    const taut_sizes *z = &solver->sizes;
    const taut_part *part = solver->model->part;
    const taut_halo *halo = taut_run_halo(solver);
    double *q, *v;
    taut_values to = {0};
    TAUT_TRY(TAUT_RESERVE(arena, z->coordinates, error, &q, &v, &to.force));
    TAUT_TRY(TAUT_RESERVE(arena, z->bonds, error, &to.bond, &to.bond_dt));
    int status = taut_context_start(context, solver->from, q, v, error);
    sum[0] = status;
    sum[1] = sum_sizes(halo, q, z->coordinates);
    sum[2] = sum_sizes(halo, v, z->coordinates);
    for (taut_index i = 0; i < z->coordinates; i++) {
        const int64_t k = part ? taut_runs_number(&part->coordinate, i) : i;
        q[i] += 1e-3 * (1 + 0.37 * (double)(k % 7)) * (fabs(q[i]) + 1e-3);
        v[i] += 1e-3 * (1 + 0.61 * (double)(k % 5)) * (fabs(v[i]) + 1e-3);
    }
    if (status == 0)
        status = taut_evaluate_inside(context, solver->from, q, v, TAUT_WANT_FORCE | TAUT_WANT_BOND,
                                      &to, error);
    status = taut_space_agree(taut_run_space(solver), status, error);
    sum[3] = status;
    if (status == 0) {
        sum[4] = sum_sizes(halo, to.force, z->coordinates);
        sum[5] = sum_sizes(part ? &part->bonds : NULL, to.bond, z->bonds);
    }
    return TAUT_OK;
}

static void find_shared(const taut_solver *solver, unsigned char *mark)
{
    const taut_system *model = solver->model;
    const double numbers[] = {solver->from, solver->until, solver->rows.every, solver->asked};
    const int64_t sizes[] = {model->coordinates.total, model->bonds.total, model->outputs.total,
                             model->events.total, (int64_t)solver->motion};
    taut_digest d;
    taut_digest_begin(&d);
    taut_digest_add(&d, sizes, sizeof sizes);
    taut_digest_add(&d, numbers, sizeof numbers);
    add_blocks(&d, &model->coordinates);
    add_blocks(&d, &model->bonds);
    add_options(&d, solver);
    taut_digest_end(&d, mark);
}

int taut_fingerprint_find(taut_solver *solver, taut_fingerprint *to, taut_error *error)
{
    const bool alone = !taut_run_space(solver);
    taut_arena arena;
    /* of its own: the motion may have selected other rigid bonds meanwhile */
    taut_context *context = solver->context;
    *to = (taut_fingerprint){.ranks = taut_space_ranks(taut_run_space(solver))};
    if (alone)
        TAUT_TRY(taut_context_create(solver->model, &solver->arena.allocator, &context, error));
    taut_arena_init(&arena, &solver->arena.allocator);
    find_shared(solver, to->shared);
    int status = alone ? find_mark(solver, context, &arena, to->mark, error) : TAUT_OK;
    if (status == 0 && solver->sizes.kind == TAUT_MECHANICAL)
        status = sum_values(solver, context, &arena, to->sum, error);
    taut_arena_clear(&arena);
    if (alone)
        taut_context_destroy(context);
    return status;
}

void taut_fingerprint_archive(taut_fingerprint *f, taut_archive *a)
{
    taut_archive_bytes(a, f->mark, sizeof f->mark);
    taut_archive_bytes(a, f->shared, sizeof f->shared);
    taut_archive_reals(a, f->sum, (int64_t)(sizeof f->sum / sizeof f->sum[0]));
    taut_archive_integer(a, &f->ranks, 1, INT_MAX);
}

bool taut_fingerprint_alike(const taut_fingerprint *a, const taut_fingerprint *b)
{
    static const double ROUNDING = 1e-9;
    if (a->ranks == 1 && b->ranks == 1)
        return memcmp(a->mark, b->mark, sizeof a->mark) == 0;
    bool alike = memcmp(a->shared, b->shared, sizeof a->shared) == 0;
    for (size_t k = 0; k < sizeof a->sum / sizeof a->sum[0]; k++)
        alike = alike && fabs(a->sum[k] - b->sum[k]) <= ROUNDING * fabs(a->sum[k]);
    return alike;
}
