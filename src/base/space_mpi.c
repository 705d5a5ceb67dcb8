/* space_mpi.c - ranks are the processes of MPI. Built with -DTAUT_MPI=ON alone, and the only file
 * that knows MPI. Errors of MPI itself end the run, as is its default. */
#define _POSIX_C_SOURCE 200809L
#include "base/space.h"

#include <mpi.h>
#include <time.h>

typedef struct processes {
    taut_space space;
    taut_allocator allocator;
    bool began; /* MPI was initialised here */
    int *count; /* [4 size] */
    MPI_Request *request;
    MPI_Comm last; /* of `meet` */
} processes;

static processes *of(taut_space *space)
{
    return (processes *)space;
}

static void gather(taut_space *space, int64_t bytes, const void *mine, void *all)
{
    (void)space;
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void trade(taut_space *space, const int64_t *out_start, const int64_t *out,
                  const int64_t *in_start, int64_t *in)
{
    const int size = space->size;
    int *count = of(space)->count;
    for (int r = 0; r < size; r++) {
        count[r] = (int)(out_start[r + 1] - out_start[r]);
        count[size + r] = (int)out_start[r];
        count[2 * size + r] = (int)(in_start[r + 1] - in_start[r]);
        count[3 * size + r] = (int)in_start[r];
    }
    MPI_Alltoallv(out, count, count + size, MPI_INT64_T, in, count + 2 * size, count + 3 * size,
                  MPI_INT64_T, MPI_COMM_WORLD);
}

static void exchange(taut_space *space, int partners, const int *partner, const int64_t *out_start,
                     const double *out, const int64_t *in_start, double *in)
{
    enum { HALO = 1 };
    MPI_Request *request = of(space)->request;
    int open = 0;
    for (int k = 0; k < partners; k++)
        if (in_start[k + 1] > in_start[k])
            MPI_Irecv(in + in_start[k], (int)(in_start[k + 1] - in_start[k]), MPI_DOUBLE,
                      partner[k], HALO, MPI_COMM_WORLD, &request[open++]);
    for (int k = 0; k < partners; k++)
        if (out_start[k + 1] > out_start[k])
            MPI_Isend(out + out_start[k], (int)(out_start[k + 1] - out_start[k]), MPI_DOUBLE,
                      partner[k], HALO, MPI_COMM_WORLD, &request[open++]);
    MPI_Waitall(open, request, MPI_STATUSES_IGNORE);
}

/* On a communicator of its own, since the others may wait for another message. */
static bool meet(taut_space *space, double seconds)
{
    const struct timespec pause = {0, 10000000};
    int met = 0;
    MPI_Request request;
    MPI_Ibarrier(of(space)->last, &request);
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
    for (const double until = MPI_Wtime() + seconds; !met && MPI_Wtime() < until;) {
        nanosleep(&pause, NULL);
        MPI_Test(&request, &met, MPI_STATUS_IGNORE);
    }
    return met;
}

static void end(taut_space *space, int code)
{
    (void)space;
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void destroy(taut_space *space)
{
    processes *p = of(space);
    taut_allocator from = p->allocator;
    MPI_Comm_free(&p->last);
    if (p->began)
        MPI_Finalize();
    from.release(from.user, space->room);
    from.release(from.user, space->words);
    from.release(from.user, p->count);
    from.release(from.user, p->request);
    from.release(from.user, p);
}

static const taut_space_calls calls = {gather, trade, exchange, meet, end, destroy};

int taut_space_open(taut_space **space, taut_error *error)
{
    taut_allocator from = taut_allocator_or_default(NULL);
    int began = 0, rank, size;
    *space = NULL;
    MPI_Initialized(&began);
    if (!began && MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return taut_fail(error, TAUT_ERROR_REFUSED, "MPI cannot be initialised");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    processes *p = from.allocate(from.user, sizeof *p);
    TAUT_NEED(error, p);
    *p = (processes){
        .space = {.rank = rank, .size = size, .calls = &calls}, .allocator = from, .began = !began};
    p->space.room = from.allocate(from.user, (size_t)size * sizeof *p->space.room);
    p->space.words = from.allocate(from.user, (size_t)size * TAUT_SPACE_WORDS);
    p->count = from.allocate(from.user, 4 * (size_t)size * sizeof *p->count);
    p->request = from.allocate(from.user, 2 * (size_t)size * sizeof *p->request);
    TAUT_NEED(error, p->space.room, p->space.words, p->count, p->request);
    MPI_Comm_dup(MPI_COMM_WORLD, &p->last);
    *space = &p->space;
    return TAUT_OK;
}
