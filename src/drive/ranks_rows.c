/* ranks_rows.c - rows and states of a run over several ranks, in the order of the whole system, on
 * rank 0: in pieces (base/space.h) where all sinks take them, so that no rank has a row as a whole;
 * else as a whole, up to a limit. */
#include "drive/solver.h"

#include "system/rank_part.h"

/* For pieces. */
static int prepare(taut_solver *solver, taut_error *error)
{
    taut_whole *w = &solver->whole;
    const taut_part *part = solver->model->part;
    if (w->room)
        return TAUT_OK;
    const int64_t rooms[] = {taut_halo_room(&part->coordinates), taut_halo_room(&part->bonds)};
    TAUT_TRY(TAUT_RESERVE(&solver->arena, rooms[rooms[1] > rooms[0]], error, &w->room));
    return part->space->rank == 0
               ? taut_part_whole(solver->model, &solver->arena.allocator, &w->system, error)
               : TAUT_OK;
}

static int reserve_state(taut_solver *solver, taut_error *error)
{
    taut_whole *w = &solver->whole;
    const taut_part *part = solver->model->part;
    const int64_t n = part->coordinates.total, m = part->bonds.total;
    const bool first = part->space->rank == 0;
    if (w->ready)
        return TAUT_OK;
    TAUT_TRY(taut_part_fits(2. * (double)n + (double)m,
                            "write rows to a file of HDF5, or none, and no file of the final state",
                            error));
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

static int write_whole(taut_solver *solver, const taut_row *row, taut_error *error)
{
    const taut_part *part = solver->model->part;
    const taut_whole *w = &solver->whole;
    taut_row whole = *row;
    taut_halo_whole(&part->coordinates, row->q, w->room, w->q);
    taut_halo_whole(&part->coordinates, row->v, w->room, w->v);
    taut_halo_whole(&part->bonds, row->lambda, w->room, w->lambda);
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
    taut_halo_whole(taut_run_halo(solver), *q, w->room, w->q);
    taut_halo_whole(taut_run_halo(solver), *v, w->room, w->v);
    *system = w->system;
    *q = w->q;
    *v = w->v;
    return TAUT_OK;
}
