/* ranks_rows.c - rows and states of a run over several ranks, in the order of the whole system, on
 * rank 0: in pieces (base/space.h) where all sinks take them, so that no rank has a row as a whole;
 * else as a whole, up to a limit. */
#include "drive/solver.h"

#include <string.h>

#include "system/rank_part.h"

/* Names and sizes of the whole system, for output only. */
static int make_system(taut_solver *solver, taut_error *error)
{
    const taut_part *part = solver->model->part;
    taut_system *whole = taut_system_derive(solver->model, &solver->arena.allocator);
    TAUT_NEED(error, whole);
    whole->part = NULL;
    whole->coordinates.here = whole->bonds.here = NULL;
    whole->sizes.coordinates = (taut_index)part->coordinates.total;
    whole->sizes.bonds = (taut_index)part->bonds.total;
    solver->whole.system = whole;
    return TAUT_OK;
}

/* For pieces. */
static int prepare(taut_solver *solver, taut_error *error)
{
    taut_whole *w = &solver->whole;
    const taut_part *part = solver->model->part;
    if (w->room)
        return TAUT_OK;
    const int64_t rooms[] = {taut_halo_room(&part->coordinates), taut_halo_room(&part->bonds)};
    TAUT_TRY(TAUT_RESERVE(&solver->arena, rooms[rooms[1] > rooms[0]], error, &w->room));
    return part->space->rank == 0 ? make_system(solver, error) : TAUT_OK;
}

static int reserve_state(taut_solver *solver, taut_error *error)
{
    static const double MOST = 3e7; /* numbers of a state: 240 MB */
    taut_whole *w = &solver->whole;
    const taut_part *part = solver->model->part;
    const int64_t n = part->coordinates.total, m = part->bonds.total;
    const bool first = part->space->rank == 0;
    if (w->ready)
        return TAUT_OK;
    if (2. * (double)n + (double)m > MOST)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "a state of %.3g numbers is too large for one rank: write rows to a file of HDF5, or "
            "none, and no file of the final state",
            2. * (double)n + (double)m);
    TAUT_TRY(TAUT_RESERVE(&solver->arena, first ? n : 0, error, &w->q, &w->v));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, first ? m : 0, error, &w->lambda));
    w->ready = true;
    return TAUT_OK;
}

int taut_whole_begin(taut_solver *solver, const taut_sink *sinks, int count, taut_error *error)
{
    taut_space *space = taut_run_space(solver);
    bool pieces = true;
    if (!space)
        return TAUT_OK;
    for (int k = 0; k < count; k++)
        pieces = pieces && (space->rank > 0 || sinks[k].piece);
    solver->whole.pieces = pieces = taut_space_largest(space, !pieces) == 0;
    int status = prepare(solver, error);
    if (status == 0 && !pieces)
        status = reserve_state(solver, error);
    return taut_space_agree(space, status, error);
}

/* ---- in pieces */

typedef struct feed {
    const taut_rows *rows;
    int status; /* of the first sink that failed; the other ranks send nevertheless */
    taut_error *error;
} feed;

static void give_piece(void *user, const double *x, int64_t count)
{
    feed *to = user;
    for (int k = 0; k < to->rows->sinks && to->status == 0; k++) {
        const taut_sink *sink = &to->rows->sink[k];
        to->status = taut_sink_status(sink->piece(sink->user, x, (taut_index)count, to->error),
                                      "piece", to->error);
    }
}

static int write_pieces(taut_solver *solver, const taut_row *row, taut_error *error)
{
    const taut_part *part = solver->model->part;
    double *room = solver->whole.room;
    taut_row bare = *row;
    feed to = {.rows = &solver->rows, .error = error};
    bare.q = bare.v = bare.lambda = NULL;
    if (part->space->rank == 0)
        to.status = taut_rows_give(solver, &bare, error);
    taut_halo_collect(&part->coordinates, row->q, room, give_piece, &to);
    taut_halo_collect(&part->coordinates, row->v, room, give_piece, &to);
    taut_halo_collect(&part->bonds, row->lambda, room, give_piece, &to);
    if (part->space->rank == 0)
        give_piece(&to, NULL, 0);
    return to.status;
}

/* ---- as a whole */

static void append(void *user, const double *value, int64_t count)
{
    double **to = user;
    memcpy(*to, value, (size_t)count * sizeof *value);
    *to += count;
}

static void collect(const taut_halo *halo, const double *x, double *room, double *whole)
{
    taut_halo_collect(halo, x, room, append, &whole);
}

static int write_whole(taut_solver *solver, const taut_row *row, taut_error *error)
{
    const taut_part *part = solver->model->part;
    const taut_whole *w = &solver->whole;
    taut_row whole = *row;
    collect(&part->coordinates, row->q, w->room, w->q);
    collect(&part->coordinates, row->v, w->room, w->v);
    collect(&part->bonds, row->lambda, w->room, w->lambda);
    whole.q = w->q;
    whole.v = w->v;
    whole.lambda = w->lambda;
    return part->space->rank == 0 ? taut_rows_give(solver, &whole, error) : TAUT_OK;
}

int taut_whole_row(taut_solver *solver, const taut_row *row, taut_error *error)
{
    int status =
        solver->whole.pieces ? write_pieces(solver, row, error) : write_whole(solver, row, error);
    return taut_space_agree(taut_run_space(solver), status, error);
}

int taut_solver_gather(taut_solver *solver, const taut_system **system, const double **q,
                       const double **v, taut_error *error)
{
    TAUT_REQUIRE(solver && system && q && v);
    taut_whole *w = &solver->whole;
    *system = solver->model;
    *q = taut_solver_position(solver);
    *v = taut_solver_velocity(solver);
    if (!taut_run_space(solver))
        return TAUT_OK;
    int status = prepare(solver, error);
    if (status == 0)
        status = reserve_state(solver, error);
    TAUT_TRY(taut_space_agree(taut_run_space(solver), status, error));
    collect(taut_run_halo(solver), *q, w->room, w->q);
    collect(taut_run_halo(solver), *v, w->room, w->v);
    *system = w->system;
    *q = w->q;
    *v = w->v;
    return TAUT_OK;
}
